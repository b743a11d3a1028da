"""Sets: the documents with a score above a threshold, in any order."""

from __future__ import annotations

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.metric import NO_RELEVANT
from sklearn_rank._utils.constraints import Constraint, is_real
from sklearn_rank.metrics.binary import BETA, LARGE

__all__ = ["set_f_score", "set_precision_score", "set_recall_score"]


THRESHOLD = Constraint(
    "a finite number or -inf",
    lambda v: is_real(v) or (isinstance(v, float) and v == float("-inf")),
    """threshold : float, default=0.0
    Documents with a score above the threshold are retrieved.""",
)


@metric(
    "set_precision",
    bounds=(0, 1),
    aliases=("set_p",),
    has_cutoff=False,
    undefined_when="no document above the threshold",
    supports_micro=True,
    defines_ties=True,
    reads_scores=True,
    parameter_constraints={"threshold": THRESHOLD},
)
def set_precision_score(r: Ranked, *, threshold: float = 0.0) -> Curve:
    """Set precision: the share of relevant documents among those with a score above a threshold.

    ``set_P = relevant documents with score > threshold / documents with score > threshold``

    Only the values of the scores count, not their order, so they must be comparable between queries.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    Two documents score above 0.5, and one of them is relevant:

    >>> from sklearn_rank.metrics import set_precision_score
    >>> set_precision_score([1, 0, 1], [0.9, 0.8, 0.3], qid=[0] * 3, threshold=0.5)
    0.5
    """
    chosen = r.score > threshold
    return r.cumsum(r.relevant * chosen), r.cumsum(chosen)


@metric(
    "set_recall",
    bounds=(0, 1),
    aliases=("set_r",),
    has_cutoff=False,
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    supports_micro=True,
    defines_ties=True,
    reads_scores=True,
    parameter_constraints={"threshold": THRESHOLD},
)
def set_recall_score(r: Ranked, *, threshold: float = 0.0) -> Curve:
    """Set recall: the share of the relevant documents with a score above a threshold.

    ``set_recall = relevant documents with score > threshold / R``

    Only the values of the scores count, not their order, so they must be comparable between queries.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    One of the two relevant documents scores above 0.5:

    >>> from sklearn_rank.metrics import set_recall_score
    >>> set_recall_score([1, 0, 1], [0.9, 0.8, 0.3], qid=[0] * 3, threshold=0.5)
    0.5
    """
    return r.cumsum(r.relevant * (r.score > threshold)), r.n_relevant


@metric(
    "set_f",
    bounds=(0, 1),
    has_cutoff=False,
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    supports_micro=True,
    defines_ties=True,
    reads_scores=True,
    parameter_constraints={"threshold": THRESHOLD, "beta": BETA},
)
def set_f_score(r: Ranked, *, threshold: float = 0.0, beta: float = 1) -> Curve:
    """Set F-measure: the weighted harmonic mean of set precision and set recall.

    ``set_F = (1 + beta**2) hits / (beta**2 R + n)``

    n documents have a score above the threshold, and hits of them are relevant. The parameter of trec_eval's set_F is
    ``beta**2``. Only the values of the scores count, not their
    order, so they must be comparable between queries.

    References
    ----------
    C. J. van Rijsbergen, "Information Retrieval", 2nd ed., Butterworths, 1979, chapter 7.

    Examples
    --------
    Two documents score above 0.5, and one of the two relevant documents is among them: 2 / (2 + 2):

    >>> from sklearn_rank.metrics import set_f_score
    >>> set_f_score([1, 0, 1], [0.9, 0.8, 0.3], qid=[0] * 3, threshold=0.5)
    0.5
    """
    chosen, weight = r.score > threshold, min(beta, LARGE) ** 2
    return (1 + weight) * r.cumsum(r.relevant * chosen), weight * r.n_relevant + r.cumsum(chosen)
