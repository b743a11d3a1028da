"""Several systems on the same rows, which are checked and grouped once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from numpy.typing import ArrayLike
from scipy.sparse import issparse

from sklearn_rank._engine.attributes import AttributesLike, ClustersLike, QueryRows, check_attributes
from sklearn_rank._engine.check import check_queries, with_scores
from sklearn_rank._engine.columns import check_columns, check_rows, queries_in
from sklearn_rank._engine.grouping import find_qid, refuse_other_queries
from sklearn_rank._evaluation.all_relevant import LabelRange, warn_if_all_relevant
from sklearn_rank._evaluation.evaluate import evaluate, evaluate_queries, refuse_unread_tie_break
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import MatrixLike


def evaluate_systems(
    y_true: MatrixLike, y_score: Mapping[str, Any], *, specs: Mapping[str, MetricSpec], qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None, by: AttributesLike = None, clusters: ClustersLike = None,
    tie_break: ArrayLike | None = None, mask: ArrayLike | None = None, n_jobs: int | None = None,
) -> dict[str, Evaluation]:  # fmt: skip
    """Result of each of several systems on the same rows, as `evaluate` has it; rows are checked and grouped once.

    All scores are checked before a metric is computed.
    """
    refuse_unread_tie_break(tie_break, specs)
    data: dict[str, Any] = {"sample_weight": sample_weight, "tie_break": tie_break, "mask": mask, "n_jobs": n_jobs}
    if any(map(issparse, (y_true, *y_score.values()))):
        data |= {"qid": qid, "metrics": specs, "by": by, "clusters": clusters}
        return {name: evaluate(y_true, scores, **data) for name, scores in y_score.items()}
    named = {name: f"y_score[{echo(name)}]" for name in y_score}
    check_rows(y_true=y_true, **{named[name]: scores for name, scores in y_score.items()}, qid=qid)
    (first, scores), *others = y_score.items()
    checked = {first: check_queries(y_true, scores, qid=qid, **data, score_name=named[first])}
    shape = as_floats(scores, named[first]).shape
    for name, of_system in others:
        check_columns(y_true, of_system, named[name])
        if queries_in(of_system) is not None:
            refuse_other_queries(of_system, find_qid(y_true, qid), name=named[name])
        checked[name] = with_scores(checked[first], of_system, shape, mask=mask, n_jobs=n_jobs, score_name=named[name])
    rows = QueryRows.of(checked[first])
    properties = check_attributes(by, clusters, rows, y_true=y_true, **{named[first]: scores}, qid=qid)
    warn_if_all_relevant(LabelRange.of(checked[first]), specs)
    return {
        name: evaluate_queries(queries, specs, queries.qid, queries.weight, n_jobs, properties)
        for name, queries in checked.items()
    }
