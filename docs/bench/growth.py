"""How the cost of a call grows: with rows, list length, queries, k and the number of metrics; and from shape to shape.

    python docs/bench/growth.py [--by rows length queries k metrics shape memory] [--metric ndcg ...] [--plot PNG]

Prints ns a row (for `memory`: what a call adds at its peak, over the size of its three arrays), a line for each step
and a column for each metric. A metric that refuses a shape (some refuse ties) has "-".
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from measure import added_memory, alternate
from peers import our_call
from shapes import ROWS, SHAPES, SUITE, Data, make, of_length
from tables import Lines, options_of

from sklearn_rank.exceptions import RankingWarning

METRICS = ["ndcg@10", "ndcg", "map", "mrr", "err", "auc", "suite"]
Calls = Mapping[str, Callable[[], object]]
Step = tuple[object, Data, Calls]


def calls(data: Data, metrics: Sequence[str], n_jobs: int) -> Calls:
    """A call for each metric."""
    return {name: our_call(data, SUITE if name == "suite" else [name], n_jobs) for name in metrics}


def by_rows(rows: int, options: argparse.Namespace) -> Iterator[Step]:
    """More queries of 120 rows on average."""
    for n in _steps(100, rows):
        data = make("mslr", n, options.seed)
        yield f"{n:,}", data, calls(data, options.metric, options.n_jobs)


def by_queries(rows: int, options: argparse.Namespace) -> Iterator[Step]:
    """More queries of 5 rows."""
    for n in _steps(10, rows // 5):
        data = of_length(5, n, options.seed)
        yield f"{n:,}", data, calls(data, options.metric, options.n_jobs)


def by_length(rows: int, options: argparse.Namespace) -> Iterator[Step]:
    """As many rows in longer and longer lists."""
    for length in _steps(1, rows):
        data = of_length(length, rows // length, options.seed)
        yield f"{length:,}", data, calls(data, options.metric, options.n_jobs)


def by_k(rows: int, options: argparse.Namespace) -> Iterator[Step]:
    """Deeper cutoffs of the same lists."""
    data = make("mslr", rows, options.seed)
    metrics = dict.fromkeys(name.partition("@")[0] for name in options.metric if name not in ("suite", "auc"))
    for k in (1, 3, 10, 30, 100, 300):
        of = calls(data, [f"{metric}@{k}" for metric in metrics], options.n_jobs)
        yield k, data, dict(zip(metrics, of.values(), strict=True))


def by_metrics(rows: int, options: argparse.Namespace) -> Iterator[Step]:
    """More numbers in one pass; the suite's, in an order that mixes metrics and cutoffs."""
    data = make("mslr", rows, options.seed)
    names = np.random.default_rng(0).permutation(SUITE).tolist()
    for n in (2, 4, 8, 16, 32, len(names)):
        yield n, data, {"one pass": our_call(data, names[:n], options.n_jobs)}


def by_memory(rows: int, options: argparse.Namespace) -> Iterator[Step]:
    """Every shape but the one whose arrays are smaller than a page of memory."""
    return (step for step in by_shape(rows, options) if step[0] != "single")


def by_shape(rows: int, options: argparse.Namespace) -> Iterator[Step]:
    """Every shape, with as many rows."""
    for shape in SHAPES:
        data = make(shape, min(rows, ROWS[SHAPES[shape]]), options.seed)
        yield shape, data, calls(data, options.metric, options.n_jobs)


def _steps(first: int, last: int) -> list[int]:
    """1, 10, 100, ... times the first, and the last."""
    return [first * 10**i for i in range(12) if first * 10**i < last] + [last]


GROWTH = {
    "rows": by_rows, "length": by_length, "queries": by_queries, "k": by_k, "metrics": by_metrics, "shape": by_shape,
    "memory": by_memory,
}  # fmt: skip


def cost(by: str, data: Data, of: Calls, options: argparse.Namespace) -> list[float]:
    """For each call: ns a row, or what it adds over the inputs; nan where it is refused."""
    fit = {name: call for name, call in of.items() if _accepted(call)}
    if by == "memory":
        found = [added_memory(call) / data.nbytes for call in fit.values()]
    else:
        times = alternate(list(fit.values()), options.repeats, options.seconds) if fit else []
        found = [1e9 * float(np.median(each)) / len(data.qid) for each in times]
    return [dict(zip(fit, found, strict=True)).get(name, np.nan) for name in of]


def _accepted(call: Callable[[], object]) -> bool:
    try:
        call()
    except ValueError:
        return False
    return True


def plot(tables: dict[str, tuple[list[int], list[str], np.ndarray]], path: str) -> None:
    """Cost over size, both on logarithmic axes, a panel for each table."""
    import matplotlib as mpl

    mpl.use("agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(-(-len(tables) // 2), 2, figsize=(10, 2 * len(tables)), layout="constrained")
    for axis, (by, (sizes, names, costs)) in zip(axes.flat, tables.items(), strict=False):
        for name, line in zip(names, costs.T, strict=True):
            axis.loglog(sizes, line, marker="o", label=name)
        axis.set(xlabel=by, ylabel="ns a row")
        axis.tick_params(which="minor", labelbottom=False)
        axis.legend()
    for axis in axes.flat[len(tables) :]:
        axis.remove()
    figure.savefig(path, dpi=100)


def main() -> None:
    """Print one table for each thing that grows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--by", nargs="+", choices=GROWTH, default=[*GROWTH])
    parser.add_argument("--metric", nargs="+", default=METRICS, help='names such as "ndcg@10", and "suite"')
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows, at most")
    parser.add_argument("--plot", metavar="PNG", help="save a plot of what has sizes")
    options = options_of(parser)
    warnings.simplefilter("ignore", RankingWarning)  # lists of one row and the like are meant here
    tables = {}
    for by in options.by:
        print(f"\n{by.capitalize()}: {GROWTH[by].__doc__}\n")
        steps, costs, lines = [], [], None
        for step, data, of in GROWTH[by](options.rows, options):
            lines = lines or Lines({by: 16} | dict.fromkeys(of, 9), options.markdown)
            steps.append(step)
            costs.append(cost(by, data, of, options))
            cells = [f"{c:.2f}" if by == "memory" else f"{c:.3g}" if c < 100 else f"{c:.0f}" for c in costs[-1]]
            lines.add([str(step), *("-" if cell == "nan" else cell for cell in cells)])
        if by not in ("shape", "memory"):
            tables[by] = [int(str(step).replace(",", "")) for step in steps], [*of], np.array(costs)
    if options.plot:
        plot(tables, options.plot)


if __name__ == "__main__":
    main()
