"""What each library calls the queries, weights and held-out rows that it wants in `fit`.

Goes by the signature of `fit`; no ranking library is imported.
"""

from __future__ import annotations

import inspect
import sys
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class FitData:
    """Rows to learn from or to stop by, those of a query adjacent.

    `sizes` are the rows of each query (ndarray), None where queries are not known; `weight` is one for each row.
    """

    X: Any
    y: Any
    sizes: Any
    weight: NDArray[Any] | None

    @property
    def query(self) -> NDArray[np.int64]:
        """Number of each row's query."""
        return np.repeat(np.arange(len(self.sizes)), self.sizes)

    def weight_for(self, takes: str | None) -> NDArray[Any] | None:
        """One weight a query for a model that takes qid, one a row for the others."""
        if self.weight is None or takes != "qid":
            return self.weight
        return self.weight[np.cumsum(self.sizes) - self.sizes]


def last_step(model: Any) -> tuple[str, Any]:
    """What a Pipeline has at its end, after the prefix of its keywords; the model itself after none."""
    if not hasattr(model, "steps"):
        return "", model
    name, last = model.steps[-1]
    prefix, last = last_step(last)
    return f"{name}__{prefix}", last


def query_keyword(model: Any) -> str | None:
    """Constraint of `fit` that takes queries; None for a pointwise model."""
    accepted = inspect.signature(model.fit).parameters
    return next((name for name in ("qid", "group_id", "group") if name in accepted), None)


def takes_evaluation(model: Any) -> bool:
    """Whether `fit` takes rows to stop by, and their queries if it takes queries."""
    accepted = inspect.signature(model.fit).parameters
    if _pool(model) is not None or "X_val" in accepted:
        return True
    takes = query_keyword(model)
    return "eval_set" in accepted and (takes is None or f"eval_{takes}" in accepted)


def fit_model(model: Any, train: FitData, held_out: FitData | None) -> Any:
    """Fit a model, with rows to stop by if there are any.

    All steps of a Pipeline learn from the training part alone; those before the last transform the part held out.
    """
    if held_out is None:
        prefix, last = last_step(model)
        keywords = training_arguments(last, train)
        return model.fit(train.X, train.y, **{prefix + name: value for name, value in keywords.items()})
    if not hasattr(model, "steps"):
        return model.fit(train.X, train.y, **training_arguments(model, train), **evaluation_arguments(model, held_out))
    name, last = model.steps[-1]
    model.set_params(**{name: "passthrough"})
    train = replace(train, X=model.fit_transform(train.X, train.y))
    held_out = replace(held_out, X=model.transform(held_out.X))
    return model.set_params(**{name: fit_model(last, train, held_out)})


def training_arguments(model: Any, part: FitData) -> dict[str, Any]:
    """Keywords of `fit` that say which rows are one query, and what they weigh."""
    takes, keywords = query_keyword(model), {}
    if takes is not None:
        keywords[takes] = part.sizes if takes == "group" else part.query
    if part.weight is not None:
        keywords["group_weight" if takes == "group_id" else "sample_weight"] = part.weight_for(takes)
    return keywords


def evaluation_arguments(model: Any, part: FitData) -> dict[str, Any]:
    """Keywords of `fit` that hand over rows to stop by."""
    pool = _pool(model)
    if pool is not None:  # CatBoost: a pair (X, y) would lose the queries and the weights
        keywords = training_arguments(model, part)
        columns = {name: model.get_param(name) for name in ("cat_features", "text_features", "embedding_features")}
        weight = keywords.pop("sample_weight", None)
        return {"eval_set": pool(part.X, part.y, weight=weight, **columns, **keywords)}
    accepted, takes = inspect.signature(model.fit).parameters, query_keyword(model)
    weight = part.weight_for(takes)
    if "X_val" in accepted:  # HistGradientBoosting
        names = {"X_val": part.X, "y_val": part.y, "sample_weight_val": weight}
    else:
        names = {"eval_X": part.X, "eval_y": part.y} if "eval_X" in accepted else {"eval_set": [(part.X, part.y)]}
        if takes is not None:
            names[f"eval_{takes}"] = [part.sizes if takes == "group" else part.query]
        if weight is not None:
            names |= {"sample_weight_eval_set": [weight], "eval_sample_weight": [weight]}
        if "verbose" in accepted and accepted["verbose"].default is True:  # XGBoost prints every round
            names["verbose"] = False
    return {name: value for name, value in names.items() if name in accepted}


def _pool(model: Any) -> Any:
    """The class Pool of the module that a CatBoost model comes from; None for other models."""
    from_catboost = any(base.__module__ == "catboost.core" for base in type(model).__mro__)
    return sys.modules["catboost.core"].Pool if from_catboost else None
