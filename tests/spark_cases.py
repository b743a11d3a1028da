"""A session for tests of Spark, rows for it, and conversion of results."""

import os
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from registry import Data

from sklearn_rank.spark._worker import column_name

pa = pytest.importorskip("pyarrow")

NAMES = ["ndcg@10", "map", "err", "rmse", "p@5"]
NAN = float("nan")

DAEMON = Path(__file__).parent / "daemon"
"""The folder of what workers are forked from; they find nothing else of the tests."""


def new_session():
    """A session with two workers, whose tasks are tried twice, and with a Spark Connect server."""
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        # Most of a short life goes into starting up: the compiler that is quick, and classes are taken as they are.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:+UnlockDiagnosticVMOptions "
        "-XX:-BytecodeVerificationRemote",
        "spark.python.daemon.module": "spark_daemon",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.plugins": "org.apache.spark.sql.connect.SparkConnectPlugin",
        "spark.connect.grpc.binding.address": "127.0.0.1",
        "spark.connect.grpc.binding.port": str(port),
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", str(DAEMON), prepend=os.pathsep)
        return SparkSession.builder.master("local[2,2]").config(map=options).getOrCreate()


def make(seed=0, n_queries=50, *, tied=False):
    """Rows in no order."""
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(1, 14, n_queries)))
    score = rng.integers(0, 9, len(qid)) / 3 if tied else rng.random(len(qid))
    return Data(rng.integers(0, 5, len(qid)).astype(float), score, qid)


def table_of(data, **more):
    several = {f"label{i}": column for i, column in enumerate(data.y_true.T)} if data.y_true.ndim == 2 else {}
    return pa.table({**(several or {"label": data.y_true}), "score": data.y_score, "qid": data.qid, **more})


def in_one_order(data):
    return data.rows(np.lexsort((*data.y_true.reshape(len(data.qid), -1).T, -data.y_score, data.qid)))


def collected(result):
    """Rows by query, with unchanged numbers and NULL as None."""
    rows = [row.asDict() for row in result.collect()]
    assert len({row["qid"] for row in rows}) == len(rows)
    return sorted(rows, key=lambda row: row["qid"])


def assert_same(result, expected):
    """Values of the queries are equal, bit by bit."""
    rows = collected(result)
    order = np.argsort(expected.qid)
    assert [row["qid"] for row in rows] == expected.qid[order].tolist()
    for name, values in expected.per_query.items():
        assert np.array([row[column_name(name)] for row in rows]).tobytes() == values[order].tobytes(), name
