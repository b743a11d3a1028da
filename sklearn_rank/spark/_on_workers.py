"""Functions on their way to workers, which say in our words what a worker lacks to run them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sklearn_rank._version import __version__


class OnWorkers:
    """A function of batches that is unpacked on a worker only once the worker is known to be able to."""

    def __init__(self, function: Callable[[Iterator[Any]], Iterator[Any]]) -> None:
        self._function = function

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Result of the function."""
        return self._function(batches)

    def __reduce__(self) -> Any:
        from pyspark import cloudpickle

        here = {"sklearn_rank": __version__, "numpy": np.__version__, "pyarrow": None}
        return _unpacker(), (cloudpickle.dumps(self._function), here)


def _unpacker() -> Callable[..., Any]:
    """What workers unpack a function with; Spark sends it whole, as it is defined inside another function."""

    def unpack(packed: bytes, needs: dict[str, str | None]) -> Any:
        import importlib
        import pickle
        import sys

        way = (
            "Set PYSPARK_PYTHON (or spark.pyspark.python) to a Python that has it on every machine, or ship an "
            "environment with spark.archives: docs/spark.md has the commands."
        )
        for name, version in needs.items():
            shown = name if version is None else f"{name} {version}"
            try:
                found = importlib.import_module(name).__version__
            except ImportError as error:
                raise ImportError(
                    f"Workers of Spark need {shown}. Got a worker that cannot import it: {error}. Its Python is "
                    f"{sys.executable}. {way}"
                ) from None
            digits = 1 if name == "numpy" else None  # what NumPy writes can be read by others of its first number
            if version is not None and found.split(".")[:digits] != version.split(".")[:digits]:
                raise ImportError(
                    f"Workers of Spark need {shown}, as the driver has it. Got {found} on a worker. Its Python is "
                    f"{sys.executable}. {way}"
                )
        try:
            return pickle.loads(packed)
        except (ImportError, AttributeError) as error:
            raise ImportError(
                "Workers of Spark must be able to import the functions that are metrics. Got a worker that cannot: "
                f"{error}. Send their module, by addPyFile or addArtifact(..., pyfile=True), or define them in the "
                "script or notebook itself."
            ) from None

    return unpack
