"""Labels by query to which scores are added: shared data, new data, and data of selected rows."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from sklearn_rank._engine.grouping import Grouping, group_rows
from sklearn_rank._engine.queries import POOLED, Data, DataSummary, LazyQueries
from sklearn_rank._engine.read import data_of, read, read_labels, some_rows, with_scores

QID = ["b", "a", "b", "c", "a", "b"]
LABELS = np.array([2.0, 0.0, 1.0, -1.0, 3.0, 0.5])


def data():
    return data_of(LABELS, group_rows(QID, len(QID)), np.array([1.0, 2.0, 3.0]))


def test_labels_are_reused_for_several_scores():
    labels = data()
    queries = with_scores(labels, np.arange(6), (6,), score_name="y_score")
    assert queries.row_label is labels.row_label
    assert queries.grouping is labels.grouping
    assert (queries.summary.label_range, queries.summary.score_range) == ((-1.0, 3.0), (0.0, 5.0))
    assert not hasattr(labels, "score")


def test_labels_of_a_pool_are_shared_between_scores():
    labels = data()
    unjudged = labels.without_negative
    assert type(unjudged) is Data
    assert unjudged.row_label[3:4].view(np.int64) == POOLED.view(np.int64)
    queries = labels.with_scores(np.arange(6.0), DataSummary(score_range=(0.0, 5.0)))
    assert queries.without_negative.row_label is unjudged.row_label
    assert queries.without_negative.score is queries.score


@pytest.mark.parametrize("whole", [True, False])
def test_whole_labels_are_stored_as_bytes(whole):
    labels = data_of(np.array([0.0, 3.0 if whole else 2.5]), Grouping.by_sizes([2]))
    assert (labels.row_label.dtype == np.uint8, labels.grade is None) == (whole, not whole)
    assert labels.label.tolist() == [0.0, 3.0 if whole else 2.5]


def test_rows_in_order():
    labels = data()
    in_order = labels.in_order()
    assert in_order.row_label.tolist() == [2.0, 1.0, 0.5, 0.0, 3.0, -1.0]
    assert in_order.grouping.origin.rows.tolist() == [0, 2, 5, 1, 4, 3]
    queries = labels.with_scores(np.arange(6.0), DataSummary()).in_order()
    assert queries.score.tolist() == [0, 2, 5, 1, 4, 3]
    assert in_order.in_order() is in_order
    with_column = replace(labels, columns={"price": np.arange(6.0)}).in_order()
    assert with_column.columns["price"].tolist() == [0, 2, 5, 1, 4, 3]


def test_all_documents_tied():
    tied = data().all_tied
    assert tied.has_one_score
    unretrieved = read([1, 0, 1], [3.0, -np.inf, 1.0], qid=[1, 1, 1]).all_tied
    assert unretrieved.score.tolist() == [0.0, -np.inf, 0.0]
    assert not unretrieved.has_one_score


def test_infinite_labels_are_rejected_with_their_row():
    with pytest.raises(ValueError, match="infinite label in row 4"):
        data_of(np.array([0, 0, 0, 0, np.inf]), group_rows([1, 2, 1, 2, 1], 5))


def test_selected_rows_keep_data_of_their_queries():
    index = pd.MultiIndex.from_arrays([QID, range(6)], names=["qid", "position"])
    labels = read_labels(
        pd.Series(LABELS, index=index), QID, [1, 2, 1, 3, 2, 1], by={"site": list("xyxzyx")}, clusters=list("uvuwvu")
    )
    some = some_rows(labels, np.array([3, 4, 1]))
    assert some.grouping.ids.tolist() == ["c", "a"]
    assert (some.label.tolist(), some.weight.tolist()) == ([-1.0, 3.0, 0.0], [3.0, 2.0])
    assert some.properties.attributes["site"].tolist() == ["z", "y"]
    assert some.properties.clusters.tolist() == ["w", "v"]
    assert some.index.get_level_values("position").tolist() == [3, 4, 1]
    assert some.summary == data_of(some.label, some.grouping).summary


def test_selected_rows_need_a_positive_weight():
    labels = read_labels([0, 1, 1, 0], [1, 1, 2, 2], [0.0, 0.0, 1.0, 1.0])
    with pytest.raises(ValueError, match="not all zero"):
        some_rows(labels, np.array([0, 1]))


def test_lazy_queries_take_ids_and_weights():
    lazy = LazyQueries(Grouping.by_sizes([2, 3], first_query=0), lambda depth: [], lambda *block: None)
    named = lazy.of(np.array(["x", "y"]), np.array([1.0, 2.0]), 2)
    assert (named.grouping.ids.tolist(), named.weight.tolist(), named.n_jobs) == (["x", "y"], [1.0, 2.0], 2)
    assert (lazy.grouping.ids.tolist(), lazy.weight, lazy.n_jobs) == ([0, 1], None, 1)
