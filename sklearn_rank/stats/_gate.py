"""A gate for a change: whether the new system loses no more than a margin against the old one."""

from __future__ import annotations

import difflib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Self, TypeGuard

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._metric.choices import choices_in_words
from sklearn_rank._metric.key_signs import other_spelling
from sklearn_rank._misuse.check import report
from sklearn_rank._misuse.doors import STATISTICS
from sklearn_rank._misuse.judged import judged_note
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, Constraint, is_key, is_real
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.storage import KINDS, Saveable, SavedArrays, names, part
from sklearn_rank._utils.table import Table, TableReport, markdown_text
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.stats._align import Aligned, QueryResult, align, is_result
from sklearn_rank.stats._arguments import check_arguments
from sklearn_rank.stats._intervals import skew_note
from sklearn_rank.stats._power import power_of
from sklearn_rank.stats._samples import EQUAL_WITHIN, Paired, exact_mean, is_skewed, ratio, sample_of
from sklearn_rank.stats._significance import ComparisonOptions, t_pvalue

NO_WORSE, IS_WORSE, UNDECIDED = "no worse", "worse", "undecided"

CHANCE = 0.8
"""Probability of a decision on as many queries as an undecided gate asks for."""

N_SHOWN = 5
"""Queries that are printed for each metric: those that lost most."""

ALPHA = Constraint("above 0 and below 0.5", lambda v: is_real(v) and 0 < v < 0.5, "")
MARGIN = (
    "The 'margin' parameter of no_worse must be a number >= 0, the loss that is still no worse in units of the metric, "
    "or a dict of such numbers by metric."
)


# --- a mean and how sure it is -----------------------------------------------------------------------------------


class MeanEstimate(NamedTuple):
    """Mean over queries, its standard error, and the degrees of freedom of its t statistic."""

    mean: float
    standard_error: float
    df: float


def estimate_mean(x: Array, cluster: Index | None = None, weight: Array | None = None) -> MeanEstimate:
    """Mean of values per query and its standard error, which allows for clusters and for weights.

    With weights the mean is a ratio, linearized as in R's survey::svymean and HC1 of statsmodels' WLS.
    """
    sample = sample_of(x, cluster, weight)
    return MeanEstimate(exact_mean(x, weight), sample.standard_error, sample.df)


# --- the decision on one metric ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """Values of the new and the old system by one metric, on the same queries."""

    qid: NDArray[Any]
    new: Array
    old: Array
    greater_is_better: bool
    cluster: Index | None
    weight: Array | None
    n_left_out: int
    n_filled: int
    meaning: str
    judged: dict[str, float]

    @cached_property
    def gain(self) -> Array:
        """Gain of each query: new less old, or old less new if lower is better; positive where new is better."""
        better, other = (self.new, self.old) if self.greater_is_better else (self.old, self.new)
        return Paired(better, other).values

    def new_less_old(self, gain: Any) -> Any:
        """Difference, new less old, that belongs to a gain."""
        return gain if self.greater_is_better else 0.0 - gain  # -gain would print -0.0000

    @cached_property
    def estimate(self) -> MeanEstimate:
        """Mean gain."""
        return estimate_mean(self.gain, self.cluster, self.weight)

    def mean(self, x: Array) -> float:
        """Mean of a system."""
        return estimate_mean(x, None, self.weight).mean

    @property
    def n_clusters(self) -> int | None:
        """Clusters of the queries; None where queries are independent."""
        return None if self.cluster is None else len(distinct_values(self.cluster))


class MarginTest(NamedTuple):
    """One-sided bounds of a mean difference, new less old, the p-value and the decision, for a margin."""

    low: float
    high: float
    pvalue: float
    decision: str


def margin_test(pair: PairedQueries, margin: float, alpha: float, n_metrics: int) -> MarginTest:
    """Test a mean gain against -margin, to one side by `alpha`, to the other by `alpha` over all metrics."""
    mean, standard_error, df = pair.estimate
    to_low, to_high = (float(stats.t.isf(level, df)) * standard_error for level in (alpha, alpha / n_metrics))
    above = above_margin(pair, margin)
    pvalue = t_pvalue(ratio(above, standard_error), df, "greater")
    decision = NO_WORSE if above > to_low else IS_WORSE if above < -to_high else UNDECIDED
    low, high = sorted((pair.new_less_old(mean - to_low), pair.new_less_old(mean + to_high)))
    return MarginTest(low, high, pvalue, decision if pair.gain.any() else NO_WORSE)


def above_margin(pair: PairedQueries, margin: float) -> float:
    """Gain plus the margin; exactly zero where it is rounding only."""
    above = pair.estimate.mean + margin
    return above if abs(above) > EQUAL_WITHIN * max(np.abs(pair.new).max(), np.abs(pair.old).max()) else 0.0


def n_to_decide(pair: PairedQueries, margin: float, alpha: float, alternative: str) -> float:
    """Number of queries with which the test decides, by a chance of `CHANCE`; infinite if none does."""
    n = pair.estimate.df + 1
    std = pair.estimate.standard_error * math.sqrt(n)
    try:
        found = power_of(std, difference=above_margin(pair, margin), power=CHANCE, alpha=alpha, alternative=alternative)
    except ValueError:
        return math.inf
    return math.ceil(found * len(pair.gain) / n)


# --- the result --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class GateResult(TableReport, Saveable):
    """Decision whether a new system is no worse than an old one, from `no_worse`; true only for "no worse".

    Attributes
    ----------
    decision : {"no worse", "worse", "undecided"}
    decisions : dict of str to str
        Decision by each metric alone.
    difference : dict of str to float
        Mean of new less mean of old, of every metric: where lower values are better, new is better if it is negative.
    low, high : dict of str to float
        One-sided bounds of the difference. The bound that decides on "no worse" has level 1 - alpha: `low`, or `high`
        where lower values are better. The other one has level 1 - alpha / number of metrics.
    pvalue : dict of str to float
        P-value of the hypothesis that new loses the margin or more.
    n_needed : int or None
        Number of queries that would decide with a chance of 0.8 if their differences are like these; None if it is
        decided, or no number would.
    margin : dict of str to float
    alpha : float
    """

    margin: dict[str, float]
    alpha: float
    _pairs: dict[str, PairedQueries]

    @cached_property
    def _tests(self) -> dict[str, MarginTest]:
        n_metrics = len(self._pairs)
        return {name: margin_test(x, self.margin[name], self.alpha, n_metrics) for name, x in self._pairs.items()}

    @property
    def decision(self) -> str:
        """The decision: "no worse" by every metric, "worse" by some metric, or "undecided"."""
        decided = {*self.decisions.values()}
        return IS_WORSE if IS_WORSE in decided else NO_WORSE if decided == {NO_WORSE} else UNDECIDED

    def __bool__(self) -> bool:
        """Whether the new system is no worse."""
        return self.decision == NO_WORSE

    @property
    def decisions(self) -> dict[str, str]:
        """Decision by each metric alone."""
        return {name: test.decision for name, test in self._tests.items()}

    @property
    def difference(self) -> dict[str, float]:
        """Mean difference by each metric, new less old."""
        return {name: pair.new_less_old(pair.estimate.mean) for name, pair in self._pairs.items()}

    @property
    def low(self) -> dict[str, float]:
        """Lower one-sided bound of each difference."""
        return {name: test.low for name, test in self._tests.items()}

    @property
    def high(self) -> dict[str, float]:
        """Upper one-sided bound of each difference."""
        return {name: test.high for name, test in self._tests.items()}

    @property
    def pvalue(self) -> dict[str, float]:
        """P-value of the hypothesis that new loses the margin or more, by each metric."""
        return {name: test.pvalue for name, test in self._tests.items()}

    @cached_property
    def n_needed(self) -> int | None:
        """Number of queries that would decide, with a chance of 0.8, if their differences are like these."""
        if self.decision != UNDECIDED:
            return None
        pairs = [(pair, self.margin[name]) for name, pair in self._pairs.items() if self.decisions[name] == UNDECIDED]
        behind = [one for one in pairs if above_margin(*one) < 0]
        if behind:
            n = min(n_to_decide(*one, self.alpha / len(self._pairs), "less") for one in behind)
        else:
            n = max(n_to_decide(*one, self.alpha, "greater") for one in pairs)
        return None if math.isinf(n) else int(n)

    @property
    def table(self) -> Table:
        """A row for each metric: queries, means, difference, bounds, p-value, margin, the bound that decides, decision.

        The difference is new less old. "no worse if" says which bound decides: ``low > -margin``, or ``high < margin``
        where lower is better.
        """
        rows = []
        for name, pair in self._pairs.items():
            test, means, margin = self._tests[name], (pair.mean(pair.old), pair.mean(pair.new)), self.margin[name]
            passes = f"low > {0.0 - margin:g}" if pair.greater_is_better else f"high < {margin:g}"
            rows.append(
                (name, len(pair.qid), *means, self.difference[name], test.low, test.high, test.pvalue, margin, passes,
                 test.decision)
            )  # fmt: skip
        return Table(COLUMNS, tuple(rows))

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame; needs the extra "pandas"."""
        return self.table.to_frame()

    def lost_most(self, n: int = 10, *, metric: str | None = None) -> Table:
        """Queries on which the new system lost most, the largest loss first.

        Parameters
        ----------
        n : int, default=10
            Number of queries.
        metric : str, default=None
            One of the metrics; None: the first.

        Returns
        -------
        Table
            Query ids, both values, and the difference, new less old: it is negative, or positive where lower values
            are better. Queries without a loss are not in it.

        Raises
        ------
        ValueError
            If there is no such metric, or `n` is not an int >= 1.
        """
        COUNT.check("n", n, "lost_most")
        metric = next(iter(self._pairs)) if metric is None else metric
        if not is_key(metric, self._pairs):
            raise ValueError(
                f"The 'metric' parameter of lost_most must be one of {echo_all(self._pairs)}. Got {echo(metric)}."
                f"{other_spelling(metric, self._pairs)}"
            )
        return Table(("query", "old", "new", "difference"), tuple(self._lost(metric, n)))

    def _lost(self, metric: str, n: int) -> list[tuple[Any, ...]]:
        pair = self._pairs[metric]
        order = np.argsort(pair.gain, kind="stable")[: min(n, int((pair.gain < 0).sum()))]
        columns = (pair.qid, pair.old, pair.new, pair.new_less_old(pair.gain))
        return [*zip(*(column[order].tolist() for column in columns), strict=True)]

    def to_markdown(self) -> str:
        """The decision, its reasons and the tables in Markdown, as a comment on a pull request.

        Returns
        -------
        str
        """
        head, _, rest = self._title().partition(":")
        lines = [f"**{head}**:{rest}", *map(markdown_text, self._notes())]
        return "\n\n".join([*lines, super().to_markdown()])

    def _title(self) -> str:
        losing = ", ".join(name for name, decision in self.decisions.items() if decision == IS_WORSE)
        text = {
            NO_WORSE: "No worse: new does not lose more than the margin",
            IS_WORSE: f"Worse: new loses more than the margin in {losing}",
            UNDECIDED: "Undecided: new may lose more than the margin, or less",
        }
        return f"{text[self.decision]}, alpha={self.alpha:g}"

    def _notes(self) -> list[str]:
        pairs, level, other = self._pairs, 100 * (1 - self.alpha), 100 * (1 - self.alpha / len(self._pairs))
        notes = [
            f"The difference is new less old; low and high are its one-sided bounds. No worse: every metric passes its "
            f"{PASSES!r}, whose bound is at {level:g} %. Worse: the other bound of some metric, at {other:.4g} %, is "
            "beyond the margin."
        ]
        if self.decision == UNDECIDED:
            needed = self.n_needed
            notes.append(
                "No number of queries would decide: new loses just the margin."
                if needed is None
                else f"About {needed} queries would decide, with a chance of {CHANCE:g}, if differences stay as these."
            )
        if errors := [name for name, pair in pairs.items() if not pair.greater_is_better]:
            notes.append(f"Lower is better in {', '.join(errors)}.")
        first = next(iter(pairs.values()))
        if first.n_clusters is not None:
            notes.append(f"Queries come in {first.n_clusters} clusters.")
        if first.weight is not None:
            notes.append("Means are weighted.")
        for name, pair in pairs.items():
            if pair.n_left_out:
                notes.append(f"{pair.n_left_out} queries are left out of {name}: it is undefined there.")
        samples = {name: sample_of(pair.gain, pair.cluster, pair.weight) for name, pair in pairs.items()}
        if skewed := [name for name, sample in samples.items() if is_skewed(sample)]:
            notes.append(skew_note(skewed))
        if first.n_filled:
            notes.append(f"{first.n_filled} values of missing queries are filled in.")
        return notes + [*filter(None, [judged_note({name: pair.judged for name, pair in pairs.items()})])]

    def _footer(self) -> str:
        return choices_in_words({name: pair.meaning for name, pair in self._pairs.items()})

    def _tables(self) -> list[Table]:
        of_metrics = Table(
            tuple(name for name in COLUMNS if name not in ("p", "margin")),
            tuple((*row[:7], *row[9:]) for row in self.table.rows),
        )
        lost = tuple((name, *row) for name in self._pairs for row in self._lost(name, N_SHOWN))
        head = ("lost most", "query", "old", "new", "difference")
        return [of_metrics, Table(head, lost)] if lost else [of_metrics]

    def _text_tables(self) -> list[Table]:
        return [table.fitted() for table in self._tables()]

    def _to_saved(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        arrays: dict[str, NDArray[Any]] = {}
        words = []
        for i, (name, pair) in enumerate(self._pairs.items()):
            words.append(
                {
                    "name": name, "margin": self.margin[name], "greater_is_better": pair.greater_is_better,
                    "n_left_out": pair.n_left_out, "n_filled": pair.n_filled, "meaning": pair.meaning,
                    "judged": pair.judged,
                }
            )  # fmt: skip
            columns = {
                "qid": pair.qid,
                "new": pair.new,
                "old": pair.old,
                "cluster": pair.cluster,
                "weight": pair.weight,
            }
            arrays |= {f"{column} {i}": values for column, values in columns.items() if values is not None}
        return {"alpha": self.alpha, "metrics": words}, arrays

    @classmethod
    def _from_saved(cls, words: Mapping[str, Any], arrays: SavedArrays) -> Self:
        metrics = part(words, "metrics", list)
        names({"metrics": [part(metric, "name", str) for metric in metrics]}, "metrics")
        pairs, alpha = {}, float(part(words, "alpha", float))
        ALPHA.check("alpha", alpha, "no_worse")
        of_metrics = [arrays.ending(f" {i}") for i, _ in enumerate(metrics)]
        for of_metric in of_metrics:
            _check_headers(of_metric)
        for metric, of_metric in zip(metrics, of_metrics, strict=True):
            pairs[metric["name"]] = _saved_pair(metric, of_metric)
        return cls(_checked_margins({m["name"]: m["margin"] for m in metrics}, [*pairs]), alpha, pairs)


PASSES = "no worse if"
"""Column that says which bound decides, and what it must pass."""

COLUMNS = ("metric", "queries", "old", "new", "difference", "low", "high", "p", "margin", PASSES, "decision")


def _check_headers(arrays: SavedArrays) -> None:
    """Check that the headers of the values of a metric fit together."""
    (n,) = arrays.check("qid", (None,), KINDS)
    kinds = {"new": "f", "old": "f", "cluster": "iu", "weight": "f"}
    for name, kind in kinds.items():
        if name in arrays or name in ("new", "old"):
            arrays.check(name, (n,), kind)
    if n < 2:
        raise ValueError("there must be two queries or more")


def _saved_pair(words: Mapping[str, Any], arrays: SavedArrays) -> PairedQueries:
    """Values of a metric."""
    return PairedQueries(
        arrays["qid"], arrays["new"], arrays["old"], part(words, "greater_is_better", bool), arrays.get("cluster"),
        arrays.get("weight"), part(words, "n_left_out", int), part(words, "n_filled", int),
        part(words, "meaning", str), {name: float(share) for name, share in words.get("judged", {}).items()},
    )  # fmt: skip


@named_arguments
def no_worse(
    *,
    new: Any,
    old: Any,
    margin: float | Mapping[str, float],
    alpha: float = 0.05,
    clusters: ClustersLike = None,
    missing: Any = "raise",
) -> GateResult:
    """Decide whether a new system is no worse than the old one: by any metric it loses no more than a margin.

    Parameters
    ----------
    new, old : Evaluation
        Results of `evaluate` on the same queries and labels; a comparison has them in ``report.results["name"]``.
        Queries are matched by id.
    margin : float or dict of str to float
        Loss that still counts as no worse, in units of the metric: 0.01 is one point of nDCG. A dict names the metrics
        that count; one number holds for all metrics of the results.
    alpha : float, default=0.05
        Probability of each wrong decision, at most 0.5: to call a system no worse that loses the margin or more, and to
        call one worse that loses less.
    clusters : dict or Series from queries to clusters, default=None
        What each query belongs to, such as a user. None: as the results say.
    missing : "raise" or float, default="raise"
        Value of a query that one system lacks; ``nan`` leaves it out.

    Returns
    -------
    GateResult
        ``decision``, ``n_needed``, ``lost_most()``, ``to_markdown()``; true only if the decision is "no worse".

    Raises
    ------
    ValueError
        If a margin is negative, missing, or so large that every system would pass; if a metric is not in both results,
        or is not a mean over queries; if labels, weights or queries differ; or if fewer than two queries are left.
    TypeError
        If these are not results, or a margin is not a number.

    Notes
    -----
    With d the mean difference new - old of a metric, s its standard error and t the quantile of Student's distribution:

    - *no worse*: the lower bound d - t(1 - alpha) s > -margin for **every** metric. All must pass, so no correction is
      needed (an intersection-union test: R. L. Berger: Multiparameter hypothesis testing and acceptance sampling.
      Technometrics 24, 1982).
    - *worse*: the upper bound d + t(1 - alpha / m) s < -margin for **some** of the m metrics (Bonferroni).
    - *undecided* otherwise.

    If lower values are better, the upper bound decides: *no worse* is d + t(1 - alpha) s < margin, *worse* is d -
    t(1 - alpha / m) s > margin. The table says which bound decides.

    Clusters and weights of the results count: with clusters s is the one that `confidence_interval` describes; with
    weights the linearized one of survey sampling. Two systems without any difference are no worse, by every margin.

    Examples
    --------
    The differences -0.1, 0, 0.1, 0.04 have mean 0.01 and standard error 0.042, so the 95 % bound is 0.01 - 2.353 *
    0.042 = -0.089: a loss of 0.1 is ruled out, one of 0.05 is not.

    >>> from sklearn_rank.results import Evaluation
    >>> from sklearn_rank.stats import no_worse
    >>> old = Evaluation.from_values(range(4), {"mrr": [0.5, 0.4, 0.6, 0.3]})
    >>> new = Evaluation.from_values(range(4), {"mrr": [0.4, 0.4, 0.7, 0.34]})
    >>> bool(no_worse(new=new, old=old, margin=0.1))
    True
    >>> no_worse(new=new, old=old, margin={"mrr": 0.05})
    Undecided: new may lose more than the margin, or less, alpha=0.05
    The difference is new less old; low and high are its one-sided bounds. No worse: every
    metric passes its 'no worse if', whose bound is at 95 %. Worse: the other bound of some
    metric, at 95 %, is beyond the margin.
    About 14 queries would decide, with a chance of 0.8, if differences stay as these.
    metric   queries      old      new   difference       low     high   no worse if   decision
    mrr            4   0.4500   0.4600       0.0100   -0.0889   0.1089   low > -0.05   undecided
    <BLANKLINE>
    lost most   query      old      new   difference
    mrr             0   0.5000   0.4000      -0.1000
    """
    check_arguments("no_worse", alpha=alpha, missing=missing)
    ALPHA.check("alpha", alpha, "no_worse")
    results = {"new": new, "old": old}
    if not _are_results(results):
        name = next(name for name, result in results.items() if not is_result(result))
        raise TypeError(
            "no_worse takes two results of evaluate; of values computed elsewhere make them by "
            f"Evaluation.from_values(qid, {{'ndcg@10': values}}). Got {type(results[name]).__name__} for {name!r}."
        )
    margins = _margins(margin, results)
    options = ComparisonOptions(missing=missing)
    aligned = {metric: align(results, metric, options, "no_worse", clusters) for metric in margins}
    report(STATISTICS, [one for of_metric in aligned.values() for one in of_metric.findings][:1])
    pairs = {metric: _paired(of_metric) for metric, of_metric in aligned.items()}
    for metric, pair in pairs.items():
        largest = max(np.abs(pair.new).max(), np.abs(pair.old).max())
        if margins[metric] >= largest > 0:
            raise ValueError(
                f"A margin is in units of the metric, such as 0.01, and must be below its largest value, or every "
                f"system would be no worse. Got {margins[metric]:g} for {echo(metric)}, whose largest value here is "
                f"{largest:.4g}."
            )
    return GateResult(margins, float(alpha), pairs)


def _are_results(results: Mapping[str, Any]) -> TypeGuard[Mapping[str, QueryResult]]:
    return all(is_result(result) for result in results.values())


def _margins(margin: Any, results: Mapping[str, QueryResult]) -> dict[str, float]:
    """Margin of each metric that counts, all of them metrics of both results."""
    new, old = (result.per_query for result in results.values())
    if not isinstance(margin, Mapping):
        if differ := [name for name in (*new, *old) if not (is_key(name, new) and is_key(name, old))]:
            raise ValueError(
                "One margin for all metrics needs results with the same metrics; a dict such as "
                f"margin={{{echo(next(iter(new)))}: 0.01}} names those that count. Got {echo(differ[0])} in only one."
            )
        return _checked_margins(dict.fromkeys(new, margin), [*new])
    both = [name for name in new if is_key(name, old)]
    return _checked_margins(dict(margin), both)


def _checked_margins(margins: dict[Any, Any], known: list[str]) -> dict[str, float]:
    """Margins as floats."""
    if not margins:
        raise ValueError(f"{MARGIN} Got {echo(margins)}, which names no metric.")
    for name, value in margins.items():
        if name not in known:
            near = difflib.get_close_matches(str(name), known, n=1)
            hint = other_spelling(name, known) or (f" Did you mean {echo(near[0])}?" if near else "")
            raise ValueError(
                f"The 'margin' parameter of no_worse must name metrics of both results: {echo_all(known)}. "
                f"Got {echo(name)}.{hint}"
            )
        if not is_real(value):
            raise (ValueError if isinstance(value, float) else TypeError)(f"{MARGIN} Got {echo(value)}.")
        if value < 0:
            raise ValueError(
                f"{MARGIN} To ask whether new is better, use stats.compare. Got {value:g} for {echo(name)}."
            )
    return {name: float(value) for name, value in margins.items()}


# --- values of both systems on the same queries ------------------------------------------------------------------


def _paired(aligned: Aligned) -> PairedQueries:
    """Values of one metric, matched by query."""
    assert aligned.qid is not None
    new, old = aligned.values
    return PairedQueries(
        aligned.qid, new, old, aligned.greater_is_better, aligned.cluster, aligned.weight, aligned.n_left_out,
        aligned.n_filled, aligned.meaning or "", aligned.judged,
    )  # fmt: skip
