"""Why two systems differ: what each document adds to the difference, and whose judgement could change it most."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, cast

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.check import read
from sklearn_rank._engine.queries import LazyQueries, Queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.source import RankedData, RowsOfQuery, judged_as_metric
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.contributions import contributions, expected_ranks
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._misuse.judged import judged_note
from sklearn_rank._utils.constraints import COUNT
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.storage import KINDS, Saveable, SavedArrays, part
from sklearn_rank._utils.table import LabelledName, PartlyPrinted, Table, TableReport, shorten
from sklearn_rank._utils.typing import Array, Index

ROWS_AT_ONCE = 1_000_000
"""Rows of changed queries that are evaluated together."""

MOST_SHOWN = 20
"""Documents that are printed: those that add most."""

NEAR = 1e-9
"""Difference of a value that is computed again, relative to it above 1."""

Lists = tuple[RowsOfQuery, RowsOfQuery]
"""One query in both systems, the old one first."""


# --- one query in both systems -------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Documents:
    """Documents of one query that either system has: ids, labels, and the row of each in both systems, -1 for none."""

    ids: list[Any]
    label: Array
    rows: tuple[Index, Index]

    @classmethod
    def of(cls, lists: Lists, names: tuple[str, str]) -> Documents:
        """Match the documents of both systems, by their ids or by their rows."""
        old, new = lists
        if old.has_ids != new.has_ids:
            raise ValueError(
                "Documents of both systems must have ids, like documents of runs, or both must have no ids. "
                f"Got ids in {echo(names[0 if old.has_ids else 1])} alone: evaluate both in the same way."
            )
        place: dict[Any, int] = {}
        rows = tuple(
            np.array([place.setdefault(document, len(place)) for document in one.document.tolist()], np.int64)
            for one in lists
        )
        labels, row_in = np.full((2, len(place)), np.nan), np.full((2, len(place)), -1)
        for own, at, label, one in zip(row_in, rows, labels, lists, strict=True):
            own[at], label[at] = np.arange(len(at)), one.label
        both = (row_in >= 0).all(axis=0)
        if not (np.array_equal(labels[0, both], labels[1, both], equal_nan=True) and (old.has_ids or both.all())):
            raise ValueError(
                "Documents are matched by their rows where they have no ids, so both systems must be evaluated on the "
                "same rows: compare_systems(y_true, {'old': scores, 'new': scores}, qid=qid), or runs with ids. Got "
                f"other labels in {echo(names[1])} than in {echo(names[0])}."
            )
        return cls([*place], np.fmax(*labels), (row_in[0], row_in[1]))


class Source(NamedTuple):
    """What a comparison of two systems by one metric can be explained from."""

    names: tuple[str, str]
    results: tuple[Evaluation, Evaluation]
    spec: MetricSpec
    metric: str

    @property
    def data(self) -> tuple[RankedData, RankedData]:
        """The data of both."""
        old, new = (cast("RankedData", result._source) for result in self.results)
        return old, new

    def lists(self, number: int) -> Lists:
        """Rows of a query in both systems."""
        old, new = (data.rows_of(number) for data in self.data)
        return old, new

    @property
    def highest_grade(self) -> float:
        """Highest grade of all labels; at least the lowest grade of a relevant document."""
        return max(self.spec["min_relevance"], *(data.highest_label for data in self.data))


def source_of(results: Mapping[str, Evaluation], names: tuple[str, str], metric: str) -> Source:
    """Check that two results keep their documents.

    Raises
    ------
    ValueError
        If a result does not keep them, says which call does.
    """
    for name in names:
        result = results[name]
        queries = result._source.queries if isinstance(result._source, RankedData) else None
        if queries is None or (isinstance(queries, LazyQueries) and not queries.is_by_column):
            raise ValueError(
                "To explain a difference takes the documents, which results of evaluate, evaluate_table, evaluate_run "
                "and compare_systems keep; those that were loaded, made of values, batches or subsets do not. "
                f"Got {echo(name)} without documents: call compare_systems with labels and scores, or with runs."
            )
    old, new = (results[name] for name in names)
    if (spec := old._specs().get(metric)) is None or spec.metric.subtopics:
        raise ValueError(
            "A metric of labels by subtopic, or a function of your own, is not explained by documents. "
            f"Got {echo(metric)}."
        )
    return Source(names, (old, new), spec, metric)


def queries_of(label: Array, score: Array, number: Index | None = None) -> Queries:
    """Queries of some rows, all of one query where no numbers are given."""
    return read(label, score, qid=np.zeros(len(label), np.int64) if number is None else number)


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


def values_of(source: Source, number: int, lists: Lists) -> tuple[float, float]:
    """Value of a query in both systems, computed again.

    Raises
    ------
    ValueError
        If it is undefined, or not what it was: labels or scores were changed since.
    """
    old, new = (float(values_with(iter([one[:2]]), source.spec)[0]) for one in lists)
    for value, name, result in zip((old, new), source.names, source.results, strict=True):
        known = float(result.per_query[source.metric][number])
        if not math.isclose(value, known, abs_tol=NEAR) and not math.isnan(known):
            raise ValueError(
                "Labels and scores must be the ones that were evaluated. Those of the query were changed since: it had "
                f"{known:.6g} in {echo(name)}, and now has {value:.6g}. Evaluate again."
            )
    return old, new


# --- documents changed, one at a time ------------------------------------------------------------------------


def values_with(
    variants: Iterator[tuple[Array, Array]], spec: MetricSpec, n_jobs: int | None = None
) -> Array:  # fmt: skip
    """Value of a metric for each of many queries, given by labels and scores; undefined for one without documents."""
    values: list[Array] = []
    while chunk := [*_of_rows(variants, ROWS_AT_ONCE)]:
        size = np.array([len(label) for label, _ in chunk])
        of_chunk = np.full(len(chunk), spec["replace_undefined_by"])
        if size.any():
            label, score = (np.concatenate(columns) for columns in zip(*chunk, strict=True))
            queries = queries_of(label, score, np.repeat(np.arange(len(chunk)), size))
            of_chunk[size > 0] = compute(queries, [spec], n_jobs)[0].values()[:, 0]
        values.append(of_chunk)
    return np.concatenate([np.empty(0), *values])


def _of_rows(variants: Iterator[tuple[Array, Array]], n: int) -> Iterator[tuple[Array, Array]]:
    """The next variants, until they have `n` rows."""
    for label, score in variants:
        yield label, score
        n -= len(label)
        if n <= 0:
            return


def without(one: RowsOfQuery, rows: Index) -> Iterator[tuple[Array, Array]]:
    """A list without each of some rows."""
    for row in rows.tolist():
        yield np.delete(one.label, row), np.delete(one.score, row)


def judged_as(one: RowsOfQuery, rows: Index, grade: float) -> Iterator[tuple[Array, Array]]:
    """A list with each of some rows judged; -1 is a document that the list does not have."""
    for row in rows.tolist():
        label = one.label.copy()
        if row >= 0:
            label[row] = grade
            yield label, one.score
        else:
            yield np.append(label, grade), np.append(one.score, -np.inf)


def left_out(lists: Lists, documents: Documents, value: tuple[float, float], spec: MetricSpec) -> Array:
    """Change of the difference by each document: as it is, less what it is without the document.

    Documents that neither system retrieved and that have one label do the same.
    """
    known: dict[float, int] = {}
    retrieved = _is_retrieved(lists, documents)
    at = np.arange(len(documents.ids))
    for i in np.flatnonzero(~retrieved).tolist():
        at[i] = known.setdefault(float(documents.label[i]), i)
    asked, place = np.unique(at, return_inverse=True)
    effect = np.zeros(len(asked))
    for sign, one, rows, with_all in zip((-1, 1), lists, documents.rows, value, strict=True):
        has = rows[asked] >= 0
        effect[has] += sign * (with_all - values_with(without(one, rows[asked][has]), spec))
    effect[np.abs(effect) <= NEAR * max(map(abs, value))] = 0.0
    return effect[place]


def _is_retrieved(lists: Lists, documents: Documents) -> NDArray[np.bool_]:
    """Whether either system retrieved each document."""
    retrieved = np.zeros(len(documents.ids), bool)
    for one, rows in zip(lists, documents.rows, strict=True):
        retrieved |= np.append(one.score > -np.inf, False)[rows]
    return retrieved


def to_judge_first(lists: Lists, documents: Documents, ranks: tuple[Array, Array], spec: MetricSpec) -> Index:
    """Documents without a judgement that a system has down to the cutoff."""
    first = np.fmin(*ranks) <= spec.depth
    return np.flatnonzero(first & ~_is_judged(documents.label, spec))


def _is_judged(label: Array, spec: MetricSpec) -> NDArray[np.bool_]:
    judged: NDArray[np.bool_] = ~np.isnan(label)
    return judged & (label >= 0) if spec["negative"] == "unjudged" else judged


# --- the explanation of one query ----------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Explanation(TableReport, Saveable):
    """What each document adds to the difference of two systems on one query: the result of `Comparison.explain`.

    Attributes
    ----------
    metric : str
    query : object
        Id of the query.
    names : (str, str)
        The old system and the new one.
    values : (float, float)
        Value of each system on the query.
    difference : float
        The new one less the old one.
    is_sum : bool
        Whether the metric is a sum over documents, so that contributions sum to the difference. Otherwise each is the
        effect of leaving the document out, and they need not sum to anything.
    judged : (float, float)
        Share of the documents of each system that are judged, down to the cutoff; NaN for an empty list.
    grade : float
        The highest grade, which `to_judge` gives to documents.
    table : Table
        A row for each document: grade, whether it is judged, rank in both systems, contribution; the largest first.
    """

    metric: str
    query: Any
    names: tuple[str, str]
    values: tuple[float, float]
    is_sum: bool
    judged: tuple[float, float]
    grade: float
    greater_is_better: bool
    _documents: NDArray[Any]
    _label: Array
    _ranks: Array
    _contribution: Array
    _change: Array

    @property
    def difference(self) -> float:
        """The new system less the old one."""
        return self.values[1] - self.values[0]

    @cached_property
    def table(self) -> Table:
        """A row for each document, the largest contribution first."""
        columns = ("document", "grade", "judged", *_rank_columns(self.names), "contribution")
        old, new = self._ranks
        first = np.fmin(old, new)
        order = np.lexsort((first, -np.abs(self._contribution)))
        cells = zip(
            self._documents[order].tolist(), _cells(self._label[order]), ~np.isnan(self._label[order]),
            _cells(old[order]), _cells(new[order]), self._contribution[order].tolist(), strict=True,
        )  # fmt: skip
        return Table(columns, tuple((name, grade, _YES[bool(known)], *more) for name, grade, known, *more in cells))

    def to_judge(self, n: int = 10) -> Table:
        """Unjudged documents whose judgement could change the difference most.

        Parameters
        ----------
        n : int, default=10
            Number of documents.

        Returns
        -------
        Table
            Document, both ranks, and the change of the difference if the document had the highest grade, the largest
            first. Documents below the cutoff in both systems are not in it.

        Raises
        ------
        ValueError
            If `n` is not an int >= 1.
        """
        COUNT.check("n", n, "to_judge")
        at = np.flatnonzero(~np.isnan(self._change))
        old, new = self._ranks[:, at]
        order = np.lexsort((np.fmin(old, new), -np.abs(self._change[at])))[:n]
        at = at[order]
        rows = zip(
            self._documents[at].tolist(), _cells(old[order]), _cells(new[order]), self._change[at].tolist(),
            strict=True,
        )  # fmt: skip
        return _fitted(("document", *_rank_columns(self.names), "change"), [*rows])

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame; needs the extra "pandas"."""
        return self.table.to_frame()

    def to_markdown(self) -> str:
        """The values, the notes and the table in Markdown.

        Returns
        -------
        str
        """
        return "\n\n".join([self._title(), *self._notes(), super().to_markdown()])

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

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        words = {
            "metric": self.metric, "names": [*self.names], "is_sum": self.is_sum,
            "greater_is_better": self.greater_is_better,
        }  # fmt: skip
        arrays = {
            "query": _object_array([self.query]), "numbers": np.array([*self.values, *self.judged, self.grade]),
            "documents": self._documents, "label": self._label, "ranks": self._ranks,
            "contribution": self._contribution, "change": self._change,
        }  # fmt: skip
        return words, arrays

    @classmethod
    def _from_saved(cls, words: Mapping[str, Any], arrays: SavedArrays) -> Self:
        names = part(words, "names", list)
        if len(names) != 2 or not all(isinstance(name, str) for name in names):
            raise ValueError("the description must have two names")
        arrays.check("query", (1,), KINDS)
        arrays.check("numbers", (5,), "f")
        (n,) = arrays.check("documents", (None,), KINDS)
        for name, shape in (("label", (n,)), ("ranks", (2, n)), ("contribution", (n,)), ("change", (n,))):
            arrays.check(name, shape, "f")
        old, new, judged_old, judged_new, grade = arrays["numbers"].tolist()
        return cls(
            metric=part(words, "metric", str), query=arrays["query"].tolist()[0], names=(names[0], names[1]),
            values=(old, new), is_sum=part(words, "is_sum", bool), judged=(judged_old, judged_new), grade=grade,
            greater_is_better=part(words, "greater_is_better", bool), _documents=arrays["documents"],
            _label=arrays["label"], _ranks=arrays["ranks"], _contribution=arrays["contribution"],
            _change=arrays["change"],
        )  # fmt: skip


_YES = {True: "yes", False: "no"}

NAME_WIDTH = 16
"""Characters of a system's name in the head of a printed column."""


def _rank_columns(names: tuple[str, str]) -> tuple[str, str]:
    """Names of the columns of ranks, which are shortened where they are printed."""
    shown = [shorten(name, NAME_WIDTH) for name in names]
    old, new = shown if shown[0] != shown[1] else ("old", "new")
    return LabelledName(f"rank {names[0]}", f"rank {old}"), LabelledName(f"rank {names[1]}", f"rank {new}")


def _fitted(columns: tuple[str, ...], rows: Sequence[tuple[Any, ...]]) -> Table:
    """A table whose text fits a terminal."""
    return PartlyPrinted(columns, tuple(rows), printed=columns)


def _cells(numbers: Array) -> list[Any]:
    """Numbers for a table: whole ones as int, NaN as an empty cell."""
    return [None if math.isnan(x) else int(x) if float(x).is_integer() else x for x in numbers.tolist()]


def _object_array(values: Sequence[Any]) -> NDArray[Any]:
    array = np.empty(len(values), object)
    array[:] = values
    return array


def explanation_of(source: Source, query: Any) -> Explanation:
    """Explain the difference of two systems on a query."""
    number, spec = number_of(source, query), source.spec
    lists = source.lists(number)
    values = values_of(source, number, lists)
    if any(map(math.isnan, values)):
        raise ValueError(
            f"A query must have a value in both systems. Got {echo(query)}, where {display_name(source.metric)} is "
            "undefined."
        )
    documents = Documents.of(lists, source.names)
    queries = [queries_of(*one[:2]) for one in lists]
    ranks_of = [expected_ranks(one, spec) for one in queries]
    ranks = [np.append(own, np.nan)[rows] for own, rows in zip(ranks_of, documents.rows, strict=True)]
    added = [contributions(one, spec, value) for one, value in zip(queries, values, strict=True)]
    terms = [np.append(one, 0.0)[rows] for one, rows in zip(added, documents.rows, strict=True) if one is not None]
    if is_sum := len(terms) == 2:
        contribution = terms[1] - terms[0]
    else:
        contribution = left_out(lists, documents, values, spec)
    grade = source.highest_grade
    change = np.full(len(documents.ids), np.nan)
    asked = to_judge_first(lists, documents, (ranks[0], ranks[1]), spec)
    change[asked] = _changes(lists, documents, asked, values, spec, grade)
    label = np.where(_is_judged(documents.label, spec), documents.label, np.nan)
    shown = _is_retrieved(lists, documents) | (label > 0) | (contribution != 0)
    ids = _object_array(documents.ids)
    judged = [_judged_share(one, spec) for one in lists]
    return Explanation(
        metric=source.metric, query=query, names=source.names, values=values, is_sum=is_sum,
        judged=(judged[0], judged[1]), grade=grade, greater_is_better=spec.metric.greater_is_better,
        _documents=ids[shown], _label=label[shown], _ranks=np.stack(ranks)[:, shown],
        _contribution=contribution[shown], _change=change[shown],
    )  # fmt: skip


def _changes(
    lists: Lists, documents: Documents, asked: Index, values: tuple[float, float], spec: MetricSpec, grade: float
) -> Array:
    """Change of the difference by each document that is asked for, if it had a grade."""
    old, new = (
        values_with(judged_as(one, rows[asked], grade), spec) for one, rows in zip(lists, documents.rows, strict=True)
    )
    change: Array = (new - old) - (values[1] - values[0])
    return change


def _judged_share(one: RowsOfQuery, spec: MetricSpec) -> float:
    if not (one.score > -np.inf).any():
        return math.nan
    return float(values_with(iter([one[:2]]), judged_as_metric(spec))[0])


# --- what to judge, over all queries -------------------------------------------------------------------------


def documents_to_judge(source: Source, n: int) -> Table:
    """Documents of all queries whose judgement could change the mean difference most."""
    COUNT.check("n", n, "to_judge")
    result, _ = source.results
    if (average := result.average[source.metric]) != "macro":
        raise ValueError(f"to_judge is for a mean over queries. Got average={echo(average)}: evaluate without it.")
    spec, grade = source.spec, source.highest_grade
    weight = np.ones(len(result.qid)) if result.weight is None else result.weight
    counted = ~np.isnan(np.sum([one.per_query[source.metric] for one in source.results], axis=0))
    share = weight * counted / math.fsum(weight[counted])
    rows: list[tuple[Any, ...]] = []
    for number in np.flatnonzero(share > 0).tolist():
        lists = source.lists(number)
        values, documents = values_of(source, number, lists), Documents.of(lists, source.names)
        queries = [queries_of(*one[:2]) for one in lists]
        old, new = (
            np.append(expected_ranks(one, spec), np.nan)[at] for one, at in zip(queries, documents.rows, strict=True)
        )
        asked = to_judge_first(lists, documents, (old, new), spec)
        change = share[number] * _changes(lists, documents, asked, values, spec, grade)
        query, ids = result.qid[number : number + 1].tolist()[0], [documents.ids[i] for i in asked.tolist()]
        rows += zip([query] * len(ids), ids, _cells(old[asked]), _cells(new[asked]), change.tolist(), strict=True)
        rows = sorted(rows, key=lambda row: -abs(row[-1]))[:n]
    return _fitted(("query", "document", *_rank_columns(source.names), "change"), rows)
