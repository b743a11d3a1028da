"""Networks that rank: skorch in searches with whole queries, and a listwise loop of torch with early stopping.

Needs ``pip install torch skorch``. Takes about half a minute on one core.
"""

import copy

import numpy as np
import torch
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetRegressor
from skorch.callbacks import EarlyStopping, EpochScoring
from skorch.dataset import Dataset
from skorch.helper import predefined_split
from torch import nn

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    evaluate,
    get_scorer,
    make_ranking_scorer,
    query_train_test_split,
)
from sklearn_rank.datasets import make_ranking


class Scorer(nn.Module):
    """A number for each document, of shape (n_documents,): skorch's (n, 1) beside labels (n,) would be broadcast."""

    def __init__(self, n_features=8, hidden=16):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_features, hidden), nn.ReLU(), nn.Linear(hidden, 1)
        )

    def forward(self, X):
        """Scores."""
        return self.layers(X).squeeze(-1)


def network(**keywords):
    """A network as a regressor, without skorch's own split, which takes rows."""
    fixed = {
        "max_epochs": 10,
        "lr": 0.1,
        "batch_size": 256,
        "verbose": 0,
        "iterator_train__shuffle": True,
    }
    return NeuralNetRegressor(Scorer, **fixed | {"train_split": None} | keywords)


def tune(X, y, qid):
    """A grid search and a comparison: `QueryRanker` makes a ranker of the network."""
    grid = GridSearchCV(
        QueryRanker(make_pipeline(StandardScaler(), network())),
        {"estimator__neuralnetregressor__module__hidden": [4, 16]},
        scoring=get_scorer("ndcg@10"),
    )
    evaluator = RankingEvaluator(["ndcg@10", "mrr"], cv=QueryKFold(3))
    search = evaluator.search(grid, X, y, qid=qid)
    print(search.scoring, search.best_params_, round(search.best_score_, 4))
    return evaluator.compare(
        {"small": network(module__hidden=4), "large": network(module__hidden=16)}, X, y, qid=qid
    )


def stop_early(train, valid):
    """skorch's early stopping by nDCG@10 of validation queries, which the function below knows."""
    X, y, _ = train
    X_valid, y_valid, qid_valid = valid
    scorers = make_ranking_scorer(["ndcg@10"])

    def ndcg_at_10(net, dataset, y=None):
        return scorers(net, X_valid, y_valid, qid=qid_valid)["ndcg@10"]

    net = network(
        train_split=predefined_split(Dataset(X_valid, y_valid)),
        callbacks=[
            EpochScoring(ndcg_at_10, name="ndcg_at_10", lower_is_better=False, use_caching=False),
            EarlyStopping("ndcg_at_10", lower_is_better=False, patience=5, load_best=True),
        ],
    ).fit(X, y)
    curve = net.history[:, "ndcg_at_10"]
    by_hand = evaluate(y_valid, net.predict(X_valid), qid=qid_valid, metrics="ndcg@10").mean()[
        "ndcg@10"
    ]
    assert by_hand == max(curve)
    print(f"skorch: best epoch {np.argmax(curve)} of {len(curve)}, nDCG@10 {by_hand:.4f}")


def padded(X, y, qid, batch_size=16):
    """Batches of whole queries: ids, features, labels, and where there is a document."""
    ids, start = np.unique(qid, return_inverse=True)
    order, sizes = np.argsort(start, kind="stable"), np.bincount(start)
    rows = [torch.from_numpy(part) for part in np.split(order, np.cumsum(sizes)[:-1])]
    X, y = torch.from_numpy(X), torch.from_numpy(y)
    for first in range(0, len(ids), batch_size):
        of = rows[first : first + batch_size]
        parts = (
            [X[r] for r in of],
            [y[r] for r in of],
            [torch.ones(len(r), dtype=torch.bool) for r in of],
        )
        yield (
            ids[first : first + batch_size],
            *(nn.utils.rnn.pad_sequence(part, batch_first=True) for part in parts),
        )


def listwise_loss(scores, labels, mask):
    """Cross entropy between the shares of gain and the softmax of the scores (ListNet)."""
    log_share = scores.masked_fill(~mask, -torch.inf).log_softmax(dim=1)
    gain = (2.0**labels - 1) * mask
    return (
        -(gain * log_share.masked_fill(~mask, 0))
        .sum(dim=1)
        .div(gain.sum(dim=1).clamp(min=1e-9))
        .mean()
    )


def listwise(train, valid, n_epochs=60, patience=10):
    """A loop of torch that keeps the weights of the best epoch by nDCG@10."""
    model = Scorer()
    optimizer, metrics = (
        torch.optim.Adam(model.parameters(), lr=0.01),
        RankingAccumulator(["ndcg@10", "mrr"]),
    )
    best, best_epoch, weights = -np.inf, -1, None
    for epoch in range(n_epochs):
        for _, features, labels, mask in padded(*train):
            optimizer.zero_grad()
            listwise_loss(model(features), labels, mask).backward()
            optimizer.step()
        metrics.reset()  # without it the second epoch is an error: the queries come again
        with torch.no_grad():
            for query, features, labels, mask in padded(*valid):
                metrics.update(labels, model(features), qid=query, mask=mask)
        value = metrics.compute().mean()["ndcg@10"]
        if value > best:
            best, best_epoch, weights = value, epoch, copy.deepcopy(model.state_dict())
        elif epoch - best_epoch >= patience:
            break
    model.load_state_dict(weights)
    with torch.no_grad():
        y_score = model(torch.from_numpy(valid[0]))
    by_hand = evaluate(valid[1], y_score, qid=valid[2], metrics="ndcg@10").mean()["ndcg@10"]
    print(f"torch: best epoch {best_epoch} of {epoch + 1}, nDCG@10 {best:.4f}")
    assert abs(by_hand - best) < 1e-6  # scores of another batch differ in float32


def main():
    """Run all of it."""
    torch.manual_seed(0)
    X, y, qid = make_ranking(n_queries=120, n_features=8, noise=1, random_state=0)
    X, y = X.astype(np.float32), y.astype(np.float32)  # as torch wants them
    X, X_valid, y, y_valid, qid, qid_valid = query_train_test_split(X, y, qid=qid, random_state=0)
    print(tune(X, y, qid))
    stop_early((X, y, qid), (X_valid, y_valid, qid_valid))
    listwise((X, y, qid), (X_valid, y_valid, qid_valid))


if __name__ == "__main__":
    main()
