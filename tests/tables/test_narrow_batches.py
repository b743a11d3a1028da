"""Batches keep rows in their narrow types; types may differ, and each value comes back bit for bit."""

import threading

import numpy as np
import pytest
from batch_cases import assert_same, check, cut, make

from sklearn_rank import evaluate, evaluate_table
from sklearn_rank._tables.batch_validator import narrow_labels
from sklearn_rank._tables.query_ids import QueryIdIndex
from sklearn_rank._utils.threads import with_helpers


@pytest.mark.parametrize("special", [[-0.0], [np.nan], [256.0], [0.5], [-1.0], [np.inf], [1e300], [5e-324]])
def test_labels_that_no_byte_holds_stay_as_they_are(special):
    label = np.array([0.0, 255.0, *special])
    kept = narrow_labels(label)
    assert kept.dtype == np.float64
    assert kept.tobytes() == label.tobytes()
    assert kept is not label
    assert narrow_labels(label[:2]).dtype == np.uint8


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


def test_signs_of_zeros_and_fractions_go_to_disk_and_back():
    data = make(shuffle=True)
    label = np.where(data.y_true == 0, -0.0, data.y_true + np.where(np.arange(len(data.qid)) > 200, 0.25, 0))
    check((label, data.y_score, data.qid), 20, metrics=["dcg(gain=linear)@5", "mse"], memory_limit=500)


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
def test_batches_are_read_by_the_calling_thread(grouped):
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


# --- ids -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ids",
    [
        np.array([2**63 - 1, -(2**63), 0, 2**63 - 1, -1]),
        np.array([2**64 - 1, 0, 2**63, 2**64 - 1], dtype=np.uint64),
        np.array([0.0, -0.0, 1.5, 2.0**53 - 1, -(2.0**53) + 1, 1.5]),
        np.array([3, 3, 1, 3], dtype=">i4"),
        np.array(["a", "b", "a"]),
        np.array([True, False, True]),
    ],
    ids=["int64", "uint64", "float64", "swapped", "text", "bool"],
)
def test_numbers_of_rows(ids):
    index = QueryIdIndex()
    numbers = np.concatenate([index.number_rows(part, len(part)) for part in (ids[:2], ids, ids[::-1])])
    found = index.ids()[numbers]
    assert found.tolist() == [*ids[:2].tolist(), *ids.tolist(), *ids[::-1].tolist()]
    assert index.n == len(set(ids.tolist()))
    first_seen = [*dict.fromkeys(numbers.tolist())]
    assert first_seen == sorted(first_seen)


@pytest.mark.parametrize("ids", [np.array([1.0, np.nan]), np.array([["a", "b"]]), np.ones((2, 2)), np.ones(3)])
def test_query_id_index_refuses_invalid_ids(ids):
    with pytest.raises(ValueError, match="qid must"):
        QueryIdIndex().number_rows(ids, 2)


# --- threads -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 4])
def test_results_of_helpers_are_in_order(n_threads):
    alive, most, lock = [0], [0], threading.Lock()

    def items():
        yield from range(200)

    def square(i):
        with lock:
            alive[0] += 1
            most[0] = max(most[0], alive[0])
        value = sum(range(1000)) * 0 + i * i
        with lock:
            alive[0] -= 1
        return value

    assert [*with_helpers(square, items(), n_threads)] == [i * i for i in range(200)]
    assert most[0] <= n_threads


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize("where", ["function", "items"])
def test_errors_of_helpers_stop_all(n_threads, where):
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
