"""Partitions of a dask DataFrame give what all rows at once give, to the last bit, and nothing is lost between them."""

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest
from batch_cases import NAMES, assert_same
from batch_cases import make as make_rows

from sklearn_rank import dask as on_dask
from sklearn_rank import evaluate, parse_metric, stats
from sklearn_rank.dask._evaluate import PartitionSummary, _refuse_together

dask = pytest.importorskip("dask", reason="evaluation of dask DataFrames needs dask")
dd = pytest.importorskip("dask.dataframe", reason="evaluation of dask DataFrames needs its frames")

LABELS = ["label 0", "label 1", "label 2"]

make = partial(make_rows, shuffle=True)
"""Rows in no order."""


def grouped(data):
    """The same, rows of each query adjacent."""
    return data.rows(np.argsort(data.qid, kind="stable"))


def frame_of(data, **columns):
    """Columns, one a subtopic where there are any."""
    labels = data.y_true if data.y_true.ndim == 2 else data.y_true[:, None]
    names = LABELS if data.y_true.ndim == 2 else ["label"]
    return pd.DataFrame(dict(zip(names, labels.T, strict=True)) | {"score": data.y_score, "qid": data.qid} | columns)


def cut(frame, n=3):
    """A dask DataFrame of so many partitions, rows in the order of the frame, queries cut."""
    return dd.from_pandas(frame, npartitions=n, sort=False)


def cut_between_queries(frame, *, n=3):
    """The same of grouped rows, but no query is cut."""
    query = (frame.qid != frame.qid.shift()).cumsum().to_numpy()
    parts = [frame[query % n == i] for i in range(n)] if n > 1 else [frame]
    return dd.from_map(lambda part: part, parts, meta=frame[:0]), pd.concat(parts)


def expected_of(frame, metrics=NAMES, *, y_true="label", sample_weight=None, **keywords):
    weight = {} if sample_weight is None else {"sample_weight": frame[sample_weight]}
    return evaluate(frame[y_true], frame.score, qid=frame.qid, metrics=metrics, **weight, **keywords)


def check(ddf, frame=None, *, assume_grouped=False, **keywords):
    """All three ways to ask give what `evaluate` does."""
    expected = expected_of(ddf.compute() if frame is None else frame, **keywords)
    keywords = {"metrics": NAMES, "assume_grouped": assume_grouped} | keywords
    found = on_dask.evaluate(ddf, **keywords)
    assert_same(found, expected)
    means = on_dask.mean(ddf, **keywords)
    assert list(means) == list(expected.mean())
    np.testing.assert_allclose([*means.values()], [*expected.mean().values()], rtol=1e-13)
    values = on_dask.per_query(ddf, **keywords)
    computed = values.compute()
    assert list(values.columns) == list(computed.columns)
    if "micro" not in expected.average.values():
        means = on_dask.mean(values)
        np.testing.assert_allclose([means[name] for name in expected.mean()], [*expected.mean().values()], rtol=1e-13)
    by_query = computed.set_index("qid").reindex(expected.qid)
    assert len(computed) == len(expected.qid)
    for name, of_queries in expected.per_query.items():
        assert by_query[name].to_numpy().tobytes() == of_queries.tobytes(), name
    if expected.weight is not None:
        assert by_query["weight"].to_numpy().tobytes() == expected.weight.tobytes()
    return found


# --- the same bits -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 7])
def test_rows_in_any_order(n):
    check(cut(frame_of(make()), n))


@pytest.mark.parametrize(("method", "n"), [("tasks", 40), ("disk", 5)])
def test_ways_to_move_rows(method, n):
    """Tasks move rows of more than 32 partitions in several stages."""
    frame = frame_of(make())
    with dask.config.set({"dataframe.shuffle.method": method}):
        found = on_dask.evaluate(cut(frame, n), metrics=NAMES, ties="stable")
        assert_same(found, expected_of(frame, ties="stable"))
        assert on_dask.mean(cut(frame, n), metrics=NAMES, ties="stable") == pytest.approx(found.mean(), rel=1e-13)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_grouped(n):
    check(*cut_between_queries(frame_of(grouped(make())), n=n), assume_grouped=True)


@pytest.mark.parametrize(("average", "undefined"), [("macro", np.nan), ("micro", 0.0), ("geometric", np.nan)])
def test_means(average, undefined):
    """With weights; some partitions have none at all."""
    data = grouped(make())
    weight = np.random.default_rng(3).random(200)[data.qid + 5]
    weight[data.qid < 80] = 0
    metrics = ["p@5", "auc", "rmse", "f@5"] if average != "geometric" else ["p@5", "map"]
    keywords = {"metrics": metrics, "average": average, "replace_undefined_by": undefined}
    check(cut(frame_of(data, w=weight)), sample_weight="w", **keywords)


IDS = {
    "unsigned": lambda q: q.astype(np.uint64),  # negative ones are beyond int64
    "dates": lambda q: q.astype("M8[D]"),
    "categorical": lambda q: pd.Categorical([f"q{i}" for i in q.tolist()]),
    "categorical numbers": pd.Categorical,
    "nullable": lambda q: pd.array(q, dtype="Int64"),
    "of Arrow": lambda q: pd.array([f"q{i}" for i in q.tolist()], dtype="string[pyarrow]"),
}


@pytest.mark.parametrize("ids", IDS)
def test_ids(ids):
    frame = frame_of(make())
    frame["qid"] = IDS[ids](frame.qid.to_numpy())
    if frame.qid.dtype == "category":
        ddf = cut(frame)
        check(ddf.assign(qid=ddf.qid.cat.as_unknown()))
    check(cut(frame))


def test_ids_of_objects():
    """Where dask leaves them be; what cannot be moved can be grouped."""
    with dask.config.set({"dataframe.convert-string": False}):
        frame = frame_of(grouped(make()))
        text = pd.Series([f"q{i}" for i in frame.qid], dtype=object)
        check(cut(frame.assign(qid=text)))
        tuples = pd.Series([("q", i) for i in frame.qid], dtype=object)
        ddf, frame = cut_between_queries(frame.assign(qid=tuples))
        assert_same(on_dask.evaluate(ddf, metrics="map", assume_grouped=True), expected_of(frame, "map"))
        with pytest.raises(TypeError, match=r"ids must be numbers, all str, or dates .*Got \('q', .*is partition \d"):
            on_dask.evaluate(ddf, metrics="map")


def test_categories_that_differ():
    frames = [
        pd.DataFrame({"label": [1, 0], "score": [1, 2], "qid": pd.Categorical(q)}) for q in (["a", "b"], ["b"] * 2)
    ]
    ddf = dd.from_map(lambda part: part, frames, meta=frames[0][:0])
    ddf = ddf.assign(qid=ddf.qid.cat.as_unknown())
    frame = pd.concat([frame.astype({"qid": str}) for frame in frames])
    check(ddf, frame, metrics="mrr")


def test_columns_of_other_types():
    """What dask and pandas keep numbers in."""
    frame = frame_of(make())
    frame = frame.assign(label=frame.label.astype("Int64"), score=frame.score.astype(np.float32))
    check(cut(frame))
    check(cut(frame.astype({"label": "int8[pyarrow]", "score": "double[pyarrow]"})))
    check(cut(frame.astype({"label": "category"})))


def test_other_names_and_columns():
    frame = frame_of(make())
    other = frame.rename(columns={"label": "y", "score": "row", "qid": "bucket"}).assign(score="text", label=None)
    found = on_dask.evaluate(cut(other), metrics=NAMES, y_true="y", y_score="row", qid="bucket")
    expected = expected_of(frame)
    assert found.per_query["map"].tobytes() == expected.per_query["map"].tobytes()
    weighted = frame.assign(qid=frame.qid + 9)
    found = on_dask.evaluate(cut(weighted), metrics="map", sample_weight="qid")
    assert found.mean() == expected_of(weighted, "map", sample_weight="qid").mean()
    with pytest.raises(ValueError, match="must be different columns.*Got 'y' as y_true and as y_score"):
        on_dask.evaluate(cut(other), metrics="map", y_true="y", y_score="y", qid="bucket")


# --- queries in the index ------------------------------------------------------------------------------------


def test_known_divisions_need_no_moves(monkeypatch):
    frame = frame_of(grouped(make()))
    ddf = dd.from_pandas(frame.set_index("qid"), npartitions=5)
    assert ddf.known_divisions
    monkeypatch.delattr("sklearn_rank.dask._partitions._prepared")
    check(ddf, frame)


@pytest.mark.parametrize("kind", ["unknown", "categorical", "in no order"])
def test_index_of_queries(kind):
    frame = frame_of(make())
    if kind == "categorical":
        frame["qid"] = pd.Categorical([f"q{q:03}" for q in frame.qid])
    ddf = cut(frame.set_index("qid"))
    check(ddf.clear_divisions() if kind == "unknown" else ddf, frame)


def test_index_of_categories_in_an_order_of_their_own():
    """Divisions are in that order, and ids that come out of it are not."""
    frame = frame_of(grouped(make()))
    ids = [f"q{q:03}" for q in frame.qid]
    frame["qid"] = pd.Categorical(ids, categories=list(dict.fromkeys(ids))[::-1])
    frame = frame.sort_values("qid", kind="stable")
    ddf = dd.from_pandas(frame.set_index("qid"), npartitions=3)
    assert ddf.known_divisions
    check(ddf, frame)


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # dask's read_parquet, of pandas 3.1
def test_divisions_of_parquet_may_cut_queries(tmp_path):
    """dask knows divisions of files that have the same query, of which loc would lose rows."""
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    frame = frame_of(grouped(make()))
    for i in range(3):
        part = frame.set_index("qid")[i * 100 : (i + 1) * 100]
        pq.write_table(pa.Table.from_pandas(part), tmp_path / f"{i}.parquet")
    ddf = dd.read_parquet(tmp_path, index="qid", calculate_divisions=True)
    assert ddf.known_divisions
    for ask in (on_dask.evaluate, on_dask.mean, lambda *a, **k: on_dask.per_query(*a, **k).compute()):
        with pytest.raises(ValueError, match=r"clear_divisions\(\).*Got query \d+, where .* not included, belong"):
            ask(ddf, metrics="map")
    check(ddf.clear_divisions(), frame[:300])


@pytest.mark.filterwarnings("ignore:The inplace keyword")  # dask's read_parquet, of pandas 3.1
@pytest.mark.parametrize("known", [False, True])
def test_few_columns_of_many_small_files(tmp_path, known):
    """dask reads several of them as one partition, but where they begin it knows of each."""
    pytest.importorskip("pyarrow")
    frame = frame_of(grouped(make()))
    for i in range(10):
        part = frame[frame.qid // 20 == i - 1]
        part.assign(**{f"feature {j}": part.score for j in range(60)}).set_index("qid").to_parquet(
            tmp_path / f"{i:02}.parquet"
        )
    ddf = dd.read_parquet(tmp_path, index="qid", calculate_divisions=known)
    assert ddf.known_divisions == known
    check(ddf, frame)


# --- nothing is lost -----------------------------------------------------------------------------------------

GOOD = {"label": [1.0, 0.0], "score": [2.0, 1.0], "qid": ["a", "a"]}


def parts(*columns, meta=None, dtypes=None):
    """A frame of such partitions."""
    frames = [pd.DataFrame(c).astype(dtypes or {}) for c in columns]
    return dd.from_map(lambda part: part, frames, meta=frames[0][:0] if meta is None else meta)


ASKED = {
    "evaluate": on_dask.evaluate,
    "mean": on_dask.mean,
    "per_query": lambda *args, **keywords: on_dask.per_query(*args, **keywords).compute(),
}


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("assume_grouped", [False, True])
def test_queries_that_are_cut(ask, assume_grouped):
    ddf = parts(GOOD, GOOD | {"qid": ["b", "c"]}, GOOD | {"qid": ["d", "b"]})
    if not assume_grouped:
        check(ddf, metrics="mrr")
        return
    with pytest.raises(ValueError, match="all rows of a query must be in one partition.*Got query 'b' in two"):
        ASKED[ask](ddf, metrics="mrr", assume_grouped=True)


@pytest.mark.parametrize(
    ("bad", "error", "message"),
    [
        ({"score": [np.nan, 1]}, ValueError, r"y_score must not contain NaN.*Got nan in row 0\."),
        ({"score": [None, 1]}, ValueError, r"y_score must not contain NaN.*Got nan in row 0\."),
        ({"label": [1, np.nan]}, ValueError, r"y_true of map_score must not contain NaN.*in row 1\."),
        ({"label": [1, np.inf]}, ValueError, r"y_true must be finite.*in row 1\."),
        ({"label": [1, 9]}, ValueError, r"y_true of err_score must not be above max_grade=4. Got 9.*row 1\."),
        ({"qid": ["b", None]}, ValueError, r"qid must not contain missing values"),
        ({"label": ["1", "1"]}, TypeError, r"y_true must hold real numbers. Got"),
        ({"w": [1, 2]}, ValueError, r"constant within each. Got 1 and 2 in query 'a'"),
        ({"w": [-1, -1]}, ValueError, r"sample_weight must be finite, not negative"),
    ],
)
@pytest.mark.parametrize("ask", ASKED)
def test_bad_rows(ask, bad, error, message):
    ddf, assume_grouped = parts(GOOD | {"qid": ["c", "c"], "w": 1}, GOOD | {"w": 1} | bad), ask != "mean"
    with pytest.raises(error, match=message + ".* This is partition 1 of the dask DataFrame"):
        ASKED[ask](ddf, metrics=["map", "err"], sample_weight="w", assume_grouped=assume_grouped)


@pytest.mark.parametrize("ask", ASKED)
def test_weights_are_checked_across_partitions(ask):
    ddf = parts(GOOD | {"w": 1.0}, GOOD | {"w": 2.0})
    with pytest.raises(ValueError, match=r"constant within each. Got 1 and 2 in query 'a'"):
        ASKED[ask](ddf, metrics="map", sample_weight="w")
    if ask != "per_query":  # it takes no mean
        with pytest.raises(ValueError, match="not all zero. Got values from 0.0 to 0.0"):
            ASKED[ask](ddf.assign(w=0), metrics="map", sample_weight="w")
    later = parts(GOOD | {"w": 0.0}, GOOD | {"w": 2.0, "qid": ["b", "b"]})
    ASKED[ask](later, metrics="map", sample_weight="w", assume_grouped=True)


@pytest.mark.parametrize("ask", ASKED)
@pytest.mark.parametrize("assume_grouped", [False, True])
def test_a_discount_of_more_than_the_rank_is_refused(ask, assume_grouped):
    ddf = parts(GOOD, {c: [*v, *v, *v] for c, v in (GOOD | {"qid": ["b", "b"]}).items()})
    with pytest.raises(ValueError, match=r"callable 'discount' must give.*Got others for"):
        ASKED[ask](ddf, metrics="dcg", discount=lambda r: 1 / r / (1 + (len(r) > 2)), assume_grouped=assume_grouped)


def test_ids_of_mixed_types():
    """Of numbers and text: equal ones of other types are nowhere taken for the same, or for two."""
    ints, text = GOOD | {"qid": [7, 7]}, GOOD | {"qid": ["7", "7"]}
    for ask in (on_dask.evaluate, on_dask.mean):
        with pytest.raises(
            TypeError, match=r"qid must hold ids of one type in all partitions.*Got integers after text"
        ):
            ask(parts(text, ints), metrics="map", assume_grouped=True)
    with dask.config.set({"dataframe.convert-string": False}):
        mixed = parts(GOOD | {"qid": pd.Series([7, "7"], dtype=object)}, text)
        with pytest.raises(TypeError, match=r"ids must be numbers, all str, or dates .*Got 7"):
            on_dask.evaluate(mixed, metrics="map")
    for ask in (on_dask.evaluate, on_dask.mean):
        for one, other in ((ints, text), (text, ints)):
            with pytest.raises(
                TypeError, match=r"ids of one type in all partitions.*Got .* where the dtype of.*partition 1"
            ):
                ask(parts(one, other), metrics="map")
    floats = parts(ints, GOOD | {"qid": [7.0, 8.0]})  # whatever the schema says, 7 is 7.0
    assert sorted(on_dask.evaluate(floats, metrics="map").qid.tolist()) == [7, 8]


@pytest.mark.parametrize("assume_grouped", [False, True])
def test_empty_partitions(assume_grouped):
    nothing = {name: values[:0] for name, values in GOOD.items()}
    dtypes = {"label": float, "score": float, "qid": str}
    ddf = parts(nothing, GOOD, nothing, GOOD | {"qid": ["b", "b"]}, nothing, dtypes=dtypes)
    check(ddf, metrics="mrr", assume_grouped=assume_grouped)
    empty = parts(nothing, nothing, dtypes=dtypes)
    for ask in (on_dask.evaluate, on_dask.mean):
        with pytest.raises(ValueError, match="At least one row is needed. Got a dask DataFrame without rows"):
            ask(empty, metrics="mrr", assume_grouped=assume_grouped)
    values = on_dask.per_query(empty, metrics="mrr", assume_grouped=assume_grouped).compute()
    assert len(values) == 0
    assert list(values.columns) == ["qid", "mrr"]


def never(part):
    raise AssertionError("read")


@pytest.mark.parametrize("ask", [on_dask.evaluate, on_dask.mean, on_dask.per_query])
def test_what_the_schema_tells_is_checked_before_rows_are_read(ask):
    meta = pd.DataFrame(GOOD | {"text": ["1", "1"], "date": pd.to_datetime(["2020"] * 2)})[:0]
    ddf = dd.from_map(never, range(2), meta=meta)
    for keywords, error, message in [
        ({"metrics": "nothing"}, ValueError, "must be one of get_metric_names"),
        ({"metrics": []}, ValueError, "At least one metric is needed"),
        ({"gain": "exp"}, TypeError, "No metric of map has a keyword 'gain'"),
        ({"n_jobs": 2}, TypeError, "No metric of map has a keyword 'n_jobs'"),
        ({"y_score": 3}, TypeError, "A column is named by a str.*Got 3"),
        ({"y_true": "y"}, ValueError, "data must have each.*Got no 'y' among 'label', 'score', 'qid'"),
        ({"y_true": "text"}, TypeError, "y_true must hold real numbers. Got the column 'text' of type str"),
        ({"y_score": "date"}, TypeError, "y_score must hold real numbers. Got the column 'date' of type datetime64"),
        ({"sample_weight": "text"}, TypeError, "sample_weight must hold real numbers. Got the column 'text'"),
        ({"metrics": "alpha_ndcg", "y_true": ["label", "text"]}, TypeError, "y_true must .* Got the column 'text'"),
    ]:
        with pytest.raises(error, match=message):
            ask(ddf, **{"metrics": "map"} | keywords)
    with pytest.raises(
        TypeError, match=r"data must be a dask DataFrame; .*sklearn_rank.evaluate. Got DataFrame instead"
    ):
        ask(meta, metrics="map")
    assert on_dask.per_query(ddf, metrics="map").columns.tolist() == ["qid", "map"]  # lazily
    with pytest.raises(ValueError, match="'qid' and 'weight' are columns of the table.*Got 'weight'"):
        on_dask.per_query(ddf, metrics={"weight": "map"})


def test_a_repeated_row_counts_as_often():
    """It is another query to a mean, as in Spark; a comparison refuses it."""
    rows = pd.DataFrame({"label": [0, 1, 1], "score": [2.0, 1.0, 2.0], "qid": ["a", "a", "b"]})
    table = on_dask.per_query(cut(rows, 1), metrics="mrr")
    repeated = dd.concat([table, table[table.qid == "a"]])
    assert on_dask.mean(table) == {"mrr": 0.75}
    assert on_dask.mean(repeated) == {"mrr": pytest.approx(2 / 3)}
    with pytest.raises(ValueError, match="Got query 'a' twice"):
        on_dask.compare(repeated, table)


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_weights_are_those_of_the_tables(test):
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"qid": np.repeat(np.arange(30), 4), "label": rng.integers(0, 2, 120), "w": 1.0})
    rows["w"] += rows["qid"] % 4
    frames = [rows.assign(score=rng.random(120)) for _ in range(2)]
    metrics = ["map", "p@1"]
    there = [on_dask.per_query(cut(frame, 2), metrics=metrics, sample_weight="w") for frame in frames]
    here = [
        evaluate(frame.label, frame.score, qid=frame.qid, metrics=metrics, sample_weight=frame.w) for frame in frames
    ]
    keywords = {"metric": "map", "test": test, "random_state": 0}
    found, expected = on_dask.compare(*there, **keywords), stats.compare(*here, **keywords)
    assert found.is_weighted
    assert found.row() == pytest.approx(expected.row(), rel=1e-9)
    with pytest.raises(ValueError, match="all have weights, or none.*Got none in 'b'"):
        on_dask.compare(there[0], on_dask.per_query(cut(frames[1], 2), metrics="map"), metric="map")
    with pytest.raises(ValueError, match="compare takes a table that per_query made"):
        on_dask.compare(there[0][["qid", "map"]], there[1], metric="map")
    pairs = [on_dask.per_query(cut(frame, 2), metrics="p@1") for frame in frames]
    assert on_dask.compare(*pairs).interval_method == "newcombe"


def test_a_mean_over_no_defined_query_warns():
    with pytest.warns(UserWarning, match="map is not defined for any query") as told:
        means = on_dask.mean(parts(GOOD, GOOD).assign(label=0), metrics="map", replace_undefined_by=np.nan)
    assert np.isnan(means["map"])
    assert told[0].filename == __file__


def test_without_dask_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "dask", None)
    monkeypatch.setitem(sys.modules, "dask.dataframe", None)
    for ask in (on_dask.evaluate, on_dask.mean, on_dask.per_query):
        with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[dask\]"'):
            ask(None, metrics="map")
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[dask\]"'):
        on_dask.compare(None, None)


def test_a_discount_is_not_asked_about_no_rank():
    """Of a partition without rows."""
    asked = []
    spec = parse_metric("dcg", discount=lambda rank: asked.append(len(rank)) or 1 / rank)
    asked.clear()
    _refuse_together({"dcg": spec}, [PartitionSummary(None, 3), PartitionSummary(None, 0)])
    assert asked == [3]
