"""Fit models on folds and predict the scores of the rows held out, in parallel. A failure is recorded with its fold.

No metric is computed here.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.model_selection._handing_on import fit_with_metadata
from sklearn_rank.model_selection._query_data import take_rows
from sklearn_rank.model_selection._response import predict_scores
from sklearn_rank.model_selection._routing import Metadata

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


@dataclass(frozen=True)
class FoldResult:
    """Scores that a model, fitted on the training rows of a fold, predicted for the others; None if it failed."""

    y_score: Any
    y_score_train: Any
    fit_time: float
    score_time: float
    estimator: Any
    error: Exception | None = None


def fit_folds(
    estimators: Sequence[Any], X: MatrixLike, y: ArrayLike, metadata: Metadata, folds: Sequence[Split], *,
    n_jobs: int | None = None, keep_estimator: bool = False, score_train: bool = False,
) -> Generator[FoldResult]:  # fmt: skip
    """Each estimator on each fold, in that order, as many at a time as `n_jobs` says; closed, it stops.

    Each `fit` is given the metadata that it asks for.
    """
    with sklearn.config_context(enable_metadata_routing=True):
        fits: Generator[FoldResult] = Parallel(n_jobs=n_jobs, return_as="generator")(
            delayed(_fit_fold)(clone(e), X, y, metadata, fold, keep_estimator, score_train)
            for e in estimators
            for fold in folds
        )
    return fits


def _fit_fold(
    estimator: Estimator,
    X: MatrixLike,
    y: ArrayLike,
    metadata: Metadata,
    fold: Split,
    keep_estimator: bool,
    score_train: bool,
) -> FoldResult:
    train, test = fold
    of_train = {name: take_rows(values, train) for name, values in metadata.items()}
    began = perf_counter()
    try:
        fit_with_metadata(estimator, take_rows(X, train), take_rows(y, train), of_train)
        fitted = perf_counter()
        y_score, y_score_train = check_predictions(predict_scores(estimator, take_rows(X, test)), len(test)), None
        scored = perf_counter()
        if score_train:
            y_score_train = check_predictions(predict_scores(estimator, take_rows(X, train)), len(train))
    except Exception as error:  # a model may fail in any way; the others go on
        return FoldResult(None, None, perf_counter() - began, 0.0, None, error)
    return FoldResult(y_score, y_score_train, fitted - began, scored - fitted, estimator if keep_estimator else None)


def check_predictions(y_score: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Scores that a model predicted, one for each row; a column is one for each row, too.

    Raises
    ------
    ValueError
        If there are more or fewer, one is no real number, NaN or +inf, or large integers would become ties.
    """
    scores = np.asarray(y_score)
    scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
    if scores.shape != (n_rows,):
        what = f"shape {np.shape(y_score)}" if np.ndim(y_score) else echo(y_score)
        raise ValueError(f"A model must predict one score for each of the {n_rows} rows. Got {what} instead.")
    if scores.dtype.kind in "iu":
        return as_floats(scores, "predictions")
    not_real = [x for x in scores.tolist() if not isinstance(x, Real)] if scores.dtype.kind not in "bf" else []
    if not_real:
        raise ValueError(f"A prediction must be a real number. Got {echo(not_real[0])}.")
    scores = scores.astype(np.float64)
    for is_bad, name in ((np.isnan, "NaN"), (np.isposinf, "+inf")):
        if is_bad(scores).any():
            raise ValueError(f"A prediction must not be {name}. Got {is_bad(scores).sum()} of {n_rows}.")
    return scores
