"""Each private part of another library that we use is tried; a failure names the library and the function to change."""

import re
from importlib.metadata import version
from platform import python_version

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold

import sklearn_rank
from sklearn_rank._utils import private_parts

X, Y = np.arange(80.0).reshape(40, 2) % 7, np.arange(40.0) % 5

PARTS = {}
"""Check of each function and class of the module, by its name: the library, what it must do, and the check."""


def part(name, library, does):
    return lambda check: PARTS.setdefault(name, (library, does, check)) and check


@part("is_from_import", "Python", "look for names of an import in importlib._bootstrap")
def name_of_an_import():
    try:
        exec("from sklearn_rank import KFold")
    except ImportError as error:
        return "QueryKFold" in str(error) and not hasattr(sklearn_rank, "KFold")


@part("ScorerWithSharedPredictions", "scikit-learn", "predict once for all scorers of a dict, by their _score")
def shared_predictions():
    class Value(private_parts.ScorerWithSharedPredictions):
        def score_with(self, call, estimator, X, y_true, **metadata):
            return float(np.mean(call(estimator, "predict", X)))

    class Counting(Ridge):
        n_calls = 0

        def predict(self, X):
            Counting.n_calls += 1
            return super().predict(X)

    scoring = {name: Value.made(max) for name in "ab"}
    GridSearchCV(Counting(), {"alpha": [1.0]}, scoring=scoring, refit=False, cv=KFold(2), error_score="raise").fit(X, Y)
    return Counting.n_calls == 2


def fitted(**parameters):
    return HistGradientBoostingRegressor(max_iter=6, **parameters).fit(X, Y)


@part("drop_later_trees", "scikit-learn", "keep the trees of HistGradientBoosting in the list _predictors")
def trees():
    model = fitted(early_stopping=False)
    third = [*model.staged_predict(X)][2]
    return private_parts.drop_later_trees(model, 3) is True and np.array_equal(model.predict(X), third)


@part("forget_value", "scikit-learn", "keep the scorer of HistGradientBoosting in an attribute")
def scorer():
    def score(estimator, X, y, sample_weight=None):
        return 0.0

    model = fitted(early_stopping=True, scoring=score).set_params(scoring="loss")
    kept = [name for name, value in vars(model).items() if value is score]
    private_parts.forget_value(model, score)
    return len(kept) > 0 and not [name for name, value in vars(model).items() if value is score]


@part("has_callbacks", "scikit-learn", "keep callbacks in _skl_callbacks")
def callbacks():
    module = pytest.importorskip("sklearn.callback", reason="before scikit-learn 1.9")
    search = GridSearchCV(Ridge(), {})
    before = private_parts.has_callbacks(search)
    return (before, private_parts.has_callbacks(search.set_callbacks(module.ProgressBar()))) == (False, True)


@part("forget_parameter", "lightgbm", "keep other parameters in _other_params")
def other_parameter():
    model = pytest.importorskip("lightgbm").LGBMRanker()
    before = model.get_params()
    private_parts.forget_parameter(model.set_params(metric="None"), "metric")
    return model.get_params() == before and not hasattr(model, "metric")


@part("other_parameters", "catboost", "keep parameters in _init_params")
def parameters():
    made = pytest.importorskip("catboost").CatBoostRegressor
    model = made(iterations=2, od_wait=3, verbose=0, allow_writing_files=False)
    before = model.get_params()
    inside = {name: value for name, value in before.items() if name != "od_wait"} | {"iterations": 5}
    with private_parts.other_parameters(model, inside):
        seen = model.get_params()
        model.fit(X, Y)
    return seen == inside and model.tree_count_ == 5 and model.get_params() == before


@pytest.mark.parametrize("name", PARTS)
def test_private_parts_work_as_described(name):
    library, does, check = PARTS[name]
    try:
        right = check()
    except (AttributeError, TypeError, ImportError) as error:
        right, does = False, f"{does} ({error})"
    number = python_version() if library == "Python" else version(library)
    assert right, f"{library} {number} does not {does} any more: change {name} in sklearn_rank/_utils/private_parts.py."


def test_each_private_part_has_a_test_a_reason_and_a_version():
    defined = [n for n, x in vars(private_parts).items() if getattr(x, "__module__", "") == private_parts.__name__]
    assert [*PARTS] == [name for name in defined if name != "Made"]
    for name, (library, _, _) in PARTS.items():
        assert re.search(rf"{library} \d", getattr(private_parts, name).__doc__, re.IGNORECASE), name
