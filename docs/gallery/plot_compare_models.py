"""
Which model is better
=====================

Four models are fitted on the same folds, and each query is scored by a model that has not seen it. A bar joins models
that the data cannot tell apart, and the best one here stands apart from all others.
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
    "20 neighbours": KNeighborsRegressor(20),
    "one tree": DecisionTreeRegressor(max_leaf_nodes=20, random_state=0),
}
report = RankingEvaluator("ndcg@10", cv=3).compare(models, X, y, qid=qid)
print(report)

# %%
# The means with their differences, tested pair by pair and corrected for the number of pairs:

CriticalDifferenceDisplay.from_results(report, "ndcg@10")
plt.show()

# %%
# Two of them, query by query. How many queries gain, how many lose, and how much:

DifferenceDisplay.from_results({name: report.results[name] for name in ("ridge", "lightgbm")}, "ndcg@10")
plt.show()
