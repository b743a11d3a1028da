"""Pairs of documents in the right order, and the positions of single ones in the whole list."""

from __future__ import annotations

from typing import Any

from sklearn_rank._metric import metric

__all__ = [
    "arp_error",
    "query_auc_score",
]

INF = float("inf")


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


@metric(
    "arp",
    bounds=(1, INF),
    labels=(0, None),
    greater_is_better=False,
    has_cutoff=False,
    pools=True,
    keeps_unretrieved=True,
    undefined="no label above 0",
)
def arp_error(r: Any) -> Any:
    """Average relevance position: the mean rank of the documents, each weighing as much as its label.

    ``ARP = sum of i * r_i / sum of r_i``. Lower is better. Documents not retrieved are tied below all others.
    Computed on the whole list; labels must not be negative.

    References
    ----------
    T. Joachims, A. Swaminathan and T. Schnabel, "Unbiased learning-to-rank with biased feedback", WSDM 2017, for
    the ranks of relevant documents; R. K. Pasumarthi et al., "TF-Ranking: scalable TensorFlow library for
    learning-to-rank", KDD 2019, for the mean with graded labels.

    Examples
    --------
    Labels 0, 2, 1 at ranks 1, 2, 3: (2 * 2 + 3 * 1) / (2 + 1) = 7/3:

    >>> from sklearn_rank.metrics import arp_error
    >>> round(arp_error([0, 2, 1], [3, 2, 1], qid=[0] * 3), 4)
    2.3333
    """
    return r.cumsum(r.label, weight=r.rank), r.cumsum(r.label)
