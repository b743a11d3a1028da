"""A metric with its cutoff and keywords: the meaning of a name such as "rbp(p=0.9)@10"."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine import label_checks as _labels
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.queries import DataSummary, Queries
from sklearn_rank._engine.ranked import NoClosedForm, Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, RankingKey, rank_block
from sklearn_rank._metric.canonical_text import text_of
from sklearn_rank._metric.conventions import keywords_of
from sklearn_rank._metric.docstring import signature_of
from sklearn_rank._metric.gains import (
    check_gain_function,
    check_weights,
    gain_table,
    make_discount,
    make_gain,
    make_stop,
)
from sklearn_rank._metric.keywords import CUTOFF, SHARED, unread
from sklearn_rank._metric.metric import REGISTRY, Metric
from sklearn_rank._utils.arguments import meant_by, unknown_keyword
from sklearn_rank._utils.constraints import built_in, is_word
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.read_only import read_only

ORDERS: dict[str, dict[str, Any]] = {
    "random": {"ties": "average", "tied_curve": "expected", "precision_at": "rank"},
    "best": {"ties": "best"},
}
"""Orders of documents that are all tied, and the keywords with which a metric has its value in them."""

MOST_TRIED = 1000
"""Documents of the longest list that a formula is tried on."""

ADJUSTED = " adjusted for chance"
"""End of the meaning of such values."""

PLAIN = (int, float, str, bool, type(None))
"""Keyword types that compare by value and can be cache keys."""


class BestIfEmpty(float):
    """The worst value of a metric, for undefined queries; its `best` is for those without a retrieved document."""

    best: float

    def __new__(cls, worst: float, best: float) -> Self:
        """Keep the best value with the worst."""
        self = super().__new__(cls, worst)
        self.best = float(best)
        return self

    def __reduce__(self) -> Any:
        """Both values, for copies."""
        return BestIfEmpty, (float(self), self.best)

    def is_integer(self) -> bool:
        """Not to be written as a number: its text is its `repr`."""
        return False

    def __repr__(self) -> str:
        """The keyword."""
        return "empty"


@dataclass(frozen=True, repr=False)
class MetricSpec:
    """A metric with its cutoff and the keywords that were given: the meaning of a name such as "rbp(p=0.9)@10".

    Attributes
    ----------
    metric : Metric
        The metric, with properties such as ``name``, ``bounds`` and ``greater_is_better``.
    k : int, sequence of int or None
        Cutoff; None for the whole list.
    keywords : dict
        Keywords that were given; ``spec["ties"]`` is the value of any keyword, given or not.
    order : {"random", "best"} or None
        Order of the documents that have a rank: None by score, "random" for the expectation over all orders.

    Examples
    --------
    >>> from sklearn_rank import parse_metric
    >>> spec = parse_metric("rbp(p=0.9)@10")
    >>> spec.metric.name, spec.k, spec.keywords, spec["ties"], str(spec)
    ('rbp', 10, {'p': 0.9}, 'average', 'rbp(p=0.9)@10')
    """

    metric: Metric
    k: Any = None
    keywords: Mapping[str, Any] = field(default_factory=dict)
    order: str | None = None
    is_shared: ClassVar[bool] = False
    """Whether `spec_of` hands it to all callers, so that its keywords must not change."""

    def __post_init__(self) -> None:
        """Check all keywords before any work is done."""
        function_name, defaults = self.metric.function_name, self.metric.defaults
        if self.k is not None and not self.metric.has_cutoff:
            raise ValueError(f"{function_name} has no cutoff: it is computed on the whole list. Got k={echo(self.k)}.")
        CUTOFF("k", self.k, function_name)
        for name, value in self.keywords.items():
            if name not in defaults:
                takes = [*signature_of(self.metric).parameters][2:]
                hint = meant_by(name, cutoff="k= is the cutoff." if self.metric.has_cutoff else "It has no cutoff.")
                if name == "adjusted":
                    hint = f" It {self.metric.without_chance or self.metric.without_best}."
                raise unknown_keyword(f"{function_name} has no keyword", name, takes, hint=hint, takes=takes)
            if rule := self.metric._rule(name):
                rule(name, value, function_name)
        discount = self._values.get("discount")
        is_own = "discount" in self.metric.parameter_constraints
        if not (discount is None or is_own or isinstance(discount, str) or callable(discount)):
            self._check_weights(np.asarray(discount, dtype=np.float64))
        if self["average"] == "micro" and not self.metric.supports_micro:
            raise ValueError(
                f"{function_name} has no micro average, because it cannot be pooled over queries. "
                "Use average='macro' or average=None."
            )
        if self["average"] == "geometric" and self.metric.bounds[0] < 0:
            raise ValueError(
                f"{function_name} has no geometric mean: its values can be negative. Use average='macro' or "
                "average=None."
            )

        if self["adjusted"]:
            self._check_adjusted()

    def _check_adjusted(self) -> None:
        """Refuse keywords with which no query has a value that is adjusted for chance."""
        name = self.metric.function_name
        if why := self.by_score.without_chance:
            raise ValueError(f"{name} cannot be adjusted for chance: it {why}. Got adjusted=True.")
        if self["average"] == "micro":
            raise ValueError(
                f"{name} is adjusted query by query, and average='micro' pools the queries before. "
                "evaluate(...).adjusted(average='micro') adjusts the mean. Got adjusted=True and average='micro'."
            )
        if self["average"] == "geometric":
            raise ValueError(
                "Values that are adjusted for chance have no geometric mean, because they can be negative. "
                "Got adjusted=True and average='geometric'."
            )

    @cached_property
    def by_score(self) -> MetricSpec:
        """The metric itself, in the order of the scores and not adjusted."""
        given = {name: value for name, value in self.keywords.items() if name != "adjusted"}
        return spec_of(self.metric, self.k, given)

    @property
    def has_other_order(self) -> bool:
        """Whether its value takes another order than the order by score."""
        return self.order is not None or bool(self["adjusted"])

    @property
    def greater_is_better(self) -> bool:
        """Whether the higher value is the better one: a value that is adjusted for chance is, also of an error."""
        return bool(self["adjusted"]) or self.metric.greater_is_better

    @cached_property
    def without_chance(self) -> str:
        """Why its value in a random order is not known; "" if it is."""
        if self["adjusted"]:
            return "is adjusted for chance already"
        no_closed_form = "has no closed form for tied documents, so its mean over all orders is not known"
        return self.metric.without_chance or (no_closed_form if self._refuses_ties() else "")

    def _refuses_ties(self) -> bool:
        """Whether the formula refuses tied documents, which is tried on a list."""
        n = 2 if self.k is None else min(self.depth + 1, MOST_TRIED)
        spec, score = spec_in_order(self, "random"), np.zeros(n)
        tied = Queries(score == np.arange(n), Grouping.by_sizes([n]), None, DataSummary(), score=score)
        try:
            ranking = rank_block(tied, 0, 1, RankingKey.of(spec, tied), spec.depth)
            self.metric._ratio(Ranked(ranking, spec.cutoffs, spec["min_relevance"]), spec._bind(tied))
        except NoClosedForm:
            return True
        # The list may have no value for a reason of its own.
        except Exception:
            return False
        return False

    @cached_property
    def unread(self) -> dict[str, str]:
        """Keywords without effect next to the others, although their value is not the default, and why."""
        own, without = self.metric.formula_params, {}
        for name in self.keywords.keys() & own.keys():
            why = unread(name, self._values)
            if why and self.keywords[name] != own[name]:
                without[name] = why
        return without

    def _refuse_unread(self, names: Iterable[str]) -> None:
        """Raise ValueError if one of these keywords was given and has no effect."""
        for name in names:
            if why := self.unread.get(name):
                raise ValueError(
                    f"The {echo(name)} parameter of {self.metric.function_name} is read with {why} only. "
                    f"Got {name}={echo(self[name])} without it."
                )

    def __getitem__(self, keyword: str) -> Any:
        """Value of a keyword: given, else the convention's, else the default."""
        return self._values[keyword]

    @cached_property
    def _values(self) -> dict[str, Any]:
        shared = {name: default for name, (default, _) in SHARED.items()}
        given = {name: built_in(value) for name, value in self.keywords.items()}
        values = shared | self.metric.defaults | self._conventional() | given
        # It reads unjudged documents in its own way, so only leaving them out changes them.
        if self.metric.reads_unjudged and values["unjudged"] == "nonrelevant":
            values["unjudged"] = None
        if self.metric.pools_negative and values["unjudged"] == "drop":
            values["negative"] = "unjudged"
        if isinstance(values["replace_undefined_by"], str):
            values["replace_undefined_by"] = self._best_if_empty(str(values["average"]))
        return values

    @property
    def counts_empty(self) -> bool:
        """Whether an undefined query has the best value if its list is empty."""
        return isinstance(self["replace_undefined_by"], BestIfEmpty)

    def _refuse_empty(self) -> None:
        """Refuse this where each row has a score, so no list is empty."""
        if self.counts_empty:
            raise ValueError(
                "replace_undefined_by='empty' is for runs, tables and dictionaries, in which a query can have an empty "
                f"list. Got rows with a score each, or a sparse matrix, for {self.metric.name}."
            )

    def _best_if_empty(self, average: str) -> BestIfEmpty:
        low, high = self.metric.bounds
        is_undefined = bool(self.metric.undefined_when)
        if average == "micro" or (is_undefined and not math.isfinite(high - low)):
            raise ValueError(
                "replace_undefined_by='empty' needs a metric with a lowest and a highest value, and no pooled mean. "
                f"Got {self.metric.name}, average={echo(average)}."
            )
        # Without undefined queries the number is never read.
        worst, best = (low, high) if self.metric.greater_is_better else (high, low)
        return BestIfEmpty(worst, best) if is_undefined else BestIfEmpty(0.0, 0.0)

    def _conventional(self) -> dict[str, Any]:
        convention = self.keywords.get("convention")
        chosen = {} if convention is None else keywords_of(convention, self.metric.name)
        if self.metric.subtopics and chosen.get("ties") in ("worst", "best"):  # not defined for several labels
            del chosen["ties"]
        return {name: value for name, value in chosen.items() if name in self.metric.defaults}

    def _filled(self, *, unjudged: str | None) -> MetricSpec:
        """The metric with this `unjudged`, unless it says its own."""
        if "unjudged" in self.keywords or unjudged is None:
            return self
        return MetricSpec(self.metric, self.k, {**self.keywords, "unjudged": unjudged})

    def __str__(self) -> str:
        """Canonical name; parsing it gives this metric again."""
        arguments = ", ".join(f"{name}={value}" for name, value in self.keywords.items())
        cutoff = "" if self.k is None else f"@{self.k}" if np.ndim(self.k) == 0 else f"@{','.join(map(str, self.k))}"
        return self.metric.name + (f"({arguments})" if arguments else "") + cutoff

    def __repr__(self) -> str:
        """Canonical name; `meaning` has all keywords."""
        return f"MetricSpec of {self}"

    @cached_property
    def meaning(self) -> str:
        """The metric with all its keywords, in words: values of another meaning are not comparable."""
        keywords = (f"{name}={text_of(self[name])}" for name in self.metric.defaults if name != "adjusted")
        meaning = f"{self.metric.meaning}({', '.join([f'k={text_of(self.k)}', *keywords])})"
        return adjusted_meaning(meaning) if self["adjusted"] else meaning

    @property
    def is_binary(self) -> bool:
        """Whether a query without tied documents has the value 0 or 1, by definition."""
        binary = self.metric.binary
        return bool(binary(self) if callable(binary) else binary) and not self["adjusted"]

    @cached_property
    def cutoffs(self) -> NDArray[np.int64]:
        """Distinct cutoffs, ascending."""
        return read_only(distinct_values(self._asked_for))

    @cached_property
    def depth(self) -> int:
        """Deepest cutoff."""
        return int(self.cutoffs[-1])

    @property
    def depth_of_rows(self) -> int:
        """Documents down to this depth must have a row: the whole list, where documents are put in another order."""
        return NO_CUTOFF if self.has_other_order else self.depth

    @cached_property
    def curve_index(self) -> NDArray[np.int64]:
        """Index of each requested cutoff in `cutoffs`; 0-d for a single cutoff."""
        return read_only(np.searchsorted(self.cutoffs, self._asked_for))

    @cached_property
    def curve_key(self) -> tuple[Any, ...]:
        """Equal for metrics that differ only in their cutoff, which are points of one curve."""
        given = ((n, type(v).__name__, v if type(v) in PLAIN else id(v)) for n, v in self.keywords.items())
        return self.metric, *sorted(given)  # no two names are equal

    @cached_property
    def averages_ratios(self) -> bool:
        """Whether its mean is the plain mean of the ratios of all queries."""
        is_kept = self.metric.transform is None and not math.isnan(self["replace_undefined_by"])
        return is_kept and self["average"] == "macro"

    @cached_property
    def _asked_for(self) -> NDArray[np.int64]:
        deepest = NO_CUTOFF - 1  # no list is as long, and it is not NO_CUTOFF
        within: Any = NO_CUTOFF
        if self.k is not None:
            within = min(self.k, deepest) if np.ndim(self.k) == 0 else [min(k, deepest) for k in self.k]
        return np.asarray(within, dtype=np.int64)

    @cached_property
    def needs_all_documents(self) -> bool:
        """Whether the metric needs a row for every document; otherwise counts per label suffice."""
        entry = self.metric
        reads_all = entry.pointwise or entry.keeps_unretrieved or entry.reads_all_labels
        zero_counts = self["min_relevance"] <= 0 or (
            "gain" in entry.formula_params and not isinstance(self["gain"], str)
        )
        return reads_all or zero_counts or self["unjudged"] == "drop"

    def _bind(self, queries: Queries) -> dict[str, Any]:
        """Check the labels and turn the keywords into the arguments of the formula."""
        queries, values = queries.with_negative(self["negative"]), self._own_values()
        self._check_columns(queries)
        self._check_labels(queries, values)
        # A keyword with a rule of its author's own reaches the formula as it is.
        bound = values.keys() - self.metric.parameter_constraints.keys()
        if "gain" in bound:
            values["gain"] = self._bind_gain(queries, values)
        if "stop" in bound:
            values["stop"] = make_stop(values["stop"], values.pop("max_grade"))
        if "discount" in bound:
            depth, base = min(self.depth, queries.longest), values.pop("base", 2)
            function = make_discount(values["discount"], base, depth, queries.longest)
            if callable(values["discount"]):
                self._check_weights(function(np.arange(1, depth + 1)))
            values["discount"] = function
        return values

    @property
    def highest_label(self) -> float:
        """Highest label that the metric takes."""
        highest = self._highest_label(self._own_values())
        return np.inf if highest is None else highest

    def _own_values(self) -> dict[str, Any]:
        """Values of the formula's keywords."""
        values = {name: self._values[name] for name in self.metric.formula_params}
        if "max_grade" in values and is_word(values.get("gain"), "binary"):
            values["max_grade"] = np.inf  # every scale has relevant and not
        return values

    def _check_columns(self, queries: Queries) -> None:
        """Refuse queries without a column that the formula reads."""
        for name in self.metric.columns:
            if name not in (queries.columns or ()):
                raise ValueError(
                    f"{self.metric.function_name} reads the column {echo(name)}, a number for each row: give the "
                    f"labels an index with the levels 'qid' and {echo(name)}, or pass {name}= to evaluate. Got none."
                )

    def _check_weights(self, weights: NDArray[np.float64]) -> None:
        if self.metric.max_weight is not None:
            check_weights(weights, self.metric.max_weight, self.metric.function_name)

    def _check_labels(self, queries: Queries, values: Mapping[str, Any]) -> None:
        function_name, own = self.metric.function_name, self._values
        if not self.metric.subtopics:
            _labels.check_one_label(queries, function_name)
        gain_of_any, high = "gain" in values and not isinstance(values["gain"], str), self._highest_label(values)
        if is_word(values.get("stop"), "label"):
            scale = "the probability 1 with stop='label'"
        else:
            scale = f"max_grade={high:g}" if high is not None else ""
        _labels.check_labels(
            queries, function_name, low=None if gain_of_any else self.metric.labels[0], high=high, scale=scale,
            takes_gain="gain" in values, unjudged=own["unjudged"],
            reads_unjudged=self.metric.reads_unjudged, min_relevance=own["min_relevance"],
        )  # fmt: skip
        self._check_scores(queries)

    def _highest_label(self, values: Mapping[str, Any]) -> float | None:
        """Highest label that the metric takes, None if it takes all."""
        high = self.metric.labels[1]
        if is_word(values.get("stop"), "label"):
            return 1.0
        highest: float | None = values[high] if isinstance(high, str) else high
        return highest

    def _check_scores(self, queries: Queries) -> None:
        """Refuse scores that the metric does not take."""
        if self.metric.pointwise and self.metric.finite:
            _labels.check_retrieved(queries, self.metric.function_name)

    def _bind_gain(self, queries: Queries, values: Mapping[str, Any]) -> Any:
        gain, top, function_name = values["gain"], values.get("max_grade"), self.metric.function_name
        table = None if isinstance(gain, str) else gain_table(gain)
        if table is not None:
            _labels.check_grades(queries, function_name, table[0], max_grade=top, unjudged=self["unjudged"])
        if is_word(gain, "exp2"):
            _labels.check_exponent(queries, function_name)
        function, labels = make_gain(gain, self["min_relevance"]), np.array(queries.summary.label_range[:1])
        if callable(gain):
            labels = _labels.distinct_labels(queries, self["unjudged"], top)
            check_gain_function(function, labels, function_name)
        # Gains do not fall, so the lowest label has the lowest.
        if self.metric.bounds[0] >= 0 and ((gains := function(labels)) < 0).any():
            raise ValueError(
                f"A gain of {function_name} must not be negative. Got {gains[0]:g} for label {labels[0]:g}. "
                "dcg_score takes negative gains."
            )
        if top is not None and not (most := function(np.array([top]))[0]) > 0:
            raise ValueError(f"The gain of max_grade must be above 0 in {function_name}. Got {most:g}.")
        return function


def spec_in_order(spec: MetricSpec, order: str) -> MetricSpec:
    """The metric with the keywords that give tied documents their value in an order."""
    of_ties = {name: value for name, value in ORDERS[order].items() if spec.metric._takes(name, value)}
    return spec_of(spec.metric, spec.k, {**spec.by_score.keywords, **of_ties})


def adjusted_meaning(meaning: str) -> str:
    """Meaning of values that are adjusted for chance."""
    return f"{meaning}{ADJUSTED}"


def is_adjusted(meaning: str) -> bool:
    """Whether values of a meaning are adjusted for chance."""
    return meaning.endswith(ADJUSTED)


def spec_of(metric: Metric, k: Any, keywords: Mapping[str, Any]) -> MetricSpec:
    """Metric with its cutoff and keywords; made, and checked, once for each set of plain values."""
    # It is shared by all who ask for it, so it is not for users, who might change its keywords.
    known = REGISTRY.get(metric.name) is metric  # do not cache user-defined metrics: it would keep their closures alive
    cutoffs: Any = tuple(k) if type(k) is list else k
    of_ints = type(cutoffs) is tuple and all([type(cutoff) is int for cutoff in cutoffs])
    if known and (of_ints or type(k) in PLAIN) and all([type(value) in PLAIN for value in keywords.values()]):
        return _cached(metric, cutoffs, type(k) is list, **keywords)
    return MetricSpec(metric, k, keywords)


@functools.lru_cache(maxsize=256, typed=True)
def _cached(metric: Metric, k: Any, listed: bool, /, **keywords: Any) -> MetricSpec:
    spec = MetricSpec(metric, list(k) if listed else k, keywords)
    vars(spec)["is_shared"] = True  # it is frozen
    return spec


MetricLike = str | MetricSpec | Callable[..., Any]
"""A metric: its name, what `parse_metric` returned, a public metric function, or a plain function of one query."""

MetricsLike = MetricLike | Iterable[MetricLike] | Mapping[str, MetricLike]
"""One metric or several; a mapping gives them names."""
