"""Time and memory of a call, shape by shape."""

from pathlib import Path

import numpy as np
from peers import our_call
from shapes import SHAPES, SUITE, Data, make

METRICS = ["ndcg@10", "ndcg", "map", "mrr", "precision@10", "err", "auc", "suite"]


class Call:
    """The whole call, from arrays to the mean; `peakmem` is the peak of the process, arrays included."""

    params = ([*SHAPES], METRICS, [1, 2])
    param_names = ("shape", "metric", "n_jobs")
    timeout = 600

    def setup_cache(self) -> None:
        """Make the arrays in another process, which alone holds what making them takes."""
        for shape in SHAPES:
            np.savez(f"{shape}.npz", *make(shape))

    def setup(self, shape: str, metric: str, n_jobs: int) -> None:
        """Read the arrays; objects are strings that asv's own file holds too."""
        with np.load(Path(f"{shape}.npz"), allow_pickle=True) as arrays:
            data = Data(*arrays.values())
        self.call = our_call(data, SUITE if metric == "suite" else [metric], n_jobs)

    def time_call(self, shape: str, metric: str, n_jobs: int) -> None:
        """Seconds."""
        self.call()

    def peakmem_call(self, shape: str, metric: str, n_jobs: int) -> None:
        """Bytes."""
        self.call()
