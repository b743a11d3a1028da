"""The workflow and the pytest function of the page of the gate, as they stand there."""

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "decide" / "gate.md").read_text()
FUNCTION = re.search(r"```python\n(.*?)```", PAGE, re.DOTALL)[1]
WORKFLOW = re.search(r"```yaml\n(.*?)```", PAGE, re.DOTALL)[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_ADDOPTS": ""}


def run(words, folder, **environment):
    return subprocess.run(
        words, cwd=folder, env=ENVIRONMENT | environment, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture
def folder(tmp_path):
    """A repository whose main branch has judgments, a program that ranks, and the result of its run."""
    qrels = [f"q{i} 0 d{j} {int(j == i % 5)}" for i in range(60) for j in range(5)]
    (tmp_path / "qrels.txt").write_text("\n".join(qrels) + "\n")
    program = "for i in range(60):\n    for j in range(5):\n        print(f'q{i} Q0 d{j} 0 {SCORE} x')\n"
    for name, score in (("rank.py", "5 - (j - i) % 5"), ("bad.py", "(j - i) % 5")):
        (tmp_path / name).write_text(program.replace("SCORE", score))
    (tmp_path / "new.run").write_text(run([sys.executable, "rank.py"], tmp_path).stdout)
    shim = tmp_path / "bin" / "sklearn-rank"
    shim.parent.mkdir()
    shim.write_text(f'#!/bin/sh\nexec {sys.executable} -m sklearn_rank "$@"\n')
    shim.chmod(shim.stat().st_mode | stat.S_IXUSR)
    words = ["evaluate", "qrels.txt", "new.run", "-m", "ndcg@10,recall@100", "--save", "baseline.npz"]
    assert run([str(shim), *words], tmp_path).returncode == 0
    return tmp_path


def test_the_function_runs_in_pytest(folder):
    (folder / "test_ranking.py").write_text(FUNCTION)
    words = [sys.executable, "-m", "pytest", "-q", "test_ranking.py"]
    found = run(words, folder)
    assert found.returncode == 0, found.stdout
    assert (folder / "gate.html").stat().st_size > 1000
    (folder / "new.run").write_text(run([sys.executable, "bad.py"], folder).stdout)
    printed = run(words, folder)
    assert printed.returncode == 1
    for line in (
        "Worse: new loses more than the margin in nDCG@10",
        "lost most",
        "<GateResult: worse>",
        "ties averaged",
    ):
        assert line in printed.stdout


def test_the_workflow_runs(folder):
    yaml = pytest.importorskip("yaml")
    steps = yaml.safe_load(WORKFLOW)["jobs"]["gate"]["steps"]
    origin = ["git", "-c", "user.name=x", "-c", "user.email=x@x"]
    assert run(["git", "init", "-q", "-b", "main"], folder).returncode == 0
    for words in (["add", "."], ["commit", "-q", "-m", "x"], ["update-ref", "refs/remotes/origin/main", "HEAD"]):
        assert run([*origin, *words], folder).returncode == 0
    path = f"{folder / 'bin'}{os.pathsep}{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    for program, expected in (("rank.py", 0), ("bad.py", 3)):
        codes = [
            run(
                ["bash", "-e", "-c", step["run"].replace("rank.py", program)], folder,
                BASE="main", GITHUB_STEP_SUMMARY="summary.md", PATH=path,
            ).returncode
            for step in steps if "run" in step and not step["run"].startswith("pip")
        ]  # fmt: skip
        assert codes == [0, expected]
        assert (folder / "summary.md").read_text().startswith("**No worse**" if expected == 0 else "**Worse**")
    written = next(step["with"]["path"] for step in steps if "upload" in step.get("uses", ""))
    assert "Recall@100" in (folder / written).read_text()
