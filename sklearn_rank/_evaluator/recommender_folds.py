"""Folds of interactions for `RankingEvaluator`: each model ranks all items for the users of the test rows."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from sklearn_rank._engine.columns import check_features, check_rows, one_column
from sklearn_rank._engine.grouping import number_together
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluator.folds import BaseFolds, FoldResult, check_splitter, fit_folds, row_numbers
from sklearn_rank._evaluator.search_setup import bare_model_error, check_refit, chosen_cv, with_error_score
from sklearn_rank._misuse.check import Door
from sklearn_rank._misuse.entry_points import SEARCH
from sklearn_rank._ranker.estimator_checks import (
    check_estimator,
    is_search,
    refuse_other_search,
    tunes,
    with_inner,
)
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
    """Folds of interactions that test users; `user` is the number of the user of each row."""

    user: Index

    must_predict = False
    """Whether a model needs `predict`."""
    n_repeats = 1
    """How often rows are tested: values of a user who is in several test sets become one in any case."""

    @staticmethod
    def read_metrics(metrics: Any, keywords: Mapping[str, Any]) -> Any:
        """The scorer, which has keywords of its own."""
        if keywords:
            raise TypeError(
                "Keywords of metrics go into make_recommender_scorer where the metrics are a recommender scorer. "
                f"Got {', '.join(keywords)}."
            )
        return metrics

    @staticmethod
    def scorers(metrics: Any, keywords: Mapping[str, Any]) -> Any:
        """The scorer."""
        return metrics

    @staticmethod
    def splitter(cv: Any, class_name: str) -> Any:
        """Splitter, or list of splits, that is given to an object of this class."""
        return check_splitter(check_interaction_cv(cv), class_name)

    @classmethod
    def of(
        cls, scorer: RecommenderScorer, inner_cv: Any, X: Any, y: Any, cv: Any, *, time: Any = None, **given: Any
    ) -> RecommenderFolds:  # fmt: skip
        """Checked interactions and their folds by a splitter; there are no other arguments of rows."""
        for name, value in given.items():
            if value is not None:
                hint = " compare(...).segments(by={user: value}) takes attributes of users." if name == "by" else ""
                raise TypeError(
                    f"{name}= is for metrics of rows. The users of a recommender scorer are a column of X, and each "
                    f"counts once.{hint} Got {name}={echo(value)}."
                )
        check_lengths(X=X, y=y, time=time)
        check_rows(y=y, time=time)
        check_features(X, y=y, time=time)
        _, user = numbered(scorer.columns.ids(X, "user"), "Users")
        metadata = {} if time is None else {"time": time}
        folds = cv
        if hasattr(cv, "split"):
            reads_users = isinstance(cv, InteractionSplitter) and has_column(X, "user", cv.user)
            groups = {"groups": user} if consumes(cv, "split", "groups", "qid") and not reads_users else {}
            folds = cv.split(X, y, **groups, **metadata)
        splits = row_numbers(folds, len(user), cv)
        return cls(scorer, inner_cv, X, None if y is None else one_column(y), metadata, splits, user)

    def prepare(self, estimator: Estimator, name: str = "The estimator") -> Any:
        """The estimator as one that remembers pairs; a search is given the scorer and the splitter."""
        check_estimator(estimator, name, must_predict=False)
        if is_search(estimator):
            ready = self.set_up(estimator)
            if not hasattr(ready.cv, "split"):
                raise ValueError(
                    "A search inside a training set needs a splitter: rows have other numbers there. Use LeaveLastOut "
                    f"or GlobalTimeSplit. Got cv={echo(ready.cv)}."
                )
            return ready
        for inner in with_inner(estimator):
            if tunes(inner):
                raise ValueError(
                    f"A search inside {type(estimator).__name__} tunes by an objective of its own: put the search "
                    f"around the model, GridSearchCV(InteractionRecommender(model), grid). Got {echo(inner)}."
                )
        return as_recommender(estimator, self.scorer.columns)

    def set_up(self, search: Any) -> Any:
        """A copy of a search over an `InteractionRecommender`, with scorer and splitter unless it has its own."""
        refuse_other_search(search, "InteractionRecommender", "make_recommender_scorer('ndcg@10')", "LeaveLastOut()")
        if getattr(search, "resource", None) == "n_samples":
            raise ValueError(
                "A halving search over the resource 'n_samples' draws interactions, and so shortens what a user has "
                "seen: use another resource, such as one of the model, with max_resources. "
                f"Got {echo(search)}."
            )
        ready = self.prepare(search.estimator, "The estimator of a search")
        if not is_search(search.estimator) and ready is not search.estimator:
            raise bare_model_error(search, "InteractionRecommender", "", search.estimator)
        chosen: dict[str, Any] = {"estimator": ready, "cv": self.cv if chosen_cv(search) is None else search.cv}
        check_interaction_cv(chosen["cv"])
        if getattr(search, "return_train_score", False):
            # As halving asks for by default: there is none where the items of training rows are left out.
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
        self.scorer.look(door, label, self.user.max() + 1, on_misuse)

    def look_at_search(self, ready: Any, scoring: Any, on_misuse: str) -> None:
        """The same for a search that is set up."""
        self.look(SEARCH, [], on_misuse)

    def fit(
        self, models: Sequence[Any], n_jobs: int | None, *, score_train: bool = False, **keep: bool
    ) -> Generator[FoldResult]:
        """Results of all models on all folds."""
        if score_train:
            raise ValueError(
                "A recommender scorer leaves out the items of training rows, so it cannot score the training set. "
                "Got return_train_score=True."
            )
        return fit_folds(self, models, self.scorer.without_checks().evaluate, n_jobs, **keep)

    @property
    def n_queries(self) -> list[tuple[int, int]]:
        """Users in the training and the test set of each fold."""
        return [
            (len(distinct_values(self.user[train])), len(distinct_values(self.user[test])))
            for train, test in self.folds
        ]

    def mean(self, fold: int, output: Evaluation | None, *, of_train: bool = False) -> dict[str, float]:
        """Mean of each metric in one test set; NaN where the model failed."""
        return dict.fromkeys(self.metrics, np.nan) if output is None else output.mean()

    def evaluate(self, results: Sequence[FoldResult]) -> Evaluation:
        """Result over the users that were tested; of one in several test sets, the mean of the values but NaN."""
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
        of_lists = {name: float(of_folds.mean()) for name, of_folds in self.of_lists(results).items()}
        return with_lists(pooled, of_lists, *[len(part.qid) for part in parts])

    def of_lists(self, results: Sequence[FoldResult]) -> dict[str, Array]:
        """Values of all lists of a fold together, one for each fold."""
        parts = [result.output._list_values for result in results]
        return {name: np.array([part[name] for part in parts]) for name in self.scorer.of_lists}


def _mean_by_user(number: Index, values: NDArray[np.float64], n_users: int) -> NDArray[np.float64]:
    """Mean of the values of each user that are not NaN; NaN where there is none."""
    defined = ~np.isnan(values)
    total = np.bincount(number[defined], values[defined], n_users)
    count = np.bincount(number[defined], minlength=n_users)
    return np.divide(total, count, out=np.full(n_users, np.nan), where=count > 0)


def check_interaction_cv(cv: Any) -> Any:
    """Refuse a number of folds, which would be of whole users that a model has not seen."""
    if is_count(cv):
        raise ValueError(
            "A recommender scorer tests users that the model has seen in training, so it needs a splitter that cuts "
            f"users: cv=LeaveLastOut() or cv=GlobalTimeSplit(). Got cv={echo(cv)}, which keeps users whole."
        )
    return cv
