"""Generated data for experiments with rankers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, is_count, is_real, random_of
from sklearn_rank._utils.echo import echo

__all__ = ["make_ranking"]


@named_arguments
def make_ranking(
    n_queries: int = 100,
    n_features: int = 20,
    *,
    n_informative: int | None = None,
    n_documents: tuple[int, int] = (5, 40),
    grades: ArrayLike = (0.5, 0.3, 0.13, 0.05, 0.02),
    noise: float = 0.5,
    string_qid: bool = False,
    shuffle: bool = False,
    random_state: int | np.random.RandomState | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[Any]]:
    """Generate queries with documents, features and graded relevance, like `make_regression` for regression.

    The relevance of a document is a linear function of its informative features plus noise, cut into grades. Features
    have a different offset in each query, so that they are comparable only within a query. Half of the informative
    features act through their square, so that trees can beat linear models.

    Parameters
    ----------
    n_queries : int, default=100
    n_features : int, default=20
    n_informative : int, default=None
        Number of features that determine the relevance; they come first. None: 5, or all if there are fewer.
    n_documents : (int, int), default=(5, 40)
        Minimum and maximum number of documents of a query; numbers are uniform between them.
    grades : sequence of float, default=(0.5, 0.3, 0.13, 0.05, 0.02)
        Share of each grade 0, 1, ... over all documents; a query may lack any grade.
    noise : float, default=0.5
        Standard deviation of the noise; the signal has standard deviation 1.
    string_qid : bool, default=False
        Whether query ids are strings such as "q17" instead of ints.
    shuffle : bool, default=False
        Whether to shuffle the rows, so that rows of a query are not adjacent.
    random_state : int, RandomState instance or None, default=None
        The same seed gives the same data.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        Integer grades, 0 to ``len(grades) - 1``.
    qid : ndarray of shape (n_samples,)

    Raises
    ------
    ValueError
        If a parameter is out of range.

    Examples
    --------
    >>> from sklearn_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_queries=3, n_documents=(2, 4), random_state=0)
    >>> X.shape[1], len(X) == len(y) == len(qid)
    (20, True)
    >>> sorted(set(qid.tolist()))
    [0, 1, 2]
    """
    COUNT("n_features", n_features, "make_ranking")
    n_informative = min(5, n_features) if n_informative is None else n_informative
    _check_shape(n_queries, n_features, n_informative, n_documents, noise)
    share = _shares(grades)
    random = random_of(random_state, "make_ranking")
    sizes = random.randint(n_documents[0], n_documents[1] + 1, size=n_queries)
    number = np.repeat(np.arange(n_queries), sizes)
    within = random.normal(size=(len(number), n_features))
    signal = _signal(within[:, :n_informative], random.uniform(0.5, 1.5, size=n_informative))
    relevance = signal + noise * random.normal(size=len(number))
    y = np.searchsorted(np.quantile(relevance, np.cumsum(share)[:-1]), relevance)
    X = within + random.normal(size=(n_queries, n_features))[number]
    qid = np.array([f"q{i}" for i in range(n_queries)])[number] if string_qid else number
    if shuffle:
        rows = random.permutation(len(number))
        X, y, qid = X[rows], y[rows], qid[rows]
    return X, y, qid


def _signal(informative: NDArray[np.float64], weight: NDArray[np.float64]) -> NDArray[np.float64]:
    parts = informative.copy()
    parts[:, 1::2] = parts[:, 1::2] ** 2
    signal = parts @ weight
    return (signal - signal.mean()) / max(signal.std(), np.finfo(float).tiny)


def _shares(grades: ArrayLike) -> NDArray[np.float64]:
    """Check and return the share of each grade."""
    try:
        share = np.asarray(grades, dtype=np.float64)
    except (TypeError, ValueError):  # ragged, or no numbers
        share = np.empty(0)
    if share.ndim != 1 or len(share) < 2 or not (share >= 0).all() or not np.isclose(share.sum(), 1):
        raise ValueError(f"'grades' must be two or more shares that add up to 1. Got {echo(grades)} instead.")
    return share


def _check_shape(n_queries: Any, n_features: Any, n_informative: Any, n_documents: Any, noise: Any) -> None:
    COUNT("n_queries", n_queries, "make_ranking")
    COUNT("n_informative", n_informative, "make_ranking")
    if n_informative > n_features:
        raise ValueError(
            f"'n_informative' must not be above 'n_features'. Got {n_informative} and {n_features} instead."
        )
    pair = isinstance(n_documents, (list, tuple, np.ndarray)) and np.shape(n_documents) == (2,)
    if not pair or not all(map(is_count, n_documents)) or n_documents[0] > n_documents[1]:
        raise ValueError(
            "The 'n_documents' parameter of make_ranking must be the minimum and maximum number of documents, two "
            f"ints >= 1 such as (5, 5). Got {echo(n_documents)} instead."
        )
    if not is_real(noise) or noise < 0:
        raise ValueError(f"The 'noise' parameter of make_ranking must be a number >= 0. Got {echo(noise)} instead.")
