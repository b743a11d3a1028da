"""Frames of users and items as in recommenders: with or without ratings, with ranks or scores, and with seen items."""

import pandas as pd
import pytest

from sklearn_rank import compare_systems, evaluate_run
from sklearn_rank.io import join, read_qrels
from sklearn_rank.recommenders import exposure

LATER = {"ann": ["c", "h"], "bob": ["a"]}
LISTS = {"ann": ["b", "h", "c"], "bob": ["e", "a", "b"]}
SEEN = {"ann": ["b"], "bob": ["e"], "cid": ["a"]}
METRICS = ["ndcg@2", "mrr"]


def frame(by_user, **columns):
    rows = [(user, item, rank) for user, items in by_user.items() for rank, item in enumerate(items, 1)]
    table = pd.DataFrame(rows, columns=["user_id", "item_id", "rank"]).sample(frac=1, random_state=0)
    return table.assign(**columns)


EXPECTED = evaluate_run(LATER, LISTS, metrics=METRICS, exclude=SEEN).mean()
TEST = frame(LATER).drop(columns="rank")
RUN = frame(LISTS)
SCORED = RUN.assign(score=-RUN["rank"]).drop(columns="rank")


@pytest.mark.parametrize(
    ("test", "run", "seen"),
    [
        (TEST, RUN, frame(SEEN).drop(columns="rank")),
        (TEST.assign(rating=2.0), SCORED, frame(SEEN, rating=float("nan"))),
        (LATER, RUN, SEEN),
        (TEST, LISTS, frame(SEEN)),
    ],
    ids=["ranks", "ratings and scores", "dictionaries", "lists"],
)  # fmt: skip
def test_frames_have_the_values_of_dictionaries(test, run, seen):
    assert evaluate_run(test, run, metrics=METRICS, exclude=seen).mean() == EXPECTED
    assert compare_systems(test, {"a": run}, metrics=METRICS, exclude=seen).results["a"].mean() == EXPECTED
    counts = exposure(run, items=[*"abceh"], k=1, exclude=seen).counts
    assert counts.tolist() == [1, 0, 0, 0, 1]


def test_interactions_without_a_value_are_all_relevant():
    entries = read_qrels(TEST, qid="user_id", doc_id="item_id")
    assert entries.value.tolist() == [1, 1, 1]
    assert evaluate_run(entries, LISTS, metrics=METRICS, exclude=SEEN).mean() == EXPECTED
    again = exposure(LISTS, items=[*"abceh"], k=1, groups=[*"xxyyy"], judgments=TEST).groups
    assert again == exposure(LISTS, items=[*"abceh"], k=1, groups=[*"xxyyy"], judgments=LATER).groups


def test_a_table_to_exclude_has_users_and_items():
    with pytest.raises(TypeError, match=r"exclude as a table needs a column of queries or users.* Got 'user_id', 'x'"):
        join(TEST, RUN, exclude=pd.DataFrame({"user_id": ["ann"], "x": ["b"]}))
    with pytest.raises(TypeError, match=r"exclude must be \{query: documents\}, or a table of both. Got list"):
        join(TEST, RUN, exclude=[("ann", "b")])
