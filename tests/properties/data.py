"""Random rows: labels, scores and queries as plain numbers, with many special cases.

All choices come from one `random.Random`, which may be hypothesis'.
"""

from dataclasses import dataclass
from functools import cached_property
from math import inf, nan, nextafter
from typing import Any, NamedTuple

NAN = nan
TINY, LEAST, MOST = 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308


class Row(NamedTuple):
    query: int
    label: Any
    """A number, NaN for a document that nobody judged, or a tuple of them for subtopics."""
    score: float


@dataclass(frozen=True)
class Data:
    rows: list[Row]
    weights: dict[int, float] | None = None
    """Weight of each query."""
    keys: list[int] | None = None
    """What breaks ties, of each row."""

    @cached_property
    def queries(self):
        """Documents of each query in order of first appearance: label, score and key of each."""
        lists = {}
        for i, (query, label, score) in enumerate(self.rows):
            lists.setdefault(query, []).append((label, score, 0 if self.keys is None else self.keys[i]))
        return {query: tuple(documents) for query, documents in lists.items()}

    @cached_property
    def sizes(self):
        """Distinct sizes of labels and of finite scores."""
        labels = {abs(y) for row in self.rows for y in (row.label if isinstance(row.label, tuple) else (row.label,))}
        return {y for y in labels if y == y}, {abs(row.score) for row in self.rows if row.score > -inf}

    def select(self, places):
        """The rows at some places."""
        places = list(places)
        keys = None if self.keys is None else [self.keys[i] for i in places]
        return Data([self.rows[i] for i in places], self.weights, keys)

    @cached_property
    def labels(self):
        return [row.label for row in self.rows]

    @cached_property
    def scores(self):
        return [row.score for row in self.rows]

    @cached_property
    def ids(self):
        return [row.query for row in self.rows]

    @property
    def row_weights(self):
        return None if self.weights is None else [self.weights[row.query] for row in self.rows]


# --- labels --------------------------------------------------------------------------------------------------

GRADES = [0, 1, 2, 3, 4]

LABELS = {
    "binary": [0, 1],
    "rare": [0, 0, 0, 0, 0, 1],
    "grades": GRADES,
    "zeros": [0],
    "ones": [1],
    "halves": [0, 0.5, 1, 1.5, 3.5],
    "probabilities": [0, 0.25, 0.1, 1 / 3, 0.9, 1],
    "small probabilities": [0, 1e-9, 1e-5, 0.999999999999],
    "signed": [-2, -1, 0, 1, 2],
    "near one": [nextafter(1, 0), 1, nextafter(1, 2), nextafter(0.5, 1), 0.5],
    "end of bytes": [0, 1, 30, 31],
    "beyond bytes": [0, 1, 31, 32],
    "half beside bytes": [0, 1, 31, 0.5],
    "zero of both signs": [0.0, -0.0, 1.0],
    "large": [0, 1, 52, 53, 64, 900, 1000],
    "end of 2**label": [0, 999.5, 1000, nextafter(1000, 2000)],
    "overflowing": [0, 1, 1000, nextafter(1000, 2000), 1023, 1024, 1e6],
    "huge": [0, 1, 1e100, 1e200, 1e307, MOST],
    "tiny": [0, TINY, LEAST, 1e-300, 1e-100, 1e-20],
    "unjudged": [0, 1, 2, NAN],
    "all unjudged": [NAN],
    "unjudged and negative": [-1, 0, 1, 2, NAN],
}
"""Labels of documents, by kind."""

SUBTOPICS = {
    "binary": [0, 1],
    "rare": [0, 0, 0, 1],
    "zeros": [0],
    "grades": [0, 1, 2],
    "unjudged": [0, 1, NAN],
    "halves": [0, 0.5, 1],
}
"""Labels of documents for one subtopic, by kind."""


def draw_label(rng, kind, n_subtopics):
    if n_subtopics:
        return tuple(float(rng.choice(SUBTOPICS[kind])) for _ in range(n_subtopics))
    return float(rng.choice(LABELS[kind]))


# --- scores --------------------------------------------------------------------------------------------------


def chain(start, n, towards=inf):
    """Adjacent floats."""
    out = [start]
    while len(out) < n:
        out.append(nextafter(out[-1], towards))
    return out


SCORES = {
    "few": [0.0, 0.5, 1.0],
    "zeros": [0.0, -0.0],
    "one": [0.25],
    "signs": [-1.5, -0.0, 0.0, 2.0],
    "adjacent": chain(1.0, 5),
    "adjacent below": chain(0.1, 4, -inf),
    "subnormal": [-TINY, -0.0, 0.0, TINY, 2 * TINY, LEAST, chain(LEAST, 2, 0.0)[1]],
    "huge": [-MOST, -1e308, 1.0, 1e308, *chain(MOST, 3, 0.0)],
    "large ints": [2.0**53, 2.0**53 - 1, 2.0**52 + 1, -(2.0**53)],
}
"""Scores of documents, by kind: many of them are tied."""


def draw_score(rng, kind, i, n):
    if kind == "distinct":
        return float(i) - n // 2
    if kind == "random":
        return rng.random() * 8 - 4
    return rng.choice(SCORES[kind])


def draw_scores(rng, n):
    """Scores of a query. A long query has few ties, so that all orders can be enumerated."""
    kind = rng.choice([*SCORES, "distinct", "random"])
    if n > 6 and kind in SCORES:
        kind = rng.choice(["distinct", "random"])
    scores = [draw_score(rng, kind, i, n) for i in range(n)]
    if n > 6:
        for _ in range(rng.randrange(4)):
            scores[rng.randrange(n)] = scores[rng.randrange(n)]
    missing = rng.choice([0, 0, 0, 0.15, 0.5])
    scores = [-inf if rng.random() < missing else s for s in scores] if missing else scores
    if rng.random() < 0.03:
        scores = [-inf] * n
    rng.shuffle(scores)
    return scores


# --- rows ----------------------------------------------------------------------------------------------------

WIDTHS = [6, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 63, 64, 65]
"""Lengths of lists around which kernels change their way."""


def draw_sizes(rng, shape):
    if shape == "widths":
        return [rng.choice(WIDTHS) for _ in range(rng.randint(1, 3))]
    if shape == "long":
        return [rng.randint(1000, 1100), 3]
    return [rng.choice([1, 1, 2, 2, 3, 4, 5, 6]) for _ in range(rng.choice([1, 1, 2, 3, 5]))]


def draw_data(rng, *, subtopics=None, shape=None):
    """Rows of one to hundreds of queries; with subtopics, labels for one to three of them."""
    shape = shape or rng.choice(["small"] * 12 + ["widths"] * 3 + ["tiled"])
    if subtopics is None:
        subtopics = rng.random() < 0.15
    n_subtopics = rng.randint(1, 3) if subtopics else 0
    kinds = [rng.choice([*SUBTOPICS] if subtopics else [*LABELS])] * 2
    if not subtopics and rng.random() < 0.3:
        kinds[1] = rng.choice(["binary", "zeros", "grades"])  # an additional kind
    rows = []
    for query, n in enumerate(draw_sizes(rng, shape)):
        kind = kinds[query % 2]
        of_query = [draw_label(rng, kind, n_subtopics) for _ in range(n)]
        rows += [Row(query, *row) for row in zip(of_query, draw_scores(rng, n), strict=True)]
    if shape == "tiled":
        times = rng.choice([1030, 4200]) // len(rows) + 1
        rows = [Row(q + 10 * t, y, s) for t in range(times) for q, y, s in rows]
    order = list(range(len(rows)))
    if shape != "long" and rng.random() < 0.6:
        rng.shuffle(order)
    queries = {row.query for row in rows}
    weights = {q: rng.choice([0.5, 1.0, 2.0, 3.0, 0.1]) for q in sorted(queries)} if rng.random() < 0.3 else None
    keys = [rng.randrange(4) for _ in rows] if rng.random() < 0.15 else None
    return Data(rows, weights, keys).select(order)
