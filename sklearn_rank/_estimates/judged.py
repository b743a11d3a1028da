"""Prediction-powered inference: people judge a few queries, a model judges many."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from sklearn_rank._estimates.intervals import Interval, mean_interval, t_interval
from sklearn_rank._estimates.samples import (
    EQUAL_WITHIN,
    NOT_SEEN,
    SKEWED,
    Paired,
    exact_mean,
    is_skewed,
    sample_of,
    with_bounds_seen,
)
from sklearn_rank._estimates.significance import ComparisonOptions, student, t_pvalue
from sklearn_rank._utils.typing import Array

SAME_SHARE = 1e-9
"""Difference of shares that is a rounding error."""


class JudgedValues(NamedTuple):
    """Values per query: by people, by the model on the same queries, and by the model on the other queries.

    `pseudo`: values of two pseudo queries at the bounds, which allow for values that were not seen; otherwise empty.
    `bounds`: lowest and highest value, or difference, of the metric. `are_rates`: success rates, which always have the
    pseudo queries. `shares`: judged documents of the system that
    people judged least, by people and by the model; NaN if unknown.
    """

    human: Array
    model: Array
    others: Array
    n_left_out: int = 0
    pseudo: Array = np.empty(0)
    bounds: Array = np.array([-math.inf, math.inf])
    shares: Array = np.array([math.nan, math.nan])
    is_difference: bool = False
    are_rates: bool = False

    @property
    def allows_for_unseen(self) -> bool:
        """Whether values that are not success rates have pseudo queries."""
        return len(self.pseudo) > 0 and not self.are_rates

    @property
    def note(self) -> str:
        """Note of the intervals: `NOT_SEEN`, `SKEWED` or none."""
        is_seen = self.are_rates or not is_skewed(sample_of(self.human, None))
        return NOT_SEEN if self.allows_for_unseen else "" if is_seen else SKEWED

    @property
    def residuals_are_equal(self) -> bool:
        """Whether people and the model differ by the same amount everywhere, and no pseudo queries allow for it."""
        residual = self.human - self.model
        return not len(self.pseudo) and bool(np.ptp(residual) <= EQUAL_WITHIN * np.abs(self.human).max())

    @property
    def people_judged_less(self) -> bool:
        """Whether people are known to have judged fewer of the documents than the model."""
        return bool(self.shares[0] < self.shares[1] - SAME_SHARE)


class JudgedEstimate(NamedTuple):
    """Prediction-powered mean, its standard error (with pseudo queries), lambda, interval and p-value."""

    mean: float
    standard_error: float
    lam: float
    interval: Interval
    pvalue: float


def power_tuned(values: JudgedValues, lam: float | None = None) -> tuple[float, float, float]:
    """PPI++ estimate of a mean, its standard error, and lambda, the weight of the model; None tunes lambda."""
    # As in ppi-python, the variance of all model values in lambda divides by n - 1, and all other variances by n.
    human, model, others = values[:3]
    n, n_others = len(human), len(others)
    if lam is None:
        covariance = float(np.mean((human - human.mean()) * (model - model.mean())))
        variance = float(np.concatenate([model, others]).var(ddof=1))
        lam = min(max(covariance / ((1 + n / n_others) * variance), 0.0), 1.0)
    mean = exact_mean(human) + lam * (exact_mean(others) - exact_mean(model))
    variance = float((human - lam * model).var()) / n + lam**2 * float(others.var()) / n_others
    return mean, math.sqrt(variance), lam


def estimate(values: JudgedValues, confidence_level: float) -> JudgedEstimate:
    """The estimate and its interval; only people's values count if the model gives all queries the same value."""
    # The interval of a rate, or of skewed or equal values, adds two pseudo queries on which the model is wrong once in
    # each direction; that of a difference adds a win and a loss that the model does not see. The mean has none of them.
    mean, lam = _tuned(values)
    # A model without a correlation on the queries at hand has none with the pseudo queries.
    center, standard_error = _people(values) if _is_constant(values) else power_tuned(_with_pseudo_queries(values))[:2]
    (low, high), pvalue = _with_ends(values, center, standard_error, confidence_level)
    if values.allows_for_unseen:
        reached = min(max(mean, float(values.bounds[0])), float(values.bounds[1]))
        low, high = min(low, reached), max(high, reached)
    return JudgedEstimate(mean, standard_error, lam, (low, high), pvalue)


def allowing_for_unseen(values: JudgedValues) -> JudgedValues:
    """The values with pseudo queries, if people's values, or what the model leaves of them, are skewed or all equal."""
    low, high = values.bounds
    people = sample_of(values.human, None)
    if values.are_rates or not math.isfinite(high - low) or (values.is_difference and people.standard_error == 0):
        return values
    left = sample_of(values.human - _tuned(values)[1] * values.model, None)
    if any(is_skewed(sample) or sample.standard_error == 0 for sample in (people, left)):
        return values._replace(pseudo=np.array([high, low]))
    return values


def _tuned(values: JudgedValues) -> tuple[float, float]:
    """Mean and lambda; only people's values count if the model gives all queries the same value."""
    if _is_constant(values):
        return exact_mean(values.human), 0.0
    mean, _, lam = power_tuned(values)
    return mean, lam


def _is_constant(values: JudgedValues) -> bool:
    everything = np.concatenate([values.model, values.others])
    return bool(np.ptp(everything) <= EQUAL_WITHIN * np.abs(everything).max())


def _people(values: JudgedValues) -> tuple[float, float]:
    if values.allows_for_unseen:
        return with_bounds_seen(sample_of(values.human, None), (float(values.bounds[0]), float(values.bounds[1])))
    human = np.append(values.human, values.pseudo)
    return exact_mean(human), sample_of(human, None).standard_error


def _with_pseudo_queries(values: JudgedValues) -> JudgedValues:
    """Add the pseudo queries, on which the model makes the largest possible error."""
    human = np.append(values.human, values.pseudo)
    wrong = 0 * values.pseudo if values.is_difference else values.pseudo[::-1]
    return values._replace(human=human, model=np.append(values.model, wrong))


def _with_ends(values: JudgedValues, center: float, standard_error: float, level: float) -> tuple[Interval, float]:
    """Student's t interval, cut at the bounds of the metric, and p; without spread, only p, of a sign test."""
    # Only the pseudo queries of a success rate give degrees of freedom.
    df = len(values.human) - 1.0 + 2 * (values.are_rates and not values.is_difference)
    if standard_error <= EQUAL_WITHIN * abs(center):
        return (math.nan, math.nan), student(Paired(values.human, 0 * values.human), ComparisonOptions()).pvalue
    (low, high), (lowest, highest) = t_interval(center, standard_error, df, level, "two-sided"), values.bounds
    return (max(low, lowest), min(high, highest)), t_pvalue(center / standard_error, df, "two-sided")


def people_alone(values: JudgedValues, confidence_level: float) -> tuple[Interval, float]:
    """Interval of only people's values, and p of a difference; a mean follows the rule of all means."""
    if values.is_difference:
        return _with_ends(values, *_people(values), confidence_level)
    bounds = float(values.bounds[0]), float(values.bounds[1])
    return mean_interval(values.human, None, None, bounds, confidence_level, is_binary=values.are_rates).ends, math.nan
