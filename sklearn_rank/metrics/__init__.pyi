"""Types of the metric functions. Written by docs/make_stubs.py."""
# fmt: off
# ruff: noqa: E501, I001

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, Protocol, TypedDict, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.ranked import Ranked as Ranked
from sklearn_rank._metric.decorator import MetricFunction as MetricFunction
from sklearn_rank._metric.metric import Metric as Metric
from sklearn_rank._utils.constraints import Constraint as Constraint

_Number = float | np.floating[Any] | np.integer[Any]
_Average = Literal["macro", "micro", "geometric"]
_Cutoffs = Sequence[int] | NDArray[np.integer[Any]]
_Table = Sequence[float] | NDArray[Any] | Callable[..., Any]
_Gain = Literal["exp2", "linear", "binary"] | Mapping[Any, float] | _Table
_Discount = Literal["log2", "jarvelin", "reciprocal", "flat"] | _Table
_Values = NDArray[np.float64]

class _Keywords(TypedDict, total=False):
    qid: ArrayLike | None
    sample_weight: ArrayLike | None
    mask: ArrayLike | None
    n_jobs: int | None
    unjudged: Literal["nonrelevant", "drop"] | None
    negative: Literal["keep", "unjudged"]
    replace_undefined_by: _Number
    convention: Literal["sklearn", "trec_eval", "ir_measures", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking", "rax", "keras_rs", "spark", "recbole", "replay", "lenskit"] | None

class _Keywords1(_Keywords, total=False):
    denominator: Literal["relevant", "min_k_relevant", "retrieved_relevant", "k"]
    precision_at: Literal["rank", "threshold"]
    ranks: Literal["all", "relevant"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric1(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords1]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords1]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords1]) -> _Values: ...

map_score: _Metric1

class _Keywords2(_Keywords, total=False):
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric2(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords2]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords2]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords2]) -> _Values: ...

fall_out_error: _Metric2
infap_score: _Metric2
judged_score: _Metric2
mrr_score: _Metric2
position_weighted_average_score: _Metric2
wap_score: _Metric2

class _Keywords3(_Keywords, total=False):
    denominator: Literal["k", "min_k_n"]
    no_relevant: Literal["zero", "undefined"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric3(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords3]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords3]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords3]) -> _Values: ...

acg_score: _Metric3
precision_at_k_score: _Metric3

class _Keywords4(_Keywords, total=False):
    denominator: Literal["relevant", "min_k_relevant"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric4(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords4]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords4]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords4]) -> _Values: ...

r_precision_score: _Metric4
recall_at_k_score: _Metric4

class _Keywords5(_Keywords, total=False):
    beta: _Number
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric5(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords5]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords5]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords5]) -> _Values: ...

fbeta_at_k_score: _Metric5

class _Keywords6(_Keywords, total=False):
    need: Literal["any", "all"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric6(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords6]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords6]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords6]) -> _Values: ...

hit_rate_score: _Metric6

class _Keywords7(_Keywords, total=False):
    stop: Literal["exp2", "label"]
    max_grade: _Number
    discount: _Discount
    base: _Number
    no_relevant: Literal["zero", "undefined"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric7(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords7]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords7]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords7]) -> _Values: ...

err_score: _Metric7

class _Keywords8(_Keywords, total=False):
    stop: Literal["exp2", "label"]
    max_grade: _Number
    discount: _Discount
    base: _Number
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric8(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords8]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords8]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords8]) -> _Values: ...

nerr_score: _Metric8

class _Keywords9(_Keywords, total=False):
    stop: Literal["exp2", "label"]
    max_grade: _Number
    decay: _Number
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric9(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords9]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords9]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords9]) -> _Values: ...

pfound_score: _Metric9

class _Keywords10(_Keywords, total=False):
    p: _Number
    gain: _Gain
    max_grade: _Number
    no_relevant: Literal["zero", "undefined"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric10(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords10]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords10]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords10]) -> _Values: ...

rbp_score: _Metric10

class _Keywords11(_Keywords, total=False):
    alpha: _Number
    discount: _Discount
    base: _Number
    min_relevance: _Number
    ties: Literal["average", "stable"]
    tie_break: ArrayLike | None

class _Metric11(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords11]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords11]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords11]) -> _Values: ...

alpha_dcg_score: _Metric11
alpha_ndcg_score: _Metric11

class _Keywords12(_Keywords, total=False):
    stop: Literal["exp2", "label"]
    max_grade: _Number
    discount: _Discount
    base: _Number
    min_relevance: _Number
    ties: Literal["average", "stable"]
    tie_break: ArrayLike | None

class _Metric12(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords12]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords12]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords12]) -> _Values: ...

err_ia_score: _Metric12

class _Keywords13(_Keywords, total=False):
    min_relevance: _Number
    ties: Literal["average", "stable"]
    tie_break: ArrayLike | None

class _Metric13(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords13]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords13]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords13]) -> _Values: ...

map_ia_score: _Metric13
subtopic_recall_score: _Metric13

class _Keywords14(_Keywords, total=False):
    denominator: Literal["k", "min_k_n"]
    min_relevance: _Number
    ties: Literal["average", "stable"]
    tie_break: ArrayLike | None

class _Metric14(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords14]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords14]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords14]) -> _Values: ...

precision_ia_score: _Metric14

class _Keywords15(_Keywords, total=False):
    alpha: _Number
    p: _Number
    min_relevance: _Number
    ties: Literal["average", "stable"]
    tie_break: ArrayLike | None

class _Metric15(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords15]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords15]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords15]) -> _Values: ...

nrbp_score: _Metric15

class _Keywords16(_Keywords, total=False):
    no_relevant: Literal["zero", "undefined"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric16(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords16]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords16]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords16]) -> _Values: ...

cg_score: _Metric16

class _Keywords17(_Keywords, total=False):
    gain: _Gain
    discount: _Discount
    base: _Number
    no_relevant: Literal["zero", "undefined"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric17(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords17]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords17]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords17]) -> _Values: ...

dcg_score: _Metric17

class _Keywords18(_Keywords, total=False):
    gain: _Gain
    discount: _Discount
    base: _Number
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric18(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords18]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords18]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords18]) -> _Values: ...

ndcg_score: _Metric18
snips_score: _Metric18

class _Keywords19(_Keywords, total=False):
    gain: _Gain
    beta: _Number
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric19(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords19]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords19]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords19]) -> _Values: ...

q_score: _Metric19

class _Keywords20(_Keywords, total=False):
    denominator: Literal["min_relevant_nonrelevant", "relevant"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric20(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords20]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords20]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords20]) -> _Values: ...

bpref_score: _Metric20

class _Keywords21(_Keywords, total=False):
    p: _Number
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric21(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords21]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords21]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords21]) -> _Values: ...

rbo_score: _Metric21
rbp_residual_error: _Metric21

class _Keywords22(_Keywords, total=False):
    recall: _Number | Literal["11pt"]
    rounding: Literal["up", "nearest", "cut"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric22(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | None = ..., average: _Average = ..., **keywords: Unpack[_Keywords22]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: int | np.integer[Any] | _Cutoffs | None = ..., average: None, **keywords: Unpack[_Keywords22]) -> _Values: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, k: _Cutoffs, average: _Average = ..., **keywords: Unpack[_Keywords22]) -> _Values: ...

interpolated_precision_score: _Metric22

class _Keywords23(_Keywords, total=False):
    max_fpr: _Number | None
    tied_curve: Literal["expected", "straight"]
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric23(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: _Average = ..., **keywords: Unpack[_Keywords23]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: None, **keywords: Unpack[_Keywords23]) -> _Values: ...

query_auc_score: _Metric23

class _Keywords24(_Keywords, total=False):
    min_relevance: _Number
    ties: Literal["average", "stable", "worst", "best"]
    adjusted: bool
    tie_break: ArrayLike | None

class _Metric24(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: _Average = ..., **keywords: Unpack[_Keywords24]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: None, **keywords: Unpack[_Keywords24]) -> _Values: ...

coverage_error: _Metric24
pairwise_accuracy_score: _Metric24
ranking_loss_error: _Metric24
relevance_position_error: _Metric24

class _Keywords25(_Keywords, total=False):
    variant: Literal["b", "a"]
    min_relevance: _Number
    tie_break: ArrayLike | None

class _Metric25(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: _Average = ..., **keywords: Unpack[_Keywords25]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: None, **keywords: Unpack[_Keywords25]) -> _Values: ...

kendall_score: _Metric25

class _Keywords26(_Keywords, total=False):
    min_relevance: _Number
    tie_break: ArrayLike | None

class _Metric26(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: _Average = ..., **keywords: Unpack[_Keywords26]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: None, **keywords: Unpack[_Keywords26]) -> _Values: ...

spearman_score: _Metric26

class _Keywords27(_Keywords, total=False): ...

class _Metric27(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: _Average = ..., **keywords: Unpack[_Keywords27]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: None, **keywords: Unpack[_Keywords27]) -> _Values: ...

query_mae_error: _Metric27
query_mse_error: _Metric27
query_rmse_error: _Metric27

class _Keywords28(_Keywords, total=False):
    threshold: _Number
    min_relevance: _Number
    tie_break: ArrayLike | None

class _Metric28(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: _Average = ..., **keywords: Unpack[_Keywords28]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: None, **keywords: Unpack[_Keywords28]) -> _Values: ...

set_precision_score: _Metric28
set_recall_score: _Metric28

class _Keywords29(_Keywords, total=False):
    threshold: _Number
    beta: _Number
    min_relevance: _Number
    tie_break: ArrayLike | None

class _Metric29(MetricFunction, Protocol):
    @overload  # type: ignore[override]
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: _Average = ..., **keywords: Unpack[_Keywords29]) -> float: ...
    @overload
    def __call__(self, y_true: ArrayLike, y_score: ArrayLike, *, average: None, **keywords: Unpack[_Keywords29]) -> _Values: ...

set_f_score: _Metric29
