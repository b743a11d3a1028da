"""Statistics: laws of all tests, matching of queries, and errors."""

import csv
import pickle
import re
import warnings
from dataclasses import replace
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from registry import together
from scipy import stats

from sklearn_rank import evaluate
from sklearn_rank._estimates.significance import TESTS
from sklearn_rank._evaluation.kept_data import DataCounts
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import (
    adjust_pvalues,
    compare,
    compare_all,
    compare_folds,
    confidence_interval,
    power_of,
)

ALTERNATIVES = ["two-sided", "greater", "less"]
MIRRORED = {"two-sided": "two-sided", "greater": "less", "less": "greater"}
PAIRED = [name for name, test in TESTS.items() if test.paired]
UNPAIRED = [name for name in TESTS if name not in PAIRED]
WITH_WEIGHTS = ["t", "randomization", "bootstrap"]
CORRECTIONS = [None, "holm", "bonferroni", "bh"]

all_tests = pytest.mark.parametrize("test", TESTS)
all_alternatives = pytest.mark.parametrize("alternative", ALTERNATIVES)


@pytest.fixture
def values(rng):
    a = np.clip(rng.normal(0.4, 0.3, 30), 0, 1)
    return a, np.clip(a + rng.normal(0.05, 0.1, 30) * (rng.random(30) < 0.7), 0, 1)


def quick(a, b, **options):
    return compare(a, b, **{"n_resamples": 199, "random_state": 0} | options)


@all_tests
@all_alternatives
def test_compare_is_antisymmetric(test, alternative, values):
    a, b = values
    there = quick(a, b, test=test, alternative=alternative)
    back = quick(b, a, test=test, alternative=MIRRORED[alternative])
    assert back.difference == -there.difference
    assert back.pvalue == pytest.approx(there.pvalue, rel=1e-12)
    assert back.effect_size == pytest.approx(-there.effect_size, abs=1e-12)
    assert (back.won, back.tied, back.lost) == (there.lost, there.tied, there.won)
    assert_allclose(back.confidence_interval, np.negative(there.confidence_interval)[::-1], rtol=1e-12)


@all_tests
def test_shifted_and_scaled(test, values):
    a, b = values
    expected, got = quick(a, b, test=test), quick(8 * a + 4, 8 * b + 4, test=test)
    assert got.pvalue == pytest.approx(expected.pvalue, rel=1e-6)
    assert got.difference == pytest.approx(8 * expected.difference)
    assert_allclose(got.confidence_interval, 8 * np.array(expected.confidence_interval))


@all_tests
def test_the_order_of_queries_does_not_matter(test, values, rng):
    a, b = values
    order = rng.permutation(len(a))
    expected, got = quick(a, b, test=test), quick(a[order], b[order], test=test)
    assert got.difference == expected.difference
    if test == "bootstrap":  # scipy.stats draws resamples by position, so do we
        assert got.pvalue == pytest.approx(expected.pvalue, abs=0.05)
    else:
        assert got.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
        assert_allclose(got.confidence_interval, expected.confidence_interval)


@all_tests
def test_interval_and_test_agree(test, rng):
    for gain in (0.0, 0.02, 0.05, 0.2):
        a = rng.normal(0.4, 0.1, 60)
        b = a + rng.normal(gain, 0.1, 60)
        result = quick(a, b, test=test, n_resamples=1999)
        low, high = result.confidence_interval
        if test in ("t", "welch", "randomization", "bootstrap", "permutation") and not 0.03 < result.pvalue < 0.08:
            assert (result.pvalue < 0.05) == (not low <= 0 <= high)


@all_tests
@all_alternatives
@together("n", [2, 5, 60])
def test_identical_systems(test, alternative, n, rng):
    for a in (rng.random(n), np.zeros(n), np.full(n, 0.1)):
        for b in (a.copy(), a * (1 + 1e-15)):
            result = quick(a, b, test=test, alternative=alternative)
            assert result.pvalue == 1
            assert result.difference == pytest.approx(0, abs=1e-15)
            assert result.effect_size == pytest.approx(0, abs=1e-15)
            if test in PAIRED:
                assert (result.won, result.tied, result.lost) == (0, n, 0)
                assert np.isnan(result.confidence_interval).all()


@together("test", UNPAIRED)
@all_alternatives
def test_constant_values_with_different_numbers_of_queries(test, alternative):
    for n_a, n_b in ((4, 9), (9, 4)):
        equal = compare(np.full(n_a, 0.3), np.full(n_b, 0.3), test=test, alternative=alternative)
        assert (equal.pvalue, equal.difference, equal.effect_size) == (1, 0, 0)
        above = compare(np.full(n_a, 0.4), np.full(n_b, 0.3), test=test, alternative=alternative)
        assert above.pvalue > 0.99 if alternative == "less" else above.pvalue < 0.01
        assert above.effect_size == (1 if test == "mannwhitney" else np.inf)


@together("test", UNPAIRED)
@all_alternatives
def test_equal_means_of_different_values_are_tested(test, alternative):
    """Systems are identical if their values are, not if their means are."""
    one, other, equally_many = [0, 2, 4, 4.5, 4.5], [2.5, 3.5], [1, 2.5, 3, 4, 4.5]
    for a, b in [(one, other), (other, one), (one, equally_many)]:
        a, b = np.array(a, dtype=float), np.array(b, dtype=float)
        result = compare(a, b, test=test, alternative=alternative)
        assert result.difference == 0
        if test == "permutation":
            expected = stats.permutation_test((a, b), lambda x, y: x.mean() - y.mean(), alternative=alternative)
        else:
            options = {"alternative": alternative} | ({"equal_var": False} if test == "welch" else {})
            expected = (stats.ttest_ind if test == "welch" else stats.mannwhitneyu)(a, b, **options)
        assert result.pvalue == pytest.approx(expected.pvalue)
        effect = np.sign(a[:, None] - b).mean() if test == "mannwhitney" else 0
        assert result.effect_size == pytest.approx(effect)
        low, high = result.confidence_interval
        assert low < 0 < high
        assert compare_all({"a": a, "b": b}, test=test, alternative=alternative, correction=None) == result


@together("correction", CORRECTIONS)
@pytest.mark.parametrize("test", PAIRED)
def test_identical_systems_among_many(correction, test, values):
    results = {"a": values[0], "again": values[0].copy(), "b": values[1]}
    found = compare_all(results, test=test, correction=correction, n_resamples=99, random_state=0)
    assert found["a", "again"].corrected_pvalue == 1
    assert not np.isnan([*corrected(found).values()]).any()
    same = compare_all({"a": values[0], "b": values[0].copy()}, test=test, correction=correction, n_resamples=99)
    assert same["a", "b"].corrected_pvalue == 1


@all_tests
@all_alternatives
def test_few_queries_and_few_values(test, alternative, rng):
    for seed in range(25):
        a, b = rng.integers(0, 3, (2, rng.integers(2, 7))) / 2
        c = b if test in PAIRED else rng.integers(0, 3, rng.integers(2, 7)) / 2
        result = compare(a, c, test=test, alternative=alternative, n_resamples=19, random_state=seed)
        assert 0 <= result.pvalue <= 1
        assert not np.isnan([result.statistic, result.effect_size]).any()
        low, high = result.confidence_interval
        assert low < high if result.interval_method else np.isnan([low, high]).all()


OUTLIER, OTHERS = np.append(0.4 + np.arange(29) % 5 / 1000, 1.0), 0.4 + np.arange(30) % 7 / 1000
"""Values of which one decides the mean, and others."""


@together("test", TESTS)
@together("keywords", [{}, {"weight": np.arange(30) % 3 + 1.0}, {"clusters": np.arange(30) // 2}])
def test_skew_is_noted_by_every_test(test, keywords):
    if keywords and test not in WITH_WEIGHTS:
        return
    options = {"test": test, "n_resamples": 199, "random_state": 0} | keywords
    skewed, even = compare(OUTLIER, OTHERS, **options), compare(OTHERS[::-1], OTHERS, **options)
    assert (skewed.is_skewed, even.is_skewed) == (True, False)
    assert "The interval may be too narrow: few queries, skewed values." in " ".join(str(skewed).split())
    assert "skewed" not in str(even)
    several = compare_all({"a": OUTLIER, "b": OTHERS, "c": OTHERS[::-1].copy()}, **options)
    assert "The intervals of a - b, a - c may be too narrow" in " ".join(str(several).split())


@all_tests
def test_a_constant_difference(test):
    a = np.zeros(20)
    result = quick(a + 0.1, a, test=test)
    assert np.isnan(result.confidence_interval).all()
    assert 0 < result.pvalue < 0.05
    if test in ("t", "bootstrap"):
        assert result.pvalue == quick(a + 0.1, a, test="sign").pvalue == 2.0**-19
    assert quick(a + 0.1, a, test=test, alternative="less").pvalue > 0.999


@pytest.fixture
def error_rates():
    """The script of docs/decide/measured.md."""
    path = Path(__file__).parents[2] / "docs" / "bench" / "error_rates.py"
    spec = spec_from_file_location("error_rates", path)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@all_tests
def test_false_positives_and_power(test, error_rates):
    low, high = stats.binom.ppf([0.0005, 0.9995], 150, 0.05) / 150
    found = error_rates.rejections(test, 40, 0, 150, seed=1, n_resamples=99)
    assert (0 if test == "sign" else low) <= found <= high  # the sign test is conservative
    assert error_rates.rejections(test, 40, 0.4, 20, seed=1, n_resamples=99) > 0.7


@pytest.mark.slow
def test_false_positives_of_several_systems(error_rates):
    for correction in ("holm", "bonferroni", "bh"):
        assert (
            error_rates.any_rejection(correction, 30, 4, 60, seed=1, n_resamples=99)
            <= stats.binom.ppf(0.9995, 60, 0.05) / 60
        )


@pytest.mark.slow
def test_coverage_of_intervals(error_rates):
    """With few skewed values bootstrap intervals are too short; more values reduce the error."""
    for shape, (draw, mean) in error_rates.SHAPES.items():
        assert abs(draw(np.random.default_rng(0), 100_000).mean() - mean) < 0.005, shape
    few, many = (error_rates.coverage("bca", "reciprocal ranks", n, 300, 0, n_resamples=199) for n in (10, 200))
    assert few < 0.92 <= many


@pytest.mark.slow
def test_tables_of_error_rates_match_the_script(error_rates, tmp_path):
    """Both have the same columns and conditions; measured shares are numbers from 0 to 1."""
    folder = Path(error_rates.__file__).parent / "error_rates"
    assert {path.stem for path in folder.iterdir()} == {table.__name__ for table in error_rates.TABLES}
    for table, n_draws in error_rates.TABLES.items():
        path = folder / f"{table.__name__}.csv"
        drawn = tmp_path / path.name
        kept_head, *kept = csv.reader(path.read_text().splitlines())
        seed = int(kept[0][kept_head.index("seed")])
        error_rates.write(drawn, table(1, seed), n_draws, seed)
        head, *rows = csv.reader(drawn.read_text().splitlines())
        assert kept_head == head, path.name
        measured = [i for i, name in enumerate(head) if name in error_rates.MEASURED]
        assert measured
        for kept_row, row in zip(kept, rows, strict=True):
            assert all(0 <= float(kept_row[i]) <= 1 + ("width" in head[i]) / 10 for i in measured), path.name
            for i in measured:
                kept_row[i] = row[i]
            assert kept_row == row, path.name


def test_the_page_of_error_rates_shows_numbers_of_the_tables():
    page = Path(__file__).parents[2] / "docs" / "decide" / "measured.md"
    n_shown = 0
    for section in page.read_text().split("\n## "):
        files = re.findall(r"\]\((\.\./bench/error_rates/.*?)\)", section)
        drawn = set(re.findall(r"[\d.]+", "".join((page.parent / file).read_text() for file in files)))
        rows = "\n".join(line for line in section.splitlines() if line.startswith("|"))
        shown = re.findall(r"\b0\.\d{3}\b", rows)
        assert not [number for number in shown if number not in drawn], section.partition("\n")[0]
        n_shown += len(shown)
    assert n_shown > 50


# --- which queries, which metric -----------------------------------------------------------------------------------


def results(rng, n=12, metrics=("mrr", "rmse"), ids=None, **keywords):
    """Two systems on the same queries; the second has its rows in another order."""
    ids = np.array([f"q{i}" for i in range(n)]) if ids is None else ids
    qid = np.repeat(ids, 4)
    y, s, order = rng.integers(0, 2, 4 * n), rng.random((2, 4 * n)), rng.permutation(4 * n)
    y[::4] = 1
    one = evaluate(y, s[0], qid=qid, metrics=list(metrics), **keywords)
    two = evaluate(y[order], s[1][order], qid=qid[order], metrics=list(metrics), **keywords)
    return one, two


@pytest.mark.parametrize("ids", [None, np.arange(12) * 3, [(i, "x") for i in range(6)] + [0, 1, 2, "3", "4", "5"]])
def test_compare_matches_queries_by_id(ids, rng):
    if ids is not None:
        objects = np.empty(12, dtype=object)
        objects[:] = list(ids)
        ids = objects if isinstance(ids, list) else ids
    one, two = results(rng, ids=ids)
    place = {q: i for i, q in enumerate(two.qid.tolist())}
    b = two.per_query["mrr"][[place[q] for q in one.qid.tolist()]]
    a = one.per_query["mrr"]
    got, expected = compare(one, two, metric="mrr"), compare(a, b)
    assert (got.pvalue, got.difference) == (expected.pvalue, expected.difference)
    assert got.metric == "mrr"


def test_series_are_matched_by_index(rng):
    pytest.importorskip("pandas")
    one, two = (result.to_frame()["mrr"] for result in results(rng))
    assert compare(one, two) == compare(one.to_numpy(), two[one.index].to_numpy())
    with pytest.raises(TypeError, match="needs query ids in all systems, or in none"):
        compare(one, two.to_numpy())
    with pytest.raises(ValueError, match="Got a query twice in 'b'"):
        compare(one, two.iloc[[0, 0, *range(1, 12)]])


def test_compare_if_lower_is_better(rng):
    one, two = results(rng)
    got, higher = compare(one, two, metric="rmse"), compare(one.per_query["rmse"], two.per_query["rmse"][::1])
    assert got.difference == pytest.approx(one.mean()["rmse"] - two.mean()["rmse"])
    d = [1, 1, -1, 0, 0.5]
    assert (compare(d, np.zeros(5)).won, compare(d, np.zeros(5), greater_is_better=False).won) == (3, 1)
    assert got.won + got.tied + got.lost == higher.n_units
    shuffled = {q: v for q, v in zip(two.qid.tolist(), two.per_query["rmse"], strict=True)}
    better = [v < shuffled[q] for q, v in zip(one.qid.tolist(), one.per_query["rmse"], strict=True)]
    assert got.won == sum(better)


def test_compare_missing_queries(rng):
    one, two = results(rng, metrics=["mrr"])
    y, s, qid = [1, 0, 1, 0, 1, 0], [2, 1, 1, 2, 1, 2], ["q0", "q0", "new", "new", "q3", "q3"]
    short = evaluate(y, s, qid=qid, metrics="mrr")
    with pytest.raises(ValueError, match="Got 11 missing, the first 'new' in 'a'"):
        compare(one, short)
    with pytest.raises(ValueError, match="Got other labels in 'b' than in 'a' for 2 queries, the first of them 'q0'"):
        compare(one, short, missing=0.0)
    one, short = (replace(result, _kept_data=DataCounts()) for result in (one, short))  # unknown labels
    filled = compare(one, short, missing=0.0)
    assert (filled.n_units, filled.n_filled, filled.n_left_out) == (13, 11, 0)
    assert filled.difference == pytest.approx((one.per_query["mrr"].sum() - short.per_query["mrr"].sum()) / 13)
    left = compare(one, short, missing=np.nan)
    assert (left.n_units, left.n_left_out) == (2, 11)
    assert compare(one, short, test="welch").n_units == (12, 3)
    with pytest.raises(ValueError, match="Ids must be of one type"):
        compare(evaluate([1, 1], [1, 1], qid=[1, 2], metrics="mrr"), evaluate([1], [1], qid=["1"], metrics="mrr"))


def test_undefined_queries_are_dropped_from_both():
    a, b = [0.5, np.nan, 0.2, 0.9], [0.1, 0.3, np.nan, 0.4]
    got = compare(a, b)
    assert (got.n_units, got.n_left_out) == (2, 2)
    assert got.pvalue == compare([0.5, 0.9], [0.1, 0.4]).pvalue
    assert compare(a, b, test="welch").n_units == (3, 3)
    three = compare_all({"a": a, "b": b, "c": [np.nan, 1, 1, 1.0], "d": [1, 2, 3, 4]}, test="welch")
    assert three.means["d"] == 2.5
    with pytest.raises(ValueError, match="two queries or more with a defined value. Got 1, after 3 undefined"):
        compare_all({"a": a, "b": b, "c": [np.nan, 1, 1, 1.0]})


def test_compare_needs_a_metric(rng):
    one, two = results(rng)
    with pytest.raises(ValueError, match="results of several need metric=. Got mrr, rmse in 'a'"):
        compare(one, two)
    with pytest.raises(ValueError, match=r"'metric' parameter of compare must be one of mrr, rmse.*Got 'map'"):
        compare(one, two, metric="map")
    with pytest.raises(TypeError, match="'metric' of compare is for results of evaluate"):
        compare([1, 2], [2, 1], metric="map")
    one, two = results(rng, metrics=["rbp@3"])[0], results(rng, metrics=["rbp@3"], p=0.5)[1]
    with pytest.raises(ValueError, match="computed alike. Got 'rbp@3' with p=0.8 in 'a' and p=0.5 in 'b'"):
        compare(one, two)


def test_means_of_other_units(rng):
    one, two = results(rng, metrics=["mrr"], average="geometric")
    with pytest.raises(ValueError, match="compare is for means over queries. Got average='geometric' in 'a'"):
        compare(one, two)


WRONG = {
    "alpha": 5, "alternative": "larger", "confidence_level": 95, "correction": "sidak", "difference": np.inf,
    "greater_is_better": 1, "method": "z", "missing": "drop", "n_queries": 1, "n_resamples": 0, "n_test": 0,
    "n_train": 0, "power": 80, "random_state": -1, "std": -1, "test": "z",
}  # fmt: skip
TAKES = {
    "compare": (lambda **given: compare([1, 2, 3], [3, 2, 1], **given), (
        "test alternative confidence_level missing greater_is_better n_resamples random_state")),
    "compare_all": (lambda **given: compare_all({"a": [1, 2, 3], "b": [3, 2, 1]}, **given), (
        "test correction alternative confidence_level missing greater_is_better n_resamples random_state")),
    "compare_folds": (lambda **given: compare_folds([1, 2], [2, 4], **{"n_train": 2, "n_test": 1} | given), (
        "n_train n_test alternative confidence_level")),
    "confidence_interval": (lambda **given: confidence_interval([1, 2, 3], **given), (
        "method confidence_level n_resamples random_state")),
    "minimal_detectable_difference": (
        lambda **given: compare([1, 2, 3], [3, 2, 2]).minimal_detectable_difference(**given), "power alpha"),
    "adjust_pvalues": (lambda **given: adjust_pvalues([0.1], **given), "correction"),
    "power_of": (lambda std=1, **given: power_of(std, **{"n_queries": 9, "difference": 1} | given), (
        "std difference n_queries alpha alternative")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("function", "name"), [(function, name) for function, (_, names) in TAKES.items() for name in names.split()]
)
def test_every_keyword_is_checked(function, name):
    call, _ = TAKES[function]
    with pytest.raises(ValueError, match=f"^The '{name}' parameter of {function} must be "):
        call(**{name: WRONG[name]})


A, B = [1, 2, 3], [3, 2, 2]


@pytest.mark.parametrize(
    ("accepted", "refused"),
    [
        (lambda: compare(A, B, random_state=0), lambda: compare(A, B, random_state=-1)),
        (lambda: compare(A, B, random_state=2**32 - 1), lambda: compare(A, B, random_state=2**32)),
        (lambda: compare(A, B, random_state=np.int64(7)), lambda: compare(A, B, random_state="7")),
        (lambda: compare(A, B, missing=np.nan), lambda: compare(A, B, missing=np.inf)),
        (lambda: compare([1, 2], [2, 1]), lambda: compare([1, np.nan], [2, 1])),
        (lambda: compare([1e100, 0], [0, 0]), lambda: compare([1.0001e100, 0], [0, 0])),
        (lambda: compare([1e-100, 0], [0, 0]), lambda: compare([0.9999e-100, 0], [0, 0])),
        (lambda: power_of(1, difference=1, n_queries=2), lambda: power_of(1, difference=1, n_queries=1)),
        (lambda: power_of(1, difference=1, n_queries=2**53), lambda: power_of(1, difference=1, n_queries=2**53 + 1)),
        (
            lambda: compare_folds([1, 2], [2, 4], n_train=0.5, n_test=1),
            lambda: compare_folds(A, B, n_train=0, n_test=1),
        ),
        (lambda: adjust_pvalues([0, 1]), lambda: adjust_pvalues([0, 1.001])),
        (lambda: adjust_pvalues([]), lambda: adjust_pvalues([0.5, -0.001])),
        (lambda: adjust_pvalues([], "bh"), lambda: adjust_pvalues([np.nan, 0.5])),
    ],
)
def test_bounds_of_accepted_values(accepted, refused):
    accepted()
    with pytest.raises(ValueError, match="must be|needs two queries or more"):
        refused()


def test_undefined_values_of_different_queries_are_counted():
    with pytest.raises(ValueError, match="Got 1, after 3 undefined ones"):
        compare([1, np.nan], [1, 2, 3, np.nan, np.nan], test="welch")
    assert compare([1, 2, np.nan], [1, 2, 3, np.nan, np.nan], test="welch").n_left_out == 3


@pytest.mark.parametrize("what", ["clusters", "weight"])
@pytest.mark.parametrize("n_with", [1, 2])
def test_clusters_and_weights_of_results_cannot_be_passed_again(what, n_with):
    given = {what: [1, 2, 2]}
    a, b = (Evaluation.from_values([*"abc"], {"mrr": x}, **given if i < n_with else {}) for i, x in enumerate((A, B)))
    with pytest.raises(ValueError, match=f"The results already have {what}s?; remove {what}="):
        compare(a, b, **{what: {"a": 1, "b": 1, "c": 2}})


def test_unevenly_judged_systems_warn():
    """The first documents of new are unjudged; the judgments contain irrelevant documents, or only relevant ones."""
    qid, scores = np.repeat(np.arange(30), 10), np.tile(np.arange(10.0), 30)
    labels = np.tile([np.nan] * 4 + [1, 0, 1, 0, 1, 0], 30)
    given = {"qid": qid, "metrics": "p@5", "unjudged": "nonrelevant"}
    old, new = evaluate(labels, scores, **given), evaluate(labels, -scores, **given)
    for call in (lambda a, b: compare(a, b), lambda a, b: compare_all({"a": a, "b": b})):
        with pytest.warns(RankingWarning, match="judged far less"):
            call(new, old)
    assert compare(old, evaluate(labels, scores, **given)).judged == {"a": 1.0, "b": 1.0}
    with pytest.warns(RankingWarning, match="worse than a random order"):
        relevant = [evaluate(np.where(labels == 0, 1, labels), s, **given) for s in (scores, -scores)]
    assert compare(*relevant).judged == {"a": 1.0, "b": pytest.approx(0.2)}


@pytest.mark.parametrize(
    "call",
    [
        lambda a, b, **more: compare(a, b, test="randomization", random_state=0, **more).pvalue,
        lambda a, b, **more: compare(a, b, test="bootstrap", random_state=0, **more).confidence_interval,
        lambda a, b, **more: confidence_interval(a, method="percentile", random_state=0, **more),
        lambda a, b, **more: Evaluation.from_values(range(40), {"mrr": a}).confidence_interval(
            method="bca", random_state=0, **more
        ),
    ],
)
def test_9999_resamples_by_default(call, rng):
    a, b = rng.random((2, 40))
    assert call(a, b) == call(a, b, n_resamples=9999)
    assert call(a, b) != call(a, b, n_resamples=9998)


def test_rejected_data(values):
    a, b = values
    with pytest.raises(ValueError, match=r"arrays must be of equal length.*test='welch'.*Got lengths 30, 29"):
        compare(a, b[1:])
    with pytest.raises(ValueError, match="Got 1, after 0 undefined"):
        compare([1], [2])
    with pytest.raises(ValueError, match=r"'b' of compare must be a list of finite numbers.*Got an infinite value"):
        compare([1, 2], [1, np.inf])
    with pytest.raises(ValueError, match=r"Got shape \(2, 1\)"):
        compare([[1], [2]], [1, 2])
    with pytest.raises(TypeError, match="'a' of compare must hold real numbers. Got list"):
        compare(["x", "y"], [1, 2])
    for wrong in (["0.1", "0.2"], np.array([1j, 2])):
        with pytest.raises(TypeError, match="'b' of compare must hold real numbers"):
            compare([1, 2], wrong)
    with pytest.raises(ValueError, match="compare_folds takes scores of the same folds.*Got 2 and 3"):
        compare_folds([1, 2], [1, 2, 3], n_train=8, n_test=2)
    with pytest.raises(ValueError, match="without NaN. Got 2 and 2 scores, 1 of them NaN"):
        compare_folds([1, np.nan], [1, 2], n_train=8, n_test=2)
    with pytest.raises(ValueError, match="on the side of the alternative"):
        power_of(1, difference=0.1, power=0.8, alternative="less")
    assert power_of(1, difference=-0.1, power=0.8) == power_of(1, difference=0.1, power=0.8)
    with pytest.raises(
        ValueError, match=r"two of difference, n_queries and power, and returns the third. Got n_queries\."
    ):
        power_of(1, n_queries=10)
    with pytest.raises(ValueError, match=r"Got difference and n_queries and power\."):
        power_of(1, difference=0.1, n_queries=10, power=0.8)


# --- many systems --------------------------------------------------------------------------------------------------


NUMBERS = (
    "difference pvalue statistic confidence_interval interval_method effect_size won tied lost standard_error df "
    "n_units is_skewed is_constant n_left_out n_filled n_clusters is_weighted"
).split()


def numbers(test):
    """Uncorrected result of a test for one pair."""
    return [getattr(test, name) for name in NUMBERS]


def corrected(test):
    """Corrected p-value of each pair."""
    return {pair: test[pair].corrected_pvalue for pair in test.pairs}


def test_compare_several_systems(values, rng):
    systems = {"a": values[0], "b": values[1], "c": rng.permutation(values[0])}
    found = compare_all(systems, test="randomization", n_resamples=199, random_state=2)
    assert found.pairs == [("a", "b"), ("a", "c"), ("b", "c")]
    for x, y in found.pairs:
        alone = compare(systems[x], systems[y], test="randomization", n_resamples=199, random_state=2)
        assert numbers(found[x, y]) == numbers(alone)
    raw = [found[pair].pvalue for pair in found.pairs]
    assert_allclose([*corrected(found).values()], adjust_pvalues(raw))
    assert found.means == pytest.approx({name: x.mean() for name, x in systems.items()})
    against = compare_all(systems, baseline="b", correction=None)
    assert against.pairs == [("a", "b"), ("c", "b")]
    assert against["c", "b"].corrected_pvalue == compare(systems["c"], systems["b"]).pvalue
    for key in (("a", "c"), ("b", "a"), ("a", "b", "x"), ("a",), "ab", [*"ab"], ([], {}), (values[0], "b"), np.nan):
        with pytest.raises(KeyError, match=r"A pair must be one of \('a', 'b'\), \('c', 'b'\). Got "):
            against[key]
    with pytest.raises(AttributeError, match=r"a test of 2 rows: choose one, such as test\['a', 'b'\].pvalue"):
        getattr(against, "pvalue")  # noqa: B009
    with pytest.raises(ValueError, match="needs segments: call it on the result of Comparison.segments"):
        against.macro()


WEIGHT, CLUSTERS = np.arange(30) % 4 * 1.0, np.arange(30) // 4
OPTIONS = [
    {"weight": WEIGHT}, {"clusters": CLUSTERS}, {"weight": WEIGHT, "clusters": CLUSTERS}, {"confidence_level": 0.7},
    {"greater_is_better": False}, {"weight": WEIGHT, "clusters": CLUSTERS, "confidence_level": 0.8},
]  # fmt: skip
"""Keywords of `compare` and `compare_all`; some queries have the weight 0."""


@together("options", OPTIONS)
@together("test", [*WITH_WEIGHTS, "welch"])
@all_alternatives
def test_each_pair_is_a_comparison_of_two(test, options, alternative, values, rng):
    """The interval also agrees: if p is three times as large, alpha of the interval is a third."""
    if test not in WITH_WEIGHTS and not options.keys().isdisjoint(("weight", "clusters")):
        return
    systems = {"a": values[0], "b": values[1], "c": rng.permutation(values[0])}
    options = {"test": test, "alternative": alternative, "n_resamples": 99, "random_state": 0} | options
    found = compare_all(systems, correction="bonferroni", **options)
    level = options.get("confidence_level", 0.95)
    for a, b in found.pairs:
        result = found[a, b]
        assert numbers(result) == numbers(compare(systems[a], systems[b], **options))
        p = result.corrected_pvalue
        assert p == pytest.approx(min(3 * result.pvalue, 1))
        wider = options | {"confidence_level": 1 - (1 - level) * (result.pvalue / p if result.pvalue else 1 / 3)}
        expected = compare(systems[a], systems[b], **wider).confidence_interval
        assert result.corrected_interval == pytest.approx(expected)
        assert found.means[a] - found.means[b] == pytest.approx(result.difference)


def test_errors_for_several_systems(values):
    two = {"a": values[0], "b": values[1]}
    with pytest.raises(TypeError, match="a mapping from names to results, two or more"):
        compare_all([values[0], values[1]])
    with pytest.raises(TypeError, match="two or more"):
        compare_all({"a": values[0]})
    with pytest.raises(ValueError, match="'baseline' must be one of 'a', 'b'. Got 'c'"):
        compare_all(two, baseline="c")
    with pytest.raises(ValueError, match="must be None, 'holm', 'bonferroni' or 'bh'"):
        compare_all(two, correction="tukey")


def test_compare_results_as_text_frame_and_pickle(rng, values):
    pytest.importorskip("pandas")
    one, two = results(rng)
    result = compare(one, two, metric="mrr")
    lines = repr(result).splitlines()
    assert lines[0] == "MRR: a minus b, 12 queries, test 't', two-sided"
    assert lines[1] == "The interval may be too narrow: few queries, skewed values."
    columns = ["difference", "low", "high", "p", "effect", "won", "tied", "lost"]
    assert lines[2].split() == ["a", "b", *columns]
    assert "12 and 12 queries" in repr(compare(one, two, metric="mrr", test="welch"))
    two_systems = compare_all({"one": one, "two": two}, metric="mrr")
    names = ["a", "b", "mean a", "mean b"]
    expected = [*names, *columns[:4], "p corrected", *columns[4:], "queries"]
    assert [*two_systems.to_frame().columns] == [*result.to_frame().columns] == expected
    assert two_systems.to_frame()["queries"].tolist() == [12]
    assert (two_systems.n_units, two_systems.means) == (12, {"one": one.mean()["mrr"], "two": two.mean()["mrr"]})
    expected = str(result).replace("a minus b", "one minus two").replace("     a        b", "   one      two")
    assert str(two_systems) == expected
    unpaired = compare_all({"one": one, "two": two}, metric="mrr", test="welch")
    assert unpaired.to_frame()["queries"].tolist() == ["12 and 12"]
    assert [*unpaired.to_frame().columns] == [*names, *columns[:4], "p corrected", "effect", "queries"]
    systems = {"one": one.per_query["mrr"], "two": two.per_query["mrr"], "half": np.full(12, 0.5)}
    many = compare_all(systems)
    lines = repr(many).splitlines()
    assert lines[0] == "a metric, test 't', correction 'holm'"
    assert [line.split()[:2] for line in lines[-8:-5]] == [[name, "12"] for name in systems]
    head, row = lines[-4:-2]
    assert head.split() == ["a", "b", "a", "-", "b", "95", "%", "interval", "p", "corrected", "won", "lost"]
    pair = many["one", "two"]
    low, high = pair.corrected_interval
    assert f"[{low:.4f}, {high:.4f}]" in row
    assert row.split()[-3:] == [f"{pair.corrected_pvalue:.4f}", str(pair.won), str(pair.lost)]
    assert str(pair).startswith("a metric: one minus two, 12 queries, test 't', two-sided")
    assert pickle.loads(pickle.dumps(many)) == many
    tiny = repr(compare(np.arange(40.0), np.arange(40.0) + 1 + 0.1 * rng.random(40)))
    assert "e-" in tiny  # not 0.0000


@all_tests
def test_compare_keeps_inputs_and_does_not_warn(test):
    a, b = np.array([0, 0, 0, 0, 1.0]), np.zeros(5)
    a.flags.writeable = b.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert 0 < quick(a, b, test=test).pvalue <= 1


@pytest.mark.parametrize("scale", [1e101, 1e200, 1e308, 1e-101, 1e-200, 5e-324])
def test_squares_that_overflow(scale):
    a, b = np.array([0.1, 0.4, 0.9]) * scale, np.array([0.2, 0.2, 1.0]) * scale
    message = r"must be 0 or from 1e-100 to 1e\+100, so that squares can be summed; scale the values. Got"
    for call in (
        lambda: compare(a, b),
        lambda: compare_all({"a": a, "b": b}),
        lambda: confidence_interval(a),
        lambda: compare_folds(a, b, n_train=2, n_test=1),
    ):
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize("metric", [["map"], {"map": 1}, 3, np.array(["map"])])
def test_a_single_metric_is_compared_and_drawn(metric, values):
    result = evaluate([1, 0, 1, 0], [2, 1, 1, 2], qid=[1, 1, 2, 2], metrics=["map", "mrr"])
    for call, rule in (
        (lambda: compare(result, result, metric=metric), "'metric' parameter of compare must be one of map, mrr"),
        (
            lambda: compare_all({"a": result, "b": result}, metric=metric),
            "'metric' parameter of compare_all must be one",
        ),
        (
            lambda: result.worst_queries(metric=metric),
            "'metric' parameter must be one of the result's metrics: 'map', ",
        ),
        (
            lambda: compare_all(dict(zip("ab", values, strict=True)), baseline=metric),
            "'baseline' must be one of 'a', 'b'",
        ),
    ):
        with pytest.raises(ValueError, match=rule):
            call()
    with pytest.raises(KeyError, match="A pair must be one of"):
        compare_all(dict(zip("ab", values, strict=True)))[metric, "b"]


def test_greater_is_better_may_be_a_bool_of_numpy(values):
    assert compare(*values, greater_is_better=np.bool_(False)).won == compare(*values).lost
