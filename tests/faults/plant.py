"""Lists of faults, and copies of the project to plant them in."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
CHOICE = "SKLEARN_RANK_FAULT"
"""Environment variable that chooses one of the faults that are compiled together."""

CHOSEN = f'''cdef extern from *:
    """
    #ifndef CHOSEN_FAULT
    #include <stdlib.h>
    static inline int chosen_fault(void) {{
        static volatile int number = -1;  /* so that no loop with a fault becomes vectors, which GCC 12 fails at */
        if (number < 0) number = getenv("{CHOICE}") ? atoi(getenv("{CHOICE}")) : 0;
        return number;
    }}
    #define CHOSEN_FAULT chosen_fault()
    #endif
    """
    int CHOSEN_FAULT

'''
"""What a kernel has before its code to know its fault: C, because a .pxd has no variables of its own."""

LIMIT = 900
"""Seconds that tests without a fault may take."""

BUILD = "setup.py", "-q", "build_ext", "--inplace", "--force"


@dataclass(frozen=True)
class Fault:
    """A line of a file, its replacement, and the tests that must notice it.

    Equivalent faults change nothing that a test can see; `equivalent` is the reason.
    """

    name: str
    file: str
    line: str
    planted: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""


def read_faults(name: str) -> list[Fault]:
    """Faults of a list, named by list and position, such as kernels-3."""
    faults = []
    entries = tomllib.loads(Path(__file__).with_name(f"{name}.toml").read_text())["fault"]
    for i, entry in enumerate(entries, start=1):
        tests = tuple(entry.pop("tests", "").split())
        faults.append(Fault(f"{name}-{i}", tests=tests, **entry))
    return faults


def copy_project(to: Path) -> None:
    """Copy the files that the tests read."""
    kept = shutil.ignore_patterns("__pycache__", "*.c", "build", "*.egg-info", ".*")
    shutil.copytree(ROOT, to, ignore=kept, dirs_exist_ok=True)
    for name in (".ci", ".github", ".pre-commit-config.yaml"):
        source = ROOT / name
        shutil.copytree(source, to / name) if source.is_dir() else shutil.copy(source, to)


def replaced(text: str, fault: Fault, by: str) -> str:
    """Text with the unique line of a fault replaced."""
    if (found := text.count(fault.line)) != 1:
        raise ValueError(f"The line of fault {fault.name} must be in {fault.file} once. Got {found} times.")
    return text.replace(fault.line, by)


def failure(tests: tuple[str, ...], copy: Path, number: int, limit: float) -> str:
    """Pytest's output if a test fails, no test is selected, or the process crashes."""
    env = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", CHOICE: str(number)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
    try:
        told = {"capture_output": True, "text": True, "errors": "replace"}  # tests may print invalid Unicode
        run = subprocess.run(command, cwd=copy, env=env, timeout=limit, **told)
    except subprocess.TimeoutExpired:
        return f"It took more than {limit:.0f} seconds."
    return (run.stdout + run.stderr)[-3000:] if run.returncode else ""


# --- faults that are compiled together -----------------------------------------------------------------------


def compile_faults(faults: Iterable[Fault], folder: Path) -> None:
    """Build the kernels of a copy with all their faults; an environment variable chooses one by its number."""
    by_file: dict[str, list[tuple[int, Fault]]] = {}
    for number, fault in enumerate(faults, start=1):
        by_file.setdefault(fault.file, []).append((number, fault))
    for file, numbered in by_file.items():
        path = folder / file
        path.write_text(with_choices(path.read_text(), numbered))
    for path in (folder / "sklearn_rank" / "_engine" / "kernels").glob("*.p[yx][xd]"):
        path.write_text(with_chosen(path.read_text()))
    subprocess.run([sys.executable, *BUILD], cwd=folder, check=True)


def with_chosen(text: str) -> str:
    """Kernel that knows the chosen fault."""
    before = re.search(r"^(cdef|cpdef|ctypedef|def|include) ", text, re.MULTILINE)
    assert before is not None
    return text[: before.start()] + CHOSEN + text[before.start() :]


def with_choices(text: str, numbered: list[tuple[int, Fault]]) -> str:
    """Kernel with a choice at each line that has faults."""
    by_line: dict[str, list[tuple[int, Fault]]] = {}
    for number, fault in numbered:
        by_line.setdefault(fault.line, []).append((number, fault))
    for line, choices in by_line.items():
        text = replaced(text, choices[0][1], _choice(line, [(number, fault.planted) for number, fault in choices]))
    return text


def _choice(line: str, planted: list[tuple[int, str]]) -> str:
    """One line that applies the chosen fault: a statement, or the condition of `if`, `elif` or `while`."""
    indent, head, body = _parts(line)
    if head:
        chosen = body
        for number, fault in planted:
            chosen = f"(({_parts(fault)[2]}) if CHOSEN_FAULT == {number} else ({chosen}))"
        return f"{indent}{head} {chosen}:"
    lines = []
    for i, (number, fault) in enumerate(planted):
        lines += [f"{indent}{'elif' if i else 'if'} CHOSEN_FAULT == {number}:", f"{indent}    {_parts(fault)[2]}"]
    return "\n".join([*lines, f"{indent}else:", f"{indent}    {body}"])


def _parts(line: str) -> tuple[str, str, str]:
    """Indentation, keyword before a condition, and the condition or the statement."""
    indent, rest = re.match(r"( *)(.*)", line, re.DOTALL).groups()
    condition = re.fullmatch(r"(if|elif|while) (.*):", rest)
    return (indent, *condition.groups()) if condition else (indent, "", rest)
