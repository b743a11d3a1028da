"""Sizes of groups as queries of rows."""

import numpy as np
import pandas as pd
import pytest

from sklearn_rank import qid_from_group_sizes


def test_sizes_may_be_whole_floats():
    assert qid_from_group_sizes(np.array([2.0, 1.0])).tolist() == qid_from_group_sizes([2, 1]).tolist() == [0, 0, 1]
    for bad in ([2.5, 1.0], [np.nan, 1.0], [np.inf], [0.0, 1.0], [1e300], []):
        with pytest.raises(ValueError, match="sequence of ints >= 1. Got"):
            qid_from_group_sizes(bad)


def test_sizes_in_a_series_with_ids():
    frame = pd.DataFrame({"qid": [3, 3, 5]})
    assert qid_from_group_sizes(frame.groupby("qid").size()).tolist() == [3, 3, 5]
    assert qid_from_group_sizes(pd.Series([2, 1])).tolist() == [0, 0, 1]
