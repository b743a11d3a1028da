"""Explain why two systems differ: contributions of documents, and documents whose judgment could matter most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.judged import judged_note
from sklearn_rank._engine.grouping import Grouping, concatenate_ranges
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.read import queries_of
from sklearn_rank._evaluation.kept_data import RankedData, RowsOfQueries, judged_as_metric
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.contributions import contributions, expected_ranks
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.blocks import ROWS_IN_MEMORY, cut_queries
from sklearn_rank._utils.constraints import COUNT
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.read_only import ReadOnlyArrays
from sklearn_rank._utils.table import LabeledName, PartlyPrinted, Table, TableReport, markdown_text, printable, shorten
from sklearn_rank._utils.typing import Array, Index

MOST_SHOWN = 20
"""Number of printed documents, those with the largest contributions."""

NEAR = 1e-9
"""Difference of a value that is computed again, relative to it above 1."""

Sides = tuple[RowsOfQueries, RowsOfQueries]
"""Some queries in both systems, the old one first."""

Variants = Iterator[tuple[Array, Array, Index, Mapping[str, Array]]]
"""Labels and scores of some lists, one list after the other, the length of each, and columns."""


# --- queries in both systems ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of some queries that either system has: id, label, row in both systems, -1 for none, and query."""

    ids: NDArray[Any]
    label: Array
    rows: NDArray[np.int64]
    query: Index

    @classmethod
    def of(cls, lists: Sides, names: tuple[str, str]) -> Documents:
        """Match the documents of both systems, by their ids or by their rows."""
        old, new = lists
        if old.has_ids != new.has_ids:
            raise ValueError(
                "Documents of both systems must have ids, like documents of runs, or both must have no ids. "
                f"Got ids in {echo(names[0 if old.has_ids else 1])} alone: evaluate both in the same way."
            )
        query, places, ids = _places(lists)
        labels, rows = np.full((2, len(ids)), np.nan), np.full((2, len(ids)), -1)
        for own, place, label, one in zip(rows, places, labels, lists, strict=True):
            own[place], label[place] = np.arange(len(place)), one.label
        both = (rows >= 0).all(axis=0)
        if not (np.array_equal(labels[0, both], labels[1, both], equal_nan=True) and (old.has_ids or both.all())):
            raise ValueError(
                "Documents are matched by their rows where they have no ids, so both systems must be evaluated on the "
                "same rows: compare_systems(y_true, {'old': scores, 'new': scores}, qid=qid), or runs with ids. Got "
                f"other labels in {echo(names[1])} than in {echo(names[0])}."
            )
        documents = np.empty(len(ids), object)
        documents[:] = ids
        return cls(documents, np.fmax(*labels), rows, query)


def _places(lists: Sides) -> tuple[Index, tuple[Index, Index], list[Any]]:
    """Query of each document, document of each row in both systems, and the ids of documents."""
    old, new = lists
    if not old.has_ids and np.array_equal(old.document, new.document):
        row = np.arange(len(old.document))
        return old.grouping.query_of_row, (row, row), old.document.tolist()
    listed = [(one.document.tolist(), one.grouping.indptr.tolist()) for one in lists]
    places: tuple[list[int], list[int]] = ([], [])
    query, ids = list[int](), list[Any]()
    for number in range(old.grouping.n_queries):
        first, known = len(ids), dict[Any, int]()
        for (documents, indptr), place in zip(listed, places, strict=True):
            own = documents[indptr[number] : indptr[number + 1]]
            place += [known.setdefault(document, first + len(known)) for document in own]
        ids += known
        query += [number] * len(known)
    return np.array(query, np.int64), (np.array(places[0], np.int64), np.array(places[1], np.int64)), ids


class Source(NamedTuple):
    """What a comparison of two systems by one metric can be explained from."""

    names: tuple[str, str]
    results: tuple[Any, Any]
    spec: MetricSpec
    metric: str

    @property
    def data(self) -> tuple[RankedData, RankedData]:
        """The data of both."""
        old, new = self.results
        return old._kept_data.ranked, new._kept_data.ranked

    def lists(self, numbers: Index) -> Sides:
        """Rows of some queries in both systems."""
        old, new = (data.rows_of(numbers) for data in self.data)
        return old, new

    @property
    def highest_grade(self) -> float:
        """Highest grade of all labels; at least the lowest grade of a relevant document."""
        return max(self.spec["min_relevance"], *(data.highest_label for data in self.data))


def source_of(results: Mapping[str, Any], names: tuple[str, str], metric: str) -> Source:
    """Check that two results keep their documents."""
    for name in names:
        if not results[name]._kept_data.keeps_documents:
            raise ValueError(
                "To explain a difference takes the documents, which results of evaluate, evaluate_table, evaluate_run "
                "and compare_systems keep; those that were loaded, made of values, batches, subsets or several runs do "
                "not. "
                f"Got {echo(name)} without documents: call compare_systems with labels and scores, or with runs."
            )
    old, new = (results[name] for name in names)
    if (spec := old._specs.get(metric)) is None or spec.metric.subtopics:
        raise ValueError(
            "A metric of labels by subtopic, or a function of your own, is not explained by documents. "
            f"Got {echo(metric)}."
        )
    return Source(names, (old, new), spec, metric)


def number_of(source: Source, query: Any) -> int:
    """Number of a query, by its id."""
    old, _ = source.results
    ids = old.qid.tolist()
    if query not in ids:
        like = next((f" The id {echo(one)} is of another type." for one in ids if str(one) == str(query)), "")
        raise ValueError(
            f"The query must be one of the {len(ids)} that were evaluated, such as {echo(ids[0])}. "
            f"Got {echo(query)}.{like}"
        )
    return ids.index(query)


def values_of(source: Source, numbers: Index, lists: Sides) -> NDArray[np.float64]:
    """Values of some queries in both systems, computed again and the same as before: shape (2, n_queries)."""
    values = np.stack([values_with(_as_they_are(one), source.spec) for one in lists])
    known = np.stack([result.per_query[source.metric][numbers] for result in source.results])
    near = NEAR * np.maximum(1.0, np.maximum(np.abs(values), np.abs(known)))
    changed = ~((np.abs(values - known) <= near) | (values == known) | np.isnan(known))
    for system, number in np.argwhere(changed)[:1].tolist():
        raise ValueError(
            "Labels and scores must be the ones that were evaluated. Labels or scores of the query were changed since: "
            f"it had {known[system, number]:.6g} in {echo(source.names[system])}, and now has "
            f"{values[system, number]:.6g}. "
            "Evaluate again."
        )
    return values


# --- documents changed, one at a time ------------------------------------------------------------------------


def values_with(variants: Variants, spec: MetricSpec) -> Array:
    """Value of a metric for each of many lists; undefined for a list without documents."""
    values: list[Array] = [np.empty(0)]
    for label, score, size, columns in variants:
        of_part = np.full(len(size), spec["replace_undefined_by"])
        if size.any():
            queries = replace(queries_of(label, score, Grouping.by_sizes(size[size > 0])), columns=columns)
            of_part[size > 0] = compute(queries, [spec])[0].values()[:, 0]
        values.append(of_part)
    return np.concatenate(values)


def _as_they_are(one: RowsOfQueries) -> Variants:
    yield one.label, one.score, one.grouping.sizes, one.columns


def changed(one: RowsOfQueries, rows: Index, query: Index, grade: float | None) -> Variants:
    """The list of a query for each of some rows, with this row judged, or without it where `grade` is None."""
    # The row -1 is a document that the list does not have, which comes last and has no rank.
    size, start = one.grouping.sizes[query] + (rows < 0), one.grouping.indptr[query]
    for block in cut_queries(Grouping.by_sizes(size).indptr, ROWS_IN_MEMORY):
        some = slice(*block)
        lengths, ends = size[some], np.cumsum(size[some])
        first = ends - lengths
        at, _ = concatenate_ranges(start[some], start[some] + lengths)
        label, score, *others = (
            column.take(at, mode="clip") for column in (one.label, one.score, *one.columns.values())
        )
        own = np.where(rows[some] < 0, ends - 1, first + rows[some] - start[some])
        if grade is None:
            label, score, *others = (np.delete(column, own) for column in (label, score, *others))
            yield label, score, lengths - 1, dict(zip(one.columns, others, strict=True))
        else:
            label[own], score[own[rows[some] < 0]] = grade, -np.inf
            yield label, score, lengths, dict(zip(one.columns, others, strict=True))


def left_out(lists: Sides, documents: Documents, values: Array, queries: NDArray[np.bool_], spec: MetricSpec) -> Array:
    """Change of the difference by each document of some queries: as it is, less what it is without the document."""
    known: dict[tuple[int, float], int] = {}
    at = np.arange(len(documents.ids))
    for i in np.flatnonzero(~_is_retrieved(lists, documents) & queries[documents.query]).tolist():
        at[i] = known.setdefault((int(documents.query[i]), float(documents.label[i])), i)
    if lists[0].columns:
        at = np.arange(len(at))
    asked = np.flatnonzero((at == np.arange(len(at))) & queries[documents.query])
    effect = np.zeros(len(at))
    for sign, one, rows, with_all in zip((-1, 1), lists, documents.rows, values, strict=True):
        of_one = asked[rows[asked] >= 0]
        query = documents.query[of_one]
        effect[of_one] += sign * (with_all[query] - values_with(changed(one, rows[of_one], query, None), spec))
    effect[np.abs(effect) <= NEAR * np.abs(values).max(axis=0)[documents.query]] = 0.0
    return effect[at]


def _is_retrieved(lists: Sides, documents: Documents) -> NDArray[np.bool_]:
    retrieved = np.zeros(len(documents.ids), bool)
    for one, rows in zip(lists, documents.rows, strict=True):
        retrieved |= np.append(one.score > -np.inf, False)[rows]
    return retrieved


def _is_judged(label: Array, spec: MetricSpec) -> NDArray[np.bool_]:
    judged: NDArray[np.bool_] = ~np.isnan(label)
    return judged & (label >= 0) if spec["negative"] == "unjudged" else judged


def _to_judge(label: Array, first: Array, spec: MetricSpec) -> NDArray[np.bool_]:
    return (first <= spec.depth) & ~_is_judged(label, spec)


def _changes(lists: Sides, documents: Documents, asked: Index, values: Array, spec: MetricSpec, grade: float) -> Array:
    """Change of the difference by each document that is asked for, if it had a grade."""
    query = documents.query[asked]
    old, new = (
        values_with(changed(one, rows[asked], query, grade), spec)
        for one, rows in zip(lists, documents.rows, strict=True)
    )
    change: Array = (new - old) - (values[1] - values[0])[query]
    return change


# --- the explanation of one query ----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Explanation(TableReport, ReadOnlyArrays):
    """Contribution of each document to the difference of two systems on a query, returned by `Comparison.explain`.

    Attributes
    ----------
    metric : str
    query : object
        Id of the query.
    names : (str, str)
        The old system and the new one.
    values : (float, float)
        Value of each system on the query.
    is_sum : bool
        Whether the metric is a sum over documents, so that contributions sum to the difference. Otherwise a
        contribution is the effect of leaving the document out, and contributions need not sum to the difference.
    judged : (float, float)
        Share of judged documents of each system, down to the cutoff; NaN for an empty list.
    grade : float
        The highest grade, which `to_judge` assumes for documents.
    documents : ndarray of shape (n_documents,)
        Ids of documents that a system retrieved, that are relevant, or that contribute.
    label : ndarray of shape (n_documents,)
        Grade of each document; NaN for an unjudged document.
    ranks : ndarray of shape (2, n_documents)
        Rank of each document in the old and in the new system; NaN without a rank.
    contribution : ndarray of shape (n_documents,)
        Contribution of each document to the difference.

    Examples
    --------
    The relevant document rose from rank 2 to rank 1, 1 - 1 / log2(3):

    >>> from sklearn_rank import compare_systems
    >>> runs = {"old": {"q": ["a", "b"]}, "new": {"q": ["b", "a"]}}
    >>> why = compare_systems({"q": {"a": 0, "b": 1}}, runs, metrics="ndcg").explain(
    ...     "q", new="new", old="old"
    ... )
    >>> round(why.difference, 4), why.documents.tolist(), why.ranks.tolist()
    (0.3691, ['a', 'b'], [[1.0, 2.0], [2.0, 1.0]])
    """

    metric: str
    query: Any
    names: tuple[str, str]
    values: tuple[float, float]
    is_sum: bool
    judged: tuple[float, float]
    grade: float
    greater_is_better: bool
    documents: NDArray[Any]
    label: Array
    ranks: Array
    contribution: Array
    _change: Array

    @property
    def difference(self) -> float:
        """Value of the new system minus value of the old system."""
        return self.values[1] - self.values[0]

    @cached_property
    def table(self) -> Table:
        """A row for each document: grade, whether judged, rank in both systems, contribution; the largest first."""
        columns = ("document", "grade", "judged", *_rank_columns(self.names), "contribution")
        old, new = self.ranks
        first = np.fmin(old, new)
        order = np.lexsort((first, -_size(self.contribution)))
        cells = zip(
            self.documents[order].tolist(), _cells(self.label[order]), ~np.isnan(self.label[order]),
            _cells(old[order]), _cells(new[order]), self.contribution[order].tolist(), strict=True,
        )  # fmt: skip
        return Table(columns, tuple((name, grade, _YES[bool(known)], *more) for name, grade, known, *more in cells))

    def to_judge(self, n: int = 10) -> Table:
        """Return the unjudged documents whose judgment could change the difference most.

        Parameters
        ----------
        n : int, default=10
            Number of documents.

        Returns
        -------
        Table
            Document, both ranks, and the change of the difference if the document had the highest grade, the largest
            change first. Documents below the cutoff in both systems are left out.

        Raises
        ------
        ValueError
            If `n` is not an int >= 1.
        """
        COUNT("n", n, "to_judge")
        at = np.flatnonzero(~np.isnan(self._change))
        old, new = self.ranks[:, at]
        order = np.lexsort((np.fmin(old, new), -_size(self._change[at])))[:n]
        at = at[order]
        rows = zip(
            self.documents[at].tolist(), _cells(old[order]), _cells(new[order]), self._change[at].tolist(),
            strict=True,
        )  # fmt: skip
        columns = ("document", *_rank_columns(self.names), "change")
        return PartlyPrinted(columns, tuple(rows), printed=columns)

    def to_markdown(self) -> str:
        """The values, the notes and the table in Markdown."""
        lines = (markdown_text(printable(line)) for line in (self._title(), *self._notes()))
        return "\n\n".join([*lines, super().to_markdown()])

    def _title(self) -> str:
        (old, new), (of_old, of_new) = self.names, self.values
        metric = display_name(self.metric)
        return f"{metric} of query {self.query}: {new} {of_new:.4f} - {old} {of_old:.4f} = {self.difference:.4f}"

    def _notes(self) -> list[str]:
        notes = [
            "Contributions of documents sum to the difference."
            if self.is_sum
            else "Contributions are effects of leaving a document out of both lists. They need not sum."
        ]
        if not self.greater_is_better:
            notes.append("Lower is better.")
        if judged := judged_note({self.metric: dict(zip(self.names, self.judged, strict=True))}):
            notes.append(judged)
        n = len(self.table.rows)
        if n > MOST_SHOWN:
            rest = math.fsum(row[-1] for row in self.table.rows[MOST_SHOWN:])
            sum_of = f", which add {rest:.4f}" if self.is_sum else ""
            notes.append(f"Without {n - MOST_SHOWN} documents of smaller contributions{sum_of}.")
        return notes

    def _tables(self) -> list[Table]:
        return [Table(self.table.columns, self.table.rows[:MOST_SHOWN])]

    def _text_tables(self) -> list[Table]:
        return [table.fitted() for table in self._tables()]


_YES = {True: "yes", False: "no"}

NAME_WIDTH = 16
"""Characters of a system's name in the head of a printed column."""


def _rank_columns(names: tuple[str, str]) -> tuple[str, str]:
    shown = [shorten(name, NAME_WIDTH) for name in names]
    old, new = shown if shown[0] != shown[1] else ("old", "new")
    return LabeledName(f"rank {names[0]}", f"rank {old}"), LabeledName(f"rank {names[1]}", f"rank {new}")


def _cells(numbers: Array) -> list[Any]:
    """Numbers for a table: whole ones as int, NaN as an empty cell."""
    return [None if math.isnan(x) else int(x) if float(x).is_integer() else x for x in numbers.tolist()]


def explanation_of(source: Source, query: Any) -> Explanation:
    """Explain the difference of two systems on a query."""
    return explanations_of(source, [number_of(source, query)])[0]


def explanations_of(source: Source, numbers: Sequence[int]) -> list[Explanation]:
    """Explain the difference of two systems on some queries, by their numbers, in one evaluation."""
    of_queries, spec = np.array(numbers, np.int64), source.spec
    lists = source.lists(of_queries)
    values = values_of(source, of_queries, lists)
    ids = source.results[0].qid[of_queries].tolist()
    for number in np.flatnonzero(np.isnan(values).any(axis=0))[:1].tolist():
        raise ValueError(
            f"A query must have a value in both systems. Got {echo(ids[number])}, where "
            f"{display_name(source.metric)} is undefined."
        )
    documents = Documents.of(lists, source.names)
    queries = [one.queries for one in lists]
    ranks = _ranks(queries, documents, spec)
    old, new = (contributions(one, spec, value) for one, value in zip(queries, values, strict=True))
    is_sum = old[1] & new[1]
    terms = [np.append(added, 0.0)[rows] for (added, _), rows in zip((old, new), documents.rows, strict=True)]
    contribution = np.where(is_sum[documents.query], terms[1] - terms[0], 0.0)
    contribution += left_out(lists, documents, values, ~is_sum, spec)
    grade, change = source.highest_grade, np.full(len(documents.ids), np.nan)
    asked = np.flatnonzero(_to_judge(documents.label, np.fmin(*ranks), spec))
    change[asked] = _changes(lists, documents, asked, values, spec, grade)
    label = np.where(_is_judged(documents.label, spec), documents.label, np.nan)
    judged = np.stack([_judged_shares(one, spec) for one in lists])
    shown = np.flatnonzero(_is_retrieved(lists, documents) | (label > 0) | (contribution != 0))
    ends = np.searchsorted(documents.query[shown], np.arange(len(ids) + 1))
    return [
        Explanation(
            metric=source.metric, query=query, names=source.names, values=(float(values[0, i]), float(values[1, i])),
            is_sum=bool(is_sum[i]), judged=(float(judged[0, i]), float(judged[1, i])), grade=grade,
            greater_is_better=spec.metric.greater_is_better, documents=documents.ids[rows], label=label[rows],
            ranks=ranks[:, rows], contribution=contribution[rows], _change=change[rows],
        )
        for i, query in enumerate(ids) for rows in [shown[ends[i] : ends[i + 1]]]
    ]  # fmt: skip


def _ranks(queries: Sequence[Queries], documents: Documents, spec: MetricSpec) -> NDArray[np.float64]:
    of_rows = [expected_ranks(one, spec) for one in queries]
    return np.stack([np.append(own, np.nan)[rows] for own, rows in zip(of_rows, documents.rows, strict=True)])


def _judged_shares(one: RowsOfQueries, spec: MetricSpec) -> Array:
    retrieved = one.grouping.reduce(one.score > -np.inf, np.logical_or)
    shares = values_with(_as_they_are(one), judged_as_metric(spec))
    return np.where(retrieved, shares, np.nan)


# --- what to judge, over all queries -------------------------------------------------------------------------


def documents_to_judge(source: Source, n: int) -> Table:
    """Documents of all queries whose judgment could change the mean difference most."""
    COUNT("n", n, "to_judge")
    result, _ = source.results
    if (average := result.average[source.metric]) != "macro":
        raise ValueError(f"to_judge is for a mean over queries. Got average={echo(average)}: evaluate without it.")
    weight = np.ones(len(result.qid)) if result.weight is None else result.weight
    counted = ~np.isnan(np.sum([one.per_query[source.metric] for one in source.results], axis=0))
    share = weight * counted / math.fsum(weight[counted])
    rows: list[tuple[Any, ...]] = []
    numbers = np.flatnonzero(share > 0)
    size = np.sum([data.n_documents[numbers] for data in source.data], axis=0)
    for first, last in cut_queries(Grouping.by_sizes(size).indptr, ROWS_IN_MEMORY):
        of_block = _rows_to_judge(source, numbers[first:last], share, n)
        rows = [*rows, *of_block]
        size = _size(np.array([row[-1] for row in rows]))
        rows = [rows[i] for i in np.argsort(-size, kind="stable")[:n]]
    columns = ("query", "document", *_rank_columns(source.names), "change")
    return PartlyPrinted(columns, tuple(rows), printed=columns)


def _size(change: Array) -> Array:
    """Size relative to the largest, to 12 digits: equal changes may differ in their last bits, by the processor."""
    size = np.abs(change)
    return np.round(size / (np.fmax.reduce(size, initial=0) or 1), 12)


def _rows_to_judge(source: Source, numbers: Index, share: Array, n: int) -> Iterator[tuple[Any, ...]]:
    """Rows of the table of documents to judge, of some queries: those that change the mean most."""
    lists, spec = source.lists(numbers), source.spec
    values = values_of(source, numbers, lists)
    asked_of = np.zeros(len(numbers), bool)
    for one in lists:
        if not _is_judged(one.label, spec).all():
            ranks = expected_ranks(one.queries, spec)
            asked_of |= one.grouping.reduce(_to_judge(one.label, ranks, spec), np.logical_or)
    if not asked_of.any():
        return
    numbers, values = numbers[asked_of], values[:, asked_of]
    lists = source.lists(numbers)
    documents = Documents.of(lists, source.names)
    ranks = _ranks([one.queries for one in lists], documents, spec)
    asked = np.flatnonzero(_to_judge(documents.label, np.fmin(*ranks), spec))
    change = _changes(lists, documents, asked, values, spec, source.highest_grade)
    change *= share[numbers[documents.query[asked]]]
    first = np.argsort(-_size(change), kind="stable")[:n]
    at = asked[first]
    queries = source.results[0].qid[numbers[documents.query[at]]].tolist()
    yield from zip(queries, documents.ids[at].tolist(), *map(_cells, ranks[:, at]), change[first].tolist(), strict=True)
