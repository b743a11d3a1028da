"""Base classes of the Displays: they keep the axes and the figure, and read a fitted estimator."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, Self

from numpy.typing import ArrayLike

from sklearn_rank._utils.arguments import checked_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.display._arguments import OF_CONSTRUCTORS, RULES
from sklearn_rank.display._figure import open_axes
from sklearn_rank.display._naming import name_systems
from sklearn_rank.model_selection._fitted_queries import check_test_queries
from sklearn_rank.model_selection._query_ranker import QueryRanker
from sklearn_rank.model_selection._response import predict_scores


class Display:
    """A picture that `plot` draws, on axes that it keeps."""

    ax_: Any
    figure_: Any

    def __init_subclass__(cls, **options: Any) -> None:
        """Check the arguments of what draws before anything is drawn."""
        super().__init_subclass__(**options)
        for name, item in {**vars(cls)}.items():
            if name == "__init__":
                setattr(cls, name, checked_arguments(OF_CONSTRUCTORS)(item))
            elif isinstance(item, classmethod) and name.startswith("from_"):
                setattr(cls, name, classmethod(checked_arguments(RULES)(item.__func__)))
            elif name == "plot":
                setattr(cls, name, checked_arguments(RULES)(item))

    def _open(self, ax: Any, **size: float) -> Any:
        """Return the axes to draw on, and keep them."""
        self.ax_ = open_axes(ax, **size)
        self.figure_ = self.ax_.figure
        return self.ax_


IN_COMMON = ("metric", "greater_is_better", "confidence_level", "n_bins", "ax_", "figure_")
"""Attributes that are the same for all systems of a picture."""


class OfSystem(Display):
    """A picture of one system; `from_results` draws several on the same axes.

    Then `systems_` holds the display of each, and attributes that are not the same for all are dicts by system.
    """

    systems_: dict[str, Any]
    _names = True
    """Whether to name what is drawn: once for several systems."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Let `plot` draw each of several systems."""
        super().__init_subclass__(**options)
        if "plot" in vars(cls):
            setattr(cls, "plot", _plot_each(vars(cls)["plot"]))  # noqa: B010

    def _open_for_all(self, ax: Any) -> Any:
        """The axes given, or those that several systems fit into."""
        return ax

    def _name_systems(self, *, on_curves: bool = False) -> None:
        """Name what is drawn, if it is all."""
        if self._names:
            name_systems(self.ax_, on_curves=on_curves)

    @classmethod
    def _of_systems(cls, displays: Mapping[str, Self], ax: Any, **kwargs: Any) -> Self:
        """Draw the displays of several systems on the same axes."""
        display = cls.__new__(cls)
        display.systems_ = dict(displays)
        return display.plot(ax, **kwargs)  # type: ignore[attr-defined]


def _plot_each(plot: Callable[..., Any]) -> Callable[..., Any]:
    """Method that draws each of several systems by this one."""

    @functools.wraps(plot)
    def plot_each(self: Any, ax: Any = None, **options: Any) -> Any:
        systems = vars(self).get("systems_")
        if systems is None:
            return plot(self, ax, **options)
        if options.get("name") is not None:
            raise TypeError(f"Several systems have the names of from_results. Got name={echo(options['name'])}.")
        ax = self._open_for_all(ax)
        last = [*systems.values()][-1]
        for display in systems.values():
            display._names = display is last
            ax = plot(display, ax, **options).ax_
            display._names = True
        first = vars(next(iter(systems.values())))
        vars(self).update({
            key: value if key in IN_COMMON else {name: vars(display)[key] for name, display in systems.items()}
            for key, value in first.items() if not key.startswith("_")
        })  # fmt: skip
        return self

    return plot_each


class FromEstimator(OfSystem):
    """Adds `from_estimator` to a Display that has `from_predictions`."""

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: MatrixLike, y: ArrayLike, *, name: str | None = None, **options: Any
    ) -> Self:
        """Picture of a fitted estimator on data, with scores as the scorers compute them.

        Parameters
        ----------
        estimator : fitted estimator
            The first of `predict_proba` (the expected grade), `decision_function` and `predict` that it has gives the
            scores.
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Relevance of each document to its query.
        name : str, default=None
            Name in the legend. None: the estimator's class.
        **options
            Passed to `from_predictions`: `qid`, `ax` and the rest.

        Returns
        -------
        display
        """
        check_test_queries(estimator, X, y, options.get("qid"))
        model = estimator.estimator if isinstance(estimator, QueryRanker) else estimator
        name = type(model).__name__ if name is None else name
        return cls.from_predictions(y, predict_scores(estimator, X), name=name, **options)  # type: ignore[attr-defined]
