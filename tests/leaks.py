"""Memory and objects that many calls leave behind: `python tests/leaks.py [--calls 100000]`."""

import argparse
import gc
import io
import sys
from pathlib import Path

import numpy as np

from sklearn_rank import evaluate, prepare
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank.io import read_run
from sklearn_rank.metrics import ndcg_score

RNG = np.random.default_rng(0)
QID, LABEL, SCORE = np.repeat(np.arange(8), 5), RNG.integers(0, 3, 40), RNG.random(40)
TEXT = [f"query {i}" for i in RNG.integers(0, 9, 40)]
RUN = b"".join(b"q%d Q0 d%d 1 0.%d me\n" % (i % 3, i, i) for i in range(20))
CALLS = {
    "ndcg_score": lambda: ndcg_score(LABEL, SCORE, qid=QID),
    "evaluate": lambda: evaluate(LABEL, SCORE, qid=QID, metrics=["ndcg@3", "map"]),
    "prepare": lambda: prepare(LABEL, qid=QID),
    "read_run": lambda: read_run(io.BytesIO(RUN), n_jobs=1),
    "group_rows": lambda: group_rows(TEXT, 40),
}


def _resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4 if sys.platform == "linux" else 0


def growth(call, n):
    """KiB of memory, and objects that the collector of garbage knows, more after n calls than after the first 50."""
    for _ in range(50):
        call()
    gc.collect()
    memory, objects = _resident(), len(gc.get_objects())
    for _ in range(n):
        call()
    gc.collect()
    return _resident() - memory, len(gc.get_objects()) - objects


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=100_000)
    n, failed = parser.parse_args().calls, False
    for name, call in CALLS.items():
        memory, objects = growth(call, n)
        failed |= memory > 10 * 1024 or objects > 100
        print(f"{name:14} {n} calls: {memory} KiB and {objects} objects more", flush=True)
    sys.exit(failed)
