"""Public functions, classes and methods ("doors"), valid calls of each, and wrong values of the common arguments."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from copy import copy
from fnmatch import fnmatchcase
from functools import cache, partial

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin

import sklearn_rank
import sklearn_rank.metrics
from sklearn_rank import stats

NAN = float("nan")
Q = np.repeat(["a", "b", "c", "d", "e", "f"], 2)
N = len(Q)
Y = np.array([1.0, 0.0] * 6)
S = np.array([2.0, 1.0, 1.0, 2.0] * 3)
X = np.arange(2.0 * N).reshape(N, 2)


class Idle(RegressorMixin, BaseEstimator):
    """A model whose fit and predict report that work began."""

    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fit was called")

    def predict(self, X):
        raise AssertionError("predict was called")


THING = object()
INTERACTIONS = pd.DataFrame({"user_id": [*"aabb"], "item_id": [*"xyyx"], "time": [1, 2, 1, 2]})
FRAME = pd.DataFrame({"label": Y, "score": S, "qid": Q, "doc_id": range(N)})
QRELS, RUN = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.3}}
NONE = inspect.Parameter.empty


class Fitted(RegressorMixin, BaseEstimator):
    """A model that is fitted, and refuses to be fitted again."""

    def __init__(self):
        self.is_fitted_ = True

    fit = Idle.fit

    def predict(self, X):
        return np.asarray(X)[:, 0]


class Recommends(Idle):
    """A recommender that is fitted without work."""

    def fit(self, X, y=None, sample_weight=None):
        return self

    def recommend(self, users, k):
        raise AssertionError("recommend was called")


class Online(Idle):
    """A model that learns in parts."""

    def partial_fit(self, X, y, sample_weight=None):
        raise AssertionError("partial_fit was called")


# --- the public API ------------------------------------------------------------------------------------------


def public_modules():
    """The package and its modules with public names."""
    names = [info.name for info in pkgutil.walk_packages(sklearn_rank.__path__, "sklearn_rank.")]
    return [sklearn_rank, *(importlib.import_module(n) for n in names if "._" not in n and ".__" not in n)]


@cache
def doors():
    """Public functions, classes and their methods, by name without the name of the package."""
    found = {}
    for module in public_modules():
        names = getattr(module, "__all__", None) or [n for n in vars(module) if not n.startswith("_")]
        for name in names:
            item = getattr(module, name)
            if not callable(item) or not str(getattr(item, "__module__", "")).startswith("sklearn_rank"):
                continue
            is_metric = module is sklearn_rank and hasattr(sklearn_rank.metrics, name)  # it has its own module
            if is_metric or any(item is other for other, _ in found.values()):
                continue
            where = f"{module.__name__}.{name}".removeprefix("sklearn_rank.")
            if hasattr(module, "__all__") or item.__module__ == module.__name__:
                found[where] = (item, item)
                found |= {f"{where}.{n}": (getattr(item, n), item) for n in methods_of(item)}
    return {where: item for where, (item, _) in found.items()}


def methods_of(item):
    """Public methods of a class that this package defines; empty for a function."""
    if not inspect.isclass(item):
        return []
    return [
        name
        for name, value in inspect.getmembers(item, callable)
        if not name.startswith("_") and str(getattr(value, "__module__", "")).startswith("sklearn_rank")
    ]


def arguments_of(door):
    """Parameters of a door, without self."""
    try:
        parameters = inspect.signature(door).parameters
    except ValueError:
        return {}
    return {name: p for name, p in parameters.items() if name != "self"}


# --- valid calls in which one argument is replaced by a wrong value -----------------------------------------------


@cache
def a_result():
    return sklearn_rank.evaluate(Y, S, qid=Q, metrics=["ndcg@10", "map", "precision", "recall"])


@cache
def another_result():
    """The same result under two names; the same object twice would be misuse."""
    return copy(a_result())


@cache
def a_comparison():
    return sklearn_rank.compare_systems(Y, {"one": S, "two": -S}, qid=Q, metrics="ndcg")


@cache
def judged():
    """A result by people's labels, of five queries, and by a model's, of eight."""
    qid = np.repeat(range(8), 2)
    by_model = sklearn_rank.evaluate([1, 0, 1, 1] * 4, [1, 2] * 8, qid=qid, metrics="map")
    return sklearn_rank.evaluate([1, 0] * 5, [2, 1] * 5, qid=qid[:10], metrics="map"), by_model


def another_judged():
    """The same results once more."""
    return tuple(map(copy, judged()))


def a_ranker():
    from sklearn.linear_model import Ridge

    return sklearn_rank.QueryRanker(Ridge()).fit(X, Y, qid=Q)


def a_recommender():
    return sklearn_rank.InteractionRecommender(Recommends()).fit(X)


@cache
def spark_frame():
    """The active session: tests that need it have started one."""
    from pyspark.sql import SparkSession

    return SparkSession.active().createDataFrame(FRAME)


TWO = {"y_true": ["label", "doc_id"]}
TOGETHER = {
    "labels of subtopics": lambda at, rows: at.evaluate(rows, metrics=["alpha_ndcg", "map"], **TWO),
    "labels of subtopics, values": lambda at, rows: at.per_query(rows, metrics="map", **TWO),
    "a column twice": lambda at, rows: at.evaluate(rows, metrics="alpha_ndcg", y_true=["label", "label"]),
    "k beside a name": lambda at, rows: at.evaluate(rows, metrics="ndcg@10", k=5),
    "a keyword of another door": lambda at, rows: at.evaluate(rows, metrics="map", tie_break="doc_id"),
    "a keyword of no metric": lambda at, rows: at.per_query(rows, metrics="mrr", gain="linear"),
    "no mean": lambda at, rows: at.per_query(rows, metrics="ndcg", average=None),
    "pooled MRR": lambda at, rows: at.evaluate(rows, metrics="mrr", average="micro"),
    "weights named as a metric": lambda at, rows: at.per_query(rows, metrics={"weight": "map"}, sample_weight="label"),
    "values as rows": lambda at, rows: at.evaluate(at.per_query(rows, metrics="ndcg"), metrics="map"),
}
"""Calls of `sklearn_rank.spark` with arguments that do not go together."""


DISPLAYS = {
    "CutoffDisplay": lambda c: c([1, 2], [0.1, 0.2]),
    "DistributionDisplay": lambda c: c([0.1, 0.2]),
    "QueryPrecisionRecallDisplay": lambda c: c([0.1, 0.2], [0.3, 0.4]),
}


def a_display(name):
    return DISPLAYS[name](getattr(sklearn_rank.display, name))


@cache
def a_test():
    return stats.compare_all({"one": a_result(), "two": another_result()}, metric="map")


OBJECTS = {
    "results.Comparison": a_comparison,
    "results.Evaluation": a_result,
    "results.PreparedMetrics": lambda: sklearn_rank.prepare(Y, qid=Q, metrics="ndcg"),
    "RankingAccumulator": lambda: sklearn_rank.RankingAccumulator("ndcg"),
    "RankingEvaluator": lambda: sklearn_rank.RankingEvaluator("ndcg", cv=2),
    "QueryRanker.fit": lambda: sklearn_rank.QueryRanker(Idle()),
    "QueryRanker.partial_fit": lambda: sklearn_rank.QueryRanker(Online()),
    "QueryRanker": a_ranker,
    "InteractionRecommender": a_recommender,
    "results.Exposure": lambda: importlib.import_module("sklearn_rank.recommenders").exposure(
        {"u": [1], "v": [2]}, items=[1, 2], k=1, n_resamples=2
    ),
    "results.GateResult": lambda: stats.no_worse(new=a_result(), old=another_result(), margin=0.1),
    **{f"display.{name}": partial(a_display, name) for name in DISPLAYS},
}
"""What methods are called on; other classes are made without arguments."""

GIVEN = {
    "X": X, "y": Y, "y_true": Y, "y_score": S, "qid": Q, "groups": Q, "metric": "ndcg",
    "data": FRAME, "table": FRAME, "source": FRAME, "judgments": QRELS, "run": RUN,
    "estimators": {"idle": Idle()}, "difference": 0.1,
    "k": [1, 2], "mean": [0.1, 0.2], "precision": [0.3, 0.4], "recall": [0.1, 0.2], "curve": [0.1, 0.2],
    "means": {"a": 0.1, "b": 0.2}, "pvalues": {("a", "b"): 0.5}, "segments": ["x"], "overall": {"a": 0.1},
    "values": [0.1, 0.2], "n_documents": [1, 2], "scores_a": [0.1, 0.2, 0.4], "scores_b": [0.2, 0.1, 0.1],
    "n_train": 80, "n_test": 20, "indices": [[0, 1], [1, 0]], "distances": [[0.1, 0.2], [0.1, 0.3]],
    "query_labels": [0, 1], "database_labels": [0, 1], "query_features": np.eye(2), "database_features": np.eye(2),
    "items": [1, 2], "users": [1, 2], "a": "one", "b": "two", "doc_id": range(N),
    "margin": 0.1, "old": "one", "new": "two", "query": Q[0], "rounds": 5,
}  # fmt: skip
"""Right values, by the name of an argument."""


def given_to(where, folder):
    """Valid values of the required arguments of a door."""
    known = dict(GIVEN)
    name = where.rpartition(".")[2]
    systems = {"one": S, "two": -S}
    known |= {
        "estimator": Fitted() if name in ("query_permutation_importance", "from_estimator") else Idle(),
        "result": a_result(), "results": {"one": a_result(), "two": another_result()}, "comparison": a_comparison(),
        "test": a_test(),
        "by": {"a": "x", "b": "x", "c": "x", "d": "y", "e": "y", "f": "y"},
        "other": OBJECTS["RankingAccumulator"](), "path": folder / "file", "search": None,
    }  # fmt: skip
    if where.startswith("spark."):
        known |= {"data": spark_frame()}
    if where == "results.Evaluation.from_values":
        known |= {"qid": ["a", "b"], "values": {"map": [0.1, 0.2]}}
    if where in ("metric", "get_scorer"):
        known |= {"name": "mine"}
    if where == "stats.compare":
        known |= {"a": a_result(), "b": another_result(), "metric": "map"}
    if where == "compare_systems" or (where.startswith("display.") and name == "from_predictions"):
        of_several = ("compare_systems", "Critical", "Difference", "Segments", "Topics")
        several = any(word in where for word in of_several)
        known |= {"y_score": systems} if several else {}
        known |= {"data": Y}
    if where.startswith("display.Segments"):
        known |= {"values": {"a": [0.1]}}
        known |= {"by": {"half": [*"xxxxxxyyyyyy"]}} if name == "from_predictions" else {}
    if where in ("recommenders.exposure", "recommenders.intra_list_diversity"):
        known |= {"items": ["d1", "d2"], "k": 2, "groups": ["x", "y"], "vectors": np.eye(2)}
    if where == "stats.no_worse":
        known |= {"new": a_result(), "old": another_result()}
    if where in ("stats.judged_interval", "stats.compare_judged"):
        known |= {"human": judged()[0], "model": judged()[1], "new": judged(), "old": another_judged()}
    if where.startswith("stats.confidence_interval"):
        known |= {"values": a_result().per_query["map"]}
    return known


RETURNED = {
    "io.Entries", "io.RankingData", "results.Comparison", "results.CrossValidation",
    "results.FoldScores", "results.PairedTest", "results.Summary", "results.Evaluation",
    "results.Explanation", "results.MetricSpec", "results.PreparedMetrics", "results.Segments", "results.Table",
    "results.Exposure",
    "results.ThresholdCurve",
    "results.MetricSpec.read", "metrics.Ranked",
    "results.GateResult", "results.JudgeAgreement", "results.JudgedDifference", "results.JudgedInterval",
}  # fmt: skip
"""Classes that the library makes, and users only read: their constructors are no doors, their methods are."""


# --- calls ---------------------------------------------------------------------------------------------------


def called(where, argument, value, folder):
    """Call a door with a value of one argument, and valid values of the other required ones."""
    door, known = doors()[where], given_to(where, folder)
    parameters = arguments_of(door)
    needed = {n for n, p in parameters.items() if p.default is NONE and p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    needed |= {n for n in ("qid", "groups") if n in parameters and parameters[n].default is None}
    given = {n: known[n] for n in needed | ALSO.get(where, set()) if n != argument}
    owner, _, method = where.rpartition(".")
    if owner in doors() and not inspect.ismethod(door):
        door = getattr(OBJECTS.get(where, OBJECTS.get(owner, doors()[owner]))(), method)
    parameter = parameters[argument]
    first = [given.pop(n) for n, p in parameters.items() if p.kind is p.POSITIONAL_ONLY and n in given]
    door = partial(door, *first)
    if parameter.kind is parameter.VAR_KEYWORD:
        return used(door(**given, **value))
    if parameter.kind is parameter.VAR_POSITIONAL:
        return used(door(*value, **given))
    if parameter.kind is parameter.POSITIONAL_ONLY:
        return used(door(value, **given))
    return used(door(**given, **{argument: value}))


ALSO = {
    "compare_systems": {"data", "y_score"},
    "results.Evaluation.segments": {"by"},
    "stats.compare": {"metric"},
    "stats.compare_all": {"metric"},
    "display.DistributionDisplay.from_result": {"metric"},
    **{
        f"display.{name}Display.from_results": {"metric"}
        for name in ("CriticalDifference", "Difference", "Distribution", "Segments", "Topics")
    },
    "display.SegmentsDisplay.from_comparison": {"by"},
    "display.SegmentsDisplay.from_results": {"by", "metric"},
    "display.SegmentsDisplay.from_predictions": {"by"},
    "retrieval.evaluate_retrieval": {"database_features", "query_labels", "database_labels"},
    "retrieval.score_neighbors": {"query_labels", "database_labels"},
    "recommenders.intra_list_diversity": {"vectors"},
}
"""Arguments with a default without which nothing else is looked at."""


def used(made):
    """Result of a door; objects that check parameters on use, as scikit-learn requires, are used."""
    if inspect.isgenerator(made):
        return [*made]
    if isinstance(made, partial):  # the decorator of a metric
        return made(lambda r: r.at_cutoff(r.relevant))
    name = type(made).__name__
    if name in ("QueryKFold", "QueryShuffleSplit", "RepeatedQueryKFold", "QueryTimeSeriesSplit"):
        return [*made.split(X, Y, groups=Q)]
    if name in ("LeaveLastOut", "GlobalTimeSplit"):
        return [*made.split(INTERACTIONS)]
    if name == "InteractionRecommender":
        return made.fit(INTERACTIONS)
    if name == "QueryRanker":
        return made.fit(X, Y, qid=Q)
    if name == "RankingEvaluator":
        return made.compare({"idle": Idle()}, X, Y, qid=Q)
    return made


# --- wrong values --------------------------------------------------------------------------------------------

CHOICE = {"word": "nope", "list": [], "object": THING}
COUNT = {"zero": 0, "negative": -1, "float": 1.5, "text": "1", "NaN": NAN, "bool": True, "object": THING}
WRONG = {
    "y_true": {"number": 3, "object": THING},
    "y_score": {"number": 3, "object": THING},
    "qid": {"number": 3, "object": THING},
    "sample_weight": {"short": [1] * (N - 1), "negative": [-1] * N, "text": ["x"] * N, "object": THING},
    "metrics": {"typo": "ndgc", "cutoff": "ndcg@0", "empty": [], "twice": ["map", "map"], "number": 3, "None": None},
    "metric": {"typo": "ndgc", "number": 3, "object": THING},
    "k": {"zero": 0, "negative": -1, "float": 1.5, "text": "3", "bool": True, "object": THING},
    "ties": CHOICE,
    "average": CHOICE,
    "missing": CHOICE,
    "unjudged": CHOICE,
    "min_relevance": {"text": "nope", "object": THING, "bool": True},
    "n_jobs": {"zero": 0, "text": "2", "float": 1.5, "bool": True, "object": THING},
    "random_state": {"text": "x", "float": 1.5, "negative": -1, "large": 2**32, "object": THING},
    "n_splits": COUNT,
    "n_resamples": COUNT,
    "test_size": {"zero": 0, "negative": -1, "above": 1.5, "text": "x", "NaN": NAN, "bool": True, "object": THING},
    "confidence_level": {"percent": 95, "negative": -0.1, "text": "1", "NaN": NAN, "object": THING},
    "margin": {"negative": -0.1, "typo": {"ndgc@10": 0.1}, "empty": {}, "text": "1", "NaN": NAN, "object": THING},
    "estimator": {"None": None, "text": "x", "class": Idle, "object": THING},
    "results": {"None": None, "text": "x", "empty": {}, "one": {"a": None}, "object": THING},
}
"""Wrong values of twenty arguments that many doors share."""
ROWS = {
    "y_true": {"text": ["x"] * N, "short": Y[:-1], "NaN": [NAN, *Y[1:]], "inf": [float("inf"), *Y[1:]], "None": None},
    "y_score": {"text": ["x"] * N, "short": S[:-1], "NaN": [NAN, *S[1:]], "None": None},
    "qid": {"short": Q[:-1], "2-D": [Q], "None in it": [None, *Q[1:]], "unhashable": [["a", []], *Q[1:]]},
    "sample_weight": {"not constant": range(1, N + 1)},
}
"""Further ones where an argument has an entry a row."""
TABLES = "data", "table", "source", "judgments"


LONG = "x" * 2**12
"""A message shortens it."""
OTHERS = (
    "*fit(sample_weight)",
    "group_sizes(qid)",
    "display.*Display(metric)",
    *(f"metrics.{name}(y_true)" for name in ("bpref_score", "infap_score", "judged_score", "rbp_residual_error")),
)
"""Arguments that take more values: the model checks them, or they are only drawn, or NaN means unjudged."""


def wrong_values(where, argument):
    """Wrong values of an argument of a door, by the kind of fault; empty if the table does not have it."""
    if argument not in WRONG or any(fnmatchcase(f"{where}({argument})", other) for other in OTHERS):
        return {}
    rows = {} if {*TABLES} & {*arguments_of(doors()[where])} else ROWS.get(argument, {})
    return WRONG[argument] | rows | {"long": LONG}
