"""The reference for grouping: the rows of each id, collected in a dict."""

import numpy as np

from sklearn_rank._engine.grouping import distinct_ids, group_rows


def reference(ids):
    """Rows of each id, in order of first appearance."""
    rows = {}
    for row, q in enumerate(ids):
        rows.setdefault(q, []).append(row)
    return rows


def check(qid, ids=None):
    """`qid` is grouped as a dict does its entries, or `ids`, and so are its rows in other orders."""
    ids = np.asarray(qid).tolist() if ids is None else ids
    expected = reference(ids)
    grouping = group_rows(qid, len(ids))
    order = grouping.order
    rows = list(expected.values())
    np.testing.assert_array_equal(grouping.indptr, np.cumsum([0, *map(len, rows)]))
    np.testing.assert_array_equal(np.arange(len(ids)) if order is None else order, np.concatenate(rows))
    assert (order is None) == (np.concatenate(rows) == np.arange(len(ids))).all()
    assert grouping.ids.tolist() == list(expected)
    found, number = distinct_ids(qid, len(ids))
    assert found.tolist() == list(expected)
    assert number.tolist() == [*map({q: i for i, q in enumerate(expected)}.get, ids)]
