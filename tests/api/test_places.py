"""Rows have the same values in every place: in memory, in batches, in batches of whole queries, in Spark.

Laws of all places are here; tests of one place are in the folder of that place.
"""

import numpy as np
import pandas as pd
import pytest
from registry import Data, each_kind_of_data, rough_data_for, tie_policy

from sklearn_rank import evaluate, evaluate_table, parse_metric
from sklearn_rank import spark as on_spark
from sklearn_rank._tables import batch_validator

SUBTOPICS = ["label 0", "label 1", "label 2"]


# --- rows, and how to evaluate them in each place ---------------------------------------------------------------


def make(seed=0, n_queries=50):
    """Rows with ties in random order; rows of equal scores go lowest label first, as in Spark."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(rng.permutation(n_queries) * 3 - 5, rng.integers(1, 14, n_queries))
    return in_one_order(Data(rng.integers(0, 5, len(qid)).astype(float), rng.integers(0, 9, len(qid)) / 3, qid))


def in_one_order(data):
    """Rows sorted by score within queries, without ties; queries in random order."""
    query = np.random.default_rng(7).permutation(data.qid.max() - data.qid.min() + 1)[data.qid - data.qid.min()]
    return data.rows(np.lexsort((*data.y_true.reshape(len(query), -1).T, -data.y_score, query)))


def mixed(frame):
    """Interleave the queries; rows of a query keep their order."""
    return frame.iloc[np.argsort(frame.groupby("qid", sort=False).cumcount().to_numpy(), kind="stable")]


def frame_of(data, **columns):
    """Columns of labels: one, or one per subtopic."""
    labels = dict(zip(SUBTOPICS, data.y_true.T, strict=True)) if data.y_true.ndim == 2 else {"label": data.y_true}
    return pd.DataFrame(labels | {"score": data.y_score, "qid": data.qid} | columns)


def labels_in(frame):
    return "label" if "label" in frame else SUBTOPICS


def rows_of(frame, size):
    return [frame.iloc[i : i + size] for i in range(0, len(frame), size)]


def by_batches(frame, **keywords):
    return evaluate_table(rows_of(mixed(frame), 7), memory_limit=1500, **keywords)


def by_grouped_batches(frame, **keywords):
    return evaluate_table(rows_of(frame, 5), assume_grouped=True, **keywords)


def by_spark(frame, **keywords):
    from pyspark.sql import SparkSession

    found = on_spark.evaluate(SparkSession.active().createDataFrame(mixed(frame)).repartition(2), **keywords)
    assert found.qid.tolist() == sorted(found.qid.tolist())
    return found


PLACES = {
    "batches": by_batches,
    "grouped batches": by_grouped_batches,
    "spark": by_spark,
}


ON_SPARK = pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.xdist_group("spark")])


@pytest.fixture(params=[ON_SPARK if name == "spark" else name for name in PLACES])
def place(request, monkeypatch):
    """A way to evaluate a frame."""
    monkeypatch.setattr(batch_validator, "COLLECTED_ROWS", 1)  # batches evaluate queries as soon as they end
    if request.param == "spark":
        request.getfixturevalue("spark")
    return PLACES[request.param]


def check(place, frame, *, sample_weight=None, **keywords):
    """All values and fields equal those in memory, bit for bit, except for the order of queries."""
    y_true = labels_in(frame)
    weight = {} if sample_weight is None else {"sample_weight": frame[sample_weight]}
    expected = evaluate(frame[y_true], frame.score, qid=frame.qid, **keywords, **weight)
    found = place(frame, y_true=y_true, **keywords, **({"sample_weight": sample_weight} if weight else {}))
    order = [np.argsort(result.qid) for result in (found, expected)]
    assert found.qid[order[0]].tolist() == expected.qid[order[1]].tolist()
    assert found.per_query.keys() == expected.per_query.keys()
    for name, values in expected.per_query.items():
        assert found.per_query[name][order[0]].tobytes() == values[order[1]].tobytes(), name
    for of_rows in ("n_documents", "weight"):
        pair = [getattr(result, of_rows) for result in (found, expected)]
        assert (pair[0] is None) == (pair[1] is None)
        assert pair[0] is None or pair[0][order[0]].tolist() == pair[1][order[1]].tolist()
    assert found.mean() == pytest.approx(expected.mean(), rel=1e-13, abs=0, nan_ok=True)
    assert found.n_undefined == expected.n_undefined
    assert found.meaning == expected.meaning
    return found


# --- the laws ------------------------------------------------------------------------------------------------


@each_kind_of_data
def test_every_metric(place, metrics):
    specs = [parse_metric(m.name, **({"k": 5} if m.has_cutoff else {}), **tie_policy(m)) for m in metrics]
    check(place, frame_of(in_one_order(rough_data_for(metrics[0]))), metrics=specs)


def test_places_with_nan_or_unretrieved_in_some_batches(place):
    """Only some batches have NaN labels, and only some have scores of -inf."""
    data = make()
    rows = np.random.default_rng(0).random(len(data.qid)) < 0.02
    data = data.with_label(rows, np.nan).with_score(np.where(np.roll(rows, 9), -np.inf, data.y_score))
    names = ["ndcg@10", "map", "bpref", "judged@5", "auc"]
    asked = {f"{name} {way}": parse_metric(name, unjudged=way) for name in names for way in ("nonrelevant", "drop")}
    found = check(place, frame_of(data), metrics=asked)
    assert found.n_undefined["map drop"] > 0


KEYWORDS = {
    "undefined": {"replace_undefined_by": np.nan},
    "geometric": {"average": "geometric"},
    "geometric of defined ones": {"average": "geometric", "replace_undefined_by": np.nan},
    "no policy": {"ties": "worst"},
    "gain of a mapping": {"gain": {0: 0, 1: 1, 2: 3, 3: 7, 4: 20}},
    "gain of a function": {"gain": lambda label: label**2},
    "discount of a function": {"discount": lambda rank: 1 / np.sqrt(rank)},
    "discount of an array": {"discount": 1 / np.arange(1.0, 14)},
}


def test_places_with_keywords(place):
    """All metrics in one call."""
    takes = {"gain": ["ndcg@5", "ndcg"], "discount": ["ndcg@5", "ndcg"]}
    asked = {
        f"{name}, {what}": parse_metric(name, **keywords)
        for what, keywords in KEYWORDS.items()
        for name in takes.get([*keywords][0], ["ndcg@5", "ndcg", "map"])
    }
    check(place, frame_of(make()), metrics=asked)


def test_a_convention(place):
    check(place, frame_of(make()), metrics=["ndcg@5", "map"], convention="catboost")


@pytest.mark.parametrize("average", ["macro", "micro"])
def test_places_with_weights(place, average):
    """Some batches have weights of 0."""
    data = make()
    weight = np.random.default_rng(3).random(200)[data.qid + 5] * (data.qid >= 80)
    names = ["p@5", "auc", "rmse", "f@5"]
    asked = {f"{name} {of}": parse_metric(name, replace_undefined_by=of) for name in names for of in (0.0, np.nan)}
    check(place, frame_of(data, w=weight), sample_weight="w", metrics=asked, average=average)


def test_own_functions(place):
    metrics = {"best": lambda y, s: y[np.argmax(s)] if len(y) > 1 else np.nan, "nDCG": "ndcg@5"}
    check(place, frame_of(make()), metrics=metrics)


def test_numbers_of_other_types(place):
    frame = frame_of(make())
    check(place, frame.assign(label=frame.label.astype(np.int8), score=frame.score.astype(np.float32)), metrics="ndcg")


IDS = {
    "narrow": lambda q: q.astype(np.int16),
    "floats": lambda q: q / 7,
    "zeros": lambda q: np.where(np.arange(len(q)) % 2, -1.0, 1.0) * np.maximum(q - 20, 0),  # -0.0 equals 0.0
    "text": lambda q: np.array([f"q{i * i}" for i in q.tolist()], dtype=object),
    "bool": lambda q: q > 80,
}


@pytest.mark.filterwarnings("ignore:A boolean is no id:sklearn_rank.exceptions.RankingWarning")
@pytest.mark.parametrize("ids", IDS)
def test_places_with_ids(place, ids):
    data = make()
    frame = frame_of(data)
    frame["qid"] = IDS[ids](data.qid)
    frame = frame.sort_values(["score", "label"], ascending=[False, True], kind="stable")
    check(place, frame.sort_values("qid", kind="stable"), metrics=["ndcg@10", "map"])


def test_places_with_empty_batches(place):
    """A single query leaves most batches empty."""
    check(place, frame_of(Data(np.array([1.0, 0.0]), np.array([2.0, 1.0]), np.array([4, 4]))), metrics="mrr")
