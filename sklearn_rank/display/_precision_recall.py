"""Picture of precision at levels of recall, averaged over queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import FromEstimator
from sklearn_rank.display._docstring import documented
from sklearn_rank.display._figure import set_labels
from sklearn_rank.display._input import refuse_other_meaning, several, spec_in
from sklearn_rank.display._naming import label_of
from sklearn_rank.display._palette import line_style

LEVELS = tuple(i / 10 for i in range(11))


@documented
class QueryPrecisionRecallDisplay(FromEstimator):
    """Interpolated precision at levels of recall, averaged over queries.

    Each query has its own curve, and these are averaged at each level of recall; scikit-learn's
    `PrecisionRecallDisplay` makes one curve of all rows. Plot another system on ``ax=display.ax_`` to compare them.

    Parameters
    ----------
    recall : array-like of shape (n_levels,)
        Levels of recall, ascending.
    precision : array-like of shape (n_levels,)
        Mean over queries of the best precision where that recall is reached.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    line_ : Line2D

    Examples
    --------
    Relevant documents at ranks 2 and 3: precision is best at rank 3, where it is 2/3 and recall is 1:

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
        self._name_systems(on_curves=True)
        return self

    @classmethod
    def from_result(cls, result: Evaluation, *, name: str | None = None, ax: Any = None, **kwargs: Any) -> Self:
        """Picture of a result that has interpolated precision, "iprec(recall=0.1)" and so on.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`.

        Raises
        ------
        ValueError
            If the result has interpolated precision at fewer than two levels, or twice at one, by other keywords.
        """
        return cls._of_result(result, name=name).plot(ax, **kwargs)

    @classmethod
    def _of_result(cls, result: Evaluation, *, name: str | None) -> Self:
        """Display of a result, not drawn yet."""
        levels: dict[float, float] = {}
        means = result.mean()
        for metric, spec in _levels_of(result).items():
            if spec["recall"] in levels:
                raise ValueError(f"A result must have each level of recall once. Got {spec['recall']:g} twice.")
            levels[spec["recall"]] = means[metric]
        if len(levels) < 2:
            raise ValueError(
                "A curve needs interpolated precision at two levels of recall or more, such as 'iprec(recall=0.1)'. "
                f"Got a result of {', '.join(result.per_query)}."
            )
        recall = sorted(levels)
        return cls(recall, [levels[level] for level in recall], name=name)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], *, ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Picture of interpolated precision of several results.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`, for all systems.
        """
        displays = {name: cls._of_result(result, name=name) for name, result in several(results).items()}
        refuse_other_meaning(results, _levels_of(next(iter(results.values()))))
        return cls._of_systems(displays, ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        levels: Iterable[float] = LEVELS,
        name: str | None = None,
        ax: Any = None,
        n_jobs: int | None = None,
        **keywords: Any,
    ) -> Self:
        """Picture of labels and scores; tied scores need a policy, such as ``ties="worst"``.

        Parameters
        ----------
        levels : iterable of float, default=(0, 0.1, ..., 1)
            Levels of recall.
        **keywords
            More keywords of `evaluate`: those of `iprec`, `sample_weight` and `tie_break`.
        """
        (shares,) = points(levels=required([*levels] if isinstance(levels, Iterable) else levels, "levels"))
        metrics = [parse_metric("iprec", recall=float(level)) for level in shares]
        result = evaluate(y_true, y_score, qid=qid, metrics=metrics, n_jobs=n_jobs, **keywords)
        return cls.from_result(result, name=name, ax=ax)


def _levels_of(result: Evaluation) -> dict[str, MetricSpec]:
    """Interpolated precision of a result, by name."""
    specs = spec_in(result).items()
    return {name: spec for name, spec in specs if spec.metric.name == "iprec" and not isinstance(spec["recall"], str)}
