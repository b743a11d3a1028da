"""
How many queries?
=================

A small experiment misses a small difference. We measure how much the differences vary in a pilot of 100 queries, and
compute how many queries find a difference of a given size.
"""

import matplotlib.pyplot as plt
import numpy as np
from lightgbm import LGBMRanker
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator
from sklearn_rank.datasets import make_ranking
from sklearn_rank.stats import power_of

X, y, qid = make_ranking(n_queries=100, random_state=0)
models = {"ridge": Ridge(), "lightgbm": LGBMRanker(n_estimators=30, n_jobs=1, verbose=-1)}
results = RankingEvaluator("ndcg@10", cv=3).compare(models, X, y, qid=qid).results
differences = results["lightgbm"].per_query["ndcg@10"] - results["ridge"].per_query["ndcg@10"]
std = differences.std(ddof=1)
print(f"the pilot: {differences.mean():.4f} with a standard deviation of {std:.4f}, on {len(differences)} queries")

# %%
# To find half the difference, you need four times as many queries:

sizes = np.array([0.005, 0.01, 0.02, 0.03, 0.05])
needed = {power: [power_of(std, difference=size, power=power) for size in sizes] for power in (0.5, 0.8, 0.95)}

figure, ax = plt.subplots(layout="constrained")
for (power, queries), style in zip(needed.items(), ("o:", "s--", "^-"), strict=True):
    ax.plot(sizes, queries, style, label=f"found in {power:.0%} of experiments")
ax.set(xscale="log", yscale="log", xlabel="true difference in nDCG@10", ylabel="queries needed")
ax.set_xticks(sizes, sizes)
ax.minorticks_off()
ax.legend()
plt.show()
