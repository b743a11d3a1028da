"""Means over segments with equal weights, and the standard error of a stratified sample."""

import itertools

import numpy as np
import pytest
from known_cases import references
from numpy.testing import assert_allclose
from registry import together
from scipy import stats as scipy_stats
from test_stats_laws import error_rates  # noqa: F401, a fixture

from sklearn_rank import compare_systems
from sklearn_rank._estimates.segments import macro_mean
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, confidence_interval

X = np.array([
    0.7637, 0.0017, 0.4468, 0.2892, 0.4345, 0.4779, 0.925, 0.0292, 0.6276, 0.0198, 0.7588, 0.9872, 0.8368, 0.0851,
    0.3189, 0.0701, 0.6185, 0.8027, 0.5996, 0.7683, 0.6694, 0.0858, 0.7729, 0.7251, 0.5681, 0.5788, 0.0188, 0.4139,
])  # fmt: skip
WEIGHT = np.array([
    1.102, 2.304, 0.271, 1.242, 0.285, 0.544, 2.908, 2.042, 1.399, 1.666, 2.644, 1.164, 1.853, 2.114, 1.195, 1.653,
    2.343, 2.746, 0.623, 2.814, 0.215, 2.308, 2.469, 0.583, 1.373, 2.483, 0.24, 1.96,
])  # fmt: skip
SEGMENT = np.repeat([0, 1, 2], [4, 9, 15])
CLUSTER = np.array([2, 4, 5, 3, 0, 4, 1, 1, 1, 1, 5, 2, 0, 1, 2, 2, 1, 5, 5, 3, 5, 2, 0, 1, 0, 5, 1, 2])


def result(values, segment=SEGMENT, metric="mrr", **keywords):
    return Evaluation.from_values(range(len(values)), {metric: values}, by={"data set": segment}, **keywords)


def macro(found):
    table = found.macro()
    (row,) = (dict(zip(table.columns, cells, strict=True)) for cells in table.rows)
    return row


def survey(x, weight, stratum):
    """Weighted mean of R's ``svymean`` with strata, and its standard error, by Taylor linearization."""
    mean = np.average(x, weights=weight)
    z, variance = weight * (x - mean) / weight.sum(), 0.0
    for h in np.unique(stratum):
        of_h = z[stratum == h]
        variance += len(of_h) / (len(of_h) - 1) * ((of_h - of_h.mean()) ** 2).sum()
    return mean, np.sqrt(variance)


def test_formula_matches_survey_of_r():
    for case in references("survey-"):
        if "stratum" in case["inputs"]:
            given = {name: np.array(case["inputs"][name]) for name in ("value", "weight", "stratum")}
            found = survey(given["value"], given["weight"], given["stratum"])
            assert_allclose(found, (case["expected"]["mean"], case["expected"]["se"]), rtol=1e-9)


def test_macro_mean_matches_the_stratified_mean_of_survey():
    found = macro(result(X).segments())
    expected = survey(X, 1 / np.bincount(SEGMENT)[SEGMENT], SEGMENT)
    assert_allclose((found["mean"], found["standard error"]), expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("keywords", "mean", "error"),
    [
        ({}, 0.4715759259259259, 0.0707248650957918),
        ({"weight": WEIGHT}, 0.457755827254074, 0.08472604063480146),
        ({"clusters": CLUSTER}, 0.4715759259259259, 0.07031079358033702),
        ({"clusters": CLUSTER, "weight": WEIGHT}, 0.457755827254074, 0.07546477197462625),
    ],
)
def test_macro_mean_matches_statsmodels(keywords, mean, error):
    """The mean coefficient of dummies: OLS with HC2, WLS with HC1 by segment, WLS with clusters and G / (G - 1)."""
    found = macro(result(X, metric="without bounds", **keywords).segments())
    assert_allclose((found["mean"], found["standard error"]), (mean, error), rtol=1e-12)
    low, high = scipy_stats.t.interval(0.95, found["df"], mean, error)
    assert_allclose((found["low"], found["high"]), (low, high), rtol=1e-10)
    assert (found["segments"], found["queries"]) == (3, 28)


def test_macro_mean_by_hand():
    """Means 0.75 and 0.5, squared errors 1/16 and 1/16, so sqrt(1/8) / 2, and (1/8)^2 / (1/256 + 1/512) degrees."""
    found = macro(result([1, 0.5, 0.25, 0.25, 1], list("ddfff")).segments())
    assert found["mean"] == 0.625
    assert_allclose((found["standard error"], found["df"]), (np.sqrt(1 / 8) / 2, 8 / 3), rtol=1e-14)


# --- laws --------------------------------------------------------------------------------------------------------


def test_degrees_of_freedom_of_similar_segments():
    x = np.tile([0.1, 0.5, 0.9], 4) + np.repeat(np.arange(4), 3)
    found = macro_mean(x, np.repeat(np.arange(4), 3))
    assert found.df == pytest.approx(8, rel=1e-12)
    assert found.mean == pytest.approx(x.mean())


def test_one_segment_gives_the_plain_mean():
    found = macro(result(X, 0 * SEGMENT).segments())
    assert_allclose((found["low"], found["high"]), confidence_interval(X), rtol=1e-12)
    for x, keywords in ((X**8, {}), (X, {"weight": WEIGHT**4}), (X**8, {"weight": WEIGHT, "clusters": CLUSTER})):
        segments = result(x, 0 * SEGMENT, **keywords).segments()
        found, whole = macro(segments), confidence_interval(x, bounds=(0, 1), **keywords)
        assert_allclose((found["low"], found["high"]), whole, rtol=1e-12)
        assert segments.macro().note == "The interval of MRR allows for values not seen."


def test_weights_apply_inside_segments():
    scale = np.array([1.0, 20, 300])[SEGMENT]
    one, other = macro_mean(X, SEGMENT, None, WEIGHT), macro_mean(X, SEGMENT, None, scale * WEIGHT)
    assert_allclose(other, one, rtol=1e-12)
    assert_allclose(macro_mean(X, SEGMENT, None, scale), macro_mean(X, SEGMENT), rtol=1e-12)


def test_order_and_names_of_segments_have_no_effect():
    order = np.random.default_rng(0).permutation(28)
    moved = result(X[order], np.array(["z", "a", "m"])[SEGMENT[order]]).segments().macro()
    assert_allclose(moved.rows[0][1:], result(X).segments().macro().rows[0][1:], rtol=1e-12)


def test_clusters_inside_segments_add_up():
    nested = SEGMENT * 10 + np.arange(28) % 3
    parts = [compare(X[SEGMENT == h], 0 * X[SEGMENT == h], clusters=nested[SEGMENT == h]) for h in range(3)]
    found = macro_mean(X, SEGMENT, nested)
    assert found.standard_error == pytest.approx(np.sqrt(sum(p.standard_error**2 for p in parts)) / 3, rel=1e-12)
    variance = np.array([p.standard_error**2 for p in parts])
    assert found.df == pytest.approx(variance.sum() ** 2 / (variance**2 / 2).sum(), rel=1e-12)
    assert macro_mean(X, SEGMENT, CLUSTER).df == 5


def test_segments_without_an_interval():
    x, segment = [0.2, 0.4, 0.9, np.nan, np.nan], list("aabcc")
    (row,) = result(x, segment).segments().macro().rows
    assert row == ("mrr", 2, 3, pytest.approx(0.6), None, None, None, None)  # c has no mean, b no variance
    geometric = Evaluation.from_values(
        range(5), {"mrr": x}, by=segment, average={"mrr": "geometric"}, means={"mrr": 0.4}
    )
    with pytest.raises(ValueError, match="A geometric mean of some queries"):
        geometric.segments()
    equal = macro(result([0.5, 0.5, 1, 1], list("aabb"), "without bounds").segments())
    assert (equal["mean"], equal["low"], equal["high"], equal["df"]) == (0.75, None, None, None)


def test_segments_allow_for_unseen_values():
    """Segments of 4 of 4 and 1 of 2 hits, each with half a hit and half a miss: rates .9 and .5, of 5 and 3."""
    hits, segment = [1.0] * 4 + [1.0, 0.0], list("aaaabb")
    of_hits = Evaluation.from_values(range(6), {"hit@10": hits}, by={"part": segment})
    found = macro(of_hits.segments())
    a, b = (4 * 0.1**2 + 0.5 * (0.9**2 + 0.1**2)) / 5**2, (2 * 0.5**2 + 0.5 * (0.5**2 + 0.5**2)) / 3**2
    error, df = np.sqrt(a + b) / 2, (a + b) ** 2 / (a**2 / 3 + b**2 / 1)
    assert found["mean"] == 0.75
    assert_allclose((found["standard error"], found["df"]), (error, df), rtol=1e-12)
    reach = scipy_stats.t.isf(0.025, df) * error
    assert_allclose((found["low"], found["high"]), np.clip(0.7 + np.array([-reach, reach]), 0, 1), rtol=1e-12)
    of_misses = Evaluation.from_values(range(6), {"hit@10": np.subtract(1.0, hits)}, by={"part": segment})
    row = macro(compare_systems({"old": of_misses, "new": of_hits}).segments())
    assert 0.05 < row["p"] < 1
    assert row["low"] < 0 < row["high"] <= 1
    weighted = Evaluation.from_values(range(6), {"hit@10": hits}, by={"part": segment}, weight=range(1, 7))
    assert macro(weighted.segments())["df"] is not None


def test_constant_differences_have_no_interval():
    """Six of six signs are equal: 2 / 2^6. For three systems, the note names the level of the intervals."""
    systems = {"old": result(np.zeros(6), list("aaabbb")), "new": result(np.full(6, 0.5), list("aaabbb"))}
    row = macro(compare_systems(systems).segments())
    assert (row["p"], row["low"], row["high"]) == (1 / 32, None, None)
    compared, _ = report()
    assert compared.segments().macro().note.endswith("Intervals are at the level of p, not of the corrected p.")


# --- comparisons -------------------------------------------------------------------------------------------------


def report(test="t", **keywords):
    other = np.clip(X + np.linspace(-0.1, 0.2, 28), 0, 1)
    systems = {"old": result(X, **keywords), "new": result(other, **keywords), "odd": result(X[::-1], **keywords)}
    return compare_systems(systems, test=test), other


@together("keywords", [{}, {"weight": WEIGHT}, {"clusters": CLUSTER}, {"weight": WEIGHT, "clusters": CLUSTER}])
def test_differences_are_paired(keywords):
    compared, other = report(**keywords)
    found = compared.segments().macro().to_frame().set_index("system")
    of_results = [compared.results[name].segments().macro().rows[0][3] for name in ("new", "old")]
    row = found.loc["new"]
    assert_allclose((row["mean"], row["baseline"]), of_results, rtol=1e-12)
    assert row["difference"] == pytest.approx(row["mean"] - row["baseline"])
    differences = result(other - X, **keywords).segments().macro().rows[0]
    columns = ["difference", "low", "high", "standard error", "df"]
    assert_allclose(row[columns].to_numpy(dtype=float), differences[3:], rtol=1e-12)
    t = row["difference"] / row["standard error"]
    assert row["p"] == pytest.approx(2 * scipy_stats.t.sf(abs(t), row["df"]), rel=1e-12)
    assert sorted(found["p corrected"]) == pytest.approx(
        sorted([min(1, 2 * found["p"].min()), max(found["p"].max(), 2 * found["p"].min())])
    )
    assert (found["segments"].tolist(), found["queries"].tolist()) == ([3, 3], [28, 28])


def test_signs_flip_in_the_mean_over_segments():
    x, segment = np.array([0.9, 0.1, 0.2, -0.4, 0.3, -0.2]), np.array([0, 0, 1, 1, 1, 1])
    share = 1 / np.array([2, 4])[segment]
    flipped = [abs(np.dot(signs, share * x)) for signs in itertools.product([-1, 1], repeat=6)]
    systems = {"old": result(0 * x, segment), "new": result(x, segment)}
    row = macro(compare_systems(systems, test="randomization").segments())
    assert row["p"] == pytest.approx(np.mean(np.array(flipped) >= (share * x).sum() - 1e-12))


def test_tests_of_other_hypotheses_have_no_p_value():
    compared, _ = report("wilcoxon")
    frame = compared.segments().macro().to_frame()
    assert frame["p"].isna().all()
    assert frame["low"].notna().all()
    alike = compare_systems({"old": result(X), "new": result(X)}, test="t")
    assert macro(alike.segments())["p"] == 1.0


def test_macro_mean_as_text():
    compared, _ = report()
    long = "a system with a name that is rather long"
    named = compare_systems({"old": compared.results["old"], long: compared.results["new"]})
    for table in (compared.segments().macro(), named.segments().macro(), compared.results["old"].segments().macro()):
        assert max(map(len, str(table).splitlines())) <= 100
        assert table.to_markdown().startswith("| ")
        assert "tabular" in table.to_latex()
        assert "<table>" in table._repr_html_()
    head, *_, note, more = str(compared.segments().macro()).splitlines()
    assert head.split() == "system mean difference low high standard error df p p corrected".split()
    assert f"{note} {more}".startswith("Means over 3 segments, 28 queries; differences from old. Intervals are")


# --- error rates -------------------------------------------------------------------------------------------------


def test_coverage_of_macro_means(error_rates):  # noqa: F811, the fixture
    """One small segment has most of the variance; Satterthwaite's degrees of freedom account for it."""
    sizes = error_rates.SEGMENT_SIZES
    assert error_rates.macro_coverage("satterthwaite", sizes["five of 10"], 400, 0)[0] > 0.92
    few, many = (
        error_rates.macro_coverage(df, sizes["3, 200, 200"], 400, 0)[0] for df in ("n - segments", "satterthwaite")
    )
    assert few < 0.83 < 0.85 < many
