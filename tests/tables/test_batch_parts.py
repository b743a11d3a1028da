"""Results of disjoint sets of queries merge into one result, with ids distinguished across them."""

import numpy as np
import pytest
from batch_cases import NAMES, assert_same, make

from sklearn_rank import evaluate
from sklearn_rank._engine.read import read
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._tables.batch_validator import NumberedRows, adjacent_queries
from sklearn_rank._tables.parts import evaluate_part, join_parts, result_from_columns, result_to_columns
from sklearn_rank._tables.query_ids import QueryIdIndex
from sklearn_rank._tables.scattered_queries import Part


def part_of(data, specs, **keywords):
    return evaluate_part(read(*data[:2], qid=data.qid, **keywords), specs)


def test_partial_results_merge():
    """The queries of a part may be anywhere in the whole."""
    data, specs = make(), parse_metrics(NAMES)
    weight = data.qid * 1.0 + 5
    expected = evaluate(*data[:2], qid=data.qid, metrics=NAMES, sample_weight=weight)
    odd = data.qid % 2 == 1
    parts = [part_of(data.rows(o), specs, sample_weight=weight[o]) for o in (odd, ~odd)]
    places = [np.flatnonzero(expected.qid % 2 == 1), np.flatnonzero(expected.qid % 2 == 0)]
    found = join_parts(parts, places, expected.qid, expected.weight)
    assert_same(found, expected)
    assert found.label_fingerprints.tolist() == expected.label_fingerprints.tolist()
    with pytest.raises(ValueError, match="not all zero"):
        join_parts(parts, places, expected.qid, expected.weight * 0)


def test_a_result_goes_through_columns():
    data, specs = make(), parse_metrics([*NAMES, "p(average=micro)@3"])
    expected = evaluate(*data[:2], qid=data.qid, metrics=[*NAMES, "p(average=micro)@3"])
    part = part_of(data, specs)
    found = result_from_columns(specs, result_to_columns(part), part.qid, None)
    assert_same(found, expected)
    assert found.label_fingerprints.tolist() == expected.label_fingerprints.tolist()


def test_query_id_index_types():
    seen = QueryIdIndex()
    assert seen.number(np.array([5, 7])).tolist() == [0, 1]
    assert seen.number(np.array([7, 9], dtype=np.int8)).tolist() == [1, 2]
    for ids, kind in [([7.0], "floats"), ([True], "bool"), (["7"], "text"), (np.array([7], dtype=np.uint64), "uint64")]:
        with pytest.raises(TypeError, match=f"Got {kind} after integers"):
            seen.number(np.asarray(ids))
    assert seen.ids().tolist() == [5, 7, 9]


def test_without_queries_there_are_no_parts():
    assert [*adjacent_queries(iter([]))] == []


def test_numbers_of_queries_in_a_part_of_the_last_level():
    """Numbers below 2**32, and so are those computed from them."""
    number = np.array([3, 67, 4, 3, 68, 67], dtype=np.uint32) * 2**24 + 12345
    rows = NumberedRows(number, np.array([1.0, 2, 3, 4, 5, 6]), np.arange(6.0))
    queries = Part(rows, step=2**24, digits=(3, 5)).queries()
    assert queries.grouping.ids.tolist() == (np.array([3, 4, 67, 68]) * 2**24 + 12345).tolist()
    assert queries.label.tolist() == [1, 4, 3, 2, 6, 5]
    assert queries.grouping.indptr.tolist() == [0, 2, 3, 5, 6]
