"""Tables by column names: the same values whatever holds them, and nothing silently lost."""

import errno
import io
import os
import pickle
import subprocess
import sys
from contextlib import nullcontext

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank import evaluate, evaluate_table
from sklearn_rank.io import _tables, read_qrels, read_run, read_table

NAMES = {"y_true": "label", "y_score": "model", "qid": "query"}


@pytest.fixture
def columns(rng):
    n = 300
    label = rng.integers(0, 4, n).astype(float)
    score = np.round(rng.normal(size=n), 1)
    score[rng.random(n) < 0.1] = -np.inf
    return {"query": [f"q {i}" for i in rng.integers(0, 20, n)], "label": label, "model": score, "doc": np.arange(n)}


def arrow(columns):
    return pytest.importorskip("pyarrow").table(columns)


def file_of(write):
    file = io.BytesIO()
    write(file)
    file.seek(0)
    return file


def parquet(columns, **options):
    table = arrow(columns)
    from pyarrow import parquet

    return file_of(lambda file: parquet.write_table(table, file, **options))


def ipc(columns, kind, codec=None):
    table = arrow(columns)
    from pyarrow import ipc

    def write(file):
        with getattr(ipc, kind)(file, table.schema, options=ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_table(table)

    return file_of(write)


def csv(columns):
    pytest.importorskip("pyarrow")
    return file_of(lambda file: pd.DataFrame(columns).to_csv(file, index=False))


TABLES = {
    "arrays": dict,
    "lists": lambda columns: {name: list(column) for name, column in columns.items()},
    "pandas": pd.DataFrame,
    "pandas, index": lambda columns: pd.DataFrame(columns).set_index("query"),
    "pandas, nullable": np.errstate(invalid="ignore")(  # pandas 2.2 tries whether inf is whole
        lambda columns: pd.DataFrame(columns).convert_dtypes()
    ),
    "pandas, categorical": lambda columns: pd.DataFrame(columns).astype({"query": "category"}),
    "polars": pl.DataFrame,
    "polars, lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "polars, categorical": lambda columns: pl.DataFrame(columns).cast({"query": pl.Categorical}),
    "arrow": arrow,
    "arrow, dictionary": lambda columns: arrow(columns).set_column(
        0, "query", arrow(columns)["query"].dictionary_encode()
    ),
    "arrow batch": lambda columns: arrow(columns).to_batches()[0],
    "parquet": parquet,
    "arrow file": lambda columns: ipc(columns, "new_file"),
    "arrow stream": lambda columns: ipc(columns, "new_stream"),
    "csv": csv,
}


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_the_same_values_from_any_table(make, columns):
    metrics = ["ndcg@10", "map", "mrr", "bpref"]
    expected = evaluate(columns["label"], columns["model"], qid=columns["query"], metrics=metrics)
    data = read_table(make(columns), **NAMES, doc_id="doc")
    result = evaluate(data.y_true, data.y_score, qid=data.qid, metrics=metrics)
    assert result.qid.tolist() == expected.qid.tolist()
    for name, values in expected.per_query.items():
        assert_array_equal(result.per_query[name], values)
    assert_array_equal(data.doc_id.astype(int), columns["doc"])
    assert "300 rows" in repr(data)


FILES = {name: TABLES[name] for name in ("parquet", "arrow file", "arrow stream", "csv")}


@pytest.fixture
def before_arrow_reads(monkeypatch):
    """Have a function called before a reader of Arrow is."""
    pytest.importorskip("pyarrow")
    from pyarrow import csv, ipc, parquet

    def patch(first):
        for module, name in (csv, "read_csv"), (ipc, "open_file"), (ipc, "open_stream"), (parquet, "ParquetFile"):
            read = getattr(module, name)
            monkeypatch.setattr(
                module, name, lambda *args, read=read, **keywords: (first(), read(*args, **keywords))[1]
            )

    return patch


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_arrow_holds_no_memory_of_python(make, columns, monkeypatch, before_arrow_reads):
    """A thread of Arrow that frees such memory after Python has ended aborts the process."""
    content, held = make(columns).getvalue(), []
    before_arrow_reads(lambda: held.append(sys.getrefcount(content)))
    monkeypatch.setattr(_tables, "open_to_read", lambda *_: nullcontext(io.BytesIO(content)))
    before = sys.getrefcount(content)
    assert len(read_table(io.BytesIO(), **NAMES).y_true) == 300
    assert {*held} == {before}


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_read_table_survives_overwriting_the_file(make, columns, tmp_path):
    path, other = tmp_path / "table", columns | {"label": columns["label"] + 1}
    path.write_bytes(make(columns).getvalue())
    table = _tables.opened(path, ["query"], ["label", "model"])
    first = read_table(table, **NAMES)
    path.write_bytes(make(other).getvalue())
    for data in first, read_table(table, **NAMES):
        assert_array_equal(data.y_true, columns["label"])
        assert_array_equal(data.y_score, columns["model"])
    assert_array_equal(read_table(path, **NAMES).y_true, other["label"])


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_a_file_that_is_cut_short_while_it_is_read(make, columns, tmp_path, before_arrow_reads):
    """An error, not the end of the process."""
    path = tmp_path / "table"
    path.write_bytes(make(columns).getvalue())
    before_arrow_reads(lambda: os.truncate(path, 0))
    with pytest.raises(ValueError, match=r"A table is a file of CSV.* Got .*table: "):
        read_table(path, **NAMES)


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_an_error_of_the_disk_is_no_fault_of_the_file(make, columns, tmp_path, before_arrow_reads):
    def fail():
        raise OSError(errno.EIO, "Input/output error")

    path = tmp_path / "table"
    path.write_bytes(make(columns).getvalue())
    before_arrow_reads(fail)
    with pytest.raises(OSError, match="Input/output error"):
        read_table(path, **NAMES)


def test_a_stream_of_arrow_that_ends_early_is_named(columns, tmp_path):
    path = tmp_path / "table"
    path.write_bytes(ipc(columns, "new_stream").getvalue()[:-900])
    with pytest.raises(ValueError, match=r"A table is a file of CSV.* Got .*table: Expected to be able to read"):
        read_table(path, **NAMES)


def test_columns_that_are_lists_are_refused_if_they_are_needed():
    pa = pytest.importorskip("pyarrow")
    columns = {"qid": ["a", "a"], "label": [1.0, 0.0], "score": [0.5, 0.1], "doc_id": ["x", "y"]}
    lists = pa.array([[1], [2]])
    for make in parquet, lambda columns: ipc(columns, "new_file"), lambda columns: ipc(columns, "new_stream"):
        assert read_table(make(columns | {"list": lists})).y_true.tolist() == [1, 0]
        assert read_run(make(columns | {"list": lists})).value.tolist() == [0.5, 0.1]
        for nested in (lists, pa.array([[1], [2]], pa.large_list(pa.int64())), pa.array([{"a": 1}, {"a": 2}])):
            with pytest.raises(TypeError, match="Column 'qid' must hold numbers or ids, one a row. Got [a-z_]+<"):
                read_table(make(columns | {"qid": nested}))


def test_all_kinds_of_text_are_read():
    pa = pytest.importorskip("pyarrow")
    long = "longer than 12 bytes"  # without it, pyarrow before 25 crashes when it compresses views
    text = pa.array(["a\0", "b", "b", long])
    numbers = {"label": [1.0, 0.0, 2.0, 1.0], "score": [0.5, 0.1, 0.2, 0.3]}
    kinds = [text, text.cast(pa.large_string()), text.cast(pa.string_view()), text.dictionary_encode()]
    kinds += [pa.RunEndEncodedArray.from_arrays([1, 3, 4], ["a\0", "b", long])]
    plain = {"use_dictionary": False, "column_encoding": "PLAIN"}
    delta = {"use_dictionary": False, "column_encoding": {"qid": "DELTA_BYTE_ARRAY"}}
    files = [ipc(numbers | {"qid": kind}, of, "lz4") for kind in kinds for of in ("new_file", "new_stream")]
    files += [parquet(numbers | {"qid": kind}, **more) for kind in kinds[:4] for more in ({}, plain)]
    for file in [*files, parquet(numbers | {"qid": text}, **delta)]:
        data = read_table(file)
        assert np.asarray(data.qid).tolist() == ["a\0", "b", "b", long]
        assert data.y_true.tolist() == [1, 0, 2, 1]


def test_batches_may_have_different_dictionaries():
    pa = pytest.importorskip("pyarrow")
    ids = ["a", "b"], ["c", None], ["b", "a"]
    parts = [pa.table({"qid": pa.array(of).dictionary_encode(), "doc_id": ["x", "y"]}) for of in ids]
    file = io.BytesIO()
    with pa.ipc.new_stream(file, parts[0].schema) as writer:
        for part in parts:
            writer.write_table(part)
    with pytest.raises(ValueError, match="column 'qid' must not have missing values. Got 1, the first in row 3"):
        read_qrels(io.BytesIO(file.getvalue()))


# --- damage --------------------------------------------------------------------------------------------------


def small(kind):
    """Columns with ids in one of Arrow's text types."""
    pa = pytest.importorskip("pyarrow")
    text = pa.array(["a", "bb", "ccc", "dddd"])
    ids = {
        "string": text, "large_string": text.cast(pa.large_string()), "string_view": text.cast(pa.string_view()),
        "dictionary": text.dictionary_encode(), "runs": pa.RunEndEncodedArray.from_arrays([1, 3, 4], ["a", "b", "c"]),
        "decimal": pa.array([1, 2, 3, 4]).cast(pa.decimal128(25, 2)),
    }[kind]  # fmt: skip
    return {"label": [1.0, 0.0, 2.0, 1.0], "score": [0.5, 0.1, 0.2, 0.3], "qid": ids}


STARTS = [0, 1, 3, 6, 10]
OFFSETS = {"string": (STARTS, "i4"), "large_string": (STARTS, "i8"), "dictionary": ([0, 1, 2, 3], "i4")}
"""Where text begins, and which text of the dictionary each row has."""


@pytest.mark.parametrize("of", ["new_file", "new_stream"])
@pytest.mark.parametrize("kind", OFFSETS)
def test_offsets_beyond_an_array(kind, of, tmp_path):
    """Arrow follows them to any address, which ends the process, never ends, or shows its memory."""
    offsets, dtype = OFFSETS[kind]
    right, content = np.array(offsets, dtype).tobytes(), ipc(small(kind), of).getvalue()
    place = content.index(right)
    for i in range(1, len(offsets)):
        for wrong in (-1, 2**30, 2**31 - 1):
            other = np.array(offsets, dtype)
            other[i] = wrong
            (tmp_path / "table").write_bytes(content[:place] + other.tobytes() + content[place + len(right) :])
            with pytest.raises(ValueError, match=r"A table is a file of CSV.* Got .*table: ") as caught:
                read_table(tmp_path / "table")
            assert len(str(caught.value)) < 1000
    if of == "new_file":
        data_set = pytest.importorskip("pyarrow.dataset").dataset(tmp_path / "table", format="arrow")
        with pytest.raises(ValueError, match=r"must be whole.* Got .*table: "):
            evaluate_table(data_set, metrics="map")


ANY_BYTE = """
import io, pickle, sys
import numpy as np
from sklearn_rank.io import read_table
rng = np.random.default_rng(0)
for kind, content in pickle.load(sys.stdin.buffer).items():
    print(kind, flush=True)
    for place in range(len(content)):
        other = bytearray(content)
        other[place] ^= int(rng.integers(1, 256))
        try:
            read_table(io.BytesIO(other))
        except (ValueError, TypeError) as error:
            assert len(str(error)) < 1000, error
            assert type(error).__module__.startswith(("builtins", "sklearn_rank")), error
"""


@pytest.mark.slow
@pytest.mark.parametrize("make", ["new_file", "new_stream", "parquet"])
def test_any_byte_of_arrow_may_be_another(make):
    """It is read or refused in our words, and the process goes on."""
    kinds = ["string", "dictionary", "decimal", *["string_view", "runs"] * (make != "parquet")]
    contents = {kind: (parquet(small(kind)) if make == "parquet" else ipc(small(kind), make)).read() for kind in kinds}
    command = [sys.executable, "-W", "ignore", "-c", ANY_BYTE]
    done = subprocess.run(command, input=pickle.dumps(contents), capture_output=True, timeout=300)
    assert (done.returncode, done.stdout.decode().split()) == (0, kinds), done.stderr[-2000:]


DAMAGED_DICTIONARY = """
import sys
from pyarrow import dataset
from sklearn_rank import evaluate_table
for _ in range(150):
    try:
        evaluate_table(dataset.dataset(sys.argv[1], format="arrow"), metrics="map")
    except ValueError as error:
        assert "Got " + sys.argv[1] in str(error), error
    else:
        raise AssertionError
print("whole")
"""


@pytest.mark.slow
def test_a_damaged_dictionary_in_a_data_set(tmp_path):
    """It ended the process, because Arrow reads ahead in other threads."""
    content = ipc({"doc_id": ["x", "y", "x", "y"]} | small("dictionary"), "new_file").getvalue()
    # The message of the dictionary follows that of the schema; each begins with four bytes of 255.
    place = content.index(b"\xff\xff\xff\xff", content.index(b"\xff\xff\xff\xff") + 4) + 8
    path = tmp_path / "rows.arrow"
    path.write_bytes(content[:place] + b"\xff" * 8 + content[place + 8 :])
    command = [sys.executable, "-W", "ignore", "-c", DAMAGED_DICTIONARY, str(path)]
    done = subprocess.run(command, capture_output=True, timeout=300)
    assert (done.returncode, done.stdout.split()) == (0, [b"whole"]), done.stderr[-2000:]


@pytest.mark.parametrize("make", FILES.values(), ids=FILES)
def test_names_of_columns_that_are_no_text(make, columns):
    content = make(columns).getvalue().replace(b"label", b"l\xffbel")
    with pytest.raises(ValueError, match=r"Got BytesIO: |must be one of the table's"):
        read_table(io.BytesIO(content), **NAMES)


def test_values_that_python_does_not_have():
    pa = pytest.importorskip("pyarrow")
    times = pa.array([1, 2], pa.time64("ns"))
    for make in parquet, lambda columns: ipc(columns, "new_file"):
        with pytest.raises(
            ValueError, match=r"A table is a file of CSV.* Got BytesIO: Value 1 has non-zero nanoseconds"
        ):
            read_table(make({"label": [1.0, 0.0], "score": [1.0, 2.0], "qid": times}))


@pytest.mark.parametrize("make", [make for name, make in TABLES.items() if name != "lists"])
def test_missing_values(make, columns):
    for name in ("query", "model"):
        broken = columns | {name: [None if i == 5 else v for i, v in enumerate(columns[name])]}
        with pytest.raises(ValueError, match="row 5"):
            read_table(make(broken), **NAMES)
    broken = columns | {"label": [None if i == 5 else v for i, v in enumerate(columns["label"])]}
    assert np.flatnonzero(np.isnan(read_table(make(broken), **NAMES).y_true)).tolist() == [5]


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
def test_columns_of_the_wrong_type_or_name(make, columns):
    for name in ("label", "model"):
        broken = columns | {name: ["high" for _ in columns[name]]}
        with pytest.raises(TypeError, match=f"Column '{name}' must hold real numbers. Got "):
            read_table(make(broken), **NAMES)
    with pytest.raises(ValueError, match="A column must be one of the table's: .*'label'.* Got 'grade', 0 times"):
        read_table(make(columns), **NAMES | {"y_true": "grade"})


@pytest.mark.parametrize("name", ["query", "doc"])
def test_ids_of_csv_are_strings(name):
    pytest.importorskip("pyarrow")
    text = f"{name},label,model\n007,1,0.5\nNA,,nan\n".encode()
    entries = {"query": "qid", "doc": "doc_id"}[name]
    data = read_table(io.BytesIO(text.replace(b"nan", b"1")), **NAMES | {"qid": name})
    assert np.asarray(data.qid).tolist() == ["007", "NA"], entries
    assert np.isnan(data.y_true).tolist() == [False, True]


def test_files_that_are_no_tables(tmp_path):
    pytest.importorskip("pyarrow")
    said = r"A table is a file of CSV, with commas, tabs or semicolons between fields, JSON lines, Parquet or Arrow"
    for data in (b"PAR1 and then nothing", b"qid,label,score\n1\n1,2,3\n", b""):
        with pytest.raises(ValueError, match=said):
            read_table(io.BytesIO(data))
    with pytest.raises(TypeError, match=r"a frame, a mapping of arrays, or a file\..* Got list"):
        read_table([1, 2])


def test_files_without_pyarrow_name_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[arrow\]"'):
        read_table("table.parquet")


def test_a_document_is_in_a_query_once():
    table = {"query": [1, 2, 1], "label": [0, 1, 2], "model": [1, 2, 3], "doc": ["a", "a", "a"]}
    assert len(read_table(table, **NAMES).y_true) == 3
    with pytest.raises(ValueError, match="Got document 'a' of query 1 again in row 2, first in row 0"):
        read_table(table, **NAMES, doc_id="doc")


def test_duplicate_columns_in_a_file():
    pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match="Got 'query', 2 times there"):
        read_table(io.BytesIO(b"query,query,label,model\na,a,1,1\n"), **NAMES)


def test_duplicate_columns_in_a_table():
    frame = pd.DataFrame([[1, 1, 0.5]], columns=["query", "query", "model"])
    with pytest.raises(ValueError, match="Got 'query', 2 times there"):
        read_table(frame, **NAMES | {"y_true": "model"})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc": ["a", "a"]}, "Got document 'a' of query 1 again in row 1, first in row 0"),
        ({"doc": ["a", None]}, "column 'doc' must not have missing values. Got 1, the first in row 1"),
        ({"query": [1, np.nan]}, "column 'query' must not have missing values"),
        ({"model": [1, np.nan]}, "Column 'model' must hold finite numbers. Got nan in row 1"),
        ({"model": [1, -np.inf]}, "Column 'model' must hold finite numbers. Got -inf in row 1"),
        ({"model": [1]}, "one entry per row"),
        ({"model": [], "doc": [], "query": []}, "at least one row"),
    ],
)
def test_entries_that_are_wrong(change, message):
    table = {"query": [1, 1], "doc": ["a", "b"], "model": [0.5, 0.4]} | change
    with pytest.raises(ValueError, match=message):
        read_run(table, value="model", qid="query", doc_id="doc")


@pytest.mark.parametrize("missing", ["", "nan", "NaN", "NA", "null"])
def test_words_for_missing_labels(missing):
    data = read_table(io.BytesIO(f"label,score,qid\n{missing},1,a\n0,2,NA\n".encode()))
    assert_array_equal(data.y_true, [np.nan, 0])
    assert np.asarray(data.qid).tolist() == ["a", "NA"]


@pytest.mark.parametrize("ids", [[1.0, np.nan], np.array([1.0, np.nan]), np.array(["2020", "NaT"], dtype="M8[D]")])
def test_the_row_of_a_missing_id(ids):
    with pytest.raises(ValueError, match="column 'qid' must not have missing values. Got 1, the first in row 1"):
        read_table({"label": [0, 1], "score": [1, 2], "qid": ids})
