"""Several systems at once: evaluated on the same data, or finished results, and compared."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import issparse

from sklearn_rank._engine.attributes import AttributesLike, ClustersLike
from sklearn_rank._evaluation.alignment import align_results
from sklearn_rank._evaluation.evaluate import evaluate_systems
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import DEFAULT_METRICS, parse_metrics
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.typing import Array
from sklearn_rank.model_selection._comparison import Comparison, known_baseline
from sklearn_rank.stats._compare_all import check_plan

HOW_TO_CALL = (
    "compare_systems takes labels and a dict of the scores of each system, "
    "compare_systems(y_true, {'bm25': scores, 'lgbm': scores}, qid=qid), or a dict of finished results of evaluate, "
    "compare_systems({'bm25': result, 'lgbm': result})."
)
"""Of errors."""


@named_arguments
def compare_systems(
    data: Any = None,
    y_score: Any = None,
    *,
    metrics: MetricsLike = DEFAULT_METRICS,
    y_true: Any = None,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    by: AttributesLike = None,
    clusters: ClustersLike = None,
    tie_break: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    n_jobs: int | None = None,
    baseline: str | None = None,
    test: str = "t",
    correction: str | None = "holm",
    **keywords: Any,
) -> Comparison:
    """Compare several systems on the same queries: rows are checked and grouped once for all of them.

    Parameters
    ----------
    data : array-like, or dict of str to Evaluation
        Relevance of each document to its query, as `evaluate` takes it in `y_true`; or finished results by the names of
        the systems, with no other argument but `baseline`, `test` and `correction`.
    y_score : dict of str to array-like, or frame
        Scores of each system by its name, as `evaluate` takes them in `y_score`; or a frame with a column for each.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        As `evaluate` takes them.
    y_true : array-like, default=None
        Another name of `data`.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. None: taken from the level "qid" of the index of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean. There are no tests of weighted means.
    by : array-like of shape (n_samples,), dict or frame, default=None
        Attribute of each row's query, such as its country, as `evaluate` takes it.
    clusters : array-like of shape (n_samples,) or dict, default=None
        What each row's query belongs to, such as a user or a session, as `evaluate` takes it.
    tie_break : array-like of shape (n_samples,), default=None
        For metrics with ``ties="stable"``: among equal scores the higher value ranks first.
    mask : array-like of bool, shape of `y_true` without subtopics, default=None
        True where there is a document, as `evaluate` takes it.
    n_jobs : int or None, default=None
        Threads to use, as joblib counts them. The result is the same to the last bit.
    baseline : str, default=None
        System that the others are tested against. None: the first.
    test : str, default="t"
        Paired test over queries, see `sklearn_rank.stats.compare`.
    correction : str or None, default="holm"
        Of the p-values of several systems, see `sklearn_rank.stats.compare_all`.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`.

    Returns
    -------
    Comparison
        As `RankingEvaluator.compare` returns it, without folds: ``summary()``, ``results``, ``significance(metric)``,
        ``worst_queries()``, ``most_different(a, b)``, ``to_frame()``, ``save(path)``. Of one system it has no tests.

    Raises
    ------
    ValueError
        If the data are invalid, the baseline is not one of the systems, there is no such test or correction, or
        finished results differ in metrics, their keywords, queries, labels or weights. Queries in another order are
        brought into the order of the first result.
    TypeError
        If systems have no names, or finished results come with data.

    Examples
    --------
    The relevant documents of both queries are at rank 2 for one system, and at rank 1 for the other:

    >>> from sklearn_rank import compare_systems
    >>> y_true, qid = [1, 0, 0, 1], ["a", "a", "b", "b"]
    >>> systems = {"bm25": [1.0, 2.0, 2.0, 1.0], "reranked": [2.0, 1.0, 1.0, 3.0]}
    >>> report = compare_systems(y_true, systems, qid=qid, metrics="mrr")
    >>> report.results["reranked"].mean()
    {'mrr': 1.0}
    >>> report.most_different("reranked", "bm25", 1)
    qid   reranked     bm25   difference
    a       1.0000   0.5000       0.5000
    """
    about_rows: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight, "by": by, "clusters": clusters}
    about_rows |= {"tie_break": tie_break, "mask": mask, "n_jobs": n_jobs}
    if _are_results(data):
        given = {"y_score": y_score, "y_true": y_true, "metrics": None if metrics is DEFAULT_METRICS else metrics}
        _refuse_data(given | about_rows | keywords)
        plan = _check_plan(data, baseline, test, correction)
        return Comparison(results=align_results(data, "compare_systems"), **plan)
    if data is not None and y_true is not None:
        raise TypeError("compare_systems takes the labels once, as first argument or as y_true=. Got both.")
    labels, scores = data if y_true is None else y_true, _systems(y_score)
    if labels is None:
        raise TypeError(f"{HOW_TO_CALL} Got no labels.")
    plan = _check_plan(scores, baseline, test, correction)
    specs = parse_metrics(metrics, **keywords)
    results = evaluate_systems(labels, scores, specs=specs, **about_rows)
    return Comparison(results=results, y_score=_as_arrays(scores), **plan)


def _are_results(data: Any) -> bool:
    """Whether these are finished results by name; a dict with one of them must have nothing else."""
    if isinstance(data, Evaluation) or (
        isinstance(data, (list, tuple)) and any(isinstance(r, Evaluation) for r in data)
    ):
        raise TypeError(f"{HOW_TO_CALL} Got results without names.")
    if not isinstance(data, Mapping) or not any(isinstance(result, Evaluation) for result in data.values()):
        return False
    for name, result in data.items():
        if not isinstance(result, Evaluation):
            raise TypeError(f"Finished results are of evaluate, all of them. Got {type(result).__name__} for {name!r}.")
    _check_names(data)
    return True


def _refuse_data(given: Mapping[str, Any]) -> None:
    """Refuse arguments that are about data, as finished results were evaluated already."""
    names = [name for name, value in given.items() if value is not None]
    if names:
        raise TypeError(
            "Finished results were evaluated already, so compare_systems takes baseline, test and correction alone. "
            f"Got {', '.join(names)}, too."
        )


def _systems(y_score: Any) -> dict[str, Any]:
    """Scores by the name of the system."""
    columns = getattr(y_score, "column_names", None) or getattr(y_score, "columns", None)
    if isinstance(y_score, Mapping):
        systems = dict(y_score)
    elif columns is not None:
        systems = {name: y_score[name] for name in columns}
    else:
        raise TypeError(f"{HOW_TO_CALL} Got {echo(y_score)} as y_score.")
    _check_names(systems)
    return systems


def _check_names(systems: Mapping[Any, Any]) -> None:
    if not systems:
        raise TypeError(f"{HOW_TO_CALL} Got no system.")
    for name in systems:
        if not isinstance(name, str):
            raise TypeError(f"The name of a system must be a str. Got {name!r}.")


def _check_plan(systems: Mapping[str, Any], baseline: Any, test: Any, correction: Any) -> dict[str, Any]:
    """Baseline, test and correction, if they are possible."""
    chosen = known_baseline(baseline, systems)
    check_plan("compare_systems", test=test, correction=correction, baseline=chosen)
    return {"baseline": chosen, "test": test, "correction": correction}


def _as_arrays(scores: Mapping[str, Any]) -> dict[str, Array]:
    """Scores of all systems as arrays; none where some are sparse."""
    if any(map(issparse, scores.values())):
        return {}
    return {name: column(as_floats(of_system, name)) for name, of_system in scores.items()}
