"""The verdict of a comparison as a sentence, shared by the printed text, the page and the command line."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.text import Parts, in_clusters, listed, named, number, plain

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


def verdict(
    means: Mapping[str, float], baseline: str, outcomes: Mapping[str, SystemOutcome], candidates: Sequence[str],
    metric: str, *, greater_is_better: bool,
) -> Parts:  # fmt: skip
    """Make the sentence: which of two systems is better, or which of several may be the best and what is shown."""
    if len(means) == 1:
        ((only, mean),) = means.items()
        return [("name", only), ("", f": {metric} {number(mean)}")]
    tested = {name: found for name, found in outcomes.items() if not math.isnan(found.p)}
    if len(means) > 2 or baseline not in means:
        if not tested:
            return _of_untested(means, metric, "highest" if greater_is_better else "lowest")
        extremum = (max if greater_is_better else min)(mean for mean in means.values() if not math.isnan(mean))
        is_out = all(means[name] != extremum for name in candidates)
        against = _against_baseline(tested, baseline) if baseline else []
        return [*_of_best(means, candidates), *against, *([("", COMMON)] if is_out else [])]
    (new,) = (name for name in means if name != baseline)
    if new not in tested:
        return [("name", new), ("", " and "), ("name", baseline), ("", " were not tested")]
    if not tested[new].is_shown:
        return [("", "No difference is shown between "), ("name", new), ("", " and "), ("name", baseline)]
    return [("name", new), ("", f" is {tested[new].word} than "), ("name", baseline)]


def _of_untested(means: Mapping[str, float], metric: str, extreme: str) -> Parts:
    known = [mean for mean in means.values() if not math.isnan(mean)]
    if not known:
        return [("", f"{metric} is undefined for all {len(means)} systems")]
    extremum = (max if extreme == "highest" else min)(known)
    first = [name for name, mean in means.items() if mean == extremum]
    has = "has" if len(first) == 1 else "have"
    return [*named(first), ("", f" {has} the {extreme} {metric}; the systems were not tested")]


def _of_best(means: Mapping[str, float], candidates: Sequence[str]) -> Parts:
    if len(candidates) == 1:
        return [*named(candidates), ("", f" is the best of {len(means)} systems")]
    if len(candidates) == len(means):
        return [("", f"No best is shown among {len(means)} systems")]
    untold = f" may be the best of {len(means)} systems: these queries do not tell them apart"
    return [*named(candidates), ("", untold)]


def best_in_segments(best: Mapping[tuple[Any, ...], Sequence[str]], n_systems: int) -> Parts:
    """Which of several systems may be the best within each segment."""
    by_names: dict[tuple[str, ...], list[str]] = {}
    for segment, names in best.items():
        by_names.setdefault(tuple(names), []).append(", ".join(map(str, segment)))
    parts: Parts = [("", f"Best of {n_systems} systems within segments: ")]
    for names, segments in by_names.items():
        who: Parts = [("", "none is shown")] if len(names) == n_systems else named(names, " or ")
        parts += [*who, ("", " in "), *named(segments), ("", "; ")]
    return [*parts[:-1], ("", ".")]


def skewed_best(metrics: Sequence[str]) -> str:
    """Note on metrics by which differences that put systems out are skewed."""
    names = listed([display_name(metric) for metric in metrics])
    return f"Skewed differences and few queries: which systems may be best by {names} is less sure."


def _against_baseline(tested: Mapping[str, SystemOutcome], baseline: str) -> Parts:
    by_word = {word: [name for name, found in tested.items() if found.word == word] for word in ("better", "worse")}
    parts: Parts = []
    for word, names in by_word.items():
        if names:
            than: Parts = [("", " than "), ("name", baseline)] if not any(part[0] == "name" for part in parts) else []
            parts += [("", "; "), *named(names), ("", f" {'is' if len(names) == 1 else 'are'} {word}"), *than]
    return parts or [("", "; none is shown to differ from "), ("name", baseline)]


def title_of_comparison(
    n_systems: int, queries: str, clusters: Any, is_weighted: bool, baseline: str, *how: str
) -> str:  # fmt: skip
    """Systems, queries, baseline, test and correction of a comparison."""
    units = f"{'weighted ' * is_weighted}{'query' if queries == '1' else 'queries'}{in_clusters(clusters)}"
    systems, tested = f"{n_systems} system{'s' * (n_systems > 1)}", ", ".join(filter(None, how))
    return f"Comparison of {systems} on {queries} {units}; baseline {baseline}, {tested}"


def headline(sentence: Parts, metric: str, *, several: bool) -> str:
    """The verdict as one line, which names its metric where there are several."""
    text, name = plain(sentence), display_name(metric)
    return f"{text} by {name}" if several and name not in text else text


class MetricVerdict(NamedTuple):
    """What the tests of a metric say: the sentence, the systems that may be the best, and those that differ."""

    sentence: Parts
    candidates: frozenset[str]
    outcomes: Mapping[str, SystemOutcome]
    n_systems: int

    @property
    def words(self) -> dict[str, str]:
        """Conclusion of the test of each system against the baseline."""
        return {name: found.word for name, found in self.outcomes.items() if found.word}

    @property
    def shows_nothing(self) -> bool:
        """Whether no test shows a difference."""
        return not self.words and len(self.candidates) in (0, self.n_systems)

    def says_the_same(self, other: MetricVerdict) -> bool:
        """Whether another metric shows the same differences."""
        return self.words == other.words and self.candidates == other.candidates


def on_other_metrics(verdicts: Mapping[str, MetricVerdict | None]) -> tuple[list[Parts], list[Parts]]:
    """Sentences on the metrics after the first: those that agree or show nothing, and those that differ."""
    first, *others = ((display_name(metric), one) for metric, one in verdicts.items())
    tested = {name: one for name, one in others if one is not None}
    same = [n for n, one in tested.items() if first[1] and one.says_the_same(first[1]) and not one.shows_nothing]
    nothing = [name for name, one in tested.items() if one.shows_nothing]
    said = ((same, "says the same", "say the same"), (nothing, "shows no difference", "show no difference"),
            ([name for name, one in others if one is None], "is not tested", "are not tested"))  # fmt: skip
    quiet: list[Parts] = [
        [("", f"{listed(names)} {many if len(names) > 1 else one}.")] for names, one, many in said if names
    ]
    differ: list[Parts] = [
        [("", f"By {name}: "), *one.sentence, ("", ".")]
        for name, one in tested.items()
        if name not in (*same, *nothing)
    ]
    return quiet, differ
