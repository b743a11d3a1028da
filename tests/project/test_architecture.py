"""Allowed imports, the cost of importing, and promises about the package as a whole."""

import ast
import inspect
import os
import re
import shutil
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from importlib import import_module
from importlib.util import find_spec, module_from_spec
from pathlib import Path

import of_module
import pytest
from forks import Forks

import sklearn_rank
from sklearn_rank._metric.metric import REGISTRY

PACKAGE, TESTS = Path(sklearn_rank.__file__).parent, Path(__file__).parents[1]
RANKERS = ("xgboost", "lightgbm", "catboost")
OPTIONAL = (
    "pandas",
    "polars",
    "pyarrow",
    "narwhals",
    "duckdb",
    "matplotlib",
    "tqdm",
    "pyspark",
    "rich",
    *RANKERS,
)

FLOORS = [
    ("_version", "exceptions"),
    ("_utils",),
    ("_engine", "_estimates", "datasets"),
    ("_misuse",),
    ("_data",),
    ("_metric", "_groups"),
    ("_tell",),
    ("_report",),
    ("metrics", "_evaluation"),
    ("_tables", "boosting", "_comparison"),
    ("stats", "_scoring"),
    ("_ranker", "io"),
    ("retrieval",),
    ("recommenders",),
    ("_evaluator",),
    ("model_selection",),
    ("spark", "display", "inspection"),
    ("_entry_points", "results"),
    ("_cli", "compat"),
    ("__main__",),
    ("__init__",),
]
"""Rooms of the package, from the lowest floor up. An import goes to a lower floor or stays in its room."""
FLOOR = {room: number for number, floor in enumerate(FLOORS) for room in floor}


def sources():
    return [p for p in PACKAGE.rglob("*.py") if p != PACKAGE / "__init__.py"]


def kernels():
    """All Cython files."""
    return [p for p in PACKAGE.rglob("*.p[yx]?") if p.suffix in (".pyx", ".pxi", ".pxd")]


def name_of(path):
    """Dotted name of the module of a file."""
    return ".".join(["sklearn_rank", *path.relative_to(PACKAGE).with_suffix("").parts]).removesuffix(".__init__")


MODULES = {name_of(p): p for p in [*PACKAGE.rglob("*.py"), *PACKAGE.rglob("*.pyx")]}


@cache
def nodes(path):
    """Imports, attributes and definitions of a file; each file is parsed once."""
    kinds = ast.stmt, ast.Name, ast.Attribute, ast.Call
    return [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, kinds)]


@cache
def imported(path):
    """Dotted names of all imports of a file, including those inside functions and for type checking."""
    if path.suffix == ".pyx":
        return [".".join(found) for found in re.findall(r"^from ([\w.]+) import (\w+)", path.read_text(), re.M)]
    names = [alias.name for node in nodes(path) if isinstance(node, ast.Import) for alias in node.names]
    froms = [node for node in nodes(path) if isinstance(node, ast.ImportFrom)]
    return names + [f"{node.module}.{alias.name}" for node in froms for alias in node.names]


def imported_modules(path):
    """Modules of the package that a file imports; `from package import name` counts as the package."""
    for name in imported(path):
        if name.partition(".")[0] == "sklearn_rank":
            yield name if name in MODULES else name.rpartition(".")[0]


def room_of(module):
    return (module.split(".") + ["__init__"])[1]


def test_imports_go_down():
    for module, path in MODULES.items():
        here = room_of(module)
        rooms = {room_of(name) for name in imported_modules(path)} - {here}
        assert not [room for room in rooms if FLOOR[room] >= FLOOR[here]], module


def test_checks_of_misuse_are_asked_at_the_waist():
    """Doors hand their data to `_data`; readers of files and of runs know ids that no door has."""
    askers = {room_of(module) for module, path in MODULES.items() if "_misuse" in map(room_of, imported_modules(path))}
    assert askers - {"_misuse"} == {"_data", "io"}


def test_no_function_is_too_long():
    """At most 60 lines without its docstring; the parser of the command line is a list."""
    for path in sources():
        for node in nodes(path):
            if isinstance(node, ast.FunctionDef) and (path.stem, node.name) != ("arguments", "parser"):
                body = node.body[bool(ast.get_docstring(node)) :] or node.body
                assert body[-1].end_lineno - body[0].lineno < 60, node.name


FORMATTED_ELSEWHERE = {
    "_utils/table.py": "cells of tables, on which the renderer stands",
    "_metric/choices.py _data/judged.py": "sentences that errors print, too",
    "_evaluation/remarks.py _evaluation/explanation.py _evaluation/threshold_curve.py": "text of documents and labels",
    "_entry_points/judgments.py": "flaws of judgments",
    "stats/_gate.py stats/_judge_agreement.py": "the gate, and ranks of judges",
    "_report/content.py _report/page.py _report/pictures.py _evaluation/page.py _comparison/page.py": "pages",
    "stats/_gate_page.py": "pages",
    "_evaluator/folds.py": "progress",
    "_metric/trec_measures.py _metric/docstring.py compat/pytrec_eval.py": "names of metrics, and their pages",
    "_misuse/rows.py _metric/metric_check.py _metric/gains.py _metric/spec.py": "errors",
    "_engine/ids.py _engine/values.py _comparison/align.py io/_columns.py": "errors",
    "recommenders/_list_values.py retrieval/_distances.py": "errors",
}
"""Files that format numbers outside of `_tell`, of labels of pictures and of `raise`, and why."""


def formats_numbers(node):
    """Whether a number is formatted in some code, except in an error, a warning or a finding of misuse."""
    of_message = isinstance(node, ast.Call) and ast.unparse(node.func) in ("warn_caller", "Finding")
    if isinstance(node, ast.Raise) or of_message:
        return False
    if isinstance(node, ast.FormattedValue) and node.format_spec is not None:
        return True
    return any(map(formats_numbers, ast.iter_child_nodes(node)))


def test_numbers_are_formatted_by_the_renderer():
    found = {p.relative_to(PACKAGE).as_posix() for p in sources() if formats_numbers(ast.parse(p.read_text()))}
    named = {name for names in FORMATTED_ELSEWHERE for name in names.split()}
    assert {name for name in found if name.partition("/")[0] not in ("_tell", "display")} == named


SPREAD_ELSEWHERE = {
    "_comparison/summary.py": "over folds",
    "_data/judged.py stats/_judges.py": "checks of shares and of a random part",
    "stats/_judge_agreement.py": "agreement by chance",
    "recommenders/_exposure.py": "the jackknife",
    "inspection.py": "over permutations, as in scikit-learn",
    "datasets.py": "drawn data",
}
"""Files outside of `_estimates` that call quantiles or a standard deviation, and why."""


def test_quantiles_and_standard_deviations_are_estimates():
    called = {"ppf", "isf", "ndtri", "stdtrit", "std", "var"}
    found = {
        path.relative_to(PACKAGE).as_posix()
        for path in sources()
        for node in nodes(path)
        if isinstance(node, ast.Call) and getattr(node.func, "attr", None) in called
    }
    named = {name for names in SPREAD_ELSEWHERE for name in names.split()}
    assert {name for name in found if not name.startswith("_estimates/")} == named


def test_no_class_of_results_is_too_long():
    """At most 400 lines without docstrings."""
    for name in sklearn_rank.results.__all__:
        lines = inspect.getsource(getattr(sklearn_rank.results, name))
        of_text = [ast.get_docstring(n, clean=False) for n in ast.walk(ast.parse(lines)) if hasattr(n, "body")
                   and isinstance(n, (ast.ClassDef, ast.FunctionDef))]  # fmt: skip
        assert lines.count("\n") - sum(text.count("\n") + 1 for text in of_text if text) <= 400, name


def test_no_circle_of_files():
    arrows = {name: {*imported_modules(path)} - {name} for name, path in MODULES.items()}
    assert list(TopologicalSorter(arrows).static_order())  # raises CycleError


def test_only_packages_are_public():
    """Files of public packages start with an underscore, except in `metrics` and `compat`."""
    for path in sources():
        room, *inside = path.relative_to(PACKAGE).with_suffix("").parts
        if inside and not room.startswith("_") and room not in ("metrics", "compat"):
            assert inside[-1].startswith("_"), path
    assert {p.stem for p in PACKAGE.glob("[a-z]*.py")} == {"datasets", "exceptions", "inspection", "results"}


def test_no_function_has_the_name_of_a_sibling_module():
    for module in MODULES:
        package, _, name = module.rpartition(".")
        if package:
            assert inspect.ismodule(getattr(import_module(package), name, inspect)), module


def test_public_scikit_learn_only():
    for path in sources():
        assert not [n for n in imported(path) if n.startswith("sklearn.") and "._" in n], path


PRIVATE_PARTS = PACKAGE / "_utils" / "private_parts.py"
"""The one module that may use private parts of other libraries; test_private_parts.py tries each of them."""
OF_NAMED_TUPLES = {"_asdict", "_field_defaults", "_fields", "_replace"}
"""Public, whatever they are called."""
OF_ATTRIBUTES = {"getattr", "hasattr", "setattr", "delattr"}


def is_private(name):
    return isinstance(name, str) and re.fullmatch(r"_[^_]\w*(?<!_)|__\w+(?<!__)", name) and name not in OF_NAMED_TUPLES


def private_names(path):
    """Private names that a file defines: functions, classes, variables, and attributes of self and cls."""
    for node in nodes(path):
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            if getattr(node.value, "id", None) in ("self", "cls"):
                yield node.attr


def private_attributes(path):
    """Private attributes that a file reads, sets or deletes, also by getattr with a string."""
    for node in nodes(path):
        name = node.attr if isinstance(node, ast.Attribute) else None
        if isinstance(node, ast.Call) and getattr(node.func, "id", None) in OF_ATTRIBUTES:
            name = getattr(node.args[1], "value", None)
        if is_private(name):
            yield name


def test_private_attributes_are_ours():
    """Each is defined in the folder of the file, or in a file that it imports from."""
    defined = {name_of(path): {*private_names(path)} for path in PACKAGE.rglob("*.py")}
    for path in sources():
        package = name_of(path).rpartition(".")[0]
        ours = {one for module in imported_modules(path) for one in defined.get(module, ())}
        ours |= {one for module, names in defined.items() if module.rpartition(".")[0] == package for one in names}
        foreign = {*private_attributes(path)} - ours - {name.rpartition(".")[2] for name in imported(path)}
        assert not foreign or path == PRIVATE_PARTS, (path, foreign)


def test_private_methods_are_ours():
    """No class overrides a private attribute of a third-party class."""
    for module, path in MODULES.items():
        if path in (PRIVATE_PARTS, PACKAGE / "__main__.py") or path.suffix == ".pyx" or room_of(module) == "spark":
            continue
        private = {*filter(is_private, private_names(path))}
        for one in filter(inspect.isclass, vars(import_module(module)).values()):
            if one.__module__ == module:
                foreign = [base for base in one.__mro__ if not base.__module__.startswith("sklearn_rank.")]
                assert not [base for base in foreign if private & vars(one).keys() & vars(base).keys()], one


SHARED_HOOKS = PACKAGE / "_utils" / "table.py", PACKAGE / "_utils" / "storage.py", PACKAGE / "_report" / "has_page.py"
"""Base classes of results, whose private methods are hooks that pages and other results may call."""
SHARED_PARTS = {
    *("_metric_values", "_kept_data", "_kept_references", "_list_values", "_more_notes", "_references", "_specs"),
    "_undefined",
    *("_remarks", "_cut_at", "_taken", "_of_queries", "_column_fingerprints"),
    *("_untested", "_tests_of", "_candidates"),
    *("_pair_rows", "_has_corrected_intervals"),
    *("_bind", "_check_scores", "_filled", "_refuse_empty", "_refuse_unread"),
}
"""Private parts of an evaluation, a comparison, a test of pairs and a metric that other modules read."""


def test_private_attributes_of_results_are_read_only_by_results():
    """Other modules read only public names, and the private names in `SHARED_PARTS`."""
    bases = {base for name in sklearn_rank.results.__all__ for base in getattr(sklearn_rank.results, name).__mro__}
    hooks = SHARED_PARTS | {name for path in SHARED_HOOKS for name in private_names(path)}
    modules = {base.__module__ for base in bases} & MODULES.keys()
    defined = {module: {*filter(is_private, private_names(MODULES[module]))} - hooks for module in modules}
    of_results = set().union(*defined.values())
    assert {"_unchanged_data", "_notes_on_data"} < of_results
    for module, path in MODULES.items():
        if path.suffix != ".pyx":
            others = {*imported_modules(path)} & MODULES.keys() - modules
            own = {
                name for one in (path, *map(MODULES.get, others)) if one.suffix != ".pyx" for name in private_names(one)
            }
            found = {*attributes_of_others(path)} & (of_results - own)
            assert not found, module


def attributes_of_others(path):
    """Attributes that a file reads of any object except self, cls and super()."""
    for node in nodes(path):
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) not in ("self", "cls", "super()"):
            yield node.attr


def test_no_file_is_too_long():
    """A file has one theme and at most 900 lines."""
    for path in [*sources(), *kernels(), *PACKAGE.rglob("*.pyi"), *TESTS.rglob("*.py")]:
        assert len(path.read_text().splitlines()) <= 900, path


SAME_CALL = {"sklearn_rank.spark._evaluate": {"evaluate"}}
"""Public functions of the same name that are one call, of data in memory and elsewhere."""


def defined_in(path):
    """Names and values of the constants and type aliases of a Python module; for classes and functions only names."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ClassDef):
            yield node.name, name_of(path)
        elif isinstance(node, ast.FunctionDef) and node.name[0] != "_":
            if node.name not in SAME_CALL.get(name_of(path), ()):
                yield f"{node.name}()", name_of(path)
        elif isinstance(node, (ast.Assign, ast.AnnAssign)) and node.value is not None:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            pairs = [(target, node.value)]
            if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
                pairs = zip(target.elts, node.value.elts, strict=True)
            for name, value in pairs:
                if ast.unparse(name)[0].isupper() and not re.match("TypeVar|ParamSpec", ast.unparse(value)):
                    yield ast.unparse(name), ast.unparse(value)


def defined_in_kernel(path):
    """The same for a Cython file, read line by line: constants, members of enums, classes, types, functions.

    A function may be declared in the `.pxd` of its module, so its value is the name without a suffix.
    """
    text = re.sub(r" *#.*$", "", path.read_text(), flags=re.MULTILINE)
    yield from re.findall(r"^(?:cdef (?:[\w\[\]]+ )+|    )?([A-Z][A-Z0-9_]*) = (.+)$", text, re.MULTILINE)
    for members in re.findall(r"\benum \{(.*?)\};", text):
        yield from re.findall(r"(\w+) = ([^,]+?) *(?:,|$)", members)
    yield from ((name, path.name) for name in re.findall(r"^(?:cdef )?class (\w+)", text, re.MULTILINE))
    yield from ((name, path.stem) for name in re.findall(r"^cdef (?:struct|union) (\w+)", text, re.MULTILINE))
    yield from ((name, path.stem) for name in re.findall(r"^ctypedef \w+ (\w+)", text, re.MULTILINE))
    yield from ((f"{name}()", path.stem) for name in re.findall(r"^cp?def [^(=]*?\b(?!__)(\w+)\(", text, re.MULTILINE))


def meant(value):
    """Normalize numbers, so that 2**10 and 1 << 10 are equal; other values stay text."""
    try:
        number = eval(value, {"__builtins__": {}})
    except (NameError, SyntaxError, TypeError):
        return value
    return number if isinstance(number, (int, float)) else value


def test_one_name_one_meaning():
    """If modules share the name of a class, type, constant or function, its value must be the same in all of them."""
    meanings = {}
    for defined, paths in (defined_in, PACKAGE.rglob("*.py")), (defined_in_kernel, kernels()):
        for name, value in (pair for path in paths for pair in defined(path)):
            language = "C" if defined is defined_in_kernel and name.endswith("()") else ""
            meanings.setdefault((language, name), set()).add(meant(value))
    assert not {name: values for (_, name), values in meanings.items() if len(values) > 1}


def test_names_of_tests_are_unique():
    """No two files have a test of the same name, so that `pytest -k` finds one subject."""
    files = {}
    for path in TESTS.rglob("*.py"):
        for name in re.findall(r"^ *def (test_\w+)", path.read_text(), re.MULTILINE):
            files.setdefault(name, set()).add(str(path.relative_to(TESTS)))
    assert not {name: found for name, found in files.items() if len(found) > 1}


def test_every_module_has_tests():
    """`tests/of_module.py` finds tests by room and by the lines that they run; the files of its table exist."""
    assert not [path for paths in of_module.table().values() for path in paths if not path.exists()]
    packages = {name for name, path in of_module.modules().items() if path.stem.startswith("__")}
    assert not [name for name in of_module.modules().keys() - packages if not of_module.tests_of(name)]
    assert of_module.tests_of("sklearn_rank._engine.plan")[0] == TESTS / "engine"


def test_formulas_stay_formulas():
    """A metric has no loop, no sort and no qid."""
    for path in (PACKAGE / "metrics").glob("*.py"):
        assert not [n for n in nodes(path) if isinstance(n, (ast.For, ast.While))]
        names = {n.attr for n in nodes(path) if isinstance(n, ast.Attribute)}
        assert not names & {"argsort", "sort", "qid", "mean"}


def test_distinct_values_are_not_hashed():
    """`distinct_values` sorts; `np.unique` hashes since NumPy 2.3 if it returns only the values."""
    calls = [
        f"{path.name}:{node.lineno}"
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("np.unique") and not node.keywords
    ]
    assert calls == []


@pytest.fixture(scope="module")
def imported_alone():
    """Run programs in which only `sklearn_rank` was imported."""
    if not hasattr(os, "fork"):
        pytest.skip("Windows does not fork")
    first = """
import sys
import sklearn.metrics  # may load some of what may not be loaded
before = set(sys.modules)
import sklearn_rank
loaded = set(sys.modules) - before
"""
    with Forks(first) as forks:
        yield forks


@pytest.mark.slow
def test_import_is_light(imported_alone):
    late = (
        "scipy.stats",
        "sklearn.pipeline",
        "sklearn_rank._evaluation.evaluate",
        "sklearn_rank._utils.table",
        "sklearn_rank.datasets",
        "sklearn_rank.display",
        "sklearn_rank.io",
        "sklearn_rank.model_selection",
    )
    imported_alone.check(f"assert not loaded & set({OPTIONAL + late}), loaded")


FILES = """
from sklearn_rank import evaluate_run, io
qrels, run, old = io.read_qrels("qrels"), io.read_run("run"), io.read_run("old")
"""
ROWS = """
import numpy as np
from sklearn_rank import compare_systems, evaluate, stats
qid = np.repeat(np.arange(20), 5)
y, old = np.random.default_rng(0).random((2, 100)) > 0.6
new = old + 0.5 * y
"""
PAIR = 'pair = {"old": evaluate(y, old, qid=qid), "new": evaluate(y, new, qid=qid)}'


@pytest.mark.slow
@pytest.mark.parametrize(
    "code",
    [
        FILES + 'print(evaluate_run({"q": {"a": 1}}, {"q": ["b", "a"]}), evaluate_run(qrels, run))',
        ROWS + "print(evaluate(y, new, qid=qid))",
        ROWS + 'print(compare_systems(y, {"old": old, "new": new, "newer": new + y}, baseline="old", qid=qid))',
        ROWS + PAIR + "; print(stats.no_worse(**pair), stats.no_worse(**pair, margin=0.1))",
        ["evaluate", "qrels", "run"],
        ["compare", "qrels", "run", "old"],
        ["gate", "qrels", "run", "--baseline", "old", "--margin", "0.1"],
        ["report", "qrels", "run", "old", "-o", "page.html"],
    ],
)
def test_scikit_learn_and_pandas_are_not_loaded(code, tmp_path):
    """Reading, evaluation, comparison, the gate and reports, in a fresh process."""
    run, old = ([f"q{i} Q0 d{j} 1 {(i * j * n) % 7} x" for i in range(9) for j in range(5)] for n in (3, 4))
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 d{j} {(i + j) % 2}\n" for i in range(9) for j in range(5)))
    (tmp_path / "run").write_text("\n".join(run))
    (tmp_path / "old").write_text("\n".join(old))
    if isinstance(code, list):
        code = f"from sklearn_rank._cli import main\nassert main({code}) in (0, 4)"
    code += """
import sys
loaded = {"sklearn", "pandas", "scipy.sparse", "scipy.stats", "scipy.optimize", "joblib"} & {*sys.modules}
assert not loaded, loaded
"""
    found = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert found.returncode == 0, found.stderr


def test_each_class_of_results_has_one_public_name():
    from bad_input import public_modules

    returned = {id(getattr(sklearn_rank.results, name)) for name in sklearn_rank.results.__all__}
    for module in public_modules():
        names = getattr(module, "__all__", ())
        assert module is sklearn_rank.results or not [n for n in names if id(getattr(module, n)) in returned], module


@pytest.mark.slow
def test_completion_shows_public_names(imported_alone):
    imported_alone.check("""
assert round(sklearn_rank.stats.compare([0.7, 0.5, 0.9, 0.4], [0.5, 0.4, 0.6, 0.4]).pvalue, 4) == 0.1027
shown = [name for name in dir(sklearn_rank) if not name.startswith("__")]
assert {*sklearn_rank.__all__} < {*shown} and not any(name.startswith("_") for name in shown), shown
assert all(hasattr(sklearn_rank, name) for name in shown if name != "spark")
for name in ("stat", "_no_such_module", "compare"):
    try:
        getattr(sklearn_rank, name)
    except AttributeError as error:
        assert str(error).startswith(f"module 'sklearn_rank' has no attribute {name!r}")
    else:
        raise AssertionError(name)
""")


def test_result_classes_are_documented():
    from sklearn_rank.metrics import Metric, Ranked

    returned = [getattr(sklearn_rank.results, name) for name in sklearn_rank.results.__all__]
    for public in (*returned, Metric, Ranked):
        assert public.__doc__
        assert not hasattr(sklearn_rank, public.__name__)


def test_import_without_kernels_says_how_to_build(tmp_path):
    """Without site-packages, where an editable install would find compiled kernels."""
    shutil.copytree(PACKAGE, tmp_path / "sklearn_rank", ignore=shutil.ignore_patterns("*.so", "*.pyd", "__pycache__"))
    paths = [str(tmp_path), *(path for path in sys.path if path)]
    for module in ("sklearn_rank", "sklearn_rank.metrics", "sklearn_rank.io"):
        code = f"import sys; sys.path[:] = {paths}; import {module}"
        found = subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=120)
        assert found.stderr.splitlines()[-1].startswith(
            "ImportError: The compiled modules of sklearn_rank are missing in"
        )
        assert "Start Python in another folder, or build them here: pip install -e ." in found.stderr
        assert str(tmp_path) in found.stderr


def loaded_without(absent, module, monkeypatch):
    """Import a module as if a dependency were missing."""
    spec = find_spec(module)
    monkeypatch.setitem(sys.modules, absent, None)
    loaded = module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


@pytest.mark.parametrize(
    ("absent", "module", "message"),
    [
        ("sklearn_rank._engine.kernels.common", "sklearn_rank", f"missing in {re.escape(str(PACKAGE))}: you are"),
        ("ir_measures", "sklearn_rank.compat.ir_measures", "needs ir_measures: pip install ir-measures"),
    ],
)
def test_missing_dependency_is_named(absent, module, message, monkeypatch):
    with pytest.raises(ImportError, match=message):
        loaded_without(absent, module, monkeypatch)


def test_import_errors_inside_kernels_are_not_replaced():
    code = "import sys; sys.modules['numpy'] = None; import sklearn_rank"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert found.stderr.splitlines()[-1].startswith("ModuleNotFoundError: import of numpy halted")


def test_package_public_names():
    for name in sklearn_rank.__all__:
        assert getattr(sklearn_rank, name).__doc__
    assert (PACKAGE / "py.typed").exists()
    for metric in REGISTRY.values():
        assert getattr(sklearn_rank.metrics, metric.function_name) is metric.function


def test_a_frame_without_pandas_names_the_extra(monkeypatch):
    result = sklearn_rank.evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[pandas\]"'):
        result.to_frame()
