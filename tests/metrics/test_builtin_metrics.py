"""The built-in metrics of LightGBM, XGBoost and CatBoost, on the same predictions as ours.

`tests/data/ltr` has stored values and predictions of models; test_bench.py runs the libraries themselves.
"""

import re

from known_cases import read, translate
from numpy.testing import assert_allclose
from registry import together

from sklearn_rank import parse_metric
from sklearn_rank._metric.metric import REGISTRY

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
