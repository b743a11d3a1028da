"""Draw docs/pictures/: each image of docs/decide/pictures.md and of the first pages by the code above it.

pip install -e ".[plot,pandas,rankers]" && python docs/make_pictures.py    # or: docs/start/boosters.md
"""

import re
import sys
import tempfile
from contextlib import chdir
from pathlib import Path

import matplotlib.pyplot as plt
from PIL import Image

DOCS = Path(__file__).parent
PAGES = [
    DOCS / "getting_started.md",
    DOCS / "decide/pictures.md",
    DOCS / "start/boosters.md",
    DOCS / "start/dataframe.md",
    DOCS / "rag/README.md",
]


def main(page: Path) -> None:
    """Run the page; where an image follows a block of code, it is the figure that the block drew last."""
    names = {"__name__": page.stem}
    for code, image in re.findall(
        r"```python\n(.*?)```(?:\n\n!\[.*?\]\((.*?)\))?", page.read_text(), re.DOTALL
    ):
        exec(compile(code, str(page), "exec"), names)
        if image:
            plt.gcf().savefig(page.parent / image, dpi=200)
            plt.close("all")
            with Image.open(page.parent / image) as drawn:
                few_colors = drawn.convert("RGB").quantize(64)
            few_colors.save(page.parent / image, optimize=True)


if __name__ == "__main__":
    pages = [Path(name).resolve() for name in sys.argv[1:]] or [page.resolve() for page in PAGES]
    (DOCS / "pictures").mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # for what the pages write
        for one in pages:
            main(one)
