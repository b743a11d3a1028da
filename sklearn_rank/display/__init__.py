"""Plots of results by query, in the style of scikit-learn's Displays; they need the extra "plot".

Each plot is readable in grayscale: systems differ by line style, marker or hatch as well as by color.
"""

from sklearn_rank.display._critical_difference import CriticalDifferenceDisplay
from sklearn_rank.display._cutoff import CutoffDisplay
from sklearn_rank.display._difference import DifferenceDisplay
from sklearn_rank.display._distribution import DistributionDisplay
from sklearn_rank.display._precision_recall import QueryPrecisionRecallDisplay
from sklearn_rank.display._segments import SegmentsDisplay
from sklearn_rank.display._threshold import ThresholdDisplay
from sklearn_rank.display._topics import TopicsDisplay

__all__ = [
    "CriticalDifferenceDisplay",
    "CutoffDisplay",
    "DifferenceDisplay",
    "DistributionDisplay",
    "QueryPrecisionRecallDisplay",
    "SegmentsDisplay",
    "ThresholdDisplay",
    "TopicsDisplay",
]
