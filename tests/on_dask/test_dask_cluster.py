"""dask DataFrames on a cluster of two worker processes, one of which is killed; comparisons; searches by joblib."""

import multiprocessing
import os
import signal
import time
from contextlib import contextmanager

import numpy as np
import pandas as pd
import pytest
from test_dask import check, cut, cut_between_queries, expected_of, frame_of, grouped, make, parts

from sklearn_rank import dask as on_dask
from sklearn_rank import evaluate, stats

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe", reason="evaluation of dask DataFrames needs dask")
distributed = pytest.importorskip("distributed", reason="a cluster of dask needs distributed")


@contextmanager
def workers_are_forks():
    """Of a process that has imported what they need, so that one starts in tenths of a second; Windows has none."""
    if "forkserver" not in multiprocessing.get_all_start_methods():
        yield
        return
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        context = distributed.utils.get_mp_context()
        context.set_forkserver_preload(["distributed", "dask.dataframe", "sklearn_rank.dask"])
        yield


@pytest.fixture(scope="module")
def same_workers():
    """The client of two processes, which nannies watch over."""
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0"}
    with (
        workers_are_forks(),
        distributed.LocalCluster(**options, silence_logs="CRITICAL") as cluster,
        distributed.Client(cluster, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture
def client(same_workers):
    """What computes while a test runs."""
    with same_workers.as_current():
        yield same_workers


def pids(client):
    return {worker["pid"] for worker in client.run(lambda dask_worker: {"pid": os.getpid()}).values()}


# --- the same bits -------------------------------------------------------------------------------------------


def test_it_is_the_cluster_that_computes(client):
    ddf = dd.from_map(lambda i: pd.DataFrame({"label": [1], "score": [os.getpid()], "qid": [i]}), range(20))
    found = on_dask.evaluate(ddf, metrics={"pid": lambda y, s: float(s[0])}, assume_grouped=True)
    assert {int(pid) for pid in found.per_query["pid"]} <= pids(client)


def test_rows_in_any_order(client):
    check(cut(frame_of(make(n_queries=200)), 7), ties="stable")


IDS = {
    "text": lambda q: np.array([f"q{i}" for i in q.tolist()]),
    "categorical": lambda q: pd.Categorical([f"q{i}" for i in q.tolist()]),
}


@pytest.mark.parametrize("ids", IDS)
def test_ids(client, ids):
    frame = frame_of(make(), w=np.ones(len(make().qid)))
    frame["qid"] = IDS[ids](frame.qid.to_numpy())
    ddf = cut(frame)
    if frame.qid.dtype == "category":
        ddf = ddf.assign(qid=ddf.qid.cat.as_unknown())
    check(ddf, frame if frame.qid.dtype != "category" else None, sample_weight="w")


def test_errors_come_back(client):
    rows = {"label": [1.0, 0.0], "score": [2.0, 1.0], "qid": ["a", "a"]}
    for bad, message in [
        ({"score": [np.nan, 1]}, r"y_score must not contain NaN.*Got nan in row 0\. This is partition 1 of"),
        ({"qid": ["b", None]}, r"qid must not contain missing values.* This is partition 1 of the dask DataFrame"),
    ]:
        for ask in (on_dask.evaluate, on_dask.mean):
            with pytest.raises(ValueError, match=message):
                ask(parts(rows, rows | bad), metrics="map")
    with pytest.raises(ValueError, match="Got query 'a' in two partitions"):
        on_dask.mean(parts(rows, rows), metrics="map", assume_grouped=True)


# --- a worker is killed --------------------------------------------------------------------------------------


def die_once(flag):
    """Kill this process, if that has not been done."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


class BestLabel:
    """A metric whose worker is killed at one of the queries."""

    __name__ = "best_label"

    def __init__(self, flag=None, label_sum=None):
        self.flag, self.label_sum = flag, label_sum

    def __call__(self, y_true, y_score):
        if self.flag is not None and y_true.sum() == self.label_sum:
            die_once(self.flag)
        return float(y_true[np.argmax(y_score)])


@pytest.mark.parametrize(("ask", "where", "assume_grouped"), [("evaluate", "scored", True), ("mean", "read", False)])
def test_a_worker_is_killed(client, tmp_path, ask, where, assume_grouped):
    """Of eight partitions the sixth, or the one with a certain query, kills its worker when its turn comes."""
    flag, before = str(tmp_path / "killed"), pids(client)
    ddf, frame = cut_between_queries(frame_of(grouped(make(n_queries=200))), n=8)
    if not assume_grouped:
        ddf = cut(frame, 8)
    label_sum = frame.groupby("qid").label.sum().max()
    metrics = {"ndcg@10": "ndcg@10", "best": BestLabel()}
    expected = expected_of(frame, metrics)
    if where == "scored":
        metrics["best"] = BestLabel(flag, label_sum)
    else:

        def read(part, partition_info=None):
            if partition_info["number"] == 5:
                die_once(flag)
            return part

        ddf = ddf.map_partitions(read, meta=frame[:0])
    found = getattr(on_dask, ask)(ddf, metrics=metrics, assume_grouped=assume_grouped)
    if ask == "evaluate":
        assert found.qid.tolist() == expected.qid.tolist()
        for name, values in expected.per_query.items():
            assert found.per_query[name].tobytes() == values.tobytes()
    else:
        assert found == pytest.approx(expected.mean(), rel=1e-13)
    assert os.path.exists(flag)
    assert len(before - pids(client)) == 1
    client.wait_for_workers(2)
    time.sleep(1)  # a nanny may overlook that a worker is killed that it has just started


# --- two systems ---------------------------------------------------------------------------------------------


@pytest.fixture
def systems():
    """Rows of two systems on the same queries, which are in another order and other partitions."""
    a = frame_of(make(n_queries=80))
    b = a.assign(score=np.random.default_rng(9).random(len(a))).sample(frac=1, random_state=0)
    return a, b


def values_of(frame, n=3):
    return on_dask.per_query(cut(frame, n), metrics=["ndcg@5", "map"])


def series_of(frame, name):
    """Values of `evaluate` in the order of the ids."""
    return evaluate(frame.label, frame.score, qid=frame.qid, metrics=["ndcg@5", "map"]).to_frame()[name].sort_index()


def test_systems_are_compared(systems):
    tables = [values_of(frame, n).persist() for frame, n in zip(systems, (5, 3), strict=True)]
    for test in ("t", "wilcoxon", "sign", "randomization", "bootstrap", "welch"):
        same_comparison(systems, tables, test)


def same_comparison(systems, tables, test):
    keywords = {"test": test, "random_state": 0, "n_resamples": 99, "alternative": "greater"}
    found = on_dask.compare(*tables, metric="map", **keywords)
    expected = stats.compare(*(series_of(frame, "map") for frame in systems), **keywords)
    assert repr(found).splitlines()[1:] == repr(expected).splitlines()[1:]
    assert (found.difference, found.pvalue, found.metric) == (expected.difference, expected.pvalue, "map")


def test_systems_are_compared_on_the_cluster(client, systems):
    systems = [frame.assign(qid="q" + frame.qid.astype(str)) for frame in systems]
    found = on_dask.compare(*map(values_of, systems), metric="ndcg@5", test="randomization", random_state=0)
    expected = stats.compare(*(series_of(f, "ndcg@5") for f in systems), test="randomization", random_state=0)
    assert (found.difference, found.pvalue) == (expected.difference, expected.pvalue)


@pytest.mark.parametrize("ids", [pd.Categorical, lambda q: pd.Categorical([f"q{i}" for i in q])])
def test_systems_with_categories(systems, ids):
    frames = [frame.assign(qid=ids(frame.qid)) for frame in systems]
    found = on_dask.compare(*map(values_of, frames), metric="map")
    assert found.difference == pytest.approx(stats.compare(*(series_of(f, "map") for f in systems)).difference)
    unknown = [ddf.assign(qid=ddf.qid.cat.as_unknown()) for ddf in map(cut, frames)]
    again = on_dask.compare(*(on_dask.per_query(ddf, metrics="map") for ddf in unknown))
    assert again.difference == pytest.approx(found.difference)


def test_queries_that_one_system_lacks(systems):
    a, b = systems
    a, b = a[a.qid != a.qid.iloc[0]], b[~b.qid.isin(a.qid.iloc[5:7])]
    values = values_of(a), values_of(b)
    with pytest.raises(ValueError, match=r"needs the same queries in all systems.*Got \d missing, the first -?\d+ in"):
        on_dask.compare(*values, metric="map")
    for missing in (0, np.nan):
        found = on_dask.compare(*values, metric="map", missing=missing)
        expected = stats.compare(series_of(a, "map"), series_of(b, "map"), missing=missing)
        assert found.difference == pytest.approx(expected.difference)
        assert (found.n_filled, found.n_left_out) == (expected.n_filled, expected.n_left_out)


def test_wins_are_those_of_the_metric():
    """Of an error less is better; of a name that is no metric's, more, if nothing else is said."""
    a, b = (parts({"qid": [1, 2, 3], "rmse": v, "own": v}) for v in ([1.0, 2, 3], [2.0, 3, 3]))
    assert on_dask.compare(a, b, metric="rmse").won == 2
    assert on_dask.compare(a, b, metric="rmse", greater_is_better=True).lost == 2
    assert on_dask.compare(a, b, metric="own").lost == 2


def test_metrics_are_told_apart_by_what_they_mean():
    """Not by their columns' names alone; also after rows were chosen, and of names of the user's own."""
    rows = parts({"qid": [1, 1, 2, 2], "label": [1.0, 0, 2, 1], "score": [1.0, 2, 2, 1]})
    ndcg, linear = (on_dask.per_query(rows, metrics="ndcg", gain=gain) for gain in ("exp2", "linear"))
    assert on_dask.compare(ndcg, ndcg[ndcg.ndcg > 0].persist()).tied == 2
    with pytest.raises(
        ValueError, match=r"values of one metric, computed alike. Got 'ndcg' with other keywords in 'b'"
    ):
        on_dask.compare(ndcg, linear[["qid", "ndcg"]])
    mse = [on_dask.per_query(r, metrics={"own": "mse"}) for r in (rows, rows.assign(score=rows.score + 9))]
    assert on_dask.compare(*mse).won == 2


def test_what_cannot_be_compared():
    one = parts({"qid": [1, 2, 3], "map": [0.5, 0.2, 0.1]})
    for a, b, keywords, error, message in [
        (one, pd.DataFrame(), {}, TypeError, r"b must be a dask DataFrame"),
        (one.drop(columns="qid"), one, {}, ValueError, r"compare takes a table that per_query made.*Got columns 'map'"),
        (one, one[["qid"]], {}, ValueError, r"compare takes a table that per_query made.*Got columns 'qid'"),
        (
            one.assign(weight=1),
            one,
            {},
            ValueError,
            r"all have weights, or none: .* Got none in 'b'",
        ),
        (one, one.assign(p=1), {"metric": "p"}, ValueError, r"'metric' parameter .* one of map \(of 'a'\). Got 'p'"),
        (one.assign(p=1), one, {}, ValueError, r"several need metric=. Got map, p in 'a'"),
        (one, one.rename(columns={"map": "p"}), {}, ValueError, r"Got 'map' with other keywords in 'b'"),
        (one, one, {"test": "z"}, ValueError, r"'test' parameter of compare"),
        (one, one, {"missing": "drop"}, ValueError, r"'missing' parameter of compare"),
        (one, one, {"level": 0.9}, TypeError, r"compare has no argument 'level'"),
        (
            one,
            one.assign(qid=one.qid.astype(str)),
            {},
            TypeError,
            r"of one type in both tables; cast one. Got int64 in 'a' and str in 'b'",
        ),
    ]:
        with pytest.raises(error, match=message):
            on_dask.compare(a, b, **keywords)
    twice = parts({"qid": [1, 2, 3, 3], "map": [0.5, 0.2, 0.1, 0.3]})
    for a, b in ((one, twice), (twice, one)):
        with pytest.raises(ValueError, match="compare takes one value a query; .*Got query 3 twice"):
            on_dask.compare(a, b)
    for ids in ([1, 2, np.nan], ["a", "b", None]):
        missing = parts({"qid": ids, "map": [0.5, 0.2, 0.1]})
        with pytest.raises(ValueError, match="Every row needs a query, so qid must not contain missing values"):
            on_dask.compare(missing, missing)


def test_means_of_a_table():
    """With its weights, after queries were chosen; not of what per_query did not make, nor of sums that it has not."""
    frame = frame_of(make(), w=make().qid % 4 / 2)
    ddf, names = cut(frame), ["ndcg@5", "map"]
    table = on_dask.per_query(ddf, metrics=names, sample_weight="w", replace_undefined_by=np.nan)
    few = frame[frame.qid < 90]
    expected = expected_of(few, names, sample_weight="w", replace_undefined_by=np.nan).mean()
    assert on_dask.mean(table[table.qid < 90]) == pytest.approx(expected, rel=1e-13)
    assert list(on_dask.mean(table.assign(group=1)[["map", "weight", "qid", "group"]])) == ["map"]
    for wrong, message in [
        (
            ddf,
            "mean takes rows with metrics=, or a table that per_query made.*Got columns 'label', 'score', 'qid', 'w'",
        ),
        (table.drop(columns="weight"), "its weights if it has any"),
        (on_dask.per_query(ddf, metrics="p(average=micro)@5"), "pass the rows with metrics=. Got 'p"),
        (table[table.qid < -99], "At least one row is needed. Got a dask DataFrame without rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            on_dask.mean(wrong)
    for options in ({"gain": "linear"}, {"sample_weight": "w"}, {"assume_grouped": True}):
        with pytest.raises(TypeError, match=rf"Without metrics= mean takes a table .*Got {next(iter(options))}="):
            on_dask.mean(table, **options)
    with pytest.warns(UserWarning, match="map is not defined for any query") as told:
        on_dask.mean(on_dask.per_query(ddf.assign(label=0), metrics="map", replace_undefined_by=np.nan))
    assert told[0].filename == __file__
