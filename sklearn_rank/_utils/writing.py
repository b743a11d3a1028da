"""Atomic writing of files."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO


@contextmanager
def written_whole(path: Any) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` once it is written completely; what is no plain file is written to.

    Raises
    ------
    OSError
        Naming `path`.
    """
    name = os.fsdecode(path)
    target, stream = os.path.realpath(name), _stream(name)
    part = os.path.join(os.path.dirname(target), f".sklearn_rank_{secrets.token_hex(8)}")
    try:
        if stream is not None or (os.path.exists(target) and not os.path.isfile(target)):  # a device, a pipe, a folder
            with open(target if stream is None else os.dup(stream), "wb") as file:
                yield file
            return
        if os.path.exists(target):
            open(target, "r+b").close()  # fails for read-only files
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
            del error.filename2  # None would be shown
        raise


def _stream(path: str) -> int | None:
    """Number of the open file that a path such as "/dev/stdout" stands for."""
    for _ in range(40):  # as many links as Linux follows
        folder, name = os.path.split(path)
        folder = os.path.realpath(folder)
        if folder in ("/dev/fd", os.path.realpath("/proc/self/fd")):
            return int(name) if name.isdecimal() else None
        path = os.path.join(folder, name)
        if not os.path.islink(path):
            break
        path = os.path.join(folder, os.readlink(path))
    return None
