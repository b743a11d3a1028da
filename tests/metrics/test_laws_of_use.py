"""Laws of use for every metric in the registry, independent of its values, like `test_laws`.

Types of inputs and results, blocks and threads, names, pickles and documentation. New metrics are tested without a new
line here.
"""

import inspect
import pickle
import re

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import (
    METRICS,
    Data,
    curve,
    data_for,
    each,
    each_metric,
    each_reader_of_unjudged,
    mean,
    public,
    rough_data_for,
    tie_policy,
    value,
)

from sklearn_rank import parse_metric
from sklearn_rank._utils import blocks as _blocks

# --- types of inputs ------------------------------------------------------------------------------------------


@each([m for m in METRICS if {"gain", "discount"} & m.formula_params.keys()])
def test_callables_get_arrays(metric):
    """Labels and ranks are arrays, and so is the highest grade."""
    data, given = data_for(metric), []

    def of_array(x):
        given.append(x)
        return np.ones(x.shape)

    for keyword in {"gain", "discount"} & metric.formula_params.keys():
        curve(metric, data, **{keyword: of_array})
    assert given
    assert all(isinstance(x, np.ndarray) for x in given)


@each([m for m in METRICS if "gain" in m.formula_params and "unjudged" in m.defaults])
def test_a_table_of_gains_needs_an_entry_for_unjudged_documents(metric):
    """They have label 0 by default; a table without label 0 has no gain for them."""
    data, table = Data(np.array([1, np.nan, 2]), np.array([2.0, 3.0, 1.0]), np.zeros(3)), {1: 5, 2: 7, 4: 9}
    with pytest.raises(ValueError, match="must have an entry for every value in y_true. Got 0 in row 1"):
        curve(metric, data, gain=table, unjudged="nonrelevant")
    whole = curve(metric, data, gain={0: 0, **table}, unjudged="nonrelevant")
    assert_array_equal(whole, curve(metric, data._replace(y_true=np.array([1, 0, 2])), gain={0: 0, **table}))
    judged = data.rows([0, 2])
    assert_array_equal(curve(metric, data, gain=table, unjudged="drop"), curve(metric, judged, gain=table))


@each_metric
def test_types_of_results_depend_on_keywords_only(metric):
    data = rough_data_for(metric)
    assert type(value(metric, data, **tie_policy(metric))) is float
    assert value(metric, data, average=None, **tie_policy(metric)).shape == (30,)
    if metric.has_cutoff:
        assert type(value(metric, data, k=3, **tie_policy(metric))) is float
        assert value(metric, data, k=[3], **tie_policy(metric)).shape == (1,)
        assert value(metric, data, k=[3, 9], average=None, **tie_policy(metric)).shape == (30, 2)


# --- blocks and threads --------------------------------------------------------------------------------------


@each_metric
def test_blocks_and_threads_change_no_bit(metric, monkeypatch):
    data = rough_data_for(metric, n_queries=40)
    shuffled = data.rows(np.random.default_rng(2).permutation(len(data.qid)))
    for rows in (data, shuffled):
        expected = curve(metric, rows), mean(metric, rows)
        for block_rows, n_jobs in [(1, 2), (7, 1), (64, -1)] if rows is data else [(7, 2)]:
            with monkeypatch.context() as patch:
                patch.setattr(_blocks, "BLOCK_ROWS", block_rows)
                assert_array_equal(curve(metric, rows, n_jobs=n_jobs), expected[0])
                assert_array_equal(mean(metric, rows, n_jobs=n_jobs), expected[1])


@pytest.mark.filterwarnings("ignore:.*every score is")
@each_reader_of_unjudged
def test_blocks_change_no_bit_with_unjudged_documents(metric, monkeypatch):
    data = data_for(metric, n_queries=40, unretrieved=True)
    data = data.with_label(np.random.default_rng(4).random(data.y_true.shape) < 0.5, np.nan)
    for unjudged in ("nonrelevant", "drop"):
        expected = curve(metric, data, unjudged=unjudged)
        with monkeypatch.context() as patch:
            patch.setattr(_blocks, "BLOCK_ROWS", 7)
            assert_array_equal(curve(metric, data, unjudged=unjudged, n_jobs=2), expected)


# --- names, pickles, documentation ---------------------------------------------------------------------------


def spellings(metric):
    """Names of the metric: canonical, aliases, other case, each keyword with a word or a number."""
    cut = "@5" if metric.has_cutoff else ""
    words = {a: b for a, b in metric.defaults.items() if b is None or isinstance(b, (int, float, str))}
    yield from (metric.name, *metric.aliases, metric.name.upper() + cut, f" {metric.name} ( ) {cut}")
    yield from (f"{metric.name}({keyword}={word}){cut}" for keyword, word in words.items())
    yield f"{metric.name}({', '.join(f'{a}={b}' for a, b in words.items())}){cut}"


@each_metric
def test_names_parse_back(metric):
    for text in spellings(metric):
        spec = parse_metric(text)
        assert spec.metric is metric
        assert parse_metric(str(spec)) == spec
        assert str(parse_metric(str(spec))) == str(spec)
        assert spec.k == (5 if "@" in text else None)


@each_metric
def test_functions_survive_a_pickle(metric):
    function = public(metric)
    assert function.metric is metric
    assert pickle.loads(pickle.dumps(function)) is function
    assert function.__name__ == metric.function_name


def sections(text):
    """The sections of a docstring by heading; the first part under ''."""
    parts = re.split(r"^(\w[\w ]*)\n-+$", text, flags=re.MULTILINE)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


@each_metric
def test_docstrings_are_complete(metric):
    function = public(metric)
    part = sections(inspect.getdoc(function))
    expected = ["", "Parameters", "Returns", "References", "Examples"]
    assert [heading for heading in part if heading in expected] == expected
    assert re.search(r"``[^`]+``", part[""]), "no formula"
    assert re.search(r"[12]\d\d\d", part["References"]), "no year"
    assert f">>> from sklearn_rank.metrics import {function.__name__}" in part["Examples"]
    assert "<default>" not in part["Parameters"]
    for name in (metric.name, *metric.aliases):
        assert f'"{name}"' in part[""]


@each_metric
def test_every_keyword_is_documented_and_keyword_only(metric):
    function = public(metric)
    documented = re.findall(r"^(\w+) : .", sections(inspect.getdoc(function))["Parameters"], flags=re.MULTILINE)
    parameters = inspect.signature(function).parameters
    assert list(parameters)[:2] == ["y_true", "y_score"]
    assert sorted(documented) == sorted(parameters)
    assert all(p.kind is p.KEYWORD_ONLY for p in list(parameters.values())[2:])


@each_metric
def test_unknown_keywords_are_rejected(metric):
    with pytest.raises(TypeError, match=f"{metric.function_name} has no keyword 'top'. It takes .*average"):
        value(metric, data_for(metric), top=3)
