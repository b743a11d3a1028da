"""Plot of means or differences in segments of queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._comparison.comparison import Comparison
from sklearn_rank._comparison.paired_test import CORRECTED_LEVEL
from sklearn_rank._engine.attributes import AttributesLike, ClustersLike
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.segments import SegmentsBy
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._tell.text import level_in_words
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank.display._arguments import mapping
from sklearn_rank.display._display import PredictionsDisplay
from sklearn_rank.display._figure import label_of, name_systems, set_explained, set_rows, style_of, value_label
from sklearn_rank.display._input import check_results, evaluate_each, name_in, refuse_other_metrics
from sklearn_rank.display._signature import completed

MOST_LINES = 6
"""Maximum number of systems with lines for the values over all queries."""
MOST_ROWS = 60
"""Maximum number of segments in a legible plot."""


@completed
class SegmentsDisplay(PredictionsDisplay):
    """Means of systems, or differences from a baseline, in each segment of queries, with intervals.

    For up to six systems, a dotted line in the color of the system shows the value over all queries. Overlapping
    intervals do not show that segments are equal: for tests see `Evaluation.segments` and `Comparison.segments`.

    Parameters
    ----------
    segments : sequence of str
        Names of the segments, from top to bottom.
    values : dict of str to array-like of shape (n_segments, 3)
        For each system by its name: value, lower and upper end of the interval, NaN if there is none.
    overall : dict of str to float
        Value of each system over all queries.
    n_queries : array-like of shape (n_segments,), default=None
        Number of queries of each segment, for the labels.
    difference_from : str, default=None
        Baseline, if the values are differences.
    confidence_level : float, default=0.95
        Level of the intervals.
    note : str, default=""
        Further text about the intervals, for the label.

    Attributes
    ----------
    ax_ : Matplotlib Axes
    figure_ : Matplotlib Figure
    points_ : list of ErrorbarContainer
        Values and intervals of each system.
    lines_ : list of Line2D
        Values over all queries; empty for more than six systems.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> from sklearn_rank.display import SegmentsDisplay
    >>> y_true, qid = [0, 1, 1, 0, 0, 1, 0, 1], list("aabbccdd")
    >>> by = {"country": ["de", "de", "fr", "fr", "de", "de", "fr", "fr"]}
    >>> display = SegmentsDisplay.from_predictions(
    ...     y_true, {"bm25": [2, 1] * 4}, qid=qid, metric="mrr", by=by
    ... )
    >>> list(display.segments), display.values["bm25"][:, 0]
    (['de', 'fr'], array([0.5 , 0.75]))
    >>> plt.close(display.figure_)
    """

    def __init__(
        self, segments: Sequence[str], values: Mapping[str, ArrayLike], overall: Mapping[str, float], *,
        n_queries: ArrayLike | None = None, difference_from: str | None = None, metric: str = "metric",
        greater_is_better: bool = True, confidence_level: float = 0.95, note: str = "",
    ) -> None:  # fmt: skip
        if not isinstance(segments, (list, tuple)):
            raise TypeError(f"segments must be a list of names. Got {echo(segments)} instead.")
        self.segments, self.overall = list(segments), mapping(overall, "overall")
        self.values = {name: as_floats(x, "values") for name, x in mapping(values, "values").items()}
        if not self.values or any(x.shape[:1] != (len(segments),) for x in self.values.values()):
            got = {name: x.shape for name, x in self.values.items()}
            raise ValueError(f"values must have a row for each of {len(segments)} segments. Got shapes {got}.")
        self.n_queries = None if n_queries is None else np.asarray(n_queries)
        self.difference_from, self.metric, self.greater_is_better = difference_from, metric, greater_is_better
        self.confidence_level, self.note = confidence_level, note

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Draw the values and their intervals, a row for each segment.

        Parameters
        ----------
        **kwargs
            Passed to Matplotlib's `errorbar`, for all systems.

        Raises
        ------
        ValueError
            If there are more than 60 segments.
        """
        n, n_systems = len(self.segments), len(self.values)
        if n > MOST_ROWS:
            raise ValueError(f"A plot shows up to {MOST_ROWS} segments; segments() returns a table of all. Got {n}.")
        labels = self._labels()
        n_lines = max(len(label) for label in labels) // 28 + 1
        ax = self._open(ax, height=1.6 + n * max(0.32, 0.14 * n_systems, 0.22 * n_lines))
        self.points_, self.lines_ = [], []
        set_explained(ax, self._label(), self._explanation())
        set_rows(ax, labels)
        if self.difference_from is not None:
            ax.axvline(0, color="0.7", linewidth=2.5, zorder=0)
        for i, (name, values) in enumerate(self.values.items()):
            value, low, high = values.T
            y = np.arange(n) + (0.7 * ((i + 0.5) / n_systems - 0.5) if n_systems > 1 else 0.0)
            style = style_of(i) | {"markersize": 5 if n_systems < 6 else 4, "capsize": 2, "linewidth": 1.2}
            if n_systems > 1 or self.difference_from is not None:
                style["label"] = label_of(str(name))
            if n_systems <= MOST_LINES:
                line = {"color": style["color"], "linestyle": ":", "linewidth": 1.2, "zorder": 1}
                self.lines_.append(ax.axvline(self.overall[name], **line))
            points = style | {"linestyle": ""} | kwargs
            self.points_.append(ax.errorbar(value, y, xerr=np.stack([value - low, high - value]), **points))
        for between in np.arange(0.5, n - 1):
            ax.axhline(between, color="0.85", linewidth=0.8, zorder=0)
        name_systems(ax)
        return self

    def _labels(self) -> list[str]:
        counts = [None] * len(self.segments) if self.n_queries is None else self.n_queries.tolist()
        pairs = zip(self.segments, counts, strict=True)
        return [str(name) if count is None else f"{name} (n={count})" for name, count in pairs]

    def _label(self) -> str:
        if self.difference_from is None:
            return f"mean {value_label(self.metric, self.greater_is_better)}"
        better = "" if self.greater_is_better else " (lower is better)"
        return f"difference in {display_name(self.metric)} from {self.difference_from}{better}"

    def _explanation(self) -> str:
        note = f" {self.note}" if self.note else ""
        parts = [f"{level_in_words(self.confidence_level)}s{note}"]
        parts += ["dotted lines: all queries"] * (len(self.values) <= MOST_LINES)
        parts += ["grey line: no difference"] * (self.difference_from is not None)
        return "; ".join(parts)

    @classmethod
    def from_results(
        cls, results: Mapping[str, Evaluation], metric: str | None = None, *, by: SegmentsBy = None,
        confidence_level: float = 0.95, ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Plot the means of one or more results.

        Parameters
        ----------
        by : str, list of str, or values per query, default=None
            Attributes that define the segments, as for `Evaluation.segments`.

        Raises
        ------
        ValueError
            If there is no such metric or attribute, or the keywords of the metric or the segments of systems differ.
        TypeError
            If results have no names.
        """
        check_results(results)
        rows, overall = {}, {}
        for result in results.values():
            metric = name_in(result, metric)
        refuse_other_metrics(results, [str(metric)])
        for name, result in results.items():
            segments = result.segments(by, metric=metric, confidence_level=confidence_level)
            at = len(segments.by)
            rows[name] = [(row[:at], row[at + 1], row[at + 2 : at + 5]) for row in segments.table.rows]
            overall[name] = segments.overall.rows[0][at + 2]
        better = next(iter(results.values())).greater_is_better[str(metric)]
        display = cls._of_rows(
            rows, overall, metric=str(metric), greater_is_better=better, confidence_level=confidence_level
        )
        return display.plot(ax, **kwargs)

    @classmethod
    def from_comparison(
        cls, comparison: Comparison, metric: str | None = None, *, by: SegmentsBy = None,
        confidence_level: float = 0.95, ax: Any = None, **kwargs: Any,
    ) -> Self:  # fmt: skip
        """Plot the differences from the baseline, with the intervals of `Comparison.segments`.

        Parameters
        ----------
        comparison : Comparison
        metric : str, default=None
            A metric of the comparison. None: the first.
        by : str, list of str, or values per query, default=None
            Attributes that define the segments, as for `Comparison.segments`.

        Raises
        ------
        ValueError
            If there is no such metric or attribute.
        """
        if not hasattr(type(comparison), "most_different"):
            raise TypeError(f"comparison must be a result of compare_systems(...). Got {echo(comparison)} instead.")
        segments = comparison.segments(by, metric=metric, confidence_level=confidence_level)
        rows: dict[str, list[Any]] = {name: [] for name, _ in segments.pairs}
        for row in segments._pair_rows:
            rows[row.a].append((row.segment, row.n_units, (row.difference, *row.ends)))
        display = cls._of_rows(
            rows, {a: segments.overall[a, b].difference for a, b in segments.pairs}, metric=str(segments.metric),
            difference_from=segments.baseline, confidence_level=confidence_level,
            greater_is_better=segments.greater_is_better,
            note=CORRECTED_LEVEL if segments._has_corrected_intervals else "",
        )  # fmt: skip
        return display.plot(ax, **kwargs)

    @classmethod
    def _of_rows(cls, rows: Mapping[str, Sequence[Any]], overall: Mapping[str, float], **keywords: Any) -> Self:
        """Make the display from (names, number of queries, value with interval) of each shared segment."""
        (first, expected), *others = rows.items()
        for name, other in others:
            if [row[:2] for row in other] != [row[:2] for row in expected]:
                raise ValueError(
                    "Systems in the same plot must have the same segments with the same queries. "
                    f"Got other segments in {echo(name)} than in {echo(first)}."
                )
        return cls(
            [", ".join(map(str, names)) for names, _, _ in expected],
            {name: np.array([row[2] for row in of_system], dtype=np.float64) for name, of_system in rows.items()},
            overall, n_queries=[n for _, n, _ in expected], **keywords,
        )  # fmt: skip

    @classmethod
    def _evaluate(
        cls, y_true: ArrayLike, y_score: Any, *, metric: MetricLike = "ndcg", by: AttributesLike = None,
        clusters: ClustersLike = None, **keywords: Any,
    ) -> dict[str, Evaluation]:  # fmt: skip
        """Evaluate systems with attributes.

        Parameters
        ----------
        y_score : dict of str to array-like of shape (n_samples,)
            Scores of systems by name.
        by : array-like of shape (n_samples,), dict or frame
            Attributes of each row's query, see `evaluate`.
        clusters : array-like of shape (n_samples,) or dict, default=None
            Cluster of each row's query, such as a user.
        """
        return evaluate_each(y_true, y_score, metrics=[metric], by=by, clusters=clusters, **keywords)
