"""Parts of a picture: axes, styles that differ in grey too, legends, axes of counts."""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.optional import import_optional

COLORS = ("#14213d", "#a63a26", "#3aa99b", "#d9a21b", "#6b3fa0", "#7f7f7f")
LINES = ("-", "--", "-.", ":", (0, (6, 1, 1, 1, 1, 1)), (0, (1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P")
WRAP = 28
"""Characters per line of a name."""

MANY = 2000
"""Most points that are drawn: the eye cannot separate more."""


def open_axes(ax: Any, width: float = 7.2, height: float = 4.2) -> Any:
    """The axes given, or those of a new figure with room for a legend beside them."""
    pyplot = import_optional("matplotlib.pyplot", extra="plot", purpose="A picture")
    return pyplot.subplots(figsize=(width, height), layout="constrained")[1] if ax is None else ax


def style(number: int, n_points: int) -> dict[str, Any]:
    """Style of the line of a system, the first being number 0: colour, line style and marker differ."""
    i = number % len(COLORS)
    return {
        "color": COLORS[i],
        "linestyle": LINES[i],
        "marker": MARKERS[i],
        "markersize": 5,
        "markevery": max(1, n_points // 15),
    }


def value_label(metric: str, greater_is_better: bool) -> str:
    """Label of an axis of values."""
    name = display_name(metric)
    return name if greater_is_better else f"{name} (lower is better)"


def wrap(name: str | None) -> str | None:
    """A name on lines that fit beside a picture."""
    return name and textwrap.fill(name, WRAP)


def add_legend(ax: Any) -> None:
    """Legend of named lines: beside the axes if the layout of the figure makes room for it, else inside."""
    if ax.get_legend_handles_labels()[1]:
        from matplotlib.layout_engine import ConstrainedLayoutEngine

        beside = isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine)
        place = {"loc": "upper left", "bbox_to_anchor": (1, 1)} if beside else {"loc": "best"}
        ax.legend(fontsize="small", frameon=not beside, handlelength=3, **place)


def set_count_axis(ax: Any, counts: ArrayLike, label: str) -> None:
    """X axis of whole numbers; logarithmic where they span two decades."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator, NullFormatter

    low, high = np.min(counts), np.max(counts)
    ax.set_xlabel(label)
    if low > 0 and high >= 100 * low:
        ax.set_xscale("log")
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:g}"))
        ax.xaxis.set_minor_formatter(NullFormatter())
    elif ax.get_xscale() == "linear":
        ax.xaxis.set_major_locator(MaxNLocator(nbins=10, steps=[1, 2, 5, 10], integer=True))


def thin(n: int) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Which of n sorted points to draw: all, or `MANY` of them at equal distances, the ends among them."""
    return np.linspace(0, n - 1, min(n, MANY)).round().astype(np.int64)
