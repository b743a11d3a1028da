"""The arguments of frames, batches and Spark: which columns hold a ranking, and which metrics read them.

Their signature, their description, their checks and the words of the errors are written here, once.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, NoReturn

from sklearn_rank._metric.names import DEFAULT_METRICS, parse_metrics
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.hints import ARRAYS_HINT, COLUMNS_HINT

CALLED = {
    "y_true": ("label", "relevance", "relevant", "rel", "grade", "y_true", "target"),
    "y_score": ("score", "y_score", "prediction", "pred", "y_pred"),
    "qid": ("qid", "query_id", "query", "q_id", "topic", "srch_id", "session_id"),
    "sample_weight": ("sample_weight", "weight"),
}
BY_QUERY_HINT = "Values by query become a column: data['qid'].map(values)."
SIMILARITY = 0.82
"""A name of at least this similarity is worth a hint: 'scores' for 'score', but not 'id' for 'qid'."""
OF_QUERIES = ("qid", "by", "clusters")
"""Roles of columns whose values are no numbers, and the same within a query."""
MOST_LISTED = 20


class ColumnNames(NamedTuple):
    """Names of the columns of a ranking; `y_true` may have several, one a subtopic, `y_score` of systems, and `by`.

    Several of `qid` name a query together.
    """

    y_true: str | Sequence[str]
    y_score: str | Sequence[str]
    qid: str | Sequence[str]
    sample_weight: str | None = None
    by: str | Sequence[str] | None = None
    clusters: str | None = None
    tie_break: str | None = None

    def flat(self) -> list[str]:
        return [name for _, name in self.by_role()]

    def distinct(self) -> list[str]:
        return [*dict.fromkeys(self.flat())]

    def by_role(self) -> list[tuple[str, str]]:
        """Names one by one, each with the argument that gave it."""
        given = ((role, [names] if isinstance(names, str) else names) for role, names in self._asdict().items())
        return [(role, name) for role, names in given if names is not None for name in names]

    def of_documents(self) -> list[str]:
        """Names of the columns that may differ within a query."""
        return [name for role, name in self.by_role() if role in ("y_true", "y_score", "tie_break")]

    def of_queries(self) -> list[str]:
        return [name for role, name in self.by_role() if role in OF_QUERIES]

    def standard(self) -> ColumnNames:
        """Names of the same columns in a table of their own: distinct, even if one column has two roles here."""
        y_true = "label" if isinstance(self.y_true, str) else [f"label{i}" for i in range(len(self.y_true))]
        weight, clusters = self.sample_weight and "weight", self.clusters and "clusters"
        by = [f"by{i}" for i in range(len([name for role, name in self.by_role() if role == "by"]))]
        return ColumnNames(y_true, "score", "qid", weight, by or None, clusters)

    def __str__(self) -> str:
        return ", ".join(f"{role}={echo(names)}" for role, names in self._asdict().items() if names is not None)


class ColumnRequest(NamedTuple):
    """Metrics, and the names of the columns that they read."""

    specs: dict[str, MetricSpec]
    names: ColumnNames


def column_arguments(
    data: Any, *, metrics: MetricsLike = DEFAULT_METRICS, y_true: str | Sequence[str] = "label", y_score: str = "score",
    qid: str | Sequence[str] = "qid", sample_weight: str | None = None, **keywords: Any,
) -> ColumnRequest:  # fmt: skip
    """Check the arguments that name columns and metrics; whoever reads `data` checks it.

    Parameters
    ----------
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        As in `sklearn_rank.evaluate`.
    y_true : str or list of str, default="label"
        Column of the relevance of each row; a list of columns, one a subtopic, for metrics of diversity. A null is a
        document without a judgment, which `unjudged` says how to read.
    y_score : str, default="score"
        Column of the output of the model. ``-inf``: judged but not retrieved.
    qid : str or list of str, default="qid"
        Column of the query of each row; for pandas also a level of the index. Ids are of one type everywhere. Of
        several columns, such as ``["tenant", "query_id"]``, the query is the tuple of their values.
    sample_weight : str or None, default=None
        Column of the weight of each row's query in the mean; constant within a query.
    chance : bool, default=False
        Whether to compute what a random order and the best one would have, too: the result prints both, and keeps them
        when it is saved. See `Evaluation.chance`.
    n_jobs : int or None, default=None
        Threads to use, counted as in joblib. The result is the same to the last bit.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`; those in a name win.

    Raises
    ------
    TypeError
        If the name of a column is not a str, or a metric or keyword is not what it must be.
    ValueError
        If labels, scores and queries share a column, or a metric does not take labels of subtopics.
    """
    specs = parse_metrics(metrics, **keywords)
    names = checked_names(ColumnNames(y_true, y_score, qid, sample_weight))
    _refuse_subtopics(names, specs)
    return ColumnRequest(specs, names)


ARGUMENT = re.compile(r"(?<!['\w.])(y_true|y_score|qid)(?:\[('[^']*')\])?(?![\w=.'\[])")
"""The name of an argument in an error, of y_score also with the name of a system."""


def about_columns(error: Exception, names: ColumnNames) -> TypeError | ValueError:
    """The same error, which speaks of the columns of the table in place of arguments."""

    def column(found: re.Match[str]) -> str:
        name = getattr(names, found[1])
        return f"column {found[2] or echo(name)}" if found[2] or isinstance(name, str) else found[0]

    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{ARGUMENT.sub(column, str(error))} The columns are {names}.")


def checked_names(names: ColumnNames, several: Sequence[str] = ("y_true", "qid", "by")) -> ColumnNames:
    for role, given in names._asdict().items():
        is_list = role in several and isinstance(given, Iterable) and not isinstance(given, str | Mapping)
        listed = [*given] if is_list else [given]
        optional = given is None and role in ColumnNames._field_defaults
        named = listed and all(isinstance(name, str) for name in listed) and len({*listed}) == len(listed)
        if not optional and not named:
            hint = ARRAYS_HINT * hasattr(given, "__len__")
            hint = COLUMNS_HINT * (role == "y_score") if isinstance(given, (list, tuple, dict)) else hint
            if role in ("sample_weight", "by", "clusters") and isinstance(given, Mapping):
                hint = BY_QUERY_HINT
            raise TypeError(
                "A column is named by a str; y_true by a list of them for subtopics, qid for columns that name a query "
                f"together, by for several attributes, each once. Got {echo(given)} for {role}.{' ' * bool(hint)}{hint}"
            )
    role_of: dict[str, str] = {}
    for role, name in ColumnNames(*names[:3]).by_role():
        if name in role_of:
            raise ValueError(
                "y_true, y_score and qid must be different columns; copy one to rank by the labels. "
                f"Got {echo(name)} as {role_of[name]} and as {role}."
            )
        role_of[name] = role
    return names


def _refuse_subtopics(names: ColumnNames, specs: Mapping[str, MetricSpec]) -> None:
    """Raise ValueError if several columns of labels are for a metric that takes one label per document."""
    n_columns = 1 if isinstance(names.y_true, str) else len(names.y_true)
    for name, spec in specs.items():
        if n_columns > 1 and not spec.metric.subtopics:
            raise ValueError(
                f"{echo(name)} takes one label per document, so y_true must be one column; labels of subtopics are for "
                f"metrics such as alpha_ndcg. Got {n_columns} columns for y_true."
            )


def refuse_missing_columns(names: ColumnNames, present: Iterable[Any], where: str = "data") -> None:
    present = [*present]
    wrong = {name: present.count(name) for name in names.flat() if present.count(name) != 1}
    if wrong:
        got = " and ".join(f"{count or 'no'} {echo(name)}" for name, count in [*wrong.items()][:MOST_LISTED])
        listed = echo_all(present, MOST_LISTED)
        raise ValueError(
            f"{where} must have each of the columns once: {names}. "
            f"Got {got} among {listed or 'no columns'}.{_did_you_mean(names, present)}"
        )


def _did_you_mean(names: ColumnNames, present: Sequence[Any]) -> str:
    """Hint at columns that have no other role and whose names are close to those that are missing."""
    free = {name.lower(): name for name in present if isinstance(name, str) and name not in names.flat()}
    meant = []
    for role, name in names.by_role():
        # Systems and subtopics have names of their own, so the usual name of one column does not help there.
        one = isinstance(getattr(names, role), str)
        words = (name, *(CALLED.get(role, ()) if one else ())) if name not in present else ()
        near = [word for asked in words for word in difflib.get_close_matches(asked.lower(), free, 1, SIMILARITY)]
        if near:
            meant.append(f"{role}={echo(free.pop(near[0]))}")
    return f" Did you mean {', '.join(meant)}?" if meant else ""


def refuse_other_types(names: ColumnNames, types: Mapping[str, Any], is_number: Callable[[Any], bool]) -> None:
    """Raise TypeError if the schema of a table says that labels, scores or weights are not numbers."""
    for role, name in names.by_role():
        if role not in OF_QUERIES and not is_number(types[name]):
            raise TypeError(
                f"{role} must hold real numbers. Got the column {echo(name)} of type {types[name]} instead."
            )


def refuse_no_rows(where: str) -> NoReturn:
    raise ValueError(f"At least one row is needed. Got {where} without rows.")
