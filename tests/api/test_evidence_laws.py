"""For all entry points: missing evidence decides nothing, and queries without relevant documents are counted alike."""

import numpy as np
import pandas as pd
import pytest
from misuse_cases import Given

from sklearn_rank import (
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    display,
    evaluate,
    evaluate_table,
    get_scorer,
    make_ranking_scorer,
)
from sklearn_rank._cli import main
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.results import Comparison, Evaluation
from sklearn_rank.stats import compare, compare_all, no_worse

N, N_DOCUMENTS, N_WITHOUT = 10, 4, 6
QID = np.repeat(np.arange(N), N_DOCUMENTS)
RNG = np.random.default_rng(3)
NEW, OLD = RNG.random((2, N * N_DOCUMENTS))
LABEL = np.where((QID >= N_WITHOUT) & (np.arange(N * N_DOCUMENTS) % N_DOCUMENTS == 0), 2, 0)
COUNTED = f"{N_WITHOUT} of {N} queries have no relevant document and score 0"
LEFT_OUT = f"{N_WITHOUT} of {N} queries have no relevant document and are left out"


def both(label, metrics, new=NEW, old=OLD, **keywords):
    return {name: evaluate(label, x, qid=QID, metrics=metrics, **keywords) for name, x in (("old", old), ("new", new))}


def written(folder, label, new=NEW, old=OLD, document="d"):
    """Files of judgments and of both runs."""
    lines = [f"{q} 0 d{i % N_DOCUMENTS} {y}\n" for i, (q, y) in enumerate(zip(QID, label, strict=True))]
    (folder / "qrels").write_text("".join(lines))
    for name, scores in (("new", new), ("old", old)):
        rows = enumerate(zip(QID, scores, strict=True))
        (folder / name).write_text("".join(f"{q} Q0 {document}{i % N_DOCUMENTS} 1 {s} t\n" for i, (q, s) in rows))
    return [str(folder / name) for name in ("qrels", "new", "old")]


def said(text):
    """Printed text without line breaks and escapes."""
    return " ".join(str(text).replace("\\", "").split())


# --- queries without a relevant document -------------------------------------------------------------------------


@pytest.mark.parametrize("metric", ["ndcg@3", "p@1", "err", "dcg", "rbp", "map", "cg", "hit@2"])
def test_every_door_counts_the_same_queries(metric, tmp_path, capsys):
    pytest.importorskip("matplotlib").use("agg")
    report = compare_systems(LABEL, {"old": OLD, "new": NEW}, qid=QID, metrics=metric, by={"part": QID % 2})
    one, tested = report["new"], report.significance(metric)
    one.save(tmp_path / "one.npz"), report.save(tmp_path / "report.npz")
    shown = [
        one, one.to_markdown(), one.to_latex(), one._repr_html_(), one.segments("part"), report, report.to_markdown(),
        report.to_latex(), report.segments("part"), tested, tested.to_markdown(), tested.to_latex(),
        compare(one, report["old"]), compare_all(report), Evaluation.load(tmp_path / "one.npz"),
        Comparison.load(tmp_path / "report.npz"), one.subset(range(N)), compare_systems(dict(report)),
        no_worse(**report, margin=0.1, replace_undefined_by=0),
        display.DistributionDisplay.from_result(one, metric).figure_.get_supxlabel(),
    ]  # fmt: skip
    for text in shown:
        assert COUNTED in said(text)
    gate = no_worse(**report, margin=0.1)
    for text in (gate, gate.to_markdown(), gate.to_latex()):
        assert LEFT_OUT in said(text)
    qrels, new, old = written(tmp_path, LABEL)
    for form in ("table", "markdown", "latex"):
        for words in (["evaluate", qrels, new, old], ["compare", qrels, new, old]):
            assert main([*words, "-m", metric, "--format", form]) == 0
            assert COUNTED in said("".join(capsys.readouterr()))
        main(["gate", qrels, new, "--baseline", old, "-m", metric, "--margin", "0.1", "--format", form])
        assert LEFT_OUT in said(capsys.readouterr().out)
    main(["gate", qrels, new, "--baseline", old, "-m", metric, "--margin", "0.1", "--replace-undefined-by", "0"])
    assert COUNTED in said(capsys.readouterr().out)


def test_requested_value_and_metrics_that_differ():
    nan = evaluate(LABEL, NEW, qid=QID, metrics="ndcg", replace_undefined_by=np.nan)
    assert LEFT_OUT in said(nan)
    assert LEFT_OUT in said(
        evaluate(LABEL, NEW, qid=QID, metrics="p", no_relevant="undefined", replace_undefined_by=np.nan)
    )
    assert COUNTED.replace("as 0", "as 0.5") in said(
        evaluate(LABEL, NEW, qid=QID, metrics="mrr", replace_undefined_by=0.5)
    )
    some = said(evaluate(LABEL, NEW, qid=QID, metrics=["mrr", "p(min_relevance=3)"]))
    assert COUNTED in some
    assert f"{N} of {N} queries have no relevant document" in some
    counted = f"have no relevant document and score 0 in MRR; {N} of {N} queries have no pair of a relevant and"
    assert counted in said(evaluate(np.where(QID < N_WITHOUT, LABEL, 1), NEW, qid=QID, metrics=["mrr", "auc"]))
    auc = both(LABEL, "auc")
    assert f"Without the {N_WITHOUT} queries that have no pair of a relevant and a non" in said(compare_systems(auc))
    unlike = compare(auc["new"], auc["old"], test="welch")
    assert f"{2 * N_WITHOUT} of {2 * N} queries have no pair of a relevant and a non-relevant" in said(unlike)


def test_the_gate_names_queries_it_leaves_out():
    labels = np.tile([1, 0, 0, 0], N)
    assert "queries without relevant documents are left out" in said(no_worse(**both(labels, "mrr"), margin=0.1))
    kept = no_worse(**both(labels, "mrr"), margin=0.1, replace_undefined_by=0.5)
    assert "queries without relevant documents score 0.5" in said(kept)
    assert "1 of 2 queries has no relevant document and scores 0" in said(
        evaluate([1, 0, 0, 0], [1, 2, 1, 2], qid=[1, 1, 2, 2], metrics="p@1")
    )


def test_batches_count_if_a_metric_has_that_min_relevance():
    rows = {"qid": QID, "label": LABEL, "score": NEW}
    accumulator = RankingAccumulator(["ndcg@3", "map", "p@1"])
    accumulator.update(LABEL, NEW, qid=QID)
    for result in (accumulator.compute(), evaluate_table(pd.DataFrame(rows), metrics=["map", "p@1"])):
        assert COUNTED in said(result)
        assert result.settled["p@1"].sum() == N_WITHOUT


@pytest.mark.parametrize("name", sorted(name for name, metric in REGISTRY.items() if not metric.subtopics))
def test_judgments_fix_the_value_of_settled_queries(name):
    """On settled queries any two orders have the same value; errors of scores are never settled."""
    label = np.array([0, 0, 1, 1, 0, 1, 0, 0, 0])
    qid = np.repeat([0, 1, 2, 3], [2, 2, 3, 2])
    results = [evaluate(label, x, qid=qid, metrics=name) for x in RNG.random((8, len(label)))]
    settled = results[0].settled.get(name)
    if REGISTRY[name].pointwise or name in ("judged", "rbo", "rbp_residual"):
        assert settled is None
        return
    for result in results:
        np.testing.assert_array_equal(result.settled[name], settled)
        np.testing.assert_array_equal(result.per_query[name][settled], results[0].per_query[name][settled])
    assert settled[[0, 1, 3]].any()
    assert not settled[2]


@pytest.mark.parametrize("n_settled", [0, 1, 3])
def test_means_without_settled_queries_by_hand(n_settled):
    """None if no query is settled; the sentence has the difference of a single pair."""
    label = np.where(np.arange(32) // 4 < n_settled, 0, np.arange(32) % 4 % 2)
    results = {
        name: evaluate(label, x, qid=np.arange(32) // 4, metrics=["map", "mrr"])
        for name, x in zip("ab", RNG.random((2, 32)), strict=True)
    }
    report = compare_systems(results, on_misuse="ignore")
    found = report.significance("map")
    means = {name: result.per_query["map"][n_settled:].mean() for name, result in results.items()}
    assert found.means_without_settled == (pytest.approx(means) if n_settled else {})
    which = ("", "Without the query that has", "", "Without the 3 queries that have")[n_settled]
    assert which in said(found)
    assert (f"b - a {means['b'] - means['a']:.4f}" in said(found)) == bool(which)
    # Metrics without the same queries are in one sentence.
    assert (said(report).count("Without the"), said(report).count("; MRR: a")) == (bool(n_settled), bool(n_settled))


def test_the_gate_leaves_out_only_settled_queries():
    """On the four open queries new is worse; with the settled ones the loss would be within the margin."""
    label = np.tile(LABEL, 1)
    old, new = np.where(label > 0, 2.0, OLD), np.where(label > 0, -1.0, NEW)
    results = both(label, "p@1", new, old)
    found, kept = (no_worse(**results, margin=0.5, replace_undefined_by=x) for x in (None, 0))
    assert (found.table.rows[0][1], kept.table.rows[0][1]) == (N - N_WITHOUT, N)
    assert (found.difference["p@1"], kept.difference["p@1"]) == (-1.0, -(N - N_WITHOUT) / N)
    assert no_worse(**results, margin=0.5, replace_undefined_by=np.nan).difference == found.difference
    assert "new 0.0000, old 1.0000, new - old -1.0000" in said(compare_systems(results)).replace(
        "old 1.0000, new 0.0000,", "new 0.0000, old 1.0000,"
    )
    errors = both(label, "rmse", new, old)
    assert no_worse(**errors, margin=0.5).table.rows[0][1] == N


def test_a_query_without_hits_of_either_system_counts():
    label = LABEL.copy()
    label[QID < N_WITHOUT] = 0
    label[[0, 4]] = 1
    low = np.where((QID < 2) & (np.arange(len(QID)) % N_DOCUMENTS == 0), -np.inf, NEW)
    found = no_worse(**both(label, "recall@2", low, low + 0.0), margin=0.5)
    assert found.table.rows[0][1] == N - N_WITHOUT + 2


# --- no evidence ------------------------------------------------------------------------------------------------

UNREACHED = np.where(LABEL > 0, -np.inf, NEW)
NOTHING = {
    "no label": (0 * LABEL, "recall@3", NEW, OLD),
    "labels below min_relevance": (LABEL / 4, "p@2", NEW, OLD),
    "labels below min_relevance, of graded metrics": (0 * LABEL, "ndcg@3", NEW, OLD),
    "no relevant document was reached": (LABEL, "recall@3", UNREACHED, UNREACHED + 0.0),
    "one label a query": (0 * LABEL + 1, "auc", NEW, OLD),
    "0 is best": (0 * LABEL, "ranking_loss", NEW, OLD),
}


@pytest.mark.parametrize("case", NOTHING)
@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")
def test_results_without_evidence_at_every_door(case, tmp_path, capsys):
    label, metric, new, old = NOTHING[case]
    results = both(label, metric, new, old)
    for name, result in results.items():
        result.save(tmp_path / f"{name}.npz")
    saved = {name: Evaluation.load(tmp_path / f"{name}.npz") for name in results}
    report = Comparison(results=results, baseline="old")
    pytest.importorskip("matplotlib").use("agg")
    for call in (
        lambda: compare_systems(label, {"new": new, "old": old}, qid=QID, metrics=metric),
        lambda: compare_systems(results), lambda: compare_systems(saved),
        lambda: compare(results["new"], results["old"]), lambda: compare_all(saved),
        lambda: no_worse(**results, margin=0.1), lambda: no_worse(**saved, margin=0.1, replace_undefined_by=0),
        lambda: display.DifferenceDisplay.from_results(results),
        report.to_latex, report.to_markdown,
    ):  # fmt: skip
        with pytest.raises(ValueError, match="for every query of both runs: nothing was compared"):
            call()
    assert "nothing was compared" in said(report)
    new, old = (np.maximum(x, 0) for x in (new, old))
    files = written(tmp_path, label, new, old, "d" if case != "no relevant document was reached" else "x")
    qrels, new, old = files
    for words in (["compare", *files], ["gate", qrels, new, "--baseline", old, "--margin", "0.1"]):
        assert main([*words, "-m", metric]) == 2
        out, err = capsys.readouterr()
        assert out == ""
        assert "nothing was compared" in err


def test_one_undecided_metric_of_several(tmp_path, capsys):
    metrics = ["ndcg@3", "p(min_relevance=3)@1"]
    results = both(LABEL, metrics)
    gate = no_worse(**results, margin=0.9)
    assert gate.decisions[metrics[1]] == "undecided"
    assert not gate
    note = "is 0 for every query of both runs: nothing was compared."
    report = compare_systems(results)
    for text in (
        gate, report, report.to_latex(), report.to_markdown(),
        report.significance(metrics[1]),
    ):  # fmt: skip
        assert note in said(text)
    assert note not in said(report.significance(metrics[0]))
    assert "textbf{0.0000}" not in report.to_latex()
    assert "textbf" in report.to_latex()
    files = written(tmp_path, LABEL)
    assert main(["compare", *files, "-m", metrics[0], "-m", metrics[1]]) == 0
    assert note in said(capsys.readouterr().err)


@pytest.mark.parametrize("metric", ["mse", "relevance_position", "coverage_error"])
def test_a_perfect_error_and_values_of_the_user_are_evidence(metric):
    """0 is the best error; of values of the user, only the gate refuses zeros; the check needs labels."""
    results = both(LABEL, metric, LABEL.astype(float), LABEL + 0.0)
    mine = {name: Evaluation.from_values(range(5), {"clicks": np.zeros(5)}) for name in ("new", "old")}
    assert [compare_all(two).pvalue for two in (results, mine)] == [1, 1]
    assert "nothing was compared" not in said(no_worse(**results, margin=0.1))
    with pytest.raises(ValueError, match="nothing was compared"):
        no_worse(**mine, margin=0.1)
    assert compare([0.0] * 5, [0.0] * 5).pvalue == 1
    unlabeled = {
        name: Evaluation.from_values(range(5), {"clicks": np.ones(5)}, label_fingerprints=[0] * 5) for name in mine
    }
    with pytest.raises(ValueError, match="nothing was compared"):
        compare_systems(unlabeled)


def test_evaluators_and_scorers_warn():
    X, y = np.column_stack([NEW, OLD]), 0 * LABEL
    match = "for every query( of both runs)?: nothing was measured"
    rows = np.tile(np.arange(len(y)), 3)
    qid = QID[rows] + N * (np.arange(len(rows)) // len(y))
    with pytest.warns(RankingWarning, match=match):
        assert get_scorer("recall@3")(Given().fit(X, y), X[rows], pd.Series(y[rows], pd.Index(qid, name="qid"))) == 0
    with pytest.warns(RankingWarning, match=match):
        make_ranking_scorer(["recall@3", "p@1"])(Given().fit(X, y), X[rows], y[rows], qid=qid)
    # A fold of few rows may have no relevant document by chance.
    assert get_scorer("recall@3")(Given().fit(X, y), X, pd.Series(y, pd.Index(QID, name="qid"))) == 0
    evaluator = RankingEvaluator(["recall@3", "p@1"], cv=2)
    with pytest.warns(RankingWarning, match=match):
        evaluator.cross_validate(Given(), X, y, qid=QID)
    with pytest.warns(RankingWarning, match=match):
        report = evaluator.compare({"new": Given(), "old": Given(1)}, X, y, qid=QID)
    with pytest.raises(ValueError, match="nothing was compared"):
        report.to_latex()
