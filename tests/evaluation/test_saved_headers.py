"""Saved results whose arrays do not fit together."""

import json

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, evaluate
from sklearn_rank.datasets import make_ranking

X, Y, QID = make_ranking(n_queries=40, random_state=0)


def evaluation():
    of_rows = {"sample_weight": QID + 1.0, "by": QID % 7, "clusters": QID % 7}
    return evaluate(Y, X[:, 0], qid=QID, metrics=["ndcg@5", "map"], **of_rows)


def comparison():
    return RankingEvaluator(["ndcg@5", "map"], cv=3).compare({"a": Ridge(), "b": Ridge(alpha=9)}, X, Y, qid=QID)


def evaluation_of_some_judged():
    labels = np.where(np.arange(len(Y)) % 9, Y, np.nan)
    return evaluate(labels, X[:, 0], qid=QID, metrics=["ndcg@5", "map"], unjudged="nonrelevant")


RESULTS = {"Evaluation": evaluation, "some are judged": evaluation_of_some_judged, "Comparison": comparison}


@pytest.mark.parametrize("name", RESULTS)
def test_arrays_of_other_lengths_are_refused(name, tmp_path):
    """Each array in turn has fewer entries than the others, or more."""
    result = RESULTS[name]()
    result.save(tmp_path / "saved")
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    # Rows match those of other models; queries of a single model match its number of queries.
    tried = {one: array for one, array in arrays.items() if one != "meta"}
    for one, array in tried.items():
        axis = 0 if one.startswith("y_score") else -1
        for n in (-1, 1) if array.size else (1,):
            one_more = array.take([0], axis) if array.size else np.zeros(1)
            other = np.delete(array, 0, axis) if n < 0 else np.append(array, one_more, axis)
            np.savez(tmp_path / "made.npz", **(arrays | {one: other}))
            with pytest.raises(ValueError, match="The file must hold a saved .*shape"):
                type(result).load(tmp_path / "made.npz")
    assert tried


def test_results_of_a_comparison_have_equal_numbers_of_queries(tmp_path):
    comparison().save(tmp_path / "saved")
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    kept = {"y_score 1", "fold_means", "fit_time", "meta"}
    longer = {one: a[..., :-1] if one.endswith(" 1") and one not in kept else a for one, a in arrays.items()}
    np.savez(tmp_path / "made.npz", **longer)
    with pytest.raises(ValueError, match="qid must have shape"):
        type(comparison()).load(tmp_path / "made.npz")


@pytest.mark.parametrize("model", ["a", "b"])
def test_each_result_of_a_comparison_has_its_metrics(model, tmp_path):
    comparison().save(tmp_path / "saved")
    with np.load(tmp_path / "saved") as file:
        arrays = dict(file)
    meta = json.loads(str(arrays["meta"]))
    meta["results"][model]["metrics"].reverse()
    np.savez(tmp_path / "made.npz", **(arrays | {"meta": np.array(json.dumps(meta))}))
    with pytest.raises(ValueError, match="results must have the same metrics"):
        type(comparison()).load(tmp_path / "made.npz")
