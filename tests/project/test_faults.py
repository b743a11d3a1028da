"""The lists of faults in tests/faults fit the code: each fault can be planted."""

import sys
from pathlib import Path

import pytest
from registry import together

sys.path.insert(0, str(Path(__file__).parents[1] / "faults"))

from plant import CHOSEN, ROOT, read_faults, replaced, with_choices, with_chosen

FAULTS = read_faults()


@together("fault", FAULTS)
def test_its_line_is_there_once(fault):
    text = (ROOT / fault.file).read_text()
    assert replaced(text, fault, fault.planted) != text
    for path, _, function in (test.partition("::") for test in fault.tests if test.startswith(("tests/", "sklearn_"))):
        assert (ROOT / path).is_dir() or not function or f"def {function}(" in (ROOT / path).read_text()


@pytest.mark.parametrize("file", sorted({fault.file for fault in FAULTS if fault.is_compiled}))
def test_all_faults_of_a_kernel_can_be_planted_together(file):
    text, faults = (ROOT / file).read_text(), [fault for fault in FAULTS if fault.file == file]
    assert with_choices(text, [*enumerate(faults, start=1)]).count("CHOSEN_FAULT") == len(faults)
    for fault in faults:
        assert f"\n{fault.line}" in text, f"{fault.name} is not a statement"
        assert fault.line.count("(") == fault.line.count(")"), f"{fault.name} is part of a statement"


def test_faults_of_a_kernel_are_chosen_at_run_time():
    text = (
        '"""Doc."""\nfrom libc.math cimport exp\n\ncdef int f(int n):\n    while n > 2:\n        n -= 1\n    return n\n'
    )
    one = {"file": "", "tests": (), "name": "a"}
    faults = [
        FAULTS[0].__class__(line="    while n > 2:", planted="    while n > 3:", **one),
        FAULTS[0].__class__(line="        n -= 1", planted="        n -= 2", **one),
        FAULTS[0].__class__(line="        n -= 1", planted="        n = 0", **one),
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
