"""What a metric is: a formula and the facts about it; the `metric` decorator; the registry.

The decorator turns a formula on `Ranked` queries into the public function: cutoffs, ties, undefined queries,
averages, checks and the documentation of shared keywords come from here, so that a metric is one short function.
"""

from __future__ import annotations

import functools
import inspect
import math
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields
from importlib import import_module
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine import check as _check
from sklearn_rank._engine import labels as _labels
from sklearn_rank._engine import per_query as _compute
from sklearn_rank._engine.ranked import NO_CUTOFF, Ranked
from sklearn_rank._metric.conventions import keywords_of
from sklearn_rank._metric.definition import refuse_bad_keywords, refuse_bad_names, refuse_taken_names
from sklearn_rank._metric.docstring import docstring_of, signature_of
from sklearn_rank._metric.gains import (
    check_gain_function,
    check_weights,
    gain_table,
    make_discount,
    make_gain,
    make_stop,
)
from sklearn_rank._metric.keywords import (
    CUTOFF,
    OWN,
    SHARED,
    SUBTOPICS,
    Constraint,
    built_in,
    is_word,
    meant_by,
    refuse_position,
    unread,
)
from sklearn_rank._metric.meaning import place_of, text_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property

Formula = Callable[..., Any]

NO_RELEVANT = "no relevant document"
"""What a query has for which many metrics are undefined."""

PLAIN = (int, float, str, bool, type(None))
"""Types of keywords of which equal values mean the same."""

REGISTRY: dict[str, Metric] = {}
"""Metrics by canonical name."""


@dataclass(frozen=True, eq=False)
class Metric:
    """A formula and the facts about it; `function` is the public function made of them."""

    name: str
    formula: Formula
    function: Callable[..., Any]
    bounds: tuple[float, float] = (-math.inf, math.inf)
    aliases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    greater_is_better: bool = True
    has_cutoff: bool = True
    undefined_when: str = ""
    needs_relevant: bool = False
    labels: tuple[float | None, float | str | None] = (None, None)
    max_weight: float | None = None
    supports_micro: bool = False
    pointwise: bool = False
    subtopics: bool = False
    finite: bool = True
    defines_ties: bool = False
    reads_scores: bool = False
    keeps_unretrieved: bool = False
    reads_unjudged: bool = False
    reads_all_labels: bool = False
    transform: Callable[[Any], Any] | None = None
    parameter_constraints: Mapping[str, Constraint] = field(default_factory=dict)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by the place of the public function, or by what it is made of if it has none (cloudpickle)."""
        module, name = self.function.__module__, self.function.__qualname__
        if getattr(sys.modules.get(module), name, None) is self.function:
            return _found, (module, name)
        facts = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in ("name", "formula", "function")}
        return _made, (self.name, self.formula, facts)

    @property
    def is_built_in(self) -> bool:
        """Whether it is one of ours, which the tests hold to what is asked of all: no cutoff reads below it."""
        return getattr(self.formula, "__module__", "").startswith("sklearn_rank.metrics.")

    @property
    def function_name(self) -> str:
        """Name of the public function, for messages."""
        return str(getattr(self.function, "__name__", self.name))

    @property
    def __name__(self) -> str:  # which scikit-learn prints a scorer by
        return self.function_name

    @property
    def score_func(self) -> Callable[..., Any]:
        """What `sklearn.metrics.make_scorer` is given."""
        return self.function

    @property
    def meaning(self) -> str:
        """What it computes, as text: our own metrics by name, others by their formula and the facts."""
        if self.function.__module__.startswith("sklearn_rank."):
            return self.function_name
        facts = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in ("function", "aliases", "parameter_constraints")
        }
        return place_of(self.function) or f"{self.function_name} {text_of(facts)}"

    @cached_property
    def formula_params(self) -> dict[str, Any]:
        """Keywords of the formula itself, with their defaults."""
        parameters = list(inspect.signature(self.formula).parameters.values())[1:]
        return {p.name: p.default for p in parameters}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Keywords that a name may set, with their defaults: the formula's own, then the shared ones."""
        shared = {name: default for name, (default, _) in SHARED.items()}
        for name in ["ties"] * (self.pointwise or self.defines_ties) + ["min_relevance"] * self.pointwise:
            del shared[name]
        return self.formula_params | shared

    def rule(self, name: str) -> Constraint | None:
        """Rule for a keyword; None for one that a formula's author left free."""
        if name in self.parameter_constraints:
            return self.parameter_constraints[name]
        if self.subtopics and name in SUBTOPICS:
            return SUBTOPICS[name]
        return OWN.get(name) or (SHARED[name][1] if name in SHARED else None)

    def takes(self, name: str, value: Any) -> bool:
        """Whether it has a keyword that may have this value."""
        rule = self.rule(name)
        return name in self.defaults and (rule is None or rule.accepts(value))

    def ratio(self, ranked: Ranked, keywords: Mapping[str, Any]) -> tuple[Any, Any]:
        """Numerator and denominator that the formula returns, each a number or with a row per query."""
        found, (rows, columns) = self.formula(ranked, **keywords), ranked.shape
        parts = [np.asarray(part) for part in (found if isinstance(found, tuple) else (found, 1.0))]
        shapes = (rows, columns), (rows, 1), (1, columns), ()
        right = [p for p in parts if p.shape in shapes and p.dtype.kind in "biuf"]
        if len(parts) != 2 or len(right) != 2:
            raise ValueError(
                f"The formula of {self.function_name} must return real numbers, or a numerator and a denominator of "
                f"them, of shape {(rows, columns)}: a row for each query, a column for each cutoff. "
                f"Got {' and '.join(f'{p.dtype} of shape {p.shape}' for p in parts)} instead."
            )
        return parts[0], parts[1]

    def __call__(
        self, y_true: Any, y_score: Any, *, qid: Any = None, k: Any = None, sample_weight: Any = None,
        tie_break: Any = None, n_jobs: int | None = None, **keywords: Any,
    ) -> Any:  # fmt: skip
        """Value of the metric: what the public function does."""
        spec = spec_of(self, k, keywords)
        spec.refuse_unread(keywords)
        if tie_break is not None and not self.defines_ties and spec["ties"] != "stable":
            raise ValueError(f"tie_break is read with ties='stable' only. Got ties={spec['ties']!r}.")
        queries = _check.check_queries(
            y_true, y_score, qid=qid, sample_weight=sample_weight, tie_break=tie_break, n_jobs=n_jobs
        )
        (result,) = _compute.per_query(queries, [spec], n_jobs)
        value = result.values() if spec["average"] is None else result.average(queries.weight)
        value = value.take(spec.curve_index, axis=-1)
        return value if value.ndim else float(value)


@dataclass(frozen=True)
class MetricSpec:
    """A metric with its cutoff and the keywords that were given: what a name such as "rbp(p=0.9)@10" means."""

    metric: Metric
    k: Any = None
    keywords: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Check all keywords before any work is done."""
        function_name, defaults = self.metric.function_name, self.metric.defaults
        if self.k is not None and not self.metric.has_cutoff:
            raise ValueError(f"{function_name} has no cutoff: it is computed on the whole list. Got k={self.k!r}.")
        CUTOFF.check("k", self.k, function_name)
        for name, value in self.keywords.items():
            if name not in defaults:
                takes = ", ".join([*signature_of(self.metric).parameters][2:])
                hint = meant_by(name, cutoff="k= is the cutoff." if self.metric.has_cutoff else "It has no cutoff.")
                raise TypeError(f"{function_name} has no keyword {echo(name)}. It takes {takes}.{hint}")
            if rule := self.metric.rule(name):
                rule.check(name, value, function_name)
        discount = self._values.get("discount")
        if not (discount is None or isinstance(discount, str) or callable(discount)):
            self._check_weights(np.asarray(discount, dtype=np.float64))
        if self["average"] == "micro" and not self.metric.supports_micro:
            raise ValueError(
                f"{function_name} has no micro average: pooled over queries it would mean nothing. "
                "Use average='macro' or average=None."
            )
        if self["average"] == "geometric" and self.metric.bounds[0] < 0:
            raise ValueError(
                f"{function_name} has no geometric mean: its values can be negative. Use average='macro' or "
                "average=None."
            )

    @cached_property
    def unread(self) -> dict[str, str]:
        """Keywords that were given another value than the default and have no effect beside the others, and why."""
        own, without = self.metric.formula_params, {}
        for name in self.keywords.keys() & own.keys():
            why = unread(name, self._values)
            if why and self.keywords[name] != own[name]:
                without[name] = why
        return without

    def refuse_unread(self, names: Iterable[str]) -> None:
        """Raise ValueError if one of these keywords was given and has no effect."""
        for name in names:
            if why := self.unread.get(name):
                raise ValueError(
                    f"The {name!r} parameter of {self.metric.function_name} is read with {why} only. "
                    f"Got {name}={self[name]!r} without it."
                )

    def __getitem__(self, keyword: str) -> Any:
        """Value of a keyword: given, else the convention's, else the default."""
        return self._values[keyword]

    @cached_property
    def _values(self) -> dict[str, Any]:
        shared = {name: default for name, (default, _) in SHARED.items()}
        given = {name: built_in(value) for name, value in self.keywords.items()}
        return shared | self.metric.defaults | self._conventional() | given

    def _conventional(self) -> dict[str, Any]:
        convention = self.keywords.get("convention")
        found = {} if convention is None else keywords_of(convention, self.metric.name)
        if self.metric.subtopics and found.get("ties") in ("worst", "best"):  # not defined for several labels
            del found["ties"]
        if self.metric.reads_unjudged:  # it tells unjudged documents from others: that is what it is for
            found.pop("unjudged", None)
        return {name: value for name, value in found.items() if name in self.metric.defaults}

    def __str__(self) -> str:
        """Canonical name; parsing it gives this metric again."""
        arguments = ", ".join(f"{name}={value}" for name, value in self.keywords.items())
        cutoff = "" if self.k is None else f"@{self.k}"
        return self.metric.name + (f"({arguments})" if arguments else "") + cutoff

    @cached_property
    def meaning(self) -> str:
        """The metric with all its keywords, in words: values of another meaning are not comparable."""
        keywords = (f"{name}={text_of(self[name])}" for name in self.metric.defaults)
        return f"{self.metric.meaning}({', '.join([f'k={text_of(self.k)}', *keywords])})"

    @cached_property
    def cutoffs(self) -> NDArray[np.int64]:
        """Distinct cutoffs, ascending."""
        return np.unique(self._asked_for)

    @cached_property
    def depth(self) -> int:
        """Deepest cutoff."""
        return int(self.cutoffs[-1])

    @cached_property
    def curve_index(self) -> NDArray[np.int64]:
        """Where each cutoff that was asked for stands among `cutoffs`; 0-d for a single one."""
        return np.searchsorted(self.cutoffs, self._asked_for)

    @cached_property
    def curve_key(self) -> tuple[Any, ...]:
        """What it has in common with the metrics that differ from it in their cutoff alone."""
        given = ((n, type(v).__name__, v if type(v) in PLAIN else id(v)) for n, v in self.keywords.items())
        return self.metric, *sorted(given, key=itemgetter(0))

    @cached_property
    def _asked_for(self) -> NDArray[np.int64]:
        if self.k is None:
            return np.asarray(NO_CUTOFF, dtype=np.int64)
        deepest = NO_CUTOFF - 1  # no list is as long, and it is not NO_CUTOFF
        within = min(self.k, deepest) if np.ndim(self.k) == 0 else [min(k, deepest) for k in self.k]
        return np.asarray(within, dtype=np.int64)

    @cached_property
    def needs_all_documents(self) -> bool:
        """Whether documents below the cutoff, or not retrieved, must be there: otherwise counts by label will do."""
        entry = self.metric
        reads_all = entry.pointwise or entry.keeps_unretrieved or entry.reads_all_labels
        zero_counts = self["min_relevance"] <= 0 or (
            "gain" in entry.formula_params and not isinstance(self["gain"], str)
        )
        return reads_all or zero_counts or self["unjudged"] == "drop"

    def read(self, queries: _check.Queries) -> _check.Queries:
        """Queries with negative labels read as the keyword says."""
        return queries.without_negative if self["negative"] == "unjudged" else queries

    def bind(self, queries: _check.Queries) -> dict[str, Any]:
        """Check the labels and turn the formula's keywords into what it is called with."""
        queries = self.read(queries)
        values: dict[str, Any] = {name: self[name] for name in self.metric.formula_params}
        if "max_grade" in values and is_word(values.get("gain"), "binary"):
            values["max_grade"] = np.inf  # every scale has relevant and not
        self._check_labels(queries, values)
        if "gain" in values:
            values["gain"] = self._bind_gain(queries, values)
        if "stop" in values:
            values["stop"] = make_stop(values["stop"], values.pop("max_grade"))
        if "discount" in values:
            depth, base = min(self.depth, queries.longest), values.pop("base", 2)
            function = make_discount(values["discount"], base, depth, queries.longest)
            if callable(values["discount"]):
                self._check_weights(function(np.arange(1, depth + 1)))
            values["discount"] = function
        return values

    def _check_weights(self, weights: NDArray[np.float64]) -> None:
        if self.metric.max_weight is not None:
            check_weights(weights, self.metric.max_weight, self.metric.function_name)

    def _check_labels(self, queries: _check.Queries, values: Mapping[str, Any]) -> None:
        function_name = self.metric.function_name
        if not self.metric.subtopics:
            _labels.check_one_label(queries, function_name)
        low, high = self.metric.labels
        if is_word(values.get("stop"), "label"):
            high, scale = 1.0, "the probability 1 with stop='label'"
        else:
            high = values[high] if isinstance(high, str) else high
            scale = f"max_grade={high:g}" if high is not None else ""
        _labels.check_labels(
            queries, function_name, low=low, high=high, scale=scale, unjudged=self["unjudged"],
            reads_unjudged=self.metric.reads_unjudged, min_relevance=self["min_relevance"],
        )  # fmt: skip
        if self.metric.pointwise and self.metric.finite:
            _labels.check_retrieved(queries, function_name)

    def _bind_gain(self, queries: _check.Queries, values: Mapping[str, Any]) -> Any:
        gain, top, function_name = values["gain"], values.get("max_grade"), self.metric.function_name
        table = gain_table(gain)
        if table is not None:
            _labels.check_grades(queries, function_name, table[0], max_grade=top, unjudged=self["unjudged"])
        if is_word(gain, "exp2"):
            _labels.check_exponent(queries, function_name)
        function, lowest = make_gain(gain, self["min_relevance"]), queries.label_range[0]
        if callable(gain):
            at_hand = _labels.distinct_labels(queries, self["unjudged"], top)
            check_gain_function(function, at_hand, function_name)
            lowest = at_hand[0] if len(at_hand) else 0.0
        known = isinstance(gain, str) and lowest >= 0
        if self.metric.bounds[0] >= 0 and not known and (least := function(np.array([lowest]))[0]) < 0:
            raise ValueError(f"A gain of {function_name} must not be negative. Got {least:g} for label {lowest:g}.")
        if top is not None and not (most := function(np.array([top]))[0]) > 0:
            raise ValueError(f"The gain of max_grade must be above 0 in {function_name}. Got {most:g}.")
        return function


def spec_of(metric: Metric, k: Any, keywords: Mapping[str, Any]) -> MetricSpec:
    """Metric with its cutoff and keywords; made, and checked, once for each set of plain values.

    It is shared by all who ask for it, so it is not for users, who might change its keywords.
    """
    known = REGISTRY.get(metric.name) is metric  # what a user's function holds on to is not to be kept
    if known and type(k) in PLAIN and all(type(value) in PLAIN for value in keywords.values()):
        return _remembered(metric, k, **keywords)
    return MetricSpec(metric, k, keywords)


@functools.lru_cache(maxsize=256, typed=True)
def _remembered(metric: Metric, k: Any, /, **keywords: Any) -> MetricSpec:
    return MetricSpec(metric, k, keywords)


def metric(name: str, *, aliases: Iterable[str] | Mapping[str, Any] = (), **facts: Any) -> Callable[[Formula], Any]:
    """Make a metric of a formula: the function, its name, its scorer.

    Parameters
    ----------
    name : str
        Canonical name, as in "ndcg@10".
    aliases : sequence of str or mapping, default=()
        More names; a mapping gives the keywords that each of them fixes.
    **facts
        What holds of the metric:

        - ``bounds=(low, high)``: lowest and highest possible value;
        - ``greater_is_better=True``;
        - ``has_cutoff=True``: False if it is always read on the whole list;
        - ``undefined_when=""``: what a query has for which it is not defined, such as "no relevant document";
        - ``needs_relevant=False``: not defined without a relevant document, whatever its denominator is;
        - ``labels=(None, None)``: lowest and highest label, the latter a number or the name of a keyword;
        - ``max_weight=None``: highest weight of a `discount` that keeps to the bounds, infinity for any; weights must
          then not rise with the rank nor be negative. None: they may be anything;
        - ``supports_micro=False``: has a micro average;
        - ``pointwise=False``: scores are predictions of the label, and no order matters, nor any cutoff;
        - ``subtopics=False``: labels may have a second axis, subtopics, which `over_subtopics` of a `Ranked` reads;
        - ``defines_ties=False``: equal scores are part of its definition, so that it takes no policy for them;
        - ``reads_scores=False``: the values of scores count, not their order alone;
        - ``keeps_unretrieved=False``: documents not retrieved are ranked, last and tied;
        - ``reads_unjudged=False``: NaN labels are told from others, so that no convention fills them;
        - ``reads_all_labels=False``: of documents below the cutoff more counts than how many have which label above 0;
        - ``transform=None``: function applied to the ratio of numerator and denominator;
        - ``parameter_constraints={}``: `Constraint` of each keyword that is to be checked and documented.

    Returns
    -------
    callable
        Decorator of a formula ``f(r, *, keyword=default, ...)``, where r is a `Ranked`; it returns the curve, or a
        numerator and a denominator. The function it is replaced by takes ``(y_true, y_score, *, qid, k, ...)`` and
        carries the `Metric` as its attribute ``metric``.

    Raises
    ------
    ValueError
        If the name or an alias is that of another metric, or has characters that names do not have; or if the formula,
        tried on a few queries, gives a query another value beside other queries than alone, or tied documents another
        than the mean over all their orders.
    TypeError
        If a keyword of the formula has no default.

    Examples
    --------
    Cooper's expected search length, the number of documents that a user passes before the first relevant one. It is one
    document here, and half of the time another one, which is tied with the relevant one:

    >>> from sklearn_rank import evaluate, metric
    >>> facts = {"greater_is_better": False, "has_cutoff": False, "needs_relevant": True, "keeps_unretrieved": True}
    >>> @metric("search_length", undefined_when="no relevant document", **facts)
    ... def search_length_error(r):
    ...     return r.cumsum(weight=r.cascade(r.relevant) * (r.rank - 1))
    >>> search_length_error([0, 0, 1], [3, 1, 1], qid=["q", "q", "q"])
    1.5
    >>> evaluate([0, 0, 1], [3, 1, 1], qid=["q", "q", "q"], metrics=["search_length", "mrr"], ties="worst").mean()
    {'search_length': 2.0, 'mrr': 0.3333333333333333}
    """
    if not isinstance(aliases, Mapping):
        aliases = {alias: {} for alias in aliases}

    refuse_bad_names(name, aliases)

    return functools.partial(_define, name, aliases, facts)


def _define(
    name: str, aliases: Mapping[str, Any], facts: Mapping[str, Any], formula: Formula, *, tried: bool = False
) -> Any:
    """Public function of a formula, which is tried first, and its entry in the registry."""
    refuse_taken_names(name, aliases, formula, REGISTRY.values())
    refuse_bad_keywords(formula)
    facts = {"has_cutoff": not facts.get("pointwise", False), **facts}
    if facts["has_cutoff"] and facts.get("pointwise"):
        raise ValueError("A pointwise metric has no cutoff, as it reads no order. Got pointwise=True, has_cutoff=True.")

    @functools.wraps(formula)
    def score(y_true: Any, y_score: Any, *others: Any, **keywords: Any) -> Any:
        if others:
            refuse_position(formula.__name__, ["y_true", "y_score"])
        return entry(y_true, y_score, **keywords)

    entry = Metric(name=name, formula=formula, function=score, aliases=aliases, **facts)
    if not (tried or entry.is_built_in):
        from sklearn_rank._metric.probe import refuse_wrong_formula

        refuse_wrong_formula(entry)
    score.__signature__ = signature_of(entry)  # type: ignore[attr-defined]
    score.__doc__ = docstring_of(entry)
    score.metric = entry  # type: ignore[attr-defined]
    REGISTRY[name] = entry
    return score


def _found(module: str, name: str) -> Metric:
    """Metric of a public function, wherever it is unpickled."""
    function = getattr(import_module(module), name)
    entry: Metric = function.metric
    return entry


def _made(name: str, formula: Formula, facts: dict[str, Any]) -> Metric:
    """Metric of a function that lives in no module, such as one from a notebook."""
    aliases = facts.pop("aliases")
    entry: Metric = _define(name, aliases, facts, formula, tried=True).metric
    return entry


def formula_of(function: Any) -> Formula:
    """Formula behind a public metric function, for metrics that are made of others."""
    formula: Formula = function.metric.formula
    return formula
