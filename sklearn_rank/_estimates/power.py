"""Power of the t test, the smallest difference that it can detect, and the number of queries that it needs."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import overload

from scipy import special

from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.samples import ratio
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.warning import own_filters

MOST_QUERIES = 10**15
"""Number of queries at which the search stops."""


@overload
def power_of(
    std: float, *, difference: float, n_queries: None = None, power: float, alpha: float = 0.05,
    alternative: str = "two-sided",
) -> int: ...  # fmt: skip
@overload
def power_of(
    std: float, *, difference: float | None = None, n_queries: int, power: float | None = None, alpha: float = 0.05,
    alternative: str = "two-sided",
) -> float: ...  # fmt: skip
@named_arguments
def power_of(
    std: float, *, difference: float | None = None, n_queries: int | None = None, power: float | None = None,
    alpha: float = 0.05, alternative: str = "two-sided",
) -> float:  # fmt: skip
    """Power of a paired t test, its smallest detectable difference, or the number of queries that it needs.

    Pass two of `difference`, `n_queries` and `power`; the function returns the third. The t statistic of a true
    difference has the noncentral t distribution.

    Parameters
    ----------
    std : float
        Standard deviation of the differences, query by query.
    difference : float, default=None
        True mean difference. None: return the smallest difference that `n_queries` find with this power. Results of
        `compare` have a method `minimal_detectable_difference`.
    n_queries : int, default=None
        Number of queries. None: return the smallest number that finds the difference with this power, an int.
    power : float, default=None
        Probability that the test finds the difference, such as 0.8. None: return it.
    alpha : float, default=0.05
        Level of the test.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"

    Returns
    -------
    float or int

    Raises
    ------
    ValueError
        If the call does not pass exactly two, or if no number of queries is enough, because the difference is 0, too
        small, or on the other side of the alternative.

    Examples
    --------
    >>> from sklearn_rank.stats import power_of
    >>> round(power_of(0.1, difference=0.02, n_queries=200), 3)
    0.804
    >>> round(power_of(0.1, n_queries=200, power=0.8), 4)
    0.0199
    >>> power_of(0.1, difference=0.02, power=0.8)
    199
    """
    one_left_out = {"difference": difference, "n_queries": n_queries, "power": power}
    known = {name: value for name, value in one_left_out.items() if value is not None}
    check_arguments("power_of", std=std, **known, alpha=alpha, alternative=alternative)
    if difference is not None and n_queries is not None and power is None:
        return _power(ratio(difference, std / math.sqrt(n_queries)), n_queries - 1, alpha, alternative)
    if difference is None and n_queries is not None and power is not None:
        return detectable(std / math.sqrt(n_queries), n_queries - 1, power, alpha, alternative)
    if difference is not None and n_queries is None and power is not None:
        return _queries_needed(difference, std, power, alpha, alternative)
    got = " and ".join(known) or "none"
    raise ValueError(f"power_of takes two of difference, n_queries and power, and returns the third. Got {got}.")


def _queries_needed(difference: float, std: float, power: float, alpha: float, alternative: str) -> int:
    if difference == 0 or (difference > 0) == (alternative == "less") and alternative != "two-sided":
        raise ValueError(
            "A number of queries needs a 'difference' that is not 0 and on the side of the alternative. "
            f"Got {echo(difference)} with alternative={echo(alternative)}."
        )

    def enough(n: int) -> bool:
        return _power(ratio(difference, std / math.sqrt(n)), n - 1, alpha, alternative) >= power

    if math.isinf(n := smallest(enough, MOST_QUERIES)):
        raise ValueError(
            f"More than {MOST_QUERIES:.0e} queries would be needed. Got difference={echo(difference)}, std={echo(std)}."
        )
    return int(n)


def smallest(enough: Callable[[int], bool], most: float = math.inf) -> float:
    """Smallest number of queries, at least 2, that is enough, by bisection; infinite if `most` are not."""
    high = 2
    while not enough(high):
        if high == most:
            return math.inf
        high = int(min(2 * high, most))
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def root(f: Callable[[float], float], low: float, high: float, within: float) -> float:
    """Root of a function between two ends at which its signs differ: regula falsi, in turns with bisection."""
    # scipy.optimize.brentq takes a quarter of a second to load.
    y_low, y_high, halves = f(low), f(high), False
    while high - low > within and y_low and y_high:
        x = (low + high) / 2 if halves else low + (high - low) * y_low / (y_low - y_high)
        x = max(low + within / 2, min(high - within / 2, x))
        y, halves = f(x), not halves
        if (y > 0) == (y_low > 0):
            low, y_low = x, y
        else:
            high, y_high = x, y
    return high if abs(y_high) < abs(y_low) else low


def detectable(standard_error: float, df: float, power: float, alpha: float, alternative: str) -> float:
    """Smallest difference that is found with the given power, for its standard error."""
    side = "two-sided" if alternative == "two-sided" else "greater"
    lowest = _power(0.0, df, alpha, side)
    if power <= lowest:
        return 0.0
    high = 1.0
    while _power(high, df, alpha, side) < power:
        high *= 2
    found = root(lambda delta: _power(delta, df, alpha, side) - power, 0.0, high, 1e-14 * high)
    return float(found * standard_error)


def _power(delta: float, df: float, alpha: float, alternative: str) -> float:
    if math.isinf(delta):
        return float(alternative != ("less" if delta > 0 else "greater"))
    if alternative == "two-sided":
        critical = -special.stdtrit(df, alpha / 2)
        return float(_above(critical, df, delta) + _above(critical, df, -delta))
    return float(_above(-special.stdtrit(df, alpha), df, delta if alternative == "greater" else -delta))


def _above(critical: float, df: float, delta: float) -> float:
    from scipy.stats import nct

    # SciPy returns nan, with a warning, close to 0 and 1.
    with own_filters():
        warnings.simplefilter("ignore", RuntimeWarning)
        probability = float(nct.sf(critical, df, delta))
    return float(delta > critical) if math.isnan(probability) else probability
