"""Evaluation of dask DataFrames: partitions are scored where they are, with the numbers of `sklearn_rank.evaluate`.

`evaluate` returns an `Evaluation` to this process, `per_query` a lazy table of values, `mean` only the means, and
`compare` a test of two such tables. `sklearn_rank.spark` has the same functions with the same arguments.
"""

from sklearn_rank.dask._compare import compare
from sklearn_rank.dask._evaluate import evaluate, mean, per_query

__all__ = ["compare", "evaluate", "mean", "per_query"]
