"""The doors: public functions, the kinds of evidence that each hands over, and whether it makes a decision."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from sklearn_rank._misuse.check import Check
from sklearn_rank._utils.echo import echo

Consequence = Literal["", "warning", "error"]


@dataclass(frozen=True)
class Door:
    """A public function that runs checks on its inputs.

    Attributes
    ----------
    name : str
        Name of the function or functions.
    hands : str
        Kinds of evidence that the door provides, separated by spaces.
    decides : bool
        Whether the door makes a decision, with all data available.
    chooses : bool
        Whether the first metric chooses a model, whatever other metrics say.
    may_raise : bool
        False for scorers, because scikit-learn turns their errors into NaN.
    has_keyword : bool
        Whether the door has the keyword `on_misuse`.
    words : (str, str) or None
        Names of labels and scores in messages; None: the names of the arguments.
    """

    name: str
    hands: str
    decides: bool = False
    chooses: bool = False
    may_raise: bool = True
    has_keyword: bool = True
    words: tuple[str, str] | None = None

    def of_columns(self, y_true: Any, y_score: Any) -> Door:
        """Return the door with names of table columns for its messages."""
        label = f"column {echo(y_true)}" if isinstance(y_true, str) else "columns y_true="
        return replace(self, words=(label, f"column {echo(y_score)}"))

    def kinds(self, kinds: str = "") -> frozenset[str]:
        """Kinds of evidence to look at, of those that the door hands over."""
        hands = self.hands.split()
        return frozenset(kind for kind in hands if kind in (kinds or self.hands).split())

    def outcome(self, check: Check) -> Consequence:
        """Consequence of a finding of the check at this door; "" if the door does not run it."""
        if check.kind not in self.hands.split():
            return ""
        raises = check.severity == "error" or (check.severity == "decision" and self.decides)
        return "error" if raises and self.may_raise else "warning"


OF_MODELS = "y", "predictions"
"""Names of labels and scores in messages if a model predicts."""

KINDS_OF_ROWS = "labels grades scores retrieved arguments ids qid names matrices"
"""Kinds of evidence in the rows of the user."""

OF_DECISIONS = "labels grades ids qid frozen ratings copies"
"""Kinds of evidence in rows for doors that choose models."""

METRIC = Door("metric functions", KINDS_OF_ROWS + " form")
SCORER = Door(
    "make_ranking_scorer, get_scorer, QueryRanker.score", "labels grades scores ids qid frozen fitted copies measured",
    may_raise=False, words=OF_MODELS,
)  # fmt: skip
EVALUATE = Door("evaluate", KINDS_OF_ROWS + " queries")
TABLE = Door("evaluate_table", "labels grades scores retrieved arguments ids qid names batches again queries ranks")
RUN = Door("evaluate_run", "labels grades scores retrieved qid queries runs ranks", words=("the judgments", "the run"))
PREPARE = Door("prepare, PreparedMetrics", KINDS_OF_ROWS)
ACCUMULATOR = Door("RankingAccumulator", "labels grades scores retrieved arguments ids qid queries matrices")
SYSTEMS = Door("compare_systems", KINDS_OF_ROWS + " queries runs ranks models judged copies evidence")
COMPARE = Door(
    "RankingEvaluator.compare", OF_DECISIONS + " scores queries users models judged measured", decides=True,
    words=OF_MODELS,
)  # fmt: skip
CROSS_VALIDATE = Door(
    "RankingEvaluator.cross_validate", OF_DECISIONS + " scores queries users measured", decides=True, words=OF_MODELS
)
SEARCH = Door("RankingEvaluator.search", OF_DECISIONS, decides=True, chooses=True, words=OF_MODELS)
RECOMMENDER_SCORER = Door(
    "make_recommender_scorer", "labels grades qid scores ratings users", may_raise=False, words=OF_MODELS
)
RANKER = Door("QueryRanker.fit(eval_set=...)", "labels grades ids qid copies", decides=True, words=OF_MODELS)
IMPORTANCE = Door("query_permutation_importance", "labels grades scores ids qid copies", decides=True, words=OF_MODELS)
BOOSTING = Door("boosting", "labels grades ids", words=OF_MODELS)
SPARK = Door("spark.evaluate", "labels grades scores retrieved arguments ids qid names")
RETRIEVAL = Door("retrieval.evaluate_retrieval", "labels grades distances itself")
RETRIEVAL_SCORER = Door("retrieval.make_retrieval_scorer", "labels grades distances", may_raise=False)
NEIGHBORS = Door("retrieval.score_neighbors", "labels grades neighbors itself")
THRESHOLDS = Door("retrieval.threshold_curve", "labels scores retrieved arguments qid names matrices copies")
JOIN = Door("io.join", "runs ranks")
READ_RUN = Door("io.read_run", "lines ranks")
READ_TABLE = Door("io.read_table", "ranks names batches")
STATISTICS = Door(
    "stats.compare, compare_all, no_worse, compare_judged, judge_agreement", "judged models", has_keyword=False
)
VERDICTS = Door("stats.compare, compare_all, no_worse, on evidence", "evidence")
COMMAND = Door("command line", "labels grades scores retrieved arguments ids qid names queries runs lines ranks judged")
