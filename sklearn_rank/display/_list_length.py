"""Picture of precision and recall against the length of the list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank.display._arguments import points, required
from sklearn_rank.display._display import FromEstimator
from sklearn_rank.display._docstring import documented
from sklearn_rank.display._figure import set_cutoff_axis, set_labels
from sklearn_rank.display._input import at_cutoffs, cutoffs_of, family_of, refuse_other_meaning, several
from sklearn_rank.display._naming import label_of
from sklearn_rank.display._palette import line_style


@documented
class ListLengthDisplay(FromEstimator):
    """Precision and recall of lists of length N, means over queries: the gain and the cost of a longer list.

    Of each system precision is a solid line with full markers, recall a dashed one with hollow markers. A name stands
    at the end of its precision. Plot another system on ``ax=display.ax_`` to compare them.

    Parameters
    ----------
    k : array-like of shape (n_lengths,)
        Lengths N of the list, ascending.
    precision, recall : array-like of shape (n_lengths,)
        Mean over queries of each.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    precision_line_, recall_line_ : Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import ListLengthDisplay
    >>> display = ListLengthDisplay.from_predictions(
    ...     [0, 1, 1], [3, 2, 1], qid=["a", "a", "a"], k=[1, 2, 3]
    ... )
    >>> display.recall
    array([0. , 0.5, 1. ])
    >>> plt.close(display.figure_)
    """

    def __init__(self, k: ArrayLike, precision: ArrayLike, recall: ArrayLike, *, name: str | None = None) -> None:
        points(k=required(k, "k"), precision=required(precision, "precision"), recall=required(recall, "recall"))
        self.k, self.precision, self.recall = np.asarray(k), np.asarray(precision), np.asarray(recall)
        self.name = name

    def plot(self, ax: Any = None, *, name: str | None = None, **kwargs: Any) -> Self:
        """Draw both curves.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`, for both curves.
        """
        ax = self._open(ax)
        name = self.name if name is None else name
        look = line_style(len(ax.lines) // 2, len(self.k))
        full = look | {"linestyle": "-", "label": "precision" if name is None else label_of(name)}
        hollow = look | {
            "linestyle": "--",
            "markerfacecolor": "white",
            "label": "recall" if name is None else "_recall",
        }
        (self.precision_line_,) = ax.plot(self.k, self.precision, **full | kwargs)
        (self.recall_line_,) = ax.plot(self.k, self.recall, **hollow | kwargs)
        set_cutoff_axis(ax, self.k)
        set_labels(ax, "list length N (documents)", "precision (full), recall (hollow), means")
        ax.set_ylim(-0.02, 1.02)
        self._name_systems(on_curves=True)
        return self

    @classmethod
    def from_result(
        cls, result: Evaluation, *, precision: Any = "precision", recall: Any = "recall", name: str | None = None,
        ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Picture of a result that has precision and recall at the same cutoffs, "p@1", "r@1" and so on.

        Parameters
        ----------
        precision, recall : str, default="precision", "recall"
            The metrics without their cutoff, for those with keywords, such as "precision(min_relevance=2)".
        **kwargs
            Passed to Matplotlib's `plot`, for both curves.

        Raises
        ------
        ValueError
            If the result lacks one of them, or has them at different cutoffs.
        """
        return cls._of_result(result, precision, recall, name=name).plot(ax, **kwargs)

    @classmethod
    def _of_result(cls, result: Evaluation, precision: Any, recall: Any, *, name: str | None) -> Self:
        """Display of a result, not drawn yet."""
        means = result.mean()
        (_, precisions), (_, recalls) = family_of(result, precision), family_of(result, recall)
        if list(precisions) != list(recalls):
            raise ValueError(
                "Precision and recall must be of the same cutoffs. "
                f"Got {list(precisions)} for precision and {list(recalls)} for recall."
            )
        curves = ([means[at_k] for at_k in names.values()] for names in (precisions, recalls))
        return cls(list(precisions), *curves, name=name)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], *, precision: Any = "precision",
        recall: Any = "recall", ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Picture of precision and recall of several results.

        Parameters
        ----------
        precision, recall : str, default="precision", "recall"
            The metrics without their cutoff, as in `from_result`.
        **kwargs
            Passed to Matplotlib's `plot`, for all systems.
        """
        displays = {
            name: cls._of_result(result, precision, recall, name=name) for name, result in several(results).items()
        }
        first = next(iter(results.values()))
        refuse_other_meaning(results, [*family_of(first, precision)[1].values(), *family_of(first, recall)[1].values()])
        return cls._of_systems(displays, ax, **kwargs)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        k: Iterable[int] = range(1, 21),
        name: str | None = None,
        ax: Any = None,
        n_jobs: int | None = None,
        **keywords: Any,
    ) -> Self:
        """Picture of labels and scores.

        Parameters
        ----------
        k : iterable of int, default=range(1, 21)
            Lengths of the list.
        **keywords
            More keywords of `evaluate`: those of the metrics, `sample_weight` and `tie_break`.
        """
        k = cutoffs_of(k)
        metrics = [*at_cutoffs("precision", k), *at_cutoffs("recall", k)]
        result = evaluate(y_true, y_score, qid=qid, metrics=metrics, n_jobs=n_jobs, **keywords)
        return cls.from_result(result, name=name, ax=ax)
