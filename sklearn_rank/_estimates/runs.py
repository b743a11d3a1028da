"""Variance between runs of a system, such as with other seeds, in the standard error of a mean or a difference."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array, Index

RunMeans = Mapping[str, Sequence[float]]
"""Mean of each run, by the name of the metric or of the system."""


class RunSpread(NamedTuple):
    """Variance of the means of k runs, and the part of it that is due to the queries."""

    variance: float
    of_queries: float
    k: int


class Between(NamedTuple):
    """Variance between runs of a mean or a difference, and the sum of squares of its parts over their df."""

    variance: float = 0.0
    squares_over_df: float = 0.0

    def widened(self, standard_error: float, df: float) -> tuple[float, float]:
        """Standard error with this variance, and Satterthwaite's degrees of freedom."""
        if self.variance == 0:
            return standard_error, df
        total = standard_error**2 + self.variance
        return math.sqrt(total), total**2 / (standard_error**4 / df + self.squares_over_df)


ONE_RUN = Between()
"""No variance between runs: it is unknown, because systems have one run each."""


def run_spread(runs: Array, cluster: Index | None = None, weight: Array | None = None) -> RunSpread:
    """Spread of runs by their values, shape (n_queries, n_runs)."""
    # The residual variance of runs by queries (summed by cluster), over the number of queries, is due to the queries.
    (n, k), size = runs.shape, np.ones(len(runs)) if weight is None else weight
    means = size @ runs / size.sum()
    residual = runs - runs.mean(axis=1, keepdims=True) - (means - means.mean())
    if cluster is None:
        squares = (residual**2).sum() / (n - 1) * (size**2).sum() if n > 1 else 0.0
    else:
        _, number = np.unique(cluster, return_inverse=True)
        sums = np.stack([np.bincount(number, size * of_run) for of_run in residual.T])
        n_clusters = sums.shape[1]
        squares = n_clusters / (n_clusters - 1) * (sums**2).sum() if n_clusters > 1 else 0.0
    return RunSpread(float(means.var(ddof=1)), float(squares / (k - 1) / size.sum() ** 2), k)


def sd_of(means: Sequence[float]) -> float:
    """Standard deviation of the means of several runs."""
    return float(np.std(means, ddof=1))


def spread_of(
    values: Array | None, means: Sequence[float], cluster: Index | None, weight: Array | None
) -> RunSpread | None:  # fmt: skip
    """Spread of runs by their values, or by their means if no more is known; None for one run, and for one query."""
    if values is None:
        return RunSpread(float(np.var(means, ddof=1)), 0.0, len(means)) if means else None
    return run_spread(values, cluster, weight) if len(values) > 1 else None


def between_runs_of(spreads: Sequence[RunSpread | None]) -> Between:
    """Variance of the mean of one system, or a difference of two; None, a single run, has that of the other system."""
    variance, squares = 0.0, 0.0
    for spread in filter(None, spreads):
        share = 1 / spread.k + (None in spreads)
        if (between := max(0.0, spread.variance - spread.of_queries) * share) > 0:
            variance += between
            squares += (spread.variance * share) ** 2 / (spread.k - 1)
    return Between(variance, squares)


def refuse_runs(function_name: str, test: str, with_runs: Iterable[str]) -> None:
    """Raise ValueError if systems have several runs, and the test does not allow for their variance."""
    if test != "t" and (name := next(iter(with_runs), None)) is not None:
        raise ValueError(
            f"If a system has several runs, {function_name} takes test='t', because other tests do not know the "
            f"variance between runs. Got test={echo(test)} and several runs of {echo(name)}: to compare only these "
            "runs, pass their mean values, result.to_frame()[metric]."
        )
