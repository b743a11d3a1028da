import gc
import hashlib
import os
import random
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

os.environ["MPLBACKEND"] = "agg"  # pictures are drawn, but no window is opened
os.environ["NUMBA_DISABLE_JIT"] = "1"  # ranx would be compiled for half a minute, and gives the same values without
for limit in ("OMP_THREAD_LIMIT", "OMP_NUM_THREADS"):  # of models and BLAS, which would wait for one another's threads
    os.environ.setdefault(limit, "1")

import numpy as np  # noqa: E402

from sklearn_rank._metric.metric import REGISTRY  # noqa: E402
from sklearn_rank.datasets import make_ranking  # noqa: E402

SLOW = """
    spark contributing docs dask_cluster ties dask bench searches peers types storage batch_disk threads states
    hypothesis_draws
""".split()
"""Groups of tests that take longest. They come first, so that several processes end at about the same time."""

LONG = "same bad_input laws_of_use laws grouping stats_laws oracle known_cases".split()
"""Groups that come next: many tests, of which one takes little time."""

SLOW_TESTS = """
    another_process another_process_finds_it_equal as_a_program how_often_intervals_hold_the_mean
    other_processes_notice_too same_values_with_spark the_secret_is_of_the_process_and_does_not_show
    an_exception_stops_the_fits_that_remain large_enough_to_be_divided_many_times a_comma_for_the_point_changes_nothing
    mixed_ids_are_in_one_order_in_every_process ours_are_not_tried_and_imports_do_not_wait memory_stays_bounded
    public_packages_come_on_demand import_is_light public_names_are_what_completion_shows qid_both_ways_and_any_model
    a_call_that_is_interrupted_leaves_nothing in_a_comparison jobs_of_a_search_are_processes the_same_bits
    a_metric_of_a_notebook_travels_to_workers same_for_every_n_jobs_and_seed sums_tell_labels_apart
    a_metric_of_the_main_module_travels_to_workers each_backend_gives_the_same
    an_exception_of_on_fold_stops_each_backend
    tied_lists_averaged_over_queries cross_validate_by_processes_too cross_validate several_at_a_time
    neither_threads_nor_blocks_change_a_bit documents_that_make_up_a_recall any_order_of_updates_and_merges
    what_can_be_detected_and_how_many_queries_it_takes false_positives_of_many across_is_what_scikit_learn_does
    forward_selection a_search_uses_the_jobs_of_the_evaluator_unless_it_has_its_own
""".split()
"""Tests that take more than two seconds, or processes of their own, in files that are fast."""

PROCESSES = "evaluator failing_models watching".split()
"""Files in which a case with n_jobs=2 takes processes, not threads."""

HERE = Path(__file__).parent
SEED = os.environ.setdefault("TEST_SEED", str(random.SystemRandom().randrange(10**6)))
"""Of the order of tests; the same in all processes, as they inherit it."""


class AsFound:
    """Fixtures of all tests, of the examples in the package too, where a conftest.py does not reach."""

    @pytest.fixture(autouse=True)
    def registry_as_found(self):
        """What a test registers is not kept."""
        before = dict(REGISTRY)
        yield
        REGISTRY.clear()
        REGISTRY.update(before)

    @pytest.fixture(autouse=True)
    def figures_closed(self):
        """Figures do not outlive the test that draws them: pyplot warns about the twenty-first that is open."""
        yield
        if pyplot := sys.modules.get("matplotlib.pyplot"):
            pyplot.close("all")

    @pytest.fixture(autouse=True)
    def output_as_found(self):
        """A test that leaves another stream behind, which pytest closes, ends the session if output is not captured."""
        before = sys.stdout, sys.stderr
        yield
        assert (sys.stdout, sys.stderr) == before


def pytest_configure(config):
    """Let pytest-xdist keep the order of groups."""
    config.option.loadscopereorder = False
    config.pluginmanager.register(AsFound())


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line(f"Tests ran in random order, the same again with TEST_SEED={SEED}")


def drawn(name):
    """What puts names into random order, whatever other names there are."""
    return hashlib.sha256(f"{SEED} {name}".encode()).digest()


def file_of(item):
    """Path within the repository, the same everywhere."""
    return item.nodeid.partition("::")[0]


def group_of(nodeid):
    """What one process runs: a file, or all that shares the session of Spark, which has it in its name."""
    path = nodeid.partition("::")[0]
    return "spark" if "spark" in nodeid.lower() else Path(path).stem.removeprefix("test_")


@pytest.hookimpl(optionalhook=True)  # where there is pytest-xdist
def pytest_xdist_make_scheduler(config, log):
    """Groups go to processes by their names: pytest-xdist 3.8 hands out single tests if pytest is 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGroup(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            return group_of(nodeid)

    return ByGroup(config, log) if config.getvalue("dist") == "loadgroup" else None


def of_a_slow_file(path):
    """Whether no test of a file is fast."""
    return path.name.removeprefix("test_").startswith("spark") or path.stem.removeprefix("test_") in SLOW


def pytest_ignore_collect(collection_path, config):
    """What has no test, and if fast ones are asked for, what has no fast one, is not even imported."""
    is_a_test = collection_path.name.startswith("test_")
    if collection_path.suffix == ".py" and HERE in collection_path.parents and not is_a_test:
        return True
    return True if is_a_test and config.option.markexpr == "fast" and of_a_slow_file(collection_path) else None


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Tests are found in a third less of the time without looking for garbage, and are none themselves."""
    gc.disable()
    found = yield
    gc.enable()
    gc.freeze()
    return found


def pytest_unconfigure():
    gc.unfreeze()  # libraries warn about what is left at the end


def is_slow(item, group, function):
    """Whether a test is not fast, of whatever case."""
    parameters = item.callspec.params if hasattr(item, "callspec") else {}
    with_processes = group in PROCESSES and parameters.get("n_jobs") == 2
    return group in SLOW or function.removeprefix("test_") in SLOW_TESTS or with_processes


@pytest.hookimpl(tryfirst=True)  # pytest then puts together what shares a fixture with parameters
def pytest_collection_modifyitems(items):
    """Tests run in random order, group by group, slow ones first; of the others one test of each function is fast."""
    rank = {name: i for i, name in enumerate([*SLOW, *LONG])}
    groups = {item: group_of(item.nodeid) for item in items}
    items.sort(key=lambda item: (rank.get(groups[item], len(rank)), drawn(file_of(item)), drawn(item.nodeid)))
    functions = set()
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()) and groups[item] != "spark":
            raise pytest.UsageError(f"what asks for the session of Spark needs spark in its name: {item.nodeid}")
        function = item.path, getattr(item, "originalname", item.name)
        if not is_slow(item, groups[item], function[1]) and function not in functions:
            item.add_marker("fast")
            functions.add(function)
        if item.nodeid.startswith("sklearn_rank/dask/") and not find_spec("dask"):
            item.add_marker(pytest.mark.skip(reason="the example needs dask"))


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
    """A session of Spark with two workers, whose tasks are tried twice, and with a server of Spark Connect."""
    if getattr(request.config.option, "loadgroup", False):
        try:
            (tmp_path_factory.getbasetemp().parent / "spark").mkdir()
        except FileExistsError:
            pytest.fail("groups of tests are torn: two processes start Spark", pytrace=False)
    needs = {"pyspark": find_spec("pyspark"), "Java": os.environ.get("JAVA_HOME") or shutil.which("java")}
    missing = [name for name, there in needs.items() if not there]
    if missing:
        reason = f"tests of Spark need {' and '.join(missing)}"
        (pytest.fail if os.environ.get("CI") else pytest.skip)(reason)
    from spark_cases import new_session

    session = new_session()
    yield session
    session.stop()
