"""The metric of the validation rows, round by round: which round is best, and when to stop."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.grouped_rows import GroupedRows
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank.model_selection._fit_arguments import FitData

OnRound = Callable[[int, float], Any]


class Monitor:
    """Records a metric after each round; the first best round wins.

    Attributes
    ----------
    curve : list of float
        Value of each round.
    best : int
        Index of the best one.
    should_stop : bool
        Whether there was no improvement for `patience` rounds.
    shortened : bool
        Whether the model predicts from the best round by itself, which is for a strategy to say.
    """

    def __init__(self, validation: FitData, spec: MetricSpec, patience: int | None, on_round: OnRound | None) -> None:
        self.rows = GroupedRows.of(validation.y, validation.query, _weight_of_queries(validation))
        self._prepared = self.rows.prepare({"metric": spec})
        self.spec, self.patience, self.on_round = spec, patience, on_round
        self.greater_is_better = spec.metric.greater_is_better
        self.curve: list[float] = []
        self.best, self.should_stop, self.shortened = 0, False, True
        self._check_labels()

    def record(self, y_score: ArrayLike) -> bool:
        """Add the scores of a round; whether training should stop after it."""
        iteration, value = len(self.curve), self._value_of(y_score)
        self.curve.append(value)
        if self._is_better(value, self.curve[self.best]):
            self.best = iteration
        self.should_stop = self.patience is not None and iteration - self.best >= self.patience
        if self.on_round is not None:
            self.on_round(iteration, value)
        return self.should_stop

    def finish(self) -> None:
        """Refuse a curve that has no best round.

        Raises
        ------
        ValueError
            If there was no round, or each has the value NaN.
        """
        if not self.curve or math.isnan(self.curve[self.best]):
            raise ValueError(
                f"The best round is one with a value. Got {len(self.curve)} rounds, and none for {self.spec}."
            )

    def _check_labels(self) -> None:
        """Refuse labels that the metric does not take, or that leave it without a value, before any training.

        Raises
        ------
        ValueError
            If the metric is defined for no query, however its documents are ranked.
        """
        ideal = self._prepared.evaluate(np.nan_to_num(self.rows.label))
        if ideal.n_undefined["metric"] == len(self.rows.ids):
            raise ValueError(
                "Early stopping needs a validation query for which the metric is defined, such as one with a relevant "
                f"document: hold out more queries, or choose another metric. Got {len(self.rows.ids)} queries, and "
                f"{self.spec} is defined for none."
            )

    def _value_of(self, y_score: ArrayLike) -> float:
        return float(self._prepared.evaluate(y_score).mean()["metric"])

    def _is_better(self, value: float, best: float) -> bool:
        """Whether a value is strictly better; any number is better than NaN."""
        if math.isnan(best):
            return not math.isnan(value)
        return value > best if self.greater_is_better else value < best


def _weight_of_queries(validation: FitData) -> Any:
    """Weights of rows where they are constant within queries; weights of single rows say nothing of a query."""
    if validation.weight is None:
        return None
    indptr = np.append(0, np.cumsum(validation.sizes))
    varies = np.maximum.reduceat(validation.weight, indptr[:-1]) != np.minimum.reduceat(validation.weight, indptr[:-1])
    if varies.any():
        return None
    return validation.weight
