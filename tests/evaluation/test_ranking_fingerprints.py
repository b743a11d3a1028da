"""Fingerprints of ranked lists are equal exactly for the same documents in the same order with the same ties."""

import numpy as np
import pytest

from sklearn_rank import evaluate, evaluate_run
from sklearn_rank.results import Evaluation

QUERIES, DOCUMENTS = 6, 5
QRELS = {f"q{i}": {f"d{j}": (i + j) % 2 for j in range(DOCUMENTS)} for i in range(QUERIES)}
RUN = {q: {d: float((3 * j + i) % 4) for j, d in enumerate(of_query)} for i, (q, of_query) in enumerate(QRELS.items())}


def of_run(run):
    return evaluate_run(QRELS, run, metrics="mrr").ranking_fingerprints.tolist()


def changed(**documents):
    return RUN | {"q2": RUN["q2"] | documents}


SAME = {
    "order of the input": {q: dict(reversed(docs.items())) for q, docs in RUN.items()},
    "scores by a monotone function": {q: {d: np.exp(s) - 9 for d, s in docs.items()} for q, docs in RUN.items()},
}
OTHER = {  # scores of q2: d0 2, d1 1, d2 0, d3 3, d4 2
    "two documents swapped": changed(d0=1.0, d1=2.0),
    "a tie broken": changed(d0=2.5),
    "another tie": changed(d1=2.0),
    "a tie of other documents": changed(d0=1.0, d1=1.0, d4=2.0),
    "another document": changed(d9=-1.0),
    "a document less": RUN | {"q2": {d: s for d, s in RUN["q2"].items() if d != "d2"}},
    "two documents less": RUN | {"q2": {d: s for d, s in RUN["q2"].items() if d not in ("d1", "d2")}},
    "another id": RUN | {"q2": {f"{d}a" if d == "d4" else d: s for d, s in RUN["q2"].items()}},
}


@pytest.mark.parametrize("run", SAME.values(), ids=SAME)
def test_same_lists(run):
    assert of_run(run) == of_run(RUN)
    assert len({*of_run(RUN)}) > 1


@pytest.mark.parametrize("run", OTHER.values(), ids=OTHER)
def test_other_lists(run):
    assert [a != b for a, b in zip(of_run(run), of_run(RUN), strict=True)] == [i == 2 for i in range(QUERIES)]


def test_ids_of_numbers_and_text():
    for make in (int, lambda number: ("a", number), lambda number: f"é{number}"):
        run = {q: {make(int(d[1:])): s for d, s in docs.items()} for q, docs in RUN.items()}
        qrels = {q: {make(int(d[1:])): s for d, s in docs.items()} for q, docs in QRELS.items()}
        found = evaluate_run(qrels, run, metrics="mrr").ranking_fingerprints
        swapped = {q: docs | {make(0): docs[make(1)], make(1): docs[make(0)]} for q, docs in run.items()}
        assert (found != evaluate_run(qrels, swapped, metrics="mrr").ranking_fingerprints).all()


def test_rows_are_identified_by_position(rng, tmp_path):
    y, score, qid = rng.integers(0, 2, 60), rng.random(60), np.repeat(range(6), 10)
    result = evaluate(y, score, qid=qid, metrics="hit@10")
    matrix = evaluate(y.reshape(6, 10), score.reshape(6, 10) * 3, metrics="hit@10")
    assert result.ranking_fingerprints.tolist() == matrix.ranking_fingerprints.tolist()
    result.save(tmp_path / "saved")
    loaded = Evaluation.load(tmp_path / "saved")
    assert loaded.ranking_fingerprints.tolist() == result.ranking_fingerprints.tolist()
    swapped = score.copy()
    swapped[[3, 4]] = score[[4, 3]]
    other = evaluate(y, swapped, qid=qid, metrics="hit@10").ranking_fingerprints
    assert np.flatnonzero(other != result.ranking_fingerprints).tolist() == [0]


def test_unknown_lists(rng):
    """Only values, subsets, sparse matrices, changed scores, and positions that only encode the rank."""
    y, score = rng.integers(0, 2, (6, 10)), rng.random((6, 10))
    result = evaluate(y, score, metrics="hit@10")
    assert Evaluation.from_values(range(6), result.per_query).ranking_fingerprints is None
    assert result.subset([1, 2]).ranking_fingerprints is None
    by_rank = np.argsort(-score, axis=1)
    ranked = evaluate(np.take_along_axis(y, by_rank, 1), np.take_along_axis(score, by_rank, 1), metrics="hit@10")
    assert ranked.ranking_fingerprints is None
    sparse = pytest.importorskip("scipy.sparse")
    assert evaluate(sparse.csr_array(y), sparse.csr_array(score), metrics="hit@10").ranking_fingerprints is None
    score = score.ravel()
    result = evaluate(y.ravel(), score, qid=np.repeat(range(6), 10), metrics="hit@10")
    score[7] += 1
    assert result.ranking_fingerprints is None
