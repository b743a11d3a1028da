"""Parts of pandas frames that hold any text.

Ids of a file in another encoding are text that is no Unicode, for which pandas 3 has no type but Python objects.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn_rank._utils.optional import import_pandas


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
