"""Results for the tests of pages, and the text of a page without a browser."""

import json
import re
from html.parser import HTMLParser

import numpy as np

from sklearn_rank import compare_systems

WORDS = "shoe lamp wireless leather raw tent bike helmet kit paper puzzle toy water steel cotton pump lens".split()
GAINS = {"bm25": 0.5, "two-tower": 0.9, "rm3": 0.45, "cross-encoder": 1.2, "popularity": 0.1}


def runs_of(n_queries, systems=("bm25", "two-tower"), n_documents=20, seed=0):
    """Judgments, with some unjudged documents, and runs that rank by grade plus noise."""
    rng, n = np.random.default_rng(seed), n_documents + 8
    qrels, runs = {}, {name: {} for name in systems}
    for q in range(n_queries):
        grade = rng.choice([0, 0, 0, 1, 1, 2, 3], n)
        qrels[f"q{q:05d}"] = {f"d{q}_{i}": int(grade[i]) for i in range(n) if rng.random() < 0.92}
        shared = rng.normal(size=n)
        for name in systems:
            score = GAINS[name] * grade + shared / 2 + rng.normal(size=n)
            runs[name][f"q{q:05d}"] = {f"d{q}_{i}": float(score[i]) for i in np.argsort(-score)[:n_documents]}
    return qrels, runs


def comparison(n_queries=40, metrics=("ndcg@10", "map", "mrr"), systems=("bm25", "two-tower"), **keywords):
    qrels, runs = runs_of(n_queries, systems)
    by = {"country": {q: ("DE", "FR", "UK", "US")[i % 4] for i, q in enumerate(qrels)}}
    return compare_systems(qrels, runs, metrics=[*metrics], by=by, on_misuse="ignore", **keywords)


def text_of(document):
    """Some words for a document or a query."""
    rng = np.random.default_rng([ord(c) for c in str(document)])
    return " ".join(rng.choice(WORDS, int(rng.integers(4, 18))))


class Reader(HTMLParser):
    """Elements of a page with their attributes, and the text in them."""

    def __init__(self, page):
        super().__init__()
        self.elements, self.scripts, self.shown, self._within = [], [], [], []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in ("meta", "input"):
            self._within.append(tag)

    def handle_endtag(self, tag):
        assert self._within.pop() == tag

    def handle_data(self, data):
        if self._within[-1:] == ["script"]:
            self.scripts.append(data)
        elif self._within[-1:] != ["style"]:
            self.shown.append(data)

    @property
    def text(self):
        """Text of elements, with blanks joined."""
        return re.sub(r"\s+", " ", "".join(self.shown))

    @property
    def data(self):
        return json.loads(self.scripts[0])
