"""Ranking metrics, scorers and cross-validation for scikit-learn, query by query."""

try:
    import sklearn_rank._engine.kernels.rank  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "sklearn_rank._engine.kernels.rank":
        raise
    raise ImportError(
        f"sklearn_rank has a compiled part, which is not in {__path__[0]}: these are its sources. Install it with "
        "'pip install .' and run Python in another folder, or install it with 'pip install -e .'."
    ) from None

from importlib import import_module
from types import ModuleType

from sklearn_rank import datasets, metrics
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._groups import group_sizes, qid_from_group_sizes, rank_within
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.names import get_metric_names, parse_metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.table import Table
from sklearn_rank._version import __version__ as __version__
from sklearn_rank.batches import evaluate_batches
from sklearn_rank.inspection import query_permutation_importance
from sklearn_rank.model_selection._evaluator import Comparison, RankingEvaluator
from sklearn_rank.model_selection._learning_curve import query_learning_curve
from sklearn_rank.model_selection._query_ranker import QueryRanker
from sklearn_rank.model_selection._scorer import get_scorer, get_scorer_names, get_scorers, make_ranking_scorer
from sklearn_rank.model_selection._split import LeaveOneQueryOut, QueryKFold, QueryShuffleSplit

__all__ = [
    "Comparison",
    "Evaluation",
    "LeaveOneQueryOut",
    "MetricSpec",
    "QueryKFold",
    "QueryRanker",
    "QueryShuffleSplit",
    "Ranked",
    "RankingEvaluator",
    "Table",
    "datasets",
    "evaluate",
    "evaluate_batches",
    "get_metric_names",
    "get_scorer",
    "get_scorer_names",
    "get_scorers",
    "group_sizes",
    "make_ranking_scorer",
    "metric",
    "metrics",
    "parse_metric",
    "qid_from_group_sizes",
    "query_learning_curve",
    "query_permutation_importance",
    "rank_within",
]

_ON_DEMAND = ("batches", "dask", "display", "inspection", "io", "model_selection", "retrieval", "spark", "stats")
"""Public packages that are imported when they are first used: ``sklearn_rank.stats`` loads `scipy.stats`."""


def __getattr__(name: str) -> ModuleType:
    """Import a public package that is asked for as an attribute."""
    if name in _ON_DEMAND:
        return import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    """Public names."""
    return sorted({*__all__, *_ON_DEMAND, "__version__", "__doc__"})
