"""What two results must have in common to be compared: keywords that count, lists of one length, known columns.

The same judged lists are typed in several forms; expected values are those of one form.
"""

import numpy as np
import pandas as pd
import pytest

from sklearn_rank import RankingAccumulator, compare_systems, evaluate, evaluate_run, evaluate_table, metric
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, no_worse

N, DEPTH = 30, 20
rng = np.random.default_rng(3)
QID = np.repeat(np.arange(N), DEPTH)
LABEL = rng.integers(0, 3, N * DEPTH)
SCORE, OTHER = rng.random((2, N * DEPTH)) + LABEL / 2
METRICS = ["ndcg@10", "map"]


def of_arrays(score, rows=slice(None), **keywords):
    return evaluate(LABEL[rows], score[rows], qid=QID[rows], metrics=METRICS, **keywords)


def of_run(score, label=LABEL, **keywords):
    judgments = {q: {f"d{j}": int(y) for j, y in enumerate(x) if y == y} for q, x in enumerate(label.reshape(N, DEPTH))}
    run = {q: {f"d{j}": s for j, s in enumerate(x)} for q, x in enumerate(score.reshape(N, DEPTH).tolist())}
    return evaluate_run(judgments, run, metrics=METRICS, **keywords)


def of_pieces(score):
    tables = (pd.DataFrame({"y": LABEL, "s": score, "q": QID})[QID % 3 == part] for part in range(3))
    return evaluate_table(tables, y_true="y", y_score="s", qid="q", metrics=METRICS)


def of_batches(score):
    accumulator = RankingAccumulator(METRICS)
    for q in range(N):
        rows = QID == q
        accumulator.update(LABEL[rows], score[rows], qid=QID[rows])
    return accumulator.compute()


def loaded(result, path):
    result.save(path / "result.npz")
    return Evaluation.load(path / "result.npz")


# --- keywords ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [of_run, of_pieces, of_batches])
def test_keywords_that_touch_nothing_do_not_count(form, tmp_path):
    expected = compare(of_arrays(SCORE), of_arrays(OTHER), metric="ndcg@10")
    for a, b in ((of_arrays(SCORE), form(OTHER)), (form(SCORE), of_run(OTHER)), (form(SCORE), of_arrays(OTHER))):
        for one in (a, loaded(a, tmp_path)):
            found = compare(one, b, metric="ndcg@10")
            assert found.difference == pytest.approx(expected.difference, abs=1e-15)
            assert no_worse(new=one.subset(one.qid), old=b, margin=0.1)._notes() is not None
    systems = compare_systems({"a": of_arrays(SCORE), "b": form(OTHER)})
    assert systems.results["b"]["map"] == pytest.approx(of_arrays(OTHER)["map"])


def test_keywords_that_change_a_value_are_named_with_both_values():
    tied = np.round(SCORE, 1)
    unjudged = np.where(LABEL == 0, np.nan, LABEL)
    for a, b, words in (
        (of_arrays(tied), of_arrays(tied, ties="worst"), "ties=average in 'a' and ties=worst in 'b'"),
        (of_arrays(SCORE), of_arrays(OTHER, min_relevance=2), "min_relevance=1 in 'a' and min_relevance=2 in 'b'"),
        (
            of_run(SCORE, unjudged, unjudged="drop"), of_run(OTHER, unjudged),
            "unjudged=drop in 'a' and unjudged=nonrelevant in 'b'",
        ),
    ):  # fmt: skip
        for read in (compare, lambda a, b, metric: compare_systems({"a": a, "b": b})):
            with pytest.raises(ValueError, match=f"computed alike. Got 'map' with {words}|Got 'ndcg@10' with {words}"):
                read(a, b, metric="map")
    assert compare(of_arrays(SCORE), of_arrays(OTHER, ties="worst"), metric="map").n_units == N


# --- other candidates, and what is not known ------------------------------------------------------------------------

NEARLY_ALL = (LABEL > 0) | (np.arange(N * DEPTH) % 11 > 0)
HALF = (LABEL > 0) | (np.arange(N * DEPTH) % 2 > 0)
LINE = "Documents per query: {} in '{}' and 20 in '{}'. Other candidates or depths change a metric, too."


def texts(new, old, metric="map"):
    """What each reader of two results prints."""
    return [
        str(compare(new, old, metric=metric)).replace("'a'", "'new'").replace("'b'", "'old'"),
        str(compare_all({"new": new, "old": old}, metric=metric)),
        str(no_worse(new=new, old=old, margin={metric: 0.1})),
        str(compare_systems({"old": old, "new": new}).significance(metric)),
    ]


def test_other_candidates_are_told(tmp_path):
    """One system on all documents, and on the relevant ones with half of the others."""
    all_documents, some = of_arrays(SCORE), of_arrays(OTHER, HALF)
    for one in (some, loaded(some, tmp_path), some.subset(some.qid)):
        mean = f"{HALF.sum() / N:.4g}"
        assert all(LINE.format(mean, "new", "old") in text for text in texts(one, all_documents, "ndcg@10"))
        assert all(LINE.format(mean, "old", "new") in text for text in texts(all_documents, one))


def test_lists_of_nearly_one_length_are_not_told():
    """Equal lists, a few documents less in some lists, and runs that differ below the cutoff."""
    deep, shallow = ({q: [f"d{j}" for j in range(n)] for q in range(N)} for n in (100, 12))
    judgments = {q: {"d3": 1, f"x{q}": 1} for q in range(N)}
    runs = [evaluate_run(judgments, run, metrics=METRICS) for run in (deep, shallow)]
    first = NEARLY_ALL | (QID == 0)
    for new, old, name in (
        (of_arrays(SCORE), of_arrays(OTHER), "map"),
        (of_arrays(SCORE), of_arrays(OTHER, first), "map"),
        (*runs, "ndcg@10"),
    ):
        assert not any("Documents per query" in text for text in texts(new, old, name))
    assert all("Documents per query: 12 in 'old' and 100 in 'new'." in text for text in texts(*runs, "map"))


def test_unknown_data_are_named(tmp_path):
    known = evaluate(LABEL, SCORE, qid=QID, metrics="map")
    bare = Evaluation.from_values(known.qid, {"map": known.per_query["map"]}, meaning={"map": known.meaning["map"]})
    for text in texts(known, bare):
        assert "Not known, so not compared: labels of 'old'; documents per query of 'old'." in text
    both = [Evaluation.from_values(known.qid, {"map": known.per_query["map"] / n}) for n in (1, 2)]
    assert not any("Not known" in text for text in (*texts(*both), *texts(known, loaded(known, tmp_path))))


def test_unknown_columns_are_named():
    @metric("profit", columns=["price"])
    def profit_score(r):
        return r.cumsum(r.column("price") * r.relevant)

    known = evaluate(LABEL, SCORE, qid=QID, metrics="profit@3", price=OTHER)
    told = {name: getattr(known, name) for name in ("meaning", "label_fingerprints", "n_documents")}
    before = Evaluation.from_values(known.qid, {"profit@3": known.per_query["profit@3"] / 2}, **told)
    for text in texts(known, before, "profit@3"):
        assert "Not known, so not compared: columns or vectors that profit@3 reads of 'old'" in text


# --- shares of judged documents, in pieces ---------------------------------------------------------------------


def pieces(label, score, **keywords):
    tables = (pd.DataFrame({"y": label, "s": score, "q": QID})[QID % 3 == part] for part in range(3))
    return evaluate_table(tables, y_true="y", y_score="s", qid="q", metrics=METRICS, unjudged="nonrelevant", **keywords)


def batches(label, score, per_batch=1, metrics=METRICS):
    """Two accumulators, merged."""
    parts = [RankingAccumulator(metrics, unjudged="nonrelevant") for _ in range(2)]
    for first in range(0, N, per_batch):
        rows = (first <= QID) & (QID < first + per_batch)
        parts[first % 2].update(label[rows], score[rows], qid=QID[rows])
    return parts[0].merge(parts[1]).compute(sort_by_qid=True)


def whole(label, score):
    return evaluate(label, score, qid=QID, metrics=METRICS, unjudged="nonrelevant")


@pytest.mark.parametrize("form", [pieces, batches])
def test_pieces_know_their_judged_shares(form, tmp_path):
    label = np.where(np.arange(N * DEPTH) % 2 > 0, LABEL, np.nan)
    judged_first = np.where(np.isnan(label), SCORE - 9, SCORE)
    judged_last = np.where(np.isnan(label), OTHER + 0.7, OTHER)
    results = [form(label, score) for score in (judged_first, judged_last)]
    for result, score in zip(results, (judged_first, judged_last), strict=True):
        expected = whole(label, score)
        order = np.argsort(result.qid)
        for name in METRICS:
            np.testing.assert_array_equal(result.judged[name][order], expected.judged[name])
    results.append(loaded(results[1], tmp_path))
    for other in results[1:]:
        with pytest.warns(RankingWarning, match="of 'b' were judged far less than documents of 'a'"):
            compare(results[0], other, metric="ndcg@10")
    # All are judged, as much is judged, or judgments only name relevant documents.
    full, positive = np.where(np.isnan(label), 0.0, label), np.where(label == 0, np.nan, label)
    for a, b in (
        ([full, judged_first], [full, judged_last]),
        ([label, SCORE], [label, OTHER]),
        ([positive, judged_first], [positive, judged_last]),
    ):
        compare(form(*a), form(*b), metric="ndcg@10")


def test_pieces_with_unjudged_documents_are_looked_at_together():
    """Grades from 1 up and one unjudged document in ten: as `evaluate`, whatever the pieces."""
    grades = np.where(np.arange(N * DEPTH) % 13 == 0, np.nan, LABEL + 1.0)
    with pytest.warns(RankingWarning, match="every document is relevant"):
        whole(grades, SCORE)
    for n in (1, 7, N):
        with pytest.warns(RankingWarning, match="every document is relevant"):
            batches(grades, SCORE, n)
    # A fifth is unjudged, only positives of one grade are judged, and one document is not relevant.
    many = np.where(np.arange(N * DEPTH) % 5 == 0, np.nan, LABEL + 1.0)
    ones = np.where(np.arange(N * DEPTH) % 13 == 0, np.nan, 1.0)
    one_zero = np.where(np.arange(N * DEPTH) == 1, 0, grades)
    for label in (many, ones, one_zero):
        whole(label, SCORE)
        for n in (1, 7):
            batches(label, SCORE, n)
