"""Packages that the extras install."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]


def packages(extra):
    """Names of all packages of an extra, including the extras that it names."""
    for requirement in EXTRAS[extra]:
        name, extras = re.match(r"([\w-]+)(?:\[([\w,]+)\])?", requirement).groups()
        if name == "sklearn-rank":
            for other in extras.split(","):
                yield from packages(other)
        else:
            yield name


@pytest.mark.parametrize("extra", EXTRAS)
def test_no_extra_overwrites_an_installed_xgboost(extra):
    """xgboost and xgboost-cpu write the same folder, so only the extra for contributors installs the small one."""
    builds = {name for name in packages(extra) if name.startswith("xgboost")}
    assert builds <= ({"xgboost-cpu"} if extra in ("tests", "docs") else {"xgboost"})


def test_pages_name_extras_that_exist():
    text = "".join(page.read_text() for page in (ROOT / "docs").rglob("*.md"))
    named = {extra for names in re.findall(r"sklearn-rank\[([\w,]+)\]", text) for extra in names.split(",")}
    table = (ROOT / "docs" / "start" / "install.md").read_text().partition("| extra |")[2]
    listed = set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE))
    of_developers = {"docs", "bench", "tests", "browser"}
    assert named <= listed == EXTRAS.keys() - of_developers
