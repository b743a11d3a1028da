"""The site's reference is complete; ``.ci/docs`` builds it and checks the rest."""

import re
import sys
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[1] / "docs"
sys.path.append(str(DOCS / "_sphinx"))


@pytest.fixture(scope="module")
def listed():
    """Names in the tables of docs/api."""
    found = []
    for page in (DOCS / "api").glob("*.rst"):
        parts = re.split(r"^\.\. currentmodule:: (\S+)$", page.read_text(), flags=re.MULTILINE)
        for module, text in zip(parts[1::2], parts[2::2], strict=True):
            found += [f"{module}.{name}" for name in re.findall(r"^   (\w+)$", text, re.MULTILINE)]
    return found


def test_every_public_name_is_in_the_reference_once(listed):
    entries = pytest.importorskip("entries")
    assert sorted(listed) == sorted(set(entries.ENTRIES.values()))
