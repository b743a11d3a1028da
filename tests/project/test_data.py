"""Each file of `tests/data` is small and has its source on the page there; a missing file is an error."""

import re

from known_cases import DATA

FILES = sorted(path for path in DATA.rglob("*") if path.is_file() and path.parent != DATA)


def test_every_file_has_a_source():
    """A table row below the heading of the folder names the file."""
    named = set()
    for part in re.split(r"^## ", (DATA / "README.md").read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]:
        folder = re.match(r"\w+", part)[0]
        cells = re.findall(r"^\| (`.*?) \| .* \|$", part, re.MULTILINE)
        named |= {f"{folder}/{name}" for cell in cells for name in re.findall(r"`(.*?)`", cell)}
    assert named == {path.relative_to(DATA).as_posix() for path in FILES}


def test_no_file_is_large():
    assert [path.name for path in FILES if path.stat().st_size > 500_000] == []
