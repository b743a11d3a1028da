"""How many neighbors should recommend movies, and for whom? A search over time, and segments of users.

Run ``python movies.py ratings.csv`` on the ratings of MovieLens (userId, movieId, rating, timestamp).
"""

import sys

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import BaseEstimator

from sklearn_rank import GlobalTimeSplit, RankingEvaluator, make_recommender_scorer


class Neighbors(BaseEstimator):
    """Recommend what other users saw beside the user's movies, of each movie the `n` nearest."""

    def __init__(self, n=10):
        self.n = n

    def fit(self, X, y=None):
        users, user = np.unique(X.iloc[:, 0], return_inverse=True)
        self.items_, item = np.unique(X.iloc[:, 1], return_inverse=True)
        seen = sparse.csr_array((np.ones(len(X)), (user, item)))
        together = (seen.T @ seen).toarray()
        together[together < np.sort(together, axis=1)[:, [-min(self.n, len(together))]]] = 0
        self.scores_ = dict(zip(users, seen @ together, strict=True))
        return self

    def recommend(self, users, k):
        return [self.items_[np.argsort(-self.scores_[u])[:k]] if u in self.scores_ else [] for u in users]


ratings = pd.read_csv(sys.argv[1])
scorer = make_recommender_scorer("ndcg@10", items=ratings["movieId"].unique())
models = {f"{n} neighbors": Neighbors(n) for n in (5, 20, 80)}
comparison = RankingEvaluator(scorer, cv=GlobalTimeSplit(test_size=0.2)).compare(models, ratings, ratings["rating"])
print(comparison)
print(comparison.segments({"50 ratings": (ratings["userId"].value_counts() >= 50).to_dict()}))
