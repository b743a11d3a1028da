"""The order of rows by score is that of a stable sort for any distribution of scores."""

from math import inf

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import together

from sklearn_rank import metrics

SCORES = {
    "spread": lambda rng, n: rng.random(n),
    "few values": lambda rng, n: rng.integers(0, 4, size=n) / 3,
    "heavy tails": lambda rng, n: np.exp(30 * rng.standard_normal(n)),
    "one outlier": lambda rng, n: np.append(rng.random(n - 1), 1e12),
    "clusters": lambda rng, n: rng.integers(0, 3, size=n) * 1e6 + rng.integers(0, 50, size=n),
    "subnormal": lambda rng, n: rng.integers(0, 9, size=n) * 5e-324,
    "infinite range": lambda rng, n: rng.choice([-1.7e308, -1.0, 0.0, 1.0, 1.7e308], size=n),
    "ascending": lambda rng, n: np.arange(n) * 1.0,
    "descending": lambda rng, n: -np.arange(n) * 1.0,
    "sawtooth": lambda rng, n: np.arange(n) % 17 + 1e-9 * rng.random(n),
    "exponential": lambda rng, n: 2.0 ** -(np.arange(n) % 1000),
    "mostly zero": lambda rng, n: np.where(rng.random(n) < 0.8, 0.0, rng.normal(size=n)),
    "signed zeros": lambda rng, n: rng.choice([-0.0, 0.0, 1.0], size=n),
    "unretrieved": lambda rng, n: np.where(rng.random(n) < 0.5, -inf, rng.integers(0, 30, size=n)),
    "all equal": lambda rng, n: np.full(n, 3.0),
    "probabilities": lambda rng, n: 1 / (1 + np.exp(6 - 3 * rng.standard_normal(n))),
    "near 1": lambda rng, n: 1 / (1 + np.exp(3 * rng.standard_normal(n) - 6)),
    "masked": lambda rng, n: np.where(rng.random(n) < 0.3, -1e9, rng.standard_normal(n)),
    "half near one": lambda rng, n: np.where(rng.random(n) < 0.45, 0.52 + 1e-9 * rng.standard_cauchy(n), rng.random(n)),
    "falling with ties": lambda rng, n: -(np.arange(n) // 3) * 1.0,
    "rising with ties": lambda rng, n: (np.arange(n) // 3) * 1.0,
    "falling, not retrieved": lambda rng, n: np.where(np.arange(n) < n * 0.7, -np.arange(n) * 1.0, -inf),
    "rising, not retrieved": lambda rng, n: np.where(np.arange(n) < 1, -inf, np.arange(n) * 1.0),
    "nearly rising": lambda rng, n: np.append(np.sort(rng.random(n - 1)), 0.5),
    "nearly sorted": lambda rng, n: np.append(np.sort(rng.random(n - 1))[::-1], 0.5),
}


@pytest.mark.parametrize("drawn", SCORES)
@pytest.mark.parametrize("labels", [(-1000, 1000), (0, 32)])
@together("n", [1, 2, 8, 9, 10, 16, 17, 130, 1000, 3000])
def test_the_order_is_that_of_a_stable_sort(drawn, labels, n):
    """CG of random integers, which may be grades, shows the documents above each rank."""
    rng = np.random.default_rng([n, len(drawn)])
    score, label = SCORES[drawn](rng, n), rng.integers(*labels, size=n)
    tie_break = {"stable": np.arange(n), "worst": label, "best": -label}
    for ties, second in tie_break.items():
        order = np.lexsort([second, -score])
        order = order[score[order] > -inf]
        for deepest in (1, 3, 16, 17, 128, 129, n):
            k = np.unique([1, max(deepest // 2, 1), deepest])
            found = metrics.cg_score(label, score, qid=np.zeros(n), k=k, ties=ties)
            assert_array_equal(found, [label[order[:c]].sum() for c in k])


@pytest.mark.parametrize("drawn", SCORES)
def test_the_order_of_a_huge_query(drawn):
    """The same for 100,000 documents, too many for quadratic algorithms, sorted in parts."""
    n = 100_000
    rng = np.random.default_rng([n, len(drawn)])
    score, label = SCORES[drawn](rng, n), rng.integers(-1000, 1000, size=n)
    for ties, second in {"stable": np.arange(n), "worst": label}.items():
        order = np.lexsort([second, -score])
        total = label[order[score[order] > -inf]].cumsum()
        for k in ([10], [1, 1000, n], [*range(1, n, 911)]):
            found = metrics.cg_score(label, score, qid=np.zeros(n), k=k, ties=ties)
            assert_array_equal(found, total[np.minimum(k, len(total)) - 1])
