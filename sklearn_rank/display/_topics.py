"""Plot of the values of systems by topic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._utils.echo import echo
from sklearn_rank.display._arguments import mapping, points
from sklearn_rank.display._display import PredictionsDisplay
from sklearn_rank.display._figure import (
    TALL,
    label_of,
    name_systems,
    set_explained,
    size_of,
    style_of,
    thin,
    value_label,
)
from sklearn_rank.display._input import baseline_in, check_results, name_in, paired
from sklearn_rank.display._signature import completed

MOST_TOPICS = 60
"""Maximum number of topics for which a new figure is wide enough for all ids."""
ID_SIZE = 7.0
"""Font size of ids, in points."""
WIDTH_OF_MARKS, WIDTH_OF_AXES = 0.6, 0.775
"""Share of the width of a figure beside the legend, and without one as Matplotlib opens it."""
LONGEST_ID = 20
"""Maximum number of characters of an id."""


@completed
class TopicsDisplay(PredictionsDisplay):
    """Values of systems by topic: each query has a position on the x axis, with a mark for each system.

    Queries are sorted by the value of the baseline, the best first. A gray line joins the lowest and the highest value
    of a query. A new figure is wide enough for the ids of 60 queries. With more queries or in narrow axes, some ids are
    omitted, and the caption gives the number of shown ids.

    Parameters
    ----------
    values : dict of str to array-like of shape (n_queries,)
        Value of each query for each system by its name. NaN has no mark, and a query without any value is left out.
    qid : array-like of shape (n_queries,)
        Query ids.
    baseline : str, default=None
        System whose values sort the queries. None: the first.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    order_ : ndarray of shape (n_drawn,)
        Indices of the queries from left to right.
    points_ : dict of str to Line2D
        Marks of each system.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import TopicsDisplay
    >>> scores = {"old": [2, 1, 1, 2], "new": [2, 1, 2, 1]}
    >>> display = TopicsDisplay.from_predictions(
    ...     [0, 1, 0, 1], scores, qid=list("aabb"), metric="mrr"
    ... )
    >>> [label.get_text() for label in display.ax_.get_xticklabels()]
    ['b', 'a']
    >>> display.points_["old"].get_ydata()
    array([1. , 0.5])
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, values: Mapping[str, ArrayLike], qid: ArrayLike, *, baseline: str | None = None, metric: str = "metric",
        greater_is_better: bool = True,
    ) -> None:  # fmt: skip
        systems = mapping(values, "values")
        if not systems:
            raise ValueError("values must hold the values of at least one system, by name. Got {}.")
        arrays = points(**{f"values[{echo(name)}]": x for name, x in systems.items()})
        self.values = dict(zip(systems, arrays, strict=True))
        self.qid = np.asarray(qid)
        if self.qid.shape != arrays[0].shape:
            raise ValueError(f"qid must have an id for each of {len(arrays[0])} values. Got shape {self.qid.shape}.")
        self.baseline = baseline_in(self.values, baseline)
        self.metric, self.greater_is_better = metric, greater_is_better

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw a mark for each system and query.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `plot`, for all systems.

        Raises
        ------
        ValueError
            If no query has a value.
        """
        values = np.stack([*self.values.values()])
        defined = np.flatnonzero(~np.isnan(values).all(axis=0))
        if not len(defined):
            raise ValueError("A plot of topics needs a query with a value. Got none, or only NaN.")
        of_baseline = self.values[self.baseline][defined]
        order = defined[np.argsort(-of_baseline if self.greater_is_better else of_baseline, kind="stable")]
        drawn = thin(len(order))
        self.order_ = order[drawn]
        values = values[:, self.order_]
        ax = self._open(ax, width=max(7.2, min(len(drawn), MOST_TOPICS) * TALL * ID_SIZE / 72 / WIDTH_OF_MARKS))
        ax.vlines(drawn, np.nanmin(values, axis=0), np.nanmax(values, axis=0), color="0.8", linewidth=0.8, zorder=0)
        self.points_ = {}
        for i, (name, of_system) in enumerate(zip(self.values, values, strict=True)):
            style = style_of(i) | {"linestyle": "", "markersize": 5, "label": label_of(str(name))}
            (self.points_[name],) = ax.plot(drawn, of_system, **style | kwargs)
        ax.set_xlim(-0.7, len(order) - 0.3)
        self._label(ax, drawn, len(order))
        return self

    def _label(self, ax: Any, drawn: NDArray[np.int64], n_defined: int) -> None:
        """Set the axis labels, the ids that fit, and the names of the systems."""
        n_ids = WIDTH_OF_MARKS / WIDTH_OF_AXES * size_of(ax)[0] / (TALL * ID_SIZE)
        step = max(1, int(np.ceil(n_defined / n_ids - 1e-9)))
        with_id = np.flatnonzero(drawn % step == 0)
        n, n_without = len(self.qid), len(self.qid) - n_defined
        parts = [f"ids of {len(with_id)} of {n_defined} queries"] * (len(with_id) < n_defined)
        parts += [f"marks of {len(drawn)} of {n_defined} queries"] * (len(drawn) < n_defined)
        parts += [f"{n_without} of {n} queries without a value"] * (n_without > 0)
        label = f"queries, sorted by the value of {self.baseline}"
        set_explained(ax, label, "; ".join(parts), value_label(self.metric, self.greater_is_better))
        names = [str(x) for x in self.qid[self.order_[with_id]].tolist()]
        ids = [
            f"{name[: LONGEST_ID // 2]}\u2026{name[-LONGEST_ID // 2 :]}" if len(name) > LONGEST_ID else name
            for name in names
        ]
        ax.set_xticks(drawn[with_id], ids, rotation=90, fontsize=ID_SIZE, parse_math=False)
        name_systems(ax)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], metric: str | None = None, *, baseline: str | None = None,
        ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Plot the values of one or more results; queries are matched by their ids.

        Parameters
        ----------
        baseline : str, default=None
            System whose values sort the queries. None: the first.

        Raises
        ------
        ValueError
            If there is no such metric or baseline, or queries or labels of systems differ.
        TypeError
            If results have no names.
        """
        check_results(results)
        baseline = baseline_in(results, baseline)
        first = results[baseline]
        metric = name_in(first, metric)
        values = {name: paired(first, result, name_in(result, metric))[2] for name, result in results.items()}
        display = cls(
            values, first.qid, baseline=baseline, metric=metric, greater_is_better=first.greater_is_better[metric]
        )
        return display.plot(ax, **kwargs)
