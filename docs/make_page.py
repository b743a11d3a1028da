"""Write docs/decide/report.html, the page of the README's comparison, and its picture docs/decide/report.png.

pip install -e ".[browser,pandas]" && python docs/make_page.py
"""

import re
import shutil
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path

DOCS = Path(__file__).parent
PAGE, PICTURE = DOCS / "decide" / "report.html", DOCS / "decide" / "report.png"
CALL = 'compare_systems(frame, ["bm25", "reranker"], qid="query", metrics="ndcg@10")'


def page() -> str:
    """The page of the first comparison of the README."""
    readme = (DOCS.parent / "README.md").read_text()
    first = re.search(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)[1]
    assert CALL in first
    names = {}
    with redirect_stdout(StringIO()):
        exec(compile(first, "README.md", "exec"), names)
    return eval(CALL, names).to_html(code=f'{CALL}.save_html("report.html")')


def draw() -> None:
    """Photograph the page in Chromium, down to the lists of the query that lost most."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_page(viewport={"width": 920, "height": 1280})
        tab.goto(PAGE.as_uri())
        tab.screenshot(path=PICTURE)
        browser.close()


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    draw()
