"""Time sklearn_rank against each installed peer on the same arrays, after both have given the same number.

    python docs/bench/compare_peers.py [--shape mslr ...] [--metric ndcg@10 ...] [--peer lightgbm ...] [--markdown]

Our side is the whole call, from arrays to the mean; README.md says what is timed of each peer. A peer that is not
installed, or that cannot do a shape, is said so. Nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from functools import cache
from itertools import product

import numpy as np
from measure import alternate, memory_of
from peers import PEERS, Impossible
from shapes import ROWS, SHAPES, SUITE, Data, make
from tables import Lines, machine, ms, options_of

METRICS = ["ndcg@10", "map", "group", "sort"]
ALL_METRICS = [*METRICS, "suite", "auc", "pfound@10", *SUITE]
COLUMNS = {"shape": 16, "metric": 8, "peer": 20, "rows": 10, "value": 11, "ours, ms": 16, "peer, ms": 16, "ratio": 6}
COLUMNS |= {"ns/row": 7, "ready, ms": 9, "MB ours": 8, "MB peer": 8, "of input": 8, "note": 0}


def main() -> None:
    """Print one line for each shape, metric and peer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--metric", nargs="+", choices=ALL_METRICS, default=METRICS, metavar="METRIC")
    parser.add_argument("--peer", nargs="+", choices=[*PEERS][1:], default=[*PEERS][1:])
    parser.add_argument("--rows", type=int, help="rows of each shape, about; by default as many as in shapes.py")
    parser.add_argument("--no-memory", action="store_true", help="measure time alone")
    options = options_of(parser)
    print(f"{machine()}, n_jobs={options.n_jobs}\n")
    titles, lines, found = {}, Lines(COLUMNS, options.markdown), []
    for peer in options.peer:
        try:
            titles[peer] = PEERS[peer].load()
        except ImportError as error:
            lines.note(f"{PEERS[peer].title} is left out: {error}")
    for shape in options.shape:
        for line in compare_all(shape, titles, options):
            lines.add(line)
            found.append(line)
    for metric in options.metric:
        if lacking := [PEERS[peer].title for peer in titles if not PEERS[peer].asked(metric)]:
            lines.note(f"{metric} is not in {', '.join(lacking)}.")
    for metric in options.metric:
        summary(metric, [line for line in found if line[1] == metric], options)


def summary(metric: str, found: list[list[str]], options: argparse.Namespace) -> None:
    """Ratios of one metric, a line for each shape; ns a row and memory from where all rows were asked for."""
    peers = list(dict.fromkeys(line[2] for line in found))
    print(f"\n{metric}: ns a row, memory over that of the inputs, and how many times as long each peer takes\n")
    lines = Lines({"shape": 16, "ns/row": 8, "of input": 8} | dict.fromkeys(peers, 20), options.markdown)
    for shape in dict.fromkeys(line[0] for line in found):
        of = {line[2]: dict(zip(COLUMNS, line, strict=True)) for line in found if line[0] == shape}
        most = max((o for o in of.values() if o["ratio"] != "-"), key=lambda o: int(o["rows"].replace(",", "")))
        lines.add([shape, most["ns/row"], most["of input"], *(of[peer]["ratio"] for peer in peers)])


def compare_all(shape: str, titles: dict[str, str], options: argparse.Namespace) -> Iterator[list[str]]:
    """Lines of one shape."""
    asked_for = ROWS[SHAPES[shape]] if options.rows is None or shape == "single" else options.rows
    data_of = cache(lambda rows: make(shape, rows, options.seed))
    memory = cache(lambda peer, metric, rows: memory_of(peer, metric, data_of(rows), options.n_jobs))
    for metric, (peer, title) in product(options.metric, titles.items()):
        if not PEERS[peer].asked(metric):
            continue
        rows = min(asked_for, PEERS[peer].max_rows or asked_for)
        data = data_of(rows)
        start = [shape, metric, title, f"{len(data.qid):,}"]
        try:
            *cells, note = compare(peer, metric, data, options)
        except Impossible as reason:
            yield [*start, *["-"] * (len(COLUMNS) - len(start) - 1), f"cannot: {reason}"]
            continue
        ours, theirs = (None if options.no_memory else memory(of, metric, rows) for of in ("ours", peer))
        share = "-" if ours is None else f"{ours / data.nbytes:.2f}"
        note += f"{rows:,} of {asked_for:,} rows; " * (rows < asked_for)
        yield [*start, *cells, mb(ours), mb(theirs), share, note.removesuffix("; ")]


def compare(peer: str, metric: str, data: Data, options: argparse.Namespace) -> list[str]:
    """Check the number, then time both: value, medians and minima, ratio, ns a row, time to prepare, note."""
    start = time.perf_counter()
    contest = PEERS[peer].contest(data, metric, options.n_jobs)
    prepared = time.perf_counter() - start
    value = contest.check()
    ours, theirs = alternate([contest.ours, contest.theirs], options.repeats, options.seconds)
    note = f"{len(PEERS[peer].asked(metric))} numbers; " * (metric == "suite")
    note += f"rounds: {len(ours)}; " * (len(ours) < options.repeats)
    medians = np.median(ours), np.median(theirs)
    return [
        f"{value:.6g}", f"{ms(medians[0])} ({ms(ours.min())})", f"{ms(medians[1])} ({ms(theirs.min())})",
        f"{medians[1] / medians[0]:.2g}" if medians[1] < 100 * medians[0] else f"{medians[1] / medians[0]:.0f}",
        f"{1e9 * medians[0] / len(data.qid):.1f}", ms(prepared), note,
    ]  # fmt: skip


def mb(n_bytes: int | None) -> str:
    """Megabytes."""
    return "-" if n_bytes is None else f"{n_bytes / 1e6:.0f}"


if __name__ == "__main__":
    main()
