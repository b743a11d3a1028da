"""How often the gate passes a system that loses exactly the margin, by exact enumeration and by simulation.

Simulated cells above 0.04 are drawn again, ten times as often, from other seeds. ``--only drawn`` draws the settings,
too: alpha, margin, losses, noise, weights or clusters, and the number of queries. Takes some minutes.
"""

import argparse
import math
from itertools import product

import numpy as np
from scipy import stats

from sklearn_rank._estimates.margins import IS_WORSE, PairedQueries, segment_tests
from sklearn_rank._estimates.noninferiority import UnitSums, WithLosses
from sklearn_rank._estimates.runs import ONE_RUN

ALPHA = 0.05
SMALL, LARGE = (0.005, 0.01, 0.02), (0.05, 0.1)
SIZES = (20, 50, 100, 200, 500, 1000, 2000)
AGAIN = 0.04
"""Cells with a higher share are drawn again."""


# --- exactly -------------------------------------------------------------------------------------------------


def passes(total, squares, n, margin, alpha=ALPHA):
    """Whether n queries pass, by the sums of their differences and of the squares of these."""
    return WithLosses(UnitSums(n, n, n, total, squares, total), 1.0, alpha).decides(margin)


def level_of_hits(n, margin, won, alpha=ALPHA):
    """Exact probability that n queries pass, where shares `won` are won and `won + margin` lost."""
    level = 0.0
    for wins in range(int(stats.binom.isf(1e-9, n, won)) + 1 if won else 1):
        low, high = -1, n - wins
        while low < high:  # the most losses that pass
            losses = (low + high + 1) // 2
            passed = passes(wins - losses, wins + losses, n, margin, alpha)
            low, high = (losses, high) if passed else (low, losses - 1)
        level += stats.binom.pmf(wins, n, won) * stats.binom.cdf(low, n - wins, (won + margin) / (1 - won))
    return level


def level_of_three_values(n, margin, n_supports, n_mixtures, seed):
    """Highest exact level of distributions on three values from -1 to 1 whose mean is -margin, all outcomes counted."""
    rng, highest = np.random.default_rng(seed), 0.0
    counts = np.array([(i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i)])
    log_ways = math.lgamma(n + 1) - np.vectorize(math.lgamma)(counts + 1.0).sum(axis=1)
    fixed = [(-1.0, 0.0, 1.0), (-1.0, 0.0, 0.1), (-1.0, -margin / 2, margin)]
    for values in [*fixed, *np.sort(rng.uniform(-1, 1, (n_supports, 3)))]:
        low, middle, high = values
        if not low < -margin < high:
            continue
        total, squares = (counts @ np.array(values)).tolist(), (counts @ np.array(values) ** 2).tolist()
        passed = np.array([passes(*sums, n, margin) for sums in zip(total, squares, strict=True)])
        of_middle = np.linspace(0, 1, n_mixtures)
        of_low = ((1 - of_middle) * high + of_middle * middle + margin) / (high - low)
        shares = np.stack([of_low, of_middle, 1 - of_low - of_middle], axis=1)
        for share in shares[(shares >= 0).all(axis=1)]:
            logs = np.where(counts > 0, counts * np.log(np.maximum(share, 1e-300)), 0.0).sum(axis=1)
            highest = max(highest, float(np.exp(log_ways + logs)[passed].sum()))
    return highest


# --- by simulation -------------------------------------------------------------------------------------------


def losses(rng, shape, share, low=1.0, high=1.0):
    """Losses from `low` to `high` on a share of the queries, else 0."""
    return np.where(rng.random(shape) < share, -rng.uniform(low, high, shape), 0.0)


def or_lost(rng, other, share):
    """Differences, or a total loss on a share of the queries."""
    return np.where(rng.random(other.shape) < share, -1.0, other)


def jumps(rng, shape, m):
    """Differences of reciprocal ranks: 1 to 1/2, 1 to 1/3, 1/2 to 1/3, and 1/2 to 1."""
    lost, won = 1.25 * m / (1 / 2 + 2 / 3 + 1 / 6), m / 2
    return rng.choice([-1 / 2, -2 / 3, -1 / 6, 1 / 2, 0.0], shape, p=[lost, lost, lost, won, 1 - 3 * lost - won])


QUERIES = {
    "rare losses of .2 to .8": lambda rng, shape, m: losses(rng, shape, 2 * m, 0.2, 0.8),
    "jumps of reciprocal ranks": jumps,
    "noise (sd .03) on all, rare total losses": lambda rng, shape, m: or_lost(rng, rng.normal(0, 0.03, shape), m),
    "noise (sd .1) on a fifth, rare total losses": lambda rng, shape, m: or_lost(
        rng, np.where(rng.random(shape) < 0.2, rng.normal(0, 0.1, shape), 0.0), m
    ),
    "small gains on all, rare total losses": lambda rng, shape, m: or_lost(
        rng, np.full(shape, m / 2), 1.5 * m / (1 + m / 2)
    ),
    "noise (sd .1) on all, all lose": lambda rng, shape, m: rng.normal(-m, 0.1, shape),
}
"""Differences whose mean is exactly -m."""


def weighted(sigma, draw):
    """Totals and sizes of queries with log-normal weights that do not depend on the differences."""

    def units(rng, shape, m):
        weight = np.exp(sigma * rng.normal(size=shape))
        return weight * draw(rng, shape, m), weight

    return units


def heaviest_lose(sigma, heaviest=0.2):
    """Totals and sizes of queries with log-normal weights; only the heaviest share loses."""

    def units(rng, shape, m):
        z = rng.normal(size=shape)
        weight, heavy = np.exp(sigma * z), z > stats.norm.isf(heaviest)
        share = m / stats.norm.cdf(sigma - stats.norm.isf(heaviest))  # of the weight is in the heaviest share
        return np.where(heavy & (rng.random(shape) < share), -weight, 0.0), weight

    return units


def clusters_lose(least):
    """Totals and sizes of clusters of geometric size, 5 on average; with `least` queries or more they lose whole."""

    def units(rng, shape, m):
        size = rng.geometric(0.2, shape).astype(float)
        k = np.arange(least, 500)
        share = m * 5 / (k * stats.geom.pmf(k, 0.2)).sum()
        return np.where((size >= least) & (rng.random(shape) < share), -size, 0.0), size

    return units


UNITS = {
    f"weights (sigma {sigma:g}): {name}": of_sigma
    for sigma in (0.5, 1.0)
    for name, of_sigma in {
        "hits lost": weighted(sigma, losses),
        "rare losses of .2 to .8": weighted(sigma, QUERIES["rare losses of .2 to .8"]),
        "noise (sd .03) and rare losses": weighted(sigma, QUERIES["noise (sd .03) on all, rare total losses"]),
        "the heaviest fifth loses": heaviest_lose(sigma),
    }.items()
} | {"clusters lose whole": clusters_lose(1), "the largest tenth of clusters loses whole": clusters_lose(11)}


APART = {
    f"weights (sigma {sigma:g}): the heaviest {share:.0%} lose": heaviest_lose(sigma, share)
    for sigma in (0.5, 1.0)
    for share in (0.1, 0.05, 0.02, 0.01)
} | {f"the largest {0.8 ** (least - 1):.1%} of clusters lose whole": clusters_lose(least) for least in (15, 19, 22)}
"""Losses that depend on weight or size: the gate promises no level."""


def level(draw, n, margin, n_draws, seed, alpha=ALPHA):
    """Share of draws of n units that lose the margin and pass."""
    rng, found = np.random.default_rng([seed, n, int(1e4 * margin)]), 0
    for first in range(0, n_draws, block := max(1, 10**6 // n)):
        drawn = draw(rng, (min(block, n_draws - first), n), margin)
        total, size = drawn if isinstance(drawn, tuple) else (drawn, np.ones_like(drawn))
        parts = (size, size**2, total, total**2, size * total)
        for sums in zip(*(part.sum(axis=1).tolist() for part in parts), strict=True):
            found += WithLosses(UnitSums(n, *sums), 1.0, alpha).decides(margin)
    return found / n_draws


def drawn_setting(rng):
    """Draw a setting that loses exactly the margin: its words, and the arguments of `level`."""
    alpha, margin = float(np.exp(rng.uniform(*np.log([0.001, 0.1])))), float(np.exp(rng.uniform(*np.log([0.005, 0.2]))))
    n = int(np.clip(np.exp(rng.uniform(*np.log([2, 60]))) / margin, 20, 3000))
    largest, sd = float(rng.uniform(min(1.0, 2 * margin), 1)), float(rng.choice([0, rng.uniform(0, 0.15)]))
    smallest, noisy = float(rng.choice([largest, largest / 2])), float(rng.choice([1, 0.2]))
    losing = float(margin / ((smallest + largest) / 2) * rng.choice([1, rng.uniform(1, 3)]))
    losing, kind = min(losing, 0.9), str(rng.choice(["queries", "weights", "clusters"]))
    gain = (losing * (smallest + largest) / 2 - margin) / (1 - losing)
    sigma, mean_size = float(rng.uniform(0, 1)), float(rng.uniform(1, 8))

    def draw(rng, shape, m):
        size = np.ones(shape)
        if kind == "weights":
            size = np.exp(sigma * rng.normal(size=shape))
        elif kind == "clusters":
            size = rng.geometric(1 / mean_size, shape).astype(float)
        noise = np.where(rng.random(shape) < noisy, rng.normal(0, sd, shape), 0.0)
        lost = -rng.uniform(smallest, largest, shape)
        return size * np.clip(np.where(rng.random(shape) < losing, lost, gain + noise), -1, 1), size

    of_units = {"queries": "", "weights": f", sigma {sigma:.2f}", "clusters": f", mean size {mean_size:.1f}"}[kind]
    words = (
        f"alpha {alpha:.4f}, margin {margin:.4f}, {n} {kind}{of_units}: {losing:.2%} lose {smallest:.2f} to "
        f"{largest:.2f}, others gain {gain:.4f}, sd {sd:.2f} on {noisy:.0%}"
    )
    return words, (draw, n, margin), alpha


# --- floors and segments -------------------------------------------------------------------------------------


def floor_decides(total, squares, n, floor, *, met):
    """Whether sums of values and squares show that the mean is above a floor, or below it."""
    above, squares_above = total - n * floor, squares - 2 * floor * total + n * floor**2
    sums = UnitSums(n, n, n, above, squares_above, above)
    return WithLosses(sums if met else sums.mirrored, floor if met else 1 - floor, ALPHA).decides(0.0)


def floor_level_of_hits(n, floor, *, met):
    """Exact probability that hits with a rate of exactly the floor meet it, or miss it."""
    hits = np.arange(n + 1)
    decided = np.array([floor_decides(float(k), float(k), n, floor, met=met) for k in hits])
    return float(stats.binom.pmf(hits, n, floor)[decided].sum())


def reciprocal_ranks(rng, shape, floor):
    """Reciprocal ranks of ranks 1 and 2, or 1 to 3 and none, whose mean is the floor."""
    if floor >= 0.5:
        return np.where(rng.random(shape) < 2 * (1 - floor), 0.5, 1.0)
    p = [0.6 * floor, 0.5 * floor, 0.45 * floor, 1 - 1.55 * floor]
    return rng.choice([1.0, 1 / 2, 1 / 3, 0.0], shape, p=p)


def floor_level(draw, n, floor, n_draws, seed, *, met):
    """Share of draws whose mean is exactly the floor that meet it, or miss it."""
    x = draw(np.random.default_rng([seed, n, int(1e4 * floor)]), (n_draws, n), floor)
    sums = zip(x.sum(axis=1).tolist(), (x**2).sum(axis=1).tolist(), strict=True)
    return sum(floor_decides(*of_draw, n, floor, met=met) for of_draw in sums) / n_draws


def named(draws, margin):
    """Share of draws, each with a segment a row, in which a segment is named."""
    found = 0
    for draw in draws:
        pairs = {
            ((i,), "metric"): PairedQueries(np.arange(len(d)), d, np.zeros(len(d)), True, None, None, 2.0, ONE_RUN)
            for i, d in enumerate(draw)
        }
        tests = segment_tests(pairs, dict.fromkeys(pairs, margin), {"metric": 1.0}, ALPHA)
        found += any(one.decision == IS_WORSE for one in tests)
    return found / len(draws)


def show_floors(n_draws, seed):
    values = {
        "nDCG (beta)": lambda rng, shape, floor: rng.beta(3 * floor, 3 * (1 - floor), shape),
        "reciprocal ranks": reciprocal_ranks,
    }
    floors, sizes = (0.05, 0.3, 0.5, 0.8, 0.95), (10, 20, 50, 200, 500, 2000)
    table("values whose mean is the floor", "highest level of met", "of missed")
    for name in ("hits, exactly", *values):
        highest = []
        for met in (True, False):
            level_at = (
                [floor_level_of_hits(n, f, met=met) for n in sizes for f in floors]
                if name not in values
                else [floor_level(values[name], n, f, n_draws, seed, met=met) for n in sizes for f in floors]
            )
            highest.append(max(level_at))
        print(f"| {name} | {highest[0]:.4f} | {highest[1]:.4f} |", flush=True)


def show_segments(n_draws, seed, n_segments=10, n=20, loss=0.25, margin=0.05):
    rng = np.random.default_rng(seed)
    table("sd of differences", *(f"{of_size} queries" for of_size in (n, 2 * n, 4 * n)))
    for sd in (0.1, 0.2, 0.3, 0.4):
        shares = []
        for size in (n, 2 * n, 4 * n):
            lost, others = rng.normal(-loss, sd, (n_draws, size)), rng.normal(0, sd, (n_segments - 1, size))
            shares.append(named([[one, *others] for one in lost], margin))
        print(f"| {sd} | {' | '.join(f'{share:.2f}' for share in shares)} |", flush=True)
    table("differences in 8 segments, each at a loss of the margin", "10 queries each", "20", "50")
    for name, draw in QUERIES.items():
        shares = [named(draw(rng, (n_draws, 8, size), margin), margin) for size in (10, 20, 50)]
        print(f"| {name} | {' | '.join(f'{share:.3f}' for share in shares)} |", flush=True)


def highest_level(draw, margins, sizes, n_draws, seed):
    """Highest level over margins and numbers of units, and where; high ones are drawn again."""
    cells = {}
    for margin, n in product(margins, sizes):
        cells[margin, n] = level(draw, n, margin, n_draws, seed)
        if cells[margin, n] > AGAIN:
            cells[margin, n] = level(draw, n, margin, 10 * n_draws, seed + 1)
    where = max(cells, key=cells.get)
    return cells[where], where


# --- tables --------------------------------------------------------------------------------------------------


def table(*head):
    print(f"\n| {' | '.join(head)} |\n{'|---' * len(head)}|", flush=True)


def show_exact(n_supports):
    table("hits lost and won", "highest exact level", "margin, queries")
    for times in (0, 0.25, 1, 3, 5):
        cells = {(m, n): level_of_hits(n, m, times * m) for m in SMALL + LARGE for n in SIZES}
        where = max(cells, key=cells.get)
        print(f"| won {times:g} times the margin | {cells[where]:.4f} | {where[0]:g}, {where[1]} |", flush=True)
    table("queries", "highest exact level on three values")
    for n in (5, 8, 12, 20, 30):
        found = max(level_of_three_values(n, m, n_supports, 20, n) for m in (0.01, 0.05, 0.1, 0.2, 0.4, 0.8))
        print(f"| {n} | {found:.4f} |", flush=True)


def show_levels(n_draws, seed):
    table("differences", "margins .005 to .02", "margins .05 and .1")
    for name, draw in (QUERIES | UNITS).items():
        sizes = [n for n in SIZES if name in QUERIES or n <= 500]
        cells = [highest_level(draw, margins, sizes, n_draws, seed) for margins in (SMALL, LARGE)]
        print("|", " | ".join([name, *(f"{x:.4f} ({m:g}, {n})" for x, (m, n) in cells)]), "|", flush=True)


def show_drawn(n_settings, seed):
    """Settings drawn at random; one falls short if its 99.9 % interval (Clopper and Pearson) is above alpha."""
    rng, short, ratios = np.random.default_rng(seed), [], []
    for i in range(n_settings):
        words, of_level, alpha = drawn_setting(rng)
        n_draws = int(np.clip(10**7 / of_level[1], 4000, 40000))
        share = level(*of_level, n_draws, seed + i, alpha)
        passed = round(share * n_draws)
        ratios.append(share / alpha)
        if passed and stats.beta.ppf(0.0005, passed, n_draws - passed + 1) > alpha:
            short.append(f"{words}: {share:.4f} of {n_draws}")
    quarters = ", ".join(f"{x:.2f}" for x in np.quantile(ratios, [0.5, 0.9, 1]))
    print(f"\nseed {seed}: {len(short)} of {n_settings} settings fall short of their level", flush=True)
    print(f"level over alpha, median, 90 % and highest: {quarters}", flush=True)
    print("\n".join(short), flush=True)


def show_apart(n_draws, seed):
    table("losses depend on weight or size: no level is promised", "highest level", "margin, queries")
    for name, draw in APART.items():
        cells = {(m, n): level(draw, n, m, n_draws, seed) for m in (0.005, 0.01, 0.02) for n in (200, 500, 1000)}
        where = max(cells, key=cells.get)
        print(f"| {name} | {cells[where]:.3f} | {where[0]:g}, {where[1]} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=1000, help="of each cell of levels; ten times as many above 0.04")
    parser.add_argument("--supports", type=int, default=200, help="of the exact search, for each number of queries")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=["exact", "levels", "drawn", "floors", "segments"])
    parser.add_argument("--settings", type=int, default=200, help="drawn at random")
    args = parser.parse_args()
    if args.only in (None, "exact"):
        show_exact(args.supports)
    if args.only in (None, "levels"):
        show_levels(args.draws, args.seed)
    if args.only in (None, "drawn"):
        show_drawn(args.settings, args.seed)
        show_apart(args.draws, args.seed)
    if args.only in (None, "floors"):
        show_floors(args.draws, args.seed)
    if args.only in (None, "segments"):
        show_segments(args.draws, args.seed)


if __name__ == "__main__":
    main()
