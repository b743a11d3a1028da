"""
What does a hash code cost?
===========================

We search for images of the same digit, by their pixels and by short binary codes. Codes of few bits cause many ties.
Each bar goes from the nDCG of the worst order of the tied images to the nDCG of the best order. A library that breaks
ties by the order of the rows prints a number between both ends.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from sklearn_rank.retrieval import evaluate_retrieval

X, digit = load_digits(return_X_y=True)
database, queries, database_labels, query_labels = train_test_split(X, digit, test_size=200, random_state=0)


def search(database, queries, distance, metrics):
    labels = {"query_labels": query_labels, "database_labels": database_labels}
    return evaluate_retrieval(queries, database, distance=distance, metrics=metrics, **labels).mean()


def codes(X, n_bits):
    planes = np.random.default_rng(0).normal(size=(X.shape[1], n_bits))
    return np.where((X - database.mean(axis=0)) @ planes > 0, 1, -1)


# %%
# ``ties="worst"`` and ``ties="best"`` are the ends of a bar. The default is the expectation over all orders:

n_bits = [4, 8, 16, 32, 64]
metrics = ["ndcg@10", "ndcg(ties=worst)@10", "ndcg(ties=best)@10"]
found = [search(codes(database, n), codes(queries, n), "hamming", metrics) for n in n_bits]
mean, worst, best = np.array([list(values.values()) for values in found]).T
exact = search(database, queries, "euclidean", "ndcg@10")["ndcg@10"]

figure, ax = plt.subplots(layout="constrained")
ax.errorbar(range(5), mean, [mean - worst, best - mean], fmt="o", capsize=4, label="codes: expectation, worst, best")
ax.axhline(exact, color="0.4", linestyle="--", label="pixels, Euclidean distance")
ax.set(xticks=range(5), xticklabels=n_bits, xlabel="bits of the code", ylabel="nDCG@10", ylim=(0, 1.02))
ax.legend(loc="lower right")
plt.show()
