"""Content of the page of a gate."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_rank._metric.notation import display_name
from sklearn_rank._report.content import Content, Difference, Mean, Means, Options, instead_of, made_of
from sklearn_rank._report.has_page import HasPage
from sklearn_rank._report.text import between


def content_of_gate(
    gate: Any, pairs: Mapping[str, Any], tests: Mapping[str, Any], results: tuple[Any, Any], options: Options
) -> Content:
    """Content of the page of a `GateResult`; ranked lists come from the results."""
    metrics, first = [*pairs], next(iter(pairs.values()))
    systems, ids = ["old", "new"], first.qid.tolist()
    values, means = {}, []
    for j, (metric, pair) in enumerate(pairs.items()):
        for i, of_system in enumerate((pair.old, pair.new)):
            known = dict(zip(pair.qid.tolist(), of_system.tolist(), strict=True))
            values[i, j] = np.array([known.get(one, np.nan) for one in ids])
        won, tied, lost = (int(one.sum()) for one in (pair.gain > 0, pair.gain == 0, pair.gain < 0))
        test, of_means = tests[metric], (pair.mean(pair.old), pair.mean(pair.new))
        decided = test.decision in ("no worse", "worse")
        found = Difference(gate.difference[metric], test.low, test.high, test.pvalue, won, tied, lost, decided)
        best = (max if pair.greater_is_better else min)(of_means)
        rows = [
            Mean(name, mean, None, None, against, mean == best)
            for name, mean, against in zip(systems, of_means, (None, found), strict=True)
        ]
        means.append(Means(display_name(metric), pair.greater_is_better, rows, (gate.margin or {}).get(metric)))
    meanings = [(display_name(name), pair.meaning) for name, pair in pairs.items()]
    test, (of_old, of_new) = tests[metrics[0]], means[0].rows
    assert of_new.against is not None
    bounds = f"bounds {between(test.low, test.high, signed=True)}"
    lead = instead_of(means[0].metric, of_old.mean, of_new.mean, of_new.against, first.estimate.mean, bounds)
    heading, _, rest = gate.verdict.partition(": ")
    content = Content(
        kind="Gate: is the new system no worse than the old one?", heading=[("", heading)],
        lead=[[("", rest[:1].upper() + rest[1:])], lead],
        facts=[(f"{len(ids):,}", "queries"), (f"{len(metrics)}", "metric" if len(metrics) == 1 else "metrics"),
               (f"{100 * (1 - gate.alpha):g} %", "level of the bounds")],
        notes=gate._notes(), choices=gate._footer(), means=means, level="", systems=systems, baseline=0, shown=1,
        metrics=[*map(display_name, metrics)], greater_is_better=[one.greater_is_better for one in means], depth=0,
        ids=ids, values=values, made=made_of(meanings, results[0], options.code),
        text=options.text, query_text=options.query_text,
        dots="Dots are differences, lines their one-sided bounds; right is better. Filled: the gate decides."
        + (" The dashed line is the margin." if gate.margin is not None else ""),
    )  # fmt: skip
    old, new = results
    if isinstance(new, HasPage):
        new._add_lists(content, old, metrics[0], options)
    return content
