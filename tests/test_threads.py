"""Blocks run on threads at the same time, and all of them stop at an error or an interrupt."""

import signal
import subprocess
import sys
import time
from itertools import count
from threading import Barrier, Event, current_thread

import numpy as np
import pytest

from sklearn_rank import evaluate
from sklearn_rank._engine.check import check_queries
from sklearn_rank._utils import threads as _threads
from sklearn_rank._utils.threads import StoppedError, for_each, heed, on_threads
from sklearn_rank.io import read_trec_run

BLOCKS = [(i, i + 1) for i in range(1000)]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(_threads, "BLOCK_ROWS", 2)


def meeting(n_threads=2):
    """A function that returns once it runs on so many threads at a time."""
    barrier, n_calls = Barrier(n_threads, timeout=20), count()

    def meet(x):
        if next(n_calls) < n_threads:
            barrier.wait()
        return x

    return meet


# --- at the same time ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [2, 3])
def test_blocks_run_at_the_same_time(n_threads):
    meet = meeting(n_threads)
    assert for_each(lambda a, b: meet(a), BLOCKS, n_threads) == [*range(1000)]
    assert on_threads(meeting(n_threads), iter(range(10)), n_threads) == [*range(10)]


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_thread_is_the_caller(n_jobs):
    assert set(for_each(lambda a, b: current_thread(), BLOCKS, n_jobs)) == {current_thread()}


def test_evaluate_uses_threads(small_blocks):
    y, s, qid = np.ones(40), np.arange(40.0), np.arange(40) // 2
    meet = meeting()
    result = evaluate(y, s, qid=qid, metrics={"own": lambda y, s: meet(1.0), "map": "map"}, n_jobs=2)
    assert result.mean() == {"own": 1.0, "map": 1.0}


def test_sparse_lists_use_threads(monkeypatch):
    from scipy import sparse

    monkeypatch.setattr("sklearn_rank._engine.sparse.PAIRS", 4)
    meet, ones = meeting(), np.ones((20, 2))
    result = evaluate(sparse.csr_array(ones), ones, metrics=lambda y, s: meet(0.5), n_jobs=2)
    assert [*result.mean().values()] == [0.5]


def test_ties_are_looked_for_on_threads(small_blocks, monkeypatch):
    meet, real = meeting(), sys.modules["sklearn_rank._engine.per_query"].rank_block
    result = evaluate(np.ones(40), np.ones(40), qid=np.arange(40) // 2, metrics="map", n_jobs=2)
    monkeypatch.setattr("sklearn_rank._engine.per_query.rank_block", lambda *a: meet(real(*a)))
    assert result.n_tied == {"map": 20}


@pytest.mark.parametrize("n_rows", [41, 40])
def test_checks_use_threads(n_rows, small_blocks, monkeypatch):
    meet, real = meeting(), sys.modules["sklearn_rank._engine.check"]._range
    monkeypatch.setattr("sklearn_rank._engine.check._range", lambda x: meet(real(x)))
    check_queries(np.ones(n_rows), np.ones(n_rows), qid=np.arange(n_rows), n_jobs=2)


def test_files_are_read_on_threads(monkeypatch, tmp_path):
    monkeypatch.setattr("sklearn_rank.io._source.PIECE", 100)
    (tmp_path / "run").write_text("".join(f"q{i} Q0 d 1 0.5 me\n" for i in range(100)))
    meet, real = meeting(), read_trec_run.__globals__["_read_lines"]
    monkeypatch.setattr("sklearn_rank.io._trec._read_lines", lambda *a: meet(real(*a)))
    assert len(read_trec_run(tmp_path / "run", n_jobs=2)) == 100


# --- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_threads", [1, 2, 3])
@pytest.mark.parametrize("place", [0, 7])
def test_an_error_stops_all_and_is_raised_as_it_is(n_threads, place):
    error, done = KeyError("as it is"), []

    def compute(start, stop):
        if start == place:
            raise error
        done.append(start)
        time.sleep(0.01)

    with pytest.raises(KeyError) as caught:
        for_each(compute, BLOCKS, n_threads)
    assert caught.value is error
    assert len(done) < place + 20
    assert on_threads(str, range(20), n_threads) == [*map(str, range(20))]  # nothing of it stays


def test_an_error_where_items_are_made():
    def items():
        yield 1
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        on_threads(lambda x: x, items(), 2)


def test_work_that_heeds_stops_at_once():
    """One thread waits for ever, but looks whether the other failed."""
    begun = Event()

    def compute(start, stop):
        if start == 0:
            begun.wait(20)
            raise ValueError("failed")
        begun.set()
        while True:
            heed()
            time.sleep(0.001)

    for blocks in (BLOCKS[:2], BLOCKS[1::-1]):  # whichever of the threads it is
        begun.clear()
        with pytest.raises(ValueError, match="failed"):
            for_each(compute, blocks, 2)
    heed()


def test_threads_of_threads_stop_too():
    begun = Event()

    def forever(item):
        begun.set()
        while True:
            heed()
            time.sleep(0.001)

    def compute(start, stop):
        if start == 0:
            begun.wait(20)
            raise ValueError("failed")
        on_threads(forever, range(2), 2)

    with pytest.raises(ValueError, match="failed"):
        for_each(compute, BLOCKS[:2], 2)


def test_an_inner_failure_does_not_stop_the_outer_threads():
    def compute(start, stop):
        with pytest.raises(ValueError, match="inner"):
            on_threads(lambda item: [][item] if item < 0 else fail(), range(3), 2)
        heed()
        return start

    def fail():
        raise ValueError("inner")

    assert for_each(compute, BLOCKS[:9], 2) == [*range(9)]


LONG = np.random.default_rng(0).random((150_000, 30)) < 0.3
"""Documents of nearly as many kinds, of which alpha-nDCG's best order takes minutes."""


def test_a_long_kernel_stops_when_another_thread_fails():
    def compute(start, stop):
        if start == 0:
            time.sleep(0.5)
            raise ValueError("failed")
        with pytest.raises(StoppedError) as caught:
            evaluate(LONG, np.arange(len(LONG)), qid=np.zeros(len(LONG)), metrics="alpha_ndcg")
        raise caught.value

    began = time.perf_counter()
    with pytest.raises(ValueError, match="failed"):
        for_each(compute, BLOCKS[:2], 2)
    assert time.perf_counter() - began < 15


# --- interrupts ----------------------------------------------------------------------------------------------

SCRIPT = """
import sys, threading, time
import numpy as np
from sklearn_rank import evaluate
from sklearn_rank._utils import threads as _threads
n_jobs, rng = int(sys.argv[1]), np.random.default_rng(0)

def start():
    threading.Timer(0.7, print, ("started",), {"flush": True}).start()
"""
CASES = {
    "kernel": """
_threads.BLOCK_ROWS = 1
n = 150_000
labels = np.tile(rng.random((n, 30)) < 0.3, (2, 1))
start()
evaluate(labels, np.arange(2 * n), qid=np.repeat([0, 1], n), metrics="alpha_ndcg", n_jobs=n_jobs)
""",
    "queries": """
n = 500_000
start()
evaluate(np.ones(n), np.ones(n), qid=np.arange(n), metrics=lambda y, s: time.sleep(1e-3) or 1.0, n_jobs=n_jobs)
""",
    "blocks": """
start()
_threads.for_each(lambda a, b: time.sleep(0.1), [(i, i + 1) for i in range(1000)], n_jobs)
""",
}


@pytest.mark.parametrize(("case", "n_jobs"), [("kernel", 1), ("kernel", 2), ("queries", 2), ("blocks", 2)])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT")
def test_an_interrupt_stops_all_threads(case, n_jobs):
    command = [sys.executable, "-c", SCRIPT + CASES[case], str(n_jobs)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        try:
            assert process.stdout.readline() == b"started\n"
            process.send_signal(signal.SIGINT)
            began = time.perf_counter()
            printed = process.communicate(timeout=60)[1].decode()
            took = time.perf_counter() - began
        finally:
            process.kill()
    assert printed.rstrip().endswith("KeyboardInterrupt")
    assert took < 10  # it is a few tenths of a second on a machine that does nothing else; the whole takes a minute
