"""Appearance of systems: colors, line styles and markers, and names in a legend.

Colors are distinguishable with color blindness, and line styles or lightness differ in grayscale.
"""

from __future__ import annotations

from typing import Any

from sklearn_rank.display._figure import fitted, make_room, size_of

COLORS = (
    "#14213d", "#d55e00", "#56b4e9", "#661100", "#888888", "#f0a080", "#0072b2", "#000000", "#9acd32", "#a63a26",
    "#332288", "#c9b458",
)  # fmt: skip
"""Colors in the order of systems. Systems with the same line style differ in lightness."""
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", "h")

LIGHT = "#8fa3cc"
"""Color of an area that keeps a black line visible."""


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
