"""Ids that are blank, or have two spellings, are refused in every form; odd ids that are ids are not."""

import datetime
import io
import itertools
import json
import re
import uuid

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from misuse_cases import seen
from recommenders import Factors

from sklearn_rank import (
    InteractionRecommender,
    LeaveLastOut,
    QueryKFold,
    RankingAccumulator,
    evaluate,
    evaluate_run,
    evaluate_table,
    group_sizes,
    prepare,
    stats,
)
from sklearn_rank.io import join, read_qrels, read_run
from sklearn_rank.results import Evaluation
from sklearn_rank.retrieval import score_neighbors

WRONG = {
    "empty": (["", "a", "b"], "Ids must not be blank.* Got ''"),
    "blank": (["\u3000", "a", "b"], r"Ids must not be blank.* Got '\\u3000'"),
    "blanks around": (["q7", "q7 ", "b"], "An id must have one spelling.* Got 'q7 ?' and 'q7 ?'"),
    "a blank beyond ASCII": (["q7", "q7\xa0", "é"], "An id must have one spelling.* Got 'q7"),
    "a number and its text": ([7, "7", "b"], "Ids must be of one type.* Got 7 and '7'"),
    "a float and its text": (["7", 7.0, "b", 3], "Ids must be of one type.* Got 7.0 and '7'"),
}
RIGHT = {
    "zeros": ["01", "1", "1.0"],
    "numbers beside other texts": [1, "2", 3, "d4"],
    "whole numbers of any size": [2**70, -5, 0, 7],
    "words": ["NA", "null", "de", "fr", "undefined", "at"],
    "dots and case": ["a.", "a", "aB", "ab"],
    "blanks inside": ["red shoes", "red  shoes", " red"],
    "letters": ["é", "日本", "\U0001f600"],
    "hex": [uuid.UUID(int=7), uuid.UUID(int=8)],
    "other types": [datetime.date(2020, 1, 1), "2020-01-01", (1, "a"), ("1", "a")],
    "a boolean's text": ["True", "no", 7],
}
"""Ids that are no mistake."""


SPELLED = ["ids in another spelling"]
"""01 and 1 on two sides."""


def objects(ids):
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    return array


def rows(ids, make=objects, **more):
    """Arguments of `evaluate` with two rows of each query."""
    twice = [one for one in ids for _ in range(2)]
    return {"y_true": [1, 0] * len(ids), "y_score": [0.5, 0.25] * len(ids), "qid": make(twice), "metrics": "mrr"} | more


def properties(name, ids):
    return evaluate(**rows([*range(len(ids))], **{name: objects([one for one in ids for _ in range(2)])}))


def accumulated(ids):
    accumulator = RankingAccumulator("mrr")
    for one in ids:
        accumulator.update([1, 0], [0.5, 0.25], qid=objects([one] * 2))
    return accumulator.compute()


def interactions(ids, what):
    n = 2 * len(ids)
    X = np.empty((n, 2), dtype=object)
    X[:, 0], X[:, 1] = objects([*ids, *ids]), objects([*range(n)])
    return X[:, ::-1] if what == "item" else X


def compared(ids):
    """Two systems whose results have other ids."""
    one, other = (evaluate(**rows([*some, 100, 101, "z"])) for some in (ids[:1], ids[1:2]))
    return stats.compare(one, other, missing=0.0)


def as_batches(ids):
    return evaluate_table([([1, 0], [0.5, 0.25], objects([one] * 2)) for one in ids], metrics="mrr")


TEXT = {
    "array of text": np.array,
    "StringDType": lambda ids: np.array(ids, dtype=np.dtypes.StringDType()),
    "Categorical": pd.Categorical,
    "string": lambda ids: pd.Series(ids, dtype="string"),
    "polars": pl.Series,
    "Arrow": pa.array,
}
QUERIES = {
    "list": lambda ids: evaluate(**rows(ids, list)),
    "array of objects": lambda ids: evaluate(**rows(ids)),
    "Series": lambda ids: evaluate(**rows(ids, lambda ids: pd.Series(ids, dtype=object))),
    **{name: lambda ids, make=make: evaluate(**rows(ids, make)) for name, make in TEXT.items()},
    "bytes": lambda ids: evaluate(**rows([*map(str.encode, ids)])),
    "frame": lambda ids: evaluate_table(
        pd.DataFrame({"label": 0.0, "score": range(len(ids)), "qid": objects(ids)}), metrics="mrr"
    ),
    "batches": as_batches,
    "accumulator": accumulated,
    "prepare": lambda ids: prepare([1, 0] * len(ids), qid=rows(ids)["qid"], metrics="mrr"),
    "sizes": lambda ids: group_sizes(objects(ids)),
    "splitter": lambda ids: [*QueryKFold(2).split(np.zeros((len(ids), 1)), groups=objects(ids))],
    "segments": lambda ids: properties("by", ids),
    "clusters": lambda ids: properties("clusters", ids),
    "two systems": compared,
    "values": lambda ids: Evaluation.from_values(ids, {"mrr": [0.5] * len(ids)}),
    "retrieval": lambda ids: score_neighbors(
        np.ones((len(ids), 1)), [[1]] * len(ids), true_indices=[[1]] * len(ids), query_ids=objects(ids), metrics="mrr"
    ),
    "judgments and run": lambda ids: evaluate_run(
        {one: {"a": 1} for one in [ids[0], *ids[2:], "z"]}, {one: {"a": 1.0} for one in [*ids[1:], "z"]}, metrics="mrr"
    ),
    "judgments only": lambda ids: evaluate_run({one: {"a": 1} for one in ids}, {ids[-1]: {"a": 1.0}}, metrics="mrr"),
    "users": lambda ids: [*LeaveLastOut().split(interactions(ids, "user"), time=[*range(2 * len(ids))])],
    "items": lambda ids: InteractionRecommender(Factors()).fit(interactions(ids, "item")),
}
ONLY_TEXT = {*TEXT, "bytes"}


def hits(documents):
    return {"q": [{"id": one, "score": -float(i)} for i, one in enumerate(documents)]}


def table(documents, value, make=pd.DataFrame):
    return make({"qid": ["q"] * len(documents), "doc_id": documents, value: [1.0 - i for i in range(len(documents))]})


def entries(judged, run):
    return read_qrels(table(judged, "label"), value="label"), read_run(table(run, "score"), value="score")


def lines(documents, value):
    rows = [json.dumps({"qid": "q", "doc_id": one, value: 1.0 - i}) for i, one in enumerate(documents)]
    return io.BytesIO("\n".join(rows).encode())


def commas(documents, value):
    return io.BytesIO(table(documents, value).to_csv(index=False, quoting=1).encode())


PADDING = ["".join(letters) for letters in itertools.product("abcdef", repeat=3)]
DOCUMENTS = {
    "dictionaries": lambda j, r: ({"q": dict.fromkeys(j, 1)}, {"q": {one: 1.0 - i for i, one in enumerate(r)}}),
    "long dictionaries": lambda j, r: tuple({"q": dict.fromkeys([*PADDING, *ids], 1)} for ids in (j, r)),
    "lists": lambda j, r: ({"q": j}, {"q": r}),
    "long lists": lambda j, r: ({"q": [*PADDING, *j]}, {"q": [*PADDING, *r]}),
    "pairs": lambda j, r: ({"q": {*j}}, {"q": [(one, 1.0 - i) for i, one in enumerate(r)]}),
    "hits": lambda j, r: ({"q": j}, hits(r)),
    "frames": lambda j, r: (table(j, "label"), table(r, "score")),
    "Entries": entries,
    "JSON lines": lambda j, r: (read_qrels(lines(j, "label")), read_run(lines(r, "score"))),
    "commas": lambda j, r: (read_qrels(commas(j, "label")), read_run(commas(r, "score"))),
}


def raises(call, message):
    with pytest.raises(ValueError, match=message) as raised:
        call()
    return str(raised.value)


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("form", QUERIES)
def test_queries_segments_and_users_that_are_blank_or_spelled_twice(form, case):
    ids, message = WRONG[case]
    are_text = {*map(type, ids)} == {str}
    if (are_text or form not in ONLY_TEXT) and not (form == "bytes" and not "".join(ids).isascii()):
        if case in ("empty", "blank") and form == "two systems":
            ids = ids[:2]
        raises(lambda: QUERIES[form](ids), message.replace("'q7", "b?'q7").replace("''", "b?''"))


@pytest.mark.parametrize("form", QUERIES)
def test_odd_queries_that_are_ids(form):
    for ids in RIGHT.values():
        if form not in ONLY_TEXT or {*map(type, ids)} == {str}:
            assert seen(QUERIES[form], ids) in (([], ""), (SPELLED if form == "judgments and run" else [], "")), ids


@pytest.mark.parametrize("case", WRONG)
@pytest.mark.parametrize("form", DOCUMENTS)
def test_documents_that_are_blank_or_spelled_twice(form, case):
    """Both spellings on one side, or one on each."""
    ids, message = WRONG[case]
    if form == "commas" and ({*map(type, ids)} != {str} or case == "empty"):
        return
    one, other, *rest = ids
    sides = [(ids, ["b"]), (["b"], ids), ([one, *rest, "x", 0], [other, *rest, "x", 0])][: 2 if form == "commas" else 3]
    for judged, run in sides:
        raises(lambda: evaluate_run(*DOCUMENTS[form](judged, run), metrics="mrr"), message)  # noqa: B023
        raises(lambda: join(*DOCUMENTS[form](judged, run)), message)  # noqa: B023


@pytest.mark.parametrize("form", DOCUMENTS)
def test_odd_documents_that_are_ids(form):
    for name, ids in RIGHT.items():
        if form not in ("JSON lines", "commas", "pairs") or {*map(type, ids)} == {str}:
            if name != "other types":
                assert seen(evaluate_run, *DOCUMENTS[form](ids, ids), metrics="mrr") == ([], ""), ids


def test_ids_in_batches_with_blanks_around():
    """Blanks around one id of a stream are seen at its end."""
    for call in (as_batches, accumulated):
        raises(lambda: call([f"q{i}" for i in range(50)] + ["q7 "]), re.escape("Got 'q7' and 'q7 '"))  # noqa: B023
