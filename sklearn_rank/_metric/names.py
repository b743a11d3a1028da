"""Names of metrics: "ndcg(gain=linear)@10" to a metric with its keywords, and lists of all names.

Parsing is literal, numbers and words, never evaluation.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

from sklearn_rank._metric.conventions import our_name
from sklearn_rank._metric.key_signs import SIGN, ByName, Value, refuse_sign, scorer_name
from sklearn_rank._metric.keywords import own_tables
from sklearn_rank._metric.measures import is_measure, of_measure
from sklearn_rank._metric.metric import REGISTRY, Metric
from sklearn_rank._metric.name_hints import hint_for_name, hint_for_their_name
from sklearn_rank._metric.plain import PlainMetric, direction_of_function, is_plain, plain_metric, refuse_own_cutoff
from sklearn_rank._metric.spec import MetricLike, MetricsLike, MetricSpec, spec_of
from sklearn_rank._utils.arguments import meant_by, unknown_keyword
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lower_is_better import is_lower, refuse_open_direction

DEFAULT_METRICS = ("ndcg@10", "map", "mrr", "p@10", "r@100")
"""Metrics where a caller names none: five questions, each with the measure that most reports answer it by.

- Are the best documents on top, by their grades? ``ndcg@10``: BEIR (Thakur et al., 2021), MTEB (Muennighoff et al.,
  2023), TREC's Deep Learning tracks (Craswell et al., 2020).
- Is the whole list in order? ``map``: TREC's ad hoc tracks (Buckley and Voorhees, 2005), LightGBM, XGBoost.
- How far is it to the first relevant document? ``mrr``: question answering (Voorhees, 1999), MS MARCO.
- How much of the first page is relevant? ``p@10``: trec_eval, and web search.
- Does a second stage get the relevant documents? ``r@100``: BEIR, and the first stage of TREC's Deep Learning tracks.

nDCG reads grades, the others whether a label is at least `min_relevance`, which is 1.
"""
BLANKS = " \t\n\r\f\v"
_NAME = re.compile(r"(?P<name>[\w-]+)\s*(?:\((?P<keywords>[^()]*)\)\s*)?(?:@\s*(?P<k>[^\s()@]+))?", re.ASCII)
"""Pattern of a name without blanks around it. No two parts of it can match the same blanks, so it takes linear time."""
_WORD = re.compile(r"\w+", re.ASCII)


def get_metric_names() -> list[str]:
    """Canonical names of all metrics.

    Returns
    -------
    list of str
        Sorted. `parse_metric` also takes each metric's aliases, keywords and a cutoff.

    Examples
    --------
    >>> from sklearn_rank import get_metric_names
    >>> "ndcg" in get_metric_names()
    True
    """
    return sorted(REGISTRY)


def parse_metric(metric: MetricLike, /, **keywords: Any) -> MetricSpec:
    """Metric of a name, a function or a parsed metric.

    Parameters
    ----------
    metric : str, metric function, MetricSpec, measure of ir_measures or callable
        Name ``"name(keyword=value, ...)@k"`` in any case, with any alias of the metric; several cutoffs as in
        "ndcg@5,10"; names for trackers, such as "ndcg_at_10" (see `Evaluation.to_dict`); CatBoost's "NDCG:top=10",
        which is ``ndcg(convention=catboost)@10`` and gives its number; with ``convention="trec_eval"`` also what
        trec_eval calls it, such as "P_10" or "ndcg_cut.10"; a measure of ir_measures or PyTerrier, such as
        ``nDCG @ 10``, with its number there; or a plain function ``f(y_true, y_score) -> float`` of one query.
    **keywords
        More keywords of the metric, and its cutoff `k`; the name wins over them. A plain function has two:
        `greater_is_better`, which must be given where the name means that lower is better, such as "latency_ms" or
        "error_rate", but for functions of `sklearn.metrics`, which are known; and `k`, with which it is called on the
        first k documents of each list, best score first. Where the cut would part equal scores, it takes
        ``ties="stable"``.

    Returns
    -------
    MetricSpec
        ``str()`` of it is a name that parses back, if its keywords are numbers and words.

    Raises
    ------
    ValueError
        If the name is unknown or malformed, or a keyword has a bad value.
    TypeError
        If the metric has no such keyword, or `metric` does not name one.

    Examples
    --------
    >>> from sklearn_rank import parse_metric
    >>> spec = parse_metric("RBP(p=0.9)@10")
    >>> spec.metric.name, spec.k, spec["p"]
    ('rbp', 10, 0.9)
    >>> str(spec)
    'rbp(p=0.9)@10'
    >>> def top_loss(y_true, y_score):
    ...     return 4 - max(y_true)
    >>> str(parse_metric(top_loss, greater_is_better=False, k=3))
    'top_loss@3'
    """
    spec = MetricSpec(*_read(metric, own_tables(keywords)))
    spec._refuse_unread(spec.keywords)
    return spec


def cached_spec(metric: MetricLike, /, **keywords: Any) -> MetricSpec:
    """Cached `parse_metric`; the result is shared and must not be modified."""
    return spec_of(*_read(metric, keywords))


def _read(metric: MetricLike, keywords: dict[str, Any]) -> tuple[Metric, Any, dict[str, Any]]:
    """Metric, cutoff and keywords."""
    if isinstance(metric, MetricSpec):
        given = {"k": metric.k, **metric.keywords}
        entry = metric.metric
    elif isinstance(metric, str):
        refuse_other_meaning(metric, keywords.get("convention"))
        text, more = our_name(metric) if keywords.get("convention") == "trec_eval" else (metric, {})
        entry, given = _parse(text)
        given |= more
    elif is_measure(metric):
        name, given = of_measure(metric)
        entry = REGISTRY[name]
    elif hasattr(metric, "metric"):
        entry, given = metric.metric, {}
    elif is_plain(metric):
        entry, given = plain_metric(metric, keywords.pop("greater_is_better", None)), {}
    else:
        raise TypeError(
            f"A metric is a name such as 'ndcg@10' or a function of sklearn_rank.metrics. Got {echo(metric)}."
        )
    k = given.pop("k", None)
    outer_k = keywords.pop("k", None)
    k = outer_k if k is None else k
    if isinstance(entry, PlainMetric):
        better = keywords.pop("greater_is_better", entry.greater_is_better)
        entry = plain_metric(entry.function, better, cut=k is not None)
        if k is not None:
            refuse_own_cutoff(entry.function, k)
    return entry, k, keywords | given


def _parse(text: str) -> tuple[Metric, dict[str, Any]]:
    match = _NAME.fullmatch(text.strip(BLANKS))
    found = match and _find(match["name"])
    if found is None:
        match = _NAME.fullmatch(our_spelling(text).strip(BLANKS))
        found = match and _find(match["name"])
    if match is None:
        raise ValueError(
            "A metric name looks like 'name', 'name@10' or 'name(keyword=value)@10'. "
            f"Got {echo(text)}.{hint_for_their_name(text)}"
        )
    if found is None:
        hint = hint_for_name(match["name"].lower(), text)
        raise ValueError(f"A metric must be one of get_metric_names() or an alias. Got {echo(text)} instead.{hint}")
    entry, fixed = found
    given: dict[str, Any] = dict(fixed)
    for argument in filter(None, map(str.strip, (match["keywords"] or "").split(","))):
        keyword, _, value = (part.strip() for part in argument.partition("="))
        if not keyword or not value:
            raise ValueError(
                f"Inside the brackets of a metric name goes keyword=value. Got {echo(argument)} in {echo(text)}."
            )
        if keyword == "rel" and "rel" not in entry.defaults:  # of ir_measures
            keyword = "min_relevance"
        if keyword == "k" or keyword in given:
            raise ValueError(
                f"The cutoff goes after '@', and each keyword is set once. Got {echo(keyword)} in {echo(text)}."
            )
        given[keyword] = _literal(value, text)
    if match["k"] is not None and "," in match["k"]:
        given["k"] = _several_cutoffs(match["k"], text)
    elif match["k"] is not None:
        given["k"] = _literal(match["k"], text)
        if not (given["k"] is None or is_count(given["k"])):
            raise ValueError(f"The cutoff after '@' must be an int >= 1, as in '{entry.name}@10'. Got {echo(text)}.")
    return entry, given


def _several_cutoffs(cutoffs: str, text: str) -> tuple[int, ...]:
    if not all(k.isdecimal() for k in cutoffs.split(",")):
        raise ValueError(
            "After '@' goes a cutoff, or several as in 'ndcg@5,10'; several metrics are a list, as in "
            f"['ndcg@10', 'map']. Got {echo(text)}."
        )
    return tuple(map(int, cutoffs.split(",")))


def _find(name: str) -> tuple[Metric, Mapping[str, Any]] | None:
    """Metric with this name or alias, and the keywords of the alias."""
    name = name.lower()
    if name in REGISTRY:
        return REGISTRY[name], {}
    for entry in [*REGISTRY.values()]:  # another thread may add to them
        if name in entry.aliases:
            return entry, entry.aliases[name]
    return None


LITERALS = {"none": None, "true": True, "false": False}
"""Words that are values of Python."""


def _literal(value: str, text: str) -> int | float | str | None:
    if value.lower() in LITERALS:
        return LITERALS[value.lower()]
    for convert in (int, float):
        try:
            return convert(value)
        except ValueError:
            pass
    if _WORD.fullmatch(value):
        return value.lower()
    raise ValueError(f"A value in a metric name is a number or a word. Got {echo(value)} in {echo(text)}.")


def is_single_metric(metrics: MetricsLike) -> bool:
    """Whether this is one metric, not several."""
    return len(single_cutoffs(metrics)) == 1 if isinstance(metrics, str) else not isinstance(metrics, Iterable)


def listed_metrics(metrics: MetricsLike) -> list[MetricLike]:
    """Each metric by itself, "ndcg@5,10" as two."""
    if isinstance(metrics, str):
        return [*single_cutoffs(metrics)]
    listed = metrics if isinstance(metrics, Iterable) else [metrics]
    return [one for metric in listed for one in (single_cutoffs(metric) if isinstance(metric, str) else [metric])]


def _listed(metrics: MetricsLike) -> list[tuple[str | None, MetricLike]]:
    """Each metric, with the name that a mapping gives it."""
    if isinstance(metrics, Mapping):
        return [(str(name), metric) for name, metric in metrics.items()]
    return [(None, metric) for metric in listed_metrics(metrics)]


def parse_metrics(metrics: MetricsLike, /, **keywords: Any) -> dict[str, MetricSpec]:
    """Metrics by the name they were given, each with the keywords that it takes."""
    key = _names_alone(metrics) if not keywords else None
    if key is None:
        return _parse_each(metrics, keywords)
    specs = _PARSED.get(key)
    if specs is None:
        specs = _parse_each(metrics, {})
        if not all(spec.metric.is_built_in for spec in specs.values()):
            return specs
        if len(_PARSED) >= MOST_PARSED:
            _PARSED.clear()
        _PARSED[key] = specs
    return dict(specs)


def parse_with_columns(
    metrics: MetricsLike, keywords: Mapping[str, Any]
) -> tuple[dict[str, MetricSpec], dict[str, Any]]:
    """Metrics by name, and the columns of the data that are among the keywords."""
    declared = {column for entry in REGISTRY.values() for column in entry.columns} & keywords.keys()
    specs = parse_metrics(metrics, **{n: v for n, v in keywords.items() if n not in declared})
    for name in sorted(declared - {*columns_of(specs)}):
        raise unknown_keyword("These metrics read no column", name, columns_of(specs))
    return specs, {name: keywords[name] for name in declared}


def columns_of(specs: Mapping[str, MetricSpec]) -> list[str]:
    """Columns of the data that metrics read besides labels and scores."""
    return [*dict.fromkeys(column for spec in specs.values() for column in spec.metric.columns)]


MOST_PARSED = 64
"""Lists of names that are remembered: reading them again is much of a call on few rows."""
_PARSED: dict[tuple[Any, ...], dict[str, MetricSpec]] = {}


def _names_alone(metrics: MetricsLike) -> tuple[Any, ...] | None:
    """Key of a list of names, which mean the same as long as no metric is defined; None for anything else."""
    if type(metrics) not in (list, tuple):
        return None
    names = tuple(metrics)  # type: ignore[arg-type]
    return (len(REGISTRY), *names) if set(map(type, names)) == {str} else None


def _parse_each(metrics: MetricsLike, keywords: dict[str, Any]) -> dict[str, MetricSpec]:
    """Metrics by the name they were given, each with the keywords that it takes."""
    listed, keywords = _listed(metrics), own_tables(keywords)
    specs: dict[str, MetricSpec] = {}
    names = {n: v for n, v in keywords.items() if n == "convention"}  # which may be another system's
    direction = {n: v for n, v in keywords.items() if n == "greater_is_better"}
    for given_name, metric in listed:
        if given_name is not None and is_plain(metric) and direction.get("greater_is_better") is None:
            direction_of_function(metric, given_name)
        bare = cached_spec(metric, **names, **(direction if is_plain(metric) else {}))
        taken = {n: v for n, v in keywords.items() if n in bare.metric.defaults}
        spec = cached_spec(bare, **taken) if taken else bare
        spec._refuse_unread(bare.keywords)
        name = str(metric).strip() if isinstance(metric, str) or is_measure(metric) else str(bare)
        name = name if given_name is None else given_name
        refuse_sign(name, spec.greater_is_better)
        if name in specs:
            raise ValueError(f"Each metric must be given once. Got {echo(name)} twice.")
        if spec.curve_index.ndim or spec["average"] is None:
            raise ValueError(
                f"Here a metric has one cutoff and a mean: name each cutoff, such as 'ndcg@10'. Got {echo(name)}."
            )
        specs[name] = spec
        _ = spec.meaning  # fixed now, because the globals of functions may change
    if not specs:
        raise ValueError("At least one metric is needed. Got none.")
    plain = any(is_plain(metric) for _, metric in listed)
    for keyword in keywords.keys() - direction.keys() if plain else keywords:
        if not any(keyword in spec.metric.defaults for spec in specs.values()):
            of_plain = " For a function write parse_metric(f, k=10)." * (plain and keyword == "k")
            which = "None of the default metrics" if metrics is DEFAULT_METRICS else "No metric of"
            rule = f"{which} {', '.join(specs)} has a keyword"
            if keyword in direction or any(keyword in entry.defaults for entry in [*REGISTRY.values()]):
                raise TypeError(f"{rule} {echo(keyword)}.{meant_by(keyword)}")
            known = [name for spec in specs.values() for name in spec.metric.defaults]
            raise unknown_keyword(rule, keyword, known, hint=f"{meant_by(keyword)}{of_plain}")
        if all(keyword in spec.unread for spec in specs.values() if keyword in spec.metric.defaults):
            next(spec for spec in specs.values() if keyword in spec.unread)._refuse_unread([keyword])
    return specs


def direction_of(name: str, *, argument: str) -> bool:
    """Whether higher is better for a metric of that name, or of the user's own; `argument` is for the error."""
    with suppress(TypeError, ValueError):
        return cached_spec(name).greater_is_better
    refuse_sign(name, not is_lower(name.removeprefix(SIGN)))
    refuse_open_direction(name, argument)
    return True


def is_binary(name: str) -> bool:
    """Whether the metric of that name is 0 or 1 for each query by definition; False for a name of the user's own."""
    try:
        return cached_spec(name).is_binary
    except (TypeError, ValueError):
        return False


def tracker_names(names: Iterable[str], prefix: str = "") -> dict[str, str]:
    """Names that trackers take, by the names of metrics; names of this library's metrics parse back to the same."""
    written = {name: prefix + _tracker_name(name) for name in names}
    for name, tracked in written.items():
        if not is_trackable(tracked):
            raise ValueError(
                "Trackers take names of letters, digits, '_', '-', '.', ':', '/' and blanks; give a metric such a name "
                f"by metrics={{'my name': metric}}. Got {echo(tracked)} for {echo(name)}."
            )
        if [*written.values()].count(tracked) > 1:
            raise ValueError(f"Each metric needs a name of its own for a tracker. Got {echo(tracked)} twice.")
    return written


def _tracker_name(name: str) -> str:
    written, ours = tracker_name(name), _canonical(name)
    return written if ours is None or _canonical(written) == ours and is_trackable(written) else tracker_name(ours)


def _canonical(name: str) -> str | None:
    """Canonical name of a metric; None for a name of the user's own."""
    try:
        return str(cached_spec(name))
    except (TypeError, ValueError):
        return None


_F_BETA = re.compile(r"\s*f(?P<beta>\d+(?:\.\d+)?)(?P<rest>(?:@|_at_).*)?\s*", re.IGNORECASE | re.ASCII)
_KEYWORD = re.compile(r"-(?P<name>[a-z]\w*)-(?P<value>-?[\w.]+?(?:e-\d+)?)(?=-|$)", re.ASCII)
"""A keyword in a tracker's name, as in "rbp-p-0.9_at_10"."""
_TRACKED = re.compile(r"[\w .:/-]+", re.ASCII)
"""Characters that MLflow takes in the name of a metric; TensorBoard, Weights & Biases and others take them too."""

CATBOOST = {"precisionat": "precision", "recallat": "recall", "averagegain": "acg"} | {
    name: name for name in ("dcg", "err", "map", "mrr", "ndcg", "pfound")
}
"""Metrics that CatBoost calls "NDCG:top=10", and their names here."""
CATBOOST_VALUES = {
    "type=base": "gain=linear",
    "type=exp": "gain=exp2",
    "denominator=logposition": "discount=log2",
    "denominator=position": "discount=reciprocal",
}


def refuse_other_meaning(text: str, convention: object) -> None:
    """Refuse a name that has another meaning in the library of the convention."""
    if convention == "ranx" and text.strip().lower().partition("@")[0].strip() == "hits":
        raise ValueError(
            "ranx's 'hits' is the number of hits; its 'hit_rate' is the share of queries with one. "
            f"Got {echo(text)} with convention='ranx'."
        )


def our_spelling(text: str) -> str:
    """A name as `parse_metric` reads it; a name that is written in no other way as it is."""
    if match := _F_BETA.fullmatch(text):
        text = f"f(beta={match['beta']}){match['rest'] or ''}"
    if "@" in text:
        head, _, cutoffs = text.rpartition("@")
        return f"{head}@{','.join(k.strip() for k in cutoffs.split(','))}"
    return _of_catboost(text) if ":" in text else _of_tracker(text.strip())


def _of_tracker(text: str) -> str:
    """Metric name of a tracker's name, "rbp(p=0.9)@10" for "rbp-p-0.9_at_10"; other names stay unchanged."""
    head, at, k = text.rpartition("_at_")
    if not (at and k.isdecimal()):
        head, k = text, ""
    name, _, keywords = head.partition("-")
    arguments, place = [], len(name)
    while match := _KEYWORD.match(head, place):
        arguments.append(f"{match['name']}={match['value']}")
        place = match.end()
    if place < len(head) or not (arguments or k):
        return text
    return name + (f"({', '.join(arguments)})" if arguments else "") + (f"@{k}" if k else "")


def _of_catboost(text: str) -> str:
    """Metric name with CatBoost's number: "ndcg(convention=catboost)@10" for "NDCG:top=10"."""
    name, _, parameters = (part.strip().lower() for part in text.partition(":"))
    if name not in CATBOOST:
        return text
    arguments, k = ["convention=catboost"], ""
    for parameter in filter(None, (part.replace(" ", "") for part in parameters.split(";"))):
        keyword, _, value = parameter.partition("=")
        if keyword == "top":
            k = "" if value == "-1" else f"@{value}"
        elif keyword == "decay" or parameter in CATBOOST_VALUES:
            arguments.append(CATBOOST_VALUES.get(parameter, parameter))
        else:
            raise ValueError(
                "Names in CatBoost's spelling may have the parameters top, type, denominator and decay; for others use "
                "convention='catboost' with keywords such as min_relevance. "
                f"Got {echo(parameter)} in {echo(text)}."
            )
    return f"{CATBOOST[name]}({', '.join(arguments)}){k}"


def single_cutoffs(text: str) -> list[str]:
    """Names with one cutoff each: "ndcg@5" and "ndcg@10" for "ndcg@5,10"."""
    if "," not in text:
        return [text]
    head, at, cutoffs = text.rpartition("@")
    several = [k.strip() for k in cutoffs.split(",")]
    if not at or len(several) == 1 or not all(k.isdecimal() for k in several):
        return [text]
    return [f"{head.strip()}@{k}" for k in several]


def tracker_name(name: str) -> str:
    """Name of a metric as trackers take it: "ndcg_at_10" for "ndcg@10", "rbp-p-0.9_at_10" for "rbp(p=0.9)@10"."""
    head, bracket, rest = name.strip().replace("@", "_at_").partition("(")
    arguments, _, cutoff = rest.rpartition(")")
    pairs = "".join(f"-{pair.strip()}" for pair in arguments.replace("=", "-").split(",")) if bracket else ""
    return head + pairs.replace("e+", "e") + cutoff


def is_trackable(name: str) -> bool:
    """Whether trackers take a name."""
    return _TRACKED.fullmatch(name) is not None


def parse_signed(metrics: MetricsLike, /, **keywords: Any) -> dict[str, MetricSpec]:
    """Metrics by their names in results; each may be given with the sign of a scorer."""
    if not isinstance(metrics, Mapping):
        return parse_metrics([*map(without_sign, listed_metrics(metrics))], **keywords)
    names = [str(name).removeprefix(SIGN) for name in metrics]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Each metric must be given once, with {SIGN!r} or without. Got {echo(name)} twice.")
    specs = parse_metrics(dict(zip(names, map(without_sign, metrics.values()), strict=True)), **keywords)
    # Only the name of an error has a sign.
    own = zip(metrics, specs.items(), strict=True)
    return {str(given) if spec.greater_is_better else name: spec for given, (name, spec) in own}


def signed(values: Mapping[str, Value], metrics: Mapping[str, MetricSpec]) -> ByName[Value]:
    """Values of a result under the names of scorers, errors negative."""
    numbers: Mapping[str, Any] = values
    return ByName(
        (scorer_name(name, spec), numbers[name] if spec.greater_is_better else -numbers[name])
        for name, spec in metrics.items()
    )


def without_sign(name: Any) -> Any:
    """A metric by its name in results; other values stay unchanged."""
    if not isinstance(name, str):
        return name
    bare = name.strip().removeprefix(SIGN)
    if bare != name.strip() and any(parse_metric(one).greater_is_better for one in listed_metrics(bare)):
        raise ValueError(f"Only errors have a scorer with {SIGN!r}, and higher is better here. Got {echo(name)}.")
    return bare
