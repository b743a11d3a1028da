"""What is asked of each shape and metric, and whether it is met. The targets are of two threads and of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product

from tables import Judged

LEAST = 1.0
"""How many times as long as ours the fastest peer takes at least, where nothing else is asked."""

RATIOS = {("mslr", "ndcg@10"): 5.0, ("mslr", "map"): 3.5}
RATIOS |= dict.fromkeys(product(("tiny", "constant", "ties", "huge"), ("ndcg@10", "map")), 3.0)
"""The same of a shape and a metric."""

SUITE_IN_MAPS = 3.0
"""Full-depth MAPs that the 72 numbers of the suite take at most."""

MEMORY = {("mslr", "ndcg@10"): 0.13, ("mslr", "map"): 0.19, ("tiny", "ndcg@10"): 0.47, ("tiny", "map"): 0.46}
MEMORY |= {("shuffled", "ndcg@10"): 1.15, ("shuffled", "map"): 1.15}
"""Bytes that a call on two threads adds at its peak at most, over those of its three arrays: once reached, and 5 %."""


def judge_ratio(shape: str, metric: str, ratios: Mapping[str, float]) -> Judged:
    """The fastest peer, of those that do the same work."""
    fastest = min(ratios, key=lambda peer: ratios[peer])
    target = RATIOS.get((shape, metric), LEAST)
    return Judged(f"{shape} {metric}", ratios[fastest], f"times as fast as {fastest}", target)


def judge_suite(shape: str, in_maps: float) -> Judged:
    """All metrics at all cutoffs against one metric on whole lists."""
    return Judged(f"{shape} suite", in_maps, "full-depth MAPs", SUITE_IN_MAPS, at_most=True)


def judge_memory(shape: str, metric: str, share: float) -> Judged | None:
    """What a call adds to memory; None where nothing is asked."""
    target = MEMORY.get((shape, metric))
    if target is None:
        return None
    return Judged(f"{shape} {metric}, memory", share, "times that of the inputs", target, at_most=True)
