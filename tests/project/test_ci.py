"""Scripts that only a workflow calls run in their smallest part, with stand-ins for programs that take minutes."""

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import distributions
from pathlib import Path

import pytest

import sklearn_rank

ROOT = Path(__file__).parents[2]
STAND_IN = """#!/usr/bin/env bash
case "$(basename "$0") $*" in
  python*" -m venv "*) mkdir -p "$3" && cp -r "$STAND_INS" "$3/bin" ;;
  python*" -m build "*) mkdir "$5" ;;
  python*" -c "*) exec "$PYTHON" "$@" ;;
  pytest*" --collect-only "*) PYTHONPATH=$INSTALLED exec "$PYTHON" -m pytest "$@" ;;
  *) echo "$@" ;;
esac
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="workflows run the scripts on Linux")


def run(*command, **variables):
    env = os.environ | {"PYTEST_ADDOPTS": ""} | {name: str(value) for name, value in variables.items()}
    return subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=600)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """What a wheel installs: the package without its sources, and the names of its files."""
    folder = tmp_path_factory.mktemp("env") / "site-packages"
    sources = shutil.ignore_patterns("*.pyx", "*.pxd", "*.pxi", "README.md", "__pycache__")
    package = shutil.copytree(Path(sklearn_rank.__file__).parent, folder / "sklearn_rank", ignore=sources)
    (info := folder / "sklearn_rank-0.dist-info").mkdir()
    (info / "RECORD").write_text("".join(f"{path.relative_to(folder)},,\n" for path in package.rglob("*.*")))
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("script", ["smoke.py", "kernels.py"])
def test_the_wheel_alone(script, installed, tmp_path):
    needed = "numpy scipy scikit-learn joblib cloudpickle threadpoolctl narwhals".split()
    for found in (found for found in distributions() if found.name in needed):
        for top in {file.parts[0] for file in found.files} - {"..", "__pycache__"}:
            (tmp_path / top).symlink_to(found.locate_file(top))
    paths = {"PYTHONPATH": f"{installed}:{tmp_path}", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = run(sys.executable, "-S", "-W", "error", ROOT / ".ci" / script, **paths)
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="the scripts ask Git for the files")
@pytest.mark.parametrize("way", ["memory", "bounds", "limits", None])
def test_tests_beside_a_wheel_and_under_sanitizers(way, installed, tmp_path):
    """The steps around the build and the tests; beside a wheel without sources the tests are collected."""
    (folder := tmp_path / "bin").mkdir()
    for name in "python pip uv pytest".split():
        (folder / name).write_text(STAND_IN)
        (folder / name).chmod(0o755)
    given = {"STAND_INS": folder, "PYTHON": sys.executable, "INSTALLED": installed, "TMPDIR": tmp_path}
    words = ("sanitize", way, "-x") if way else ("versions", "python", "oldest", "--collect-only", "-n0")
    done = run(ROOT / ".ci" / words[0], *words[1:], PATH=f"{folder}:{os.environ['PATH']}", **given)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr
    collected = re.search(r"^(\d+) tests collected|-m pytest -p no:cacheprovider --capture=sys -x$", done.stdout, re.M)
    assert collected
    assert way or int(collected[1]) > 10_000


def test_scripts_are_read():
    for path in (path for path in (ROOT / ".ci").iterdir() if path.is_file() and path.suffix != ".py"):
        assert run("bash", "-n", path).stderr == ""
    assert "Got 'memmory'" in run(ROOT / ".ci" / "sanitize", "memmory").stderr


@pytest.mark.parametrize(
    ("sections", "address", "said"),
    [
        ("1.2.0 1.1.9 1.2.0rc1 1.2.0.dev3", "rank.io", ""),
        ("1.10.0 1.2.0", "rank.io", "The version .* earlier than 1.10.0 .*\nThe tag must be v1.2.0, .*\n"),
        ("1.1.0", "example.org", "CHANGELOG.* '## .1.2.0. - .*\nThe tag .*\nPut .*: pyproject.toml .*/recipe.yaml\n"),
    ],
)
def test_no_release_without_changelog_and_addresses(sections, address, said, tmp_path):
    for name, text in {
        ".ci/ready": (ROOT / ".ci" / "ready").read_text(),
        "sklearn_rank/_version.py": '__version__ = "1.2.0"\n',
        "CHANGELOG.md": "".join(f"## [{section}] - 2026-01-31\n" for section in sections.split()),
        **dict.fromkeys(("pyproject.toml", "CITATION.cff", ".ci/conda/recipe.yaml"), f"https://{address}/\n"),
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    done = run("bash", tmp_path / ".ci" / "ready", f"v{sections.split()[0]}")
    assert re.fullmatch(said, done.stderr)
    assert done.returncode == bool(said)


def test_one_command_turns_a_clone_into_a_package(tmp_path):
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=shutil.ignore_patterns("_build"))
    shutil.copy(ROOT / "README.md", tmp_path)
    page = (ROOT / "docs/development/release.md").read_text()
    command = re.search(r"^sed .*$", page, re.MULTILINE)[0]
    subprocess.run(command, shell=True, cwd=tmp_path, check=True)
    for name in ("README.md", "docs/index.md", "docs/start/README.md", "docs/start/install.md"):
        text = (tmp_path / name).read_text()
        assert "first release" not in text
        assert re.findall(r'pip install "([^"]*)\[', text)[0] == "sklearn-rank"
        assert all("docs/examples" in line for line in text.splitlines() if 'install ".' in line)


@pytest.mark.slow
def test_pytest_works_without_xdist():
    done = run(sys.executable, "-m", "pytest", "-q", "-p", "no:xdist", "--co", "tests/project/test_data.py")
    assert done.returncode == 0, done.stdout
