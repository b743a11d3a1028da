"""Folds of interactions for `RankingEvaluator`: each model ranks all items for the users of the test rows."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_rank._data.doors import SEARCH, Door
from sklearn_rank._data.look import look
from sklearn_rank._engine.columns import check_features, check_rows, one_column
from sklearn_rank._engine.grouping import number_together
from sklearn_rank._evaluation.kept_data import with_counts
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluator.folds import BaseFolds, FoldResult, check_splitter, fit_folds, row_numbers
from sklearn_rank._evaluator.search_setup import bare_model_error, check_refit, chosen_cv, with_error_score
from sklearn_rank._ranker.estimator_checks import check_estimator, is_search, refuse_other_search, tunes, with_inner
from sklearn_rank._scoring.routing import consumes
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.containers import check_lengths
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats, distinct_values
from sklearn_rank._utils.typing import Array, Estimator, Index
from sklearn_rank.recommenders._interaction_split import InteractionSplitter
from sklearn_rank.recommenders._interactions import as_recommender, has_column, numbered
from sklearn_rank.recommenders._list_values import with_lists
from sklearn_rank.recommenders._recommender_scorer import RecommenderScorer


@dataclass(frozen=True)
class RecommenderFolds(BaseFolds):
    """Folds of interactions, which score users; `user` is the user number of each row, `ids` are of the users."""

    user: Index
    ids: NDArray[Any]

    must_predict = False
    """Whether a model needs `predict`."""
    n_repeats = 1
    """Always 1: the values of a user in several test sets are averaged."""

    @staticmethod
    def read_metrics(metrics: Any, keywords: Mapping[str, Any]) -> Any:
        """Return the scorer; refuse keywords, which belong to the scorer."""
        if keywords:
            raise TypeError(
                "If the metrics are a recommender scorer, pass keywords of metrics to make_recommender_scorer. "
                f"Got {', '.join(keywords)}."
            )
        return metrics

    @staticmethod
    def scorers(metrics: Any, keywords: Mapping[str, Any]) -> Any:
        """The scorer."""
        return metrics

    @staticmethod
    def splitter(cv: Any, class_name: str) -> Any:
        """Check `cv` and return a splitter or a list of splits; `class_name` is for messages."""
        return check_splitter(check_interaction_cv(cv), class_name)

    @classmethod
    def of(
        cls, scorer: RecommenderScorer, inner_cv: Any, X: Any, y: Any, cv: Any, *, time: Any = None, **given: Any
    ) -> RecommenderFolds:  # fmt: skip
        """Check the interactions and split them with `cv`; refuse other arguments with a value for each row."""
        for name, value in given.items():
            if value is not None:
                hint = " For attributes of users use compare(...).segments(by={user: value})." if name == "by" else ""
                raise TypeError(
                    f"{name}= does not apply to a recommender scorer: its users are a column of X, and each counts "
                    f"once.{hint} Got {name}={echo(value)}."
                )
        check_lengths(X=X, y=y, time=time)
        check_rows(y=y, time=time)
        check_features(X, y=y, time=time)
        ids, user = numbered(scorer.columns.ids(X, "user"), "Users")
        metadata = {} if time is None else {"time": time}
        folds = cv
        if hasattr(cv, "split"):
            reads_users = isinstance(cv, InteractionSplitter) and has_column(X, "user", cv.user)
            groups = {"groups": user} if consumes(cv, "split", "groups", "qid") and not reads_users else {}
            folds = cv.split(X, y, **groups, **metadata)
        splits = row_numbers(folds, len(user), cv)
        return cls(scorer, inner_cv, X, None if y is None else one_column(y), metadata, splits, user, ids)

    def prepare(self, estimator: Estimator, name: str = "The estimator") -> Any:
        """Wrap the estimator in an `InteractionRecommender`; set scorer and splitter in a search."""
        check_estimator(estimator, name, must_predict=False)
        if is_search(estimator):
            ready = self.set_up(estimator)
            if not hasattr(ready.cv, "split"):
                raise ValueError(
                    "A nested search needs a splitter, because row numbers differ inside a training set. Use "
                    f"LeaveLastOut or GlobalTimeSplit. Got cv={echo(ready.cv)}."
                )
            return ready
        for inner in with_inner(estimator):
            if tunes(inner):
                raise ValueError(
                    f"A search inside {type(estimator).__name__} tunes by its own objective: put the search "
                    f"around the model, GridSearchCV(InteractionRecommender(model), grid). Got {echo(inner)}."
                )
        return as_recommender(estimator, self.scorer.columns)

    def set_up(self, search: Any) -> Any:
        """Return a copy of a search over an `InteractionRecommender`; set scorer and splitter if it has none."""
        refuse_other_search(search, "InteractionRecommender", "make_recommender_scorer('ndcg@10')", "LeaveLastOut()")
        if getattr(search, "resource", None) == "n_samples":
            raise ValueError(
                "A halving search over the resource 'n_samples' drops interactions from the history of each user: use "
                "another resource, such as a parameter of the model, with max_resources. "
                f"Got {echo(search)}."
            )
        ready = self.prepare(search.estimator, "The estimator of a search")
        if not is_search(search.estimator) and ready is not search.estimator:
            raise bare_model_error(search, "InteractionRecommender", "", search.estimator)
        chosen: dict[str, Any] = {"estimator": ready, "cv": self.cv if chosen_cv(search) is None else search.cv}
        check_interaction_cv(chosen["cv"])
        if getattr(search, "return_train_score", False):
            # Halving requests training scores by default, but a recommender scorer cannot score training rows.
            chosen["return_train_score"] = False
        if search.scoring is None:
            chosen["scoring"] = self.scorer
            if not self.scorer.is_single:
                chosen |= {"refit": self.scorer.names[0]} if search.refit is True else {}
        check_refit(search, chosen)
        return clone(search).set_params(**with_error_score(search, chosen))

    def look(self, door: Door, models: Iterable[Any], on_misuse: str) -> None:
        """Check labels for misuse, before any fit."""
        label = None if self.y is None else as_floats(self.y, "y")
        self.scorer.look(door, label, self.ids, on_misuse)
        if self.scorer.exclude is None and all(np.isin(test, train).all() for train, test in self.folds):
            look(door, on_misuse, pairs=(min(len(test) for _, test in self.folds),))

    def look_at_scores(self, door: Door, results: Sequence[FoldResult], on_misuse: str) -> None:
        """Check for folds without a user that the model ranks for."""
        for (train, test), result in zip(self.folds, results, strict=True):
            output, n_users = result.output, len(distinct_values(self.user[test]))
            if all(one.all() for one in output._undefined.values()):
                look(door, on_misuse, users=(len(np.intersect1d(self.user[train], self.user[test])), n_users))
                return

    def look_at_search(self, ready: Any, scoring: Any, on_misuse: str) -> None:
        """Do the same for a search after setup."""
        self.look(SEARCH, [], on_misuse)

    def fit(
        self, models: Sequence[Any], n_jobs: int | None, *, score_train: bool = False, **keep: bool
    ) -> Generator[FoldResult]:
        """Fit all models on all folds."""
        if score_train:
            raise ValueError(
                "A recommender scorer excludes the items of training rows, so it cannot score the training set. "
                "Got return_train_score=True."
            )
        return fit_folds(self, models, self.scorer.without_checks().evaluate, n_jobs, **keep)

    @property
    def n_queries(self) -> list[tuple[int, int]]:
        """Numbers of users in the training and the test set of each fold."""
        return [
            (len(distinct_values(self.user[train])), len(distinct_values(self.user[test])))
            for train, test in self.folds
        ]

    def mean(self, fold: int, output: Evaluation | None, *, of_train: bool = False) -> dict[str, float]:
        """Mean of each metric in one test set; NaN if the model failed."""
        return dict.fromkeys(self.metrics, np.nan) if output is None else output.mean()

    def evaluate(self, results: Sequence[FoldResult]) -> Evaluation:
        """Return the result over the tested users; average a user's values over several test sets, without NaN."""
        parts: list[Evaluation] = [result.output for result in results]
        if len(parts) == 1:
            return parts[0]
        first = parts[0]
        users, numbers = number_together([part.qid for part in parts])
        number, means = np.concatenate(numbers), [part.mean() for part in parts]
        values = {
            name: _mean_by_user(number, np.concatenate([part.per_query[name] for part in parts]), len(users))
            for name in first.meaning
        }
        undefined = {
            name: np.bincount(number, np.concatenate([part._undefined[name] for part in parts]), len(users)) > 0
            for name in first.meaning
        }
        prints = np.zeros(len(users), dtype=np.uint32)
        np.add.at(prints, number, np.concatenate([part.label_fingerprints for part in parts]))
        pooled = Evaluation.from_values(
            users, values, undefined=undefined, means={
                name: float(np.mean([mean[name] for mean in means])) for name, kind in first.average.items()
                if kind != "macro"
            },
            meaning=first.meaning, average=first.average, greater_is_better=first.greater_is_better,
            label_fingerprints=prints,
        )  # fmt: skip
        settled = {
            name: np.bincount(number, ~np.concatenate([part.settled[name] for part in parts]), len(users)) == 0
            for name in first.settled
            if all(name in part.settled for part in parts)
        }
        pooled = with_counts(pooled, known_settled=settled)
        of_lists = {name: float(of_folds.mean()) for name, of_folds in self.of_lists(results).items()}
        return with_lists(pooled, of_lists, *[len(part.qid) for part in parts])

    def of_lists(self, results: Sequence[FoldResult]) -> dict[str, Array]:
        """Values of metrics of all lists together, one for each fold."""
        parts = [result.output._list_values for result in results]
        return {name: np.array([part[name] for part in parts]) for name in self.scorer.of_lists}


def _mean_by_user(number: Index, values: NDArray[np.float64], n_users: int) -> NDArray[np.float64]:
    """Mean of each user's values, ignoring NaN; NaN if all are NaN."""
    defined = ~np.isnan(values)
    total = np.bincount(number[defined], values[defined], n_users)
    count = np.bincount(number[defined], minlength=n_users)
    return np.divide(total, count, out=np.full(n_users, np.nan), where=count > 0)


def check_interaction_cv(cv: Any) -> Any:
    """Refuse a number of folds, because whole users in the test set are unknown to the model."""
    if is_count(cv):
        raise ValueError(
            "A recommender scorer tests users from the training set, so it needs a splitter that splits the "
            "interactions "
            f"of each user: cv=LeaveLastOut() or cv=GlobalTimeSplit(). Got cv={echo(cv)}, which keeps users whole."
        )
    return cv
