"""Evaluation of Spark DataFrames: rows are scored on the workers, with the numbers of `sklearn_rank.evaluate`.

`evaluate` returns an `Evaluation` on the driver, for example for `sklearn_rank.stats.compare`; `per_query` returns a
lazy table of values, whose means SQL computes.
"""

from sklearn_rank.spark._evaluate import evaluate, per_query

__all__ = ["evaluate", "per_query"]
