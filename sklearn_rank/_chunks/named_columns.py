"""Names of the columns of a ranking: which are asked for, and what an error says where a table lacks one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.hints import ARRAYS_HINT, COLUMNS_HINT

CALLED = {
    "y_true": ("label", "relevance", "relevant", "rel", "grade", "y_true", "target"),
    "y_score": ("score", "y_score", "prediction", "pred", "y_pred"),
    "qid": ("qid", "query_id", "query", "q_id", "topic", "srch_id", "session_id"),
    "sample_weight": ("sample_weight", "weight"),
}
"""What columns are often called, for hints."""
HINTS = {"y_score": COLUMNS_HINT, "qid": "Several columns that name a query together go into one, joined as text."}
"""What an error says where several columns are given for one."""
ALIKE = 0.82
"""From which similarity on a name is worth a hint: 'scores' for 'score', but not 'id' for 'qid'."""
MOST_LISTED = 20


class ColumnNames(NamedTuple):
    """Names of the columns of a ranking; `y_true` may have several, one a subtopic, `y_score` of systems, and `by`."""

    y_true: str | Sequence[str]
    y_score: str | Sequence[str]
    qid: str
    sample_weight: str | None = None
    by: str | Sequence[str] | None = None
    clusters: str | None = None
    tie_break: str | None = None

    def flat(self) -> list[str]:
        """Names one by one."""
        return [name for _, name in self.by_role()]

    def by_role(self) -> list[tuple[str, str]]:
        """Names one by one, each with the argument that gave it."""
        given = ((role, [names] if isinstance(names, str) else names) for role, names in self._asdict().items())
        return [(role, name) for role, names in given if names is not None for name in names]

    def __str__(self) -> str:
        """The arguments as they were given."""
        return ", ".join(f"{role}={echo(names)}" for role, names in self._asdict().items() if names is not None)


def check_column_names(names: ColumnNames) -> None:
    """Raise TypeError if a name is not a str."""
    for role, given in names._asdict().items():
        several = role in ("y_true", "by") and isinstance(given, Iterable) and not isinstance(given, str)
        listed = [*given] if several else [given]
        optional = given is None and role in ColumnNames._field_defaults
        named = listed and all(isinstance(name, str) for name in listed) and len({*listed}) == len(listed)
        if not optional and not named:
            hint = (
                HINTS.get(role, "")
                if isinstance(given, (list, tuple, dict))
                else ARRAYS_HINT * hasattr(given, "__len__")
            )
            raise TypeError(
                "A column is named by a str; y_true by a list of them for subtopics, by for several attributes, each "
                f"once. Got {echo(given)} for {role}.{' ' * bool(hint)}{hint}"
            )


def refuse_subtopics(names: ColumnNames, specs: Mapping[str, MetricSpec]) -> None:
    """Raise ValueError if several columns of labels are for a metric that takes one label per document."""
    n_columns = 1 if isinstance(names.y_true, str) else len(names.y_true)
    for name, spec in specs.items():
        if n_columns > 1 and not spec.metric.subtopics:
            raise ValueError(
                f"{echo(name)} takes one label per document, so y_true must be one column; labels of subtopics are for "
                f"metrics such as alpha_ndcg. Got {n_columns} columns for y_true."
            )


def refuse_missing_columns(names: ColumnNames, present: Iterable[Any], where: str = "A batch") -> None:
    """Raise ValueError unless each column is present exactly once."""
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
        one = isinstance(getattr(names, role), str)  # systems and subtopics are not all called alike
        words = (name, *(CALLED.get(role, ()) if one else ())) if name not in present else ()
        near = [word for asked in words for word in difflib.get_close_matches(asked.lower(), free, 1, ALIKE)]
        if near:
            meant.append(f"{role}={echo(free.pop(near[0]))}")
    return f" Did you mean {', '.join(meant)}?" if meant else ""
