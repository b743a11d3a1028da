"""Kinds of arguments and their wrong values; an argument has a kind by its name, or by door and name."""

from datetime import date
from fnmatch import fnmatchcase

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin

import sklearn_rank

NAN, INF = float("nan"), float("inf")
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


def entry(values, at, value):
    """As a list, with another entry."""
    values = list(values)
    values[at] = value
    return values


THING = object()
OF_ROWS = {"text": ["x"] * N, "short": Y[:-1], "long": [*Y, 1.0], "3-D": np.ones((N, 1, 2)), "complex": Y + 1j,
           "dates": np.array([date(2020, 1, 1)] * N), "ragged": [[1], [1, 2]] * 6, "dict": {"a": 1}, "object": THING,
           "number": 3, "empty": []}  # fmt: skip
TEXTS = {"number": 3, "list": ["x"], "object": THING}
NUMBER = {"text": "1", "NaN": NAN, "inf": INF, "list": [1], "object": THING, "None": None, "complex": 1j, "bool": True}

KINDS = {
    "labels": {**OF_ROWS, "NaN": entry(Y, 1, NAN), "inf": entry(Y, 1, INF), "None": None},
    "scores": {**OF_ROWS, "NaN": entry(S, 1, NAN), "inf": entry(S, 1, INF), "None": None},
    "targets": {"short": Y[:-1], "None": None, "number": 3, "object": THING},
    "qid": {"short": Q[:-1], "long": [*Q, "g"], "2-D": [Q], "None in it": entry(Q, 0, None), "number": 3, "NaN":
        entry(np.arange(12.0), 0, NAN), "unhashable": entry(Q, 0, ["a", []]), "object": THING},
    "weights": {"short": [1] * (N - 1), "negative": [-1] * N, "zero": [0] * N, "NaN": [NAN] * N, "inf": [INF] * N,
        "text": ["x"] * N, "2-D": np.ones((N, 2)), "not constant": range(1, N + 1), "object": THING, "dict": {}},
    "metrics": {"typo": "ndgc", "number": 3, "object": THING, "empty": [], "twice": ["map", "map"], "None": None,
        "numbers": [3], "cutoff": "ndcg@0", "dict": {"a": 3}, "no dict": {}, "bytes": b"map", "bool": True},
    "metric": {"typo": "ndgc", "number": 3, "object": THING, "empty": "", "cutoff": "ndcg@0", "bytes": b"map",
        "list": [], "None": None},
    "metric in result": {"typo": "ndgc", "number": 3, "object": THING, "list": ["map"], "empty": ""},
    "n_jobs": {"zero": 0, "text": "2", "float": 1.5, "bool": True, "list": [1], "NaN": NAN, "object": THING},
    "random_state": {"text": "x", "float": 1.5, "negative": -1, "object": THING, "list": ["x"], "large": 2**32},
    "choice": {"word": "nope", "number": 3, "list": [], "object": THING, "None": None, "bool": True},
    "choice or None": {"word": "nope", "number": 3, "list": [], "object": THING, "bool": True},
    "bool": {"text": "no", "number": 2, "None": None, "list": [], "array": np.array([True, False]), "object":
        THING},
    "bool or None": {"text": "no", "number": 2, "list": [], "object": THING},
    "count": {"zero": 0, "negative": -1, "float": 1.5, **NUMBER},
    "count or None": {"zero": 0, "negative": -1, "float": 1.5, **{k: v for k, v in NUMBER.items() if k != "None"}},
    "level": {"zero": 0, "one": 1, "percent": 95, "negative": -0.1, **NUMBER},
    "positive": {"zero": 0, "negative": -1, **NUMBER},
    "number": NUMBER,
    "number or None": {"text": "1", "inf": INF, "list": [1], "object": THING, "complex": 1j, "bool": True},
    "not negative": {"negative": -1, **NUMBER},
    "pvalue or None": {"negative": -0.1, "percent": 5, "text": "1", "NaN": NAN, "list": [1], "object": THING},
    "level or nothing": {"zero": 0, "percent": 95, "text": "1", "NaN": NAN, "list": [1], "object": THING},
    "numbers to draw": {"text": ["x", "y"], "None": None, "number": 3, "object": THING, "word": "x", "empty": [],
        "3-D": np.ones((1, 1, 2)), "dict": {"a": 1}},
    "ids": {"None in it": entry(Q, 0, None), "number": 3, "NaN": entry(np.arange(12.0), 0, NAN), "2-D": [Q],
        "unhashable": entry(Q, 0, ["a", []]), "object": THING, "None": None},
    "yes or no per metric": {"number": 3, "text": "x", "list": [True], "object": THING},
    "nothing": {},
    "lists of a page": {"negative": -1, "text": "x", "float": 1.5, "object": THING, "None": None, "bool": True,
        "unknown": ["nope"], "unhashable": [[1]]},
    "path": {"number": 3, "None": None, "object": THING, "list": []},
    "folder": {"number": 3, "object": THING, "list": [], "none": "/no/such/folder"},
    "column": {"none": "nope", "None": None, "object": THING, "list": ["nope"], "number": 3},
    "column or None": {"none": "nope", "object": THING, "number": 3},
    "text": {**TEXTS, "None": None},
    "text or None": TEXTS,
    "unknown": {"unknown": {"nothing_known": 1}},
    "axes": {"text": "x", "number": 3, "object": THING, "list": []},
    "estimator": {"None": None, "text": "x", "number": 3, "class": Idle, "object": THING},
    "function or None": {"text": "x", "number": 3, "object": THING},
    "function": {"text": "x", "number": 3, "object": THING, "None": None},
    "table": {"text": "x", "number": 3, "None": None, "list": [1, 2], "object": THING, "array": X},
    "result": {"None": None, "text": "x", "number": 3, "object": THING, "dict": {}, "class":
        sklearn_rank.results.Evaluation},
    "results": {"None": None, "text": "x", "number": 3, "object": THING, "empty": {}, "one": {"a": None}, "list":
        [3, 4]},
    "results of runs": {"None": None, "text": "x", "number": 3, "object": THING, "empty": [],
                        "numbers": [[0.1], [0.2]]},
    "mapping": {"text": "x", "number": 3, "list": [1], "object": THING, "None": None},
    "mapping or None": {"text": "x", "number": 3, "list": [1], "object": THING},
    "numbers": {"text": ["x", "y"], "None": None, "number": 3, "NaN": [NAN, 1], "object": THING, "word": "x",
        "empty": [], "3-D": np.ones((1, 1, 2)), "dict": {"a": 1}},
    "mask": {"short": np.ones(N - 1, bool), "numbers": [2] * N, "text": ["x"] * N, "object": THING, "number": 3,
        "2-D": np.ones((N, 2), bool)},
    "tie_break": {"short": Y[:-1], "object": THING, "number": 3, "2-D": np.ones((N, 2)), "NaN": entry(Y, 0, NAN)},
    "by": {"short": {"a": Q[:-1]}, "number": 3, "object": THING, "text": "x", "not constant": {"a": range(N)},
        "2-D": {"a": np.ones((N, 2))}},
    "clusters": {"short": Q[:-1], "number": 3, "object": THING, "not constant": range(N), "2-D": np.ones((N, 2)),
        "None in it": [None] * N},
    "time": {"short": Q[:-1], "number": 3, "object": THING, "text": ["x"] * N, "NaN": [NAN] * N, "2-D": np.ones((N,
        2)), "not constant": range(N)},
    "time of rows": {"short": Q[:-1], "number": 3, "object": THING, "text": ["x"] * N, "NaN": [NAN] * N, "2-D":
        np.ones((N, 2))},
    "first time": {"object": THING, "text": "x", "NaN": NAN, "list": [1], "late": 10**9},
    "query ids": {"short": [1], "number": 3, "2-D": [[1, 2]], "twice": [1, 1], "None in it": [None, 1], "object":
        THING},
    "by query": {"none": {"nope": 1}, "number": 3, "text": "x", "list": [1], "object": THING},
    "by of result": {"nope": "nope", "number": 3, "object": THING, "empty": []},
    "weights of two": {"short": [1], "negative": [-1, -1], "text": ["x", "y"], "NaN": [NAN, 1], "object": THING,
        "number": 3},
    "labels of two": {"short": [1], "3-D": np.ones((2, 1, 2)), "object": THING, "number": 3},
    "features of two": {"text": [["x", "y"]] * 2, "number": 3, "object": THING, "1-D": [1, 2], "NaN": [[NAN, 1], [1,
        2]], "columns": np.ones((2, 3))},
    "systems": {"number": 3, "object": THING, "empty": {}, "numbers": {"a": 3, "b": 4}, "text": "x", "None": None,
        "short": {"a": S[:-1], "b": S}, "NaN": {"a": entry(S, 0, NAN), "b": S}},
    "fraction": {"above": 1.5, "below": -0.1, **NUMBER},
    "cutoffs": {"zero": 0, "negative": -1, "float": 1.5, "text": "3", "empty": [], "2-D": [[1]], "NaN": NAN, "bool":
        True, "object": THING, "a zero": [1, 0]},
    "average": {"word": "nope", "number": 3, "list": [], "object": THING, "bool": True},
    "choice or number": {"word": "nope", "list": [], "object": THING, "bool": True, "None": None},
    "name": {"none": "nope", "number": 3, "object": THING, "list": []},
    "tag": {"None": None, "number": 3, "space": "a b", "empty": "", "object": THING},
    "columns": {"none": "nope", "None": None, "object": THING, "list": ["nope"], "empty": [], "number": 3},
    "columns or None": {"none": "nope", "object": THING, "list": ["nope"], "empty": [], "number": 3},
    "run": {"number": 3, "None": None, "text": "x", "object": THING, "list": [1], "numbers": {"q": 1}, "text in it":
        {"q1": {"d1": "x"}}, "NaN": {"q1": {"d1": NAN}}, "empty": {}},
    "exclude": {"number": 3, "text": "x", "object": THING, "numbers": {"q1": 3}, "word": {"q1": "d1"}},
    "documents of chunks": {"number": 3, "text": "x", "object": THING, "without": {"x": "y"}, "unhashable": lambda c:
        [c]},
    "distances or None": {"text": [["x"]], "number": 3, "object": THING, "short": [[0.1]], "NaN": [[NAN], [0.1]]},
    "separator": {"two": "::", "empty": "", "number": 3, "list": [], "object": THING},
    "sizes": {"empty": [], "zero": [0, 2], "float": [1.5], "2-D": [[1]], "text": ["x"], "number": 3, "None": None,
        "NaN": [NAN], "negative": [-1], "bool": [True], "object": THING},
    "qids": {"none": ["nope"], "number": 3, "text": "x", "object": THING, "None": None, "2-D": [["a"]]},
    "cv": {"text": "x", "one": 1, "float": 2.5, "object": THING, "bool": True, "many": 100, "None": None},
    "train_sizes": {"empty": [], "zero": [0], "above": [1.5], "text": "x", "NaN": [NAN], "number": 0.5, "object":
        THING, "negative": [-1], "many": [100]},
    "size or None": {"zero": 0, "negative": -1, "above": 1.5, "text": "x", "NaN": NAN, "bool": True, "many": 100,
        "list": [1], "object": THING},
    "gap": {"negative": -1, "text": "x", "NaN": NAN, "object": THING, "None": None, "list": [1]},
    "level or None": {"zero": 0, "one": 1, "percent": 95, "text": "1", "NaN": NAN, "bool": True, "object": THING,
        "list": [1]},
    "eval_set": {"number": 3, "text": "x", "short": (X,), "object": THING, "rows": (X, Y[:-1], Q), "list": [1, 2,
        3]},
    "numbers or None": {"text": ["x", "y"], "object": THING, "word": "x", "number": 3, "short": [1]},
    "arrays": {"none": (), "short": (X, Y[:-1]), "number": (3,), "None": (None,), "object": (THING,)},
    "aliases": {"number": 3, "None": None, "numbers": [3], "taken": ["map"], "object": THING},
    "pools": {"number": 3, "text": "x", "object": THING, "list": [1]},
    "measures": {"number": 3, "None": None, "typo": {"nope"}, "numbers": {3}, "object": THING},
    "grades": {"number": 3, "text": "x", "empty": [], "NaN": [NAN], "None": None, "object": THING},
    "count range": {"zero": 0, "text": "x", "falling": (3, 1), "one": (1,), "float": 1.5, "NaN": NAN, "object":
        THING},
    "positive or None": {"zero": 0, "negative": -1, "text": "1", "NaN": NAN, "bool": True, "object": THING},
    "indices": {"text": [["x"]], "number": 3, "None": None, "object": THING, "float": [[0.5, 1.5], [1, 0]],
        "outside": [[0, 99], [0, 1]]},
    "indices or None": {"text": [["x"]], "number": 3, "object": THING, "short": [[0]]},
    "names": {"one": ("a",), "number": 3, "text": "ab", "None": None, "object": THING},
    "texts": {"number": 3, "None": None, "text": "x", "object": THING, "many": ["x", "y"]},
    "estimators": {"None": None, "text": "x", "number": 3, "object": THING, "empty": {}, "numbers": {"a": 3},
        "list": [Idle()], "class": {"a": Idle}, "one": Idle()},
    "unused": {},
    "of the model": {},
    "round": {"negative": -1, "float": 1.5, "text": "1", "NaN": NAN, "list": [1], "object": THING, "bool": True},
    "targets of a model": {"short": Y[:-1], "number": 3, "object": THING},
    "labels with gaps": {**OF_ROWS, "inf": entry(Y, 1, INF), "None": None},
    "of a metric": {"text": "nope", "object": THING, "complex": 1j, "bool": True, "empty": []},
    "weights of a part": {"short": [1] * (N - 1), "negative": [-1] * N, "NaN": [NAN] * N, "text": ["x"] * N,
        "not constant": range(1, N + 1), "object": THING},
    "distance": {"word": "nope", "number": 3, "list": [], "object": THING, "bool": True},
    "judgments or None": {"number": 3, "text": "x", "object": THING, "list": [1], "numbers": {"q": 1}},
    "judgments": {"number": 3, "None": None, "text": "x", "object": THING, "list": [1], "numbers": {"q": 1}},
    "response": {"word": "nope", "number": 3, "list": [], "object": THING, "None": None, "numbers": [3]},
    "documents": {"short": range(N - 1), "number": 3, "None": None, "blank": ["a b"] * N, "twice": ["d"] * N},
    "numbers of queries": {"text": ["x", "y"], "None": None, "number": 3, "object": THING, "word": "x", "3-D":
        np.ones((1, 1, 2))},
    "pvalues": {"text": ["x", "y"], "None": None, "object": THING, "word": "x", "above": [2.0], "below": [-0.1]},
    "features": {"short": X[:-1], "None": None, "number": 3, "object": THING},
    "margin": {"negative": -0.1, "large": 1.5, "typo": {"ndgc@10": 0.1}, "empty": {}, "text in it": {"map": "1"},
        "negative in it": {"map": -0.1}, **NUMBER},
    "pair of results": {"None": None, "text": "xy", "number": 3, "object": THING, "one": ("x",),
        "texts": ("x", "y")},
    "grades by document": {"text": "x", "number": 3, "object": THING, "None": None, "short": [1], "dict": {"q": {"d":
        1}}, "text in it": ["x", "y"], "inf": [INF, 1], "NaN": [NAN, NAN]},
    "interactions": {"1-D": Y, "one column": X[:, :1], "None": None, "number": 3, "object": THING},
    "items": {"empty": [], "twice": [1, 1], "None in it": [None, 1], "2-D": np.ones((2, 2)), "unhashable": [[1], [2]],
        "text": "x", "None": None, "number": 3, "object": THING},
    "pairs of users and items": {"number": 3, "text": "x", "object": THING, "1-D": [1, 2], "numbers": {"u": 3},
        "others": {"u": ["nope"]}},
    "groups of items": {"short": ["x"], "number": 3, "object": THING, "text": "xy", "some": {"d1": "x"}},
    "matrix of items": {"short": [[1.0]], "number": 3, "object": THING, "text": [["x"], ["y"]], "NaN": [[NAN], [1]]},
    "column of interactions": {"none": "nope", "outside": 99, "float": 0.5, "list": ["nope"], "bool": True, "object":
        THING},
    "query of result": {"none": "nope", "object": THING, "list": []},
    "column to come": {"float": 0.5, "list": ["nope"], "bool": True, "object": THING},
}  # fmt: skip

KIND_OF = {
    "y_true": "labels", "y_score": "scores", "y": "targets", "X": "features", "qid":
    "qid", "groups": "qid", "sample_weight": "weights", "weight": "weights", "mask": "mask", "tie_break":
    "tie_break", "by": "by", "clusters": "clusters", "time": "time", "query_ids": "query ids", "data": "table",
    "table": "table", "source": "table", "path": "path", "folder": "folder", "value": "column", "metrics": "metrics",
    "metric": "metric", "eval_metric": "metric", "keywords": "unknown", "params": "unknown", "options": "unknown",
    "kwargs": "unknown", "k": "cutoffs", "average": "average",
    **dict.fromkeys("missing_from_run missing_from_qrels duplicates negative tie_order test alternative missing scope "
    "method ties stop marks variant rounding tied_curve no_relevant precision_at denominator "
    "on_misuse".split(), "choice"),
    **dict.fromkeys("unjudged correction convention format".split(), "choice or None"),
    **dict.fromkeys("assume_grouped float32 exclude_self higher_is_nearer progress shuffle string_qid sort_by_qid full "
    "adjusted chance return_train_score return_estimator return_indices judged_docs_only_flag".split(), "bool"),
    "greater_is_better": "bool or None",
    **dict.fromkeys("n_splits n_repeats n_resamples n n_bins n_queries n_features digits memory_limit".split(),
    "count"),
    **dict.fromkeys("max_queries early_stopping_rounds max_train_size best_iteration n_database n_informative".split(),
    "count or None"), "confidence_level": "level", "alpha": "level", "power": "level", "n_jobs": "n_jobs",
    "random_state": "random_state", **dict.fromkeys("n_train n_test".split(), "positive"), "std": "not negative",
    "noise": "not negative", "difference": "number", "baseline": "name", "model": "name", "a": "name", "b": "name",
    "name": "text or None", "prefix": "text", "tag": "tag", "ax": "axes", "comparison": "result", "other": "result",
    "missing": "choice or number", "response_method": "response", "judgments": "run", "run": "run",
    "exclude": "exclude", "separator": "separator", "document_of": "documents of chunks", "aggregate":
    "choice", "items": "items", "users": "of the model",
    "sizes": "sizes", "qids": "qids", "cv": "cv", "train_sizes": "train_sizes", "test_size":
    "size or None", "train_size": "size or None", "gap": "gap", "eval_fraction": "level or None", "eval_set":
    "eval_set", "eval_qid": "pools",
    "classes": "numbers or None", "transform": "choice or None", "arrays": "arrays", "aliases":
    "aliases", "properties": "unknown", "pools": "pools", "query_relevance": "run", "scores": "run", "measures":
    "measures", "measure": "metric", "values": "numbers", "relevance_level":
    "number", "grades": "grades", "n_documents": "count range", "pvalues": "numbers", "scores_a": "numbers",
    "scores_b": "numbers", "distance": "choice", "distance_params": "mapping or None", "relevance":
    "function or None", "mean": "numbers", "working_memory": "positive or None", "indices": "indices", "distances":
    "numbers", "true_indices": "indices or None", "tolerance":
    "not negative", "true_distances": "distances or None", "query_labels": "labels of two", "database_labels":
    "labels of two", "query_features": "features of two", "database_features": "features of two", "qid_values":
    "qid", "curve": "numbers", "low": "numbers or None", "high": "numbers or None", "precision": "numbers",
    "recall": "numbers", "empty": "numbers or None", "answered": "numbers or None",
    "levels": "numbers", "means": "mapping", "names": "names", "note": "text", "segments":
    "texts", "overall": "mapping", "difference_from": "name", "undefined": "mapping or None", "meaning":
    "mapping or None", "label_fingerprints": "numbers or None", "estimator": "estimator", "estimators":
    "estimators", "search": "estimator", "result": "result", "results": "results", "on_fold": "function or None",
    "on_round": "function or None", "intervals": "mapping or None", "confidence_interval": "numbers or None",
    "as_row": "bool", "runs": "results of runs", "train": "pairs of users and items",
    **dict.fromkeys("vectors similarity".split(), "matrix of items"),
    "show_points": "bool", "pvalue": "pvalue or None", "margin": "margin", "largest_loss": "margin", "old": "name",
    "new": "name",
    "query": "query of result", "ranks": "choice", "rounds": "count",
}  # fmt: skip

KIND_AT = {
    "boosting.xgboost_early_stopping([dsm][ai][tvn]*)": "of the model", "*.to_judge(n)": "count",
    "display.EvalCurveDisplay(best_iteration)": "round", "*from_*(show_points)": "bool or None",
    **dict.fromkeys(["QueryRanker.predict(X)", "QueryRanker.score(X)", "QueryRanker.partial_fit(classes)",
    "QueryRanker.set_output(*)", "QueryRanker.fit(sample_weight)", "QueryRanker.fit(arguments)",
    "QueryRanker.partial_fit(sample_weight)"],
    "of the model"), "RankingAccumulator.update(sample_weight)": "weights of a part", "metrics.*(average)":
    "average", "metrics.*(sample_weight)": "weights", "metrics.incomplete.*(y_true)": "labels with gaps",
    "QueryRanker.fit(y)": "targets of a model", "QueryRanker.partial_fit(y)": "targets of a model",
    "io.read_svmlight(options)": "of the model", "metrics.*(y_true)": "labels", "metrics.*(y_score)": "scores",
    **dict.fromkeys(["metrics.*(max_grade)", "metrics.*(base)", "metrics.*(p)", "metrics.*(beta)",
    "metrics.*(decay)", "metrics.*(threshold)", "metrics.*(min_relevance)", "metrics.*(replace_undefined_by)",
    "metrics.*(gain)", "metrics.*(discount)", "metrics.*(max_fpr)", "metrics.*(recall)", "metrics.*(alpha)"],
    "of a metric"), "*Evaluation.from_values(clusters)": "nothing", "*Evaluation.from_values(by)": "nothing",
    "*Evaluation.from_values(weight)": "weights", "*Evaluation.segments(confidence_level)": "level",
    "retrieval.evaluate_retrieval(distance)": "distance", "retrieval.make_retrieval_scorer(distance)": "nothing",
    "retrieval.score_neighbors(distances)": "indices or None", "recommenders.exposure(k)": "count",
    "recommenders.intra_list_diversity(k)": "count", "recommenders.exposure(groups)": "groups of items",
    "recommenders.exposure(n_resamples)": "count or None", "recommenders.exposure(judgments)": "judgments or None",
    "*Display.plot(kwargs)": "nothing",
    "*.from_*(kwargs)": "nothing", "stats.compare*(missing)": "choice or number", "*.compare(missing)":
    "choice or number", "compat.*(query_relevance)": "judgments", "compat.*.evaluate(scores)": "judgments",
    "compat.*(measure)": "text", "compat.*(values)": "numbers of queries",
    "display.SegmentsDisplay(confidence_level)": "level or nothing",
    "group_sizes(qid)": "ids", "LeaveLastOut(n_test)": "count", "InteractionRecommender.*t(X)": "interactions",
    "make_recommender_scorer([ui]*[rm])": "column to come",
    **dict.fromkeys([f"{door}({column})" for door in ("LeaveLastOut", "GlobalTimeSplit", "InteractionRecommender")
    for column in ("user", "item", "time")], "column of interactions"), "LeaveLastOut.split(time)":
    "time of rows", "GlobalTimeSplit.split(time)": "time of rows", "GlobalTimeSplit(start)": "first time",
    "InteractionRecommender.recommend(*)": "of the model", "InteractionRecommender.fit(sample_weight)":
    "of the model", "InteractionRecommender.fit(y)":
    "targets of a model", "display.Cutoff*(confidence_level)": "level or nothing",
    **{f"display.{name}Display({argument})": "numbers to draw" for name, arguments in {"Cutoff": "k mean",
    "Difference": "difference", "Distribution": "values", "EvalCurve": "curve", "ListLength":
    "n_documents values", "QueryPrecisionRecall": "recall precision",
    "Threshold": "threshold precision recall f"}.items() for argument in
    arguments.split() }, "display.*Display(greater_is_better)": "bool", "display.Difference*Display(qid)":
    "nothing", "display.*Display(baseline)": "text or None", "display.*Display(difference_from)": "text or None",
    "display.CriticalDifferenceDisplay(pvalues)": "mapping", "display.[ST]*sDisplay(values)": "mapping",
    "display.TopicsDisplay(qid)": "ids",
    "display.SegmentsDisplay(n_queries)": "nothing", "display.ListLengthDisplay(confidence_level)":
    "level or nothing", "*Evaluation.from_values(values)": "mapping", "*Evaluation.from_values(means)":
    "mapping or None", "*Evaluation.from_values(average)": "mapping or None", "*Evaluation.from_values(qid)": "ids",
    "*Evaluation.from_values(greater_is_better)": "yes or no per metric", "*Evaluation.from_values(is_binary)":
    "yes or no per metric", "*Evaluation.from_values(n_documents)":
    "numbers or None", "io.write_run(doc_id)": "documents", "stats.confidence_interval(values)":
    "numbers of queries", "stats.*pvalues(pvalues)": "pvalues", "*.get_n_splits(*)": "unused",
    "stats.power_of(power)": "level or nothing",
    "spark.[emp]*(y_true)": "columns", "evaluate_*(y_true)": "columns",
    "io.read_table(y_true)": "column", **dict.fromkeys(["spark.*(y_score)",
    "evaluate_table(y_score)", "io.read_table(y_score)", "spark.*(qid)",
    "evaluate_table(qid)", "io.read_*(doc_id)", "io.read_*(qid)"], "column"),
    **dict.fromkeys(["spark.*(sample_weight)", "evaluate_table(sample_weight)",
    "evaluate_table([sct]*[rsk])"], "column or None"), "evaluate_table(by)": "columns or None",
    **dict.fromkeys(["stats.compare*(metric)",
    "*.Comparison.*(metric)", "*Evaluation.*(metric)", "*.from_result*(metric)", "*.from_comparison(metric)"],
    "metric in result"), "display.*Display(metric)": "text", "metric(name)": "text", "get_scorer(name)": "text",
    "*.from_test(test)": "result", "stats.compare([ab])": "result", "stats.no_worse(missing)": "choice or number",
    "stats.no_worse(???)": "result", "stats.no_worse(replace_undefined_by)": "number or None",
    "stats.compare_judged(???)": "pair of results", "stats.judged_interval(human)": "result",
    "stats.judged_interval(model)": "result", "stats.judge_agreement(*)": "grades by document",
    "*.GateResult.lost_most(metric)": "metric in result",
    "*_html(title)": "text or None", "*_html(code)": "text or None", "*_html(*text)": "mapping or None",
    "*_html(lists)": "lists of a page",
    "evaluate_run(sample_weight)": "by query", "evaluate_run(by)": "by query",
    "evaluate_run(clusters)": "by query", "RankingAccumulator.compute(*s)": "by query",
    "RankingAccumulator.compute(by)": "by query", "*Evaluation.segments(by)": "by of result",
    "*.Comparison.segments(by)": "by of result", "*from_result*(by)": "by of result", "*from_comparison(by)":
    "by of result", "compare_systems(y_score)": "systems",
    **dict.fromkeys([f"display.{n}Display.from_predictions(y_score)" for n in ("CriticalDifference", "Difference",
    "Segments", "Topics")], "systems"),
    "retrieval.*(sample_weight)": "weights of two", "retrieval.*(exclude_self)": "bool",
    "retrieval.threshold_curve(k)": "count or None",
    "io.read_run(value)": "column or None", "io.read_qrels(value)": "column or None",
    "display.ThresholdDisplay.from_predictions(k)": "count or None", "retrieval.threshold_curve(min_relevance)":
    "of a metric", "compare_systems(data)": "labels", "compare_systems(y_true)": "labels",
    "*PreparedMetrics.evaluate(y_score)": "scores", "metrics.*(stop)": "choice", "metrics.*(need)":
    "choice", "metrics.*(alpha)": "fraction",
}  # fmt: skip
"""Kinds of arguments by door and name, before those by the name alone."""


def kind_of(where, argument):
    """Kind of an argument: by door and name, or by name."""
    for pattern, kind in KIND_AT.items():
        if fnmatchcase(f"{where}({argument})", pattern):
            return kind
    return KIND_OF[argument]


def bad_values(where, argument):
    """Wrong values of an argument of a door, by the kind of fault."""
    return KINDS[kind_of(where, argument)]
