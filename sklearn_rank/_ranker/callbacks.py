"""scikit-learn callbacks on `QueryRanker`: its fit is a task, and the fit of the inner model is a subtask.

Before scikit-learn 1.9 there are no callbacks, and this module has no effect.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any, TypeVar

from numpy.typing import ArrayLike

from sklearn_rank._engine.columns import one_column, queries_in
from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._scoring.routing import with_index
from sklearn_rank._utils.optional import import_optional
from sklearn_rank._utils.private_parts import begin_fit_task
from sklearn_rank._utils.typing import Estimator, MatrixLike

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Base of estimators that have no callbacks."""

    with_callbacks = None

FitMethod = TypeVar("FitMethod", bound=Callable[..., Any])


def as_task(fit: FitMethod) -> FitMethod:
    """Decorate `fit` so that callbacks see its start and end, with labels that carry the query of each row."""
    if with_callbacks is None:
        return fit

    @functools.wraps(fit)
    def call(
        self: Any, X: MatrixLike, y: Any, *, qid: Any = None, sample_weight: ArrayLike | None = None, **others: Any
    ) -> Any:
        weight = None if sample_weight is None else {"sample_weight": sample_weight}
        seen = {"estimator": self, "X": X, "y": lambda: _with_queries(y, qid), "metadata": weight}
        self._fit_task = begin_fit_task(self, max_subtasks=1)
        try:
            self._fit_task.call_on_fit_task_begin(**seen)
            fit(self, X, y, qid=qid, sample_weight=sample_weight, **others)
            self._fit_task.call_on_fit_task_end(**seen, reconstruction_attributes={})
        finally:
            del self._fit_task
        return self

    return with_callbacks(call)


@contextmanager
def model_task(ranker: Any, model: Estimator) -> Iterator[None]:
    """Run the fit of the inner model as a task of the ranker's fit; pass callbacks on to a model that supports them."""
    if not hasattr(ranker, "_fit_task"):
        yield
        return
    task = ranker._fit_task.subcontext(task_name="fit-model")
    with task.propagate_callback_context(model) if hasattr(model, "set_callbacks") else nullcontext():
        task.call_on_fit_task_begin(estimator=ranker)
        yield
        task.call_on_fit_task_end(estimator=ranker)


def _with_queries(y: Any, qid: Any) -> Any:
    """Put the query of each row into the index of the labels: ranking scorers read it there; others accept no qid."""
    if qid is None or queries_in(y) is not None:
        return y
    pandas = import_optional("pandas", extra="pandas", purpose="A callback that scores a fit with qid=")
    return with_index(one_column(y), {"qid": ids_of(find_qid(y, qid, name="y"))}, pandas)
