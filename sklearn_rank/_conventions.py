"""What other systems mean by a metric, as keywords: the table behind ``convention=``; and what trec_eval calls it.

"" holds for all metrics of a system, a metric's name for that metric; a keyword that a metric does not have is left
out, and one that the caller gives wins. `docs/conventions.md` shows the numbers that come of it.
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
AS_MANY_AS_POSSIBLE = {"denominator": "min_k_relevant"}
ALL_RETRIEVED = {"threshold": float(np.finfo(np.float64).min)}
AS_LONG_AS_THE_LIST = {"denominator": "min_k_n"}
POOLED_PAIRS_TIES_WRONG = {"ties": "worst", "average": "micro"}

CONVENTIONS: dict[str, dict[str, dict[str, Any]]] = {
    "sklearn": {
        "dcg": LINEAR,
        "ndcg": LINEAR,
        "map": {"precision_at": "threshold"},  # average_precision_score; the alias "lrap" is the label ranking one
        "coverage": {"ties": "worst"},
        "auc": {"tied_curve": "straight"},
    },
    # Ties by descending document id: pass the ids as tie_break.
    "trec_eval": {
        "": INPUT_ORDER | NOT_JUDGED_IS_NOT_RELEVANT,
        "dcg": LINEAR,
        "ndcg": LINEAR,
        "iprec": {"rounding": "nearest"},  # version 10; "cut" in version 9 and pytrec_eval
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
        "auc": {"ties": "average", "tied_curve": "straight"},
        "fallout": {"replace_undefined_by": 1},
    },
    # Ties are shuffled there, anew at each call: the average is their expectation.
    "tf_ranking": {
        "precision": AS_LONG_AS_THE_LIST,
        "p_ia": AS_LONG_AS_THE_LIST,
        "arp": {"average": "micro"},
        "opa": POOLED_PAIRS_TIES_WRONG,
    },
    "rax": {"": INPUT_ORDER, "precision": AS_LONG_AS_THE_LIST, "opa": {"ties": "worst"}},
    "spark": {"": INPUT_ORDER, "ndcg": BINARY, "map": AS_MANY_AS_POSSIBLE},
}


def keywords_of(convention: str, metric: str) -> dict[str, Any]:
    """Keywords that a system's convention sets for a metric."""
    table = CONVENTIONS[convention]
    return table.get("", {}) | table.get(metric, {})


TREC_EVAL_NAMES: dict[str, Callable[..., str]] = {
    r"P[._](\d+)": "precision@{}".format,
    r"recall[._](\d+)": "recall@{}".format,
    r"success[._](\d+)": "hit@{}".format,
    r"(map|ndcg)_cut[._](\d+)": "{}@{}".format,
    r"recip_rank": "mrr".format,
    r"11pt_avg": "11pt".format,
    r"iprec_at_recall[._](\d+(?:\.\d*)?)": "iprec(recall={})".format,
    r"set_F[._](\d+(?:\.\d*)?)": lambda x: f"set_f(beta={float(x) ** 0.5})",  # x is beta squared
}
"""What trec_eval (9 and 10: measures.c, and the m_*.c behind it) prints, and its name here if that is another one."""


def our_name(name: str) -> str:
    """What we call a measure that trec_eval calls "P_10" or "P.10"; any other name as it is."""
    for pattern, ours in TREC_EVAL_NAMES.items():
        if found := re.fullmatch(pattern, name.strip(), re.IGNORECASE):
            return ours(*map(str.lower, found.groups()))
    return name
