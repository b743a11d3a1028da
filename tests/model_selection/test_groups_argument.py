"""scikit-learn's `groups=` reaches the splitter only: the error says so, and shows two ways that work."""

import warnings

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate

from sklearn_rank import QueryKFold, QueryRanker, evaluate, get_scorer, make_ranking_scorer
from sklearn_rank.datasets import make_ranking

CV = QueryKFold(4)
INDEX = "y=pd.Series(np.asarray(y), index=pd.Index(qid, name='qid'))"
ROUTING = "sklearn.set_config(enable_metadata_routing=True)"
SAID = (
    "groups= of cross_val_score, cross_validate or the fit of a search reaches the splitter only",
    INDEX,
    "params={'qid': qid}",
    "fit(X, y, qid=qid) of a search",
    ROUTING,
)
SCORERS = {"one": get_scorer("ndcg@10"), "several": make_ranking_scorer(["ndcg@10", "map"])}


def arrays():
    return make_ranking(n_queries=40, n_features=4, random_state=0)


def frames():
    """The same in frames with labels of rows."""
    X, y, qid = arrays()
    rows = [f"row {i}" for i in range(len(y))]
    return pd.DataFrame(X, rows), pd.Series(y, rows, name="grade"), pd.Series(qid, rows)


def search(scoring, refit=True):
    return GridSearchCV(Ridge(), {"alpha": [1.0, 9.0]}, scoring=scoring, cv=CV, refit=refit)


CALLS = {
    "cross_val_score": lambda X, y, qid: cross_val_score(Ridge(), X, y, groups=qid, scoring=SCORERS["one"], cv=CV),
    "cross_validate": lambda X, y, qid: cross_validate(Ridge(), X, y, groups=qid, scoring=SCORERS["several"], cv=CV),
    "search": lambda X, y, qid: search(SCORERS["one"]).fit(X, y, groups=qid),
    "search of several": lambda X, y, qid: search(SCORERS["several"], refit="map").fit(X, y, groups=qid),
}


def said_by(call, *data):
    """Texts of the warnings and of the error of a call."""
    error = ""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call(*data)
        except ValueError as raised:
            error = str(raised)
    return [str(one.message) for one in caught] + [error]


@pytest.mark.parametrize("data", [arrays, frames])
@pytest.mark.parametrize("name", CALLS)
def test_groups_of_scikit_learn_are_explained(name, data):
    failed = [text for text in said_by(CALLS[name], *data()) if "Ranking metrics are computed query by query" in text]
    assert len(failed) >= 1
    for text in failed:
        for part in SAID:
            assert part in text


def test_groups_with_a_model_that_needs_queries():
    LGBMRanker = pytest.importorskip("lightgbm").LGBMRanker
    ranker = QueryRanker(LGBMRanker(n_estimators=2, n_jobs=1, verbose=-1))
    X, y, qid = arrays()
    with pytest.raises(ValueError, match="All the 4 fits failed") as caught:
        cross_val_score(ranker, X, y, groups=qid, scoring=SCORERS["one"], cv=CV)
    for part in SAID:
        assert part in str(caught.value)
    with pytest.raises(ValueError, match="reaches the splitter only"):
        cross_val_score(ranker, X, y, groups=qid, scoring=SCORERS["one"], cv=CV, error_score="raise")


def test_splitters_and_routing_are_not_told_of_groups():
    X, y, qid = arrays()
    with pytest.raises(ValueError, match="Metadata routing is off") as caught:
        next(CV.split(X, y))
    assert "groups=" not in str(caught.value)
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ValueError, match=r"Got neither\.$"):
        SCORERS["one"](Ridge().fit(X, y), X, y)


@pytest.mark.parametrize("data", [arrays, frames])
def test_both_lines_of_the_message_work(data):
    X, y, qid = data()
    of_arrays, labels, queries = arrays()
    expected = []
    for train, test in CV.split(of_arrays, groups=queries):
        score = Ridge().fit(of_arrays[train], labels[train]).predict(of_arrays[test])
        expected.append(evaluate(labels[test], score, qid=queries[test], metrics="ndcg@10")["ndcg@10"])
    known = {"pd": pd, "np": np, "y": y, "qid": qid}
    exec(INDEX.replace("y=", "indexed="), known)
    assert cross_val_score(Ridge(), X, known["indexed"], scoring=SCORERS["one"], cv=CV) == pytest.approx(expected)
    with sklearn.config_context(enable_metadata_routing=True):
        routed = cross_val_score(Ridge(), X, y, scoring=SCORERS["one"], cv=CV, params={"qid": qid})
        found = search(SCORERS["one"]).fit(X, y, qid=qid)
    assert routed == pytest.approx(expected)
    assert [found.cv_results_[f"split{i}_test_score"][0] for i in range(4)] == pytest.approx(expected)
