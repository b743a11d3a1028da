"""
Where does the gain come from?
==============================

A mean over all queries can hide a group of queries that loses. You can split queries by any attribute, such as their
length, language, age or frequency. We split them by the number of documents.
"""

import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator
from sklearn_rank.datasets import make_ranking
from sklearn_rank.display import ListLengthDisplay, SegmentsDisplay

X, y, qid = make_ranking(n_queries=200, n_documents=(3, 60), random_state=0)
models = {"ridge": Ridge(), "lightgbm": LGBMRanker(n_estimators=30, n_jobs=1, verbose=-1)}
report = RankingEvaluator("ndcg@10", cv=3).compare(models, X, y, qid=qid)
ridge = report.results["ridge"]
size = np.select([ridge.n_documents < 20, ridge.n_documents < 40], ["1: below 20", "2: below 40"], "3: 40 and more")
by = dict(zip(ridge.qid.tolist(), size.tolist(), strict=True))

SegmentsDisplay.from_comparison(report, "ndcg@10", by=by)
plt.show()

# %%
# nDCG falls with the length of the list, even for the better model:

ListLengthDisplay.from_result(report.results["lightgbm"], "ndcg@10")
plt.show()
