"""Ranking metrics, scorers and cross-validation for scikit-learn, query by query."""
from sklearn_rank import metrics
from sklearn_rank._names import get_metric_names, parse_metric
