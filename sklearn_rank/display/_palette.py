"""How systems look: twelve colours, line styles and markers, told apart by colour-blind eyes and in grey."""

from __future__ import annotations

from typing import Any

COLORS = (
    "#14213d", "#d55e00", "#56b4e9", "#661100", "#888888", "#f0a080", "#0072b2", "#000000", "#9acd32", "#a63a26",
    "#332288", "#c9b458",
)  # fmt: skip
"""Colours in the order of systems. Those that share a line style differ in lightness."""
LINES = ("-", "--", "-.", ":")
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "p", "*", "h")

LIGHT = "#8fa3cc"
"""Colour of an area on which a black line can be seen."""
READABLE = 0.18
"""Luminance of the lightest text that is legible on white: a contrast of 4.5."""


def look(number: int) -> dict[str, Any]:
    """Colour, line style and marker of a system, the first being number 0; the first 144 differ."""
    i, turn = number % len(COLORS), number // len(COLORS)
    return {
        "color": COLORS[i],
        "linestyle": LINES[i % len(LINES)],
        "marker": MARKERS[(i + turn) % len(MARKERS)],
    }


def line_style(number: int, n_points: int) -> dict[str, Any]:
    """Look of the line of a system, with markers at some of its points."""
    return look(number) | {"markersize": 5, "linewidth": 1.5, "markevery": max(1, n_points // 15)}


def luminance(color: Any) -> float:
    """Relative luminance of a colour, as WCAG defines it: 0 is black, 1 is white."""
    from matplotlib.colors import to_rgb

    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in to_rgb(color))
    return float(0.2126 * red + 0.7152 * green + 0.0722 * blue)


def ink(color: Any) -> tuple[float, ...]:
    """The colour, darkened until text in it is legible on white."""
    from matplotlib.colors import to_rgb

    rgb = to_rgb(color)
    while luminance(rgb) > READABLE:
        rgb = (0.95 * rgb[0], 0.95 * rgb[1], 0.95 * rgb[2])
    return rgb
