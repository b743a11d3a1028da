"""Clusters and weights of queries: the tests that allow them."""

from __future__ import annotations

from typing import Any

from sklearn_rank._estimates.samples import scaled
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array, Index

CLUSTERED_TESTS = ("t", "randomization", "bootstrap")
"""Tests that are valid if queries of one cluster depend on each other."""


def check_clusters(function_name: str, test: str, clusters: Any) -> None:
    """Refuse clusters if the test needs independent queries."""
    if clusters is not None and test not in CLUSTERED_TESTS:
        raise ValueError(
            f"If queries have clusters, {function_name} takes test='t', 'randomization' or 'bootstrap'; for other "
            f"tests pass one value per cluster, such as its mean. Got test={echo(test)}, which needs independent "
            "queries."
        )


def refuse_one_cluster(function_name: str, cluster: Index) -> None:
    """Raise ValueError for fewer than two clusters."""
    if len(distinct_values(cluster)) < 2:
        raise ValueError(f"{function_name} needs queries of two clusters or more. Got one cluster.")


def refuse_weight(function_name: str, test: str, weight: Array | None) -> None:
    """Refuse unequal weights if the test counts every query once."""
    if scaled(weight) is not None and test not in CLUSTERED_TESTS:
        raise ValueError(
            f"If queries have weights, {function_name} takes test='t', 'randomization' or 'bootstrap'. "
            f"Got test={echo(test)}, which counts every query once: to do so, pass only values, "
            "result.to_frame()[metric]."
        )
