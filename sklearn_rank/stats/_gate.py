"""A gate for a change: whether the new system loses no more than a margin against the old one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from sklearn_rank._comparison.align import Aligned, align, joined_runs, refuse_values
from sklearn_rank._comparison.compare import compare
from sklearn_rank._data.doors import STATISTICS
from sklearn_rank._data.look import findings_in, report
from sklearn_rank._data.nothing import Nothing, nothing_in_words
from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.floors import MET, FloorQueries
from sklearn_rank._estimates.margins import NO_LOSS_SHOWN, NO_WORSE, PairedQueries, segment_tests
from sklearn_rank._estimates.samples import scaled, some
from sklearn_rank._estimates.significance import ComparisonOptions
from sklearn_rank._evaluation.page import add_lists_against
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.segments import SegmentsBy, partition
from sklearn_rank._metric.choices import metric_of_meaning
from sklearn_rank._metric.key_signs import other_spelling
from sklearn_rank._metric.spec import is_adjusted
from sklearn_rank._metric.value_bounds import bounds_of, may_be_settled
from sklearn_rank._report.content import Content, Options
from sklearn_rank._report.has_page import HasPage
from sklearn_rank._tell import gate as words
from sklearn_rank._tell.gate import AboutMetric, GateParts
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, is_key
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lazy import ReadAttribute
from sklearn_rank._utils.table import Table, TableReport, markdown_text, printable
from sklearn_rank.stats._gate_arguments import (
    ALPHA,
    checked_floors,
    largest_losses,
    margins_of,
    refuse_without_baseline,
    segment_margins,
)
from sklearn_rank.stats._gate_page import page_of

T = TypeVar("T")


class OfGate(ReadAttribute[T]):
    """Attribute of a result that its parts have."""

    def read(self, instance: GateResult) -> T:
        """Value of the parts."""
        value: T = getattr(instance._parts, self.name)
        return value


class OfTests(ReadAttribute[dict[str, float]]):
    """Attribute of a result that the test of each metric has."""

    def read(self, instance: GateResult) -> dict[str, float]:
        """Value of each test."""
        return {name: getattr(test, self.name) for name, test in instance._parts.tests.items()}


@dataclass(frozen=True, repr=False, eq=False)
class GateResult(TableReport, HasPage):
    """Decision whether a new system is no worse than an old system, from `no_worse`; true if the gate passes.

    `print` shows everything, and so does pytest with ``assert gate, str(gate)``; the `repr` is one line.

    Attributes
    ----------
    decision : {"no worse", "no loss shown", "met", "worse", "missed", "undecided"}
        The gate passes with the first three: "no worse", without a margin "no loss shown", without an old system "met".
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
    floors, segments : Table
        A row for each floor, and for each segment and metric; without rows if there are none.

    Examples
    --------
    >>> from sklearn_rank.results import Evaluation
    >>> from sklearn_rank.stats import no_worse
    >>> old = Evaluation.from_values(range(4), {"mrr": [0.5, 0.4, 0.6, 0.3]})
    >>> new = Evaluation.from_values(range(4), {"mrr": [0.4, 0.4, 0.7, 0.34]})
    >>> gate = no_worse(new=new, old=old)
    >>> bool(gate), gate.decision, gate.verdict.partition(". ")[2]
    (True, 'no loss shown', 'Losses up to about 0.75 cannot be ruled out.')
    >>> no_worse(new=new, at_least={"mrr": 0.3}).decision
    'undecided'
    """

    _parts: GateParts
    _results: tuple[Evaluation | None, Evaluation]

    margin = OfGate[dict[str, float] | None]("Loss that still counts as no worse, by metric.")
    alpha = OfGate[float]("Probability of each wrong decision.")
    largest_loss = OfGate[dict[str, float]]("Assumed largest loss of a query, by metric.")
    decision = OfGate[str]("The decision by all metrics, segments and floors: the worst of them.")
    decisions = OfGate[dict[str, str]]("Decision of each metric.")
    difference = OfGate[dict[str, float]]("Mean difference by each metric, new minus old.")
    low = OfTests("Lower one-sided bound of each difference.")
    high = OfTests("Upper one-sided bound of each difference.")
    pvalue = OfTests("P-value of the hypothesis that new loses the margin or more, by each metric.")
    n_needed = OfGate[int | None]("Number of queries that would decide if their differences are like these.")
    n_least = OfGate[dict[str, int]]("Smallest number of queries that can show each margin if no query differs.")
    smallest_margin = OfGate[dict[str, float]]("Smallest margin that these queries can show if no query differs.")

    def __bool__(self) -> bool:
        """Whether the gate passes: new is no worse, or without a margin no loss is shown, and each floor is met."""
        return self.decision in (NO_WORSE, NO_LOSS_SHOWN, MET)

    def __repr__(self) -> str:
        """The decision in one line; `str` has the tables."""
        return f"<GateResult: {self.decision}>"

    def __str__(self) -> str:
        """The verdict, the notes and the tables."""
        return super().__repr__()

    @property
    def verdict(self) -> str:
        """The decision and its reason in one sentence."""
        return words.verdict_of(self._parts)

    @property
    def table(self) -> Table:
        """A row for each metric: queries, means, difference, bounds, p-value, margin, the bound that decides, decision.

        The difference is new minus old. "no worse if" shows the bound that decides: ``low > -margin``, or ``high <
        margin`` if lower is better. Without a margin, the table lacks the columns "margin" and "no worse if".
        """
        return words.table_of_metrics(self._parts)

    @property
    def floors(self) -> Table:
        """A row for each floor: queries, mean, bounds, p-value of "met", bound that decides, least mean, decision."""
        return words.table_of_floors(self._parts)

    @property
    def segments(self) -> Table:
        """A row for each segment and metric: queries, means, difference, corrected p-value, margin, decision.

        The decision is "worse", "no loss shown", or "too small" for segments that cannot show a loss beyond the margin.
        """
        return words.table_of_segments(self._parts)

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
        COUNT("n", n, "lost_most")
        pairs = self._parts.pairs
        if not pairs:
            raise ValueError("lost_most needs an old system. Got a gate without old=.")
        metric = next(iter(pairs)) if metric is None else metric
        if not is_key(metric, pairs):
            raise ValueError(
                f"The 'metric' parameter of lost_most must be one of {echo_all(pairs)}. Got {echo(metric)}."
                f"{other_spelling(metric, pairs)}"
            )
        return Table(("query", "old", "new", "difference"), tuple(words.lost(pairs[metric], n)))

    def to_markdown(self) -> str:
        """The decision, its reasons and the tables in Markdown, as a comment on a pull request."""
        head, _, rest = self._title().partition(":")
        notes = (markdown_text(printable(note)) for note in self._notes())
        lines = [f"**{head}**:{markdown_text(printable(rest))}", *notes]
        return "\n\n".join([*lines, super().to_markdown()])

    def _title(self) -> str:
        return self.verdict

    def _notes(self) -> list[str]:
        return words.notes(self._parts)

    def _footer(self) -> str:
        return words.choices(self._parts)

    def _tables(self) -> list[Table]:
        return words.printed_tables(self._parts)

    def _text_tables(self) -> list[Table]:
        return [table.fitted() for table in self._tables()]

    def _content(self, options: Options) -> Content:
        old, new = self._results
        content = page_of(self._parts, old, new, options)
        if old is not None:
            add_lists_against(content, new, old, next(iter(self._parts.pairs)), options)
        return content


@described_as(compare)
@named_arguments
def no_worse(
    *,
    new: Any,
    old: Any = None,
    margin: float | Mapping[str, float] | None = None,
    alpha: float = 0.05,
    largest_loss: float | Mapping[str, float] | None = None,
    at_least: Mapping[str, float] | None = None,
    at_most: Mapping[str, float] | None = None,
    by: SegmentsBy | None = None,
    segment_margin: float | Mapping[Any, float] | None = None,
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
        `old` may be None if there is a floor.
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
    at_least, at_most : dict of str to float, default=None
        Floor of the mean of the new system, such as ``{"recall@10": 0.8}``, and ceiling of metrics of which lower is
        better, both with or without `old`. The metric needs a lowest and a highest value.
    by : str, list of str, or dict from names to values, default=None
        Segments of queries, as in `Evaluation.segments`: a segment whose loss beyond its margin is shown makes the gate
        "worse". None: the attributes of the results, if they have any; an empty list: no segments.
    segment_margin : float or dict of segments to float, default=None
        Margin of segments; None, and segments that a dict omits: the margin of the metric, or 0 without one. A segment
        by several attributes is a tuple of their values.
    clusters : dict or Series from queries to clusters, default=None
        Cluster of each query, such as its user. None: the clusters of the results.
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
    - *segments*: the plain t test at a loss beyond the margin of the segment, with Holm's correction over segments and
      metrics, and p at least ((B + m) / 2B)^n with the margin m and the largest observed difference B. All queries and
      the segments each call a change worse that loses no more than its margins with probability alpha at most.
    - *met*: the lower bound of the mean, with c added queries of the worst value, is above the floor; *missed*: the
      upper bound, with added queries of the best value, is below it, at alpha over the number of floors.
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
    >>> print(gate)
    Not decided: with differences like these about 36 queries are needed (they would show that
    new is no worse). Even if no query differed, 4 could show only 0.75; 0.1 needs 35.
    The difference is new minus old; low and high are its one-sided bounds. No worse: every
    metric passes its 'no worse if', whose bound is at 95 %. Worse: the other bound of some
    metric, at 95 %, is beyond the margin, if no query gains more than those seen.
    The number of needed queries decides with a chance of about 0.8, less for rare losses.
    Which queries no ranking changes is not known for MRR: all queries count.
    metric   queries      old      new   difference       low     high   no worse if   decision
    MRR            4   0.4500   0.4600       0.0100   -0.7495   0.1133   low > -0.1    undecided
    <BLANKLINE>
    lost most   query      old      new   difference
    MRR             0   0.5000   0.4000      -0.1000
    """
    check_arguments("no_worse", alpha=alpha, missing=missing, replace_undefined_by=replace_undefined_by)
    ALPHA("alpha", alpha, "no_worse")
    if old is None:
        compared = {"margin": margin, "largest_loss": largest_loss, "by": by, "segment_margin": segment_margin}
        refuse_without_baseline(at_least or at_most, compared)
    results = joined_runs({"new": new} if old is None else {"new": new, "old": old})
    refuse_values(results, "no_worse")
    floors = checked_floors(at_least, at_most, results["new"])
    margins = {} if old is None else margins_of(margin, results, floors)
    settled_as = math.nan if replace_undefined_by is None else float(replace_undefined_by)
    known = {
        metric: _aligned(results if old is not None and metric in results["old"].per_query else {"new": results["new"]},
                         metric, missing, clusters, settled_as)
        for metric in {**margins, **floors}
    }  # fmt: skip
    nothing = {metric: _nothing(metric, known[metric]) for metric in margins}
    for one in findings_in(evidence=(nothing,)) if nothing else ():
        raise ValueError(one.message)
    report(STATISTICS, [one for of_metric in known.values() for one in of_metric.findings][:1])
    pairs = {metric: _paired(metric, known[metric]) for metric in margins}
    losses = largest_losses(largest_loss, pairs)
    given = None if margin is None else margins
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
    same = bool(pairs) and not any(pair.gain.any() or known[name].n_filled for name, pair in pairs.items())
    n_changed, unknown = compared_lists(results) if same else (None, ())
    names, segments = _segments(by, results, {metric: known[metric] for metric in margins}) if pairs else ((), {})
    of_segments = segment_margins(segment_margin, segments, given or dict.fromkeys(pairs, 0.0))
    parts = GateParts(
        float(alpha), given, losses, pairs,
        {metric: _floor(metric, known[metric], value, settled_as) for metric, value in floors.items()},
        segment_tests(segments, of_segments, losses, float(alpha)),
        {metric: nothing_in_words([metric], why) for metric, why in nothing.items() if why is not None},
        n_changed, names, {metric: _about(metric, of_metric) for metric, of_metric in known.items()}, unknown,
    )  # fmt: skip
    return GateResult(parts, (results.get("old"), results["new"]))


# --- values of both systems on the same queries ------------------------------------------------------------------


def _aligned(
    results: Mapping[str, Evaluation], metric: str, missing: Any, clusters: ClustersLike, settled_as: float
) -> Aligned:
    options = ComparisonOptions(missing=missing)
    return align(results, metric, options, "no_worse", clusters, settled_as=settled_as)


def _nothing(metric: str, aligned: Aligned) -> Nothing | None:
    """Reason why no query can tell the systems apart: also zeros of your own metric, if higher is better."""
    meaning = aligned.meaning or ""
    is_own = metric_of_meaning(meaning) is None and not is_adjusted(meaning)
    may_start_at_zero = bounds_of(metric, meaning)[0] in (0, -math.inf)
    if aligned.nothing is None and is_own and aligned.greater_is_better and may_start_at_zero:
        return None if any(values.any() for values in aligned.values) else Nothing(True, False, 2)
    return aligned.nothing


def _about(metric: str, aligned: Aligned) -> AboutMetric:
    counts, meaning = aligned.counts, aligned.meaning or ""
    leaves_out = counts is not None and counts.counts_as is not None and math.isnan(counts.counts_as)
    n_settled = (counts.n_settled or 0) if counts is not None and leaves_out else 0
    return AboutMetric(
        meaning, aligned.judged, counts, aligned.run_means,
        aligned.settled is not None or not may_be_settled(metric, meaning),
        aligned.n_left_out - n_settled, aligned.n_filled, aligned.about_data,
    )  # fmt: skip


def _paired(metric: str, aligned: Aligned, rows: Any = slice(None)) -> PairedQueries:
    assert aligned.qid is not None
    new, old = aligned.values
    cluster, weight = some(aligned.cluster, rows), scaled(some(aligned.weight, rows))
    low, high = _bounds(metric, aligned)
    return PairedQueries(
        aligned.qid[rows], new[rows], old[rows], aligned.greater_is_better, cluster, weight,
        float(high - low) if math.isfinite(high - low) else None, aligned.between(("new", "old"), rows),
        aligned.means_of(("new", "old"), len(new[rows])),
    )  # fmt: skip


def _floor(metric: str, aligned: Aligned, floor: float, settled_as: float) -> FloorQueries:
    """Values of the new system and a floor; queries that no ranking changes are left out, also if all values are 0."""
    assert aligned.qid is not None
    bounds, rows = _bounds(metric, aligned), np.arange(len(aligned.qid))
    if aligned.settled is not None and math.isnan(settled_as):
        rows = np.flatnonzero(~aligned.settled)
    if len(rows) < 2:
        raise ValueError(
            f"A floor needs two queries or more whose values a ranking can change. Got {len(rows)} for {echo(metric)}."
        )
    if not all(map(math.isfinite, bounds)) or not bounds[0] < floor < bounds[1]:
        known = (
            "no bounds are known"
            if not all(map(math.isfinite, bounds))
            else f"values are from {bounds[0]:g} to {bounds[1]:g}"
        )
        raise ValueError(
            f"A floor of at_least=, or a ceiling of at_most=, must be between the lowest and the highest value of its "
            f"metric, which must have both. Got {floor:g} for {echo(metric)}, of which {known}."
        )
    return FloorQueries(
        aligned.qid[rows], aligned.values[0][rows], floor, bounds, aligned.greater_is_better,
        some(aligned.cluster, rows), scaled(some(aligned.weight, rows)), aligned.between(("new",), rows),
        aligned.means_of(("new",), len(rows)),
    )  # fmt: skip


def _bounds(metric: str, aligned: Aligned) -> tuple[float, float]:
    """Lowest and highest value of a metric, including values that replace undefined values."""
    low, high = bounds_of(metric, aligned.meaning or "")
    return min(low, *(float(x.min()) for x in aligned.values)), max(high, *(float(x.max()) for x in aligned.values))


def _segments(
    by: Any, results: Mapping[str, Evaluation], aligned: Mapping[str, Aligned]
) -> tuple[tuple[str, ...], dict[tuple[tuple[Any, ...], str], PairedQueries]]:
    """Names of attributes, and the queries of each segment by each metric; a query may be in one result only."""
    is_own = by is None or isinstance(by, str | list | tuple)
    if is_own and by is not None and not len(by):
        return (), {}
    both = [results["old"], results["new"]]
    having = [one for one in both if one.attributes] or both[by is None and 2 :] if is_own else both
    names: tuple[str, ...] = ()
    of_query, order = dict[Any, tuple[Any, ...]](), dict[tuple[Any, ...], None]()
    for result in having:
        parts = partition(result, by, "no_worse", words.COLUMNS_OF_SEGMENTS)
        names = parts.by
        order |= dict.fromkeys(parts.values)
        of_query |= zip(result.qid.tolist(), (parts.values[i] for i in parts.segment), strict=True)
    code, found = {segment: i for i, segment in enumerate(order)}, {}
    for metric, one in aligned.items():
        assert one.qid is not None
        codes = np.array([code[of_query[query]] if query in of_query else -1 for query in one.qid.tolist()])
        for segment, i in code.items():
            if len(rows := np.flatnonzero(codes == i)):
                found[segment, metric] = _paired(metric, one, rows)
    return names, found


def compared_lists(results: Mapping[str, Evaluation]) -> tuple[int | None, tuple[str, ...]]:
    """Number of ranked lists that differ, and results of unknown lists; a query of only one system differs."""
    prints = {name: result.ranking_fingerprints for name, result in results.items()}
    if unknown := [name for name, sums in prints.items() if sums is None]:
        return None, tuple(unknown)
    new, old = (
        dict(zip(result.qid.tolist(), np.asarray(prints[name]).tolist(), strict=True))
        for name, result in results.items()
    )
    return sum(new.get(query) != old.get(query) for query in {*new, *old}), ()
