"""Picture of segments of the queries."""

import pickle
from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pytest

from sklearn_rank import compare_systems, evaluate
from sklearn_rank.datasets import make_ranking
from sklearn_rank.display import SegmentsDisplay
from sklearn_rank.results import Evaluation

X, Y, QID = make_ranking(n_queries=40, random_state=0)
COUNTRY = np.array(["it", "de", "fr"])[QID % 3]
SYSTEMS = {"old": X[:, 0], "new": X[:, 0] + 0.5 * X[:, 1], "other": X[:, 1]}
REPORT = compare_systems(Y, SYSTEMS, qid=QID, metrics=["map", "rmse"], by={"country": COUNTRY})


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def test_segments_display_of_means():
    display = SegmentsDisplay.from_results(REPORT.results, "map")
    rows = REPORT.results["new"].segments("country", metric="map").table.rows
    assert display.segments == ["de", "fr", "it"]
    np.testing.assert_array_equal(display.values["new"], [row[3:6] for row in rows])
    assert display.overall["new"] == REPORT.results["new"].mean()["map"]
    assert [label.get_text() for label in display.ax_.get_yticklabels()] == [f"{row[0]} (n={row[2]})" for row in rows]
    points, _, (bars,) = display.points_[1]
    np.testing.assert_allclose(points.get_xdata(), [row[3] for row in rows])
    np.testing.assert_allclose(bars.get_segments()[0][:, 0], rows[0][4:6])
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the first on top
    again = SegmentsDisplay.from_predictions(Y, SYSTEMS, qid=QID, metric="map", by={"country": COUNTRY})
    np.testing.assert_array_equal(again.values["old"], display.values["old"])


def test_segments_display_of_a_comparison():
    display = SegmentsDisplay.from_comparison(REPORT, "rmse")
    found = REPORT.segments(metric="rmse")
    assert list(display.values) == ["new", "other"]
    drawn = display.values["new"][:, 1:]
    np.testing.assert_array_equal(drawn, [row.corrected_interval for row in found._pair_rows[:3]])
    assert (drawn != [row[6:8] for row in found.table.rows[:3]]).any()
    assert "at the level of the corrected p" in " ".join(display.figure_.get_supxlabel().split())
    assert "Each interval has the level of its corrected p." in str(found)
    assert display.difference_from == "old"
    assert "lower is better" in display.ax_.get_xlabel()
    assert "from old" in display.ax_.get_xlabel()
    assert len(display.lines_) == 2


def test_all_queries_look_other_than_zero_and_many_systems_have_no_lines():
    display = SegmentsDisplay.from_comparison(REPORT, "rmse")
    (zero,) = (line for line in display.ax_.lines if [*line.get_xdata()] == [0, 0] and line not in display.lines_)
    assert zero.get_linestyle() == "-"
    assert {line.get_linestyle() for line in display.lines_} == {":"}
    assert "dotted lines: all queries; grey line: no difference" in display.figure_.get_supxlabel()
    values = {str(i): [[0.5, 0.4, 0.6]] for i in range(7)}
    many = SegmentsDisplay(["a"], values, dict.fromkeys(values, 0.5)).plot()
    assert many.lines_ == []
    assert "dotted" not in many.figure_.get_supxlabel()
    given = SegmentsDisplay(["a"], {"x": [[0.5, 0.4, 0.6]]}, {"x": 0.5}).plot(plt.subplots()[1])
    assert given.figure_.get_supxlabel() == ""
    assert "dotted lines: all queries" in " ".join(given.ax_.get_xlabel().split())


def test_ordered_categories_keep_their_order():
    pandas = pytest.importorskip("pandas")
    size = pandas.Categorical(["small", "large", "medium", "small"], ["small", "medium", "large"], ordered=True)
    frame = pandas.DataFrame({"size": size.repeat(2)})
    y, qid = [0, 1] * 4, np.repeat(range(4), 2)
    report = compare_systems(y, {"a": y, "b": [1, 0] * 4}, qid=qid, metrics="mrr", by=frame)
    results = {"a": evaluate(y, y, qid=qid, metrics="mrr", by=frame), "b": report.results["b"].subset([0, 1, 2, 3])}
    for display in (SegmentsDisplay.from_comparison(report), SegmentsDisplay.from_results(results)):
        assert display.segments == ["small", "medium", "large"]
    assert [row[0] for row in pickle.loads(pickle.dumps(results["a"])).segments().table.rows] == display.segments
    again = Evaluation.from_values(range(4), {"mrr": [1, 2, 3, 4]}).segments({"size": size})
    assert [row[0] for row in again.table.rows] == display.segments


def test_segments_without_an_interval_and_options():
    one = Evaluation.from_values(range(3), {"mrr": [0.5, 1, 0.7]}, by=["a", "a", "b"])
    display = SegmentsDisplay.from_results({"one": one}, confidence_level=0.9, color="red")
    assert np.isnan(display.values["one"][1, 1:]).all()
    assert "90 % intervals; dotted" in display.figure_.get_supxlabel()
    assert display.ax_.get_legend() is None  # a single system needs no name
    assert display.points_[0][0].get_color() == "red"
    assert display.plot(ax=plt.figure().add_subplot()).ax_ is not None


def test_segments_display_errors():
    for results in (REPORT.results["old"], REPORT.results | {"new": 5}):
        with pytest.raises(TypeError, match="dict of results by name"):
            SegmentsDisplay.from_results(results)
    with pytest.raises(ValueError, match="one of the result's metrics"):
        SegmentsDisplay.from_results(REPORT.results)
    other = evaluate(Y, X[:, 0], qid=QID, metrics="map", by={"country": np.where(QID % 3, "de", "it")})
    fewer = evaluate(Y[QID < 30], X[QID < 30, 0], qid=QID[QID < 30], metrics="map", by={"country": COUNTRY[QID < 30]})
    for result in other, fewer:
        with pytest.raises(ValueError, match="Got other segments in 'other' than in 'old'"):
            SegmentsDisplay.from_results({"old": REPORT.results["old"], "other": result}, "map")
    with pytest.raises(ValueError, match="up to 60 segments; .* Got 61"):
        SegmentsDisplay.from_results({"a": Evaluation.from_values(range(61), {"mrr": np.ones(61)}, by=np.arange(61))})


def test_labels_of_several_lines_have_room():
    by = {"market": np.array([f"a long name of the market number {query % 9}, of many words" for query in QID])}
    display = SegmentsDisplay.from_results({"old": evaluate(Y, X[:, 0], qid=QID, metrics="map", by=by)})
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.ax_.get_yticklabels()]
    assert all(upper.y0 > lower.y1 for upper, lower in pairwise(boxes))
