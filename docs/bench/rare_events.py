"""How often intervals of success rates hold the truth: judges, means over segments, comparisons of two systems.

    python docs/bench/rare_events.py [--samples 600]

Each line has the share of 95 % intervals that contain the true value, and the lowest share is the last line.
"""

from __future__ import annotations

import argparse
import itertools

import numpy as np

from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_judged, judged_interval

SEGMENTS = {
    ".9, .95, .97 x 20": ([0.9, 0.95, 0.97], 20), ".98 x 3, 50 each": ([0.98] * 3, 50),
    ".95 x 5, 50 each": ([0.95] * 5, 50), ".99 x 4, 25 each": ([0.99] * 4, 25), ".97 x 8, 15 each": ([0.97] * 8, 15),
    ".9 x 10, 10 each": ([0.9] * 10, 10), ".5, .7, .9 x 20": ([0.5, 0.7, 0.9], 20),
}  # fmt: skip
"""Success rates of segments, and queries in each."""


def hits(values, **keywords):
    return Evaluation.from_values(range(len(values)), {"hit@10": np.asarray(values, dtype=float)}, **keywords)


def flipped(rng, values, agreement):
    return np.where(rng.random(len(values)) < agreement, values, 1 - values)


def two_systems(rng, n, won, lost):
    """Successes of two systems, of which the first one wins and loses these shares of queries."""
    luck = rng.random(n)
    new = (luck < 0.4 + won).astype(float)
    return new, ((luck < 0.4) | ((luck >= 0.4 + won) & (luck < 0.4 + won + lost))).astype(float)


def judged_coverage(rng, rate, n_people, agreement, n_others=2000):
    """Whether intervals by both and by people alone hold the rate."""
    people = (rng.random(n_people + n_others) < rate).astype(float)
    table = judged_interval(hits(people[:n_people]), hits(flipped(rng, people, agreement))).table
    return [row[4] <= rate <= row[5] for row in table.rows[:2]]


def difference_coverage(rng, won, lost, n_people, agreement, n_others=600):
    """Whether intervals of a difference by both and by people alone hold it."""
    pairs = []
    for values in two_systems(rng, n_people + n_others, won, lost):
        pairs.append((hits(values[:n_people]), hits(flipped(rng, values, agreement))))
    rows = compare_judged(new=pairs[0], old=pairs[1]).table.rows
    return [row[3] <= won - lost <= row[4] for row in rows[:2]]


def macro_coverage(rng, rates, n):
    values = (rng.random((len(rates), n)) < np.array(rates)[:, None]).ravel()
    row = hits(values, by={"part": np.repeat(np.arange(len(rates)), n)}).segments().macro().rows[0]
    return [row[4] <= np.mean(rates) <= row[5]]


def compared_coverage(rng, won, lost, n):
    low, high = compare(*map(hits, two_systems(rng, n, won, lost))).confidence_interval
    return [low <= won - lost <= high]


def cases():
    """A title, a function and its arguments."""
    for agreement, rate, n in itertools.product((0.95, 0.8), (0.5, 0.9, 0.97), (10, 20, 60, 200)):
        yield f"judges agree in {agreement:g}, rate {rate:g}, {n} people", judged_coverage, (rate, n, agreement)
    rates = (0.1, 0.1), (0.03, 0.03), (0.2, 0.1), (0.1, 0.01)
    for agreement, (won, lost), n in itertools.product((0.95, 0.8), rates, (5, 10, 20, 60, 200)):
        title = f"judges agree in {agreement:g}, won {won:g}, lost {lost:g}, {n} people"
        yield title, difference_coverage, (won, lost, n, agreement)
    for title, arguments in SEGMENTS.items():
        yield f"segments {title}", macro_coverage, arguments
    rates = (0, 0.005), (0.005, 0.005), (0.02, 0), (0.02, 0.02), (0.1, 0.01)
    for (won, lost), n in itertools.product(rates, (5, 10, 50, 100, 200, 500)):
        yield f"won {won:g}, lost {lost:g}, {n} queries", compared_coverage, (won, lost, n)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=600)
    n_samples, lowest = parser.parse_args().samples, 1.0
    for title, function, arguments in cases():
        rng = np.random.default_rng(0)
        held = np.mean([function(rng, *arguments) for _ in range(n_samples)], axis=0)
        lowest = min(lowest, *held)
        print(f"{title}: {', '.join(f'{share:.3f}' for share in held)}", flush=True)
    print(f"lowest: {lowest:.3f}")


if __name__ == "__main__":
    main()
