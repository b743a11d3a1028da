"""Plot of the quality of answers against the score threshold."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.threshold_curve import ThresholdCurve, threshold_curve
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import PredictionsDisplay
from sklearn_rank.display._figure import line_style, name_systems, set_labels
from sklearn_rank.display._signature import completed

CURVE_LABELS = {
    "precision": "precision", "recall": "recall", "f": "F",
    "empty": "missed", "answered": "false answers",
}  # fmt: skip


@completed
class ThresholdDisplay(PredictionsDisplay):
    """Precision, recall and F of the documents above a threshold, and the share of empty answers.

    `sklearn_rank.retrieval.threshold_curve` computes the values; ``ThresholdDisplay(**vars(curve))`` plots its result.

    Parameters
    ----------
    threshold : array-like of shape (n_thresholds,)
        Thresholds in ascending order; the first may be -inf.
    precision, recall, f : array-like of shape (n_thresholds,)
        Means over the queries with a relevant document.
    empty : array-like of shape (n_thresholds,), default=None
        Share of the queries with a relevant document whose answer is empty, drawn as "missed".
    answered : array-like of shape (n_thresholds,), default=None
        Share of the other queries whose answer is not empty, drawn as "false answers"; NaN is not drawn.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    lines_ : dict of str to Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import ThresholdDisplay
    >>> display = ThresholdDisplay.from_predictions(
    ...     [1, 0, 0], [0.9, 0.4, 0.6], qid=["a", "a", "b"]
    ... )
    >>> [*display.lines_]
    ['precision', 'recall', 'f', 'empty', 'answered']
    >>> plt.close(display.figure_)
    """

    _drawn_by = "_of_curve"

    def __init__(
        self, threshold: ArrayLike, precision: ArrayLike, recall: ArrayLike, f: ArrayLike, *,
        empty: ArrayLike | None = None, answered: ArrayLike | None = None,
    ) -> None:  # fmt: skip
        given = {"threshold": threshold, "precision": precision, "recall": recall, "f": f}
        points(**{name: required(x, name) for name, x in given.items()}, empty=empty, answered=answered)
        self.threshold, self.precision = np.asarray(threshold), np.asarray(precision)
        self.recall, self.f = np.asarray(recall), np.asarray(f)
        self.empty, self.answered = (None if x is None else np.asarray(x) for x in (empty, answered))

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the curves.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`.
        """
        ax = self._open(ax)
        at = np.array(self.threshold, dtype=np.float64)
        finite = at[np.isfinite(at)]
        # Draw the values below the lowest score slightly to its left.
        low, high = (finite.min(), finite.max()) if len(finite) else (0.0, 1.0)
        at[at == -np.inf] = low - 0.05 * ((high - low) or 1.0)
        self.lines_ = {}
        for name, label in CURVE_LABELS.items():
            values = getattr(self, name)
            if values is None or np.isnan(values).all():
                continue
            look = line_style(len(ax.lines), len(at)) | {"label": label, "drawstyle": "steps-post"}
            (self.lines_[name],) = ax.plot(at, values, **look | kwargs)
        ax.set_ylim(-0.02, 1.02)
        set_labels(ax, "threshold of the score", "mean over queries")
        name_systems(ax)
        return self

    @classmethod
    def _of_curve(cls, curve: ThresholdCurve, *, ax: Any = None) -> Self:
        return cls(**vars(curve)).plot(ax)

    @classmethod
    def _evaluate(
        cls, y_true: ArrayLike, y_score: Any, *, k: int | None = None, n_jobs: int | None = None, **keywords: Any
    ) -> ThresholdCurve:
        """Compute the curve.

        Parameters
        ----------
        k : int, default=None
            Maximum number of documents in an answer. None: all.
        **keywords
            Passed to `sklearn_rank.retrieval.threshold_curve`.
        """
        check_n_jobs(n_jobs)
        return threshold_curve(y_true, y_score, k=k, **keywords)
