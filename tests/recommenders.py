"""Recommenders that tests fit, interactions with latent tastes, and a scorer that ranks item by item."""

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator

from sklearn_rank import evaluate


class Factors(BaseEstimator):
    """Matrix factorization by singular value decomposition, in ten lines; NaN for unknown users and items."""

    def __init__(self, n_factors=8, decimals=9):
        self.n_factors, self.decimals = n_factors, decimals

    def fit(self, X, y=None):
        X = self._checked(X)
        (user, self.users_), (item, self.items_) = pd.factorize(X[:, 0]), pd.factorize(X[:, 1])
        seen = np.zeros((len(self.users_), len(self.items_)))
        seen[user, item] = 1
        u, s, v = np.linalg.svd(seen, full_matrices=False)
        self.scores_ = np.round((u[:, : self.n_factors] * s[: self.n_factors]) @ v[: self.n_factors], self.decimals)
        return self

    def predict(self, X):
        X = self._checked(X)
        user, item = (pd.Index(ids).get_indexer(X[:, i]) for i, ids in enumerate((self.users_, self.items_)))
        return np.where((user < 0) | (item < 0), np.nan, self.scores_[user, item])

    def _checked(self, X):
        X = np.asarray(X)
        assert X.ndim == 2, "X are two columns"
        assert X.shape[1] == 2, "X are two columns"
        return X


class Lists(BaseEstimator):
    """The same model with a method that lists items."""

    def __init__(self, n_factors=8, decimals=9, form="lists"):
        self.n_factors, self.decimals, self.form = n_factors, decimals, form

    def fit(self, X, y=None):
        self.factors_ = Factors(self.n_factors, self.decimals).fit(X)
        return self

    def recommend(self, users, k):
        known = pd.Index(self.factors_.users_).get_indexer(users)
        order = np.argsort(-self.factors_.scores_[known], axis=1, kind="stable")[:, :k]
        listed = self.factors_.items_[order]
        return (
            listed if self.form == "matrix" else [row if i >= 0 else [] for row, i in zip(listed, known, strict=True)]
        )


class Fixed(BaseEstimator):
    """Given scores, users by items, both numbered from 0."""

    def __init__(self, scores):
        self.scores = scores

    def fit(self, X, y=None):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(self.scores)[np.asarray(X)[:, 0], np.asarray(X)[:, 1]]


def tastes(seed, n_users=300, n_items=120, n_tastes=8, n_each=25):
    """Interactions of users who each like a few of the latent tastes that items belong to."""
    rng = np.random.default_rng(seed)
    taste = rng.dirichlet(np.full(n_tastes, 0.2), n_users)
    of_item, popularity = rng.permutation(n_items) % n_tastes, rng.dirichlet(np.ones(n_items))
    p = 0.9 * _shares(taste[:, of_item] * popularity) + 0.1 / n_items
    items = np.concatenate([rng.choice(n_items, n_each, replace=False, p=of_user) for of_user in p])
    users = np.repeat(np.arange(n_users), n_each)
    return pd.DataFrame({"user_id": users, "item_id": items, "time": np.tile(np.arange(n_each), n_users)})


def _shares(x):
    return x / x.sum(axis=1, keepdims=True)


def item_by_item(scores_of, train, test, y, items, *, exclude=True, metrics):
    """Expected values of a scorer by user: all items in a Python list, without those in training.

    `scores_of` gives the scores of some items for a user, -inf for unretrieved items.
    """
    seen, relevant = {}, {}
    for user, item in train if exclude else ():
        seen.setdefault(user, set()).add(item)
    for (user, item), label in zip(test, y, strict=True):
        if item not in seen.get(user, ()):
            of_user = relevant.setdefault(user, {})
            of_user[item] = max(of_user.get(item, label), label)
    label, score, qid = [], [], []
    for user, of_user in relevant.items():
        left = [item for item in items if item not in seen.get(user, ())]
        label += [of_user.get(item, 0) for item in left]
        score += [*scores_of(user, left)]
        qid += [user] * len(left)
    return evaluate(label, score, qid=qid, metrics=metrics)
