"""Names of other libraries, and calls with missing or swapped arguments: the input and the message for it."""

import re

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.metrics import accuracy_score

import sklearn_rank
from sklearn_rank import evaluate, ndcg_score, recommenders, results, stats

SCOPE = {name: getattr(module, name) for module in (sklearn_rank, recommenders, stats) for name in module.__all__}
SCOPE |= {"Ridge": Ridge, "accuracy_score": accuracy_score}
SCOPE |= {"Y": [1, 0, 0, 1], "S": [0.3, 0.2, 0.6, 0.4], "QID": ["a", "a", "b", "b"]}
AFTER = "Intervals come after: result.confidence_interval(confidence_level=0.95)."

CALLS = {
    "evaluate(Y, S, qid=QID, metric='map')": "evaluate has no keyword 'metric'. Did you mean 'metrics'?",
    "evaluate(Y, S, qid=QID, scoring='map')": "evaluate has no keyword 'scoring'. Did you mean 'metrics'?",
    "RankingEvaluator(scoring='map')": "RankingEvaluator has no keyword 'scoring'. Did you mean 'metrics'?",
    "evaluate(Y, S, qid=QID, confidence=.9)": AFTER,
    "evaluate(Y, S, qid=QID, alpha=.1)": AFTER,
    "no_worse(new=1, old=2, confidence_level=.9)": "Did you mean 'alpha'?",
    "evaluate(Y, qid=QID, y_pred=S)": "evaluate needs y_score. y_score is the output of the model.",
    "ndcg_score(Y, y_pred=S, qid=QID)": "ndcg_score needs y_score. y_score is the output of the model.",
    "mrr_score([3, 1, 5])": "Evaluation.from_values(qid, {'mrr': 1 / numpy.array(ranks)}).",
    "ndcg_score([3, 2], [2, 1])": "If all rows are one query, add a pair of brackets: [y_true], [y_score].",
    "compare_systems(Y, S, S, qid=QID)": "Several systems go to compare_systems(y_true, {name: y_score}, qid=qid).",
    "evaluate(Y, S, qid=QID, metrics=[accuracy_score])": "a ranking has scores. Did you mean 'hit@1'? (It said: ",
    "map_score(Y, S, qid=[1, 1, None, 2])": "The first is in row 2.",
    "map_score(Y, S, qid=[1, 1, 1, float('nan')])": "The first is in row 3.",
    "evaluate(Y, S, qid=QID, metrics='MAP@K')": "must be an int >= 1, as in 'map@10'. Got 'MAP@K'.",
    "exposure(3)": "exposure needs items and k.",
    "power_of(1, n=5)": "power_of has no keyword 'n'.",
    "compare(S, S, S)": "compare takes a, b by position and all else by name, such as metric=.",
    "LeaveLastOut(n_splits=3)": "LeaveLastOut has no keyword 'n_splits'.",
}


@pytest.mark.parametrize(("call", "message"), CALLS.items())
def test_hint_of_each_call(call, message):
    with pytest.raises((TypeError, ValueError), match=re.escape(message)):
        eval(call, SCOPE)


def test_a_long_list_is_not_taken_for_one_query():
    with pytest.raises(ValueError, match=r"Got neither\.$"):
        ndcg_score(np.ones(101), np.ones(101))


def test_ranks_have_the_stated_reciprocal_rank():
    values = results.Evaluation.from_values(["a", "b"], {"mrr": 1 / np.array([2, 4])})
    assert values.mean() == evaluate([[0, 1, 0, 0], [0, 0, 0, 1]], [[4, 3, 2, 1]] * 2, metrics=["mrr"]).mean()


@pytest.mark.parametrize(("name", "place"), [
    ("make_scorer", "make_ranking_scorer"), ("GroupKFold", "QueryKFold"), ("cross_val_score", "RankingEvaluator"),
    ("CutoffDisplay", "from sklearn_rank.display import CutoffDisplay"), ("no_worse", "from sklearn_rank.stats import"),
    ("read_run", "from sklearn_rank.io import read_run"), ("rbp_score", "from sklearn_rank.metrics import rbp_score"),
])  # fmt: skip
def test_an_import_error_says_where_the_name_is(name, place):
    with pytest.raises(ImportError, match=place):
        exec(f"from sklearn_rank import {name}")
    with pytest.raises(ImportError, match="cannot import name 'nonesuch'"):
        exec("from sklearn_rank import nonesuch")


def test_names_of_scikit_learn_have_a_public_name_here():
    import sklearn.inspection
    import sklearn.metrics
    import sklearn.model_selection

    modules = sklearn.inspection, sklearn.metrics, sklearn.model_selection
    for theirs, ours in vars(sklearn_rank)["_HERE"].items():
        assert any(hasattr(module, theirs) for module in modules), theirs
        assert ours in sklearn_rank.__all__
    assert not hasattr(sklearn_rank, "__wrapped__")
    assert not hasattr(sklearn_rank, "nonesuch")
    with pytest.raises(AttributeError, match="Did you mean 'evaluate'"):
        sklearn_rank.evalute  # noqa: B018
