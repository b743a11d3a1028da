"""Evaluation in batches: of data larger than memory, and in training loops. Results are equal to `evaluate`."""

from sklearn_rank.batches._accumulator import RankingAccumulator
from sklearn_rank.batches._evaluate import evaluate_batches

__all__ = ["RankingAccumulator", "evaluate_batches"]
