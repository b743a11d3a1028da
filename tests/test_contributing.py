"""CONTRIBUTING.md can be followed: its examples pass the tests that it names, in a copy of the repository."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_rank

ROOT, PACKAGE = Path(__file__).parents[1], Path(sklearn_rank.__file__).parent

BLOCK = re.compile(r"((?:[^\n]+\n)+)\n(`{3,})(\w+)\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
"""A paragraph and the fenced block below it."""

PLACE = re.compile(r"(?:(A new file)|(At the end of)|Below `([^`]+)` in) `([\w/.]+)`:$")
"""How a paragraph says where its block goes."""


def test_pre_commit_lints_as_ci_does():
    hooks = re.findall(r"^ +entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    steps = dict(re.findall(r'^step "(.*?)"\n(.*?)\n\n', (ROOT / ".ci" / "run").read_text(), re.MULTILINE | re.DOTALL))
    assert hooks == steps["Lint and types"].splitlines()


def sections():
    """Text of each example, by its title."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return dict(re.findall(r"^## (A new .*?)\n(.*?)(?=^## A new|^## Rules)", text, re.MULTILINE | re.DOTALL))


@pytest.fixture
def repository(tmp_path):
    """A copy of what the examples change and the tests read, with the compiled modules."""
    ignored = shutil.ignore_patterns("__pycache__", "*.c")
    shutil.copytree(PACKAGE, tmp_path / "sklearn_rank", ignore=ignored)
    for folder in ("tests", "docs", ".ci"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=ignored)
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "pyproject.toml", ".pre-commit-config.yaml"):
        shutil.copy(ROOT / name, tmp_path)
    return tmp_path


def put(code, paragraph, repository):
    """Put a block where the paragraph above it says."""
    place = PLACE.search(paragraph.strip().replace("\n", " "))
    assert place, f"where does this go? {paragraph}"
    new, at_the_end, line, path = place.groups()
    path = repository / path
    if new:
        assert not path.exists()
        path.write_text(code)
    elif at_the_end:
        path.write_text(path.read_text() + code)
    else:
        lines = path.read_text().splitlines(keepends=True)
        (above,) = [i for i, text in enumerate(lines) if text.strip().startswith(line)]
        path.write_text("".join([*lines[: above + 1], code, *lines[above + 1 :]]))


def run(command, repository):
    """Run a command in the copy, as a newcomer does."""
    command = re.sub("^python ", f"{sys.executable} ", command)
    if " -m pytest" in command:
        command += " -q -x -p no:cacheprovider -p no:xdist"
    environment = os.environ | {"PYTHONPATH": str(repository), "MPLBACKEND": "agg"}
    done = subprocess.run(command, shell=True, cwd=repository, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"


@pytest.mark.parametrize("title", sections())
def test_examples_can_be_followed(title, repository):
    blocks = BLOCK.findall(sections()[title])
    commands = [command for _, _, language, code in blocks if language == "sh" for command in code.splitlines()]
    assert any("pytest" in command for command in commands)
    for paragraph, _, language, code in blocks:
        if language != "sh":
            put(code, paragraph, repository)
    for command in [*commands, "ruff check sklearn_rank tests", "ruff format --check sklearn_rank tests", "mypy"]:
        run(command, repository)


def test_there_is_an_example_of_each():
    assert list(sections()) == ["A new metric", "A new Display", "A new reader"]
