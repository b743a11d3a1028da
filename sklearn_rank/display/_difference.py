"""Plot of the differences of two systems by query."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._comparison.compare import corrected_level
from sklearn_rank._comparison.compare_all import check_plan
from sklearn_rank._comparison.paired_test import CORRECTED_LEVEL
from sklearn_rank._data.look import collected_findings
from sklearn_rank._estimates.samples import Paired
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.text import level_in_words
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import Array
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import PredictionsDisplay, SystemDisplay
from sklearn_rank.display._figure import (
    COLORS,
    LIGHT,
    in_words,
    label_of,
    make_room,
    open_axes,
    pvalue_text,
    set_explained,
    set_labels,
    set_rows,
    signed_difference,
    test_in_words,
    thin,
)
from sklearn_rank.display._input import baseline_in, name_in, paired, refuse_one_object
from sklearn_rank.display._signature import completed
from sklearn_rank.stats import adjust_pvalues, compare


@completed
class DifferenceDisplay(SystemDisplay, PredictionsDisplay):
    """Sorted differences of a system from a baseline by query: how many queries gain and lose, and how much.

    A difference is the value of the system minus the value of the baseline, even if lower values are better. The dashed
    line is the mean difference; the band around it is the confidence interval. Several systems have a row each, with
    the mean difference from the baseline, its interval, and the middle half of the queries.

    To compare models on queries outside their training sets, pass the result of `RankingEvaluator.compare` to
    `from_results`.

    Parameters
    ----------
    difference : array-like of shape (n_queries,)
        For each query, the value of the system minus the value of the baseline; NaN is left out.
    qid : array-like of shape (n_queries,), default=None
        Query ids.
    names : tuple of two str, default=("system", "baseline")
        Names of the system and of the baseline.
    confidence_interval : tuple of two float, default=None
        Interval of the mean difference; NaN if there is none. For several systems, `from_results` uses intervals at the
        level of the corrected p-value.
    confidence_level : float or None, default=None
        Level of the interval, for the label.
    pvalue : float, default=None
        P-value of the mean difference.
    note : str, default=""
        Method behind the p-value, for the label.
    as_row : bool, default=False
        Whether to draw a row with the mean and the middle half of the differences, as for several systems, instead of
        the difference of each query.
    weight : array-like of shape (n_queries,), default=None
        Weight of each query in the mean difference. In areas and boxes each query counts once.

    Attributes
    ----------
    mean_ : float
        Mean difference.
    n_better_, n_equal_, n_worse_ : int
        Numbers of queries on which the system is better than, equal to and worse than the baseline.
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    steps_ : list of StepPatch
        Areas of the positive and of the negative differences. In a row: a line for 90 % of the differences, and a box
        for the middle half.
    mean_line_ : Line2D
    band_ : Polygon, Rectangle, ErrorbarContainer or None
        Interval of the mean difference.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import DifferenceDisplay
    >>> scores = {"old": [2, 1, 1, 2], "new": [2, 1, 2, 1]}
    >>> display = DifferenceDisplay.from_predictions(
    ...     [0, 1, 1, 0], scores, qid=list("aabb"), metric="mrr"
    ... )
    >>> display.difference, (display.n_better_, display.n_equal_, display.n_worse_)
    (array([0. , 0.5]), (1, 1, 0))
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, difference: ArrayLike, *, qid: ArrayLike | None = None, names: tuple[str, str] = ("system", "baseline"),
        confidence_interval: tuple[float, float] | None = None, confidence_level: float | None = None,
        pvalue: float | None = None, note: str = "", as_row: bool = False, metric: str = "metric",
        greater_is_better: bool = True, weight: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        (self.difference,) = points(difference=required(difference, "difference"))
        self.weight = None if weight is None else points(difference=difference, weight=weight)[1]
        self.confidence_interval, self.confidence_level = _interval(confidence_interval), confidence_level
        self.pvalue, self.note, self.as_row = pvalue, note, as_row
        if not isinstance(names, (tuple, list)) or len(names) != 2:
            raise ValueError(f"names must be the names of two systems. Got {echo(names)} instead.")
        self.qid, self.names, self.metric, self.greater_is_better = qid, names, metric, greater_is_better

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the differences, the largest first.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `stairs`, for both areas; for a row, to its `errorbar`.

        Raises
        ------
        ValueError
            If no query has a difference.
        """
        defined = ~np.isnan(self.difference)
        d = -np.sort(-self.difference[defined])
        if not len(d):
            raise ValueError("A plot of differences needs a query with a value in both systems. Got none.")
        ax, self.mean_ = self._open(ax), self._mean(defined)
        n_positive, n_negative = int((d > 0).sum()), int((d < 0).sum())
        self.n_equal_ = len(d) - n_positive - n_negative
        self.n_better_, self.n_worse_ = (n_positive, n_negative)[:: 1 if self.greater_is_better else -1]
        if self.as_row:
            self._draw_row(ax, d, kwargs)
            if self._names:
                make_room(ax)
        else:
            self._draw_areas(ax, d, kwargs)
            self._name_systems()
        return self

    def _draw_areas(self, ax: Any, d: Array, kwargs: dict[str, Any]) -> None:
        """Areas of the queries that gain and lose, and the mean with its interval."""
        above, below = self.names if self.greater_is_better else self.names[::-1]
        n_above, n_below = int((d > 0).sum()), int((d < 0).sum())
        drawn = thin(len(d))
        edges = np.append(drawn, len(d))
        looks: tuple[dict[str, Any], ...] = (
            {"color": LIGHT, "label": label_of(f"{above} better: {_queries(n_above)}")},
            {
                "facecolor": "0.85", "edgecolor": COLORS[1], "hatch": "////",
                "label": label_of(f"{below} better: {_queries(n_below)}"),
            },
        )  # fmt: skip
        parts = (np.maximum(d[drawn], 0), np.minimum(d[drawn], 0))
        self.steps_ = [
            ax.stairs(y, edges, **{"fill": True} | look | kwargs) for y, look in zip(parts, looks, strict=True)
        ]
        ax.plot([], [], " ", label=f"equal: {_queries(self.n_equal_)}")
        ax.axhline(0, color="0.3", linewidth=0.8)
        note = f" ({self.note})" if self.note else ""
        mean = (
            "\n".join([f"mean difference {signed_difference(self.mean_, self._width())}", *self._statistics()]) + note
        )
        self.mean_line_ = ax.axhline(self.mean_, color="black", linestyle="--", label=mean)
        self.band_ = None
        if self.confidence_interval is not None and self._has_interval():
            self.band_ = ax.axhspan(*self.confidence_interval, color="black", alpha=0.15, linewidth=0)
        ax.set_xlim(0, len(d))
        set_labels(ax, "queries, sorted by difference", self._what())

    def _draw_row(self, ax: Any, d: Array, kwargs: dict[str, Any]) -> None:
        """Draw the mean difference with its interval in a new lowest row, over the differences of queries."""
        rows, mean = [bar for bar in ax.containers if hasattr(bar, "has_xerr")], self.mean_
        if not rows:
            ax.axvline(0, color="0.3", linewidth=0.8)
        low, first, third, high = np.quantile(d, [0.05, 0.25, 0.75, 0.95])
        self.steps_ = [
            *ax.plot([low, high], [len(rows)] * 2, color=LIGHT, linewidth=1.5, zorder=1),
            *ax.barh(len(rows), third - first, left=first, height=0.4, color=LIGHT, alpha=0.6, zorder=1),
        ]
        reach = np.abs(np.transpose([self.confidence_interval or (np.nan, np.nan)]) - mean)
        look = {"color": "black", "marker": "o", "markersize": 4, "capsize": 2.5, "label": label_of(self.names[0])}
        self.band_ = ax.errorbar(mean, len(rows), xerr=reach, **look | kwargs)
        self.mean_line_ = self.band_[0]
        of_mean = ", ".join([signed_difference(mean, self._width()), *self._statistics()[-1:]])
        ax.annotate(of_mean, (1, len(rows)), (4, 0), ax.get_yaxis_transform(), "offset points", va="center")
        self._label_rows(ax)
        size = set_rows(ax, [bar.get_label() for bar in (*rows, self.band_)])
        for text in ax.texts:
            text.set_fontsize(size)

    def _what(self) -> str:
        """Label of the value axis."""
        better = "" if self.greater_is_better else " (lower is better)"
        return f"difference in {display_name(self.metric)} from {self.names[1]}{better}"

    def _label_rows(self, ax: Any) -> None:
        level = "" if self.confidence_level is None else f" with {level_in_words(self.confidence_level)}"
        note = f"; {self.note}" if self.note else ""
        set_explained(ax, self._what(), f"dots: means{level}; boxes: half of queries, lines: 90 %{note}")

    def _mean(self, defined: NDArray[np.bool_]) -> float:
        weight = None if self.weight is None else self.weight[defined]
        return float(np.average(self.difference[defined], weights=weight))

    def _width(self) -> float:
        low, high = self.confidence_interval or (math.nan, math.nan)
        return high - low

    def _has_interval(self) -> bool:
        return self.confidence_interval is not None and not np.isnan(self.confidence_interval).any()

    def _statistics(self) -> list[str]:
        """Interval and p-value as text, if there are any."""
        texts = []
        if self.confidence_interval is not None and self._has_interval():
            level = "" if self.confidence_level is None else f"{level_in_words(self.confidence_level)} "
            low, high = self.confidence_interval
            texts.append(f"{level}[{signed_difference(low, high - low)}, {signed_difference(high, high - low)}]")
        if self.pvalue is not None and not np.isnan(self.pvalue):
            texts.append(pvalue_text(self.pvalue))
        return texts

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], metric: str | None = None, *, baseline: str | None = None,
        test: str = "t", correction: str | None = "holm", confidence_level: float = 0.95, ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Plot two or more results; queries are matched by their ids.

        Parameters
        ----------
        results : dict of str to Evaluation, or Comparison
            Two systems or more, by name.
        metric : str, default=None
            A metric of the results. None: the only metric.
        baseline : str, default=None
            System that is subtracted from each of the others. None: the first.
        test : str, default="t"
            Paired test over queries, see `sklearn_rank.stats.compare`; pooled and geometric means have no test.
        correction : {"holm", "bonferroni", "bh"} or None, default="holm"
            Correction of the p-values of more than two systems.
        confidence_level : float, default=0.95
            Level of the interval of the mean difference.

        Raises
        ------
        ValueError
            If there are fewer than two systems, the metric or the baseline is missing, the queries differ, or no query
            can distinguish the systems.
        """
        if not isinstance(results, Mapping) or len(results) < 2:
            got = (
                f"{len(results)}: {echo([*results])}" if isinstance(results, (Mapping, list, tuple)) else echo(results)
            )
            raise ValueError(f"A difference needs a dict of two systems, by name. Got {got}.")
        refuse_one_object(results)
        baseline = baseline_in(results, baseline)
        check_plan("DifferenceDisplay", test=test, correction=correction)
        options = {"test": test, "confidence_level": confidence_level}
        others = [name for name in results if name != baseline]
        displays = {
            name: cls._of_two((name, baseline), results[name], results[baseline], metric, options) for name in others
        }
        if len(others) == 1:
            return displays[others[0]].plot(ax, **kwargs)
        _correct(displays, results, correction, options)
        return cls._of_systems(displays, ax, **kwargs)

    def _open_for_all(self, ax: Any) -> Any:
        return open_axes(ax, height=1.6 + 0.3 * len(self.systems_))

    @classmethod
    def _of_two(
        cls, names: tuple[str, str], a: Evaluation, b: Evaluation, metric: str | None, options: Mapping[str, Any]
    ) -> Self:
        """Make the display of two systems without drawing it."""
        metric = name_in(b, name_in(a, metric))
        qid, values, others = paired(a, b, metric)
        # As in `compare`, values that differ only by rounding are equal.
        difference = Paired(values, others).values
        display = cls(
            difference, qid=qid, names=names, metric=metric, greater_is_better=a.greater_is_better[metric],
            weight=a.weight,
        )  # fmt: skip
        n_counted = np.count_nonzero(~np.isnan(difference) & (True if a.weight is None else a.weight > 0))
        if a.average[metric] == b.average[metric] == "macro" and n_counted > 1:
            # Plots do not warn about unevenly judged systems; calls that return numbers do.
            with collected_findings():
                tested = compare(a, b, metric=metric, **options)
            if tested.nothing:
                raise ValueError(tested.nothing)
            display.confidence_interval, display.pvalue = tested.confidence_interval, tested.pvalue
            display.confidence_level, display.note = tested.confidence_level, test_in_words(tested.test)
        return display


def _queries(n: int) -> str:
    return f"{n} {'query' if n == 1 else 'queries'}"


def _interval(interval: Any) -> tuple[float, float] | None:
    """Check and return the two ends of an interval."""
    if interval is None:
        return None
    ends = as_floats(interval, "confidence_interval")
    if ends.shape != (2,):
        raise ValueError(f"confidence_interval must have two ends. Got shape {ends.shape}.")
    return (float(ends[0]), float(ends[1]))


def _correct(
    displays: Mapping[str, DifferenceDisplay], results: Mapping[str, Evaluation], correction: str | None,
    options: Mapping[str, Any],
) -> None:  # fmt: skip
    """Correct p-values and intervals of several systems, and set up a row for each under a common label."""
    tested = {name: display.pvalue for name, display in displays.items() if display.pvalue is not None}
    pvalues = adjust_pvalues([*tested.values()], correction).tolist()
    note = in_words(options["test"], correction)
    for (name, before), pvalue in zip(tested.items(), pvalues, strict=True):
        display = displays[name]
        level = corrected_level(options["confidence_level"], before, pvalue)
        if level > options["confidence_level"]:
            note = f"{in_words(options['test'], correction)}, intervals {CORRECTED_LEVEL}"
            a, b = (results[system] for system in (name, display.names[1]))
            with collected_findings():
                at_level = compare(a, b, metric=display.metric, **{**options, "confidence_level": level})
            display.confidence_interval = at_level.confidence_interval
        display.pvalue = pvalue
    for display in displays.values():
        display.as_row = True
        if tested:
            display.note, display.confidence_level = note, options["confidence_level"]
