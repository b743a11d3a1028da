"""Faults can be planted: the list in kernels.toml, compiled together, and random faults of generated.py."""

import ast
import sys
from pathlib import Path

import pytest
from registry import together

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

from generated import TESTS, Drawn, drawable, drawn, mutants
from plant import CHOSEN, ROOT, Fault, read_faults, replaced, with_choices, with_chosen

PACKAGE = ROOT / "sklearn_rank"
KERNELS = read_faults("kernels")
EQUIVALENTS = read_faults("equivalents")


@together("fault", KERNELS)
def test_line_of_a_kernel_fault_is_unique(fault):
    text = (ROOT / fault.file).read_text()
    assert replaced(text, fault, fault.planted) != text
    for path, _, function in (test.partition("::") for test in fault.tests if test.startswith("tests/")):
        assert (ROOT / path).exists()
        assert not function or f"def {function}(" in (ROOT / path).read_text()


@pytest.mark.parametrize("file", sorted({fault.file for fault in KERNELS}))
def test_all_faults_of_a_kernel_can_be_planted_together(file):
    text, faults = (ROOT / file).read_text(), [fault for fault in KERNELS if fault.file == file]
    assert with_choices(text, [*enumerate(faults, start=1)]).count("CHOSEN_FAULT") == len(faults)
    for fault in faults:
        assert f"\n{fault.line}" in text, f"{fault.name} is not a statement"
        assert fault.line.count("(") == fault.line.count(")"), f"{fault.name} is part of a statement"


def test_faults_of_a_kernel_are_chosen_at_run_time():
    text = (
        '"""Doc."""\nfrom libc.math cimport exp\n\ncdef int f(int n):\n    while n > 2:\n        n -= 1\n    return n\n'
    )
    faults = [
        Fault("a", "", "    while n > 2:", "    while n > 3:"),
        Fault("a", "", "        n -= 1", "        n -= 2"),
        Fault("a", "", "        n -= 1", "        n = 0"),
    ]
    assert with_chosen(with_choices(text, [*enumerate(faults, start=1)])) == (
        f'"""Doc."""\nfrom libc.math cimport exp\n\n{CHOSEN}'
        "cdef int f(int n):\n"
        "    while ((n > 3) if CHOSEN_FAULT == 1 else (n > 2)):\n"
        "        if CHOSEN_FAULT == 2:\n            n -= 2\n"
        "        elif CHOSEN_FAULT == 3:\n            n = 0\n"
        "        else:\n            n -= 1\n"
        "    return n\n"
    )


# --- random faults --------------------------------------------------------------------------------------------


def test_each_room_has_tests():
    found = {path.name for path in PACKAGE.iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    without_code = {"__init__.py", "__main__.py", "_version.py", "exceptions.py", "model_selection", "results.py"}
    assert found - {*TESTS} == without_code | {"spark"}
    assert {*TESTS} <= found
    assert all((ROOT / test).exists() for tests in TESTS.values() for test in tests.split())


def test_kinds_of_faults():
    text = "def f(a=1):\n    if a < 2 and not any(a):\n        g(sorted(a), b=-a, strict=True)\n    return a + 1\n"
    assert {Drawn("", text, *fault).lines[1].strip() for fault in mutants(text)} == {
        "def f(a=2):",
        "if not (a < 2 and not any(a)):",
        "if a < 2 or not any(a):",
        "if a <= 2 and not any(a):",
        "if a < 3 and not any(a):",
        "if a < 2 and (any(a)):",
        "if a < 2 and not all(a):",
        "pass",
        "g(a, b=-a, strict=True)",
        "g(sorted(a), strict=True)",
        "g(sorted(a), b=(a), strict=True)",
        "return a - 1",
        "return a + 2",
    }


@pytest.mark.slow
def test_a_sample_is_reproducible_and_changes_programs():
    faults = drawn(["display", "_groups.py"], 50, 0)
    assert faults == drawn(["display", "_groups.py"], 50, 0) != drawn(["display", "_groups.py"], 50, 1)
    assert len({(fault.file, fault.first, fault.last, fault.planted) for fault in faults}) == 50
    for fault in faults:
        program = fault.text[: fault.first] + fault.planted + fault.text[fault.last :]
        assert ast.dump(ast.parse(program)) != ast.dump(ast.parse(fault.text)), fault


def test_equivalent_faults_can_be_drawn():
    """Entries whose lines have changed are printed at the next draw and may stay in the list until then."""
    keys = [(fault.file, fault.line, fault.planted) for fault in EQUIVALENTS]
    assert len({*keys}) == len(keys)
    assert all(fault.equivalent and not fault.tests for fault in EQUIVALENTS)
    there = drawable({file for file, _, _ in keys} | {"sklearn_rank/gone.py"})
    assert len(there & {*keys}) > len(keys) / 2
    assert ("sklearn_rank/gone.py", "a = 1", "a = 2") not in there
