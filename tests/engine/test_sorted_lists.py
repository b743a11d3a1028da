"""Whole lists and heads of lists by nearness, made in special ways: against NumPy's argsort and the general engine."""

import numpy as np
import pytest

from sklearn_rank import evaluate
from sklearn_rank._engine.fingerprints import fingerprints_of
from sklearn_rank._engine.kernels import bits as bits_kernels
from sklearn_rank._engine.queries import DocumentsWithoutRow, Queries
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank.retrieval import evaluate_retrieval
from sklearn_rank.retrieval._lists import sort_labels, sorted_codes, sorted_scores
from sklearn_rank.retrieval._relevance import _distinct

WHOLE = ["map", "wap", "map@7", "map@300", "ndcg", "mrr", "auc", "q", "map(min_relevance=2)", "map(min_relevance=0)"]


def rows_of_numbers(n, rng):
    """Numbers in ways that are easy and hard to deal out by digits."""
    x = rng.normal(size=n)
    yield "normal", x
    yield "few values", np.round(x, 1)
    yield "each twice", rng.permutation(np.resize(x[: (n + 1) // 2], n))
    yield "equal", np.zeros(n)
    yield "zeros of both signs", np.where(rng.random(n) < 0.5, 0.0, -0.0)
    yield "one far away", np.where(np.arange(n) == n // 2, 1e300, x)
    yield "endless range", np.where(np.arange(n) % 2, 1.7e308, -1.7e308) * rng.random(n)
    yield "denormal", x * 5e-324
    yield "neighbours", 1 + rng.integers(0, 50, n) * 2.0**-52
    yield "sorted", np.sort(x)
    yield "exponential", np.exp(20 * x)
    yield "exponential, the first and the last tied", np.where(np.arange(n) % max(n - 1, 1) == 0, 0, np.exp(20 * x))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 500, 2**17 + 1])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
@pytest.mark.parametrize("density", [1.0, 0.11, 0.01, 0.0])
def test_labels_are_sorted_as_a_stable_argsort_does(n, dtype, density, rng):
    """Where few have a label, only these are sorted; ties that they have no part in may not be seen."""
    for name, x in rows_of_numbers(n, rng):
        near, label = np.stack([x, x[::-1]]), rng.integers(0, 32, (2, n)) * (rng.random((2, n)) < density)
        found, is_tied = sort_labels(near, label.astype(dtype))
        order = np.argsort(-near, axis=1, kind="stable")
        np.testing.assert_array_equal(found, np.take_along_axis(label, order, axis=1), err_msg=name)
        ties_last_first = n - 1 - np.argsort(-near[:, ::-1], axis=1, kind="stable")
        assert is_tied or (found == np.take_along_axis(label, ties_last_first, axis=1)).all(), name


@pytest.mark.parametrize("n", [1, 63, 64, 65, 128, 1000])
@pytest.mark.parametrize("dtype", [np.uint8, np.float64])
@pytest.mark.parametrize("density", [1.0, 0.3, 0.1, 0.01, 0.0])
@pytest.mark.parametrize("n_bits", [1, 64, 255, 300])
def test_labels_are_sorted_by_distance(n, dtype, density, n_bits, rng):
    """As a stable argsort does, in rows some of whose items are as near as all before them, and in different ways."""
    near = rng.integers(0, n_bits + 1, (3, n)).astype(np.uint8 if n_bits < 256 else np.uint16)
    near[1], near[2, ::2] = n_bits, 0
    label = (rng.integers(1, 32, (3, n)) * (rng.random((3, n)) < density)).astype(dtype)
    label[0, : n // 3], label[1, n // 2 :] = 0, 0  # few among 64, then many, and the other way round
    out, begin = np.zeros(near.shape, dtype), np.full(n_bits + 1, 77)
    bits_kernels.sort_counts(near, label, begin, *np.full((2, n), 77), out)
    order = np.argsort(n_bits - near.astype(int), axis=1, kind="stable")
    np.testing.assert_array_equal(out, np.take_along_axis(label, order, axis=1))


@pytest.mark.parametrize(("n_bits", "n_grades"), [(1, 1), (64, 2), (100, 5), (255, 4), (256, 4), (600, 32)])
def test_grades_are_counted_by_distance(n_bits, n_grades, rng):
    """Up to 1,024 pairs of a distance and a grade are counted in another way than more."""
    for n in (1, 7, 256, 259, 1000):
        near = rng.integers(0, n_bits + 1, (2, n)).astype(np.uint8 if n_bits < 256 else np.uint16)
        grade = rng.integers(0, n_grades, (2, n)).astype(np.uint8)
        near[0, : n // 2], grade[1, n // 2 :] = 0, n_grades - 1  # the first and the last pairs too
        found = np.empty((2, n_bits + 1, n_grades), dtype=np.int64)
        bits_kernels.count_grades(near, grade, found)
        for row in range(2):
            expected = np.zeros(found.shape[1:], dtype=int)
            np.add.at(expected, (n_bits - near[row].astype(int), grade[row]), 1)
            np.testing.assert_array_equal(found[row], expected)


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.9])
def test_whole_lists_of_codes_are_those_of_evaluate_to_the_last_bit(ties, density, rng):
    queries, items = (rng.integers(0, 2, (n, 12)) for n in (9, 700))
    grade = rng.integers(1, 4, (9, 3)) @ (rng.random((3, 700)) < density) * 1
    labels = (rng.random((9, 5)) < 0.6) * 1, (rng.random((700, 5)) < density) * 1
    score = -(queries[:, None] != items).sum(axis=2)
    for keywords, label in (
        ({"relevance": grade}, grade),
        ({"query_labels": labels[0], "database_labels": labels[1]}, labels[0] @ labels[1].T),
    ):
        expected = evaluate(label, score, metrics=WHOLE, ties=ties)
        for metrics in (WHOLE, WHOLE[:1]):
            found = evaluate_retrieval(queries, items, distance="hamming", metrics=metrics, ties=ties, **keywords)
            for name in metrics:
                np.testing.assert_array_equal(found.per_query[name], expected.per_query[name], err_msg=name)


@pytest.mark.parametrize("make", [sorted_codes, sorted_scores])
@pytest.mark.parametrize("ties", ["average", "stable"])
def test_a_block_in_the_middle_is_ranked_as_if_it_were_alone(make, ties, rng):
    near, label = rng.integers(0, 65, (9, 40)), rng.integers(0, 4, (9, 40)) * (rng.random((9, 40)) < 0.5)

    def lists(rows):
        if make is sorted_scores:
            near_of, options = near[rows].astype(np.float64), ()
        else:
            near_of, options = near[rows].astype(np.uint8), (64,)
        return make(near_of, label[rows].astype(np.uint8), *options, np.arange(len(near_of) + 1) * 40, 0)

    block, alone = lists(slice(None)).ranking(3, 7, ties), lists(slice(3, 7)).ranking(0, 4, ties)
    for name in ("indptr", "tie_end", "grade", "_row_label", "_row_score"):
        np.testing.assert_array_equal(getattr(block, name), getattr(alone, name), err_msg=name)
    assert (block.tie_end is None) == (ties == "stable")
    for least in (1, 2, 3):
        np.testing.assert_array_equal(block.labels.count_at_least(least), alone.labels.count_at_least(least))
        sums = [x.sums_of_means(np.array([3, 40]), least, True) for x in (block, alone)]
        assert sums[0].shape == (4, 2)
        np.testing.assert_array_equal(*sums)


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("whole_numbers", [False, True])
def test_whole_lists_of_numbers_are_those_of_evaluate_to_the_last_bit(ties, whole_numbers, rng):
    queries, items = (rng.normal(size=(n, 6)) for n in (9, 700))
    if whole_numbers:
        queries, items = np.rint(queries), np.rint(items)
    labels = rng.integers(0, 5, 9), rng.integers(0, 5, 700)
    score = (queries[:, None] * items).sum(axis=2)
    label = np.equal.outer(*labels) * 1
    expected = evaluate(label, score, metrics=WHOLE, ties=ties)
    found = evaluate_retrieval(queries, items, *labels, distance="inner_product", metrics=WHOLE, ties=ties)
    for name in WHOLE:
        np.testing.assert_array_equal(found.per_query[name], expected.per_query[name], err_msg=name)


def test_average_precision_of_two_tied_blocks_by_hand():
    """Distances 0, 1, 1, 2, relevant at 1 and 2: ranks 2 or 3, then 4: (1/2 + 1/3) / 2 and 2/4, halved."""
    items, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], ["b", "a", "b", "a"]
    found = evaluate_retrieval([[0, 0]], items, ["a"], labels, distance="hamming", metrics=["map", "map@2", "map@3"])
    assert found.mean() == pytest.approx({"map": (5 / 12 + 1 / 2) / 2, "map@2": 1 / 8, "map@3": 5 / 24})


def test_averages_of_codes_are_computed_without_lists(rng):
    """Counts by distance are enough: neither labels nor scores are put in order."""
    near, label = rng.integers(0, 65, (2, 2000)).astype(np.uint8), rng.integers(0, 2, (2, 2000)).astype(np.uint8)
    queries = sorted_codes(near, label, 64, np.arange(3) * 2000, 0)
    compute(queries, [*parse_metrics(["map", "wap"]).values()], 1)
    assert not {"row_label", "label", "grade", "scores"} & vars(queries).keys()


def test_fingerprints_are_those_of_the_rows(rng):
    near, label = rng.integers(0, 65, (4, 300)).astype(np.uint8), rng.integers(0, 4, (4, 300)).astype(np.uint8)
    indptr = np.arange(5) * 300
    codes, numbers = sorted_codes(near, label, 64, indptr, 0), sorted_scores(near * 1.0, label, indptr, 0)
    for queries in (codes, numbers):
        plain = Queries(queries.label, queries.score, indptr, None, queries.qid, None, queries.facts)
        np.testing.assert_array_equal(fingerprints_of(queries), fingerprints_of(plain))
        ends = np.flatnonzero(np.diff(queries.score) != 0) + 1
        np.testing.assert_array_equal(queries.tie_ends_of(0, 4), np.union1d(ends, indptr[1:]))
        np.testing.assert_array_equal(
            queries.score.reshape(4, 300), -np.sort(-near.astype(float)) - 64 * (queries is codes)
        )


@pytest.mark.parametrize("n_bits", [1, 64, 128, 200, 256, 320, 512, 576])
@pytest.mark.parametrize("k", [1, 10, 40])
def test_nearest_codes_are_those_of_whole_lists(n_bits, k, rng):
    """Heads of lists are selected as bits are counted; few distinct codes make ties that reach far."""
    queries, items = (rng.integers(0, 2, (n, n_bits)) for n in (7, 3000))
    for columns in (slice(None), slice(0, 3)):
        q, d = queries.copy(), items.copy()
        if columns.stop:
            q[:, columns.stop :] = d[:, columns.stop :] = 0
        labels = rng.integers(0, 5, 7), rng.integers(0, 5, 3000)
        score = -(q[:, None] != d).sum(axis=2)
        names = [f"map@{k}", f"ndcg@{k}", f"p@{k}"]
        for ties in ("average", "stable", "worst"):
            expected = evaluate(np.equal.outer(*labels) * 1, score, metrics=names, ties=ties)
            found = evaluate_retrieval(q, d, *labels, distance="hamming", metrics=names, ties=ties)
            for name in names:
                np.testing.assert_array_equal(found.per_query[name], expected.per_query[name])


@pytest.mark.parametrize("n_words", [1, 2, 3, 4, 5, 8, 9])
def test_equal_bits_are_counted(n_words, rng):
    queries, codes = (rng.integers(0, 2**63, (n, n_words)).astype(np.uint64) * 2 + 1 for n in (3, 1000))
    expected = 64 * n_words - np.bitwise_count(queries[:, None] ^ codes[100:900]).sum(axis=2)
    for dtype in (np.uint8, np.uint16)[n_words > 3 :]:
        out = np.empty(expected.shape, dtype=dtype)
        bits_kernels.equal_bits(queries, codes, 100, out)
        np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_whole_labels_are_numbered_as_by_unique(dtype, rng):
    limits = np.iinfo(dtype)
    for low in (limits.min, 0, limits.max - 20):
        labels = (rng.integers(0, 20, 300).astype(np.uint64) + np.array(low, dtype=dtype).astype(np.uint64)).astype(
            dtype
        )
        for found, expected in zip(_distinct(labels), np.unique(labels, return_inverse=True), strict=True):
            np.testing.assert_array_equal(found, expected)
            assert found.dtype == expected.dtype


@pytest.mark.parametrize("name", ["map", "ndcg"])
def test_grades_of_lists_are_not_negative(name, rng):
    """So there is nothing to read otherwise."""
    given = rng.random((2, 3)), rng.random((5, 3)), [0, 1], [0, 1, 0, 1, 1]
    other = evaluate_retrieval(*given, metrics=name, negative="unjudged")
    assert other.mean() == evaluate_retrieval(*given, metrics=name).mean()


def test_labels_without_a_row_that_nobody_judged():
    ones = np.ones(3, dtype=np.int64)
    rows = DocumentsWithoutRow.groups(ones * 0, np.array([1.0, np.nan, 2.0]), ones, 1, depth=9, ranked=False)
    assert rows.read_unjudged("drop").label.tolist() == [1, 2]
    assert rows.read_unjudged("nonrelevant").label.tolist() == [1, 0, 2]
