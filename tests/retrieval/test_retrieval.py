"""Rankings of a database by features: against direct formulas, and `evaluate` on all distances."""

import gc
import subprocess
import sys

import numpy as np
import pytest
from registry import METRICS, each, labels_of, policies, tie_policy
from scipy import sparse
from sklearn.metrics import pairwise_distances

from sklearn_rank import evaluate
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

BITS = 16
N_QUERIES, N_ITEMS = 9, 400


@pytest.fixture(scope="module")
def codes():
    rng = np.random.default_rng(0)
    return rng.integers(0, 2, (N_QUERIES, BITS)), rng.integers(0, 2, (N_ITEMS, BITS))


@pytest.fixture(scope="module")
def features():
    rng = np.random.default_rng(1)
    return rng.normal(size=(N_QUERIES, 8)), rng.normal(size=(N_ITEMS, 8))


@pytest.fixture(scope="module")
def indicators():
    rng = np.random.default_rng(2)
    return (rng.random((N_QUERIES, 70)) < 0.05) * 1, (rng.random((N_ITEMS, 70)) < 0.05) * 1


def relevances(seed, high):
    """Forms of relevance, each with the dense matrix of grades that it means; no grade above `high`."""
    rng = np.random.default_rng(seed)
    classes = rng.integers(0, 6, N_QUERIES), rng.choice(5, N_ITEMS)  # one class has no item
    yield {"query_labels": classes[0], "database_labels": classes[1]}, np.equal.outer(*classes) * 1.0
    grades = rng.integers(0, high + 1, (N_QUERIES, N_ITEMS)) * (rng.random((N_QUERIES, N_ITEMS)) < 0.1) * 1.0
    yield {"relevance": grades}, grades
    yield {"relevance": sparse.coo_array(grades).astype(np.int8)}, grades
    yield {"relevance": lambda rows: grades[rows]}, grades
    if high > 2:
        multi = (rng.random((N_QUERIES, 3)) < 0.5) * 1, (rng.random((N_ITEMS, 3)) < 0.3) * 1
        yield dict(zip(("query_labels", "database_labels"), multi, strict=True)), multi[0] @ multi[1].T * 1.0
        as_sparse = sparse.csr_matrix(multi[0]), sparse.csc_array(multi[1])
        yield dict(zip(("query_labels", "database_labels"), as_sparse, strict=True)), multi[0] @ multi[1].T * 1.0


def with_repeated_entries(x):
    """Sparse matrix with duplicate entries, half of the value each, in descending order of columns."""
    x = sparse.csr_array(np.asarray(x, dtype=float))
    order = np.concatenate([np.arange(a, b)[::-1].repeat(2) for a, b in zip(x.indptr[:-1], x.indptr[1:], strict=True)])
    return sparse.csr_array((x.data[order] / 2, x.indices[order], 2 * x.indptr), shape=x.shape)


# --- the published formulas ----------------------------------------------------------------------------------


def direct(order, grade, k):
    """nDCG@k, ACG@k, MAP@k, WAP@k and P@k of one query, by their definitions."""
    gain = 2.0 ** grade[order[:k]] - 1
    best = 2.0 ** np.sort(grade)[::-1][:k] - 1
    discount = 1 / np.log2(2 + np.arange(k))
    relevant, rank = grade[order[:k]] >= 1, 1 + np.arange(k)
    n_relevant = max((grade >= 1).sum(), 1)
    return {
        f"ndcg@{k}": (gain * discount).sum() / max((best * discount).sum(), 1e-300),
        f"acg@{k}": grade[order[:k]].mean(),
        f"map@{k}": (np.cumsum(relevant) / rank)[relevant].sum() / n_relevant,
        f"wap@{k}": (np.cumsum(grade[order[:k]]) / rank)[relevant].sum() / n_relevant,
        f"p@{k}": relevant.mean(),
    }


@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product", "cityblock"])
def test_published_formulas(distance, features, indicators):
    queries, items = features
    near = queries @ items.T if distance == "inner_product" else -pairwise_distances(queries, items, metric=distance)
    grade = indicators[0] @ indicators[1].T
    expected = [direct(np.argsort(-s), g, 5) | direct(np.argsort(-s), g, 20) for s, g in zip(near, grade, strict=True)]
    expected = {name: [row[name] for row in expected] for name in expected[0]}
    found = evaluate_retrieval(*features, *indicators, distance=distance, metrics=list(expected))
    for name, values in expected.items():
        np.testing.assert_allclose(found.per_query[name], values, rtol=0, atol=1e-12)
    whole = evaluate_retrieval(*features, *indicators, distance=distance, metrics=[*expected, "map"])
    for name, values in expected.items():
        np.testing.assert_allclose(whole.per_query[name], values, rtol=0, atol=1e-12)


# --- against evaluate on all distances -----------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*every score is")
@pytest.mark.filterwarnings("ignore:No label is above 1, and snips")
@pytest.mark.parametrize("exclude_self", [False, True])
@each(METRICS)
def test_same_as_evaluate_on_all_distances(metric, exclude_self, codes):
    """Whatever is left out of a list counts all the same; codes tie, items are many more than the cutoff."""
    high = min(int(labels_of(metric)[-1]), 3)
    queries, items = codes
    if exclude_self:  # the first items are the queries
        queries = items[:N_QUERIES]
    score = -pairwise_distances(queries, items, metric="cityblock")
    names = [metric.name, *(f"{metric.name}@{k}" for k in (1, 7, 20) if metric.has_cutoff)]
    for keywords, grade in relevances(3, high):
        if exclude_self:
            if "database_labels" not in keywords:
                continue
            keywords = {"query_labels": keywords["database_labels"]}
            grade = evaluated_grades(keywords["query_labels"])
            expected_score = np.where(
                np.eye(N_ITEMS, dtype=bool), np.nan, -pairwise_distances(items, metric="cityblock")
            )
            keep = ~np.eye(N_ITEMS, dtype=bool)
            grade, expected_score = (x[keep].reshape(N_ITEMS, -1) for x in (grade, expected_score))
            data = (items,)
        else:
            expected_score, data = score, (queries, items)
        for ties in [p for p in policies(metric) if p != "average" or not tie_policy(metric)] or [None]:
            options = {} if ties is None else {"ties": ties}
            expected = evaluate(grade, expected_score, metrics=names, **options)
            for name in names:
                found = evaluate_retrieval(*data, distance="hamming", metrics=name, **keywords, **options)
                np.testing.assert_allclose(found.per_query[name], expected.per_query[name], rtol=1e-12, atol=1e-12)
                assert found.n_undefined[name] == expected.n_undefined[name]
            if exclude_self:
                break


def evaluated_grades(labels):
    if labels.ndim == 1:
        return np.equal.outer(labels, labels) * 1.0
    labels = labels.toarray() if sparse.issparse(labels) else labels
    return labels @ labels.T * 1.0


@pytest.mark.parametrize("distance", ["cosine", "hamming", "cityblock"])
def test_chunks_and_threads_change_nothing(distance, codes, features, indicators):
    queries, items = features if distance == "cosine" else codes
    names = ["ndcg@10", "map@7", "p@5", "fallout@3"]
    for metrics in (names, [*names, "map"]):
        expected = evaluate_retrieval(queries, items, *indicators, distance=distance, metrics=metrics)
        for options in ({"working_memory": 0.01}, {"working_memory": 0.2, "n_jobs": 2}, {"n_jobs": 3}):
            found = evaluate_retrieval(queries, items, *indicators, distance=distance, metrics=metrics, **options)
            for name in metrics:
                np.testing.assert_array_equal(found.per_query[name], expected.per_query[name])


def test_each_chunk_leaves_out_its_own_items(features):
    items = features[1]
    expected = evaluate_retrieval(items, query_labels=np.arange(len(items)) % 3, metrics=["map", "auc"])
    found = evaluate_retrieval(
        items, query_labels=np.arange(len(items)) % 3, metrics=["map", "auc"], working_memory=0.001
    )
    for name, values in expected.per_query.items():
        np.testing.assert_array_equal(found.per_query[name], values)


def test_codes_in_all_alphabets(rng):
    for n_bits in (3, 16, 64, 100, 300):
        bits = rng.integers(0, 2, (N_ITEMS, n_bits))
        labels = rng.integers(0, 4, N_ITEMS)
        expected = None
        for codes in (
            bits,
            bits * 2 - 1,
            bits.astype(bool),
            bits.astype(float),
            bits * 2.0 - 1,
            np.packbits(bits, axis=1),
        ):
            for metrics in ("ndcg@9", "ndcg"):
                found = evaluate_retrieval(codes, query_labels=labels, distance="hamming", metrics=metrics).per_query[
                    metrics
                ]
                if expected is None:
                    score = -pairwise_distances(bits, metric="cityblock")
                    score[np.eye(N_ITEMS, dtype=bool)] = -np.inf
                    grade = np.equal.outer(labels, labels) * ~np.eye(N_ITEMS, dtype=bool)
                    expected = {m: evaluate(grade, score, metrics=m).per_query[m] for m in ("ndcg@9", "ndcg")}
                np.testing.assert_allclose(found, expected[metrics], rtol=0, atol=1e-12)


def test_other_distances(features, rng):
    labels = rng.integers(0, 3, N_QUERIES), rng.integers(0, 3, N_ITEMS)
    minkowski = -pairwise_distances(*features, metric="minkowski", p=3)
    grade = np.equal.outer(*labels) * 1.0
    expected = evaluate(grade, minkowski, metrics="map@5").mean()
    found = evaluate_retrieval(*features, *labels, distance="minkowski", distance_params={"p": 3}, metrics="map@5")
    assert found.mean() == expected
    found = evaluate_retrieval(
        *features, *labels, distance=lambda a, b: (np.abs(a - b) ** 3).sum() ** (1 / 3), metrics="map@5"
    )
    assert found.mean()["map@5"] == pytest.approx(expected["map@5"], abs=1e-12)


def test_sparse_features(features, rng):
    labels = rng.integers(0, 3, N_QUERIES), rng.integers(0, 3, N_ITEMS)
    dense = [x * (rng.random(x.shape) < 0.5) for x in features]
    for metric in ("cosine", "inner_product", "euclidean", "manhattan"):
        expected = evaluate_retrieval(*dense, *labels, distance=metric, metrics=["map", "map@5"]).mean()
        for make in (sparse.csr_array, sparse.csc_matrix, with_repeated_entries):
            given = map(make, dense)
            found = evaluate_retrieval(*given, *labels, distance=metric, metrics=["map", "map@5"]).mean()
            assert found == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_labels", [31, 32, 300])
def test_more_shared_labels_than_are_kept_as_bytes(n_labels, features, rng):
    indicators = [(rng.random((len(x), n_labels)) < 0.95) * 1 for x in features]
    indicators[0][0], indicators[1][0] = 1, 1
    names = ["acg@5", "ndcg(gain=linear)@10", "kendall"]
    expected = evaluate(indicators[0] @ indicators[1].T, features[0] @ features[1].T, metrics=names)
    found = evaluate_retrieval(*features, *indicators, distance="inner_product", metrics=names)
    assert found.mean() == pytest.approx(expected.mean(), rel=1e-9)


def test_equal_vectors_of_whole_numbers_tie_exactly(rng):
    """Also far from the origin, where squares are large."""
    items = rng.integers(0, 3, (300, 4)) + 1_000_000
    labels = rng.integers(0, 3, 300)
    score = -pairwise_distances(items - 1_000_000, metric="sqeuclidean")
    keep = ~np.eye(300, dtype=bool)
    expected = evaluate(
        *(x[keep].reshape(300, -1) for x in (np.equal.outer(labels, labels) * 1, score)), metrics="map@9"
    )
    found = evaluate_retrieval(items, query_labels=labels, distance="euclidean", metrics="map@9")
    assert found.mean() == pytest.approx(expected.mean(), abs=1e-12)
    assert found.n_tied == expected.n_tied


def test_zero_vectors_have_cosine_zero_with_all():
    items = [[1.0, 0.0], [0.0, 0.0], [-1.0, 0.0]]
    found = evaluate_retrieval([[2.0, 0.0]], items, ["a"], ["b", "a", "b"], metrics="mrr")
    assert found.mean() == {"mrr": 0.5}
    found = evaluate_retrieval([[0.0, 0.0]], items, ["a"], ["b", "a", "b"], metrics="mrr")
    assert found.mean()["mrr"] == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)  # all are tied


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("distance", ["cosine", "euclidean", "inner_product"])
def test_features_of_any_size(distance, make, features, rng):
    """A power of two changes no digit; sizes whose squares would be lost are refused."""
    labels = rng.integers(0, 3, N_QUERIES), rng.integers(0, 3, N_ITEMS)
    least = 2.0**-40 if distance == "cosine" else 2.0**-330

    def found(queries, items):
        return evaluate_retrieval(
            make(queries), make(items), *labels, distance=distance, metrics=["map", "ndcg@5"]
        ).mean()

    expected = found(*features)
    for size in (least, 2.0**30, 2.0**490):
        assert found(*(x * size for x in features)) == pytest.approx(expected, abs=1e-12)
    for size in (least / 2**15, 2.0**-1010, 2.0**510):
        for queries, items in ((size, 1.0), (1.0, -size)):
            with pytest.raises(ValueError, match=rf"For distance='{distance}' the largest feature of .* scale the fea"):
                found(features[0] * queries, features[1] * items)


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array])
def test_cosines_of_vectors_of_different_lengths(make, features, rng):
    labels = rng.integers(0, 3, N_QUERIES), rng.integers(0, 3, N_ITEMS)
    items = features[1] * (rng.random((N_ITEMS, 1)) < 0.9)  # some are 0
    size = rng.choice([2.0**-40, 1.0, 2.0**60, 2.0**490], (N_ITEMS, 1))
    expected = evaluate_retrieval(make(features[0]), make(items), *labels, metrics=["map", "ndcg@5"])
    found = evaluate_retrieval(
        make(features[0] * size[:N_QUERIES]), make(items * size), *labels, metrics=["map", "ndcg@5"]
    )
    assert found.mean() == expected.mean()


def test_labels_that_float64_would_round(features, rng):
    classes = rng.integers(0, 20, N_QUERIES), rng.integers(0, 20, N_ITEMS)
    expected = evaluate_retrieval(*features, *classes, metrics="map").mean()
    signed = [x + 2**60 for x in classes]
    unsigned = [x.astype(np.uint64) for x in signed]
    for labels in ((signed[0], unsigned[1]), (unsigned[0], signed[1]), (signed[0].tolist(), unsigned[1])):
        assert evaluate_retrieval(*features, *labels, metrics="map").mean() == expected
    float64 = evaluate_retrieval(*features, np.full(N_QUERIES, 2.0**60), signed[1], metrics="map")
    same = evaluate_retrieval(*features, np.full(N_QUERIES, 2**60), signed[1], metrics="map")
    assert float64.mean() == same.mean()


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int64, np.uint64])
def test_whole_labels_up_to_the_limits_of_their_type(dtype, features, rng):
    limits, number = np.iinfo(dtype), rng.integers(0, 20, N_ITEMS)
    expected = evaluate_retrieval(features[1], query_labels=[f"class {i}" for i in number], metrics="map@5").mean()
    for low in (limits.min, 0, limits.max - 20):
        labels = (number.astype(np.uint64) + np.array(low, dtype=dtype).astype(np.uint64)).astype(dtype)
        assert evaluate_retrieval(features[1], query_labels=labels, metrics="map@5").mean() == expected


def test_a_class_that_the_database_has_not_is_undefined(features):
    with pytest.warns(RankingWarning, match="No document is relevant"):
        found = evaluate_retrieval(*features, ["z"] * N_QUERIES, ["a"] * N_ITEMS, metrics=["map@5", "p@5"])
    assert found.n_undefined == {"map@5": N_QUERIES, "p@5": 0}


def test_unjudged_items(codes, rng):
    grade = rng.choice([0.0, 1.0, np.nan], (N_QUERIES, N_ITEMS), p=[0.7, 0.2, 0.1])
    score = -pairwise_distances(*codes, metric="cityblock")
    names = [
        "bpref@9",
        "judged@9",
        *(f"{name}(unjudged={how})@9" for name in ("ndcg", "bpref") for how in ("nonrelevant", "drop")),
    ]
    for name in names:
        expected = evaluate(grade, score, metrics=name)
        found = evaluate_retrieval(*codes, relevance=grade, distance="hamming", metrics=name)
        np.testing.assert_allclose(found.per_query[name], expected.per_query[name], rtol=0, atol=1e-12)


def test_tie_range_and_weights(codes, rng):
    classes, weight = (rng.integers(0, 4, N_QUERIES), rng.integers(0, 4, N_ITEMS)), rng.random(N_QUERIES)
    names = ["map@10", "ndcg@5", "map"]
    grade, score = np.equal.outer(*classes) * 1.0, -pairwise_distances(*codes, metric="cityblock")
    expected = evaluate(grade, score, metrics=names, sample_weight=weight)
    found = evaluate_retrieval(
        *codes, *classes, distance="hamming", metrics=names, sample_weight=weight, query_ids=list("abcdefghi")
    )
    assert found.n_tied == expected.n_tied
    for ours, theirs in zip(found.tie_range().rows, expected.tie_range().rows, strict=True):
        assert ours[0] == theirs[0]
        assert ours[1:] == pytest.approx(theirs[1:], abs=1e-12)
    assert found.qid.tolist() == list("abcdefghi")
    ids = [("a", i) for i in range(N_QUERIES)]
    assert evaluate_retrieval(*codes, *classes, distance="hamming", metrics="map@5", query_ids=ids).qid.tolist() == ids


def test_progress_bar(codes, rng, capsys):
    classes = rng.integers(0, 4, N_QUERIES), rng.integers(0, 4, N_ITEMS)
    for metrics in ("map@5", "map"):
        result = evaluate_retrieval(*codes, *classes, distance="hamming", metrics=metrics, progress=True, n_jobs=2)
        assert f"{N_QUERIES}/{N_QUERIES}" in capsys.readouterr().err
        result.tie_range()
        assert capsys.readouterr().err == ""


@pytest.mark.slow
def test_memory_stays_bounded():
    """All distances at once would take 1 GB."""
    code = """
import resource
import numpy as np
from sklearn_rank.retrieval import evaluate_retrieval
rng = np.random.default_rng(0)
queries, items = (rng.integers(0, 256, (n, 8), dtype=np.uint8) for n in (625, 200_000))
labels = rng.integers(0, 10, 625), rng.integers(0, 10, 200_000)
evaluate_retrieval(queries[:2], items, labels[0][:2], labels[1], distance="hamming", metrics=["map@100", "map"])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
evaluate_retrieval(queries, items, *labels, distance="hamming", metrics=["map@100", "ndcg@10"], n_jobs=2)
evaluate_retrieval(queries[:100], items, labels[0][:100], labels[1], distance="hamming", metrics="map", n_jobs=2)
grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
assert grown < 300_000, grown
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=300)


def parts_of(x):
    return [x.data, x.indices, x.indptr] if sparse.issparse(x) else [x]


@pytest.mark.parametrize("make", [np.array, with_repeated_entries])
def test_retrieval_does_not_modify_inputs(make, codes, features, indicators, rng):
    indices = np.array([rng.permutation(N_ITEMS)[:5] for _ in range(N_QUERIES)])
    given = {
        "codes": [x.copy() for x in codes], "features": [make(x * (rng.random(x.shape) < 0.7)) for x in features],
        "labels": [make(x) for x in indicators], "relevance": make(rng.integers(0, 3, (N_QUERIES, N_ITEMS))),
        "weight": rng.random(N_QUERIES), "near": rng.random(indices.shape), "indices": indices,
    }  # fmt: skip
    arrays = [part for x in given.values() for one in (x if isinstance(x, list) else [x]) for part in parts_of(one)]
    before = [x.copy() for x in arrays]
    for metrics in (["map@5", "ndcg@5"], ["map", "ndcg"]):
        options = {"metrics": metrics, "sample_weight": given["weight"]}
        for data, distance in (
            (given["codes"], "hamming"), *((given["features"], x) for x in ("cosine", "euclidean", "inner_product")),
            (given["features"], "manhattan"),
        ):  # fmt: skip
            evaluate_retrieval(*data, *given["labels"], distance=distance, **options)
            evaluate_retrieval(*data, relevance=given["relevance"], distance=distance, **options)
            evaluate_retrieval(data[1], query_labels=given["labels"][1], distance=distance, metrics=metrics)
        score_neighbors(given["near"], given["indices"], *given["labels"], **options)
        score_neighbors(given["near"], given["indices"], relevance=given["relevance"], **options)
        score_neighbors(given["near"], given["indices"], true_indices=given["indices"], **options)
    for array, kept in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(array, kept)


@pytest.mark.parametrize("ties", ["average", "stable"])
@pytest.mark.parametrize("distance", ["hamming", "cosine"])
def test_no_circle_keeps_the_memory_of_a_chunk(distance, ties, codes, rng):
    """The next chunk needs the arrays of a chunk: they are free when it is done, before Python looks for circles."""

    def call():
        labels = rng.integers(0, 5, N_QUERIES), rng.integers(0, 5, N_ITEMS)
        evaluate_retrieval(*codes, *labels, distance=distance, metrics=["map", "ndcg"], ties=ties)

    call()  # computed once
    gc.collect()
    gc.disable()
    try:
        call()
        n_in_circles = gc.collect()
    finally:
        gc.enable()
    assert n_in_circles == 0


def test_map_at_r_matches_pytorch_metric_learning():
    """The sum of the precisions at relevant items among the R nearest others, over R."""
    rng = np.random.default_rng(0)
    features, label = rng.normal(size=(60, 5)), rng.integers(0, 5, 60)
    distance = ((features[:, None] - features) ** 2).sum(axis=2)
    np.fill_diagonal(distance, np.inf)
    expected = []
    for i in range(60):
        n_relevant = np.count_nonzero(label == label[i]) - 1
        relevant = label[np.argsort(distance[i])[:n_relevant]] == label[i]
        expected.append((relevant * np.cumsum(relevant) / np.arange(1, n_relevant + 1)).sum() / n_relevant)
    found = evaluate_retrieval(features, query_labels=label, distance="euclidean", metrics="map_at_r")
    np.testing.assert_allclose(found.per_query["map_at_r"], expected, rtol=1e-12)
