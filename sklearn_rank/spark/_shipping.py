"""Functions for the workers; errors name the missing requirements of a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from sklearn_rank._version import __version__


class Shipped:
    """A function of batches; a worker checks its environment before it unpickles the function."""

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
    """Return the unpickling function for workers. It is nested, so that Spark sends it by value."""

    def unpack(packed: bytes, needs: dict[str, str | None]) -> Any:
        import importlib
        import pickle
        import sys

        way = (
            "Set PYSPARK_PYTHON (or spark.pyspark.python) to a Python that has it on every machine, or ship an "
            "environment with spark.archives: docs/larger/spark.md has the commands."
        )
        for name, version in needs.items():
            shown = name if version is None else f"{name} {version}"
            try:
                present = importlib.import_module(name).__version__
            except ImportError as error:
                raise ImportError(
                    f"Workers of Spark need {shown}. Got a worker that cannot import it: {error}. Its Python is "
                    f"{sys.executable}. {way}"
                ) from None
            # NumPy can read pickles of the same major version.
            digits = 1 if name == "numpy" else None
            if version is not None and present.split(".")[:digits] != version.split(".")[:digits]:
                raise ImportError(
                    f"Workers of Spark need {shown}, like the driver. Got {present} on a worker. Its Python is "
                    f"{sys.executable}. {way}"
                )
        try:
            return pickle.loads(packed)
        except (ImportError, AttributeError) as error:
            raise ImportError(
                "Workers of Spark must be able to import the metric functions. Got a worker that cannot: "
                f"{error}. Send their module by addPyFile or addArtifact(..., pyfile=True), or define them in the "
                "script or notebook itself."
            ) from None

    return unpack
