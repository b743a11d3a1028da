"""Picture of the distribution of a metric over queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import FromEstimator
from sklearn_rank.display._docstring import documented
from sklearn_rank.display._figure import set_labels, thin, value_label
from sklearn_rank.display._input import name_in, refuse_other_meaning, several
from sklearn_rank.display._naming import label_of
from sklearn_rank.display._palette import line_style


@documented
class DistributionDisplay(FromEstimator):
    """Distribution of a metric over queries: the share of them that have at most each value.

    A steep piece is where many queries are, a vertical one is one value that many of them have, often 0 or 1; the line
    of a better system lies lower and further to the right. It needs no bins, and several systems can be told
    apart: plot another one on ``ax=display.ax_``.

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
            raise ValueError("A distribution needs a query with a value. Got none, or NaN alone.")
        ax = self._open(ax)
        name = self.name if name is None else name
        mean = f"mean {values.mean():#.3g}"
        drawn = thin(len(values))
        x, share = np.append(values[0], values[drawn]), np.append(0.0, (drawn + 1) / len(values))
        look = line_style(len(ax.lines), len(x)) | {"label": label_of(mean if name is None else f"{name}: {mean}")}
        look["markevery"] = (look["markevery"], look["markevery"])  # no marker at the first point
        (self.line_,) = ax.step(x, share, where="post", **look | kwargs)
        what = value_label(self.metric, self.greater_is_better)
        set_labels(ax, f"{what} of a query", "share of queries with at most this value")
        ax.set_ylim(-0.02, 1.02)
        self._name_systems()
        return self

    @classmethod
    def from_result(
        cls, result: Evaluation, metric: str | None = None, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Picture of a metric of a result.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `step`.

        Raises
        ------
        ValueError
            If the result has no such metric.
        """
        return cls._of_result(result, metric, name=name).plot(ax, **kwargs)

    @classmethod
    def _of_result(cls, result: Evaluation, metric: str | None, *, name: str | None) -> Self:
        """Display of a result, not drawn yet."""
        metric = name_in(result, metric)
        values, better = result.per_query[metric], result.greater_is_better[metric]
        return cls(values, metric=metric, greater_is_better=better, name=name)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], metric: str | None = None, *, ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Picture of a metric of several results.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `step`, for all systems.
        """
        displays = {name: cls._of_result(result, metric, name=name) for name, result in several(results).items()}
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
        name: str | None = None,
        ax: Any = None,
        n_jobs: int | None = None,
        **keywords: Any,
    ) -> Self:
        """Picture of labels and scores."""
        result = evaluate(y_true, y_score, qid=qid, metrics=[metric], n_jobs=n_jobs, **keywords)
        return cls.from_result(result, name=name, ax=ax)
