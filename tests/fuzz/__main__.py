"""Run a coverage-guided fuzzer on a target, and keep the inputs that reach all of its code.

    python tests/fuzz TARGET [--seconds 3600] [--keep]

Targets are the functions of `targets.py`. It needs `atheris`, and GCC on Linux: kernels are built in a copy of the
project so that the fuzzer sees their branches, AddressSanitizer their reads and writes, and UndefinedBehaviorSanitizer
their arithmetic. An input that fails is printed with its error, and the exit status is not 0.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path

import targets

HERE = Path(__file__).parent
CHECKS = "-fsanitize=address,undefined,float-cast-overflow", "-fno-sanitize-recover=all"
FLAGS = "-O1", "-g", *CHECKS, "-fsanitize-coverage=trace-pc,trace-cmp"
OPTIONS = "detect_leaks=0:allocator_may_return_null=1:verify_asan_link_order=0"


def main() -> int:
    """Fuzz, and with `--keep` write the inputs that reached something new."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("target", choices=targets.NAMES)
    parser.add_argument("--seconds", type=int, default=3600)
    parser.add_argument("--keep", action="store_true", help="write few inputs that reach all of it to corpora/")
    parser.add_argument("--built", type=Path, help="folder of a build that is used again, or made")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        copy, work, kept = asked.built or Path(folder, "project"), Path(folder, "inputs"), Path(folder, "kept")
        if not copy.exists():
            _build(copy)
        work.mkdir()
        for i, data in enumerate(targets.corpus(asked.target)):
            (work / f"kept-{i:04}").write_bytes(data)
        limits = f"-max_total_time={asked.seconds}", "-max_len=4096", "-timeout=60", "-rss_limit_mb=4096"
        status = _run(copy, [asked.target, *limits, f"-artifact_prefix={folder}/", str(work)])
        if status == 0 and asked.keep:
            kept.mkdir()
            status = _run(copy, [asked.target, "-merge=1", str(kept), str(work)])
            targets.write_corpus(asked.target, [path.read_bytes() for path in kept.iterdir()])
        for path in Path(folder).glob("*-*"):
            print(f"{path.name}: {path.read_bytes()!r}")
    return status


def _build(copy: Path) -> None:
    ignored = shutil.ignore_patterns("__pycache__", "*.c", "build", "*.egg-info", ".*")
    shutil.copytree(HERE.parents[1], copy, ignore=ignored)
    shutil.copy(HERE / "coverage.c", copy)
    setup = copy / "setup.py"
    text, n_replaced = re.subn(r"(?m)^FLAGS = .*$", f"FLAGS = {list(FLAGS)}", setup.read_text())
    assert n_replaced == 1
    setup.write_text(text)
    subprocess.run(["gcc", "-O2", "-fPIC", "-shared", "-o", "coverage.so", "coverage.c"], cwd=copy, check=True)
    command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace", "--force"]
    subprocess.run(command, cwd=copy, env=os.environ | {"LDFLAGS": CHECKS[0]}, check=True)


def _run(copy: Path, arguments: list[str]) -> int:
    """Run `fuzzer.py` with the kernels of the copy."""
    libraries = [
        subprocess.run(
            ["gcc", f"-print-file-name={name}.so"], capture_output=True, text=True, check=True
        ).stdout.strip()
        for name in ("libasan", "libstdc++")
    ]
    atheris = Path(find_spec("atheris").origin).parent
    (fuzzer,) = atheris.glob("core_with_libfuzzer*.so")
    libraries.insert(0, str(copy / "coverage.so"))
    path = copy, HERE.parent, atheris.parent  # of the fuzzer: another atheris would see no branch, and say nothing
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, path)), "PYTHONMALLOC": "malloc", "LD_PRELOAD": " ".join(libraries),
        "ASAN_OPTIONS": OPTIONS, "UBSAN_OPTIONS": "print_stacktrace=1", "SKLEARN_RANK_FUZZER": str(fuzzer),
    }  # fmt: skip
    return subprocess.run([sys.executable, str(HERE / "fuzzer.py"), *arguments], env=env, cwd=copy).returncode


if __name__ == "__main__":
    sys.exit(main())
