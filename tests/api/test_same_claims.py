"""What one function says of values, all say: the same interval, p, notes, verdict and best systems."""

import html
import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from registry import together

from sklearn_rank import compare_systems, evaluate_run
from sklearn_rank._cli import main
from sklearn_rank.display import CriticalDifferenceDisplay, CutoffDisplay, DifferenceDisplay, SegmentsDisplay
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, compare_judged, confidence_interval, judged_interval, no_worse

N, LENGTH, RNG = 40, 10, np.random.default_rng(7)
RANKS = {
    "even": RNG.integers(1, LENGTH, (3, 1, N)) // np.array([1, 2, 1])[:, None, None] + 1,
    "skewed": np.where(np.arange(N) < np.array([0, 2, 7])[:, None, None], 1, LENGTH),
    "constant": np.array([2, 2, 4])[:, None, None] + np.zeros((3, 1, N), int),
    "at their best": np.array([1, 1, 2])[:, None, None] + np.zeros((3, 1, N), int),
    "few": RNG.integers(1, LENGTH, (3, 1, 4)),
    "clustered": np.repeat(RNG.integers(1, LENGTH, (3, 1, N // 4)), 4, axis=2),
    "several runs": RNG.integers(1, LENGTH, (3, 3, N)),
    "two runs against one": [RNG.integers(1, LENGTH, (k, N)) for k in (1, 2, 1)],
}
"""Rank of the only relevant document, by system, run and query; the first system is the baseline."""
NAMES = "old", "new", "odd"


def qrels(n):
    return {f"q{i}": {"d": 1, "x0": 0} for i in range(n)}


def run_of(ranks):
    return {f"q{i}": [*(f"x{j}" for j in range(r - 1)), "d", *(f"y{j}" for j in range(LENGTH - r))]
            for i, r in enumerate(ranks)}  # fmt: skip


def results_of(case, metrics, n_systems):
    """A result for each system, of one run or several."""
    found = {}
    for name, runs in [*zip(NAMES, RANKS[case], strict=True)][:n_systems]:
        n = len(runs[0])
        clusters = {f"q{i}": i // 4 for i in range(n)} if case == "clustered" else None
        segment = {"all": dict.fromkeys(qrels(n), "one")}
        one = [evaluate_run(qrels(n), run_of(r), metrics=metrics, clusters=clusters, by=segment) for r in runs]
        found[name] = Evaluation.of_runs(one)
    return found


def text(found):
    return " ".join(str(found).split())


def plain(page):
    """Text of a page, with the minus of programs."""
    return " ".join(html.unescape(page).replace("\N{MINUS SIGN}", "-").split())


def plain_page(found):
    return plain(found.to_html())


def judges_of(result):
    """Results of every other query by people, and of all queries by a model, whose labels are unknown."""
    values = {metric: x + 0.1 * (np.arange(len(x)) % 3 == 0) * (0.5 - x) for metric, x in result.per_query.items()}
    return result.subset(result.qid[::2]), Evaluation.from_values(result.qid, values, meaning=result.meaning)


def facts_in(notes):
    """Words of the notes on runs and judged documents; functions list systems in their own order."""
    known = [note for note in notes if note.startswith(("Between runs", "Judged of"))]
    return [sorted(re.split(r"[ ,:;]+|\.(?= |$)", note)) for note in known]


def written(low, high):
    return f"{low:.4f} to {high:.4f}"


@pytest.mark.slow
@together("case", RANKS)
@pytest.mark.parametrize("metric", ["mrr@10", "relevance_position"])  # the second is an error without bounds
def test_means_have_one_interval_and_one_note(case, metric):
    results = results_of(case, [metric], 2)
    compared = compare_systems(results, baseline="old", on_misuse="ignore")
    rows = compared.summary(full=True).to_frame().set_index("model")
    pictures = CutoffDisplay.from_results(results, metric.partition("@")[0]) if "@" in metric else None
    drawn = SegmentsDisplay.from_results(results, metric)
    plt.close("all")
    for name, result in results.items():
        low, high = ends = result.confidence_interval()[metric]
        table = result.summary()
        assert np.isnan(low) == (table.rows[0][2] is None)
        if not np.isnan(low):
            assert table.rows[0][1:4] == (result[metric], low, high)
            assert (rows["low"][name], rows["high"][name]) == ends
            assert written(low, high) in plain_page(result)
        segments = result.segments()
        assert segments.table.rows[0][3:6] == segments.overall.rows[0][3:6] == table.rows[0][1:4]
        assert all(sentence in text(segments) and sentence in plain_page(result) for sentence in [table.note])
        if pictures is not None and not np.isnan(low):
            assert (pictures.low[name][-1], pictures.high[name][-1]) == pytest.approx(ends, abs=0)
        np.testing.assert_array_equal(drawn.values[name][0], (result[metric], *ends))
        assert drawn.overall[name] == result[metric]
        if len(result.qid) > 10 and result.clusters is None:
            people, model = judges_of(result)
            judged = judged_interval(people, model)
            mean, *interval = (np.nan if x is None else x for x in judged.table.rows[1][3:6])
            assert mean == pytest.approx(people[metric], rel=1e-12)
            if not people.run_means:
                np.testing.assert_array_equal(interval, people.confidence_interval()[metric])
            assert people.summary().note in text(judged)
        if not result.run_means:
            bounds = (0, 1) if "@" in metric else (1, np.inf)
            alone = confidence_interval(result.per_query[metric], bounds=bounds, clusters=result.clusters)
            np.testing.assert_array_equal(alone, ends)
    of_systems = {name: result.summary().note for name, result in results.items()}
    note = compared.summary().note
    for sentence in filter(None, {*of_systems.values()}):
        which = [name for name, own in of_systems.items() if own == sentence]
        named = f" ({', '.join(which)})" * (len(which) < len(results))
        shown = "MRR@10" if "@" in metric else "Relevance position"
        assert sentence.replace(shown, shown + named) in note
        assert note in text(compared)
        assert note in plain_page(compared)


@pytest.mark.slow
@together("case", RANKS)
def test_differences_have_one_p_and_one_sentence(case):
    results = results_of(case, ["mrr@10"], 2)
    compared = compare_systems(results, baseline="old", on_misuse="ignore")
    pair = compare(results["new"], results["old"])
    doors = compare_all(results, baseline="old"), compared.significance("mrr@10"), compared.segments()
    names = "difference", "pvalue", "corrected_pvalue", "confidence_interval", "corrected_interval", "is_skewed"
    for found in doors:
        for name in (*names, "won", "tied", "lost", "standard_error", "df", "interval_method", "is_constant"):
            np.testing.assert_array_equal(getattr(found, name), getattr(pair, name), err_msg=name)
    assert text(doors[0]) == text(doors[1])
    notes = [note for note in pair._notes() if not note.startswith(("Judged of", "Between runs"))]  # by name
    assert all(note in text(found) for found in doors[:2] for note in notes)
    (_, row) = compared.summary(full=True).to_frame().to_dict("records")
    assert (row["difference"], row["p"], row["p corrected"]) == (pair.difference, pair.pvalue, pair.corrected_pvalue)
    picture = DifferenceDisplay.from_results(results, baseline="old")
    assert (picture.mean_, picture.pvalue) == pytest.approx((pair.difference, pair.corrected_pvalue), rel=1e-12)
    np.testing.assert_array_equal(picture.confidence_interval, pair.corrected_interval)
    picture = SegmentsDisplay.from_comparison(compared)
    plt.close("all")
    np.testing.assert_array_equal(picture.values["new"][0], (pair.difference, *pair.corrected_interval))
    assert picture.overall["new"] == pair.difference
    if len(results["old"].qid) > 10 and case not in ("clustered", "several runs", "two runs against one"):
        new, old = (judges_of(results[name]) for name in ("new", "old"))
        alone = compare(new[0], old[0])
        row = compare_judged(new=new, old=old).table.rows[1]
        assert row[2] == pytest.approx(alone.difference, rel=1e-12)
        assert row[5] == pytest.approx(alone.pvalue, rel=1e-9) or alone.is_skewed
    page = plain_page(compared)
    if not np.isnan(pair.corrected_interval[0]):
        low, high = pair.corrected_interval
        assert f"{low:+.4f} to {high:+.4f}" in page.replace("+-", "-")
    better = pair.pvalue < 0.05 and pair.difference != 0
    word = f"new is {'better' if pair.difference > 0 else 'worse'} than old"
    said = word if better else "No difference is shown between new and old"
    assert compared.verdict == said
    assert said in text(compared)
    assert said in page
    gate = no_worse(new=results["new"], old=results["old"])
    assert facts_in(gate._notes()) == facts_in(compared._notes())
    means = results["old"]["mrr@10"], results["new"]["mrr@10"]
    assert gate.table.rows[0][2:5] == (*means, pair.difference)
    assert pair.table.rows[0][3:1:-1] == means
    assert not (gate.decision == "worse" and pair.pvalue < 0.025 and pair.difference > 0)


@pytest.mark.slow
@together("case", RANKS)
def test_the_best_of_three_systems_is_the_same(case, tmp_path, monkeypatch, capsys):
    results = results_of(case, ["mrr@10"], 3)
    compared = compare_systems(results, baseline="old", on_misuse="ignore")
    said, page = compared.verdict, plain_page(compared)
    assert said in text(compared)
    assert said in page
    names = [name for name in NAMES if name in said.partition(" may be")[0].partition(" is the best")[0]]
    names = [] if "No best is shown" in said or "were not tested" in said else names
    rows = [line.split(" | ") for line in compared.to_markdown().splitlines()[2:5]]
    bold = [row[0].strip("| ").removesuffix(" (baseline)") for row in rows if "**" in row[1]]
    assert bold == (names or [*NAMES])
    assert compared.to_latex().count(r"\textbf{") == len(bold)
    picture = CriticalDifferenceDisplay.from_results(results, baseline="old")
    tests = compared.significance("mrr@10")
    assert picture.pvalues == {pair: tests[pair].corrected_pvalue for pair in tests.pairs}
    assert picture.intervals == {name: one.confidence_interval()["mrr@10"] for name, one in results.items()}
    if case == "clustered":
        return  # the command line has no clusters
    monkeypatch.chdir(tmp_path)
    n = len(results["old"].qid)
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 d 1\nq{i} 0 x0 0\n" for i in range(n)))
    words = []
    for name, runs in zip(NAMES, RANKS[case], strict=True):
        for k, ranks in enumerate(runs):
            lines = [
                f"{q} Q0 {d} {j} {LENGTH - j} t\n" for q, found in run_of(ranks).items() for j, d in enumerate(found)
            ]
            (tmp_path / f"{name}{k}").write_text("".join(lines))
            words.append(f"{name}={name}{k}")
    k, baseline = len(RANKS[case][0]), []
    for one in words[:k]:
        baseline += ["--baseline", one]
    words = ["qrels", *words[k:], *baseline, "-m", "mrr@10"]
    assert main(["compare", *words]) == 0
    told = " ".join(capsys.readouterr().err.split())
    assert said in told
    assert ("is less sure." in told) == ("is less sure." in text(compared))
    assert main(["report", *words, "-o", "page.html"]) == 0
    page = plain((tmp_path / "page.html").read_text())
    assert said in page
    for low, high in picture.intervals.values():
        assert np.isnan(low) or written(low, high) in page
    assert case != "skewed" or "Skewed differences and few queries: which systems may be best by MRR@10" in told
