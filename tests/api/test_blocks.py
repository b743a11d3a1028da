"""The number of rows per block changes no bit of a result: one, all, all but one, all plus one."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import sklearn_rank as skr
from sklearn_rank.recommenders import intra_list_diversity
from sklearn_rank.retrieval import evaluate_retrieval

RNG = np.random.default_rng(0)
N, N_COLUMNS = 24, 9
MATRIX = RNG.integers(0, 4, (N, N_COLUMNS)) * RNG.integers(0, 2, (N, N_COLUMNS))
LABELS, SCORES = sp.csr_array(MATRIX.astype(float)), sp.csr_array(MATRIX[::-1] * RNG.random((N, N_COLUMNS)))
QUERY, LABEL, SCORE = np.repeat(np.arange(6), 4), MATRIX[:, 0] + 0.5, RNG.integers(0, 5, N) / 4
DRAWN = RNG.permutation(N)
FEATURES, CLASSES = RNG.normal(size=(N, 16)), np.arange(N) % 3
ITEMS = [*"abcdefghi"]
LISTS = {f"u{i}": dict(zip(ITEMS, row.tolist(), strict=True)) for i, row in enumerate(MATRIX)}
METRICS = ["ndcg@3", "map", "auc"]


def batches(order=slice(None), size=5):
    return [tuple(x[order][i : i + size] for x in (LABEL, SCORE, QUERY)) for i in range(0, N, size)]


def retrieval(features, **options):
    return evaluate_retrieval(features, query_labels=CLASSES, exclude_self=True, metrics=METRICS[:2], **options)


def of_many_items(distance):
    """Enough rows for the nearest neighbors to be compared pair by pair."""
    items, classes = np.random.default_rng(1).normal(size=(600, 3)), np.arange(600) % 3
    return evaluate_retrieval(items[:9] + 0.1, items, classes[:9], classes, distance=distance, metrics=METRICS[:1])


def diversity(**similar):
    return intra_list_diversity(LISTS, items=ITEMS, k=4, **similar)


def of_parquet(folder):
    rows = pd.DataFrame({"label": LABEL, "score": SCORE, "qid": QUERY})
    rows.to_parquet(folder / "rows.parquet")
    return skr.evaluate_table(folder / "rows.parquet", metrics=METRICS)


SPARSE, FINGERPRINTS, LISTS_OF_ITEMS = "_engine.sparse.", "_engine.fingerprints.", "recommenders._intra_list."
CASES = {
    "lists": (f"{SPARSE}BLOCK_ROWS", lambda _: skr.evaluate(LABELS, SCORES, metrics=METRICS[:2])),
    "pairs": (f"{SPARSE}ROWS_IN_MEMORY", lambda _: skr.evaluate(LABELS, SCORES, metrics=METRICS, exclude=MATRIX == 2)),
    "dense scores": (f"{SPARSE}ROWS_IN_MEMORY", lambda _: skr.evaluate(LABELS, SCORES.toarray(), metrics=METRICS)),
    "rows": ("_utils.blocks.BLOCK_ROWS", lambda _: skr.evaluate(LABEL, SCORE, qid=QUERY, n_jobs=2)),
    "labels": (f"{FINGERPRINTS}CACHED_ROWS", lambda _: skr.evaluate(LABEL, SCORE, qid=QUERY)),
    "drawn labels": (f"{FINGERPRINTS}CACHED_ROWS", lambda _: skr.evaluate(LABEL, SCORE, qid=QUERY[DRAWN])),
    "vectors": (f"{LISTS_OF_ITEMS}NUMBERS_IN_MEMORY", lambda _: diversity(vectors=FEATURES[:N_COLUMNS])),
    "similarities": (f"{LISTS_OF_ITEMS}NUMBERS_IN_MEMORY", lambda _: diversity(similarity=np.eye(N_COLUMNS))),
    "codes": ("retrieval._distances.CHECKED_CODES", lambda _: retrieval(FEATURES > 0, distance="hamming")),
    "features": ("retrieval._distances.COMPARED_PAIRS", lambda _: of_many_items("euclidean")),
    "directions": ("retrieval._distances.COMPARED_PAIRS", lambda _: of_many_items("cosine")),
    "scattered": (
        "_tables.scattered_queries.COLLECTED_ROWS",
        lambda _: skr.evaluate_table(batches(DRAWN), memory_limit=300),
    ),
    "grouped": ("_tables.batch_validator.COLLECTED_ROWS", lambda _: skr.evaluate_table(batches(), assume_grouped=True)),
    "Parquet": ("_tables.data_sets.BLOCK_ROWS", of_parquet),
}
"""Rows taken at a time: the constant that says how many, and a call that reads it."""


def bits(result):
    fingerprints = result.label_fingerprints
    values = {name: one.tobytes() for name, one in result.per_query.items()}
    return result.qid.tolist(), values, None if fingerprints is None else fingerprints.tobytes(), repr(result.mean())


@pytest.mark.parametrize("case", CASES)
def test_blocks_change_no_bit(case, monkeypatch, tmp_path):
    constant, call = CASES[case]
    expected = bits(call(tmp_path))
    for n in sorted({size + more for size in (2, N, 2 * N, N_COLUMNS, N * N_COLUMNS) for more in (-1, 0, 1)}):
        monkeypatch.setattr(f"sklearn_rank.{constant}", n)
        assert bits(call(tmp_path)) == expected, n
