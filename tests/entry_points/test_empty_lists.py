"""Queries where nothing is the right answer: `replace_undefined_by="empty"`."""

import copy

import numpy as np
import pytest
from scipy.sparse import csr_array

from sklearn_rank import (
    RankingAccumulator,
    check_judgments,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    metric,
    ndcg_score,
    parse_metric,
    prepare,
)
from sklearn_rank.model_selection import make_ranking_scorer
from sklearn_rank.recommenders import make_recommender_scorer
from sklearn_rank.retrieval import evaluate_retrieval, make_retrieval_scorer, score_neighbors
from sklearn_rank.stats import no_worse

JUDGMENTS = {"a": {"x": 1, "y": 0}, "b": {"z": 0, "w": 0}, "c": {"z": 0}, "d": {}}
SILENT = {"a": ["x"], "b": [], "c": [], "d": []}
JUNK = {"a": ["x"], "b": ["z"], "c": ["v"], "d": ["u"]}
EMPTY = {"replace_undefined_by": "empty"}


@pytest.mark.parametrize(
    ("name", "best", "worst"),
    [("ndcg@10", 1, 0), ("map", 1, 0), ("mrr", 1, 0), ("recall@5", 1, 0), ("hit@1", 1, 0), ("auc", 1, 0)],
)
def test_an_empty_list_is_right_where_nothing_is_relevant(name, best, worst):
    silent, junk = (evaluate_run(JUDGMENTS, run, metrics=name, **EMPTY) for run in (SILENT, JUNK))
    first = silent.per_query[name][0]
    assert silent.per_query[name].tolist() == [first, best, best, best]
    assert junk.per_query[name].tolist() == [first, worst, worst, worst]
    assert evaluate_run(JUDGMENTS, SILENT, metrics=name).mean(name) == pytest.approx(first / 4)
    assert "score the best value if their list is empty, else the worst" in " ".join(str(junk).split())


def test_tables_and_comparisons_count_empty_lists():
    report = compare_systems(JUDGMENTS, {"silent": SILENT, "junk": JUNK}, metrics="recall@5", **EMPTY)
    assert [report.results[name].mean("recall@5") for name in ("silent", "junk")] == [1, 0.25]
    table = {"qid": [0, 0, 1, 2], "label": [1, 0, 0, 0], "score": [2.0, 1.0, -np.inf, 1.0]}
    for data in (table, [table]):
        assert evaluate_table(data, metrics="mrr", **EMPTY).per_query["mrr"].tolist() == [1, 1, 0]


def test_precision_stays_zero():
    found = evaluate_run(JUDGMENTS, SILENT, metrics=["p@1", "mrr"], **EMPTY)
    assert found.per_query["p@1"].tolist() == [1, 0, 0, 0]
    assert "score 0 in P" in " ".join(str(found).split())


def test_the_gate_and_the_check_see_empty_lists():
    judgments = {f"q{i}": {f"d{i}": int(i < 20)} for i in range(40)}
    silent = {query: [*grades] if sum(grades.values()) else [] for query, grades in judgments.items()}
    junk = {query: [*grades] for query, grades in judgments.items()}
    new, old = (evaluate_run(judgments, run, metrics="mrr", **EMPTY) for run in (junk, silent))
    gate = no_worse(new=new, old=old, margin=0.1)
    assert (gate.decision, gate.table.rows[0][1], gate.difference) == ("worse", 40, {"mrr": -0.5})
    assert "left out" not in str(gate)
    assert check_judgments(judgments, metrics="mrr(replace_undefined_by=empty)").table.rows[0][1] == 40
    assert check_judgments(judgments, metrics="mrr").table.rows[0][1] == 20


def test_where_no_list_is_empty():
    y, score, qid = [1, 0, 0], [1.0, 2, 3], [0, 0, 1]
    for call in (
        lambda: evaluate(y, score, qid=qid, metrics="mrr", **EMPTY),
        lambda: ndcg_score(y, score, qid=qid, **EMPTY),
        lambda: evaluate_table([{"label": y, "score": score, "qid": qid}], metrics="mrr", **EMPTY),
        lambda: RankingAccumulator("mrr", **EMPTY).update(y, score, qid=qid).compute(),
        lambda: compare_systems(y, {"a": score, "b": [3, 2, 1]}, qid=qid, metrics="mrr", **EMPTY),
        lambda: prepare(y, qid=qid, metrics="mrr", **EMPTY),
        lambda: evaluate(csr_array([[1, 0], [0, 0]]), csr_array([[1.0, 2], [0, 0]]), metrics="mrr", **EMPTY),
        lambda: make_ranking_scorer("ndcg@10", **EMPTY),
        lambda: make_recommender_scorer("ndcg@10", items=[1, 2], **EMPTY),
        lambda: make_retrieval_scorer("map", **EMPTY),
        lambda: evaluate_retrieval(np.eye(3), None, [1, 1, 2], metrics="map", **EMPTY),
        lambda: score_neighbors([[0.1, 0.2]], [[7, 2]], true_indices=[[2]], metrics="mrr", **EMPTY),
    ):
        with pytest.raises(ValueError, match="is for runs, tables and dictionaries"):
            call()
    retrieved = [1.0, 2, -np.inf]
    report = compare_systems(y, {"a": score, "b": retrieved}, qid=qid, metrics="mrr", **EMPTY)
    assert [report.results[name].mean("mrr") for name in "ab"] == [0.25, 0.75]
    with pytest.raises(ValueError, match="needs a metric with a lowest and a highest value"):
        evaluate_run(JUDGMENTS, SILENT, metrics="wap", **EMPTY)
    with pytest.raises(ValueError, match="no pooled mean"):
        evaluate_run(JUDGMENTS, SILENT, metrics="recall@5", average="micro", **EMPTY)
    with pytest.raises(ValueError, match="must be a float, nan or 'empty'"):
        parse_metric("mrr", replace_undefined_by="full")
    for name in ("abstention", "no_answer", "false_answer_rate", "zero_result_rate"):
        with pytest.raises(ValueError, match="replace_undefined_by=empty"):
            parse_metric(name)


def test_errors_of_an_own_metric_are_best_if_low():
    @metric("misses_of_an_empty_list", bounds=(0, 1), greater_is_better=False, undefined_when="no relevant document")
    def misses(ranked):
        return 0.5 * ranked.n_relevant, ranked.n_relevant

    found = evaluate_run(JUDGMENTS, SILENT, metrics=misses, **EMPTY)
    assert found.per_query["misses_of_an_empty_list"][1:].tolist() == [0, 0, 0]


def test_the_meaning_says_empty():
    spec = parse_metric("ndcg(replace_undefined_by=empty)@10")
    assert "replace_undefined_by=empty" in spec.meaning
    assert copy.deepcopy(spec).meaning == spec.meaning != parse_metric("ndcg@10").meaning
