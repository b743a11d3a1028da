"""Peers with compiled code, run in their own processes: pytrec_eval, and ir_measures, which calls it.

pytrec_eval reads uninitialized memory, so a value may depend on earlier calls in the process. All questions go to a
fresh process, and again to another; if the two answers of a peer differ, it is not compared.
"""

import os
import pickle
import shutil
import subprocess
import sys
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pytest


class Judgments(NamedTuple):
    """Rows of several queries. NaN: unjudged; -inf: unretrieved; documents with both are unknown to the peers."""

    label: np.ndarray
    score: np.ndarray
    qid: np.ndarray
    doc: np.ndarray

    def rows(self, chosen):
        return Judgments(*(column[chosen] for column in self))

    def tables(self):
        """Labels of the judged documents and scores of the retrieved ones, by query."""
        qrels, run = ({q: {} for q in self.qid.tolist()} for _ in range(2))
        for label, score, q, doc in zip(*(column.tolist() for column in self), strict=True):
            if not np.isnan(label):
                qrels[q][doc] = int(label)
            if score > -np.inf:
                run[q][doc] = score
        return qrels, run


@cache
def judgments(kind, n=300):
    """Random queries: "tied" and "distinct" scores of documents of five grades, "binary" labels with ties."""
    rng = np.random.default_rng(len(kind))
    size = rng.integers(1, 31, size=n)
    first = np.cumsum(size) - size
    label = rng.integers(0, 2 if kind == "binary" else 5, size=size.sum()) * (rng.random(size.sum()) < 0.5)
    label = label * np.repeat(rng.random(n) < 0.9, size)
    judged, retrieved = rng.random((2, size.sum())) < [[0.75], [0.8]]
    judged[first] = True  # else some peers would not know of the query
    retrieved &= np.repeat(rng.random(n) < 0.95, size)
    score = rng.permutation(size.sum()) if kind == "distinct" else rng.integers(-4, 5, size=size.sum())
    return Judgments(
        np.where(judged, label, np.nan),
        np.where(retrieved, score / 4, -np.inf),
        np.repeat(rng.permutation(n), size).astype(str),
        np.concatenate([rng.permutation(s) for s in size]).astype(str),
    )


KINDS = ["tied", "distinct", "binary"]


def at(theirs, ours):
    """A pair of names at some cutoffs, the last of them beyond every list."""
    return {theirs.format(k=k): ours.format(k=k) for k in (1, 3, 10, 50)}


TREC = {
    **{"map": "map", "recip_rank": "mrr", "ndcg": "ndcg", "set_P": "precision", "set_recall": "recall"},
    **{"num_rel_ret": "dcg", "Rprec": "rprec", "bpref": "bpref", "infAP": "infap"},
    **{"iprec_at_recall_0.50": "iprec(recall=0.5)", "11pt_avg": "11pt"},
    **at("map_cut_{k}", "map@{k}"),
    **at("P_{k}", "precision@{k}"),
    **at("recall_{k}", "recall@{k}"),
    **at("success_{k}", "hit@{k}"),
    **at("ndcg_cut_{k}", "ndcg@{k}"),
    **at("relative_P_{k}", "ndcg@{k}"),  # hits over the most that k ranks can hold
}


def trec_values(kind, level, judged_only):
    """Values of each query, by measure."""
    import pytrec_eval

    qrels, run = judgments(kind).tables()
    flags = {"relevance_level": level, "judged_docs_only_flag": judged_only}
    values = pytrec_eval.RelevanceEvaluator(qrels, set(TREC), **flags).evaluate(run)
    return {name: {q: of[name] for q, of in values.items()} for name in TREC}


def trec_f(beta_squared):
    """The same for set_F only, whose name contains the square of beta."""
    import pytrec_eval

    qrels, run = judgments("tied").tables()
    values = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F_{beta_squared}"}).evaluate(run)
    return {"set_F": {q: of["set_F"] for q, of in values.items()}}


# --- ir_measures ---------------------------------------------------------------------------------------------

GAINS = {0: 0, 1: 1, 2: 3, 3: 9, 4: 10}

IR_MEASURES = [
    ("AP", {}, "map", {}),
    ("RR", {}, "mrr", {}),
    ("RR", {"rel": 2}, "mrr", {"min_relevance": 2}),
    ("nDCG", {}, "ndcg", {}),
    ("nDCG", {"gains": GAINS, "cutoff": 5}, "ndcg@5", {"gain": GAINS}),
    ("nDCG", {"judged_only": True, "cutoff": 5}, "ndcg@5", {"unjudged": "drop"}),
    ("AP", {"judged_only": True, "rel": 3}, "map", {"min_relevance": 3, "unjudged": "drop"}),
    ("SetP", {"rel": 2}, "precision", {"min_relevance": 2}),
    ("SetR", {"rel": 2}, "recall", {"min_relevance": 2}),
    ("SetF", {"beta": 1.0}, "f1", {}),
    ("Rprec", {}, "rprec", {}),
    ("Bpref", {}, "bpref", {}),
    ("infAP", {}, "infap", {}),
    ("IPrec", {"recall": 0.3}, "iprec(recall=0.3)", {}),
    *(
        (name, {"cutoff": k} | params, f"{ours}@{k}", keywords)
        for k in (1, 3, 10, 50)
        for name, params, ours, keywords in [
            ("AP", {}, "map", {}),
            ("P", {"rel": 2}, "precision", {"min_relevance": 2}),
            ("R", {"rel": 2}, "recall", {"min_relevance": 2}),
            ("RR", {"rel": 2}, "mrr", {"min_relevance": 2}),
            ("Success", {}, "hit", {}),
            ("nDCG", {}, "ndcg", {}),
        ]
    ),
]
"""Its measure, ours, and our keywords."""

GDEVAL = [("ERR", {"cutoff": k}, f"err@{k}", {}) for k in (1, 3, 20)]
GDEVAL += [("nDCG", {"cutoff": k, "dcg": "exp-log2"}, f"ndcg@{k}", {"gain": "exp2"}) for k in (1, 3, 20)]
"""Those of a Perl program of TREC, which prints five digits."""


def ir_measure(name, params):
    import ir_measures

    return getattr(ir_measures, name)(**params)


def ir_values(kind):
    """Values of each query by measure, and their mean under None."""
    import ir_measures

    asked = [ir_measure(name, params) for name, params, *_ in IR_MEASURES + GDEVAL * bool(shutil.which("perl"))]
    means, of_query = ir_measures.calc(asked, *judgments(kind).tables())
    values = {str(measure): {None: means[measure]} for measure in asked}
    for found in of_query:
        values[str(found.measure)][found.query_id] = found.value
    return values


# --- questions and answers ---------------------------------------------------------------------------------------

SQUARES = (0.25, 1.0, 4.0)

QUESTIONS = {
    **{("trec", kind, level, only): partial(trec_values, kind, level, only)
       for kind in KINDS for level in (1, 2) for only in (False, True)},
    **{("trec F", square): partial(trec_f, square) for square in SQUARES},
    **{("ir", kind): partial(ir_values, kind) for kind in KINDS},
}  # fmt: skip
"""What is asked, each a function that returns values by measure and query."""


@cache
def asked_twice():
    """Answers of two processes to all questions; glibc fills the memory that the second process allocates."""
    command, more = [sys.executable, __file__], ({}, {"MALLOC_PERTURB_": "170"})
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, env=os.environ | one) for one in more]
    answers = [process.communicate(timeout=300)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0]
    return [pickle.loads(answer) for answer in answers]


def answer(question, measure, both=None):
    """Values by query of a peer that agrees with itself; `both` replaces the answers of the two processes."""
    first, second = (answers[question] for answers in both or asked_twice())
    if isinstance(first, ImportError):
        pytest.skip(f"this takes {first.name}")
    first, second = first[measure], second[measure]
    assert first.keys() == second.keys()
    for q, value in first.items():
        if not np.array_equal(value, second[q], equal_nan=True):
            pytest.xfail(f"The peer disagrees with itself on {measure} of query {q}: {value} and then {second[q]}.")
    return first


def answers_to_all():
    found = {}
    for question, ask in QUESTIONS.items():
        try:
            found[question] = ask()
        except ImportError as error:
            found[question] = error
    return found


if __name__ == "__main__":
    sys.stdout.buffer.write(pickle.dumps(answers_to_all()))
