"""Checks of recommenders: ratings that all count as relevant, test users that the model does not know."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._misuse.evidence import Metrics, odd_ids, reads_relevance, stand_in
from sklearn_rank._misuse.rows import NO_ID
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array

HIGHEST_RATING, LEAST_RATINGS, LEAST_USERS = 10, 20, 10
"""Highest value of a star scale; minimum numbers of ratings and of new test users."""

ALL_RATED = Check(
    "every rating is relevant", "ratings",
    "Labels of a recommender scorer are ratings such as 1 to 5 stars, and one star counts as relevant.",
    "20 ratings up to 10 that all reach `min_relevance`, and the lowest at most half as frequent as another",
    "rated lowest counts as relevant", "decision",
)  # fmt: skip
NEW_USERS = Check(
    "users who are not in training", "users",
    "A splitter such as GroupKFold keeps users whole, so the model ranks for no test user.",
    "10 test users",
    "test user is in training",
)  # fmt: skip
SEEN_PAIRS = Check(
    "test rows that were fitted on", "ratings",
    "All pairs of users and items that a recommender is tested on are pairs in training, and not excluded.",
    "20 pairs",
    "that are tested were fitted on", "decision",
)  # fmt: skip
CHECKS_OF_RATINGS = (ALL_RATED, NEW_USERS, SEEN_PAIRS)


def rated_lowest(label: Array, metrics: Metrics) -> Iterator[Finding]:
    """Ratings that all count as relevant and do not look like counts."""
    values, counts = np.unique(label, return_counts=True)
    if len(label) < LEAST_RATINGS or len(values) < 3 or values[-1] > HIGHEST_RATING or 2 * counts[0] > counts.max():
        return
    least = {name: metric["min_relevance"] for name, metric in metrics.items() if reads_relevance(metric)}
    relevant = [name for name in least if values[0] >= least[name]]
    if relevant:
        yield Finding(
            ALL_RATED,
            f"Each item that a user rated lowest counts as relevant in {', '.join(relevant)}: ratings go from "
            f"{values[0]:g} to {values[-1]:g}, and min_relevance is {least[relevant[0]]:g}. Pass a higher "
            f"min_relevance, such as {np.ceil((values[0] + values[-1] + 1) / 2):g}.",
            relevant[0] == next(iter(metrics)),
        )


def seen_pairs(n_pairs: int) -> Iterator[Finding]:
    """Test rows that are all training rows."""
    if n_pairs >= LEAST_RATINGS:
        yield Finding(
            SEEN_PAIRS,
            f"All {n_pairs} pairs of users and items that are tested were fitted on, and exclude= keeps them: "
            "split with LeaveLastOut or GlobalTimeSplit.",
        )


def stand_in_users(users: NDArray[Any]) -> Iterator[Finding]:
    """A user who stands for all that have no id."""
    if (one := stand_in(odd_ids(users), len(users))) is not None:
        yield Finding(
            NO_ID,
            f"{echo(one)} among the users is no id of a query, here a user, but stands for a missing one, so unrelated "
            "rows are one user: leave these rows out.",
        )


def unknown_users(n_known: int, n_users: int) -> Iterator[Finding]:
    """Test users without any user from training."""
    if n_known == 0 and n_users >= LEAST_USERS:
        yield Finding(
            NEW_USERS,
            f"No test user is in training, of {n_users}, and the model ranks for none of them: a splitter such as "
            "GroupKFold keeps users whole. Split with LeaveLastOut or GlobalTimeSplit.",
        )
