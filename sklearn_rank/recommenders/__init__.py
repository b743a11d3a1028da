"""Recommendations: interactions of users and items, ranked, split by time, and what lists expose.

Files and frames in, catalogs ranked for each user. ``docs/recommenders/README.md`` shows each.
"""

from sklearn_rank.recommenders._exposure import exposure
from sklearn_rank.recommenders._interaction_split import GlobalTimeSplit, LeaveLastOut
from sklearn_rank.recommenders._interactions import InteractionRecommender
from sklearn_rank.recommenders._intra_list import intra_list_diversity
from sklearn_rank.recommenders._recommender_scorer import make_recommender_scorer

__all__ = [
    "GlobalTimeSplit",
    "InteractionRecommender",
    "LeaveLastOut",
    "exposure",
    "intra_list_diversity",
    "make_recommender_scorer",
]
