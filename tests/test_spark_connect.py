"""The tests of Spark once more, on Spark Connect."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.skipif("SPARK_CONNECT" in os.environ, reason="these are the tests that it runs")
def test_connect(spark):
    """The same on Spark Connect, which takes a process of its own."""
    chosen = "each_time or string or columns or raises or lack or killed or travels or (comparison and rmse and sign)"
    files = map(str, Path(__file__).parent.glob("test_spark*.py"))
    command = [sys.executable, "-m", "pytest", "-q", "-x", *files, "-k", chosen]
    done = subprocess.run(command, env=os.environ | {"SPARK_CONNECT": "1"}, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-3000:]
    assert "skipped" not in done.stdout
