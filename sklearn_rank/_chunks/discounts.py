"""Check that a callable discount gives equal weights in every part."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._metric.spec import MetricSpec


def discounts_of(specs: Iterable[MetricSpec]) -> list[Discount]:
    """Callable discounts of some metrics."""
    discounted = (spec for spec in specs if "discount" in spec.metric.formula_params)
    return [Discount(spec["discount"]) for spec in discounted if callable(spec["discount"])]


class Discount:
    """A user's function of ranks; each part calls it with as many ranks as its longest list has."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._known: NDArray[Any] = np.empty(0)

    def check(self, longest: int) -> None:
        """Raise ValueError if the weight of a rank depends on the number of ranks: values would depend on the parts."""
        if longest == len(self._known):
            return
        weights = np.asarray(self._function(np.arange(1, longest + 1)))
        n = min(longest, len(self._known))
        if not np.array_equal(weights[:n], self._known[:n]):
            raise ValueError(
                "A callable 'discount' must give a rank the same weight whatever ranks it is given beside it. "
                f"Got others for {longest} ranks than for {len(self._known)}."
            )
        if longest > n:
            self._known = weights
