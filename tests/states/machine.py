"""Shared parts of machines: random queries, a metric that fails on demand, and comparison of results."""

import warnings
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from batch_cases import assert_same
from hypothesis import strategies as st

from sklearn_rank import evaluate

# --- queries -------------------------------------------------------------------------------------------------


class Query(NamedTuple):
    id: Any
    labels: tuple[float, ...]
    scores: tuple[float, ...]
    weight: float


IDS = {
    "ints": lambda n: n - 3,
    "text": lambda n: "q" * (n % 4) + str(n),
    "tuples": lambda n: ("q", (n, str(n))),
    "floats": lambda n: n / 3,
    "bytes": lambda n: str(n).encode(),
    "dates": lambda n: np.datetime64("2020-01-01") + np.timedelta64(n, "D"),
}
"""The id of a number, by kind."""

kinds = st.sampled_from([*IDS])
LABELS, SCORES = [0.0, 1.0, 2.0, 4.0, 0.5], [0.0, -0.0, 1.0, 1.5, -2.0, 1e300, 5e-324]
scores_of = st.sampled_from([*SCORES, -np.inf])


@st.composite
def query_lists(draw, n_ids=10, min_size=1, max_size=4):
    """Queries of different numbers in place of ids."""
    numbers = draw(st.lists(st.integers(0, n_ids - 1), min_size=min_size, max_size=max_size, unique=True))
    return [draw(queries(number)) for number in numbers]


@st.composite
def queries(draw, number):
    rows = draw(st.lists(st.tuples(st.sampled_from(LABELS), scores_of), min_size=1, max_size=4))
    return Query(number, *zip(*rows, strict=True), draw(st.sampled_from([0.5, 1.0, 3.0])))


def named(queries, kind):
    """The same queries, with ids of a kind."""
    return [query._replace(id=IDS[kind](query.id)) for query in queries]


class Rows(NamedTuple):
    y_true: list[float]
    y_score: list[float]
    qid: list[Any]
    sample_weight: list[float]


def rows_of(queries, order=lambda rows: rows):
    """Rows of queries, consecutive or interleaved."""
    rows = [(y, s, q.id, q.weight) for q in queries for y, s in zip(q.labels, q.scores, strict=True)]
    return Rows(*map(list, zip(*order(rows), strict=True))) if rows else Rows([], [], [], [])


def queries_of(rows):
    """Queries of rows, in order of first appearance."""
    found = {}
    for y, s, q, w in zip(*rows, strict=True):
        of_query = found.setdefault(q, Query(q, (), (), w))
        found[q] = of_query._replace(labels=(*of_query.labels, y), scores=(*of_query.scores, s))
    return [*found.values()]


def value_of(queries, metrics, *, weighted=False, **keywords):
    """Results of one call on all rows."""
    rows = rows_of(queries)
    weight = {"sample_weight": rows.sample_weight} if weighted else {}
    return evaluate(rows.y_true, rows.y_score, qid=rows.qid, metrics=metrics, **weight, **keywords)


# --- a metric that fails -------------------------------------------------------------------------------------

FAILURES = []
"""What the metric below raises, if anything."""


def label_of_best(y_true, y_score):
    """Label of the document with the highest score, as a user-defined metric."""
    if FAILURES:
        raise FAILURES[0]
    return float(y_true[np.argmax(y_score)]) if len(y_true) else 0.0


METRICS = {"ndcg@3": "ndcg@3", "mrr": "mrr", "p@2": "p@2", "own": label_of_best}


class Disturbed(Exception):
    """The exception that tests raise in the middle of a call."""


errors = st.sampled_from([Disturbed("planted"), KeyboardInterrupt("planted"), MemoryError("planted")])


@contextmanager
def failing(error):
    """Let the metric fail, and expect that the call raises the same."""
    FAILURES.append(error)
    try:
        yield
    except BaseException as raised:
        assert raised is error or "planted" in str(raised), raised  # noqa: PT017
    else:
        raise AssertionError("a metric failed, and the call did not")
    finally:
        FAILURES.clear()


@contextmanager
def refused(message="", *types):
    """Expect an error with some words."""
    try:
        yield
    except (TypeError, ValueError, *types) as error:
        assert message in str(error), error  # noqa: PT017
    else:
        raise AssertionError(f"not refused: {message}")


# --- results -------------------------------------------------------------------------------------------------


def heard(call):
    """Result of a call, and its warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = call()
    return result, sorted(str(one.message) for one in caught)


def assert_same_calls(found, expected):
    """Two calls have the same result and warn of the same."""
    (found, told), (expected, told_of_expected) = heard(found), heard(expected)
    assert told == told_of_expected
    assert_same(found, expected)
    assert found.label_fingerprints.tolist() == expected.label_fingerprints.tolist()
    for name in expected.attributes:
        assert found.attributes[name].tolist() == expected.attributes[name].tolist()
    if expected.clusters is not None:
        assert found.clusters.tolist() == expected.clusters.tolist()
