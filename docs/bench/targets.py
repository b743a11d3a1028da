"""The floors of speed and memory, and whether they are held. They are of two threads and of all rows."""

from __future__ import annotations

from collections.abc import Mapping

from tables import Judged

LEAST = 1.0
"""How many times as long as ours the fastest peer takes at least, without another target."""

OF_SHAPES = {  # nDCG@10 and MAP
    "mslr": (5.0, 3.0),
    "tiny": (2.0, 3.0),
    "constant": (1.7, 3.0),
    "ties": (4.0, 2.3),
    "recommender": (5.0, 4.0),
    "huge": (3.0, 3.0),
}
RATIOS = {
    (shape, metric): floor
    for shape, floors in OF_SHAPES.items()
    for metric, floor in zip(("ndcg@10", "map"), floors, strict=True)
}
"""The same of a shape and a metric, against the faster of LightGBM and XGBoost."""

MEMORY = {("mslr", "ndcg@10"): 0.2, ("mslr", "map"): 0.29, ("tiny", "ndcg@10"): 0.71, ("tiny", "map"): 0.69}
MEMORY |= {("shuffled", "ndcg@10"): 1.73, ("shuffled", "map"): 1.73}
"""Bytes that a call on two threads adds at its peak at most, over the bytes of its three arrays."""

WAITS = {
    "small run, shell": ("ir_measures", 2.9),
    "run, lists": ("pytrec_eval", 1.9),
    "run, dictionaries": ("pytrec_eval", 1.9),
    "exposure of lists": ("RecTools", 1.0),
    "compare_all": ("ttest_rel", 1.8),
    "vectors": ("scikit-learn", 0.95),
    "vectors, few queries": ("scikit-learn", 1.3),
    "Hamming": ("NumPy", 2.9),
    "lists of one": ("lists of two", 1.8),
    "labels all 0": ("lists of two", 0.6),
    "save": ("np.savez", 11.5),
    "save_html": ("json", 4.4),
    "bootstrap": ("SciPy", 1.25),
    "wilcoxon": ("SciPy", 1.35),
    "ndcg_score, 600 rows": ("scikit-learn", 0.09),
}
"""Peer of a row of waits.py, and the processor time that ours takes at most, over the time of the peer."""


def judge_wait(name: str, ratio: float) -> Judged:
    """A row of waits.py."""
    peer, most = WAITS[name]
    return Judged(name, ratio, f"times the time of {peer}", most, at_most=True)


def judge_ratio(shape: str, metric: str, ratios: Mapping[str, float]) -> Judged:
    """The fastest peer, of those that do the same work."""
    fastest = min(ratios, key=lambda peer: ratios[peer])
    target = RATIOS.get((shape, metric), LEAST)
    return Judged(f"{shape} {metric}", ratios[fastest], f"times as fast as {fastest}", target)


def judge_memory(shape: str, metric: str, share: float) -> Judged | None:
    """What a call adds to memory; None without a target."""
    target = MEMORY.get((shape, metric))
    if target is None:
        return None
    return Judged(f"{shape} {metric}, memory", share, "times the inputs", target, at_most=True)
