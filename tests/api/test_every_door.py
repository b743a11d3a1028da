"""Each public function with labels or scores has a row in the table of checks, or a reason for having no row."""

import inspect
import pkgutil
import re
import warnings
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from misuse_cases import Given, seen
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

import sklearn_rank
from sklearn_rank import QueryKFold, QueryRanker, evaluate, get_scorer, qid_from_group_sizes
from sklearn_rank._data.table import ALL_DOORS
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.exceptions import RankingWarning

LABELS_AND_SCORES = {"y", "y_true", "y_score", "judgments", "run", "relevance", "query_labels", "eval_set"}
OPTIONAL = {"sklearn_rank.spark": "pyspark", "sklearn_rank.boosting": "numpy"}
WITHOUT = {
    r"\w+\.(split|get_n_splits|set_fit_request)": "labels are handed on",
    r"(InteractionRecommender\.fit|QueryRanker\.partial_fit)": "fits, and measures nothing",
    r"(read_table|write_run)": "hands on rows, which are looked at where a metric is computed",
    r"(MetricFunction\.__call__|Ranked\.joint)": "the type of the metric functions, and a part of formulas",
    r"check_judgments": "calls evaluate_run, and lists what it finds",
    r"per_query": "is lazy, and hands on values",
    r"(exposure|intra_list_diversity)": "a value of the run alone",
}
"""Functions that take labels or scores and have no row, with the reason."""


def functions_of(module):
    """Public functions and methods of a module, by name."""
    for name in getattr(module, "__all__", ()):
        given = getattr(module, name)
        if inspect.isclass(given):
            methods = inspect.getmembers(given, inspect.isfunction)
            yield from ((f"{name}.{n}", f) for n, f in methods if n == "__call__" or not n.startswith("_"))
        elif callable(given):
            yield name, given


def taking():
    """Names of public functions that take labels or scores."""
    found, modules = set(), [one.name for one in pkgutil.iter_modules(sklearn_rank.__path__)]
    for name in ["", *(f".{one}" for one in modules if not one.startswith("_"))]:
        module = f"sklearn_rank{name}"
        if module in OPTIONAL:
            pytest.importorskip(OPTIONAL[module])
        for function, code in functions_of(import_module(module)) if name != ".compat" else ():
            takes = {*inspect.signature(code).parameters} & LABELS_AND_SCORES
            if takes or re.fullmatch(r"(make|get)_\w*scorer", function):
                found.add(function)
    return found


def test_every_function_has_a_row():
    of_metrics = {entry.function.__name__ for entry in REGISTRY.values()}
    named = {name for door in ALL_DOORS for name in re.findall(r"[\w.]+", door.name)}
    named |= {name.rpartition(".")[2] for name in named if name[0].islower()}
    lacking = {name for name in taking() - of_metrics if named.isdisjoint({name, name.partition(".")[0]})}
    without = {name for name in lacking for pattern in WITHOUT if re.fullmatch(pattern, name)}
    assert lacking - without == set()
    unused = [pattern for pattern in WITHOUT if not any(re.fullmatch(pattern, name) for name in taking())]
    assert unused == []


def test_the_score_of_a_ranker_is_a_scorer():
    rng = np.random.default_rng(0)
    X, qid = rng.random((300, 2)), np.repeat(np.arange(30), 10)
    ranker = QueryRanker(Given(), eval_metric="map").fit(X, X[:, 0], qid=qid)
    assert seen(ranker.score, X, rng.integers(1, 6, 300), qid=qid) == (["no order matters"], "")
    assert seen(ranker.score, X, 1 - X[:, 0].round(), qid=qid) == (["worse than chance"], "")


def test_a_search_warns_once():
    """Messages differ by fold, and scikit-learn changes the filters; a call from another line warns again."""
    rng = np.random.default_rng(0)
    X, qid = rng.random((1500, 3)), np.repeat(np.arange(60), 25)
    y = pd.Series(rng.integers(1, 6, 1500) + (qid < 12), index=pd.Index(qid, name="qid"))
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2, 3]}, scoring=get_scorer("map"),
                          cv=QueryKFold(5))  # fmt: skip
    model = QueryRanker(Ridge()).fit(X, y)
    for action, n in (("default", 2), ("always", 30)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter(action, RankingWarning)
            for _ in range(2):
                search.fit(X, y)
            n_told = len(told)
            get_scorer("map")(model, X, y)
        assert n_told == (1 if action == "default" else n)
        assert len(told) == n_told + 1
        assert {one.filename for one in told} == {__file__}
        assert all("filter sklearn_rank.exceptions.RankingWarning" in str(one.message) for one in told)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda y, s: evaluate(y, s, metrics="ndcg", convention="trec"), "Did you mean 'trec_eval'?"),
        (lambda y, s: evaluate(y, s, metrics="ndcg", convention="scikit-learn"), "Did you mean 'sklearn'?"),
        (lambda y, s: evaluate(y.rename_axis("topic_no"), s), "y_true.rename_axis(index={'topic_no': 'qid'})"),
        (lambda y, s: qid_from_group_sizes([0, 0, 1, 1]), "is a qid by itself: pass it as qid="),
        (lambda y, s: qid_from_group_sizes(["a", "a", "b"]), "is a qid by itself: pass it as qid="),
        (lambda y, s: qid_from_group_sizes([0, 2, 5]), "are np.diff(starts)."),
    ],
)
def test_qid_index_errors_at_every_door(call, meant):
    y = pd.Series([1, 0, 1, 0], index=pd.Index([1, 1, 2, 2], name="qid"))
    with pytest.raises(ValueError, match=re.escape(meant)):
        call(y, [0.1, 0.2, 0.3, 0.4])
