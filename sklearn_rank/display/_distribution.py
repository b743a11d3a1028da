"""Plot of the distribution of a metric over queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import ResultDisplay
from sklearn_rank.display._figure import label_of, line_style, set_labels, thin, value_label
from sklearn_rank.display._signature import completed


@completed
class DistributionDisplay(ResultDisplay):
    """Empirical distribution of a metric: the share of queries with at most each value.

    The line is steep where many queries are, and vertical if many queries have the same value, often 0 or 1. The line
    of a better system is lower and further to the right. The plot needs no bins, and several systems remain
    distinguishable: plot another system on ``ax=display.ax_``.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        Value of each query; NaN is left out.
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
    >>> display = DistributionDisplay.from_predictions(
    ...     [0, 1, 1, 0], [2, 1, 2, 1], qid=list("aabb"), metric="mrr"
    ... )
    >>> display.values
    array([0.5, 1. ])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, values: ArrayLike, *, metric: str = "metric", greater_is_better: bool = True, name: str | None = None
    ) -> None:
        (self.values,) = points(values=required(values, "values"))
        self.metric, self.greater_is_better, self.name = metric, greater_is_better, name

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the line.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `step`.

        Raises
        ------
        ValueError
            If no query has a value.
        """
        values = np.sort(self.values[~np.isnan(self.values)])
        if not len(values):
            raise ValueError("A distribution needs a query with a value. Got none, or only NaN.")
        ax = self._open(ax)
        name = self.name if name is None else name
        mean = f"mean {values.mean():#.3g}"
        drawn = thin(len(values))
        x, share = np.append(values[0], values[drawn]), np.append(0.0, (drawn + 1) / len(values))
        look = line_style(len(ax.lines), len(x)) | {"label": label_of(mean if name is None else f"{name}: {mean}")}
        # The line starts at the first point, which has no marker.
        look["markevery"] = (look["markevery"], look["markevery"])
        (self.line_,) = ax.step(x, share, where="post", **look | kwargs)
        what = value_label(self.metric, self.greater_is_better)
        set_labels(ax, f"{what} of a query", "share of queries with at most this value")
        ax.set_ylim(-0.02, 1.02)
        self._name_systems()
        return self

    @classmethod
    def _of_metrics(cls, result: Evaluation, names: Sequence[str], *, name: str | None) -> Self:
        (metric,) = names
        return cls(
            result.per_query[metric], metric=metric, greater_is_better=result.greater_is_better[metric], name=name
        )
