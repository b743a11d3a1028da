"""Incomplete judgments: a NaN label is a document without a judgment, neither relevant nor non-relevant."""

from __future__ import annotations

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.metric import NO_RELEVANT
from sklearn_rank._utils.constraints import one_of
from sklearn_rank.metrics.binary import at_first_rank
from sklearn_rank.metrics.stopping import PERSISTENCE

__all__ = ["bpref_score", "infap_score", "judged_score", "rbp_residual_error"]


UNSEEN = 1e-5
"""Judged documents, relevant and not, that infAP adds above each rank, so that no share is 0 / 0."""


@metric(
    "bpref",
    bounds=(0, 1),
    aliases={"gm_bpref": {"average": "geometric"}},
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    reads_unjudged=True,
    parameter_constraints={
        "denominator": one_of(
            "min_relevant_nonrelevant",
            "relevant",
            doc="""denominator : {"min_relevant_nonrelevant", "relevant"}, default="min_relevant_nonrelevant"
    Divisor of the judged non-relevant documents above a relevant document, and the most of them that count: min(R, N)
    for R relevant and N non-relevant judged documents (trec_eval), or R (first publication).""",
        )
    },
)
def bpref_score(r: Ranked, *, denominator: str = "min_relevant_nonrelevant") -> Curve:
    """Binary preference: how rarely judged non-relevant documents rank above relevant documents.

    ``bpref = (sum of (1 - min(n_i, m) / m) over relevant i) / R``

    n_i counts the judged non-relevant documents above rank i. m is min(R, N) for R relevant and N non-relevant judged
    documents, including those not retrieved. Documents with a NaN label have no effect, but each takes a rank, which
    matters to a cutoff. ``unjudged="drop"`` removes them.

    References
    ----------
    C. Buckley and E. Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004; min(R, N): trec_eval
    since version 8.

    Examples
    --------
    One of two non-relevant documents is above the first relevant document, and both are above the second. The
    unjudged document has no effect: (1 - 1/2 + 1 - 2/2) / 2:

    >>> from sklearn_rank.metrics import bpref_score
    >>> nan = float("nan")
    >>> bpref_score([0, nan, 1, 0, 1], [5, 4, 3, 2, 1], qid=[0] * 5)
    0.25
    """
    most = r.n_relevant if denominator == "relevant" else np.minimum(r.n_relevant, r.n_judged - r.n_relevant)
    above = r.cumsum(weight=r.joint(r.relevant, r.judged - r.relevant, most))
    return r.cumsum(r.relevant) - above / np.maximum(most, 1), r.n_relevant


@metric("judged", bounds=(0, 1), supports_micro=True, reads_unjudged=True, binary=at_first_rank)
def judged_score(r: Ranked) -> Curve:
    """Judged: the share of judged documents among the first k.

    ``judged@k = documents among the first k with a label / documents among the first k``

    The values of the labels have no effect. An empty list has the value 0. With ``unjudged="drop"`` the list has
    only judged documents, so the value is 1, or 0 for a query without any.

    References
    ----------
    S. MacAvaney, C. Macdonald and I. Ounis, "Streamlining evaluation with ir-measures", ECIR 2022.

    Examples
    --------
    One of the first two documents is judged. A cutoff beyond the end reads the whole list:

    >>> from sklearn_rank.metrics import judged_score
    >>> judged_score([2, float("nan"), 0, 0], [4, 3, 2, 1], qid=[0] * 4, k=[2, 9])
    array([0.5 , 0.75])
    """
    return r.cumsum(r.judged), np.maximum(r.cumsum(), 1)


@metric(
    "infap", bounds=(0, 1), undefined_when=NO_RELEVANT, needs_relevant=True, reads_unjudged=True, pools_negative=True
)
def infap_score(r: Ranked) -> Curve:
    """Inferred average precision: the expected average precision, given a random sample of judgments.

    ``infAP = (sum of (1 / i + (i - 1) / i * pooled_i * (rel_i + e) / (rel_i + non_i + 2 e)) over relevant i) / R``

    pooled_i is the share of the i - 1 documents above that were in the pool. rel_i and non_i count the judged relevant
    and non-relevant documents among them, and e = 0.00001. A negative label, as in TREC's files, marks a document that
    was in the pool but not drawn for judgment; so does the NaN that `sklearn_rank.io.join` makes of it. Any other NaN
    marks a document that was not in the pool. ``unjudged="drop"`` removes all of them; infAP is then the average
    precision of the judged documents, up to the constant e. Tied documents raise an error with ``ties="average"``,
    because their mean has no closed form.

    References
    ----------
    E. Yilmaz and J. Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006.

    Examples
    --------
    Relevant documents have ranks 1 and 4. All three documents above rank 4 were in the pool, and one of the two judged
    documents is relevant: (1 + (1/4 + 3/4 * 3/3 * 1/2)) / 2 = 0.8125:

    >>> from sklearn_rank.metrics import infap_score
    >>> round(infap_score([1, 0, -1, 1], [4, 3, 2, 1], qid=[0] * 4), 4)
    0.8125

    With ``negative="unjudged"`` a negative label is a NaN of a document in the pool, so the value is the same:

    >>> round(infap_score([1, 0, -1, 1], [4, 3, 2, 1], qid=[0] * 4, negative="unjudged"), 4)
    0.8125

    If the third document was not in the pool: (1 + (1/4 + 3/4 * 2/3 * 1/2)) / 2 = 0.75:

    >>> round(infap_score([1, 0, float("nan"), 1], [4, 3, 2, 1], qid=[0] * 4), 4)
    0.75
    """
    r.refuse_ties("infap_score")
    pooled = r.joint(1.0, r.pooled) - 1  # at a relevant document: those above it
    relevant = r.joint(1.0, r.relevant) - 1
    drawn = r.joint(1.0, np.maximum(r.relevant, r.label >= 0)) - 1
    expected = (1 + pooled * (relevant + UNSEEN) / (drawn + 2 * UNSEEN)) / r.rank
    return r.cumsum(weight=np.where(r.relevant, expected, 0.0)), r.n_relevant


@metric(
    "rbp_residual",
    bounds=(0, 1),
    greater_is_better=False,
    reads_unjudged=True,
    parameter_constraints={"p": PERSISTENCE},
)
def rbp_residual_error(r: Ranked, *, p: float = 0.8) -> Curve:
    """Residual of rank-biased precision: the weight of the documents without a judgment.

    ``residual@k = 1 - (1 - p) * sum of p**(i - 1) over judged i <= k``

    RBP would gain this much if all documents with a NaN label, and all documents below the end of the list, were
    relevant. The values of the labels have no effect. With ``unjudged="drop"`` the residual of n judged documents is
    ``p**n``, the weight of the ranks below them.

    References
    ----------
    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27(1),
    2008.

    Examples
    --------
    With p = 1/2 the ranks weigh 1/2, 1/4, 1/8, ...; the second document is not judged, and the list ends
    after the third:
    1/4 + 1/8:

    >>> from sklearn_rank.metrics import rbp_residual_error
    >>> rbp_residual_error([1, float("nan"), 0], [3, 2, 1], qid=[0] * 3, p=0.5)
    0.375
    """
    below = r.at_cutoff(p**r.rank) + (r.cumsum() == 0)  # the weight of all ranks below the last one read
    return (1 - p) * r.cumsum(1 - r.judged, by_rank=lambda rank: p ** (rank - 1.0)) + below
