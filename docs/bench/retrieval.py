"""Time `evaluate_retrieval` against what people write: NumPy's argsort for whole lists, faiss for the nearest items.

    python docs/bench/retrieval.py [--queries 200] [--database 100000] [--dims 64] [--bits 64] [--n-jobs 1] [--seed 0]

Whole lists: the NumPy route makes the distances of 32 queries at a time, by XOR and bit count or by a product, sorts
each row with `argsort`, stable or as it is by default, gathers labels and computes AP. Nearest items: faiss's flat
indexes find them, exactly, and `score_neighbors` computes MAP@k from what they found; the index is built anew each
time, like ours. Without faiss (`pip install faiss-cpu`) this part is left out, and a line says so.

All sides run on as many threads, in turns, and the least processor time of a few runs counts: other work on the machine
must not matter. NumPy and ours must give the same number with ``ties="stable"``; faiss computes distances in float32,
so that items may trade places whose distances differ by less than a rounding error of that, and its numbers must be the
same to 1e-3. No time is asserted.
"""

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from time import process_time

CHUNK = 32
REPEATS = 3


def average_precision(order, label, wanted, n_relevant):
    import numpy as np

    rank = np.flatnonzero(label[order] == wanted) + 1
    return (np.arange(1, len(rank) + 1) / rank).sum() / n_relevant


def numpy_route(distance, queries, database, query_label, label, n_jobs, kind):
    """Mean AP by argsort."""
    import numpy as np

    size = np.bincount(label)
    if distance == "cosine":
        queries, database = (x / np.linalg.norm(x, axis=1)[:, None] for x in (queries, database))

    def near(rows):
        if distance == "hamming":
            words, codes = (x.view(np.uint64) for x in (queries[rows], database))
            if words.shape[1] == 1:
                return np.bitwise_count(words ^ codes[:, 0])
            return np.bitwise_count(words[:, None] ^ codes).sum(axis=2, dtype=np.uint16)
        product = queries[rows] @ database.T
        return -product if distance == "cosine" else (database**2).sum(axis=1) - 2 * product

    def work(first):
        rows = slice(first, first + CHUNK)
        return [
            average_precision(np.argsort(row, kind=kind), label, wanted, size[wanted])
            for row, wanted in zip(near(rows), query_label[rows], strict=True)
        ]

    with ThreadPoolExecutor(n_jobs) as pool:
        return float(np.mean([v for part in pool.map(work, range(0, len(queries), CHUNK)) for v in part]))


def faiss_route(faiss, distance, queries, database, query_label, label, n_jobs, k):
    """MAP@k of what a flat index found."""
    from sklearn_rank.retrieval import score_neighbors

    faiss.omp_set_num_threads(n_jobs)
    if distance == "hamming":
        index = faiss.IndexBinaryFlat(8 * queries.shape[1])
    else:
        index = (faiss.IndexFlatIP if distance == "inner_product" else faiss.IndexFlatL2)(queries.shape[1])
    index.add(database)
    found = index.search(queries, k)
    similar = distance == "inner_product"
    return score_neighbors(
        *found, query_label, label, metrics=f"map@{k}", ties="stable", n_jobs=n_jobs, higher_is_nearer=similar
    ).mean()[f"map@{k}"]


def ours(distance, queries, database, query_label, label, n_jobs, metric, ties):
    from sklearn_rank.retrieval import evaluate_retrieval

    return evaluate_retrieval(
        queries, database, query_label, label, distance=distance, metrics=metric, n_jobs=n_jobs, ties=ties
    ).mean()[metric]


def in_turns(functions):
    """Result and least processor time of each."""
    results, times = {}, dict.fromkeys(functions, float("inf"))
    for _ in range(REPEATS):
        for name, function in functions.items():
            began = process_time()
            results[name] = function()
            times[name] = min(times[name], process_time() - began)
    return results, times


def compare(what, functions, n_pairs, rtol):
    """Print ns per pair and ratios."""
    import numpy as np

    results, times = in_turns(functions)
    np.testing.assert_allclose(list(results.values())[1:], results["ours, stable"], rtol=rtol)
    for name, seconds in times.items():
        ratio = seconds / times["ours, stable"]
        print(f"{what:28} {name:16} {seconds / n_pairs * 1e9:7.2f} ns a pair  {ratio:5.1f} times ours", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("queries", 200), ("database", 100_000), ("dims", 64), ("bits", 64), ("n-jobs", 1)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # read when NumPy is imported
        os.environ[name] = str(options.n_jobs)
    import numpy as np

    rng, n_jobs, n_pairs = np.random.default_rng(options.seed), options.n_jobs, options.queries * options.database
    sizes = options.queries, options.database
    labels = [rng.integers(0, 10, n) for n in sizes]
    codes = [rng.integers(0, 256, (n, options.bits // 8), dtype=np.uint8) for n in sizes]
    vectors = [rng.normal(size=(n, options.dims)).astype(np.float32) for n in sizes]
    for distance in ("hamming", "cosine", "euclidean"):
        data = (*(codes if distance == "hamming" else [x.astype(np.float64) for x in vectors]), *labels, n_jobs)
        functions = {
            "ours, average": lambda d=distance, x=data: ours(d, *x, "map", "average"),
            "ours, stable": lambda d=distance, x=data: ours(d, *x, "map", "stable"),
            "NumPy, stable": lambda d=distance, x=data: numpy_route(d, *x, "stable"),
            "NumPy, default": lambda d=distance, x=data: numpy_route(d, *x, None),
        }
        loose = distance == "hamming"  # with ties the default argsort, and the average, are other numbers
        compare(f"map {distance}", functions, n_pairs, 1e-2 if loose else 1e-9)
    try:
        import faiss
    except ImportError:
        print("faiss is not installed (pip install faiss-cpu): nearest items are not compared.")
        faiss = None
    for distance in ("hamming", "inner_product", "euclidean") if faiss else ():
        data = (*(codes if distance == "hamming" else vectors), *labels, n_jobs)
        for k in (10, 100, 1000):
            functions = {
                "ours, average": lambda d=distance, x=data, k=k: ours(d, *x, f"map@{k}", "average"),
                "ours, stable": lambda d=distance, x=data, k=k: ours(d, *x, f"map@{k}", "stable"),
                "faiss": lambda d=distance, x=data, k=k: faiss_route(faiss, d, *x, k),
            }
            compare(f"map@{k} {distance}", functions, n_pairs, 0.1 if distance == "hamming" else 1e-3)


if __name__ == "__main__":
    main()
