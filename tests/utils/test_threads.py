"""Blocks run on threads at the same time, and all of them stop at an error or an interrupt."""

import os
import signal
import subprocess
import sys
import time
import weakref
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar
from itertools import count
from threading import Barrier, Event, Thread, current_thread

import numpy as np
import pytest

from sklearn_rank import evaluate
from sklearn_rank._utils import blocks, threads
from sklearn_rank._utils.threads import StoppedError, check_interrupt, map_blocks, map_items, map_with_state
from sklearn_rank.io import _trec, read_run

pytestmark = pytest.mark.slow

BLOCKS = [(i, i + 1) for i in range(1000)]


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 2)


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
    assert map_blocks(lambda a, b: meet(a), BLOCKS, n_threads) == [*range(1000)]
    assert map_items(meeting(n_threads), iter(range(10)), n_threads) == [*range(10)]


@pytest.mark.parametrize("n_threads", [1, 2])
def test_each_thread_has_its_own_function(n_threads):
    owners, meet = [], meeting(n_threads)

    def make():
        owner = current_thread()
        owners.append(owner)

        def function(item):
            assert current_thread() is owner
            return meet(item)

        return function

    assert map_with_state(make, iter(range(10)), n_threads) == [*range(10)]
    assert len(owners) == len({*owners}) == n_threads


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_a_single_thread_is_the_caller(n_jobs):
    assert set(map_blocks(lambda a, b: current_thread(), BLOCKS, n_jobs)) == {current_thread()}


def test_evaluate_uses_threads(small_blocks):
    y, s, qid = np.ones(40), np.arange(40.0), np.arange(40) // 2
    meet = meeting()
    result = evaluate(y, s, qid=qid, metrics={"own": lambda y, s: meet(1.0), "map": "map"}, n_jobs=2)
    assert result.mean() == {"own": 1.0, "map": 1.0}


def test_sparse_lists_use_threads(monkeypatch):
    from scipy import sparse

    monkeypatch.setattr("sklearn_rank._engine.sparse.ROWS_IN_MEMORY", 4)
    meet, ones = meeting(), np.ones((20, 2))
    result = evaluate(sparse.csr_array(ones), ones, metrics=lambda y, s: meet(0.5), n_jobs=2)
    assert [*result.mean().values()] == [0.5]


def test_files_are_read_on_threads(monkeypatch, tmp_path):
    monkeypatch.setattr("sklearn_rank.io._source.PIECE_OF_FILE", 100)
    (tmp_path / "run").write_text("".join(f"q{i} Q0 d 1 0.5 me\n" for i in range(100)))
    meet, real = meeting(), _trec._read_lines
    monkeypatch.setattr("sklearn_rank.io._trec._read_lines", lambda *a: meet(real(*a)))
    assert len(read_run(tmp_path / "run", n_jobs=2)) == 100


# --- threads are kept ----------------------------------------------------------------------------------------


def threads_of(n_threads):
    """Threads that blocks run on, each of them busy until all are."""
    meet = meeting(n_threads)
    return set(map_blocks(lambda a, b: meet(current_thread()), BLOCKS[:20], n_threads))


def test_threads_are_kept_for_the_next_calls():
    """If a thread is not idle when the next call begins, another is started, but not each time."""
    assert 2 <= len(set().union(*[threads_of(2) for _ in range(40)])) < 10
    assert 3 <= len(set().union(*[threads_of(3) for _ in range(40)])) < 12


@pytest.mark.parametrize("n_threads", [2, 3])
def test_a_thread_that_failed_is_kept(n_threads):
    seen = set()
    for _ in range(40):
        with pytest.raises(ValueError, match="failed"):
            map_items(int, iter(["1", "failed"]), n_threads)
        seen |= threads_of(n_threads)
    assert n_threads <= len(seen) < 12


def test_nested_and_concurrent_calls_have_their_own_threads():
    """All of them wait for each other, so each has as many threads as it requested."""
    meet = meeting(8)

    def outer(start, stop):
        map_blocks(lambda a, b: meet(a), BLOCKS[:2], 2)

    callers = [Thread(target=map_blocks, args=(outer, BLOCKS[:2], 2)) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
        assert not caller.is_alive()


def test_calls_for_more_threads_than_are_kept_do_with_fewer(monkeypatch):
    """Helpers that never begin are not waited for, also inside each other."""
    monkeypatch.setattr(threads, "_executor", ThreadPoolExecutor(2))
    meet = meeting(3)

    def outer(start, stop):
        return sum(map_blocks(lambda a, b: meet(1), BLOCKS[:9], 8))

    assert map_blocks(outer, BLOCKS[:9], 8) == [9] * 9
    threads._executor.shutdown()


@pytest.mark.parametrize("n_more", [0, 1])
def test_threads_that_do_not_start_leave_the_work_to_others(n_more, monkeypatch):
    monkeypatch.setattr(threads, "_executor", threads._new_executor())
    starts = iter([None] * n_more)

    def start(self, start=Thread.start):
        for _ in starts:
            return start(self)
        raise RuntimeError("can't start new thread")

    meet = meeting(1 + n_more)
    with monkeypatch.context() as patched:
        patched.setattr(Thread, "start", start)
        assert map_blocks(lambda a, b: meet(a), BLOCKS, 4) == [*range(1000)]
    # A thread that starts later takes the remaining item, and does nothing.
    assert len(threads_of(2)) == 2


def test_a_thread_without_memory_to_begin_leaves_the_work_to_others(monkeypatch):
    stops, refused = threads._stop_events, []

    def stops_of_callers():
        if current_thread().name.startswith("sklearn_rank"):
            refused.append(1)
            raise MemoryError
        return stops()

    monkeypatch.setattr(threads, "_stop_events", stops_of_callers)
    found = map_items(lambda item: refused or time.sleep(0.01) or str(item), range(1000), 2)
    assert len(found) == 1000
    assert refused


def test_results_that_are_missing_without_an_error_are_not_returned():
    """A thread that has failed, and had no memory to say why."""
    with pytest.raises(MemoryError):
        map_items(lambda item: threads._stop_events()[-1].set(), range(100), 2)


def test_a_kept_thread_holds_no_data():
    array = np.ones(3)
    known = weakref.ref(array)
    map_items(lambda item, array=array: len(array), range(4), 2)
    del array
    for _ in range(1000):
        if known() is None:
            return
        time.sleep(0.001)
    raise AssertionError("a thread without work holds what it worked on")


def test_a_kept_thread_runs_in_the_context_of_each_call():
    """As on one thread: the caller chooses how NumPy handles errors."""
    variable = ContextVar("variable", default=0)
    for value in (1, 2):
        meet = meeting()
        variable.set(value)
        assert map_items(lambda i, meet=meet: meet(variable.get()), range(9), 2) == [value] * 9


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_fork_starts_its_own_threads():
    """Pytest turns Python 3.12's warning about forks with threads into an error."""
    threads_of(3)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if len(threads_of(3)) == 3 else 1)
    assert os.waitpid(child, 0)[1] == 0
    assert len(threads_of(3)) == 3


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows does not fork")
def test_a_fork_in_a_thread_starts_its_own_threads():
    def fork(item):
        child = os.fork() if current_thread().name.startswith("sklearn_rank") else -1
        if child == 0:
            signal.alarm(20)
            os._exit(0 if len(threads_of(2)) == 2 else 1)
        return 0 if child < 0 else os.waitpid(child, 0)[1]

    meet = meeting()
    assert map_items(lambda item: fork(meet(item)), range(3), 2) == [0] * 3


def test_a_process_ends_with_idle_threads():
    """If a thread is at work, the process ends after that work."""
    script = (
        "import time\nfrom threading import Thread\nfrom sklearn_rank._utils.threads import map_items\n"
        "map_items(int, '12', 2)\n"
        "Thread(target=map_items, args=(lambda item: time.sleep(0.5), range(4), 3), daemon=True).start()\n"
        "time.sleep(0.2)\nprint('ends')"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    assert (done.stdout.split(), done.stderr) == ([b"ends"], b"")


def test_calls_while_a_process_ends_use_one_thread():
    """Other threads no longer run, so waiting for them would never end; executors start no threads."""
    script = (
        "import atexit, sys\nimport numpy as np\nfrom sklearn_rank import evaluate_table\n"
        "from sklearn_rank._utils.threads import map_items, with_helpers\n"
        "def ask(on=map_items, beside=with_helpers):\n    print(on(int, '12', 2), [*beside(int, '34', 2)])\n"
        "def ask_all():\n    ask()\n    y = np.arange(4000) % 2\n"
        "    print(evaluate_table([(y, y, y)] * 2, metrics='p@1', n_jobs=2, memory_limit=100).mean()['p@1'])\n"
        "class Late:\n    def __del__(self, ask=ask):\n        ask()\n"
        "ask()\natexit.register(ask_all)\nlate = Late()\nlate.itself = late"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, timeout=60, check=True)
    lines = done.stdout.decode().splitlines()
    assert (lines, done.stderr) == (["[1, 2] [3, 4]"] * 2 + ["0.5"] + ["[1, 2] [3, 4]"], b"")


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
        map_blocks(compute, BLOCKS, n_threads)
    assert caught.value is error
    assert len(done) < place + 20
    assert map_items(str, range(20), n_threads) == [*map(str, range(20))]  # nothing of it stays


def test_an_error_in_the_iterable_of_items():
    def items():
        yield 1
        raise OSError("no more")

    with pytest.raises(OSError, match="no more"):
        map_items(lambda x: x, items(), 2)


def test_work_that_checks_for_interrupts_stops_immediately():
    """One thread waits forever, but checks whether the other failed."""
    begun = Event()

    def compute(start, stop):
        if start == 0:
            begun.wait(20)
            raise ValueError("failed")
        begun.set()
        while True:
            check_interrupt()
            time.sleep(0.001)

    for some in (BLOCKS[:2], BLOCKS[1::-1]):  # whichever of the threads it is
        begun.clear()
        with pytest.raises(ValueError, match="failed"):
            map_blocks(compute, some, 2)
    check_interrupt()


def test_threads_of_threads_stop():
    begun = Event()

    def forever(item):
        begun.set()
        while True:
            check_interrupt()
            time.sleep(0.001)

    def compute(start, stop):
        if start == 0:
            begun.wait(20)
            raise ValueError("failed")
        map_items(forever, range(2), 2)

    with pytest.raises(ValueError, match="failed"):
        map_blocks(compute, BLOCKS[:2], 2)


def test_an_inner_failure_does_not_stop_the_outer_threads():
    def compute(start, stop):
        with pytest.raises(ValueError, match="inner"):
            map_items(lambda item: [][item] if item < 0 else fail(), range(3), 2)
        check_interrupt()
        return start

    def fail():
        raise ValueError("inner")

    assert map_blocks(compute, BLOCKS[:9], 2) == [*range(9)]


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
        map_blocks(compute, BLOCKS[:2], 2)
    assert time.perf_counter() - began < 15


# --- interrupts ----------------------------------------------------------------------------------------------

SCRIPT = """
import sys, threading, time
import numpy as np
from sklearn_rank import evaluate
from sklearn_rank._utils import blocks as _blocks
from sklearn_rank._utils import threads as _threads
n_jobs, rng = int(sys.argv[1]), np.random.default_rng(0)

def start():
    threading.Timer(0.7, print, ("started",), {"flush": True}).start()
"""
CASES = {
    "kernel": """
_blocks.BLOCK_ROWS = 1
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
_threads.map_blocks(lambda a, b: time.sleep(0.1), [(i, i + 1) for i in range(1000)], n_jobs)
""",
}


@pytest.mark.parametrize(("case", "n_jobs"), [("kernel", 1), ("kernel", 2), ("queries", 2), ("blocks", 2)])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT")
def test_an_interrupt_stops_all_threads(forks, case, n_jobs):
    with forks.run(SCRIPT + CASES[case], n_jobs) as process:
        assert process.stdout.readline() == b"started\n"
        process.send_signal(signal.SIGINT)
        began = time.perf_counter()
        printed = process.communicate(timeout=60)[1].decode()
        took = time.perf_counter() - began
    assert printed.rstrip().endswith("KeyboardInterrupt")
    assert took < 10  # it is a few tenths of a second on a machine that does nothing else; the whole takes a minute
