"""Classes that evaluations, comparisons and tests return; those that need more than an evaluation load when used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from sklearn_rank._evaluation.explanation import Explanation
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.segments import Segments
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.table import Table

if TYPE_CHECKING:
    from sklearn_rank._comparison.comparison import Comparison, CrossValidation
    from sklearn_rank._comparison.paired_test import PairedTest
    from sklearn_rank._comparison.summary import Summary
    from sklearn_rank._evaluation.threshold_curve import ThresholdCurve
    from sklearn_rank._evaluator.folds import FoldScores
    from sklearn_rank.recommenders._exposure import Exposure
    from sklearn_rank.stats._gate import GateResult
    from sklearn_rank.stats._judge_agreement import JudgeAgreement
    from sklearn_rank.stats._judges import JudgedDifference, JudgedInterval

__all__ = [
    "Comparison",
    "CrossValidation",
    "Evaluation",
    "Explanation",
    "Exposure",
    "FoldScores",
    "GateResult",
    "JudgeAgreement",
    "JudgedDifference",
    "JudgedInterval",
    "MetricSpec",
    "PairedTest",
    "PreparedMetrics",
    "Segments",
    "Summary",
    "Table",
    "ThresholdCurve",
]

_MODULE_OF = {
    "Comparison": "_comparison.comparison",
    "CrossValidation": "_comparison.comparison",
    "Exposure": "recommenders._exposure",
    "FoldScores": "_evaluator.folds",
    "GateResult": "stats._gate",
    "JudgeAgreement": "stats._judge_agreement",
    "JudgedDifference": "stats._judges",
    "JudgedInterval": "stats._judges",
    "PairedTest": "_comparison.paired_test",
    "Summary": "_comparison.summary",
    "ThresholdCurve": "_evaluation.threshold_curve",
}


def __getattr__(name: str) -> Any:
    """Import a class when it is first used: many of these load `scipy.special`."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"sklearn_rank.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names."""
    return [*__all__]
