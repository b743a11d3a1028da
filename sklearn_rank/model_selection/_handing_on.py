"""How the query of a row reaches a model: by metadata routing, or in the index of y where a search hands on none.

Uses the public API of scikit-learn alone.
"""

from __future__ import annotations

from typing import Any

import sklearn
from numpy.typing import ArrayLike

from sklearn_rank._utils.optional import import_optional
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.model_selection._estimator_checks import tunes, with_inner
from sklearn_rank.model_selection._routing import Metadata, consumes, with_index
from sklearn_rank.model_selection._search_outcome import check_outcome


def is_outside(search: Any) -> bool:
    """Whether a search has a `fit` of its own, not of scikit-learn: it loses metadata or refuses it."""
    return not type(search).fit.__module__.startswith("sklearn.")


def outside_search(estimator: Estimator) -> Any:
    """A search in an estimator that hands on no metadata; None if there is none."""
    return next((inner for inner in with_inner(estimator) if tunes(inner) and is_outside(inner)), None)


def fit_with_metadata(estimator: Any, X: MatrixLike, y: ArrayLike, metadata: Metadata) -> None:
    """Fit an estimator with the metadata that it asks for, routed or in the index of y."""
    search = outside_search(estimator)
    with sklearn.config_context(enable_metadata_routing=search is None):
        if search is None:
            estimator.fit(X, y, **{name: rows for name, rows in metadata.items() if consumes(estimator, "fit", name)})
        else:
            estimator.fit(X, with_index(y, metadata, _import_pandas(type(search).__name__)))
            check_outcome(estimator, type(search).__name__)


def refuse_lost_metadata(estimator: Estimator, metadata: Metadata) -> None:
    """Refuse weights for a search that hands on none; make sure that the index of y can be made.

    Raises
    ------
    ValueError
        If there are weights.
    ImportError
        If pandas is missing.
    """
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
