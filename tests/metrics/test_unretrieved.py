"""Documents that were not retrieved have no order: metrics that rank them average over it under every tie policy."""

from itertools import permutations

import numpy as np
import pytest
from oracle import ORACLES
from registry import together
from scipy import sparse

from sklearn_rank import RankingAccumulator, compare_systems, evaluate, evaluate_run, evaluate_table, metric, prepare
from sklearn_rank.io import join
from sklearn_rank.metrics import kendall_score, query_auc_score, spearman_score

RANKED = "auc", "opa", "ranking_loss", "relevance_position", "coverage_error"
"""Metrics that rank documents that were not retrieved, and take a tie policy."""

POLICIES = "average", "stable", "worst", "best"
STABLE = "trec_eval", "ir_measures", "ranx", "lightgbm", "rax", "spark"
"""Conventions with stable ties."""

each_metric = pytest.mark.parametrize("name", RANKED)
each_policy = together("ties", POLICIES)


def orders_of(label, score, ties):
    """Labels in all orders of all documents that a policy allows, those that were not retrieved last in any order."""
    rows, lost = np.flatnonzero(score > -np.inf), np.flatnonzero(score == -np.inf)
    sign = {"stable": 0, "worst": 1, "best": -1}
    if ties == "average":
        starts = [rows[list(order)] for order in permutations(range(len(rows)))]
    else:
        starts = [rows[np.argsort(sign[ties] * label[rows], kind="stable")]]
    kept = [start[np.argsort(-score[start], kind="stable")] for start in starts]
    return [label[[*order, *last]].tolist() for order in kept for last in permutations(lost)]


def small_lists(rng, n_lists=40):
    """Short lists with tied scores, a relevant document and another, and two to four that were not retrieved."""
    for _ in range(n_lists):
        n, n_lost = int(rng.integers(4, 8)), int(rng.integers(2, 5))
        label, score = rng.integers(0, 3, n).astype(float), rng.integers(0, 2, n) / 2
        label[rng.permutation(n)[:2]] = 0, 1
        score[rng.permutation(n)[:n_lost]] = -np.inf
        yield label, score


@each_metric
@each_policy
def test_unretrieved_documents_are_averaged_over_all_orders(name, ties, rng):
    given = [*small_lists(rng)]
    expected = [np.mean([ORACLES[name](order, [], None) for order in orders_of(*one, ties)]) for one in given]
    rows, scores = map(np.concatenate, zip(*given, strict=True))
    qid = np.repeat(np.arange(len(given)), [len(label) for label, _ in given])
    found = evaluate(rows, scores, qid=qid, metrics=name, ties=ties)
    np.testing.assert_allclose(found.per_query[name], expected, rtol=1e-12)
    # Labels that are no whole numbers are not kept as bytes; scores of single precision are ranked as they are.
    narrow = evaluate(rows * 1.5, scores.astype("f4"), qid=qid, metrics=name, ties=ties, min_relevance=1.5)
    np.testing.assert_allclose(narrow.per_query[name], expected, rtol=1e-12)


@each_metric
@each_policy
def test_chance_and_best_of_lists_with_unretrieved_documents(name, ties, rng):
    """Chance is the mean over all orders of the retrieved documents, best the best of them, and adjusted between."""
    for label, score in small_lists(rng, 8):
        n_kept = int((score > -np.inf).sum())
        untied = [np.full(len(label), -np.inf) for _ in permutations(range(n_kept))]
        for one, order in zip(untied, permutations(range(n_kept)), strict=True):
            one[score > -np.inf] = order
        values = [np.mean([ORACLES[name](o, [], None) for o in orders_of(label, s, "stable")]) for s in untied]
        result = evaluate(label, score, qid=[0] * len(label), metrics=name, ties=ties)
        chance, best = np.mean(values), max(values) if name in ("auc", "opa") else min(values)
        assert result.chance().mean()[name] == pytest.approx(chance, rel=1e-12)
        assert result.best().mean()[name] == pytest.approx(best, rel=1e-12)
        if abs(best - chance) > 1e-9:
            adjusted = (result.mean()[name] - chance) / (best - chance)
            assert result.adjusted().mean()[name] == pytest.approx(adjusted, rel=1e-9, abs=1e-9)


@each_metric
def test_tie_range_is_of_retrieved_documents(name):
    """No scores are equal, so nothing is tied, and all policies agree."""
    _, *row, tied = evaluate([1, 1, 0, 0], [2, -np.inf, 1, -np.inf], qid=[0] * 4, metrics=name).tie_range().rows[0]
    assert len({*row}) == 1
    assert tied == 0


def ways_in(label, score, rng, **asked):
    """Means of the same lists by every way in, documents in an order of their own in each."""
    n_queries, n = label.shape
    at = rng.permuted(np.tile(np.arange(n), (n_queries, 1)), axis=1)
    # Retrieved documents keep their order among themselves.
    at = np.take_along_axis(at, np.argsort(np.take_along_axis(score == -np.inf, at, axis=1), axis=1, kind="stable"), 1)
    kept = np.take_along_axis(score, at, axis=1) > -np.inf
    at[kept] = np.nonzero(score > -np.inf)[1]
    y, s = np.take_along_axis(label, at, axis=1), np.take_along_axis(score, at, axis=1)
    qid = np.repeat(np.arange(n_queries), n)
    flat = {"y_true": y.ravel(), "y_score": s.ravel(), "qid": qid}
    yield "arrays", evaluate(**flat, **asked)
    yield "matrices", evaluate(y, s, **asked)
    mask = np.pad(np.ones_like(y, dtype=bool), ((0, 0), (0, 2)))
    yield "mask", evaluate(*(np.pad(x, ((0, 0), (0, 2))) for x in (y, s)), mask=mask, **asked)
    shown = np.nonzero(s > -np.inf)
    matrix = sparse.csr_array((s[shown], shown), shape=s.shape)
    yield "sparse matrices", evaluate(sparse.csr_array(y), matrix, **asked)
    yield "prepared data", prepare(y.ravel(), qid=qid, **asked).evaluate(s.ravel())
    yield "a table", evaluate_table({"label": y.ravel(), "score": s.ravel(), "qid": qid}, **asked)
    batches = RankingAccumulator(**asked)
    for q in range(n_queries):
        batches.update(y[q], s[q], qid=[q] * n)
    yield "batches", batches.compute()
    judgments = {q: {f"d{i}": int(y[q, i]) for i in rng.permutation(n)} for q in range(n_queries)}
    run = {q: {f"d{i}": s[q, i] for i in np.flatnonzero(kept[q])} for q in range(n_queries)}
    yield "a run", evaluate_run(judgments, run, **asked)
    other = {q: {document: -value for document, value in scores.items()} for q, scores in run.items()}
    yield "one of two systems", compare_systems(judgments, {"run": run, "other": other}, **asked)["run"]
    data = join(judgments, run)
    yield "joined", evaluate(data.y_true, data.y_score, qid=data.qid, **asked)


@each_policy
def test_every_way_in_averages_unretrieved_documents(ties, rng):
    """The lines of the judgments and the columns of a matrix do not count: they differ from one way in to the next."""
    label, score = rng.integers(0, 3, (100, 9)), rng.integers(0, 4, (100, 9)) / 2
    label[:, :2] = 0, 1
    score[rng.random((100, 9)) < 0.5] = -np.inf
    score[:, 0] = 1
    asked = {"metrics": [*RANKED, "kendall", "spearman"], "ties": ties}
    expected = evaluate(label, score, **asked).mean()
    for way, result in ways_in(label, score, rng, **asked):
        assert result.mean() == pytest.approx(expected, rel=1e-12), way


@pytest.mark.parametrize("convention", STABLE)
def test_lines_of_judgments_do_not_count(convention):
    """Of the four pairs, (a, c) and (a, d) are right, (b, c) is wrong and (b, d) is open: 2.5 of 4."""
    run = {"q": {"a": 2.0, "c": 1.0}}
    for order in permutations("abcd"):
        judgments = {"q": {d: int(d in "ab") for d in order}}
        found = evaluate_run(judgments, run, metrics=["auc", "pairwise_accuracy"], convention=convention)
        assert found.mean() == {"auc": 0.625, "pairwise_accuracy": 0.625}
        scores = [run["q"].get(d, -np.inf) for d in order]
        assert query_auc_score([[*judgments["q"].values()]], [scores], convention=convention) == 0.625


def test_columns_of_sparse_matrices_do_not_count():
    label = np.array([[1, 1, 0, 0]])
    for order in map(list, permutations(range(4))):
        score = sparse.csr_array(np.array([[2.0, 0, 1, 0]])[:, order])
        for ties in POLICIES:
            found = evaluate(sparse.csr_array(label[:, order]), score, metrics="auc", ties=ties)
            assert found.mean() == {"auc": 0.625}


def test_the_policy_orders_retrieved_documents():
    """Of a, b, c, d the first two are tied, others not retrieved: (a, d) is right, (c, b) wrong, (c, d) counts 1/2."""
    label, score = [1, 0, 1, 0], [2, 2, -np.inf, -np.inf]
    found = [query_auc_score([label], [score], ties=ties) for ties in ("worst", "average", "stable", "best")]
    assert found == [(a_b + 1 + 0 + 0.5) / 4 for a_b in (0, 0.5, 1, 1)]
    assert query_auc_score([label[::-1]], [score[::-1]], ties="stable") == (0 + 1 + 0 + 0.5) / 4


def test_a_tie_break_is_for_retrieved_documents():
    given = {"qid": [0] * 4, "ties": "stable"}
    for keys in permutations(range(4)):
        assert query_auc_score([1, 1, 0, 0], [2, -np.inf, 1, -np.inf], tie_break=keys, **given) == 0.625


@pytest.mark.parametrize("score", [kendall_score, spearman_score])
def test_metrics_that_define_ties_read_unretrieved_documents_as_tied(score):
    values = {score([y], [[-np.inf if i > 1 else 2.0 - i for i in range(4)]]) for y in ([2, 0, 1, 3], [2, 0, 3, 1])}
    assert len(values) == 1


# --- metrics of one's own ----------------------------------------------------------------------------------------


def ranks_of(r):
    return r.cumsum(r.relevant, by_rank=lambda rank: rank), r.n_relevant


def untied_ranks_of(r):
    r.refuse_ties("untied_ranks_score")
    return ranks_of(r)


@each_policy
def test_own_metrics_average_unretrieved_documents(ties):
    """The second relevant document has rank 3 or 4: (1 + 3.5) / 2; at 3 it counts in half of the orders."""
    whole = metric("ranks_of", bounds=(0, 99), greater_is_better=False, keeps_unretrieved=True)(ranks_of)
    for label in ([1, 0, 1, 0], [1, 0, 0, 1]):
        given = [label], [[2, 1, -np.inf, -np.inf]]
        assert whole(*given, ties=ties) == (1 + 3.5) / 2
        np.testing.assert_allclose(whole(*given, ties=ties, k=[1, 2, 3, 9]), [0.5, 0.5, (1 + 3 / 2) / 2, 2.25])


@each_policy
def test_own_metrics_without_a_closed_form_refuse_unretrieved_documents(ties):
    refusing = metric(
        "untied_ranks", bounds=(0, 99), greater_is_better=False, has_cutoff=False, keeps_unretrieved=True
    )(untied_ranks_of)
    assert refusing([[1, 0, 1]], [[2, 1, -np.inf]], ties=ties) == 2
    with pytest.raises(ValueError, match="declare keeps_unretrieved=False, .* not retrieved .*tied under every policy"):
        refusing([[1, 0, 1, 0]], [[2, 1, -np.inf, -np.inf]], ties=ties)
    if ties == "average":
        with pytest.raises(ValueError, match="use ties='stable', 'worst' or 'best'. Got ties='average' and equal"):
            refusing([[1, 0, 1, 0]], [[2, 2, -np.inf, -np.inf]], ties=ties)
