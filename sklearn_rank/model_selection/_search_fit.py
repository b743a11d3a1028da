"""Fit an estimator with the query of each row: routed, or in the index of y where a search hands on no metadata.

Uses only the public API of scikit-learn.
"""

from __future__ import annotations

import warnings
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike

from sklearn_rank._utils.optional import import_optional
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank._utils.warning import levels_to_caller
from sklearn_rank.model_selection._estimator_checks import tunes, with_inner
from sklearn_rank.model_selection._fitted_queries import remembers_queries
from sklearn_rank.model_selection._routing import Metadata, consumes, with_index


def is_outside(search: Any) -> bool:
    """Whether a search has a `fit` of its own, not of scikit-learn: it loses metadata or refuses it."""
    return not type(search).fit.__module__.startswith("sklearn.")


def outside_search(estimator: Estimator) -> Any:
    """A search in an estimator that hands on no metadata; None if there is none."""
    return next((inner for inner in with_inner(estimator) if tunes(inner) and is_outside(inner)), None)


def fit_with_metadata(estimator: Any, X: MatrixLike, y: ArrayLike, metadata: Metadata) -> None:
    """Fit an estimator with the metadata that it asks for, routed or in the index of y, if there is any."""
    search = outside_search(estimator) if "qid" in metadata else None
    with sklearn.config_context(enable_metadata_routing=search is None):
        if search is None:
            estimator.fit(X, y, **{name: rows for name, rows in metadata.items() if consumes(estimator, "fit", name)})
        else:
            estimator.fit(X, with_index(y, metadata, _import_pandas(type(search).__name__)))
            _check_outcome(estimator, type(search).__name__)


def refuse_lost_metadata(estimator: Estimator, metadata: Metadata) -> None:
    """Refuse weights for a search that hands on none; make sure that the index of y can be made."""
    search = outside_search(estimator)
    if search is None:
        return
    name = type(search).__name__
    _import_pandas(name)
    if "sample_weight" in metadata:
        raise ValueError(
            f"{name} hands on no metadata, so its models would be fitted and scored without sample_weight: use a "
            "search of scikit-learn, such as GridSearchCV, or leave sample_weight out."
        )


def _import_pandas(search_name: str) -> Any:
    return import_optional(
        "pandas", extra="pandas", purpose=f"{search_name} finds qid in the index of y, a Series, which"
    )


def check_scored(search: Any) -> None:
    """Refuse a search without a candidate that has a score."""
    results = getattr(search, "cv_results_", {})
    scores = [np.asarray(values, dtype=float) for name, values in results.items() if name.startswith("mean_test_")]
    if scores and np.isnan(scores).all():
        why = getattr(getattr(search, "scoring", None), "first_failure", None)
        raise ValueError(
            "No candidate of the search could be scored. "
            + (why or "error_score='raise', or cross_validate of its estimator, shows why. Got NaN for all.")
        )


def _check_outcome(estimator: Any, search_name: str) -> None:
    """Refuse a fitted estimator with a search inside that has no scores, or lost the queries on the way."""
    last = estimator
    check_scored(last)
    # From a search or a Pipeline to what predicts for it, down to the model, or to a search that fits no best model.
    while (inner := _predictor_of(last)) is not None:
        last = inner
        check_scored(last)
    if not hasattr(last, "cv") and not remembers_queries(estimator):
        raise ValueError(
            f"{search_name} has lost the queries: it makes labels without an index of y, so its models and metrics do "
            "not know them. Use a search of scikit-learn, OptunaSearchCV, or a loop over "
            "RankingEvaluator.cross_validate."
        )


def _predictor_of(estimator: Any) -> Any:
    """What predicts for a search or a Pipeline; None for a model."""
    inner = getattr(estimator, "best_estimator_", None)
    return estimator.steps[-1][1] if inner is None and hasattr(estimator, "steps") else inner


def progress_of_search(search: Any) -> AbstractContextManager[Any]:
    """Show the fits of a search by scikit-learn's progress bar, unless it has callbacks; warn where it cannot be."""
    if is_outside(search) or not hasattr(search, "set_callbacks"):
        warnings.warn(
            "progress=True shows searches by the callbacks of scikit-learn 1.9 or later, which "
            f"{type(search).__name__} does not call here: use its own verbose.",
            UserWarning,
            stacklevel=levels_to_caller(),
        )
        return nullcontext()
    if getattr(search, "_skl_callbacks", None):
        return nullcontext()
    import_optional("rich", extra="progress", purpose="The progress bar of a search")
    from sklearn.callback import ProgressBar

    search.set_callbacks(ProgressBar(max_propagation_depth=0))
    shown = ExitStack()
    shown.callback(search.set_callbacks)
    return shown
