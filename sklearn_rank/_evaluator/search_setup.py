"""Set ranking scorers and splitters of whole queries in searches, or refuse the searches."""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike
from sklearn.base import clone

from sklearn_rank._evaluator.folds import Split, query_folds
from sklearn_rank._metric.key_signs import other_spelling
from sklearn_rank._ranker.estimator_checks import (
    check_estimator,
    is_search,
    knows_queries,
    refuse_other_search,
    refuse_searches,
    refuse_torn_search,
    tunes,
    tunes_itself,
    with_inner,
)
from sklearn_rank._ranker.fit_arguments import last_step
from sklearn_rank._ranker.query_ranker import QueryRanker, as_query_ranker
from sklearn_rank._scoring.fit_data import index_rows
from sklearn_rank._scoring.routing import Metadata, consumes
from sklearn_rank._scoring.scorer import RankingScorers
from sklearn_rank._scoring.split import QueryKFold
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.optional import import_optional
from sklearn_rank._utils.private_parts import has_callbacks
from sklearn_rank._utils.typing import CVLike, Estimator, Index, MatrixLike
from sklearn_rank._utils.warning import levels_to_caller


@dataclass(frozen=True)
class SearchSetup:
    """Scorers (the first decides), splitter and number of queries for searches."""

    scorers: RankingScorers
    cv: Any
    n_queries: int

    def prepare(self, estimator: Estimator, name: str = "The estimator") -> Any:
        """Return an estimator that accepts qid, with ranking scorers and query splitters set in its searches."""
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
        """Return a copy of a search over a ranker; set scorers and a query splitter if it has none."""
        check_estimator(search.estimator, "The estimator of a search")
        refuse_torn_search(search)
        refuse_other_search(search, "QueryRanker", "get_scorer('ndcg@10')", "QueryKFold()")
        ready = self.prepare(search.estimator)
        _check_grid(search)
        prefix, model = last_step(search.estimator)
        if not tunes(model) and not consumes(model, "fit", "qid"):
            raise bare_model_error(search, "QueryRanker", prefix, model)
        chosen: dict[str, Any] = {"estimator": ready, "cv": self._splitter(chosen_cv(search))}
        if hasattr(search, "resource"):
            chosen |= self._halving(search, ready)
        elif search.scoring is None:
            chosen |= {"scoring": self.scorers} | ({"refit": self.scorers.names[0]} if search.refit is True else {})
        check_refit(search, chosen)
        return clone(search).set_params(**with_error_score(search, chosen))

    def _feature_search(self, search: Any) -> Any:
        """Return a copy of a feature search, which fits its model on rows but scores it by query."""
        check_estimator(search.estimator, "The estimator of a search")
        refuse_searches(search.estimator, search)
        scoring = FirstMetricScorer(self.scorers) if search.scoring is None else search.scoring
        return clone(search).set_params(scoring=scoring, cv=self._splitter(search.cv))

    def _splitter(self, cv: CVLike) -> Any:
        """Return the splitter for a search with this `cv`."""
        if cv is None or is_count(cv):
            return QueryKFold(cv) if cv else self.cv
        return with_qid(cv)

    def _halving(self, search: Any, ready: Any) -> dict[str, Any]:
        """Return parameters of a halving search: a single metric, and a resource that keeps queries whole."""
        known, resource = ready.get_params(), search.resource
        chosen: dict[str, Any] = {}
        if resource == "n_samples":
            by_queries = next((name for name in known if name.split("__")[-1] == "max_queries"), "max_queries")
            raise ValueError(
                f"A halving search over the resource 'n_samples' splits queries: use resource='{by_queries}'. "
                f"Got {echo(search)}."
            )
        if isinstance(search.scoring, RankingScorers) or isinstance(search.refit, str):
            raise ValueError(
                "A halving search decides by one number: leave scoring=None and refit=True for the first metric, or "
                f"pass scoring=get_scorer('map'). Got scoring={echo(search.scoring)}, refit={echo(search.refit)}."
            )
        if search.scoring is None:
            chosen["scoring"] = FirstMetricScorer(self.scorers)
        if resource.split("__")[-1] != "max_queries":
            if search.max_resources == "auto":
                raise ValueError(
                    "A halving search needs max_resources, an int, unless its resource is 'max_queries'. "
                    f"Got max_resources='auto' and resource={echo(resource)}."
                )
            return chosen
        seed = f"{resource.removesuffix('max_queries')}random_state"
        # With a seed, all candidates of a round are fitted on the same queries.
        if seed in known and known[seed] is None:
            chosen["estimator"] = clone(ready).set_params(**{seed: search.random_state})
        if search.max_resources == "auto":
            chosen["max_resources"] = self.n_queries
        if search.min_resources == "smallest":
            cv = self._splitter(chosen_cv(search))
            n_splits = len(cv) if isinstance(cv, list) else getattr(cv, "n_splits", 5)
            chosen["min_resources"] = min(2 * n_splits, self.n_queries // 2)
        return chosen


def _wrapped(estimator: Estimator) -> Any:
    """Return a model that accepts qid; the user must have set up any search inside it."""
    if isinstance(estimator, QueryRanker):
        check_estimator(estimator.estimator, "The 'estimator' parameter of QueryRanker")
    refuse_searches(estimator, unless_ranking=True)
    ready = as_query_ranker(estimator)
    refuse_searches(estimator, unless_ranking=not isinstance(ready, QueryRanker))
    return ready


def chosen_cv(search: Any) -> Any:
    """The cv of a search; None if it is the default number of folds, such as 5 for halving."""
    parameter = inspect.signature(type(search)).parameters.get("cv")
    is_default = is_count(search.cv) and parameter is not None and parameter.default == search.cv
    return None if is_default else search.cv


class FirstMetricScorer:
    """The first of several ranking metrics, for searches that need a single number."""

    def __init__(self, scorers: RankingScorers) -> None:
        self.scorers = scorers

    def __call__(
        self, estimator: Estimator, X: MatrixLike, y: ArrayLike, qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None, **columns: ArrayLike,
    ) -> float:  # fmt: skip
        """Value of the metric; higher is better."""
        return self.scorers(estimator, X, y, qid=qid, sample_weight=sample_weight, **columns)[self.scorers.names[0]]

    def get_metadata_routing(self) -> Any:
        """Metadata that the scorers request."""
        return self.scorers.get_metadata_routing()

    def __repr__(self) -> str:
        """The name of the metric."""
        return f"{type(self).__name__}({self.scorers!r})"


class ForgivingScorer:
    """Wrap scorers of several metrics: if scoring fails, return the error score of the search.

    scikit-learn does so for a single metric, and for models that cannot be fitted.
    """

    def __init__(self, scorers: Any, error_score: Real) -> None:
        self.scorers, self.error_score = scorers, error_score

    def __call__(self, *args: Any, **metadata: Any) -> Any:
        """Values of all metrics; higher is better."""
        try:
            return self.scorers(*args, **metadata)
        except Exception as error:
            message = f"Scoring failed; the metrics of this split are {self.error_score}: {error}"
            warnings.warn(message, UserWarning, stacklevel=levels_to_caller())
            return dict.fromkeys(self.scorers.names, self.error_score)

    def get_metadata_routing(self) -> Any:
        """Metadata that the scorers request."""
        return self.scorers.get_metadata_routing()

    def __repr__(self) -> str:
        """The scorers inside."""
        return repr(self.scorers)


def with_error_score(search: Any, chosen: dict[str, Any]) -> dict[str, Any]:
    """Return the chosen parameters of a search, with scorers that return its error score if scoring fails."""
    scorers, error_score = chosen.get("scoring", search.scoring), search.error_score
    if not isinstance(error_score, Real) or getattr(scorers, "is_single", not hasattr(scorers, "names")):
        return chosen
    return chosen | {"scoring": ForgivingScorer(scorers, error_score)}


def check_refit(search: Any, chosen: Mapping[str, Any]) -> None:
    """Refuse a `refit` that is not a metric of our scorer, before any fit."""
    names = getattr(chosen.get("scoring", search.scoring), "names", None)
    if names is not None and isinstance(search.refit, str) and search.refit not in names:
        raise ValueError(
            f"The 'refit' parameter of {type(search).__name__} must be one of the scorer's names: {echo_all(names)}. "
            f"Got {echo(search.refit)}.{other_spelling(search.refit, names)}"
        )


def score_strictly(search: Any) -> None:
    """Make ``search.score`` of a fitted search raise errors again: the error score is for candidates."""
    scorer = getattr(search, "scorer_", None)
    if isinstance(scorer, ForgivingScorer):
        search.scorer_ = scorer.scorers


def check_scored(search: Any) -> None:
    """Refuse a search if no candidate has a score."""
    results = search.cv_results_
    scores = [np.asarray(values, dtype=float) for name, values in results.items() if name.startswith("mean_test_")]
    if np.isnan(scores).all():
        raise ValueError(
            "No candidate of the search could be scored. The warnings give the reasons; error_score='raise' stops at "
            "the first error. Got NaN for all."
        )


def progress_of_search(search: Any) -> AbstractContextManager[Any]:
    """Show scikit-learn's progress bar for a search, unless it has callbacks; warn if scikit-learn is too old."""
    if not hasattr(search, "set_callbacks"):
        warnings.warn(
            "progress=True needs the callbacks of scikit-learn 1.9 or later for a search: use verbose of "
            f"{type(search).__name__}.",
            UserWarning,
            stacklevel=levels_to_caller(),
        )
        return nullcontext()
    if has_callbacks(search):
        return nullcontext()
    import_optional("rich", extra="progress", purpose="The progress bar of a search")
    from sklearn.callback import ProgressBar

    search.set_callbacks(ProgressBar(max_propagation_depth=0))
    shown = ExitStack()
    shown.callback(search.set_callbacks)
    return shown


def with_qid(cv: Any) -> Any:
    """Return a splitter that gets qid as groups by metadata routing; other splitters are unchanged."""
    if not hasattr(cv, "split") or not consumes(cv, "split", "groups"):
        return cv
    with sklearn.config_context(enable_metadata_routing=True):
        return copy.deepcopy(cv).set_split_request(groups="qid")


def check_inner_searches(
    estimator: Estimator, X: MatrixLike, y: ArrayLike, number: Index, folds: Sequence[Split], metadata: Metadata
) -> None:
    """Refuse nested searches whose splitters split queries; warn about searches with a non-ranking objective."""
    for inner in with_inner(estimator):
        if tunes(inner):
            warn_of_objective(inner)
            if consumes(inner.cv, "split", "qid"):
                continue
            if not hasattr(inner.cv, "split"):
                raise ValueError(
                    "A nested search needs a splitter, because row numbers differ inside a training set. Use "
                    f"QueryKFold, QueryShuffleSplit or LeaveOneQueryOut. Got cv={echo(inner.cv)}."
                )
            for train, _ in folds:
                inside = {name: index_rows(values, train) for name, values in metadata.items()}
                query_folds(inner.cv, index_rows(X, train), index_rows(y, train), number[train], inside)
        elif tunes_itself(inner):
            name = type(inner).__name__
            warnings.warn(
                f"{name} chooses its parameters by its own row-wise objective; to tune by the ranking metric, "
                f"use a GridSearchCV of {name.removesuffix('CV')}.",
                UserWarning,
                stacklevel=levels_to_caller(),
            )


def warn_of_objective(search: Any) -> None:
    """Warn about a search whose scorers ignore the queries."""
    if not knows_queries(search.scoring):
        warnings.warn(
            f"{type(search).__name__} tunes by scoring={echo(search.scoring)}, which ignores queries; leave "
            "scoring=None to tune by the first ranking metric, or pass get_scorer('ndcg@10').",
            UserWarning,
            stacklevel=levels_to_caller(),
        )


# --- grids -------------------------------------------------------------------------------------------------------


def _grids(search: Any) -> list[Mapping[str, Any]]:
    """Grids or distributions of a scikit-learn search, as a list."""
    given = getattr(search, "param_grid", getattr(search, "param_distributions", None))
    return [part for part in (given if isinstance(given, list) else [given]) if isinstance(part, Mapping)]


def _check_grid(search: Any) -> None:
    """Refuse grids that contain searches, or that vary scorers and splitters of a nested search."""
    known = {"": search.estimator} | search.estimator.get_params(deep=True)
    for grid in _grids(search):
        for name, values in grid.items():
            owner, _, last = name.rpartition("__")
            if last in ("cv", "scoring") and tunes(known.get(owner)):
                raise ValueError(f"The parameter grid must not vary {echo(name)}, which configures the nested search.")
            for value in values if isinstance(values, list | tuple) else []:
                refuse_searches(value)


def bare_model_error(search: Any, wrapper: str, prefix: str, model: Any) -> ValueError:
    """Return the error for a search over a bare model behind this prefix; it shows the call that works."""
    wrapped = f"{wrapper}({type(model).__name__}(...))"
    for step in reversed(prefix.split("__")[:-1]):
        wrapped = f"Pipeline([..., ({step!r}, {wrapped})])"
    names = dict.fromkeys(_name_inside(name, prefix) for grid in _grids(search) for name in grid)
    grid = ", ".join(f"{name!r}: ..." for name in names)
    by_queries = f", resource='{prefix}max_queries'" if getattr(search, "resource", None) == "n_samples" else ""
    return ValueError(
        f"A search in RankingEvaluator needs its model in {wrapper}, and parameter names from get_params(): "
        f"{type(search).__name__}({wrapped}, {{{grid}}}{by_queries}). Got estimator={echo(search.estimator)}."
    )


def _name_inside(name: str, prefix: str) -> str:
    """Return a parameter's name after the model behind this prefix is wrapped; other names do not change."""
    if not f"{name}__".startswith(prefix):
        return name
    return f"{prefix}estimator__{name.removeprefix(prefix)}" if name.startswith(prefix) else f"{name}__estimator"
