"""Where the time of a call goes: each step of the hot path alone, on one thread and one block of rows.

    python docs/bench/kernels.py [--shape mslr ...] [--rows 131072] [--seed 0] [--markdown]

A line has nanoseconds a row (the least of many rounds, as the thread's own time), bytes a row of the arrays that the
step takes and of those that it leaves, the nanoseconds of one read of what it takes, and, where valgrind is installed,
instructions and missed branches a row. These two do not depend on what else the machine does, but on the processor that
valgrind plays: it has AVX2, no AVX-512, and a simple predictor. Nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace as State
from typing import NamedTuple

import numpy as np
from measure import one_read
from peers import our_call
from shapes import SHAPES, Data, make
from sklearn_rank._engine.per_query import rank_block, ranking_key
from tables import Lines, machine, options_of

from sklearn_rank import parse_metric
from sklearn_rank._engine.check import read
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF
from sklearn_rank._metric.gains import make_gain

K = 10
COLUMNS = {"step": 26, "ns/row": 8, "in, B/row": 10, "out, B/row": 11, "read, ns/row": 13, "reads": 8}
COLUMNS |= {"instr/row": 10, "missed/row": 0}


class Step(NamedTuple):
    """A step: what it does to the state, and the names of the arrays that it takes and of those that it leaves."""

    name: str
    run: Callable[[State], object]
    takes: str
    leaves: str


def _group(s: State) -> None:
    s.ids, s.indptr, s.order_of_rows = group_rows(s.qid, len(s.qid), 1)


def _check(s: State) -> None:
    s.queries = read(s.y_true, s.y_score, qid=s.qid, n_jobs=1)


def _rank(depth: int, ties: str) -> Callable[[State], None]:
    name = parse_metric("ndcg" if depth == NO_CUTOFF else f"ndcg@{depth}", ties=ties)

    def rank(s: State) -> None:
        n_queries = len(s.queries.indptr) - 1
        s.ranking = rank_block(s.queries, 0, n_queries, ranking_key(name, s.queries), depth)
        s.ranked = Ranked(s.ranking, np.array([depth]))
        s.order, s.tie_end, s.ptr = s.ranking.order, s.ranking.tie_end, s.ranking.ptr

    return rank


def _ideal(s: State) -> None:
    s.ideal = s.ranking.ideal.label


def _label(s: State) -> None:
    s.label = s.ranking.label


def _number(s: State) -> None:
    s.rank = s.ranking.rank


def _gain(s: State) -> None:
    s.gain = make_gain("exp2", 1.0)(s.label)


def _relevant(s: State) -> None:
    s.relevant = s.ranked.relevant


def _n_relevant(s: State) -> None:
    s.n_relevant = s.ranked.n_relevant


def _cumsum(s: State) -> None:
    s.curve = s.ranked.cumsum(s.gain, s.label)


def _joint(s: State) -> None:
    s.joint = s.ranked.joint(s.relevant, s.relevant)


def _cascade(s: State) -> None:
    s.cascade = s.ranked.cascade(s.relevant)


def _whole(name: str) -> Callable[[State], None]:
    def whole(s: State) -> None:
        s.value = our_call(Data(s.y_true, s.y_score, s.qid), [name], 1)()

    return whole


ORDER = "order tie_end ptr"
STEPS = [
    Step("group", _group, "qid", "ids indptr order_of_rows"),
    Step("group and check", _check, "y_true y_score qid", ""),
    Step(f"order, {K} deep, stable", _rank(K, "stable"), "y_score", ORDER),
    Step(f"order, {K} deep", _rank(K, "average"), "y_score", ORDER),
    Step(f"ideal order, {K} deep", _ideal, "y_true", "ideal"),
    Step("order, whole, stable", _rank(NO_CUTOFF, "stable"), "y_score", ORDER),
    Step("order, whole", _rank(NO_CUTOFF, "average"), "y_score", ORDER),
    Step("ideal order, whole", _ideal, "y_true", "ideal"),
    Step("labels at positions", _label, "y_true order", "label"),
    Step("ranks", _number, "ptr", "rank"),
    Step("gains, 2**label - 1", _gain, "label", "gain"),
    Step("relevant", _relevant, "label", "relevant"),
    Step("relevant of each query", _n_relevant, "y_true", "n_relevant"),
    Step("cumsum", _cumsum, "gain label tie_end ptr", "curve"),
    Step("joint", _joint, "relevant tie_end ptr", "joint"),
    Step("cascade", _cascade, "relevant tie_end ptr", "cascade"),
    Step(f"the whole ndcg@{K}", _whole(f"ndcg@{K}"), "y_true y_score qid", ""),
    Step("the whole map", _whole("map"), "y_true y_score qid", ""),
]
"""In an order in which each has what it needs: each round starts from a new state, so that nothing is kept."""


def main() -> None:
    """Print a table for each shape."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", nargs="+", choices=SHAPES, default=["mslr", "tiny", "constant", "shuffled"])
    parser.add_argument("--rows", type=int, default=2**17, help="rows of each shape, about; a block has so many")
    parser.add_argument("--no-valgrind", action="store_true", help="measure time alone")
    parser.add_argument("--marked", action="store_true", help=argparse.SUPPRESS)  # what runs in valgrind
    options = options_of(parser)
    if options.marked:
        return run_marked(options)
    print(machine())
    if not options.no_valgrind and shutil.which("valgrind") is None:
        print("Instructions are left out: valgrind is not installed.")
    counts = instructions(options)
    for shape in options.shape:
        data = make(shape, options.rows, options.seed)
        print(f"\n{shape}, {len(data.qid):,} rows\n")
        lines = Lines(COLUMNS, options.markdown)
        for name, timing in least_times(data, options).items():
            if timing.error:
                lines.add([name, *["-"] * (len(COLUMNS) - 2), f"cannot: {timing.error}"])
            else:
                lines.add([name, *cells(timing, counts.get((shape, name)), len(data.qid))])


def cells(timing: Timing, counts: Counts | None, n: int) -> list[str]:
    """Figures of one step, a row each."""
    read = _least(one_read(timing.takes, 1))
    moved = (sum(array.nbytes for array in arrays) for arrays in (timing.takes, timing.leaves))
    times = f"{1e9 * read / n:.3g}", f"{timing.seconds / read:.3g}"
    counted = ["-", "-"] if counts is None else [f"{counts.instructions / n:.1f}", f"{counts.missed / n:.2f}"]
    return [f"{1e9 * timing.seconds / n:.3g}", *(f"{of / n:.3g}" for of in moved), *times, *counted]


@dataclass
class Timing:
    """Least seconds of a step, the arrays of its first round, and why it fails if it does."""

    seconds: float
    takes: list[np.ndarray]
    leaves: list[np.ndarray]
    error: str | None


def least_times(data: Data, options: argparse.Namespace) -> dict[str, Timing]:
    """Least times of the steps over the rounds."""
    found: dict[str, Timing] = {}
    end = time.perf_counter() + options.seconds
    for done in range(100 * options.repeats):
        state = State(**data._asdict())
        for step in STEPS:
            takes, start = _arrays(step.takes, state), time.thread_time()
            error = attempt(step, state)
            seconds = max(time.thread_time() - start, 1e-9)
            of = found.setdefault(step.name, Timing(seconds, takes, _arrays(step.leaves, state), error))
            of.seconds = min(of.seconds, seconds)
        if done and time.perf_counter() > end:
            break
    return found


def _arrays(names: str, state: State) -> list[np.ndarray]:
    """Arrays of those names; without ties there is no `tie_end`."""
    found = (getattr(state, name, None) for name in names.split())
    return [np.ascontiguousarray(array) for array in found if isinstance(array, np.ndarray)]


def _least(call: Callable[[], object], rounds: int = 20) -> float:
    """Least of some times of this thread, in seconds."""
    least = float("inf")
    for _ in range(rounds):
        start = time.thread_time()
        call()
        least = min(least, time.thread_time() - start)
    return max(least, 1e-9)


def attempt(step: Step, state: State) -> str | None:
    """Run a step; why it fails, as when the engine has changed and this script has not."""
    try:
        step.run(state)
    except (AttributeError, TypeError) as error:
        return f"{type(error).__name__}: {error}"
    return None


# --- instructions ----------------------------------------------------------------------------------------------


class Counts(NamedTuple):
    """Instructions of a step, and branches that callgrind's predictor misses."""

    instructions: int
    missed: int


def mark() -> None:
    """Let callgrind write down what it has counted since the last mark: it is told to do so at each getpgid."""
    os.getpgid(0)


def run_marked(options: argparse.Namespace) -> None:
    """All steps of each shape, at first for what is made at the first call, then with a mark after each."""
    for shape in options.shape:
        data = make(shape, options.rows, options.seed)
        for after in (lambda: None, mark):
            state = State(**data._asdict())
            after()  # ends what is not counted
            after()  # a mark alone
            for step in STEPS:
                attempt(step, state)
                after()


def instructions(options: argparse.Namespace) -> dict[tuple[str, str], Counts]:
    """Counts of each shape and step, less those of a mark; none without valgrind."""
    if options.no_valgrind or shutil.which("valgrind") is None:
        return {}
    with tempfile.TemporaryDirectory() as folder:
        valgrind = ["valgrind", "--tool=callgrind", "--branch-sim=yes", "--dump-before=getpgid"]
        valgrind += [f"--callgrind-out-file={folder}/out", sys.executable, __file__, "--marked"]
        numbers = ["--rows", str(options.rows), "--seed", str(options.seed)]
        command = [*valgrind, "--shape", *options.shape, *numbers]
        subprocess.run(command, check=True, capture_output=True, env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})
        n_dumps = len(options.shape) * (2 + len(STEPS))
        return counts_of([Path(f"{folder}/out.{i + 1}").read_text() for i in range(n_dumps)], options.shape)


def counts_of(dumps: Sequence[str], shapes: Sequence[str]) -> dict[tuple[str, str], Counts]:
    """Counts of each shape and step, from what `run_marked` has callgrind write."""
    left, counts = iter(dumps), {}
    for shape in shapes:
        next(left)
        of_mark = totals(next(left))
        for step in STEPS:
            of_step = totals(next(left))
            counts[shape, step.name] = Counts(*(max(n - m, 0) for n, m in zip(of_step, of_mark, strict=True)))
    return counts


def totals(dump: str) -> Counts:
    """What a file of callgrind says in all."""
    events, numbers = (re.search(rf"^{field}: (.*)$", dump, re.M)[1].split() for field in ("events", "totals"))
    of = dict(zip(events, map(int, numbers), strict=False))  # trailing zeros are left out
    return Counts(of["Ir"], of.get("Bcm", 0) + of.get("Bim", 0))


if __name__ == "__main__":
    main()
