"""Saved results are loaded complete; other layouts and classes are rejected."""

import io
import json
import shutil
import sys
import zipfile
from pathlib import Path
from runpy import run_path

import numpy as np
import pytest

import sklearn_rank
from sklearn_rank.results import Comparison, Evaluation

SAVED = Path(__file__).parents[1] / "saved"
sys.path.insert(0, str(SAVED))

from results import RESULTS, numbers_of  # noqa: E402


def kind_of(name):
    return Comparison if name in ("comparison", "systems") else Evaluation


@pytest.mark.parametrize("name", RESULTS)
def test_loaded_results_have_the_same_numbers(name, tmp_path):
    result, kind = RESULTS[name](), kind_of(name)
    result.save(tmp_path / "saved")
    loaded = kind.load(tmp_path / "saved")
    assert numbers_of(loaded) == numbers_of(result)
    loaded.save(tmp_path / "again")
    assert numbers_of(kind.load(tmp_path / "again")) == numbers_of(result)
    assert loaded.to_markdown()


def test_only_arrays_that_get_smaller_are_packed(tmp_path):
    """Random values are stored as they are; files whose arrays are all packed are loaded as well."""
    rng = np.random.default_rng(0)
    qid = np.array([f"a long name of a query {i}" for i in range(2000)])
    result = Evaluation.from_values(qid, {"mine": rng.random(2000)})
    result.save(tmp_path / "saved.npz")
    with zipfile.ZipFile(tmp_path / "saved.npz") as archive:
        packed = {one.filename: one.compress_type == zipfile.ZIP_DEFLATED for one in archive.infolist()}
    assert packed["qid.npy"]
    assert not packed["values.npy"]
    with np.load(tmp_path / "saved.npz") as arrays:
        np.savez_compressed(tmp_path / "packed.npz", **arrays)
    assert numbers_of(Evaluation.load(tmp_path / "packed.npz")) == numbers_of(result)


@pytest.mark.slow
def test_files_of_each_version_exist(tmp_path, capsys):
    """`python tests/saved` writes a file for each result, and all numbers as text."""
    program = shutil.copytree(SAVED, tmp_path / "saved", ignore=shutil.ignore_patterns("__pycache__", "*.*.*"))

    run_path(str(program / "__main__.py"), run_name="__main__")
    assert capsys.readouterr().out.startswith(f"{len(RESULTS)} files in ")
    folder = program / sklearn_rank.__version__
    numbers = json.loads((folder / "numbers.json").read_text())
    assert {*numbers} == {path.stem for path in folder.glob("*.npz")} == {*RESULTS}
    for name, written in numbers.items():
        assert numbers_of(kind_of(name).load(folder / f"{name}.npz")) == written
    with pytest.raises(SystemExit, match="The files of a version are written once"):
        run_path(str(program / "__main__.py"), run_name="__main__")


def with_version(path, version):
    """The file with another layout number."""
    out = io.BytesIO()
    with np.load(path) as file:
        arrays = dict(file)
    meta = json.loads(str(arrays.pop("meta"))) | {"version": version}
    np.savez_compressed(out, meta=np.array(json.dumps(meta)), **arrays)
    return out.getvalue()


@pytest.mark.parametrize("name", ["evaluation_mixed", "comparison"])
def test_other_layouts_and_truncated_files_are_rejected(name, tmp_path):
    path, kind = tmp_path / "saved", kind_of(name)
    other = {Comparison: Evaluation, Evaluation: Comparison}[kind]
    RESULTS[name]().save(path)
    must = f"The file must hold a saved {kind.__name__} of layout 1"
    for version in 0, 2, "1", None:
        (tmp_path / "file").write_bytes(with_version(path, version))
        with pytest.raises(ValueError, match=rf"{must}\. Got {kind.__name__} of layout {version} in .*file"):
            kind.load(tmp_path / "file")
    with pytest.raises(ValueError, match=f"a saved {other.__name__} .* Got {kind.__name__} of layout 1"):
        other.load(path)
    (tmp_path / "file").write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    with pytest.raises(ValueError, match=must):
        kind.load(tmp_path / "file")
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(tmp_path / "file", "w") as torn:
        for member in before.namelist():
            if not member.startswith("values"):
                torn.writestr(member, before.read(member))
    with pytest.raises(ValueError, match=must):
        kind.load(tmp_path / "file")
