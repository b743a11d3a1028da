"""Score intervals of success rates, and of differences of two: values of queries are 0 or 1."""

from __future__ import annotations

import math

import numpy as np
from scipy import special

from sklearn_rank._estimates.samples import Paired, Unpaired
from sklearn_rank._utils.typing import Array

Interval = tuple[float, float]


def are_successes(values: Array) -> bool:
    """Whether all values are 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())


def normal_quantile(confidence_level: float, alternative: str = "two-sided") -> float:
    """Quantile of the normal distribution that an interval of this level reaches to."""
    return float(special.ndtri((1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level))


def wilson(values: Array, z: float) -> Interval:
    """E. B. Wilson: Probable inference, the law of succession, and statistical inference. JASA 22, 1927."""
    n, rate = len(values), float(values.mean())
    center = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    # Rounding must not move the ends that are exact.
    return (center - reach if rate > 0 else 0.0), (center + reach if rate < 1 else 1.0)


def are_rates(sample: Paired | Unpaired, *, is_binary: bool) -> bool:
    """Whether a sample is of two success rates, of queries that are independent and count once each."""
    has_units = isinstance(sample, Paired) and not (sample.weight is None and sample.cluster is None)
    return is_binary and not has_units and are_successes(sample.a) and are_successes(sample.b)


def with_pseudo_pairs(sample: Paired) -> Paired:
    """The sample with a query more that only a gets right, and one that only b does: Bonett and Price, 2012."""
    return Paired(np.append(sample.a, [1.0, 0.0]), np.append(sample.b, [0.0, 1.0]))


def newcombe(sample: Unpaired, z: float) -> Interval:
    """Interval of a difference of two rates on different queries, from Wilson's of each: Newcombe, 1998, method 10."""
    p, q = float(sample.a.mean()), float(sample.b.mean())
    (p_low, p_high), (q_low, q_high) = wilson(sample.a, z), wilson(sample.b, z)
    return p - q - math.hypot(p - p_low, q_high - q), p - q + math.hypot(p_high - p, q - q_low)
