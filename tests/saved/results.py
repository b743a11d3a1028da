"""A small result of each kind that can be saved, and its numbers in plain words."""

import warnings

import numpy as np
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge

from sklearn_rank import RankingAccumulator, RankingEvaluator, compare_systems, evaluate, evaluate_table
from sklearn_rank.datasets import make_ranking
from sklearn_rank.results import Evaluation

X, Y, QID = make_ranking(n_queries=9, n_documents=(1, 5), random_state=0)
SCORE = np.round(X[:, 0], 1)
SCORE[::7] = -np.inf
NUMBERS = [*dict.fromkeys(QID.tolist())]
METRICS = ["ndcg@3", "map", "p@2", "rmse"]

ATTRIBUTES = {
    "size": QID % 3, "name": [f"n{q % 2}" for q in QID], "mixed": [q if q % 2 else f"{q}" for q in QID.tolist()],
}  # fmt: skip

IDS = {
    "integers": lambda q: q,
    "unsigned": lambda q: np.uint64(2**63 + q),
    "floats": lambda q: q / 3,
    "text": lambda q: f"fråga {q}\n" + "x" * q,
    "tuples": lambda q: ("q", (q, str(q))),
    "mixed": lambda q: q if q % 2 else ("q", q),
    "bytes": lambda q: b"q%d" % q,
    "dates": lambda q: np.datetime64("2024-02-28") + np.timedelta64(q, "D"),
    "durations": lambda q: np.timedelta64(q, "h"),
}
"""The id of a number, by kind."""


def evaluation(*, kind="integers", metrics=METRICS, **keywords):
    ids = [IDS[kind](q) for q in QID.tolist()]
    if kind in ("tuples", "mixed"):
        ids, given = np.empty(len(ids), dtype=object), ids
        ids[:] = given
    return evaluate(Y, np.where(np.isinf(SCORE), -9, SCORE) if "rmse" in metrics else SCORE, qid=ids, metrics=metrics,
                    **keywords)  # fmt: skip


def comparison():
    class Raises(Ridge):
        def fit(self, X, y):
            raise ValueError("no fit: å")

    models = {"flat": DummyRegressor(), "ridge": Ridge(), "none": Raises()}
    evaluator = RankingEvaluator(["ndcg@3", "map", "mse"], cv=3, baseline="ridge", correction="bonferroni")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FitFailedWarning)
        return evaluator.compare(models, X, Y, qid=QID, by={"size": QID % 3}, clusters=QID // 2)


def accumulated():
    accumulator = RankingAccumulator(["ndcg", "mrr"])
    for q in NUMBERS:
        accumulator.update(Y[q == QID], SCORE[q == QID], QID[q == QID])
    return accumulator.compute(clusters={q: q % 4 for q in NUMBERS})


def of_values():
    return Evaluation.from_values(["a", "b", "c"], {"own": [0.1, np.nan, 1 / 3]}, greater_is_better={"own": False})


RESULTS = {
    **{f"evaluation_{kind}": lambda kind=kind: evaluation(kind=kind) for kind in IDS},
    "weights": lambda: evaluation(sample_weight=QID + 0.5, metrics=["ndcg", "map"]),
    "attributes": lambda: evaluation(by=ATTRIBUTES, clusters=QID // 2),
    "micro": lambda: evaluation(metrics="p@2", average="micro"),
    "geometric": lambda: evaluation(metrics="map", average="geometric"),
    "undefined": lambda: evaluation(metrics=["ndcg", "auc"], replace_undefined_by=np.nan),
    "undefined_as_zero": lambda: evaluation(metrics=["auc", "map"]),
    "convention": lambda: evaluation(metrics={"as lightgbm": "ndcg(convention=lightgbm)@5"}),
    "own_function": lambda: evaluation(metrics={"first": lambda y, s: float(y[0])}),
    "batches": lambda: evaluate_table([(Y[:9], SCORE[:9], QID[:9]), (Y[9:], SCORE[9:], QID[9:])], metrics="map"),
    "accumulator": accumulated,
    "from_values": of_values,
    "comparison": comparison,
    "systems": lambda: compare_systems(Y, {"a": SCORE, "b": X[:, 1]}, qid=QID, metrics=["ndcg@3", "mrr"]),
}
"""What is saved under each name."""


# --- numbers -------------------------------------------------------------------------------------------------


def numbers_of(result):
    """All that a result has, in words that JSON keeps: floats are written so that they come back to the last bit."""
    if isinstance(result, Evaluation):
        return evaluation_numbers(result)
    return {
        "title": repr(result).splitlines()[0],
        "results": {model: evaluation_numbers(one) for model, one in result.results.items()},
        "y_score": {model: floats(score) for model, score in result.y_score.items()},
        "fold_means": {m: {k: floats(v) for k, v in means.items()} for m, means in result.fold_means.items()},
        "fit_times": {model: len(times) for model, times in result.fit_time.items()},
        "failures": {model: {str(i): text for i, text in of.items()} for model, of in result.failures.items()},
        "n_queries": [list(map(int, pair)) for pair in result.n_queries],
        "plan": [result.baseline, result.test, result.correction],
    }


def evaluation_numbers(result):
    optional = {"weight": result.weight, "clusters": result.clusters, **result.attributes}
    return {
        "qid": [str(result.qid.dtype), *map(repr, result.qid.tolist())],
        "mean": {name: float(value).hex() for name, value in result.mean().items()},
        "per_query": {name: floats(values) for name, values in result.per_query.items()},
        "n_undefined": {name: int(n) for name, n in result.n_undefined.items()},
        "meaning": result.meaning,
        "n_documents": numbers_of_documents(result),
        "fingerprints": None if result.label_fingerprints is None else result.label_fingerprints.tolist(),
        "optional": {
            name: [repr(v) for v in values.tolist()] for name, values in optional.items() if values is not None
        },
    }


def numbers_of_documents(result):
    try:
        return result.n_documents.tolist()
    except ValueError as error:  # never given
        return str(error)


def floats(values):
    return [float(value).hex() for value in np.ravel(values)]
