"""Scorers: metrics as scikit-learn's `scoring=` takes them, with qid already requested."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._engine.grouping import find_qid, group_rows
from sklearn_rank._engine.queries import Data
from sklearn_rank._engine.read import read, with_columns
from sklearn_rank._evaluation.evaluate import evaluate_queries
from sklearn_rank._evaluation.informative import nothing_by_metric
from sklearn_rank._evaluation.prepared import PreparedMetrics, prepare_rows
from sklearn_rank._metric.key_signs import scorer_name
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import columns_of, is_single_metric, parse_metric
from sklearn_rank._metric.scorer_names import parse_signed, signed, without_sign
from sklearn_rank._metric.settled import zero_is_nothing
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._misuse.check import Finding, collected_findings, report
from sklearn_rank._misuse.entry_points import SCORER
from sklearn_rank._misuse.models import copies_of_label
from sklearn_rank._misuse.nothing import Nothing, nothing_measured
from sklearn_rank._misuse.rows import look
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
    """Make a scorer of one ranking metric or of several: like `sklearn.metrics.make_scorer`, with qid requested.

    With metadata routing, qid is passed once: ``params={"qid": qid}``. Without, it is taken from the level
    "qid" of the index of y. Where there is neither, the scorer raises; it never takes a fold for one query. It also
    raises where a `QueryRanker` inside the estimator was fitted on other rows of a query that is scored.

    Parameters
    ----------
    metric : str, metric function, callable, sequence of them, or dict of str to one of them
        Name such as "ndcg@10", a function of `sklearn_rank.metrics`, what `parse_metric` makes of one, or any function
        ``f(y_true, y_score) -> float`` of one query. For errors the prefix ``"neg_"`` may be written or left out.
        A sequence or a dict, also of one metric, makes a scorer that returns a dict; so does "ndcg@5,10".
    response_method : str or tuple of str, default=("predict_proba", "decision_function", "predict")
        Methods of the estimator to get scores from; the first that it has is used. Probabilities give the expected
        grade, the sum of ``predict_proba`` times ``classes_``; a decision function with a column for each class is
        passed over.
    **params
        Keywords of the metric, and its cutoff `k`; of a plain function also `greater_is_better`, see `parse_metric`.
        If there are several metrics, keywords for all that have them.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)``; higher is better, so the value of an error is negative, and its name starts with
        ``"neg_"``. Request weights of queries in addition by ``scorer.set_score_request(sample_weight=True)``.

        Of one metric it returns a number, and is equal to another of the same metric, keywords and requests. Of
        several it predicts once, sorts once, and returns a dict of floats, for ``scoring=`` of `cross_validate`, of
        searches, which need ``refit="ndcg@10"`` then, and wherever scikit-learn takes several metrics. A call takes
        ``qid=`` without metadata routing, too, which scikit-learn refuses to scorers of one metric. The keys are
        the names of the scorers, ``"neg_rmse"`` for "rmse" and ``"neg_error"`` for ``{"error": "rmse"}``.

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
    if np.ndim(spec.k) or spec["average"] is None:
        raise ValueError(
            "A scorer returns one number for a metric, so it needs a single cutoff and a mean; several are a list: "
            f"['ndcg@5', 'ndcg@10']. Got k={echo(spec.k)}, average={echo(spec['average'])}."
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
    """Scorer of one metric that has a name, gets scores from `predict_scores` and refuses queries cut in two."""

    __name__: str
    meaning: str
    spec: MetricSpec
    response_method: Any
    keywords: dict[str, Any]

    def score_with(self, call: Any, estimator: Estimator, X: MatrixLike, y_true: ArrayLike, **metadata: Any) -> Any:
        """Value of the metric; higher is better."""
        check_model(SCORER, estimator, X, y_true, metadata.get("qid"))
        report(SCORER, copies_of_label(X, y_true))
        with collected_findings() as seen:
            call = with_queries(call, metadata.get("qid"))
            y_score = low_scores(predict_scores(estimator, X, self.response_method, call), [self.spec])
            value = self.spec.metric.score_func(y_true, y_score, **self.keywords, **metadata)
        report(SCORER, seen)
        if not seen and value == 0 and zero_is_nothing(self.spec.meaning):
            report(SCORER, self._nothing(y_true, metadata.get("qid")))
        return value if self.spec.greater_is_better else -value

    def _nothing(self, y_true: ArrayLike, qid: Any) -> Iterator[Finding]:
        """The finding that a value of 0 measures nothing: a mean of values that are not negative."""
        labels = as_floats(y_true, "y_true")
        n_queries = group_rows(find_qid(y_true, qid), len(labels)).n_queries
        why = Nothing(True, not (labels >= self.spec["min_relevance"]).any(), 1)
        yield from nothing_measured({self.__name__: why}, n_queries, len(labels))

    def __repr__(self) -> str:
        """Name of the metric, which `get_scorer` reads."""
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
    """Function of a metric by the metric's name, which tools such as skore show."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.__name__, self.__wrapped__ = name, function

    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, **keywords: Any) -> Any:
        """Value of the metric."""
        return self.__wrapped__(y_true, y_score, **keywords)


@named_arguments
def get_scorer(name: str) -> Any:
    """Scorer of a named metric, like `sklearn.metrics.get_scorer`.

    Parameters
    ----------
    name : str
        Name such as "ndcg@10" or "neg_rmse"; for errors the prefix ``"neg_"`` may be left out.

    Returns
    -------
    scorer : callable
        See `make_ranking_scorer`, which also makes scorers of functions and of several metrics.

    Raises
    ------
    ValueError
        If the name is unknown or malformed.
    TypeError
        If it is no single name.

    Examples
    --------
    >>> from sklearn_rank import get_scorer
    >>> get_scorer("ndcg@10")
    ndcg@10
    """
    if not isinstance(name, str) or not is_single_metric(name):
        raise TypeError(
            "get_scorer takes the name of one metric, such as 'ndcg@10'; make_ranking_scorer takes functions and lists "
            f"of several. Got {echo(name)}."
        )
    return make_ranking_scorer(name)


def get_scorer_names() -> list[str]:
    """Names for `get_scorer`: all metrics, with ``"neg_"`` before errors, whose scorers are negative.

    Returns
    -------
    list of str

    Examples
    --------
    >>> from sklearn_rank import get_scorer_names
    >>> [name for name in get_scorer_names() if name.startswith("neg_r")]
    ['neg_ranking_loss', 'neg_rbp_residual', 'neg_relevance_position', 'neg_rmse']
    """
    return sorted(scorer_name(name, entry) for name, entry in [*REGISTRY.items()])


class RankingScorers(ScoreRequests):
    """Scorer of several metrics, whose keys are `names`: it predicts and sorts once, and returns a dict."""

    def __init__(self, metrics: Any, *, response_method: Any = RESPONSE, **keywords: Any) -> None:
        check_response_method(response_method)
        self.metrics, self.response_method, self.keywords = metrics, response_method, keywords
        self.specs = parse_signed(metrics, **keywords)
        self.names = [scorer_name(name, spec) for name, spec in self.specs.items()]
        # Whether it checks rows for misuse.
        self._looks = True
        self.request_columns(columns_of(self.specs))
        self.__signature__ = self._signature()

    @named_arguments
    def __call__(
        self,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        **columns: ArrayLike,
    ) -> dict[str, float]:
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
                look(SCORER, queries, self.specs, y_true=y)
            by_metric = nothing_by_metric({"": result})
            report(SCORER, seen or nothing_measured(by_metric, queries.grouping.n_queries, len(queries.row_label)))
            report(SCORER, copies_of_label(X, y))
        return signed(result.mean(), self.specs)

    def _signature(self) -> inspect.Signature:
        """Signature of a call with the columns by name: skore takes `**columns` for a keyword that is required."""
        known = inspect.signature(type(self).__call__).parameters.values()
        named = [inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=None) for n in columns_of(self.specs)]
        return inspect.Signature([*(p for p in known if p.name not in ("self", "columns")), *named])

    def prepare(self, data: Data) -> PreparedMetrics:
        """Metrics of rows that are scored again and again, for `score_rows`."""
        return prepare_rows(data, self.specs)

    def score_rows(self, estimator: Estimator, X: MatrixLike, rows: PreparedMetrics) -> dict[str, float]:
        """Values of all metrics on rows that are prepared, where it is known that no query is cut in two."""
        return self.score_predictions(predict_scores(estimator, X, self.response_method), rows)

    def score_predictions(self, y_score: ArrayLike, rows: PreparedMetrics) -> dict[str, float]:
        """The same for what a model predicts for these rows."""
        return signed(rows.evaluate(low_scores(y_score, self.specs.values())).mean(), self.specs)

    def without_checks(self) -> RankingScorers:
        """A copy for a caller that has checked all rows for misuse, not only in the rows of a fold."""
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
    """Metrics of this library's scorers, by the names of what they return; others have an empty dict."""
    if isinstance(scoring, RankingScorers):
        return dict(zip(scoring.names, scoring.specs.values(), strict=True))
    return {scoring.__name__: scoring.spec} if isinstance(scoring, RankingScorer) else {}
