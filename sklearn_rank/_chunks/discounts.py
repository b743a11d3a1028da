"""Discounts that are a user's functions: they are called once for each part, which must not show in the values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._metric.spec import MetricSpec


def discounts_of(specs: Iterable[MetricSpec]) -> list[Discount]:
    """Those of some metrics."""
    asked = (spec for spec in specs if "discount" in spec.metric.formula_params)
    return [Discount(spec["discount"]) for spec in asked if callable(spec["discount"])]


class Discount:
    """A user's function of ranks, which is asked for as many as the longest list of a batch has."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._known: NDArray[Any] = np.empty(0)

    def check(self, longest: int) -> None:
        """Refuse weights that depend on how many there are: values would depend on the batches.

        Raises
        ------
        ValueError
            If a rank has another weight than it had.
        """
        if longest == len(self._known):
            return
        found = np.asarray(self._function(np.arange(1, longest + 1)))
        n = min(longest, len(self._known))
        if not np.array_equal(found[:n], self._known[:n]):
            raise ValueError(
                "A callable 'discount' must give a rank the same weight whatever ranks it is given beside it. "
                f"Got others for {longest} ranks than for {len(self._known)}."
            )
        if longest > n:
            self._known = found
