"""Means and comparisons of results of Spark."""

import numpy as np
import pandas as pd
import pytest
from batch_cases import assert_same as assert_same_result
from spark_cases import NAN, in_one_order, make, table_of

from sklearn_rank import evaluate, evaluate_table, stats
from sklearn_rank.spark import evaluate as evaluate_on_spark
from sklearn_rank.spark import per_query

pa = pytest.importorskip("pyarrow")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

# --- means ---------------------------------------------------------------------------------------------------

AVERAGES = ["map", "gm_map", "p@5", *(f"{name}(average=micro)" for name in ("precision", "auc", "rmse", "f"))]


FLOOR = 1e-5
"""The least value in a geometric mean."""


def mean_in_sql(name, weight):
    """Expression of the mean of a metric in a table of `per_query`."""
    value, pooled = f"`{name}`", f"`{name}_parts`"
    if "micro" in name:
        ratio = f"sum({pooled}.numerator * {weight}) / sum({pooled}.denominator * {weight})"
        return f"sqrt({ratio})" if name.startswith("rmse") else ratio
    if name.startswith("gm_"):
        value = f"if({value} is null, null, ln(greatest({value}, {FLOOR}D)))"
        return f"exp(sum({value} * {weight}) / sum(if({value} is null, 0, {weight})))"
    return f"sum({value} * {weight}) / sum(if({value} is null, 0, {weight}))"


@pytest.mark.parametrize("weighted", [True, False])
def test_spark_means_in_sql(spark, tmp_path, weighted):
    """Of a table that was written, and of its rows in memory."""
    data = make(tied=True)
    data = data.with_label(data.qid < 20, 0.0)  # nothing relevant
    df = spark.createDataFrame(table_of(data, w=data.qid % 4 / 2))
    weight, name = ({"sample_weight": data.qid % 4 / 2}, {"sample_weight": "w"}) if weighted else ({}, {})
    keywords = {"metrics": AVERAGES, "replace_undefined_by": NAN}
    expected = evaluate(*data[:2], qid=data.qid, **keywords, **weight)
    path = str(tmp_path / "values")
    per_query(df, **keywords, **name).write.parquet(path)
    values = spark.read.parquet(path)
    means = values.selectExpr(*(mean_in_sql(name, "weight" if weighted else "1D") for name in AVERAGES)).first()
    assert [*means] == pytest.approx([*expected.mean().values()], rel=1e-12)
    undefined, defined = values.selectExpr("count_if(map is null)", "count(map)").first()
    assert undefined == expected.n_undefined["map"] > 0
    assert undefined + defined == len(expected.qid)


def test_columns_of_a_spark_table(spark):
    """Weights stay beside their values in a join; a pooled mean has its parts."""
    rows = [("a", 0, 2.0, 3.0), ("a", 1, 1.0, 3.0), ("b", 1, 2.0, 1.0)]
    df = spark.createDataFrame(rows, "qid string, label int, score double, w double")
    both = per_query(df, metrics="mrr").join(per_query(df, metrics="map", sample_weight="w"), "qid")
    means = both.selectExpr("avg(mrr)", "sum(map * weight) / sum(weight)").first()
    assert [*means] == [0.75, 0.625]
    assert both.columns == ["qid", "mrr", "map", "weight"]
    pooled = per_query(df, metrics="p(average=micro)@2")
    assert pooled.columns == ["qid", "p(average=micro)@2", "p(average=micro)@2_parts"]
    kind = "struct<numerator:double,denominator:double,defined:boolean>"
    assert dict(pooled.dtypes)["p(average=micro)@2_parts"] == kind


def test_chance_is_computed_on_the_workers(spark):
    data = in_one_order(make(tied=True))
    df = spark.createDataFrame(table_of(data))
    metrics = ["ndcg@5", "relevance_position", "precision(average=micro)@3", "rmse", "ndcg(adjusted=True)@5"]
    expected = evaluate(*data[:2], qid=data.qid, metrics=metrics, chance=True)
    result = evaluate_on_spark(df, metrics=metrics, chance=True)
    assert "chance" in str(result)
    assert result.mean() == pytest.approx(expected.mean(), rel=1e-12)
    for kind in ("chance", "best", "adjusted"):
        ours, here = getattr(result, kind)(), getattr(expected, kind)()
        assert ours.mean() == pytest.approx(here.mean(), rel=1e-12)
        assert ours.n_undefined == here.n_undefined
        assert ours.meaning == here.meaning
    with pytest.raises(ValueError, match="pass chance=True to the function that makes the result"):
        evaluate_on_spark(df, metrics="mrr").chance()


def test_a_spark_result_has_all_fields(spark):
    """Queries in the order of the ids; whether two have the same labels is known of it."""
    data = in_one_order(make(tied=True))
    metrics = [*AVERAGES, "rmse", "ndcg@10"]
    expected = evaluate(*data[:2], qid=data.qid, metrics=metrics)
    df = spark.createDataFrame(table_of(data)).repartition("qid")
    found = evaluate_on_spark(df, metrics=metrics, assume_grouped=True)
    assert_same_result(found, expected)
    assert stats.compare(found, expected, metric="map").difference == 0
    other = evaluate(np.minimum(data.y_true, 1), data.y_score, qid=data.qid, metrics=metrics)
    with pytest.raises(ValueError, match="judged by the same labels"):
        stats.compare(found, other, metric="map")


# --- comparison ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weighted", [False, True])
def test_spark_results_can_be_compared_with_arrays(spark, weighted):
    """By query, also if a system lacks some."""
    data = make(seed=3)
    weight = 1.0 + data.qid % 4
    keywords = {"metrics": ["map", "rmse"]}
    there, here = [], []
    for one in (data, data.with_score(data.y_score[::-1])):
        frame = spark.createDataFrame(table_of(one, w=weight))
        there.append(evaluate_on_spark(frame, **keywords, **({"sample_weight": "w"} if weighted else {})))
        here.append(evaluate(*one[:2], qid=one.qid, **keywords, **({"sample_weight": weight} if weighted else {})))
    for options in ({"metric": "map"}, {"metric": "rmse", "test": "randomization", "random_state": 0}):
        found, expected = stats.compare(*there, **options), stats.compare(*here, **options)
        for name in ("difference", "pvalue", "confidence_interval"):
            assert getattr(found, name) == pytest.approx(getattr(expected, name), rel=1e-9)
        assert (found.n_units, found.is_weighted) == (expected.n_units, weighted)
    few = evaluate_on_spark(spark.createDataFrame(table_of(data)).filter("qid > 5"), **keywords)
    with pytest.raises(ValueError, match=r"needs the same queries in all systems.*missing, the first"):
        stats.compare(few, evaluate(*data[:2], qid=data.qid, **keywords), metric="map")


@pytest.mark.parametrize("more", [[], ["map"]], ids=["alone", "with map"])
def test_gate_of_spark_leaves_out_what_arrays_leave_out(spark, more):
    """Queries without a relevant document, which values of these metrics do not tell from queries without success."""
    names = [
        "acg@3", "cg@3", "dcg@3", "err@3", "hit@2", "kendall", "opa", "pfound@3", "p@3", "pwa@3", "rbp@3", "set_f",
        "set_precision", "set_recall", "snips@3", "spearman", *more,
    ]  # fmt: skip
    rng = np.random.default_rng(5)
    qid = np.repeat(np.arange(60), 6)
    label = np.where((qid < 25) & (rng.random(360) < 0.4), 2.0, 0.0)
    label[:150:6] = 2
    of_spark, of_arrays = {}, {}
    for name in ("new", "old"):
        score = label + rng.normal(0, 2, 360)
        rows = [*zip(qid.tolist(), label.tolist(), score.tolist(), strict=True)]
        data = spark.createDataFrame(rows, "qid long, label double, score double")
        of_spark[name] = evaluate_on_spark(data, metrics=names)
        of_arrays[name] = evaluate(label, score, qid=qid, metrics=names)
    got, expected = (stats.no_worse(**results, margin=0.05) for results in (of_spark, of_arrays))
    assert got.decisions == expected.decisions
    assert [row[1] for row in got.table.rows] == [row[1] for row in expected.table.rows]
    assert str(got).splitlines()[-1] == str(expected).splitlines()[-1]
    for name in names:
        assert got.low[name] == pytest.approx(expected.low[name], rel=1e-9)
    np.testing.assert_array_equal(of_spark["new"].settled["p@3"], of_arrays["new"].settled["p@3"])


def test_queries_of_several_columns_and_their_attributes_on_spark(spark):
    """Numbers keep their type and order in tuples; a query without one of its ids is an error."""
    data = make()
    more = {"tenant": data.qid % 12, "query.id": np.char.add("q", data.qid.astype(str)), "country": data.qid % 3}
    rows = pd.DataFrame(table_of(data, **more).to_pandas()).sort_values(["tenant", "query.id"])
    options = {"qid": ["tenant", "query.id"], "by": ["country", "qid"], "clusters": "country", "metrics": "map"}
    df = spark.createDataFrame(table_of(data, **more))
    found, expected = evaluate_on_spark(df, **options), evaluate_table(rows, **options)
    assert found.qid.tolist() == expected.qid.tolist()
    assert found.mean() == pytest.approx(expected.mean())
    assert found.clusters.tolist() == expected.clusters.tolist()
    assert {name: one.tolist() for name, one in found.attributes.items()} == {
        name: one.tolist() for name, one in expected.attributes.items()
    }
    table = per_query(df, metrics="map", qid=["tenant", "query.id"])
    assert table.columns == ["tenant", "query.id", "map"]
    values = {(row[0], row[1]): row[2] for row in table.collect()}
    assert values == dict(zip(found.qid.tolist(), found.per_query["map"].tolist(), strict=True))
    with pytest.raises(TypeError, match=r"qid must have one of the types .*boolean, string.* Got the column 'score'"):
        evaluate_on_spark(df, qid=["tenant", "score"], y_score="qid")
    with pytest.raises(Exception, match="by.* is a property of whole queries"):
        evaluate_on_spark(df, by="label", metrics="map")
    missing = df.selectExpr("label", "score", "nullif(tenant, 3) as tenant", "qid")
    with pytest.raises(Exception, match="qid must not contain missing values"):
        evaluate_on_spark(missing, qid=["tenant", "qid"], metrics="map")
