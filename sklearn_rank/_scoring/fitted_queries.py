"""Training queries of a model, remembered to refuse a test set that contains another part of such a query."""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.columns import check_features
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._scoring.fit_data import QueryData, echo_id, positions_in
from sklearn_rank._scoring.routing import find_routed_qid
from sklearn_rank._utils.blocks import thread_blocks
from sklearn_rank._utils.typing import Estimator, MatrixLike

FITTED = "_fitted_queries"
"""Attribute of a fitted model that holds its training rows."""

TOLERANCE = 1e-4
"""Relative tolerance for sums of a query's features, because steps of a Pipeline may round."""


class FittedRows(ABC):
    """Training rows of a model, in its attribute `FITTED`."""

    @abstractmethod
    def check(self, X: MatrixLike, y: Any, qid: Any, before: tuple[Any, ...]) -> None:
        """Refuse test rows for which a metric would be wrong; `before` holds the Pipelines around the model."""


@dataclass(frozen=True)
class FittedQueries(FittedRows):
    """Training queries: ids, numbers of rows, and fingerprints that do not depend on the order of rows.

    A fingerprint is a sum over the rows of a query: one sum of hashed labels, one sum of a fixed projection of
    features.
    """

    ids: NDArray[Any]
    n_rows: NDArray[np.int64]
    labels: NDArray[np.uint64]
    features: NDArray[np.float64]

    @classmethod
    def of(cls, data: QueryData) -> FittedQueries:
        """Compute the fingerprints of grouped rows."""
        labels, features = (data.grouping.reduce(x) for x in (hash_rows(data.y), project_rows(data.X)))
        return cls(data.grouping.ids, data.grouping.sizes, labels, features)

    def joined_with(self, other: FittedQueries) -> FittedQueries:
        """Add another batch; its queries that are already here must have the same rows."""
        number = positions_in(self.ids, other.ids)
        again = np.flatnonzero(number < len(self.ids))
        before = number[again]
        torn = other.n_rows[again] != self.n_rows[before]
        torn |= other.labels[again] != self.labels[before]
        if torn.any():
            one = again[np.argmax(torn)]
            raise ValueError(
                "A batch must contain whole queries: a query from an earlier batch must have the same rows, as in "
                f"another epoch. If it is a different query with the same id, make the ids distinct. Got {torn.sum()} "
                f"of {len(other.ids)} queries with other rows than before, for example {echo_id(other.ids[one])}: "
                f"{self.n_rows[number[one]]} rows before, {other.n_rows[one]} now."
            )
        new = np.flatnonzero(number >= len(self.ids))
        columns = [(getattr(self, name), getattr(other, name)[new]) for name in ("ids", "n_rows", "labels", "features")]
        if self.ids.dtype.kind != other.ids.dtype.kind:
            columns[0] = (self.ids.astype(object), columns[0][1].astype(object))
        return FittedQueries(*(np.concatenate(pair) for pair in columns))

    def n_same(self, X: MatrixLike, y: Any, qid: Any) -> int:
        """Number of training queries that a test set contains with the same labels and features."""
        grouping = group_rows(qid, len(y))
        number = positions_in(self.ids, grouping.ids)
        seen = np.flatnonzero(number < len(self.ids))
        known, rows = number[seen], project_rows(X)
        same = (grouping.sizes[seen] == self.n_rows[known]) & (
            grouping.reduce(hash_rows(y))[seen] == self.labels[known]
        )
        sums, size = (grouping.reduce(x)[seen] for x in (rows, np.abs(rows)))
        return int(np.count_nonzero(same & (np.abs(sums - self.features[known]) <= TOLERANCE * size)))

    def check(self, X: MatrixLike, y: Any, qid: Any, before: tuple[Any, ...]) -> None:
        """Refuse a test set where a training query has other rows; `before` holds the Pipelines around the model."""
        grouping = group_rows(qid, len(y))
        number = positions_in(self.ids, grouping.ids)
        seen = np.flatnonzero(number < len(self.ids))
        known, n_rows = number[seen], grouping.sizes[seen]
        torn = n_rows != self.n_rows[known]
        if not torn.all():
            torn |= grouping.reduce(hash_rows(y))[seen] != self.labels[known]
        # The labels of the same rows may differ on purpose, so if only labels differ, features decide.
        doubtful = torn & (n_rows == self.n_rows[known])
        if doubtful.any():
            for pipeline in before:
                X = pipeline[:-1].transform(X)
            rows = project_rows(X)
            sums, size = (grouping.reduce(x)[seen] for x in (rows, np.abs(rows)))
            torn &= ~doubtful | ~(np.abs(sums - self.features[known]) <= TOLERANCE * size)
        if torn.any():
            one = int(np.argmax(torn * (1 + np.abs(n_rows - self.n_rows[known]))))
            n_fit, n_here = self.n_rows[known[one]], n_rows[one]
            raise ValueError(
                "Pass cv=QueryKFold(5), not cv=5; QueryShuffleSplit and LeaveOneQueryOut keep queries whole as well. A "
                "query that is both fitted and scored must have the same rows in both, because a metric of an "
                "incomplete list is wrong. Splits of interactions split users on purpose; use them with "
                "make_recommender_scorer('ndcg@10', items=...). If this is a separate test set whose ids also start at "
                f"0, make them distinct from the training ids. Got {torn.sum()} of {grouping.n_queries} queries with "
                f"other rows than in fit, for example {echo_id(grouping.ids[seen[one]])}: {n_fit} rows in fit, "
                f"{n_here} {'others here' if n_fit == n_here else 'here'}."
            )


def check_test_queries(estimator: Estimator, X: MatrixLike, y: Any, qid: Any = None) -> None:
    """Refuse rows in another order, and queries of which the model was fitted on other rows."""
    check_features(X, y=y, qid=qid)
    if len(np.shape(y)) == 1:
        qid = find_routed_qid(y, qid)
        for fitted, before in fitted_in(estimator):
            fitted.check(X, y, qid, before)


def fitted_in(estimator: Estimator) -> Iterator[tuple[FittedRows, tuple[Any, ...]]]:
    """Yield the remembered training rows of fitted models in an estimator, with the Pipelines around each model."""
    yield from _fitted_in(estimator, (), set())


def _fitted_in(
    estimator: Estimator, before: tuple[Any, ...], seen: set[int]
) -> Iterator[tuple[FittedRows, tuple[Any, ...]]]:
    if id(estimator) in seen or isinstance(estimator, type):
        return
    seen.add(id(estimator))
    fitted = getattr(estimator, FITTED, None)
    if isinstance(fitted, FittedRows):
        yield fitted, before
    elif hasattr(estimator, "best_estimator_"):
        yield from _fitted_in(estimator.best_estimator_, before, seen)
    elif hasattr(estimator, "steps"):
        inside = before if len(estimator.steps) == 1 else (*before, estimator)
        yield from _fitted_in(estimator.steps[-1][1], inside, seen)
    else:
        for value in getattr(estimator, "__dict__", {}).values():
            for part in value if isinstance(value, (list, tuple)) else [value]:
                if hasattr(part, "fit"):
                    yield from _fitted_in(part, before, seen)


# --- fingerprints --------------------------------------------------------------------------------------------


def hash_rows(y: ArrayLike) -> NDArray[np.uint64]:
    """Hash of each row's label or labels; equal numbers have equal hashes."""
    labels = np.asarray(y)
    try:
        bits = (labels.astype(np.float64).reshape(len(labels), -1) + 0.0).view(np.uint64)  # -0.0 is 0.0
    except (TypeError, ValueError):
        # Labels may be names of grades.
        return _hash_values(labels).astype(np.uint64)
    odd = np.arange(1, 2 * bits.shape[1], 2, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (bits ^ (bits >> np.uint64(32))) * odd
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return np.asarray((mixed ^ (mixed >> np.uint64(32))).sum(axis=1, dtype=np.uint64))


def project_rows(X: Any) -> NDArray[np.float64]:
    """Sum each row's features with fixed weights; only numeric features if there are any."""
    # NaN if the type of X is unknown: a missing fingerprint must not make a model fail.
    X = X.tocsr() if hasattr(X, "tocsr") else X
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    try:
        with np.errstate(all="ignore"):
            rows = X.iloc if hasattr(X, "iloc") else X
            return np.concatenate([_project(_numeric(rows[a:b])) for a, b in thread_blocks(n_rows)])
    except (AttributeError, TypeError, ValueError):
        return np.full(n_rows, np.nan)


def _project(block: Any) -> NDArray[np.float64]:
    if getattr(block, "dtype", None) is None or block.dtype.kind not in "biuf":
        return _hash_values(np.asarray(block)).astype(np.float64)
    if not hasattr(block, "tocsr"):
        block = block.reshape(len(block), -1)
    weight = _weights(block.shape[1], np.dtype(np.float32 if block.dtype == np.float32 else np.float64))
    projected = np.asarray(block @ weight, dtype=np.float64)
    lost = ~np.isfinite(projected)
    if lost.any() and not hasattr(block, "tocsr"):
        projected[lost] = np.nan_to_num(block[lost].astype(np.float64), nan=0.5, posinf=2.0, neginf=-2.0) @ weight
    return np.nan_to_num(projected, nan=0.0, posinf=0.0, neginf=0.0)


@lru_cache(maxsize=8)
def _weights(n_features: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    return np.random.default_rng(0).uniform(0.5, 1.5, n_features).astype(dtype)


def _numeric(block: Any) -> Any:
    """The numeric columns of a frame, or all columns if none is numeric; other types as an array."""
    if hasattr(block, "tocsr"):
        return block
    if hasattr(block, "select_dtypes"):  # pandas
        numeric = block.select_dtypes(["number", "bool"])
        block = numeric if numeric.shape[1] else block
    elif hasattr(block, "schema"):  # polars
        numeric = [name for name, dtype in block.schema.items() if dtype.is_numeric()]
        block = block[numeric] if numeric else block
    array = np.asarray(block)
    try:
        return array.astype(np.float64) if array.dtype == object else array
    except (TypeError, ValueError):
        return array


def _hash_values(values: NDArray[Any]) -> NDArray[np.int64]:
    """Hash of each row of names, text or other objects, the same in every process."""
    return np.array([zlib.crc32(repr(value).encode()) for value in values.tolist()], dtype=np.int64)
