"""Base classes of the Displays: axes, and constructors from results, predictions and models."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Self

from numpy.typing import ArrayLike

from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._ranker.query_ranker import QueryRanker
from sklearn_rank._scoring.fitted_queries import check_test_queries
from sklearn_rank._scoring.response import predict_scores
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.display._figure import name_systems, open_axes
from sklearn_rank.display._input import check_results, evaluate_each, name_in, refuse_other_metrics
from sklearn_rank.display._signature import take_options


class Display:
    """A plot that `plot` draws on axes and stores."""

    ax_: Any
    figure_: Any

    def _open(self, ax: Any, **size: float) -> Any:
        """Return the axes to draw on, and store them."""
        self.ax_ = open_axes(ax, **size)
        self.figure_ = self.ax_.figure
        return self.ax_


class PredictionsDisplay(Display):
    """A plot that can be made from labels and scores, of several systems unless a subclass differs."""

    _drawn_by: ClassVar[str] = "from_results"
    """Method that draws the result of `_evaluate`; `from_predictions` accepts its keywords."""

    @classmethod
    def _evaluate(cls, y_true: ArrayLike, y_score: Any, *, metric: MetricLike = "ndcg", **keywords: Any) -> Any:
        """Evaluate the results to draw; `from_predictions` accepts the keywords in this signature.

        Parameters
        ----------
        y_score : dict of str to array-like of shape (n_samples,)
            Scores of systems by name.
        """
        return evaluate_each(y_true, y_score, metrics=[metric], **keywords)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_score: Any, *, qid: ArrayLike | None = None, ax: Any = None,
        n_jobs: int | None = None, **keywords: Any,
    ) -> Self:  # fmt: skip
        """Plot labels and scores."""
        draw = getattr(cls, cls._drawn_by)
        evaluated = take_options(keywords, cls._evaluate)
        drawn = take_options(keywords, draw)
        results = cls._evaluate(y_true, y_score, qid=qid, n_jobs=n_jobs, **evaluated, **keywords)
        return draw(results, ax=ax, **drawn)


IN_COMMON = ("metric", "greater_is_better", "confidence_level", "ax_", "figure_")
"""Attributes that are the same for all systems of a plot."""


class SystemDisplay(Display):
    """A plot of a single system; `from_results` draws several systems on the same axes.

    With several systems, `systems_` holds the display of each, and attributes that differ are dicts by system.
    """

    systems_: dict[str, Any]
    _names = True
    """Whether to label the system; several systems are labeled together at the end."""

    def __init_subclass__(cls, **options: Any) -> None:
        """Extend `plot` to draw each of several systems."""
        super().__init_subclass__(**options)
        if "plot" in vars(cls):
            setattr(cls, "plot", _plot_each(vars(cls)["plot"]))  # noqa: B010

    def _open_for_all(self, ax: Any) -> Any:
        """Return `ax`, or new axes with room for several systems."""
        return ax

    def _name_systems(self) -> None:
        """Label the systems, if all are drawn."""
        if self._names:
            name_systems(self.ax_)

    @classmethod
    def _of_systems(cls, displays: Mapping[str, Self], ax: Any, **kwargs: Any) -> Self:
        """Draw the displays of several systems on the same axes."""
        display = cls.__new__(cls)
        display.systems_ = dict(displays)
        return display.plot(ax, **kwargs)  # type: ignore[attr-defined]


def _plot_each(plot: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `plot` in a method that draws each of several systems."""

    @functools.wraps(plot)
    def plot_each(self: Any, ax: Any = None, **options: Any) -> Any:
        systems = vars(self).get("systems_")
        if systems is None:
            return plot(self, ax, **options)
        if options.get("name") is not None:
            raise TypeError(f"name= needs a single system; from_results sets names. Got name={echo(options['name'])}.")
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


class ResultDisplay(SystemDisplay, PredictionsDisplay):
    """A plot of metrics of a result, or of several results on the same axes.

    A subclass chooses its metrics in `_metrics_in`, and makes the display in `_of_metrics`. The public methods accept
    the keywords of both methods.
    """

    _drawn_by = "from_result"

    @classmethod
    def _metrics_in(cls, result: Evaluation, metric: str | None = None) -> Sequence[str]:
        """Return the names of the metrics of a result to draw."""
        return [name_in(result, metric)]

    @classmethod
    def _of_metrics(cls, result: Evaluation, names: Sequence[str], *, name: str | None) -> Self:
        """Make the display of the metrics of a result without drawing it."""
        raise NotImplementedError

    @classmethod
    def _of_results(cls, results: Mapping[Any, Evaluation], chosen: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Make displays of results by name without drawing them; remove their keywords from `kwargs`."""
        choice, options = take_options(kwargs, cls._metrics_in), take_options(kwargs, cls._of_metrics)
        names = {name: cls._metrics_in(result, *chosen, **choice) for name, result in results.items()}
        displays = {
            name: cls._of_metrics(result, names[name], name=name, **options) for name, result in results.items()
        }
        refuse_other_metrics(results, next(iter(names.values())))
        return displays

    @classmethod
    def from_result(
        cls, result: Evaluation, *chosen: Any, name: str | None = None, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Plot a result."""
        return cls._of_results({name: result}, chosen, kwargs)[name].plot(ax, **kwargs)

    @classmethod
    def from_results(cls, results: Mapping[str, Evaluation], *chosen: Any, ax: Any = None, **kwargs: Any) -> Self:
        """Plot several results."""
        check_results(results)
        return cls._of_systems(cls._of_results(results, chosen, kwargs), ax, **kwargs)

    @classmethod
    def _evaluate(cls, y_true: ArrayLike, y_score: Any, *, metric: MetricLike = "ndcg", **keywords: Any) -> Any:
        """Evaluate a single system."""
        return evaluate(y_true, y_score, metrics=[metric], **keywords)

    @classmethod
    def from_estimator(
        cls, estimator: Estimator, X: MatrixLike, y: ArrayLike, *, name: str | None = None, **options: Any
    ) -> Self:
        """Plot a fitted estimator on data, with the same scores as in scorers.

        Parameters
        ----------
        estimator : fitted estimator
            Estimator whose scores come from the first method that it has: `predict_proba` (the expected grade),
            `decision_function` or `predict`.
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Relevance of each document to its query.
        name : str, default=None
            Name in the legend. None: the estimator's class.
        **options
            Passed to `from_predictions`, such as `qid` and `ax`.

        Returns
        -------
        display
        """
        check_test_queries(estimator, X, y, options.get("qid"))
        model = estimator.estimator if isinstance(estimator, QueryRanker) else estimator
        name = type(model).__name__ if name is None else name
        return cls.from_predictions(y, predict_scores(estimator, X), name=name, **options)
