"""How often tests and intervals of ``sklearn_rank.stats`` are wrong, as tables in the folder ``error_rates``.

    python docs/bench/error_rates.py [tests clusters ...]

Values per query have the shape of nDCG: from 0 to 1, about a fifth of them 0, hard queries hard for both systems, and
the same value for both on four queries in ten. Tests have the level 0.05, intervals 0.95, with 999 resamples.
All tables together take some minutes.
"""

import argparse
import csv
from itertools import product
from pathlib import Path

import numpy as np
from scipy.stats import norm, ttest_rel
from sklearn.linear_model import Ridge

from sklearn_rank import QueryKFold
from sklearn_rank._comparison.candidates import candidates_of
from sklearn_rank._estimates.intervals import t_interval
from sklearn_rank._estimates.judged import JudgedValues, allowing_for_unseen, estimate
from sklearn_rank._estimates.runs import between_runs_of, run_spread
from sklearn_rank._estimates.samples import Paired
from sklearn_rank._estimates.segments import macro_mean
from sklearn_rank._estimates.significance import ComparisonOptions, student
from sklearn_rank.datasets import make_ranking
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, compare_folds, confidence_interval, judged_interval, no_worse

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
    """Share of pairs where a test at LEVEL says that the systems differ."""
    rng = np.random.default_rng(seed)
    found = 0
    for i in range(n_pairs):
        a, b = systems(rng, n_queries, [0, gain], paired=test not in UNPAIRED)
        found += compare(a, b, test=test, n_resamples=n_resamples, random_state=i).pvalue <= LEVEL
    return found / n_pairs


def any_rejection(correction, n_queries, n_systems, n_families, seed, n_resamples=999):
    """Share of families of equal systems where any pair is said to differ."""
    rng = np.random.default_rng(seed)
    found = 0
    for i in range(n_families):
        values = dict(enumerate(systems(rng, n_queries, [0] * n_systems)))
        tested = compare_all(values, correction=correction, n_resamples=n_resamples, random_state=i)
        found += min(tested[pair].corrected_pvalue for pair in tested.pairs) <= LEVEL
    return found / n_families


def fold_rejections(n_queries, n_noise, n_pairs, n_repeats=1, first_seed=0):
    """Share of pairs of models, equal but for columns of noise of their own, that tests on folds say to differ.

    The second model has `n_noise` such columns, the first ten. By the corrected t test, by a plain one over folds, and
    by one over the pooled queries, with the mean over repeats of the value of each.
    """
    found = np.zeros(3)
    for seed in range(first_seed, first_seed + n_pairs):
        rng = np.random.default_rng(seed)
        X, y, qid = make_ranking(n_queries=n_queries, n_documents=(10, 10), n_features=5, random_state=seed)
        splitters = [QueryKFold(5)]
        if n_repeats > 1:
            splitters = [QueryKFold(5, shuffle=True, random_state=i) for i in range(n_repeats)]
        repeats = [[*splitter.split(X, groups=qid)] for splitter in splitters]
        values = np.empty((2, n_repeats, n_queries))  # of the queries, in the order of rows: ten rows each
        for of_model, columns in zip(values, (10, n_noise), strict=True):
            features = np.hstack([X, rng.normal(size=(len(X), columns))])
            for of_repeat, folds in zip(of_model, repeats, strict=True):
                y_score = np.empty(len(X))
                for train, test in folds:
                    y_score[test] = Ridge().fit(features[train], y[train]).predict(features[test])
                of_repeat[:] = ndcg_score(y, y_score, qid=qid, k=10, average=None)
        a, b = (
            np.array(
                [
                    one[test[::10] // 10].mean()
                    for one, folds in zip(of_model, repeats, strict=True)
                    for _, test in folds
                ]
            )
            for of_model in values
        )
        n_test = n_queries / 5
        found += [
            compare_folds(a, b, n_train=n_queries - n_test, n_test=n_test).pvalue <= LEVEL,
            ttest_rel(a, b).pvalue <= LEVEL,
            compare(*values.mean(axis=1)).pvalue <= LEVEL,
        ]
    return found / n_pairs


def ndcg_like(rng, n_queries):
    return systems(rng, n_queries, [0])[0]


def reciprocal_ranks(rng, n_queries):
    """Reciprocal ranks of lists of ten where one document in ten is relevant: skewed, a third of them 0."""
    rank = rng.geometric(0.1, size=n_queries)
    return np.where(rank > 10, 0.0, 1 / rank)


def mean_ndcg(gain=0.0):
    """Mean of a normal variable that is cut to 0..1."""
    mean, sd = 0.3 + gain, np.hypot(0.35, 0.2)
    low, high = (0 - mean) / sd, (1 - mean) / sd
    inside = mean * (norm.cdf(high) - norm.cdf(low)) - sd * (norm.pdf(high) - norm.pdf(low))
    return inside + norm.sf(high)


SHAPES = {
    "like nDCG": (ndcg_like, mean_ndcg()),
    "reciprocal ranks": (reciprocal_ranks, sum(0.9 ** (i - 1) * 0.1 / i for i in range(1, 11))),
}


def coverage(method, shape, n_queries, n_samples, seed, n_resamples=999):
    """Share of samples of queries whose interval of level 0.95 holds the true mean."""
    draw, true = SHAPES[shape]
    rng, found = np.random.default_rng(seed), 0
    for i in range(n_samples):
        low, high = confidence_interval(draw(rng, n_queries), method=method, n_resamples=n_resamples, random_state=i)
        found += low <= true <= high
    return found / n_samples


def intervals(n_draws, seed):
    for shape, method, n in product(SHAPES, ("t", "percentile", "bca"), (10, 20, 50, 100, 200)):
        yield {"values": shape, "method": method, "queries": n, "coverage": coverage(method, shape, n, n_draws, seed)}


def success_coverage(method, rate, n_queries, n_samples, seed):
    """Share of samples of successes whose interval of level 0.95 holds the true rate."""
    rng, found = np.random.default_rng(seed), 0
    for _ in range(n_samples):
        low, high = confidence_interval((rng.random(n_queries) < rate).astype(float), method=method)
        found += low <= rate <= high
    return found / n_samples


def paired_successes(rng, n_queries, rate, gain=0.0):
    """Successes of two systems, alike on six queries in ten."""
    alike, own = rng.random(n_queries) < 0.6, rng.random((2, n_queries))
    a, b = own[0] < rate, np.where(alike, own[0], own[1]) < rate + gain
    return a.astype(float), b.astype(float)


def success_differences(method, rate, n_queries, n_samples, seed, gain=0.0):
    """Share of pairs whose interval of level 0.95 does not hold the true difference, or whose p-value is at LEVEL."""
    rng, found = np.random.default_rng(seed), 0
    for _ in range(n_samples):
        a, b = (
            Evaluation.from_values(range(n_queries), {"hit@10" if method == "bonett-price" else "own": values})
            for values in paired_successes(rng, n_queries, rate, gain)
        )
        result = compare(b, a, test="randomization" if method == "randomization" else "t")
        low, high = result.confidence_interval
        found += result.pvalue <= LEVEL if method == "randomization" else not low <= gain <= high
    return found / n_samples


def successes(n_draws, seed):
    for rate, method, n in product((0.05, 0.2, 0.5), ("t", "wilson"), (5, 20, 100, 500)):
        found = success_coverage(method, rate, n, n_draws, seed)
        yield {"rate": rate, "method": method, "queries": n, "coverage": found}


def differences_of_successes(n_draws, seed):
    for rate, gain in product((0.05, 0.5), (0, 0.1)):
        for method, n in product(("t", "bonett-price", "randomization")[: 2 if gain else 3], (20, 100, 500)):
            found = success_differences(method, rate, n, n_draws, seed, gain)
            yield {"rate": rate, "other rate": round(rate + gain, 2), "method": method, "queries": n, "errors": found}


WEIGHTS = {
    "log-normal": lambda rng, n: np.exp(rng.normal(size=n)),
    "a tenth has half of the weight": lambda rng, n: np.where(np.arange(n) < max(n // 10, 1), 9.0, 1.0),
}
"""Weights of queries, which do not depend on the values."""

WEIGHT_METHODS = ("t", "randomization", "bootstrap", "percentile", "bca", "repeated")


def weight_rejections(method, weights, n_queries, n_pairs, seed, n_resamples=999):
    """Share of pairs of equal systems that a test at LEVEL says to differ, or whose interval does not hold 0.

    "repeated" is the t test of queries that are there as often as their weight says, rounded.
    """
    rng, found = np.random.default_rng(seed), 0
    for i in range(n_pairs):
        a, b = systems(rng, n_queries, [0, 0])
        weight, options = WEIGHTS[weights](rng, n_queries), {"n_resamples": n_resamples, "random_state": i}
        if method in ("percentile", "bca"):
            low, high = confidence_interval(a - b, weight=weight, method=method, **options)
            found += not low <= 0 <= high
        elif method == "repeated":
            times = np.maximum(np.round(weight), 1).astype(int)
            found += compare(np.repeat(a, times), np.repeat(b, times)).pvalue <= LEVEL
        else:
            found += compare(a, b, weight=weight, test=method, **options).pvalue <= LEVEL
    return found / n_pairs


def weights(n_draws, seed):
    for name, method, n in product(WEIGHTS, WEIGHT_METHODS, (10, 20, 50, 200)):
        found = weight_rejections(method, name, n, n_draws, seed)
        yield {"weights": name, "method": method, "queries": n, "errors": found}


SEGMENT_SIZES = {
    "five of 10": [10] * 5,
    "five of 50": [50] * 5,
    "5, 50, 500": [5, 50, 500],
    "3, 200, 200": [3, 200, 200],
}


def macro_coverage(df, sizes, n_samples, seed):
    """Share of samples whose interval of level 0.95 holds the mean over segments, and its mean width.

    `df` is "satterthwaite", or "n - segments", like in survey software.
    """
    rng, segment = np.random.default_rng(seed), np.repeat(np.arange(len(sizes)), sizes)
    found, width = 0, 0.0
    for _ in range(n_samples):
        x = ndcg_like(rng, len(segment)) + segment
        mean, error, free, n_segments = macro_mean(x, segment)
        free = free if df == "satterthwaite" else len(x) - n_segments
        low, high = t_interval(mean, error, free, 0.95, "two-sided")
        found += low <= mean_ndcg() + (len(sizes) - 1) / 2 <= high
        width += (high - low) / n_samples
    return found / n_samples, width


def macro(n_draws, seed):
    for df, (name, sizes) in product(("satterthwaite", "n - segments"), SEGMENT_SIZES.items()):
        found, width = macro_coverage(df, sizes, n_draws, seed)
        yield {"degrees of freedom": df, "queries": name, "coverage": found, "width": width}


def cluster_sizes(n_clusters, equal):
    """Queries of each cluster, twenty on average: all the same, or most of them few and some many."""
    if equal:
        return np.full(n_clusters, 20)
    share = np.exp(norm.ppf((np.arange(n_clusters) + 0.5) / n_clusters))
    return np.maximum(1, np.round(20 * share / share.mean())).astype(int)


def clustered_differences(rng, n_clusters, icc, equal):
    """Differences of equal systems, with variance 1 and correlation `icc` inside each cluster, and their clusters."""
    cluster = np.repeat(np.arange(n_clusters), cluster_sizes(n_clusters, equal))
    shared = rng.normal(size=n_clusters)[cluster]
    return np.sqrt(icc) * shared + np.sqrt(1 - icc) * rng.normal(size=len(cluster)), cluster


CLUSTER_METHODS = {
    "t without clusters": ("t", False),
    "t": ("t", True),
    "randomization": ("randomization", True),
    "bootstrap": ("bootstrap", True),
    "percentile interval": ("percentile", True),
    "bca interval": ("bca", True),
}


def cluster_rejections(method, n_clusters, icc, equal, n_pairs, seed, n_resamples=999):
    """Share of pairs of equal systems that a test at LEVEL says to differ, or whose interval does not hold 0."""
    rng, (name, uses_clusters), found = np.random.default_rng(seed), CLUSTER_METHODS[method], 0
    for i in range(n_pairs):
        d, cluster = clustered_differences(rng, n_clusters, icc, equal)
        options = {"clusters": cluster if uses_clusters else None, "n_resamples": n_resamples, "random_state": i}
        if name in ("percentile", "bca"):
            low, high = confidence_interval(d, method=name, **options)
            found += not low <= 0 <= high
        else:
            found += compare(d, np.zeros(len(d)), test=name, **options).pvalue <= LEVEL
    return found / n_pairs


def clusters(n_draws, seed):
    for (sizes, equal), icc, method, n in product(
        {"equal": True, "unequal": False}.items(), (0.0, 0.1, 0.5), CLUSTER_METHODS, (5, 10, 20, 50)
    ):
        found = cluster_rejections(method, n, icc, equal, n_draws, seed)
        yield {"sizes": sizes, "correlation": icc, "method": method, "clusters": n, "errors": found}


def fold_rows(n_draws, seed, n_repeats, settings):
    names = ("compare_folds", "plain t over the folds", "compare, per query")
    for (share, n_noise), n in settings:
        found = fold_rejections(n, n_noise, n_draws, n_repeats, seed)
        for name, of_test in zip(names, found, strict=True):
            yield {"folds": 5, "repeats": n_repeats, "share": share, "queries": n, "test": name, "found": of_test}


def folds(n_draws, seed):
    noise = {"false positives": 10, "power": 60}
    return fold_rows(n_draws, seed, 1, product(noise.items(), (25, 50, 200)))


def repeated_folds(n_draws, seed):
    return fold_rows(n_draws, seed, 5, [(("false positives", 10), 25)])


def segment_rejections(n_segments, n_queries, n_samples, seed):
    """Share of samples of segments of one distribution whose test at LEVEL says that they differ."""
    rng, segment = np.random.default_rng(seed), np.repeat(np.arange(n_segments), n_queries)
    found = 0
    for _ in range(n_samples):
        values = {"ndcg": ndcg_like(rng, len(segment))}
        found += Evaluation.from_values(range(len(segment)), values, by=segment).segments().pvalue["ndcg"] <= LEVEL
    return found / n_samples


def segments(n_draws, seed):
    for n_segments, n in product((2, 5, 10), (5, 10, 25, 100)):
        found = segment_rejections(n_segments, n, n_draws, seed)
        yield {"segments": n_segments, "queries of each": n, "false positives": found}


def two_like_ndcg(rng, n_queries, gain):
    return systems(rng, n_queries, [0, gain])


def two_of_reciprocal_ranks(rng, n_queries, gain):
    """Ranks of the same lists: new ones on a fifth of the queries; on a share `-gain` the new system has no hit."""
    old, drawn = reciprocal_ranks(rng, n_queries), reciprocal_ranks(rng, n_queries)
    changed, lost = rng.random(n_queries) < 0.2, rng.random(n_queries) < -gain
    return np.stack([old, np.where(lost, 0.0, np.where(changed, drawn, old))])


PAIRS = {
    "like nDCG": (two_like_ndcg, -0.05, 0.7 * (mean_ndcg() - mean_ndcg(-0.05))),
    "reciprocal ranks": (two_of_reciprocal_ranks, -0.1, 0.1 * SHAPES["reciprocal ranks"][1]),
}
"""How two systems are drawn, the gain of the new one, and how much lower its mean is then."""


def decisions(shape, n_queries, n_metrics, n_at_margin, n_pairs, seed, margin=None):
    """Shares of the decisions of the gate, where the new system loses just the margin, or 0, by some metrics.

    Each metric is an own draw; the new system loses the margin by the first `n_at_margin`, and 0 by the others.
    """
    draw, gain, loss = PAIRS[shape]
    rng, found = np.random.default_rng(seed), dict.fromkeys(("no worse", "worse", "undecided"), 0)
    names = [f"metric {i}" for i in range(n_metrics)]
    for _ in range(n_pairs):
        pairs = [draw(rng, n_queries, gain if i < n_at_margin else 0.0) for i in range(n_metrics)]
        old, new = (
            Evaluation.from_values(range(n_queries), {name: pair[i] for name, pair in zip(names, pairs, strict=True)})
            for i in (0, 1)
        )
        found[no_worse(new=new, old=old, margin=loss if margin is None else margin, alpha=LEVEL).decision] += 1
    return {decision: n / n_pairs for decision, n in found.items()}


def gate(n_draws, seed):
    sizes = (10, 25, 50, 200, 1000)
    for shape, (n_metrics, n_at_margin), n in product(PAIRS, ((1, 1), (3, 1), (3, 3)), sizes):
        found = decisions(shape, n, n_metrics, n_at_margin, n_draws, seed)
        yield {"values": shape, "metrics": n_metrics, "at the margin": n_at_margin, "margin": PAIRS[shape][2],
               "queries": n} | found  # fmt: skip
    for margin, n in product((0.01, 0.02, 0.05), sizes):
        found = decisions("like nDCG", n, 1, 0, n_draws, seed, margin)
        yield {"values": "like nDCG", "metrics": 1, "at the margin": 0, "margin": margin, "queries": n} | found


JUDGES = {"good": (0.2, 0.75, 0.12), "poor": (0.3, 0.4, 0.25), "useless": (0.5, 0.0, 0.25)}
"""Values of a model's labels: added to people's, times people's, and noise."""


def judged_coverage(judge, n_human, n_samples, seed, n_model=2000):
    """How often the intervals of the model, of people and of both hold the true mean; width of the last to people's."""
    added, factor, noise = JUDGES[judge]
    rng, found, widths = np.random.default_rng(seed), np.zeros(3), []
    true = mean_ndcg()
    for _ in range(n_samples):
        people = ndcg_like(rng, n_model)
        model = np.clip(added + factor * people + rng.normal(scale=noise, size=n_model), 0, 1)
        human = Evaluation.from_values(range(n_human), {"ndcg": people[:n_human]})
        both = judged_interval(human, Evaluation.from_values(range(n_model), {"ndcg": model}))
        intervals = [
            confidence_interval(model),
            confidence_interval(people[:n_human]),
            both.confidence_interval["ndcg"],
        ]
        found += [low <= true <= high for low, high in intervals]
        widths.append(np.ptp(intervals[2]) / np.ptp(intervals[1]))
    return [*found / n_samples, np.mean(widths)]


def judges(n_draws, seed):
    names = ("model alone", "people alone", "both", "relative width")
    for judge, n in product(JUDGES, (5, 10, 20, 60, 200)):
        found = judged_coverage(judge, n, n_draws, seed)
        yield {"model": judge, "queries by people": n} | dict(zip(names, found, strict=True))


N_SETTINGS = 60
"""Settings of each table whose settings are drawn."""


def weights_of(rng, n, sd):
    """Log-normal weights that do not depend on the values; None without spread."""
    return np.exp(rng.normal(scale=sd, size=n)) if sd else None


def saturated(rng, n, share, a, b, high):
    """Values of which a share is at a bound, the highest or the lowest, and the others beta distributed."""
    x = np.where(rng.random(n) < share, 1.0, rng.beta(a, b, n))
    return x if high else 1 - x


def means(n_draws, seed):
    """Coverage of means with bounds: the two settings of the page, and drawn ones."""
    rng = np.random.default_rng([seed, 1])
    fixed = [(0.97, 1.0, 1.0, True, n, 0.0, 0.95) for n in (20, 50)]
    drawn = [
        (round(rng.uniform(0, 0.995), 3), *(float(round(x, 2)) for x in np.exp(rng.uniform(-1, 1.5, 2))),
         bool(rng.random() < 0.5), int(np.exp(rng.uniform(np.log(10), np.log(1000)))),
         round(rng.uniform(0.2, 1.2), 2) * (rng.random() < 0.3), round(1 - np.exp(rng.uniform(-4.6, -1.6)), 3))
        for _ in range(N_SETTINGS)
    ]  # fmt: skip
    for i, (share, a, b, high, n, sd, level) in enumerate(fixed + drawn):
        of_row, found = np.random.default_rng([seed, 2, i]), np.zeros(2)
        true = share + (1 - share) * a / (a + b)
        true = true if high else 1 - true
        for _ in range(n_draws):
            x, weight = saturated(of_row, n, share, a, b, high), weights_of(of_row, n, sd)
            for j, bounds in enumerate(((0, 1), None)):
                low, high_end = confidence_interval(x, weight=weight, bounds=bounds, confidence_level=level)
                found[j] += low <= true <= high_end
        yield {"share at a bound": share, "bound": int(high), "a": a, "b": b, "queries": n, "sd of log weights": sd,
               "level": level, "coverage": found[0] / n_draws, "coverage of t": found[1] / n_draws}  # fmt: skip


def judged_means(n_draws, seed):
    """Coverage by people and a model, if most values are at a bound: two settings of the page, and drawn ones."""
    rng = np.random.default_rng([seed, 3])
    drawn = [
        (round(rng.uniform(0.5, 0.99), 3), int(np.exp(rng.uniform(np.log(10), np.log(200)))),
         round(rng.uniform(0, 0.4), 2))
        for _ in range(N_SETTINGS // 3)
    ]  # fmt: skip
    for i, (share, n, wrong) in enumerate([(0.95, 20, 0.1), (0.95, 50, 0.1), *drawn]):
        of_row, found = np.random.default_rng([seed, 4, i]), 0
        for _ in range(n_draws):
            x = saturated(of_row, n + 1000, share, 1, 1, True)
            model = np.where(of_row.random(len(x)) < wrong, of_row.random(len(x)), x)
            values = JudgedValues(x[:n], model[:n], model[n:], bounds=np.array([0.0, 1.0]))
            low, high = estimate(allowing_for_unseen(values), 0.95).interval
            found += low <= share + (1 - share) / 2 <= high
        yield {"share at 1": share, "people": n, "model wrong": wrong, "coverage": found / n_draws}


KINDS_OF_RUNS = {"three or more": 3, "two": 2, "one against several": 1}
"""Fewest runs of a system."""


def run_rejections(rng, n, runs, sds, sd_queries, sd_noise, skewed, alpha):
    """Whether a test of two equal systems with several runs says that they differ."""
    shape = rng.exponential if skewed else lambda size: 1 + rng.normal(size=size)
    values = [
        sd_queries * (shape(size=n)[:, None] - 1)
        + rng.normal(scale=sd, size=k)
        + rng.normal(scale=sd_noise, size=(n, k))
        for k, sd in zip(runs, sds, strict=True)
    ]
    spreads = [run_spread(x) if x.shape[1] > 1 else None for x in values]
    a, b = (x.mean(axis=1) for x in values)
    return student(Paired(a, b, between=between_runs_of(spreads)), ComparisonOptions()).pvalue <= alpha


def runs(n_draws, seed):
    rng = np.random.default_rng([seed, 5])
    for i, kind in enumerate(name for name in KINDS_OF_RUNS for _ in range(N_SETTINGS // 3)):
        fewest, alone = KINDS_OF_RUNS[kind], kind == "one against several"
        k = [fewest, int(rng.integers(max(fewest, 2 + alone), 11))]
        sd = [float(round(np.exp(rng.uniform(np.log(0.002), np.log(0.05))), 4)) for _ in k]
        sd = [sd[1], sd[1]] if alone else sd
        if not alone and fewest == 3:
            k[0] = int(rng.integers(3, 11))
        n, alpha = int(np.exp(rng.uniform(np.log(20), np.log(1000)))), round(np.exp(rng.uniform(-4.6, -2.3)), 3)
        sd_queries, sd_noise = (float(round(x, 2)) for x in rng.uniform(0.02, 0.3, 2))
        skewed = bool(rng.random() < 0.3)
        of_row = np.random.default_rng([seed, 6, i])
        found = np.mean([
            run_rejections(of_row, n, k, sd, sd_queries, sd_noise, skewed, alpha) for _ in range(n_draws)
        ])  # fmt: skip
        yield {"kind": kind, "runs": k[0], "other runs": k[1], "sd of runs": sd[0], "other sd of runs": sd[1],
               "queries": n, "sd of queries": sd_queries, "sd of runs by queries": sd_noise, "skewed": int(skewed),
               "alpha": alpha, "false positives": float(found)}  # fmt: skip


def tests(n_draws, seed):
    for test, (share, gain), n in product(TESTS, {"false positives": 0, "power": 0.1}.items(), (25, 50, 200)):
        yield {"test": test, "share": share, "queries": n, "found": rejections(test, n, gain, n_draws, seed)}


def corrections(n_draws, seed):
    for correction, n in product((None, "holm", "bonferroni", "bh"), (25, 50, 200)):
        found = any_rejection(correction, n, 5, n_draws, seed)
        yield {"correction": str(correction), "queries": n, "false positives": found}


KINDS = ("equal", "one better", "several better", "ties", "rare events", "errors", "runs")


def drawn_table(rng, kind):
    """Values of 2 to 12 systems on 20 to 500 queries (rare events: from 200), or in 3 to 6 runs, and true gains."""
    n, m = int(np.exp(rng.uniform(*np.log([200 if kind == "rare events" else 20, 500])))), int(rng.integers(2, 13))
    gain = np.zeros(m)
    if kind != "equal":
        n_better = 1 if kind in ("one better", "errors") else rng.integers(1, m + 1)
        gain[rng.permutation(m)[:n_better]] = rng.uniform(0, 0.4)
    latent = np.sqrt(0.6) * rng.normal(size=n) + np.sqrt(0.4) * rng.normal(size=(m, n)) + gain[:, None]
    if kind == "rare events":
        return (latent > norm.isf(0.03)).astype(float), gain
    if kind == "runs":
        k, sd = int(rng.integers(3, 7)), rng.uniform(0, 0.2)
        return latent[..., None] + rng.normal(scale=sd, size=(m, 1, k)) + rng.normal(scale=0.4, size=(m, n, k)), gain
    return (np.round(latent) / 10 if kind == "ties" else -latent if kind == "errors" else latent), gain


def verdicts_of_tables(n_tables, seed, kind=None):
    """How often drawn tables keep a best system, name a false best one or winner, and contradict themselves."""
    names = ("tables", "kept", "wrong", "wrong of baseline", "contradicts")
    rng, found = np.random.default_rng(seed), dict.fromkeys(names, 0)
    for i in range(n_tables):
        of = kind or KINDS[i % len(KINDS)]
        values, gain = drawn_table(rng, of)
        metric, best = "rmse" if of == "errors" else "map", np.flatnonzero(gain == gain.max())
        results = {
            str(j): Evaluation.of_runs(
                [Evaluation.from_values(range(len(x)), {metric: run}) for run in np.atleast_2d(x.T)]
            )
            for j, x in enumerate(values)
        }
        tests = compare_all(results, baseline="0")
        names = candidates_of(results, tests).names
        sign = 1 if tests.greater_is_better else -1
        shown = [(a, sign * tests[a, b].difference) for a, b in tests.pairs if tests[a, b].corrected_pvalue < LEVEL]
        worse = {name if gained < 0 else "0" for name, gained in shown}
        found["tables"] += 1
        found["kept"] += str(rng.choice(best)) in names
        found["wrong"] += len(names) == 1 and (len(best) > 1 or int(names[0]) != best[0])
        found["wrong of baseline"] += any((gain[int(name)] - gain[0]) * gained <= 0 for name, gained in shown)
        found["contradicts"] += bool(worse & {*names})
    return found


def verdicts(n_draws, seed):
    for kind in KINDS:
        found = verdicts_of_tables(n_draws, seed, kind)
        yield {"kind": kind} | {name: found[name] / found["tables"] for name in found if name != "tables"}


TABLES = {
    tests: 1000, corrections: 1000, folds: 1000, repeated_folds: 200, intervals: 2000, clusters: 1000, weights: 1000,
    successes: 2000, differences_of_successes: 2000, segments: 1000, macro: 2000, gate: 1000, judges: 2000,
    verdicts: 334, means: 500, judged_means: 1000, runs: 500,
}  # fmt: skip
"""Functions that draw the rows of a table, and how many draws each row has."""


MEASURED = {
    "false positives", "found", "errors", "coverage", "width", "no worse", "worse", "undecided", "model alone",
    "people alone", "both", "relative width", "kept", "wrong", "wrong of baseline", "contradicts", "coverage of t",
}  # fmt: skip
"""Columns that a table measures; the others are its conditions."""


def write(path, rows, n_draws, seed):
    """Write rows as they are drawn, with the number of draws and the seed."""
    with path.open("w", newline="") as file:
        for i, row in enumerate(rows):
            cells = row | {"draws": n_draws, "seed": seed}
            if i == 0:
                writer = csv.DictWriter(file, cells, lineterminator="\n")
                writer.writeheader()
            writer.writerow({name: f"{x:.3f}" if isinstance(x, float) else x for name, x in cells.items()})
            file.flush()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = {table.__name__: table for table in TABLES}
    parser.add_argument("tables", nargs="*", help=f"some of {', '.join(names)}; all by default")
    parser.add_argument("--draws", type=int, help="of each row, in place of 200 to 2,000")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parent / "error_rates")
    args = parser.parse_args()
    args.folder.mkdir(exist_ok=True)
    for name in args.tables or names:
        n_draws = args.draws or TABLES[names[name]]
        write(args.folder / f"{name}.csv", names[name](n_draws, args.seed), n_draws, args.seed)


if __name__ == "__main__":
    main()
