"""Cumulated gain: labels, or gains of labels, summed down the list."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import formula_of, metric
from sklearn_rank._metric.metric import NO_RELEVANT
from sklearn_rank._utils.constraints import is_word, real
from sklearn_rank.metrics.binary import LARGE, PER_RANK, at_first_rank, divisor_per_rank, over_relevant

__all__ = [
    "acg_score",
    "cg_score",
    "dcg_score",
    "ndcg_score",
    "position_weighted_average_score",
    "q_score",
    "snips_score",
    "wap_score",
]

INF = float("inf")


@metric("cg", bounds=(-INF, INF))
def cg_score(r: Ranked, *, no_relevant: str = "zero") -> Curve:
    """Cumulated gain: the sum of the labels of the first k documents.

    ``CG@k = sum of r_i over i <= k``

    The order of the first k documents has no effect. Labels may be negative.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    The list 3, 2, 3, 0, 1, 2 sums to 3 + 2 + 3 + 0 + 1 + 2 = 11:

    >>> from sklearn_rank.metrics import cg_score
    >>> cg_score([3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1], qid=[0] * 6)
    11.0
    """
    return over_relevant(r, r.cumsum(r.label), no_relevant)


@metric("acg", bounds=(-INF, INF), parameter_constraints={"denominator": PER_RANK})
def acg_score(r: Ranked, *, denominator: str = "k", no_relevant: str = "zero") -> Curve:
    """Average cumulated gain: the mean label of the first k ranks.

    ``ACG@k = CG@k / k``

    By default the divisor is k even if the list is shorter. Labels may be negative.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "IR evaluation methods for retrieving highly relevant documents", SIGIR 2000.

    Examples
    --------
    The first four labels are 3, 2, 3, 0 and (3 + 2 + 3 + 0) / 4 = 2:

    >>> from sklearn_rank.metrics import acg_score
    >>> acg_score([3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1], qid=[0] * 6, k=4)
    2.0
    """
    return over_relevant(r, (r.cumsum(r.label), divisor_per_rank(r, denominator)), no_relevant)


@metric("pwa", bounds=(-INF, INF), aliases=("position_weighted_average",))
def position_weighted_average_score(r: Ranked) -> Curve:
    """Position-weighted average: the mean label of the first k ranks, with weight 1/i at rank i.

    ``PWA@k = (sum of r_i / i over i <= k) / (sum of 1 / i over i <= k)``

    If the list is shorter than k, both sums end with the list. Labels may be negative.

    References
    ----------
    R. K. Pasumarthi et al., "TF-Ranking: scalable TensorFlow library for learning-to-rank", KDD 2019, which
    named the metric.

    Examples
    --------
    (3 / 1 + 0 / 2 + 1 / 3) / (1 + 1/2 + 1/3) = 20/11:

    >>> from sklearn_rank.metrics import position_weighted_average_score
    >>> round(position_weighted_average_score([3, 0, 1], [3, 2, 1], qid=[0] * 3), 4)
    1.8182
    """
    most = np.maximum(r.cumsum(over_rank=True), 1)  # an empty list is worth 0
    return r.cumsum(r.label, by_rank=lambda rank: 1 / rank), most


@metric("dcg", bounds=(-INF, INF), aliases={"ips_dcg": {"gain": "linear"}})
def dcg_score(
    r: Ranked, *, gain: Any = "exp2", discount: Any = "log2", base: float = 2, no_relevant: str = "zero"
) -> Curve:
    """Discounted cumulated gain: the sum of the gains, each discounted by its rank.

    ``DCG@k = sum of g(r_i) d(i) over i <= k``

    By default ``g(r) = 2**r - 1`` and ``d(i) = 1 / log2(1 + i)``. Values of different queries are not comparable; see
    `ndcg_score`. Labels may be negative. scikit-learn's `dcg_score` uses linear gain, so a matrix of grades above 1
    without `gain` raises a warning (`sklearn_rank.exceptions.RankingWarning`).

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002; the
    exponential gain: C. Burges et al., "Learning to rank using gradient descent", ICML 2005; ties: F. McSherry and
    M. Najork, "Computing information retrieval performance measures efficiently in the presence of tied scores",
    ECIR 2008.

    Examples
    --------
    With linear gain, 3/1 + 2/1.585 + 3/2 + 0/2.322 + 1/2.585 + 2/2.807 = 6.861:

    >>> from sklearn_rank.metrics import dcg_score
    >>> y_true, y_score, qid = [3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1], [0] * 6
    >>> round(dcg_score(y_true, y_score, qid=qid, gain="linear"), 3)
    6.861

    Järvelin and Kekäläinen divide by log2(i) from rank 2 on: 3 + 2/1 + 3/1.585 + 0/2 + 1/2.322 + 2/2.585 = 8.097:

    >>> round(dcg_score(y_true, y_score, qid=qid, gain="linear", discount="jarvelin"), 3)
    8.097
    """
    return over_relevant(r, r.cumsum(by_label=gain, by_rank=discount), no_relevant)


@metric(
    "ndcg",
    bounds=(0, 1),
    labels=(0, None),
    max_weight=INF,
    aliases={"psndcg": {"gain": "linear"}, "psp": {"gain": "linear", "discount": "flat"}},
    undefined_when="an ideal DCG of zero",
    supports_micro=True,
    binary=lambda spec: at_first_rank(spec) and is_word(spec["gain"], "binary"),
)
def ndcg_score(r: Ranked, *, gain: Any = "exp2", discount: Any = "log2", base: float = 2) -> Curve:
    """Normalized discounted cumulated gain: DCG divided by the DCG of the best possible list.

    ``nDCG@k = DCG@k / IDCG@k``

    IDCG is the DCG of all judged documents, including those not retrieved, sorted by label. Labels must not be
    negative, unless `gain` is a table or function that gives them gains of at least 0. scikit-learn's `ndcg_score` uses
    linear gain, so a matrix of grades above 1 without `gain` raises a warning
    (`sklearn_rank.exceptions.RankingWarning`).

    If the labels are divided by propensities, nDCG is propensity-scored: "psndcg", or "psp" with a flat discount.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002;
    propensities: H. Jain, Y. Prabhu and M. Varma, "Extreme multi-label loss functions for recommendation, tagging,
    ranking & other missing label applications", KDD 2016.

    Examples
    --------
    The list 3, 2, 3, 0, 1, 2 has a linear DCG of 6.861. Its best order, 3, 3, 2, 2, 1, 0, has 7.141:

    >>> from sklearn_rank.metrics import ndcg_score
    >>> y_true, y_score = [3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1]
    >>> round(ndcg_score(y_true, y_score, qid=[0] * 6, gain="linear"), 3)
    0.961

    Two more judged documents, with labels 3 and 2, were not retrieved. The ideal DCG at rank 6 is then 8.740:

    >>> inf = float("inf")
    >>> round(
    ...     ndcg_score(
    ...         y_true + [3, 2], y_score + [-inf, -inf], qid=[0] * 8, gain="linear", k=6
    ...     ),
    ...     3,
    ... )
    0.785
    """
    dcg = formula_of(dcg_score)
    return dcg(r, gain=gain, discount=discount), dcg(r.ideal, gain=gain, discount=discount)


@metric(
    "snips",
    bounds=(0, 1),
    labels=(0, None),
    max_weight=1,
    undefined_when="a sum of gains of zero",
    supports_micro=True,
    reads_all_labels=True,
)
def snips_score(r: Ranked, *, gain: Any = "linear", discount: Any = "flat", base: float = 2) -> Curve:
    """Self-normalized inverse propensity score: the gain that is found, divided by the gain of all judged documents.

    ``SNIPS@k = (sum of g(r_i) d(i) over i <= k) / (sum of g over all judged documents)``

    Judged documents that were not retrieved count in the denominator. Divide the labels by propensities first: a
    relevant document then represents all documents like it, seen or not. With ``discount="flat"`` SNIPS estimates
    recall, and with ``discount="log2"`` DCG divided by the number of relevant documents.

    References
    ----------
    L. Yang, Y. Cui, Y. Xuan, C. Wang, S. Belongie and D. Estrin, "Unbiased offline recommender evaluation for
    missing-not-at-random implicit feedback", RecSys 2018.

    Examples
    --------
    Every user sees the first of two relevant items, and one user in four the second. The first is found, 1 / (1 + 4):

    >>> from sklearn_rank.metrics import snips_score
    >>> labels, propensities = [1, 0, 1], [1, 0.5, 0.25]
    >>> y_true = [y / p for y, p in zip(labels, propensities)]
    >>> snips_score(y_true, [3, 2, 1], qid=[0] * 3, k=2)
    0.2
    """
    return r.cumsum(by_label=gain, by_rank=discount), r.total(gain)


@metric("wap", bounds=(0, INF), labels=(0, None), undefined_when=NO_RELEVANT, needs_relevant=True)
def wap_score(r: Ranked) -> Curve:
    """Weighted average precision: the mean label down to each relevant document, averaged over the relevant documents.

    ``WAP@k = (sum of ACG@i over relevant i <= k) / R``

    WAP equals average precision if labels are 0 and 1. Relevant documents that were not retrieved count as 0. Labels
    must not be negative.

    References
    ----------
    J. Kekäläinen and K. Järvelin, "Using graded relevance assessments in IR evaluation", JASIST 53(13), 2002.

    Examples
    --------
    Relevant documents have ranks 1 and 3. The mean labels down to them are 2 and (2 + 0 + 1) / 3 = 1: (2 + 1) / 2:

    >>> from sklearn_rank.metrics import wap_score
    >>> wap_score([2, 0, 1], [3, 2, 1], qid=[0] * 3)
    1.5
    """
    return r.sums_of_means(of_labels=True), r.n_relevant


@metric(
    "q",
    bounds=(0, 1),
    aliases=("q_measure",),
    labels=(0, None),
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    parameter_constraints={
        "beta": real(
            "a number >= 0",
            lambda v: v >= 0,
            """beta : float, default=1
    Weight of the gains relative to the counts; 0 is average precision.""",
        )
    },
)
def q_score(r: Ranked, *, gain: Any = "linear", beta: float = 1) -> Curve:
    """Q-measure: average precision, with the gains blended into the precision at each relevant document.

    ``Q@k = (sum of (hits_i + beta * CG_i) / (i + beta * ICG_i) over relevant i <= k) / R``

    CG is the cumulated gain, and ICG the cumulated gain of the best possible list of all judged documents. Relevant
    documents that were not retrieved count as 0. Labels must not be negative.

    References
    ----------
    T. Sakai, "On the reliability of information retrieval metrics based on graded relevance", Information
    Processing & Management 43(2), 2007.

    Examples
    --------
    The labels are 1, 0, 2, and the ideal gains sum to 2, 3, 3: ((1 + 1) / (1 + 2) + (2 + 3) / (3 + 3)) / 2 = 3/4:

    >>> from sklearn_rank.metrics import q_score
    >>> q_score([1, 0, 2], [3, 2, 1], qid=[0] * 3)
    0.75
    """
    beta = min(beta, LARGE)
    best = r.ideal_sum(1 + beta * r.ideal.by_label(gain))
    return r.cumsum(weight=r.joint(r.relevant, r.relevant + beta * r.by_label(gain)) / best), r.n_relevant
