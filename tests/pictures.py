"""Draw every Display at three sizes, of one, three and twelve systems, in one and in two axes, to be looked at.

python tests/pictures.py FOLDER [DISPLAY ...]

A sheet for each Display, and the same sheet in grey.
"""

import io
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")
sys.path.insert(0, str(Path(__file__).with_name("display")))
import matplotlib.pyplot as plt  # noqa: E402
import numpy as np  # noqa: E402
from test_display_text import ARGUMENT, RESULTS  # noqa: E402

from sklearn_rank.display import CriticalDifferenceDisplay, DifferenceDisplay  # noqa: E402

OF_TWO = {DifferenceDisplay, CriticalDifferenceDisplay}
"""Displays of two systems or more."""
SIZES = {"small": (3, 2.2), "default": None, "large": (12, 7)}
SHORT = {f"model {i}": result for i, result in enumerate(RESULTS.values())}
ROWS = {
    "one": (RESULTS, 1), "three": (SHORT, 3), "twelve": (SHORT, 12), "three long": (RESULTS, 3),
    "twelve long": (RESULTS, 12),
}  # fmt: skip


def pixels(figure):
    """Picture of a figure, as a notebook shows it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=100)
    plt.close(figure)
    return plt.imread(io.BytesIO(buffer.getvalue()))[:, :, :3]


def pictures(display_class, results, n):
    """A Display in a figure of each size, then next to another in a figure without and with a layout."""
    some = dict(list(results.items())[: max(n, 1 + (display_class in OF_TWO))])
    for size in SIZES.values():
        ax = None if size is None else plt.figure(figsize=size).add_subplot()
        yield pixels(display_class.from_results(some, *ARGUMENT[display_class], ax=ax).figure_)
    for layout in (None, "constrained"):
        figure, axes = plt.subplots(1, 2, figsize=(11, 4), layout=layout)
        for ax in axes:
            display_class.from_results(some, *ARGUMENT[display_class], ax=ax)
        yield pixels(figure)


def sheet(display_class):
    """All pictures of a Display, a row for each number of systems."""
    rows = [[*pictures(display_class, *row)] for row in ROWS.values()]
    widths = [max(row[i].shape[1] for row in rows) + 8 for i in range(len(rows[0]))]
    heights = [max(picture.shape[0] for picture in row) + 8 for row in rows]
    whole = np.full((sum(heights), sum(widths), 3), 0.75)
    for row, y in zip(rows, np.cumsum([0, *heights]), strict=False):
        for picture, x in zip(row, np.cumsum([0, *widths]), strict=False):
            whole[y : y + picture.shape[0], x : x + picture.shape[1]] = picture
    return whole


def main(folder):
    """Write the sheets."""
    folder.mkdir(parents=True, exist_ok=True)
    for display_class in (c for c in ARGUMENT if c.__name__ in sys.argv[2:] or not sys.argv[2:]):
        whole = sheet(display_class)
        plt.imsave(folder / f"{display_class.__name__}.png", whole)
        plt.imsave(
            folder / f"{display_class.__name__}_grey.png", whole @ [0.2126, 0.7152, 0.0722], cmap="gray", vmin=0, vmax=1
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
