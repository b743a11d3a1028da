"""The members of a result that the statistics read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol, TypeGuard

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.typing import Array


class QueryResult(Protocol):
    """Values of metrics per query, with what is needed to know whether two results may be compared."""

    @property
    def qid(self) -> NDArray[Any]:
        """Query ids."""

    @property
    def per_query(self) -> Mapping[str, Array]:
        """Value of each metric for each query."""

    @property
    def meaning(self) -> Mapping[str, str]:
        """Each metric with all its keywords: values are compared only if these are equal."""

    @property
    def greater_is_better(self) -> Mapping[str, bool]:
        """Whether a higher value of a metric is better."""

    @property
    def label_fingerprints(self) -> NDArray[np.uint32] | None:
        """Fingerprint of the labels of each query; None if unknown."""

    @property
    def clusters(self) -> NDArray[Any] | None:
        """What each query belongs to; None where queries are independent."""

    def counts_queries_equally(self, metric: str) -> bool:
        """Whether the mean of a metric gives every query the same weight, as tests and intervals assume."""


def is_result(values: Any) -> TypeGuard[QueryResult]:
    """Whether `values` is a result rather than an array; the class is inspected, so that nothing is computed."""
    return hasattr(type(values), "label_fingerprints")
