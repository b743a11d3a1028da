"""What Spark forks its workers from: it has imported what they import, so that one starts in milliseconds."""

import contextlib
import gc

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

with contextlib.suppress(ImportError):  # a test has workers that lack it
    import sklearn_rank.spark._evaluate  # noqa: F401
if __name__ == "__main__":
    gc.freeze()  # a worker looks for garbage after each task
    manager()
