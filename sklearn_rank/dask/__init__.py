"""Rankings in dask DataFrames: scored where they lie, partition by partition, the same numbers as `evaluate`."""

from sklearn_rank.dask._compare import compare
from sklearn_rank.dask._evaluate import evaluate, mean, per_query

__all__ = ["compare", "evaluate", "mean", "per_query"]
