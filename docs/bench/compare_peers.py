"""Time sklearn_rank against each installed peer on the same arrays, after both have given the same number.

    python docs/bench/compare_peers.py [--shape mslr ...] [--metric ndcg@10 ...] [--peer lightgbm ...] [--markdown]

Our side is the whole call, from arrays to the mean; README.md says what is timed of each peer. A peer that is not
installed, or that cannot do a shape, is said so. One read of the three arrays takes its turns too: it is the floor of
what a call takes. The last lines are the verdict: each shape and metric that misses its target. No time is asserted
here.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
from load import load
from measure import alternate, memory_of, one_read
from peers import PEERS, Impossible
from shapes import AGREEMENT, DEPTHS, LENGTHS, SHAPES, SUITE, Data, make, rows_by_default
from tables import Lines, machine, ms, options_of, verdict
from targets import judge_memory, judge_ratio

METRICS = ["ndcg@10", "ndcg@1", "ndcg@100", "map", "group", "sort"]
ALL_METRICS = [*dict.fromkeys([*METRICS, "suite", "auc", "pfound@10", *AGREEMENT, *SUITE, f"map@{DEPTHS[-1]}"])]
COLUMNS = {"shape": 16, "metric": 8, "peer": 20, "rows": 10, "value": 11, "ours, ms": 16, "peer, ms": 16, "ratio": 6}
COLUMNS |= {
    "ns/row": 7,
    "read, ms": 9,
    "reads": 6,
    "ready, ms": 9,
    "MB ours": 8,
    "MB peer": 8,
    "of input": 8,
    "note": 0,
}


@dataclass
class Timing:
    """Seconds of each round: ours, the peer's, and one read of the three arrays; and seconds to prepare the peer."""

    value: float
    ours: np.ndarray
    theirs: np.ndarray
    read: np.ndarray
    ready: float

    @property
    def ratio(self) -> float:
        """How many times as long as ours the peer takes."""
        return float(np.median(self.theirs) / np.median(self.ours))

    @property
    def reads(self) -> float:
        """How many reads of the inputs ours takes as long as."""
        return float(np.median(self.ours) / np.median(self.read))


@dataclass
class Found:
    """A line of the table: a peer on a shape and a metric; no timing where it cannot."""

    shape: str
    metric: str
    peer: str
    title: str
    rows: int
    timing: Timing | None
    memory: tuple[int | None, int | None]
    share: float | None
    note: str

    @property
    def has_all_rows(self) -> bool:
        """Whether this is the shape as it is without options: fewer rows have a larger share of what is for a block."""
        return self.rows >= 0.9 * rows_by_default(self.shape)

    @property
    def ns_a_row(self) -> str:
        """Median nanoseconds a row of ours."""
        return "-" if self.timing is None else f"{1e9 * np.median(self.timing.ours) / self.rows:.1f}"

    @property
    def of_input(self) -> str:
        """What a call of ours adds to memory, over the size of the three arrays."""
        return "-" if self.share is None else f"{self.share:.2f}"

    def cells(self) -> list[str]:
        """What the table says."""
        start = [self.shape, self.metric, self.title, f"{self.rows:,}"]
        if (t := self.timing) is None:
            return [*start, *["-"] * (len(COLUMNS) - len(start) - 1), self.note]
        times = _median(t.ours), _median(t.theirs), _times(t.ratio), self.ns_a_row
        read = ms(float(np.median(t.read))), _times(t.reads)
        memory = *map(_mb, self.memory), self.of_input
        return [*start, f"{t.value:.6g}", *times, *read, ms(t.ready), *memory, self.note]


def main() -> None:
    """Print one line for each shape, metric and peer, a summary of each metric, and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", nargs="+", choices=[*SHAPES, *LENGTHS], default=[*SHAPES], metavar="SHAPE")
    parser.add_argument("--metric", nargs="+", choices=ALL_METRICS, default=METRICS, metavar="METRIC")
    parser.add_argument("--peer", nargs="+", choices=[*PEERS][1:], default=[*PEERS][1:])
    parser.add_argument("--rows", type=int, help="rows of each shape, about; by default as many as in shapes.py")
    parser.add_argument("--no-memory", action="store_true", help="measure time alone")
    parser.add_argument("--prepared", action="store_true", help="ours too takes in labels and queries beforehand")
    parser.add_argument("--load", type=int, nargs="?", const=1, default=0, help="processes that copy memory meanwhile")
    options = options_of(parser)
    print(f"{machine()}, n_jobs={options.n_jobs}\n")
    titles, lines = {}, Lines(COLUMNS, options.markdown)
    for peer in options.peer:
        try:
            titles[peer] = PEERS[peer].load()
        except ImportError as error:
            lines.note(f"{PEERS[peer].title} is left out: {error}")
    found: list[Found] = []
    with load(options.load) as stop:
        for shape in options.shape:
            data_of = cache(lambda rows, shape=shape: make(shape, rows, options.seed))
            for line in compare_all(shape, titles, data_of, options):
                lines.add(line.cells())
                found.append(line)
        speeds = stop()
    for metric in options.metric:
        if lacking := [PEERS[peer].title for peer in titles if not PEERS[peer].asked(metric)]:
            lines.note(f"{metric} is not in {', '.join(lacking)}.")
    for metric in options.metric:
        summary(metric, [line for line in found if line.metric == metric], options)
    if speeds:
        speed = f"{sum(speeds) / 1e9:.3g} GB read and written a second"
        lines.note(f"Other processes copied memory meanwhile ({len(speeds)}): {speed}.")
    print_verdict(found, options.prepared)


def rows_of(shape: str, options: argparse.Namespace) -> int:
    """Rows that are asked for."""
    return rows_by_default(shape) if options.rows is None or shape == "single" else options.rows


def summary(metric: str, found: Sequence[Found], options: argparse.Namespace) -> None:
    """Ratios of one metric, a line for each shape; the other columns from where all rows were asked for."""
    peers = list(dict.fromkeys(line.title for line in found))
    print(f"\n{metric}: ns a row, time in reads of the inputs, memory over theirs, how many times as long peers take\n")
    widths = {"shape": 16, "ns/row": 8, "reads": 8, "of input": 8} | dict.fromkeys(peers, 20)
    lines = Lines(widths, options.markdown)
    for shape in dict.fromkeys(line.shape for line in found):
        of = {line.title: line for line in found if line.shape == shape}
        ratios = {title: "-" if line.timing is None else _times(line.timing.ratio) for title, line in of.items()}
        most = max(of.values(), key=lambda line: (line.timing is not None, line.rows))
        reads = "-" if most.timing is None else _times(most.timing.reads)
        lines.add([shape, most.ns_a_row, reads, most.of_input, *(ratios[peer] for peer in peers)])


def print_verdict(found: Sequence[Found], prepared: bool) -> None:
    """The fastest peer of each shape and metric against the target; who does other work is named, and not judged."""
    print("\nOurs against the fastest peer that does the same work; floors are of two threads and all rows\n")
    ratios: dict[tuple[str, str], dict[str, float]] = {}
    others: dict[str, dict[str, None]] = {}
    for line in found:
        if line.timing is None:
            continue
        if PEERS[line.peer].does_same_work(line.shape, prepared):
            ratios.setdefault((line.shape, line.metric), {})[line.title] = line.timing.ratio
        else:
            others.setdefault(line.shape, {})[line.title] = None
    why = "which group rows" if prepared else "whose calls start from data that they have grouped or taken in"
    for shape, titles in others.items():
        print(f"{shape} is not judged against {', '.join(titles)}, {why}.")
    shares = {(line.shape, line.metric): line.share for line in found if line.share is not None and line.has_all_rows}
    memory = (judge_memory(*key, share) for key, share in shares.items())
    print(verdict([*(judge_ratio(*key, of) for key, of in ratios.items()), *filter(None, memory)]))


def compare_all(
    shape: str, titles: dict[str, str], data_of: Callable[[int], Data], options: argparse.Namespace
) -> Iterator[Found]:
    """Lines of one shape."""
    asked_for = rows_of(shape, options)
    memory = cache(lambda peer, metric, rows: memory_of(peer, metric, data_of(rows), options.n_jobs))
    for metric, (peer, title) in product(options.metric, titles.items()):
        if not PEERS[peer].asked(metric):
            continue
        rows = min(asked_for, PEERS[peer].max_rows or asked_for)
        data = data_of(rows)
        start = shape, metric, peer, title, len(data.qid)
        try:
            timing = compare(peer, metric, data, options)
        except Impossible as reason:
            yield Found(*start, None, (None, None), None, f"cannot: {reason}")
            continue
        no_memory = options.no_memory or options.prepared
        of_call = tuple(None if no_memory else memory(of, metric, rows) for of in ("ours", peer))
        share = None if of_call[0] is None else of_call[0] / data.nbytes
        note = f"{len(PEERS[peer].asked(metric))} numbers; " * (metric == "suite")
        note += f"rounds: {len(timing.ours)}; " * (len(timing.ours) < options.repeats)
        note += f"{rows:,} of {asked_for:,} rows; " * (rows < asked_for)
        yield Found(*start, timing, of_call, share, note.removesuffix("; "))


def compare(peer: str, metric: str, data: Data, options: argparse.Namespace) -> Timing:
    """Check the number, then time both, and one read."""
    start = time.perf_counter()
    contest = PEERS[peer].contest(data, metric, options.n_jobs)
    ready = time.perf_counter() - start
    if options.prepared:
        contest = contest.prepared()
    value, read = contest.check(), one_read(data, options.n_jobs)
    return Timing(value, *alternate([contest.ours, contest.theirs, read], options.repeats, options.seconds), ready)


def _median(times: np.ndarray) -> str:
    return f"{ms(float(np.median(times)))} ({ms(times.min())})"


def _times(ratio: float) -> str:
    return f"{ratio:.2g}" if ratio < 100 else f"{ratio:.0f}"


def _mb(n_bytes: int | None) -> str:
    return "-" if n_bytes is None else f"{n_bytes / 1e6:.0f}"


if __name__ == "__main__":
    main()
