"""Values by topic: each id shows the value of its query."""

import numpy as np
import pytest

from sklearn_rank import evaluate

plt = pytest.importorskip("matplotlib.pyplot")

from sklearn_rank.display import TopicsDisplay  # noqa: E402


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def ids(display):
    return [label.get_text() for label in display.ax_.get_xticklabels()]


@pytest.mark.parametrize("metric", ["ndcg@3", "mae"])
@pytest.mark.parametrize("baseline", [None, "b"])
def test_marks_are_the_values_of_the_queries(rng, metric, baseline):
    y, qid = rng.integers(0, 3, 120), np.repeat([f"t{i}" for i in range(30)], 4)
    rows = rng.permutation(120)  # the queries of b come in another order
    results = {
        "a": evaluate(y, rng.normal(size=120), qid=qid, metrics=["map", metric], replace_undefined_by=np.nan),
        "b": evaluate(
            y[rows], rng.normal(size=120), qid=qid[rows], metrics=["map", metric], replace_undefined_by=np.nan
        ),
    }
    display = TopicsDisplay.from_results(results, metric, baseline=baseline)
    for name, result in results.items():
        x, values = display.points_[name].get_data()
        expected = dict(zip(result.qid.tolist(), result.per_query[metric].tolist(), strict=True))
        drawn = dict(zip(ids(display), values.tolist(), strict=True))
        assert drawn == {topic: value for topic, value in expected.items() if not np.isnan(value)}
        np.testing.assert_array_equal(x, display.ax_.get_xticks())
        if name == (baseline or "a"):
            assert (np.diff(values if metric == "mae" else values[::-1]) >= 0).all()
    assert f"sorted by the value of {baseline or 'a'}" in display.ax_.get_xlabel()
    assert display.ax_.get_ylabel() == ("MAE (lower is better)" if metric == "mae" else "nDCG@3")


@pytest.mark.parametrize(
    ("n", "size", "shown"), [(60, None, 60), (200, None, 50), (60, (4, 3), 15), (3000, None, None)]
)
def test_ids_without_room_are_thinned_with_a_note(n, size, shown):
    ax = None if size is None else plt.figure(figsize=size).add_subplot()
    display = TopicsDisplay({"a": np.arange(n) / n}, [f"topic {i}" for i in range(n)]).plot(ax)
    text = display.figure_.get_supxlabel() + display.ax_.get_xlabel()
    if shown is not None:
        assert len(ids(display)) == shown
    assert (f"ids of {len(ids(display))} of {n} queries" in text) == (len(ids(display)) < n)
    assert ("marks of 2000 of 3000 queries" in text) == (n == 3000)
    places = dict(zip(display.ax_.get_xticks(), ids(display), strict=True))
    assert all(topic == f"topic {n - 1 - x}" for x, topic in places.items())


def test_queries_without_a_value():
    values = {"a": [0.5, np.nan, np.nan, 1], "b": [np.nan, np.nan, 0.25, 0]}
    display = TopicsDisplay(values, list("wxyz")).plot()
    assert ids(display) == ["z", "w", "y"]
    assert display.order_.tolist() == [3, 0, 2]
    assert "1 of 4 queries without a value" in display.figure_.get_supxlabel()
    with pytest.raises(ValueError, match="needs a query with a value"):
        TopicsDisplay({"a": [np.nan]}, ["x"]).plot()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (({}, ["x"]), "at least one system"),
        (({"a": [1, 2]}, ["x"]), "an id for each of 2 values"),
        (({"a": [1], "b": [1, 2]}, ["x"]), "with a number for each point"),
        (({"a": [1]}, ["x"], "c"), "'baseline' must be one of 'a'. Got 'c'"),
    ],
)
def test_topics_display_errors(arguments, message):
    values, qid, *baseline = arguments
    with pytest.raises(ValueError, match=message):
        TopicsDisplay(values, qid, baseline=baseline[0] if baseline else None)


def test_other_queries_or_labels_are_refused():
    of = {name: evaluate([1, 0], [2, 1], qid=[name, name], metrics="mrr") for name in "ab"}
    with pytest.raises(ValueError, match="Two systems must have the same queries"):
        TopicsDisplay.from_results(of)
    with pytest.raises(TypeError, match="a dict of results by name"):
        TopicsDisplay.from_results([of["a"]])
