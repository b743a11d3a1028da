"""Plot of a metric against the length of the list, that is, the number of documents of the query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._utils.constraints import SHARE
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import ResultDisplay
from sklearn_rank.display._figure import label_of, line_style, percent, set_count_axis, set_labels, thin, value_label
from sklearn_rank.display._signature import completed


@completed
class ListLengthDisplay(ResultDisplay):
    """Value of each query against the length of its list, with means over queries of similar length.

    Bins of lengths have about equal numbers of queries; the bar at each mean is its confidence interval by Student's t.
    If there are many queries, only some are drawn as points, but the means include all. To plot means against the
    cutoff, see `CutoffDisplay`.

    Parameters
    ----------
    n_documents : array-like of shape (n_queries,)
        Number of documents of each query.
    values : array-like of shape (n_queries,)
        Value of each query; NaN is left out.
    n_bins : int, default=10
        Maximum number of bins; there are fewer if lengths repeat, or if a bin would have fewer than ten queries.
    confidence_level : float, default=0.95
        Level of the confidence intervals.
    show_points : bool, default=True
        Whether queries are drawn, or only the means.

    Attributes
    ----------
    bin_length_, bin_mean_, bin_reach_ : ndarray of shape (n_bins,)
        Mean length, mean value and half the width of the interval of each bin; half the width is NaN for a single
        query.
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    points_ : PathCollection or None
    means_ : ErrorbarContainer

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import ListLengthDisplay
    >>> display = ListLengthDisplay.from_predictions(
    ...     [0, 1, 1], [2, 1, 2], qid=["a", "a", "b"], metric="mrr"
    ... )
    >>> display.bin_length_, display.bin_mean_
    (array([1.5]), array([0.75]))
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, n_documents: ArrayLike, values: ArrayLike, *, n_bins: int = 10, confidence_level: float = 0.95,
        metric: str = "metric", greater_is_better: bool = True, name: str | None = None, show_points: bool = True,
    ) -> None:  # fmt: skip
        points(n_documents=required(n_documents, "n_documents"), values=required(values, "values"))
        SHARE.check("confidence_level", confidence_level, type(self).__name__)
        self.n_documents, self.values = np.asarray(n_documents), np.asarray(values, dtype=np.float64)
        self.n_bins, self.confidence_level, self.name = n_bins, confidence_level, name
        self.metric, self.greater_is_better, self.show_points = metric, greater_is_better, show_points

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the points and the means.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `scatter`.

        Raises
        ------
        ValueError
            If no query has a value.
        """
        defined = ~np.isnan(self.values)
        if not defined.any():
            raise ValueError("A plot of values needs a query with a value. Got none, or only NaN.")
        length, values = self.n_documents[defined], self.values[defined]
        ax = self._open(ax)
        self.bin_length_, self.bin_mean_, self.bin_reach_ = _binned(length, values, self.n_bins, self.confidence_level)
        look = line_style(len(ax.containers), len(self.bin_length_)) | {"markevery": 1, "markersize": 6}
        dots = {"color": look["color"]} | kwargs
        self.points_ = _scattered(ax, length, values, dots) if self.show_points else None
        name = self.name if name is None else name
        label = {"label": label_of(name)} if name is not None else {}
        if not self.show_points:
            look |= {"ecolor": (look["color"], 0.4), "elinewidth": 1}
        look |= {"capsize": 3 if self.show_points else 0, "markeredgecolor": "white", "linewidth": 2} | label
        self.means_ = ax.errorbar(self.bin_length_, self.bin_mean_, self.bin_reach_, **look)
        set_count_axis(ax, length)
        value = value_label(self.metric, self.greater_is_better)
        set_labels(ax, "documents of the query", f"{value}, means with {percent(self.confidence_level)} interval")
        self._name_systems()
        return self

    @classmethod
    def _of_results(cls, results: Mapping[Any, Evaluation], chosen: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if kwargs.get("show_points") is None:
            kwargs["show_points"] = len(results) == 1
        return super()._of_results(results, chosen, kwargs)

    @classmethod
    def _of_metrics(
        cls, result: Evaluation, names: Sequence[str], *, n_bins: int = 10, confidence_level: float = 0.95,
        show_points: bool | None = None, name: str | None,
    ) -> Self:  # fmt: skip
        """Make the display of a metric.

        Parameters
        ----------
        show_points : bool or None, default=None
            Whether to draw queries as points, not only the means. None: True for a single system.
        """
        (metric,) = names
        return cls(
            result.n_documents, result.per_query[metric], n_bins=n_bins, confidence_level=confidence_level,
            metric=metric, greater_is_better=result.greater_is_better[metric], name=name, show_points=bool(show_points),
        )  # fmt: skip


def _scattered(ax: Any, length: NDArray[Any], values: Array, look: dict[str, Any]) -> Any:
    shown = np.argsort(length, kind="stable")[thin(len(length))]
    alpha = np.clip(60 / len(length), 0.2, 0.6)
    dots = {"s": 12, "alpha": alpha, "linewidth": 0, "rasterized": True}
    return ax.scatter(length[shown], values[shown], **dots | look)


def _binned(length: NDArray[Any], values: Array, n_bins: int, confidence_level: float) -> tuple[Array, Array, Array]:
    """Mean length, mean value and half the interval width of bins with about equal numbers of queries."""
    from scipy import stats

    tops, n_bins = distinct_values(length), max(1, min(n_bins, len(length) // 10))
    if len(tops) > n_bins:
        tops = distinct_values(np.quantile(length, np.arange(1, n_bins + 1) / n_bins, method="inverted_cdf"))
    number = np.searchsorted(tops, length)
    n = np.bincount(number)
    mean_length, mean = np.bincount(number, length) / n, np.bincount(number, values) / n
    squares, df = np.bincount(number, (values - mean[number]) ** 2), n - 1.0
    # A single query has no interval.
    df[df == 0] = np.nan
    reach = stats.t.ppf((1 + confidence_level) / 2, df) * np.sqrt(squares / df / n)
    return mean_length, mean, reach
