"""Data of the benchmarks: one function a shape, the same arrays for whoever is timed.

Scores fit in 32 bits, which is what XGBoost and pytrec_eval keep; they know something about the grades, whose shares
are taken from MSLR-WEB30K. `rows` scales a shape: fewer queries, or shorter ones where there are few.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from sklearn_rank.datasets import make_ranking

GRADES = (0.515, 0.325, 0.134, 0.018, 0.008)  # share of the grades 0 to 4 in MSLR-WEB30K
TAIL = 10_000  # rows of the longest query of `zipf`, the most that LightGBM takes


class Data(NamedTuple):
    """The arguments of every metric."""

    y_true: np.ndarray
    y_score: np.ndarray
    qid: np.ndarray

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays; of object ids only the pointers."""
        return sum(array.nbytes for array in self)


def _ranking(
    n_queries: int, n_documents: tuple[int, int], seed: int, grades: tuple[float, ...] = GRADES, **keywords: bool
) -> Data:
    X, y, qid = make_ranking(
        max(n_queries, 1), 1, n_informative=1, n_documents=n_documents, grades=grades, noise=2.0, random_state=seed,
        **keywords,
    )  # fmt: skip
    return Data(y.astype(np.float64), X[:, 0].astype(np.float32).astype(np.float64), qid)


def mslr(rows: int, seed: int, **keywords: bool) -> Data:
    """Queries of 1 to 240 rows, 120 on average."""
    return _ranking(round(rows / 120.5177), (1, 240), seed, **keywords)


def of_length(length: int, n_queries: int, seed: int) -> Data:
    """Queries of as many rows each."""
    return _ranking(n_queries, (length, length), seed)


def _with_length(length: int, rows: int, seed: int) -> Data:
    return of_length(length, max(rows // length, 1), seed)


def tiny(rows: int, seed: int) -> Data:
    """Many queries of 5 rows."""
    return of_length(5, rows // 5, seed)


def huge(rows: int, seed: int) -> Data:
    """20 long queries."""
    return of_length(max(rows // 20, 1), 20, seed)


def single(rows: int, seed: int) -> Data:
    """One query of 10 rows, whatever `rows`: what a call costs."""
    return of_length(10, 1, seed)


def shuffled(rows: int, seed: int) -> Data:
    """`mslr` with its rows in random order."""
    return mslr(rows, seed, shuffle=True)


def strings(rows: int, seed: int) -> Data:
    """`mslr` with ids such as "q17"."""
    return mslr(rows, seed, string_qid=True)


def shuffled_strings(rows: int, seed: int) -> Data:
    """`mslr` with ids such as "q17" and its rows in random order."""
    return mslr(rows, seed, string_qid=True, shuffle=True)


def shuffled_objects(rows: int, seed: int) -> Data:
    """The same, the ids Python strings in an array of objects, like in pandas before version 3."""
    data = shuffled_strings(rows, seed)
    return data._replace(qid=data.qid.astype(object))


def narrow(rows: int, seed: int) -> Data:
    """`mslr` as int32 labels and ids and float32 scores."""
    data = mslr(rows, seed)
    return Data(data.y_true.astype(np.int32), data.y_score.astype(np.float32), data.qid.astype(np.int32))


def ties(rows: int, seed: int) -> Data:
    """`mslr` with 100 distinct scores."""
    data = mslr(rows, seed)
    levels = np.quantile(data.y_score, np.arange(1, 100) / 100)
    return data._replace(y_score=np.searchsorted(levels, data.y_score).astype(np.float64))


def constant(rows: int, seed: int) -> Data:
    """`mslr` with one score for all."""
    data = mslr(rows, seed)
    return data._replace(y_score=np.zeros(len(data.y_score)))


def recommender(rows: int, seed: int) -> Data:
    """Lists of 100 with one relevant document each, one of the best grade that the list had."""
    data = of_length(100, rows // 100, seed)
    grade = data.y_true.reshape(-1, 100)
    best = np.argmax(grade + np.random.default_rng(seed).random(grade.shape), axis=1)
    return data._replace(y_true=(np.arange(100) == best[:, None]).astype(np.float64).ravel())


def rare(rows: int, seed: int) -> Data:
    """Lists of 100, one document in a hundred relevant: more than a third of the lists have none."""
    return _ranking(rows // 100, (100, 100), seed, grades=(0.99, 0.01))


def no_relevant(rows: int, seed: int) -> Data:
    """`mslr` with no relevant document in one query of ten."""
    data = mslr(rows, seed)
    return data._replace(y_true=np.where(data.qid % 10 == 0, 0.0, data.y_true))


def float32_scores(rows: int, seed: int) -> Data:
    """`mslr` with the float32 scores that a booster or a network gives."""
    data = mslr(rows, seed)
    return data._replace(y_score=data.y_score.astype(np.float32))


def zipf(rows: int, seed: int) -> Data:
    """Rows of `mslr` in queries with a long tail: a length l has a probability like l**-1.5, up to `TAIL`."""
    data, length = mslr(rows, seed), np.arange(1, TAIL + 1)
    share = length**-1.5
    end = np.cumsum(np.random.default_rng(seed).choice(length, len(data.qid), p=share / share.sum()))
    return data._replace(qid=np.searchsorted(end, np.arange(len(data.qid)), side="right"))


def probabilities(rows: int, seed: int) -> Data:
    """`mslr` with scores between 0 and 1, most of them near 0, like probabilities of clicks."""
    data = mslr(rows, seed)
    score = data.y_score / data.y_score.std()
    return data._replace(y_score=(1 / (1 + np.exp(6 - 3 * score))).astype(np.float32).astype(np.float64))


def far_out(rows: int, seed: int) -> Data:
    """`mslr` with some scores far from all others, on both sides, which a sum of logarithms may have."""
    data = mslr(rows, seed)
    score = data.y_score / data.y_score.std()
    return data._replace(y_score=(np.sign(score) * np.expm1(4 * np.abs(score))).astype(np.float32).astype(np.float64))


def mostly_zero(rows: int, seed: int) -> Data:
    """`mslr` with nine scores of ten 0, like where few documents match."""
    data = mslr(rows, seed)
    matches = np.random.default_rng(seed).random(len(data.qid)) < 0.1
    return data._replace(y_score=np.where(matches, data.y_score, 0.0))


def ranked(rows: int, seed: int) -> Data:
    """`mslr` with the rows of each query in the order of their scores, as a search engine returns them."""
    data = mslr(rows, seed)
    order = np.lexsort([-data.y_score, data.qid])
    return Data(*(x[order] for x in data))


ROWS = {
    mslr: 3_800_000, tiny: 5_000_000, huge: 20_000_000, single: 10, shuffled: 3_800_000, strings: 3_800_000,
    shuffled_strings: 3_800_000, shuffled_objects: 3_800_000, narrow: 3_800_000, ties: 3_800_000, constant: 3_800_000,
    recommender: 10_000_000, rare: 10_000_000, no_relevant: 3_800_000, float32_scores: 3_800_000, zipf: 3_800_000,
    probabilities: 3_800_000, far_out: 3_800_000, mostly_zero: 3_800_000, ranked: 3_800_000,
}  # fmt: skip
"""Each shape and about how many rows it has when none are asked for: 31,531 queries, if they are like `mslr`."""

SHAPES = {shape.__name__: shape for shape in ROWS}
LENGTHS = {f"of_{n}": partial(_with_length, n) for n in (1, 2, 3, 5, 8, 10, 15, 20, 30, 50)}
"""Shapes of as many rows a query each, which are measured where they are asked for."""

ROWS_OF_LENGTHS = 3_000_000


def rows_by_default(name: str) -> int:
    """About how many rows a shape has when none are asked for."""
    return ROWS[SHAPES[name]] if name in SHAPES else ROWS_OF_LENGTHS


def make(name: str, rows: int | None = None, seed: int = 0) -> Data:
    """Arrays of a shape; `rows` is about how many there are."""
    shape = SHAPES[name] if name in SHAPES else LENGTHS[name]
    return shape(rows_by_default(name) if rows is None else rows, seed)


METRICS = ("dcg", "ndcg", "map", "wap", "mrr", "precision", "recall", "f1", "hit", "err", "rbp", "q")
CUTOFFS = (1, 3, 5, 10, 20)  # of the suite
DEPTHS = (*CUTOFFS, 100)  # of peers
AGREEMENT = ("coverage_error", "kendall", "spearman")
SUITE = [f"{metric}{at}" for metric in METRICS for at in [*(f"@{k}" for k in CUTOFFS), ""]]
"""Twelve metrics at five cutoffs and on the whole list."""
