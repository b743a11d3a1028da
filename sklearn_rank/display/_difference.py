"""Picture of the differences of two systems per query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._utils.echo import echo
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import Display
from sklearn_rank.display._docstring import documented
from sklearn_rank.display._figure import COLORS, add_legend, thin, wrap
from sklearn_rank.display._input import evaluate_each, name_in, paired
from sklearn_rank.stats._samples import Paired

LIGHT = "#8fa3cc"
"""Color of an area on which a black line can be seen."""


@documented
class DifferenceDisplay(Display):
    """Differences of two systems, query by query, sorted: how many queries gain and lose, and how much.

    There is no `from_estimator`, as there is no one estimator: models are compared on queries that they have not seen
    by `RankingEvaluator.compare`, whose ``results`` are what `from_results` takes.

    Parameters
    ----------
    difference : array-like of shape (n_queries,)
        Value of the first system minus that of the second, of each query; NaN is left out.
    qid : array-like of shape (n_queries,), default=None
        Query ids.
    names : tuple of two str, default=("first", "second")
        Names of the systems.

    Attributes
    ----------
    n_better_, n_equal_, n_worse_ : int
        Queries on which the first system is better than the second, equal to it, worse.
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    steps_ : list of StepPatch
        Areas of the positive and of the negative differences.
    mean_line_ : Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import DifferenceDisplay
    >>> scores = {"new": [2, 1, 2, 1], "old": [2, 1, 1, 2]}
    >>> display = DifferenceDisplay.from_predictions([0, 1, 1, 0], scores, qid=list("aabb"), metric="mrr")
    >>> display.difference, (display.n_better_, display.n_equal_, display.n_worse_)
    (array([0. , 0.5]), (1, 1, 0))
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, difference: ArrayLike, *, qid: ArrayLike | None = None, names: tuple[str, str] = ("first", "second"),
        metric: str = "metric", greater_is_better: bool = True,
    ) -> None:  # fmt: skip
        (self.difference,) = points(difference=required(difference, "difference"))
        if not isinstance(names, (tuple, list)) or len(names) != 2:
            raise ValueError(f"names must be those of two systems. Got {echo(names)} instead.")
        self.qid, self.names, self.metric, self.greater_is_better = qid, names, metric, greater_is_better

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the differences, the largest first.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `stairs`, for both areas.

        Raises
        ------
        ValueError
            If no query has a difference.
        """
        d = -np.sort(-self.difference[~np.isnan(self.difference)])
        if not len(d):
            raise ValueError("A picture of differences needs a query with a value in both systems. Got none.")
        ax = self._open(ax)
        n_positive, n_negative = int((d > 0).sum()), int((d < 0).sum())
        above, below = self.names if self.greater_is_better else self.names[::-1]
        self.n_equal_ = len(d) - n_positive - n_negative
        self.n_better_, self.n_worse_ = (n_positive, n_negative)[:: 1 if above == self.names[0] else -1]
        drawn = thin(len(d))
        edges = np.append(drawn, len(d))
        looks = (
            {"color": LIGHT, "label": wrap(f"{above} better: {_queries(n_positive)}")},
            {
                "facecolor": "0.85",
                "edgecolor": COLORS[1],
                "hatch": "////",
                "label": wrap(f"{below} better: {_queries(n_negative)}"),
            },
        )
        parts = (np.maximum(d[drawn], 0), np.minimum(d[drawn], 0))
        self.steps_ = [
            ax.stairs(y, edges, **{"fill": True} | look | kwargs) for y, look in zip(parts, looks, strict=True)
        ]
        ax.plot([], [], " ", label=f"equal: {_queries(self.n_equal_)}")
        ax.axhline(0, color="0.3", linewidth=0.8)
        self.mean_line_ = ax.axhline(
            d.mean(), color="black", linestyle="--", label=f"mean difference: {d.mean():+#.3g}"
        )
        ax.set(xlabel="queries, sorted by difference (number)", xlim=(0, len(d)))
        ax.set_ylabel(f"difference in {display_name(self.metric)} of a query")
        add_legend(ax)
        return self

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], metric: str | None = None, *, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Picture of two results, queries matched by their ids.

        Parameters
        ----------
        results : dict of str to Evaluation
            Two systems by name, the second being subtracted from the first.
        metric : str, default=None
            One of their metrics. None: the only one.
        **kwargs
            Passed to Matplotlib's `stairs`.

        Raises
        ------
        ValueError
            If there are not two systems, they lack the metric, or their queries are not the same.
        """
        if not isinstance(results, Mapping) or len(results) != 2:
            got = (
                f"{len(results)}: {echo([*results])}" if isinstance(results, (Mapping, list, tuple)) else echo(results)
            )
            raise ValueError(f"A difference is of a dict of two systems, by name. Got {got}.")
        (first, a), (second, b) = results.items()
        metric = name_in(b, name_in(a, metric))
        qid, values, others = paired(a, b, metric)
        difference = Paired(values, others).values  # zero where values differ by rounding only, as in `compare`
        better = a.greater_is_better[metric]
        display = cls(difference, qid=qid, names=(first, second), metric=metric, greater_is_better=better)
        return display.plot(ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Mapping[str, Any],
        *,
        qid: ArrayLike | None = None,
        metric: MetricLike = "ndcg",
        ax: Any = None,
        n_jobs: int | None = None,
        **keywords: Any,
    ) -> Self:
        """Picture of labels and the scores of two systems.

        Parameters
        ----------
        y_score : dict of str to array-like of shape (n_samples,)
            Scores of two systems by name, the second being subtracted from the first.
        """
        results = evaluate_each(y_true, y_score, qid=qid, metrics=[metric], n_jobs=n_jobs, **keywords)
        return cls.from_results(results, ax=ax)


def _queries(n: int) -> str:
    return f"{n} {'query' if n == 1 else 'queries'}"
