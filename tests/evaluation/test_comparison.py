"""Results of RankingEvaluator and evaluate: tables, queries to look at, files."""

import html
import json
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from scipy.stats import t as student_t
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, evaluate, stats
from sklearn_rank._utils.table import Table, cell
from sklearn_rank.results import Comparison, Evaluation

METRICS = ["ndcg@5", "map", "rmse", "p(average=micro)@5"]


@pytest.fixture(scope="module")
def report(shuffled):
    X, y, qid = shuffled
    models = {"constant": DummyRegressor(), "ridge": Ridge(), "smooth": Ridge(1e4)}
    return RankingEvaluator(["ndcg@5", "map", "rmse"], cv=3).compare(models, X, y, qid=qid)


# --- the summary ---------------------------------------------------------------------------------------------


def compared(**values):
    results = {name: Evaluation.from_values(range(4), of_name) for name, of_name in values.items()}
    return Comparison(results=results, baseline="a")


def test_number_of_queries_in_the_means():
    nan = np.nan
    two, three = [1, nan, 0, nan], [1, 0.5, 0, nan]
    few = compared(a={"mrr": two, "map": two}, b={"mrr": two, "map": two})
    assert repr(few).startswith("Comparison of 2 systems on 2 of 4 queries; baseline a, paired t-test")
    assert "\nMRR, 2 of 4 queries\nsystem" in str(few)
    assert few.summary().to_frame()["queries"].tolist() == [2] * 4
    assert few.summary().to_markdown().splitlines()[2].endswith("| 2 |")
    assert "Means over 2 of 4 queries" in few.to_latex()
    other = compared(a={"mrr": two, "map": [1, 0, 1, 0]}, b={"mrr": three, "map": [1, 0, 1, 1]})
    assert repr(other).startswith("Comparison of 2 systems on 2 to 4 of 4 queries")
    assert "\nMRR, 2 to 3 of 4 queries\n" in str(other)
    assert "\nMAP\n" in str(other)
    assert other.summary(full=True).to_frame()["queries"].tolist() == [2, 3, 4, 4]


def test_intervals_with_uncertain_level_are_named():
    skewed, even = [0, 0, 0, 0, 0, 0, 1, 0.01], [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8]

    def tables(metric):
        results = {name: Evaluation.from_values(range(8), {metric: skewed, "map": even}) for name in "ab"}
        compared = Comparison(results=results, baseline="a")
        return compared.summary(), compared.summary(full=True), results["a"].summary()

    unbounded = "The intervals of clicks may be too narrow: few queries, skewed values."
    unseen = "The interval of MRR allows for values not seen."
    for table, note in [*product(tables("clicks"), [unbounded]), *product(tables("mrr"), [unseen])]:
        assert str(table).splitlines()[-1] == note
        assert table.to_markdown().endswith(f"\n\n{note}")
        assert table.to_latex().endswith(rf"{{\footnotesize {note}\par}}")
        assert table._repr_html_().endswith(f"<p>{note}</p>")
        assert len(table.to_frame()) == len(table.rows)
    of_segments = Evaluation.from_values(range(8), {"mrr": skewed}, by={"x": list("aaaaaaab")})
    assert unseen in str(of_segments.segments())
    pair = {"a": of_segments, "b": Evaluation.from_values(range(8), {"mrr": even})}
    assert str(Comparison(results=pair, baseline="a").summary()).endswith(
        "interval of MRR (a) allows for values not seen."
    )
    even_result = Evaluation.from_values(range(8), {"mrr": [0.5] * 8}, by={"x": list("aaaaaaab")})
    two = Comparison(results={"a": of_segments, "b": even_result}, baseline="a")
    assert "The intervals of MRR may be too narrow: few queries, skewed values." in " ".join(
        str(two.segments()).split()
    )
    assert "Skewed" not in str(Evaluation.from_values(range(8), {"hit": [0, 0, 0, 0, 0, 0, 1, 0]}).summary())
    many = {f"metric {i}": skewed for i in range(9)}
    told = str(Evaluation.from_values(range(8), many).summary()).splitlines()[-2:]
    assert " ".join(told).endswith("metric 4, metric 5, 3 others may be too narrow: few queries, skewed values.")
    assert max(map(len, told)) <= 100


def test_summary_agrees_with_the_statistics(report):
    frame = report.summary().to_frame().set_index(["model", "metric"])
    for metric in ("ndcg@5", "map", "rmse"):
        expected = stats.compare(report.results["ridge"], report.results["constant"], metric=metric)
        row = frame.loc["ridge", metric]
        assert row["p"] == expected.pvalue
        assert (row["won"], row["tied"], row["lost"]) == (expected.won, expected.tied, expected.lost)
        assert row["difference"] == expected.difference
        assert row["p"] <= row["p corrected"] <= 1
        n_train, n_test = np.mean(report.n_queries, axis=0)
        of_folds = stats.compare_folds(
            report.fold_means["ridge"][metric], report.fold_means["constant"][metric], n_train=n_train, n_test=n_test
        )
        assert row["p folds"] == of_folds.pvalue
    assert frame.loc["constant"]["p"].isna().all()
    of = report.per_query
    assert frame.loc["ridge", "rmse"]["won"] == (of["ridge"]["rmse"] < of["constant"]["rmse"]).sum()  # lower is better


@pytest.mark.parametrize("correction", ["holm", "bonferroni", None])
def test_p_values_of_a_summary_are_corrected(report, correction):
    """For two models, by hand: Holm doubles the lower p, and keeps the higher unless the doubled one is larger."""
    frame = replace(report, correction=correction).summary().to_frame().set_index(["model", "metric"])
    for metric in ("ndcg@5", "map", "rmse"):
        rows = frame.loc[["ridge", "smooth"]].xs(metric, level="metric")
        low, high = sorted(rows["p"])
        assert 0 < low < high < 1
        twice = [min(1, 2 * low), min(1, 2 * high)]
        expected = {"holm": [twice[0], max(twice[0], high)], "bonferroni": twice, None: [low, high]}[correction]
        assert sorted(rows["p corrected"]) == pytest.approx(expected, rel=1e-12)


def test_folds_of_a_summary(report):
    frame = report.summary().to_frame().set_index(["model", "metric"])
    for model, means in report.fold_means.items():
        for metric, (a, b, c) in means.items():
            mean = (a + b + c) / 3
            sd = (((a - mean) ** 2 + (b - mean) ** 2 + (c - mean) ** 2) / 2) ** 0.5
            assert sd > 0
            assert frame.loc[(model, metric), ["fold mean", "fold sd"]].tolist() == pytest.approx([mean, sd], rel=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_intervals_of_a_summary_have_the_level(report, level):
    frame = report.summary(confidence_level=level).to_frame().set_index(["model", "metric"])
    for model, of in report.per_query.items():
        for metric, values in of.items():
            half = student_t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
            low, high = values.mean() - half, values.mean() + half
            assert frame.loc[(model, metric), ["low", "high"]].tolist() == pytest.approx([low, high], rel=1e-9)


def test_other_formats(report):
    assert report.to_markdown().startswith("| system | nDCG@5 |")
    assert "\\begin{tabular}{lrrr" in report.to_latex(digits=2)
    assert report.summary().to_markdown().startswith("| model | metric | mean |")
    assert report.summary().to_markdown().splitlines()[0].endswith("| won | lost | queries |")
    assert report.summary().to_latex().startswith("\\begin{tabular}{llrrr")
    assert "<table>" in report._repr_html_()
    frame = report.to_frame()
    assert frame.shape == (len(report.results["ridge"].qid), 9)
    assert_array_equal(frame["ridge"]["map"], report.per_query["ridge"]["map"])


def test_random_tests_are_reproducible(report):
    drawn = replace(report, test="randomization")
    assert drawn.summary() == drawn.summary()
    expected = stats.compare_all(
        report.results, metric="map", baseline="constant", test="randomization", random_state=0
    )
    assert drawn.significance("map") == expected


# --- printed output --------------------------------------------------------------------------------------------

FIVE = ["ndcg@10", "map", "RMSE", "f(beta=2)@5", "p(average=micro)@5"]
LONG = "LGBMRanker(learning_rate=0.05, num_leaves=63, min_child_samples=20, feature_fraction=0.8, seed={})"


class Fails(Ridge):
    """A model that fails with a long message if its rows lack a given row."""

    def __init__(self, row=None):
        super().__init__()
        self.row = row

    def fit(self, X, y):
        if not (X == self.row).all(axis=1).any():
            raise RuntimeError("the row is missing, and so is a short way to say it " * 10)
        return super().fit(X, y)


def make_report(shuffled, metrics, names, n_failing=0, **options):
    X, y, qid = shuffled
    models = {name: Ridge(10.0**i) for i, name in enumerate(names)}
    for i in range(n_failing):
        models[f"failing {i}"] = Fails(X[0])
    if not n_failing:
        return RankingEvaluator(metrics, cv=3, **options).compare(models, X, y, qid=qid)
    with pytest.warns(FitFailedWarning):
        return RankingEvaluator(metrics, cv=3, **options).compare(models, X, y, qid=qid)


@pytest.mark.parametrize("n_failing", [0, 2])
@pytest.mark.parametrize("n_models", [2, 3, 6])
@pytest.mark.parametrize("metrics", ["ndcg@10", FIVE], ids=["one", "five"])
@pytest.mark.parametrize("name", ["ridge {}", LONG], ids=["short", "long"])
def test_a_printed_report_fits_a_terminal(shuffled, metrics, name, n_models, n_failing):
    names = [name.format(i) for i in range(n_models)]
    report = make_report(shuffled, metrics, names, n_failing, test="randomization", correction="bonferroni")
    text = str(report)
    assert repr(report) == text
    assert max(map(len, text.splitlines())) <= 100
    blocks = str(report.summary()).split("\n\n")
    expected = ["nDCG@10"] if metrics == "ndcg@10" else ["nDCG@10", "MAP", "RMSE", "F(beta=2)@5", "P(average=micro)@5"]
    assert [block.splitlines()[0] for block in blocks] == expected
    for block in blocks:
        _, head, *lines = block.splitlines()
        assert head.split() == "system mean 95 % interval difference p corrected won lost".split()
        assert len({line.split("   ")[0] for line in lines}) == len(lines) == n_models + n_failing
    assert text.count("failed in") == n_failing
    frame = report.summary().to_frame()
    assert set(frame["model"]) == {*names, *(f"failing {i}" for i in range(n_failing))}
    assert list(dict.fromkeys(frame["metric"])) == ([metrics] if metrics == "ndcg@10" else FIVE)
    full = report.summary(full=True)
    assert full.columns == report.summary().columns
    assert repr(full.rows) == repr(report.summary().rows)  # nan is not equal to itself
    assert all(column in str(full).splitlines()[0] for column in full.columns)


def test_a_printed_report_of_very_large_numbers_fits_a_terminal(shuffled):
    X, y, qid = shuffled
    models = {LONG.format(1): DummyRegressor(), LONG.format(2): Ridge()}
    for scale in (1e3, 1e5, 1e6, 1e40):
        report = RankingEvaluator("mse", cv=3).compare(models, X, y * scale, qid=qid)
        assert max(map(len, str(report).splitlines())) <= 100


def test_a_printed_row_has_the_deciding_numbers(report):
    text = str(report.summary(0.9)).split("\n\n")[1].splitlines()
    row = report.summary(0.9).to_frame().set_index(["model", "metric"]).loc["ridge", "map"]
    assert text[0] == "MAP"
    assert "90 % interval" in text[1]
    interval = f"[{cell(row['low'])}, {cell(row['high'])}]"
    mean, difference, p = (cell(row[name]) for name in ("mean", "difference", "p corrected"))
    assert text[3].split() == [
        "ridge",
        mean,
        *interval.split(),
        difference,
        p,
        f"{row['won']:.0f}",
        f"{row['lost']:.0f}",
    ]


def test_long_names_with_different_middles_differ_in_print(shuffled):
    names = [f"{'a' * 60} {i} {'b' * 60}" for i in range(3)]
    lines = str(make_report(shuffled, "map", names).summary()).splitlines()[2:]
    assert [line[:2] for line in lines] == ["1 ", "2 ", "3 "]
    assert max(map(len, lines)) == 100, "names are as long as the line allows"


# --- queries to look at --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda r: r.worst_queries(model="lgbm"), "those that did not fail: 'constant', 'ridge', 'smooth'. Got 'lgbm'"),
        (lambda r: r.most_different("ridge", "lgbm"), "those that did not fail: .* Got 'lgbm'"),
        (lambda r: r.worst_queries(metric="mrr"), "the result's metrics: 'ndcg@5', 'map', 'rmse'. Got 'mrr'"),
        (lambda r: r.most_different("ridge", "smooth", metric="mrr"), "the result's metrics: .* Got 'mrr'"),
        (lambda r: r.worst_queries(-1), "'n' parameter of worst_queries must be an int >= 1. Got -1"),
        (lambda r: r.most_different("ridge", "smooth", 2.5), "'n' parameter of most_different must be an int >= 1"),
    ],
)
def test_comparison_errors_for_missing_parts(report, ask, message):
    with pytest.raises(ValueError, match=message):
        ask(report)


def test_most_different(report):
    of = report.per_query
    difference = dict(zip(report.results["ridge"].qid, of["ridge"]["map"] - of["constant"]["map"], strict=True))
    table = report.most_different("ridge", "constant", 5, metric="map")
    assert table.columns == ("qid", "ridge", "constant", "difference")
    assert len(table.rows) == 5
    assert [abs(row[3]) for row in table.rows] == sorted(map(abs, difference.values()), reverse=True)[:5]
    assert all(difference[qid] == a - b == d for qid, a, b, d in table.rows)


def test_worst_queries(report):
    for metric, lowest_first in {"map": True, "rmse": False}.items():
        values = report.per_query["constant"][metric]
        found = report.worst_queries(4, metric=metric).rows
        assert [value for _, value in found] == sorted(values, reverse=not lowest_first)[:4]
        assert report.worst_queries(4, model="ridge", metric=metric) == report.results["ridge"].worst_queries(
            4, metric=metric
        )
    undefined = evaluate([0, 1], [1, 1], qid=[1, 2], metrics="map", replace_undefined_by=np.nan)
    assert undefined.worst_queries().rows == ((2, 1.0),)


# --- files ---------------------------------------------------------------------------------------------------


def test_a_file_can_be_read_without_the_library(tmp_path, report):
    report.results["ridge"].save(tmp_path / "result.npz")
    with np.load(tmp_path / "result.npz", allow_pickle=False) as file:
        meta = json.loads(str(file["meta"]))
        assert [m["name"] for m in meta["metrics"]] == ["ndcg@5", "map", "rmse"]
        assert_array_equal(file["values"][1], report.per_query["ridge"]["map"])


def test_files_with_other_content(tmp_path, report):
    report.save(tmp_path / "report.npz")
    with pytest.raises(ValueError, match="must hold a saved Evaluation of layout 1. Got Comparison of layout 1"):
        Evaluation.load(tmp_path / "report.npz")
    with pytest.raises(FileNotFoundError):
        Evaluation.load(tmp_path / "nowhere.npz")


def test_ids_that_cannot_be_saved(tmp_path):
    result = evaluate([1, 0], [1, 2], qid=[frozenset([1]), frozenset([2])], metrics="map")
    with pytest.raises(TypeError, match="qid must hold numbers, strings or tuples of them, .* Got frozenset"):
        result.save(tmp_path / "result.npz")


# --- tables --------------------------------------------------------------------------------------------------


def test_cells():
    assert [cell(x) for x in (0.5, 0.0, 1e-7, -1e-5, 3, None, "a")] == [
        "0.5000",
        "0.0000",
        "1.0e-07",
        "-1.0e-05",
        "3",
        "",
        "a",
    ]
    ends = [5e-5, -5e-5, 4.9e-5, 1e6, -1e6, 999_999.9, 0.0, np.inf, np.nan]
    assert [cell(x) for x in ends] == [
        "0.0001", "-0.0001", "4.9e-05", "1.0000e+06", "-1.0000e+06", "999999.9000", "0.0000", "inf", "nan"
    ]  # fmt: skip


def test_results_show_themselves_in_notebooks(report):
    one = report.results["ridge"]
    assert one.to_markdown().startswith("| metric | mean | undefined |")
    assert "nDCG@5 & " in one.to_latex()
    two = stats.compare(one, report.results["constant"], metric="map")
    three = stats.compare_all(report.results, metric="map")
    assert two.to_markdown().splitlines()[0].startswith("| a | b | difference | low | high | p |")
    assert three.to_markdown().count("\n|---|") == three.to_latex().count("\\end{tabular}") == 2
    for shown in (one, two, three, report):
        assert shown._repr_html_().count("<table>") == shown._repr_html_().count("</table>") > 0
        assert str(shown).splitlines()[0] in html.unescape(shown._repr_html_())


def test_a_table_wider_than_the_terminal_is_not_cut():
    wide = Table(("name", *(f"number {i}" for i in range(20))), (("a long name of a system", *range(20)),))
    assert wide.fitted() is wide
    assert Table(("name", "n"), (("a long name of a system" * 9, 1),)).fitted() != wide


def test_special_characters_are_escaped():
    table = Table(("a_b", "n"), (("x|y & <z>", 1),))
    assert table.to_markdown().splitlines()[2] == "| x\\|y & \\<z> | 1 |"
    assert r"a\_b & n \\" in table.to_latex()
    assert r"x\textbar{}y \& \textless{}z\textgreater{} & 1 \\" in table.to_latex()
    assert "x|y &amp; &lt;z&gt;" in table._repr_html_()


def test_a_failed_baseline_explains_missing_tests(shuffled):
    X, y, qid = shuffled
    models = {"failing": Fails(X[0]), "ridge": Ridge(), "other": Ridge(1e4)}
    with pytest.warns(FitFailedWarning):
        report = RankingEvaluator("map", cv=3, baseline="failing").compare(models, X, y, qid=qid)
    assert "No test of MAP: the baseline failing failed." in " ".join(str(report).split())


# --- tests and their explanations ------------------------------------------------------------------------------


def test_two_queries_are_tested_and_a_single_one_is_not():
    nan = np.nan
    for a, b, is_tested in (
        ([1, 0, nan, nan], [0, 0.5, nan, nan], True),
        ([1, nan, nan, nan], [0, 1, nan, nan], False),
    ):
        few = compared(a={"mrr": a}, b={"mrr": b})
        assert ("No test of MRR: two queries or more are needed." in str(few)) != is_tested
        assert few.summary().to_frame()["p"].notna().tolist() == [False, is_tested]


def test_reasons_for_weights_and_pooled_means_without_tests():
    values = {"a": [1, 0, 0.5, 0.25], "b": [0, 0.5, 1, 0.5]}
    results = {name: Evaluation.from_values(range(4), {"mrr": of}, weight=[1, 2, 1, 1]) for name, of in values.items()}
    for test, note in (
        ("wilcoxon", "No test of MRR: the queries have weights, which test='wilcoxon' does not"),
        ("t", ""),
    ):
        report = Comparison(results=results, baseline="a", test=test)
        assert ("No test" in str(report)) == bool(note)
        assert note in " ".join(str(report).split())
        assert report.summary().to_frame()["p"].notna().tolist() == [False, test == "t"]
    even = {name: Evaluation.from_values(range(4), {"mrr": of}) for name, of in values.items()}
    assert "No test" not in str(Comparison(results=even, baseline="a", test="wilcoxon"))


def test_most_different_breaks_ties_by_position():
    ids, values = [f"q{i}" for i in range(200)], np.random.default_rng(0).integers(0, 5, 200) / 4
    results = {"a": Evaluation.from_values(ids, {"mrr": values}), "b": Evaluation.from_values(ids, {"mrr": 1 - values})}
    rows = Comparison(results=results, baseline="a").most_different("a", "b", 20).rows
    expected = sorted(range(200), key=lambda i: -abs(2 * values[i] - 1))[:20]
    assert [row[0] for row in rows] == [ids[i] for i in expected]
    assert {abs(row[3]) for row in rows} == {1}


def test_long_errors_are_shortened_to_two_lines(shuffled):
    report = make_report(shuffled, "map", ["ridge"], 1)
    (note,) = [note for note in report._notes() if "failed in" in note]
    head, _, error = note.partition(": ")
    assert head.startswith("failing 0 failed in ")
    assert len(error) == 200
