"""The minimum evidence of each check, as documented, is enough; slightly less is not."""

import io
import itertools

import numpy as np
import pytest
from misuse_cases import seen
from registry import together
from scipy.sparse import csr_array

from sklearn_rank import evaluate, evaluate_run, evaluate_table
from sklearn_rank._data.judged import unevenly_judged
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.sparse import as_queries
from sklearn_rank._misuse.evidence import label_range
from sklearn_rank.io import read_run
from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors


def lists(n_queries, n_documents=3):
    return np.repeat(np.arange(n_queries), n_documents)


def of_labels(label, qid, metrics="map", score=None, **keywords):
    """Fractional scores that are independent of the labels."""
    label = np.asarray(label, dtype=float)
    score = np.sin(np.arange(len(label)) * 7.3) if score is None else score
    return lambda: evaluate(label, score, qid=qid, metrics=metrics, **keywords)


def one_label(n_queries, n_documents=3):
    return of_labels(np.ones(n_queries * n_documents), lists(n_queries, n_documents))


def all_relevant(n_queries):
    """A single document with the lowest label."""
    return of_labels(np.arange(3 * n_queries) > 0, lists(n_queries), min_relevance=0)


def none_relevant(n_queries):
    rows = np.arange(3 * n_queries)
    return of_labels(np.where(rows < 1, 2, rows % 2), lists(n_queries), min_relevance=3)


def all_zero(n_rows):
    return of_labels(np.zeros(n_rows), np.arange(n_rows) // 3)


def soft(n_rows, n_queries=2, label=0.5, **keywords):
    return of_labels(np.where(np.arange(n_rows) % 2, label, 0.25), np.arange(n_rows) % n_queries, **keywords)


def percent(n_queries, other=50):
    return of_labels(np.tile([100, other, 0], n_queries), lists(n_queries))


def nothing(n_rows):
    return of_labels(np.arange(n_rows) % 2, np.arange(n_rows) // 4, "dcg", np.full(n_rows, -np.inf))


def swapped(n_fractions, highest=10):
    label, score = np.arange(n_fractions) + 0.5, np.arange(n_fractions) % 5
    score[:2], score[-1] = 0, highest
    return of_labels(label, np.zeros(n_fractions), "dcg(gain=linear)", score.astype(float))


def against(n_queries, n_documents=3, n_for=0, unjudged=False):
    """Ranks that agree with the labels in all but some queries."""
    label = np.tile([*range(n_documents)], (n_queries, 1))
    label[n_for:] = label[n_for:, ::-1]
    label, score = label.astype(float).ravel(), np.tile(np.arange(n_documents) + 0.5, n_queries)
    if unjudged:
        label[label > 0] = np.nan
    return of_labels(label, lists(n_queries, n_documents), "ndcg(unjudged=drop)", score)


def long_lists(n_queries, n_rows):
    return of_labels(np.arange(n_rows) % 5 + 1, np.arange(n_rows) * n_queries // n_rows)


def odd_ids(*ids):
    return of_labels(np.arange(len(ids)) % 2, np.array(ids), "dcg")


def falling(n_neighbors):
    near = np.arange(float(n_neighbors))[None, ::-1]
    return lambda: score_neighbors(near, [[*range(n_neighbors)]], true_indices=[[0]], metrics="mrr")


def similarity(n_vectors):
    features = np.random.default_rng(0).normal(size=(n_vectors, 3))
    features /= np.linalg.norm(features, axis=1)[:, None]
    return lambda: evaluate_retrieval(features[:1] * [-1, 1, 2], features, [0], np.arange(n_vectors) % 2,
                                      metrics="mrr", distance=lambda a, b: float(a @ b))  # fmt: skip


def itself(n_queries, n_found):
    features = np.random.default_rng(0).random((2 * n_queries, 3)) + 0.1
    queries = features[:n_queries].copy()
    queries[n_found:] += 0.05
    labels = np.arange(2 * n_queries) % 3
    return lambda: evaluate_retrieval(queries, features, labels[:n_queries], labels, metrics="map")


def rising(n_queries, n_documents=3):
    judged = {q: {d: int(d == 0) for d in range(n_documents)} for q in range(n_queries)}
    run = {q: {d: d + q / 7 for d in range(n_documents)} for q in range(n_queries)}
    return lambda: evaluate_run(judged, run, metrics="map")


def contradicted(n_queries, n_documents=3):
    pairs = itertools.product(range(n_queries), range(n_documents))
    text = "".join(f"q{q} Q0 d{d} {d + 1} {d + 0.5} me\n" for q, d in pairs)
    return lambda: read_run(io.BytesIO(text.encode()))


def strangers(n_ids, shift=1000):
    """Documents of two queries whose ids differ only in their numbers."""
    judged = {q: {f"d{d}": 1 for d in range(q * n_ids // 2, (q + 1) * n_ids // 2)} for q in (0, 1)}
    run = {q: {f"d{int(d[1:]) + shift}": 1.5 for d in of} for q, of in judged.items()}
    return lambda: evaluate_run(judged, run, metrics="dcg")


def batch_again(n_queries, n_other):
    label = (np.arange(3 * n_queries) < n_other).astype(float)
    batch = label, np.sin(np.arange(len(label))), lists(n_queries) + 7
    return lambda: evaluate_table([batch, (label, np.cos(batch[1]), batch[2])], metrics="dcg")


def numbered_again(n_queries, n_others=20, change=lambda qid, batch: qid):
    """Two files of other documents, each with the queries 0, 1, 2, ... unless `change` gives others."""
    rng = np.random.default_rng(0)
    sizes = [(n_queries, 3), (n_others, 4)]
    batches = [(rng.integers(0, 3, n * m), rng.random(n * m), change(lists(n, m), i)) for i, (n, m) in enumerate(sizes)]
    return lambda: evaluate_table(batches, metrics="dcg")


CONSTANT, SOFT, NO_ID = "no order matters", "threshold outside of the scale", "invalid query ids"
WORSE, NOTHING, SWAPPED = "worse than chance", "nothing retrieved", "labels and scores swapped"
FALLING, ITSELF = "similarities as distances", "queries in the database"
CASES = {
    "one label, queries": (CONSTANT, one_label(20), one_label(19)),
    "one label, documents": (CONSTANT, one_label(20, 3), one_label(20, 2)),
    "all relevant": (CONSTANT, all_relevant(20), all_relevant(19)),
    "none relevant": (CONSTANT, none_relevant(20), none_relevant(19)),
    "none relevant, rows": (CONSTANT, all_zero(1400), all_zero(1399)),
    "soft, rows": (SOFT, soft(6), soft(5)),
    "soft, queries": (SOFT, soft(6), soft(6, 1)),
    "soft, a relevant one": (SOFT, soft(6, label=0.99), soft(6, label=1)),
    "large grades": ("large grades", of_labels([32, 0], [0, 0], "ndcg"), of_labels([31, 0], [0, 0], "ndcg")),
    "a missing grade": ("another scale", of_labels([999, 10], [0, 0]), of_labels([999, 11], [0, 0])),
    "percent": ("another scale", percent(20), percent(19)),
    "percent, more than 10": ("another scale", percent(20, 11), percent(20, 10)),
    "fractions of a scale": ("another scale", soft(6, metrics="pfound"), soft(5, metrics="pfound")),
    "one row": ("queries of one row", of_labels(np.arange(20) % 2, range(20)), of_labels(np.arange(19) % 2, range(19))),
    "-1": (NO_ID, odd_ids(-1, 0, 1), odd_ids(-1, 0)),
    "-1 and another": (NO_ID, odd_ids(-1, 0, 1, 2), odd_ids(-2, -1, 0, 1)),
    "the lowest": (NO_ID, odd_ids(-(2**63), -1), odd_ids(-(2**63) + 1, -1)),
    "nothing": (NOTHING, nothing(20), nothing(19)),
    "swapped, fractions": (SWAPPED, swapped(20), swapped(19)),
    "swapped, grades": (SWAPPED, swapped(20, 10), swapped(20, 11)),
    "against, queries": (WORSE, against(10, 5), against(9, 5)),
    "against, by chance": (WORSE, against(13), against(12)),
    "against, some for": (WORSE, against(24, 5, 4), against(24, 5, 5)),
    "against, judged": (WORSE, against(20, 5), against(20, 5, unjudged=True)),
    "all relevant, rows": (CONSTANT, long_lists(12, 200), long_lists(12, 199)),
    "all relevant, lists": (CONSTANT, long_lists(5, 200), long_lists(4, 200)),
    "falling": (FALLING, falling(10), falling(9)),
    "a similarity": ("a similarity as distance", similarity(3), similarity(2)),
    "itself, queries": (ITSELF, itself(20, 20), itself(19, 19)),
    "itself, found": (ITSELF, itself(20, 19), itself(20, 18)),
    "rising, queries": ("a run worst first", rising(20), rising(19)),
    "rising, documents": ("a run worst first", rising(20, 3), rising(20, 2)),
    "contradicted, queries": ("ranks that contradict scores", contradicted(20), contradicted(19)),
    "contradicted, documents": ("ranks that contradict scores", contradicted(20, 3), contradicted(20, 2)),
    "strangers": ("ids without a match", strangers(12), strangers(10)),
    "a batch again, queries": ("documents in two batches", batch_again(20, 20), batch_again(19, 20)),
    "numbered again, queries": ("queries numbered in each batch", numbered_again(20), numbered_again(19)),
    "numbered again, files": ("queries numbered in each batch", numbered_again(30, 20), numbered_again(30, 19)),
    "a batch again, labels": ("documents in two batches", batch_again(20, 20), batch_again(20, 19)),
}  # fmt: skip


@pytest.mark.parametrize("kind", [np.asarray, csr_array])
def test_the_lowest_label_of_lists(kind):
    """Unretrieved documents count; summaries of sparse lists also contain a 0 that no document has."""
    relevance, items = np.tile([3, 1, 2, 1, 2, 3], (30, 1)), np.tile(np.arange(4), (30, 1))
    for listed, unlisted, n in ((1, 1, 1), (0, 1, 0), (1, 0, 0)):
        relevance[7, 1], relevance[9, 5] = listed, unlisted
        warned = seen(score_neighbors, None, items, relevance=kind(relevance), metrics="map")
        assert warned == ([CONSTANT] * n, "")
    for low in (0.0, 1.0):
        lists = as_queries(np.array([2.0, low, 3.0]), np.arange(3.0), Grouping.by_sizes([2, 1], first_query=0))
        assert label_range(lists) == (low, 3)


@together("change, is_told", [
    (lambda qid, batch: qid, True), (lambda qid, batch: qid + 1, True), (lambda qid, batch: qid.astype(str), True),
    (lambda qid, batch: qid + 40 * batch, False), (lambda qid, batch: qid + 7, False),
    (lambda qid, batch: np.char.add("user ", qid.astype(str)), False),
    (lambda qid, batch: np.random.default_rng(batch).permutation(qid), False),
    (lambda qid, batch: qid if batch == 0 else qid[::-1].copy(), False),
])  # fmt: skip
def test_batches_that_number_their_queries(change, is_told):
    """Rows of one query may come in several batches, by names, in any order, or where the last batch ended."""
    assert seen(numbered_again(25, 30, change)) == (["queries numbered in each batch"] * is_told, "")


@together("case", CASES)
def test_least_evidence(case):
    name, enough, less = CASES[case]
    warned, raised = seen(enough)
    assert [*warned, *([raised] if raised else [])] == [name]
    assert name not in str(seen(less))


def shares(mean, n=20, spread=0.01, n_unknown=0):
    """Share of judged documents in each query."""
    return np.append(mean + spread * (-1.0) ** np.arange(n), np.full(n_unknown, np.nan))


@together("high, low, is_told", [
    (shares(0.51), shares(0.3), True), (shares(0.51), shares(0.32), False), (shares(0.49), shares(0.2), False),
    (shares(0.51, 19), shares(0.3), False), (shares(0.51), shares(0.3, 19), False),
    (shares(0.51, n_unknown=5), shares(0.3), True), (shares(0.51, 19, n_unknown=5), shares(0.3), False),
    (shares(0.9, 20, 0.2), shares(0.55, 20, 0.2), False), (shares(0.9, 20, 0.2), shares(0.45, 20, 0.2), True),
    (shares(0.9, 80, 0.2), shares(0.65, 20, 0.2), False), (shares(0.9, 80, 0.2), shares(0.65, 80, 0.2), True),
    (shares(0.51), shares(0.0, spread=0.0), False),
])  # fmt: skip
def test_least_unevenly_judged(high, low, is_told):
    between = shares((np.nanmean(high) + np.nanmean(low)) / 2, 25)
    for systems in ({"a": high, "b": low}, {"b": low, "a": high}, {"b": low, "c": between, "a": high}):
        seen = [*unevenly_judged(systems, "map@7", "unjudged=nonrelevant")]
        assert len(seen) == is_told
        for one in seen:
            assert "Documents of 'b' were judged far less than documents of 'a'" in one.message
            assert "of the first 7." in one.message
        assert not [*unevenly_judged(systems, "map@7", "unjudged=drop")]
