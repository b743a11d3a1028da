"""What may import what, what importing costs, and what the package promises about itself."""

import ast
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
    "_ranked": {"_kernels", "_lazy", "_unlisted"},
    "_keywords": {"_conventions", "_ranked"},
    "_grouping": {"_kernels", "_threads"},
    "_check": {"_grouping", "_lazy", "_threads", "_unlisted"},
    "_lists": {"_check", "_compute", "_unlisted"},
    "_compute": {"_check", "_metric", "_ranked", "_threads"},
    "_docstring": {"_keywords", "_metric"},
    "_metric": {
        "_check",
        "_compute",
        "_conventions",
        "_docstring",
        "_gains",
        "_keywords",
        "_lazy",
        "_probe",
        "_ranked",
    },
    "_probe": {"_check", "_compute", "_metric", "_ranked"},
    "metrics": {"_keywords", "_metric", "metrics"},
    "_names": {"_conventions", "_metric"},
    "groups": {"_check", "_grouping"},
    "datasets": {"_keywords"},
    "evaluate": {
        "_check",
        "_compute",
        "_keywords",
        "_lazy",
        "_lists",
        "_metric",
        "_names",
        "_storage",
        "_table",
        "stats",
    },
    "batches": {"_check", "_compute", "_grouping", "_metric", "_threads", "batches", "evaluate"},
    "dask": {"_check", "_compute", "_grouping", "_metric", "_names", "batches", "dask", "evaluate", "stats"},
    "spark": {"_check", "_compute", "_metric", "_ranked", "_storage", "batches", "evaluate", "spark", "stats"},
    "stats": {"_grouping", "_keywords", "_table", "evaluate", "stats"},
    "scorer": {"_metric", "_names", "evaluate"},
    "model_selection": {"_grouping"},
    "_fit_arguments": set(),
    "ranker": {"_check", "_grouping", "_fit_arguments", "_keywords"},
    "inspection": {"_grouping", "_keywords", "_threads", "evaluate", "model_selection", "scorer"},
    "learning_curve": {"_grouping", "evaluator", "model_selection", "ranker"},
    "display": {
        "_grouping",
        "_keywords",
        "_metric",
        "_names",
        "display",
        "evaluate",
        "ranker",
        "scorer",
        "stats",
    },
    "io": {"_check", "_grouping", "_kernels", "_keywords", "_lazy", "_threads", "io"},
    "_cli": {"_cli", "_conventions", "_metric", "_names", "_ranked", "_table", "display", "evaluate", "io", "stats"},
    "__main__": {"_cli"},
    "_storage": set(),
    "_progress": {"scorer"},
    "_folds": {"_progress", "ranker", "scorer"},
    "retrieval": {
        "_check",
        "_compute",
        "_grouping",
        "_kernels",
        "_keywords",
        "_lists",
        "_progress",
        "_threads",
        "evaluate",
        "retrieval",
    },
    "comparison": {"_keywords", "_storage", "_table", "evaluate", "stats"},
    "evaluator": {
        "_folds",
        "_grouping",
        "_keywords",
        "_progress",
        "comparison",
        "evaluate",
        "model_selection",
        "ranker",
        "scorer",
        "stats",
    },
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


def test_public_names():
    for name in sklearn_rank.__all__:
        assert getattr(sklearn_rank, name).__doc__
    assert (PACKAGE / "py.typed").exists()
    for metric in sklearn_rank._metric.REGISTRY.values():
        assert getattr(sklearn_rank.metrics, metric.caller) is metric.function


def test_a_frame_without_pandas_names_the_extra(monkeypatch):
    result = sklearn_rank.evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[pandas\]"'):
        result.to_frame()
