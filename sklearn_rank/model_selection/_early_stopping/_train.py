"""Training by a metric of the validation rows, whatever the model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.typing import Array
from sklearn_rank.model_selection._early_stopping._monitor import Monitor, OnRound
from sklearn_rank.model_selection._early_stopping._own_stopping import own_rounds
from sklearn_rank.model_selection._early_stopping._scores import with_known_labels
from sklearn_rank.model_selection._early_stopping._strategies import strategy_for
from sklearn_rank.model_selection._fit_arguments import FitData, fit_model, last_step


@dataclass(frozen=True)
class TrainedByMetric:
    """A fitted model, the metric after each round, and the best round.

    `stage` is the round to predict from where the model itself predicts from its last one, else None.
    """

    model: Any
    curve: Array
    best: int
    stage: int | None


def train_by_metric(
    model: Any, train: FitData, validation: FitData, spec: MetricSpec, patience: int | None, on_round: OnRound | None
) -> TrainedByMetric:
    """Fit a model, or the last step of a Pipeline; without `patience` of ours the model's own counts.

    Raises
    ------
    ValueError
        If the labels are not what the metric takes, or it has no value for the validation rows.
    """
    inner = last_step(model)[1]
    strategy = strategy_for(inner)
    monitor = Monitor(validation, spec, own_rounds(inner) if patience is None else patience, on_round)

    def fit_last(last: Any, rows: FitData, to_stop_by: FitData) -> Any:
        return strategy.fit(last, rows, with_known_labels(last, rows, to_stop_by), monitor)

    fitted = fit_model(model, train, validation, fit_last)
    monitor.finish()
    return TrainedByMetric(fitted, np.array(monitor.curve), monitor.best, None if monitor.shortened else monitor.best)
