"""Expected values of a metric in plain Python: the oracle over all orders of tied documents, and means."""

from collections import Counter
from itertools import groupby, product
from math import exp, factorial, fsum, inf, isnan, log, nan, prod, sqrt

from oracle import ORACLES
from oracle_of_scores import DENOMINATORS, ORACLES_OF_SCORES, precision_at_thresholds, straight_auc

from properties.conventions import choices
from sklearn_rank._metric.metric import REGISTRY

DEFAULTS = {
    "min_relevance": 1,
    "ties": "average",
    "unjudged": None,
    "negative": "keep",
    "replace_undefined_by": 0.0,
    "average": "macro",
}
"""Keywords of all metrics."""

MANY = 400
"""Orders of tied documents that are tried at most."""


class RefusedError(Exception):
    """The library must raise ValueError."""


class TooManyOrdersError(Exception):
    """The oracle would take too long."""


def settings(call):
    """Every keyword that an oracle reads, with its value; keywords of formulas only if they differ from the default."""
    metric, given = REGISTRY[call.name], dict(call.keywords)
    system = given.pop("convention", None)
    chosen = {} if system is None else choices(system, call.name)
    if metric.subtopics and chosen.get("ties") == "worst":
        del chosen["ties"]  # of subtopics there is no worst order
    chosen = {word: value for word, value in chosen.items() if word in metric.defaults}
    values = DEFAULTS | chosen | given
    if metric.reads_unjudged and values["unjudged"] == "nonrelevant":
        values["unjudged"] = None
    if call.name == "infap" and values["unjudged"] == "drop":  # its negative labels are of unjudged documents
        values["negative"] = "unjudged"
    if metric.pointwise or metric.defines_ties:
        values["ties"] = "average"
    return values


# --- labels as they are read ---------------------------------------------------------------------------------


def read_label(name, label, s):
    """Negative labels are NaN if the keywords make them unjudged; for infAP they are -inf, in the pool."""
    if isinstance(label, tuple):
        return tuple(read_label(name, y, s) for y in label)
    if not label < 0 or s["negative"] == "keep":
        return label
    return -inf if name == "infap" and s["unjudged"] is None else nan


def read_list(name, documents, s):
    """Labels, scores and keys of a query, with unjudged documents as `unjudged` says."""
    out = []
    for label, score, key in documents:
        label, several = read_label(name, label, s), is_table(label)
        if s["unjudged"] == "drop" and all(map(isnan, flat([(label,)]))):
            continue
        if s["unjudged"] == "nonrelevant" or (s["unjudged"] == "drop" and several):
            label = tuple(zero_if_nan(y) for y in label) if isinstance(label, tuple) else zero_if_nan(label)
        out.append((label, score, key))
    return out


def is_table(label):
    """Whether there are labels of several subtopics; a single column is one label per document."""
    return isinstance(label, tuple) and len(label) > 1


def zero_if_nan(label):
    return 0.0 if isnan(label) else label


def flat(documents):
    return [y for label, *_ in documents for y in (label if isinstance(label, tuple) else (label,))]


# --- expected errors ---------------------------------------------------------------------------------------------


def refuse_bad(call, s, lists):
    """Raise if the metric does not accept the labels, scores or tables."""
    metric, everything = REGISTRY[call.name], [d for documents in lists for d in documents]
    given, several = flat(everything), is_table(everything[0][0])
    labels = [y for y in given if not isnan(y) and (y >= 0 or s["negative"] == "keep")]
    unjudged = len(labels) < len(given)
    if unjudged and s["unjudged"] is None and not metric.reads_unjudged:
        raise RefusedError("a label is missing")
    labels_or_zero = [*labels, 0.0] if unjudged else labels
    reads_zero = s["unjudged"] == "nonrelevant" or (s["unjudged"] == "drop" and several)
    if unjudged and reads_zero and s["min_relevance"] <= 0:
        raise RefusedError("unjudged would be relevant")
    if metric.pointwise and any(score == -inf for _, score, _ in everything):
        raise RefusedError("no prediction")
    low, high = limits(call, s)
    if min(labels_or_zero) < low or max(labels_or_zero) > high:
        raise RefusedError("a label is out of range")
    refuse_bad_gain(call, s, labels, missing=unjudged)
    discount = s.get("discount")
    depth = min(max(cutoffs(call), key=lambda k: k or inf) or inf, max(map(len, lists)))
    if isinstance(discount, list) and len(discount) < depth:
        raise RefusedError("ranks without a weight")


def limits(call, s):
    """Lowest and highest label that a metric takes."""
    low, high = REGISTRY[call.name].labels
    low = -inf if low is None or not isinstance(s.get("gain", ""), str) else low
    if s.get("stop") == "label":
        return low, 1.0
    if high == "max_grade" and call.name == "rbp" and s.get("gain", "binary") == "binary":
        return low, inf
    return low, inf if high is None else s.get(high, {"err_ia": 1}.get(call.name, 4))


def gain_name(call, s):
    default = {"dcg": "exp2", "ndcg": "exp2", "q": "linear", "rbp": "binary"}.get(call.name)
    return s.get("gain", default)


def refuse_bad_gain(call, s, labels, *, missing):
    gain = gain_name(call, s)
    if gain == "exp2" and max(labels, default=0) > 1000:
        raise RefusedError("2**label overflows")
    if isinstance(gain, (list, dict)):
        grades = [*gain] if isinstance(gain, dict) else range(len(gain))
        labels = [*labels, 0.0] if missing and s["unjudged"] == "nonrelevant" else labels
        if any(y not in grades for y in labels) or (call.name == "rbp" and s.get("max_grade", 4) not in grades):
            raise RefusedError("a label without a gain")


def refuse_tied(call, s, blocks):
    """Raise if documents that count are tied and the mean over orders has no closed form."""
    no_form = call.name in ("iprec", "infap") or s.get("denominator") == "retrieved_relevant"
    if not no_form or s["ties"] != "average":
        return
    deepest, rank = max(k or inf for k in cutoffs(call)), 1
    for block in blocks:
        if len(block) > 1 and rank <= deepest:
            raise RefusedError("ties without a closed form")
        rank += len(block)


# --- one query -----------------------------------------------------------------------------------------------


def cutoffs(call):
    return call.k if isinstance(call.k, list) else [call.k]


def or_lowest(label):
    return -inf if label != label else label


def blocks_of(documents, *, keep_unretrieved):
    """Labels of the documents of each score, best first, higher keys first; and labels of unretrieved documents.

    Unretrieved documents that are kept are the last block: a tie policy is for the blocks before it.
    """
    ranked = sorted([d for d in documents if d[1] > -inf], key=lambda d: (-d[1], -d[2]))
    missing = [label for label, score, _ in documents if score == -inf]
    blocks = [[label for label, *_ in block] for _, block in groupby(ranked, key=lambda d: d[1])]
    return (blocks, [], missing) if keep_unretrieved else (blocks, missing, [])


def arrangements(block):
    """Distinct orders of labels; each represents equally many orders of documents."""
    first = {repr(y): y for y in block}
    count = Counter(map(repr, block))

    def of_rest(n):
        if not n:
            yield []
        for name in [name for name in count if count[name]]:
            count[name] -= 1
            yield from ([first[name], *rest] for rest in of_rest(n - 1))
            count[name] += 1

    return list(of_rest(len(block))) if len(count) > 1 else [block]


def n_arrangements(block):
    return factorial(len(block)) // prod(map(factorial, Counter(map(repr, block)).values()))


def by_policy(blocks, ties):
    """Blocks as a policy leaves them: the average does, and others leave none with several documents."""
    if ties in ("worst", "best"):
        blocks = [sorted(block, key=or_lowest, reverse=ties == "best") for block in blocks]
    return blocks if ties == "average" else [[y] for block in blocks for y in block]


def scored(blocks, last):
    """Labels, and scores that leave just these blocks."""
    labels = [y for block in [*blocks, last] for y in block]
    return labels, [-float(i) for i, block in enumerate(blocks) for _ in block] + [-inf] * len(last)


def orders(blocks, last, ties):
    """Orders that a policy allows, equally likely; the documents of the last block have any order."""
    blocks = [*by_policy(blocks, ties), last]
    if prod(map(n_arrangements, blocks)) > MANY:
        raise TooManyOrdersError
    return [[y for block in choice for y in block] for choice in product(*map(arrangements, blocks))]


def of_query(call, s, documents):
    """Value and denominator of one query at each cutoff; None if undefined."""
    metric, own = REGISTRY[call.name], {word: value for word, value in s.items() if word not in DEFAULTS}
    own["min_relevance"] = s["min_relevance"]
    labels, scores = [d[0] for d in documents], [d[1] for d in documents]
    blocks, missing, last = blocks_of(documents, keep_unretrieved=metric.keeps_unretrieved)
    refuse_tied(call, s, blocks)
    straight = s.get("tied_curve") == "straight" and s.get("max_fpr") is not None
    whole = {
        "map": precision_at_thresholds if s.get("precision_at") == "threshold" and s["ties"] == "average" else None,
        "auc": straight_auc if straight else None,
    }.get(call.name)
    if whole is straight_auc:
        labels, scores = scored(by_policy(blocks, s["ties"]), last)
    if whole and s.get("denominator") != "retrieved_relevant":
        values = [whole(labels, scores, k=k, **own) for k in cutoffs(call)]
    elif call.name in ORACLES_OF_SCORES:
        values = [ORACLES_OF_SCORES[call.name](labels, scores, **own)]
        return [(values[0], denominator(call, s, labels, [], None, score=scores, **own))]
    else:
        allowed = orders(blocks, last, s["ties"])
        values = [mean_of([ORACLES[call.name](order, missing, k, **own) for order in allowed]) for k in cutoffs(call)]
    order = [y for block in [*blocks, last] for y in block]
    return [(v, denominator(call, s, order, missing, k, **own)) for v, k in zip(values, cutoffs(call), strict=True)]


def denominator(call, s, ranked, missing, k, **own):
    return DENOMINATORS[call.name](ranked, missing, k, **own) if s["average"] == "micro" else 1


def mean_of(values):
    return None if None in values else fsum(values) / len(values)


# --- all queries ---------------------------------------------------------------------------------------------


def expected(call, data):
    """Values by query and cutoff, or means by cutoff; for a single cutoff without that axis."""
    s, lists = settings(call), data.queries
    refuse_bad(call, s, {*lists.values()})
    known = {
        documents: of_query(call, s, read_list(call.name, documents, s)) for documents in dict.fromkeys(lists.values())
    }
    parts = [known[documents] for documents in lists.values()]
    weights = [1.0 if data.weights is None else data.weights[query] for query in lists]
    if s["average"] is None:
        out = [[replaced(value, s) for value, _ in part] for part in parts]
        return out if isinstance(call.k, list) else [row[0] for row in out]
    means = [MEANS[s["average"]](call, s, column, weights) for column in zip(*parts, strict=True)]
    return means if isinstance(call.k, list) else means[0]


def replaced(value, s):
    return s["replace_undefined_by"] if value is None else value


def macro(call, s, column, weights):
    values = [replaced(value, s) for value, _ in column]
    counted = [(v, w) for v, w in zip(values, weights, strict=True) if not isnan(v)]
    return fsum(v * w for v, w in counted) / fsum(w for _, w in counted) if counted else nan


def geometric(call, s, column, weights):
    values = [(nan if isnan(v) else log(max(v, 1e-5)), 1) for v in (replaced(value, s) for value, _ in column)]
    return exp(macro(call, s, values, weights))


def micro(call, s, column, weights):
    leaves_out, root = isnan(s["replace_undefined_by"]), call.name == "rmse"
    if all(value is None for value, _ in column):
        return s["replace_undefined_by"]
    counted = [(v, d, w) for (v, d), w in zip(column, weights, strict=True) if not (v is None and leaves_out)]
    total = fsum(w * d for _, d, w in counted)
    mean = fsum((v or 0) ** (2 if root else 1) * (w * d / total) for v, d, w in counted)
    return sqrt(mean) if root else mean


MEANS = {"macro": macro, "micro": micro, "geometric": geometric}
