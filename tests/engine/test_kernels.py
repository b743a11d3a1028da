"""Each compiled loop against a line of NumPy or Python, bit for bit, on numbers where loops often fail."""

import math
import operator
from dataclasses import replace
from decimal import Decimal, localcontext
from functools import partial
from itertools import accumulate, product

import numpy as np
import pytest
from naive import expected_ranking, summed
from numpy.testing import assert_allclose, assert_array_equal
from registry import together
from sklearn_rank._engine.kernels.cascade import cascade
from sklearn_rank._engine.kernels.sums import cumsum, joint

from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.kernels.agreement import centered_ranks, overlap
from sklearn_rank._engine.kernels.grades import count_grades_at_least, find_grades, rank_grades
from sklearn_rank._engine.kernels.order import longest
from sklearn_rank._engine.kernels.plan import divide
from sklearn_rank._engine.ranking import N_GRADES, NO_CUTOFF, Labels, Ranking, as_grades
from sklearn_rank._engine.read import queries_of
from sklearn_rank._metric.gains import exp2_minus_1


def test_powers_of_two():
    odd = [
        -0.0,
        0.5,
        -1.0,
        -1.5,
        1.0 - 2**-53,
        1.0 + 2**-52,
        1e-300,
        -1e-300,
        63.5,
        1e6,
        -1e6,
        math.inf,
        -math.inf,
        math.nan,
    ]
    x = np.concatenate([np.arange(-70.0, 70.0), np.arange(-70.0, 70.0) + 0.25, odd])
    with np.errstate(over="ignore"):
        expected = [math.expm1(v * math.log(2)) if -1 < v < 1 else float(np.exp2(v)) - 1 for v in x]
    assert_array_equal(exp2_minus_1(x), expected)


LENGTHS = [0, 1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 40, 64, 100, 127, 128, 129, 240, 300, 1000, 3000, 0]
"""Few rows are compared with each other, more are dealt out to buckets; from twice the lanes on some are chosen."""

SCORES = {
    "random": lambda rng, n: rng.normal(size=n),
    "float32": lambda rng, n: rng.normal(size=n).astype(np.float32),
    "few values": lambda rng, n: rng.integers(0, max(n // 8, 2), n).astype(float),
    "two values": lambda rng, n: rng.integers(0, 2, n).astype(np.float32),
    "constant": lambda rng, n: np.full(n, 0.5),
    "zeros": lambda rng, n: rng.choice([0.0, -0.0], n),
    "rising": lambda rng, n: np.sort(rng.normal(size=n)),
    "falling": lambda rng, n: -np.sort(rng.normal(size=n)),
    "best last": lambda rng, n: np.where(np.arange(n) < n - n // 16, rng.normal(size=n), 9.0 + rng.normal(size=n)),
    "skewed": lambda rng, n: np.exp(9 * rng.normal(size=n)),
    "powers": lambda rng, n: 2.0 ** rng.integers(-1000, 1000, n),
    "denormal": lambda rng, n: rng.integers(-9, 9, n) * 5e-324,
    "far": lambda rng, n: rng.choice([1.7e308, -1.7e308, 0.0, 1.0], n),
    "near": lambda rng, n: 1.0 + rng.integers(0, 9, n) * 2.0**-52,
    "one apart": lambda rng, n: np.where(np.arange(n) == n // 2, 1.0, 0.0),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, rng.choice([0.0, -0.0], n), rng.normal(size=n)),
    "half equal": lambda rng, n: np.where(rng.random(n) < 0.5, 0.25, rng.integers(-9, 9, n)),
    "few retrieved": lambda rng, n: np.where(rng.random(n) < 0.9, -np.inf, rng.normal(size=n)),
    "some retrieved": lambda rng, n: np.where(rng.random(n) < 0.2, -np.inf, rng.integers(0, 9, n)),
    "float32, some retrieved": lambda rng, n: np.where(rng.random(n) < 0.4, -np.inf, rng.normal(size=n)).astype("f4"),
    "none retrieved": lambda rng, n: np.full(n, -np.inf),
}

LABELS = {
    "grades": lambda rng, n: rng.choice(5, n, p=(0.515, 0.325, 0.134, 0.018, 0.008)).astype(float),
    "low grades": lambda rng, n: rng.integers(0, 8, n).astype(float),
    "nine grades": lambda rng, n: rng.integers(0, 9, n).astype(float),
    "equal grades": lambda rng, n: np.full(n, 7.0),
    "all grades": lambda rng, n: rng.integers(0, 32, n).astype(float),
    "beyond": lambda rng, n: rng.integers(0, 40, n).astype(float),
    "fractions": lambda rng, n: rng.integers(0, 9, n) / 4,
    "negative": lambda rng, n: rng.integers(-3, 3, n).astype(float),
    "unjudged": lambda rng, n: np.where(rng.random(n) < 0.3, np.nan, rng.integers(0, 3, n)),
}


def rows_of_queries(rng, make, kind):
    """Rows of queries of many lengths in random order, and the start of each query."""
    lengths = rng.permutation(LENGTHS)
    parts = [np.asarray(make(rng, n), dtype=np.float32 if kind == "float32" else None) for n in lengths]
    return np.concatenate(parts), np.append(0, np.cumsum(lengths))


def check_ranking(score, label, indptr, depth, ties, keep_unretrieved):
    """Compare a ranking with NumPy's."""
    labels = Labels(label, indptr, grade=as_grades(label))
    ranking = Ranking.by_score(labels, score, depth=depth, ties=ties, keep_unretrieved=keep_unretrieved)
    order, tie_end, ptr = expected_ranking(score, label, indptr, depth, ties, keep_unretrieved)
    assert np.array_equal(ranking.ptr, ptr)
    assert np.array_equal(ranking.order, order)
    assert np.array_equal(ranking.label, label[order], equal_nan=True)
    if np.array_equal(tie_end, np.arange(len(order)) + 1):
        assert ranking.tie_end is None
    else:
        assert np.array_equal(ranking.tie_ends, tie_end)


@together("keep_unretrieved", [False, True])
@together("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("scores", SCORES)
def test_order(scores, ties, keep_unretrieved):
    rng = np.random.default_rng(len(scores))
    score, indptr = rows_of_queries(rng, SCORES[scores], scores)
    for labels, depth in zip(LABELS, [1, 3, 5, 10, 12, 16, 20, 100, NO_CUTOFF], strict=True):
        check_ranking(score, LABELS[labels](rng, len(score)), indptr, depth, ties, keep_unretrieved)


@together("n", [*range(2, 18), 23, 31, 32, 33, 39, 40, 41])
@pytest.mark.parametrize("scores", SCORES)
def test_order_of_short_queries_of_one_length(n, scores):
    """The kernel ranks two queries together if neither has ties or unretrieved documents; then a longer query."""
    rng = np.random.default_rng(n)
    indptr = np.cumsum([0, *[n] * 33, n + 1, n])
    for labels, depth in product(["grades", "fractions"], [1, 3, NO_CUTOFF]):
        score = np.concatenate([SCORES[scores](rng, length) for length in np.diff(indptr)])
        label = LABELS[labels](rng, indptr[-1])
        for ties, keep_unretrieved in product(["average", "stable", "worst"], [False, True]):
            check_ranking(score, label, indptr, depth, ties, keep_unretrieved)


@pytest.mark.parametrize("depth", [1, 10, 100, NO_CUTOFF])
@pytest.mark.parametrize(
    "labels", ["grades", "low grades", "nine grades", "equal grades", "all grades", "beyond", "fractions", "negative"]
)
def test_ideal_order(labels, depth):
    rng = np.random.default_rng(depth)
    label, indptr = rows_of_queries(rng, LABELS[labels], labels)
    queries = zip(indptr[:-1], indptr[1:], strict=True)
    expected = np.concatenate([-np.sort(-label[start:stop])[:depth] for start, stop in queries])
    grade = as_grades(label)
    assert (grade is not None) == labels.endswith("grades")
    both = [Labels(label, indptr)]
    if grade is not None:
        both += [Labels(None, indptr, grade=grade, highest=highest) for highest in (int(label.max()), N_GRADES - 1)]
    for known in both:
        ranking = Ranking.by_score(known, np.zeros(len(label)), depth=depth)
        assert_array_equal(ranking.ideal.label, expected)
        assert_array_equal(ranking.ideal.ptr, np.append(0, np.cumsum(np.minimum(np.diff(indptr), depth))))
        for threshold in -1.0, 0.0, 0.5, 1.0, 1.5, 31.0, 32.0, np.inf:
            count = np.add.reduceat(np.append(label >= threshold, 0.0), indptr[:-1]) * (np.diff(indptr) > 0)
            assert_array_equal(known.count_at_least(threshold)[:, 0], count)


def test_the_longest_query_in_any_position():
    assert longest(np.array([0])) == 0
    for n in [*range(1, 10), 300]:  # the first 256 are read together
        for i in range(n):
            assert longest(np.append(0, np.cumsum(np.where(np.arange(n) == i, 7, 1)))) == 7


@pytest.mark.parametrize("n", [255, 256, 65_535, 65_536, 70_000])
def test_counts_of_one_two_and_four_bytes(n):
    """Counts need a type for the length of a query: 255 fits into one byte, 65,535 into two."""
    score = np.random.default_rng(n).normal(size=n)
    ranking = Ranking.by_score(Labels(np.zeros(n), np.array([0, n])), score)
    assert_array_equal(ranking.order, np.argsort(-score, kind="stable"))


def test_missing_labels_are_not_ranked():
    label = np.where(np.arange(300) % 5 == 3, np.arange(300.0), np.nan)
    for depth in 1, 5, 10, 20, 60, 300:
        ranking = Ranking.by_label(label, np.array([0, 300]), depth)
        assert_array_equal(ranking.label, np.arange(298.0, 0, -5)[:depth])


@pytest.mark.parametrize("n", [0, 1, 63, 64, 65, 200])
def test_grades_that_occur(n, rng):
    for least, highest in [(0, 0), (0, 1), (1, 1), (0, 7), (3, 8), (30, 31)]:
        grade = np.sort(rng.integers(least, highest + 1, n).astype(np.uint8))
        assert find_grades(grade, highest) == sum(1 << g for g in {*grade.tolist()})


def test_grades():
    assert_array_equal(as_grades(np.array([0.0, -0.0, 1.0, 31.0])), [0, 0, 1, 31])
    for label in 32.0, 0.5, -1.0, 5e-324, np.nan, np.inf, -np.inf, 2.0**52, 2.0**63, 1e300:
        assert as_grades(np.array([1.0] * 700 + [label])) is None
    assert as_grades(np.ones((3, 2))) is None  # labels of subtopics


def test_an_ideal_order_has_labels_and_no_rows():
    ranking = Ranking.by_label(np.array([1.0, 0.0, 2.0]), np.array([0, 3]), 10)
    assert ranking.score.tolist() == ranking.label.tolist() == [2, 1, 0]
    with pytest.raises(AttributeError, match="r.ideal has no rows"):
        _ = ranking.order


def test_grades_may_come_with_their_labels():
    labels, scores = np.array([0, 1, 2], dtype=np.uint8), np.array([3.0, 2.0, 1.0])
    queries = queries_of(labels, scores, Grouping.by_sizes([3]))
    assert queries.grade is queries.row_label
    assert replace(queries, weight=np.ones(1)).label.tolist() == [0.0, 1.0, 2.0]


NUMBERS = [0.0, -0.0, 1.0, -2.5, 1e-292, 9e-293, 5e-324, 1.7e308, math.inf, -math.inf, math.nan]


@pytest.mark.parametrize("n_cutoffs", [1, 2])
@pytest.mark.parametrize("needs", [False, True])
def test_ratios(needs, n_cutoffs):
    """Each pair of unusual numbers among others: undefined ratios are marked, and overflow is reported."""
    for x, y in ((x, y) for x in NUMBERS for y in NUMBERS):
        for others in [3.0], [3.0, 0.0]:  # with and without another undefined query
            for count in {1.0, float(not needs)}:
                numerator, denominator = np.full((7, n_cutoffs), 2.0), np.resize(others, (7, n_cutoffs))
                needed, numerator[3], denominator[3] = np.ones((7, 1)), x, y
                needed[3] = count
                out, undefined = np.empty((n_cutoffs, 7)).T, np.zeros((n_cutoffs, 7), dtype=np.uint8).T
                with np.errstate(all="ignore"):
                    expected = np.where((denominator == 0) | (needed == 0), 0.25, numerator / denominator)
                in_range = math.isfinite(x) and 1e-292 <= abs(y) < math.inf
                told = divide(numerator, denominator, needed if needs else None, 0.25, out, undefined)
                assert told == (in_range or y == 0 or count == 0)
                assert_array_equal(out, expected)
                assert_array_equal(undefined, (denominator == 0) | (needed == 0))


@pytest.mark.parametrize("highest", [1, 2, 4, 7, 8, 31])
@pytest.mark.parametrize("depth", [1, 7, 8, 9, 15, 16, 17, NO_CUTOFF])
def test_best_grades(depth, highest):
    """For short and long queries; after one of them no whole word fits. The best grades are rare or frequent."""
    rng = np.random.default_rng(0)
    for share in (0.02, 0.5, 1.0):
        lengths = rng.permutation([*range(20), 63, 64, 65, 100, 239, 240, 241, 300])
        indptr, ptr = np.append(0, np.cumsum(lengths)), np.empty(len(lengths) + 1, dtype=np.int64)
        grade = (rng.integers(0, highest + 1, indptr[-1]) * (rng.random(indptr[-1]) <= share)).astype(np.uint8)
        out = np.empty(len(grade), dtype=np.uint8)
        rank_grades(grade, indptr, depth, highest, out, ptr)
        best = [np.sort(of_query)[::-1][:depth] for of_query in np.split(grade, indptr[1:-1])]
        assert_array_equal(out[: ptr[-1]], np.concatenate(best))
        assert_array_equal(np.diff(ptr), [len(of_query) for of_query in best])


@pytest.mark.parametrize("n", [1, 7, 8, 9, 12, 16, 17, 70])
def test_best_grades_are_written_inside_the_array(n):
    """After the last grades there is no space, which writing several bytes at once would need."""
    grade = np.random.default_rng(n).integers(0, 5, 2 * n).astype(np.uint8)
    for depth in (1, 10, NO_CUTOFF):
        out, ptr = np.full(3 * n + 40, 77, dtype=np.uint8), np.empty(3, dtype=np.int64)
        rank_grades(grade, np.array([0, n, 2 * n]), depth, 4, out[: 2 * n], ptr)
        assert (out[2 * n :] == 77).all()


@pytest.mark.parametrize(
    "n", [15, 16, 17, 63, 64, 65, 79, 254 * 16, 255 * 16 - 1, 255 * 16, 256 * 16, 256 * 16 + 1, 9000]
)
def test_counts_of_many_equal_grades(n):
    """More than fit into a byte counter or a vector; neighboring queries are not counted."""
    grade = np.full(n + 40, 3, dtype=np.uint8)
    indptr = np.array([20, 20 + n])
    found = np.empty((1, 1))
    for least, expected in [(1, n), (3, n), (4, 0)]:
        count_grades_at_least(grade, indptr, least, found)
        assert found == expected
    best, ptr = np.zeros(n + 40, dtype=np.uint8), np.empty(2, dtype=np.int64)
    rank_grades(grade, indptr, NO_CUTOFF, 7, best, ptr)
    assert_array_equal(best[:n], 3)
    assert list(ptr) == [0, n]


CUTOFFS = [1, 5, 16, 18, 21, 30, 1024, NO_CUTOFF]


@pytest.mark.parametrize("per_rank", [False, True])
@pytest.mark.parametrize("discounted", [False, True])
@pytest.mark.parametrize("weights", ["one", "half", "some"])
@pytest.mark.parametrize("values", ["one", "two", "some", "grades"])
def test_sums_without_ties(values, weights, discounted, per_rank):
    """Each pair of operand types: most pairs have their own loop, for any set of cutoffs."""
    rng = np.random.default_rng(0)
    lengths = [3, 0, 1, 12, 1024, 1025, 2, 8, 9, *range(1, 8), 37, *[5] * 20, 16, 17, 6, *[10] * 3, 11, 11, 10]
    ptr, n = np.append(0, np.cumsum(lengths)), sum(lengths)
    grade = rng.integers(0, 5, n).astype(np.uint8) if values == "grades" else None
    value = {"one": [1.0], "two": [2.0], "some": rng.random(n), "grades": rng.random(32)}[values]
    weight = {"one": [1.0], "half": [0.5], "some": rng.random(n)}[weights]
    discount = rng.random(1025) if discounted else None
    of_row = np.broadcast_to(value, n) if grade is None else value[grade]
    found = {}
    for cutoffs in (CUTOFFS, *([k] for k in CUTOFFS)):
        out = np.full((len(lengths), len(cutoffs)), np.nan)
        cumsum(np.array(value), grade, np.array(weight), discount, per_rank, ptr, np.array(cutoffs), None, out)
        for k, column in zip(cutoffs, out.T, strict=True):
            assert_array_equal(column, found.setdefault(k, column))
    for q, (start, stop) in enumerate(zip(ptr[:-1], ptr[1:], strict=True)):
        rank, rows = np.arange(1, stop - start + 1), slice(start, stop)
        factor = np.broadcast_to(weight, n)[rows] * (discount[: len(rank)] if discounted else 1.0)
        terms = of_row[rows] * (factor / rank if per_rank else factor)
        equal = assert_array_equal if len(rank) <= 1024 else partial(assert_allclose, rtol=1e-13)  # a strided array
        equal([found[k][q] for k in CUTOFFS], [summed(terms[:k]) for k in CUTOFFS])


def test_a_cascade_of_a_long_list_finds_ties():
    p, out, tie_end = np.zeros(1040), np.empty(1040), np.arange(1, 1041)
    p[1030:1034], tie_end[1031] = [0.1, 0.2, 0.6, 0.3], 1033
    assert cascade(p, None, np.array([0, 1040]), tie_end, NO_CUTOFF, np.empty((1, 1041)), out)
    expected = [0.1, 0.9 * 0.4, 0.9 * (0.8 * 0.6 + 0.4 * 0.2) / 2, 0.9 * 0.8 * 0.4 * 0.3]
    assert_allclose(out[1030:1034], expected, rtol=1e-14)
    assert not out[:1030].any()


@pytest.mark.parametrize(("size", "step"), [(2, 500), (2, 2), (12, 12)])
def test_a_cascade_of_a_long_list_is_exact_while_it_matters(size, step):
    """To the last digits while users are left, with ties as well; nearly so for survival of 1e-18 to 1e-52."""
    n, rng = 12_000, np.random.default_rng(0)
    p, out, tie_end = rng.random(n) / 50, np.empty(n), np.arange(1, n + 1)
    for i in range(1500, n, step):
        p[i : i + size], tie_end[i] = p[i], i + size
    assert cascade(p, None, np.array([0, n]), tie_end, NO_CUTOFF, np.empty((1, n + 1)), out)
    with localcontext(prec=50):
        survive = [*accumulate([1 - Decimal(x) for x in p.tolist()], operator.mul, initial=Decimal(1))][:n]
        expected = [s * Decimal(x) for s, x in zip(survive, p.tolist(), strict=True)]
        error = np.array([float(abs(Decimal(x) / y - 1)) for x, y in zip(out.tolist(), expected, strict=True)])
    matters = np.array(survive) > 1e-18
    assert 2000 < matters.sum() < 6000
    assert error[matters].max() < 2.5e-15
    assert error.max() < 1e-12


# --- numbers that another thread changed after the check --------------------------------------------------------


@pytest.mark.parametrize("n", [3, 17, 40, 1100])
def test_a_constant_value_is_not_changed_by_ties(n, rng):
    """The mean of several 0.1 is not 0.1 in floats."""
    weight, ends, tied, alone = rng.random(n), np.minimum(np.arange(n) // 3 * 3 + 3, n), np.empty(1), np.empty(1)
    for tie_end, out in ((ends, tied), (None, alone)):
        cumsum(np.array([0.1]), None, weight, None, False, np.array([0, n]), np.array([n]), tie_end, out.reshape(1, 1))
    assert_array_equal(tied, alone)


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("n", [2, 3, 5, 7, 8, 13, 16, 20, 33, 40, 50])
def test_an_order_with_nan_contains_all_rows(n, ties):
    for seed in range(50):
        score = np.random.default_rng(seed).choice([1.0, 2.0, 3.0, 4.0, math.nan], 2 * n)
        for grade in (None, np.ones(2 * n, dtype=np.uint8)):
            labels = Labels(np.ones(2 * n), np.array([0, n, 2 * n]), grade=grade)
            ranking = Ranking.by_score(labels, score, ties=ties)
            first, second = np.split(ranking.order, ranking.ptr[1:2])
            assert {*first} <= {*range(n)}
            assert {*second} <= {*range(n, 2 * n)}
            assert len({*ranking.order}) == len(ranking.order)


def test_nan_has_ranks():
    x, ptr, out = np.array([2.0, math.nan, 1.0]), np.array([0, 3]), np.empty(3)
    centered_ranks(x, ptr, out, np.empty(3), np.empty(3), np.empty(3, dtype=np.int64), np.empty(3, dtype=np.int64))
    assert {*out} <= {-1.0, 0.0, 1.0}


def test_a_label_outside_the_ideal_order_stays_in_bounds():
    room, out = np.zeros(5, dtype=np.int64), np.empty(2)
    overlap(np.array([0.0, 1.0]), np.array([2.0, 1.0]), *2 * [np.array([0, 2])], None, room[:4].reshape(2, 2), out)
    assert room[:2].tolist() == [0, 2]


@pytest.mark.parametrize("tie", range(21))
def test_scans_have_the_bits_of_lists_without_lower_ties(tie):
    """Items are added in the same order, whatever ties follow."""
    rng, n, ptr = np.random.default_rng(tie), 24, np.array([0, 24])
    p, y, (tied, untied) = rng.random(n) / 9, rng.random(n), np.empty((2, n))
    tie_end = np.arange(1, n + 1)
    tie_end[tie] = tie + 2
    for scan in (
        lambda ends, out: cascade(p, None, ptr, ends, NO_CUTOFF, np.empty((1, n + 1)), out),
        lambda ends, out: joint(p, None, y, None, None, ptr, ends, None, out),
    ):
        scan(tie_end, tied)
        scan(None, untied)
        assert_array_equal(tied[:tie], untied[:tie])
