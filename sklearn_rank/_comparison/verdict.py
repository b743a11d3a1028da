"""The verdict of a comparison as a sentence, shared by the printed text, the page and the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from sklearn_rank._report.text import Parts, number

if TYPE_CHECKING:
    from sklearn_rank.stats._paired_test import PairedTest

SHOWN_BELOW = 0.05
"""Level: a corrected p-value below it shows a difference."""


class SystemOutcome(NamedTuple):
    """A system against the baseline: its gain (positive if better) and the corrected p-value."""

    gain: float
    p: float

    @property
    def is_shown(self) -> bool:
        """Whether the test shows a difference."""
        return not math.isnan(self.p) and self.p < SHOWN_BELOW and self.gain != 0

    @property
    def word(self) -> str:
        """Conclusion of the test in words."""
        return ("better" if self.gain > 0 else "worse") if self.is_shown else ""


def outcomes_of(tests: PairedTest | None) -> dict[str, SystemOutcome]:
    """Outcome of each system against the baseline by a metric."""
    if tests is None:
        return {}
    sign = 1 if tests.greater_is_better else -1
    return {row.a: SystemOutcome(sign * row.difference, row.corrected_pvalue) for row in tests._pair_rows}


def verdict(
    means: Mapping[str, float], baseline: str, outcomes: Mapping[str, SystemOutcome], metric: str, *,
    greater_is_better: bool,
) -> Parts:  # fmt: skip
    """Make the sentence: which of two systems is better, or which of several has the best mean.

    `means` holds the means by the first metric, `outcomes` the systems that were tested against the baseline.
    """
    others = [name for name in means if name != baseline]
    if len(others) > 1 or baseline not in means:
        known = {name: mean for name, mean in means.items() if not math.isnan(mean)}
        best = (max if greater_is_better else min)(known.values(), default=math.nan)
        first = [name for name, mean in known.items() if mean == best]
        if len(first) == 1:
            return [("name", first[0]), ("", f" has the best {metric} of {len(means)} systems")]
        return [("", f"{len(first)} of {len(means)} systems share the best {metric}")]
    if not others:
        return [("name", baseline), ("", f": {metric} {number(means[baseline])}")]
    (new,) = others
    found = outcomes.get(new)
    if found is None or math.isnan(found.p):
        return [("name", new), ("", " and "), ("name", baseline), ("", " were not tested")]
    if not found.is_shown:
        return [("", "No difference is shown between "), ("name", new), ("", " and "), ("name", baseline)]
    return [("name", new), ("", f" is {found.word} than "), ("name", baseline)]
