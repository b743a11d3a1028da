"""The page of a result, and texts of documents and queries from files."""

from __future__ import annotations

import argparse
import gzip
import json
import os
import shlex
from collections.abc import Iterator
from typing import Any

from sklearn_rank._report.content import Content, Options
from sklearn_rank._report.has_page import HasPage, check_lists
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.storage import replacing


def write_page(options: argparse.Namespace, result: HasPage, output: str, title: str | None = None) -> Content:
    """Write the page of a result to a file, with texts only for the listed documents."""
    from sklearn_rank._report.page import to_html  # loads what writes XML

    # The command without folders.
    words = (os.path.basename(word) if os.sep in word else word for word in options.arguments)
    command = shlex.join(["sklearn-rank", *words])
    content = result._content(Options(title, None, None, check_lists(options.lists), command))
    if options.texts is not None:
        content.text = _texts(options.texts, {one.id for found in content.lists.values() for one in found.documents})
    if options.query_texts is not None:
        content.query_text = _texts(options.query_texts, {*content.ids})
    page = to_html(content, options.title)
    with replacing(output) as file:
        file.write(page.encode())
    return content


def _texts(path: str, ids: set[Any]) -> Any:
    names = {str(one): one for one in ids}
    texts = {names[name]: text for name, text in _lines(path) if name in names}
    if ids and not texts:
        raise ValueError(f"{echo(path)} must have texts by ids like {echo(min(names))}. Got none for {len(ids)} ids.")
    return texts.get


def _lines(path: str) -> Iterator[tuple[str, str]]:
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8") as file:
        for number, line in enumerate(file, start=1):
            if line.startswith("{"):
                row = json.loads(line)
                name = row.get("_id", row.get("id"))
                text = " ".join(filter(None, [row.get("title"), row.get("text")]))
                yield str(name), text
            elif line.strip():
                name, tab, text = line.rstrip("\n").partition("\t")
                if not tab:
                    raise ValueError(
                        f"Line {number} of {echo(path)} must be an id, a tab and a text. Got {echo(line)}."
                    )
                yield name, text
