"""Ids with equal hashes are compared by their text."""

import numpy as np

from sklearn_rank._engine.grouping import Distinct, Grouping, Keys
from sklearn_rank.io._entries import match


def keys_of(*pieces):
    """Equal keys, so that only the text distinguishes ids."""
    text = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    return Keys(np.full(len(pieces), 7), text, np.cumsum([len(piece) for piece in pieces]))


def test_ids_of_equal_hash_are_compared():
    """Keys of shorter ids contain the whole id, so only ids of eight bytes or more are compared."""
    number, ends = np.empty(7, dtype=np.uint32), (b"ab", b"ac", b"abc", b"", b"ab", b"a", b"ac")
    Distinct().number(keys_of(*[b"a piece " + end for end in ends]), 0, number)
    assert number.tolist() == [0, 1, 2, 3, 0, 4, 1]


def test_documents_of_equal_hash_are_compared():
    ours, others = keys_of(b"abc", b"ab", b"xyz"), keys_of(b"ab", b"abcd", b"xyy", b"abc", b"")
    found, twice = match(ours, Grouping.by_sizes([3]), others, Grouping.by_sizes([5]))
    assert found.tolist() == [1, -1, -1, 0, -1]
    assert twice == (-1, -1)
