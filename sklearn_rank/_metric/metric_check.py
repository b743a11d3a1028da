"""The laws of ranking metrics: a new formula is tried on a few lists, and `check_metric` tries a metric on many.

The value of a query must not depend on other queries or on the order of its rows, and tied documents must give the mean
over their orders. A formula that breaks one of these laws when it is defined raises; one that reads the values of
scores without declaring it gets a warning. A formula that raises on the few lists is not judged.
"""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Self

import numpy as np

from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.ranked import NoClosedForm, Pairs, Ranked
from sklearn_rank._engine.ranking import RankingKey, rank_block
from sklearn_rank._engine.read import queries_of
from sklearn_rank._metric.compute import value_of
from sklearn_rank._metric.metric import REGISTRY, Metric
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.plain import PlainMetric
from sklearn_rank._metric.spec import MetricLike, MetricSpec
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array, Index

N_QUERIES = 20
TRIED_CUTOFFS = 1, 2, 3
TIED = np.array([(1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 0.0), (2.0, 1.0, 1.0, -np.inf), (1.0, 1.0, 0.0, 0.0)])
"""Scores of tied documents."""

ROW_ORDERS = np.array([*permutations(range(4))])
"""Orders of the rows of four documents."""

APART = "a query must have the same value whatever other queries there are"
ROWS = "the order of the rows of a query must not matter"
TIES = "tied documents must be worth the mean over all their orders"
ORDER_ONLY = "only the order of scores may count, or declare reads_scores=True"
WAYS_OUT = {
    APART: " r.label, r.rank and the like are flat over all queries: sum them by r.cumsum, and repeat a number per "
    "query by r.of_query.",
    ROWS: " If equal scores leave it open, call r.refuse_ties in the formula.",
    TIES: " In r.cumsum what belongs to an item (labels, gains) is a value, what belongs to a position (functions of "
    "r.rank, results of r.cascade and r.joint) is a weight; a denominator must not depend on the order. Otherwise call "
    "r.refuse_ties in the formula, or declare defines_ties=True if equal scores are part of the definition.",
}


def check_metric(metric: MetricLike, **keywords: Any) -> dict[str, str]:
    """Check the laws of ranking metrics on random lists, as `check_estimator` of scikit-learn does for estimators.

    `metric` tries a formula on a few lists when you define it. `check_metric` tries more lists and more laws, with your
    keywords; call it in your tests.

    Parameters
    ----------
    metric : str, metric function or callable
        Any metric that `evaluate` accepts; its cutoff has no effect, because the check tries several.
    **keywords
        Keywords of the metric.

    Returns
    -------
    laws : dict of str to str
        For each law "holds", or "not tried: " and the reason.

    Raises
    ------
    AssertionError
        If a law does not hold; the message has two values that contradict it.
    TypeError, ValueError
        If the metric or a keyword is unknown or has a bad value, or the formula cannot be computed.

    Examples
    --------
    >>> from sklearn_rank import check_metric
    >>> for law, result in check_metric("rbp", p=0.9).items():
    ...     print(f"{law}: {result}")
    a query has its value by itself: holds
    the order of rows does not matter: holds
    only the order of scores counts: holds
    tied documents are worth the mean over their orders: holds
    the order below the cutoff does not count: holds
    values are within the bounds: holds
    the order by label is no worse than its reverse: holds
    values are 0 or 1 if binary=True: not tried: binary=False
    undefined queries are declared: holds
    a pickle has the same values: holds
    keywords have rules: holds
    """
    spec, lengths = parse_metric(metric, **keywords), np.random.default_rng(0).integers(2, 8, N_QUERIES)
    trial, other = [_Trial.of(spec, lengths, grades) for grades in _scales(spec.metric)]
    try:
        trial.values()
    except ValueError:
        trial = other
    reasons = {name: law(trial) for name, law in LAWS.items()}
    return {name: f"not tried: {reason}" if reason else "holds" for name, reason in reasons.items()}


def refuse_wrong_formula(metric: Metric) -> None:
    """Try the formula of a new metric."""
    for grades in _scales(metric):
        trial = _FirstTrial.of(MetricSpec(metric), (5, 3, 4, 2), grades)
        if not metric.pointwise:
            trial.score[trial.score < 2] = -np.inf
        for law in (_is_apart, _ignores_rows, _averages_ties):
            law(trial)
        try:
            _reads_order(trial)
        except ValueError:
            warnings.warn(
                f"The formula of {metric.function_name} reads the values of scores, not only their "
                "order. Declare reads_scores=True, or pointwise=True if scores are predictions of the label.",
                UserWarning,
                stacklevel=3,
            )
        if any(trial.values(k) is not None for k in trial.cutoffs):
            break


@dataclass
class _Trial:
    """Random lists for a metric: labels, scores without ties, queries, and numbers for columns that a formula reads."""

    spec: MetricSpec
    grades: Array
    label: Array
    score: Array
    qid: Index
    column: Array
    defines_ties: bool = False
    """Whether it says itself what equal scores are worth: it is declared, or the formula reads the ends of ties."""

    @classmethod
    def of(cls, spec: MetricSpec, lengths: Any, grades: Array) -> Self:
        """Lists of some lengths, the first ranks of few with different grades; the last query has only the lowest."""
        qid = np.repeat(np.arange(len(lengths)), lengths)
        label, rng = _labels(spec.metric, grades, len(qid), 4), np.random.default_rng(1)
        label[qid == qid[-1]] = grades[0]
        score = rng.permutation(np.arange(float(len(qid))))
        return cls(spec, grades, label, score, qid, rng.uniform(1, 9, len(qid)).round(2))

    def tied(self) -> Self:
        """As many lists of four documents with equal scores, each in all orders of its rows."""
        n = self.qid[-1] + 1
        label = np.stack([_labels(self.spec.metric, self.grades, 4, seed) for seed in range(n)])[:, ROW_ORDERS]
        score, column = np.resize(TIED, (n, 4))[:, ROW_ORDERS].ravel(), np.tile(self.column[ROW_ORDERS].ravel(), n)
        qid = np.repeat(np.arange(n * len(ROW_ORDERS)), 4)
        label, defines_ties = label.reshape(-1, *label.shape[3:]), self.spec.metric.defines_ties
        return replace(self, label=label, score=score, qid=qid, column=column, defines_ties=defines_ties)

    @property
    def cutoffs(self) -> tuple[int | None, ...]:
        """Cutoffs to try."""
        return (*TRIED_CUTOFFS, None) if self.spec.metric.has_cutoff else (None,)

    def columns(self, rows: Any) -> dict[str, Array]:
        """Values of the columns that the formula reads."""
        return {name: self.column[rows] * (i + 1) for i, name in enumerate(self.spec.metric.columns)}

    def values(self, k: int | None = None, rows: Any = slice(None), score: Any = None, **keywords: Any) -> Any:
        """Value of each query, queries in order of first appearance; NaN where it is undefined."""
        keywords = {**self.spec.keywords, "average": None, "replace_undefined_by": np.nan, **keywords}
        score = (self.score if score is None else score)[rows]
        entry = keywords.pop("entry", self.spec.metric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            keywords |= self.columns(rows)
            return value_of(entry, self.label[rows], score, qid=self.qid[rows], k=k, **keywords)

    def lists(self) -> list[Index]:
        """Rows of each query."""
        return [np.flatnonzero(self.qid == number) for number in range(self.qid[-1] + 1)]

    def expect(self, law: str, value: Array | None, expected: Array | None, k: int | None) -> None:
        """Raise if two computations differ by more than rounding."""
        if value is None or expected is None:
            return
        if not (alike := np.isclose(value, expected, rtol=1e-9, atol=1e-12, equal_nan=True)).all():
            i, at = int(np.argmin(alike)), "" if k is None else f" at k={k}"
            self.fail(law, f"{value[i]:.6g} and {expected[i]:.6g} for one query{at}", WAYS_OUT.get(law, ""))

    def fail(self, law: str, got: str, hint: str = "") -> None:
        """Say which law does not hold."""
        raise AssertionError(f"{self.spec.metric.function_name} breaks a law: {law}. Got {got}.{hint}")


@dataclass
class _FirstTrial(_Trial):
    """A few lists, on which a formula is tried when it is defined."""

    def values(self, k: int | None = None, rows: Any = slice(None), score: Any = None, **keywords: Any) -> Any:
        """Value of each query; None if the formula, or a check before it, raises."""
        trial, metric = self, self.spec.metric

        class Watched(Ranked):
            def at_tie_end(self, x: Array) -> Array:
                trial.defines_ties = True
                return super().at_tie_end(x)

            def pairs(self) -> Pairs:
                trial.defines_ties = True
                return super().pairs()

        with suppress(Exception), warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            spec, lengths = MetricSpec(metric, k, keywords), np.bincount(self.qid[rows])
            score = (self.score if score is None else score)[rows]
            queries = queries_of(self.label[rows], score, Grouping.by_sizes(lengths := lengths[lengths > 0]))
            queries = replace(queries, columns=self.columns(rows))
            ranking = rank_block(queries, 0, len(lengths), RankingKey.of(spec, queries), spec.depth)
            ranked = Watched(ranking, spec.cutoffs, spec["min_relevance"])
            numerator, denominator = metric._ratio(ranked, spec._bind(queries))
            undefined = np.broadcast_to(denominator == 0, ranked.shape)
            if metric.needs_relevant:
                undefined = undefined | (ranked.n_relevant == 0)
            return np.where(undefined, np.nan, np.divide(numerator, denominator))[:, 0]
        return None

    def fail(self, law: str, got: str, hint: str = "") -> None:
        """Say which law the formula breaks."""
        name = self.spec.metric.function_name
        raise ValueError(f"The formula of {name} was tried on a few queries, and {law}. Got {got}.{hint}")


def _scales(metric: Metric) -> list[Array]:
    """Labels to try it with, the next ones if it refuses all of the first: grades, then probabilities."""
    lowest, highest = metric.labels
    highest = metric.formula_params.get(highest) if isinstance(highest, str) else highest
    low, high = lowest or 0.0, highest if isinstance(highest, (int, float)) else 3.0
    return [np.linspace(low, high, 4).round(), np.linspace(max(low, 0.0), min(high, 1.0), 3)]


def _labels(metric: Metric, grades: Array, n: int, seed: int) -> Array:
    """Labels of so many documents, half of them the lowest; one is not judged if the metric tells such from others."""
    rng, several = np.random.default_rng(seed), metric.subtopics and not isinstance(metric, PlainMetric)
    pool = np.resize([(grade, grades[0]) for grade in grades[::-1]], n)
    columns = [rng.permutation(pool) for _ in range(3 if several else 1)]
    label: Array = np.stack(columns, axis=1) if several else columns[0]
    if metric.reads_unjudged:
        label[rng.integers(n)] = np.nan
    return label


def _is_apart(trial: _Trial) -> str:
    for k in trial.cutoffs:
        values = trial.values(k)
        if values is not None:
            for i, rows in enumerate(trial.lists()):
                trial.expect(APART, values[i : i + 1], trial.values(k, rows), k)
    return ""


def _ignores_rows(trial: _Trial) -> str:
    rows = np.concatenate([rows[::-1] for rows in trial.lists()])
    for k in trial.cutoffs:
        trial.expect(ROWS, trial.values(k), trial.values(k, rows), k)
    return ""


def _averages_ties(trial: _Trial) -> str:
    metric = trial.spec.metric
    if metric.pointwise:
        return "pointwise=True"
    policy = {} if metric.defines_ties else {"ties": "average"}
    tied = trial.tied()
    for k in trial.cutoffs:
        try:
            values = tied.values(k, **policy)
        except NoClosedForm:
            return "the formula refuses ties"
        if values is None:
            continue
        of_lists = values.reshape(-1, len(ROW_ORDERS))
        trial.expect(ROWS if tied.defines_ties else TIES, values, np.repeat(of_lists[:, 0], len(ROW_ORDERS)), k)
        if not tied.defines_ties and (ordered := tied.values(k, ties="stable")) is not None:
            trial.expect(TIES, of_lists[:, 0], ordered.reshape(of_lists.shape).mean(axis=1), k)
    return "defines_ties=True" if metric.defines_ties else ""


def _reads_order(trial: _Trial) -> str:
    metric = trial.spec.metric
    if metric.pointwise or metric.reads_scores:
        return "pointwise=True" if metric.pointwise else "reads_scores=True"
    for k in trial.cutoffs:
        values = trial.values(k)
        for score in (np.cbrt(trial.score), trial.score - 5):
            trial.expect(ORDER_ONLY, values, trial.values(k, score=score), k)
    return ""


def _stops_at_cutoff(trial: _Trial) -> str:
    if not trial.spec.metric.has_cutoff:
        return "has_cutoff=False"
    for k in TRIED_CUTOFFS:
        score = trial.score.copy()
        for rows in trial.lists():
            below = rows[np.argsort(-score[rows])][k:]
            score[below] = score[below][::-1]
        trial.expect("the order below the cutoff must not count", trial.values(k, score=score), trial.values(k), k)
    return ""


def _keeps_bounds(trial: _Trial) -> str:
    low, high = trial.spec.metric.bounds
    if trial.spec["adjusted"]:
        return "values are adjusted for chance"
    if np.isinf([low, high]).all():
        return "no bounds are declared"
    for k in trial.cutoffs:
        values = trial.values(k)
        beyond = (values < low - 1e-9) | (values > high + 1e-9)
        if beyond.any():
            trial.fail(f"values are within bounds=({low:g}, {high:g})", f"{values[beyond][0]:.6g}")
    return ""


def _prefers_labels(trial: _Trial) -> str:
    metric = trial.spec.metric
    if why := metric.without_best or ("pointwise=True" if metric.pointwise else ""):
        return why
    if trial.label.ndim == 2 or np.isnan(trial.label).any():
        return "labels are not only grades"
    sign = 1 if trial.spec.greater_is_better else -1
    for k in trial.cutoffs:
        up = trial.label + trial.score / trial.score.max() / 100
        best, worst = sign * trial.values(k, score=up), sign * trial.values(k, score=-up)
        if (worse := best < worst - 1e-9).any():
            trial.fail(
                "the order by label is no worse than its reverse",
                f"{sign * best[worse][0]:.6g} and {sign * worst[worse][0]:.6g}",
                f" If lower is better, declare greater_is_better={not metric.greater_is_better}.",
            )
    return ""


def _is_binary(trial: _Trial) -> str:
    if not trial.spec.is_binary:
        return "binary=False"
    values = trial.values(trial.spec.k)
    if not (others := values[~np.isnan(values) & (values != 0) & (values != 1)]).size == 0:
        trial.fail("each query has the value 0 or 1, as binary=True says", f"{others[0]:.6g}")
    return ""


def _declares_undefined(trial: _Trial) -> str:
    if not trial.spec.metric.undefined_when and np.isnan(trial.values()).any():
        trial.fail(
            "undefined_when says why a query has no value",
            f"{np.isnan(trial.values()).sum()} queries without a value",
            ' Declare it, such as undefined_when="no relevant document".',
        )
    return ""


def _is_pickled(trial: _Trial) -> str:
    # joblib sends metrics to workers this way.
    from joblib import wrap_non_picklable_objects

    entry, known = trial.spec.metric, dict(REGISTRY)
    try:
        again: Metric = pickle.loads(pickle.dumps(wrap_non_picklable_objects(entry, keep_wrapper=False)))
    finally:
        REGISTRY.update(known)
    trial.expect("a pickle must have the same values", trial.values(entry=again), trial.values(), None)
    return ""


def _has_rules(trial: _Trial) -> str:
    metric = trial.spec.metric
    free = [name for name in metric.formula_params if metric._rule(name) is None]
    return f"{', '.join(map(echo, free))} without a rule in parameter_constraints" if free else ""


LAWS: dict[str, Callable[[_Trial], str]] = {
    "a query has its value by itself": _is_apart,
    "the order of rows does not matter": _ignores_rows,
    "only the order of scores counts": _reads_order,
    "tied documents are worth the mean over their orders": _averages_ties,
    "the order below the cutoff does not count": _stops_at_cutoff,
    "values are within the bounds": _keeps_bounds,
    "the order by label is no worse than its reverse": _prefers_labels,
    "values are 0 or 1 if binary=True": _is_binary,
    "undefined queries are declared": _declares_undefined,
    "a pickle has the same values": _is_pickled,
    "keywords have rules": _has_rules,
}
"""Laws by name; each raises AssertionError, or returns why it was not tried."""
