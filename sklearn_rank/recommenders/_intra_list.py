"""Diversity inside the lists: how unlike each other the first k items of a user are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.preprocessing import normalize

from sklearn_rank._engine.columns import check_items_in_order
from sklearn_rank._evaluation.kept_data import with_counts
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.blocks import NUMBERS_IN_MEMORY, cut_rows
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import Array
from sklearn_rank._utils.warning import warn_caller
from sklearn_rank.io._mappings import RunLike
from sklearn_rank.recommenders._exposure import exposure
from sklearn_rank.recommenders._top_items import TopItems, top_items
from sklearn_rank.retrieval._distances import with_one_entry_each

COSINE_ROUNDING = 1e-6
"""Error of similarities."""


@named_arguments
@described_as(exposure)
def intra_list_diversity(
    run: RunLike,
    *,
    items: Any,
    k: int,
    vectors: Any = None,
    similarity: Any = None,
    exclude: Mapping[Any, Iterable[Any]] | None = None,
    duplicates: str = "raise",
) -> Evaluation:
    """Intra-list diversity of each user: one minus the mean similarity of two of the first k items.

    Parameters
    ----------
    items : array-like of shape (n_items,)
        Ids of all items, each once, in the order of `vectors` or `similarity`.
    vectors : array-like or sparse matrix of shape (n_items, n_features), default=None
        Vector of each item, such as its genres or an embedding. The similarity is their cosine; that with a zero vector
        is 0.
    similarity : array-like or sparse matrix of shape (n_items, n_items), default=None
        Similarity of two items, symmetric and from -1 to 1, in place of `vectors`. For a distance pass
        ``1 - distance``.

    Returns
    -------
    Evaluation
        The metric "ild@k" with a value for each user, for intervals, segments and `compare_systems`. It is undefined
        for a list of less than two items, which is left out of the mean. Comparisons refuse results of other `items`,
        `vectors` or `similarity`.

    Raises
    ------
    ValueError
        If the run has an item that is not one of `items`, shapes do not fit, values are not finite, or a keyword is not
        what it must be.
    TypeError
        If not exactly one of `vectors` and `similarity` is given, or the run has another form.

    Notes
    -----
    ``ILD@k = 1 - sum of similarity(i, j) over pairs i < j of the first k / (k (k - 1) / 2)``, with the length of a
    shorter list in place of k. Items of equal score across the cutoff count as the mean over their orders.

    References
    ----------
    C.-N. Ziegler, S. McNee, J. Konstan and G. Lausen, "Improving recommendation lists through topic diversification",
    WWW 2005.

    Examples
    --------
    Items a and b are alike, c is unlike both: the pairs ab, ac, bc have the distances 0, 1, 1.

    >>> from sklearn_rank.recommenders import intra_list_diversity
    >>> vectors = [[1, 0], [1, 0], [0, 1]]
    >>> lists = {"u": ["a", "b", "c"], "v": ["a", "b"]}
    >>> result = intra_list_diversity(lists, items=["a", "b", "c"], k=3, vectors=vectors)
    >>> result.per_query["ild@3"].round(4)
    array([0.6667, 0.    ])
    """
    if (vectors is None) == (similarity is None):
        got = "neither" if vectors is None else "both"
        raise TypeError(f"intra_list_diversity takes vectors=, or similarity= of two items. Got {got}.")
    top = top_items(run, items, k, "intra_list_diversity", duplicates=duplicates, exclude=exclude)
    name = "vectors" if similarity is None else "similarity"
    matrix = _matrix(vectors if similarity is None else similarity, name, len(top.items))
    check_items_in_order(top.items, **{name: vectors if similarity is None else similarity})
    if similarity is None:
        _warn_of_zeros(top, matrix)
        total = _pair_sums_of_vectors(top, normalize(matrix))
    else:
        _check_square(matrix)
        total = _pair_sums(top, matrix)
    pairs = top.length * (top.length - 1) / 2
    value = np.where(pairs > 0, 1 - total / np.maximum(pairs, 1), np.nan)
    result = Evaluation.from_values(top.users, {f"ild@{k}": value}, greater_is_better={f"ild@{k}": True})
    known = np.full(len(top.users), _fingerprint(top.items, matrix, similarity is not None))
    return with_counts(result, known_columns={f"ild@{k}": known})


def _fingerprint(items: NDArray[Any], matrix: Any, is_square: bool) -> np.uint32:
    """Fingerprint of the vectors or similarities of all items, in any order of the items."""
    order = np.argsort([repr(one) for one in items.tolist()])
    sorted_rows = sparse.csr_array(matrix)[order]
    one = sorted_rows[:, order] if is_square else sorted_rows
    one.eliminate_zeros()
    one.sort_indices()
    return np.uint32(crc32(one.data.astype(np.float32).tobytes(), crc32(one.indices.astype(np.int32).tobytes())))


def _matrix(given: Any, name: str, n_items: int) -> Any:
    """Matrix of float64 with a row for each item."""
    is_sparse = sparse.issparse(given)
    matrix = with_one_entry_each(sparse.csr_array(given, dtype=np.float64)) if is_sparse else as_floats(given, name)
    if matrix.ndim != 2 or matrix.shape[0] != n_items:
        raise ValueError(
            f"{name} must have two dimensions, a row for each of {n_items} items. Got shape {matrix.shape}."
        )
    if not np.isfinite(matrix.data if is_sparse else matrix).all():
        raise ValueError(f"{name} must be finite. Got an entry that is NaN or infinite.")
    return matrix


def _check_square(similarity: Any) -> None:
    n_rows, n_columns = similarity.shape
    if n_rows != n_columns:
        raise ValueError(f"similarity must have a row and a column for each item. Got shape {similarity.shape}.")
    own, highest = similarity.diagonal(), similarity.max(axis=1)
    highest = np.asarray(highest.toarray() if sparse.issparse(highest) else highest).ravel()
    if n_rows > 1 and (own < highest).all():
        raise ValueError(
            "similarity must be largest between an item and itself, and no entry of the diagonal is: pass 1 - distance "
            "for a distance, or fill the diagonal of a similarity with 1. "
            f"Got {own[0]:g} on the diagonal and {highest[0]:g} off it."
        )
    between = similarity - sparse.diags_array(own) if sparse.issparse(similarity) else similarity - np.diag(own)
    if abs(between).max() > 1 + COSINE_ROUNDING:
        raise ValueError(
            "similarity must be from -1 to 1 between two items: divide percentages by 100, and take cosines of inner "
            f"products. Got {between.max() if between.max() > 1 + COSINE_ROUNDING else between.min():g}."
        )
    if abs(similarity - similarity.T).max() > COSINE_ROUNDING * abs(similarity).max():
        raise ValueError("similarity must be symmetric. Got two items whose similarity depends on their order.")


def _warn_of_zeros(top: TopItems, vectors: Any) -> None:
    """Warn if most items of the lists have no vector but zeros, so that their cosine says nothing."""
    shown = np.flatnonzero(top.chance.sum(axis=0) > 0)
    is_zero = np.asarray(abs(vectors[shown]).sum(axis=1)).ravel() == 0
    if 2 * np.count_nonzero(is_zero) > len(shown) > 1:
        warn_caller(
            "Most items of the lists have a vector of zeros, whose cosine with any other is 0, so their lists count as "
            "diverse: leave these items out, or give them vectors. "
            f"Got {np.count_nonzero(is_zero)} of {len(shown)} items with zeros, the first is "
            f"{echo(top.items[shown[is_zero]][:1].tolist()[0])}."
        )


def _chances(top: TopItems) -> tuple[Array, Array]:
    """For each user the probability that one tied item, and that two of them, are among the first k."""
    n_certain, n_tied = (np.asarray(x.sum(axis=1)).ravel() for x in (top.certain, top.tied))
    places = np.where(n_tied > 0, top.length - n_certain, 0.0)
    return top.share, places * (places - 1) / np.maximum(n_tied * (n_tied - 1), 1)


def _pair_sums(top: TopItems, similarity: Any) -> Array:
    """Expected sum of the similarity over pairs of the first k items of each user."""
    own, total = similarity.diagonal(), np.empty(len(top.users))
    one, two = _chances(top)
    for first, last in cut_rows(len(top.users), NUMBERS_IN_MEMORY // similarity.shape[1]):
        certain, tied, rows = top.certain[first:last], top.tied[first:last], slice(first, last)
        to_certain, to_tied = certain @ similarity, tied @ similarity
        inside, across, among = (
            np.asarray(a.multiply(b).sum(axis=1)).ravel()
            for a, b in ((certain, to_certain), (certain, to_tied), (tied, to_tied))
        )
        inside, among = (inside - certain @ own) / 2, (among - tied @ own) / 2
        total[rows] = inside + one[rows] * across + two[rows] * among
    return total


def _pair_sums_of_vectors(top: TopItems, vectors: Any) -> Array:
    """The same, of the cosine of vectors of length 1, by the sums of the vectors of each list."""
    length, total = np.asarray((vectors * vectors).sum(axis=1)).ravel(), np.empty(len(top.users))
    one, two = _chances(top)
    for first, last in cut_rows(len(top.users), NUMBERS_IN_MEMORY // vectors.shape[1]):
        certain, tied, rows = top.certain[first:last], top.tied[first:last], slice(first, last)
        of_certain, of_tied = (x.toarray() if sparse.issparse(x) else x for x in (certain @ vectors, tied @ vectors))
        inside = ((of_certain**2).sum(axis=1) - certain @ length) / 2
        among = ((of_tied**2).sum(axis=1) - tied @ length) / 2
        total[rows] = inside + one[rows] * (of_certain * of_tied).sum(axis=1) + two[rows] * among
    return total
