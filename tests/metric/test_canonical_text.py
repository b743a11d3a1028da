"""Results are comparable if metric, keywords and labels are equal; functions are equal if they compute the same."""

import functools
import pickle

import numpy as np
import pytest
from scipy import sparse

from sklearn_rank import RankingEvaluator, evaluate, evaluate_table, metric, parse_metric
from sklearn_rank._engine.fingerprints import fingerprints_of
from sklearn_rank._metric.canonical_text import text_of
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all

Y, S, QID = [0, 1, 2, 0, 1, 0], [3.0, 2.0, 1.0, 1.0, 2.0, 3.0], ["a", "a", "a", "b", "b", "b"]
SCALE = 1


def of(metrics="ndcg", y=Y, s=S, qid=QID, **keywords):
    return evaluate(y, s, qid=qid, metrics=metrics, **keywords)


def times(factor):
    return lambda r: factor * r


def module_gain(r):
    return 1.0 * r


class Times:
    def __init__(self, factor):
        self.factor = factor

    def __call__(self, r):
        return self.factor * r


class Table:
    def __init__(self, factor):
        self.factor = factor

    def gain(self, r):
        return self.factor * r


def refused(a, b):
    with pytest.raises(ValueError, match="values of one metric, computed alike"):
        compare(a, b)
    with pytest.raises(ValueError, match="values of one metric, computed alike"):
        compare_all({"a": a, "b": b})


OTHER_GAINS = {
    "lambdas": (lambda r: r, lambda r: 100 * r),
    "closures": (times(1), times(100)),
    "objects": (Times(1), Times(100)),
    "methods": (Table(1).gain, Table(100).gain),
    "partials": (functools.partial(np.multiply, 1), functools.partial(np.multiply, 100)),
    "defaults": (lambda r, f=1: f * r, lambda r, f=100: f * r),
    "nested": (lambda r: (lambda x: 1 * x)(r), lambda r: (lambda x: 100 * x)(r)),
    "named": (np.sqrt, np.cbrt),
    "function and lambda": (module_gain, lambda r: r),
    "tables": ([0, 1, 3], [0, 1, 4]),
    "mappings": ({0: 0, 1: 1, 2: 3}, {0: 0, 1: 1, 2: 4}),
    "digits": ([0, 1, 3], [0, 1, 3 + 1e-12]),
    "words": ("exp2", "linear"),
}


@pytest.mark.parametrize("gains", OTHER_GAINS.values(), ids=OTHER_GAINS)
def test_different_gains(gains, tmp_path):
    a, b = (of(gain=gain) for gain in gains)
    refused(a, b)
    for name, result in (("a", a), ("b", b)):
        result.save(tmp_path / name)
        assert Evaluation.load(tmp_path / name).meaning == result.meaning
        compare(Evaluation.load(tmp_path / name), of(gain=gains["ab".index(name)]))
    refused(Evaluation.load(tmp_path / "a"), b)
    refused(Evaluation.load(tmp_path / "a"), Evaluation.load(tmp_path / "b"))


def test_long_tables():
    """NumPy prints three values at each end."""
    first = np.arange(2000, 0, -1.0)
    second = first.copy()
    second[1000] = 1000.5
    refused(of(discount=first), of(discount=second))
    compare(of(discount=first), of(discount=first.tolist()))
    assert len(of(discount=first).meaning["ndcg"]) < 600


def test_canonical_text_reads_functions_immediately():
    results = []
    for factor in (1, 100):  # both functions close over the same variable
        results.append(of(gain=lambda r: factor * r))  # noqa: B023
    refused(*results)
    global SCALE
    first = of(gain=lambda r: SCALE * r)
    SCALE = 100
    refused(first, of(gain=lambda r: SCALE * r))


SAME_GAINS = {
    "one lambda": (times(1),) * 2,
    "written twice": (lambda r: 2 * r, lambda r: 2 * r),
    "closures": (times(2), times(2)),
    "objects": (Times(2), Times(2)),
    "methods": (Table(2).gain, Table(2).gain),
    "a function": (module_gain, module_gain),
    "tables": ([0, 1, 3], np.array([0.0, 1.0, 3.0])),
    "mappings": ({0: 0, 1: 1, 2: 3}, {2: 3.0, 1: 1, 0: np.int64(0)}),
}


@pytest.mark.parametrize("gains", SAME_GAINS.values(), ids=SAME_GAINS)
def test_the_same_gains(gains):
    a, b = (of(gain=gain) for gain in gains)
    assert compare(a, b).pvalue == 1


def test_numbers_of_equal_value_are_equal():
    compare(of({"m": "rbp(p=0.5)"}), of({"m": parse_metric("rbp", p=np.float64(0.5))}))
    compare(of("map", min_relevance=1), of("map", min_relevance=1.0))
    compare(of({"m": parse_metric("ndcg", k=np.int64(2))}), of({"m": "ndcg@2"}))
    refused(of({"m": "ndcg@2"}), of({"m": "ndcg@3"}))


def test_a_lambda_in_a_worker_is_equal():
    cloudpickle = pytest.importorskip("cloudpickle")
    gain = times(3)
    again = cloudpickle.loads(cloudpickle.dumps(gain))
    assert again is not gain
    compare(of(gain=gain), of(gain=again))
    assert pickle.loads(pickle.dumps(of(gain=module_gain))).meaning == of(gain=module_gain).meaning


def test_different_metrics_with_one_name():
    def define(factor, **facts):
        @metric("mine", **facts)
        def mine_score(r):
            return r.cumsum(factor * r.label)

        return mine_score

    once, other, again = (of({"m": define(factor)}) for factor in (1, 2, 1))
    refused(once, other)
    compare(once, again)
    refused(once, of({"m": define(1, greater_is_better=False)}))


def test_different_plain_functions_with_one_name():
    def define(factor):
        def mine(y, s):
            return float(factor * y.sum())

        return mine

    refused(of(define(1)), of(define(2)))
    refused(of({"m": lambda y, s: 1.0}), of({"m": lambda y, s: 2.0}))
    compare(of(define(1)), of(define(1)))
    refused(of(parse_metric(define(1), greater_is_better=False)), of(define(1)))


# --- labels --------------------------------------------------------------------------------------------------

OTHER = {
    "binary": [0, 1, 1, 0, 1, 0],
    "one more": [1, 1, 2, 0, 1, 0],
    "swapped between queries": [0, 1, 1, 0, 2, 0],
    "scaled": [0, 10, 20, 0, 10, 0],
    "negative": [0, 1, 2, -1, 1, 0],
}
SYSTEM = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0]


def other_labels(a, b):
    with pytest.raises(ValueError, match="judged by the same labels; .*Got other labels in 'b' than in 'a' for"):
        compare(a, b)
    with pytest.raises(ValueError, match="judged by the same labels; .*Got other labels in 'y' than in 'x' for"):
        compare_all({"x": a, "y": b})


@pytest.mark.parametrize("y", OTHER.values(), ids=OTHER)
def test_different_labels(y, tmp_path):
    a, b = of("mrr"), of("mrr", y=y, s=SYSTEM)
    other_labels(a, b)
    compare(a, b, test="welch")  # a metric of different queries
    compare(a.to_frame()["mrr"], b.to_frame()["mrr"])  # the message names this call
    rows = [5, 1, 3, 4, 0, 2]
    shuffled = of("mrr", y=[y[i] for i in rows], s=[S[i] for i in rows], qid=[QID[i] for i in rows])
    other_labels(a, shuffled)
    compare(b, shuffled)
    a.save(tmp_path / "a")
    b.save(tmp_path / "b")
    other_labels(Evaluation.load(tmp_path / "a"), b)
    other_labels(a, Evaluation.load(tmp_path / "b"))
    compare(Evaluation.load(tmp_path / "a"), a)
    other_labels(a, evaluate_table([(y[:2], S[:2], QID[:2]), (y[2:], S[2:], QID[2:])], metrics="mrr"))
    compare(b, evaluate_table([(y[:2], S[:2], QID[:2]), (y[2:], S[2:], QID[2:])], metrics="mrr"))


def test_pictures_reject_different_metrics():
    plt = pytest.importorskip("matplotlib.pyplot")
    from sklearn_rank.display import CriticalDifferenceDisplay, DifferenceDisplay

    a, b, c = of("mrr"), of("mrr", y=OTHER["binary"]), of("mrr", s=SYSTEM)
    with pytest.raises(ValueError, match="plot of two systems takes systems that were judged by the same labels"):
        DifferenceDisplay.from_results({"a": a, "b": b})
    with pytest.raises(ValueError, match="compare_all takes systems that were judged by the same labels"):
        CriticalDifferenceDisplay.from_results({"a": a, "b": b})
    DifferenceDisplay.from_results({"a": a, "c": c})
    plt.close("all")


def test_results_of_some_queries():
    """Labels must be equal only for queries that both results have."""
    a = of("mrr")
    b = of("mrr", y=[0, 1, 5, 0], s=[1.0, 2.0, 1.0, 2.0], qid=["b", "b", "c", "c"])
    assert compare(a, b, missing=0).n_filled == 2
    b = of("mrr", y=[0, 2, 5, 0], s=[1.0, 2.0, 1.0, 2.0], qid=["b", "b", "c", "c"])
    with pytest.raises(ValueError, match="for 1 query, the first of them 'b'"):
        compare(a, b, missing=0)


def test_the_message_names_the_first_of_three_differences():
    systems = {"x": of("mrr"), "y": of("mrr", s=SYSTEM), "z": of("mrr", y=OTHER["scaled"])}
    with pytest.raises(ValueError, match="in 'z' than in 'y' for 2 queries, the first of them 'a'"):
        compare_all(systems)


def test_label_fingerprints_ignore_unretrieved_documents():
    """Systems may differ in documents of label 0 or without a label, and in the positions of judged documents."""
    a = of("mrr", unjudged="nonrelevant")
    inf = -np.inf
    y = [np.nan, 2, 1, np.nan, 1, 0, 0, 0, np.nan]
    b = of("mrr", y=y, s=[5, inf, 4, 3, 2, 1, 0, -1, -2], qid=["a"] * 4 + ["b"] * 5, unjudged="nonrelevant")
    compare(a, b)


def test_kinds_of_labels():
    """Labels of type bool, float32, or -0.0 equal the same labels as float64."""
    y = [0.0, 0.1, 0.7, 0.0, 1.0, 0.0]
    compare(of("dcg", y=y), of("dcg", y=np.array(y, dtype=np.float32)))
    compare(of("mrr", y=[0, 1, 1, 0, 1, 0]), of("mrr", y=np.array([0, 1, 1, 0, 1, 0], dtype=bool)))
    compare(of("dcg", y=y), of("dcg", y=[-0.0, 0.1, 0.7, 0.0, 1.0, -0.0]))


def test_canonical_text_of_subtopics(rng):
    y, s, qid = rng.integers(0, 2, (40, 3)), rng.normal(size=40), np.repeat(np.arange(8), 5)
    rows, other = rng.permutation(40), y[:, [1, 0, 2]]
    compare(of("alpha_ndcg", y, s, qid), of("alpha_ndcg", y[rows], s[rows], qid[rows]))
    other_labels(of("alpha_ndcg", y, s, qid), of("alpha_ndcg", other, s, qid))
    unjudged = np.where(y == 0, np.nan, y)
    compare(
        of("alpha_ndcg", y, s, qid, unjudged="nonrelevant"), of("alpha_ndcg", unjudged, s, qid, unjudged="nonrelevant")
    )


def test_sparse_judgments(rng):
    y, s = rng.integers(0, 3, (20, 30)) * (rng.random((20, 30)) < 0.2), rng.normal(size=(20, 30))
    lists = sparse.csr_array(np.where(rng.random((20, 30)) < 0.3, s + 10, 0))
    results = [evaluate(y, s, metrics="ndcg@5"), evaluate(sparse.csr_array(y), s, metrics="ndcg@5")]
    results += [evaluate(sparse.csr_array(y), lists, metrics=[m]) for m in ("ndcg@5", "map")]  # different depths
    for one in results[1:3]:
        compare(results[0], one)
    for one in results:
        np.testing.assert_array_equal(one.label_fingerprints, fingerprints_of(results[0]._kept_data.queries))
    other_labels(results[0], evaluate(sparse.csr_array(2 * y), lists, metrics="ndcg@5"))


def test_files_without_fingerprints(tmp_path):
    """Files of earlier versions have none; they are compared without the check."""
    of("mrr").save(tmp_path / "new")
    with np.load(tmp_path / "new") as file:
        np.savez(tmp_path / "old.npz", **{name: file[name] for name in file if name != "label_fingerprints"})
    old = Evaluation.load(tmp_path / "old.npz")
    assert old.label_fingerprints is None
    compare(old, of("mrr", y=OTHER["binary"]))
    systems = {"x": of("mrr"), "old": old, "z": of("mrr", y=OTHER["scaled"])}
    with pytest.raises(ValueError, match="in 'z' than in 'x'"):
        compare_all(systems)


def test_comparisons_keep_fingerprints(ranking, tmp_path):
    from sklearn.linear_model import Ridge

    X, y, qid = ranking
    evaluator = RankingEvaluator("map", cv=3)
    report = evaluator.compare({"a": Ridge(), "b": Ridge(alpha=100)}, X, y, qid=qid)
    report.save(tmp_path / "report")
    again = type(report).load(tmp_path / "report")
    other_labels(again.results["a"], evaluator.compare({"b": Ridge()}, X, y > 1, qid=qid).results["b"])
    compare(again.results["a"], report.results["b"])


@pytest.mark.slow
def test_fingerprints_distinguish_labels():
    """Multisets of up to 29 documents of each of four grades collide about as often as random numbers."""
    counts = np.stack(np.meshgrid(*[np.arange(30)] * 4), axis=-1).reshape(-1, 4).astype(np.uint32)
    for grades in ([1.0, 2.0, 3.0, 4.0], [0.25, 0.5, 0.75, 1.0], [-2.0, -1.0, 1.0, 2.0]):
        one = evaluate(grades, [4, 3, 2, 1], qid=list("abcd"), metrics="judged").label_fingerprints
        assert len(counts) - len(np.unique(counts @ one)) < 300  # expected collisions: 76 of 810,000


def test_a_recursive_function():
    def make(factor):
        def gain(r):
            return factor * r if r < 2 else gain(r - 1)

        return gain

    assert text_of(make(1)) == text_of(make(1)) != text_of(make(2))
