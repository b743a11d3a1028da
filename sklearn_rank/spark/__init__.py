"""Evaluation of Spark DataFrames: rows are scored on the workers, with the numbers of `sklearn_rank.evaluate`.

`evaluate` returns an `Evaluation` to the driver, `per_query` a lazy table of values, `mean` only the means, and
`compare` a test of two such tables.
"""

from sklearn_rank.spark._compare import compare
from sklearn_rank.spark._evaluate import evaluate, mean, per_query

__all__ = ["compare", "evaluate", "mean", "per_query"]
