"""Names of metrics as publications write them, for tables and pictures: "nDCG@10" for "ndcg@10"."""

from __future__ import annotations

import re

from sklearn_rank._utils.table import LabeledName

_NAME_OF_MEASURE = re.compile(r"\s*(?P<name>[\w-]+)\s*(?=$|[(@])", re.ASCII)

WRITTEN = (
    "ACG, alpha-DCG, alpha-nDCG, AP, AP-IA, AUC, CG, Coverage error, DCG, ERR, ERR-IA, F, F1, F2, Full recall, GM "
    "bpref, GMAP, Hit, Hits, HR, infAP, iPrec, IPS-DCG, Judged, LRAP, MAE, MAP, MAP-IA, MRR, MSE, nDCG, nERR, NRBP, "
    "OPA, P, P-IA, pFound, Precision, Precision-IA, PSnDCG, PSP, PWA, Q, Q-measure, R, R-precision, RBO, RBP, RBP "
    "residual, Recall, Relevance position, RMSE, RR, S-recall, SNIPS, Success, WAP"
).split(", ")
"""Names in the spelling of publications: the parser reads them in lower case, with "_" for a space or hyphen."""

OTHER_NAMES = {
    "AP": ("avep",),
    "F": ("f_measure", "f_score", "fbeta"),
    "GMAP": ("gm_map",),
    "Hit": ("hit_rate", "hitrate"),
    "Kendall's tau": ("kendall", "kendall_tau"),
    "MAP@R": ("map_at_r",),
    "Precision": ("pre",),
    "R-precision": ("r-prec", "r-precision", "rprec"),
    "Full recall": ("recall_all",),
    "Spearman's rho": ("rho", "spearman", "spearman_rho"),
}
"""Other names that the parser reads, by the spelling of publications."""

NOTATION = {re.sub("[ -]", "_", written.lower()): written for written in WRITTEN}
NOTATION |= {name: written for written, names in OTHER_NAMES.items() for name in names}
"""Names in the spelling of publications, by the name that the parser reads; other names stay unchanged."""


def display_name(name: str) -> str:
    """Name of a metric as publications write it; keywords, cutoffs and names of the user's own stay as they are."""
    match = _NAME_OF_MEASURE.match(name)
    if match is None or match["name"].lower() not in NOTATION:
        return name
    return NOTATION[match["name"].lower()] + name[match.end() :].rstrip()


def labeled(name: str) -> LabeledName:
    """Name of a metric for a table, which programs read as it is and people as `display_name` writes it."""
    return LabeledName(name, display_name(name))
