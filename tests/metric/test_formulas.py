"""A formula reads only its own depth and labels, independent of other metrics, and cannot change shared arrays."""

import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import METRICS, data_for, each, policies, tie_policy, together

from sklearn_rank import evaluate, metric
from sklearn_rank._metric.decorator import _define_again
from sklearn_rank._metric.names import parse_metric


def starts(r):
    return np.flatnonzero(r.rank == 1)


def sums(r, x):
    """Sum per query, with plain NumPy; 0 for an empty query."""
    out = np.zeros((r.shape[0], 1))
    out[r.n[:, 0] > 0, 0] = np.add.reduceat(x, starts(r)) if len(x) else 0
    return out


OWN = {
    "pairs": lambda r: r.pairs().right,
    "centered_ranks": lambda r: sums(r, r.centered_ranks(r.label) ** 2),
    "upwards": lambda r: r.cumsum(weight=r.cascade(r.relevant, upwards=True) * r.rank),
    "cascade": lambda r: r.cumsum(weight=r.cascade(r.label / 8) / r.rank),
    "queries": lambda r: np.array([[y.sum() + len(y)] for y, s in r.queries()]),
    "at_tie_end": lambda r: r.cumsum(r.relevant, weight=r.at_tie_end(r.joint(1, r.relevant) / r.rank)),
    "at_cutoff": lambda r: r.at_cutoff(r.joint(1.0, r.relevant)),
    "highest": lambda r: r.highest(r.joint(1.0, r.relevant) / r.rank),
    "overlap": lambda r: sums(r, r.overlap()),
    "ideal": lambda r: np.add.reduceat(r.ideal.label, starts(r.ideal))[:, None],
    "ideal_sum": lambda r: sums(r, r.ideal_sum(r.ideal.label)),
    "most_novel": lambda r: sums(r.most_novel(0.5), r.most_novel(0.5).relevant),
    "reduceat": lambda r: sums(r, r.label + r.score),
    "rank": lambda r: sums(r, r.rank),
    "of_query": lambda r: sums(r, r.of_query(r.n) * r.label),
    "counts": lambda r: (r.cumsum(r.relevant), r.n + r.n_relevant + r.n_judged + r.k),
    "cutoff": lambda r: np.minimum(r.cutoff, 100) * (1 + r.n_relevant),
    "tied": lambda r: r.n * (1 + 0 * r.k) + sums(r, r.label),
    "subtopics": lambda r: r.over_subtopics(lambda s: sums(s, s.label))[0] + r.n_subtopics,
}
"""Formulas of one's own that between them read all that there is to read, most of them to the end of the list."""

NEIGHBORS = [
    {"metrics": ["p@7"]},
    {"metrics": ["ndcg", "map"]},
    {"metrics": ["p@1", "err@2"]},
    {"metrics": ["map(min_relevance=2)", "p(min_relevance=3)@5"]},
    {"metrics": ["ndcg(ties=worst)@9", "mrr(ties=best)", "map(ties=stable)"]},
    {"metrics": ["auc", "kendall", "bpref", "mse"]},
]


def own(name, **facts):
    """A user-defined metric with one of the formulas above; most of them do not support ties."""

    def formula(r):
        return OWN[name](r)

    formula.__name__ = f"own_{name}_score"
    return _define_again(f"own_{name}", formula, {}, {"greater_is_better": True, **facts}).function  # skip the probe


@pytest.fixture(scope="module")
def lists():
    """Queries of one to nine documents; tied pairs start at rank 6 at the highest."""
    rng = np.random.default_rng(13)
    n = rng.integers(1, 10, size=40)
    score = np.concatenate([np.where(np.arange(m) == 6, 5, np.arange(m)) * -1.0 for m in n])
    return rng.integers(0, 5, size=n.sum()) * 1.0, score, np.repeat(np.arange(40), n)


@together("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("name", OWN)
def test_a_formula_reads_its_own_depth(lists, name, ties):
    y, s, qid = lists
    formula = own(name)
    cutoffs = [1, 3, 5, 8, None] if ties == "average" else [1, 3, 6, 8, None]
    alone = {k: formula(y, s, qid=qid, k=k, ties=ties, average=None) for k in cutoffs}
    for neighbors in NEIGHBORS:
        specs = [parse_metric(f"own_{name}", k=k) for k in cutoffs]
        for asked in (specs, specs[::-1]):
            metrics = [*asked[:2], *neighbors["metrics"], *asked[2:]]
            found = evaluate(y, s, qid=qid, metrics=metrics, ties=ties).per_query
            for spec in asked:
                assert_array_equal(found[str(spec)], alone[spec.k], err_msg=f"{spec} beside {neighbors}")
    listed = formula(y, s, qid=qid, k=cutoffs[:-1], ties=ties, average=None)
    assert_array_equal(listed, np.transpose([alone[k] for k in cutoffs[:-1]]))


@pytest.mark.parametrize("name", OWN)
def test_a_formula_at_a_cutoff_equals_that_of_the_truncated_list(lists, name):
    """Unretrieved documents below the cutoff change only counts."""
    y, s, qid = lists
    formula, k = own(name), 4
    rank = np.concatenate([np.arange(m) for m in np.bincount(qid)])
    cut = np.where(rank < k, s, -np.inf)
    if name not in ("counts", "of_query", "tied"):
        assert_array_equal(formula(y, s, qid=qid, k=k, average=None), formula(y, cut, qid=qid, k=k, average=None))


@pytest.mark.parametrize("name", ["pairs", "centered_ranks", "upwards", "queries"])
def test_documents_tied_across_the_cutoff(name):
    """Half a tie block has no pairs, ranks or last document of its own, so these formulas reject ties."""
    y, s, qid = [2, 0, 1], [3, 1, 1], [0, 0, 0]
    formula = own(name)
    with pytest.raises(ValueError, match=r"of a formula has no expectation .* whole lists \(has_cutoff=False"):
        formula(y, s, qid=qid, k=2)
    formula(y, s, qid=qid, k=1)
    formula(y, [3, 3, 1], qid=qid, k=2)
    formula(y, s, qid=qid)
    assert formula(y, s, qid=qid, k=2, ties="worst") <= formula(y, s, qid=qid, k=2, ties="best")


def test_each_policy_truncates_at_the_depth():
    formula = own("rank")
    for ties in ("stable", "worst", "best"):
        assert formula([1, 0, 2, 0], [4, 1, 1, 1], qid=[0] * 4, k=2, ties=ties) == 1 + 2


@each([m for m in METRICS if not m.pointwise])
def test_metrics_do_not_depend_on_others_in_the_call(metric):
    data = data_for(metric, tied=True, unretrieved=True)
    ties = tie_policy(metric)
    cut = [1, 2, 5, None] if metric.has_cutoff else [None]
    specs = [parse_metric(metric.name, k=k, **ties) for k in cut]
    if "min_relevance" in metric.defaults:
        specs += [parse_metric(metric.name, k=cut[-2] if len(cut) > 1 else None, min_relevance=2, **ties)]
    specs += [parse_metric(metric.name, k=cut[0], ties=t) for t in policies(metric) if t != "average"]
    specs = list({str(spec): spec for spec in specs}.values())
    for asked in (specs, specs[::-1]):
        found = evaluate(data.y_true, data.y_score, qid=data.qid, metrics=asked).per_query
        for spec in asked:
            alone = evaluate(data.y_true, data.y_score, qid=data.qid, metrics=[spec]).per_query[str(spec)]
            assert_array_equal(found[str(spec)], alone)


# --- subtopics -----------------------------------------------------------------------------------------------


def test_subtopics_share_only_the_order():
    """Intermediate results for all labels are not reused for a subtopic."""

    def formula(r):
        before = r.n + r.shape[0] * 0 + r.most_novel(0.5).cumsum()
        own = r.over_subtopics(lambda s: s.n_relevant + 10 * s.ideal.cumsum(s.ideal.label) + 100 * s.n)
        novel = r.over_subtopics(lambda s: s.most_novel(0.5).cumsum(s.most_novel(0.5).relevant))
        return (own * [[[1]], [[1000]]]).sum(axis=0) + 1e6 * novel.sum(axis=0) + 0 * before

    y = np.array([[1, 0], [1, 1], [0, 1], [1, 0]])
    found = metric("shares", subtopics=True)(formula)(y, [4, 3, 2, -np.inf], qid=[0] * 4, k=2)
    assert found == (3 + 10 * 2 + 100 * 3) + 1000 * (2 + 10 * 2 + 100 * 3) + 1e6 * (2 + 2)


def test_a_subtopic_without_relevant_documents_adds_nothing_to_err_ia():
    """Even if it has a label below min_relevance, at which a user could stop."""
    found = evaluate([[1, 0.5], [0, 0]], [2, 1], qid=[0, 0], metrics="err_ia").mean()["err_ia"]
    assert found == 1 / 2


# --- shared arrays are read-only -------------------------------------------------------------------------------


@together("name", ["label", "score", "rank", "relevant", "judged", "n", "n_relevant", "n_judged"])
@pytest.mark.parametrize("facts", [{}, {"pointwise": True}], ids=str)
def test_formula_arguments_are_read_only(name, facts):
    def change(r):
        getattr(r, name)[...] = 0
        return r.cumsum()

    formula = metric("changes", **facts)(change)
    y, s = np.array([2.0, 1.0, 0.0]), np.array([3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="read-only"):
        evaluate(y, s, qid=[0] * 3, metrics=[formula, "mse" if facts else "ndcg"])
    assert y.tolist() == [2, 1, 0]
    assert s.tolist() == [3, 2, 1]


def test_the_ideal_is_read_only():
    def change(r):
        r.ideal.label[:] = 1
        return r.cumsum()

    with pytest.raises(ValueError, match="read-only"):
        metric("changes")(change)([1, 0], [2, 1], qid=[0, 0])


def test_a_pointwise_metric_has_no_cutoff():
    squared = metric("squared", pointwise=True)(lambda r: (r.cumsum((r.label - r.score) ** 2), r.n))
    assert squared([1, 2], [1, 0], qid=[0, 0]) == 2
    with pytest.raises(ValueError, match="has no cutoff"):
        squared([1, 2], [1, 0], qid=[0, 0], k=1)
    with pytest.raises(ValueError, match=r"A pointwise metric .* has no cutoff. Got pointwise=True, has_cutoff=True"):
        metric("squared", pointwise=True, has_cutoff=True)(lambda r: r.cumsum())


@pytest.mark.parametrize(
    ("formula", "needed", "got"),
    [
        (lambda r: r.cumsum(weight=r.of_query(2.0)), "number for each query, shape (2, 1)", "()"),
        (lambda r: r.cumsum(weight=r.of_query(np.ones(3))), "number for each query, shape (2, 1)", "(3,)"),
        (lambda r: r.cumsum(weight=r.of_query(np.ones((2, 2)))), "number for each query, shape (2, 1)", "(2, 2)"),
        (lambda r: r.cumsum(weight=r.joint(1, 1, np.ones((1, 1)))), "number for each query, shape (2, 1)", "(1, 1)"),
        (lambda r: r.cumsum(by_rank=lambda rank: 1.0), "number for each rank, 3 here", "()"),
        (lambda r: r.cumsum(by_rank=lambda rank: rank[:2]), "number for each rank, 3 here", "(2,)"),
        (lambda r: r.cumsum(np.ones(4)), "one for each ranked document (5)", "(4,)"),
    ],
)
def test_shapes_of_arguments_of_primitives(formula, needed, got):
    """Kernels would read out of bounds in other arrays."""
    own = _define_again("own", formula, {}, {}).function
    with pytest.raises(ValueError, match=f"{re.escape(needed)}.* Got shape {re.escape(got)} instead"):
        own([1, 0, 2, 0, 1], [5, 4, 3, 2, 1], qid=[0, 0, 1, 1, 1])


def test_values_of_queries_may_have_one_dimension():
    own = _define_again("own", lambda r: r.cumsum(weight=r.of_query(r.n[:, 0])), {}, {}).function
    assert own([1, 0, 2, 0, 1], [5, 4, 3, 2, 1], qid=[0, 0, 1, 1, 1], average=None).tolist() == [4, 9]


def test_sums_of_the_ideal_without_judged_documents():
    """They are 0, although its list has documents."""
    own = _define_again("own", lambda r: r.cumsum(weight=r.ideal_sum(1.0)), {}, {"reads_unjudged": True}).function
    assert own([np.nan, np.nan, 1, np.nan], [4, 3, 2, 1], qid=[0, 0, 1, 1], average=None).tolist() == [0, 2]


@pytest.mark.parametrize("p", [-0.1, 1.5, np.nan, -np.inf])
@pytest.mark.parametrize("score", [[3, 2, 1], [1, 1, 1]])
def test_a_cascade_needs_probabilities(p, score):
    formula = metric("stops")(lambda r: r.cumsum(weight=r.cascade(np.where(r.label > 0, p, 0.5))))
    with pytest.raises(ValueError, match=f"needs probabilities, from 0 to 1. Got {p:g}"):
        formula([1, 0, 0], score, qid=[0] * 3)
    with pytest.raises(ValueError, match=f"needs probabilities, from 0 to 1. Got {p:g}"):
        formula([1] * 20, [1] * 20, qid=[0] * 20)
    nearly = metric("stops")(lambda r: r.cumsum(weight=r.cascade(np.full(len(r.label), np.nextafter(1, 2)))))
    assert nearly([1, 0, 0], score, qid=[0] * 3) == pytest.approx(1)


# --- corner cases ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["infap", "iprec", "map(denominator=retrieved_relevant)"])
def test_a_tie_that_begins_at_the_cutoff(name):
    keywords = {"qid": [0] * 3}
    with pytest.raises(ValueError, match="no closed form for tied documents"):
        evaluate([1, 1, 0], [2, 1, 1], metrics=f"{name}@2", **keywords)
    evaluate([1, 1, 0], [2, 1, 1], metrics=f"{name}@1", **keywords)


def test_the_maximum_of_an_empty_list_is_0():
    y, s, qid = [1, 1, 1, 0], [-np.inf, 2, 1, -np.inf], [0, 1, 1, 2]
    assert evaluate(y, s, qid=qid, metrics="iprec").per_query["iprec"].tolist() == [0, 1, 0]
    at_end = metric("at_end")(lambda r: r.at_cutoff(r.joint(1.0, r.relevant)))
    assert at_end(y, s, qid=qid, k=[1, 5], average=None).tolist() == [[0, 0], [1, 2], [0, 0]]


def test_ties_are_counted_by_query():
    y, s, qid = [1, 0, 1, 0, 1, 0], [2, 2, 4, 3, 2, 2], [0, 0, 1, 1, 1, 1]
    result = evaluate(y, s, qid=qid, metrics=["p@1", "p@2", "p@3", "map"])
    assert result.n_tied == {"p@1": 1, "p@2": 0, "p@3": 1, "map": 2}
