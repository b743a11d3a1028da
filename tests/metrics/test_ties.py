"""Ties: the expectation over all orders of tied documents is exact, and the other policies are what they say."""

from fractions import Fraction
from functools import cache
from itertools import pairwise
from math import comb, fsum, inf

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from oracle import ORACLES, judged_only, mean_over_orders, orders
from registry import about, labels_of, policies, together
from scipy import stats

from sklearn_rank import metrics
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Labels, Ranking
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.spec import MetricSpec

pytestmark = pytest.mark.slow

CUTOFFS = [1, 2, 3, 4, 5, 6, 7]  # the lists have up to six documents
NO_CLOSED_FORM = "no closed form for tied documents: use ties='stable', 'worst' or 'best'"

TRIED = {
    "gain": ["exp2", "linear", "binary", [0, 1, 1, 5, 5.5], {0: 0, 1: 0.5, 2: 1, 3: 4, 4: 4}, np.sqrt],
    "discount": ["log2", "jarvelin", "reciprocal", "flat", [1, 0.9, 0.5, 0.5, 0.1, 0], lambda rank: 0.9**rank],
    "denominator": ["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"],
    "no_relevant": ["undefined"],
    "ranks": ["relevant"],
    "recall": [0, 0.3, 0.6, 1, "11pt"],
    "rounding": ["nearest", "cut"],
    "beta": [2, 0.5, 0],
    "p": [0.5, 0.95],
    "max_grade": [5],
    "stop": ["label"],
    "decay": [0.5, 1],
    "alpha": [0, 0.3, 1],
    "min_relevance": [2, 3],
    "max_fpr": [0.1, 0.3, 0.5, 1],
}
"""Values of keywords that every metric with such a keyword is tried with."""

TRIED_TOGETHER = [
    {"discount": "jarvelin", "base": 3},
    {"gain": "binary", "min_relevance": 2},
    {"gain": "linear", "max_grade": 5},
    {"gain": "exp2", "max_grade": 4},
    {"denominator": "min_k_relevant", "min_relevance": 2},
]


WITH_TIES = [name for name, metric in REGISTRY.items() if "ties" in metric.defaults]


def takes(name, keywords):
    """Whether a metric has these keywords and these values of them, and reads them beside the others."""
    metric = REGISTRY[name]
    accepts = all(a in metric.defaults and metric.rule(a).accepts(b) for a, b in keywords.items())
    return accepts and not MetricSpec(metric, None, keywords).unread


@cache
def variants(name):
    """Keywords of a metric: none, and what else it can be asked for."""
    alone = [{keyword: value} for keyword, values in TRIED.items() for value in values]
    return [keywords for keywords in [{}, *alone, *TRIED_TOGETHER] if takes(name, keywords)]


each_metric = pytest.mark.parametrize("name", WITH_TIES)


# --- small lists, all orders ---------------------------------------------------------------------------------


@cache
def small_lists(lowest, tied=True, unjudged=False, n_lists=100):
    """Random lists of one to six documents: some not retrieved, some tied, some not judged."""
    rng, lists = np.random.default_rng([6, lowest + 1, tied, unjudged]), []
    for n in rng.integers(1, 7, size=n_lists):
        label = rng.integers(lowest, 5, size=n) * rng.choice([1.0, 1.0, 1.0, 0.0])
        score = rng.integers(rng.integers(1, 5), size=n) * 0.5 if tied else rng.permutation(n) - 2.0
        score[rng.random(n) < 0.15] = -inf
        if unjudged:
            label[rng.random(n) < 0.2] = np.nan
        lists.append((label, score))
    return lists


def lists_for(name, keywords, **facts):
    """Small lists with the labels that a metric takes; a table of gains has none for -1.

    Half as many do where a metric is asked for something else than its defaults, as it is asked often.
    """
    facts |= {"n_lists": 50} if keywords or "unjudged" in facts else {}
    if REGISTRY[name].subtopics:
        facts |= {"n_lists": 25} if keywords else {}  # of which few documents are alike
        return with_subtopics(labels_of(REGISTRY[name])[-1], **facts)
    negative = REGISTRY[name].labels[0] is None and "gain" not in keywords
    lists = small_lists(-1 if negative else 0, **facts)
    return [(label / 4, score) for label, score in lists] if keywords.get("stop") == "label" else lists


@cache
def with_subtopics(highest, **facts):
    """Small lists with a label for each of three subtopics."""
    rng = np.random.default_rng(3)
    columns = ((label, rng.permutation(label), rng.permutation(label)) for label, _ in small_lists(0, **facts))
    labels = (np.minimum(np.transpose(column), highest) for column in columns)
    return [(label, score) for label, (_, score) in zip(labels, small_lists(0, **facts), strict=True)]


def measured(name, lists, **keywords):
    """The library's values, shape (n_lists, n_cutoffs + 1): at each cutoff, then of the whole list."""
    label, score = map(np.concatenate, zip(*lists, strict=True))
    qid = np.repeat(np.arange(len(lists)), [len(y) for y, _ in lists])
    given = {"qid": qid, "average": None, "replace_undefined_by": np.nan, **keywords}
    values = [REGISTRY[name](label, score, **given)[:, None]]
    if REGISTRY[name].has_cutoff:
        values.insert(0, REGISTRY[name](label, score, k=CUTOFFS, **given))
    return np.hstack(values)


def cutoffs(name):
    return [*CUTOFFS, None] if REGISTRY[name].has_cutoff else [None]


orders_of = cache(orders)
"""Once for all metrics that are asked alike."""


def wanted(name, lists, ties, *, unjudged=None, **keywords):
    """The oracle's values, in the same shape."""
    if name not in ORACLES:
        pytest.fail(f"tests/oracle.py has no oracle for {name!r}: write one from its published definition.")
    rows = []
    for label, score in lists:
        label, score = judged_only(label, score, unjudged)
        listed = tuple(map(tuple, label)) if label.ndim == 2 else tuple(label), tuple(score)
        allowed, missing = orders_of(*listed, ties, REGISTRY[name].keeps_unretrieved)
        rows.append([mean_over_orders(name, allowed, missing, k, **keywords) for k in cutoffs(name)])
    return np.array(rows)


def refuses_ties(name, keywords):
    """Whether a metric says that it has no closed form for tied documents; the error must name what works."""
    try:
        REGISTRY[name]([1, 0], [5, 5], qid=[0, 0], **keywords)
    except ValueError as error:
        if NO_CLOSED_FORM in str(error):
            return True
        raise
    return False


def agrees(name, lists, keywords, ties="average"):
    """Compare the library with the oracle; a metric that refuses ties may do without one."""
    if name in ORACLES or not refuses_ties(name, keywords):
        expected = wanted(name, lists, ties, **keywords)
        assert_allclose(measured(name, lists, ties=ties, **keywords), expected, rtol=1e-12, atol=1e-12)


@each_metric
def test_without_ties_values_are_the_definition(name):
    for keywords in variants(name):
        with about(keywords):
            agrees(name, lists_for(name, keywords, tied=False), keywords)


@each_metric
def test_average_is_the_mean_over_all_orders(name):
    for keywords in variants(name):
        with about(keywords):
            if not refuses_ties(name, keywords):
                agrees(name, lists_for(name, keywords), keywords)


@each_metric
def test_other_policies_take_one_order(name):
    for keywords in variants(name):
        for ties in {"stable", "worst", "best"} & {*policies(REGISTRY[name])}:
            with about((ties, keywords)):
                agrees(name, lists_for(name, keywords), keywords, ties=ties)


@each_metric
def test_unjudged_documents_among_ties(name):
    allowed = [ties for ties in policies(REGISTRY[name]) if ties != "average" or not refuses_ties(name, {})]
    for unjudged in ["nonrelevant", "drop", *[None] * REGISTRY[name].reads_unjudged]:
        for ties in allowed:
            agrees(name, lists_for(name, {}, unjudged=True), {"unjudged": unjudged}, ties=ties)


def test_a_denominator_that_depends_on_the_order_refuses_ties():
    keywords = {"qid": [0, 0, 0], "denominator": "retrieved_relevant"}
    what = "map_score with denominator='retrieved_relevant' has "
    with pytest.raises(ValueError, match=what + NO_CLOSED_FORM):
        metrics.map_score([1, 0, 1], [2, 2, 1], **keywords)
    assert_allclose(metrics.map_score([1, 0, 1], [2, 2, 1], ties="worst", **keywords), (1 / 2 + 2 / 3) / 2)
    assert_allclose(metrics.map_score([1, 0, 1], [3, 2, 1], **keywords), (1 + 2 / 3) / 2)


@each_metric
def test_ties_below_the_cutoff_are_no_ties(name):
    """A list is ranked no deeper than asked for, so what is tied further down is nobody's business."""
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
    assert_allclose(constant(metrics.rbp_score, k=k, p=0.7), (1 - 0.7**k) * R / N)
    one_relevant = np.eye(1, N).ravel()
    assert_allclose(constant(metrics.mrr_score, one_relevant, k=k), fsum(1 / i for i in range(1, k + 1)) / N)


def test_constant_scorer_of_whole_lists():
    graded = np.array([3.0, 2.0, 3.0, 0.0, 1.0, 2.0])
    discount = 1 / np.log2(np.arange(2, 8))
    assert_allclose(constant(metrics.query_auc_score), 1 / 2)
    assert_allclose(constant(metrics.mrr_score, np.eye(1, N).ravel()), HARMONIC / N)
    # A relevant document stands at each rank alike; of the others, a share (i - 1) / (N - 1) stands above rank i.
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


@each_metric
@together("n, largest", [(40, 8), (150, 60), (300, 100)])
def test_average_is_the_mean_over_random_orders(name, n, largest):
    """A seeded Monte Carlo: the exact value is within five standard errors of the mean of 400 orders."""
    if refuses_ties(name, {}):
        return
    metric, rng, n_orders = REGISTRY[name], np.random.default_rng([n, largest]), 400
    label, score = long_list(rng, n, largest)
    label = np.minimum(label, labels_of(metric)[-1])
    cut = {"k": [1, 3, 10, n // 3, n - 1, n]} if metric.has_cutoff else {}
    shuffled = np.lexsort([rng.random((n_orders, n)), np.broadcast_to(-score, (n_orders, n))])
    untied = np.empty((n_orders, n))
    np.put_along_axis(untied, shuffled, -np.arange(n)[None, :] * 1.0, axis=1)
    drawn = metric(np.broadcast_to(label, (n_orders, n)), untied, average=None, **cut)
    error = drawn.std(axis=0) / np.sqrt(n_orders)
    exact = metric(label[None, :], score[None, :], **cut)
    assert (np.abs(drawn.mean(axis=0) - exact) <= 5 * error + 1e-12).all()


def survival(stop, one=2**150):
    """Probability that nobody stops at the first j of tied items in random order, for j = 0 ... m.

    The mean over all subsets of j items of the product of 1 - p: an elementary symmetric polynomial over C(m, j),
    in integers, multiples of 1 / one, so that no error builds up.
    """
    symmetric = [1] + [0] * len(stop)
    for p in stop:
        go_on = int((1 - Fraction(p)) * one)
        for j in range(len(stop), 0, -1):
            symmetric[j] += go_on * symmetric[j - 1]
    return [Fraction(e, comb(len(stop), j) * one**j) for j, e in enumerate(symmetric)]


def exact_stops(stop, score):
    """Probability to stop at each rank of a list with ties."""
    out, reached = [], Fraction(1)
    for value in sorted(set(score), reverse=True):
        alive = survival([p for p, s in zip(stop, score, strict=True) if s == value])
        out += [float(reached * (a - b)) for a, b in pairwise(alive)]
        reached *= alive[-1]
    return np.array(out)


STOPS = {
    "near 0": lambda rng, m: rng.random(m) * 1e-4,
    "near 1": lambda rng, m: 1 - rng.random(m) * 1e-4,
    "middling": lambda rng, m: rng.random(m) * 0.9,
    "0 and 1": lambda rng, m: rng.choice([0.0, 1.0], p=[0.9, 0.1], size=m),
    "0 and a few": lambda rng, m: rng.choice([0.0, 0.5], p=[0.9, 0.1], size=m),
    "1 and many small": lambda rng, m: rng.choice([1.0, 1e-3], p=[0.05, 0.95], size=m),
    "0, 1 and between": lambda rng, m: rng.choice([0.0, 1e-5, 0.3, 0.9, 1.0], size=m),
    "all equal": lambda rng, m: np.full(m, 0.25),
    "tiny": lambda rng, m: rng.random(m) * 1e-9,
}


@pytest.mark.parametrize("drawn", STOPS)
@together("sizes", [[100], [1, 100], [30, 1, 60], [3] * 20, [99, 1, 2], [2, 40, 40]])
def test_cascade_over_large_blocks_is_exact(drawn, sizes):
    """Cutting the recurrence where nobody is left changes no digit, at any cutoff."""
    rng = np.random.default_rng([len(sizes), *sizes, len(drawn)])
    stop, score = STOPS[drawn](rng, sum(sizes)), -np.repeat(np.arange(len(sizes)), sizes) * 1.0
    exact = exact_stops(stop, score)
    assert_allclose(cascade(stop, score), exact, rtol=1e-12, atol=1e-15)
    for depth in (1, 7, sizes[0], len(stop) - 1):
        assert_allclose(cascade(stop, score, depth)[:depth], exact[:depth], rtol=1e-12, atol=1e-15)


def cascade(stop, score, depth=NO_CUTOFF):
    labels = Labels(stop, np.array([0, len(stop)]))
    ranked = Ranked(Ranking.by_score(labels, score, depth=depth), np.array([depth]))
    return ranked.cascade(ranked.label)


FEW_STOPS = {  # probability to stop, in sixteenths, and how many of the tied items have it
    "grades": {0: 515, 1: 325, 3: 134, 7: 18, 15: 8},
    "hardly any": {0: 995, 1: 2, 15: 3},
    "one": {0: 999, 7: 1},
    "certain": {0: 700, 1: 200, 16: 100},
    "hardly ever certain": {0: 900, 2: 99, 16: 1},
    "hardly any zero": {0: 1, 1: 600, 2: 400},
    "alike": {1: 700},
    "small block": {0: 3, 1: 3, 7: 2, 16: 1},
    "all values": dict.fromkeys(range(17), 20),
}


@pytest.mark.parametrize("drawn", FEW_STOPS)
def test_cascade_over_few_distinct_values_is_exact(drawn):
    """Items that stop a user alike are counted, not met one by one."""
    stop = np.random.default_rng(0).permutation([p / 16 for p, n in FEW_STOPS[drawn].items() for _ in range(n)])
    exact = [float(a - b) for a, b in pairwise(survival(stop, one=16))]
    for depth in (NO_CUTOFF, len(stop) - 1, 50, 1):
        assert_allclose(cascade(stop, np.zeros(len(stop)), depth)[:depth], exact[:depth], rtol=1e-12, atol=1e-17)


def test_the_order_of_tied_grades_decides_no_digit_of_a_cascade():
    """Two tied blocks of a list, so that what survives the first counts too."""
    rng = np.random.default_rng(4)
    for m in (20, 100):
        stop, score = (
            rng.choice([0.0, 0.1, 0.3, 0.7, 0.9], 2 * m, p=[0.5, 0.3, 0.1, 0.07, 0.03]),
            np.repeat([2.0, 1.0], m),
        )
        found = cascade(stop, score)
        for _ in range(5):
            mixed = np.concatenate([rng.permutation(stop[:m]), rng.permutation(stop[m:])])
            assert_array_equal(cascade(mixed, score), found)


@pytest.mark.parametrize("n_relevant", [1, 5, 300, 100_000])
def test_cascade_over_a_huge_block(n_relevant):
    """Nobody is left of the first j with probability C(n - h, j) / C(n, j), a product of ratios; h stop with 1/2."""
    n = 200_000
    stop = np.repeat([1.0, 0.0], [n_relevant, n - n_relevant])
    left = np.arange(n, 0, -1.0)
    alive = np.append(1.0, np.cumprod(np.maximum(left - n_relevant, 0) / left))
    assert_allclose(cascade(stop, np.zeros(n)), -np.diff(alive), rtol=1e-9, atol=1e-17)
    half = cascade(stop / 2, np.zeros(n))  # the chance to stop at all is that of one of h coins
    assert_allclose([half[0], half.sum()], [n_relevant / n / 2, 1 - 0.5**n_relevant], rtol=1e-9)


def test_nobody_stops_where_nothing_stops():
    """Not even by a rounding error."""
    assert_array_equal(cascade(np.zeros(10**5), np.zeros(10**5)), 0.0)


@pytest.mark.filterwarnings("ignore:.*look swapped")
@pytest.mark.parametrize("drawn", ["near 0", "middling", "0 and a few", "all equal", "tiny"])
def test_err_over_large_blocks_is_exact(drawn):
    """The same through the public function: on a scale of max_grade=1, grade g stops with (2**g - 1) / 2."""
    rng = np.random.default_rng(len(drawn))
    score = rng.integers(0, 4, size=200) * 1.0
    label = np.log2(1 + 2 * STOPS[drawn](rng, 200) / 2)
    rank = np.arange(1, 201)
    expected = np.cumsum(exact_stops((np.exp2(label) - 1) / 2, score) / rank)
    found = metrics.err_score(label, score, qid=np.zeros(200), max_grade=1, k=rank)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("n_relevant", [1, 2, 10, 50, 99, 100])
def test_binary_cascade_over_large_blocks(n_relevant):
    """RR: the first relevant document of a tie block stands at offset j with a hypergeometric probability."""
    n = 100
    label = np.array([1] * n_relevant + [0] * (n - n_relevant))
    none_before = [comb(n - n_relevant, j) / comb(n, j) for j in range(n + 1)]
    first = -np.diff(none_before)
    assert_allclose(constant(metrics.mrr_score, label), (first / np.arange(1, n + 1)).sum(), rtol=1e-12)
    assert_allclose(constant(metrics.hit_rate_score, label, k=range(1, n + 1)), first.cumsum(), rtol=1e-12)


@pytest.mark.parametrize(("n_relevant", "n_other"), [(1, 1), (3, 2), (10, 90), (150, 200), (20, 500)])
def test_bpref_over_large_blocks(n_relevant, n_other):
    """Above a relevant document stand 0, 1, ..., N of the N others, each as likely; and at each rank by SciPy."""
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
    """The last of r relevant documents in a block of n stands at rank r (n + 1) / (r + 1) on average."""
    for n_relevant in {1, 2, n // 2, n - 1, n}:
        label = np.append(np.repeat([1, 0], [n_relevant, n - n_relevant]), [1, 0, 0])  # one ranked above the block
        score = np.repeat([1, 2, 0], [n, 1, 2])
        found = metrics.coverage_error(label, score, qid=np.zeros(n + 3))
        assert_allclose(found, 1 + n_relevant * (n + 1) / (n_relevant + 1), rtol=1e-12)
