"""Forms that other libraries give runs and judgments: tables, rows, hits."""

import json
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from sklearn_rank import compare_systems, evaluate_run
from sklearn_rank.__main__ import main
from sklearn_rank.io import join, read_qrels, read_run

ir_measures = pytest.importorskip("ir_measures")

METRICS = ["mrr", "ndcg@2"]
JUDGED = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}
RUN = {"1": {"b": 0.9, "a": 0.8}, "2": {"x": 0.7, "c": 0.6}}
EXPECTED = evaluate_run(JUDGED, RUN, metrics=METRICS).mean()
ROWS = [(q, d, value) for q, values in RUN.items() for d, value in values.items()]
JUDGED_ROWS = [(q, d, value) for q, values in JUDGED.items() for d, value in values.items()]


def mean(judgments, run, **options):
    return evaluate_run(judgments, run, metrics=METRICS, **options).mean()


# --- tables and rows -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("of_qrels", "of_run"),
    [
        (["qid", "docno", "label"], ["qid", "docno", "score"]),  # PyTerrier
        (["query_id", "doc_id", "relevance"], ["query_id", "doc_id", "score"]),  # ir_measures
        (["query-id", "corpus-id", "score"], ["query-id", "corpus-id", "score"]),  # BEIR, MTEB
        (["userId", "movieId", "rating"], ["user_id", "item_id", "score"]),
    ],
)
def test_tables_by_the_names_that_libraries_give_columns(of_qrels, of_run):
    qrels, run = pd.DataFrame(JUDGED_ROWS, columns=of_qrels), pd.DataFrame(ROWS, columns=of_run)
    assert mean(qrels, run) == EXPECTED
    assert mean(qrels.iloc[::-1], run.iloc[::-1]) == EXPECTED
    assert mean(JUDGED, run.set_index(of_run[0])) == EXPECTED
    assert mean(qrels, RUN) == EXPECTED
    report = compare_systems(qrels, {"one": run, "other": run.copy()}, metrics=METRICS)
    assert report.results["other"].mean() == EXPECTED


def test_columns_that_are_not_meant():
    """PyTerrier's runs also have the text of the query, a document number and a rank."""
    run = pd.DataFrame(ROWS, columns=["qid", "docno", "score"]).assign(query="text", docid=range(4), rank=[1, 0] * 2)
    assert mean(JUDGED, run) == EXPECTED
    assert mean(JUDGED, run.drop(columns="score")) != EXPECTED
    assert mean(JUDGED, run.assign(rank=[0, 1] * 2).drop(columns="score")) == EXPECTED


def test_rows_of_ir_measures():
    qrels = [ir_measures.Qrel(*row) for row in JUDGED_ROWS]
    run = [ir_measures.ScoredDoc(*row) for row in ROWS]
    assert mean(qrels, run) == EXPECTED
    assert mean(iter(qrels), iter(run)) == EXPECTED
    report = compare_systems(iter(qrels), {"one": run, "other": pd.DataFrame(run)}, metrics=METRICS)
    assert report.results["one"].mean() == report.results["other"].mean() == EXPECTED


def test_tables_that_lack_a_column_or_repeat_a_document():
    run = pd.DataFrame(ROWS, columns=["qid", "docno", "score"])
    with pytest.raises(TypeError, match=r"A table as run needs .* Got 'qid', 'docno'; io\.read_run"):
        mean(JUDGED, run.drop(columns="score"))
    with pytest.raises(TypeError, match="A table as judgments needs"):
        mean(pd.DataFrame({"a": [1], "b": [2]}), RUN)
    with pytest.raises(ValueError, match="again in row 4, first in row 0"):
        mean(JUDGED, pd.concat([run, run]))
    assert mean(JUDGED, pd.concat([run, run]), duplicates="first") == EXPECTED


# --- hits ----------------------------------------------------------------------------------------------------


@dataclass
class Document:
    """As Haystack and LangChain have them: no hash."""

    id: Any
    score: Any = None
    meta: dict = field(default_factory=dict)


class Point:
    """As Qdrant has them: with a hash."""

    def __init__(self, id, score):
        self.id, self.score = id, score


def node(id, score):
    """As LlamaIndex has them."""
    return SimpleNamespace(node_id=id, score=score)


MAKERS = {
    "sentence-transformers": lambda d, s: {"corpus_id": d, "score": s},
    "Elasticsearch": lambda d, s: {"_index": "docs", "_id": d, "_score": s},
    "Haystack": Document,
    "LangChain": lambda d, s: (Document(d), s),
    "LlamaIndex": node,
    "Qdrant": Point,
    "pyserini": lambda d, s: SimpleNamespace(docid=d, score=s),
    "NumPy": lambda d, s: {"corpus_id": d, "score": np.float32(s)},
}


@pytest.mark.parametrize("library", MAKERS)
def test_hits(library):
    run = {q: [MAKERS[library](d, s) for d, s in documents.items()] for q, documents in RUN.items()}
    assert mean(JUDGED, run) == EXPECTED
    documents = join(JUDGED, run)
    assert documents.y_score[:2].tolist() == pytest.approx([0.9, 0.8])


def test_hits_with_numeric_ids():
    hits = [[{"corpus_id": 7, "score": 0.9}, {"corpus_id": 0, "score": 0.5}], []]
    result = evaluate_run({"a": {0}, "b": {1}}, dict(zip("ab", hits, strict=True)), metrics="mrr")
    assert result.per_query["mrr"].tolist() == [0.5, 0]


def test_hits_of_chunks():
    run = {"q": [Document("a#1", 0.9), Document("b#1", 0.8), Document("a#2", 0.7)]}
    options = {"document_of": lambda chunk: chunk[0], "metrics": "mrr"}
    assert evaluate_run({"q": {"b"}}, run, **options).mean() == {"mrr": 0.5}
    summed = evaluate_run({"q": {"b"}}, run, aggregate="sum", **options)
    assert summed.mean() == {"mrr": 0.5}


def test_hits_without_scores_are_sorted_best_first():
    run = {q: [Document(d) for d in documents] for q, documents in RUN.items()}
    assert mean(JUDGED, run) == EXPECTED
    with pytest.raises(ValueError, match="Got a list of ids without scores"):
        mean(JUDGED, run, document_of=str.lower, aggregate="sum")


def test_answers_of_search_engines(tmp_path):
    """Whole answers by query: hits.hits in their order, also where the engine sorted and has no scores."""

    def answer(hits):
        return {"took": 3, "hits": {"total": {"value": len(hits)}, "hits": hits}}

    run = {q: answer([{"_id": d, "_score": s} for d, s in of.items()]) for q, of in RUN.items()}
    assert mean(JUDGED, run) == EXPECTED
    assert mean(JUDGED, {q: SimpleNamespace(body=one) for q, one in run.items()}) == EXPECTED
    sorted_by_date = {q: answer([{"_id": d, "_score": None, "sort": [7]} for d in of]) for q, of in RUN.items()}
    (tmp_path / "answers.json").write_text(json.dumps(sorted_by_date))
    assert mean(JUDGED, tmp_path / "answers.json") == EXPECTED
    assert evaluate_run(JUDGED, run | {"2": answer([])}, metrics="mrr").per_query["mrr"].tolist() == [0.5, 0]
    with pytest.raises(TypeError, match=r"needs an answer with hits.hits. Got \{'error': 'timeout'\} for query '2'"):
        mean(JUDGED, run | {"2": {"error": "timeout"}})
    with pytest.raises(TypeError, match="belongs to a query"):
        mean(JUDGED, run["1"])


def test_distances_beside_documents_keep_the_order_of_the_list():
    run = {q: [(Document(d), place) for place, d in enumerate(of)] for q, of in RUN.items()}
    assert mean(JUDGED, run) == EXPECTED
    with pytest.raises(ValueError, match="descending score"):
        mean(JUDGED, {"1": [(Document("a"), 0.1), (Document("b"), 0.3), (Document("c"), 0.2)]})


def test_lists_in_a_column_or_in_json_lines(tmp_path):
    """A list of documents for each query, best first, also of hits; the name of the column does not matter."""
    lists = {"question_id": [*RUN], "retrieved": [[*of] for of in RUN.values()]}
    hits = lists | {"retrieved": [[{"id": d, "score": s} for d, s in of.items()] for of in RUN.values()]}
    judged = pd.DataFrame({"question_id": ["1", "2"], "relevant": [["a"], ["c"]]})
    for table in (lists, hits):
        path = tmp_path / "run.jsonl"
        path.write_text("".join(f"{json.dumps(row)}\n" for row in pd.DataFrame(table).to_dict("records")))
        for run in (pd.DataFrame(table), pl.DataFrame(table), path, read_run(path)):
            assert evaluate_run(judged, run, metrics="mrr").per_query["mrr"].tolist() == [0.5, 0.5]
    with pytest.raises(ValueError, match="one list of documents. Got several for '1'"):
        evaluate_run(judged, pd.DataFrame(lists | {"question_id": ["1", "1"]}))


def test_blank_grades_are_not_judged(tmp_path, capsys):
    """Quepid leaves rows blank that nobody rated."""
    path, run = tmp_path / "ratings.csv", {"tea": ["2", "1"], "cup": ["9"]}
    path.write_text("query,docid,rating\ntea,1,2\ntea,2,\ncup,9,1\n")
    assert "2 queries; 1 more without a grade" in repr(read_qrels(path))
    for judgments in (path, pd.read_csv(path, dtype={"docid": str}), pl.read_csv(path).cast({"docid": pl.String})):
        result = evaluate_run(judgments, run, metrics=["mrr", "judged@2"])
        assert result.mean() == {"mrr": 0.75, "judged@2": 0.75}
        assert "1 judgment without a grade: not judged" in " ".join(repr(result).split())
        assert "1 judgment without a grade" in repr(join(judgments, run, exclude={"tea": ["7"], "cup": ["2"]}))
    written = tmp_path / "run.json"
    written.write_text(json.dumps(run))
    main(["evaluate", str(path), str(written), "-m", "mrr"])
    assert "1 judgment without a grade: not judged" in capsys.readouterr().err
    path.write_text("query,docid,rating\ntea,1,\ntea,2,\n")
    with pytest.raises(ValueError, match="must hold finite numbers"):
        read_qrels(path)


def test_ids_that_look_like_hits():
    """Hashable hits without a score are ids."""

    @dataclass(frozen=True)
    class Key:
        id: int

    assert evaluate_run({"q": {Key(1)}}, {"q": [Key(2), Key(1)]}, metrics="mrr").mean() == {"mrr": 0.5}


@pytest.mark.parametrize(
    ("hits", "error", "message"),
    [
        ([Document("a", 0.5), "b"], TypeError, "A list of hits must hold hits only. Got 'b' for query '1'"),
        (
            [Document("a", 0.5), Document("b")],
            TypeError,
            "Either all hits of a query need a score or none. Got none for",
        ),
        ([Document("a", 0.5), Document("b", 0.9)], ValueError, "descending score"),
        ([Document("a", 0.5), Document("a", 0.4)], ValueError, "Got document 'a' 2 times for query '1'"),
        ([{"key": "a", "score": 0.5}], TypeError, "needs an id.*files.md#your-json"),
        ([Document(None, 0.5)], TypeError, "must be hashable"),
    ],
)
def test_hits_that_cannot_be_meant(hits, error, message):
    with pytest.raises(error, match=message):
        mean(JUDGED, {"1": hits, "2": ["c"]})


def test_entries_without_a_column_of_values():
    taken = pd.DataFrame({"user_id": [7, 7, 8], "item_id": [1, 2, 1]})
    entries = read_qrels(taken, qid="user_id", doc_id="item_id")
    assert entries.value.tolist() == [1, 1, 1]
    assert evaluate_run(entries, {7: [3, 2], 8: [1]}, metrics="mrr").mean() == {"mrr": 0.75}
