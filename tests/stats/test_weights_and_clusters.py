"""Weights and clusters of queries follow the same rules: by name, in results, and in tests that cannot use them."""

import itertools

import numpy as np
import pandas as pd
import pytest

from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, confidence_interval

RNG = np.random.default_rng(0)
X = RNG.normal(0.2, 1, 40)
GIVEN = {"weight": RNG.exponential(size=40) + 0.1, "clusters": RNG.permutation(np.arange(40) % 7)}
TEXT = {"weight": "40 weighted queries", "clusters": "40 queries in 7 clusters"}
INDEPENDENT = ["wilcoxon", "sign", "welch", "mannwhitney", "permutation"]

each = pytest.mark.parametrize("what", GIVEN)
each_and_both = pytest.mark.parametrize("names", [["weight"], ["clusters"], [*GIVEN]], ids=" and ".join)


def result(values, qid=None, **given):
    return Evaluation.from_values(np.arange(len(values)) if qid is None else qid, {"mrr": values}, **given)


@each_and_both
def test_results_carry_weights_and_clusters(names):
    given = {name: GIVEN[name] for name in names}
    a, b = result(X, **given), result(0 * X, **given)
    expected, found = compare(X, 0 * X, **given), compare(a, b)
    assert (found.pvalue, found.confidence_interval) == (expected.pvalue, expected.confidence_interval)
    order = RNG.permutation(40)
    moved = result(0 * X, order, **{name: values[order] for name, values in given.items()})
    assert compare(a, moved).pvalue == expected.pvalue
    for method in ("t", "bca"):
        options = {"method": method, "random_state": 0}
        assert a.confidence_interval(**options)["mrr"] == confidence_interval(X, **given, **options)
    assert a.summary().rows[0][2:4] == a.confidence_interval()["mrr"]
    lacking = result(X[:30], **{name: values[:30] for name, values in given.items()})
    filled = compare(np.where(np.arange(40) < 30, X, 0), 0 * X, **given)
    assert compare(lacking, b, missing=0).pvalue == filled.pvalue
    text = TEXT[names[0]] if len(names) == 1 else "40 weighted queries in 7 clusters"
    assert text in str(found)
    assert text.removeprefix("40 ") in str(compare_all({"a": a, "b": b}))


@each
def test_results_with_other_weights_or_clusters_are_rejected(what):
    values, noun = GIVEN[what], what.rstrip("s") + "s"
    a = result(X, **{what: values})
    with pytest.raises(ValueError, match=f"all have {noun}, or none.*Got none in 'b'"):
        compare(a, result(0 * X))
    for query in range(7):  # including those of the first cluster
        for other in (99, values[query + 1]):
            changed = values.copy()
            changed[query] = other
            message = f"same {noun}. Got other {noun} in 'b' than in 'a' for 1 query, the first of them {query}"
            with pytest.raises(ValueError, match=message):
                compare(a, result(0 * X, **{what: changed}))


@each
@pytest.mark.parametrize("test", INDEPENDENT)
def test_tests_of_independent_queries_reject_weights_and_clusters(test, what):
    given = {what: GIVEN[what]}
    message = rf"have {what.rstrip('s')}s, compare takes test='t', 'randomization' or 'bootstrap'.*Got test='{test}'"
    for a, b, keywords in ((X, 0 * X, given), (result(X, **given), result(0 * X, **given), {})):
        with pytest.raises(ValueError, match=message):
            compare(a, b, test=test, **keywords)
    if what == "weight":
        a, b = (result(x, weight=np.full(40, 2.0)) for x in (X, 0 * X))
        options = {"test": test, "n_resamples": 199, "random_state": 0}
        assert compare(a, b, **options).pvalue == compare(X, 0 * X, **options).pvalue


@each
def test_named_queries_need_weights_and_clusters_by_name(what):
    values, names = GIVEN[what], [f"q{i}" for i in range(40)]
    a, b = pd.Series(X, index=names), pd.Series(0 * X, index=names)[::-1]
    expected = compare(X, 0 * X, **{what: values}).pvalue
    for by_name in (dict(zip(names, values, strict=True)), pd.Series(values, index=names)[::-1]):
        assert compare(a, b, **{what: by_name}).pvalue == expected
        assert confidence_interval(a, **{what: by_name}) == confidence_interval(X, **{what: values})
    for named in (a, result(X)):
        with pytest.raises(TypeError, match=f"Pass {what} by query.*dict or Series from query ids.*Got ndarray"):
            compare(named, named, **{what: values})
    twice = pd.Series([*values, 9], index=[*names, "q3"])
    with pytest.raises(ValueError, match="name each query once in their index. Got query 'q3' twice"):
        compare(a, b, **{what: twice})
    with pytest.raises(ValueError, match=rf"{what} must have one entry per query, 40. Got shape \(39,\)"):
        compare(X, 0 * X, **{what: values[1:]})


@each_and_both
def test_compare_all_with_weights_and_clusters(names):
    given = {name: GIVEN[name] for name in names}
    values = {"a": X, "b": 0 * X, "c": np.random.default_rng(5).normal(size=40)}
    found = compare_all(values, **given)
    assert found["a", "b"].pvalue == compare(X, 0 * X, **given).pvalue
    weight = given.get("weight", np.ones(40))
    assert found.means == pytest.approx({name: np.average(x, weights=weight) for name, x in values.items()})


@each_and_both
@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_signs_of_weighted_queries_and_of_clusters_flip(alternative, names):
    given = {name: GIVEN[name][:9] for name in names}
    x, weight = X[:9], given.get("weight", np.ones(9))
    sums = np.bincount(given.get("clusters", np.arange(9)), weight * x)
    flipped = np.array([np.dot(signs, sums) for signs in itertools.product([-1, 1], repeat=len(sums))])
    extreme = {
        "two-sided": np.abs(flipped) >= abs(sums.sum()) - 1e-9,
        "greater": flipped >= sums.sum() - 1e-9,
        "less": flipped <= sums.sum() + 1e-9,
    }[alternative]
    found = compare(x, 0 * x, test="randomization", alternative=alternative, **given)
    assert found.pvalue == pytest.approx(extreme.mean())
    assert found.statistic == found.difference == pytest.approx(np.average(x, weights=weight))
