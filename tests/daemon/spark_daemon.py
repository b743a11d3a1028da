"""Process from which Spark forks its workers: it has imported their modules, so a worker starts in milliseconds."""

import contextlib
import gc

import pyspark.worker  # noqa: F401
from pyspark.daemon import manager

with contextlib.suppress(ImportError):  # a test has workers that lack it
    import sklearn_rank.spark._evaluate  # noqa: F401
if __name__ == "__main__":
    gc.freeze()  # a worker looks for garbage after each task
    manager()
