"""Picture of several systems and their significant differences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from numpy.typing import ArrayLike

from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._utils.echo import echo
from sklearn_rank.display._arguments import mapping
from sklearn_rank.display._display import Display
from sklearn_rank.display._docstring import documented
from sklearn_rank.display._figure import COLORS, MARKERS, value_label, wrap
from sklearn_rank.display._input import evaluate_each
from sklearn_rank.stats import MultipleComparison, compare_all


@documented
class CriticalDifferenceDisplay(Display):
    """Means of several systems, the best on top, with bars that join systems that may not differ.

    A bar joins the systems with a dot on it: no two of them differ significantly once p-values are corrected for the
    number of pairs. With a baseline there is one bar, of the baseline and all that may not differ from it. Means are
    drawn, not mean ranks as in the charts of Demšar, so that the picture also says how large a difference is.

    There is no `from_estimator`, as there is no one estimator: models are compared on queries that they have not seen
    by `RankingEvaluator.compare`, whose ``results`` are what `from_results` takes.

    Parameters
    ----------
    means : dict of str to float
        Mean of each system.
    pvalues : dict of (str, str) to float
        Corrected p-value of each pair.
    alpha : float, default=0.05
        Systems differ significantly where the p-value is at most this.
    baseline : str, default=None
        System that the others were compared with. None: all pairs were compared.
    note : str, default=""
        How p-values were obtained, for the label.

    Attributes
    ----------
    order_ : list of str
        Systems, the best first.
    groups_ : list of list of str
        Systems that each bar joins.
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    points_ : Line2D
    bars_ : list of Line2D

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import CriticalDifferenceDisplay
    >>> pvalues = {("a", "b"): 0.4, ("a", "c"): 0.01, ("b", "c"): 0.2}
    >>> display = CriticalDifferenceDisplay({"a": 0.7, "b": 0.6, "c": 0.5}, pvalues).plot()
    >>> display.groups_
    [['a', 'b'], ['b', 'c']]
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, means: Mapping[str, float], pvalues: Mapping[tuple[str, str], float], *, alpha: float = 0.05,
        baseline: str | None = None, metric: str = "metric", greater_is_better: bool = True, note: str = "",
    ) -> None:  # fmt: skip
        self.means, self.pvalues, self.alpha = mapping(means, "means"), mapping(pvalues, "pvalues"), alpha
        self.baseline, self.metric, self.greater_is_better, self.note = baseline, metric, greater_is_better, note

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the systems and the bars.

        Parameters
        ----------
        ax : Matplotlib Axes, default=None
            Axes to draw on, with room to the right of them. None: those of a new figure.
        **kwargs
            Passed to Matplotlib's `plot`, for the means.
        """
        self.order_ = sorted(self.means, key=lambda name: self.means[name], reverse=self.greater_is_better)
        self.groups_ = self._groups()
        ax = self._open(ax, height=1.5 + 0.5 * len(self.order_))
        row = {name: i for i, name in enumerate(self.order_)}
        means = [self.means[name] for name in self.order_]
        look = {"color": COLORS[0], "marker": MARKERS[0], "linestyle": "", "markersize": 7}
        (self.points_,) = ax.plot(means, range(len(means)), **look | kwargs)
        for i, mean in enumerate(means):
            ax.annotate(f"{mean:#.3g}", (mean, i), (0, 6), textcoords="offset points", ha="center", fontsize="small")
        bar: dict[str, Any] = {"color": "black", "marker": "o", "linewidth": 3, "markersize": 7, "clip_on": False}
        bar["transform"] = ax.get_yaxis_transform()
        self.bars_ = []
        for i, group in enumerate(self.groups_):
            self.bars_ += ax.plot([1.04 + 0.04 * i] * len(group), [row[name] for name in group], **bar)
        ax.set_yticks(range(len(means)), [wrap(self._label(name)) for name in self.order_])
        ax.set_ylim(len(means) - 0.5, -0.7)
        ax.margins(x=0.1)
        ax.grid(axis="y", linestyle=":", color="0.7")
        label = value_label(self.metric, self.greater_is_better)
        ax.set_xlabel(f"mean {label} over queries\n{self._explanation()}")
        return self

    def _label(self, name: str) -> str:
        return f"{name} (baseline)" if name == self.baseline else name

    def _explanation(self) -> str:
        bars = "bars join systems that do not differ" if self.groups_ else "all systems differ"
        whom = "" if self.baseline is None else " from the baseline"
        return f"{bars} significantly{whom} (level {self.alpha:g})\n{self.note}".rstrip()

    def _groups(self) -> list[list[str]]:
        """Largest groups in which no two systems differ, or the baseline and all that do not differ from it."""
        alike: dict[str, set[str]] = {name: set() for name in self.order_}
        for (a, b), pvalue in self.pvalues.items():
            if pvalue > self.alpha:
                alike[a].add(b)
                alike[b].add(a)
        if self.baseline is not None:
            groups = [{self.baseline, *alike[self.baseline]}]
        else:
            groups = _cliques(alike, set(), set(self.order_), set())
        rows = sorted(sorted(map(self.order_.index, group)) for group in groups if len(group) > 1)
        return [[self.order_[i] for i in group] for group in rows]

    @classmethod
    def from_comparison(
        cls, comparison: MultipleComparison, *, alpha: float = 0.05, ax: Any = None, **kwargs: Any
    ) -> Self:
        """Picture of what `sklearn_rank.stats.compare_all` returns.

        Parameters
        ----------
        comparison : MultipleComparison
        alpha : float, default=0.05
            Systems differ significantly where the corrected p-value is at most this.
        ax : Matplotlib Axes, default=None
            Axes to draw on, with room to the right of them. None: those of a new figure.
        **kwargs
            Passed to Matplotlib's `plot`, for the means.
        """
        if not hasattr(type(comparison), "corrected_pvalue"):
            raise TypeError(f"comparison must be what stats.compare_all(...) returns. Got {echo(comparison)} instead.")
        display = cls(
            comparison.means, comparison.corrected, alpha=alpha, baseline=comparison.baseline,
            metric=comparison.metric or "value", greater_is_better=comparison.greater_is_better,
            note=f"test={comparison.test!r}, correction={comparison.correction!r}",
        )  # fmt: skip
        return display.plot(ax, **kwargs)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Any], metric: str | None = None, *, alpha: float = 0.05, ax: Any = None,
        **options: Any,
    ) -> Self:  # fmt: skip
        """Picture of results on the same queries.

        Parameters
        ----------
        results : dict of str to Evaluation
            Two systems or more, by name.
        metric : str, default=None
            One of their metrics. None: the only one.
        alpha : float, default=0.05
            Systems differ significantly where the corrected p-value is at most this.
        ax : Matplotlib Axes, default=None
            Axes to draw on, with room to the right of them. None: those of a new figure.
        **options
            Passed to `sklearn_rank.stats.compare_all`: `test`, `correction`, `baseline` and the rest.

        Raises
        ------
        ValueError, TypeError
            If `compare_all` does not take them.
        """
        return cls.from_comparison(compare_all(results, metric=metric, **options), alpha=alpha, ax=ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: Mapping[str, Any],
        *,
        qid: ArrayLike | None = None,
        metric: MetricLike = "ndcg",
        alpha: float = 0.05,
        options: Mapping[str, Any] | None = None,
        ax: Any = None,
        n_jobs: int | None = None,
        **keywords: Any,
    ) -> Self:
        """Picture of labels and the scores of several systems.

        Parameters
        ----------
        y_score : dict of str to array-like of shape (n_samples,)
            Scores of two systems or more, by name.
        alpha : float, default=0.05
            Systems differ significantly where the corrected p-value is at most this.
        options : dict, default=None
            Keywords of `sklearn_rank.stats.compare_all`: `test`, `correction`, `baseline` and the rest.
        ax : Matplotlib Axes, default=None
            Axes to draw on, with room to the right of them. None: those of a new figure.

        Raises
        ------
        ValueError, TypeError
            If `evaluate` or `compare_all` do not take what is given.
        """
        results = evaluate_each(y_true, y_score, qid=qid, metrics=[metric], n_jobs=n_jobs, **keywords)
        return cls.from_results(results, alpha=alpha, ax=ax, **(options or {}))


def _cliques(alike: Mapping[str, set[str]], group: set[str], rest: set[str], seen: set[str]) -> list[set[str]]:
    """Maximal groups in which no two systems differ: maximal cliques (Bron and Kerbosch, 1973)."""
    if not rest and not seen:
        return [group]
    cliques = []
    for name in sorted(rest):
        cliques += _cliques(alike, group | {name}, rest & alike[name], seen & alike[name])
        rest, seen = rest - {name}, seen | {name}
    return cliques
