"""Classes that `evaluate`, `prepare`, `parse_metric` and others return; `Evaluation` also loads and makes results."""

from sklearn_rank._evaluation.explanation import Explanation
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.segments import Segments
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.table import Table

__all__ = ["Evaluation", "Explanation", "MetricSpec", "PreparedMetrics", "Segments", "Table"]
