"""Plot of a metric on the validation rows by round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._ranker.query_ranker import QueryRanker, stopping_metric
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Estimator
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import SystemDisplay
from sklearn_rank.display._figure import label_of, label_there, line_style, set_count_axis, set_labels, value_label
from sklearn_rank.display._signature import completed


@completed
class EvalCurveDisplay(SystemDisplay):
    """Metric on the validation rows after each training round, with a mark at the best round.

    To compare rankers, plot another ranker on ``ax=display.ax_``.

    Parameters
    ----------
    curve : array-like of shape (n_rounds,)
        Value after each round, such as `QueryRanker.eval_curve_`.
    best_iteration : int, default=None
        Last round that `predict` uses, counted from 0. None: the first round with the best value.

    Attributes
    ----------
    best_iteration_ : int
        The marked round.
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    line_ : Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import EvalCurveDisplay
    >>> display = EvalCurveDisplay([0.5, 0.7, 0.6], metric="map@10").plot()
    >>> display.best_iteration_
    1
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, curve: ArrayLike, *, best_iteration: int | None = None, metric: str = "metric",
        greater_is_better: bool = True, name: str | None = None,
    ) -> None:  # fmt: skip
        (self.curve,), self.best_iteration = points(curve=required(curve, "curve")), best_iteration
        self.metric, self.greater_is_better, self.name = metric, greater_is_better, name

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw the line.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`.

        Raises
        ------
        ValueError
            If no round has a value, `best_iteration` is out of range, or the axes show another metric.
        """
        self.best_iteration_ = self._best()
        label = f"{value_label(self.metric, self.greater_is_better)} of validation queries"
        there = "" if ax is None else label_there(ax)
        if there not in ("", label):
            raise ValueError(f"Curves on the same axes must have the same metric. Got {echo(label)} and {echo(there)}.")
        ax = self._open(ax)
        name = self.name if name is None else name
        best = f"best {self.curve[self.best_iteration_]:#.3g} at {self.best_iteration_}"
        look = line_style(len(ax.lines), len(self.curve)) | {"markevery": [self.best_iteration_], "markersize": 9}
        look["label"] = label_of(best if name is None else f"{name}: {best}")
        (self.line_,) = ax.plot(np.arange(len(self.curve)), self.curve, **look | kwargs)
        set_count_axis(ax, np.arange(len(self.curve)))
        set_labels(ax, "iteration, counted from 0", label)
        self._name_systems()
        return self

    def _best(self) -> int:
        """Return the round to mark."""
        if self.curve.ndim != 1 or not len(self.curve) or np.isnan(self.curve).all():
            raise ValueError(f"A curve needs a value for at least one round. Got shape {self.curve.shape}.")
        if self.best_iteration is None:
            return int(np.nanargmax(self.curve) if self.greater_is_better else np.nanargmin(self.curve))
        if not 0 <= self.best_iteration < len(self.curve):
            raise ValueError(
                f"best_iteration must be below {len(self.curve)}, the number of rounds. Got "
                f"{echo(self.best_iteration)}."
            )
        return int(self.best_iteration)

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, *, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:  # fmt: skip
        """Plot a fitted ranker with early stopping by a metric.

        Parameters
        ----------
        estimator : QueryRanker
            Ranker fitted with `eval_metric` and validation rows. A Pipeline that ends in such a ranker, or a search
            over it, is accepted as well.
        name : str, default=None
            Name in the legend. None: the class of the inner model.

        Raises
        ------
        TypeError
            If there is no `QueryRanker`.
        ValueError
            If the ranker has no curve.
        """
        return cls._of_ranker(estimator, name).plot(ax, **kwargs)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Estimator], *, ax: Any = None, **kwargs: Any
    ) -> Self:  # fmt: skip
        """Plot several fitted rankers with early stopping by the same metric.

        Parameters
        ----------
        results : dict of str to QueryRanker
            Rankers by name, as for `from_estimator`.

        Raises
        ------
        TypeError
            If `results` is not a dict of rankers by name.
        ValueError
            If a ranker has no curve, or the metrics differ.
        """
        if not isinstance(results, Mapping) or not results:
            raise TypeError(f"results must be a dict of fitted rankers by name, at least one. Got {echo(results)}.")
        displays = {name: cls._of_ranker(ranker, name) for name, ranker in results.items()}
        metrics = sorted({display.metric for display in displays.values()})
        if len(metrics) > 1:
            raise ValueError(f"Curves on the same axes must have the same metric. Got {' and '.join(metrics)}.")
        return cls._of_systems(displays, ax, **kwargs)

    @classmethod
    def _of_ranker(cls, estimator: Estimator, name: str | None) -> Self:
        """Make the display of a fitted ranker without drawing it."""
        ranker = _ranker_in(estimator)
        spec = stopping_metric(ranker)
        if spec is None or not hasattr(ranker, "eval_curve_"):
            raise ValueError(
                "A curve needs a QueryRanker fitted with eval_metric= and validation rows: "
                f"QueryRanker(model, eval_fraction=0.1, eval_metric='ndcg@10'). Got {echo(ranker)}."
            )
        better, name = spec.greater_is_better, type(ranker.estimator).__name__ if name is None else name
        return cls(
            ranker.eval_curve_, best_iteration=ranker.best_iteration_, metric=str(spec), greater_is_better=better,
            name=name,
        )  # fmt: skip


def _ranker_in(estimator: Any) -> QueryRanker:
    """The ranker at the end of Pipelines and searches."""
    if isinstance(estimator, QueryRanker):
        return estimator
    if hasattr(estimator, "best_estimator_"):
        return _ranker_in(estimator.best_estimator_)
    if hasattr(estimator, "steps"):
        return _ranker_in(estimator.steps[-1][1])
    raise TypeError(f"A curve of training needs a fitted QueryRanker. Got {echo(estimator)}.")
