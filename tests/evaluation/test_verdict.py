"""The verdict on three systems or more: those that no other is shown to be better than may be the best."""

import re
import runpy
import subprocess
import sys
from html import unescape
from pathlib import Path

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
    return True


def rule(values, baseline):
    """The sentence by tests of all pairs with SciPy."""
    p, means = holm(values, baseline), {name: x.mean() for name, x in values.items()}
    words = {
        name: ("better" if means[name] > means[baseline] else "worse") if x < 0.05 else "" for name, x in p.items()
    }
    left = [
        name for name, x in values.items()
        if words.get(name) != "worse" and not (name == baseline and "better" in words.values())
        and not any(means[other] > means[name] and ttest_rel(y, x).pvalue * (len(values) - 1) <= 0.05
                    for other, y in values.items())
    ]  # fmt: skip
    rest = f"{len(left) - 4} other{'s' * (len(left) > 5)}"
    names = [*left[:4], rest] if len(left) > 4 else left
    said = f"{', '.join(names[:-1])} and {names[-1]} may be the best of {len(values)} systems: "
    said += "these queries do not tell them apart"
    if len(left) == len(values):
        said = f"No best is shown among {len(values)} systems"
    elif len(left) == 1:
        said = f"{left[0]} is the best of {len(values)} systems"
    return left, said, words


def test_every_text_of_systems_without_a_difference():
    values = {"m0": STEP, "m1": STEP - NOISE, "m2": STEP + NOISE + 1e-5}
    assert holm(values, "m0") == {"m1": 1.0, "m2": 1.0}
    report = compared(values)
    assert shown(report, "No best is shown among 3 systems; none is shown to differ from m0")
    assert repr(report).count(" 1.0000 ") == 2


def test_every_text_of_a_system_that_is_better():
    values = {"m0": STEP, "m1": STEP + NOISE, "m2": STEP + 0.008 + NOISE}
    p = holm(values, "m0")["m2"]
    assert 0.001 < p < 0.05
    report = compared(values)
    assert shown(report, "m2 is the best of 3 systems; m2 is better than m0")
    (row,) = [row for row in report.summary().to_frame().to_dict("records") if row["model"] == "m2"]
    assert row["p corrected"] == pytest.approx(p)
    far = compared(values | {"m2": STEP + 0.1 + NOISE})
    assert shown(far, "m2 is the best of 3 systems; m2 is better than m0")


def test_correction_decides_what_the_sentence_says():
    values = {"m0": STEP, **{f"m{i}": STEP + 0.001 * i + NOISE for i in range(1, 7)}, "m7": STEP + 0.007 + NOISE}
    p = ttest_rel(values["m7"], values["m0"]).pvalue
    assert p < 0.05 < holm(values, "m0")["m7"]
    results = compared(values).results
    alone, corrected = (compare_systems(results, correction=how, on_misuse="ignore") for how in (None, "holm"))
    assert alone.verdict == "m7 is the best of 8 systems; m7 is better than m0"
    assert corrected.verdict == f"m0 and m7 {UNTOLD.replace('3', '8')}; none is shown to differ from m0"


EQUAL = STEP - 1e-5 + NOISE
UNTOLD = "may be the best of 3 systems: these queries do not tell them apart"
NO_BEST = "No best is shown among 3 systems; none is shown to differ from m0"


@pytest.mark.parametrize(
    ("m1", "m2", "baseline", "sentence"),
    [
        (STEP - 0.1, STEP - 0.1 + NOISE, "m0", "m0 is the best of 3 systems; m1 and m2 are worse than m0"),
        (STEP - 0.1, EQUAL, "m0", f"m0 and m2 {UNTOLD}; m1 is worse than m0"),
        (EQUAL, EQUAL, "m0", NO_BEST),
        (STEP + 0.1, STEP + 0.1, "m0", f"m1 and m2 {UNTOLD}; m1 and m2 are better than m0"),
        (STEP + 0.1, STEP + 0.1, "m1", f"m1 and m2 {UNTOLD}; m0 is worse than m1"),
        (EQUAL + 2e-5, EQUAL + 2e-5, "m0", NO_BEST),
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
    said = f"m1 and m2 {UNTOLD}; m1 is better than m0"
    assert compared(values, "gain", greater_is_better={"gain": True}).verdict == said


def test_lowest_of_errors():
    values = {"m0": 10 * STEP, "m1": 10 * STEP - 1 + NOISE, "m2": 10 * STEP + 1 + NOISE}
    for metric in ("rmse", "relevance_position"):
        assert shown(compared(values, metric), "m1 is the best of 3 systems; m1 is better than m0; m2 is worse")
        assert shown(
            compared(values, metric, baseline="m1"),
            "m1 is the best of 3 systems; m0 and m2 are worse than m1",
        )
    near = {"m0": STEP, "m1": STEP + NOISE, "m2": STEP - 1e-5 - NOISE}
    assert shown(compared(near, "rmse"), NO_BEST)


def test_first_of_several_metrics():
    values = {"m0": STEP, "m1": STEP + NOISE, "m2": STEP + 0.1 + NOISE}
    more = {name: {"rmse": x, "map": STEP} for name, x in zip(values, (STEP, STEP - 0.1, STEP + NOISE), strict=True)}
    report = compared(values, more=more)
    assert shown(report, "m2 is the best of 3 systems; m2 is better than m0")
    assert "By RMSE: m1 is the best of 3 systems; m1 is better than m0." in repr(report).splitlines()
    assert "MAP shows no difference. By RMSE: m1 is" in texts(report)["page"]
    assert "; in bold: systems that may be the best by the metric." in report.to_markdown()


@pytest.mark.parametrize(
    ("means", "sentence"),
    [
        ((0.3, 0.2, 0.4), "m2 has the highest nDCG@10; the systems were not tested"),
        ((0.3, 0.2, 0.1), "m0 has the highest nDCG@10; the systems were not tested"),
        ((0.3, 0.4, 0.4), "m1 and m2 have the highest nDCG@10; the systems were not tested"),
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
    assert two.verdict == "m1 has the highest nDCG@10; the systems were not tested"
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
    assert shown(compared(values), f"m1 is the best of 3 systems; m1 is better than m0; m2 is worse {on}")
    said = f"m1 is the best of 3 systems; m0 and m1 are better than m2 {on}"
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
        ("m0", "m2 is the best of 3 systems; m2 is better than m0"),
        ("m2", "m2 is the best of 3 systems; m0 and m1 are worse than m2"),
    ):
        words = ["report", "qrels", "m0", "m1", "m2", "--baseline", baseline, "-o", "page.html"]
        done = subprocess.run(
            [sys.executable, "-m", "sklearn_rank", *words], cwd=tmp_path, capture_output=True, text=True, check=True
        )
        assert done.stdout == f"{said}\n"
        assert said in plain((tmp_path / "page.html").read_text())
        assert compare_systems(qrels, runs, metrics="ndcg@10", baseline=baseline).verdict == said


def test_metrics_that_contradict_the_first():
    """A metric says the same only if its own tests show the same."""
    values = {"m0": STEP, "m1": STEP + 0.1 + NOISE}
    more = {"m0": {"map": STEP, "mrr": STEP}, "m1": {"map": STEP - 0.1 + NOISE, "mrr": STEP + 0.1 - NOISE}}
    report = compared(values, more=more)
    assert repr(report).splitlines()[1:3] == ["m1 is better than m0 by nDCG@10", "By MAP: m1 is worse than m0."]
    assert "MRR says the same. By MAP: m1 is worse than m0." in texts(report)["page"]
    assert report.to_markdown().count("**") == 6


def test_drawn_tables_keep_the_best():
    """Few tables of the simulation that docs/decide/measured.md quotes."""
    bench = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "bench" / "error_rates.py"))
    found = bench["verdicts_of_tables"](60, seed=1)
    assert found["contradicts"] == 0
    assert found["kept"] >= 0.9 * found["tables"]
    assert found["wrong"] <= 0.1 * found["tables"]
