"""Drawn legitimate calls raise no warning: judgments of many kinds, runs of many qualities, at many entry points."""

import numpy as np
from misuse_cases import seen

from sklearn_rank import RankingAccumulator, compare_systems, evaluate, evaluate_run, evaluate_table
from sklearn_rank.io import join

METRICS = ["map", "ndcg@10", "mrr", "p@5", "recall@100", "err(max_grade=31)"]


def drawn(seed):
    """Judgments, a run of one system and a run of another, as dictionaries."""
    rng = np.random.default_rng(seed)
    n_queries, n = int(rng.choice([1, 3, 15, 30, 60])), int(rng.choice([3, 5, 10, 40]))
    top = int(rng.choice([1, 2, 4, 10]))
    skill, first = rng.choice([0, 0.3, 1, 3]), int(rng.choice([0, 1, 10**6, 10**12]))
    kind = rng.choice(["all", "positives", "one", "pool"])
    judged, runs = {}, ({}, {})
    for q in range(first, first + n_queries):
        ids = [int(d) for d in rng.choice(5000, n, replace=False) + first]
        grade = rng.binomial(top, rng.choice([0.1, 0.3, 0.5]), n)
        # Every list has a document that is not relevant.
        grade[0] = 0
        if kind == "one":
            grade = (np.arange(n) == 1).astype(int)
        kept = grade > 0 if kind in ("positives", "one") else rng.random(n) < (0.8 if kind == "pool" else 1)
        kept[0] |= kind == "pool"
        judged[q] = {d: int(g) for d, g, is_kept in zip(ids, grade, kept, strict=True) if is_kept} or {ids[0]: 1}
        for run in runs:
            score = skill * grade + rng.normal(size=n)
            depth = n if seed % 3 else max(n // 2, 3)
            order = np.argsort(-score)[:depth]
            run[q] = {ids[i]: float(score[i]) for i in order}
    return judged, *runs


def message(seed):
    """What a call warns of."""
    judged, run, other = drawn(seed)
    call = seed % 5
    data = join(judged, run)
    columns = {"y_true": data.y_true, "y_score": data.y_score, "qid": np.asarray(data.qid)}
    table = dict(zip(("label", "score", "qid"), columns.values(), strict=True))
    common = {"metrics": METRICS, "unjudged": "nonrelevant"}
    told = [
        lambda: evaluate_run(judged, run, metrics=METRICS),
        lambda: compare_systems(judged, {"a": run, "b": other}, metrics=METRICS[: 1 + seed % 6]),
        lambda: evaluate(**columns, **common),
        lambda: evaluate_table(table, **common),
        lambda: RankingAccumulator(**common).update(*columns.values()).compute(),
    ][call]
    names, error = seen(told)
    return f"{names} {error}" if names or error and len(judged) > 1 else ""


def test_drawn_legitimate_calls():
    assert [told for seed in range(120) if (told := message(seed))] == []
