"""Labels by query to which scores are added: rows in order, labels that are shared, queries that are made lazily."""

from dataclasses import replace

import numpy as np

from sklearn_rank._engine.grouping import Grouping, group_rows
from sklearn_rank._engine.queries import DataSummary, LazyQueries
from sklearn_rank._engine.read import data_of

LABELS = np.array([2.0, 0.0, 1.0, -1.0, 3.0, 0.5])


def data():
    return data_of(LABELS, group_rows(["b", "a", "b", "c", "a", "b"], 6), np.array([1.0, 2.0, 3.0]))


def test_rows_in_order():
    labels = replace(data(), columns={"price": np.arange(6.0)}).in_order()
    assert labels.row_label.tolist() == [2.0, 1.0, 0.5, 0.0, 3.0, -1.0]
    assert labels.columns["price"].tolist() == [0, 2, 5, 1, 4, 3]
    queries = data().with_scores(np.arange(6.0), DataSummary()).in_order()
    assert queries.score.tolist() == [0, 2, 5, 1, 4, 3]


def test_labels_of_a_pool_are_shared_between_scores():
    labels = data()
    unjudged = labels.without_negative
    assert unjudged.summary.label_range == (0.0, 3.0)
    queries = labels.with_scores(np.arange(6.0), DataSummary(score_range=(0.0, 5.0)))
    assert queries.without_negative.row_label is unjudged.row_label
    assert queries.without_negative.score is queries.score


def test_lazy_queries_take_ids_and_weights():
    lazy = LazyQueries(Grouping.by_sizes([2, 3], first_query=0), lambda depth: [], lambda *block: None)
    named = lazy.of(np.array(["x", "y"]), np.array([1.0, 2.0]), 2)
    assert (named.grouping.ids.tolist(), named.weight.tolist(), named.n_jobs) == (["x", "y"], [1.0, 2.0], 2)
