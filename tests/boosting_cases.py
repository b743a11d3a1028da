"""Data for the metrics of training loops, and expected values, computed by hand from staged predictions."""

import numpy as np

from sklearn_rank import evaluate


def make_rows(n_queries, seed):
    """X, y, qid and sizes; some queries have one document, some no relevant document."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 12, n_queries)
    qid = np.repeat(np.arange(n_queries), sizes)
    X = rng.normal(size=(len(qid), 4))
    return X, np.clip(np.round(X[:, 0] + rng.normal(size=len(qid))), 0, 3), qid, sizes


TRAIN, VALID = make_rows(60, 0), make_rows(30, 1)


def by_hand(metric, stages, rows=VALID, **keywords):
    """The metric after each round, of predictions after each round."""
    _, y, qid, _ = rows
    return [evaluate(y, s, qid=qid, metrics={"m": metric}, **keywords).mean()["m"] for s in stages]


def first_best(curve, patience, greater_is_better=True):
    """Round of the best value, up to the point where `patience` rounds brought no improvement."""
    sign = 1 if greater_is_better else -1
    best = 0
    for i, value in enumerate(curve):
        if sign * value > sign * curve[best]:
            best = i
        if i - best >= patience:
            break
    return best
