"""Measure objects of ir_measures as metrics have the values of ir_measures."""

import numpy as np
import pytest

from sklearn_rank import compare_systems, evaluate_run, make_ranking_scorer, parse_metric

ir_measures = pytest.importorskip("ir_measures")
from ir_measures import AP, ERR, INST, RBP, RR, Bpref, IPrec, Judged, P, R, Rprec, SetF, SetP, SetR, Success, nDCG  # noqa: E402

MEASURES = [
    AP, AP @ 5, AP(rel=2), Bpref, Bpref(rel=2), IPrec @ 0.4, P @ 5, P(rel=2) @ 3, P(judged_only=True) @ 3, R @ 5, RR,
    RR(rel=2), Rprec, SetF, SetF(beta=0.5), SetP, SetP(rel=2), SetR, Success @ 1, Success(rel=2) @ 3, nDCG, nDCG @ 5,
    nDCG(gains={0: 0, 1: 1, 2: 5}) @ 5, nDCG(judged_only=True) @ 5,
]  # fmt: skip


def collection(seed):
    rng = np.random.default_rng(seed)
    qrels = {f"q{q}": {f"d{d}": int(rng.integers(0, 3)) for d in range(12)} for q in range(20)}
    run = {q: {f"d{d}": float(rng.integers(0, 6)) for d in rng.permutation(16)[: rng.integers(1, 16)]} for q in qrels}
    return qrels, run


@pytest.mark.parametrize("seed", range(3))
def test_numbers_match_ir_measures(seed):
    pytest.importorskip("pytrec_eval")
    qrels, run = collection(seed)
    expected = {(m.measure, m.query_id): m.value for m in ir_measures.pytrec_eval.iter_calc(MEASURES, qrels, run)}
    result = evaluate_run(qrels, run, metrics=MEASURES)
    for measure in MEASURES:
        values = dict(zip(result.qid.tolist(), result.per_query[str(measure)], strict=True))
        assert values == pytest.approx({q: expected[measure, q] for q in qrels}, abs=1e-9), measure


def test_measures_of_other_providers():
    """By hand: the only relevant document, of grade 2, is at rank 2 of two."""
    result = evaluate_run({"q": {"a": 2, "b": 0}}, {"q": ["b", "a"]}, metrics=[ERR @ 5, RBP(p=0.5, rel=1), Judged @ 2])
    assert result.mean() == pytest.approx({"ERR@5": 3 / 16 / 2, "RBP(p=0.5,rel=1)": 0.25, "Judged@2": 1})
    gains = evaluate_run({"q": {"a": 2, "b": 1}}, {"q": ["b", "a"]}, metrics=nDCG(dcg="exp-log2") @ 5)
    assert gains.mean()["nDCG(dcg='exp-log2')@5"] == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)))


def test_metrics_as_measures_in_other_calls():
    spec = parse_metric(nDCG @ 10)
    assert [spec.metric.name, spec.k, spec["gain"]] == ["ndcg", 10, "linear"]
    assert str(parse_metric(str(spec))) == str(spec)
    assert parse_metric(P(rel=2) @ 5, min_relevance=3)["min_relevance"] == 2
    assert make_ranking_scorer(AP @ 10) is not None
    qrels, run = collection(0)
    _, other = collection(1)
    report = compare_systems(qrels, {"one": run, "other": other}, metrics=[nDCG @ 5, "map"], convention="ir_measures")
    with pytest.raises(ValueError, match=r"pass convention= for all metrics.*Got nDCG@5, map\."):
        compare_systems(qrels, {"one": run}, metrics=[nDCG @ 5, "map"])
    assert [*report.results["one"].mean()] == ["nDCG@5", "map"]
    assert evaluate_run(qrels, run, metrics={"mine": nDCG @ 5}).mean()["mine"] == report.results["one"].mean()["nDCG@5"]


@pytest.mark.parametrize("measure", [INST, RBP(p=0.8), SetP(relative=True)])
def test_unsupported_measures(measure):
    with pytest.raises(ValueError, match="metrics here are AP, Bpref.*RBP needs rel=, and SetP is not relative. Got"):
        parse_metric(measure)
