"""
Which k
=======

A cutoff should be where users stop. Curves over all cutoffs show what another choice would say.
"""

from sklearn_rank.datasets import make_ranking
from sklearn_rank.display import CutoffDisplay

X, y, qid = make_ranking(n_queries=100, random_state=0)
CutoffDisplay.from_predictions(y, X[:, 0], qid=qid, metric="ndcg")
