"""What a call says of misuse, and a model."""

import warnings

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_rank._misuse.table import ALL_CHECKS
from sklearn_rank.exceptions import RankingWarning


class Given(RegressorMixin, BaseEstimator):
    """A model that predicts a column of X."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


def seen(call, *args, **keywords):
    """What happens in a call: checks of which it warns, each as often, and the check that it raises for."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        error = ""
        try:
            call(*args, **keywords)
        except ValueError as raised:
            error = str(raised)
    texts = [str(one.message) for one in told if issubclass(one.category, RankingWarning)]
    names = [check.name for text in texts for check in ALL_CHECKS if check.says in text]
    return names, next((check.name for check in ALL_CHECKS if check.says in error), error)
