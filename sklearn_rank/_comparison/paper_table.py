"""Table of a comparison for a paper, from results and tests: means, systems that may be the best, and marks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from sklearn_rank._comparison.candidates import candidates_of
from sklearn_rank._comparison.paired_test import PairedTest
from sklearn_rank._evaluation.informative import nothing_by_metric
from sklearn_rank._evaluation.references import notes_of_adjusted
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.choices import choices_in_words
from sklearn_rank._tell import paper_table as _tell
from sklearn_rank._tell.text import count_of
from sklearn_rank._utils.constraints import SHARE, Constraint, is_count, one_of

WHAT_MARKS = one_of("baseline", "letters", doc="")
DECIMALS = Constraint("an int from 1 to 15", lambda v: is_count(v) and v <= 15, "")


def paper_table(
    results: Mapping[str, Evaluation], tests: Mapping[str, PairedTest | None], *, systems: Sequence[str],
    baseline: str, confidence_level: float = 0.95, digits: int = 4, more: str = "", marks: str = "baseline",
) -> _tell.PaperTable:  # fmt: skip
    """Make the table of systems by the metrics of `tests`; systems without a result failed."""
    # With marks="letters" the mark of a mean is the letters of the systems that are significantly worse.
    WHAT_MARKS("marks", marks, "to_latex and to_markdown")
    by_letters = marks == "letters"
    if by_letters and len(systems) > len(_tell.LETTERS):
        raise ValueError(f"marks='letters' supports up to {len(_tell.LETTERS)} systems. Got {len(systems)}.")
    SHARE("confidence_level", confidence_level, "to_latex and to_markdown")
    DECIMALS("digits", digits, "to_latex and to_markdown")
    means = {name: result.mean() for name, result in results.items()}
    # For a metric without information, no mean is bold.
    nothing, alpha = nothing_by_metric(results) if len(results) > 1 else {}, 1 - confidence_level
    columns = []
    for metric, tested in tests.items():
        best: list[str] = []
        mark_of: dict[str, str] = {}
        if tested is not None:
            best = [] if nothing.get(metric) else candidates_of(results, tested, alpha).names
            mark_of = _letters(tested, systems, alpha) if by_letters else _marks(tested, alpha)
        n_queries, of_metric = numbers_in_means(results.values(), [metric]), {s: of[metric] for s, of in means.items()}
        columns.append(_tell.MetricColumn(metric, n_queries, of_metric, best, mark_of, tested is not None))
    first, against = next(iter(results.values())), None if by_letters else baseline
    how = next(
        (_tell.Testing(one.test, one.correction, len(one.pairs), one.n_clusters, confidence_level, against)
         for one in tests.values() if one is not None), None,
    )  # fmt: skip
    adjusted, choices = notes_of_adjusted(first.meaning), choices_in_words(first.meaning, first.counts)
    failed = ", ".join(name for name in systems if name not in results)
    note = _tell.paper_note(columns, how, is_weighted=first.weight is not None, adjusted=adjusted)
    ends = f"{_tell.NO_MEAN}: {failed} failed." * bool(failed), more, f"{choices}." * bool(choices)
    return _tell.table_of_columns(columns, systems, against, digits, " ".join([note, *filter(None, ends)]))


def _marks(tested: PairedTest, alpha: float) -> dict[str, str]:
    return {a: _tell.BETTER if is_better else _tell.WORSE for a, _, is_better in _differing(tested, alpha)}


def _letters(tested: PairedTest, systems: Sequence[str], alpha: float) -> dict[str, str]:
    """For each system, letters of the systems that are significantly worse, by tests of all pairs."""
    worse: dict[str, list[str]] = {}
    for a, b, is_better in _differing(tested, alpha):
        better, other = (a, b) if is_better else (b, a)
        worse.setdefault(better, []).append(other)
    letter_of = dict(zip(systems, _tell.LETTERS, strict=False))
    return {name: "".join(letter_of[other] for other in systems if other in others) for name, others in worse.items()}


def _differing(tested: PairedTest, alpha: float) -> list[tuple[str, str, bool]]:
    up = tested.greater_is_better
    return [
        (row.a, row.b, (row.difference > 0) == up)
        for row in tested._pair_rows
        if row.corrected_pvalue < alpha and row.difference != 0
    ]


def numbers_in_means(results: Iterable[Evaluation], metrics: Iterable[str]) -> str:
    """Number of queries in the means: "20 of 100" if some are undefined."""
    of_each, known = [*results], [*metrics]
    counts = [result.n_in_mean[metric] for result in of_each for metric in known]
    return count_of(counts, len(of_each[0].qid))
