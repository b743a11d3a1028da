"""
Does k change the winner?
=========================

Set the cutoff k to the rank at which users stop. Before you choose k, check whether it changes the winner, and how
 certain the difference is at each cutoff.
"""

import matplotlib.pyplot as plt
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor

from sklearn_rank import RankingEvaluator
from sklearn_rank.datasets import make_ranking
from sklearn_rank.display import CutoffDisplay
from sklearn_rank.stats import compare

X, y, qid = make_ranking(n_queries=200, random_state=1)
cutoffs = [1, 2, 3, 5, 7, 10, 15, 20]
metrics = [f"ndcg@{k}" for k in cutoffs]
models = {"ridge": Ridge(), "20 neighbors": KNeighborsRegressor(20)}
results = RankingEvaluator(metrics, cv=3).compare(models, X, y, qid=qid).results

ax = None
for name, result in results.items():
    ax = CutoffDisplay.from_result(result, "ndcg", name=name, ax=ax).ax_
plt.show()

# %%
# Both curves use the same queries, so the interval of the difference is narrower than the bands suggest:

for metric in metrics:
    test = compare(results["ridge"], results["20 neighbors"], metric=metric)
    low, high = test.confidence_interval
    print(f"{metric:8} {test.difference:.4f} [{low:.4f}, {high:.4f}]  p = {test.pvalue:.2g}")
