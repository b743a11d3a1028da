"""`QueryRanker.score`: a ranking metric over whole queries."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.typing import MatrixLike
from sklearn_rank.model_selection._inner_model import InnerModelMixin
from sklearn_rank.model_selection._ranker_parameters import DEFAULT_METRIC
from sklearn_rank.model_selection._scorer import get_scorers


class RankerScoreMixin(InnerModelMixin):
    """`score` by `eval_metric`, or nDCG@10; qid is requested."""

    __metadata_request__score = {"qid": True}

    eval_metric: Any
    fit: Any
    predict: Any

    @named_arguments
    def score(self, X: MatrixLike, y: Any, *, qid: Any = None, sample_weight: ArrayLike | None = None) -> float:
        """Mean of `eval_metric` over queries, nDCG@10 if it is None, as the scorer of that name has it.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Relevance of each document to its query.
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y.
        sample_weight : array-like of shape (n_samples,), default=None
            Weight of each row's query, constant within a query.

        Returns
        -------
        float
            Higher is better: an error comes with a minus sign.

        Raises
        ------
        ValueError
            If queries are not known, or one of those that the model was fitted on comes with other rows.
        """
        check_is_fitted(self)
        self._check_features(X)
        scorers = get_scorers([DEFAULT_METRIC if self.eval_metric is None else self.eval_metric])
        (value,) = scorers(self, X, y, qid=qid, sample_weight=sample_weight).values()
        return value
