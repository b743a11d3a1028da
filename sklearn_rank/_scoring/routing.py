"""Arguments with an entry for each row, and their routing by scikit-learn to splitters, models and scorers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from contextvars import ContextVar
from difflib import get_close_matches
from typing import Any, TypeVar

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

Function = TypeVar("Function", bound=Callable[..., Any])
Scorer = TypeVar("Scorer", bound="ScoreRequests")
Metadata = Mapping[str, Any]
"""Arrays with an entry for each row, by the name for scikit-learn's routing."""

ROW_ARGUMENTS = {
    "X": "X : array-like or frame of shape (n_samples, n_features)",
    "y": "y : array-like of shape (n_samples,)\n    Relevance of each document to its query.",
    "qid": """qid : array-like of shape (n_samples,), default=None
    Query of each row. None: read from the level "qid" of the index of y.""",
    "sample_weight": """sample_weight : array-like of shape (n_samples,), default=None
    Weight of each row's query in the mean; constant within a query.""",
    "clusters": """clusters : array-like of shape (n_samples,), default=None
    Cluster of each row's query, such as a user or a session. A splitter that uses clusters keeps them whole; intervals
    and tests of a result account for them.""",
    "time": """time : array-like of shape (n_samples,), default=None
    Time of each row's query, for a splitter that uses it, such as `QueryTimeSeriesSplit`.""",
}
"""Descriptions of arguments with an entry for each row, for functions whose docstrings omit them."""

ROUTING_IS_OFF = (
    " Metadata routing is off, so scikit-learn does not pass on qid from params={'qid': qid} or fit(..., qid=qid): "
    "switch it on by sklearn.set_config(enable_metadata_routing=True)."
)

GROUPS_ARE_FOR_SPLITTERS = (
    " groups= of cross_val_score, cross_validate or the fit of a search reaches the splitter only. Put the queries "
    "into the index of y: y=pd.Series(np.asarray(y), index=pd.Index(qid, name='qid')). Metadata routing is off; to "
    "pass params={'qid': qid}, or fit(X, y, qid=qid) of a search, switch it on by "
    "sklearn.set_config(enable_metadata_routing=True)."
)

IN_RANKER: ContextVar[bool] = ContextVar("IN_RANKER", default=False)
"""Whether `QueryRanker` fits a model in this context."""

NESTED = (
    " QueryRanker passes queries to the splitter of its model and of the steps of a Pipeline, but not to models "
    "nested in them: give nested models a splitter of rows, or wrap each in QueryRanker and switch metadata routing on."
)


def with_row_arguments(function: Function) -> Function:
    """Decorate a function: add descriptions of its row arguments to its docstring."""
    # python -OO removes docstrings.
    if function.__doc__:
        function.__doc__ = completed_docstring(function, ROW_ARGUMENTS)
    return function


def named_columns(X: Any, y: Any, **rows: Any) -> tuple[Any, Any, dict[str, Any]]:
    """Replace names of columns of the frame X by the columns; the remaining columns are the features."""
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
                f"X must have each of the named columns exactly once. Got {role}={echo(name)} and the columns "
                f"{echo_all(present, MOST_LISTED)}.{hint}"
            )
        if role != "y" and name == names.get("y"):
            raise ValueError(f"The column of labels cannot have another role. Got y={echo(y)} and {role}={echo(name)}.")
    columns: dict[str, Any] = {role: find_column(X, name) for role, name in names.items()}
    attributes = [rows["by"]] if "by" in names else rows.get("by")
    if isinstance(attributes, list) and all(isinstance(name, str) and name in present for name in attributes):
        columns["by"] = {name: find_column(X, name) for name in attributes}
    # Index levels are never features.
    taken = [name for name in {*names.values(), *columns.get("by", ())} if name in X.columns]
    features = X.drop(columns=taken) if has(X, "iloc") else X.drop(taken)
    found = given | columns
    return features, found.pop("y"), found


def find_routed_qid(y: ArrayLike, qid: ArrayLike, hint: str = GROUPS_ARE_FOR_SPLITTERS) -> Any:
    """Return the query of each row; if there is none and routing is off, the error ends with the hint."""
    try:
        return find_qid(y, qid, name="y")
    except ValueError as error:
        is_routed = sklearn.get_config()["enable_metadata_routing"]
        lost = NESTED if IN_RANKER.get() else "" if is_routed else hint
        raise ValueError(f"{error}{lost}") from None


def consumes(consumer: Any, method: str, *names: str) -> bool:
    """Whether a method of an estimator, splitter or scorer receives metadata under one of the names."""
    try:
        return bool(get_routing_for_object(consumer).consumes(method, list(names)))
    except (RecursionError, NotImplementedError):  # RidgeCV of scikit-learn 1.9 asks itself; AdaBoost has no routing
        return False


def with_queries(call: Callable[..., Any], qid: Any) -> Callable[..., Any]:
    """Wrap `call` to pass queries to estimators that request them, for example to normalize by query."""
    if qid is None or not sklearn.get_config()["enable_metadata_routing"]:
        return call

    def routed(estimator: Any, method: str, X: Any) -> Any:
        if consumes(estimator, method, "qid"):
            return getattr(estimator, method)(X, qid=qid)
        return call(estimator, method, X)

    return routed


def request_automatically(request: Any, *names: str) -> None:
    """Request metadata of a method if the user has neither requested nor refused it."""
    # scikit-learn 1.10 or later does so under ``set_config(metadata_request_policy="auto")``; earlier versions never
    # do.
    if hasattr(request, "add_auto_request"):
        request.add_auto_request(*[name for name in names if request.requests.get(name) is None])


class ScoreRequests:
    """Metadata requests of a scorer: qid, and weights only if the user asks for them.

    scikit-learn 1.10 can request `sample_weight` for each of its scorers. Its weights are weights of rows, but a
    ranking metric uses weights of queries.
    """

    _requests: Metadata = {"qid": True, "sample_weight": False}

    def request_columns(self, columns: Iterable[str]) -> None:
        """Request the data columns that the metrics read."""
        self._requests = {**self._requests, **dict.fromkeys(columns, True)}

    def set_score_request(self: Scorer, **requests: Any) -> Scorer:
        """Request weights, or qid under another name; other requests do not change.

        Parameters
        ----------
        **requests
            `sample_weight`, `qid` or a column that the metric reads: True, False, or the name of the metadata to use.

        Raises
        ------
        TypeError
            If the scorer does not use the metadata.
        """
        unknown = requests.keys() - self._requests.keys()
        if unknown:
            columns = ", ".join(map(echo, [*self._requests][2:]))
            also = f", and this scorer {columns}" if columns else ""
            raise TypeError(f"Ranking scorers use 'qid' and 'sample_weight'{also}. Got {', '.join(sorted(unknown))}.")
        # Shallow copies of this scorer share the dict, so create a new dict.
        self._requests = {**self._requests, **requests}
        return self

    def get_metadata_routing(self) -> MetadataRequest:
        """Metadata request of this scorer: qid, with the changes by `set_score_request`."""
        request = MetadataRequest(owner=self)
        for name, alias in self._requests.items():
            request.score.add_request(param=name, alias=alias)
        request_automatically(request.score, "qid")
        return request


class SplitRequests:
    """Metadata requests of a splitter; must precede a scikit-learn splitter in the bases."""

    def get_metadata_routing(self) -> Any:
        """Metadata request of this splitter: the query of each row, and the cluster or time."""
        request: Any = super().get_metadata_routing()  # type: ignore[misc]
        request_automatically(request.split, *request.split.requests.keys() & {"clusters", "time"})
        return request


def fit_routed(estimator: Any, X: Any, y: Any, metadata: Metadata) -> None:
    """Fit an estimator with the metadata that it requests."""
    with sklearn.config_context(enable_metadata_routing=True):
        estimator.fit(X, y, **{name: rows for name, rows in metadata.items() if consumes(estimator, "fit", name)})


def with_weights_on_request(estimator: Any) -> Any:
    """Return a copy whose `fit` methods get sample_weight only on request; by default scikit-learn would raise."""
    ready = clone(estimator)
    with sklearn.config_context(enable_metadata_routing=True):
        for inner in [ready, *ready.get_params(deep=True).values()]:
            if hasattr(inner, "set_fit_request") and not consumes(inner, "fit", "sample_weight"):
                # Its `fit` may not accept weights.
                with suppress(TypeError):
                    inner.set_fit_request(sample_weight=False)
    return ready
