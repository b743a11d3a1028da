"""Which system is better, and how sure one may be: tests, intervals, corrections and power, on `scipy.stats`.

Values query by query in, answers out. May not touch formulas or kernels. What a p-value here says, and what it does
not, is in ``docs/statistics.md``.
"""

from sklearn_rank.stats._compare import ComparisonResult, compare
from sklearn_rank.stats._compare_all import MultipleComparison, compare_all
from sklearn_rank.stats._corrections import adjust_pvalues
from sklearn_rank.stats._folds import FoldComparison, compare_folds
from sklearn_rank.stats._intervals import confidence_interval
from sklearn_rank.stats._power import minimal_detectable_difference, power_of, queries_needed

__all__ = [
    "ComparisonResult",
    "FoldComparison",
    "MultipleComparison",
    "adjust_pvalues",
    "compare",
    "compare_all",
    "compare_folds",
    "confidence_interval",
    "minimal_detectable_difference",
    "power_of",
    "queries_needed",
]
