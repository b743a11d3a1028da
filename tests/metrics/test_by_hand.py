"""Values by hand for keywords, single documents and single relevant documents."""

from math import inf, nan

import pytest

from sklearn_rank import evaluate


@pytest.mark.parametrize(
    ("metric", "label", "score", "value"),
    [
        ("precision(denominator=min_k_n)@5", [1], [1], 1),
        ("precision(denominator=min_k_n)@5", [1], [-inf], 0),
        ("precision(denominator=min_k_n)@2", [1, 0, 0], [3, 2, 1], 1 / 2),
        ("precision(no_relevant=undefined)@2", [1, 0, 0], [3, 2, 1], 1 / 2),
        ("cg(no_relevant=undefined)", [1, 0], [2, 1], 1),
        ("rbp(no_relevant=undefined, replace_undefined_by=7)", [0, 0], [2, 1], 7),
        ("cg(no_relevant=undefined, replace_undefined_by=7)", [0.5, 0], [2, 1], 7),
        ("cg(replace_undefined_by=7)", [0.5, 0], [2, 1], 0.5),
        ("dcg(no_relevant=undefined)@1", [1, 1], [2, 1], 1),
        ("map(denominator=retrieved_relevant)", [1, 0], [1, 2], 1 / 2),
        ("map(denominator=retrieved_relevant)", [0, 0, 1], [3, 2, -inf], 0),
        ("map(denominator=retrieved_relevant, ranks=relevant)", [0, 1, 1], [3, 2, 1], 1 / 2),
        ("map(denominator=k, ranks=relevant)", [1, 0, 1], [3, 2, 1], 1 / 3),
        ("map(precision_at=threshold, ranks=relevant)", [1, 0, 1, 1], [3, 2, 2, 1], (1 + 2 / 3) / 3),
        ("map(precision_at=threshold)", [1, 0, 1, 1], [3, 2, 2, 1], (1 + 2 / 3 + 3 / 4) / 3),
        ("map(denominator=min_k_relevant)@2", [1, 1, 1], [3, 2, 1], 1),
        ("rprec", [1, 1, 0, 0], [1, 4, 3, 2], 1 / 2),
        ("rprec(denominator=min_k_relevant)@1", [1, 1, 0, 0], [1, 4, 3, 2], 1),
        ("iprec(recall=0.35)", [1, 0, 1, 1], [4, 3, 2, 1], 3 / 4),
        ("iprec(recall=0.35, rounding=nearest)", [1, 0, 1, 1], [4, 3, 2, 1], 1),
        ("iprec(recall=0.35, rounding=cut)", [1, 0, 1, 1], [4, 3, 2, 1], 1),
        ("iprec(recall=0.5, rounding=nearest)", [1, 0, 1, 1], [4, 3, 2, 1], 3 / 4),
        ("iprec(recall=0.4, rounding=cut)", [1, 0, 1, 1], [4, 3, 2, 1], 3 / 4),
        ("iprec(recall=0)", [0, 1], [2, 1], 1 / 2),
        ("11pt", [1, 0, 0, 1], [4, 3, 2, 1], (6 + 5 / 2) / 11),
        ("infap", [0, 1], [2, 1], (1 + 1 * 1e-5 / (1 + 2e-5)) / 2),
        ("infap", [1, 0, 1], [3, 2, 1], (1 + (1 + 2 * (1 + 1e-5) / (2 + 2e-5)) / 3) / 2),
        ("judged@1", [1], [1], 1),
        ("bpref", [1, 0, 1, 0], [1, 4, 3, 2], (2 - 2 / 2 - 1 / 2) / 2),
        ("bpref(denominator=relevant)", [1, 0, 1, 0], [1, 4, 3, 2], (2 - 2 / 2 - 1 / 2) / 2),
        ("rbp_residual(p=0.5)@1", [1, 0], [2, 1], 1 / 2),
        ("rbp_residual(p=0.5)", [1], [-inf], 1),
        ("pwa@1", [3, 0], [2, 1], 3),
        ("pwa", [3, 1], [2, 1], (3 + 1 / 2) / (1 + 1 / 2)),
        ("q", [1, 2], [1, 2], (3 / 3 + 5 / 5) / 2),
        ("q(beta=2)", [1, 2], [2, 1], (3 / 5 + 8 / 8) / 2),
        ("snips(discount=reciprocal)", [1, 3], [2, 1], (1 + 3 / 2) / 4),
        ("fallout@1", [0, 1, 0], [3, 2, 1], 1 / 2),
        ("f(beta=2)@2", [0, 1, 0], [3, 2, 1], 5 / 6),
        ("set_f(threshold=1.5, beta=2)", [0, 1, 1], [3, 2, 1], 5 * 1 / (4 * 2 + 2)),
        ("set_precision(threshold=2)", [0, 1, 1], [3, 2, 1], 0),
        ("kendall(variant=a)", [1, 2, 0, 0], [4, 3, 2, 1], 3 / 6),
        ("opa", [1, 2, 0], [3, 3, 1], 2.5 / 3),
        ("rbo(p=0.5)", [2, 1], [1, 2], (1 - 0.5) * (0 + 0.5) + 0.5 * 0.5),
        ("auc(max_fpr=0.5)", [0, 1, 0, 1], [4, 3, 2, 1], (1 + (0 - 1 / 8) / (1 / 2 - 1 / 8)) / 2),
        ("auc(max_fpr=0.5)", [1, 0, 0, 1], [4, 3, 2, 1], (1 + (1 / 4 - 1 / 8) / (1 / 2 - 1 / 8)) / 2),
        ("auc(max_fpr=0.25)", [1, 0, 1, 0], [3, 2, 2, 1], (1 + 5 / 7) / 2),
        ("auc(max_fpr=0.25, tied_curve=straight)", [1, 0, 1, 0], [3, 2, 2, 1], (1 + (5 - 1) / (8 - 1)) / 2),
        ("auc", [1, 0, 1, 0], [3, 2, 2, 1], 3.5 / 4),
        ("ranking_loss", [0, 1, 0], [3, 2, 1], 1 / 2),
        ("spearman", [1, 2, 0, 0], [4, 3, 2, 1], 3.5 / (5 * 4.5) ** 0.5),
        ("mrr", [0, 1, 1], [3, 2, 1], 1 / 2),
        ("hit@3", [0, 1, 1], [3, 2, 1], 1),
        ("hit(need=all)@2", [0, 1, 1, 0], [3, 2, 1, 1], 0),
        ("recall_all@3", [0, 1, 1, 0], [3, 2, 1, 1], 1 / 2),
        ("recall_all@3", [1, 1, 1, 0, 0], [3, 2, 2, 2, 2], 1 / 6),
        ("full_recall@3", [0, 1, 1, 1], [4, 3, 2, -inf], 0),
        ("full_recall", [0, 1, 1, 0], [4, 3, 2, 1], 1),
        ("fallout@2", [1, 0, 0], [3, 2, 1], 1 / 2),
        ("set_recall(threshold=1)", [1, 1], [2, 1], 1 / 2),
        ("recall(denominator=min_k_relevant)@1", [1, 1], [2, 1], 1),
        ("recall(denominator=min_k_relevant)@3", [1, 0, 0, 1], [4, 3, 2, 1], 1 / 2),
        ("rbp(p=0.25)", [1, 1], [2, 1], 0.75 * (1 + 0.25)),
        ("rbp_residual(p=0.25)@3", [nan, 1, nan], [3, 2, 1], 0.75 * (1 + 1 / 16) + 1 / 64),
        ("relevance_position", [0, 2, 1], [3, 2, 1], 7 / 3),
        ("coverage_error", [0, 1, 1, 0], [3, 4, 1, 2], 4),
        ("wap", [2, 0, 1], [3, 2, 1], (2 / 1 + 3 / 3) / 2),
        ("nerr(max_grade=1)", [0, 1], [2, 1], (1 / 2 / 2) / (1 / 2)),
        ("pfound(decay=0.5, max_grade=1)", [1, 1], [2, 1], 1 / 2 + 1 / 2 * 1 / 2 * 1 / 2),
    ],
)
def test_metrics_by_hand(metric, label, score, value):
    assert evaluate(label, score, qid=[0] * len(label), metrics={"one": metric}).mean()["one"] == pytest.approx(value)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("alpha_dcg(alpha=0, discount=flat)", 2 + 1),
        ("alpha_dcg(alpha=0.5, discount=flat)", 1 + 1 / 2 + 1),
        ("alpha_dcg(alpha=1, discount=flat)", 1 + 1),
        ("alpha_dcg(discount=flat)@1", 1),
        ("map_ia", (2 / 2 + 1 / 2) / 2),
        ("p_ia@1", 1 / 2),
        ("p_ia(denominator=min_k_n)@9", 3 / 2 / 2),
        ("s_recall@1", 1 / 2),
        ("s_recall", 1),
        ("err_ia", (1 / 2 + 1 / 2 * 1 / 2 * 1 / 2 + 1 / 2 * 1 / 2) / 2),
        ("nrbp", (1 - 0.5 + 0.5 * 0.5) * (1 + 0.5 * 0.5 + 0.5) / 2),
        ("nrbp(alpha=1, p=0.25)", (1 - 0.25 + 0.25) * (1 + 0.25) / 2),
    ],
)
def test_subtopics_by_hand(metric, value):
    """The first document covers one subtopic, the second both; no document covers the third."""
    label = [[1, 0, 0], [1, 1, 0]]
    found = evaluate([*label, [0, 1, 0]], [2, 1, 1], qid=[0, 0, 1], metrics={"one": metric}).per_query["one"]
    assert found[0] == pytest.approx(value)
