"""What other systems mean by a metric, as keywords: the table behind ``convention=``.

"" holds for all metrics of a system, a metric's name for that metric; a keyword that a metric does not have is left
out, and one that the caller gives wins. `docs/conventions.md` shows the numbers that come of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

ABOVE_HALF = float(np.nextafter(0.5, 1))
"""`min_relevance` where the rule is ``label > 0.5``."""

LINEAR = {"gain": "linear"}
BINARY = {"gain": "binary"}
INPUT_ORDER = {"ties": "stable"}
NOT_JUDGED_IS_NOT_RELEVANT = {"unjudged": "nonrelevant"}
AS_IT_IS = {"unjudged": None}
AS_MANY_AS_POSSIBLE = {"denominator": "min_k_relevant"}
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
        "bpref": AS_IT_IS,
        "infap": AS_IT_IS,
        "judged": AS_IT_IS,
    },
    "ranx": {"": INPUT_ORDER | NOT_JUDGED_IS_NOT_RELEVANT, "dcg": LINEAR, "ndcg": LINEAR, "bpref": AS_IT_IS},
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
