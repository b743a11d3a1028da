"""Axes and labels: margins, fitted text, ticks, and the formatting of tests and numbers."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.optional import import_optional

WIDE, TALL = 0.6, 1.3
"""Width of a character and height of a line, relative to the font size."""
SIZES = (9.0, 8.0, 7.0, 6.0, 5.0)
"""Font sizes of names, in points; the largest that fits is used."""
CAPTION_SIZE = 7.0
"""Font size of the text under a plot, in points."""
OPENED_HERE = "sklearn_rank"
"""Mark of figures that this module opened, which have a caption."""
FEWEST = 12
"""Minimum number of characters on a line of a name."""
AROUND = 70.0
"""Height of label, ticks and margins around axes, in points."""
FULL_SIZE, SMALLEST = (330.0, 180.0), 0.65
"""Width and height in points below which labels shrink, and their minimum relative size."""

MOST_POINTS = 2000
"""Maximum number of drawn points: the eye cannot separate more."""

TEST_LABELS = {"wilcoxon": "Wilcoxon", "welch": "Welch's t", "mannwhitney": "Mann-Whitney"}
CORRECTION_LABELS = {
    "holm": "Holm-corrected",
    "bonferroni": "Bonferroni-corrected",
    "bh": "Benjamini-Hochberg-corrected",
    None: "not corrected",
}
MINUS = "\N{MINUS SIGN}"
"""Minus sign of Matplotlib's tick labels."""


class Fit(NamedTuple):
    """Names broken into fitting lines, and their font size."""

    names: list[str]
    size: float


def open_axes(ax: Any, width: float = 7.2, height: float = 4.2) -> Any:
    """Return `ax`, or new axes in a figure that is wide enough for names on the right."""
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="A picture")
    if ax is not None:
        return ax
    figure, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    figure.set_gid(OPENED_HERE)
    return ax


def cell_of(ax: Any) -> tuple[float, float]:
    """Width and height in points of the part of the figure for the axes and their surroundings."""
    width, height = (72 * ax.figure.bbox.size / ax.figure.dpi).tolist()
    spec = ax.get_subplotspec()
    if spec is None:
        share = ax.get_position()
        return width * share.width, height * share.height
    top = spec.get_topmost_subplotspec()
    grid, inner, outer = top.get_gridspec(), spec.get_position(ax.figure), top.get_position(ax.figure)
    return (
        width * len(top.colspan) / grid.ncols * inner.width / outer.width,
        height * len(top.rowspan) / grid.nrows * inner.height / outer.height,
    )


def is_laid_out(ax: Any) -> bool:
    """Whether the figure adapts its margins to the axes, or `widen_margins` can."""
    return _engine_of(ax) is not None or _is_loose(ax)


def widen_margins(ax: Any) -> None:
    """Widen the margins of a figure without a layout engine, so that texts do not overlap."""
    if not _is_loose(ax):
        return
    from matplotlib.layout_engine import TightLayoutEngine

    before = _margins(ax.figure)
    # Matplotlib warns if a figure is too small for its labels.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        TightLayoutEngine(pad=0.5).execute(ax.figure)
    after, grid = _margins(ax.figure), ax.get_subplotspec().get_topmost_subplotspec().get_gridspec()
    for low, high, space, n in (("left", "right", "wspace", grid.ncols), ("bottom", "top", "hspace", grid.nrows)):
        gap = max(_gap(margins, low, high, space, n) for margins in (before, after))
        after[low], after[high] = max(before[low], after[low]), min(before[high], after[high])
        left = after[high] - after[low] - gap * (n - 1)
        after[space] = gap * n / left if left > 0 else after[space]
    ax.figure.subplots_adjust(**after)


def _margins(figure: Any) -> dict[str, float]:
    names = ("left", "bottom", "right", "top", "wspace", "hspace")
    return {name: getattr(figure.subplotpars, name) for name in names}


def _gap(margins: dict[str, float], low: str, high: str, space: str, n: int) -> float:
    """Gap between neighbors of n axes, as a share of the figure."""
    return margins[space] * (margins[high] - margins[low]) / (n + margins[space] * (n - 1))


def _engine_of(ax: Any) -> Any:
    from matplotlib.layout_engine import PlaceHolderLayoutEngine

    engine = ax.figure.get_layout_engine()
    return None if isinstance(engine, PlaceHolderLayoutEngine) else engine


def _is_loose(ax: Any) -> bool:
    """Whether the margins of the figure may change: all axes are in a grid, and there is no layout engine."""
    from matplotlib.figure import Figure

    figure = ax.figure
    in_grid = all(other.get_subplotspec() is not None for other in figure.axes)
    return _engine_of(ax) is None and in_grid and isinstance(figure, Figure)


def fit(
    names: Sequence[str], width: float, height: float, *, lines: float = 0.0, handle: float = 0.0, even: bool = False
) -> Fit | None:
    """Break names into lines in the largest font that fits into `width` and `height`, in points.

    A name needs `lines` more lines, and a handle of `handle` font sizes; names with `even` have equal distances.
    """
    for size in SIZES:
        per_line = _per_line(width, size, handle)
        if per_line >= FEWEST:
            wrapped = [_filled(name, per_line) for name in names]
            heights = [name.count("\n") + 1 + lines for name in wrapped]
            if (max(heights) * len(names) if even else sum(heights)) * TALL * size <= height:
                return Fit(wrapped, size)
    return None


def shortened(names: Sequence[str], width: float, handle: float = 0.0) -> Fit:
    """Names in the smallest font on a line each, with an ellipsis in the middle if too long."""
    most = max(FEWEST, _per_line(width, SIZES[-1], handle))
    lines = [" ".join(name.split()) for name in names]
    cut = [f"{line[: most // 2]}\u2026{line[most // 2 + 1 - most :]}" if len(line) > most else line for line in lines]
    return Fit(cut, SIZES[-1])


def _per_line(width: float, size: float, handle: float) -> int:
    return int((width / size - handle) / WIDE)


def add_caption(figure: Any, text: str) -> None:
    """Add a small text at the bottom of a figure, below existing captions, wrapped to the width."""
    per_line, before = int(72 * figure.get_figwidth() / (WIDE * CAPTION_SIZE)), figure.get_supxlabel()
    if " ".join(text.split()) in " ".join(before.split()):
        return
    text = f"{before}\n{_filled(text, per_line)}".lstrip()
    figure.supxlabel(
        text, x=0.01, ha="left", multialignment="left", fontsize=CAPTION_SIZE, color="0.35", parse_math=False
    )


def set_explained(ax: Any, x: str, explanation: str, y: str = "") -> None:
    """Set the axis labels and an explanation: in the caption of our own figures, otherwise below the x axis."""
    own = ax.figure.get_gid() == OPENED_HERE
    set_labels(ax, x if own or not explanation else f"{x}\n{explanation}", y)
    if own and explanation:
        add_caption(ax.figure, explanation)


def value_label(metric: str, greater_is_better: bool) -> str:
    """Label of an axis of values."""
    name = display_name(metric)
    return name if greater_is_better else f"{name} (lower is better)"


def set_labels(ax: Any, x: str, y: str) -> None:
    """Set both axis labels, wrapped to the axes; labels and numbers shrink in a small figure."""
    from matplotlib import rcParams

    width, height = cell_of(ax)
    share = min(1.0, max(SMALLEST, min(width / FULL_SIZE[0], height / FULL_SIZE[1])))
    size = rcParams["font.size"] * share
    for label, text, length in ((ax.set_xlabel, x, 0.6 * width), (ax.set_ylabel, y, height - AROUND)):
        label(_filled(text, max(FEWEST, int(length / (0.55 * size)))), parse_math=False, fontsize=size)
    if share < 1:
        ax.tick_params("both" if y else "x", labelsize=size)


def label_there(ax: Any) -> str:
    """Label of the y axis on a single line; "" if nothing is drawn."""
    return " ".join(ax.get_ylabel().split()) if ax.lines else ""


def _filled(text: str, per_line: int) -> str:
    """Wrap a text to lines of at most `per_line` characters; longer words stay whole."""
    return "\n".join(textwrap.fill(line, per_line) for line in text.split("\n"))


def set_rows(ax: Any, names: Sequence[str]) -> float:
    """Set a row on the y axis for each name, the first on top; return the font size."""
    width, height = cell_of(ax)
    height -= 0.6 * AROUND + TALL * ax.xaxis.label.get_size() * (ax.get_xlabel().count("\n") + 1)
    fitted = fit(names, 0.35 * width, height, even=True) or shortened(names, 0.35 * width)
    ax.set_yticks(range(len(names)), fitted.names, fontsize=fitted.size, parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    return fitted.size


def width_beside_rows(ax: Any, size: float) -> float:
    """Width in points that remains for the axes next to row names of this font size."""
    longest = max(len(line) for label in ax.get_yticklabels() for line in label.get_text().split("\n"))
    return max(80.0, cell_of(ax)[0] - WIDE * size * longest - 30)


def set_ticks(ax: Any, low: float, high: float, width: float) -> None:
    """Set ticks on the part of the x axis with values: as many as fit into `width` points, at least two."""
    from matplotlib.ticker import MaxNLocator

    a_point, ticks = np.ptp(ax.get_xlim()) / width, np.array([low, high])
    for n in (8, 6, 5, 4, 3, 2, 1):
        located = np.asarray(MaxNLocator(n, steps=[1, 2, 2.5, 5, 10]).tick_values(low, high), dtype=np.float64)
        step, inside = located[1] - located[0], located[(low <= located) & (located <= high)]
        if len(inside) < 2:
            break
        ticks, widest = inside, max(len(f"{tick:.4g}") for tick in inside)
        if step >= WIDE * ax.xaxis.label.get_size() * (widest + 1) * a_point:
            break
    ax.set_xticks(ticks)


def set_count_axis(ax: Any, counts: ArrayLike) -> None:
    """Set an x axis for whole numbers; logarithmic if they span two decades."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    low, high = np.min(counts), np.max(counts)
    if low > 0 and high >= 100 * low:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(_as_number))
        ax.xaxis.set_minor_formatter(NullFormatter())
    elif ax.get_xscale() == "linear":
        ax.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


def set_cutoff_axis(ax: Any, cutoffs: ArrayLike) -> None:
    """Set an x axis with a tick at each cutoff of each system, and numbers at the ticks with enough room."""
    from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

    shown = {*np.asarray(cutoffs).tolist()}
    if isinstance(ax.xaxis.get_major_locator(), FixedLocator):
        shown |= {*ax.get_xticks().tolist()}
    k = np.array(sorted(shown))
    if k[0] > 0 and k[-1] >= 100 * k[0]:
        ax.set_xscale("log")
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_locator(FixedLocator(k.tolist()))
    ax.xaxis.set_major_formatter(FuncFormatter(Numbers(ax, k)))


def _as_number(x: float, position: int | None) -> str:
    return f"{x:g}"


class Numbers:
    """Formatter that shows a number at a tick if it fits at drawing time."""

    def __init__(self, ax: Any, k: Any) -> None:
        self.ax, self.k = ax, k
        self.at, self.shown = b"", k

    def __call__(self, x: float, position: int | None = None) -> str:
        """Return the number, or an empty text."""
        at = self.ax.transData.transform(np.c_[self.k, np.zeros(len(self.k))])[:, 0] * 72 / self.ax.figure.dpi
        if at.tobytes() != self.at:
            self.at, self.shown = at.tobytes(), self.k[_legible(self.k, at)]
        return f"{x:g}" if x in self.shown else ""


def _legible(k: Any, at: Any) -> Any:
    """Positions of ticks whose numbers do not touch: all, or round numbers and the first, or as many as fit."""
    width = np.array([7.0 * len(f"{x:g}") + 4 for x in k])
    for step in (1, 2, 5, 10, 20, 50, 100):
        chosen = np.flatnonzero((k % step == 0) | (k == k[0]))
        gaps, needed = np.diff(at[chosen]), (width[chosen][1:] + width[chosen][:-1]) / 2
        if len(chosen) > min(2, len(k) - 1) and (gaps >= needed).all():
            return chosen
    kept = [len(k) - 1]
    for i in range(len(k) - 1):
        if all(abs(at[i] - at[j]) >= (width[i] + width[j]) / 2 for j in kept):
            kept.append(i)
    return np.array(kept)


def thin(n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Indices of the points to draw from n sorted points: all, or `MOST_POINTS` at equal distances with both ends."""
    return np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64)


# --- numbers and tests in the style of papers ----------------------------------------------------------------


def test_in_words(test: str) -> str:
    """Name of a test: "t test", "Wilcoxon test"."""
    return f"{TEST_LABELS.get(test, test)} test"


def in_words(test: str, correction: str | None) -> str:
    """Name of a test and its correction: "t test, Holm-corrected"."""
    return f"{test_in_words(test)}, {CORRECTION_LABELS[correction]}"


def pvalue_text(pvalue: float) -> str:
    """Format a p-value in the style of papers: "p = 0.012", "p < 0.001"."""
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.{2 if pvalue >= 0.0995 else 3}f}"


def signed_difference(value: float, width: float) -> str:
    """Format a signed difference to two digits of its interval width; without an interval, to three digits."""
    if 0 < width < math.inf:
        digits = max(0, 1 - math.floor(math.log10(width)))
        return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", MINUS)
    return f"{value:+#.3g}".replace("-", MINUS)


def percent(confidence_level: float) -> str:
    """Format a level in percent: "95 %"."""
    return f"{100 * confidence_level:g} %"
