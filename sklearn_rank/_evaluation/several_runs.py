"""Several runs of a system as a single result: the value of a query is its mean over the runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, TypeVar

import numpy as np

from sklearn_rank._estimates.runs import RunMeans
from sklearn_rank._evaluation.kept_data import DataCounts, KeptData, with_counts
from sklearn_rank._tell.notes import between_runs
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import ReadAttribute
from sklearn_rank._utils.typing import Array

E = TypeVar("E", bound="OfRuns")
T = TypeVar("T")


class OfKeptData(ReadAttribute[T]):
    """Attribute of a result that its kept data have."""

    def read(self, instance: Any) -> T:
        """Value of the kept data."""
        value: T = getattr(instance._kept_data, self.name)
        return value


class OfRuns:
    """A result that can combine several runs of a system."""

    _kept_data: KeptData

    run_means = OfKeptData[RunMeans]("Mean of each run by metric; empty unless the result is the mean of several runs.")
    # Results that a version before saved have none.
    run_values = OfKeptData[Mapping[str, Array]]("Values of each run by metric, of shape (n_queries, n_runs).")

    @classmethod
    def of_runs(cls, runs: Sequence[Self]) -> Self:
        """Combine several runs of a system, such as runs with different seeds, into one result.

        The value of a query is its mean over the runs. Intervals, t tests and gates allow for other queries and for
        other runs. `run_means` holds the mean of each run, and a printed result shows their standard deviation. You can
        also pass a list of runs in a dict of results: ``compare_systems({"A": [run1, run2], "B": run3})``.

        Parameters
        ----------
        runs : sequence of Evaluation
            At least one result; all have the same metrics, queries and labels.

        Returns
        -------
        Evaluation
            Result without the documents, so it supports everything except ties and explanations of queries. A pooled or
            geometric mean is the mean of the means of the runs. `run_values` holds the values of each run.

        Raises
        ------
        ValueError
            If metrics, their keywords, queries, labels or weights differ, or a result is a mean of several runs itself.
        TypeError
            If `runs` is not a sequence of results.

        Notes
        -----
        Let s2 be the variance of the means of k runs on n queries, and e2 the residual variance of runs by queries.
        The squared standard error of the mean is that of the averages over queries, v, plus
        b = max(0, s2 - e2 / n) / k. Its degrees of freedom are Satterthwaite's, V^2 / (v^2 / (n - 1) + (s2 / k)^2 /
        (k - 1)) with V = v + b. For a difference of two systems, b is the sum over both. If one of them has a single
        run, b of the other is (k + 1) times as large: the variance between runs is assumed to be equal.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> from sklearn_rank.results import Evaluation
        >>> labels = {"qid": ["a", "a", "b", "b"], "metrics": "mrr"}
        >>> runs = [
        ...     evaluate([1, 0, 1, 0], scores, **labels) for scores in ([2, 1, 2, 1], [2, 1, 1, 2])
        ... ]
        >>> Evaluation.of_runs(runs)
        Evaluation of 2 queries
        Between runs: sd 0.18 (2 runs), allowed for. Two runs estimate a variance badly.
        metric     mean   undefined
        MRR      0.8750           0
        ties averaged; queries without relevant documents score 0
        """
        if not isinstance(runs, (list, tuple)) or not runs or not all(isinstance(run, cls) for run in runs):
            raise TypeError(f"of_runs takes a list of results of one system, one or more. Got {echo(runs)}.")
        if len({*map(id, runs)}) < len(runs):
            raise ValueError("of_runs takes each run once, because repeats tell nothing new. Got one result twice.")
        if len(runs) == 1:
            return runs[0]
        for number, run in enumerate(runs, start=1):
            for means in [*run.run_means.values()][:1]:
                raise ValueError(
                    "of_runs takes single runs, because a mean of means would not weigh all runs equally: pass the "
                    f"runs themselves in one list. Got a mean of {len(means)} runs as run {number} of {len(runs)}."
                )
        from sklearn_rank._evaluation.alignment import align_results  # loads scipy.special

        named: dict[str, Any] = {f"run {i + 1}": run for i, run in enumerate(runs)}
        aligned = [*align_results(named, "of_runs").values()]
        means = {metric: tuple(run.mean(metric) for run in aligned) for metric in aligned[0].meaning}
        values = {metric: np.stack([run.per_query[metric] for run in aligned], axis=1) for metric in aligned[0].meaning}
        return with_counts(mean_result(aligned), run_means=means, run_values=values)


def mean_result(results: Sequence[Any]) -> Any:
    """Mean of aligned results of the value of each query; undefined where it is in one of them."""
    first, sources = results[0], [result._kept_data for result in results]
    undefined = {name: [result._undefined[name] for result in results] for name in first.meaning}
    pooled = [name for name, average in first.average.items() if average != "macro"]
    documents = [source.known_documents for source in sources]
    result = type(first).from_values(
        first.qid,
        {name: np.mean([result.per_query[name] for result in results], axis=0) for name in first.meaning},
        undefined={name: np.any(of_results, axis=0) for name, of_results in undefined.items()},
        means={name: float(np.mean([result.mean(name) for result in results])) for name in pooled},
        meaning=first.meaning, average=first.average, greater_is_better=first.greater_is_better,
        is_binary=dict.fromkeys(first.meaning, False),
        weight=first.weight, label_fingerprints=first.label_fingerprints,
        by={name: x for one in results for name, x in one.attributes.items()}, clusters=first.clusters,
    )  # fmt: skip
    known = DataCounts(
        documents[0] if _are_equal(documents) else None,
        first.label_fingerprints,
        _of_all(results, "judged", lambda shares: np.mean(shares, axis=0)),
        any(one.judges_both for one in results),
        known_settled=_of_all(results, "settled", lambda settled: np.all(settled, axis=0)),
        known_remarks=tuple(remark for remark in first._remarks if all(remark in one._remarks for one in results)),
        known_columns=first._column_fingerprints,
        n_retrieved=sources[0].n_retrieved if _are_equal([one.n_retrieved for one in sources]) else None,
        cut_at=first._cut_at if len({one._cut_at for one in results}) == 1 else None,
    )
    return replace(result, _kept_data=known)


def _are_equal(arrays: Sequence[Any]) -> bool:
    """Whether arrays are equal, or all unknown."""
    return all(np.array_equal(arrays[0], other) for other in arrays)


def _of_all(results: Sequence[Any], name: str, function: Callable[[Any], Any]) -> dict[str, Any]:
    """A function of what all results know of a metric, such as the share of judged documents."""
    known = [getattr(result, name) for result in results]
    return {metric: function([of[metric] for of in known]) for metric in known[0] if all(metric in of for of in known)}


def names_of_runs(name: str, n: int) -> list[str]:
    """A name for each run of a system: "A [1]" and "A [2]"; its own if there is one run."""
    return [name] if n == 1 else [f"{name} [{i + 1}]" for i in range(n)]


def one_by_system(flat: Mapping[str, E], n_runs: Mapping[str, int]) -> dict[str, E]:
    """One result of each system, of the results of its runs by `names_of_runs`."""
    runs = {name: [flat[one] for one in names_of_runs(name, n)] for name, n in n_runs.items()}
    return {name: type(of_system[0]).of_runs(of_system) for name, of_system in runs.items()}


def note_on_runs(results: Mapping[str, Any]) -> list[str]:
    """How far the runs of systems lie apart, by metric, in a sentence, if there are several."""
    first = next(iter(results.values()))
    sentence = between_runs(
        {
            metric: {name: result.run_means.get(metric, ()) for name, result in results.items()}
            for metric in first.meaning
        },
        allowed="macro" in first.average.values(),
        has_values=all(result.run_values or not result.run_means for result in results.values()),
    )
    return [sentence] if sentence else []
