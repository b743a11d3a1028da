"""Every public function that takes labels or scores is named by a row of the table of checks, or says why not."""

import inspect
import pkgutil
import re
from importlib import import_module

import numpy as np
import pytest
from misuse_cases import Given, seen

import sklearn_rank
from sklearn_rank import QueryRanker
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._misuse.table import ALL_DOORS

LABELS_AND_SCORES = {"y", "y_true", "y_score", "judgements", "run", "relevance", "query_labels", "eval_set"}
OPTIONAL = {"sklearn_rank.spark": "pyspark", "sklearn_rank.boosting": "numpy"}
WITHOUT = {
    r"\w+\.(split|get_n_splits|set_fit_request)": "labels are handed on",
    r"(InteractionRecommender\.fit|QueryRanker\.partial_fit)": "fits, and measures nothing",
    r"(read_table|write_run)": "hands on rows, which are looked at where a metric is computed",
    r"per_query": "is lazy, and spark.mean looks",
    r"(exposure|intra_list_diversity)": "a value of the run alone",
}
"""Functions that take labels or scores and have no row, with the reason."""


def functions_of(module):
    """Public functions and methods of a module, by name."""
    for name in getattr(module, "__all__", ()):
        given = getattr(module, name)
        if inspect.isclass(given):
            methods = inspect.getmembers(given, inspect.isfunction)
            yield from ((f"{name}.{n}", f) for n, f in methods if n == "__call__" or not n.startswith("_"))
        elif callable(given):
            yield name, given


def taking():
    """Names of public functions that take labels or scores."""
    found, modules = set(), [one.name for one in pkgutil.iter_modules(sklearn_rank.__path__)]
    for name in ["", *(f".{one}" for one in modules if not one.startswith("_"))]:
        module = f"sklearn_rank{name}"
        if module in OPTIONAL:
            pytest.importorskip(OPTIONAL[module])
        for function, code in functions_of(import_module(module)) if name != ".compat" else ():
            takes = {*inspect.signature(code).parameters} & LABELS_AND_SCORES
            if takes or re.fullmatch(r"(make|get)_\w*scorer", function):
                found.add(function)
    return found


def test_every_function_has_a_row():
    of_metrics = {entry.function.__name__ for entry in REGISTRY.values()}
    named = {name for door in ALL_DOORS for name in re.findall(r"[\w.]+", door.name)}
    named |= {name.rpartition(".")[2] for name in named if name[0].islower()}
    lacking = {name for name in taking() - of_metrics if named.isdisjoint({name, name.partition(".")[0]})}
    without = {name for name in lacking for pattern in WITHOUT if re.fullmatch(pattern, name)}
    assert lacking - without == set()
    unused = [pattern for pattern in WITHOUT if not any(re.fullmatch(pattern, name) for name in taking())]
    assert unused == []


def test_the_score_of_a_ranker_is_a_scorer():
    rng = np.random.default_rng(0)
    X, qid = rng.random((300, 2)), np.repeat(np.arange(30), 10)
    ranker = QueryRanker(Given(), eval_metric="map").fit(X, X[:, 0], qid=qid)
    assert seen(ranker.score, X, rng.integers(1, 6, 300), qid=qid) == (["no order matters"], "")
    assert seen(ranker.score, X, 1 - X[:, 0].round(), qid=qid) == (["worse than chance"], "")
