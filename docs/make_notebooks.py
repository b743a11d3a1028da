"""Write pages as notebooks whose cells are the pages' own text and code, into docs/notebooks/.

python docs/make_notebooks.py && jupyter lab docs/notebooks
"""

import json
import re
from pathlib import Path

DOCS = Path(__file__).parent
PAGES = (
    "getting_started", "start/boosters", "start/dataframe", "start/pytorch", "start/runs", "tune/hybrid",
    "decide/golden_set",
)  # fmt: skip
CODE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n(.*?)^```\n)?", re.MULTILINE | re.DOTALL)
"""A block of code, and what it prints."""


def notebook(page: str) -> dict:
    """The page as a notebook: its code with what it prints, and its text with links that work from ``docs/notebooks``."""
    folder, text, cells = Path(page).parent.as_posix(), (DOCS / f"{page}.md").read_text(), []
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}

    def add(kind: str, source: str, **more: object) -> None:
        if source.strip():
            one = {
                "cell_type": kind,
                "metadata": {},
                "source": source.strip().splitlines(keepends=True),
            }
            cells.append(one | {"id": f"cell-{len(cells)}"} | more)

    def add_text(text: str) -> None:
        add("markdown", re.sub(r"\]\((?!https?:|#)", f"](../{folder}/", text))

    position = 0
    for block in CODE.finditer(text):
        add_text(text[position : block.start()])
        code, printed = block.groups()
        shown = {
            "name": "stdout",
            "output_type": "stream",
            "text": (printed or "").splitlines(keepends=True),
        }
        add("code", code, execution_count=None, outputs=[shown] if printed else [])
        position = block.end()
    add_text(text[position:])
    return {
        "cells": cells,
        "metadata": {"kernelspec": kernel},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def write() -> dict[str, Path]:
    """Write all notebooks; returns the file of each page."""
    files = {page: DOCS / "notebooks" / f"{page.replace('/', '_')}.ipynb" for page in PAGES}
    (DOCS / "notebooks").mkdir(exist_ok=True)
    for page, file in files.items():
        file.write_text(json.dumps(notebook(page), indent=1, ensure_ascii=False) + "\n")
    return files


if __name__ == "__main__":
    print(*write().values(), sep="\n")
