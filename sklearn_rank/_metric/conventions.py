"""Choices of other systems as keywords of metrics, the table behind ``convention=``; and trec_eval's names.

"" holds for all metrics of a system, a metric's name for that metric; a keyword that a metric does not have is left
out, and one that the caller gives wins. `docs/conventions/README.md` shows the numbers that come of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

ABOVE_HALF = float(np.nextafter(0.5, 1))
"""`min_relevance` where the rule is ``label > 0.5``."""

LINEAR = {"gain": "linear"}
BINARY = {"gain": "binary"}
INPUT_ORDER = {"ties": "stable"}
NOT_JUDGED_IS_NOT_RELEVANT = {"unjudged": "nonrelevant", "negative": "unjudged"}
NEGATIVE_IS_PADDING = {"unjudged": "drop", "negative": "unjudged"}
AS_MANY_AS_POSSIBLE = {"denominator": "min_k_relevant"}
ALL_RETRIEVED = {"threshold": float("-inf")}
AS_LONG_AS_THE_LIST = {"denominator": "min_k_n"}
POOLED_PAIRS_TIES_WRONG = {"ties": "worst", "average": "micro"}

CONVENTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "sklearn": {
        "dcg": LINEAR,
        "ndcg": LINEAR,
        "map": {"precision_at": "threshold"},  # average_precision_score; the alias "lrap" is the label ranking one
        "coverage_error": {"ties": "worst"},
        "auc": {"tied_curve": "straight", "replace_undefined_by": float("nan")},
        "ranking_loss": {"ties": "worst"},
    },
    # Ties by descending document id: evaluate_run has the ids, other calls take them as tie_break.
    "trec_eval": {
        "": INPUT_ORDER | NOT_JUDGED_IS_NOT_RELEVANT,
        "dcg": LINEAR,
        "ndcg": LINEAR,
        "iprec": {"rounding": "nearest"},  # version 10; "cut" in version 9 and pytrec_eval
        "rbp": {"p": 0.9},
        "rbp_residual": {"p": 0.9},
        "set_precision": ALL_RETRIEVED,
        "set_recall": ALL_RETRIEVED,
        "set_f": ALL_RETRIEVED,
    },
    # pytrec_eval's order of ties, but RR@k and Judged@k break them by ascending document id.
    "ir_measures": {
        "": INPUT_ORDER | NOT_JUDGED_IS_NOT_RELEVANT,
        "dcg": LINEAR,
        "ndcg": LINEAR,
        "iprec": {"rounding": "cut"},
        "set_precision": ALL_RETRIEVED,
        "set_recall": ALL_RETRIEVED,
        "set_f": ALL_RETRIEVED,
    },
    "ranx": {"": INPUT_ORDER | NOT_JUDGED_IS_NOT_RELEVANT, "dcg": LINEAR, "ndcg": LINEAR},
    "lightgbm": {
        "": INPUT_ORDER | {"min_relevance": ABOVE_HALF, "replace_undefined_by": 1},
        "map": AS_MANY_AS_POSSIBLE,
    },
    "xgboost": {
        "": INPUT_ORDER | {"replace_undefined_by": 1},
        "map": AS_MANY_AS_POSSIBLE,
        "precision": AS_LONG_AS_THE_LIST,
    },
    "catboost": {
        "": {"ties": "worst", "min_relevance": ABOVE_HALF},
        "dcg": LINEAR,
        "ndcg": LINEAR | {"replace_undefined_by": 1},
        "acg": AS_LONG_AS_THE_LIST,
        "recall": {"replace_undefined_by": 1},
        "map": AS_MANY_AS_POSSIBLE,
        "precision": AS_LONG_AS_THE_LIST,
        "auc": {"ties": "average"},
        "opa": POOLED_PAIRS_TIES_WRONG,
        "err": {"stop": "label"},
        "pfound": {"stop": "label"},
    },
    "torchmetrics": {
        "": INPUT_ORDER,
        "ndcg": LINEAR | {"ties": "average"},
        "map": {"denominator": "retrieved_relevant"},
        "precision": {"no_relevant": "undefined"},  # so that replace_undefined_by is its empty_target_action
        "auc": {"ties": "average", "tied_curve": "straight"},
        "fallout": {"replace_undefined_by": 1},
    },
    # Ties are shuffled there, anew at each call: the average is their expectation.
    "tf_ranking": {
        "": NEGATIVE_IS_PADDING,
        "precision": AS_LONG_AS_THE_LIST,
        "p_ia": AS_LONG_AS_THE_LIST,
        "relevance_position": {"average": "micro"},
        "opa": POOLED_PAIRS_TIES_WRONG,
    },
    "rax": {"": INPUT_ORDER, "precision": AS_LONG_AS_THE_LIST, "opa": {"ties": "worst"}},
    # As Rax, but ties are shuffled, as in TF-Ranking.
    "keras_rs": {"": NEGATIVE_IS_PADDING, "precision": AS_LONG_AS_THE_LIST},
    "spark": {"": INPUT_ORDER, "ndcg": BINARY, "map": AS_MANY_AS_POSSIBLE},
    "recbole": {"dcg": BINARY, "ndcg": BINARY, "map": AS_MANY_AS_POSSIBLE},  # torch.topk: ties in no order
    "replay": {"": INPUT_ORDER, "dcg": BINARY, "ndcg": BINARY, "map": AS_MANY_AS_POSSIBLE},
    "lenskit": {
        "": INPUT_ORDER,
        "dcg": BINARY | {"discount": "jarvelin"},
        "ndcg": BINARY | {"discount": "jarvelin"},
        "map": AS_MANY_AS_POSSIBLE,
        "precision": AS_LONG_AS_THE_LIST,
        "recall": AS_MANY_AS_POSSIBLE,
        "rbp": {"p": 0.85},
    },
}


ID_ORDER = "ties by document id, highest first"
"""Remark on the order of documents of equal score."""
BY_DOCUMENT_ID = frozenset({"trec_eval", "ir_measures"})
"""Conventions that order equal scores by descending document id."""


def keywords_of(convention: str, metric: str) -> dict[str, Any]:
    """Keywords that a system's convention sets for a metric."""
    table = CONVENTIONS[convention]
    return table.get("", {}) | table.get(metric, {})


TREC_EVAL_NAMES: dict[str, Callable[..., str]] = {
    r"P[._](\d+)": "precision@{}".format,
    r"recall[._](\d+)": "recall@{}".format,
    r"relative_P[._](\d+)": "recall(denominator=min_k_relevant)@{}".format,
    r"success[._](\d+)": "hit@{}".format,
    r"(map|ndcg)_cut[._](\d+)": "{}@{}".format,
    r"recip_rank": "mrr".format,
    r"11pt_avg": "11pt".format,
    r"iprec_at_recall[._](\d+(?:\.\d*)?)": "iprec(recall={})".format,
    r"set_F[._](\d+(?:\.\d*)?)": lambda x: f"set_f(beta={float(x) ** 0.5})",  # x is beta squared
    r"rbp[._]p=(\d*\.?\d+)": "rbp(p={})".format,
    r"rbp_resid": "rbp_residual".format,
}
"""Measures that trec_eval prints (9 and 10: measures.c and m_*.c), and their names here where these differ."""

GAIN = r"\d+=[-+]?(?:\d+\.?\d*|\.\d+)"
GAIN_TABLE = rf"(n?dcg)[._]({GAIN}(?:,{GAIN})*)"
PRINTED = "which the command line prints with --convention trec_eval"
NOT_HERE: dict[str, str] = {
    r"(?:P|recall|success|relative_P|(?:map|ndcg)_cut|unj|iprec_at_recall|Rprec_mult|set_F)(?:[._].*,.*)?": (
        "is measured at several values of its parameter: name each by itself, as in 'map_cut_10'"
    ),
    r"official|set|all_trec": f"is a set of measures, {PRINTED}",
    r"num_(?:q|ret|rel|rel_ret|nonrel_judged_ret)": f"is a count, {PRINTED}; it has no mean",
    r"unj[._]\d+": f"is the share of the first k without a judgment, {PRINTED}: 1 - judged@k if the list is as long",
    r"Rprec_mult[._].*": f"is precision at a multiple of R, {PRINTED}",
    r"set_map": f"is the product of set_precision and set_recall, {PRINTED}",
    r"set_relative_P": f"is the hits over the most that a list as long could hold, {PRINTED}: recall_at_k_score with "
    "denominator='min_k_relevant' and that length as k",
    r"ideal_dcg": f"is what ndcg divides by, {PRINTED}",
    r"utility(?:[._].*)?": f"is a sum of counts with coefficients, {PRINTED}",
    r"binG": f"is an experiment that only trec_eval has, {PRINTED}",
    r"G(?:[._].*)?|Rndcg(?:[._].*)?|ndcg_rel(?:[._].*)?|yaap": "is an experiment that only trec_eval has",
    r"(?:all_)?prefs(?:_.*)?|qrels_jg|.*_avgjg(?:[._].*)?": "needs preferences or judgments of several people, which "
    "labels of documents are not",
    r"runid|relstring(?:[._].*)?": "is a word, not a number",
    r"n?dcg\..*|n?dcg_\d.*=.*": "takes a gain for each level that is listed, as in 'ndcg.1=3,2=9.5'",
    r"rbp[._].*": "takes one parameter, as in 'rbp.p=0.8'; gains are given as rbp(gain=linear, max_grade=3)",
}
"""Measures of trec_eval that have no name here, and why."""


def our_name(name: str) -> tuple[str, dict[str, Any]]:
    """Name here of a measure that trec_eval calls "P_10" or "P.10", with a table of gains; other names as they are."""
    name = name.strip()
    for pattern, ours in TREC_EVAL_NAMES.items():
        if match := re.fullmatch(pattern, name, re.IGNORECASE):
            return ours(*map(str.lower, match.groups())), {}
    if match := re.fullmatch(GAIN_TABLE, name, re.IGNORECASE):
        return match[1].lower(), {"gain": _gains(match[2])}
    return name, {}


def _gains(text: str) -> dict[int, float]:
    """Table of gains; levels below the highest that is listed keep their own."""
    listed = {int(level): float(gain) for level, _, gain in (pair.partition("=") for pair in text.split(","))}
    return {level: listed.get(level, float(level)) for level in range(max(listed) + 1)}


def why_not_here(name: str) -> str:
    """Why a measure of trec_eval has no name here; "" for other names, and for texts too long to be names."""
    if len(name) > 100:
        return ""
    for pattern, reason in NOT_HERE.items():
        if re.fullmatch(pattern, name.strip(), re.IGNORECASE):
            return reason
    return ""
