"""Scores of models fold by fold, reported as they come: to a function of the user, and on a progress bar."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_tqdm
from sklearn_rank._utils.typing import Array
from sklearn_rank.model_selection._folds import FoldResult


@dataclass(frozen=True)
class FoldScores:
    """Scores of one model on the queries that one fold tests, as `on_fold` of `RankingEvaluator` is given them.

    Attributes
    ----------
    model : str
        Its name in `compare`; the name of its class in `cross_validate`.
    fold : int
        Number of the fold, from 0.
    n_folds : int
    scores : dict of str to float
        Mean of each metric, as it is in the result: errors are negative in `cross_validate` and positive in `compare`.
        NaN where the model failed.
    fit_time : float
        Seconds.
    error : Exception or None
        What the model raised.
    """

    model: str
    fold: int
    n_folds: int
    scores: dict[str, float]
    fit_time: float
    error: Exception | None = None


@dataclass(frozen=True)
class ModelFolds:
    """All folds of one model."""

    results: list[FoldResult]
    scores: list[dict[str, float]]

    @property
    def by_metric(self) -> dict[str, Array]:
        """Scores of each metric, one for each fold."""
        return by_metric(self.scores)

    @property
    def fit_time(self) -> Array:
        """Seconds of each fold."""
        return np.array([result.fit_time for result in self.results])

    @property
    def errors(self) -> dict[int, Exception]:
        """Exceptions that were raised, by number of the fold."""
        return {i: result.error for i, result in enumerate(self.results) if result.error is not None}


OnFold = Callable[[FoldScores], object]


class FoldWatch:
    """Who is told of each fold's scores: a function, a progress bar, both or nobody."""

    def __init__(self, models: Sequence[str], n_folds: int, on_fold: OnFold | None, progress: bool) -> None:
        if on_fold is not None and not callable(on_fold):
            raise TypeError(f"on_fold must be a function of the scores of a fold, or None. Got {echo(on_fold)}.")
        self.models, self.n_folds, self.on_fold = models, n_folds, on_fold
        self._tqdm = import_tqdm() if progress else None

    def collect(
        self, fits: Generator[FoldResult], scores_of: Callable[[int, FoldResult], dict[str, float]]
    ) -> list[ModelFolds]:
        """Folds of each model, each told as it comes; an exception that `on_fold` raises stops the fits."""
        n_fits = len(self.models) * self.n_folds
        found = [ModelFolds([], []) for _ in self.models]
        bar: Any = nullcontext() if self._tqdm is None else self._tqdm(total=n_fits, unit=" fits")
        with _stopped(fits), bar:
            for i, result in enumerate(fits):
                model, fold = divmod(i, self.n_folds)
                scores = scores_of(fold, result)
                found[model].results.append(result)
                found[model].scores.append(scores)
                name, told = self.models[model], dict(scores)
                of_fold = FoldScores(name, fold, self.n_folds, told, result.fit_time, result.error)
                if self._tqdm is not None:
                    bar.update()
                    bar.set_postfix_str(_told(of_fold))
                if self.on_fold is not None:
                    self.on_fold(of_fold)
        return found


@contextmanager
def _stopped(fits: Generator[FoldResult]) -> Generator[None]:
    """Stop the fits that remain where the block is left early."""
    try:
        yield
    finally:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*adjusting the input task iterator", UserWarning)  # joblib
            fits.close()


def by_metric(scores: Sequence[dict[str, float]]) -> dict[str, Array]:
    """Scores of each metric, one for each dict."""
    return {name: np.array([one[name] for one in scores]) for name in scores[0]}


def _told(of_fold: FoldScores) -> str:
    """The first metric of a fold, for a progress bar."""
    name, value = next(iter(of_fold.scores.items()))
    told = "failed" if of_fold.error else f"{name} {value:.4f}"
    return f"{of_fold.model}, fold {of_fold.fold}: {told}"
