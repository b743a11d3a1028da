"""Files that are written completely or not at all, and results in them: an .npz of arrays and a description in JSON.

There is no pickle, so NumPy can read them years later.
"""

from __future__ import annotations

import errno
import json
import math
import os
import platform
import re
import secrets
import sys
import time
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.echo import echo, one_line

T = TypeVar("T")

Arrays = Mapping[str, NDArray[Any]]
"""Arrays of a file, by name."""

VERSION = 1
"""Version of the layout; files of others are refused."""

META = "meta"

NO_LONGER_SAVED = "GateResult", "JudgedInterval", "JudgedDifference", "JudgeAgreement", "Explanation"
"""Results that can be made again from saved evaluations."""

MOST_NESTED = 100
"""Tuples that may be in each other, each in the next, in an id that is saved."""

SAVED_IDS = f"numbers, strings or tuples of them, at most {MOST_NESTED} in each other"

KINDS = "biufcmMSUO"
"""Kinds of dtype of ids."""

MOST_UNPACKED, MOST_RATIO = 2**30, 100
"""A packed file may become more bytes than this, or more than so many times its own, but not both."""

MOST_DEFLATED = 1032
"""Deflate packs at most so many bytes into one."""

PACKED_FIRST, WORTH_PACKING = 2**10, 0.7
"""Entries of an array that are packed first: the whole array is packed if they become less than this share."""

OTHER_FORMATS = (
    ".arrow .csv .db .docx .feather .gz .h5 .hdf5 .html .ipc .joblib .json .jsonl .latex .md .npy .orc .parquet .pdf "
    ".pickle .pkl .png .qrels .run .sqlite .svg .tex .tsv .txt .xls .xlsx .xml .yaml .yml .zip"
).split()
"""File name endings of other formats."""

PART_NAME = re.compile(r"\.sklearn_rank_(?P<machine>.+)_(?P<pid>\d{1,9})_[0-9a-f]{16}")
"""Name of a file that is being written."""

MOST_QUIET = 24 * 60 * 60
"""Seconds without a write after which a part of another machine was left by its process."""


@contextmanager
def replacing(path: Any) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` once it is written completely; a device or a pipe is written to."""
    name = os.fsdecode(path)
    target, stream = os.path.realpath(name), _stream(name)
    folder = os.path.dirname(target)
    part = os.path.join(folder, f".sklearn_rank_{_machine()}_{os.getpid()}_{secrets.token_hex(8)}")
    try:
        # A device, a pipe, or a folder, which raises.
        if stream is not None or (os.path.exists(target) and not os.path.isfile(target)):
            with open(target if stream is None else os.dup(stream), "wb") as file:
                yield file
            return
        if os.path.exists(target):
            # It fails for read-only files.
            open(target, "r+b").close()
        _remove_left_parts(folder)
        with open(part, "xb") as file:
            if os.path.exists(target):
                os.chmod(part, os.stat(target).st_mode)
            yield file
        os.replace(part, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError) and error.errno is not None and error.filename in (None, part, target):
            if error.filename == part and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
                error.strerror, name = f"{error.strerror} in the folder of {name!r}", folder
            error.filename = name
            # None would be shown.
            del error.filename2
        raise


def _machine() -> str:
    """Name of what gives processes their numbers: a machine, or a container on it."""
    space = "/proc/self/ns/pid"
    return f"{platform.node()}-{os.stat(space).st_ino if os.path.exists(space) else 0}"


def _remove_left_parts(folder: str) -> None:
    """Remove what processes left when they were killed."""
    with suppress(OSError), os.scandir(folder) as found:
        for entry in found:
            with suppress(OSError):
                if (part := PART_NAME.fullmatch(entry.name)) and _is_left(entry, part["machine"], int(part["pid"])):
                    os.unlink(entry)


def _is_left(part: os.DirEntry[str], machine: str, pid: int) -> bool:
    # On Windows os.kill would end the process.
    if machine != _machine() or sys.platform == "win32":
        return time.time() - part.stat().st_mtime > MOST_QUIET
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        return False
    return True


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
    """Write arrays, and `meta` as JSON under the name "meta", to exactly this path."""
    suffix = os.path.splitext(os.fsdecode(checked_path(path)))[1].lower()
    if suffix in OTHER_FORMATS:
        raise ValueError(
            "A result is saved as NumPy's .npz, so its name must not end like a file of another format; to_frame() "
            f"gives a frame, which pandas writes in others. Got {echo(os.fsdecode(path), 300)}."
        )
    objects = {
        name: [_jsonable(value, name) for value in array.tolist()]
        for name, array in arrays.items()
        if array.dtype.hasobject
    }
    text = json.dumps({"kind": kind, "version": VERSION, "objects": objects, **meta})
    saved: dict[str, Any] = {name: array for name, array in arrays.items() if name not in objects}
    saved[META] = np.array(text)
    with replacing(path) as file, zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        for name, array in saved.items():
            start = np.ascontiguousarray(array).reshape(-1)[:PACKED_FIRST].tobytes()
            packs = len(zlib.compress(start, 1)) < WORTH_PACKING * len(start)
            archive.compression = zipfile.ZIP_DEFLATED if packs else zipfile.ZIP_STORED
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def unpacks_too_far(n_unpacked: int, n_bytes: int) -> bool:
    """Whether so many bytes of a packed file are more than a file of `n_bytes` should become."""
    return n_unpacked > max(MOST_UNPACKED, MOST_RATIO * n_bytes)


def checked_path(path: Any) -> Any:
    """Check that this is the name of a file; a number would be one that is open."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise TypeError(f"A result is saved under a path, a str or an os.PathLike. Got {type(path).__name__} instead.")
    return path


def load(path: Any, kind: str, make: Callable[[Mapping[str, Any], Arrays], T]) -> T:
    """Read a file that `save` wrote, and return ``make(meta, arrays)``."""
    # A file that announces more than 1 GiB and more than 100 times its own size is refused.
    checked_path(path)
    try:
        with open(path, "rb") as file:
            words, arrays = _contents(file)
        if words.get("kind") == kind and words.get("version") == VERSION:
            return make(words, arrays)
        got = f"{words['kind']} of layout {words.get('version')}" if "kind" in words else "no description"
        if words.get("kind") in NO_LONGER_SAVED:
            got += ", which is no longer saved: make it again from saved evaluations,"
    # A damaged file can raise anything.
    except Exception as error:
        # An error of the disk may be the cause of one of zipfile. Damage leads to positions before the start.
        for cause in (error, error.__context__):
            if isinstance(cause, OSError) and cause.errno not in (None, errno.EINVAL):
                cause.filename = path
                raise cause from None
        text = one_line(str(error), 200)
        got = f"what is damaged, too large, or was not written by save ({type(error).__name__}: {text})"
        raise ValueError(_not_a(kind, got, path)) from error
    raise ValueError(_not_a(kind, got, path))


def _not_a(kind: str, got: str, path: Any) -> str:
    return f"The file must hold a saved {kind} of layout {VERSION}. Got {got[:300]} in {path}."


def _contents(file: BinaryIO) -> tuple[dict[str, Any], Arrays]:
    """Description and arrays of a file. All sizes are checked before an array is read."""
    n_bytes = file.seek(0, os.SEEK_END)
    with zipfile.ZipFile(file) as archive:
        announced = sum(member.file_size for member in archive.infolist())
        if unpacks_too_far(announced, n_bytes):
            raise ValueError(
                f"a file of {n_bytes} bytes announces {announced}, more than 1 GiB and {MOST_RATIO} times its own"
            )
        for member in archive.infolist():
            _check_size(archive, member)
    file.seek(0)
    with np.load(file, allow_pickle=False) as saved:
        arrays = {name: _text_checked(saved[name], name) for name in saved}
    words = json.loads(str(arrays.pop(META))) if META in arrays else {}
    if not isinstance(words, dict):
        raise ValueError("the description must be a JSON object")
    objects = part(words, "objects", dict) if "kind" in words else {}
    return words, arrays | {name: _objects(ids) for name, ids in objects.items()}


def _check_size(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> None:
    """Refuse a member that claims more than it can hold: NumPy allocates an array before it reads the entries."""
    name = member.filename
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise ValueError(f"{name} must be packed by deflate")
    with archive.open(member) as file:
        # Headers of later versions may have gigabytes, which NumPy would read.
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError(f"{name} must be in version 1.0 of the .npy format")
        shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        n_bytes = file.tell() + math.prod(shape) * dtype.itemsize
    most = MOST_DEFLATED * member.compress_size
    if not dtype.itemsize or n_bytes != member.file_size or n_bytes > most:
        raise ValueError(f"{name} must have as many entries as it says, {shape}")


def _text_checked(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Refuse text with numbers that are no characters: NumPy makes strings of them that Python does not know."""
    if array.dtype.kind == "U":
        code = array.reshape(-1, order="A").view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
        if code.max(initial=0) > sys.maxunicode:
            raise ValueError(f"{name} has a character above U+{sys.maxunicode:X}")
    return array


def check(arrays: Arrays, name: str, shape: tuple[int | None, ...], kinds: str) -> tuple[int, ...]:
    """Refuse an array of another shape (None: any length) or kind of dtype, and return its shape."""
    saved, dtype = arrays[name].shape, arrays[name].dtype
    if len(saved) != len(shape) or any(n is not None and n != m for n, m in zip(shape, saved, strict=True)):
        raise ValueError(f"{name} must have shape {shape}, not {saved}")
    if dtype.kind not in kinds:
        raise ValueError(f"{name} must not have dtype {dtype}")
    return saved


def ending(arrays: Arrays, suffix: str) -> Arrays:
    """The arrays whose names end in `suffix`, by their names without it."""
    return {name.removesuffix(suffix): array for name, array in arrays.items() if name.endswith(suffix)}


def part(words: Any, name: str, *types: type) -> Any:
    """Entry of a saved description, which must be of one of the types."""
    value = words.get(name) if isinstance(words, dict) else None
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        raise ValueError(f"the description must have {echo(name)} as {' or '.join(t.__name__ for t in types)}")
    return value


def names(words: Any, name: str) -> list[str]:
    """Entry of a saved description, which must be a list of distinct strings."""
    listed: list[str] = part(words, name, list)
    if not all(isinstance(one, str) for one in listed) or len({*listed}) < len(listed) or not listed:
        raise ValueError(f"the description must have {echo(name)} as a list of distinct names")
    return listed


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
    def _from_saved(cls, words: Mapping[str, Any], arrays: Arrays) -> Self:
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


def check_saved(words: Any, arrays: Arrays, n_queries: int | None = None) -> tuple[list[Any], int]:
    """Check parts of a saved evaluation that `from_values` does not, and return its metrics and number of queries."""
    metrics: list[Any] = part(words, "metrics", list)
    for metric in metrics:
        for name in ("name", "meaning"):
            part(metric, name, str)
        part(metric, "mean", int, float), part(metric, "greater_is_better", bool)
    names({"metrics": [metric["name"] for metric in metrics]}, "metrics")
    (n_queries,) = check(arrays, "qid", (n_queries,), KINDS)
    if not n_queries:
        raise ValueError("there must be a query")
    shapes: Shapes = {"values": ((len(metrics), n_queries), "f")}
    if "judges_both" in words:
        part(words, "judges_both", bool)
        if not part(words, "is_all_judged", bool):
            shapes["judged"] = (len(metrics), n_queries), "f"
    for key, kind in (("settled", "b"), ("columns", "u")):
        if key in words:
            if not {*names(words, key)} <= {metric["name"] for metric in metrics}:
                raise ValueError(f"{key} must be of the metrics")
            shapes[key] = (len(words[key]), n_queries), kind
    if words.get("cut_at") is not None:
        part(words, "cut_at", int)
    part({"remarks": []} | dict(words), "remarks", list)
    for means in part({"run_means": {}} | dict(words), "run_means", dict).values():
        if not (isinstance(means, list) and all(isinstance(mean, (int, float)) for mean in means)):
            raise ValueError("means of runs must be numbers")
    if "run_values" in arrays:
        k = max(map(len, words["run_means"].values()), default=0) if words.get("run_means") else 0
        if k < 2:
            raise ValueError("values of runs must have means of two runs or more")
        shapes["run_values"] = (len(metrics), n_queries, k), "f"
    if "ranking_fingerprints" in arrays:
        shapes["ranking_fingerprints"] = (n_queries,), "u"
    if "n_retrieved" in arrays:
        shapes["n_retrieved"] = (n_queries,), "i"
    if words.get("attributes"):
        names(words, "attributes")
    if "references" in words:
        shapes |= _shapes_of_references(words, n_queries)
    for name, (shape, kinds) in shapes.items():
        check(arrays, name, shape, kinds)
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
