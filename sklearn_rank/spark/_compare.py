"""`compare`: two results joined by Spark, tested here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_rank import stats
from sklearn_rank.spark._partition import column_name
from sklearn_rank.spark._result import Result, read_result
from sklearn_rank.stats._align import read_values
from sklearn_rank.stats._arguments import check_arguments
from sklearn_rank.stats._compare import ComparisonResult, check_test
from sklearn_rank.stats._tests import TESTS

INTEGERS = ("tinyint", "smallint", "int", "bigint")


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
    """Compare two systems by the values that they got query by query, joined by query on Spark.

    What is brought back is two numbers a query, and for the tests, which are those of `sklearn_rank.stats.compare`,
    they must fit into memory here: 100 MB for some million queries.

    Parameters
    ----------
    a, b : pyspark.sql.DataFrame
        Results of `evaluate`, with ids of one type.
    metric : str, default=None
        Metric to compare, as it was asked for or as its column is named; may be left out if there is one only.
    test : str, default="t"
        For the same queries ``"t"`` (paired), ``"wilcoxon"``, ``"sign"``, ``"randomization"`` (Fisher's),
        ``"bootstrap"``; for different queries ``"welch"``, ``"mannwhitney"``, ``"permutation"``.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater": a has the higher values, whether or not these are the better ones.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.
    missing : "raise" or float, default="raise"
        Value of a query that one system lacks; ``nan`` leaves it out.
    greater_is_better : bool, default=None
        For `won` and `lost`. None: as the metric says.
    n_resamples : int, default=9999
        Resamples of ``"randomization"``, ``"permutation"`` and ``"bootstrap"``.
    random_state : int, RandomState, Generator or None, default=None
        Source of resamples. They are the same each time, but others than those of the same values in another order.

    Returns
    -------
    ComparisonResult
        As of `sklearn_rank.stats.compare`.

    Raises
    ------
    ValueError
        If a query is missing or in a result twice, fewer than two are left, metrics were computed with other keywords,
        means are weighted, pooled or geometric, or a keyword is not what it must be.
    TypeError
        If ids are of two types, or a result is no DataFrame of Spark.
    ImportError
        If pyspark is missing: it needs the extra "spark".

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import compare, evaluate
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [(q, int(i == q % 2), -float(i), float(i)) for q in range(6) for i in range(3)]
    >>> df = spark.createDataFrame(rows, "qid long, label int, ours double, theirs double")
    >>> ours, theirs = (evaluate(df, metrics="mrr", y_score=system) for system in ("ours", "theirs"))
    >>> compare(ours, theirs)
    mrr of a less that of b, 6 queries, test 't', two-sided
    ...
    """
    check_test("compare", test)
    check_arguments(
        "compare", alternative=alternative, confidence_level=confidence_level, missing=missing,
        n_resamples=n_resamples, random_state=random_state,
    )  # fmt: skip
    systems = {name: read_result(frame, "compare") for name, frame in (("a", a), ("b", b))}
    metric = {column_name(name): name for name in systems["a"].metrics}.get(metric, metric)  # type: ignore[arg-type]
    chosen = read_values({name: found.evaluation() for name, found in systems.items()}, metric, "compare")[0].metric
    assert chosen is not None
    _refuse_other_ids(systems)
    table = _joined(systems, chosen).toArrow()
    n_rows = {name: np.nan_to_num(table[f"n_{name}"].to_numpy()).astype(np.int64) for name in systems}
    values = {name: table[f"value_{name}"].to_numpy() for name in systems}
    odd = table["odd"]  # ids of queries that are not once in both
    _refuse_twice(n_rows, odd)
    order = np.lexsort([*values.values(), *n_rows.values()])  # a join brings rows in any order
    qid: Any = np.arange(len(order))
    gone = np.minimum(*n_rows.values()) == 0
    if missing == "raise" and TESTS[test].paired and gone.any():  # the error names one of them
        order, qid = np.flatnonzero(gone), np.array([*odd.to_pylist(), None], dtype=object)
    rows = {name: order[n[order] > 0] for name, n in n_rows.items()}
    evaluations = (found.evaluation(qid[rows[n]], {chosen: values[n][rows[n]]}) for n, found in systems.items())
    return stats.compare(
        *evaluations, metric=chosen, test=test, alternative=alternative, confidence_level=confidence_level,
        missing=missing, greater_is_better=greater_is_better, n_resamples=n_resamples, random_state=random_state,
    )  # fmt: skip


def _refuse_other_ids(systems: Mapping[str, Result]) -> None:
    """Refuse ids that Spark would convert, and match by that."""
    kinds = [found.frame.schema[int(found.qid)].dataType.simpleString() for found in systems.values()]
    if len(set(kinds)) > 1 and not set(kinds) <= {*INTEGERS}:
        raise TypeError(f"qid must hold ids of one type in both results. Got {kinds[0]} in 'a' and {kinds[1]} in 'b'.")


def _joined(systems: Mapping[str, Result], metric: str) -> Any:
    """A row a query: value and number of rows in each, and the id if it is not once in both."""
    sides = []
    for name, (frame, qid, _, _, metrics) in systems.items():
        value, n = f"`{metrics[metric].column}` as value_{name}", f"count(1) over (partition by `{qid}`) as n_{name}"
        sides.append(frame.selectExpr(f"`{qid}` as qid", value, n))
    columns = [column for side in sides for column in side.columns[1:]]
    return sides[0].join(sides[1], "qid", "full").selectExpr(*columns, "if(n_a = 1 and n_b = 1, null, qid) as odd")


def _refuse_twice(n_rows: Mapping[str, Any], odd: Any) -> None:
    for name, n in n_rows.items():
        if n.max(initial=0) > 1:
            row = int(n.argmax())
            raise ValueError(
                "A comparison takes each query once; with assume_grouped=True all rows of a query must be in one "
                f"partition. Got query {odd[row].as_py()!r} {n[row]} times in {name!r}."
            )
