"""Values of the lists of all users together, such as coverage, next to metrics of users in a scorer of recommenders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.key_signs import SIGN
from sklearn_rank._metric.names import listed_metrics
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.recommenders._exposure import FROM_TRAINING, VALUES, Sums, attributes_of
from sklearn_rank.recommenders._interactions import FittedInteractions
from sklearn_rank.recommenders._top_items import TopItems, first_items

BETTER_IF_LOWER = ("gini", "popularity")
PATTERN = re.compile(rf"({SIGN})?({'|'.join(VALUES)})(?:@([1-9][0-9]*))?")

ListValue = tuple[str, int]
"""Name of a value of `exposure`, and its cutoff."""


def split_metrics(metrics: Any) -> tuple[Any, dict[str, ListValue]]:
    """Metrics of users, and values of lists by the names of what a scorer returns."""
    is_dict = isinstance(metrics, Mapping)
    named = [*metrics.items()] if is_dict else [(None, one) for one in listed_metrics(metrics)]
    values, others = dict[str, ListValue](), list[Any]()
    for given, one in named:
        found = PATTERN.fullmatch(one.strip()) if isinstance(one, str) else None
        if found is None:
            others.append((given, one))
            continue
        sign, name, k = found.groups()
        if k is None or (sign and name not in BETTER_IF_LOWER):
            raise ValueError(
                f"A value of all lists needs a cutoff, and {SIGN!r} only if lower is better, as in 'coverage@10' and "
                f"'neg_gini@10'. Got {echo(one)}."
            )
        label = (f"{name}@{k}" if given is None else str(given)).removeprefix(SIGN)
        values[f"{SIGN * (name in BETTER_IF_LOWER)}{label}"] = name, int(k)
    if not values:
        return metrics, {}
    if not others:
        raise ValueError(
            "Coverage and the like need a metric of users, as in ['ndcg@10', 'coverage@10']; for the lists of one "
            f"model there is sklearn_rank.recommenders.exposure. Got {echo(metrics)}."
        )
    return dict(others) if is_dict else [one for _, one in others], values


class ShownItems:
    """What is shown to users, collected block by block: sums for each cutoff, the source of all values."""

    def __init__(self, values: Mapping[str, ListValue], items: Any) -> None:
        self.values, self._items = values, items
        self._sums: dict[tuple[int, Any], Sums] = {}

    @property
    def depth(self) -> int:
        """Deepest cutoff; 0 without a value."""
        return max((k for _, k in self.values.values()), default=0)

    def add(self, block: Any, user: Index, item: Index, score: Array, n_users: int) -> None:
        """Count the first items of the users of a block, which is counted once."""
        for k in {k for _, k in self.values.values()}:
            top = TopItems(
                self._items, np.arange(n_users), *first_items(user, item, score, n_users, k, len(self._items))
            )
            self._sums[k, block] = Sums.of(top, sparse.csr_array(np.ones((1, n_users))))

    def compute(self, fitted: FittedInteractions | None) -> dict[str, float]:
        """Value of each name; better is higher, so values where lower is better are negative."""
        from_training = [one for one, (name, _) in self.values.items() if name in FROM_TRAINING]
        if from_training and fitted is None:
            raise ValueError(
                f"{', '.join(from_training)} reads the pairs of users and items in training, which the model does not "
                "keep: wrap it, InteractionRecommender(model)."
            )
        attributes = attributes_of(fitted, self._items) if from_training and fitted is not None else {}
        results = {}
        for label, (name, k) in self.values.items():
            parts = [sums for (depth, _), sums in self._sums.items() if depth == k]
            value = float(Sums.total(parts).values(attributes)[name][0]) if parts else np.nan
            results[label] = -value if name in BETTER_IF_LOWER else value
        return results


def with_lists(result: Evaluation, values: Mapping[str, float], *n_users: int) -> Evaluation:
    """A result with values of lists, and a note that has them and the numbers of users, which they depend on."""
    if not values:
        return result
    listed = ", ".join(f"{name.removeprefix(SIGN)} {abs(value):.4f}" for name, value in values.items())
    folds = f", mean of {len(n_users)} folds" * (len(n_users) > 1)
    note = f"{listed} (lists of {' + '.join(map(str, n_users))} users{folds})."
    return replace(result, _list_values=values, _more_notes=(note,))
