"""Rows of labels that are given scores again and again: which scores fit them, and the order of reading."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.columns import check_columns, check_rows, labels_of, names_of, queries_in
from sklearn_rank._engine.grouping import Grouping, refuse_other_queries, take_rows
from sklearn_rank._engine.queries import DataSummary
from sklearn_rank._engine.read import refuse_scores, summary_of
from sklearn_rank._utils.blocks import thread_blocks
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.threads import map_blocks
from sklearn_rank._utils.typing import Array, Index

ONE_BLOCK_ROWS = 1000
"""Rows that are read in one block: more blocks cost more than they gain."""


class RowLabels(NamedTuple):
    """Labels of rows of an object of pandas, and of columns of any frame, without the object."""

    index: Any
    columns: Any = None


@dataclass(frozen=True)
class ScoreRows:
    """Rows of prepared labels, which scores for them must have too.

    Attributes
    ----------
    shape : tuple of int
        Shape of the scores: (n_rows,), or (n_queries, n_documents) where a row is a query.
    grouping : Grouping
        Queries, with their rows in order.
    rows : ndarray or None
        Row of the input at each row by query; None if they are the same. Rows under a mask are left out.
    labelled : dict of str to RowLabels
        Arguments that had labels, which scores with labels must have too.
    """

    shape: tuple[int, ...]
    grouping: Grouping
    rows: Index | None = None
    labelled: dict[str, RowLabels] = field(default_factory=dict)

    def read(self, y_score: Any, n_jobs: int | None) -> tuple[Array, DataSummary]:
        """Scores by query, checked, and a summary of them."""
        if type(y_score) is not np.ndarray:
            self._check_labels(y_score)
        score = as_floats(y_score, "y_score")
        if len(self.shape) == 1:
            score = column(score)
        if score.shape != self.shape:
            hint = ""
            if score.ndim == 2 and score.shape[:1] == self.shape:
                hint = " Pass the scores of several systems one after the other: "
                hint += "[prepared(column) for column in y_score.T]."
            raise ValueError(
                f"y_score must have one score for each label that was prepared, so shape {self.shape}. Got shape "
                f"{score.shape} instead.{hint} Call prepare again for other rows."
            )
        if score.ndim == 2:
            score = score.ravel()
        by_query = score if self.rows is None else self._taken(score, self.rows, n_jobs)
        summary, _, are_good = summary_of(None, by_query, n_jobs=n_jobs)
        if not are_good:
            self._refuse(score)
        return by_query, summary

    def _taken(self, score: Array, rows: Index, n_jobs: int | None) -> Array:
        """Scores by query."""
        if len(rows) <= ONE_BLOCK_ROWS:
            return score.take(rows)
        by_query = np.empty(len(rows))
        map_blocks(lambda a, b: take_rows(score, rows[a:b], by_query[a:b]), thread_blocks(len(rows), n_jobs), n_jobs)
        return by_query

    def _refuse(self, score: Array) -> None:
        """Refuse the first score that is NaN or +inf, under no mask."""
        kept, n_documents = score, math.prod(self.shape[1:])
        if self.rows is not None:
            kept = np.zeros(len(score))
            kept[self.rows] = score[self.rows]
        refuse_scores(kept, "y_score", lambda invalid: int(np.argmax(invalid)) // n_documents)

    def _check_labels(self, y_score: Any) -> None:
        """Refuse scores whose rows or columns have other labels than `y_true`."""
        check_rows(**self.labelled, y_score=y_score)
        if "y_true" in self.labelled and len(self.shape) == 2:
            check_columns(self.labelled["y_true"], y_score, "y_score")
        # Another number of rows is refused later, by its shape.
        if queries_in(y_score) is None or len(labels_of(y_score)) != self.shape[0]:
            return
        if len(self.shape) == 2:
            refuse_other_queries(y_score, self.grouping.ids, name="y_score")
            return
        qid = np.repeat(self.grouping.ids, self.grouping.sizes)
        if self.rows is None:
            refuse_other_queries(y_score, qid, name="y_score")
        else:
            kept = RowLabels(labels_of(y_score)[np.sort(self.rows)])
            refuse_other_queries(kept, qid[np.argsort(self.rows)], name="y_score")


def labels_of_rows(**given: Any) -> dict[str, RowLabels]:
    """Labels of the arguments that have some."""
    labels = {name: RowLabels(labels_of(x), names_of(x)) for name, x in given.items()}
    return {name: of_one for name, of_one in labels.items() if any(part is not None for part in of_one)}
