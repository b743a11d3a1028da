"""QueryRanker.fit(..., eval_set=...): the user's validation rows, in any order, none used for training."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_rank import QueryKFold, QueryRanker, evaluate, get_scorer


def models():
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    catboost = pytest.importorskip("catboost")
    return {
        "xgb": xgboost.XGBRanker(n_estimators=8, n_jobs=1),
        "lgbm": lightgbm.LGBMRanker(n_estimators=8, min_child_samples=5, n_jobs=1, verbose=-1),
        "cat": catboost.CatBoostRanker(iterations=8, verbose=0, allow_writing_files=False, thread_count=1),
        "hist": HistGradientBoostingRegressor(max_iter=8),
        "boosting": GradientBoostingRegressor(n_estimators=8, random_state=0),
    }


NAMES = ["xgb", "lgbm", "cat", "hist", "boosting"]


@pytest.fixture
def split(shuffled):
    X, y, qid = shuffled
    stop = np.array([q[-1] in "012" for q in qid])
    return (X[~stop], y[~stop], qid[~stop]), (X[stop], y[stop], qid[stop])


@pytest.mark.parametrize("name", NAMES)
def test_validation_rows_in_any_order(name, split, rng):
    (X, y, qid), held_out = split
    ranker = QueryRanker(models()[name], eval_metric="ndcg@5", early_stopping_rounds=4, random_state=0)
    first = ranker.fit(X, y, qid=qid, eval_set=held_out)
    curve, best, ids = first.eval_curve_, first.best_iteration_, first.eval_qid_
    assert sorted(ids) == sorted(set(held_out[2]))
    for _ in range(2):
        rows = rng.permutation(len(held_out[1]))
        mixed = ranker.fit(X, y, qid=qid, eval_set=tuple(column[rows] for column in held_out))
        np.testing.assert_allclose(mixed.eval_curve_, curve, rtol=1e-12)
        assert mixed.best_iteration_ == best
    value = evaluate(held_out[1], ranker.predict(held_out[0]), qid=held_out[2], metrics="ndcg@5").mean()["ndcg@5"]
    assert value == pytest.approx(ranker.best_value_)


def test_eval_set_equals_held_out_fraction(ranking):
    X, y, qid = ranking
    model = models()["xgb"]
    by_fraction = QueryRanker(model, eval_fraction=0.3, eval_metric="map", random_state=0).fit(X, y, qid=qid)
    stop = np.isin(qid, by_fraction.eval_qid_)
    held_out = X[stop], y[stop], qid[stop]
    by_hand = QueryRanker(model, eval_metric="map").fit(X[~stop], y[~stop], qid=qid[~stop], eval_set=held_out)
    np.testing.assert_array_equal(by_hand.eval_curve_, by_fraction.eval_curve_)
    np.testing.assert_array_equal(by_hand.predict(X), by_fraction.predict(X))


def test_query_weights_apply_to_the_metric(split):
    (X, y, qid), (Xe, ye, qid_e) = split
    weight = np.array([1.0 + int(q[1:]) % 3 for q in qid_e])
    ranker = QueryRanker(models()["hist"], eval_metric="map")
    curves = []
    for weights in ((), (weight,), (None,), (np.arange(len(ye)) + 1.0,)):
        curves.append(ranker.fit(X, y, qid=qid, eval_set=(Xe, ye, qid_e, *weights)).eval_curve_)
        if weights:
            last = evaluate(ye, ranker.predict(Xe), qid=qid_e, sample_weight=weight, metrics="map").mean()["map"]
            assert (ranker.best_value_ == pytest.approx(last)) == (weights[0] is weight)
    assert curves[0].tolist() == curves[2].tolist() == curves[3].tolist() != curves[1].tolist()  # rows have no weight
    with pytest.raises(ValueError, match="constant within each"):  # XGBRanker weights queries
        ranker.set_params(estimator=models()["xgb"]).fit(X, y, qid=qid, eval_set=(Xe, ye, qid_e, np.arange(len(ye))))


@pytest.mark.parametrize("container", [list, sparse.csr_matrix, "frame", "polars", "index"])
def test_eval_set_containers(container, split):
    (X, y, qid), (Xe, ye, qid_e) = split
    ranker = QueryRanker(models()["lgbm"], eval_metric="map")
    expected = ranker.fit(X, y, qid=qid, eval_set=(Xe, ye, qid_e)).eval_curve_
    if container == "index":
        pd = pytest.importorskip("pandas")
        held_out = Xe, pd.Series(ye, index=pd.Index(qid_e, name="qid"))
    elif container in ("frame", "polars"):
        frames = pytest.importorskip("pandas" if container == "frame" else "polars")
        X, Xe = ({f"f{i}": column for i, column in enumerate(x.T)} for x in (X, Xe))
        X, Xe = frames.DataFrame(X), frames.DataFrame(Xe)
        held_out = Xe, frames.Series(values=ye) if container == "polars" else frames.Series(ye), qid_e
    else:
        X, held_out = container(X), (container(Xe), ye.tolist(), qid_e.tolist())
    np.testing.assert_allclose(ranker.fit(X, y, qid=qid, eval_set=held_out).eval_curve_, expected, rtol=1e-12)


def test_through_a_search(ranking):
    """All folds use the same validation rows, so no fold may contain their queries."""
    pd = pytest.importorskip("pandas")
    X, y, qid = ranking
    train, stop = qid < 30, qid >= 30
    ranker = QueryRanker(models()["lgbm"], eval_metric="map", early_stopping_rounds=3)
    options = {"scoring": get_scorer("ndcg@5"), "cv": QueryKFold(2), "error_score": "raise"}
    search = GridSearchCV(ranker, {"estimator__num_leaves": [3, 6]}, **options)
    labels = pd.Series(y[train], index=pd.Index(qid[train], name="qid"))
    search.fit(X[train], labels, eval_set=(X[stop], y[stop], qid[stop]))
    assert search.best_estimator_.eval_qid_.tolist() == [*range(30, 40)]


# --- errors --------------------------------------------------------------------------------------------------


def test_a_query_in_training_is_rejected(split):
    (X, y, qid), (Xe, ye, qid_e) = split
    for metric in ("map", None):
        ranker = QueryRanker(models()["xgb"].set_params(early_stopping_rounds=3), eval_metric=metric)
        both = np.r_[qid_e[:-1], qid[:1]]
        with pytest.raises(ValueError, match=f"Got 1 of 1[0-9] queries in both, for example '{qid[0]}'"):
            ranker.fit(X, y, qid=qid, eval_set=(Xe, ye, both))
        with pytest.raises(ValueError, match=r"make the ids distinct: qid = np.char.add\('eval-', qid.astype\(str\)\)"):
            ranker.fit(X, y, qid=qid, eval_set=(X, y, qid))
    numbers, of_eval = np.unique(qid, return_inverse=True)[1], np.unique(qid_e, return_inverse=True)[1]
    with pytest.raises(ValueError, match="number them from 0"):
        ranker.fit(X, y, qid=numbers, eval_set=(Xe, ye, of_eval))
    ranker.fit(X, y, qid=numbers, eval_set=(Xe, ye, np.char.add("eval-", of_eval.astype(str))))
    with pytest.raises(ValueError, match="Got 1 of"):
        ranker.fit(X, y, qid=numbers, eval_set=(Xe[:1], ye[:1], [np.int8(3)]))


def test_queries_not_drawn_may_not_be_in_eval_set(ranking):
    X, y, qid = ranking
    with pytest.raises(ValueError, match="must not be training queries"):
        QueryRanker(models()["xgb"], eval_metric="map", max_queries=5).fit(X, y, qid=qid, eval_set=(X, y, qid))


@pytest.mark.parametrize("bad", ["all", 0.2, "list", "one", "five"])
def test_eval_set_is_a_tuple(bad, split):
    train, held_out = split
    wrong = {"list": [held_out, held_out], "one": held_out[:1], "five": (*held_out, None, None)}.get(bad, bad)
    with pytest.raises(TypeError, match=r"eval_set must be a tuple \(X, y, qid\).* Got (list|str|float|tuple)"):
        QueryRanker(models()["xgb"], eval_metric="map").fit(*train[:2], qid=train[2], eval_set=wrong)


def test_eval_set_in_the_format_of_xgboost(split):
    (X, y, qid), held_out = split
    fits = [
        QueryRanker(models()["xgb"], eval_metric="map").fit(X, y, qid=qid, **given)
        for given in (
            {"eval_set": held_out},
            {"eval_set": [held_out]},
            {"eval_set": held_out[:2], "eval_qid": held_out[2]},
            {"eval_set": [held_out[:2]], "eval_qid": [held_out[2]]},
        )
    ]
    for one in fits:
        assert list(one.eval_curve_) == list(fits[0].eval_curve_)
        assert list(one.eval_qid_) == list(fits[0].eval_qid_)
    for eval_set in (None, held_out, [held_out], [held_out[:2]] * 2):
        with pytest.raises(TypeError, match=r"eval_qid is the query of each row of eval_set=\(X, y\)"):
            QueryRanker(models()["xgb"], eval_metric="map").fit(
                X, y, qid=qid, eval_set=eval_set, eval_qid=[held_out[2]]
            )


def test_eval_set_errors(split):
    pd = pytest.importorskip("pandas")
    (X, y, qid), (Xe, ye, qid_e) = split
    ranker = QueryRanker(models()["lgbm"], eval_metric="map")

    def refused(message, X=X, qid=qid, eval_set=(Xe, ye, qid_e)):
        with pytest.raises(ValueError, match=message):
            ranker.fit(X, y, qid=qid, eval_set=eval_set)

    refused("without qid the index of y must have.* query of each row must be known", eval_set=(Xe, ye))
    refused("query of each row must be known", qid=None)
    rule = "^X, y and qid in eval_set must have the form of fit, X with the same columns.*"
    refused(f"{rule} X has 5 features, but QueryRanker is expecting 6", eval_set=(Xe[:, 1:], ye, qid_e))
    refused(f"{rule} must have one entry per row", eval_set=(Xe, ye[1:], qid_e))
    refused(f"{rule} needs [0-9]+ entries", eval_set=(Xe, ye, qid_e[1:]))
    refused(f"{rule} must have one entry per row", eval_set=(Xe, ye, qid_e, [1.0]))
    frame = pd.DataFrame(X, columns=list("abcdef"))
    other = pd.DataFrame(Xe, columns=list("fedcba"))
    refused(f"{rule} feature names", X=frame, eval_set=(other, ye, qid_e))
    rows = pd.Series(ye, index=np.arange(len(ye))[::-1])
    refused(f"{rule} X and y must have the same index", X=frame, eval_set=(other[list("abcdef")], rows, qid_e))
    ranker.set_params(eval_fraction=0.5)
    refused("eval_fraction of QueryRanker or eval_set of fit")
    ranker.set_params(eval_fraction=None, estimator=Ridge())
    refused("a model that trains in rounds")
    ranker.set_params(eval_metric=None)
    refused("Without eval_metric, validation rows need a model that accepts them in fit")


def test_arguments_of_other_libraries(split):
    (X, y, qid), (_, _, qid_e) = split
    hints = {"eval_group": "holds all of the validation rows", "early_stopping_rounds": "of QueryRanker:"}
    for name, hint in hints.items():
        with pytest.raises(TypeError, match=f"has no keyword '{name}'.*{hint}"):
            QueryRanker(models()["xgb"]).fit(X, y, qid=qid, **{name: qid_e})


def test_hist_gradient_boosting_default_patience(ranking):
    """Its default ``early_stopping="auto"`` has ``n_iter_no_change=10``, which is not the user's choice."""
    X, y, qid = ranking
    ranker = QueryRanker(HistGradientBoostingRegressor(max_iter=14), eval_fraction=0.4, eval_metric="recall@20")
    assert len(ranker.fit(X, y, qid=qid).eval_curve_) == 14
    assert ranker.best_iteration_ == 0, "no list is longer than 20, so no round improves"


def test_eval_set_with_ids_of_two_types(split):
    """The number 1 beside the text "1" may be the same query."""
    (X, y, qid), (X_e, y_e, qid_e) = split
    numbers, text = (np.unique(ids, return_inverse=True)[1] for ids in (qid, qid_e))
    ranker = QueryRanker(models()["boosting"], eval_metric="map")
    with pytest.raises(ValueError, match="Ids must be of one type"):
        ranker.fit(X, y, qid=numbers, eval_set=(X_e, y_e, text.astype(str)))
    of_words = np.char.add("q", text.astype(str))
    assert ranker.fit(X, y, qid=numbers, eval_set=(X_e, y_e, of_words)).eval_qid_.dtype.kind == "U"
    with pytest.raises(ValueError, match="must not be training queries"):
        ranker.fit(X, y, qid=numbers, eval_set=(X_e, y_e, text))


def test_early_stopping_inside_xgboost_is_rejected(ranking):
    xgboost = pytest.importorskip("xgboost")
    X, y, qid = ranking
    model = xgboost.XGBRegressor(n_estimators=3, callbacks=[xgboost.callback.EarlyStopping(rounds=2)])
    ranker = QueryRanker(model, eval_metric="ndcg@5", early_stopping_rounds=2, eval_fraction=0.25)
    with pytest.raises(ValueError, match="its callback EarlyStopping gets no validation rows"):
        ranker.fit(X, y, qid=qid)
