"""`QueryRanker.partial_fit`: batches of whole queries, for models that learn from batches."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from sklearn_rank._engine.columns import queries_in
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import MatrixLike
from sklearn_rank.model_selection._estimator_checks import check_estimator
from sklearn_rank.model_selection._failed_fit import undone_if_failed
from sklearn_rank.model_selection._fit_arguments import FitData, query_keyword, training_arguments
from sklearn_rank.model_selection._fit_rows import read_rows
from sklearn_rank.model_selection._fitted_queries import FittedQueries
from sklearn_rank.model_selection._inner_model import InnerModelMixin, inner_has
from sklearn_rank.model_selection._query_data import QueryData
from sklearn_rank.model_selection._routing import find_routed_qid

ONLY_FIT = ("eval_fraction", "early_stopping_rounds", "max_queries")


class PartialFitMixin(InnerModelMixin):
    """`partial_fit` where the model inside has it; qid is requested."""

    __metadata_request__partial_fit = {"qid": True}

    _stage: int | None

    @available_if(inner_has("partial_fit"))
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
        """Train on a batch of whole queries, on top of what was fitted before.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Relevance of each document to its query.
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y; a pointwise model can do without. A
            query comes in one batch, or, in another epoch, again with the same rows.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row.
        classes : array-like of shape (n_grades,), default=None
            All grades, for the first batch of a classifier.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If a query comes again with other rows; queries are needed and there are none; or a parameter is set that
            is for `fit`, which draws queries or holds them out.
        """
        self._refuse_parameters_of_fit()
        is_first = "estimator_" not in vars(self)
        validate_data(self, X, y, skip_check_array=True, reset=is_first)
        X, y, weight = read_rows(X, y, qid, sample_weight)
        model = clone(self.estimator) if is_first else self.estimator_
        batch, queries = FitData(X, y, None, weight), getattr(self, "_fitted_queries", None)
        as_fit = SimpleNamespace(fit=model.partial_fit)  # its signature says what it takes
        if query_keyword(as_fit) or qid is not None or queries_in(y) is not None:
            data = QueryData.of(X, y, find_routed_qid(y, qid), weight)
            data.refuse_varying_weights(query_keyword(as_fit))
            seen = FittedQueries.of(data.ids, data.indptr, data.order, X, y)
            queries = seen if queries is None else queries.joined_with(seen)
            batch = data.take_all()
        keywords = training_arguments(as_fit, batch)
        if classes is not None and "classes" in inspect.signature(model.partial_fit).parameters:
            keywords["classes"] = np.asarray(classes)
        with sklearn.config_context(enable_metadata_routing=False):
            self.estimator_ = model.partial_fit(batch.X, batch.y, **keywords)
        self._keep(queries)
        return self

    def _refuse_parameters_of_fit(self) -> None:
        check_estimator(self.estimator, "The 'estimator' parameter of QueryRanker")
        for name in ONLY_FIT:
            if getattr(self, name) is not None:
                raise ValueError(
                    f"partial_fit trains on all rows of a batch, so {name} is for fit. Got {name}="
                    f"{echo(getattr(self, name))}."
                )

    def _keep(self, queries: FittedQueries | None) -> None:
        """Remember the queries seen so far; there is no best round any more."""
        for name in ("best_iteration_", "best_score_", "eval_curve_"):
            self.__dict__.pop(name, None)
        self._fitted_queries, self._stage, self.eval_qid_ = queries, None, np.array([])
