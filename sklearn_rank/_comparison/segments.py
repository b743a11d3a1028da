"""Tests of systems in each segment of queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from sklearn_rank._comparison.align import Aligned, align
from sklearn_rank._comparison.candidates import best_candidates
from sklearn_rank._comparison.compare import check_options, common_to_rows, corrected_rows, paired_test, row_of
from sklearn_rank._comparison.paired_test import PairedTest, SegmentTests
from sklearn_rank._estimates.corrections import adjusted
from sklearn_rank._estimates.proportions import are_rates
from sklearn_rank._estimates.runs import Between
from sklearn_rank._estimates.samples import Paired, Unpaired, counted, exact_mean, scaled, some
from sklearn_rank._estimates.segments import (
    equal_means,
    macro_difference,
    macro_mean,
    macro_share,
)
from sklearn_rank._estimates.significance import ComparisonOptions, run_test
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.segments import SegmentsBy, partition
from sklearn_rank._tell.pairs import PAIR_COLUMNS, PairRow
from sklearn_rank._tell.verdict import SHOWN_BELOW
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.table import P_CORRECTED, P, PartlyPrinted
from sklearn_rank._utils.typing import Array, Index

MACRO_DIFFERENCE_COLUMNS = (
    "segments", "queries", "mean", "baseline", "difference", "low", "high", "standard error", "df", P, P_CORRECTED,
)  # fmt: skip
"""Columns of the table of means over segments."""

MACRO_PRINTED = ("system", "mean", "difference", "low", "high", "standard error", "df", P, P_CORRECTED)


def compare_segments(
    results: Mapping[str, Evaluation], metric: str, by: SegmentsBy, *, baseline: str, test: str,
    correction: str | None, confidence_level: float,
) -> PairedTest:  # fmt: skip
    """Compare systems with the baseline in each segment; all results have the same queries in the same order."""
    options = ComparisonOptions(test, confidence_level=confidence_level, random_state=0)
    check_options("segments", options)
    pairs = [(name, baseline) for name in results if name != baseline]
    if baseline not in results or not pairs:
        raise ValueError(
            f"Segments of a comparison need the baseline, {echo(baseline)}, and another system. "
            f"Got {', '.join(results)}."
        )
    parts = partition(results[baseline], by, "segments", PAIR_COLUMNS)
    aligned = align(results, metric, options, "segments")
    of_all = np.array([result.per_query[metric] for result in results.values()])
    segment = parts.segment[counted(of_all.sum(axis=0), results[baseline].weight)]
    values = dict(zip(results, aligned.values, strict=True))
    of_pairs = {
        (a, b): Paired(values[a], values[b], aligned.cluster, aligned.weight, aligned.between((a, b))) for a, b in pairs
    }

    cut = [*parts._replace(segment=segment).rows()]
    found = [
        _row(pair, named, _some(of_pairs[pair], at, aligned.between(pair, at)), options, aligned)
        for pair, (named, at) in product(pairs, cut)
    ]
    rows, samples = zip(*found, strict=True)
    p = adjusted([row.pvalue for row in rows], correction)

    corrected = corrected_rows(rows, samples, p, options, aligned)
    overall = paired_test([*results], pairs, aligned, options, correction=correction, baseline=baseline)
    tests = [equal_means(one.values, segment, one.cluster, one.weight) for one in of_pairs.values()]
    interaction = adjusted([one.pvalue for one in tests], correction)
    return PairedTest(
        **common_to_rows(aligned, options),
        correction=correction, baseline=baseline, judged=aligned.judged, means=overall.means,
        means_without_settled=overall.means_without_settled,
        _pair_rows=corrected,
        _segments=SegmentTests(
            parts.by, overall, dict(zip(pairs, interaction, strict=True)),
            next((one.test for one in tests if not math.isnan(one.pvalue)), tests[0].test),
            _macro(of_pairs, segment, options, correction, baseline, aligned),
            _best(values, cut, corrected, options, aligned) if len(results) > 2 else {},
        ),
    )  # fmt: skip


def _best(
    values: Mapping[str, Array], cut: Sequence[tuple[tuple[Any, ...], Index]], rows: Sequence[PairRow],
    options: ComparisonOptions, aligned: Aligned,
) -> dict[tuple[Any, ...], list[str]]:  # fmt: skip
    """Systems that may be the best in each segment of two queries or more, at the level over the number of segments."""
    best, sign = {}, 1 if aligned.greater_is_better else -1
    for segment, at in cut:

        def pvalue(a: str, b: str, at: Index = at) -> float:
            pair = Paired(values[a], values[b], aligned.cluster, aligned.weight)
            sample = _some(pair, at, aligned.between((a, b), at))
            return run_test(sample, options, is_binary=aligned.is_binary).pvalue if _is_tested(sample) else math.nan

        if len(at) > 1:
            worse = [
                row.b if sign * row.difference > 0 else row.a
                for row in rows
                if row.segment == segment and row.corrected_pvalue < SHOWN_BELOW and row.difference != 0
            ]
            means = {name: sign * exact_mean(x[at], some(aligned.weight, at)) for name, x in values.items()}
            best[segment], _ = best_candidates(means, pvalue, worse, alpha=SHOWN_BELOW / len(cut))
    return best


def _is_tested(sample: Paired) -> bool:
    """Whether there are two queries or clusters."""
    return sample.n > 1 and (sample.cluster is None or len(distinct_values(sample.cluster)) > 1)


def _some(pair: Paired, at: Index, between: Between) -> Paired:
    weight = scaled(some(pair.weight, at))
    return replace(pair, a=pair.a[at], b=pair.b[at], cluster=some(pair.cluster, at), weight=weight, between=between)


def _row(
    pair: tuple[str, str], segment: tuple[Any, ...], sample: Paired, options: ComparisonOptions, aligned: Aligned
) -> tuple[PairRow, Paired | Unpaired | None]:
    """Row of a pair in a segment, and the sample if it is tested, which needs two queries or clusters."""
    if sample.n == 0:
        return PairRow(*pair, segment, 0), None
    if not _is_tested(sample):
        mean_a, mean_b = (exact_mean(x, sample.weight) for x in (sample.a, sample.b))
        return PairRow(*pair, segment, sample.n, mean_a, mean_b, sample.difference), None
    return row_of(*pair, sample, options, aligned, segment, aligned.means_of(pair, sample.n)), sample


def _macro(
    of_pairs: Mapping[tuple[str, str], Paired], segment: Index, options: ComparisonOptions, correction: str | None,
    baseline: str, aligned: Aligned,
) -> PartlyPrinted:  # fmt: skip
    rows = [(pair[0], *_macro_row(pair, one, segment, options, aligned)) for pair, one in of_pairs.items()]
    corrected = adjusted([math.nan if row[-1] is None else row[-1] for row in rows], correction)
    note = f"Means over {rows[0][1]} segments, {rows[0][2]} queries; differences from {baseline}."
    if any(not math.isnan(p) and p > row[-1] for p, row in zip(corrected, rows, strict=True)):
        note += " Intervals are at the level of p, not of the corrected p."
    return PartlyPrinted(
        ("system", *MACRO_DIFFERENCE_COLUMNS),
        tuple((*row, None if math.isnan(p) else p) for row, p in zip(rows, corrected, strict=True)),
        printed=MACRO_PRINTED,
        note=note,
    )


def _macro_row(
    systems: tuple[str, str], pair: Paired, segment: Index, options: ComparisonOptions, aligned: Aligned
) -> Iterable[Any]:
    between = aligned.between(systems, weight=macro_share(segment, pair.weight))
    n_segments, n, *rest = macro_difference(
        pair, segment, options, between, aligned.largest_difference,
        are_rates=are_rates(pair, is_binary=aligned.is_binary),
    )  # fmt: skip
    means = (macro_mean(x, segment, pair.cluster, pair.weight).mean for x in (pair.a, pair.b))
    return (n_segments, n, *means, *rest)
