"""Arrays of results cannot be written to, also of copies, pickles and files; arrays of the caller stay as they are."""

import copy
import inspect
import pickle
from collections.abc import Mapping

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import Ridge

import sklearn_rank.results
from sklearn_rank import (
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    parse_metric,
    prepare,
)
from sklearn_rank.datasets import make_ranking
from sklearn_rank.recommenders import exposure
from sklearn_rank.results import Comparison, Evaluation
from sklearn_rank.retrieval import threshold_curve
from sklearn_rank.stats import compare_judged, judge_agreement, judged_interval, no_worse

X, Y, QID = make_ranking(n_queries=40, random_state=0)
N = len({*QID.tolist()})
SYSTEMS = {"a": X[:, 0], "b": X[:, 1]}
JUDGED = {f"q{i}": {f"d{j}": (i * j) % 3 for j in range(8)} for i in range(9)}
RUNS = {name: {q: [*docs][::step] for q, docs in JUDGED.items()} for name, step in (("a", 1), ("b", -1))}


def arguments():
    """Arrays of a caller, by row."""
    rows = {"sample_weight": QID + 1.0, "by": {"size": QID % 3}, "clusters": QID % 7}
    return Y.astype(np.float64), {name: score.copy() for name, score in SYSTEMS.items()}, {"qid": QID.copy(), **rows}


def evaluation(**keywords):
    y_true, systems, rows = arguments()
    return evaluate(y_true, systems["a"], metrics=["ndcg@5", "map", "p@3"], **rows, **keywords)


def part(n):
    return evaluate(Y[:n], X[:n, 0], qid=QID[:n], metrics="map")


def of_values():
    ids = np.arange(4)
    more = {"n_documents": ids + 1, "weight": ids + 1.0, "label_fingerprints": ids.astype(np.uint32)}
    return Evaluation.from_values(ids, {"map": ids / 4}, by={"n": ids % 2}, clusters=ids, **more)


def fold_scores():
    seen = []
    RankingEvaluator("map", cv=3).cross_validate(Ridge(), X, Y, qid=QID, on_fold=seen.append)
    return seen[0]


def compared():
    return RankingEvaluator(["ndcg@5", "map"], cv=3).compare(
        {"flat": Ridge(alpha=1e9), "ridge": Ridge()}, X, Y, qid=QID, by={"size": QID % 3}, clusters=QID % 7
    )


def accumulated():
    accumulator = RankingAccumulator(["map"])
    accumulator.update(Y, X[:, 0], QID)
    return accumulator.compute()


TABLE = pd.DataFrame({"label": Y, "a": X[:, 0], "b": X[:, 1], "qid": QID})
RESULTS = {
    "Evaluation": evaluation,
    "Evaluation with chance": lambda: evaluation(chance=True),
    "Evaluation of values": of_values,
    "Evaluation of a run": lambda: evaluate_run(JUDGED, RUNS["a"], metrics="map"),
    "Evaluation of a table": lambda: evaluate_table(TABLE, y_score="a", metrics="map"),
    "Evaluation of batches": lambda: evaluate_table([TABLE], y_score="a", metrics="map"),
    "Evaluation of an accumulator": accumulated,
    "Evaluation of a subset": lambda: evaluation().subset(evaluation().qid[:3]),
    "Evaluation of labels prepared": lambda: prepare(Y, qid=QID, metrics=["map"]).evaluate(X[:, 0]),
    "Comparison": lambda: compare_systems(Y, SYSTEMS, qid=QID, metrics=["ndcg@5", "map"]),
    "Comparison of columns": lambda: compare_systems(TABLE, ["a", "b"], metrics=["map"]),
    "Comparison of folds": compared,
    "CrossValidation": lambda: RankingEvaluator(["map", "mse"], cv=3).cross_validate(Ridge(), X, Y, qid=QID),
    "Explanation": lambda: compare_systems(JUDGED, RUNS, metrics="map").explain("q1", new="b", old="a"),
    "Exposure": lambda: exposure(RUNS["a"], items=[f"d{j}" for j in range(9)], k=3, n_resamples=3),
    "FoldScores": fold_scores,
    "GateResult": lambda: no_worse(new=evaluation(), old=evaluation(), margin=0.1),
    "JudgeAgreement": lambda: judge_agreement(Y, Y + 0.0),
    "JudgedDifference": lambda: compare_judged(new=(part(200), part(len(Y))), old=(part(200), part(len(Y)))),
    "JudgedInterval": lambda: judged_interval(part(200), part(len(Y))),
    "MetricSpec": lambda: parse_metric("ndcg@5"),
    "PairedTest": lambda: compare_systems(Y, SYSTEMS, qid=QID, metrics="map").significance("map"),
    "PreparedMetrics": lambda: prepare(Y, qid=QID, metrics=["map"]),
    "Segments": lambda: evaluation().segments(),
    "Summary": lambda: compare_systems(Y, SYSTEMS, qid=QID, metrics="map").summary(),
    "Table": lambda: evaluation().summary(),
    "ThresholdCurve": lambda: threshold_curve(Y, X[:, 0], qid=QID),
}
OWN_ARRAYS = {
    "Evaluation",
    "Comparison",
    "CrossValidation",
    "Explanation",
    "Exposure",
    "JudgeAgreement",
    "ThresholdCurve",
}
"""Classes with arrays; the others have numbers and tables."""

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*(judged|same|random|equal|copies|evidence).*"),
    pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning"),
]


def arrays_in(x, path="result", seen=None):
    """Arrays in public attributes, entries, and results of methods without arguments, with their places."""
    calls, seen = seen is None, {} if seen is None else seen
    if isinstance(x, np.ndarray):
        yield path, x
    elif isinstance(x, pd.DataFrame):
        yield from ((f"{path}.{name}", column.to_numpy()) for name, column in x.items())
        yield f"{path}.index", x.index.to_numpy()
    elif id(x) not in seen:
        # The object is kept, so that no other gets its id.
        seen[id(x)] = x
        entries = x.items() if isinstance(x, Mapping) else enumerate(x) if isinstance(x, (list, tuple)) else ()
        for name, value in [*entries]:
            yield from arrays_in(value, f"{path}[{name!r}]", seen)
        if type(x).__module__.startswith("sklearn_rank.") and hasattr(x, "__dict__"):
            for name in {*dir(type(x)), *vars(x)}:
                if not name.startswith("_"):
                    yield from arrays_in(value_of(x, name, calls), f"{path}.{name}", seen)


def value_of(x, name, calls):
    """A public attribute, or what a method of the result itself returns without arguments; None without either."""
    try:
        value = getattr(x, name)
        if not callable(value):
            return value
        return value() if calls and inspect.ismethod(value) and value.__self__ is x and "save" not in name else None
    except (AttributeError, TypeError, ValueError):
        return None


def check(result, expects_arrays):
    found = [*arrays_in(result)]
    own = [array for path, array in found if ".to_frame" not in path]
    assert bool(own) == expects_arrays
    for path, array in found:
        if ".to_frame" not in path:
            assert not array.flags.writeable, path
            with pytest.raises(ValueError, match="read-only"):
                array.sort()
        elif array.flags.writeable:
            assert not any(np.shares_memory(array, one) for one in own), path


def test_a_result_of_each_class_is_made():
    made = {type(make()).__name__ for make in RESULTS.values()}
    assert made == {*sklearn_rank.results.__all__}


@pytest.mark.parametrize("name", RESULTS)
def test_arrays_of_results_are_read_only(name):
    check(RESULTS[name](), name.split()[0] in OWN_ARRAYS | {"MetricSpec"})


def dumped(mmap_mode):
    def again(result, path):
        joblib.dump(result, path)
        return joblib.load(path, mmap_mode=mmap_mode)

    return again


def saved(result, path):
    result.save(path)
    return type(result).load(path)


COPIES = {
    "copy": lambda result, path: copy.copy(result),
    "deepcopy": lambda result, path: copy.deepcopy(result),
    "pickle": lambda result, path: pickle.loads(pickle.dumps(result)),
    "pickle after use": lambda result, path: [*arrays_in(result)] and pickle.loads(pickle.dumps(result)),
    **{f"joblib {mode}": dumped(mode) for mode in (None, "r", "r+", "c")},
    "load": saved,
}


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", [name for name in RESULTS if name.split()[0] in OWN_ARRAYS])
def test_arrays_of_copied_results_are_read_only(way, name, tmp_path):
    result = RESULTS[name]()
    if way == "load" and not hasattr(result, "save"):
        assert not isinstance(result, (Evaluation, Comparison))
        return
    again = COPIES[way](result, tmp_path / "result")
    assert type(again) is type(result)
    assert repr(again).replace("memmap", "array") == repr(result)
    check(again, True)


def test_a_result_cannot_be_sorted_by_mistake():
    found = compare_systems(Y, SYSTEMS, qid=QID, metrics="map")
    before = str(found)
    with pytest.raises(ValueError, match="read-only"):
        found["a"].per_query["map"].sort()
    values = np.sort(found["a"].per_query["map"])
    assert values.flags.writeable
    assert str(found) == before


@pytest.mark.parametrize("one_row_each", [False, True])
@pytest.mark.parametrize("kind", ["evaluate", "compare_systems", "table", "accumulator"])
def test_arrays_of_the_caller_stay_writable_and_are_not_those_of_the_result(kind, one_row_each):
    y_true, systems, rows = arguments()
    rows["qid"] = np.arange(len(y_true)) if one_row_each else rows["qid"]
    rows["by"] = rows["qid"] % 3
    rows["clusters"] = rows["qid"] % 7
    rows["sample_weight"] = rows["qid"] + 1.0
    if kind == "evaluate":
        result = evaluate(y_true, systems["a"], metrics=["map"], **rows)
    elif kind == "compare_systems":
        result = compare_systems(y_true, systems, metrics=["map"], on_misuse="ignore", **rows)
    elif kind == "table":
        frame = pd.DataFrame({"label": y_true, **systems, **rows}, copy=False)
        names = {name: name for name in rows}
        result = compare_systems(frame, [*systems], metrics=["map"], on_misuse="ignore", **names)
        systems = {name: frame[name].to_numpy() for name in systems}
    else:
        accumulator = RankingAccumulator(["map"])
        accumulator.update(y_true, systems["a"], rows["qid"])
        result = accumulator.compute()
    found = [array for path, array in arrays_in(result) if ".to_frame" not in path]
    for array in (y_true, *systems.values(), *rows.values()):
        assert array.flags.writeable or kind == "table"
        assert not any(np.shares_memory(array, one) for one in found)


def test_values_of_the_caller_stay_writable():
    ids, items, values, grades = np.arange(4), np.array(["x", "y"]), np.arange(4) / 4, Y.astype(np.float64)
    more = {"n_documents": ids + 1, "weight": ids + 1.0, "label_fingerprints": ids.astype(np.uint32)}
    result = Evaluation.from_values(ids, {"map": values}, by=ids, clusters=ids, **more)
    shown = exposure({"u": ["x"], "v": ["y"]}, items=items, k=1)
    agreement = judge_agreement(grades, grades + 0.0)
    found = [array for one in (result, shown, agreement) for _, array in arrays_in(one)]
    for array in (ids, items, values, grades, *more.values()):
        assert array.flags.writeable
        assert not any(np.shares_memory(array, one) for one in found)
