"""Comparisons as tables for papers: the bold mean, marks, and valid LaTeX and Markdown."""

import re
from pathlib import Path

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, compare_systems
from sklearn_rank._cli import main
from sklearn_rank._comparison.paper_table import paper_table
from sklearn_rank._estimates.arguments import RULES
from sklearn_rank._estimates.significance import TESTS
from sklearn_rank._tell.paper_table import CORRECTION_NAMES, TEST_NAMES
from sklearn_rank.io import read_qrels, read_run
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare_all

N = 60
STEP = np.linspace(0.2, 0.4, N)
VALUES = {
    "bm_25 & co": {"ndcg@10": STEP, "relevance_position": 10 * STEP},
    "good": {"ndcg@10": STEP + 0.1 + 0.01 * (np.arange(N) % 2), "relevance_position": 10 * STEP - 1 - np.arange(N) % 2},
    "same": {"ndcg@10": STEP + 0.02 * (-1) ** np.arange(N), "relevance_position": 10 * STEP},
    "bad": {"ndcg@10": STEP - 0.1 - 0.01 * (np.arange(N) % 2), "relevance_position": 10 * STEP + 1 + np.arange(N) % 2},
}


def table_of(values=VALUES, correction="holm", failed=(), clusters=None, **keywords):
    results = {name: Evaluation.from_values(np.arange(N), per_query) for name, per_query in values.items()}
    baseline = next(iter(values))
    tests = {
        m: compare_all(results, metric=m, baseline=baseline, correction=correction, clusters=clusters)
        for m in values[baseline]
    }
    return paper_table(results, tests, systems=[*values, *failed], baseline=baseline, **keywords)


def cells(table):
    """Cells of the rows in Markdown."""
    return [[c.strip() for c in line.strip("|").split(" | ")] for line in table.to_markdown().splitlines()[2:6]]


def test_best_in_bold_and_marks():
    assert cells(table_of()) == [
        ["bm_25 & co (baseline)", "0.3000", "3.0000"],
        ["good", "**0.4050**†", "**1.5000**†"],
        ["same", "0.3000", "3.0000"],
        ["bad", "0.1950‡", "4.5000‡"],
    ]


def test_marks_use_corrected_p_values_and_different_means():
    barely = STEP + 0.01 + 0.035 * (-1) ** np.arange(N)
    three = {"base": {"x": STEP}, "a": {"x": barely}, "b": {"x": barely}, "c": {"x": barely}}
    assert [row[1][-1] == "†" for row in cells(table_of(three, None))] == [False, True, True, True]
    assert [row[1][-1] == "†" for row in cells(table_of(three, "bonferroni"))] == [False] * 4
    systems = {name: Evaluation.from_values(np.arange(N), values) for name, values in three.items()}
    found = [compare_systems(systems, correction=one).to_markdown(marks="letters") for one in (None, "bonferroni")]
    assert ["<sup>a</sup>" in text for text in found] == [True, False]
    tests = {"x": compare_all(systems, metric="x", baseline="base"), "y": None}
    with_two = {name: Evaluation.from_values(np.arange(N), {"x": STEP, "y": STEP}) for name in systems}
    text = paper_table(with_two, tests, systems=[*systems], baseline="base").to_markdown()
    assert text.endswith("Not tested: y.")
    results = {
        "base": Evaluation.from_values(np.arange(11), {"x": np.zeros(11)}),
        "same": Evaluation.from_values(np.arange(11), {"x": [0.125] * 10 + [-1.25]}),
    }
    tested = compare_all(results, metric="x", baseline="base", test="sign")
    assert tested["same", "base"].pvalue < 0.05
    table = paper_table(results, {"x": tested}, systems=[*results], baseline="base")
    assert table.to_markdown().splitlines()[3] == "| same | **0.0000** |"


def test_letters_of_all_pairs():
    """They agree with tests of all pairs, for metrics of both directions; the note names the correction."""
    results = {name: Evaluation.from_values(np.arange(N), values) for name, values in VALUES.items()}
    report = compare_systems(results)
    lines = report.to_markdown(marks="letters").splitlines()
    assert lines[2:6] == [
        "| a | bm_25 & co | 0.3000<sup>d</sup> | 3.0000<sup>d</sup> |",
        "| b | good | **0.4050**<sup>acd</sup> | **1.5000**<sup>acd</sup> |",
        "| c | same | 0.3000<sup>d</sup> | 3.0000<sup>d</sup> |",
        "| d | bad | 0.1950 | 4.5000 |",
    ]
    note = "Superscripts: systems that are significantly worse (paired t-test, two-sided, p \\< 0.05, Holm-corrected"
    assert f"{note} for 6 pairs)." in lines[-1]
    assert "baseline" not in "".join(lines)
    latex = report.to_latex(marks="letters")
    assert "\nb & good & \\textbf{0.4050}$^{acd}$ & \\textbf{1.5000}$^{acd}$ \\\\\n" in latex
    assert "{llll}" in latex
    alike = compare_systems({name: results[name] for name in ("bm_25 & co", "same")})
    assert "No two systems differ significantly" in alike.to_latex(marks="letters")
    with pytest.raises(ValueError, match="supports up to 52 systems. Got 53"):
        table_of({f"{i}": {"x": STEP} for i in range(53)}, marks="letters")
    with pytest.raises(ValueError, match="'marks' parameter of to_latex"):
        report.to_latex(marks="stars")


def test_letters_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng, judged = np.random.default_rng(0), [(i, f"d{j}") for i in range(20) for j in range(9)]
    grades = rng.integers(0, 3, len(judged))
    Path("qrels").write_text("".join(f"{i} 0 {d} {y}\n" for (i, d), y in zip(judged, grades, strict=True)))
    for k in range(12):
        scores = grades * k / 6 + rng.normal(size=len(grades))
        rows = zip(judged, scores, strict=True)
        Path(f"run{k}").write_text("".join(f"{i} Q0 {d} 1 {s:.6f} t\n" for (i, d), s in rows))
    runs = {f"run{k}": read_run(f"run{k}") for k in range(12)}
    words = ["compare", "qrels", *runs, "-m", "ndcg@5,map", "--marks", "letters", "--format"]
    for form in ("latex", "markdown"):
        assert main([*words, form]) == 0
        report = compare_systems(read_qrels("qrels"), runs, metrics=["ndcg@5", "map"])
        assert capsys.readouterr().out.strip() == getattr(report, f"to_{form}")(marks="letters")
    assert "$^{abcd" in report.to_latex(marks="letters")
    assert main([*words, "csv"]) == 2


def test_a_system_without_a_mean_is_not_the_best():
    for metric, better in (("ndcg@10", "0.3000"), ("relevance_position", "0.3000")):
        results = {
            "none": Evaluation.from_values(np.arange(N), {metric: np.full(N, np.nan)}),
            "some": Evaluation.from_values(np.arange(N), {metric: STEP}),
        }
        table = paper_table(results, {metric: None}, systems=[*results], baseline="none")
        assert [line.split(" | ")[1] for line in table.to_markdown().splitlines()[2:4]] == ["-- |", f"{better} |"]


def test_the_note():
    note = table_of().to_markdown().splitlines()[-1]
    assert note == (
        "Means over 60 queries; in bold: systems that may be the best by the metric. "
        "† significantly better than bm_25 & co; "
        "‡ significantly worse than bm_25 & co (paired t-test, two-sided, p \\< 0.05, Holm-corrected for 3 systems)."
    )
    assert "not corrected" in table_of(correction=None, confidence_level=0.99).note
    assert "p < 0.01," in table_of(confidence_level=0.99).note
    assert "queries in 12 clusters, Holm-corrected" in table_of(clusters={query: query % 12 for query in range(N)}).note
    two = {name: VALUES[name] for name in ("bm_25 & co", "same")}
    assert "No system differs significantly from bm_25 & co (paired t-test" in table_of(two).note
    assert "one comparison" in table_of(two).note


def test_the_note_has_the_number_of_queries():
    def note(weight=None, **values):
        results = {name: Evaluation.from_values(range(4), of_name, weight=weight) for name, of_name in values.items()}
        metrics = dict.fromkeys(next(iter(values.values())))
        return paper_table(results, metrics, systems=[*values], baseline="a").note.rstrip(".")

    nan = np.nan
    assert note(a={"mrr": [1, nan, 0, nan]}, b={"mrr": [1, nan, 1, nan]}) == "Means over 2 of 4 queries"
    assert note(a={"mrr": [1, nan, 0, nan]}, b={"mrr": [1, 1, 1, nan]}) == "Means over 2 to 3 of 4 queries"
    assert note([1, 2, 0, 1], a={"mrr": [1, nan, 0, 1]}) == "Weighted means over 2 of 4 queries"
    two = {"mrr": [1, nan, 0, nan], "map": [1, 0, 1, 0]}
    assert note(a=two) == "Means over queries: 2 of 4 (MRR), 4 (MAP)"


def test_every_test_and_correction_has_a_text():
    assert TEST_NAMES.keys() == TESTS.keys()
    assert all(map(RULES["correction"].accepts, CORRECTION_NAMES))


def test_level_and_digits():
    barely = VALUES | {"same": {"ndcg@10": STEP + 0.01 + 0.04 * (-1) ** np.arange(N), "relevance_position": 10 * STEP}}
    found = [cells(table_of(barely, None, confidence_level=level))[2][1] for level in (0.9, 0.99)]
    assert found == ["0.3100†", "0.3100"]
    assert cells(table_of(digits=2))[0][1:] == ["0.30", "3.00"]
    assert cells(table_of(digits=15))[0][1] == f"{STEP.mean():.15f}"
    for keywords in ({"digits": 0}, {"digits": 16}, {"digits": 2.0}, {"confidence_level": 95}):
        with pytest.raises(ValueError, match="parameter of to_latex and to_markdown must be"):
            table_of(**keywords)


def test_equal_means_are_both_bold():
    one = {"a": {"map": STEP}, "b": {"map": STEP.copy()}}
    assert [row[1] for row in cells(table_of(one))[:2]] == ["**0.3000**", "**0.3000**"]


def test_failed_systems():
    table = table_of(failed=["broken"])
    assert table.cells[-1][0].text == "--"
    assert table.note.endswith("--: broken failed.")


def test_latex():
    lines = table_of(failed=["100 %"]).to_latex().splitlines()
    assert lines[:6] == [
        r"% needs \usepackage{booktabs}",
        r"\begin{tabular}{lrr}",
        r"\toprule",
        r"System & nDCG@10 & Relevance position \\",
        r"\midrule",
        r"bm\_25 \& co (baseline) & 0.3000 & 3.0000 \\",
    ]
    assert lines[6] == r"good & \textbf{0.4050}\rlap{$^{\dagger}$} & \textbf{1.5000}\rlap{$^{\dagger}$} \\"
    assert lines[8:12] == [
        r"bad & 0.1950\rlap{$^{\ddagger}$} & 4.5000\rlap{$^{\ddagger}$} \\",
        r"100 \% & -- & -- \\",
        r"\bottomrule",
        r"\end{tabular}",
    ]
    note = lines[12]
    assert note.startswith(
        r"\par\smallskip{\footnotesize Means over 60 queries; in bold: systems that may be the best by "
        r"the metric. $\dagger$ "
    )
    assert r"than bm\_25 \& co" in note
    text = "\n".join(lines[1:])
    assert text.isascii()
    assert text.count("{") == text.count("}")
    assert not re.search(r"(?<!\\)[%#_]", text), "special characters are escaped"
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines[5:10]} == {2}


def test_digits_of_a_comparison(ranking):
    X, y, qid = ranking
    report = RankingEvaluator("map", cv=2).compare({"a": Ridge(), "b": Ridge(alpha=9)}, X, y, qid=qid)
    assert report.to_latex() == report.to_latex(digits=4) != report.to_latex(digits=5)
