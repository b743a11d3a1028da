"""Warnings and errors of misuse in a call, and a model."""

import io
import re
import warnings
from contextlib import redirect_stderr, redirect_stdout

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_rank import compare_systems, evaluate_run, evaluate_table
from sklearn_rank._cli import main
from sklearn_rank._data import doors
from sklearn_rank._data.table import ALL_CHECKS
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import join, read_table

OF_RANKS = [
    (doors.TABLE, lambda _, table: evaluate_table(table, metrics="map")),
    (doors.READ_TABLE, lambda _, table: read_table(table)),
    (doors.RUN, evaluate_run),
    (doors.JOIN, join),
    (doors.SYSTEMS, lambda judged, table: compare_systems(judged, {"a": table})),
    (doors.SYSTEMS, lambda _, table: compare_systems(table, ["score"])),
]
"""Doors where a table may have ranks beside its scores."""


class Given(RegressorMixin, BaseEstimator):
    """A model that predicts a column of X."""

    def __init__(self, column=0):
        self.column = column

    def fit(self, X, y):
        self.is_fitted_ = True
        return self

    def predict(self, X):
        return np.asarray(X)[:, self.column]


def seen(call, *args, **keywords):
    """Misuse in a call: the checks that warn, each as often as it does, and the check that raises."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        error = ""
        try:
            call(*args, **keywords)
        except ValueError as raised:
            error = str(raised)
    texts = [str(one.message) for one in told if issubclass(one.category, RankingWarning)]
    names = [check.name for text in texts for check in ALL_CHECKS if check.says in text]
    return names, next((check.name for check in ALL_CHECKS if check.says in error), error)


def command(*arguments, most=0):
    """Turn warnings of the command line into those of Python, and an exit code above `most` into an error."""
    told = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(told):
        code = main([*map(str, arguments)])
    if code > most:
        raise ValueError(told.getvalue())
    for message in re.findall("warning: (.*)", told.getvalue()):
        warnings.warn(message, RankingWarning, stacklevel=1)


def beside_ranks():
    """Judgments, and a table whose ranks increase with its scores, which agree with the labels."""
    label = np.tile([2, 0, 1, 0], 30)
    score = label + np.arange(120) / 120
    frame = pd.DataFrame({"qid": np.repeat(np.arange(30), 4), "doc_id": range(120), "label": label, "score": score})
    judged = {q: dict(zip(part["doc_id"], part["label"], strict=True)) for q, part in frame.groupby("qid")}
    return judged, frame.assign(rank=frame.groupby("qid")["score"].rank())
