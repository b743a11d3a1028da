"""Rows that come in batches: read, checked, made whole queries, evaluated in parts that are put together."""

from sklearn_rank.batches._evaluate import evaluate_batches

__all__ = ["evaluate_batches"]
