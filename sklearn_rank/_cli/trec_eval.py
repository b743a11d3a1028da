"""What trec_eval's command line takes and prints beside metrics: measures at all their cutoffs, and counts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from sklearn_rank._metric import Metric, MetricSpec

CUTOFFS = ("5", "10", "15", "20", "30", "100", "200", "500", "1000")
FAMILIES = {
    "P": CUTOFFS,
    "recall": CUTOFFS,
    "map_cut": CUTOFFS,
    "ndcg_cut": CUTOFFS,
    "success": ("1", "5", "10"),
    "iprec_at_recall": tuple(f"{i / 10:.2f}" for i in range(11)),
}
"""Measures with a parameter, and the values that it has unless some are named."""

OFFICIAL = "num_q num_ret num_rel num_rel_ret map gm_map Rprec bpref recip_rank iprec_at_recall P".split()
"""What it prints if nothing is asked for, less the name of the run."""


FORMULAS: dict[str, Callable[[Any], Any]] = {
    "num_q": lambda r: np.ones((1, 1)),
    "num_ret": lambda r: r.cumsum(),
    "num_rel": lambda r: r.n_relevant,
    "num_rel_ret": lambda r: r.cumsum(r.relevant),
}
COUNTS = {name: MetricSpec(Metric(name, formula, formula)) for name, formula in FORMULAS.items()}
"""Counts of each query, whose sum over queries is printed."""


def expanded(names: Iterable[str]) -> Iterator[str]:
    """Names as trec_eval prints them: "P.5,10" is P_5 and P_10, "P" all cutoffs, "official" what it prints itself."""
    for name in names:
        family, _, parameters = name.partition(".")
        if name == "official":
            yield from expanded(OFFICIAL)
        elif family in FAMILIES:
            values = parameters.split(",") if parameters else FAMILIES[family]
            yield from (f"{family}_{value}" for value in values)
        else:
            yield name
