"""Nearness of items to queries: features in, tiles of nearness out, higher is nearer.

Knows neither labels nor metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.preprocessing import normalize
from sklearn.utils import check_array
from sklearn.utils.extmath import row_norms, safe_sparse_dot

from sklearn_rank._engine.kernels import bits as bits_kernels
from sklearn_rank._engine.kernels import nearness as nearness_kernels
from sklearn_rank._utils.containers import as_numpy, n_rows_of
from sklearn_rank._utils.echo import echo, one_line
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import refuse_masked
from sklearn_rank._utils.typing import Index
from sklearn_rank._utils.warning import own_filters

Write = Callable[[slice, slice, NDArray[Any]], Any]
Codes = tuple[NDArray[np.uint64], NDArray[np.uint64]]
Norms = tuple[NDArray[Any], NDArray[Any]]

HAMMING_RULE = (
    "Codes for distance='hamming' must all be of -1 and 1, of 0 and 1, or packed into uint8 as numpy.packbits does. "
)

SMALL = 1e-100
"""Length of all features below which products of them would be lost."""

LARGE = 1e150
"""Length of all features up to which products and distances of them are finite."""

ROWS = 2**16
"""Rows of codes that are checked at a time."""

PAIRS = 2**12
"""Pairs of a query and an item that are looked at more closely at a time."""


@dataclass(frozen=True)
class RoughNearness:
    """Nearness in single precision, which takes half the time, to tell which items are worth a closer look.

    ``write(queries, items, out)`` fills a tile. What it writes is at most `slack` of the query from the nearness.
    ``of_pairs(query, item)`` is the nearness itself, of some pairs.
    """

    write: Write
    slack: NDArray[np.float64]
    of_pairs: Callable[[Index, Index], NDArray[np.float64]]


@dataclass(frozen=True)
class Similarity:
    """Nearness of items to queries: ``write(queries, items, out)`` fills a tile, shape (n_queries, n_items).

    `codes` are those of queries and of items, whose nearness is the number of equal bits, as 64-bit words, shape (n,
    n_words); None if nearness is a score. `bound` is for `is_finite`, `make_rough` for `rough`.
    """

    write: Write
    n_queries: int
    n_items: int
    codes: Codes | None = None
    bound: Callable[[], bool] = lambda: False
    make_rough: Callable[[], RoughNearness | None] = lambda: None

    @cached_property
    def is_finite(self) -> bool:
        """Whether each nearness is known to be finite before it is made: that takes a look at all features."""
        return self.bound()

    @cached_property
    def rough(self) -> RoughNearness | None:
        """The same in single precision, if it can be had: it keeps the features once more."""
        return self.make_rough()

    @property
    def n_bits(self) -> int | None:
        """Length of codes, padded to whole words."""
        return None if self.codes is None else 64 * self.codes[1].shape[1]

    @property
    def dtype(self) -> type:
        """Dtype of tiles."""
        if self.n_bits is None:
            return np.float64
        return np.uint8 if self.n_bits < 2**8 else np.uint16

    def score(self, near: NDArray[Any]) -> NDArray[np.float64]:
        """Scores from nearness: the negative distance for codes."""
        return near if self.n_bits is None else near - float(self.n_bits)


def make_similarity(distance: Any, queries: Any, items: Any, params: Mapping[str, Any]) -> Similarity:
    """Check features and make their similarity.

    Raises
    ------
    ValueError
        If shapes do not fit, values are not finite, codes are outside their alphabet or the distance is not known.
    """
    built_in = isinstance(distance, str) and distance in ("hamming", "cosine", "inner_product", "euclidean")
    if built_in and params:
        raise ValueError(
            f"distance={echo(distance)} has no parameters, so distance_params must be None. Got {echo(dict(params))}."
        )
    if isinstance(distance, str) and distance == "precomputed":
        raise ValueError(
            "Distances are made here from features, so distance must not be 'precomputed'; for given distances use "
            "sklearn_rank.evaluate(relevance, -distances, metrics=...), or score_neighbors for nearest neighbours."
        )
    numeric = built_in and distance != "hamming"
    queries, items = (
        _features(x, f"{name}_features", numeric) for x, name in ((queries, "query"), (items, "database"))
    )
    if queries.shape[1] != items.shape[1]:
        raise ValueError(
            "query_features and database_features must have as many columns. "
            f"Got {queries.shape[1]} and {items.shape[1]}."
        )
    n_queries, n_items = queries.shape[0], items.shape[0]
    if built_in and distance == "hamming":
        words, codes = _words(queries, items)

        def write(rows: slice, columns: slice, out: NDArray[Any]) -> None:
            bits_kernels.equal_bits(words[rows], codes, columns.start, out)

        return Similarity(write, n_queries, n_items, (words, codes))
    if numeric:
        return _products(distance, queries, items)
    return Similarity(_pairwise(distance, queries, items, dict(params)), n_queries, n_items)


def _features(features: Any, name: str, numeric: bool) -> Any:
    refuse_masked(features, name)
    n_rows_of(features, name)
    dtype = np.float64 if numeric else None
    try:
        matrix = as_numpy(features)
        with own_filters():
            return check_array(matrix, accept_sparse="csr", dtype=dtype, input_name=name)
    except (TypeError, ValueError) as error:
        got = (
            f"{type(features).__name__} of shape {np.shape(features)}" if hasattr(features, "shape") else echo(features)
        )
        raise type(error)(
            f"{name} must be a matrix of finite numbers, a row for each. {one_line(str(error), 300)} Got {got}."
        ) from None


DISTANCE_RULE = (
    "distance must be 'cosine', 'inner_product', 'euclidean', 'hamming', a metric of "
    "sklearn.metrics.pairwise_distances, or a function of two vectors."
)


def _pairwise(distance: Any, queries: Any, items: Any, params: dict[str, Any]) -> Write:
    try:
        pairwise_distances(queries[:1], items[:1], metric=distance, **params)  # refuses unknown names
    except (ValueError, TypeError):
        if callable(distance):
            raise
        raise ValueError(f"{DISTANCE_RULE} Got {echo(distance)}.") from None
    return lambda rows, columns, out: np.negative(
        pairwise_distances(queries[rows], items[columns], metric=distance, **params), out=out
    )


def _products(distance: str, queries: Any, items: Any) -> Similarity:
    """Cosine and inner product, or squared distances, negative: ``2 q x - x x - q q``.

    Features are centred first for distances, which loses less to rounding; whole numbers stay whole, and their ties
    exact.
    """
    is_sparse = sparse.issparse(queries) or sparse.issparse(items)
    if distance == "cosine":
        queries, items = _unit(queries), _unit(items)
    else:
        scale = [_scale(queries, items)] * 2 if distance == "euclidean" else [_scale(queries), _scale(items)]
        queries, items = map(_divided, (queries, items), scale)
    if distance == "euclidean" and not is_sparse:
        centre = np.rint(items.mean(axis=0))
        if centre.any():  # a copy of the items takes as long as a quarter of their products with a hundred queries
            queries, items = queries - centre, items - centre
    norms = _norms(queries, items) if distance == "euclidean" else None

    def bound() -> bool:
        return distance == "cosine" or _length(queries) + _length(items) < LARGE

    def make_rough() -> RoughNearness | None:
        return None if is_sparse else _rough(queries, items, norms)

    write, n_queries, n_items = _tiles(queries, items, norms), queries.shape[0], items.shape[0]
    return Similarity(write, n_queries, n_items, bound=bound, make_rough=make_rough)


def _norms(queries: Any, items: Any) -> Norms:
    """Squared lengths of items and of queries."""
    return row_norms(items, squared=True), row_norms(queries, squared=True)


def _tiles(queries: Any, items: Any, norms: Norms | None) -> Write:
    """Products, and with the norms of items and queries distances, of one precision."""

    def write(rows: slice, columns: slice, out: NDArray[Any]) -> None:
        if sparse.issparse(queries) or sparse.issparse(items):
            out[:] = safe_sparse_dot(queries[rows], items[columns].T, dense_output=True)
        else:
            np.matmul(queries[rows], items[columns].T, out=out)
        if norms is not None:
            nearness_kernels.from_products(out, norms[0][columns], norms[1][rows])

    return write


def _rough(queries: NDArray[Any], items: NDArray[Any], norms: Norms | None) -> RoughNearness | None:
    """The same in single precision, if that holds the squares of all numbers.

    A product of n terms is off by less than (n + 3) / 2 eps times the lengths of both vectors, in whatever order it is
    summed up; the rest is for norms and their differences, and as much again. Numbers too small for the precision do
    not count beside what vectors of length 1e-15 are off by.
    """
    of_item, of_query = norms or _norms(queries, items)
    length, longest = np.maximum(np.sqrt(of_query), 1e-15), max(np.sqrt(of_item.max()), 1e-15)
    if not max(longest, length.max()) < 1e15:
        return None
    size = length * longest if norms is None else (length + longest) ** 2
    slack = (items.shape[1] + 16) * np.finfo(np.float32).eps * size

    def of_pairs(query: Index, item: Index) -> NDArray[np.float64]:
        out = np.empty(len(query))
        for first in range(0, len(query), PAIRS):
            pairs = slice(first, first + PAIRS)
            np.einsum("ij,ij->i", queries[query[pairs]], items[item[pairs]], out=out[pairs])
        return out if norms is None else (2.0 * out - of_item[item]) - of_query[query]

    narrow_norms = None if norms is None else (of_item.astype(np.float32), of_query.astype(np.float32))
    write = _tiles(queries.astype(np.float32), items.astype(np.float32), narrow_norms)
    return RoughNearness(write, slack, of_pairs)


def _unit(x: Any) -> Any:
    """Vectors of length 1, zero vectors as they are; those too short or long to be squared are divided first."""
    length, scale = row_norms(x), np.ones(x.shape[0])
    extreme = np.flatnonzero(~((length > 1e-14) & (length < np.inf)))  # `normalize` takes the shortest for zero
    if len(extreme):
        high, low = ((-x[extreme]).max(axis=1), x[extreme].max(axis=1))
        size = np.maximum(*(np.ravel(side.toarray() if sparse.issparse(side) else side) for side in (high, low)))
        scale[extreme] = _power_of_two(np.where(size > 0, size, 1.0))
    if sparse.issparse(x):
        return normalize(_divided(x, scale))
    if len(extreme):
        x = _divided(x, scale)
        length = row_norms(x)
    return x / np.where(length > 0, length, 1.0)[:, None]  # `normalize` makes a copy, and lengths once more, first


def _scale(*parts: Any) -> Any:
    """What to divide features by, which changes no ranking: 1, unless all are so small that products would be lost."""
    if any(_length(x) > SMALL for x in parts):
        return 1.0
    size = max(max(x.max(), -x.min()) for x in parts)
    return _power_of_two(size) if size > 0 else 1.0


def _length(x: Any) -> float:
    """Length of all rows together, or infinity."""
    return float(np.linalg.norm(x.data if sparse.issparse(x) else x))


def _power_of_two(size: Any) -> Any:
    """Power of two below numbers: what is divided by it keeps its digits."""
    return np.exp2(np.floor(np.log2(size)))


def _divided(x: Any, scale: Any) -> Any:
    """Rows divided by a number each, or by one."""
    if np.all(scale == 1):
        return x
    scale = np.broadcast_to(scale, x.shape[0])
    if not sparse.issparse(x):
        return x / scale[:, None]
    x = x.copy()
    x.data /= np.repeat(scale, np.diff(x.indptr))
    return x


def _words(queries: Any, items: Any) -> list[NDArray[np.uint64]]:
    """Codes as 64-bit words, shape (n, n_words)."""
    codes = [queries, items]
    if any(sparse.issparse(c) for c in codes):
        raise TypeError(HAMMING_RULE + "Got a sparse matrix.")
    alphabets = _alphabets(queries) & _alphabets(items)
    if not alphabets and not all(c.dtype == np.uint8 for c in codes):
        shown = ", ".join(f"{v:g}" for v in np.unique(np.append(*(c[:ROWS] for c in codes)))[:5])
        raise ValueError(HAMMING_RULE + f"Got dtypes {queries.dtype} and {items.dtype} with values {shown}, ...")
    return [np.concatenate([_pack(c[rows], bool(alphabets)) for rows in _parts(c)]) for c in codes]


def _parts(codes: NDArray[Any]) -> list[slice]:
    return [slice(a, a + ROWS) for a in range(0, len(codes), ROWS)]


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
