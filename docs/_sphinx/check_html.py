"""Check a built site: each link leads to a file that is there and to a place in it, none to an address of mail, and
each name in a table of the reference has its first sentence beside it.

python docs/_sphinx/check_html.py docs/_build/html
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links of a page, the places that links may lead to, and the tables whose names have an empty cell beside them."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places, self.bare, self.words = set(), {"", "top"}, 0, None
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        """Keep what links and what can be linked to."""
        attrs = dict(attrs)
        self.links.update(attrs[key] for key in ("href", "src") if attrs.get(key))
        self.places.update(attrs[key] for key in ("id", "name") if attrs.get(key))
        if tag == "table":
            self.words = "" if "autosummary" in (attrs.get("class") or "") else None
        elif tag == "td" and self.words is not None:
            self.words = ""

    def handle_data(self, data):
        """Keep the words of a cell."""
        if self.words is not None:
            self.words += data

    def handle_endtag(self, tag):
        """Count rows that end with an empty cell."""
        self.bare += tag == "tr" and self.words is not None and not self.words.strip()
        if tag == "table":
            self.words = None


page = cache(Page)


def broken(path):
    """Links of a page that lead nowhere."""
    for link in sorted(page(path).links):
        url = urlsplit(link)
        if url.scheme or url.netloc:
            if url.scheme == "mailto":  # ndcg@10, which looks like one
                yield link
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if not target.is_file() or (target.suffix == ".html" and unquote(url.fragment) not in page(target).places):
            yield link


def main(folder):
    """Print each link that is broken; return how many are."""
    skipped = {"_static", "_modules"}  # sources link back to the package of a name, which may be an inner one
    paths = [path.resolve() for path in sorted(Path(folder).rglob("*.html")) if not skipped & {*path.parts}]
    wrong = [f"{path}: {link}" for path in paths for link in broken(path)]
    bare = [f"{path}: {page(path).bare} names without a sentence" for path in paths if page(path).bare]
    n_links = sum(len(page(path).links) for path in paths)
    print(*wrong, *bare, f"{len(paths)} pages, {n_links} links, {len(wrong)} broken", sep="\n")
    return len(wrong + bare)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1])))
