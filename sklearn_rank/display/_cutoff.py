"""Plot of a metric against the cutoff."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._tell.text import level_in_words
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import ResultDisplay
from sklearn_rank.display._figure import label_of, label_there, line_style, set_cutoff_axis, set_labels
from sklearn_rank.display._input import at_cutoffs, names_at_cutoffs
from sklearn_rank.display._signature import completed


@completed
class CutoffDisplay(ResultDisplay):
    """A metric at several cutoffs: mean over queries, with a confidence band.

    To compare systems or metrics, plot another display on ``ax=display.ax_``. Overlapping bands do not show that
    systems are equal, because both systems have the same queries; see `DifferenceDisplay` for the paired difference.

    Parameters
    ----------
    k : array-like of shape (n_cutoffs,)
        Cutoffs, ascending.
    mean : array-like of shape (n_cutoffs,)
        Mean over queries at each cutoff.
    low, high : array-like of shape (n_cutoffs,), default=None
        Confidence interval of each mean, NaN if there is none.
    confidence_level : float, default=None
        Level of the intervals, for the label.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    line_ : Line2D
    band_ : FillBetweenPolyCollection or None

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import CutoffDisplay
    >>> y_true, y_score, qid = [0, 1, 1, 0], [2, 1, 2, 1], ["a", "a", "b", "b"]
    >>> display = CutoffDisplay.from_predictions(
    ...     y_true, y_score, qid=qid, metric="mrr", k=[1, 2]
    ... )
    >>> display.mean
    array([0.5 , 0.75])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, k: ArrayLike, mean: ArrayLike, *, low: ArrayLike | None = None, high: ArrayLike | None = None,
        confidence_level: float | None = None, metric: str = "metric", greater_is_better: bool = True,
        name: str | None = None,
    ) -> None:  # fmt: skip
        points(k=required(k, "k"), mean=required(mean, "mean"), low=low, high=high)
        self.k, self.mean = np.asarray(k), np.asarray(mean)
        self.low, self.high = (None if bound is None else np.asarray(bound) for bound in (low, high))
        self.confidence_level = confidence_level
        self.metric, self.greater_is_better, self.name = metric, greater_is_better, name

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`.
        """
        ax = self._open(ax)
        look = line_style(len(ax.lines), len(self.k)) | {"label": label_of(self.name if name is None else name)}
        (self.line_,) = ax.plot(self.k, self.mean, **look | kwargs)
        self.band_ = None
        if self.low is not None and self.high is not None and not np.isnan(self.low).all():
            color, alpha = self.line_.get_color(), max(0.03, 0.18 - 0.03 * len(ax.lines))
            self.band_ = ax.fill_between(self.k, self.low, self.high, color=color, alpha=alpha, linewidth=0)
        band = ""
        if self.band_ is not None and self.confidence_level is not None:
            band = f", {level_in_words(self.confidence_level)}"
        lower = "" if self.greater_is_better else " (lower is better)"
        label = f"mean {display_name(self.metric)}@k{lower}{band}"
        set_cutoff_axis(ax, self.k)
        set_labels(ax, "cutoff k (documents)", label if label_there(ax) in ("", label) else f"mean at k{band}")
        self._name_systems()
        return self

    @classmethod
    def _metrics_in(cls, result: Evaluation, metric: MetricLike | None = None) -> Sequence[str]:
        """Return the names of a metric at the cutoffs of a result.

        Parameters
        ----------
        metric : str, default=None
            The metric without its cutoff, such as "ndcg" for "ndcg@1" and "ndcg@5". None: the only metric with cutoffs.
        """
        return names_at_cutoffs(result, metric)

    @classmethod
    def _of_metrics(
        cls, result: Evaluation, names: Sequence[str], *, confidence_level: float | None = 0.95, name: str | None
    ) -> Self:
        """Make the display of a metric at cutoffs.

        Parameters
        ----------
        confidence_level : float or None, default=0.95
            Level of the confidence intervals; pooled and geometric means have no interval. None: no band.
        """
        means, low, high = result.mean(), None, None
        specs = [parse_metric(at_k) for at_k in names]
        if confidence_level is not None:
            intervals = result.confidence_interval(confidence_level)
            low, high = np.transpose([intervals[at_k] for at_k in names])
        return cls(
            [spec.k for spec in specs], [means[at_k] for at_k in names], low=low, high=high,
            confidence_level=confidence_level, metric=str(replace(specs[0], k=None)),
            greater_is_better=result.greater_is_better[names[0]], name=name,
        )  # fmt: skip

    @classmethod
    def _evaluate(
        cls, y_true: ArrayLike, y_score: Any, *, metric: MetricLike = "ndcg", k: Iterable[int] = range(1, 21),
        **keywords: Any,
    ) -> Evaluation:  # fmt: skip
        """Evaluate a metric at cutoffs.

        Parameters
        ----------
        metric : str or metric function, default="ndcg"
            The metric, without a cutoff.
        k : iterable of int, default=range(1, 21)
            Cutoffs.
        """
        return evaluate(y_true, y_score, metrics=at_cutoffs(metric, k), **keywords)
