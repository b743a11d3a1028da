"""Prediction-powered inference: people judge a few queries, and a model judges many."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sklearn_rank._comparison.align import Aligned, align, read_values, refuse_values
from sklearn_rank._data.doors import STATISTICS
from sklearn_rank._data.judged import shares_of_judges
from sklearn_rank._data.look import look
from sklearn_rank._engine.grouping import number_together
from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.intervals import Interval
from sklearn_rank._estimates.judged import (
    SAME_SHARE,
    JudgedEstimate,
    JudgedValues,
    allowing_for_unseen,
    estimate,
    people_alone,
)
from sklearn_rank._estimates.proportions import are_successes
from sklearn_rank._estimates.samples import EQUAL_WITHIN, Paired, exact_mean
from sklearn_rank._estimates.significance import ComparisonOptions
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.notes import notes_on_judges
from sklearn_rank._tell.text import ends_of, level_in_words
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.table import LabeledName, P, Table, TableReport
from sklearn_rank._utils.typing import Array
from sklearn_rank._utils.warning import warn_caller

LARGEST_T = 5.0
"""Welch's t of the model's values on people's queries and on the others; a larger t is not due to chance."""

LEAST_WAYS = 1_000_000
"""Number of ways to choose people's queries beyond which a coincidence is ruled out."""

FEWEST_HUMAN = 5

LEAST_OF_MODEL = 0.9
"""Smallest judged share of people's results, as a part of the model's share."""

# --- values of queries -------------------------------------------------------------------------------------------


def judged_values(
    human: Aligned, model: Aligned, given: tuple[Evaluation, Evaluation], systems: Mapping[str, str], function: str
) -> JudgedValues:
    """Values of people and of the model, by query; `systems` are the names of the model's results by people's."""
    of_human, of_model = (_values(aligned) for aligned in (human, model))
    assert human.qid is not None
    assert model.qid is not None
    known, (every, in_model, row, model_row) = number_together([given[0].qid, given[1].qid, human.qid, model.qid])
    by_model = np.zeros(len(known), dtype=bool)
    by_model[in_model] = True
    if not by_model[every].all():
        first = given[0].qid[~by_model[every]]
        raise ValueError(
            f"In {function} the model must have judged every query that people judged. "
            f"Got {len(first)} queries of human that model lacks, the first {echo(first[0])}."
        )
    place = np.full(len(known), -1)
    place[model_row] = np.arange(len(model_row))
    both = place[row] >= 0
    by_people = np.zeros(len(known), dtype=bool)
    by_people[every] = True
    others = of_model[~by_people[model_row]]
    pseudo, bounds, are_rates = _kind_of_values(human, model)
    values = JudgedValues(
        of_human[both], of_model[place[row][both]], others, len(every) - int(both.sum()), pseudo, bounds,
        _least_judged(human, model, systems), len(human.values) > 1, are_rates,
    )  # fmt: skip
    if len(values.human) < FEWEST_HUMAN or len(others) < 2:
        raise ValueError(
            f"{function} needs {FEWEST_HUMAN} queries that people judged and two more that only the model judged. "
            f"Got {len(values.human)} and {len(others)}."
        )
    assert human.metric is not None
    # Judgments that only name relevant documents do not tell which others people read.
    if given[0].judges_both and values.shares[0] < LEAST_OF_MODEL * values.shares[1] - SAME_SHARE:
        raise ValueError(
            f"In {function} people must have judged the documents that the model judged, at least {LEAST_OF_MODEL:g} "
            "times as many: values of partly judged lists are of another scale, which looks like a bias of the model. "
            "Let people judge all documents of some queries, down to the cutoff, instead of some documents of many "
            f"queries. Got {shares_of_judges(values.shares, human.metric)}."
        )
    return allowing_for_unseen(values)


def _least_judged(human: Aligned, model: Aligned, systems: Mapping[str, str]) -> Array:
    """Judged shares, by people and by the model, of the system that people judged least; NaN if unknown."""
    pairs = [(human.judged.get(own, math.nan), model.judged.get(other, math.nan)) for own, other in systems.items()]
    known = [pair for pair in pairs if not np.isnan(pair).any()]
    return np.array(min(known, key=lambda pair: pair[0] - LEAST_OF_MODEL * pair[1], default=(math.nan, math.nan)))


def _kind_of_values(human: Aligned, model: Aligned) -> tuple[Array, Array, bool]:
    """Pseudo queries of success rates, bounds of the values or differences, and whether they are success rates."""
    is_difference = len(human.values) > 1
    if is_difference:
        most = min(human.largest_difference, model.largest_difference)
        bounds = (-most, most)
    else:
        bounds = human.bounds
    are_rates = all(one.is_binary and all(map(are_successes, one.values)) for one in (human, model))
    pseudo = np.array(([1.0, -1.0] if is_difference else [1.0, 0.0]) if are_rates else [])
    return pseudo, np.array(bounds, dtype=np.float64), are_rates


def _values(aligned: Aligned) -> Array:
    first, *others = aligned.values
    return Paired(first, others[0]).values if others else first


def _checked(results: Mapping[str, Any], function: str) -> None:
    look(STATISTICS, models=(results,))
    refuse_values(results, function)
    for name, result in results.items():
        if result.weight is not None or result.clusters is not None:
            what = "sample_weight" if result.clusters is None else "clusters"
            raise ValueError(
                f"{function} takes independent queries that count once each. Got {what} in {name}: evaluate without "
                "them."
            )


def _warn_unless_random(human: Aligned, model: Aligned, name: str) -> bool:
    """Warn if the model's values show that people's queries are not a random part; return whether it warned."""
    assert human.qid is not None
    assert model.qid is not None
    known, (of_people, of_model) = number_together([human.qid, model.qid])
    judged = np.zeros(len(known), bool)
    judged[of_people] = True
    for x in model.values:
        own, others = x[judged[of_model]], x[~judged[of_model]]
        # A few queries can have similar values by chance, so their spread is at least that of the others.
        error = math.hypot(max(own.std(), others.std()) / math.sqrt(len(own)), others.std() / math.sqrt(len(others)))
        # Without any spread, the number of ways to choose the queries decides.
        is_certain = error > 0 or math.comb(len(x), len(own)) > LEAST_WAYS
        if is_certain and abs(own.mean() - others.mean()) > LARGEST_T * error:
            warn_caller(
                f"The queries that people judged are not a random part of all queries: {name} by the model is "
                f"{own.mean():.4g} on them and {others.mean():.4g} on the others, so the result does not hold for the "
                "others. Let people judge queries that are drawn at random."
            )
            return True
    return False


def _warn_of_the_same_judge(given: tuple[Evaluation, Evaluation]) -> None:
    """Warn if the model's labels equal people's on all queries that both judged."""
    sums = [result.label_fingerprints for result in given]
    if sums[0] is None or sums[1] is None:
        return
    known, (own, other) = number_together([result.qid for result in given])
    of_model = np.zeros(len(known), dtype=sums[1].dtype)
    of_model[other] = sums[1]
    if sums[0].any() and (of_model[own] == sums[0]).all():
        warn_caller(
            f"The model's labels equal people's labels on all {len(own)} queries that both judged. If they were copied "
            "from people, the result is wrong: the model must judge these queries itself."
        )


# --- results -----------------------------------------------------------------------------------------------------


def _rows(values: JudgedValues, found: JudgedEstimate, confidence_level: float) -> list[tuple[Any, ...]]:
    human, model, others = values[:3]
    alone, alone_p = people_alone(values, confidence_level)
    everything = np.concatenate([model, others])
    spreads = min(np.ptp(human), np.ptp(model)) > EQUAL_WITHIN * max(np.abs(human).max(), np.abs(model).max())
    correlation = float(np.corrcoef(human, model)[0, 1]) if spreads else None
    return [
        ("both", len(human) + len(others), found.mean, *ends_of(found.interval), found.pvalue, found.lam, None,
         None),
        ("people only", len(human), exact_mean(human), *ends_of(alone), alone_p, None, None, None),
        ("model only", len(everything), exact_mean(everything), None, None, None, None,
         exact_mean(model) - exact_mean(human), correlation),
    ]  # fmt: skip


CORRELATION = LabeledName("correlation", "corr.")
"""Column whose printed head is no longer than its numbers."""

COLUMNS_OF_DIFFERENCE = ("judged by", "queries", "difference", "low", "high", P, "lambda", "bias", CORRELATION)
COLUMNS_OF_MEANS = ("metric", "judged by", "queries", "mean", "low", "high", "lambda", "bias", CORRELATION)


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class JudgedResult(TableReport):
    """What means and differences by two judges have in common."""

    confidence_level: float
    table: Table
    _judging: tuple[str, ...]

    def _notes(self) -> list[str]:
        return [*self._judging]

    def _tables(self) -> list[Table]:
        return [self.table]


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class JudgedInterval(JudgedResult):
    """Means of one system by two judges, from `judged_interval`.

    Attributes
    ----------
    mean : dict of str to float
        Estimate of the mean of each metric if people judged all queries.
    confidence_interval : dict of str to (float, float)
    standard_error : dict of str to float
    lam : dict of str to float
        Lambda, the weight of the model's values, from 0 (only people) to 1.
    table : Table
        Rows for both judges, only people and only the model, for each metric. `bias` is the mean of the model's values
        less people's on the queries that both judged; `correlation` is the correlation of these values.
    confidence_level : float

    Examples
    --------
    >>> from sklearn_rank.results import Evaluation
    >>> from sklearn_rank.stats import judged_interval
    >>> human = Evaluation.from_values(range(5), {"map": [0.3, 0.4, 0.5, 0.6, 0.7]})
    >>> model = Evaluation.from_values(
    ...     range(10), {"map": [0.5, 0.5, 0.7, 0.7, 0.9, 0.4, 0.5, 0.6, 0.7, 0.8]}
    ... )
    >>> found = judged_interval(human, model)
    >>> round(found.mean["map"], 4), round(found.lam["map"], 4)
    (0.4756, 0.4072)
    """

    mean: dict[str, float]
    confidence_interval: dict[str, Interval]
    standard_error: dict[str, float]
    lam: dict[str, float]

    def _title(self) -> str:
        return f"Means by people and a model, {level_in_words(self.confidence_level)}s"

    def _text_tables(self) -> list[Table]:
        return [self.table.fitted()]


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class JudgedDifference(JudgedResult):
    """Difference of two systems by two judges, new minus old, from `compare_judged`.

    Attributes
    ----------
    metric : str
    difference : float
        Estimate of the mean difference if people judged all queries.
    confidence_interval : (float, float)
    pvalue : float
        Two-sided, of the hypothesis that both systems are equally good.
    standard_error, df : float
        Standard error behind the interval and p, and its degrees of freedom; with the pseudo queries of success rates.
    lam : float
        Lambda, the weight of the model's values, from 0 (only people) to 1.
    table : Table
        Rows for both judges, only people and only the model, as in `JudgedInterval`.
    confidence_level : float

    Examples
    --------
    >>> from sklearn_rank.results import Evaluation
    >>> from sklearn_rank.stats import compare_judged
    >>> def of(values):
    ...     return Evaluation.from_values(range(len(values)), {"map": values})
    >>> new = of([0.4, 0.6, 0.5, 0.9, 0.7]), of([0.5, 0.6, 0.7, 0.9, 0.9] * 2)
    >>> old = of([0.3, 0.4, 0.5, 0.6, 0.7]), of([0.5, 0.5, 0.7, 0.7, 0.9] * 2)
    >>> found = compare_judged(new=new, old=old)
    >>> round(found.difference, 4), round(found.pvalue, 4), round(found.lam, 4)
    (0.12, 0.0371, 0.6187)
    """

    metric: str
    difference: float
    confidence_interval: Interval
    pvalue: float
    standard_error: float
    df: float
    lam: float

    def _title(self) -> str:
        level = level_in_words(self.confidence_level)
        return f"Difference of {display_name(self.metric)}, new minus old, by people and a model, {level}s"


# --- the functions -----------------------------------------------------------------------------------------------


@named_arguments
def judged_interval(human: Any, model: Any, *, confidence_level: float = 0.95) -> JudgedInterval:
    """Mean of each metric if people judged a few queries and a model, such as an LLM, judged many.

    The queries that both judged measure the model's bias, which is subtracted (prediction-powered inference). The less
    the judges agree, the less the model's values count. With a useless model, the interval is that of people only.

    Parameters
    ----------
    human : Evaluation
        Result of the system by people's labels. Its queries must be a **random** part of the queries of `model`. If
        people judged only queries that were easy or looked wrong, the result does not hold for the others. People must
        judge all documents of their queries, down to the cutoff.
    model : Evaluation
        Result of the same system on all queries, with the same metrics, by the model's labels. The model must also
        judge people's queries, and must not have seen their labels.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.

    Returns
    -------
    JudgedInterval
        ``mean``, ``confidence_interval``, ``standard_error`` and ``lam`` by metric. ``table`` also has rows for only
        people and only the model.

    Raises
    ------
    ValueError
        If people judged fewer than 5 queries, or a query that the model did not judge; if people judged less than 0.9
        times the model's share of the documents down to the cutoff of a metric; if both arguments are the same object;
        if metrics differ; or if queries have weights or clusters.
    TypeError
        If an argument is not a result.

    Warns
    -----
    UserWarning
        If the labels of both judges are equal on all queries that both judged, or if people's queries are not a random
        part: Welch's t of the model's values on these queries and on the others is beyond 5.

    Notes
    -----
    Let Y be people's values of n queries, F the model's values of the same queries, and G its values of the N others.
    The estimate is ``mean(Y) + lambda (mean(G) - mean(F))`` with the squared standard error ``var(Y - lambda F) / n +
    lambda^2 var(G) / N`` and ``lambda = cov(Y, F) / ((1 + n / N) var(F and G))``, cut to 0..1. ppi-python computes the
    same numbers, but its interval uses normal quantiles; this interval uses Student's t with n - 1 degrees of freedom.
    If people judged a smaller share of the documents than the model, a note has both shares; nothing is checked if a
    result does not know its share, or if people's labels only name relevant documents.
    Queries on which the metric is undefined (NaN) for a judge are left out. Intervals end at the bounds of the metric.
    `judge_agreement` compares the labels.

    For a success rate (a metric that is 0 or 1 by definition), two pseudo queries are added to people's queries before
    lambda, mean and variance are computed; on these, the model is wrong once in each direction. The returned mean does
    not include the pseudo queries. The interval of only people is Wilson's. Values of other metrics with bounds
    get one pseudo query at each bound, with n - 1 degrees of freedom, if people's values Y, or Y - lambda F, are skewed
    for their number or all equal; a note says so.

    References
    ----------
    A. N. Angelopoulos, J. C. Duchi, T. Zrnic: PPI++: efficient prediction-powered inference. arXiv 2311.01453, 2023.

    H. Oosterhuis, R. Jagerman, Z. Qin, X. Wang, M. Bendersky: Reliable confidence intervals for information retrieval
    evaluation using generative A.I. KDD 2024, arXiv 2407.02464.

    Examples
    --------
    The model's values are 0.2 too high on the five queries that both judged. On the other queries, the model's mean is
    0.1 lower. With lambda = 0.4, this lowers the mean of 0.5 by 0.04:

    >>> from sklearn_rank.results import Evaluation
    >>> from sklearn_rank.stats import judged_interval
    >>> people, other = [0.3, 0.4, 0.5, 0.6, 0.7], [0.4, 0.5, 0.6, 0.7, 0.8]
    >>> human = Evaluation.from_values(range(5), {"ndcg@10": people})
    >>> model = Evaluation.from_values(
    ...     range(10), {"ndcg@10": [0.5, 0.6, 0.7, 0.8, 0.9, *other]}
    ... )
    >>> judged_interval(human, model)
    Means by people and a model, 95 % intervals
    5 queries judged by people are few: with fewer than 20 intervals may be too short.
    The model is right, or wrong by the same, in nDCG@10 on all queries of people: the interval
    may be too short, or there is none.
    metric    judged by      queries     mean      low     high   lambda     bias    corr.
    ndcg@10   both                10   0.4600   0.3334   0.5866   0.4000
    ndcg@10   people only         5   0.5000   0.3037   0.6963
    ndcg@10   model only         10   0.6500                              0.2000   1.0000
    """
    check_arguments("judged_interval", confidence_level=confidence_level)
    results: dict[str, Any] = {"human": human, "model": model}
    _checked(results, "judged_interval")
    for name, other in ((human, model), (model, human)):
        if lacking := [metric for metric in name.per_query if metric not in other.per_query]:
            raise ValueError(
                "judged_interval needs results with the same metrics. "
                f"Got {echo_all(lacking)} only in {'human' if name is human else 'model'}."
            )
    values, warned = {}, False
    for metric in human.per_query:
        read_values(results, metric, "judged_interval")
        aligned = [
            align({name: result}, metric, ComparisonOptions(), "judged_interval") for name, result in results.items()
        ]
        values[metric] = judged_values(aligned[0], aligned[1], (human, model), {"human": "model"}, "judged_interval")
        warned = warned or _warn_unless_random(aligned[0], aligned[1], display_name(metric))
    _warn_of_the_same_judge((human, model))
    level = float(confidence_level)
    estimates = {name: estimate(one, level) for name, one in values.items()}
    rows = [(name, *row) for name, one in values.items() for row in _rows(one, estimates[name], level)]
    return JudgedInterval(
        confidence_level=level, table=Table(COLUMNS_OF_MEANS, tuple((*row[:6], *row[7:]) for row in rows)),
        _judging=notes_on_judges(values, has_runs=any(result.run_means for result in results.values())),
        mean={name: one.mean for name, one in estimates.items()},
        confidence_interval={name: one.interval for name, one in estimates.items()},
        standard_error={name: one.standard_error for name, one in estimates.items()},
        lam={name: one.lam for name, one in estimates.items()},
    )  # fmt: skip


@named_arguments
def compare_judged(
    *, new: tuple[Any, Any], old: tuple[Any, Any], metric: str | None = None, confidence_level: float = 0.95
) -> JudgedDifference:
    """Compare two systems if people judged a few queries and a model, such as an LLM, judged many.

    Parameters
    ----------
    new, old : (Evaluation, Evaluation)
        Results of each system by people's labels and by the model's labels, as in `judged_interval`. Both systems must
        have the same queries and labels.
    metric : str, default=None
        Metric to compare. None: the only metric of the results.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.

    Returns
    -------
    JudgedDifference
        ``difference``, ``confidence_interval``, ``pvalue`` and ``lam``. ``table`` also has rows for only people and
        only the model.

    Raises
    ------
    ValueError
        As in `judged_interval`, and if the two systems were judged by different labels.
    TypeError
        If a system is not a pair of results.

    Warns
    -----
    UserWarning
        As in `judged_interval`.

    Notes
    -----
    The function applies the formulas of `judged_interval` to the differences of each query, new minus old. For success
    rates, `new` wins one of the two pseudo queries and loses the other, and the model sees no difference on them; p
    uses the same standard error. Skewed differences of another metric get the same pseudo queries, with differences as
    large as its range. If all differences by people are equal, there is no interval, and p is the p-value of a sign
    test.

    Examples
    --------
    The model sees half of the difference that people see, 0.06 instead of 0.12, but on the same queries:

    >>> from sklearn_rank.results import Evaluation
    >>> from sklearn_rank.stats import compare_judged
    >>> def of(values):
    ...     return Evaluation.from_values(range(len(values)), {"map": values})
    >>> new = of([0.4, 0.6, 0.5, 0.9, 0.7]), of([0.5, 0.6, 0.7, 0.9, 0.9] * 2)
    >>> old = of([0.3, 0.4, 0.5, 0.6, 0.7]), of([0.5, 0.5, 0.7, 0.7, 0.9] * 2)
    >>> compare_judged(new=new, old=old)
    Difference of MAP, new minus old, by people and a model, 95 % intervals
    5 queries judged by people are few: with fewer than 20 intervals may be too short.
    judged by      queries   difference       low     high        p   lambda      bias    corr.
    both                10       0.1200    0.0117   0.2283   0.0371   0.6187
    people only         5       0.1200   -0.0419   0.2819   0.1087
    model only         10       0.0600                                        -0.0600   0.9432
    """
    check_arguments("compare_judged", confidence_level=confidence_level)
    for name, pair in (("new", new), ("old", old)):
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(
                f"compare_judged takes a pair of results for each system: {name}=(human, model). Got {echo(pair)}."
            )
    of_people, of_model = (
        {f"{name} by {judge}": pair[i] for name, pair in (("new", new), ("old", old))}
        for i, judge in ((0, "people"), (1, "the model"))
    )
    results = of_people | of_model
    _checked(results, "compare_judged")
    (found, *_) = read_values(results, metric, "compare_judged")
    assert found.metric is not None
    aligned = [align(x, found.metric, ComparisonOptions(), "compare_judged") for x in (of_people, of_model)]
    systems = dict(zip(of_people, of_model, strict=True))
    values = judged_values(aligned[0], aligned[1], (new[0], new[1]), systems, "compare_judged")
    _warn_unless_random(aligned[0], aligned[1], display_name(found.metric))
    _warn_of_the_same_judge((new[0], new[1]))
    level = float(confidence_level)
    both = estimate(values, level)
    return JudgedDifference(
        confidence_level=level, table=Table(COLUMNS_OF_DIFFERENCE, tuple(_rows(values, both, level))),
        _judging=notes_on_judges(
            {found.metric: values}, has_runs=any(result.run_means for result in results.values())
        ),
        metric=found.metric, difference=both.mean,
        confidence_interval=both.interval, pvalue=both.pvalue, standard_error=both.standard_error,
        df=len(values.human) - 1.0, lam=both.lam,
    )  # fmt: skip
