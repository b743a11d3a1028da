"""Progress bars, with tqdm: over steps, and over the fits of a search of scikit-learn, wherever they run."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from sklearn.model_selection import ParameterGrid

from sklearn_rank._utils.optional import import_tqdm
from sklearn_rank.model_selection._scorer import RankingScorers

SECONDS = 0.2
"""Between two looks at how far a search is."""


def progress_bar(steps: Iterable[Any], total: int, shown: bool) -> Iterator[Any]:
    """The same steps, with a progress bar on the standard error if `shown`."""
    return iter(import_tqdm()(steps, total=total, unit=" fits") if shown else steps)


@contextmanager
def counted_fits(search: Any, n_splits: int) -> Iterator[None]:
    """Progress bar over the fits of a search, which writes a byte to a file each time it scores one.

    A file, as the fits may be made in other processes.
    """
    n_candidates, scorers, done = _n_candidates(search), search.scoring, threading.Event()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "scored")
        with import_tqdm()(total=None if n_candidates is None else n_candidates * n_splits, unit=" fits") as bar:

            def watch() -> None:
                finished = False
                while not finished:
                    finished = done.wait(SECONDS)
                    if os.path.exists(path) and os.path.getsize(path) > bar.n:
                        bar.update(os.path.getsize(path) - bar.n)

            watcher = threading.Thread(target=watch)
            watcher.start()
            try:
                search.set_params(scoring=_CountedScorers(scorers, path))
                yield
            finally:
                done.set()
                watcher.join()
                search.set_params(scoring=scorers)


class _CountedScorers(RankingScorers):
    """Scorers that leave a byte in a file, as long as there is one to be left."""

    def __init__(self, scorers: RankingScorers, path: str) -> None:
        self.__dict__ |= scorers.__dict__
        self.path = path

    def __call__(self, estimator: Any, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> dict[str, float]:
        scores = super().__call__(estimator, X, y, qid=qid, sample_weight=sample_weight)
        if os.path.isdir(os.path.dirname(self.path)):
            with open(self.path, "ab") as file:
                file.write(b".")
        return scores


def _n_candidates(search: Any) -> int | None:
    """Candidates that a search tries; None where it decides on the way."""
    if hasattr(search, "resource"):
        return None
    if hasattr(search, "param_grid"):
        return len(ParameterGrid(search.param_grid))
    return getattr(search, "n_iter", None)
