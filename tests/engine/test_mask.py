"""A mask marks documents: padded queries have the bits of the same documents without padding."""

import numpy as np
import pandas as pd
import pytest
from registry import METRICS, rough_data_for
from scipy.sparse import csr_array

import sklearn_rank
from sklearn_rank import RankingAccumulator, evaluate
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.metrics import alpha_ndcg_score, map_score, ndcg_score

NAN, INF = np.nan, np.inf
GARBAGE = np.array([NAN, INF, -INF, -1.0, 7.5, 1e300])
ONE_LABEL = [metric for metric in METRICS if not metric.subtopics]


def padded(data, rng, width=None):
    """Queries as rows of matrices, with documents at random columns and garbage in the other entries."""
    ids, size = data.qid[np.sort(np.unique(data.qid, return_index=True)[1])], np.bincount(data.qid)
    width = size.max() + 2 if width is None else width
    mask = np.zeros((len(ids), width), dtype=bool)
    y_true, y_score = rng.choice(GARBAGE, mask.shape), rng.choice(GARBAGE, mask.shape)
    for row, query in enumerate(ids):
        places = np.sort(rng.choice(width, size[query], replace=False))
        mask[row, places] = True
        y_true[row, places], y_score[row, places] = (x[data.qid == query] for x in (data.y_true, data.y_score))
    return y_true, y_score, mask, ids


def assert_equal(found, expected):
    assert found.per_query.keys() == expected.per_query.keys()
    for name, values in expected.per_query.items():
        assert found.per_query[name].tobytes() == values.tobytes(), name
    assert found.mean() == expected.mean()
    assert found.n_undefined == expected.n_undefined
    np.testing.assert_array_equal(found.n_documents, expected.n_documents)
    np.testing.assert_array_equal(found.label_fingerprints, expected.label_fingerprints)


# --- the same bits -------------------------------------------------------------------------------------------


def test_mask_by_hand():
    """The second query has one document, at rank 1."""
    y_true, y_score = [[0, 1, 0], [1, 5, 9]], [[0.9, 0.5, 0.1], [0.2, 0.3, 0.4]]
    mask = [[True, True, True], [True, False, False]]
    assert map_score(y_true, y_score, mask=mask, average=None).tolist() == [0.5, 1.0]


def test_weights_ties_and_attributes_of_masked_documents():
    data, rng = rough_data_for(REGISTRY["ndcg"]), np.random.default_rng(2)
    y_true, y_score, mask, ids = padded(data, rng)
    weight, keys, country = rng.random(len(ids)), rng.random(mask.shape), rng.choice(["se", "no"], len(ids))
    keys[~mask] = NAN
    options = {"metrics": ["map", "ndcg@3"], "ties": "stable"}
    of_queries = {"qid": ids, "sample_weight": weight, "by": country, "clusters": ids % 3}
    expected = evaluate(
        y_true[mask], y_score[mask], tie_break=keys[mask], **options,
        **{name: np.repeat(column, mask.sum(axis=1)) for name, column in of_queries.items()},
    )  # fmt: skip
    found = evaluate(y_true, y_score, mask=mask, tie_break=keys, **of_queries, **options)
    assert_equal(found, expected)
    assert found.attributes["by"].tolist() == expected.attributes["by"].tolist() == country.tolist()
    of_rows = {name: np.repeat(column, mask.shape[1]) for name, column in of_queries.items()}
    of_rows["sample_weight"][~mask.ravel()] = NAN  # padding is not read
    y_true, y_score, keys, mask = (x.ravel() for x in (y_true, y_score, keys, mask))
    assert_equal(evaluate(y_true, y_score, mask=mask, tie_break=keys, **of_rows, **options), expected)


@pytest.mark.parametrize(
    "make",
    [
        np.ndarray.tolist,
        np.asfortranarray,
        lambda mask: mask.astype(object),
        pd.DataFrame,
        lambda mask: pd.DataFrame(mask, dtype="boolean"),
    ],
    ids=["list", "fortran", "object", "frame", "nullable"],
)
def test_mask_containers(make):
    mask = np.array([[True, True], [True, False]])
    assert ndcg_score([[0, 1], [1, NAN]], [[1, 2], [1, NAN]], mask=make(mask)) == 1.0


def test_full_mask_has_no_effect():
    y, s = np.arange(12).reshape(3, 4) % 3, np.arange(12.0).reshape(3, 4)[:, ::-1]
    assert_equal(evaluate(y, s, mask=np.ones((3, 4), bool)), evaluate(y, s))


def test_lists_of_one_document():
    """With a mask, a single column is a matrix."""
    assert map_score([[1], [0]], [[0.5], [0.1]], mask=[[True], [True]], average=None).tolist() == [1, 0]
    assert map_score([[1], [0]], [[0.5], [0.1]], qid=[1, 1], mask=[True, True], average=None).tolist() == [1]


# --- errors --------------------------------------------------------------------------------------------------

Y, S = [[1, 0, 2], [0, 1, 0]], [[0.3, 0.2, 0.1], [0.1, 0.2, 0.3]]
ALL = [[True] * 3] * 2


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        ([[1, 1, 0], [1, 1, 1]], TypeError, r"mask must be boolean.*mask == 1\. Got list of dtype int64"),
        ([[1.0, 1, 0], [1, 1, 1]], TypeError, "Got list of dtype float64"),
        ([["a"] * 3] * 2, TypeError, "mask must be boolean"),
        (pd.DataFrame([[True, True, None]] * 2, dtype="boolean"), TypeError, "Got DataFrame of dtype object"),
        ([True, False, True], ValueError, r"shape of y_true, \(2, 3\)\. Got shape \(3,\)"),
        ([[True] * 2] * 2, ValueError, r"Got shape \(2, 2\)"),
        ([[True] * 3, [False] * 3], ValueError, r"pass ~mask\. Got 1 of 2 rows without, the first is row 1\."),
        ([[False] * 3, [False] * 3], ValueError, r"Got 2 of 2 rows without, the first is row 0\."),
    ],
)  # fmt: skip
def test_invalid_masks(mask, error, message):
    with pytest.raises(error, match=message):
        ndcg_score(Y, S, mask=mask)


@pytest.mark.parametrize("pad", [0, -1, 5])
def test_an_inverted_mask_is_rejected(pad):
    """The longest query has no padding, so it seems to have no document; for longer rows the labels show it."""
    is_document = np.arange(8) < np.array([[5], [3], [7]])
    labels = np.where(is_document, np.arange(24).reshape(3, 8) % 3, pad)
    for width in (7, 8):
        y_true, mask = labels[:, :width], is_document[:, :width]
        assert ndcg_score(y_true, np.ones(mask.shape), mask=mask) > 0
        with pytest.raises(ValueError, match="pass ~mask"):
            ndcg_score(y_true, np.ones(mask.shape), mask=~mask)
    left = labels[:, ::-1], is_document[:, ::-1]  # padding on the left is not an inverted mask
    assert ndcg_score(left[0], np.ones((3, 8)), mask=left[1]) > 0
    assert ndcg_score(np.ones((3, 8)), np.ones((3, 8)), mask=left[1]) == 1
    assert ndcg_score([[7, 8, 1], [1, 1, 1]], np.ones((2, 3)), mask=[[False, False, True], [True] * 3]) == 1


def test_mask_errors_name_the_input_row():
    for y, s, message in (
        ([[1, 0, 2], [0, INF, 0]], S, "infinite label in row 1"),
        (Y, [[0.3, INF, 0.1], [0.1, NAN, 0.3]], r"Got nan in row 1"),
        ([[1, NAN, 2], [0, NAN, 0]], S, "the first in row 1"),
        ([[1, -1, 2], [0, -1, 0]], S, r"Got -1, the first in row 1\. .* Padding is left out by mask="),
    ):
        with pytest.raises(ValueError, match=message):
            ndcg_score(y, s, mask=[[True, False, True], [True] * 3])
    mask = [False, True, True, True]
    for y, s, message in (
        ([NAN, 1, 0, NAN], [NAN, 1, 2, 3], "the first in row 3"),
        ([NAN, 1, 0, 1], [NAN, 1, 2, NAN], "Got nan in row 3"),
    ):
        with pytest.raises(ValueError, match=message):
            ndcg_score(y, s, qid=[1, 1, 2, 2], mask=mask)


FRAME = pd.DataFrame(Y, index=["i", "j"], columns=["a", "b", "c"])
MASK = pd.DataFrame(ALL, index=["i", "j"], columns=["a", "b", "c"])


@pytest.mark.parametrize(
    ("args", "keywords", "message"),
    [
        ((Y[0], S[0]), {"qid": [1, 1, 2], "mask": [True, True, False]}, "Got 1 of 2 queries without, the first is 2"),
        ((Y[0], S[0]), {"qid": [1, 1, 1], "mask": [True, True]}, r"shape of y_true, \(3,\)"),
        ((Y[0], S[0]), {"mask": [True] * 3}, "Got neither"),
        ((Y[0], S[0]), {"qid": [1] * 3, "mask": [True] * 3, "sample_weight": [1]}, "sample_weight must have one entry"),
        ((Y, S), {"mask": ALL, "sample_weight": [1] * 6}, "one entry per query"),
        ((Y, S), {"mask": ALL, "qid": [4, 4]}, "each id once"),
        ((csr_array(Y), csr_array(S)), {"mask": ALL}, "mask is for padded arrays"),
        ((FRAME, np.array(S)), {"mask": MASK[::-1]}, "y_true and mask must have the same index"),
        ((FRAME, np.array(S)), {"mask": MASK[["c", "b", "a"]]}, "columns of y_true and mask"),
    ],
    ids=range(9),
)
def test_mask_errors(args, keywords, message):
    with pytest.raises(ValueError, match=message):
        evaluate(*args, **keywords)


@pytest.mark.parametrize("name", ["where", "padding_mask", "attention_mask"])
def test_mask_names_of_other_libraries(name):
    for function in (ndcg_score, evaluate, RankingAccumulator().update):
        with pytest.raises(TypeError, match=r"mask= is True where there is a document\."):
            function(Y, S, **{name: ALL})


def test_subtopics_share_a_mask():
    labels, scores = [[1, 0], [0, 1], [NAN, NAN]], [1, 2, NAN]
    found = alpha_ndcg_score(labels, scores, qid=[0, 0, 0], mask=[True, True, False])
    assert found == alpha_ndcg_score(labels[:2], scores[:2], qid=[0, 0])
    with pytest.raises(ValueError, match=r"shape of y_true, \(3,\)"):
        alpha_ndcg_score(labels, scores, qid=[0, 0, 0], mask=np.ones((3, 2), bool))


@pytest.mark.parametrize("where", ["evaluate_table", "spark"])
def test_calls_with_rows_point_to_mask(where):
    """The check runs before the data are read."""
    called = sklearn_rank.spark.evaluate if where == "spark" else getattr(sklearn_rank, where)
    with pytest.raises(TypeError, match=r"keyword 'mask'\. mask= is for padded arrays, .* leave padding out before"):
        called([], metrics="mrr", mask=[True])
