"""The expectation over all orders of tied documents is exact, and other tie policies do as documented."""

from math import comb, fsum

import numpy as np
import pytest
from numpy.testing import assert_allclose
from registry import labels_of, policies, tie_policy, together
from scipy import stats

from sklearn_rank import metrics
from sklearn_rank._metric.metric import REGISTRY

pytestmark = pytest.mark.slow

NO_CLOSED_FORM = "no closed form for tied documents: use ties='stable', 'worst' or 'best'"
WITH_TIES = [name for name, metric in REGISTRY.items() if "ties" in metric.defaults]
each_metric = pytest.mark.parametrize("name", WITH_TIES)


def test_a_denominator_that_depends_on_the_order_rejects_ties():
    keywords = {"qid": [0, 0, 0], "denominator": "retrieved_relevant"}
    what = "map_score with denominator='retrieved_relevant' has "
    with pytest.raises(ValueError, match=what + NO_CLOSED_FORM):
        metrics.map_score([1, 0, 1], [2, 2, 1], **keywords)
    assert_allclose(metrics.map_score([1, 0, 1], [2, 2, 1], ties="worst", **keywords), (1 / 2 + 2 / 3) / 2)
    assert_allclose(metrics.map_score([1, 0, 1], [3, 2, 1], **keywords), (1 + 2 / 3) / 2)


@each_metric
def test_ties_below_the_cutoff_have_no_effect(name):
    """A list is ranked only to the requested depth, so lower ties are never found."""
    if REGISTRY[name].has_cutoff:
        keywords = {"qid": [0] * 5, "k": 2}
        label = np.minimum([1, 0, 2, 1, 0], labels_of(REGISTRY[name])[-1])
        untied = REGISTRY[name](label, [5, 4, 3, 2, 1], **keywords)
        for ties in policies(REGISTRY[name]):
            assert REGISTRY[name](label, [5, 4, 3, 3, 3], ties=ties, **keywords) == untied


# --- a constant scorer: the expected score of a random order -------------------------------------------------

N, R = 12, 5
LABEL = np.array([1.0] * R + [0.0] * (N - R))
HARMONIC = fsum(1 / i for i in range(1, N + 1))


def constant(score, label=LABEL, **keywords):
    return score(label, np.zeros(len(label)), qid=np.zeros(len(label), dtype=int), **keywords)


@together("k", range(1, N + 1))
def test_constant_scorer_in_closed_form(k):
    assert_allclose(constant(metrics.precision_at_k_score, k=k), R / N)
    assert_allclose(constant(metrics.recall_at_k_score, k=k), k / N)
    assert_allclose(constant(metrics.cg_score, k=k), k * R / N)
    assert_allclose(constant(metrics.hit_rate_score, k=k), 1 - comb(N - R, k) / comb(N, k))
    assert_allclose(constant(metrics.hit_rate_score, k=k, need="all"), comb(k, R) / comb(N, R))
    assert_allclose(constant(metrics.rbp_score, k=k, p=0.7), (1 - 0.7**k) * R / N)
    one_relevant = np.eye(1, N).ravel()
    assert_allclose(constant(metrics.mrr_score, one_relevant, k=k), fsum(1 / i for i in range(1, k + 1)) / N)


def test_constant_scorer_of_whole_lists():
    graded = np.array([3.0, 2.0, 3.0, 0.0, 1.0, 2.0])
    discount = 1 / np.log2(np.arange(2, 8))
    assert_allclose(constant(metrics.query_auc_score), 1 / 2)
    assert_allclose(constant(metrics.mrr_score, np.eye(1, N).ravel()), HARMONIC / N)
    # Each rank is relevant with equal chance; a share (i - 1) / (N - 1) of the others is above rank i.
    assert_allclose(constant(metrics.map_score), (HARMONIC + (R - 1) / (N - 1) * (N - HARMONIC)) / N)
    assert_allclose(constant(metrics.dcg_score, graded, gain="linear"), graded.mean() * discount.sum())
    share = graded.mean() * discount.sum() / (np.sort(graded)[::-1] * discount).sum()
    assert_allclose(constant(metrics.ndcg_score, graded, gain="linear"), share)


# --- long lists ----------------------------------------------------------------------------------------------


def long_list(rng, n, largest):
    """Labels and scores of a list with tie blocks of up to `largest` documents."""
    sizes = []
    while sum(sizes) < n:
        sizes.append(int(rng.integers(1, largest + 1)))
    score = -np.repeat(np.arange(len(sizes)), sizes)[:n].astype(float)
    shuffled = rng.permutation(n)
    return rng.integers(0, 5, size=n) * (rng.random(n) < 0.3) * 1.0, score[shuffled]


# The lists are permutations of one list, whose blocks may be worse than chance.
@pytest.mark.filterwarnings("ignore:.*an order worse than a random order")
@each_metric
@together("n, largest", [(40, 8), (150, 60), (300, 100)])
def test_average_is_the_mean_over_random_orders(name, n, largest):
    """A seeded Monte Carlo: the exact value is within five standard errors of the mean of 400 orders."""
    if tie_policy(REGISTRY[name]):
        return
    metric, rng, n_orders = REGISTRY[name], np.random.default_rng([n, largest]), 400
    label, score = long_list(rng, n, largest)
    label = np.minimum(label, labels_of(metric)[-1])
    cut = {"k": [1, 3, 10, n // 3, n - 1, n]} if metric.has_cutoff else {}
    if name in ("dcg", "ndcg"):
        cut["gain"] = "exp2"  # under our name, because scikit-learn's functions have another
    shuffled = np.lexsort([rng.random((n_orders, n)), np.broadcast_to(-score, (n_orders, n))])
    untied = np.empty((n_orders, n))
    np.put_along_axis(untied, shuffled, -np.arange(n)[None, :] * 1.0, axis=1)
    drawn = metric(np.broadcast_to(label, (n_orders, n)), untied, average=None, **cut)
    error = drawn.std(axis=0) / np.sqrt(n_orders)
    exact = metric(label[None, :], score[None, :], **cut)
    assert (np.abs(drawn.mean(axis=0) - exact) <= 5 * error + 1e-12).all()


@pytest.mark.parametrize("n_relevant", [1, 2, 10, 50, 99, 100])
def test_binary_cascade_over_large_blocks(n_relevant):
    """RR: the first relevant document of a tie block is at offset j with a hypergeometric probability."""
    n = 100
    label = np.array([1] * n_relevant + [0] * (n - n_relevant))
    none_before = [comb(n - n_relevant, j) / comb(n, j) for j in range(n + 1)]
    first = -np.diff(none_before)
    assert_allclose(constant(metrics.mrr_score, label), (first / np.arange(1, n + 1)).sum(), rtol=1e-12)
    assert_allclose(constant(metrics.hit_rate_score, label, k=range(1, n + 1)), first.cumsum(), rtol=1e-12)


@pytest.mark.parametrize(("n_relevant", "n_other"), [(1, 1), (3, 2), (10, 90), (150, 200), (20, 500)])
def test_bpref_over_large_blocks(n_relevant, n_other):
    """The number of others above a relevant document is uniform on 0, 1, ..., N; by rank it comes from SciPy."""
    n, most = n_relevant + n_other, min(n_relevant, n_other)
    label = np.array([1.0] * n_relevant + [0.0] * n_other)
    above = fsum(min(c, most) for c in range(n_other + 1)) / (n_other + 1)
    assert_allclose(constant(metrics.bpref_score, label), 1 - above / most, rtol=1e-12, atol=1e-12)
    count, ranks = np.arange(n_other + 1), range(1, n + 1, max(n // 7, 1))
    counted = [np.minimum(count, most) @ stats.hypergeom(n - 1, n_other, i).pmf(count) for i in range(n)]
    expected = np.cumsum(1 - np.array(counted) / most)[np.array(ranks) - 1] / n
    assert_allclose(constant(metrics.bpref_score, label, k=ranks), expected, rtol=1e-10)


@pytest.mark.parametrize(("n", "largest"), [(60, 60), (200, 80), (300, 100)])
def test_average_precision_over_large_blocks(n, largest):
    """AP by the hypergeometric distribution of the relevant documents above each rank of a tie block."""
    label, score = long_list(np.random.default_rng([7, n]), n, largest)
    total = before = rank = 0
    for value in sorted(set(score), reverse=True):
        block = label[score == value] >= 1
        m, h = len(block), int(block.sum())
        for j in range(m if h else 0):
            above = [comb(h - 1, c) * comb(m - h, j - c) / comb(m - 1, j) for c in range(min(h, j + 1))]
            total += h / m * sum(p * (before + c + 1) for c, p in enumerate(above)) / (rank + j + 1)
        before, rank = before + h, rank + m
    found = metrics.map_score(label, score, qid=np.zeros(n))
    assert_allclose(found, total / (label >= 1).sum(), rtol=1e-12)


@pytest.mark.parametrize("n", [2, 60, 3000])
def test_coverage_over_large_blocks(n):
    """The last of r relevant documents in a block of n is at rank r (n + 1) / (r + 1) on average."""
    for n_relevant in {1, 2, n // 2, n - 1, n}:
        label = np.append(np.repeat([1, 0], [n_relevant, n - n_relevant]), [1, 0, 0])  # one above the block
        score = np.repeat([1, 2, 0], [n, 1, 2])
        found = metrics.coverage_error(label, score, qid=np.zeros(n + 3))
        assert_allclose(found, 1 + n_relevant * (n + 1) / (n_relevant + 1), rtol=1e-12)
