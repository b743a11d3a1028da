"""Legitimate random calls raise no warning; ``python tests/api/test_legitimate_calls.py 10000`` draws more."""

import sys
import uuid
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsRegressor
from sklearn.tree import DecisionTreeRegressor

from sklearn_rank import (
    InteractionRecommender,
    QueryKFold,
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    get_scorer,
    make_recommender_scorer,
    prepare,
)
from sklearn_rank.stats import compare

METRICS = ["ndcg@10", "map", "mrr", "recall@5", "err(max_grade=31)"]
LETTERS = np.array([*"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"])
FORMS = {
    "numbers": lambda rng, n: rng.permutation(10 * n)[:n],
    "texts of numbers": lambda rng, n: [str(i) for i in range(n)],
    "names": lambda rng, n: [f"doc-{i}" for i in range(n)],
    "padded": lambda rng, n: [f"{i:08d}" for i in range(n)],
    "codes": lambda rng, n: ["".join(one) for one in rng.choice(LETTERS, (n, 8))],
    "uuids": lambda rng, n: [str(uuid.UUID(bytes=rng.bytes(16))) for _ in range(n)],
    "urls": lambda rng, n: [f"https://x.org/{i // 7}/{i}" for i in range(n)],
    "sessions": lambda rng, n: [f"user{i // 3}_{i % 3}" for i in range(n)],
    "dates": lambda rng, n: [f"2024-{1 + i // 28 % 12:02d}-{1 + i % 28:02d}/{i}" for i in range(n)],
}


def ids(rng, n):
    return np.asarray(FORMS[rng.choice([*FORMS])](rng, n))


def labels(rng, n):
    rate = rng.choice([0.05, 0.2, 0.5])
    label = [rng.random(n) < rate, rng.binomial(4, rate, n), rng.integers(0, 5, n), rng.poisson(2 * rate, n)]
    return label[rng.integers(4)].astype(float)


def scores(rng, label):
    """Scores of models from useless to good, on any scale, with ties, rounding or heavy tails."""
    skill, noise = rng.choice([0, 0, 0.1, 0.3, 1]), rng.normal(size=len(label))
    x = skill * label + [noise, noise**3, np.exp(noise), -np.exp(noise), np.round(noise)][rng.integers(5)]
    return rng.choice([0.01, 1, 1000]) * x + rng.choice([0, -5, 300])


def rows(rng):
    n_queries = int(rng.choice([1, 3, 8, 12, 25, 60]))
    size = rng.integers(*[(1, 4), (2, 8), (5, 6), (10, 40)][rng.integers(4)], n_queries)
    qid = np.repeat(ids(rng, n_queries), size)
    label = labels(rng, len(qid))
    # At least one query has both labels.
    first = int(np.argmax(size > 1))
    label[np.flatnonzero(qid == qid[size[:first].sum()])[:2]] = [1, 0][: size[first]]
    order = rng.permutation(len(qid)) if rng.random() < 0.2 else slice(None)
    return label[order], scores(rng, label)[order], qid[order]


def is_lists(label, qid):
    """Whether a query has several rows, and some such query has fewer than 20."""
    return len({*qid.tolist()}) < len(qid)


def of_rows(rng):
    label, score, qid = rows(rng)
    if not is_lists(label, qid):
        return
    door = rng.integers(5)
    if door == 0:
        by = np.unique(qid, return_inverse=True)[1] % 3
        evaluate(label, score, qid=qid, metrics=METRICS, by=[by - 1, np.array([*"xyz"])[by]][rng.integers(2)])
    elif door == 1:
        evaluate_table(pd.DataFrame({"label": label, "score": score, "qid": qid}), metrics=METRICS)
    elif door == 2:
        prepare(label, qid=qid, metrics=METRICS)(score)
    elif door == 3:
        compare_systems(label, {"a": score, "b": scores(rng, label)}, qid=qid, metrics=METRICS)
    else:
        accumulator = RankingAccumulator(METRICS)
        for query in pd.unique(qid):
            accumulator.update(label[qid == query], score[qid == query], np.array([query] * (qid == query).sum()))
        accumulator.compute()


def of_matrices(rng):
    shape = int(rng.choice([3, 12, 30])), int(rng.choice([5, 30]))
    label = labels(rng, shape[0] * shape[1])
    label, score = label.reshape(shape), scores(rng, label).reshape(shape)
    sparse = csr_array(label) if rng.random() < 0.5 else label
    evaluate(sparse, score, metrics=METRICS)


def of_runs(rng):
    """Truncated runs, and a pool of the first documents of some of them, partly judged."""
    n_queries, n_documents, depth = int(rng.choice([2, 12, 25])), 40, int(rng.choice([5, 10, 20]))
    queries, documents = ids(rng, n_queries).tolist(), ids(rng, n_documents).tolist()
    grade = rng.binomial(3, rng.choice([0.1, 0.3]), (n_queries, n_documents))
    systems = {}
    for name in "abc":
        score = rng.choice([0, 0.3, 1]) * grade + rng.normal(size=grade.shape)
        score = np.round(score, 2) if rng.random() < 0.3 else score
        order = np.argsort(-score, axis=1)[:, :depth]
        systems[name] = {
            q: {documents[d]: float(score[i, d]) for d in order[i]} for i, q in enumerate(queries)
        }  # fmt: skip
    pooled = [*systems][: rng.integers(1, 4)]
    share, only_relevant = rng.choice([0.5, 0.8, 1.0]), rng.random() < 0.3
    judged = {q: {} for q in queries}
    for i, q in enumerate(queries):
        pool = dict.fromkeys(d for name in pooled for d in [*systems[name][q]][: rng.choice([5, 10])])
        for d in [d for d in pool if rng.random() < share] or [*pool][:1]:
            value = int(grade[i, documents.index(d)])
            if value or not only_relevant:
                judged[q][d] = value
        judged[q] = judged[q] or {[*pool][0]: 1}
    judged[queries[0]][next(iter(systems["a"][queries[0]]))] = 1
    lists = {name: {q: [*found] for q, found in run.items()} for name, run in systems.items()}
    given = [systems, lists][rng.integers(2)]
    if rng.random() < 0.5:
        evaluate_run(judged, given["a"], metrics=["ndcg@10", "map", "bpref"])
    else:
        # Shares of judged documents may differ if only some systems were pooled.
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*were judged far less")
            compare_systems(judged, given, metrics=["ndcg@10", "map"])


MODELS = [Ridge(), DummyRegressor(), KNeighborsRegressor(3), DecisionTreeRegressor(max_depth=3)]


def of_models(rng):
    label, _, qid = rows(rng)
    if len({*qid.tolist()}) < 4 or not is_lists(label, qid):
        return
    X = np.column_stack([scores(rng, label) for _ in range(3)])
    model = MODELS[rng.integers(4)]
    if rng.random() < 0.5:
        RankingEvaluator(["ndcg@10", "rmse"], cv=2).compare({"a": model, "b": Ridge()}, X, label, qid=qid)
    else:
        y = pd.Series(label, index=pd.Index(qid, name="qid"))
        for train, test in QueryKFold(2).split(X, y):
            get_scorer("ndcg@10")(QueryRanker(model).fit(X[train], y.iloc[train]), X[test], y.iloc[test])


class Popular(DummyRegressor):
    def fit(self, X, y=None):
        self.counts_ = pd.Series(np.asarray(X)[:, 1]).value_counts()
        return self

    def predict(self, X):
        return pd.Series(np.asarray(X)[:, 1]).map(self.counts_).to_numpy()


def of_recommenders(rng):
    n_users, items = int(rng.choice([8, 20, 40])), ids(rng, 30)
    user, item = np.repeat(ids(rng, n_users), 6), np.concatenate([rng.permutation(items)[:6] for _ in range(n_users)])
    X, is_test = pd.DataFrame({"user_id": user, "item_id": item}), np.arange(len(user)) % 6 > 3
    stars = rng.choice([1, 2, 3, 4, 5], len(user), p=[0.1, 0.1, 0.2, 0.4, 0.2])
    metric, y = [
        ("recall@5", None), ("map", np.ones(len(user))), ("ndcg@5", stars), ("recall@5", rng.geometric(0.6, len(user))),
        ("recall(min_relevance=4)@5", stars),
    ][rng.integers(5)]  # fmt: skip
    model = InteractionRecommender(Popular()).fit(X[~is_test])
    make_recommender_scorer(metric, items=items)(model, X[is_test], None if y is None else y[is_test])


def of_statistics(rng):
    label, score, qid = rows(rng)
    if len({*qid.tolist()}) > 3 and is_lists(label, qid):
        both = [evaluate(label, x, qid=qid, metrics="ndcg@10") for x in (score, scores(rng, label))]
        compare(*both, metric="ndcg@10")


KINDS = [of_rows, of_rows, of_rows, of_runs, of_runs, of_runs, of_matrices, of_models, of_recommenders, of_statistics]


def alarms(n, first=0):
    """Seeds of calls that warned or raised."""
    found = {}
    for seed in range(first, first + n):
        rng = np.random.default_rng(seed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                KINDS[seed % len(KINDS)](rng)
            except (ValueError, UserWarning) as error:
                found[seed] = str(error)
    return found


@pytest.mark.slow
def test_legitimate_calls_do_not_warn():
    assert alarms(300) == {}
    # Folds of few queries without any relevant document.
    assert [alarms(1, seed) for seed in (1027, 1517, 1637)] == [{}] * 3


def test_low_ranked_judged_documents_of_other_systems():
    """Other systems found them, so their relevance is no evidence against the list; without others it is."""
    label, score = np.tile([0, 1, 0, 0, 0, 1, np.nan, 1, np.nan, np.nan], 60), np.tile(np.arange(10, 0, -1.0), 60)
    qid, judged = np.repeat(np.arange(60), 10), ~np.isnan(label)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        evaluate(label, score, qid=qid, metrics="map", unjudged="nonrelevant")
        assert not told
        evaluate(label[judged], score[judged], qid=qid[judged], metrics="map")
    assert "worse than a random order" in str(told[0].message)


def test_the_right_document_alone_in_each_list():
    judgments = {f"q{i}": {f"d{i}": 1, f"d{i + 1}": 0} for i in range(60)}
    run = {query: [next(iter(grades))] for query, grades in judgments.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate_run(judgments, run, metrics=["mrr", "recall@5"]).mean() == {"mrr": 1, "recall@5": 1}


if __name__ == "__main__":
    told = alarms(int(sys.argv[1]), int([*sys.argv, 0][2]))
    print(len(told), *(f"{seed}: {message}" for seed, message in told.items()), sep="\n")
    sys.exit(bool(told))
