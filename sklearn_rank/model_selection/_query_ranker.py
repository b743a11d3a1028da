"""`QueryRanker`: one way to fit any model that ranks, whatever it calls the query of a row.

Uses the public API of scikit-learn alone; no ranking library is imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_rank._engine.columns import queries_in
from sklearn_rank._engine.ids import id_order
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.random_state import random_of
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.model_selection._callbacks import CallbackSupportMixin, as_task, model_task
from sklearn_rank.model_selection._early_stopping._monitor import OnRound
from sklearn_rank.model_selection._early_stopping._own_stopping import best_of
from sklearn_rank.model_selection._early_stopping._stages import predict_scores_at
from sklearn_rank.model_selection._early_stopping._train import train_by_metric
from sklearn_rank.model_selection._eval_set import read_eval_set, refuse_trained_on
from sklearn_rank.model_selection._failed_fit import undone_if_failed
from sklearn_rank.model_selection._fit_arguments import FitData, fit_model, last_step, query_keyword
from sklearn_rank.model_selection._fit_rows import read_rows
from sklearn_rank.model_selection._fitted_queries import FittedQueries
from sklearn_rank.model_selection._partial_fit import PartialFitMixin
from sklearn_rank.model_selection._query_data import QueryData
from sklearn_rank.model_selection._ranker_parameters import check_parameters, stopping_metric
from sklearn_rank.model_selection._ranker_score import RankerScoreMixin
from sklearn_rank.model_selection._routing import consumes, find_routed_qid


class QueryRanker(CallbackSupportMixin, RankerScoreMixin, PartialFitMixin, MetaEstimatorMixin, BaseEstimator):
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
        Share of the queries given to `fit`, at least one, that the model is not trained on but stops early by. See
        `eval_set` of `fit` for validation rows of your own.
    eval_metric : str, metric function, MetricSpec or callable, default=None
        Metric of these queries that the best round is chosen by, as `parse_metric` takes it: for models of XGBoost,
        LightGBM, CatBoost, HistGradientBoosting, and all with ``staged_predict``. None: nDCG@10 with
        `early_stopping_rounds`. With neither, models of XGBoost, LightGBM, CatBoost, and HistGradientBoosting
        (scikit-learn 1.7 or later) stop early by their own metric, if that is switched on:
        ``early_stopping_rounds=10``, ``early_stopping=True`` for the last. Also the metric of `score`.
    early_stopping_rounds : int, default=None
        Stop after that many rounds in which `eval_metric` was not better than before. None: the model's own number if
        it is set, else the best of all rounds.
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
        Ids of the queries held out, or of `eval_set`; empty without either.
    best_iteration_ : int
        Round that `predict` goes up to, counted from 0. With validation rows, and without `eval_metric` only where the
        model has stopped early.
    best_score_ : float
        Value of the metric at that round.
    eval_curve_ : ndarray of shape (n_rounds,)
        Value of `eval_metric` after each round; errors are positive.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X has names.
    feature_importances_, coef_, intercept_ : ndarray
        Those of the model inside, early stopping or not: only where it has them, and where no step of a Pipeline before
        it makes, drops or reorders features. CatBoost's rankers have PredictionValuesChange.
    classes_ : ndarray of shape (n_grades,)
        Grades that a classifier has seen; only where it is one.

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

    scikit-learn's meta-estimators take it for a regressor, one whose scores rank documents of a query.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import QueryRanker
    >>> ranker = QueryRanker(Ridge(alpha=0)).fit(
    ...     [[0.0], [1.0], [2.0]], [0, 1, 2], qid=["a", "b", "a"]
    ... )
    >>> ranker.predict([[3.0]]).round(6)
    array([3.])
    """

    __metadata_request__fit = {"qid": True}

    def __init__(
        self,
        estimator: Estimator,
        *,
        eval_fraction: float | None = None,
        eval_metric: MetricLike | None = None,
        early_stopping_rounds: int | None = None,
        max_queries: int | None = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimator = estimator
        self.eval_fraction = eval_fraction
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.max_queries = max_queries
        self.random_state = random_state

    @named_arguments
    @as_task
    @undone_if_failed
    def fit(
        self,
        X: MatrixLike,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | None = None,
        on_round: OnRound | None = None,
    ) -> QueryRanker:
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
        eval_set : tuple (X, y, qid) or (X, y, qid, sample_weight), default=None
            Validation rows of your own, in any order, in place of `eval_fraction`; (X, y) where the index of y has the
            level "qid". None of their queries may be trained on.
        on_round : callable, default=None
            ``on_round(iteration, value)`` is called with the value of `eval_metric` after each round, counted from 0;
            what it raises ends the training. A model of which the best stage is chosen afterwards is watched then.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If `estimator` is no estimator, but its class, for instance; or `eval_set` is no such tuple.
        ValueError
            If there is a search inside; queries are needed and there are none, or too few; weights vary inside a query
            where they must not; a parameter is out of range; the model cannot stop by rows and there are some to stop
            by; or a query of `eval_set` is also in X.
        """
        check_parameters(self, eval_set, on_round)
        validate_data(self, X, y, skip_check_array=True)
        X, y, weight = read_rows(X, y, qid, sample_weight)
        takes = query_keyword(last_step(self.estimator)[1])
        needs_queries = any(x is not None for x in (takes, self.eval_fraction, self.max_queries, eval_set))
        if needs_queries or qid is not None or queries_in(y) is not None:
            qid = find_routed_qid(y, qid)
        train, validation, self.eval_qid_ = FitData(X, y, None, weight), None, np.array([])
        if qid is not None:
            data = QueryData.of(X, y, qid, weight)
            data.refuse_varying_weights(takes)
            in_train, in_eval = self._draw(data.ids)
            train, self.eval_qid_ = data.take(in_train), data.ids[in_eval]
            if self.eval_fraction is not None:
                validation = data.take(in_eval)
            if eval_set is not None:
                own = read_eval_set(self, eval_set)
                own.refuse_varying_weights(takes)
                refuse_trained_on(data.ids, own.ids)
                validation, self.eval_qid_ = own.take_all(), own.ids
        model = clone(self.estimator)
        # Whatever the configuration, a Pipeline hands "step__keyword" on only without routing.
        with sklearn.config_context(enable_metadata_routing=False), model_task(self, model):
            self._train(model, train, validation, on_round)
        self._fitted_queries = None if qid is None else FittedQueries.of(data.ids, data.indptr, data.order, X, y)
        return self

    def _train(self, model: Any, train: FitData, validation: FitData | None, on_round: OnRound | None) -> None:
        """Fit the model; keep what is known of its best round."""
        for name in ("best_iteration_", "best_score_", "eval_curve_"):
            self.__dict__.pop(name, None)
        spec, self._stage = stopping_metric(self), None
        if validation is None or spec is None:
            self.estimator_ = fit_model(model, train, validation)
            self.__dict__.update({} if validation is None else best_of(last_step(self.estimator_)[1]))
            return
        followed = train_by_metric(model, train, validation, spec, self.early_stopping_rounds, on_round)
        self.estimator_, self._stage, self.eval_curve_ = followed.model, followed.stage, followed.curve
        self.best_iteration_, self.best_score_ = followed.best, float(followed.curve[followed.best])

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
        drawn = id_order(ids)[random_of(self.random_state, "QueryRanker").permutation(n_queries)[:n_used]]
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
        self._check_features(X)
        return np.asarray(predict_scores_at(self.estimator_, X, getattr(self, "_stage", None)))


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
