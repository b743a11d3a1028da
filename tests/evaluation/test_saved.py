"""Files that earlier versions saved are loaded for ever, with the numbers that were written down beside them."""

import io
import json
import runpy
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import sklearn_rank
from sklearn_rank.model_selection import Comparison
from sklearn_rank.results import Evaluation

SAVED = Path(__file__).parents[1] / "saved"
sys.path.insert(0, str(SAVED))

from results import RESULTS, numbers_of  # noqa: E402

FILES = sorted(SAVED.glob("*/*.npz"))
KINDS = {True: Comparison, False: Evaluation}


def kind_of(path):
    return KINDS[path.stem in ("comparison", "systems")]


def written_beside(path):
    return json.loads((path.parent / "numbers.json").read_text())[path.stem]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_it_has_the_numbers_written_beside_it(path, tmp_path):
    result = kind_of(path).load(path)
    assert numbers_of(result) == written_beside(path)
    result.save(tmp_path / "again")
    assert numbers_of(kind_of(path).load(tmp_path / "again")) == written_beside(path)
    assert result.to_markdown()


@pytest.mark.parametrize("name", RESULTS)
def test_this_version_computes_and_saves_the_same(name, tmp_path):
    """What the loader takes, the saver writes; values may differ by rounding where models are fitted."""
    path = SAVED / sklearn_rank.__version__ / f"{name}.npz"
    RESULTS[name]().save(tmp_path / name)
    with np.load(path) as before, np.load(tmp_path / name) as now:
        # The first layout has ids that are objects in the description.
        ids = {*json.loads(str(now["meta"]))["objects"]}
        kinds = [{n: a.dtype.kind for n, a in saved.items() if n not in ids} for saved in (now, before)]
        assert kinds[0] == kinds[1]
        for array in before.files:
            if before[array].dtype.kind == "f" and not array.startswith("fit_time"):
                np.testing.assert_allclose(now[array], before[array], rtol=1e-9, atol=1e-12)


def test_a_version_has_all_files():
    """`python tests/saved` writes those of a new version."""
    assert sklearn_rank.__version__ in {path.parent.name for path in FILES}
    for folder in {path.parent for path in FILES}:
        numbers = json.loads((folder / "numbers.json").read_text())
        assert {*numbers} == {path.stem for path in FILES if path.parent == folder}
    with pytest.raises(SystemExit, match="written once"):
        runpy.run_path(str(SAVED / "__main__.py"), run_name="__main__")


def with_version(path, version):
    """The file, as if written in another layout."""
    out = io.BytesIO()
    with np.load(path) as file:
        arrays = dict(file)
    meta = json.loads(str(arrays.pop("meta"))) | {"version": version}
    np.savez_compressed(out, meta=np.array(json.dumps(meta)), **arrays)
    return out.getvalue()


@pytest.mark.parametrize("path", [FILES[0], SAVED / "0.1.0" / "comparison.npz"], ids=lambda path: path.stem)
def test_what_is_newer_or_torn_is_refused(path, tmp_path):
    kind, data, other = kind_of(path), path.read_bytes(), KINDS[kind_of(path) is Evaluation]
    must = f"The file must hold a saved {kind.__name__} of layout 2 or earlier"
    (tmp_path / "file").write_bytes(with_version(path, 3))
    with pytest.raises(ValueError, match=rf"{must}\. Got {kind.__name__} of layout 3 in .*file"):
        kind.load(tmp_path / "file")
    with pytest.raises(ValueError, match=f"a saved {other.__name__} .* Got {kind.__name__} of layout 1"):
        other.load(path)
    (tmp_path / "file").write_bytes(data[: len(data) // 2])
    with pytest.raises(ValueError, match=must):
        kind.load(tmp_path / "file")
    (tmp_path / "file").write_bytes(with_version(path, 1))
    assert numbers_of(kind.load(tmp_path / "file")) == written_beside(path)
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(tmp_path / "file", "w") as torn:
        for name in before.namelist():
            if not name.startswith("values"):
                torn.writestr(name, before.read(name))
    with pytest.raises(ValueError, match=must):
        kind.load(tmp_path / "file")
