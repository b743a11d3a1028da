"""Data cut into batches, and results that must be the same to the last bit."""

import numpy as np
from registry import Data

from sklearn_rank import evaluate, evaluate_table

NAMES = ["ndcg@10", "ndcg@3", "map", "err", "mse", "auc", "p@5"]


def make(seed=0, n_queries=60, longest=14, *, shuffle=False):
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, longest, n_queries)
    n = sizes.sum()
    qid = np.repeat(rng.permutation(n_queries) * 3 - 5, sizes)
    data = Data(rng.integers(0, 5, n).astype(float), rng.integers(0, 9, n) / 3, qid)
    return data.rows(rng.permutation(n)) if shuffle else data


def cut(columns, size):
    """Tuples of so many rows."""
    return [tuple(c[i : i + size] for c in columns) for i in range(0, len(columns[0]), size)]


def assert_same(found, expected):
    """Results are equal, bit by bit."""
    assert found.qid.dtype == expected.qid.dtype
    assert found.qid.tolist() == expected.qid.tolist()
    assert found.per_query.keys() == expected.per_query.keys()
    for name, values in expected.per_query.items():
        assert found.per_query[name].tobytes() == values.tobytes(), name
    assert repr(found.mean()) == repr(expected.mean())
    assert found.n_undefined == expected.n_undefined
    assert found.meaning == expected.meaning
    np.testing.assert_array_equal(found.n_documents, expected.n_documents)
    assert (found.weight is None) == (expected.weight is None)
    if expected.weight is not None:
        assert found.weight.tobytes() == expected.weight.tobytes()


def check(columns, size, *, metrics=NAMES, assume_grouped=False, memory_limit=1500, **keywords):
    weight = {"sample_weight": columns[3]} if len(columns) == 4 else {}
    expected = evaluate(*columns[:2], qid=columns[2], metrics=metrics, **weight, **keywords)
    batches = cut(columns, size)
    found = evaluate_table(
        batches, metrics=metrics, assume_grouped=assume_grouped, memory_limit=memory_limit, **keywords
    )
    assert_same(found, expected)
    return found
