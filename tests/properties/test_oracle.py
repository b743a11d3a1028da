"""For any rows, a metric returns the value of its definition in plain Python."""

import re
from math import nan
from random import Random

import numpy as np
import pytest
from oracle import ORACLES
from oracle_of_scores import DENOMINATORS, ORACLES_OF_SCORES

from properties import calls, cases, data
from properties.conventions import CHOICES
from properties.forms import NUMBERS
from properties.run import draws
from sklearn_rank._engine.ranking import TIE_POLICIES
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._metric.keywords import OWN
from sklearn_rank._metric.keywords import SHARED as KEYWORDS
from sklearn_rank._metric.metric import REGISTRY

N_CASES = 120
"""Cases of one test."""

PLAIN = {False: ("f8", "f8", "i8 ids"), True: ("C", "f8", "i8 ids")}
"""Plain arrays of labels, or of labels of subtopics, of scores and of ids."""

each_seed = pytest.mark.parametrize("seed", range(20))


@pytest.mark.filterwarnings("ignore:.*every score is")
@each_seed
def test_values_match_the_oracle(seed):
    for number, error in draws("oracle", seed, N_CASES):
        pytest.fail(f"draw {number}: {error}", pytrace=False)


@pytest.mark.parametrize("name", REGISTRY)
def test_each_value_of_each_keyword(name):
    """In each order of ties and some mean that the metric takes, on a few small lists."""
    rng, metric = Random(name), REGISTRY[name]
    for keywords in calls.variants(name):
        policies = [{"ties": ties} for ties in TIE_POLICIES if metric._takes("ties", ties)]
        for policy in policies or [{}]:
            for _ in range(4 if keywords else 40):
                rows = data.draw_data(rng, subtopics=bool(metric.subtopics), shape="small")
                rows = data.Data(rows.rows, rows.weights)
                means = [None, "macro", *["micro"] * metric.supports_micro, *["geometric"] * (metric.bounds[0] >= 0)]
                shared = {"average": rng.choice(means), "replace_undefined_by": rng.choice([0, 1, nan, 0.25, -3])}
                k = calls.draw_cutoff(rng) if metric.has_cutoff else None
                call = calls.Call(name, k, keywords | policy | shared)
                case = cases.Case(rows, call, PLAIN[bool(metric.subtopics)])
                assert not (wrong := cases.fails(case)), f"{wrong}\n{case.code()}"


@pytest.mark.parametrize("name", REGISTRY)
def test_rows_are_needed(name):
    with pytest.raises(ValueError, match="At least one row is needed"):
        REGISTRY[name]([], [], qid=[])


@pytest.mark.parametrize("rounding", ["up", "nearest", "cut"])
@pytest.mark.slow
def test_documents_that_make_up_a_recall(rounding):
    """Up to 40 relevant documents at odd ranks: float products just above or below a whole number."""
    lists = [[1.0, 0.0] * n for n in range(1, 41)]
    y_true, qid = np.concatenate(lists), np.repeat(np.arange(40), 2 * np.arange(1, 41))
    for percent in range(101):
        asked = {"recall": percent / 100, "rounding": rounding}
        found = REGISTRY["iprec"](y_true, -np.arange(len(qid)), qid=qid, average=None, **asked)
        np.testing.assert_allclose(found, [ORACLES["iprec"](y, [], None, **asked) for y in lists], rtol=1e-12)


# --- draws -------------------------------------------------------------------------------------------------------


def test_every_metric_has_an_oracle():
    assert {*ORACLES, *ORACLES_OF_SCORES} == {*REGISTRY}
    assert {*DENOMINATORS} == {name for name, metric in REGISTRY.items() if metric.supports_micro}


def test_every_keyword_and_convention_is_drawn():
    of_formulas = {keyword for metric in REGISTRY.values() for keyword in metric.formula_params}
    assert {*OWN} <= of_formulas == {*calls.OWN}
    assert {*KEYWORDS} == {*calls.SHARED, "ties", "adjusted"}  # test_chance.py has their values
    assert {*CHOICES} == {*CONVENTIONS}


def test_every_type_of_numbers_is_drawn():
    types = {np.dtype(code) for code in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"}
    assert {t.newbyteorder("=").str[1:] for t in types} <= {*NUMBERS, "b1", np.dtype(np.longdouble).str[1:]}


def test_an_error_names_the_smallest_rows(monkeypatch):
    """If everything of three rows and more were wrong, three rows are shown."""
    wanted = cases.expected
    monkeypatch.setattr(cases, "expected", lambda call, data: wanted(call, data) if len(data.rows) < 3 else 7)
    errors = [str(error) for _, error in draws("oracle", 0, 20)]
    assert errors
    assert all(re.search(r"qid=\[\d+, \d+, \d+\]", error) for error in errors)
