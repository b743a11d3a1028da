"""Plot of precision at levels of recall, averaged over queries."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._utils.constraints import is_real
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import ResultDisplay
from sklearn_rank.display._figure import label_of, line_style, set_labels
from sklearn_rank.display._input import specs_in
from sklearn_rank.display._signature import completed

RECALL_LEVELS = tuple(i / 10 for i in range(11))


@completed
class QueryPrecisionRecallDisplay(ResultDisplay):
    """Interpolated precision at levels of recall, averaged over queries.

    Each query has its own curve; the plot averages the curves at each level of recall. scikit-learn's
    `PrecisionRecallDisplay` makes a single curve from all rows. To compare systems, plot another system on
    ``ax=display.ax_``.

    A result must have the metric at two or more different levels, such as "iprec(recall=0.1)". Tied scores need a
    policy, such as ``ties="worst"``.

    Parameters
    ----------
    recall : array-like of shape (n_levels,)
        Levels of recall, ascending.
    precision : array-like of shape (n_levels,)
        Mean over queries of the maximum precision at this recall or above.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    line_ : Line2D

    Examples
    --------
    With relevant documents at ranks 2 and 3, precision is highest at rank 3: precision 2/3, recall 1.

    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import QueryPrecisionRecallDisplay
    >>> display = QueryPrecisionRecallDisplay.from_predictions(
    ...     [0, 1, 1, 0], [4, 3, 2, 1], qid=[0] * 4
    ... )
    >>> display.precision.round(2)[[0, 5, 10]]
    array([0.67, 0.67, 0.67])
    >>> plt.close(display.figure_)
    """

    def __init__(self, recall: ArrayLike, precision: ArrayLike, *, name: str | None = None) -> None:
        points(recall=required(recall, "recall"), precision=required(precision, "precision"))
        self.recall, self.precision, self.name = np.asarray(recall), np.asarray(precision), name

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the curve.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`.
        """
        ax = self._open(ax)
        look = line_style(len(ax.lines), len(self.recall)) | {"label": label_of(self.name if name is None else name)}
        (self.line_,) = ax.plot(self.recall, self.precision, **look | kwargs)
        ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
        set_labels(ax, "recall", "interpolated precision, mean over queries")
        self._name_systems()
        return self

    @classmethod
    def _metrics_in(cls, result: Evaluation) -> Sequence[str]:  # type: ignore[override]
        specs = specs_in(result)
        names = [name for name, spec in specs.items() if spec.metric.name == "iprec" and is_real(spec["recall"])]
        levels = [specs[name]["recall"] for name in names]
        for level in levels:
            if levels.count(level) > 1:
                raise ValueError(f"A result must have each level of recall once. Got {level:g} twice.")
        if len(levels) < 2:
            raise ValueError(
                "A curve needs interpolated precision at two levels of recall or more, such as 'iprec(recall=0.1)'. "
                f"Got a result of {', '.join(result.per_query)}."
            )
        return sorted(names, key=lambda name: specs[name]["recall"])

    @classmethod
    def _of_metrics(cls, result: Evaluation, names: Sequence[str], *, name: str | None) -> Self:
        means = result.mean()
        return cls([parse_metric(metric)["recall"] for metric in names], [means[metric] for metric in names], name=name)

    @classmethod
    def _evaluate(
        cls, y_true: ArrayLike, y_score: Any, *, levels: Iterable[float] = RECALL_LEVELS, **keywords: Any
    ) -> Evaluation:
        """Evaluate interpolated precision at levels of recall.

        Parameters
        ----------
        levels : iterable of float, default=(0, 0.1, ..., 1)
            Levels of recall.
        """
        (shares,) = points(levels=required([*levels] if isinstance(levels, Iterable) else levels, "levels"))
        metrics = [parse_metric("iprec", recall=float(level)) for level in shares]
        return evaluate(y_true, y_score, metrics=metrics, **keywords)
