"""Search by features, judged: rankings of a database by distance, relevance by shared labels."""

from sklearn_rank.retrieval._evaluate import evaluate_retrieval

__all__ = ["evaluate_retrieval"]
