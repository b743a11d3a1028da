"""Errors of predictions: the scores as predictions of the labels."""

from __future__ import annotations

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import formula_of, metric

__all__ = ["query_mae_error", "query_mse_error", "query_rmse_error"]

INF = float("inf")


@metric(
    "mse", bounds=(0, INF), greater_is_better=False, has_cutoff=False, supports_micro=True, pointwise=True,
    undefined_when="no judged document",
)  # fmt: skip
def query_mse_error(r: Ranked) -> Curve:
    """Mean squared error: the scores as predictions of the labels, query by query.

    ``MSE = (sum of (r_i - s_i)**2) / n``

    Only the values of the scores s count, not their order. Every score must be finite. ``average="micro"`` is the error
    over all rows.

    References
    ----------
    R. Hyndman and A. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22(4), 2006.

    Examples
    --------
    The errors are 1 and 0 in the first query and 2 in the second: (1/2 + 4) / 2, or (1 + 0 + 4) / 3 over all rows:

    >>> from sklearn_rank.metrics import query_mse_error
    >>> y_true, y_score, qid = [3, 1, 0], [2, 1, 2], [1, 1, 2]
    >>> query_mse_error(y_true, y_score, qid=qid)
    2.25
    >>> round(query_mse_error(y_true, y_score, qid=qid, average="micro"), 4)
    1.6667
    """
    return r.cumsum((r.label - r.score) ** 2), r.n


@metric(
    "rmse", bounds=(0, INF), greater_is_better=False, has_cutoff=False, supports_micro=True, pointwise=True,
    undefined_when="no judged document", transform=np.sqrt,
)  # fmt: skip
def query_rmse_error(r: Ranked) -> Curve:
    """Root mean squared error: the scores as predictions of the labels, query by query.

    ``RMSE = sqrt(MSE)``

    Each query has its own root, and the score is their mean; ``average="micro"`` is the root of the error over all
    rows. Every score must be finite.

    References
    ----------
    R. Hyndman and A. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22(4), 2006.

    Examples
    --------
    The errors are 3 and 3 in one query and 1 in the other: (sqrt(18/2) + sqrt(1)) / 2 = 2:

    >>> from sklearn_rank.metrics import query_rmse_error
    >>> query_rmse_error([3, 0, 1], [0, 3, 0], qid=[1, 1, 2])
    2.0
    """
    return formula_of(query_mse_error)(r)


@metric(
    "mae", bounds=(0, INF), greater_is_better=False, has_cutoff=False, supports_micro=True, pointwise=True,
    undefined_when="no judged document",
)  # fmt: skip
def query_mae_error(r: Ranked) -> Curve:
    """Mean absolute error: the scores as predictions of the labels, query by query.

    ``MAE = (sum of abs(r_i - s_i)) / n``

    Only the values of the scores s count, not their order. Every score must be finite. ``average="micro"`` is the error
    over all rows.

    References
    ----------
    R. Hyndman and A. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22(4), 2006.

    Examples
    --------
    The errors are 1 and 0 in the first query and 2 in the second: (1/2 + 2) / 2:

    >>> from sklearn_rank.metrics import query_mae_error
    >>> query_mae_error([3, 1, 0], [2, 1, 2], qid=[1, 1, 2])
    1.25
    """
    return r.cumsum(np.abs(r.label - r.score)), r.n
