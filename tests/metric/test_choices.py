"""The line that lists the conventions of a result: gain, discount, ties, undefined queries."""

import numpy as np
import pytest

from sklearn_rank import compare_systems, display, evaluate, evaluate_run, parse_metric, stats
from sklearn_rank._cli import main
from sklearn_rank._metric.choices import choices_in_words
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.results import Evaluation, GateResult

NDCG = "nDCG: gain 2^grade - 1, log2; ties averaged; queries without relevant documents score 0"
Y, S, QID = [2, 0, 1, 0], [1, 2, 2, 1], list("aabb")


def line(*names, **keywords):
    return choices_in_words({name: parse_metric(name, **keywords).meaning for name in names})


@pytest.mark.parametrize(
    ("names", "keywords", "expected"),
    [
        (["ndcg@10"], {}, NDCG),
        (["ndcg@5", "ndcg@10", "map", "p@10"], {}, NDCG),
        (["ndcg"], {"gain": "linear", "ties": "worst"}, "nDCG: gain grade, log2; ties worst first; queries without "),
        (["ndcg"], {"gain": [0, 1, 5]}, "nDCG: gain [0, 1, 5], log2;"),
        (["ndcg"], {"gain": {0: 0, 1: 5}, "discount": "reciprocal"}, "nDCG: gain {0: 0, 1: 5}, 1 / rank;"),
        (["ndcg"], {"discount": "jarvelin", "base": 3}, "nDCG: gain 2^grade - 1, log base 3 from rank 3 on;"),
        (["ndcg"], {"discount": np.log}, "nDCG: gain 2^grade - 1, discount numpy.log;"),
        (["mrr"], {"replace_undefined_by": np.nan}, "queries without relevant documents are left out"),
        (["mrr"], {"replace_undefined_by": 0.5}, "queries without relevant documents score 0.5"),
        (["map"], {"min_relevance": 2}, "MAP: relevant from grade 2 on; ties averaged;"),
        (["map"], {"min_relevance": np.nextafter(0.5, 1)}, "MAP: relevant above grade 0.5; ties averaged;"),
        (["ndcg"], {"min_relevance": 2}, NDCG.partition(";")[0] + ";"),
        (["err@10"], {"max_grade": 3}, "ERR: stops with (2^grade - 1) / 2^3, 1 / rank; ties averaged"),
        (["recall@10"], {"average": "micro"}, "ties averaged"),
        (["auc"], {}, "queries with no pair of a relevant and a non-relevant document score 0"),
        (["mae"], {"unjudged": "drop"}, "queries with no judged document score 0"),
        (["kendall"], {}, "queries with no two unequal labels, or no two unequal scores, score 0"),
    ],
)  # fmt: skip
def test_choices(names, keywords, expected):
    assert expected in line(*names, **keywords)


def test_metrics_without_choices():
    assert line("rmse") == choices_in_words({"of my own": "of my own"}) == ""
    assert "queries" not in line("p@10")


SHARED = "unjudged=None, replace_undefined_by=0, average=macro"


@pytest.mark.parametrize(
    "meaning",
    ["ndcg_score(k=5)", "ndcg_score(k=", "mine(k=1, gain=(", "(k=3, stop=exp2)", f"a(k=3, stop=exp2, {SHARED})", ""],
)
def test_choices_omit_texts_of_the_user(meaning):
    result = Evaluation.from_values(["a", "b"], {"ndcg@5": [0.5, 1.0]}, meaning={"ndcg@5": meaning})
    assert repr(result).splitlines()[-1].startswith("nDCG@5")


def test_metrics_that_differ_are_named():
    both = {name: parse_metric(name).meaning for name in ("ndcg", "ndcg(ties=worst)@3")}
    assert "ties averaged in nDCG, worst first in nDCG(ties=worst);" in choices_in_words(both)
    some = {"mrr": parse_metric("mrr").meaning, "map": parse_metric("map", replace_undefined_by=np.nan).meaning}
    assert "queries without relevant documents score 0 in MRR, are left out in MAP" in choices_in_words(some)


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_each_metric_describes_ties_and_undefined_queries(name):
    said, metric = line(name), REGISTRY[name]
    assert ("ties" in said) == ("ties" in metric.defaults)
    assert ("queries" in said) == bool(metric.undefined_when and not metric.pointwise)
    assert ("gain" in said) == ("gain" in metric.defaults)


def test_results_print_choices_last_in_each_format():
    result = evaluate(Y, S, qid=QID, metrics="ndcg@10")
    report = compare_systems(Y, {"a": S, "b": Y}, qid=QID, metrics="ndcg@10")
    run = evaluate_run({"a": {"x": 1}}, {"a": ["x"]}, metrics="ndcg@10")
    for one in (result, report, run):
        assert repr(one).splitlines()[-1] == NDCG
        assert NDCG in one._repr_html_()
    assert NDCG in result.to_markdown()
    assert r"gain 2\textasciicircum{}grade - 1" in result.to_latex()
    assert NDCG + "." in report.to_markdown()


def test_saved_results_have_the_same_choices(tmp_path):
    result = evaluate(Y, S, qid=QID, metrics=["ndcg@10", "map"])
    result.save(tmp_path / "r.npz")
    assert repr(Evaluation.load(tmp_path / "r.npz")) == repr(result)
    assert "ties" not in repr(Evaluation.from_values(["a", "b"], {"ndcg@10": [0.5, 1.0]}))


def test_choices_in_comparisons_gates_segments_commands_and_pictures(tmp_path, capsys):
    qid, label = np.repeat(range(20), 3), np.tile([2, 1, 0], 20)
    scores = {name: np.random.default_rng(seed).normal(size=60) for seed, name in enumerate(["old", "new", "third"])}
    report = compare_systems(label, scores, qid=qid, metrics="ndcg@10", by={"part": qid % 2})
    old, new = report["old"], report["new"]
    gate = stats.no_worse(new=new, old=old, margin=0.1)
    for one in (
        old.segments(), report.segments(), report.significance("ndcg@10"), stats.compare(new, old),
        stats.compare_all(report), gate,
    ):  # fmt: skip
        expected = NDCG.replace("score 0", "are left out") if isinstance(one, GateResult) else NDCG
        assert str(one).splitlines()[-1] == expected
    (tmp_path / "qrels").write_text("a 0 x 1\nb 0 x 1\n")
    (tmp_path / "run").write_text("a Q0 x 1 2 t\nb Q0 x 1 2 t\n")
    (tmp_path / "other").write_text("a Q0 y 1 2 t\nb Q0 x 1 2 t\n")
    files = [str(tmp_path / name) for name in ("qrels", "run", "other")]
    for command, form in (("evaluate", "table"), ("evaluate", "markdown"), ("compare", "table"), ("compare", "latex")):
        assert main([command, *files, "-m", "ndcg@10", "--format", form]) == 0
        out, err = capsys.readouterr()
        printed = err if form == "table" else out.replace(r"\textasciicircum{}", "^")
        assert NDCG in printed.replace("\\", "")
    assert main(["evaluate", *files, "-m", "ndcg@10", "--format", "csv"]) == 0
    assert "gain" not in "".join(capsys.readouterr())


@pytest.mark.parametrize("name", ["CriticalDifference", "Difference", "Distribution", "Segments"])
def test_choices_in_own_figures(name):
    plt = pytest.importorskip("matplotlib.pyplot")
    qid, label = np.repeat(range(20), 3), np.tile([2, 1, 0], 20)
    scores = {name: np.random.default_rng(seed).normal(size=60) for seed, name in enumerate(["old", "new"])}
    report = compare_systems(label, scores, qid=qid, metrics="ndcg@10", by={"part": qid % 2})
    draw = getattr(display, f"{name}Display").from_results
    assert draw(report, metric="ndcg@10").figure_.get_supxlabel().endswith(NDCG)
    assert draw(report, metric="ndcg@10", ax=plt.subplots()[1]).figure_.get_supxlabel() == ""
