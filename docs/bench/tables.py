"""What the scripts of this folder have in common: options, and tables printed line by line."""

from __future__ import annotations

import argparse
import os
import platform
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sklearn_rank import __version__


class Lines:
    """A table in columns or, for README.md, in Markdown; each line is printed once it is known."""

    def __init__(self, columns: Mapping[str, int], markdown: bool) -> None:
        self.widths, self.markdown = columns.values(), markdown
        self.add([*columns])
        if markdown:
            self.add(["---"] * len(columns))

    def add(self, cells: Sequence[str]) -> None:
        """Print a line of the table."""
        if self.markdown:
            print("|", " | ".join(cells), "|", flush=True)
        else:
            print(" ".join(c.ljust(w) for c, w in zip(cells, self.widths, strict=True)).rstrip(), flush=True)

    def note(self, text: str) -> None:
        """Print a line below the table."""
        print(f"\n{text}", flush=True)


class Judged(NamedTuple):
    """A figure beside its target: what was measured, how much was found, its unit, and what is asked."""

    what: str
    found: float
    unit: str
    target: float
    at_most: bool = False  # else at least

    @property
    def met(self) -> bool:
        """Whether the figure meets its target; a figure at the target does."""
        return self.found <= self.target if self.at_most else self.found >= self.target

    def __str__(self) -> str:
        side, bound = ("ABOVE", "most") if self.at_most else ("BELOW", "least")
        return f"{side} {self.what}: {self.found:.4g} {self.unit}; the target is at {bound} {self.target:g}"


def verdict(judged: Iterable[Judged]) -> str:
    """A line for each figure that misses its target, and one that counts them."""
    judged = list(judged)
    missed = [figure for figure in judged if not figure.met]
    if not judged:
        return "Verdict: no figure was judged."
    if not missed:
        return f"Verdict: no target is missed, of {len(judged)}."
    return "\n".join([*map(str, missed), f"Verdict: {len(missed)} of {len(judged)} targets missed."])


def options_of(parser: argparse.ArgumentParser) -> argparse.Namespace:
    """Parse the command line; what libraries read at their import is set."""
    parser.add_argument("--repeats", type=int, default=7, help="rounds, at most")
    parser.add_argument("--seconds", type=float, default=5, help="fewer rounds if they would take longer")
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    os.environ["POLARS_MAX_THREADS"] = str(options.n_jobs)
    warnings.filterwarnings("ignore", message=r"\s*unsafe cast")  # in ranx, while it is compiled
    return options


def machine() -> str:
    """Processor and versions, in a line."""
    cpuinfo = Path("/proc/cpuinfo")
    facts = re.findall(r"^(?:model name|cpu family)\s*: (.*)$", cpuinfo.read_text() if cpuinfo.exists() else "", re.M)
    name = " ".join(sorted(set(facts), reverse=True)) or platform.machine()
    versions = [f"Python {platform.python_version()}", f"NumPy {np.__version__}", f"sklearn_rank {__version__}"]
    return ", ".join([f"{os.cpu_count()} CPUs: {name}", *versions])


def ms(seconds: float) -> str:
    """Milliseconds with three digits."""
    value = 1e3 * seconds
    return f"{value:.{max(0, 2 - int(np.floor(np.log10(value))))}f}"
