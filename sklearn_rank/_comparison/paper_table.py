"""Table of a comparison for a paper: rows are systems, columns are metrics, with marks of significance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from sklearn_rank._comparison.candidates import candidates_of
from sklearn_rank._evaluation.informative import nothing_by_metric
from sklearn_rank._evaluation.references import notes_of_adjusted
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.choices import choices_in_words
from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.constraints import SHARE, Constraint, is_count, one_of
from sklearn_rank._utils.table import latex_text, markdown_text, printable

if TYPE_CHECKING:
    from sklearn_rank._comparison.paired_test import PairedTest

TEST_NAMES = {
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
    "sign": "sign test",
    "randomization": "randomization test",
    "bootstrap": "paired bootstrap test",
    "welch": "Welch's t-test",
    "mannwhitney": "Mann-Whitney test",
    "permutation": "permutation test",
}
CORRECTION_NAMES = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini-Hochberg"}
BETTER, WORSE = "†", "‡"
LATEX_MARKS = {BETTER: r"$\dagger$", WORSE: r"$\ddagger$"}
NO_MEAN = "--"
LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
"""Letters of systems, in their order."""
WHAT_MARKS = one_of("baseline", "letters", doc="")
DECIMALS = Constraint("an int from 1 to 15", lambda v: is_count(v) and v <= 15, "")


class Cell(NamedTuple):
    """A mean as text, whether its system may be the best by its metric, and its mark of significance."""

    text: str
    is_best: bool = False
    mark: str = ""


@dataclass(frozen=True)
class PaperTable:
    """Cells by system and metric, and the note under the table."""

    systems: Sequence[str]
    metrics: Sequence[str]
    cells: Sequence[Sequence[Cell]]
    note: str
    has_letters: bool = False

    def to_markdown(self) -> str:
        """The table in Markdown, and the note."""
        head = [[*self._corner("system"), *self.metrics], ["---", *["---:"] * len(self.metrics)]]
        rows = [
            [*names, *map(_markdown, row)] for names, row in zip(self._names(markdown_text), self.cells, strict=True)
        ]
        head[0] = [markdown_text(name) for name in head[0]]
        head[1] = ["---"] * self.has_letters + head[1]
        return "\n".join(f"| {' | '.join(row)} |" for row in (*head, *rows)) + f"\n\n{markdown_text(self.note)}"

    def to_latex(self) -> str:
        """The table as a tabular with booktabs rules, and the note."""
        rows = [[*names, *map(_latex, row)] for names, row in zip(self._names(latex_text), self.cells, strict=True)]
        top = [*self._corner("System"), *map(latex_text, self.metrics)]
        head, *body = (" & ".join(row) + r" \\" for row in [top, *rows])
        # Marks of any length follow the means, which all have the same number of decimals.
        columns = f"l{'r' * len(self.metrics)}" if not self.has_letters else f"ll{'l' * len(self.metrics)}"
        return "\n".join(
            [
                r"% needs \usepackage{booktabs}",
                rf"\begin{{tabular}}{{{columns}}}",
                r"\toprule", head, r"\midrule", *body, r"\bottomrule", r"\end{tabular}",
                rf"\par\smallskip{{\footnotesize {_latex_marks(latex_text(self.note))}\par}}",
            ]
        )  # fmt: skip

    def _corner(self, text: str) -> list[str]:
        """Headers of the columns of names."""
        return [*[""] * self.has_letters, text]

    def _names(self, written: Callable[[str], str]) -> list[list[str]]:
        """Name of each system, after its letter if there are letters."""
        letters = (
            [[letter] for letter in LETTERS[: len(self.systems)]] if self.has_letters else [[]] * len(self.systems)
        )
        return [[*letter, written(name)] for letter, name in zip(letters, self.systems, strict=True)]


def paper_table(
    results: Mapping[str, Evaluation],
    tests: Mapping[str, PairedTest | None],
    *,
    systems: Sequence[str],
    baseline: str,
    confidence_level: float = 0.95,
    digits: int = 4,
    more: str = "",
    marks: str = "baseline",
) -> PaperTable:
    """Make the table of systems by the metrics of `tests`; systems without a result failed."""
    # With marks="letters" the mark of a mean is the letters of the systems that are significantly worse.
    WHAT_MARKS.check("marks", marks, "to_latex and to_markdown")
    by_letters = marks == "letters"
    if by_letters and len(systems) > len(LETTERS):
        raise ValueError(f"marks='letters' supports up to {len(LETTERS)} systems. Got {len(systems)}.")
    SHARE.check("confidence_level", confidence_level, "to_latex and to_markdown")
    DECIMALS.check("digits", digits, "to_latex and to_markdown")
    means = {name: result.mean() for name, result in results.items()}
    # For a metric without information, no mean is bold.
    nothing = nothing_by_metric(results) if len(results) > 1 else {}
    columns = []
    for metric, tested in tests.items():
        written = {name: f"{of_metrics[metric]:.{digits}f}" for name, of_metrics in means.items()}
        best: list[str] = []
        if tested is not None and not nothing.get(metric):
            best = candidates_of(results, tested, 1 - confidence_level).names
        mark_of: dict[str, str] = {}
        if tested is not None:
            mark_of = _letters(tested, systems, confidence_level) if by_letters else _marks(tested, confidence_level)
        columns.append([_cell(written.get(name), name in best, mark_of.get(name, "")) for name in systems])
    found = {cell.mark for column in columns for cell in column}
    note = _note(results, tests, None if by_letters else baseline, confidence_level, found)
    failed = [name for name in systems if name not in results]
    if failed:
        note += f" {NO_MEAN}: {', '.join(failed)} failed."
    note += f" {more}" if more else ""
    first = next(iter(results.values()))
    choices = choices_in_words(first.meaning, first.counts)
    note += f" {choices}." if choices else ""
    names = [printable(f"{name} (baseline)" if not by_letters and name == baseline else name) for name in systems]
    return PaperTable(
        names, [printable(display_name(m)) for m in tests], [*zip(*columns, strict=True)], printable(note), by_letters
    )


def _cell(text: str | None, is_best: bool, mark: str) -> Cell:
    return Cell(NO_MEAN) if text is None or text == "nan" else Cell(text, is_best, mark)


def _marks(tested: PairedTest, confidence_level: float) -> dict[str, str]:
    """Mark of each system that differs significantly from the baseline."""
    marks = {}
    for name, other in tested.pairs:
        pair = tested[name, other]
        if pair.corrected_pvalue < 1 - confidence_level and pair.difference != 0:
            marks[name] = BETTER if (pair.difference > 0) == tested.greater_is_better else WORSE
    return marks


def _letters(tested: PairedTest, systems: Sequence[str], confidence_level: float) -> dict[str, str]:
    """For each system, letters of the systems that are significantly worse, by tests of all pairs."""
    worse: dict[str, list[str]] = {}
    for a, b in tested.pairs:
        pair = tested[a, b]
        if pair.corrected_pvalue < 1 - confidence_level and pair.difference != 0:
            better, other = (a, b) if (pair.difference > 0) == tested.greater_is_better else (b, a)
            worse.setdefault(better, []).append(other)
    letter_of = dict(zip(systems, LETTERS, strict=False))
    return {name: "".join(letter_of[other] for other in systems if other in others) for name, others in worse.items()}


def _note(
    results: Mapping[str, Evaluation], tests: Mapping[str, PairedTest | None], baseline: str | None, level: float,
    marks: set[str],
) -> str:  # fmt: skip
    """Note with means, test, correction and level; if `baseline` is None, marks are letters."""
    numbers = {metric: numbers_in_means(results.values(), [metric]) for metric in tests}
    over = f"over {next(iter(numbers.values()))} queries"
    if len({*numbers.values()}) > 1:
        over = f"over queries: {', '.join(f'{n} ({display_name(metric)})' for metric, n in numbers.items())}"
    means = "Means" if next(iter(results.values())).weight is None else "Weighted means"
    adjusted = notes_of_adjusted(next(iter(results.values())).meaning)
    bold = "; in bold: systems that may be the best by the metric" * any(tests.values())
    note = " ".join([f"{means} {over}{bold}.", *adjusted])
    tested = [one for one in tests.values() if one is not None]
    if not tested:
        return note
    words = {BETTER: "better", WORSE: "worse"} if baseline else {}
    differing = [f"{mark} significantly {word} than {baseline}" for mark, word in words.items() if mark in marks]
    correction = CORRECTION_NAMES.get(tested[0].correction or "")
    n_tests = len(tested[0].pairs)
    how = (
        f"{correction}-corrected for {n_tests} {'systems' if baseline else 'pairs'}" if correction else "not corrected"
    )
    how = how if n_tests > 1 else "one comparison"
    if baseline is None:
        said = "Superscripts: systems that are significantly worse" * bool(marks - {""})
        note += f" {said or 'No two systems differ significantly'}"
    else:
        note += f" {'; '.join(differing) or f'No system differs significantly from {baseline}'}"
    n_clusters = tested[0].n_clusters
    how = how if n_clusters is None else f"queries in {n_clusters} clusters, {how}"
    note += f" ({TEST_NAMES[tested[0].test]}, two-sided, p < {1 - level:.3g}, {how})."
    untested = [display_name(metric) for metric, one in tests.items() if one is None]
    return note + (f" Not tested: {', '.join(untested)}." if untested else "")


def numbers_in_means(results: Iterable[Evaluation], metrics: Iterable[str]) -> str:
    """Number of queries in the means: "20 of 100" if some are undefined."""
    of_each, known = [*results], [*metrics]
    counts = [result.n_in_mean[metric] for result in of_each for metric in known]
    return count_of(counts, len(of_each[0].qid))


def count_of(counts: Sequence[int], n_queries: int) -> str:
    """Format the range of numbers of queries: "400", "20 of 100", "2 to 4 of 9"."""
    least, most = min(counts), max(counts)
    some = str(most) if least == most else f"{least} to {most}"
    return some if least == n_queries else f"{some} of {n_queries}"


def _markdown(cell: Cell) -> str:
    mark = f"<sup>{cell.mark}</sup>" if cell.mark.isascii() and cell.mark else cell.mark
    return (f"**{cell.text}**" if cell.is_best else cell.text) + mark


def _latex(cell: Cell) -> str:
    mark = rf"\rlap{{$^{{{LATEX_MARKS[cell.mark].strip('$')}}}$}}" if cell.mark in LATEX_MARKS else ""
    mark = mark or (rf"$^{{{cell.mark}}}$" if cell.mark else "")
    return (rf"\textbf{{{cell.text}}}" if cell.is_best else cell.text) + mark


def _latex_marks(text: str) -> str:
    for mark, written in LATEX_MARKS.items():
        text = text.replace(mark, written)
    return text
