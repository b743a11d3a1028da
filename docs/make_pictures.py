"""Draw docs/pictures/: each image of docs/pictures.md by the code above it.

pip install -e ".[plot]" && python docs/make_pictures.py
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt

PAGE = Path(__file__).with_name("pictures.md")


def main() -> None:
    """Run the page; where an image follows a block of code, it is the figure that the block drew last."""
    names = {"__name__": PAGE.stem}
    (PAGE.parent / "pictures").mkdir(exist_ok=True)
    for code, image in re.findall(r"```python\n(.*?)```(?:\n\n!\[.*?\]\((.*?)\))?", PAGE.read_text(), re.DOTALL):
        exec(compile(code, str(PAGE), "exec"), names)
        if image:
            plt.gcf().savefig(PAGE.parent / image, dpi=90)
            plt.close("all")


if __name__ == "__main__":
    main()
