"""Concurrent calls: each thread gets the same bits as a single caller, and warning filters are restored."""

import os
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from io import BytesIO
from threading import Barrier, get_ident
from time import sleep

import numpy as np
import pytest

from sklearn_rank import (
    LeaveOneQueryOut,
    QueryKFold,
    QueryShuffleSplit,
    RankingAccumulator,
    RepeatedQueryKFold,
    compare_systems,
    evaluate,
    evaluate_run,
    parse_metric,
    prepare,
)
from sklearn_rank._metric import compute, names
from sklearn_rank.io import read_run
from sklearn_rank.metrics import map_score, ndcg_score
from sklearn_rank.retrieval import evaluate_retrieval
from sklearn_rank.stats import power_of

N_THREADS = 8
METRICS = ["ndcg@10", "map", "err", "auc", "p@5"]


def rows(n_rows, n_queries, seed=0):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, n_rows), rng.integers(0, n_rows, n_rows) / 7, rng.integers(0, n_queries, n_rows)


FEW, MANY = rows(60, 6), rows(3000, 100)
JUDGMENTS = {f"q{q}": {f"d{d}": (q + d) % 3 for d in range(9)} for q in range(5)}
RUNS = {name: {q: {d: hash_of(q, d) for d in of} for q, of in JUDGMENTS.items()} for name, hash_of in (
    ("a", lambda q, d: int(q[1:]) * 7 % 5 + int(d[1:])), ("b", lambda q, d: -int(d[1:])),
)}  # fmt: skip
TREC = "".join(f"q{i // 50} Q0 d{i} 1 {i % 7} me\n" for i in range(2000)).encode()
RESULT = evaluate(*MANY[:2], qid=MANY[2], metrics=METRICS, by={"country": MANY[2] % 3})
PREPARED = {len(y): prepare(y, qid=qid, metrics=METRICS, n_jobs=2) for y, _, qid in (FEW, MANY)}


def accumulate(data):
    """Each query separately, and two halves merged."""
    halves = [RankingAccumulator(METRICS) for _ in range(2)]
    for q in np.unique(data[2]):
        halves[q % 2].update(*(column[data[2] == q] for column in data))
    return halves[0].merge(halves[1]).compute().mean()


CALLS = {
    "one metric": lambda i: ndcg_score(*FEW[:2], qid=FEW[2], k=i % 9 + 1),
    "a metric of many rows": lambda i: map_score(*MANY[:2], qid=MANY[2], n_jobs=2),
    "names": lambda i: evaluate(*FEW[:2], qid=FEW[2], metrics=[f"ndcg@{i % 9 + 1}", "map"]).mean(),
    "an alias": lambda i: parse_metric("mean_average_precision").metric.name,
    "many rows": lambda i: evaluate(*MANY[:2], qid=MANY[2], metrics=METRICS, n_jobs=2).per_query["err"].tobytes(),
    "prepared, few rows": lambda i: PREPARED[60](np.roll(FEW[1], i % 5)),
    "prepared, many rows": lambda i: PREPARED[3000].evaluate(np.roll(MANY[1], i % 5)).mean(),
    "an accumulator": lambda i: accumulate(FEW),
    "a run": lambda i: evaluate_run(JUDGMENTS, RUNS["a"], metrics=METRICS).mean(),
    "systems": lambda i: compare_systems(JUDGMENTS, RUNS, metrics="ndcg@3").results["b"].mean(),
    "a file": lambda i: read_run(BytesIO(TREC), n_jobs=2).value.tobytes(),
    "segments of a result": lambda i: repr(RESULT.segments("country")),
    "intervals of a result": lambda i: RESULT.confidence_interval(),
    "folds": lambda i: [*QueryKFold(3).split(MANY[0], groups=MANY[2])][0][1].tobytes(),
}


@pytest.fixture
def hurried(monkeypatch):
    """Switch threads often, keep few buffers between calls, and cut data into small blocks."""
    monkeypatch.setattr(names, "MOST_PARSED", 2)
    monkeypatch.setattr(compute, "MOST_RANKS", 2**11)
    monkeypatch.setattr("sklearn_rank._utils.blocks.BLOCK_ROWS", 500)
    monkeypatch.setattr("sklearn_rank.io._source.PIECE_OF_FILE", 10_000)
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.slow
def test_threads_get_the_same_bits(hurried):
    calls = [(name, i) for i in range(5) for name in CALLS]
    expected = {(name, i): repr(CALLS[name](i)) for name, i in calls}
    start = Barrier(N_THREADS)

    def call_all(thread):
        """All calls, in a different order for each thread."""
        mine = np.random.default_rng(thread).permutation(len(calls))
        start.wait(20)
        return {calls[j]: repr(CALLS[calls[j][0]](calls[j][1])) for j in mine}

    filters = list(warnings.filters)
    with ThreadPoolExecutor(N_THREADS) as pool:
        for found in pool.map(call_all, range(N_THREADS)):
            assert found == expected
    assert warnings.filters == filters


def features(rows):
    return np.arange(3.0 * rows).reshape(rows, 3) % 4


CHANGE_FILTERS = {
    **{cv.__class__.__name__: lambda cv=cv: [*cv.split(MANY[0], groups=MANY[2])]
       for cv in (QueryKFold(3), RepeatedQueryKFold(3, n_repeats=2), QueryShuffleSplit(3), LeaveOneQueryOut())},
    "retrieval": lambda: evaluate_retrieval(features(4) + 1, features(9) + 1, [0, 1, 0, 1], np.arange(9) % 2),
    "power": lambda: power_of(1, difference=0.3, n_queries=20),
}  # fmt: skip


@pytest.mark.parametrize("call", CHANGE_FILTERS.values(), ids=CHANGE_FILTERS)
def test_one_thread_at_a_time_changes_warning_filters(call, monkeypatch):
    """scikit-learn changes the filters as well when it checks groups and matrices."""
    inside, most = [], []

    class Watched(warnings.catch_warnings):
        def __enter__(self):
            inside.append(get_ident())
            most.append(len({*inside}))
            sleep(0.01)  # wait for the other threads
            return super().__enter__()

        def __exit__(self, *error):
            super().__exit__(*error)
            inside.remove(get_ident())

    call()
    monkeypatch.setattr(warnings, "catch_warnings", Watched)
    with ThreadPoolExecutor(3) as pool:
        for done in [pool.submit(call) for _ in range(3)]:
            done.result()
    assert len(most) >= 3
    assert max(most) == 1


@pytest.mark.skipif(not hasattr(os, "fork"), reason="nothing is forked")
def test_a_fork_while_another_thread_changes_filters():
    """Run in its own process: pytest has threads, and Python warns about forks with threads."""
    program = """
import os, threading, time
from sklearn_rank._utils.warning import own_filters

def change():
    with own_filters():
        changing.set()
        time.sleep(0.2)

changing = threading.Event()
threading.Thread(target=change).start()
changing.wait(20)
child = os.fork()
if child == 0:
    threading.Timer(20, os._exit, [1]).start()
    with own_filters():
        os._exit(0)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    subprocess.run([sys.executable, "-W", "ignore", "-c", program], check=True, timeout=60)
