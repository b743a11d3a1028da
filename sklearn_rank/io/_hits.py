"""Hits as search libraries return them: an id and a score are read from each, and no library is imported.

Results of `semantic_search` of sentence-transformers and of Elasticsearch are dictionaries. Documents of Haystack and
LangChain, nodes of LlamaIndex, hits of pyserini and points of Qdrant are objects.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from numbers import Real
from typing import Any

from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lower_is_better import COUNTED, TOKENS, is_lower_column

IDS = (
    "corpus_id", "doc_id", "docno", "document_id", "docid", "passage_id", "item_id", "pid", "chunk_id", "product_id",
    "_id", "id",
)  # fmt: skip
SCORES = ("score", "_score", "similarity")
"""Keys: a hit has one of them, or several with one value; PyTerrier's "docid" beside "docno" is a number of its own."""
ATTRIBUTES = ("id", "node_id", "id_", "docid", "doc_id", "docno")
"""Attributes; those that stand first win."""
NAMED_SCORE = re.compile(
    r"(?:(?:(?:re)?rank(?:er|ed|ing)?|relevance|relevancy|search|semantic|vector|dense|sparse|hybrid|fusion|fused|rrf|bm|"
    r"cosine|cross|encoder|ce|colbert|retrieval|retriever|match|model|final|predicted|pred|query|similarity) )*"
    r"(?:scores?|similarity|sim|prob|probability|logits?)"
)
"""Names of scores; a score of a review or of popularity is none of them."""


def hits_of_answers(by_query: Mapping[Any, Any]) -> Mapping[Any, Any]:
    """Hits by query, if each query has an answer of Elasticsearch or OpenSearch; else the mapping unchanged."""
    if not by_query or _hits_of(next(iter(by_query.values()))) is None:
        if _hits_of(by_query) is not None:
            raise TypeError("An answer of a search engine belongs to a query: pass {query: answer}. Got an answer.")
        return by_query
    hits = {query: _hits_of(answer) for query, answer in by_query.items()}
    if failed := [query for query, of_query in hits.items() if of_query is None]:
        got = f"Got {echo(by_query[failed[0]])} for query {echo(failed[0])}."
        raise TypeError(f"Each query of the run needs an answer with hits.hits. {got}")
    return hits


def _hits_of(answer: Any) -> list[Any] | None:
    """The list in hits.hits of an answer, a dictionary or the object of Elasticsearch's client; None for others."""
    answer = getattr(answer, "body", answer)
    hits = answer.get("hits") if isinstance(answer, Mapping) else None
    hits = hits.get("hits") if isinstance(hits, Mapping) else None
    return hits if isinstance(hits, list) else None


def is_hit(entry: Any) -> bool:
    """Whether an entry of a run has an id in it, rather than being one."""
    if isinstance(entry, (tuple, list)):
        return len(entry) == 2 and isinstance(entry[1], Real) and is_hit(entry[0])
    if isinstance(entry, Mapping):
        return any(entry.get(name) is not None for name in IDS)
    # What can be hashed and has no score is an id, whatever its attributes.
    may_be_id = type(entry).__hash__ is not None and not (hasattr(entry, "score") or _named_order(_fields(entry)))
    return not may_be_id and _id_of(entry) is not None


def read_hits(query: Any, hits: list[Any]) -> list[Any]:
    """Pairs of id and score of hits, or their ids if none has a score."""
    pairs = []
    for hit in hits:
        if not is_hit(hit):
            raise TypeError(f"A list of hits must hold hits only. Got {echo(hit)} for query {echo(query)}.")
        if isinstance(hit, (tuple, list)):
            pairs.append((_id_of(hit[0]), hit[1]))
        elif isinstance(hit, Mapping):
            pairs.append((_id_of(hit), _only(hit, SCORES)))
        else:
            pairs.append((_id_of(hit), getattr(hit, "score", None)))
    without = [one for one, score in pairs if score is None]
    if without and len(without) < len(pairs):
        raise TypeError(
            "Either all hits of a query need a score or none. "
            f"Got none for document {echo(without[0])} of query {echo(query)}."
        )
    if without:
        _refuse_other_order(query, hits)
    scores = [score for _, score in pairs]
    # Searches return distances beside objects, nearest first: the order is the ranking.
    is_distance = isinstance(hits[0], (tuple, list)) and scores[0] < scores[-1] and scores == sorted(scores)
    return without or ([one for one, _ in pairs] if is_distance else pairs)


def _refuse_other_order(query: Any, hits: list[Any]) -> None:
    """Refuse hits without a score whose ranks do not rise, other scores do not fall, or distances rise and fall."""
    name = _named_order(_fields(hits[0]))
    values: list[Any] = [_fields(hit).get(name) for hit in hits] if name is not None else []
    if not all(isinstance(value, Real) for value in values):
        return
    # Inner products are called distances, too, and fall.
    may_fall, may_rise = not COUNTED.search(str(name)), is_lower_column(name)
    if not ((may_rise and values == sorted(values)) or (may_fall and values == sorted(values, reverse=True))):
        raise ValueError(
            f"Hits without a score must be in order, best first, but {echo(name)} is not: sort the hits by it. "
            f"Got {echo(values)} for query {echo(query)}."
        )


def _fields(hit: Any) -> Mapping[Any, Any]:
    """Keys of a hit, or its attributes."""
    return hit if isinstance(hit, Mapping) else getattr(hit, "__dict__", {})


def _named_order(fields: Mapping[Any, Any]) -> str | None:
    """The name of a rank or a distance; else of the only score, or of the only score of a reranker."""
    names = [name for name in fields if isinstance(name, str)]
    if (lower := next(filter(is_lower_column, names), None)) is not None:
        return lower
    scores = [name for name in names if NAMED_SCORE.fullmatch(" ".join(TOKENS.findall(name)).lower())]
    reranked = [name for name in scores if "rerank" in name.lower()]
    return (reranked or scores)[0] if len(reranked or scores) == 1 else None


def _id_of(hit: Any) -> Any:
    if isinstance(hit, Mapping):
        return _only(hit, IDS)
    return next((value for name in ATTRIBUTES if (value := getattr(hit, name, None)) is not None), None)


def _only(hit: Mapping[Any, Any], names: tuple[str, ...]) -> Any:
    """The one value of some keys of a hit; None if it has none."""
    found = [(name, value) for name in names if (value := hit.get(name)) is not None]
    for name, value in found[1:]:
        if value != found[0][1] and {name, found[0][0]} != {"docno", "docid"}:
            raise TypeError(
                f"A hit must have one id and one score. Got {echo(found[0][0])} and {echo(name)} in {echo(hit)}: make "
                "pairs of them, [(hit['id'], hit['score']) for hit in hits]."
            )
    return found[0][1] if found else None
