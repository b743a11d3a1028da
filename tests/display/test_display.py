"""Pictures show the values of `evaluate`, and every element has a label. No pixels are compared."""

import copy
import inspect
import itertools
import re
import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank import QueryRanker, RankingEvaluator, evaluate, metric
from sklearn_rank import display as displays
from sklearn_rank.display import (
    CriticalDifferenceDisplay,
    CutoffDisplay,
    DifferenceDisplay,
    DistributionDisplay,
    QueryPrecisionRecallDisplay,
    SegmentsDisplay,
)
from sklearn_rank.display._input import paired
from sklearn_rank.display._signature import completed
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all

OF_ONE = [CutoffDisplay, DistributionDisplay, QueryPrecisionRecallDisplay]
CUTOFFS = [1, 3, 5]
METRICS = [f"{name}@{k}" for name in ("ndcg", "p", "r") for k in CUTOFFS] + ["iprec(recall=0)", "iprec(recall=1)"]
CHOICE = {CutoffDisplay: {"metric": "ndcg"}, DistributionDisplay: {"metric": "ndcg@3"}}


def shown_names(ax):
    """Names of systems, at the ends of curves or in the legend."""
    texts = [*ax.texts, *(ax.get_legend().get_texts() if ax.get_legend() else [])]
    return [" ".join(text.get_text().split()) for text in texts]


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    yield
    plt.close("all")


@pytest.fixture
def data(rng):
    n = rng.integers(2, 30, 60)
    y = rng.integers(0, 3, n.sum())
    qid = np.repeat(np.arange(60), n)
    return y, y + rng.normal(0, 1.5, len(y)), qid


@pytest.fixture
def result(data):
    y, s, qid = data
    return evaluate(y, s, qid=qid, metrics=METRICS)


@pytest.fixture
def systems(data, rng):
    y, s, qid = data
    scores = {"old": rng.permutation(s), "new": s}
    return {name: evaluate(y, score, qid=qid, metrics=METRICS) for name, score in scores.items()}


@pytest.mark.parametrize("display_class", OF_ONE)
def test_three_ways_to_the_same_picture(display_class, rng):
    X = rng.normal(size=(80, 3))
    y, qid = rng.integers(0, 3, 80), np.repeat(np.arange(10), 8)
    ranker = QueryRanker(Ridge()).fit(X, y, qid=qid)
    from_estimator = display_class.from_estimator(ranker, X, y, qid=qid)
    from_predictions = display_class.from_predictions(y, ranker.predict(X), qid=qid)
    assert from_estimator.name == "Ridge"
    assert from_predictions.name is None
    for name, value in vars(from_predictions).items():
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(value, getattr(from_estimator, name))


@pytest.mark.parametrize("display_class", OF_ONE)
def test_labels_names_and_axes_given(display_class, result):
    figure, ax = plt.subplots()
    for name in ("one", "two"):
        display = display_class.from_result(result, name=name, ax=ax, **CHOICE.get(display_class, {}))
        assert (display.ax_, display.figure_) == (ax, figure)
    names = " ".join(shown_names(ax))
    assert "one" in names
    assert "two" in names
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    looks = {
        (line.get_color(), str(line.get_linestyle()), line.get_marker()) for line in ax.lines if len(line.get_xdata())
    }
    assert len(looks) >= 2
    assert plt.get_fignums() == [figure.number]


@pytest.mark.parametrize("display_class", OF_ONE)
def test_drawn_again_under_another_name(display_class, result):
    display = display_class.from_result(result, **CHOICE.get(display_class, {}))
    first = display.ax_
    assert display.plot(name="again") is display
    assert display.ax_ is not first
    assert "again" in shown_names(display.ax_)[0]


@pytest.mark.parametrize("level", [{}, {"confidence_level": 0.5}])
def test_cutoffs(data, result, level):
    y, s, qid = data
    display = CutoffDisplay.from_predictions(y, s, qid=qid, metric="NDCG", k=[5, 1, 3], **level)
    mean, interval = result.mean(), result.confidence_interval(**level)
    assert display.line_.get_xdata().tolist() == display.k.tolist() == CUTOFFS
    np.testing.assert_array_equal(display.line_.get_ydata(), [mean[f"ndcg@{k}"] for k in CUTOFFS])
    np.testing.assert_array_equal(np.c_[display.low, display.high], [interval[f"ndcg@{k}"] for k in CUTOFFS])
    assert display.band_ in display.ax_.collections
    assert ("50 %" if level else "95 %") in display.ax_.get_ylabel()


def test_keywords_reach_the_metric_and_the_mean(data):
    y, s, qid = data
    expected = evaluate(y, s, qid=qid, metrics="ndcg@3", gain="linear", sample_weight=qid + 1).mean()["ndcg@3"]
    display = CutoffDisplay.from_predictions(y, s, qid=qid, k=[3], gain="linear", sample_weight=qid + 1)
    assert display.mean == [expected]


@pytest.mark.parametrize("without", [{"confidence_level": None}, {"average": "micro"}])
def test_without_intervals_there_is_no_band(data, without):
    y, s, qid = data
    display = CutoffDisplay.from_predictions(y, s, qid=qid, metric="precision", k=CUTOFFS, **without)
    assert display.band_ is None
    assert "interval" not in display.ax_.get_ylabel()


def test_cutoffs_far_apart_have_a_logarithmic_axis(data):
    y, s, qid = data
    assert CutoffDisplay.from_predictions(y, s, qid=qid, k=[1, 10, 100]).ax_.get_xscale() == "log"
    assert CutoffDisplay.from_predictions(y, s, qid=qid, k=[1, 10, 20]).ax_.get_xscale() == "linear"


@pytest.mark.parametrize(
    ("metrics", "asked", "message"),
    [
        (["map", "ndcg"], None, r"at several cutoffs.*Got metric=None and a result of map, ndcg\."),
        (["ndcg@1", "p@1"], None, "name it with metric="),
        (["ndcg@1", "p@1"], "err", "Got metric='err'"),
        (["ndcg@1"], "nonsense", "must be one of get_metric_names"),
    ],
)
def test_results_without_the_requested_cutoffs(data, metrics, asked, message):
    y, s, qid = data
    with pytest.raises(ValueError, match=message):
        CutoffDisplay.from_result(evaluate(y, s, qid=qid, metrics=metrics), asked)


def test_a_cutoff_is_not_given_twice(data):
    with pytest.raises(ValueError, match="Pass the cutoffs as k"):
        CutoffDisplay.from_predictions(*data[:2], qid=data[2], metric="ndcg@10")
    with pytest.raises(ValueError, match="has no cutoff"):
        CutoffDisplay.from_predictions(*data[:2], qid=data[2], metric="auc")


def test_two_metrics_on_the_same_axes(result):
    """A longer list gains recall and loses precision."""
    ax = CutoffDisplay.from_result(result, "precision", name="precision").ax_
    assert ax.get_ylabel() == "mean Precision@k, 95 % interval"
    display = CutoffDisplay.from_result(result, "recall", name="recall", ax=ax)
    np.testing.assert_array_equal(display.line_.get_ydata(), [result.mean()[f"r@{k}"] for k in CUTOFFS])
    assert ax.get_ylabel() == "mean at k, 95 % interval"
    assert shown_names(ax) == ["precision", "recall"]


def test_precision_at_levels_of_recall(data, result):
    y, s, qid = data
    display = QueryPrecisionRecallDisplay.from_result(result)
    mean = result.mean()
    assert display.line_.get_xdata().tolist() == [0, 1]
    assert display.line_.get_ydata().tolist() == [mean["iprec(recall=0)"], mean["iprec(recall=1)"]]
    eleven = QueryPrecisionRecallDisplay.from_predictions(y, s, qid=qid)
    assert eleven.precision.mean() == pytest.approx(evaluate(y, s, qid=qid, metrics="11pt").mean()["11pt"])


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        (["map", "11pt", "iprec(recall=0.5)"], "two levels of recall or more"),
        (["iprec(recall=0.5)", "iprec(recall=0.5)@9"], "each level of recall once. Got 0.5 twice"),
    ],
)
def test_levels_of_recall_that_make_no_curve(data, metrics, message):
    y, s, qid = data
    with pytest.raises(ValueError, match=message):
        QueryPrecisionRecallDisplay.from_result(evaluate(y, s, qid=qid, metrics=metrics))


def test_distribution(data, result):
    display = DistributionDisplay.from_result(result, "ndcg@3", name="a system")
    x, share = display.line_.get_data()
    values = result.per_query["ndcg@3"]
    assert x.tolist() == [values.min(), *sorted(values)]
    assert share[-1] == 1
    for at in (0.3, 0.7):
        assert share[np.searchsorted(x, at, side="right") - 1] == pytest.approx((values <= at).mean())
    assert f"mean {result.mean()['ndcg@3']:#.3g}" in display.line_.get_label()


def test_display_omits_undefined_queries():
    y, s, qid = [1, 0, 0, 0, 0, 1], [2, 1, 2, 1, 2, 1], list("aabbcc")
    result = evaluate(y, s, qid=qid, metrics="map", replace_undefined_by=np.nan)
    assert len(DistributionDisplay.from_result(result).line_.get_xdata()) == 1 + 2
    display = DifferenceDisplay.from_results({"a": result, "b": copy.copy(result)})
    assert display.n_equal_ == 2
    nothing = evaluate([0, 0], [2, 1], qid=[0, 0], metrics="map", replace_undefined_by=np.nan)
    for show in (
        lambda: DistributionDisplay.from_result(nothing),
        lambda: DifferenceDisplay.from_results({"a": nothing, "b": copy.copy(nothing)}),
    ):
        with pytest.raises(ValueError, match=r"needs a query with a value.*Got none"):
            show()


def test_difference_display(systems):
    display = DifferenceDisplay.from_results(systems, "ndcg@3")
    d = systems["new"].per_query["ndcg@3"] - systems["old"].per_query["ndcg@3"]
    np.testing.assert_array_equal(display.difference, d)
    assert (display.n_better_, display.n_equal_, display.n_worse_) == ((d > 0).sum(), (d == 0).sum(), (d < 0).sum())
    np.testing.assert_array_equal(sum(steps.get_data().values for steps in display.steps_), sorted(d)[::-1])
    assert display.mean_line_.get_ydata()[0] == pytest.approx(d.mean())
    legend = shown_names(display.ax_)
    assert legend[0] == f"new better: {(d > 0).sum()} queries"
    assert legend[1] == f"old better: {(d < 0).sum()} queries"


def test_of_an_error_the_lower_value_is_better(data):
    y, s, qid = data
    display = DifferenceDisplay.from_predictions(y, {"near": y + 0.0, "far": s + 9}, qid=qid, metric="mae")
    assert display.mean_ > 0
    assert " ".join(display.ax_.get_ylabel().split()) == "difference in MAE from near (lower is better)"
    assert (display.n_better_, display.n_equal_, display.n_worse_) == (0, 0, 60)
    assert "near better: 60" in display.ax_.get_legend().get_texts()[0].get_text()
    assert "lower is better" in DistributionDisplay.from_predictions(y, s, qid=qid, metric="mae").ax_.get_xlabel()


def test_display_matches_queries_by_id():
    y, a, b, qid = np.array([0, 1, 1, 0]), np.array([2.0, 1, 2, 1]), np.array([1.0, 2, 2, 1]), np.array([7, 7, 3, 3])
    results = {"a": evaluate(y, a, qid=qid, metrics="mrr")}
    results["b"] = evaluate(y[::-1], b[::-1], qid=qid[::-1], metrics="mrr")
    display = DifferenceDisplay.from_results(results)
    assert dict(zip(display.qid.tolist(), display.difference.tolist(), strict=True)) == {7: 0.5, 3: 0}


@pytest.mark.parametrize("other", [[7, 7, 4, 4], ["a", "a", "b", "b"], [7, 7, 7, 7], [7, 7, 3, 4]])
def test_other_queries_are_refused(other):
    results = {
        q: evaluate([0, 1, 1, 0], [2, 1, 2, 1], qid=qid, metrics="mrr")
        for q, qid in (("a", [7, 7, 3, 3]), ("b", other))
    }
    with pytest.raises(ValueError, match=rf"must have the same queries\. Got {len({*other})} and 2 "):
        DifferenceDisplay.from_results(results)


def test_a_difference_is_of_two(systems):
    for wrong in ({"new": systems["new"]}, ["new"]):
        with pytest.raises(ValueError, match=r"two systems, by name. Got 1: \['new'\]"):
            DifferenceDisplay.from_results(wrong, "ndcg@3")


def test_values_of_a_metric_computed_otherwise_are_not_compared(data):
    y, s, qid = data
    results = {gain: evaluate(y, s, qid=qid, metrics="ndcg@3", gain=gain) for gain in ("exp2", "linear")}
    with pytest.raises(ValueError, match=r"computed alike. Got 'ndcg@3' with gain=linear in .* and gain=exp2"):
        DifferenceDisplay.from_results(results)


@pytest.mark.parametrize("display_class", [DifferenceDisplay, CriticalDifferenceDisplay])
def test_scores_of_several_systems_have_names(display_class, data):
    y, s, qid = data
    with pytest.raises(TypeError, match=r"a dict of the scores of each system, by its name. Got ndarray"):
        display_class.from_predictions(y, s, qid=qid)


def test_the_metric_must_be_in_the_result(result):
    for asked in (None, "map"):
        with pytest.raises(ValueError, match=rf"one of the result's metrics: 'ndcg@1', .* Got {asked!r} instead"):
            DistributionDisplay.from_result(result, asked)


def test_a_picture_of_one_query(rng):
    data = ([1, 0], [2, 1])
    for display_class in OF_ONE:
        display = display_class.from_predictions(*data, qid=["q", "q"])
        display.figure_.canvas.draw()
        assert any(ax.has_data() for ax in display.figure_.axes)


def test_many_queries_are_few_points(rng):
    qid = np.repeat(np.arange(20_000), 2)
    y, s = rng.integers(0, 2, len(qid)), rng.normal(size=len(qid))
    result = evaluate(y, s, qid=qid, metrics="mrr")
    assert len(DistributionDisplay.from_result(result).line_.get_xdata()) == 2001
    other = evaluate(y, -s, qid=qid, metrics="mrr")
    display = DifferenceDisplay.from_results({"a": result, "b": other})
    assert len(display.steps_[0].get_data().values) == 2000
    assert display.n_better_ + display.n_equal_ + display.n_worse_ == 20_000


PVALUES = {("a", "b"): 0.3, ("a", "c"): 0.05, ("b", "c"): 0.2, ("a", "d"): 0.01, ("b", "d"): 0.6, ("c", "d"): 0.001}
MEANS = {"d": 0.1, "b": 0.3, "a": 0.4, "c": 0.2}


def test_bars_join_systems_without_a_difference():
    display = CriticalDifferenceDisplay(MEANS, PVALUES).plot()
    assert display.order_ == ["a", "b", "c", "d"]
    assert display.groups_ == [["a", "b"], ["b", "c"], ["b", "d"]]
    assert display.points_.get_xdata().tolist() == [0.4, 0.3, 0.2, 0.1]
    assert [list(bar.get_ydata()) for bar in display.bars_] == [[0, 1], [1, 2], [1, 3]]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == display.order_
    assert CriticalDifferenceDisplay(MEANS, PVALUES, alpha=0.04).plot().groups_ == [["a", "b", "c"], ["b", "d"]]


@pytest.mark.parametrize("greater_is_better", [True, False])
def test_equal_means_keep_the_order_of_the_systems(greater_is_better):
    means = {"c": 0.3, "a": 0.3, "z": 0.5, "b": 0.3, "y": 0.5}
    pvalues = {(a, b): 1.0 for a, b in itertools.combinations(means, 2)}
    display = CriticalDifferenceDisplay(means, pvalues, greater_is_better=greater_is_better).plot()
    assert display.order_ == ([*"zycab"] if greater_is_better else [*"cabzy"])
    assert display.groups_ == [display.order_]


def test_a_bar_with_a_baseline():
    against_b = {pair: p for pair, p in PVALUES.items() if "b" in pair}
    display = CriticalDifferenceDisplay(MEANS, against_b | {("a", "b"): 0.01}, baseline="b").plot()
    assert display.groups_ == [["b", "c", "d"]]
    assert display.ax_.get_yticklabels()[1].get_text() == "b (baseline)"
    none = CriticalDifferenceDisplay(MEANS, dict.fromkeys(against_b, 0.01), baseline="b").plot()
    assert none.groups_ == none.bars_ == []
    assert "all systems differ significantly from the baseline" in none.figure_.get_supxlabel()


@pytest.mark.parametrize(
    ("pvalues", "message"),
    [
        ({("a", "b"): np.nan}, "from 0 to 1. Got nan"), ({("a", "b"): -1e-9}, "from 0 to 1"),
        ({("a", "b"): 1.5}, "from 0 to 1"), ({("a", "b"): "0.1"}, "from 0 to 1. Got '0.1'"),
        ({("a", "x"): 0.5}, "pairs of the systems of means"), ({"ab": 0.5}, "pairs of the systems of means"),
        ({("d", "b"): None}, "from 0 to 1"),
    ],
)  # fmt: skip
def test_pvalues_that_say_nothing_are_no_difference(pvalues, message):
    with pytest.raises(ValueError, match=message):
        CriticalDifferenceDisplay(MEANS, PVALUES | pvalues)
    with pytest.raises(ValueError, match="each pair that was compared. Got none for"):
        CriticalDifferenceDisplay(MEANS, {("a", "b"): 0.3})


def test_the_comparison_that_is_drawn(data, rng):
    y, s, qid = data
    scores = {"new": s, "old": s + rng.normal(0, 0.1, len(s)), "random": rng.permutation(s)}
    results = {name: evaluate(y, score, qid=qid, metrics=["ndcg@3", "rmse"]) for name, score in scores.items()}
    options = {"test": "wilcoxon", "correction": "bonferroni"}
    tested = compare_all(results, metric="ndcg@3", **options)
    display = CriticalDifferenceDisplay.from_results(results, "ndcg@3", **options)
    assert display.means == tested.means
    assert display.pvalues == {pair: tested[pair].corrected_pvalue for pair in tested.pairs}
    assert display.order_[-1] == "random"
    assert display.groups_ == [display.order_[:2]]
    assert "(Wilcoxon test, Bonferroni-corrected, level 0.05)" in display.figure_.get_supxlabel()
    again = CriticalDifferenceDisplay.from_predictions(y, scores, qid=qid, metric="ndcg@3", options=options)
    assert again.pvalues == display.pvalues
    error = CriticalDifferenceDisplay.from_results(results, "rmse", baseline="random")
    assert error.order_[-1] == "random"
    assert "lower is better" in error.ax_.get_xlabel()
    with pytest.raises(ValueError, match="'metric' parameter"):
        CriticalDifferenceDisplay.from_results(results, "map")


def test_wins_match_the_comparison(systems):
    display = DifferenceDisplay.from_results(systems, "ndcg@3")
    found = compare(systems["new"], systems["old"], metric="ndcg@3")
    assert (display.n_better_, display.n_equal_, display.n_worse_) == (found.won, found.tied, found.lost)


def test_display_of_renamed_metrics(data):
    """The direction of the metric decides, not its name."""
    y, s, qid = data
    metrics = {"map": "mae", "mine@1": "ndcg@1", "ndcg@3": "ndcg@3", "iprec": "p@2"}
    far, near = (evaluate(y, score, qid=qid, metrics=metrics) for score in (s + 9, y + 0.0))
    assert "lower is better" in DistributionDisplay.from_result(far, "map").ax_.get_xlabel()
    systems = {"far": far, "near": near}
    assert DifferenceDisplay.from_results(systems, "map", baseline="near").n_worse_ == 60
    assert DifferenceDisplay.from_results(systems, "map").n_better_ == 60
    assert CriticalDifferenceDisplay.from_results(systems, "map").order_ == ["near", "far"]
    assert CutoffDisplay.from_result(far).k.tolist() == [3]
    with pytest.raises(ValueError, match="two levels of recall or more"):
        QueryPrecisionRecallDisplay.from_result(far)


def test_an_error_at_cutoffs_has_its_direction(data):
    y, s, qid = data
    assert "lower is better" in CutoffDisplay.from_predictions(y, s, qid=qid, metric="fallout").ax_.get_ylabel()
    assert "lower is better" not in CutoffDisplay.from_predictions(y, s, qid=qid, metric="map").ax_.get_ylabel()


@pytest.mark.parametrize("name", displays.__all__)
def test_all_parameters_are_described(name):
    """Parameters that a Display documents, plus inserted ones, in the order of the signature."""
    display_class = getattr(displays, name)
    methods = [getattr(display_class, method) for method in dir(display_class) if method.startswith(("plot", "from_"))]
    assert len(methods) >= 2
    for method in (display_class, *methods):
        doc = inspect.getdoc(method)
        order = (
            ["Parameters", "Attributes", "Examples"] if method is display_class else ["Parameters", "Returns", "Raises"]
        )
        sections = re.findall(r"(?m)^(\w+)\n-+$", doc)
        assert sections in (order, order[:2])
        body = re.search(r"(?ms)^Parameters\n-+\n(.*?)(?:\n\n|\Z)", doc)[1]
        described = [n for entry in re.findall(r"(?m)^(\S.*)", body) for n in entry.split(" : ")[0].split(", ")]
        taken = [p for p in inspect.signature(method).parameters.values() if p.name != "self"]
        assert described == ["*" * 2 * (p.kind is p.VAR_KEYWORD) + p.name for p in taken]


def test_own_metrics(data):
    def first_label(y, s):
        return float(y[np.argmax(s)])

    @metric("share_of_labels")
    def share_of_labels_score(r):
        return r.cumsum(r.label), r.cumsum(r.ideal.label)

    y, s, qid = data
    result = evaluate(y, s, qid=qid, metrics=[first_label])
    assert "first_label" in DistributionDisplay.from_result(result).ax_.get_xlabel()
    DifferenceDisplay.from_results({"a": result, "b": copy.copy(result)})
    assert CutoffDisplay.from_predictions(y, s, qid=qid, metric=share_of_labels_score).metric == "share_of_labels"


def test_results_of_a_comparison_of_models(ranking):
    X, y, qid = ranking
    report = RankingEvaluator(["ndcg@5"], cv=2).compare({"a": Ridge(), "b": Ridge(alpha=1e6)}, X, y, qid=qid)
    assert DifferenceDisplay.from_results(report.results).names == ("b", "a")


def test_long_names_are_wrapped_beside_the_axes(result):
    name = "a retriever with a name that is far too long for one line"
    display = DistributionDisplay.from_result(result, "ndcg@3", name=name)
    assert "\n" in display.ax_.get_legend().get_texts()[0].get_text()
    display.figure_.canvas.draw()
    legend, axes = display.ax_.get_legend().get_window_extent(), display.ax_.get_window_extent()
    assert legend.x0 >= axes.x1
    assert legend.x1 <= display.figure_.bbox.x1


@pytest.mark.parametrize("display_class", OF_ONE)
def test_style_can_be_given(display_class, result):
    display = display_class.from_result(result, **CHOICE.get(display_class, {}), alpha=0.5)
    assert any(artist.get_alpha() == 0.5 for artist in [*display.ax_.lines, *display.ax_.collections])


def test_without_matplotlib_the_extra_is_named(monkeypatch, result):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[plot\]"'):
        DistributionDisplay.from_result(result, "ndcg@3")


def test_systems_with_queries_in_other_orders():
    first, second = (Evaluation.from_values(list(qid), {"map": values}, meaning={"map": "map"})
                     for qid, values in (("abc", [0.1, 0.2, 0.3]), ("bca", [0.2, 0.3, 0.1])))  # fmt: skip
    qid, one, other = paired(first, second, "map")
    assert qid.tolist() == list("abc")
    assert one.tolist() == other.tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"names": ("a",)}, r"names must be the names of two systems. Got \('a',\)"),
        ({"confidence_interval": [0.1]}, r"must have two ends. Got shape \(1,\)"),
    ],
)
def test_differences_are_of_two(wrong, message):
    with pytest.raises(ValueError, match=message):
        DifferenceDisplay([0.5, -0.25], **wrong)


def test_a_given_interval_is_drawn():
    display = DifferenceDisplay([0.5, -0.25], confidence_interval=[-0.25, 0.5]).plot()
    assert display.confidence_interval == (-0.25, 0.5)
    curve = CutoffDisplay([1, 2], [0.1, 0.2], low=[0.0, 0.1], high=[0.2, 0.3]).plot()
    assert all(0 < one.band_.get_alpha() < 0.5 for one in (display, curve)), "what is below a band can be seen"
    assert DifferenceDisplay([0.5, -0.25], confidence_interval=[np.nan, 0.5]).plot().band_ is None


def test_a_class_without_a_docstring_stays_so():
    bare = type("Bare", (), {})
    assert completed(bare) is bare
    assert bare.__doc__ is None


def test_a_band_with_one_unknown_bound():
    assert CutoffDisplay([1, 2], [0.1, 0.2], low=[np.nan, 0.1], high=[np.nan, 0.3]).plot().band_ is not None
    assert CutoffDisplay([1, 2], [0.1, 0.2], low=[np.nan] * 2, high=[np.nan] * 2).plot().band_ is None
    assert CutoffDisplay([1, 2], [0.1, 0.2], low=[0.1, 0.1]).plot().band_ is None


def test_a_weighted_mean_of_the_differences_that_there_are():
    display = DifferenceDisplay([np.nan, 1, -3, 0], weight=[9, 3, 1, 4]).plot()
    assert (display.mean_, display.n_better_, display.n_worse_, display.n_equal_) == (0, 1, 1, 1)


@pytest.mark.parametrize("value", [0, 1])
def test_bounds_of_display_arguments(value):
    assert DifferenceDisplay([0.1, 0.2], pvalue=value).plot().pvalue == value
    with pytest.raises(ValueError, match="between 0 and 1, exclusive"):
        DifferenceDisplay([0.1, 0.2], confidence_level=value)


def test_two_systems_with_different_segments():
    three = np.ones((2, 3))
    with pytest.raises(ValueError, match="a row for each of 2 segments"):
        SegmentsDisplay(["x", "y"], {"a": three, "b": three[:1]}, {"a": 1, "b": 1})
