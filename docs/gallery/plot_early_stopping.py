"""
When to stop training?
======================

The ranker keeps the boosting round with the best metric on validation queries. It takes whole queries out of the
training data for validation, so it never reads the test queries.
"""

import matplotlib.pyplot as plt
from sklearn.ensemble import HistGradientBoostingRegressor

from sklearn_rank import QueryRanker
from sklearn_rank.datasets import make_ranking
from sklearn_rank.display import EvalCurveDisplay

X, y, qid = make_ranking(n_queries=200, random_state=0)

# %%
# ``eval_fraction`` is the share of the validation queries, and ``eval_metric`` is the metric to watch. Here the smaller
# learning rate reaches the higher nDCG@10:

ax = None
for learning_rate in (0.03, 0.3):
    model = HistGradientBoostingRegressor(max_iter=80, learning_rate=learning_rate, random_state=0)
    ranker = QueryRanker(model, eval_fraction=0.3, eval_metric="ndcg@10", random_state=0).fit(X, y, qid=qid)
    ax = EvalCurveDisplay.from_estimator(ranker, name=f"learning rate {learning_rate}", ax=ax).ax_
    print(f"learning rate {learning_rate}: round {ranker.best_iteration_}, nDCG@10 {ranker.best_value_:.4f}")
plt.show()
