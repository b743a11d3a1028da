"""Checks whether any query can distinguish the results; they run before any conclusion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._misuse.rows import LEAST_QUERIES
from sklearn_rank._utils.typing import Array

LEAST_ROWS_OF_FOLD = 100
"""Number of rows of a fold; if 1 in 20 is relevant, all are irrelevant by chance once in 170."""

NOTHING_COMPARED = Check(
    "nothing compared", "evidence",
    "No query tells the systems apart by any metric: no query has a relevant document, or no system found one.",
    "all queries",
    "nothing was compared", "error", can_be_meant=False,
)  # fmt: skip
NOTHING_MEASURED = Check(
    "nothing measured", "measured",
    "No query tells a good model from a bad one by any metric: no query has a relevant document, or the model found "
    "none.",
    "all queries; 20 queries if the model found none of the relevant documents; in a scorer, 100 rows if no document "
    "is relevant",
    "nothing was measured", can_be_meant=False,
)  # fmt: skip
CHECKS_OF_EVIDENCE = (NOTHING_COMPARED, NOTHING_MEASURED)


class ValuesOfSystem(NamedTuple):
    """Values of a system by a metric; for each, whether it is informative and whether judgments determine it."""

    values: Array
    tells: NDArray[np.bool_]
    settled: NDArray[np.bool_] | None


class Nothing(NamedTuple):
    """Reason why no query is informative (all values are 0, or judgments determine all), and the number of systems."""

    are_zero: bool
    are_settled: bool
    n_systems: int


def nothing_in(systems: Iterable[ValuesOfSystem]) -> Nothing | None:
    """Return the reason why no query can distinguish the systems by a metric; None if a query can."""
    known = [*systems]
    if not known or any(one.tells.any() for one in known):
        return None
    are_zero = all((np.nan_to_num(one.values) == 0).all() for one in known)
    return Nothing(are_zero, all(one.settled is not None and bool(one.settled.all()) for one in known), len(known))


def nothing_in_words(metrics: Iterable[str], why: Nothing, done: str = "compared") -> str:
    """Message that metrics have compared or measured nothing, with the reason."""
    names = [*metrics]
    runs = {1: "", 2: " of both runs"}.get(why.n_systems, f" of all {why.n_systems} runs")
    found = f"{', '.join(names)} {'is' if len(names) == 1 else 'are'} 0 for every query{runs}"
    if not why.are_zero:
        found = f"The judgments alone fix {', '.join(names)} for every query{runs}"
    cause = "No relevant document was reached: do the ids of documents match those of the judgments?"
    if why.are_settled:
        cause = "No query has a relevant document, or two different labels: check labels and min_relevance."
    return f"{found}: nothing was {done}. {cause}"


def without_evidence(by_metric: Mapping[str, Nothing | None], check: Check = NOTHING_COMPARED) -> Iterator[Finding]:
    """Yield the finding that no query is informative for any metric."""
    found = {name: why for name, why in by_metric.items() if why is not None}
    if found and len(found) == len(by_metric):
        reasons = [*found.values()]
        whole = Nothing(
            all(why.are_zero for why in reasons), all(why.are_settled for why in reasons),
            max(why.n_systems for why in reasons),
        )  # fmt: skip
        yield Finding(check, nothing_in_words(found, whole, "compared" if check is NOTHING_COMPARED else "measured"))


def nothing_measured(
    by_metric: Mapping[str, Nothing | None], n_queries: int, n_rows: int | None = None
) -> Iterator[Finding]:
    """Yield the finding that no query is informative for any metric, unless few documents make it likely by chance."""
    # `n_rows` is the number of rows; a small fold may have no relevant document by chance.
    are_settled = all(why is not None and why.are_settled for why in by_metric.values())
    is_sure = n_rows is None or n_rows >= LEAST_ROWS_OF_FOLD if are_settled else n_queries >= LEAST_QUERIES
    if is_sure:
        yield from without_evidence(by_metric, NOTHING_MEASURED)
