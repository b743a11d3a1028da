"""Pictures of results query by query, as scikit-learn's Displays are made; they need the extra "plot".

Values of `evaluate` in, pictures out. May not touch formulas or kernels. Each is readable in grey: whatever colour
tells apart, a line style, a marker or a hatch tells apart as well.
"""

from sklearn_rank.display._critical_difference import CriticalDifferenceDisplay
from sklearn_rank.display._cutoff import CutoffDisplay
from sklearn_rank.display._difference import DifferenceDisplay
from sklearn_rank.display._distribution import DistributionDisplay
from sklearn_rank.display._list_length import ListLengthDisplay
from sklearn_rank.display._precision_recall import QueryPrecisionRecallDisplay
from sklearn_rank.display._query_size import QuerySizeDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "CutoffDisplay",
    "DifferenceDisplay",
    "DistributionDisplay",
    "ListLengthDisplay",
    "QueryPrecisionRecallDisplay",
    "QuerySizeDisplay",
]
