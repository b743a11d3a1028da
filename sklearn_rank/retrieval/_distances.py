"""Distances of items from queries: features in, distances of a slice of queries out.

Knows neither labels nor metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sklearn_rank._utils.blocks import CACHED_NUMBERS, CHECKED_CODES, COMPARED_PAIRS, cut_rows
from sklearn_rank._utils.containers import as_numpy, n_rows_of
from sklearn_rank._utils.echo import echo, one_line
from sklearn_rank._utils.numbers import distinct_values, refuse_masked
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank._utils.warning import own_filters

DISTANCE_RULE = (
    "distance must be 'cosine', 'inner_product', 'euclidean', 'hamming', a metric of "
    "sklearn.metrics.pairwise_distances, or a function of two vectors."
)

HAMMING_RULE = (
    "Codes for distance='hamming' must all be of -1 and 1, of 0 and 1, or packed into uint8 as numpy.packbits does. "
)

SHORT_COSINE = 1e-14
"""Size of vectors for cosines; `normalize` would not divide lengths below 2.2e-15."""

SMALL_FEATURES, LARGE_FEATURES = 1e-100, 1e150
"""Size of all features below or above which sums of products would be lost."""

SHORT_VECTOR = 1e-150
"""Length whose square is far above the smallest numbers, which are rounded more than others."""

SHORT_NARROW, LONG_NARROW = 1e-12, 1e15
"""The same for float32, and the largest length whose products in float32 do not overflow."""

LONG_COSINE = 1e30
"""The largest length whose products with a vector of length one do not overflow in float32."""

COMPARED_ITEMS = 8
"""Items between which a function of the user is tried."""

LOOKED_FOR = 64
"""Queries that are looked for among items."""


@dataclass(frozen=True)
class Distances:
    """Distances of items from queries: ``of(rows)`` has them for a slice of queries, shape (n_rows, n_items).

    They may lack what is the same for all items of a query. Distances of codes are whole numbers in as few bytes as
    hold them, all others are float64.

    A product of matrices does not give equal items equal numbers. ``of_pairs(query, item)``, unless it is None,
    computes the same pair by pair, which does, and `slack` is how far both may be apart, for each query.
    `between_items` are the distances of the first items from each other, by a function of the user.

    ``rough(rows, items)``, unless it is None, has distances of a slice of queries from a slice of items to find
    candidates with: in float32 if all features came in float32, and `rough_slack` from those of pairs at most.
    """

    of: Callable[[slice], NDArray[Any]]
    n_queries: int
    n_items: int
    of_pairs: Callable[[Index, Index], Array] | None = None
    slack: Array | None = None
    between_items: Array | None = None
    rough: Callable[[slice, slice], NDArray[Any]] | None = None
    rough_slack: Array | None = None


def make_distances(distance: Any, queries: Any, items: Any, params: Mapping[str, Any]) -> Distances:
    """Check features and make their distances."""
    built_in = isinstance(distance, str) and distance in ("hamming", "cosine", "inner_product", "euclidean")
    if built_in and params:
        raise ValueError(
            f"distance={echo(distance)} has no parameters, so distance_params must be None. Got {echo(dict(params))}."
        )
    if isinstance(distance, str) and distance == "precomputed":
        raise ValueError(
            "Distances are computed from features, so distance must not be 'precomputed'; for given distances use "
            "sklearn_rank.evaluate(relevance, -distances, metrics=...), or score_neighbors for nearest neighbors."
        )
    numeric = built_in and distance != "hamming"
    is_narrow = all(str(getattr(x, "dtype", "")).endswith("float32") for x in (queries, items))
    queries, items = (
        _features(x, f"{name}_features", numeric, is_narrow) for x, name in ((queries, "query"), (items, "database"))
    )
    if queries.shape[1] != items.shape[1]:
        raise ValueError(
            "query_features and database_features must have as many columns. "
            f"Got {queries.shape[1]} and {items.shape[1]}."
        )
    if numeric:
        is_sparse = sparse.issparse(queries) or sparse.issparse(items)
        return (_sparse_products if is_sparse else _products)(distance, queries, items)
    if built_in:
        return Distances(_hamming(queries, items), queries.shape[0], items.shape[0])
    of, between = _pairwise(distance, queries, items, dict(params)), None
    if callable(distance):
        between = _between(distance, items[:COMPARED_ITEMS], params)
    return Distances(of, queries.shape[0], items.shape[0], between_items=between)


def queries_among_items(queries: Any, items: Any) -> tuple[int, int]:
    """How many of some queries are items, and how many queries were looked for; none, if features repeat by nature."""
    # Rows with the same number are compared, and others if features have fractions, which do not agree by chance.
    queries, items = as_numpy(queries), as_numpy(items)
    if sparse.issparse(queries) or sparse.issparse(items):
        queries, items = (sparse.csr_array(x[:LOOKED_FOR]).toarray() for x in (queries, items))
    queries, items = np.asarray(queries[:LOOKED_FOR]), np.asarray(items)
    if len({row.tobytes() for row in queries}) < len(queries):
        return 0, len(queries)
    n = min(len(queries), len(items))
    same = int(np.count_nonzero((queries[:n] == items[:n]).all(axis=1)))
    if same or queries.dtype.kind != "f" or not (queries % 1 > 0).any(axis=1).all():
        return same, len(queries)
    # The first feature leaves few items.
    near = np.flatnonzero(np.isin(items[:, 0], queries[:, 0]))[: LOOKED_FOR**2]
    known = {row.tobytes() for row in items[near].astype(queries.dtype)}
    return sum(row.tobytes() in known for row in queries), len(queries)


def _between(distance: Any, items: Any, params: Mapping[str, Any]) -> Array | None:
    """Distances of items from each other; None if the function fails."""
    try:
        return np.asarray(pairwise_distances(items, items.copy(), metric=distance, **params), dtype=np.float64)
    # A function of the user may fail in any way, and where it is needed the error is raised.
    except Exception:
        return None


def _features(features: Any, name: str, numeric: bool, is_narrow: bool) -> Any:
    refuse_masked(features, name)
    n_rows_of(features, name)
    try:
        matrix = as_numpy(features)
        dtype = (np.float32 if is_narrow and not sparse.issparse(matrix) else np.float64) if numeric else None
        with own_filters():
            return with_one_entry_each(check_array(matrix, accept_sparse="csr", dtype=dtype, input_name=name))
    except (TypeError, ValueError) as error:
        got = (
            f"{type(features).__name__} of shape {np.shape(features)}" if hasattr(features, "shape") else echo(features)
        )
        raise type(error)(
            f"{name} must be a matrix of finite numbers, a row for each. {one_line(str(error), 300)} Got {got}."
        ) from None


def with_one_entry_each(matrix: Any) -> Any:
    """The same matrix; entries of a sparse one that repeat are added up, in a copy."""
    if not sparse.issparse(matrix) or matrix.has_canonical_format:
        return matrix
    matrix = matrix.copy()
    matrix.sum_duplicates()
    return matrix


def _pairwise(distance: Any, queries: Any, items: Any, params: dict[str, Any]) -> Callable[[slice], NDArray[Any]]:
    try:
        # Refuse an unknown name before any chunk.
        pairwise_distances(queries[:1], items[:1], metric=distance, **params)
    except (ValueError, TypeError):
        if callable(distance):
            raise
        raise ValueError(f"{DISTANCE_RULE} Got {echo(distance)}.") from None

    def of(rows: slice) -> Array:
        out = np.asarray(pairwise_distances(queries[rows], items, metric=distance, **params), dtype=np.float64)
        wrong = ~np.isfinite(out).all(axis=1)
        if wrong.any():
            at = rows.start + np.argmax(wrong)
            raise ValueError(f"Distances must be finite. Got one that is not, to query {at}.")
        return out

    return of


def _sparse_products(distance: str, queries: Any, items: Any) -> Distances:
    """Cosine and inner product, negative; or squared distances less the square of the query: ``x x - 2 q x``."""
    is_square = distance == "euclidean"
    for x in (queries, items):
        _check_size(distance, x)
    # A dense one may be in float32.
    queries, items = queries.astype(np.float64), items.astype(np.float64)
    if distance == "cosine":
        with own_filters():
            queries, items = normalize(queries), normalize(items)
    queries = queries * (-2.0 if is_square else -1.0)
    square = row_norms(items, squared=True) if is_square else None

    def of(rows: slice) -> Array:
        out: Array = safe_sparse_dot(queries[rows], items.T, dense_output=True)
        return out if square is None else np.add(out, square, out=out)

    return Distances(of, queries.shape[0], items.shape[0])


def _products(distance: str, queries: NDArray[Any], items: NDArray[Any]) -> Distances:
    """The same of dense features. No copy of all items is made, unless whole lists are needed."""
    is_square, is_cosine = distance == "euclidean", distance == "cosine"
    squares, sums = zip(*(_measures(distance, x) for x in (queries, items)), strict=True)
    # Features are centered first for distances, which loses less to rounding; whole numbers stay whole, and their ties
    # exact.
    center = np.rint(sums[1] / len(items)) if is_square else np.zeros(1)
    if center.any():
        squares = tuple(_measures(distance, x, center)[0] for x in (queries, items))
    lengths = [np.sqrt(square) for square in squares]
    for length in lengths:
        length[length == 0] = 1.0 if is_cosine else 0.0
    factor, square = -2.0 if is_square else -1.0, squares[1] if is_square else None

    def compared(x: NDArray[Any], length: Array, rows: slice | Index) -> Array:
        """Rows in float64, centered or of length one."""
        part = x[rows].astype(np.float64, copy=False)
        part = part - center if center.any() else part
        return part / length[rows, None] if is_cosine else part

    all_items = cache(lambda: compared(items, lengths[1], slice(None)))
    lock = Lock()

    def of(rows: slice) -> Array:
        with lock:
            right = all_items().T
        out: Array = (compared(queries, lengths[0], rows) * factor) @ right
        return out if square is None else np.add(out, square, out=out)

    def of_pairs(query: Index, item: Index) -> Array:
        out = np.empty(len(query))
        for block in cut_rows(len(query), COMPARED_PAIRS):
            pairs = slice(*block)
            of_queries = compared(queries, lengths[0], query[pairs]) * factor
            np.einsum("ij,ij->i", of_queries, compared(items, lengths[1], item[pairs]), out=out[pairs])
        return out if square is None else out + square[item]

    most = LONG_COSINE if is_cosine else LONG_NARROW
    is_narrow = items.dtype == np.float32 and max(length.max() for length in lengths) <= most
    dtype = np.float32 if is_narrow else np.float64
    # Cosines are divided by the lengths of items afterwards.
    of_items = (1.0 / lengths[1] if is_cosine else squares[1]).astype(dtype)

    def rough(rows: slice, part: slice) -> NDArray[Any]:
        of_part = (items[part] - center if center.any() else items[part]).astype(dtype, copy=False)
        of_rows: Any = (compared(queries, lengths[0], rows) * factor).astype(dtype)
        out: NDArray[Any] = of_rows @ of_part.T
        if is_cosine or is_square:
            (np.multiply if is_cosine else np.add)(out, of_items[part], out=out)
        return out

    long, far = (np.ones(len(queries)), 1.0) if is_cosine else (lengths[0] * -factor, lengths[1].max())
    slack, rough_slack = (_slack(long, far, items.shape[1], is_square, kind) for kind in (np.float64, dtype))
    return Distances(of, len(queries), len(items), of_pairs, slack, rough=rough, rough_slack=rough_slack)


def _measures(distance: str, x: NDArray[Any], center: Any = None) -> tuple[Array, Array]:
    """Squares of lengths of vectors less a center, and the sum of all vectors, in float64 without a copy of all."""
    n, k = x.shape
    blocks = cut_rows(n, CACHED_NUMBERS // k)
    part, square = np.zeros((blocks[0][1] + 1, k)), np.empty(n)
    with np.errstate(over="ignore"):
        for first, last in blocks:
            block = part[: last - first + 1]
            block[1:] = x[first:last]
            block[1:] -= 0.0 if center is None else center
            square[first:last] = row_norms(block[1:], squared=True)
            # Rows are added to the sum one after another.
            part[0] = block.sum(axis=0)
    if center is None:
        # Only lengths near the ends of the range need a look at each feature.
        low, high = (SHORT_COSINE if distance == "cosine" else SMALL_FEATURES) ** 2 * k, LARGE_FEATURES**2
        sizes = square if distance == "cosine" else square.max(keepdims=True)
        doubtful = np.flatnonzero(~((sizes >= low) & (sizes <= high)))
        if len(doubtful):
            _check_size(distance, x[doubtful] if distance == "cosine" else x)
    return square, part[0]


def _slack(length: Array, longest: float, n: int, is_square: bool, dtype: Any) -> Array:
    """How far sums of the same n products may be apart, summed up in any order, for queries of some lengths."""
    # A product of n terms is off by less than (n + 3) / 2 eps times the lengths of both vectors. The rest is for
    # squares, lengths of items, and for rounding features to `dtype`.
    shortest = SHORT_NARROW if dtype == np.float32 else SHORT_VECTOR
    length, longest = np.maximum(length, shortest), max(longest, shortest)
    with np.errstate(over="ignore"):
        size = length * longest + (longest**2 if is_square else 0.0)
        return (n + 16) * np.finfo(dtype).eps * size


def _check_size(distance: str, x: Any) -> None:
    """Refuse features whose squares would be lost, and for cosines vectors that `normalize` would take for zero."""
    is_cosine, axis = distance == "cosine", 1 if distance == "cosine" else None
    ends = x.max(axis=axis), -x.min(axis=axis)
    size = np.maximum(*(np.ravel(end.toarray() if sparse.issparse(end) else end) for end in ends))
    least = SHORT_COSINE if is_cosine else SMALL_FEATURES
    wrong = size[(size > 0) & (size < least) | (size > LARGE_FEATURES)]
    if len(wrong):
        raise ValueError(
            f"For distance={distance!r} the largest feature of {'each vector' if is_cosine else 'all vectors'} must be "
            f"0 or from {least:g} to {LARGE_FEATURES:g} in absolute value: scale the features. Got {wrong[0]:g}."
        )


def _hamming(queries: Any, items: Any) -> Callable[[slice], NDArray[Any]]:
    """Distances of codes, which are kept as 64-bit words."""
    codes = [queries, items]
    if any(sparse.issparse(c) for c in codes):
        raise TypeError(HAMMING_RULE + "Got a sparse matrix.")
    alphabets = _alphabets(queries) & _alphabets(items)
    if not alphabets and not all(c.dtype == np.uint8 for c in codes):
        shown = ", ".join(f"{v:g}" for v in distinct_values(np.append(*(c[:CHECKED_CODES] for c in codes)))[:5])
        raise ValueError(HAMMING_RULE + f"Got dtypes {queries.dtype} and {items.dtype} with values {shown}, ...")
    of_query, of_item = (np.concatenate([_pack(c[rows], bool(alphabets)) for rows in _parts(c)]) for c in codes)
    # Bits are counted word by word, over all items.
    of_item = of_item.T.copy()
    dtype = np.min_scalar_type(64 * len(of_item))

    def of(rows: slice) -> NDArray[Any]:
        out = np.zeros((rows.stop - rows.start, of_item.shape[1]), dtype=dtype)
        for query, distance in zip(of_query[rows], out, strict=True):
            for word, words in zip(query, of_item, strict=True):
                distance += np.bitwise_count(word ^ words)
        return out

    return of


def _parts(codes: NDArray[Any]) -> list[slice]:
    return [slice(*block) for block in cut_rows(len(codes), CHECKED_CODES)]


def _alphabets(codes: NDArray[Any]) -> set[int]:
    """Values beside 1 that codes consist of: -1, 0, or both if all are 1."""
    if codes.dtype == bool:
        return {0}
    alphabets = {-1, 0}
    for rows in _parts(codes):
        if not alphabets:
            break
        part = codes[rows]
        alphabets = {low for low in alphabets if ((part == 1) | (part == low)).all()}
    return alphabets


def _pack(codes: NDArray[Any], unpacked: bool) -> NDArray[np.uint64]:
    packed = np.packbits(codes > 0, axis=1) if unpacked else codes
    if packed.shape[1] % 8:
        packed = np.pad(packed, ((0, 0), (0, -packed.shape[1] % 8)))
    return np.ascontiguousarray(packed).view(np.uint64)
