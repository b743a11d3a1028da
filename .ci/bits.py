#!/usr/bin/env python3
"""All ways in give the same bits on this machine: .ci/bits.py [SEED [FILE]].

Each metric is computed by its own function, and by the other ways in, alone and beside all others. The values go to
FILE. If it is there already, they are compared with its values, which another machine wrote: last bits may differ.
"""

import itertools
import platform
import sys
import warnings
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from sklearn_rank import (
    RankingAccumulator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    get_metric_names,
    parse_metric,
    prepare,
)

SIZES = (1, 2, 7, 30, 100, 400)
"""Documents of a query: below and above what kernels compute by other loops. One query has LONGEST."""

LONGEST, QUERIES = 2000, 40

SPECIAL = (
    "ndcg@10", "ndcg(gain=linear)", "dcg(discount=jarvelin)", "map@10", "err@10", "err(stop=label, max_grade=4)",
    "rbp(p=0.95)", "rbp(p=0.5)@10", "rbp(gain=exp2)", "rbo(p=0.98)", "rbo(p=0.8)@10", "rbp_residual(p=0.95)@20",
    "pfound(decay=0.95)", "pfound@10", "alpha_ndcg@10", "nrbp(p=0.8)",
)  # fmt: skip
"""Metrics with cutoffs and keywords, beside all metrics as they are."""

KINDS = ("2 grades", "5 grades", "real labels", "subtopics")

OF_ROWS = ("mse", "rmse", "mae")
"""Metrics that sum over rows in their order."""


class Rows(NamedTuple):
    """Columns, one entry a document."""

    label: np.ndarray
    score: np.ndarray
    qid: np.ndarray
    weight: np.ndarray

    def at(self, rows):
        """Some of the rows, in this order."""
        return Rows(*(column[rows] for column in self))


def drawn(rng, kind, tied):
    """Rows of queries without and with relevant documents, scores distinct or tied, the same on all machines."""
    qid = np.repeat(np.arange(QUERIES), [*rng.choice(SIZES, QUERIES - 1), LONGEST])
    n = len(qid)
    score = rng.integers(0, 9, n) / 7 if tied else rng.permutation(n) / 7
    label = {
        "2 grades": lambda: rng.integers(0, 2, n),
        "5 grades": lambda: rng.choice(5, n, p=[0.6, 0.2, 0.1, 0.05, 0.05]),
        "real labels": lambda: 4 * rng.random(n) * rng.random(n),
        "subtopics": lambda: rng.integers(0, 2, (n, 3)),
    }[kind]()
    label[qid == 5] = 0
    return Rows(label, score, qid, (rng.random(QUERIES) + 0.1)[qid])


def ways(names, rows, shuffled):
    """The name and the result of each way in that metrics go alone and together."""
    label, score, qid, weight = rows
    given = {"metrics": names, "qid": qid, "sample_weight": weight}
    yield "evaluate", evaluate(label, score, **given)
    yield "prepared", prepare(label, **given).evaluate(score)
    yield "batches", evaluate_table((rows.at(i) for i in np.array_split(np.arange(len(qid)), 9)), metrics=names)
    for way, some in ("half of the queries", rows.at(qid % 2 == 0)), ("shuffled", rows.at(shuffled)):
        yield way, evaluate(some.label, some.score, qid=some.qid, metrics=names)


def ways_together(names, rows):
    """The name and the result of each way in that all metrics go together."""
    label, score, qid, weight = rows
    given = {"metrics": names, "qid": qid, "sample_weight": weight}
    with patch("sklearn_rank._utils.blocks.BLOCK_ROWS", 500):  # so that there are blocks for both
        yield "two threads", evaluate(label, score, n_jobs=2, **given)
    yield (
        "two systems",
        compare_systems(label, {"a": score[::-1], "b": score}, on_misuse="ignore", **given).results["b"],
    )
    accumulator = RankingAccumulator(names)
    for queries in np.array_split(np.arange(QUERIES), 3):
        some = rows.at(np.isin(qid, queries))
        accumulator.update(some.label, some.score, qid=some.qid, sample_weight=some.weight)
    yield "accumulator", accumulator.compute()
    if label.ndim > 1:
        return
    columns = {"y_true": "label", "y_score": "score", "sample_weight": "weight"}
    yield "table", evaluate_table(rows._asdict(), metrics=names, **columns)
    weights = weight[np.unique(qid, return_index=True)[1]]
    mask = np.arange(LONGEST) < np.bincount(qid)[:, None]
    padded = np.full((2, *mask.shape), -1.0)
    padded[:, mask] = label, score
    yield "padded", evaluate(*padded, qid=np.arange(QUERIES), mask=mask, metrics=names, sample_weight=weights)
    judgments, run = ({q: {} for q in range(QUERIES)} for _ in range(2))
    for document, (y, s, q, _) in enumerate(zip(*(column.tolist() for column in rows), strict=True)):
        judgments[q][document], run[q][document] = y, s
    yield "documents", evaluate_run(judgments, run, metrics=names, sample_weight=dict(enumerate(weights)))


def alone(name, rows):
    """Values of all queries by the metric's own function, and their mean."""
    spec = parse_metric(name)
    given = spec.keywords | {"qid": rows.qid} | ({"k": spec.k} if spec.k else {})
    values = spec.metric(rows.label, rows.score, average=None, **given)
    return values, spec.metric(rows.label, rows.score, sample_weight=rows.weight, **given)


def is_same(result, name, values, mean):
    """Whether a result has these bits: the mean too, if it has all queries in the same order."""
    if result.per_query[name].tobytes() != values[result.qid].tobytes():
        return False
    return not np.array_equal(result.qid, np.arange(QUERIES)) or result.mean()[name] == mean


def takes(name, rows):
    """Whether a metric takes such rows: some read one label a document, some several, some no ties."""
    try:
        alone(name, rows)
    except (TypeError, ValueError):
        return False
    return True


def compared(seed):
    """Number of comparisons, what differed, and the values by metric and kind of rows."""
    rng, n, different, values = np.random.default_rng(seed), 0, [], {}
    for kind, tied in itertools.product(KINDS, (False, True)):
        rows = drawn(rng, kind, tied)
        # Rows of a query stay in their order where documents are tied, because the order in the input can count.
        by_query = np.argsort(rng.permutation(QUERIES)[rows.qid], kind="stable")
        by_row = rng.permutation(len(rows.qid))
        names = [name for name in (*get_metric_names(), *SPECIAL) if takes(name, rows)]
        first = {name: alone(name, rows) for name in names}
        values |= {(name, kind, tied): first[name][0] for name in names}
        for some in *([name] for name in names), names:
            found = ways(some, rows, by_query if tied or {*some} & {*OF_ROWS} else by_row)
            for way, result in itertools.chain(found, ways_together(names, rows) if some is names else ()):
                n += len(some)
                different += [
                    f"{name} of {kind}, {'tied' if tied else 'distinct'}: {way}{', beside others' * (some is names)}"
                    for name in some
                    if not is_same(result, name, *first[name])
                ]
    return n, different, values


def compare_machines(values, others):
    """Print the metrics that have other bits on another machine, and by how much of the value."""
    largest = {}
    for (name, *kind), here in values.items():
        there = others[str((name, *kind))]
        scale = np.maximum(np.abs(there), np.finfo(float).tiny)
        largest[name] = max(largest.get(name, 0), np.nanmax(np.abs(here - there) / scale))
    for name, difference in largest.items():
        if difference:
            print(f"{name} differs between the machines, by up to {difference:.1e} of the value")


def main(seed="0", file=None):
    """Compare all ways, and say what differs."""
    warnings.simplefilter("ignore")
    n, different, values = compared(int(seed))
    for difference in different:
        print("Different bits:", difference)
    if file and Path(file).exists():
        compare_machines(values, np.load(file))
    elif file:
        np.savez(file, **{str(key): of_queries for key, of_queries in values.items()})
    names = {name for name, *_ in values}
    print(f"{platform.machine()}: {n} comparisons of {len(names)} metrics, {len(different)} differences")
    left_out = {*get_metric_names(), *SPECIAL} - names
    if left_out:
        print("Not compared:", *left_out)
    return bool(different or left_out)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
