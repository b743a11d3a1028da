#!/usr/bin/env python3
"""All ways in give the same bits: .ci/bits.py [SEED]. It prints a hash of each metric, to compare machines.

A metric is computed alone, beside all others, of half of the queries, prepared, in batches, and from shuffled rows.
"""

import hashlib
import platform
import sys
import warnings

import numpy as np

from sklearn_rank import evaluate, evaluate_batches, get_metric_names, prepare

SIZES = (1, 2, 7, 30, 100, 400)
"""Documents of a query: below and above what kernels compute by other loops."""

OF_ROWS = ("mse", "rmse", "mae")
"""Metrics that sum over rows in their order."""


def drawn(rng, n_grades, tied):
    """Labels, scores and queries; labels are grades, scores are distinct or tied."""
    qid = np.repeat(np.arange(60), rng.choice(SIZES, 60))
    score = rng.integers(0, 9, len(qid)).astype(float) if tied else rng.permutation(len(qid)) / 7
    return rng.integers(0, n_grades, len(qid)), score, qid


def ways(name, names, label, score, qid, shuffled):
    """Values by each way in, for each query in the order of the ids."""
    yield "alone", evaluate(label, score, qid=qid, metrics=[name])
    yield "beside others", evaluate(label, score, qid=qid, metrics=names)
    half = qid % 2 == 0
    yield "half", evaluate(label[half], score[half], qid=qid[half], metrics=[name])
    yield "prepared", prepare(label, qid=qid, metrics=[name]).evaluate(score)
    rows = np.array_split(np.arange(len(qid)), 9)
    yield "batches", evaluate_batches(((label[i], score[i], qid[i]) for i in rows), metrics=[name])
    yield "shuffled", evaluate(label[shuffled], score[shuffled], qid=qid[shuffled], metrics=[name])


def compared(seed):
    """Numbers of comparisons and differences, and a hash of the values of each metric."""
    rng, n, different, hashes = np.random.default_rng(seed), 0, [], {}
    for n_grades in (2, 5):
        for tied in (False, True):
            label, score, qid = drawn(rng, n_grades, tied)
            # Rows of a query stay in their order where documents are tied, because the order in the input can count.
            by_query, by_row = np.argsort(rng.permutation(60)[qid], kind="stable"), rng.permutation(len(qid))
            names = [name for name in get_metric_names() if _is_computed(name, label, score, qid)]
            for name in names:
                first, shuffled = None, by_query if tied or name in OF_ROWS else by_row
                for way, result in ways(name, names, label, score, qid, shuffled):
                    values = dict(zip(result.qid.tolist(), result.per_query[name].tolist(), strict=True))
                    if first is None:
                        first = values
                        text = np.array([*values.values()]).tobytes()
                        hashes.setdefault(name, hashlib.sha256()).update(text)
                        continue
                    n += 1
                    equal = [np.float64(first[q]).tobytes() == np.float64(v).tobytes() for q, v in values.items()]
                    if not all(equal):
                        different.append(f"{name}, {n_grades} grades, {'tied' if tied else 'distinct'}: {way}")
    return n, different, {name: made.hexdigest()[:16] for name, made in hashes.items()}


def _is_computed(name, label, score, qid):
    """Whether a metric takes such data; some need subtopics, or no ties."""
    try:
        evaluate(label, score, qid=qid, metrics=[name])
    except (TypeError, ValueError):
        return False
    return True


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    n, different, hashes = compared(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    for name, made in hashes.items():
        print(made, name)
    print(*different, sep="\n")
    print(f"{platform.machine()}: {n} comparisons of {len(hashes)} metrics, {len(different)} differences")
    sys.exit(bool(different) or not n)
