"""What `import sklearn_rank` costs after `import sklearn.metrics`: processor time, and instructions.

    python docs/bench/imports.py [--rounds 15] [--instructions]

Each round is a process of its own, which imports both and tells the processor time of the second import. With
`--instructions` callgrind counts the instructions of a process that imports both and of one that imports the first
alone, which takes minutes. The last line is the verdict. No time is asserted here.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys

import numpy as np
from tables import Judged, machine, ms, verdict

MOST = 50.0
"""Milliseconds that the import may take after `sklearn.metrics`."""

PEER, OURS = "import sklearn.metrics", "import sklearn_rank"

TIMED = f"""
import time
{PEER}
start = time.process_time()
{OURS}
print(time.process_time() - start)
"""


def main() -> None:
    """Print the median and the minimum, and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--instructions", action="store_true", help="count instructions with valgrind too")
    options = parser.parse_args()
    print(machine())
    cpu_seconds()  # reads the files, and compiles what is not compiled
    times = np.array([cpu_seconds() for _ in range(options.rounds)])
    print(f"{OURS} after {PEER}: {ms(float(np.median(times)))} ms ({ms(times.min())})")
    if options.instructions:
        print(f"{(instructions(f'{PEER}; {OURS}') - instructions(PEER)) / 1e6:,.0f} million instructions")
    print(verdict([Judged(OURS, 1e3 * times.min(), f"ms after {PEER}", MOST, at_most=True)]))


def cpu_seconds() -> float:
    """Processor time of our import in a process that has scikit-learn's."""
    return float(subprocess.run([sys.executable, "-c", TIMED], check=True, capture_output=True, text=True).stdout)


def instructions(statement: str) -> int:
    """Instructions of a process that runs a statement."""
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", sys.executable, "-c", statement]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stderr
    return int(re.search(r"Collected : (\d+)", told)[1])


if __name__ == "__main__":
    main()
