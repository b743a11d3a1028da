"""Plain arrays in one pass: the numbers and the errors of the general path, whatever blocks their rows fall into."""

import math
import re
from threading import Barrier, current_thread

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import METRICS, each_metric

from sklearn_rank._engine.check import NotPlain, next_start
from sklearn_rank._metric import one_pass, plans, value
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._utils import threads
from sklearn_rank.metrics import err_score, map_score, ndcg_score, rbp_score

LENGTHS = np.array([5, 1, 40, 3, 900, 2, 17, 60, 8, 1, 7, 130, 30, 6, 2, 300])
PLANNED = [metric for metric in METRICS if plans.planned_for_any([cached_spec(metric.name)], plans.ANY_FEW) is not None]


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks of other numbers of rows and queries."""
    monkeypatch.setattr(threads, "BLOCK_ROWS", 200)


@pytest.fixture(params=["several blocks", "one block", "few rows"])
def any_blocks(request, monkeypatch):
    """Rows of several blocks, of one, or so few that one plan is for all of them."""
    if request.param != "several blocks":
        monkeypatch.setattr(threads, "BLOCK_ROWS", 2000)
    if request.param == "few rows":
        monkeypatch.setitem(globals(), "LENGTHS", np.minimum(LENGTHS, 300))


@pytest.fixture
def used(monkeypatch):
    """Whether calls were computed in one pass."""
    found, are_plain = [], one_pass.are_plain

    def telling(compute):
        def compute_and_tell(*args):
            result = compute(*args)
            found.append(result is not None)
            return result

        return compute_and_tell

    def ask_and_tell(*args):
        answer = are_plain(*args)
        found.extend([] if answer else [False])
        return answer

    monkeypatch.setattr(value, "are_plain", ask_and_tell)
    for name in ("in_one_pass", "mean_in_one_pass"):
        monkeypatch.setattr(value, name, telling(getattr(one_pass, name)))
    return found


@pytest.fixture
def in_general(monkeypatch):
    """Compute in the general way."""

    def call(function, *args, **keywords):
        with monkeypatch.context() as patched:
            patched.setattr(value, "are_plain", lambda *_: False)
            return function(*args, **keywords)

    return call


def rows(seed=0, highest=4, decimals=1, lengths=None):
    """Grades, scores with ties, and ids that rise, some of them negative."""
    rng = np.random.default_rng(seed)
    lengths = LENGTHS if lengths is None else lengths
    qid = np.repeat(3 * np.arange(len(lengths)) - 7, lengths)
    return rng.integers(0, highest + 1, len(qid)) * 1.0, rng.normal(size=len(qid)).round(decimals), qid


# --- the same numbers ----------------------------------------------------------------------------------------


@pytest.mark.usefixtures("any_blocks")
@each_metric
def test_each_metric(metric, used, in_general):
    if metric.subtopics:
        return
    top = metric.labels[1] if isinstance(metric.labels[1], int | float) else 4
    ties = {"ties": "stable"} if "ties" in metric.defaults and metric not in PLANNED else {}
    for seed, decimals in ((0, 9), (1, 1), (2, 0)):
        y_true, y_score, qid = rows(seed, min(top, 4), decimals)
        for n_jobs, keywords in ((1, {"average": None}), (2, {"k": [3, 1, 10]}), (2, {})):
            if "k" in keywords and not metric.has_cutoff:
                continue
            given = {"qid": qid, "n_jobs": n_jobs, **ties, **keywords}
            for scores in (y_score, y_score.astype(np.float32)):
                expected = in_general(metric.function, y_true, scores, **given)
                assert_array_equal(metric.function(y_true, scores, **given), expected)
    assert {*used} == {metric in PLANNED}


@pytest.mark.parametrize("seed", range(12))
def test_blocks_of_any_rows(seed, monkeypatch, used, in_general):
    """A block ends in the middle of a query, at its end, or one row beside it; queries are longer than blocks."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, rng.choice([2, 6, 300]), 50) if seed else np.full(60, 5)
    arrays = rows(seed, lengths=lengths)
    for block in (1, 2, 5, 7, 50, 999):
        monkeypatch.setattr(threads, "BLOCK_ROWS", block)
        for n_jobs in (1, 2):
            given = {"qid": arrays[2], "n_jobs": n_jobs, "k": 4, "average": None}
            assert_array_equal(ndcg_score(*arrays[:2], **given), in_general(ndcg_score, *arrays[:2], **given))
    assert used.count(True) >= 2


@pytest.mark.usefixtures("any_blocks")
@pytest.mark.parametrize(
    "keywords",
    [
        {"gain": "linear"}, {"discount": "reciprocal"}, {"convention": "lightgbm"}, {"ties": "worst"},
        {"replace_undefined_by": math.nan}, {"replace_undefined_by": 1.0}, {"average": "geometric"},
        {"min_relevance": 2, "gain": "binary"},
    ],
    ids=str,
)  # fmt: skip
def test_keywords(keywords, used, in_general):
    y_true, y_score, qid = rows(3)
    y_true[:50] = 0  # queries without a relevant document
    expected = in_general(ndcg_score, y_true, y_score, qid=qid, **keywords)
    assert ndcg_score(y_true, y_score, qid=qid, **keywords) == expected
    assert used == [True]


@pytest.mark.usefixtures("any_blocks")
@pytest.mark.parametrize("label", [np.int32, np.int64, np.float32, np.float64])
@pytest.mark.parametrize("score", [np.float32, np.float64])
@pytest.mark.parametrize("ids", [np.int32, np.uint32, np.int64, np.uint64])
def test_types(label, score, ids, used, in_general):
    y_true, y_score, qid = rows(4)
    arrays = y_true.astype(label), y_score.astype(score)
    given = {"qid": (qid + 7).astype(ids), "average": None}
    assert_array_equal(map_score(*arrays, **given), in_general(map_score, *arrays, **given))
    assert used == [True]


def test_queries_around_as_many_rows_as_are_few(monkeypatch, used, in_general):
    monkeypatch.setattr(threads, "BLOCK_ROWS", 2**17)
    for n in (plans.FEW_ROWS, plans.FEW_ROWS + 1, plans.FEW_ROWS + 400):
        y_true, y_score, qid = rows(n, lengths=[n])
        assert map_score(y_true, y_score, qid=qid) == in_general(map_score, y_true, y_score, qid=qid)
    assert used == [True] * 3


def test_each_block_has_a_plan_of_its_own(used, in_general):
    """Grades and lengths that one block alone has, the first, one between or the last; others are of one length."""
    for place in (0, 30, -1):
        lengths = np.full(60, 20)
        lengths[place] = 333
        y_true, y_score, qid = rows(5, highest=1, lengths=lengths)
        y_true[np.flatnonzero(qid == np.unique(qid)[place])[7]] = 9
        given = {"qid": qid, "k": [5, 25, 400], "average": None, "n_jobs": 2}
        assert_array_equal(ndcg_score(y_true, y_score, **given), in_general(ndcg_score, y_true, y_score, **given))
    assert used == [True] * 3


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("keywords", [{"average": None}, {}], ids=str)
def test_blocks_of_one_thread(n_jobs, keywords, used, in_general):
    """They have the same arrays, whether the next block has more queries or fewer, other lengths or other grades."""
    lengths = np.concatenate([np.full(20, 90), np.full(900, 1), np.full(30, 20), [2, 150, 3], np.full(300, 3)])
    for seed, order in enumerate((lengths, lengths[::-1])):
        y_true, y_score, qid = rows(seed, highest=1, lengths=order)
        for start, highest in ((900, 3), (2000, 9), (2600, 2), (3000, 6)):
            y_true[start : start + 50] = rows(start, highest, lengths=[50])[0]
        given = {"qid": qid, "k": [2, 30, 200], "n_jobs": n_jobs, **keywords}
        assert_array_equal(ndcg_score(y_true, y_score, **given), in_general(ndcg_score, y_true, y_score, **given))
    assert used == [True, True]


def test_no_two_threads_have_the_same_arrays(monkeypatch):
    """Both have begun before one goes on."""
    owners, compute, both = {}, one_pass.OneThread.compute, Barrier(2)

    def compute_and_note(self, block):
        if self not in owners:
            owners[self] = current_thread()
            both.wait(60)
        assert owners[self] is current_thread()
        return compute(self, block)

    monkeypatch.setattr(one_pass.OneThread, "compute", compute_and_note)
    y_true, y_score, qid = rows(17)
    ndcg_score(y_true, y_score, qid=qid, n_jobs=2)
    assert len(owners) == len({*owners.values()}) == 2


@pytest.mark.usefixtures("any_blocks")
@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@each_metric
def test_one_score_for_all(metric, ties, used, in_general):
    if metric not in PLANNED or "ties" not in metric.defaults:
        return
    top = metric.labels[1] if isinstance(metric.labels[1], int | float) else 4
    y_true, y_score, qid = rows(12, min(top, 4))
    for score in (0.0, -2.5):
        for keywords in ({"average": None}, {"k": [3, 1, 10]} if metric.has_cutoff else {}):
            given = {"qid": qid, "ties": ties, **keywords}
            for scores in (np.full_like(y_score, score), np.full(len(qid), score, dtype=np.float32)):
                expected = in_general(metric.function, y_true, scores, **given)
                assert_array_equal(metric.function(y_true, scores, **given), expected)
    assert {*used} == {True}


@pytest.mark.parametrize("function", [ndcg_score, map_score, err_score])
def test_blocks_of_one_score_beside_others(function, used, in_general):
    """The arrays of one are those of the next, which has no ties, or some; one thread and two take blocks in turn."""
    y_true, y_score, qid = rows(14, decimals=9, lengths=np.full(90, 20))
    some = (qid + 7) // 3 // 30  # thirty queries each, and blocks have 15 or 18
    scores = np.choose(some, [np.zeros_like(y_score), y_score, y_score.round()])
    for order in (scores, scores[::-1].copy()):
        for n_jobs in (1, 2):
            given = {"qid": qid, "n_jobs": n_jobs, "average": None}
            assert_array_equal(function(y_true, order, **given), in_general(function, y_true, order, **given))
    assert used == [True] * 4


@pytest.mark.usefixtures("any_blocks")
@pytest.mark.parametrize("row", [0, 1, 2, 126, 127, 128, 129, 254, 255, 256, 257, 383, 384, 512, -2, -1])
def test_one_score_for_all_but_one(row, used, in_general):
    """Rows are read a few at a time, of which the other one is the first, the last, or the one beside it.

    Or it is the first of as many others as there are.
    """
    y_true, y_score, qid = rows(13)
    for at, score, other in ((row, 0.0, -1.0), (row, 3.0, 4.0), (row, 0.0, -0.0), (slice(row, None), 0.0, 1.0)):
        scores = changed(np.full_like(y_score, score), at, other)
        for function in (ndcg_score, map_score):
            for average in (None, "macro"):
                expected = in_general(function, y_true, scores, qid=qid, average=average)
                assert_array_equal(function(y_true, scores, qid=qid, average=average), expected)
    assert {*used} == {True}


@pytest.mark.usefixtures("any_blocks")
def test_cutoffs_beyond_all_lists(in_general):
    """Plans leave out all but the first of them."""
    y_true, y_score, qid = rows(15)
    for k in ([3, 10**6], [10**6, 3, 10**5], [10**6]):
        for average in (None, "macro"):
            given = {"qid": qid, "k": k, "average": average}
            assert_array_equal(ndcg_score(y_true, y_score, **given), in_general(ndcg_score, y_true, y_score, **given))


@pytest.mark.usefixtures("any_blocks")
def test_means_beyond_the_range_of_a_float(in_general):
    """Each value is within it, and what is beyond is the sum."""
    y_true, y_score, qid = rows(16)
    given = {"qid": qid, "gain": "linear", "replace_undefined_by": 1.7e308}
    y_true[:50] = 0
    with pytest.raises(ValueError, match="beyond the range of a float") as expected:
        in_general(ndcg_score, y_true, y_score, **given)
    with pytest.raises(ValueError, match=f"^{re.escape(str(expected.value))}$"):
        ndcg_score(y_true, y_score, **given)


# --- what is left to the general path ------------------------------------------------------------------------


def changed(x, row, value):
    """A copy with another entry."""
    x = x.copy()
    x[row] = value
    return x


CHANGES = {
    "a score of -inf": lambda y, s, q: (y, changed(s, -1, -np.inf), q),
    "scores of -inf": lambda y, s, q: (y, np.full_like(s, -np.inf), q),
    "a label that is no grade": lambda y, s, q: (changed(y, -1, 0.5), s, q),
    "a label beyond grades": lambda y, s, q: (changed(y, -1, 40.0), s, q),
    "an id that falls": lambda y, s, q: (y, s, changed(q, -1, -9)),
    "ids that fall from block to block": lambda y, s, q: (np.tile(y, 2), np.tile(s, 2), np.append(q, q - 10**6)),
    "ids that come again": lambda y, s, q: (np.tile(y, 2), np.tile(s, 2), np.tile(q, 2)),
    "strings": lambda y, s, q: (y, s, q.astype(str)),
    "ids of 16 bits": lambda y, s, q: (y, s, q.astype(np.int16)),
    "other bytes": lambda y, s, q: (y.astype(">f8"), s, q),
    "every second entry": lambda y, s, q: (y[::2], s[::2], q[::2]),
    "whole scores": lambda y, s, q: (y, (10 * s).astype(np.int64), q),
    "a list": lambda y, s, q: (y.tolist(), s, q),
}


@pytest.mark.usefixtures("any_blocks")
@pytest.mark.parametrize("change", CHANGES)
def test_other_rows(change, used, in_general):
    y_true, y_score, qid = CHANGES[change](*rows(6))
    for average in (None, "macro"):
        expected = in_general(ndcg_score, y_true, y_score, qid=qid, average=average)
        assert_array_equal(ndcg_score(y_true, y_score, qid=qid, average=average), expected)
    assert used == [False, False]


def test_queries_that_are_too_long(monkeypatch, used, in_general):
    """One that is within the first block or a later one, and one in which several blocks would end."""
    for lengths in (LENGTHS, LENGTHS[::-1]):
        y_true, y_score, qid = rows(7, lengths=lengths)
        for longest in (899, 100, 1):
            monkeypatch.setattr(one_pass, "LONGEST", longest)
            assert ndcg_score(y_true, y_score, qid=qid) == in_general(ndcg_score, y_true, y_score, qid=qid)
        monkeypatch.setattr(one_pass, "LONGEST", 900)
        ndcg_score(y_true, y_score, qid=qid)
    assert used == 2 * [False, False, False, True]


def test_no_rows(used):
    with pytest.raises(ValueError, match="At least one row is needed"):
        ndcg_score(np.empty(0), np.empty(0), qid=np.empty(0, dtype=int))
    assert used == [False]


def test_other_arguments(used):
    y_true, y_score, qid = rows(8)
    y_true = np.minimum(y_true, 1)
    ndcg_score(y_true, y_score, qid=qid, sample_weight=np.ones(len(qid)))
    ndcg_score(y_true, y_score, qid=qid, mask=np.ones(len(qid), dtype=bool))
    ndcg_score(y_true, y_score, qid=qid, tie_break=y_score, ties="stable")
    assert used == []
    ndcg_score(y_true, y_score, qid=qid, gain=np.sqrt)
    ndcg_score(np.tile(y_true, (2, 1)), np.tile(y_score, (2, 1)))
    assert used == [False, False]


WRONG = {
    "more labels": lambda y, s, q: (np.append(y, 1.0), s, q),
    "more scores": lambda y, s, q: (y, np.append(s, 1.0), q),
    "more ids": lambda y, s, q: (y, s, np.append(q, q[-1])),
    "a label that is NaN": lambda y, s, q: (changed(y, 700, np.nan), s, q),
    "a negative label": lambda y, s, q: (changed(y, 700, -1.0), s, q),
    "a label above max_grade": lambda y, s, q: (changed(y, 700, 5.0), s, q),
    "a score that is NaN": lambda y, s, q: (y, changed(s, 700, np.nan), q),
    "a score of inf": lambda y, s, q: (y, changed(s, -1, np.inf), q),
    "scores that are NaN": lambda y, s, q: (y, np.full_like(s, np.nan), q),
    "one score, and NaN": lambda y, s, q: (y, changed(np.zeros_like(s), 700, np.nan), q),
    "scores of two systems": lambda y, s, q: (y, np.stack([s, s], axis=1), q),
    "a row of ids": lambda y, s, q: (y, s, q[None]),
}


@pytest.mark.usefixtures("any_blocks")
@pytest.mark.parametrize("change", WRONG)
def test_errors(change, in_general):
    y_true, y_score, qid = WRONG[change](*rows(9))
    with pytest.raises(ValueError, match="must") as expected:
        in_general(err_score, y_true, y_score, qid=qid)
    with pytest.raises(ValueError, match=f"^{re.escape(str(expected.value))}$"):
        err_score(y_true, y_score, qid=qid)


def test_a_label_above_the_scale_of_gains(in_general):
    y_true, y_score, qid = rows(9)
    given = {"qid": qid, "gain": "exp2"}
    assert rbp_score(y_true, y_score, **given) == in_general(rbp_score, y_true, y_score, **given)
    with pytest.raises(ValueError, match="max_grade=4"):
        rbp_score(changed(y_true, 700, 5.0), y_score, **given)


def test_an_id_that_falls_where_a_block_begins(used, in_general):
    """It is that of the first query, whose rows are in two places; no other id falls."""
    y_true, y_score, qid = rows(11, lengths=np.full(500, 4))
    starts = [next_start(qid, start, 99) for start, _ in threads.row_blocks(len(qid), 1)]
    for start in starts[1:]:
        torn = qid.copy()
        torn[start : start + 4] = qid[0]
        assert ndcg_score(y_true, y_score, qid=torn) == in_general(ndcg_score, y_true, y_score, qid=torn)
    assert len(starts) > 4
    assert not any(used)


def test_a_bad_n_jobs_is_the_first_error():
    y_true, y_score, qid = rows(10)
    for bad in (0, 1.5):
        with pytest.raises(ValueError, match="The 'n_jobs' parameter must be an int other than 0, or None"):
            ndcg_score(y_true, changed(y_score, 0, np.nan), qid=qid, n_jobs=bad)


# --- blocks of whole queries ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(20))
def test_the_next_row_at_which_a_query_starts(seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, rng.choice([2, 9, 2000]), 30)
    qid, starts = np.repeat(np.arange(30), lengths), np.cumsum([0, *lengths])
    for row in [0, len(qid), *rng.integers(0, len(qid), 50).tolist()]:
        assert next_start(qid, row, len(qid)) == starts[np.searchsorted(starts, row)]


def test_a_start_that_is_too_far_away():
    qid = np.repeat([1, 2], [1000, 500])
    assert next_start(qid, 200, 801) == 1000
    with pytest.raises(NotPlain):
        next_start(qid, 200, 800)
    assert next_start(qid, 1200, 300) == 1500
    with pytest.raises(NotPlain):
        next_start(qid, 1200, 299)


def test_a_start_is_looked_for_where_ids_fall():
    """What falls before it is noticed as the block that ends there is read."""
    assert next_start(np.array([5, 5, 2, 3, 7, 7]), 1, 5) == 4
