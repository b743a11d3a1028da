"""Score intervals of success rates, and of differences of two: values of queries are 0 or 1."""

from __future__ import annotations

import math

from scipy import stats

from sklearn_rank._utils.typing import Array
from sklearn_rank.stats._samples import Paired, Unpaired

Interval = tuple[float, float]


def are_successes(values: Array) -> bool:
    """Whether all values are 0 or 1."""
    return bool(((values == 0) | (values == 1)).all())


def quantile(confidence_level: float, alternative: str = "two-sided") -> float:
    """Quantile of the normal distribution that an interval of this level reaches to."""
    return float(stats.norm.ppf((1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level))


def wilson(values: Array, z: float) -> Interval:
    """E. B. Wilson: Probable inference, the law of succession, and statistical inference. JASA 22, 1927."""
    n, rate = len(values), float(values.mean())
    centre = (rate + z**2 / (2 * n)) / (1 + z**2 / n)
    reach = z / (1 + z**2 / n) * math.sqrt(rate * (1 - rate) / n + z**2 / (4 * n**2))
    # Rounding must not move the ends that are exact.
    return (centre - reach if rate > 0 else 0.0), (centre + reach if rate < 1 else 1.0)


def newcombe(sample: Paired | Unpaired, z: float) -> Interval:
    """Interval of a difference of two rates, from the Wilson interval of each and the correlation of the two.

    R. G. Newcombe: Improved confidence intervals for the difference between binomial proportions based on paired data.
    Statistics in Medicine 17, 1998, method 10. On different queries the correlation is 0, which is method 10 of his
    paper on independent proportions in the same volume.
    """
    phi = _correlation(sample.a, sample.b) if isinstance(sample, Paired) else 0.0
    p, q = float(sample.a.mean()), float(sample.b.mean())
    (p_low, p_high), (q_low, q_high) = wilson(sample.a, z), wilson(sample.b, z)
    return (
        p - q - _reach(p - p_low, q_high - q, phi),
        p - q + _reach(p_high - p, q - q_low, phi),
    )


def _reach(of_a: float, of_b: float, phi: float) -> float:
    return math.sqrt(max(of_a**2 - 2 * phi * of_a * of_b + of_b**2, 0.0))


def _correlation(a: Array, b: Array) -> float:
    """Correlation of paired successes, a positive one with a continuity correction."""
    n, both, of_a, of_b = len(a), float((a * b).sum()), float(a.sum()), float(b.sum())
    covariance = n * both - of_a * of_b
    if covariance > 0:
        covariance = max(covariance - n / 2, 0.0)
    variances = of_a * (n - of_a) * of_b * (n - of_b)
    return covariance / math.sqrt(variances) if variances > 0 else 0.0
