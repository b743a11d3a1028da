"""Functions that take a dictionary of results also take a Comparison, which is a mapping from systems to results."""

import re

import numpy as np
import pytest
from bad_input import arguments_of, doors
from registry import together

from sklearn_rank import compare_systems, evaluate
from sklearn_rank.results import Evaluation, PairedTest
from sklearn_rank.stats import compare, no_worse

rng = np.random.default_rng(0)
QID = np.repeat(np.arange(30), 6)
Y = rng.integers(0, 2, 180)
Y[::6] = 1
SYSTEMS = {name: rng.random(180) for name in ("old", "new", "other")}
BY = {"half": np.array([*"ab"])[QID % 2]}
METRICS = ["ndcg@1", "ndcg@5", "iprec(recall=0.1)", "iprec(recall=0.5)"]
REPORT = compare_systems(Y, SYSTEMS, qid=QID, metrics=METRICS, by=BY)
OTHERS = ("results.Comparison",)
"""Its `results` are the parts of a comparison."""
TAKES_RESULTS = {
    where: door for where, door in doors().items() if "results" in arguments_of(door) and where not in OTHERS
}
METRIC = {"display.CutoffDisplay.from_results": "ndcg"}
"""Metric of doors that take another one than `ndcg@5`."""


def test_a_mapping():
    assert ([*REPORT], len(REPORT), "new" in REPORT, "none" in REPORT) == ([*SYSTEMS], 3, True, False)
    assert dict(REPORT) == REPORT.results
    assert REPORT["new"] is REPORT.results["new"]
    assert all(isinstance(result, Evaluation) for result in REPORT.values())
    with pytest.raises(KeyError, match="none"):
        REPORT["none"]


def test_doors_are_known():
    """All of them call the argument by the same name."""
    assert "stats.compare_all" in TAKES_RESULTS
    displays = {where for where in doors() if re.fullmatch(r"display\.\w+\.from_results", where)}
    assert displays - {*OTHERS} <= TAKES_RESULTS.keys()
    assert len(displays) > 5


def shown(found):
    """Normalize results: a test, or the content of a picture."""
    if isinstance(found, PairedTest):
        return found
    pyplot = pytest.importorskip("matplotlib.pyplot")
    found.figure_.canvas.draw()
    pixels = np.asarray(found.figure_.canvas.buffer_rgba()).copy()
    pyplot.close(found.figure_)
    return pixels.tolist()


@pytest.mark.slow
@together("where", [*TAKES_RESULTS])
def test_comparison_and_dictionary_agree(where):
    if where.startswith("display."):
        pytest.importorskip("matplotlib").use("agg")
    keywords = {"metric": METRIC.get(where, "ndcg@5")} | ({"by": "half"} if "Segments" in where else {})
    keywords = {name: value for name, value in keywords.items() if name in arguments_of(TAKES_RESULTS[where])}
    assert shown(TAKES_RESULTS[where](REPORT, **keywords)) == shown(TAKES_RESULTS[where](REPORT.results, **keywords))


def test_systems_are_compared_again():
    again = compare_systems(REPORT, baseline="new", test="wilcoxon")
    assert str(again) == str(compare_systems(REPORT.results, baseline="new", test="wilcoxon"))
    assert again.baseline == "new"


def test_calls_for_one_system_reject_a_comparison():
    from sklearn_rank.display import DistributionDisplay

    with pytest.raises(ValueError, match=r"or one of compare_systems\(.*, such as report\['new'\]. Got Comp"):
        DistributionDisplay.from_result(REPORT)
    for call in (lambda: compare(REPORT, REPORT["old"], metric="ndcg@5"), lambda: evaluate(Y, REPORT, qid=QID)):
        with pytest.raises((TypeError, ValueError)):
            call()
    with pytest.raises(TypeError):
        no_worse(new=REPORT, old=REPORT["old"], margin=0.1)
