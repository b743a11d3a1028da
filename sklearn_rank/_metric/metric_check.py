"""`check_metric`: the laws of ranking metrics on random lists, for the tests of a metric's author."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

from sklearn_rank._engine.ranked import NoClosedForm
from sklearn_rank._metric.compute import value_of
from sklearn_rank._metric.metric import REGISTRY, Metric
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.plain import PlainMetric
from sklearn_rank._metric.probe import _alike, _labels, _scales
from sklearn_rank._metric.spec import MetricLike, MetricSpec
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array, Index

N_QUERIES = 20
TRIED_CUTOFFS = 1, 3
HOLDS = "holds"
TIED_LIST = np.array([2.0, 1.0, 1.0, 0.0])
"""Scores of a list with a tie in the middle."""


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
    trial = _Trial.of(parse_metric(metric, **keywords))
    results = {}
    for name, law in LAWS.items():
        reason = law(trial)
        results[name] = f"not tried: {reason}" if reason else HOLDS
    return results


@dataclass(frozen=True)
class _Trial:
    """Random lists for a metric: labels, scores without ties, queries, and columns that the formula reads."""

    spec: MetricSpec
    label: Array
    score: Array
    qid: Index
    columns: Mapping[str, Array]

    @classmethod
    def of(cls, spec: MetricSpec) -> _Trial:
        """Lists with labels that the metric takes; the last query has only the lowest label."""
        rng = np.random.default_rng(0)
        qid = np.repeat(np.arange(N_QUERIES), rng.integers(2, 8, N_QUERIES))
        scales = _scales(spec.metric)
        for grades in scales:
            label = _labels(spec.metric, grades, len(qid), 1)
            label = label[:, 0] if isinstance(spec.metric, PlainMetric) else label
            label[qid == N_QUERIES - 1] = grades[0]
            columns = {name: rng.uniform(1, 9, len(qid)).round(2) for name in spec.metric.columns}
            trial = cls(spec, label, rng.permutation(len(qid)) / 8.0, qid, columns)
            try:
                trial.values()
            except ValueError:
                if grades is scales[-1]:
                    raise
            else:
                break
        return trial

    @property
    def cutoffs(self) -> tuple[int | None, ...]:
        """Cutoffs to try."""
        return (*TRIED_CUTOFFS, None) if self.spec.metric.has_cutoff else (None,)

    def values(self, k: int | None = None, rows: Any = slice(None), score: Any = None, **keywords: Any) -> Array:
        """Value of each query, queries in order of first appearance; NaN where it is undefined."""
        keywords = {**self.spec.keywords, "average": None, "replace_undefined_by": np.nan, **keywords}
        columns = {name: values[rows] for name, values in self.columns.items()}
        score = (self.score if score is None else score)[rows]
        entry = keywords.pop("entry", self.spec.metric)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            value: Array = value_of(entry, self.label[rows], score, qid=self.qid[rows], k=k, **columns, **keywords)
        return value

    def lists(self) -> Iterator[Index]:
        """Rows of each query."""
        for number in range(N_QUERIES):
            yield np.flatnonzero(self.qid == number)

    def expect(self, law: str, value: Array, expected: Array, k: int | None) -> None:
        """Raise AssertionError if two computations differ by more than rounding."""
        if not (alike := _alike(value, expected)).all():
            i, at = int(np.argmin(alike)), "" if k is None else f" at k={k}"
            self.fail(law, f"{value[i]:.6g} and {expected[i]:.6g} for one query{at}")

    def fail(self, law: str, got: str, hint: str = "") -> None:
        """Say which law does not hold."""
        raise AssertionError(f"{self.spec.metric.function_name} breaks a law: {law}. Got {got}.{hint}")


def _is_apart(trial: _Trial) -> str:
    for k in trial.cutoffs:
        alone = np.concatenate([trial.values(k, rows) for rows in trial.lists()])
        trial.expect("a query has the same value whatever other queries there are", trial.values(k), alone, k)
    return ""


def _ignores_rows(trial: _Trial) -> str:
    for k in trial.cutoffs:
        rows = np.concatenate([rows[::-1] for rows in trial.lists()])
        trial.expect("the order of the rows must not matter", trial.values(k, rows), trial.values(k), k)
    return ""


def _averages_ties(trial: _Trial) -> str:
    for reason in ("pointwise", "defines_ties", "reads_scores"):
        if getattr(trial.spec.metric, reason):
            return f"{reason}=True"
    for rows in [rows for rows in trial.lists() if len(rows) >= len(TIED_LIST)]:
        rows, score = rows[: len(TIED_LIST)], trial.score.copy()
        score[rows] = TIED_LIST
        for k in trial.cutoffs:
            try:
                value = trial.values(k, rows, score, ties="average")
            except NoClosedForm:
                return "the formula refuses ties"
            ordered = []
            for order in permutations([1, 2]):
                score[rows] = TIED_LIST - 0.1 * np.argsort([0, *order, 3])
                ordered.append(trial.values(k, rows, score))
            score[rows] = TIED_LIST
            law = "tied documents must be worth the mean over all their orders"
            trial.expect(law, value, np.mean(ordered, axis=0), k)
    return ""


def _reads_order(trial: _Trial) -> str:
    metric = trial.spec.metric
    if metric.pointwise or metric.reads_scores:
        return "pointwise=True" if metric.pointwise else "reads_scores=True"
    for k in trial.cutoffs:
        law = "only the order of scores may count, or declare reads_scores=True"
        trial.expect(law, trial.values(k, score=np.cbrt(trial.score - 5)), trial.values(k), k)
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
    free = [name for name in metric.formula_params if metric.rule(name) is None]
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
