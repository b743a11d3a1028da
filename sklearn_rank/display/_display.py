"""Base classes of the Displays: they keep the axes and the figure, and read a fitted estimator."""

from __future__ import annotations

from typing import Any, Self

from numpy.typing import ArrayLike

from sklearn_rank._utils.arguments import checked_arguments
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.display._arguments import OF_CONSTRUCTORS, RULES
from sklearn_rank.display._figure import open_axes
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


class FromEstimator(Display):
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
