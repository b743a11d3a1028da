"""The check of unevenly judged systems, and the note with the judged share of each system."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._misuse.rows import LEAST_QUERIES
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array

FAR_APART = 0.2
"""Minimum difference of two judged shares for a finding."""

MOSTLY_JUDGED = 0.5
"""Minimum judged share of the better judged system."""

MOST_WITH_SHARES = 3
"""Maximum number of systems whose judged shares are listed one by one."""

LEAST_Z = 6.0
"""Minimum difference of the shares in standard errors: by chance less than once in a million."""

UNEVENLY_JUDGED = Check(
    "systems judged unevenly", "judged",
    "Far fewer documents of one system were judged than of the other. Unjudged documents count as not relevant.",
    "20 queries; judged shares down to the cutoff that differ by 0.2, the higher at least 0.5",
    "were judged far less",
)  # fmt: skip
CHECKS_OF_SYSTEMS = (UNEVENLY_JUDGED,)


def unevenly_judged(shares: Mapping[str, Array], metric: str, meaning: str) -> Iterator[Finding]:
    """Yield a finding if a system has far fewer judged documents; `shares` holds the share of each query by system."""
    # `meaning` tells how the metric treats unjudged documents; the check applies only if they count as not relevant.
    known = {name: one[~np.isnan(one)] for name, one in shares.items()}
    if "unjudged=nonrelevant" not in meaning or min(map(len, known.values())) < LEAST_QUERIES:
        return
    means = mean_shares(shares)
    most, least = (choose(means, key=means.__getitem__) for choose in (max, min))
    distance = means[most] - means[least]
    # Another check finds a share of 0: ids do not match.
    if means[least] == 0 or means[most] < MOSTLY_JUDGED or distance < FAR_APART:
        return
    error = math.sqrt(sum(float(known[name].var(ddof=1)) / len(known[name]) for name in (most, least)))
    if distance > LEAST_Z * error:
        yield Finding(
            UNEVENLY_JUDGED,
            f"Documents of {echo(least)} were judged far less than documents of {echo(most)}: {_percent(means[least])} "
            f"and {_percent(means[most])} of {_first(metric)}. The others count as not relevant, so the difference may "
            "come from the judgments. Judge more (to_judge of a comparison says which), or use bpref or "
            "unjudged='drop'.",
        )


def mean_shares(shares: Mapping[str, Array]) -> dict[str, float]:
    """Mean over queries of the share of judged documents of each system; NaN where it is unknown."""
    known = {name: one[~np.isnan(one)] for name, one in shares.items()}
    return {name: float(one.mean()) if len(one) else math.nan for name, one in known.items()}


def judged_note(means: Mapping[str, Mapping[str, float]]) -> str:
    """Note with the judged share of each system by metric, or the range for many systems; "" if complete or unknown."""
    parts: dict[str, str] = {}
    for metric, of_systems in means.items():
        if of_systems and min(of_systems.values(), default=1.0) < 1:
            where = _first(metric)
            if len(of_systems) <= MOST_WITH_SHARES:
                shown = ", ".join(f"{name} {_percent(share)}" for name, share in of_systems.items())
                parts.setdefault(where, f"Judged of {where}: {shown}.")
            else:
                least, most = (_percent(choose(of_systems.values())) for choose in (min, max))
                shown = most if least == most else f"{least.removesuffix(' %')} to {most}"
                parts.setdefault(where, f"Judged share of {where}: {shown}.")
    return " ".join(parts.values())


def shares_of_judges(shares: Array, metric: str) -> str:
    """Shares of the documents that people and a model judged, in words."""
    people, model = shares
    return f"{_percent(people)} of {_first(metric)} judged by people and {_percent(model)} by the model"


def _first(metric: str) -> str:
    """The documents that a metric reads, from its name."""
    cutoff = metric.rpartition("@")[2] if "@" in metric else ""
    return f"the first {cutoff}" if cutoff.isdecimal() else "all retrieved"


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"
