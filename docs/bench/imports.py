"""What `import sklearn_rank` costs over `import sklearn.metrics`: processor time in turns, and instructions.

    python docs/bench/imports.py [--rounds 15] [--instructions]

Each import has a process of its own, whose processor time is told by the system when it ends. `--instructions` counts
them with callgrind, which takes minutes. The last line is the verdict. Nothing here asserts a time.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys

import numpy as np
from tables import Judged, machine, ms, verdict

MOST = 50.0
"""Milliseconds that the import may take over that of `sklearn.metrics`."""

IMPORTS = ("import sklearn.metrics", "import sklearn_rank")


def main() -> None:
    """Print medians and minima of both, their distance, and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind too")
    options = parser.parse_args()
    print(machine())
    for statement in IMPORTS:
        cpu_seconds(statement)  # reads the files, and compiles what is not compiled
    times = np.array([[cpu_seconds(statement) for statement in IMPORTS] for _ in range(options.rounds)])
    for statement, of in zip(IMPORTS, times.T, strict=True):
        print(f"{statement:24} {ms(float(np.median(of))):>6} ms ({ms(of.min())})")
    if options.instructions:
        for statement in IMPORTS:
            print(f"{statement:24} {instructions(statement) / 1e6:,.0f} million instructions")
    least = times.min(axis=0)
    print(verdict([Judged(IMPORTS[1], 1e3 * (least[1] - least[0]), f"ms over {IMPORTS[0]}", MOST, at_most=True)]))


def cpu_seconds(statement: str) -> float:
    """Processor time of a process that runs a statement, in the user's code and in the system."""
    process = subprocess.Popen([sys.executable, "-c", statement])
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, statement)
    return usage.ru_utime + usage.ru_stime


def instructions(statement: str) -> int:
    """Instructions of the same process."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", statement]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


if __name__ == "__main__":
    main()
