"""The verdict on three systems or more: the highest mean is no winner without a test against the baseline."""

import re
import subprocess
import sys
from html import unescape

import numpy as np
import pytest
from scipy.stats import ttest_rel

from sklearn_rank import compare_systems
from sklearn_rank.results import Comparison, Evaluation

N = 40
STEP = np.linspace(0.2, 0.4, N)
NOISE = 0.02 * np.tile([1.0, -1.0], N // 2)


def compared(values, metric="ndcg@10", more=None, baseline=None, **keywords):
    """Compare systems by a metric, and by more metrics of each system."""
    results = {
        name: Evaluation.from_values(range(N), {metric: x} | (more or {}).get(name, {}), **keywords)
        for name, x in values.items()
    }
    return compare_systems(results, baseline=baseline, on_misuse="ignore")


def holm(values, baseline):
    """P-values of paired t-tests against the baseline, corrected by Holm's procedure."""
    p = {name: ttest_rel(x, values[baseline]).pvalue for name, x in values.items() if name != baseline}
    corrected, highest = {}, 0.0
    for i, name in enumerate(sorted(p, key=p.get)):
        corrected[name] = highest = max(highest, min(1.0, (len(p) - i) * p[name]))
    return corrected


def plain(page):
    """Text of a page without tags."""
    return unescape(re.sub("<[^>]*>", "", page))


def texts(report):
    """All texts that show a comparison."""
    return {
        "print": repr(report), "notebook": plain(report._repr_html_()), "page": plain(report.to_html()),
        "markdown": report.to_markdown(), "latex": report.to_latex(), "summary": str(report.summary()),
    }  # fmt: skip


def shown(report, sentence):
    """Check that a sentence is the verdict, the line of the print, and the heading of the page."""
    assert report.verdict == sentence
    lines = repr(report).splitlines()
    assert " ".join(lines[1:3]).startswith(sentence)
    found = texts(report)
    assert sentence in found["notebook"]
    assert sentence in found["page"]
    for text in found.values():
        assert not re.search(r"\bbest\b", text)
    return True


@pytest.mark.parametrize("baseline", ["m0", "m3"])
def test_six_equal_systems_have_no_winner(baseline):
    n_better = 0
    for seed in range(60):
        draws = np.random.default_rng(seed).random((6, N))
        values = {f"m{i}": x for i, x in enumerate(draws)}
        report = compared(values, baseline=baseline)
        first, p = f"m{draws.mean(axis=1).argmax()}", holm(values, baseline)
        said = f"{first} has the highest nDCG@10; "
        if first == baseline:
            n_worse = sum(x < 0.05 for x in p.values())
            said = f"{first}, the baseline, has the highest nDCG@10; "
            said += f"{n_worse} of the 5 others is worse" if n_worse else "none of the others is shown to be worse"
        elif p[first] < 0.05:
            n_better += 1
            said += f"it is better than {baseline} (p = {p[first]:.4f})"
        else:
            said += f"it is not shown to be better than {baseline}"
        assert report.verdict == said
        assert repr(report).splitlines()[1] == said
    assert n_better <= 3  # 5 % of 60, the level of the corrected tests


def test_every_text_of_systems_without_a_difference():
    values = {"m0": STEP, "m1": STEP - NOISE, "m2": STEP + NOISE + 1e-5}
    assert holm(values, "m0") == {"m1": 1.0, "m2": 1.0}
    report = compared(values)
    assert shown(report, "m2 has the highest nDCG@10; it is not shown to be better than m0")
    assert repr(report).count(" 1.0000 ") == 2


def test_every_text_of_a_system_that_is_better():
    values = {"m0": STEP, "m1": STEP + NOISE, "m2": STEP + 0.008 + NOISE}
    p = holm(values, "m0")["m2"]
    assert 0.001 < p < 0.05
    report = compared(values)
    assert shown(report, f"m2 has the highest nDCG@10; it is better than m0 (p = {p:.4f})")
    (row,) = [row for row in report.summary().to_frame().to_dict("records") if row["model"] == "m2"]
    assert row["p corrected"] == pytest.approx(p)
    far = compared(values | {"m2": STEP + 0.1 + NOISE})
    assert shown(far, "m2 has the highest nDCG@10; it is better than m0 (p < 0.0001)")


def test_correction_decides_what_the_sentence_says():
    values = {"m0": STEP, **{f"m{i}": STEP + 0.001 * i + NOISE for i in range(1, 7)}, "m7": STEP + 0.007 + NOISE}
    p = ttest_rel(values["m7"], values["m0"]).pvalue
    assert p < 0.05 < holm(values, "m0")["m7"]
    results = compared(values).results
    alone, corrected = (compare_systems(results, correction=how, on_misuse="ignore") for how in (None, "holm"))
    assert alone.verdict == f"m7 has the highest nDCG@10; it is better than m0 (p = {p:.4f})"
    assert corrected.verdict == "m7 has the highest nDCG@10; it is not shown to be better than m0"


EQUAL = STEP - 1e-5 + NOISE
FRONT = "m0, the baseline, has the highest nDCG@10"
SHARED = "2 of 3 systems share the highest nDCG@10"


@pytest.mark.parametrize(
    ("m1", "m2", "baseline", "sentence"),
    [
        (STEP - 0.1, STEP - 0.1 + NOISE, "m0", f"{FRONT}; 2 of the 2 others are worse"),
        (STEP - 0.1, EQUAL, "m0", f"{FRONT}; 1 of the 2 others is worse"),
        (EQUAL, EQUAL, "m0", f"{FRONT}; none of the others is shown to be worse"),
        (STEP + 0.1, STEP + 0.1, "m0", f"{SHARED}; they are better than m0"),
        (STEP + 0.1, STEP + 0.1, "m1", f"{SHARED}; the baseline m1 is one of them"),
        (EQUAL + 2e-5, EQUAL + 2e-5, "m0", f"{SHARED}; none of them is shown to be better than m0"),
    ],
)
def test_baseline_in_front_and_equal_means(m1, m2, baseline, sentence):
    assert shown(compared({"m0": STEP, "m1": m1, "m2": m2}, baseline=baseline), sentence)


def test_equal_means_of_which_one_is_shown():
    """Fractions of powers of two have exact means: 0.25 more on average, evenly or by a single query."""
    base = np.tile([0.25, 0.5], N // 2)
    values = {"m0": base, "m1": base + np.tile([0.125, 0.375], N // 2), "m2": base + 0.25 * N * (np.arange(N) == 0)}
    p = holm(values, "m0")
    assert p["m1"] < 0.05 < p["m2"]
    said = "2 of 3 systems share the highest gain; 1 of them is better than m0"
    assert compared(values, "gain", greater_is_better={"gain": True}).verdict == said


def test_lowest_of_errors():
    values = {"m0": 10 * STEP, "m1": 10 * STEP - 1 + NOISE, "m2": 10 * STEP + 1 + NOISE}
    for metric, name in (("rmse", "RMSE"), ("relevance_position", "Relevance position")):
        assert shown(compared(values, metric), f"m1 has the lowest {name}; it is better than m0 (p < 0.0001)")
        assert shown(
            compared(values, metric, baseline="m1"),
            f"m1, the baseline, has the lowest {name}; 2 of the 2 others are worse",
        )
    near = {"m0": STEP, "m1": STEP + NOISE, "m2": STEP - 1e-5 - NOISE}
    assert shown(compared(near, "rmse"), "m2 has the lowest RMSE; it is not shown to be better than m0")


def test_first_of_several_metrics():
    values = {"m0": STEP, "m1": STEP + NOISE, "m2": STEP + 0.1 + NOISE}
    more = {name: {"rmse": x, "map": STEP} for name, x in zip(values, (STEP, STEP - 0.1, STEP + NOISE), strict=True)}
    report = compared(values, more=more)
    assert shown(report, "m2 has the highest nDCG@10; it is better than m0 (p < 0.0001)")
    assert "the highest mean of each metric in bold, for RMSE the lowest" in report.to_markdown()
    assert "the highest mean of each metric in bold." in compared(values).to_latex()
    assert "the lowest mean of each metric in bold." in compared(values, "rmse").to_latex()


@pytest.mark.parametrize(
    ("means", "sentence"),
    [
        ((0.3, 0.2, 0.4), "m2 has the highest nDCG@10; it was not tested against m0"),
        ((0.3, 0.2, 0.1), "m0, the baseline, has the highest nDCG@10; the others were not tested against it"),
        ((0.3, 0.4, 0.4), f"{SHARED}; they were not tested against m0"),
    ],
)
def test_pooled_means_without_a_test(means, sentence):
    results = {
        f"m{i}": Evaluation.from_values(
            range(N), {"ndcg@10": STEP + i * NOISE}, means={"ndcg@10": mean}, average={"ndcg@10": "micro"}
        )
        for i, mean in enumerate(means)
    }
    report = compare_systems(results, on_misuse="ignore")
    assert report.verdict == sentence
    assert sentence in texts(report)["page"]


def test_systems_without_values():
    nothing = np.full(N, np.nan)
    two = compared({"m0": STEP, "m1": STEP + 0.1, "m2": nothing})
    assert two.verdict == "m1 has the highest nDCG@10; it was not tested against m0"
    assert "No test of nDCG@10: two queries or more are needed." in repr(two)
    none = compared({"m0": nothing, "m1": nothing, "m2": nothing})
    assert none.verdict == "nDCG@10 is undefined for all 3 systems"


def test_means_of_different_queries():
    """The system with the highest mean is defined only on easy queries, and worse than the others there."""
    easy = np.arange(N) % 2 == 0
    m0 = np.where(easy, 0.5, 0.1) + STEP
    values = {"m0": m0, "m1": m0 + NOISE / 9, "m2": np.where(easy, m0 - 0.05 - STEP / 10, np.nan)}
    assert ttest_rel(values["m2"][easy], m0[easy]).pvalue < 1e-6
    on = "on the queries where all are defined"
    assert shown(compared(values), f"m2 has the highest nDCG@10; it is worse than m0 (p < 0.0001) {on}")
    said = f"m2, the baseline, has the highest nDCG@10; 2 of the 2 others are better {on}"
    assert shown(compared(values, baseline="m2"), said)


def test_verdict_survives_a_file(tmp_path):
    report = compared({"m0": STEP, "m1": STEP - NOISE, "m2": STEP + NOISE + 1e-5})
    report.save(tmp_path / "report.npz")
    assert Comparison.load(tmp_path / "report.npz").verdict == report.verdict


def test_command_line_says_the_same(tmp_path):
    rng = np.random.default_rng(0)
    grades = rng.integers(0, 3, (20, 8))
    judged = [f"q{q} 0 d{d} {g}\n" for q, row in enumerate(grades) for d, g in enumerate(row)]
    (tmp_path / "qrels").write_text("".join(judged))
    runs = {}
    for name, gain in (("m0", 0.0), ("m1", 0.01), ("m2", 3.0)):
        scores = gain * grades + rng.normal(size=grades.shape)
        lines = [f"q{q} Q0 d{d} 1 {s:.6f} {name}\n" for q, row in enumerate(scores) for d, s in enumerate(row)]
        (tmp_path / name).write_text("".join(lines))
        runs[name] = {f"q{q}": {f"d{d}": float(f"{s:.6f}") for d, s in enumerate(row)} for q, row in enumerate(scores)}
    qrels = {f"q{q}": {f"d{d}": int(g) for d, g in enumerate(row)} for q, row in enumerate(grades)}
    for baseline, said in (
        ("m0", "m2 has the highest nDCG@10; it is better than m0 (p < 0.0001)"),
        ("m2", "m2, the baseline, has the highest nDCG@10; 2 of the 2 others are worse"),
    ):
        words = ["report", "qrels", "m0", "m1", "m2", "--baseline", baseline, "-o", "page.html"]
        done = subprocess.run(
            [sys.executable, "-m", "sklearn_rank", *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{said}\n"
        assert said in plain((tmp_path / "page.html").read_text())
        assert compare_systems(qrels, runs, metrics="ndcg@10", baseline=baseline).verdict == said
