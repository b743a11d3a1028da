"""Pictures of results query by query, as scikit-learn's Displays are made; they need the extra "plot".

Values of `evaluate` in, pictures out. May not touch formulas or kernels. Each is readable in grey: whatever colour
tells apart, a line style, a marker or a hatch tells apart as well.
"""

from sklearn_rank.display.critical_difference import CriticalDifferenceDisplay
from sklearn_rank.display.cutoff import CutoffDisplay
from sklearn_rank.display.difference import DifferenceDisplay
from sklearn_rank.display.distribution import DistributionDisplay
from sklearn_rank.display.list_length import ListLengthDisplay
from sklearn_rank.display.precision_recall import QueryPrecisionRecallDisplay
from sklearn_rank.display.query_size import QuerySizeDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "CutoffDisplay",
    "DifferenceDisplay",
    "DistributionDisplay",
    "ListLengthDisplay",
    "QueryPrecisionRecallDisplay",
    "QuerySizeDisplay",
]
