"""Rows and queries cut into blocks."""

import numpy as np
import pytest

from sklearn_rank._utils import blocks as _blocks


def test_the_last_block_of_rows_may_be_shorter():
    assert _blocks.cut_rows(7, 3) == [(0, 3), (3, 6), (6, 7)]
    assert _blocks.cut_rows(6, 3) == [(0, 3), (3, 6)]
    assert _blocks.cut_rows(7, 3, 2) == [(2, 5), (5, 7)]
    assert _blocks.cut_rows(2, 0.5) == [(0, 1), (1, 2)]
    assert _blocks.cut_rows(0, 3) == []


def test_a_block_exceeds_its_size_by_less_than_its_last_query():
    indptr = np.cumsum([0, 2, 2, 2, 9, 1, 1])
    assert _blocks.cut_queries(indptr, 4) == [(0, 2), (2, 4), (4, 5), (5, 6)]
    assert _blocks.cut_queries(indptr, 100) == [(0, 6)]


@pytest.mark.parametrize(("largest", "n_rows"), [(0.75, 5), (1.5, 10), (2.0, 14)])
def test_blocks_contain_every_query_once(largest, n_rows, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_ROWS", 7)
    indptr = np.cumsum([0, 3, 1, 8, 1, 1, 5, 40, 2, 1, 1, 1, 1, 1, 6, 5])
    blocks = _blocks.thread_blocks(indptr, largest=largest)
    assert [first for first, _ in blocks] == [0, *(last for _, last in blocks[:-1])]
    assert blocks[-1][1] == len(indptr) - 1
    for first, last in blocks:  # a block exceeds its size by less than its last query
        assert last == first + 1 or indptr[last - 1] - indptr[first] < n_rows


def test_threads_get_equal_numbers_of_blocks_and_rows(monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_ROWS", 100)
    indptr = np.arange(0, 601, 5)
    expected = [(1, 1.5, 4), (2, 1.5, 4), (3, 1.5, 6), (4, 1.5, 4), (1, 2, 3), (2, 2, 4), (3, 0.75, 9)]
    for n_jobs, largest, n_blocks in expected:
        blocks = _blocks.thread_blocks(indptr, n_jobs, largest=largest)
        n_rows = [indptr[last] - indptr[first] for first, last in blocks]
        assert len(n_rows) == n_blocks, (n_jobs, largest)
        assert max(n_rows) - min(n_rows) <= 5


@pytest.mark.parametrize(
    ("n_rows", "n_jobs", "n_blocks"),
    [(0, 2, 1), (100, 2, 1), (101, 1, 1), (101, 2, 2), (400, 2, 2), (401, 2, 4), (250, 4, 3), (601, 1, 4)],
)
def test_blocks_of_rows_are_equal_and_contain_every_row_once(n_rows, n_jobs, n_blocks, monkeypatch):
    monkeypatch.setattr(_blocks, "BLOCK_ROWS", 100)
    blocks = _blocks.thread_blocks(n_rows, n_jobs)
    assert [start for start, _ in blocks] == [0, *(stop for _, stop in blocks[:-1])]
    assert blocks[-1][1] == n_rows
    assert len(blocks) == n_blocks
    sizes = {stop - start for start, stop in blocks}
    assert max(sizes) - min(sizes) <= 1
