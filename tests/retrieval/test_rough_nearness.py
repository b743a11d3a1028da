"""Nearest items are chosen in single precision, and no number of a metric shows it."""

import time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from sklearn_rank import evaluate
from sklearn_rank._engine.kernels import nearness as kernels
from sklearn_rank.retrieval import _search as search
from sklearn_rank.retrieval import _similarity, evaluate_retrieval
from sklearn_rank.retrieval._relevance import make_grades
from sklearn_rank.retrieval._similarity import RoughNearness, Similarity, make_similarity

DISTANCES = ["cosine", "inner_product", "euclidean"]
N_QUERIES, N_ITEMS = 5, 3000


def scores(distance, queries, items):
    """Nearness in double precision, as one writes it down."""
    if distance == "cosine":
        queries, items = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (queries, items))
    return -pairwise_distances(queries, items) if distance == "euclidean" else queries @ items.T


def check(distance, queries, items, seed=0):
    """Compare what is read of the first ranks with `evaluate` on all distances."""
    grade = np.random.default_rng(seed).integers(0, 4, (len(queries), len(items))) * 1.0
    names, options = ["ndcg@3", "map@10", "dcg@7"], {"ties": "stable", "replace_undefined_by": np.nan}
    found = evaluate_retrieval(queries, items, relevance=grade, distance=distance, metrics=names, **options)
    wanted = evaluate(grade, scores(distance, queries, items), metrics=names, **options)
    for name in names:
        assert_allclose(found.per_query[name], wanted.per_query[name], rtol=1e-12)


def looked_at(monkeypatch):
    """Pairs that are computed in double precision after a choice in single precision, and tiles that are in double."""
    counts = {"pairs": 0, "tiles": 0}

    def select(write, n_items, rows, depth, pairs, dtype, slack, select=search._select):
        counts["tiles"] += dtype is np.float64
        return select(write, n_items, rows, depth, pairs, dtype, slack)

    def joined(*of_tiles, joined=search._joined):
        found = joined(*of_tiles)
        counts["pairs"] += len(found[0])
        return found

    monkeypatch.setattr(search, "_select", select)
    monkeypatch.setattr(search, "_joined", joined)
    return counts


@pytest.mark.parametrize("distance", DISTANCES)
def test_few_items_are_looked_at_twice(distance, monkeypatch):
    counts, rng = looked_at(monkeypatch), np.random.default_rng(0)
    check(distance, rng.normal(size=(N_QUERIES, 32)), rng.normal(size=(N_ITEMS, 32)))
    assert counts["tiles"] == 0
    assert 10 * N_QUERIES <= counts["pairs"] < 30 * N_QUERIES


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seed", range(5))
def test_what_single_precision_cannot_tell_apart(distance, seed, monkeypatch):
    """The nearest 100 items of each query differ in the eighth digit."""
    counts, rng = looked_at(monkeypatch), np.random.default_rng(seed)
    queries, items = 2 * rng.normal(size=(N_QUERIES, 24)), rng.normal(size=(N_ITEMS, 24))
    for q in range(N_QUERIES):
        items[q::30] = queries[q] + 1e-8 * rng.normal(size=(100, 24))
    check(distance, queries + 0.1 * rng.normal(size=queries.shape), items, seed)
    assert counts["tiles"] == 0
    assert counts["pairs"] >= 100 * N_QUERIES


@pytest.mark.parametrize("distance", DISTANCES)
def test_all_items_alike_to_single_precision(distance, monkeypatch):
    """Then all are computed in double precision."""
    counts, rng = looked_at(monkeypatch), np.random.default_rng(0)
    queries, items = rng.normal(size=(N_QUERIES, 6)), 1 + 1e-9 * rng.normal(size=(N_ITEMS, 6))
    check(distance, queries, items)
    assert counts["tiles"] == 1


@pytest.mark.parametrize("distance", DISTANCES)
def test_equal_vectors_tie(distance):
    rng = np.random.default_rng(0)
    queries, items = rng.normal(size=(N_QUERIES, 7)), np.repeat(rng.normal(size=(N_ITEMS // 3, 7)), 3, axis=0)
    labels = np.arange(N_QUERIES) % 2, np.tile([0, 1, 1], N_ITEMS // 3)
    found = evaluate_retrieval(queries, items, *labels, distance=distance, metrics="p@1").per_query["p@1"]
    assert_allclose(found, np.where(labels[0] == 0, 1 / 3, 2 / 3), rtol=1e-14)


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("of_queries", [1e-40, 1e-20, 1.0, 1e14, 1e20, 1e30])
@pytest.mark.parametrize("of_items", [1e-20, 1.0, 1e14, 1e25])
def test_any_size(distance, of_queries, of_items):
    if distance == "euclidean" and of_queries != of_items:
        of_queries = of_items  # of others all distances are alike
    rng = np.random.default_rng(0)
    check(distance, of_queries * rng.normal(size=(N_QUERIES, 9)), of_items * rng.normal(size=(N_ITEMS, 9)))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("n_features", [1, 3, 64, 3000])
def test_no_value_is_further_off_than_said(distance, n_features):
    """Also where all terms have one sign, where some are far smaller than others, and where differences are small."""
    rng = np.random.default_rng(n_features)
    for kind in (rng.normal, rng.random, lambda size: 1 + 1e-4 * rng.random(size), lambda size: rng.random(size) ** 60):
        queries, items = (kind(size=(n, n_features)) for n in (20, 300))
        similarity = make_similarity(distance, queries, items, {})
        rough, near = np.empty((20, 300), dtype=np.float32), np.empty((20, 300))
        everything = slice(0, 20), slice(0, 300)
        similarity.rough.write(*everything, rough)
        similarity.write(*everything, near)
        slack = similarity.rough.slack[:, None]
        assert (abs(rough - near) <= slack / 2).all()
        of_pairs = similarity.rough.of_pairs(*np.divmod(np.arange(6000), 300)).reshape(20, 300)
        assert (abs(of_pairs - near) <= 1e-8 * slack).all()


def test_both_may_be_off_by_all_of_the_slack():
    """The nearest of 300 items looks further away than it is, and the second one nearer."""
    near = np.full((1, 300), 5.0)
    near[0, [0, 5]] = 10.0, 9.9
    off = np.zeros_like(near)
    off[0, [0, 5]] = -1.0, 1.0

    def write(rows, columns, out):
        out[:] = (near + off)[rows, columns]

    rough = RoughNearness(write, np.array([1.0]), lambda query, item: near[query, item])
    similarity = Similarity(write, 1, 300, make_rough=lambda: rough)
    query, item, found = search.nearest(similarity, slice(0, 1), 1, search.PAIRS)
    assert (query.tolist(), item.tolist(), found.tolist()) == ([0, 0], [0, 5], [10.0, 9.9])


def test_whole_lists_need_no_second_copy_of_the_features(monkeypatch):
    made, make = [], _similarity._rough

    def slowly(*args):
        time.sleep(0.1)
        made.append(make(*args))
        return made[-1]

    monkeypatch.setattr(_similarity, "_rough", slowly)
    rng = np.random.default_rng(0)
    data = rng.normal(size=(N_QUERIES, 3)), rng.normal(size=(N_ITEMS, 3)), np.zeros(N_QUERIES), np.zeros(N_ITEMS)
    evaluate_retrieval(*data, metrics="map")
    assert not made
    evaluate_retrieval(*data, metrics="map@3", n_jobs=4, working_memory=0.5)
    assert len(made) == 1


@pytest.mark.parametrize("metric", ["p@1", "map"])
def test_features_far_from_zero(metric):
    """Distances are of what is left of them after the mean is taken off."""
    rng = np.random.default_rng(0)
    queries, items = (1e8 + rng.normal(size=(n, 4)) for n in (N_QUERIES, N_ITEMS))
    labels = np.arange(N_QUERIES) % 2, rng.integers(0, 2, N_ITEMS)
    found = evaluate_retrieval(queries, items, *labels, distance="euclidean", metrics=metric).per_query[metric]
    wanted = evaluate(np.equal.outer(*labels) * 1.0, -cdist(queries, items), metrics=metric).per_query[metric]
    assert_allclose(found, wanted, rtol=1e-12)


def test_distances_that_are_not_finite_are_refused():
    rng = np.random.default_rng(0)
    queries, items = rng.normal(size=(3, 2)), rng.normal(size=(100, 2))
    labels = [0, 1, 0], np.arange(100) % 2
    for wrong in (np.nan, np.inf, -np.inf):

        def distance(x, y, wrong=wrong):
            return wrong if (x == queries[1]).all() and (y == items[70]).all() else abs(x - y).sum()

        for metric in ("p@1", "map"):
            with pytest.raises(ValueError, match=r"must be finite. Got one that is not, to query 1\."):
                evaluate_retrieval(queries, items, *labels, distance=distance, metrics=metric)


def test_chunks_fit_the_memory():
    """Ties can keep all pairs of a chunk; and each lane gets several items of a tile, or the bar would be low."""
    rng = np.random.default_rng(0)
    similarity = make_similarity("cosine", rng.normal(size=(900, 2)), rng.normal(size=(20_000, 2)), {})
    grades = make_grades(np.zeros(900), np.zeros(20_000), None, 900, 20_000)
    for memory in (1, 10, 100, 1000):
        for depth in (1, 10, 1000):
            lazy = search.search(similarity, grades, without_self=False, memory=memory, n_threads=2)
            rows = max(last - first for first, last in lazy.blocks(depth))
            assert rows == 1 or rows * 20_000 * search.BYTES * 2 <= memory * 2**20
            assert rows == 1 or rows * search.TURNS * search.LANES * depth <= search.PAIRS
            assert rows <= search.ROWS


# --- kernels -------------------------------------------------------------------------------------------------

WIDTHS = [1, 2, 15, 16, 17, 31, 32, 33, 100]
each_precision = pytest.mark.parametrize("dtype", [np.float32, np.float64])


@each_precision
def test_distances_from_products(dtype):
    rng = np.random.default_rng(0)
    for n in WIDTHS:
        near, of_item, of_query = (rng.integers(-9, 9, size).astype(dtype) for size in ((3, n), n, 3))
        expected = 2 * near - of_item - of_query[:, None]
        kernels.from_products(near, of_item, of_query)
        assert_array_equal(near, expected)


@each_precision
def test_lanes(dtype):
    rng = np.random.default_rng(0)
    for n in WIDTHS:
        near, best = rng.normal(size=(3, n)).astype(dtype), np.full((3, 16), -np.inf, dtype=dtype)
        best[:, 3] = 1.0
        expected = [[max([best[q, k], *near[q, k::16]]) for k in range(16)] for q in range(3)]
        assert kernels.widen_lanes(near, best)
        assert_array_equal(best, expected)
        for odd in (np.nan, np.inf, -np.inf):
            for at in np.ndindex(near.shape):
                wrong = near.copy()
                wrong[at] = odd
                assert not kernels.widen_lanes(wrong, best.copy())


@each_precision
def test_what_reaches_a_bar(dtype):
    rng = np.random.default_rng(0)
    for n in WIDTHS:
        for high in (2, 30):
            near, bar = rng.integers(0, high, (4, n)).astype(dtype), rng.integers(0, high + 1, 4).astype(dtype)
            (query, item), out = np.empty((2, 4 * n), dtype=np.int64), np.empty(4 * n, dtype)
            found = kernels.select_near(near, bar, 7, query, item, out)
            expected = np.nonzero(near >= bar[:, None])
            assert_array_equal(query[:found], expected[0])
            assert_array_equal(item[:found], expected[1] + 7)
            assert_array_equal(out[:found], near[expected])
