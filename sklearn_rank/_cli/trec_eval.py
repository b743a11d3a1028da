"""Measures as trec_eval's command line names them."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator

from sklearn_rank._metric.trec_measures import FAMILIES, SETS

LEFT_OUT = {"all_trec": "relstring, which is a word, and the experiments ndcg_rel, Rndcg and G"}


def is_count_measure(name: str) -> bool:
    """Whether the sum over queries of a measure is printed, not its mean."""
    return name.startswith("num_")


def expanded(names: Iterable[str]) -> Iterator[str]:
    """Names as trec_eval prints them: "P.5,10" is P_5 and P_10, "P" all cutoffs, "official" what it prints itself."""
    for name in names:
        family, _, parameters = name.partition(".")
        if name in SETS:
            if name in LEFT_OUT:
                print(f"{name}: without {LEFT_OUT[name]}", file=sys.stderr)
            yield from expanded(SETS[name])
        elif family in FAMILIES:
            values = parameters.split(",") if parameters else FAMILIES[family]
            yield from (f"{family}_{value}" for value in values)
        else:
            yield name
