"""Values with equal hashes, lengths or prefixes are distinguished, and rounding errors do not decide an order."""

import io
from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank._engine import grouping as _grouping
from sklearn_rank._engine.grouping import Distinct, Grouping, Keys, group_rows, number_together
from sklearn_rank._engine.ranking import Labels, Ranking
from sklearn_rank._tables.query_ids import QueryIdIndex
from sklearn_rank.io import join, read_qrels, read_run
from sklearn_rank.io._entries import match

# --- ids -----------------------------------------------------------------------------------------------------


def keys_of(*pieces):
    """Equal keys, so that only the text distinguishes ids."""
    text = np.frombuffer(b"".join(pieces), dtype=np.uint8)
    return Keys(np.full(len(pieces), 7), text, np.cumsum([len(piece) for piece in pieces]))


def test_ids_of_equal_hash_are_compared():
    """Keys of shorter ids contain the whole id, so only ids of eight bytes or more are compared."""
    number, ends = np.empty(7, dtype=np.uint32), (b"ab", b"ac", b"abc", b"", b"ab", b"a", b"ac")
    Distinct().number(keys_of(*[b"a piece " + end for end in ends]), 0, number)
    assert number.tolist() == [0, 1, 2, 3, 0, 4, 1]


def test_documents_of_equal_hash_are_compared():
    ours, others = keys_of(b"abc", b"ab", b"xyz"), keys_of(b"ab", b"abcd", b"xyy", b"abc", b"")
    found, twice = match(ours, Grouping.by_sizes([3]), others, Grouping.by_sizes([5]))
    assert found.tolist() == [1, -1, -1, 0, -1]
    assert twice == (-1, -1)


@pytest.mark.parametrize("queries", [["q12", "q1"], ["q1", "q12"], ["a", "", "b"], ["ab", "cd", "c"]])
def test_queries_with_a_common_prefix(queries):
    queries = [q for q in queries if q]
    text = "".join(f"{q} 0 d{i} 1\n" for q in queries for i in range(2))
    assert np.asarray(read_qrels(io.BytesIO(text.encode())).qid).tolist() == [q for q in queries for _ in range(2)]


def test_all_blanks_separate_fields():
    for blank in (b" ", b"\t", b"\x0b", b"\x0c", b"\r", b" \t\x0b\x0c\r"):
        run = read_run(io.BytesIO(blank + blank.join([b"q1", b"Q0", b"a", b"1", b"2.5", b"me"]) + blank + b"\n"))
        assert join(read_qrels(io.BytesIO(b"q1 0 a 1\n")), run).y_true.tolist() == [1]
    for other in (b"\x1c", b"\x1f", b"\x85", b"\xa0", b"\x08", b"\x0e"):
        assert np.asarray(read_qrels(io.BytesIO(b"q" + other + b"1 0 a 1\n")).qid).tolist() != ["q"]


def test_ids_with_similar_letters_differ():
    for ids in (
        ["a\0b", "a", "b", "a\0b", "a\0", "\0"],
        ["\ud800", "\ud801", "?", "\ud800", "\ufffd"],
        ["a\0b"] * 2 + ["a", "b"],
    ):
        distinct = [*dict.fromkeys(ids)]
        found = group_rows(np.array(ids, dtype=object), len(ids))
        assert found.ids.tolist() == distinct
        assert [ids[row] for row in found.input_rows()] == [
            q for q, n in zip(distinct, found.sizes, strict=True) for _ in range(n)
        ]


def test_numbers_and_strings_are_different_ids():
    lists = [np.array([1, 2]), np.array(["1", "x"]), np.array([2, 3])]
    known, numbers = number_together(lists)
    assert known.tolist() == [1, 2, "1", "x", 3]
    assert [number.tolist() for number in numbers] == [[0, 1], [2, 3], [1, 4]]


def test_objects_are_compared_by_identity_while_useful(monkeypatch):
    monkeypatch.setattr(_grouping, "N_SAMPLED", 4)
    monkeypatch.setattr(_grouping, "CACHED_ROWS", 4)
    asked, real = [], _grouping._number_values
    monkeypatch.setattr(_grouping, "_number_values", lambda ids: asked.append(len(ids)) or real(ids))
    two = [("q", 1), ("q", 2)]
    some, no_query = [("q", i) for i in range(100)], ("q", -1)
    monkeypatch.setattr(_grouping, "AGAIN", 0.4)
    for objects, expected in (
        (some[:40] + two * 30, 100), (two * 50, 2), ([no_query if i % 50 == 0 else x for i, x in enumerate(some)], 100),
        ([x if i % 5 == 1 else no_query for i, x in enumerate(some)], 21),
    ):  # fmt: skip
        ids = np.empty(100, dtype=object)
        ids[:] = objects
        group_rows(ids, 100)
        assert asked.pop() == expected  # all rows, or the remaining objects


def test_strings_are_known_when_other_ids_follow():
    seen = QueryIdIndex()

    def number(*ids):
        array = np.empty(len(ids), dtype=object)
        array[:] = ids
        return seen.number(array).tolist()

    assert number("a", "b") == [0, 1]
    assert number(("x", 1), "b", "c") == [2, 1, 3]
    assert number("c", "a", ("x", 1)) == [3, 0, 2]


# --- orders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1.0, 0.5, 0.1, -1.0, 7.0])
def test_best_order_of_any_labels(scale, rng):
    label = rng.integers(0, 9, 300) * scale
    indptr = np.array([0, 8, 17, 40, 300])
    for depth in (3, 300):
        ideal = Ranking.by_label(label, indptr, depth)
        for q, (start, stop) in enumerate(zip(indptr[:-1], indptr[1:], strict=True)):
            expected = np.sort(label[start:stop])[::-1][:depth]
            assert_array_equal(ideal.label[ideal.ptr[q] : ideal.ptr[q + 1]], expected)


@pytest.mark.parametrize("ties", ["stable", "worst", "best"])
def test_sorted_lists_are_cut_at_their_depth(ties):
    label, indptr = np.array([1.0, 0, 2, 0, 1, 1]), np.array([0, 4, 6])
    ranking = Ranking.by_score(Labels(label, indptr), np.ones(6), depth=2, ties=ties)
    assert ranking.length.tolist() == [2, 2]
    expected = {"stable": [1, 0, 1, 1], "worst": [0, 0, 1, 1], "best": [2, 1, 1, 1]}
    assert ranking.label.tolist() == expected[ties]


def greedy_exactly(relevant, keep):
    """Rows in greedy order of exact gains; the first row wins among equal gains."""
    worth, left, order = [Fraction(1)] * relevant.shape[1], [*range(len(relevant))], []
    while left:
        adds = [sum(w for w, r in zip(worth, relevant[row], strict=True) if r) for row in left]
        row = left.pop(adds.index(max(adds)))
        worth = [w * keep if r else w for w, r in zip(worth, relevant[row], strict=True)]
        order.append(row)
    return order


@pytest.mark.parametrize("seed", range(20))
def test_rounding_does_not_choose_the_most_novel(seed):
    """Gains that are equal up to rounding are equal in any order of summation."""
    relevant = np.random.default_rng(seed).random((40, 6)) < 0.5
    relevant = relevant[np.lexsort([*~relevant.T[::-1]])]
    found = Ranking.by_novelty(relevant * 1.0, np.array([0, 40]), depth=40, alpha=0.3, min_relevance=1.0)
    assert found.order.tolist() == greedy_exactly(relevant, Fraction(7, 10))
