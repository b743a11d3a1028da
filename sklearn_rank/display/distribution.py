"""How the values of queries are distributed."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank.display._figure import add_legend, open_axes, style, thin, wrap
from sklearn_rank.display._input import FromEstimator, name_in, value_label
from sklearn_rank.evaluate import Evaluation, evaluate


class DistributionDisplay(FromEstimator):
    """Distribution of a metric over queries: the share of them that have at most each value.

    A steep piece is where many queries are, a vertical one is one value that many of them have, often 0 or 1; the line
    of a better system lies lower and further to the right. It needs no bins, and several systems can be told
    apart: plot another one on ``ax=display.ax_``.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        Value of each query; NaN is left out.
    metric : str, default="metric"
        Name of the metric, for the label.
    name : str, default=None
        Name in the legend, before the mean.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    line_ : Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import DistributionDisplay
    >>> display = DistributionDisplay.from_predictions([0, 1, 1, 0], [2, 1, 2, 1], qid=list("aabb"), metric="mrr")
    >>> display.values
    array([0.5, 1. ])
    >>> plt.close(display.figure_)
    """

    def __init__(self, values: ArrayLike, *, metric: str = "metric", name: str | None = None) -> None:
        self.values, self.metric, self.name = np.asarray(values, dtype=np.float64), metric, name

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the line.

        Parameters
        ----------
        ax : Matplotlib Axes, default=None
            Axes to draw on. None: those of a new figure.
        name : str, default=None
            Name in the legend. None: the one of the display.
        **kwargs
            Passed to Matplotlib's `step`.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If no query has a value.
        """
        values = np.sort(self.values[~np.isnan(self.values)])
        if not len(values):
            raise ValueError("A distribution needs a query with a value. Got none, or NaN alone.")
        self.ax_ = ax = open_axes(ax)
        self.figure_ = ax.figure
        name = self.name if name is None else name
        mean = f"mean {values.mean():#.3g}"
        drawn = thin(len(values))
        x, share = np.append(values[0], values[drawn]), np.append(0.0, (drawn + 1) / len(values))
        look = style(len(ax.lines), len(x)) | {"label": wrap(mean if name is None else f"{name}: {mean}")}
        look["markevery"] = (look["markevery"], look["markevery"])  # none where the line begins
        (self.line_,) = ax.step(x, share, where="post", **look | kwargs)
        ax.set(xlabel=f"{value_label(self.metric)} of a query", ylabel="share of queries with at most this value")
        ax.set_ylim(-0.02, 1.02)
        add_legend(ax)
        return self

    @classmethod
    def from_result(
        cls, result: Evaluation, metric: str | None = None, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Picture of a metric of a result.

        Parameters
        ----------
        result : Evaluation
        metric : str, default=None
            One of the result's metrics. None: the only one.
        name : str, default=None
            Name in the legend.
        ax : Matplotlib Axes, default=None
            Axes to draw on. None: those of a new figure.
        **kwargs
            Passed to Matplotlib's `step`.

        Returns
        -------
        display : DistributionDisplay

        Raises
        ------
        ValueError
            If the result has no such metric.
        """
        metric = name_in(result, metric)
        return cls(result.per_query[metric], metric=metric, name=name).plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls, y_true: Any, y_score: Any, *, qid: Any = None, metric: Any = "ndcg", name: str | None = None,
        ax: Any = None, n_jobs: int | None = None, **keywords: Any,
    ) -> Self:  # fmt: skip
        """Picture of labels and scores.

        Parameters
        ----------
        y_true, y_score, qid, n_jobs
            As `evaluate` takes them.
        metric : str, metric function or callable, default="ndcg"
        name : str, default=None
            Name in the legend.
        ax : Matplotlib Axes, default=None
            Axes to draw on. None: those of a new figure.
        **keywords
            More keywords of `evaluate`: those of the metric, and `tie_break`.

        Returns
        -------
        display : DistributionDisplay

        Raises
        ------
        ValueError, TypeError
            If the data, the metric or a keyword are not what `evaluate` takes.
        """
        result = evaluate(y_true, y_score, qid=qid, metrics=[metric], n_jobs=n_jobs, **keywords)
        return cls.from_result(result, name=name, ax=ax)
