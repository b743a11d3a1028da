"""Metrics for CatBoost: `eval_metric=`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank.boosting._training_metric import TrainingMetric


@named_arguments
def catboost_metric(metric: MetricLike, pools: Any = None, **keywords: Any) -> CatBoostMetric:
    """Metric for CatBoost, of whole queries of these pools.

    CatBoost gives a metric labels, scores and weights, and no queries. So the metric is made with the pools that
    training evaluates, and recognizes their rows by the labels.

    Parameters
    ----------
    metric : str, metric function or callable
        As `evaluate` takes it, such as "map@10".
    pools : catboost.Pool or list of catboost.Pool
        All pools of ``eval_set``, with ``group_id``. The training pool may be among them. Without any it is an error.
    **keywords
        Keywords of the metric, such as `ties` or `gain`.

    Returns
    -------
    CatBoostMetric
        For ``CatBoostRanker(eval_metric=)`` and the other models of CatBoost.

    Raises
    ------
    ValueError, TypeError
        If the metric or a keyword is unknown or has a bad value, or there are no pools with queries. In training, as a
        CatBoostError: if other rows are evaluated, or weights vary inside a query.

    Notes
    -----
    CatBoost evaluates the training rows too, and puts them into an order of its own where there are categorical
    features. Where the training pool is not given, or not recognized, the value shown as ``learn`` is one below all
    values that the metric can have, such as -1.

    Examples
    --------
    >>> import catboost
    >>> from sklearn_rank.boosting import catboost_metric
    >>> pool = catboost.Pool([[0.0], [1.0], [2.0]], [0, 1, 1], group_id=[0, 0, 1])
    >>> catboost_metric("map@10", pool)
    catboost_metric('map@10')
    """
    return _named(CatBoostMetric(metric, keywords).with_pools(pools))


def catboost_validation_metric(metric: MetricLike, value_of: Callable[[Any], float]) -> CatBoostMetric:
    """Metric of the validation rows of early stopping, whose raw values `value_of` takes."""
    made = CatBoostMetric(metric, {})
    made.value_of = value_of
    return _named(made)


def _named(made: CatBoostMetric) -> CatBoostMetric:
    """The metric, of a class of its name."""
    made.__class__ = _class_of(made.__name__)
    return made


class CatBoostMetric(TrainingMetric):
    """Metric with the methods that CatBoost asks for; made by `catboost_metric`."""

    maker = "catboost_metric"
    no_jit = True
    """CatBoost compiles the methods by numba without it, which it warns that it cannot."""

    def __init__(self, metric: MetricLike, keywords: dict[str, Any]) -> None:
        super().__init__(metric, None, keywords)
        if len(self._specs) != 1:
            raise ValueError(f"CatBoost takes one eval_metric. Got {', '.join(self._specs)}.")
        (self._name,) = self._specs
        self._training: NDArray[Any] | None = None
        self._n_calls = 0

    def with_pools(self, pools: Any) -> CatBoostMetric:
        """Make it know the queries of pools."""
        listed = pools if isinstance(pools, Sequence) else [pools]
        if not listed or not all(hasattr(pool, "get_group_id_hash") for pool in listed):
            raise TypeError(
                "CatBoost does not tell a metric the queries, so it must know them beforehand: "
                f"catboost_metric({self._one!r}, pool), with the catboost.Pool with group_id that fit is given as "
                f"eval_set, or a list of several. Got {echo(pools)}."
            )
        self._pools = [self._read(pool) for pool in listed]
        for (y, sizes), (other_y, other_sizes) in combinations(self._pools, 2):
            if np.array_equal(y, other_y) and not np.array_equal(sizes, other_sizes):
                raise ValueError(
                    "catboost_metric tells pools apart by their labels. Got two pools of the same labels with other "
                    "queries."
                )
        return self

    def _read(self, pool: Any) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Labels of a pool, and the sizes of its queries."""
        query = pool.get_group_id_hash()
        if query is None:
            raise ValueError(
                "The pool needs queries: catboost.Pool(X, y, group_id=...). For a model without queries, use "
                f"QueryRanker(CatBoostRegressor(...), eval_metric={self._one!r}, early_stopping_rounds=...) and "
                "fit(X, y, qid=qid, eval_set=(X_valid, y_valid, qid_valid)). Got a pool without group_id."
            )
        starts = np.flatnonzero(np.append(True, np.asarray(query)[1:] != np.asarray(query)[:-1]))
        return np.asarray(pool.get_label(), dtype=np.float32), np.diff(np.append(starts, len(query)))

    def is_max_optimal(self) -> bool:
        """Whether a higher value is better."""
        return self._specs[self._name].greater_is_better

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Value, and a sum of weights without effect.

        Parameters
        ----------
        approxes : sequence of one array-like of shape (n_samples,)
            Scores.
        target : array-like of shape (n_samples,)
            Labels.
        weight : array-like of shape (n_samples,) or None
            Weights of rows; of queries where they are constant within each.
        """
        if self.value_of is not None:
            # CatBoost evaluates all training rows once, then all validation rows, in their order.
            self._n_calls += 1
            return self.value_of(approxes) if self._n_calls % 2 == 0 else 0.0, 1.0
        if len(approxes) != 1:
            raise ValueError(
                "catboost_metric takes one score a row. For CatBoostClassifier of several grades use "
                f"QueryRanker(CatBoostClassifier(...), eval_metric={self._one!r}), which ranks by the expected grade. "
                f"Got {len(approxes)} scores a row."
            )
        label = np.asarray(target)
        known = next((pool for pool in self._pools if np.array_equal(pool[0], label)), None)
        if known is None:
            return self._value_of_training_rows(label), 1.0
        self._training = label[:0] if self._training is None else self._training
        # The memory is CatBoost's, which takes it back.
        weight = None if weight is None else np.array(weight)
        prepared = self._seen.metrics_of(known[0], known[0], known[1], weight)
        return self._values(prepared, np.asarray(approxes[0]))[self._name], 1.0

    def _value_of_training_rows(self, label: NDArray[Any]) -> float:
        """Value shown for training rows, which CatBoost evaluates before all others."""
        if self._training is None:
            self._training = label.copy()
        if not np.array_equal(self._training, label):
            raise ValueError(
                "catboost_metric evaluates only the pools it was made with: CatBoost does not tell it the queries. "
                "Give it all pools of eval_set. catboost.cv makes pools of its own; there use RankingEvaluator. "
                f"Got {len(label)} other rows."
            )
        return min(0.0, self._specs[self._name].metric.bounds[0]) - 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Value, once more."""
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """State before training, and what makes the class."""
        return _empty, (self._name,), {**self.__getstate__(), "_training": None}


@cache
def _class_of(name: str) -> type[CatBoostMetric]:
    """Class of that name, because CatBoost shows the name of the class."""
    return type(name, (CatBoostMetric,), {})


def _empty(name: str) -> CatBoostMetric:
    """Metric without its state."""
    return object.__new__(_class_of(name))
