"""Ranking in scikit-learn: splitters of whole queries, an estimator, scorers and an evaluator."""

from sklearn_rank._evaluator.evaluator import RankingEvaluator
from sklearn_rank._ranker.query_ranker import QueryRanker
from sklearn_rank._scoring.scorer import (
    get_scorer,
    get_scorer_names,
    make_ranking_scorer,
)
from sklearn_rank._scoring.split import (
    LeaveOneQueryOut,
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    query_train_test_split,
)
from sklearn_rank.recommenders._interaction_split import GlobalTimeSplit, LeaveLastOut
from sklearn_rank.recommenders._interactions import InteractionRecommender
from sklearn_rank.recommenders._recommender_scorer import make_recommender_scorer

__all__ = [
    "GlobalTimeSplit",
    "InteractionRecommender",
    "LeaveLastOut",
    "LeaveOneQueryOut",
    "QueryKFold",
    "QueryRanker",
    "QueryShuffleSplit",
    "QueryTimeSeriesSplit",
    "RankingEvaluator",
    "RepeatedQueryKFold",
    "get_scorer",
    "get_scorer_names",
    "make_ranking_scorer",
    "make_recommender_scorer",
    "query_train_test_split",
]
