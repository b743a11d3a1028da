"""Laws of values for every metric in the registry, with data generated from its declaration.

Inputs of a metric, good and bad orders, small and unusual queries, cutoffs, averages and weights. New metrics are
tested without a new line here.
"""

import inspect

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import (
    METRICS,
    Data,
    curve,
    data_for,
    draw_labels,
    each,
    each_metric,
    labels_of,
    policies,
    public,
    tie_policy,
    value,
)

from sklearn_rank import get_metric_names

each_ranking_metric = each([m for m in METRICS if not m.pointwise and not m.reads_scores])
each_cut_metric = each([m for m in METRICS if m.has_cutoff])

# --- inputs of a metric ---------------------------------------------------------------------------------------


@each([m for m in METRICS if m.pointwise])
def test_pointwise_metrics_read_score_values(metric):
    data = data_for(metric)
    assert value(metric, data.with_score(data.y_score + 100)) != value(metric, data)
    with pytest.raises(ValueError, match="every y_score must be finite. Got -inf in row 0"):
        metric([0, 1], [-np.inf, 1], qid=[0, 0])


@each_cut_metric
@pytest.mark.parametrize("k", [1, 3, 6])
def test_a_cutoff_ignores_lower_ranks(metric, k):
    """Documents below rank k may be shuffled or missing."""
    data, rng = data_for(metric, n_queries=20), np.random.default_rng(k)
    shuffled, dropped = data.y_score.copy(), data.y_score.copy()
    for q in np.unique(data.qid):
        rows = np.flatnonzero(data.qid == q)
        below = rows[np.argsort(-data.y_score[rows])[k:]]
        shuffled[below], dropped[below] = data.y_score[rng.permutation(below)], -np.inf
    expected = curve(metric, data, k=range(1, k + 1))
    assert_array_equal(curve(metric, data.with_score(shuffled), k=range(1, k + 1)), expected)
    assert_array_equal(curve(metric, data.with_score(dropped), k=range(1, k + 1)), expected)


# --- good and bad orders --------------------------------------------------------------------------------------


@each_metric
def test_the_ideal_order_is_best(metric):
    sign = 1 if metric.greater_is_better else -1
    for seed in range(20):
        data = data_for(metric, seed, n_queries=10).one_label()
        distinct = data.y_true + np.linspace(0, 0.5, len(data.qid)) * (not metric.pointwise)
        best = curve(metric, data.with_score(distinct))
        assert (sign * (best - curve(metric, data)) >= -1e-12).all()


@each_metric
def test_bounds_and_names_are_declared(metric):
    assert metric.bounds[0] < metric.bounds[1]
    assert metric.name in get_metric_names()
    assert metric.function_name.endswith("_score" if metric.greater_is_better else "_error")


# --- small and unusual queries --------------------------------------------------------------------------------


@each_ranking_metric
def test_a_query_without_retrieved_documents(metric):
    """It has a defined value; if no label can reduce the metric, that value is at most that of any retrieved list."""
    label = np.tile(labels_of(metric), 2)
    data = Data(label, np.full(len(label), -np.inf), np.zeros(len(label)))
    found = curve(metric, data)
    assert np.isfinite(found).all()
    assert (found >= metric.bounds[0]).all()
    assert (found <= metric.bounds[1]).all()
    if label.min() >= 0 or metric.needs_relevant:
        sign = 1 if metric.greater_is_better else -1
        ideal = curve(metric, data.with_score(label + np.linspace(0, 0.5, len(label))))
        assert (sign * (ideal - found) >= 0).all()


def degenerate(metric):
    """Queries for which a metric may be undefined, each next to an ordinary query."""
    low, high = max(labels_of(metric)[0], 0.0), labels_of(metric)[-1]
    for label in ([low] * 3, [high] * 3, [low], [high], [np.nan] * 3):
        strange = Data(np.array(label), -np.arange(len(label)) * 1.0, np.zeros(len(label), dtype=int))
        yield strange.then(Data(np.array([high, low, low]), np.array([2.0, 3.0, 1.0]), np.zeros(3, dtype=int)))


def read_as(metric):
    """The input of the metric; NaN labels are dropped if it does not take them."""
    return {"unjudged": "drop"} if "unjudged" in metric.defaults else {}


@each_metric
def test_undefined_queries_are_declared(metric):
    undefined = []
    for data in degenerate(metric):
        found = value(metric, data, average=None, replace_undefined_by=np.nan, **read_as(metric))
        assert np.isfinite(found[1])
        undefined.append(np.isnan(found[0]))
    assert any(undefined) == bool(metric.undefined_when)
    if metric.needs_relevant:
        assert undefined[0]


@each([m for m in METRICS if m.undefined_when])
def test_the_mean_of_undefined_queries_is_nan(metric):
    for data in degenerate(metric):
        alone = data.rows(data.qid == 0)
        keywords = {"replace_undefined_by": np.nan, **read_as(metric)}
        if np.isnan(value(metric, alone, average=None, **keywords)):
            with pytest.warns(UserWarning, match="is not defined for any query, so its mean is nan"):
                assert np.isnan(value(metric, alone, **keywords))
            if metric.supports_micro:
                with pytest.warns(UserWarning, match="is not defined for any query, so its mean is nan"):
                    assert np.isnan(value(metric, alone, average="micro", **keywords))


# --- cutoffs -------------------------------------------------------------------------------------------------


@each_cut_metric
@pytest.mark.parametrize("n", [50, 1200])
def test_a_shallow_ranking_is_the_head_of_a_deep_one(metric, n):
    """With selection or sorting of the first ranks, with or without ties across the cutoff."""
    rng = np.random.default_rng(n)
    label, ks = draw_labels(metric, rng, n), [1, 3, 6, 9, 16, 17, 40, 120, 128, 129, n]
    few_ties, many_ties = rng.integers(0, 4 * n, size=n), rng.integers(0, 12, size=n)
    for score in (rng.random(n), few_ties, many_ties, np.exp(20 * rng.random(n)).round()):
        data = Data(label, np.where(rng.random(n) < 0.1, -np.inf, score), np.zeros(n))
        for ties in policies(metric) if tie_policy(metric) == {} else ["stable"]:
            deep = curve(metric, data, k=ks, ties=ties)
            alone = [curve(metric, data, k=k, ties=ties) for k in ks]
            assert_array_equal(np.transpose(alone), deep)


@each_cut_metric
def test_a_cutoff_is_an_int_of_at_least_one(metric):
    for k in (0, -1, 2.0, True, "3", [], [1, 0], [[1]], np.nan):
        with pytest.raises(ValueError, match=rf"The 'k' parameter of {metric.function_name} must be an int >= 1"):
            value(metric, data_for(metric), k=k)


@each([m for m in METRICS if not m.has_cutoff])
def test_metrics_without_a_cutoff_reject_k(metric):
    with pytest.raises(ValueError, match=f"{metric.function_name} has no cutoff"):
        value(metric, data_for(metric), k=3)
    assert "k" not in inspect.signature(public(metric)).parameters


# --- averages and weights ------------------------------------------------------------------------------------


@each([m for m in METRICS if not m.supports_micro])
def test_no_micro_average_unless_declared(metric):
    with pytest.raises(ValueError, match=f"{metric.function_name} has no micro average"):
        value(metric, data_for(metric), average="micro")


@each([m for m in METRICS if m.bounds[0] < 0])
def test_no_geometric_mean_of_negative_values(metric):
    with pytest.raises(ValueError, match=f"{metric.function_name} has no geometric mean"):
        value(metric, data_for(metric), average="geometric")
