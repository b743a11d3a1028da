"""Names of the package. Written by docs/make_stubs.py."""
# fmt: off
# ruff: noqa: E501, I001

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, Protocol, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._evaluator.evaluator import RankingEvaluator as _RankingEvaluator

from sklearn_rank._comparison.comparison import Comparison
from sklearn_rank._engine.attributes import AttributesLike
from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.typing import CVLike
from sklearn_rank._utils.typing import Estimator
from sklearn_rank._utils.typing import MatrixLike
from sklearn_rank.io._documents import DocumentOf
from sklearn_rank.io._mappings import JudgmentsLike
from sklearn_rank.io._mappings import RunLike
from sklearn_rank.metrics import _Average
from sklearn_rank.metrics import _Cutoffs
from sklearn_rank.metrics import _Discount
from sklearn_rank.metrics import _Gain
from sklearn_rank.metrics import _Number
from sklearn_rank.recommenders._interactions import Column
from sklearn_rank import boosting as boosting
from sklearn_rank import compat as compat
from sklearn_rank import datasets as datasets
from sklearn_rank import display as display
from sklearn_rank import exceptions as exceptions
from sklearn_rank import inspection as inspection
from sklearn_rank import io as io
from sklearn_rank import metrics as metrics
from sklearn_rank import model_selection as model_selection
from sklearn_rank import recommenders as recommenders
from sklearn_rank import results as results
from sklearn_rank import retrieval as retrieval
from sklearn_rank import spark as spark
from sklearn_rank import stats as stats
from sklearn_rank._entry_points.judgments import check_judgments as check_judgments
from sklearn_rank._groups import group_sizes as group_sizes
from sklearn_rank._groups import qid_from_group_sizes as qid_from_group_sizes
from sklearn_rank._metric.decorator import metric as metric
from sklearn_rank._metric.names import get_metric_names as get_metric_names
from sklearn_rank._ranker.query_ranker import QueryRanker as QueryRanker
from sklearn_rank._scoring.scorer import get_scorer_names as get_scorer_names
from sklearn_rank._scoring.split import LeaveOneQueryOut as LeaveOneQueryOut
from sklearn_rank._scoring.split import QueryKFold as QueryKFold
from sklearn_rank._scoring.split import QueryShuffleSplit as QueryShuffleSplit
from sklearn_rank._scoring.split import QueryTimeSeriesSplit as QueryTimeSeriesSplit
from sklearn_rank._scoring.split import RepeatedQueryKFold as RepeatedQueryKFold
from sklearn_rank._scoring.split import query_train_test_split as query_train_test_split
from sklearn_rank._tables.accumulator import RankingAccumulator as RankingAccumulator
from sklearn_rank._version import __version__ as __version__
from sklearn_rank.inspection import query_permutation_importance as query_permutation_importance
from sklearn_rank.metrics import dcg_score as dcg_score
from sklearn_rank.metrics import err_score as err_score
from sklearn_rank.metrics import fbeta_at_k_score as fbeta_at_k_score
from sklearn_rank.metrics import hit_rate_score as hit_rate_score
from sklearn_rank.metrics import map_score as map_score
from sklearn_rank.metrics import mrr_score as mrr_score
from sklearn_rank.metrics import ndcg_score as ndcg_score
from sklearn_rank.metrics import precision_at_k_score as precision_at_k_score
from sklearn_rank.metrics import query_auc_score as query_auc_score
from sklearn_rank.metrics import recall_at_k_score as recall_at_k_score
from sklearn_rank.recommenders._interaction_split import GlobalTimeSplit as GlobalTimeSplit
from sklearn_rank.recommenders._interaction_split import LeaveLastOut as LeaveLastOut
from sklearn_rank.recommenders._interactions import InteractionRecommender as InteractionRecommender

class _HasArray(Protocol):
    def __array__(self, *args: Any, **keywords: Any) -> Any: ...

_Own = float | Sequence[float] | NDArray[Any] | _HasArray | Mapping[Any, float] | Callable[..., Any] | None

class _Scorer(Protocol):
    def __call__(self, estimator: Estimator, X: Any, y: Any, qid: Any = ..., sample_weight: Any = ..., **columns: Any) -> float: ...
    def set_score_request(self, **requests: bool | str | None) -> Self: ...
    def get_metadata_routing(self) -> Any: ...

class _Scorers(Protocol):
    def __call__(self, estimator: Estimator, X: Any, y: Any, qid: Any = ..., sample_weight: Any = ..., **columns: Any) -> dict[str, float]: ...
    def set_score_request(self, **requests: bool | str | None) -> Self: ...
    def get_metadata_routing(self) -> Any: ...

class _RecommenderScorer(Protocol):
    def __call__(self, estimator: Estimator, X: Any, y: Any, qid: Any = ..., sample_weight: Any = ..., **columns: Any) -> Any: ...
    def set_score_request(self, **requests: bool | str | None) -> Self: ...
    def get_metadata_routing(self) -> Any: ...

def check_metric(
    metric: MetricLike, *, denominator: Literal["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n",
    "min_relevant_nonrelevant"] = ..., precision_at: Literal["rank", "threshold"] = ..., ranks: Literal["all",
    "relevant"] = ..., min_relevance: _Number = ..., ties: Literal["average", "stable", "worst", "best"] = ...,
    unjudged: Literal["nonrelevant", "drop"] | None = ..., negative: Literal["keep", "unjudged"] = ...,
    replace_undefined_by: _Number = ..., convention: Literal["sklearn", "trec_eval", "ir_measures", "ranx",
    "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax", "keras_rs", "spark", "recbole",
    "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average | None = ..., no_relevant:
    Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] = ..., stop:
    Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number = ..., decay:
    _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number | Literal["11pt"] =
    ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ..., tied_curve:
    Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ..., **own: _Own,
) -> dict[str, str]: ...

def compare_systems(
    data: Any = ..., y_score: Any = ..., *, metrics: MetricsLike = ..., y_true: Any = ..., qid: ArrayLike | None =
    ..., sample_weight: ArrayLike | Mapping[Any, float] | None = ..., by: AttributesLike = ..., clusters:
    ClustersLike = ..., tie_break: ArrayLike | None = ..., mask: ArrayLike | None = ..., n_jobs: int | None = ...,
    baseline: str | None = ..., test: str = ..., correction: str | None = ..., on_misuse: str = ..., denominator:
    Literal["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"] = ...,
    precision_at: Literal["rank", "threshold"] = ..., ranks: Literal["all", "relevant"] = ..., min_relevance:
    _Number = ..., ties: Literal["average", "stable", "worst", "best"] = ..., unjudged: str | None = ..., negative:
    Literal["keep", "unjudged"] = ..., replace_undefined_by: _Number = ..., convention: Literal["sklearn",
    "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax",
    "keras_rs", "spark", "recbole", "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average |
    None = ..., no_relevant: Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] =
    ..., stop: Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number =
    ..., decay: _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number |
    Literal["11pt"] = ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ...,
    tied_curve: Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ...,
    missing_from_run: str | None = ..., missing_from_qrels: str | None = ..., duplicates: str = ..., exclude: Any =
    ..., document_of: DocumentOf | None = ..., aggregate: str = ..., chance: bool = ..., **own: _Own,
) -> Comparison: ...

def evaluate(
    y_true: MatrixLike, y_score: MatrixLike, *, metrics: MetricsLike = ..., qid: ArrayLike | None = ...,
    sample_weight: ArrayLike | None = ..., by: AttributesLike = ..., clusters: ClustersLike = ..., tie_break:
    ArrayLike | None = ..., mask: ArrayLike | None = ..., exclude: MatrixLike | None = ..., chance: bool = ...,
    n_jobs: int | None = ..., denominator: Literal["relevant", "min_k_relevant", "retrieved_relevant", "k",
    "min_k_n", "min_relevant_nonrelevant"] = ..., precision_at: Literal["rank", "threshold"] = ..., ranks:
    Literal["all", "relevant"] = ..., min_relevance: _Number = ..., ties: Literal["average", "stable", "worst",
    "best"] = ..., unjudged: Literal["nonrelevant", "drop"] | None = ..., negative: Literal["keep", "unjudged"] =
    ..., replace_undefined_by: _Number = ..., convention: Literal["sklearn", "trec_eval", "ir_measures", "ranx",
    "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax", "keras_rs", "spark", "recbole",
    "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average | None = ..., no_relevant:
    Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] = ..., stop:
    Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number = ..., decay:
    _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number | Literal["11pt"] =
    ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ..., tied_curve:
    Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ..., **own: _Own,
) -> Evaluation: ...

def evaluate_run(
    judgments: JudgmentsLike, run: RunLike, *, metrics: MetricsLike = ..., sample_weight: Mapping[Any, float] | None
    = ..., by: Mapping[Any, Any] | None = ..., clusters: Mapping[Any, Any] | None = ..., missing_from_run: str |
    None = ..., missing_from_qrels: str | None = ..., duplicates: str = ..., exclude: Mapping[Any, Iterable[Any]] |
    None = ..., document_of: DocumentOf | None = ..., aggregate: str = ..., unjudged: str | None = ..., chance: bool
    = ..., n_jobs: int | None = ..., denominator: Literal["relevant", "min_k_relevant", "retrieved_relevant", "k",
    "min_k_n", "min_relevant_nonrelevant"] = ..., precision_at: Literal["rank", "threshold"] = ..., ranks:
    Literal["all", "relevant"] = ..., min_relevance: _Number = ..., ties: Literal["average", "stable", "worst",
    "best"] = ..., negative: Literal["keep", "unjudged"] = ..., replace_undefined_by: _Number = ..., convention:
    Literal["sklearn", "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics",
    "tf_ranking", "rax", "keras_rs", "spark", "recbole", "replay", "lenskit"] | None = ..., adjusted: bool = ...,
    average: _Average | None = ..., no_relevant: Literal["zero", "undefined"] = ..., beta: _Number = ..., need:
    Literal["any", "all"] = ..., stop: Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount
    = ..., base: _Number = ..., decay: _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ...,
    recall: _Number | Literal["11pt"] = ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number |
    None = ..., tied_curve: Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold:
    _Number = ..., **own: _Own,
) -> Evaluation: ...

def evaluate_table(
    data: Any, *, metrics: MetricsLike = ..., y_true: str | Sequence[str] = ..., y_score: str = ..., qid: str |
    Sequence[str] = ..., sample_weight: str | None = ..., by: str | Sequence[str] | None = ..., clusters: str | None
    = ..., tie_break: str | None = ..., doc_id: str | None = ..., assume_grouped: bool = ..., memory_limit: int |
    None = ..., folder: Any = ..., chance: bool = ..., n_jobs: int | None = ..., denominator: Literal["relevant",
    "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"] = ..., precision_at:
    Literal["rank", "threshold"] = ..., ranks: Literal["all", "relevant"] = ..., min_relevance: _Number = ..., ties:
    Literal["average", "stable", "worst", "best"] = ..., unjudged: Literal["nonrelevant", "drop"] | None = ...,
    negative: Literal["keep", "unjudged"] = ..., replace_undefined_by: _Number = ..., convention: Literal["sklearn",
    "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax",
    "keras_rs", "spark", "recbole", "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average |
    None = ..., no_relevant: Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] =
    ..., stop: Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number =
    ..., decay: _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number |
    Literal["11pt"] = ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ...,
    tied_curve: Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ...,
    **own: _Own,
) -> Evaluation: ...

@overload
def make_ranking_scorer(  # type: ignore[overload-overlap]
    metric: MetricLike, *, response_method: Any = ..., k: int | np.integer[Any] | _Cutoffs | None = ...,
    greater_is_better: bool = ..., denominator: Literal["relevant", "min_k_relevant", "retrieved_relevant", "k",
    "min_k_n", "min_relevant_nonrelevant"] = ..., precision_at: Literal["rank", "threshold"] = ..., ranks:
    Literal["all", "relevant"] = ..., min_relevance: _Number = ..., ties: Literal["average", "stable", "worst",
    "best"] = ..., unjudged: Literal["nonrelevant", "drop"] | None = ..., negative: Literal["keep", "unjudged"] =
    ..., replace_undefined_by: _Number = ..., convention: Literal["sklearn", "trec_eval", "ir_measures", "ranx",
    "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax", "keras_rs", "spark", "recbole",
    "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average | None = ..., no_relevant:
    Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] = ..., stop:
    Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number = ..., decay:
    _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number | Literal["11pt"] =
    ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ..., tied_curve:
    Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ..., **own: _Own,
) -> _Scorer: ...

@overload
def make_ranking_scorer(
    metric: Iterable[MetricLike] | Mapping[str, MetricLike], *, response_method: Any = ..., k: int | np.integer[Any]
    | _Cutoffs | None = ..., greater_is_better: bool = ..., denominator: Literal["relevant", "min_k_relevant",
    "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"] = ..., precision_at: Literal["rank",
    "threshold"] = ..., ranks: Literal["all", "relevant"] = ..., min_relevance: _Number = ..., ties:
    Literal["average", "stable", "worst", "best"] = ..., unjudged: Literal["nonrelevant", "drop"] | None = ...,
    negative: Literal["keep", "unjudged"] = ..., replace_undefined_by: _Number = ..., convention: Literal["sklearn",
    "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax",
    "keras_rs", "spark", "recbole", "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average |
    None = ..., no_relevant: Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] =
    ..., stop: Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number =
    ..., decay: _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number |
    Literal["11pt"] = ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ...,
    tied_curve: Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ...,
    **own: _Own,
) -> _Scorers: ...

def make_recommender_scorer(
    metric: MetricsLike, *, items: Any, exclude: Any = ..., user: Column = ..., item: Column = ..., k: int |
    np.integer[Any] | _Cutoffs | None = ..., greater_is_better: bool = ..., denominator: Literal["relevant",
    "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"] = ..., precision_at:
    Literal["rank", "threshold"] = ..., ranks: Literal["all", "relevant"] = ..., min_relevance: _Number = ..., ties:
    Literal["average", "stable", "worst", "best"] = ..., unjudged: Literal["nonrelevant", "drop"] | None = ...,
    negative: Literal["keep", "unjudged"] = ..., replace_undefined_by: _Number = ..., convention: Literal["sklearn",
    "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax",
    "keras_rs", "spark", "recbole", "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average |
    None = ..., no_relevant: Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] =
    ..., stop: Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number =
    ..., decay: _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number |
    Literal["11pt"] = ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ...,
    tied_curve: Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ...,
    **own: _Own,
) -> _RecommenderScorer: ...

def parse_metric(
    metric: MetricLike, /, *, k: int | np.integer[Any] | _Cutoffs | None = ..., greater_is_better: bool = ...,
    denominator: Literal["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n",
    "min_relevant_nonrelevant"] = ..., precision_at: Literal["rank", "threshold"] = ..., ranks: Literal["all",
    "relevant"] = ..., min_relevance: _Number = ..., ties: Literal["average", "stable", "worst", "best"] = ...,
    unjudged: Literal["nonrelevant", "drop"] | None = ..., negative: Literal["keep", "unjudged"] = ...,
    replace_undefined_by: _Number = ..., convention: Literal["sklearn", "trec_eval", "ir_measures", "ranx",
    "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax", "keras_rs", "spark", "recbole",
    "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average | None = ..., no_relevant:
    Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] = ..., stop:
    Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number = ..., decay:
    _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number | Literal["11pt"] =
    ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ..., tied_curve:
    Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ..., **own: _Own,
) -> MetricSpec: ...

def prepare(
    y_true: MatrixLike, *, metrics: MetricsLike = ..., qid: ArrayLike | None = ..., sample_weight: ArrayLike | None
    = ..., mask: ArrayLike | None = ..., n_jobs: int | None = ..., denominator: Literal["relevant",
    "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"] = ..., precision_at:
    Literal["rank", "threshold"] = ..., ranks: Literal["all", "relevant"] = ..., min_relevance: _Number = ..., ties:
    Literal["average", "stable", "worst", "best"] = ..., unjudged: Literal["nonrelevant", "drop"] | None = ...,
    negative: Literal["keep", "unjudged"] = ..., replace_undefined_by: _Number = ..., convention: Literal["sklearn",
    "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax",
    "keras_rs", "spark", "recbole", "replay", "lenskit"] | None = ..., adjusted: bool = ..., average: _Average |
    None = ..., no_relevant: Literal["zero", "undefined"] = ..., beta: _Number = ..., need: Literal["any", "all"] =
    ..., stop: Literal["exp2", "label"] = ..., max_grade: _Number = ..., discount: _Discount = ..., base: _Number =
    ..., decay: _Number = ..., p: _Number = ..., gain: _Gain = ..., alpha: _Number = ..., recall: _Number |
    Literal["11pt"] = ..., rounding: Literal["up", "nearest", "cut"] = ..., max_fpr: _Number | None = ...,
    tied_curve: Literal["expected", "straight"] = ..., variant: Literal["b", "a"] = ..., threshold: _Number = ...,
    **own: _Own,
) -> PreparedMetrics: ...

def get_scorer(name: str) -> _Scorer: ...

class RankingEvaluator(_RankingEvaluator):
    def __init__(
        self, metrics: MetricsLike = ..., *, cv: CVLike = ..., n_jobs: int | None = ..., baseline: str | None = ..., test: str
        = ..., correction: str | None = ..., progress: bool = ..., on_misuse: str = ..., denominator:
        Literal["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"] = ...,
        precision_at: Literal["rank", "threshold"] = ..., ranks: Literal["all", "relevant"] = ..., min_relevance:
        _Number = ..., ties: Literal["average", "stable", "worst", "best"] = ..., unjudged: Literal["nonrelevant",
        "drop"] | None = ..., negative: Literal["keep", "unjudged"] = ..., replace_undefined_by: _Number = ...,
        convention: Literal["sklearn", "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost",
        "torchmetrics", "tf_ranking", "rax", "keras_rs", "spark", "recbole", "replay", "lenskit"] | None = ...,
        adjusted: bool = ..., average: _Average | None = ..., no_relevant: Literal["zero", "undefined"] = ..., beta:
        _Number = ..., need: Literal["any", "all"] = ..., stop: Literal["exp2", "label"] = ..., max_grade: _Number =
        ..., discount: _Discount = ..., base: _Number = ..., decay: _Number = ..., p: _Number = ..., gain: _Gain = ...,
        alpha: _Number = ..., recall: _Number | Literal["11pt"] = ..., rounding: Literal["up", "nearest", "cut"] = ...,
        max_fpr: _Number | None = ..., tied_curve: Literal["expected", "straight"] = ..., variant: Literal["b", "a"] =
        ..., threshold: _Number = ..., **own: _Own,
    ) -> None: ...
