"""Results from given values answer like computed ones."""

import math

import numpy as np
import pytest

from sklearn_rank import evaluate
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare

QID, LABELS, SCORES = list("aabbbcc"), [1, 0, 0, 1, 0, 0, 0], [2, 1, 3, 2, 1, 1, 2]


def computed(**keywords):
    return evaluate(LABELS, SCORES, qid=QID, metrics=["ndcg@2", "map", "rmse"], **keywords)


def made_again(result):
    return Evaluation.from_values(
        result.qid, result.per_query, undefined={"map": [False, False, True]}, means=result.mean(),
        meaning=result.meaning, average=result.average, greater_is_better=result.greater_is_better,
        n_documents=result.n_documents, weight=result.weight, label_fingerprints=result.label_fingerprints,
    )  # fmt: skip


def test_given_values_answer_like_computed_ones(tmp_path):
    result = computed()
    again = made_again(result)
    again.save(tmp_path / "again")
    for other in (again, Evaluation.load(tmp_path / "again")):
        assert other.mean() == result.mean()
        assert other.confidence_interval() == result.confidence_interval()
        assert other.n_documents.tolist() == [2, 3, 2]
        assert other.n_undefined == {"ndcg@2": 0, "map": 1, "rmse": 0}
        assert other.worst_queries(1).rows == result.worst_queries(1).rows
        assert compare(other, result, metric="map").pvalue == 1
        with pytest.raises(ValueError, match="Ties need the data"):
            _ = other.n_tied


def test_defaults():
    result = Evaluation.from_values([7, 8, 9], {"mrr": [0.5, 1, math.nan], "rmse": [1, 2, 3], "clicks": [1, 1, 4]})
    assert result.mean() == {"mrr": 0.75, "rmse": 2, "clicks": 2}
    assert result.n_undefined == {"mrr": 1, "rmse": 0, "clicks": 0}
    assert result.greater_is_better == {"mrr": True, "rmse": False, "clicks": True}
    assert result.meaning["clicks"] == "clicks"
    assert result.label_fingerprints is None
    weighted = Evaluation.from_values([7, 8], {"mrr": [0.5, 1]}, weight=[3, 1])
    assert weighted.mean() == {"mrr": 0.625}


def test_without_counts(tmp_path):
    result = Evaluation.from_values(["a", "b"], {"mrr": [0.5, 1]})
    result.save(tmp_path / "result")
    for one in (result, Evaluation.load(tmp_path / "result")):
        with pytest.raises(ValueError, match="n_documents=..."):
            _ = one.n_documents


@pytest.mark.parametrize(
    ("keywords", "error", "match"),
    [
        ({"qid": ["a", "a"]}, ValueError, "Got a query twice"),
        ({"qid": [2, 1, 2], "values": {"mrr": [1, 2, 3]}}, ValueError, "Got a query twice"),
        ({"qid": [["a"], ["b"]]}, ValueError, "must be hashable"),
        ({"qid": np.array([["a", "b"], ["c", "d"]])}, ValueError, r"Got shape \(2, 2\)"),
        ({"qid": ["a", None]}, ValueError, "missing"),
        ({"values": {}}, TypeError, "one or more"),
        ({"values": [1, 2]}, TypeError, "one or more"),
        ({"values": {"mrr": [1]}}, ValueError, r"one entry per query, 2. Got shape \(1,\)"),
        ({"values": {"mrr": ["x", "y"]}}, TypeError, "values of 'mrr' must hold real numbers"),
        ({"values": {"my_error": [1, 2]}}, ValueError, "suggests.*Pass greater_is_better={'my_error': False}"),
        ({"means": {"map": 1}}, ValueError, "means of from_values must be by metric, mrr. Got 'map'"),
        ({"means": {"mrr": 0.7}}, ValueError, "must equal the mean of the values, 0.75.*Got means=0.7 for 'mrr'"),
        ({"means": {"mrr": math.nan}}, ValueError, "must equal the mean of the values"),
        ({"average": {"mrr": "mean"}}, ValueError, "Got 'mean' for 'mrr'"),
        ({"average": {"mrr": "micro"}}, ValueError, "Got none for 'mrr'"),
        ({"values": {"mrr": [0.5, -np.inf]}}, ValueError, "values of 'mrr' must be finite, or nan .* -inf for query"),
        ({"weight": [1]}, ValueError, r"weight must have one entry per query, 2. Got shape \(1,\)"),
        ({"n_documents": [1]}, ValueError, "n_documents must have one entry per query"),
        ({"undefined": {"mrr": [True]}}, ValueError, "undefined of 'mrr' must have one entry per query"),
        ({"weight": [1, -1]}, ValueError, "not negative"),
        ({"undefined": {"mrr": [0, 2]}}, ValueError, "undefined of 'mrr' must hold values of bool"),
        ({"n_documents": [2.5, 1]}, ValueError, "n_documents must hold values of int64"),
        ({"n_documents": [2, math.nan]}, ValueError, "n_documents must hold values of int64"),
        ({"undefined": {"mrr": [0, math.nan]}}, ValueError, "undefined of 'mrr' must hold values of bool"),
        ({"values": {"mrr": np.ma.masked_array([1, 2], mask=[0, 1])}}, ValueError, "values of 'mrr'"),
    ],
)
def test_from_values_errors(keywords, error, match):
    with pytest.raises(error, match=match):
        Evaluation.from_values(**{"qid": ["a", "b"], "values": {"mrr": [0.5, 1]}} | keywords)


@pytest.mark.parametrize(
    ("values", "mean", "fits"),
    [
        ([-3, -1], -2, True),
        ([1e10, 3, -1e10], 1 - 1e-7, True),  # large values cancel
        ([1e10, 3, -1e10], 100, False),
        ([1e3, 1e3], 1e3 + 5e-7, True),
        ([1e3, 1e3], 1e3 + 2e-6, False),
        ([1e-3, 1e-3], 1e-3 + 5e-13, True),
        ([1e-3, 1e-3], 1e-3 + 2e-12, False),
        ([math.nan, math.nan], math.nan, True),
        ([math.nan, math.nan], 0.0, False),
        ([], math.nan, True),
        ([1, math.nan], 1, True),
    ],
)
def test_a_mean_may_differ_by_a_share_of_the_largest_value(values, mean, fits):
    def made():
        return Evaluation.from_values(range(len(values)), {"own": values}, means={"own": mean})

    if fits:
        assert made().mean()["own"] == pytest.approx(mean, abs=0, nan_ok=True)
    else:
        with pytest.raises(ValueError, match="must equal the mean of the values"):
            made()


@pytest.mark.parametrize("name", ["undefined", "means", "meaning", "average", "greater_is_better", "is_binary"])
def test_from_values_rejects_other_metric_names(name):
    with pytest.raises(ValueError, match=f"^{name} of from_values must be by metric, mrr, map. Got 'p'"):
        Evaluation.from_values(["a"], {"mrr": [1], "map": [1]}, **{name: {"p": 1}})
    with pytest.raises(TypeError, match=rf"^{name} of from_values must be a dict by metric, or None. Got \[1\]"):
        Evaluation.from_values(["a"], {"mrr": [1]}, **{name: [1]})


def test_ten_queries_with_the_worst_values():
    """Equal values are in the order of the queries, and undefined ones are omitted."""
    values = [1.0] * 20 + [0.5] * 30 + [math.nan]
    result = Evaluation.from_values(range(51), {"mrr": values, "rmse": values})
    assert [row[0] for row in result.worst_queries().rows] == [*range(20, 30)]
    assert [row[0] for row in result.worst_queries(25, metric="rmse").rows] == [*range(25)]
    assert len(result.worst_queries(99).rows) == 50
    with pytest.raises(ValueError, match="'n' parameter of worst_queries must be an int >= 1"):
        result.worst_queries(0)


def test_a_prefix_is_text():
    with pytest.raises(TypeError, match="prefix must be a str, such as 'test/'. Got 1 instead"):
        Evaluation.from_values([1], {"mrr": [1]}).to_dict(prefix=1)


def test_judgments_are_unknown():
    assert Evaluation.from_values([1], {"mrr": [1]}).judges_both is False


def test_values_with_labels():
    """A pandas Series is never matched by position against its labels."""
    pd = pytest.importorskip("pandas")
    values = pd.Series([0.5, 1], index=["b", "a"])
    got = r"begins with 'b', 'a' for the queries 'a', 'b'\."
    with pytest.raises(ValueError, match=f"The index of values of 'mrr' must be qid, in the same order.*{got}"):
        Evaluation.from_values(["a", "b"], {"mrr": values})
    with pytest.raises(ValueError, match="The index of values of 'mrr' must be qid"):
        Evaluation.from_values(["a", "b"], {"mrr": values.reset_index(drop=True).rename_axis("qid")})
    for fine in (values.reindex(["a", "b"]), values.reset_index(drop=True)):
        assert len(Evaluation.from_values(["a", "b"], {"mrr": fine}).qid) == 2
    assert Evaluation.from_values([1, "2"], {"mrr": [0, 1]}).qid.tolist() == [1, "2"]


def test_numeric_query_ids_are_not_a_default_index():
    """Ids 0, 1 and 2 in another order: a sorted Series looks as if it had a default index."""
    pd = pytest.importorskip("pandas")
    result = evaluate([0, 1, 1, 0, 0, 1], [1, 2] * 3, qid=[2, 2, 0, 0, 1, 1], metrics="mrr")
    by_id = result.to_frame()["mrr"].sort_index()
    assert by_id.index.tolist() == [0, 1, 2]
    for wrong in (by_id, by_id.rename_axis(None), by_id.reset_index(drop=True)):
        for given in ({"values": {"mrr": wrong}}, {"weight": wrong}, {"by": wrong.to_frame()}, {"clusters": wrong}):
            with pytest.raises(
                ValueError, match="which is not mistaken for ids.*begins with 0, 1, 2 for the queries 2, 0, 1"
            ):
                Evaluation.from_values(**{"qid": result.qid, "values": {"map": [1, 0, 1]}} | given)
        with pytest.raises(ValueError, match="index of the mask must be qid"):
            result.subset(wrong == 1)
    assert Evaluation.from_values(result.qid, {"mrr": by_id.reindex(result.qid)}).mean() == result.mean()
    with pytest.raises(ValueError, match="begins with 0, 1, 2 for the queries 'a', 'b', 'c'"):
        Evaluation.from_values(["a", "b", "c"], {"mrr": by_id})
    with pytest.raises(ValueError, match="index of by must be qid"):
        Evaluation.from_values(["a", "b", "c"], {"mrr": [1, 0, 1]}, by=pd.Series([], dtype=object))


@pytest.mark.parametrize("unit", ["D", "s", "ns"])
def test_dates_are_ids(unit):
    pytest.importorskip("pandas")
    result = Evaluation.from_values(np.array(["2026-01-02", "2026-01-01"], f"M8[{unit}]"), {"mrr": [1, 0]})
    values = result.to_frame()["mrr"]
    assert result.subset(values == 1).mean() == {"mrr": 1}
    with pytest.raises(ValueError, match="index of the mask must be qid"):
        result.subset(values[::-1] == 1)


def test_a_subset_is_weighted_like_the_whole():
    result = Evaluation.from_values([7, 8, 9], {"mrr": [0.5, 1, 0], "map": [math.nan, 1, 0]}, weight=[3, 1, 4])
    assert result.subset([7, 8]).mean() == {"mrr": 0.625, "map": 1}
    assert result.subset([8, 9]).mean() == {"mrr": 0.2, "map": 0.2}


def test_weights_of_no_query():
    assert Evaluation.from_values([], {"a": []}, weight=[]).weight.tolist() == []
