"""A case is a set of rows with a metric and its keywords; its value is compared with the expected one."""

import warnings
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from properties import forms
from properties.calls import Call, draw_call, names
from properties.data import Data, draw_data
from properties.expected import RefusedError, TooManyOrdersError, expected, settings
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.exceptions import RankingWarning

UNBOUNDED = ("cg", "acg", "pwa", "dcg", "wap", "mse", "rmse", "mae", "relevance_position", "alpha_dcg")
LOW, HIGH = 1e-90, 1e140
"""Sizes of labels, scores and gains beyond which the library may say that numbers are too large or too small."""


class Counts:
    """Cases by kind."""

    def __init__(self):
        self.kinds = {}

    def add(self, kind, n=1):
        self.kinds[kind] = self.kinds.get(kind, 0) + n

    @property
    def total(self):
        return sum(self.kinds.values())


COUNTS = Counts()


class Case(NamedTuple):
    data: Data
    call: Call
    forms: tuple[str, str, str]
    n_jobs: int | None = None

    def arguments(self):
        """Labels, scores and keywords for the library."""
        labels, scores, ids = self.forms
        of_labels = forms.TABLES if isinstance(self.data.rows[0].label, tuple) else forms.NUMBERS
        keywords = dict(self.call.keywords) | {"qid": forms.IDS[ids](self.data.ids), "n_jobs": self.n_jobs}
        if self.call.k is not None:
            keywords["k"] = self.call.k
        if self.data.weights is not None:
            keywords["sample_weight"] = self.data.row_weights
        if self.data.keys is not None and settings(self.call)["ties"] == "stable":
            keywords["tie_break"] = self.data.keys
        return of_labels[labels](self.data.labels), forms.NUMBERS[scores](self.data.scores), keywords

    def code(self):
        """A call that shows the fault, for plain containers."""
        rows, (labels, scores, ids) = self.data, self.forms
        more = "".join(
            f", {name}={value!r}"
            for name, value in [("sample_weight", rows.row_weights), ("tie_break", rows.keys)]
            if value is not None
        )
        return (
            f"{self.call}, {labels} / {scores} / {ids}, n_jobs={self.n_jobs}\n"
            f"y_true={rows.labels}, y_score={rows.scores}, qid={rows.ids}{more}"
        )


@contextmanager
def odd_data():
    """Warnings about data that are drawn to be odd are expected."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=RankingWarning)
        yield


def is_extreme(case):
    """Whether sums or products may leave the range of a float."""
    s, call = settings(case.call), case.call
    labels, scores = case.data.sizes
    sizes = labels | scores if REGISTRY[call.name].pointwise else labels
    exponential = s.get("gain", "exp2") == "exp2" and call.name in ("dcg", "ndcg", "q", "rbp")
    tall = exponential and max(labels, default=0) > 400
    tall |= s.get("max_grade", 4) > 400
    return tall or not all(LOW < size < HIGH for size in sizes if size)


def reach(case):
    """Absolute error that is allowed: 1e-12 of the size of a sum's terms, or of 1."""
    if case.call.name not in UNBOUNDED:
        return 1e-12
    return max(1e-12 * min(1.0, max(case.data.sizes[0], default=1.0)), 1e-320)


def check(case):
    """Fail if the library does not return, or reject, what the oracle does.

    Return False if the oracle skips the case, because it has too many orders.
    """
    metric = REGISTRY[case.call.name]
    try:
        wanted, refused = expected(case.call, case.data), ""
    except TooManyOrdersError:
        return False
    except RefusedError as error:
        wanted, refused = None, str(error)
    except ArithmeticError:
        wanted, refused = None, ""
    y_true, y_score, keywords = case.arguments()
    try:
        with odd_data():
            found = metric(y_true, y_score, **keywords)
    except ValueError as error:
        if not refused and not (is_extreme(case) and "range of a float" in str(error)):
            raise AssertionError(f"refused: {error}\nexpected {wanted}") from error
        COUNTS.add("refused" if refused else "out of range")
        return True
    assert not refused, f"{refused}, but {found} was returned"
    if wanted is None:
        assert np.isfinite(found).all(), f"{found} was returned"
        COUNTS.add("overflow")
        return True
    found = np.asarray(found)
    assert found.shape == np.shape(wanted), f"shape {found.shape}, not {np.shape(wanted)}"
    error = ~np.isclose(found, wanted, rtol=1e-12, atol=reach(case), equal_nan=True)
    assert not error.any(), f"{found.tolist()} was returned, expected {wanted}"
    COUNTS.add("oracle")
    return True


# --- many cases ----------------------------------------------------------------------------------------------


def draw_cases(rng, n_calls=16):
    """Calls on the same rows, each with other containers."""
    data = draw_data(rng)
    several = isinstance(data.rows[0].label, tuple)
    few = len(data.rows) <= 200
    has_unjudged = any(y != y or y < 0 for row in data.rows for y in (row.label if several else (row.label,)))
    for _ in range(n_calls if few else 4):
        name = rng.choice(names(several))
        call = draw_call(rng, name, has_unjudged=has_unjudged, has_keys=data.keys is not None)
        yield Case(data, call, draw_forms(rng, data, plain=0.5), rng.choice([None, None, None, 1, 2, 3]))


def draw_forms(rng, data, plain):
    """Names of containers that hold the labels, the scores and the ids; plain arrays with some chance."""
    several = isinstance(data.rows[0].label, tuple)
    if rng.random() < plain:
        return "C" if several else "f8", "f8", "i8 ids" if rng.random() < 0.5 else "kind 2"
    of_labels = forms.TABLES if several else forms.NUMBERS
    held = (of_labels, data.labels), (forms.NUMBERS, data.scores), (forms.IDS, data.ids)
    return tuple(forms.draw(rng, *pair)[0] for pair in held)


def fails(case):
    """The failure of a case, or ""."""
    try:
        check(case)
    except Exception as error:  # any error of the library is a fault
        return f"{type(error).__name__}: {error}"
    return ""


def smallest(case):
    """A smaller case that fails, from which no row and no weight can be removed."""
    size = len(case.data.rows)
    while size := size // 2:
        start = 0
        while start < (n := len(case.data.rows)) and n > size:
            smaller = case._replace(data=case.data.select(i for i in range(n) if not start <= i < start + size))
            case, start = (smaller, start) if fails(smaller) else (case, start + size)
    plain = case._replace(data=Data(case.data.rows, None, case.data.keys), n_jobs=None)
    return plain if fails(plain) else case


def check_all(rng):
    """Check all cases of one draw of rows; an error shows the smallest rows that have it."""
    for case in draw_cases(rng):
        if wrong := fails(case):
            case = smallest(case)
            raise AssertionError(f"{fails(case) or wrong}\n{case.code()}")
