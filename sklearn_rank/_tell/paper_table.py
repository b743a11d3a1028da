"""Table of a comparison for a paper: rows are systems, columns are metrics, with marks of significance."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.table import latex_text, markdown_text, printable

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


class Cell(NamedTuple):
    """A mean as text, whether its system may be the best by its metric, and its mark of significance."""

    text: str
    is_best: bool = False
    mark: str = ""


class MetricColumn(NamedTuple):
    """A metric: queries in its means, the means, systems that may be the best, marks, and whether it is tested."""

    metric: str
    n_queries: str
    means: Mapping[str, float]
    best: Collection[str]
    marks: Mapping[str, str]
    is_tested: bool


class Testing(NamedTuple):
    """How systems were tested: against the baseline, or all pairs if it is None."""

    test: str
    correction: str | None
    n_tests: int
    n_clusters: int | None
    level: float
    baseline: str | None


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
        return [*[""] * self.has_letters, text]

    def _names(self, written: Callable[[str], str]) -> list[list[str]]:
        """Name of each system, after its letter if there are letters."""
        letters = (
            [[letter] for letter in LETTERS[: len(self.systems)]] if self.has_letters else [[]] * len(self.systems)
        )
        return [[*letter, written(name)] for letter, name in zip(letters, self.systems, strict=True)]


def table_of_columns(
    columns: Sequence[MetricColumn], systems: Sequence[str], baseline: str | None, digits: int, note: str
) -> PaperTable:
    """Make the table; the baseline is named, or the systems have letters if it is None."""
    cells = [
        [_cell(column.means.get(name), digits, name in column.best, column.marks.get(name, "")) for name in systems]
        for column in columns
    ]
    names = [printable(f"{name} (baseline)" if name == baseline else name) for name in systems]
    metrics = [printable(display_name(column.metric)) for column in columns]
    return PaperTable(names, metrics, [*zip(*cells, strict=True)], printable(note), baseline is None)


def _cell(mean: float | None, digits: int, is_best: bool, mark: str) -> Cell:
    return Cell(NO_MEAN) if mean is None or mean != mean else Cell(f"{mean:.{digits}f}", is_best, mark)


def paper_note(
    columns: Sequence[MetricColumn], how: Testing | None, *, is_weighted: bool, adjusted: Sequence[str]
) -> str:
    """Note with means, test, correction and level."""
    numbers = {column.metric: column.n_queries for column in columns}
    over = f"over {next(iter(numbers.values()))} queries"
    if len({*numbers.values()}) > 1:
        over = f"over queries: {', '.join(f'{n} ({display_name(metric)})' for metric, n in numbers.items())}"
    bold = "; in bold: systems that may be the best by the metric" * (how is not None)
    note = " ".join([f"{'Weighted means' if is_weighted else 'Means'} {over}{bold}.", *adjusted])
    if how is None:
        return note
    marks = {mark for column in columns for mark in column.marks.values()}
    words = {BETTER: "better", WORSE: "worse"} if how.baseline else {}
    differing = [f"{mark} significantly {word} than {how.baseline}" for mark, word in words.items() if mark in marks]
    of = f"{how.n_tests} {'systems' if how.baseline else 'pairs'}"
    corrected = f"{CORRECTION_NAMES[how.correction]}-corrected for {of}" if how.correction else "not corrected"
    corrected = corrected if how.n_tests > 1 else "one comparison"
    if how.baseline is None:
        said = "Superscripts: systems that are significantly worse" * bool(marks)
        note += f" {said or 'No two systems differ significantly'}"
    else:
        note += f" {'; '.join(differing) or f'No system differs significantly from {how.baseline}'}"
    clusters = "" if how.n_clusters is None else f"queries in {how.n_clusters} clusters, "
    note += f" ({TEST_NAMES[how.test]}, two-sided, p < {1 - how.level:.3g}, {clusters}{corrected})."
    untested = [display_name(column.metric) for column in columns if not column.is_tested]
    return note + (f" Not tested: {', '.join(untested)}." if untested else "")


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
