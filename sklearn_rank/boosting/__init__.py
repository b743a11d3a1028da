"""Ranking metrics for the training loops of XGBoost, LightGBM and CatBoost."""

from sklearn_rank.boosting._catboost import catboost_metric
from sklearn_rank.boosting._lightgbm import lightgbm_metric
from sklearn_rank.boosting._xgboost import xgboost_early_stopping, xgboost_metric

__all__ = ["catboost_metric", "lightgbm_metric", "xgboost_early_stopping", "xgboost_metric"]
