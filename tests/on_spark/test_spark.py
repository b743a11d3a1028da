"""Spark equals `evaluate` on the same rows, and no row is lost on the way."""

import datetime
import decimal
import doctest
import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from registry import METRICS, each_kind_of_data, rough_data_for, tie_policy
from spark_cases import NAMES, NAN, assert_same, collected, in_one_order, make, table_of

import sklearn_rank.spark
from sklearn_rank import evaluate, parse_metric
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._tables.column_arguments import ColumnNames
from sklearn_rank.spark import evaluate as evaluate_on_spark
from sklearn_rank.spark import per_query
from sklearn_rank.spark._evaluate import Shipped
from sklearn_rank.spark._worker import column_name, evaluate_partition

pa = pytest.importorskip("pyarrow")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

COLUMNS = ColumnNames("label", "score", "qid")

# --- the same values -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("keywords", [{}, {"unjudged": "nonrelevant"}, {"unjudged": "drop"}], ids=str)
def test_the_order_that_a_worker_takes(keywords):
    """Also of documents that are not judged or not retrieved."""
    data = make(tied=True)
    rng = np.random.default_rng(5)
    data = data.with_score(np.where(rng.random(len(data.qid)) < 0.2, -np.inf, data.y_score))
    if keywords:
        data = data.with_label(rng.random(len(data.qid)) < 0.2, NAN)
    metrics = ["ndcg@10", "map", "err", "auc", "bpref", lambda y, s: float(np.nansum(y / np.arange(1, len(y) + 1)))]
    specs = parse_metrics(metrics, **keywords)
    ordered = in_one_order(data)
    expected = evaluate(*ordered[:2], qid=ordered.qid, metrics=metrics, **keywords)
    shuffled = data.rows(rng.permutation(len(data.qid)))
    by_query = table_of(shuffled.rows(np.argsort(shuffled.qid, kind="stable")))
    found = pa.Table.from_batches(evaluate_partition(iter(by_query.to_batches(7)), COLUMNS, specs))
    for name, values in expected.per_query.items():
        np.testing.assert_array_equal(found[name].to_numpy(), values)


@pytest.mark.parametrize("ties", ["average", "worst", "best"])
def test_spark_averages_documents_that_were_not_retrieved(spark, ties):
    """a is before c and d, c is before b, and b before d in half of the orders: 2.5 of 4 pairs."""
    rows = [("a", 1, 2.0), ("b", 1, -np.inf), ("c", 0, 1.0), ("d", 0, -np.inf)]
    df = spark.createDataFrame([(label, score, "q") for _, label, score in rows], "label int, score double, qid string")
    assert evaluate_on_spark(df, metrics=["auc", "opa"], ties=ties).mean() == {"auc": 0.625, "opa": 0.625}


def test_same_bits_each_time(spark):
    df = spark.createDataFrame(table_of(make(tied=True)))
    runs = [per_query(df.orderBy("label", "score", ascending=up), metrics=NAMES) for up in (True, False)]
    assert collected(runs[0]) == collected(runs[1])


@each_kind_of_data
def test_every_metric_on_spark(spark, metrics):
    specs = [parse_metric(m.name, **({"k": 5} if m.has_cutoff else {}), **tie_policy(m)) for m in metrics]
    table, data = table_of(rough_data_for(metrics[0])), in_one_order(rough_data_for(metrics[0]))
    y_true = [name for name in table.column_names if name.startswith("label")]
    result = per_query(spark.createDataFrame(table), metrics=specs, y_true=y_true if len(y_true) > 1 else "label")
    assert_same(result, evaluate(*data[:2], qid=data.qid, metrics=specs))


def test_zeros_of_both_signs_are_one_query_on_spark(spark):
    rows = spark.createDataFrame([(1, 1.0, 0.0), (0, 2.0, -0.0)], "label int, score double, qid double")
    assert collected(per_query(rows, metrics="mrr")) == [{"qid": 0.0, "mrr": 0.5}]


TYPES = {
    "boolean": lambda i: i > 20,
    "tinyint": lambda i: i - 20,
    "decimal(20,2)": lambda i: decimal.Decimal(i * 10**10) / 4,
    "float": lambda i: i / 4,
    "string": lambda i: f"q{i * i}\0" if i % 9 == 0 else f"q{i}",
    "binary": lambda i: b"%d\0" % i,
    "date": lambda i: datetime.date(2020, 1, 1 + i % 28),
    "timestamp": lambda i: datetime.datetime(2020, 1, 1, i % 24, tzinfo=datetime.UTC),
    "timestamp_ntz": lambda i: datetime.datetime(2020, 1, 1, i % 24, 0, 0, 7),
}


@pytest.mark.parametrize("kind", TYPES)
def test_spark_ids(spark, kind):
    """Integers and doubles are ids of other tests."""
    data = make()
    ids = [TYPES[kind](i) for i in data.qid.tolist()]
    rows = list(zip(data.y_true.tolist(), data.y_score.tolist(), ids, strict=True))
    result = per_query(spark.createDataFrame(rows, f"label double, score double, qid {kind}"), metrics="map")
    assert result.schema["qid"].dataType.simpleString() == kind
    number = {q: i for i, q in enumerate(dict.fromkeys(ids))}
    expected = evaluate(*data[:2], qid=[number[q] for q in ids], metrics="map").per_query["map"]
    found = result.toArrow()
    ids_found = [bytes(q) if kind == "binary" else q for q in found["qid"].to_pylist()]
    assert len(ids_found) == len(number)
    for q, value in zip(ids_found, found["map"].to_pylist(), strict=True):
        assert value == expected[number[q]]


def test_types_of_numbers(spark):
    rows = [(True, decimal.Decimal("2.50"), None, 1, "a", 3), (False, decimal.Decimal("1.25"), None, 1, "a", 3)]
    kinds = "hit boolean, score decimal(5,2), nothing void, w tinyint, qid string, long bigint"
    df = spark.createDataFrame(rows, kinds)
    found = per_query(df, metrics=["map", "mae"], y_true="hit", sample_weight="w")
    assert collected(found) == [{"qid": "a", "map": 1.0, "mae": 1.375, "weight": 1.0}]
    judged = per_query(df, metrics="judged@1", y_true="nothing", y_score="long")
    assert collected(judged) == [{"qid": "a", "judged@1": 0.0}]


def test_batches_cut_queries(spark):
    data = in_one_order(make(tied=True))
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 3)
    try:
        result = per_query(spark.createDataFrame(table_of(data)), metrics=NAMES)
        assert_same(result, evaluate(*data[:2], qid=data.qid, metrics=NAMES))
    finally:
        spark.conf.unset("spark.sql.execution.arrow.maxRecordsPerBatch")


def test_more_rows_than_a_spark_worker_buffers(spark):
    rows = spark.range(700_000).selectExpr("id % 9 as label", "hash(id) as score", "-(id div 7) as qid")
    result = per_query(rows.coalesce(1), metrics=["mae", "mrr"], assume_grouped=True)
    data = rows.toArrow()
    expected = evaluate(data["label"], data["score"], qid=data["qid"], metrics=["mae", "mrr"])
    found = result.toArrow().sort_by("qid")
    order = np.argsort(expected.qid)
    assert found["qid"].to_pylist() == expected.qid[order].tolist()
    assert found["mrr"].to_pylist() == expected.per_query["mrr"][order].tolist()
    np.testing.assert_allclose(found["mae"], expected.per_query["mae"][order], rtol=1e-12)


def test_spark_own_functions(spark):
    """A plain function gets rows by descending score, and equal scores by ascending label."""
    rows = spark.createDataFrame([(1, 1.0, 7), (3, 2.0, 7), (2, 2.0, 7)], "label int, score double, qid int")
    first = lambda y, s: y[0] * 100 + y[1] * 10 + y[2]  # noqa: E731
    assert collected(per_query(rows, metrics={"digits": first})) == [{"qid": 7, "digits": 231.0}]


def first_label(marker=None):
    """A metric that kills its worker, once if there is a file to mark it, or each time."""

    def best(y, s):
        if marker is not None and not os.path.exists(marker):
            if marker != "always":
                open(marker, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        return float(y[np.argmax(s)])

    return {"best": best, "map": "map"}


ASKED = {
    "evaluate": lambda data, metrics: (
        evaluate_on_spark(data, metrics=metrics).to_frame().sort_index().to_numpy().tolist()
    ),
    "per_query": lambda data, metrics: collected(per_query(data, metrics=metrics)),
}


@pytest.mark.parametrize("ask", ASKED)
def test_a_killed_worker_is_replaced(spark, tmp_path, ask):
    """The task is tried again, and the values are the same; a task that kills its worker each time is an error."""
    data, marker = spark.createDataFrame(table_of(in_one_order(make()))), str(tmp_path / "killed")
    found = ASKED[ask](data, first_label(marker))
    assert os.path.exists(marker)
    assert found == ASKED[ask](data, first_label())
    if ask == "evaluate":
        with pytest.raises(Exception, match="Python worker exited unexpectedly"):
            evaluate_on_spark(data, metrics=first_label("always"))


def test_an_interrupted_call_ends(spark, tmp_path):
    """SIGINT during a task of a worker: the jobs end, with or without an error, and the session survives."""
    from py4j.protocol import Py4JJavaError

    data, marker = spark.createDataFrame(table_of(in_one_order(make(n_queries=4)))), tmp_path / "works"

    def slow(y, s):
        marker.touch()
        time.sleep(60)

    def interrupt():
        while not marker.exists():
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises((KeyboardInterrupt, Py4JJavaError)) as raised:
        evaluate_on_spark(data, metrics=slow)
    thread.join()
    error = raised.value
    while not isinstance(error, KeyboardInterrupt):
        error = error.__context__
    assert [*spark.sparkContext.statusTracker().getActiveJobsIds()] == []
    assert len(evaluate_on_spark(data, metrics="map").qid) == 4


def test_partitions_without_rows(spark):
    data = in_one_order(make(n_queries=3))
    df = spark.createDataFrame(table_of(data)).repartition(7)
    assert_same(per_query(df, metrics=NAMES), evaluate(*data[:2], qid=data.qid, metrics=NAMES))
    nothing = df.filter("qid < 0")
    assert per_query(nothing, metrics=NAMES).count() == 0
    with pytest.raises(ValueError, match="At least one row is needed. Got a Spark DataFrame without rows"):
        evaluate_on_spark(nothing, metrics=NAMES)


# --- names ---------------------------------------------------------------------------------------------------


def test_names_of_columns(spark):
    """Dots, backticks, names that differ in case, and duplicate names that are not used."""
    data = make(n_queries=5)
    table = table_of(data, x=data.qid, y=data.qid, z=data.qid, w=data.qid)
    df = spark.createDataFrame(table).toDF("a.b", "QID", "q id`", "Score", "x", "x", "score")
    columns = {"y_true": "a.b", "y_score": "QID", "qid": "q id`"}
    metrics = {"ndcg.10": "ndcg@10", "a `b`": "map", "ndcg(gain=linear)@3": "ndcg(gain=linear)@3"}
    result = per_query(df, metrics=metrics, **columns)
    assert result.columns == ["qid", "ndcg_10", "a _b_", "ndcg(gain=linear)@3"]
    expected = evaluate(*data[:2], qid=data.qid, metrics=metrics)
    assert_same(result, expected)
    linear = result.selectExpr("avg(`ndcg(gain=linear)@3`)").first()[0]
    assert linear == pytest.approx(expected.mean()["ndcg(gain=linear)@3"])
    with pytest.raises(ValueError, match=r"data must have each of the columns once.*Got 2 'x' among"):
        per_query(df, metrics="map", **columns | {"qid": "x"})
    with pytest.raises(ValueError, match=r"Got no 'qid' among 'a.b', 'QID'"):
        per_query(df, metrics="map", **columns | {"qid": "qid"})


def test_names_that_spark_can_use(spark, tmp_path):
    """For keywords with dots: names of plain columns and files."""
    data = make(n_queries=5)
    metrics = ["map", "ndcg@10", "rbp(p=0.9)", "rbp(p=0.8)@10", "P(average=micro, min_relevance=1.5)@3"]
    result = per_query(spark.createDataFrame(table_of(data)), metrics=metrics, ties="worst").cache()
    names = result.columns
    assert "rbp(p=0_9)" in names
    assert not [name for name in names if set(name) & {".", "`"}]
    rows = collected(result)
    assert collected(result.select(*names)) == rows
    assert collected(result.mapInArrow(lambda batches: batches, result.schema)) == rows
    assert result.groupBy("rbp(p=0_9)").count().agg({"count": "sum"}).first()[0] == 5
    expected = evaluate(*data[:2], qid=data.qid, metrics=metrics, ties="worst").mean()
    assert result.agg({"rbp(p=0_8)@10": "avg"}).first()[0] == pytest.approx(expected["rbp(p=0.8)@10"], rel=1e-12)
    path = str(tmp_path / "result.parquet")
    result.write.parquet(path)
    assert collected(spark.read.parquet(path)) == rows


def test_names_of_metrics_are_plain():
    assert not [m.name for m in METRICS if column_name(m.name) != m.name]


# --- wrong input ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"metrics": []}, ValueError, "At least one metric is needed"),
        ({"metrics": "nothing"}, ValueError, "must be one of get_metric_names"),
        ({"metrics": "map", "gain": "exp"}, TypeError, "No metric of map has a keyword 'gain'"),
        ({"metrics": ["map", "ndcg"], "ties": "stable"}, ValueError, r"which Spark does not have.*Got it for 'map'"),
        ({"metrics": "p@3", "convention": "lightgbm"}, ValueError, "also if a convention sets ties='stable'"),
        ({"metrics": ["map", "MAP"]}, ValueError, r"names that differ in more than case.*Got 'map' twice"),
        ({"metrics": {"a.b": "map", "a_b": "mrr"}}, ValueError, "than case, dots and backticks.*Got 'a_b' twice"),
        ({"metrics": {"qid": "map"}}, ValueError, "Got 'qid' twice"),
        ({"metrics": "map", "y_true": "grade"}, ValueError, r"y_true='grade'.*Got no 'grade' among 'label', 'score'"),
        ({"metrics": "map", "y_score": 3}, TypeError, "A column is named by a str.*Got 3"),
        ({"metrics": "map", "y_true": "text"}, TypeError, "y_true must hold .* Got the column 'text' of type string"),
        ({"metrics": "map", "y_score": "list"}, TypeError, "y_score must .* Got the column 'list' of type array<int>"),
        ({"metrics": "alpha_ndcg", "y_true": ["label", "text"]}, TypeError, "y_true must .* Got the column 'text'"),
        ({"metrics": "map", "sample_weight": "text"}, TypeError, "sample_weight must hold .* Got the column 'text'"),
        ({"metrics": "map", "qid": "list"}, TypeError, r"qid must have one of .*Got the column 'list' of type array"),
        ({"metrics": "map", "qid": "folded"}, TypeError, r"Got the column 'folded' of type string collate UTF8_LCASE"),
    ],
)  # fmt: skip
def test_spark_errors(spark, keywords, error, message):
    kinds = "label int, score double, qid int, text string, list array<int>, folded string collate UTF8_LCASE"
    df = spark.createDataFrame([], kinds)
    about_columns = "twice" in message  # of the lazy table
    for ask in (per_query,) if about_columns else (per_query, evaluate_on_spark):
        with pytest.raises(error, match=message):
            ask(df, **keywords)


def test_other_frames(spark):
    for name, function in [
        ("data", lambda x: evaluate_on_spark(x, metrics="map")),
        ("data", lambda x: per_query(x, metrics="map")),
    ]:
        message = rf"{name} must be a Spark DataFrame; for data in memory use sklearn_rank.evaluate. Got Table instead"
        with pytest.raises(TypeError, match=message):
            function(table_of(make()))


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("qid", None, r"qid must not contain missing values.*Rows belong to query None, in no order"),
        ("qid", NAN, r"qid must not contain missing values.*Rows belong to query nan"),
        ("score", None, r"y_score must not contain NaN or \+inf .*Got nan in row \d+. Rows belong to query 7.0"),
        ("score", NAN, r"y_score must not contain NaN .*Rows belong to query 7.0"),
        ("score", float("inf"), r"Got inf in row \d+. Rows belong to query 7.0"),
        ("label", None, r"y_true of map_score must not contain NaN .* says how to read it.*query 7.0"),
        ("label", float("inf"), r"y_true must be finite. Got an infinite label in row \d+. .*query 7.0"),
        ("label", 5.0, r"y_true of err_score must not be above max_grade=4. Got 5.*query 7.0"),
        ("weight", None, r"sample_weight must be finite, not negative .*query 7.0"),
        ("weight", -1.0, r"sample_weight must be finite, not negative .*query 7.0"),
        ("weight", 2.0, r"sample_weight .* constant within each. Got \d and \d in query 7.0"),
    ],
)
@pytest.mark.parametrize("size", [1, 1000])
def test_wrong_rows(column, value, message, size):
    """Errors of a worker have the text of `evaluate` and the query."""
    rows = wrong_rows(column, value).sort_by("qid").combine_chunks()
    batches = iter([*rows[:0].to_batches(), *rows.to_batches(max_chunksize=size)])
    names = ColumnNames("label", "score", "qid", "weight")
    with pytest.raises(ValueError, match=message):
        [*evaluate_partition(batches, names, parse_metrics(["map", "err"]))]


def wrong_rows(column, value):
    rows = [{"label": i % 2.0, "score": i / 7, "qid": i // 9 + 0.0, "weight": 1.0} for i in range(90)]
    rows[66][column] = value
    return pa.Table.from_pylist(rows)


def test_spark_worker_errors_are_readable(spark):
    from pyspark.errors import PySparkException

    result = per_query(spark.createDataFrame(wrong_rows("score", None)), metrics=["map", "err"])
    with pytest.raises(PySparkException, match=r"\nValueError: y_score must not contain NaN .* query 7.0, in no order"):
        result.collect()


def test_all_weights_are_zero(spark):
    df = spark.createDataFrame([(1, 2.0, "a", 0.0)], "label int, score double, qid string, w double")
    with pytest.raises(ValueError, match=r"not all zero. Got values from 0.0 to 0.0"):
        evaluate_on_spark(df, metrics="map", sample_weight="w")


def test_a_query_in_two_partitions_is_found(spark):
    df = spark.createDataFrame(table_of(make(n_queries=5))).repartition(2)
    with pytest.raises(ValueError, match=r"must be in the same partition; without it.*Got query \d in two partitions"):
        evaluate_on_spark(df, metrics="map", assume_grouped=True)


def test_spark_scores_beyond_float_precision(spark):
    """Integers and decimals stay different; values with few digits are accepted."""
    from pyspark.errors import PySparkException

    rows = [(1, 2**60 + 2, decimal.Decimal("0.20"), "a"), (0, 2**60 + 1, decimal.Decimal("0.10"), "a")]
    df = spark.createDataFrame(rows, "label int, long bigint, money decimal(30,2), qid string")
    assert collected(per_query(df, metrics="mrr", y_score="money")) == [{"qid": "a", "mrr": 1.0}]
    finer = df.selectExpr("label", "cast('0.1234567890123456789' as decimal(30,23)) as score", "qid")
    words = "numbers that float64 can tell apart.*(?s:.)* Rows belong to query 'a', in no order"
    with pytest.raises(PySparkException, match=words):
        per_query(df, metrics="mrr", y_score="long").collect()
    with pytest.raises(ValueError, match=words):  # tested here, because Spark is slow to replace a failed worker
        [*evaluate_partition(iter(finer.toArrow().to_batches()), COLUMNS, parse_metrics("mrr"))]


# --- workers -------------------------------------------------------------------------------------------------


def python_with(folder, source):
    """This Python with another sklearn_rank, of that source."""
    (folder / "sklearn_rank").mkdir()
    (folder / "sklearn_rank" / "__init__.py").write_text(source)
    python = folder / "python"
    python.write_text(f'#!/bin/sh\ncd {folder}\nPYTHONPATH={folder}:$PYTHONPATH exec {sys.executable} "$@"\n')
    python.chmod(0o755)
    return str(python)


NO_LIBRARY = "raise ModuleNotFoundError(\"No module named 'sklearn_rank'\")"


def own_metric(y, s):
    return float(y[0])


UNPACK = """
import pickle, sys
for packed in pickle.load(sys.stdin.buffer):
    try:
        print(pickle.loads(packed))
    except ImportError as error:
        print(f"ImportError: {error}")
"""


def packed(function):
    """A function in the form that workers get."""
    from pyspark import cloudpickle

    return cloudpickle.dumps(Shipped(function))


def unpacked_by(python, *packed):
    """Printed output of each Python."""
    done = subprocess.run([python, "-c", UNPACK], input=pickle.dumps(packed), capture_output=True, check=True)
    return done.stdout.decode().splitlines()


@pytest.mark.parametrize(
    ("source", "words"),
    [
        (NO_LIBRARY, "need sklearn_rank {}. Got a worker that cannot import it: No module named 'sklearn_rank'."),
        ('__version__ = "0.0.1"', "need sklearn_rank {}, like the driver. Got 0.0.1 on a worker."),
    ],
)
def test_a_worker_with_another_environment(tmp_path, source, words):
    (found,) = unpacked_by(python_with(tmp_path, source), packed(len))
    assert found.startswith("ImportError: Workers of Spark " + words.format(sklearn_rank.__version__))
    assert f"Its Python is {sys.executable}. Set PYSPARK_PYTHON" in found
    assert "ship an environment with spark.archives" in found


def test_a_worker_with_another_numpy_or_without_the_module_of_a_function(monkeypatch):
    """Only NumPy's major version matters: minor versions read each other's pickles."""
    first, *others = np.__version__.split(".")
    own = packed(own_metric)
    monkeypatch.setattr(np, "__version__", f"{first}.99.0")
    same_first = packed(len)
    monkeypatch.setattr(np, "__version__", f"{int(first) - 1}.{others[0]}.0")
    same, other, found = unpacked_by(sys.executable, same_first, packed(len), own)
    assert same == "<built-in function len>"
    assert f"need numpy {int(first) - 1}.{others[0]}.0, like the driver. Got {first}." in other
    assert found.startswith("ImportError: Workers of Spark must be able to import the metric functions. Got")
    assert "No module named 'test_spark'. Send their module by addPyFile" in found


def test_spark_missing_modules_reach_the_user(spark, tmp_path):
    """From rows, and from a table made of them. If two stages fail at once, Spark does not translate Java's error."""
    from py4j.protocol import Py4JJavaError
    from pyspark.errors import PySparkException

    df = spark.createDataFrame([(1, 2.0, "a")], "label int, score double, qid string").coalesce(1)
    option = "spark.sql.execution.pyspark.python"
    spark.conf.set(option, python_with(tmp_path, NO_LIBRARY))
    try:
        result = per_query(df, metrics="mrr", assume_grouped=True)
        errors = (PySparkException, Py4JJavaError)
        asked = lambda: evaluate_on_spark(df, metrics="mrr", assume_grouped=True)  # noqa: E731
        for action in (asked, result.collect):
            with pytest.raises(errors, match=r"\nImportError: Workers of Spark need .*Set PYSPARK_PYTHON "):
                action()
    finally:
        spark.conf.unset(option)


def test_without_pyspark_the_extra_is_named(monkeypatch):
    for name in ("pyspark", "pyspark.sql", "pyspark.sql.types"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[spark\]"'):
        per_query(None, metrics="map")


# --- documentation, and Spark Connect ------------------------------------------------------------------------


@pytest.mark.parametrize("function", [evaluate_on_spark, per_query], ids=lambda f: f.__name__)
def test_examples(spark, function):
    (example,) = doctest.DocTestFinder().find(function, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS)
    assert runner.run(example).failed == 0
    assert example.examples


def test_spark_public_names():
    assert {*sklearn_rank.spark.__all__} == {"evaluate", "per_query"}


def test_a_worker_without_rows():
    empty = pa.record_batch({"label": [], "score": [], "qid": []})
    assert [*evaluate_partition(iter([empty]), COLUMNS, parse_metrics("mrr"))] == []
    assert [*Shipped(iter)([1, 2])] == [1, 2]
