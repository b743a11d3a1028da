"""Python strings in object arrays as ids: a kernel copies plain strings; mixed columns take the general path."""

import ctypes
import gc
import re
import sys
from pathlib import Path

import numpy as np
import pytest
from grouped_by_dict import check
from registry import together

from sklearn_rank._engine import grouping as _grouping
from sklearn_rank._engine.grouping import Distinct, Grouping, Keys, group_rows
from sklearn_rank._engine.kernels.grouping import copy_strings
from sklearn_rank.io._entries import match

RNG = np.random.default_rng(0)


class Word(str):
    """A subclass of str."""

    __slots__ = ()


STRINGS = {
    "plain": ["a", "b", "c", "q17", "query 17", "query 18", "q" * 63],
    "accents": ["a", "b", "ä", "ä" * 9, "日本", "\x7f", "\x80"],
    "long": ["q" * 64, "q" * 65, "q" * 64 + "r", "a", "q" * 500],
    "NUL": ["a", "a\0", "\0", "c", "a\0b", "b"],
    "surrogates": ["a", "\ud800", "\ud801", "?", "\ufffd"],
    "own type": ["a", Word("a"), Word("b"), "b", "c"],
    "other types": ["a", 1, "2", b"1", ("a",), "b"],
}


@pytest.mark.parametrize("kind", STRINGS)
def test_special_strings_next_to_plain_ones(kind, monkeypatch):
    """Rows are read in chunks, in which special strings are at any position."""
    monkeypatch.setattr(_grouping, "CACHED_ROWS", 4)
    monkeypatch.setattr(_grouping, "MOST_TEXT", 64)
    monkeypatch.setattr(_grouping, "AGAIN", 2)  # with and without repeated objects
    for plain in (0.0, 0.9):
        for _ in range(40):
            picked = [*RNG.choice(len(STRINGS[kind]), 30)]
            ids = np.empty(30, dtype=object)
            ids[:] = [STRINGS["plain"][i % 7] if RNG.random() < plain else STRINGS[kind][i] for i in picked]
            check(ids, ids.tolist())
            check(ids[::-2], ids[::-2].tolist())


def test_strings_are_not_changed():
    """Non-ASCII strings cache no UTF-8 copy, except for one row of a chunk."""
    ids = np.array([f"ä{i % 9}" for i in range(5000)], dtype=object)
    before = [sys.getsizeof(x) for x in ids]
    group_rows(ids, len(ids))
    assert sum(sys.getsizeof(x) > size for x, size in zip(ids, before, strict=True)) <= 2


@pytest.mark.parametrize("n_strings", [0, 1, 2])
def test_an_object_array_with_empty_entries(n_strings):
    """Other libraries may leave null entries in object arrays, which NumPy reads as None."""
    ids = np.full(3, "a", dtype=object)
    ids[n_strings:] = None
    ctypes.memset(ids[n_strings:].ctypes.data, 0, 8 * (3 - n_strings))
    assert not copy_strings(ids, np.empty(9, dtype=np.uint8), np.empty(3, dtype=np.int64))
    with pytest.raises(ValueError, match="must not contain missing values"):
        group_rows(ids, 3)


def test_strings_stay_alive_while_they_are_read(monkeypatch):
    """Without the GIL another thread may overwrite the array and so free its strings."""
    expected, ids = [f"query {i % 7}" for i in range(50)], np.empty(50, dtype=object)
    ids[:] = [f"query {i % 7}" for i in range(50)]

    def copy_after_a_write(objects, *outs):
        assert not np.shares_memory(objects, ids)
        ids[:] = None
        gc.collect()
        return copy_strings(objects, *outs)

    monkeypatch.setattr(_grouping, "AGAIN", 2)
    monkeypatch.setattr(_grouping.grouping_kernels, "copy_strings", copy_after_a_write)
    number, first = _grouping._number_values(ids)
    assert number.tolist() == [int(name[6:]) for name in expected]
    assert first.tolist() == [*range(7)]


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


KERNELS = sorted(Path(_grouping.grouping_kernels.__file__).parent.glob("*.pyx"))


@together("path", KERNELS)
def test_kernels_without_the_gil_borrow_no_objects(path):
    """Except `copy_strings`, whose caller owns the array, as the test above checks."""
    text = path.read_text()
    assert "freethreading_compatible=True" in text
    functions = re.split(r"^(?=def |cdef |cpdef )", text, flags=re.M)
    borrowed = [re.search(r"(\w+)\(", function)[1] for function in functions if "<PyObject" in function]
    assert borrowed == ["copy_strings"] * (path.stem == "grouping")
