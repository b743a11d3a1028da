"""Means by segment, results of selected queries, and the test whether segments differ."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats

from sklearn_rank import evaluate
from sklearn_rank._estimates.segments import WALD, WELCH, equal_means
from sklearn_rank.datasets import make_ranking
from sklearn_rank.results import Evaluation

X, Y, QID = make_ranking(n_queries=60, random_state=0)
COUNTRY, DEVICE = np.array(["it", "de", "fr"])[QID % 3], np.where(QID % 2, "mobile", "desktop")
BY = {"country": COUNTRY, "device": DEVICE}
METRICS = ["ndcg@5", "map", "rmse"]


def result(**given):
    return evaluate(Y, X[:, 0], **{"qid": QID, "metrics": METRICS, "by": BY} | given)


def of_rows(keep, **given):
    """A new evaluation of selected rows."""
    return evaluate(Y[keep], X[keep, 0], qid=QID[keep], **{"metrics": METRICS} | given)


def test_segments_are_evaluations_of_their_rows():
    segments = result().segments("country")
    frame = segments.to_frame()
    assert frame["country"].unique().tolist() == ["de", "fr", "it"]  # sorted by value
    for row in frame.itertuples():
        alone = of_rows(row.country == COUNTRY)
        assert row.queries == len(alone.qid)
        assert (row.mean, row.undefined) == (alone.mean()[row.metric], alone.n_undefined[row.metric])
        assert (row.low, row.high) == alone.confidence_interval()[row.metric]
    means = frame[frame["metric"] == "map"]["mean"]
    assert segments.gap["map"] == means.max() - means.min()
    assert segments.overall.rows[1][1:4] == ("map", 60, result().mean()["map"])


@pytest.mark.parametrize("n_segments", [1, 2, 5])
def test_a_segment_has_the_bits_of_a_subset(n_segments):
    """The queries of a segment are summed in their order, for any number of queries."""
    rng = np.random.default_rng(0)
    segment = rng.integers(0, n_segments, 3000)
    drawn = Evaluation.from_values(range(3000), {"mrr": rng.random(3000)}, by=segment, weight=rng.random(3000))
    for value, _, n, mean, low, high, _ in drawn.segments().table.rows:
        subset = drawn.subset(segment == value)
        assert (n, mean) == (len(subset.qid), subset["mrr"])
        assert (low, high) == subset.confidence_interval()["mrr"]


def test_titles_name_attributes_that_have_a_name():
    for by, title in (([1, 2], ""), ({"a": [1, 2]}, " by a"), ({"a": [1, 2], "b": [1, 2]}, " by a and b")):
        segments = Evaluation.from_values(range(2), {"mrr": [1, 0]}, by=by).segments()
        assert str(segments).splitlines()[0] == f"Segments of 2 queries{title}"
        assert [line.split()[0] for line in str(segments).splitlines()[-3:]] == ["1", "2", "all"]


def test_large_values_and_zeros():
    """Floats are compared by their bits while they represent whole numbers exactly; both zeros are one value."""
    large = 2.0**53 - 1
    by = [large - 1, large, 0.0, -0.0, large]
    rows = Evaluation.from_values(range(5), {"mrr": [1, 1, 0, 0, 1]}, by=by).segments().table.rows
    assert [(row[0], row[2]) for row in rows] == [(0, 2), (large - 1, 1), (large, 2)]
    with pytest.raises(ValueError, match="Ids must stay different"):
        Evaluation.from_values(range(2), {"mrr": [1, 1]}, by=[large, large + 1])


def test_pandas_gives_the_same_groups():
    frame = result().to_frame().groupby([result().attributes["country"], result().attributes["device"]])["map"]
    got = result().segments(["country", "device"], metric="map").to_frame().set_index(["country", "device"])
    np.testing.assert_allclose(got["mean"], frame.mean())
    np.testing.assert_array_equal(got["queries"], frame.size())
    assert got.index.tolist() == frame.mean().index.tolist()
    pd.testing.assert_frame_equal(result().segments(metric="map").to_frame(), got.reset_index())


OTHER_MEANS = {"micro": {"metrics": "p@5", "average": "micro"}, "geometric": {"metrics": "gm_map"}}


@pytest.mark.parametrize("kind", OTHER_MEANS)
def test_means_of_other_kinds(kind):
    given = OTHER_MEANS[kind]
    segments = result(**given).segments("device")
    for row in segments.to_frame().itertuples():
        keep = row.device == DEVICE
        assert row.mean == of_rows(keep, **given).mean()[row.metric]
        assert row.low is None or np.isnan(row.low)  # such a mean has no interval and no test
    assert np.isnan([*segments.pvalue.values()]).all()


def test_values_missing_from_the_result():
    plain = result(by=None)
    expected = result().segments("country", metric="map").table
    by_query = dict(zip(QID.tolist(), COUNTRY.tolist(), strict=True))
    in_order = plain.qid % 3
    assert plain.segments(by_query, metric="map").table.rows == expected.rows
    assert plain.segments({"country": by_query}, metric="map").table == expected
    assert sorted(r[3] for r in plain.segments(in_order, metric="map").table.rows) == sorted(
        r[3] for r in expected.rows
    )
    as_list = [f"part {i}" for i in in_order]
    assert [*plain.segments(as_list, metric="map").to_frame()["mean"]] == [
        *plain.segments(in_order, metric="map").to_frame()["mean"]
    ]
    series = pd.Series(plain.n_documents > 10, index=plain.qid, name="long")
    assert plain.segments(series).by == ("long",)
    with pytest.raises(ValueError, match="index of long must be qid"):
        plain.segments(series[::-1])


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("contry", "attributes of the result.*It has 'country', 'device'. Got 'contry'"),
        (["country", "age"], "attributes of the result"),
        (["country", "country"], "each once"),
        ({1: "de"}, "Got no entry for query"),
        ([1, 2], "one entry per query, 60"),
        ([1, "country"], "one entry per query, 60"),
        ([], "one entry per query, 60"),
        ({"mean": DEVICE[:60]}, "another name than the columns of its table, metric, queries, mean.* Got 'mean'"),
        ({"country": DEVICE[:60], "metric": DEVICE[:60]}, "Got 'metric'"),
    ],
)
def test_unknown_attributes(by, message):
    with pytest.raises(ValueError, match=message):
        result().segments(by)


def test_a_metric_in_place_of_an_attribute():
    with pytest.raises(ValueError, match=r"It has 'country', 'device'\. Got 'map'\. A metric goes to metric=\.$"):
        result().segments("map")
    with pytest.raises(ValueError, match=r"Got \['map', 'contry'\]\. A metric goes to metric=\.$"):
        result().segments(["map", "contry"])


def test_a_result_without_attributes():
    with pytest.raises(ValueError, match="pass by= to evaluate"):
        result(by=None).segments()
    with pytest.raises(ValueError, match="It has none: pass by= to evaluate"):
        result(by=None).segments("country")


def test_natural_order_and_small_segments():
    values = [1.0, 0.0, 1.0, 0.0, 0.5]
    segments = Evaluation.from_values(range(5), {"mrr": values}, by={"size": [10, 9, 10, 9, 100]}).segments()
    rows = segments.table.rows
    assert [row[0] for row in rows] == [9, 10, 100]
    assert rows[2][2:] == (1, 0.5, None, None, 0)  # one query has no interval
    assert np.isnan(segments.pvalue["mrr"])  # no segment has any variance
    mixed = Evaluation.from_values(range(3), {"mrr": values[:3]}, by={"x": ["b", 2, (1, 2)]}).segments()
    assert [row[0] for row in mixed.table.rows] == [2, "b", (1, 2)]


def test_bins_of_pandas_keep_their_order():
    bins = pd.cut(QID, [-1, 5, 10, 100])
    got = evaluate(Y, X[:, 0], qid=QID, metrics="map", by={"bin": bins}).segments().table.rows
    assert [str(row[0]) for row in got] == ["(-1, 5]", "(5, 10]", "(10, 100]"]


def test_segments_without_a_defined_query():
    got = evaluate(
        [0, 0, 1, 0], [1, 2, 1, 2], qid=[1, 1, 2, 2], metrics="map(replace_undefined_by=nan)", by=[0, 0, 1, 1]
    )
    rows = got.segments().table.rows
    assert np.isnan(rows[0][3])
    assert [row[-1] for row in rows] == [1, 0]
    assert [*got.segments().gap.values()] == [0.0]


# --- the test ------------------------------------------------------------------------------------------------------


def test_welch_agrees_with_scipy():
    """Reference: ``f_oneway(..., equal_var=False)`` of SciPy 1.17; older versions lack it."""
    rng = np.random.default_rng(0)
    segment = np.repeat([0, 1, 2], [5, 9, 20])
    x = rng.normal(size=34) * (1 + segment)
    got = equal_means(x, segment)
    assert (got.test, got.n_segments) == (WELCH, 3)
    np.testing.assert_allclose([got.statistic, got.pvalue], [0.48661625834794203, 0.6231768755393604])
    alone = equal_means(x, segment, np.arange(34))
    np.testing.assert_allclose([alone.statistic, alone.pvalue], [got.statistic, got.pvalue])
    two = equal_means(x[segment < 2], segment[segment < 2])
    welch = scipy_stats.ttest_ind(x[segment == 0], x[segment == 1], equal_var=False)
    np.testing.assert_allclose([two.statistic, two.pvalue], [welch.statistic**2, welch.pvalue])


def test_clusters_inside_segments():
    """With one value per cluster and clusters of equal size, it is Welch's test of the cluster means."""
    rng = np.random.default_rng(1)
    means, segment = rng.normal(size=12), np.arange(12) % 3
    x = np.repeat(means, 5) + np.tile([-1, -0.5, 0, 0.5, 1], 12)
    got = equal_means(x, np.repeat(segment, 5), np.repeat(np.arange(12), 5))
    expected = equal_means(means, segment)
    np.testing.assert_allclose([got.statistic, got.pvalue], [expected.statistic, expected.pvalue])


def test_clusters_across_segments():
    """If each cluster has one query in each of two segments, it is the paired t test."""
    rng = np.random.default_rng(2)
    shared, own = rng.normal(size=15), rng.normal(size=(2, 15)) / 10
    a, b = own + shared
    got = equal_means(np.r_[a, b], np.repeat([0, 1], 15), np.tile(np.arange(15), 2))
    paired = scipy_stats.ttest_rel(a, b)
    assert got.test == WALD
    np.testing.assert_allclose([got.statistic, got.pvalue], [paired.statistic**2, paired.pvalue])


def test_clusters_of_other_segments_do_not_count():
    """By hand: q = 1 contrast, so F is the squared difference over its variance, n / (n - 1) times the squared sums."""
    a, b = np.array([0.0, 1, 2, 5]), np.array([1.0, 2, 3, 2])  # cluster 4 has the mean of both segments
    at_mean = np.r_[a, 2], np.r_[b, 2]
    x, segment, cluster = np.concatenate(at_mean), np.repeat([0, 1], 5), np.tile(np.arange(5), 2)
    u = (at_mean[0] - 2) / 5 - (at_mean[1] - 2) / 5
    squared = (np.mean(at_mean[0]) - np.mean(at_mean[1])) ** 2
    assert squared == 0
    x[segment == 1] += 1
    got = equal_means(x, segment, cluster)
    assert got.df == (1, 4)
    np.testing.assert_allclose(got.statistic, 1 / (5 / 4 * (u**2).sum()))
    assert equal_means(np.r_[x, 9], np.r_[segment, 2], np.r_[cluster, 7]) == got


def test_few_clusters_across_many_segments():
    got = equal_means(np.arange(12.0) ** 2, np.tile(np.arange(4), 3), np.repeat(np.arange(3), 4))
    assert np.isnan(got.pvalue)


# --- selected queries ----------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:A boolean is no id:sklearn_rank.exceptions.RankingWarning")
def test_a_subset_of_queries_named_by_booleans():
    one = evaluate([0, 1, 1, 0], [2, 1, 2, 1], qid=[False, False, True, True], metrics="mrr")
    assert one.subset([False]).mean() == {"mrr": 0.5}
    assert one.subset([True]).mean() == {"mrr": 1}


def test_subset():
    got, few = result(sample_weight=1.0 + QID, clusters=QID // 2), np.unique(QID)[[50, 3, 7]]
    subset, keep = got.subset(few), np.isin(QID, few)
    alone = of_rows(keep, sample_weight=1.0 + QID[keep])
    assert subset.qid.tolist() == alone.qid.tolist()  # in the order of the result
    assert subset.mean() == alone.mean()
    assert (subset.n_documents == alone.n_documents).all()
    assert (subset.label_fingerprints == alone.label_fingerprints).all()
    assert (subset.weight == alone.weight).all()
    assert subset.attributes["device"].tolist() == np.where(alone.qid % 2, "mobile", "desktop").tolist()
    assert subset.clusters.tolist() == (alone.qid // 2).tolist()
    for other in (set(few.tolist()), np.isin(got.qid, few), pd.Index(few)):
        assert got.subset(other).mean() == alone.mean()
    with pytest.raises(ValueError, match="Ties need the data.*subset"):
        subset.tie_range()


@pytest.mark.parametrize(
    ("qids", "message"),
    [
        ([0, 99], "Got 1 others, the first of them 99"),
        ([1, 1], "each query once. Got 1 twice"),
        ([], "one query or more"),
        ("a", "one query or more"),
        ([True], "one entry per query, 60"),
        (np.zeros(60, dtype=bool), "keep one or more"),
    ],
)
def test_invalid_subsets(qids, message):
    with pytest.raises(ValueError, match=message):
        result().subset(qids)


def test_pooled_means_of_loaded_results_are_unknown(tmp_path):
    pooled = result(metrics="p@5", average="micro")
    pooled.save(tmp_path / "pooled")
    loaded = Evaluation.load(tmp_path / "pooled")
    with pytest.raises(ValueError, match="A micro mean of some queries"):
        loaded.segments("country")
    plain = result(metrics="map")
    plain.save(tmp_path / "plain")
    loaded = Evaluation.load(tmp_path / "plain")
    assert loaded.segments("country").table == plain.segments("country").table
    assert loaded.subset([1, 2]).mean() == plain.subset([1, 2]).mean()


def test_the_printed_test_is_the_one_used():
    """Recall is 1 everywhere, so only MRR is tested; clusters in several segments need another test."""
    segments = result(metrics=["r@100", "mrr"], clusters=QID // 4).segments("country")
    assert np.isnan(segments.pvalue["r@100"])
    assert segments.test == WALD
    assert f"MRR: gap {segments.gap['mrr']:.4f}, {WALD} p" in str(segments)


def test_segments_without_a_test_are_counted():
    segments = result().segments({query: "alone" if query == 0 else "abc"[query % 3] for query in range(60)})
    assert segments.n_tested == dict.fromkeys(METRICS, 3)
    assert f"{WELCH} of 3 of 4 segments p = " in str(segments)
    assert " of 3 of 3 " not in str(result().segments("country"))


def test_attributes_in_a_table_of_arrow():
    by = pytest.importorskip("pyarrow").table({"country": COUNTRY[np.unique(QID, return_index=True)[1]]})
    assert result(by=None).segments(by=by).to_frame().equals(result().segments("country").to_frame())


def test_each_metric_has_a_table():
    assert result().segments("country").to_markdown().count("| country |") == len(METRICS)


def test_a_note_for_segments_with_equal_values():
    values = {"mrr": [1, 1, 1, 0.5], "hit@1": [1, 1, 1, 0]}
    segments = Evaluation.from_values(range(4), values, by={"part": list("aabb")}).segments("part")
    assert "The interval of MRR allows for values not seen.\n" in str(segments)
