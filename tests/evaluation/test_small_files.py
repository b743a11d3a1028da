"""Small files that are large: shapes are compared before arrays are read, and readers count the memory they take."""

import gzip
import io
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, evaluate
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
from sklearn_rank.stats import judge_agreement, judged_interval, no_worse

X, Y, QID = make_ranking(n_queries=40, random_state=0)


def independent(n):
    """Values of the first rows, whose queries have no weight and no cluster."""
    return evaluate(Y[:n], X[:n, 0], qid=QID[:n], metrics=["ndcg@5", "map"])


def evaluation():
    of_rows = {"sample_weight": QID + 1.0, "by": QID % 7, "clusters": QID % 7}
    return evaluate(Y, X[:, 0], qid=QID, metrics=["ndcg@5", "map"], **of_rows)


def comparison():
    return RankingEvaluator(["ndcg@5", "map"], cv=3).compare({"a": Ridge(), "b": Ridge(alpha=9)}, X, Y, qid=QID)


def evaluation_of_some_judged():
    labels = np.where(np.arange(len(Y)) % 9, Y, np.nan)
    return evaluate(labels, X[:, 0], qid=QID, metrics=["ndcg@5", "map"], unjudged="nonrelevant")


RESULTS = {
    "Evaluation": evaluation,
    "some are judged": evaluation_of_some_judged,
    "Comparison": comparison,
    "JudgedInterval": lambda: judged_interval(independent(400), independent(len(Y))),
    "GateResult": lambda: no_worse(evaluation(), evaluation(), margin=0.1),
    "JudgeAgreement": lambda: judge_agreement(Y, Y),
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
    tried = {one: array for one, array in arrays.items() if one != "meta" and not one.startswith("others")}
    for one, array in tried.items():
        axis = 0 if one.startswith("y_score") else -1
        for n in (-1, 1):
            other = np.delete(array, 0, axis) if n < 0 else np.append(array, array.take([0], axis), axis)
            np.savez(tmp_path / "made.npz", **(arrays | {one: other}))
            arrays_read.clear()
            with pytest.raises(ValueError, match="The file must hold a saved .*shape"):
                type(result).load(tmp_path / "made.npz")
            assert arrays_read == ["meta"]
    assert tried


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
