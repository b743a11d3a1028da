"""Comparison of two models by their scores on the folds of a cross-validation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_rank._engine.columns import check_rows
from sklearn_rank._utils.table import Table, TableReport
from sklearn_rank.stats._arguments import check_arguments, numbers
from sklearn_rank.stats._intervals import Interval, t_interval
from sklearn_rank.stats._samples import Paired, ratio
from sklearn_rank.stats._significance import t_pvalue


@dataclass(frozen=True, repr=False)
class FoldComparison(TableReport):
    """Difference of two models over folds, a less b, from `compare_folds`.

    Attributes
    ----------
    difference : float
        Mean over folds of the score of a minus the score of b.
    pvalue, statistic : float
        Result of the corrected resampled t test.
    confidence_interval : (float, float)
    standard_error : float
        With the correction.
    n_folds : int
    alternative : str
    """

    difference: float
    pvalue: float
    statistic: float
    confidence_interval: Interval
    standard_error: float
    n_folds: int
    alternative: str

    def _title(self) -> str:
        return f"Mean of a less mean of b, {self.n_folds} folds, corrected resampled t test, {self.alternative}"

    def _tables(self) -> list[Table]:
        low, high = self.confidence_interval
        return [Table(("difference", "low", "high", "p"), ((self.difference, low, high, self.pvalue),))]


def compare_folds(
    scores_a: Any,
    scores_b: Any,
    *,
    n_train: float,
    n_test: float,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
) -> FoldComparison:
    """Compare two models by their scores on the same folds: the corrected resampled t test of Nadeau and Bengio.

    Training sets of different folds share most of their rows, so scores of folds are not independent and a plain t
    test finds differences that are not there. Here the variance of the mean over k folds is
    ``(1/k + n_test/n_train) var`` instead of ``1/k var``. In repeated cross-validation k is the number of folds of all
    repetitions.

    Parameters
    ----------
    scores_a, scores_b : array-like of shape (n_folds,)
        Scores of the two models on the same folds, such as `cross_validate` returns; of all repetitions.
    n_train, n_test : float
        Queries in a training set and in a test set; the mean if they vary.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
    confidence_level : float, default=0.95

    Returns
    -------
    FoldComparison

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
    Differences 0.1, 0.2, 0.3 with variance 0.01 and a factor of 1/3 + 1/2, so t = 0.2 / sqrt(0.00833):

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
    return FoldComparison(
        difference=sample.difference,
        pvalue=1.0 if sample.identical else t_pvalue(t, sample.df, alternative),
        statistic=t,
        confidence_interval=t_interval(sample.difference, standard_error, sample.df, confidence_level, alternative),
        standard_error=standard_error,
        n_folds=sample.n,
        alternative=alternative,
    )
