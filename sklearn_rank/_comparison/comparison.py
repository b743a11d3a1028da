"""Results of `RankingEvaluator`: scores of a model by fold, and comparisons of models on the same queries."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from sklearn_rank._comparison.align import Aligned
from sklearn_rank._comparison.candidates import BestSystems, candidates_of
from sklearn_rank._comparison.compare_all import aligned_tests
from sklearn_rank._comparison.paired_test import PairedTest
from sklearn_rank._comparison.paper_table import numbers_in_means, paper_table
from sklearn_rank._comparison.saved import given_parts, words_of_comparison
from sklearn_rank._comparison.segments import compare_segments
from sklearn_rank._comparison.summary import table_of_comparison
from sklearn_rank._comparison.verdict import note_on_judged, said_by, said_by_other_metrics
from sklearn_rank._data.doors import SYSTEMS, VERDICTS, Door
from sklearn_rank._data.judged import mean_shares
from sklearn_rank._data.look import collected_findings, findings_in, look, report
from sklearn_rank._data.nothing import nothing_in_words
from sklearn_rank._estimates.clusters import CLUSTERED_TESTS
from sklearn_rank._estimates.samples import counted, scaled, some
from sklearn_rank._estimates.significance import ComparisonOptions
from sklearn_rank._evaluation.explanation import Explanation, Source, documents_to_judge, explanation_of, source_of
from sklearn_rank._evaluation.informative import nothing_by_metric
from sklearn_rank._evaluation.references import notes_of_adjusted
from sklearn_rank._evaluation.remarks import depths_in_words
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.segments import SegmentsBy
from sklearn_rank._evaluation.several_runs import note_on_runs
from sklearn_rank._metric.choices import closing_line
from sklearn_rank._metric.key_signs import ByName, known_metric
from sklearn_rank._metric.notation import display_name
from sklearn_rank._report.content import Content, Options
from sklearn_rank._report.has_page import HasPage
from sklearn_rank._tell.notes import (
    failure_notes,
    frozen_remark,
    notes_without_settled,
    shared_remarks,
    untested_notes,
)
from sklearn_rank._tell.paper_table import CORRECTION_NAMES, TEST_NAMES, PaperTable
from sklearn_rank._tell.text import plain
from sklearn_rank._tell.verdict import headline, skewed_best, title_of_comparison
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, is_key
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.optional import side_by_side
from sklearn_rank._utils.read_only import ReadOnlyArrays, read_only
from sklearn_rank._utils.storage import Arrays, Saveable
from sklearn_rank._utils.table import (
    Table,
    TableReport,
)
from sklearn_rank._utils.typing import Array, DataFrame


class CrossValidation(ByName[Any]):
    """Scores of each fold, like scikit-learn's `cross_validate`, and of each query.

    Keys and signs follow the scorers: ``"test_neg_rmse"`` is negative. The means follow the results: ``"rmse"`` is
    positive.

    Attributes
    ----------
    pooled : Evaluation or None
        Values of the tested queries, each scored by models that were not fitted on it; None if the splitter tests some
        rows more often than others.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import RankingEvaluator
    >>> from sklearn_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_queries=20, random_state=0)
    >>> found = RankingEvaluator("rmse", cv=2).cross_validate(Ridge(), X, y, qid=qid)
    >>> found["test_neg_rmse"].round(2), round(found.pooled.mean()["rmse"], 2)
    (array([-0.96, -0.87]), 0.91)
    """

    def __init__(self, scores: Mapping[str, Any], pooled: Evaluation | None, fold_means: Mapping[str, Array]) -> None:
        super().__init__(read_only(dict(scores)))
        self.pooled, self._fold_means = pooled, fold_means

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle and copy as arguments, so that arrays are read-only again."""
        return CrossValidation, (dict(self), self.pooled, self._fold_means)

    def mean_over_queries(self) -> dict[str, float]:
        """Return the mean of each metric over all queries; each query counts once.

        Raises
        ------
        ValueError
            If the splitter tests some rows more often than others.
        """
        if self.pooled is None:
            raise ValueError(
                "Values of folds can be pooled over queries only if every row is tested at most once, or all rows "
                "equally often. Got a splitter that tests some rows more often than others."
            )
        return self.pooled.mean()

    def mean_over_folds(self) -> dict[str, float]:
        """Return the mean of the scores of the folds, which have similar numbers of rows but not of queries.

        Returns
        -------
        dict of str to float
            Errors are positive, like in `mean_over_queries`.
        """
        return ByName((name, float(means.mean())) for name, means in self._fold_means.items())


@dataclass(frozen=True, repr=False, kw_only=True)
class Comparison(TableReport, HasPage, Saveable, ReadOnlyArrays, Mapping[str, Evaluation]):
    """Models on the same queries, returned by `RankingEvaluator.compare` (with folds) or `compare_systems` (without).

    It is a mapping from models to their `results`, so you can pass it to each function that accepts a dict of results,
    such as `stats.compare_all` and the methods `from_results` of Displays.

    Attributes
    ----------
    results : dict of str to Evaluation
        Values by query, for each model that did not fail in any fold; all have the same queries in the same order.
    y_score : dict of str to ndarray
        Scores of the rows, in the order of the input: of shape (n_samples,), NaN for rows that no fold tests, or
        (n_samples, n_repeats) if each row is tested n_repeats times. Empty if existing results were compared; models
        with several runs are absent.
    fold_means : dict of str to dict of str to ndarray of shape (n_splits,)
        Mean of each metric in each fold, for each model; NaN if the model failed in the fold. Empty without folds.
    fit_time : dict of str to ndarray of shape (n_splits,)
        Seconds. Empty without folds.
    failures : dict of str to dict of int to str
        Error messages, by model and fold.
    n_queries : list of (int, int)
        Numbers of queries in the training and the test set of each fold. Empty without folds.
    baseline : str
        The model that the others are tested against.
    test, correction : str
        Test of the differences and correction of the p-values, see `sklearn_rank.stats`.
    frozen : tuple of str
        Models that are a `FrozenEstimator`, so they were not fitted in the folds.

    Examples
    --------
    >>> from sklearn_rank import compare_systems
    >>> systems = {"old": [1, 2, 1, 2], "new": [2, 1, 1, 2]}
    >>> report = compare_systems([1, 0, 1, 0], systems, qid=[7, 7, 9, 9], metrics="mrr")
    >>> report.baseline, report["new"].mean(), report.significance("mrr").difference
    ('old', {'mrr': 0.75}, 0.25)
    """

    results: dict[str, Evaluation]
    y_score: dict[str, Array] = field(default_factory=dict)
    fold_means: dict[str, dict[str, Array]] = field(default_factory=dict)
    fit_time: dict[str, Array] = field(default_factory=dict)
    failures: dict[str, dict[int, str]] = field(default_factory=dict)
    n_queries: list[tuple[int, int]] = field(default_factory=list)
    baseline: str
    test: str = "t"
    correction: str | None = "holm"
    frozen: tuple[str, ...] = ()

    def __getitem__(self, model: str) -> Evaluation:
        """Result of a model."""
        return self.results[model]

    def __iter__(self) -> Iterator[str]:
        """Models that have a result."""
        return iter(self.results)

    def __len__(self) -> int:
        """Number of models that have a result."""
        return len(self.results)

    @property
    def per_query(self) -> dict[str, dict[str, Array]]:
        """Values by query, for each model and metric."""
        return {model: result.per_query for model, result in self.results.items()}

    @property
    def judged(self) -> dict[str, dict[str, float]]:
        """Mean share of judged documents of each model, by metric, down to its cutoff; metrics where it is known."""
        shares = {model: result.judged for model, result in self.results.items()}
        return {model: mean_shares(of_model) for model, of_model in shares.items()}

    @named_arguments
    def significance(self, metric: str) -> PairedTest:
        """Test each model against the baseline over queries, with p-values corrected for the number of models.

        Randomized tests use a fixed seed, so repeated calls return the same result.

        Parameters
        ----------
        metric : str
            Name of one of the metrics.

        Returns
        -------
        PairedTest
            A row for each model but the baseline.
        """
        return self._aligned_tests(metric, self.baseline)[0]

    def _aligned_tests(self, metric: str, baseline: str | None) -> tuple[PairedTest, Aligned]:
        options = ComparisonOptions(self.test, random_state=0)
        return aligned_tests(self.results, metric, options, self.correction, baseline)

    @named_arguments
    def summary(self, confidence_level: float = 0.95, *, full: bool = False) -> Table:
        """Return a table with the mean of each model over queries, its interval, and the comparison with the baseline.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive; see `Evaluation.confidence_interval`.
        full : bool, default=False
            Whether to print all columns. False: only the decisive columns, at most 100 characters wide. ``to_frame()``
            of the table always has all columns.

        Returns
        -------
        Table
            A row for each model and metric, with the mean over queries and its interval; mean and standard deviation
            over folds; the numbers of queries in the mean and of undefined queries; the difference, model minus
            baseline; the queries won, tied and lost against the baseline; the p-value over queries, and the same
            corrected for the number of models; and the p-value over folds (Nadeau and Bengio). If some documents are
            not judged, the table also has the judged share, down to the cutoff. Pooled and geometric means have no
            interval and no tests. With a single fold there is no standard deviation and no p-value over folds; without
            folds the table has no columns for them. `Summary` says what is printed. Notes are as in
            `Evaluation.summary`, and name constant differences.
        """
        return table_of_comparison(self, confidence_level, full=full)

    @cached_property
    def _untested(self) -> dict[str, str]:
        reasons = {metric: self._why_untested(metric) for metric in self._metrics}
        return {metric: reason for metric, reason in reasons.items() if reason}

    def _why_untested(self, metric: str) -> str | None:
        if self.baseline in self.failures:
            return f"the baseline {self.baseline} failed"
        results = [*self.results.values()]
        if (average := results[0].average[metric]) != "macro":
            return f"its average is {echo(average)}, and tests and intervals are of means over queries"
        weight = results[0].weight
        kept = counted(np.sum([result.per_query[metric] for result in results], axis=0), weight)
        if kept.sum() < 2:
            return "two queries or more are needed"
        if self.test not in CLUSTERED_TESTS and scaled(some(weight, kept)) is not None:
            return f"the queries have weights, which test={self.test!r} does not take"
        return None

    @property
    def _models(self) -> list[str]:
        return [*(self.fold_means or self.results)]

    @property
    def _metrics(self) -> list[str]:
        return [*next(iter(self.results.values())).meaning]

    @property
    def verdict(self) -> str:
        """The conclusion of the test of the first metric, as a sentence such as "new is better than old".

        Of three systems or more, it names those that may be the best, and those that are better and worse than the
        baseline. A system may be the best unless a test of the pair shows another to be better, at 0.05 divided by the
        number of other systems, or the test against the baseline does.
        """
        return plain(said_by(self, self._metrics[0]).sentence)

    @property
    def _is_tested(self) -> bool:
        return len(self.results) > 1 and self._metrics[0] not in self._untested

    @cached_property
    def _tested(self) -> dict[str, tuple[PairedTest, Aligned]]:
        tested = [m for m in self._metrics if len(self.results) > 1 and m not in self._untested]
        return {metric: self._aligned_tests(metric, self.baseline) for metric in tested}

    @cached_property
    def _tests_of(self) -> dict[str, PairedTest]:
        return {metric: tests for metric, (tests, _) in self._tested.items()}

    @cached_property
    def _candidates(self) -> dict[str, BestSystems]:
        return {m: candidates_of(self.results, tests, aligned=at) for m, (tests, at) in self._tested.items()}

    def _content(self, options: Options) -> Content:
        from sklearn_rank._comparison.page import content_of_comparison  # rarely needed

        with collected_findings() as seen:
            look_at_judged(SYSTEMS, self.results)
        content = content_of_comparison(self, options)
        content.notes += [one.message for one in seen]
        return content

    def segments(
        self, by: SegmentsBy = None, *, metric: str | None = None, confidence_level: float = 0.95
    ) -> PairedTest:
        """Compare each model with the baseline in each segment of the queries, such as each country.

        Parameters
        ----------
        by : str, list of str, or values per query, default=None
            Name of the attribute that defines the segments, as in `compare_systems` or `evaluate`; several names define
            segments by combinations of values. None: all attributes. For attributes that the results do not have, pass
            a dict from queries to values.
        metric : str, default=None
            None: the first.
        confidence_level : float, default=0.95
            Level of each single interval.

        Returns
        -------
        PairedTest
            A row for each model and segment: ``table``, ``overall``, ``interaction``, ``macro()``, ``to_frame()``.
            P-values are corrected for the number of rows. A p-value is NaN if the segment is too small for a test, or
            the metric is undefined for at least one model in each of its queries.

        Raises
        ------
        ValueError
            If there is no such attribute or metric, an attribute has the name of a column of the table, or queries do
            not have equal weights in the mean.

        Notes
        -----
        If a model is significantly better in one segment and not in another, the segments need not differ: the first
        may only have more queries. Read `interaction`, which tests whether differences from the baseline vary between
        segments (Welch's ANOVA of the paired differences, see `Evaluation.segments`). If systems are evaluated on
        different queries, as with unpaired logs, the mean over all queries can favor a system that is worse in every
        segment (Simpson's paradox). Here all systems are evaluated on the same queries, so this cannot happen.
        """
        first = next(iter(self.results.values()))
        return compare_segments(
            self.results, self._metrics[0] if metric is None else known_metric(first, metric), by,
            baseline=self.baseline, test=self.test, correction=self.correction, confidence_level=confidence_level,
        )  # fmt: skip

    def worst_queries(self, n: int = 10, *, model: str | None = None, metric: str | None = None) -> Table:
        """Return the queries with the worst values of a model.

        Parameters
        ----------
        n : int, default=10
            Number of queries.
        model : str, default=None
            None: the baseline.
        metric : str, default=None
            None: the first.

        Returns
        -------
        Table
            Query ids and values.

        Raises
        ------
        ValueError
            If there is no such model or metric, or `n` is not an int >= 1.
        """
        return self._result(self.baseline if model is None else model).worst_queries(n, metric=metric)

    @described_as(worst_queries)
    def most_different(self, a: str, b: str, n: int = 10, *, metric: str | None = None) -> Table:
        """Return the queries with the largest differences between two models, the largest first.

        Parameters
        ----------
        a, b : str
            Names of the models.

        Returns
        -------
        Table
            Query ids, the value of each model, and the difference, a minus b.

        Raises
        ------
        ValueError
            If there is no such model or metric, or `n` is not an int >= 1.
        """
        COUNT("n", n, "most_different")
        first, second = self._result(a), self._result(b)
        metric = self._metrics[0] if metric is None else known_metric(first, metric)
        of_a, of_b = first.per_query[metric], second.per_query[metric]
        order = np.argsort(-np.abs(of_a - of_b), kind="stable")[:n]
        ids = first.qid[order].tolist()
        rows = zip(ids, of_a[order].tolist(), of_b[order].tolist(), (of_a - of_b)[order].tolist(), strict=True)
        return Table(("qid", a, b, "difference"), tuple(rows))

    @named_arguments
    def explain(self, query: Any, *, new: str, old: str, metric: str | None = None) -> Explanation:
        """Explain the difference of two models on a query by the contribution of each document.

        Parameters
        ----------
        query : id of a query
            For example from `most_different`.
        new, old : str
            Names of the models. The difference is new minus old.
        metric : str, default=None
            None: the first.

        Returns
        -------
        Explanation
            ``table``: documents with grade, both ranks, whether they are judged, and contribution. ``documents``,
            ``label``, ``ranks`` and ``contribution`` hold the columns as arrays. It also has ``to_judge(n)`` and
            ``to_frame()``.

        Raises
        ------
        ValueError
            If there is no such model, metric or query; the metric is undefined for the query; the results do not
            contain their documents (loaded results, and results of values, batches and subsets); or labels or scores
            were modified after the evaluation.

        Notes
        -----
        If a metric is a sum over documents, such as DCG, nDCG, RBP, precision and recall, the contribution of a
        document is its term, so contributions sum to the difference. Other metrics, such as MAP and MRR, are recomputed
        without each document, in both lists and in the judgments: the contribution is the difference with the document
        minus the difference without it. Such contributions need not sum to the difference. With ties, ranks and
        contributions are expectations over the orders of tied documents, like the metric.

        With runs, documents have their ids. With arrays and tables, they are row numbers, counted from 0; with matrices
        of queries by documents, column numbers.

        Examples
        --------
        The relevant document b moved from rank 3 to rank 1, and a fell to rank 3: 1/log2(2) - 1/log2(4) = 0.5 of a DCG
        whose best is 1 + 1/log2(3) = 1.63:

        >>> from sklearn_rank import compare_systems
        >>> runs = {"old": {"q": ["a", "c", "b"]}, "new": {"q": ["b", "c", "a"]}}
        >>> report = compare_systems({"q": {"a": 0, "b": 1, "c": 1}}, runs, metrics="ndcg")
        >>> report.explain("q", new="new", old="old")
        nDCG of query q: new 1.0000 - old 0.6934 = 0.3066
        Contributions of documents sum to the difference.
        document   grade   judged   rank old   rank new   contribution
        b              1   yes             3          1         0.3066
        a              0   yes             1          3         0.0000
        c              1   yes             2          2         0.0000
        """
        return explanation_of(self._explained(new, old, metric), query)

    @described_as(explain)
    @named_arguments
    def to_judge(self, n: int = 10, *, new: str, old: str, metric: str | None = None) -> Table:
        """Return unjudged documents of all queries whose judgment could change the difference most.

        Parameters
        ----------
        n : int, default=10
            Number of documents.

        Returns
        -------
        Table
            Query, document, both ranks, and the change of the mean difference, new minus old, if the document had the
            highest grade; the largest change first. Documents below the cutoff in both lists are left out.

        Raises
        ------
        ValueError
            As for `explain`, and if the mean is pooled or geometric.
        """
        return documents_to_judge(self._explained(new, old, metric), n)

    def _explained(self, new: str, old: str, metric: str | None) -> Source:
        first, _ = self._result(old), self._result(new)
        metric = self._metrics[0] if metric is None else known_metric(first, metric)
        return source_of(self.results, (old, new), metric)

    def _result(self, model: Any) -> Evaluation:
        if not is_key(model, self.results):
            names = echo_all(self.results)
            raise ValueError(f"A model must be one of those that did not fail: {names}. Got {echo(model)} instead.")
        return self.results[model]

    _to_saved = words_of_comparison

    @classmethod
    def _from_saved(cls, words: Mapping[str, Any], arrays: Arrays) -> Self:
        return cls(**given_parts(words, arrays))

    def to_frame(self) -> DataFrame:
        """Return the values by query as a pandas DataFrame; needs the extra "pandas".

        Returns
        -------
        pandas.DataFrame
            The name of the index is "qid"; the columns have two levels, model and metric.
        """
        return side_by_side({model: result.to_frame() for model, result in self.results.items()})

    def to_latex(self, *, confidence_level: float = 0.95, digits: int = 4, marks: str = "baseline") -> str:
        """Return a LaTeX table for a paper: systems by metrics, with the systems that may be the best in bold.

        Bold means and marks come from tests, see `verdict`. The table is a tabular with booktabs rules.
        A note gives test, correction and level. For intervals and p-values use ``summary().to_latex()``.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive: a difference is marked where the corrected p-value is below 1 less this.
        digits : int, default=4
            Decimals of the means.
        marks : {"baseline", "letters"}, default="baseline"
            What marks a mean: that it differs from the baseline; or the letters of all systems that it is significantly
            better than, p-values corrected for all pairs.
        """
        return self._paper_table(confidence_level, digits, marks).to_latex()

    @described_as(to_latex)
    def to_markdown(self, *, confidence_level: float = 0.95, digits: int = 4, marks: str = "baseline") -> str:
        """Return the table of `to_latex` in Markdown; for intervals and p-values use ``summary().to_markdown()``."""
        return self._paper_table(confidence_level, digits, marks).to_markdown()

    def _paper_table(self, confidence_level: float, digits: int, marks: str) -> PaperTable:
        look_at_results(VERDICTS, self.results)
        against, tests = None if marks == "letters" else self.baseline, dict[str, PairedTest | None](self._tests_of)
        if against is None:
            tests = {metric: self._aligned_tests(metric, None)[0] for metric in tests}
        return paper_table(
            self.results, dict.fromkeys(self._metrics) | tests, systems=self._models, baseline=self.baseline,
            confidence_level=confidence_level, digits=digits, more=" ".join(self._notes_on_data()), marks=marks,
        )  # fmt: skip

    def _tables(self) -> list[Table]:
        return [self.summary()]

    def _title(self) -> str:
        first, queries = next(iter(self.results.values())), numbers_in_means(self.results.values(), self._metrics)
        return title_of_comparison(
            len(self._models), queries, first.clusters, first.weight is not None, self.baseline,
            TEST_NAMES[self.test], CORRECTION_NAMES.get(self.correction or "", ""),
        )  # fmt: skip

    def _head(self) -> list[str]:
        title, *notes = super()._head()
        if not self._is_tested:
            return [title, *notes]
        first, *others = self._metrics
        return [title, headline(said_by(self, first).sentence, first, several=bool(others)), *notes]

    def _footer(self) -> str:
        first = next(iter(self.results.values()))
        remarks = shared_remarks({name: result._remarks for name, result in self.results.items()})
        depths = depths_in_words({name: result._cut_at for name, result in self.results.items()}, first.meaning)
        return closing_line(first.meaning, first.counts, filter(None, [*remarks, depths, frozen_remark(self.frozen)]))

    def _notes(self) -> list[str]:
        notes = [*failure_notes(self.failures, len(self.n_queries)), *untested_notes(self._untested)]
        if self._is_tested:
            notes += [plain(said) for said in said_by_other_metrics(self)[1]]
        skewed = [metric for metric, found in self._candidates.items() if found.skewed]
        notes += [skewed_best(skewed)] * (bool(skewed) and len(self.results) > 2)
        notes += [f"{model}: {note}" for model, result in self.results.items() for note in result._more_notes]
        return [*notes, *notes_of_adjusted(next(iter(self.results.values())).meaning), *self._notes_on_data()]

    def _notes_on_data(self) -> list[str]:
        """Notes on runs, metrics without information, means without settled queries, and judged shares."""
        of_runs = note_on_runs(self.results)
        found = nothing_by_metric(self.results) if len(self.results) > 1 else {}
        whys = {metric: why for metric, why in found.items() if why is not None}
        notes = [nothing_in_words([display_name(metric)], why) for metric, why in whys.items()]
        without = notes_without_settled(
            tests.without_settled for metric, tests in self._tests_of.items() if metric not in whys
        )
        return [*of_runs, *notes, *without, *filter(None, [note_on_judged(self)])]


def look_at_results(door: Door, results: Mapping[str, Evaluation]) -> None:
    """Report if no query can distinguish the models by any metric; does nothing for a single model."""
    if len(results) > 1:
        look(door, evidence=(nothing_by_metric(results),))


def look_at_measured(door: Door, results: Mapping[str, Evaluation]) -> None:
    """Warn if no query can distinguish a good model from a bad model by any metric."""
    look(door, measured=(nothing_by_metric(results), len(next(iter(results.values())).qid)))


def look_at_judged(door: Door, results: Mapping[str, Evaluation], on_misuse: str = "raise") -> None:
    """Report if a model has far fewer judged documents than another, by the first metric that shows it."""
    if len(results) < 2:
        return
    for metric, meaning in next(iter(results.values())).meaning.items():
        shares = {name: result.judged[metric] for name, result in results.items() if metric in result.judged}
        if len(shares) == len(results) and (seen := [*findings_in(judged=(shares, metric, meaning))]):
            if all(result.judges_both for result in results.values()):
                report(door, seen, on_misuse)
            return


def known_baseline(baseline: str | None, models: Iterable[str]) -> str:
    """Check the baseline; None: the first model."""
    known = [*models]
    if baseline is not None and baseline not in known:
        near = difflib.get_close_matches(str(baseline), known)
        hint = f" Did you mean {echo(near[0])}?" if near else ""
        raise ValueError(f"The baseline must be one of the models, {known}. Got {echo(baseline)}.{hint}")
    return known[0] if baseline is None else baseline
