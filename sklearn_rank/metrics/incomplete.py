"""Incomplete judgements: NaN labels are documents without a judgement, neither relevant nor not."""

from __future__ import annotations

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.metric import NO_RELEVANT
from sklearn_rank._utils.constraints import one_of
from sklearn_rank.metrics.binary import at_first_rank
from sklearn_rank.metrics.stopping import PERSISTENCE

__all__ = [
    "bpref_score",
    "infap_score",
    "judged_score",
    "rbp_residual_error",
]


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
    What the judged non-relevant documents above a relevant one are divided by, and how many of them count at most:
    min(R, N), with the numbers judged relevant and not (trec_eval), or R (first publication).""",
        )
    },
)
def bpref_score(r: Ranked, *, denominator: str = "min_relevant_nonrelevant") -> Curve:
    """Binary preference: how seldom judged non-relevant documents stand above relevant ones.

    ``bpref = sum of (1 - min(n_i, m) / m) over relevant i, divided by R``, where n_i counts the judged non-relevant
    documents above rank i, and m is min(R, N) for R relevant and N non-relevant judged documents, also those not
    retrieved. Documents with a NaN label do not count.

    References
    ----------
    C. Buckley and E. Voorhees, "Retrieval evaluation with incomplete information", SIGIR 2004; min(R, N): trec_eval
    since version 8.

    Examples
    --------
    Two relevant documents; above the first stands one of two non-relevant ones, above the second both. The document
    without a judgement does not count: (1 - 1/2 + 1 - 2/2) / 2:

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
    """Judged: the share of the first k documents that somebody judged.

    ``judged@k = documents among the first k with a label / documents among the first k``. One minus the share of NaN
    labels; the labels themselves do not count. 0 for a list without a document.

    References
    ----------
    S. MacAvaney, C. Macdonald and I. Ounis, "Streamlining evaluation with ir-measures", ECIR 2022.

    Examples
    --------
    One of the first two documents is judged; a cutoff beyond the list reads the list:

    >>> from sklearn_rank.metrics import judged_score
    >>> judged_score([2, float("nan"), 0, 0], [4, 3, 2, 1], qid=[0] * 4, k=[2, 9])
    array([0.5 , 0.75])
    """
    return r.cumsum(r.judged), np.maximum(r.cumsum(), 1)


@metric("infap", bounds=(0, 1), undefined_when=NO_RELEVANT, needs_relevant=True, reads_unjudged=True)
def infap_score(r: Ranked) -> Curve:
    """Inferred average precision: average precision as a random sample of judgements lets one expect it.

    ``infAP = sum of (1 / i + (i - 1) / i * pooled_i * (rel_i + e) / (rel_i + non_i + 2 e)) over relevant i, divided by
    R``, where pooled_i is the share of the i - 1 documents above that was in the pool, rel_i and non_i count the judged
    ones among them, and e = 0.00001. A negative label, as in TREC's files, marks a document that was in the pool but
    not drawn for judgement, and so does the NaN that `sklearn_rank.io.join` makes of it; any other NaN one that was not
    in the pool. Has no closed form for tied documents.

    References
    ----------
    E. Yilmaz and J. Aslam, "Estimating average precision with incomplete and imperfect judgments", CIKM 2006.

    Examples
    --------
    Relevant documents at ranks 1 and 4. Above rank 4 all three were in the pool and of the two that were judged one is
    relevant: (1 + (1/4 + 3/4 * 3/3 * 1/2)) / 2 = 0.8125:

    >>> from sklearn_rank.metrics import infap_score
    >>> round(infap_score([1, 0, -1, 1], [4, 3, 2, 1], qid=[0] * 4), 4)
    0.8125

    The same with a NaN for a document that was in the pool: ``negative="unjudged"`` makes it of a negative label.

    >>> round(infap_score([1, 0, -1, 1], [4, 3, 2, 1], qid=[0] * 4, negative="unjudged"), 4)
    0.8125

    Had the third document not been in the pool: (1 + (1/4 + 3/4 * 2/3 * 1/2)) / 2 = 0.75:

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
    """Residual of rank-biased precision: how much of its weight is on documents without a judgement.

    ``residual@k = 1 - (1 - p) * sum of p**(i - 1) over judged i <= k``: what RBP could still gain if all documents
    with a NaN label, and all that would stand below the end of the list, were relevant. The labels themselves do not
    count.

    References
    ----------
    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27(1),
    2008.

    Examples
    --------
    With p = 1/2 the ranks weigh 1/2, 1/4, 1/8, ...; the second is not judged, and the list ends after the third:
    1/4 + 1/8:

    >>> from sklearn_rank.metrics import rbp_residual_error
    >>> rbp_residual_error([1, float("nan"), 0], [3, 2, 1], qid=[0] * 3, p=0.5)
    0.375
    """
    below = r.at_cutoff(p**r.rank) + (r.cumsum() == 0)  # the weight of all ranks below the last one read
    return (1 - p) * r.cumsum(1 - r.judged, by_rank=lambda rank: p ** (rank - 1.0)) + below
