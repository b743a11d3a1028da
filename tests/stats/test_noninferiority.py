"""Student's t with lost queries: by hand, against Gaffke's test, its exact level, and the queries it needs."""

import math
import runpy
from pathlib import Path

import gaffke
import known_cases
import numpy as np
import pytest
from scipy import stats

from sklearn_rank._estimates.noninferiority import Aim, UnitSums, WithLosses, n_for_all, n_for_some, smallest_margin
from sklearn_rank._estimates.samples import sample_of

ALPHA = 0.05


def sums_of(d, weight=None, cluster=None):
    return UnitSums.of(sample_of(np.asarray(d, float), cluster, weight))


def counted(counts):
    """Sums over queries, from the number of queries with each difference."""
    d, k = np.array(counts, float).T
    n, total, squares = k.sum(), (k * d).sum(), (k * d**2).sum()
    return UnitSums(n, n, n, total, squares, total)


# --- by hand -----------------------------------------------------------------------------------------------------


def test_noninferiority_by_hand():
    """Differences 0.1, -0.1, 0 and 1.5 lost queries of -1: sum -1.5, squares 1.52, n 3, total size 4.5."""
    found = WithLosses(sums_of([0.1, -0.1, 0.0]), 1.0, ALPHA)
    mean, error = -1.5 / 4.5, math.sqrt((1.52 / 4.5 - 1 / 9) / 3)
    assert (found.mean, found.standard_error) == pytest.approx((mean, error), rel=1e-12)
    assert found.low() == pytest.approx(mean - 2.353363 * error, rel=1e-6)
    assert found.pvalue(-found.low()) == pytest.approx(ALPHA, rel=1e-9)
    # One lost query above an alpha of 0.13: sum -1, squares 1.02, size 4.
    error = math.sqrt((1.02 / 4 - 1 / 16) / 3)
    assert found.pvalue(0.4) == pytest.approx(stats.t.sf((0.4 - 0.25) / error, 3))


@pytest.mark.parametrize("with_clusters", [False, True])
@pytest.mark.parametrize("with_weight", [False, True])
def test_weights_and_clusters_by_unit(with_clusters, with_weight, rng):
    """The extended sample written out: units with their sums, and two lost units with weight 0.75."""
    d, weight = rng.normal(0, 0.2, 12), rng.random(12) + 0.1 if with_weight else np.ones(12)
    cluster = np.arange(12) // 3 if with_clusters else np.arange(12)
    total, size = np.bincount(cluster, weight * d), np.bincount(cluster, weight)
    lost = (size**2).sum() / size.sum()
    total, size = np.append(total, [-0.9 * lost] * 2), np.append(size, [lost] * 2)
    times, n = np.append(np.ones(len(total) - 2), [0.75] * 2), len(total) - 2
    mean = np.average(total / size, weights=times * size)
    error = math.sqrt((times * (total - mean * size) ** 2).sum() * (n + 1.5) / n) / (times * size).sum()
    found = WithLosses(
        sums_of(d, weight if with_weight else None, cluster if with_clusters else None), 0.9, ALPHA
    )  # fmt: skip
    assert (found.mean, found.standard_error, found.sums.n) == pytest.approx((mean, error, n), rel=1e-9)


def test_multiples_and_other_means(rng):
    d = rng.normal(0.1, 0.2, 9)
    assert vars(sums_of(d).times(3)) == pytest.approx(vars(sums_of(np.tile(d, 3))))
    assert vars(sums_of(d).with_mean(0.3)) == pytest.approx(vars(sums_of(d - d.mean() + 0.3)))
    assert vars(sums_of(d).mirrored) == pytest.approx(vars(sums_of(-d)))
    assert sums_of(d).squared_deviations == pytest.approx(d.var() * 9)


# --- Gaffke's test -----------------------------------------------------------------------------------------------

CASES = known_cases.read("cases/gate_bounds.json")["cases"]


def units(case):
    """Totals and sizes of units, with the number of units of each kind."""
    if case["differences"] is None:
        d, count = np.array(case["counts"], float).T
        return d, np.ones(len(d)), count
    d = np.array(case["differences"])
    weight = np.ones(len(d)) if case["weight"] is None else np.array(case["weight"])
    cluster = np.arange(len(d)) if case["cluster"] is None else np.unique(case["cluster"], return_inverse=True)[1]
    total = np.bincount(cluster, weight * d)
    return total, np.bincount(cluster, weight), np.ones(len(total))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["name"])
def test_the_oracle_has_reference_values(case):
    """The t bound has a p-value close to alpha by the oracle."""
    total, size, count = units(case)
    assert gaffke.pvalue(total, size, count, case["margin"], case["worst_loss"]) == pytest.approx(
        case["p_loses_margin"], abs=1e-6
    )
    for sign, bound, most in ((1, case["low"], case["worst_loss"]), (-1, -case["high"], case["best_gain"])):
        if bound > -most:
            assert gaffke.pvalue(sign * total, size, count, -bound, most) == pytest.approx(case["alpha"], abs=1e-6)


SAMPLES = {
    "nothing differs": [(0, 200)],
    "2 won, 3 lost": [(-1, 3), (0, 195), (1, 2)],
    "20 won, 20 lost": [(-1, 20), (0, 960), (1, 20)],
    "nDCG": [(-0.2, 10), (-0.05, 60), (0, 130), (0.04, 70), (0.3, 10)],
    "MRR": [(-0.5, 8), (0, 180), (0.5, 7), (-2 / 3, 3), (2 / 3, 2)],
    "all lose a little": [(-0.02, 300)],
    "all gain": [(0.05, 40), (0.1, 40)],
}


@pytest.mark.parametrize("counts", SAMPLES.values(), ids=SAMPLES)
def test_bound_is_close_to_the_oracle(counts):
    """If the bound equals the margin, Gaffke's test has a p-value from .02 to .06."""
    bound = WithLosses(counted(counts), 1.0, ALPHA).low()
    d, count = np.array(counts, float).T
    assert 0.02 < gaffke.pvalue(d, np.ones(len(d)), count, -bound, 1.0) < 0.06


# --- level and coverage, exactly ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gate_levels():
    """The script that measures the level for docs/decide/gate.md."""
    return runpy.run_path(str(Path(__file__).parents[2] / "docs" / "bench" / "gate_levels.py"))


@pytest.mark.parametrize(
    ("n", "margin", "won", "expected"),
    [(100, 0.1, 0, 0.0237), (300, 0.1, 0, 0.0458), (400, 0.02, 0, 0.0410), (200, 0.05, 0.05, 0.0279)],
)
def test_exact_level_of_hits(n, margin, won, expected, gate_levels):
    """By enumeration; Student's t without lost queries has levels up to .37."""
    found = gate_levels["level_of_hits"](n, margin, won)
    assert found == pytest.approx(expected, abs=2e-4)
    if not won:  # the largest number of losses that passes, by trying each
        passes = [WithLosses(counted([(-1, k), (0, n - k)]), 1.0, ALPHA).pvalue(margin) <= ALPHA for k in range(n)]
        assert found == pytest.approx(stats.binom.cdf(sum(passes) - 1, n, margin))


@pytest.mark.parametrize("alpha", [0.1, 0.05, 0.025, 0.01, 0.001, 0.0001])
def test_exact_level_at_other_alphas(alpha, gate_levels):
    """With hits lost and won by enumeration, and in the limit of many queries with rare losses."""
    cells = [(n, margin, won) for n in (50, 200, 1000) for margin in (0.01, 0.05, 0.1, 0.3) for won in (0, margin)]
    levels = [gate_levels["level_of_hits"](*cell, alpha=alpha) for cell in cells]
    assert 0.6 * alpha < max(levels) <= 1.1 * alpha
    n, lost = 10**8, np.unique(np.geomspace(1, 3000, 60).astype(int)) - 1
    tests = [WithLosses(counted([(-1, k), (0, n - k)]), 1.0, alpha) for k in lost]
    limit = stats.poisson.cdf(lost, [-n * test.low() for test in tests])
    assert 0.8 * alpha < limit.max() <= 1.01 * alpha
    for test, k in zip(tests[:3], lost, strict=False):
        assert test.pvalue(-test.low()) == pytest.approx(alpha, rel=1e-6), k


def test_exact_level_of_three_values(gate_levels):
    """The worst three-valued distribution whose mean is exactly the margin's loss."""
    found = [gate_levels["level_of_three_values"](9, margin, 8, 10, seed=0) for margin in (0.1, 0.4, 0.8)]
    assert 0.005 < max(found) <= ALPHA


def test_simulated_losses_are_the_margin(gate_levels, rng):
    for name, draw in (gate_levels["QUERIES"] | gate_levels["UNITS"]).items():
        drawn = draw(rng, (400, 1000), 0.02)
        total, size = drawn if isinstance(drawn, tuple) else (drawn, np.ones_like(drawn))
        assert total.sum() / size.sum() == pytest.approx(-0.02, abs=0.0015), name
        assert gate_levels["level"](draw, 100, 0.1, 100, seed=0) < 0.15, name


# --- required queries and margins --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("margin", "n"), [(0.005, 702), (0.01, 351), (0.02, 175), (0.03, 117), (0.05, 70), (0.1, 35)]
)  # fmt: skip
def test_least_number_of_queries(margin, n):
    same = counted([(0, 50)])
    assert Aim(same, 50, margin, 1.0, ALPHA).n_least == n
    assert Aim(counted([(0.3, 25), (-0.1, 25)]), 50, 2 * margin, 2.0, ALPHA).n_least == n
    assert (
        smallest_margin(same.times(n / 50), 1.0, ALPHA) < margin < smallest_margin(same.times((n - 1) / 50), 1, ALPHA)
    )


@pytest.mark.parametrize(("n", "margin"), [(20, 0.168), (50, 0.069), (80, 0.0434), (200, 0.0175), (1000, 0.0035)])
def test_smallest_margin(n, margin):
    assert smallest_margin(counted([(0, n)]), 1.0, ALPHA) == pytest.approx(margin, abs=5e-5)


@pytest.mark.parametrize(
    ("margin", "sd", "n"),
    [(0.01, 0.05, 526), (0.01, 0.1, 939), (0.01, 0.3, 5909), (0.02, 0.1, 333), (0.05, 0.05, 80), (0.05, 0.3, 285)],
)
def test_number_that_decides(margin, sd, n):
    """For an equal system; simulation confirmed the numbers."""
    assert n_for_all([Aim(counted([(-sd, 50), (sd, 50)]), 100, margin, 1.0, ALPHA)], 0.8) == pytest.approx(n, rel=0.04)


def test_number_that_decides_by_all_metrics(rng):
    """The power is at least 0.8 for any correlation of the metrics."""
    sums = counted([(-0.1, 50), (0.1, 50)])
    aims = [Aim(sums, 100, margin, 1.0, ALPHA) for margin in (0.02, 0.02, 0.03)]
    n, alone = n_for_all(aims, 0.8), n_for_all(aims[:1], 0.8)
    assert alone < n < 1.5 * alone
    for correlation in (0.0, 0.9):
        shared = rng.normal(size=(300, 1, n))
        d = 0.1 * (math.sqrt(correlation) * shared + math.sqrt(1 - correlation) * rng.normal(size=(300, 3, n)))
        mean, squares = d.sum(axis=2), (d**2).sum(axis=2)
        passed = [
            all(
                WithLosses(UnitSums(n, n, n, total, square, total), 1.0, ALPHA).pvalue(aim.margin) <= ALPHA
                for total, square, aim in zip(*sample, aims, strict=True)
            )
            for sample in zip(mean, squares, strict=True)
        ]
        assert np.mean(passed) > 0.74


def test_number_that_shows_a_loss():
    losing = counted([(-0.15, 50), (0.05, 50)])
    aim = Aim(losing, 100, 0.02, 0.3, ALPHA).mirrored
    n = n_for_some([aim], 0.8)
    assert aim.power(n) >= 0.8 > aim.power(n - 1)
    assert n_for_some([aim, Aim(losing, 100, 0.04, 0.3, ALPHA).mirrored], 0.8) == n
    assert n_for_all([Aim(losing, 100, 0.02, 1.0, ALPHA)], 0.8) == math.inf
