"""Scorers: metrics for scikit-learn's `scoring=`, with qid already requested."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._data.doors import SCORER
from sklearn_rank._data.look import collected_findings, look, look_at_rows, report
from sklearn_rank._data.nothing import Nothing
from sklearn_rank._engine.grouping import find_qid, group_rows
from sklearn_rank._engine.queries import Data
from sklearn_rank._engine.read import read, with_columns
from sklearn_rank._evaluation.evaluate import evaluate_queries
from sklearn_rank._evaluation.informative import nothing_by_metric
from sklearn_rank._evaluation.prepared import PreparedMetrics, prepare_rows
from sklearn_rank._metric.key_signs import scorer_name
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import columns_of, is_single_metric, parse_metric, parse_signed, signed, without_sign
from sklearn_rank._metric.settled import zero_is_nothing
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._scoring.model_checks import check_model
from sklearn_rank._scoring.response import RESPONSE, call_method, check_response_method, low_scores, predict_scores
from sklearn_rank._scoring.routing import ScoreRequests, with_queries
from sklearn_rank._utils.arguments import meant_by, named_arguments, unknown_keyword
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.private_parts import ScorerWithSharedPredictions
from sklearn_rank._utils.typing import Estimator, MatrixLike


@named_arguments
def make_ranking_scorer(metric: MetricsLike, *, response_method: Any = RESPONSE, **params: Any) -> Any:
    """Make a scorer from one or several ranking metrics: like `sklearn.metrics.make_scorer`, with qid requested.

    With metadata routing, pass qid once: ``params={"qid": qid}``. Without routing, the scorer reads the level "qid" of
    the index of y. If there is no qid, the scorer raises an error; it never treats a fold as a single query. It also
    raises an error if a `QueryRanker` in the estimator was fitted on other rows of a scored query.

    Parameters
    ----------
    metric : str, metric function, callable, sequence of them, or dict of str to one of them
        Name such as "ndcg@10", a function of `sklearn_rank.metrics`, a result of `parse_metric`, or any function
        ``f(y_true, y_score) -> float`` for a single query. The prefix ``"neg_"`` of errors is optional. If you pass a
        sequence, a dict or "ndcg@5,10", the scorer returns a dict, even for a single metric.
    response_method : str or tuple of str, default=("predict_proba", "decision_function", "predict")
        Methods of the estimator that return scores; the scorer uses the first that exists. Probabilities yield the
        expected grade, the sum of ``predict_proba`` times ``classes_``; a decision function with a column for each
        class is skipped.
    **params
        Keywords of the metric, and its cutoff `k`; for a plain function also `greater_is_better`, see `parse_metric`.
        With several metrics, a keyword applies to all metrics that accept it.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)``. Higher is better, so the value of an error is negative, and its name starts with
        ``"neg_"``. To request weights of queries as well, call ``scorer.set_score_request(sample_weight=True)``. With a
        single metric, the scorer returns a number. It equals another scorer with the same metric, keywords and
        requests. With several metrics, the scorer predicts once, sorts once, and returns a dict of floats. Use it for
        ``scoring=`` of `cross_validate`, of searches (together with ``refit="ndcg@10"``), and wherever scikit-learn
        supports several metrics. You can call it with ``qid=`` without metadata routing, which scikit-learn does not
        allow for scorers of a single metric. The keys are the names of the scorers, ``"neg_rmse"`` for "rmse" and
        ``"neg_error"`` for ``{"error": "rmse"}``.

    Raises
    ------
    ValueError, TypeError
        If the metric or a keyword is unknown or has a bad value.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import make_ranking_scorer
    >>> X, y = [[0.0], [1.0], [2.0], [4.0]], [0, 1, 1, 2]
    >>> y = pd.Series(y, index=pd.Index(["a", "a", "b", "b"], name="qid"))
    >>> model = Ridge(alpha=0).fit(X, y)
    >>> float(make_ranking_scorer("ndcg", k=3, gain="linear")(model, X, y))
    1.0
    >>> scores = make_ranking_scorer(["ndcg@10", "rmse"])(model, X, y)
    >>> {name: round(value, 3) for name, value in scores.items()}
    {'ndcg@10': 1.0, 'neg_rmse': -0.182}
    """
    check_response_method(response_method)
    if not is_single_metric(metric):
        return RankingScorers(metric, response_method=response_method, **params)
    spec = parse_metric(without_sign(metric), **params)
    spec._refuse_empty()
    if np.ndim(spec.k) or spec["average"] is None:
        raise ValueError(
            "A scorer returns one number for each metric, so a metric needs a single cutoff and a mean; for several "
            f"cutoffs pass a list: ['ndcg@5', 'ndcg@10']. Got k={echo(spec.k)}, average={echo(spec['average'])}."
        )
    keywords = dict(spec.keywords) if spec.k is None else {"k": spec.k, **spec.keywords}
    scorer = RankingScorer.made(
        _NamedScore(spec.metric.score_func, str(spec)),
        response_method=response_method,
        greater_is_better=spec.greater_is_better,
        **keywords,
    )
    scorer.__name__, scorer.meaning, scorer.spec = scorer_name(str(spec), spec), spec.meaning, spec
    scorer.response_method, scorer.keywords = response_method, keywords
    scorer.request_columns(spec.metric.columns)
    return scorer


class RankingScorer(ScoreRequests, ScorerWithSharedPredictions):
    """Scorer of a single metric with a name; gets scores from `predict_scores` and refuses split queries."""

    __name__: str
    meaning: str
    spec: MetricSpec
    response_method: Any
    keywords: dict[str, Any]

    def score_with(self, call: Any, estimator: Estimator, X: MatrixLike, y_true: ArrayLike, **metadata: Any) -> Any:
        """Value of the metric; higher is better."""
        check_model(SCORER, estimator, X, y_true, metadata.get("qid"))
        look(SCORER, copies=(X, y_true))
        with collected_findings() as seen:
            call = with_queries(call, metadata.get("qid"))
            y_score = low_scores(predict_scores(estimator, X, self.response_method, call), [self.spec])
            value = self.spec.metric.score_func(y_true, y_score, **self.keywords, **metadata)
        report(SCORER, seen)
        if not seen and value == 0 and zero_is_nothing(self.spec.meaning):
            look(SCORER, measured=self._measured(y_true, metadata.get("qid")))
        return value if self.spec.greater_is_better else -value

    def _measured(self, y_true: ArrayLike, qid: Any) -> tuple[Any, ...]:
        """What a mean of 0 has measured: nothing, because no value of the metric is negative."""
        labels = as_floats(y_true, "y_true")
        n_queries = group_rows(find_qid(y_true, qid), len(labels)).n_queries
        why = Nothing(True, not (labels >= self.spec["min_relevance"]).any(), 1)
        return {self.__name__: why}, n_queries, len(labels)

    def __repr__(self) -> str:
        """Name of the metric, a valid argument of `get_scorer`."""
        return self.__name__

    def __eq__(self, other: object) -> bool:
        """Whether the metric, its keywords, the methods and the requests are the same."""
        return isinstance(other, RankingScorer) and self._compared() == other._compared()

    def __hash__(self) -> int:
        """Hash of what does not change, which requests may."""
        return hash(self.meaning)

    def _compared(self) -> tuple[Any, ...]:
        return self.meaning, str(self.response_method), self._requests


class _NamedScore:
    """Metric function whose name is the metric's name, for display in tools such as skore."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.__name__, self.__wrapped__ = name, function

    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, **keywords: Any) -> Any:
        """Value of the metric."""
        return self.__wrapped__(y_true, y_score, **keywords)


@named_arguments
def get_scorer(name: str) -> Any:
    """Return the scorer of a named metric, like `sklearn.metrics.get_scorer`.

    Parameters
    ----------
    name : str
        Name such as "ndcg@10" or "neg_rmse"; the prefix ``"neg_"`` of errors is optional.

    Returns
    -------
    scorer : callable
        See `make_ranking_scorer`, which also accepts functions and several metrics.

    Raises
    ------
    ValueError
        If the name is unknown or malformed.
    TypeError
        If `name` is not a single name.

    Examples
    --------
    >>> from sklearn_rank import get_scorer
    >>> get_scorer("ndcg@10")
    ndcg@10
    """
    if not isinstance(name, str) or not is_single_metric(name):
        raise TypeError(
            "get_scorer needs the name of a single metric, such as 'ndcg@10'; for functions and lists use "
            f"make_ranking_scorer. Got {echo(name)}."
        )
    return make_ranking_scorer(name)


def get_scorer_names() -> list[str]:
    """Return all names for `get_scorer`; errors have the prefix ``"neg_"``, because their scores are negative.

    Examples
    --------
    >>> from sklearn_rank import get_scorer_names
    >>> [name for name in get_scorer_names() if name.startswith("neg_r")]
    ['neg_ranking_loss', 'neg_rbp_residual', 'neg_relevance_position', 'neg_rmse']
    """
    return sorted(scorer_name(name, entry) for name, entry in [*REGISTRY.items()])


class RankingScorers(ScoreRequests):
    """Scorer of several metrics: predicts and sorts once, and returns a dict with the keys `names`."""

    def __init__(self, metrics: Any, *, response_method: Any = RESPONSE, **keywords: Any) -> None:
        check_response_method(response_method)
        self.metrics, self.response_method, self.keywords = metrics, response_method, keywords
        self.specs = parse_signed(metrics, **keywords)
        for spec in self.specs.values():
            spec._refuse_empty()
        self.names = [scorer_name(name, spec) for name, spec in self.specs.items()]
        # Whether to run the misuse checks on rows.
        self._looks = True
        self.request_columns(columns_of(self.specs))
        self.__signature__ = self._signature()

    @named_arguments
    def __call__(
        self, estimator: Estimator, X: MatrixLike, y: ArrayLike, qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None, **columns: ArrayLike,
    ) -> dict[str, float]:  # fmt: skip
        """Values of all metrics; higher is better."""
        if unknown := columns.keys() - {*columns_of(self.specs)}:
            takes = ["qid", "sample_weight", *columns_of(self.specs)]
            hint = meant_by(min(unknown))
            raise unknown_keyword("A scorer has no keyword", min(unknown), takes, hint=hint, takes=takes)
        check_model(SCORER, estimator, X, y, qid)
        call = with_queries(call_method, qid)
        y_score = low_scores(predict_scores(estimator, X, self.response_method, call), self.specs.values())
        queries = read(y, y_score, qid=qid, sample_weight=sample_weight)
        queries = with_columns(queries, y, columns_of(self.specs), columns)
        result = evaluate_queries(queries, self.specs)
        if self._looks:
            with collected_findings() as seen:
                look_at_rows(SCORER, queries, self.specs, y_true=y)
            by_metric = nothing_by_metric({"": result})
            report(SCORER, seen)
            if not seen:
                look(SCORER, measured=(by_metric, queries.grouping.n_queries, len(queries.row_label)))
            look(SCORER, copies=(X, y))
        return signed(result.mean(), self.specs)

    def _signature(self) -> inspect.Signature:
        """Signature with named columns, because skore treats `**columns` as a required keyword."""
        known = inspect.signature(type(self).__call__).parameters.values()
        named = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in columns_of(self.specs)]
        return inspect.Signature([*(p for p in known if p.name not in ("self", "columns")), *named])

    def prepare(self, data: Data) -> PreparedMetrics:
        """Prepare metrics for `score_rows`, for rows that are scored repeatedly."""
        return prepare_rows(data, self.specs)

    def score_rows(self, estimator: Estimator, X: MatrixLike, rows: PreparedMetrics) -> dict[str, float]:
        """Values of all metrics on prepared rows, for callers that know that no query is split."""
        return self.score_predictions(predict_scores(estimator, X, self.response_method), rows)

    def score_predictions(self, y_score: ArrayLike, rows: PreparedMetrics) -> dict[str, float]:
        """Values of all metrics for given predictions of prepared rows."""
        return signed(rows.evaluate(low_scores(y_score, self.specs.values())).mean(), self.specs)

    def without_checks(self) -> RankingScorers:
        """Return a copy without misuse checks, for a caller that has checked all rows."""
        scorers = copy.copy(self)
        scorers._looks = False
        return scorers

    @property
    def __name__(self) -> str:
        return ", ".join(self.names)

    def __repr__(self) -> str:
        """Call that makes this object."""
        given = {} if self.response_method == RESPONSE else {"response_method": self.response_method}
        keywords = "".join(f", {name}={value!r}" for name, value in {**given, **self.keywords}.items())
        metrics = self.metrics if isinstance(self.metrics, Mapping) else self.names
        return f"make_ranking_scorer({metrics}{keywords})"

    def __eq__(self, other: object) -> bool:
        """Whether the names, the metrics, their keywords, the methods and the requests are the same."""
        return isinstance(other, RankingScorers) and self._compared() == other._compared()

    def __hash__(self) -> int:
        """Hash of what does not change, which requests may."""
        return hash(tuple(self.names))

    def _compared(self) -> tuple[Any, ...]:
        meanings = tuple(spec.meaning for spec in self.specs.values())
        return tuple(self.names), meanings, str(self.response_method), self._requests


def metrics_of(scoring: Any) -> dict[str, MetricSpec]:
    """Metrics of a scorer of this library, by the keys of its result; an empty dict for other scorers."""
    if isinstance(scoring, RankingScorers):
        return dict(zip(scoring.names, scoring.specs.values(), strict=True))
    return {scoring.__name__: scoring.spec} if isinstance(scoring, RankingScorer) else {}
