"""The tests of Spark on Spark Connect: a client of another kind, with a server inside the session's JVM."""

import pytest
import test_spark
import test_spark_results
from test_spark import (  # noqa: F401
    test_names_of_columns,
    test_same_bits_each_time,
    test_spark_missing_modules_reach_the_user,
    test_spark_worker_errors_are_readable,
)
from test_spark_results import test_columns_of_a_spark_table  # noqa: F401

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.fixture(scope="module")
def spark(spark):
    from pyspark.sql.connect.session import SparkSession

    port = spark.sparkContext.getConf().get("spark.connect.grpc.binding.port")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONNECT_MODE_ENABLED", "1")  # by which pyspark.sql.functions knows
        session = SparkSession.builder.remote(f"sc://localhost:{port}").create()
        yield session
        session.stop()


def test_spark_connect_session(spark):
    assert type(spark.range(1)).__module__ == "pyspark.sql.connect.dataframe"


def test_spark_connect_ids(spark):
    test_spark.test_spark_ids(spark, "string")


def test_spark_connect_replaces_a_killed_worker(spark, tmp_path):
    test_spark.test_a_killed_worker_is_replaced(spark, tmp_path, "evaluate")


def test_comparison(spark):
    test_spark_results.test_spark_results_can_be_compared_with_arrays(spark, True)
