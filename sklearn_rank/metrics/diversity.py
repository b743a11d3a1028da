"""Diversity: lists that cover several subtopics of a query. A document has a label for each subtopic."""

from __future__ import annotations

from math import e
from typing import Any

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import formula_of, metric
from sklearn_rank._utils.typing import Array
from sklearn_rank.metrics.binary import PER_RANK, divisor_per_rank, map_score
from sklearn_rank.metrics.stopping import PERSISTENCE, err_score

__all__ = [
    "alpha_dcg_score",
    "alpha_ndcg_score",
    "err_ia_score",
    "map_ia_score",
    "nrbp_score",
    "precision_ia_score",
    "subtopic_recall_score",
]

NO_SUBTOPIC = "no relevant document for any subtopic"


NO_ALPHA = 1e-99
"""An alpha below this changes no double, though its own digits may be lost."""


def novelty(s: Ranked, alpha: float) -> Array:
    """Worth of one subtopic at each position: rel_i * (1 - alpha)**(relevant documents before i).

    A user who stops at a relevant document with probability alpha stops there with alpha times that.
    """
    if alpha < NO_ALPHA:
        return s.joint(s.relevant, 1.0) / s.rank
    return s.cascade(alpha * s.relevant) / alpha


@metric("alpha_dcg", bounds=(0, np.inf), max_weight=np.inf, subtopics=True)
def alpha_dcg_score(r: Ranked, *, alpha: float = 0.5, discount: Any = "log2", base: float = 2) -> Curve:
    """Novelty-biased DCG: a document gains for each of its subtopics, less for those that documents above it cover.

    ``alpha-DCG@k = sum of g_i d(i) over i <= k, with g_i = sum over subtopics t of rel_it (1 - alpha)**c_it``

    rel_it is 1 if the document at rank i is relevant to subtopic t, else 0. c_it counts the documents above rank i that
    are relevant to t. By default ``d(i) = 1 / log2(1 + i)``.
    Values of different queries are not comparable; see `alpha_ndcg_score`.

    References
    ----------
    C. Clarke, M. Kolla, G. Cormack, O. Vechtomova, A. Ashkan, S. Büttcher and I. MacKinnon, "Novelty and diversity in
    information retrieval evaluation", SIGIR 2008.

    Examples
    --------
    The first document covers both subtopics and gains 2. The second covers the first subtopic again and gains 1/2, and
    the fourth covers the second subtopic again: 2 + 0.5 / log2(3) + 0.5 / log2(5) = 2.5308:

    >>> from sklearn_rank.metrics import alpha_dcg_score
    >>> y_true = [[1, 1], [1, 0], [0, 0], [0, 1]]
    >>> round(alpha_dcg_score(y_true, [4, 3, 2, 1], qid=[0] * 4), 4)
    2.5308
    """
    return r.over_subtopics(lambda s: s.cumsum(weight=novelty(s, alpha), by_rank=discount)).sum(axis=0)


@metric("alpha_ndcg", bounds=(0, e / (e - 1)), max_weight=np.inf, undefined_when=NO_SUBTOPIC, subtopics=True)
def alpha_ndcg_score(r: Ranked, *, alpha: float = 0.5, discount: Any = "log2", base: float = 2) -> Curve:
    """Normalized novelty-biased DCG: alpha-DCG divided by the alpha-DCG of a greedy ideal list.

    ``alpha-nDCG@k = alpha-DCG@k / ideal alpha-DCG@k``

    The best list is hard to find, so the definition uses a greedy list: each rank takes the judged document, retrieved
    or not, with the highest gain. Among equal gains, a document relevant to the first subtopic comes first, then to the
    second, and so on. An order better than the greedy list has a value above 1, but never above e / (e - 1).

    References
    ----------
    C. Clarke, M. Kolla, G. Cormack, O. Vechtomova, A. Ashkan, S. Büttcher and I. MacKinnon, "Novelty and diversity in
    information retrieval evaluation", SIGIR 2008.

    Examples
    --------
    After the first document, the third adds 1 for a new subtopic, and the second adds 1/2. So the ideal order is 1, 3,
    2, and the value is (1 + 0.5 / log2(3) + 1 / 2) / (1 + 1 / log2(3) + 0.5 / 2) = 0.9652:

    >>> from sklearn_rank.metrics import alpha_ndcg_score
    >>> round(alpha_ndcg_score([[1, 0], [1, 0], [0, 1]], [3, 2, 1], qid=[0] * 3), 4)
    0.9652
    """
    dcg = formula_of(alpha_dcg_score)
    return dcg(r, alpha=alpha, discount=discount), dcg(r.most_novel(alpha), alpha=alpha, discount=discount)


@metric("err_ia", bounds=(0, 1), labels=(0, "max_grade"), max_weight=1, undefined_when=NO_SUBTOPIC, subtopics=True)
def err_ia_score(
    r: Ranked, *, stop: Any = "exp2", max_grade: float = 1, discount: Any = "reciprocal", base: float = 2
) -> Curve:
    """Intent-aware expected reciprocal rank: the mean of ERR over subtopics.

    ``ERR-IA@k = (sum over subtopics t of ERR_t@k) / T``

    T counts the subtopics of the query with a relevant document; each has the same weight. ERR_t is `err_score` with
    the labels of t. With labels 0 and 1, which ``max_grade=1`` expects, a relevant document satisfies a user with
    probability 1/2. A label above `max_grade` is an error. TREC's program ndeval divides this value by ``sum of 2**-i /
    i over i <= k``, the value of a list that is all relevant to all subtopics.

    References
    ----------
    O. Chapelle, S. Ji, C. Liao, E. Velipasaoglu, L. Lai and S.-L. Wu, "Intent-based diversification of web search
    results: metrics and algorithms", Information Retrieval 14(6), 2011.

    Examples
    --------
    The first subtopic has documents at ranks 1 and 2, ERR = 1/2 + 1/4 / 2, and the second at rank 2, ERR = 1/2 / 2. The
    mean is (0.625 + 0.25) / 2:

    >>> from sklearn_rank.metrics import err_ia_score
    >>> err_ia_score([[1, 0], [1, 1]], [2, 1], qid=[0, 0])
    0.4375
    """
    err = formula_of(err_score)
    values = r.over_subtopics(lambda s: err(s, stop=stop, discount=discount) * (s.n_relevant > 0))
    return values.sum(axis=0), r.n_subtopics


@metric("map_ia", aliases=("ap_ia",), bounds=(0, 1), undefined_when=NO_SUBTOPIC, subtopics=True)
def map_ia_score(r: Ranked) -> Curve:
    """Intent-aware average precision: the mean of the average precision over subtopics.

    ``AP-IA@k = (sum over subtopics t of AP_t@k) / T``

    T counts the subtopics of the query with a relevant document; each has the same weight. AP_t is `map_score` with the
    labels of t.

    References
    ----------
    R. Agrawal, S. Gollapudi, A. Halverson and S. Ieong, "Diversifying search results", WSDM 2009.

    Examples
    --------
    The first subtopic has documents at ranks 1 and 2, AP = 1, and the second at rank 2, AP = 1/2:

    >>> from sklearn_rank.metrics import map_ia_score
    >>> map_ia_score([[1, 0], [1, 1]], [2, 1], qid=[0, 0])
    0.75
    """
    precisions = formula_of(map_score)
    values = r.over_subtopics(lambda s: precisions(s)[0] / np.maximum(s.n_relevant, 1))
    return values.sum(axis=0), r.n_subtopics


@metric(
    "p_ia",
    aliases=("precision_ia",),
    bounds=(0, 1),
    undefined_when=NO_SUBTOPIC,
    subtopics=True,
    parameter_constraints={"denominator": PER_RANK},
)
def precision_ia_score(r: Ranked, *, denominator: str = "k") -> Curve:
    """Intent-aware precision: the mean of the precision over subtopics.

    ``P-IA@k = (sum over subtopics t of P_t@k) / T``

    T counts the subtopics of the query with a relevant document; each has the same weight. The order of the first k
    documents has no effect.

    References
    ----------
    R. Agrawal, S. Gollapudi, A. Halverson and S. Ieong, "Diversifying search results", WSDM 2009.

    Examples
    --------
    The first two documents are relevant to the first subtopic, and one of them to the second. The third subtopic has no
    relevant document: (2/2 + 1/2) / 2:

    >>> from sklearn_rank.metrics import precision_ia_score
    >>> precision_ia_score([[1, 0, 0], [1, 1, 0], [0, 0, 0]], [3, 2, 1], qid=[0] * 3, k=2)
    0.75
    """
    hits = r.over_subtopics(lambda s: s.cumsum(s.relevant)).sum(axis=0)
    return hits, divisor_per_rank(r, denominator) * r.n_subtopics


@metric("s_recall", aliases=("subtopic_recall",), bounds=(0, 1), undefined_when=NO_SUBTOPIC, subtopics=True)
def subtopic_recall_score(r: Ranked) -> Curve:
    """Subtopic recall: the share of the subtopics that the first k documents cover.

    ``S-recall@k = subtopics with a relevant document among the first k / subtopics with a relevant document``

    References
    ----------
    C. Zhai, W. Cohen and J. Lafferty, "Beyond independent relevance: methods and evaluation metrics for subtopic
    retrieval", SIGIR 2003.

    Examples
    --------
    The first two documents cover the first of two subtopics, the third covers the second:

    >>> from sklearn_rank.metrics import subtopic_recall_score
    >>> subtopic_recall_score([[1, 0], [1, 0], [0, 1]], [3, 2, 1], qid=[0] * 3, k=[2, 3])
    array([0.5, 1. ])
    """
    return r.over_subtopics(lambda s: s.cumsum(weight=s.cascade(s.relevant))).sum(axis=0), r.n_subtopics


@metric("nrbp", bounds=(0, 1), undefined_when=NO_SUBTOPIC, subtopics=True, parameter_constraints={"p": PERSISTENCE})
def nrbp_score(r: Ranked, *, alpha: float = 0.5, p: float = 0.5) -> Curve:
    """Novelty- and rank-biased precision: the novelty seen by a user who continues with probability p.

    ``NRBP@k = (1 - (1 - alpha) p) / T * sum of g_i p**(i - 1) over i <= k``

    g_i is the gain of `alpha_dcg_score`, and T counts the subtopics of the query with a relevant document. The value is
    1 if every document of an endless list is relevant to all T subtopics.

    References
    ----------
    C. Clarke, M. Kolla and O. Vechtomova, "An effectiveness measure for ambiguous and underspecified queries", ICTIR
    2009, where p is called beta.

    Examples
    --------
    The first document gains 1, for one of two subtopics, the second gains 1/2 + 1: (1 - 1/4) / 2 * (1 + 1.5 / 2):

    >>> from sklearn_rank.metrics import nrbp_score
    >>> nrbp_score([[1, 0], [1, 1]], [2, 1], qid=[0, 0])
    0.65625
    """
    seen = r.over_subtopics(lambda s: s.cumsum(weight=novelty(s, alpha), by_rank=lambda rank: p ** (rank - 1.0)))
    return (1 - p + alpha * p) * seen.sum(axis=0), r.n_subtopics
