"""Rounding errors are below 1e-12 of exactly rounded sums and exact fractions."""

from fractions import Fraction
from math import comb, fsum

import numpy as np
import pytest
from registry import Data, cutoffs, draw_labels, each_metric, tie_policy

from sklearn_rank import metrics

LIMIT = 1e-12


def relative(found, expected):
    """Largest relative error of some numbers; 0 / 0 counts as no error."""
    found, expected = np.ravel(found), np.ravel(expected)
    return float(np.max(np.abs(found - expected) / np.where(expected == 0, 1, np.abs(expected)), initial=0))


def short_queries(metric, n_rows, seed=0):
    """Queries of 1 to 20 rows, some of them tied."""
    rng = np.random.default_rng([seed, len(metric.name)])
    size = rng.integers(1, 21, size=n_rows // 10)
    score = rng.integers(0, 12, size=size.sum()) / 4
    return Data(draw_labels(metric, rng, size.sum()), score, np.repeat(np.arange(len(size)), size))


def means(metric, n_rows):
    """Plain and weighted means over queries, against `math.fsum` of the values."""
    data = short_queries(metric, n_rows)
    given = {"qid": data.qid} | cutoffs(metric, 10) | tie_policy(metric)
    values = np.ravel(metric(data.y_true, data.y_score, average=None, **given))
    weight = np.random.default_rng(1).random(len(values)) + 0.1
    found = [np.ravel(metric(data.y_true, data.y_score, sample_weight=w, **given))[0] for w in (None, weight[data.qid])]
    return found, [fsum(values) / len(values), fsum(weight * values) / fsum(weight)]


def long_query(n_rows):
    """Metrics of one query with all rows, each with the exact sum of its terms."""
    rng = np.random.default_rng(2)
    y, rank = rng.integers(0, 5, size=n_rows) * 1.0, np.arange(1, n_rows + 1)
    hit, qid, p = y >= 1, np.zeros(n_rows, dtype=np.int64), 1 - 4 / n_rows
    noise = rng.standard_normal(n_rows)
    stop = (2**y - 1) / 16 * 1e-5
    alive = np.cumprod(np.append(1, 1 - stop[:-1].astype(np.longdouble)))
    gain, discount = np.exp2(y) - 1, 1 / np.log2(rank + 1)
    n_hits, above = int(hit.sum()), np.cumsum(hit)
    pairs = int(above[~hit].sum())
    ask = {"qid": qid}
    return {
        "cg": (metrics.cg_score(y, -rank, **ask), fsum(y)),
        "cg of 0.1": (metrics.cg_score(0 * y + 0.1, -rank, **ask), fsum(0 * y + 0.1)),
        "cg of 0.1, tied": (metrics.cg_score(0 * y + 0.1, 0 * y, **ask), fsum(0 * y + 0.1)),
        "dcg": (metrics.dcg_score(y, -rank, **ask), fsum(gain * discount)),
        "ndcg": (metrics.ndcg_score(y, -rank, **ask), fsum(gain * discount) / fsum(np.sort(gain)[::-1] * discount)),
        "map": (metrics.map_score(y, -rank, **ask), fsum(above[hit] / rank[hit]) / n_hits),
        "rbp": (metrics.rbp_score(y, -rank, p=p, **ask), (1 - p) * fsum(float(x) for x in hit * power(p, n_rows))),
        "err": (metrics.err_score(stop, -rank, stop="label", **ask), fsum(float(x) for x in stop * alive / rank)),
        "pfound": (metrics.pfound_score(stop, -rank, stop="label", decay=1, **ask), fsum(map(float, stop * alive))),
        "auc": (metrics.query_auc_score(y, -rank, **ask), pairs / (n_hits * (n_rows - n_hits))),
        "relevance_position": (metrics.relevance_position_error(y, -rank, **ask), fsum(y * rank) / fsum(y)),
        "mse": (metrics.query_mse_error(y, noise, **ask), fsum((y - noise) ** 2) / n_rows),
        "mae": (metrics.query_mae_error(y, noise, **ask), fsum(np.abs(y - noise)) / n_rows),
    }


def power(p, n):
    """p to the powers 0, 1, ..., with the digits of a long double."""
    return np.exp(np.arange(n) * np.log1p(np.longdouble(p) - 1))


def drawn_stops(m):
    """Probabilities to stop at each of m tied documents, from 1e-9 to 1 - 1e-9."""
    rng = np.random.default_rng(3)
    small = 10.0 ** rng.uniform(-9, -1, size=m)
    return {
        "all 1e-9": np.full(m, 1e-9),
        "all 1 - 1e-9": np.full(m, 1 - 1e-9),
        "of all sizes": small,
        "near both ends": np.where(rng.random(m) < 0.5, small, 1 - small),
        "few surely": np.where(rng.random(m) < 3 / m, 1 - 1e-9, 1e-9 * rng.random(m)),
    }


def exact_stops(stop):
    """Probability to stop at each place of a tie, rounded once: of whole numbers, and divided at the end."""
    m, one = len(stop), max(Fraction(p).denominator for p in stop.tolist())
    alive = [1] + [0] * m  # elementary symmetric sums of the probabilities to go on
    for n, p in enumerate(stop.tolist(), start=1):
        go_on = int((1 - Fraction(p)) * one)
        for j in range(n, 0, -1):
            alive[j] += go_on * alive[j - 1]
    subsets = [comb(m, j) for j in range(m + 1)]
    whole = [(alive[j] * subsets[j + 1] * one - alive[j + 1] * subsets[j], j) for j in range(m)]
    return np.array([top / (subsets[j] * subsets[j + 1] * one ** (j + 1)) for top, j in whole])


def tied_cascades(m):
    """ERR and pFound of m tied documents with probabilities of every size."""
    ask, rank, found = {"qid": np.zeros(m), "stop": "label"}, np.arange(1, m + 1), {}
    for kind, stop in drawn_stops(m).items():
        exact = exact_stops(stop)
        found[f"err, {kind}"] = metrics.err_score(stop, np.zeros(m), **ask), fsum(exact / rank)
        found[f"pfound, {kind}"] = metrics.pfound_score(stop, np.zeros(m), decay=1, **ask), fsum(exact)
    return found


def tied_joint(m):
    """MAP, nDCG and RBP of m tied documents below m / 4 untied ones, as fractions."""
    rng, found = np.random.default_rng(4), {}
    score = np.append(np.arange(m // 4, 0, -1), np.zeros(m))
    n, ask = len(score), {"qid": np.zeros(len(score))}
    ranks = range(m // 4 + 1, n + 1)
    for share in (1.5 / m, 0.01, 0.5, 1.0):
        hit = np.append(np.arange(m // 4) % 3 == 1, rng.random(m) < share)
        above, tied = int(hit[: m // 4].sum()), int(hit[m // 4 :].sum())
        first = sum((Fraction(int(hit[: i + 1].sum()), i + 1) for i in range(m // 4) if hit[i]), Fraction())
        chance, pair = Fraction(tied, m), Fraction(tied * (tied - 1), m * (m - 1))
        below = sum(((above + 1) * chance + (r - m // 4 - 1) * pair) / r for r in ranks)
        found[f"map, {share:g}"] = metrics.map_score(hit, score, **ask), float((first + below) / (above + tied))
        gained = sum(Fraction(1, i + 1) for i in range(m // 4) if hit[i]) + chance * sum(Fraction(1, r) for r in ranks)
        best = sum(Fraction(1, r) for r in range(1, above + tied + 1))
        ndcg = metrics.ndcg_score(hit, score, discount="reciprocal", **ask)
        found[f"ndcg, {share:g}"] = ndcg, float(gained / best)
    for p in (1e-9, 0.5, 1 - 1e-9):
        expected = Fraction(m // 2, m) * (1 - Fraction(p) ** m)
        found[f"rbp, {p}"] = metrics.rbp_score(np.arange(m) % 2, np.zeros(m), p=p, qid=np.zeros(m)), float(expected)
    return found


@each_metric
def test_means_have_the_digits_of_fsum(metric):
    assert relative(*means(metric, 3000)) <= LIMIT


@pytest.mark.filterwarnings("ignore:.*look swapped")
@pytest.mark.parametrize(
    ("kind", "size", "limit"),
    [(long_query, 100_000, LIMIT / 10), (tied_cascades, 150, LIMIT), (tied_joint, 200, LIMIT)],
)
def test_sums_and_ties_have_the_digits_of_exact_ones(kind, size, limit):
    assert {name: relative(*pair) for name, pair in kind(size).items() if relative(*pair) > limit} == {}
