"""Picture of a metric against the number of documents of the query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._utils.constraints import is_count, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import FromEstimator
from sklearn_rank.display._docstring import documented
from sklearn_rank.display._figure import set_count_axis, set_labels, thin, value_label
from sklearn_rank.display._input import name_in, refuse_other_meaning, several
from sklearn_rank.display._naming import label_of
from sklearn_rank.display._palette import line_style
from sklearn_rank.display._words import percent


@documented
class QuerySizeDisplay(FromEstimator):
    """Value of each query against its number of documents, with means of queries of about the same size.

    Sizes are cut into bins of about equally many queries; the bar at each mean is its confidence interval by Student's
    t. Of many queries only some are drawn as points; the means are of all.

    Parameters
    ----------
    n_documents : array-like of shape (n_queries,)
        Number of documents of each query.
    values : array-like of shape (n_queries,)
        Value of each query; NaN is left out.
    n_bins : int, default=10
        Bins, at most; there are fewer where sizes repeat, or where a bin would have fewer than ten queries.
    confidence_level : float, default=0.95
        Level of the confidence intervals.
    show_points : bool, default=True
        Whether queries are drawn, or the means alone.

    Attributes
    ----------
    bin_size_, bin_mean_, bin_reach_ : ndarray of shape (n_bins,)
        Mean size and mean value of each bin, and half the length of the interval, NaN of a single query.
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    points_ : PathCollection or None
    means_ : ErrorbarContainer

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import QuerySizeDisplay
    >>> display = QuerySizeDisplay.from_predictions(
    ...     [0, 1, 1], [2, 1, 2], qid=["a", "a", "b"], metric="mrr"
    ... )
    >>> display.bin_size_, display.bin_mean_
    (array([1.5]), array([0.75]))
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, n_documents: ArrayLike, values: ArrayLike, *, n_bins: int = 10, confidence_level: float = 0.95,
        metric: str = "metric", greater_is_better: bool = True, name: str | None = None, show_points: bool = True,
    ) -> None:  # fmt: skip
        points(n_documents=required(n_documents, "n_documents"), values=required(values, "values"))
        self.n_documents, self.values = np.asarray(n_documents), np.asarray(values, dtype=np.float64)
        self.n_bins, self.confidence_level, self.name = n_bins, confidence_level, name
        self.metric, self.greater_is_better, self.show_points = metric, greater_is_better, show_points

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the points and the means.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `scatter`.
        """
        if not is_count(self.n_bins) or not (is_real(self.confidence_level) and 0 < self.confidence_level < 1):
            raise ValueError(
                "'n_bins' must be an int >= 1 and 'confidence_level' between 0 and 1, exclusive. "
                f"Got {echo(self.n_bins)} and {echo(self.confidence_level)}."
            )
        size, values = self._defined()
        ax = self._open(ax)
        self.bin_size_, self.bin_mean_, self.bin_reach_ = _binned(size, values, self.n_bins, self.confidence_level)
        look = line_style(len(ax.containers), len(self.bin_size_)) | {"markevery": 1, "markersize": 6}
        self.points_ = self._scatter(ax, size, values, {"color": look["color"]} | kwargs) if self.show_points else None
        name = self.name if name is None else name
        label = {"label": label_of(name)} if name is not None else {}
        if not self.show_points:
            look |= {"ecolor": (look["color"], 0.4), "elinewidth": 1}
        look |= {"capsize": 3 if self.show_points else 0, "markeredgecolor": "white", "linewidth": 2} | label
        self.means_ = ax.errorbar(self.bin_size_, self.bin_mean_, self.bin_reach_, **look)
        set_count_axis(ax, size)
        value = value_label(self.metric, self.greater_is_better)
        set_labels(ax, "documents of the query", f"{value}, means with {percent(self.confidence_level)} interval")
        self._name_systems(on_curves=True)
        return self

    def _scatter(self, ax: Any, size: NDArray[Any], values: Array, look: dict[str, Any]) -> Any:
        shown = np.argsort(size, kind="stable")[thin(len(size))]
        alpha = np.clip(60 / len(size), 0.2, 0.6)
        dots = {"s": 12, "alpha": alpha, "linewidth": 0, "rasterized": True}
        return ax.scatter(size[shown], values[shown], **dots | look)

    def _defined(self) -> tuple[NDArray[Any], Array]:
        defined = ~np.isnan(self.values)
        if not defined.any():
            raise ValueError("A picture of values needs a query with a value. Got none, or NaN alone.")
        return self.n_documents[defined], self.values[defined]

    @classmethod
    def from_result(
        cls, result: Evaluation, metric: str | None = None, *, n_bins: int = 10, confidence_level: float = 0.95,
        name: str | None = None, ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Picture of a metric of a result.

        Parameters
        ----------
        n_bins : int, default=10
            Bins, at most.
        confidence_level : float, default=0.95
            Level of the confidence intervals.
        **kwargs
            Passed to Matplotlib's `scatter`.

        Raises
        ------
        ValueError
            If the result has no such metric.
        """
        options = {"n_bins": n_bins, "confidence_level": confidence_level, "name": name}
        return cls._of_result(result, metric, **options).plot(ax, **kwargs)

    @classmethod
    def _of_result(cls, result: Evaluation, metric: str | None, **options: Any) -> Self:
        """Display of a result, not drawn yet."""
        metric = name_in(result, metric)
        return cls(
            result.n_documents, result.per_query[metric], metric=metric,
            greater_is_better=result.greater_is_better[metric], **options,
        )  # fmt: skip

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], metric: str | None = None, *, n_bins: int = 10,
        confidence_level: float = 0.95, show_points: bool | None = None, ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Picture of a metric of several results.

        Parameters
        ----------
        n_bins : int, default=10
            Bins, at most.
        confidence_level : float, default=0.95
            Level of the confidence intervals.
        show_points : bool or None, default=None
            Whether queries are drawn, or the means alone. None: those of a single system are.
        **kwargs
            Passed to Matplotlib's `scatter`, for all systems.
        """
        options: dict[str, Any] = {"n_bins": n_bins, "confidence_level": confidence_level}
        options["show_points"] = len(several(results)) == 1 if show_points is None else show_points
        displays = {name: cls._of_result(result, metric, name=name, **options) for name, result in results.items()}
        refuse_other_meaning(results, [name_in(next(iter(results.values())), metric)])
        return cls._of_systems(displays, ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        metric: MetricLike = "ndcg",
        n_bins: int = 10,
        confidence_level: float = 0.95,
        name: str | None = None,
        ax: Any = None,
        n_jobs: int | None = None,
        **keywords: Any,
    ) -> Self:
        """Picture of labels and scores.

        Parameters
        ----------
        n_bins : int, default=10
            Bins, at most.
        confidence_level : float, default=0.95
            Level of the confidence intervals.
        """
        result = evaluate(y_true, y_score, qid=qid, metrics=[metric], n_jobs=n_jobs, **keywords)
        return cls.from_result(result, n_bins=n_bins, confidence_level=confidence_level, name=name, ax=ax)


def _binned(size: NDArray[Any], values: Array, n_bins: int, confidence_level: float) -> tuple[Array, Array, Array]:
    """Mean size, mean value and half the length of its interval, of bins of about equally many queries."""
    from scipy import stats

    tops, n_bins = np.unique(size), max(1, min(n_bins, len(size) // 10))
    if len(tops) > n_bins:
        tops = np.unique(np.quantile(size, np.arange(1, n_bins + 1) / n_bins, method="inverted_cdf"))
    number = np.searchsorted(tops, size)
    n = np.bincount(number)
    mean_size, mean = np.bincount(number, size) / n, np.bincount(number, values) / n
    squares, df = np.bincount(number, (values - mean[number]) ** 2), n - 1.0
    df[df == 0] = np.nan  # no interval for a single query
    reach = stats.t.ppf((1 + confidence_level) / 2, df) * np.sqrt(squares / df / n)
    return mean_size, mean, reach
