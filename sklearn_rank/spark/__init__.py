"""Ranking metrics of tables on Spark: query by query there, means and comparisons of what comes of it."""

from sklearn_rank.spark._compare import compare
from sklearn_rank.spark._evaluate import evaluate
from sklearn_rank.spark._mean import mean

__all__ = ["compare", "evaluate", "mean"]
