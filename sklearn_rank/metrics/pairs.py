"""Order of pairs: how the order by score agrees with the order by label, in pairs, overlaps and positions."""

from __future__ import annotations

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.metric import NO_RELEVANT
from sklearn_rank._utils.constraints import Constraint, is_real, one_of, real
from sklearn_rank._utils.typing import Array

__all__ = [
    "coverage_error",
    "kendall_score",
    "pairwise_accuracy_score",
    "query_auc_score",
    "ranking_loss_error",
    "rbo_score",
    "relevance_position_error",
    "spearman_score",
]

INF = float("inf")

SMALL = 1e-100
"""A false positive rate whose partial area equals the limit at 0 to the last digit."""


@metric(
    "auc",
    bounds=(0, 1),
    has_cutoff=False,
    supports_micro=True,
    keeps_unretrieved=True,
    undefined_when="no pair of a relevant and a non-relevant document",
    parameter_constraints={
        "max_fpr": Constraint(
            "a number above 0 and not above 1, or None",
            lambda v: v is None or (is_real(v) and 0 < v <= 1),
            """max_fpr : float or None, default=None
    Highest false positive rate of the curve that counts: the standardized partial area. None: the whole area.""",
        ),
        "tied_curve": one_of(
            "expected",
            "straight",
            doc="""tied_curve : {"expected", "straight"}, default="expected"
    Shape of the curve between tied documents, if `max_fpr` cuts it there: its expectation over their orders, or a
    straight line, as in `sklearn.metrics.roc_auc_score`. The whole area is the same.""",
        ),
    },
)
def query_auc_score(r: Ranked, *, max_fpr: float | None = None, tied_curve: str = "expected") -> Curve:
    """Area under the ROC curve of each query: the share of pairs in the right order.

    ``AUC = pairs (relevant, non-relevant) with the relevant document ranked higher / all such pairs``

    Tied pairs count 1/2. With `max_fpr` = x, only the area A of the curve from 0 to x counts: ``(1 + (A - x**2 / 2) /
    (x - x**2 / 2)) / 2``.

    References
    ----------
    J. Hanley and B. McNeil, "The meaning and use of the area under a receiver operating characteristic (ROC)
    curve", Radiology 143(1), 1982; the partial area: D. McClish, "Analyzing a portion of the ROC curve", Medical
    Decision Making 9(3), 1989.

    Examples
    --------
    Three of the four pairs .4 > .3, .4 > .1, .2 > .1 and .2 < .3 are right:

    >>> from sklearn_rank.metrics import query_auc_score
    >>> query_auc_score([0, 0, 1, 1], [0.3, 0.1, 0.4, 0.2], qid=[0] * 4)
    0.75
    """
    others, n_others = 1 - r.relevant, r.n_judged - r.n_relevant
    pairs = r.n_relevant * n_others
    if max_fpr is None:
        return r.cumsum(weight=r.joint(others, r.relevant)), pairs
    max_fpr = max(max_fpr, SMALL)
    reach = max_fpr * n_others
    if tied_curve == "straight":
        right = area_under_line(r, r.joint(1.0, others), r.joint(1.0, r.relevant), r.of_query(reach)) / max_fpr
    else:  # subtract the non-relevant documents above relevant ones, as far as the curve reaches
        whole = np.floor(reach)
        above, next_above = (r.cumsum(weight=r.joint(r.relevant, others, most)) for most in (whole, whole + 1))
        part = n_others - whole / max_fpr
        right = (r.n_relevant * whole - above) / max_fpr + part * (r.n_relevant - (next_above - above))
    chance = max_fpr / 2  # the area of a random order, over max_fpr like the right pairs
    return (pairs + (right - chance * pairs) / (1 - chance)) / 2, pairs


def area_under_line(r: Ranked, x: Array, y: Array, end: Array | float) -> Array:
    """Area from 0 to `end` under the line from (0, 0) through (x, y) at each position."""
    across, up = (z - np.where(r.rank > 1, np.roll(z, 1), 0.0) for z in (x, y))
    width = np.clip(end - (x - across), 0, across)
    return r.cumsum(weight=width * (y - up + up * width / np.maximum(across, 1e-300) / 2))


@metric(
    "ranking_loss",
    bounds=(0, 1),
    aliases=("label_ranking_loss",),
    greater_is_better=False,
    has_cutoff=False,
    supports_micro=True,
    keeps_unretrieved=True,
    undefined_when="no pair of a relevant and a non-relevant document",
)
def ranking_loss_error(r: Ranked) -> Curve:
    """Ranking loss: the share of pairs in the wrong order, 1 - AUC.

    ``loss = pairs (relevant, non-relevant) with the relevant document ranked lower / all such pairs``

    Tied pairs count 1/2; with ``ties="worst"`` they count as wrong, as in `sklearn.metrics.label_ranking_loss`.

    References
    ----------
    R. Schapire and Y. Singer, "BoosTexter: a boosting-based system for text categorization", Machine Learning
    39(2/3), 2000.

    Examples
    --------
    One of the four pairs .4 > .3, .4 > .1, .2 > .1 and .2 < .3 is wrong:

    >>> from sklearn_rank.metrics import ranking_loss_error
    >>> ranking_loss_error([0, 0, 1, 1], [0.3, 0.1, 0.4, 0.2], qid=[0] * 4)
    0.25
    """
    return r.cumsum(weight=r.joint(r.relevant, 1 - r.relevant)), r.n_relevant * (r.n_judged - r.n_relevant)


@metric(
    "opa",
    bounds=(0, 1),
    aliases=("pairwise_accuracy",),
    has_cutoff=False,
    supports_micro=True,
    keeps_unretrieved=True,
    undefined_when="no pair of unequal labels",
)
def pairwise_accuracy_score(r: Ranked) -> Curve:
    """Ordered pair accuracy: the share of the pairs with unequal labels that are in the right order.

    ``OPA = pairs with the higher label ranked higher / pairs with unequal labels``

    Equal scores count 1/2. OPA equals AUC if labels are 0 and 1. The size of the difference between two labels has no
    effect.

    References
    ----------
    A. K. Menon and R. C. Williamson, "Bipartite ranking: a risk-theoretic perspective", JMLR 17(195), 2016, for two
    grades; R. K. Pasumarthi et al., "TF-Ranking: scalable TensorFlow library for learning-to-rank", KDD 2019.

    Examples
    --------
    The ranked labels are 1, 2, 0. Of three pairs only 1 before 2 is wrong. If all scores are equal, OPA is 1/2:

    >>> from sklearn_rank.metrics import pairwise_accuracy_score
    >>> round(pairwise_accuracy_score([1, 2, 0], [3, 2, 1], qid=[0] * 3), 4)
    0.6667
    >>> pairwise_accuracy_score([1, 2, 0], [5, 5, 5], qid=[0] * 3)
    0.5
    """
    pairs = r.pairs()
    return pairs.right + pairs.equal_scores / 2, pairs.right + pairs.wrong + pairs.equal_scores


@metric(
    "kendall",
    bounds=(-1, 1),
    aliases=("tau", "kendall_tau"),
    has_cutoff=False,
    defines_ties=True,
    keeps_unretrieved=True,
    undefined_when="no two unequal labels, or no two unequal scores",
    parameter_constraints={
        "variant": one_of(
            "b",
            "a",
            doc="""variant : {"b", "a"}, default="b"
    "b" is tau-b. "a" is tau-a, which divides P - Q by all n (n - 1) / 2 pairs, including tied pairs, so that ties move
    it toward 0. If no two labels are equal, tau-a is the expectation of tau-b over all orders of tied scores. Tau-a is
    undefined for a query with a single document.""",
        )
    },
)
def kendall_score(r: Ranked, *, variant: str = "b") -> Curve:
    """Kendall's tau-b: pairs in the right order minus pairs in the wrong order, normalized for ties.

    ``tau = (P - Q) / sqrt((P + Q + T) * (P + Q + U))``

    P pairs are in the right order, Q in the wrong order, T are tied only in score, and U only in label.

    References
    ----------
    M. Kendall, "The treatment of ties in ranking problems", Biometrika 33(3), 1945; tau-a: M. Kendall, "A new measure
    of rank correlation", Biometrika 30(1/2), 1938.

    Examples
    --------
    Of the six pairs of the ranked labels 1, 2, 0, 0 four are right, one is wrong, and one has equal labels:
    (4 - 1) / sqrt(5 * 6) = 0.548:

    >>> from sklearn_rank.metrics import kendall_score
    >>> round(kendall_score([1, 2, 0, 0], [4, 3, 2, 1], qid=[0] * 4), 3)
    0.548

    Tau-a divides by all six pairs, (4 - 1) / 6:

    >>> kendall_score([1, 2, 0, 0], [4, 3, 2, 1], qid=[0] * 4, variant="a")
    0.5
    """
    pairs = r.pairs()
    if variant == "a":
        n = r.cumsum()
        return pairs.right - pairs.wrong, n * (n - 1) / 2
    decided = pairs.right + pairs.wrong
    return pairs.right - pairs.wrong, np.sqrt((decided + pairs.equal_scores) * (decided + pairs.equal_labels))


@metric(
    "spearman",
    bounds=(-1, 1),
    aliases=("rho", "spearman_rho"),
    has_cutoff=False,
    defines_ties=True,
    keeps_unretrieved=True,
    undefined_when="no two unequal labels, or no two unequal scores",
)
def spearman_score(r: Ranked) -> Curve:
    """Spearman's rho: the correlation of the ranks by score with the ranks by label.

    ``rho = sum of a_i * b_i / sqrt(sum of a_i**2 * sum of b_i**2)``

    a holds the ranks by score and b the ranks by label, both minus their mean. Equal values share their mean rank.

    References
    ----------
    C. Spearman, "The proof and measurement of association between two things", American Journal of Psychology 15(1),
    1904.

    Examples
    --------
    The ranks are 1, 2, 3, 4 by score and 2, 1, 3.5, 3.5 by label. The products sum to
    (-1.5)(-0.5) + (-0.5)(-1.5) + 0.5 * 1 + 1.5 * 1 = 3.5, and the squares to 5 and 4.5:

    >>> from sklearn_rank.metrics import spearman_score
    >>> round(spearman_score([1, 2, 0, 0], [4, 3, 2, 1], qid=[0] * 4), 3)
    0.738
    """
    a, b = r.centered_ranks(r.score), r.centered_ranks(r.label)
    products, squares, others = (r.cumsum(weight=x) for x in (a * b, a * a, b * b))
    return products, np.sqrt(squares * others)


@metric(
    "relevance_position",
    bounds=(1, INF),
    labels=(0, None),
    greater_is_better=False,
    has_cutoff=False,
    supports_micro=True,
    keeps_unretrieved=True,
    undefined_when="no label above 0",
)
def relevance_position_error(r: Ranked) -> Curve:
    """Average relevance position: the mean rank of the documents, weighted by label.

    ``sum of i * r_i / sum of r_i``

    Labels must not be negative.

    References
    ----------
    T. Joachims, A. Swaminathan and T. Schnabel, "Unbiased learning-to-rank with biased feedback", WSDM 2017, for
    the ranks of relevant documents; R. K. Pasumarthi et al., "TF-Ranking: scalable TensorFlow library for
    learning-to-rank", KDD 2019, for the mean with graded labels.

    Examples
    --------
    The labels at ranks 1, 2, 3 are 0, 2, 1: (2 * 2 + 3 * 1) / (2 + 1) = 7/3:

    >>> from sklearn_rank.metrics import relevance_position_error
    >>> round(relevance_position_error([0, 2, 1], [3, 2, 1], qid=[0] * 3), 4)
    2.3333
    """
    return r.cumsum(r.label, by_rank=lambda rank: rank), r.cumsum(r.label)


@metric(
    "coverage_error",
    bounds=(1, INF),
    greater_is_better=False,
    has_cutoff=False,
    keeps_unretrieved=True,
    needs_relevant=True,
    undefined_when=NO_RELEVANT,
)
def coverage_error(r: Ranked) -> Curve:
    """Coverage error: how many documents a user must read to see every relevant document.

    ``coverage error = rank of the last relevant document``

    The best value of a query is R.

    References
    ----------
    R. Schapire and Y. Singer, "BoosTexter: a boosting-based system for text categorization", Machine Learning
    39(2/3), 2000, where ranks start at 0. `sklearn.metrics.coverage_error` takes the last rank of tied documents:
    ``ties="worst"``.

    Examples
    --------
    The last relevant document has rank 3. If it is tied with the fourth, it has rank 3 or 4:

    >>> from sklearn_rank.metrics import coverage_error
    >>> coverage_error([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4)
    3.0
    >>> coverage_error([1, 0, 1, 0], [4, 3, 2, 2], qid=[0] * 4)
    3.5
    """
    return r.cumsum(weight=r.cascade(r.relevant, upwards=True), by_rank=lambda rank: rank)


@metric(
    "rbo",
    bounds=(0, 1),
    reads_all_labels=True,
    parameter_constraints={
        "p": real(
            "a number between 0 and 1, exclusive",
            lambda v: 0 < v < 1,
            """p : float, default=0.9
    Persistence: the probability that a user continues to the next rank of both orders.""",
        )
    },
)
def rbo_score(r: Ranked, *, p: float = 0.9) -> Curve:
    """Rank-biased overlap: the agreement of the order by score with the order by label, weighted toward the top.

    ``RBO@k = (1 - p) / p * sum of p**d X_d / d over d <= k, + p**k X_k / k``

    This is the extrapolated form. X_d documents are among the first d of both orders. Equal labels leave the order by
    label open: X_d is the expectation over all their orders, and over all orders of tied scores. The size of the
    difference between two labels has no effect.

    References
    ----------
    W. Webber, A. Moffat and J. Zobel, "A similarity measure for indefinite rankings", ACM TOIS 28(4), 2010; the
    expectation over tied documents: M. Corsi and J. Urbano, "The treatment of ties in rank-biased overlap",
    SIGIR 2024.

    Examples
    --------
    Two documents in the wrong order: X_1 = 0 and X_2 = 2, so with p = 1/2 RBO = 1/4 * 2/2 + 1/4 * 2/2 = 1/2:

    >>> from sklearn_rank.metrics import rbo_score
    >>> rbo_score([1, 2], [2, 1], qid=[0, 0], p=0.5)
    0.5
    >>> rbo_score([2, 1], [2, 1], qid=[0, 0], p=0.5)
    1.0
    """
    agreement, seen = r.overlap() / r.rank, p ** (r.rank - 1.0)
    return (1 - p) * r.cumsum(weight=agreement * seen) + p * r.at_cutoff(agreement * seen)
