"""Labels of rows and columns in retrieval: frames in another order are refused, and not matched by position."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pytest.importorskip("pyarrow")

QUERIES = pd.DataFrame([[1.0, 0.2, 0.1], [0.3, 1.0, 0.2]], index=["a", "b"], columns=list("fgh"))
ITEMS = pd.DataFrame(np.eye(3), index=list("xyz"), columns=list("fgh"))
GRADES = pd.DataFrame([[1, 0, 2], [0, 1, 0]], index=["a", "b"], columns=list("xyz"))
CLASSES = pd.Series(["cat", "dog"], index=["a", "b"]), pd.Series(["cat", "dog", "cat"], index=list("xyz"))
SHARED = tuple(pd.get_dummies(one) for one in CLASSES)
NEAR = pd.DataFrame([[0.1, 0.2], [0.3, 0.4]], index=["a", "b"], columns=["first", "second"])
FOUND = pd.DataFrame([[0, 1], [2, 1]], index=["a", "b"], columns=["first", "second"])
WEIGHT = pd.Series([1.0, 9.0], index=["a", "b"])


def backwards(x):
    return x.iloc[::-1]


def mirrored(x):
    return x[x.columns[::-1]]


def retrieval(queries=QUERIES, items=ITEMS, labels=(None, None), **options):
    return evaluate_retrieval(queries, items, *labels, metrics=["mrr", "ndcg"], **options).mean()


def self_search(queries=QUERIES, items=QUERIES, labels=("cc", "cc"), **options):
    return retrieval(queries, items, tuple(map(list, labels)), exclude_self=True, **options)


def neighbors(distances=NEAR, indices=FOUND, labels=(None, None), **options):
    return score_neighbors(distances, indices, *labels, metrics=["mrr", "ndcg"], **options).mean()


REFUSED = {
    "labels and features of queries": lambda: retrieval(labels=(backwards(CLASSES[0]), CLASSES[1])),
    "labels and features of items": lambda: retrieval(labels=(CLASSES[0], backwards(CLASSES[1]))),
    "indicators": lambda: retrieval(labels=(SHARED[0], mirrored(SHARED[1]))),
    "indicators of other labels": lambda: retrieval(labels=(SHARED[0], SHARED[1].set_axis(["dog", "eel"], axis=1))),
    "indicators in polars": lambda: retrieval(labels=[pl.from_pandas(x) for x in (SHARED[0], mirrored(SHARED[1]))]),
    "features": lambda: retrieval(items=mirrored(ITEMS), relevance=GRADES),
    "features in polars": lambda: retrieval(items=pl.from_pandas(mirrored(ITEMS)), relevance=GRADES),
    "features in Arrow": lambda: retrieval(items=pl.from_pandas(mirrored(ITEMS)).to_arrow(), relevance=GRADES),
    "features, one not in both": lambda: retrieval(items=ITEMS.set_axis(list("efg"), axis=1), relevance=GRADES),
    "rows of relevance": lambda: retrieval(relevance=backwards(GRADES)),
    "columns of relevance": lambda: retrieval(relevance=mirrored(GRADES)),
    "weights": lambda: retrieval(relevance=GRADES.to_numpy(), sample_weight=backwards(WEIGHT)),
    "weights and relevance": lambda: retrieval(QUERIES.to_numpy(), relevance=GRADES, sample_weight=backwards(WEIGHT)),
    "ids and features": lambda: retrieval(relevance=GRADES.to_numpy(), query_ids=["b", "a"]),
    "ids and relevance": lambda: retrieval(QUERIES.to_numpy(), relevance=GRADES, query_ids=["b", "a"]),
    "items that are the queries": lambda: self_search(items=backwards(QUERIES)),
    "labels of items that are the queries": lambda: evaluate_retrieval(
        np.eye(2), np.eye(2), CLASSES[0], backwards(CLASSES[0]), exclude_self=True, metrics="mrr"
    ),
    "columns of relevance to each other": lambda: evaluate_retrieval(
        QUERIES, relevance=GRADES[["x", "y"]].set_axis(["b", "a"], axis=1), metrics="mrr"
    ),
    "neighbors and their distances": lambda: neighbors(indices=backwards(FOUND), relevance=GRADES),
    "columns of neighbors": lambda: neighbors(indices=mirrored(FOUND), relevance=GRADES),
    "true neighbors": lambda: neighbors(true_indices=backwards(FOUND)),
    "labels of neighbors": lambda: neighbors(labels=(backwards(CLASSES[0]), CLASSES[1])),
    "indicators of neighbors": lambda: neighbors(labels=(SHARED[0], mirrored(SHARED[1]))),
    "relevance of neighbors": lambda: neighbors(relevance=backwards(GRADES)),
    "weights of neighbors": lambda: neighbors(relevance=GRADES, sample_weight=backwards(WEIGHT)),
    "ids of neighbors": lambda: neighbors(relevance=GRADES, query_ids=["b", "a"]),
    "ids and relevance of neighbors": lambda: neighbors(
        NEAR.to_numpy(), FOUND.to_numpy(), relevance=GRADES, query_ids=["b", "a"]
    ),
    "neighbors that are the queries": lambda: neighbors(
        None, FOUND.clip(upper=1)[["second"]], labels=(CLASSES[0], backwards(CLASSES[0])), exclude_self=True
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_retrieval_labels_in_another_order(call):
    message = r"must (have the same index|be .*in the (same )?order|stand at the same place).*to_numpy\(\).*Got '"
    with pytest.raises(ValueError, match=message):
        call()


def test_the_way_out_that_errors_name():
    with pytest.raises(ValueError, match=r"relevance\[database_features.index\].* Got 'z' and 'x' at position 0"):
        retrieval(relevance=mirrored(GRADES))
    assert retrieval(relevance=mirrored(GRADES)[ITEMS.index]) == retrieval(relevance=GRADES)
    with pytest.raises(ValueError, match=r"query_features.loc\[query_ids\]"):
        retrieval(relevance=GRADES.to_numpy(), query_ids=["b", "a"])


def test_the_same_labels_in_the_same_order():
    expected = retrieval(QUERIES.to_numpy(), ITEMS.to_numpy(), relevance=GRADES.to_numpy())
    assert retrieval(relevance=GRADES, query_ids=GRADES.index) == expected
    assert retrieval(backwards(QUERIES), relevance=backwards(GRADES), query_ids=["b", "a"]) == expected
    assert retrieval(mirrored(QUERIES), mirrored(ITEMS), relevance=GRADES) == pytest.approx(expected, abs=1e-12)
    expected = retrieval(labels=tuple(x.to_numpy() for x in SHARED))
    assert retrieval(labels=SHARED) == retrieval(labels=CLASSES) == expected
    assert retrieval(labels=[pl.from_pandas(x).to_arrow() for x in SHARED]) == expected
    expected = neighbors(NEAR.to_numpy(), FOUND.to_numpy(), relevance=GRADES.to_numpy())
    assert neighbors(relevance=GRADES, sample_weight=WEIGHT * 0 + 1, query_ids=["a", "b"]) == expected
    neighbors(true_indices=mirrored(FOUND))  # which have no order


def test_other_labels_go_by_position():
    """Two models may name their features differently, and rows may have positions next to ids."""
    expected = retrieval(relevance=GRADES)
    assert retrieval(items=ITEMS.set_axis(["i0", "i1", "i2"], axis=1), relevance=GRADES) == expected
    assert retrieval(QUERIES.reset_index(drop=True), ITEMS.reset_index(drop=True), relevance=GRADES) == expected
    assert retrieval(relevance=GRADES.to_numpy(), query_ids=["u", "v"]) == expected
    numbered = QUERIES.reset_index(drop=True)
    for queries, ids in ((numbered, [1, 0]), (backwards(numbered), [0, 1])):
        retrieval(queries, relevance=GRADES, query_ids=ids)
    assert neighbors(indices=FOUND.set_axis(["i0", "i1"], axis=1), relevance=GRADES) == neighbors(relevance=GRADES)


COLUMNS = {
    "array": lambda labels: labels[:, None],
    "frame": lambda labels: pd.DataFrame({"label": labels}),
    "sparse": lambda labels: csr_array(labels[:, None]),
}


@pytest.mark.parametrize("kind", COLUMNS)
def test_a_column_of_labels_has_one_label_per_item(kind, rng):
    """Items of label 0 are relevant to queries of label 0."""
    features, labels = rng.normal(size=(40, 3)), rng.integers(0, 2, 40)
    flat = evaluate_retrieval(features, None, labels, metrics="map")
    assert evaluate_retrieval(features, None, COLUMNS[kind](labels), metrics="map").mean() == flat.mean()
    two = features[:20], features[20:]
    flat = evaluate_retrieval(*two, labels[:20], labels[20:], metrics="map")
    columns = map(COLUMNS[kind], (labels[:20], labels[20:]))
    assert evaluate_retrieval(*two, *columns, metrics="map").mean() == flat.mean()
