"""Each public argument rejects wrong values before any work, and the message has the rule and the value."""

import inspect
import traceback
from pathlib import Path

import pytest
from bad_input import RETURNED, arguments_of, called, doors
from bad_values import bad_values

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
    for wrong, value in bad_values(where, argument).items():
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
        names_it = any(
            word in str(error) for word in ("Got", "nothing_known", "has no keyword", "nope", "unsupported measure")
        )
        return "" if names_it or isinstance(error, FileNotFoundError) else f"without the value: {error}"
    except BaseException as error:
        return f"{type(error).__name__}: {error}"
    return f"taken: {found!r:.80}"


SAID = ("Got", "nothing_known", "nope", "unsupported measure")
"""Words of which a message has one: the value, or the name that is not known."""
SAYS_WHAT = "Got|(No|None of the default) metrics? .* has a keyword|has no micro average|has no keyword '"
LOOKED_UP = ("a", "b", "path", "folder", "table", "data", "source")
"""Names of systems, looked up as in a dict, and of files: a KeyError or FileNotFoundError says which there are."""


LONG = "x" * 2**12
LONG_VALUES = {"text": LONG, "key": {LONG: 1}, "digits": -(10**5000), "class": type(LONG, (), {}), "many":
    [f"c{i}" for i in range(2000)]}  # fmt: skip


@each_door
@pytest.mark.filterwarnings("ignore")
def test_long_values_at_every_door(door, tmp_path):
    """The system checks names of files, and Python checks keywords."""
    assert not long_messages(door, tmp_path)


def long_messages(door, folder, values=LONG_VALUES):
    """Starts of messages of more than 1,000 characters, by argument and value."""
    long = {}
    for argument, parameter in arguments_of(doors()[door]).items():
        if parameter.kind is not parameter.VAR_KEYWORD:
            for what, value in values.items():
                message = message_of(door, argument, value, folder)
                long |= {(argument, what): message[:200]} if len(message) > 1000 else {}
    return long


def message_of(where, argument, value, folder):
    """The message of this library about a value, if it rejects the value."""
    try:
        called(where, argument, value, folder)
    except Exception as error:
        frame = file_of(error)
        return str(error) if frame.startswith(PACKAGE) and not isinstance(error, OSError) else ""
    return ""


def test_every_argument_has_an_entry():
    """Each public argument has an entry, and each entry an argument."""
    missing = []
    for where, argument in EVERY:
        try:
            bad_values(where, argument)
        except KeyError:
            missing.append((where, argument))
    assert not missing


def test_types_that_are_only_returned_are_public():
    assert {*RETURNED} <= doors().keys()
    assert all(inspect.isclass(doors()[where]) or "." in where for where in RETURNED)
