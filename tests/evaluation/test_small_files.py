"""Small files that are large: shapes are compared before arrays are read, and readers count the memory they take."""

import gzip
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from changed_files import changed
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, compare_systems, evaluate
from sklearn_rank._utils import storage
from sklearn_rank._utils.storage import SavedArrays
from sklearn_rank.datasets import make_ranking
from sklearn_rank.io import (
    read_entries,
    read_qrels,
    read_run,
    read_svmlight,
    read_table,
    read_trec_qrels,
    read_trec_run,
)
from sklearn_rank.io._source import Memory, complete_lines
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare_judged, judge_agreement, judged_interval, no_worse

X, Y, QID = make_ranking(n_queries=40, random_state=0)


def independent(n, score=X[:, 0]):
    """Values of the first rows, whose queries have no weight and no cluster."""
    return evaluate(Y[:n], score[:n], qid=QID[:n], metrics=["ndcg@5", "map"])


def by_both_judges(score):
    return independent(400, score), independent(len(Y), score)


def evaluation():
    of_rows = {"sample_weight": QID + 1.0, "by": QID % 7, "clusters": QID % 7}
    return evaluate(Y, X[:, 0], qid=QID, metrics=["ndcg@5", "map"], **of_rows)


def comparison():
    return RankingEvaluator(["ndcg@5", "map"], cv=3).compare({"a": Ridge(), "b": Ridge(alpha=9)}, X, Y, qid=QID)


def evaluation_of_some_judged():
    labels = np.where(np.arange(len(Y)) % 9, Y, np.nan)
    return evaluate(labels, X[:, 0], qid=QID, metrics=["ndcg@5", "map"], unjudged="nonrelevant")


def explanation():
    qrels = {str(q): {f"d{i}": i % 3 for i in range(9)} for q in range(9)}
    runs = {name: {q: sorted(judged, reverse=name == "b") for q, judged in qrels.items()} for name in ("a", "b")}
    return compare_systems(qrels, runs, metrics="ndcg@5").explain("a", "b", "3")


RESULTS = {
    "Evaluation": evaluation,
    "some are judged": evaluation_of_some_judged,
    "Comparison": comparison,
    "JudgedInterval": lambda: judged_interval(independent(400), independent(len(Y))),
    "JudgedComparison": lambda: compare_judged(*map(by_both_judges, X.T[:2]), metric="map"),
    "GateResult": lambda: no_worse(evaluation(), evaluation(), margin=0.1),
    "JudgeAgreement": lambda: judge_agreement(Y, Y),
    "Explanation": explanation,
}


@pytest.fixture
def arrays_read(monkeypatch):
    """Names of the arrays whose entries are read."""
    read, taken = SavedArrays.__getitem__, []
    monkeypatch.setattr(SavedArrays, "__getitem__", lambda self, name: taken.append(name) or read(self, name))
    return taken


@pytest.mark.parametrize("name", RESULTS)
def test_headers_are_compared_before_an_array_is_read(name, arrays_read, tmp_path):
    """Each array in turn has fewer entries than the others, or more."""
    result = RESULTS[name]()
    result.save(tmp_path / "saved")
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    # Scores of rows are as many as those of the other models, and queries of the model alone are as many as there are.
    # Ids that are objects are lines, as many as the description says.
    known = {"meta", *json.loads(str(arrays["meta"]))["objects"]}
    tried = {one: array for one, array in arrays.items() if one not in known and not one.startswith("others")}
    for one, array in tried.items():
        axis = 0 if one.startswith("y_score") else -1
        for n in (-1, 1):
            other = np.delete(array, 0, axis) if n < 0 else np.append(array, array.take([0], axis), axis)
            np.savez(tmp_path / "made.npz", **(arrays | {one: other}))
            arrays_read.clear()
            with pytest.raises(ValueError, match="The file must hold a saved .*shape"):
                type(result).load(tmp_path / "made.npz")
            assert "meta" in arrays_read
            assert not {*arrays_read} & {*tried}
    assert tried


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"description": {"names": ["a"]}}, "two names"),
        ({"description": {"names": ["a", "b", "c"]}}, "two names"),
        ({"description": {"names": ["a", 1]}}, "two names"),
        ({"description": {"metric": 1}}, "'metric' as str"),
        ({"description": {"is_sum": 1}}, "'is_sum' as bool"),
        ({"description": {"greater_is_better": None}}, "'greater_is_better' as bool"),
        ({"numbers": np.zeros(4)}, "numbers must have shape"),
        ({"numbers": np.zeros(5, int)}, "numbers must not have dtype"),
        ({"label": np.zeros((1, 1))}, "label must have shape"),
        ({"description": lambda words: words["objects"].update(query=[1, 2])}, "query must have shape"),
        ({"description": lambda words: words["objects"].update(documents=8)}, "label must have shape"),
    ],
)
def test_parts_of_an_explanation_fit_together(change, message, tmp_path):
    found = RESULTS["Explanation"]()
    found.save(tmp_path / "saved")
    assert repr(type(found).load(changed(tmp_path / "saved"))) == repr(found)
    with pytest.raises(ValueError, match=f"The file must hold a saved Explanation.*{message}"):
        type(found).load(changed(tmp_path / "saved", **change))


def test_results_of_a_comparison_have_as_many_queries(arrays_read, tmp_path):
    comparison().save(tmp_path / "saved")
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    kept = {"y_score 1", "fold_means", "fit_time", "meta"}
    longer = {one: a[..., :-1] if one.endswith(" 1") and one not in kept else a for one, a in arrays.items()}
    np.savez(tmp_path / "made.npz", **longer)
    arrays_read.clear()
    with pytest.raises(ValueError, match="qid must have shape"):
        type(comparison()).load(tmp_path / "made.npz")
    assert arrays_read == ["meta"]


@pytest.mark.parametrize("model", ["a", "b"])
def test_each_result_of_a_comparison_has_its_metrics(model, tmp_path):
    comparison().save(tmp_path / "saved")
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    meta = json.loads(str(arrays["meta"]))
    meta["results"][model]["metrics"].reverse()
    np.savez(tmp_path / "made.npz", **(arrays | {"meta": np.array(json.dumps(meta))}))
    with pytest.raises(ValueError, match="results must have the same metrics"):
        type(comparison()).load(tmp_path / "made.npz")


# --- memory --------------------------------------------------------------------------------------------------

MEASURED = """
import sys
from sklearn_rank import io
from sklearn_rank.results import Evaluation

def peak():
    # What getrusage says begins with the memory of the process that started this one.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024

reader, small, *paths = sys.argv[1:]
read = Evaluation.load if reader == "load" else getattr(io, reader)
# What is imported and kept from call to call is not of a file.
read(small)
for path in paths:
    before, refused = peak(), ""
    try:
        read(path)
    except ValueError as error:
        refused = str(error)
    print(peak() - before, "memory_limit=" in refused, refused[:200].replace("\\n", " "), sep="\\t")
"""


def measured(reader, small, *paths):
    """Memory that reading each file took, whether the error names the keyword, and the error."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURED, reader, small, *paths],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [(int(n), named == "True", error) for n, named, error in rows]


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured so on Linux alone")
MB = 2**20


def packed(path, start, line, n_bytes):
    """A gzip file of a start and many times the same line."""
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(start)
        piece = line * (MB // len(line))
        for _ in range(n_bytes // len(piece)):
            file.write(piece)
    return path


def parquet_of_zeros(path, n):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    zeros = np.zeros(n)
    parquet.write_table(pa.table({"qid": zeros.astype(int), "label": zeros, "score": zeros}), path)
    return path


JSON_ROW = b'{"qid":1,"docid":1,"score":1}\n'
RUN, QRELS, SVM, CSV = b"q Q0 d 1 0.5 me\n", b"q 0 d 1\n", b"1 qid:1 1:1\n", b"qid,label,score\n"
BOMBS = {
    "blank lines in a run": ("read_trec_run", RUN, b"\n"),
    "lines of blanks in a run": ("read_trec_run", RUN, b" \n"),
    "lines of a run": ("read_trec_run", RUN, RUN),
    "no lines of a run": ("read_trec_run", RUN, b"x\n"),
    "queries of one row": ("read_trec_qrels", QRELS, b"a 0 d 1\nb 0 d 1\n"),
    "one line": ("read_trec_qrels", QRELS, b"x"),
    "lines of features": ("read_svmlight", SVM, SVM),
    "features": ("read_svmlight", SVM, b" 1:1"),
    "fields of one line": ("read_trec_run", RUN, b"x "),
    "rows of CSV without a value": ("read_table", CSV + b"1,1,1\n", b",,\n"),
    "rows of CSV": ("read_table", CSV + b"1,1,1\n", b"1,1,1\n"),
    "blank lines in CSV": ("read_table", CSV + b"1,1,1\n", b"\n"),
    "lines of three fields": ("read_run", b"q a 0.5\n", b"q d 1\n"),
    "lines of two fields": ("read_qrels", b"q a\n", b"a d\nb d\n"),
    "lines of BEIR": ("read_qrels", b"query-id\tcorpus-id\tscore\nq\ta\t1\n", b"q\td\t1\n"),
    "rows of CSV without a header": ("read_run", b"q,a,0.5\n", b"q,d,1\n"),
    "lines of JSON": ("read_run", JSON_ROW, JSON_ROW),
    "objects without a key": ("read_run", JSON_ROW, b"{}\n"),
    "blank lines in JSON": ("read_run", JSON_ROW, b"\n"),
}


@linux_only
@pytest.mark.parametrize("name", BOMBS)
def test_a_reader_takes_no_more_than_the_file_has(name, tmp_path):
    """At most 64 MiB and 50 times the bytes on disk, or an error that names the keyword that lifts the limit."""
    reader, start, line = BOMBS[name]
    small, large = (packed(tmp_path / f"{n}.gz", start, line, n * MB) for n in (0, 96))
    ((taken, named, error),) = measured(reader, small, large)
    assert taken <= 2**26 + 50 * large.stat().st_size, (taken / MB, error)
    assert named or "blank" in name or name in ("no lines of a run",), error


def test_an_array_of_ids_takes_as_much_as_the_longest_for_each():
    """A query of a long name makes the ids of all queries gigabytes."""
    queries = ["x" * 20_000, *map(str, range(5000))]
    mapping, rows = {q: {"d": 1} for q in queries}, [{"qid": q, "docid": "d", "score": 1} for q in queries]
    texts = [json.dumps(mapping), "\n".join(map(json.dumps, rows)), "".join(f"{q} Q0 d 1 1 me\n" for q in queries)]
    for text in texts:
        with pytest.raises(ValueError, match="raise memory_limit= of the reader"):
            read_run(io.StringIO(text))


def test_a_key_of_each_row_of_json_makes_no_column():
    """Each row has a key of its own; a column for each would have a million times as many entries."""
    rows = [{"qid": i, "docid": 1, "score": 1, f"k{i}": 1} for i in range(20_000)]
    assert len(read_run(io.StringIO("\n".join(map(json.dumps, rows))))) == len(rows)


@linux_only
def test_a_table_of_zeros_is_refused(tmp_path):
    small, large = (parquet_of_zeros(tmp_path / f"{n}.parquet", n) for n in (10, 10_000_000))
    ((taken, named, error),) = measured("read_table", small, large)
    assert taken <= 2**26 + 50 * large.stat().st_size, (taken / MB, error)
    assert named, error


def test_a_long_line_is_counted_with_its_fields_and_its_error():
    for line in (b"x" * 2**23, b"x " * 2**22, b"\xff" * 2**23):
        with pytest.raises(ValueError, match="raise memory_limit= of the reader"):
            read_trec_run(io.BytesIO(gzip.compress(RUN + line + b"\n", 1)))
    with pytest.raises(ValueError, match=r"Got more than 1024 in line 2 of BytesIO: 'x x"):
        read_trec_run(io.BytesIO(RUN + b"x " * 5000 + b"\n"))


def test_threads_share_the_memory_of_pieces():
    lines = RUN * 2**17
    for n_threads, n_bytes in ((1, 2**20), (16, 2**18), (64, 2**16)):
        pieces = [*complete_lines(io.BytesIO(lines), Memory(None, 0, ""), n_threads)]
        assert max(map(len, pieces)) <= n_bytes + len(RUN)


def arrow_file(columns, codec=None, stream=False):
    pa = pytest.importorskip("pyarrow")
    file, table = io.BytesIO(), pa.table(columns)
    options = pa.ipc.IpcWriteOptions(compression=codec)
    with (pa.ipc.new_stream if stream else pa.ipc.new_file)(file, table.schema, options=options) as writer:
        writer.write_table(table)
    return file.getvalue()


def parquet_file(columns, **options):
    pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    file = io.BytesIO()
    parquet.write_table(pa.table(columns), file, **options)
    return file.getvalue()


N = 2000
LONG = "x" * 10_000


def bombs_of_arrow():
    """Small files whose columns are larger than 64 MiB and 50 times the file."""
    pa = pytest.importorskip("pyarrow")
    numbers, at_0 = {"label": np.zeros(N), "score": np.zeros(N)}, np.zeros(N, dtype=np.int32)
    long = pa.array([LONG] * N)
    yield "a long id in a dictionary", parquet_file(numbers | {"qid": long})
    delta = {"use_dictionary": False, "column_encoding": {"qid": "DELTA_BYTE_ARRAY"}, "compression": "zstd"}
    words = {"label": pa.array(["1"] * N), "score": pa.array(["1"] * N), "qid": long}
    yield "a long id that is made of the one before", parquet_file(words, **delta)
    fixed = pa.array([LONG.encode()] * N, pa.binary(len(LONG)))
    yield "ids of a fixed size", parquet_file(numbers | {"qid": fixed}, compression="zstd")
    yield "ids of one dictionary", arrow_file(numbers | {"qid": pa.DictionaryArray.from_arrays(at_0, [LONG])})
    one = pa.array([LONG], pa.string_view())
    views = pa.py_buffer(np.repeat(np.frombuffer(one.buffers()[1], dtype="V16"), N).tobytes())
    view = pa.Array.from_buffers(pa.string_view(), N, [None, views, *one.buffers()[2:]])
    yield "views of one id", arrow_file(numbers | {"qid": view}, "zstd")
    runs = pa.RunEndEncodedArray.from_arrays([N], [LONG])
    yield "a run of one id", arrow_file({"qid": runs, "label": pa.nulls(N), "score": pa.nulls(N)})
    nothing = pa.nulls(10**7)
    yield "rows of nothing", arrow_file({"qid": nothing, "label": nothing, "score": nothing})
    zeros = np.zeros(10**7)
    for stream in (True, False):
        packed = arrow_file({"qid": zeros, "label": zeros, "score": zeros}, "zstd", stream)
        yield "zeros that are packed", packed


def test_columns_of_arrow_are_counted_before_they_are_unpacked():
    for name, content in bombs_of_arrow():
        with pytest.raises(ValueError, match="raise memory_limit= of the reader"):
            pytest.fail(f"{name}: {read_table(io.BytesIO(content))!r}")


def test_other_columns_are_not_read():
    """A column of large lists or texts is none of those that are needed."""
    pa = pytest.importorskip("pyarrow")
    columns = {"qid": ["a", "a"], "label": [1.0, 0.0], "score": [0.5, 0.1], "doc_id": ["x", "y"]}
    more = columns | {"list": pa.array([[0] * 10**7] * 2, pa.list_(pa.int8())), "text": ["x" * 10**7] * 2}
    for content in (parquet_file(more, compression="zstd"), arrow_file(more)):
        assert read_table(io.BytesIO(content), memory_limit=2**28).y_true.tolist() == [1, 0]
        assert read_run(io.BytesIO(content), memory_limit=2**28).value.tolist() == [0.5, 0.1]
    lists = pa.array([[1], [2]])
    for content in (parquet_file(columns | {"qid": lists}), arrow_file(columns | {"qid": lists})):
        with pytest.raises(TypeError, match="Column 'qid' must hold numbers or ids, one a row. Got list"):
            read_table(io.BytesIO(content))


def test_all_kinds_of_text_are_read(tmp_path):
    pa = pytest.importorskip("pyarrow")
    text = pa.array(["a", "b", "b", "ab"])
    numbers = {"label": [1.0, 0.0, 2.0, 1.0], "score": [0.5, 0.1, 0.2, 0.3]}
    kinds = [text, text.cast(pa.large_string()), text.cast(pa.string_view()), text.dictionary_encode()]
    kinds += [pa.RunEndEncodedArray.from_arrays([1, 3, 4], ["a", "b", "ab"])]
    plain = {"use_dictionary": False, "column_encoding": "PLAIN"}
    files = [arrow_file(numbers | {"qid": kind}, "lz4", stream) for kind in kinds for stream in (True, False)]
    files += [parquet_file(numbers | {"qid": kind}, **more) for kind in kinds[:4] for more in ({}, plain)]
    delta = {"use_dictionary": False, "column_encoding": {"qid": "DELTA_BYTE_ARRAY"}}
    files += [parquet_file(numbers | {"qid": text}, **delta)]
    for content in files:
        data = read_table(io.BytesIO(content))
        assert np.asarray(data.qid).tolist() == ["a", "b", "b", "ab"]
        assert data.y_true.tolist() == [1, 0, 2, 1]


def test_columns_of_csv_are_counted():
    pytest.importorskip("pyarrow")
    for start in (b"qid,label,score", b'"\n",qid,label,score'):
        content = start + b",a" * 50_000 + b"\n1,1,1,1" + b",1" * 50_000 + b"\n"
        with pytest.raises(ValueError, match="raise memory_limit= of the reader"):
            read_table(io.BytesIO(content))


READERS = [read_trec_run, read_trec_qrels, read_run, read_qrels, read_svmlight, read_table, read_entries]


@pytest.mark.parametrize("read", READERS)
def test_the_limit_is_raised_and_lowered(read, tmp_path):
    pytest.importorskip("pyarrow")
    columns = {} if read is not read_entries else {"value": "score"}
    table = b"qid,doc_id,label,score\n" + b"".join(b"%d,d,1,1\n" % i for i in range(3000))
    text = {
        read_trec_run: b"".join(b"%d Q0 d 1 0.5 me\n" % i for i in range(3000)),
        read_trec_qrels: b"".join(b"%d 0 d 1\n" % i for i in range(3000)),
        read_run: b"".join(b'{"qid":%d,"docid":1,"score":1}\n' % i for i in range(3000)),
        read_qrels: b"query-id\tcorpus-id\tscore\n" + b"".join(b"%d\td\t1\n" % i for i in range(3000)),
        read_svmlight: SVM * 3000,
    }.get(read, table)
    with pytest.raises(ValueError, match=r"raise memory_limit= of the reader.*Got BytesIO, which needs more than 99 b"):
        read(io.BytesIO(gzip.compress(text)), memory_limit=99, **columns)
    assert read(io.BytesIO(gzip.compress(text)), memory_limit=2**40, **columns)
    for wrong in (0, 1.5, True, "1"):
        with pytest.raises(ValueError, match="'memory_limit' parameter of a reader must be a number of bytes"):
            read(io.BytesIO(text), memory_limit=wrong, **columns)


def of_objects(n):
    """An evaluation whose ids are tuples, texts and numbers."""
    ids = np.empty(n, dtype=object)
    ids[:] = [((i,), str(i), i)[i % 3] for i in range(n)]
    return evaluate(np.ones(2 * n), np.ones(2 * n), qid=np.repeat(ids, 2), metrics="ndcg")


def test_ids_that_are_objects_announce_their_memory(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "MEMORY_AT_LEAST", 3000)
    result = of_objects(1000)
    result.save(tmp_path / "saved")
    assert Evaluation.load(tmp_path / "saved").qid.tolist() == result.qid.tolist()
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    of_ids = sum(map(sys.getsizeof, result.qid.tolist()))
    assert 2 * arrays["qid"].nbytes > of_ids > 2 * len(arrays["qid"].tobytes().strip())
    np.savez_compressed(
        tmp_path / "made.npz", **(arrays | {"qid": np.frombuffer(arrays["qid"].tobytes().strip(), "u1")})
    )
    with pytest.raises(ValueError, match="ids take more memory than their size announces"):
        Evaluation.load(tmp_path / "made.npz")
    text = str(arrays["meta"]).rstrip()
    np.savez_compressed(
        tmp_path / "made.npz", **(arrays | {"meta": np.array(text[:-1] + ', "more": [' + "[]," * 999 + "0]}")})
    )
    with pytest.raises(ValueError, match="the description takes more memory than its size announces"):
        Evaluation.load(tmp_path / "made.npz")


def test_archives_that_are_larger_than_they_look(tmp_path):
    evaluation().save(tmp_path / "saved")
    content = (tmp_path / "saved").read_bytes()
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    # zipfile makes an object of each entry of the directory.
    with zipfile.ZipFile(tmp_path / "many", "w") as archive:
        for i in range(storage.MOST_ARRAYS + 1):
            archive.writestr(zipfile.ZipInfo(f"{i}".zfill(100)), b"")
    with pytest.raises(ValueError, match="its directory has more than"):
        Evaluation.load(tmp_path / "many")
    with zipfile.ZipFile(tmp_path / "lzma", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("meta.npy", b"")
    with pytest.raises(ValueError, match="meta must be packed by deflate"):
        Evaluation.load(tmp_path / "lzma")
    # Two entries of the directory for one array.
    place = content.rindex(b"PK\x01\x02")
    first = content.index(b"PK\x01\x02")
    second = content.index(b"PK\x01\x02", first + 4)
    entry, end = content[first:second], content[content.index(b"PK\x05\x06", place) :]
    twice = content[:second] + entry.replace(b".npy", b".npz") + content[second : content.index(b"PK\x05\x06", place)]
    n = int.from_bytes(end[8:10], "little") + 1
    size = int.from_bytes(end[12:16], "little") + len(entry)
    end = end[:8] + n.to_bytes(2, "little") * 2 + size.to_bytes(4, "little") + end[16:]
    (tmp_path / "twice").write_bytes(twice + end)
    with pytest.raises(ValueError, match="two arrays share bytes of the file"):
        Evaluation.load(tmp_path / "twice")
    deep = b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"-" * 8999 + b"1"
    with zipfile.ZipFile(tmp_path / "deep", "w") as archive:
        archive.writestr("meta.npy", deep)
    with pytest.raises(ValueError, match="meta must have a header that Python can follow"):
        Evaluation.load(tmp_path / "deep")
    assert arrays


def save_evaluation(path, n, **changed):
    """A saved evaluation of n queries; some arrays are other ones."""
    result = evaluate(np.ones(4), np.ones(4), qid=[0, 0, 1, 1], metrics="ndcg")
    words = result._to_saved()[0] | {"kind": "Evaluation", "version": 1, "objects": {}}
    words["metrics"][0]["mean"] = 1.0
    arrays = {
        "meta": np.array(json.dumps(words)), "qid": np.arange(n), "values": np.ones((1, n)),
        "undefined": np.zeros((1, n), dtype=bool),
    }  # fmt: skip
    np.savez_compressed(path, **(arrays | changed))
    return path


@linux_only
def test_load_takes_twice_what_headers_announce(tmp_path):
    """Whether it is loaded or refused; what does not fit is refused before it is read."""
    n = 1_000_000
    files = [save_evaluation(tmp_path / "small.npz", 9)]
    files += [
        save_evaluation(tmp_path / "numbers.npz", n),
        save_evaluation(tmp_path / "text.npz", n, qid=np.char.mod("%08d", np.arange(n))),
        save_evaluation(tmp_path / "equal.npz", n, qid=np.zeros(n, dtype=np.int64)),
        save_evaluation(tmp_path / "longer.npz", 9, qid=np.zeros(20 * n, dtype=np.int64)),
        save_evaluation(tmp_path / "blanks.npz", 9, meta=np.array(" " * 20 * n)),
    ]
    found = measured("load", *files)
    for path, (taken, _, error) in zip(files[1:], found, strict=True):
        with zipfile.ZipFile(path) as archive:
            announced = sum(member.file_size for member in archive.infolist())
        assert taken <= 2**26 + (0 if path.stem == "longer" else 2 * announced), (path.stem, taken / MB, announced / MB)
        assert bool(error) == (path.stem not in ("numbers", "text")), error
