"""Whole lists by nearness: labels are counted, and rows sorted, in ways that fit what is ranked."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels import bits as bits_kernels
from sklearn_rank._engine.kernels import nearness as nearness_kernels
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.queries import Facts, Queries
from sklearn_rank._engine.sorted_queries import SortedQueries
from sklearn_rank._engine.sparse import facts_of_labels
from sklearn_rank._utils.typing import Array, Index


def sorted_codes(near: NDArray[Any], label: NDArray[Any], n_bits: int, indptr: Index, first: int) -> Queries:
    """Lists by the number of equal bits, shape (n_queries, n_items)."""
    n_queries, n_items = near.shape
    of_grade = count_each(label, indptr) if label.dtype == np.uint8 else None

    def make_label() -> NDArray[Any]:
        out, begin = np.zeros(near.shape, label.dtype), np.empty(n_bits + 1, np.int64)
        item, place = np.empty((2, n_items), np.int64)
        bits_kernels.sort_counts(near, label, begin, item, place, out)
        return out.ravel()

    def make_score() -> tuple[NDArray[Any], Index]:
        distance = np.tile(np.arange(n_bits + 1, dtype=np.float32), n_queries)
        if of_grade is not None:
            n_at = count_ties().sum(axis=2).ravel()
        else:
            place = n_bits - near.astype(np.int64) + (n_bits + 1) * np.arange(n_queries)[:, None]
            n_at = np.bincount(place.ravel(), minlength=n_queries * (n_bits + 1))
        return np.repeat(-distance, n_at), np.unique(np.cumsum(n_at))

    if of_grade is None:
        return SortedQueries(make_label, make_score, indptr, facts_of_labels(label), first)
    n_grades = of_grade.shape[1]

    @cache
    def count_ties() -> Index:
        of_tie = np.empty((n_queries, n_bits + 1, n_grades), dtype=np.int64)
        bits_kernels.count_grades(near, label, of_tie)
        return of_tie

    facts = facts_of_grades(of_grade)
    return SortedQueries(make_label, make_score, indptr, facts, first, of_grade=of_grade, count_ties=count_ties)


def sorted_scores(near: Array, label: NDArray[Any], indptr: Index, first: int) -> Queries:
    """Lists by numbers, shape (n_queries, n_items)."""
    sorted_label, is_tied = sort_labels(near, label)

    def make_score() -> tuple[Array, Index]:
        score = -np.sort(-near, axis=1)
        ends = np.ones(score.shape, dtype=bool)
        np.not_equal(score[:, 1:], score[:, :-1], out=ends[:, :-1])
        return score.ravel(), np.flatnonzero(ends) + 1

    known: dict[str, Any] = {"has_ties": is_tied}
    if label.dtype != np.uint8:
        return SortedQueries(sorted_label.ravel, make_score, indptr, facts_of_labels(label), first, **known)
    known["of_grade"] = count_each(label, indptr)
    return SortedQueries(sorted_label.ravel, make_score, indptr, facts_of_grades(known["of_grade"]), first, **known)


def sort_labels(near: Array, label: NDArray[Any]) -> tuple[NDArray[Any], bool]:
    """Labels of each row, the nearest first, equally near ones as they stand; and whether ties make a difference."""
    n_queries, n_items = near.shape
    out = np.empty(near.shape, dtype=label.dtype)
    is_sorted, is_tied = np.empty((2, n_queries), dtype=bool)
    room = np.empty(nearness_kernels.room_for(n_items), dtype=np.uint64)
    nearness_kernels.sort_labels(near, label, out, is_sorted, is_tied, room)
    for row in np.flatnonzero(~is_sorted):  # numbers so far from evenly spread that comparing is faster
        out[row] = label[row].take(np.argsort(-near[row], kind="stable"))
        is_tied[row] = True  # as far as is known
    return out, bool(is_tied.any())


def count_each(label: NDArray[np.uint8], indptr: Index) -> Index:
    """Items of each row by grade, shape (n_queries, n_grades)."""
    n_grades, grade = int(label.max()) + 1, label.reshape(-1)  # a copy, if each query has left out itself
    at_least = np.zeros((n_grades + 1, len(label), 1))
    for least in range(n_grades):
        rank_kernels.count_grades_at_least(grade, indptr, least, at_least[least])
    return -np.diff(at_least[:, :, 0], axis=0).T.astype(np.int64)


def facts_of_grades(of_grade: Index) -> Facts:
    """Facts about labels that were counted by grade."""
    high = float(np.flatnonzero(of_grade.any(axis=0))[-1])
    return Facts((0.0, high))
