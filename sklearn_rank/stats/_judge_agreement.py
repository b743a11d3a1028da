"""Agreement of two judges on the grades of documents: bias at each grade, and weighted kappa."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_rank._data.doors import STATISTICS
from sklearn_rank._data.look import look
from sklearn_rank._engine.columns import check_rows
from sklearn_rank._estimates.arguments import numbers
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.read_only import ReadOnlyArrays
from sklearn_rank._utils.table import Table, TableReport, cell
from sklearn_rank._utils.typing import Array


@dataclass(frozen=True, repr=False, eq=False)
class JudgeAgreement(TableReport, ReadOnlyArrays):
    """Agreement of a model's grades with people's grades, from `judge_agreement`.

    Attributes
    ----------
    human, model : ndarray of shape (n_documents,)
        Grades of the documents that both judged.
    n_left_out : int
        Number of documents that only people or only the model judged.

    Examples
    --------
    >>> from sklearn_rank.stats import judge_agreement
    >>> agreement = judge_agreement([0, 1, 2, 1], [0, 1, 2, 2])
    >>> round(agreement.kappa, 4), agreement.human.tolist(), agreement.table.rows[1]
    (0.8, [0.0, 1.0, 2.0, 1.0], (1.0, 2, 1.5, 0.5, 0.5))
    """

    human: Array
    model: Array
    n_left_out: int

    @property
    def kappa(self) -> float:
        """Cohen's kappa with quadratic weights: 1 for equal grades, 0 for chance; NaN if all grades are equal."""
        observed = float(np.mean((self.human - self.model) ** 2))
        by_chance = float(self.human.var() + self.model.var() + (self.human.mean() - self.model.mean()) ** 2)
        return 1 - observed / by_chance if by_chance else np.nan

    @property
    def table(self) -> Table:
        """A row for each grade of people: documents, model's mean, mean minus grade, share of equal grades."""
        rows = []
        for grade in distinct_values(self.human):
            model = self.model[self.human == grade]
            mean = float(model.mean())
            rows.append((float(grade), len(model), mean, mean - float(grade), float((model == grade).mean())))
        return Table(("grade", "documents", "model's mean", "bias", "same"), tuple(rows))

    def _title(self) -> str:
        kappa = "no kappa" if np.isnan(self.kappa) else f"weighted kappa {cell(self.kappa)}"
        return f"Agreement of people and a model on {len(self.human)} documents, {kappa}"

    def _notes(self) -> list[str]:
        return [f"Documents that only one of them judged are left out: {self.n_left_out}."] if self.n_left_out else []

    def _tables(self) -> list[Table]:
        table = self.table
        rows = tuple((f"{row[0]:g}", *row[1:]) for row in table.rows)
        return [Table(table.columns, rows)]


@named_arguments
def judge_agreement(human: Any, model: Any) -> JudgeAgreement:
    """Compare the grades that people and a model gave to the same documents.

    Parameters
    ----------
    human, model : mapping, Entries or array-like of shape (n_documents,)
        Grades as ``{query: {document: grade}}``, as a result of `sklearn_rank.io.read_qrels`, or as two arrays in the
        same order of documents. NaN: not judged. Documents that only one judge graded are left out and counted.

    Returns
    -------
    JudgeAgreement
        ``kappa``, ``table``.

    Raises
    ------
    ValueError
        If no document was judged by both, if both arguments are the same object, if entries repeat a document of a
        query, if arrays differ in length, or if a grade is infinite.
    TypeError
        If one argument has grades by document and the other is an array, or if a grade is not a number.

    References
    ----------
    J. Cohen: Weighted kappa: nominal scale agreement with provision for scaled disagreement or partial credit.
    Psychological Bulletin 70, 1968.

    Examples
    --------
    The model grades one of the two documents of grade 1 too high by 1. The mean squared difference is 0.25; if the same
    grades were assigned at random, it would be 1.25:

    >>> from sklearn_rank.stats import judge_agreement
    >>> human = {"q1": {"a": 0, "b": 1}, "q2": {"a": 2, "b": 1}}
    >>> model = {"q1": {"a": 0, "b": 1}, "q2": {"a": 2, "b": 2, "c": 0}}
    >>> judge_agreement(human, model)
    Agreement of people and a model on 4 documents, weighted kappa 0.8000
    Documents that only one of them judged are left out: 1.
    grade   documents   model's mean     bias     same
    0               1         0.0000   0.0000   1.0000
    1               2         1.5000   0.5000   0.5000
    2               1         2.0000   0.0000   1.0000
    """
    look(STATISTICS, models=({"human": human, "model": model},))
    of_human, of_model = _by_document(human), _by_document(model)
    if (of_human is None) != (of_model is None):
        raise TypeError(
            "judge_agreement takes grades by document from both judges, or two arrays. "
            f"Got {type(human).__name__} and {type(model).__name__}."
        )
    if of_human is None or of_model is None:
        check_rows(human=human, model=model)
        a, b = numbers(human, "human", "judge_agreement"), numbers(model, "model", "judge_agreement")
        if len(a) != len(b):
            raise ValueError(
                f"judge_agreement takes two grades of each document: arrays of equal length. Got {len(a)} and {len(b)}."
            )
    else:
        documents = [*(of_human | of_model)]
        a, b = (
            numbers([grades.get(document, np.nan) for document in documents], name, "judge_agreement")
            for name, grades in (("human", of_human), ("model", of_model))
        )
    judged = ~(np.isnan(a) | np.isnan(b))
    if not judged.any():
        raise ValueError(
            "judge_agreement needs documents that both judged, with the same ids of queries and documents. "
            f"Got {int((~np.isnan(a)).sum())} judged by people and {int((~np.isnan(b)).sum())} by the model."
        )
    one_alone = np.isnan(a) != np.isnan(b)
    return JudgeAgreement(a[judged], b[judged], int(one_alone.sum()))


def _by_document(judgments: Any) -> dict[tuple[Any, Any], Any] | None:
    """Grades by query and document; None for arrays."""
    if hasattr(type(judgments), "__dataclass_fields__") and hasattr(judgments, "doc_id"):
        ids = (np.asarray(judgments.qid).tolist(), np.asarray(judgments.doc_id).tolist())
        grades = dict(zip(zip(*ids, strict=True), judgments.value.tolist(), strict=True))
        if len(grades) < len(judgments):
            raise ValueError(
                "judge_agreement takes one grade for each document, so read entries with duplicates='raise' or "
                f"'first'. Got {len(judgments) - len(grades)} repeated documents."
            )
        return grades
    if not isinstance(judgments, Mapping):
        return None
    for query, grades in judgments.items():
        if not isinstance(grades, Mapping):
            raise TypeError(
                "judge_agreement takes grades of documents, {query: {document: grade}}. "
                f"Got {type(grades).__name__} for query {echo(query)}."
            )
    return {(query, document): grade for query, grades in judgments.items() for document, grade in grades.items()}
