"""Shared parts of the Displays: signatures, checks of arguments, and descriptions of parameters.

The decorator `completed` makes a Display public. It adds the keywords of the Display to the signatures of the base
class methods. A docstring describes only the special parameters; the decorator adds the others in the order of the
signature.
"""

from __future__ import annotations

import functools
import inspect
from collections import ChainMap
from collections.abc import Callable
from typing import Any, TypeVar

from sklearn_rank._metric.names import direction_of
from sklearn_rank._utils.arguments import checked_arguments, named_arguments
from sklearn_rank._utils.docstring import completed_docstring, parameter_entries
from sklearn_rank.display._arguments import CONSTRUCTOR_RULES, METHOD_RULES
from sklearn_rank.display._figure import adapt_to_background, add_caption
from sklearn_rank.display._input import choices_of

Class = TypeVar("Class", bound=type)

AX = "ax : Matplotlib Axes, default=None\n    Axes to draw on. None: new axes in a new figure."
NAME = "name : str, default=None\n    Name in the legend."

CLASS_TEXTS = {
    "metric": 'metric : str, default="metric"\n    Name of the metric, for the label.',
    "greater_is_better": """greater_is_better : bool, default=True
    Whether a higher value of the metric is better. If missing: the direction of the metric with this name; True for
    your own name, which must not mean that lower is better, such as "latency_ms".""",
    "name": NAME,
}
METHOD_TEXTS = {
    "plot": {"ax": AX, "name": NAME + " None: the name of the display."},
    "from_result": {
        "result": "result : Evaluation",
        "metric": "metric : str, default=None\n    A metric of the result. None: the only metric.",
        "name": NAME,
        "ax": AX,
    },
    "from_results": {
        "results": "results : dict of str to Evaluation, or Comparison\n    Systems by name.",
        "metric": "metric : str, default=None\n    A metric of the results. None: the only metric.",
        "ax": AX,
    },
    "from_estimator": {"ax": AX},
    "from_comparison": {"ax": AX},
    "from_test": {"ax": AX},
    "from_predictions": {
        "y_true": "y_true : array-like of shape (n_samples,)\n    Relevance of each document to its query.",
        "y_score": "y_score : array-like of shape (n_samples,)\n    Output of the model, higher ranks first.",
        "qid": "qid : array-like of shape (n_samples,), default=None\n    Query of each row, see `evaluate`.",
        "metric": 'metric : str, metric function or callable, default="ndcg"',
        "name": NAME,
        "ax": AX,
        "n_jobs": "n_jobs : int or None, default=None\n    Number of threads, counted as in joblib.",
        "**keywords": "**keywords\n    Passed to `evaluate`, such as keywords of the metric and `tie_break`.",
    },
}
"""Entries by method and parameter."""

ERROR_TEXTS = {
    "from_result": "ValueError\n    If the result has no such metric.",
    "from_results": """ValueError
    If a result lacks the metric, or its keywords differ between results.
TypeError
    If results have no names.""",
    "from_predictions": """ValueError, TypeError
    If `evaluate` refuses the data, the metric or a keyword.""",
}
"""Errors of methods whose own docstrings list no errors."""

KEYWORDS_FROM = {
    "from_result": ("_metrics_in", "_of_metrics"),
    "from_results": ("_metrics_in", "_of_metrics"),
    "from_predictions": ("_evaluate", "_drawn_by"),
    "from_estimator": (),
}
"""Methods of the base classes, and the Display methods whose keywords each also accepts."""
OF_RESULTS = ("from_result", "from_results", "from_comparison")
"""Methods that draw results and add the choices behind the numbers to the plot."""
LAST = ("name", "ax", "n_jobs")
"""Keywords at the end of a signature, in this order."""


def options_of(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Parameters of a function with a default."""
    return {name: p for name, p in inspect.signature(function).parameters.items() if p.default is not p.empty}


def take_options(keywords: dict[str, Any], function: Callable[..., Any]) -> dict[str, Any]:
    """Remove the options of a function from `keywords` and return them."""
    return {name: keywords.pop(name) for name in options_of(function) if name in keywords}


def completed(display: Class) -> Class:
    """Complete a Display: explicit signatures, checked arguments, and a description of each parameter."""
    for name in KEYWORDS_FROM:
        if hasattr(display, name) and name not in vars(display):
            setattr(display, name, classmethod(_explicit(display, name)))
    for name, member in {**vars(display)}.items():
        if name == "__init__":
            setattr(display, name, checked_arguments(CONSTRUCTOR_RULES)(_with_direction(member)))
        elif name == "plot":
            setattr(display, name, checked_arguments(METHOD_RULES)(_readable(member)))
        elif name.startswith("from_"):
            function = _with_choices(member.__func__) if name in OF_RESULTS else member.__func__
            setattr(display, name, classmethod(checked_arguments(METHOD_RULES)(named_arguments(function))))
    # Python removes docstrings with -OO.
    if display.__doc__:
        _describe(display)
    return display


def _readable(plot: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap `plot`: its colors are readable on a dark background."""

    @functools.wraps(plot)
    def call(*args: Any, **keywords: Any) -> Any:
        display = plot(*args, **keywords)
        adapt_to_background(display.ax_)
        return display

    return call


def _with_direction(init: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a constructor: without `greater_is_better`, the name of the metric has the direction."""
    if "greater_is_better" not in options_of(init):
        return init

    @functools.wraps(init)
    def call(*args: Any, **keywords: Any) -> None:
        if "greater_is_better" not in keywords and "metric" in keywords:
            better = direction_of(keywords["metric"], argument="greater_is_better=False")
            keywords["greater_is_better"] = better
        init(*args, **keywords)

    return call


def _with_choices(method: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap a method of results: in new axes, the plot shows the choices behind the numbers."""

    @functools.wraps(method)
    def call(*args: Any, **keywords: Any) -> Any:
        display = method(*args, **keywords)
        given = inspect.signature(method).bind(*args, **keywords).arguments
        _, results, *_ = given.values()  # first the class
        if given.get("ax") is None and (text := choices_of(results, getattr(display, "metric", ""))):
            add_caption(display.figure_, text)
            adapt_to_background(display.ax_)
        return display

    return call


def _sources(display: Any, method: str) -> list[Callable[..., Any]]:
    """Functions of a Display whose keywords a base class method also accepts."""
    members = (getattr(display, name) for name in KEYWORDS_FROM.get(method, ()) if hasattr(display, name))
    return [getattr(display, member) if isinstance(member, str) else member for member in members]


def _explicit(display: Any, name: str) -> Callable[..., Any]:
    """Return a base class method with the keywords of the Display in its signature."""
    method = getattr(display, name).__func__
    signature = inspect.signature(method)
    parameters = {n: p for n, p in signature.parameters.items() if p.kind is not p.VAR_POSITIONAL}
    for source in _sources(display, name):
        parameters = {**parameters, **{n: p for n, p in options_of(source).items() if n not in parameters}}

    @functools.wraps(method)
    def call(*args: Any, **keywords: Any) -> Any:
        return method(*args, **keywords)

    in_order = sorted(parameters.values(), key=lambda p: (p.kind, LAST.index(p.name) if p.name in LAST else -1))
    setattr(call, "__signature__", signature.replace(parameters=in_order))  # noqa: B010
    call.__module__, call.__qualname__ = display.__module__, f"{display.__qualname__}.{name}"
    return call


def _describe(display: Any) -> None:
    """Complete the docstrings of a Display."""
    display.__doc__ = completed_docstring(display, CLASS_TEXTS)
    of_class = parameter_entries(display)
    for name in [name for name in METHOD_TEXTS if name in vars(display)]:
        method = getattr(display, name)
        sections = {"Returns": "self" if name == "plot" else f"display : {display.__name__}"}
        sections |= {"Raises": ERROR_TEXTS[name]} if name in ERROR_TEXTS else {}
        first, *others = [parameter_entries(source) for source in _sources(display, name)] or [{}]
        text = completed_docstring(method, ChainMap(first, METHOD_TEXTS[name], *others, of_class), **sections)
        getattr(method, "__func__", method).__doc__ = text
        if name == "plot":
            of_class |= {"**kwargs": parameter_entries(method)["**kwargs"]}
