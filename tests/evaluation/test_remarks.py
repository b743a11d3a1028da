"""Remarks under printed tables, the same in text, Markdown and HTML."""

import numpy as np
from registry import together
from sklearn.dummy import DummyRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
)
from sklearn_rank.results import Comparison, Evaluation
from sklearn_rank.retrieval import score_neighbors

RNG = np.random.default_rng(0)
QID, LABEL, SCORE = np.repeat(np.arange(12), 5), RNG.integers(0, 3, 60), RNG.random(60)
JUDGED = {q: {f"d{i}": int(i < 3) for i in range(10)} for q in range(12)}


def lists(depth, queries=JUDGED):
    return {q: [f"d{i}" for i in RNG.permutation(20)[:depth]] for q in queries}


def of_rows(score=SCORE, label=LABEL, qid=QID, metrics="map"):
    return evaluate(label, score, qid=qid, metrics=metrics)


def of_runs(a, b, metrics="map"):
    return compare_systems(JUDGED, {"a": a, "b": b}, metrics=metrics)


def of_systems(a, b, metrics="map"):
    return compare_systems(LABEL, {"a": a, "b": b}, qid=QID, metrics=metrics)


EQUAL, NO_ORDER, DEPTHS = "all scores are equal in ", "no order can change ", "lists are cut at other depths: "
ROOM, SCALE, BEST = " queries have more than ", "and max_grade is ", " is at its best in "
MOST = "the best possible mean"
REMARKS = EQUAL, NO_ORDER, DEPTHS, ROOM, SCALE, BEST, MOST
TWO_OF_TEN, MANY = np.tile([1, 1, *[0] * 8], 24), np.repeat(np.arange(24), 10)
DOWN = np.tile(np.arange(10.0)[::-1], 24)
UNSETTLED = np.where(MANY < 2, 0, TWO_OF_TEN)
NEAR = np.array([RNG.permutation(12)[:4] for _ in range(12)])
CASES = {
    "equal": (lambda: of_rows(np.ones(60)), EQUAL + "12 of 12 queries"),
    "equal in each": (lambda: of_rows(QID / 7), EQUAL + "12 of 12 queries"),
    "equal but once": (lambda: of_rows(np.append(np.ones(59), 0)), ""),
    "one document each": (lambda: of_rows(SCORE[:12], LABEL[:12], np.arange(12), "dcg"), ""),
    "within": (lambda: of_rows(metrics=["recall@5", "p@5", "ndcg@5"]), NO_ORDER + "Recall@5, P@5: no list has more"),
    "beyond": (lambda: of_rows(metrics=["recall@4", "mrr@5"]), ""),
    "not retrieved": (lambda: evaluate_run(JUDGED, lists(5), metrics="recall@20"), NO_ORDER + "Recall@20: no list has"),
    "not all retrieved": (lambda: evaluate_run(JUDGED, lists(5), metrics=["recall@4", "ndcg@20"]), ""),
    "neighbors": (lambda: score_neighbors(None, NEAR, true_indices=NEAR[:, ::2], metrics="p@4"), NO_ORDER + "P@4: no"),
    "pieces": (lambda: evaluate_table([(LABEL, SCORE, QID)], metrics="p@5"), NO_ORDER + "P@5: no list has more than 5"),
    "updates": (lambda: RankingAccumulator("p@5").update(LABEL, SCORE, QID).compute(), NO_ORDER + "P@5: no list has"),
    "a scale": (lambda: of_rows(metrics="err"), "labels reach 2 and max_grade is 4 in ERR; with max_grade=2 ERR is 0."),
    "a scale that is given": (lambda: of_rows(metrics="err(max_grade=4)"), ""),
    "a scale of systems": (lambda: of_systems(SCORE, -SCORE, "err"), "and max_grade is 4 in ERR; a: with max_grade=2"),
    "saturated": (lambda: of_rows(DOWN, TWO_OF_TEN, MANY, "mrr@5"), "MRR@5" + BEST + "24 of 24 queries"),
    "saturated error": (lambda: of_rows(TWO_OF_TEN, TWO_OF_TEN, MANY, "rmse"), "RMSE" + BEST + "24 of 24 queries"),
    "saturated but for two": (lambda: of_rows(DOWN, UNSETTLED, MANY, "mrr@5"), "MRR@5" + BEST + "22 of 24 queries"),
    "capped": (lambda: of_rows(DOWN, TWO_OF_TEN, MANY, "p@5"), MOST + " of P@5 is 0.4000"),
    "capped systems": (
        lambda: compare_systems(TWO_OF_TEN, {"a": DOWN, "b": 2 * DOWN}, qid=MANY, metrics="p@5"),
        "averaged; " + MOST + " of P@5 is 0.4000",
    ),
    "not capped": (lambda: of_rows(DOWN - 2.5 * TWO_OF_TEN, TWO_OF_TEN, MANY, ["p@3", "mrr@9"]), ""),
    "few at their best": (lambda: of_rows(DOWN[:190], TWO_OF_TEN[:190], MANY[:190], "mrr@5"), ""),
    "no room": (lambda: of_rows(metrics="recall_all@2"), ROOM + "2 relevant documents and count as 0 in Full recall@2"),
    "room": (lambda: of_rows(metrics=["recall_all", "hit@1"]), ""),
    "room for judged": (lambda: evaluate_run(JUDGED, lists(5), metrics="hit(need=all)@2"), "12 of 12" + ROOM + "2"),
    "one of two": (lambda: of_systems(SCORE, np.ones(60)), "b: " + EQUAL),
    "both": (lambda: of_systems(np.ones(60), QID), "0; " + EQUAL),
    "depths": (lambda: of_runs(lists(5), lists(8)), DEPTHS + "a 5, b 8"),
    "one depth": (lambda: of_runs(lists(5), lists(5)), ""),
    "depths below the cutoff": (lambda: of_runs(lists(5), lists(8), "p@4"), ""),
    "no depth": (lambda: of_runs({q: lists(q + 2, [q])[q] for q in JUDGED}, lists(8)), ""),
}  # fmt: skip


@together("case", CASES)
def test_remarks(case, tmp_path):
    make, remark = CASES[case]
    result = make()
    assert remark in result._footer()
    assert not any(one in result._footer() for one in REMARKS if one not in remark)
    result.save(tmp_path / "result")
    assert type(result).load(tmp_path / "result")._footer() == result._footer()
    texts = [repr(result), result._repr_html_(), *([result.to_markdown()] if isinstance(result, Evaluation) else [])]
    assert all(remark in " ".join(text.split()) for text in texts)


def test_frozen_models_are_named(tmp_path):
    X, fitted = RNG.random((60, 2)), Ridge().fit(RNG.random((60, 2)), SCORE)
    models = {
        "frozen": FrozenEstimator(fitted), "ranker": QueryRanker(FrozenEstimator(fitted)),
        "pipeline": make_pipeline(StandardScaler(), FrozenEstimator(fitted)),
        "features": make_pipeline(FrozenEstimator(StandardScaler().fit(X)), Ridge()), "dummy": DummyRegressor(),
    }  # fmt: skip
    found = RankingEvaluator("map", cv=2).compare(models, X, LABEL, qid=QID)
    assert found.frozen == ("frozen", "ranker", "pipeline")
    found.save(tmp_path / "found")
    for report in (found, Comparison.load(tmp_path / "found")):
        assert report._footer().endswith("frozen, not fitted in the folds: frozen, ranker, pipeline")


def test_as_many_relevant_documents_as_the_cutoff_can_all_be_found():
    given = {"qid": [0, 0, 0, 1, 1, 1], "metrics": "recall_all@2"}
    assert "than" not in str(evaluate([1, 1, 0, 1, 0, 0], [3, 1, 2, 1, 3, 2], **given))
    assert "1 of 2 queries" in str(evaluate([1, 1, 1, 1, 0, 0], [3, 1, 2, 1, 3, 2], **given))
