"""`compare_systems` of tables and of runs: the same data say the same through every door."""

import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank import compare_systems, evaluate_run, evaluate_table
from sklearn_rank.results import Comparison

METRICS = ["ndcg@5", "map"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    label, qid = rng.integers(0, 3, 300), np.repeat(np.arange(30), 10)
    scores = {"old": rng.random(300), "new": rng.random(300) + 0.4 * label}
    documents = [f"d{i}" for i in range(300)]
    country = np.where(qid % 2, "de", "fr")
    return pd.DataFrame({"qid": qid, "label": label, **scores, "country": country, "user": qid // 3, "doc": documents})


@pytest.fixture(scope="module")
def runs(table):
    """Judgments, and the runs of both systems."""
    queries = dict(tuple(table.groupby("qid", sort=False)))
    judgments = {q: dict(zip(rows.doc, rows.label.tolist(), strict=True)) for q, rows in queries.items()}
    return judgments, {
        name: {q: dict(zip(rows.doc, rows[name].tolist(), strict=True)) for q, rows in queries.items()}
        for name in ("old", "new")
    }


@pytest.fixture(scope="module")
def expected(table):
    scores = {name: table[name].to_numpy() for name in ("old", "new")}
    return compare_systems(table["label"].to_numpy(), scores, qid=table["qid"].to_numpy(), metrics=METRICS)


def assert_same(found, expected):
    assert found.summary() == expected.summary()
    for name, result in expected.results.items():
        assert found.results[name].qid.tolist() == result.qid.tolist()
        for metric, values in result.per_query.items():
            assert_array_equal(found.results[name].per_query[metric], values)


# --- tables --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [lambda table: table, lambda table: table.set_index("qid"), lambda table: pl.from_pandas(table).lazy(), pa.table],
    ids=["pandas", "index", "polars plan", "Arrow"],
)
def test_columns_of_any_table(make, table, expected, tmp_path):
    found = compare_systems(make(table), ["old", "new"], metrics=METRICS)
    assert_same(found, expected)
    assert_array_equal(found.y_score["new"], table["new"])
    found.save(tmp_path / "report.npz")
    assert repr(Comparison.load(tmp_path / "report.npz")) == repr(found)


def test_ways_to_name_columns(table, expected):
    assert_same(compare_systems(table, y_score=("old", "new"), metrics=METRICS), expected)
    assert_same(compare_systems(table, {"old": "old", "new": "new"}, metrics=METRICS), expected)
    other = table.rename(columns={"label": "grade", "qid": "query"})
    assert_same(compare_systems(other, ["old", "new"], y_true="grade", qid="query", metrics=METRICS), expected)
    assert [*compare_systems(table, {"BM25": "old"}).results] == ["BM25"]
    assert [*compare_systems(table, "new").results] == ["new"]


def test_other_columns(table):
    weighted = table.assign(weight=table["qid"] + 1.0)
    common = {"by": "country", "clusters": "user", "sample_weight": "weight", "gain": "linear", "metrics": METRICS}
    found = compare_systems(weighted, ["old", "new"], **common).results["new"]
    alone = evaluate_table(weighted, y_score="new", **common)
    assert found.mean() == alone.mean()
    assert_array_equal(found.weight, alone.weight)
    assert_array_equal(found.clusters, alone.clusters)
    assert_array_equal(found.attributes["country"], alone.attributes["country"])


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"y_score": ["old", "neww"]}, ValueError, "Got no 'neww' among"),
        ({"y_score": ["old", "old"]}, ValueError, "Each system needs its own column. Got 'old' twice"),
        ({"y_score": {"a": "old", "b": "old"}}, ValueError, "Each system needs its own column. Got 'old' twice"),
        ({"y_score": ["old", "label"]}, ValueError, "Got 'label' as y_true and as y_score"),
        ({"y_score": ["old", "country"]}, TypeError, r"column 'country' must hold real numbers.*The columns are"),
        ({"qid": "query"}, ValueError, "Got no 'query' among .* Did you mean qid='qid'"),
        ({"qid": np.arange(300)}, TypeError, "A column is named by a str"),
        ({"mask": np.ones(300, dtype=bool)}, TypeError, "mask= is not supported for tables"),
        ({"baseline": "odl"}, ValueError, "Did you mean 'old'"),
        ({"data": np.arange(300)}, TypeError, "data must be a frame"),
        ({"y_score": None}, TypeError, r"columns of scores, compare_systems\(data, \['bm25', 'lgbm'\]\)"),
        ({"y_score": {"a": np.arange(300)}}, TypeError, "With a table, y_score names the columns"),
        ({"y_score": {"a": np.arange(300)}, "y_true": "label"}, TypeError, "With a table, y_score names the columns"),
        ({"y_score": {"a": np.arange(300), "b": "new"}}, TypeError, "With a table, y_score names the columns"),
    ],
)  # fmt: skip
def test_compare_systems_column_errors(table, change, kind, message):
    arguments = {"data": table, "y_score": ["old", "new"], "metrics": "map"} | change
    with pytest.raises(kind, match=message):
        compare_systems(arguments.pop("data"), arguments.pop("y_score"), **arguments)


def test_a_name_of_a_system_is_not_taken_for_another():
    """The name "score" is usual for scores, but "lgmb" is unknown."""
    table = {"qid": [1, 1], "label": [0, 1], "score": [1, 2], "bm25": [1, 2], "lgbm": [1, 2]}
    with pytest.raises(ValueError, match="Got no 'lgmb' among .*'lgbm'.$"):
        compare_systems(table, ["bm25", "lgmb"])


# --- runs ----------------------------------------------------------------------------------------------------


def test_compare_systems_with_runs(runs, expected, tmp_path):
    judgments, systems = runs
    found = compare_systems(judgments, systems, metrics=METRICS)
    assert_same(found, expected)
    assert found.y_score == {}
    found.save(tmp_path / "report.npz")
    assert repr(Comparison.load(tmp_path / "report.npz")) == repr(found)


def test_keywords_of_runs(runs):
    judgments, systems = runs
    common = {
        "metrics": "ndcg@5", "gain": "linear", "exclude": {0: ["d1", "d2"]}, "unjudged": "drop",
        "by": {"half": {q: q > 14 for q in judgments}}, "clusters": {q: q // 3 for q in judgments},
    }  # fmt: skip
    found = compare_systems(judgments, systems, **common)
    for name, run in systems.items():
        alone = evaluate_run(judgments, run, **common)
        assert found.results[name].mean() == alone.mean()
        assert_array_equal(found.results[name].clusters, alone.clusters)
        assert_array_equal(found.results[name].attributes["half"], alone.attributes["half"])


def test_queries_that_a_run_lacks(runs):
    judgments, systems = runs
    less = systems | {"new": {q: documents for q, documents in systems["new"].items() if q != 7}}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = compare_systems(judgments, less, metrics="map")
    assert [str(w.message).endswith("This is about the system 'new'.") for w in told] == [True]
    assert told[0].filename == __file__
    assert found.results["new"].per_query["map"][7] == 0
    assert compare_systems(judgments, less, metrics="map", missing_from_run="zero").summary() == found.summary()
    strange = systems | {"new": {q: {f"x{d}": 1.0 for d in documents} for q, documents in less["new"].items()}}
    with (
        pytest.warns(UserWarning, match="do not have the same queries.* about the system 'new'"),
        pytest.warns(UserWarning, match="No document of the run is judged.* about the system 'new'"),
    ):
        compare_systems(judgments, strange, metrics="map")
    with pytest.raises(ValueError, match="same queries.* Got 1 query that 'new' lacks, .* 7, which 'old'"):
        compare_systems(judgments, less, metrics="map", missing_from_run="drop")


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        (lambda j, s: ((j, s["new"]), {}), TypeError, "must be a str, as in {'bm25': scores or run}. Got 0"),
        (
            lambda j, s: ((j, {str(q): run for q, run in s["new"].items()}), {}),
            TypeError,
            r"runs by the name of the system, {'bm25': run}.* Got a single run",
        ),
        (lambda j, s: ((j, {"q": ["a", "b"]}), {}), TypeError, "by the name of the system.*Got a single run"),
        (lambda j, s: ((j, [*s.values()]), {}), TypeError, "judgments and a dict of runs"),
        (lambda j, s: ((j, s), {"qid": [1, 2]}), TypeError, "their keys are the queries. Got qid="),
        (lambda j, s: ((np.arange(3), s), {}), TypeError, "Judgments must be one of .* about the system 'old'"),
        (lambda j, s: ((j, s), {"missing": 1}), TypeError, "compare_systems has no keyword 'missing'"),
        (
            lambda j, s: ((j, s | {"new": {0: ["a", "a"]}}), {"missing_from_run": "zero"}),
            ValueError,
            "Got document 'a' 2 times for query 0 of the run. This is about the system 'new'",
        ),
    ],
)  # fmt: skip
def test_compare_systems_run_errors(runs, change, kind, message):
    arguments, keywords = change(*runs)
    with pytest.raises(kind, match=message):
        compare_systems(*arguments, **({"metrics": "map"} | keywords))


def test_the_first_query_of_a_run_may_be_empty():
    report = compare_systems({"q": {"a"}, "r": {"a"}}, {"bm25": {"q": [], "r": ["a"]}}, metrics="mrr")
    assert report.results["bm25"].mean() == {"mrr": 0.5}
