"""Saved results are refused, or loaded as results that can be printed, saved and loaded again."""

import io
import tempfile
import zipfile
from pathlib import Path

from sklearn_rank.results import Comparison, Evaluation

BETWEEN = b"\xff\xfe\xff"
"""Between the names and the contents of members: so the fuzzer need not find check sums."""
FOLDER = Path(tempfile.mkdtemp())


def check(data: bytes) -> None:
    """The first byte chooses the result, and whether the input is a whole file or its members."""
    if not data:
        return
    kind, path = (Evaluation, Comparison)[data[0] % 2], FOLDER / "result.npz"
    path.write_bytes(data[1:] if data[0] >= 128 else packed(data[1:]))
    try:
        result = kind.load(path)
    except ValueError as error:
        assert len(str(error)) < 2000
        return
    result.save(path)
    again = kind.load(path)
    assert str(again) == str(result)
    assert repr(again) == repr(result)
    assert repr(again.to_frame()) == repr(result.to_frame())


def packed(members: bytes) -> bytes:
    """A file of uncompressed members; a name ends before its first NUL."""
    parts, file = members.split(BETWEEN), io.BytesIO()
    names = (name.decode("latin-1").partition("\0")[0] or "?" for name in parts[::2])
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in dict(zip(names, parts[1::2], strict=False)).items():
            archive.writestr(zipfile.ZipInfo(name), content)
    return file.getvalue()


def members(file: bytes) -> bytes:
    """The members of a file, in the form that `check` takes."""
    with zipfile.ZipFile(io.BytesIO(file)) as archive:
        return BETWEEN.join(
            part for name in archive.namelist() for part in (name.encode("latin-1"), archive.read(name))
        )
