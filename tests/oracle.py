"""Metrics of one query in plain Python, written from their published definitions, never from the library.

An oracle takes the labels in ranked order (a tuple per label for subtopics), the labels of the unretrieved documents,
the cutoff (None for the whole list) and the metric's keywords. It returns the value, or None if the metric is
undefined.
"""

from collections.abc import Mapping
from fractions import Fraction
from functools import cache, wraps
from itertools import pairwise, permutations
from math import expm1, floor, fsum, inf, log, log2

import numpy as np

# --- orders of equal scores ----------------------------------------------------------------------------------


def orders(scores):
    """All orders of items that their scores allow, from a dict, or of the places of a list; -inf is not retrieved."""
    scores = scores if isinstance(scores, Mapping) else dict(enumerate(scores))
    kept = [item for item, score in scores.items() if score > -inf]
    return [o for o in permutations(kept) if all(scores[a] >= scores[b] for a, b in pairwise(o))]


# --- shared parts of the definitions -----------------------------------------------------------------------------


def gain_of(label, gain, min_relevance):
    if callable(gain):
        return float(gain(np.array([label]))[0])
    if not isinstance(gain, str):
        return gain[label] if isinstance(gain, Mapping) else gain[int(label)]
    if gain == "exp2":
        return exp2_less_1(label)
    return label if gain == "linear" else float(label >= min_relevance)


def exp2_less_1(label):
    """2**label - 1 with all its digits, also near 0."""
    return 2.0**label - 1 if label == int(label) else expm1(label * log(2))


def discount_of(rank, discount, base):
    if callable(discount):
        return float(discount(np.array([rank]))[0])
    if not isinstance(discount, str):
        return discount[rank - 1]
    if discount == "jarvelin":
        return 1.0 if rank < base else log2(base) / log2(rank)
    return {"log2": 1 / log2(1 + rank), "reciprocal": 1 / rank, "flat": 1.0}[discount]


def hits(ranked, k, min_relevance):
    return sum(y >= min_relevance for y in ranked[:k])


def length(ranked, k):
    """The cutoff, or the length of a list that is read to its end; an empty list has one empty rank."""
    return k or len(ranked) or 1


def ratio(numerator, denominator):
    return numerator / denominator if denominator else None


def or_left_out(oracle):
    """An oracle with the keyword `no_relevant`: not defined for a query without a relevant document."""

    @wraps(oracle)
    def of_query(ranked, missing, k, *, no_relevant="zero", min_relevance=1, **keywords):
        if no_relevant == "undefined" and not hits([*ranked, *missing], None, min_relevance):
            return None
        return oracle(ranked, missing, k, min_relevance=min_relevance, **keywords)

    return of_query


# --- cumulated gain ------------------------------------------------------------------------------------------


@or_left_out
def cg(ranked, missing, k, **_):
    return fsum(ranked[:k])


@or_left_out
def acg(ranked, missing, k, *, denominator="k", **_):
    divisor = length(ranked, k) if denominator == "k" else min(length(ranked, k), max(len(ranked), 1))
    return fsum(ranked[:k]) / divisor


def position_weighted_average(ranked, missing, k, **_):
    weights = [1 / i for i in range(1, len(ranked[:k]) + 1)]
    return fsum(w * y for w, y in zip(weights, ranked, strict=False)) / max(fsum(weights), 1)


@or_left_out
def dcg(ranked, missing, k, *, gain="exp2", discount="log2", base=2, min_relevance=1, **_):
    ranks = enumerate(ranked[:k], start=1)
    return fsum(gain_of(y, gain, min_relevance) * discount_of(i, discount, base) for i, y in ranks)


def ndcg(ranked, missing, k, **keywords):
    ideal = sorted([*ranked, *missing], reverse=True)
    return ratio(dcg(ranked, missing, k, **keywords), dcg(ideal, [], k, **keywords))


def all_gains(ranked, missing, *, gain="linear", min_relevance=1, **_):
    return fsum(gain_of(y, gain, min_relevance) for y in [*ranked, *missing])


def snips(ranked, missing, k, *, gain="linear", discount="flat", **keywords):
    found = dcg(ranked, missing, k, gain=gain, discount=discount, **keywords)
    return ratio(found, all_gains(ranked, missing, gain=gain, **keywords))


def weighted_average_precision(ranked, missing, k, *, min_relevance=1, **_):
    n_relevant = hits([*ranked, *missing], None, min_relevance)
    found = [i for i, y in enumerate(ranked[:k], start=1) if y >= min_relevance]
    return ratio(fsum(acg(ranked, missing, i) for i in found), n_relevant)


def q_measure(ranked, missing, k, *, gain="linear", beta=1, min_relevance=1, **_):
    ideal = sorted([*ranked, *missing], reverse=True)

    def gained(labels, i):
        return fsum(gain_of(y, gain, min_relevance) for y in labels[:i])

    found = [i for i, y in enumerate(ranked[:k], start=1) if y >= min_relevance]
    terms = ((hits(ranked, i, min_relevance) + beta * gained(ranked, i)) / (i + beta * gained(ideal, i)) for i in found)
    return ratio(fsum(terms), hits(ideal, None, min_relevance))


# --- binary relevance ----------------------------------------------------------------------------------------


def average_precision(ranked, missing, k, *, denominator="relevant", ranks="all", min_relevance=1, **_):
    n_relevant = hits([*ranked, *missing], None, min_relevance)
    depth = k if ranks == "all" else n_relevant if k is None else min(k, n_relevant)
    found = [i for i, y in enumerate(ranked[:depth], start=1) if y >= min_relevance]
    total = fsum(hits(ranked, i, min_relevance) / i for i in found)
    divisor = {
        "relevant": n_relevant,
        "min_k_relevant": min(k or n_relevant, n_relevant),
        "retrieved_relevant": max(len(found), 1),
        "k": length(ranked, k),
    }[denominator]
    return ratio(total, divisor) if n_relevant else None


def reciprocal_rank(ranked, missing, k, *, min_relevance=1, **_):
    if not hits([*ranked, *missing], None, min_relevance):
        return None
    return next((1 / i for i, y in enumerate(ranked[:k], start=1) if y >= min_relevance), 0.0)


@or_left_out
def precision(ranked, missing, k, *, denominator="k", min_relevance=1, **_):
    divisor = length(ranked, k) if denominator == "k" else min(length(ranked, k), max(len(ranked), 1))
    return hits(ranked, k, min_relevance) / divisor


def recall(ranked, missing, k, *, denominator="relevant", min_relevance=1, **_):
    n_relevant = hits([*ranked, *missing], None, min_relevance)
    divisor = n_relevant if denominator == "relevant" else min(n_relevant, k or n_relevant)
    return ratio(hits(ranked, k, min_relevance), divisor)


def f_measure(ranked, missing, k, *, beta=1, min_relevance=1, **_):
    p = precision(ranked, missing, k, min_relevance=min_relevance)
    r = recall(ranked, missing, k, min_relevance=min_relevance)
    if r is None:
        return None
    return (1 + beta**2) * p * r / (beta**2 * p + r) if p + r else 0.0


def hit(ranked, missing, k, *, need="any", min_relevance=1, **_):
    n_relevant = hits([*ranked, *missing], None, min_relevance)
    if not n_relevant:
        return None
    return float(hits(ranked, k, min_relevance) >= (n_relevant if need == "all" else 1))


def r_precision(ranked, missing, k, *, denominator="relevant", min_relevance=1, **_):
    n_relevant = hits([*ranked, *missing], None, min_relevance)
    divisor = n_relevant if denominator == "relevant" else min(n_relevant, k or n_relevant)
    return ratio(hits(ranked, min(n_relevant, k or n_relevant), min_relevance), divisor)


def fall_out(ranked, missing, k, *, min_relevance=1, **_):
    n_other = len([*ranked, *missing]) - hits([*ranked, *missing], None, min_relevance)
    return ratio(len(ranked[:k]) - hits(ranked, k, min_relevance), n_other)


def interpolated_precision(ranked, missing, k, *, recall=0.5, rounding="up", min_relevance=1, **_):
    n_relevant = hits([*ranked, *missing], None, min_relevance)
    levels = [Fraction(i, 10) for i in range(11)] if recall == "11pt" else [Fraction(str(recall))]
    at = [hits(ranked, i, min_relevance) for i in range(1, len(ranked[:k]) + 1)]
    if rounding == "up":
        asked = [x * n_relevant for x in levels]
    else:  # as trec_eval computes it, in floats: 0.7 of 3 and 0.9 are less than 3
        asked = [floor(float(x) * n_relevant + {"nearest": 0.5, "cut": 0.9}[rounding]) for x in levels]
    best = (max((h / i for i, h in enumerate(at, start=1) if h >= least), default=0.0) for least in asked)
    return ratio(fsum(best), len(levels)) if n_relevant else None


# --- incomplete judgments: NaN is an unjudged document ----------------------------------------------------------


def bpref(ranked, missing, k, *, denominator="min_relevant_nonrelevant", min_relevance=1, **_):
    n_relevant = hits([*ranked, *missing], None, min_relevance)
    n_other = sum(y < min_relevance for y in [*ranked, *missing])
    most = n_relevant if denominator == "relevant" else min(n_relevant, n_other)
    total = other = 0
    for y in ranked[:k]:
        total += (1 - min(other, most) / most if other else 1) if y >= min_relevance else 0
        other += y < min_relevance
    return ratio(total, n_relevant)


def judged(ranked, missing, k, **_):
    return ratio(sum(y == y for y in ranked[:k]), len(ranked[:k])) or 0.0


def inferred_average_precision(ranked, missing, k, *, min_relevance=1, **_):
    """Negative labels are pooled but unjudged; -inf is such a label for any `min_relevance`."""
    total, e = 0.0, 1e-5
    for i, y in enumerate(ranked[:k]):
        if y >= min_relevance:
            relevant, other = hits(ranked, i, min_relevance), sum(0 <= z < min_relevance for z in ranked[:i])
            pooled = sum(z == z for z in ranked[:i]) / i if i else 0
            total += 1 / (i + 1) + i / (i + 1) * pooled * (relevant + e) / (relevant + other + 2 * e)
    return ratio(total, hits([*ranked, *missing], None, min_relevance))


def rbp_residual(ranked, missing, k, *, p=0.8, **_):
    """Weight of the unjudged documents, and of all ranks after the last one seen."""
    unjudged = (p**i for i, y in enumerate(ranked[:k]) if y != y)
    return (1 - p) * fsum(unjudged) + p ** len(ranked[:k])


# --- users who stop ------------------------------------------------------------------------------------------


def stopped_at(ranked, stop, max_grade):
    """Probability that the user stops at each rank: grade g stops with (2**g - 1) / 2**max_grade, or with g."""
    survive, out = 1.0, []
    for y in ranked:
        p = y if stop == "label" else exp2_less_1(y) / 2.0**max_grade
        out.append(survive * p)
        survive *= 1 - p
    return out


@or_left_out
def err(ranked, missing, k, *, stop="exp2", max_grade=4, discount="reciprocal", base=2, **_):
    stops = enumerate(stopped_at(ranked, stop, max_grade)[:k], start=1)
    return fsum(p * discount_of(i, discount, base) for i, p in stops)


def nerr(ranked, missing, k, **keywords):
    ideal = sorted([*ranked, *missing], reverse=True)
    return ratio(err(ranked, missing, k, **keywords), err(ideal, [], k, **keywords))


def pfound(ranked, missing, k, *, stop="exp2", max_grade=4, decay=0.85, **_):
    return fsum(p * decay**i for i, p in enumerate(stopped_at(ranked, stop, max_grade)[:k]))


@or_left_out
def rbp(ranked, missing, k, *, p=0.8, gain="binary", max_grade=4, min_relevance=1, **_):
    top = 1.0 if gain == "binary" else gain_of(max_grade, gain, min_relevance)
    utility = [gain_of(y, gain, min_relevance) / top for y in ranked[:k]]
    return (1 - p) * fsum(u * p**i for i, u in enumerate(utility))


# --- diversity: a label for each subtopic, or one label for a single subtopic ------------------------------------


def of_subtopics(labels):
    return [y if isinstance(y, tuple) else (y,) for y in labels]


def subtopics(ranked, missing, min_relevance):
    """Labels of the ranked documents for each subtopic that has a relevant document."""
    every, columns = of_subtopics([*ranked, *missing]), zip(*of_subtopics(ranked), strict=True)
    found = [any(y[t] >= min_relevance for y in every) for t in range(len(every[0]) if every else 0)]
    columns = list(columns) or [()] * len(found)
    return [column for column, has_relevant in zip(columns, found, strict=True) if has_relevant]


def novelty_gains(ranked, alpha, min_relevance):
    """Gain of each document: 1 for each subtopic, times 1 - alpha for each time that was covered before."""
    covered, gains = {}, []
    for document in of_subtopics(ranked):
        found = [t for t, y in enumerate(document) if y >= min_relevance]
        gains.append(sum((1 - alpha) ** covered.get(t, 0) for t in found))
        covered |= {t: covered.get(t, 0) + 1 for t in found}
    return gains


def alpha_dcg(ranked, missing, k, *, alpha=0.5, discount="log2", base=2, min_relevance=1, **_):
    gains = enumerate(novelty_gains(ranked, alpha, min_relevance)[:k], start=1)
    return fsum(g * discount_of(i, discount, base) for i, g in gains)


def alpha_ndcg(ranked, missing, k, *, alpha=0.5, min_relevance=1, **keywords):
    """Over the greedy order of all documents; among equals, relevance to the first subtopic decides, and so on."""
    ideal = greedy_order(tuple(sorted(of_subtopics([*ranked, *missing]))), alpha, min_relevance)
    keywords |= {"alpha": alpha, "min_relevance": min_relevance}
    return ratio(alpha_dcg(ranked, missing, k, **keywords), alpha_dcg(ideal, [], k, **keywords))


@cache
def greedy_order(documents, alpha, min_relevance):
    def adds(document):
        gain = novelty_gains([*ideal, document], Fraction(str(alpha)), min_relevance)[-1]
        return gain, [y >= min_relevance for y in document]

    rest, ideal = list(documents), []
    while rest:
        best = max(rest, key=adds)
        rest.remove(best)
        ideal.append(best)
    return ideal


def over_subtopics(of_one, ranked, missing, min_relevance):
    values = [of_one(column) for column in subtopics(ranked, missing, min_relevance)]
    return ratio(fsum(values), len(values))


def err_ia(ranked, missing, k, *, max_grade=1, min_relevance=1, **keywords):
    return over_subtopics(lambda y: err(y, [], k, max_grade=max_grade, **keywords), ranked, missing, min_relevance)


def precision_ia(ranked, missing, k, *, min_relevance=1, **keywords):
    def of_one(labels):
        return precision(labels, [], k, min_relevance=min_relevance, **keywords)

    return over_subtopics(of_one, ranked, missing, min_relevance)


def map_ia(ranked, missing, k, *, min_relevance=1, **_):
    columns = [list(column) for column in zip(*of_subtopics([*ranked, *missing]), strict=True)]
    n, read = len(ranked), {"min_relevance": min_relevance}
    values = [average_precision(column[:n], column[n:], k, **read) for column in columns]
    defined = [value for value in values if value is not None]
    return ratio(fsum(defined), len(defined))


def subtopic_recall(ranked, missing, k, *, min_relevance=1, **_):
    return over_subtopics(lambda y: hits(y, k, min_relevance) > 0, ranked, missing, min_relevance)


def nrbp(ranked, missing, k, *, alpha=0.5, p=0.5, min_relevance=1, **_):
    gains = novelty_gains(ranked, alpha, min_relevance)[:k]
    total = fsum(g * p**i for i, g in enumerate(gains))
    return ratio((1 - (1 - alpha) * p) * total, len(subtopics(ranked, missing, min_relevance)))


# --- pairs ---------------------------------------------------------------------------------------------------


def auc(ranked, missing, k, *, max_fpr=None, min_relevance=1, **_):
    """Unretrieved documents must be the last ones of `ranked`."""
    relevant = [y >= min_relevance for y in ranked]
    n_relevant, n_other = sum(relevant), len(relevant) - sum(relevant)
    x = 1.0 if max_fpr is None else max_fpr
    if not n_relevant * n_other:
        return None
    heights = [sum(relevant[:i]) / n_relevant for i, y in enumerate(relevant) if not y]
    area = fsum(h * min(max(x * n_other - j, 0), 1) / n_other for j, h in enumerate(heights))
    return area if max_fpr is None else (1 + (area - x**2 / 2) / (x - x**2 / 2)) / 2


def ranking_loss(ranked, missing, k, *, min_relevance=1, **_):
    """Unretrieved documents must be the last ones of `ranked`."""
    relevant = [y >= min_relevance for y in ranked]
    wrong = sum(b and not a for i, a in enumerate(relevant) for b in relevant[i + 1 :])
    return ratio(wrong, sum(relevant) * (len(relevant) - sum(relevant)))


def tau_a(label, score):
    """Pairs in the right order minus those in the wrong one, over all pairs; it reads labels and scores."""
    pairs = [(label[i] - label[j]) * (score[i] - score[j]) for i in range(len(label)) for j in range(i)]
    return ratio(sum(x > 0 for x in pairs) - sum(x < 0 for x in pairs), len(pairs))


def average_relevance_position(ranked, missing, k, **_):
    """Unretrieved documents must be the last ones of `ranked`."""
    return ratio(fsum(i * y for i, y in enumerate(ranked, start=1)), fsum(ranked))


def coverage(ranked, missing, k, *, min_relevance=1, **_):
    """Unretrieved documents must be the last ones of `ranked`."""
    return max((i for i, y in enumerate(ranked, start=1) if y >= min_relevance), default=None)


def pairwise_accuracy(ranked, missing, k, **_):
    """Unretrieved documents must be the last ones of `ranked`."""
    pairs = [(a, b) for i, a in enumerate(ranked) for b in ranked[i + 1 :] if a != b]
    return ratio(sum(a > b for a, b in pairs), len(pairs))


def rank_biased_overlap(ranked, missing, k, *, p=0.9, **_):
    """Extrapolated; a label at ranks a to b of the ideal order is in its first d with (d - a + 1) / (b - a + 1)."""
    ideal, depth = sorted([*ranked, *missing], reverse=True), min(k or len(ranked), len(ranked))

    def within(y, d):
        return min(max(d - ideal.index(y), 0) / ideal.count(y), 1.0)

    agreement = [fsum(within(y, d) for y in ranked[:d]) / d for d in range(1, depth + 1)]
    total = (1 - p) / p * fsum(a * p**d for d, a in enumerate(agreement, start=1))
    return total + agreement[-1] * p**depth if agreement else 0.0


ORACLES = {
    "rbo": rank_biased_overlap,
    "cg": cg,
    "acg": acg,
    "pwa": position_weighted_average,
    "dcg": dcg,
    "ndcg": ndcg,
    "snips": snips,
    "q": q_measure,
    "wap": weighted_average_precision,
    "map": average_precision,
    "mrr": reciprocal_rank,
    "precision": precision,
    "recall": recall,
    "f": f_measure,
    "hit": hit,
    "rprec": r_precision,
    "fallout": fall_out,
    "iprec": interpolated_precision,
    "bpref": bpref,
    "judged": judged,
    "infap": inferred_average_precision,
    "rbp_residual": rbp_residual,
    "err": err,
    "nerr": nerr,
    "pfound": pfound,
    "rbp": rbp,
    "alpha_dcg": alpha_dcg,
    "alpha_ndcg": alpha_ndcg,
    "err_ia": err_ia,
    "map_ia": map_ia,
    "p_ia": precision_ia,
    "s_recall": subtopic_recall,
    "nrbp": nrbp,
    "auc": auc,
    "relevance_position": average_relevance_position,
    "coverage_error": coverage,
    "opa": pairwise_accuracy,
    "ranking_loss": ranking_loss,
}
"""Oracle of each metric that takes a tie policy, by the metric's name."""
