"""`QueryRanker`: fit any model that ranks with the same call, whichever keyword its library uses for queries.

No ranking library is imported.
"""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, TypeVar

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import RegressorTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_rank._data.doors import RANKER
from sklearn_rank._data.look import KINDS_OF_LABELS, ON_MISUSE, evidence_of, look, look_at_parts
from sklearn_rank._engine.columns import queries_in
from sklearn_rank._engine.ids import id_order
from sklearn_rank._engine.read import data_of
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.spec import MetricLike, MetricSpec
from sklearn_rank._ranker.early_stopping import (
    OnRound,
    best_of,
    predict_scores_at,
    stops_early,
    strategy_for,
    train_by_metric,
)
from sklearn_rank._ranker.estimator_checks import check_estimator, refuse_searches
from sklearn_rank._ranker.fit_arguments import (
    checked_rows,
    comes_from,
    fit_model,
    last_step,
    own_arguments,
    query_keyword,
    takes_evaluation,
    training_arguments,
)
from sklearn_rank._scoring.fit_data import FitData, QueryData, one_eval_set, read_eval_set, read_rows, refuse_trained_on
from sklearn_rank._scoring.fitted_queries import FittedQueries
from sklearn_rank._scoring.routing import (
    IN_RANKER,
    consumes,
    find_routed_qid,
    request_automatically,
    with_row_arguments,
)
from sklearn_rank._scoring.scorer import RankingScorers
from sklearn_rank._tables.columns import column_names
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import RANDOM_STATE, is_count, is_real, random_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank._utils.warning import levels_to_caller, warn_caller

FitMethod = TypeVar("FitMethod", bound=Callable[..., Any])

DEFAULT_METRIC = "ndcg@10"
"""Default metric of early stopping and of `score`."""


def inner_has(method: str) -> Any:
    """Condition of `available_if`: the inner model has the method; its AttributeError names the model."""
    return lambda ranker: bool(getattr(ranker.estimator, method))


def undone_if_failed(fit: FitMethod) -> FitMethod:
    """Decorate `fit` so that it restores the attributes if it raises."""

    @functools.wraps(fit)
    def call(self: Any, *args: Any, **keywords: Any) -> Any:
        before = dict(vars(self))
        try:
            return fit(self, *args, **keywords)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return call  # type: ignore[return-value]


class QueryRanker(MetaEstimatorMixin, BaseEstimator):
    """Wrap any model as a ranker with ``fit(X, y, qid=...)`` and ``predict(X)``.

    Rows may come in any order and qid may hold any ids. The ranker makes the rows of a query adjacent and passes the
    keyword that the model's `fit` accepts: ``qid`` (XGBRanker), ``group`` sizes (LGBMRanker), ``group_id``
    (CatBoostRanker) or no queries (any regressor or classifier). For a Pipeline the last step counts. Metadata routing
    works without ``set_fit_request``: pass ``params={"qid": qid}``.

    Parameters
    ----------
    estimator : estimator
        Ranker, regressor, or classifier of grades; not a search. Put a search around the `QueryRanker` instead.
    eval_fraction : float, default=None
        Share of the queries of `fit` to hold out for early stopping, at least one query. To pass your own validation
        rows, see `eval_set` of `fit`.
    eval_metric : str, metric function, MetricSpec or callable, default=None
        Metric on the held-out queries that chooses the best round, see `parse_metric`. It works for XGBoost, LightGBM,
        CatBoost, HistGradientBoosting, and all models with ``staged_predict``. None with `early_stopping_rounds`:
        nDCG@10. If both are None, XGBoost, LightGBM, CatBoost, and HistGradientBoosting (scikit-learn 1.7 or later)
        stop early by their own metric, if their early stopping is on: ``early_stopping_rounds=10``, or
        ``early_stopping=True`` for HistGradientBoosting. `eval_metric` is also the metric of `score`.
    early_stopping_rounds : int, default=None
        Stop after this number of rounds without improvement of `eval_metric`. None: the model's own number if it is
        set; otherwise train all rounds and use the best round.
    max_queries : int, default=None
        Maximum number of queries, drawn at random and including the held-out queries. Use it as the resource of
        `HalvingGridSearchCV`, whose "n_samples" would draw rows.
    random_state : int, RandomState instance or None, default=None
        Seed for the draw of queries, which does not depend on the order of the rows. With an int, a larger
        `max_queries` includes the queries of a smaller `max_queries`.
    on_misuse : {"raise", "warn", "ignore"}, default="raise"
        Whether to raise an error, warn or do nothing if labels or ids look like misuse
        (``docs/conventions/misuse.md``). The check runs before `eval_metric` chooses a round.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    eval_qid_ : ndarray of shape (n_held_out,)
        Ids of the held-out queries, or of the queries of `eval_set`; empty without validation rows.
    best_iteration_ : int
        Last round that `predict` uses, counted from 0. It exists if there are validation rows; without `eval_metric`,
        only if the model stopped early.
    best_value_ : float
        Value of the metric at that round; an error is positive, unlike in `score` and in a search's ``best_score_``.
    eval_curve_ : ndarray of shape (n_rounds,)
        Value of `eval_metric` after each round; errors are positive.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Exists only if the columns of X have names.
    feature_importances_, coef_, intercept_ : ndarray
        Attributes of the inner model, with or without early stopping. They exist if the model has them and no earlier
        step of a Pipeline creates, drops or reorders features. For CatBoost rankers the importance is
        PredictionValuesChange.
    classes_ : ndarray of shape (n_grades,)
        Grades in the training labels of a classifier; other models do not have it.

    Notes
    -----
    A classifier ranks by the expected grade: the sum of ``predict_proba`` times ``classes_``. Without probabilities, a
    classifier of two grades ranks by its ``decision_function``, and one of more grades by the predicted grade, with a
    warning, because most documents are then tied.

    Scores are comparable only within a query, and `predict` needs no qid.

    The ranker remembers the queries of `fit`, so that scorers can refuse a query that a splitter has split.

    ``QueryRanker(make_pipeline(StandardScaler(), XGBRanker(...)), eval_fraction=0.1)`` fits every step without the
    held-out queries. In ``make_pipeline(StandardScaler(), QueryRanker(XGBRanker(...), eval_fraction=0.1))`` the scaler
    comes first and is fitted on their features as well.

    scikit-learn's meta-estimators treat it as a regressor, whose scores rank the documents of a query.

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
    __metadata_request__partial_fit = {"qid": True}
    __metadata_request__score = {"qid": True}

    estimator_: Any
    _stage: int | None

    @named_arguments
    def __init__(
        self,
        estimator: Estimator,
        *,
        eval_fraction: float | None = None,
        eval_metric: MetricLike | None = None,
        early_stopping_rounds: int | None = None,
        max_queries: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        on_misuse: str = "raise",
    ) -> None:
        self.estimator = estimator
        self.eval_fraction = eval_fraction
        self.eval_metric = eval_metric
        self.early_stopping_rounds = early_stopping_rounds
        self.max_queries = max_queries
        self.random_state = random_state
        self.on_misuse = on_misuse

    @with_row_arguments
    @named_arguments
    @undone_if_failed
    def fit(
        self,
        X: MatrixLike,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
        eval_set: tuple[Any, ...] | list[tuple[Any, ...]] | None = None,
        eval_qid: Any = None,
        on_round: OnRound | None = None,
        **arguments: Any,
    ) -> QueryRanker:
        """Fit the model, with the rows of each query adjacent.

        Parameters
        ----------
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: read from the level "qid" of the index of y; a pointwise model does not need
            queries.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row, constant within a query for a model that weights whole queries.
        eval_set : tuple (X, y, qid) or (X, y, qid, sample_weight), default=None
            Your own validation rows, in any order, instead of `eval_fraction`; (X, y) if the index of y has the level
            "qid". A list with one such tuple is accepted. Their queries must not be in the training rows.
        eval_qid : array-like, or list of one, default=None
            Query of each row of an `eval_set` that holds only X and y, in the style of XGBoost: ``eval_set=[(X, y)],
            eval_qid=[qid]``.
        on_round : callable, default=None
            The ranker calls ``on_round(iteration, value)`` after each round, counted from 0, with the value of
            `eval_metric`. An exception that it raises ends the training. If the best stage is chosen after training,
            the calls come then.
        **arguments
            Further arguments for the `fit` of the model, or of the last step of a Pipeline, such as ``callbacks``,
            ``categorical_feature`` and ``init_score`` of LightGBM. If the length of an array is the number of rows of
            X, its entries are matched with the rows of X.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If `estimator` is not an estimator, for example a class; `eval_set` is not such a tuple; or `eval_qid` comes
            without a tuple (X, y).
        ValueError
            If there is a search inside; queries are missing or too few; weights vary within a query but must not; a
            parameter is out of range; the model cannot use validation rows; or a query of `eval_set` is also in X.

        Examples
        --------
        >>> from sklearn.tree import DecisionTreeRegressor
        >>> from sklearn_rank import QueryRanker
        >>> ranker = QueryRanker(DecisionTreeRegressor())
        >>> ranker.fit([[1], [2], [1]], [0, 3, 0], qid=["a", "b", "a"]).predict([[2]])
        array([3.])
        """
        eval_set = one_eval_set(eval_set, eval_qid)
        self._check_parameters(eval_set, on_round)
        spec, has_validation = stopping_metric(self), self.eval_fraction or eval_set
        columns = () if spec is None else spec.metric.columns
        own_arguments(last_step(self.estimator)[1], arguments, has_validation=has_validation, columns=columns)
        validate_data(self, X, y, skip_check_array=True)
        X, y, weight = read_rows(X, y, qid, sample_weight)
        takes = query_keyword(last_step(self.estimator)[1])
        needs_queries = any(x is not None for x in (takes, self.eval_fraction, self.max_queries, eval_set))
        if needs_queries or qid is not None or queries_in(y) is not None:
            qid = find_routed_qid(y, qid)
        train, validation, self.eval_qid_ = FitData(X, y, None, weight, checked_rows(arguments, y)), None, np.array([])
        if qid is not None:
            data = QueryData.of(X, y, qid, weight, train.more)
            data.refuse_varying_weights(takes)
            in_train, in_eval = self._draw(data.grouping.ids)
            train, self.eval_qid_ = data.take(in_train), data.grouping.ids[in_eval]
            if comes_from(self.estimator, "lightgbm") and "qid" in (column_names(X) or ()):
                warn_caller(
                    "X has a column 'qid', and LightGBM uses it as a feature: drop the column, or move the "
                    "queries into the index of y."
                )
            if self.eval_fraction is not None:
                validation = replace(data.take(in_eval), more={})
            if eval_set is not None:
                own = read_eval_set(self, eval_set)
                own.refuse_varying_weights(takes)
                refuse_trained_on(data.grouping.ids, own.grouping.ids)
                validation, self.eval_qid_ = own.take_all(), own.grouping.ids
            if validation is not None:
                self._look([data] if eval_set is None else [data, own])
                if eval_set is not None:
                    self._look([own])
        model = clone(self.estimator)
        # A Pipeline passes "step__keyword" on only if routing is off, so switch it off here.
        ids = None if qid is None else np.repeat(train.grouping.ids, train.grouping.sizes)
        with sklearn.config_context(enable_metadata_routing=False), with_splits(model, train, ids):
            self._train(model, train, validation, on_round)
        self._fitted_queries = None if qid is None else FittedQueries.of(data)
        return self

    def _look(self, parts: Sequence[QueryData]) -> None:
        """Check labels and ids for misuse: of all queries, and of the validation queries separately."""
        spec = stopping_metric(self)
        if spec is None:
            return
        metrics = {str(spec): spec}
        look(RANKER, self.on_misuse, copies=(parts[-1].X, parts[-1].y))
        data = [data_of(column(as_floats(part.y, "y")), part.grouping) for part in parts]
        evidence = [evidence_of(one.all_tied, metrics, kinds=KINDS_OF_LABELS) for one in data]
        look_at_parts(RANKER, evidence, metrics, on_misuse=self.on_misuse)

    def _check_parameters(self, eval_set: Any, on_round: Any) -> None:
        """Refuse parameters that are out of range or incompatible."""
        check_estimator(self.estimator, "The 'estimator' parameter of QueryRanker")
        refuse_searches(self.estimator, self)
        with sklearn.config_context(enable_metadata_routing=True):
            asks = [one for one in ("transform", "predict") if consumes(self.estimator, one, "qid")]
        if asks:
            raise ValueError(
                "A step inside QueryRanker requests the queries of the predicted rows, but predict(X) has none: make "
                "the ranker the last step, make_pipeline(step, QueryRanker(model)), or let the step read the queries "
                f"from a column or the index of X. Got {echo(self.estimator)}."
            )
        for name in ("max_queries", "early_stopping_rounds"):
            value = getattr(self, name)
            if value is not None and not is_count(value):
                raise ValueError(
                    f"The {echo(name)} parameter of QueryRanker must be an int >= 1, or None. Got {echo(value)}."
                )
        RANDOM_STATE("random_state", self.random_state, "QueryRanker")
        ON_MISUSE("on_misuse", self.on_misuse, "QueryRanker")
        fraction = self.eval_fraction
        if fraction is not None and not (is_real(fraction) and 0 < fraction < 1):
            raise ValueError(
                "The 'eval_fraction' parameter of QueryRanker must be a number between 0 and 1, exclusive, or None. "
                f"Got {echo(fraction)}."
            )
        self._check_stopping(eval_set, on_round)

    def _check_stopping(self, eval_set: Any, on_round: Any) -> None:
        """Check the parameters of early stopping, and whether the model supports them."""
        spec, (_, model) = stopping_metric(self), last_step(self.estimator)
        if on_round is not None and not callable(on_round):
            raise TypeError(f"on_round must be a function that takes iteration and value. Got {echo(on_round)}.")
        if self.eval_fraction is not None and eval_set is not None:
            raise ValueError(
                "Pass only one source of validation rows: eval_fraction of QueryRanker or eval_set of fit. "
                f"Got eval_fraction={echo(self.eval_fraction)} and an eval_set."
            )
        if self.eval_fraction is None and eval_set is None:
            for name, value in (("early_stopping_rounds", self.early_stopping_rounds), ("on_round", on_round)):
                if value is not None:
                    raise ValueError(
                        f"{name} needs validation rows: set eval_fraction of QueryRanker, such as 0.1, or pass "
                        f"eval_set=(X, y, qid) to fit. Got {name}={echo(value)} and neither."
                    )
            if (comes_from(model, "lightgbm") or comes_from(model, "xgboost")) and stops_early(model):
                raise ValueError(
                    "The early stopping of a model needs validation rows: set eval_fraction of QueryRanker, such as "
                    f"0.1, or pass eval_set=(X, y, qid) to fit. Got {echo(model)} and neither."
                )
        elif spec is not None:
            strategy_for(model)
        elif on_round is not None:
            raise ValueError(
                "on_round needs a metric to compute after each round: set eval_metric of QueryRanker, such "
                f"as 'ndcg@10'. Got {echo(on_round)} and no eval_metric."
            )
        elif not takes_evaluation(model):
            raise ValueError(
                "Without eval_metric, validation rows need a model that accepts them in fit: XGBoost, LightGBM, "
                "CatBoost, and HistGradientBoosting of scikit-learn 1.7 or later. With eval_metric='ndcg@10' models "
                f"with staged_predict work as well. Got {echo(model)}."
            )
        elif (comes_from(model, "lightgbm") or comes_from(model, "xgboost")) and not stops_early(model):
            warnings.warn(
                "The validation queries have no effect, because this model does not stop early: set eval_metric of "
                "QueryRanker, such as 'ndcg@10', or early_stopping_rounds of QueryRanker or the model. "
                f"Got {type(model).__name__} with neither.",
                UserWarning,
                stacklevel=levels_to_caller(),
            )

    def _train(self, model: Any, train: FitData, validation: FitData | None, on_round: OnRound | None) -> None:
        """Fit the model and store its best round if known."""
        self._forget_best_round()
        spec = stopping_metric(self)
        if validation is None or spec is None:
            self.estimator_ = fit_model(model, train, validation)
            self.__dict__.update({} if validation is None else best_of(last_step(self.estimator_)[1]))
            return
        self.estimator_, monitor = train_by_metric(model, train, validation, spec, self.early_stopping_rounds, on_round)
        self._stage, self.eval_curve_ = None if monitor.shortened else monitor.best, np.array(monitor.curve)
        self.best_iteration_, self.best_value_ = monitor.best, monitor.curve[monitor.best]

    def _forget_best_round(self) -> None:
        for name in ("best_iteration_", "best_value_", "eval_curve_"):
            self.__dict__.pop(name, None)
        self._stage = None

    def _draw(self, ids: NDArray[Any]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Draw the training and the held-out queries from the sorted ids; return two masks."""
        n_queries = len(ids)
        if self.max_queries is None and self.eval_fraction is None:
            return np.ones(n_queries, dtype=bool), np.zeros(n_queries, dtype=bool)
        n_used = n_queries if self.max_queries is None else min(int(self.max_queries), n_queries)
        n_eval = 0
        if self.eval_fraction is not None:
            if n_used < 2:
                raise ValueError(
                    f"eval_fraction needs at least 2 queries, one for training and one to hold out. Got {n_used}."
                )
            n_eval = min(max(1, round(self.eval_fraction * n_used)), n_used - 1)
        in_train, in_eval = np.zeros(n_queries, dtype=bool), np.zeros(n_queries, dtype=bool)
        drawn = id_order(ids)[random_of(self.random_state, "QueryRanker").permutation(n_queries)[:n_used]]
        in_eval[drawn[:n_eval]] = True
        in_train[drawn[n_eval:]] = True
        return in_train, in_eval

    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Score documents: higher scores rank first. Scores are comparable only within a query.

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

    @with_row_arguments
    @named_arguments
    def score(self, X: MatrixLike, y: Any, *, qid: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Return the mean of `eval_metric` over queries, or nDCG@10 if it is None, as the scorer of that name does.

        Returns
        -------
        float
            Higher is better: errors are negative.

        Raises
        ------
        ValueError
            If the queries are missing, or a query of `fit` comes with other rows.
        """
        check_is_fitted(self)
        self._check_features(X)
        scorers = RankingScorers([DEFAULT_METRIC if self.eval_metric is None else self.eval_metric])
        (value,) = scorers(self, X, y, qid=qid, sample_weight=sample_weight).values()
        return value

    @available_if(inner_has("partial_fit"))
    @with_row_arguments
    @named_arguments
    @undone_if_failed
    def partial_fit(
        self,
        X: MatrixLike,
        y: Any,
        *,
        qid: Any = None,
        sample_weight: ArrayLike | None = None,
        classes: ArrayLike | None = None,
    ) -> Any:
        """Continue training on a batch of whole queries.

        Parameters
        ----------
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: read from the level "qid" of the index of y; a pointwise model does not need
            queries. All rows of a query belong to the same batch; in another epoch the query must have the same rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        classes : array-like of shape (n_grades,), default=None
            All grades, required in the first batch of a classifier.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a query comes again with other rows; queries are missing; or a parameter that only `fit` supports, to
            draw queries or hold them out, is set.
        """
        check_estimator(self.estimator, "The 'estimator' parameter of QueryRanker")
        for name in ("eval_fraction", "early_stopping_rounds", "max_queries"):
            if (value := getattr(self, name)) is not None:
                raise ValueError(
                    f"partial_fit trains on all rows of a batch, so only fit supports {name}. Got {name}={echo(value)}."
                )
        is_first = "estimator_" not in vars(self)
        validate_data(self, X, y, skip_check_array=True, reset=is_first)
        X, y, weight = read_rows(X, y, qid, sample_weight)
        model = clone(self.estimator) if is_first else self.estimator_
        batch, queries = FitData(X, y, None, weight), getattr(self, "_fitted_queries", None)
        # The signature of partial_fit determines the keywords.
        as_fit = SimpleNamespace(fit=model.partial_fit)
        if query_keyword(as_fit) or qid is not None or queries_in(y) is not None:
            data = QueryData.of(X, y, find_routed_qid(y, qid), weight)
            data.refuse_varying_weights(query_keyword(as_fit))
            seen = FittedQueries.of(data)
            queries = seen if queries is None else queries.joined_with(seen)
            batch = data.take_all()
        keywords = training_arguments(as_fit, batch)
        if classes is not None and "classes" in inspect.signature(model.partial_fit).parameters:
            keywords["classes"] = np.asarray(classes)
        with sklearn.config_context(enable_metadata_routing=False):
            self.estimator_ = model.partial_fit(batch.X, batch.y, **keywords)
        self._forget_best_round()
        self._fitted_queries, self.eval_qid_ = queries, np.array([])
        return self

    @property
    def feature_importances_(self) -> NDArray[Any]:
        """Importance of each feature of X."""
        return self._of_features("feature_importances_")

    @property
    def coef_(self) -> NDArray[Any]:
        """Coefficient of each feature of X."""
        return self._of_features("coef_")

    @property
    def intercept_(self) -> Any:
        """Score of a row whose features are all zero."""
        return self._of_features("intercept_")

    @property
    def classes_(self) -> NDArray[Any]:
        """Grades in the training labels of an inner classifier."""
        fitted = self._fitted("classes_")
        if not is_classifier(fitted):
            raise AttributeError(f"classes_ is only for classifiers. Got {type(last_step(fitted)[1]).__name__}.")
        return np.asarray(fitted.classes_)

    @available_if(inner_has("set_output"))
    def set_output(self, *, transform: str | None = None) -> Any:
        """Set the output containers of the steps of an inner Pipeline.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            None has no effect.

        Returns
        -------
        self
        """
        pipelines: list[Any] = [self.estimator, vars(self).get("estimator_")]
        for pipeline in pipelines:
            if pipeline is not None:
                pipeline.set_output(transform=transform)
        return self

    def _fitted(self, attribute: str) -> Any:
        """The fitted model; no NotFittedError, because `hasattr` must work."""
        if "estimator_" not in vars(self):
            raise AttributeError(f"{echo(attribute)} of {type(self).__name__} is available after fit.")
        return self.estimator_

    def _of_features(self, attribute: str) -> Any:
        """Return an attribute of the inner model, if it refers to the features of X."""
        fitted = self._fitted(attribute)
        model = last_step(fitted)[1]
        value = getattr(model, attribute)
        # CatBoost does not compute the attribute for query-wise losses.
        if _is_nothing(value) and hasattr(model, "get_feature_importance"):
            value = np.asarray(model.get_feature_importance(type="PredictionValuesChange"))
        if _is_nothing(value):
            raise AttributeError(f"{type(model).__name__} has no {echo(attribute)}.")
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(getattr(self, "n_features_in_", 0))])
        if not _keeps_features(fitted, np.asarray(names, dtype=object)):
            raise AttributeError(
                f"Steps before the last step create, drop or reorder features, so {echo(attribute)} would not match X. "
                f"Use estimator_[-1].{attribute}."
            )
        return value

    def _check_features(self, X: Any) -> None:
        """Refuse features whose number or names differ from `fit`; some models would accept them."""
        shape: tuple[int, ...] = getattr(X, "shape", ())
        n_features = getattr(self, "n_features_in_", None)
        if len(shape) == 1 and n_features is not None:
            raise ValueError(
                f"X must have two dimensions, with {n_features} columns. Reshape your data: X.reshape(1, -1) is "
                f"one document. Got shape {shape}."
            )
        if len(shape) == 2 and (shape[1] != n_features or hasattr(X, "columns")):
            validate_data(self, X, reset=False, skip_check_array=True)

    def get_metadata_routing(self) -> Any:
        """Metadata requests: qid, and weights for fit if scikit-learn 1.10 or later requests them automatically."""
        request = super().get_metadata_routing()
        for method in (request.fit, request.partial_fit):
            request_automatically(method, "qid", "sample_weight")
        request_automatically(request.score, "qid")
        return request

    def __sklearn_tags__(self) -> Any:
        """Tags of a regressor that accepts the input of the inner model; its R^2 may be arbitrary."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags(poor_score=True)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


def stopping_metric(ranker: QueryRanker) -> MetricSpec | None:
    """Metric for early stopping, with one number for each round; None: the model stops by its own metric."""
    if ranker.eval_metric is None and ranker.early_stopping_rounds is None:
        return None
    spec = parse_metric(DEFAULT_METRIC if ranker.eval_metric is None else ranker.eval_metric)
    if np.ndim(spec.k) or spec["average"] is None:
        raise ValueError(
            "The 'eval_metric' parameter of QueryRanker must yield one number for each round, so it needs a single "
            f"cutoff and a mean. Got {echo(ranker.eval_metric)}."
        )
    return spec


def as_query_ranker(estimator: Estimator) -> Any:
    """Wrap an estimator, or the last step of a Pipeline, in `QueryRanker`, unless it accepts qid already."""
    # If the `fit` of the model requests sample_weight, the wrapper requests it as well.
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


def _is_nothing(value: Any) -> bool:
    """Whether a value is None, or an array that holds None."""
    return np.ndim(value) == 0 and np.asarray(value).item() is None


def _keeps_features(fitted: Any, names: NDArray[Any]) -> bool:
    """Whether the steps before the last step keep all features in their order."""
    if not hasattr(fitted, "steps"):
        return True
    try:
        kept = list(fitted[:-1].get_feature_names_out(names)) if len(fitted.steps) > 1 else list(names)
    except (AttributeError, ValueError):
        return False
    return kept == list(names) and _keeps_features(fitted.steps[-1][1], names)


@contextmanager
def with_splits(model: Any, train: FitData, queries: NDArray[Any] | None) -> Iterator[None]:
    """Replace query splitters in a model, or in steps of a Pipeline, by their splits of the training rows."""
    # This works because such a model is fitted on all training rows. A model nested in another model, such as an
    # ensemble, may be fitted on part of the rows, so its splitter is not replaced.
    replaced = []
    inside = IN_RANKER.set(True)
    try:
        for step in _steps(model) if queries is not None else ():
            cv: Any = step.get_params(deep=False).get("cv") if hasattr(step, "get_params") else None
            if hasattr(cv, "split") and not isinstance(cv, str) and consumes(cv, "split", "groups", "qid"):
                replaced.append((step, cv))
                step.set_params(cv=list(cv.split(train.X, train.y, groups=queries)))
        yield
    finally:
        IN_RANKER.reset(inside)
        for step, cv in replaced:
            step.set_params(cv=cv)


def _steps(model: Any) -> list[Any]:
    """The steps of a Pipeline, including nested Pipelines; otherwise the model itself."""
    if not hasattr(model, "steps"):
        return [model]
    return [inner for _, step in model.steps for inner in _steps(step)]
