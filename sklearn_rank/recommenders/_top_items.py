"""The first k items of each user in a run, and how likely each of them is to be there.

Equal scores stand in any order, so items that are tied across the cutoff are among the first k with a probability.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_rank._utils.constraints import COUNT, one_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.io._entries import Entries
from sklearn_rank.io._forms import run_entries
from sklearn_rank.io._mappings import RunLike
from sklearn_rank.recommenders._interactions import IdIndex, check_item_ids

IN_A_LIST_AGAIN = one_of("raise", "first", doc="")
"""What is done with an item that is in a list twice: it is shown once."""


@dataclass(frozen=True)
class TopItems:
    """The first k items of each user.

    Attributes
    ----------
    items : ndarray of shape (n_items,)
        Ids of all items.
    users : ndarray of shape (n_users,)
        Ids of the users.
    certain, tied : csr_array of shape (n_users, n_items)
        1 for each item that is among the first k in every order of equal scores; 1 for each that is in some orders.
    share : ndarray of shape (n_users,)
        Probability of a tied item to be among the first k.
    length : ndarray of shape (n_users,)
        Number of items among the first k: less than k where a list is shorter.
    """

    items: NDArray[Any]
    users: NDArray[Any]
    certain: Any
    tied: Any
    share: Array
    length: Array

    @property
    def chance(self) -> Any:
        """Probability of each item to be among the first k of each user, shape (n_users, n_items), sparse."""
        return sparse.csr_array(self.certain + sparse.diags_array(self.share) @ self.tied)


def top_items(run: RunLike, items: Any, k: Any, caller: str, *, duplicates: str, exclude: Any) -> TopItems:
    """The first k items of each user; errors name the caller."""
    COUNT("k", k, caller)
    IN_A_LIST_AGAIN("duplicates", duplicates, caller)
    ids = check_item_ids(items)
    if sparse.issparse(run) or getattr(run, "ndim", 0) == 2 and not hasattr(run, "columns"):
        return _of_matrix(run, ids, k, caller, exclude)
    entries = run_entries(run, duplicates=duplicates, exclude=exclude)
    if not len(entries.qid.names):
        raise ValueError(f"{caller} needs a run with a user. Got an empty one.")
    item = _places(entries, ids, caller)
    n_users, retrieved = len(entries.qid.names), entries.value > -np.inf
    user, item, score = entries.qid.code[retrieved].astype(np.int64), item[retrieved], entries.value[retrieved]
    parts = first_items(user, item, score, n_users, k, len(ids))
    return TopItems(ids, entries.qid.names, *parts)


def _of_matrix(run: Any, ids: NDArray[Any], k: int, caller: str, exclude: Any) -> TopItems:
    """The first k items of a matrix, whose rows are users, and whose columns are the items in their order."""
    if exclude is not None or run.shape[1] != len(ids):
        got = "exclude=" if exclude is not None else f"shape {run.shape} for {len(ids)} items"
        raise ValueError(f"A matrix as run of {caller} has a column for each item, and no exclude=. Got {got}.")
    if sparse.issparse(run):
        found = sparse.coo_array(run)
        user, item, score = found.row, found.col, as_floats(found.data, "run")
    else:
        scores = as_floats(run, "run")
        user, item = np.nonzero(scores != -np.inf)
        score = scores[user, item]
    if not np.isfinite(score).all():
        raise ValueError(f"Scores of the run of {caller} must be finite, or -inf where an item is not listed. Got nan.")
    return TopItems(ids, np.arange(run.shape[0]), *first_items(user, item, score, run.shape[0], k, len(ids)))


def first_items(
    user: Index, item: Index, score: Array, n_users: int, k: int, n_items: int
) -> tuple[Any, Any, Array, Array]:
    """Matrices of certain and of tied items, share of the latter and length of the list of each user: `TopItems`."""
    by_score = np.lexsort((-score, user))
    user, item, score = user[by_score], item[by_score], score[by_score]
    size = np.bincount(user, minlength=n_users)
    starts = np.cumsum(size) - size
    length = np.minimum(size, k)
    listed = np.flatnonzero(size)
    last = np.full(n_users, np.inf)
    last[listed] = score[starts[listed] + length[listed] - 1]
    above, equal = score > last[user], score == last[user]
    n_above, n_equal = (np.bincount(user[rows], minlength=n_users) for rows in (above, equal))
    is_open = n_above + n_equal > length
    certain, tied = above | (equal & ~is_open[user]), equal & is_open[user]
    share = np.where(is_open, (length - n_above) / np.maximum(n_equal, 1), 0.0)
    shape = n_users, n_items
    matrices = [sparse.csr_array((np.ones(rows.sum()), (user[rows], item[rows])), shape) for rows in (certain, tied)]
    return matrices[0], matrices[1], share, length.astype(np.float64)


def _places(entries: Entries, items: NDArray[Any], caller: str) -> Index:
    """Place of each row's item among all items."""
    listed = np.asarray(entries.doc_id)
    places = IdIndex(items).places(listed)
    if (places < 0).any():
        row = int(np.argmin(places))
        raise ValueError(
            f"items of {caller} must hold every item of the run, and ids of one type. Got item "
            f"{echo(listed[row : row + 1].tolist()[0])} of user "
            f"{echo(entries.qid.names[entries.qid.code[row : row + 1]].tolist()[0])}, and items such as "
            f"{echo(items[:1].tolist()[0])}."
        )
    return places
