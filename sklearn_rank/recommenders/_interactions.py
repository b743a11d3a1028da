"""Interactions, rows of a user and an item: their columns, and the pairs that a model was fitted on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, replace
from itertools import chain, repeat
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_rank._engine.columns import check_features, check_rows, names_of, one_column
from sklearn_rank._engine.grouping import distinct_ids, group_rows
from sklearn_rank._engine.ids import SpellingError, ids_of, refuse_unfit_ids
from sklearn_rank._ranker.estimator_checks import check_estimator, with_inner
from sklearn_rank._scoring.fit_data import echo_id, index_rows
from sklearn_rank._scoring.fitted_queries import FittedRows
from sklearn_rank._scoring.response import RESPONSE, predict_scores
from sklearn_rank._tables.roles import candidates, normalized_name
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.blocks import PREDICTED_PAIRS, cut_rows
from sklearn_rank._utils.constraints import COUNT
from sklearn_rank._utils.containers import check_lengths, n_rows_of
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Estimator, Index, MatrixLike
from sklearn_rank.io import Entries

Column = str | int | None
"""Name of a column of a frame, or number of a column of an array; None for the default one."""

DEFAULT_NAMES = {"user": ("user_id",), "item": ("item_id",), "time": ("time", "timestamp", "datetime")}
"""Columns of a frame that are taken where none is named: the first of these, or one that `compare_systems` reads."""

DEFAULT_PLACES = {"user": 0, "item": 1}
"""Columns of an array that are taken where none is named. A third column may be anything, so it is no time."""


def has_column(X: Any, what: str, name: Column) -> bool:
    """Whether X has a column of users, items or times, by the name given or the default."""
    return _key_of(X, what, name) is not None


def interaction_column(X: Any, what: str, name: Column, caller: str) -> Any:
    """Column of X that holds users, items or times."""
    key = _key_of(X, what, name)
    if key is None:
        asked = f"{what}={echo(name)}" if name is not None else " or ".join(map(echo, DEFAULT_NAMES[what]))
        names, arrays = names_of(X), "" if what == "time" else f", or column {DEFAULT_PLACES[what]} of an array"
        # Other arguments than X have no keyword for their columns.
        others = ": rename it" if " of " in caller else f", or another that {what}= names"
        got = f"the columns {echo_all(names)}" if names is not None else f"an array of shape {np.shape(X)}"
        raise ValueError(
            f"{caller} needs the {what} of each row: the column {asked} of a frame{arrays}{others}. Got {got}."
        )
    return X[key] if names_of(X) is not None else X[:, key]


def _key_of(X: Any, what: str, name: Column) -> Any:
    """Name or number of a column that X has; None if it has none."""
    names = names_of(X)
    if names is not None:
        known = next((one for one in (DEFAULT_NAMES[what] if name is None else (name,)) if one in [*names]), None)
        if known is not None or name is not None:
            return known
        times = [one for one in names if normalized_name(one) in DEFAULT_NAMES["time"]]
        roles = candidates(names, "judgments")
        found = {"user": roles.qid, "item": roles.doc_id, "time": times}[what]
        return found[0] if len(found) == 1 else None
    place = DEFAULT_PLACES.get(what) if name is None else name
    n_columns = np.shape(X)[1] if np.ndim(X) == 2 else 0
    is_place = isinstance(place, (int, np.integer)) and not isinstance(place, bool) and 0 <= int(place) < n_columns
    return place if is_place else None


def check_column_name(name: str, value: Any, caller: str) -> None:
    """Refuse what can be no name and no number of a column."""
    if value is not None and (isinstance(value, bool) or not isinstance(value, (str, int, np.integer))):
        raise TypeError(
            f"The {name!r} parameter of {caller} must be the name of a column of a frame, the number of a column of an "
            f"array, or None. Got {echo(value)} instead."
        )


@dataclass(frozen=True)
class InteractionColumns:
    """Names of the columns of users and items, and of the object that was told them, for errors."""

    user: Column
    item: Column
    caller: str

    def table(self, X: Any, name: str = "X") -> InteractionTable:
        """Rows of users and items; `name` is theirs in an error."""
        X, caller = _as_table(X, name, self.caller), self.caller if name == "X" else f"{name} of {self.caller}"
        user, item = (interaction_column(X, what, getattr(self, what), caller) for what in ("user", "item"))
        return InteractionTable(X, user, item, self)

    def ids(self, X: Any, what: str) -> NDArray[Any]:
        """Ids of the users or the items of the rows of X."""
        return _ids_in(interaction_column(_as_table(X, "X", self.caller), what, getattr(self, what), self.caller), what)


def _as_table(X: Any, name: str, caller: str) -> Any:
    """A frame of pandas or polars, or an array."""
    n_rows_of(X, name)
    is_frame = hasattr(X, "iloc") or hasattr(X, "gather_every")
    if hasattr(X, "tocsr") or (names_of(X) is not None and not is_frame):
        raise TypeError(f"{name} of {caller} must be a frame of pandas or polars, or an array. Got {type(X).__name__}.")
    # NumPy would turn a number beside a name into text.
    return X if is_frame or isinstance(X, np.ndarray) else np.array(X, dtype=object)


def _ids_in(column: Any, what: str) -> NDArray[Any]:
    """Ids in a column, all there."""
    missing = f"Each row of X needs {'a user' if what == 'user' else 'an item'}. Got None or NaN."
    # A column of an array of objects may hold only numbers.
    is_of_objects = isinstance(column, np.ndarray) and column.dtype == object
    ids = ids_of(column.tolist() if is_of_objects else column, missing)
    refuse_unfit_ids(ids, missing)
    return ids


Ids = NDArray[Any] | list[Any]


def numbered(ids: Ids, name: str) -> tuple[NDArray[Any], Index]:
    """Distinct ids in order of first appearance, and the number of each of the ids; `name` is theirs in an error."""
    try:
        known, number = distinct_ids(ids, len(ids))
    except SpellingError:
        raise
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be ids that can be hashed. Got {echo([*ids])}.") from None
    return known, number.astype(np.int64)


@dataclass(frozen=True)
class InteractionTable:
    """Rows of users and items: columns of the container that they came in."""

    X: Any
    user: Any
    item: Any
    columns: InteractionColumns

    def ids(self, what: str) -> NDArray[Any]:
        """Ids of the users or the items of the rows."""
        return _ids_in(getattr(self, what), what)

    @property
    def names(self) -> list[Any]:
        """Names or numbers of the two columns, users first."""
        return [_key_of(self.X, what, getattr(self.columns, what)) for what in ("user", "item")]

    def pairs(self) -> Any:
        """Only the two columns, users first, in the same container."""
        return self.X[self.names] if names_of(self.X) is not None else self.X[:, self.names]

    def crossed_with(self, items: NDArray[Any]) -> CrossedPairs:
        """Pairs of users in rows with each of some items, to be made a few users at a time."""
        return CrossedPairs(self, items)


class CrossedPairs:
    """Pairs of users and all items, in the container, the types and under the names of a table."""

    def __init__(self, table: InteractionTable, items: NDArray[Any]) -> None:
        self._X, self._user = table.X, table.user
        self._names = table.names
        self._item = _like(table.item, items)
        self.n_items = len(items)

    def of_rows(self, rows: Index) -> Any:
        """The users in some rows, each with all items."""
        user, item = np.repeat(rows, self.n_items), np.tile(np.arange(self.n_items), len(rows))
        columns = [_taken(self._user, user), _taken(self._item, item)]
        if names_of(self._X) is not None:
            return type(self._X)(dict(zip(self._names, columns, strict=True)))
        dtype = self._X.dtype if self._X.dtype == object else np.result_type(*columns)
        pairs = np.empty((len(user), 2), dtype=dtype)
        pairs[:, 0], pairs[:, 1] = columns
        return pairs


def _like(column: Any, ids: NDArray[Any]) -> Any:
    """Ids as a column of the type of another one, as far as that holds them."""
    if isinstance(column, np.ndarray):
        return ids.astype(object) if column.dtype == object else ids
    if hasattr(column, "gather"):  # polars
        return type(column)("", ids.tolist()).cast(column.dtype)
    values = type(column)(ids)
    # A categorical type has no other ids than its own.
    if hasattr(column, "cat") and not values.isin(column.cat.categories).all():
        return values
    try:
        cast = values.astype(column.dtype)
    except (TypeError, ValueError):
        return values
    # Text may have become numbers.
    return cast if cast.tolist() == ids.tolist() else values


def _taken(column: Any, rows: Index) -> Any:
    """Entries of a column in some rows."""
    if hasattr(column, "gather"):  # polars
        return column.gather(rows)
    return column[rows] if isinstance(column, np.ndarray) else column.array.take(rows)


MISSING_ITEM = "items must not contain missing values. Got None or NaN."


def check_item_ids(items: Any) -> NDArray[Any]:
    """Ids of all items, each once."""
    if isinstance(items, Set) or (isinstance(items, Iterable) and not hasattr(items, "__len__")):
        items = [*items]
    if isinstance(items, (str, bytes, Mapping)) or not hasattr(items, "__len__"):
        raise TypeError(
            "items must be the ids of all items that can be recommended, such as X['item_id'].unique(). "
            f"Got {echo(items)}."
        )
    ids = ids_of(items, MISSING_ITEM)
    if ids.ndim != 1:
        raise ValueError(f"items must be a list of ids, one for each item. Got shape {ids.shape}.")
    if not len(ids):
        raise ValueError("items must hold at least one item. Got none.")
    refuse_unfit_ids(ids, MISSING_ITEM)
    known, number = numbered(ids, "items")
    if len(known) < len(ids):
        twice = known[np.argmax(np.bincount(number) > 1)]
        raise ValueError(
            f"items must have each item once: use pd.unique(items). Got {len(ids)} items, {len(known)} of them "
            f"different, and {echo_id(twice)} several times."
        )
    return ids


class IdIndex:
    """Places of ids in a list of distinct ones."""

    def __init__(self, ids: NDArray[Any]) -> None:
        self.ids = ids
        self._order = np.argsort(ids) if ids.dtype.kind in "iu" else None
        self._sorted = None if self._order is None else ids[self._order]
        self._place_of: dict[Any, int] | None = None

    def places(self, ids: NDArray[Any]) -> Index:
        """Place of each id, -1 where it is not in the list."""
        if self._sorted is not None and self._order is not None and ids.dtype.kind in "iu":
            if not len(self._sorted):
                return np.full(len(ids), -1)
            at = np.minimum(np.searchsorted(self._sorted, ids), len(self._sorted) - 1)
            return np.where(self._sorted[at] == ids, self._order[at], -1)
        if self._place_of is None:
            self._place_of = {one: place for place, one in enumerate(self.ids.tolist())}
        known = self._place_of
        return np.fromiter(map(known.get, ids.tolist(), repeat(-1)), dtype=np.int64, count=len(ids))


@dataclass(frozen=True)
class FittedInteractions(FittedRows):
    """Distinct pairs of users and items: pair p is user ``p // len(items)`` and item ``p % len(items)``, in order."""

    users: NDArray[Any]
    items: NDArray[Any]
    pair: Index
    columns: InteractionColumns

    @classmethod
    def of(cls, users: Ids, items: Ids, columns: InteractionColumns, n_items: Any = 1) -> FittedInteractions:
        """Pairs of rows, `n_items` of each user after the other."""
        (of_users, user), (of_items, item) = numbered(users, "Users"), numbered(items, "Items")
        pair = np.repeat(user, n_items) * len(of_items) + item
        return cls(of_users, of_items, distinct_values(pair), columns)

    def bounds(self, users: Index) -> tuple[Index, Index]:
        """First and last of the pairs of some users, by number; none for -1."""
        first, last = (np.searchsorted(self.pair, (users + i) * len(self.items)) for i in (0, 1))
        return first, last

    def contains(self, users: Index, items: Index) -> NDArray[np.bool_]:
        """Whether each pair of numbers is one of these; a number of -1 is not known."""
        if not len(self.pair):
            return np.zeros(len(users), dtype=bool)
        asked = users * len(self.items) + items
        at = np.minimum(np.searchsorted(self.pair, asked), len(self.pair) - 1)
        return (items >= 0) & (self.pair[at] == asked)

    def check(self, X: MatrixLike, y: Any, qid: Any, before: tuple[Any, ...]) -> None:
        """Refuse a metric of rows where users are in fit with other rows: it would rank only their test rows."""
        grouping = group_rows(qid, len(y))
        of_row = IdIndex(self.users).places(grouping.ids)[grouping.query_of_row]
        table = self.columns.table(X)
        item = IdIndex(self.items).places(table.ids("item"))
        is_new = (of_row >= 0) & ~self.contains(of_row, item)
        pairs = distinct_values((of_row * len(self.items) + item)[(of_row >= 0) & (item >= 0)])
        n_here = np.bincount(pairs // len(self.items), minlength=len(self.users))
        n_fit = np.bincount(self.pair // len(self.items), minlength=len(self.users))
        torn = (n_here > 0) & (n_here < n_fit)
        torn[of_row[is_new]] = True
        if torn.any():
            raise ValueError(
                "A metric of rows ranks only the test rows of a user, and mostly all of them are relevant. Splits of "
                "interactions cut users on purpose, so score with make_recommender_scorer('ndcg@10', items=...), which "
                f"ranks all items. Got {torn.sum()} of {grouping.n_queries} users with other rows than in fit, "
                f"one of them {echo_id(self.users[np.argmax(torn)])}."
            )


def read_pairs(pairs: Any, columns: InteractionColumns, name: str = "exclude") -> FittedInteractions:
    """Pairs that a user gave as the argument `name`: rows of users and items, or a mapping from users to items."""
    if isinstance(pairs, Entries):
        users, items = (np.asarray(ids).tolist() for ids in (pairs.qid, pairs.doc_id))
        return FittedInteractions.of(users, items, columns)
    if not isinstance(pairs, Mapping):
        table = columns.table(pairs, name)
        return FittedInteractions.of(table.ids("user"), table.ids("item"), columns)
    lists = [
        [*items] if not isinstance(items, (str, bytes)) and hasattr(items, "__iter__") else None
        for items in pairs.values()
    ]
    if None in lists:
        user = [*pairs][lists.index(None)]
        raise TypeError(f"{name} must have items for each user. Got {echo(pairs[user])} for user {echo(user)}.")
    users = [user for user, items in zip(pairs, lists, strict=True) if items]
    return FittedInteractions.of(
        users, [*chain.from_iterable(filter(None, lists))], columns, [len(items) for items in lists if items]
    )


def read_excluded(exclude: Any, columns: InteractionColumns, caller: str) -> FittedInteractions | None:
    """Pairs to exclude; None for those in training."""
    if not isinstance(exclude, str):
        return read_pairs({} if exclude is None else exclude, columns)
    if exclude != "train":
        raise ValueError(
            f"The 'exclude' parameter of {caller} must be 'train', rows of users and items, a dict of users to items, "
            f"or None. Got {echo(exclude)} instead."
        )
    return None


def predicts_pairs(recommender: InteractionRecommender) -> bool:
    """Condition of `available_if`: the model inside scores pairs."""
    return any(hasattr(recommender.estimator, method) for method in RESPONSE)


def lists_items(model: Any) -> bool:
    """Whether a model, or the one inside an `InteractionRecommender`, lists items by itself."""
    model = model.estimator if isinstance(model, InteractionRecommender) else model
    return callable(getattr(model, "recommend", None))


class InteractionRecommender(MetaEstimatorMixin, BaseEstimator):
    """A recommender that remembers the pairs of users and items in training.

    scikit-learn passes only the test rows to a scorer, so the scorers of `make_recommender_scorer` read the training
    items of each user here.

    Parameters
    ----------
    estimator : estimator
        Model with ``fit(X, y)``, and with ``predict(X)``, a score for each row of X, or ``recommend(users, k)``. It
        gets only two columns, users and items in this order: a frame if X in `fit` is a frame, otherwise an array.
    user, item : str or int, default=None
        Columns of X: names in a frame of pandas or polars, numbers in an array. None: "user_id" and "item_id" of a
        frame, the first and the second column of an array.

    Attributes
    ----------
    estimator_ : estimator
        The fitted model.
    users_, items_ : ndarray
        Ids in `fit`, in order of first appearance.

    Notes
    -----
    ``predict`` returns NaN for an unknown user or item; a classifier is ranked by its expected grade. A model with
    ``recommend(users, k)`` returns, for each user of an array of ids, at most `k` ids of items, best first: a matrix or
    a list of lists, with an empty list for an unknown user. The lists may include items of training.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_rank import InteractionRecommender
    >>> class Popular(BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         self.counts_ = X["item_id"].value_counts()
    ...         return self
    ...
    ...     def recommend(self, users, k):
    ...         return [self.counts_.index[:k]] * len(users)
    >>> X = pd.DataFrame({"user_id": [*"aab"], "item_id": ["tea", "milk", "tea"]})
    >>> recommender = InteractionRecommender(Popular()).fit(X)
    >>> [*recommender.recommend(["b"], 1)[0]]
    ['tea']
    """

    estimator_: Any
    _fitted_queries: FittedInteractions
    _first_row: InteractionTable
    """The container, the names and the types of the columns that the model takes."""

    @named_arguments
    def __init__(self, estimator: Estimator, *, user: Column = None, item: Column = None) -> None:
        self.estimator = estimator
        self.user = user
        self.item = item

    @named_arguments
    def fit(self, X: MatrixLike, y: Any = None, *, sample_weight: ArrayLike | None = None) -> InteractionRecommender:
        """Fit the model on pairs, and remember them.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)
            A row for each interaction. The model gets only the columns of users and items.
        y : array-like of shape (n_samples,), default=None
            Rating or count of each row. None: all rows count the same.
        sample_weight : array-like of shape (n_samples,), default=None
            Passed to the model if it is not None.

        Returns
        -------
        self

        Raises
        ------
        ValueError
            If X has no such columns, or a user or an item is missing.
        TypeError
            If `estimator` is not an estimator.
        """
        check_estimator(self.estimator, "The 'estimator' parameter of InteractionRecommender", must_predict=False)
        columns = self._columns
        table = columns.table(X)
        check_lengths(X=X, y=y, sample_weight=sample_weight)
        check_rows(y=y, sample_weight=sample_weight)
        check_features(X, y=y, sample_weight=sample_weight)
        fitted = FittedInteractions.of(table.ids("user"), table.ids("item"), columns)
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        labels = () if y is None else (one_column(y),)
        self.estimator_ = clone(self.estimator).fit(table.pairs(), *labels, **weights)
        self._fitted_queries, self.users_, self.items_ = fitted, fitted.users, fitted.items
        self._first_row = columns.table(index_rows(table.X, np.arange(1)))
        return self

    @available_if(predicts_pairs)
    def predict(self, X: MatrixLike) -> NDArray[Any]:
        """Score of each pair of a user and an item: higher ranks first.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)

        Returns
        -------
        ndarray of shape (n_samples,)
            NaN for pairs that the model does not rank.
        """
        check_is_fitted(self, "estimator_")
        return np.asarray(predict_scores(self.estimator_, self._columns.table(X).pairs()))

    @named_arguments
    def recommend(self, users: ArrayLike, k: int, items: Any = None, exclude: Any = None) -> Any:
        """The first items for each user, best first: from the model's own lists, or by its scores of all items.

        Parameters
        ----------
        users : array-like of shape (n_users,)
        k : int
            Number of items for each user.
        items : array-like of shape (n_items,), default=None
            Items that can be recommended. None: the items in `fit`.
        exclude : "train", rows of users and items, dict of users to items, or None, default=None
            Pairs to exclude: the pairs in `fit`, or pairs of your own.

        Returns
        -------
        matrix or list of lists
            Ids of items, best first; fewer than `k` if the model ranks fewer. Equal scores keep the order of `items`.

        Raises
        ------
        ValueError, TypeError
            If `k`, `items` or `exclude` is not as described.
        """
        check_is_fitted(self, "estimator_")
        COUNT("k", k, "InteractionRecommender.recommend")
        is_list = lists_items(self)
        if is_list and items is None and exclude is None:
            return self.estimator_.recommend(users, k)
        out = read_excluded(exclude, self._columns, "recommend") or self._fitted_queries
        ids = self.items_ if items is None else check_item_ids(items)
        user_ids = ids_of(users)
        lists = self._listed(user_ids, len(self.items_)) if is_list else self._ranked(user_ids, ids)
        places, allowed = IdIndex(out.items), IdIndex(ids)
        number, result = IdIndex(out.users).places(user_ids), []
        for user, listed in zip(number, lists, strict=True):
            kept = allowed.places(listed) >= 0
            if user >= 0:
                kept &= ~out.contains(np.full(len(listed), user), places.places(listed))
            result.append(listed[kept][:k].tolist())
        return result

    def _listed(self, users: NDArray[Any], k: int) -> Iterator[NDArray[Any]]:
        """Items that the model lists for each user."""
        for listed in self.estimator_.recommend(users, k):
            yield ids_of(listed.tolist() if hasattr(listed, "tolist") else [*listed])

    def _ranked(self, users: NDArray[Any], items: NDArray[Any]) -> Iterator[NDArray[Any]]:
        """Items by falling score for each user, a block of users at a time; NaN is no score."""
        table = self._first_row
        pairs = replace(table, user=_like(table.user, users)).crossed_with(items)
        for block in cut_rows(len(users), PREDICTED_PAIRS // len(items)):
            rows = np.arange(*block)
            score = np.asarray(predict_scores(self.estimator_, pairs.of_rows(rows)), dtype=np.float64)
            for of_user in score.reshape(len(rows), len(items)):
                order = np.argsort(-of_user, kind="stable")
                yield items[order[~np.isnan(of_user[order])]]

    @property
    def _columns(self) -> InteractionColumns:
        return InteractionColumns(self.user, self.item, "InteractionRecommender")


def as_recommender(estimator: Estimator, columns: InteractionColumns) -> Any:
    """Wrap a model in `InteractionRecommender`, unless one is inside."""
    if any(isinstance(inner, InteractionRecommender) for inner in with_inner(estimator)):
        return estimator
    return InteractionRecommender(estimator, user=columns.user, item=columns.item)


def ranking_model(estimator: Any) -> Any:
    """What ranks for a fitted search, or for a Pipeline of one step."""
    steps: list[Any] = getattr(estimator, "steps", [])
    inner = getattr(estimator, "best_estimator_", steps[0][1] if len(steps) == 1 else None)
    return estimator if inner is None else ranking_model(inner)
