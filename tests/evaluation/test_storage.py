"""Results on disk: damaged or hostile files raise our ValueError, and a file is written completely or not at all."""

import errno
import io
import json
import os
import pickle
import stat
import subprocess
import sys
import zipfile

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, evaluate
from sklearn_rank._utils.storage import replacing
from sklearn_rank.datasets import make_ranking
from sklearn_rank.results import Comparison, Evaluation

pytestmark = pytest.mark.slow

X, Y, QID = make_ranking(n_queries=12, random_state=0)


def small_evaluation():
    ids = np.array([f"q{i}" for i in QID], dtype=object)
    return evaluate(Y, X[:, 0], qid=ids, metrics=["ndcg@5", "map"], sample_weight=QID + 1.0, chance=True)


def small_comparison():
    models = {"ridge": Ridge(), "flat": Ridge(alpha=1e9)}
    return RankingEvaluator(["ndcg@5", "map"], cv=3).compare(models, X, Y, qid=QID)


RESULTS = {"Evaluation": (Evaluation, small_evaluation), "Comparison": (Comparison, small_comparison)}


@pytest.fixture(params=RESULTS, scope="module")
def saved(request, tmp_path_factory):
    """A class, a result of it, and the bytes of its file."""
    kind, make = RESULTS[request.param]
    result, path = make(), tmp_path_factory.mktemp("saved") / "result.npz"
    result.save(path)
    return kind, result, path.read_bytes()


def loaded_or_refused(kind, data, path):
    """Content of a file; None if it is rejected with the right error."""
    path.write_bytes(data)
    try:
        return kind.load(path)
    except ValueError as error:
        message = str(error)
    assert message.startswith(f"The file must hold a saved {kind.__name__} of layout 1. Got ")
    assert len(message) < 600
    return None


def words_of(result):
    return result._to_saved()[0]


def same(a, b):
    return repr(a) == repr(b) and repr(words_of(a)) == repr(words_of(b))


# --- damage --------------------------------------------------------------------------------------------------


def test_any_byte_may_be_damaged(saved, tmp_path):
    """A damaged file is rejected, unless the damage is outside of the result."""
    kind, result, data = saved
    rng, refused = np.random.default_rng(0), 0
    places = rng.permutation(len(data))[:100]
    for place in [*places.tolist(), *range(40), *range(len(data) - 120, len(data))]:
        other = bytearray(data)
        other[place] ^= int(rng.integers(1, 256))
        found = loaded_or_refused(kind, bytes(other), tmp_path / "file")
        refused += found is None
        assert found is None or same(found, result)
    assert refused > 120


def test_truncated_files(saved, tmp_path):
    kind, _, data = saved
    for stop in np.linspace(0, len(data) - 1, 150).astype(int).tolist():
        assert loaded_or_refused(kind, data[:stop], tmp_path / "file") is None


def test_damaged_arrays(saved, tmp_path):
    """Each array in turn is missing, longer, of another type, or not an array."""
    kind, _, data = saved
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    for name, array in arrays.items():
        flat = np.atleast_1d(array)
        others = [None, b"", b"no array", array[..., None], np.append(flat, flat), array.astype("S"), np.array(3)]
        for other in [*others, array.astype(object) if name == "meta" else flat[:0]]:
            with zipfile.ZipFile(tmp_path / "made", "w") as archive:
                for n, a in arrays.items():
                    a = other if n == name else a
                    if isinstance(a, bytes):
                        archive.writestr(f"{n}.npy", a)
                    elif a is not None:
                        with archive.open(f"{n}.npy", "w") as file:
                            np.lib.format.write_array(file, a, allow_pickle=True)
            may_lack = ("label_fingerprints", "ranking_fingerprints", "n_documents", "n_retrieved")
            optional = other is None and name.startswith(may_lack)
            found = loaded_or_refused(kind, (tmp_path / "made").read_bytes(), tmp_path / "file")
            assert (found is None) == (not optional), (name, other)


class Unpacked:
    """An object that writes a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (self.path, "w")


def test_storage_never_unpickles(saved, tmp_path):
    """In place of any array, as an additional array, or as the whole file."""
    kind, _, data = saved
    pickled = np.array([Unpacked(str(tmp_path / "ran"))], dtype=object)
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    for name in [*arrays, "more"]:
        np.savez(tmp_path / "made.npz", **(arrays | {name: pickled}))
        found = loaded_or_refused(kind, (tmp_path / "made.npz").read_bytes(), tmp_path / "file")
        assert found is None or name == "more"
    assert loaded_or_refused(kind, pickle.dumps(pickled), tmp_path / "file") is None
    assert not (tmp_path / "ran").exists()


def with_meta(data, change):
    """The file with another description."""
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    meta = json.loads(str(arrays.pop("meta")))
    text = change(meta)
    out = io.BytesIO()
    np.savez_compressed(out, meta=np.array(json.dumps(meta) if text is None else text), **arrays)
    return out.getvalue()


def leaves(value, path=()):
    """Paths of the entries of a description."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield (*path, key)
        yield from leaves(item, (*path, key))


JUNK = [None, [], {}, "junk", [[1]], -1, True, 1e999]


@pytest.mark.parametrize("turn", range(3))
def test_damaged_descriptions(turn, saved, tmp_path):
    """Each entry is replaced by three of the values in turn."""
    kind, _, data = saved
    with np.load(io.BytesIO(data)) as file:
        places = [*leaves(json.loads(str(file["meta"])))]
    for i, place in enumerate(places, 3 * turn):
        junk = JUNK[i % len(JUNK)]

        def change(meta, place=place, junk=junk):
            for key in place[:-1]:
                meta = meta[key]
            meta[place[-1]] = junk

        found = loaded_or_refused(kind, with_meta(data, change), tmp_path / "file")
        if found is not None:  # harmless: another name, mean or meaning
            repr(found), found.to_markdown(), words_of(found)


@pytest.mark.parametrize("text", ["", "[]", "3", "null", '"text"', "{", '{"kind": 1}', "[" * 100_000, "9" * 10_000])
def test_no_description(text, saved, tmp_path):
    kind, _, data = saved
    assert loaded_or_refused(kind, with_meta(data, lambda meta: text), tmp_path / "file") is None


def test_ids_of_deeply_nested_tuples(tmp_path):
    def nested(depth, one=1):
        return nested(depth - 1, (one,)) if depth else one

    def saved(depth):
        evaluate([1, 1], [2, 1], qid=[nested(depth), ("a", 2)], metrics="map").save(tmp_path / "saved")

    def deeper(meta):
        meta["objects"]["qid"] = [json.loads("[" * 900 + "1" + "]" * 900), ["a", 2]]

    saved(100)
    assert Evaluation.load(tmp_path / "saved").qid[0] == nested(100)
    data = with_meta((tmp_path / "saved").read_bytes(), deeper)
    assert loaded_or_refused(Evaluation, data, tmp_path / "file") is None
    with pytest.raises(
        TypeError, match=r"To be saved, .* tuples of them, at most 100 in each other\. Got \(1,\) of type"
    ):
        saved(101)


def test_duplicate_names_in_a_file(saved, tmp_path):
    kind, _, data = saved

    def twice(meta):
        for words in meta["results"].values() if "results" in meta else [meta]:
            words["metrics"] = words["metrics"][:1] * 2
        if "results" in meta:
            meta["metrics"] = meta["metrics"][:1] * 2

    assert loaded_or_refused(kind, with_meta(data, twice), tmp_path / "file") is None
    if kind is Evaluation:

        def same_ids(meta):
            meta["objects"]["qid"] = ["a"] * len(meta["objects"]["qid"])

        assert loaded_or_refused(kind, with_meta(data, same_ids), tmp_path / "file") is None
    (tmp_path / "twice").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "twice", "a") as archive, pytest.warns(UserWarning, match="Duplicate name"):
        archive.writestr("meta.npy", b"")
    assert loaded_or_refused(kind, (tmp_path / "twice").read_bytes(), tmp_path / "file") is None


# --- hostile files -------------------------------------------------------------------------------------------

LIMITED = """
import resource, sys
from sklearn_rank.results import Comparison
from sklearn_rank.results import Evaluation
resource.setrlimit(resource.RLIMIT_DATA, (2**29, 2**29))
for path in sys.argv[1:]:
    for kind in (Comparison, Evaluation):
        try:
            kind.load(path)
        except ValueError as error:
            assert "The file must hold a saved" in str(error)
        else:
            raise AssertionError(path)
"""


def header(shape, dtype="<f8"):
    """The header of an array, without its entries."""
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"shape": shape, "fortran_order": False, "descr": dtype})
    return file.getvalue()


def pack(path, members, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression, compresslevel=1) as archive:
        for name, chunks in members.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                for chunk in chunks:
                    file.write(chunk)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited so on Linux alone")
def test_claimed_sizes_are_not_allocated(tmp_path):
    """Headers that claim terabytes, and an array of 640 MiB that fits no other, are rejected before allocation."""
    words = small_evaluation()._to_saved()[0] | {"kind": "Evaluation", "version": 1, "objects": {"qid": ["a", "b"]}}
    text = np.array(json.dumps(words))
    meta = io.BytesIO()
    np.lib.format.write_array(meta, text)
    meta = [meta.getvalue()]
    zeros = [header((2, 5 * 2**23)), *([bytes(2**24)] * 40)]
    small = {"undefined": [header((2, 2), "|b1"), bytes(4)], "n_documents": [header((2,), "<i8"), bytes(16)]}
    files = {
        "claims": {"meta": meta, "values": [header((2, 10**15)), bytes(32)], **small},
        "overflows": {"meta": meta, "values": [header((2**40, 2**40)), bytes(32)], **small},
        "bomb": {"meta": meta, "values": zeros, **small},
        "meta claims": {"meta": [header((), "<U1000000000"), bytes(8)]},
        "meta is long": {"meta": [header((10**12,), "<U1"), bytes(8)]},
    }
    files["entries of no bytes"] = {"meta": meta, "qid": [header((10**12,), "<U0")], **small}
    for name, members in files.items():
        pack(tmp_path / name, members)
    pack(tmp_path / "lzma", {"meta": meta, "values": [header((2, 2)), bytes(32)], **small}, zipfile.ZIP_LZMA)
    paths = [str(path) for path in tmp_path.iterdir()]
    subprocess.run([sys.executable, "-c", LIMITED, *paths], check=True, timeout=300)


def one_array(path, array, announced=None):
    """A file with an array in place of its description; its directory claims another size."""
    file = io.BytesIO()
    np.lib.format.write_array(file, array)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("meta.npy", file.getvalue())
        if announced is not None:
            archive.getinfo("meta.npy").file_size = announced
    return path


def test_storage_rejects_decompression_bombs(tmp_path):
    """More than 1 GiB and more than 100 times the file, whatever it contains."""
    text = np.array("{}")
    path = one_array(tmp_path / "made", text, 2**30)
    with pytest.raises(ValueError, match="Got what is damaged"):
        Evaluation.load(path)
    path = one_array(tmp_path / "made", text, 2**30 + 1)
    with pytest.raises(ValueError, match=rf"a file of \d+ bytes announces {2**30 + 1}, more than .* in .*made\."):
        Evaluation.load(path)
    random = np.random.default_rng(0).integers(0, 2**31, 3 * 2**20).astype(np.uint32)
    path = one_array(tmp_path / "made", random.view("U4"), 2**30 + 1)
    assert 100 * path.stat().st_size > 2**30 + 1
    with pytest.raises(ValueError, match="Got what is damaged"):
        Evaluation.load(path)


@pytest.mark.parametrize("more", [-1, 1, 40])
def test_storage_rejects_wrong_sizes(more, tmp_path):
    path = tmp_path / "made"
    text = np.array(json.dumps({"kind": "Comparison", "version": 1, "objects": {}}))
    with pytest.raises(ValueError, match="Got Comparison of layout 1"):
        Evaluation.load(one_array(path, text))
    size = text.nbytes + len(header((), text.dtype.str))
    with pytest.raises(ValueError, match="Got what is damaged.*(entries as it says|Bad CRC-32)"):
        Evaluation.load(one_array(path, text, size + more))


def test_members_must_be_deflated_arrays(saved, tmp_path):
    kind, _, data = saved
    (tmp_path / "more").write_bytes(data)
    with zipfile.ZipFile(tmp_path / "more", "a") as archive:
        archive.writestr("../more", b"")
    with pytest.raises(ValueError, match="Got what is damaged"):
        kind.load(tmp_path / "more")
    with zipfile.ZipFile(tmp_path / "lzma", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("meta.npy", b"")
    with pytest.raises(ValueError, match=r"meta\.npy must be packed by deflate"):
        kind.load(tmp_path / "lzma")
    deep = b"\x93NUMPY\x01\x00" + (9000).to_bytes(2, "little") + b"-" * 8999 + b"1"
    with zipfile.ZipFile(tmp_path / "deep", "w") as archive:
        archive.writestr("meta.npy", deep)
    with pytest.raises(ValueError, match="Got what is damaged"):
        kind.load(tmp_path / "deep")


def test_object_ids_are_in_the_description(tmp_path):
    """Without padding, and in the only layout."""
    ids = np.empty(999, dtype=object)
    ids[:] = [((i,), str(i), i)[i % 3] for i in range(len(ids))]
    result = evaluate(np.ones(2 * len(ids)), np.ones(2 * len(ids)), qid=np.repeat(ids, 2), metrics="ndcg")
    result.save(tmp_path / "saved")
    assert Evaluation.load(tmp_path / "saved").qid.tolist() == result.qid.tolist()
    with np.load(tmp_path / "saved") as file:
        text = str(file["meta"])
        assert "qid" not in file.files
    assert text == text.strip()
    assert json.loads(text)["version"] == 1
    assert json.loads(text)["objects"]["qid"][:3] == [[0], "1", 2]
    with zipfile.ZipFile(tmp_path / "saved") as archive:
        assert {member.compress_type for member in archive.infolist()} == {zipfile.ZIP_DEFLATED}


# --- writing -------------------------------------------------------------------------------------------------


def test_other_formats_are_rejected(tmp_path):
    result = small_evaluation()
    for name in ("r.parquet", "r.CSV", "r.json", "r.pkl", "r.npy"):
        with pytest.raises(ValueError, match=rf"saved as NumPy's \.npz, .*to_frame.*Got '.*{name}'"):
            result.save(tmp_path / name)
    assert not [*tmp_path.iterdir()]
    for name in ("r.npz", "r", "ndcg@0.5", "2026.01.31", "r.NPZ"):
        result.save(str(tmp_path / name))
        assert same(Evaluation.load(tmp_path / name), result)


def test_nested_ids_are_saved(tmp_path):
    result = evaluate([1, 0], [1, 2], qid=[("a", ("b", 1)), ("a", ("b", 2))], metrics="map")
    result.save(tmp_path / "r")
    assert Evaluation.load(tmp_path / "r").qid.tolist() == [("a", ("b", 1)), ("a", ("b", 2))]


def test_failed_save_changes_no_file(tmp_path):
    path = tmp_path / "file"
    for before in (None, b"before"):
        if before is not None:
            path.write_bytes(before)
            os.chmod(path, 0o640)
        with pytest.raises(ZeroDivisionError), replacing(path) as file:
            file.write(b"half" * (1 // 0 if file.write(b"half") else 1))
        assert [p.read_bytes() for p in tmp_path.iterdir()] == ([] if before is None else [before])
    with replacing(path) as file:
        file.write(b"after")
        assert path.read_bytes() == b"before"
    assert path.read_bytes() == b"after"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert [*tmp_path.iterdir()] == [path]


@pytest.mark.skipif(sys.platform == "win32", reason="links take rights on Windows")
def test_saving_to_a_link_keeps_the_link(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    with replacing(tmp_path / "link") as file:
        file.write(b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_bytes() == b"x"


def test_save_to_invalid_paths(tmp_path):
    for path, error in ((tmp_path, IsADirectoryError), (tmp_path / "no" / "r.npz", FileNotFoundError)):
        with pytest.raises(error) as caught:
            small_evaluation().save(path)
        assert caught.value.filename == str(path)
        assert str(caught.value).endswith(f": {str(path)!r}")


KILLED = """
import os, sys
from sklearn_rank import evaluate
os.replace = lambda *_: os.kill(os.getpid(), 9)
evaluate([1], [1], qid=[1], metrics="map").save(sys.argv[1])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no signal 9")
def test_parts_of_killed_processes_are_removed(tmp_path):
    assert subprocess.run([sys.executable, "-c", KILLED, tmp_path / "r"]).returncode == -9
    assert [path.name[:14] for path in tmp_path.iterdir()] == [".sklearn_rank_"]
    names = f"host-1_7_{10**15}", f"host-1_8_{10**15}", "notes"
    elsewhere, old, own = (tmp_path / f".sklearn_rank_{name}" for name in names)
    for path, time in ((elsewhere, None), (old, (10**9, 10**9)), (own, (10**9, 10**9))):
        path.touch()
        os.utime(path, time)
    with replacing(tmp_path / "mine"):
        small_evaluation().save(tmp_path / "r")
    assert {*tmp_path.iterdir()} == {tmp_path / "mine", tmp_path / "r", elsewhere, own}


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="/dev/full is of Linux")
def test_a_full_device_and_a_folder_that_takes_no_file():
    with pytest.raises(OSError, match=r"^\[.*\] .+ in the folder of '/sys/r\.npz': '/sys'$"):
        small_evaluation().save("/sys/r.npz")
    with pytest.raises(OSError, match=r"No space left on device: '/dev/full'"):
        small_evaluation().save("/dev/full")
    assert stat.S_ISCHR(os.stat("/dev/full").st_mode)


FULL = """
import resource, sys, warnings
import numpy as np
from sklearn_rank import evaluate
from sklearn_rank.io import write_run
warnings.simplefilter("error")
resource.setrlimit(resource.RLIMIT_FSIZE, (3000, 3000))
n, folder = 9000, sys.argv[1]
score = np.random.default_rng(0).random(n)
result = evaluate(np.ones(n), score, qid=np.arange(n), metrics={"own": lambda y, s: s[0]})
for name, write in {
    "result.npz": result.save,
    "run": lambda path: write_run(path, score, qid=np.arange(n), doc_id=np.arange(n)),
    "run.gz": lambda path: write_run(path, score, qid=np.arange(n), doc_id=np.arange(n)),
}.items():
    path = f"{folder}/{name}"
    try:
        write(path)
    except OSError as error:
        assert error.filename == path and "File too large" in str(error), error
    else:
        raise AssertionError(name)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_full_disk_leaves_no_partial_file(forks, tmp_path):
    (tmp_path / "run").write_text("before")
    forks.check(FULL, tmp_path)
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("run", "before")]


def test_saved_files_contain_only_arrays(tmp_path):
    small_evaluation().save(tmp_path / "saved")
    with np.load(tmp_path / "saved", allow_pickle=False) as file:
        assert not any(file[name].dtype.hasobject for name in file)


@pytest.mark.parametrize("error", [MemoryError, KeyboardInterrupt])
def test_an_error_while_saving_leaves_no_file(error, monkeypatch, tmp_path):
    def fail(*_):
        raise error

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(error):
        small_evaluation().save(tmp_path / "saved")
    assert not [*tmp_path.iterdir()]


@pytest.mark.parametrize("kind", ["GateResult", "JudgedInterval", "JudgedDifference", "JudgeAgreement", "Explanation"])
def test_files_of_results_that_are_no_longer_saved(kind, tmp_path):
    """Development versions saved them; the file of a gate is read as one of another kind."""
    words = {"kind": kind, "version": 1, "objects": {}}
    np.savez_compressed(tmp_path / "old.npz", meta=np.array(json.dumps(words)), **{"new 0": np.zeros(3)})
    for one in (Evaluation, Comparison):
        with pytest.raises(ValueError, match=f"Got {kind} of layout 1, which is no longer saved: make it again from"):
            one.load(tmp_path / "old.npz")


def test_an_unreadable_file_is_not_called_damaged(monkeypatch, tmp_path):
    """Any of the reads may fail."""
    path, left = tmp_path / "saved", []
    small_evaluation().save(path)

    class Failing(io.FileIO):
        def fail_in_turn(self):
            if not left.pop():
                raise OSError(errno.EIO, "Input/output error")

        def readinto(self, buffer):
            self.fail_in_turn()
            return super().readinto(buffer)

        def readall(self):
            self.fail_in_turn()
            return super().readall()

    monkeypatch.setattr("builtins.open", lambda path, mode: io.BufferedReader(Failing(path, mode)))
    left[:] = [True] * 1000
    Evaluation.load(path)
    n_reads = 1000 - len(left)
    assert n_reads > 5
    for stop in range(n_reads):
        left[:] = [False] + [True] * stop
        with pytest.raises(OSError, match="Input/output error") as caught:
            Evaluation.load(path)
        assert caught.value.filename == path


def test_a_file_that_does_not_fit_into_memory_is_refused(monkeypatch, tmp_path):
    small_evaluation().save(tmp_path / "saved")

    def fail(*_, **__):
        raise MemoryError("Unable to allocate 8 GiB")

    monkeypatch.setattr(np, "load", fail)
    with pytest.raises(ValueError, match=r"damaged, too large, .*\(MemoryError: Unable to allocate 8 GiB\)"):
        Evaluation.load(tmp_path / "saved")


@pytest.mark.parametrize("depth", [5000, 10**6])
def test_deeply_nested_lists_are_rejected(depth, tmp_path):
    ids = "[" * depth + "]" * depth
    text = f'{{"kind": "Evaluation", "version": 1, "metrics": [], "objects": {{"qid": {ids}}}}}'
    np.savez(tmp_path / "made.npz", meta=np.array(text))
    with pytest.raises(ValueError, match="The file must hold a saved Evaluation"):
        Evaluation.load(tmp_path / "made.npz")


@pytest.mark.parametrize("order", "<>")
def test_text_of_invalid_characters_is_rejected(order, tmp_path):
    """NumPy accepts strings with code points that Python rejects."""
    path = tmp_path / "result.npz"
    small_evaluation().save(path)
    with np.load(path) as file:
        arrays = dict(file)
    text = arrays["meta"].astype(f"{order}U{arrays['meta'].dtype.itemsize // 4}")
    code = text[None].view(f"{order}u4")
    code[str(text[()]).index("map")] = 0x110000
    arrays["meta"] = code.view(text.dtype)[0]
    np.savez(path, **arrays)
    with pytest.raises(ValueError, match=r"meta has a character above U\+10FFFF"):
        Evaluation.load(path)


def test_arrays_in_later_layouts_of_numpy_are_refused(saved, tmp_path):
    """NumPy reads a header of its second layout before it checks the length, which may be 4 GB."""
    kind, _, data = saved
    with np.load(io.BytesIO(data)) as file:
        arrays = dict(file)
    with zipfile.ZipFile(tmp_path / "arrays", "w") as archive:
        for i, (name, array) in enumerate(arrays.items()):
            with archive.open(f"{name}.npy", "w") as file:
                np.lib.format.write_array(file, array, (2, 0) if i == 0 else (1, 0))
    with pytest.raises(ValueError, match=r"must be in version 1\.0 of the \.npy format"):
        kind.load(tmp_path / "arrays")


@pytest.mark.parametrize("compression", [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED])
def test_members_that_claim_more_than_they_can_hold(compression, tmp_path):
    """The header and the directory agree on a gigabyte, which so few bytes cannot become."""
    content = header((2**27 - 16,)) + bytes(64)
    with zipfile.ZipFile(tmp_path / "claims", "w", compression) as archive:
        archive.writestr("meta.npy", content)
        archive.getinfo("meta.npy").file_size = len(header((2**27 - 16,))) + 8 * (2**27 - 16)
    with pytest.raises(ValueError, match=r"meta\.npy must have as many entries as it says"):
        Evaluation.load(tmp_path / "claims")


def test_ids_of_numpy_among_others(tmp_path):
    ids = np.array([np.int64(1), "a"], dtype=object)
    assert type(ids[0]) is np.int64
    evaluate([1, 1], [2, 1], qid=ids, metrics="map").save(tmp_path / "saved")
    assert Evaluation.load(tmp_path / "saved").qid.tolist() == [1, "a"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_a_replaced_file_keeps_its_permissions(tmp_path):
    path = tmp_path / "result.npz"
    path.touch(mode=0o600)
    Evaluation.from_values(range(2), {"mrr": [0.5, 1]}).save(path)
    assert path.stat().st_mode & 0o777 == 0o600
