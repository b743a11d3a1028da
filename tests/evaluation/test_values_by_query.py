"""One value per query, as a dictionary or a Series by query, wherever an array of rows is accepted."""

import numpy as np
import pandas as pd
import pytest

from sklearn_rank import evaluate, prepare
from sklearn_rank.metrics import mrr_score
from sklearn_rank.model_selection import QueryTimeSeriesSplit


def test_values_by_query():
    rows, qid = ([1, 0, 0, 1], [0.9, 0.1, 0.9, 0.1]), [*"aabb"]
    by_query = {"a": 3.0, "b": 1.0}
    for given in (by_query, pd.Series(by_query)):
        assert evaluate(*rows, qid=qid, metrics="mrr", sample_weight=given).mean() == {"mrr": 0.875}
        assert prepare(rows[0], qid=qid, metrics="mrr", sample_weight=given).evaluate(rows[1]).mean() == {"mrr": 0.875}
        assert mrr_score(*rows, qid=qid, sample_weight=given) == 0.875
        result = evaluate(*map(pd.Series, rows), qid=pd.Series(qid), metrics="mrr", by=given, clusters=given)
        assert result.clusters.tolist() == result.attributes["by"].tolist() == [3, 1]
    assert evaluate([[1, 0], [0, 1]], [[2, 1]] * 2, metrics="mrr", sample_weight={0: 3, 1: 1}).mean() == {"mrr": 0.875}
    with pytest.raises(ValueError, match="sample_weight by query must have .* Got none for query 'b'"):
        evaluate(*rows, qid=qid, sample_weight={"a": 1.0})


def test_times_by_query():
    qid, time = np.repeat(np.arange(20), 3), dict(zip(range(20), range(20, 0, -1), strict=True))
    X = np.zeros((60, 1))
    expected = [test.tolist() for _, test in QueryTimeSeriesSplit(2).split(X, groups=qid, time=[time[q] for q in qid])]
    for given in (time, pd.Series(time)):
        assert [test.tolist() for _, test in QueryTimeSeriesSplit(2).split(X, groups=qid, time=given)] == expected
