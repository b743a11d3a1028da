"""Arguments of the gate: margins, the largest loss of a query, and alpha."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
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


def margins_of(margin: Any, results: Mapping[str, Evaluation], floors: Mapping[str, float]) -> dict[str, Any]:
    """Margin of each metric that counts, all of them metrics of both results; new may have others with a floor."""
    new, old = (result.per_query for result in results.values())
    both = [name for name in new if is_key(name, old)]
    if not isinstance(margin, Mapping):
        if differ := [name for name in (*new, *old) if name not in both and name not in floors]:
            rule = "One margin for all metrics, or none," if margin is None else "One margin for all metrics"
            raise ValueError(
                f"{rule} needs results with the same metrics; a dict such as "
                f"margin={{{echo(next(iter(new)))}: 0.01}} names those that count. Got {echo(differ[0])} in only one."
            )
        margins = dict.fromkeys(both, margin)
        return margins if margin is None else checked_margins(margins, both)
    return checked_margins(dict(margin), both)


def checked_margins(margins: dict[Any, Any], known: list[str]) -> dict[str, float]:
    """Margins as floats."""
    return _numbers(
        "margin", MARGIN, margins, known, lambda x: x < 0, " To ask whether new is better, use stats.compare."
    )


def _numbers(
    parameter: str, rule: str, given: dict[Any, Any], known: list[str], is_bad: Callable[[float], bool], hint: str = ""
) -> dict[str, float]:
    """Numbers by metric as floats."""
    if not given:
        raise ValueError(f"{rule} Got {echo(given)}, which names no metric.")
    for name, value in given.items():
        _check_name(parameter, name, known)
        _check_number(rule, value)
        if is_bad(value):
            raise ValueError(f"{rule}{hint} Got {value:g} for {echo(name)}.")
    return {name: float(value) for name, value in given.items()}


def _check_number(rule: str, value: Any) -> None:
    if not is_real(value):
        raise (ValueError if isinstance(value, float) else TypeError)(f"{rule} Got {echo(value)}.")


def refuse_without_baseline(has_floor: Any, compared: Mapping[str, Any]) -> None:
    """Refuse a gate that has nothing to compare with."""
    if not has_floor:
        raise ValueError(
            "no_worse needs an old system, old=, or a floor, such as at_least={'recall@10': 0.8}, or both. Got neither."
        )
    if unused := [name for name, value in compared.items() if value is not None]:
        raise ValueError(f"{unused[0]}= of no_worse compares with an old system, so it needs old=. Got none.")


def checked_floors(at_least: Any, at_most: Any, new: Evaluation) -> dict[str, float]:
    """Floor of each metric of the new result, or ceiling if lower is better."""
    floors: dict[str, float] = {}
    for parameter, given, is_least in (("at_least", at_least, True), ("at_most", at_most, False)):
        rule = f"The {parameter!r} parameter of no_worse must be a dict of numbers by metric: {{'recall@10': 0.8}}."
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{rule} Got {echo(given)}.")
        for name, value in (given or {}).items():
            _check_name(parameter, name, [*new.per_query], "the new result")
            _check_number(rule, value)
            if new.greater_is_better[name] != is_least:
                other, better = ("at_most", "lower") if is_least else ("at_least", "higher")
                raise ValueError(f"Where {better} is better pass {other}=, not {parameter}=. Got {echo(name)}.")
            floors[name] = float(value)
    return floors


def segment_margins(given: Any, segments: Mapping[Any, Any], margins: Mapping[str, float]) -> dict[Any, float]:
    """Margin of each segment by each metric: the argument, or the margin of the metric."""
    rule = (
        "The 'segment_margin' parameter of no_worse must be a number >= 0, or a dict of such numbers by segment; None "
        "is the margin of the metric."
    )
    keys = {segment: segment[0] if len(segment) == 1 else segment for segment, _ in segments}
    by_segment = (
        dict(given) if isinstance(given, Mapping) else {} if given is None else dict.fromkeys(keys.values(), given)
    )
    if given is not None and not segments:
        raise ValueError("segment_margin= of no_worse is for segments: pass by=, too. Got no segments.")
    for name, value in by_segment.items():
        if name not in keys.values():
            raise ValueError(f"segment_margin= must name segments: {echo_all(keys.values())}. Got {echo(name)}.")
        _check_number(rule, value)
        if value < 0:
            raise ValueError(f"{rule} Got {value:g}.")
    return {(segment, metric): float(by_segment.get(keys[segment], margins[metric])) for segment, metric in segments}


def _check_name(parameter: str, name: Any, known: list[str], of: str = "both results") -> None:
    """Refuse a name that is no metric of both results, or of the new one."""
    if name not in known:
        near = difflib.get_close_matches(str(name), known, n=1)
        hint = other_spelling(name, known) or (f" Did you mean {echo(near[0])}?" if near else "")
        raise ValueError(
            f"The {parameter!r} parameter of no_worse must name metrics of {of}: {echo_all(known)}. "
            f"Got {echo(name)}.{hint}"
        )


def largest_losses(given: Any, pairs: Mapping[str, Any]) -> dict[str, float]:
    """Largest loss of a query by each metric: the argument, or the range of the metric, or of its values."""
    losses = {name: pair.range_seen if pair.span is None else pair.span for name, pair in pairs.items()}
    if given is None:
        return losses
    by_metric = dict(given) if isinstance(given, Mapping) else dict.fromkeys(pairs, given)
    known = _numbers("largest_loss", LARGEST_LOSS, by_metric, [*pairs], lambda x: x <= 0)
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
