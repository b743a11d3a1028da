"""Metrics that read scores, and the denominators of pooled means, in plain Python like `oracle`.

Labels and scores are those of all documents of a query; unretrieved documents have the score -inf.
"""

from itertools import pairwise
from math import fsum, inf, nextafter, sqrt

from oracle import all_gains, dcg, hits, length, ratio


def mean_squared_error(label, score, **_):
    return ratio(fsum((y - s) ** 2 for y, s in zip(label, score, strict=True)), len(label))


def root_mean_squared_error(label, score, **_):
    squared = mean_squared_error(label, score)
    return None if squared is None else sqrt(squared)


def mean_absolute_error(label, score, **_):
    return ratio(fsum(abs(y - s) for y, s in zip(label, score, strict=True)), len(label))


def chosen_labels(label, score, threshold):
    return [y for y, s in zip(label, score, strict=True) if s > threshold]


def set_precision(label, score, *, threshold=0, min_relevance=1, **_):
    chosen = chosen_labels(label, score, threshold)
    return ratio(hits(chosen, None, min_relevance), len(chosen))


def set_recall(label, score, *, threshold=0, min_relevance=1, **_):
    return ratio(hits(chosen_labels(label, score, threshold), None, min_relevance), hits(label, None, min_relevance))


def set_f(label, score, *, beta=1, threshold=0, min_relevance=1, **_):
    chosen, n_relevant = chosen_labels(label, score, threshold), hits(label, None, min_relevance)
    found = (1 + beta**2) * hits(chosen, None, min_relevance)
    return found / (beta**2 * n_relevant + len(chosen)) if n_relevant else None


def kendall(label, score, *, variant="b", **_):
    pairs = [(y > z) - (y < z) for i, y in enumerate(label) for z in label[:i]]
    ranks = [(s > t) - (s < t) for i, s in enumerate(score) for t in score[:i]]
    decided = sum(a * b for a, b in zip(pairs, ranks, strict=True))
    if variant == "a":
        return ratio(decided, len(pairs))
    return ratio(decided, sqrt(sum(map(abs, pairs)) * sum(map(abs, ranks))))


def spearman(label, score, **_):
    def centered(x):  # number above minus number below
        return [sum((v > u) - (v < u) for v in x) for u in x]

    a, b = centered(label), centered(score)
    spread = sum(u * u for u in a) * sum(v * v for v in b)
    return ratio(sum(u * v for u, v in zip(a, b, strict=True)), sqrt(spread))


def precision_at_thresholds(label, score, k=None, *, denominator="relevant", ranks="all", min_relevance=1, **_):
    """Average precision that reads tied documents together; unretrieved documents have the score -inf.

    A relevant document counts by its probability of being in the first k ranks, over all orders of tied documents.
    """
    n_relevant, ranked = hits(label, None, min_relevance), [s for s in score if s > -inf]
    k_or_all, total = k or len(ranked), 0.0
    if ranks == "relevant":
        k_or_all = min(k_or_all, n_relevant)
    for s in sorted(set(ranked), reverse=True):
        above, found = (chosen_labels(label, score, t) for t in (s, nextafter(s, -inf)))
        size, relevant = len(found) - len(above), hits(found, None, min_relevance)
        share = min(max(k_or_all - len(above), 0), size) / size
        total += share * (relevant - hits(above, None, min_relevance)) * relevant / len(found)
    divisor = {"relevant": n_relevant, "min_k_relevant": min(k or n_relevant, n_relevant), "k": k or len(ranked) or 1}
    return ratio(total, divisor[denominator]) if n_relevant else None


def straight_auc(label, score, *, max_fpr, min_relevance=1, **_):
    """Standardized partial area under the line through the points of the ROC curve at each score."""
    relevant, x = [y >= min_relevance for y in label], max_fpr
    n_relevant, n_other = sum(relevant), len(relevant) - sum(relevant)
    if not n_relevant * n_other:
        return None
    points = [(0.0, 0.0)]
    for s in sorted(set(score), reverse=True):
        hit = [r for r, t in zip(relevant, score, strict=True) if t >= s]
        points.append(((len(hit) - sum(hit)) / n_other, sum(hit) / n_relevant))
    area = 0.0
    for (a, low), (b, high) in pairwise(points):
        end = min(b, x)
        if end > a:
            area += (end - a) * (low + (high - low) * (end - a) / (b - a) / 2)
    return (1 + (area - x**2 / 2) / (x - x**2 / 2)) / 2


ORACLES_OF_SCORES = {
    "mse": mean_squared_error,
    "rmse": root_mean_squared_error,
    "mae": mean_absolute_error,
    "set_precision": set_precision,
    "set_recall": set_recall,
    "set_f": set_f,
    "kendall": kendall,
    "spearman": spearman,
}
"""Oracle of each metric that takes no tie policy, by the metric's name."""


# --- pooled means ------------------------------------------------------------------------------------------------


def _n_others(ranked, missing, *, min_relevance=1, **_):
    return len([*ranked, *missing]) - hits([*ranked, *missing], None, min_relevance)


def _n_pairs(ranked, missing, k, **keywords):
    return _n_relevant(ranked, missing, k, **keywords) * _n_others(ranked, missing, **keywords)


def _n_relevant(ranked, missing, k, *, min_relevance=1, **_):
    return hits([*ranked, *missing], None, min_relevance)


def _per_rank(ranked, missing, k, *, denominator="k", no_relevant="zero", **keywords):
    if no_relevant == "undefined" and not _n_relevant(ranked, missing, k, **keywords):
        return 0
    return length(ranked, k) if denominator == "k" else min(length(ranked, k), max(len(ranked), 1))


def _capped(ranked, missing, k, *, denominator="relevant", **keywords):
    n_relevant = _n_relevant(ranked, missing, k, **keywords)
    return n_relevant if denominator == "relevant" else min(n_relevant, k or n_relevant)


def _n_chosen(ranked, missing, k, *, score, threshold=0, **_):
    return sum(s > threshold for s in score)


DENOMINATORS = {
    "precision": _per_rank,
    "recall": _capped,
    "f": lambda r, m, k, *, beta=1, **own: beta**2 * _n_relevant(r, m, k, **own) + length(r, k),
    "ndcg": lambda r, m, k, **own: dcg(sorted([*r, *m], reverse=True), [], k, **own),
    "snips": lambda r, m, k, **own: all_gains(r, m, **own),
    "fallout": lambda r, m, k, **own: _n_others(r, m, **own),
    "judged": lambda r, m, k, **own: max(len(r[:k]), 1),
    "auc": _n_pairs,
    "ranking_loss": _n_pairs,
    "opa": lambda r, m, k, **own: sum(a != b for i, a in enumerate(r) for b in r[:i]),
    "relevance_position": lambda r, m, k, **own: fsum(r),
    "mse": lambda r, m, k, **own: len(r),
    "rmse": lambda r, m, k, **own: len(r),
    "mae": lambda r, m, k, **own: len(r),
    "set_precision": _n_chosen,
    "set_recall": _n_relevant,
    "set_f": lambda r, m, k, *, beta=1, **own: beta**2 * _n_relevant(r, m, k, **own) + _n_chosen(r, m, k, **own),
}
"""What each metric that can be pooled divides by, also for a query for which it is not defined."""
