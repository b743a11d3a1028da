"""Folds and random draws depend only on the ids and the seed, not on the order or container of the rows."""

import datetime
import os
import subprocess
import sys

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from sklearn_rank import LeaveOneQueryOut, QueryKFold, QueryRanker, QueryShuffleSplit, RankingEvaluator

SPLITTERS = {
    "kfold": lambda: QueryKFold(4),
    "shuffled": lambda: QueryKFold(4, shuffle=True, random_state=0),
    "state": lambda: QueryKFold(4, shuffle=True, random_state=np.random.RandomState(0)),
    "halves": lambda: QueryShuffleSplit(3, test_size=0.3, random_state=0),
    "one out": lambda: LeaveOneQueryOut(),
    "evaluator": lambda: RankingEvaluator("map", cv=4),
}
KINDS = {
    "int": int,
    "text": lambda i: f"q{i}",
    "tuple": lambda i: (int(i) % 3, f"q{i}"),
    "mixed": lambda i: [int(i), f"q{i}", (int(i), "x"), i + 0.5, frozenset({int(i), "a", "b"})][i % 5],
    "date": lambda i: datetime.date(2020, 1, 1) + datetime.timedelta(days=int(i)),
}


def ids_of_folds(splitter, ids):
    """Sets of ids of each fold."""
    X, y, groups = np.zeros((len(ids), 1)), np.zeros(len(ids)), {"qid" if hasattr(splitter, "metrics") else "groups"}
    return [{ids[i] for i in test} for _, test in splitter.split(X, y, **dict.fromkeys(groups, ids))]


@pytest.mark.parametrize("make", SPLITTERS.values(), ids=SPLITTERS)
@pytest.mark.parametrize("as_id", KINDS.values(), ids=KINDS)
def test_folds_do_not_depend_on_the_order_of_rows(make, as_id, shuffled, rng):
    number = np.unique(shuffled[2], return_inverse=True)[1]
    ids = [as_id(i) for i in number]
    expected = ids_of_folds(make(), ids)
    for _ in range(3):
        assert ids_of_folds(make(), [ids[i] for i in rng.permutation(len(ids))]) == expected


@pytest.mark.parametrize("make", SPLITTERS.values(), ids=SPLITTERS)
def test_folds_do_not_depend_on_the_container_of_ids(make, rng):
    pd = pytest.importorskip("pandas")
    number = rng.integers(5, 45, 300)
    as_text = number.astype(str)
    containers = {
        "numbers": [
            number, number.tolist(), number.astype(np.uint8), number.astype(object), number.astype(float),
            pd.Series(number), pd.array(number, dtype="Int64"), pd.Categorical(number, categories=range(50, 0, -1)),
        ],
        "text": [
            as_text, as_text.tolist(), as_text.astype(object), as_text.astype(np.dtypes.StringDType()),
            pd.Series(as_text), pd.Series(as_text, dtype=object), pd.Series(as_text, dtype="string"),
            pd.Categorical(as_text, categories=rng.permutation(np.unique(as_text))),
        ],
    }  # fmt: skip
    for held in containers.values():
        found = [[{*map(float, ids)} for ids in ids_of_folds(make(), [*c])] for c in held]
        assert all(one == found[0] for one in found)


@pytest.mark.slow
def test_mixed_ids_have_the_same_order_in_every_process():
    code = (
        "from sklearn_rank import QueryKFold\n"
        "ids = ['b', 'a', frozenset({'u', 'x'}), frozenset({'v', 'w'}), ('a', 1), ('a', 'b'), 10, 9.5, b'a', 1]\n"
        "print([test.tolist() for _, test in QueryKFold(3).split(ids, groups=ids)])"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=120,
            env=os.environ | {"PYTHONHASHSEED": str(seed), "PYTHONPATH": ":".join(sys.path)},
        ).stdout
        for seed in (1, 5)  # this seed changes the iteration order of a set
    }  # fmt: skip
    assert len(found) == 1


class Finding(Ridge):
    """Keeps its training rows; the first feature is the number of the query."""

    def fit(self, X, y):
        self.seen_ = {*X[:, 0].astype(int).tolist()}
        return super().fit(X, y)


@pytest.fixture
def orders(shuffled, rng):
    """The same rows in three orders: X, with the number of the query as first feature, y and qid."""
    X, y, qid = shuffled
    X = np.column_stack([np.unique(qid, return_inverse=True)[1], X])
    return [(X[rows], y[rows], qid[rows]) for rows in (np.arange(len(y)), *(rng.permutation(len(y)) for _ in "ab"))]


@pytest.mark.parametrize("seed", [0, 1])
def test_queries_drawn_by_a_ranker(seed, orders):
    held_out, trained = [], []
    for X, y, qid in orders:
        booster = HistGradientBoostingRegressor(max_iter=3, early_stopping=True)
        ranker = QueryRanker(booster, eval_fraction=0.2, random_state=seed).fit(X, y, qid=qid)
        held_out.append({*ranker.eval_qid_.tolist()})
        trained.append(QueryRanker(Finding(), max_queries=10, random_state=seed).fit(X, y, qid=qid).estimator_.seen_)
    assert held_out[0] == held_out[1] == held_out[2]
    assert trained[0] == trained[1] == trained[2]
    assert len(held_out[0]) == 8
    assert len(trained[0]) == 10


def test_folds_and_drawn_queries_do_not_depend_on_the_order(orders):
    reports, drawn = [], []
    for X, y, qid in orders:
        evaluator = RankingEvaluator("map", cv=QueryKFold(4, shuffle=True, random_state=0))
        model = QueryRanker(Finding(), max_queries=20, random_state=0)
        reports.append(evaluator.compare({"a": Ridge()}, X, y, qid=qid).fold_means["a"]["map"])
        cv = evaluator.cross_validate(model, X, y, qid=qid, return_estimator=True)
        drawn.append([fitted.estimator_.seen_ for fitted in cv["estimator"]])
    assert drawn[0] == drawn[1] == drawn[2]
    for one in reports[1:]:
        np.testing.assert_allclose(one, reports[0])
