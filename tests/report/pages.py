"""Results for the tests of pages, and the text of a page without a browser."""

import json
import re
from html.parser import HTMLParser

import numpy as np

from sklearn_rank import compare_systems, evaluate_run, metric
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import no_worse

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


def of_values(columns, **keywords):
    """Comparison of systems that have these values of the metric "m"."""
    made = {name: Evaluation.from_values(range(len(x)), {"m": x}, **keywords) for name, x in columns.items()}
    return compare_systems(made, baseline=next(iter(made)), on_misuse="ignore")


def many_pages():
    """Results whose pages differ most, and options of their pages: (name, result, options)."""
    metric("earned", columns=["price"])(lambda r: r.cumsum(r.column("price") * r.relevant))
    rng = np.random.default_rng(0)
    old, gain, runs_of_one = rng.random(60), rng.normal(0.1, 0.3, 60), rng.random((3, 40))
    systems = ("bm25", "two-tower", "rm3", "cross-encoder", "popularity")
    qrels, runs = runs_of(40, systems)
    runs |= {f"{name}-tuned": runs_of(40, systems, seed=1)[1][name] for name in systems[:3]}
    by = {"country": {q: ("Germany", "France", "Italy", "Spain")[i % 4] for i, q in enumerate(qrels)},
          "device": {q: ("phone", "desktop", "tablet")[i % 3] for i, q in enumerate(qrels)}}  # fmt: skip
    eight = compare_systems(qrels, runs, metrics=["ndcg@10", "map", "mrr"], by=by, on_misuse="ignore")
    small_qrels, small = runs_of(5)
    label, price = rng.integers(0, 3, 150).astype(float), rng.integers(1, 99, 150)
    scores = {"old": rng.random(150), "new": rng.random(150) + label / 2}
    of_runs = {
        name: Evaluation.of_runs(
            [Evaluation.from_values(range(40), {"m": np.clip(x + shift, 0, 1)}) for x in runs_of_one]
        )
        for name, shift in (("old", 0.0), ("new", 0.1))
    }
    three = {name: evaluate_run(qrels, runs[name], metrics=["ndcg@10", "map", "mrr"], by=by) for name in systems[:2]}
    return [
        ("two by five", compare_systems(small_qrels, small, metrics="ndcg@10", on_misuse="ignore"), {"text": text_of}),
        ("eight systems", eight, {}),
        ("tiny", of_values({"old": 0.5 + old * 1e-3, "new": 0.5 + old * 1e-3 + gain * 1e-7}), {}),
        ("huge", of_values({"old": old * 1e9, "new": (old + gain) * 1e9}), {}),
        ("missing", of_values({"old": np.where(old < 0.2, np.nan, old),
                               "new": np.where(old > 0.8, np.nan, old + gain)}), {}),
        ("errors", of_values({"old": old, "new": old - gain / 5}, greater_is_better={"m": False}), {}),
        ("several runs", compare_systems(of_runs, on_misuse="ignore"), {}),
        ("gate", no_worse(old=three["bm25"], new=three["two-tower"], margin=0.02), {}),
        ("prices", compare_systems(label, scores, qid=np.repeat(np.arange(30), 5), metrics=["earned@3", "ndcg@3"],
                                   price=price, on_misuse="ignore"), {}),
        ("scripts of the world", comparison(12), {"query_text": lambda q: SCRIPTS[int(q[1:]) % 4],
                                                  "text": lambda d: SCRIPTS[len(d) % 4]}),
        ("one system", three["bm25"], {"title": "bm25"}),
    ]  # fmt: skip


SCRIPTS = (
    "\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0915\u094d\u200d\u0937",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467", "cafe\u0301",
)  # fmt: skip
"""Persian, Hindi, an emoji of three people, and a decomposed letter."""


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
