"""Tables, pictures, exports and the command line show differences in the same direction."""

import csv
import io
import json

import matplotlib.pyplot as plt
import numpy as np
import pytest
from misuse_cases import Given
from registry import together

from sklearn_rank import RankingEvaluator, compare_systems
from sklearn_rank._cli import arguments, commands, main
from sklearn_rank.display import CriticalDifferenceDisplay, DifferenceDisplay, SegmentsDisplay
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, compare_folds, compare_judged, no_worse

METRICS = ["ndcg@3", "rmse"]
SYSTEMS = ["old", "new", "other"]
N_QUERIES, N_DOCUMENTS = 12, 5


@pytest.fixture(scope="module")
def data():
    """Labels, a column of scores for each system, and queries of three countries."""
    rng = np.random.default_rng(0)
    n = N_QUERIES * N_DOCUMENTS
    label = rng.integers(0, 3, n)
    scores = {name: label + rng.normal(0, spread, n) for name, spread in zip(SYSTEMS, (1.5, 0.5, 1.0), strict=True)}
    return label, scores, np.repeat(np.arange(N_QUERIES), N_DOCUMENTS), np.repeat(["de", "fr", "it"], n // 3)


@pytest.fixture(scope="module")
def comparison(data):
    """Comparison with a baseline; None: with the default baseline."""
    label, scores, qid, country = data

    def of(baseline):
        by = {"country": country}
        return compare_systems(label, scores, qid=qid, metrics=METRICS, baseline=baseline, by=by)

    return {baseline: of(baseline) for baseline in (None, *SYSTEMS)}


@pytest.fixture(scope="module")
def files(data, tmp_path_factory):
    """The same data as files of TREC, named by the systems."""
    folder = tmp_path_factory.mktemp("directions")
    label, scores, qid, _ = data
    rows = [(q, f"d{i}", grade) for i, (q, grade) in enumerate(zip(qid, label, strict=True))]
    (folder / "qrels").write_text("".join(f"{q} 0 {document} {grade}\n" for q, document, grade in rows))
    for name, x in scores.items():
        lines = (f"{q} Q0 {document} 1 {s!r} {name}\n" for (q, document, _), s in zip(rows, x.tolist(), strict=True))
        (folder / name).write_text("".join(lines))
    return folder


@pytest.fixture
def printed(files, monkeypatch, capsys):
    """Standard output of a command that runs in the folder of the files."""
    monkeypatch.chdir(files)

    def call(*words):
        assert main([*words]) in (0, 3, 4)
        return capsys.readouterr().out

    return call


@pytest.fixture(autouse=True)
def _close():
    yield
    plt.close("all")


def named(baseline):
    """The option of the command line and the argument of functions."""
    return [] if baseline is None else ["--baseline", baseline]


def column(table, name, **chosen):
    """Values of a column by system, from the rows that match."""
    at = [str(one) for one in table.columns]
    rows = [dict(zip(at, row, strict=True)) for row in table.rows]
    rows = [row for row in rows if all(row[key] == value for key, value in chosen.items())]
    system = "model" if "model" in at else "system" if "system" in at else "a"
    return {row[system]: row[name] for row in rows if row.get(name) is not None}


# --- a baseline and the others -----------------------------------------------------------------------------------


def of_evaluator(data, metric, baseline):
    label, scores, qid, _ = data
    X, models = np.column_stack([*scores.values()]), {name: Given(i) for i, name in enumerate(scores)}
    report = RankingEvaluator([metric], cv=2, baseline=baseline).compare(models, X, label, qid=qid)
    return column(report.summary(), "difference")


def drawn(display):
    """Mean differences in a picture of several systems."""
    return {name: of_system.mean_ for name, of_system in display.systems_.items()}


TABLES = {
    "summary": lambda report, metric: column(report.summary(), "difference", metric=metric),
    "significance": lambda report, metric: column(report.significance(metric).table, "difference"),
    "segments": lambda report, metric: column(report.segments(metric=metric).overall.table, "difference"),
    "macro": lambda report, metric: column(report.segments(metric=metric).macro(), "difference"),
    "compare_all": lambda report, metric: column(
        compare_all(report.results, metric=metric, baseline=report.baseline).table, "difference"
    ),
    "picture": lambda report, metric: drawn(
        DifferenceDisplay.from_results(report.results, metric, baseline=report.baseline)
    ),
    "picture of segments": lambda report, metric: SegmentsDisplay.from_comparison(report, metric).overall,
}


@pytest.mark.parametrize("baseline", [None, "new"])
@together("metric", METRICS)
def test_a_difference_is_system_minus_baseline(baseline, metric, data, comparison, printed):
    """Segments have equal sizes, so the mean over segments is the mean over queries."""
    report, chosen = comparison[baseline], baseline or SYSTEMS[0]
    mean = {name: result.mean()[metric] for name, result in report.results.items()}
    expected = {name: pytest.approx(mean[name] - mean[chosen]) for name in SYSTEMS if name != chosen}
    assert report.baseline == chosen
    assert (mean["new"] > mean["old"]) == (metric != "rmse")  # otherwise a wrong sign would not show
    for door, found in TABLES.items():
        assert found(report, metric) == expected, door
    assert of_evaluator(data, metric, baseline) == expected
    assert drawn(
        DifferenceDisplay.from_results(report.results, metric, **({"baseline": chosen} if baseline else {}))
    ) == (expected)
    options = arguments.parser().parse_args(
        ["plot", "qrels", *SYSTEMS, *named(baseline), "--kind", "difference", "-m", metric, "-o", "x.png"]
    )
    rows = commands.picture(options, metric).containers
    means = {bar.get_label(): bar[0].get_xdata()[0] for bar in rows if hasattr(bar, "has_xerr")}
    assert means == expected
    for row in json.loads(
        printed("compare", "qrels", *SYSTEMS, "--baseline", chosen, "-m", metric, "--format", "json")
    )[metric]:
        assert (row["b"], row["difference"]) == (chosen, expected[row["a"]])


@together("metric", METRICS)
def test_each_segment_and_query_has_the_same_sign(metric, comparison):
    report = comparison[None]
    old, new = (report.results[name].per_query[metric] for name in ("old", "new"))
    d, country = new - old, np.repeat(["de", "fr", "it"], N_QUERIES // 3)
    expected = {one: pytest.approx(d[country == one].mean()) for one in ("de", "fr", "it")}
    found = report.segments("country", metric=metric)
    assert {one: found["new", "old", one].difference for one in expected} == expected
    display = SegmentsDisplay.from_comparison(report, metric)
    assert dict(zip(display.segments, display.values["new"][:, 0], strict=True)) == expected
    two = DifferenceDisplay.from_results({name: report.results[name] for name in ("old", "new")}, metric)
    assert dict(zip(two.qid.tolist(), two.difference.tolist(), strict=True)) == dict(
        enumerate(pytest.approx(d).expected)
    )
    for qid, a, b, difference in report.most_different("new", "old", N_QUERIES, metric=metric).rows:
        assert (a, b, difference) == (new[qid], old[qid], pytest.approx(d[qid]))
    if metric != "rmse":
        assert report.explain(3, new="new", old="old", metric=metric).difference == pytest.approx(d[3])


# --- two systems -------------------------------------------------------------------------------------------------


@together("metric", METRICS)
def test_two_systems_at_every_door(metric, comparison, printed):
    """The decision, the picture, and the output of the command line, for new and old."""
    results = {name: comparison[None].results[name] for name in ("old", "new")}
    expected = compare(results["new"], results["old"], metric=metric).difference
    gate = no_worse(**results, margin={metric: 0.01})
    assert gate.difference[metric] == expected
    assert gate.low[metric] < expected < gate.high[metric]
    by_both = {name: (result.subset(range(6)), result) for name, result in results.items()}
    with pytest.warns(RankingWarning, match="The model's labels equal people's"):
        judged = compare_judged(**by_both, metric=metric)
    assert judged.table.rows[2][2] == pytest.approx(expected)
    display = DifferenceDisplay.from_results(results, metric)
    assert (display.names, display.mean_) == (("new", "old"), pytest.approx(expected))
    given = ["-m", metric, "--format", "json"]
    of_gate = json.loads(printed("gate", "qrels", "new", "--baseline", "old", "--margin", "0.01", *given))
    of_compare = json.loads(printed("compare", "qrels", "new", "--baseline", "old", *given))
    assert of_gate["metrics"][metric]["difference"] == pytest.approx(expected)
    assert of_compare[metric][0]["difference"] == pytest.approx(expected)
    for more in (["old", "new"], ["new", "--baseline", "old"], ["new", "old", "--baseline", "old"]):
        words = ["plot", "qrels", *more, "--kind", "difference", "-m", metric, "-o", "x.png"]
        axes = commands.picture(arguments.parser().parse_args(words), metric)
        (line,) = [line for line in axes.lines if line.get_linestyle() == "--"]
        assert line.get_ydata()[0] == pytest.approx(expected)


@together("metric", ["ndcg@3"])
def test_explain_shows_new_minus_old(metric, comparison, printed):
    expected = comparison[None].explain(3, new="new", old="old", metric=metric)
    words = ["explain", "qrels", "new", "--baseline", "old", "-m", metric, "--query", "3", "--format", "json"]
    assert json.loads(printed(*words))["difference"] == pytest.approx(expected.difference)


# --- all pairs ---------------------------------------------------------------------------------------------------


@together("metric", METRICS)
def test_a_row_of_all_pairs_is_a_minus_b(metric, comparison, printed):
    results = comparison[None].results
    found = compare_all(results, metric=metric)
    pairs = [(a, b) for i, a in enumerate(SYSTEMS) for b in SYSTEMS[i + 1 :]]
    assert found.pairs == pairs
    assert {pair: found[pair].difference for pair in found.pairs} == {
        (a, b): pytest.approx(found.means[a] - found.means[b]) for a, b in pairs
    }
    rows = [*csv.DictReader(io.StringIO(printed("compare", "qrels", *SYSTEMS, "-m", metric, "--format", "csv")))]
    assert [(row["a"], row["b"]) for row in rows] == pairs
    for row in rows:
        assert float(row["difference"]) == pytest.approx(float(row["mean a"]) - float(row["mean b"]))
    assert [*CriticalDifferenceDisplay.from_results(results, metric).pvalues] == pairs


def test_results_of_opposite_directions_are_not_compared():
    new, old = (Evaluation.from_values(range(4), {"own": [0.5, 0.4, 0.6, 0.3]}, greater_is_better={"own": higher})
                for higher in (True, False))  # fmt: skip
    for call in (
        lambda: compare(new, old), lambda: compare_all({"new": new, "old": old}),
        lambda: compare_systems({"new": new, "old": old}), lambda: no_worse(new=new, old=old, margin=0.1),
    ):  # fmt: skip
        with pytest.raises(ValueError, match="computed alike. Got 'own' with greater_is_better"):
            call()


# --- words -------------------------------------------------------------------------------------------------------


def test_tables_and_pictures_say_the_direction(comparison, printed):
    report = comparison["new"]
    two = {name: report.results[name] for name in ("old", "new")}
    assert "baseline new" in str(report)
    assert "from new" in str(report.segments("country"))
    assert "from new" in report.segments("country").macro().note
    assert "a minus b" in str(compare(*two.values(), metric="rmse"))
    assert "a minus b" in str(compare_folds([0.1, 0.2], [0.2, 0.4], n_train=8, n_test=4))
    for table in (compare_all(report.results, metric="rmse"), compare_all(report.results, metric="rmse").table):
        assert all(" a - b " in text or "| a - b |" in text for text in (str(table), table.to_markdown()))
    assert " a - b " in printed("compare", "qrels", *SYSTEMS)
    gate = no_worse(**two, margin={"ndcg@3": 0.01, "rmse": 0.01})
    assert "The difference is new minus old" in str(gate)
    assert [row[9] for row in gate.table.rows] == ["low > -0.01", "high < 0.01"]
    for results in (two, report.results):
        ax = DifferenceDisplay.from_results(results, "rmse", baseline="new").ax_
        labels = " ".join(f"{ax.get_xlabel()} {ax.get_ylabel()}".split())
        assert "difference in RMSE from new (lower is better)" in labels
    assert "from new" in SegmentsDisplay.from_comparison(report, "rmse").ax_.get_xlabel()
