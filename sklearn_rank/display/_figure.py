"""Appearance of systems; axes and labels: wrapped text, ticks, and the formatting of tests and numbers."""

from __future__ import annotations

import math
import textwrap
import warnings
from collections.abc import Sequence
from colorsys import hls_to_rgb, rgb_to_hls
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.paper_table import CORRECTION_NAMES
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.optional import import_optional

WIDE, TALL = 0.6, 1.3
"""Width of a character and height of a line, relative to the font size."""
NAME_SIZES = (5.0, 9.0)
"""Smallest and largest font size of names, in points."""
CAPTION_SIZE = 7.0
"""Font size of the text under a plot, in points."""
OPENED_HERE = "sklearn_rank"
"""Mark of figures that this module opened, which have a caption."""
FEWEST = 12
"""Minimum number of characters on a line."""

MOST_CUTOFFS = 10
"""Maximum number of cutoffs with a number each."""

MOST_POINTS = 2000
"""Maximum number of drawn points: the eye cannot separate more."""

TEST_LABELS = {"wilcoxon": "Wilcoxon", "welch": "Welch's t", "mannwhitney": "Mann-Whitney"}
MINUS = "\N{MINUS SIGN}"
"""Minus sign of Matplotlib's tick labels."""

COLORS = (
    "#14213d", "#d55e00", "#56b4e9", "#661100", "#888888", "#f0a080", "#0072b2", "#000000", "#9acd32", "#a63a26",
    "#332288", "#c9b458",
)  # fmt: skip
"""Colors in the order of systems. Systems with the same line style differ in lightness."""
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", "h")

INKS = ("black", "0.3", "0.35", "0.7", "0.8", "0.85")
"""Colors of lines and texts that belong to no system."""

DARK = 0.4
"""Mean of red, green and blue below which a background is dark."""

LIGHT = "#8fa3cc"
"""Color of an area that keeps a black line visible."""


def open_axes(ax: Any, width: float = 7.2, height: float = 4.2) -> Any:
    """Return `ax`, or new axes in a figure that is wide enough for names on the right."""
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="A picture")
    if ax is not None:
        return ax
    figure, ax = pyplot.subplots(figsize=(width, height), layout="constrained")
    figure.set_gid(OPENED_HERE)
    return ax


def adapt_to_background(ax: Any) -> None:
    """Make our colors lighter if the axes or their figure are dark."""
    from matplotlib.colors import to_rgb, to_rgba_array

    if min(np.mean(to_rgb(one.get_facecolor())) for one in (ax, ax.figure)) > DARK:
        return
    ours, legend = {to_rgb(color) for color in (*COLORS, LIGHT, *INKS)}, ax.get_legend()
    parts = [*ax.lines, *ax.collections, *ax.patches, *ax.get_ygridlines(), *ax.figure.texts]
    parts += [] if legend is None else [one for one in legend.findobj() if one is not legend.get_frame()]
    for artist in parts:
        for part in ("color", "facecolor", "edgecolor", "markerfacecolor", "markeredgecolor"):
            if hasattr(artist, f"get_{part}") and hasattr(artist, f"set_{part}"):
                colors = [tuple(color) for color in to_rgba_array(getattr(artist, f"get_{part}")()).tolist()]
                if colors and all(color[:3] in ours for color in colors):
                    getattr(artist, f"set_{part}")([*map(_lighter, colors)] if len(colors) > 1 else _lighter(colors[0]))


def _lighter(color: tuple[float, ...]) -> tuple[float, ...]:
    """A color for a dark background; grey lines stay near to their background."""
    hue, lightness, saturation = rgb_to_hls(*color[:3])
    lightness = max(lightness, 0.62) if saturation else min(1.0, 1.05 - 0.85 * lightness)
    return (*hls_to_rgb(hue, lightness, saturation), *color[3:])


def size_of(ax: Any) -> Any:
    """Width and height of the axes in points, before layout."""
    return 72 * ax.bbox.size / ax.figure.dpi


def make_room(ax: Any) -> None:
    """Lay out a figure without a layout engine once, if texts around the axes are cut or cover other axes."""
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import TightLayoutEngine

    figure = ax.figure
    if not isinstance(figure, Figure) or figure.get_layout_engine() is not None or ax.get_subplotspec() is None:
        return
    box, page = ax.get_tightbbox(), figure.bbox
    is_cut = box.x0 < page.x0 or box.y0 < page.y0 or box.x1 > page.x1 or box.y1 > page.y1
    if is_cut or box.count_overlaps([other.get_tightbbox() for other in figure.axes if other is not ax]):
        # Matplotlib warns if a figure is too small for its labels.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            TightLayoutEngine(pad=0.5).execute(figure)
    for one in figure.axes:
        labels = [label for label in one.get_xticklabels() if label.get_text()]
        ends = [label.get_window_extent() for label in labels if not label.get_rotation()]
        if one.get_xscale() == "linear" and any(left.x1 > right.x0 for left, right in pairwise(ends)):
            low, high = sorted(one.get_xlim())
            inside = [tick for tick in one.get_xticks() if low <= tick <= high]
            one.set_xticks(inside[:: len(inside) - 1] if len(inside) > 2 else inside[-1:])


def fitted(names: Sequence[str], width: float, height: float) -> tuple[list[str], float]:
    """Names wrapped to a width, and their font size for a height, in points."""
    smallest, largest = NAME_SIZES
    wrapped = [_filled(name, max(FEWEST, int(width / (WIDE * largest)))) for name in names]
    n_lines = len(names) * max(name.count("\n") + 1 for name in wrapped)
    return wrapped, min(largest, max(smallest, height / (TALL * n_lines)))


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
    """Set both axis labels, wrapped to the axes."""
    for label, text, length in zip((ax.set_xlabel, ax.set_ylabel), (x, y), size_of(ax), strict=True):
        label(_filled(text, max(FEWEST, int(length / (WIDE * NAME_SIZES[1])))), parse_math=False)


def label_there(ax: Any) -> str:
    """Label of the y axis on a single line; "" if nothing is drawn."""
    return " ".join(ax.get_ylabel().split()) if ax.lines else ""


def _filled(text: str, per_line: int) -> str:
    """Wrap a text to lines of at most `per_line` characters; longer words stay whole."""
    return "\n".join(textwrap.fill(line, per_line) for line in text.split("\n"))


def set_rows(ax: Any, names: Sequence[str]) -> float:
    """Set a row on the y axis for each name, the first on top; return the font size."""
    width, height = size_of(ax)
    wrapped, size = fitted(names, 0.4 * width, 0.9 * height)
    ax.set_yticks(range(len(names)), wrapped, fontsize=size, parse_math=False)
    ax.set_ylim(len(names) - 0.5, -0.5)
    return size


def set_count_axis(ax: Any, counts: ArrayLike) -> None:
    """Set an x axis for whole numbers; logarithmic if they span two decades."""
    from matplotlib.ticker import MaxNLocator, NullFormatter, StrMethodFormatter

    low, high = np.min(counts), np.max(counts)
    if low > 0 and high >= 100 * low:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    elif ax.get_xscale() == "linear":
        ax.xaxis.set_major_locator(MaxNLocator(nbins="auto", steps=[1, 2, 5, 10], integer=True))


def set_cutoff_axis(ax: Any, cutoffs: ArrayLike) -> None:
    """Set an x axis with a number at each cutoff of each system, or at round numbers if there are many."""
    from matplotlib.ticker import FixedLocator, NullLocator

    k = distinct_values(np.concatenate([np.ravel(cutoffs), *(line.get_xdata() for line in ax.lines)]))
    set_count_axis(ax, k)
    if len(k) <= MOST_CUTOFFS:
        ax.xaxis.set_major_locator(FixedLocator(k.tolist()))
        ax.xaxis.set_minor_locator(NullLocator())


def thin(n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Indices of the points to draw from n sorted points: all, or `MOST_POINTS` at equal distances with both ends."""
    return np.linspace(0, n - 1, min(n, MOST_POINTS)).round().astype(np.int64)


def style_of(number: int) -> dict[str, Any]:
    """Color, line style and marker of a system by its number from 0; the first 144 differ."""
    i, turn = number % len(COLORS), number // len(COLORS)
    return {"color": COLORS[i], "linestyle": LINES[i % len(LINES)], "marker": MARKERS[(i + turn) % len(MARKERS)]}


def line_style(number: int, n_points: int) -> dict[str, Any]:
    """Style of the line of a system, with markers at some of its points."""
    return style_of(number) | {"markersize": 5, "linewidth": 1.5, "markevery": max(1, n_points // 15)}


def name_systems(ax: Any) -> None:
    """Name the drawn systems in a legend to the right of the axes, or inside if the axes are in no grid."""
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    handles, names = ax.get_legend_handles_labels()
    if names:
        (width, height), beside = size_of(ax), ax.get_subplotspec() is not None
        wrapped, size = fitted(names, 0.4 * width, height)
        where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if beside else {"loc": "best"}
        legend = ax.legend(
            handles, wrapped, fontsize=size, frameon=not beside, handlelength=3, labelspacing=0.25, **where
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
    make_room(ax)


def label_of(name: str | None) -> str | None:
    """Label of a system, adapted because Matplotlib hides labels that start with an underscore."""
    return f"\N{NO-BREAK SPACE}{name}" if name is not None and name.startswith("_") else name


# --- numbers and tests in the style of papers ----------------------------------------------------------------


def test_in_words(test: str) -> str:
    """Name of a test: "t test", "Wilcoxon test"."""
    return f"{TEST_LABELS.get(test, test)} test"


def in_words(test: str, correction: str | None) -> str:
    """Name of a test and its correction: "t test, Holm-corrected"."""
    corrected = "not corrected" if correction is None else f"{CORRECTION_NAMES[correction]}-corrected"
    return f"{test_in_words(test)}, {corrected}"


def pvalue_text(pvalue: float) -> str:
    """Format a p-value in the style of papers: "p = 0.012", "p < 0.001"."""
    return "p < 0.001" if pvalue < 0.001 else f"p = {pvalue:.{2 if pvalue >= 0.0995 else 3}f}"


def signed_difference(value: float, width: float) -> str:
    """Format a signed difference to two digits of its interval width; without an interval, to three digits."""
    if 0 < width < math.inf:
        digits = max(0, 1 - math.floor(math.log10(width)))
        return f"{round(value, digits) + 0.0:+.{digits}f}".replace("-", MINUS)
    return f"{value:+#.3g}".replace("-", MINUS)
