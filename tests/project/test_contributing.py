"""docs/development/extending.md can be followed: a copy of the repository passes its commands."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_rank

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("contributing")]  # copy the repository once

ROOT, PACKAGE = Path(__file__).parents[2], Path(sklearn_rank.__file__).parent

BLOCK = re.compile(r"((?:[^\n]+\n)+)\n(`{3,})(\w+)\n(.*?)^\2$", re.MULTILINE | re.DOTALL)
"""A paragraph and the fenced block below it."""

PLACE = re.compile(r"(?:(A new file)|(At the end of)|Below `([^`]+)` in) `([\w/.]+)`:$")
"""How a paragraph says where its block goes."""

PAGE = ROOT / "docs" / "development" / "extending.md"
EXAMPLES = re.split(r"^## A new .*$", PAGE.read_text(), flags=re.MULTILINE)[1:]
"""The metric, the Display and the reader."""
BLOCKS = [BLOCK.findall(text) for text in EXAMPLES]
COMMANDS = [[c for _, _, kind, code in blocks if kind == "sh" for c in code.splitlines()] for blocks in BLOCKS]


def test_pre_commit_lints_as_ci_does():
    hooks = re.findall(r"^ +entry: (.*)$", (ROOT / ".pre-commit-config.yaml").read_text(), re.MULTILINE)
    steps = dict(re.findall(r'^step "(.*?)"\n(.*?)\n\n', (ROOT / ".ci" / "run").read_text(), re.MULTILINE | re.DOTALL))
    assert hooks == steps["Lint and types"].splitlines()


def put(code, paragraph, repository):
    """Insert a block where the paragraph above it says."""
    place = PLACE.search(paragraph.strip().replace("\n", " "))
    assert place, f"where does this go? {paragraph}"
    new, at_the_end, line, path = place.groups()
    path = repository / path
    code = "\n" * (2 * code.startswith("def ") + code.startswith("## ")) + code
    if new:
        assert not path.exists()
        path.write_text(code)
    elif at_the_end:
        path.write_text(path.read_text() + code)
    else:
        lines = path.read_text().splitlines(keepends=True)
        (above,) = [i for i, text in enumerate(lines) if text.strip().startswith(line)]
        path.write_text("".join([*lines[: above + 1], code, *lines[above + 1 :]]))


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A copy of the repository with the compiled modules and all examples applied."""
    folder, ignored = tmp_path_factory.mktemp("repository"), shutil.ignore_patterns("*.c", "_build", "notebooks")
    shutil.copytree(PACKAGE, folder / "sklearn_rank", ignore=ignored)
    for name in ("tests", "docs"):
        shutil.copytree(ROOT / name, folder / name, ignore=ignored)
    for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "SECURITY.md", "pyproject.toml"):
        shutil.copy(ROOT / name, folder)
    if (ROOT / ".mypy_cache").exists():  # so that unchanged files are not checked again
        shutil.copytree(ROOT / ".mypy_cache", folder / ".mypy_cache")
    for blocks in BLOCKS:
        for paragraph, _, kind, code in blocks:
            if kind != "sh":
                put(code, paragraph, folder)
    return folder


def run(command, repository):
    environment = os.environ | {"PYTHONPATH": str(repository), "MPLBACKEND": "agg", "OMP_NUM_THREADS": "1"}
    if not (repository / ".mypy_cache").exists():
        environment["MYPY_CACHE_DIR"] = os.devnull  # nobody needs pictures of this copy
    done = subprocess.run(command, cwd=repository, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{command}\n{done.stdout[-4000:]}{done.stderr[-2000:]}"


IN_ONE_PROCESS = """
import runpy, sys
import pytest

for command in {}:
    print("$", *command)
    sys.argv = command[1:]
    if sys.argv[0] == "-m":
        code = pytest.main([*sys.argv[2:], "-q", "-x", "-p", "no:cacheprovider"])
        if code:
            sys.exit(code)
    else:
        runpy.run_path(sys.argv[0], run_name="__main__")
"""
"""Runs commands of Python one after the other; what they import is imported once."""


def test_commands_pass(repository):
    """Commands of all examples, in the order of the page."""
    assert [sum("pytest" in command for command in commands) >= 1 for commands in COMMANDS] == [True] * 3
    commands = [shlex.split(command) for commands in COMMANDS for command in commands]
    assert {command[0] for command in commands} == {"python"}
    run([sys.executable, "-c", IN_ONE_PROCESS.format(commands)], repository)


@pytest.mark.parametrize("command", ["ruff check .", "ruff format --check .", "mypy"])
def test_lint_passes(command, repository):
    if shutil.which(command.split()[0]) is None:
        pytest.skip("the tool is not installed")
    changed = [
        path
        for path in (repository / "sklearn_rank").rglob("*.py")
        if not (original := PACKAGE / path.relative_to(repository / "sklearn_rank")).exists()
        or path.read_bytes() != original.read_bytes()
    ]
    of_these = ["--follow-imports=silent", *map(str, changed)]  # the other files have their own check
    run(command.split() + of_these * (command == "mypy"), repository)
