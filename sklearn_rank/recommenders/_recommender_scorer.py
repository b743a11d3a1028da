"""Scorers of recommenders: each user ranks all items, and the test rows say what is relevant."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import RECOMMENDER_SCORER, Door
from sklearn_rank._data.look import SAMPLE, Evidence, evidence_of, look, look_at_parts, reads_relevance
from sklearn_rank._engine.columns import check_features, one_column
from sklearn_rank._engine.fingerprints import fingerprints_of
from sklearn_rank._engine.grouping import Grouping, concatenate_ranges
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._engine.queries import DocumentsWithoutRow, InputNames, LazyQueries, Queries
from sklearn_rank._engine.read import queries_of
from sklearn_rank._engine.sparse import as_queries
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.kept_data import DataCounts, settled_by, settled_by_values
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.key_signs import ByName, scorer_name
from sklearn_rank._metric.names import is_single_metric, parse_signed, signed
from sklearn_rank._metric.plain import PlainMetric
from sklearn_rank._metric.settled import metrics_to_add
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._scoring.fit_data import echo_id
from sklearn_rank._scoring.fitted_queries import fitted_in
from sklearn_rank._scoring.response import predict_scores
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.blocks import PREDICTED_PAIRS, ROWS_IN_MEMORY, USERS_COUNTED, cut_rows
from sklearn_rank._utils.containers import check_lengths
from sklearn_rank._utils.echo import echo, echo_all, one_line
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import as_floats, column, refuse_masked
from sklearn_rank._utils.typing import Array, Estimator, Index, MatrixLike
from sklearn_rank._utils.warning import warn_caller
from sklearn_rank.recommenders._interactions import (
    Column,
    CrossedPairs,
    FittedInteractions,
    IdIndex,
    InteractionColumns,
    InteractionRecommender,
    InteractionTable,
    check_column_name,
    check_item_ids,
    lists_items,
    numbered,
    ranking_model,
    read_excluded,
)
from sklearn_rank.recommenders._list_values import ShownItems, split_metrics, with_lists

IN_ERRORS = InputNames("y", "predictions", "user")
"""Names in errors for labels, scores and rows."""


@named_arguments
def make_recommender_scorer(
    metric: MetricsLike,
    *,
    items: Any,
    exclude: Any = "train",
    user: Column = None,
    item: Column = None,
    **params: Any,
) -> Any:
    """Make a scorer of recommenders: it ranks all items for each test user, and the items of test rows are relevant.

    Use it with splitters that split users, such as `LeaveLastOut` and `GlobalTimeSplit`, in `cross_validate`, searches
    and `RankingEvaluator`. A scorer of rows would rank only the test rows, and usually all of them are relevant.

    Parameters
    ----------
    metric : str, metric function, sequence of them, or dict of str to one of them
        As in `make_ranking_scorer`. With several metrics the scorer returns a dict, and searches need
        ``refit="ndcg@10"``. Metrics of the scores themselves, such as "rmse", are errors. Values of `exposure` are
        allowed next to metrics: "coverage@10", "novelty@10", "long_tail@10", "entropy@10", and, negated, "gini@10" and
        "popularity@10". They are computed from the lists of all test users, and depend on the number of users.
    items : array-like of shape (n_items,)
        Ids of all items that can be recommended, each once, such as ``X["item_id"].unique()``.
    exclude : "train", rows of users and items, dict of users to items, or None, default="train"
        Pairs to exclude from the rankings and from the relevant items: the training pairs, which an
        `InteractionRecommender` remembers; pairs of your own; or no pairs (None).
    user, item : str or int, default=None
        Columns of X: names in a frame of pandas or polars, numbers in an array. None: "user_id" and "item_id" of a
        frame, the first and the second column of an array.
    **params
        Keywords for all metrics that have them, such as `gain` or `min_relevance`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)``; higher is better, so the value of an error is negative, and its name starts with
        ``"neg_"``. Rows of X are interactions, and y has their grades; None: each row has grade 1.
        ``scorer.evaluate(estimator, X, y)`` returns an `Evaluation` with the values of each user; errors are positive.

    Raises
    ------
    ValueError, TypeError
        If the metric or a keyword is unknown, the metric reads scores, or `items` repeats an item.

    Notes
    -----
    The model lists items by ``recommend(users, k)``, or else scores pairs of a user and an item: see
    `InteractionRecommender`. Equal scores count as the mean over all their orders, unless you set ``ties=``.

    Users without a test row are left out. If the model cannot rank items for a user without training rows, the metrics
    of that user are undefined. The model shows this by returning NaN for all items or an empty list, or by raising a
    LookupError or ValueError, which a warning reports. If the model returns NaN for an item, such as an item without
    training rows, it does not retrieve the item.

    Test rows of excluded pairs do not count. If a pair has several rows, the highest grade counts.

    Users are scored in blocks, so memory does not grow with the product of users and items.

    Examples
    --------
    This model ranks items by the number of interactions:

    >>> import pandas as pd
    >>> from sklearn.base import BaseEstimator
    >>> from sklearn_rank import InteractionRecommender, make_recommender_scorer
    >>> class Popular(BaseEstimator):
    ...     def fit(self, X, y=None):
    ...         self.counts_ = X["item_id"].value_counts()
    ...         return self
    ...
    ...     def predict(self, X):
    ...         return X["item_id"].map(self.counts_)
    >>> train = pd.DataFrame({"user_id": [*"abbcc"], "item_id": [*"xxyxz"]})
    >>> test = pd.DataFrame({"user_id": [*"ab"], "item_id": [*"yz"]})
    >>> model = InteractionRecommender(Popular()).fit(train)

    For user a, item x is excluded and y is tied with z, so y has rank 1 or 2; for user b only z remains:

    >>> scorer = make_recommender_scorer("mrr", items=["x", "y", "z"])
    >>> scorer(model, test)
    0.875
    """
    for name, value in (("user", user), ("item", item)):
        check_column_name(name, value, "make_recommender_scorer")
    return RecommenderScorer(metric, items, exclude, InteractionColumns(user, item, "make_recommender_scorer"), params)


class RecommenderScorer:
    """Scorer over all items, from `make_recommender_scorer`.

    Attributes
    ----------
    names : list of str
        Keys of the dict, where there are several metrics.
    """

    def __init__(
        self, metric: MetricsLike, items: Any, exclude: Any, columns: InteractionColumns, keywords: dict[str, Any]
    ) -> None:
        self.metrics, self.keywords, self.columns, self.exclude = metric, keywords, columns, exclude
        of_users, self.of_lists = split_metrics(metric)
        self.specs = parse_signed(of_users, **keywords)
        self.names = [*(scorer_name(name, spec) for name, spec in self.specs.items()), *self.of_lists]
        self.is_single = is_single_metric(metric)
        for spec in self.specs.values():
            _check_metric(spec)
        self.items = check_item_ids(items)
        self._index = IdIndex(self.items)
        # Whether it checks labels and users for misuse.
        self._looks = True
        self._excluded = read_excluded(exclude, columns, "make_recommender_scorer")
        if self._excluded is not None:
            _refuse_other_type("Items", self.items, self._excluded.items, self._index.places(self._excluded.items))

    def __call__(self, estimator: Estimator, X: MatrixLike, y: ArrayLike | None = None) -> float | dict[str, float]:
        """Mean of each metric over users; higher is better."""
        result = self.evaluate(estimator, X, y)
        means = ByName(signed(result.mean(), self.specs) | {**result._list_values})
        return means[self.names[0]] if self.is_single else means

    def evaluate(self, estimator: Any, X: MatrixLike, y: ArrayLike | None = None) -> Evaluation:
        """Values of each user.

        Parameters
        ----------
        estimator : estimator
            Fitted recommender.
        X : frame or array-like of shape (n_samples, n_columns)
            Test rows.
        y : array-like of shape (n_samples,), default=None
            How relevant each is; None: 1.

        Returns
        -------
        Evaluation
            Users in order of first appearance in X, those that have a relevant item left.
        """
        table, label = self.columns.table(X), _check_labels(X, y)
        fitted = next((one for one, _ in fitted_in(estimator) if isinstance(one, FittedInteractions)), None)
        excluded = fitted if self._excluded is None else self._excluded
        if excluded is None:
            raise ValueError(
                "exclude='train' needs the pairs of users and items in fit, which the model does not keep: wrap it, "
                "InteractionRecommender(model), or pass exclude=None, or the pairs. "
                f"Got {echo(estimator)}."
            )
        _check_columns(estimator, table)
        test = HeldOutUsers.of(table, label, self._index, excluded)
        shown = ShownItems(self.of_lists, self.items)
        data = AllItems(estimator, table, test, fitted, self.items, shown)
        if self._looks:
            self.look(RECOMMENDER_SCORER, None if label is None else test.label, test.ids)
            if fitted is not None and fitted is not excluded and test.are_all_in(fitted, self._index):
                look(RECOMMENDER_SCORER, pairs=(len(test.item),))
        return self._evaluate(data)

    def look(self, door: Door, label: Array | None, users: NDArray[Any], on_misuse: str = "raise") -> None:
        """Check ids of users, and labels, for misuse; items without a row have the label 0."""
        look(door, on_misuse, missing_users=(users,))
        if label is None or not len(label):
            return
        n_users = len(users)
        highest = float(label.max())
        below = {name for name, spec in self.specs.items() if highest < spec["min_relevance"]}
        unmoved = {name for name in self.specs if highest <= 0 or (name in below and reads_relevance(self.specs[name]))}
        evidence = Evidence(
            n_users, n_users, n_users * len(self.items), 0.0, highest, labels_are_whole=bool((label % 1 == 0).all()),
            unmoved=frozenset(unmoved),
        )  # fmt: skip
        look_at_parts(door, [evidence], self.specs, kinds="labels grades", on_misuse=on_misuse)
        look(door, on_misuse, ratings=(label, self.specs))

    def without_checks(self) -> RecommenderScorer:
        """A copy for a caller that has checked all rows for misuse."""
        scorer = copy.copy(self)
        scorer._looks = False
        return scorer

    def _evaluate(self, data: AllItems) -> Evaluation:
        """Metrics of test users who are in training or whom the model ranks for besides."""
        added, n_users = metrics_to_add(self.specs), len(data.test.ids)
        specs = [*self.specs.values(), *added.values()]
        is_known = data.is_known_user
        results = [PerQuery.empty(spec, n_users) for spec in specs]
        undefined, evidence = np.zeros(n_users, dtype=bool), list[Evidence]()
        for users, are_known in ((np.flatnonzero(is_known), True), (np.flatnonzero(~is_known), False)):
            if not len(users):
                continue
            ranking = UserRankings(data, users, are_known)
            try:
                parts = compute(self._looking_at_scores(ranking.queries, evidence), specs)
            except NotRanked as error:
                undefined[users] = True
                warn_caller(
                    f"{len(users)} of {n_users} test users are not in training, and the model raises for them, so "
                    "their metrics are undefined. To avoid this warning, return NaN for their pairs, or an empty list. "
                    f"Got {one_line(f'{type(error.__cause__).__name__}: {error.__cause__}', 200)}"
                )
                continue
            undefined[users] = ranking.is_unranked
            if self._looks and not are_known and ranking.is_unranked.all():
                look(RECOMMENDER_SCORER, users=(int(is_known.sum()), n_users))
            for result, part in zip(results, parts, strict=True):
                result.numerator[users], result.undefined[users] = part.numerator, part.undefined
                if result.spec["average"] == "micro":
                    result.denominator[users] = part.denominator
        look_at_parts(RECOMMENDER_SCORER, evidence, self.specs, kinds="scores")
        named = dict(zip(self.specs, results, strict=False))
        settled = settled_by_values(self.specs, named) | settled_by(added, named, results[len(named) :])
        # Users whom the model cannot rank have relevant items.
        settled = {name: x & ~undefined for name, x in settled.items()}
        for spec, result in zip(self.specs.values(), named.values(), strict=True):
            otherwise = spec["replace_undefined_by"]
            pooled = spec["average"] == "micro" or np.isnan(otherwise)
            result.numerator[undefined] = 0.0 if pooled else otherwise
            result.undefined[undefined] = True
            if spec["average"] == "micro":
                result.denominator[undefined] = 0.0
        counts = DataCounts(data.n_items - data.test.n_excluded, data.test.fingerprints, known_settled=settled)
        evaluation = Evaluation(data.test.ids, None, named, counts)
        return with_lists(evaluation, data.shown.compute(data.fitted), n_users)

    def _looking_at_scores(self, queries: LazyQueries, evidence: list[Evidence]) -> LazyQueries:
        """Collect evidence of scores that contradict labels from the first blocks of queries."""

        def make(first: int, last: int, depth: int | None) -> Queries:
            built = queries.make(first, last, depth)
            if sum(one.agreement.n for one in evidence) < SAMPLE:
                evidence.append(evidence_of(built, self.specs, kinds="scores"))
            return built

        return replace(queries, make=make) if self._looks else queries

    @property
    def __name__(self) -> str:
        return ", ".join(self.names)

    def __repr__(self) -> str:
        """Call that makes this object, without the items."""
        exclude = repr(self.exclude) if self.exclude is None or isinstance(self.exclude, str) else "..."
        names = {"user": self.columns.user, "item": self.columns.item}
        others = {name: value for name, value in names.items() if value is not None} | self.keywords
        metric = self.metrics if isinstance(self.metrics, Mapping) else self.names[0] if self.is_single else self.names
        return "make_recommender_scorer({!r}, items=<{}>, exclude={}{})".format(
            metric, len(self.items), exclude, "".join(f", {name}={value!r}" for name, value in others.items())
        )


# --- checks ----------------------------------------------------------------------------------------------------------


def _check_metric(spec: MetricSpec) -> None:
    """Refuse metrics that read more of an item than its rank and label."""
    metric = spec.metric
    spec._refuse_empty()
    if isinstance(metric, PlainMetric):
        return
    why = (
        "judges scores against labels, and items without a row have no rating" if metric.pointwise
        else "is for lists with documents that were not judged, and here each item is relevant or not"
        if metric.reads_unjudged
        else "reads several labels for each document" if metric.subtopics
        else None
    )  # fmt: skip
    if why:
        raise ValueError(
            f"A recommender scorer ranks all items for each user. {spec} {why}: take a metric of the order, such as "
            "'ndcg@10', 'recall@10' or 'mrr'."
        )


def _refuse_other_type(what: str, ids: NDArray[Any], excluded: NDArray[Any], places: Index) -> None:
    """Refuse ids to leave out that are found nowhere, and have the text of ids of another type."""
    if len(places) and (places >= 0).any():
        return
    # The parts of a tuple may be texts of numbers.
    texts = {str(one).replace("'", ""): one for one in excluded.tolist()}
    pairs = ((one, texts.get(str(one).replace("'", ""))) for one in ids.tolist())
    one, other = next((pair for pair in pairs if pair[1] is not None), (None, None))
    if one is not None:
        raise ValueError(
            f"{what} of exclude must have ids of the type that {what.lower()} have elsewhere. Got "
            f"{echo_id(other)} in exclude, and {echo_id(one)}."
        )


def _check_columns(estimator: Any, table: InteractionTable) -> None:
    """Refuse a recommender that was told other columns, and would rank other ids than those that are tested."""
    model = ranking_model(estimator)
    if isinstance(model, InteractionRecommender):
        theirs = replace(table, columns=InteractionColumns(model.user, model.item, "")).names
        if theirs != table.names:
            raise ValueError(
                "make_recommender_scorer and InteractionRecommender must name the same columns, by user= and item=. "
                f"Got {echo(table.names)} and {echo(theirs)} of X."
            )


def _check_labels(X: Any, y: ArrayLike | None) -> Array | None:
    """Label of each test row."""
    if y is None:
        return None
    check_lengths(X=X, y=y)
    check_features(X, y=y)
    refuse_masked(y, "y")
    label = column(as_floats(one_column(y), "y"))
    if not np.isfinite(label).all():
        raise ValueError(
            "y must say how relevant each row is, so it must be finite. "
            f"Got {label[~np.isfinite(label)][0]} in row {int(np.argmax(~np.isfinite(label)))}."
        )
    return label


# --- test rows by user -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class HeldOutUsers:
    """Users with a relevant item left, and `item` and `label` of each of their test rows.

    `row` is a row of each user. The items that are left out for user u are the pairs of `excluded` from ``first[u]`` up
    to ``last[u]``; `place` has their numbers here, -1 for items that cannot be recommended.
    """

    grouping: Grouping
    row: Index
    item: Index
    label: Array
    excluded: FittedInteractions
    place: Index
    first: Index
    last: Index

    @classmethod
    def of(
        cls, table: InteractionTable, label: Array | None, items: IdIndex, excluded: FittedInteractions
    ) -> HeldOutUsers:
        """Group test rows, and leave out the pairs that are excluded."""
        users, item_ids = table.ids("user"), table.ids("item")
        place = items.places(item_ids)
        if (place < 0).any():
            unknown = item_ids[place < 0]
            raise ValueError(
                "items of make_recommender_scorer must have every item of the test rows: pass X['item_id'].unique() of "
                f"all data, or take these rows out before the split if they cannot be recommended. Got {len(unknown)} "
                f"rows of other items, the first {echo_id(unknown[0])}."
            )
        ids, user = numbered(users, "Users")
        label = np.ones(len(users)) if label is None else label
        row = np.empty(len(ids), dtype=np.int64)
        row[user[::-1]] = np.arange(len(users))[::-1]
        # The last of equal pairs has the highest label.
        order = np.lexsort((label, place, user))
        pair = (user * len(items.ids) + place)[order]
        order = order[np.append(pair[1:] != pair[:-1], True)]
        of_fit, place_of = IdIndex(excluded.users).places(ids), items.places(excluded.items)
        _refuse_other_type("Users", ids, excluded.users, of_fit)
        item_of_fit = np.full(len(items.ids), -1)
        item_of_fit[place_of[place_of >= 0]] = np.flatnonzero(place_of >= 0)
        order = order[~excluded.contains(of_fit[user[order]], item_of_fit[place[order]])]
        kept, user = np.unique(user[order], return_inverse=True)
        if not len(kept):
            raise ValueError(
                "No test row is left: all of their pairs are excluded, like pairs of training rows. Score on rows "
                f"that are not trained on, or pass exclude=None. Got {len(users)} rows of {len(ids)} users."
            )
        grouping, bounds = Grouping.by_sizes(np.bincount(user), ids[kept]), excluded.bounds(of_fit[kept])
        return cls(grouping, row[kept], place[order], label[order], excluded, place_of, *bounds)

    @property
    def ids(self) -> NDArray[Any]:
        """Ids of the users."""
        return self.grouping.ids

    def are_all_in(self, pairs: FittedInteractions, items: IdIndex) -> bool:
        """Whether a model was fitted on all pairs of users and items; `items` are all items."""
        item = IdIndex(pairs.items).places(items.ids)
        user = IdIndex(pairs.users).places(self.ids)
        return bool(pairs.contains(user[self.grouping.query_of_row], item[self.item]).all())

    @cached_property
    def n_excluded(self) -> Index:
        """Items that are left out for each user."""
        if (self.place >= 0).all():
            return self.last - self.first
        blocks = [np.arange(a, b) for a, b in cut_rows(len(self.ids), USERS_COUNTED)]
        return np.concatenate([np.bincount(self.excluded_from(at)[0], minlength=len(at)) for at in blocks])

    @property
    def fingerprints(self) -> NDArray[np.uint32]:
        """Fingerprint of the labels of each user; items without a row have the label 0, which does not count."""
        return fingerprints_of(as_queries(self.label, np.zeros(len(self.label)), self.grouping))

    def relevant_to(self, users: Index) -> tuple[Index, Index, Array]:
        """Items with a label of some users: the place of the user among these, the item, the label."""
        at, user = concatenate_ranges(self.grouping.indptr[users], self.grouping.indptr[users + 1])
        return user, self.item[at], self.label[at]

    def excluded_from(self, users: Index) -> tuple[Index, Index]:
        """Items that are left out for some users: the place of the user among these, and the item."""
        at, user = concatenate_ranges(self.first[users], self.last[users])
        item = self.place[self.excluded.pair[at] % len(self.excluded.items)]
        return user[item >= 0], item[item >= 0]


# --- items ranked for users ------------------------------------------------------------------------------------------


class NotRanked(Exception):
    """The model raised an error for users that are not in training."""


@dataclass(frozen=True)
class AllItems:
    """A model, the users that it is tested on, the pairs that it was fitted on, and all items."""

    estimator: Any
    table: InteractionTable
    test: HeldOutUsers
    fitted: FittedInteractions | None
    items: NDArray[Any]
    shown: ShownItems

    @property
    def n_items(self) -> int:
        """Number of all items."""
        return len(self.items)

    @property
    def is_known_user(self) -> NDArray[np.bool_]:
        """Whether each test user is in training; all, where it is not known."""
        if self.fitted is None:
            return np.ones(len(self.test.ids), dtype=bool)
        is_known: NDArray[np.bool_] = IdIndex(self.fitted.users).places(self.test.ids) >= 0
        return is_known


class UserRankings:
    """All items ranked for some users, block by block; `is_unranked` are users that the model does not rank for."""

    def __init__(self, data: AllItems, users: Index, are_known: bool) -> None:
        self.test, self.users, self.n_items = data.test, users, data.n_items
        self.is_unranked = np.zeros(len(users), dtype=bool)
        model = ranking_model(data.estimator)
        self._source: PairScores | ItemLists
        if lists_items(model):
            self._source = ItemLists(model, data, are_known)
        else:
            self._source = PairScores(data, are_known)
        self._n_excluded, self._shown, self._are_known = data.test.n_excluded[users], data.shown, are_known

    @property
    def queries(self) -> LazyQueries:
        """Queries, each a user, and their documents, the items that are not left out."""
        pairs = PREDICTED_PAIRS if isinstance(self._source, PairScores) else ROWS_IN_MEMORY
        blocks = cut_rows(len(self.users), pairs // self.n_items)
        grouping = Grouping.by_sizes(self.n_items - self._n_excluded, first_query=0)
        return LazyQueries(grouping, lambda depth: blocks, self._make)

    def _make(self, first: int, last: int, depth: int | None) -> Queries:
        users = self.users[first:last]
        depth = None if depth is None else max(depth, self._shown.depth)
        if isinstance(self._source, ItemLists):
            most = int(self._n_excluded[first:last].max())
            k = self.n_items if depth is None else min(depth + most, self.n_items)
            user, item = self._source.lists(users, k)
            self.is_unranked[first:last] = (not self._source.are_known) & (np.bincount(user, minlength=len(users)) == 0)
            if depth is not None:
                return self._of_lists(users, user, item, depth, first)
            score = np.full((len(users), self.n_items), -np.inf)
            score[user, item] = -np.arange(len(item), dtype=np.float64)
        else:
            score = self._source.scores(users)
            self.is_unranked[first:last] = (not self._source.are_known) & np.isneginf(score).all(axis=1)
        return self._of_scores(users, score, first)

    def _of_scores(self, users: Index, score: NDArray[Any], first: int) -> Queries:
        """Each user with all items that are not left out; -inf: not retrieved."""
        label, score = np.zeros(score.size), score.ravel()
        user, item, grade = self.test.relevant_to(users)
        label[self._pair(user, item)] = grade
        grouping = Grouping.by_matrix(np.arange(len(users)), self.n_items, first)
        user, item = self.test.excluded_from(users)
        kept = None
        if len(user):
            kept = np.ones(len(label), dtype=bool)
            kept[self._pair(user, item)] = False
            grouping = Grouping.by_sizes(kept.reshape(len(users), -1).sum(axis=1), first_query=first)
            label, score = label[kept], score[kept]
        if self._shown.depth:
            pairs = np.arange(len(users) * self.n_items) if kept is None else np.flatnonzero(kept)
            user, item = np.divmod(pairs, self.n_items)
            ranked = score > -np.inf
            self._shown.add((self._are_known, first), user[ranked], item[ranked], score[ranked], len(users))
        return queries_of(label, score, grouping, None, IN_ERRORS)

    def _of_lists(self, users: Index, user: Index, item: Index, depth: int, first: int) -> Queries:
        """Each user with the items that are listed and not left out, and the relevant ones that are not listed."""
        left_out = self.test.excluded_from(users)
        kept = ~np.isin(self._pair(user, item), self._pair(*left_out))
        user, item = user[kept], item[kept]
        of_user, relevant, grade = self.test.relevant_to(users)
        asked, known = self._pair(user, item), self._pair(of_user, relevant)
        at = np.searchsorted(known, asked)
        is_relevant = np.append(known, -1)[at] == asked
        label = np.where(is_relevant, np.append(grade, 0.0)[at], 0.0)
        is_listed = np.zeros(len(grade), dtype=bool)
        is_listed[at[is_relevant]] = True
        # Items that are neither listed nor relevant are not read to this depth.
        missed, one_each = ~is_listed, np.ones(np.count_nonzero(~is_listed), dtype=np.int64)
        unlisted = DocumentsWithoutRow.groups(
            of_user[missed], grade[missed], one_each, len(users), depth=depth, ranked=False
        )
        score = -np.arange(len(user), dtype=np.float64)
        if self._shown.depth:
            self._shown.add((self._are_known, first), user, item, score, len(users))
        grouping = Grouping.by_sizes(np.bincount(user, minlength=len(users)), first_query=first)
        return as_queries(label, score, grouping, unlisted=unlisted).named(IN_ERRORS)

    def _pair(self, user: Index, item: Index) -> Index:
        """Number of each pair."""
        return user * self.n_items + item


class PairScores:
    """Scores that a model predicts for pairs of users and items."""

    def __init__(self, data: AllItems, are_known: bool) -> None:
        self._data, self.are_known = data, are_known
        # The model inside takes the two columns as they are, wherever they stand in X.
        model = ranking_model(data.estimator)
        self._estimator = model.estimator_ if isinstance(model, InteractionRecommender) else data.estimator
        self._pairs: CrossedPairs = data.table.crossed_with(data.items)
        # Items that the model may leave unranked.
        self._may_miss = np.zeros(data.n_items, dtype=bool)
        if data.fitted is not None:
            self._may_miss = IdIndex(data.fitted.items).places(data.items) < 0

    def scores(self, users: Index) -> Array:
        """Scores of all items for some users; -inf where the model does not rank."""
        n_items = self._data.n_items
        try:
            predicted = predict_scores(self._estimator, self._pairs.of_rows(self._data.test.row[users]))
        except (LookupError, ValueError) as error:
            if not self.are_known:
                raise NotRanked from error
            if n_new := int(np.count_nonzero(self._may_miss)):
                error.add_note(
                    f"{n_new} of {n_items} items are not in training: predict may return NaN for pairs that the model "
                    "does not rank."
                )
            raise
        score = np.asarray(predicted)
        if score.size != len(users) * n_items or score.ndim > 2:
            raise ValueError(
                f"A recommender must predict one score for each of {len(users) * n_items} pairs of a user and an item. "
                f"Got shape {score.shape}."
            )
        score = np.array(column(as_floats(score, "predictions")).reshape(len(users), n_items))
        is_missing = np.isnan(score)
        may_miss = np.ones(n_items, dtype=bool) if not self.are_known else self._may_miss
        if (is_missing & ~may_miss).any():
            user, item = (x[0] for x in np.nonzero(is_missing & ~may_miss))
            hint = "" if self._data.fitted is not None else (
                " Only an InteractionRecommender(model) knows which these are."
            )  # fmt: skip
            raise ValueError(
                "A recommender may predict NaN, which means that it does not rank, only for users and items that are "
                f"not in training.{hint} Got NaN for user {echo_id(self._data.test.ids[users[user]])} and item "
                f"{echo_id(self._data.items[item])}."
            )
        if np.isposinf(score).any():
            raise ValueError(f"A prediction must not be +inf. Got {np.isposinf(score).sum()} of {score.size}.")
        # A score of -inf is a low one.
        np.maximum(score, np.finfo(np.float64).min, out=score)
        score[is_missing] = -np.inf
        return score


class ItemLists:
    """Lists of items that a model recommends."""

    def __init__(self, model: Any, data: AllItems, are_known: bool) -> None:
        self._model, self._data, self.are_known = model, data, are_known
        self._index = IdIndex(data.items)

    def lists(self, users: Index, k: int) -> tuple[Index, Index]:
        """Places of users and numbers of items, best first, of lists of k items or more."""
        ids = self._data.test.ids[users]
        try:
            listed = self._model.recommend(ids, k)
        except (LookupError, ValueError) as error:
            if not self.are_known:
                raise NotRanked from error
            raise
        if not hasattr(listed, "__len__") or len(listed) != len(users):
            raise ValueError(
                "recommend(users, k) must return a list of items for each user: a matrix or a list of lists. "
                f"Got {echo(listed)} for {len(users)} users."
            )
        if isinstance(listed, np.ndarray) and listed.ndim == 2:
            sizes, flat = np.full(len(users), listed.shape[1]), listed.ravel()
            flat = ids_of(flat.tolist()) if flat.dtype.kind == "O" else flat
        else:
            lists = [one.tolist() if hasattr(one, "tolist") else [*one] for one in listed]
            sizes, flat = np.array([len(one) for one in lists]), ids_of([item for one in lists for item in one])
        user, item = np.repeat(np.arange(len(users)), sizes), self._index.places(flat)
        if (item < 0).any():
            row = int(np.argmax(item < 0))
            raise ValueError(
                "recommend(users, k) must return items of make_recommender_scorer(items=...). "
                f"Got {echo_id(flat[row])} for user {echo_id(ids[user[row]])}, which is not among these "
                f"{len(self._data.items)}: {echo_all(self._data.items.tolist(), 3)}."
            )
        pairs = np.sort(user * self._data.n_items + item)
        if (is_again := pairs[1:] == pairs[:-1]).any():
            row, place = divmod(int(pairs[1:][is_again][0]), self._data.n_items)
            raise ValueError(
                "recommend(users, k) must return an item once for each user. "
                f"Got {echo_id(self._data.items[place])} twice for user {echo_id(ids[row])}."
            )
        return user, item
