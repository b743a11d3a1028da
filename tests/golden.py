"""Bits of all metrics on lists of many shapes, written to a file, to check that a change moves no bit.

    python -m tests.golden write FILE
    python -m tests.golden compare FILE [CASE ...] [--n-jobs 2]

Every value is computed by the public API. `compare` prints each key whose bits differ, and its exit status is then 1.
An error counts as a value: its type, without the message.
"""

import argparse
import hashlib
import inspect
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from sklearn_rank import evaluate, get_metric_names, parse_metric, prepare

METRICS = {name: parse_metric(name).metric.function for name in get_metric_names()}
TAKES = {name: frozenset(inspect.signature(function).parameters) for name, function in METRICS.items()}
TIES = "average", "stable", "worst", "best"
CUTOFFS = [1, 2, 5, 10, 40, 1000]
FEW_METRICS = "ndcg", "map", "mrr", "precision", "auc", "err"
"""Metrics of the list of a million rows."""

KEYWORDS = {
    "gain": ["exp2", "linear", "binary", [0, 1, 1, 5, 5.5], {0: 0, 1: 0.5, 2: 1, 3: 4, 4: 4}],
    "discount": ["log2", "jarvelin", "reciprocal", "flat", [1, 0.9, 0.5, 0.5, 0.1, 0]],
    "denominator": ["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"],
    "precision_at": ["threshold"],
    "no_relevant": ["undefined"],
    "ranks": ["relevant"],
    "recall": [0, 0.35, 0.7, 1, "11pt"],
    "rounding": ["nearest", "cut"],
    "beta": [2, 0.5],
    "p": [0.5, 0.95],
    "max_grade": [5, 31],
    "stop": ["label"],
    "decay": [0.5, 1],
    "alpha": [0, 0.3, 1],
    "max_fpr": [0.1, 0.5],
    "tied_curve": ["straight"],
    "variant": ["a"],
    "threshold": [0.5, -1.0],
    "min_relevance": [2, 0.5, 0],
    "negative": ["unjudged"],
    "replace_undefined_by": [float("nan"), 0.25],
    "average": ["micro", "geometric"],
    "convention": ["sklearn", "trec_eval", "ranx", "lightgbm", "xgboost", "catboost", "torchmetrics", "tf_ranking"],
}
"""Values that keywords are tried with, one at a time, on the cases of `TRIED_WITH_KEYWORDS`."""

TRIED_WITH_KEYWORDS = "mslr", "tiny", "ties", "recommender", "unretrieved", "subtopics ties"


# --- lists ---------------------------------------------------------------------------------------------------


def queries(sizes):
    """Query of each row."""
    return np.repeat(np.arange(len(sizes)), sizes)


def grades(rng, n):
    """Grades with the distribution of MSLR-WEB30K."""
    return rng.choice(5, size=n, p=[0.52, 0.32, 0.13, 0.02, 0.01]).astype(float)


def positives(rng, sizes):
    """One or two relevant documents per list."""
    label, starts = np.zeros(sum(sizes)), np.cumsum(sizes) - sizes
    for start, size in zip(starts, sizes, strict=True):
        label[start + rng.choice(size, size=min(size, rng.integers(1, 3)), replace=False)] = 1
    return label


def cases():
    """Name, labels, scores and keywords of each case."""
    rng = np.random.default_rng(20)

    def case(name, y_true, y_score, qid, **keywords):
        return name, y_true, y_score, {"qid": qid, **keywords}

    qid = queries([120] * 60)
    n = len(qid)
    yield case("mslr", grades(rng, n), rng.normal(size=n), qid)
    yield case("mslr narrow", grades(rng, n).astype(np.uint8), rng.normal(size=n).astype(np.float32), qid)
    yield case("ties", grades(rng, n), rng.integers(0, 12, size=n) / 3, qid)
    yield case("grades31", rng.integers(0, 31, size=n), rng.normal(size=n), qid, max_grade=30)
    yield case("grades31 ties", rng.integers(0, 31, size=n), rng.integers(0, 9, size=n), qid, max_grade=30)
    yield case("no grades", rng.random(n), rng.normal(size=n), qid)
    yield case("no grades ties", rng.normal(size=n) * 2, rng.integers(0, 9, size=n) / 7, qid)
    yield case("weights", grades(rng, n), rng.normal(size=n).round(1), qid, sample_weight=rng.random(60)[qid])
    label = np.where(rng.random(n) < 0.2, np.nan, grades(rng, n))
    for policy in (None, "nonrelevant", "drop"):
        yield case(f"unjudged {policy}", label, rng.normal(size=n).round(1), qid, unjudged=policy)
    score = np.where(rng.random(n) < 0.3, -np.inf, rng.normal(size=n).round(1))
    yield case("unretrieved", grades(rng, n), score, qid)
    yield case("nothing retrieved", grades(rng, n), np.where(qid % 3, score, -np.inf), qid)
    yield case("none relevant", np.where(qid % 2, grades(rng, n), 0), rng.normal(size=n), qid)
    yield case("negative", grades(rng, n) - 2, rng.normal(size=n).round(1), qid)
    yield case("tie_break", grades(rng, n), rng.integers(0, 5, size=n), qid, tie_break=rng.permutation(n))

    qid = queries(rng.integers(2, 10, size=800))
    n = len(qid)
    yield case("tiny", grades(rng, n), rng.normal(size=n), qid)
    yield case("tiny ties", grades(rng, n), rng.integers(0, 3, size=n), qid)
    yield case("ten rows", [0, 1, 0, 2, 0, 4, 0, 0, 3, 1], [0.1, 0.4, 0.4, 0.9, -1, 0.2, 0.2, 3, 5, 0], [7] * 10)

    qid = queries(rng.integers(1, 61, size=100))
    n = len(qid)
    yield case("constant", grades(rng, n), np.ones(n), qid)
    order = rng.permutation(n)
    ids = np.array([f"query {i % 37}-{i}" for i in range(100)])
    yield case("shuffled", grades(rng, n), rng.normal(size=n), rng.permutation(100)[qid][order])
    yield case("text ids", grades(rng, n), rng.normal(size=n).round(1), ids[qid][order])
    yield case("object ids", grades(rng, n), rng.normal(size=n).round(1), list(ids[qid][order]))

    n = sum(sizes := [1700] * 12)
    yield case("recommender", positives(rng, sizes), rng.normal(size=n), queries(sizes))
    yield case("recommender ties", positives(rng, sizes), rng.normal(size=n).round(1), queries(sizes))

    n = sum(sizes := [3, 65_537, 40])
    yield case("65537", grades(rng, n), rng.normal(size=n), queries(sizes))
    yield case("65537 ties", grades(rng, n), rng.integers(0, 3000, size=n), queries(sizes))

    label, score, mask = grades(rng, 4000).reshape(100, 40), rng.normal(size=(100, 40)), rng.random((100, 40)) < 0.8
    mask[:, 0] = True
    yield "two-dimensional", label, score, {}
    yield "mask", label, score.round(1), {"mask": mask}

    qid = queries(rng.integers(1, 41, size=60))
    n = len(qid)
    topics = (rng.random((n, 4)) < 0.2).astype(float)
    yield case("subtopics", topics, rng.normal(size=n), qid)
    yield case("subtopics ties", topics, rng.normal(size=n).round(1), qid)
    yield case("subtopics grades", topics * grades(rng, 4 * n).reshape(n, 4), rng.normal(size=n).round(1), qid)

    n = 1_000_000
    yield case("million", grades(rng, n), rng.normal(size=n), np.zeros(n, dtype=int))
    yield case("million ties", grades(rng, n), rng.integers(0, 100_000, size=n), np.zeros(n, dtype=int))


# --- values --------------------------------------------------------------------------------------------------


def bits(make):
    """Number of values, the hash of all their bits, and the first three; or the type of the error."""
    try:
        made = make()
    except Exception as error:
        return type(error).__name__
    values = np.asarray([*made.values()] if isinstance(made, dict) else made, dtype=np.float64)
    values = np.where(np.isnan(values), np.nan, values)  # all NaNs are equal
    first = " ".join(map(float.hex, values.ravel()[:3].tolist()))
    return f"{values.size} {hashlib.sha256(values.tobytes()).hexdigest()[:20]} {first}"


def everything(result):
    """Values of each query, and then the means."""
    return np.concatenate([*map(np.ravel, result.per_query.values()), [*result.mean().values()]])


def of_one_metric(name, y_true, y_score, given, n_jobs):
    """Ways to compute a metric, with the bits of each."""
    function = METRICS[name]
    keywords = {word: value for word, value in given.items() if word in TAKES[name]} | {"n_jobs": n_jobs}
    fixed = {word: value for word, value in keywords.items() if word != "tie_break"}

    def prepared():
        prepared = prepare(y_true, metrics=name, **fixed)
        turned = np.asarray(y_score)[..., ::-1]
        return [prepared(y_score), prepared(turned), prepared(y_score)]

    yield "evaluate", bits(lambda: everything(evaluate(y_true, y_score, metrics=name, **keywords)))
    yield "mean", bits(lambda: function(y_true, y_score, **keywords))
    yield "per query", bits(lambda: function(y_true, y_score, average=None, **keywords))
    yield "prepare", bits(prepared)
    if "k" in TAKES[name]:
        yield "mean@10", bits(lambda: function(y_true, y_score, k=10, **keywords))
        yield "mean@k", bits(lambda: function(y_true, y_score, k=CUTOFFS, **keywords))
        yield "per query@k", bits(lambda: function(y_true, y_score, k=CUTOFFS, average=None, **keywords))


def of_all_metrics(defined, y_true, y_score, given, n_jobs):
    """Ways to ask for many metrics at the same time, each whole and at a cutoff, and the bits that each gives."""
    names = [f"{name}{k}" for name in defined for k in (["", "@10"] if "k" in TAKES[name] else [""])]
    keywords = {word: value for word, value in given.items() if any(word in TAKES[name] for name in defined)}
    asked = {"metrics": names, "n_jobs": n_jobs, **keywords}
    fixed = {word: value for word, value in asked.items() if word != "tie_break"}
    yield "evaluate", bits(lambda: everything(evaluate(y_true, y_score, **asked)))
    yield "prepare", bits(lambda: prepare(y_true, **fixed)(y_score))


def with_keywords(name, y_true, y_score, given):
    """Bits with each value of each keyword that the metric takes."""
    for word, values in KEYWORDS.items():
        for value in values if word in TAKES[name] else ():
            keywords = {w: v for w, v in given.items() if w in TAKES[name]} | {word: value}
            for cutoff in [{}, {"k": CUTOFFS}] if "k" in TAKES[name] else [{}]:
                key = f"{word}={value}{'@k' if cutoff else ''}"
                yield key, bits(lambda c=cutoff, k=keywords: METRICS[name](y_true, y_score, **c, **k))


def golden(chosen, n_jobs):
    """All bits, by case, tie policy, metric and way."""
    found = {}
    for case, y_true, y_score, given in cases():
        if chosen and case not in chosen:
            continue
        for ties in TIES:
            of_case, defined = given | {"ties": ties}, []
            for name in FEW_METRICS if case.startswith("million") else METRICS:
                for way, value in of_one_metric(name, y_true, y_score, of_case, n_jobs):
                    found[f"{case} | {ties} | {name} | {way}"] = value
                    defined += [name] * (way == "evaluate" and not value.endswith("Error"))
                if case in TRIED_WITH_KEYWORDS:
                    for way, value in with_keywords(name, y_true, y_score, of_case):
                        found[f"{case} | {ties} | {name} | {way}"] = value
            for way, value in of_all_metrics(defined, y_true, y_score, of_case, n_jobs):
                found[f"{case} | {ties} | together | {way}"] = value
    return found


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.golden", description=__doc__.split("\n")[0])
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("file", type=Path)
    parser.add_argument("case", nargs="*", help="cases to compare; default: all")
    parser.add_argument("--n-jobs", type=int)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    found = golden(asked.case, asked.n_jobs)
    if asked.action == "write":
        asked.file.write_text(json.dumps(found, indent=0))
        return 0
    kept = json.loads(asked.file.read_text())
    kept = {key: value for key, value in kept.items() if not asked.case or key.partition(" | ")[0] in asked.case}
    different = [key for key in kept | found if kept.get(key) != found.get(key)]
    for key in different:
        print(f"{key}\n  was {kept.get(key)}\n  is  {found.get(key)}")
    print(f"{len(different)} of {len(kept | found)} differ")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
