"""Several runs of a system, passed as a list: evaluated separately and combined into one result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.several_runs import names_of_runs
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.hints import is_table
from sklearn_rank.io._forms import has_queries, is_file


def runs_by_name(systems: Mapping[str, Any], data: Any = None, y_true: Any = None, qid: Any = None) -> dict[str, Any]:
    """Return systems by name: a list with one dimension more than a system becomes `Runs`; others are unchanged."""
    # `data` holds labels, judgments or a table; `y_true` holds labels or a column of the table.
    labels = data if y_true is None else y_true
    shape = _shape(labels)
    has_level = "qid" in getattr(getattr(labels, "index", None), "names", ())
    n_dimensions, n_rows = (1 if qid is not None or has_level else len(shape)), (shape[0] if shape else None)
    found: dict[str, Any] = {}
    for name, system in systems.items():
        several = isinstance(system, (list, tuple)) and (
            _are_columns(data, system) or _are_runs(name, system, n_dimensions, n_rows)
        )
        found[name] = Runs(system) if several else system
    return found


class Runs(tuple[Any, ...]):
    __slots__ = ()


def run_by_run(systems: Mapping[str, Any]) -> dict[str, Any]:
    """Name each run separately: "A [1]" and "A [2]" for a system A."""
    flat: dict[str, Any] = {}
    for name, system in systems.items():
        runs = system if isinstance(system, Runs) else [system]
        flat |= dict(zip(names_of_runs(name, len(runs)), runs, strict=True))
    return flat


def _shape(x: Any) -> tuple[int, ...]:
    if hasattr(x, "shape"):
        return tuple(x.shape)
    try:
        return np.shape(x) if isinstance(x, (list, tuple)) else ()
    except ValueError:  # lists of different lengths
        return ()


def _are_columns(data: Any, system: Sequence[Any]) -> bool:
    are_names = bool(system) and all(isinstance(column, str) for column in system)
    return are_names and (all(column in data for column in system) if isinstance(data, Mapping) else is_table(data))


def _are_runs(name: str, system: Sequence[Any], n_dimensions: int, n_rows: int | None) -> bool:
    """Whether a list has one dimension more than a system."""
    if not system or isinstance(system[0], (Real, str)) or has_queries(system, "run"):
        return all(map(is_file, system)) and bool(system)
    are_results = [isinstance(run, Evaluation) for run in system]
    if any(are_results):
        if not all(are_results):
            raise TypeError(f"A list of runs must hold either results or data. Got both for {echo(name)}.")
        return True
    have_queries = [has_queries(run, "run") for run in system]
    if any(have_queries):
        lists = [run for run in system if isinstance(run, Mapping)]
        of_queries = all(have_queries) and not any(isinstance(next(iter(x.values()), None), Real) for x in lists)
        if not of_queries:
            raise TypeError(
                "A list of runs must hold dicts {query: {document: score}}; pass lists of several queries as a single "
                f"run, a dict by query. Got {echo(name)}, which may be either."
            )
        return True
    shapes = [_shape(run) for run in system]
    return all(len(shape) == n_dimensions and shape[0] == n_rows for shape in shapes if shape) and all(shapes)
