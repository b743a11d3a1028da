"""Pages of the start end with a link to the same page as a notebook."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1]))
from make_notebooks import PAGES, write


def add_link(app, docname, source):
    """Append the link to the notebook of the page."""
    if docname in PAGES:
        source[0] += f"\n{{download}}`This page as a notebook </notebooks/{docname.replace('/', '_')}.ipynb>`\n"


def setup(app):
    """Connect to Sphinx."""
    app.connect("builder-inited", lambda app: write())
    app.connect("source-read", add_link)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
