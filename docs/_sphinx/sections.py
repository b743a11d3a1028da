"""Sections of the site: a page that heads others lists them, and its list is the menu beside them.

So no page has a directive that GitHub would show as code, and a page that is in no menu fails the build.
"""

import posixpath
import re
from pathlib import Path

HEADS = ("README",)
"""Pages whose lists and tables are menus."""
INDEX = Path(__file__).parents[1] / "index.md"
_ENTRIES = re.findall(r"<(\w+(?:/README)?)>$", INDEX.read_text(encoding="utf-8"), re.MULTILINE)
_OTHERS = "|".join(entry.removesuffix("README") for entry in _ENTRIES)
LISTED = re.compile(rf"^(?:- |\|.*?)\[([^]]*)\]\((?!\.\./(?:{_OTHERS}))([\w/.]+)\.md", re.MULTILINE)
"""The first link of each line of a list or a table, but for pages of other sections, which have menus of their own."""
AS_WRITTEN = {"scikit-learn", "pytrec_eval and ir_measures", "ragas and deepeval", "ranx", "torchmetrics", "implicit"}
"""Words of a list that begin with a name in lower case."""
OUTSIDE = {"CONTRIBUTING": "contributing", "CHANGELOG": "changelog", "SECURITY": "SECURITY"}
"""Files beside `docs`, and the pages that include them."""
OPENED = re.compile(r"\[([^]]*)\]\((\w+\.html)\)")
"""A link to a page that is no source of the site: a browser opens it, where Sphinx would offer a download."""
UPWARDS = re.compile(r"\[([^]]*)\]\(\.\./([\w./]+\.md)(?:#[\w-]*)?\)")
"""A link to a Markdown file in a folder above that of the page."""


def add_menu(app, docname, source):
    """Append to a head of a section the menu of the pages that it lists."""
    source[0] = OPENED.sub(r'<a href="../\2">\1</a>', source[0])
    source[0] = UPWARDS.sub(lambda link: _on_the_site(docname, link), source[0])
    if Path(docname).name in HEADS:
        menu = {}
        for words, page in LISTED.findall(source[0]):
            menu.setdefault(page, _entry(words, page))
        source[0] += "\n```{toctree}\n:hidden:\n\n" + "\n".join(menu.values()) + "\n```\n" if menu else ""


def _entry(words, page):
    """A line of the menu: the words of the list, or the title of the page where they are code."""
    name = words if words in AS_WRITTEN else f"{words[:1].upper()}{words[1:]}"
    return page if "`" in words else f"{name} <{page}>"


def _on_the_site(docname, link):
    """The link, or one to the page that includes the file; the path of other files that are not in `docs`."""
    words, path = link.groups()
    target = posixpath.normpath(posixpath.join("docs", posixpath.dirname(docname), "..", path))
    if target.startswith("docs/"):
        return link[0]
    stem = target.removesuffix(".md")
    return f"[{words}]({path.removesuffix(target)}{OUTSIDE[stem]}.md)" if stem in OUTSIDE else f"{words} (`{target}`)"


def setup(app):
    """Connect to Sphinx."""
    app.connect("source-read", add_menu)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
