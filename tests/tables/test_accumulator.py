"""An accumulator equals `evaluate` on all rows, bit for bit, however the rows are divided into updates."""

import pickle

import numpy as np
import pandas as pd
import pytest
from batch_cases import NAMES, assert_same, make
from registry import Data

from sklearn_rank import RankingAccumulator, evaluate, evaluate_table, parse_metric
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare


def by_query(data, rng=None):
    """Rows of each query, with queries in order of first appearance or in random order."""
    ids = data.qid[np.sort(np.unique(data.qid, return_index=True)[1])]
    return [data.rows(data.qid == q) for q in (ids if rng is None else rng.permutation(ids))]


def together(parts):
    return Data(*map(np.concatenate, zip(*parts, strict=True)))


def chunks(parts, size):
    return [together(parts[i : i + size]) for i in range(0, len(parts), size)]


def updated(parts, metrics=NAMES, **keywords):
    accumulator = RankingAccumulator(metrics, **keywords)
    for part in parts:
        assert accumulator.update(part.y_true, part.y_score, part.qid) is accumulator
    return accumulator


def expected_of(data, metrics=NAMES, **keywords):
    return evaluate(data.y_true, data.y_score, qid=data.qid, metrics=metrics, **keywords)


def state(accumulator):
    """State of an accumulator, as bytes; metrics by name, because they cache plans."""
    return pickle.dumps(accumulator.__getstate__() | {"_specs": [*accumulator._specs]})


# --- the same bits -------------------------------------------------------------------------------------------


def test_accumulator_weights():
    parts, weight = by_query(make()), np.random.default_rng(0).random(60)
    weight[:10] = 0  # all of the first update
    accumulator, rows = RankingAccumulator(NAMES), []
    for i in range(0, 60, 10):
        rows.append(np.repeat(weight[i : i + 10], [len(part.qid) for part in parts[i : i + 10]]))
        part = together(parts[i : i + 10])
        accumulator.update(part.y_true, part.y_score, part.qid, sample_weight=rows[-1])
    assert_same(accumulator.compute(), expected_of(together(parts), sample_weight=np.concatenate(rows)))
    zero = RankingAccumulator().update([[1, 0]], [[1, 2]], sample_weight=[0])
    with pytest.raises(ValueError, match="not all zero"):
        zero.compute()


def test_attributes_go_by_the_ids_of_queries():
    parts = by_query(make(), np.random.default_rng(0))
    data = together(parts)
    country, user = ({q: names[q % len(names)] for q in data.qid.tolist()} for names in (["se", "no"], [1, 2, 3]))
    of_rows = {"by": [country[q] for q in data.qid], "clusters": [user[q] for q in data.qid]}
    expected = expected_of(data, **of_rows)
    accumulator = updated(parts)
    found = accumulator.compute(by=country, clusters=user)
    assert found.attributes["by"].tolist() == expected.attributes["by"].tolist()
    assert found.clusters.tolist() == expected.clusters.tolist()
    named = accumulator.compute(by={"country": country, "user": user}, sort_by_qid=True)
    assert named.attributes["country"].tolist() == [country[q] for q in sorted(country)]
    assert named.attributes["user"].tolist() == [user[q] for q in sorted(country)]
    with pytest.raises(ValueError, match="no entry for query"):
        accumulator.compute(by={next(iter(country)): "se"})
    for by in (["se"] * 60, pd.Series(country), {"country": ["se"] * 60}, {"country": pd.Series(country)}):
        with pytest.raises(TypeError, match=r"of compute must be a dict from the ids of queries"):
            accumulator.compute(by=by)
    with pytest.raises(TypeError, match="clusters of compute must be a dict"):
        accumulator.compute(clusters=[1] * 60)


def test_accumulated_results_work_like_others(tmp_path):
    parts = by_query(make())
    result = updated(chunks(parts, 8)).compute()
    result.save(tmp_path / "result")
    assert Evaluation.load(tmp_path / "result").mean() == result.mean()
    assert compare(result, expected_of(together(parts)), metric="map").difference == 0
    with pytest.raises(ValueError, match="Call evaluate again"):
        result.tie_range()


# --- states --------------------------------------------------------------------------------------------------


def test_queries_of_an_index():
    """Ids in the index of the labels are read like those of qid=."""
    labels = pd.Series([1, 0, 1], index=pd.Index(["b", "b", "a"], name="qid"))
    accumulator = RankingAccumulator("mrr").update(labels, [1, 2, 3])
    assert accumulator.compute().qid.tolist() == ["b", "a"]
    with pytest.raises(ValueError, match="torch repeats some queries.*Got query 'a' again"):
        accumulator.update(labels[2:], [1])
    assert len(accumulator.update([1], [1], qid=["c"])) == 3


def test_repr_counts():
    accumulator = RankingAccumulator(["mrr", "p@1"], duplicates="first")
    assert repr(accumulator) == "RankingAccumulator of 0 queries: mrr, p@1"
    for _ in range(3):
        accumulator.update([[1, 0]], [[1, 2]], [7])
    assert repr(accumulator) == "RankingAccumulator of 1 query: mrr, p@1, 2 duplicates left out"
    other = RankingAccumulator(["mrr", "p@1"], duplicates="first").update([[1, 0]], [[1, 2]], [8])
    copies = [pickle.loads(pickle.dumps(one)) for one in (other.update([[1, 0]], [[1, 2]], [8]), accumulator)]
    both = copies[0].merge(copies[1])
    assert repr(both) == "RankingAccumulator of 2 queries: mrr, p@1, 3 duplicates left out"


def test_other_kinds_of_ids_after_a_reset():
    accumulator = RankingAccumulator("mrr").update([1, 0], [1, 2], [7, 7], sample_weight=[2, 2])
    for ids in (["b", "b"], [("b", 1), ("b", 1)], None, [7.5, 7.5]):
        rows = ([[1, 0]], [[1, 2]]) if ids is None else ([1, 0], [1, 2], ids)
        assert accumulator.reset().update(*rows).compute().qid.tolist() == [0 if ids is None else ids[0]]


def test_updates_without_rows():
    accumulator = RankingAccumulator("mrr").update([], []).update(np.empty((0, 3)), np.empty((0, 3)), [])
    assert len(accumulator) == 0
    for empty in (accumulator, RankingAccumulator().reset()):
        with pytest.raises(ValueError, match=r"update or merge comes first\. Got none"):
            empty.compute()


BAD_UPDATES = [
    (([1, 0], [1, 2], ["b", "b"]), {}, TypeError, "ids of one type in all updates.* Got text after integers"),
    (([1, 0], [1, 2], [4, 1]), {}, ValueError, r"Got query 1 again"),
    (([[1, 0]], [[1, 2]]), {}, ValueError, "Either all updates have ids .* Got one without ids after one with"),
    (([1, 0], [1, 2], [5, 5]), {"sample_weight": [1, 1]}, ValueError, "Either all updates have sample_weight or none"),
    (([[1, 0], [0, 1]], [1, 2], [5, 5]), {}, ValueError, "takes one label per document"),
    (([1, np.nan], [1, 2], [5, 5]), {}, ValueError, "must not contain NaN"),
    (([1, -1], [1, 2], [5, 5]), {}, ValueError, "must not be below 0"),
    (([1, 0], [1, np.nan], [5, 5]), {}, ValueError, "y_score must not contain NaN"),
    (([1, 0], [1, 2]), {}, ValueError, "Got neither"),
    (([1, 0], [1, 2], 5), {}, ValueError, r"repeat its id: \[qid\] \* n_rows"),
    (([1, 0], [1, 2, 3], [5, 5]), {}, ValueError, "one entry per row"),
    (([1, 0], [], [5, 5]), {}, ValueError, "one entry per row. Got 2 and 0"),
    (([], [1, 2], [5, 5]), {}, ValueError, "one entry per row. Got 0 and 2"),
    (([1, 0], [1, 2], [5, 5]), {"k": 3}, TypeError, "has no keyword 'k'"),
    (([1, 0], [1, 2]), {"indexes": [5, 5]}, TypeError, "qid= is the query of each row"),
    ((), {"preds": [1], "target": [1]}, TypeError, "y_score is the output of the model"),
]


@pytest.mark.parametrize(("args", "keywords", "error", "message"), BAD_UPDATES, ids=range(len(BAD_UPDATES)))
def test_an_update_that_fails_changes_nothing(args, keywords, error, message):
    accumulator = RankingAccumulator(["ndcg", "map"]).update([1, 0, 1], [1, 2, 3], [1, 1, 2])
    before = state(accumulator)
    with pytest.raises(error, match=message):
        accumulator.update(*args, **keywords)
    assert state(accumulator) == before
    assert len(accumulator.update([1, 0], [1, 2], [5, 6])) == 4


class Full(dict):
    """A dict that accepts one more entry."""

    def update(self, entries):
        self[next(iter(entries))[0]] = 0
        raise MemoryError


@pytest.mark.filterwarnings("ignore:Every query has one row")
@pytest.mark.parametrize("n_before", [0, 3])
def test_an_update_beyond_memory_changes_nothing(n_before):
    ids = np.arange(n_before)
    accumulator = RankingAccumulator("mrr", duplicates="first").update(ids % 2, ids, ids)
    before, accumulator._place = state(accumulator), Full(accumulator._place)
    weight = None if n_before else [1, 2, 3, 4]
    with pytest.raises(MemoryError):
        accumulator.update([0, 0, 1, 0], [1, 2, 3, 4], [2, 5, 6, 7], sample_weight=weight)
    assert len(accumulator) == n_before
    assert state(accumulator) == before
    accumulator._place = dict(accumulator._place)
    rows = np.arange(100) % 2, np.arange(100), np.arange(100)
    assert_same(accumulator.update(*rows).compute(), evaluate(*rows[:2], qid=rows[2], metrics="mrr"))


def test_a_merge_that_fails_changes_nothing():
    accumulator = RankingAccumulator(["ndcg", "map"]).update([1, 0, 1], [1, 2, 3], [1, 1, 2])
    before = state(accumulator)
    rows = ([1, 0], [1, 2])
    for other, error, message in (
        (accumulator, ValueError, "Got itself"),
        (accumulator.compute(), TypeError, "Got Evaluation"),
        (RankingAccumulator("ndcg"), ValueError, "Got none for 'map'"),
        (RankingAccumulator(["ndcg", "map"], gain="linear"), ValueError, "gain=linear.* for 'ndcg' after .*gain=exp2"),
        (RankingAccumulator(["ndcg", "map"]).update(*rows, [3, 2]), ValueError, "Got query 2 again"),
        (RankingAccumulator(["ndcg", "map"]).update(*rows, ["a", "b"]), TypeError, "Got text after integers"),
        (RankingAccumulator(["ndcg", "map"]).update([rows[0]], [rows[1]]), ValueError, "Got one without ids"),
        (RankingAccumulator(["ndcg", "map"]).update(*rows, [3, 4], sample_weight=[1, 2]), ValueError, "sample_weight"),
    ):
        with pytest.raises(error, match=message):
            accumulator.merge(other)
        assert state(accumulator) == before


def _other_weights(ranks):
    """A discount that depends on the number of ranks, here on whether it is odd."""
    return 1 / ranks / (1 + len(ranks) % 2)


def test_a_discount_is_the_same_in_all_updates():
    four, five = ([[1, *[0] * (n - 1)], [*range(n)]] for n in (4, 5))
    accumulator, other = (RankingAccumulator("dcg", discount=_other_weights).update(*[[x] for x in rows])
                          for rows in (four, five))  # fmt: skip
    message = r"same weight whatever ranks.*Got others for 5 ranks than for 4"
    with pytest.raises(ValueError, match=message):
        accumulator.update(*[[x] for x in five])
    for one in (accumulator, pickle.loads(pickle.dumps(accumulator))):
        with pytest.raises(ValueError, match=message):
            one.merge(other)
        assert len(one) == 1


def test_each_of_two_discounts_is_compared():
    metrics = {name: parse_metric("dcg", discount=one) for name, one in (("a", lambda r: 1 / r), ("b", _other_weights))}
    accumulator = RankingAccumulator(metrics).update([[1, 0, 0, 0]], [[0, 1, 2, 3]])
    with pytest.raises(ValueError, match="Got others for 5 ranks than for 4"):
        accumulator.update([[1, 0, 0, 0, 0]], [[0, 1, 2, 3, 4]])
    batches = [(np.ones(n), np.arange(float(n)), np.full(n, n)) for n in (4, 5)]
    with pytest.raises(ValueError, match="Got others for . ranks than for ."):
        evaluate_table(batches, metrics=metrics, memory_limit=1)


# --- queries that come again ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rows", "weight"),
    [(([1, 1], [3, 1]), [1, 1]), (([1, 0, 0], [1, 2, 3]), [1] * 3), (([1, 0], [3, 1]), [2, 2])],
    ids=["other labels", "more documents", "another weight"],
)
def test_queries_cut_in_two_are_not_taken_for_duplicates(rows, weight):
    accumulator = RankingAccumulator("map", duplicates="first")
    accumulator.update([1, 0], [1, 2], [7, 7], sample_weight=[1, 1])
    before = state(accumulator)
    with pytest.raises(ValueError, match="Got query 7 again with others"):
        accumulator.update(*rows, [7] * len(weight), sample_weight=weight)
    assert state(accumulator) == before
    accumulator.update([0, 1], [2, 1], [7, 7], sample_weight=[1, 1])
    assert accumulator.n_duplicates == 1


def test_the_query_that_comes_again_with_others_is_named():
    accumulator = RankingAccumulator("map", duplicates="first").update([1, 0, 1, 0], [1, 2, 1, 2], [7, 7, 8, 8])
    for labels, name in (([1, 0, 1, 1], 8), ([1, 1, 1, 0], 7)):
        with pytest.raises(ValueError, match=f"Got query {name} again with others"):
            accumulator.update(labels, [1, 2, 1, 2], [7, 7, 8, 8])


def test_memory_is_proportional_to_values():
    """About 25 bytes per metric and query, and 32 next to the id, after many small updates."""
    accumulator = RankingAccumulator(["map", "mrr"])
    for i in range(500):
        accumulator.update([[1, 0, 0]], [[1, 2, 3]], [i])
    assert len(state(accumulator)) < 500 * (2 * 25 + 32) + 5000


def test_the_longest_list_is_known_after_shorter_ones():
    """A merge compares the weights of all ranks of the other accumulator."""

    def discount(rank):
        return np.where((rank == 5) & (len(rank) == 7), 0.19, 1 / rank)

    first, second = (RankingAccumulator("dcg", discount=discount) for _ in range(2))
    for accumulator, n in ((first, 7), (first, 2), (second, 6)):
        accumulator.update(np.ones(n), np.arange(n), qid=[n] * n)
    with pytest.raises(ValueError, match="Got others for 7 ranks than for 6"):
        second.merge(first)
