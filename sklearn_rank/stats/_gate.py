"""A gate for a change: whether the new system loses no more than a margin against the old one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._comparison.align import Aligned, align, joined_runs, refuse_values
from sklearn_rank._data.doors import STATISTICS
from sklearn_rank._data.judged import judged_note
from sklearn_rank._data.look import findings_in, report
from sklearn_rank._data.nothing import Nothing, nothing_in_words
from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.noninferiority import (
    Aim,
    UnitSums,
    WithLosses,
    n_for_all,
    n_for_some,
    smallest_margin,
    t_quantile,
)
from sklearn_rank._estimates.runs import Between, RunMeans
from sklearn_rank._estimates.samples import EQUAL_WITHIN, Paired, Sample, exact_mean, is_concentrated, ratio, sample_of
from sklearn_rank._estimates.significance import ComparisonOptions, t_pvalue
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.choices import QueryCounts, choices_in_words, metric_of_meaning
from sklearn_rank._metric.key_signs import other_spelling
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import is_adjusted
from sklearn_rank._metric.value_bounds import bounds_of, may_be_settled
from sklearn_rank._report.content import Content, Difference, Mean, Means, Options, instead_of, made_of
from sklearn_rank._report.has_page import HasPage
from sklearn_rank._tell.notes import between_runs, skew_note
from sklearn_rank._tell.text import between
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, is_key
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.table import Table, TableReport, markdown_text, printable
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.stats._gate_arguments import ALPHA, checked_margins, largest_losses, margins_of

NO_WORSE, IS_WORSE, UNDECIDED, NO_LOSS_SHOWN = "no worse", "worse", "undecided", "no loss shown"

CHANCE = 0.8
"""Probability that the number of queries in the note of an undecided gate decides."""

IF_NO_OTHERS_GAIN = "if no query gains more than those seen"
"""Assumption of the decision "worse"."""

N_SHOWN = 5
"""Queries that are printed for each metric: those that lost most."""


# --- the decision on one metric ----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """Values of the new and the old system by one metric, on the same queries.

    `span`: highest less lowest value of the metric; None if it is unbounded or unknown. `counts`: counts of all
    queries, if known. `nothing`: reason why no query can tell the systems apart. `run_means`: mean of each run of
    systems with several runs. `knows_settled`: whether it is known which queries no ranking changes. `between`:
    variance between runs.
    """

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
    span: float | None
    counts: QueryCounts | None
    nothing: str
    run_means: RunMeans
    knows_settled: bool
    between: Between

    @cached_property
    def gain(self) -> Array:
        """Gain of each query: new minus old, or old minus new if lower is better; positive if new is better."""
        better, other = (self.new, self.old) if self.greater_is_better else (self.old, self.new)
        return Paired(better, other).values

    def new_less_old(self, gain: Any) -> Any:
        """Difference, new minus old, that belongs to a gain."""
        return gain if self.greater_is_better else 0.0 - gain  # -gain would print -0.0000

    @cached_property
    def mean_gain(self) -> float:
        """Mean gain."""
        return self.mean(self.gain)

    @cached_property
    def sample(self) -> Sample:
        """Gains of queries or clusters, with the standard error of their mean."""
        return sample_of(self.gain, self.cluster, self.weight)

    @cached_property
    def sums(self) -> UnitSums:
        """Sums of the gains over queries or clusters."""
        return UnitSums.of(self.sample)

    @cached_property
    def largest_difference(self) -> float:
        """Size of the largest difference of a query."""
        return float(np.abs(self.gain).max())

    @property
    def range_seen(self) -> float:
        """Highest minus lowest value of both systems; if all values are equal, their absolute value, or 1."""
        both = np.concatenate([self.new, self.old])
        return float(np.ptp(both) or np.abs(both).max() or 1.0)

    def mean(self, x: Array) -> float:
        """Mean of a system."""
        return exact_mean(x, self.weight)

    @property
    def n_settled_left_out(self) -> int:
        """Number of queries left out because their judgments fix the value."""
        if self.counts is None or self.counts.counts_as is None or not math.isnan(self.counts.counts_as):
            return 0
        return self.counts.n_settled or 0

    @property
    def n_clusters(self) -> int | None:
        """Number of clusters; None if queries are independent."""
        return None if self.cluster is None else len(distinct_values(self.cluster))


class MarginTest(NamedTuple):
    """One-sided bounds of a mean difference, new minus old, the p-value and the decision, for a margin."""

    low: float
    high: float
    pvalue: float
    decision: str


def margin_test(
    pair: PairedQueries, margin: float | None, largest_loss: float, alpha: float, n_metrics: int
) -> MarginTest:
    """Test a mean gain against -margin: for "no worse" at `alpha`, for "worse" at `alpha / n_metrics`."""
    mean, (standard_error, df) = pair.mean_gain, pair.between.widened(pair.sample.standard_error, pair.sample.df)
    level = alpha / n_metrics
    lowest = WithLosses(pair.sums, largest_loss, alpha, pair.between)
    # The other side adds queries that win the largest difference seen, or the largest loss if all differences are 0.
    highest = WithLosses(pair.sums.mirrored, pair.largest_difference or largest_loss, level, pair.between)
    loses = t_pvalue(ratio(above_margin(pair, margin or 0.0), standard_error), df, "less")
    is_worse = max(loses, highest.pvalue(-(margin or 0.0)))
    pvalue = is_worse if margin is None else lowest.pvalue(margin)
    decision = UNDECIDED if margin is not None else NO_LOSS_SHOWN
    if is_worse <= level:
        decision = IS_WORSE
    elif margin is not None and pvalue <= alpha:
        decision = NO_WORSE
    high = max(mean + t_quantile(level, df) * standard_error, -highest.low())
    bounds = max(lowest.low(), -largest_loss), high if pair.span is None else min(high, pair.span)
    low, high = sorted(map(pair.new_less_old, bounds))
    return MarginTest(low, high, pvalue, decision)


def above_margin(pair: PairedQueries, margin: float) -> float:
    """Gain plus the margin; exactly zero if it is only a rounding error."""
    above = pair.mean_gain + margin
    return above if abs(above) > EQUAL_WITHIN * max(np.abs(pair.new).max(), np.abs(pair.old).max()) else 0.0


# --- lists that did not change -----------------------------------------------------------------------------------


class ComparedLists(NamedTuple):
    """Number of ranked lists that differ; None if the results in `unknown` have no fingerprints of rankings."""

    n_changed: int | None
    unknown: tuple[str, ...] = ()


def compared_lists(results: Mapping[str, Evaluation]) -> ComparedLists:
    """Compare the ranked lists of both systems by query; a query that only one system has counts as different."""
    prints = {name: result.ranking_fingerprints for name, result in results.items()}
    if unknown := [name for name, sums in prints.items() if sums is None]:
        return ComparedLists(None, tuple(unknown))
    new, old = (
        dict(zip(result.qid.tolist(), np.asarray(prints[name]).tolist(), strict=True))
        for name, result in results.items()
    )
    return ComparedLists(sum(new.get(query) != old.get(query) for query in {*new, *old}))


# --- the result --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, repr=False, eq=False)
class GateResult(TableReport, HasPage):
    """Decision whether a new system is no worse than an old system, from `no_worse`; true if the gate passes.

    Attributes
    ----------
    decision : {"no worse", "worse", "undecided", "no loss shown"}
        The gate passes with "no worse", and without a margin with "no loss shown".
    decisions : dict of str to str
        Decision of each metric.
    verdict : str
        The decision and its reason in one sentence.
    difference : dict of str to float
        Mean of new minus mean of old for every metric. If lower values are better, a negative difference is a gain.
    low, high : dict of str to float
        One-sided bounds of the difference. The bound that decides on "no worse" has level 1 - alpha: `low`, or `high`
        if lower values are better. The other bound has level 1 - alpha / number of metrics.
    pvalue : dict of str to float
        P-value of the hypothesis that new loses the margin or more; without a margin, that it does not lose.
    n_needed : int or None
        Number of queries that would decide with a probability of about 0.8 if their differences are like these, and
        0.71 to 0.79 if losses are rare. None if the gate has decided, or if no number of queries would decide.
    n_least : dict of str to int
        Smallest number of queries that can show the margin if no query differs. Empty without a margin.
    smallest_margin : dict of str to float
        Smallest margin that these queries can show if no query differs; infinite if they cannot show any margin.
    margin : dict of str to float, or None
        Loss that still counts as no worse, by metric. None: the gate only looks for a loss.
    alpha : float
    largest_loss : dict of str to float
        Assumed largest loss of a query: the range of the metric, or the argument of `no_worse`.
    """

    margin: dict[str, float] | None
    alpha: float
    largest_loss: dict[str, float]
    _pairs: dict[str, PairedQueries]
    _lists: ComparedLists
    _results: tuple[Evaluation, Evaluation]

    @cached_property
    def _tests(self) -> dict[str, MarginTest]:
        """Bounds, p-value and decision of each metric."""
        n_metrics = len(self._pairs)
        tests = {
            name: margin_test(pair, self._margin(name), self.largest_loss[name], self.alpha, n_metrics)
            for name, pair in self._pairs.items()
        }
        if self._lists.n_changed == 0:
            passed = NO_LOSS_SHOWN if self.margin is None else NO_WORSE
            tests = {name: test._replace(decision=passed) for name, test in tests.items()}
        if self.margin is None:
            return tests
        return {n: t._replace(decision=UNDECIDED) if self._pairs[n].nothing else t for n, t in tests.items()}

    def _margin(self, metric: str) -> float | None:
        return None if self.margin is None else self.margin[metric]

    @property
    def decision(self) -> str:
        """The decision by all metrics: "no worse", "worse", "undecided", or "no loss shown" without a margin."""
        decided = {*self.decisions.values()}
        if IS_WORSE in decided:
            return IS_WORSE
        return decided.pop() if len(decided) == 1 else UNDECIDED

    def __bool__(self) -> bool:
        """Whether the gate passes: the new system is no worse, or without a margin no loss is shown."""
        return self.decision in (NO_WORSE, NO_LOSS_SHOWN)

    @property
    def decisions(self) -> dict[str, str]:
        """Decision of each metric."""
        return {name: test.decision for name, test in self._tests.items()}

    @property
    def verdict(self) -> str:
        """The decision and its reason in one sentence."""
        decision, alpha = self.decision, self.alpha
        nothing = [pair.nothing for pair in self._pairs.values() if pair.nothing]
        if nothing and decision == UNDECIDED:
            return f"Not decided: {nothing[0]}"
        if self._lists.n_changed == 0:
            head = "No worse" if decision == NO_WORSE else "No loss is shown"
            n_queries = max(len(pair.qid) for pair in self._pairs.values())
            return (
                f"{head}: the lists are identical on all {n_queries} queries, so nothing was changed here. This is not "
                "a test: other queries may differ."
            )
        if decision == NO_LOSS_SHOWN:
            return self._no_loss_shown()
        if decision == NO_WORSE:
            return f"No worse: new does not lose more than the margin, alpha={alpha:g}"
        if decision == IS_WORSE:
            losing = ", ".join(name for name, of_metric in self.decisions.items() if of_metric == IS_WORSE)
            more = "" if self.margin is None else " more than the margin"
            return f"Worse: new loses{more} in {losing}, alpha={alpha:g}"
        return f"Not decided: {self._needs()}"

    def _needs(self) -> str:
        """Number of queries that would decide, and the margin that these queries cannot show."""
        needed, said = self.n_needed, "no number of queries would decide if differences stay like these."
        if needed is None and any(pair.between.variance for pair in self._pairs.values()):
            said = "more runs, not more queries, would decide if differences stay like these."
        if needed is not None:
            word = "worse" if self._behind else "no worse"
            said = (
                f"with differences like these about {needed} queries are needed (they would show that new is {word})."
            )
        too_few = {
            name: n for name, n in self.n_least.items()
            if self.decisions[name] == UNDECIDED and len(self._pairs[name].qid) < n
        }  # fmt: skip
        if not too_few:
            return said
        metric = max(too_few, key=too_few.__getitem__)
        where, smallest = f" in {metric}" if len(self._pairs) > 1 else "", self.smallest_margin[metric]
        can = f"only {rounded_up(smallest)}" if math.isfinite(smallest) else "no margin"
        return (
            f"{said} Even if no query differed, {len(self._pairs[metric].qid)} could show {can}{where}; "
            f"{self._margin(metric):g} needs {too_few[metric]}."
        )

    @property
    def _behind(self) -> list[str]:
        """Metrics whose mean loss is above the margin."""
        return [name for name, margin in (self.margin or {}).items() if above_margin(self._pairs[name], margin) < 0]

    def _no_loss_shown(self) -> str:
        """Sentence if no loss is shown: the differences, and the losses that are not ruled out."""
        n_queries = {len(pair.qid) for pair in self._pairs.values()}
        several, where = len(self._pairs) > 1, f" on {n_queries.pop()} queries" if len(n_queries) == 1 else ""
        parts, losses = [], []
        for metric, pair in self._pairs.items():
            loss = -self.low[metric] if pair.greater_is_better else self.high[metric]
            queries = "" if where else f" on {len(pair.qid)} queries"
            name, inside = (f"{metric} ", f" in {metric}") if several else ("", "")
            won, lost = (pair.gain > 0).sum(), (pair.gain < 0).sum()
            parts.append(f"{name}{self.difference[metric]:+.4f}{queries} ({won} won, {lost} lost)")
            if loss > 0:
                losses.append(f"about {loss:.2g}{inside}")
        left = f"Losses are ruled out, alpha={self.alpha:g}."
        if losses:
            *most, last = losses
            left = f"Losses up to {' and '.join(filter(None, [', '.join(most), last]))} cannot be ruled out."
        return f"No loss is shown{where}: {', '.join(parts)}. {left}"

    @property
    def difference(self) -> dict[str, float]:
        """Mean difference by each metric, new minus old."""
        return {name: pair.new_less_old(pair.mean_gain) for name, pair in self._pairs.items()}

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
        """Number of queries that would decide with a probability of about 0.8 if their differences are like these.

        All metrics must pass on these queries, including those that pass here.
        """
        if self.decision != UNDECIDED or any(pair.nothing for pair in self._pairs.values()):
            return None
        aims = self._aims
        if behind := self._behind:
            level = self.alpha / len(self._pairs)
            seen = {name: self._pairs[name].largest_difference for name in behind}
            n = n_for_some(
                [replace(aims[name].mirrored, largest_loss=seen[name], alpha=level) for name in behind], CHANCE
            )
        elif any(above_margin(self._pairs[name], aim.margin) == 0 for name, aim in aims.items()):
            return None
        else:
            n = n_for_all([*aims.values()], CHANCE)
        return None if math.isinf(n) else int(n)

    @property
    def _aims(self) -> dict[str, Aim]:
        """Test of each metric for no worse."""
        return {
            name: Aim(pair.sums, len(pair.qid), margin, self.largest_loss[name], self.alpha, pair.between)
            for name, margin in (self.margin or {}).items()
            for pair in [self._pairs[name]]
        }

    @cached_property
    def n_least(self) -> dict[str, int]:
        """Smallest number of queries that can show each margin if no query differs; empty without a margin."""
        return {name: aim.n_least for name, aim in self._aims.items() if aim.margin > 0}

    @property
    def smallest_margin(self) -> dict[str, float]:
        """Smallest margin of each metric that these queries can show if no query differs."""
        return {
            name: smallest_margin(pair.sums, self.largest_loss[name], self.alpha) for name, pair in self._pairs.items()
        }

    @property
    def table(self) -> Table:
        """A row for each metric: queries, means, difference, bounds, p-value, margin, the bound that decides, decision.

        The difference is new minus old. "no worse if" shows the bound that decides: ``low > -margin``, or ``high <
        margin`` if lower is better. Without a margin, the table lacks the columns "margin" and "no worse if".
        """
        rows = []
        for name, pair in self._pairs.items():
            test, means, margin = self._tests[name], (pair.mean(pair.old), pair.mean(pair.new)), self._margin(name)
            numbers = (name, len(pair.qid), *means, self.difference[name], test.low, test.high, test.pvalue)
            passes: tuple[Any, ...] = ()
            if margin is not None:
                passes = (margin, f"low > {0.0 - margin:g}" if pair.greater_is_better else f"high < {margin:g}")
            rows.append((*numbers, *passes, test.decision))
        return Table(COLUMNS if self.margin is not None else COLUMNS_OF_ALARM, tuple(rows))

    def lost_most(self, n: int = 10, *, metric: str | None = None) -> Table:
        """Queries on which the new system lost most, the largest loss first.

        Parameters
        ----------
        n : int, default=10
            Number of queries.
        metric : str, default=None
            One of the metrics. None: the first.

        Returns
        -------
        Table
            Query ids, both values, and the difference, new minus old: negative, or positive if lower values are better.
            The table omits queries without a loss.

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
        notes = (markdown_text(printable(note)) for note in self._notes())
        lines = [f"**{head}**:{markdown_text(printable(rest))}", *notes]
        return "\n\n".join([*lines, super().to_markdown()])

    def _title(self) -> str:
        return self.verdict

    def _notes(self) -> list[str]:
        pairs, level, other = self._pairs, 100 * (1 - self.alpha), 100 * (1 - self.alpha / len(self._pairs))
        if self._lists.n_changed == 0:
            notes = ["The difference is new minus old; low and high are its one-sided bounds. They do not decide here."]
        elif self.margin is None:
            levels = f"{level:g} %"
            levels += f" on the side of a loss, at {other:.4g} % on the other" if len(pairs) > 1 else ""
            notes = [
                f"The difference is new minus old; low and high are its one-sided bounds, at {levels}. Worse: new "
                f"loses by both bounds of some metric, {IF_NO_OTHERS_GAIN}."
            ]
        else:
            notes = [
                f"The difference is new minus old; low and high are its one-sided bounds. No worse: every metric "
                f"passes its {PASSES!r}, whose bound is at {level:g} %. Worse: the other bound of some metric, at "
                f"{other:.4g} %, is beyond the margin, {IF_NO_OTHERS_GAIN}."
            ]
        nothing = [pair.nothing for pair in pairs.values() if pair.nothing]
        notes += [text for text in nothing if text not in self.verdict]
        if self.n_needed is not None:
            notes.append(
                f"The number of needed queries decides with a chance of about {CHANCE:g}, less for rare losses."
            )
        notes += [*self._notes_on_lists(), *self._assumptions()]
        if errors := [name for name, pair in pairs.items() if not pair.greater_is_better]:
            notes.append(f"Lower is better in {', '.join(errors)}.")
        first = next(iter(pairs.values()))
        if first.n_clusters is not None:
            notes.append(
                f"Queries come in {first.n_clusters} clusters; the level holds if losses do not depend on size."
            )
        if first.weight is not None:
            notes.append("Means are weighted; the level holds if losses do not depend on weight.")
        if concentrated := [name for name, pair in pairs.items() if is_concentrated(pair.sample)]:
            notes.append(skew_note(concentrated))
        if unknown := [name for name, pair in pairs.items() if not pair.knows_settled]:
            notes.append(f"Which queries no ranking changes is not known for {', '.join(unknown)}: all queries count.")
        for name, pair in pairs.items():
            if n_left_out := pair.n_left_out - pair.n_settled_left_out:
                left = "queries are" if n_left_out > 1 else "query is"
                zero = "" if pair.weight is None else " or the weight is 0"
                notes.append(f"{n_left_out} {left} left out of {name}: it is undefined there{zero}.")
        if first.n_filled:
            notes.append(f"{first.n_filled} values of missing queries are filled in.")
        about_runs = between_runs({name: pair.run_means for name, pair in pairs.items()}, ("new", "old"))
        return notes + [*filter(None, [about_runs, judged_note({name: pair.judged for name, pair in pairs.items()})])]

    def _notes_on_lists(self) -> list[str]:
        """Notes if no query differs in value and the lists are not known to be identical."""
        if self._lists.n_changed == 0 or any(pair.gain.any() for pair in self._pairs.values()):
            return []
        n_units = min(pair.sums.n for pair in self._pairs.values())
        others = "queries" if next(iter(self._pairs.values())).cluster is None else "clusters"
        share = 100 * (1 - self.alpha ** (1 / n_units))
        notes = [
            f"No query differs in value. With {100 * (1 - self.alpha):g} % confidence at most {share:.2g} % of other "
            f"{others} do."
        ]
        if self._lists.unknown:
            notes.append(
                f"Whether the lists are identical, which would pass, is not known: {echo_all(self._lists.unknown)} "
                f"{'has' if len(self._lists.unknown) == 1 else 'have'} no fingerprints of rankings. Results of "
                "evaluate_run have them, and of evaluate unless all rows come in the order of their ranks; they are "
                "saved, too. Given values, subsets, batches and sparse matrices have none."
            )
        elif self._lists.n_changed:
            n = self._lists.n_changed
            notes.append(f"The lists of {n} queries differ." if n > 1 else "The list of 1 query differs.")
        return notes

    def _assumptions(self) -> list[str]:
        """Notes on the largest loss of a query if it is not the range of the metric."""
        stated = dict[float, list[str]]()
        for name, pair in self._pairs.items():
            if (loss := self.largest_loss[name]) != pair.span:
                stated.setdefault(loss, []).append(name)
        unbounded = [name for name, pair in self._pairs.items() if pair.span is None]
        notes = [
            f"Assumed: no query loses more than {loss:.4g} in {', '.join(names)}." for loss, names in stated.items()
        ]
        if unbounded:
            notes.append(f"The level is not guaranteed for {', '.join(unbounded)}: no bounds are known.")
        return notes

    def _footer(self) -> str:
        counts = {name: pair.counts for name, pair in self._pairs.items() if pair.counts is not None}
        return choices_in_words({name: pair.meaning for name, pair in self._pairs.items()}, counts)

    def _tables(self) -> list[Table]:
        table = self.table
        shown = [i for i, name in enumerate(table.columns) if name not in ("p", "margin")]
        of_metrics = Table(
            tuple(table.columns[i] for i in shown), tuple(tuple(row[i] for i in shown) for row in table.rows)
        )
        lost = tuple((name, *row) for name in self._pairs for row in self._lost(name, N_SHOWN))
        head = ("lost most", "query", "old", "new", "difference")
        return [of_metrics, Table(head, lost)] if lost else [of_metrics]

    def _text_tables(self) -> list[Table]:
        return [table.fitted() for table in self._tables()]

    def _content(self, options: Options) -> Content:
        metrics, first = [*self._pairs], next(iter(self._pairs.values()))
        systems, ids = ["old", "new"], first.qid.tolist()
        values, means = {}, []
        for j, (metric, pair) in enumerate(self._pairs.items()):
            for i, of_system in enumerate((pair.old, pair.new)):
                known = dict(zip(pair.qid.tolist(), of_system.tolist(), strict=True))
                values[i, j] = np.array([known.get(one, np.nan) for one in ids])
            found, of_means = self._shown(metric), (pair.mean(pair.old), pair.mean(pair.new))
            rows = [
                Mean(name, mean, None, None, against, False)
                for name, mean, against in zip(systems, of_means, (None, found), strict=True)
            ]
            means.append(Means(display_name(metric), pair.greater_is_better, rows, self._margin(metric)))
        found, (of_old, of_new) = self._shown(metrics[0]), means[0].rows
        bounds = f"bounds {between(found.low, found.high, signed=True)}"
        heading, _, rest = self.verdict.partition(": ")
        old, new = self._results
        content = Content(
            kind="Gate: is the new system no worse than the old one?", heading=[("", heading)],
            lead=[[("", rest[:1].upper() + rest[1:])],
                  instead_of(means[0].metric, of_old.mean, of_new.mean, found, first.mean_gain, bounds)],
            facts=[(f"{len(ids):,}", "queries"), (f"{len(metrics)}", "metric" if len(metrics) == 1 else "metrics"),
                   (f"{100 * (1 - self.alpha):g} %", "level of the bounds")],
            notes=self._notes(), choices=self._footer(), means=means, level="", systems=systems, baseline=0, shown=1,
            metrics=[*map(display_name, metrics)], greater_is_better=[one.greater_is_better for one in means], depth=0,
            ids=ids, values=values, text=options.text, query_text=options.query_text,
            made=made_of([(display_name(name), pair.meaning) for name, pair in self._pairs.items()], old, options.code),
            dots="Dots are differences, lines their one-sided bounds; right is better. Filled: the gate decides."
            + (" The dashed line is the margin." if self.margin is not None else ""),
        )  # fmt: skip
        if isinstance(new, HasPage):
            new._add_lists(content, old, metrics[0], options)
        return content

    def _shown(self, metric: str) -> Difference:
        """Numbers of a metric for the page."""
        test, gain = self._tests[metric], self._pairs[metric].gain
        won, tied, lost = (int(one.sum()) for one in (gain > 0, gain == 0, gain < 0))
        decided = test.decision in (NO_WORSE, IS_WORSE)
        return Difference(self.difference[metric], test.low, test.high, test.pvalue, won, tied, lost, decided)


def rounded_up(x: float) -> str:
    """A positive number, rounded up to two digits."""
    step = 10.0 ** (math.floor(math.log10(x)) - 1)
    return f"{math.ceil(round(x / step, 9)) * step:.2g}"


PASSES = "no worse if"
"""Column that shows which bound decides, and the value that it must pass."""

COLUMNS = ("metric", "queries", "old", "new", "difference", "low", "high", "p", "margin", PASSES, "decision")
COLUMNS_OF_ALARM = tuple(name for name in COLUMNS if name not in ("margin", PASSES))


@named_arguments
def no_worse(
    *,
    new: Any,
    old: Any,
    margin: float | Mapping[str, float] | None = None,
    alpha: float = 0.05,
    largest_loss: float | Mapping[str, float] | None = None,
    clusters: ClustersLike = None,
    missing: Any = "raise",
    replace_undefined_by: float | None = None,
) -> GateResult:
    """Decide whether a new system is no worse than the old system: it loses at most a margin by every metric.

    With a margin, the gate asks for proof: a system that loses the margin gets "no worse" with probability alpha at
    most. Without a margin, the gate is an alarm: it decides "worse" if the queries show a loss, and otherwise "no loss
    shown".

    Parameters
    ----------
    new, old : Evaluation or list of Evaluation
        Results of `evaluate` on the same queries and labels; a comparison keeps them in ``report.results["name"]``.
        Queries are matched by id. A list of results holds several runs of one system, see `Evaluation.of_runs`.
    margin : float or dict of str to float, default=None
        Loss that still counts as no worse, in units of the metric: 0.01 is one point of nDCG. A number holds for all
        metrics of the results; a dict selects the metrics that count. None: look only for a loss.
    alpha : float, default=0.05
        Probability of each wrong decision, below 0.5: to call a system no worse that loses the margin or more, and to
        call a system worse that loses less.
    largest_loss : float or dict of str to float, default=None
        Largest loss that a query can have, in units of the metric. If it is smaller than the range of the metric, fewer
        queries suffice, and the result states this assumption. None, and metrics that a dict omits: the range of the
        metric, which is 1 for nDCG. Metrics without bounds, such as "dcg" and "mse", and values under a name of your
        own use the range of the values of both systems, with a note.
    clusters : dict or Series from queries to clusters, default=None
        Cluster of each query, such as its user. None: the clusters of the results.
    missing : "raise", "worst" or float, default="raise"
        Value of a query that is missing in one system. "worst": the worst value of the metric, such as 0 for nDCG; a
        metric without one, such as an error without an upper bound, needs a number. The best value is refused, because
        a missing list is no success. ``nan`` leaves the query out of both.
    replace_undefined_by : float, default=None
        Value of queries whose judgments fix the value of a metric for every system: no document is relevant, or all
        labels are equal although the metric needs two. Such queries contain no information about a change, so None and
        ``nan`` leave them out; with a number, such as 0, they count. A query on which both systems found nothing always
        counts. Given values, and results that an earlier version saved, may not know these queries: then all queries
        count with their values, and a note says so, unless the other result knows them and both have the fingerprints
        of the same labels.

    Returns
    -------
    GateResult
        Result with ``verdict``, ``decision``, ``n_needed``, ``lost_most()`` and ``to_markdown()``. It is true if the
        decision is "no worse", or without a margin "no loss shown".

    Raises
    ------
    ValueError
        If a margin is negative, missing, or so large that every system would pass; if `largest_loss` is not above 0, is
        above the range of the metric, or is below the loss of a query; if a metric is missing in a result, or is not a
        mean over queries; if labels, weights or queries differ; if fewer than two queries are left; or if no query can
        tell the systems apart by any metric, because no document is relevant or neither system found one.
    TypeError
        If an argument is not a result, or a margin or largest loss is not a number.

    Notes
    -----
    Few queries without a loss do not show that losses do not exist: if 1 query in 100 loses everything, 50 queries show
    no loss with probability 0.61. So the test adds c queries that lose everything: c = max(1, 1.5 + (z^2 - 2.706) / 3)
    with the normal quantile z of 1 - alpha, which is 1.5 at 0.05 and 2.4 at 0.01. Let d be the gains of n queries, new
    - old, or old - new if lower is better, and B the largest loss of a query:

    - mean = (sum d - c B) / (n + c), variance = (sum d^2 + c B^2) / (n + c) - mean^2, standard error s =
      sqrt(variance / n).
    - *no worse*: the lower bound mean - t(1 - alpha) s > -margin for **every** metric, with the quantile t of Student's
      distribution for n degrees of freedom. Every metric must pass, so no correction is needed (intersection-union
      test: R. L. Berger: Multiparameter hypothesis testing and acceptance sampling. Technometrics 24, 1982).
    - *worse*: for **some** of the k metrics, the plain t test finds a loss above the margin at alpha / k (Bonferroni),
      and so does the same bound on the other side, where B is the largest observed difference. This assumes that no
      query gains more than those seen.
    - *undecided*: all other results, and if no query can tell the systems apart by some metric. Without a margin, the
      test of *worse* uses a margin of 0, and all other results are *no loss shown*.

    The p-value is the alpha at which the bound meets the margin. With several runs of a system, the variance between
    runs is added to s^2 and to the squared standard error of the t test, see `Evaluation.of_runs`; `n_needed` holds the
    runs, and n_least and `smallest_margin` ignore them. With weights or clusters, d are sums over units of sizes s, and
    an added unit has the size sum s^2 / sum s; the level holds if losses do not depend on size or weight.
    ``docs/decide/measured.md`` shows how often a system that loses the margin passes; no proof covers every
    distribution. The tests compare the bound with N. Gaffke: Three test statistics for a nonparametric one-sided
    hypothesis on the mean of a nonnegative variable. Mathematical Methods of Statistics 14, 2005.

    Examples
    --------
    The differences -0.1, 0, 0.1, 0.04 have mean 0.01. Four queries say little about others: with 1.5 lost queries, the
    mean is (0.04 - 1.5) / 5.5 = -0.265, the standard error 0.2271, and the 95 % bound -0.265 - 2.132 * 0.2271 = -0.749.

    >>> from sklearn_rank.results import Evaluation
    >>> from sklearn_rank.stats import no_worse
    >>> old = Evaluation.from_values(range(4), {"mrr": [0.5, 0.4, 0.6, 0.3]})
    >>> new = Evaluation.from_values(range(4), {"mrr": [0.4, 0.4, 0.7, 0.34]})
    >>> gate = no_worse(new=new, old=old, margin=0.1)
    >>> gate.decision, round(gate.low["mrr"], 3), bool(gate)
    ('undecided', -0.749, False)
    >>> gate
    Not decided: with differences like these about 36 queries are needed (they would show that
    new is no worse). Even if no query differed, 4 could show only 0.75; 0.1 needs 35.
    The difference is new minus old; low and high are its one-sided bounds. No worse: every
    metric passes its 'no worse if', whose bound is at 95 %. Worse: the other bound of some
    metric, at 95 %, is beyond the margin, if no query gains more than those seen.
    The number of needed queries decides with a chance of about 0.8, less for rare losses.
    Which queries no ranking changes is not known for mrr: all queries count.
    metric   queries      old      new   difference       low     high   no worse if   decision
    mrr            4   0.4500   0.4600       0.0100   -0.7495   0.1133   low > -0.1    undecided
    <BLANKLINE>
    lost most   query      old      new   difference
    mrr             0   0.5000   0.4000      -0.1000

    Without a margin the gate only sounds an alarm:

    >>> gate = no_worse(new=new, old=old)
    >>> gate.decision, gate.verdict.partition(". ")[2]
    ('no loss shown', 'Losses up to about 0.75 cannot be ruled out.')
    """
    check_arguments("no_worse", alpha=alpha, missing=missing)
    ALPHA.check("alpha", alpha, "no_worse")
    results = joined_runs({"new": new, "old": old})
    refuse_values(results, "no_worse")
    margins = margins_of(margin, results)
    options = ComparisonOptions(missing=missing)
    check_arguments("no_worse", replace_undefined_by=replace_undefined_by)
    settled_as = math.nan if replace_undefined_by is None else float(replace_undefined_by)
    aligned = {
        metric: align(results, metric, options, "no_worse", clusters, settled_as=settled_as) for metric in margins
    }
    nothing = {metric: _nothing(metric, of_metric) for metric, of_metric in aligned.items()}
    for one in findings_in(evidence=(nothing,)):
        raise ValueError(one.message)
    report(STATISTICS, [one for of_metric in aligned.values() for one in of_metric.findings][:1])
    pairs = {metric: _paired(metric, of_metric, nothing[metric]) for metric, of_metric in aligned.items()}
    losses = largest_losses(largest_loss, pairs)
    given = None if margin is None else checked_margins(margins, [*pairs])
    for metric, value in (given or {}).items():
        largest = max(np.abs(pairs[metric].new).max(), np.abs(pairs[metric].old).max())
        if value >= min(largest, losses[metric]) > 0:
            which = f"whose largest value here is {largest:.4g}"
            if losses[metric] < largest:
                which = f"whose largest_loss is {losses[metric]:.4g}"
            raise ValueError(
                f"A margin is in units of the metric, such as 0.01, and must be below its largest value, or every "
                f"system would be no worse. Got {value:g} for {echo(metric)}, {which}."
            )
    # Fingerprints of rankings take as long as metrics, so compare them only if no value differs.
    same = not any(pair.gain.any() or pair.n_filled for pair in pairs.values())
    lists = compared_lists(results) if same else ComparedLists(None)
    return GateResult(given, float(alpha), losses, pairs, lists, (results["old"], results["new"]))


# --- values of both systems on the same queries ------------------------------------------------------------------


def _nothing(metric: str, aligned: Aligned) -> Nothing | None:
    """Reason why no query can tell the systems apart: also zeros of your own metric, if higher is better."""
    meaning = aligned.meaning or ""
    is_own = metric_of_meaning(meaning) is None and not is_adjusted(meaning)
    may_start_at_zero = bounds_of(metric, meaning)[0] in (0, -math.inf)
    if aligned.nothing is None and is_own and aligned.greater_is_better and may_start_at_zero:
        return None if any(values.any() for values in aligned.values) else Nothing(True, False, 2)
    return aligned.nothing


def _paired(metric: str, aligned: Aligned, nothing: Nothing | None) -> PairedQueries:
    """Values of one metric, matched by query."""
    assert aligned.qid is not None
    (new, old), meaning = aligned.values, aligned.meaning or ""
    return PairedQueries(
        aligned.qid, new, old, aligned.greater_is_better, aligned.cluster, aligned.weight, aligned.n_left_out,
        aligned.n_filled, meaning, aligned.judged, _span(bounds_of(metric, meaning), new, old), aligned.counts,
        "" if nothing is None else nothing_in_words([metric], nothing), aligned.run_means,
        aligned.settled is not None or not may_be_settled(metric, meaning), aligned.between(("new", "old")),
    )  # fmt: skip


def _span(bounds: tuple[float, float], new: Array, old: Array) -> float | None:
    """Highest minus lowest value of a metric, including values that replace undefined values; None without bounds."""
    low = min(bounds[0], float(new.min()), float(old.min()))
    high = max(bounds[1], float(new.max()), float(old.max()))
    return float(high - low) if math.isfinite(high - low) else None
