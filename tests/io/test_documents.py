"""Chunks of documents: `document_of` and `aggregate` of join, evaluate_run and compare_systems."""

import io

import numpy as np
import pandas as pd
import pytest
from registry import together

from sklearn_rank import compare_systems, evaluate_run
from sklearn_rank.io import join, read_qrels, read_run

METRICS = ["mrr", "ndcg@5", "map", "recall@3"]


def document(chunk):
    return chunk.partition("#")[0]


def cases(seed, n_queries=30):
    """Judgments of documents, and a run of chunks with equal scores among them."""
    rng = np.random.default_rng(seed)
    judgments, run = {}, {}
    for q in range(n_queries):
        judgments[f"q{q}"] = {f"d{d}": int(rng.integers(0, 3)) for d in range(8)}
        chunks = [f"d{rng.integers(0, 12)}#{i}" for i in range(20)]
        run[f"q{q}"] = dict(zip(chunks, rng.integers(-3, 6, 20).tolist(), strict=True))
    return judgments, run


def by_hand(of_query, aggregate):
    """Score of each document, chunk by chunk, in the order of the chunk that represents it."""
    best = {}
    for place, (chunk, score) in enumerate(of_query.items()):
        name = document(chunk)
        if name not in best:
            best[name] = [score, place]
        elif aggregate == "sum":
            best[name][0] += score
        elif aggregate == "max" and score > best[name][0]:
            best[name] = [score, place]
    return {name: score for name, (score, _) in sorted(best.items(), key=lambda item: item[1][1])}


@pytest.mark.parametrize("ties", ["average", "stable"])
@pytest.mark.parametrize("aggregate", ["max", "first", "sum"])
def test_documents_have_the_scores_of_their_chunks(aggregate, ties):
    judgments, run = cases(1)
    expected = evaluate_run(
        judgments, {q: by_hand(chunks, aggregate) for q, chunks in run.items()}, metrics=METRICS, ties=ties
    )
    mapping = {chunk: document(chunk) for chunks in run.values() for chunk in chunks}
    for document_of in (document, mapping, pd.Series(mapping)):
        result = evaluate_run(judgments, run, document_of=document_of, aggregate=aggregate, metrics=METRICS, ties=ties)
        assert result.mean() == expected.mean()


def test_the_best_chunk_equals_the_first_place_of_the_document():
    judgments, run = cases(2)
    lists = {q: sorted(chunks, key=chunks.get, reverse=True) for q, chunks in run.items()}
    documents = {q: [*map(document, chunks)] for q, chunks in lists.items()}
    expected = evaluate_run(judgments, documents, duplicates="first", metrics=METRICS)
    for aggregate in ("max", "first"):
        result = evaluate_run(judgments, lists, document_of=document, aggregate=aggregate, metrics=METRICS)
        for name in METRICS:
            assert np.array_equal(result.per_query[name], expected.per_query[name])


def test_best_chunks_of_equal_score_tie():
    run = {"q": {"b#1": 0.9, "a#1": 0.1, "a#2": 0.9}}
    assert evaluate_run({"q": {"a"}}, run, document_of=document, metrics="mrr").mean() == {"mrr": 0.75}
    # A document has the position of its best chunk.
    stable = evaluate_run(
        {"q": {"a"}}, {"q": {"a#1": 0.1, "b#1": 0.9, "a#2": 0.9}}, document_of=document, metrics="mrr", ties="stable"
    )
    assert stable.mean() == {"mrr": 0.5}


def test_chunks_in_files_and_frames():
    judgments = read_qrels(io.BytesIO(b"q1 0 a 1\nq1 0 b 0\nq2 0 c 1\n"))
    run = read_run(io.BytesIO(b"q2 Q0 c#1 1 3 t\nq1 Q0 b#1 1 5 t\nq1 Q0 a#1 2 4 t\nq1 Q0 b#2 3 1 t\n"))
    data = join(judgments, run, document_of=document)
    assert data.doc_id.tolist() == ["b", "a", "c"]
    assert data.y_score.tolist() == [5, 4, 3]
    frame = pd.DataFrame({"qid": ["q1", "q1"], "doc_id": ["a#1", "a#2"], "score": [1.0, 2.0]})
    entries = read_run(frame, value="score")
    assert join(judgments, entries, document_of=document, aggregate="sum").y_score.tolist()[0] == 3


SCORED = {"a#1": 3.0, "b#1": 2.0, "a#2": 1.0}


@together("without", [["a#1", "b#1", "a#2"], ("b#1",)])
@together("place", [0, 1, 2])
def test_lists_without_scores_have_no_sum(without, place):
    """A single query without scores is enough, in any position."""
    of_queries = [SCORED, [*SCORED.items()]]
    of_queries.insert(place, without)
    run = dict(zip(["q1", "q2", "q3"], of_queries, strict=True))
    judgments = {query: {"a"} for query in run}
    for call in (evaluate_run, lambda judged, run, **keywords: join(judged, run, **keywords)):
        with pytest.raises(ValueError, match="aggregate='sum' adds scores"):
            call(judgments, run, document_of=document, aggregate="sum")
    values = evaluate_run(judgments, run, document_of=document, metrics="mrr").per_query["mrr"].tolist()
    assert values == [float(listed is not without or "a#1" in without) for listed in of_queries]


def test_exclude_names_documents_of_chunks():
    run = {"q": {"a#1": 3, "a#2": 2, "b#1": 1}}
    data = join({"q": {"b"}}, run, document_of=document, exclude={"q": ["a"]})
    assert data.n_excluded == (1, 0, 0)
    assert data.doc_id.tolist() == ["b"]


def test_chunks_that_were_not_retrieved_add_nothing():
    run = {"q": {"a#1": -np.inf, "a#2": 2.0, "b#1": 3.0, "c#1": -np.inf}}
    for aggregate in ("max", "first", "sum"):
        data = join({"q": {"b"}}, run, document_of=document, aggregate=aggregate)
        assert dict(zip(data.doc_id.tolist(), data.y_score.tolist(), strict=True)) == {"a": 2, "b": 3, "c": -np.inf}


def test_a_chunk_that_is_there_twice_adds_its_score_once():
    frame = {"qid": ["q"] * 4, "doc_id": ["a#1", "b#1", "a#1", "a#2"], "score": [2, 4, 1, 1]}
    run = read_run(frame, value="score", duplicates="nonrelevant")
    data = join({"q": {"b"}}, run, document_of=document, aggregate="sum")
    assert dict(zip(data.doc_id.tolist(), data.y_score.tolist(), strict=True)) == {"a": 3, "b": 4}


def test_an_empty_answer_stays_empty():
    result = evaluate_run({"q": {"a"}, "r": {"b"}}, {"q": [], "r": ["b#1"]}, document_of=document, metrics="mrr")
    assert result.per_query["mrr"].tolist() == [0, 1]


def test_several_systems():
    judgments, run = cases(3)
    _, other = cases(4)
    report = compare_systems(
        judgments, {"one": run, "other": other}, document_of=document, aggregate="sum", metrics="map"
    )
    expected = evaluate_run(judgments, other, document_of=document, aggregate="sum", metrics="map").mean()
    assert report.results["other"].mean() == expected


def test_tuples_of_document_and_number_are_chunks_of_a_mapping():
    chunks = [("a", 1), ("b", 1), ("a", 2)]
    run = {"q": chunks}
    result = evaluate_run({"q": {"b"}}, run, document_of={chunk: chunk[0] for chunk in chunks}, metrics="mrr")
    assert result.mean() == {"mrr": 0.5}
    scores = dict(zip(chunks, (1.0, 3.0, 2.0), strict=True))
    ranked = sorted(scores, key=scores.get, reverse=True)
    hits = [{"id": chunk, "score": scores[chunk]} for chunk in ranked]
    for listed in (scores, ranked, hits, [(chunk, scores[chunk]) for chunk in ranked], [{"id": one} for one in ranked]):
        assert evaluate_run({"q": {chunks[2]}}, {"q": listed}, metrics="mrr").mean() == {"mrr": 0.5}


def test_chunks_are_not_all_of_one_document():
    """A function that cuts at another character makes one document of all; small lists may have only one."""
    run = {q: [f"d{i}#{j}" for i in range(2) for j in range(2)] for q in "qr"}
    judged = {"q": {"d0"}, "r": {"d1"}}
    for wrong in (lambda chunk: chunk[0], dict.fromkeys([f"d{i}#{j}" for i in range(2) for j in range(2)], "d")):
        with pytest.raises(ValueError, match="document_of must give the document of each.* all 4 chunks of 2 quer"):
            evaluate_run(judged, run, document_of=wrong)
    assert evaluate_run(judged, run, document_of=document, metrics="mrr").mean() == {"mrr": 0.75}
    one = {"q": ["d0#0", "d0#1"], "r": ["d0#2"]}
    assert evaluate_run(judged, one, document_of=document, metrics="mrr").mean() == {"mrr": 0.5}
    alone = {"q": [f"d0#{j}" for j in range(9)]}
    assert evaluate_run({"q": {"d0"}}, alone, document_of=document, metrics="mrr").mean() == {"mrr": 1}


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"document_of": {"a#1": "a"}}, ValueError, "Got none for chunk 'b#1' of query 'q'"),
        ({"document_of": lambda c: None}, ValueError, "Got none for chunk 'a#1' of query 'q'"),
        ({"document_of": lambda c: float("nan")}, ValueError, "Got none for chunk 'a#1' of query 'q'"),
        ({"document_of": lambda c: [c]}, TypeError, "must give ids that can be hashed"),
        ({"document_of": "#"}, TypeError, "a function that takes the id of a chunk. Got str"),
        ({"document_of": document, "aggregate": "mean"}, ValueError, "'max', 'first' or 'sum'"),
        ({"document_of": document, "aggregate": "sum"}, ValueError, "Got a list of ids without scores"),
        ({"document_of": pd.Series(["a", "b"], index=["a#1"] * 2)}, ValueError, "Got chunk 'a#1' more than once"),
    ],
)
def test_chunks_to_documents_errors(options, error, message):
    run = {"q": {"a#1": 2, "b#1": 1}}
    if options.get("aggregate") == "sum":
        run = {"q": [*run["q"], "b#1"]}
        options = options | {"duplicates": "first"}
    with pytest.raises(error, match=message):
        evaluate_run({"q": {"a"}}, run, **options)


def test_judgments_and_run_are_not_exchanged():
    qrels = read_qrels(io.BytesIO(b"q 0 a 1\n"))
    with pytest.raises(ValueError, match="the judgments first, then the run"):
        join({"q": ["a#1"]}, qrels, document_of=document)
