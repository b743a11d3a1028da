"""Building from the sources: what is missing is said, and nothing is built that is not listed."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_rank

ROOT = Path(__file__).parents[1]


@pytest.mark.skipif(os.name == "nt", reason="Microsoft's compiler is not chosen by CC")
def test_without_a_compiler_the_error_says_what_to_install(tmp_path):
    pytest.importorskip("setuptools", "77.0.3")
    kernels = tmp_path / "sklearn_rank" / "_engine" / "kernels"
    kernels.mkdir(parents=True)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, tmp_path)
    shutil.copy(Path(sklearn_rank.__file__).with_name("_version.py"), tmp_path / "sklearn_rank")
    (kernels / "empty.pyx").touch()
    done = subprocess.run(
        [sys.executable, "setup.py", "-q", "build_ext"], cwd=tmp_path, env=os.environ | {"CC": "no-such-compiler"},
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 1
    error = done.stderr[done.stderr.index("error: ") :]
    assert "no-such-compiler" in error
    assert "needs a C compiler and the headers of Python" in error
    assert "apt-get install gcc python3-dev" in error
