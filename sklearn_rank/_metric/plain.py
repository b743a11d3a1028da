"""Plain functions ``f(y_true, y_score) -> float`` of one query as metrics.

They are called once per query, which is slow; formulas of the decorator `metric` are fast.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._metric.canonical_text import text_of
from sklearn_rank._metric.compute import value_of
from sklearn_rank._metric.measures import is_measure
from sklearn_rank._metric.metric import Metric
from sklearn_rank._metric.spec import MetricLike, MetricSpec
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lower_is_better import is_lower, refuse_open_direction

Plain = Callable[[Any, Any], float]

OF_LISTS = {
    "dcg_score": "dcg",
    "ndcg_score": "ndcg",
    "label_ranking_average_precision_score": "lrap",
    "label_ranking_loss": "ranking_loss",
    "coverage_error": "coverage_error",
}
"""Names here of functions of scikit-learn that take a matrix, a row a query, and so not one query."""

OF_CLASSES = {
    "accuracy_score": "hit@1",
    "balanced_accuracy_score": "hit@1",
    "f1_score": "f1@10",
    "fbeta_score": "f(beta=2)@10",
    "jaccard_score": "f1@10",
    "precision_score": "precision@10",
    "recall_score": "recall@10",
}
"""Metrics of the first documents, by functions of scikit-learn that compare predicted classes."""


LABEL_PARAMETERS = frozenset(
    "y_true y true label labels target targets truth ground_truth gold actual actuals relevance relevances".split()
)
"""Parameters that take labels."""

SCORE_PARAMETERS = frozenset(
    "y_pred y_preds y_score y_scores y_hat pred preds prediction predictions predicted score scores logits".split()
)
"""Parameters that take scores."""


class PlainMetric(Metric):
    """Metric of a plain function; with a cutoff, the function receives the first k documents, best score first."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the function and its options."""
        return plain_metric, (self.function, self.greater_is_better, self.has_cutoff)

    without_chance = "is a function that is called on one order of the documents"
    """Why no random order gives it a value."""

    @property
    def meaning(self) -> str:
        """Meaning as text."""
        return text_of(self.function) + ("" if self.greater_is_better else ", lower is better")

    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, **keywords: Any) -> Any:
        """Value of the metric, like a public function."""
        return value_of(self, y_true, y_score, **keywords)

    @property
    def score_func(self) -> Callable[..., Any]:
        """Function to give to `sklearn.metrics.make_scorer`: this metric, which knows queries."""
        return self


def is_plain(metric: MetricLike) -> bool:
    """Whether this is a plain function, not a metric, the name of one, or a function of one."""
    is_other = isinstance(metric, (str, Metric, MetricSpec)) or hasattr(metric, "metric") or is_measure(metric)
    return callable(metric) and not is_other


def plain_metric(function: Plain, greater_is_better: bool | None = None, cut: bool = False) -> PlainMetric:
    """Metric of a plain function of the labels and scores of one query, rows in the order they came unless `cut`."""
    if hasattr(function, "set_score_request"):
        raise TypeError(
            "A metric is a function of labels and scores, not a scorer: pass the function inside the scorer, or a "
            f"name. Got {echo(function)}."
        )
    if (name := name_of(function)) in OF_LISTS and _is_of_sklearn(function):
        raise TypeError(
            f"A plain function takes one query, and {name} of scikit-learn a matrix, a row for each query: take "
            f"'{OF_LISTS[name]}' with convention='sklearn', which has its values. Got {echo(function)}."
        )
    first, second = [*_parameters(function), "", ""][:2]
    if first in SCORE_PARAMETERS and second in LABEL_PARAMETERS:
        raise ValueError(
            "A plain function is called with the labels of a query, then its scores: pass a function "
            f"f({second}, {first}) that returns {name}({first}, {second}). Got {name}({first}, {second})."
        )
    if greater_is_better is None:
        greater_is_better = direction_of_function(function)
    elif not isinstance(greater_is_better, (bool, np.bool_)):
        raise ValueError(
            "The 'greater_is_better' parameter of a plain function must be True, False or None. "
            f"Got {echo(greater_is_better)}."
        )
    formula = functools.partial(_each_query, function)
    return PlainMetric(
        name_of(function), formula, function, greater_is_better=bool(greater_is_better), has_cutoff=cut,
        pointwise=not cut, subtopics=True, finite=False,
    )  # fmt: skip


def refuse_own_cutoff(function: Plain, k: Any) -> None:
    """Refuse a cutoff beside another one that a function has by default, or filled in."""
    own = _parameters(function).get("k")
    if own is not None and own is not inspect.Parameter.empty and np.any(np.not_equal(k, own)):
        raise ValueError(
            f"A plain function with a parameter k cuts lists itself: pass functools.partial({name_of(function)}, "
            f"k={echo(k)}) without a cutoff, or k=None inside. Got the cutoff {echo(k)}, and k={echo(own)} of the "
            "function."
        )


def _parameters(function: Plain) -> dict[str, Any]:
    """Defaults of the parameters of a function, those of a wrapper where it has its own."""
    try:
        parameters = inspect.signature(function, follow_wrapped=False).parameters
    except (TypeError, ValueError):
        return {}
    return {name: parameter.default for name, parameter in parameters.items()}


def name_of(function: Any) -> str:
    """Name of a function, also of one with arguments filled in."""
    function = _inner(function)
    return str(getattr(function, "__name__", type(function).__name__))


def _inner(function: Any) -> Any:
    """A function without the arguments that are filled in."""
    while isinstance(function, functools.partial):
        function = function.func
    return function


def _is_of_sklearn(function: Any) -> bool:
    """Whether a function, arguments filled in or not, is one of `sklearn.metrics`."""
    return getattr(sys.modules.get("sklearn.metrics"), name_of(function), None) is _inner(function)


def direction_of_function(function: Any, *names: str) -> bool:
    """Which way is better by a function's names, its own and others: scikit-learn keeps to its ends of names."""
    own = name_of(function)
    if _is_of_sklearn(function):
        return not is_lower(own)
    for name in (own, *names):
        refuse_open_direction(name, f"parse_metric({own}, greater_is_better=False)")
    return True


def _each_query(function: Plain, r: Ranked) -> Any:
    """A plain function on one query after the other; where it returns nan, the query is undefined."""
    lists = r.queries(f"A plain function, {name_of(function)} here,")
    value = np.array([[np.nan if len(y) == 0 else _value_of(function, y, s)] for y, s in lists])
    return np.where(np.isnan(value), 0.0, value), ~np.isnan(value)


def _value_of(function: Plain, y: Any, s: Any) -> float:
    """Value of one query; an error of a function that compares classes says which metric ranks."""
    try:
        return _number_of(function, function(y, s))
    except ValueError as error:
        name = name_of(function)
        if name not in OF_CLASSES or not _is_of_sklearn(function):
            raise
        raise ValueError(
            f"{name} of scikit-learn compares classes, and a ranking has scores. Did you mean {OF_CLASSES[name]!r}? "
            f"(It said: {error})"
        ) from None


def _number_of(function: Plain, value: Any) -> float:
    """Check that a plain function returned one real number."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "biuf":
        raise TypeError(
            f"A plain function must return one real number for a query. Got {echo(value)} of {name_of(function)}."
        )
    return float(array)
