"""Sums with a lookup by grade equal the sums of arrays of numbers, bit for bit."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Labels, Ranking, as_grades

LENGTHS = [0, 1, 2, 3, 5, 5, 9, 40, 127, 128, 129, 255, 256, 257, 700, 1023, 1024, 1025, 0]
"""Lists about as long as a few chunks of positions, or as what is kept on the stack, and empty ones."""

SCORES = {
    "distinct": lambda rng, n: rng.permutation(n) * 1.0,
    "few ties": lambda rng, n: rng.integers(0, 20 * n, n) // 2 * 1.0,
    "ties": lambda rng, n: rng.integers(0, 90, n) * 1.0,
    "two values": lambda rng, n: rng.integers(0, 2, n) * 1.0,
    "blocks of 1 to 16": lambda rng, n: rng.permutation(np.repeat(np.arange(n), rng.integers(1, 17, n))[:n]) * 1.0,
    "blocks of 17 at most": lambda rng, n: np.repeat(np.arange(n), rng.choice([1, 2, 8, 9, 16, 17], n))[:n] * 1.0,
    "constant": lambda rng, n: np.zeros(n),
}

GAINS = {
    "exp2": lambda y: np.exp2(y) - 1,
    "linear": lambda y: y,
    "negative": lambda y: 3 - 2 * y,
    "two steps": lambda y: np.where(y > 2, 5.0, y > 0),
    "fractions": lambda y: np.sqrt(y) / 3,
    "nearly whole": lambda y: y + 2.0**-40,
    "large": lambda y: 2.0**52 - y,
    "beyond": lambda y: y * 1e300 - 2.0**63,
    "infinite": lambda y: np.where(y > 2, np.inf, y),
    "nan": lambda y: np.where(y > 2, np.nan, -0.0),
}

CUTOFFS = [[1], [10], [NO_CUTOFF], [1, 2, 3, 10, 127, 128, 129, 300, NO_CUTOFF]]


def both_rankings(scores, cutoffs, grades=(0.5, 0.3, 0.1, 0.0, 0.1)):
    """The same lists with labels declared as grades and not."""
    rng = np.random.default_rng([len(scores), len(cutoffs)])
    n = sum(LENGTHS)
    label, score = rng.choice(len(grades), n, p=grades) * 1.0, SCORES[scores](rng, n)
    indptr = np.append(0, np.cumsum(LENGTHS))
    known = Labels(None, indptr, grade=as_grades(label), highest=len(grades) - 1)
    by_grade = Ranking.by_score(known, score, depth=cutoffs[-1])
    by_number = Ranking.by_score(Labels(label, indptr), score, depth=cutoffs[-1])
    assert by_grade.grade is not None
    assert by_number.grade is None
    return [Ranked(ranking, np.array(cutoffs)) for ranking in (by_grade, by_number)]


@pytest.mark.parametrize("cutoffs", CUTOFFS, ids=str)
@pytest.mark.parametrize("scores", SCORES)
@np.errstate(all="ignore")
def test_sums_of_a_function_of_the_label(scores, cutoffs):
    by_grade, by_number = both_rankings(scores, cutoffs)
    weight = np.random.default_rng(1).normal(size=len(by_grade.rank))
    for gain in GAINS.values():
        for keywords in {}, {"by_rank": lambda k: 1 / np.log2(1 + k)}, {"over_rank": True}, {"weight": weight}:
            expected = by_number.cumsum(gain(by_number.label), **keywords)
            assert_array_equal(by_grade.cumsum(by_label=gain, **keywords), expected)
            assert_array_equal(by_number.cumsum(by_label=gain, **keywords), expected)
            assert_array_equal(by_grade.cumsum(by_grade.by_label(gain), **keywords), expected)
        of_ideal = by_number.ideal.cumsum(gain(by_number.ideal.label), by_rank=lambda k: 1 / k)
        assert_array_equal(by_grade.ideal.cumsum(by_label=gain, by_rank=lambda k: 1 / k), of_ideal)
        times = by_number.cumsum(weight * gain(by_number.label))
        assert_array_equal(by_grade.cumsum(weight, by_label=gain), times)
        assert_array_equal(by_grade.cumsum(2, by_label=gain), by_number.cumsum(2 * gain(by_number.label)))


@pytest.mark.parametrize("cutoffs", CUTOFFS, ids=str)
@pytest.mark.parametrize("scores", SCORES)
@pytest.mark.parametrize("of_labels", [False, True])
def test_sums_of_means_by_grade(scores, cutoffs, of_labels):
    for grades in (0.5, 0.3, 0.1, 0.0, 0.1), (0.98, 0.02), (0.0, 1.0), (1.0,):
        by_grade, by_number = both_rankings(scores, cutoffs, grades)
        sums = by_grade.sums_of_means(of_labels=of_labels)
        assert_array_equal(sums, by_number.sums_of_means(of_labels=of_labels))
