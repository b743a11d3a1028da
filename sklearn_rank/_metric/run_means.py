"""How far the means of several runs of one system lie apart, in a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from sklearn_rank._metric.notation import display_name

RunMeans = Mapping[str, Sequence[float]]
"""Mean of each run, by the name of the metric or of the system."""


def between_runs(
    run_means: Mapping[str, RunMeans], systems: Iterable[str] = (), *, allowed: bool = True, has_values: bool = True
) -> str:  # fmt: skip
    """Standard deviation of the means of the runs, by metric and system; "" where no system has several runs.

    `systems`: all systems, also those with one run. `allowed`: intervals allow for the variance between runs.
    `has_values`: the values of each run are known.

    Examples
    --------
    >>> between_runs(  # doctest: +NORMALIZE_WHITESPACE
    ...     {"ndcg@10": {"A": [0.5, 0.52], "B": []}, "map": {"A": [0.3, 0.3], "B": []}}
    ... )
    'Between runs by nDCG@10: A sd 0.014 (2 runs); by MAP: A sd 0 (2 runs), allowed for. Two
    runs estimate a variance badly. B has one run: its variance is assumed to be equal.'
    >>> between_runs({"map": {"": [0.5, 0.51, 0.53]}})
    'Between runs: sd 0.015 (3 runs), allowed for.'
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
    listed = "; ".join(f"by {name}: {text}" for name, text in clauses.items())
    head = f"Between runs: {next(iter(clauses.values()))}" if len(run_means) == 1 else f"Between runs {listed}"
    if not allowed:
        return f"{head}."
    n_runs = dict.fromkeys(systems, 1)
    n_runs |= {system: len(means) for of in run_means.values() for system, means in of.items()}
    alone = [system for system, k in n_runs.items() if k < 2]
    sentences = [f"{head}, allowed for."]
    sentences += ["Two runs estimate a variance badly."] * (2 in n_runs.values())
    if alone:
        has, its = ("has", "its") if len(alone) == 1 else ("have", "their")
        sentences.append(f"{', '.join(alone)} {has} one run: {its} variance is assumed to be equal.")
    sentences += ["The values of each run were not saved, so the variance may be too large."] * (not has_values)
    return " ".join(sentences)
