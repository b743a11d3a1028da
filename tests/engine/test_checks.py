"""One pass over labels and scores: their range, what is odd in them, and labels as bytes."""

from dataclasses import fields

import numpy as np
import pytest
from registry import together

from sklearn_rank._engine import check
from sklearn_rank._engine.check import check_queries
from sklearn_rank._engine.kernels.checks import read_rows, read_scores
from sklearn_rank._utils import threads

RNG = np.random.default_rng(0)
NO_GRADES = [0.5, -1.0, 32.0, 31.000000000000004, 255.0, 256.0, 2.0**32, 2.0**52, 2.0**53, -(2.0**52), 5e-324, 1e308]
LENGTHS = [1, 2, 3, 4, 5, 7, 31, 32, 33, 96, 511, 512, 513, 1027]


def facts(label, score):
    """What one pass finds, said by NumPy."""
    known = label[~np.isnan(label)]
    are_grades = bool(np.isin(label, np.arange(32)).all())
    return (
        known.min(initial=np.inf), known.max(initial=-np.inf), len(known) < len(label), are_grades,
        bool(np.isneginf(score).any()), bool((np.isnan(score) | np.isposinf(score)).any()),
    )  # fmt: skip


@pytest.mark.parametrize("odd", [-0.0, 31.0, np.nan, -np.nan, np.inf, -np.inf, *NO_GRADES], ids=str)
def test_one_odd_label_anywhere(odd):
    for n in LENGTHS:
        for row in range(n) if n < 100 else [0, n // 2, n - 1]:
            label = RNG.integers(1, 31, n).astype(float)
            label[row] = odd
            grade = np.full(n, 77, dtype=np.uint8)
            found = read_rows(label, np.zeros(n), grade)
            assert found == facts(label, np.zeros(n))
            if found[3]:
                assert grade.tolist() == label.tolist()
            assert read_rows(label, np.zeros(n), None) == (*found[:3], False, *found[4:])


@pytest.mark.parametrize("odd", [np.nan, np.inf, -np.inf, -0.0, 5e-324, 1.7e308, -1.7e308], ids=str)
def test_one_odd_score_anywhere(odd):
    for n in LENGTHS:
        for row in {0, n // 2, n - 1}:
            score = RNG.normal(size=n)
            score[row] = odd
            assert read_rows(np.zeros(n), score, None)[4:] == facts(np.zeros(n), score)[4:]
            assert read_scores(score) == facts(np.zeros(n), score)[4:]


def test_many_odd_ones():
    values = np.array([0.0, 1.0, 5.0, np.nan, -2.0, np.inf, -np.inf, 0.25, 31.0, 1e9])
    for seed in range(200):
        rng = np.random.default_rng(seed)
        label, score = rng.choice(values[: rng.integers(1, 11)], (2, rng.integers(1, 1500)))
        assert read_rows(label, score, np.empty(len(label), dtype=np.uint8)) == facts(label, score)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_grades_of_many_rows(n_jobs):
    n = 300_000
    label, qid = RNG.integers(0, 32, n), np.repeat(np.arange(n // 10), 10)
    queries = check_queries(label, RNG.random(n), qid=qid, n_jobs=n_jobs)
    assert queries.grade.dtype == np.uint8
    np.testing.assert_array_equal(queries.grade, label)
    for row in (0, 131_072, n - 1):
        other = label.astype(float)
        other[row] = 0.5
        assert check_queries(other, RNG.random(n), qid=qid, n_jobs=n_jobs).grade is None


def test_grades_are_of_the_labels_of_the_queries():
    label, score, qid = np.array([3, 0, 1, 31, 2]), np.arange(5.0), np.array([1, 0, 1, 0, 1])
    mask = np.array([True, True, False, True, True])
    assert check_queries(label, score, qid=qid).grade.tolist() == [3, 0, 1, 31, 2]
    assert check_queries(label, score, qid=qid, mask=mask).grade.tolist() == [3, 0, 31, 2]
    assert check_queries([label], [score]).grade.tolist() == label.tolist()
    assert check_queries([label], [score], mask=[mask]).grade.tolist() == [3, 0, 31, 2]
    for given in (np.stack([label, label], axis=1), label + 0.5, label + 1, label - 1.0, [None, 1, 2, 3, 4]):
        assert check_queries(given, score, qid=qid).grade is None
    padded = np.array([3, 0, np.nan, 31, 2])
    assert check_queries(padded, score, qid=qid, mask=mask).grade.tolist() == [3, 0, 31, 2]


def test_labels_that_are_read_anew_have_no_grades():
    for label in ([0, -1, 2], [0, -0.0, 2]):
        queries = check_queries(label, [1, 2, 3], qid=[0, 0, 0])
        anew = queries.without_negative
        assert anew.grade is None or anew.grade.tolist() == anew.label.tolist()
    assert anew.grade.tolist() == [0, 0, 2]


def said(label, score, qid, **keywords):
    """All that is known of queries, or the error."""
    try:
        queries = check_queries(label, score, qid=qid, **keywords)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    found = {field.name: getattr(queries, field.name) for field in fields(queries)}
    return {
        name: (x.dtype.newbyteorder("="), x.shape, repr(x.tolist())) if isinstance(x, np.ndarray) else repr(x)
        for name, x in found.items()
    }


def few_rows():
    """Rows that go by one call, and rows that differ from them in one respect."""
    label, score, qid = (
        np.array([3.0, 0, 1, 31, 2, 0]),
        np.array([0.5, 0.1, 0.5, -1, 2, 3]),
        np.array([-5, -5, 0, 7, 7, 9]),
    )
    odd = [np.nan, np.inf, -np.inf, -0.0, 0.5, -1.0, 32.0]
    for row in (0, 2, 5):
        yield from ((np.where(np.arange(6) == row, x, label), score, qid) for x in odd)
        yield from ((label, np.where(np.arange(6) == row, x, score), qid) for x in odd)
    for dtype in ("f4", ">f8", "i8", "i4", "bool", "O", "c16", "M8[s]", "U3", "f2", "longdouble"):
        yield label.astype(dtype), score, qid
        yield label, score.astype(dtype if dtype != "c16" else "O"), qid
        yield label, score, qid.astype(dtype)
    for ids in (
        qid[::-1],
        qid[::-1].copy(),
        np.zeros(6, int),
        np.arange(6),
        qid % 2,
        qid[:5],
        qid[:0],
        qid[:, None],
        qid[0:1],
    ):
        yield label, score, ids
    yield label, score, np.array(7)
    yield label, score, np.array([np.iinfo(int).min, *[0] * 4, np.iinfo(int).max])
    yield label, score, qid.astype("u8")
    for dtype in ("i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"):
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        for ids in ([least, least + 1, most // 2, most // 2, most // 2 + 1, most], [least, 1, most, most, 1, 2]):
            yield label, score, np.array(ids, dtype)
    for dtype in ("i4", "i8", "f4", "f8"):
        for odd in (32, -1, 2**31 - 1, *([0.5] if dtype in ("f4", "f8") else [])):
            yield np.array([3, 0, odd, 31, 2, 0], dtype), score.astype("f4"), qid
    yield label[::-1], score, qid
    yield np.repeat(label, 2)[::2], np.repeat(score, 2)[::2], np.repeat(qid, 2)[::2]
    yield label[:5], score, qid
    yield label, score[:5], qid
    yield label[:, None], score, qid
    yield label[None], score[None], qid
    yield np.stack([label, label], axis=1), score, qid
    yield from ((label[:n], score[:n], qid[:n]) for n in range(3))
    yield np.ma.array(label), score, qid
    yield label.tolist(), score, qid


@together("case", range(len([*few_rows()])))
def test_few_rows_by_one_call(case, monkeypatch):
    """They are what the general way makes of them, and errors are its errors."""
    label, score, qid = [*few_rows()][case]
    for array in (label, score, qid):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    for keywords in ({}, {"score_name": "scores of b"}):
        few = said(label, score, qid, **keywords)
        with monkeypatch.context() as patch:
            for rows_of_a_block in (1, 4):
                patch.setattr(threads, "BLOCK_ROWS", rows_of_a_block)
                assert said(label, score, qid, n_jobs=2, **keywords) == few
            patch.setattr(check, "check_at_once", lambda *_: None)
            assert said(label, score, qid, **keywords) == few
            patch.setattr(check, "FEW_ROWS", 0)  # as it is with many rows
            assert said(label, score, qid, **keywords) == few


def test_few_rows_are_checked_by_one_call(monkeypatch):
    monkeypatch.setattr(check, "as_floats", None)
    assert check_queries(np.zeros(3), np.ones(3), qid=np.array([1, 1, 2])).indptr.tolist() == [0, 2, 3]


@pytest.mark.parametrize("n_rows", [5, 5000])
def test_numbers_of_packed_records(n_rows):
    """Compiled code may read numbers only at multiples of their size."""
    record = np.dtype([("flag", "i1"), ("qid", "i8"), ("label", "f8"), ("score", "f8"), ("narrow", "f4")])
    packed = np.zeros(n_rows, dtype=record)
    packed["qid"], packed["score"] = np.arange(n_rows) // 4, RNG.random(n_rows)
    whole = np.frombuffer(b"\0" + packed["score"].tobytes(), dtype="u1")[1:].view("f8")
    assert not whole.flags.aligned
    for score in (packed["score"], packed["narrow"], whole):
        queries = check_queries(packed["label"], score, qid=packed["qid"], keeps_narrow=True)
        assert queries.score.flags.aligned
        assert queries.label.flags.aligned
        np.testing.assert_array_equal(queries.score, score)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64, np.uint32])
def test_ids_of_plain_rows(dtype):
    """Rows are read a few at a time, in which no query begins, or many do."""
    lengths = np.concatenate([np.full(300, 1), [1000], np.full(60, 5), [255, 256, 257]])
    ids = np.cumsum(np.arange(len(lengths))).astype(dtype)
    qid = np.repeat(ids, lengths)
    queries = check_queries(np.zeros(len(qid)), np.zeros(len(qid)), qid=qid)
    assert queries.order is None
    np.testing.assert_array_equal(queries.qid, ids)
    np.testing.assert_array_equal(queries.indptr, np.cumsum(np.append(0, lengths)))
