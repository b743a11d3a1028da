"""Compare several systems on the same queries: arrays, columns of a table, runs or existing results."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._comparison.compare_all import check_plan
from sklearn_rank._comparison.comparison import Comparison, known_baseline, look_at_judged, look_at_results
from sklearn_rank._data.doors import SYSTEMS
from sklearn_rank._data.look import ON_MISUSE, collected_findings, findings_in, findings_of_systems, look
from sklearn_rank._engine.attributes import AttributesLike, ClustersLike
from sklearn_rank._engine.queries import Queries
from sklearn_rank._entry_points.runs import evaluate_run
from sklearn_rank._entry_points.several_runs import Runs, run_by_run, runs_by_name
from sklearn_rank._estimates.clusters import check_clusters
from sklearn_rank._estimates.runs import refuse_runs
from sklearn_rank._evaluation.alignment import align_results
from sklearn_rank._evaluation.evaluate import evaluate_systems
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.several_runs import one_by_system
from sklearn_rank._metric.names import DEFAULT_METRICS, columns_of, parse_metrics, parse_with_columns
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._tables.column_arguments import ColumnNames, about_columns, checked_names, column_arguments
from sklearn_rank._tables.columns import (
    column_names,
    documents_for_ties,
    exploded,
    metric_columns,
    read_column,
    table_columns,
    table_with,
)
from sklearn_rank._tables.formats import files_of
from sklearn_rank._tables.roles import rank_beside
from sklearn_rank._utils.arguments import UnknownKeyword, named_arguments
from sklearn_rank._utils.containers import is_sparse
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo, extended
from sklearn_rank._utils.hints import FILE_HINT, SPARK_HINT, hint_for, is_table
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import Array
from sklearn_rank._utils.warning import collected_warnings, warn_caller
from sklearn_rank.io._forms import from_rows, has_queries, is_file

Systems = tuple[dict[str, Evaluation], dict[str, Array]]
"""Results, and scores by row, by the name of the system."""

HOW_TO_CALL = (
    "compare_systems takes labels and a dict of the scores of each system, "
    "compare_systems(y_true, {'bm25': scores, 'lgbm': scores}, qid=qid); a table and the columns of scores, "
    "compare_systems(data, ['bm25', 'lgbm']); judgments and a dict of runs; or a dict of results of evaluate, "
    "compare_systems({'bm25': result, 'lgbm': result})."
)
EVALUATED_BY = {FILE_HINT: "evaluate_table", SPARK_HINT: "spark.evaluate"}
"""Functions that evaluate a column of data outside memory."""


@named_arguments
@described_as(column_arguments)
def compare_systems(
    data: Any = None, y_score: Any = None, *, metrics: MetricsLike = DEFAULT_METRICS, y_true: Any = None,
    qid: ArrayLike | None = None, sample_weight: ArrayLike | Mapping[Any, float] | None = None,
    by: AttributesLike = None, clusters: ClustersLike = None, tie_break: ArrayLike | None = None,
    mask: ArrayLike | None = None, n_jobs: int | None = None, baseline: str | None = None, test: str = "t",
    correction: str | None = "holm", on_misuse: str = "raise", **keywords: Any,
) -> Comparison:  # fmt: skip
    """Compare several systems on the same queries; rows are checked and grouped only once.

    Parameters
    ----------
    data : array-like, table, judgments, dict of str to Evaluation, or Comparison
        Relevance of each document to its query, like `y_true` of `evaluate`; a table for `evaluate_table`; judgments
        for `evaluate_run`; or existing results by the names of the systems. With results, only the arguments
        `baseline`, `test` and `correction` are allowed.
    y_score : dict, list of str or frame
        The scores of each system by its name, like `y_score` of `evaluate`, or a frame with a column for each system.
        With a table, the column of each system by its name, or a list of columns. With judgments, the run of each
        system, like `run` of `evaluate_run`. A list as a value of the dict holds several runs of a system, for example
        with different seeds: ``{"A": [run1, run2, run3], "B": run4}``. The value of a query is then its mean over the
        runs.
    y_true : array-like or str, default=None
        Labels, instead of `data`; with a table, the column of the labels, by default "label".
    qid : array-like of shape (n_samples,) or str, default=None
        Query of each row. None: read from the level "qid" of the index of `y_true`. With a table, the column, by
        default "qid". Runs contain their queries.
    sample_weight : array-like of shape (n_samples,), str or mapping, default=None
        Weight of each row's query in the mean, as an array, a column, or by query. Intervals and tests refer to the
        weighted means; tests other than "t", "randomization" and "bootstrap" do not test weighted means.
    by : array-like of shape (n_samples,), dict, frame, str or list of str, default=None
        Attributes of each row's query, such as its country, in the forms of `evaluate`, `evaluate_table` and
        `evaluate_run`.
    clusters : array-like of shape (n_samples,), dict or str, default=None
        Cluster of each row's query, such as a user or a session, in the same forms.
    tie_break : array-like of shape (n_samples,) or str, default=None
        For metrics with ``ties="stable"``: of equal scores, the higher value ranks first.
    mask : array-like of bool, shape of `y_true` without subtopics, default=None
        True for documents, False for padding, see `evaluate`.
    baseline : str, default=None
        System that the others are tested against. A difference is system minus baseline. None: the first system.
    test : str, default="t"
        Paired test over queries, see `sklearn_rank.stats.compare`.
    correction : str or None, default="holm"
        Correction of the p-values of several systems, see `sklearn_rank.stats.compare_all`.
    on_misuse : {"raise", "warn", "ignore"}, default="raise"
        Whether to raise an error, warn or do nothing if an object has two names.
    **keywords
        Keywords of metrics, such as `ties` or `gain`. Each applies to all metrics that accept it. With runs also the
        keywords of `evaluate_run`; with matrices also `exclude`, see `evaluate`.

    Returns
    -------
    Comparison
        Like the result of `RankingEvaluator.compare`, without folds: ``summary()``, ``results``,
        ``significance(metric)``, ``worst_queries()``, ``most_different(a, b)``, ``explain(query, new=, old=)``,
        ``to_judge(new=, old=)``, ``judged``, ``to_frame()``, ``save(path)``, ``save_html(path)``. A single system
        has no tests.

    Raises
    ------
    ValueError
        If the data are invalid; the baseline is not one of the systems; the test or the correction is unknown; existing
        results differ in metrics, keywords, queries, labels or weights; no query can distinguish the systems by any
        metric; or two systems are the same object and `on_misuse` is "raise". If results have their queries in another
        order, they are sorted like the first result.
    TypeError
        If systems have no names, or existing results come with data.

    Examples
    --------
    The first system puts the relevant documents of both queries at rank 2, the second system at rank 1:

    >>> from sklearn_rank import compare_systems
    >>> y_true, qid = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> systems = {"bm25": [1.0, 2.0, 2.0, 1.0], "reranked": [2.0, 1.0, 1.0, 3.0]}
    >>> report = compare_systems(y_true, systems, qid=qid, metrics="mrr")
    >>> report.results["reranked"].mean()
    {'mrr': 1.0}
    >>> report.most_different("reranked", "bm25", 1)
    qid   reranked     bm25   difference
    a       1.0000   0.5000       0.5000

    The same with the columns of a table, and with runs:

    >>> import pandas as pd
    >>> table = pd.DataFrame({"qid": qid, "label": y_true, **systems})
    >>> compare_systems(
    ...     table, ["bm25", "reranked"], metrics="mrr"
    ... ).summary() == report.summary()
    True
    >>> judgments = {"a": {"d1": 1, "d2": 0}, "b": {"d3": 0, "d4": 1}}
    >>> runs = {
    ...     "bm25": {"a": ["d2", "d1"], "b": ["d3", "d4"]},
    ...     "reranked": {"a": ["d1", "d2"], "b": ["d4", "d3"]},
    ... }
    >>> compare_systems(judgments, runs, metrics="mrr").summary() == report.summary()
    True
    """
    ON_MISUSE("on_misuse", on_misuse, "compare_systems")
    about_rows: dict[str, Any] = {"sample_weight": sample_weight, "by": by, "clusters": clusters}
    about_rows |= {"tie_break": tie_break, "mask": mask, "n_jobs": n_jobs}
    if _are_results(data):
        data = runs_by_name(data)
        given = {"y_score": y_score, "y_true": y_true, "metrics": None if metrics is DEFAULT_METRICS else metrics}
        _refuse_data(given | {"qid": qid} | about_rows | keywords)
        plan = _check_plan(data, baseline, test, correction)
        look(SYSTEMS, on_misuse, models=(run_by_run(data),))
        data = {name: Evaluation.of_runs(runs) if isinstance(runs, Runs) else runs for name, runs in data.items()}
        check_clusters("compare_systems", test, next(iter(data.values())).clusters)
        refuse_runs("compare_systems", test, [name for name, result in data.items() if result.run_means])
        aligned = align_results(data, "compare_systems")
        _look(aligned)
        return Comparison(results=aligned, **plan)
    systems = runs_by_name(_systems(y_score), data, y_true, qid)
    plan, scores = _check_plan(systems, baseline, test, correction), run_by_run(systems)
    n_runs = {name: len(runs) if isinstance(runs, Runs) else 1 for name, runs in systems.items()}
    look(SYSTEMS, on_misuse, models=(scores,))
    check_clusters("compare_systems", test, clusters)
    refuse_runs("compare_systems", test, [name for name, n in n_runs.items() if n > 1])
    if all(isinstance(of_system, str) for of_system in scores.values()) and not _are_files(data, scores):
        results, by_row = _of_columns(data, scores, metrics, keywords, y_true=y_true, qid=qid, **about_rows)
        return _compared(results, by_row, n_runs, plan, on_misuse)
    are_runs = any(has_queries(run, "run") for run in scores.values())
    if not are_runs:
        _refuse_table_of_rows(y_true if data is None else data, scores)
    if data is not None and y_true is not None:
        raise TypeError("Pass the labels to compare_systems once: as the first argument or as y_true=. Got both.")
    labels = data if y_true is None else y_true
    if labels is None:
        raise TypeError(f"{HOW_TO_CALL} Got no labels.")
    if are_runs or has_queries(labels, "judgments"):
        _refuse_single_run(scores)
        _refuse_rows(qid=qid, tie_break=about_rows.pop("tie_break"), mask=about_rows.pop("mask"))
        results, by_row = _of_runs(labels, scores, metrics=metrics, **about_rows, **keywords)
    else:
        results, by_row = _of_arrays(labels, scores, metrics, keywords, qid=qid, **about_rows)
    return _compared(results, by_row, n_runs, plan, on_misuse)


def _compared(
    flat: Mapping[str, Evaluation], by_row: Mapping[str, Array], n_runs: Mapping[str, int], plan: Mapping[str, Any],
    on_misuse: str,
) -> Comparison:  # fmt: skip
    results = one_by_system(flat, n_runs)
    _look(results)
    for name, result in flat.items():
        kept = result._kept_data.ranked
        if kept is not None and isinstance(kept.queries, Queries):
            rows = kept.queries.score[:, None], kept.queries.row_label
            look(SYSTEMS, on_misuse, copies=(*rows, f"System {echo(name)}"))
    # Scores may be arrays of the caller.
    y_score = {name: x.copy() for name, x in by_row.items() if name in n_runs}
    return Comparison(results=results, y_score=y_score, **plan)


def _look(results: Mapping[str, Evaluation]) -> None:
    look_at_judged(SYSTEMS, results)
    look_at_results(SYSTEMS, results)


def _are_results(data: Any) -> bool:
    """Whether the data are results by name; raise if a dict mixes results with other values."""
    if isinstance(data, Evaluation) or (
        isinstance(data, (list, tuple)) and any(isinstance(r, Evaluation) for r in data)
    ):
        raise TypeError(f"{HOW_TO_CALL} Got results without names.")
    if not isinstance(data, Mapping) or not any(map(_is_result_or_runs, data.values())):
        return False
    for name, result in data.items():
        if not _is_result_or_runs(result):
            raise TypeError(f"All results must be Evaluation objects. Got {type(result).__name__} for {echo(name)}.")
    _check_names(data)
    return True


def _is_result_or_runs(value: Any) -> bool:
    """Whether a value is a result, or a list that starts with a result (several runs)."""
    first = value[0] if isinstance(value, (list, tuple)) and value else value
    return isinstance(first, Evaluation)


def _refuse_data(given: Mapping[str, Any]) -> None:
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise TypeError(
            "With existing results, compare_systems accepts only baseline=, test= and correction=. "
            f"Got also {', '.join(names)}."
        )


def _systems(y_score: Any) -> dict[str, Any]:
    if hasattr(type(y_score), "collect"):
        raise TypeError(f"Columns of systems must be in memory: call collect() first. Got {type(y_score).__name__}.")
    columns = getattr(y_score, "column_names", None) or getattr(y_score, "columns", None)
    if isinstance(y_score, Mapping):
        systems = dict(y_score)
    elif isinstance(y_score, str):
        systems = {y_score: y_score}
    elif isinstance(y_score, (list, tuple)) and y_score and all(isinstance(name, str) for name in y_score):
        systems = dict(zip(y_score, y_score, strict=True))
        _refuse_twice(y_score)
    elif columns is not None:
        systems = {name: y_score[name] for name in columns}
    else:
        raise TypeError(f"{HOW_TO_CALL} Got {echo(y_score)} as y_score.")
    _check_names(systems)
    return systems


def _refuse_twice(names: Sequence[str]) -> None:
    if len({*names}) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"Each system needs its own column. Got {echo(twice)} twice.")


def _refuse_table_of_rows(data: Any, systems: Mapping[str, Any]) -> None:
    """Refuse a table together with scores by row, which could only match by position."""
    if is_table(data) and any(len(np.shape(scores)) == 1 for scores in systems.values()):
        raise TypeError(
            "With a table, y_score names the columns of the scores: compare_systems(data, ['bm25', 'lgbm']), or "
            f"{{'name': 'column'}}. Got a {type(data).__name__} and scores by row; to pass arrays, use its column of "
            "labels."
        )


def _refuse_larger(data: Any, columns: Mapping[str, str]) -> None:
    """Refuse data outside memory; the error shows how to compare results of columns."""
    hint = hint_for(data)
    function = (
        EVALUATED_BY.get(hint) if hint else "evaluate_table" * (isinstance(data, Iterator) or bool(files_of(data)))
    )
    if function:
        raise TypeError(
            "compare_systems reads only tables in memory. Evaluate each column, and compare the results: "
            "compare_systems({"
            f"name: {function}(data, y_score=name) for name in {[*columns.values()]}}}). Got {type(data).__name__}."
        )


def _refuse_single_run(systems: Mapping[str, Any]) -> None:
    if not any(map(_is_run, systems.values())):
        raise TypeError(
            "compare_systems needs runs by the name of the system, {'bm25': run}, each {query: {document: score}}. "
            f"Got a single run, or systems without queries: {echo(systems)}."
        )


def _are_files(data: Any, systems: Mapping[str, str]) -> bool:
    """Whether texts are files of runs, and no columns of a table."""
    return not {*systems.values()} <= {*(column_names(data) or ())} and all(map(is_file, systems.values()))


def _is_run(run: Any) -> bool:
    """Whether a value maps queries to documents, not documents to numbers."""
    if isinstance(run, Mapping):
        return not isinstance(next(iter(run.values()), None), Real)
    return has_queries(run, "run")


def _refuse_rows(**given: Any) -> None:
    names = [f"{name}=" for name, value in given.items() if value is not None]
    if names:
        raise TypeError(f"Arguments by row do not apply to runs: their keys are the queries. Got {', '.join(names)}.")


def _check_names(systems: Mapping[Any, Any]) -> None:
    if not systems:
        raise TypeError(f"{HOW_TO_CALL} Got no system.")
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"The name of a system must be a str, as in {{'bm25': scores or run}}. Got {echo(name)}.")


def _check_plan(systems: Mapping[str, Any], baseline: Any, test: Any, correction: Any) -> dict[str, Any]:
    chosen = known_baseline(baseline, systems)
    check_plan("compare_systems", test=test, correction=correction)
    return {"baseline": chosen, "test": test, "correction": correction}


def _of_arrays(
    y_true: Any, y_score: Mapping[str, Any], metrics: MetricsLike, keywords: Mapping[str, Any], **about_rows: Any
) -> Systems:
    if "exclude" in keywords:
        about_rows["exclude"] = keywords["exclude"]
        keywords = {name: value for name, value in keywords.items() if name != "exclude"}
    specs, columns = parse_with_columns(metrics, keywords)
    results = evaluate_systems(y_true, y_score, specs=specs, columns=columns, **about_rows)
    if any(map(is_sparse, y_score.values())):
        return results, {}
    return results, {name: column(as_floats(scores, name)) for name, scores in y_score.items()}


def _of_columns(
    data: Any, y_score: Mapping[str, str], metrics: MetricsLike, keywords: Mapping[str, Any], *, y_true: Any, qid: Any,
    mask: Any, n_jobs: int | None, **columns: Any,
) -> Systems:  # fmt: skip
    if mask is not None:
        raise TypeError("mask= is not supported for tables: each row is a document. Got a mask.")
    _refuse_twice([*y_score.values()])
    _refuse_larger(data, y_score)
    named = {"y_true": "label" if y_true is None else y_true, "qid": "qid" if qid is None else qid, **columns}
    names = checked_names(ColumnNames(y_score=[*y_score.values()], **named), several=("y_true", "y_score", "qid", "by"))
    check_n_jobs(n_jobs)
    specs = parse_metrics(metrics, **keywords)
    table = table_with(data, names)
    keywords = {**keywords, **metric_columns(table, names, columns_of(specs))}
    table = exploded({name: read_column(table, name) for name in names.distinct()}, names.of_documents())
    about_rows = table_columns(table, names)._asdict() | {"n_jobs": n_jobs}
    del about_rows["y_score"]
    about_rows |= documents_for_ties(data, names, None, specs.values())
    scores = {name: read_column(table, column) for name, column in y_score.items()}
    try:
        found = _of_arrays(about_rows.pop("y_true"), scores, metrics, keywords, names=y_score, **about_rows)
    except (TypeError, ValueError) as error:
        raise about_columns(error, names) from error
    if (rank := rank_beside(column_names(data), names.flat())) is not None:
        ranks = metric_columns(data, names, [rank])[rank]
        with findings_of_systems(SYSTEMS) as seen:
            seen |= {name: [*findings_in(ranks=(ranks, x, about_rows["qid"]))] for name, x in scores.items()}
    return found


def _of_runs(judgments: Any, runs: Mapping[str, Any], **common: Any) -> Systems:
    """Evaluate systems with a run each; raise if their evaluated queries differ."""
    results = {}
    judgments = from_rows(judgments, "judgments", common.get("duplicates", "raise"))
    with findings_of_systems(SYSTEMS) as seen:
        for name, run in runs.items():
            with collected_findings() as seen[name]:
                results[name] = _of_run(name, judgments, run, common)
    return align_results(results, "compare_systems"), {}


def _of_run(name: str, judgments: Any, run: Any, common: Mapping[str, Any]) -> Evaluation:
    """Evaluate a run; add the name of the system to errors and warnings."""
    about = f"This is about the system {echo(name)}."
    with collected_warnings() as messages:
        try:
            result = evaluate_run(judgments, run, **common)
        except UnknownKeyword:
            raise
        except (TypeError, ValueError) as error:
            raise extended(error, about) from error
    for message in messages:
        warn_caller(f"{message} {about}")
    return result
