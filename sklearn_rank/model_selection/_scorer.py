"""Scorers: metrics as scikit-learn's `scoring=` takes them, with qid already requested."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._engine.check import read
from sklearn_rank._evaluation.evaluate import evaluate_queries
from sklearn_rank._evaluation.grouped_rows import GroupedRows
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import listed_metrics, parse_metric, parse_metrics
from sklearn_rank._metric.spec import MetricLike, MetricsLike, MetricSpec
from sklearn_rank._misuse.check import collected_findings, report
from sklearn_rank._misuse.doors import SCORER
from sklearn_rank._misuse.rows import look
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.private_parts import ScorerWithSharedPredictions
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.model_selection._model_checks import check_model
from sklearn_rank.model_selection._response import RESPONSE, check_response_method, low_scores, predict_scores
from sklearn_rank.model_selection._routing import ScoreRequests


def make_ranking_scorer(metric: MetricLike, *, response_method: Any = RESPONSE, **params: Any) -> Any:
    """Make a scorer of a ranking metric: what `sklearn.metrics.make_scorer` makes, with qid requested.

    With metadata routing, qid is passed once: ``params={"qid": qid}``. Without, it is taken from the level
    "qid" of the index of y. Where there is neither, the scorer raises; it never takes a fold for one query. It also
    raises where a `QueryRanker` inside the estimator was fitted on other rows of a query that is scored.

    Parameters
    ----------
    metric : str, metric function or callable
        Name such as "ndcg@10", a function of `sklearn_rank.metrics`, what `parse_metric` makes of one, or any function
        ``f(y_true, y_score) -> float`` of one query.
    response_method : str or tuple of str, default=("predict_proba", "decision_function", "predict")
        Methods of the estimator to get scores from; the first that it has is used. Probabilities give the expected
        grade, the sum of ``predict_proba`` times ``classes_``; a decision function with a column for each class is
        passed over.
    **params
        Keywords of the metric, and its cutoff `k`; of a plain function also `greater_is_better`, see `parse_metric`.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)``; higher is better, so the value of an error is negative. It is printed as its
        metric, "ndcg@10" or "neg_rmse", and equal to another of the same metric, keywords and requests. Request
        weights of queries in addition by ``scorer.set_score_request(sample_weight=True)``.

    Raises
    ------
    ValueError, TypeError
        If the metric or a keyword is unknown or has a bad value.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import make_ranking_scorer
    >>> scorer = make_ranking_scorer("ndcg", k=3, gain="linear")
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 2]
    >>> y = pd.Series(y, index=pd.Index(["a", "a", "b", "b"], name="qid"))
    >>> float(scorer(Ridge().fit(X, y), X, y))
    1.0
    """
    check_response_method(response_method)
    spec = parse_metric(metric, **params)
    if np.ndim(spec.k) or spec["average"] is None:
        raise ValueError(
            "A scorer returns one number, so it needs a single cutoff and a mean. "
            f"Got k={echo(spec.k)}, average={echo(spec['average'])}; get_scorers makes one object of many metrics."
        )
    keywords = dict(spec.keywords) if spec.k is None else {"k": spec.k, **spec.keywords}
    scorer = RankingScorer.made(
        _NamedScore(spec.metric.score_func, str(spec)),
        response_method=response_method,
        greater_is_better=spec.greater_is_better,
        **keywords,
    )
    scorer.__name__, scorer.meaning, scorer.spec = _signed_name(spec), spec.meaning, spec
    scorer.response_method, scorer.keywords = response_method, keywords
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
        with collected_findings() as seen:
            y_score = low_scores(predict_scores(estimator, X, self.response_method, call), [self.spec])
            value = self.spec.metric.score_func(y_true, y_score, **self.keywords, **metadata)
        report(SCORER, seen)
        return value if self.spec.greater_is_better else -value

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


def get_scorer(name: str) -> Any:
    """Scorer of a named metric, like `make_ranking_scorer`.

    Parameters
    ----------
    name : str
        Name such as "ndcg@10" or "neg_rmse"; for errors the prefix ``"neg_"`` may be left out.

    Returns
    -------
    scorer : callable

    Raises
    ------
    ValueError, TypeError
        If the name is unknown or malformed.

    Examples
    --------
    >>> from sklearn_rank import get_scorer
    >>> get_scorer("ndcg@10")
    ndcg@10
    """
    return make_ranking_scorer(_without_sign(name))


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
    return sorted(name if entry.greater_is_better else f"neg_{name}" for name, entry in [*REGISTRY.items()])


def get_scorers(metrics: MetricsLike, *, response_method: Any = RESPONSE, **keywords: Any) -> RankingScorers:
    """One scorer of many metrics: predicts once, sorts once, returns a dict.

    Parameters
    ----------
    metrics : str, metric function, sequence of them, or dict of str to one of them
        In the forms of `evaluate`; for errors the prefix ``"neg_"`` may be written or left out.
    response_method : str or tuple of str, default=("predict_proba", "decision_function", "predict")
        Methods of the estimator to get scores from; the first that it has is used. Probabilities give the expected
        grade, the sum of ``predict_proba`` times ``classes_``; a decision function with a column for each class is
        passed over.
    **keywords
        Keywords for all metrics that have them.

    Returns
    -------
    RankingScorers
        For ``scoring=`` of `cross_validate` and the searches; these want ``refit="ndcg@10"``.

    Raises
    ------
    ValueError, TypeError
        If a metric or a keyword is unknown or has a bad value.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import get_scorers
    >>> X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 1, 1, 2]
    >>> y = pd.Series(y, index=pd.Index(["a", "a", "b", "b"], name="qid"))
    >>> get_scorers(["ndcg@10", "mrr"])(Ridge().fit(X, y), X, y)
    {'ndcg@10': 1.0, 'mrr': 1.0}
    """
    return RankingScorers(metrics, response_method=response_method, **keywords)


class RankingScorers(ScoreRequests):
    """Several ranking metrics as one scorer, made by `get_scorers`.

    ``scorers(estimator, X, y, qid=...)`` predicts and sorts once, and returns a dict of the values.

    Attributes
    ----------
    names : list of str
        Keys of the dict.
    """

    def __init__(self, metrics: Any, *, response_method: Any = RESPONSE, **keywords: Any) -> None:
        check_response_method(response_method)
        self.metrics, self.response_method, self.keywords = metrics, response_method, keywords
        self._specs, self.names = parse_signed(metrics, **keywords)
        # Whether it checks rows for misuse.
        self._looks = True

    @named_arguments
    def __call__(
        self,
        estimator: Estimator,
        X: MatrixLike,
        y: ArrayLike,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> dict[str, float]:
        """Values of all metrics; higher is better."""
        check_model(SCORER, estimator, X, y, qid)
        y_score = low_scores(predict_scores(estimator, X, self.response_method), self._specs.values())
        queries = read(y, y_score, qid=qid, sample_weight=sample_weight)
        result = evaluate_queries(queries, self._specs, queries.qid, queries.weight, None)
        if self._looks:
            look(SCORER, queries, self._specs, compute, y_true=y)
        return self._signed(result)

    def prepare(self, rows: GroupedRows) -> PreparedMetrics:
        """Metrics of rows that are scored again and again, for `score_rows`."""
        return rows.prepare(self._specs)

    def score_rows(self, estimator: Estimator, X: MatrixLike, rows: PreparedMetrics) -> dict[str, float]:
        """Values of all metrics on rows that are prepared, where it is known that no query is cut in two."""
        return self.score_predictions(predict_scores(estimator, X, self.response_method), rows)

    def score_predictions(self, y_score: ArrayLike, rows: PreparedMetrics) -> dict[str, float]:
        """The same for what a model predicts for these rows."""
        return self._signed(rows.evaluate(low_scores(y_score, self._specs.values())))

    def without_checks(self) -> RankingScorers:
        """A copy for a caller that has checked all rows for misuse, not only in the rows of a fold."""
        scorers = copy.copy(self)
        scorers._looks = False
        return scorers

    def _signed(self, result: Evaluation) -> dict[str, float]:
        """Means, with errors negative."""
        return dict(zip(self.names, signed(result.mean(), self._specs).values(), strict=True))

    @property
    def __name__(self) -> str:
        return ", ".join(self.names)

    def __repr__(self) -> str:
        """Call that makes this object."""
        given = {} if self.response_method == RESPONSE else {"response_method": self.response_method}
        keywords = "".join(f", {name}={value!r}" for name, value in {**given, **self.keywords}.items())
        metrics = self.metrics if isinstance(self.metrics, Mapping) else self.names
        return f"get_scorers({metrics}{keywords})"

    def __eq__(self, other: object) -> bool:
        """Whether the names, the metrics, their keywords, the methods and the requests are the same."""
        return isinstance(other, RankingScorers) and self._compared() == other._compared()

    def __hash__(self) -> int:
        """Hash of what does not change, which requests may."""
        return hash(tuple(self.names))

    def _compared(self) -> tuple[Any, ...]:
        meanings = tuple(spec.meaning for spec in self._specs.values())
        return tuple(self.names), meanings, str(self.response_method), self._requests


def parse_signed(metrics: MetricsLike, **keywords: Any) -> tuple[dict[str, MetricSpec], list[str]]:
    """Metrics whose names may have the sign of a scorer, and the keys of what their scorer returns."""
    if isinstance(metrics, Mapping):
        specs = parse_metrics({n: _without_sign(metric) for n, metric in metrics.items()}, **keywords)
        return specs, [*specs]
    listed = listed_metrics(metrics)
    specs = parse_metrics([*map(_without_sign, listed)], **keywords)
    return specs, [m.strip() if isinstance(m, str) else n for m, n in zip(listed, specs, strict=True)]


def signed(means: Mapping[str, float], metrics: Mapping[str, MetricSpec]) -> dict[str, float]:
    """Means as scorers have them: errors negative."""
    return {name: means[name] if spec.greater_is_better else -means[name] for name, spec in metrics.items()}


def metrics_of(scoring: Any) -> dict[str, MetricSpec]:
    """Metrics of this library's scorers, by the names of what they return; others have an empty dict."""
    if isinstance(scoring, RankingScorers):
        return dict(zip(scoring.names, scoring._specs.values(), strict=True))
    return {scoring.__name__: scoring.spec} if isinstance(scoring, RankingScorer) else {}


def _signed_name(spec: MetricSpec) -> str:
    """Name of a metric whose higher values are better."""
    return f"{'' if spec.greater_is_better else 'neg_'}{spec}"


def _without_sign(name: Any) -> Any:
    if not isinstance(name, str):
        return name
    bare = name.strip().removeprefix("neg_")
    if bare != name.strip() and parse_metric(bare).greater_is_better:
        raise ValueError(f"Only errors have a scorer with 'neg_', and higher is better here. Got {echo(name)}.")
    return bare
