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
    """Make a metric for CatBoost that evaluates the whole queries of the given pools.

    CatBoost passes labels, scores and weights to a metric, but no queries. So you pass the pools that training
    evaluates to this function, and the metric recognizes their rows by the labels.

    Parameters
    ----------
    metric : str, metric function or callable
        Metric, as for `evaluate`, such as "map@10".
    pools : catboost.Pool or list of catboost.Pool
        All pools of ``eval_set``, with ``group_id``; you may add the training pool. Required.
    **keywords
        Keywords of the metric, such as `ties` or `gain`.

    Returns
    -------
    CatBoostMetric
        For ``CatBoostRanker(eval_metric=)`` and the other CatBoost models.

    Raises
    ------
    ValueError, TypeError
        If the metric or a keyword is unknown or has a bad value, or no pool has queries. During training, as a
        CatBoostError: if CatBoost evaluates other rows, or weights vary within a query.

    Notes
    -----
    CatBoost also evaluates the training rows, and reorders them if there are categorical features. If you do not pass
    the training pool, or the metric does not recognize it, the value shown as ``learn`` is outside the range of the
    metric, such as -1.

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
    """Make a metric for early stopping; `value_of` computes its value from the raw values of the validation rows."""
    made = CatBoostMetric(metric, {})
    made.value_of = value_of
    return _named(made)


def _named(made: CatBoostMetric) -> CatBoostMetric:
    """Give the metric a class with the metric's name."""
    made.__class__ = _class_of(made.__name__)
    return made


class CatBoostMetric(TrainingMetric):
    """Metric with the methods that CatBoost requires; created by `catboost_metric`."""

    maker = "catboost_metric"
    no_jit = True
    """If True, CatBoost does not try to compile the methods with numba, which fails with a warning."""

    def __init__(self, metric: MetricLike, keywords: dict[str, Any]) -> None:
        super().__init__(metric, None, keywords)
        if len(self._specs) != 1:
            raise ValueError(f"CatBoost accepts a single eval_metric. Got {', '.join(self._specs)}.")
        (self._name,) = self._specs
        self._training: NDArray[Any] | None = None
        self._n_calls = 0

    def with_pools(self, pools: Any) -> CatBoostMetric:
        """Store the queries of the pools."""
        listed = pools if isinstance(pools, Sequence) else [pools]
        if not listed or not all(hasattr(pool, "get_group_id_hash") for pool in listed):
            raise TypeError(
                "CatBoost does not pass queries to a metric, so pass the pools to the metric: "
                f"catboost_metric({self._one!r}, pool), where pool is the catboost.Pool with group_id that you pass to "
                f"fit as eval_set, or a list of pools. Got {echo(pools)}."
            )
        self._pools = [self._read(pool) for pool in listed]
        for (y, sizes), (other_y, other_sizes) in combinations(self._pools, 2):
            if np.array_equal(y, other_y) and not np.array_equal(sizes, other_sizes):
                raise ValueError(
                    "catboost_metric distinguishes pools by their labels. Got two pools with the same labels and "
                    "different queries."
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
        """Return the value, and a sum of weights, which has no effect.

        Parameters
        ----------
        approxes : sequence of one array-like of shape (n_samples,)
            Scores.
        target : array-like of shape (n_samples,)
            Labels.
        weight : array-like of shape (n_samples,) or None
            Weights of rows; weights of queries if they are constant within each query.
        """
        if self.value_of is not None:
            # CatBoost evaluates all training rows first, then the validation rows in their order.
            self._n_calls += 1
            return self.value_of(approxes) if self._n_calls % 2 == 0 else 0.0, 1.0
        if len(approxes) != 1:
            raise ValueError(
                "catboost_metric needs one score per row. For a CatBoostClassifier with several grades use "
                f"QueryRanker(CatBoostClassifier(...), eval_metric={self._one!r}), which ranks by the expected grade. "
                f"Got {len(approxes)} scores per row."
            )
        label = np.asarray(target)
        known = next((pool for pool in self._pools if np.array_equal(pool[0], label)), None)
        if known is None:
            return self._value_of_training_rows(label), 1.0
        self._training = label[:0] if self._training is None else self._training
        # Copy, because CatBoost reuses the memory.
        weight = None if weight is None else np.array(weight)
        prepared = self._seen.metrics_of(known[0], known[0], known[1], weight)
        return self._values(prepared, np.asarray(approxes[0]))[self._name], 1.0

    def _value_of_training_rows(self, label: NDArray[Any]) -> float:
        """Value shown for training rows, which CatBoost evaluates first."""
        if self._training is None:
            self._training = label.copy()
        if not np.array_equal(self._training, label):
            raise ValueError(
                "catboost_metric evaluates only the pools that you passed to it, because CatBoost does not pass "
                "queries. Pass all pools of eval_set. catboost.cv creates its own pools; use RankingEvaluator instead. "
                f"Got {len(label)} other rows."
            )
        return min(0.0, self._specs[self._name].metric.bounds[0]) - 1.0

    def get_final_error(self, error: float, weight: float) -> float:
        """Return the value unchanged."""
        return error

    def __reduce__(self) -> tuple[Any, ...]:
        """State before training, and the function that creates the class."""
        return _empty, (self._name,), {**self.__getstate__(), "_training": None}


@cache
def _class_of(name: str) -> type[CatBoostMetric]:
    """Create a class with the given name, because CatBoost shows the class name."""
    return type(name, (CatBoostMetric,), {})


def _empty(name: str) -> CatBoostMetric:
    """Create a metric without state."""
    return object.__new__(_class_of(name))
