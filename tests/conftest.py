import gc
import os
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ["MPLBACKEND"] = "agg"  # pictures are drawn, but no window is opened
os.environ["NUMBA_DISABLE_JIT"] = "1"  # ranx would be compiled for half a minute, and gives the same values without
for limit in ("OMP_THREAD_LIMIT", "OMP_NUM_THREADS"):  # of models and BLAS, which would wait for each other's threads
    os.environ.setdefault(limit, "1")

import numpy as np  # noqa: E402

from sklearn_rank._metric.metric import REGISTRY  # noqa: E402
from sklearn_rank.datasets import make_ranking  # noqa: E402

HERE = Path(__file__).parent


class AsFound:
    """The fixture of all tests, including examples in the package, for which no conftest.py is found."""

    @pytest.fixture(autouse=True)
    def as_found(self):
        """Drop metrics that a test registered, close figures, and restore output streams.

        Pyplot warns about the twenty-first open figure. A stream that pytest closes ends the session if output is not
        captured.
        """
        metrics, streams = dict(REGISTRY), (sys.stdout, sys.stderr)
        yield
        REGISTRY.clear()
        REGISTRY.update(metrics)
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")
        assert (sys.stdout, sys.stderr) == streams


def pytest_configure(config):
    config.pluginmanager.register(AsFound())


def pytest_ignore_collect(collection_path):
    """Modules of this folder that have no test are not searched for examples."""
    is_a_module = collection_path.suffix == ".py" and HERE in collection_path.parents
    return True if is_a_module and not collection_path.name.startswith("test_") else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Modules and tests stay until the end: the garbage collector does not look at them again and again."""
    gc.disable()
    found = yield
    gc.enable()
    gc.freeze()
    return found


def pytest_unconfigure():
    gc.unfreeze()  # libraries warn about objects that are left at the end


@pytest.hookimpl(tryfirst=True)  # before pytest selects by marks, and pytest-xdist reads groups
def pytest_collection_modifyitems(items):
    """Mark cases of each function that is not slow as fast, if none is: up to ten, or first, middle and last by name.

    Tests of a file that are not slow go to one process: pytest-xdist searches all groups for each test it sends.
    """
    for item in items:
        if not item.get_closest_marker("slow") and not item.get_closest_marker("xdist_group"):
            item.add_marker(pytest.mark.xdist_group(item.path.stem))
    functions = {}
    for item in sorted(items, key=lambda item: item.nodeid):
        if not item.get_closest_marker("slow"):
            functions.setdefault((item.path, getattr(item, "originalname", item.name)), []).append(item)
    for cases in functions.values():
        if not any(item.get_closest_marker("fast") for item in cases):
            for item in cases if len(cases) <= 10 else (cases[0], cases[len(cases) // 2], cases[-1]):
                item.add_marker("fast")


@pytest.fixture(scope="session")
def ranking():
    """Sorted integer qid: X, y, qid."""
    return make_ranking(n_queries=40, n_features=6, n_documents=(1, 12), random_state=0)


@pytest.fixture(scope="session")
def shuffled():
    """String qid in shuffled rows: X, y, qid."""
    return make_ranking(n_queries=40, n_features=6, n_documents=(1, 12), string_qid=True, shuffle=True, random_state=0)


@pytest.fixture(scope="session")
def with_index(shuffled):
    """The same, qid in the index of y: X, y."""
    pd = pytest.importorskip("pandas")
    X, y, qid = shuffled
    return X, pd.Series(y, index=pd.Index(qid, name="qid"))


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def eagerly(monkeypatch):
    """Call a function so that formulas are called with rows, and no plan is made."""
    from sklearn_rank._metric import compute

    def call(function, *args, **keywords):
        with monkeypatch.context() as patched:
            patched.setattr(compute, "can_be_planned", lambda queries: False)
            return function(*args, **keywords)

    return call


@pytest.fixture
def runs(monkeypatch):
    """Plans that computed something, in turn."""
    from sklearn_rank._engine.plan import Plan

    used, run = [], Plan.run

    def run_and_note(plan, *args):
        is_valid = run(plan, *args)
        used.extend([plan] * is_valid)
        return is_valid

    monkeypatch.setattr(Plan, "run", run_and_note)
    return used


@pytest.fixture(scope="session")
def forks():
    """Programs that start in milliseconds."""
    from forks import Forks

    with Forks() as forks:
        yield forks


@pytest.fixture(scope="session")
def spark(request, tmp_path_factory):
    """A Spark session with two workers, whose tasks are tried twice, and with a Spark Connect server."""
    if getattr(request.config.option, "loadgroup", False):
        try:
            (tmp_path_factory.getbasetemp().parent / "spark").mkdir()
        except FileExistsError:
            pytest.fail(
                "Two processes start Spark: a test of it is not in xdist_group('spark'), or pytest is 9.2, under which "
                "pytest-xdist 3.8 loses groups.",
                pytrace=False,
            )
    needs = {"pyspark": find_spec("pyspark"), "Java": os.environ.get("JAVA_HOME") or shutil.which("java")}
    missing = [name for name, there in needs.items() if not there]
    if missing:
        reason = f"tests of Spark need {' and '.join(missing)}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    from spark_cases import new_session

    session = new_session()
    yield session
    session.stop()
