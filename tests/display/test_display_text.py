"""Pictures of several systems: systems are distinguishable, text is legible, nothing overlaps."""

import itertools
import pickle

import numpy as np
import pytest
from registry import together

from sklearn_rank import evaluate
from sklearn_rank._estimates.significance import TESTS
from sklearn_rank.datasets import make_ranking
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, confidence_interval

plt = pytest.importorskip("matplotlib.pyplot")
from matplotlib.colors import to_rgb, to_rgba_array  # noqa: E402
from matplotlib.lines import Line2D  # noqa: E402
from matplotlib.text import Text  # noqa: E402

from sklearn_rank.display import (  # noqa: E402
    CriticalDifferenceDisplay,
    CutoffDisplay,
    DifferenceDisplay,
    DistributionDisplay,
    QueryPrecisionRecallDisplay,
    SegmentsDisplay,
    TopicsDisplay,
)
from sklearn_rank.display._figure import (  # noqa: E402
    in_words,
    pvalue_text,
    signed_difference,
    style_of,
)

CUTOFFS = [1, 2, 3, 5, 10, 20]
METRICS = [f"{name}@{k}" for name in ("ndcg", "p", "r") for k in CUTOFFS] + ["iprec(recall=0)", "iprec(recall=1)"]
X, Y, QID = make_ranking(n_queries=30, n_documents=(3, 30), random_state=0)
NOISE = np.random.default_rng(0).normal(size=(12, len(Y)))
RESULTS = {
    f"system {i} with a name of many words": evaluate(
        Y, Y + (1 + 0.2 * i) * noise, qid=QID, metrics=METRICS, ties="worst", by={"country": QID % 3}
    )
    for i, noise in enumerate(NOISE)
}
WEIGHT, CLUSTERS = np.arange(30) % 4 + 1.0, np.arange(30) // 4
ARGUMENT = {
    CutoffDisplay: ["ndcg"], DistributionDisplay: ["ndcg@5"],
    QueryPrecisionRecallDisplay: [], DifferenceDisplay: ["ndcg@5"], CriticalDifferenceDisplay: ["ndcg@5"],
    SegmentsDisplay: ["ndcg@5"], TopicsDisplay: ["ndcg@5"],
}  # fmt: skip


def some(n):
    return dict(itertools.islice(RESULTS.items(), n))


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def written(figure):
    """Text of a figure that is drawn, with its box."""
    ticks = [t for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for t in (*axis.majorTicks, *axis.minorTicks)]
    inside = {
        id(tick.label1)
        for ax in figure.axes
        for axis, low, high in ((ax.xaxis, *sorted(ax.get_xlim())), (ax.yaxis, *sorted(ax.get_ylim())))
        for tick in axis.get_major_ticks()
        if low <= tick.get_loc() <= high
    }
    hidden = {id(label) for tick in ticks for label in (tick.label1, tick.label2)} - inside
    texts = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and id(t) not in hidden]
    return [(t.get_text(), Text.get_window_extent(t)) for t in texts]


def assert_legible(figure):
    figure.canvas.draw()
    boxes = written(figure)
    for (one, a), (other, b) in itertools.combinations(boxes, 2):
        width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        assert width <= 1 or height <= 2, (one, other, width, height)
    for text, box in boxes:
        assert box.x0 >= -1, text
        assert box.y0 >= -1, text
        assert box.x1 <= figure.bbox.x1 + 1, text
        assert box.y1 <= figure.bbox.y1 + 1, text


@pytest.mark.parametrize("display_class", ARGUMENT)
@pytest.mark.parametrize("size", [(5, 3.5), (12, 6)], ids=str)
def test_text_does_not_overlap(display_class, size):
    """Next to each other in a figure without a layout, eight systems and three with long names."""
    figure, axes = plt.subplots(1, 2 if size[0] > 5 else 1, figsize=size, squeeze=False)
    for ax, n in zip(axes[0], (8, 3), strict=False):
        display = display_class.from_results(some(n), *ARGUMENT[display_class], ax=ax)
        assert display.ax_ is ax
    assert_legible(figure)


def test_text_does_not_overlap_in_a_figure_that_is_laid_out():
    display = CutoffDisplay.from_results(RESULTS, "ndcg")
    assert_legible(display.figure_)
    assert len(pickle.loads(pickle.dumps(display.figure_)).axes) == 1


def test_names_move_inside_if_there_is_no_room():
    ax = plt.figure().add_axes((0, 0, 1, 1))
    display = CutoffDisplay.from_results(some(3), "ndcg", ax=ax)
    frame, legend = ax.get_window_extent(), ax.get_legend().get_window_extent()
    assert frame.x0 < legend.x0
    assert legend.x1 < frame.x1
    assert not display.ax_.texts
    assert ax.get_position().bounds == (0, 0, 1, 1)


@pytest.mark.parametrize("display_class", ARGUMENT)
def test_any_name_is_written_as_it_is(display_class):
    names = ["_hidden", "$x_1$ costs 5$"]
    display = display_class.from_results(dict(zip(names, RESULTS.values(), strict=False)), *ARGUMENT[display_class])
    display.figure_.canvas.draw()
    texts = [text for text in display.figure_.findobj(Text) if text.get_visible()]
    assert all(any(name in text.get_text() for text in texts) for name in names)
    assert not any(text.get_parse_math() for text in texts if any(name in text.get_text() for name in names))


def brightness(colors):
    """Relative luminance as WCAG defines it, of the brightest color."""
    linear = [
        (x / 12.92 if x <= 0.03928 else ((x + 0.055) / 1.055) ** 2.4) for x in np.ravel(to_rgba_array(colors)[:, :3])
    ]
    return max((np.reshape(linear, (-1, 3)) @ [0.2126, 0.7152, 0.0722]).tolist())


@pytest.mark.parametrize("display_class", ARGUMENT)
def test_lines_are_readable_on_a_dark_background(display_class):
    """A contrast of 3 with black for lines and marks in plot and legend, and grey lines that stay behind them."""
    with plt.style.context("dark_background"):
        display = display_class.from_results(some(2), *ARGUMENT[display_class])
    ax = display.ax_
    legend = [] if ax.get_legend() is None else ax.get_legend().findobj(Line2D)
    shown = [line for line in (*ax.lines, *legend) if line.get_linestyle() != "None" or line.get_marker() != "None"]
    of_systems = [line.get_color() for line in shown if len({*to_rgb(line.get_color())}) > 1]
    assert min(map(brightness, of_systems), default=1.0) >= 0.1
    for ground in ax.get_ygridlines() if display_class is CriticalDifferenceDisplay else []:
        assert brightness(ground.get_color()) < 0.2
    assert all(brightness(bar.get_color()) > 0.9 for bar in getattr(display, "bars_", []))


def test_ticks_of_small_subplots_do_not_overlap():
    _, axes = plt.subplots(2, 3, figsize=(10, 6))
    for ax, display_class in zip(axes.flat, itertools.cycle(ARGUMENT), strict=False):
        display_class.from_results(some(2), *ARGUMENT[display_class], ax=ax)
    ax.figure.canvas.draw()
    for ax in axes.flat:
        ends = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
        assert all(left.x1 <= right.x0 for left, right in itertools.pairwise(ends))


@pytest.mark.parametrize("display_class", ARGUMENT)
@pytest.mark.parametrize("method", ["from_predictions", "from_results", "from_estimator"])
def test_errors_name_the_method_that_was_called(display_class, method):
    call = getattr(display_class, method, None)
    if call is not None:
        with pytest.raises(TypeError, match=rf"^{display_class.__name__}\.{method} needs "):
            call()
    if method == "from_predictions":
        scores = {"a": Y, "b": NOISE[0]} if "y_score : dict" in call.__doc__ else Y
        with pytest.raises(TypeError, match=rf"^{display_class.__name__}\.{method} has no keyword 'discuont'"):
            call(Y, scores, qid=QID, discuont="log2")


@pytest.mark.slow
def test_axes_of_a_grid_in_a_grid_and_of_a_part_of_a_figure():
    figure, axes = plt.subplots(1, 2)
    image = axes[1].imshow([[0, 1]])
    figure.colorbar(image)
    CutoffDisplay.from_results(some(3), "ndcg", ax=axes[0])
    CutoffDisplay.from_results(some(3), "ndcg", ax=axes[1])
    left, right = plt.figure().subfigures(1, 2)
    assert CutoffDisplay.from_results(some(2), "ndcg", ax=left.subplots()).ax_.get_legend() is not None
    figure.canvas.draw()
    assert axes[0].get_tightbbox().x1 < axes[1].get_tightbbox().x0


def luminance(color):
    """Relative luminance by WCAG's definition."""
    rgb = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color)]
    return np.dot([0.2126, 0.7152, 0.0722], rgb)


def test_systems_are_distinguishable():
    looks = [style_of(i) for i in range(144)]
    assert len({tuple(one.values()) for one in looks}) == 144
    for one, other in itertools.combinations(looks[:12], 2):
        assert one["color"] != other["color"]
        assert one["marker"] != other["marker"]
        if one["linestyle"] == other["linestyle"]:  # then in grey by how light they are
            light = [116 * np.cbrt(luminance(color["color"])) - 16 for color in (one, other)]
            assert abs(np.diff(light)) > 12


OF_SYSTEM = [c for c in ARGUMENT if hasattr(c, "from_result")]


@pytest.mark.parametrize("display_class", OF_SYSTEM)
def test_a_picture_of_several_systems_has_one_artist_each(display_class):
    several = display_class.from_results(some(3), *ARGUMENT[display_class])
    assert isinstance(several, display_class)
    looks = set()
    for name, result in some(3).items():
        one = display_class.from_result(result, *ARGUMENT[display_class], name=name)
        assert several.systems_[name].name == several.name[name] == name
        for key, value in vars(one).items():
            if isinstance(value, np.ndarray):
                np.testing.assert_array_equal(getattr(several, key)[name], value)
        line = several.systems_[name].ax_.lines[-1]
        looks.add((line.get_color(), line.get_marker()))
    first = several.ax_
    assert several.plot().ax_ is not first
    with pytest.raises(TypeError, match="from_results sets names. Got name='x'"):
        several.plot(name="x")
    with pytest.raises(TypeError, match="a dict of results by name, at least one. Got"):
        display_class.from_results([*some(2).values()], *ARGUMENT[display_class])


@pytest.mark.parametrize("display_class", [CutoffDisplay, DistributionDisplay, SegmentsDisplay])
def test_systems_of_another_meaning_are_refused_before_drawing(display_class):
    one, other = (
        evaluate(Y, NOISE[0], qid=QID, metrics=["ndcg@5", "ndcg@9"], gain=gain, by={"half": QID % 2})
        for gain in ("exp2", "linear")
    )
    with pytest.raises(ValueError, match=r"computed alike. Got 'ndcg@5' with gain=exp2 in 'a' and gain=linear in 'b'"):
        display_class.from_results({"a": one, "b": other}, *ARGUMENT[display_class])
    assert not plt.get_fignums()


def test_ticks_are_the_cutoffs():
    display = CutoffDisplay([1, 2, 30], [0.1, 0.2, 0.3]).plot()
    assert display.ax_.get_xticks().tolist() == [1, 2, 30]
    assert CutoffDisplay([1, 7], [0.1, 0.2]).plot(display.ax_).ax_.get_xticks().tolist() == [1, 2, 7, 30]
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["1", "2", "7", "30"]
    assert CutoffDisplay.from_results(some(2), "ndcg").ax_.get_xticks().tolist() == CUTOFFS
    wide = CutoffDisplay([1, 10, 100, 1000], [0.1, 0.2, 0.3, 0.4]).plot().ax_
    assert (wide.get_xscale(), wide.get_xticks().tolist()) == ("log", [1, 10, 100, 1000])


def test_a_system_drawn_by_itself_is_named():
    display = DistributionDisplay.from_results(some(2), "ndcg@5")
    first = next(iter(display.systems_.values()))
    assert first.plot().ax_.get_legend() is not None


def test_the_level_is_written_if_a_system_has_no_interval():
    values = {"new": [1, 2, 4, 3], "one query": [np.nan, np.nan, np.nan, 2], "old": [0, 1, 2, 0]}
    results = {name: Evaluation.from_values(range(4), {"mrr": mrr}) for name, mrr in values.items()}
    display = DifferenceDisplay.from_results(results)
    assert display.systems_["one query"].pvalue is None
    assert "dots: means with 95 % interval" in display.figure_.get_supxlabel()


def test_critical_differences_have_intervals_and_bars_inside():
    results = some(5)
    display = CriticalDifferenceDisplay.from_results(results, "ndcg@5", confidence_level=0.9)
    for name, result in results.items():
        expected = confidence_interval(result.per_query["ndcg@5"], bounds=(0, 1), confidence_level=0.9)
        assert display.intervals[name] == pytest.approx(expected)
    segments = [s[:, 0].tolist() for s in display.intervals_.get_segments()]
    assert segments == [pytest.approx(list(display.intervals[name])) for name in display.order_]
    assert "mean nDCG@5 with 90 % interval" in display.ax_.get_xlabel()
    assert "(t test, Holm-corrected, level 0.05)" in display.figure_.get_supxlabel()
    assert display.bars_
    display.figure_.canvas.draw()
    frame = display.ax_.get_window_extent()
    for bar in display.bars_:
        box = bar.get_window_extent()
        assert frame.x0 < box.x0
        assert box.x1 < frame.x1
        assert all(text.x1 < box.x0 for name, text in written(display.figure_) if name.startswith("0."))
    plain = CriticalDifferenceDisplay.from_test(compare_all(results, metric="ndcg@5"))
    assert (plain.intervals, plain.intervals_) == ({}, None)


@together("options", [
    {"weight": WEIGHT}, {"clusters": CLUSTERS}, {"weight": WEIGHT, "clusters": CLUSTERS},
    {"weight": WEIGHT, "test": "bootstrap", "random_state": 0}, {"clusters": CLUSTERS, "confidence_level": 0.5},
])  # fmt: skip
def test_critical_differences_of_weighted_and_clustered_queries(options):
    """Intervals of arrays with keywords, and of results that have weights and clusters themselves."""
    arrays = {name: result.per_query["ndcg@5"] for name, result in some(3).items()}
    own = {name: value for name, value in options.items() if name in ("weight", "clusters")}
    others = {name: value for name, value in options.items() if name not in own}
    results = {name: Evaluation.from_values(range(len(x)), {"ndcg@5": x}, **own) for name, x in arrays.items()}
    level = {"confidence_level": options.get("confidence_level", 0.95)}
    for display, bounds in (
        (CriticalDifferenceDisplay.from_results(arrays, **options), None),
        (CriticalDifferenceDisplay.from_results(results, **others), (0, 1)),
    ):
        for name, values in arrays.items():
            expected = confidence_interval(values, bounds=bounds, **own, **level)
            assert display.intervals[name] == pytest.approx(expected)
            assert display.means[name] == pytest.approx(np.average(values, weights=options.get("weight")))
    plt.close("all")


@together("own, options", [
    ({"weight": WEIGHT}, {}), ({"clusters": CLUSTERS}, {}), ({"weight": WEIGHT, "clusters": CLUSTERS}, {}),
    ({"weight": WEIGHT}, {"confidence_level": 0.6}), ({}, {"test": "wilcoxon", "confidence_level": 0.8}),
])  # fmt: skip
def test_differences_of_weighted_and_clustered_queries(own, options):
    """Every difference is drawn with the numbers of the comparison, for two systems and for three."""
    arrays = {name: result.per_query["ndcg@5"] for name, result in some(3).items()}
    results = {name: Evaluation.from_values(range(30), {"ndcg@5": x}, **own) for name, x in arrays.items()}
    baseline, *others = results
    found = {name: compare(results[name], results[baseline], **options) for name in others}
    two = DifferenceDisplay.from_results({name: results[name] for name in (baseline, others[0])}, **options)
    assert two.mean_ == pytest.approx(found[others[0]].difference)
    assert (two.confidence_interval, two.pvalue) == (
        pytest.approx(found[others[0]].confidence_interval), found[others[0]].pvalue
    )  # fmt: skip
    three = DifferenceDisplay.from_results(results, correction="bonferroni", **options)
    for name, one in found.items():
        drawn = three.systems_[name]
        assert drawn.pvalue == pytest.approx(min(1, 2 * one.pvalue))
        level = 1 - (1 - options.get("confidence_level", 0.95)) * one.pvalue / drawn.pvalue
        at_level = compare(results[name], results[baseline], **options | {"confidence_level": level})
        assert drawn.confidence_interval == pytest.approx(at_level.confidence_interval)
        assert drawn.mean_ == pytest.approx(one.difference)
    plt.close("all")


def test_bars_side_by_side_do_not_touch():
    pvalues = {("a", "b"): 1.0, ("b", "c"): 1.0, ("c", "d"): 1.0, ("a", "c"): 0.0, ("a", "d"): 0.0, ("b", "d"): 0.0}
    display = CriticalDifferenceDisplay({"a": 4, "b": 3, "c": 2, "d": 1}, pvalues).plot()
    first, second, third = (bar.get_xdata()[0] for bar in display.bars_)
    assert first == third < second


def test_a_difference_has_the_interval_of_its_mean_and_p():
    (one, a), (two, b) = some(2).items()
    display = DifferenceDisplay.from_results({one: a, two: b}, "ndcg@5", confidence_level=0.8)
    found = compare(b, a, metric="ndcg@5", confidence_level=0.8)
    band = display.band_.get_window_extent().transformed(display.ax_.transData.inverted())
    assert (band.y0, band.y1) == pytest.approx(found.confidence_interval)
    legend = " ".join(" ".join(t.get_text().split()) for t in display.ax_.get_legend().get_texts())
    assert "80 % interval [" in legend
    assert f"{pvalue_text(found.pvalue)} (t test)" in legend
    assert display.mean_line_.get_ydata()[0] == display.mean_
    pooled = [evaluate(Y, noise, qid=QID, metrics="p@5", average="micro") for noise in NOISE[:2]]
    untested = DifferenceDisplay.from_results(dict(zip("ab", pooled, strict=True)))
    assert (untested.confidence_interval, untested.pvalue, untested.band_) == (None, None, None)


def test_differences_of_several_systems_from_a_baseline():
    results = some(4)
    first, *others = results
    display = DifferenceDisplay.from_results(results, "ndcg@5", baseline=first, test="sign", correction="bonferroni")
    found = compare_all(results, metric="ndcg@5", baseline=first, test="sign", correction="bonferroni")
    for name in others:
        assert display.pvalue[name] == pytest.approx(found[name, first].corrected_pvalue)
        assert display.n_better_[name] == found[name, first].won
        points, _, (bars,) = display.band_[name]
        assert points.get_xdata() == pytest.approx([found[name, first].difference])
        low_high = bars.get_segments()[0][:, 0].tolist()
        assert low_high == pytest.approx(found[name, first].corrected_interval)
    label = " ".join(display.ax_.get_xlabel().split())
    assert f"difference in nDCG@5 from {first}" in label
    caption = " ".join(display.figure_.get_supxlabel().split())
    assert "sign test, Bonferroni-corrected, intervals at the level of the corrected p" in caption
    with pytest.raises(ValueError, match="'baseline' must be one of .* Got 'x'"):
        DifferenceDisplay.from_results(results, "ndcg@5", baseline="x")
    backwards = DifferenceDisplay.from_results(some(2), "ndcg@5", baseline=others[0])
    assert backwards.names == (first, others[0])


def test_words():
    assert in_words("t", "holm") == "t test, Holm-corrected"
    assert all(in_words(test, None).endswith("test, not corrected") for test in TESTS)
    assert [pvalue_text(p) for p in (0.0004, 0.0123, 0.0996, 0.5, 1)] == [
        "p < 0.001", "p = 0.012", "p = 0.10", "p = 0.50", "p = 1.00"
    ]  # fmt: skip
    pairs = [(0.0138, 0.0275), (-0.00001, 0.0275), (12.3, 150), (0.5, np.nan)]
    assert [signed_difference(*pair) for pair in pairs] == ["+0.014", "+0.000", "+12", "+0.500"]


def test_other_artists_are_named_in_a_legend():
    """The caller's dots are on the same axes."""
    ax = plt.figure(layout="constrained").gca()
    ax.scatter([1, 2], [0.3, 0.4], label="dots")
    display = CutoffDisplay([1, 2], [0.1, 0.2], name="curve").plot(ax)
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["dots", "curve"]


def test_differences_without_a_test():
    """A single query, for which there is no test."""
    results = {
        name: evaluate([1, 0], s, qid=[0, 0], metrics="mrr")
        for name, s in {"a": [1, 2], "b": [2, 1], "c": [1, 1]}.items()
    }
    display = DifferenceDisplay.from_results(results, "mrr")
    assert display.note == {"b": "", "c": ""}


@pytest.mark.filterwarnings("ignore:overflow encountered:RuntimeWarning")
def test_means_that_span_more_than_a_float():
    display = CriticalDifferenceDisplay({"a": 1.2e308, "b": -1.2e308}, {("a", "b"): 0.01}).plot()
    assert display.order_ == ["a", "b"]


def test_many_cutoffs_have_round_numbers():
    ax = CutoffDisplay(range(1, 301), np.arange(300.0)).plot().ax_
    ax.figure.canvas.draw()
    assert (ax.get_xscale(), ax.xaxis.get_major_formatter()(100.0)) == ("log", "100")
    assert_legible(ax.figure)


def test_layout_of_the_user_stays_where_all_texts_fit():
    figure, ax = plt.subplots(1, 2, figsize=(14, 6), gridspec_kw={"wspace": 0.8, "right": 0.8})
    before = ax[0].get_position().bounds
    CutoffDisplay([1, 2], [0.1, 0.2], name="short").plot(ax[0])
    assert ax[0].get_position().bounds == before
    assert figure.get_layout_engine() is None
