"""Names that mean lower is better, of metrics and of columns of scores: the one list of words and endings.

The last word decides: "latency" and "p95_latency_ms" are lower, "latency_budget" and "rank_correlation" are not.
Cutoffs, units and statistics after it are skipped, and so is all that follows a preposition. In doubt, a name is not
lower.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from sklearn_rank._utils.echo import echo


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


AMOUNTS = """
    rank position distance dist cost loss error perplexity ppl l1 l2 euclidean manhattan hamming levenshtein nll
    [rn]?mse mae latenc(?:y|ie) latencyms divergence deviance (?:abs|absolute|sq|rel|std|pred|test|val|train|my).err
    mdae medae rmsle msle nrmse s?mape wape mase brier crps ece logloss cross.?entropy neg(?:ative)?.log.?likelihood
    wer cer ter fid regret penalt(?:y|ie) residual absolute.deviation expense delay lag ttft ttfb tpot rtt mttr
    runtime elapsed took wall walltime downtime staleness overhead emission co2 carbon.footprint search.length
    queue.length (?:rank|position).first.* (?:mean|avg|average|median).ranking (?:peak|max).(?:memory|mem|ram|rss)
    (?:memory|ram|cpu|disk).(?:usage|use|used|consumption|footprint) (?:energy|power).(?:consumption|use|usage)
    (?:generalization|optimality|fairness).gap
"""
"""Amounts of a document, a query or a system."""

EVENTS = """
    error loss fail(?!s) failure fault timeout exception crash(?:e)? outage retr(?:y|ie) bug defect incident violation
    breach leak leakage mistake mismatch misclassification misranking inversion miss(?:e)? fpr fnr fdr eer frr
    fall.?out false.(?:positive|negative|discovery|alarm|acceptance|rejection|omission) hallucination confabulation
    fabrication contradiction toxicity profanity harmfulness offensiveness unfaithfulness irrelevance duplicate
    duplication redundanc(?:y|ie) disparit(?:y|ie) unfairness inequality degradation instability volatility drift
    bounce churn abandon abandonment attrition unsubscribe unsubscription uninstall opt.?out drop.?off dropout skip
    complaint refund chargeback cancellation escalation dislike downvote thumbs?.down negative.feedback
    dissatisfaction dsat frustration reformulation pogo.?sticking pogo quick.?back off.topic misinformation spam
    fraud waste (?:zero|no|null|empty|without).(?:result|hit|recall) (?:null|empty).(?:search(?:e)?|response|answer)
"""
"""Bad events, in names of their counts and rates. A score may predict them, so they say nothing in names of columns."""

BAD = """
    wrong incorrect failed missed broken irrelevant invalid unanswered unresolved abandoned dead duplicated? toxic
    harmful offensive unsafe hallucinated unsupported unfaithful ungrounded contradicted contradictory wasted bad
    lost malformed missing stale unparsable mis(?:ranked|placed|classified) swapped discordant
"""
THINGS = """
    answer question context json response result request quer(?:y|ie) click link session search(?:e)? claim item
    document doc call prediction output generation recommendation cart page chunk passage sentence statement label
    pair citation sale token relevant
"""
"""Words that are lower before words of things: "wrong_answer_rate"."""

WORK = """
    response reply quer(?:y|ie) search retrieval rerank(?:ing)? rank(?:ing)? embed embedding encode encoding decode
    decoding inference generation llm request execution exec run compute computation process processing cpu gpu wall
    clock wait waiting load loading render rendering fit train training score scoring predict prediction index
    indexing build startup boot turnaround lookup lead delivery handling resolution recovery repair queue trip
    roundtrip prefill tokenization server backend network db service sort sorting
"""
"""Work, before a word of time; "time" itself may be time well spent."""

SECONDS = "ms msecs? millis milliseconds? secs? seconds? us ns mins? minutes?"
TIME_WORDS = f"times? durations? {SECONDS}"
UNIT_WORDS = (
    f"{SECONDS} s hours? hrs? h days? usd eur gbp dollars? cents? euros? km m meters? miles? [kmg]i?b bytes? percent "
    "pct stars?"
)
STATISTIC_WORDS = """
    mean avg average median max min maximum minimum total sum overall p th percentile quantile std stddev norm
    normali[sz]ed raw log macro micro val valid validation test train dev eval k n v value delta diff change
    increase
"""
SHARES = "rate ratio count share fraction percentage percent proportion probability prob frequency num number"

TOKENS = re.compile(r"[A-Z]+(?![^\W\d_A-Z])\d*|[A-Z]?[^\W\d_A-Z]+\d*")
WITH_DIGITS = ("l1", "l2", "co2", "d2")
AT_RANK = re.compile(r"(?:rank|position)[\W_]*\d+$", re.IGNORECASE)
"""A place, not an amount: "ctr_position_1"."""
SHARE_OF = re.compile(rf"^(?:.* )?{_any(SHARES + ' n amount')} of ")
EFFORT = re.compile(
    rf"(?:^| )(?:{_any(TIME_WORDS)}|days|hours|steps|clicks|turns|queries|pages|attempts|actions) "
    r"(?:to|until|till|before)\b(?! .*\b(?:live|fail\w*|churn|expir\w*|death|event|error|cancel\w*|crash)\b)"
    rf"|(?:^| )(?:s|{_any(TIME_WORDS)}) per (?:quer|request|token|call|step|iteration|batch|epoch|example|sample)"
    r"|(?:^| )bits per (?:byte|char|token|word|dim)"
)
"""Effort until something, and time for a unit of work."""
IN_UNITS = re.compile(
    rf"(?:^| )(?:{_any(WORK)} {_any(TIME_WORDS)}|(?:memory|ram|rss) (?:[kmg]i?b|bytes)|energy (?:k?wh|joules?|j))$"
    r"|^p (?:ms|secs?|seconds)$"
)
AFTER = re.compile(
    r" (?:at|per|of|on|for|by|from|over|above|across|among|during|after|before|vs|versus|and|in(?! (?:top|the)\b)|"
    r"to(?! (?:end|text|speech|sql|image|code|seq\w*)\b))\b(?!.* (?:saved|savings?|reduction|improvement)$).*"
)
"""What follows a preposition."""
MORE = re.compile(
    r"\b(?:d2|neg(?! log.?likelihood)|(?<!false )negative(?! feedback| log.?likelihood)|negated|minus|inv|inverse|"
    r"inverted|reciprocal|recip|complement|anti|non|not|(?:no|zero|without)(?! (?:results?|hits?|recall|one)\b)|free|"
    r"saved?|avoided|reduced|prevented|low|lower|fast|faster|under|below|within|between|win|profit|gain|"
    r"(?:page|percentile|effective|full|top) (?:rank|position)|(?:intra|inter|pairwise)(?: \w+)? distances?)\b"
)
"""Words that turn the meaning, or that make it doubtful."""
_REST, _RATES = (
    re.compile(rf"(?: {_any(words)})+$") for words in (STATISTIC_WORDS, STATISTIC_WORDS + UNIT_WORDS + " " + SHARES)
)
_ALL = re.compile(rf"(?: {_any(STATISTIC_WORDS + UNIT_WORDS)})+$")
_THINGS = re.compile(rf"(?: {_any(THINGS)}s?)+$")


def _last(words: str) -> re.Pattern[str]:
    """Pattern of words at the end of a name, also in the plural."""
    return re.compile(rf"(?:^| ){_any(words)}(?:e?s)?$")


_OF_METRICS, _OF_COLUMNS, _EVENTS = _last(AMOUNTS), _last(AMOUNTS + " err ranking"), _last(EVENTS)
_BAD, _SCORES = _last(BAD), re.compile(r"(?:^| )(?:toxicity|brier|perplexity|profanity) score$")


def is_lower(name: Any) -> bool:
    """Whether the name of a metric clearly means that lower is better."""
    return isinstance(name, str) and _is_lower(name, of_column=False)


def is_lower_column(name: Any) -> bool:
    """Whether the name of a column of scores clearly means that lower is better."""
    return isinstance(name, str) and _is_lower(name, of_column=True)


def refuse_open_direction(name: str, argument: str) -> None:
    """Refuse a name that means lower is better if nobody said so; `argument` is how to say it.

    Raises
    ------
    ValueError
        If it does.
    """
    if is_lower(name):
        raise ValueError(
            f"The name {echo(name)} suggests that lower is better. Pass {argument}, or True if more is better."
        )


@lru_cache(maxsize=1024)
def _is_lower(name: str, *, of_column: bool) -> bool:
    if AT_RANK.search(name):
        return False
    words = (word.lower() for word in TOKENS.findall(name))
    text = " ".join(word if word in WITH_DIGITS else word.rstrip("0123456789") for word in words)
    text = SHARE_OF.sub("", text)
    if not of_column and EFFORT.search(text):
        return True
    text = AFTER.sub("", text)
    if MORE.search(text):
        return False
    amount = _ALL.sub("", text)
    if (_OF_COLUMNS if of_column else _OF_METRICS).search(amount):
        return True
    if of_column:
        return False
    event = _RATES.sub("", text)
    adjective = _THINGS.sub("", event)
    is_bad = _EVENTS.search(event) or (adjective != text and _BAD.search(adjective)) or _SCORES.search(amount)
    return bool(is_bad or IN_UNITS.search(_REST.sub("", text)) or IN_UNITS.search(amount))
