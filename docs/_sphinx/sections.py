"""Sections of the site: a page that heads others lists them, and its list is the menu beside them.

So no page has a directive that GitHub would show as code, and a page that is in no menu fails the build.
"""

import re
from pathlib import Path

HEADS = ("README", "user_guide", "checked", "development")
"""Pages whose lists and tables are menus."""
START = ("start", "coming_from", "questions", "data_sets")
"""Folders of the first section, whose pages follow those that its head lists."""
LISTED = re.compile(r"^(?:- \[[^]]*|\|.*?)\]\(([\w/.]+)\.md", re.MULTILINE)
OUTSIDE = {"CONTRIBUTING": "contributing", "CHANGELOG": "changelog"}
"""Files beside `docs`, and the pages that include them."""


def add_menu(app, docname, source):
    """Append to a head of a section the menu of the pages that it lists."""
    source[0] = re.sub(r"\]\(((?:\.\./)+)(\w+)\.md", _inside, source[0])
    if Path(docname).name in HEADS:
        pages = LISTED.findall(source[0]) + (_of_start(app) if docname == "start/README" else [])
        menu = "\n".join(dict.fromkeys(pages))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{menu}\n```\n" if menu else ""


def _of_start(app):
    pages = [path for name in START for path in sorted((Path(app.srcdir) / name).glob("*.md"))]
    return [f"../{path.parent.name}/{path.stem}" for path in pages if path.stem != "README"]


def _inside(link):
    up, name = link.groups()
    return f"]({up[3:]}{OUTSIDE[name]}.md" if name in OUTSIDE else link[0]


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", add_menu)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
