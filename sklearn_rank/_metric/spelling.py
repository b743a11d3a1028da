"""Names as other libraries and trackers write them: "NDCG:top=10", "ndcg_at_10", "f0.5", "ndcg@5,10".

Each reads as one name of `names`; this module knows no metric.
"""

from __future__ import annotations

import re

from sklearn_rank._utils.echo import echo

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
