"""Arguments of `fit` for queries, weights and validation rows, under the names of each library.

The signature of `fit` decides; this module imports no ranking library.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sklearn_rank._engine.columns import check_rows
from sklearn_rank._scoring.fit_data import FitData
from sklearn_rank._utils.arguments import meant_by, unknown_keyword
from sklearn_rank._utils.containers import check_lengths
from sklearn_rank._utils.echo import echo

ENTRY_A_ROW = frozenset({"init_score", "base_margin", "baseline", "position"})
"""Arguments of `fit` of boosters that have an entry for each row."""

OF_FIT = ("X", "y", "qid", "sample_weight", "eval_set", "eval_qid", "on_round")
"""Arguments of `QueryRanker.fit`."""

HANDED_ON = frozenset(
    {*OF_FIT, "group", "group_id", "group_weight", "subgroup_id", "pairs", "pairs_weight", "eval_group", "eval_X"}
    | {"eval_y", "eval_metric", "eval_at", "eval_names", "eval_sample_weight", "eval_init_score", "X_val", "y_val"}
    | {"sample_weight_eval_set", "sample_weight_val", "base_margin_eval_set", "early_stopping_rounds", "use_best_model"}
)
"""Arguments of a model's `fit` that `QueryRanker` creates, or that are parameters of `QueryRanker`."""

PLACES_OF_ARGUMENTS = {
    "position": "LGBMRanker.fit does not accept it: use lightgbm.train(params, lightgbm.Dataset(..., position=...)).",
    "callbacks": "Models that support callbacks accept them in fit (LightGBM, CatBoost) or as a parameter: "
    "QueryRanker(XGBRanker(callbacks=[...])).",
    "categorical_feature": "LightGBM accepts it in fit; for XGBoost use categorical columns in a frame; CatBoost has "
    "the parameter cat_features.",
    "cat_features": "Set it as a parameter of the model: CatBoostRanker(cat_features=(...)).",
    "init_score": "LightGBM accepts it in fit; for XGBoost use base_margin, for CatBoost baseline.",
}
"""Advice for arguments that the model's `fit` does not accept."""


def last_step(model: Any) -> tuple[str, Any]:
    """Keyword prefix and last step of a Pipeline; for other models an empty prefix and the model itself."""
    if not hasattr(model, "steps"):
        return "", model
    name, last = model.steps[-1]
    prefix, last = last_step(last)
    return f"{name}__{prefix}", last


def query_keyword(model: Any) -> str | None:
    """Keyword of `fit` for queries; None for a pointwise model."""
    accepted = inspect.signature(model.fit).parameters
    return next((name for name in ("qid", "group_id", "group") if name in accepted), None)


def takes_evaluation(model: Any) -> bool:
    """Whether `fit` accepts validation rows, and their queries if it accepts queries."""
    accepted = inspect.signature(model.fit).parameters
    if comes_from(model, "catboost") or "X_val" in accepted:
        return True
    takes = query_keyword(model)
    return "eval_set" in accepted and (takes is None or f"eval_{takes}" in accepted)


def fit_with_validation(model: Any, train: FitData, validation: FitData) -> Any:
    """Fit a model with its own early stopping."""
    return model.fit(train.X, train.y, **all_arguments(model, train, validation))


def all_arguments(model: Any, train: FitData, validation: FitData) -> dict[str, Any]:
    """Keywords of `fit` for the training and the validation rows."""
    return evaluation_arguments(model, validation) | training_arguments(model, train)


def fit_model(
    model: Any, train: FitData, validation: FitData | None,
    fit_last: Callable[[Any, FitData, FitData], Any] = fit_with_validation,
) -> Any:  # fmt: skip
    """Fit a model, with validation rows if there are any; then `fit_last` fits the last step of a Pipeline."""
    # All steps of a Pipeline learn only from the training rows; those before the last transform the validation rows.
    if validation is None:
        prefix, last = last_step(model)
        keywords = training_arguments(last, train)
        return model.fit(train.X, train.y, **{prefix + name: value for name, value in keywords.items()})
    if not hasattr(model, "steps"):
        return fit_last(model, train, validation)
    name, last = model.steps[-1]
    model.set_params(**{name: "passthrough"})
    train = replace(train, X=model.fit_transform(train.X, train.y))
    validation = replace(validation, X=model.transform(validation.X))
    return model.set_params(**{name: fit_model(last, train, validation, fit_last)})


def own_arguments(
    model: Any, arguments: Mapping[str, Any], *, has_validation: Any, columns: Collection[str] = ()
) -> None:
    """Refuse arguments that the model's `fit` does not accept, or that `QueryRanker` sets itself."""
    # `columns` are the columns that the metric of early stopping reads; they are levels of the index of y.
    accepted = inspect.signature(model.fit).parameters
    takes = [name for name, p in accepted.items() if name not in HANDED_ON and p.default is not p.empty]
    for name in arguments:
        if name in takes:
            continue
        hint = f" {PLACES_OF_ARGUMENTS[name]}" if name in PLACES_OF_ARGUMENTS else meant_by(name)
        if name in columns:
            hint = f" Give y an index with the levels 'qid' and {echo(name)}."
        known = [*OF_FIT, *takes]
        raise unknown_keyword("QueryRanker.fit has no keyword", name, known, hint=hint, takes=known)
    of_rows = sorted(ENTRY_A_ROW & arguments.keys())
    if of_rows and has_validation is not None:
        raise ValueError(
            f"{of_rows[0]} has values for the rows of X but not for the validation rows that early stopping uses: "
            f"omit eval_fraction and eval_set. Got {of_rows[0]}= together with validation rows."
        )


def checked_rows(arguments: dict[str, Any], y: Any) -> dict[str, Any]:
    """Check arguments of a model's `fit`; convert arguments with an entry for each row to arrays."""
    for name in ENTRY_A_ROW & arguments.keys():
        check_lengths(y=y, **{name: arguments[name]})
        check_rows(y=y, **{name: arguments[name]})
    return {name: np.asarray(value) if name in ENTRY_A_ROW else value for name, value in arguments.items()}


def training_arguments(model: Any, part: FitData) -> dict[str, Any]:
    """Keywords of `fit` for the queries and weights of the training rows."""
    takes, keywords = query_keyword(model), {}
    if takes is not None:
        keywords[takes] = part.grouping.sizes if takes == "group" else part.grouping.query_of_row
    if part.weight is not None and takes == "group_id":
        # CatBoost does not accept integer weights.
        keywords["group_weight"] = np.asarray(part.weight, dtype=np.float64)
    elif part.weight is not None:
        keywords["sample_weight"] = part.weight_for(takes)
    return keywords | dict(part.more)


def evaluation_arguments(model: Any, part: FitData) -> dict[str, Any]:
    """Keywords of `fit` for the validation rows."""
    if comes_from(model, "catboost"):
        # A pair (X, y) would drop the queries and the weights.
        keywords = training_arguments(model, part)
        columns = {name: model.get_param(name) for name in ("cat_features", "text_features", "embedding_features")}
        weight = keywords.pop("sample_weight", None)
        pool = sys.modules["catboost.core"].Pool(part.X, part.y, weight=weight, **columns, **keywords)
        return {"eval_set": pool}
    accepted, takes = inspect.signature(model.fit).parameters, query_keyword(model)
    weight = part.weight_for(takes)
    if "X_val" in accepted:  # HistGradientBoosting
        names = {"X_val": part.X, "y_val": part.y, "sample_weight_val": weight}
    else:
        names = {"eval_X": part.X, "eval_y": part.y} if "eval_X" in accepted else {"eval_set": [(part.X, part.y)]}
        if takes is not None:
            names[f"eval_{takes}"] = [part.grouping.sizes if takes == "group" else part.grouping.query_of_row]
        if weight is not None:
            names |= {"sample_weight_eval_set": [weight], "eval_sample_weight": [weight]}
        # XGBoost would print every round.
        if "verbose" in accepted and accepted["verbose"].default is True:
            names["verbose"] = False
    return {name: value for name, value in names.items() if name in accepted}


def comes_from(model: Any, package: str) -> bool:
    """Whether a model's class, or one of its bases, belongs to a package."""
    return any(base.__module__.partition(".")[0] == package for base in type(model).__mro__)
