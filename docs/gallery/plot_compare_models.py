"""
Which model is better?
======================

We fit four models on the same folds. Each query is scored by a model that was fitted without it. In the first picture a
bar joins models whose difference is not significant. No bar reaches the best model.
"""

import matplotlib.pyplot as plt
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from sklearn_rank import RankingEvaluator
from sklearn_rank.datasets import make_ranking
from sklearn_rank.display import CriticalDifferenceDisplay, DifferenceDisplay

X, y, qid = make_ranking(n_queries=400, random_state=0)
models = {
    "ridge": Ridge(),
    "lightgbm": LGBMRanker(n_estimators=30, n_jobs=1, verbose=-1),
    "20 neighbors": KNeighborsRegressor(20),
    "one tree": DecisionTreeRegressor(max_leaf_nodes=20, random_state=0),
}
report = RankingEvaluator("ndcg@10", cv=3).compare(models, X, y, qid=qid)
print(report)

# %%
# The picture shows each mean with its interval. A t test compares each pair of models, with p-values corrected for the
# number of pairs:

CriticalDifferenceDisplay.from_results(report, "ndcg@10")
plt.show()

# %%
# The second picture compares two models query by query: how many queries gain, how many lose, and how much?

DifferenceDisplay.from_results({name: report.results[name] for name in ("ridge", "lightgbm")}, "ndcg@10")
plt.show()
