"""The verdict of a comparison as a sentence, shared by the printed text, the page and the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from sklearn_rank._report.text import Parts, number, p_in_words

if TYPE_CHECKING:
    from sklearn_rank._comparison.paired_test import PairedTest

SHOWN_BELOW = 0.05
"""Level: a corrected p-value below it shows a difference."""

COMMON = " on the queries where all are defined"
"""Ends a sentence if the test contradicts the means, which include queries that are undefined for other systems."""


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
    """Make the sentence: which of two systems is better, or which of several has the highest mean and what is shown.

    `means` holds the means by the first metric, `outcomes` the systems that were tested against the baseline. The
    highest of several means is no winner: only the test against the baseline shows a difference.
    """
    if len(means) == 1:
        ((only, mean),) = means.items()
        return [("name", only), ("", f": {metric} {number(mean)}")]
    tested = {name: found for name, found in outcomes.items() if not math.isnan(found.p)}
    if len(means) > 2 or baseline not in means:
        return _of_several(means, baseline, tested, metric, "highest" if greater_is_better else "lowest")
    (new,) = (name for name in means if name != baseline)
    if new not in tested:
        return [("name", new), ("", " and "), ("name", baseline), ("", " were not tested")]
    if not tested[new].is_shown:
        return [("", "No difference is shown between "), ("name", new), ("", " and "), ("name", baseline)]
    return [("name", new), ("", f" is {tested[new].word} than "), ("name", baseline)]


def _of_several(
    means: Mapping[str, float], baseline: str, tested: Mapping[str, SystemOutcome], metric: str, extreme: str
) -> Parts:
    """Systems with the highest mean, for errors the lowest, and the results of their tests against the baseline."""
    known = [mean for mean in means.values() if not math.isnan(mean)]
    if not known:
        return [("", f"{metric} is undefined for all {len(means)} systems")]
    extremum = (max if extreme == "highest" else min)(known)
    first = [name for name, mean in means.items() if mean == extremum]
    if baseline in first and len(first) == 1:
        subject: Parts = [("name", baseline), ("", ", the baseline, has")]
        return [*subject, ("", f" the {extreme} {metric}; {_others_in_words(tested, len(means) - 1)}")]
    if len(first) > 1:
        ends = _of_shared(first, baseline, tested)
        return [("", f"{len(first)} of {len(means)} systems share the {extreme} {metric}; "), *ends]
    found = tested.get(first[0])
    what, p = "it was not tested against ", ""
    if found is not None and found.is_shown:
        on = COMMON if found.word == "worse" else ""
        what, p = f"it is {found.word} than ", f" ({p_in_words(found.p)}){on}"
    elif found is not None:
        what = "it is not shown to be better than "
    return [("name", first[0]), ("", f" has the {extreme} {metric}; {what}"), ("name", baseline), ("", p)]


def _others_in_words(tested: Mapping[str, SystemOutcome], n_others: int) -> str:
    """How many systems differ from a baseline with the highest mean."""
    if not tested:
        return "the others were not tested against it"
    words = [found.word for found in tested.values()]
    counts = {word: words.count(word) for word in ("better", "worse") if word in words}
    shown = [f"{n} of the {n_others} others {'is' if n == 1 else 'are'} {word}" for word, n in counts.items()]
    on = COMMON if "better" in words else ""
    return " and ".join(shown) + on if shown else "none of the others is shown to be worse"


def _of_shared(first: list[str], baseline: str, tested: Mapping[str, SystemOutcome]) -> Parts:
    """Results of systems with equal means."""
    if baseline in first:
        return [("", "the baseline "), ("name", baseline), ("", " is one of them")]
    if not tested:
        return [("", "they were not tested against "), ("name", baseline)]
    n_better = sum(name in tested and tested[name].word == "better" for name in first)
    if not n_better:
        return [("", "none of them is shown to be better than "), ("name", baseline)]
    said = "they are" if n_better == len(first) else f"{n_better} of them {'is' if n_better == 1 else 'are'}"
    return [("", f"{said} better than "), ("name", baseline)]
