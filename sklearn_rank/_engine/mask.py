"""The mask of padded input: True where there is a document. What is under it is never read."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array, Index

Mask = NDArray[np.bool_]


def as_mask(mask: ArrayLike, shape: tuple[int, ...]) -> Mask:
    """Check the mask, and return it as an array.

    Raises
    ------
    TypeError
        If it holds anything but booleans.
    ValueError
        If it has another shape than the labels.
    """
    array = np.asarray(as_numpy(mask))
    if array.dtype == object and all(isinstance(entry, (bool, np.bool_)) for entry in array.ravel().tolist()):
        array = array.astype(bool)
    if array.dtype != bool:
        raise TypeError(
            "mask must hold booleans, True where there is a document: of an attention mask of ones and zeros take "
            f"mask == 1. Got {type(mask).__name__} of dtype {array.dtype}."
        )
    if array.shape != shape:
        raise ValueError(f"mask must have the shape of y_true, {shape}. Got shape {array.shape}.")
    return array


def lengths(mask: Mask, label: Array) -> Index:
    """Number of documents of each row of a matrix.

    Raises
    ------
    ValueError
        If a row has none, or the mask seems to be the wrong way round.
    """
    n_documents = np.count_nonzero(mask, axis=1)
    if n_documents[n_documents.argmin()] == 0:
        raise ValueError(
            "Every row of mask must have a document, True: leave rows without any out of all arrays. If True marks the "
            "padding, as in key_padding_mask of torch, pass ~mask. "
            f"Got {np.count_nonzero(n_documents == 0)} of {len(mask)} rows without, the first is row "
            f"{int(n_documents.argmin())}."
        )
    if not mask[:, 0].any():
        _refuse_inverted(mask, label)
    return n_documents


def _refuse_inverted(mask: Mask, label: Array) -> None:
    """Refuse a mask of which every row begins with padding, if all labels are one number there and only there."""
    inside, outside = label[mask], label[~mask]
    if (inside == inside[0]).all() and (outside != outside[0]).any():
        raise ValueError(
            "mask must be True where there is a document: if True marks the padding, as in key_padding_mask of torch, "
            f"pass ~mask. Got a mask that is False in the first column, and label {inside[0]:g} wherever it is True."
        )


def kept_rows(values: NDArray[Any], mask: Mask, name: str) -> NDArray[Any]:
    """Entries of rows that are documents.

    Raises
    ------
    ValueError
        If there is not one for each row.
    """
    if values.shape != mask.shape:
        raise ValueError(f"{name} must have one entry per row, shape {mask.shape}. Got shape {values.shape} instead.")
    return values[mask]


def group_kept_rows(qid: Any, mask: Mask, n_jobs: int | None = None) -> tuple[NDArray[Any], Index, Index | None]:
    """As `group_rows`, of the rows that are documents.

    Raises
    ------
    ValueError
        If a query has none.
    """
    ids, indptr, order = group_rows(qid, len(mask), n_jobs)
    number = np.repeat(np.arange(len(ids)), np.diff(indptr))
    if order is not None:
        number[order] = number.copy()
    number = number[mask]
    without = np.bincount(number, minlength=len(ids)) == 0
    if without.any():
        raise ValueError(
            "Every query must have a row where mask is True: take y_true[mask], y_score[mask] and qid[mask] to leave "
            f"queries out. Got {np.count_nonzero(without)} of {len(ids)} queries without, the first is "
            f"{echo(ids[without][:1].tolist()[0])}."
        )
    kept, indptr, order = group_rows(number, len(number), n_jobs)
    return ids[kept], indptr, order
