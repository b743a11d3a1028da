"""Binary relevance: how many relevant documents are found, and at which ranks."""

from __future__ import annotations

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.metric import NO_RELEVANT
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.constraints import one_of, real
from sklearn_rank._utils.typing import Array

__all__ = [
    "fall_out_error",
    "fbeta_at_k_score",
    "hit_rate_score",
    "map_score",
    "mrr_score",
    "precision_at_k_score",
    "recall_at_k_score",
]


PER_RANK = one_of(
    "k",
    "min_k_n",
    doc="""denominator : {"k", "min_k_n"}, default="k"
    Divisor of the sum: k, even if the list is shorter, or the smaller of k and the length n of the list.""",
)


def divisor_per_rank(r: Ranked, denominator: str) -> Array:
    """Number of ranks that a sum over the first k is divided by."""
    return r.k if denominator == "k" else np.minimum(r.k, np.maximum(r.n, 1))


def over_relevant(r: Ranked, curve: Curve, no_relevant: str) -> Curve:
    """The curve; with ``no_relevant="undefined"``, undefined for a query without a relevant document."""
    if no_relevant == "zero":
        return curve
    value, divisor = curve if isinstance(curve, tuple) else (curve, 1.0)
    return value, np.where(r.n_relevant > 0, divisor, 0.0)


LARGE = 1e100
"""A weight with which F-measures are recall, and the Q-measure the ratio of gains, to the last digit."""


def at_first_rank(spec: MetricSpec) -> bool:
    """Whether a metric reads rank 1 only, where precision and reciprocal rank are 1 for a hit and else 0."""
    return bool(spec.k == 1)


BETA = real(
    "a number > 0",
    lambda v: v > 0,
    """beta : float, default=1
    Recall counts `beta` times as much as precision.""",
)


@metric(
    "map",
    bounds=(0, 1),
    aliases={
        "ap": {},
        "avep": {},
        "average_precision": {},
        "mean_average_precision": {},
        "gm_map": {"average": "geometric"},
        "gmap": {"average": "geometric"},
        "lrap": {"precision_at": "threshold", "replace_undefined_by": 1},
        "map_at_r": {"ranks": "relevant"},
    },
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    binary=lambda spec: at_first_rank(spec) and spec["denominator"] != "relevant",
    parameter_constraints={
        "denominator": one_of(
            "relevant",
            "min_k_relevant",
            "retrieved_relevant",
            "k",
            doc="""denominator : {"relevant", "min_k_relevant", "retrieved_relevant", "k"}, default="relevant"
    Divisor of the sum: all R relevant documents, min(k, R), the relevant documents among the first k, or k. Without
    `k`, min(k, R) is R, and k is the length of the list. "retrieved_relevant" depends on the order of tied documents,
    so it needs another policy than ``ties="average"``.""",
        ),
        "precision_at": one_of(
            "rank",
            "threshold",
            doc="""precision_at : {"rank", "threshold"}, default="rank"
    Where to take the precision at a relevant document: at its rank, which `ties` decides; or at its score as a
    threshold, which finds tied documents together, as in `sklearn.metrics.average_precision_score`. With a policy that
    orders tied documents both are equal.""",
        ),
        "ranks": one_of(
            "all",
            "relevant",
            doc="""ranks : {"all", "relevant"}, default="all"
    Ranks that count: all down to k, or only the first R of them, for R relevant documents: MAP@R.""",
        ),
    },
)
def map_score(r: Ranked, *, denominator: str = "relevant", precision_at: str = "rank", ranks: str = "all") -> Curve:
    """Mean average precision: the precision at each relevant document, averaged over the relevant documents.

    ``AP@k = (sum of P@i over relevant i <= k) / R``

    Relevant documents that were not retrieved count as 0. MAP is the mean of AP over queries.

    References
    ----------
    C. Buckley and E. Voorhees, "Retrieval system evaluation", in TREC: Experiment and Evaluation in Information
    Retrieval, MIT Press, 2005; MAP@R: K. Musgrave, S. Belongie and S.-N. Lim, "A metric learning reality check",
    ECCV 2020.

    Examples
    --------
    Four relevant documents have ranks 1, 2, 4 and 7: (1/1 + 2/2 + 3/4 + 4/7) / 4 = 0.830:

    >>> from sklearn_rank.metrics import map_score
    >>> round(map_score([1, 1, 0, 1, 0, 0, 1], [7, 6, 5, 4, 3, 2, 1], qid=[0] * 7), 3)
    0.83

    Both documents are tied. The relevant document is first or second, (1 + 1/2) / 2:

    >>> map_score([1, 0], [5, 5], qid=["q", "q"])
    0.75

    The score, used as a threshold, finds both at once, and one of the two is relevant:

    >>> map_score([1, 0], [5, 5], qid=["q", "q"], precision_at="threshold")
    0.5

    Two relevant documents have ranks 1 and 3. MAP@R reads the first two ranks: (1/1) / 2:

    >>> map_score([1, 0, 1], [3, 2, 1], qid=[0] * 3, ranks="relevant")
    0.5
    """
    counts = 1.0 if ranks == "all" else r.rank <= r.of_query(r.n_relevant)
    if precision_at == "threshold":
        precisions = r.cumsum(r.relevant, weight=counts * r.at_tie_end(r.joint(1, r.relevant) / r.rank))
    elif ranks == "relevant":
        precisions = r.cumsum(weight=counts * r.joint(r.relevant, r.relevant) / r.rank)
    else:
        precisions = r.sums_of_means()
    if denominator == "relevant":
        return precisions, r.n_relevant
    if denominator == "min_k_relevant":
        return precisions, np.minimum(r.cutoff, r.n_relevant)
    if denominator == "k":
        return precisions, r.k
    r.refuse_ties("map_score with denominator='retrieved_relevant'")
    return precisions, np.maximum(r.cumsum(r.relevant, weight=counts), 1)


@metric(
    "mrr",
    bounds=(0, 1),
    aliases=("rr", "mean_reciprocal_rank", "reciprocal_rank"),
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    binary=at_first_rank,
)
def mrr_score(r: Ranked) -> Curve:
    """Mean reciprocal rank: 1 / rank of the first relevant document.

    ``RR@k = 1 / i for the smallest relevant rank i <= k, else 0``

    Documents below the first relevant document have no effect.

    References
    ----------
    E. Voorhees, "The TREC-8 question answering track report", TREC 1999.

    Examples
    --------
    The first relevant documents of three queries have ranks 3, 2 and 1: (1/3 + 1/2 + 1) / 3 = 11/18:

    >>> from sklearn_rank.metrics import mrr_score
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1, 0], [3, 2, 1, 2, 1, 2, 1]
    >>> round(mrr_score(y_true, y_score, qid=[1, 1, 1, 2, 2, 3, 3]), 4)
    0.6111
    """
    return r.cumsum(weight=r.cascade(r.relevant), over_rank=True)


@metric(
    "precision",
    bounds=(0, 1),
    aliases=("p", "pre"),
    supports_micro=True,
    binary=at_first_rank,
    parameter_constraints={"denominator": PER_RANK},
)
def precision_at_k_score(r: Ranked, *, denominator: str = "k", no_relevant: str = "zero") -> Curve:
    """Precision: the share of relevant documents among the first k.

    ``P@k = relevant documents among the first k / k``

    Without `k`, the divisor is the length of the list.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    Two of the first three documents are relevant. The list of two documents is divided by k = 5, or by its length:

    >>> from sklearn_rank.metrics import precision_at_k_score
    >>> round(precision_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=3), 4)
    0.6667
    >>> precision_at_k_score([1, 0], [2, 1], qid=[0, 0], k=5)
    0.2
    >>> precision_at_k_score([1, 0], [2, 1], qid=[0, 0], k=5, denominator="min_k_n")
    0.5

    The second query has no relevant document. Without it the mean is the value of the first query:

    >>> precision_at_k_score([1, 0, 0, 0], [2, 1, 2, 1], qid=[0, 0, 1, 1], k=1)
    0.5
    >>> leave_out = {"no_relevant": "undefined", "replace_undefined_by": float("nan")}
    >>> precision_at_k_score([1, 0, 0, 0], [2, 1, 2, 1], qid=[0, 0, 1, 1], k=1, **leave_out)
    1.0
    """
    return over_relevant(r, (r.cumsum(r.relevant), divisor_per_rank(r, denominator)), no_relevant)


@metric(
    "recall",
    bounds=(0, 1),
    aliases={"r": {}} | dict.fromkeys(("capped_recall", "recall_cap", "r_cap"), {"denominator": "min_k_relevant"}),
    supports_micro=True,
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    binary=lambda spec: at_first_rank(spec) and spec["denominator"] == "min_k_relevant",
    parameter_constraints={
        "denominator": one_of(
            "relevant",
            "min_k_relevant",
            doc="""denominator : {"relevant", "min_k_relevant"}, default="relevant"
    Divisor of the hits: all R relevant documents, or min(k, R), the most that k ranks can hold. The second choice is
    capped recall, which trec_eval calls relative precision. Without `k` both are R.""",
        )
    },
)
def recall_at_k_score(r: Ranked, *, denominator: str = "relevant") -> Curve:
    """Recall: the share of the relevant documents that are among the first k.

    ``R@k = relevant documents among the first k / R``

    The order of the first k documents has no effect.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    One of the two relevant documents is among the first two:

    >>> from sklearn_rank.metrics import recall_at_k_score
    >>> recall_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=2)
    0.5

    The first rank holds one of two relevant documents, so recall is 1/2, and capped recall is 1:

    >>> recall_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=1)
    0.5
    >>> recall_at_k_score(
    ...     [1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=1, denominator="min_k_relevant"
    ... )
    1.0
    """
    return r.cumsum(r.relevant), r.n_relevant if denominator == "relevant" else np.minimum(r.cutoff, r.n_relevant)


@metric(
    "f",
    bounds=(0, 1),
    aliases={"f1": {"beta": 1}, "f2": {"beta": 2}, "fbeta": {}, "f_score": {}, "f_measure": {}},
    supports_micro=True,
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    parameter_constraints={"beta": BETA},
)
def fbeta_at_k_score(r: Ranked, *, beta: float = 1) -> Curve:
    """F-measure: the weighted harmonic mean of precision and recall at rank k.

    ``F@k = (1 + beta**2) P@k R@k / (beta**2 P@k + R@k) = (1 + beta**2) hits_k / (beta**2 R + k)``

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    P@2 = 1/2 and R@2 = 1/1: F1 = 2/3, F2 = 5/2 / (4/2 + 1) = 5/6, F0.5 = 5/4 / 2 / (1/8 + 1) = 5/9:

    >>> from sklearn_rank.metrics import fbeta_at_k_score
    >>> [
    ...     round(fbeta_at_k_score([0, 1, 0], [3, 2, 1], qid=[0] * 3, k=2, beta=b), 3)
    ...     for b in (1, 2, 0.5)
    ... ]
    [0.667, 0.833, 0.556]
    """
    weight = min(beta, LARGE) ** 2
    return (1 + weight) * r.cumsum(r.relevant), weight * r.n_relevant + r.k


@metric(
    "hit",
    bounds=(0, 1),
    aliases=dict.fromkeys(("hit_rate", "hitrate", "success", "hr", "hits", "hit_ratio"), {})
    | dict.fromkeys(("recall_all", "full_recall"), {"need": "all"}),
    binary=True,
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    parameter_constraints={
        "need": one_of(
            "any",
            "all",
            doc="""need : {"any", "all"}, default="any"
    Relevant documents that a hit needs among the first k: any, or all, including those not retrieved. "all" is full
    recall, for questions that need several documents; a query with more than k relevant documents then has 0.""",
        )
    },
)
def hit_rate_score(r: Ranked, *, need: str = "any") -> Curve:
    """Hit rate: whether any of the first k documents is relevant.

    ``hit@k = 1`` if a relevant document has a rank i <= k, else 0. The hit rate is also called success@k. With
    ``need="all"`` it is 1 only if every relevant document has a rank i <= k.

    References
    ----------
    M. Deshpande and G. Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 22(1), 2004; all relevant
    documents: D. Wu et al., "LongMemEval: benchmarking chat assistants on long-term interactive memory", ICLR 2025.

    Examples
    --------
    The relevant document of the first query has rank 2, and of the second query rank 1:

    >>> from sklearn_rank.metrics import hit_rate_score
    >>> hit_rate_score([0, 1, 1, 0], [2, 1, 2, 1], qid=[1, 1, 2, 2], k=[1, 2])
    array([0.5, 1. ])

    The third document, which is relevant, is tied with the fourth. So both relevant documents are among the first
    three in one of two orders:

    >>> hit_rate_score([1, 0, 1, 0], [4, 3, 2, 2], qid=[0] * 4, k=[2, 3, 4], need="all")
    array([0. , 0.5, 1. ])
    """
    return r.cumsum(weight=r.cascade(r.relevant)) if need == "any" else r.holds_all_relevant()


@metric(
    "fallout",
    bounds=(0, 1),
    aliases=("fall_out",),
    greater_is_better=False,
    supports_micro=True,
    undefined_when="no document that is not relevant",
)
def fall_out_error(r: Ranked) -> Curve:
    """Fall-out: the share of the non-relevant documents that are among the first k.

    ``fallout@k = non-relevant documents among the first k / N``

    N counts all judged documents that are not relevant, including those not retrieved. The order of the first k
    documents has no effect.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    One of the two documents that are not relevant is among the first two:

    >>> from sklearn_rank.metrics import fall_out_error
    >>> fall_out_error([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=2)
    0.5
    """
    return r.cumsum(1 - r.relevant), r.n_judged - r.n_relevant
