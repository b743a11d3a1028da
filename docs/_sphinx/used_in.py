"""An entry of the reference ends with the pages that use it most."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

from entries import ENTRIES, entry
from index_terms import REGISTRY

DOCS = Path(__file__).parents[1]
MOST = 4
"""Most pages that an entry names."""
CODE = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LITERAL = re.compile(r"`([^`\n]+)`")
IMPORT = re.compile(r"from (sklearn_rank[\w.]*) import (?:\(([^)]*)\)|(.*))")
PLACES = set(ENTRIES.values())
FOLDERS = (
    "", "coming_from/", "conventions/", "data_sets/", "decide/", "larger/",
    "questions/", "rag/", "recommenders/", "start/", "tools/", "tune/",
)  # fmt: skip
FAMILIES = {
    f"sklearn_rank.metrics.{metric.function_name}": f"metrics/{metric.formula.__module__.rpartition('.')[2]}"
    for metric in REGISTRY.values()
}
"""Page of the family of each metric."""


def pages():
    """Name and text of each page that explains."""
    for folder in FOLDERS:
        for page in sorted((DOCS / folder).glob("*.md")):
            yield f"{folder}{page.stem}", page.read_text()


def names_in(text):
    """Entries of the names that a page has in its prose and in its code, with repeats."""
    for literal in LITERAL.findall(CODE.sub("", text)):
        if target := entry(literal):
            yield next(place for place in (target, target.rpartition(".")[0]) if place in PLACES)
    code = "\n".join(CODE.findall(text))
    for module, in_brackets, in_line in IMPORT.findall(code):
        for name in re.findall(r"\w+", in_brackets or in_line):
            if place := ENTRIES.get(f"{module}.{name}"):
                yield from [place] * len(re.findall(rf"\b{name}\b", code))


@cache
def uses():
    """How often each page has each public name."""
    found = {place: Counter() for place in PLACES}
    for page, text in pages():
        for place in names_in(text):
            found[place][page] += 1
    return found


def add_pages(app, what, name, member, options, lines):
    """Append links to a docstring: the family of a metric first, then what uses it most."""
    if name in PLACES:
        links = [*filter(None, [FAMILIES.get(name)]), *(page for page, _ in uses()[name].most_common(MOST))]
        lines += ["", ".. seealso::", "", *(f"   - :doc:`/{link}`" for link in links), ""] if links else []


def setup(app):
    """Connect to Sphinx, after numpydoc has made sections of the docstring."""
    app.connect("autodoc-process-docstring", add_pages, priority=950)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
