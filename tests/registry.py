"""The registry's metrics as parameters of tests, and data made from the facts that each of them declares."""

import inspect
import re
from contextlib import contextmanager
from functools import cache, wraps
from itertools import groupby
from typing import NamedTuple

import numpy as np
import pytest

import sklearn_rank.metrics
from sklearn_rank._engine.ranking import TIE_POLICIES
from sklearn_rank._metric.metric import REGISTRY

METRICS = list(REGISTRY.values())


def each(metrics):
    return pytest.mark.parametrize("metric", metrics, ids=lambda metric: metric.name)


each_metric = each(METRICS)
each_reader_of_unjudged = each([m for m in METRICS if "unjudged" in m.defaults])


def repr_without_address(value):
    """Id of a parameter, the same in every process."""
    return re.sub(r" at 0x\w+", "", repr(value))


@contextmanager
def about(case):
    """Say in an error which case it is of."""
    try:
        yield
    except BaseException as error:
        error.add_note(f"This is of {case!r:.2000}")
        raise


def together(arguments, cases):
    """Call a test with each case, like `parametrize` but inside one test: for cases that take no time."""
    arguments = arguments.replace(" ", "").split(",")

    def decorate(test):
        @wraps(test)
        def all_cases(**fixtures):
            for case in cases:
                given = dict(zip(arguments, case if len(arguments) > 1 else (case,), strict=True))
                with about(given):
                    test(**fixtures, **given)

        parameters = inspect.signature(test).parameters.values()
        all_cases.__signature__ = inspect.Signature([p for p in parameters if p.name not in arguments])
        return all_cases

    return decorate


def public(metric):
    return getattr(sklearn_rank.metrics, metric.function_name)


# --- data made from a metric's facts -------------------------------------------------------------------------


class Data(NamedTuple):
    y_true: np.ndarray
    y_score: np.ndarray
    qid: np.ndarray

    def rows(self, chosen):
        return Data(*(column[chosen] for column in self))

    def with_score(self, y_score):
        return self._replace(y_score=y_score)

    def with_label(self, rows, label):
        """Another label, or others, at some rows."""
        y_true = self.y_true.copy()
        y_true[rows] = label
        return self._replace(y_true=y_true)

    def one_label(self):
        """One label per row; if there are several subtopics, the label of the first."""
        return self._replace(y_true=self.y_true.reshape(len(self.qid), -1)[:, 0])

    def then(self, other, shift=1000):
        """These queries and additional queries with other ids."""
        return Data(*map(np.concatenate, zip(self, other._replace(qid=other.qid + shift), strict=True)))


def labels_of(metric):
    """Grades that a metric accepts: its declared range, or -2 to 4 by default."""
    low, high = metric.labels
    high = metric.defaults[high] if isinstance(high, str) else high
    return np.arange(-2 if low is None else low, (4 if high is None else high) + 1, dtype=float)


def draw_labels(metric, rng, size):
    """Labels of the given number of documents; for metrics of subtopics, three columns."""
    return rng.choice(labels_of(metric), size=(size, 3) if metric.subtopics else size)


def data_for(metric, seed=0, *, n_queries=30, longest=14, tied=False, unretrieved=False, unjudged=False):
    """Rows of random queries, adjacent, ids in no order."""
    rng = np.random.default_rng([seed, len(metric.name), n_queries])
    size = rng.integers(1, longest + 1, size=n_queries)
    label = draw_labels(metric, rng, size.sum())
    score = rng.integers(0, 4, size=size.sum()) * 0.5 if tied else rng.permutation(size.sum()) / 4
    if unretrieved and not metric.pointwise:
        score = np.where(rng.random(size.sum()) < 0.2, -np.inf, score)
    if unjudged:
        label[rng.random(size.sum()) < 0.2] = np.nan
    return Data(label, score, np.repeat(rng.permutation(n_queries), size))


@cache
def tie_policy(metric):
    """Keywords with which a metric accepts ties: empty, unless it has no closed form for them."""
    try:
        metric([1, 0], [1, 1], qid=[0, 0])
    except ValueError as error:
        if "no closed form for tied documents" not in str(error):
            raise
        return {"ties": "worst"}
    return {}


def _kind_of_data(metric):
    return str((labels_of(metric), metric.subtopics, metric.pointwise, tie_policy(metric)))


ALIKE = [[*group] for _, group in groupby(sorted(METRICS, key=_kind_of_data), key=_kind_of_data)]
"""Metrics that take the same rows, so that one call evaluates them all."""
each_kind_of_data = pytest.mark.parametrize("metrics", ALIKE, ids=lambda group: group[0].name)


def policies(metric):
    """Tie policies that a metric takes."""
    return [p for p in TIE_POLICIES if "ties" in metric.defaults and metric._rule("ties").accepts(p)]


def rough_data_for(metric, seed=0, **sizes):
    """Queries with ties and documents that were not retrieved."""
    return data_for(metric, seed, tied=True, unretrieved=True, **sizes)


def cutoffs(metric, *k):
    """The keyword k for the metrics that have it."""
    return {"k": list(k or (1, 2, 5, 40))} if metric.has_cutoff else {}


def value(metric, data, **keywords):
    return metric(data.y_true, data.y_score, qid=data.qid, **keywords)


def curve(metric, data, **keywords):
    """Values of each query, at some cutoffs if the metric has cutoffs."""
    return value(metric, data, average=None, **{**cutoffs(metric), **tie_policy(metric), **keywords})


def mean(metric, data, **keywords):
    return value(metric, data, **{**cutoffs(metric), **tie_policy(metric), **keywords})
