"""Ranking metrics: one formula each.

A metric is a function from ranked queries to a curve, the value it would have if every list stopped at that rank.
A formula reads nothing but its `Ranked` argument and its own keywords. It returns the curve, or its numerator and
denominator: macro averages are means of the ratios, micro averages ratios of the sums, and a denominator of zero
says that the metric is not defined for the query.

The docstrings hold the sentence, the formula, the source and an example worked by hand; the decorator adds the
parameters, which are the same everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._keywords import one_of, real
from sklearn_rank._metric import formula_of, metric

__all__ = [
    "acg_score",
    "cg_score",
    "dcg_score",
    "err_score",
    "fbeta_at_k_score",
    "hit_rate_score",
    "map_score",
    "mrr_score",
    "ndcg_score",
    "precision_at_k_score",
    "query_auc_score",
    "query_mae_error",
    "query_mse_error",
    "query_rmse_error",
    "rbp_score",
    "recall_at_k_score",
]

INF = float("inf")
NO_RELEVANT = "no relevant document"

# --- cumulated gain ------------------------------------------------------------------------------------------


@metric("cg", bounds=(-INF, INF))
def cg_score(r: Any) -> Any:
    """Cumulated gain: the sum of the labels down to rank k.

    ``CG@k = sum of r_i over i <= k``. The order inside the first k ranks does not count. Negative labels are taken
    as they are.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    The list 3, 2, 3, 0, 1, 2 cumulates 3 + 2 + 3 + 0 + 1 + 2 = 11:

    >>> from sklearn_rank.metrics import cg_score
    >>> cg_score([3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1], qid=[0] * 6)
    11.0
    """
    return r.cumsum(r.label)


@metric("acg", bounds=(-INF, INF))
def acg_score(r: Any) -> Any:
    """Average cumulated gain: the mean label of the first k ranks.

    ``ACG@k = CG@k / k``, also where the list is shorter than k. Negative labels are taken as they are.

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
    return r.cumsum(r.label), r.k


@metric("dcg", bounds=(-INF, INF))
def dcg_score(r: Any, *, gain: Any = "exp2", discount: Any = "log2", base: float = 2) -> Any:
    """Discounted cumulated gain: gains, each worth less the deeper its document stands.

    ``DCG@k = sum of g(r_i) d(i) over i <= k``, by default with ``g(r) = 2**r - 1`` and ``d(i) = 1 / log2(1 + i)``.
    Not comparable between queries: see `ndcg_score`. Negative labels are taken as they are.

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
    return r.cumsum(gain(r.label), weight=discount(r.rank))


@metric("ndcg", bounds=(0, 1), labels=(0, None), undefined="an ideal DCG of zero")
def ndcg_score(r: Any, *, gain: Any = "exp2", discount: Any = "log2", base: float = 2) -> Any:
    """Normalized discounted cumulated gain: DCG over the DCG of the best possible list.

    ``nDCG@k = DCG@k / IDCG@k``, where IDCG is the DCG of all judged documents, also those not retrieved, highest
    label first. Labels must not be negative.

    References
    ----------
    K. Järvelin and J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    The list 3, 2, 3, 0, 1, 2 has a linear DCG of 6.861; in the order 3, 3, 2, 2, 1, 0 it would be 7.141:

    >>> from sklearn_rank.metrics import ndcg_score
    >>> y_true, y_score = [3, 2, 3, 0, 1, 2], [6, 5, 4, 3, 2, 1]
    >>> round(ndcg_score(y_true, y_score, qid=[0] * 6, gain="linear"), 3)
    0.961

    Two more judged documents, labels 3 and 2, were not retrieved. The ideal at rank 6 is then 8.740:

    >>> inf = float("inf")
    >>> round(ndcg_score(y_true + [3, 2], y_score + [-inf, -inf], qid=[0] * 8, gain="linear", k=6), 3)
    0.785
    """
    dcg = formula_of(dcg_score)
    return dcg(r, gain=gain, discount=discount), dcg(r.ideal, gain=gain, discount=discount)


# --- binary relevance ----------------------------------------------------------------------------------------


@metric(
    "map",
    bounds=(0, 1),
    aliases=("ap",),
    undefined=NO_RELEVANT,
    needs_relevant=True,
    rules={
        "denominator": one_of(
            "relevant",
            "min_k_relevant",
            "retrieved_relevant",
            "k",
            doc="""denominator : {"relevant", "min_k_relevant", "retrieved_relevant", "k"}, default="relevant"
    What the sum is divided by: all R relevant documents, min(k, R), the relevant ones among the first k, or k.
    "retrieved_relevant" depends on the order of tied documents and needs another policy than ``ties="average"``.""",
        )
    },
)
def map_score(r: Any, *, denominator: str = "relevant") -> Any:
    """Mean average precision: the precision at each relevant document, averaged over the relevant documents.

    ``AP@k = sum of P@i over relevant i <= k, divided by R``. Relevant documents that were not retrieved count as
    zero. The mean over queries is MAP.

    References
    ----------
    C. Buckley and E. Voorhees, "Retrieval system evaluation", in TREC: Experiment and Evaluation in Information
    Retrieval, MIT Press, 2005.

    Examples
    --------
    Four relevant documents at ranks 1, 2, 4 and 7: (1/1 + 2/2 + 3/4 + 4/7) / 4 = 0.830:

    >>> from sklearn_rank.metrics import map_score
    >>> round(map_score([1, 1, 0, 1, 0, 0, 1], [7, 6, 5, 4, 3, 2, 1], qid=[0] * 7), 3)
    0.83

    Both documents tied: the relevant one stands first or second, (1 + 1/2) / 2:

    >>> map_score([1, 0], [5, 5], qid=["q", "q"])
    0.75
    """
    precisions = r.cumsum(weight=r.joint(r.relevant, r.relevant) / r.rank)
    if denominator == "relevant":
        return precisions, r.n_relevant
    if denominator == "min_k_relevant":
        return precisions, np.minimum(r.k, r.n_relevant)
    if denominator == "k":
        return precisions, r.k
    r.refuse_ties("map_score with denominator='retrieved_relevant'")
    return precisions, np.maximum(r.cumsum(r.relevant), 1)


@metric("mrr", bounds=(0, 1), aliases=("rr",), undefined=NO_RELEVANT, needs_relevant=True)
def mrr_score(r: Any) -> Any:
    """Mean reciprocal rank: 1 / rank of the first relevant document.

    ``RR@k = 1 / i`` for the smallest relevant rank i <= k, else 0. Documents after the first relevant one do not
    count.

    References
    ----------
    E. Voorhees, "The TREC-8 question answering track report", TREC 1999.

    Examples
    --------
    The first relevant document stands at ranks 3, 2 and 1: (1/3 + 1/2 + 1) / 3 = 11/18:

    >>> from sklearn_rank.metrics import mrr_score
    >>> y_true, y_score = [0, 0, 1, 0, 1, 1, 0], [3, 2, 1, 2, 1, 2, 1]
    >>> round(mrr_score(y_true, y_score, qid=[1, 1, 1, 2, 2, 3, 3]), 4)
    0.6111
    """
    return r.cumsum(weight=r.cascade(r.relevant) / r.rank)


@metric(
    "precision",
    bounds=(0, 1),
    aliases=("p",),
    pools=True,
    rules={
        "denominator": one_of(
            "k",
            "min_k_n",
            doc="""denominator : {"k", "min_k_n"}, default="k"
    What the hits are divided by: k, also where the list is shorter, or the length of the list if that is less.""",
        )
    },
)
def precision_at_k_score(r: Any, *, denominator: str = "k") -> Any:
    """Precision: the share of the first k documents that is relevant.

    ``P@k = relevant documents among the first k / k``. Without `k`, the length of the list.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    Two of the first three documents are relevant; the list of two counts as filled up to five:

    >>> from sklearn_rank.metrics import precision_at_k_score
    >>> round(precision_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=3), 4)
    0.6667
    >>> precision_at_k_score([1, 0], [2, 1], qid=[0, 0], k=5)
    0.2
    >>> precision_at_k_score([1, 0], [2, 1], qid=[0, 0], k=5, denominator="min_k_n")
    0.5
    """
    return r.cumsum(r.relevant), r.k if denominator == "k" else np.minimum(r.k, np.maximum(r.n, 1))


@metric("recall", bounds=(0, 1), aliases=("r",), pools=True, undefined=NO_RELEVANT, needs_relevant=True)
def recall_at_k_score(r: Any) -> Any:
    """Recall: the share of the relevant documents that stands in the first k ranks.

    ``R@k = relevant documents among the first k / R``. The order inside the first k ranks does not count.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    One of the two relevant documents is among the first two:

    >>> from sklearn_rank.metrics import recall_at_k_score
    >>> recall_at_k_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=2)
    0.5
    """
    return r.cumsum(r.relevant), r.n_relevant


@metric(
    "f",
    bounds=(0, 1),
    aliases={"f1": {"beta": 1}, "fbeta": {}},
    pools=True,
    undefined=NO_RELEVANT,
    needs_relevant=True,
    rules={
        "beta": real(
            "a number > 0",
            lambda v: v > 0,
            """beta : float, default=1
    Recall counts `beta` times as much as precision.""",
        )
    },
)
def fbeta_at_k_score(r: Any, *, beta: float = 1) -> Any:
    """F-measure: the weighted harmonic mean of precision and recall at rank k.

    ``F@k = (1 + beta**2) P R / (beta**2 P + R) = (1 + beta**2) hits / (beta**2 R + k)``.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    P@2 = 1/2 and R@2 = 1/1: F1 = 2/3, F2 = 5/2 / (4/2 + 1) = 5/6, F0.5 = 5/4 / 2 / (1/8 + 1) = 5/9:

    >>> from sklearn_rank.metrics import fbeta_at_k_score
    >>> [round(fbeta_at_k_score([0, 1, 0], [3, 2, 1], qid=[0] * 3, k=2, beta=b), 3) for b in (1, 2, 0.5)]
    [0.667, 0.833, 0.556]
    """
    return (1 + beta**2) * r.cumsum(r.relevant), beta**2 * r.n_relevant + r.k


@metric("hit", bounds=(0, 1), aliases=("hit_rate", "success"), undefined=NO_RELEVANT, needs_relevant=True)
def hit_rate_score(r: Any) -> Any:
    """Hit rate: whether any of the first k documents is relevant.

    ``hit@k = 1`` if a relevant document stands at a rank i <= k, else 0. Also called success@k.

    References
    ----------
    M. Deshpande and G. Karypis, "Item-based top-N recommendation algorithms", ACM TOIS 22(1), 2004.

    Examples
    --------
    The first query has its relevant document at rank 2, the second at rank 1:

    >>> from sklearn_rank.metrics import hit_rate_score
    >>> hit_rate_score([0, 1, 1, 0], [2, 1, 2, 1], qid=[1, 1, 2, 2], k=[1, 2])
    array([0.5, 1. ])
    """
    return r.cumsum(weight=r.cascade(r.relevant))


@metric(
    "auc",
    bounds=(0, 1),
    has_cutoff=False,
    pools=True,
    keeps_unretrieved=True,
    undefined="no pair of a relevant and a non-relevant document",
)
def query_auc_score(r: Any) -> Any:
    """Area under the ROC curve inside each query: the share of pairs in the right order.

    ``AUC = pairs (relevant, non-relevant) with the relevant one ranked higher / all such pairs``; ties count one
    half. Documents not retrieved are tied below all others. Computed on the whole list.

    References
    ----------
    J. Hanley and B. McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC)
    curve", Radiology 143(1), 1982.

    Examples
    --------
    Of the pairs .4 > .3, .4 > .1, .2 > .1 and .2 < .3, three of four are right:

    >>> from sklearn_rank.metrics import query_auc_score
    >>> query_auc_score([0, 0, 1, 1], [0.3, 0.1, 0.4, 0.2], qid=[0] * 4)
    0.75
    """
    right = r.cumsum(weight=r.joint(1 - r.relevant, r.relevant))
    return right, r.n_relevant * (r.n_judged - r.n_relevant)


# --- users who stop ------------------------------------------------------------------------------------------


@metric("err", bounds=(0, 1), labels=(0, "max_grade"))
def err_score(r: Any, *, max_grade: float = 4, discount: Any = "reciprocal", base: float = 2) -> Any:
    """Expected reciprocal rank: 1 / rank at which a user finds what they need, in expectation.

    Going down the list, the user is satisfied by a document of grade g with probability
    ``R = (2**g - 1) / 2**max_grade``, and stops: ``ERR@k = sum of R_i * prod of (1 - R_j) over j < i, / i``. With
    another `discount`, that in place of 1 / i. A label above `max_grade` is an error.

    References
    ----------
    O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009.

    Examples
    --------
    On the scale 0, 1, 2 the grades 2, 0, 1 stop a user with probability 3/4, 0 and 1/4, so
    ERR = 3/4 + 1/4 * 1/4 / 3 = 0.7708:

    >>> from sklearn_rank.metrics import err_score
    >>> round(err_score([2, 0, 1], [3, 2, 1], qid=[0] * 3, max_grade=2), 4)
    0.7708
    """
    return r.cumsum(weight=r.cascade((np.exp2(r.label) - 1) / 2**max_grade) * discount(r.rank))


@metric(
    "rbp",
    bounds=(0, 1),
    labels=(0, "max_grade"),
    rules={
        "p": real(
            "a number between 0 and 1, exclusive",
            lambda v: 0 < v < 1,
            """p : float, default=0.8
    Persistence: the probability to go on to the next document.""",
        )
    },
)
def rbp_score(r: Any, *, p: float = 0.8, gain: Any = "binary", max_grade: float = 4) -> Any:
    """Rank-biased precision: the gain per document seen by a user who goes on with probability p.

    ``RBP@k = (1 - p) * sum of u_i p**(i - 1)``, where u is 1 for a relevant document, or ``g(r_i) / g(max_grade)``
    with a graded `gain`; a label above `max_grade` is then an error. Labels must not be negative.

    References
    ----------
    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27(1),
    2008.

    Examples
    --------
    Relevant documents at ranks 1 and 3, p = 1/2: (1 + 1/4) / 2 = 0.625:

    >>> from sklearn_rank.metrics import rbp_score
    >>> rbp_score([1, 0, 1], [3, 2, 1], qid=[0] * 3, p=0.5)
    0.625
    """
    return (1 - p) * r.cumsum(gain(r.label) / gain(max_grade), weight=p ** (r.rank - 1.0))


# --- errors of predicted labels ------------------------------------------------------------------------------


@metric(
    "mse", bounds=(0, INF), greater_is_better=False, has_cutoff=False, pools=True, pointwise=True,
    undefined="no judged document",
)  # fmt: skip
def query_mse_error(r: Any) -> Any:
    """Mean squared error of the scores as predictions of the labels, query by query.

    ``MSE = sum of (r_i - s_i)**2 / n``. The values of the scores count, not their order; ``average="micro"`` is the
    error over all rows. Every score must be finite.

    References
    ----------
    R. Hyndman and A. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22(4), 2006.

    Examples
    --------
    Errors of 1 and 0, then of 2: (1/2 + 4) / 2 over the queries, (1 + 0 + 4) / 3 over the rows:

    >>> from sklearn_rank.metrics import query_mse_error
    >>> y_true, y_score, qid = [3, 1, 0], [2, 1, 2], [1, 1, 2]
    >>> query_mse_error(y_true, y_score, qid=qid)
    2.25
    >>> round(query_mse_error(y_true, y_score, qid=qid, average="micro"), 4)
    1.6667
    """
    return r.cumsum((r.label - r.score) ** 2), r.n


@metric(
    "rmse", bounds=(0, INF), greater_is_better=False, has_cutoff=False, pools=True, pointwise=True,
    undefined="no judged document", link=np.sqrt,
)  # fmt: skip
def query_rmse_error(r: Any) -> Any:
    """Root mean squared error of the scores as predictions of the labels, query by query.

    ``RMSE = sqrt(MSE)`` of each query, then the mean; ``average="micro"`` is the root of the error over all rows.
    Every score must be finite.

    References
    ----------
    R. Hyndman and A. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22(4), 2006.

    Examples
    --------
    Errors of 3 and 3 in one query, 1 in the other: (sqrt(18/2) + sqrt(1)) / 2 = 2:

    >>> from sklearn_rank.metrics import query_rmse_error
    >>> query_rmse_error([3, 0, 1], [0, 3, 0], qid=[1, 1, 2])
    2.0
    """
    return formula_of(query_mse_error)(r)


@metric(
    "mae", bounds=(0, INF), greater_is_better=False, has_cutoff=False, pools=True, pointwise=True,
    undefined="no judged document",
)  # fmt: skip
def query_mae_error(r: Any) -> Any:
    """Mean absolute error of the scores as predictions of the labels, query by query.

    ``MAE = sum of abs(r_i - s_i) / n``. The values of the scores count, not their order; ``average="micro"`` is the
    error over all rows. Every score must be finite.

    References
    ----------
    R. Hyndman and A. Koehler, "Another look at measures of forecast accuracy", International Journal of
    Forecasting 22(4), 2006.

    Examples
    --------
    Errors of 1 and 0, then of 2: (1/2 + 2) / 2:

    >>> from sklearn_rank.metrics import query_mae_error
    >>> query_mae_error([3, 1, 0], [2, 1, 2], qid=[1, 1, 2])
    1.25
    """
    return r.cumsum(np.abs(r.label - r.score)), r.n
