"""Imports of optional packages, with errors that name the extra to install; frames of pandas, which is one of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any


def import_optional(module: str, *, extra: str, purpose: str) -> Any:
    """Import a module of an optional package; the error begins with `purpose`, such as "A picture"."""
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


# --- frames that hold any text ----------------------------------------------------------------------------------

# Ids of a file in another encoding are text that is not Unicode. pandas 3 has only Python objects for it.


def index_of(labels: Any, name: str | None = None) -> Any:
    """Index of labels, tuples being labels too; of Python objects where pandas cannot hold them otherwise."""
    pandas = import_pandas()
    try:
        return pandas.Index(labels, name=name, tupleize_cols=False)
    except UnicodeEncodeError:
        return pandas.Index(labels, name=name, tupleize_cols=False, dtype=object)


def frame_of(rows: Sequence[Sequence[Any]], names: Sequence[str]) -> Any:
    """Frame of some rows, whose columns have names."""
    pandas = import_pandas()
    try:
        return pandas.DataFrame(rows, columns=names)
    except UnicodeEncodeError:
        columns = {i: index_of([row[i] for row in rows]) for i in range(len(names))}
        return pandas.DataFrame(columns).set_axis(index_of(names), axis=1)


def side_by_side(frames: Mapping[str, Any]) -> Any:
    """Frames of the same rows as one, whose columns have the name of a frame above theirs."""
    return import_pandas().concat([*frames.values()], axis=1, keys=index_of([*frames]))
