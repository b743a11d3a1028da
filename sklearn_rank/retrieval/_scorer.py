"""A scorer of transformers: the samples of a class should be near each other."""

from __future__ import annotations

from inspect import signature
from typing import Any

from numpy.typing import ArrayLike

from sklearn_rank._data.doors import RETRIEVAL_SCORER
from sklearn_rank._data.look import collected_findings, report
from sklearn_rank._engine.columns import check_features
from sklearn_rank._metric.canonical_text import text_of
from sklearn_rank._metric.key_signs import scorer_name
from sklearn_rank._metric.names import is_single_metric, parse_signed, signed
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank.retrieval._evaluate import evaluate_retrieval


@named_arguments
def make_retrieval_scorer(metric: MetricsLike = "map@10", *, distance: Any = "cosine", **options: Any) -> Any:
    """Make a scorer of transformers: each test sample ranks the others, and samples with its label are relevant.

    Parameters
    ----------
    metric : str, metric function, sequence of them, or dict of str to one of them, default="map@10"
        As in `make_ranking_scorer`.
    distance : str or callable, default="cosine"
        As in `evaluate_retrieval`.
    **options
        Other keywords of `evaluate_retrieval`, or of the metrics.

    Returns
    -------
    scorer : callable
        ``scorer(estimator, X, y)`` for ``scoring=``. It returns a number, or a dict if there are several metrics, and
        then searches need ``refit="map@10"``. Higher is better, so the value of an error is negative, and its name
        starts with ``"neg_"``.

    Raises
    ------
    ValueError, TypeError
        If a metric or one of its keywords is unknown or has an invalid value.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.decomposition import PCA
    >>> from sklearn.model_selection import GridSearchCV, StratifiedKFold
    >>> from sklearn_rank.retrieval import make_retrieval_scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"n_components": [1, 2], "whiten": [False, True]}
    >>> search = GridSearchCV(
    ...     PCA(),
    ...     grid,
    ...     scoring=make_retrieval_scorer("map@10", distance="euclidean"),
    ...     cv=StratifiedKFold(3),
    ... )
    >>> search.fit(X, y).best_params_
    {'n_components': 2, 'whiten': False}
    """
    return RetrievalScorer(metric, distance, options)


class RetrievalScorer:
    """Scorer of a transformer, from `make_retrieval_scorer`."""

    def __init__(self, metric: MetricsLike, distance: Any, options: dict[str, Any]) -> None:
        parameters = signature(evaluate_retrieval).parameters.values()
        known = {p.name for p in parameters if p.kind is p.KEYWORD_ONLY} - {"distance", "metrics"}
        self._search_options = {name: value for name, value in options.items() if name in known}
        self._specs = parse_signed(metric, **{name: v for name, v in options.items() if name not in known})
        for spec in self._specs.values():
            spec._refuse_empty()
        self.metric, self.distance, self.options = metric, distance, options
        self._single = is_single_metric(metric)

    def __call__(self, estimator: Estimator, X: MatrixLike, y: ArrayLike) -> float | dict[str, float]:
        """Value of each metric; higher is better."""
        if not hasattr(estimator, "transform"):
            raise TypeError(f"A retrieval scorer needs an estimator with 'transform'. Got {echo(estimator)}.")
        check_features(X, y=y)
        features = estimator.transform(X)
        with collected_findings() as seen:
            result = evaluate_retrieval(
                features, query_labels=y, distance=self.distance, metrics=self._specs, **self._search_options
            )
        report(RETRIEVAL_SCORER, seen)
        means = signed(result.mean(), self._specs)
        return next(iter(means.values())) if self._single else means

    @property
    def __name__(self) -> str:
        specs = {str(spec): spec for spec in self._specs.values()} if self._single else self._specs
        return ", ".join(scorer_name(name, spec) for name, spec in specs.items())

    def __eq__(self, other: object) -> bool:
        """Whether the distance, the names, the metrics and all keywords are the same."""
        return isinstance(other, RetrievalScorer) and self._compared() == other._compared()

    def __hash__(self) -> int:
        """Hash of all that is compared."""
        return hash(self._compared())

    def _compared(self) -> tuple[Any, ...]:
        names, meanings = tuple(self._specs), tuple(spec.meaning for spec in self._specs.values())
        return None if self._single else names, meanings, text_of(self.distance), text_of(self._search_options)

    def __repr__(self) -> str:
        """Call that makes this object."""
        given = {"distance": self.distance, **self.options}
        options = "".join(f", {name}={value!r}" for name, value in given.items())
        return f"make_retrieval_scorer({self.metric!r}{options})"
