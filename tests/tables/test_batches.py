"""LazyQueries equals `evaluate` on all rows, bit for bit, and no row is lost between batches."""

import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from batch_cases import NAMES, assert_same, check, cut, make
from registry import Data

from sklearn_rank import evaluate, evaluate_table
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._tables import batch_validator, scattered_queries
from sklearn_rank._utils.threads import with_helpers


@pytest.fixture
def at_once(monkeypatch):
    """Queries are evaluated as soon as they have ended."""
    monkeypatch.setattr(batch_validator, "COLLECTED_ROWS", 1)


# --- the same bits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 7, 64, 10_000])
@pytest.mark.parametrize("grouped", [False, True])
def test_same_bits(at_once, size, grouped):
    check(make(), size, assume_grouped=grouped)


@pytest.mark.parametrize("size", [1, 13, 10_000])
@pytest.mark.parametrize(("memory_limit", "base"), [(1, 64), (500, 3), (999, 64), (10_000, 3), (2**28, 64)])
def test_rows_in_any_order(size, memory_limit, base, monkeypatch):
    """Labels are bytes, zeros of both signs, or some have a fraction."""
    monkeypatch.setattr(scattered_queries, "BASE", base)
    data, metrics = make(shuffle=True), ["ndcg@10", "ndcg(ties=stable)@10", "map", "mse", "dcg(gain=linear)@5"]
    late = np.arange(len(data.qid)) > 200
    for label in (data.y_true, np.where(late, -0.0, data.y_true), data.y_true + 0.25 * late):
        check(data._replace(y_true=label), size, memory_limit=memory_limit, metrics=metrics)


@pytest.mark.slow
def test_large_enough_to_be_divided_many_times(monkeypatch):
    monkeypatch.setattr(scattered_queries, "BASE", 3)
    data, one = make(n_queries=300, longest=9, shuffle=True), Data(np.ones(2000), np.arange(2000.0), np.full(2000, 9))
    check(data, 100, memory_limit=500)
    check(Data(*map(np.concatenate, zip(data, one, strict=True))), 99)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_rows_are_waited_for(n_jobs):
    check(make(n_queries=90_000, longest=14), 100_001, metrics=["ndcg@10", "map"], assume_grouped=True, n_jobs=n_jobs)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.filterwarnings("ignore:Every query has one row")
def test_many_ids_are_numbered(at_once, grouped):
    qid = np.random.default_rng(0).permutation(5000) * 2**40
    data = (np.ones(5000), np.ones(5000), qid)
    check(data, 1000, metrics="p@1", assume_grouped=grouped)
    check((*data[:2], qid.astype(str)), 1000, metrics="p@1", assume_grouped=grouped)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("fraction", [0, 0.5])
def test_memory_of_a_batch_may_be_used_again(grouped, weighted, fraction):
    data = make()
    data = data._replace(y_true=np.minimum(data.y_true + fraction, 4))
    columns = (*data, np.maximum(data.qid % 7 - 3.0, 0)) if weighted else data
    memory = [np.empty(10, c.dtype) for c in columns]

    def batches():
        for batch in cut(columns, 10):
            for place, column in zip(memory, batch, strict=True):
                place[: len(column)] = column
            yield tuple(place[: len(batch[0])] for place in memory)

    weight = {"sample_weight": columns[3]} if weighted else {}
    expected = evaluate(*data[:2], qid=data.qid, metrics=NAMES, **weight)
    assert_same(evaluate_table(batches(), metrics=NAMES, assume_grouped=grouped), expected)


@pytest.mark.parametrize("memory_limit", [500, 2**28])
def test_types_that_differ_between_batches(memory_limit):
    data = make(shuffle=True)
    score = np.floor(data.y_score * 3)
    expected = evaluate(data.y_true, score, qid=data.qid, metrics=["ndcg@10", "map", "mse"])
    labels = [np.float64, np.uint8, np.float32, ">f8", np.int64, np.float16]
    scores = [np.float32, np.float64, ">f4", np.int8, np.int64, np.float16, np.uint32]
    ids = [np.int64, np.int32, np.int16]
    batches = []
    for i, (label, one, qid) in enumerate(cut((data.y_true, score, data.qid), 20)):
        label, one = label.astype(labels[i % 6]), np.repeat(one.astype(scores[i % 7]), 2)[::2]
        label.flags.writeable = False
        batches.append((label, one, qid.astype(ids[i % 3])))
    found = evaluate_table(batches, metrics=["ndcg@10", "map", "mse"], memory_limit=memory_limit)
    assert_same(found, expected)


def test_a_wider_type_in_a_later_batch_applies_to_all():
    """Rows on disk are read together: bytes and labels with a fraction, float32 and float64."""
    data = make(shuffle=True)
    late = np.arange(len(data.qid)) >= 200
    label = data.y_true + np.where(late, 0.25, 0)
    narrow = data.y_score.astype(np.float32)
    score, metrics = np.where(late, data.y_score, narrow), ["dcg(gain=linear)@5", "mse"]
    expected = evaluate(label, score, qid=data.qid, metrics=metrics)
    first = cut((label[:200], narrow[:200], data.qid[:200]), 20)
    batches = [*first, *cut((label[200:], score[200:], data.qid[200:]), 20)]
    assert_same(evaluate_table(batches, metrics=metrics, memory_limit=500), expected)


@pytest.mark.parametrize("grouped", [False, True])
def test_batches_are_read_by_the_calling_thread(at_once, grouped):
    """Connections of sqlite3, for example, reject other threads."""
    threads = set()

    def batches():
        for batch in cut(make(n_queries=400), 50):
            threads.add(threading.get_ident())
            yield batch

    data = make(n_queries=400)
    expected = evaluate(*data[:2], qid=data.qid, metrics="map")
    found = evaluate_table(batches(), metrics="map", assume_grouped=grouped, memory_limit=5000, n_jobs=3)
    assert_same(found, expected)
    assert threads == {threading.get_ident()}


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("where", ["function", "items"])
def test_results_of_helpers_are_in_order_and_errors_stop_all(n_threads, where):
    taken = []

    def items():
        for i in range(10_000):
            taken.append(i)
            if where == "items" and i == 7:
                raise KeyError("here")
            yield i

    def function(i):
        if where == "function" and i >= 7:
            raise KeyError("here")

    with pytest.raises(KeyError, match="here"):
        [*with_helpers(function, items(), n_threads)]
    assert len(taken) < 10_000
    assert [*with_helpers(str, range(200), n_threads)] == [*map(str, range(200))]


OPTIONS = [{"assume_grouped": True}, {"assume_grouped": True, "n_jobs": 2}, {"memory_limit": 400}, {"n_jobs": 2}]


class Planted(BaseException):
    """Raised in the middle of a call."""


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("where", ["an iterator", "a metric", "a batch"])
def test_a_call_that_fails_leaves_no_trace(options, where, tmp_path):
    """The error is the one that was raised, no file is left, and the next call has the same bits."""
    data, planted = make(), Planted()
    options |= {} if options.get("assume_grouped") else {"folder": tmp_path}
    metrics = {"map": "map", "own": lambda y, s: fail() if where == "a metric" else 0.0}

    def fail():
        raise planted

    def batches():
        yield from cut(data, 50)
        if where == "an iterator":
            fail()
        if where == "a batch":
            yield ([1.0], [np.nan], data.qid[-1:])

    with pytest.raises(ValueError if where == "a batch" else Planted) as raised:
        evaluate_table(batches(), metrics=metrics, **options)
    assert raised.value is planted or "y_score must not contain NaN" in str(raised.value)
    assert [*tmp_path.iterdir()] == []
    expected = evaluate(*data[:2], qid=data.qid, metrics=NAMES)
    assert_same(evaluate_table(cut(data, 50), metrics=NAMES, **options), expected)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_calls_inside_a_call_and_beside_it(options):
    """As each batch is read, another evaluation runs; and several threads call at once."""
    data = make()
    expected = evaluate(*data[:2], qid=data.qid, metrics=NAMES)

    def call(_=None):
        return evaluate_table(cut(data, 50), metrics=NAMES, **options)

    def batches():
        for batch in cut(data, 200):
            assert_same(call(), expected)
            yield batch

    assert_same(evaluate_table(batches(), metrics=NAMES, **options), expected)
    with ThreadPoolExecutor(3) as pool:
        for found in pool.map(call, range(6)):
            assert_same(found, expected)


# --- nothing is lost -----------------------------------------------------------------------------------------

FIRST = ([1, 0], [2.0, 1.0], ["a", "a"])
NAN = float("nan")
EMPTY = (np.empty(0), np.empty(0), np.empty(0))
AT = r" This is batch 2, whose row 0 is row 3 of the stream\."


@pytest.mark.parametrize(
    ("batch", "error", "message"),
    [
        (([1, 1], [1, NAN], ["b", "b"]), ValueError, r"y_score must not contain NaN.*Got nan in row 1\."),
        (([1, NAN], [1, 1], ["b", "b"]), ValueError, r"y_true of map_score must not contain NaN.*in row 1\."),
        (([1, np.inf], [1, 1], ["b", "b"]), ValueError, r"y_true must be finite.*in row 1\."),
        (
            ([1, 9], [1, 1], ["b", "b"]),
            ValueError,
            r"y_true of err_score must not be above max_grade=4. Got 9.*row 1\.",
        ),
        (([1, -1], [1, 1], ["b", "b"]), ValueError, r"must not be below 0. Got -1, the first in row 1\."),
        (([1, 1], [1, 1], ["b", None]), ValueError, r"qid must not contain missing values"),
        (([1, 1], [1, 1], ["b"]), ValueError, r"needs 2 entries. Got 1"),
        (([1, 1], [1], ["b", "b"]), ValueError, r"one entry per row. Got 2 and 1"),
        ((["1", "1"], [1, 1], ["b", "b"]), TypeError, r"y_true must hold real numbers. Got"),
        (([1, 1], ["1", "1"], ["b", "b"]), TypeError, r"y_score must hold real numbers. Got"),
        (([1, 1], [1, 1], [1, 1]), TypeError, r"ids of one type in all batches.*Got integers after text\."),
        (
            ([[1, 0], [1, 0]], [1, 1], ["b", "b"]),
            ValueError,
            r"same subtopics in all batches. Got .* \(2,\) after \(\)\.",
        ),
        (([1, 1], [1, 1], ["b", "b"], [1, 1]), ValueError, r"Either all batches .* with after one without\."),
        (([1, 1], [1, 1]), ValueError, r"must be \(y_true, y_score, qid\) or .*Got 2 entries\."),
        (([1, 1], [1, 1], None), ValueError, r"pass qid="),
        (np.ones((2, 3)), TypeError, r"A batch must be a tuple .*Got ndarray\."),
        (pd.DataFrame({"label": [1], "q": [1], "score": [2]}), ValueError, r"Got no 'qid' among 'label', 'q', 'score'"),
    ],
)
@pytest.mark.parametrize("grouped", [False, True])
def test_bad_batches(grouped, batch, error, message):
    metrics = ["err", "map"] if "err_score" in message or "below" in message else ["map"]
    with pytest.raises(error, match=message + ".*" + AT):
        evaluate_table([FIRST, ([0], [0.5], ["a"]), batch], metrics=metrics, assume_grouped=grouped)


@pytest.mark.parametrize(
    ("scores", "lost"),
    [
        ([2**53 + 1, 7], "9007199254740993, which would be 9007199254740992.0"),
        (np.array([5, 2**63 + 1], dtype=np.uint64), "9223372036854775809"),
        ([1_700_000_000_123_456_789, 7], "1700000000123456789"),
        (np.array([-(2**53) - 1, 7], dtype=object), "-9007199254740993"),
        (np.array([-(2**53) - 1, 7]), "-9007199254740993"),
        (
            np.array([Decimal(1), Decimal("0.12345678901234567")]),
            "0.12345678901234567, which would be 0.12345678901234566",
        ),
    ],
)
def test_batch_scores_beyond_float_precision(scores, lost):
    """An id in another batch might be equal to it as a float, whether or not it is."""
    with pytest.raises(ValueError, match=f"numbers that float64 can tell apart.*Got {lost}.*This is batch 1,"):
        evaluate_table([([1, 0], [1, 0], [7, 7]), ([1, 0], scores, [8, 8])], metrics="map")


@pytest.mark.parametrize(
    "number", [2**53, 2**62, -(2**53) - 2, 1_700_000_000_123_456_000 // 256 * 256, Decimal("0.1"), Decimal("7.25")]
)
def test_scores_with_few_digits(number):
    kind = object if isinstance(number, Decimal) else np.int64
    batch = ([1, 0], np.array([number, 7], dtype=kind), [8, 8])
    assert evaluate_table([batch], metrics="mrr").mean()["mrr"] == (1.0 if number > 7 else 0.5)


@pytest.mark.parametrize("size", [1, 3])
def test_rows_that_are_not_adjacent(at_once, size):
    batches = cut(([1, 0, 1, 1], [1, 2, 3, 4], ["a", "b", "c", "a"]), size)
    with pytest.raises(
        ValueError,
        match=r"without it they may be in any order.*Got query 'a' again in row 0\. This is batch .*row 3 of",
    ):
        evaluate_table(batches, metrics="map", assume_grouped=True)
    with pytest.raises(ValueError, match=r"Got query 2 again in row 3\. This is batch 0, whose row 0 is row 0"):
        evaluate_table([([1, 0, 1, 1], [1, 2, 3, 4], [1, 2, 3, 2])], metrics="map", assume_grouped=True)


@pytest.mark.parametrize("grouped", [False, True])
def test_weights_are_checked_across_batches(grouped):
    batches = [([1], [1], ["a"], [2.0]), ([1], [1], ["a"], [3.0])]
    with pytest.raises(ValueError, match=r"constant within each. Got 2 and 3 in query 'a'. This is batch 1"):
        evaluate_table(batches, metrics="map", assume_grouped=grouped)
    with pytest.raises(ValueError, match=r"not all zero. Got values from 0.0 to 0.0"):
        evaluate_table([(*batch[:3], [0]) for batch in batches], metrics="map", assume_grouped=grouped)
    with pytest.raises(ValueError, match=r"not negative.*This is batch 0"):
        evaluate_table([([1], [1], ["a"], [-1])], metrics="map", assume_grouped=grouped)
    with pytest.raises(ValueError, match=r"with sample_weight= it needs the fourth. Got 3 entries"):
        evaluate_table([FIRST], metrics="map", assume_grouped=grouped, sample_weight="w")


@pytest.mark.parametrize("grouped", [False, True])
def test_empty_batches(grouped):
    batches = [EMPTY, FIRST, EMPTY, ([1], [3.0], ["a"]), EMPTY]
    found = evaluate_table(batches, metrics="mrr", assume_grouped=grouped)
    assert_same(found, evaluate([1, 0, 1], [2, 1, 3], qid=["a", "a", "a"], metrics="mrr"))
    for nothing in ([], [EMPTY, EMPTY]):
        with pytest.raises(ValueError, match="At least one row is needed. Got batches without rows"):
            evaluate_table(nothing, metrics="mrr", assume_grouped=grouped)


@pytest.mark.parametrize("grouped", [False, True])
def test_a_discount_of_more_than_the_rank_is_refused(at_once, grouped):
    batches = cut(([1, 0, 1, 0, 1, 0, 1, 0, 1], [1, 2, 3, 4, 5, 1, 2, 3, 4], [1] * 5 + [2] * 4), 5)
    with pytest.raises(ValueError, match=r"callable 'discount' must give.*Got others for 4 ranks than for 5"):
        evaluate_table(batches, metrics="dcg", discount=lambda r: 1 / r / (1 + len(r) % 2), assume_grouped=True)
    with pytest.raises(ValueError, match=r"The 'discount' array must have a weight for each rank"):
        evaluate_table(batches, metrics="dcg", discount=[1.0], assume_grouped=grouped)


def test_the_result_keeps_no_data(tmp_path):
    found = evaluate_table([FIRST], metrics="map")
    with pytest.raises(ValueError, match="Ties need the data.* of batches or a subset. Call evaluate again"):
        found.tie_range()
    found.save(tmp_path / "result.npz")
    assert Evaluation.load(tmp_path / "result.npz").mean() == found.mean()
    assert found.to_frame().index.tolist() == ["a"]


def test_a_discount_of_the_longest_batch_is_known_after_a_shorter_one(at_once):
    def discount(rank):
        return np.where((rank == 5) & (len(rank) == 7), 0.19, 1 / rank)

    batches = [(np.ones(n), np.arange(float(n)), np.full(n, q)) for q, n in enumerate((7, 2, 6, 1))]
    with pytest.raises(ValueError, match="Got others for 6 ranks than for 7"):
        evaluate_table(batches, metrics="dcg", discount=discount, assume_grouped=True)
