"""Lists in place of a system: several runs of it, which are evaluated one by one and make one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.several_runs import names_of_runs
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.hints import RUN_HINT, hint_for, is_table


def runs_by_name(systems: Mapping[str, Any], data: Any = None, y_true: Any = None, qid: Any = None) -> dict[str, Any]:
    """Systems by name, a list of runs where a list has one dimension more than a system; others as they are.

    `data` are labels, judgements or a table, `y_true` labels or a column of the table.

    Raises
    ------
    TypeError
        If a list may be several runs or the lists of several queries, or has runs and other values.
    """
    n_dimensions, n_rows = _shape_of_system(data if y_true is None else y_true, qid)
    found: dict[str, Any] = {}
    for name, system in systems.items():
        several = isinstance(system, (list, tuple)) and (
            _are_columns(data, system) or _are_runs(name, system, n_dimensions, n_rows)
        )
        found[name] = Runs(system) if several else system
    return found


class Runs(tuple[Any, ...]):
    """Several runs of one system."""

    __slots__ = ()


def run_by_run(systems: Mapping[str, Any]) -> dict[str, Any]:
    """Each run by a name of its own: "A [1]" and "A [2]" of a system A."""
    flat: dict[str, Any] = {}
    for name, system in systems.items():
        runs = system if isinstance(system, Runs) else [system]
        flat |= dict(zip(names_of_runs(name, len(runs)), runs, strict=True))
    return flat


def _shape_of_system(labels: Any, qid: Any) -> tuple[int, int | None]:
    """Dimensions and length of the scores of a system, for labels by row or by query and document."""
    shape = _shape(labels)
    has_level = "qid" in getattr(getattr(labels, "index", None), "names", ())
    return (1 if qid is not None or has_level else len(shape)), (shape[0] if shape else None)


def _shape(x: Any) -> tuple[int, ...]:
    """Shape of an array, a sparse matrix or nested lists; empty of anything else."""
    if hasattr(x, "shape"):
        return tuple(x.shape)
    try:
        return np.shape(x) if isinstance(x, (list, tuple)) else ()
    except ValueError:  # lists of different lengths
        return ()


def _are_columns(data: Any, system: Sequence[Any]) -> bool:
    """Whether these are columns of a table."""
    are_names = bool(system) and all(isinstance(column, str) for column in system)
    return are_names and (all(column in data for column in system) if isinstance(data, Mapping) else is_table(data))


def _are_runs(name: str, system: Sequence[Any], n_dimensions: int, n_rows: int | None) -> bool:
    """Whether a list has one dimension more than a system."""
    if not system or isinstance(system[0], (Real, str)):
        return False
    are_results = [isinstance(run, Evaluation) for run in system]
    if any(are_results):
        if not all(are_results):
            raise TypeError(f"Several runs are a list of results, or of data. Got both for {echo(name)}.")
        return True
    are_mappings = [isinstance(run, Mapping) or hint_for(run) == RUN_HINT for run in system]
    if any(are_mappings):
        lists = [run for run in system if isinstance(run, Mapping)]
        of_queries = all(are_mappings) and not any(isinstance(next(iter(x.values()), None), Real) for x in lists)
        if not of_queries:
            raise TypeError(
                "Several runs are a list of runs, each {query: {document: score}}; the lists of several queries are "
                f"one run, a dict by query. Got {echo(name)}, which may be either."
            )
        return True
    shapes = [_shape(run) for run in system]
    return all(len(shape) == n_dimensions and shape[0] == n_rows for shape in shapes if shape) and all(shapes)
