"""Results by segment: the queries of each segment, and the values of a result there."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.attributes import AttributesLike
from sklearn_rank._engine.grouping import number_of_rows, number_together
from sklearn_rank._engine.ids import id_order, ids_of
from sklearn_rank._estimates.samples import counted, scaled, some
from sklearn_rank._evaluation.given_values import check_properties
from sklearn_rank._evaluation.intervals import bounds_of_values, cluster_of, mean_intervals, runs_variance
from sklearn_rank._metric.choices import choices_in_words
from sklearn_rank._metric.key_signs import known_metric
from sklearn_rank._metric.notation import display_name, labeled
from sklearn_rank._tell.notes import note_of_intervals
from sklearn_rank._tell.text import ends_of, level_in_words
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.table import (
    VALUE_WIDTH,
    WIDTH,
    Table,
    TableReport,
    cell,
    pvalue_cell,
    shorten,
    shorten_values,
    with_interval,
)
from sklearn_rank._utils.typing import DataFrame, Index
from sklearn_rank._utils.warning import collected_warnings

if TYPE_CHECKING:
    from sklearn_rank._estimates.segments import Heterogeneity

SegmentsBy = str | Sequence[str] | AttributesLike

SEGMENT_COLUMNS = ("metric", "queries", "mean", "low", "high", "undefined")

MACRO_COLUMNS = ("segments", "queries", "mean", "low", "high", "standard error", "df")


class Partition(NamedTuple):
    """Segments of queries, in the order of their values: names of attributes, values, number of each query's."""

    by: tuple[str, ...]
    values: list[tuple[Any, ...]]
    segment: Index

    def rows(self) -> Iterator[tuple[tuple[Any, ...], Index]]:
        """Values of each segment, and the places of its queries."""
        order = np.argsort(self.segment, kind="stable")
        ends = np.searchsorted(self.segment[order], np.arange(1, len(self.values)))
        return zip(self.values, np.split(order, ends), strict=True)


def partition(result: Any, by: Any, function_name: str, columns: Sequence[str]) -> Partition:
    """Segments of the queries of a result by attributes that it has, or that are given per query."""
    attributes = _attributes(result, by, function_name)
    if taken := [name for name in attributes if name in columns]:
        raise ValueError(
            f"An attribute of {function_name} must have another name than the columns of its table, "
            f"{', '.join(columns)}: give its values in a dict by a name of their own. Got {echo(taken[0])}."
        )
    codes, distinct = zip(*(_numbered(values) for values in attributes.values()), strict=True)
    present, segment = np.unique(np.stack(codes, axis=1), axis=0, return_inverse=True)
    values = [tuple(d[code] for d, code in zip(distinct, row, strict=True)) for row in present.tolist()]
    return Partition(tuple(attributes), values, segment.ravel())


def _attributes(result: Any, by: Any, function_name: str) -> Mapping[str, NDArray[Any]]:
    known = result.attributes
    if by is None and known:
        return known
    names = [by] if isinstance(by, str) else by
    if isinstance(names, (list, tuple)) and names and all(isinstance(name, str) for name in names):
        unknown = [name for name in names if name not in known]
        if not unknown and len({*names}) == len(names):
            return {name: known[name] for name in names}
        if len(names) != len(result.qid):
            has = f"It has {echo_all(known)}." if known else "It has none: pass by= to evaluate."
            hint = " A metric goes to metric=." if any(name in result.per_query for name in unknown) else ""
            raise ValueError(
                f"The 'by' parameter of {function_name} must name attributes of the result, each once, or give one "
                f"value per query. {has} Got {echo(by)}.{hint}"
            )
    elif by is None:
        raise ValueError(
            f"{function_name} needs attributes of queries: pass by= to evaluate, or here a dict from queries to values."
        )
    return check_properties(by, None, result.qid).attributes


def _numbered(values: NDArray[Any]) -> tuple[Index, list[Any]]:
    """Number of each entry's value in the order of the values, and the distinct values."""
    place = {value: i for i, value in enumerate(getattr(values, "order", ()))}
    values = np.asarray(values)
    # Values are no ids, so they may be large floats.
    keys = (values.astype(np.float64) + 0.0).view(np.int64) if values.dtype.kind == "f" else values
    number = number_of_rows(keys, len(keys))
    _, first = np.unique(number, return_index=True)
    distinct = values[first]
    order = id_order(distinct)
    if place and place.keys() >= {*distinct.tolist()}:
        order = np.array(sorted(range(len(distinct)), key=lambda i: place[distinct.tolist()[i]]), dtype=np.int64)
    rank = np.empty(len(order), np.int64)
    rank[order] = np.arange(len(order))
    return rank[number], distinct[order].tolist()


def subset_rows(qids: Any, known: NDArray[Any]) -> Index:
    """Positions of some queries among those known, each once, in ascending order."""
    wanted = ids_of([*qids] if isinstance(qids, Set) else qids)
    if wanted.ndim != 1 or len(wanted) == 0:
        raise ValueError(f"subset needs a list of one query or more. Got {echo(qids)}.")
    if wanted.dtype.kind == "b" and known.dtype.kind != "b":
        if wanted.shape != known.shape or not wanted.any():
            raise ValueError(
                f"A mask of subset must have one entry per query, {len(known)}, and keep one or more. "
                f"Got {np.count_nonzero(wanted)} of {len(wanted)}."
            )
        check_properties({"the mask": qids}, None, known)
        return np.flatnonzero(wanted)
    distinct, (of_known, of_wanted) = number_together([known, wanted])
    if len(distinct) > len(known):
        raise ValueError(
            f"subset takes queries of the result. Got {len(distinct) - len(known)} others, the first of them "
            f"{echo(distinct[len(known) : len(known) + 1].tolist()[0])}."
        )
    if (twice := np.bincount(of_wanted) > 1).any():
        raise ValueError(f"subset takes each query once. Got {echo(known[[twice.argmax()]].tolist()[0])} twice.")
    return np.sort(of_wanted)


@dataclass(frozen=True, repr=False)
class Segments(TableReport):
    """Means of metrics in each segment of queries, returned by `Evaluation.segments`.

    Attributes
    ----------
    by : tuple of str
        Attributes that define the segments; several attributes define segments by existing combinations of values.
    table : Table
        A row for each segment and metric: the values of the attributes, the metric, number of queries, mean, its
        interval (None if there is none) and undefined queries. Segments are in the order of their values.
    overall : Table
        The same for all queries.
    gap : dict of str to float
        Difference of the highest and the lowest mean of a segment, for each metric.
    pvalue : dict of str to float
        P-value of a test whether the means of segments differ, not corrected for the number of metrics; NaN without a
        test.
    test : str
        Name of the test; if metrics have different tests, the test of the first metric that has one.
    confidence_level : float
    n_clusters : int or None
        Number of clusters of queries, which intervals and test account for. None if queries are independent.
    n_tested : dict of str to int
        Number of segments in the test of each metric: segments with at least two queries and different values.

    Examples
    --------
    >>> from sklearn_rank.results import Evaluation
    >>> result = Evaluation.from_values(range(4), {"mrr": [0.5, 1.0, 0.25, 0.25]})
    >>> of_language = result.segments({"language": dict(enumerate(["de", "de", "fr", "fr"]))})
    >>> of_language.by, of_language.gap, [row[:4] for row in of_language.table.rows]
    (('language',), {'mrr': 0.5}, [('de', 'mrr', 2, 0.75), ('fr', 'mrr', 2, 0.25)])
    """

    by: tuple[str, ...]
    table: Table
    overall: Table
    gap: dict[str, float]
    pvalue: dict[str, float]
    test: str
    confidence_level: float
    n_clusters: int | None
    n_tested: Mapping[str, int]
    _macro: Table
    _note: str
    _choices: str

    def macro(self) -> Table:
        """Return the mean of the means of segments, each segment counting once, for example over data sets.

        Returns
        -------
        Table
            A row for each metric: number of segments and of queries in the mean, the mean with its interval, its
            standard error and degrees of freedom. A segment without a defined query is left out. Interval, standard
            error and degrees of freedom are None if a segment has fewer than two queries or clusters; all are None for
            a pooled or geometric mean.

        Notes
        -----
        The interval covers the variation over queries of the same segments, not over segments. Its squared standard
        error is the sum of the segments' squared standard errors over their squared number, for a stratified sample; it
        equals R's ``survey::svymean`` with a stratum for each segment and weights of 1 over its number of queries. The
        degrees of freedom are Satterthwaite's, because a segment of few queries can have most of the variance. The
        interval ends at the bounds of the metric. If values are skewed for their number, or equal within a segment,
        each of k segments gets 1/k of a query at each bound, as in `Evaluation.confidence_interval`; a metric without
        bounds then has a note, or no interval.

        Examples
        --------
        The segment "f" has one more query, but both segments count equally:

        >>> from sklearn_rank.results import Evaluation
        >>> result = Evaluation.from_values(
        ...     range(5), {"mrr": [1, 0.5, 0.25, 0.25, 1]}, by={"language": list("ddfff")}
        ... )
        >>> result.segments("language").macro()
        metric   segments   queries     mean      low     high   standard error       df
        MRR             2         5   0.6250   0.0205   1.0000           0.1768   2.6667
        """
        return self._macro

    def to_frame(self) -> DataFrame:
        """The table as a pandas DataFrame, without the row of all queries; needs the extra "pandas"."""
        return self.table.to_frame()

    def _title(self) -> str:
        n_queries = self.overall.rows[0][self.overall.columns.index("queries")]
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters} clusters"
        by = "" if self.by == ("by",) else f" by {' and '.join(self.by)}"
        return f"Segments of {n_queries} queries{clusters}{by}"

    def _notes(self) -> list[str]:
        notes = []
        for metric, p in self.pvalue.items():
            tested = "no test" if math.isnan(p) else f"{self.test}{self._left_out(metric)} p = {pvalue_cell(p)}"
            notes.append(f"{display_name(metric)}: gap {cell(self.gap[metric])}, {tested}")
        return [*notes, self._note] if self._note else notes

    def _left_out(self, metric: str) -> str:
        """How many segments the test is of, where it leaves some out."""
        n = len(self.table.rows) // len(self.gap)
        return "" if self.n_tested.get(metric, n) == n else f" of {self.n_tested[metric]} of {n} segments"

    def _footer(self) -> str:
        return self._choices

    def _tables(self) -> list[Table]:
        return [self._of_metric(metric, WIDTH) for metric in self.gap]

    def _text_tables(self) -> list[Table]:
        return [self._of_metric(metric, max(6, VALUE_WIDTH // len(self.by))) for metric in self.gap]

    def _of_metric(self, metric: str, width: int) -> Table:
        at = len(self.by)
        rows = [
            (*shorten_values(row[:at], width), row[at + 1], *with_interval(*row[at + 2 :]))
            for row in (*self.table.rows, *self.overall.rows)
            if row[at] == metric
        ]
        columns = ("queries", display_name(metric), level_in_words(self.confidence_level), "undefined")
        return Table((*(shorten(name, width) for name in self.by), *columns), tuple(rows))


def segments_of(result: Any, by: Any, metric: str | None, confidence_level: float) -> Segments:
    """The segments of an evaluation, by one metric or all."""
    names = [*result] if metric is None else [known_metric(result, metric)]
    parts = partition(result, by, "segments", SEGMENT_COLUMNS)
    of_all, (overall, _) = ((None,) * len(parts.by),), _numbers(result._taken(slice(None), names), confidence_level)
    of_parts = [_numbers(result._taken(rows, names), confidence_level) for _, rows in parts.rows()]
    numbers = [found for found, _ in of_parts]
    both = {name: _differ(result, name, parts.segment, confidence_level) for name in names}
    tests = {name: test for name, (test, *_) in both.items()}
    means = {name: [found[name][1] for found in numbers] for name in names}
    macro = tuple((labeled(name), *row) for name, (_, row, _) in both.items())
    note = note_of_intervals((display_name(name), note) for name, (*_, note) in both.items())
    return Segments(
        parts.by, _table(parts.by, parts.values, numbers), _table(parts.by, of_all, [overall]),
        {name: float(np.fmax.reduce(x) - np.fmin.reduce(x)) for name, x in means.items()},
        {name: test.pvalue for name, test in tests.items()},
        next((test for test in tests.values() if not math.isnan(test.pvalue)), tests[names[0]]).test,
        confidence_level, None if result.clusters is None else len({*result.clusters.tolist()}),
        {name: test.n_segments for name, test in tests.items()},
        Table(("metric", *MACRO_COLUMNS), macro, note=note),
        note_of_intervals(note for _, notes in of_parts for note in notes),
        choices_in_words({name: result.meaning[name] for name in names}, result.counts),
    )  # fmt: skip


def _differ(
    result: Any, metric: str, segment: Index, confidence_level: float
) -> tuple[Heterogeneity, tuple[Any, ...], str]:
    """Test whether the means of a metric differ between segments; also the mean over segments, and its note."""
    from sklearn_rank._estimates.segments import equal_means, macro_row, macro_share  # loads scipy.special

    values, cluster, weight = result.per_query[metric], cluster_of(result), result.weight
    kept = counted(values, weight) & (result.average[metric] == "macro")
    sample = values[kept], segment[kept], some(cluster, kept), scaled(some(weight, kept))
    between = runs_variance(result, metric, sample[2], macro_share(sample[1], sample[3]))
    bounds = bounds_of_values(metric, result.meaning[metric], sample[0])
    return equal_means(*sample), *macro_row(*sample, bounds, confidence_level, between)


def _numbers(result: Any, confidence_level: float) -> tuple[dict[str, tuple[Any, ...]], list[tuple[str, str]]]:
    """Number of queries, mean, interval and undefined queries of each metric; and the notes of intervals."""
    # A metric that is undefined for all queries of a segment warns.
    with collected_warnings():
        means, found = result.mean(), mean_intervals(result, confidence_level)
    rows = {
        name: (len(result.qid), mean, *ends_of(found[name].ends), result.n_undefined[name])
        for name, mean in means.items()
    }
    return rows, [(display_name(name), one.note) for name, one in found.items()]


def _table(by: Sequence[str], segments: Sequence[Any], numbers: Sequence[Mapping[str, tuple[Any, ...]]]) -> Table:
    """Table of the numbers of each metric in each segment."""
    of_segments = zip(segments, numbers, strict=True)
    rows = [(*values, metric, *row) for values, found in of_segments for metric, row in found.items()]
    return Table((*by, *SEGMENT_COLUMNS), tuple(rows))
