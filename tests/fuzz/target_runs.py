"""Runs and judgments as search libraries and users have them are evaluated or refused."""

import json
from types import SimpleNamespace

from sklearn_rank import evaluate_run
from sklearn_rank.io import join


def check(data: bytes) -> None:
    """Two texts of JSON with a NUL between them, the judgments first; the first byte chooses keywords."""
    if not data:
        return
    asked, (judged, _, run) = data[0], data[1:].partition(b"\0")
    try:
        qrels, run = json.loads(judged), json.loads(run)
    except (ValueError, RecursionError):
        return
    if asked & 1:
        run = _with_objects(run)
    duplicates = ("raise", "first", "nonrelevant")[asked // 2 % 3]
    keywords = {"duplicates": duplicates}
    if asked & 32:
        documents = {"c1": "d1", "c2": "d1", "c3": "d2"}
        keywords |= {"document_of": documents, "aggregate": ("max", "first", "sum")[asked // 64 % 3]}
    try:
        result = evaluate_run(qrels, run, metrics=["ndcg@3"], **keywords)
        assert 0 <= result.mean()["ndcg@3"] <= 1 or result.n_undefined["ndcg@3"] == len(result.qid)
        join(qrels, run, **keywords)
    except (ValueError, TypeError) as error:
        assert len(str(error)) < 2000


def _with_objects(run):
    """Hits as objects in the place of dictionaries in lists."""
    if isinstance(run, dict):
        return {query: _with_objects(hits) for query, hits in run.items()}
    if isinstance(run, list):
        return [SimpleNamespace(**hit) if isinstance(hit, dict) and _are_names(hit) else hit for hit in run]
    return run


def _are_names(hit) -> bool:
    return all(isinstance(name, str) and name.isidentifier() for name in hit)
