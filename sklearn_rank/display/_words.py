"""Tests and numbers in the words of a paper, for labels."""

from __future__ import annotations

import math

TESTS = {
    "t": "t test",
    "wilcoxon": "Wilcoxon test",
    "sign": "sign test",
    "randomization": "randomization test",
    "bootstrap": "bootstrap test",
    "welch": "Welch's t test",
    "mannwhitney": "Mann-Whitney test",
    "permutation": "permutation test",
}
CORRECTIONS = {
    "holm": "Holm-corrected",
    "bonferroni": "Bonferroni-corrected",
    "bh": "Benjamini-Hochberg-corrected",
    None: "not corrected",
}
MINUS = "\N{MINUS SIGN}"
"""Sign that Matplotlib writes at ticks."""


def in_words(test: str, correction: str | None) -> str:
    """A test and the correction of its p-values: "t test, Holm-corrected"."""
    return "Tukey's HSD test" if correction == "tukey" else f"{TESTS[test]}, {CORRECTIONS[correction]}"


def p_in_words(pvalue: float) -> str:
    """A p-value as papers write it: "p = 0.012", "p < 0.001"."""
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.{2 if pvalue >= 0.0995 else 3}f}"


def signed(value: float, width: float) -> str:
    """A difference with its sign, to two digits of the width of its interval, or to three of its own."""
    if 0 < width < math.inf:
        digits = max(0, 1 - math.floor(math.log10(width)))
        return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", MINUS)
    return f"{value:+#.3g}".replace("-", MINUS)


def percent(confidence_level: float) -> str:
    """A level as a share of a hundred: "95 %"."""
    return f"{100 * confidence_level:g} %"
