"""Power of the t test: the smallest difference that n queries can find, and the number of queries needed."""

from __future__ import annotations

import math
import warnings

from scipy import optimize, stats

from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.warning import own_filters
from sklearn_rank.stats._arguments import check_arguments
from sklearn_rank.stats._samples import ratio

MOST_QUERIES = 10**15
"""Number of queries at which the search stops."""


def power_of(difference: float, std: float, n: int, *, alpha: float = 0.05, alternative: str = "two-sided") -> float:
    """Probability that a paired t test finds a true difference.

    Parameters
    ----------
    difference : float
        True mean difference.
    std : float
        Standard deviation of the differences, query by query.
    n : int
        Number of queries.
    alpha : float, default=0.05
        Level of the test.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"

    Returns
    -------
    float
        From the noncentral t distribution.

    Examples
    --------
    >>> from sklearn_rank.stats import power_of
    >>> round(power_of(0.02, 0.1, 200), 3)
    0.804
    """
    check_arguments("power_of", difference=difference, std=std, n=n, alpha=alpha, alternative=alternative)
    return _power(ratio(difference, std / math.sqrt(n)), n - 1, alpha, alternative)


def minimal_detectable_difference(
    std: float, n: int, *, power: float = 0.8, alpha: float = 0.05, alternative: str = "two-sided"
) -> float:
    """Smallest true difference that a paired t test finds with the given power.

    Parameters
    ----------
    std : float
        Standard deviation of the differences, query by query.
    n : int
        Number of queries.
    power : float, default=0.8
    alpha : float, default=0.05
        Level of the test.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"

    Returns
    -------
    float
        Its size; results of `compare` have a method of this name.

    Examples
    --------
    >>> from sklearn_rank.stats import minimal_detectable_difference
    >>> round(minimal_detectable_difference(0.1, 200), 4)
    0.0199
    """
    check_arguments("minimal_detectable_difference", std=std, n=n, power=power, alpha=alpha, alternative=alternative)
    return detectable(std / math.sqrt(n), n - 1, power, alpha, alternative)


def queries_needed(
    difference: float, std: float, *, power: float = 0.8, alpha: float = 0.05, alternative: str = "two-sided"
) -> int:
    """Smallest number of queries with which a paired t test finds a true difference with the given power.

    Parameters
    ----------
    difference : float
        True mean difference; not 0.
    std : float
        Standard deviation of the differences, query by query.
    power : float, default=0.8
    alpha : float, default=0.05
        Level of the test.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"

    Returns
    -------
    int

    Raises
    ------
    ValueError
        If no number of queries is enough, because the difference is 0, next to nothing, or on the other side.

    Examples
    --------
    >>> from sklearn_rank.stats import queries_needed
    >>> queries_needed(0.02, 0.1)
    199
    """
    check_arguments("queries_needed", difference=difference, std=std, power=power, alpha=alpha, alternative=alternative)
    if difference == 0 or (difference > 0) == (alternative == "less") and alternative != "two-sided":
        raise ValueError(
            "The 'difference' parameter of queries_needed must not be 0, and on the side of the alternative. "
            f"Got {echo(difference)} with alternative={echo(alternative)}."
        )

    def enough(n: int) -> bool:
        return _power(ratio(difference, std / math.sqrt(n)), n - 1, alpha, alternative) >= power

    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_QUERIES:
            raise ValueError(
                f"More than {MOST_QUERIES:.0e} queries would be needed. "
                f"Got difference={echo(difference)}, std={echo(std)}."
            )
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def detectable(standard_error: float, df: float, power: float, alpha: float, alternative: str) -> float:
    """Smallest difference that is found with the given power, for its standard error."""
    side = "two-sided" if alternative == "two-sided" else "greater"
    lowest = _power(0.0, df, alpha, side)
    if power <= lowest:
        return 0.0
    high = 1.0
    while _power(high, df, alpha, side) < power:
        high *= 2
    root = optimize.brentq(lambda delta: _power(delta, df, alpha, side) - power, 0.0, high, xtol=1e-14, rtol=1e-14)
    return float(root * standard_error)


def _power(delta: float, df: float, alpha: float, alternative: str) -> float:
    if math.isinf(delta):
        return float(alternative != ("less" if delta > 0 else "greater"))
    if alternative == "two-sided":
        critical = stats.t.isf(alpha / 2, df)
        return float(_above(critical, df, delta) + _above(critical, df, -delta))
    return float(_above(stats.t.isf(alpha, df), df, delta if alternative == "greater" else -delta))


def _above(critical: float, df: float, delta: float) -> float:
    """Probability that the t statistic is above its critical value."""
    with own_filters():
        warnings.simplefilter("ignore", RuntimeWarning)  # SciPy returns nan, with a warning, close to 0 and 1
        probability = float(stats.nct.sf(critical, df, delta))
    return float(delta > critical) if math.isnan(probability) else probability
