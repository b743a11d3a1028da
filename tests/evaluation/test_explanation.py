"""Why two systems differ: contributions of documents, judged shares, and documents to judge."""

import math
import pickle
import tracemalloc
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from known_cases import read
from numpy.testing import assert_allclose
from oracle import orders
from scipy import sparse
from sklearn.linear_model import Ridge

from sklearn_rank import compare_systems, evaluate, evaluate_run, evaluate_table
from sklearn_rank._evaluation import explanation
from sklearn_rank._evaluation.explanation import explanations_of
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import parse_metric
from sklearn_rank.model_selection import RankingEvaluator
from sklearn_rank.results import Comparison, Evaluation

SUMS = ["cg@4", "dcg@4", "dcg", "ndcg@3", "ndcg(gain=linear)", "rbp", "rbp(gain=exp2)@5", "p@3", "recall@4", "acg@3"]
OTHERS = ["map", "map@5", "mrr", "hit@2", "err", "q", "bpref", "auc", "opa"]


def lists(seed=0, n=9, grades=4):
    """Labels and the scores of two systems with ties; some documents are retrieved by only one system."""
    rng = np.random.default_rng(seed)
    label = rng.integers(0, grades, n).astype(float)
    label[0] = 1
    old, new = (rng.integers(0, 4, n).astype(float) for _ in range(2))
    old[rng.random(n) < 0.2] = new[rng.random(n) < 0.2] = -np.inf
    return label, old, new


def explained(label, old, new, metric, **keywords):
    qid = np.zeros(len(label), dtype=int)
    scores = {"old": old, "new": new}
    results = {name: evaluate(label, x, qid=qid, metrics=metric, **keywords) for name, x in scores.items()}
    return Comparison(results=results, baseline="old").explain(0, new="new", old="old")


def column(explanation, name):
    """A column of the table, by document."""
    table = explanation.table
    at = [str(one) for one in table.columns].index(name)
    return {row[0]: row[at] for row in table.rows}


# --- contributions -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(5))
def test_contributions_of_ndcg_are_expectations_over_orders(seed):
    """By enumeration: gain over ideal times the mean discount over the possible ranks of a document."""
    label, old, new = lists(seed, n=7)
    k, ideal = 4, np.sort(label)[::-1][:4]
    best = sum((2**g - 1) / math.log2(i + 2) for i, g in enumerate(ideal))
    expected = np.zeros(7)
    mean_rank = np.full((2, 7), np.nan)
    for i, (sign, score) in enumerate(((-1, old), (1, new))):
        possible = orders(score)
        for order in possible:
            for rank, document in enumerate(order, start=1):
                mean_rank[i, document] = np.nansum([mean_rank[i, document], rank / len(possible)])
                if rank <= k:
                    gain = (2 ** label[document] - 1) / math.log2(rank + 1)
                    expected[document] += sign * gain / best / len(possible)
    found = explained(label, old, new, f"ndcg@{k}")
    assert found.is_sum
    size = [abs(x) for x in column(found, "contribution").values()]
    assert size == sorted(size, reverse=True)
    for document, contribution in column(found, "contribution").items():
        assert contribution == pytest.approx(expected[document], abs=1e-12)
    for i, name in enumerate(("rank old", "rank new")):
        for document, rank in column(found, name).items():
            assert (math.nan if rank is None else rank) == pytest.approx(mean_rank[i, document], nan_ok=True)


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("metric", SUMS)
def test_sums_sum_to_the_difference(metric, ties):
    for seed in range(20):
        found = explained(*lists(seed), metric, ties=ties)
        assert found.is_sum
        assert sum(column(found, "contribution").values()) == pytest.approx(found.difference, abs=1e-12)
        assert "sum to the difference" in repr(found)
        assert "need not" not in repr(found)


@pytest.mark.slow
def test_every_metric_has_contributions_or_is_omitted():
    """Contributions sum exactly, or are the effects of removing a document from both lists, by the metric itself."""
    kinds = {}
    for name, entry in REGISTRY.items():
        if entry.subtopics or not entry.is_built_in:
            continue
        ties = {} if "ties" not in entry.defaults else {"ties": "stable"}
        spec = parse_metric(name, **ties)
        for seed in range(5):
            label, old, new = lists(seed, grades=2)
            if spec.metric.pointwise:
                old, new = (np.where(score > -np.inf, score, 0.0) for score in (old, new))
            found = explained(label, old, new, name, **ties)
            assert found.is_sum == kinds.setdefault(name, found.is_sum) or np.isnan(found.difference), name
            contribution = column(found, "contribution")
            if found.is_sum:
                assert sum(contribution.values()) == pytest.approx(found.difference, abs=1e-9), name
                continue
            for document, effect in contribution.items():
                rest = np.arange(len(label)) != document
                one = [evaluate(label[rest], s[rest], qid=[0] * rest.sum(), metrics=spec).per_query for s in (old, new)]
                of_old, of_new = (next(iter(values.values()))[0] for values in one)
                assert effect == pytest.approx(found.difference - (of_new - of_old), abs=1e-9), name
    assert {name for name, is_sum in kinds.items() if is_sum} >= {
        "cg", "acg", "dcg", "ndcg", "rbp", "precision", "recall", "f", "rprec", "mse", "mae",
    }  # fmt: skip
    assert not {name for name, is_sum in kinds.items() if is_sum} & {"map", "mrr", "err", "auc", "bpref", "judged", "q"}


def test_effects_of_removing_documents_by_hand():
    """RR 1/2 against 1: without the document above it old has 1 as well; without the relevant document both have 0."""
    runs = {"old": {"q": ["a", "b", "c"]}, "new": {"q": ["b", "a", "c"]}}
    found = compare_systems({"q": {"a": 0, "b": 1, "c": 0}}, runs, metrics="mrr").explain("q", new="new", old="old")
    assert not found.is_sum
    assert column(found, "contribution") == {"a": 0.5, "b": 0.5, "c": 0.0}
    assert "need not sum" in repr(found)
    assert "need not sum" in found.to_markdown()
    odd = replace(found, query="<b>\n|q\x1b", names=("a*b", "c")).to_markdown().splitlines()[0]
    assert r"of query \<b>\\n\|q\\x1b: c" in odd
    assert r"- a\*b" in odd


def test_undefined_and_empty_lists():
    found = explained([0.0, 0.0], [2.0, 1.0], [1.0, 2.0], "ndcg")
    assert (found.difference, column(found, "contribution")) == (0.0, {0: 0.0, 1: 0.0})
    found = explained([1.0], [1.0], [-np.inf], "map")
    assert (found.difference, column(found, "contribution")) == (-1.0, {0: -1.0})
    assert math.isnan(found.judged[1])
    with pytest.raises(ValueError, match="Got 0, where M?AP is undefined"):
        explained([0.0, 0.0], [2.0, 1.0], [1.0, 2.0], "map", replace_undefined_by=np.nan)
    with pytest.raises(ValueError, match="value in both systems. Got 0, where Kendall's tau is undefined"):
        explained([1.0, 0.0], [1.0, 1.0], [1.0, 2.0], "kendall", replace_undefined_by=np.nan)


def test_relevant_documents_of_neither_system_are_shown():
    found = explained([1.0, 0, 1, 0], [-np.inf, 1, 0.5, -np.inf], [-np.inf, 0.5, 1, -np.inf], "p@1")
    assert column(found, "contribution") == {2: 1.0, 1: 0.0, 0: 0.0}
    assert column(found, "rank old") == {2: 2, 1: 1, 0: None}


def test_explanations_of_errors_are_new_minus_old():
    found = explained([1.0, 2.0], [1.0, 1.0], [1.0, 2.0], "mse")
    assert (found.difference, column(found, "contribution")) == (-0.5, {1: -0.5, 0: 0.0})
    assert "Lower is better." in repr(found)


def test_a_document_in_only_one_list():
    """DCG@2 with labels as gains: b adds 1 / log2(3) to the new list; x is unjudged there and adds 0."""
    runs = {"old": {"q": ["a", "y"]}, "new": {"q": ["x", "b"]}}
    found = compare_systems({"q": {"a": 2, "b": 1, "c": 1}}, runs, metrics="dcg(gain=linear)@2").explain(
        "q", new="new", old="old"
    )
    assert found.difference == pytest.approx(1 / math.log2(3) - 2)
    expected = {"a": -2.0, "b": pytest.approx(1 / math.log2(3)), "x": 0.0, "y": 0.0, "c": 0.0}
    assert column(found, "contribution") == expected
    assert [*column(found, "contribution")] == ["a", "b", "x", "y", "c"]
    assert found.judged == (0.5, 0.5)
    assert column(found, "judged") == {"a": "yes", "b": "yes", "x": "no", "y": "no", "c": "yes"}


def test_unjudged_negative_labels():
    found = explained([1.0, 0, -1], [3.0, 2, 1], [1.0, 2, 3], "p@3", negative="unjudged", unjudged="nonrelevant")
    assert column(found, "judged") == {0: "yes", 1: "yes", 2: "no"}
    assert [row[0] for row in found.to_judge().rows] == [2]
    found = explained([1.0, 0, -1], [3.0, 2, 1], [1.0, 2, 3], "p@3", unjudged="nonrelevant")
    assert column(found, "judged") == {0: "yes", 1: "yes", 2: "yes"}


def test_dropped_documents_add_nothing_and_have_ranks():
    nan = math.nan
    found = explained([nan, 1, 0], [3.0, 2, 1], [1.0, 2, 3], "ndcg", unjudged="drop")
    assert column(found, "rank old") == {0: 1, 1: 2, 2: 3}
    assert column(found, "contribution") == {0: 0.0, 1: pytest.approx(1 / math.log2(3) - 1), 2: 0.0}


# --- several queries at once ------------------------------------------------------------------------------------


def arrays_of(found):
    arrays = found.documents.tolist(), found.label, found.ranks, found.contribution, found._change
    return found.query, found.values, found.is_sum, found.judged, *map(np.ndarray.tolist, map(np.asarray, arrays[1:]))


@pytest.mark.parametrize("case", read("cases/explanations.json")["cases"], ids=lambda c: f"{c['metric']}-{c['data']}")
def test_known_explanations(case):
    data = read("cases/explanations.json")["data"][str(case["data"])]
    report = compare_systems(data["qrels"], data["runs"], metrics=case["metric"], on_misuse="ignore")
    for query, expected in case["explained"].items():
        found = report.explain(query, new="new", old="old")
        assert (found.documents.tolist(), found.is_sum) == (expected["documents"], expected["is_sum"])
        got = found.values, *found.ranks, found.contribution, found._change
        for numbers, name in zip(got, ("values", "old", "new", "contribution", "change"), strict=True):
            assert_allclose(numbers, np.array(expected[name], float), rtol=1e-10, atol=1e-13, err_msg=name)
    rows = report.to_judge(len(case["to_judge"]), new="new", old="old").rows
    assert_allclose(np.abs([row[-1] for row in rows]), np.abs([row[-1] for row in case["to_judge"]]), rtol=1e-10)
    # Equal sizes have no order, so the last documents may be others of the same size.
    found, known = (
        sorted((row[0], row[1], round(row[-1], 9)) for row in table if abs(row[-1]) > abs(table[-1][-1]) + 1e-9)
        for table in (rows, case["to_judge"])
    )
    assert found == known


def test_batches_of_the_evaluation_change_nothing(monkeypatch):
    qrels, runs = pools(12, share=0.4)
    report = compare_systems(qrels, runs, metrics=["ndcg@5", "map"], on_misuse="ignore")

    def everything():
        found = explanations_of(report._explained("new", "old", "map"), range(12))
        return [arrays_of(one) for one in found], report.to_judge(50, new="new", old="old").rows

    expected = everything()
    monkeypatch.setattr(explanation, "ROWS_IN_MEMORY", 25)
    assert repr(everything()) == repr(expected)


# --- forms of input -----------------------------------------------------------------------------------------------


def test_forms_of_input_agree():
    """Rows, a frame, two dimensions, sparse matrices, runs: the same contributions of the same documents."""
    label, old, new = lists(3, n=6)
    both = np.stack([label, label[::-1]]), {"old": np.stack([old] * 2), "new": np.stack([new] * 2)}
    expected = column(compare_systems(*both, metrics="ndcg@3").explain(1, new="new", old="old"), "contribution")
    qid = np.repeat([0, 1], 6)
    flat = {name: scores.ravel() for name, scores in both[1].items()}
    rows = compare_systems(both[0].ravel(), flat, qid=qid, metrics="ndcg@3").explain(1, new="new", old="old")
    assert {document - 6: x for document, x in column(rows, "contribution").items()} == expected
    order = np.random.default_rng(0).permutation(12)
    frame = pd.DataFrame({"label": both[0].ravel(), "qid": qid, **flat}).iloc[order]
    of_frame = compare_systems(frame, ["old", "new"], metrics="ndcg@3").explain(1, new="new", old="old")
    assert {order[d] - 6: x for d, x in column(of_frame, "contribution").items()} == pytest.approx(expected)
    matrices = {name: sparse.csr_array(np.where(s > -np.inf, s + 1, 0)) for name, s in both[1].items()}
    of_sparse = compare_systems(sparse.csr_array(both[0]), matrices, metrics="ndcg@3").explain(1, new="new", old="old")
    assert of_sparse.grade == 1  # the highest label of all queries is unknown
    for document, x in column(of_sparse, "contribution").items():
        assert x == pytest.approx(expected[document])
    qrels = {q: {f"d{i}": int(g) for i, g in enumerate(both[0][q])} for q in (0, 1)}
    runs = {
        name: {q: {f"d{i}": float(s) for i, s in enumerate(x[q]) if s > -np.inf} for q in (0, 1)}
        for name, x in both[1].items()
    }
    of_runs = compare_systems(qrels, runs, metrics="ndcg@3").explain(1, new="new", old="old")
    assert {int(d[1:]): x for d, x in column(of_runs, "contribution").items()} == pytest.approx(expected)


def test_masked_rows_and_padding():
    mask = [[True, True, False], [True, True, True]]
    report = compare_systems(
        [[0, 1, 0], [0, 1, 1]], {"a": [[2.0, 1, 0], [3, 2, 1]], "b": [[1.0, 2, 0], [1, 2, 3]]}, mask=mask, metrics="mrr"
    )
    assert {*column(report.explain(0, new="b", old="a"), "contribution")} == {0, 1}


def test_finished_results_are_matched_by_ids_or_by_rows():
    qrels = {"q": {"a": 1, "b": 0}, "r": {"a": 0, "b": 1}}
    results = {
        name: evaluate_run(qrels, run, metrics="mrr")
        for name, run in (("old", {"q": ["b", "a"], "r": ["a", "b"]}), ("new", {"q": ["a"], "r": ["x", "b"]}))
    }
    found = compare_systems(results).explain("r", new="new", old="old")
    assert column(found, "rank new") == {"a": None, "b": 2, "x": 1}
    assert column(found, "judged") == {"a": "yes", "b": "yes", "x": "no"}
    y, qid = [1, 0, 0, 1], [0, 0, 1, 1]
    rows = {"old": evaluate(y, [1, 2, 1, 2], qid=qid), "new": evaluate(y, [2, 1, 1, 2], qid=qid)}
    assert compare_systems(rows).explain(0, new="new", old="old").difference > 0
    turned = rows | {"new": evaluate(y[1::-1] + y[2:], [1, 2, 1, 2], qid=qid)}
    with pytest.raises(ValueError, match="matched by their rows .* other labels in 'new' than in 'old'"):
        compare_systems(turned).explain(0, new="new", old="old")
    mixed = {
        "old": evaluate([1, 0], [2, 1], qid=["q", "q"]),
        "new": evaluate_run({"q": {"a": 1, "b": 0}}, {"q": ["a"]}),
    }
    with pytest.raises(ValueError, match="Documents of both systems must have ids.*Got ids in 'new' alone"):
        Comparison(results=mixed, baseline="old").explain("q", new="new", old="old")


def test_labels_of_documents_are_compared():
    """By ids, including the first document of a list, or by rows, which both systems must share."""
    other = {
        "old": evaluate_run({"q": {"a": 1, "b": 0}}, {"q": ["a", "b"]}),
        "new": evaluate_run({"q": {"a": 0, "b": 1}}, {"q": ["b", "a", "x"]}),
    }
    shorter = {
        name: evaluate([1, 0, math.nan][:n], [3, 2, 1][:n], qid=[0] * n, unjudged="nonrelevant")
        for name, n in (("old", 3), ("new", 2))
    }
    for results, query in ((other, "q"), (shorter, 0), (dict(reversed(shorter.items())), 0)):
        with pytest.raises(ValueError, match="Documents are matched by their rows"):
            compare_systems(results).explain(query, new="new", old="old")


def test_ids_of_several_types_and_lists_without_a_document():
    runs = {"old": {"q": ["a", 2], "r": []}, "new": {"q": [2, "a"], "r": [3]}}
    report = compare_systems({"q": {"a": 1, 2: 0}, "r": {}}, runs, metrics="p@1")
    assert column(report.explain("q", new="new", old="old"), "contribution") == {"a": -1.0, 2: 0.0}
    found = report.explain("r", new="new", old="old")
    assert column(found, "rank new") == {3: 1}
    assert math.isnan(found.judged[0])


def test_explanations_of_the_evaluator():
    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(60, 2)), np.repeat(np.arange(12), 5)
    y = np.clip(np.round(X[:, 0] + 1), 0, 3)
    report = RankingEvaluator("ndcg@3", cv=3).compare({"old": Ridge(1e6), "new": Ridge()}, X, y, qid=qid)
    found = report.explain(4, new="new", old="old")
    assert sum(column(found, "contribution").values()) == pytest.approx(found.difference)
    assert {*column(found, "grade")} <= {*range(20, 25)}


def test_results_without_documents_name_the_call_that_keeps_them(tmp_path):
    y, qid, scores = [1, 0, 0, 1], [0, 0, 1, 1], {"old": [1.0, 2, 1, 2], "new": [2.0, 1, 1, 2]}
    report = compare_systems(y, scores, qid=qid)
    report.save(tmp_path / "report")
    batches = {name: evaluate_table([(y, s, qid)], metrics="mrr") for name, s in scores.items()}
    parts = {name: result.subset([1]) for name, result in report.results.items()}
    for without in (Comparison.load(tmp_path / "report"), compare_systems(batches), compare_systems(parts)):
        for call in (lambda r: r.explain(1, new="new", old="old"), lambda r: r.to_judge(new="new", old="old")):
            with pytest.raises(ValueError, match="Got 'old' without documents: call compare_systems with labels"):
                call(without)
    frames = {name: evaluate_table(pd.DataFrame({"qid": qid, "label": y, "score": s})) for name, s in scores.items()}
    assert compare_systems(frames).explain(0, new="new", old="old").difference > 0


def test_explain_errors():
    report = compare_systems([1, 0], {"old": [1.0, 2], "new": [2.0, 1]}, qid=[7, 7], metrics="mrr")
    with pytest.raises(ValueError, match="A model must be one of .* Got 'x'"):
        report.explain(7, new="new", old="x")
    with pytest.raises(ValueError, match="The 'metric' parameter must be one of"):
        report.explain(7, new="new", old="old", metric="map")
    for labels, metric in (([[1, 0], [0, 1]], "alpha_ndcg"), ([1, 0], lambda y, s: float(y[s.argmax()]))):
        own = compare_systems(labels, {"old": [1.0, 2], "new": [2.0, 1]}, qid=[7, 7], metrics={"own": metric})
        with pytest.raises(ValueError, match="by subtopic, or a function of your own, is not explained.* Got 'own'"):
            own.explain(7, new="new", old="old")
    with pytest.raises(ValueError, match="must be one of the 1 that were evaluated, such as 7. Got '7'.*another type"):
        report.explain("7", new="new", old="old")
    for call in (report.explain(7, new="new", old="old").to_judge, lambda n: report.to_judge(n, new="new", old="old")):
        with pytest.raises(ValueError, match="'n' parameter of to_judge"):
            call(0)
    geometric = compare_systems([1, 0], {"old": [1.0, 2], "new": [2.0, 1]}, qid=[7, 7], metrics="gm_map")
    with pytest.raises(ValueError, match="mean over queries.*Got average='geometric'"):
        geometric.to_judge(new="new", old="old")


def test_explain_modified_scores():
    scores = np.array([2.0, 1.0])
    report = compare_systems(np.array([1, 0]), {"old": scores, "new": -scores}, qid=np.array([7, 7]), metrics="mrr")
    scores[:] = 1, 2
    with pytest.raises(ValueError, match="were changed since: it had 1 in 'old', and now has 0.5"):
        report.explain(7, new="new", old="old")


# --- judged shares, documents to judge -----------------------------------------------------------------------


def pools(n_queries=30, share=0.2, relevant=0.5, seed=0):
    """Judgments of the old system's documents; the new system retrieved mostly other documents."""
    rng = np.random.default_rng(seed)
    qrels, old, new = {}, {}, {}
    for q in range(n_queries):
        qrels[q] = {f"d{i}": int(g) for i, g in enumerate(rng.random(10) < relevant)}
        qrels[q]["d0"] = 1
        old[q] = [*rng.permutation([*qrels[q]])]
        new[q] = [d if rng.random() < share else f"x{d}" for d in rng.permutation([*qrels[q]])]
    return qrels, {"old": old, "new": new}


@pytest.mark.filterwarnings("ignore:.*judged far less")
def test_explanations_have_judged_shares(tmp_path):
    qrels, runs = pools()
    report = compare_systems(qrels, runs, metrics=["ndcg@5", "map"])
    expected = {
        name: np.mean([np.mean([d in qrels[q] for d in run[q][:5]]) for q in qrels]) for name, run in runs.items()
    }
    assert {name: shares["ndcg@5"] for name, shares in report.judged.items()} == pytest.approx(expected)
    text = f"Judged of the first 5: old 100 %, new {100 * expected['new']:.3g} %"
    assert text in repr(report)
    assert "Judged of all retrieved" in repr(report)
    report.save(tmp_path / "report")
    assert text in repr(Comparison.load(tmp_path / "report"))
    assert text in repr(report.significance("ndcg@5"))
    assert text in report.to_markdown()
    summary = report.summary(full=True).to_frame()
    assert_allclose(summary["judged"][:2], [1, expected["new"]])
    found = report.explain(3, new="new", old="old")
    assert found.judged == (1.0, pytest.approx(np.mean([d in qrels[3] for d in runs["new"][3][:5]])))
    judged = compare_systems([1, 0], {"old": [1.0, 2], "new": [2.0, 1]}, qid=[7, 7])
    assert "udged" not in repr(judged)
    assert "judged" not in judged.summary(full=True).columns


def test_to_judge_by_brute_force():
    """Each unjudged document in turn gets the highest grade, and the metric is evaluated again."""
    qrels, runs = pools(4, share=0.4)
    qrels[0]["d1"] = 3
    for q, run in runs["old"].items():
        run.extend(d for d in reversed(runs["new"][q]) if d not in qrels[q])
        run.insert(2, run.pop())
    report = compare_systems(qrels, runs, metrics=["ndcg@5", "map"])
    for metric in ("ndcg@5", "map"):
        before = {n: r.per_query[metric] for n, r in report.results.items()}
        expected = {}
        for q in qrels:
            for d in {d for run in runs.values() for d in run[q][: 5 if metric == "ndcg@5" else None]} - {*qrels[q]}:
                again = qrels | {q: qrels[q] | {d: 3}}
                values = compare_systems(again, runs, metrics=metric).results
                after = {n: r.per_query[metric] for n, r in values.items()}
                expected[q, d] = ((after["new"] - after["old"]) - (before["new"] - before["old"]))[q]
        for q in qrels:
            table = report.explain(q, new="new", old="old", metric=metric).to_judge(100)
            assert {row[0]: row[-1] for row in table.rows} == pytest.approx(
                {d: x for (at, d), x in expected.items() if at == q}
            )
            sizes = [abs(row[-1]) for row in table.rows]
            assert sizes == sorted(sizes, reverse=True)
        table = report.to_judge(5, new="new", old="old", metric=metric)
        largest = sorted(map(abs, expected.values()), reverse=True)[:5]
        assert_allclose([abs(row[-1]) for row in table.rows], np.array(largest) / 4)
        for q, d, *_, change in table.rows:
            assert change == pytest.approx(expected[q, d] / 4)


def test_weights_of_queries_in_documents_to_judge():
    qrels, runs = pools(3, share=0.4)
    weight = {0: 0.0, 1: 1.0, 2: 3.0}
    report = compare_systems(qrels, runs, metrics="ndcg@5", sample_weight=weight)
    for q, d, *_, change in report.to_judge(100, new="new", old="old").rows:
        one = {row[0]: row[-1] for row in report.explain(q, new="new", old="old").to_judge(100).rows}
        assert change == pytest.approx(one[d] * weight[q] / 4)
        assert q > 0


def test_undefined_queries_in_documents_to_judge():
    qrels, runs = pools(3, share=0.4)
    qrels[1] = dict.fromkeys(qrels[1], 0)
    report = compare_systems(qrels, runs, metrics="map", replace_undefined_by=math.nan)
    rows = report.to_judge(100, new="new", old="old").rows
    assert {row[0] for row in rows} == {0, 2}
    for q, d, *_, change in rows:
        one = {row[0]: row[-1] for row in report.explain(q, new="new", old="old").to_judge(100).rows}
        assert change == pytest.approx(one[d] / 2)


def test_ten_documents_to_judge_by_default():
    scores = np.arange(12.0)
    report = compare_systems(
        [1] + [math.nan] * 11, {"old": scores, "new": -scores}, qid=[0] * 12, metrics="map", unjudged="nonrelevant"
    )
    for table in (
        report.explain(0, new="new", old="old").to_judge,
        lambda *n: report.to_judge(*n, new="new", old="old"),
    ):
        assert [len(table(*n).rows) for n in ((), (11,), (99,))] == [10, 11, 11]


def test_many_variants_of_a_long_list_take_little_memory():
    """3,000 lists of 2,999 documents would need 216 MB of labels, scores and queries at the same time."""
    rng = np.random.default_rng(0)
    report = compare_systems(
        rng.random(3000) < 0.5, {"old": rng.random(3000), "new": rng.random(3000)}, qid=[0] * 3000, metrics="map"
    )
    tracemalloc.start()
    try:
        report.explain(0, new="new", old="old")
        assert tracemalloc.get_traced_memory()[1] < 130e6
    finally:
        tracemalloc.stop()


# --- text ----------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*judged far less")
def test_text():
    qrels, runs = pools(25)
    names = {"old": "a" * 60 + "/old.run", "new": "a" * 60 + "/new.run"}
    runs = {names[name]: run for name, run in runs.items()}
    report = compare_systems(qrels, runs, metrics=["ndcg@5", "map"])
    for metric in ("ndcg@5", "map"):
        found = report.explain(3, **names, metric=metric)
        assert (found.query, found.grade) == (3, 1.0)
        assert max(map(len, repr(found).splitlines())) <= 100
        assert max(map(len, repr(found.to_judge()).splitlines())) <= 100
        assert found.to_frame().columns.tolist()[3:5] == [f"rank {name}" for name in names.values()]
    assert max(map(len, repr(report.to_judge(**names)).splitlines())) <= 100


def test_heads_of_printed_columns():
    labels, scores = [1, 0], ([2.0, 1], [1.0, 2])
    for names, heads in (
        (("a", "b" * 16), ("rank a", f"rank {'b' * 16}")),
        (("a", "b" * 17), ("rank a", "rank bbbbbbb..bbbbbbb")),
        (("a/b/c" * 9, "a/b/c" * 8), ("rank old", "rank new")),
    ):
        report = compare_systems(labels, dict(zip(names, scores, strict=True)), qid=[0, 0], metrics="p@1")
        found = report.explain(0, old=names[0], new=names[1])
        for text in (repr(found), repr(found.to_judge()), repr(report.to_judge(old=names[0], new=names[1]))):
            assert all(head in text for head in heads), text


@pytest.mark.parametrize(("n", "rest"), [(20, ""), (21, "Without 1 documents of smaller contributions.")])
def test_hidden_effects_have_no_sum(n, rest):
    score = np.arange(float(n))
    text = repr(explained(np.arange(n) % 3 == 0, score, -score, "map"))
    assert ("Without" in text) == (rest != "")
    assert rest in text


def test_long_lists_are_cut_in_print():
    rng = np.random.default_rng(0)
    found = explained(rng.integers(0, 3, 60).astype(float), rng.random(60), rng.random(60), "dcg")
    shown = column(found, "contribution")
    assert len(shown) == 60
    rest = sum([*shown.values()][20:])
    assert f"Without 40 documents of smaller contributions, which add {rest:.4f}." in repr(found)
    assert len(repr(found).splitlines()) == 3 + 21


def test_results_of_values_have_no_judgments():
    assert Evaluation.from_values([1, 2], {"map": [1.0, 0.5]}).judged == {}


def test_modified_documents_after_evaluate():
    qrels, runs = {"q": {"a": 1, "b": 0}}, {"old": {"q": {"b": 2.0, "a": 1.0}}, "new": {"q": {"a": 2.0, "c": 1.0}}}
    report = compare_systems(qrels, runs, metrics="ndcg")
    again = pickle.loads(pickle.dumps(report))
    qrels["q"]["z"] = 5
    with pytest.raises(ValueError, match="so they were changed since: evaluate again"):
        report.explain("q", new="new", old="old")
    assert {*column(again.explain("q", new="new", old="old"), "rank new")} == {"a", "b", "c"}


@pytest.mark.parametrize(
    ("labels", "judges_both"),
    [
        ([0] + [1] * 19, True),
        ([0] + [1] * 20, False),
        ([0] + [1] * 19 + [math.nan] * 30, True),
        ([-1] + [1] * 19, True),
        ([0.5] + [1] * 19, False),
    ],
)
def test_one_judged_document_of_twenty_is_not_relevant(labels, judges_both, tmp_path):
    result = evaluate(labels, np.arange(len(labels)), qid=[0] * len(labels), metrics="mrr", unjudged="nonrelevant")
    result.save(tmp_path / "result")
    for one in (result, result.subset([0]), Evaluation.load(tmp_path / "result")):
        assert one.judges_both is judges_both
    as_matrix = sparse.csr_array([labels])
    assert evaluate(as_matrix, np.arange(len(labels))[None], metrics="mrr", unjudged="nonrelevant").judges_both is False


@pytest.mark.parametrize("unjudged", [False, True])
def test_shares_of_empty_lists_are_saved(unjudged, tmp_path):
    y, s, qid = [1, math.nan if unjudged else 0, 1, 0], [2, 1, -math.inf, -math.inf], [0, 0, 1, 1]
    result = evaluate(y, s, qid=qid, metrics=["p@1", "p@2"], unjudged="nonrelevant")
    result.save(tmp_path / "result")
    expected = {"p@1": [1, math.nan], "p@2": [0.5 if unjudged else 1, math.nan]}
    for one in (result, Evaluation.load(tmp_path / "result")):
        np.testing.assert_equal({name: x.tolist() for name, x in one.judged.items()}, expected)
    evaluate([1, 0], [2, 1], qid=[0, 0], metrics="p@1").save(tmp_path / "all")
    with np.load(tmp_path / "result") as some, np.load(tmp_path / "all") as judged:
        assert "judged" in some
        assert "judged" not in judged


@pytest.mark.parametrize("what", ["scores", "labels", "retrieved"])
def test_shares_of_modified_data_are_unknown(what):
    """Shares of other scores would be wrong without a warning."""
    y, s = np.array([1, np.nan, 0, 1, np.nan, np.nan]), np.array([3.0, 2, 1, 3, 2, 1])
    given = {"qid": [1, 1, 1, 2, 2, 2], "metrics": "ndcg@2", "unjudged": "nonrelevant"}
    same, changed = (evaluate(y.copy(), s.copy(), **given), evaluate(y, s, **given))
    if what == "retrieved":
        y, s = np.array([1, 0, 1, 0]), np.array([3.0, -np.inf, 2, 1])
        given = {"qid": [1, 1, 2, 2], "metrics": "mrr"}
        same, changed = (evaluate(y, s.copy(), **given), evaluate(y, s, **given))
        s[:2] = s[1::-1]
        assert same.judged["mrr"].tolist() == [1, 1]
        assert changed.judged == {}
        return
    np.negative(s, out=s) if what == "scores" else y.fill(0)
    assert same.judged["ndcg@2"].tolist() == [0.5, 0.5]
    assert changed.judged == {}
