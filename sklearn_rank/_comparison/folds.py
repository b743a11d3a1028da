"""Comparison of two models by their scores on the folds of a cross-validation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sklearn_rank._comparison.compare import counts
from sklearn_rank._comparison.paired_test import PairedTest
from sklearn_rank._engine.columns import check_rows
from sklearn_rank._estimates.arguments import check_arguments, numbers
from sklearn_rank._estimates.intervals import t_interval
from sklearn_rank._estimates.samples import Paired, exact_mean, has_no_spread, ratio
from sklearn_rank._estimates.significance import pvalue_without_spread, t_pvalue
from sklearn_rank._tell.pairs import PairRow
from sklearn_rank._utils.arguments import named_arguments


@named_arguments
def compare_folds(
    scores_a: Any,
    scores_b: Any,
    *,
    n_train: float,
    n_test: float,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> PairedTest:
    """Compare two models by their scores on the same folds: the corrected resampled t test of Nadeau and Bengio.

    Training sets of different folds share most of their rows, so the scores are not independent, and a plain t test has
    too many false positives. This test uses ``(1/k + n_test/n_train) var`` as the variance of the mean over k folds,
    not ``1/k var``. In repeated cross-validation, k counts the folds of all repetitions.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_folds,)
        Scores of the two models on the same folds of all repetitions, such as `cross_validate` returns.
    n_train, n_test : float
        Number of queries in a training set and in a test set; the mean if it varies.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    confidence_level : float, default=0.95

    Returns
    -------
    PairedTest
        Test of one pair, named a and b. ``unit`` is "fold", and `standard_error` includes the correction.

    Raises
    ------
    ValueError
        If there are fewer than two folds, or a score is not finite.

    References
    ----------
    C. Nadeau, Y. Bengio: Inference for the generalization error. Machine Learning 52, 2003.

    R. R. Bouckaert, E. Frank: Evaluating the replicability of significance tests for comparing learning algorithms.
    PAKDD 2004.

    Examples
    --------
    The differences 0.1, 0.2, 0.3 have variance 0.01, and the factor is 1/3 + 1/2, so t = 0.2 / sqrt(0.00833):

    >>> from sklearn_rank.stats import compare_folds
    >>> round(
    ...     compare_folds([0.5, 0.7, 0.9], [0.4, 0.5, 0.6], n_train=200, n_test=100).statistic,
    ...     4,
    ... )
    2.1909
    """
    check_arguments(
        "compare_folds", n_train=n_train, n_test=n_test, alternative=alternative, confidence_level=confidence_level
    )
    check_rows(scores_a=scores_a, scores_b=scores_b)
    a, b = numbers(scores_a, "scores_a", "compare_folds"), numbers(scores_b, "scores_b", "compare_folds")
    if len(a) != len(b) or len(a) < 2 or np.isnan(a - b).any():
        raise ValueError(
            "compare_folds takes scores of the same folds, two or more, without NaN. "
            f"Got {len(a)} and {len(b)} scores, {np.isnan(a).sum() + np.isnan(b).sum()} of them NaN."
        )
    sample = Paired(a, b)
    standard_error = sample.standard_error * math.sqrt(1 + sample.n * n_test / n_train)
    t = ratio(sample.difference, standard_error)
    interval = t_interval(sample.difference, standard_error, sample.df, confidence_level, alternative)
    pvalue = t_pvalue(t, sample.df, alternative)
    if is_constant := has_no_spread(sample):
        interval, pvalue = (math.nan, math.nan), pvalue_without_spread(sample, alternative)
    won, tied, lost = counts(sample.values, True)
    row = PairRow(
        "a", "b", (), sample.n, exact_mean(a), exact_mean(b), sample.difference, pvalue, pvalue, t, interval, interval,
        "" if is_constant else "t", sample.cohen, won, tied, lost, standard_error, sample.df,
    )  # fmt: skip
    return PairedTest(
        metric=None, test="corrected resampled t", alternative=alternative, correction=None,
        confidence_level=confidence_level, baseline=None, greater_is_better=True, unit="fold",
        means={"a": row.mean_a, "b": row.mean_b}, judged={},
        _pair_rows=(row,),
    )  # fmt: skip
