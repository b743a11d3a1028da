"""Rows of a run that was joined with judgments, or of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.io._entries import taken


@dataclass(frozen=True, eq=False, repr=False)
class RankingData:
    """Labels, scores and queries of rows, returned by `join` and `read_table`.

    Attributes
    ----------
    y_true : ndarray of shape (n_samples,)
        Relevance; NaN: not judged.
    y_score : ndarray of shape (n_samples,)
        Score; ``-inf``: not retrieved.
    qid : QueryIds or ndarray of shape (n_samples,)
        Query of each row; ``numpy.asarray(qid)`` is an array of ids.
    not_in_run : ndarray
        Judged queries that the run lacks.
    not_in_qrels : ndarray
        Queries of the run without judgments.
    missing_from_run, missing_from_qrels : str
        Treatment of these queries.
    n_excluded : tuple of int
        Number of documents of the run, and of the judgments, that ``exclude=`` removed, and of queries that lost all
        their judgments.
    n_blank : int
        Number of rows of the judgments without a grade, which are not judged.

    Examples
    --------
    >>> from sklearn_rank.io import join
    >>> data = join({"q": {"a": 1, "b": 0}}, {"q": ["a", "c"]})
    >>> data.doc_id.tolist(), data.y_true.tolist(), data.y_score.tolist()
    (['a', 'c', 'b'], [1.0, nan, 0.0], [2.0, 1.0, -inf])
    """

    y_true: Array
    y_score: Array
    qid: Any
    not_in_run: NDArray[Any]
    not_in_qrels: NDArray[Any]
    missing_from_run: str
    missing_from_qrels: str
    _documents: tuple[Any, ...]
    _source: Index | None = None
    n_excluded: tuple[int, int, int] = (0, 0, 0)
    n_blank: int = 0

    @cached_property
    def doc_id(self) -> Any:
        """Document of each row; None if documents have no ids."""
        if self._source is None:
            return self._documents[0] if self._documents else None
        return documents_at(self._documents, self._source, slice(None))

    @property
    def documents(self) -> Callable[[Any], NDArray[Any]] | None:
        """Function from rows to their documents, which keeps no labels and scores; None if documents have no ids."""
        if self._source is not None:
            return partial(documents_at, self._documents, self._source)
        return self.doc_id.__getitem__ if self._documents else None

    def counts(self) -> str:
        """Return a line with the number of rows, and the missing queries with their treatment."""
        retrieved, judged = self.y_score > -np.inf, ~np.isnan(self.y_true)
        text = (
            f"{retrieved.sum()} documents retrieved, {(retrieved & judged).sum()} of them judged, "
            f"{(~retrieved).sum()} judged only"
        )
        if self._source is None:
            return text
        if any(self.n_excluded):
            text += f"; excluded: {self.n_excluded[0]} documents of the run, {self.n_excluded[1]} of the judgments"
        return "; ".join([text, *self.notes(), self.missing_queries()])

    def notes(self) -> tuple[str, ...]:
        """Remarks on judgments without a grade, and on queries whose judgments were excluded."""
        n, n_emptied = self.n_blank, self.n_excluded[2]
        blank = f"{n} judgment{'s' * (n > 1)} without a grade: not judged"
        emptied = f"exclude= removes all judged documents of {n_emptied} quer{'ies' if n_emptied > 1 else 'y'}"
        return (blank,) * bool(n) + (emptied,) * bool(n_emptied)

    def missing_queries(self) -> str:
        """Return a line with the queries that one side lacks, and their treatment."""
        return (
            f"queries not in the run: {_listed(self.not_in_run, self.missing_from_run)}; "
            f"queries without judgments: {_listed(self.not_in_qrels, self.missing_from_qrels)}"
        )

    def __repr__(self) -> str:
        return f"RankingData of {len(self.y_true)} rows: {self.counts()}"


def documents_at(ids: tuple[Any, ...], source: Index, rows: Any) -> NDArray[Any]:
    """Documents of some rows; `source` is the place of each in the run, or after it in the judgments."""
    (run, qrels), source = ids, source[rows]
    retrieved = source < len(run)
    parts = taken(run, source[retrieved]), taken(qrels, source[~retrieved] - len(run))
    found = np.empty(len(source), dtype=np.result_type(*parts))
    found[retrieved], found[~retrieved] = parts
    return found


def _listed(ids: NDArray[Any], done: str) -> str:
    if len(ids) == 0:
        return "0"
    shown = ", ".join(map(str, ids[:3].tolist())) + (", ..." if len(ids) > 3 else "")
    return f"{len(ids)}, {'counted as zero' if done == 'zero' else 'left out'} ({shown})"
