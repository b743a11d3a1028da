"""Files that are written completely or not at all, and results in them: an .npz of arrays and a description in JSON.

There is no pickle, so NumPy, or any program that reads zip files of .npy arrays, can read them years later.
"""

from __future__ import annotations

import errno
import io
import json
import math
import os
import secrets
import sys
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.echo import echo, one_line

T = TypeVar("T")

VERSION = 1
"""Version of the layout; files of others are refused."""

META = "meta"

TOO_DEEP = "the description has lists in lists, deeper than Python follows"

MOST_NESTED = 100
"""Tuples that may be in each other, each in the next, in an id that is saved."""

SAVED_IDS = f"numbers, strings or tuples of them, at most {MOST_NESTED} in each other"

KINDS = "biufcmMSUO"
"""Kinds of dtype of ids, and of attributes of queries."""

MOST_UNPACKED, MOST_RATIO = 2**30, 100
"""A packed file may become more bytes than this, or more than so many times its own, but not both."""

OTHER_FORMATS = (
    ".arrow .csv .db .docx .feather .gz .h5 .hdf5 .html .ipc .joblib .json .jsonl .latex .md .npy .orc .parquet .pdf "
    ".pickle .pkl .png .qrels .run .sqlite .svg .tex .tsv .txt .xls .xlsx .xml .yaml .yml .zip"
).split()
"""File name endings of other formats."""


@contextmanager
def replacing(path: Any) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` once it is written completely; a device or a pipe is written to.

    Raises
    ------
    OSError
        Naming `path`.
    """
    name = os.fsdecode(path)
    target, stream = os.path.realpath(name), _stream(name)
    part = os.path.join(os.path.dirname(target), f".sklearn_rank_{secrets.token_hex(8)}")
    try:
        # A device, a pipe, or a folder, which raises.
        if stream is not None or (os.path.exists(target) and not os.path.isfile(target)):
            with open(target if stream is None else os.dup(stream), "wb") as file:
                yield file
            return
        if os.path.exists(target):
            # It fails for read-only files.
            open(target, "r+b").close()
        with open(part, "xb") as file:
            if os.path.exists(target):
                os.chmod(part, os.stat(target).st_mode)
            yield file
        os.replace(part, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, part, target):
            error.filename = name
            # None would be shown.
            del error.filename2
        raise


def _stream(path: str) -> int | None:
    """Number of the open file that a path such as "/dev/stdout" stands for."""
    # As many links as Linux follows.
    for _ in range(40):
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if folder in ("/dev/fd", os.path.realpath("/proc/self/fd")):
            return int(name) if name.isdecimal() else None
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None


# --- results -------------------------------------------------------------------------------------------------


def save(path: Any, kind: str, meta: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Write arrays, and `meta` as JSON under the name "meta", to exactly this path.

    Raises
    ------
    ValueError
        If the path ends as files of another format do.
    TypeError
        If an array holds objects that are neither numbers, strings nor tuples of them.
    """
    suffix = os.path.splitext(os.fsdecode(checked_path(path)))[1].lower()
    if suffix in OTHER_FORMATS:
        raise ValueError(
            "A result is saved as NumPy's .npz, so its name must not end like a file of another format; to_frame() "
            f"gives a frame, which pandas writes in others. Got {echo(os.fsdecode(path), 300)}."
        )
    objects = {name: _jsonable_ids(array, name) for name, array in arrays.items() if array.dtype.hasobject}
    text = json.dumps({"kind": kind, "version": VERSION, "objects": objects, **meta})
    saved = {name: array for name, array in arrays.items() if name not in objects} | {META: np.array(text)}
    with replacing(path) as file:
        archive = zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED)
        # The same as numpy.savez_compressed does.
        try:
            for name, array in saved.items():
                with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                    np.lib.format.write_array(entry, array, allow_pickle=False)
            archive.close()
        finally:
            # To close an archive that is half written raises a ValueError, which would hide the error that left it so.
            archive.fp = None


def unpacks_too_far(n_unpacked: int, n_bytes: int) -> bool:
    """Whether so many bytes of a packed file are more than a file of `n_bytes` should become."""
    return n_unpacked > max(MOST_UNPACKED, MOST_RATIO * n_bytes)


def checked_path(path: Any) -> Any:
    """Check that this is the name of a file; a number would be one that is open."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"A result is saved under a path, a str or an os.PathLike. Got {type(path).__name__} instead.")
    return path


def load(path: Any, kind: str, make: Callable[[Mapping[str, Any], SavedArrays], T]) -> T:
    """Read a file that `save` wrote, and return ``make(meta, arrays)``.

    Raises
    ------
    ValueError
        If the file holds something else, is damaged, or was written in another layout, or if it announces more than
        1 GiB and more than 100 times its own size.
    OSError
        If it cannot be read.
    """
    with _File(io.FileIO(checked_path(path))) as file:
        try:
            if not zipfile.is_zipfile(file):
                raise _OtherFileError(_not_a(kind, "no description", path))
            with zipfile.ZipFile(file) as archive:
                arrays = SavedArrays(archive)
                announced, n_bytes = arrays.announced(), file.seek(0, os.SEEK_END)
                if unpacks_too_far(announced, n_bytes):
                    too_many = f"{announced}, more than 1 GiB and more than {MOST_RATIO} times its own,"
                    got = f"a file of {n_bytes} bytes that announces {too_many}"
                    raise _OtherFileError(_not_a(kind, got, path))
                meta = arrays.meta()
                if meta.get("kind") != kind or meta.get("version") != VERSION:
                    got = f"{meta['kind']} of layout {meta.get('version')}" if "kind" in meta else "no description"
                    raise _OtherFileError(_not_a(kind, got, path))
                return make(meta, arrays)
        except _UnreadableError as error:
            raise error.args[0] from None
        except (_OtherFileError, MemoryError, RecursionError):
            raise
        # A damaged file can raise anything.
        except Exception as error:
            text = one_line(str(error), 200)
            got = f"what is damaged, or was not written by save ({type(error).__name__}: {text})"
            raise ValueError(_not_a(kind, got, path)) from error


class _File(io.BufferedReader):
    """A file whose errors are no OSError, which zipfile would take for damage."""

    def read(self, size: int | None = -1, /) -> bytes:
        """The next bytes."""
        with _unreadable(self.name):
            return super().read(size)

    def seek(self, target: int, whence: int = 0, /) -> int:
        """Go to a position."""
        with _unreadable(self.name):
            return super().seek(target, whence)


@contextmanager
def _unreadable(path: Any) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        # Damage leads to positions before the start.
        if error.errno in (None, errno.EINVAL):
            raise
        error.filename = path
        raise _UnreadableError(error) from None


class _UnreadableError(Exception):
    """The file cannot be read; the OSError in it says why."""


class _OtherFileError(ValueError):
    """The file is valid, but holds something else."""


def _not_a(kind: str, got: str, path: Any) -> str:
    return f"The file must hold a saved {kind} of layout {VERSION}. Got {got[:300]} in {path}."


class SavedArrays(Mapping[str, NDArray[Any]]):
    """Arrays of a file. Each is read when it is asked for.

    Those who load a result compare the shapes in all headers before they read an array.

    With a `suffix`, only arrays whose names end in it are seen, and their names are without it.
    """

    def __init__(
        self, archive: zipfile.ZipFile, objects: Mapping[str, NDArray[Any]] | None = None, suffix: str = ""
    ) -> None:
        self._archive, self._objects, self._suffix = archive, objects or {}, suffix
        names = archive.namelist()
        if len({*names}) < len(names):
            raise ValueError("an array is there twice")
        if not all(name.endswith(".npy") for name in names):
            raise ValueError("it has a member that is no array")

    def announced(self) -> int:
        """Bytes of all arrays, by the directory of the file."""
        return sum(member.file_size for member in self._archive.infolist())

    def meta(self) -> dict[str, Any]:
        """Read the description; the objects in it become arrays of this mapping."""
        if META not in self:
            return {}
        self.check(META, (), "U")
        meta = _of_json(str(self[META]))
        if not isinstance(meta, dict):
            raise ValueError("the description must be a JSON object")
        objects = part(meta, "objects", dict) if "kind" in meta else {}
        self._objects = {name: _objects(ids) for name, ids in objects.items()}
        return meta

    def ending(self, suffix: str) -> SavedArrays:
        """The arrays whose names end in `suffix`."""
        return SavedArrays(self._archive, self._objects, suffix)

    def shape(self, name: str) -> tuple[int, ...]:
        """Shape of an array, whose entries are not read."""
        return self._header(name)[0]

    def check(self, name: str, shape: tuple[int | None, ...], kinds: str) -> tuple[int, ...]:
        """Refuse an array of another shape (None: any length) or kind of dtype, and return its shape.

        Its entries are not read.

        Raises
        ------
        ValueError
            If shape or dtype differ.
        """
        saved, dtype = self._header(name)
        if len(saved) != len(shape) or any(n is not None and n != m for n, m in zip(shape, saved, strict=True)):
            raise ValueError(f"{name} must have shape {shape}, not {saved}")
        if dtype.kind not in kinds:
            raise ValueError(f"{name} must not have dtype {dtype}")
        return saved

    def __getitem__(self, name: str) -> NDArray[Any]:
        """The array of a name."""
        ids = self._objects.get(name + self._suffix)
        if ids is not None:
            return ids
        self._header(name)
        with self._archive.open(self._member(name)) as file:
            return _text_checked(np.lib.format.read_array(file, allow_pickle=False), name)

    def __contains__(self, name: object) -> bool:
        """Whether there is an array of this name, which is not read."""
        return any(one == name for one in self)

    def __iter__(self) -> Iterator[str]:
        """Names of the arrays."""
        names = [name.removesuffix(".npy") for name in self._archive.namelist()]
        known = dict.fromkeys([*self._objects, *names])
        return (name.removesuffix(self._suffix) for name in known if name.endswith(self._suffix))

    def __len__(self) -> int:
        """Number of arrays."""
        # A list would ask for its length first.
        return sum(1 for _ in self)

    def _member(self, name: str) -> zipfile.ZipInfo:
        return self._archive.getinfo(f"{name}{self._suffix}.npy")

    def _header(self, name: str) -> tuple[tuple[int, ...], np.dtype[Any]]:
        """Shape and dtype, if the file announces as many bytes: NumPy allocates an array before reading it."""
        ids = self._objects.get(name + self._suffix)
        if ids is not None:
            return ids.shape, ids.dtype
        member = self._member(name)
        if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise ValueError(f"{name} must be packed by deflate")
        with self._archive.open(member) as file:
            # Headers of later versions may have gigabytes, which NumPy would read.
            if np.lib.format.read_magic(file) != (1, 0):
                raise ValueError(f"{name} must be in version 1.0 of the .npy format")
            try:
                shape, _, dtype = np.lib.format.read_array_header_1_0(file)
            # The parser of Python raises either where a header of 10,000 characters is too deep.
            except (RecursionError, MemoryError):
                raise ValueError(f"{name} must have a header that Python can follow") from None
            n_bytes = file.tell() + math.prod(shape) * dtype.itemsize
        if not dtype.itemsize:
            raise ValueError(f"{name} must have entries of one byte or more")
        if n_bytes != member.file_size:
            raise ValueError(f"{name} must have as many entries as it says, {shape}")
        return shape, dtype


def _text_checked(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Refuse text with numbers that are no characters: NumPy makes strings of them that Python does not know."""
    if array.dtype.kind == "U":
        code = array.reshape(-1, order="A").view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if code.max(initial=0) > sys.maxunicode:
            raise ValueError(f"{name} has a character above U+{sys.maxunicode:X}")
    return array


def part(words: Any, name: str, *types: type) -> Any:
    """Entry of a saved description, which must be of one of the types.

    Raises
    ------
    ValueError
        If it is missing or of another type.
    """
    value = words.get(name) if isinstance(words, dict) else None
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise ValueError(f"the description must have {echo(name)} as {' or '.join(t.__name__ for t in types)}")
    return value


def names(words: Any, name: str) -> list[str]:
    """Entry of a saved description, which must be a list of distinct strings.

    Raises
    ------
    ValueError
        If it is not.
    """
    listed: list[str] = part(words, name, list)
    if not all(isinstance(one, str) for one in listed) or len({*listed}) < len(listed) or not listed:
        raise ValueError(f"the description must have {echo(name)} as a list of distinct names")
    return listed


def _of_json(text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError(TOO_DEEP) from None


def _objects(values: Any) -> NDArray[Any]:
    if not isinstance(values, list):
        raise ValueError("ids must be a list")
    array = np.empty(len(values), dtype=object)
    array[:] = [_id(value) for value in values]
    return array


def _id(value: Any, n_left: int = MOST_NESTED) -> Any:
    if isinstance(value, list) and n_left:
        return tuple(_id(part, n_left - 1) for part in value)
    if not isinstance(value, (str, int, float)):
        raise ValueError(f"ids must be {SAVED_IDS}")
    return value


def _jsonable_ids(ids: NDArray[Any], name: str) -> list[Any]:
    return [_jsonable(value, name) for value in ids.tolist()]


def _jsonable(value: Any, name: str, n_left: int = MOST_NESTED) -> Any:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, tuple) and n_left:
        return [_jsonable(part, name, n_left - 1) for part in value]
    if not isinstance(value, (str, int, float)):
        raise TypeError(f"To be saved, {name} must hold {SAVED_IDS}. Got {echo(value)} of type {type(value).__name__}.")
    return value


class Saveable(ABC):
    """A result that can be saved as plain data, words and arrays, and made of them again."""

    @abstractmethod
    def _to_saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        """Words and arrays to save."""

    @classmethod
    @abstractmethod
    def _from_saved(cls, words: Mapping[str, Any], arrays: SavedArrays) -> Self:
        """Make a result of saved words and arrays."""

    def save(self, path: Any) -> None:
        """Save the result to one .npz file without pickle.

        Parameters
        ----------
        path : str or path
            File to write, with exactly this name. An existing file is replaced once everything is written.

        Raises
        ------
        ValueError
            If the path ends as files of another format do, such as ".parquet".
        TypeError
            If query ids are neither numbers, strings nor tuples of them.
        OSError
            If it cannot be written. An existing file is then unchanged.
        """
        save(path, type(self).__name__, *self._to_saved())

    @classmethod
    def load(cls, path: Any) -> Self:
        """Load a saved result.

        Parameters
        ----------
        path : str or path

        Returns
        -------
        Evaluation or Comparison
            An instance of the class that the method is called on.

        Raises
        ------
        ValueError
            If the file holds something else, is damaged, or announces more than 1 GiB and more than 100 times its own
            size.
        OSError
            If it cannot be read.
        """
        return load(path, cls.__name__, cls._from_saved)


Shapes = dict[str, tuple[tuple[int, ...], str]]
"""Shape and kinds of arrays, by name."""


def check_saved(words: Any, arrays: SavedArrays, n_queries: int | None = None) -> tuple[list[Any], int]:
    """Check that the headers of a saved evaluation fit together, and return its metrics and the number of its queries.

    No array is read.

    Raises
    ------
    ValueError
        If they do not.
    """
    metrics: list[Any] = part(words, "metrics", list)
    for metric in metrics:
        for name in ("name", "meaning"):
            part(metric, name, str)
        part(metric, "mean", int, float), part(metric, "greater_is_better", bool)
        if "is_binary" in metric:
            part(metric, "is_binary", bool)
        if part(metric, "average", str) not in ("macro", "micro", "geometric"):
            raise ValueError("an average must be macro, micro or geometric")
    names({"metrics": [metric["name"] for metric in metrics]}, "metrics")
    (n_queries,) = arrays.check("qid", (n_queries,), KINDS)
    if not n_queries:
        raise ValueError("there must be a query")
    shapes: Shapes = {"values": ((len(metrics), n_queries), "f"), "undefined": ((len(metrics), n_queries), "b")}
    if "judges_both" in words:
        part(words, "judges_both", bool)
        if not part(words, "is_all_judged", bool):
            shapes["judged"] = (len(metrics), n_queries), "f"
    if "settled" in words:
        if not {*names(words, "settled")} <= {metric["name"] for metric in metrics}:
            raise ValueError("settled must be of the metrics")
        shapes["settled"] = (len(words["settled"]), n_queries), "b"
    if words.get("cut_at") is not None:
        part(words, "cut_at", int)
    part({"remarks": []} | dict(words), "remarks", list)
    for means in part({"run_means": {}} | dict(words), "run_means", dict).values():
        if not (isinstance(means, list) and all(isinstance(mean, (int, float)) for mean in means)):
            raise ValueError("means of runs must be numbers")
    kinds_known = {"n_documents": "iu", "weight": "f", "label_fingerprints": "u", "ranking_fingerprints": "u"}
    of_queries = {name: kinds for name, kinds in kinds_known.items() if name in arrays}
    if "clusters" in arrays:
        of_queries["clusters"] = KINDS
    if words.get("attributes"):
        of_queries |= {f"attribute{i}": KINDS for i in range(len(names(words, "attributes")))}
    shapes |= {name: ((n_queries,), kinds) for name, kinds in of_queries.items()}
    if "references" in words:
        shapes |= _shapes_of_references(words, n_queries)
    for name, (shape, kinds) in shapes.items():
        arrays.check(name, shape, kinds)
    return metrics, n_queries


def _shapes_of_references(words: Any, n_queries: int) -> Shapes:
    """Check the description of values in other orders, and return shapes and kinds of their arrays."""
    shapes: Shapes = {}
    known, references = {metric["name"] for metric in words["metrics"]}, part(words, "references", dict)
    for kind in ("chance", "best", "adjusted"):
        means = part(references, kind, dict)
        if not {*means} <= known:
            raise ValueError(f"{kind} must be of the metrics")
        for name in means:
            part(means, name, int, float)
        if means:
            shape = len(means), n_queries
            shapes |= {f"{kind}_values": (shape, "f"), f"{kind}_undefined": (shape, "b")}
    return shapes
