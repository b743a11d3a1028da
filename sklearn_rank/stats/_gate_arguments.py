"""Arguments of the gate: margins, the largest loss of a query, and alpha."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_rank._estimates.samples import EQUAL_WITHIN
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.key_signs import other_spelling
from sklearn_rank._utils.constraints import Constraint, is_key, is_real
from sklearn_rank._utils.echo import echo, echo_all

ALPHA = Constraint("above 0 and below 0.5", lambda v: is_real(v) and 0 < v < 0.5, "")
MARGIN = (
    "The 'margin' parameter of no_worse must be a number >= 0, the loss that still counts as no worse in units of the "
    "metric, or a dict of such numbers by metric; None looks only for a loss."
)
LARGEST_LOSS = (
    "The 'largest_loss' parameter of no_worse must be a number > 0, the largest loss that a query can have in units of "
    "the metric, or a dict of such numbers by metric; None is the range of the metric."
)


def margins_of(margin: Any, results: Mapping[str, Evaluation]) -> dict[str, Any]:
    """Margin of each metric that counts, all of them metrics of both results."""
    new, old = (result.per_query for result in results.values())
    if not isinstance(margin, Mapping):
        if differ := [name for name in (*new, *old) if not (is_key(name, new) and is_key(name, old))]:
            rule = "One margin for all metrics, or none," if margin is None else "One margin for all metrics"
            raise ValueError(
                f"{rule} needs results with the same metrics; a dict such as "
                f"margin={{{echo(next(iter(new)))}: 0.01}} names those that count. Got {echo(differ[0])} in only one."
            )
        margins = dict.fromkeys(new, margin)
        return margins if margin is None else checked_margins(margins, [*new])
    both = [name for name in new if is_key(name, old)]
    return checked_margins(dict(margin), both)


def checked_margins(margins: dict[Any, Any], known: list[str]) -> dict[str, float]:
    """Margins as floats."""
    if not margins:
        raise ValueError(f"{MARGIN} Got {echo(margins)}, which names no metric.")
    for name, value in margins.items():
        _check_name("margin", name, known)
        if not is_real(value):
            raise (ValueError if isinstance(value, float) else TypeError)(f"{MARGIN} Got {echo(value)}.")
        if value < 0:
            raise ValueError(
                f"{MARGIN} To ask whether new is better, use stats.compare. Got {value:g} for {echo(name)}."
            )
    return {name: float(value) for name, value in margins.items()}


def _check_name(parameter: str, name: Any, known: list[str]) -> None:
    """Refuse a name that is no metric of both results."""
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = other_spelling(name, known) or (f" Did you mean {echo(near[0])}?" if near else "")
        raise ValueError(
            f"The {parameter!r} parameter of no_worse must name metrics of both results: {echo_all(known)}. "
            f"Got {echo(name)}.{hint}"
        )


def largest_losses(given: Any, pairs: Mapping[str, Any]) -> dict[str, float]:
    """Largest loss of a query by each metric: the argument, or the range of the metric, or of its values."""
    losses = {name: pair.range_seen if pair.span is None else pair.span for name, pair in pairs.items()}
    if given is None:
        return losses
    if isinstance(given, Mapping) and not given:
        raise ValueError(f"{LARGEST_LOSS} Got {echo(given)}, which names no metric.")
    known = checked_losses(dict(given) if isinstance(given, Mapping) else dict.fromkeys(pairs, given), pairs)
    for name, loss in known.items():
        pair = pairs[name]
        if pair.span is not None and loss > pair.span * (1 + EQUAL_WITHIN):
            raise ValueError(
                f"largest_loss must be at most the range of the metric. Got {loss:g} for {echo(name)}, whose range is "
                f"{pair.span:g}."
            )
        worst = int(np.argmin(pair.gain))
        if -pair.gain[worst] > loss * (1 + EQUAL_WITHIN):
            raise ValueError(
                f"largest_loss must hold for all queries. Got {loss:g} for {echo(name)}, and query "
                f"{echo(pair.qid[worst : worst + 1].tolist()[0])} lost {-pair.gain[worst]:.4g}."
            )
    return losses | known


def checked_losses(losses: dict[Any, Any], known: Mapping[str, Any]) -> dict[str, float]:
    """Largest losses as floats."""
    for name, value in losses.items():
        _check_name("largest_loss", name, [*known])
        if not is_real(value):
            raise (ValueError if isinstance(value, float) else TypeError)(f"{LARGEST_LOSS} Got {echo(value)}.")
        if value <= 0:
            raise ValueError(f"{LARGEST_LOSS} Got {value:g} for {echo(name)}.")
    return {name: float(value) for name, value in losses.items()}
