"""Several systems: `compare_systems` agrees with `evaluate` and the statistics, or its error names a way out."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy.sparse import csr_array

from sklearn_rank import compare_systems, evaluate, stats
from sklearn_rank.results import Comparison, Evaluation

METRICS = ["ndcg@5", "map", "rmse"]


@pytest.fixture(scope="module")
def rows():
    """Labels, scores of three systems, and the query of each row, rows in no order."""
    rng = np.random.default_rng(0)
    qid, y = rng.integers(0, 40, 400), rng.integers(0, 3, 400)
    return y, {name: rng.random(400) + better * y for name, better in (("old", 0), ("new", 0.3), ("best", 0.6))}, qid


@pytest.fixture(scope="module")
def report(rows):
    y, systems, qid = rows
    return compare_systems(y, systems, qid=qid, metrics=METRICS)


def evaluated(rows, metrics=METRICS, **keywords):
    y, systems, qid = rows
    return {name: evaluate(y, scores, qid=qid, metrics=metrics, **keywords) for name, scores in systems.items()}


def assert_same(found, expected):
    """The same results, to the last bit."""
    assert list(found) == list(expected)
    for name, result in expected.items():
        assert found[name].mean() == result.mean()
        assert_array_equal(found[name].qid, result.qid)
        assert found[name].n_undefined == result.n_undefined
        for metric, values in result.per_query.items():
            assert_array_equal(found[name].per_query[metric], values)


# --- the same numbers ----------------------------------------------------------------------------------------


def test_other_ways_to_give_the_same(rows, report):
    y, systems, qid = rows
    labels = pd.Series(y, index=pd.Index(qid, name="qid"))
    tie_break = np.arange(len(y))
    for found in (
        compare_systems(y_true=y, y_score=systems, qid=qid, metrics=METRICS),
        compare_systems(labels, systems, metrics=METRICS),
        compare_systems(y, pd.DataFrame(systems), qid=qid, metrics=METRICS),
        compare_systems(evaluated(rows)),
    ):
        assert_same(found.results, report.results)
        assert found.summary() == report.summary()
    stable = {"metrics": "map", "ties": "stable", "tie_break": tie_break}
    tied = {name: scores.round(1) for name, scores in systems.items()}
    assert_same(compare_systems(y, tied, qid=qid, **stable).results, evaluated((y, tied, qid), **stable))


def test_a_row_may_be_a_query(rows):
    y, systems, _ = rows
    y, systems = y.reshape(40, 10), {name: scores.reshape(40, 10) for name, scores in systems.items()}
    expected = evaluated((y, systems, None))
    found = compare_systems(y, systems, metrics=METRICS)
    assert_same(found.results, expected)
    assert found.y_score["new"].shape == (40, 10)
    sparse = compare_systems(csr_array(y), systems | {"new": csr_array(systems["new"])}, metrics=["ndcg@5", "map"])
    assert sparse.results["new"].mean() == {name: expected["new"].mean()[name] for name in ("ndcg@5", "map")}
    assert sparse.y_score == {}


def test_padding_and_ids_of_a_matrix(rows):
    y, systems, _ = rows
    y, mask = y.reshape(40, 10), np.arange(10) < np.random.default_rng(2).integers(1, 11, (40, 1))
    systems = {name: np.where(mask, scores.reshape(40, 10), np.nan) for name, scores in systems.items()}
    common = {"mask": mask, "qid": [f"q{i}" for i in range(40)], "metrics": METRICS}
    expected = {name: evaluate(y, scores, **common) for name, scores in systems.items()}
    assert_same(compare_systems(y, systems, **common).results, expected)
    flat = {name: scores.ravel() for name, scores in systems.items()}
    common |= {"mask": mask.ravel(), "qid": np.repeat(common["qid"], 10)}
    assert_same(compare_systems(y.ravel(), flat, **common).results, expected)
    with pytest.raises(ValueError, match=r"y_score\['b'\] must not contain NaN .* in row 2"):
        compare_systems(
            [1, 0, 1, 0], {"a": [1, 2, 3, 4], "b": [1, np.nan, np.nan, 4]}, qid=[1] * 4, mask=[True, False, True, True]
        )


def test_attributes_and_clusters_are_kept_by_each_result(rows):
    y, systems, qid = rows
    found = compare_systems(y, systems, qid=qid, metrics="map", by={"half": qid > 19}, clusters=qid // 4)
    for result in found.results.values():
        assert_array_equal(result.attributes["half"], result.qid > 19)
        assert_array_equal(result.clusters, result.qid // 4)
    order = np.random.default_rng(1).permutation(len(y))
    other = evaluate(
        y[order], systems["new"][order], qid=qid[order], metrics="map", by={"half": qid[order] > 19},
        clusters=qid[order] // 4,
    )  # fmt: skip
    aligned = compare_systems({"old": found.results["old"], "new": other}).results["new"]
    assert_array_equal(aligned.clusters, aligned.qid // 4)
    assert_array_equal(aligned.attributes["half"], aligned.qid > 19)
    with pytest.raises(ValueError, match="compare_systems takes test='t', 'randomization' or 'bootstrap'"):
        compare_systems(found.results, test="wilcoxon")
    with pytest.raises(ValueError, match="same clusters: .* Got other clusters in 'new' than in 'old'"):
        compare_systems({"old": found.results["old"], "new": evaluate(y, systems["new"], qid=qid, metrics="map")})


def test_attributes_of_one_name_must_be_equal(rows):
    y, systems, qid = rows
    kinds = {"old": {"half": qid > 19}, "new": {"half": qid > 18, "own": qid % 2}, "none": None}
    results = {name: evaluate(y, systems["new"], qid=qid, metrics="map", by=by) for name, by in kinds.items()}
    with pytest.raises(ValueError, match="same attributes.* Got another 'half' in 'new' than in 'old'"):
        compare_systems(results)
    assert compare_systems({name: results[name] for name in ("old", "none")}).segments().by == ("half",)


def test_the_statistics_match_compare_all(rows):
    y, systems, qid = rows
    found = compare_systems(
        y, systems, qid=qid, metrics=METRICS, baseline="new", test="wilcoxon", correction="bonferroni"
    )
    frame = found.summary().to_frame().set_index(["model", "metric"])
    for metric in METRICS:
        expected = stats.compare_all(
            evaluated(rows), metric=metric, baseline="new", test="wilcoxon", correction="bonferroni"
        )
        assert found.significance(metric) == expected
        for name in ("old", "best"):
            pair = expected[name, "new"]
            assert frame.loc[name, metric]["p corrected"] == expected[name, "new"].corrected_pvalue
            assert (frame.loc[name, metric]["won"], frame.loc[name, metric]["lost"]) == (pair.won, pair.lost)
    assert found.baseline == "new"


def test_compare_systems_by_hand():
    """Reciprocal ranks 1/2 and 1/2 against 1 and 1: the differences have no spread."""
    found = compare_systems([1, 0, 0, 1], {"a": [1, 2, 2, 1], "b": [2, 1, 1, 3]}, qid=[1, 1, 2, 2], metrics="mrr")
    (_, _, mean, *_), (_, _, other, *_, difference, won, tied, lost, p, _) = found.summary().rows
    assert found.summary().to_frame()["queries"].tolist() == [2, 2]
    assert (mean, other, difference, won, tied, lost, p) == (0.5, 1.0, 0.5, 2, 0, 0, 0.5)


# --- a comparison is whole without folds ---------------------------------------------------------------------


def test_without_folds_there_are_no_columns_of_folds(report):
    assert not {"fold mean", "fold sd", "p folds"} & {*report.summary().columns}
    assert (report.fold_means, report.fit_time, report.n_queries, report.failures) == ({}, {}, [], {})
    assert repr(report).startswith("Comparison of 3 systems on 40 queries; baseline old, paired t-test, Holm\n")
    assert report.to_frame().shape == (40, 9)
    assert "<table>" in report._repr_html_()
    assert report.worst_queries(3) == report.results["old"].worst_queries(3)
    assert len(report.most_different("best", "old", 4).rows) == 4


def test_a_single_system_is_summarized(rows):
    y, systems, qid = rows
    found = compare_systems(y, {"new": systems["new"]}, qid=qid, metrics="map")
    assert found.summary().rows[0][-1] is None
    assert found.summary().rows[0][2] == evaluate(y, systems["new"], qid=qid, metrics="map").mean()["map"]


def test_the_reason_for_missing_tests_is_printed(rows):
    y, systems, qid = rows
    given = {"qid": qid, "metrics": METRICS, "sample_weight": qid + 1.0}
    weighted = compare_systems(y, systems, test="sign", **given)
    assert_same(weighted.results, evaluated(rows, sample_weight=qid + 1.0))
    told = " ".join(str(weighted).split())
    assert "No test of nDCG@5, MAP, RMSE: the queries have weights, which test='sign' does not take." in told
    frame = weighted.summary().to_frame()
    assert frame["p"].isna().all()
    assert frame["low"].notna().all()
    tested = compare_systems(y, systems, **given)
    assert str(tested).startswith("Comparison of 3 systems on 40 weighted queries; baseline old, paired t-test")
    assert "No test" not in str(tested)
    equal = compare_systems(y, systems, qid=qid, metrics=METRICS, sample_weight=0 * qid + 3.0, test="sign")
    assert "No test" not in str(equal)
    pooled = compare_systems(y, systems, qid=qid, metrics=["map", "p(average=micro)@5"])
    assert "No test of P(average=micro)@5: its average is 'micro'" in str(pooled)
    assert "No test of" not in str(compare_systems(y, systems, qid=qid, metrics="map"))
    one = compare_systems([0, 1], {"a": [1, 2], "b": [2, 1]}, qid=[1, 1], metrics="map")
    assert "No test of MAP: two queries or more are needed." in str(one)
    values = {"a": [np.nan, 1, 2], "b": [1, np.nan, 2]}  # one query has a value in both
    half = compare_systems({name: Evaluation.from_values([*"xyz"], {"mrr": mrr}) for name, mrr in values.items()})
    assert "No test of MRR: two queries or more are needed." in str(half)


# --- finished results ----------------------------------------------------------------------------------------


def test_results_in_another_order_are_reordered(rows, report, tmp_path):
    y, systems, qid = rows
    order = np.random.default_rng(1).permutation(len(y))
    other = evaluate(y[order], systems["best"][order], qid=qid[order], metrics=METRICS[::-1])
    assert other.qid.tolist() != report.results["old"].qid.tolist()
    found = compare_systems(evaluated(rows) | {"best": other})
    assert found.results["best"].mean() == other.mean()
    for name, result in report.results.items():
        assert_array_equal(found.results[name].qid, report.results["old"].qid)
        for metric in METRICS:
            np.testing.assert_allclose(found.results[name].per_query[metric], result.per_query[metric], rtol=1e-12)
    assert found.most_different("best", "old", 5).rows[0][0] == report.most_different("best", "old", 5).rows[0][0]
    found.save(tmp_path / "report.npz")
    assert repr(Comparison.load(tmp_path / "report.npz")) == repr(found)


def test_pooled_means_and_undefined_queries_survive_another_order(rows):
    y, systems, qid = rows
    y = np.where(qid == 3, 0, y)
    moved = np.argsort(-qid, kind="stable")
    for metric in ("f(average=micro)@5", "map"):
        one = evaluate(y, systems["old"], qid=qid, metrics=metric)
        other = evaluate(y[moved], systems["old"][moved], qid=qid[moved], metrics=metric)
        assert [*one.qid] != [*other.qid]
        found = compare_systems({"one": one, "other": other}).results["other"]
        assert found.mean() == other.mean()
    assert found.subset([3]).n_undefined == one.subset([3]).n_undefined == {"map": 1}


@pytest.mark.parametrize("reverse", ["queries", "metrics", "both"])
def test_all_that_a_result_knows_survives_another_order(reverse):
    """The order of the first result is used: for queries, for metrics, or for both."""
    labels, scores, qid = [1, 0, 1, 1, 0, 0, np.nan, 1], [3, 2, 1, 4, 3, 2, 1, 2], np.array([4, 4, 4, 2, 2, 7, 7, 7])
    properties = {"by": qid % 4, "clusters": qid % 3, "sample_weight": qid, "unjudged": "nonrelevant"}
    one = evaluate(labels, scores, qid=qid, metrics=["ndcg@1", "mrr"], **properties)
    order = slice(None, None, None if reverse == "metrics" else -1)
    moved = {key: value if key == "unjudged" else value[order] for key, value in properties.items()}
    metrics = ["ndcg@1", "mrr"] if reverse == "queries" else ["mrr", "ndcg@1"]
    other = evaluate(labels[order], scores[order], qid=qid[order], metrics=metrics, **moved)
    found = compare_systems({"one": one, "other": other}).results
    assert found["one"] is one
    for name in (
        "qid per_query n_undefined meaning average greater_is_better is_binary attributes clusters weight n_documents "
        "label_fingerprints judged judges_both"
    ).split():
        np.testing.assert_equal(getattr(found["other"], name), getattr(one, name), err_msg=name)
        if isinstance(getattr(one, name), dict):
            assert [*getattr(found["other"], name)] == [*getattr(one, name)], name
    assert one.judges_both
    assert min(one.judged["mrr"]) < 1


def test_own_metrics_are_unchanged_in_another_order():
    own = {
        "meaning": {"x": "x of mine"}, "greater_is_better": {"x": False}, "is_binary": {"x": True},
        "undefined": {"x": [True, False]},
    }  # fmt: skip
    one = Evaluation.from_values(["a", "b"], {"x": [1, 0]}, **own)
    other = Evaluation.from_values(["b", "a"], {"x": [0, 1]}, **own | {"undefined": {"x": [False, True]}})
    found = compare_systems({"one": one, "other": other}).results["other"]
    for name in ("qid", "per_query", "n_undefined", "meaning", "greater_is_better", "is_binary"):
        np.testing.assert_equal(getattr(found, name), getattr(one, name), err_msg=name)
    assert found.subset(["a"]).n_undefined == {"x": 1}


@pytest.mark.parametrize("lacks", ["one", "other"])
def test_the_first_query_missing_from_a_result_is_named(lacks):
    results = {
        name: Evaluation.from_values(ids, {"x": [0] * len(ids)})
        for name, ids in (("one", "abcd"), ("other", "adbc"))
        for ids in ([*(ids.translate({98: None, 99: None}) if name == lacks else ids)],)
    }
    has = "other" if lacks == "one" else "one"
    with pytest.raises(ValueError, match=f"Got 2 queries that '{lacks}' lacks, the first of them 'b', which '{has}'"):
        compare_systems(results)


def test_results_of_plain_values_are_taken():
    one = Evaluation.from_values(["a", "b", "c"], {"clicks": [1, 2, 4]})
    other = Evaluation.from_values(["c", "b", "a"], {"clicks": [4, 3, 1]})
    found = compare_systems({"one": one, "other": other})
    assert found.most_different("other", "one", 1).rows == (("b", 3.0, 2.0, 1.0),)


@pytest.mark.parametrize(
    ("name", "value", "other"), [("average", "geometric", "macro"), ("greater_is_better", False, True)]
)
def test_plain_values_of_other_kinds_are_refused(name, value, other):
    one, two = (
        Evaluation.from_values(["a", "b"], {"clicks": [1, 2]}, **more)
        for more in ({}, {name: {"clicks": value}, "means": {"clicks": 1.5}, "meaning": {"clicks": "clicks"}})
    )
    assert one.meaning == two.meaning
    with pytest.raises(ValueError, match=f"with {name} {other} in 'one' and {value} in 'two'"):
        compare_systems({"one": one, "two": two})


def unlike(rows, **how):
    """A result with one difference."""
    y, systems, qid = rows
    some = qid > 3 if "queries" in how else np.ones(len(y), dtype=bool)
    y = np.where(y == 2, 1, y) if "labels" in how else y
    weight = qid[some] + 1.0 if "weights" in how else None
    keywords = {"gain": "linear"} if "keywords" in how else {}
    metrics = "map" if "metrics" in how else METRICS
    return evaluate(y[some], systems["new"][some], qid=qid[some], metrics=metrics, sample_weight=weight, **keywords)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ("metrics", "results of the same metrics. Got ndcg@5, map, rmse in 'old' and map in 'new'"),
        ("keywords", "computed alike. Got 'ndcg@5' with gain=exp2 in 'old' and gain=linear in 'new'"),
        ("queries", "on the same queries.* Got 4 queries that 'new' lacks, the first of them .*, which 'old' has"),
        ("labels", "judged by the same labels.* Got other labels in 'new' than in 'old'"),
        ("weights", "have the same weight: .* Got other weight in 'new' than in 'old'"),
    ],
)
def test_unlike_results_are_refused(rows, what, message):
    results = evaluated(rows)
    with pytest.raises(ValueError, match=message):
        compare_systems({"old": results["old"], "new": unlike(rows, **{what: True})})


# --- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"baseline": "bets"}, ValueError, r"models, \['old', 'new', 'best'\]. Got 'bets'. Did you mean 'best'\?"),
        ({"test": "tt"}, ValueError, "'test' parameter of compare_systems must be"),
        ({"correction": "tukey"}, ValueError, "must be None, 'holm', 'bonferroni' or 'bh'"),
        ({"metrics": "ndgc"}, ValueError, "Did you mean 'ndcg'"),
        ({"groups": 1}, TypeError, "compare_systems has no keyword 'groups'. qid= is the query of each row"),
        ({"qid": None}, ValueError, "pass qid="),
        ({"data": None}, TypeError, "Got no labels"),
        ({"y_true": [1, 0]}, TypeError, "Pass the labels to compare_systems once"),
        ({"y_score": None}, TypeError, "a dict of the scores of each system, .* Got None as y_score"),
        ({"y_score": {}}, TypeError, "Got no system"),
        ({"y_score": [[1, 2], [2, 1]]}, TypeError, r"a dict of the scores of each system, .* Got \[\[1, 2\]"),
        ({"y_score": {1: [1, 2]}}, TypeError, "name of a system must be a str, as in .* Got 1"),
    ],
)  # fmt: skip
def test_arguments(rows, change, kind, message):
    y, systems, qid = rows
    arguments = {"data": y, "y_score": systems, "qid": qid, "metrics": "map"} | change
    with pytest.raises(kind, match=message):
        compare_systems(arguments.pop("data"), arguments.pop("y_score"), **arguments)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda s: s[:-1], r"y_score\['best'\] must have one score for each label, .* shape \(400,\). Got \(399,\)"),
        (lambda s: np.where(s == s[7], np.nan, s), r"y_score\['best'\] must not contain NaN .* in row 7"),
        (lambda s: s.reshape(40, 10), r"y_score\['best'\] must have one score for each label, .* shape \(400,\)"),
        (
            lambda s: pd.Series(s, index=np.arange(400)[::-1]),
            r"y_score\['new'\] and y_score\['best'\] must have the same index",
        ),
        (lambda s: np.where(s == s[7], np.inf, s), r"y_score\['best'\] must not contain NaN .* Got inf in row 7"),
        (
            lambda s: pd.Series(s, index=pd.Index(np.arange(400) // 10, name="qid")),
            r"qid and the level 'qid' of the index of y_score\['best'\] must name the same queries",
        ),
    ],
)
def test_scores_are_checked_before_a_metric_is_computed(rows, change, message):
    y, systems, qid = rows

    def never(y_true, y_score):
        raise AssertionError

    scores = systems | {"new": pd.Series(systems["new"]), "best": change(systems["best"])}
    if "qid" in message:
        scores["new"] = systems["new"]
    with pytest.raises(ValueError, match=message):
        compare_systems(y, scores, qid=qid, metrics=["map", never])


@pytest.mark.parametrize("make", [list, lambda x: [x]], ids=["rows", "a matrix"])
def test_a_metric_error_names_the_system(make):
    y_true, retrieved, first_is_not = map(make, ([1, 0], [1.0, 2.0], [-np.inf, 1.0]))
    systems, qid = {"a": retrieved, "b": retrieved[:], "c": first_is_not}, None if make is not list else [1, 1]
    with pytest.raises(ValueError, match=r"every y_score\['c'\] must be finite. Got -inf in (row|query) 0"):
        compare_systems(y_true, systems, qid=qid, metrics="mse")


@pytest.mark.parametrize("name", ["data", "qid"])
def test_compare_systems_refuses_other_row_labels(rows, name):
    y, systems, qid = rows
    arguments = {"data": y, "qid": qid}
    arguments[name] = pd.Series(arguments[name])
    scores = {"old": systems["old"], "new": pd.Series(systems["new"], index=np.arange(400)[::-1])}
    with pytest.raises(ValueError, match="must have the same index"):
        compare_systems(arguments["data"], scores, qid=arguments["qid"], metrics="map")
    by = pd.Series(qid, index=np.arange(400)[::-1])
    for more in ({"by": by}, {"clusters": by}):
        with pytest.raises(ValueError, match="must have the same index"):
            compare_systems(arguments["data"], systems, qid=arguments["qid"], metrics="map", **more)


def test_attributes_have_the_labels_of_the_scores(rows):
    y, systems, qid = rows
    by = pd.Series(qid, index=np.arange(400)[::-1])
    with pytest.raises(ValueError, match=r"y_score\['old'\] and by must have the same index"):
        compare_systems(y, {"old": pd.Series(systems["old"]), "new": systems["new"]}, qid=qid, metrics="map", by=by)


def test_the_scores_of_the_first_system_are_named(rows):
    y, systems, qid = rows
    with pytest.raises(ValueError, match=r"y_score\['old'\] must not contain NaN"):
        compare_systems(y, systems | {"old": np.full(400, np.nan)}, qid=qid, metrics="map")


def test_an_order_of_ties_that_no_metric_reads_is_refused(rows):
    y, systems, qid = rows
    with pytest.raises(ValueError, match="tie_break is read with ties='stable' only"):
        compare_systems(y, systems, qid=qid, metrics="map", tie_break=np.arange(400))


def test_finished_results_cannot_be_mixed_and_have_names(rows):
    results = evaluated(rows)
    with pytest.raises(TypeError, match="With existing results, .* Got also metrics, qid, gain"):
        compare_systems(results, qid=rows[2], metrics="map", gain="linear")
    with pytest.raises(TypeError, match="With existing results, .* Got also y_score"):
        compare_systems(results, rows[1])
    for nameless in ([*results.values()], [results["old"], 5], results["old"]):
        with pytest.raises(TypeError, match="a dict of results of evaluate, .* Got results without names"):
            compare_systems(nameless)
    with pytest.raises(TypeError, match="All results must be Evaluation objects. Got ndarray for 'more'"):
        compare_systems(results | {"more": rows[1]["old"]})


def test_a_system_of_another_type(rows):
    with pytest.raises(TypeError, match=r"takes labels and a dict .* Got \['old', 5\] as y_score"):
        compare_systems(rows[0], ["old", 5], qid=rows[2], metrics="map")
    systems = {"old": {1: {"a": 1.0}, 2: {"b": 2.0}}, "new": {"a": 1.0, "b": 2.0}}
    with pytest.raises(TypeError, match="A query of the run needs a dictionary .* about the system 'new'"):
        compare_systems({1: {"a": 1}, 2: {"b": 1}}, systems, metrics="map")


def test_scores_by_other_columns_of_documents_are_refused():
    y = pd.DataFrame([[1, 0], [0, 1]], columns=["d1", "d2"])
    scores = {"a": y * 1.0, "b": y[["d2", "d1"]] * 1.0}
    with pytest.raises(ValueError, match=r"take y_score\['b'\]\[y_true.columns\]"):
        compare_systems(y, scores, metrics="map")
    with pytest.raises(ValueError, match=r"y_score\['b'\] must have one score for each label, .* shape \(2, 2\)"):
        compare_systems(y, {"a": y * 1.0, "b": [[0.0, 1, 1, 0]]}, metrics="map")


def test_a_summary_notes_constant_values():
    """A difference without an interval, and a mean with an interval of zero width."""
    judgments = {q: {"x": 1, "y": 0} for q in "abc"}
    runs = {"old": {q: ["x", "y"] for q in "abc"}, "new": {q: ["y", "x"] for q in "abc"}}
    found = compare_systems(judgments, runs, metrics=["mrr", "p@1"])
    note = found.summary().note
    assert note == found.summary(full=True).note
    assert "The interval of MRR allows for values not seen." in note
    assert "The difference of new - old in MRR is the same for every query: it has no interval" in note
    assert "The interval of MRR allows for values not seen." in found.results["old"].summary().note
    runs["new"]["a"] = ["x", "y"]
    runs["old"] = runs["new"] | {"b": ["x", "y"]}
    note = compare_systems(judgments, runs, metrics="mrr").summary().note
    assert "same" not in note
