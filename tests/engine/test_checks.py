"""Rows are read once: the kernel against a naive twin, and the fast path against the general path."""

import math
from dataclasses import fields

import numpy as np
import pytest
from registry import together

from sklearn_rank._engine import read as reading
from sklearn_rank._engine.kernels.checks import read_rows
from sklearn_rank._engine.read import read, summary_of
from sklearn_rank._utils import blocks

RNG = np.random.default_rng(0)
LABELS = [np.float64, np.float32, np.int64, np.int32]
SCORES = [np.float64, np.float32]
IDS = [np.int64, np.int32, np.uint64, np.uint32]
N_ROWS = 400
ROWS = [0, 1, 63, 64, *range(124, 132), 252, *range(254, 260), 319, 320, 383, 384, 398, 399]
"""Rows at the edges of what loops read together, and others."""


# --- the kernel ----------------------------------------------------------------------------------------------


def naive_facts(x):
    """Summary of numbers: range of finite values, kinds of other values, and whether finite values are whole."""
    x = x.astype(np.float64)
    finite = x[np.isfinite(x)]
    return (
        finite.min(initial=math.inf), finite.max(initial=-math.inf), bool(np.isnan(x).any()),
        bool(np.isneginf(x).any()), bool(np.isposinf(x).any()), bool((finite == np.rint(finite)).all()),
    )  # fmt: skip


def check_rows(label, score, ids, begin=0, end=None):
    """Compare the kernel's summary and output arrays with the naive twin."""
    end = len(ids) if end is None else end
    grade, starts = np.full(len(ids), 77, dtype=np.uint8), np.empty(end - begin + 1, dtype=np.int64)
    heads = np.empty(end - begin, dtype=ids.dtype)
    of_label, of_score, are_grades, n = read_rows(label, score, ids, begin, end, grade, starts, heads)
    rows = slice(begin, end)
    assert of_label == naive_facts(label[rows])
    assert of_score == naive_facts(score[rows])
    assert are_grades == np.isin(label[rows], np.arange(32)).all()
    if are_grades:
        np.testing.assert_array_equal(grade[rows], label[rows])
    assert (np.delete(grade, np.arange(begin, end)) == 77).all()
    begins = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    begins = begins[(begins >= begin) & (begins < end)]
    np.testing.assert_array_equal(starts[:n], np.append(begins, [end] * (end == len(ids))))
    np.testing.assert_array_equal(heads[: len(begins)], ids[begins])


def rows(label=np.float64, score=np.float64, ids=np.int64, n_rows=N_ROWS, length=7, seed=0):
    """Rows of queries of about the given length."""
    rng = np.random.default_rng(seed)
    new = np.append(False, rng.random(n_rows - 1) < 2 / (1 + length))
    first = -40 if np.issubdtype(ids, np.signedinteger) else 2 ** (8 * np.dtype(ids).itemsize - 1) - 40
    numbers = np.cumsum(new).astype(ids) + np.array(first, dtype=ids)  # both halves of an unsigned type
    return rng.integers(2, 6, n_rows).astype(label), rng.normal(size=n_rows).astype(score), numbers


def changed(x, row, value):
    """A copy with one entry replaced."""
    x = x.copy()
    x[row] = value
    return x


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("label", LABELS)
def test_rows_of_any_types(label, score, ids):
    sizes = zip([1, 2, 3, 5, 16, 17, 127, 128, 129, 256, 1000], [1, 2, 5, 9] * 3, strict=False)
    for seed, (n_rows, length) in enumerate(sizes):
        check_rows(*rows(label, score, ids, n_rows, length, seed))


@pytest.mark.parametrize("label", LABELS)
def test_one_odd_label_anywhere(label):
    odd = [0, 31, 32, -1, 255, 256, 65536, 2**31 - 1, -(2**31)]
    odd += [2**32, 2**32 + 3, -(2**52), 2**53, 2**53 + 1, 2**63 - 1] if label is np.int64 else []
    if np.dtype(label).kind == "f":
        odd += [-0.0, 0.5, -0.5, 5e-324, np.nan, -np.nan, np.inf, -np.inf, -(2.0**23), 2.0**24, 1e-45, 31.000002]
        odd += [2.0**52, 2.0**52 + 1, 2.0**53, 2.0**51 + 0.5, -(2.0**51) - 0.5, 1e308, 31.000000000000004]
    labels, score, ids = rows(label)
    with np.errstate(over="ignore"):
        for row in ROWS:
            for value in odd:
                check_rows(changed(labels, row, value), score, ids)


@pytest.mark.parametrize("score", SCORES)
def test_one_odd_score_anywhere(score):
    label, scores, ids = rows(score=score)
    finite = -0.0, np.finfo(score).max, np.finfo(score).min, np.finfo(score).smallest_subnormal, 3.0, 1e9
    for row in ROWS:
        for value in (np.nan, -np.nan, np.inf, -np.inf, *finite):
            check_rows(label, changed(scores, row, value), ids)
            check_rows(label, changed(np.ones_like(scores), row, value), ids)


def test_many_odd_values():
    values = np.array([0.0, 1.0, 5.0, np.nan, -2.0, np.inf, -np.inf, 0.25, 31.0, 1e9])
    for seed in range(200):
        rng = np.random.default_rng(seed)
        label, score = rng.choice(values[: rng.integers(1, 11)], (2, rng.integers(1, 1500)))
        check_rows(label, score, np.zeros(len(label), dtype=np.int64))


@pytest.mark.parametrize("ids", IDS)
def test_an_id_that_falls_anywhere(ids):
    label, score, numbers = rows(ids=ids)
    grade, starts, heads = np.empty(N_ROWS, np.uint8), np.empty(N_ROWS + 1, np.int64), np.empty(N_ROWS, ids)
    for row in ROWS[1:]:
        fallen = np.append(numbers[:row], numbers[: N_ROWS - row])  # the same from the first row on
        if fallen[row] == fallen[row - 1]:
            fallen[:row] += fallen.dtype.type(1)
        assert read_rows(label, score, fallen, 0, N_ROWS, grade, starts, heads) is None


@pytest.mark.parametrize("begin", [0, 1, 64, 130])
@pytest.mark.parametrize("end", [131, 192, 193, 256, 258, 330, 399, 400])
def test_kernel_on_a_slice_of_rows(begin, end):
    """Starts are those of queries that begin in the slice; its first row begins a query if the previous id differs."""
    check_rows(*rows(), begin, end)


def test_labels_of_subtopics_have_no_grades():
    label = RNG.integers(0, 3, (300, 5)).astype(float)
    score = RNG.normal(size=300)
    for begin, end in ((0, 300), (7, 200)):
        found = read_rows(label, score, None, begin, end, None, None, None)
        assert found == (naive_facts(label[begin:end]), naive_facts(score[begin:end]), False, 0)


def test_the_kernel_rejects_other_arrays():
    label, score, ids = rows()
    grade, starts, heads = np.empty(N_ROWS, np.uint8), np.empty(N_ROWS + 1, np.int64), np.empty(N_ROWS, np.int64)
    others = [
        (label.astype("i2"), score, ids), (label, score.astype(int), ids), (np.repeat(label, 2)[::2], score, ids),
        (label, score, ids.astype("i2")), (label, score, ids.astype(float)), (label.astype(">f8"), score, ids),
        (label, score.astype(">f8"), ids), (label, score, ids.astype(">i8")), (label.astype("M8[s]"), score, ids),
        (label, score, ids.astype(str)), (label.astype("longdouble"), score, ids), (label.astype("?"), score, ids),
    ]  # fmt: skip
    for arrays in others:
        assert read_rows(*arrays, 0, N_ROWS, grade, starts, heads) is None
    check_rows(label, score, ids)


def test_summary_of_labels_or_scores():
    """Only labels or only scores, in any layout and in blocks, and without rows."""
    label, score, _ = rows()
    summary, grade, are_good = summary_of(label, None)
    assert (summary.label_range, summary.score_range, are_good) == ((2.0, 5.0), (math.inf, -math.inf), True)
    assert grade.dtype == np.uint8
    for given in (label[::-1], label.astype("u1"), label.astype(">f8"), label.astype(np.float16)):
        assert summary_of(given, score)[0] == summary_of(label, score)[0]
    summary, none, _ = summary_of(None, score)
    assert none is None
    assert summary.score_range == (score.min(), score.max())
    assert not summary.scores_are_whole
    assert summary_of(None, np.rint(score))[0].scores_are_whole
    assert summary_of(np.empty(0), np.empty(0))[2]
    for odd in (np.nan, np.inf, -np.inf):
        one = np.array([odd])
        assert summary_of(None, one)[2] == (odd == -np.inf)
        assert summary_of(one, None)[2] == np.isnan(odd)


def test_the_longest_query_may_span_blocks(monkeypatch):
    for n_first, n_middle, n_last in [(5, 90, 5), (40, 40, 41), (59, 1, 60), (1, 1, 119), (120, 1, 1)]:
        n = n_first + n_middle + n_last
        qid = np.repeat([1, 2, 3], [n_first, n_middle, n_last])
        with monkeypatch.context() as patch:
            patch.setattr(blocks, "BLOCK_ROWS", 15)
            queries = read(np.zeros(n), np.zeros(n), qid=qid, n_jobs=2)
        assert queries.longest == max(n_first, n_middle, n_last)


def test_summary_of_ids_and_lengths():
    y, s = [1, 0, 1], [0.5, 0.25, -1]
    kinds = {"int": [1, 1, 2], "float": [0.5, 0.5, 1.5], "str": ["a", "a", "b"], "object": [(1, "a"), (1, "a"), 2]}
    for kind, qid in kinds.items():
        queries = read(y, s, qid=qid)
        assert queries.summary.id_kind == kind
        assert queries.longest == 2
    assert read([y], [s]).summary.id_kind == "int"
    assert queries.summary == (((0.0, 1.0), False, False, True, False, (-1.0, 0.5), "object"))


# --- queries of rows -----------------------------------------------------------------------------------------


def test_grades_follow_the_labels_of_the_queries():
    label, score, qid = np.array([3, 0, 1, 31, 2]), np.arange(5.0), np.array([1, 0, 1, 0, 1])
    mask = np.array([True, True, False, True, True])
    assert read(label, score, qid=qid).grade.tolist() == [3, 0, 1, 31, 2]
    assert read(label, score, qid=qid, mask=mask).grade.tolist() == [3, 0, 31, 2]
    assert read([label], [score]).grade.tolist() == label.tolist()
    assert read([label], [score], mask=[mask]).grade.tolist() == [3, 0, 31, 2]
    for given in (np.stack([label, label], axis=1), label + 0.5, label + 1, label - 1.0, [None, 1, 2, 3, 4]):
        assert read(given, score, qid=qid).grade is None
    padded = np.array([3, 0, np.nan, 31, 2])
    assert read(padded, score, qid=qid, mask=mask).grade.tolist() == [3, 0, 31, 2]


def said(label, score, qid, **keywords):
    """All data of the queries, or the error."""
    try:
        queries = read(label, score, qid=qid, **keywords)
    except (TypeError, ValueError) as error:
        return type(error), str(error)
    found = {field.name: getattr(queries, field.name) for field in fields(queries)}
    grouping = found.pop("grouping")
    found |= {name: getattr(grouping, name) for name in ("ids", "indptr", "order", "origin")}
    return {
        name: (x.dtype.newbyteorder("="), x.shape, repr(x.tolist())) if isinstance(x, np.ndarray) else repr(x)
        for name, x in found.items()
    }


def few_rows():
    """Rows that take the fast path, and rows that differ from them in one respect."""
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
def test_fast_path_for_few_rows(case, monkeypatch):
    """Results and errors equal those of the general path."""
    label, score, qid = [*few_rows()][case]
    for array in (label, score, qid):
        if isinstance(array, np.ndarray):
            array.flags.writeable = False
    for keywords in ({}, {"score_name": "scores of b"}):
        few = said(label, score, qid, **keywords)
        with monkeypatch.context() as patch:
            for rows_of_a_block in (1, 4):
                patch.setattr(blocks, "BLOCK_ROWS", rows_of_a_block)
                assert said(label, score, qid, n_jobs=2, **keywords) == few
            patch.setattr(reading, "_read_plain", lambda *_: None)
            assert said(label, score, qid, **keywords) == few


@pytest.mark.parametrize("n_rows", [5, 5000])
def test_numbers_of_packed_records(n_rows):
    """Compiled code may read numbers only at aligned addresses."""
    record = np.dtype([("flag", "i1"), ("qid", "i8"), ("label", "f8"), ("score", "f8"), ("narrow", "f4")])
    packed = np.zeros(n_rows, dtype=record)
    packed["qid"], packed["score"] = np.arange(n_rows) // 4, RNG.random(n_rows)
    whole = np.frombuffer(b"\0" + packed["score"].tobytes(), dtype="u1")[1:].view("f8")
    assert not whole.flags.aligned
    for score in (packed["score"], packed["narrow"], whole):
        queries = read(packed["label"], score, qid=packed["qid"], keep_float32=True)
        assert queries.score.flags.aligned
        assert queries.label.flags.aligned
        np.testing.assert_array_equal(queries.score, score)


@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.uint64, np.uint32])
def test_ids_of_plain_rows(dtype):
    """The kernel reads rows in chunks; no query, or many queries, begin in a chunk."""
    lengths = np.concatenate([np.full(300, 1), [1000], np.full(60, 5), [255, 256, 257]])
    ids = np.cumsum(np.arange(len(lengths))).astype(dtype)
    qid = np.repeat(ids, lengths)
    queries = read(np.zeros(len(qid)), np.zeros(len(qid)), qid=qid)
    assert queries.grouping.order is None
    np.testing.assert_array_equal(queries.grouping.ids, ids)
    np.testing.assert_array_equal(queries.grouping.indptr, np.cumsum(np.append(0, lengths)))
