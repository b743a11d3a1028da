"""Names that mean lower is better, of metrics and of columns of scores: the one list of words and endings.

The last word decides: "latency" and "p95_latency_ms" are lower, "latency_budget" and "rank_correlation" are not.
Cutoffs, units and statistics after it are skipped, and so is all that follows a preposition. In doubt, a name is not
lower. The words are regular expressions, "." is the space between two words.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from sklearn_rank._utils.echo import echo

COUNTED = re.compile(r"(?:rank|ranking|position)s?$", re.IGNORECASE)
"""Names for whole numbers from 0 or 1; other values may be derived, such as 1 / rank."""


def _any(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


AMOUNTS = """
    rank position distance dist cost loss error perplexity ppl euclidean manhattan hamming levenshtein latenc(?:y|ie)
    latencyms divergence deviance (?:abs|absolute|sq|rel|std|pred|test|val|train|my).err n?r?mse mae rmsle s?mape wape
    logloss cross.?entropy negative.log.likelihood nll brier crps ece wer cer fid regret penalt(?:y|ie) residual delay
    lag ttft ttfb rtt mttr runtime elapsed downtime staleness overhead emission co2 carbon.footprint search.length l1 l2
    (?:memory|cpu).usage (?:peak|max).memory (?:rank|position).first.*
"""
"""Amounts of a document, a query or a system."""
EVENTS = """
    error loss fail(?!s) failure timeout exception crash(?:e)? outage retr(?:y|ie) incident violation leak leakage
    misclassification inversion miss(?:e)? fpr fnr eer fall.?out false.(?:positive|negative|discovery|alarm)
    hallucination fabrication contradiction toxicity profanity irrelevance duplicate duplication redundancy disparity
    unfairness drift bounce churn abandonment attrition unsubscribe uninstall opt.?out drop.?off skip complaint refund
    chargeback cancellation escalation dislike downvote thumbs.down negative.feedback dissatisfaction dsat
    reformulation misinformation spam fraud (?:zero|no|null|empty).(?:result|hit|response)
"""
"""Bad events, in names of their counts and rates. A score may predict them, so they say nothing in names of columns."""
BAD = """
    wrong incorrect failed missed missing broken irrelevant invalid unanswered dead toxic harmful unsafe hallucinated
    unsupported ungrounded malformed stale unparsable bad duplicate swapped discordant
"""
THINGS = "answer response result query queries click link claim document output context question citation json pair"
"""Words that are lower before words of things: "wrong_answer_rate"."""
WORK = """
    response query search retrieval rerank embedding inference generation request cpu gpu wall wait load fit train
    training score indexing processing execution compute render p
"""
"""Work before a word of time; "time" itself may be time well spent."""
UNITS_OF_TIME = "times? ms millis seconds? secs?"
UNITS_AND_STATISTICS = (
    f"{UNITS_OF_TIME} minutes? days? hours? us ns s usd dollars? gbp eur km [kmg]b "
    "mean avg median max std total overall p val test train k delta change increase"
)
"""Units and statistics."""
SHARES = "rate ratio count share percentage percent prob num number"
MORE = re.compile(
    r"\b(?:d2|neg(?! log)|negative(?<!false.negative)(?! feedback| log)|negated|minus|inv|inverse|inverted|reciprocal|"
    r"recip|complement|anti|non|not|(?:no|zero)(?! (?:results?|hits?|one)\b)|free|saved?|avoided|prevented|reduced|low|"
    r"lower|fast|under|below|within|without|between|win|gain|profit|(?:page|percentile|effective|full|top) "
    r"(?:rank|position)|(?:intra|inter|pairwise)(?: \w+)? distances?)\b"
)
"""Words that turn the meaning, or that make it doubtful."""
AFTER = re.compile(
    r" (?:at|per|of|on|for|by|over|above|across|from|after|before|during|vs|versus|and|in(?! top)|"
    r"to(?! (?:end|text|sql)))\b(?!.* (?:savings?|reduction)$).*"
)
"""What follows a preposition."""
EFFORT = re.compile(
    rf"(?:^| ){_any(UNITS_OF_TIME)} (?:(?:to|until) (?!live|fail|churn|event|crash|cancel|death|error|expir)|"
    r"per (?:query|request))|bits per byte"
)
"""Time until something, and for a unit of work."""
AT_RANK = re.compile(r"(?:rank|position)[\W_]*\d+$", re.IGNORECASE)
"""A place, not an amount: "ctr_position_1"."""
TOKENS = re.compile(r"(?i:l1|l2|co2|d2)|[A-Z]+(?![^\W\d_A-Z])|[A-Z]?[^\W\d_A-Z]+")

_STATISTICS = re.compile(rf"(?: {_any(UNITS_AND_STATISTICS)})+$")
_RATES = re.compile(rf"(?: {_any(UNITS_AND_STATISTICS + ' ' + SHARES)})+$")
_AMOUNT, _OF_COLUMN = (re.compile(rf"(?:^| ){_any(AMOUNTS + more)}(?:e?s)?$") for more in ("", " err ranking"))
_EVENT = re.compile(
    rf"(?:^| )(?:{_any(EVENTS)}(?:e?s)?|{_any(BAD)}(?: relevant)? {_any(THINGS)}s?|(?:toxicity|brier) score)$"
)
_BAD_RATE = re.compile(rf"(?:^| ){_any(BAD)} {_any(SHARES)}$")
_WORK = re.compile(rf"(?:^| ){_any(WORK)}(?: {_any(UNITS_OF_TIME)})+$")


def is_lower(name: Any) -> bool:
    """Whether the name of a metric clearly means that lower is better."""
    return isinstance(name, str) and _is_lower(name, of_column=False)


def is_lower_column(name: Any) -> bool:
    """Whether the name of a column of scores clearly means that lower is better."""
    return isinstance(name, str) and _is_lower(name, of_column=True)


def refuse_open_direction(name: str, argument: str) -> None:
    """Refuse a name that means lower is better if nobody said so; `argument` is how to say it."""
    if is_lower(name):
        raise ValueError(
            f"The name {echo(name)} suggests that lower is better. Pass {argument}, or True if more is better."
        )


@lru_cache(maxsize=1024)
def _is_lower(name: str, *, of_column: bool) -> bool:
    text = re.sub("^(?:number|share|rate) of ", "", " ".join(TOKENS.findall(name)).lower())
    if not of_column and EFFORT.search(text):
        return True
    text = AFTER.sub("", text)
    if AT_RANK.search(name) or MORE.search(text):
        return False
    amount = _STATISTICS.sub("", text)
    if of_column:
        return bool(_OF_COLUMN.search(amount))
    event = _RATES.sub("", text)
    return any((_AMOUNT.search(amount), _EVENT.search(event), _BAD_RATE.search(text), _WORK.search(text)))
