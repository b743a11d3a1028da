"""Whatever the rows, what a metric returns is what its definition says, in plain Python."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import DENOMINATORS, ORACLES, ORACLES_OF_SCORES

from properties import calls, cases
from properties.conventions import CHOICES
from properties.forms import NUMBERS
from properties.run import draws
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._metric.keywords import OWN
from sklearn_rank._metric.keywords import SHARED as KEYWORDS
from sklearn_rank._metric.metric import REGISTRY

N_CASES = 600
"""Cases of one test."""

each_seed = pytest.mark.parametrize("seed", range(40))
few_examples = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck]
)
randoms = st.randoms(use_true_random=False)


@each_seed
def test_values_are_those_of_the_oracle(seed):
    for number, error in draws("oracle", seed, N_CASES):
        pytest.fail(f"draw {number}: {error}", pytrace=False)


@few_examples
@given(randoms)
def test_values_are_those_of_the_oracle_for_rows_that_hypothesis_draws(rng):
    for case in cases.draw_cases(rng, n_calls=4):
        assert not (wrong := cases.fails(case)), f"{wrong}\n{case.code()}"


@pytest.mark.parametrize("name", REGISTRY)
def test_rows_are_needed(name):
    with pytest.raises(ValueError, match="At least one row is needed"):
        REGISTRY[name]([], [], qid=[])


# --- what is drawn -------------------------------------------------------------------------------------------


def test_every_metric_has_an_oracle():
    assert {*ORACLES, *ORACLES_OF_SCORES} == {*REGISTRY}
    assert {*DENOMINATORS} == {name for name, metric in REGISTRY.items() if metric.supports_micro}


def test_every_keyword_and_convention_is_drawn():
    of_formulas = {keyword for metric in REGISTRY.values() for keyword in metric.formula_params}
    assert {*OWN} <= of_formulas == {*calls.OWN}
    assert {*KEYWORDS} == {*calls.SHARED, "ties"}
    assert {*CHOICES} == {*CONVENTIONS}


def test_every_type_of_numbers_is_drawn():
    types = {np.dtype(code) for code in np.typecodes["AllInteger"] + np.typecodes["Float"] + "?"}
    assert {t.newbyteorder("=").str[1:] for t in types} <= {*NUMBERS, "b1", np.dtype(np.longdouble).str[1:]}


def test_an_error_names_the_smallest_rows(monkeypatch):
    """Of many rows those that matter to a planted fault: two, of which the first is relevant."""
    wanted = cases.expected
    monkeypatch.setattr(cases, "expected", lambda call, data: wanted(call, data) if is_sound(data) else 7)
    errors = [str(error) for _, error in draws("oracle", 0, 600)]
    assert all("y_true=[1.0, 0.0]" in error for error in errors)
    assert errors


def is_sound(data):
    return len(data.rows) < 2 or data.rows[0].label != 1 or data.rows[-1].label != 0
