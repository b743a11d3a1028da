"""Copies: a feature or system that equals the label, models that share an estimator, and frozen models."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from misuse_cases import seen
from scipy.sparse import csr_array
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    QueryRanker,
    RankingEvaluator,
    compare_systems,
    make_ranking_scorer,
    query_permutation_importance,
)
from sklearn_rank._data import doors
from sklearn_rank._data.table import ALL_DOORS
from sklearn_rank._misuse.models import COPY, copies_of_label
from sklearn_rank.retrieval import threshold_curve

RNG = np.random.default_rng(0)
Y, QID = RNG.integers(0, 3, 300), np.repeat(np.arange(30), 10)
X = pd.DataFrame(RNG.random((300, 3)), columns=["a", "b", "c"])
COPIED = X.assign(b=Y.astype(float))


def of_ranker(X, **options):
    model = GradientBoostingRegressor(n_estimators=2)
    QueryRanker(model, eval_metric="ndcg", eval_fraction=0.2, random_state=0, **options).fit(X, Y, qid=QID)


def of_search(X, **options):
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]})
    RankingEvaluator("ndcg", cv=2, **options).search(search, X, Y, qid=QID)


CALLS = {
    doors.SCORER: lambda X: make_ranking_scorer(["ndcg"])(Ridge().fit(X, Y), X, Y, qid=QID),
    doors.COMPARE: lambda X, **o: RankingEvaluator("ndcg", cv=2, **o).compare({"a": Ridge()}, X, Y, qid=QID),
    doors.CROSS_VALIDATE: lambda X, **o: RankingEvaluator("ndcg", cv=2, **o).cross_validate(Ridge(), X, Y, qid=QID),
    doors.SEARCH: of_search,
    doors.RANKER: of_ranker,
    doors.IMPORTANCE: lambda X, **o: query_permutation_importance(Ridge().fit(X, Y), X, Y, qid=QID, **o),
    doors.SYSTEMS: lambda X: compare_systems(Y, X, qid=QID),
    doors.THRESHOLDS: lambda X: threshold_curve(Y, X["b"], qid=QID),
}


@pytest.mark.parametrize("door", CALLS, ids=lambda door: door.name)
def test_a_copy_of_the_label(door):
    assert {*CALLS} == {door for door in ALL_DOORS if door.outcome(COPY)}
    call, is_error = CALLS[door], door.outcome(COPY) == "error"
    assert seen(call, COPIED) == (([], COPY.name) if is_error else ([COPY.name], ""))
    assert seen(call, COPIED.assign(b=2 * Y + 1)) == seen(call, COPIED)
    assert seen(call, X) == ([], "")
    if is_error:
        assert seen(call, COPIED, on_misuse="warn") == ([COPY.name], "")


def test_a_system_that_is_the_label():
    """In dictionaries of arrays, tables and runs; not of one label, other scores, or relevant documents at the top."""
    judged = {q: {f"d{i}": int(Y[10 * q + i]) for i in range(10)} for q in range(30)}
    noise = {q: {d: float(i) for i, d in enumerate(of_query)} for q, of_query in judged.items()}
    table = pd.DataFrame({"label": Y, "qid": QID, "gold": Y, "a": X["a"]})
    calls = [
        lambda: compare_systems(Y, {"gold": Y, "a": X["a"].to_numpy()}, qid=QID),
        lambda: compare_systems(table, {"gold": "gold", "a": "a"}),
        lambda: compare_systems(judged, {"gold": judged, "a": noise}),
        lambda: compare_systems(Y, {"gold": 0.5 * Y + 1, "a": X["a"].to_numpy()}, qid=QID),
    ]
    for call in calls:
        assert COPY.name in seen(call)[0]
    first = {q: [max(of_query, key=of_query.get)] for q, of_query in judged.items()}
    for y, systems, options in (
        (Y, {"a": X["a"].to_numpy(), "b": Y + X["b"].to_numpy()}, {"qid": QID}),
        (Y[:10], {"gold": Y[:10], "a": X["a"].to_numpy()[:10]}, {"qid": QID[:10] // 5}),
        (judged, {"first": first, "a": {q: [*reversed(of_query)] for q, of_query in judged.items()}}, {}),
    ):
        assert COPY.name not in seen(compare_systems, y, systems, **options)[0]


@pytest.mark.parametrize(
    ("features", "label", "is_found"),
    [
        (COPIED.to_numpy(), Y, True),
        (pl.from_pandas(COPIED), Y, True),
        (COPIED.assign(a="text", c=pd.array([None] * 300, dtype="Int64")), pd.Series(Y), True),
        (COPIED, Y.astype(float), True),
        (COPIED.assign(b=Y * 2), Y, True),
        (COPIED.assign(b=0.1 * Y + 1), Y, True),
        (COPIED.assign(b=Y + 1).to_numpy(), Y, True),
        (COPIED.assign(b=Y**2), Y, False),
        (COPIED.assign(b=Y + 1e-6 * np.arange(300)), Y, False),
        (COPIED.assign(b=np.append(Y[:-1] + 1, 7)), Y, False),
        (COPIED, np.append(Y[:-1], 3), False),
        (COPIED, Y.astype(str), False),
        (COPIED[:20], Y[:20], True),
        (COPIED[:19], Y[:19], False),
        (X.assign(b=1.0), np.ones(300), False),
        (csr_array(COPIED.to_numpy()), Y, False),
        (pa.Table.from_pandas(COPIED), Y, False),
        (COPIED.to_numpy().tolist(), Y, False),
        (COPIED, np.stack([Y, Y], axis=1), False),
    ],
)
def test_compared_features(features, label, is_found):
    assert bool([*copies_of_label(features, label)]) == is_found


def test_models_that_share_an_estimator():
    evaluator, inner, name = RankingEvaluator("ndcg", cv=2), Ridge(), "one model twice"

    def compared(a, b):
        return seen(evaluator.compare, {"a": a, "b": b}, X, Y, qid=QID)

    weak, strong = make_pipeline(StandardScaler(), inner), make_pipeline(StandardScaler(), inner.set_params(alpha=9))
    assert compared(weak, strong) == ([], name)
    assert compared(QueryRanker(inner), QueryRanker(inner)) == ([], name)
    assert compared(make_pipeline(StandardScaler(with_mean=False), inner), strong) == ([], "")
    assert compared(make_pipeline(StandardScaler(), Ridge()), make_pipeline(StandardScaler(), Ridge())) == ([], "")
    assert compared(QueryRanker(inner), make_pipeline(inner)) == ([], "")
