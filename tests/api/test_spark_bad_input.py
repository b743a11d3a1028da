"""Spark's entry points reject bad input as the others do, before a job starts."""

import pytest
from bad_input import TOGETHER, spark_frame
from registry import together
from test_bad_input import EVERY, FAR, SAYS_WHAT, faults_of

import sklearn_rank.spark

pytest.importorskip("pyspark")

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]

WITH_SPARK = [(where, argument) for where, argument in EVERY if where.startswith(FAR)]


@pytest.fixture
def no_job(spark):
    """Fail if a test starts a job."""
    jobs = spark.sparkContext.statusTracker().getJobIdsForGroup
    before = len(jobs())
    yield
    assert len(jobs()) == before


@together("where, argument", WITH_SPARK)
def test_spark_bad_values(no_job, where, argument, tmp_path):
    assert not faults_of(where, argument, tmp_path)


@together("what", TOGETHER)
def test_spark_incompatible_arguments(no_job, what):
    with pytest.raises((TypeError, ValueError), match=SAYS_WHAT):
        TOGETHER[what](sklearn_rank.spark, spark_frame())
