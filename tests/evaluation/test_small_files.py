"""Small files that are large: shapes are compared before arrays are read, and memory is announced."""

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
from sklearn_rank.results import Evaluation

def peak():
    # What getrusage says begins with the memory of the process that started this one.
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmHWM")) * 1024

small, *paths = sys.argv[1:]
# What is imported and kept from call to call is not of a file.
Evaluation.load(small)
for path in paths:
    before, refused = peak(), ""
    try:
        Evaluation.load(path)
    except ValueError as error:
        refused = str(error)
    print(peak() - before, refused[:200].replace("\\n", " "), sep="\\t")
"""


def measured(small, *paths):
    """Memory that reading each file took, and the error."""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", MEASURED, small, *paths],
        capture_output=True, text=True, timeout=600,
    )  # fmt: skip
    assert not done.returncode, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()]
    return [(int(n), error) for n, error in rows]


linux_only = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured so on Linux alone")
MB = 2**20


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
    found = measured(*files)
    for path, (taken, error) in zip(files[1:], found, strict=True):
        with zipfile.ZipFile(path) as archive:
            announced = sum(member.file_size for member in archive.infolist())
        assert taken <= 2**26 + (0 if path.stem == "longer" else 2 * announced), (path.stem, taken / MB, announced / MB)
        assert bool(error) == (path.stem not in ("numbers", "text")), error
