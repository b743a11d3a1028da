"""Appearance of systems: colors, line styles and markers, and names at the ends of curves or in a legend.

Colors are distinguishable with color blindness, and line styles or lightness differ in grayscale.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_rank._utils.typing import Array
from sklearn_rank.display._figure import AROUND, TALL, Fit, cell_of, fit, is_laid_out, shortened, widen_margins

COLORS = (
    "#14213d", "#d55e00", "#56b4e9", "#661100", "#888888", "#f0a080", "#0072b2", "#000000", "#9acd32", "#a63a26",
    "#332288", "#c9b458",
)  # fmt: skip
"""Colors in the order of systems. Systems with the same line style differ in lightness."""
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", "h")

LIGHT = "#8fa3cc"
"""Color of an area that keeps a black line visible."""
READABLE = 0.18
"""Maximum luminance of legible text on white, for a contrast of 4.5."""
HANDLE = 5.0
"""Width of the line before a name in a legend and of the gaps around it, in font sizes."""
GAP = 8.0
"""Distance of a name from the axes, in points."""
NAME_SHARE = 0.4
"""Maximum share of the width for names."""


def style_of(number: int) -> dict[str, Any]:
    """Color, line style and marker of a system by its number from 0; the first 144 differ."""
    i, turn = number % len(COLORS), number // len(COLORS)
    return {
        "color": COLORS[i],
        "linestyle": LINES[i % len(LINES)],
        "marker": MARKERS[(i + turn) % len(MARKERS)],
    }


def line_style(number: int, n_points: int) -> dict[str, Any]:
    """Style of the line of a system, with markers at some of its points."""
    return style_of(number) | {"markersize": 5, "linewidth": 1.5, "markevery": max(1, n_points // 15)}


def luminance(color: Any) -> float:
    """Relative luminance of a color by WCAG's definition: 0 is black, 1 is white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color))
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def ink(color: Any) -> tuple[float, ...]:
    """Darken a color until its text is legible on white."""
    from matplotlib.colors import to_rgb

    rgb = to_rgb(color)
    while luminance(rgb) > READABLE:
        rgb = (0.95 * rgb[0], 0.95 * rgb[1], 0.95 * rgb[2])
    return rgb


class Ends:
    """Positions of names at the right ends of curves, moved apart."""

    def __init__(self, ax: Any, ends: Any, heights: Sequence[float]) -> None:
        self.ax, self.ends, self.heights = ax, ends, np.array(heights)
        self.key, self.spread = (b"", 0.0, 0.0), self.heights

    def positions(self) -> Array:
        """Vertical center of each name, in pixels: near the end of its curve, without overlap."""
        at = self.ax.transData.transform(self.ends)[:, 1]
        key = (at.tobytes(), self.ax.bbox.y0, self.ax.bbox.y1)
        if key != self.key:
            self.key, self.spread = key, self._spread(at)
        return self.spread

    def _spread(self, at: Array) -> Array:
        from sklearn.isotonic import isotonic_regression

        heights = self.heights * self.ax.figure.dpi / 72
        order = np.argsort(at, kind="stable")
        # The center of each name if all names were one stack.
        below = np.cumsum(heights[order]) - heights[order] / 2
        low, high = self.ax.bbox.y0, self.ax.bbox.y1 - heights.sum()
        pile = isotonic_regression(at[order] - below, y_min=low, y_max=max(low, high))
        positions = np.empty(len(at))
        positions[order] = pile + below
        return positions


class AtEnd:
    """Position of a name at a curve's end; Matplotlib calls it at each drawing."""

    def __init__(self, ends: Ends, number: int) -> None:
        self.ends, self.number = ends, number

    def __call__(self, renderer: Any) -> Any:
        """Box of one pixel at the start of the name."""
        from matplotlib.transforms import Bbox

        ax = self.ends.ax
        x = ax.bbox.x1 + GAP * ax.figure.dpi / 72
        return Bbox.from_bounds(x, self.ends.positions()[self.number], 1, 1)


def name_systems(ax: Any, *, on_curves: bool = False) -> None:
    """Label the drawn systems, replacing earlier labels, and widen the margins."""
    for text in [text for text in ax.texts if isinstance(getattr(text, "anncoords", None), AtEnd)]:
        text.remove()
    if ax.get_legend() is not None:
        ax.get_legend().remove()
    handles, names = ax.get_legend_handles_labels()
    lines = [_line_of(handle) for handle in handles]
    fitted = _fit_at_ends(ax, lines, names) if on_curves and names and is_laid_out(ax) else None
    if fitted is not None:
        _label_ends(ax, lines, fitted)
    elif names:
        _add_legend(ax, handles, names)
    widen_margins(ax)


def label_of(name: str | None) -> str | None:
    """Label of a system, adapted because Matplotlib hides labels that start with an underscore."""
    return f"\N{NO-BREAK SPACE}{name}" if name is not None and name.startswith("_") else name


def last_point(line: Any) -> Any:
    """Last drawn point of a line."""
    points = np.asarray(line.get_xydata())
    drawn = points[np.isfinite(points).all(axis=1)]
    return np.asarray(drawn[-1] if len(drawn) else [np.nan, np.nan])


def _line_of(handle: Any) -> Any:
    """Line of a legend entry; None if the entry is not a curve."""
    from matplotlib.container import ErrorbarContainer
    from matplotlib.lines import Line2D

    line = handle[0] if isinstance(handle, ErrorbarContainer) else handle
    return line if isinstance(line, Line2D) and np.size(line.get_xdata()) else None


def _fit_at_ends(ax: Any, lines: Sequence[Any], names: Sequence[str]) -> Fit | None:
    """Fit names to the ends of the curves, if all curves end at the right side."""
    if any(line is None or np.isnan(last_point(line)).any() for line in lines):
        return None
    ends = ax.transData.transform([last_point(line) for line in lines])[:, 0]
    if np.ptp(ends) > 0.03 * ax.bbox.width:
        return None
    width, height = cell_of(ax)
    return fit(names, NAME_SHARE * width - GAP, height - AROUND)


def _label_ends(ax: Any, lines: Sequence[Any], fitted: Fit) -> None:
    heights = [(name.count("\n") + 1) * TALL * fitted.size for name in fitted.names]
    ends = Ends(ax, [last_point(line) for line in lines], heights)
    for i, (line, name) in enumerate(zip(lines, fitted.names, strict=True)):
        ax.annotate(
            name, last_point(line), (0, 0), textcoords=AtEnd(ends, i), fontsize=fitted.size,
            color=ink(line.get_color()), parse_math=False,
            va="center_baseline" if "\n" not in name else "center", linespacing=1.1, annotation_clip=False,
            arrowprops={
                "arrowstyle": "-", "color": line.get_color(), "linewidth": 0.6, "shrinkA": 1, "shrinkB": 3,
                "relpos": (0, 0.5),
            },
        )  # fmt: skip


def _add_legend(ax: Any, handles: Sequence[Any], names: Sequence[str]) -> None:
    """Add a legend to the right of the axes if the figure has room, otherwise inside."""
    outside, (width, height) = is_laid_out(ax), cell_of(ax)
    width, height = (NAME_SHARE * width, height - AROUND) if outside else (0.7 * width, 0.6 * height)
    fitted = fit(names, width, height, lines=0.2, handle=HANDLE) or shortened(names, width, HANDLE)
    where: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if outside else {"loc": "best"}
    legend = ax.legend(
        handles, fitted.names, fontsize=fitted.size, frameon=not outside, handlelength=3, labelspacing=0.25, **where
    )
    for text in legend.get_texts():
        text.set_parse_math(False)
