"""What may import what, what importing costs, and what the package promises about itself."""

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_rank

PACKAGE, TESTS = Path(sklearn_rank.__file__).parent, Path(__file__).parent
RANKERS = ("xgboost", "lightgbm", "catboost")
OPTIONAL = ("pandas", "polars", "pyarrow", "matplotlib", "tqdm", "dask", "distributed", "pyspark", *RANKERS)

# Modules of the package that each module may import; `metrics` stands for every family.
ARROWS = {
    "_threads": set(),
    "_unlisted": set(),
    "_lazy": set(),
    "_table": set(),
    "_gains": {"_kernels"},
    "_conventions": set(),
    "_pooled": set(),
    "_ranked": {"_kernels", "_lazy", "_pooled", "_threads", "_unlisted"},
    "_keywords": {"_conventions", "_echo", "_ranked"},
    "_grouping": {"_kernels", "_qid", "_rows", "_threads"},
    "_check": {"_grouping", "_lazy", "_numbers", "_pooled", "_qid", "_rows", "_threads", "_unlisted"},
    "_lists": {"_check", "_compute", "_numbers", "_unlisted"},
    "_compute": {"_check", "_metric", "_ranked", "_threads"},
    "_docstring": {"_keywords", "_metric"},
    "_metric": {
        "_check",
        "_compute",
        "_conventions",
        "_definition",
        "_docstring",
        "_echo",
        "_gains",
        "_keywords",
        "_labels",
        "_lazy",
        "_meaning",
        "_probe",
        "_ranked",
    },
    "_meaning": set(),
    "_label_sums": {"_check", "_threads"},
    "metrics": {"_keywords", "_metric", "metrics"},
    "_echo": set(),
    "_plain": {"_echo", "_meaning", "_metric", "_ranked"},
    "_names": {"_conventions", "_echo", "_metric", "_plain"},
    "groups": {"_check", "_grouping", "_keywords", "_numbers", "_rows"},
    "datasets": {"_keywords"},
    "evaluate": {
        "_check",
        "_compute",
        "_echo",
        "_keywords",
        "_label_sums",
        "_lazy",
        "_lists",
        "_metric",
        "_names",
        "_plain",
        "_storage",
        "_table",
        "stats",
    },
    "batches": {
        "_check",
        "_compute",
        "_grouping",
        "_keywords",
        "_label_sums",
        "_metric",
        "_numbers",
        "_qid",
        "_threads",
        "batches",
        "evaluate",
    },
    "dask": {"_check", "_compute", "_metric", "_names", "_plain", "_qid", "batches", "dask", "evaluate", "stats"},
    "spark": {"_check", "_compute", "_metric", "_ranked", "_storage", "batches", "evaluate", "spark", "stats"},
    "stats": {"_echo", "_grouping", "_keywords", "_numbers", "_table", "evaluate", "stats"},
    "_routing": {"_grouping"},
    "_fitted_queries": {"_echo", "_grouping", "_routing", "_threads"},
    "_response": {"_echo"},
    "scorer": {"_fitted_queries", "_keywords", "_metric", "_names", "_response", "evaluate"},
    "_id_order": set(),
    "model_selection": {"_grouping", "_id_order", "_routing", "_rows"},
    "_fit_arguments": set(),
    "_tuning": {"_echo", "_routing"},
    "ranker": {
        "_check",
        "_fit_arguments",
        "_fitted_queries",
        "_grouping",
        "_id_order",
        "_keywords",
        "_numbers",
        "_response",
        "_routing",
        "_rows",
        "_tuning",
    },
    "_searches": {"_echo", "_folds", "_keywords", "_routing", "_tuning", "model_selection", "ranker", "scorer"},
    "inspection": {
        "_fitted_queries",
        "_grouping",
        "_keywords",
        "_numbers",
        "_rows",
        "_threads",
        "evaluate",
        "model_selection",
        "scorer",
    },
    "learning_curve": {"_grouping", "_keywords", "_rows", "evaluator", "model_selection"},
    "display": {
        "_fitted_queries",
        "_grouping",
        "_keywords",
        "_metric",
        "_names",
        "_response",
        "display",
        "evaluate",
        "ranker",
        "stats",
    },
    "io": {
        "_check",
        "_grouping",
        "_kernels",
        "_keywords",
        "_lazy",
        "_numbers",
        "_pooled",
        "_qid",
        "_rows",
        "_threads",
        "_writing",
        "io",
    },
    "_cli": {
        "_cli",
        "_conventions",
        "_keywords",
        "_metric",
        "_names",
        "_ranked",
        "_table",
        "_writing",
        "display",
        "evaluate",
        "io",
        "stats",
    },
    "__main__": {"_cli"},
    "_storage": {"_writing"},
    "_writing": set(),
    "_progress": {"scorer"},
    "_folds": {"_echo", "_numbers", "_progress", "_response", "_routing", "ranker"},
    "retrieval": {
        "_check",
        "_compute",
        "_echo",
        "_grouping",
        "_kernels",
        "_keywords",
        "_lists",
        "_numbers",
        "_progress",
        "_qid",
        "_rows",
        "_threads",
        "evaluate",
        "retrieval",
    },
    "comparison": {"_keywords", "_storage", "_table", "evaluate", "stats"},
    "evaluator": {
        "_echo",
        "_folds",
        "_grouping",
        "_keywords",
        "_numbers",
        "_progress",
        "_qid",
        "_routing",
        "_rows",
        "_searches",
        "_tuning",
        "comparison",
        "evaluate",
        "model_selection",
        "ranker",
        "scorer",
        "stats",
    },
    "_numbers": {"_echo"},
    "_rows": {"_echo"},
    "_qid": {"_rows"},
    "_probe": {"_check", "_compute", "_metric", "_ranked"},
    "_definition": set(),
    "_labels": {"_check", "_pooled"},
}


def sources():
    return [p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py"]


def imported(path):
    """Full names of the modules that a file imports, wherever in it."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_arrows(path):
    module = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    own = {name.split(".")[1] for name in imported(path) if name.startswith("sklearn_rank.")}
    assert own <= ARROWS[module]


@pytest.mark.parametrize("path", sources(), ids=lambda p: str(p.relative_to(PACKAGE)))
def test_public_scikit_learn_only(path):
    private = [n for n in imported(path) if n.startswith("sklearn.") and "._" in n]
    assert not private


@pytest.mark.parametrize("path", [*sources(), *PACKAGE.glob("*.p[yx]?"), *TESTS.glob("*.py")], ids=lambda p: p.name)
def test_files_stay_short(path):
    assert len(path.read_text().splitlines()) <= 500


def test_formulas_stay_formulas():
    """No loop, no sort, no qid inside a metric."""
    for path in (PACKAGE / "metrics").glob("*.py"):
        tree = ast.parse(path.read_text())
        assert not [n for n in ast.walk(tree) if isinstance(n, (ast.For, ast.While))]
        names = {n.attr for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
        assert not names & {"argsort", "sort", "qid", "mean"}


def test_import_is_light():
    code = f"""
import sys
import sklearn.metrics  # may load some of them itself
before = set(sys.modules)
import sklearn_rank
late = ("scipy.stats", "sklearn.pipeline", "sklearn_rank.display", "sklearn_rank.io")
loaded = (set(sys.modules) - before) & set({OPTIONAL} + late)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


@pytest.mark.parametrize("package", ["batches", "display", "inspection", "io", "model_selection", "retrieval", "stats"])
def test_public_packages_come_on_demand(package):
    code = f"""
import sklearn_rank
assert "{package}" in dir(sklearn_rank)
module = sklearn_rank.{package}
assert module.__name__ == "sklearn_rank.{package}" and sklearn_rank.{package} is module
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_public_names_are_what_completion_shows():
    code = """
import sklearn_rank
assert round(sklearn_rank.stats.compare([0.7, 0.5, 0.9, 0.4], [0.5, 0.4, 0.6, 0.4]).pvalue, 4) == 0.1027
shown = [name for name in dir(sklearn_rank) if not name.startswith("__")]
assert {*sklearn_rank.__all__} < {*shown} and not any(name.startswith("_") for name in shown), shown
assert all(hasattr(sklearn_rank, name) for name in shown if name not in ("dask", "spark"))
for name in ("stat", "_no_such_module", "compare"):
    try:
        getattr(sklearn_rank, name)
    except AttributeError as error:
        assert str(error) == f"module 'sklearn_rank' has no attribute {name!r}"
    else:
        raise AssertionError(name)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)


def test_what_is_returned_is_public():
    from sklearn_rank.metrics import Metric, MetricSpec, Ranked
    from sklearn_rank.model_selection import CrossValidation, RankingScorers, Summary

    for public in (Metric, MetricSpec, Ranked, CrossValidation, RankingScorers, Summary, sklearn_rank.Table):
        assert public.__doc__


def test_sources_without_the_compiled_part_say_so(tmp_path):
    """Started without site-packages, where an editable install would find the compiled part elsewhere."""
    shutil.copytree(PACKAGE, tmp_path / "sklearn_rank", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    paths = [str(tmp_path), *(path for path in sys.path if path)]
    for module in ("sklearn_rank", "sklearn_rank.metrics", "sklearn_rank.io"):
        code = f"import sys; sys.path[:] = {paths}; import {module}"
        found = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=120)
        assert found.stderr.splitlines()[-1].startswith(
            "ImportError: sklearn_rank has a compiled part, which is not in"
        )
        assert "pip install -e ." in found.stderr
        assert str(tmp_path) in found.stderr


def test_public_names():
    for name in sklearn_rank.__all__:
        assert getattr(sklearn_rank, name).__doc__
    assert (PACKAGE / "py.typed").exists()
    for metric in sklearn_rank._metric.metric.REGISTRY.values():
        assert getattr(sklearn_rank.metrics, metric.function_name) is metric.function


def test_a_frame_without_pandas_names_the_extra(monkeypatch):
    result = sklearn_rank.evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[pandas\]"'):
        result.to_frame()
