"""Types of arrays and of scikit-learn's objects, for many modules."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from pandas import DataFrame as DataFrame
else:
    DataFrame = Any

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]


class SparseLike(Protocol):
    """Sparse matrix or array of scipy."""

    @property
    def tocsr(self) -> Callable[..., Any]:
        """Method that converts it to compressed rows."""


class FrameLike(Protocol):
    """Frame of columns with names: pandas, polars."""

    @property
    def columns(self) -> Iterable[str]:
        """Names of the columns."""

    def __getitem__(self, name: Any, /) -> Any:
        """Column of a name."""


class Estimator(Protocol):
    """Object with scikit-learn's `fit`: a ranker, a regressor, a classifier, a Pipeline, a search."""

    @property
    def fit(self) -> Callable[..., Any]:
        """Method that fits it to data."""


class Splitter(Protocol):
    """Object with scikit-learn's `split`: a cross-validation iterator."""

    @property
    def split(self) -> Callable[..., Any]:
        """Method that yields indices of training and test rows."""


MatrixLike = ArrayLike | SparseLike
PathLike = str | os.PathLike[str]
RandomState = int | np.random.RandomState | np.random.Generator | None
CVLike = int | Splitter | Iterable[tuple[ArrayLike, ArrayLike]] | None
