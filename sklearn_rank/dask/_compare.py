"""`compare` of two systems whose values are dask DataFrames: joined on the cluster, tested here."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sklearn_rank import stats
from sklearn_rank._engine.qid import MISSING
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._metric.plain import must_say
from sklearn_rank.dask._partitions import ATTRIBUTE, check_frame
from sklearn_rank.stats._arguments import check_arguments
from sklearn_rank.stats._compare import ComparisonResult, check_test


def compare(
    a: Any,
    b: Any,
    *,
    metric: str | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    missing: Any = "raise",
    greater_is_better: bool | None = None,
    n_resamples: int = 9999,
    random_state: Any = None,
) -> ComparisonResult:
    """Compare two systems by the values that they got query by query, as `sklearn_rank.stats.compare` does.

    Values are joined by query on the cluster, and two columns and the ids come back for the test.

    Parameters
    ----------
    a, b : dask DataFrame
        Values that `per_query` made: the column "qid", and one for each metric.
    metric : str, default=None
        Column to compare; may be left out if there is one only.
    test, alternative, confidence_level, missing, n_resamples, random_state
        As `sklearn_rank.stats.compare` takes them.
    greater_is_better : bool, default=None
        For `won` and `lost`. None: as the metric says, which of a frame that `per_query` did not make is that of the
        column's name; True of other names, which must not end in "_error", "_loss" and the like.

    Returns
    -------
    ComparisonResult
        Resamples are drawn of queries in the order of their ids.

    Raises
    ------
    ValueError or TypeError
        As from `sklearn_rank.stats.compare`; or if metrics were computed with other keywords, columns are missing, ids
        are missing or of other types in the two frames, or a query has two values.
    ImportError
        If dask is missing: it needs the extra "dask".

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rank.dask import compare, per_query
    >>> rows = pd.DataFrame({"label": [0, 1, 1, 0], "score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]})
    >>> a = per_query(dd.from_pandas(rows, npartitions=2), metrics="mrr")
    >>> b = per_query(dd.from_pandas(rows.assign(score=[1, 2, 2, 1]), npartitions=2), metrics="mrr")
    >>> compare(a, b)
    mrr of a less that of b, 2 queries, test 't', two-sided
    difference       low     high        p    effect   won   tied   lost
       -0.2500   -3.4266   2.9266   0.5000   -0.7071     0      1      1
    """
    check_test("compare", test)
    options = {
        "alternative": alternative, "confidence_level": confidence_level, "missing": missing,
        "n_resamples": n_resamples, "random_state": random_state,
    }  # fmt: skip
    check_arguments("compare", **options)
    compared = _metric_of(b, "b", _metric_of(a, "a", metric))
    meaning = _meaning(a, b, compared)
    joined = _joined(a, b, compared)
    values = [joined.loc[joined["_merge"] != other, name] for name, other in (("a", "right_only"), ("b", "left_only"))]
    better = meaning if greater_is_better is None else greater_is_better
    return replace(stats.compare(*values, test=test, greater_is_better=better, **options), metric=compared)


def _metric_of(ddf: Any, name: str, metric: str | None) -> str:
    """Metric to compare; what a frame must be to have values of it is checked."""
    check_frame(ddf, name)
    metrics = [column for column in ddf.columns if column not in ("qid", "weight")]
    if "qid" not in ddf.columns or not metrics:
        raise ValueError(
            f"{name} must have a column 'qid' and values of a metric, as per_query makes them. "
            f"Got {', '.join(map(repr, ddf.columns))}."
        )
    if "weight" in ddf.columns:
        raise ValueError(
            f"compare is for means in which every query counts once. Got the column 'weight' in {name!r}; drop it to "
            "compare without."
        )
    if metric is None and len(metrics) > 1:
        raise ValueError(
            "compare compares one metric, so results of several need metric=. "
            f"Got {', '.join(map(str, metrics))} in {name!r}."
        )
    if metric is not None and metric not in metrics:
        raise ValueError(
            f"The 'metric' parameter of compare must be one of {', '.join(map(str, metrics))} of {name!r}. "
            f"Got {metric!r}."
        )
    return metrics[0] if metric is None else metric


def _joined(a: Any, b: Any, metric: str) -> Any:
    """Values of both, in the columns "a" and "b", in the order of the ids: that of joined rows is no order."""
    kinds = a.dtypes["qid"], b.dtypes["qid"]
    if kinds[0] != kinds[1]:  # equal ids of other types need not meet
        raise TypeError(f"Ids of both systems must be of one type; cast one by astype. Got {kinds[0]} and {kinds[1]}.")
    sides = [side[["qid", metric]].rename(columns={metric: name}) for name, side in (("a", a), ("b", b))]
    found = sides[0].merge(sides[1], on="qid", how="outer", indicator=True).compute()
    if found["qid"].isna().any():
        raise ValueError(MISSING)
    twice = found["qid"].duplicated()
    if twice.any():
        raise ValueError(f"compare takes one value a query. Got query {found['qid'][twice].tolist()[0]!r} twice.")
    return found.set_index("qid").sort_index()


def _meaning(a: Any, b: Any, metric: str) -> bool | None:
    """Whether more is better; refuses columns of one name that `per_query` made of two metrics."""
    known = [side._meta.attrs.get(ATTRIBUTE, {}).get(metric) for side in (a, b)]
    if None in known:
        return _greater_is_better(metric)
    if known[0] != known[1]:
        raise ValueError(
            "A comparison needs the same metric with the same keywords in both systems. "
            f"Got {metric!r} as {known[0][0]} in 'a' and as {known[1][0]} in 'b'."
        )
    return bool(known[0][1])


def _greater_is_better(metric: str) -> bool | None:
    """As the metric of that name says; None of a name of the user's own.

    Raises
    ------
    ValueError
        If that name ends as those of errors do.
    """
    try:
        return cached_spec(metric).metric.greater_is_better
    except ValueError:
        if must_say(metric):
            raise ValueError(
                "Of values whose name ends as that of an error it must be said which way is better: pass "
                f"greater_is_better=False, or True. Got {metric!r}."
            ) from None
        return None
