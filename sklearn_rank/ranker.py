"""`QueryRanker`: one way to fit any model that ranks, whatever it calls the query of a row.

Uses the public API of scikit-learn alone; no ranking library is imported.
"""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_rank._check import query_weight
from sklearn_rank._grouping import find_qid, group_rows


class QueryRanker(MetaEstimatorMixin, BaseEstimator):
    """Any model as a ranker with ``fit(X, y, qid=...)`` and ``predict(X)``.

    Rows may come in any order and qid may hold any ids: the rows of a query are made adjacent, and the model is given
    what its `fit` takes: ``qid`` (XGBRanker), ``group`` sizes (LGBMRanker), ``group_id`` (CatBoostRanker) or nothing
    (any regressor or classifier). A Pipeline counts as its last step. Metadata routing is set up: pass
    ``params={"qid": qid}``, no request to set.

    Parameters
    ----------
    estimator : estimator
        Ranker, regressor, or classifier of grades.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X has names.

    Notes
    -----
    A classifier ranks by the expected grade: the sum of ``predict_proba`` times ``classes_``.

    It has no `score`: a ranking metric must be named, ``scoring=get_scorer("ndcg@10")``.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import QueryRanker
    >>> ranker = QueryRanker(Ridge(alpha=0)).fit([[0.0], [1.0], [2.0]], [0, 1, 2], qid=["a", "b", "a"])
    >>> ranker.predict([[3.0]]).round(6)
    array([3.])
    """

    __metadata_request__fit = {"qid": True}

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator

    def fit(self, X: Any, y: Any, *, qid: Any = None, sample_weight: Any = None) -> QueryRanker:
        """Fit the model, rows of a query adjacent.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Relevance of each document to its query.
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y; a pointwise model can do without.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, constant within a query for a model that weights whole queries.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If the model needs queries and there are none, or weights vary inside a query where they must not.
        """
        validate_data(self, X, y, skip_check_array=True)
        prefix, takes = _group_keyword(self.estimator)
        try:
            qid = find_qid(y, qid, name="y")
        except ValueError:
            if takes is not None:
                raise
        keywords: dict[str, Any] = {}
        if qid is not None:
            ids, indptr, order = group_rows(qid, len(y))
            if order is not None:
                X, y = take_rows(X, order), take_rows(y, order)
                sample_weight = None if sample_weight is None else np.asarray(sample_weight)[order]
            keywords = _group_arguments(takes, indptr)
            if sample_weight is not None and takes in ("qid", "group_id"):
                sample_weight = query_weight(sample_weight, ids, indptr, None)
                if takes == "group_id":
                    keywords["group_weight"] = np.repeat(sample_weight, np.diff(indptr))
                    sample_weight = None
        if sample_weight is not None:
            keywords["sample_weight"] = sample_weight
        # Whatever the configuration, a Pipeline hands "step__keyword" on only without routing.
        with sklearn.config_context(enable_metadata_routing=False):
            self.estimator_ = clone(self.estimator).fit(X, y, **{prefix + n: v for n, v in keywords.items()})
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """Score documents: higher ranks first; comparable within a query only.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        if is_classifier(self.estimator_) and hasattr(self.estimator_, "predict_proba"):
            grades = np.asarray(self.estimator_.classes_, dtype=np.float64)
            return np.asarray(self.estimator_.predict_proba(X) @ grades)
        return np.asarray(self.estimator_.predict(X))

    def __sklearn_tags__(self) -> Any:
        """Tags of the model inside, as far as they speak of its input."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags


def as_query_ranker(estimator: Any) -> Any:
    """Wrap an estimator in `QueryRanker`, or the last step of a Pipeline; leave alone what takes qid already."""
    if get_routing_for_object(estimator).consumes("fit", ["qid"]):
        return estimator
    if hasattr(estimator, "steps"):
        last, model = estimator.steps[-1]
        return clone(estimator).set_params(**{last: as_query_ranker(model)})
    return QueryRanker(estimator)


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of an array, sparse matrix, frame or list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _group_keyword(estimator: Any) -> tuple[str, str | None]:
    """Prefix of the keywords of `fit`, and the one that takes queries; None for a pointwise model."""
    if hasattr(estimator, "steps"):
        name, last = estimator.steps[-1]
        prefix, takes = _group_keyword(last)
        return f"{name}__{prefix}", takes
    accepted = inspect.signature(estimator.fit).parameters
    return "", next((name for name in ("qid", "group_id", "group") if name in accepted), None)


def _group_arguments(takes: str | None, indptr: NDArray[np.int64]) -> dict[str, Any]:
    sizes = np.diff(indptr)
    if takes is None:
        return {}
    return {takes: sizes if takes == "group" else np.repeat(np.arange(len(sizes)), sizes)}
