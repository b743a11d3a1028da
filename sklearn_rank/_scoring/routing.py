"""Arguments with an entry for each row, and how scikit-learn routes them to splitters, models and scorers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any, TypeVar

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metadata_routing import MetadataRequest, get_routing_for_object

from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._tables.column_arguments import MOST_LISTED
from sklearn_rank._tables.columns import column_names, find_column
from sklearn_rank._utils.docstring import completed_docstring
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.hints import has
from sklearn_rank._utils.optional import index_of

Function = TypeVar("Function", bound=Callable[..., Any])
Scorer = TypeVar("Scorer", bound="ScoreRequests")
Metadata = Mapping[str, Any]
"""One entry for each row, by the name under which scikit-learn routes it."""

INDEX_LEVELS = ("qid", "clusters", "time")
"""Metadata that splitters and scorers of this library find in the index of y."""

ROW_ARGUMENTS = {
    "X": "X : array-like or frame of shape (n_samples, n_features)",
    "y": "y : array-like of shape (n_samples,)\n    Relevance of each document to its query.",
    "qid": """qid : array-like of shape (n_samples,), default=None
    Query of each row. None: taken from the level "qid" of the index of y.""",
    "sample_weight": """sample_weight : array-like of shape (n_samples,), default=None
    Weight of each row's query in the mean; constant within a query.""",
    "clusters": """clusters : array-like of shape (n_samples,), default=None
    What each row's query belongs to, such as a user or a session. A splitter that takes it keeps clusters whole;
    intervals and tests of a result allow for them.""",
    "time": """time : array-like of shape (n_samples,), default=None
    Time of each row's query, for a splitter that takes it, such as `QueryTimeSeriesSplit`.""",
}
"""Description of each argument that has an entry for each row, for functions that do not describe it themselves."""

ROUTING_IS_OFF = (
    " Metadata routing is off, so scikit-learn does not hand on qid from params={'qid': qid} or fit(..., qid=qid): "
    "switch it on by sklearn.set_config(enable_metadata_routing=True)."
)


IN_RANKER: ContextVar[bool] = ContextVar("IN_RANKER", default=False)
"""Whether `QueryRanker` fits a model in this context."""

NESTED = (
    " QueryRanker hands queries to the splitter of its model and of the steps of a Pipeline, and not to models inside "
    "these: give them a splitter of rows, or make them a QueryRanker each and switch metadata routing on."
)


def with_row_arguments(function: Function) -> Function:
    """Decorate a function so that its docstring describes the arguments of rows that it has."""
    # python -OO removes docstrings.
    if function.__doc__:
        function.__doc__ = completed_docstring(function, ROW_ARGUMENTS)
    return function


def named_columns(X: Any, y: Any, **rows: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Features, labels and other arguments of rows; a str names a column of the frame X, whose others are features.

    Raises
    ------
    TypeError
        If X is no frame of pandas or polars, but a column is named.
    ValueError
        If X does not have such a column once, or the labels have another role, too.
    """
    given = {"y": y, **rows}
    names = {role: name for role, name in given.items() if isinstance(name, str)}
    if not names:
        return X, y, rows
    present = column_names(X)
    if present is None or not has(X, "drop"):
        listed = ", ".join(f"{role}={echo(name)}" for role, name in names.items())
        raise TypeError(f"To name columns, pass a frame of pandas or polars as X. Got {type(X).__name__} and {listed}.")
    if rows.get("qid") is None and "qid" in present:
        names["qid"] = "qid"
    for role, name in names.items():
        if present.count(name) != 1:
            near = get_close_matches(name, map(str, present))
            hint = f" Did you mean {role}={echo(near[0])}?" if near else ""
            raise ValueError(
                f"X must have each of the named columns once. Got {role}={echo(name)} and the columns "
                f"{echo_all(present, MOST_LISTED)}.{hint}"
            )
        if role != "y" and name == names.get("y"):
            raise ValueError(f"The labels must have a column of their own. Got y={echo(y)} and {role}={echo(name)}.")
    columns: dict[str, Any] = {role: find_column(X, name) for role, name in names.items()}
    attributes = [rows["by"]] if "by" in names else rows.get("by")
    if isinstance(attributes, list) and all(isinstance(name, str) and name in present for name in attributes):
        columns["by"] = {name: find_column(X, name) for name in attributes}
    # Levels of the index are no features anyway.
    taken = [name for name in {*names.values(), *columns.get("by", ())} if name in X.columns]
    features = X.drop(columns=taken) if has(X, "iloc") else X.drop(taken)
    found = given | columns
    return features, found.pop("y"), found


def find_routed_qid(y: ArrayLike, qid: ArrayLike) -> Any:
    """Query of each row, for a splitter or scorer; where there is none, say whether routing has lost it."""
    try:
        return find_qid(y, qid, name="y")
    except ValueError as error:
        is_routed = sklearn.get_config()["enable_metadata_routing"]
        lost = NESTED if IN_RANKER.get() else "" if is_routed else ROUTING_IS_OFF
        raise ValueError(f"{error}{lost}") from None


def consumes(consumer: Any, method: str, *names: str) -> bool:
    """Whether metadata of one of these names reaches a method of an estimator, splitter or scorer."""
    try:
        return bool(get_routing_for_object(consumer).consumes(method, list(names)))
    except (RecursionError, NotImplementedError):  # RidgeCV of scikit-learn 1.9 asks itself; AdaBoost has no routing
        return False


def with_queries(call: Callable[..., Any], qid: Any) -> Callable[..., Any]:
    """A call of a method that hands on queries where the estimator asks for them, such as to normalize by query."""
    if qid is None or not sklearn.get_config()["enable_metadata_routing"]:
        return call

    def routed(estimator: Any, method: str, X: Any) -> Any:
        if consumes(estimator, method, "qid"):
            return getattr(estimator, method)(X, qid=qid)
        return call(estimator, method, X)

    return routed


def request_automatically(request: Any, *names: str) -> None:
    """Request metadata of a method if the user has neither requested nor refused it.

    scikit-learn 1.10 or later does so under ``set_config(metadata_request_policy="auto")``; earlier versions never do.
    """
    if hasattr(request, "add_auto_request"):
        request.add_auto_request(*[name for name in names if request.requests.get(name) is None])


class ScoreRequests:
    """Metadata requests of a scorer: qid, and weights only if the user asks for them.

    scikit-learn 1.10 can request `sample_weight` for each of its scorers. Those are weights of rows, and a ranking
    metric takes weights of queries.
    """

    _requests: Metadata = {"qid": True, "sample_weight": False}

    def request_columns(self, columns: Iterable[str]) -> None:
        """Request columns of the data that metrics read."""
        self._requests = {**self._requests, **dict.fromkeys(columns, True)}

    def set_score_request(self: Scorer, **requests: Any) -> Scorer:
        """Request weights, or qid under another name; requests that are not named stay as they are.

        Parameters
        ----------
        **requests
            `sample_weight`, `qid` or a column that the metric reads, each True, False or the name under which it is
            passed.

        Returns
        -------
        self

        Raises
        ------
        TypeError
            If this scorer has no use for the metadata.
        """
        unknown = requests.keys() - self._requests.keys()
        if unknown:
            columns = ", ".join(map(echo, [*self._requests][2:]))
            also = f", and this one {columns}" if columns else ""
            raise TypeError(f"Ranking scorers take 'qid' and 'sample_weight'{also}. Got {', '.join(sorted(unknown))}.")
        # Shallow copies of this scorer share the dict, so make a new one.
        self._requests = {**self._requests, **requests}
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata request of this scorer: qid, and what `set_score_request` has changed."""
        request = MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        request_automatically(request.score, "qid")
        return request


class SplitRequests:
    """Metadata requests of a splitter; comes before a splitter of scikit-learn in the bases."""

    def get_metadata_routing(self) -> Any:
        """Metadata request of this splitter: the query of each row, and its cluster or time."""
        request: Any = super().get_metadata_routing()  # type: ignore[misc]
        request_automatically(request.split, *request.split.requests.keys() & {"clusters", "time"})
        return request


def fit_routed(estimator: Any, X: Any, y: Any, metadata: Metadata) -> None:
    """Fit an estimator with the metadata that it asks for."""
    with sklearn.config_context(enable_metadata_routing=True):
        estimator.fit(X, y, **{name: rows for name, rows in metadata.items() if consumes(estimator, "fit", name)})


def with_weights_on_request(estimator: Any) -> Any:
    """A copy where each `fit` that has not been asked about sample_weight goes without; scikit-learn would raise."""
    ready = clone(estimator)
    with sklearn.config_context(enable_metadata_routing=True):
        for inner in [ready, *ready.get_params(deep=True).values()]:
            if hasattr(inner, "set_fit_request") and not consumes(inner, "fit", "sample_weight"):
                # Its fit may take none.
                with suppress(TypeError):
                    inner.set_fit_request(sample_weight=False)
    return ready


def with_index(y: ArrayLike, metadata: Metadata, pandas: Any) -> Any:
    """Labels as a Series, in whose index are the query of each row, and its cluster and time where they are known."""
    levels = {name: metadata[name] for name in INDEX_LEVELS if name in metadata}
    if len(levels) > 1:
        index = pandas.MultiIndex.from_arrays([*map(index_of, levels.values())], names=[*levels])
    else:
        index = index_of(levels["qid"], "qid")
    return pandas.Series(np.asarray(y), index=index)
