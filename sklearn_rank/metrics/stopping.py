"""Stopping: models of a user who reads down the list and stops."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import formula_of, metric
from sklearn_rank._utils.constraints import real
from sklearn_rank.metrics.binary import over_relevant

__all__ = ["err_score", "nerr_score", "pfound_score", "rbp_score"]

PERSISTENCE = real(
    "a number between 0 and 1, exclusive",
    lambda v: 0 < v < 1,
    """p : float, default=<default>
    Persistence: the probability that a user continues to the next document.""",
)


@metric("err", bounds=(0, 1), labels=(0, "max_grade"), max_weight=1)
def err_score(
    r: Ranked, *, stop: Any = "exp2", max_grade: float = 4, discount: Any = "reciprocal", base: float = 2,
    no_relevant: str = "zero",
) -> Curve:  # fmt: skip
    """Expected reciprocal rank: the expectation of 1 / rank of the document that satisfies the user.

    ``ERR@k = sum of R_i * prod of (1 - R_j) over j < i, / i``

    A user reads down the list and stops at the first satisfying document. A document of grade g satisfies with
    probability ``R = (2**g - 1) / 2**max_grade``. Another `discount` replaces 1 / i. A label above `max_grade` is an
    error. With ``stop="label"`` the labels are the probabilities.

    References
    ----------
    O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009.

    Examples
    --------
    On the scale 0, 1, 2 the grades 2, 0, 1 satisfy a user with probability 3/4, 0 and 1/4, so
    ERR = 3/4 + 1/4 * 1/4 / 3 = 0.7708:

    >>> from sklearn_rank.metrics import err_score
    >>> round(err_score([2, 0, 1], [3, 2, 1], qid=[0] * 3, max_grade=2), 4)
    0.7708
    """
    return over_relevant(r, r.cumsum(weight=r.cascade(r.by_label(stop)), by_rank=discount), no_relevant)


@metric("nerr", bounds=(0, 1), labels=(0, "max_grade"), max_weight=np.inf, undefined_when="an ideal ERR of zero")
def nerr_score(
    r: Ranked, *, stop: Any = "exp2", max_grade: float = 4, discount: Any = "reciprocal", base: float = 2
) -> Curve:
    """Normalized expected reciprocal rank: ERR divided by the ERR of the best possible list.

    ``nERR@k = ERR@k / IERR@k``

    IERR is the ERR of all judged documents, including those not retrieved, sorted by label. A label above `max_grade`
    is an error.

    References
    ----------
    O. Chapelle, D. Metzler, Y. Zhang and P. Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009;
    over the ideal's: C. Clarke, N. Craswell, I. Soboroff and A. Ashkan, "A comparative analysis of cascade measures
    for novelty and diversity", WSDM 2011.

    Examples
    --------
    On the scale 0, 1 a document of grade 1 satisfies with probability 1/2. It is worth 1/4 at rank 2, and 1/2 at
    rank 1:

    >>> from sklearn_rank.metrics import nerr_score
    >>> nerr_score([0, 1], [2, 1], qid=[0, 0], max_grade=1)
    0.5
    """
    err = formula_of(err_score)
    return err(r, stop=stop, discount=discount), err(r.ideal, stop=stop, discount=discount)


@metric(
    "pfound",
    bounds=(0, 1),
    labels=(0, "max_grade"),
    parameter_constraints={
        "decay": real(
            "a number above 0 and not above 1",
            lambda v: 0 < v <= 1,
            """decay : float, default=0.85
    Probability that a user who is not satisfied by a document reads the next.""",
        )
    },
)
def pfound_score(r: Ranked, *, stop: Any = "exp2", max_grade: float = 4, decay: float = 0.85) -> Curve:
    """PFound: the probability that a user finds a satisfying document before losing patience.

    ``pFound@k = sum of R_i * prod of (1 - R_j) over j < i, * decay**(i - 1)``

    A user reads down the list. A document of grade g satisfies with probability ``R = (2**g - 1) / 2**max_grade``;
    otherwise the user continues with probability `decay`. A label above `max_grade` is an error. With ``stop="label"``
    the labels are the probabilities.

    References
    ----------
    A. Gulin, P. Karpovich, D. Raskovalov and I. Segalovich, "Yandex at ROMIP'2009: optimization of ranking
    algorithms by machine learning methods", ROMIP 2009.

    Examples
    --------
    Rank 1 satisfies the user with probability 0.4, and rank 3 with 0.6 * 0.5 after two decays:
    0.4 + 0.3 * 0.85**2 = 0.61675:

    >>> from sklearn_rank.metrics import pfound_score
    >>> round(pfound_score([0.4, 0, 0.5], [3, 2, 1], qid=[0] * 3, stop="label"), 5)
    0.61675
    """
    return r.cumsum(weight=r.cascade(r.by_label(stop)), by_rank=lambda rank: decay ** (rank - 1.0))


@metric("rbp", bounds=(0, 1), labels=(0, "max_grade"), parameter_constraints={"p": PERSISTENCE})
def rbp_score(
    r: Ranked, *, p: float = 0.8, gain: Any = "binary", max_grade: float = 4, no_relevant: str = "zero"
) -> Curve:
    """Rank-biased precision: the gain per document read by a user who continues with probability p.

    ``RBP@k = (1 - p) * sum of u_i p**(i - 1) over i <= k``

    u is 1 for a relevant document and 0 otherwise. With a graded `gain`, u is ``g(r_i) / g(max_grade)``, and a label
    above `max_grade` is an error. Labels must not be negative.

    References
    ----------
    A. Moffat and J. Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27(1),
    2008.

    Examples
    --------
    Relevant documents have ranks 1 and 3, and p = 1/2: (1 + 1/4) / 2 = 0.625:

    >>> from sklearn_rank.metrics import rbp_score
    >>> rbp_score([1, 0, 1], [3, 2, 1], qid=[0] * 3, p=0.5)
    0.625
    """
    most = gain(np.array([max_grade]))
    gains = r.cumsum(by_label=lambda y: gain(y) / most, by_rank=lambda rank: p ** (rank - 1.0))
    return over_relevant(r, (1 - p) * gains, no_relevant)
