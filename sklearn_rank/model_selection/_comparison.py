"""Results of `RankingEvaluator`: scores of one model by fold, and models compared on the same queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._evaluation.result import Evaluation, interval_cells, known_metric
from sklearn_rank._utils.constraints import COUNT
from sklearn_rank._utils.optional import import_pandas
from sklearn_rank._utils.storage import Saveable, SavedArrays, names, part
from sklearn_rank._utils.table import WIDTH, Table, TableReport, shorten
from sklearn_rank._utils.typing import Array
from sklearn_rank.model_selection._paper_table import PaperTable, paper_table
from sklearn_rank.model_selection._summary import Summary


class CrossValidation(dict[str, Any]):
    """Scores of each fold, as scikit-learn's `cross_validate` returns them, and those of each query.

    Attributes
    ----------
    pooled : Evaluation or None
        Values of all queries, each scored by the model that had not seen it; None where the splitter does not test
        every row exactly once.
    """

    def __init__(self, scores: Mapping[str, Any], pooled: Evaluation | None) -> None:
        super().__init__(scores)
        self.pooled = pooled

    def mean_over_queries(self) -> dict[str, float]:
        """Mean of each metric over all queries, each query counting once.

        Returns
        -------
        dict of str to float

        Raises
        ------
        ValueError
            If the splitter did not test every row exactly once.
        """
        if self.pooled is None:
            raise ValueError("Values of folds can be pooled over queries only if every row is tested exactly once.")
        return self.pooled.mean()

    def mean_over_folds(self) -> dict[str, float]:
        """Mean of the scores of the folds, which have about equal numbers of rows but not of queries.

        Returns
        -------
        dict of str to float
            Errors are negative, as scorers have them.
        """
        return {name.removeprefix("test_"): float(v.mean()) for name, v in self.items() if name.startswith("test_")}


COLUMNS = (
    "model", "metric", "mean", "low", "high", "fold mean", "fold sd", "undefined", "difference", "won", "tied", "lost",
    "p", "p corrected", "p folds",
)  # fmt: skip
"""Of the summary."""


@dataclass(frozen=True, repr=False)
class Comparison(TableReport, Saveable):
    """Models on the same queries, each query scored by a model that has not seen it.

    Attributes
    ----------
    results : dict of str to Evaluation
        Values query by query, of each model that failed in no fold.
    y_score : dict of str to ndarray of shape (n_samples,)
        The scores behind them, in the order of the input.
    fold_means : dict of str to dict of str to ndarray of shape (n_splits,)
        Mean of each metric in each fold, of each model; NaN in a fold in which it failed.
    fit_time : dict of str to ndarray of shape (n_splits,)
        Seconds.
    failures : dict of str to dict of int to str
        What went wrong, by model and fold.
    n_queries : list of (int, int)
        Queries in the training and the test set of each fold.
    baseline : str
        The model that the others are tested against.
    test, correction : str
        Of the p-values, see `sklearn_rank.stats`.
    """

    results: dict[str, Evaluation]
    y_score: dict[str, Array]
    fold_means: dict[str, dict[str, Array]]
    fit_time: dict[str, Array]
    failures: dict[str, dict[int, str]]
    n_queries: list[tuple[int, int]]
    baseline: str
    test: str = "t"
    correction: str | None = "holm"

    @property
    def per_query(self) -> dict[str, dict[str, Array]]:
        """Values query by query: of each model, each metric."""
        return {model: result.per_query for model, result in self.results.items()}

    def significance(self, metric: str) -> Any:
        """Tests of each model against the baseline over queries, corrected for their number.

        Tests that draw at random draw the same each time.

        Parameters
        ----------
        metric : str
            One of the metrics, as it was named.

        Returns
        -------
        sklearn_rank.stats.MultipleComparison
        """
        from sklearn_rank.stats import compare_all

        return compare_all(
            self.results, metric=metric, baseline=self.baseline, test=self.test, correction=self.correction,
            random_state=0,
        )  # fmt: skip

    def summary(self, confidence_level: float = 0.95, *, full: bool = False) -> Table:
        """Table of the means over queries, how sure they are, and how each model compares with the baseline.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive; see `Evaluation.confidence_interval`.
        full : bool, default=False
            Whether to print all columns; else those that decide, at most 100 characters wide. ``to_frame()`` of the
            table has all columns either way.

        Returns
        -------
        Table
            A row for each model and metric: the mean over queries with its interval, mean and standard deviation
            over folds, undefined queries; against the baseline the difference of the means, the queries won, tied and
            lost, the p-value over queries, the same corrected for the number of models, and the p-value over folds
            (Nadeau and Bengio). A mean that is pooled or geometric has neither interval nor tests. Printed are the
            mean with its interval, the difference, the corrected p-value, and the queries won and lost.
        """
        means = {model: result.mean() for model, result in self.results.items()}
        intervals = {model: interval_cells(result, confidence_level) for model, result in self.results.items()}
        rows = []
        for metric in self._metrics:
            against = self._against_baseline(metric)
            for model, folds in self.fold_means.items():
                of_folds = (float(folds[metric].mean()), _spread(folds[metric]))
                if model in self.failures:
                    rows.append((model, metric, None, None, None, *of_folds, None, *[None] * 7))
                    continue
                of_queries = (means[model][metric], *intervals[model][metric])
                row = (model, metric, *of_queries, *of_folds, self.results[model].n_undefined[metric])
                rows.append((*row, *against.get(model, [None] * 7)))
        return Table(COLUMNS, tuple(rows)) if full else Summary(COLUMNS, tuple(rows), confidence_level)

    def _against_baseline(self, metric: str) -> dict[str, tuple[Any, ...]]:
        """The columns of the summary from the difference on, for each model that is tested."""
        from sklearn_rank.stats import compare_folds

        testable = all(result.counts_queries_equally(metric) for result in self.results.values())
        if not testable or self.baseline in self.failures or len(self.results) < 2:
            return {}
        cells, (n_train, n_test) = {}, np.mean(self.n_queries, axis=0)
        tests = self.significance(metric)
        for (model, other), pair in tests.comparisons.items():
            scores = (self.fold_means[name][metric] for name in (model, other))
            of_folds = compare_folds(*scores, n_train=n_train, n_test=n_test)
            p = pair.pvalue, tests.corrected[model, other], of_folds.pvalue
            cells[model] = pair.difference, pair.won, pair.tied, pair.lost, *p
        return cells

    @property
    def _metrics(self) -> list[str]:
        return [*next(iter(self.fold_means.values()))]

    def worst_queries(self, n: int = 10, *, model: str | None = None, metric: str | None = None) -> Table:
        """Queries on which a model does worst.

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

    def most_different(self, a: str, b: str, n: int = 10, *, metric: str | None = None) -> Table:
        """Queries on which two models differ most, the largest difference first.

        Parameters
        ----------
        a, b : str
            Names of the models.
        n : int, default=10
            Number of queries.
        metric : str, default=None
            None: the first.

        Returns
        -------
        Table
            Query ids, the value of each model, and their difference.

        Raises
        ------
        ValueError
            If there is no such model or metric, or `n` is not an int >= 1.
        """
        COUNT.check("n", n, "most_different")
        first, second = self._result(a), self._result(b)
        metric = self._metrics[0] if metric is None else known_metric(first, metric)
        of_a, of_b = first.per_query[metric], second.per_query[metric]
        order = np.argsort(-np.abs(of_a - of_b), kind="stable")[:n]
        ids = first.qid[order].tolist()
        rows = zip(ids, of_a[order].tolist(), of_b[order].tolist(), (of_a - of_b)[order].tolist(), strict=True)
        return Table(("qid", a, b, "difference"), tuple(rows))

    def _result(self, model: Any) -> Evaluation:
        """Result of a model, by its name."""
        if model not in self.results:
            names = ", ".join(map(repr, self.results))
            raise ValueError(f"A model must be one of those that did not fail: {names}. Got {model!r} instead.")
        return self.results[model]

    def _plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        models, metrics = [*self.fold_means], self._metrics
        words: dict[str, Any] = {
            "models": models, "metrics": metrics, "n_queries": self.n_queries, "baseline": self.baseline,
            "test": self.test, "correction": self.correction, "results": {},
            "failures": {model: [*errors.items()] for model, errors in self.failures.items()},
        }  # fmt: skip
        arrays = {
            "fold_means": np.array([[self.fold_means[model][metric] for metric in metrics] for model in models]),
            "fit_time": np.array([self.fit_time[model] for model in models]),
        }
        for i, (model, result) in enumerate(self.results.items()):
            words["results"][model], of_model = result._plain()
            arrays |= {f"{name} {i}": array for name, array in of_model.items()} | {f"y_score {i}": self.y_score[model]}
        return words, arrays

    @classmethod
    def _of_plain(cls, words: Mapping[str, Any], arrays: SavedArrays) -> Self:
        models, metrics, n_queries, failures = _check_saved(words, arrays)
        results: dict[str, Evaluation] = {}
        y_score: dict[str, Array] = {}
        for i, (model, meta) in enumerate(words["results"].items()):
            of_model = arrays.ending(f" {i}")
            results[model] = Evaluation._of_plain(meta, of_model)
            first = next(iter(results.values()))
            if results[model].qid.tolist() != first.qid.tolist() or results[model].meaning != first.meaning:
                raise ValueError("results must be of the same queries and metrics")
            of_model.check("y_score", y_score[next(iter(y_score))].shape if y_score else (None,), "f")
            y_score[model] = of_model["y_score"]
        folds = zip(models, arrays["fold_means"], strict=True)
        return cls(
            results, y_score,
            fold_means={model: dict(zip(metrics, means, strict=True)) for model, means in folds},
            fit_time=dict(zip(models, arrays["fit_time"], strict=True)),
            failures=failures, n_queries=n_queries,
            baseline=words["baseline"], test=words["test"], correction=words["correction"],
        )  # fmt: skip

    def to_frame(self) -> Any:
        """Values query by query as a pandas DataFrame; needs the extra "pandas".

        Returns
        -------
        pandas.DataFrame
            Its index is named "qid"; its columns have two levels, model and metric.
        """
        return import_pandas().concat({model: r.to_frame() for model, r in self.results.items()}, axis=1)

    def to_latex(self, *, confidence_level: float = 0.95, digits: int = 4) -> str:
        """Table for a paper: systems by metrics, the best in bold, what differs from the baseline marked.

        A tabular with the rules of booktabs, and a note that says test, correction and level; ``summary().to_latex()``
        has intervals and p-values.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive: a difference is marked where the corrected p-value is below 1 less this.
        digits : int, default=4
            Decimals of the means.

        Returns
        -------
        str
        """
        return self._paper_table(confidence_level, digits).to_latex()

    def to_markdown(self, *, confidence_level: float = 0.95, digits: int = 4) -> str:
        """The table of `to_latex` in Markdown; ``summary().to_markdown()`` has intervals and p-values.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive: a difference is marked where the corrected p-value is below 1 less this.
        digits : int, default=4
            Decimals of the means.

        Returns
        -------
        str
        """
        return self._paper_table(confidence_level, digits).to_markdown()

    def _paper_table(self, confidence_level: float, digits: int) -> PaperTable:
        tests = {metric: self.significance(metric) if self._is_tested(metric) else None for metric in self._metrics}
        return paper_table(
            self.results, tests, systems=[*self.fold_means], baseline=self.baseline,
            confidence_level=confidence_level, digits=digits,
        )  # fmt: skip

    def _is_tested(self, metric: str) -> bool:
        """Whether the models are tested against the baseline."""
        equally = all(result.counts_queries_equally(metric) for result in self.results.values())
        return equally and self.baseline not in self.failures and len(self.results) > 1

    def _tables(self) -> list[Table]:
        return [self.summary()]

    def _title(self) -> str:
        n_queries = sum(n_test for _, n_test in self.n_queries)
        return (
            f"Comparison of {len(self.fold_means)} models on {n_queries} queries, "
            f"against {self.baseline} by test={self.test!r}, correction={self.correction!r}"
        )

    def _notes(self) -> list[str]:
        n_folds, notes = len(self.n_queries), []
        for model, errors in self.failures.items():
            fold, error = next(iter(errors.items()))
            told = shorten(error, 2 * WIDTH)
            notes.append(f"{model} failed in {len(errors)} of {n_folds} folds; in fold {fold}: {told}")
        return notes


def _spread(x: Array) -> float:
    return float(x.std(ddof=1)) if len(x) > 1 else float("nan")


def _check_saved(
    words: Mapping[str, Any], arrays: SavedArrays
) -> tuple[list[str], list[str], list[tuple[int, int]], dict[str, dict[int, str]]]:
    """Models, metrics, queries of the folds and failures of a saved comparison, if all of it fits together."""
    from sklearn_rank.stats._compare_all import check_plan  # loads scipy.stats

    models, metrics, results = names(words, "models"), names(words, "metrics"), part(words, "results", dict)
    failures = {model: dict(map(tuple, errors)) for model, errors in part(words, "failures", dict).items()}
    n_queries = [(int(n_train), int(n_test)) for n_train, n_test in part(words, "n_queries", list)]
    if {*results} | {*failures} != {*models} or part(words, "baseline", str) not in models:
        raise ValueError("results and failures must be of the models")
    if any([m["name"] for m in part(result, "metrics", list)] != metrics for result in results.values()):
        raise ValueError("results must have the same metrics")
    check_plan("Comparison", test=part(words, "test", str), correction=words["correction"], baseline=words["baseline"])
    arrays.check("fold_means", (len(models), len(metrics), len(n_queries)), "f")
    arrays.check("fit_time", (len(models), len(n_queries)), "f")
    return models, metrics, n_queries, failures
