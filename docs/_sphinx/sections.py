"""Sections of the site: a page that heads others lists them, and its list is the menu beside them.

So no page has a directive that GitHub would show as code, and a page that is in no menu fails the build.
"""

import re
from pathlib import Path

HEADS = ("README", "user_guide", "checked", "development")
"""Pages whose lists and tables are menus."""
START = ("coming_from/README", "questions/README", "data_sets/README")
"""Heads that are in the menu of the first section."""
LISTED = re.compile(r"^(?:- \[[^]]*|\|.*?)\]\(([\w/.]+)\.md", re.MULTILINE)
OUTSIDE = {"CONTRIBUTING": "contributing", "CHANGELOG": "changelog"}
"""Files beside `docs`, and the pages that include them."""


def add_menu(app, docname, source):
    """Append to a head of a section the menu of the pages that it lists."""
    source[0] = re.sub(r"\]\(((?:\.\./)+)(\w+)\.md", _inside, source[0])
    if Path(docname).name in HEADS:
        pages = LISTED.findall(source[0])
        if docname == "start/README":
            pages = ["install", *pages, *(f"/{head}" for head in START if (Path(app.srcdir) / f"{head}.md").exists())]
        menu = "\n".join(dict.fromkeys(pages))
        source[0] += f"\n```{{toctree}}\n:hidden:\n\n{menu}\n```\n" if menu else ""


def _inside(link):
    up, name = link.groups()
    return f"]({up[3:]}{OUTSIDE[name]}.md" if name in OUTSIDE else link[0]


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", add_menu)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
