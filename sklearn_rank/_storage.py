"""Results on disk: one .npz file of plain arrays, with a JSON text among them that says what they are.

No pickle: NumPy alone, or any program that reads zip files of .npy arrays, can read them years later.
"""

from __future__ import annotations

import json
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

VERSION = 1
"""Of the layout; a reader refuses a later one."""

META = "meta"


def save(path: Any, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays, and `meta` as JSON under the name "meta", to `path`, as it stands.

    Raises
    ------
    TypeError
        If an array holds objects that are neither numbers, strings nor tuples of them.
    """
    text = {"kind": kind, "version": VERSION, "objects": {}, **meta}
    plain: dict[str, NDArray[Any]] = {}
    for name, array in arrays.items():
        if array.dtype == object:
            text["objects"][name] = [_jsonable(value, name) for value in array.tolist()]
        else:
            plain[name] = array
    with open(path, "wb") as file:
        np.savez_compressed(file, allow_pickle=False, **{META: np.array(json.dumps(text))}, **plain)


def load(path: Any, kind: str) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """What `save` wrote: meta and arrays.

    Raises
    ------
    ValueError
        If the file holds something else, or was written by a later version.
    """
    arrays: dict[str, NDArray[Any]] = {}
    with open(path, "rb") as file:
        if zipfile.is_zipfile(file):
            file.seek(0)
            with np.load(file, allow_pickle=False) as archive:
                arrays = dict(archive)
    meta = json.loads(str(arrays.pop(META))) if META in arrays else {}
    if meta.get("kind") != kind or meta["version"] > VERSION:
        found = f"{meta['kind']} of layout {meta['version']}" if "kind" in meta else "no description"
        raise ValueError(f"The file must hold a saved {kind} of layout {VERSION} or earlier. Got {found} in {path}.")
    for name, values in meta["objects"].items():
        arrays[name] = np.empty(len(values), dtype=object)
        arrays[name][:] = [tuple(v) if isinstance(v, list) else v for v in values]
    return meta, arrays


def _jsonable(value: Any, name: str) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple):
        return [_jsonable(part, name) for part in value]
    if not isinstance(value, (str, int, float)):
        raise TypeError(
            f"To be saved, {name} must hold numbers, strings or tuples of them. "
            f"Got {value!r} of type {type(value).__name__}."
        )
    return value


class Stored(ABC):
    """A result that can be saved: it says what is to be kept of it, as words and arrays, and can be made of these."""

    @abstractmethod
    def _plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """What is to be saved: words and arrays."""

    @classmethod
    @abstractmethod
    def _of_plain(cls, words: Mapping[str, Any], arrays: dict[str, NDArray[Any]]) -> Self:
        """What was saved."""

    def save(self, path: Any) -> None:
        """Save the result to one .npz file without pickle.

        Parameters
        ----------
        path : str or path
            Where to, as it stands.

        Raises
        ------
        TypeError
            If query ids are neither numbers, strings nor tuples of them.
        """
        save(path, type(self).__name__, *self._plain())

    @classmethod
    def load(cls, path: Any) -> Self:
        """A result that was saved.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Evaluation or Comparison
            Of the class that this is called on.

        Raises
        ------
        ValueError
            If the file holds something else.
        """
        return cls._of_plain(*load(path, cls.__name__))


@dataclass(frozen=True)
class StoredMetric:
    """What is saved of a metric: answers as a computed one does, but cannot be computed again."""

    of_queries: NDArray[np.float64]
    undefined: NDArray[np.bool_]
    mean: float
    meaning: str
    average_kind: str
    greater_is_better: bool

    def values(self) -> NDArray[np.float64]:
        """Value of each query, shape (n_queries, 1)."""
        return self.of_queries[:, None]

    def average(self, weight: Any) -> NDArray[np.float64]:
        """The mean, as it was."""
        return np.array([self.mean])
