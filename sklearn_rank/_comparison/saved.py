"""Comparisons as words and arrays, to be saved and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._comparison.compare_all import check_plan
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._utils.storage import Arrays, check, check_saved, ending, names, part


def words_of_comparison(comparison: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Words and arrays of a comparison."""
    results, fold_means, n_queries = comparison.results, comparison.fold_means, comparison.n_queries
    metrics = [*next(iter(results.values())).meaning]
    words: dict[str, Any] = {
        "models": [*(fold_means or results)], "metrics": metrics, "n_queries": n_queries,
        "baseline": comparison.baseline, "test": comparison.test, "correction": comparison.correction,
        "frozen": [*comparison.frozen], "results": {},
        "failures": {model: [*errors.items()] for model, errors in comparison.failures.items()},
    }  # fmt: skip
    of_folds = [[means[metric] for metric in metrics] for means in fold_means.values()]
    arrays = {
        "fold_means": np.reshape(of_folds, (len(of_folds), len(metrics), len(n_queries))),
        "fit_time": np.reshape([*comparison.fit_time.values()], (len(of_folds), len(n_queries))),
    }
    for i, (model, result) in enumerate(results.items()):
        words["results"][model], of_model = result._to_saved()
        arrays |= {f"{name} {i}": array for name, array in of_model.items()}
        if model in comparison.y_score:
            arrays[f"y_score {i}"] = comparison.y_score[model]
    return words, arrays


def given_parts(words: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Arguments of `Comparison` for words and arrays that were saved, which are checked."""
    models, metrics, n_queries, failures = _checked(words, arrays)
    results, y_score = dict[str, Evaluation](), {}
    for i, (model, meta) in enumerate(words["results"].items()):
        of_model = ending(arrays, f" {i}")
        results[model] = Evaluation._from_saved(meta, of_model)
        first = next(iter(results.values()))
        if not np.array_equal(results[model].qid, first.qid) or results[model].meaning != first.meaning:
            raise ValueError("results must be of the same queries and metrics")
        if "y_score" in of_model:
            y_score[model] = of_model["y_score"]
    with_folds = models if n_queries else []
    folds = zip(with_folds, arrays["fold_means"], strict=True)
    return {
        "results": results, "y_score": y_score, "failures": failures, "n_queries": n_queries,
        "fold_means": {model: dict(zip(metrics, means, strict=True)) for model, means in folds},
        "fit_time": dict(zip(with_folds, arrays["fit_time"], strict=True)),
        "frozen": tuple(names(words, "frozen") if words.get("frozen") else ()),
        **{name: words[name] for name in ("baseline", "test", "correction")},
    }  # fmt: skip


def _checked(
    words: Mapping[str, Any], arrays: Arrays
) -> tuple[list[str], list[str], list[tuple[int, int]], dict[str, dict[int, str]]]:
    """Check the header of a saved comparison; return models, metrics, queries of the folds, and failures."""
    models, metrics, results = names(words, "models"), names(words, "metrics"), part(words, "results", dict)
    failures = {model: dict(map(tuple, errors)) for model, errors in part(words, "failures", dict).items()}
    n_queries = [(int(n_train), int(n_test)) for n_train, n_test in part(words, "n_queries", list)]
    if {*results} | {*failures} != {*models} or part(words, "baseline", str) not in models:
        raise ValueError("results and failures must be of the models")
    if any([m["name"] for m in part(result, "metrics", list)] != metrics for result in results.values()):
        raise ValueError("results must have the same metrics")
    check_plan("Comparison", test=part(words, "test", str), correction=words["correction"])
    n_models = len(models) if n_queries else 0
    check(arrays, "fold_means", (n_models, len(metrics), len(n_queries)), "f")
    check(arrays, "fit_time", (n_models, len(n_queries)), "f")
    of_models = {model: ending(arrays, f" {i}") for i, model in enumerate(results)}
    n_compared: int | None = None
    for model, of_model in of_models.items():
        _, n_compared = check_saved(results[model], of_model, n_compared)
    with_scores = [of_model for of_model in of_models.values() if "y_score" in of_model]
    with_one_run = sum(not result.get("run_means") for result in results.values())
    if len(with_scores) not in (0, with_one_run):
        raise ValueError("scores must be of all results of one run or of none")
    if with_scores:
        # All models have the same number of scores for each row, at least one.
        n_rows, *n_scores = with_scores[0]["y_score"].shape
        for of_model in with_scores:
            check(of_model, "y_score", (n_rows, *n_scores[:1]), "f")
    return models, metrics, n_queries, failures
