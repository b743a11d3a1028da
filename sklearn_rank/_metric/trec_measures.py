"""Names that only trec_eval knows: sets of measures, and measures that are not metrics here."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np

from sklearn_rank._metric.metric import Metric
from sklearn_rank._metric.spec import MetricSpec

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
FAMILIES = {
    "P": CUTOFFS,
    "recall": CUTOFFS,
    "relative_P": CUTOFFS,
    "map_cut": CUTOFFS,
    "ndcg_cut": CUTOFFS,
    "success": ("1", "5", "10"),
    "unj": ("5", "10", "20"),
    "iprec_at_recall": tuple(f"{i / 10:.2f}" for i in range(11)),
    "Rprec_mult": tuple(f"{i / 5:.2f}" for i in range(1, 11)),
}
"""Measures with a parameter, and its default values."""

SETS = {
    "official": "num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P".split(),
    "set": "num_q num_ret num_rel num_rel_ret utility set_P set_recall set_relative_P set_map set_F".split(),
    "all_trec": (
        "num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P recall infAP gm_bpref "
        "utility 11pt_avg ideal_dcg dcg ndcg relative_P Rprec_mult success map_cut ndcg_cut binG set_P set_recall "
        "set_relative_P set_map set_F num_nonrel_judged_ret"
    ).split(),
}
"""Sets of measures, without the name of the run, relstring, which is a word, and ndcg_rel, Rndcg and G."""

CountFormula = Callable[[Any], Any]


def hits(r: Any) -> Any:
    """Relevant documents retrieved."""
    return r.cumsum(r.relevant)


def gain_among_nonrelevant(r: Any) -> Any:
    """Mean over the relevant documents of 1 / log2(2 + documents above that are not relevant): binG."""
    r.refuse_ties("binG")
    return r.cumsum(r.relevant, weight=1 / np.log2(2 + r.rank - r.joint(1, r.relevant))), r.n_relevant


def utility(text: str = "") -> CountFormula:
    """Sum of the coefficients of documents: relevant and retrieved, retrieved only, relevant only."""
    a, b, c, d = map(float, text.split(",")) if text else (1.0, -1.0, 0.0, 0.0)
    if d:
        raise ValueError(
            "The fourth coefficient of utility must be 0: it counts documents of the collection that are in neither "
            f"file. Got {d:g}."
        )
    return lambda r: a * hits(r) + b * (r.cumsum() - hits(r)) + c * (r.n_relevant - hits(r))


def precision_at_multiple(text: str) -> CountFormula:
    """Precision at R times a number, cut to a whole one after 0.9 is added."""

    def formula(r: Any) -> Any:
        last = np.floor(float(text) * r.n_relevant + 0.9)
        return r.cumsum(r.relevant, weight=r.rank <= r.of_query(last)), last

    return formula


def unjudged(text: str) -> CountFormula:
    """Share of the first k documents without a judgment; a shorter list counts as filled with judged ones."""
    return lambda r: (r.cumsum(1 - r.judged, weight=r.rank <= int(text)), float(text))


FORMULAS: dict[str, Callable[..., CountFormula]] = {
    r"num_q": lambda: lambda r: np.ones((1, 1)),
    r"num_ret": lambda: lambda r: r.cumsum(),
    r"num_rel": lambda: lambda r: r.n_relevant,
    r"num_rel_ret": lambda: hits,
    r"num_nonrel_judged_ret": lambda: lambda r: r.cumsum(r.judged) - hits(r),
    r"set_map": lambda: lambda r: (hits(r) ** 2, r.cumsum() * r.n_relevant),
    r"set_relative_P": lambda: lambda r: (hits(r), np.minimum(r.cumsum(), r.n_relevant)),
    r"ideal_dcg": lambda: lambda r: r.ideal.cumsum(r.ideal.label, weight=1 / np.log2(1 + r.ideal.rank)),
    r"binG": lambda: gain_among_nonrelevant,
    r"utility(?:[._]([^,]+(?:,[^,]+){3}))?": utility,
    r"Rprec_mult[._](\d*\.?\d+)": precision_at_multiple,
    r"unj[._]([1-9]\d*)": unjudged,
}
"""Formulas of measures that only trec_eval has, by the pattern of their names."""
READ_UNJUDGED = ("num_nonrel_judged_ret", "unj")


def own_measure(name: str) -> MetricSpec | None:
    """A measure that only trec_eval has; None for any other name."""
    for pattern, make in FORMULAS.items():
        if match := re.fullmatch(pattern, name):
            formula = make(*filter(None, match.groups()))
            reads_unjudged = name.startswith(READ_UNJUDGED)
            return MetricSpec(Metric(name, formula, formula, reads_unjudged=reads_unjudged))
    return None
