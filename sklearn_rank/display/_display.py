"""Base classes of the Displays: the axes they keep, and the ways from results, predictions and models to a picture."""

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
from sklearn_rank.display._figure import open_axes
from sklearn_rank.display._input import check_results, evaluate_each, name_in, refuse_other_metrics
from sklearn_rank.display._signature import take_options
from sklearn_rank.display._systems import name_systems


class Display:
    """A picture that `plot` draws, on axes that it keeps."""

    ax_: Any
    figure_: Any

    def _open(self, ax: Any, **size: float) -> Any:
        """Return the axes to draw on, and keep them."""
        self.ax_ = open_axes(ax, **size)
        self.figure_ = self.ax_.figure
        return self.ax_


class PredictionsDisplay(Display):
    """A picture that is also drawn from labels and scores, of several systems unless a subclass says otherwise."""

    _drawn_by: ClassVar[str] = "from_results"
    """Method that draws what `_evaluate` returns; `from_predictions` takes its keywords."""

    @classmethod
    def _evaluate(cls, y_true: ArrayLike, y_score: Any, *, metric: MetricLike = "ndcg", **keywords: Any) -> Any:
        """Results to draw; `from_predictions` takes the keywords that are named here.

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
        """Picture of labels and scores."""
        draw = getattr(cls, cls._drawn_by)
        evaluated = take_options(keywords, cls._evaluate)
        drawn = take_options(keywords, draw)
        results = cls._evaluate(y_true, y_score, qid=qid, n_jobs=n_jobs, **evaluated, **keywords)
        return draw(results, ax=ax, **drawn)


IN_COMMON = ("metric", "greater_is_better", "confidence_level", "n_bins", "ax_", "figure_")
"""Attributes that are the same for all systems of a picture."""


class SystemDisplay(Display):
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
            raise TypeError(f"name= is for one system: from_results names each. Got name={echo(options['name'])}.")
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
    """A picture of metrics of a result, or of several results on the same axes.

    A subclass says which metrics it draws, `_metrics_in`, and makes a display of them, `_of_metrics`. The public
    methods take the keywords that these two name.
    """

    _drawn_by = "from_result"

    @classmethod
    def _metrics_in(cls, result: Evaluation, metric: str | None = None) -> Sequence[str]:
        """Names of the metrics of a result that are drawn."""
        return [name_in(result, metric)]

    @classmethod
    def _of_metrics(cls, result: Evaluation, names: Sequence[str], *, name: str | None) -> Self:
        """Display of these metrics of a result, not drawn yet."""
        raise NotImplementedError

    @classmethod
    def _of_results(cls, results: Mapping[Any, Evaluation], chosen: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Displays of results by name, not drawn yet; their keywords are taken out of `kwargs`."""
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
        """Picture of a result."""
        return cls._of_results({name: result}, chosen, kwargs)[name].plot(ax, **kwargs)

    @classmethod
    def from_results(cls, results: Mapping[str, Evaluation], *chosen: Any, ax: Any = None, **kwargs: Any) -> Self:
        """Picture of several results."""
        check_results(results)
        return cls._of_systems(cls._of_results(results, chosen, kwargs), ax, **kwargs)

    @classmethod
    def _evaluate(cls, y_true: ArrayLike, y_score: Any, *, metric: MetricLike = "ndcg", **keywords: Any) -> Any:
        """The result of one system."""
        return evaluate(y_true, y_score, metrics=[metric], **keywords)

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
        return cls.from_predictions(y, predict_scores(estimator, X), name=name, **options)
