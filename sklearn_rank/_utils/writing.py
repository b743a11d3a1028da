"""Atomic writing of files."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO


@contextmanager
def written_whole(path: Any) -> Iterator[BinaryIO]:
    """Open a binary file that replaces `path` once it is written completely.

    Raises
    ------
    OSError
        Naming `path`.
    """
    target = os.path.realpath(path)
    part = os.path.join(os.path.dirname(target), f".sklearn_rank_{secrets.token_hex(8)}")
    try:
        if os.path.exists(target):
            open(target, "r+b").close()  # fails for folders and read-only files
        if os.path.exists(target) and not os.path.isfile(target):  # a device or a pipe
            with open(target, "wb") as file:
                yield file
            return
        with open(part, "xb") as file:
            if os.path.exists(target):
                os.chmod(part, os.stat(target).st_mode)
            yield file
        os.replace(part, target)
    except BaseException as error:
        with suppress(OSError):
            os.unlink(part)
        if isinstance(error, OSError) and error.filename in (None, part, target):
            error.filename, error.filename2 = os.fspath(path), None
        raise
