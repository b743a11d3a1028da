"""How far the means of several runs of one system lie apart, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sklearn_rank._metric.notation import display_name

RunMeans = Mapping[str, Sequence[float]]
"""Mean of each run, by the name of the metric or of the system."""


def between_runs(run_means: Mapping[str, RunMeans]) -> str:
    """Standard deviation of the means of the runs, by metric and system; "" where no system has several runs.

    Examples
    --------
    >>> between_runs(
    ...     {"ndcg@10": {"A": [0.5, 0.52], "B": []}, "map": {"A": [0.3, 0.3], "B": []}}
    ... )
    'Between runs by nDCG@10: A sd 0.014 (2 runs); by MAP: A sd 0 (2 runs).'
    >>> between_runs({"map": {"": [0.5, 0.51, 0.53]}})
    'Between runs: sd 0.015 (3 runs).'
    """
    clauses = {}
    for metric, by_system in run_means.items():
        sds = {
            system: f"sd {np.std(means, ddof=1):.2g} ({len(means)} runs)"
            for system, means in by_system.items()
            if len(means) > 1
        }
        if sds:
            clauses[display_name(metric)] = ", ".join(f"{system} {sd}".strip() for system, sd in sds.items())
    if not clauses:
        return ""
    if len(run_means) == 1:
        return f"Between runs: {next(iter(clauses.values()))}."
    return f"Between runs {'; '.join(f'by {name}: {text}' for name, text in clauses.items())}."
