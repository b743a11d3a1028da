"""Evaluation of data larger than memory: rows come in batches, and the result is that of `evaluate`."""

from sklearn_rank.batches._evaluate import evaluate_batches

__all__ = ["evaluate_batches"]
