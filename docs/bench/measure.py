"""Time in alternation, the floor of one read, and memory in a fresh process.

python docs/bench/measure.py PEER METRIC FILE N_JOBS      # bytes that one call adds at its peak
"""

from __future__ import annotations

import ctypes
import gc
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from shapes import Data

SHORTEST = 2e-3  # seconds; a shorter call is repeated until as much has passed
AWAKE = 0.1  # seconds of calls before those that are timed: a processor that rested is slow for tens of milliseconds


def alternate(calls: Sequence[Callable[[], Any]], repeats: int, seconds: float) -> list[np.ndarray]:
    """Times of each call in seconds, in turns: as many rounds as fit into `seconds`, at least 1, at most `repeats`."""
    first = [_time(call, 1) for call in calls]
    if sum(first) > seconds:
        return [np.array([once]) for once in first]
    rounds = int(min(max(seconds / (2 * sum(first)), 1), repeats))
    loops = [max(round(SHORTEST / once), 1) for once in first]
    taken = np.empty((rounds, len(calls)))
    for times in taken:
        for i, call in enumerate(calls):
            time.sleep(min(0.1, 10 * first[i]))  # OpenMP and OpenBLAS threads spin for a while after their work
            if first[i] < 2:
                _time(call, max(round(min(AWAKE, seconds) / first[i]), 1))  # which also fills its own caches
            times[i] = _time(call, loops[i]) / loops[i]
    return list(taken.T)


def _time(call: Callable[[], Any], loops: int) -> float:
    start = time.perf_counter()
    for _ in range(loops):
        call()
    return time.perf_counter() - start


def one_read(arrays: Sequence[np.ndarray], n_threads: int) -> Callable[[], object]:
    """A call that reads each byte of some arrays once; of objects, their pointers."""
    parts = list(zip(*(np.array_split(_bytes_of(array), n_threads) for array in arrays), strict=True))
    if n_threads == 1:
        return lambda: _read(parts[0])
    pool = ThreadPoolExecutor(n_threads)
    return lambda: list(pool.map(_read, parts))


def _bytes_of(array: np.ndarray) -> np.ndarray:
    """The bytes of a contiguous array of any type, which must outlive them."""
    return np.frombuffer((ctypes.c_uint8 * array.nbytes).from_address(array.ctypes.data), np.uint8)


def _read(parts: Sequence[np.ndarray]) -> None:
    for part in parts:
        part.max(initial=0)  # the reduction that NumPy does with the widest instructions


def added_memory(call: Callable[[], Any]) -> int:
    """Highest rise of resident memory in bytes while `call` runs; Linux alone can start the peak anew."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)  # what has been freed would take the call's arrays unseen
    Path("/proc/self/clear_refs").write_text("5")
    before = _status("VmRSS")
    result = call()
    peak = _status("VmHWM")
    del result
    return max(peak - before, 0)


def _status(field: str) -> int:
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(field + ":"))
    return int(line.split()[1]) * 1024


def memory_of(peer: str, metric: str, data: Data, n_jobs: int) -> int | None:
    """`added_memory` of a peer's call in a process of its own; None where that cannot be known."""
    if not Path("/proc/self/clear_refs").exists():
        return None
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        np.savez(file, *data)
        file.flush()
        command = [sys.executable, __file__, peer, metric, file.name, str(n_jobs)]
        return int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def main() -> None:
    """Print the bytes; a small call before is for what is compiled or imported at the first."""
    from peers import PEERS

    warnings.simplefilter("ignore")
    peer, metric, path, n_jobs = sys.argv[1:]
    with np.load(path, allow_pickle=True) as arrays:  # of strings, from `memory_of`
        data = Data(*arrays.values())
    PEERS[peer].contest(Data(*(array[:500] for array in data)), metric, int(n_jobs)).theirs()
    contest = PEERS[peer].contest(data, metric, int(n_jobs))
    print(added_memory(contest.theirs))


if __name__ == "__main__":
    main()
