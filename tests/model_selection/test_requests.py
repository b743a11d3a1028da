"""Metadata requests of rankers, splitters and scorers, including automatic requests of scikit-learn."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from sklearn_rank import (
    LeaveOneQueryOut,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    evaluate,
    get_scorer,
    make_ranking_scorer,
)
from sklearn_rank.model_selection import GlobalTimeSplit, LeaveLastOut

CV = QueryKFold(3)
GRID = {"estimator__alpha": [0.1, 10.0]}
SCORERS = {
    "one": lambda: get_scorer("ndcg@5"),
    "several": lambda: make_ranking_scorer(["ndcg@5", "map"]),
    "a dict": lambda: {"ndcg@5": get_scorer("ndcg@5"), "map": get_scorer("map")},
}


def requested(consumer, method="score"):
    return getattr(get_routing_for_object(consumer), method).requests


@pytest.fixture
def automatic(monkeypatch):
    """The policy "auto" of scikit-learn 1.10, under which for example scorers of weighted metrics request weights.

    Older versions use a stand-in with the two documented parts.
    """
    if "metadata_request_policy" in sklearn.get_config():
        with sklearn.config_context(enable_metadata_routing=True, metadata_request_policy="auto"):
            yield
        return

    def add_auto_request(self, *params):
        for param in params:
            self.add_request(param=param, alias=True)

    def get_metadata_routing(self):
        request = get_own(self)
        request.score.add_auto_request("sample_weight")
        return request

    of_scikit_learn = type(make_scorer(max))
    get_own = of_scikit_learn.get_metadata_routing
    monkeypatch.setattr(type(MetadataRequest(owner="x").fit), "add_auto_request", add_auto_request, raising=False)
    monkeypatch.setattr(of_scikit_learn, "get_metadata_routing", get_metadata_routing)
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.mark.parametrize("kind", SCORERS)
def test_row_weights_reach_fit_and_no_scorer(automatic, kind, shuffled):
    X, y, qid = shuffled
    weight = np.random.default_rng(0).uniform(1, 9, len(y))
    search = GridSearchCV(
        QueryRanker(Ridge()), GRID, scoring=SCORERS[kind](), cv=CV, refit="ndcg@5" if kind != "one" else True,
        error_score="raise",
    ).fit(X, y, qid=qid, sample_weight=weight)  # fmt: skip
    values = []
    for train, test in CV.split(X, groups=qid):
        model = Ridge(alpha=search.best_params_["estimator__alpha"])
        s = model.fit(X[train], y[train], sample_weight=weight[train]).predict(X[test])
        values.append(evaluate(y[test], s, qid=qid[test], metrics="ndcg@5").mean()["ndcg@5"])
    assert search.best_score_ == pytest.approx(np.mean(values))


@pytest.mark.parametrize("kind", ["one", "several"])
def test_unequal_weights_within_a_query_are_rejected_on_request(automatic, kind, shuffled):
    X, y, qid = shuffled
    scorer = SCORERS[kind]().set_score_request(sample_weight=True)
    weights = {"qid": qid, "sample_weight": np.arange(1.0, len(y) + 1)}
    with pytest.raises(ValueError, match="weights whole queries, so it must be constant within each"):
        cross_validate(QueryRanker(Ridge()), X, y, scoring=scorer, cv=CV, params=weights, error_score="raise")


def test_explicit_requests_override_automatic_ones(automatic):
    ranker = QueryRanker(Ridge())
    assert requested(ranker, "fit")["sample_weight"] is requested(ranker, "partial_fit")["sample_weight"] is True
    for alias in (False, "weight_of_row"):
        assert requested(ranker.set_fit_request(sample_weight=alias), "fit")["sample_weight"] == alias
    splitter = QueryKFold().set_split_request(clusters="user")
    assert requested(splitter, "split") == {"groups": "qid", "clusters": "user"}


@pytest.mark.parametrize(
    "splitter",
    [QueryKFold(), RepeatedQueryKFold(), QueryShuffleSplit(), LeaveOneQueryOut(), QueryTimeSeriesSplit(),
     GlobalTimeSplit(test_size=0.5), LeaveLastOut()],
    ids=lambda one: type(one).__name__,
)  # fmt: skip
def test_splitters_request_the_same_under_each_policy(splitter, request):
    before = requested(splitter, "split")
    assert sorted(map(str, before.values())) == ["True", "qid"]
    request.getfixturevalue("automatic")
    assert requested(splitter, "split") == before
    (name,) = before.keys() - {"groups"}
    assert requested(splitter.set_split_request(**{name: None}), "split") == before


@pytest.mark.parametrize("make", [lambda: get_scorer("ndcg@10"), lambda: make_ranking_scorer(["ndcg@10"])])
def test_scorers_keep_requests_that_are_not_named(make):
    assert requested(make()) == {"qid": True, "sample_weight": False}
    scorer = make()
    # The requests are known before routing is switched on.
    assert scorer.set_score_request(sample_weight="w") is scorer
    assert requested(scorer) == {"qid": True, "sample_weight": "w"}
    assert requested(scorer.set_score_request(qid="query")) == {"qid": "query", "sample_weight": "w"}
    assert requested(scorer.set_score_request(sample_weight=False)) == {"qid": "query", "sample_weight": False}
    assert requested(make()) == {"qid": True, "sample_weight": False}
    with pytest.raises(TypeError, match="use 'qid' and 'sample_weight'. Got groups"):
        scorer.set_score_request(groups=True)
