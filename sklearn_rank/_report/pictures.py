"""Plots of the page in SVG: a dot with a line, a bar of queries won and lost, and sorted differences."""

from __future__ import annotations

from xml.etree.ElementTree import Element

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._report.content import Difference
from sklearn_rank._report.markup import element

BETTER_COLOR, WORSE_COLOR, NEUTRAL_COLOR, LINE_COLOR = "#0072b2", "#b54a00", "#666666", "#999999"
"""Colors for servers that remove the style sheet."""

ROW_WIDTH, ROW_HEIGHT = 220, 20

PICTURE_HEIGHT = 200

MOST_BARS = 1000


def place(x: float, largest: float) -> str:
    """Coordinate of a number on an axis from -largest to largest."""
    return f"{ROW_WIDTH / 2 + (ROW_WIDTH / 2 - 8) * x / largest:.1f}"


def dot(found: Difference, largest: float, *, greater_is_better: bool, margin: float | None = None) -> Element:
    """A dot with a line, to the right of the center if the system is better; filled if the test shows it."""
    sign = 1 if greater_is_better else -1
    kind, color = "", NEUTRAL_COLOR
    if found.is_shown and found.difference:
        kind, color = ("better", BETTER_COLOR) if sign * found.difference > 0 else ("worse", WORSE_COLOR)
    svg = element(
        "svg", viewBox=f"0 0 {ROW_WIDTH} {ROW_HEIGHT}", width=ROW_WIDTH, height=ROW_HEIGHT, aria_hidden="true"
    )
    middle = place(0, 1)
    svg.append(element("line", x1=middle, x2=middle, y1=-6, y2=ROW_HEIGHT + 6, stroke=LINE_COLOR, class_="zero"))
    if margin is not None:
        at = place(-margin, largest)
        svg.append(element("line", x1=at, x2=at, y1=-6, y2=ROW_HEIGHT + 6, stroke=LINE_COLOR, stroke_dasharray="3 3"))
    if found.difference is None:
        return svg
    if found.low is not None and found.high is not None:
        low, high = sorted((sign * found.low, sign * found.high))
        ends = {"x1": place(max(low, -largest), largest), "x2": place(min(high, largest), largest)}
        svg.append(element("line", y1=10, y2=10, stroke=color, stroke_width=2, class_=f"mark {kind}", **ends))
    fill = color if found.is_shown else "none"
    at = place(sign * found.difference, largest)
    svg.append(
        element("circle", cx=at, cy=10, r=4.5, stroke=color, stroke_width=1.5, fill=fill,
                class_=f"mark {kind or 'open'}")
    )  # fmt: skip
    return svg


def shares(won: int, tied: int, lost: int) -> Element:
    """A bar of the queries won, tied and lost."""
    svg, n, at = element("svg", viewBox="0 0 60 8", width=60, height=8, aria_hidden="true"), won + tied + lost, 0.0
    for count, kind, color in ((won, "better", BETTER_COLOR), (tied, "tied", "#dddddd"), (lost, "worse", WORSE_COLOR)):
        width = 60 * count / max(n, 1)
        svg.append(element("rect", x=f"{at:.1f}", y=0, width=f"{width:.1f}", height=8, fill=color, class_=kind))
        at += width
    return svg


def chosen(n: int) -> NDArray[np.int64]:
    """Indices of the queries to draw from n sorted queries: both ends, and others evenly between."""
    return np.linspace(0, n - 1, min(n, MOST_BARS)).round().astype(np.int64)


def bars(heights: NDArray[np.float64], mean: float | None) -> Element:
    """Bars of sorted numbers as a path for each sign, and a dashed line at the mean."""
    drawn, top, bottom = heights[chosen(len(heights))], heights.max(initial=0.0), heights.min(initial=0.0)
    scale, width = PICTURE_HEIGHT / ((top - bottom) or 1.0), 1000 / max(len(drawn), 1)
    zero = top * scale
    svg = element("svg", viewBox=f"0 0 1000 {PICTURE_HEIGHT}", preserveAspectRatio="none", id="bars",
                  aria_hidden="true")  # fmt: skip
    for kind, color, sign in (("better", BETTER_COLOR, 1), ("worse", WORSE_COLOR, -1)):
        steps = [
            f"M{i * width:.1f} {zero:.1f}v{-scale * x:.1f}h{width * 0.9:.2f}V{zero:.1f}z"
            for i, x in enumerate(drawn.tolist())
            if sign * x > 0
        ]
        svg.append(element("path", d="".join(steps), fill=color, class_=kind))
    for y, kind, dashes in ((zero, "zero", None), (zero - scale * (mean or 0.0), "mean", "6 4")):
        svg.append(element("line", x1=0, x2=1000, y1=f"{y:.1f}", y2=f"{y:.1f}", stroke=LINE_COLOR, class_=kind,
                           stroke_dasharray=dashes))  # fmt: skip
    return svg
