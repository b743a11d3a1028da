"""Attributes of queries, and results by segment."""

import datetime as dt

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from sklearn_rank import evaluate
from sklearn_rank.results import Evaluation

Y, S, QID = [0, 1, 1, 0, 0, 1], [2, 1, 2, 1, 1, 1], ["a", "b", "a", "b", "c", "c"]
COUNTRY = ["de", "fr", "de", "fr", "de", "de"]


def result(**given):
    return evaluate(Y, S, qid=QID, metrics="mrr", **given)


KINDS = {
    "list": list,
    "array": np.array,
    "objects": lambda x: np.array(x, dtype=object),
    "Series": lambda x: pd.Series(x),
    "categorical": lambda x: pd.Series(x, dtype="category"),
    "nullable": lambda x: pd.Series(x, dtype="string"),
    "queries": lambda x: dict(zip(QID, x, strict=True)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_values_of_any_container(kind):
    given = KINDS[kind](COUNTRY)
    got = result(by=given, clusters=given)
    assert got.attributes["by"].tolist() == got.clusters.tolist() == ["de", "fr", "de"]


@pytest.mark.parametrize("values", [[1, 2, 1, 2, 3, 3], [True, False, True, False, True, True], [0.5, 1, 0.5, 1, 2, 2]])
def test_values_of_any_type(values):
    assert result(by=values).attributes["by"].tolist() == [values[0], values[1], values[4]]


def test_several_attributes_by_name():
    hour = [1, 2, 1, 2, 2, 2]
    frame = pd.DataFrame({"country": COUNTRY, "hour": hour})
    queries = {"country": {"a": "de", "b": "fr", "c": "de", "other": "it"}, "hour": hour}
    for by in (frame, frame.to_dict("list"), queries):
        attributes = result(by=by).attributes
        assert {name: values.tolist() for name, values in attributes.items()} == {
            "country": ["de", "fr", "de"],
            "hour": [1, 2, 2],
        }
    assert list(result(by=frame["country"]).attributes) == ["country"]


def test_an_attribute_has_an_entry_per_row():
    for matrix in (np.array, csr_array):
        got = evaluate(
            matrix([[0, 1], [1, 0]]), np.array([[2, 1], [2, 1]]), metrics="mrr", by=["x", "y"], clusters=[1, 1]
        )
        assert (got.attributes["by"].tolist(), got.clusters.tolist()) == (["x", "y"], [1, 1])


@pytest.mark.parametrize(
    ("by", "message"),
    [
        (
            ["de", "fr", "fr", "fr", "de", "de"],
            "by is a property.*constant within each. Got 'de' and 'fr' in query 'a'",
        ),
        (pd.Categorical(["de", "fr", "de", "it", "de", "de"]), "Got 'fr' and 'it' in query 'b'"),
        ([1, 2, 1, 2, 3, 4], "Got 3 and 4 in query 'c'"),
        (["de", "fr", "de", "fr", None, None], "by must not have missing values"),
        (pd.Series([1, 2, 1, 2, 1, None], dtype="Int64"), "by must not have missing values"),
        ([1.0, 2.0, 1.0, 2.0, np.nan, np.nan], "by must not have missing values"),
        (["de", "fr", "de"], r"one entry per row, 6. Got shape \(3,\).*dict from queries to values"),
        ("country", "column of values; evaluate_table takes the name of one. Got 'country'"),
        ({"country": "country"}, "Got no entry for query 'a'"),
        ({"a": "de", "b": "fr"}, "Got no entry for query 'c'"),
        ({"hour": [1, 2, 1, 3, 1, 1]}, r"by\['hour'\] is a property.*Got 2 and 3 in query 'b'"),
        ([["de"]] * 6, "values that can be hashed"),
    ],
)
def test_segments_errors(by, message):
    with pytest.raises(ValueError, match=message):
        result(by=by)


def test_attributes_need_matching_row_labels():
    y_true = pd.Series(Y)
    moved = pd.Series(COUNTRY, index=range(1, 7))
    for given in ({"by": moved}, {"by": {"country": moved}}, {"clusters": moved}):
        for rows in ((y_true, S, QID), (Y, pd.Series(S), QID), (Y, S, pd.Series(QID))):
            with pytest.raises(ValueError, match="must have the same index"):
                evaluate(*rows[:2], qid=rows[2], metrics="mrr", **given)


def test_names_are_text():
    with pytest.raises(TypeError, match="names that are str. Got 0"):
        result(by=pd.DataFrame({0: COUNTRY}))


def test_an_attribute_that_varies_is_found_in_every_block():
    n = 100_000
    qid = np.repeat(np.arange(n // 4), 4)
    by = qid % 3
    by[-1] += 1
    with pytest.raises(ValueError, match=f"in query {n // 4 - 1}"):
        evaluate(np.ones(n), np.arange(n), qid=qid, metrics="mrr", by=by)


def test_from_values_takes_them_per_query():
    values = {"mrr": [0.5, 1.0, 0.0]}
    got = Evaluation.from_values(["a", "b", "c"], values, by={"country": ["de", "fr", "de"]}, clusters=[1, 1, 2])
    assert (got.attributes["country"].tolist(), got.clusters.tolist()) == (["de", "fr", "de"], [1, 1, 2])
    named = pd.Series(["de", "fr", "de"], index=["a", "b", "c"], name="country")
    assert list(Evaluation.from_values(["a", "b", "c"], values, by=named).attributes) == ["country"]
    with pytest.raises(ValueError, match="index of country must be qid"):
        Evaluation.from_values(["b", "a", "c"], values, by=named)
    with pytest.raises(ValueError, match=r"one entry per query, 3. Got shape \(2,\)"):
        Evaluation.from_values(["a", "b", "c"], values, clusters=[1, 2])


def test_segments_are_in_the_order_of_their_categories_and_ids():
    """An ordered category may have no query, and parts of ids may not compare."""
    size = pd.Categorical([*"LLHHLL"], categories=[*"LMH"], ordered=True)
    early, late = ("a", dt.date(2020, 1, 1)), ("a", dt.datetime(2020, 1, 2))
    for given, expected in ((size, ["L", "H"]), ([early, early, late, late, early, early], [early, late])):
        found = evaluate([1, 0] * 3, [2, 1, 1, 2, 1, 2], qid=[0, 0, 1, 1, 2, 2], metrics="mrr", by={"of": given})
        assert [row[0] for row in found.segments("of").table.rows[:2]] == expected
