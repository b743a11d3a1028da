"""How often each test is wrong: false positives where systems are equal, power where one is better.

Values per query have the shape of nDCG: from 0 to 1, a fifth or so of them 0, hard queries hard for both systems, and
the same value for both on four queries in ten. Takes some minutes.
"""

import argparse

import numpy as np

from sklearn_rank.stats import compare, compare_all

TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap", "welch", "mannwhitney", "permutation"]
UNPAIRED = TESTS[5:]
LEVEL = 0.05


def systems(rng, n_queries, gains, paired=True):
    """Values of one system a gain, on the same queries or each on its own."""
    difficulty = rng.normal(size=(1 if paired else len(gains), n_queries))
    own = rng.normal(size=(len(gains), n_queries))
    own = np.where(rng.random(n_queries) < 0.3, own[:1], own)
    gains = np.where((own == own[:1]).all(axis=0), 0, np.asarray(gains)[:, None])
    return np.clip(0.3 + 0.35 * difficulty + 0.2 * own + gains, 0, 1)


def rejections(test, n_queries, gain, n_pairs, seed, n_resamples=999):
    """Share of pairs in which a test at LEVEL says that the systems differ."""
    rng = np.random.default_rng(seed)
    found = 0
    for i in range(n_pairs):
        a, b = systems(rng, n_queries, [0, gain], paired=test not in UNPAIRED)
        found += compare(a, b, test=test, n_resamples=n_resamples, random_state=i).pvalue <= LEVEL
    return found / n_pairs


def any_rejection(correction, n_queries, n_systems, n_families, seed, n_resamples=999):
    """Share of families of equal systems in which any pair is said to differ."""
    rng = np.random.default_rng(seed)
    found = 0
    for i in range(n_families):
        values = dict(enumerate(systems(rng, n_queries, [0] * n_systems)))
        corrected = compare_all(values, correction=correction, n_resamples=n_resamples, random_state=i).corrected
        found += min(corrected.values()) <= LEVEL
    return found / n_families


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1000)
    parser.add_argument("--queries", type=int, nargs="+", default=[25, 50, 200])
    parser.add_argument("--gain", type=float, default=0.1, help="of the better system, before values are cut to 0..1")
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    heads = [f"{what}, {n} queries" for what in ("false positives", "power") for n in args.queries]
    print("| test |", " | ".join(heads), "|")
    print("|---" * (len(heads) + 1) + "|")
    for test in TESTS:
        rates = [rejections(test, n, gain, args.pairs, args.seed) for gain in (0, args.gain) for n in args.queries]
        print(f"| `{test}` |", " | ".join(f"{rate:.3f}" for rate in rates), "|", flush=True)
    print("\nFive equal systems, any of the ten pairs:\n")
    print("| correction |", " | ".join(f"{n} queries" for n in args.queries), "|")
    print("|---" * (len(args.queries) + 1) + "|")
    for correction in (None, "holm", "bonferroni", "bh", "tukey"):
        rates = [any_rejection(correction, n, 5, args.pairs, args.seed) for n in args.queries]
        print(f"| `{correction}` |", " | ".join(f"{rate:.3f}" for rate in rates), "|", flush=True)


if __name__ == "__main__":
    main()
