"""Evaluation of Spark DataFrames: rows are scored on the workers, with the numbers of `sklearn_rank.evaluate`.

`evaluate` returns an `Evaluation` to the driver, which `sklearn_rank.stats.compare` takes, `per_query` a lazy table of
values, and `mean` only the means.
"""

from sklearn_rank.spark._evaluate import evaluate, mean, per_query

__all__ = ["evaluate", "mean", "per_query"]
