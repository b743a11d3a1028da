"""Spark gives the values of the oracle on drawn tables; `python -m tests.properties --spark 100` draws more."""

import pytest

pytest.importorskip("pyspark")

from properties import on_spark  # noqa: E402

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("spark")]


@pytest.mark.parametrize("seed", [2, 13])
def test_drawn_tables_have_the_values_of_the_oracle(spark, seed):
    on_spark.check(spark, seed)
