"""Plot of several systems and their significant differences."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any, Self

import numpy as np

from sklearn_rank._comparison.align import align
from sklearn_rank._comparison.paired_test import PairedTest
from sklearn_rank._estimates.intervals import mean_interval
from sklearn_rank._estimates.significance import ComparisonOptions
from sklearn_rank._evaluation.intervals import bounds_of_values
from sklearn_rank._tell.text import level_in_words
from sklearn_rank._utils.constraints import is_real
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank.display._arguments import mapping
from sklearn_rank.display._display import PredictionsDisplay
from sklearn_rank.display._figure import (
    COLORS,
    in_words,
    make_room,
    set_explained,
    set_rows,
    size_of,
    value_label,
)
from sklearn_rank.display._signature import completed
from sklearn_rank.stats import compare_all

BAR, NARROW = 11.0, 3.5
"""Distance of bars in points, and its minimum in small axes."""
MOST = 0.6
"""Maximum share of the width of the axes for numbers and bars."""


@completed
class CriticalDifferenceDisplay(PredictionsDisplay):
    """Means of several systems, the best mean on top, with bars that join systems without significant differences.

    A bar joins the systems that have a dot on it: no two of them differ significantly after correction for the number
    of pairs. With a baseline, the only bar joins the baseline and all systems that do not differ significantly from it.
    The plot shows means, not mean ranks like the diagrams of Demšar, so you can also read the size of a difference.

    To compare models on queries outside their training sets, pass the result of `RankingEvaluator.compare` to
    `from_results`.

    Parameters
    ----------
    means : dict of str to float
        Mean of each system.
    pvalues : dict of (str, str) to float
        Corrected p-value of each pair; with a baseline, of each other system against the baseline.
    alpha : float, default=0.05
        Systems differ significantly if the p-value is at most `alpha`.
    baseline : str, default=None
        System that the others were compared with. None: all pairs were compared.
    note : str, default=""
        Method behind the p-values, for the label.
    intervals : dict of str to (float, float), default=None
        Confidence interval of the mean of each system; a system may be missing.
    confidence_level : float or None, default=None
        Level of the intervals, for the label.

    Attributes
    ----------
    order_ : list of str
        Systems, the best mean first.
    groups_ : list of list of str
        Systems that each bar joins.
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    points_ : Line2D
    intervals_ : LineCollection or None
    bars_ : list of Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import CriticalDifferenceDisplay
    >>> pvalues = {("a", "b"): 0.4, ("a", "c"): 0.01, ("b", "c"): 0.2}
    >>> display = CriticalDifferenceDisplay({"a": 0.7, "b": 0.6, "c": 0.5}, pvalues).plot()
    >>> display.groups_
    [['a', 'b'], ['b', 'c']]
    >>> plt.close(display.figure_)
    """

    _drawn_by = "_from_evaluated"

    def __init__(
        self, means: Mapping[str, float], pvalues: Mapping[tuple[str, str], float], *, alpha: float = 0.05,
        baseline: str | None = None, metric: str = "metric", greater_is_better: bool = True, note: str = "",
        intervals: Mapping[str, tuple[float, float]] | None = None, confidence_level: float | None = None,
    ) -> None:  # fmt: skip
        self.means, self.pvalues, self.alpha = mapping(means, "means"), mapping(pvalues, "pvalues"), alpha
        _check_pvalues(self.pvalues, self.means, baseline)
        self.intervals = {} if intervals is None else mapping(intervals, "intervals")
        self.confidence_level = confidence_level
        self.baseline, self.metric, self.greater_is_better, self.note = baseline, metric, greater_is_better, note

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the systems and the bars.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`, for the means.
        """
        self.order_ = sorted(self.means, key=lambda name: self.means[name], reverse=self.greater_is_better)
        self.groups_ = self._groups()
        ax = self._open(ax, height=1.7 + 0.32 * len(self.order_))
        set_explained(
            ax, f"mean {value_label(self.metric, self.greater_is_better)}{self._level()}", self._explanation()
        )
        size = set_rows(ax, [self._label(name) for name in self.order_])
        self._draw_means(ax, size, kwargs)
        self._draw_bars(ax, size)
        ax.grid(axis="y", linestyle=":", color="0.85")
        ax.set_axisbelow(True)
        make_room(ax)
        return self

    def _draw_means(self, ax: Any, size: float, kwargs: dict[str, Any]) -> None:
        """Dots with intervals, and the mean as a number to the right of each."""
        means, rows = np.array([self.means[name] for name in self.order_]), np.arange(len(self.order_))
        ends = [self.intervals.get(name, (np.nan, np.nan)) for name in self.order_]
        low, high = np.where(np.isnan(ends), means[:, None], ends).T
        look = {"color": COLORS[0], "marker": "o", "linestyle": "", "markersize": 5}
        self.intervals_ = ax.hlines(rows, low, high, color=COLORS[0], linewidth=1.2) if self.intervals else None
        (self.points_,) = ax.plot(means, rows, **look | kwargs)
        for row, (mean, right) in enumerate(zip(means, np.maximum(means, high), strict=True)):
            ax.annotate(f"{mean:#.3g}", (right, row), (5, 0), textcoords="offset points", va="center", fontsize=size)

    def _draw_bars(self, ax: Any, size: float) -> None:
        """Bars inside the frame, to the right of the numbers; bars of different rows share a column."""
        row = {name: i for i, name in enumerate(self.order_)}
        columns = _columns([(row[group[0]], row[group[-1]]) for group in self.groups_])
        n_columns = max(columns, default=-1) + 1
        width = 0.8 * size_of(ax)[0]
        numbers = 3 * size + 10
        bar = min(BAR, max(NARROW, (MOST * width - numbers) / max(n_columns, 1)))
        share_taken, step = min(MOST, (numbers + bar * (n_columns + 0.5)) / width), bar / width
        low, high = ax.dataLim.intervalx
        span = (high - low) or abs(high) or 1.0
        if np.isfinite(span):
            ax.set_xlim(low - 0.06 * span, low + 1.06 * span / (1 - share_taken))
            ax.locator_params("x", nbins=4)
            ax.set_xticks([tick for tick in ax.get_xticks() if low - 0.06 * span <= tick <= high])
        share = min(1.0, 2 * bar / BAR)
        look: dict[str, Any] = {
            "color": "black", "marker": "o", "linewidth": 2.5 * share, "markersize": 5 * share,
        }  # fmt: skip
        look["transform"] = ax.get_yaxis_transform()
        self.bars_ = []
        for group, column in zip(self.groups_, columns, strict=True):
            x = 1 - step * (max(columns) - column + 0.8)
            self.bars_ += ax.plot([x] * len(group), [row[name] for name in group], **look)

    def _level(self) -> str:
        return f" with {level_in_words(self.confidence_level)}" if self.intervals and self.confidence_level else ""

    def _label(self, name: str) -> str:
        return f"{name} (baseline)" if name == self.baseline else name

    def _explanation(self) -> str:
        bars = "bars: no significant difference" if self.groups_ else "all systems differ significantly"
        whom = "" if self.baseline is None else " from the baseline"
        note = f"{self.note}, " if self.note else ""
        return f"{bars}{whom} ({note}level {self.alpha:g})"

    def _groups(self) -> list[list[str]]:
        """Maximal groups of systems without a significant difference, or the group of the baseline."""
        alike: dict[str, set[str]] = {name: set() for name in self.order_}
        for (a, b), pvalue in self.pvalues.items():
            if pvalue > self.alpha:
                alike[a].add(b)
                alike[b].add(a)
        if self.baseline is not None:
            groups = [{self.baseline, *alike[self.baseline]}]
        else:
            groups = _cliques(alike, set(), set(self.order_), set())
        rows = sorted(sorted(map(self.order_.index, group)) for group in groups if len(group) > 1)
        return [[self.order_[i] for i in group] for group in rows]

    @classmethod
    def from_test(
        cls, test: PairedTest, *, alpha: float = 0.05, intervals: Mapping[str, tuple[float, float]] | None = None,
        ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Plot a result of `sklearn_rank.stats.compare_all`.

        Parameters
        ----------
        test : PairedTest
            Tests of the systems. For tests of segments, the plot shows the pairs on all queries.
        intervals : dict of str to (float, float), default=None
            Confidence interval of the mean of each system, at the level of the test. None: no intervals.
        """
        if not isinstance(test, PairedTest):
            raise TypeError(f"test must be a result of stats.compare_all(...). Got {echo(test)} instead.")
        of_all = test.overall
        display = cls(
            of_all.means, {pair: of_all[pair].corrected_pvalue for pair in of_all.pairs}, alpha=alpha,
            baseline=of_all.baseline, metric=of_all.metric or "value", greater_is_better=of_all.greater_is_better,
            note=in_words(of_all.test, of_all.correction), intervals=intervals,
            confidence_level=of_all.confidence_level,
        )  # fmt: skip
        return display.plot(ax, **kwargs)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Any], metric: str | None = None, *, alpha: float = 0.05, ax: Any = None,
        **options: Any,
    ) -> Self:  # fmt: skip
        """Plot results on the same queries.

        Parameters
        ----------
        results : dict of str to Evaluation, or Comparison
            Two systems or more, by name.
        **options
            Passed to `sklearn_rank.stats.compare_all`, such as `test`, `correction` and `baseline`.

        Raises
        ------
        ValueError, TypeError
            If `compare_all` refuses the results or the options.
        """
        test = compare_all(results, metric=metric, **options)
        return cls.from_test(test, alpha=alpha, intervals=_intervals(results, metric, **options), ax=ax)

    @classmethod
    def _from_evaluated(
        cls,
        results: Mapping[str, Any],
        *,
        alpha: float = 0.05,
        options: Mapping[str, Any] | None = None,
        ax: Any = None,
    ) -> Self:
        """Plot results.

        Parameters
        ----------
        options : dict, default=None
            Keywords of `sklearn_rank.stats.compare_all`, such as `test`, `correction` and `baseline`.
        """
        return cls.from_results(results, alpha=alpha, ax=ax, **(options or {}))


def _check_pvalues(pvalues: Mapping[Any, Any], means: Mapping[str, float], baseline: str | None) -> None:
    """Refuse invalid p-values and pairs, and missing pairs, which would count as different."""
    for pair, pvalue in pvalues.items():
        if not isinstance(pair, tuple) or len(pair) != 2 or not {*pair} <= {*means}:
            raise ValueError(f"pvalues must be of pairs of the systems of means: {echo_all(means)}. Got {echo(pair)}.")
        if not is_real(pvalue) or not 0 <= pvalue <= 1:
            raise ValueError(f"pvalues must be from 0 to 1. Got {echo(pvalue)} for {echo(pair)}.")
    known = {frozenset(pair) for pair in pvalues}
    for pair in combinations(means, 2):
        if frozenset(pair) not in known and (baseline is None or baseline in pair):
            raise ValueError(f"pvalues must have each pair that was compared. Got none for {echo(pair)}.")


def _cliques(alike: Mapping[str, set[str]], group: set[str], rest: set[str], seen: set[str]) -> list[set[str]]:
    """Maximal groups of systems without a significant difference: maximal cliques (Bron and Kerbosch, 1973)."""
    if not rest and not seen:
        return [group]
    cliques = []
    for name in sorted(rest):
        cliques += _cliques(alike, group | {name}, rest & alike[name], seen & alike[name])
        rest, seen = rest - {name}, seen | {name}
    return cliques


def _intervals(
    results: Mapping[str, Any], metric: str | None, *, clusters: Any = None, weight: Any = None, **options: Any
) -> dict[str, tuple[float, float]]:
    """Interval of the mean of each system over the compared queries."""
    options = {key: value for key, value in options.items() if key not in ("baseline", "correction")}
    plan = ComparisonOptions(**options)
    aligned = align(results, metric, plan, "compare_all", clusters, weight)
    return {
        name: mean_interval(
            values, aligned.cluster, aligned.weight,
            bounds_of_values(aligned.metric or "", aligned.meaning or "", values), plan.confidence_level,
            is_binary=aligned.is_binary, between=aligned.between([name]),
        ).ends
        for name, values in zip(results, aligned.values, strict=True)
    }  # fmt: skip


def _columns(spans: Sequence[tuple[int, int]]) -> list[int]:
    """Assign a column to each bar, so that bars in a column do not touch."""
    ends: list[int] = []
    columns = []
    for first, last in spans:
        free = next((i for i, end in enumerate(ends) if end < first), len(ends))
        ends[free : free + 1] = [last]
        columns.append(free)
    return columns
