"""scikit-learn's estimator checks, with many kinds of models inside `QueryRanker`."""

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LogisticRegression, Ridge, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from sklearn_rank import QueryRanker


def grades(y):
    """Map numbers to grades from 0 to 3; invalid vectors stay, and `fit` rejects them."""
    numbers = np.asarray(y)
    if numbers.ndim != 1 or numbers.dtype.kind not in "fiub" or not np.isfinite(numbers).all():
        return y
    return np.abs(np.trunc(numbers)).astype(int) % 4


class EveryFourRows(QueryRanker):
    """The checks have no queries or grades: every four rows are a query."""

    def fit(self, X, y, *, qid=None, sample_weight=None):
        return super().fit(X, grades(y), qid=self._queries(y, qid), sample_weight=sample_weight)

    def score(self, X, y, *, qid=None, sample_weight=None):
        return super().score(X, grades(y), qid=self._queries(y, qid), sample_weight=sample_weight)

    def _queries(self, y, qid):
        return np.arange(len(np.asarray(y))) // 4 if qid is None and y is not None else qid


def models():
    found = [
        QueryRanker(Ridge()),
        EveryFourRows(SGDRegressor(random_state=0)),
        EveryFourRows(make_pipeline(StandardScaler(), Ridge())),
        EveryFourRows(HistGradientBoostingRegressor(max_iter=3, min_samples_leaf=2)),
        EveryFourRows(LogisticRegression(max_iter=1000)),
    ]
    try:
        from catboost import CatBoostRanker
        from lightgbm import LGBMRanker
        from xgboost import XGBRanker
    except ImportError:
        return found
    return [
        *found,
        EveryFourRows(LGBMRanker(n_estimators=3, min_child_samples=2, verbose=-1, n_jobs=1)),
        EveryFourRows(XGBRanker(n_estimators=3, n_jobs=1)),
        EveryFourRows(CatBoostRanker(iterations=3, verbose=0, allow_writing_files=False, thread_count=1)),
    ]


NO_QUERIES = "a ranking metric wants the query of each row, which the check does not give"
COLUMN = "labels in one column are taken as they are, as everywhere in this library"
WEIGHTS = "the model itself does not take a weight for a repeated row"
REPEATED = "rows that are repeated make other queries"
IN_QUERY = "the model weights whole queries, and the weights of the check vary inside them"
SPARSE = "the model itself takes no sparse data of some formats"
OWN_ERROR = "CatBoost raises errors of its own class"

DENSE, ON_SPARSE = (f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse"))

EXPECTED = {
    "Ridge": dict.fromkeys(["check_fit_score_takes_y", "check_pipeline_consistency"], NO_QUERIES),
    "SGDRegressor": {DENSE: WEIGHTS, ON_SPARSE: WEIGHTS, "check_supervised_y_2d": COLUMN},
    "Pipeline": {DENSE: "the first step of the Pipeline is given no weights"},
    "HistGradientBoostingRegressor": {DENSE: WEIGHTS, "check_supervised_y_2d": COLUMN},
    "LogisticRegression": {"check_supervised_y_2d": COLUMN},
    "LGBMRanker": {
        DENSE: REPEATED,
        ON_SPARSE: REPEATED,
        "check_all_zero_sample_weights_error": "LightGBM itself takes weights that are all zero",
        "check_estimator_sparse_array": SPARSE,
        "check_estimator_sparse_matrix": SPARSE,
        "check_supervised_y_2d": COLUMN,
    },
    "XGBRanker": {
        DENSE: IN_QUERY,
        ON_SPARSE: IN_QUERY,
        "check_sample_weights_not_overwritten": IN_QUERY,
        "check_complex_data": "XGBoost says it in other words",
        "check_estimators_empty_data_messages": "XGBoost says of a matrix without features that it has no rows",
        "check_estimator_sparse_array": "XGBoost warns of some formats",
        "check_estimator_sparse_matrix": "XGBoost warns of some formats",
        "check_supervised_y_2d": COLUMN,
    },
    "CatBoostRanker": {
        DENSE: IN_QUERY,
        ON_SPARSE: SPARSE,
        "check_sample_weights_not_overwritten": IN_QUERY,
        "check_complex_data": OWN_ERROR,
        "check_dtype_object": OWN_ERROR,
        "check_estimators_empty_data_messages": OWN_ERROR,
        "check_regressor_data_not_an_array": "CatBoost predicts for no container that it does not know",
        "check_estimator_sparse_tag": "CatBoost says that it takes sparse data, but takes no sparse arrays",
        "check_estimator_sparse_array": SPARSE,
        "check_estimator_sparse_matrix": SPARSE,
        "check_supervised_y_2d": COLUMN,
        "check_supervised_y_no_nan": OWN_ERROR,
        "check_fit2d_1sample": OWN_ERROR,
        "check_fit1d": "CatBoost takes a vector for one feature",
    },
}


def expected(ranker):
    return EXPECTED[type(ranker.estimator).__name__]


@parametrize_with_checks(models(), expected_failed_checks=expected)
def test_estimator_checks(estimator, check):
    try:
        check(estimator)
    except Exception as error:
        if check.func.__name__ not in expected(estimator):
            raise
        raise error.with_traceback(None) from None  # pytest would print each of these warnings, which takes ten seconds
