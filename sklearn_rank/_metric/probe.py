"""Trial of a new formula on a few short queries when it is defined, so that a wrong one raises.

The value of a query must not depend on other queries or on the order of its rows, and tied documents must give the mean
over their orders. A formula that reads the values of scores without declaring it gets a warning. A formula that raises
on these queries is not judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.ranked import Pairs, Ranked
from sklearn_rank._engine.ranking import RankingKey, rank_block
from sklearn_rank._engine.read import queries_of
from sklearn_rank._metric.metric import Metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.typing import Array

TIED = ((1.0, 1.0, 1.0, 1.0), (1.0, 1.0, 1.0, 0.0), (2.0, 1.0, 1.0, -np.inf), (1.0, 1.0, 0.0, 0.0))
"""Scores of tied documents."""

PRICES = np.array([3.0, 1.0, 4.0, 2.5])
"""Numbers of documents, for columns that a formula reads."""

APART = (
    "a query must have the same value whatever other queries there are",
    "r.label, r.rank and the like are flat over all queries: sum them by r.cumsum, and repeat a number per query by "
    "r.of_query",
)
ROWS = (
    "the order of the rows of a query must not matter",
    "If equal scores leave it open, call r.refuse_ties in the formula",
)
TIES = (
    "tied documents must be worth the mean over all their orders",
    "In r.cumsum what belongs to an item (labels, gains) is a value, what belongs to a position (functions of r.rank, "
    "results of r.cascade and r.joint) is a weight; a denominator must not depend on the order. Otherwise call "
    "r.refuse_ties in the formula, or declare defines_ties=True if equal scores are part of the definition",
)


class Probe(NamedTuple):
    """Labels and scores of a few queries, one after the other, and numbers for columns that a formula reads."""

    label: Array
    score: Array
    length: tuple[int, ...]
    column: Array | None = None

    def queries(self) -> Iterator[Probe]:
        """Each query by itself."""
        for stop, n in zip(np.cumsum(self.length), self.length, strict=True):
            yield self.rows(slice(stop - n, stop), (n,))

    def reordered(self) -> Probe:
        """The same queries with the rows of each in the reverse order."""
        ends = np.cumsum(self.length)
        rows = [np.arange(stop - n, stop)[::-1] for stop, n in zip(ends, self.length, strict=True)]
        return self.rows(np.concatenate(rows), self.length)

    def rows(self, rows: Any, length: tuple[int, ...]) -> Probe:
        """Some rows."""
        return Probe(self.label[rows], self.score[rows], length, None if self.column is None else self.column[rows])

    def columns(self, metric: Metric) -> dict[str, Array]:
        """Values of the columns that a formula reads."""
        if self.column is None:
            assert not metric.columns
            return {}
        return {name: np.multiply(self.column, i + 1) for i, name in enumerate(metric.columns)}


def refuse_wrong_formula(metric: Metric) -> None:
    """Try a metric's formula.

    Raises
    ------
    ValueError
        If it breaks one of the rules that are asked of all formulas.
    """
    reads_scores = False
    for grades in _scales(metric):
        if any([_refuse_at(metric, k, grades) for k in ((1, 2, 3, None) if metric.has_cutoff else (None,))]):
            reads_scores = _reads_scores(metric, grades)
            break
    if reads_scores and not (metric.reads_scores or metric.pointwise):
        warnings.warn(
            f"The formula of {metric.function_name} reads the values of scores, not only their "
            "order. Declare reads_scores=True, or pointwise=True if scores are predictions of the label.",
            UserWarning,
            stacklevel=3,
        )


def _scales(metric: Metric) -> list[Array]:
    """Labels to try it with, the next ones if it refuses all of the first: grades, then probabilities."""
    lowest, highest = metric.labels
    highest = metric.formula_params.get(highest) if isinstance(highest, str) else highest
    low, high = lowest or 0.0, highest if isinstance(highest, (int, float)) else 3.0
    return [np.linspace(low, high, 4).round(), np.linspace(max(low, 0.0), min(high, 1.0), 3)]


def _refuse_at(metric: Metric, k: int | None, grades: Array) -> bool:
    """Refuse a formula that is wrong at a cutoff; whether it could be computed there."""
    data = _untied(metric, grades)
    values, _ = _compute(metric, k, data)
    if values is None:
        return False
    for i, query in enumerate(data.queries()):
        _refuse_unlike(metric, k, values[i : i + 1], _compute(metric, k, query)[0], APART)
    _refuse_unlike(metric, k, values, _compute(metric, k, data.reordered())[0], ROWS)
    if not metric.pointwise:
        _refuse_ties_at(metric, k, grades)
    return True


def _reads_scores(metric: Metric, grades: Array) -> bool:
    """Whether other scores in the same order change a value."""
    data = _untied(metric, grades)
    stretched = data._replace(score=np.cbrt(data.score))
    values, others = (_compute(metric, None, one)[0] for one in (data, stretched))
    return values is not None and others is not None and not _alike(values, others).all()


def _refuse_ties_at(metric: Metric, k: int | None, grades: Array) -> None:
    """Refuse a formula whose value under ties is not the mean over all orders."""
    orders = [np.array(order) for order in permutations(range(4))]
    lists = [(_labels(metric, grades, 4, seed), np.array(score)) for seed, score in enumerate(TIED)]
    data = Probe(
        np.concatenate([label[order] for label, _ in lists for order in orders]),
        np.concatenate([score[order] for _, score in lists for order in orders]),
        (4,) * (len(lists) * len(orders)),
        np.concatenate([PRICES[order] for _ in lists for order in orders]),
    )
    values, defines_ties = _compute(metric, k, data)
    if values is None:  # it refuses ties
        return
    of_lists, defines_ties = values.reshape(len(lists), len(orders)), defines_ties or metric.defines_ties
    _refuse_unlike(metric, k, values, np.repeat(of_lists[:, 0], len(orders)), ROWS if defines_ties else TIES)
    if defines_ties:
        return
    ordered, _ = _compute(metric, k, data, ties="stable")
    if ordered is not None:
        means = ordered.reshape(of_lists.shape).mean(axis=1)
        _refuse_unlike(metric, k, of_lists[:, 0], means, TIES)


def _untied(metric: Metric, grades: Array) -> Probe:
    """Queries without equal scores, the first ranks with different grades, and the last query with the lowest only."""
    length = (5, 3, 4, 2)
    n = sum(length)
    label, score = _labels(metric, grades, n, 4), np.random.default_rng(1).permutation(np.arange(float(n)))
    if not metric.pointwise:
        score[score < 2] = -np.inf
    label[sum(length[:-1]) :] = grades[0]
    return Probe(label, score, length, np.resize(PRICES, n))


def _labels(metric: Metric, grades: Array, n: int, seed: int) -> Array:
    """Labels of so many documents, half of them the lowest; one is not judged if the metric tells such from others."""
    rng = np.random.default_rng(seed)
    pool = np.resize([(grade, grades[0]) for grade in grades[::-1]], n)
    columns = [rng.permutation(pool) for _ in range(3 if metric.subtopics else 1)]
    label: Array = np.stack(columns, axis=1) if metric.subtopics else columns[0]
    if metric.reads_unjudged:
        label[rng.integers(n)] = np.nan
    return label


def _compute(metric: Metric, k: int | None, data: Probe, **keywords: Any) -> tuple[Array | None, bool]:
    """Value of each query, NaN where it is undefined, and whether the formula says itself what ties are worth.

    None if the formula, or a check before it, raises.
    """
    ranked_type = _watched()
    with suppress(Exception), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        spec = MetricSpec(metric, k, keywords)
        queries = queries_of(data.label, data.score, Grouping.by_sizes(data.length))
        queries = replace(queries, columns=data.columns(metric))
        ranking = rank_block(queries, 0, len(data.length), RankingKey.of(spec, queries), spec.depth)
        ranked = ranked_type(ranking, spec.cutoffs, spec["min_relevance"])
        numerator, denominator = metric.ratio(ranked, spec.bind(queries))
        undefined = np.broadcast_to(denominator == 0, ranked.shape)
        if metric.needs_relevant:
            undefined = undefined | (ranked.n_relevant == 0)
        value = np.where(undefined, np.nan, np.divide(numerator, denominator))
        return value[:, 0], ranked_type.defines_ties
    return None, ranked_type.defines_ties


def _watched() -> Any:
    """A type of `Ranked` that records whether the formula reads the ends of ties or tied pairs."""

    class Watched(Ranked):
        defines_ties = False

        def at_tie_end(self, x: Array) -> Array:
            Watched.defines_ties = True
            return super().at_tie_end(x)

        def pairs(self) -> Pairs:
            Watched.defines_ties = True
            return super().pairs()

    return Watched


def _alike(value: Array, expected: Array) -> NDArray[np.bool_]:
    """Where two computations agree to rounding."""
    return np.isclose(value, expected, rtol=1e-9, atol=1e-12, equal_nan=True)


def _refuse_unlike(metric: Metric, k: int | None, value: Array, expected: Array | None, rule: tuple[str, str]) -> None:
    """Refuse a formula if two computations differ by more than rounding."""
    if expected is None or (alike := _alike(value, expected)).all():
        return
    i, at = int(np.argmin(alike)), "" if k is None else f" at k={k}"
    raise ValueError(
        f"The formula of {metric.function_name} was tried on a few queries, and {rule[0]}. "
        f"Got {value[i]:.6g} and {expected[i]:.6g} for one query{at}. {rule[1]}."
    )
