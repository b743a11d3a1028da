"""Other work while something is measured: processes that copy memory.

python docs/bench/load.py      # copy memory until it is stopped; prints the bytes read and written a second
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

BYTES = 2**28  # of each of the two arrays, far more than caches hold


@contextmanager
def load(n_processes: int) -> Iterator[Callable[[], list[float]]]:
    """Let other processes copy memory meanwhile; what is yielded stops them and lists their bytes a second."""
    command = [sys.executable, __file__]
    others = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(n_processes)]

    def stop() -> list[float]:
        for other in others:
            other.terminate()
        return [float(other.communicate()[0]) for other in others]

    try:
        for other in others:
            other.stdout.readline()  # it has begun
        yield stop
    finally:
        for other in others:
            other.kill()
            other.wait()
            other.stdout.close()


def main() -> None:
    """Copy until told to stop, or left alone."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    parent, (a, b) = os.getppid(), np.ones((2, BYTES), dtype=np.uint8)
    copied, start = 0, time.perf_counter()
    try:
        while os.getppid() == parent:
            np.copyto(a, b)
            copied += 2 * BYTES
            if copied == 2 * BYTES:
                print("begun", flush=True)
    finally:
        print(copied / (time.perf_counter() - start))


if __name__ == "__main__":
    main()
