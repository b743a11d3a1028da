"""Laws that every metric obeys, tried on each entry of the registry with data made from its declared facts.

A metric added later is tested with no new line here.
"""

import inspect
import pickle
import re
from functools import cache
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sklearn_rank.metrics
from sklearn_rank import _threads, get_metric_names, parse_metric
from sklearn_rank._metric import REGISTRY
from sklearn_rank._ranked import Ranked

METRICS = list(REGISTRY.values())


def each(metrics):
    return pytest.mark.parametrize("metric", metrics, ids=lambda metric: metric.name)


each_metric = each(METRICS)
each_ranking_metric = each([m for m in METRICS if not m.pointwise])
each_cut_metric = each([m for m in METRICS if m.has_cutoff])
each_pooling_metric = each([m for m in METRICS if m.pools])
each_reader_of_unjudged = each([m for m in METRICS if "unjudged" in m.defaults])

# --- data made from a metric's facts -------------------------------------------------------------------------


class Data(NamedTuple):
    y_true: np.ndarray
    y_score: np.ndarray
    qid: np.ndarray

    def rows(self, chosen):
        return Data(*(column[chosen] for column in self))

    def with_score(self, y_score):
        return self._replace(y_score=y_score)

    def then(self, other, shift=1000):
        """These queries and those of another, under other ids."""
        return Data(*map(np.concatenate, zip(self, other._replace(qid=other.qid + shift), strict=True)))


def labels_of(metric):
    """Grades that a metric takes: its declared range, or -2 to 4 where it declares none."""
    low, high = metric.labels
    high = metric.defaults[high] if isinstance(high, str) else high
    return np.arange(-2 if low is None else low, (4 if high is None else high) + 1, dtype=float)


def data_for(metric, seed=0, *, n_queries=30, longest=14, tied=False, unretrieved=False):
    """Rows of random queries, adjacent, ids in no order."""
    rng = np.random.default_rng([seed, len(metric.name), n_queries])
    size = rng.integers(1, longest + 1, size=n_queries)
    label = rng.choice(labels_of(metric), size=size.sum())
    score = rng.integers(0, 4, size=size.sum()) * 0.5 if tied else rng.permutation(size.sum()) / 4
    if unretrieved and not metric.pointwise:
        score = np.where(rng.random(size.sum()) < 0.2, -np.inf, score)
    return Data(label, score, np.repeat(rng.permutation(n_queries), size))


@cache
def tie_policy(metric):
    """Keywords with which a metric takes tied documents: none, unless it has no closed form for them."""
    try:
        metric([1, 0], [1, 1], qid=[0, 0])
    except ValueError as error:
        if "no closed form for tied documents" not in str(error):
            raise
        return {"ties": "worst"}
    return {}


def rough_data_for(metric, seed=0, **sizes):
    """Queries with ties and documents that were not retrieved."""
    return data_for(metric, seed, tied=True, unretrieved=True, **sizes)


def cutoffs(metric, *k):
    """The keyword k for the metrics that have it."""
    return {"k": list(k or (1, 2, 5, 40))} if metric.has_cutoff else {}


def value(metric, data, **keywords):
    return metric(data.y_true, data.y_score, qid=data.qid, **keywords)


def curve(metric, data, **keywords):
    """Values of each query, at some cutoffs where the metric has one."""
    return value(metric, data, average=None, **{**cutoffs(metric), **tie_policy(metric), **keywords})


# --- what a metric looks at ----------------------------------------------------------------------------------


@each_ranking_metric
@pytest.mark.parametrize("stretch", [lambda s: s**3 + s, lambda s: np.exp2(s), lambda s: s * 1e-3 - 7])
def test_only_the_order_of_scores_counts(metric, stretch):
    for data in (data_for(metric), data_for(metric, tied=True)):
        assert_array_equal(curve(metric, data.with_score(stretch(data.y_score))), curve(metric, data))


@each_ranking_metric
def test_the_order_of_negated_scores_is_another(metric):
    """So that the law above is not obeyed by a metric that reads nothing."""
    data = data_for(metric)
    assert not np.array_equal(curve(metric, data.with_score(-data.y_score)), curve(metric, data))


@each([m for m in METRICS if m.pointwise])
def test_pointwise_metrics_read_the_scores_themselves(metric):
    data = data_for(metric)
    assert value(metric, data.with_score(data.y_score + 100)) != value(metric, data)
    with pytest.raises(ValueError, match="every y_score must be finite. Got -inf in row 0"):
        metric([0, 1], [-np.inf, 1], qid=[0, 0])


@each_cut_metric
@pytest.mark.parametrize("k", [1, 3, 6])
def test_a_cutoff_looks_back_only(metric, k):
    """What stands below rank k may be shuffled, or not retrieved at all."""
    data, rng = data_for(metric, n_queries=20), np.random.default_rng(k)
    shuffled, dropped = data.y_score.copy(), data.y_score.copy()
    for q in np.unique(data.qid):
        rows = np.flatnonzero(data.qid == q)
        below = rows[np.argsort(-data.y_score[rows])[k:]]
        shuffled[below], dropped[below] = data.y_score[rng.permutation(below)], -np.inf
    expected = curve(metric, data, k=range(1, k + 1))
    assert_array_equal(curve(metric, data.with_score(shuffled), k=range(1, k + 1)), expected)
    assert_array_equal(curve(metric, data.with_score(dropped), k=range(1, k + 1)), expected)


@each_metric
def test_queries_do_not_see_each_other(metric):
    data = rough_data_for(metric)
    together = curve(metric, data)
    for i, q in enumerate(dict.fromkeys(data.qid)):
        assert_array_equal(curve(metric, data.rows(data.qid == q)), together[[i]])


@each_metric
def test_the_order_of_rows_does_not_matter(metric):
    data = data_for(metric, unretrieved=True) if tie_policy(metric) else rough_data_for(metric)
    shuffled = data.rows(np.random.default_rng(3).permutation(len(data.qid)))
    position = {q: i for i, q in enumerate(dict.fromkeys(shuffled.qid))}
    aligned = curve(metric, shuffled)[[position[q] for q in dict.fromkeys(data.qid)]]
    assert_allclose(aligned, curve(metric, data), rtol=1e-12, atol=1e-15)
    assert_allclose(value(metric, shuffled), value(metric, data), rtol=1e-12)


@each_metric
def test_ids_are_only_names(metric):
    data = rough_data_for(metric)
    expected = curve(metric, data)
    for ids in (
        data.qid.astype(str),
        [("q", int(q)) for q in data.qid],
        data.qid * 10.0,
        data.qid.astype("i1"),
    ):
        assert_array_equal(curve(metric, data._replace(qid=ids)), expected)


@each_reader_of_unjudged
def test_unjudged_documents_are_read_as_told(metric):
    data = data_for(metric, unretrieved=True)
    unjudged = np.random.default_rng(5).random(len(data.qid)) < 0.2
    missing = data._replace(y_true=np.where(unjudged, np.nan, data.y_true))
    zero = data._replace(y_true=np.where(unjudged, 0.0, data.y_true))
    assert_array_equal(curve(metric, missing, unjudged="nonrelevant"), curve(metric, zero))
    some_judged = [q in data.qid[~unjudged] for q in dict.fromkeys(data.qid)]
    dropped = curve(metric, missing, unjudged="drop")[some_judged]
    assert_array_equal(dropped, curve(metric, data.rows(~unjudged)))
    with pytest.raises(ValueError, match=r"must not contain NaN .* unless unjudged="):
        curve(metric, missing)


# --- what is good, what is bad -------------------------------------------------------------------------------


@each_metric
def test_the_ideal_order_is_best(metric):
    sign = 1 if metric.greater_is_better else -1
    for seed in range(20):
        data = data_for(metric, seed, n_queries=10)
        distinct = data.y_true + np.linspace(0, 0.5, len(data.qid)) * (not metric.pointwise)
        best = curve(metric, data.with_score(distinct))
        assert (sign * (best - curve(metric, data)) >= -1e-12).all()


@each_metric
def test_values_keep_to_the_bounds(metric):
    low, high = metric.bounds
    for seed in range(20):
        found = curve(metric, rough_data_for(metric, seed), replace_undefined_by=np.nan)
        assert not (found < low - 1e-12).any()
        assert not (found > high + 1e-12).any()


@each_metric
def test_bounds_and_names_are_facts(metric):
    assert metric.bounds[0] < metric.bounds[1]
    assert metric.name in get_metric_names()
    assert metric.caller.endswith("_score" if metric.greater_is_better else "_error")


# --- small and strange queries -------------------------------------------------------------------------------


@each_metric
def test_queries_of_one_document(metric):
    label = labels_of(metric)
    data = Data(label, np.zeros(len(label)), np.arange(len(label)))
    found = curve(metric, data)
    assert np.isfinite(found).all()
    assert_array_equal(curve(metric, data, **{} if metric.pointwise else {"ties": "best"}), found)


@each_ranking_metric
def test_a_tied_query_is_worth_what_its_labels_say(metric):
    """All tied: finite, in any order of the rows the same, and between the worst order and the best."""
    label = np.random.default_rng(1).choice(labels_of(metric), size=9)
    tied = Data(label, np.full(9, 2.5), np.zeros(9))
    found = curve(metric, tied)
    assert np.isfinite(found).all()
    assert_allclose(curve(metric, tied.rows(np.argsort(label))), found, rtol=1e-12, atol=1e-15)
    if "ties" in metric.defaults:
        worst, best = sorted(curve(metric, tied, ties=t).tolist() for t in ("worst", "best"))
        assert (found >= np.array(worst) - 1e-12).all()
        assert (found <= np.array(best) + 1e-12).all()


@each_ranking_metric
def test_a_query_of_which_nothing_was_retrieved(metric):
    """A value like any other, and where no label can do harm, no better than that of any retrieved list."""
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
    """Queries that a metric may not be defined for, each with a sound one beside it."""
    low, high = max(labels_of(metric)[0], 0.0), labels_of(metric)[-1]
    for label in ([low] * 3, [high] * 3, [low], [high], [np.nan] * 3):
        strange = Data(np.array(label), -np.arange(len(label)) * 1.0, np.zeros(len(label), dtype=int))
        yield strange.then(
            Data(np.array([high, low, low]), np.array([2.0, 3.0, 1.0]), np.zeros(3, dtype=int))
        )


def read_as(metric):
    """What the metric reads: NaN labels dropped, where it cannot read them itself."""
    return {"unjudged": "drop"} if "unjudged" in metric.defaults else {}


@each_metric
def test_undefined_queries_are_declared(metric):
    undefined = []
    for data in degenerate(metric):
        found = value(metric, data, average=None, replace_undefined_by=np.nan, **read_as(metric))
        assert np.isfinite(found[1])
        undefined.append(np.isnan(found[0]))
    assert any(undefined) == bool(metric.undefined)
    if metric.needs_relevant:
        assert undefined[0]


@each_metric
def test_undefined_queries_are_replaced_or_left_out(metric):
    for data in degenerate(metric):
        nan = value(metric, data, average=None, replace_undefined_by=np.nan, **read_as(metric))
        for replacement in (0, 1, 0.25, -3):
            replaced = value(metric, data, average=None, replace_undefined_by=replacement, **read_as(metric))
            assert_array_equal(replaced, np.where(np.isnan(nan), replacement, nan))
            mean = value(metric, data, replace_undefined_by=replacement, **read_as(metric))
            assert_allclose(mean, replaced.mean(), rtol=1e-15)
        left_out = value(metric, data, replace_undefined_by=np.nan, **read_as(metric))
        assert_allclose(left_out, np.nanmean(nan), rtol=1e-15)


@each([m for m in METRICS if m.undefined])
def test_the_mean_over_no_defined_query_is_nan(metric):
    for data in degenerate(metric):
        alone = data.rows(data.qid == 0)
        keywords = {"replace_undefined_by": np.nan, **read_as(metric)}
        if np.isnan(value(metric, alone, average=None, **keywords)):
            with pytest.warns(UserWarning, match="is not defined for any query, so its mean is nan"):
                assert np.isnan(value(metric, alone, **keywords))


# --- cutoffs -------------------------------------------------------------------------------------------------


@each_cut_metric
def test_a_list_of_cutoffs_is_each_cutoff(metric):
    data, ks = rough_data_for(metric), [5, 1, 3, 40, 3]
    keywords = {"average": None, **tie_policy(metric)}
    alone = [value(metric, data, k=k, **keywords) for k in ks]
    for listed in (ks, tuple(ks), np.array(ks), np.array(ks, dtype="u1")):
        assert_array_equal(value(metric, data, k=listed, **keywords), np.transpose(alone))
    means = [value(metric, data, k=k, **tie_policy(metric)) for k in ks]
    assert_allclose(value(metric, data, k=ks, **tie_policy(metric)), means, rtol=1e-14)
    assert [type(mean) for mean in means] == [float] * len(ks)


def reads_k(metric, data, monkeypatch):
    """Whether the formula reads the cutoff itself, as one that divides by k does."""
    read, k = [], Ranked.k
    with monkeypatch.context() as patch:
        patch.setattr(Ranked, "k", property(lambda ranked: read.append(True) or k.func(ranked)))
        value(metric, data, k=20, **tie_policy(metric))
    return bool(read)


@each_cut_metric
def test_a_cutoff_beyond_the_list_is_the_list(metric, monkeypatch):
    """Except for a formula that reads k itself: to it the list is filled up with documents worth nothing."""
    data = rough_data_for(metric, longest=6)
    beyond = value(metric, data, k=20, average=None, **tie_policy(metric))
    if not reads_k(metric, data, monkeypatch):
        assert_array_equal(beyond, value(metric, data, average=None, **tie_policy(metric)))
    ids = np.repeat(list(dict.fromkeys(data.qid)), 20)
    filling = Data(np.zeros(len(ids)), np.full(len(ids), -1.0), ids)
    assert_allclose(value(metric, data.then(filling, 0), k=20, average=None, **tie_policy(metric)), beyond)


@pytest.mark.parametrize("name", ["precision", "acg"])
def test_precision_and_acg_divide_by_k_where_the_list_is_shorter(name):
    assert_allclose(REGISTRY[name]([1, 1, 0], [3, 2, 1], qid=[0] * 3, k=20), 2 / 20)
    assert_allclose(REGISTRY[name]([1, 1, 0], [3, 2, 1], qid=[0] * 3), 2 / 3)


@each_cut_metric
@pytest.mark.parametrize("k", [2**40, 2**62, 10**30])
def test_a_cutoff_may_be_any_int(metric, k):
    data = rough_data_for(metric, n_queries=5)
    beyond = value(metric, data, k=10**15, average=None, **tie_policy(metric))
    assert_allclose(value(metric, data, k=k, average=None, **tie_policy(metric)), beyond, atol=1e-9)


@each_cut_metric
@pytest.mark.parametrize("n", [50, 1200])
def test_a_shallow_ranking_is_the_head_of_a_deep_one(metric, n):
    """However the first ranks are found, by selection or by sorting, with ties across the cutoff or without."""
    rng = np.random.default_rng(n)
    label, ks = rng.choice(labels_of(metric), size=n), [1, 3, 16, 17, 40, 120, 128, 129, n]
    for score in (rng.random(n), rng.integers(0, 12, size=n), np.exp(20 * rng.random(n)).round()):
        data = Data(label, np.where(rng.random(n) < 0.1, -np.inf, score), np.zeros(n))
        policies = ("average", "stable", "worst", "best") if tie_policy(metric) == {} else ("stable",)
        for ties in policies:
            deep = curve(metric, data, k=ks, ties=ties)
            alone = [curve(metric, data, k=k, ties=ties) for k in ks]
            assert_array_equal(np.transpose(alone), deep)


@each_cut_metric
@pytest.mark.parametrize("k", [0, -1, 2.0, True, "3", [], [1, 0], [[1]], np.nan])
def test_a_cutoff_is_an_int_of_at_least_one(metric, k):
    with pytest.raises(ValueError, match=rf"The 'k' parameter of {metric.caller} must be an int >= 1"):
        value(metric, data_for(metric), k=k)


@each([m for m in METRICS if not m.has_cutoff])
def test_metrics_without_a_cutoff_refuse_one(metric):
    with pytest.raises(ValueError, match=f"{metric.caller} has no cutoff"):
        value(metric, data_for(metric), k=3)
    assert "k" not in inspect.signature(public(metric)).parameters


# --- averages and weights ------------------------------------------------------------------------------------


def averages(metric):
    return ["macro", "micro"] if metric.pools else ["macro"]


def mean(metric, data, **keywords):
    return value(metric, data, **{**cutoffs(metric), **tie_policy(metric), **keywords})


@each_metric
def test_a_double_weight_is_a_query_twice(metric):
    data = rough_data_for(metric)
    twice = data.qid % 3 == 0
    for average in averages(metric):
        for undefined in (0, 1, np.nan):
            keywords = {"average": average, "replace_undefined_by": undefined}
            weighted = mean(metric, data, sample_weight=1.0 + twice, **keywords)
            assert_allclose(weighted, mean(metric, data.then(data.rows(twice)), **keywords), rtol=1e-12)


@each_metric
def test_equal_weights_are_no_weights(metric):
    data = rough_data_for(metric)
    for average in averages(metric):
        for weight in (0.1, 3):
            weighted = mean(metric, data, average=average, sample_weight=np.full(len(data.qid), weight))
            assert_allclose(weighted, mean(metric, data, average=average), rtol=1e-12)


@each_metric
def test_a_weight_of_zero_leaves_a_query_out(metric):
    data = rough_data_for(metric)
    kept = data.qid % 4 > 0
    for average in averages(metric):
        weighted = mean(metric, data, average=average, sample_weight=1.0 * kept)
        assert_allclose(weighted, mean(metric, data.rows(kept), average=average), rtol=1e-12)


@each_metric
def test_the_macro_average_is_the_mean_over_queries(metric):
    data = rough_data_for(metric)
    assert_allclose(mean(metric, data), curve(metric, data).mean(axis=0), rtol=1e-12)
    weight = 1.0 + data.qid % 5
    of_query = [weight[data.qid == q][0] for q in dict.fromkeys(data.qid)]
    expected = np.average(curve(metric, data), axis=0, weights=of_query)
    assert_allclose(mean(metric, data, sample_weight=weight), expected, rtol=1e-12)
    per_query = curve(metric, data, sample_weight=weight)
    assert_array_equal(per_query, curve(metric, data))


@each_pooling_metric
def test_the_micro_average_is_pooled(metric):
    """Of one query it is that query's value; of several it lies between them; a query twice changes nothing."""
    data = rough_data_for(metric)
    defined = curve(metric, data, replace_undefined_by=np.nan)
    defined = defined[~np.isnan(defined).reshape(len(defined), -1).any(axis=1)]
    pooled = mean(metric, data, average="micro")
    assert (pooled >= defined.min(axis=0) - 1e-12).all()
    assert (pooled <= defined.max(axis=0) + 1e-12).all()
    assert_allclose(mean(metric, data.then(data), average="micro"), pooled, rtol=1e-12)
    for q in np.unique(data.qid):
        one = data.rows(data.qid == q)
        assert_allclose(mean(metric, one, average="micro"), mean(metric, one), rtol=1e-12)


@each_pooling_metric
def test_the_micro_average_of_undefined_queries_is_what_replaces_them(metric):
    for data in degenerate(metric):
        alone = data.rows(data.qid == 0)
        for undefined in (0, 1, 0.25, 4):
            keywords = {"replace_undefined_by": undefined, **read_as(metric)}
            assert value(metric, alone, average="micro", **keywords) == value(metric, alone, **keywords)


@each([m for m in METRICS if m.pools and m.undefined])
def test_the_micro_average_over_no_defined_query_is_nan(metric):
    for data in degenerate(metric):
        alone, keywords = data.rows(data.qid == 0), {"replace_undefined_by": np.nan, **read_as(metric)}
        if np.isnan(value(metric, alone, average=None, **keywords)):
            with pytest.warns(UserWarning, match="is not defined for any query, so its mean is nan"):
                assert np.isnan(value(metric, alone, average="micro", **keywords))


@each([m for m in METRICS if not m.pools])
def test_no_micro_average_where_none_is_declared(metric):
    with pytest.raises(ValueError, match=f"{metric.caller} has no micro average"):
        value(metric, data_for(metric), average="micro")


# --- kinds of input ------------------------------------------------------------------------------------------


def read_only(x):
    x = x.copy()
    x.flags.writeable = False
    return x


KINDS = {
    "float32": lambda x: x.astype(np.float32),
    "float16": lambda x: x.astype(np.float16),
    "longdouble": lambda x: x.astype(np.longdouble),
    "big-endian": lambda x: x.astype(">f8"),
    "object": lambda x: x.astype(object),
    "list": lambda x: x.tolist(),
    "tuple": lambda x: tuple(x.tolist()),
    "read-only": read_only,
    "strided": lambda x: np.repeat(x, 2)[::2],
    "backwards": lambda x: x[::-1].copy()[::-1],
}


@each_metric
@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_arrays(metric, kind):
    data, convert = rough_data_for(metric), KINDS[kind]
    converted = Data(convert(data.y_true), convert(data.y_score), data.qid)
    assert_array_equal(curve(metric, converted), curve(metric, data))


@each_metric
def test_integers_and_booleans(metric):
    data = data_for(metric, tied=True)
    data = data._replace(y_score=data.y_score * 2)
    integer = Data(data.y_true.astype(int), data.y_score.astype("i2"), data.qid.astype("u4"))
    assert_array_equal(curve(metric, integer), curve(metric, data))
    binary = data._replace(y_true=(data.y_true >= 1) * 1.0)
    assert_array_equal(curve(metric, binary._replace(y_true=data.y_true >= 1)), curve(metric, binary))
    assert_array_equal(
        curve(metric, binary.with_score(data.y_score > 1)),
        curve(metric, binary.with_score((data.y_score > 1) * 1.0)),
    )


@each([m for m in METRICS if {"gain", "discount"} & m.own.keys()])
def test_callables_are_given_arrays(metric):
    """Labels of documents, ranks; and the highest grade is an array too."""
    data, given = data_for(metric), []

    def of_array(x):
        given.append(x)
        return np.ones(x.shape)

    for keyword in {"gain", "discount"} & metric.own.keys():
        curve(metric, data, **{keyword: of_array})
    assert given
    assert all(isinstance(x, np.ndarray) for x in given)


@each([m for m in METRICS if "gain" in m.own and "unjudged" in m.defaults])
def test_a_table_of_gains_needs_an_entry_for_unjudged_documents(metric):
    """Read as not relevant they have label 0; a table that has no such label cannot say what they are worth."""
    data, table = Data(np.array([1, np.nan, 2]), np.array([2.0, 3.0, 1.0]), np.zeros(3)), {1: 5, 2: 7, 4: 9}
    with pytest.raises(
        ValueError, match="must have an entry for every label in y_true. Got label 0 in row 1"
    ):
        curve(metric, data, gain=table, unjudged="nonrelevant")
    whole = curve(metric, data, gain={0: 0, **table}, unjudged="nonrelevant")
    assert_array_equal(whole, curve(metric, data._replace(y_true=np.array([1, 0, 2])), gain={0: 0, **table}))
    judged = data.rows([0, 2])
    assert_array_equal(curve(metric, data, gain=table, unjudged="drop"), curve(metric, judged, gain=table))


@each_metric
def test_input_is_left_alone(metric):
    data = rough_data_for(metric)
    before = Data(*(column.copy() for column in data))
    value(metric, data, **tie_policy(metric))
    for column, copy in zip(data, before, strict=True):
        assert_array_equal(column, copy)


@each_metric
def test_two_dimensional_input_is_a_query_a_row(metric):
    data = rough_data_for(metric, n_queries=60, longest=14)
    label, score = data.y_true[:96].reshape(8, 12), data.y_score[:96].reshape(8, 12)
    flat, weight = Data(label.ravel(), score.ravel(), np.repeat(np.arange(8), 12)), np.arange(8) + 0.5
    for matrix in (
        (label, score),
        (np.asfortranarray(label), score[:, ::-1][:, ::-1]),
        (label.tolist(), score),
    ):
        keywords = {**cutoffs(metric), **tie_policy(metric)}
        assert_array_equal(metric(*matrix, average=None, **keywords), curve(metric, flat))
        weighted = mean(metric, flat, sample_weight=np.repeat(weight, 12))
        assert_array_equal(metric(*matrix, sample_weight=weight, **keywords), weighted)


@each_metric
def test_types_of_results_depend_on_keywords_only(metric):
    data = rough_data_for(metric)
    assert type(value(metric, data, **tie_policy(metric))) is float
    assert value(metric, data, average=None, **tie_policy(metric)).shape == (30,)
    if metric.has_cutoff:
        assert type(value(metric, data, k=3, **tie_policy(metric))) is float
        assert value(metric, data, k=[3], **tie_policy(metric)).shape == (1,)
        assert value(metric, data, k=[3, 9], average=None, **tie_policy(metric)).shape == (30, 2)


# --- blocks and threads --------------------------------------------------------------------------------------


@each_metric
@pytest.mark.parametrize("block_rows", [1, 7, 64])
def test_blocks_and_threads_change_no_bit(metric, block_rows, monkeypatch):
    data = rough_data_for(metric, n_queries=40)
    shuffled = data.rows(np.random.default_rng(2).permutation(len(data.qid)))
    for rows in (data, shuffled):
        expected = curve(metric, rows), mean(metric, rows)
        with monkeypatch.context() as patch:
            patch.setattr(_threads, "BLOCK_ROWS", block_rows)
            for n_jobs in (None, 1, 2, -1):
                assert_array_equal(curve(metric, rows, n_jobs=n_jobs), expected[0])
                assert_array_equal(mean(metric, rows, n_jobs=n_jobs), expected[1])


def test_no_jobs_is_an_error():
    """As joblib has it, whatever the size of the data."""
    with pytest.raises(ValueError, match="n_jobs"):
        sklearn_rank.metrics.ndcg_score([1, 0], [2, 1], qid=[0, 0], n_jobs=0)


@each_reader_of_unjudged
@pytest.mark.parametrize("unjudged", ["nonrelevant", "drop"])
def test_blocks_change_no_bit_with_unjudged_documents(metric, unjudged, monkeypatch):
    data = data_for(metric, n_queries=40, unretrieved=True)
    data = data._replace(
        y_true=np.where(np.random.default_rng(4).random(len(data.qid)) < 0.5, np.nan, data.y_true)
    )
    expected = curve(metric, data, unjudged=unjudged)
    monkeypatch.setattr(_threads, "BLOCK_ROWS", 7)
    assert_array_equal(curve(metric, data, unjudged=unjudged, n_jobs=2), expected)


# --- names, pickles, documentation ---------------------------------------------------------------------------


def public(metric):
    return getattr(sklearn_rank.metrics, metric.caller)


def spellings(metric):
    """Names that mean the metric: canonical, aliases, other case, each keyword that a word or number can set."""
    cut = "@5" if metric.has_cutoff else ""
    words = {a: b for a, b in metric.defaults.items() if isinstance(b, (int, float, str))}
    yield from (metric.name, *metric.aliases, metric.name.upper() + cut, f" {metric.name} ( ) {cut}")
    yield from (f"{metric.name}({keyword}={word}){cut}" for keyword, word in words.items())
    yield f"{metric.name}({', '.join(f'{a}={b}' for a, b in words.items())}){cut}"


@each_metric
def test_names_parse_back(metric):
    for text in spellings(metric):
        spec = parse_metric(text)
        assert spec.metric is metric
        assert parse_metric(str(spec)) == spec
        assert str(parse_metric(str(spec))) == str(spec)
        assert spec.k == (5 if "@" in text else None)


@each_metric
def test_a_name_means_its_keywords(metric):
    data = rough_data_for(metric)
    cut = {"k": 5} if metric.has_cutoff else {}
    for text in spellings(metric):
        spec = parse_metric(text)
        by_name = spec.metric(*data[:2], qid=data.qid, k=spec.k, **{**tie_policy(metric), **spec.keywords})
        if "@" in text and spec.keywords == {}:
            assert by_name == value(metric, data, **cut, **tie_policy(metric))
        assert isinstance(by_name, float)


@each_metric
def test_functions_survive_a_pickle(metric):
    function = public(metric)
    assert function.metric is metric
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__name__ == metric.caller


@each_metric
def test_the_function_is_the_metric(metric):
    data = rough_data_for(metric)
    found = public(metric)(data.y_true, data.y_score, qid=data.qid, **tie_policy(metric))
    assert found == value(metric, data, **tie_policy(metric))


def sections(text):
    """The parts of a docstring by their headings; the head under ''."""
    parts = re.split(r"^(\w[\w ]*)\n-+$", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


@each_metric
def test_docstrings_are_complete(metric):
    function = public(metric)
    part = sections(inspect.getdoc(function))
    expected = ["", "Parameters", "Returns", "References", "Examples"]
    assert [heading for heading in part if heading in expected] == expected
    assert re.search(r"``[^`]+``", part[""]), "no formula"
    assert re.search(r"[12]\d\d\d", part["References"]), "no year"
    assert f">>> from sklearn_rank.metrics import {function.__name__}" in part["Examples"]
    assert "<default>" not in part["Parameters"]
    for name in (metric.name, *metric.aliases):
        assert f'"{name}"' in part[""]


@each_metric
def test_every_keyword_is_documented_and_keyword_only(metric):
    function = public(metric)
    documented = re.findall(
        r"^(\w+) : .", sections(inspect.getdoc(function))["Parameters"], flags=re.MULTILINE
    )
    parameters = inspect.signature(function).parameters
    assert list(parameters)[:2] == ["y_true", "y_score"]
    assert sorted(documented) == sorted(parameters)
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[2:])


@each_metric
def test_unknown_keywords_are_refused(metric):
    with pytest.raises(TypeError, match=f"{metric.caller} has no keyword 'top'. It takes .*average"):
        value(metric, data_for(metric), top=3)
