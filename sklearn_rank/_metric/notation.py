"""Names of metrics as publications write them, for tables and pictures: "nDCG@10" for "ndcg@10"."""

from __future__ import annotations

import re

from sklearn_rank._utils.table import LabeledName

_NAME_OF_MEASURE = re.compile(r"\s*(?P<name>[\w-]+)\s*(?=$|[(@])", re.ASCII)

NOTATION = {
    "acg": "ACG",
    "alpha_dcg": "alpha-DCG",
    "alpha_ndcg": "alpha-nDCG",
    "ap": "AP",
    "ap_ia": "AP-IA",
    "auc": "AUC",
    "avep": "AP",
    "cg": "CG",
    "coverage_error": "Coverage error",
    "dcg": "DCG",
    "err": "ERR",
    "err_ia": "ERR-IA",
    "f": "F",
    "f1": "F1",
    "f2": "F2",
    "f_measure": "F",
    "f_score": "F",
    "fbeta": "F",
    "full_recall": "Full recall",
    "gm_bpref": "GM bpref",
    "gm_map": "GMAP",
    "gmap": "GMAP",
    "hit": "Hit",
    "hit_rate": "Hit",
    "hitrate": "Hit",
    "hits": "Hits",
    "hr": "HR",
    "infap": "infAP",
    "ips_dcg": "IPS-DCG",
    "iprec": "iPrec",
    "judged": "Judged",
    "kendall": "Kendall's tau",
    "kendall_tau": "Kendall's tau",
    "lrap": "LRAP",
    "mae": "MAE",
    "map": "MAP",
    "map_at_r": "MAP@R",
    "map_ia": "MAP-IA",
    "mrr": "MRR",
    "mse": "MSE",
    "ndcg": "nDCG",
    "nerr": "nERR",
    "nrbp": "NRBP",
    "opa": "OPA",
    "p": "P",
    "p_ia": "P-IA",
    "pfound": "pFound",
    "pre": "Precision",
    "precision": "Precision",
    "precision_ia": "Precision-IA",
    "psndcg": "PSnDCG",
    "psp": "PSP",
    "pwa": "PWA",
    "q": "Q",
    "q_measure": "Q-measure",
    "r": "R",
    "r-prec": "R-precision",
    "r-precision": "R-precision",
    "r_precision": "R-precision",
    "rbo": "RBO",
    "rbp": "RBP",
    "rbp_residual": "RBP residual",
    "recall": "Recall",
    "recall_all": "Full recall",
    "relevance_position": "Relevance position",
    "rho": "Spearman's rho",
    "rmse": "RMSE",
    "rprec": "R-precision",
    "rr": "RR",
    "s_recall": "S-recall",
    "snips": "SNIPS",
    "spearman": "Spearman's rho",
    "spearman_rho": "Spearman's rho",
    "success": "Success",
    "wap": "WAP",
}
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
