"""One API: batches and Spark take the same arguments as arrays, and qid is keyword-only."""

import importlib
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import sklearn_rank
from sklearn_rank import evaluate_run, evaluate_table, spark
from sklearn_rank._metric.names import DEFAULT_METRICS
from sklearn_rank._utils.docstring import parameter_entries
from sklearn_rank.stats import no_worse

EMPTY = inspect.Parameter.empty


def signature(function):
    """Name, kind and default of each argument, in order."""
    return [(p.name, p.kind.name, p.default) for p in inspect.signature(function).parameters.values()]


def without(function, *names):
    return [argument for argument in signature(function) if argument[0] not in names]


def test_rows_are_described_in_the_same_way():
    expected = [
        ("data", "POSITIONAL_OR_KEYWORD", EMPTY),
        ("metrics", "KEYWORD_ONLY", DEFAULT_METRICS),
        ("y_true", "KEYWORD_ONLY", "label"),
        ("y_score", "KEYWORD_ONLY", "score"),
        ("qid", "KEYWORD_ONLY", "qid"),
        ("sample_weight", "KEYWORD_ONLY", None),
        ("assume_grouped", "KEYWORD_ONLY", False),
        ("keywords", "VAR_KEYWORD", EMPTY),
    ]
    assert without(spark.evaluate, "by", "clusters", "chance") == signature(spark.per_query) == expected
    of_memory, of_pieces = ("by", "clusters", "tie_break", "doc_id"), ("memory_limit", "folder")
    assert without(evaluate_table, *of_memory, *of_pieces, "n_jobs", "chance") == expected
    for function in (spark.evaluate, evaluate_table, evaluate_run, sklearn_rank.evaluate):
        assert ("chance", "KEYWORD_ONLY", False) in signature(function)


def test_default_metrics():
    """Without `metrics`, each function evaluates the same metrics in the same order, with the keywords it supports."""
    rows = {"label": [0, 2, 1, 0], "score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]}
    arrays = {"y_true": rows["label"], "y_score": rows["score"], "qid": rows["qid"]}
    found = sklearn_rank.evaluate(**arrays)
    assert (
        found.mean() == sklearn_rank.evaluate(**arrays, metrics=DEFAULT_METRICS).mean() == evaluate_table(rows).mean()
    )
    assert [*found.mean()] == [*DEFAULT_METRICS]
    assert sklearn_rank.evaluate(**arrays, min_relevance=3).n_undefined["map"] == 2
    with pytest.raises(TypeError, match="The cutoff goes into the name of a metric"):
        sklearn_rank.evaluate(**arrays, k=5)


def test_columns_are_described_in_the_same_way():
    """Each function with columns documents the same arguments in the same order."""
    described = []
    for function in (evaluate_table, spark.evaluate, spark.per_query):
        entries = parameter_entries(function)
        arguments = [name.replace("keywords", "**keywords") for name, _, _ in signature(function)]
        assert [*entries] == arguments, function
        described.append([entries[name] for name in ("metrics", "y_true", "y_score", "qid", "sample_weight")])
    assert all(texts == described[0] for texts in described)


@pytest.mark.parametrize("function", [evaluate_table, spark.evaluate, spark.per_query])
def test_errors_about_arguments(function):
    with pytest.raises(TypeError, match=r"takes data by position and all else by name, such as qid=\."):
        function(None, "map")
    with pytest.raises(TypeError, match=r"^no_worse takes all arguments by name, such as new=. Got some by position.$"):
        no_worse(None, None, margin=0.1)


# --- doors ---------------------------------------------------------------------------------------------------

DOORS = {
    "RankingAccumulator", "check_judgments", "compare_systems", "evaluate", "evaluate_run", "evaluate_table", "prepare",
    "retrieval.evaluate_retrieval", "retrieval.score_neighbors",
}  # fmt: skip
"""One for each shape of data, besides those of Spark; models go to `RankingEvaluator`."""


def test_page_lists_every_door():
    """Each function or class with `metrics=` evaluates data and is on the page of entry points."""
    found = {name for module in public_modules() for name in with_metrics(module)}
    of_spark = {"spark.evaluate", "spark.per_query"}
    assert found == DOORS | of_spark | {"RankingEvaluator"}
    page = (Path(__file__).parents[2] / "docs" / "start" / "README.md").read_text()
    named = {name.partition("(")[0] for name in re.findall("`([^`]+)`", page)}
    assert found <= named
    assert len(page.splitlines()) <= 30


def with_metrics(module):
    """Names of callables with `metrics=` in a module; each is listed where it is found first."""
    for name in getattr(module, "__all__", []):
        member = getattr(module, name)
        is_again = module is not sklearn_rank and name in sklearn_rank.__all__ and getattr(sklearn_rank, name) is member
        if callable(member) and not is_again and "metrics" in signature_names(member):
            yield f"{module.__name__}.{name}".removeprefix("sklearn_rank.")


def signature_names(member):
    try:
        return [*inspect.signature(member).parameters]
    except ValueError:
        return []


# --- qid -----------------------------------------------------------------------------------------------------


def public_modules():
    yield sklearn_rank
    for module in pkgutil.iter_modules(sklearn_rank.__path__, "sklearn_rank."):
        if not module.name.split(".")[-1].startswith("_"):
            yield importlib.import_module(module.name)


def public_callables():
    """Public functions, and public methods of public classes except results."""
    for module in public_modules():
        for name in getattr(module, "__all__", []):
            member = getattr(module, name)
            if inspect.isclass(member):
                for method, function in inspect.getmembers(member, inspect.isfunction):
                    if not method.startswith("_"):
                        yield f"{module.__name__}.{name}.{method}", function
            elif callable(member):
                yield f"{module.__name__}.{name}", member


def takes_qid_by_position(function):
    by_position = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
    parameters = list(inspect.signature(function).parameters.values())
    return any(p.name == "qid" and p.kind in by_position for p in parameters)


def takes(function, name):
    return name in inspect.signature(function).parameters


def test_n_counts_rows_and_k_is_a_cutoff():
    """Other counts have a longer name, such as n_queries."""
    tables = {name for name, f in public_callables() if "Table" in str(inspect.signature(f).return_annotation)}
    assert {name for name, function in public_callables() if takes(function, "n")} <= tables
    assert not {name for name, function in public_callables() if takes(function, "k")} & tables


def test_judgments_come_before_runs():
    """In each function that takes both by position; judgments have the same name everywhere."""
    both = {name: inspect.signature(f).parameters for name, f in public_callables() if takes(f, "judgments")}
    in_order = {name for name, parameters in both.items() if "run" in parameters and [*parameters][0] == "judgments"}
    assert in_order == {"sklearn_rank.evaluate_run", "sklearn_rank.io.join"}
    assert not {name for name, function in public_callables() if takes(function, "qrels")}


def test_readers_of_runs_and_of_judgments_take_the_same():
    assert signature(sklearn_rank.io.read_run) == signature(sklearn_rank.io.read_qrels)


def test_qid_is_keyword_only():
    """Except in `group_sizes(qid)`, which has a single argument, and in `update`, which takes three arrays."""
    found = {name for name, function in public_callables() if takes_qid_by_position(function)}
    assert {name.removeprefix("sklearn_rank.") for name in found} == {"RankingAccumulator.update", "group_sizes"}


# --- two systems ---------------------------------------------------------------------------------------------


def test_new_and_old_are_keyword_only():
    """Swapped positions would reverse a decision without an error."""
    names = {"new", "old"}
    found = {
        name: function for name, function in public_callables() if names & {*inspect.signature(function).parameters}
    }
    assert {name.rpartition(".")[-1] for name in found} == {"no_worse", "compare_judged", "explain", "to_judge"}
    for function in found.values():
        assert {kind for name, kind, _ in signature(function) if name in names} == {"KEYWORD_ONLY"}
