"""Levels of recall: precision at the rank that reaches, or could reach, a given recall."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._engine.ranked import Curve, Ranked
from sklearn_rank._metric.decorator import metric
from sklearn_rank._metric.metric import NO_RELEVANT
from sklearn_rank._utils.constraints import Constraint, is_real, one_of
from sklearn_rank.metrics.binary import at_first_rank

__all__ = ["interpolated_precision_score", "r_precision_score"]


ROUNDED = {
    "up": lambda x: np.ceil(x - 1e-9),
    "nearest": lambda x: np.floor(x + 0.5),
    "cut": lambda x: np.floor(x + 0.9),
}
"""Documents that a recall asks for, of its product with R."""


@metric(
    "rprec",
    bounds=(0, 1),
    aliases=("r_precision", "r-precision", "r-prec"),
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    binary=lambda spec: at_first_rank(spec) and spec["denominator"] == "min_k_relevant",
    parameter_constraints={
        "denominator": one_of(
            "relevant",
            "min_k_relevant",
            doc="""denominator : {"relevant", "min_k_relevant"}, default="relevant"
    Divisor of the hits: all R relevant documents, or min(k, R).""",
        )
    },
)
def r_precision_score(r: Ranked, *, denominator: str = "relevant") -> Curve:
    """R-precision: precision at rank R, the number of relevant documents.

    ``Rprec = relevant documents among the first R / R``

    At rank R precision equals recall. With a cutoff, only the hits of the first min(k, R) ranks count. Documents below
    rank R have no effect.

    References
    ----------
    C. Buckley and E. Voorhees, "Retrieval system evaluation", in TREC: Experiment and Evaluation in Information
    Retrieval, MIT Press, 2005.

    Examples
    --------
    Two documents are relevant, and one of them is among the first two:

    >>> from sklearn_rank.metrics import r_precision_score
    >>> r_precision_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4)
    0.5
    >>> r_precision_score(
    ...     [1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=1, denominator="min_k_relevant"
    ... )
    1.0
    """
    hits = r.cumsum(r.relevant, weight=r.rank <= r.of_query(r.n_relevant))
    return hits, r.n_relevant if denominator == "relevant" else np.minimum(r.cutoff, r.n_relevant)


@metric(
    "iprec",
    bounds=(0, 1),
    aliases={"interpolated_precision": {}, "11pt": {"recall": "11pt"}},
    undefined_when=NO_RELEVANT,
    needs_relevant=True,
    parameter_constraints={
        "recall": Constraint(
            "a number from 0 to 1, or '11pt'",
            lambda v: v == "11pt" if isinstance(v, str) else is_real(v) and 0 <= v <= 1,
            """recall : float or "11pt", default=0.5
    Share of the relevant documents that must be found; "11pt": the mean over 0, 0.1, ..., 1.""",
        ),
        "rounding": one_of(
            *ROUNDED,
            doc="""rounding : {"up", "nearest", "cut"}, default="up"
    How many documents make up recall x: x R rounded up, so that recall is at least x; x R rounded to the nearest
    integer, as in trec_eval 10; or x R + 0.9 truncated, as in trec_eval 9.""",
        ),
    },
)
def interpolated_precision_score(r: Ranked, *, recall: Any = 0.5, rounding: str = "up") -> Curve:
    """Interpolated precision: the highest precision at any rank with the required recall, or its 11-point average.

    ``iprec(x) = max of P@i over i <= k with R@i >= x``

    The value is 0 if no rank has recall x. "11pt" is the mean over x = 0, 0.1, ..., 1. Releases of trec_eval differ in
    the number of documents that make up recall x; see `rounding`. Tied documents raise an error with
    ``ties="average"``, because their mean has no closed form.

    References
    ----------
    C. Manning, P. Raghavan and H. Schütze, "Introduction to Information Retrieval", Cambridge University Press,
    2008, section 8.4.

    Examples
    --------
    Relevant documents have ranks 2 and 3. Precision is highest at rank 3: it is 2/3, and recall is 1:

    >>> from sklearn_rank.metrics import interpolated_precision_score
    >>> round(
    ...     interpolated_precision_score([0, 1, 1, 0], [4, 3, 2, 1], qid=[0] * 4, recall=0.5), 4
    ... )
    0.6667

    With ranks 1 and 4, precision is 1 up to recall 0.5, then 2/4. The mean over eleven levels is (6 + 5/2) / 11:

    >>> round(
    ...     interpolated_precision_score(
    ...         [1, 0, 0, 1], [4, 3, 2, 1], qid=[0] * 4, recall="11pt"
    ...     ),
    ...     4,
    ... )
    0.7727
    """
    r.refuse_ties("interpolated_precision_score")
    levels = np.arange(11) / 10 if recall == "11pt" else [recall]
    hits = r.joint(1.0, r.relevant)
    needed = (r.of_query(ROUNDED[rounding](level * r.n_relevant)) for level in levels)
    highest = (r.highest(hits / r.rank * (hits >= least)) for least in needed)
    return sum(highest, start=np.zeros(r.shape)) / len(levels)
