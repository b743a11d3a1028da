"""Builds from source: errors name what is missing, and compilers get only flags that they support."""

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tomllib
from pathlib import Path

import pytest

import sklearn_rank

ROOT = Path(__file__).parents[2]


@pytest.fixture
def project(tmp_path):
    """The files that a build reads, with one empty kernel."""
    pytest.importorskip("setuptools", "77.0.3")
    kernels = tmp_path / "sklearn_rank" / "_engine" / "kernels"
    kernels.mkdir(parents=True)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copy(Path(sklearn_rank.__file__).with_name("_version.py"), tmp_path / "sklearn_rank")
    (kernels / "empty.pyx").touch()
    return tmp_path


@pytest.mark.skipif(os.name == "nt", reason="Microsoft's compiler is not chosen by CC")
def test_the_error_without_a_compiler_names_the_packages(project):
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext"], cwd=project, env=os.environ | {"CC": "no-such-compiler"},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    error = done.stderr[done.stderr.index("error: ") :]
    assert "no-such-compiler" in error
    assert "needs a C compiler and the headers of Python" in error
    assert "apt-get install gcc python3-dev" in error


COMPARED = """
import sys
import numpy as np
from sklearn_rank import evaluate

rng = np.random.default_rng(0)
qid = np.repeat(np.arange(100), rng.integers(1, 60, 100))
label, score = 4 * rng.random(len(qid)), rng.integers(0, 9, len(qid)) / 7  # expectations over ties multiply and add
names = ["ndcg", "map", "q", "wap", "auc"]
beside = evaluate(label, score, qid=qid, metrics=names).per_query.values()
alone = [evaluate(label, score, qid=qid, metrics=name).per_query for name in names]
sys.stdout.buffer.write(b"".join(values.tobytes() for values in beside))
sys.stdout.buffer.write(b"".join(values.tobytes() for result in alone for values in result.values()))
"""


def has_fma():
    cpu = Path("/proc/cpuinfo")
    return cpu.exists() and " fma " in cpu.read_text() and shutil.which("gcc") is not None


@pytest.mark.slow
@pytest.mark.skipif(not has_fma(), reason="the processor or the compiler fuses nothing")
def test_sums_have_the_same_bits_on_processors_with_fma(tmp_path):
    """Compile the sums for processors with fused multiply-add, with the project's flags."""
    pytest.importorskip("Cython")
    flags = re.search(r'^FLAGS = "(.*)"', (ROOT / "setup.py").read_text(), re.MULTILINE).group(1).split()
    package = tmp_path / "sklearn_rank"
    shutil.copytree(Path(sklearn_rank.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__", "*.c"))
    kernel = package / "_engine" / "kernels" / "sums.pyx"
    (built,) = kernel.parent.glob("sums.*so")
    subprocess.run([sys.executable, "-m", "cython", "-3", "sums.pyx"], cwd=kernel.parent, check=True)
    command = ["gcc", "-shared", "-fPIC", *flags, "-march=x86-64-v3", f"-I{sysconfig.get_path('include')}", "sums.c"]
    subprocess.run([*command, "-o", built.name], cwd=kernel.parent, check=True)
    bits = [
        subprocess.run(
            [sys.executable, "-c", COMPARED], cwd=folder, env=os.environ | {"PYTHONPATH": str(folder)}, check=True,
            capture_output=True,
        ).stdout
        for folder in (ROOT, tmp_path)
    ]  # fmt: skip
    assert bits[0]
    assert bits[0] == bits[1]
    assert bits[1][: len(bits[1]) // 2] == bits[1][len(bits[1]) // 2 :]


def test_each_folder_is_in_the_wheel():
    """The installed package would lack a folder that pyproject.toml does not name."""
    folders = {path.parent for path in (ROOT / "sklearn_rank").rglob("__init__.py")}
    named = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]
    assert sorted(named) == sorted(".".join(folder.relative_to(ROOT).parts) for folder in folders)


@pytest.mark.slow
def test_sdists_are_reproducible(project):
    """With SOURCE_DATE_EPOCH, times and modes of the files do not matter."""
    for package in tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["packages"]:
        project.joinpath(*package.split(".")).mkdir(exist_ok=True)
    packed = []
    for mode, time in ((0o600, 10**9), (0o664, 1.5 * 10**9)):
        for path in (project / "README.md", project / "setup.py"):
            path.chmod(mode)
            os.utime(path, (time, time))
        subprocess.run(
            [sys.executable, "setup.py", "-q", "sdist", "-d", f"out{mode}"], cwd=project, check=True,
            env=os.environ | {"SOURCE_DATE_EPOCH": "1700000000"}, capture_output=True,
        )  # fmt: skip
        packed += [path.read_bytes() for path in (project / f"out{mode}").iterdir()]
    assert packed[0] == packed[1]
