"""Docstrings of public functions, classes and methods in this package name their actual defaults."""

import inspect
import re

import pytest

import sklearn_rank
from sklearn_rank import model_selection, recommenders
from sklearn_rank._metric.names import DEFAULT_METRICS

ROOMS = tuple(f"sklearn_rank.{room}" for room in ("_scoring", "_ranker", "_evaluator", "recommenders"))
PUBLIC = {
    obj.__name__: obj
    for package in (sklearn_rank, model_selection, recommenders)
    for name, obj in vars(package).items()
    if name in package.__all__ and getattr(obj, "__module__", "").startswith(ROOMS)
}


def documented(obj):
    """Names and defaults in a docstring."""
    for names, default in re.findall(r"^ *(\w+(?:, \w+)*) : .*default=(.+)$", inspect.getdoc(obj), re.M):
        yield from ((name, eval(default, {"DEFAULT_METRICS": DEFAULT_METRICS})) for name in names.split(", "))


@pytest.mark.parametrize("name", PUBLIC)
def test_defaults_match_the_docstring(name):
    methods = [m for n, m in inspect.getmembers(PUBLIC[name], inspect.isfunction) if not n.startswith("_")]
    for function in (PUBLIC[name], *methods):
        if function.__module__.startswith("sklearn_rank") and function.__doc__:
            parameters = inspect.signature(function).parameters
            for parameter, default in documented(function):
                assert parameters[parameter].default == default, (function, parameter)
                assert type(parameters[parameter].default) is type(default), (function, parameter)


@pytest.mark.parametrize("method", ["split", "get_n_splits"])
@pytest.mark.parametrize("name", [name for name in PUBLIC if hasattr(PUBLIC[name], "get_n_splits")])
def test_arguments_of_splitters_are_optional(name, method):
    for parameter in [*inspect.signature(getattr(PUBLIC[name], method)).parameters.values()][3:]:
        assert parameter.default is None


def test_every_public_name_of_model_selection_is_tested():
    assert {*model_selection.__all__} <= {*PUBLIC}
