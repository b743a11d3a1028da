"""Splitters of whole queries, an estimator, scorers and an evaluator, which plug ranking into scikit-learn."""

from sklearn_rank.model_selection._evaluator import RankingEvaluator
from sklearn_rank.model_selection._interaction_split import GlobalTimeSplit, LeaveLastOut
from sklearn_rank.model_selection._interactions import InteractionRecommender
from sklearn_rank.model_selection._learning_curve import query_learning_curve
from sklearn_rank.model_selection._query_ranker import QueryRanker
from sklearn_rank.model_selection._recommender_scorer import make_recommender_scorer
from sklearn_rank.model_selection._scorer import (
    get_scorer,
    get_scorer_names,
    make_ranking_scorer,
)
from sklearn_rank.model_selection._split import (
    LeaveOneQueryOut,
    QueryKFold,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    query_train_test_split,
)

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
    "query_learning_curve",
    "query_train_test_split",
]
