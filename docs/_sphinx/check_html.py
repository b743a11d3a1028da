"""Check the links of a built site: each leads to a file that is there, and to a place in it.

python docs/_sphinx/check_html.py docs/_build/html
"""

import sys
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """Links of a page, and the places that links may lead to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = set(), {"", "top"}
        self.feed(path.read_text())

    def handle_starttag(self, tag, attrs):
        """Keep what links and what can be linked to."""
        attrs = dict(attrs)
        self.links.update(attrs[key] for key in ("href", "src") if attrs.get(key))
        self.places.update(attrs[key] for key in ("id", "name") if attrs.get(key))


page = cache(Page)


def broken(path):
    """Links of a page that lead nowhere."""
    for link in sorted(page(path).links):
        url = urlsplit(link)
        if url.scheme or url.netloc:
            continue
        target = (path.parent / unquote(url.path)).resolve() if url.path else path
        if not target.is_file() or (target.suffix == ".html" and unquote(url.fragment) not in page(target).places):
            yield link


def main(folder):
    """Print each link that is broken; return how many are."""
    skipped = {"_static", "_modules"}  # sources link back to the package of a name, which may be an inner one
    paths = [path.resolve() for path in sorted(Path(folder).rglob("*.html")) if not skipped & {*path.parts}]
    wrong = [f"{path}: {link}" for path in paths for link in broken(path)]
    print(*wrong, f"{len(paths)} pages, {sum(len(page(p).links) for p in paths)} links, {len(wrong)} broken", sep="\n")
    return len(wrong)


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1])))
