"""Time `evaluate_retrieval` on 64-bit codes against the NumPy that people paste, a query at a time.

    python docs/bench/retrieval.py [--queries 10000] [--database 1000000] [--sample 64] [--n-jobs 2] [--seed 0]

The NumPy route makes the distances of a chunk of queries by XOR and a bit count, sorts each row with a stable
`argsort`, gathers labels and computes AP; the same with the default argsort, which is not stable. It cuts the sorted
list where the metric has a cutoff, and runs on as many threads. Both sides see the same codes, and must print the same
number with ``ties="stable"``. The NumPy route is timed on a sample of the queries, ours on all of them where the metric
has a cutoff. Nothing here asserts a time.
"""

import argparse
import resource
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

from sklearn_rank.retrieval import evaluate_retrieval


def average_precision(order, label, wanted, n_relevant):
    found = label[order] == wanted
    rank = np.flatnonzero(found) + 1
    return (np.arange(1, len(rank) + 1) / rank).sum() / n_relevant


def numpy_route(queries, database, query_label, label, k, n_jobs, chunk, kind):
    """Mean AP at k by argsort."""
    words, codes = (x.view(np.uint64)[:, 0] for x in (queries, database))
    size = np.bincount(label)

    def work(first):
        values = []
        for row in np.bitwise_count(words[first : first + chunk, None] ^ codes):
            wanted = query_label[first + len(values)]
            order = np.argsort(row, kind=kind)[:k]
            values.append(average_precision(order, label, wanted, size[wanted]))
        return values

    with ThreadPoolExecutor(n_jobs) as pool:
        return float(np.mean([v for part in pool.map(work, range(0, len(words), chunk)) for v in part]))


def timed(function, *arguments, **keywords):
    began = perf_counter()
    return function(*arguments, **keywords), perf_counter() - began


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("queries", 10_000), ("database", 1_000_000), ("sample", 64), ("n-jobs", 2), ("seed", 0)):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    rng = np.random.default_rng(options.seed)
    queries, database = (rng.integers(0, 256, (n, 8), dtype=np.uint8) for n in (options.queries, options.database))
    query_label, label = rng.integers(0, 10, len(queries)), rng.integers(0, 10, len(database))
    few, n_jobs = slice(0, options.sample), options.n_jobs

    for metric, k in (("map@100", 100), ("map", None)):
        rows = slice(0, len(queries) if k else options.sample)
        for keywords in ({"ties": "stable"}, {}):
            arguments = queries[rows], database, query_label[rows], label
            result, ours = timed(
                evaluate_retrieval, *arguments, distance="hamming", metrics=metric, n_jobs=n_jobs, **keywords
            )
            per_pair = ours / len(queries[rows]) / len(database) * 1e9
            print(
                f"{metric:8} {keywords.get('ties', 'average'):8} ours  {per_pair:6.2f} ns a pair  {ours:7.1f} s", end=""
            )
            print(f"  peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20:.2f} GiB", flush=True)
            if keywords:
                expected = result.per_query[metric][few].mean()
                stable = per_pair
        for kind in ("stable", None):
            arguments = queries[few], database, query_label[few], label, k, n_jobs, 2, kind
            value, theirs = timed(numpy_route, *arguments)
            if kind:
                np.testing.assert_allclose(value, expected, rtol=1e-12)
            per_pair = theirs / len(queries[few]) / len(database) * 1e9
            print(
                f"{metric:8} {kind or 'default':8} NumPy {per_pair:6.2f} ns a pair, {per_pair / stable:.1f} times ours"
            )


if __name__ == "__main__":
    main()
