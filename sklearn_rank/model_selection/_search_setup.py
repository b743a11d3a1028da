"""Set up searches among models with ranking scorers and splitters of whole queries, or refuse them.

Uses only the public API of scikit-learn.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any
from uuid import uuid4

import sklearn
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.metadata_routing import get_routing_for_object

from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import CVLike, Estimator, Index, MatrixLike
from sklearn_rank._utils.warning import levels_to_caller
from sklearn_rank.model_selection._estimator_checks import (
    check_estimator,
    is_search,
    knows_queries,
    refuse_searches,
    refuse_torn_search,
    tunes,
    tunes_itself,
    with_inner,
)
from sklearn_rank.model_selection._fit_data import take_rows
from sklearn_rank.model_selection._folds import Split, query_folds
from sklearn_rank.model_selection._query_ranker import QueryRanker, as_query_ranker
from sklearn_rank.model_selection._routing import Metadata, consumes
from sklearn_rank.model_selection._scorer import RankingScorer, RankingScorers
from sklearn_rank.model_selection._search_fit import is_outside
from sklearn_rank.model_selection._split import QueryKFold

SPACES = (
    "param_grid", "param_distributions", "search_spaces", "param_space", "parameters", "params", "space",
    "warm_start_configs",
)  # fmt: skip
"""Names under which searches take the values of parameters to try."""


@dataclass(frozen=True)
class SearchSetup:
    """Scorers (the first decides), splitter and number of queries, which searches are given."""

    scorers: RankingScorers
    cv: Any
    n_queries: int

    def prepare(self, estimator: Estimator, name: str = "The estimator") -> Any:
        """The estimator as one that takes qid, its searches with ranking scorers and whole queries."""
        check_estimator(estimator, name)
        if is_search(estimator):
            return self.search(estimator)
        if tunes(estimator):
            return self._feature_search(estimator)
        if not hasattr(estimator, "steps"):
            return _wrapped(estimator)
        *first, (last, model) = estimator.steps
        chosen = {step_name: self._feature_search(step) for step_name, step in first if tunes(step)}
        for step_name, step in first:
            if step_name not in chosen:
                refuse_searches(step, estimator)
        chosen[last] = self.prepare(model, f"The last step of {name[0].lower()}{name[1:]}")
        return clone(estimator).set_params(**chosen)

    def search(self, search: Any) -> Any:
        """A copy of a search, set up; its parameters go on meaning what they meant."""
        check_estimator(search.estimator, "The estimator of a search")
        refuse_torn_search(search)
        wrapped = self.prepare(search.estimator)
        chosen: dict[str, Any] = {"estimator": wrapped}
        for name in {*SPACES} & {*search.get_params(deep=False)}:
            _check_grid(getattr(search, name), search.estimator)
            chosen[name] = renamed(getattr(search, name), search.estimator, wrapped)
        if hasattr(search, "resource"):
            chosen |= self._halving(search, wrapped)
        elif search.scoring is None:
            chosen |= self._scoring(search)
        scorer, error_score = chosen.get("scoring", search.scoring), getattr(search, "error_score", "raise")
        is_ours = isinstance(scorer, RankingScorers | DecidingScorer | RankingScorer)
        if is_ours and isinstance(error_score, Real):
            chosen["scoring"] = ForgivingScorer(scorer, error_score)
        chosen["cv"] = self._splitter(chosen_cv(search))
        return _outside_copy(search, chosen) if is_outside(search) else clone(search).set_params(**chosen)

    def _scoring(self, search: Any) -> dict[str, Any]:
        """Scorer of a search that has none: of all metrics, or of one where it may take one number only."""
        if is_outside(search):
            by_name = {"refit": True} if isinstance(search.refit, str) else {}
            return {"scoring": OneMetricScorer(self.scorers, _decides(search, self.scorers)), **by_name}
        by_first = {"refit": self.scorers.names[0]} if search.refit is True else {}
        return {"scoring": self.scorers, **by_first}

    def _feature_search(self, search: Any) -> Any:
        """A copy of a search of features, whose model is fitted on rows, but scored by query."""
        check_estimator(search.estimator, "The estimator of a search")
        refuse_searches(search.estimator, search)
        scoring = OneMetricScorer(self.scorers) if search.scoring is None else search.scoring
        return clone(search).set_params(scoring=scoring, cv=self._splitter(search.cv))

    def _splitter(self, cv: CVLike) -> Any:
        """Splitter for a search that has this one."""
        if cv is None or is_count(cv):
            return QueryKFold(cv) if cv else self.cv
        return with_qid(cv)

    def _halving(self, search: Any, wrapped: Any) -> dict[str, Any]:
        """Parameters of a halving search: one scorer, and a resource that keeps queries whole."""
        if search.resource == "n_samples":
            raise ValueError(
                "A halving search over the resource 'n_samples' tears queries apart: use resource='max_queries', or "
                f"'n_estimators'. Got {echo(search)}."
            )
        resource = _renamed_resource(search.resource, search.estimator, wrapped)
        chosen: dict[str, Any] = {"resource": resource}
        if search.scoring is None or isinstance(search.scoring, RankingScorers):
            scorers = search.scoring or self.scorers
            name = _decides(search, scorers)
            chosen["scoring"] = OneMetricScorer(scorers, name)
            # Otherwise it takes one number only.
            if search.refit is True or isinstance(search.refit, str):
                chosen |= {"scoring": DecidingScorer(_without_name_score(scorers), name), "refit": "score"}
        if resource.split("__")[-1] != "max_queries":
            if search.max_resources == "auto":
                raise ValueError(
                    "A halving search needs max_resources, an int, unless its resource is 'max_queries'. "
                    f"Got max_resources='auto' and resource={echo(search.resource)}."
                )
            return chosen
        seed = f"{resource.removesuffix('max_queries')}random_state"
        # With a seed all candidates of a round are fitted on the same queries.
        if wrapped.get_params()[seed] is None:
            chosen["estimator"] = clone(wrapped).set_params(**{seed: search.random_state})
        if search.max_resources == "auto":
            chosen["max_resources"] = self.n_queries
        if search.min_resources == "smallest":
            cv = self._splitter(chosen_cv(search))
            n_splits = len(cv) if isinstance(cv, list) else getattr(cv, "n_splits", 5)
            chosen["min_resources"] = min(2 * n_splits, self.n_queries // 2)
        return chosen


def _wrapped(estimator: Estimator) -> Any:
    """Model that takes qid; a search inside it must have been set up by the user."""
    if isinstance(estimator, QueryRanker):
        check_estimator(estimator.estimator, "The 'estimator' parameter of QueryRanker")
    refuse_searches(estimator, unless_ranking=True)
    ready = as_query_ranker(estimator)
    refuse_searches(estimator, unless_ranking=not isinstance(ready, QueryRanker))
    return ready


def chosen_cv(search: Any) -> Any:
    """The cv of a search; None for the number of folds that is its default, such as 5 of halving."""
    parameter = inspect.signature(type(search)).parameters.get("cv")
    is_default = is_count(search.cv) and parameter is not None and parameter.default == search.cv
    return None if is_default else search.cv


def _decides(search: Any, scorers: RankingScorers) -> str:
    """Name of the metric that decides a search of one number: the first, unless `refit` names another."""
    if not isinstance(search.refit, str):
        return scorers.names[0]
    if search.refit not in scorers.names:
        raise ValueError(
            f"refit must be True, False or a metric of {[*scorers.names]}. Got refit={echo(search.refit)}."
        )
    return search.refit


class OneMetricScorer:
    """One of several ranking metrics, the first unless it is named, for searches that take one number."""

    def __init__(self, scorers: RankingScorers, name: str | None = None) -> None:
        self.scorers, self.name = scorers, scorers.names[0] if name is None else name

    def __call__(
        self,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Value of the metric; higher is better."""
        return self.scorers(estimator, X, y, qid=qid, sample_weight=sample_weight)[self.name]

    def get_metadata_routing(self) -> Any:
        """Metadata that the scorers request."""
        return self.scorers.get_metadata_routing()

    def __repr__(self) -> str:
        """Which metric it is."""
        return f"{type(self).__name__}({self.scorers!r})"


class DecidingScorer(OneMetricScorer):
    """Several ranking metrics, one of them once more as "score", which decides in halving searches."""

    @property
    def names(self) -> list[str]:
        """Keys of what it returns."""
        return ["score", *self.scorers.names]

    def __call__(self, *args: Any, **metadata: Any) -> Any:
        """Values of all metrics; higher is better."""
        values = self.scorers(*args, **metadata)
        return {"score": values[self.name], **values}


_first_failures: dict[str, str] = {}
"""Why a model could not be scored first, by the key of the scorer; workers have their own."""


class ForgivingScorer:
    """Ranking metrics that have the error score of a search where a model cannot be scored, with one warning a search.

    scikit-learn does so for one metric, with a warning and a traceback for each split, and for models that cannot be
    fitted.
    """

    def __init__(self, scorer: Any, error_score: Real) -> None:
        self.scorer, self.error_score, self.key = scorer, error_score, uuid4().hex

    @property
    def first_failure(self) -> str | None:
        """Why a model could not be scored first in this process; None if all could be."""
        return _first_failures.get(self.key)

    def __call__(self, *args: Any, **metadata: Any) -> Any:
        """Values of all metrics; higher is better."""
        try:
            return self.scorer(*args, **metadata)
        except Exception as error:
            if self.first_failure is None:
                _first_failures[self.key] = str(error)
                message = f"Scoring failed, here first; the metrics of such a split are {self.error_score}: {error}"
                warnings.warn(message, UserWarning, stacklevel=levels_to_caller())
            is_single = getattr(self.scorer, "is_single", not hasattr(self.scorer, "names"))
            return self.error_score if is_single else dict.fromkeys(self.scorer.names, self.error_score)

    def get_metadata_routing(self) -> Any:
        """Metadata that the scorers request."""
        return get_routing_for_object(self.scorer)

    def __repr__(self) -> str:
        """The scorer inside."""
        return repr(self.scorer)


def score_strictly(search: Any) -> None:
    """Let ``search.score`` of a fitted search raise again: its error score is for candidates."""
    scorer = getattr(search, "scorer_", None)
    if isinstance(scorer, ForgivingScorer):
        search.scorer_ = scorer.scorer


def _without_name_score(scorers: RankingScorers) -> RankingScorers:
    if "score" in scorers.names:
        raise ValueError('A halving search decides by "score", so no metric may have that name: give it another.')
    return scorers


def _outside_copy(search: Any, chosen: Mapping[str, Any]) -> Any:
    """A search like another that is not of scikit-learn, with other parameters; its own clone might refuse that."""
    chosen = {**chosen, "estimator": clone(chosen["estimator"])}
    # dask-ml would weight the folds by their rows.
    if getattr(search, "iid", None) is True:
        chosen["iid"] = False
    # The constructor has warned before.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return type(search)(**(search.get_params(deep=False) | chosen))


def with_qid(cv: Any) -> Any:
    """A splitter that metadata routing gives qid where it asks for groups; any other as it is."""
    if not hasattr(cv, "split") or not consumes(cv, "split", "groups"):
        return cv
    with sklearn.config_context(enable_metadata_routing=True):
        return copy.deepcopy(cv).set_split_request(groups="qid")


def check_inner_searches(
    estimator: Estimator, X: MatrixLike, y: ArrayLike, number: Index, folds: Sequence[Split], metadata: Metadata
) -> None:
    """Refuse inner searches whose splitters tear queries apart; warn of those with another objective than ranking."""
    for inner in with_inner(estimator):
        if tunes(inner):
            warn_of_objective(inner)
            if consumes(inner.cv, "split", "qid"):
                continue
            if not hasattr(inner.cv, "split"):
                raise ValueError(
                    "A search inside a training set needs a splitter: rows have other numbers there. Use QueryKFold, "
                    f"QueryShuffleSplit or LeaveOneQueryOut. Got cv={echo(inner.cv)}."
                )
            for train, _ in folds:
                inside = {name: take_rows(values, train) for name, values in metadata.items()}
                query_folds(inner.cv, take_rows(X, train), take_rows(y, train), number[train], inside)
        elif tunes_itself(inner):
            name = type(inner).__name__
            warnings.warn(
                f"{name} chooses its parameters by an objective of its own, on rows; to tune by the ranking metric, "
                f"use a GridSearchCV of {name.removesuffix('CV')}.",
                UserWarning,
                stacklevel=levels_to_caller(),
            )


def warn_of_objective(search: Any) -> None:
    """Warn of a search whose scorers do not know the queries."""
    if not knows_queries(search.scoring):
        warnings.warn(
            f"{type(search).__name__} tunes by scoring={echo(search.scoring)}, which knows no queries; leave "
            "scoring=None to tune by the first ranking metric, or give get_scorer('ndcg@10').",
            UserWarning,
            stacklevel=levels_to_caller(),
        )


# --- names of parameters once a model is wrapped -------------------------------------------------------------


def _check_grid(grid: Any, estimator: Any) -> None:
    """Refuse grids that would try searches, or other scorers and splitters of a search inside."""
    known = {"": estimator} | estimator.get_params(deep=True)
    for part in _parts(grid):
        for name, values in part.items():
            owner, _, last = name.rpartition("__")
            if last in ("cv", "scoring") and tunes(known.get(owner)):
                raise ValueError(f"The parameter grid must not vary {echo(name)}: it configures the search inside.")
            for value in values if isinstance(values, list | tuple) else []:
                refuse_searches(value)


def _parts(grid: Any) -> list[Mapping[str, Any]]:
    """All spaces of a grid, which is one, or a list of them, each alone or in a tuple with its number of trials."""
    if isinstance(grid, Mapping):
        return [grid]
    return [part for one in grid for part in _parts(one)] if isinstance(grid, list | tuple) else []


def renamed(grid: Any, before: Any, wrapped: Any) -> Any:
    """Names of a search's parameters as they are once its estimator is wrapped."""
    if isinstance(grid, list | tuple):
        return type(grid)(renamed(part, before, wrapped) for part in grid)
    if not isinstance(grid, Mapping):
        return grid
    return {renamed_parameter(name, before, wrapped): values for name, values in grid.items()}


def renamed_parameter(name: str, before: Any, wrapped: Any) -> str:
    """Name of a parameter as it is once its estimator is wrapped."""
    known, old = wrapped.get_params(deep=True), before.get_params(deep=True)
    if isinstance(known.get(name), QueryRanker) and not isinstance(old.get(name), QueryRanker):
        # Models are tried in a step of a Pipeline.
        return f"{name}__estimator"
    parts = name.split("__")
    deeper = ("__".join([*parts[:i], "estimator", *parts[i:]]) for i in range(len(parts)))
    return name if name in known else next((renamed for renamed in deeper if renamed in known), name)


def _renamed_resource(name: str, before: Any, wrapped: Any) -> str:
    """Name of a halving search's resource; "max_queries" belongs to the one `QueryRanker` inside."""
    known = wrapped.get_params(deep=True)
    if name == "max_queries" and name not in known:
        return next((known_as for known_as in known if known_as.endswith("__max_queries")), name)
    return renamed_parameter(name, before, wrapped)
