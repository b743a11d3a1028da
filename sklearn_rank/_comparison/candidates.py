"""Which of several systems may be the best: those that no other system is shown to be better than."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from itertools import product
from typing import Any, NamedTuple

from sklearn_rank._comparison.align import Aligned, align
from sklearn_rank._comparison.compare import sample_of_pair
from sklearn_rank._comparison.paired_test import PairedTest
from sklearn_rank._estimates.samples import Paired, Unpaired, is_skewed
from sklearn_rank._estimates.significance import ComparisonOptions, run_test
from sklearn_rank._tell.verdict import SHOWN_BELOW

Pair = tuple[str, str]


def best_candidates(
    gains: Mapping[str, float], pvalue: Callable[[str, str], float], worse: Iterable[str] = (), *,
    alpha: float = SHOWN_BELOW,
) -> tuple[list[str], list[Pair]]:  # fmt: skip
    """Return the systems that may be the best, and the pairs (better, worse) that the tests of this function show."""
    # A system is out if another has the better mean (`gains`, higher is better) and their two-sided p-value times the
    # number of other systems is at most `alpha`, or if the printed table shows it to be `worse` than another. Each of
    # the best systems stays with probability 1 - alpha / 2 by the first rule (Bonferroni), and with 1 - alpha by both.
    out, shown = {*worse}, []
    # Higher means come first: they show a difference more often, so fewer pairs are tested.
    order = sorted(gains, key=gains.__getitem__, reverse=True)
    for name, other in product(gains, order):
        if name not in out and gains[other] > gains[name] and pvalue(other, name) * (len(gains) - 1) <= alpha:
            out.add(name)
            shown.append((other, name))
    return [name for name in gains if name not in out], shown


class BestSystems(NamedTuple):
    """Systems that may be the best, and the pairs (better, worse) with skewed differences that put others out."""

    names: list[str]
    skewed: list[Pair]


def candidates_of(
    results: Mapping[str, Any], tests: PairedTest, alpha: float = SHOWN_BELOW, aligned: Aligned | None = None
) -> BestSystems:
    """Systems that may be the best by a table of tests; pairs that it does not have are tested in the same way."""
    sign, kept = 1 if tests.greater_is_better else -1, [*filter(None, [aligned])]
    rows = {frozenset((row.a, row.b)): row for row in tests._pair_rows}
    options = ComparisonOptions(tests.test, random_state=0)

    def sample(a: str, b: str) -> Paired | Unpaired:
        if not kept:
            kept.append(align(results, tests.metric, options, "compare_all"))
        values = dict(zip(results, kept[0].values, strict=True))
        return sample_of_pair(values[a], values[b], options, kept[0], kept[0].between((a, b)))

    def pvalue(a: str, b: str) -> float:
        if (row := rows.get(frozenset((a, b)))) is not None:
            return row.pvalue
        return run_test(sample(a, b), options, is_binary=kept[0].is_binary).pvalue

    def skewed(a: str, b: str) -> bool:
        row = rows.get(frozenset((a, b)))
        return is_skewed(sample(a, b)) if row is None else row.is_skewed

    by_table = [
        (one.a, one.b) if sign * one.difference > 0 else (one.b, one.a)
        for one in tests._pair_rows
        if one.corrected_pvalue < alpha and one.difference != 0
    ]
    gains = {name: sign * mean for name, mean in tests.means.items() if not math.isnan(mean)}
    names, shown = best_candidates(gains, pvalue, (worse for _, worse in by_table), alpha=alpha)
    return BestSystems(names, [pair for pair in (*by_table, *shown) if skewed(*pair)])
