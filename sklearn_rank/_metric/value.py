"""Value of one metric on the user's arrays: what its public function computes."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from sklearn_rank._engine.check import read
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.metric import Metric
from sklearn_rank._metric.spec import spec_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.threads import check_n_jobs


def value_of(
    metric: Metric, y_true: Any, y_score: Any, *, qid: Any = None, k: Any = None,
    sample_weight: ArrayLike | None = None, tie_break: ArrayLike | None = None, mask: ArrayLike | None = None,
    n_jobs: int | None = None, **keywords: Any,
) -> Any:  # fmt: skip
    """Mean over queries, or with ``average=None`` the value of each; on the last axis a value for each cutoff."""
    spec = spec_of(metric, k, keywords)
    spec.refuse_unread(keywords)
    if tie_break is not None and not metric.defines_ties and spec["ties"] != "stable":
        raise ValueError(f"tie_break is read with ties='stable' only. Got ties={echo(spec['ties'])}.")
    check_n_jobs(n_jobs)
    data: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight, "tie_break": tie_break, "mask": mask}
    queries = read(y_true, y_score, n_jobs=n_jobs, keeps_narrow=True, **data)
    (result,), at = compute(queries, [spec], n_jobs), spec.curve_index
    value = result.values() if spec["average"] is None else result.average(queries.weight)
    return value.take(at, axis=-1) if at.ndim or value.ndim > 1 else value.item(at)
