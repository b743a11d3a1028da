"""Nearest items and whole lists: against distances by their definition, and `evaluate` on all of them."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import together
from scipy.spatial.distance import cdist
from sklearn.metrics import pairwise_distances

from sklearn_rank import evaluate
from sklearn_rank.retrieval import _evaluate, evaluate_retrieval
from sklearn_rank.retrieval._distances import Distances, make_distances
from sklearn_rank.retrieval._relevance import make_grades

DISTANCES = ["cosine", "inner_product", "euclidean"]
WHOLE = ["map", "wap", "map@7", "map@300", "ndcg", "mrr", "auc", "q", "map(min_relevance=2)", "map(min_relevance=0)"]
N_QUERIES, N_ITEMS = 5, 3000


def scores(distance, queries, items):
    """Similarity in double precision, by its definition."""
    if distance == "cosine":
        queries, items = (x / np.linalg.norm(x, axis=1, keepdims=True) for x in (queries, items))
    return -pairwise_distances(queries, items) if distance == "euclidean" else queries @ items.T


def check(distance, queries, items, seed=0):
    """Compare results of the first ranks with `evaluate` on all distances."""
    grade = np.random.default_rng(seed).integers(0, 4, (len(queries), len(items))) * 1.0
    names, options = ["ndcg@3", "map@10", "dcg@7"], {"ties": "stable", "replace_undefined_by": np.nan}
    found = evaluate_retrieval(queries, items, relevance=grade, distance=distance, metrics=names, **options)
    wanted = evaluate(grade, scores(distance, queries, items), metrics=names, **options)
    for name in names:
        assert_allclose(found.per_query[name], wanted.per_query[name], rtol=1e-12)


# --- the nearest vectors -------------------------------------------------------------------------------------


@pytest.fixture
def counts(monkeypatch):
    """Candidates of each chunk, and those whose distance is computed pair by pair."""
    counts, nearest, make = {"items": [], "pairs": []}, _evaluate.nearest, _evaluate.Distances

    def counted(distances, *others):
        def of_pairs(query, item):
            counts["pairs"].append(len(query))
            return distances.of_pairs(query, item)

        query, item, near = nearest(make(**{**vars(distances), "of_pairs": of_pairs}), *others)
        counts["items"].append(len(query))
        return query, item, near

    monkeypatch.setattr(_evaluate, "nearest", counted)
    return counts


@pytest.mark.parametrize("distance", DISTANCES)
def test_little_more_than_the_nearest_items_is_ranked(distance, counts):
    rng = np.random.default_rng(0)
    check(distance, rng.normal(size=(N_QUERIES, 32)), rng.normal(size=(N_ITEMS, 32)))
    assert counts["items"] == counts["pairs"]
    assert 10 * N_QUERIES <= sum(counts["items"]) < 15 * N_QUERIES


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("seed", range(5))
def test_items_that_differ_in_the_eighth_digit(distance, seed):
    rng = np.random.default_rng(seed)
    queries, items = 2 * rng.normal(size=(N_QUERIES, 24)), rng.normal(size=(N_ITEMS, 24))
    for q in range(N_QUERIES):
        items[q::30] = queries[q] + 1e-8 * rng.normal(size=(100, 24))
    check(distance, queries + 0.1 * rng.normal(size=queries.shape), items, seed)


@pytest.mark.parametrize("distance", DISTANCES)
def test_many_equal_items_are_not_computed_pair_by_pair(distance, counts):
    rng = np.random.default_rng(0)
    queries, items = rng.normal(size=(N_QUERIES, 6)), np.tile(rng.normal(size=(10, 6)), (N_ITEMS // 10, 1))
    labels = np.arange(N_QUERIES) % 2, np.arange(N_ITEMS) // 10 % 2
    evaluate_retrieval(queries, items, *labels, distance=distance, metrics="p@1")
    assert counts["pairs"] == []
    assert sum(counts["items"]) >= N_QUERIES * N_ITEMS // 10


@pytest.mark.parametrize("distance", DISTANCES)
def test_equal_vectors_tie(distance):
    """Products of matrices would not give all of them the same bits."""
    rng = np.random.default_rng(0)
    queries, items = rng.normal(size=(N_QUERIES, 7)), np.repeat(rng.normal(size=(N_ITEMS // 3, 7)), 3, axis=0)
    labels = np.arange(N_QUERIES) % 2, np.tile([0, 1, 1], N_ITEMS // 3)
    found = evaluate_retrieval(queries, items, *labels, distance=distance, metrics="p@1").per_query["p@1"]
    assert_allclose(found, np.where(labels[0] == 0, 1 / 3, 2 / 3), rtol=1e-14)


@pytest.mark.parametrize("distance", DISTANCES)
@together("of_queries", [1e-40, 1e-20, 1.0, 1e14, 1e20, 1e30, 1e120])
@together("of_items", [1e-20, 1.0, 1e14, 1e25, 1e120])
def test_any_size(distance, of_queries, of_items):
    if distance == "euclidean" and of_queries != of_items:
        of_queries = of_items  # of others all distances are alike
    if distance == "cosine":  # shorter vectors are refused
        of_queries, of_items = max(of_queries, 1e-12), max(of_items, 1e-12)
    rng = np.random.default_rng(0)
    check(distance, of_queries * rng.normal(size=(N_QUERIES, 9)), of_items * rng.normal(size=(N_ITEMS, 9)))


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("n_features", [1, 3, 64, 3000])
def test_no_value_is_further_off_than_the_slack(distance, n_features):
    """Also if all terms have one sign, and if some are far smaller than others."""
    rng = np.random.default_rng(n_features)
    kinds = [
        rng.normal,
        rng.random,
        lambda size: 1 + 1e-4 * rng.random(size),
        lambda size: 1e-13 + rng.random(size) ** 60,
    ]
    for kind in [*kinds, lambda size: rng.normal(size=size) * 10.0 ** rng.integers(-11, 1, (size[0], 1))]:
        queries, items = (kind(size=(n, n_features)) for n in (20, 300))
        distances = make_distances(distance, queries, items, {})
        of_pairs = distances.of_pairs(*np.divmod(np.arange(6000), 300)).reshape(20, 300)
        assert (abs(of_pairs - distances.of(slice(0, 20))) <= distances.slack[:, None]).all()


@pytest.mark.parametrize("distance", ["cosine", "inner_product", "euclidean"])
def test_float32_finds_the_candidates_of_float64(distance, monkeypatch):
    """Candidates are found in float32 and compared in float64, unless vectors are long or too many are equal."""
    rng, label = np.random.default_rng(0), np.arange(3000) % 7
    shapes = (30, 12), (3000, 12)
    kinds = {
        "normal": rng.normal, "near": lambda size: 1 + 1e-4 * rng.random(size),
        "short": lambda size: (1e-12 if distance == "cosine" else 1e-30) * rng.random(size),
        "long": lambda size: 1e20 * rng.random(size), "mixed": lambda size: 1e-13 + rng.random(size) ** 60,
        "whole": lambda size: rng.integers(0, 3, size),
    }  # fmt: skip
    used = set()
    for kind, draw in kinds.items():
        queries, items = (np.asarray(draw(size=size), dtype=np.float32) for size in shapes)
        distances = make_distances(distance, queries, items, {})
        rough = distances.rough(slice(0, 30), slice(0, 3000))
        if rough.dtype == np.float32:
            used.add(kind)
        of_pairs = distances.of_pairs(*np.divmod(np.arange(90_000), 3000)).reshape(30, 3000)
        assert (abs(of_pairs - rough) <= distances.rough_slack[:, None]).all()
        found = [
            evaluate_retrieval(*features, label[:30], label, distance=distance, metrics=["map@5", "ndcg@20"])
            for features in ((queries, items), (queries.astype(np.float64), items.astype(np.float64)))
        ]
        for name, values in found[1].per_query.items():
            np.testing.assert_array_equal(found[0].per_query[name], values)
    assert used == {*kinds} - ({"long"} if distance != "cosine" else set())


def test_errors_up_to_the_slack_are_tolerated():
    """The nearest of 300 items looks further away than it is, and the second looks nearer."""
    true = np.full((1, 300), 5.0)
    true[0, [0, 5]] = 1.0, 1.1
    off = np.zeros_like(true)
    off[0, [0, 5]] = 1.0, -1.0
    near = true + off
    whole = Distances(near.__getitem__, 1, 300, lambda query, item: true[query, item], np.array([1.0]))
    parts = replace(whole, rough=lambda rows, items: near[rows, items], rough_slack=whole.slack)
    for distances in (whole, parts):
        query, item, found = _evaluate.nearest(distances, slice(0, 1), 1, 1)
        assert (query.tolist(), item.tolist(), found.tolist()) == ([0, 0], [0, 5], [1.0, 1.1])


@pytest.mark.parametrize("metric", ["p@1", "map"])
def test_features_far_from_zero(metric):
    """Distances are computed after the mean is subtracted."""
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
    rng = np.random.default_rng(0)
    distances = make_distances("cosine", rng.normal(size=(900, 2)), rng.normal(size=(20_000, 2)), {})
    grades = make_grades(np.zeros(900), np.zeros(20_000), None, 900, 20_000)
    for memory in (1, 10, 100, 1000):
        for depth in (1, 1000, None):
            lazy = _evaluate.search(distances, grades, without_self=False, memory=memory, n_threads=2)
            rows = max(last - first for first, last in lazy.blocks(depth))
            # The nearest are searched in parts of the items.
            n_items = 20_000 if depth is None else _evaluate.WORTH * max(depth, _evaluate.LEAST_LANES)
            assert rows == 1 or rows * n_items * _evaluate.BYTES_PER_PAIR * 2 <= memory * 2**20
            assert rows == 1 or rows * n_items <= _evaluate.SEARCHED_PAIRS


@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_copy_of_the_items_is_made(distance, dtype):
    """Half the size of the vectors is enough, wherever they lie, and in whatever order."""
    rng = np.random.default_rng(0)
    queries, items = (rng.normal(3.0, 1.0, (n, 64)).astype(dtype) for n in (5, 60_000))
    items = items[np.argsort(((items - queries[0]) ** 2).sum(axis=1))[::-1]]  # the nearest come last
    labels = np.arange(5) % 2, np.arange(60_000) % 2
    tracemalloc.start()
    try:
        found = evaluate_retrieval(queries, items, *labels, distance=distance, metrics="map@10")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 0.5 * items.nbytes
    other = evaluate_retrieval(queries, items[::-1], labels[0], labels[1][::-1], distance=distance, metrics="map@10")
    assert_array_equal(found.per_query["map@10"], other.per_query["map@10"])


# --- codes ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_bits", [1, 8, 63, 64, 65, 192, 193, 255, 256, 257, 65_535, 65_536])
@pytest.mark.parametrize("packed", [False, True])
def test_bits_that_differ_are_counted(n_bits, packed, rng):
    """Also if all bits differ, or none, which no smaller type could hold."""
    queries, items = rng.integers(0, 2, (3, n_bits)), rng.integers(0, 2, (20, n_bits))
    items[:3], items[3:6] = queries, 1 - queries
    expected = (queries[:, None] != items).sum(axis=2)
    codes = [np.packbits(x, axis=1) for x in (queries, items)] if packed else [queries, items]
    found = make_distances("hamming", *codes, {}).of(slice(0, 3))
    assert_array_equal(found, expected)
    assert_array_equal(make_distances("hamming", *codes, {}).of(slice(1, 2)), expected[1:2])


@pytest.mark.parametrize("n_bits", [255, 256, 257])
def test_codes_that_differ_in_all_bits_are_last(n_bits):
    """In one byte, a distance of 256 would equal the distance of the query to itself."""
    query = np.ones((1, n_bits), dtype=int)
    items = np.repeat([[1], [0]], [30, 30], axis=0) * query
    items[1:30, :100] = 0
    for metric in ("mrr", "mrr@1"):
        found = evaluate_retrieval(
            query, items, relevance=np.arange(60)[None] == 59, distance="hamming", metrics=metric, ties="worst"
        )
        assert found.mean()[metric] == (1 / 60 if metric == "mrr" else 0)
        found = evaluate_retrieval(query, items, relevance=np.arange(60)[None] == 0, distance="hamming", metrics=metric)
        assert found.mean()[metric] == 1


@pytest.mark.parametrize("n_bits", [1, 64, 128, 200, 256, 320, 512, 576])
@pytest.mark.parametrize("k", [1, 10, 40])
def test_nearest_codes_match_whole_lists(n_bits, k, rng):
    """Few distinct codes make ties that reach far."""
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
                assert_array_equal(found.per_query[name], expected.per_query[name])


# --- whole lists ---------------------------------------------------------------------------------------------

ALL_OR_NONE = pytest.mark.filterwarnings("ignore:.*cannot tell good rankings")
"""Metrics by which all documents are relevant, or none is."""


@ALL_OR_NONE
@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("density", [0.0, 0.1, 0.9])
def test_whole_lists_of_codes_match_evaluate(ties, density, rng):
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
                assert_array_equal(found.per_query[name], expected.per_query[name], err_msg=name)


@ALL_OR_NONE
@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("whole_numbers", [False, True])
def test_whole_lists_of_numbers_match_evaluate(ties, whole_numbers, rng):
    queries, items = (rng.normal(size=(n, 6)) for n in (9, 700))
    if whole_numbers:
        queries, items = np.rint(queries), np.rint(items)
    labels = rng.integers(0, 5, 9), rng.integers(0, 5, 700)
    score = (queries[:, None] * items).sum(axis=2)
    label = np.equal.outer(*labels) * 1
    expected = evaluate(label, score, metrics=WHOLE, ties=ties)
    found = evaluate_retrieval(queries, items, *labels, distance="inner_product", metrics=WHOLE, ties=ties)
    for name in WHOLE:
        assert_array_equal(found.per_query[name], expected.per_query[name], err_msg=name)


def test_average_precision_of_two_tied_blocks_by_hand():
    """Distances 0, 1, 1, 2, relevant at 1 and 2: ranks 2 or 3, then 4: (1/2 + 1/3) / 2 and 2/4, halved."""
    items, labels = [[0, 0], [0, 1], [1, 0], [1, 1]], ["b", "a", "b", "a"]
    found = evaluate_retrieval([[0, 0]], items, ["a"], labels, distance="hamming", metrics=["map", "map@2", "map@3"])
    assert found.mean() == pytest.approx({"map": (5 / 12 + 1 / 2) / 2, "map@2": 1 / 8, "map@3": 5 / 24})


@pytest.mark.parametrize("name", ["map", "ndcg"])
def test_grades_of_lists_are_not_negative(name, rng):
    """So there is nothing to read otherwise."""
    given = rng.random((2, 3)), rng.random((5, 3)), [0, 1], [0, 1, 0, 1, 1]
    other = evaluate_retrieval(*given, metrics=name, negative="unjudged")
    assert other.mean() == evaluate_retrieval(*given, metrics=name).mean()
