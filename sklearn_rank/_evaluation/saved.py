"""Evaluations as words and arrays, to be saved and loaded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._evaluation.given_values import GivenValues
from sklearn_rank._evaluation.kept_data import with_counts
from sklearn_rank._evaluation.references import References, ValuesByMetric, means_of
from sklearn_rank._metric.spec import adjusted_meaning
from sklearn_rank._utils.storage import Arrays, check_saved


def words_and_arrays(result: Any) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Words and arrays of an evaluation."""
    means, source, kept = result.mean(), result._kept_data, result._kept_references
    words: dict[str, Any] = {
        "metrics": [
            {"name": name, "mean": means[name], "meaning": values.meaning, "average": values.average_kind,
             "greater_is_better": values.greater_is_better, "is_binary": result.is_binary[name]}
            for name, values in result._metric_values.items()
        ],
        "attributes": [*result.attributes], "remarks": [*result._remarks], "cut_at": result._cut_at,
    }  # fmt: skip
    if result.run_means:
        words["run_means"] = {name: [*means] for name, means in result.run_means.items()}
    more = {
        "n_documents": source.known_documents,
        "n_retrieved": source.n_retrieved,
        "weight": result.weight,
        "label_fingerprints": source.label_fingerprints,
        "ranking_fingerprints": source.ranking_fingerprints,
        "clusters": result.clusters,
        **{f"attribute{i}": values for i, values in enumerate(result.attributes.values())},
    }
    if result.run_values:
        more["run_values"] = np.stack([result.run_values[name] for name in result._metric_values])
    arrays = {"qid": result.qid, **_stacked(result._metric_values), **{n: x for n, x in more.items() if x is not None}}
    if result.judged.keys() >= result._metric_values.keys():
        judged = np.stack([result.judged[name] for name in result._metric_values])
        words |= {"is_all_judged": bool((judged == 1).all()), "judges_both": result.judges_both}
        arrays |= {} if words["is_all_judged"] else {"judged": judged}
    if result.settled:
        words["settled"] = [*result.settled]
        arrays["settled"] = np.stack([*result.settled.values()])
    if result._column_fingerprints:
        words["columns"] = [*result._column_fingerprints]
        arrays["columns"] = np.stack([*result._column_fingerprints.values()])
    if kept is not None:
        words["references"] = {kind: means_of(of_kind, result.weight) for kind, of_kind in kept._asdict().items()}
        for kind, of_kind in kept._asdict().items():
            if of_kind:
                arrays |= {f"{kind}_{part}": array for part, array in _stacked(of_kind).items()}
    return words, arrays


def _stacked(values: ValuesByMetric) -> dict[str, NDArray[Any]]:
    return {
        "values": np.stack([of_metric.values()[:, 0] for of_metric in values.values()]),
        "undefined": np.stack([of_metric.undefined[:, 0] for of_metric in values.values()]),
    }


def given_values(words: Mapping[str, Any], arrays: Arrays) -> dict[str, Any]:
    """Arguments of `Evaluation.from_values` for words and arrays that were saved, which are checked."""
    metrics, _ = check_saved(words, arrays)
    names = [metric["name"] for metric in metrics]

    def by_metric(key: str) -> dict[str, Any]:
        return {metric["name"]: metric[key] for metric in metrics if key in metric}

    return {
        "qid": arrays["qid"],
        "values": dict(zip(names, arrays["values"], strict=True)),
        "undefined": dict(zip(names, arrays["undefined"], strict=True)),
        "means": by_metric("mean"),
        "by": {name: arrays[f"attribute{i}"] for i, name in enumerate(words.get("attributes", []))},
        **{key: by_metric(key) for key in ("meaning", "average", "greater_is_better", "is_binary")},
        **{name: arrays.get(name) for name in ("n_documents", "weight", "label_fingerprints", "clusters")},
    }


def with_saved_counts(result: Any, words: Mapping[str, Any], arrays: Arrays) -> Any:
    """A result of given values with what was saved of its judgments, its ranked lists and its runs."""
    known, names = dict[str, Any](), [metric["name"] for metric in words["metrics"]]
    if "judges_both" in words:
        judged = np.ones(arrays["values"].shape) if words["is_all_judged"] else arrays["judged"]
        known |= {"known_judged": dict(zip(names, judged, strict=True)), "judges_both": words["judges_both"]}
    if "settled" in words:
        known["known_settled"] = dict(zip(words["settled"], arrays["settled"], strict=True))
    if "columns" in words:
        known["known_columns"] = dict(zip(words["columns"], arrays["columns"], strict=True))
    if "run_values" in arrays:
        known["run_values"] = dict(zip(names, arrays["run_values"], strict=True))
    return with_counts(
        result, ranking_fingerprints=arrays.get("ranking_fingerprints"), n_retrieved=arrays.get("n_retrieved"),
        known_remarks=tuple(map(str, words.get("remarks", []))), cut_at=words.get("cut_at"),
        run_means={name: tuple(map(float, means)) for name, means in words.get("run_means", {}).items()}, **known,
    )  # fmt: skip


def given_references(words: Mapping[str, Any], arrays: Arrays, by_score: Mapping[str, Any]) -> References:
    """References of words and arrays that were saved, and checked, with the values by score."""

    def of(kind: str) -> dict[str, GivenValues]:
        means, listed = words["references"][kind], {}
        if not means:
            return {}
        rows = zip(means.items(), arrays[f"{kind}_values"], arrays[f"{kind}_undefined"], strict=True)
        for (name, mean), values, undefined in rows:
            listed[name] = replace(by_score[name], of_queries=values, undefined=undefined[:, None], mean=float(mean))
            if kind == "adjusted":
                meaning = adjusted_meaning(by_score[name].meaning)
                listed[name] = replace(listed[name], meaning=meaning, greater_is_better=True, is_binary=False)
        return listed

    return References(*map(of, References._fields))
