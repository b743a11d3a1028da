"""Precision where a share of the relevant documents is found, or could be."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._keywords import one_of
from sklearn_rank._metric import metric

__all__ = [
    "r_precision_score",
]

NO_RELEVANT = "no relevant document"


@metric(
    "rprec",
    bounds=(0, 1),
    aliases=("r_precision", "r-precision"),
    undefined=NO_RELEVANT,
    needs_relevant=True,
    rules={
        "denominator": one_of(
            "relevant",
            "min_k_relevant",
            doc="""denominator : {"relevant", "min_k_relevant"}, default="relevant"
    What the hits are divided by: all R relevant documents, or min(k, R).""",
        )
    },
)
def r_precision_score(r: Any, *, denominator: str = "relevant") -> Any:
    """R-precision: precision at rank R, the number of relevant documents.

    ``Rprec = relevant documents among the first R / R``. Where recall equals precision. With a cutoff, the hits of
    the first min(k, R) ranks. Documents below rank R do not count.

    References
    ----------
    C. Buckley and E. Voorhees, "Retrieval system evaluation", in TREC: Experiment and Evaluation in Information
    Retrieval, MIT Press, 2005.

    Examples
    --------
    Two documents are relevant, one of them stands in the first two ranks:

    >>> from sklearn_rank.metrics import r_precision_score
    >>> r_precision_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4)
    0.5
    >>> r_precision_score([1, 0, 1, 0], [4, 3, 2, 1], qid=[0] * 4, k=1, denominator="min_k_relevant")
    1.0
    """
    hits = r.cumsum(r.relevant, weight=r.rank <= r.of_query(r.n_relevant))
    return hits, r.n_relevant if denominator == "relevant" else np.minimum(r.k, r.n_relevant)
