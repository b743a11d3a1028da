"""Public arguments reject wrong values before any work, and the message has the rule and the value."""

import re
import traceback
from pathlib import Path

import pytest
from bad_input import RETURNED, arguments_of, called, doors, wrong_values

import sklearn_rank

PACKAGE = str(Path(sklearn_rank.__file__).parent)
EVERY = [(where, name) for where, door in doors().items() if where not in RETURNED for name in arguments_of(door)]
FAR = ("spark.",)
"""Doors that need a session: `test_spark_bad_input.py` has them."""
NEAR = [(where, argument) for where, argument in EVERY if not where.startswith(FAR)]


each_door = pytest.mark.parametrize("door", [*dict.fromkeys(where for where, _ in NEAR)])


@each_door
def test_bad_values_at_every_door(door, tmp_path):
    found = {argument: faults_of(door, argument, tmp_path) for argument in arguments_of(doors()[door])}
    assert not {argument: faults for argument, faults in found.items() if faults}


def faults_of(where, argument, folder):
    """Problems of an argument: each wrong value with the unexpected result."""
    parameter = arguments_of(doors()[where])[argument]
    faults = {}
    for wrong, value in wrong_values(where, argument).items():
        if value is not parameter.default:
            faults[wrong] = fault_of(where, argument, value, folder)
    return {wrong: fault for wrong, fault in faults.items() if fault}


def file_of(error):
    """The file that raised an error, without `extract_tb`, which looks up the lines of each frame."""
    frame, _ = [*traceback.walk_tb(error.__traceback__)][-1]
    return frame.f_code.co_filename


def fault_of(where, argument, value, folder):
    """The problem with the result of a wrong value; "" if there is no problem."""
    try:
        found = called(where, argument, value, folder)
    except (TypeError, ValueError, KeyError, FileNotFoundError) as error:
        frame = file_of(error)
        if isinstance(error, (KeyError, FileNotFoundError)) and argument not in LOOKED_UP:
            return f"{type(error).__name__}: {error}"
        if not (frame.startswith(PACKAGE) and frame.endswith(".py")) and not isinstance(error, FileNotFoundError):
            return f"not an error of this library: {type(error).__name__}: {error} ({frame})"
        if len(str(error)) > 1000:
            return f"a long message: {str(error)[:100]}"
        return "" if re.search("Got|nope|unsupported measure", str(error)) else f"without the value: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return f"taken: {found!r:.80}"


SAYS_WHAT = "Got|(No|None of the default) metrics? .* has a keyword|has no micro average|has no keyword '"
LOOKED_UP = ("a", "b", "path", "folder", "table", "data", "source")
"""Names of systems, looked up as in a dict, and of files: a KeyError or FileNotFoundError says which there are."""
