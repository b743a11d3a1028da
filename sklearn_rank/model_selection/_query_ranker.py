"""`QueryRanker`: one way to fit any model that ranks, whatever it calls the query of a row.

Uses the public API of scikit-learn alone; no ranking library is imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils import check_consistent_length, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_rank._engine.check import query_weight
from sklearn_rank._engine.grouping import find_qid, group_rows
from sklearn_rank._engine.id_order import id_order
from sklearn_rank._engine.rows import check_features, check_rows, one_column, queries_in
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import is_count, is_real
from sklearn_rank._utils.numbers import refuse_masked
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.model_selection._callbacks import CallbackSupportMixin, as_task, model_task
from sklearn_rank.model_selection._estimator_checks import check_estimator, refuse_searches
from sklearn_rank.model_selection._fit_arguments import FitData, fit_model, last_step, query_keyword, takes_evaluation
from sklearn_rank.model_selection._fitted_queries import FittedQueries
from sklearn_rank.model_selection._response import predict_scores
from sklearn_rank.model_selection._routing import consumes


class QueryRanker(CallbackSupportMixin, MetaEstimatorMixin, BaseEstimator):
    """Any model as a ranker with ``fit(X, y, qid=...)`` and ``predict(X)``.

    Rows may come in any order and qid may hold any ids: the rows of a query are made adjacent, and the model is given
    what its `fit` takes: ``qid`` (XGBRanker), ``group`` sizes (LGBMRanker), ``group_id`` (CatBoostRanker) or nothing
    (any regressor or classifier). A Pipeline counts as its last step. Metadata routing is set up: pass
    ``params={"qid": qid}``, no request to set.

    Parameters
    ----------
    estimator : estimator
        Ranker, regressor, or classifier of grades; no search, which belongs around a `QueryRanker`.
    eval_fraction : float, default=None
        Share of the queries given to `fit`, at least one, that the model is not trained on but stops early by. For
        models of XGBoost, LightGBM, CatBoost, and HistGradientBoosting (scikit-learn 1.7 or later); their own early
        stopping must be switched on: ``early_stopping_rounds=10``, ``early_stopping=True`` for the last.
    max_queries : int, default=None
        Fit on no more queries than that, drawn at random; those held out are among them. A resource for
        `HalvingGridSearchCV`, whose "n_samples" would draw rows.
    random_state : int, RandomState instance or None, default=None
        Which queries are drawn, whatever the order of the rows. With an int, those of a smaller `max_queries` are among
        those of a larger one.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    eval_qid_ : ndarray of shape (n_held_out,)
        Ids of the queries held out; empty without `eval_fraction`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X has names.

    Notes
    -----
    A classifier ranks by the expected grade: the sum of ``predict_proba`` times ``classes_``. One of two grades without
    probabilities ranks by its ``decision_function``; one of more grades by the predicted grade, with a warning, as most
    documents are tied then.

    Scores compare inside a query only; `predict` needs no qid.

    It remembers the queries that it is given in `fit`, so that scorers refuse one that a splitter has cut in two.

    ``QueryRanker(make_pipeline(StandardScaler(), XGBRanker(...)), eval_fraction=0.1)`` fits every step without the
    queries held out. In ``make_pipeline(StandardScaler(), QueryRanker(XGBRanker(...), eval_fraction=0.1))`` the scaler
    comes first and sees their features.

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

    def __init__(
        self,
        estimator: Estimator,
        *,
        eval_fraction: float | None = None,
        max_queries: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.eval_fraction = eval_fraction
        self.max_queries = max_queries
        self.random_state = random_state

    @named_arguments
    @as_task
    def fit(self, X: MatrixLike, y: Any, *, qid: Any = None, sample_weight: ArrayLike | None = None) -> QueryRanker:
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
        TypeError
            If `estimator` is no estimator, but its class, for instance.
        ValueError
            If there is a search inside; queries are needed and there are none, or too few; weights vary inside a query
            where they must not; a parameter is out of range; or the model takes no rows to stop by and `eval_fraction`
            is set.
        """
        self._check_parameters()
        validate_data(self, X, y, skip_check_array=True)
        check_consistent_length(X, y, sample_weight)
        check_rows(y=y, qid=qid, sample_weight=sample_weight)
        check_features(X, y=y, qid=qid, sample_weight=sample_weight)
        for name, data in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            refuse_masked(data, name)
        y = one_column(y)
        takes = query_keyword(last_step(self.estimator)[1])
        weight = None if sample_weight is None else np.asarray(one_column(sample_weight))
        needs_queries = takes is not None or self.eval_fraction is not None or self.max_queries is not None
        if needs_queries or qid is not None or queries_in(y) is not None:
            qid = find_qid(y, qid, name="y")
        train, held_out, self.eval_qid_ = FitData(X, y, None, weight), None, np.array([])
        self._fitted_queries = None
        if qid is not None:
            ids, indptr, order = group_rows(qid, len(y))
            self._fitted_queries = FittedQueries.of(ids, indptr, order, X, y)
            if weight is not None and takes in ("qid", "group_id"):
                query_weight(weight, ids, indptr, order)  # refuses weights that vary inside a query
            in_train, in_eval = self._draw(ids)
            sizes = np.diff(indptr)
            train = _part(in_train, sizes, order, X, y, weight)
            if self.eval_fraction is not None:
                held_out = _part(in_eval, sizes, order, X, y, weight)
            self.eval_qid_ = ids[in_eval]
        # Whatever the configuration, a Pipeline hands "step__keyword" on only without routing.
        model = clone(self.estimator)
        with sklearn.config_context(enable_metadata_routing=False), model_task(self, model):
            self.estimator_ = fit_model(model, train, held_out)
        return self

    def _check_parameters(self) -> None:
        check_estimator(self.estimator, "The 'estimator' parameter of QueryRanker")
        refuse_searches(self.estimator, self)
        if self.max_queries is not None and not is_count(self.max_queries):
            raise ValueError(
                f"The 'max_queries' parameter of QueryRanker must be an int >= 1, or None. Got {self.max_queries!r}."
            )
        if self.eval_fraction is None:
            return
        if not is_real(self.eval_fraction) or not 0 < self.eval_fraction < 1:
            raise ValueError(
                "The 'eval_fraction' parameter of QueryRanker must be a number between 0 and 1, exclusive, or None. "
                f"Got {self.eval_fraction!r}."
            )
        _, model = last_step(self.estimator)
        if not takes_evaluation(model):
            raise ValueError(
                "eval_fraction is for models that stop early by rows handed to fit: those of XGBoost, LightGBM and "
                f"CatBoost, and HistGradientBoosting of scikit-learn 1.7 or later. Got {model!r}."
            )

    def _draw(self, ids: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Whether each query is trained on, and whether it is held out: drawn from the ids in their order."""
        n_queries = len(ids)
        if self.max_queries is None and self.eval_fraction is None:
            return np.ones(n_queries, dtype=bool), np.zeros(n_queries, dtype=bool)
        n_used = n_queries if self.max_queries is None else min(int(self.max_queries), n_queries)
        n_eval = 0
        if self.eval_fraction is not None:
            if n_used < 2:
                raise ValueError(
                    "With eval_fraction one query at least is held out and one trained on, so 2 are needed. "
                    f"Got {n_used}."
                )
            n_eval = min(max(1, round(self.eval_fraction * n_used)), n_used - 1)
        in_train, in_eval = np.zeros(n_queries, dtype=bool), np.zeros(n_queries, dtype=bool)
        drawn = id_order(ids)[check_random_state(self.random_state).permutation(n_queries)[:n_used]]
        in_eval[drawn[:n_eval]] = True
        in_train[drawn[n_eval:]] = True
        return in_train, in_eval

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Score documents: higher ranks first; comparable within a query only.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        return np.asarray(predict_scores(self.estimator_, X))

    def __sklearn_tags__(self) -> Any:
        """Tags of the model inside, as far as they speak of its input."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        return tags


def as_query_ranker(estimator: Estimator) -> Any:
    """Wrap an estimator in `QueryRanker`, or the last step of a Pipeline; leave alone what takes qid already.

    A model whose `fit` asks for sample_weight is given it.
    """
    if consumes(estimator, "fit", "qid"):
        return estimator
    if hasattr(estimator, "steps"):
        last, model = estimator.steps[-1]
        return clone(estimator).set_params(**{last: as_query_ranker(model)})
    wrapped = QueryRanker(estimator)
    if consumes(estimator, "fit", "sample_weight"):
        with sklearn.config_context(enable_metadata_routing=True):
            wrapped.set_fit_request(sample_weight=True)
    return wrapped


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of an array, sparse matrix, frame or list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def _part(
    chosen: NDArray[np.bool_], sizes: NDArray[np.int64], order: NDArray[np.int64] | None, X: MatrixLike, y: ArrayLike,
    weight: NDArray[Any] | None,
) -> FitData:  # fmt: skip
    """Rows of the chosen queries; the data as they are where these are all rows in their order."""
    rows = order
    if not chosen.all():
        rows = np.flatnonzero(np.repeat(chosen, sizes))
        rows = rows if order is None else order[rows]
    if rows is not None:
        X, y, weight = take_rows(X, rows), take_rows(y, rows), None if weight is None else weight[rows]
    return FitData(X, y, sizes[chosen], weight)
