"""Plain functions of one query: their direction is known or must be declared, at every entry point; cutoffs."""

import functools
import pickle

import numpy as np
import pytest
import sklearn
from registry import together
from sklearn import metrics as of_sklearn
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.metrics import hamming_loss, max_error, mean_absolute_error, mean_squared_error, r2_score
from sklearn.model_selection import GridSearchCV

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    RankingEvaluator,
    check_metric,
    evaluate,
    evaluate_table,
    get_scorer,
    make_ranking_scorer,
    parse_metric,
    query_permutation_importance,
)
from sklearn_rank._metric.names import direction_of
from sklearn_rank._metric.plain import OF_LISTS
from sklearn_rank.metrics import precision_at_k_score
from sklearn_rank.stats import compare


def my_loss(y_true, y_score):
    return float(np.mean((y_true - y_score) ** 2))


def first_label(y_true, y_score):
    return float(y_true[0])


LOSSES = {
    "known": mean_squared_error,
    "said": parse_metric(my_loss, greater_is_better=False),
    "partial": functools.partial(mean_squared_error, multioutput="uniform_average"),
}
GRID = {"estimator__alpha": [1e-3, 1e9]}  # the second model predicts the mean


@pytest.mark.parametrize("name", of_sklearn.get_scorer_names())
def test_functions_of_scikit_learn_have_the_direction_of_their_scorers(name):
    scorer = of_sklearn.get_scorer(name)
    if not hasattr(of_sklearn, scorer._score_func.__name__):
        pytest.skip("not public")
    assert parse_metric(scorer._score_func).metric.greater_is_better == (scorer._sign > 0)


@pytest.mark.parametrize("function", [hamming_loss, max_error, of_sklearn.zero_one_loss, of_sklearn.hinge_loss])
def test_errors_without_a_scorer(function):
    assert not parse_metric(function).metric.greater_is_better


@pytest.mark.parametrize("name", OF_LISTS)
def test_functions_of_whole_matrices_name_the_metric(name):
    """These functions of scikit-learn take a row per query; the message names our metric with the same values."""
    function = getattr(of_sklearn, name)
    y_true, y_score = np.array([[1, 0, 1, 0], [0, 0, 1, 1]]), np.array([[4.0, 3, 2, 1], [1.0, 1, 1, 0]])
    for given in (function, functools.partial(function, sample_weight=None)):
        with pytest.raises(TypeError, match=f"a matrix.* take '{OF_LISTS[name]}' with convention='sklearn'"):
            evaluate(y_true, y_score, metrics=given)
    with pytest.raises(TypeError, match="a row for each query"):
        make_ranking_scorer(function, greater_is_better=True)
    ours = evaluate(y_true, y_score, metrics=OF_LISTS[name], convention="sklearn").mean()[OF_LISTS[name]]
    assert ours == pytest.approx(function(y_true, y_score))
    named_alike = functools.wraps(function)(lambda y, s: 0.5)
    assert parse_metric(named_alike, greater_is_better=True).metric.name == name


def hit(preds, target):
    return float(target[np.argmax(preds)] > 0)


def hit_of_labels(target, preds):
    return float(target[np.argmax(preds)] > 0)


def first_k(y_true, y_score, k=3):
    return float(np.sum(y_true[np.argsort(-y_score)][:k]))


@pytest.mark.parametrize("swapped", [hit, functools.partial(hit), lambda y_pred, y_true: 0.5, lambda scores, labels: 1])
def test_scores_before_labels_are_refused(swapped):
    message = "called with the labels of a query, then its scores: pass a function f"
    y, s = [1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0]
    calls = [
        lambda: evaluate(y, s, qid=[1, 1, 2, 2], metrics=swapped),
        lambda: check_metric(swapped),
        lambda: parse_metric(swapped, k=1),
        lambda: make_ranking_scorer(swapped, greater_is_better=True),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("legitimate", [
    hit_of_labels, lambda y_true, y_score: hit(y_score, y_true), lambda a, b: hit(b, a),
    lambda *both: hit(*both[::-1]), functools.wraps(hit)(lambda y, s: hit(s, y)),
])  # fmt: skip
def test_labels_before_scores_are_taken(legitimate):
    found = evaluate([1, 0, 0, 1], [2.0, 1.0, 2.0, 1.0], qid=[1, 1, 2, 2], metrics=legitimate)
    assert [*found.mean().values()] == [0.5]


def test_a_cutoff_beside_an_own_cutoff():
    y, s = [1, 1, 0, 1, 1], [5.0, 4.0, 3.0, 2.0, 1.0]
    for own in (first_k, functools.partial(first_k, k=2)):
        with pytest.raises(ValueError, match=r"pass functools.partial\(first_k, k=5\) without a cutoff"):
            parse_metric(own, k=5)
    taken = [first_k, functools.partial(first_k, k=5), parse_metric(first_k, k=3)]
    taken += [parse_metric(functools.partial(first_k, k=None), k=4), parse_metric(hit_of_labels, k=5)]
    for one, value in zip(taken, (2, 4, 2, 3, 1), strict=True):
        assert [*evaluate([y], [s], metrics=one).mean().values()] == [value]


@pytest.mark.parametrize("loss", LOSSES.values(), ids=LOSSES)
class TestTheBetterModelWins:
    @pytest.fixture
    def ranking(self, ranking):
        """A linear model that explains most of the label."""
        X, y, qid = ranking
        return np.column_stack([X, y + 0.1 * X[:, 0]]), y, qid

    def test_evaluator(self, loss, ranking):
        X, y, qid = ranking
        evaluator = RankingEvaluator([loss], cv=3)
        ((name, _),) = evaluator._specs.items()
        report = evaluator.compare({"mean": DummyRegressor(), "ridge": Ridge()}, X, y, qid=qid)
        assert not report.results["ridge"].greater_is_better[name]
        pair = report.significance(name)["ridge", "mean"]
        assert pair.difference < 0
        assert pair.won > pair.lost
        cv = evaluator.cross_validate(Ridge(), X, y, qid=qid)
        assert (cv[f"test_neg_{name}"] < 0).all()
        search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1e-3, 1e9]})
        assert evaluator.search(search, X, y, qid=qid).best_params_ == {"estimator__alpha": 1e-3}

    @pytest.mark.parametrize("several", [False, True])
    def test_scorers(self, loss, several, ranking):
        X, y, qid = ranking
        model, scorer = Ridge().fit(X, y), pickle.loads(pickle.dumps(make_ranking_scorer([loss] if several else loss)))
        with sklearn.config_context(enable_metadata_routing=True):
            found = scorer(model, X, y, qid=qid)
            search = GridSearchCV(
                QueryRanker(Ridge()), GRID, scoring=scorer, cv=QueryKFold(3),
                refit=scorer.names[0] if several else True,
            ).fit(X, y, qid=qid)  # fmt: skip
        value = [*found.values()][0] if several else found
        assert value == pytest.approx(-evaluate(y, model.predict(X), qid=qid, metrics="mse").mean()["mse"])
        assert search.best_params_ == {"estimator__alpha": 1e-3}

    @pytest.mark.slow
    def test_importances(self, loss, ranking):
        X, y, qid = ranking
        found = query_permutation_importance(Ridge().fit(X, y), X, y, qid=qid, metric=loss, random_state=0)
        assert found.importances_mean.max() > 0

    def test_statistics(self, loss, ranking):
        _, y, qid = ranking
        good, bad = (evaluate(y, y + shift, qid=qid, metrics=[loss]) for shift in (0.1, 1.0))
        assert compare(good, bad, test="sign").won == 40
        batches = [(y[qid % 2 == i], y[qid % 2 == i] + 1.0, qid[qid % 2 == i]) for i in (0, 1)]
        assert [*evaluate_table(batches, metrics=[loss]).greater_is_better.values()] == [False]
        assert good.worst_queries(1).rows[0][1] == max(good.per_query[[*good.per_query][0]])


def half_error(y, s):
    return 0.5


class MyLoss:
    def __call__(self, y, s):
        return 0.5


RENAMED = functools.wraps(mean_squared_error)(lambda y, s: 0.5)
UNSAID = [my_loss, half_error, MyLoss(), functools.partial(my_loss), RENAMED]
MODEL = Ridge().fit([[1], [0]], [1, 0])
DOORS = [
    lambda f, **said: parse_metric(f, **said).metric.greater_is_better,
    lambda f, **said: [*evaluate([1, 0], [1, 2], qid=[1, 1], metrics=[f], **said).greater_is_better.values()][0],
    lambda f, **said: [*evaluate([1, 0], [1, 2], qid=[1, 1], metrics={"a": f}, **said).greater_is_better.values()][0],
    lambda f, **said: make_ranking_scorer(f, **said)._sign > 0,
    lambda f, **said: [*make_ranking_scorer([f, "map"], **said)(MODEL, [[1]], [1], qid=[1]).values()][0] > 0,
    lambda f, **said: [*evaluate_table([([1], [2], [1])], metrics=[f], **said).greater_is_better.values()][0],
]  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
@together("function", UNSAID)
def test_plain_function_needs_a_direction(door, function):
    with pytest.raises(ValueError, match="suggests that lower is better. Pass parse_metric.*greater_is_better=False"):
        door(function)
    if not isinstance(function, functools.partial) and function is not my_loss:
        assert not door(function, greater_is_better=False)
        assert door(function, greater_is_better=True)


@pytest.mark.parametrize("name", ["rmse", "mae", "hinge_loss", "pair_distance", "NMSE".lower(), "js_divergence"])
def test_suffixes_of_names(name):
    def function(y, s):
        return 1.0

    function.__name__ = name
    with pytest.raises(ValueError, match="suggests that lower is better"):
        parse_metric(function)
    for other in ("gain", "glossy", "errors_found", "distance_score", "lambda"):
        function.__name__ = other
        assert parse_metric(function).metric.greater_is_better


def test_plain_function_keeps_its_direction():
    spec = parse_metric(my_loss, greater_is_better=False)
    for again in (parse_metric(spec), parse_metric(spec, k=3), pickle.loads(pickle.dumps(spec))):
        assert not again.metric.greater_is_better
    result = evaluate([1, 0], [1, 2], qid=[1, 1], metrics=[spec, "map", first_label], greater_is_better=True)
    assert result.greater_is_better == {"my_loss": False, "map": True, "first_label": True}
    with pytest.raises(TypeError, match="ndcg_score has no keyword 'greater_is_better'"):
        parse_metric("ndcg", greater_is_better=False)
    with pytest.raises(TypeError, match="No metric of ndcg has a keyword 'greater_is_better'"):
        evaluate([1], [1], qid=[1], metrics="ndcg", greater_is_better=False)
    with pytest.raises(ValueError, match="must be True, False or None. Got 'no'"):
        parse_metric(my_loss, greater_is_better="no")
    with pytest.raises(TypeError, match="not a scorer"):
        evaluate([1], [1], qid=[1], metrics=[get_scorer("ndcg")])


def test_a_named_value_needs_a_direction():
    """Values of `Evaluation.from_values`."""
    assert direction_of("rmse", argument="") is False
    assert direction_of("mine", argument="") is True
    with pytest.raises(ValueError, match=r"The name 'my_loss' suggests .* Pass greater_is_better=False, or True"):
        direction_of("my_loss", argument="greater_is_better=False")


# --- cutoffs -------------------------------------------------------------------------------------------------


def hits(y_true, y_score):
    assert (np.diff(y_score) <= 0).all()  # best first
    return float((y_true > 0).sum())


def test_a_cutoff_gives_the_function_the_top_documents(rng):
    y, s, qid = rng.integers(0, 2, 300), rng.permutation(300) * 1.0, rng.integers(0, 30, 300)
    specs = [parse_metric(hits, k=k) for k in (1, 3, 100)]
    result = evaluate(y, s, qid=qid, metrics=[*specs, "p@3", "ndcg", "mse"])
    assert [*result.per_query][:3] == ["hits@1", "hits@3", "hits@100"]
    for k in (1, 3, 100):
        expected = k * precision_at_k_score(y, s, qid=qid, k=k, average=None)
        np.testing.assert_allclose(result.per_query[f"hits@{k}"], expected)
    both = parse_metric(hits, k=[3, 1])
    np.testing.assert_allclose(both.metric(y, s, qid=qid, k=both.k), [result.mean()["hits@3"], result.mean()["hits@1"]])
    with sklearn.config_context(enable_metadata_routing=True):
        scorer = pickle.loads(pickle.dumps(make_ranking_scorer(hits, k=3)))
        assert scorer(Ridge().fit(s[:, None], s), s[:, None], y, qid=qid) == pytest.approx(result.mean()["hits@3"])


def test_a_cutoff_among_equal_scores():
    y, s, qid = [1, 0, 1, 0], [2.0, 1.0, 1.0, 0.0], [1, 1, 1, 1]
    with pytest.raises(ValueError, match="plain function, hits here, has no expectation over.*: use ties='stable'"):
        evaluate(y, s, qid=qid, metrics=parse_metric(hits, k=2))
    with pytest.raises(ValueError, match="plain function, hits here, has no expectation over"):
        evaluate([*y, 1], [*s, 1.0], qid=[*qid, 2], metrics=parse_metric(hits, k=2))  # one query has two rows
    assert evaluate(y, s, qid=qid, metrics=parse_metric(hits, k=2), ties="stable").mean() == {"hits@2": 1}
    assert evaluate(y, s, qid=qid, metrics=parse_metric(hits, k=3)).mean() == {"hits@3": 2}  # the cutoff cuts no ties
    assert evaluate(y, s, qid=qid, metrics=[parse_metric(hits, k=1), "p@2"]).mean() == {"hits@1": 1, "p@2": 0.75}


def test_a_truncated_list_keeps_retrieved_documents():
    y, s, qid = [1, 1, 1], [2.0, -np.inf, 1.0], [1, 1, 1]
    assert evaluate(y, s, qid=qid, metrics=parse_metric(hits, k=3)).mean() == {"hits@3": 2}
    with pytest.raises(TypeError, match=r"For a function write parse_metric\(f, k=10\)"):
        evaluate(y, s, qid=qid, metrics=hits, k=3)


def test_a_function_without_cutoff_gets_input_order():
    seen = []
    evaluate([1, 2, 3], [1, 3, 2], qid=[1, 1, 1], metrics=lambda y, s: seen.append(y.tolist()) or 0.0)
    assert seen == [[1, 2, 3]]


def test_names_of_functions_with_arguments():
    metrics = [functools.partial(mean_absolute_error, multioutput="raw_values"), r2_score]
    assert [parse_metric(m).metric.name for m in metrics] == ["mean_absolute_error", "r2_score"]
