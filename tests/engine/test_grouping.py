"""Grouping of rows by query against a plain dict: ids of every type and order, and keys that collide."""

import pickle
import subprocess
import sys
from datetime import date
from decimal import Decimal
from io import BytesIO

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from grouped_by_dict import check
from registry import together

from sklearn_rank import evaluate, group_sizes
from sklearn_rank._engine import grouping as _grouping
from sklearn_rank._engine.grouping import Grouping, group_rows, refuse_other_queries
from sklearn_rank._engine.kernels import grouping as grouping_kernels
from sklearn_rank.io import join, read_qrels, read_run
from sklearn_rank.metrics import ndcg_score

INT64, UINT64 = np.iinfo(np.int64), np.iinfo(np.uint64)
RNG = np.random.default_rng(0)


DTYPES = [
    "int8", "uint8", "int16", ">i4", "int64", "uint64", "bool", "float16", "float32", ">f8", "float64", "longdouble",
    "complex128", "S3", "S8", "S17", "U1", ">U3", "U9", "O", "datetime64[D]", ">M8[s]", "timedelta64[ms]", "T",
]  # fmt: skip


@together("n_rows", [1, 2, 3000, 20_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_dtypes(dtype, n_rows):
    numbers = RNG.integers(0, 100, n_rows)
    ids = (np.array(list(map(str, numbers)), "U9") if dtype.strip(">")[0] in "SUT" else numbers).astype(dtype)
    for qid in (ids, np.sort(ids)[::-1], ids[np.arange(n_rows) // 5 * 5], ids[::2], np.repeat(ids, 3)):
        check(qid)


def repeated(distinct, n_rows=5000):
    return np.asarray(distinct)[RNG.integers(0, len(distinct), n_rows)]


@pytest.mark.parametrize(
    "distinct",
    [
        *(np.arange(-1000, 1000) << shift for shift in range(0, 64, 3)),
        *(np.arange(200, dtype=np.uint64) * np.uint64(inverse) for inverse in (0xF1DE83E19937733D, 2**33 + 1)),
        np.arange(2000) * (2**32 + 1) * np.arange(2000),
        np.array([INT64.min, INT64.min + 1, -1, 0, 1, INT64.max - 1, INT64.max]),
        np.array([0, 1, INT64.max, 2**63, UINT64.max - 1, UINT64.max], dtype=np.uint64),
        *(np.uint64(2**63 - 100 + more) + np.arange(100, dtype=np.uint64) for more in (0, 1, 2)),
        np.ldexp(1.0, np.arange(-1074, 53)),
        np.concatenate([np.arange(-500.0, 500.0), [2.0**53 - 1, 1 - 2.0**53, 5e-324, -5e-324]]),
        np.array(["b", "a", "aa", "a" * 7, "a" * 8, "a" * 9, "ä", "日本", "日本語", "\U0001f600"]),
        np.array([b"b", b"\0a", b"a", b"a\0a", b"a" * 16, b"a" * 15 + b"b"]),
    ],
)
def test_sparse_and_dense_keys(distinct):
    check(repeated(distinct))
    check(np.repeat(distinct, 2))


def slots(keys, n_slots):
    """The first slot of each key."""
    grouping_kernels.slots(np.asarray(keys, dtype=np.int64), n_slots, out := np.empty(len(keys), dtype=np.int64))
    return out


def test_keys_with_the_same_slot():
    keys = RNG.integers(INT64.min, INT64.max, 2**19)
    alike = keys[slots(keys, 2**11) == 0]
    assert len(alike) > 100
    check(repeated(alike))


MIX = 0x9E3779B97F4A7C15
"""What keys were multiplied by when there was no secret, so that they could be made to collide."""


def test_numbers_cannot_be_chosen_to_collide():
    """Keys that collide without the secret are spread with it: share of used slots, at most a quarter."""
    n, inverse = 2**14, pow(MIX, -1, 2**64)
    for step in range(1, 30, 2):
        product = np.arange(n, dtype=np.uint64) * np.uint64(inverse * step % 2**64)
        keys = (product ^ (product >> np.uint64(32))).view(np.int64)
        assert len(np.unique(slots(keys, 4 * n))) / (4 * n) > 0.15


def probes(keys, n_slots):
    """Number of slots probed for each inserted key: its own, and the occupied slots after it."""
    wanted = np.bincount(slots(keys, n_slots), minlength=n_slots)
    waiting = np.cumsum(np.tile(wanted, 2) - 1)  # linear probing, wrapping around
    waiting -= np.minimum.accumulate(np.append(0, waiting))[:-1]
    return 1 + np.maximum(waiting, 0)[n_slots:].sum() / len(keys)


ROW = np.arange(2**13)
FAR_APART = {
    **{f"i * 2**{k}": ROW << k for k in range(0, 52, 4)},
    **{
        f"i * {step}": ROW * step for step in (3, 7, 10, 1000, 10**6, 10**9, 123456789, 2**17 - 1, 2**32 - 1, 2**32 + 1)
    },
    "-i": -ROW,
    "floats": ROW.astype(np.float64).view(np.int64),
    "halves": (ROW + 0.5).view(np.int64),
    "tenths": (ROW / 10).view(np.int64),
    "pairs": (ROW >> 7 << 32) | (ROW & 127),
    "equal halves": (ROW << 32) | ROW,
    "equal up to the size of the table": ROW * 2**15 + 5,
}


@pytest.mark.parametrize("keys", FAR_APART.values(), ids=FAR_APART)
def test_evenly_spaced_numbers_cost_at_most_twice_random_numbers(keys):
    at_random = probes(RNG.integers(INT64.min, INT64.max, len(keys)), 4 * len(keys))
    assert 1 < at_random < 1.3
    assert probes(keys, 4 * len(keys)) < 2 * at_random


def test_strings_cannot_be_chosen_to_collide():
    """Two words of eight bytes that once collided for every start value of the hash."""
    n = 2**12
    flips = np.array([2**63, 2**63 ^ 2**31], dtype=np.uint64)
    bits = (np.arange(n)[:, None] >> np.arange(12)) & 1
    words = (bits[:, :, None].astype(np.uint64) * flips + np.uint64(0x0101010101010101)).reshape(n, -1)
    ids = np.ascontiguousarray(words).view(f"S{words[0].nbytes}").ravel()
    grouping_kernels.hash_pieces(
        ids.view(np.uint8), words[0].nbytes * np.arange(1, n + 1), hashes := np.empty(n, np.int64)
    )
    assert len(np.unique(hashes)) == n
    check(ids)


def keys_of(pieces):
    """Keys of concatenated strings."""
    text, end = np.frombuffer(b"".join(pieces), dtype=np.uint8), np.cumsum([*map(len, pieces)])
    grouping_kernels.hash_pieces(text, end, keys := np.empty(len(pieces), dtype=np.int64))
    return keys.view(np.uint64)


def test_short_strings_are_their_own_keys():
    """A key is the bytes and then the length, in memory order, on each machine."""
    pieces = [b"", b"\0", *(b"\xff\0abcdefgh"[i:j] for i in range(9) for j in range(i + 1, min(i + 8, 11)))]
    expected = [piece.ljust(7, b"\0") + bytes([len(piece)]) for piece in pieces]
    assert [key.tobytes() for key in keys_of(pieces)] == expected
    assert [key.tobytes() for key in keys_of(pieces[::-1])] == expected[::-1]


def test_the_hash_of_a_long_string_depends_on_every_byte():
    for length in (8, 9, 15, 16, 17, 36, 255, 256, 257, 264, 265, 511, 512, 513, 700):
        piece = RNG.integers(0, 256, length).astype(np.uint8)
        others = np.tile(piece, (length, 1))
        others[np.arange(length), np.arange(length)] += 1
        turned = np.roll(piece, 256) if length > 512 else piece[::-1]
        keys = keys_of([piece.tobytes(), b"abc", piece.tobytes(), turned.tobytes(), *map(bytes, others), bytes(length)])
        assert keys[0] == keys[2]
        assert len(np.unique(keys)) == length + 4
        assert (np.delete(keys, 1) >> np.uint64(63) == 1).all()  # so no key equals that of a short string
    assert len(np.unique(keys_of([b"a" * n for n in range(1000)]))) == 1000


@pytest.mark.slow
def test_the_secret_is_per_process_and_hidden(capsys):
    code = """
import numpy as np
from sklearn_rank import evaluate
from sklearn_rank._engine.kernels import grouping as grouping_kernels
grouping_kernels.slots(np.arange(8), 2**40, out := np.empty(8, dtype=np.int64))
result = evaluate(np.arange(99) % 3, np.arange(99) % 7, qid=[f"q{i % 10}" for i in range(99)], metrics="ndcg")
print(out.tolist(), [*zip(result.qid.tolist(), result.per_query["ndcg"].tolist())], sep="|")
"""
    exec(code, {})
    here, there = capsys.readouterr().out, subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
    (places, values), (other_places, other_values) = (text.split("|") for text in (here, there.stdout.decode()))
    assert places != other_places
    assert values == other_values


def test_hashes_are_not_pickled():
    """Another process hashes the same strings differently."""
    qrels, run = (read_qrels(BytesIO(b"q1 0 a 1\n")), read_run(BytesIO(b"q1 Q0 a 1 2.5 me\n")))
    assert join(qrels, run).y_true.tolist() == [1]
    assert b"keys" not in pickle.dumps(qrels)
    assert join(pickle.loads(pickle.dumps(qrels)), run).y_true.tolist() == [1]


def test_negative_zero_is_the_same_query():
    check([0.0, 1.0, -0.0, 1.0])
    check([-0.0, 0.0])
    assert np.signbit(group_rows([-0.0, 1.0, 0.0], 3).ids).tolist() == [True, False]


class Alike:
    """Objects with equal hashes that a dict distinguishes."""

    def __init__(self, name):
        self.name = name

    def __hash__(self):
        return 7

    def __eq__(self, other):
        return self.name == other.name


MIXED = [1, "2", True, 1.0, (1,), ("a", 2), b"1", Decimal(1), date(2020, 1, 1), frozenset([1]), 2**70, -1, -2, "b", "ä"]


@pytest.mark.parametrize("fresh", [False, True])
def test_objects(fresh):
    def objects(values):
        ids = np.empty(len(values), dtype=object)
        ids[:] = values
        return ids

    for make in (
        lambda i: f"query {i}" if fresh else str(i % 10),
        lambda i: MIXED[i % len(MIXED)],
        lambda i: (i, "x"),
        lambda i: float(i) if i % 2 else i - 1,
        lambda i: Alike(i % 20),
        lambda i: pd.Timestamp(i, unit="s"),
    ):
        values = [make(i) for i in range(100)]
        picked = RNG.integers(0, 100, 2000).tolist()
        ids = [make(i) for i in picked] if fresh else [values[i] for i in picked]
        check(ids, ids)
        check(objects(ids), ids)
        check(objects(ids)[::-2], ids[::-2])
        check(objects(sorted(ids, key=ids.index)), sorted(ids, key=ids.index))


def test_frames_with_numpy_arrays_are_read_as_arrays():
    for qid in (pd.Series(MIXED, dtype=object), pd.Index(MIXED, dtype=object, tupleize_cols=False)):
        check(qid, MIXED)
    levels = pd.MultiIndex.from_arrays([[1, 1, 2, 1], ["a", "b", "a", "a"]])
    check(levels, levels.tolist())


@pytest.mark.parametrize("dtype", ["<U1", "<U2", "<U7", ">U7", "<U8", "<U30"])
@pytest.mark.parametrize("letters", ["ab", "aÿ", "aÿĀ", "aš日", "a\U0001f600\U0001f601"])
def test_one_byte_characters_next_to_wide_ones(dtype, letters, monkeypatch):
    monkeypatch.setattr(_grouping, "CACHED_ROWS", 8)
    ids = np.array(["".join(RNG.choice([*letters], RNG.integers(1, 9))) for _ in range(500)], dtype=dtype)
    check(ids, ids.tolist())


FRAMES = {
    "str": lambda ids: pd.Series(ids, dtype="str"),
    "string": lambda ids: pd.Series(ids, dtype="string"),
    "object": lambda ids: pd.Series(ids, dtype=object),
    "categorical": lambda ids: pd.Series(ids, dtype="category"),
    "categorical alone": lambda ids: pd.Categorical(ids, categories=["?", *sorted(set(ids))]),
    "index": lambda ids: pd.Index(ids),
    "categorical index": lambda ids: pd.CategoricalIndex(ids),
    "reversed": lambda ids: pd.Series(ids[::-1], dtype="category")[::-1],
    "polars": lambda ids: pl.Series(ids),
    "polars categorical": lambda ids: pl.Series(ids, dtype=pl.Categorical),
    "polars enum": lambda ids: pl.Series(ids, dtype=pl.Enum(sorted(set(ids)))),
    "arrow": lambda ids: pa.array(ids),
    "arrow large": lambda ids: pa.array(ids, pa.large_string()),
    "arrow view": lambda ids: pa.array(ids, pa.string_view()),
    "arrow chunks": lambda ids: pa.chunked_array([ids[:1], [], ids[1:7], ids[7:]], pa.string()),
    "arrow slice": lambda ids: pa.array(["?", None, *ids, "?"]).slice(2, len(ids)),
    "string of arrow": lambda ids: pd.Series(ids, dtype="string[pyarrow]"),
    "dtype of arrow": lambda ids: pd.Series(ids, dtype=pd.ArrowDtype(pa.string())),
    "polars chunks": lambda ids: pl.concat([pl.Series(ids[:3]), pl.Series(ids[3:])], rechunk=False),
}


@pytest.mark.parametrize("make", FRAMES.values(), ids=FRAMES)
def test_text_in_frames(make):
    ids = [f"query {i}" for i in RNG.integers(0, 200, 3000)]
    check(make(ids), ids)
    check(make(sorted(ids)), sorted(ids))
    assert group_rows(make(ids), len(ids)).ids.dtype == np.asarray(make(ids)).dtype


TEXT_OF_ARROW = [name for name in FRAMES if "arrow" in name or name in ("str", "polars", "polars chunks")]


@pytest.mark.parametrize("name", TEXT_OF_ARROW)
def test_text_in_arrow(name, monkeypatch):
    """Text beyond ASCII and text with a NUL; in chunks, and in few rows."""
    check(pl.DataFrame({"qid": ["b", "a", "b"]}), ["b", "a", "b"])
    for ids in (
        ["a"] * 9, ["d", "a", "d", "b", "a", "a", "d", "d", "c"], [*"éeé", "日本", "日", "日本", *"eed"],
        ["a\0", "a", "a\0b", "\0", "b", "\0", "a", "a\0", "b"], ["x" * 13, "x" * 12, "x" * 14, "x" * 13, *"abcde"],
    ):  # fmt: skip
        check(FRAMES[name](ids), ids)
    ids = [f"query {i}" for i in RNG.integers(0, 100, 1000)]  # small enough for rows to be ordered in chunks
    monkeypatch.setattr(_grouping, "CACHED_ROWS", 64)
    check(FRAMES[name](ids), ids)
    monkeypatch.setattr(_grouping, "N_IN_PART", 100)
    expected, found = group_rows(ids, 1000, 1), group_rows(FRAMES[name](ids), 1000, 3)
    for name in ("ids", "indptr", "order"):
        np.testing.assert_array_equal(getattr(expected, name), getattr(found, name))


@pytest.mark.parametrize("make", [pl.Series, FRAMES["str"]], ids=["polars", "pandas"])
def test_text_of_arrow_without_pyarrow(make, monkeypatch):
    pytest.importorskip("pyarrow").array(["a"]).dictionary_encode()  # pyarrow imports the rest when first called
    qid = make(["b", "a", "b", "c", "a"])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    check(qid, ["b", "a", "b", "c", "a"])


@pytest.mark.parametrize("dtype", ["int8", "int64", "uint64", ">i4"])
def test_integers_with_a_range_like_the_number_of_rows(dtype):
    """Ranges up to the number of rows and beyond, with negative numbers and the limits of the type."""
    info = np.iinfo(dtype)
    for n_rows in (2, 100):
        for span in (n_rows - 1, n_rows, n_rows + 1):
            for lowest in (0, info.min, info.max - span, info.min // 2):
                ids = lowest + RNG.integers(0, span + 1, n_rows, dtype=np.uint64).astype(object)
                ids[RNG.permutation(n_rows)[:2]] = lowest, lowest + span
                check(ids.astype(dtype), ids.tolist())


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", ">i8", "int64", "uint64", "S3", "U2", "f4"])
def test_runs_of_all_lengths(dtype):
    """Runs end anywhere within a chunk of rows; ids increase, decrease or repeat."""
    for sizes in ([1] * 50, [15, 1, 16, 17, 1, 1, 31, 33], RNG.integers(1, 40, 100), [100], [16, 16], [1, 16, 16]):
        for names in (np.arange(len(sizes)), np.arange(len(sizes))[::-1], np.arange(len(sizes)) % 3):
            numbers = np.array([f"{i:02d}" for i in names]) if dtype[0] in "SU" else names
            check(np.repeat(numbers.astype(dtype), sizes))
    if "i" in dtype:
        info = np.iinfo(dtype)
        check(np.repeat(np.array([info.min, 1, info.max], dtype=dtype), 20))


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "datetime64[ns, UTC]", "period[D]", "category"])
def test_numbers_in_frames(dtype):
    numbers = RNG.integers(0, 2, 300)
    qid = pd.Series(pd.to_datetime(numbers, unit="D").to_period("D") if "period" in dtype else numbers).astype(dtype)
    check(qid, np.asarray(qid).tolist())
    assert group_rows(qid, 300).ids.dtype == np.asarray(qid).dtype


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
@pytest.mark.parametrize("kind", ["int", "str", "object", "float"])
def test_batches_of_rows_are_numbered_separately(monkeypatch, kind, n_jobs):
    monkeypatch.setattr(_grouping, "N_IN_PART", 100)
    for seed, n_distinct in enumerate([1, 5, 40, 900]):
        number = np.random.default_rng(seed).integers(0, n_distinct, size=1001)
        names = {"int": np.arange(900), "float": np.arange(900) / 2}.get(
            kind, np.char.add("q", np.arange(900).astype(str))
        )
        ids = names[number].astype(object) if kind == "object" else names[number]
        found = group_rows(ids, len(ids), n_jobs)
        expected, first, size = np.unique(ids.astype(str), return_index=True, return_counts=True)
        by_appearance = np.argsort(first)
        assert found.ids.astype(str).tolist() == expected[by_appearance].tolist()
        assert found.sizes.tolist() == size[by_appearance].tolist()
        for q, name in enumerate(found.ids):
            assert found.input_rows(q, q + 1).tolist() == np.flatnonzero(ids == name).tolist()


@pytest.mark.parametrize(
    "make",
    [
        lambda: pd.Series(["a", None, "b"], dtype="str"),
        lambda: pd.Series(["a", None, "b"], dtype="string"),
        lambda: pd.Series(["a", None, "b"], dtype="category"),
        lambda: pd.Series([1, None, 2], dtype="Int64"),
        lambda: pd.Series([1.0, np.nan, 2], dtype="Float64"),
        lambda: pd.to_datetime(pd.Series(["2020", None, "2021"]), utc=True),
        lambda: pl.Series(["a", None, "b"]),
        lambda: pl.Series(["a", None, "b"], dtype=pl.Categorical),
        lambda: pl.Series(["a", None, "b"], dtype=pl.Enum(["a", "b"])),
        lambda: pa.array(["a", None, "b"]),
        lambda: pa.chunked_array([["a", None], ["b"]]),
        lambda: pd.Series(["a", None, "b"], dtype="string[pyarrow]"),
        lambda: np.array([1.0, np.nan, 2.0], dtype=np.float32),
        lambda: np.array(["2020", "NaT", "2021"], dtype="M8[D]"),
        lambda: np.array([1, "NaT", 2], dtype="m8[s]"),
        lambda: np.array(["a", np.nan, "b"], dtype=object),
        lambda: ["a", None, "b"],
        lambda: [("a", 1), None, "b"],
    ],
)
def test_missing(make):
    with pytest.raises(ValueError, match="qid must not contain missing values"):
        group_rows(make(), 3)


def test_unhashable():
    for qid in ([(1, []), 2], [(1, [])] * 2, np.array([{}, {}], dtype=object)):
        with pytest.raises(ValueError, match="Query ids must be hashable.*unhashable type"):
            group_rows(qid, 2)


def make_rows(sizes, order):
    qid = np.repeat(RNG.permutation(len(sizes)), sizes)
    qid = qid[RNG.permutation(len(qid))] if order == "shuffled" else qid
    qid = np.roll(qid, 1) if order == "nearly grouped" else qid
    return RNG.integers(0, 5, len(qid)).astype(float), RNG.random(len(qid)), qid


@pytest.mark.parametrize("order", ["grouped", "nearly grouped", "shuffled"])
@pytest.mark.parametrize("sizes", [[3] * 100_000, [200_000, 150_000], range(1, 800)], ids=["many", "large", "mixed"])
def test_grouping_many_rows(sizes, order):
    """More rows than a block; results do not depend on the type of ids, the order of rows or the threads."""
    y, s, qid = make_rows(sizes, order)
    check(qid)
    grouping = group_rows(qid, len(qid))
    rows = grouping.input_rows()
    text = np.array([f"query {i}" for i in range(len(sizes))], dtype=object)
    weight = 1.0 + qid % 3
    grouped = evaluate(y[rows], s[rows], qid=qid[rows], sample_weight=weight[rows], metrics=["ndcg@5", "map", "mse"])
    assert grouped.qid.tolist() == grouping.ids.tolist()
    for ids, n_jobs in ((qid, 1), (qid, 2), (text[qid], 2), (text[qid].tolist(), 1), (qid.astype(np.int32), 2)):
        found = evaluate(y, s, qid=ids, sample_weight=weight, metrics=["ndcg@5", "map", "mse"], n_jobs=n_jobs)
        for name, values in grouped.per_query.items():
            assert found.per_query[name].tobytes() == values.tobytes()
            assert found.mean() == grouped.mean()


def test_grouping_errors_name_the_input_row():
    y, s, qid = np.array([1.0, 0, 1, np.inf, 0]), np.arange(5.0), [0, 1, 0, 1, 0]
    with pytest.raises(ValueError, match="infinite label in row 3"):
        ndcg_score(y, s, qid=qid)
    with pytest.raises(ValueError, match=r"must not be below 0. Got -1, the first in row 1"):
        ndcg_score([0, -1, -1, 0, 0], s, qid=qid)
    with pytest.raises(ValueError, match=r"Got 1 and 2 in query 1"):
        ndcg_score([0, 1, 1, 0, 0], s, qid=qid, sample_weight=[1, 1, 1, 2, 1])
    with pytest.raises(ValueError, match="must be adjacent"):
        group_sizes(qid)


def test_an_invalid_row_of_a_block_of_queries_is_counted_from_the_first_block():
    block = Grouping.by_matrix(np.arange(3), 4, first_query=5)
    assert block.first_row(np.arange(12) == 9) == 5 + 2


def test_missing_ids_in_an_index():
    """They do not compare equal, and are rejected as elsewhere."""
    ids = np.array([pd.NA, 1], dtype=object)
    with pytest.raises(ValueError, match="qid must not contain missing values"):
        refuse_other_queries(pd.Series([1.0, 2.0], index=pd.Index(ids.copy(), name="qid")), ids, name="y_true")


@pytest.mark.parametrize("written", [-1, 3, 2**62, -(2**63)])
def test_ids_changed_by_another_thread_are_rejected(written):
    """The range of the ids was computed before."""
    with pytest.raises(ValueError, match="pass a copy if another thread writes"):
        _grouping._number_near(np.array([1, 0, written, 2]), 0, 3)


@pytest.mark.parametrize("name", ["query_id", "query", "group", "user_id"])
def test_error_for_another_level_suggests_rename(name):
    y = pd.Series([1, 0], index=pd.Index(["a", "a"], name=name))
    with pytest.raises(ValueError, match=f"Rename its level '{name}': (.*)\\.$") as error:
        ndcg_score(y, [2, 1])
    call = str(error.value).rpartition(": y_true")[2].removesuffix(".")
    assert ndcg_score(eval(f"y{call}"), [2, 1]) == 1
