"""Imports of optional packages, with errors that name the extra to install."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def import_optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package; the error begins with `purpose`, such as "A picture".

    Raises
    ------
    ImportError
        If the package is not installed.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f'{purpose} needs {package}: pip install "sklearn-rank[{extra}]".') from error


def import_pandas() -> Any:
    """Import pandas, for frames."""
    return import_optional("pandas", extra="pandas", purpose="A frame")


def import_tqdm() -> Any:
    """Import the progress bar of tqdm."""
    return import_optional("tqdm.auto", extra="progress", purpose="A progress bar").tqdm


def import_dask() -> Any:
    """Import dask with its frames."""
    import_optional("dask.dataframe", extra="dask", purpose="Evaluation of dask DataFrames")
    return import_module("dask")
