"""Every check at every entry point: a warning, an error, or nothing; and no warning on ordinary data."""

import io
import re
import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from misuse_cases import OF_RANKS, Given, beside_ranks, command, seen
from sklearn import metrics as sklearn_metrics
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

import sklearn_rank.spark
from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    get_scorer,
    make_ranking_scorer,
    prepare,
    query_permutation_importance,
)
from sklearn_rank._data import doors
from sklearn_rank._data.table import ALL_CHECKS, ALL_DOORS
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._misuse.ids import CHECKS_OF_IDS
from sklearn_rank._misuse.ratings import CHECKS_OF_RATINGS
from sklearn_rank.boosting import lightgbm_metric
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import join, read_qrels, read_run, read_table
from sklearn_rank.metrics import dcg_score, map_score, ndcg_score
from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors, threshold_curve
from sklearn_rank.stats import compare, compare_all, judge_agreement, no_worse

CHECK = {check.name: check for check in ALL_CHECKS}
N_QUERIES, N_DOCUMENTS = 30, 10


# --- data with one finding each ----------------------------------------------------------------------------


class Rows:
    """Rows with labels, scores and queries, and the metric to judge them by."""

    def __init__(self, label=None, score=None, qid=None, metric="map", name="score"):
        rng = np.random.default_rng(0)
        n = N_QUERIES * N_DOCUMENTS
        self.label = rng.integers(0, 3, n) if label is None else label
        self.score = np.where(self.label > 1, 1, 0) + rng.random(n) if score is None else score
        self.qid = np.repeat(np.arange(N_QUERIES), N_DOCUMENTS) if qid is None else qid
        self.metric, self.name = metric, name

    @property
    def frame(self):
        return pd.DataFrame({"label": self.label, self.name: self.score, "qid": self.qid})

    @property
    def X(self):
        return np.column_stack([self.score, np.arange(len(self.score))]).astype(float)


def ranks(rows):
    """Rank of each document by its score, 1 for the highest."""
    return pd.Series(rows.score).groupby(rows.qid).rank(ascending=False).to_numpy()


RNG = np.random.default_rng(1)
N_ROWS = N_QUERIES * N_DOCUMENTS
OF_ROWS = {
    "no order matters": Rows(RNG.integers(1, 6, N_ROWS)),
    "threshold outside of the scale": Rows(RNG.random(N_ROWS)),
    "large grades": Rows(RNG.integers(0, 101, N_ROWS) // 2, metric="ndcg@10"),
    "labels without propensities": Rows(RNG.integers(0, 2, N_ROWS), metric="snips"),
    "another scale": Rows(np.where(RNG.random(N_ROWS) < 0.1, 999, RNG.integers(0, 5, N_ROWS)), metric="ndcg@10"),
    "queries of one row": Rows(qid=np.arange(N_ROWS)),
    "invalid query ids": Rows(qid=np.repeat([*map(str, range(N_QUERIES - 1)), "None"], N_DOCUMENTS)),
    "worse than chance": Rows(score=ranks(Rows()), metric="ndcg@10"),
    "labels and scores swapped": Rows(RNG.random(N_ROWS), RNG.integers(0, 3, N_ROWS), metric="ndcg@10"),
    "a column where lower is better": Rows(
        score=2 - RNG.random(N_ROWS) - Rows().label / 11, metric="ndcg@10", name="distance"
    ),
}
PLAIN = {metric: Rows(metric=metric) for metric in ("map", "ndcg@10")}


# --- doors ---------------------------------------------------------------------------------------------------


def series(rows):
    return pd.Series(rows.score, name=rows.name)


def metric_functions(rows):
    name, _, k = rows.metric.partition("@")
    REGISTRY[name].function(rows.label, series(rows), qid=rows.qid, **({"k": int(k)} if k else {}))


def scorers(rows):
    y = pd.Series(rows.label, index=pd.Index(rows.qid, name="qid"))
    get_scorer(rows.metric)(Given().fit(None, None), rows.X, y)


def several_scorers(rows):
    make_ranking_scorer([rows.metric])(Given().fit(None, None), rows.X, rows.label, qid=rows.qid)


def of_evaluate(rows):
    evaluate(rows.label, series(rows), qid=rows.qid, metrics=rows.metric)


def of_frame(rows):
    evaluate_table(rows.frame, y_score=rows.name, metrics=rows.metric)


def by_query(rows, column):
    """Values by query and document."""
    table = rows.frame.assign(document=np.arange(len(rows.qid)))
    return {q: dict(zip(part["document"], part[column], strict=True)) for q, part in table.groupby("qid")}


def of_run(rows):
    evaluate_run(by_query(rows, "label"), by_query(rows, rows.name), metrics=rows.metric)


def of_prepare(rows):
    prepare(rows.label, qid=rows.qid, metrics=rows.metric)(series(rows))


def of_batches(rows):
    frame = rows.frame
    evaluate_table([frame[:70], frame[70:]], y_score=rows.name, metrics=rows.metric)


def of_accumulator(rows):
    accumulator = RankingAccumulator(rows.metric)
    for q in np.unique(rows.qid):
        accumulator.update(rows.label[rows.qid == q], rows.score[rows.qid == q], rows.qid[rows.qid == q])
    accumulator.compute()


def of_systems(rows):
    systems = {"a": series(rows), "b": series(rows)}
    compare_systems(rows.label, systems, qid=rows.qid, metrics=rows.metric)


def of_columns(rows):
    compare_systems(rows.frame, [rows.name], metrics=rows.metric)


def of_compare(rows, **options):
    evaluator = RankingEvaluator(rows.metric, cv=3, **options)
    evaluator.compare({"given": Given(), "again": Given()}, rows.X, rows.label, qid=rows.qid)


def of_cross_validate(rows, **options):
    RankingEvaluator(rows.metric, cv=3, **options).cross_validate(Given(), rows.X, rows.label, qid=rows.qid)


def of_search(rows, **options):
    search = GridSearchCV(QueryRanker(Given()), {"estimator__column": [0, 1]})
    RankingEvaluator(rows.metric, cv=3, **options).search(search, rows.X, rows.label, qid=rows.qid)


def of_ranker(rows, **options):
    model = GradientBoostingRegressor(n_estimators=3)
    ranker = QueryRanker(model, eval_fraction=0.2, eval_metric=rows.metric, random_state=0, **options)
    ranker.fit(rows.X, rows.label, qid=rows.qid)


def of_importance(rows, **options):
    query_permutation_importance(
        Given().fit(None, None), rows.X, rows.label, qid=rows.qid, metric=rows.metric, random_state=0, **options
    )


def of_boosting(rows):
    sizes = np.unique(rows.qid, return_counts=True)[1]
    lightgbm_metric(rows.metric)(rows.label, rows.score, None, sizes)


def matrix(values):
    return np.reshape(values, (N_QUERIES, N_DOCUMENTS))


def of_retrieval(rows):
    """Queries on a line, and items whose distance to the first is their score."""
    items = -matrix(rows.score)[0][:, None]
    evaluate_retrieval(
        np.zeros((N_QUERIES, 1)), items, relevance=matrix(rows.label), distance="euclidean", metrics=rows.metric
    )


def of_neighbors(rows):
    items = np.tile(np.arange(N_DOCUMENTS), (N_QUERIES, 1))
    score_neighbors(None, items, relevance=matrix(rows.label), metrics=rows.metric)


def of_thresholds(rows):
    """Only the highest label is relevant; the curve needs two classes."""
    label = np.where(rows.label == rows.label.max(), np.ceil(rows.label), rows.label)
    threshold_curve(label, series(rows), qid=rows.qid)


def of_command(rows, folder):
    rows.frame.to_csv(folder / "rows.csv", index=False)
    command("evaluate", "--table", folder / "rows.csv", "--y-score", rows.name, "-m", rows.metric)


CALLS = [
    (doors.METRIC, metric_functions),
    (doors.SCORER, scorers),
    (doors.SCORER, several_scorers),
    (doors.EVALUATE, of_evaluate),
    (doors.TABLE, of_frame),
    (doors.RUN, of_run),
    (doors.PREPARE, of_prepare),
    (doors.TABLE, of_batches),
    (doors.ACCUMULATOR, of_accumulator),
    (doors.SYSTEMS, of_systems),
    (doors.SYSTEMS, of_columns),
    (doors.COMPARE, of_compare),
    (doors.CROSS_VALIDATE, of_cross_validate),
    (doors.SEARCH, of_search),
    (doors.RANKER, of_ranker),
    (doors.IMPORTANCE, of_importance),
    (doors.BOOSTING, of_boosting),
    (doors.RETRIEVAL, of_retrieval),
    (doors.NEIGHBORS, of_neighbors),
    (doors.THRESHOLDS, of_thresholds),
]
"""Calls with rows, by the door that they go through; Spark and the command line have tests of their own."""


@pytest.mark.parametrize(("door", "call"), CALLS, ids=[call.__name__ for _, call in CALLS])
@pytest.mark.parametrize("name", OF_ROWS)
def test_checks_of_rows(name, door, call):
    """The one warning or error in the table, and no other."""
    rows, outcome = OF_ROWS[name], door.outcome(CHECK[name])
    if door in (doors.RETRIEVAL, doors.NEIGHBORS) and name == "queries of one row":
        pytest.skip("queries there are lists of all items")
    warned, raised = seen(call, rows)
    if door is doors.RUN and name == "labels and scores swapped":
        assert warned == ["run and judgments swapped"]
        return
    # No label reaches the threshold, so two systems cannot be compared.
    is_compared = call is of_systems and name == "threshold outside of the scale"
    assert raised == ("nothing compared" if is_compared else name if outcome == "error" else "")
    assert warned == ([name] if outcome == "warning" else [])


@pytest.mark.parametrize(("door", "call"), CALLS, ids=[call.__name__ for _, call in CALLS])
@pytest.mark.parametrize("metric", PLAIN)
def test_plain_rows(metric, door, call):
    assert seen(call, PLAIN[metric]) == ([], "")


# --- checks of frames, batches, runs and files ------------------------------------------------------------------


def transposed():
    """Labels and scores with queries as columns."""
    rows = Rows()
    return [pd.DataFrame(matrix(x)).rename_axis("qid").T for x in (rows.label, rows.score)]


def matrices_again():
    """Two batches of queries by documents; each numbers its queries from 0."""
    rows = Rows()
    return [(matrix(rows.label), matrix(rows.score), np.arange(N_QUERIES))] * 2


def batches_again():
    """Rows of two systems, concatenated."""
    rows = Rows()
    return [(rows.label, rows.score, rows.qid), (rows.label, -rows.score, rows.qid)]


def in_folder(folder, batches):
    """The batches as files of a folder."""
    for i, columns in enumerate(batches):
        table = dict(zip(["label", "score", "qid"], columns, strict=True))
        pd.DataFrame(table).to_csv(folder / f"{i}.csv", index=False)
    return folder


def other_batches():
    """Two batches of other documents; each numbers its queries from 0."""
    rows, others = Rows(), np.random.default_rng(1).integers(0, 3, N_ROWS)
    return [(rows.label, rows.score, rows.qid), (others, others + rows.score[::-1], rows.qid)]


def turned():
    """A run and judgments, swapped."""
    rows = Rows()
    return by_query(rows, "score"), by_query(rows, "label")


def rising():
    """Judgments, and a run of increasing distances."""
    rows = Rows()
    run = by_query(Rows(score=3 - rows.score), "score")
    return by_query(rows, "label"), {q: dict(sorted(found.items(), key=lambda x: x[1])) for q, found in run.items()}


def padded():
    """Judgments, and a run with a document -1."""
    rows = Rows()
    run = {q: {**documents, -1: 0.0} for q, documents in by_query(rows, "score").items()}
    return by_query(rows, "label"), run


def trec(rank, score):
    """Lines of a run."""
    lines = (f"q{q} Q0 d{d} {rank(d)} {score(d)} me\n" for q in range(N_QUERIES) for d in range(N_DOCUMENTS))
    return "".join(lines)


FIRST_IS_BEST = "".join(f"q{q} 0 d{d} {int(d == 0)}\n" for q in range(N_QUERIES) for d in range(N_DOCUMENTS))


def distances():
    """Distances with ranks: three checks find that scores have the wrong direction."""
    score = beside_ranks()[1].assign(label=lambda frame: frame["label"].max() - frame["label"])
    return score.rename(columns={"score": "l2Distance"})


def contradicted():
    """Judgments, and a run whose ranks contradict its scores and agree with the judgments."""
    return read_qrels(io.BytesIO(FIRST_IS_BEST.encode())), read_run(io.BytesIO(AGAINST.encode()))


FRACTIONS = trec(lambda d: 0.9 - d / 20, lambda d: d + 1)
AGAINST = trec(lambda d: d + 1, lambda d: d / 2 + 1)
QRELS = "".join(f"q{q} 0 d{d} {int((d + q) % 5 == 0)}\n" for q in range(N_QUERIES) for d in range(N_DOCUMENTS))


def of_files(folder, run, qrels=None):
    (folder / "qrels").write_text(qrels or QRELS)
    (folder / "run").write_text(run)
    command("evaluate", folder / "qrels", folder / "run", "-m", "map")


def as_files(folder, judged, run, line="{} Q0 {} 1 {} me\n"):
    """Run the command line on dictionaries, saved as TREC files; grades as scores make a run."""
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {v}\n" for q, ds in judged.items() for d, v in ds.items()))
    (folder / "run").write_text("".join(line.format(q, d, v) for q, ds in run.items() for d, v in ds.items()))
    command("evaluate", folder / "qrels", folder / "run", "-m", "dcg(gain=linear)")


def strange(*documents):
    """Judgments, and a run of other documents plus some documents of its first query."""
    judged = {q: dict.fromkeys((f"d{i}" for i in range(3)), int(q > 0)) for q in range(N_QUERIES)}
    run = {q: [f"x{i}" for i in range(N_DOCUMENTS)] + [*documents] * (q == 0) for q in judged}
    return judged, run


STRANGE_RUN = trec(lambda d: d + 1, lambda d: -d).replace(" d", " x")
NOTHING, STRANGERS, TWO_TYPES = "nothing retrieved", "ids without a match", "ids of two types"
MIXED = {"u": ["x1"], "v": ["2"]}, {"u": ["x1"], "v": [3]}
EMPTY = Rows(score=np.full(N_ROWS, -np.inf), metric="ndcg@10")
PADDED = trec(lambda d: d + 1, lambda d: -d).replace("d9", "nan")
NO_DOCUMENT = "invalid document ids"
TURNED, RISING = "run and judgments swapped", "a run worst first"
FRACTION, CONTRADICTED = "rank and score swapped in a file", "ranks that contradict scores"
GRADES = [[3, 2, 0, 1], [0, 0, 2, 1]], [[0.1, 0.2, 0.3, 0.25]] * 2
ANOTHER_GAIN = "another gain than scikit-learn's"

OTHERS = [
    (ANOTHER_GAIN, doors.METRIC, lambda _: ndcg_score(*GRADES)),
    (ANOTHER_GAIN, doors.METRIC, lambda _: dcg_score(*map(np.array, GRADES), k=2, sample_weight=[1, 2])),
    ("a transposed frame", doors.METRIC, lambda _: map_score(*transposed())),
    ("a transposed frame", doors.EVALUATE, lambda _: evaluate(*transposed())),
    ("a transposed frame", doors.PREPARE, lambda _: prepare(transposed()[0])),
    ("a transposed frame", doors.ACCUMULATOR, lambda _: RankingAccumulator().update(*transposed())),
    ("a transposed frame", doors.THRESHOLDS, lambda _: threshold_curve(*transposed())),
    ("a transposed frame", doors.SYSTEMS, lambda _: compare_systems(transposed()[0], {"a": transposed()[1]})),
    ("a query in two matrices", doors.TABLE, lambda _: evaluate_table(matrices_again())),
    ("documents in two batches", doors.TABLE, lambda _: evaluate_table(batches_again())),
    ("queries numbered in each batch", doors.TABLE, lambda _: evaluate_table(other_batches())),
    (TURNED, doors.RUN, lambda _: evaluate_run(*turned(), metrics="dcg(gain=linear)")),
    (TURNED, doors.SYSTEMS, lambda _: compare_systems(turned()[0], {"a": turned()[1]}, metrics="dcg(gain=linear)")),
    (TURNED, doors.JOIN, lambda _: join(*turned())),
    (TURNED, doors.COMMAND, lambda folder: as_files(folder, *turned())),
    (RISING, doors.RUN, lambda _: evaluate_run(*rising())),
    (RISING, doors.SYSTEMS, lambda _: compare_systems(rising()[0], {"a": rising()[1], "b": dict(rising()[1])})),
    (RISING, doors.JOIN, lambda _: join(*rising())),
    (RISING, doors.COMMAND, lambda folder: as_files(folder, *rising(), "{} {} {}\n")),
    (STRANGERS, doors.RUN, lambda _: evaluate_run(*strange())),
    (STRANGERS, doors.SYSTEMS, lambda _: compare_systems(strange()[0], {"a": strange("d1")[1]})),
    (STRANGERS, doors.JOIN, lambda _: join(*strange("d1"))),
    (STRANGERS, doors.COMMAND, lambda folder: of_files(folder, STRANGE_RUN)),
    (TWO_TYPES, doors.RUN, lambda _: evaluate_run(*MIXED)),
    (TWO_TYPES, doors.SYSTEMS, lambda _: compare_systems(MIXED[1], {"a": MIXED[0]})),
    (TWO_TYPES, doors.JOIN, lambda _: join(*MIXED)),
    (NO_DOCUMENT, doors.RUN, lambda _: evaluate_run(*padded(), metrics="map")),
    (NO_DOCUMENT, doors.SYSTEMS, lambda _: compare_systems(padded()[0], {"a": padded()[1]}, metrics="map")),
    (NO_DOCUMENT, doors.JOIN, lambda _: join(*padded())),
    (NO_DOCUMENT, doors.COMMAND, lambda folder: of_files(folder, PADDED)),
    (FRACTION, doors.READ_RUN, lambda _: read_run(io.BytesIO(FRACTIONS.encode()))),
    (FRACTION, doors.COMMAND, lambda folder: of_files(folder, FRACTIONS)),
    (CONTRADICTED, doors.READ_RUN, lambda _: read_run(io.BytesIO(AGAINST.encode()))),
    (CONTRADICTED, doors.COMMAND, lambda folder: of_files(folder, AGAINST)),
]
OTHERS += [(CONTRADICTED, door, lambda _, call=call: call(*beside_ranks())) for door, call in OF_RANKS]
LOWER = "a column where lower is better"
OTHERS += [
    ("documents in two batches", doors.READ_TABLE, lambda folder: read_table(in_folder(folder, batches_again()))),
    ("queries numbered in each batch", doors.READ_TABLE, lambda folder: read_table(in_folder(folder, other_batches()))),
    (LOWER, doors.READ_TABLE, lambda _: read_table(distances(), y_score="l2Distance")),
    (LOWER, doors.TABLE, lambda _: evaluate_table(distances(), y_score="l2Distance")),
    (CONTRADICTED, doors.TABLE, lambda _: evaluate_table(distances().rename(columns={"l2Distance": "score"}))),
    (CONTRADICTED, doors.RUN, lambda _: evaluate_run(*contradicted())),
    (CONTRADICTED, doors.COMMAND, lambda folder: of_files(folder, AGAINST, FIRST_IS_BEST)),
]
OTHERS += [
    (NOTHING, door, lambda _, call=call: call(EMPTY)) for door, call in CALLS if "retrieved" in door.hands.split()
]
OTHERS += [(NOTHING, doors.COMMAND, lambda folder: of_command(EMPTY, folder))]
FIRST = np.arange(N_ROWS) % N_DOCUMENTS == 0
UNREACHED = Rows(FIRST.astype(int), RNG.random(N_ROWS) + 2 * FIRST + 4 * np.roll(FIRST, 1), metric="p@1")
COMPARED, MEASURED = "nothing compared", "nothing measured"
OTHERS += [
    (COMPARED, doors.SYSTEMS, lambda _: of_systems(UNREACHED)),
    (
        COMPARED,
        doors.VERDICTS,
        lambda _: compare(*(evaluate(np.zeros((2, 2)), [[1, 2]] * 2, metrics="map") for _ in "ab")),
    ),
    (MEASURED, doors.SCORER, lambda _: scorers(UNREACHED)),
    (MEASURED, doors.SCORER, lambda _: several_scorers(UNREACHED)),
    (MEASURED, doors.COMPARE, lambda _: of_compare(UNREACHED)),
    (MEASURED, doors.CROSS_VALIDATE, lambda _: of_cross_validate(UNREACHED)),
]


@pytest.mark.parametrize(("name", "door", "call"), OTHERS, ids=[f"{name}-{door.name}" for name, door, _ in OTHERS])
def test_checks_of_frames_batches_runs_and_files(name, door, call, tmp_path):
    warned, raised = seen(call, tmp_path)
    outcome = door.outcome(CHECK[name])
    # Two systems that retrieved nothing cannot be compared.
    is_compared = door is doors.SYSTEMS and name == NOTHING and raised
    assert raised == (COMPARED if is_compared else name if outcome == "error" else "")
    assert warned == ([name] if outcome == "warning" else [])


@pytest.mark.parametrize("name", OF_ROWS)
def test_checks_at_the_command_line(name, tmp_path):
    warned, raised = seen(of_command, OF_ROWS[name], tmp_path)
    assert (warned, raised) == ([name], "")


@pytest.mark.parametrize("name", [*OF_ROWS, NOTHING])
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_checks_of_spark(name, spark):
    rows = OF_ROWS.get(name, EMPTY)
    frame = spark.createDataFrame(rows.frame.astype({"label": float, rows.name: float})).repartition(3)
    assert seen(sklearn_rank.spark.evaluate, frame, y_score=rows.name, metrics=rows.metric) == ([name], "")
    assert seen(sklearn_rank.spark.per_query, frame, y_score=rows.name, metrics=rows.metric) == ([], "")


@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
def test_grades_in_the_shape_of_scikit_learn(name):
    """The message names two ways out; one gives scikit-learn's number."""
    ours, theirs = getattr(sklearn_rank, name), getattr(sklearn_metrics, name)
    with pytest.warns(RankingWarning, match=f"^{name} has the gain .*gain='linear' for .*, or gain='exp2' for this"):
        value = ours(*GRADES)
    assert value == ours(*GRADES, gain="exp2") != pytest.approx(theirs(*GRADES))
    assert ours(*GRADES, gain="linear") == ours(*GRADES, convention="sklearn") == pytest.approx(theirs(*GRADES))


@pytest.mark.parametrize(
    "call",
    [
        lambda: ndcg_score([[1, 0, 0], [0, 1, 1]], [[0.1, 0.3, 0.2]] * 2),
        lambda: ndcg_score([[2, 0, 0], [0, 3, 3]], [[0.1, 0.3, 0.2]] * 2),
        lambda: ndcg_score(*GRADES, qid=["a", "b"]),
        lambda: ndcg_score(*map(np.ravel, GRADES), qid=[0] * 4 + [1] * 4),
        lambda: ndcg_score(*GRADES, convention="lightgbm"),
        lambda: dcg_score(*GRADES, mask=np.ones((2, 4), dtype=bool)),
        lambda: map_score(*GRADES),
        lambda: evaluate(*GRADES, metrics=["ndcg", "dcg"]),
        lambda: evaluate(*GRADES, metrics=ndcg_score),
        lambda: compare_systems(GRADES[0], {"a": GRADES[1]}, metrics="ndcg"),
        lambda: prepare(GRADES[0], metrics="ndcg")(GRADES[1]),
    ],
    ids=["binary", "one grade", "ids", "rows", "convention", "mask", "another metric", "a name", "a function",
         "systems", "prepared"],
)  # fmt: skip
def test_other_calls_give_the_same_number(call):
    assert seen(call) == ([], "")


# --- checks of models -----------------------------------------------------------------------------------------


def features(seed=0):
    rng = np.random.default_rng(seed)
    X, qid = rng.normal(size=(N_ROWS, 3)), np.repeat(np.arange(N_QUERIES), N_DOCUMENTS)
    return X, np.clip(np.round(X[:, 0] + 1), 0, 3), qid


def test_the_same_model_twice():
    X, y, qid = features()
    model, scores, name = Ridge(), X[:, 0], "one model twice"
    result = evaluate(y, scores, qid=qid)
    for call in (
        lambda **keywords: RankingEvaluator(cv=2, **keywords).compare({"a": model, "b": model}, X, y, qid=qid),
        lambda **keywords: compare_systems(y, {"a": scores, "b": scores}, qid=qid, **keywords),
        lambda **keywords: compare_systems({"a": result, "b": result}, **keywords),
    ):
        assert seen(call) == ([], name)
        assert seen(call, on_misuse="warn") == ([name], "")
        assert seen(call, on_misuse="ignore") == ([], "")
    assert seen(compare_systems, y, {"a": scores, "b": scores.copy()}, qid=qid) == ([], "")
    # Statistics have no keyword to confirm the use, so their message names none.
    again = evaluate(y, scores, qid=qid)
    for call in (
        lambda other: compare(result, other, metric="map"),
        lambda other: compare_all({"a": result, "b": other, "c": again}, metric="map"),
        lambda other: no_worse(new=result, old=other, margin={"map": 0.01}),
    ):
        assert seen(call, result) == ([], name)
        assert seen(call, evaluate(y, scores, qid=qid)) == ([], "")
    assert seen(compare, scores, scores) == ([], name)
    assert seen(judge_agreement, y, y) == ([], name)
    with pytest.raises(
        ValueError, match="'a', 'b' are one object, so they cannot differ: pass different models, or a copy.$"
    ):
        compare(result, result, metric="map")


def test_a_frozen_ranker_fitted_on_test_queries():
    X, y, qid = features()
    name = "a model that has seen the test queries"
    frozen = FrozenEstimator(QueryRanker(Ridge()).fit(X, y, qid=qid))
    other = FrozenEstimator(QueryRanker(Ridge()).fit(*features(1)[:2], qid=qid + 1000))
    named = pd.Series(y, index=pd.Index(qid, name="qid"))
    for scorer in (get_scorer("ndcg@10"), make_ranking_scorer(["ndcg@10", "map"])):
        assert seen(scorer, frozen, X, named) == ([name], "")
        assert seen(scorer, other, X, named) == ([], "")
        assert seen(scorer, frozen.estimator, X, named) == ([], "")
    evaluator = RankingEvaluator("ndcg@10", cv=2)
    for call, model, fine in (
        (evaluator.compare, {"frozen": frozen}, {"other": other}),
        (evaluator.cross_validate, frozen, other),
        (evaluator.search, GridSearchCV(QueryRanker(VotingRegressor([("a", frozen)])), {}), None),
    ):
        assert seen(call, model, X, y, qid=qid) == ([], name)
        if fine is not None:
            assert seen(call, fine, X, y, qid=qid) == ([], "")
    assert seen(RankingEvaluator("ndcg@10", cv=2, on_misuse="ignore").cross_validate, frozen, X, y, qid=qid) == ([], "")


def test_a_ranker_fitted_without_qid():
    X, y, qid = features()
    named = pd.Series(y, index=pd.Index(qid, name="qid"))
    name, inside = "a ranker without queries", [("a", QueryRanker(Ridge()))]
    assert seen(get_scorer("ndcg"), VotingRegressor(inside).fit(X, y), X, named) == ([name], "")
    assert seen(get_scorer("ndcg"), QueryRanker(VotingRegressor(inside)).fit(X, y, qid=qid), X, named) == ([], "")
    assert seen(get_scorer("ndcg"), QueryRanker(Ridge()).fit(X, y), X, named) == ([], "")
    assert seen(get_scorer("ndcg"), VotingRegressor([("a", Ridge())]).fit(X, y), X, named) == ([], "")


# --- settings of the user --------------------------------------------------------------------------------------

DECIDED = [of_compare, of_cross_validate, of_search, of_ranker, of_importance]


@pytest.mark.parametrize("call", DECIDED, ids=[call.__name__ for call in DECIDED])
def test_checks_of_the_metric_that_decides(call):
    name = "no order matters"
    assert seen(call, OF_ROWS[name]) == ([], name)
    assert seen(call, OF_ROWS[name], on_misuse="warn") == ([name], "")
    assert seen(call, OF_ROWS[name], on_misuse="ignore") == ([], "")
    with pytest.raises(
        ValueError, match="The 'on_misuse' parameter of .* must be 'raise', 'warn' or 'ignore'. Got 'no'"
    ):
        call(OF_ROWS[name], on_misuse="no")


def test_checks_of_other_metrics_only_warn():
    rows = OF_ROWS["no order matters"]
    for first, last, expected in (
        ("ndcg", "map", (["no order matters"], "")),
        ("map", "ndcg", (["no order matters"], "")),
    ):
        evaluator = RankingEvaluator([first, last], cv=3)
        assert seen(evaluator.cross_validate, Given(), rows.X, rows.label, qid=rows.qid) == expected
        search = GridSearchCV(
            QueryRanker(Given()), {"estimator__column": [0, 1]}, refit="map" if first == "ndcg" else "ndcg"
        )
        assert seen(evaluator.search, search, rows.X, rows.label, qid=rows.qid)[1] == (
            "no order matters" * (first == "ndcg")
        )


def test_a_search_is_judged_by_its_own_scorer():
    rows = OF_ROWS["no order matters"]
    for scoring, raised in (("map", "no order matters"), ("ndcg", "")):
        for own in (get_scorer(scoring), make_ranking_scorer([scoring])):
            search = GridSearchCV(
                QueryRanker(Given()),
                {"estimator__column": [0, 1]},
                scoring=own,
                refit=scoring if own.__class__.__name__ == "RankingScorers" else True,
            )
            assert seen(RankingEvaluator("map", cv=3).search, search, rows.X, rows.label, qid=rows.qid) == ([], raised)


@pytest.mark.slow
@pytest.mark.parametrize("call", [of_compare, of_cross_validate, of_search])
def test_one_warning_with_several_processes(call, capfd):
    """Only the calling process warns."""
    rows = OF_ROWS["no order matters"]
    assert seen(call, rows, on_misuse="warn", n_jobs=2) == (["no order matters"], "")
    assert "Warning" not in capfd.readouterr().err


def test_one_warning_with_several_threads():
    rows = OF_ROWS["no order matters"]
    given = {"qid": rows.qid, "metrics": ["map", "mrr", "p@3"], "n_jobs": 2}
    assert seen(evaluate, rows.label, rows.score, **given) == (["no order matters"], "")
    batches = [(rows.label[i : i + 20], rows.score[i : i + 20], rows.qid[i : i + 20]) for i in range(0, N_ROWS, 20)]
    assert seen(evaluate_table, batches, metrics="map", n_jobs=2) == (["no order matters"], "")


def test_a_search_of_scikit_learn_warns_and_completes():
    """The scorer does not raise, because every candidate would then be nan."""
    X, y, qid = features()
    named = pd.Series(np.ones(N_ROWS), index=pd.Index(np.repeat(np.arange(60), 5), name="qid"))
    search = GridSearchCV(
        QueryRanker(Given()), {"estimator__column": [0, 1]}, scoring=get_scorer("ndcg@10"), cv=QueryKFold(3)
    )
    warned, raised = seen(search.fit, X, named)
    assert {*warned} == {"no order matters"}
    assert raised == ""
    assert search.cv_results_["mean_test_score"].tolist() == [1.0, 1.0]


def test_misuse_warning_filters():
    rows = OF_ROWS["worse than chance"]
    with pytest.warns(
        RankingWarning, match="If this is intended, filter sklearn_rank.exceptions.RankingWarning"
    ) as told:
        evaluate(rows.label, rows.score, qid=rows.qid, metrics="ndcg")
    assert [one.filename for one in told] == [__file__]
    for check in ALL_CHECKS:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", f".*{re.escape(check.says)}", RankingWarning)
            warnings.warn(f"It {check.says}.", RankingWarning, stacklevel=1)
    assert issubclass(RankingWarning, UserWarning)


# --- no false alarms -----------------------------------------------------------------------------------------


def ordinary(seed):
    """Ordinary labels, scores and queries of many shapes."""
    rng = np.random.default_rng(seed)
    n_queries = int(rng.choice([1, 2, 5, 20, 25, 40, 100]))
    size = rng.integers(*[(1, 4), (2, 8), (3, 4), (10, 11), (1, 40)][seed % 5], n_queries)
    qid, n = np.repeat(np.arange(n_queries), size), int(size.sum())
    relevant = rng.choice([0.01, 0.05, 0.2, 0.5, 0.8])
    label = [
        lambda: rng.random(n) < relevant,
        lambda: rng.binomial(4, relevant, n),
        lambda: rng.integers(0, 5, n),
        lambda: rng.choice([0, 0.5, 1, 1.5, 2], n),
        lambda: rng.poisson(3 * relevant, n),
        lambda: rng.integers(0, 11, n),
    ][seed // 5 % 6]().astype(float)
    score = [
        lambda: rng.normal(size=n),
        lambda: rng.random(n).round(1),
        lambda: rng.integers(0, 5, n),
        lambda: pd.Series(rng.random(n)).groupby(qid).rank().to_numpy(),
        lambda: -pd.Series(rng.random(n)).groupby(qid).rank().to_numpy(),
        lambda: label + rng.normal(size=n),
        lambda: label,
        lambda: np.zeros(n),
        lambda: np.where(rng.random(n) < 0.3, -np.inf, rng.random(n)),
    ][seed // 30 % 9]()
    if seed % 7 == 0:
        shuffled = rng.permutation(n)
        label, score, qid = label[shuffled], score[shuffled], qid[shuffled]
    return label, score, qid


@pytest.mark.parametrize("first", range(0, 2000, 500))
def test_ordinary_data_raise_no_warning(first):
    """Warnings are errors; a finding about labels raises no second warning."""
    metrics = ["ndcg@10", "map", "mrr", "p@5", "q", "err(max_grade=31)", "bpref"]
    for seed in range(first, first + 500):
        label, score, qid = ordinary(seed)
        if len(qid) == len(np.unique(qid)) >= 20 or label.min() >= 1:
            continue
        assert seen(evaluate, label, score, qid=qid, metrics=metrics) == ([], ""), seed


def test_folds_of_ordinary_data_raise_no_warning():
    """A fold of few queries with a single label is ordinary."""
    rng = np.random.default_rng(0)
    for _ in range(60):
        label = rng.random(3) < 0.3
        assert seen(evaluate, label, rng.random(3), qid=[0] * 3, metrics="map") == ([], "")
    X, y, qid = features()
    y = y > 2
    report = RankingEvaluator(["map", "ndcg"], cv=10)
    assert seen(report.cross_validate, Ridge(), X, y, qid=qid) == ([], "")
    assert seen(report.compare, {"a": Ridge(), "b": DummyRegressor()}, X, y, qid=qid) == ([], "")


def test_legitimate_data_raise_no_warning():
    rng = np.random.default_rng(0)
    label, qid = rng.integers(0, 3, 90), np.repeat(np.arange(30), 3)
    assert seen(evaluate, label, label, qid=qid) == ([], "")
    assert seen(evaluate, label, np.tile([3, 2, 1], 30), qid=qid) == ([], "")
    assert seen(evaluate, label, rng.integers(0, 3, 90), qid=qid) == ([], "")
    two = (pd.Series(rng.random(90)).groupby(qid).rank() for _ in range(2))
    assert seen(evaluate, label, -sum(two) / 2, qid=qid) == ([], "")
    alone = np.append(qid, np.arange(30, 130))
    assert seen(evaluate, np.append(label, np.ones(100)), np.zeros(190), qid=alone) == ([], "")
    assert seen(evaluate, label, pd.Series(label - 3, name="rank"), qid=qid) == ([], "")
    assert seen(evaluate, label, 1 / pd.Series(1 + rng.random(90), name="rank"), qid=qid) == ([], "")
    assert seen(evaluate, rng.random(90), rng.random(90), qid=qid, metrics=["ndcg", "kendall"]) == ([], "")
    assert seen(evaluate, label, label + rng.random(90), qid=np.arange(90), metrics="rmse") == ([], "")


def test_metrics_of_users():
    """User-defined metrics are recognized by their values, not by name; plain functions are not checked."""
    from sklearn_rank import metric

    rows = OF_ROWS["no order matters"]

    @metric("first_grade")
    def first_grade_score(r):
        return r.cumsum(r.label, weight=r.rank == 1)

    @metric("first_relevant")
    def first_relevant_score(r):
        return r.cumsum(r.relevant, weight=r.rank == 1)

    def plain(y_true, y_score):
        return float(y_true[np.argmax(y_score)] >= 1)

    given = {"qid": rows.qid}
    assert seen(evaluate, rows.label, rows.score, **given, metrics=["first_grade", plain]) == ([], "")
    assert seen(evaluate, rows.label, rows.score, **given, metrics="first_relevant") == (["no order matters"], "")


# --- soft labels, evidence in parts, scores of -inf -----------------------------------------------------------


def test_soft_labels_of_few_queries():
    given = [0.9, 0.9, 0.1, 0.5, 0.2, 0], [3, 2, 1, 3, 2, 1]
    qid, name = [1] * 3 + [2] * 3, "threshold outside of the scale"
    assert seen(evaluate, *given, qid=qid) == ([name], "")
    assert seen(evaluate, *given, qid=qid, metrics="ndcg") == ([], "")
    assert seen(evaluate, *given, qid=qid, metrics="map", min_relevance=0.5) == ([], "")
    assert seen(compare_systems, given[0], {"a": given[1], "b": given[1][::-1]}, qid=qid) == ([name], "")
    many = np.random.default_rng(0).choice([0.1, 0.4, 0.7], 300)
    many[0] = 1.0
    assert seen(evaluate, many, np.arange(300) % 7, qid=np.arange(300) // 5) == ([name], "")


class Infinite(Given):
    """A model that predicts -inf for the documents it ranks last."""

    def predict(self, X):
        scores = super().predict(X)
        return np.where(scores < np.median(scores), -np.inf, scores)


class Low(Given):
    """The same model with a low finite number."""

    def predict(self, X):
        scores = super().predict(X)
        return np.where(scores < np.median(scores), scores.min() - 1, scores)


def test_a_predicted_minus_infinity_is_a_low_score():
    rows = Rows()
    named = pd.Series(rows.label, index=pd.Index(rows.qid, name="qid"))
    metrics = ["ndcg", "map", "recall@10", "auc"]
    infinite, low = Infinite().fit(None, None), Low().fit(None, None)
    for scorer in (make_ranking_scorer(metrics), *map(get_scorer, metrics)):
        assert scorer(infinite, rows.X, named) == scorer(low, rows.X, named)
    evaluator, data = RankingEvaluator(metrics, cv=3), (rows.X, rows.label)
    found = evaluator.compare({"infinite": Infinite(), "low": Low()}, *data, qid=rows.qid)
    assert found.results["infinite"].mean() == found.results["low"].mean()
    for name in metrics:
        assert found.fold_means["infinite"][name].tolist() == found.fold_means["low"][name].tolist()
    both = [query_permutation_importance(m, *data, qid=rows.qid, random_state=0) for m in (infinite, low)]
    assert both[0].importances.tolist() == both[1].importances.tolist()
    as_given = evaluate(rows.label, infinite.predict(rows.X), qid=rows.qid, metrics=metrics).mean()
    assert as_given["recall@10"] < get_scorer("recall@10")(infinite, rows.X, named)
    with pytest.raises(ValueError, match="every y_score must be finite. Got -inf"):
        make_ranking_scorer(["rmse", "ndcg"])(infinite, rows.X, named)


def test_every_cell_of_the_table_is_tested():
    """Except checks that cannot apply to lists from a database."""
    tried = {(door.name, name) for door, _ in CALLS for name in OF_ROWS} | {(d.name, n) for n, d, _ in OTHERS}
    tried |= {(door.name, name) for door in (doors.SPARK, doors.COMMAND) for name in [*OF_ROWS, NOTHING]}
    of_models = {check.name for check in ALL_CHECKS if check.kind in ("models", "frozen", "fitted", "judged", "copies")}
    of_models |= {check.name for check in (*CHECKS_OF_IDS, *CHECKS_OF_RATINGS)} | {"ids as labels and scores"}
    of_retrieval = {doors.RETRIEVAL.name, doors.RETRIEVAL_SCORER.name, doors.NEIGHBORS.name}
    of_retrieval |= {doors.RECOMMENDER_SCORER.name}
    lacking = {
        (door.name, check.name) for door in ALL_DOORS for check in ALL_CHECKS
        if door.outcome(check) and check.name not in of_models and door.name not in of_retrieval
    } - tried  # fmt: skip
    # Files contain only text.
    assert lacking == {(doors.COMMAND.name, TWO_TYPES)}


def test_names_are_distinct_and_documented():
    assert len({check.name for check in ALL_CHECKS}) == len({check.says for check in ALL_CHECKS}) == len(ALL_CHECKS)
    assert len({door.name for door in ALL_DOORS}) == len(ALL_DOORS)
    page = (Path(__file__).parents[2] / "docs" / "reference" / "misuse.md").read_text()
    assert all(check.says in page for check in ALL_CHECKS)


if find_spec("pyspark") is None:
    del test_checks_of_spark


def test_ranks_that_contradict_scores_are_told_once():
    """The best by rank is the worst by score: one reason for values below chance, and one warning."""
    lines = [(f"q{i}", f"d{j}", float(j), j) for i in range(30) for j in range(5)]
    run = pd.DataFrame(lines, columns=["query_id", "doc_id", "score", "rank"])
    judged = {f"q{i}": {f"d{j}": int(j < 2) for j in range(5)} for i in range(30)}
    assert seen(lambda: evaluate_run(judged, read_run(run), metrics="mrr")) == ([CONTRADICTED], "")


def test_batches_have_the_evidence_of_all_rows():
    """Scores below chance: as many standard errors, in the same words; more than 64 queries are a sample."""
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 2, 600), np.repeat(np.arange(60), 10)
    score = rng.random(600) - 0.3 * y
    pieces, texts = RankingAccumulator("mrr"), []
    for rows in np.split(np.arange(600), 60):
        pieces.update(y[rows], score[rows], qid=qid[rows])
    for call in (pieces.compute, lambda: evaluate(y, score, qid=qid, metrics="mrr")):
        with pytest.warns(RankingWarning, match="standard errors below chance") as warned:
            call()
        texts.append([str(one.message).partition(" standard errors")[0] for one in warned])
    assert texts[0] == texts[1]
