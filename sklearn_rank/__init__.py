"""Ranking metrics, scorers and cross-validation for scikit-learn, query by query."""

try:
    import sklearn_rank._engine.kernels.common  # noqa: F401
except ModuleNotFoundError as error:
    if error.name != "sklearn_rank._engine.kernels.common":
        raise
    raise ImportError(
        f"The compiled modules of sklearn_rank are missing in {__path__[0]}: you are in its source folder. Start "
        "Python in another folder, or build them here: pip install -e ."
    ) from None

from difflib import get_close_matches
from importlib import import_module
from typing import Any, NoReturn

from sklearn_rank import metrics
from sklearn_rank._groups import group_sizes, qid_from_group_sizes
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.names import get_metric_names, parse_metric
from sklearn_rank._version import __version__ as __version__
from sklearn_rank.metrics import (
    dcg_score,
    err_score,
    fbeta_at_k_score,
    hit_rate_score,
    map_score,
    mrr_score,
    ndcg_score,
    precision_at_k_score,
    query_auc_score,
    recall_at_k_score,
)

__all__ = [
    "GlobalTimeSplit",
    "InteractionRecommender",
    "LeaveLastOut",
    "LeaveOneQueryOut",
    "QueryKFold",
    "QueryRanker",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankingAccumulator",
    "RankingEvaluator",
    "RepeatedQueryKFold",
    "check_judgments",
    "check_metric",
    "compare_systems",
    "datasets",
    "dcg_score",
    "err_score",
    "evaluate",
    "evaluate_run",
    "evaluate_table",
    "fbeta_at_k_score",
    "get_metric_names",
    "get_scorer",
    "get_scorer_names",
    "group_sizes",
    "hit_rate_score",
    "make_ranking_scorer",
    "make_recommender_scorer",
    "map_score",
    "metric",
    "metrics",
    "mrr_score",
    "ndcg_score",
    "parse_metric",
    "precision_at_k_score",
    "prepare",
    "qid_from_group_sizes",
    "query_auc_score",
    "query_permutation_importance",
    "query_train_test_split",
    "recall_at_k_score",
]

_PACKAGES = (
    *"boosting compat datasets display exceptions inspection".split(),
    *"io model_selection recommenders results retrieval spark stats".split(),
)
_PACKAGE_OF = {
    "RankingAccumulator": "_tables.accumulator",
    "check_judgments": "_entry_points.judgments",
    "check_metric": "_metric.metric_check",
    "compare_systems": "_entry_points.systems",
    "evaluate": "_evaluation.evaluate",
    "evaluate_run": "_entry_points.runs",
    "evaluate_table": "_tables.evaluate",
    "prepare": "_evaluation.prepare",
    "query_permutation_importance": "inspection",
}

_HERE = {
    "GridSearchCV": "RankingEvaluator",
    "GroupKFold": "QueryKFold",
    "GroupShuffleSplit": "QueryShuffleSplit",
    "KFold": "QueryKFold",
    "LeaveOneGroupOut": "LeaveOneQueryOut",
    "RandomizedSearchCV": "RankingEvaluator",
    "RepeatedKFold": "RepeatedQueryKFold",
    "ShuffleSplit": "QueryShuffleSplit",
    "TimeSeriesSplit": "QueryTimeSeriesSplit",
    "cross_val_score": "RankingEvaluator",
    "cross_validate": "RankingEvaluator",
    "make_scorer": "make_ranking_scorer",
    "permutation_importance": "query_permutation_importance",
    "train_test_split": "query_train_test_split",
}
"""Public names here, by names of scikit-learn."""


def __getattr__(name: str) -> Any:
    """Import a public package, or what is in one, when it is first used."""
    if name in _PACKAGES:
        return import_module(f"{__name__}.{name}")
    if name not in __all__:
        _refuse(name)
    value = getattr(import_module(f"{__name__}.{_PACKAGE_OF.get(name, 'model_selection')}"), name)
    globals()[name] = value
    return value


def _refuse(name: str) -> NoReturn:
    """Say where a name is; an import shows only the text of an ImportError."""
    place = _place_of(name) if name[:1] != "_" else ""
    if place:
        from sklearn_rank._utils.private_parts import is_from_import

        if is_from_import():
            raise ImportError(f"cannot import name {name!r} from {__name__!r}: {place}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}" + (f": {place}" if place else ""))


def _place_of(name: str) -> str:
    """Where a name is, or one that does the same or is nearly the same."""
    if name in _HERE:
        return f"for queries take {_HERE[name]}, from {__name__}."
    for package in ("metrics", *_PACKAGES):
        try:
            module = import_module(f"{__name__}.{package}")
        except ImportError:  # it needs a package that is not installed
            continue
        if name in getattr(module, "__all__", dir(module)):
            return f"it is in {module.__name__}: from {module.__name__} import {name}."
    near = get_close_matches(name, [*__all__, *_PACKAGES], 1)
    return f"Did you mean {near[0]!r}?" if near else ""


def __dir__() -> list[str]:
    """Public names."""
    return sorted({*__all__, *_PACKAGES, "__version__", "__doc__"})
