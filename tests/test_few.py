"""A call on few rows: the numbers of the general path to the last bit, its errors and its warnings."""

import gc
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import METRICS, data_for, each_metric, tie_policy

from sklearn_rank import evaluate, parse_metric, prepare
from sklearn_rank._engine import bound as bound_order
from sklearn_rank._engine import traced
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._metric import plans
from sklearn_rank._metric.names import cached_spec
from sklearn_rank.metrics import err_score, map_score, ndcg_score, precision_at_k_score, rbp_score

FIVE = ["ndcg@10", "map", "mrr", "p@5", "err@20"]
INF = float("inf")


@pytest.fixture
def in_general(monkeypatch):
    """Call a function without a plan."""

    def call(function, *arrays, **keywords):
        with monkeypatch.context() as patched:
            patched.setattr(plans.PlannedMetrics, "compute", lambda *_: None)
            return function(*arrays, **keywords)

    return call


@pytest.fixture
def is_few(monkeypatch):
    """Whether a plan for any few rows computes a call."""

    def call(function, *arrays, **keywords):
        found, compute = [], plans.PlannedMetrics.compute
        with monkeypatch.context() as patched:
            patched.setattr(
                plans.PlannedMetrics, "compute", lambda *args: found.append((args[0], compute(*args))) or found[-1][1]
            )
            function(*arrays, **keywords)
        return bool(found) and found[0][0].plan.longest == plans.FEW_ROWS and found[0][1] is not None

    return call


def rows(n_rows=60, n_queries=6, seed=0, highest=4):
    """Labels, scores with ties, and ids that are not grouped."""
    rng = np.random.default_rng(seed)
    return (
        rng.integers(0, highest + 1, n_rows) * 1.0,
        rng.integers(0, 2 * n_rows, n_rows) / 7,
        rng.integers(0, n_queries, n_rows),
    )


def is_planned(metric):
    """Whether there is a plan of a metric for few rows."""
    return plans.planned_for_any([cached_spec(metric.name)], plans.ANY_FEW) is not None


def assert_same(one, other):
    """Assert that two results are of the same bits."""
    assert repr(one.mean()) == repr(other.mean())
    assert one.n_undefined == other.n_undefined
    for name, values in other.per_query.items():
        assert_array_equal(one.per_query[name], values)


# --- the same numbers ----------------------------------------------------------------------------------------


@each_metric
def test_each_metric(metric, in_general, is_few):
    names = [metric.name + cutoff for cutoff in (["@1", "@3", "@10", ""] if metric.has_cutoff else [""])]
    for tied in (False, True):
        data = data_for(metric, tied=tied)
        grades = np.abs(np.round(data.y_true)) % 5
        most = np.minimum(grades, metric.labels[1]) if isinstance(metric.labels[1], int | float) else grades
        if is_planned(metric):
            assert is_few(evaluate, most, data.y_score, qid=data.qid, metrics=names)
        for scores in (data.y_score, np.round(data.y_score), data.y_score.astype(np.float32)):
            given = {"qid": data.qid, "metrics": names, **tie_policy(metric)}
            for labels in (data.y_true, most):
                assert_same(evaluate(labels, scores, **given), in_general(evaluate, labels, scores, **given))


@pytest.mark.filterwarnings("ignore::UserWarning")  # of all documents relevant
@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("n_queries", [1, 7, 60])
def test_ties_weights_and_cutoffs(ties, n_queries, in_general, is_few):
    grades = [m.name for m in METRICS if is_planned(m) and m.defaults.keys() >= {"ties"}]
    names = [name + at for name in grades for at in ("", "@2")[: 1 + cached_spec(name).metric.has_cutoff]]
    for seed in range(2):
        for n_rows in (1, 40, 300) if seed else (9, 700):
            y_true, y_score, qid = rows(n_rows, n_queries, seed)
            given = {
                "qid": qid,
                "metrics": [*dict.fromkeys([*FIVE, *names])],
                "ties": ties,
                "sample_weight": [None, qid * 0.3 + 2][seed % 2],
            }
            assert is_few(evaluate, y_true, y_score, **given)
            for scores in (y_score, np.round(y_score), y_score * 1e300):
                assert_same(evaluate(y_true, scores, **given), in_general(evaluate, y_true, scores, **given))


def test_the_mean_of_one_query_is_its_value_whatever_its_weight():
    for k in (2, [1, 2, 3]):
        value = ndcg_score([0, 2, 1], [3, 2, 1], k=k, qid=[0] * 3)
        assert_array_equal(ndcg_score([0, 2, 1], [3, 2, 1], k=k, qid=[0] * 3, sample_weight=[5] * 3), value)
        assert 0 < np.max(value) < 1


def test_means_of_few_queries_have_the_bits_of_numpy():
    for n_queries in range(1, 60):
        y_true, y_score, _ = rows(5 * n_queries, seed=n_queries)
        qid, names = np.arange(5 * n_queries) // 5, ["ndcg", "rbp"]
        for weight in (None, np.arange(1.0, n_queries + 1) ** 2):
            given = {"qid": qid, "metrics": names, "sample_weight": None if weight is None else weight[qid]}
            result, means = evaluate(y_true, y_score, **given), prepare(y_true, **given)(y_score)
            for name, values in result.per_query.items():
                sums = np.add.reduce(values if weight is None else weight * values)
                assert result.mean()[name] == means[name] == sums / (n_queries if weight is None else weight.sum())


@pytest.mark.filterwarnings("ignore:ndcg is not defined for any query:UserWarning")
@pytest.mark.parametrize("highest", [0, 1, 31])
@pytest.mark.parametrize(
    "keywords",
    [
        {"gain": "linear"},
        {"gain": "binary", "min_relevance": 2},
        {"discount": "jarvelin", "base": 3},
        {"discount": "reciprocal"},
        {"convention": "lightgbm"},
        {"replace_undefined_by": 0.5},
        {"replace_undefined_by": 1},
        {"replace_undefined_by": np.nan},
        {"average": None},
        {"average": "geometric"},
        {"k": [1, 3, 10]},
        {"k": 3, "average": None},
    ],
    ids=str,
)
def test_functions(highest, keywords, in_general):
    y_true, y_score, qid = rows(highest=highest)
    y_true[qid == 1], y_true[qid == 2] = 0, highest
    value = ndcg_score(y_true, y_score, qid=qid, **keywords)
    expected = in_general(ndcg_score, y_true, y_score, qid=qid, **keywords)
    assert type(value) is type(expected)
    assert_array_equal(value, expected)


@pytest.mark.parametrize("y_true", [[1, 0, 2], (True, False, True), np.array([0.0, -0.0, 1.0])], ids=str)
def test_arrays_of_all_kinds(y_true, in_general, is_few):
    for arrays in ((y_true, [3, 3, 1], [5, 5, 4]), (y_true, np.float32([3, 3, 1]), ["b", "a", "b"])):
        for function in (ndcg_score, map_score):
            assert is_few(function, *arrays[:2], qid=arrays[2])
            assert function(*arrays[:2], qid=arrays[2]) == in_general(function, *arrays[:2], qid=arrays[2])


def test_no_step_remembers_labels_or_scores(in_general):
    """Calls of all sizes, one after the other, by the same steps."""
    for seed in range(60):
        y_true, y_score, qid = rows(1 + seed**2 % 97, 1 + seed % 5, seed, highest=seed % 5)
        given = {"qid": qid, "metrics": FIVE}
        assert_same(evaluate(y_true, y_score, **given), in_general(evaluate, y_true, y_score, **given))


def test_the_short_path_ends_where_it_says(is_few, in_general):
    for n_rows in (plans.FEW_ROWS, plans.FEW_ROWS + 1):
        for n_queries in (1, 9):
            y_true, y_score, qid = rows(n_rows, n_queries)
            given = {"qid": qid, "metrics": FIVE}
            assert is_few(evaluate, y_true, y_score, **given) == (n_rows == plans.FEW_ROWS)
            assert_same(evaluate(y_true, y_score, **given), in_general(evaluate, y_true, y_score, **given))


def test_other_metrics_do_not_end_the_short_path(is_few):
    """A list of names is remembered for longer than each of its metrics is kept by those that come after it."""
    y_true, y_score, qid = rows()
    assert is_few(evaluate, y_true, y_score, qid=qid, metrics=FIVE)
    for i in range(300):
        rbp_score(y_true, y_score, qid=qid, p=0.5 + i / 1000, max_grade=4)
    assert is_few(evaluate, y_true, y_score, qid=qid, metrics=FIVE)


def test_most_metrics_take_the_short_path():
    short = {m.name for m in METRICS if is_planned(m)}
    assert {"ndcg", "dcg", "map", "mrr", "precision", "recall", "hit", "f", "err", "rbp", "cg", "wap", "auc"} <= short


# --- what the general path is for ----------------------------------------------------------------------------


def test_errors_and_warnings(in_general):
    y_true, y_score, qid = rows()
    high, negative, missing, big = (np.where(np.arange(60) == 7, x, y_true) for x in (9, -1, np.nan, 40))
    for function, labels, keywords in [
        (err_score, high, {}),
        (err_score, y_true, {"stop": "label"}),
        (ndcg_score, negative, {}),
        (ndcg_score, missing, {}),
        (ndcg_score, y_true, {"replace_undefined_by": 1e308}),
    ]:
        errors = []
        for call in (lambda f, *a, **k: f(*a, **k), in_general):
            try:
                errors.append(
                    call(function, labels * (function is not ndcg_score or not keywords), y_score, qid=qid, **keywords)
                )
            except ValueError as error:
                errors.append(str(error))
        assert isinstance(errors[0], str)
        assert errors[0] == errors[1]
    assert err_score(big, y_score, qid=qid, max_grade=50) == in_general(err_score, big, y_score, qid=qid, max_grade=50)
    with pytest.warns(UserWarning, match="ndcg is not defined for any query"):
        assert np.isnan(ndcg_score(y_true * 0, y_score, qid=qid, replace_undefined_by=np.nan))


@pytest.mark.parametrize("what", ["not retrieved", "unjudged", "fractions", "micro", "masked", "matrix"])
def test_the_rare(what, in_general):
    y_true, y_score, qid = rows()
    given, function = {"qid": qid}, ndcg_score
    if what == "not retrieved":
        y_score[::5] = -INF
    elif what == "unjudged":
        y_true[::5], given["unjudged"] = np.nan, "drop"
    elif what == "fractions":
        y_true = y_true + 0.5
    elif what == "micro":
        given["average"], function = "micro", precision_at_k_score
    elif what == "masked":
        given["mask"] = y_score > 3
    else:
        y_true, y_score, given = y_true.reshape(6, 10), y_score.reshape(6, 10), {}
    assert function(y_true, y_score, **given) == in_general(function, y_true, y_score, **given)


# --- what is remembered --------------------------------------------------------------------------------------


def test_plans_are_remembered_for_a_while(monkeypatch):
    """By the identities of shared metrics, which they keep; those of a metric of the user's own are the shared ones."""
    monkeypatch.setattr(plans, "_PLANS", {})
    monkeypatch.setattr(plans, "MOST_PLANS", 3)
    y_true, y_score, qid = rows()

    def call(metric):
        return evaluate(y_true, y_score, qid=qid, metrics=metric).mean()

    call("ndcg@7")
    ((specs, known),) = plans._PLANS.values()
    assert call("ndcg@7")["ndcg@7"] == ndcg_score(y_true, y_score, qid=qid, k=7)
    assert [*plans._PLANS.values()] == [(specs, known)]
    for k in range(1, 20):
        call(f"ndcg@{k}")
        assert len(plans._PLANS) <= 3
    own = parse_metric("ndcg@7")
    assert call(own)["ndcg@7"] == ndcg_score(y_true, y_score, qid=qid, k=7)
    assert all(spec is not own for known, _ in plans._PLANS.values() for spec in known)


def test_results_and_metrics_are_pickled():
    y_true, y_score, qid = rows()
    result = evaluate(y_true, y_score, qid=qid, metrics=FIVE)
    assert_same(pickle.loads(pickle.dumps(result)), result)


def test_threads():
    """Many at once, on the same steps."""
    data = [rows(50, 5, seed) for seed in range(40)]

    def values(at):
        y_true, y_score, qid = data[at]
        return repr(evaluate(y_true, y_score, qid=qid, metrics=FIVE).mean())

    with ThreadPoolExecutor(4) as pool:
        assert [*pool.map(values, [*range(40)] * 5)] == [values(at) for at in range(40)] * 5


def test_a_call_leaves_nothing_to_the_collector_of_garbage():
    """Circles of objects would keep the arrays of each call until it runs."""
    label, score, qid = rows()
    ndcg_score(label, score, qid=qid), evaluate(label, score, qid=qid, metrics=FIVE)
    gc.collect()
    gc.disable()
    try:
        ndcg_score(label, score, qid=qid), evaluate(label, score, qid=qid, metrics=FIVE)
        assert gc.collect(0) == 0
    finally:
        gc.enable()


def test_each_metric_has_its_own_threshold():
    """In one call, where they share what is known of a ranking."""
    y, score, qid = [1, 2, 0, 3, 0, 1], [5, 4, 3, 2, 1, 0], [1, 1, 1, 2, 2, 2]
    names = ["map", "map(min_relevance=2)", "p(min_relevance=3)@1"]
    for _ in range(3):  # the steps are known from the second time on
        found = evaluate(y, score, qid=qid, metrics=names).per_query
        assert found["map"].tolist() == [1, (1 + 2 / 3) / 2]
        assert found["map(min_relevance=2)"].tolist() == [0.5, 1]
        assert found["p(min_relevance=3)@1"].tolist() == [0, 1]


@pytest.mark.parametrize("n_rows", [n + more for n in (plans.FEW_ROWS, plans.LONGEST_REMEMBERED) for more in (0, 1)])
def test_rows_at_the_limit(n_rows):
    rng = np.random.default_rng(0)
    y, score, one = rng.integers(0, 2, n_rows), rng.random(n_rows), np.zeros(n_rows)
    discount = 1 / np.log2(np.arange(n_rows) + 2)
    expected = (y[np.argsort(-score)] * discount).sum() / discount[: y.sum()].sum()
    for _ in range(3):
        assert evaluate(y, score, qid=one, metrics="ndcg").mean()["ndcg"] == pytest.approx(expected, rel=1e-13)
        assert evaluate(y, score, qid=np.arange(n_rows), metrics="p@1").per_query["p@1"].tolist() == y.tolist()


@pytest.mark.parametrize("name", ["err(max_grade=2)", "rbp(gain=linear,max_grade=2)"])
def test_grades_above_those_that_steps_are_for(name):
    for _ in range(3):
        assert len(evaluate([2, 0], [2, 1], qid=[1, 1], metrics=name).qid) == 1
    with pytest.raises(ValueError, match="must not be above"):
        evaluate([3, 0], [2, 1], qid=[1, 1], metrics=name)


def test_documents_that_are_not_retrieved_have_no_rank():
    for _ in range(3):
        assert evaluate([2, 1], [2, 1], qid=[1, 1], metrics="acg").mean() == {"acg": 1.5}
    assert evaluate([2, 1], [2, -np.inf], qid=[1, 1], metrics="acg").mean() == {"acg": 2}


@pytest.mark.parametrize("bound", ["BoundRatio", "BoundStops"])
def test_numbers_that_the_general_path_says_more_of(bound, monkeypatch):
    """As these kernels tell by False, of denominators that are too small, say: the short paths step back."""
    called = []

    class Refusing:
        def __getattr__(self, asked):
            return make if asked == bound else getattr(rank_kernels, asked)

    def make(numerator, denominator, *others):
        if bound == "BoundStops":
            return RefusingSums()
        called.append(bound)
        return rank_kernels.BoundRatio(numerator, np.full_like(denominator, 1e-300), *others)

    class RefusingSums:
        n_left = 1

        def add(self, *_):
            pass

        def __call__(self):
            called.append(bound)
            return False

    data = rows(40, 5, 0)
    expected = evaluate(*data[:2], qid=data[2], metrics="err")
    monkeypatch.setattr(plans, "_PLANS", {})
    for module in (bound_order, traced):
        monkeypatch.setattr(module, "rank_kernels", Refusing())
    prepared = prepare(data[0], qid=data[2], metrics="err")
    assert_same(evaluate(*data[:2], qid=data[2], metrics="err"), expected)
    assert called == [bound] * (2 if bound == "BoundStops" else 3)  # and by the plan of these very rows
    assert prepared(data[1]) == expected.mean()["err"]
    assert called == [bound] * 4


@pytest.mark.parametrize(
    "formula",
    [
        lambda r: np.add.reduce(r.relevant),
        lambda r: np.add(r.relevant, 1, where=True),
        lambda r: r.cascade(1),
        lambda r: r.cumsum(2.0, by_label=np.sqrt),
        lambda r: r.cumsum(r.relevant, by_label=np.sqrt),
        lambda r: r.cumsum(np.ones(9), by_label=np.sqrt),
    ],
)
def test_what_has_no_steps(formula):
    steps = traced.Steps()
    with pytest.raises(traced.NotTraced):
        steps.curve(formula, {}, traced.TracedQueries(1, np.array([2]), np.arange(1, 10), steps))
    assert not steps.computations
