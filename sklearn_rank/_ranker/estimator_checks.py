"""Checks of estimators: searches, nested searches, and the objective that they optimize."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn_rank._ranker.fit_arguments import comes_from, last_step
from sklearn_rank._scoring.routing import consumes
from sklearn_rank._utils.echo import echo, one_line
from sklearn_rank._utils.typing import Estimator

WAY_OUT = (
    "Put the search around the model: GridSearchCV(QueryRanker(model), grid, scoring=get_scorer('ndcg@10'), "
    "cv=QueryKFold()), or pass RankingEvaluator a search or a Pipeline that ends in a search."
)


def is_search(estimator: Estimator) -> bool:
    """Whether an estimator is a scikit-learn search, or works like a scikit-learn search."""
    return tunes(estimator) and hasattr(estimator, "refit")


def tunes(estimator: Estimator) -> bool:
    """Whether an estimator cross-validates an inner model: a search of parameters or of features."""
    return not isinstance(estimator, type) and all(hasattr(estimator, name) for name in ("estimator", "scoring", "cv"))


def tunes_itself(estimator: Estimator) -> bool:
    """Whether a model has a built-in search of its parameters, like RidgeCV."""
    if isinstance(estimator, type) or not hasattr(estimator, "predict") or not hasattr(estimator, "cv"):
        return False
    return not any(hasattr(estimator, name) for name in ("estimator", "estimators"))


def refuse_torn_search(search: Any) -> None:
    """Refuse a search that samples rows with any splitter: for a subsample or for its own test set."""
    name = type(search).__name__
    # OptunaSearchCV
    if tunes(search) and getattr(search, "subsample", 1.0) != 1.0:
        raise ValueError(
            f"The subsample of {name} draws rows, which splits queries: leave it at 1.0, and set max_queries of "
            f"QueryRanker, the number of queries to draw. Got subsample={echo(search.subsample)}."
        )
    # The incremental searches of dask-ml.
    if not hasattr(search, "cv") and all(hasattr(search, part) for part in ("estimator", "scoring", "test_size")):
        raise ValueError(
            f"{name} has no cv and draws its test rows at random, which splits queries: use a search with a splitter, "
            "such as HalvingGridSearchCV with resource='max_queries', or a study of Optuna that prunes by on_fold."
        )


def is_outside(search: Any) -> bool:
    """Whether a third-party library defines the `fit` of a search, which then loses or refuses metadata."""
    return not type(search).fit.__module__.startswith("sklearn.")


def refuse_other_search(search: Any, wrapper: str, scorer: str, splitter: str) -> None:
    """Refuse a third-party search; the error shows how to set it up by hand."""
    if is_outside(search):
        name = type(search).__name__
        raise ValueError(
            f"RankingEvaluator accepts only scikit-learn searches, such as GridSearchCV. Fit {name} by hand: "
            f"{name}({wrapper}(model), ..., scoring={scorer}, cv={splitter}).fit(X, y), where y is a Series whose "
            f"index has the level 'qid'. Got {echo(search)}."
        )


def with_inner(estimator: Estimator) -> list[Any]:
    """Return an estimator and all estimators nested in its parameters."""
    parameters = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    return [estimator, *parameters.values()]


def is_ranking_search(search: Any) -> bool:
    """Whether a scikit-learn search has ranking scorers and a splitter that gets qid."""
    return not is_outside(search) and knows_queries(search.scoring) and consumes(search.cv, "split", "qid")


def knows_queries(scoring: Any) -> bool:
    """Whether scorers request qid; a plain function may read it from the index of y."""
    if isinstance(scoring, Mapping):
        return all(map(knows_queries, scoring.values()))
    return callable(scoring) and (consumes(scoring, "score", "qid") or not hasattr(scoring, "get_metadata_routing"))


def check_estimator(estimator: Estimator, name: str, *, must_predict: bool = True) -> None:
    """Refuse an object that is not an estimator, or that scikit-learn cannot clone."""
    hint = f" Create one: {one_line(estimator.__name__)}()." if isinstance(estimator, type) else ""
    needed = ("fit", "get_params")
    predicts = any(hasattr(estimator, method) for method in ("predict", "predict_proba", "decision_function"))
    # Stacking has `predict` only after fit.
    predicts |= getattr(estimator, "final_estimator", estimator) is None
    if hint or not all(hasattr(estimator, method) for method in needed) or (must_predict and not predicts):
        raise TypeError(f"{name} must be an estimator with 'fit' and 'predict'.{hint} Got {echo(estimator)}.")
    _refuse_copied_lists(estimator)


def _refuse_copied_lists(estimator: Estimator) -> None:
    """Refuse a CatBoost model with a list as a parameter, because the error of `clone` does not help."""
    model = last_step(estimator)[1]
    for name, value in model.get_params(deep=False).items() if comes_from(model, "catboost") else ():
        if isinstance(value, list):
            raise ValueError(
                "CatBoost copies lists in its parameters, which scikit-learn's clone refuses. Pass columns as a tuple, "
                "as in cat_features=('word',), with a frame as X, and other parameters as a tuple or a str. "
                f"Got {name}={echo(value)}."
            )


def refuse_searches(estimator: Estimator, outer: Any = None, *, unless_ranking: bool = False) -> None:
    """Refuse a model with a nested search, which would optimize another objective on split queries."""
    # With `unless_ranking`, accept a search with ranking scorers and a query splitter.
    for inner in with_inner(estimator):
        refuse_torn_search(inner)
        if tunes(inner) and not (unless_ranking and is_ranking_search(inner)):
            where = type(estimator if outer is None else outer).__name__
            raise ValueError(
                f"A search inside {where} tunes by its own row-wise objective, because ranking scorers and whole "
                f"queries cannot reach it there. {WAY_OUT} Got {echo(inner)}."
            )
