"""Elements of the page and the whole document, made with ElementTree, which escapes all text."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from typing import Any
from xml.etree.ElementTree import Element, tostring

from sklearn_rank._tell.text import Parts, escaped, visible

POLICY = (
    "default-src 'none'; script-src '{script}'; style-src '{style}'; base-uri 'none'; form-action 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'"
)
"""Content security policy: allows only the script and the style sheet of this package, by hash."""

LONGEST_WORD = 14
"""Number of characters of a word that is never broken; the script has the same."""

CLASSES = {"+": "better", "-": "worse"}

Child = Element | str | None


def element(tag: str, *children: Child, **attributes: Any) -> Element:
    """Make an element; in names of attributes, a final underscore is removed, others become hyphens."""
    given = {name.rstrip("_").replace("_", "-"): str(value) for name, value in attributes.items() if value is not None}
    made = Element(tag, given)
    for child in children:
        append(made, child)
    return made


def append(parent: Element, child: Child) -> None:
    """Add an element, or text, at the end."""
    if isinstance(child, str):
        if len(parent):
            parent[-1].tail = (parent[-1].tail or "") + child
        else:
            parent.text = (parent.text or "") + child
    elif child is not None:
        parent.append(child)


def name(value: Any) -> Element:
    """Element for an id or a name from the data."""
    shown = visible(value)
    return element("bdi", shown, class_=long(shown))


def long(text: str) -> str | None:
    """Class of a text with a word that may be broken."""
    return "long" if max(map(len, text.split()), default=0) > LONGEST_WORD else None


def sentence(parts: Parts) -> list[Child]:
    """Children of a sentence in parts."""
    made: list[Child] = []
    for kind, text in parts:
        shown = name(text) if kind == "name" else escaped(text)
        made.append(element("span", shown, class_=CLASSES[kind]) if kind in CLASSES else shown)
    return made


def number_cell(text: str, class_: str = "") -> Element:
    """A cell with a number."""
    return element("td", text, class_=f"number {class_}".strip())


@cache
def part_of_package(file_name: str) -> tuple[str, str]:
    """The script or the style sheet, and its hash for the policy."""
    content = files("sklearn_rank._report").joinpath(file_name).read_text(encoding="utf-8")
    digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
    return content, f"sha256-{digest}"


def document(title: str, main: Element, data: str) -> str:
    """Return the whole file; `data` is JSON without `<`, `>` and `&`."""
    (script, script_hash), (style, style_hash) = map(part_of_package, ("page.js", "page.css"))
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy",
                content=POLICY.format(script=script_hash, style=style_hash)),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", style),
    )  # fmt: skip
    body = element("body", main, element("script", data, type="application/json", id="data"), element("script", script))
    return "<!DOCTYPE html>\n" + tostring(element("html", head, body, lang="en"), "unicode", method="html") + "\n"
