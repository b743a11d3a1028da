"""Tests, confidence intervals, corrections and power for comparisons of systems, on `scipy.stats`.

The functions take values per query. ``docs/decide/compare.md`` explains how to read a p-value.
"""

from sklearn_rank._comparison.compare import compare
from sklearn_rank._comparison.compare_all import compare_all
from sklearn_rank._comparison.folds import compare_folds
from sklearn_rank._estimates.corrections import adjust_pvalues
from sklearn_rank._estimates.power import power_of
from sklearn_rank.stats._confidence_interval import confidence_interval
from sklearn_rank.stats._gate import no_worse
from sklearn_rank.stats._judge_agreement import judge_agreement
from sklearn_rank.stats._judges import compare_judged, judged_interval

__all__ = [
    "adjust_pvalues",
    "compare",
    "compare_all",
    "compare_folds",
    "compare_judged",
    "confidence_interval",
    "judge_agreement",
    "judged_interval",
    "no_worse",
    "power_of",
]
