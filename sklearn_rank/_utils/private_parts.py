"""Private parts of other libraries: the only module of this package that uses any.

Each function and class says why no public part will do, and with which versions it was tried. The test
tests/project/test_private_parts.py tries each of them, and names the function to change where a library has changed.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from sklearn.metrics import make_scorer

Made = TypeVar("Made", bound="ScorerWithSharedPredictions")

# --- Python ------------------------------------------------------------------------------------------------------


def is_from_import() -> bool:
    """Whether ``from sklearn_rank import name`` asks for an attribute of the package, and not `getattr` or `hasattr`.

    An import replaces the text of an AttributeError, and shows that of an ImportError, which `hasattr` would not take
    for a missing attribute. The import system asks from its own module. Python 3.11 to 3.14.
    """
    frame = inspect.currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "sklearn_rank":
        frame = frame.f_back
    return frame is not None and frame.f_globals.get("__name__") == "importlib._bootstrap"


# --- scikit-learn ------------------------------------------------------------------------------------------------


class ScorerWithSharedPredictions(type(make_scorer(max))):  # type: ignore[misc]
    """Base of a scorer that computes its value in `score_with`.

    In a dict of scorers, scikit-learn predicts once for all scorers of `make_scorer`, whose class is private, and calls
    their `_score`. Any other callable would predict again for each metric. scikit-learn 1.7 to 1.9.
    """

    @classmethod
    def made(cls: type[Made], *args: Any, **keywords: Any) -> Made:
        """Scorer with the attributes that `make_scorer` gives its own, since scikit-learn reads some of them."""
        scorer = cls.__new__(cls)
        scorer.__dict__.update(vars(make_scorer(*args, **keywords)))
        return scorer

    def score_with(self, call: Any, estimator: Any, X: Any, y_true: Any, **metadata: Any) -> Any:
        """Value of the metric; ``call(estimator, method, X)`` predicts, or returns what another scorer predicted."""
        raise NotImplementedError

    def _score(self, method_caller: Any, estimator: Any, X: Any, y_true: Any, **metadata: Any) -> Any:
        return self.score_with(method_caller, estimator, X, y_true, **metadata)


def drop_later_trees(model: Any, n_stages: int) -> bool | None:
    """Drop later stages of a HistGradientBoosting, and whether `n_stages` are left; None for other models.

    It has no public list of trees, and `staged_predict` would leave the fitted model with all of them. scikit-learn 1.7
    to 1.9.
    """
    if not hasattr(model, "_predictors"):
        return None
    del model._predictors[n_stages:]
    return bool(model.n_iter_ == n_stages)


def forget_value(model: Any, value: Any) -> None:
    """Set each attribute of a model to None that is this object.

    A HistGradientBoosting keeps its scorer in `_scorer`, and ours would keep the validation rows. scikit-learn 1.7 to
    1.9.
    """
    for name in [name for name, kept in vars(model).items() if kept is value]:
        setattr(model, name, None)


def has_callbacks(estimator: Any) -> bool:
    """Whether callbacks were set: there is `set_callbacks`, and nothing public to read them. scikit-learn 1.9."""
    return bool(getattr(estimator, "_skl_callbacks", None))


# --- boosters ----------------------------------------------------------------------------------------------------


def forget_parameter(model: Any, name: str) -> None:
    """Forget a parameter that a model of LightGBM did not have before `set_params`.

    `set_params` takes any name and keeps it twice, and None is a value like others. LightGBM 4.7.
    """
    vars(model).pop(name, None)
    getattr(model, "_other_params", {}).pop(name, None)


@contextmanager
def other_parameters(model: Any, parameters: Mapping[str, Any]) -> Iterator[None]:
    """Train a model of CatBoost with exactly these parameters, and give it back its own when it is fitted.

    A fitted model refuses `set_params`, and `set_params` removes nothing. CatBoost 1.2.10.
    """
    own = model._init_params
    model._init_params = {}
    model.set_params(**parameters)
    try:
        yield
    finally:
        model._init_params = own
