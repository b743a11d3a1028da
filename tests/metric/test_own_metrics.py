"""User-defined metrics: formulas with @metric, and plain functions of one query."""

import gc
import inspect
import pickle
import weakref

import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy.sparse import csr_array
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score, cross_validate

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    check_metric,
    compare_systems,
    evaluate,
    evaluate_table,
    get_scorer,
    make_ranking_scorer,
    metric,
    parse_metric,
    prepare,
)
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, no_worse


def make_metric():
    @metric("half_life", bounds=(0, np.inf), aliases=["hl"])
    def half_life_score(r, *, half_life=2.0):
        """Sum of labels with a weight that halves every `half_life` ranks."""
        return r.cumsum(r.label, weight=0.5 ** ((r.rank - 1) / half_life))

    return half_life_score


Y, S, QID = [2, 0, 1, 1], [1.0, 1.0, 3.0, 2.0], ["a", "a", "b", "b"]


def test_a_formula_can_read_all_arguments():
    half_life = make_metric()
    assert half_life(Y, S, qid=QID, k=1) == (1 + 1) / 2  # tied documents in query a: the mean of 2 and 0
    assert half_life(Y, S, qid=QID, k=1, ties="best") == (2 + 1) / 2
    assert half_life(Y, S, qid=QID, half_life=1, average=None)[1] == 1.5
    names = ["hl(half_life=1)@2", "HALF_LIFE@1"]
    assert evaluate(Y, S, qid=QID, metrics=names).mean()["HALF_LIFE@1"] == 1
    assert "qid" in half_life.__doc__
    with sklearn.config_context(enable_metadata_routing=True):
        value = get_scorer("hl@1")(Ridge().fit([[s] for s in S], S), [[s] for s in S], Y, qid=QID)
    assert value == pytest.approx(1)


def test_a_formula_of_code_without_a_module():
    names = {"metric": metric}
    exec("no_module = metric('no_module')(lambda r: r.cumsum(r.label))", names)
    assert names["no_module"](Y, S, qid=QID, k=2) == 2


def test_duplicate_names_are_rejected():
    make_metric()
    make_metric()  # running a cell again is allowed
    with pytest.raises(ValueError, match="Got 'hl', a name of half_life_score"):
        metric("other", aliases=["hl"])(lambda r: r.cumsum())
    with pytest.raises(ValueError, match="Got 'ndcg', a name of ndcg_score"):
        metric("ndcg")(lambda r: r.cumsum())


def test_the_last_definition_counts():
    make_metric()
    assert evaluate(Y, S, qid=QID, metrics="half_life@1").mean() == {"half_life@1": 1}

    @metric("half_life")
    def half_life_score(r):
        """Twice the labels."""
        return r.cumsum(2 * r.label)

    assert evaluate(Y, S, qid=QID, metrics="half_life@1").mean() == {"half_life@1": 2}
    with pytest.raises(TypeError, match="has no keyword 'half_life'"):
        evaluate(Y, S, qid=QID, metrics="half_life(half_life=1)@1")
    make_metric()


@pytest.mark.slow
def test_a_metric_of_a_notebook_travels_to_workers(ranking):
    X, y, qid = ranking
    half_life = make_metric()
    cloudpickle = pytest.importorskip("cloudpickle")  # joblib pickles functions with cloudpickle
    again = cloudpickle.loads(cloudpickle.dumps(half_life))
    assert again(Y, S, qid=QID, k=1) == half_life(Y, S, qid=QID, k=1)
    with sklearn.config_context(enable_metadata_routing=True):
        one, two = (
            cross_val_score(
                QueryRanker(Ridge()), X, y, scoring=make_ranking_scorer(half_life, k=3), cv=QueryKFold(2),
                params={"qid": qid}, n_jobs=n_jobs,
            )
            for n_jobs in (1, 2)
        )  # fmt: skip
    np.testing.assert_array_equal(one, two)


def top_label(y_true, y_score):
    return y_true[np.argmax(y_score)]


def test_a_plain_function(ranking):
    X, y, qid = ranking
    s = np.arange(len(y), dtype=float)
    result = evaluate(y, s, qid=qid, metrics=[top_label, "ndcg@1"], n_jobs=2)
    last = [y[qid == q][-1] for q in np.unique(qid)]
    np.testing.assert_array_equal(result.per_query["top_label"], last)
    weighted = evaluate(y, s, qid=qid, metrics=top_label, sample_weight=1.0 + qid % 2).mean()["top_label"]
    assert weighted == pytest.approx(np.average(last, weights=1 + np.arange(len(last)) % 2))


def test_a_plain_function_as_a_scorer(ranking):
    X, y, qid = ranking
    scorer = pickle.loads(pickle.dumps(make_ranking_scorer(top_label)))
    model = Ridge().fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        value = scorer(model, X, y, qid=qid)
    s = model.predict(X)
    assert value == pytest.approx(np.mean([top_label(y[qid == q], s[qid == q]) for q in np.unique(qid)]))


def test_nan_of_a_plain_function_is_undefined():
    result = evaluate(Y, S, qid=QID, metrics=lambda y, s: np.nan if y.max() > 1 else 0.5, replace_undefined_by=np.nan)
    assert result.n_undefined == {"<lambda>": 1}
    assert result.mean() == {"<lambda>": 0.5}


def test_a_plain_function_gets_the_query_in_input_order():
    seen = []
    metrics = lambda y, s: seen.append((y.tolist(), s.tolist())) or 0.0  # noqa: E731
    evaluate([1, 2, 3], [9, np.inf * -1, 7], qid=["a", "b", "a"], metrics=metrics)
    assert seen == [([1, 3], [9, 7]), ([2], [-np.inf])]


@pytest.mark.parametrize("value", [None, "0.5", 1j, [1.0], np.ones(2)])
def test_a_plain_function_must_return_a_number(value):
    with pytest.raises(TypeError, match="must return one real number for a query. Got .* of <lambda>"):
        evaluate(Y, S, qid=QID, metrics=lambda y, s: value)


def test_a_plain_function_may_modify_its_arguments():
    def careless(labels, scores):
        labels.sort()
        scores[:] = 0
        return 1.0

    y, s = np.array(Y, dtype=float), np.array(S)
    found = evaluate(y, s, qid=QID, metrics=[careless, "mae", "ndcg"]).mean()
    assert y.tolist() == Y
    assert s.tolist() == S
    assert found == {"careless": 1.0, **evaluate(Y, S, qid=QID, metrics=["mae", "ndcg"]).mean()}


# --- invalid formulas -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (lambda r: None, r"must return real numbers, .* shape \(2, 1\): .* Got object of shape \(\) and float64"),
        (lambda r: r.label, r"Got float64 of shape \(4,\) and"),
        (lambda r: r.cumsum() * 1j, r"Got complex128 of shape \(2, 1\)"),
        (lambda r: (r.cumsum(), r.k, r.n), "Got float64 of shape .* and float64 of shape .* and float64 of shape"),
        (lambda r: r.cumsum(r.label[1:]), r"one for each ranked document \(4\).* Got shape \(3,\)"),
        (lambda r: r.cumsum(weight=r.n_relevant), r"of_query\(\) to repeat .* Got shape \(2, 1\)"),
        (lambda r: r.cascade(np.ones(5)), r"Got shape \(5,\)"),
    ],
)
def test_results_and_sums_of_own_formulas(formula, message):
    with pytest.raises(ValueError, match=message):
        metric("wrong")(formula)(Y, S, qid=QID)


def test_a_formula_may_return_less_than_a_curve():
    assert metric("of_queries")(lambda r: r.n_relevant)(Y, S, qid=QID, k=[1, 2]).tolist() == [1.5, 1.5]
    assert metric("constant")(lambda r: 3)(Y, S, qid=QID) == 3


@pytest.mark.parametrize("name", ["my metric", "My-Metric", "", "ndcg@5", len])
def test_names_of_own_metrics_must_parse(name):
    with pytest.raises(ValueError, match="must be a str of a-z, 0-9, '_' and '-'"):
        metric(name)
    with pytest.raises(ValueError, match="must be a str of a-z, 0-9, '_' and '-'"):
        metric("fine", aliases=[name])


@pytest.mark.parametrize("formula", [lambda: 1, lambda r, half_life: 1, lambda r, **keywords: 1])
def test_keywords_of_a_formula_have_defaults(formula):
    with pytest.raises(TypeError, match=r"then keywords that have defaults. Got <lambda>\("):
        metric("wrong")(formula)


def test_a_plain_function_skips_queries_without_documents_left():
    y, lengths = [1, np.nan, np.nan, 2], []
    result = evaluate(
        y, [4, 3, 2, 1], qid=["a", "b", "b", "a"], unjudged="drop", replace_undefined_by=np.nan,
        metrics={"mine": lambda y, s: lengths.append(len(y)) or y.max()},
    )  # fmt: skip
    assert (lengths, result.n_undefined, result.mean()) == ([2], {"mine": 1}, {"mine": 2.0})


def test_own_functions_are_garbage_collected():
    class Held:
        """A large object."""

    def make():
        held = Held()
        return lambda y, s: float(held is not None), weakref.ref(held)

    mine, held = make()
    assert evaluate(Y, S, qid=QID, metrics=mine).mean() == {"<lambda>": 1}
    del mine
    gc.collect()
    assert held() is None


def test_sums_of_batches_that_cancel_have_no_quotient():
    @metric("signed", supports_micro=True)
    def signed_score(r):
        return r.cumsum(r.label), r.n_relevant - 1.5

    with pytest.raises(ValueError, match="Got sums over queries, with weights, of 3 over 0"):
        signed_score([1, 0, 1, 1], [2, 1, 2, 1], qid=[0, 0, 1, 1], average="micro")


def test_pages_of_own_metrics():
    """Parameters and docstrings are generated from the declaration of a metric."""
    own = metric("paged", pointwise=True, greater_is_better=False, bounds=(0, 9), undefined_when="no judged document")
    page, other = own(lambda r: (r.cumsum(), r.n)), metric("everywhere")(lambda r: r.cumsum())
    assert {"k", "tie_break"}.isdisjoint(inspect.signature(page).parameters)
    assert {"k", "tie_break"} <= inspect.signature(other).parameters.keys()
    assert (
        'Bounds: 0 to 9; lower is better. Undefined for a query with no judged document. Names: "paged".'
        in page.__doc__
    )
    assert "Defined for every query." in other.__doc__
    assert "one value per cutoff if `k`" in other.__doc__
    with pytest.raises(ValueError, match="<lambda> has no geometric mean: its values can be negative"):
        parse_metric("everywhere", average="geometric")


@pytest.mark.parametrize("aliases", ["hl", b"hl", 5, None])
def test_aliases_are_listed(aliases):
    with pytest.raises(TypeError, match="aliases of a metric must be a list of names, or a dict. Got"):
        metric("listed", aliases=aliases)


def test_aliases_may_fix_keywords():
    metric("fixes", aliases={"fixes_2": {"power": 2}})(lambda r, power=1: r.cumsum(r.label) ** 1 * power)
    assert evaluate(Y, S, qid=QID, metrics=["fixes@1", "fixes_2@1"]).mean() == {"fixes@1": 1, "fixes_2@1": 2}


def test_calls_without_labels_or_scores():
    for call, message in (
        (lambda: ndcg_score(), r"ndcg_score needs y_true and y_score\."),
        (lambda: ndcg_score(Y), r"ndcg_score needs y_score\."),
        (lambda: ndcg_score(y_score=S), r"ndcg_score needs y_true\."),
        (lambda: ndcg_score(Y, S, QID), "qid="),
    ):
        with pytest.raises(TypeError, match=message):
            call()
    assert ndcg_score(y_true=Y, y_score=S, qid=QID) == ndcg_score(Y, S, qid=QID)


# --- keywords, columns and laws ------------------------------------------------------------------------------


def price_metric():
    @metric("revenue", columns=["price"], parameter_constraints={"margin": ("a number above 0", lambda v: v > 0)})
    def revenue_score(r, *, margin=1.0):
        """Price of the relevant items."""
        return r.cumsum(r.relevant * r.column("price") * margin)

    return revenue_score


PRICE = [10.0, 20.0, 30.0, 40.0]


def test_a_column_is_read_the_same_everywhere():
    pd = pytest.importorskip("pandas")
    revenue, expected = price_metric(), [5.0, 30.0]  # tied documents in query a: the mean of 10 and 0
    y = pd.Series(Y, index=pd.MultiIndex.from_arrays([QID, PRICE], names=["qid", "price"]))
    assert revenue(Y, S, qid=QID, price=PRICE, k=1, average=None).tolist() == expected
    assert revenue(y, S, k=1, average=None).tolist() == expected
    assert evaluate(y, S, metrics=["revenue@1", "ndcg@1"]).per_query["revenue@1"].tolist() == expected
    mixed = [0, 2, 1, 3]
    again = evaluate(
        np.take(Y, mixed), np.take(S, mixed), qid=np.take(QID, mixed), price=np.take(PRICE, mixed),
        metrics="revenue@1", chance=True,
    )  # fmt: skip
    assert again.per_query["revenue@1"].tolist() == expected
    assert again.chance().mean() == {"revenue@1": (5 + 35) / 2}
    padded = revenue([*Y, 9], [*S, 9], qid=[*QID, "b"], price=[*PRICE, 99], mask=[True] * 4 + [False], k=1)
    assert padded == np.mean(expected)
    dropped = revenue([np.nan, *Y], [9, *S], qid=["a", *QID], price=[7, *PRICE], unjudged="drop", k=1)
    assert dropped == np.mean(expected)
    assert prepare(y, metrics="revenue@1")(S) == np.mean(expected)
    assert compare_systems(y, {"A": S, "B": S[::-1]}, metrics="revenue@1").results["A"].mean()["revenue@1"] == 17.5


def test_columns_are_read_by_explanations_and_pages():
    """Each of the first two places has its price if it is relevant; an unjudged document would add its own."""
    function = price_metric()
    price, y, old, new = [10.0, 20.0, 40.0], [1, 1, np.nan], [3.0, 2.0, 1.0], [1.0, 2.0, 3.0]
    index = pd.MultiIndex.from_arrays([["a"] * 3 + ["b"] * 3, price + [1.0, 2.0, 4.0]], names=["qid", "price"])
    labels, systems = pd.Series(y + [1, 0, 0], index=index), {"old": old + old, "new": new + old}
    keywords = {"metrics": parse_metric(function, margin=1.0, k=2, unjudged="nonrelevant"), "baseline": "old"}
    table = pd.DataFrame(systems).assign(label=labels.to_numpy(), **{n: index.get_level_values(n) for n in index.names})
    arrays = table["label"].to_numpy(), systems
    for report in (
        compare_systems(labels, systems, **keywords),
        compare_systems(*arrays, qid=table["qid"], price=table["price"], **keywords),
        compare_systems(table, {"old": "old", "new": "new"}, **keywords),
    ):
        assert [[*one.per_query.values()][0].tolist() for one in (report["old"], report["new"])] == [[30, 1], [20, 1]]
        explanation = report.explain("a", new="new", old="old")
        assert dict(zip(explanation.documents, explanation.contribution, strict=True)) == {0: -10, 1: 0, 2: 0}
        assert [row[0::3] for row in explanation.to_judge(5).rows] == [(2, 40)]
        assert [(*row[:2], row[-1]) for row in report.to_judge(1, new="new", old="old").rows] == [("a", 2, 20)]
        gate = no_worse(new=report["new"], old=report["old"], largest_loss=60)
        assert all("<html" in one.to_html() for one in (report, report["old"], gate))


def test_columns_reach_tables_and_accumulators():
    function = price_metric()
    frame = pd.DataFrame({"qid": QID, "label": Y, "score": S, "price": [3.0, 5.0, 7.0, 9.0]})
    indexed = frame.set_index(["qid", "price"])
    found = evaluate(Y, S, qid=QID, metrics=function, price=frame["price"]).mean()
    nested = frame.groupby("qid").agg(list).reset_index()
    accumulator = RankingAccumulator(function).update(indexed["label"], indexed["score"])
    for other in (*(evaluate_table(one, metrics=function) for one in (frame, nested, indexed)), accumulator.compute()):
        assert other.mean() == found
    assert evaluate(indexed["label"], S, metrics=function, price=[3, 5, 7, 9]).mean() == found
    with pytest.raises(ValueError, match="price and the level 'price'.*Got other numbers from row 2 on"):
        evaluate(indexed["label"], S, metrics=function, price=[3, 5, 9, 7])
    with pytest.raises(ValueError, match="price has a number for each row, so labels and scores must be rows"):
        evaluate(csr_array([Y]), csr_array([S]), metrics=function, price=frame["price"])


def test_results_of_other_columns_are_not_compared(tmp_path):
    """By a metric that reads the column, also of files, subsets and several runs; other metrics are compared."""
    rng, function = np.random.default_rng(0), price_metric()
    qid, y, price = np.repeat(np.arange(20), 5), rng.integers(0, 2, 100), rng.random(100)
    given = {"qid": qid, "metrics": {"revenue": function, "ndcg@3": "ndcg@3"}}
    old, new, dearer = (
        evaluate(y, rng.random(100), price=of_system, **given) for of_system in (price, price.copy(), 2 * price)
    )
    old.save(tmp_path / "old.npz")
    loaded, runs, some = Evaluation.load(tmp_path / "old.npz"), Evaluation.of_runs([old, new]), range(10)
    for one, other in ((old, dearer), (loaded, dearer), (old.subset(some), dearer.subset(some)), (dearer, runs)):
        with pytest.raises(ValueError, match="by the same columns.*Got other columns or vectors in"):
            compare(one, other, metric="revenue")
        with pytest.raises(ValueError, match="by the same columns.*Got other columns or vectors in"):
            no_worse(new=one, old=other, margin={"revenue": 0.5}, largest_loss={"revenue": 10})
        assert compare(one, other, metric="ndcg@3").n_units == len(one.qid)
        with pytest.raises(ValueError, match="by the same columns"):
            compare_systems({"a": one, "b": other})
    assert compare_systems({"old": old, "new": new}).results.keys() == {"old", "new"}
    mixed = rng.permutation(100)
    other = evaluate(y[mixed], rng.random(100), price=price[mixed], **given | {"qid": qid[mixed]})
    assert compare(old, other, metric="revenue").n_units == 20, "rows in another order have the same columns"


def test_scorers_carry_columns(ranking):
    pd = pytest.importorskip("pandas")
    X, y, qid = ranking
    price = np.random.default_rng(0).uniform(1, 9, len(y))
    in_index = pd.Series(y, index=pd.MultiIndex.from_arrays([qid, price], names=["qid", "price"]))
    scorers = [make_ranking_scorer(price_metric(), k=3), make_ranking_scorer(["revenue@3", "ndcg@3"])]
    names = [lambda one: one["test_score"], lambda one: one["test_revenue@3"]]
    found = []
    for scorer, values in zip(scorers, names, strict=True):
        arguments = {"scoring": scorer, "cv": QueryKFold(2)}
        found.append(values(cross_validate(QueryRanker(Ridge()), X, in_index, **arguments)))
        with sklearn.config_context(enable_metadata_routing=True):
            params = {"qid": qid, "price": price}
            found.append(values(cross_validate(QueryRanker(Ridge()), X, y, params=params, **arguments)))
    report = RankingEvaluator(["revenue@3", "ndcg@3"], cv=QueryKFold(2)).cross_validate(Ridge(), X, in_index)
    for other in (*found[1:], report["test_revenue@3"]):
        np.testing.assert_allclose(other, found[0])
    with pytest.raises(TypeError, match="has no keyword 'cost'"):
        scorers[1](QueryRanker(Ridge()).fit(X, y, qid=qid), X, y, qid=qid, cost=price)


def test_early_stopping_reads_a_column_from_the_index():
    pd = pytest.importorskip("pandas")
    revenue = price_metric()
    X = np.arange(12.0).reshape(-1, 1)
    y, qid, price = X[:, 0] % 3, np.repeat([0, 1, 2, 3], 3), np.arange(1.0, 13.0)
    model = QueryRanker(GradientBoostingRegressor(n_estimators=3), eval_fraction=0.5, eval_metric=revenue)
    with pytest.raises(TypeError, match="no keyword 'price'.* Give y an index with the levels 'qid' and 'price'"):
        model.fit(X, y, qid=qid, price=price)
    index = pd.MultiIndex.from_arrays([qid, price], names=["qid", "price"])
    assert len(model.fit(X, pd.Series(y, index)).eval_curve_) == 3


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({}, "revenue_score reads the column 'price', a number for each row: give the labels an index"),
        ({"price": PRICE[:2]}, r"price must have one entry per row, shape \(4,\). Got shape \(2,\)"),
        ({"price": [*PRICE[:3], np.nan]}, "price must be finite. Got nan"),
        ({"price": PRICE, "margin": -1}, "The 'margin' parameter of revenue_score must be a number above 0. Got -1"),
        ({"price": PRICE, "margin": "x"}, "The 'margin' parameter of revenue_score must be a number above 0. Got 'x'"),
    ],
)
def test_bad_columns_and_keywords(given, message):
    with pytest.raises(ValueError, match=message):
        price_metric()(Y, S, qid=QID, **given)


@pytest.mark.parametrize(
    ("properties", "formula", "message"),
    [
        ({}, lambda r, k=3: r.cumsum(), "The k of a metric is its cutoff"),
        ({"columns": "price"}, lambda r: r.cumsum(), "columns of a metric must be a list of names"),
        ({"columns": ["qid"]}, lambda r: r.cumsum(), "columns of a metric must be a list of names"),
        ({}, lambda r, stop="exp2": r.cumsum(), "A formula with stop= needs the keyword max_grade"),
        ({"labels": (0, "top")}, lambda r: r.cumsum(), r"A formula with labels=\(0, 'top'\) needs the keyword top"),
        ({"parameter_constraints": {"p": 3}}, lambda r, p=1: r.cumsum(), "a pair of words and a function"),
        ({"parameter_constraints": {"q": ("any", bool)}}, lambda r, p=1: r.cumsum(), "Got 'q'"),
    ],
)
def test_bad_definitions(properties, formula, message):
    with pytest.raises((TypeError, ValueError), match=message):
        metric("ill_defined", **properties)(formula)


def test_a_discount_with_its_own_rule_reaches_the_formula():
    rule = {"discount": ("a list of weights", lambda v: isinstance(v, list))}

    @metric("weighed", parameter_constraints=rule)
    def weighed_score(r, *, discount=[1.0, 0.25]):  # noqa: B006
        return r.cumsum(r.relevant, weight=np.array(discount)[np.minimum(r.rank, len(discount)) - 1])

    assert weighed_score(Y, S, qid=QID, discount=[2.0, 1.0]) == (1.5 + 3) / 2
    with pytest.raises(ValueError, match="'discount' parameter of weighed_score must be a list of weights"):
        weighed_score(Y, S, qid=QID, discount="log2")


LAW = "the order by label is no worse than its reverse"


@pytest.mark.slow
def test_check_metric_accepts_valid_metrics():
    with_column = check_metric(price_metric())
    assert with_column.pop(LAW) == "not tried: reads the column price, so that the best order need not be by label"
    assert {*with_column.values()} == {"holds", "not tried: binary=False", "not tried: no bounds are declared"}
    assert check_metric(make_metric())["keywords have rules"].startswith("not tried: 'half_life' without a rule")
    assert check_metric("hit", k=3)["values are 0 or 1 if binary=True"] == "holds"
    assert "holds" in check_metric(top_label).values()


@pytest.mark.parametrize(
    ("properties", "formula", "message"),
    [
        ({"greater_is_better": False}, lambda r: r.cumsum(r.label), f"{LAW}.* declare greater_is_better=True"),
        ({"bounds": (0, 1)}, lambda r: r.cumsum(r.label), r"values are within bounds=\(0, 1\)"),
        ({"binary": True}, lambda r: r.cumsum(r.label), "each query has the value 0 or 1"),
        ({}, lambda r: (r.cumsum(r.label), r.n_relevant), "undefined_when says why a query has no value"),
        ({"reads_scores": False}, lambda r: r.cumsum(weight=(r.score - 1) ** 2), "only the order of scores may count"),
    ],
)
@pytest.mark.filterwarnings("ignore:The formula of .* reads the values of scores")
def test_check_metric_finds_faults(properties, formula, message):
    wrong = metric("breaks_a_law", **properties)(formula)
    with pytest.raises(AssertionError, match=message):
        check_metric(wrong)
