"""Expected values of other projects' tests, reference programs, papers and exact enumeration.

The files and their sources are in `tests/data`. A case names a metric and its parameters as its source does;
`translate` turns both into a `Call` of this library.
"""

import gzip
import json
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._metric.metric import REGISTRY

DATA = Path(__file__).parent / "data"
TREC_RUNS = ["trec_test", "trec_trunc_complete"]


@cache
def read(name):
    """Content of a JSON file of `tests/data`, or the arrays of an .npz file. A missing file is an error."""
    if name.endswith(".npz"):
        with np.load(DATA / name) as arrays:
            return dict(arrays)
    return json.loads(unpacked(name))


def unpacked(name):
    """Bytes of a file of `tests/data`, without the compression of a .gz file."""
    content = (DATA / name).read_bytes()
    return gzip.decompress(content) if name.endswith(".gz") else content


def references(*prefixes):
    """Cases of statistics and recommender programs whose ids start with a prefix."""
    return [case for case in read("cases/references.json") if case["id"].startswith(prefixes)]


def write_trec_files(name, qrels, run):
    """Write the judgments and a run of trec_eval's collection as TREC files."""
    columns = read(f"trec/{name}.npz")
    names = ("qid", "docno", "rel", "score", "retrieved", "judged")
    rows = [*zip(*(columns[name].tolist() for name in names), strict=True)]
    qrels.write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r, _, _, judged in rows if judged))
    run.write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, _, s, retrieved, _ in reversed(rows) if retrieved))


def numbers(values, missing):
    return np.array([missing if v is None else v for v in values], dtype=float)


READS_UNJUDGED = {"bpref", "infap", "judged"}
"""Metrics that read NaN labels as what they are; all others are told that they are not relevant."""


# --- a case translated into our call ----------------------------------------------------------------------------

NAMES = {
    "ap": "map",
    "rr": "mrr",
    "fbeta": "f",
    "r_precision": "rprec",
    "arp": "relevance_position",
    "position_weighted_average": "pwa",
    "ranking_loss": "auc",  # one minus AUC, where tied pairs are wrong
    "hits": "dcg",  # the number of hits: gain 1 for a relevant document, discount 1 for each rank
}
"""Metrics with another name there; the others have ours."""


COUNT_HITS = {"gain": "binary", "discount": lambda rank: np.ones(len(rank))}
"""Keywords with which DCG is the number of hits, and nDCG that over the most hits possible."""

DISCOUNTS = {
    "log2": "log2",
    "jk": "jarvelin",
    "inverse": "reciprocal",
    "inverse+10": lambda rank: 1 / (rank + 10),
    "log10": lambda rank: 1 / np.log10(1 + rank),
}

DENOMINATORS = {
    ("ap", "n_rel"): {"denominator": "relevant"},
    ("ap", "min_k_nrel"): {"denominator": "min_k_relevant"},
    ("ap", "hits"): {"denominator": "retrieved_relevant"},
    ("ap", "k"): {"denominator": "k"},
    ("precision", "k"): {"denominator": "k"},
    ("precision", "min_k_n"): {"denominator": "min_k_n"},
    ("precision", "min_k_nrel"): COUNT_HITS,  # of nDCG: hits over the most that k ranks can hold
    ("recall", "n_rel"): {},
    ("r_precision", "n_rel"): {},
}
"""What a metric is divided by."""

TIES = {"error": {}, "reverse": {"ties": "stable"}, "block": {"precision_at": "threshold"}}

KEYWORDS = {
    "k": lambda k: {} if k is None else {"k": k},
    "threshold": lambda t: {"min_relevance": t},
    "threshold_gt": lambda t: {"min_relevance": float(np.nextafter(t, np.inf))},
    "gain": lambda gain: {"gain": gain_of(gain)},
    "discount": lambda discount: {"discount": DISCOUNTS[discount]},
    "zero": lambda zero: {"replace_undefined_by": np.nan if zero in ("skip", "nan") else zero},
    "max_grade": lambda grade: {"max_grade": grade},
    "p": lambda p: {"p": p},
    "decay": lambda decay: {"decay": decay},
    "stop_prob": lambda name: {"stop": {"identity": "label"}[name]},
    "version": lambda name: {"denominator": {"trec": "min_relevant_nonrelevant", "R": "relevant"}[name]},
    "beta": lambda beta: {"beta": beta},
    "aggregate": lambda how: {"average": {"sum": None, "micro": "micro"}[how]},
    "ties": lambda ties: TIES.get(ties, {"ties": ties}),
} | dict.fromkeys(["ideal", "graded", "denominator", "note_zero", "item_weights"], lambda _: {})
"""Our keywords for each parameter of a case; the last ones are our defaults, or looked at by `translate`."""


def gain_of(gain):
    if isinstance(gain, dict):
        return {float(grade): value for grade, value in gain.items()}
    scale = re.fullmatch(r"scale:(.*)", gain)
    return (lambda label: float(scale[1]) * label) if scale else gain


class Call(NamedTuple):
    """Our metric with keywords and, if the case needs it, a function of the data or the value."""

    name: str
    keywords: dict[str, Any]
    backwards: bool = False
    complement: bool = False

    def __call__(self, y_true, y_score, qid, **more):
        rows = slice(None, None, -1 if self.backwards else 1)
        value = REGISTRY[self.name](y_true[rows], y_score[rows], qid=qid[rows], **{**self.keywords, **more})
        return 1 - value if self.complement else value


def translate(metric, params, labels=()):
    """The call for a metric's name and parameters."""
    name, keywords, denominator = NAMES.get(metric, metric), {}, params.get("denominator")
    for parameter, value in params.items():
        keywords |= KEYWORDS[parameter](value)
    if denominator:
        keywords |= DENOMINATORS[metric, denominator]
    if params.get("graded") and not set(labels) <= {0, 1}:
        name = "opa"  # AUC over pairs of unequal grades
    if metric == "hits":
        keywords |= COUNT_HITS
    if (metric, denominator) == ("precision", "min_k_nrel"):
        name = "ndcg"
    if params.get("ideal") == "k_ones":  # divided by the DCG of k relevant documents
        weight = 1 / np.log2(1.0 + np.arange(1, params["k"] + 1))
        name, keywords = "dcg", keywords | {"discount": weight / weight.sum()}
    if metric == "coverage_error":
        keywords |= {"ties": "worst"}
    if metric == "ranking_loss":
        keywords |= {"ties": "worst", "replace_undefined_by": 1 - params["zero"]}
    return Call(name, keywords, params.get("ties") == "reverse", metric == "ranking_loss")
