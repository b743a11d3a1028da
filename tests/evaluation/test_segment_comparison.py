"""Systems compared in each segment of the queries."""

import re
from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from registry import together
from scipy.stats import ttest_rel
from sklearn.linear_model import Ridge
from sklearn.tree import DecisionTreeRegressor

from sklearn_rank import RankingEvaluator, compare_systems
from sklearn_rank._estimates.segments import equal_means
from sklearn_rank.datasets import make_ranking
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import adjust_pvalues, compare

X, Y, QID = make_ranking(n_queries=60, random_state=0)
COUNTRY, DEVICE = np.array(["it", "de", "fr"])[QID % 3], np.where(QID % 2, "mobile", "desktop")
SYSTEMS = {"old": X[:, 0], "new": X[:, 0] + 0.5 * X[:, 1], "other": X[:, 1]}


def compared(**given):
    given = {"qid": QID, "metrics": ["map", "rmse"], "by": {"country": COUNTRY, "device": DEVICE}} | given
    return compare_systems(Y, SYSTEMS, **given)


@pytest.mark.parametrize("test", ["t", "wilcoxon", "randomization"])
def test_each_row_is_a_comparison(test):
    report = compared(test=test, baseline="new")
    got = report.segments("country", metric="map")
    frame = got.to_frame()
    assert frame["country"].tolist() == ["de", "fr", "it"] * 2
    values = report.results
    for row in frame.itertuples():
        there = values["new"].attributes["country"] == row.country
        assert row.b == "new"
        a, b = (values[name].per_query["map"][there] for name in (row.a, row.b))
        alone = compare(a, b, test=test, random_state=0)
        assert (row.queries, row.won, row.tied, row.lost) == (there.sum(), alone.won, alone.tied, alone.lost)
        assert (row.difference, row.low, row.high, row.p) == (
            alone.difference,
            *alone.confidence_interval,
            alone.pvalue,
        )
        one = got[row.a, row.b, row.country]
        assert (one.pvalue, one.effect_size, one.df) == (alone.pvalue, alone.effect_size, alone.df)
        np.testing.assert_allclose([frame["mean a"][row.Index], frame["mean b"][row.Index]], [a.mean(), b.mean()])
    np.testing.assert_allclose(frame["p corrected"], adjust_pvalues(frame["p"]))
    assert got.overall == report.significance("map")
    assert (got.pairs, got.by) == ([("old", "new"), ("other", "new")], ("country",))


def test_best_systems_within_segments():
    """Systems are out by paired t tests at 0.05 over the pairs and segments, or by the corrected p of the table."""
    report = compared(by={"device": DEVICE, "country": COUNTRY})
    for by in ("device", "country"):
        found, segment = report.segments(by, metric="map"), report.results["old"].attributes[by]
        values = {name: result.per_query["map"] for name, result in report.results.items()}
        for value in np.unique(segment):
            x = {name: one[segment == value] for name, one in values.items()}
            out = {
                b
                for a, b in permutations(x, 2)
                if x[a].mean() > x[b].mean() and ttest_rel(x[a], x[b]).pvalue * 2 * len({*segment}) <= 0.05
            }
            rows = [found[name, "old", value] for name in ("new", "other")]
            shown = [one for one in rows if one.corrected_pvalue < 0.05]
            out |= {one.pairs[0][one.difference > 0] for one in shown}
            left = [name for name in x if name not in out]
            said = "none is shown" if len(left) == 3 else " or ".join(left)
            assert re.search(rf"[:;] {said} in [^;]*\b{value}\b", found._notes()[0]), (by, value, left)
    assert found._notes()[0].startswith("Best of 3 systems within segments: ")
    assert "Best of" not in str(report.segments("country", metric="map")["new", "old"])


def test_interaction():
    report = compared()
    segment = np.unique(report.results["old"].attributes["device"], return_inverse=True)[1]
    values = {name: result.per_query["map"] for name, result in report.results.items()}
    p = [equal_means(values[name] - values["old"], segment).pvalue for name in ("new", "other")]
    np.testing.assert_allclose([*report.segments("device", metric="map").interaction.values()], adjust_pvalues(p))
    assert "does the difference vary between segments? Welch's ANOVA, corrected p = " in str(
        report.segments("device", metric="map")
    )
    both = report.segments().to_frame()  # the first metric, all attributes
    assert len(both) == 2 * 6
    assert both.columns[:4].tolist() == ["country", "device", "a", "b"]


def test_a_difference_in_one_segment_is_an_interaction():
    rng = np.random.default_rng(0)
    base, gain = rng.uniform(0.2, 0.6, 80), np.tile([0.2, 0.0], 40)
    results = {
        name: Evaluation.from_values(range(80), {"map": values}, by={"kind": ["head", "tail"] * 40})
        for name, values in {"old": base, "new": base + gain + rng.normal(size=80) / 20}.items()
    }
    got = compare_systems(results).segments()
    frame = got.to_frame().set_index("kind")
    assert got.interaction["new", "old"] < 1e-9
    assert frame["p corrected"]["head"] < 1e-9 < 0.01 < frame["p corrected"]["tail"]


def test_clusters_of_a_segment():
    report = compared(clusters=QID // 3)
    frame = report.segments("device", metric="map")
    assert frame.n_clusters == 20
    there = report.results["old"].attributes["device"] == "mobile"
    a, b = (report.results[name].per_query["map"][there] for name in ("new", "old"))
    alone = compare(a, b, clusters=report.results["old"].clusters[there])
    one = frame["new", "old", "mobile"]
    assert (one.confidence_interval, one.pvalue) == (alone.confidence_interval, alone.pvalue)
    untested = compared(clusters=COUNTRY).segments("country", metric="map").to_frame()  # one cluster each
    assert untested[["low", "high", "won", "p"]].isna().all(axis=None)


WEIGHT, CLUSTERS = np.arange(60) % 5 + 1.0, np.arange(60) // 4


@pytest.mark.slow
@together("own", [{"weight": WEIGHT}, {"clusters": CLUSTERS}, {"weight": WEIGHT, "clusters": CLUSTERS}])
@together("level", [0.6, 0.95])
@together("correction", [None, "bonferroni", "bh"])
def test_rows_of_weighted_and_clustered_queries_are_comparisons(own, level, correction):
    rng = np.random.default_rng(0)
    values, segment = {name: rng.random(60) for name in ("old", "new", "other")}, np.array([*"abc"])[np.arange(60) % 3]
    results = {name: Evaluation.from_values(range(60), {"map": x}, by=segment, **own) for name, x in values.items()}
    report = compare_systems(results, correction=correction)
    found = report.segments(confidence_level=level)
    frame, overall = found.to_frame(), found.overall.to_frame()
    for row in [*frame.itertuples(), *overall.itertuples()]:
        at = segment == row.by if hasattr(row, "by") else np.ones(60, dtype=bool)
        options = {name: of_queries[at] for name, of_queries in own.items()} | {"confidence_level": level}
        alone = compare(values[row.a][at], values["old"][at], **options)
        assert (row.difference, row.low, row.high) == pytest.approx((alone.difference, *alone.confidence_interval))
        assert (row.p, row.won, row.lost) == (pytest.approx(alone.pvalue), alone.won, alone.lost)
        mean = np.average(values[row.a][at], weights=options.get("weight"))
        assert row[row._fields.index("b") + 1] == pytest.approx(mean)
    for table in (frame, overall):
        np.testing.assert_allclose(table["p corrected"], adjust_pvalues(table["p"], correction))
    assert confidence_level_apart(found.overall) == confidence_level_apart(report.significance("map"))


def confidence_level_apart(test):
    """Fields that do not depend on the level of the intervals."""
    return [(test[pair].corrected_pvalue, test[pair].won, test[pair].n_units) for pair in test.pairs]


@together("test", ["t", "randomization"])
@together("clusters", [None, np.arange(24) // 3])
def test_a_query_of_weight_0_is_in_no_segment(test, clusters):
    rng = np.random.default_rng(0)
    values, weight = {name: rng.random(24) for name in ("old", "new", "other")}, rng.integers(1, 4, 24).astype(float)
    weight[[0, 5, 9, 23]] = 0.0
    values["old"][[3, 9]] = np.nan
    country = np.array(["it", "de", "fr", "es"])[np.arange(24) % 4]

    def segments(kept):
        results = {
            name: Evaluation.from_values(
                np.arange(24)[kept], {"map": x[kept]}, weight=weight[kept], by={"country": country[kept]},
                clusters=None if clusters is None else clusters[kept],
            )
            for name, x in values.items()
        }  # fmt: skip
        return compare_systems(results, test=test).segments("country")

    every, counted = segments(weight >= 0), segments(weight > 0)
    for name in ("table", "interaction", "n_clusters"):
        assert getattr(every, name) == getattr(counted, name), name
    assert every.overall.table == counted.overall.table
    assert (every.n_left_out, counted.n_left_out) == (5, 1)
    assert (every.macro().rows, str(every)) == (counted.macro().rows, str(counted))
    assert [row[-1] for row in every.table.rows[:4]] == [4, 4, 6, 5]


def test_every_door_gives_the_same_segments():
    expected = compared(metrics="map").segments(by="country").table
    frame = pd.DataFrame({"qid": QID, "label": Y, "country": COUNTRY, **SYSTEMS})
    assert compare_systems(frame, list(SYSTEMS), by="country", metrics="map").segments().table == expected
    rows = frame.assign(document=np.arange(len(frame))).groupby("qid")
    judgments = {q: dict(zip(part["document"], part["label"], strict=True)) for q, part in rows}
    runs = {name: {q: dict(zip(part["document"], part[name], strict=True)) for q, part in rows} for name in SYSTEMS}
    by = dict(zip(QID.tolist(), COUNTRY.tolist(), strict=True))
    got = compare_systems(judgments, runs, by={"country": by}, metrics="map").segments().table
    assert [(*row[:3], row[-1]) for row in got.rows] == [(*row[:3], row[-1]) for row in expected.rows]


def test_small_and_undefined_segments():
    values = {"old": [0.1, 0.2, np.nan, 0.4, 0.5, 0.3], "new": [0.3, 0.2, 0.3, 0.9, np.nan, 0.9]}
    by = ["a", "a", "b", "c", "d", "c"]
    results = {name: Evaluation.from_values(range(6), {"map": v}, by={"x": by}) for name, v in values.items()}
    got = compare_systems(results).segments()
    assert [(row[0], row[-1]) for row in got.table.rows] == [("a", 2), ("b", 0), ("c", 2), ("d", 0)]
    assert got.table.rows[1][3:-1] == (None,) * 11  # no query of b has both values
    assert np.isnan(got["new", "old", "b"].pvalue)
    one = {name: Evaluation.from_values(range(3), {"map": v}, by=["a", "a", "b"]) for name, v in
           {"old": [0.1, 0.2, 0.3], "new": [0.2, 0.5, 0.5]}.items()}  # fmt: skip
    row = compare_systems(one).segments().table.rows[1]
    assert (row[0], row[3:]) == ("b", (0.5, 0.3, 0.2, *[None] * 8, 1))
    text = str(compared(baseline="old").segments())
    assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"metric": "ndcg"}, "one of the result's metrics"),
        ({"by": "age"}, "It has 'country', 'device'"),
        ({"by": {"mean a": DEVICE[:60]}}, "another name than the columns of its table, a, b, .* Got 'mean a'"),
        ({"confidence_level": 95}, "between 0 and 1"),
    ],
)
def test_segment_comparison_errors(keywords, message):
    with pytest.raises(ValueError, match=message):
        compared().segments(**keywords)


def test_attributes_named_like_columns_of_the_other_table():
    assert compared(metrics="map").segments({"metric": DEVICE[:60]}).to_frame().columns.is_unique
    assert compared().results["old"].segments({"system": DEVICE[:60]}).to_frame().columns.is_unique


def test_means_without_tests_are_rejected():
    with pytest.raises(ValueError, match="means over queries. Got average='geometric'"):
        compared(metrics="gm_map").segments()
    with pytest.raises(ValueError, match="If queries have weights, segments takes test='t'.*Got test='sign'"):
        compared(sample_weight=1.0 + QID, test="sign").segments()
    with pytest.raises(ValueError, match="and another system"):
        compare_systems(Y, {"old": X[:, 0]}, qid=QID, metrics="map", by=COUNTRY).segments()


def test_clusters_are_rejected_before_the_fits():
    """If the test needs independent queries, the report could not be printed."""
    by_query = {"clusters": QID // 2, "test": "wilcoxon"}
    with pytest.raises(ValueError, match="If queries have clusters, compare_systems takes test='t'"):
        compared(**by_query)
    finished = compared(clusters=QID // 2).results
    with pytest.raises(ValueError, match="If queries have clusters, compare_systems takes test='t'"):
        compare_systems(finished, test="sign")
    with pytest.raises(ValueError, match="If queries have clusters, compare takes test='t'"):
        RankingEvaluator("map", test="sign").compare({"a": Ridge(), "b": Ridge()}, X, Y, qid=QID, clusters=QID // 2)


def test_folds_carry_attributes():
    models = {"ridge": Ridge(), "tree": DecisionTreeRegressor(max_depth=2, random_state=0)}
    report = RankingEvaluator("map", cv=3).compare(models, X, Y, qid=QID, by={"country": COUNTRY}, clusters=QID // 3)
    assert [row[0] for row in report.segments().table.rows] == ["de", "fr", "it"]
    assert "queries in 20 clusters" in str(report)


def test_each_system_has_a_table():
    tables = compared().segments("country", metric="map").to_markdown()
    assert (tables.count("new difference"), tables.count("other difference")) == (1, 1)


@pytest.mark.parametrize(("n_attributes", "width"), [(1, 24), (2, 12), (5, 6)])
def test_long_values_are_shortened_in_print(n_attributes, width):
    by = {f"k{i}": ["x" * 40, "y" * 40] * 4 for i in range(n_attributes)}
    values = {"old": np.linspace(0, 0.5, 8), "new": np.linspace(0.2, 0.9, 8) ** 2}
    results = {name: Evaluation.from_values(range(8), {"map": of}, by=by) for name, of in values.items()}
    report = compare_systems(results).segments()
    lines = [line for line in str(report).splitlines() if line.startswith("x")]
    assert [len(line.split()[0]) for line in lines] == [width]
    assert "x" * 40 in report.to_markdown()
    assert report.table.rows[0][:n_attributes] == ("x" * 40,) * n_attributes


def test_two_queries_are_tested_and_skewed_values_are_noted():
    values = {"old": [0.1, 0.2, 0.3, 0.4, 0.5], "new": [0.3, 0.5, 0.4, 0.7, 0.6]}
    results = {name: Evaluation.from_values(range(5), {"map": of}, by=[*"aabbc"]) for name, of in values.items()}
    report = compare_systems(results).segments()
    assert [not np.isnan(report["new", "old", name].pvalue) for name in "abc"] == [True, True, False]
    assert "may be too narrow" not in str(report)
    skewed = {"old": np.zeros(9), "new": np.array([0, 0, 0, 0, 0, 0, 0, 0.01, 1])}
    results = {name: Evaluation.from_values(range(9), {"map": of}, by=[*"aaaaaaaab"]) for name, of in skewed.items()}
    assert "The intervals of MAP may be too narrow" in " ".join(str(compare_systems(results).segments()).split())


def test_one_pair_and_one_segment_have_their_own_tests():
    report = compared(metrics="map")
    found = report.segments()
    pair = found["new", "old"]
    assert pair.pairs == [("new", "old")]
    assert pair.table.rows == found.table.rows[:6]
    assert pair.interaction == {("new", "old"): found.interaction["new", "old"]}
    assert (pair.overall, [row[0] for row in pair.macro().rows]) == (found.overall["new", "old"], ["new"])
    assert pair.overall.overall is pair.overall
    of_country, of_both = found["new", "old", "de"], found["new", "old", "de", "mobile"]
    assert of_country.table.rows == tuple(row for row in found.table.rows if row[:3] == ("de", row[1], "new"))
    assert of_both.difference == next(row for row in found.table.rows if row[:3] == ("de", "mobile", "new"))[6]
    assert "other" not in str(pair)
    with pytest.raises(KeyError, match=r"A segment of a pair must be one of \('new', 'old', 'de', .* Got \(.*'es'\)"):
        found["new", "old", "es"]
    with pytest.raises(AttributeError, match=r"'pvalue' belongs to one pair. Got a test of 6 rows: choose one"):
        getattr(pair, "pvalue")  # noqa: B009


@together("correction", [None, "holm"])
def test_printed_intervals_of_segments_agree_with_the_corrected_p(correction):
    found = compared(metrics="map", correction=correction).segments("country")
    for row in found.table.rows:
        one = found[row[1], row[2], row[0]]
        (low, high), alone = one.corrected_interval, one.confidence_interval
        assert (low > 0 or high < 0) == (one.corrected_pvalue < 0.05)
        assert low <= alone[0] < alone[1] <= high
        assert f"[{low:.4f}, {high:.4f}]" in str(found)
    assert ("the level of its corrected p" in str(found)) == (correction is not None)
