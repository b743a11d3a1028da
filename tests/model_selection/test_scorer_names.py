"""A scorer has the name of its metric in scikit-learn and other tools, and equals another scorer of the same metric."""

import copy
import inspect
import pickle
import posixpath
import re

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.metrics import check_scoring, make_scorer
from sklearn.model_selection import GridSearchCV, LearningCurveDisplay
from sklearn.utils import estimator_html_repr

from sklearn_rank import QueryKFold, QueryRanker, get_scorer, make_ranking_scorer, parse_metric
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import tracker_names
from sklearn_rank.metrics import ndcg_score, query_rmse_error

X = np.linspace(0.0, 1.0, 24)[:, None] ** [1, 2]
QID = np.repeat(np.arange(6), 4)
Y = pd.Series(np.arange(24) % 4 % 3, index=pd.Index(QID, name="qid"))


def top_label(y_true, y_score):
    return float(y_true[np.argmax(y_score)])


def lost_label(y_true, y_score):
    return 3.0 - top_label(y_true, y_score)


NAMED = {
    "ndcg@10": lambda: get_scorer("ndcg@10"),
    "neg_rmse": lambda: get_scorer("rmse"),
    "ndcg(gain=linear)@10": lambda: make_ranking_scorer(ndcg_score, gain="linear", k=10),
    "rbp(p=0.9, ties=worst)@5": lambda: get_scorer("RBP(p=0.9, ties=worst)@5"),
    "top_label@2": lambda: make_ranking_scorer(top_label, k=2),
    "neg_lost_label": lambda: make_ranking_scorer(lost_label, greater_is_better=False),
}


@pytest.mark.parametrize("name", NAMED)
def test_scorer_is_named_like_its_metric(name):
    scorer = NAMED[name]()
    assert repr(scorer) == str(scorer) == f"{scorer}" == scorer.__name__ == name
    assert isinstance(scorer, type(make_scorer(max)))


@pytest.mark.parametrize("name", [name for name in NAMED if "label" not in name])
def test_the_name_parses_back(name):
    assert get_scorer(name) == NAMED[name]()
    assert str(parse_metric(name.removeprefix("neg_"))) == name.removeprefix("neg_")


@pytest.mark.parametrize("name", NAMED)
def test_tools_find_the_name_on_the_function(name):
    """As skore and skorch read it; its value has no sign."""
    scorer, model = NAMED[name](), Ridge().fit(X, Y)
    assert scorer._score_func.__name__ == name.removeprefix("neg_")
    assert scorer._score_func(Y, model.predict(X), **scorer._kwargs) == abs(scorer(model, X, Y))


def test_the_function_takes_the_arguments_of_the_metric():
    assert inspect.signature(get_scorer("ndcg@10")._score_func) == inspect.signature(ndcg_score)


def test_several_metrics_require_no_keyword():
    """For tools such as skore, which pass the estimator, X and y."""
    call = inspect.signature(make_ranking_scorer(["ndcg@10", "mrr"]))
    assert [name for name, p in call.parameters.items() if p.default is p.empty] == ["estimator", "X", "y"]


@pytest.mark.parametrize("name", NAMED)
@pytest.mark.parametrize("copied", [lambda s: pickle.loads(pickle.dumps(s)), copy.copy, copy.deepcopy],
                         ids=["pickle", "copy", "deepcopy"])  # fmt: skip
def test_a_copy_is_equal_and_scores_equally(name, copied):
    scorer, model = NAMED[name](), Ridge().fit(X, Y)
    again = copied(scorer)
    assert again == scorer
    assert hash(again) == hash(scorer)
    assert repr(again) == name
    assert again(model, X, Y) == scorer(model, X, Y)


SAME = [
    ("ndcg@10", {}),
    (ndcg_score, {"k": 10}),
    (" NDCG @ 10", {}),
    ("ndcg_at_10", {}),
    (parse_metric("ndcg", k=10), {}),
    ("ndcg", {"k": np.int64(10), "gain": "exp2"}),
]
OTHERS = [
    ("ndcg@5", {}),
    ("ndcg", {}),
    ("ndcg(gain=linear)@10", {}),
    ("dcg@10", {}),
    ("ndcg@10", {"response_method": "predict"}),
    ("ndcg@10", {"gain": lambda grade: grade}),
]


@pytest.mark.parametrize(("metric", "keywords"), SAME, ids=range(len(SAME)))
def test_scorers_with_equal_settings_are_equal(metric, keywords):
    assert make_ranking_scorer(metric, **keywords) == get_scorer("ndcg@10")
    assert {make_ranking_scorer(metric, **keywords), get_scorer("ndcg@10")} == {get_scorer("ndcg@10")}


@pytest.mark.parametrize(("metric", "keywords"), OTHERS, ids=range(len(OTHERS)))
def test_scorers_with_other_settings_differ(metric, keywords):
    assert make_ranking_scorer(metric, **keywords) != get_scorer("ndcg@10")
    assert len({make_ranking_scorer(metric, **keywords), get_scorer("ndcg@10")}) == 2


def test_other_types_are_never_equal():
    scorer = get_scorer("ndcg@10")
    assert scorer != "ndcg@10"
    assert scorer != make_scorer(ndcg_score, k=10)
    assert scorer != make_ranking_scorer(["ndcg@10"])


@pytest.mark.parametrize(
    "make", [lambda: get_scorer("ndcg@10"), lambda: make_ranking_scorer(["ndcg@10"])], ids=["one", "many"]
)
def test_requests_are_compared_but_not_hashed(make):
    first, second = make(), make()
    with sklearn.config_context(enable_metadata_routing=True):
        second.set_score_request(qid=True, sample_weight="weight")
        assert first != second
        assert hash(first) == hash(second)
        first.set_score_request(qid=True, sample_weight="weight")
    assert first == second


class TestScikitLearn:
    def test_a_search_is_printed_with_the_name(self):
        search = GridSearchCV(Ridge(), {"alpha": [1]}, scoring=get_scorer("ndcg@10"))
        assert str(search).endswith("scoring=ndcg@10)")
        assert "ndcg@10" in estimator_html_repr(search)

    def test_a_dict_of_scorers_predicts_once(self):
        class Counting(Ridge):
            calls = 0

            def predict(self, X):
                Counting.calls += 1
                return super().predict(X)

        model = Counting().fit(X, Y)
        scorer = check_scoring(model, {"a": get_scorer("ndcg@10"), "b": get_scorer("rmse")})
        values = scorer(model, X, Y)
        assert Counting.calls == 1
        assert values == {"a": get_scorer("ndcg@10")(model, X, Y), "b": -query_rmse_error(Y, model.predict(X))}

    def test_a_learning_curve_labels_its_axis_with_the_scorer(self):
        """scikit-learn's own scorers have no `__name__`, so the display raises for them."""
        shown = LearningCurveDisplay.from_estimator(
            QueryRanker(Ridge()), X, Y, scoring=get_scorer("ndcg@10"), cv=QueryKFold(2), train_sizes=[0.5, 1.0]
        )
        assert shown.ax_.get_ylabel() == "Ndcg@10"


class TestMany:
    def test_repr_makes_an_equal_scorer(self):
        for scorers in (
            make_ranking_scorer(["ndcg@10", "rmse"], ties="worst"),
            make_ranking_scorer({"best": "mrr"}, response_method="predict"),
        ):
            again = eval(repr(scorers), {"make_ranking_scorer": make_ranking_scorer})
            assert again == scorers
            assert hash(again) == hash(scorers)
            assert pickle.loads(pickle.dumps(scorers)) == scorers == copy.deepcopy(scorers)

    @pytest.mark.parametrize("other", [
        make_ranking_scorer(["rmse", "ndcg@10"]), make_ranking_scorer(["ndcg@10"]),
        make_ranking_scorer(["ndcg@10", "rmse"], ties="worst"),
        make_ranking_scorer({"ndcg@10": "ndcg@10", "rmse": "mse"}),
        make_ranking_scorer(["ndcg@10", "rmse"], response_method="predict"), get_scorer("ndcg@10"),
    ], ids=repr)  # fmt: skip
    def test_scorers_with_other_parameters_differ(self, other):
        assert make_ranking_scorer(["ndcg@10", "rmse"]) != other

    def test_the_sign_of_an_error_is_optional(self):
        value = get_scorer("rmse")(Ridge().fit(X, Y), X, Y)
        for metrics in (["rmse"], ["neg_rmse"], [query_rmse_error], {"error": "neg_rmse"}, {"neg_error": "rmse"}):
            name = "neg_error" if isinstance(metrics, dict) else "neg_rmse"
            scorer = make_ranking_scorer(metrics)
            assert scorer.__name__ == name
            assert scorer(Ridge().fit(X, Y), X, Y) == {name: value}
        assert make_ranking_scorer("neg_rmse") == make_ranking_scorer("rmse") == get_scorer("neg_rmse")
        with pytest.raises(ValueError, match="Only errors have a scorer with 'neg_'"):
            make_ranking_scorer({"best": "neg_mrr"})
        with pytest.raises(ValueError, match="once, with 'neg_' or without. Got 'error' twice"):
            make_ranking_scorer({"error": "rmse", "neg_error": "mse"})

    @pytest.mark.parametrize("several", [["ndcg@10"], "ndcg@5,10", ndcg_score, get_scorer("map")])
    def test_a_single_name_needs_get_scorer(self, several):
        with pytest.raises(TypeError, match="name of a single metric, such as 'ndcg@10'; for functions and lists use"):
            get_scorer(several)


def test_names_for_trackers_give_scorers():
    """MLflow accepts letters, digits, some punctuation and normalized paths; the values are the same."""
    names = ["ndcg@10", "rbp(p=0.9)@5", "mrr", "neg_rmse"]
    model = Ridge().fit(X, Y)
    tracked = [*tracker_names(names).values()]
    search = GridSearchCV(
        Ridge(), {"alpha": [1]}, scoring=make_ranking_scorer(tracked), refit=tracked[0], cv=QueryKFold(2)
    )
    keys = [key for key in search.fit(X, Y).cv_results_ if key.startswith("mean_test_")]
    assert len(keys) == 4
    assert all(re.fullmatch(r"[/\w.\- ]+", key) and posixpath.normpath(key) == key for key in keys)
    assert [*make_ranking_scorer(tracked)(model, X, Y).values()] == [*make_ranking_scorer(names)(model, X, Y).values()]
    assert [get_scorer(name) for name in tracked] == [get_scorer(name) for name in names]


def test_a_metric_object_has_the_name_of_its_function():
    assert repr(make_scorer(REGISTRY["ndcg"])).startswith("make_scorer(ndcg_score, ")
