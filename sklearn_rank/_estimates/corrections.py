"""Corrections of p-values for the number of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_rank._estimates.arguments import check_arguments, numbers
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array


@named_arguments
def adjust_pvalues(pvalues: Any, correction: str | None = "holm") -> Array:
    """Correct p-values for the number of comparisons.

    Parameters
    ----------
    pvalues : array-like of shape (n_comparisons,)
    correction : {"holm", "bonferroni", "bh"} or None, default="holm"
        Holm and Bonferroni bound the probability of at least one false positive. Benjamini-Hochberg bounds the expected
        share of false positives among the positives.

    Returns
    -------
    ndarray of shape (n_comparisons,)

    Raises
    ------
    ValueError
        If a p-value is not between 0 and 1, or the correction is unknown.

    Examples
    --------
    Holm multiplies the smallest p-value by three and the next by two. No corrected value is below the one before:

    >>> from sklearn_rank.stats import adjust_pvalues
    >>> adjust_pvalues([0.03, 0.01, 0.02])
    array([0.04, 0.03, 0.04])
    """
    check_arguments("adjust_pvalues", correction=correction)
    p = numbers(pvalues, "pvalues", "adjust_pvalues", squared=False)
    if not ((p >= 0) & (p <= 1)).all():
        raise ValueError(f"pvalues of adjust_pvalues must be from 0 to 1. Got {echo(pvalues)} instead.")
    if correction == "bonferroni":
        return np.minimum(p * len(p), 1.0)
    if correction == "bh" and len(p):
        from scipy.stats import false_discovery_control

        return np.asarray(false_discovery_control(p))
    if correction == "holm":
        order = np.argsort(p)
        corrected = np.empty_like(p)
        corrected[order] = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
        return np.minimum(corrected, 1.0)
    return p


def adjusted(pvalues: Sequence[float], correction: str | None) -> list[float]:
    """P-values corrected for their number; NaN, if there was no test, does not count."""
    p = np.array(pvalues, dtype=np.float64)
    known = ~np.isnan(p)
    p[known] = adjust_pvalues(p[known], correction)
    return p.tolist()
