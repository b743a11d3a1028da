"""Means and comparisons of results of Spark."""

import numpy as np
import pytest
from batch_cases import assert_same as assert_same_result
from spark_cases import NAN, in_one_order, make, table_of

from sklearn_rank import evaluate, stats
from sklearn_rank.spark import evaluate as evaluate_on_spark
from sklearn_rank.spark import mean, per_query

pa = pytest.importorskip("pyarrow")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

# --- means ---------------------------------------------------------------------------------------------------

AVERAGES = ["map", "gm_map", "p@5", *(f"{name}(average=micro)" for name in ("precision", "auc", "rmse", "f"))]


@pytest.mark.parametrize("weighted", [True, False])
def test_spark_means(spark, weighted):
    """Results of a table, and of its rows in memory."""
    data = make(tied=True)
    data = data.with_label(data.qid < 20, 0.0)  # nothing relevant
    df = spark.createDataFrame(table_of(data, w=data.qid % 4 / 2))
    weight, name = ({"sample_weight": data.qid % 4 / 2}, {"sample_weight": "w"}) if weighted else ({}, {})
    keywords = {"metrics": AVERAGES, "replace_undefined_by": NAN}
    result, expected = per_query(df, **keywords, **name), evaluate(*data[:2], qid=data.qid, **keywords, **weight)
    assert mean(result) == pytest.approx(expected.mean(), rel=1e-12)
    assert mean(df, **keywords, **name) == pytest.approx(expected.mean(), rel=1e-12)
    if not weighted:
        left_out = result.selectExpr("sum(if(map is null, 1, 0)) as n", "avg(map) as map").collect()[0]
        assert left_out.n == expected.n_undefined["map"] > 0
        assert left_out.map == pytest.approx(expected.mean()["map"], rel=1e-12)


def test_a_repeated_row_counts_as_often(spark):
    """It is another query to a mean."""
    df = spark.createDataFrame([("a", 0, 2.0), ("a", 1, 1.0), ("b", 1, 2.0)], "qid string, label int, score double")
    result = per_query(df, metrics="mrr")
    repeated = result.union(result.filter("qid = 'a'"))
    assert mean(result) == {"mrr": 0.75}
    assert mean(repeated) == {"mrr": pytest.approx(2 / 3)}


def test_spark_weights_are_kept_by_metric(spark):
    rows = [("a", 0, 2.0, 3.0), ("a", 1, 1.0, 3.0), ("b", 1, 2.0, 1.0)]
    df = spark.createDataFrame(rows, "qid string, label int, score double, w double")
    both = per_query(df, metrics="mrr").join(per_query(df, metrics="map", sample_weight="w"), "qid")
    assert mean(both) == {"mrr": 0.75, "map": 0.625}


def test_means_of_nothing_defined(spark):
    df = spark.createDataFrame([(0, 2.0, "a"), (0, 1.0, "b")], "label int, score double, qid string")
    metrics = ["map", "gm_map", "recall(average=micro)@3"]
    assert mean(per_query(df, metrics=metrics, replace_undefined_by=1)) == dict.fromkeys(metrics, 1.0)
    for name in metrics:
        with pytest.warns(UserWarning, match="is not defined for any query, so its mean is nan"):
            assert np.isnan(mean(per_query(df, metrics=name, replace_undefined_by=NAN))[name])


def test_spark_results_keep_their_metadata(spark, tmp_path):
    data = make()
    metrics = ["gm_map", "p(average=micro)@5"]
    df = spark.createDataFrame(table_of(data, w=data.qid % 3 + 1.0))
    result = per_query(df, metrics=metrics, sample_weight="w", replace_undefined_by=NAN)
    kept = data.qid < 30
    expected = evaluate(
        *data.rows(kept)[:2], qid=data.qid[kept], metrics=metrics, sample_weight=data.qid[kept] % 3 + 1.0,
        replace_undefined_by=NAN,
    ).mean()  # fmt: skip
    result.write.parquet(str(tmp_path / "result"))
    read = spark.read.parquet(str(tmp_path / "result"))
    names = spark.range(30).selectExpr("id as query", "concat('query ', id) as name")
    renamed = result.withColumnRenamed("gm_map", "ours").withColumnRenamed("qid", "query")
    assert [*mean(renamed.join(names, "query").orderBy("name")).values()] == pytest.approx(
        [*expected.values()], rel=1e-12
    )
    assert mean(read.filter("qid < 30")) == pytest.approx(expected, rel=1e-12)
    for wrong, message in [
        (
            df,
            r"needs either rows with metrics=, or a table from per_query.*Got columns 'label', 'score', 'qid', 'w'",
        ),
        (result.drop("qid"), "a table from per_query"),
        (result.drop("weight"), "its weights if it has any"),
        (result.select("qid", "weight"), "a table from per_query"),
        (result.join(result, "qid"), "metrics with different names"),
        (result.drop("p(average=micro)@5_parts"), r"the column 'p\(average=micro\)@5_parts'. Got a table without"),
    ]:
        with pytest.raises(ValueError, match=message):
            mean(wrong)


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


def test_a_table_takes_no_options_of_rows(spark):
    table = per_query(spark.createDataFrame(table_of(make())), metrics="map")
    for options in ({"gain": "linear"}, {"sample_weight": "w"}, {"assume_grouped": True}):
        with pytest.raises(TypeError, match=rf"Without metrics=, mean accepts a table .*Got {next(iter(options))}="):
            mean(table, **options)


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
