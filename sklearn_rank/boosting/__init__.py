"""Ranking metrics as the training loops of XGBoost, LightGBM and CatBoost take them."""
