"""Tables of every library give the values of their arrays, to the last bit; errors come before any data are read."""

import re
import sys

import duckdb
import narwhals
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklearn_rank import evaluate, evaluate_table

RNG = np.random.default_rng(0)
N = 300
QUERY = RNG.integers(0, 25, N)
LABEL, SCORE, WEIGHT = RNG.integers(0, 4, N), RNG.integers(0, 40, N) / 7, 1.0 + QUERY % 3
QID, COUNTRY = np.array([f"q{q}" for q in QUERY]), np.where(QUERY % 2 == 0, "nl", "be")
ARRAYS = {"label": LABEL, "score": SCORE, "qid": QID, "weight": WEIGHT, "country": COUNTRY, "other": np.arange(N)}
PANDAS, POLARS, ARROW = pd.DataFrame(ARRAYS), pl.DataFrame(ARRAYS), pa.table(ARRAYS)


class Stream:
    """Has Arrow's PyCapsule interface and nothing else."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        return self.table.__arrow_c_stream__(requested_schema)


class Record:
    """The same for a single batch."""

    def __init__(self, batch):
        self.batch = batch

    def __arrow_c_array__(self, requested_schema=None):
        return self.batch.__arrow_c_array__(requested_schema)


def relation(_=None):
    return duckdb.connect().from_arrow(ARROW)


def cast(kind):
    """Arrow with another type of text."""
    return ARROW.set_column(2, "qid", ARROW["qid"].cast(kind))


TABLES = {
    "dict": lambda: ARRAYS,
    "dict of lists": lambda: {name: column.tolist() for name, column in ARRAYS.items()},
    "structured array": lambda: PANDAS.astype({"qid": "S4", "country": "S2"}).to_records(index=False),
    "pandas": lambda: PANDAS,
    "pandas nullable": PANDAS.convert_dtypes,
    "pandas Arrow": lambda: PANDAS.convert_dtypes(dtype_backend="pyarrow"),
    "pandas categorical": lambda: PANDAS.astype({"qid": "category", "label": "category", "country": "category"}),
    "pandas objects": lambda: PANDAS.astype(object),
    "pandas index": lambda: PANDAS.set_index("qid"),
    "pandas levels": lambda: PANDAS.set_index(["other", "qid"]),
    "pandas other rows": lambda: PANDAS.set_index(pd.Index(np.arange(N)[::-1])),
    "polars": lambda: POLARS,
    "polars lazy": POLARS.lazy,
    "polars chunks": lambda: pl.concat([POLARS[:100], POLARS[100:]], rechunk=False),
    "polars categorical": lambda: POLARS.with_columns(pl.col("qid", "country").cast(pl.Categorical)),
    "polars enum": lambda: POLARS.with_columns(pl.col("qid").cast(pl.Enum(POLARS["qid"].unique()))),
    "Arrow": lambda: ARROW,
    "Arrow batch": lambda: ARROW.to_batches()[0],
    "Arrow chunks": lambda: pa.concat_tables([ARROW[:100], ARROW[100:]]),
    "Arrow reader": lambda: ARROW.to_reader(max_chunksize=64),
    "Arrow dictionary": lambda: ARROW.set_column(2, "qid", ARROW["qid"].dictionary_encode()),
    "Arrow views": lambda: cast(pa.string_view()),
    "Arrow large": lambda: cast(pa.large_string()),
    "Arrow stream": lambda: Stream(ARROW),
    "Arrow stream of polars": lambda: Stream(POLARS),
    "Arrow array": lambda: Record(ARROW.to_batches()[0]),
    "DuckDB": relation,
    "narwhals pandas": lambda: narwhals.from_native(PANDAS),
    "narwhals polars": lambda: narwhals.from_native(POLARS),
    "narwhals lazy": lambda: narwhals.from_native(POLARS.lazy()),
    "narwhals DuckDB": lambda: narwhals.from_native(relation()),
}


def plain(ids):
    """Ids as objects of Python; a structured array has bytes."""
    return [q.decode() if isinstance(q, bytes) else q for q in ids.tolist()]


def assert_same(found, expected):
    """Results are equal, bit by bit; ids are equal as objects of Python."""
    assert plain(found.qid) == plain(expected.qid)
    assert found.per_query.keys() == expected.per_query.keys()
    for name, values in expected.per_query.items():
        assert found.per_query[name].tobytes() == values.tobytes(), name
    assert repr(found.mean()) == repr(expected.mean())
    assert (found.weight is None) == (expected.weight is None)
    if expected.weight is not None:
        assert found.weight.tobytes() == expected.weight.tobytes()


@pytest.mark.parametrize("kind", TABLES)
def test_any_table_gives_the_values_of_the_arrays(kind):
    found = evaluate_table(TABLES[kind](), sample_weight="weight", by="country", clusters="country")
    expected = evaluate(LABEL, SCORE, qid=QID, sample_weight=WEIGHT, by={"country": COUNTRY}, clusters=COUNTRY)
    assert_same(found, expected)
    assert plain(found.attributes["country"]) == plain(expected.attributes["country"])
    assert plain(found.clusters) == plain(expected.clusters)


@pytest.mark.parametrize("kind", TABLES)
def test_a_piece_is_any_table(kind):
    expected = evaluate(LABEL, SCORE, qid=QID, sample_weight=WEIGHT)
    assert_same(evaluate_table(iter([TABLES[kind]()]), sample_weight="weight"), expected)


STREAMS = ("DuckDB", "Arrow reader", "Arrow stream", "Arrow stream of polars")


@pytest.mark.parametrize("kind", STREAMS)
def test_a_stream_is_read_in_pieces_on_request(kind, tmp_path):
    expected = evaluate(LABEL, SCORE, qid=QID, sample_weight=WEIGHT)
    for how in ({"memory_limit": 2000}, {"folder": tmp_path}):
        found = evaluate_table(TABLES[kind](), sample_weight="weight", **how)
        assert_same(found, expected)
        with pytest.raises(ValueError, match="Ties need the data"):
            found.tie_range()
        with pytest.raises(TypeError, match=r"tie_break= is read of a table in memory.*Got tie_break='other'"):
            evaluate_table(TABLES[kind](), tie_break="other", **how)
    assert evaluate_table(TABLES[kind]()).tie_range()
    with pytest.raises(ValueError, match=r"Got query .* again in row"):
        evaluate_table(TABLES[kind](), assume_grouped=True)


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"assume_grouped": True}, "assume_grouped=True"),
        ({"folder": "/tmp"}, "folder='/tmp'"),
        ({"memory_limit": 9}, "memory_limit=9"),
    ],
)
@pytest.mark.parametrize("kind", [kind for kind in TABLES if kind not in STREAMS])
def test_a_table_in_memory_has_no_pieces(kind, given, named):
    with pytest.raises(TypeError, match=rf"memory_limit= and folder= are for data in pieces.*Got {named} with a table"):
        evaluate_table(TABLES[kind](), **given)


@pytest.mark.parametrize("data", [[PANDAS], iter([PANDAS]), "rows.csv"], ids=["list", "iterator", "path"])
def test_pieces_have_no_order_of_rows(data):
    with pytest.raises(TypeError, match=r"read_parquet\(path\)\. Got tie_break='country' with data in pieces: "):
        evaluate_table(data, tie_break="country")


def test_attributes_and_clusters_in_pieces(tmp_path):
    """Values are those of the table in memory, whose queries continue in other pieces and have longer texts there."""
    query = np.arange(400) // 4
    frame = pd.DataFrame(
        {"qid": query, "label": np.arange(400) % 3, "score": np.arange(400) * 7 % 11.0, "user": query // 5}
    )
    frame = frame.assign(country=np.array(["a", "bb", "ccc"])[query % 3], weight=query % 2 + 1)
    frame = frame.sample(frac=1, random_state=0)
    asked = {"by": ["country", "user"], "clusters": "user", "sample_weight": "weight", "metrics": "p@2"}
    expected = evaluate_table(frame, **asked)
    pieces = [frame[:150], frame[150:]]
    for i, piece in enumerate(pieces):
        piece.to_parquet(tmp_path / f"{i}.parquet", row_group_size=30)
    for data in (tmp_path, pieces):
        found = evaluate_table(data, **asked)
        assert found.attributes["country"].tolist() == expected.attributes["country"].tolist()
        assert found.attributes["user"].dtype == expected.attributes["user"].dtype
        assert repr(found.segments()) == repr(expected.segments())
        assert found.confidence_interval() == expected.confidence_interval()
    for i, piece in enumerate(pieces):
        piece.to_csv(tmp_path / f"{i}.csv", index=False)
    found = evaluate_table([tmp_path / "0.csv", tmp_path / "1.csv"], by="user")
    assert {*found.attributes["user"]} == {*map(str, range(20))}
    last = pieces[1].assign(country="x")
    for name in ("by", "clusters"):
        with pytest.raises(ValueError, match=rf"{name} is a property of whole queries.* Got 'b*' and 'x' in query \d"):
            evaluate_table([pieces[0][pieces[0].country == "bb"], last], **{name: "country"})
    with pytest.raises(TypeError, match="by= and clusters= name columns, so batches must be tables"):
        evaluate_table([([0, 1], [1, 2], [1, 1])], by="country")


LABELS = {
    "int8": (pl.Int8, pa.int8(), "Int8"),
    "uint64": (pl.UInt64, pa.uint64(), "UInt64"),
    "float32": (pl.Float32, pa.float32(), "Float32"),
    "float64": (pl.Float64, pa.float64(), "Float64"),
    "bool": (pl.Boolean, pa.bool_(), "boolean"),
    "decimal": (pl.Decimal(10, 1), pa.decimal128(21, 1), None),
}


@pytest.mark.parametrize("nulls", [False, True])
@pytest.mark.parametrize("kind", LABELS)
def test_labels_of_any_type(kind, nulls):
    """A null is an unjudged document, in every library."""
    of_polars, of_arrow, of_pandas = LABELS[kind]
    labels = np.minimum(LABEL, 1) if kind == "bool" else LABEL
    missing = (np.arange(N) % 7 == 0) & nulls
    expected = evaluate(np.where(missing, np.nan, labels), SCORE, qid=QID, unjudged="drop")
    column = pl.Series([None if m else x for x, m in zip(labels.tolist(), missing, strict=True)])
    polars = POLARS.with_columns(label=column.cast(of_polars))
    arrow = ARROW.set_column(0, "label", pa.array(labels, mask=missing).cast(of_arrow))
    frames = [polars, polars.lazy(), arrow, arrow.to_reader(), duckdb.connect().from_arrow(arrow)]
    frames += [arrow.to_pandas(types_mapper=pd.ArrowDtype)]
    if of_pandas:
        frames += [PANDAS.assign(label=pd.array(column.to_list(), dtype=of_pandas))]
    for frame in frames:
        assert_same(evaluate_table(frame, unjudged="drop"), expected)


def test_columns_may_have_the_names_of_attributes():
    """The columns of a pandas frame are also its attributes."""
    names = ("column_names", "collect_schema", "dtype", "get_columns", "get_fragments", "per_query", "to_native")
    frame = PANDAS.rename(columns={"label": "y_true", "score": "y_score"})
    frame = frame.assign(**dict.fromkeys([*names, "to_pandas", "doc_id", "type", "n_undefined"], 1))
    expected = evaluate(LABEL, SCORE, qid=QID)
    for data in (frame, [frame]):
        assert_same(evaluate_table(data, y_true="y_true", y_score="y_score"), expected)
    with pytest.raises(TypeError, match="A table goes to evaluate_table"):
        evaluate(frame, "y_score")


@pytest.mark.filterwarnings("ignore:A boolean is no id:sklearn_rank.exceptions.RankingWarning")
@pytest.mark.parametrize("kind", ["int16", "uint64", "float64", "datetime64[us]", "bool"])
def test_frame_ids_of_any_type(kind):
    ids = (QUERY % 2).astype(bool) if kind == "bool" else QUERY.astype(kind)
    expected = evaluate(LABEL, SCORE, qid=ids)
    for frame in (
        PANDAS.assign(qid=ids), POLARS.with_columns(qid=pl.Series(ids)), ARROW.set_column(2, "qid", pa.array(ids)),
    ):  # fmt: skip
        found = evaluate_table(frame)
        assert found.qid.astype(expected.qid.dtype).tolist() == expected.qid.tolist()
        assert found.mean() == expected.mean()


def test_other_names_subtopics_and_the_order_of_ties():
    frame = POLARS.rename({"label": "grade", "score": "bm25", "qid": "topic"})
    names = {"y_true": "grade", "y_score": "bm25", "qid": "topic"}
    assert_same(evaluate_table(frame, **names), evaluate(LABEL, SCORE, qid=QID))
    found = evaluate_table(frame, **names, tie_break="other", ties="stable")
    assert_same(found, evaluate(LABEL, SCORE, qid=QID, tie_break=ARRAYS["other"], ties="stable"))
    topics = np.column_stack([LABEL > 0, LABEL > 1])
    frame = frame.with_columns(a=topics[:, 0], b=topics[:, 1])
    found = evaluate_table(frame.lazy(), **names | {"y_true": ["a", "b"]}, metrics="alpha_ndcg@5")
    assert_same(found, evaluate(topics, SCORE, qid=QID, metrics="alpha_ndcg@5"))


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "Arrow"])
def test_floats_are_not_copied(make):
    """Labels that are grades become bytes."""
    table = make({"label": LABEL + 0.5, "score": SCORE, "qid": QUERY})
    queries = evaluate_table(table)._kept_data.queries
    for name, found in (("label", queries.label), ("score", queries.score)):
        assert np.shares_memory(found, np.asarray(table[name]))


def test_of_a_plan_only_the_named_columns_are_collected():
    def refuse(_):
        raise AssertionError("read")

    plan = POLARS.lazy().with_columns(other=pl.col("other").map_elements(refuse, return_dtype=pl.Int64))
    assert_same(evaluate_table(plan), evaluate(LABEL, SCORE, qid=QID))
    columns = "label, score, qid, case when other >= 0 then error('read') end as other"
    plan = duckdb.connect().from_arrow(ARROW).project(columns)
    assert_same(evaluate_table(plan), evaluate(LABEL, SCORE, qid=QID))
    assert_same(evaluate_table(plan, memory_limit=2**20), evaluate(LABEL, SCORE, qid=QID))


# --- errors --------------------------------------------------------------------------------------------------


OTHER_NAMES = {"label": "relevance", "score": "Score", "qid": "query_id"}


def unread():
    """A stream that must not be read."""

    def batches():
        raise AssertionError("read")
        yield

    schema = ARROW.schema
    renamed = [OTHER_NAMES.get(name, name) for name in schema.names]
    schema = pa.schema([field.with_name(name) for field, name in zip(schema, renamed, strict=True)])
    return pa.RecordBatchReader.from_batches(schema, batches())


@pytest.mark.parametrize(
    "make",
    [
        lambda: PANDAS.rename(columns=OTHER_NAMES),
        lambda: POLARS.rename(OTHER_NAMES).lazy(),
        lambda: duckdb.connect().from_df(PANDAS.rename(columns=OTHER_NAMES)).filter("error('read')"),
        unread,
    ],
    ids=["pandas", "polars", "DuckDB", "Arrow"],
)
def test_all_missing_columns_are_named_with_suggestions(make):
    message = (
        "data must have each of the columns once: y_true='label', y_score='score', qid='qid'. Got no 'label' and no "
        "'score' and no 'qid' among 'relevance', 'Score', 'query_id', 'weight', 'country', 'other'. "
        "Did you mean y_true='relevance', y_score='Score', qid='query_id'?"
    )
    with pytest.raises(ValueError, match=re.escape(message)):
        evaluate_table(make())


def test_columns_that_are_there_twice():
    twice = [
        pd.concat([PANDAS, PANDAS[["score"]]], axis=1),
        pa.table([LABEL, SCORE, SCORE, QID], names=["label", "score", "score", "qid"]),
        duckdb.connect().sql("select 1 as label, 2 as score, 3 as score, 4 as qid"),
    ]
    for table in twice:
        with pytest.raises(ValueError, match=r"once.*Got 2 'score' among 'label', 'score'"):
            evaluate_table(table)


def test_of_many_columns_few_are_listed():
    wide = pd.DataFrame(np.ones((1, 140)), columns=[f"feature {i}" for i in range(140)])
    with pytest.raises(ValueError, match=r"'feature 19', \.\.\.\.$"):
        evaluate_table(wide)


def test_a_column_with_another_role_is_not_meant():
    with pytest.raises(ValueError, match=r"Got no 'labels' among .*Did you mean y_score='score'\?$"):
        evaluate_table(PANDAS, y_score="labels")


@pytest.mark.parametrize("name", ["score", "qid"])
def test_scores_and_ids_are_never_null(name):
    null = POLARS.with_columns(pl.when(pl.col("other") != 5).then(name).alias(name))
    for table in (null, null.lazy(), null.to_arrow(), null.to_pandas(), duckdb.connect().from_arrow(null.to_arrow())):
        with pytest.raises(ValueError, match=rf"column '{name}' must not contain.*The columns are .*{name}='{name}'"):
            evaluate_table(table)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"y_score": "label"}, ValueError, r"must be different columns.*Got 'label' as y_true and as y_score\."),
        ({"qid": "label"}, ValueError, r"must be different columns.*Got 'label' as y_true and as qid\."),
        ({"y_score": ["score", "other"]}, TypeError, r"named by a str.*compare_systems\(data, \["),
        ({"y_score": SCORE}, TypeError, r"named by a str.*Arrays go to evaluate\(y_true, y_score, qid=qid\)"),
        ({"y_true": []}, TypeError, r"Got \[\] for y_true"),
        ({"by": pd.Series(["de", "fr", "de"])}, TypeError, r"each once.*for by\. Arrays go to evaluate"),
        ({"y_score": None}, TypeError, "Got None for y_score"),
        ({"k": 10}, TypeError, "The cutoff goes into the name of a metric"),
        ({"query_id": "qid"}, TypeError, "qid= is the query of each row"),
        ({"label": "relevance"}, TypeError, "y_true is the relevance of each row"),
        ({"n_jobs": 0}, ValueError, "'n_jobs' parameter"),
        ({"memory_limit": 0}, ValueError, "'memory_limit' parameter must be a number of bytes.*Got 0"),
        ({"metrics": "ndgc"}, ValueError, "Did you mean 'ndcg'"),
    ],
)  # fmt: skip
def test_arguments_are_checked_before_data_are_read(keywords, error, message):
    with pytest.raises(error, match=message):
        evaluate_table(unread(), **keywords)


@pytest.mark.parametrize(
    ("table", "keywords", "message"),
    [
        (PANDAS, {"by": "other"}, r"by\['other'\] is a property of whole queries.*in query .*by='other'"),
        (PANDAS, {"clusters": "other"}, "clusters is a property of whole queries"),
        (PANDAS, {"sample_weight": "other"}, "sample_weight weights whole queries"),
        (PANDAS[:0], {}, "At least one row is needed"),
        (ARROW[:0].to_reader(), {}, "At least one row is needed"),
        (PANDAS.set_index(pd.Index(ARRAYS["other"], name="qid")), {}, "must name the same queries"),
        ({**ARRAYS, "score": [1.0]}, {}, "must have one entry per row"),
    ],
)  # fmt: skip
def test_faults_of_the_data(table, keywords, message):
    with pytest.raises(ValueError, match=message):
        evaluate_table(table, **keywords)


def test_without_narwhals(monkeypatch):
    """pandas, polars, Arrow, dicts and streams need no pyarrow; a table without a stream does."""
    monkeypatch.setitem(sys.modules, "narwhals", None)
    monkeypatch.setattr("sklearn_rank._tables.columns.find_spec", lambda name: None)
    for kind in ("pandas", "polars", "polars lazy", "Arrow", "Arrow reader", "Arrow stream", "dict", "DuckDB"):
        assert_same(evaluate_table(TABLES[kind]()), evaluate(LABEL, SCORE, qid=QID))
    with pytest.raises(ImportError, match=r'Other needs narwhals: pip install "sklearn-rank\[frames\]"'):
        evaluate_table(type("Other", (), {"columns": ["label"]})())


def test_a_table_of_an_unknown_library():
    with pytest.raises(TypeError, match=r"data must be a frame of pandas or polars.*Got Other\."):
        evaluate_table(type("Other", (), {"columns": ["label"]})())


@pytest.mark.parametrize(
    "names", [{"y_true": ["label", 3]}, {"y_true": [3, "label"]}, {"by": ["country", None]}, {"y_true": []}]
)
def test_each_name_of_several_is_a_str(names):
    with pytest.raises(TypeError, match="A column is named by a str"):
        evaluate_table(PANDAS, **names, metrics="alpha_ndcg")
