"""The built-in metrics of LightGBM, XGBoost and CatBoost, on the same predictions as ours.

`tests/data/ltr` has stored values and predictions of models. Installed libraries are also run on stored predictions
and on random queries.
"""

import re

import numpy as np
import pytest
from known_cases import read, translate
from numpy.testing import assert_allclose
from registry import together

from sklearn_rank import parse_metric
from sklearn_rank._metric.metric import REGISTRY

# --- stored values -------------------------------------------------------------------------------------------

LIBRARY_NAMES = {
    "ndcg": "ndcg",
    "map": "ap",
    "pre": "precision",
    "NDCG": "ndcg",
    "DCG": "dcg",
    "MAP": "ap",
    "MRR": "rr",
    "PrecisionAt": "precision",
    "RecallAt": "recall",
    "QueryAUC": "auc",
    "ERR": "err",
    "PFound": "pfound",
}


def library_values():
    """(predictions, library, the library's name of the metric, entry) of each stored value."""
    for predictions, systems in read("ltr/builtin_metrics.json")["results"].items():
        for system, table in systems.items():
            if isinstance(table, dict) and "own evaluation" not in system:
                yield from ((predictions, system, name, entry) for name, entry in table.items())


def library_call(name, entry):
    """The call for a stored value."""
    params = dict(entry["params"])
    if "binarize" in entry:
        params["threshold"] = float(re.fullmatch(r"labels >= (\d)", entry["binarize"])[1])
    return translate(LIBRARY_NAMES[re.match(r"[A-Za-z]+", name)[0]], params, labels=range(5))


def predictions_of(model):
    data = read("ltr/predictions.npz")
    return data["y_true"], data[model], data["qid"]


LIBRARY_VALUES = [*library_values()]


@together("model, system, name, entry", LIBRARY_VALUES)
def test_values_of_libraries(model, system, name, entry):
    call = library_call(name, entry)
    y_true, y_score, qid = predictions_of(model)
    weight = {"sample_weight": 1 + qid % 3} if "query_weight=1+qid%3" in name else {}
    found = call(y_true, y_score, qid, **weight)
    assert_allclose(found, entry["value"], rtol=0, atol=1e-6)
    assert_allclose(found, entry["oracle"], rtol=1e-9)
    assert entry["agrees"]


def test_all_values_of_libraries_were_compared():
    assert len(LIBRARY_VALUES) == 216
    ours = {library_call(name, entry).name for _, _, name, entry in library_values()}
    assert ours <= REGISTRY.keys()


def test_lightgbm_at_its_last_iteration():
    """The values that LightGBM printed during training, for its own predictions in double precision."""
    stored = read("ltr/builtin_metrics.json")["results"]["lightgbm_model"]
    (system,) = [name for name in stored if "own evaluation" in name]
    y_true, y_score, qid = predictions_of("lightgbm_model")
    for name, value in stored[system].items():
        keywords = {"denominator": "min_k_relevant"} if name.startswith("map") else {}
        spec = parse_metric(name, ties="stable", replace_undefined_by=1, **keywords)
        found = spec.metric(y_true, y_score, qid=qid, k=spec.k, **spec.keywords)
        assert_allclose(found, value, rtol=0, atol=1e-6)


# --- the same libraries, live --------------------------------------------------------------------------------


STORED = ["lightgbm_model", "xgboost_model", "catboost_model", "lightgbm_model_rounded_0.5", "constant"]
LIVE = [0, 1, 2, *STORED]


def live_data(source):
    """Stored predictions, or random queries by seed: some of one document, some without a relevant document, some ties.

    Scores are exact in single precision.
    """
    if isinstance(source, str):
        y_true, y_score, qid = predictions_of(source)
        return y_true, y_score, qid, np.bincount(qid)
    rng = np.random.default_rng(source)
    size = rng.integers(1, 25, size=60)
    label = rng.integers(0, 5, size=size.sum()) * np.repeat(rng.random(60) < 0.85, size)
    return label, rng.integers(0, 12, size=size.sum()) / 4, np.repeat(np.arange(60), size), size


def as_that_library(name, y_true, y_score, qid):
    """A metric of LightGBM or XGBoost; if a minus sign follows its name, undefined queries count 0 instead of 1."""
    divided_by = {"map": {"denominator": "min_k_relevant"}, "pre": {"denominator": "min_k_n"}}
    keywords = {"replace_undefined_by": 0 if name.endswith("-") else 1, **divided_by.get(name[:3], {})}
    spec = parse_metric(name.rstrip("-").replace("pre@", "precision@"), ties="stable", **keywords)
    return spec.metric(y_true, y_score, qid=qid, k=spec.k, **spec.keywords)


def lightgbm_values(y_true, y_score, size):
    """LightGBM's metrics of fixed scores, from a model without trees that starts at these scores."""
    lightgbm = pytest.importorskip("lightgbm")
    params = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 3, 5, 30], "verbose": -1}
    features, quiet = np.arange(len(y_true), dtype=float)[:, None], {"verbose": -1}
    data = lightgbm.Dataset(features, label=y_true, group=size, init_score=y_score, params=quiet)
    return {name: value for _, name, value, _ in lightgbm.Booster(params, data).eval_train()}


def xgboost_values(metric, y_true, y_score, size):
    """The same for XGBoost."""
    xgboost = pytest.importorskip("xgboost")
    names = [f"{metric}@1", f"{metric}@5", f"{metric}@30", *([] if metric == "pre" else [f"{metric}@5-"])]
    data = xgboost.DMatrix(np.zeros((len(y_true), 1)), label=y_true, base_margin=y_score)
    data.set_group(size)
    printed = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": names}, [data]).eval(data)
    values = {name: float(value) for name, value in re.findall(r"eval-(\S+):(\S+)", printed)}
    assert list(values) == names
    return values


@pytest.mark.parametrize("source", LIVE)
def test_live_lightgbm(source):
    y_true, y_score, qid, size = live_data(source)
    values = lightgbm_values(y_true, y_score, size)
    assert len(values) == 8
    found = {name: as_that_library(name, y_true, y_score, qid) for name in values}
    assert found == pytest.approx(values, rel=0, abs=1e-6)


@pytest.mark.parametrize("metric", ["ndcg", "map", "pre"])
@pytest.mark.parametrize("source", LIVE)
def test_live_xgboost(source, metric):
    y_true, y_score, qid, size = live_data(source)
    if metric != "ndcg":  # needs binary labels
        y_true = (y_true >= 2) * 1
    values = xgboost_values(metric, y_true, y_score, size)
    found = {name: as_that_library(name, y_true, y_score, qid) for name in values}
    assert found == pytest.approx(values, rel=0, abs=1e-6)


CATBOOST = {
    "NDCG:top=5;type=Exp": ("ndcg@5", {"replace_undefined_by": 1}),
    "NDCG:type=Base": ("ndcg(gain=linear)", {"replace_undefined_by": 1}),
    "DCG:top=10;type=Exp": ("dcg@10", {}),
    "DCG:top=10;type=Exp;denominator=Position": ("dcg(discount=reciprocal)@10", {}),
    "MAP:top=5;border=0.5": ("map(denominator=min_k_relevant)@5", {}),
    "MRR:top=5;border=0.5": ("mrr@5", {}),
    "PrecisionAt:top=5;border=1.5": ("precision(denominator=min_k_n,min_relevance=2)@5", {}),
    "RecallAt:top=5;border=0.5": ("recall@5", {"replace_undefined_by": 1}),
    "PFound": ("pfound(stop=label)", {}),
    "PFound:top=5;decay=0.5": ("pfound(stop=label,decay=0.5)@5", {}),
    "ERR:top=5": ("err(stop=label)@5", {}),
}


@pytest.mark.parametrize("source", LIVE)
@pytest.mark.parametrize("name", CATBOOST)
def test_live_catboost(name, source):
    utils = pytest.importorskip("catboost.utils")
    y_true, y_score, qid, _ = live_data(source)
    ours, keywords = CATBOOST[name]
    spec = parse_metric(ours, ties="worst", **keywords)
    if "stop" in spec.keywords:
        y_true = y_true / 4
    (value,) = utils.eval_metric(y_true.astype(float), y_score, name, group_id=qid)
    found = spec.metric(y_true, y_score, qid=qid, k=spec.k, **spec.keywords)
    assert_allclose(found, value, rtol=0, atol=1e-6)
