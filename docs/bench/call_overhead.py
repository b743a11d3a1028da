"""Microseconds of a call on ten rows, where all is overhead.

    python docs/bench/call_overhead.py [--seconds 10]

Two queries of five rows for ours; one row of ten documents for `sklearn.metrics.ndcg_score`. The functions take turns,
ten calls each, and the fastest turn counts, so that what else the machine does matters little. No time is asserted
here.
"""

import argparse
import time
from functools import partial

import numpy as np
import sklearn.metrics

from sklearn_rank import evaluate, prepare
from sklearn_rank.metrics import ndcg_score

METRICS = ["ndcg@10", "map", "mrr", "p@5", "err@20"]
CALLS = 10


def main() -> None:
    """Print one line for each function."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10.0)
    seconds = parser.parse_args().seconds
    label = np.array([3.0, 2.0, 3.0, 0.0, 1.0, 2.0, 0.0, 0.0, 1.0, 0.0])
    score = np.array([0.1, 0.9, 0.4, 0.3, 0.2, 0.6, 0.7, 0.8, 0.35, 0.5])
    qid = np.repeat([0, 1], 5)
    prepared, several = prepare(label[None], metrics="ndcg@10"), prepare(label, qid=qid, metrics=METRICS)
    functions = {
        "prepared ndcg@10, one query": partial(prepared, score[None]),
        "prepared, five metrics": partial(several, score),
        "ndcg_score(..., k=10)": partial(ndcg_score, label, score, qid=qid, k=10),
        "evaluate, five metrics": partial(evaluate, label, score, qid=qid, metrics=METRICS),
        "evaluate, five metrics, mean()": lambda: evaluate(label, score, qid=qid, metrics=METRICS).mean(),
        "scikit-learn's ndcg_score": partial(sklearn.metrics.ndcg_score, label[None], score[None], k=10),
    }
    fastest = dict.fromkeys(functions, float("inf"))
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        for name, function in functions.items():
            function()  # for its own caches
            start = time.perf_counter()
            for _ in range(CALLS):
                function()
            fastest[name] = min(fastest[name], 1e6 * (time.perf_counter() - start) / CALLS)
    for name, microseconds in fastest.items():
        print(f"{name:32} {microseconds:7.1f} us")


if __name__ == "__main__":
    main()
