"""`RankingAccumulator`: complete queries in mini-batches, of one process or of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import ACCUMULATOR
from sklearn_rank._data.look import SAMPLE, Evidence, look, look_at_parts
from sklearn_rank._engine.attributes import check_attributes
from sklearn_rank._engine.columns import queries_in
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.ids import id_order, refuse_unfit_ids
from sklearn_rank._engine.read import read, with_columns
from sklearn_rank._evaluation.references import with_references
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import DEFAULT_METRICS, columns_of, parse_metrics
from sklearn_rank._metric.settled import metrics_to_add
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._tables.batch_validator import BatchKind
from sklearn_rank._tables.column_arguments import column_arguments
from sklearn_rank._tables.parts import (
    ColumnBuffer,
    columns_in_order,
    discounts_of,
    evaluate_part,
    evidence_of_part,
    result_from_columns,
    result_to_columns,
    with_evidence,
)
from sklearn_rank._tables.query_ids import kind_after
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo, query_count
from sklearn_rank._utils.threads import check_n_jobs

REPEATED_QUERIES = one_of("raise", "first", doc="")
SAME = ("label_fingerprints", "n_documents", "weight")


class _Batch(NamedTuple):
    """Values of complete queries; `ids` are None where rows of a matrix have no names."""

    kind: BatchKind
    ids: NDArray[Any] | None
    columns: dict[str, NDArray[Any]]
    longest: int
    evidence: Evidence


@described_as(column_arguments)
class RankingAccumulator:
    """Values of metrics over mini-batches of whole queries: update, merge, compute.

    For training loops and their workers: each updates its own accumulator, and they are merged, by pickle or in one
    process. Data are not kept, but the id and the values of each query: about 25 bytes for each metric, and 160 in
    addition.

    Parameters
    ----------
    duplicates : {"raise", "first"}, default="raise"
        A query that comes again is an error. With "first" it counts once, with its first values, if its labels are
        equal; `n_duplicates` counts the others. That is for samplers that repeat samples, such as `DistributedSampler`
        of torch, so that all workers have equally many.

    Attributes
    ----------
    n_duplicates : int
        Queries that came again and were left out, with ``duplicates="first"``.

    Raises
    ------
    ValueError or TypeError
        If a name or a keyword is invalid.

    Examples
    --------
    >>> from sklearn_rank import RankingAccumulator
    >>> first, second = RankingAccumulator("mrr"), RankingAccumulator("mrr")
    >>> first.update([0, 1], [2, 1], qid=["a", "a"])
    RankingAccumulator of 1 query: mrr
    >>> mask = [[True, True, False], [True, True, True]]
    >>> second.update(
    ...     [[1, 0, 0], [0, 0, 1]],
    ...     [[0.2, 0.1, 0.0], [0.3, 0.1, 0.2]],
    ...     qid=["b", "c"],
    ...     mask=mask,
    ... )
    RankingAccumulator of 2 queries: mrr
    >>> result = first.merge(second).compute()
    >>> result.qid
    array(['a', 'b', 'c'], dtype='<U1')
    >>> result.per_query["mrr"]
    array([0.5, 1. , 0.5])
    """

    @named_arguments
    def __init__(
        self, metrics: MetricsLike = DEFAULT_METRICS, *, duplicates: Literal["raise", "first"] = "raise",
        chance: bool = False, n_jobs: int | None = None, **keywords: Any,
    ) -> None:  # fmt: skip
        self._specs = parse_metrics(metrics, **keywords)
        REPEATED_QUERIES("duplicates", duplicates, "RankingAccumulator")
        self._computed = with_references(self._specs) if chance else self._specs
        check_n_jobs(n_jobs)
        self._added = metrics_to_add(self._computed)
        self._duplicates, self._n_jobs = duplicates, n_jobs
        self._discounts = discounts_of(self._specs.values())
        self.reset()

    def reset(self) -> Self:
        """Forget all queries, for the next epoch."""
        self.n_duplicates, self._longest, self._evidence = 0, 0, Evidence()
        self._values, self._place = ColumnBuffer(), dict[Any, int]()
        # Kind of the queries, if there are any.
        self._kind = BatchKind((), weighted=False)
        # An empty array of the type of ids; None where queries have no ids.
        self._types: NDArray[Any] | None = None
        self._id_kind = ""
        return self

    @named_arguments
    def update(
        self, y_true: Any, y_score: Any, qid: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None,
        mask: ArrayLike | None = None,
    ) -> Self:  # fmt: skip
        """Add whole queries. If it raises, no query was added.

        Parameters
        ----------
        y_true : array-like of shape (n_samples,) or (n_queries, n_documents)
            Relevance, as in `evaluate`. Tensors of torch are detached and copied to the CPU.
        y_score : array-like of the same shape
            Output of the model, higher ranks first. ``-inf``: judged but not retrieved.
        qid : array-like of shape (n_samples,), or of shape (n_queries,) where a row is a query, default=None
            Query of each row. None: taken from the level "qid" of the index of `y_true`; two-dimensional input needs
            none, and its queries are numbered. Then it cannot be noticed that a query comes again.
        sample_weight : array-like of the shape of `qid`, default=None
            Weight of each row's query in the mean. All updates have it or none.
        mask : array-like of bool, shape of `y_true` without subtopics, default=None
            True where there is a document; what stands under padding, False, is not read.

        Raises
        ------
        ValueError or TypeError
            As in `evaluate`; or if a query comes again, or ids are of another type than before, or there are weights,
            ids or subtopics only in some updates.
        """
        if all(hasattr(x, "__len__") and len(x) == 0 for x in (y_true, y_score)):
            return self
        queries = read(
            y_true, y_score, qid=qid, sample_weight=sample_weight, mask=mask, n_jobs=self._n_jobs,
            weight_may_be_zero=True,
        )  # fmt: skip
        queries = with_columns(queries, y_true, columns_of(self._specs), {})
        look(ACCUMULATOR, matrices=(y_true, y_score))
        columns = result_to_columns(evaluate_part(queries, self._computed, self._added))
        if queries.weight is not None:
            columns["weight"] = queries.weight
        named = qid is not None or queries_in(y_true) is not None
        ids = queries.grouping.ids if named else None
        evidence = evidence_of_part(queries, self._specs, has_agreement=self._evidence.agreement.n >= SAMPLE)
        self._add(_Batch(BatchKind.of(queries), ids, columns, queries.longest, evidence))
        return self

    def merge(self, other: RankingAccumulator) -> Self:
        """Add the queries of another accumulator, after those that are here. If it raises, no query was added.

        Parameters
        ----------
        other : RankingAccumulator
            With the same metrics and keywords; it stays as it is.

        Raises
        ------
        TypeError
            If it is no accumulator.
        ValueError
            If it is this one, has other metrics, or a query is in both.
        """
        if not isinstance(other, RankingAccumulator):
            raise TypeError(f"merge takes a RankingAccumulator. Got {type(other).__name__}.")
        if other is self:
            raise ValueError("merge takes another accumulator: this one would count its queries twice. Got itself.")
        self._check_metrics(other)
        if len(other):
            batch = other._batch()
            self._add(batch._replace(columns=columns_in_order(batch.columns, [*other._computed], self._computed)))
        self.n_duplicates += other.n_duplicates
        return self

    @named_arguments
    def compute(
        self, *, by: Mapping[Any, Any] | None = None, clusters: Mapping[Any, Any] | None = None,
        sort_by_qid: bool = False,
    ) -> Evaluation:  # fmt: skip
        """Evaluation of all queries so far; more may be added afterwards.

        Parameters
        ----------
        by : dict, default=None
            Attribute of each query, such as its country, by the id of the query; or a dict of names to such dicts.
        clusters : dict, default=None
            What queries are drawn with, such as the user or the session of each, by the id of the query.
        sort_by_qid : bool, default=False
            Whether queries stand in the order of their ids, so that means have the same bits whatever the order of
            updates and merges. By default they stand in the order of updates, those that were merged after the others.

        Returns
        -------
        Evaluation
            As from `evaluate` on all rows in this order, to the last bit. It does not keep the data, so `tie_range` and
            `n_tied` are not available.

        Raises
        ------
        ValueError
            If there are no queries, all weights are zero, queries without ids are to be sorted by them, or a query is
            in no dict.
        TypeError
            If attributes are no dict.
        """
        _check_dicts(by, clusters)
        if not self._place:
            raise ValueError("compute needs queries, so update or merge comes first. Got none since the last reset.")
        look_at_parts(ACCUMULATOR, [self._evidence], self._specs)
        batch = self._batch()
        ids, columns = np.arange(len(self)) if batch.ids is None else batch.ids, batch.columns
        if sort_by_qid:
            if batch.ids is None:
                raise ValueError("sort_by_qid=True takes ids: pass qid= to update. Got updates without.")
            order = id_order(ids)
            ids, columns = ids[order], {name: column[order] for name, column in columns.items()}
        result = result_from_columns(self._computed, columns, ids, columns.pop("weight", None))
        result = with_evidence(result, self._evidence, self._specs)
        result = replace(result, **check_attributes(by, clusters, Grouping.one_row_each(ids))._asdict())
        look(ACCUMULATOR, queries=(result,))
        return result

    def __len__(self) -> int:
        return len(self._place)

    def __repr__(self) -> str:
        left_out = f", {self.n_duplicates} duplicates left out" if self.n_duplicates else ""
        return f"RankingAccumulator of {query_count(len(self))}: {', '.join(self._specs)}{left_out}"

    def __getstate__(self) -> dict[str, Any]:
        """What the next process needs; the table of ids is built again there."""
        keys = ("_specs", "_computed", "_duplicates", "_n_jobs", "n_duplicates")
        return {name: getattr(self, name) for name in keys} | {"batch": self._batch() if self._place else None}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update({name: value for name, value in state.items() if name != "batch"})
        self._discounts, self._added = discounts_of(self._specs.values()), metrics_to_add(self._computed)
        n_duplicates = self.n_duplicates
        self.reset()
        if state["batch"] is not None:
            self._add(state["batch"])
        self.n_duplicates = n_duplicates

    def _batch(self) -> _Batch:
        ids = None
        if self._types is not None:
            ids = np.empty(len(self), self._types.dtype)
            ids[:] = [*self._place]
            refuse_unfit_ids(ids)
        return _Batch(self._kind, ids, self._values.read(len(self)), self._longest, self._evidence)

    def _add(self, batch: _Batch) -> None:
        for discount in self._discounts:
            discount.check(batch.longest)
        batch.kind.check_after(self._kind if self._place else None, "updates")
        ids, types, id_kind = self._check_ids(batch)
        columns, again = batch.columns, list[int]()
        if not self._place.keys().isdisjoint(ids):
            again = [i for i, q in enumerate(ids) if q in self._place]
            self._check_again([ids[i] for i in again], {name: column[again] for name, column in columns.items()})
            new = np.delete(np.arange(len(ids)), again).tolist()
            ids, columns = [ids[i] for i in new], {name: column[new] for name, column in columns.items()}
        before = dict(self.__dict__)
        try:
            if len(ids):
                self._values.write(len(self), columns)
            self._kind, self._types, self._id_kind = batch.kind, types, id_kind
            self._longest = max(self._longest, batch.longest)
            self._evidence = self._evidence.joined(batch.evidence)
            self.n_duplicates += len(again)
            self._place.update(zip(ids, range(len(self), len(self) + len(ids)), strict=True))
        # Memory that was not enough, or an interrupt.
        except BaseException:
            for query in ids:
                self._place.pop(query, None)
            if not self._place:
                # The first update defines the columns of the buffer.
                before["_values"] = ColumnBuffer()
            self.__dict__.update(before)
            raise

    def _check_ids(self, batch: _Batch) -> tuple[Sequence[Any], NDArray[Any] | None, str]:
        """Ids as Python compares them, an empty array of their type, and their kind."""
        if self._place and (batch.ids is None) != (self._types is None):
            having = ("without", "with") if batch.ids is None else ("with", "without")
            raise ValueError(
                "Either all updates have ids of queries or none: pass qid= to each. "
                f"Got one {having[0]} ids after one {having[1]}."
            )
        if batch.ids is None:
            return range(len(self), len(self) + len(batch.columns["n_documents"])), None, ""
        kind = kind_after(self._id_kind if self._place else "", batch.ids, "updates")
        types = batch.ids[:0] if self._types is None else np.concatenate([self._types, batch.ids[:0]])
        return batch.ids.tolist(), types, kind

    def _check_again(self, ids: Sequence[Any], columns: Mapping[str, NDArray[Any]]) -> None:
        """Raise ValueError unless queries that came again are left out, and their labels and weights are equal."""
        if self._duplicates == "raise":
            raise ValueError(
                "An update takes whole queries, and each query comes once until reset() begins the next epoch. A "
                "sampler such as DistributedSampler of torch repeats some queries, to give all workers equally many: "
                f"duplicates='first' counts these once. Got query {echo(ids[0])} again."
            )
        known = self._values.take([self._place[q] for q in ids])
        differs = np.any([known[name] != columns[name] for name in SAME if name in columns], axis=0)
        if differs.any():
            raise ValueError(
                "duplicates='first' leaves out a query that comes again with the same labels and the same weight: an "
                "update takes whole queries, and reset() begins the next epoch. "
                f"Got query {echo(ids[int(np.argmax(differs))])} again with others."
            )

    def _check_metrics(self, other: RankingAccumulator) -> None:
        mine, theirs = ({name: spec.meaning for name, spec in x._computed.items()} for x in (self, other))
        for name in {**mine, **theirs}:
            if mine.get(name) != theirs.get(name):
                raise ValueError(
                    "merge takes an accumulator of the same metrics and keywords. "
                    f"Got {theirs.get(name, 'none')} for {echo(name)} after {mine.get(name, 'none')}."
                )


def _check_dicts(by: Any, clusters: Any) -> None:
    """Refuse attributes without ids: queries stand in the order of updates and merges."""
    several = isinstance(by, Mapping) and any(hasattr(column, "__len__") for column in by.values())
    columns = {f"by[{echo(name)}]": column for name, column in by.items()} if several else {"by": by}
    for name, column in {**columns, "clusters": clusters}.items():
        if not (column is None or isinstance(column, Mapping) or (several and isinstance(column, str))):
            raise TypeError(
                f"{name} of compute must be a dict from the ids of queries to values; use to_dict() of a Series. "
                f"Got {type(column).__name__}."
            )
