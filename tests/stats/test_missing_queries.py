"""Queries that one system lacks: their value is the worst of the metric or a number, and never the best."""

import math

import numpy as np
import pandas as pd
import pytest

from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, no_worse


def systems(metric, n=60, n_lost=40):
    """Values of both systems; the new one lacks the last queries."""
    values = np.linspace(0.2, 0.8, n)
    old = Evaluation.from_values(range(n), {metric: values})
    new = Evaluation.from_values(range(n - n_lost), {metric: values[: n - n_lost]})
    return new, old


CALLS = {
    "no_worse": lambda new, old, **missing: no_worse(new=new, old=old, margin=0.1, **missing),
    "compare": lambda new, old, **missing: compare(new, old, **missing),
    "compare_all": lambda new, old, **missing: compare_all({"new": new, "old": old}, **missing),
    "compare of Series": lambda new, old, **missing: compare(*map(series, (new, old)), **missing),
}
EVERYWHERE = pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)


def series(result):
    ((name, values),) = result.per_query.items()
    return pd.Series(values, pd.Index(result.qid, name="qid"), name=name)


def difference(result):
    found = result.difference
    return next(iter(found.values())) if isinstance(found, dict) else found


@EVERYWHERE
@pytest.mark.parametrize(("metric", "worst", "best"), [("ndcg@10", 0, 1), ("kendall", -1, 1), ("ranking_loss", 1, 0)])
def test_worst_value_counts(call, metric, worst, best):
    new, old = systems(metric)
    values = np.linspace(0.2, 0.8, 60)
    expected = (values[:20].sum() + 40 * worst - values.sum()) / 60
    assert difference(call(new, old, missing="worst")) == pytest.approx(expected)
    with pytest.raises(ValueError, match=f"missing='worst' to count missing queries as {worst}, the worst"):
        call(new, old)
    for number in (best, 2 * best - worst):
        with pytest.raises(ValueError, match=rf"must be worse than {best}, the best value of {metric}.*Got {number}\."):
            call(new, old, missing=number)
    half = (worst + best) / 2
    expected = (values[:20].sum() + 40 * half - values.sum()) / 60
    assert difference(call(new, old, missing=half)) == pytest.approx(expected)
    assert difference(call(new, old, missing=math.nan)) == 0


@EVERYWHERE
def test_errors_without_an_upper_bound_need_a_number(call):
    new, old = systems("mse")
    with pytest.raises(ValueError, match="no highest value is known for mse, or missing=nan"):
        call(new, old)
    with pytest.raises(ValueError, match="missing='worst' needs a metric with a highest value.*known for mse"):
        call(new, old, missing="worst")
    with pytest.raises(ValueError, match="worse than 0, the best value of mse.*pass a worse number, or nan.*Got 0"):
        call(new, old, missing=0)
    values = np.linspace(0.2, 0.8, 60)
    expected = (values[:20].sum() + 40 * 4 - values.sum()) / 60
    assert difference(call(new, old, missing=4)) == pytest.approx(expected)


@EVERYWHERE
def test_best_value_is_refused_though_no_query_is_missing(call):
    new, old = systems("mse", n_lost=0)
    with pytest.raises(ValueError, match="best value of mse"):
        call(new, old, missing=0)


def test_values_outside_of_the_bounds_have_no_worst_value():
    new, old = (Evaluation.from_values(range(n), {"ndcg@10": np.full(n, -0.5)}) for n in (5, 6))
    with pytest.raises(ValueError, match="no lowest value is known for ndcg@10"):
        compare(new, old, missing="worst")


def test_missing_takes_no_other_words():
    with pytest.raises(ValueError, match="'missing' parameter of compare must be 'raise', 'worst', a finite number or"):
        compare([1, 2], [2, 1], missing="best")
