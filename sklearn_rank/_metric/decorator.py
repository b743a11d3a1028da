"""The decorator `metric`: from a formula to the public function and the registry.

Cutoffs, ties, undefined queries, averages, checks and the documentation of shared keywords are added here, so that a
metric is one short function of `Ranked` queries.
"""

from __future__ import annotations

import copyreg
import functools
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from typing import Any, Protocol, Unpack, cast

from numpy.typing import ArrayLike

from sklearn_rank._metric.compute import value_of
from sklearn_rank._metric.docstring import docstring_of, signature_of
from sklearn_rank._metric.key_signs import SIGN
from sklearn_rank._metric.keywords import SHARED
from sklearn_rank._metric.metric import REGISTRY, Formula, Metric, Properties
from sklearn_rank._utils.arguments import refuse_missing, refuse_position
from sklearn_rank._utils.constraints import Constraint
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lower_is_better import refuse_open_direction

NOT_GIVEN = object()
"""In place of an argument that was not given."""


class MetricFunction(Protocol):
    """Public function of a metric; its signature and docstring list all keywords."""

    metric: Metric

    def __call__(
        self,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        mask: ArrayLike | None = None,
        n_jobs: int | None = None,
        **keywords: Any,
    ) -> Any:
        """Mean over queries."""


def metric(
    name: str, *, aliases: Iterable[str] | Mapping[str, Any] = (), **properties: Unpack[Properties]
) -> Callable[[Formula], MetricFunction]:
    """Turn a formula into a metric: its public function, its name and its scorer.

    Parameters
    ----------
    name : str
        Canonical name, as in "ndcg@10".
    aliases : sequence of str or mapping, default=()
        More names; a mapping has the keywords that each name fixes.
    **properties
        Properties of the metric:

        - ``bounds=(low, high)``: lowest and highest possible value;
        - ``greater_is_better=True``, which must be given if a name means that lower is better, such as "latency_ms";
        - ``has_cutoff=True``: False if the whole list always counts;
        - ``undefined_when=""``: why a query has no defined value, such as "no relevant document";
        - ``needs_relevant=False``: True if undefined without a relevant document, whatever the denominator;
        - ``labels=(None, None)``: lowest and highest label, the latter a number or the name of a keyword;
        - ``max_weight=None``: highest weight of a `discount` that keeps the bounds, infinity for any; the weights must
          then be at least 0 and must not rise with the rank. None: any weights;
        - ``binary=False``: True if a query without tied documents has the value 0 or 1, or a function of the
          `MetricSpec`, such as ``lambda spec: spec.k == 1``. Intervals are then those for success rates, see
          `Evaluation.confidence_interval`;
        - ``supports_micro=False``: has a micro average;
        - ``pointwise=False``: True if scores are predictions of the label, without order and cutoff;
        - ``subtopics=False``: labels may have a second axis, subtopics, which `over_subtopics` of a `Ranked` reads;
        - ``defines_ties=False``: True if ties are part of the definition, so that there is no keyword `ties`;
        - ``reads_scores=False``: True if the values of the scores count, not only their order;
        - ``keeps_unretrieved=False``: True if documents that were not retrieved are ranked last and tied, whatever the
          tie policy;
        - ``reads_unjudged=False``: True if NaN labels differ from label 0, so that ``unjudged="nonrelevant"`` does not
          fill them;
        - ``pools_negative=False``: True if a negative label marks an unjudged document, so that ``unjudged="drop"``
          removes it;
        - ``reads_all_labels=False``: True if documents below the cutoff matter beyond their number per positive label;
        - ``transform=None``: function applied to the ratio of numerator and denominator;
        - ``columns=()``: columns of the data that the formula reads by ``r.column("price")``, a number for each row.
          They are keywords of the function and of `evaluate`, or levels of the index of y, and scorers request them;
        - ``parameter_constraints={}``: a rule for each keyword: a pair of words and a function, such as
          ``{"half_life": ("a number above 0", lambda v: v > 0)}``, or a `Constraint`. A keyword named `gain`,
          `discount` or `stop` has its usual rule, and the formula receives a function. With a rule here, the formula
          receives the value that was passed.

    Returns
    -------
    callable
        Decorator of a formula ``f(r, *, keyword=default, ...)``, where r is a `Ranked`. The formula returns the curve,
        or a numerator and a denominator. The public function replaces it, with the arguments
        ``(y_true, y_score, *, qid, k, ...)`` and the `Metric` as its attribute ``metric``.

    Raises
    ------
    ValueError
        If the name or an alias belongs to another metric, or has characters that names do not have. If a name means
        that lower is better, and `greater_is_better` is missing. If, on a few trial
        queries, other queries change the value of a query, or tied documents do not have the mean over their orders.
    TypeError
        If a keyword of the formula has no default.

    Notes
    -----
    A metric from a script or notebook works in other processes, such as the workers of ``GridSearchCV(n_jobs=2)``,
    because scorers carry the formula. Other processes do not know its name, so pass the function to models that are
    fitted there: ``QueryRanker(..., eval_metric=search_length_error)``.

    Examples
    --------
    Cooper's expected search length is the number of documents above the first relevant document. Here one document is
    above it and one is tied with it, which counts 1/2:

    >>> from sklearn_rank import evaluate, metric
    >>> properties = {"greater_is_better": False, "has_cutoff": False, "needs_relevant": True}
    >>> @metric(
    ...     "search_length",
    ...     undefined_when="no relevant document",
    ...     keeps_unretrieved=True,
    ...     **properties,
    ... )
    ... def search_length_error(r):
    ...     return r.cumsum(weight=r.cascade(r.relevant) * (r.rank - 1))
    >>> search_length_error([0, 0, 1], [3, 1, 1], qid=["q", "q", "q"])
    1.5
    >>> evaluate(
    ...     [0, 0, 1],
    ...     [3, 1, 1],
    ...     qid=["q", "q", "q"],
    ...     metrics=["search_length", "mrr"],
    ...     ties="worst",
    ... ).mean()
    {'search_length': 2.0, 'mrr': 0.3333333333333333}
    """
    if not isinstance(aliases, Iterable) or isinstance(aliases, (str, bytes)):
        raise TypeError(f"aliases of a metric must be a list of names, or a dict. Got {echo(aliases)} instead.")
    if not isinstance(aliases, Mapping):
        aliases = {alias: {} for alias in aliases}

    refuse_bad_names(name, aliases)

    return functools.partial(_define, name, aliases, properties)


def _define(
    name: str, aliases: Mapping[str, Any], properties: Properties, formula: Formula, *, tried: bool = False
) -> MetricFunction:
    """Public function of a formula, which is tried first, and its entry in the registry."""
    if properties.get("greater_is_better") is None:
        for own_name in (name, *aliases, formula.__name__):
            refuse_open_direction(own_name, "greater_is_better=False")
    refuse_taken_names(name, aliases, formula, [*REGISTRY.values()])
    refuse_bad_keywords(formula)
    rules = constraints_of(properties.get("parameter_constraints", {}), formula)
    refuse_bad_columns(formula, properties.get("columns", ()))
    refuse_missing_scale(formula, properties.get("labels"), rules)
    own: dict[str, Any] = {"has_cutoff": not properties.get("pointwise", False), **properties}
    own |= {"parameter_constraints": rules, "columns": (*properties.get("columns", ()),)}
    if own["has_cutoff"] and own.get("pointwise"):
        raise ValueError("A pointwise metric reads no order, so it has no cutoff. Got pointwise=True, has_cutoff=True.")

    @functools.wraps(formula)
    def score(y_true: Any = NOT_GIVEN, y_score: Any = NOT_GIVEN, *others: Any, **keywords: Any) -> Any:
        if y_score is NOT_GIVEN or y_true is NOT_GIVEN:
            given = {n: x for n, x in (("y_true", y_true), ("y_score", y_score)) if x is not NOT_GIVEN}
            refuse_missing(formula.__name__, [n for n in ("y_true", "y_score") if n not in given], keywords | given)
        if others:
            refuse_position(formula.__name__, ["y_true", "y_score"])
        return value_of(entry, y_true, y_score, **keywords)

    entry = Metric(name=name, formula=formula, function=score, aliases=aliases, **own)
    if not (tried or entry.is_built_in):
        from sklearn_rank._metric.metric_check import refuse_wrong_formula

        refuse_wrong_formula(entry)
    score.__signature__ = signature_of(entry)  # type: ignore[attr-defined]
    score.__doc__ = docstring_of(entry)
    score.metric = entry  # type: ignore[attr-defined]
    REGISTRY[name] = entry
    return cast(MetricFunction, score)


def _reduce(entry: Metric) -> tuple[Any, ...]:
    """Pickle by the place of the public function, or by the parts of the metric if no place can be imported."""
    # A function of a script or notebook has a place in this process, and in a fork of it, but workers have another main
    # module. So both are sent. The parts are in a pickle of their own: only cloudpickle finds the formula, whose name
    # the public function has taken.
    module, name = entry.function.__module__, entry.function.__qualname__
    parts = (
        entry.name,
        entry.formula,
        entry.aliases,
        {name: getattr(entry, name) for name in Properties.__annotations__},
    )
    if getattr(sys.modules.get(module), name, None) is not entry.function:
        return _define_again, parts
    if module == "__main__":
        from joblib import wrap_non_picklable_objects

        return _find_metric, (name, wrap_non_picklable_objects(parts, keep_wrapper=False))
    return _import_metric, (module, name)


copyreg.pickle(Metric, _reduce)


def _import_metric(module: str, name: str) -> Metric:
    """Metric of a public function, wherever it is unpickled."""
    function = getattr(import_module(module), name)
    entry: Metric = function.metric
    return entry


def _find_metric(name: str, parts: tuple[Any, ...]) -> Metric:
    """Metric of a public function of the main module; a worker that has another main module defines it again."""
    entry = getattr(getattr(sys.modules["__main__"], name, None), "metric", None)
    return entry if isinstance(entry, Metric) else _define_again(*parts)


def _define_again(name: str, formula: Formula, aliases: Mapping[str, Any], properties: Properties) -> Metric:
    """Metric of a function that lives in no module, such as one from a notebook."""
    return _define(name, aliases, properties, formula, tried=True).metric


def formula_of(function: MetricFunction) -> Formula:
    """Formula behind a public metric function, for metrics that are made of others."""
    return function.metric.formula


OF_CALLS = (
    "y_true", "y_score", "qid", "k", "sample_weight", "tie_break", "mask", "n_jobs", "by", "clusters", "metrics",
)  # fmt: skip
"""Arguments of functions that metrics are passed to."""


def refuse_bad_names(name: Any, aliases: Iterable[Any]) -> None:
    """Refuse names that `parse_metric` could not read."""
    for text in (name, *aliases):
        if not isinstance(text, str) or not re.fullmatch(r"[a-z0-9_-]+", text):
            raise ValueError(
                "The name of a metric must be a str of a-z, 0-9, '_' and '-', as in @metric(\"my_metric\"). "
                f"Got {echo(text)} instead."
            )
        if text.startswith(SIGN):
            raise ValueError(
                f"The name of a metric must not start with {SIGN!r}, which begins the names of scorers of errors. "
                f"Got {echo(text)} instead."
            )


def refuse_bad_keywords(formula: Formula) -> None:
    """Refuse a formula that cannot be called with only the ranked queries."""
    parameters = inspect.signature(formula).parameters.values()
    without = [p for p in parameters if p.default is p.empty]
    if len(without) != 1:
        raise TypeError(
            "A formula takes the ranked queries, then keywords that have defaults. "
            f"Got {formula.__name__}({', '.join(map(str, parameters))})."
        )
    if any(p.name == "k" for p in parameters):
        raise TypeError(
            "The k of a metric is its cutoff, which a formula reads as r.k, so a keyword needs another name. "
            f"Got {formula.__name__}({', '.join(map(str, parameters))})."
        )


def refuse_bad_columns(formula: Formula, columns: Any) -> None:
    """Refuse names of columns that are no keywords, or keywords already."""
    listed = columns if isinstance(columns, (list, tuple)) else [None]
    taken = {*inspect.signature(formula).parameters, *SHARED, *OF_CALLS}
    for name in listed:
        if not isinstance(name, str) or not name.isidentifier() or name in taken:
            raise ValueError(
                "columns of a metric must be a list of names of its own, such as ['price'], which are keywords of its "
                f"function. Got {echo(columns)}."
            )


def refuse_missing_scale(formula: Formula, labels: Any, own: Iterable[str]) -> None:
    """Refuse `stop` without the scale of grades, and labels up to a keyword that is not there."""
    keywords = [*inspect.signature(formula).parameters][1:]
    named = labels[1] if isinstance(labels, tuple) and isinstance(labels[1], str) else None
    stops = "max_grade" if "stop" in keywords and "stop" not in own else None
    for missing, why in ((stops, "stop="), (named, f"labels={echo(labels)}")):
        if missing is not None and missing not in keywords:
            raise TypeError(
                f"A formula with {why} needs the keyword {missing}, the highest grade of the scale, too: "
                f"{formula.__name__}(r, *, {missing}=4, ...). Got {formula.__name__}(r, {', '.join(keywords)})."
            )


def constraints_of(rules: Mapping[str, Any], formula: Formula) -> dict[str, Constraint]:
    """Rules of a formula's keywords; a pair is made a `Constraint`, with an entry for the docstring."""
    keywords = [*inspect.signature(formula).parameters][1:]
    made = {}
    for name, rule in rules.items():
        is_pair = isinstance(rule, tuple) and len(rule) == 2 and isinstance(rule[0], str) and callable(rule[1])
        if not (is_pair or isinstance(rule, Constraint)):
            raise TypeError(
                "A rule of parameter_constraints is a pair of words and a function, such as ('a number above 0', "
                f"lambda v: v > 0), or a Constraint. Got {echo(rule)} for {echo(name)}."
            )
        if name not in keywords and name not in SHARED:
            raise ValueError(
                f"parameter_constraints has rules for keywords of the formula, {echo(keywords)} here. Got {echo(name)}."
            )
        made[name] = Constraint(rule[0], Accepts(rule[1]), _entry(name, rule[0])) if is_pair else rule
    return made


def _entry(name: str, words: str) -> str:
    """Entry of a keyword in a docstring."""
    return f"{name} : default=<default>\n    {words[:1].upper()}{words[1:]}."


class Accepts:
    """Whether a value passes a function of a metric's author; a value that it cannot take does not."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, value: Any) -> bool:
        """Whether the value passes."""
        try:
            return bool(self.function(value))
        except (TypeError, ValueError):
            return False


def refuse_taken_names(name: str, aliases: Iterable[str], formula: Formula, known: Iterable[Any]) -> None:
    """Refuse the name of another metric; one may be defined again, as a cell of a notebook is."""
    for entry in known:
        again = (entry.formula.__module__, entry.function_name) == (formula.__module__, formula.__name__)
        taken = {name, *aliases} & {entry.name, *entry.aliases}
        if taken and not again:
            raise ValueError(
                f"The name of a metric must not be taken. Got {echo(min(taken))}, a name of {entry.function_name}."
            )
