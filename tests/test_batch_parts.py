"""Results of parts of the queries make one result, and ids are told apart across them."""

import numpy as np
import pytest
from batch_cases import NAMES, assert_same, make

from sklearn_rank import evaluate
from sklearn_rank._chunks.evaluate import concatenate_evaluations, evaluate_part
from sklearn_rank._chunks.query_ids import QueryIdIndex
from sklearn_rank._engine.check import check_queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metrics


def part_of(data, specs, **keywords):
    return evaluate_part(check_queries(*data[:2], qid=data.qid, **keywords), specs)


def test_parts_make_one_result():
    data, specs = make(), parse_metrics(NAMES)
    odd = data.qid % 2 == 1
    both = data.rows(np.argsort(~odd, kind="stable"))
    parts = [part_of(data.rows(odd), specs), part_of(data.rows(~odd), specs)]
    assert_same(concatenate_evaluations(parts), evaluate(*both[:2], qid=both.qid, metrics=NAMES))
    weight = both.qid * 1.0 + 5
    parts = [part_of(data.rows(o), specs, sample_weight=data.qid[o] * 1.0 + 5) for o in (odd, ~odd)]
    expected = evaluate(*both[:2], qid=both.qid, metrics=NAMES, sample_weight=weight)
    assert_same(concatenate_evaluations(parts), expected)


def test_parts_must_fit(tmp_path):
    data, specs = make(), parse_metrics(["map"])
    part = part_of(data, specs)
    with pytest.raises(ValueError, match="At least one result is needed"):
        concatenate_evaluations([])
    with pytest.raises(ValueError, match=rf"All rows of a query must be in one part. Got query {data.qid[0]} in two"):
        concatenate_evaluations([part, part])
    other = data._replace(qid=data.qid + 1000)
    with pytest.raises(ValueError, match=r"same metrics. Got map_score\(k=None.* and map_score\(k=3"):
        concatenate_evaluations([part, part_of(other, parse_metrics(["map@3"]))])
    with pytest.raises(ValueError, match=r"Either all parts have weights or none. Got 1 of 2"):
        concatenate_evaluations([part, part_of(other, specs, sample_weight=np.ones(len(data.qid)))])
    part.save(tmp_path / "part.npz")
    with pytest.raises(ValueError, match="Got one that was loaded"):
        concatenate_evaluations([part, Evaluation.load(tmp_path / "part.npz")])


def test_ids_of_other_types():
    seen = QueryIdIndex()
    assert seen.number(np.array([5, 7])).tolist() == [0, 1]
    assert seen.number(np.array([7, 9], dtype=np.int8)).tolist() == [1, 2]
    for ids, kind in [([7.0], "floats"), ([True], "bool"), (["7"], "text"), (np.array([7], dtype=np.uint64), "uint64")]:
        with pytest.raises(TypeError, match=f"Got {kind} after integers"):
            seen.number(np.asarray(ids))
    assert seen.ids().tolist() == [5, 7, 9]
