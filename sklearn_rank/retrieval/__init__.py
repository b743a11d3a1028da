"""Evaluation of search: a database ranked by distance, lists of neighbors, answers above a threshold."""

from sklearn_rank._evaluation.threshold_curve import threshold_curve
from sklearn_rank.retrieval._evaluate import evaluate_retrieval
from sklearn_rank.retrieval._neighbors import score_neighbors
from sklearn_rank.retrieval._scorer import make_retrieval_scorer

__all__ = ["evaluate_retrieval", "make_retrieval_scorer", "score_neighbors", "threshold_curve"]
