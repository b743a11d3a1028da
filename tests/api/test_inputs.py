"""Calls change no bit of their input, and later changes of the input change no result."""

import pickle
from copy import deepcopy
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import scipy.sparse as sp
from properties import forms
from registry import each_metric, policies, rough_data_for, tie_policy
from sklearn.linear_model import LinearRegression

import sklearn_rank as skr
from sklearn_rank import stats
from sklearn_rank.boosting import lightgbm_metric
from sklearn_rank.compat.pytrec_eval import RelevanceEvaluator
from sklearn_rank.inspection import query_permutation_importance
from sklearn_rank.io import join, read_qrels, read_run, write_run
from sklearn_rank.model_selection import query_train_test_split
from sklearn_rank.recommenders import exposure, intra_list_diversity
from sklearn_rank.results import Comparison, Evaluation
from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors, threshold_curve

METRICS = ["ndcg@3", "map", "auc", "mse", "rbp"]


def seen(x):
    """All data that an object holds, as bytes."""
    if isinstance(x, np.ma.MaskedArray):
        return seen(x.data), seen(np.ma.getmaskarray(x))
    if isinstance(x, np.ndarray):
        held = [*map(seen, x.ravel().tolist())] if x.dtype.kind in "OT" else x.tobytes()
        return x.dtype.str, x.shape, x.strides, x.flags.writeable, held
    if sp.issparse(x):
        return type(x), x.shape, [seen(vars(x).get(name)) for name in ("data", "indices", "indptr", "coords", "rows")]
    if isinstance(x, dict):
        return [(key, seen(value)) for key, value in x.items()]
    if isinstance(x, (list, tuple)):
        return type(x), [*map(seen, x)]
    if isinstance(x, (set, frozenset)):
        return type(x), sorted(map(repr, x))
    if isinstance(x, pd.DataFrame):
        return [*map(seen, (x.index, x.columns, x.attrs))], [seen(x.iloc[:, i]) for i in range(x.shape[1])]
    if isinstance(x, pd.Series):
        return type(x), x.name, x.dtype, seen(x.index), [*map(repr, x.tolist())]
    if isinstance(x, pd.Index):
        return type(x), x.names, x.dtype, [*map(repr, x.tolist())]
    return pickle.dumps(x)


def check(call, *given):
    """Call a function, and check that its inputs are unchanged."""
    before = seen(given)
    found = call(*given)
    assert seen(given) == before
    return found


pytestmark = pytest.mark.filterwarnings("ignore:'-1' in qid is no id")  # one of the accepted texts

# --- rows ----------------------------------------------------------------------------------------------------

QUERY = np.array([3, 3, 3, 0, 0, 0, 0, 2, 2, 1, 1, 1] * 2)
LABEL = np.array([1.0, 0, 2, 0, 1, 3, 0, 0, 1, 1, 0, 2] * 2)
SCORE = np.array([0.5, 0.5, -1, 2, 1, 1, 0, 3, 3, 0, 1, 2] * 2)
WEIGHT, HALF = np.array([1.0, 2, 0.5, 4])[QUERY], QUERY % 2


def accumulated(r):
    accumulator = skr.RankingAccumulator(METRICS)
    return accumulator.update(r.y, r.s, qid=r.q, sample_weight=r.w).compute()


OF_ROWS = {
    "evaluate": lambda r: skr.evaluate(
        r.y, r.s, qid=r.q, sample_weight=r.w, by={"half": r.b}, clusters=r.b, metrics=METRICS, chance=True, n_jobs=2
    ),
    "ties by a key": lambda r: skr.evaluate(r.y, r.s, qid=r.q, tie_break=r.w, metrics="map", ties="stable"),
    "a mask": lambda r: skr.evaluate(r.y, r.s, qid=r.q, mask=r.m, sample_weight=r.w, by=r.b, metrics=METRICS),
    "a metric": lambda r: skr.ndcg_score(r.y, r.s, qid=r.q, sample_weight=r.w, k=[1, 3], average=None),
    "prepare": lambda r: skr.prepare(r.y, qid=r.q, sample_weight=r.w, metrics=METRICS).evaluate(r.s),
    "prepare, mean": lambda r: skr.prepare(r.y, qid=r.q, metrics=METRICS)(r.s),
    "an accumulator": accumulated,
    "batches": lambda r: skr.evaluate_table([(r.y, r.s, r.q, r.w)] * 2, metrics=METRICS),
    "batches on disk": lambda r: skr.evaluate_table([(r.y, r.s, r.q)] * 2, metrics=METRICS, memory_limit=1),
    "systems": lambda r: skr.compare_systems(
        r.y, {"a": r.s, "b": r.w}, qid=r.q, sample_weight=r.w, by={"half": r.b}, metrics=METRICS
    ),
    "a threshold": lambda r: threshold_curve(r.y, r.s, qid=r.q),
}
"""Functions of rows of labels `y`, scores `s`, ids of queries `q`, weights `w`, attributes `b` and a mask `m`."""

SORTED = np.argsort(QUERY, kind="stable")
ORDERS = {"drawn": np.arange(len(QUERY)), "by query": SORTED}


def rows_in(number, ids, order=slice(None)):
    """Rows in a container of numbers and one of ids."""
    y, s, w = (forms.NUMBERS[number](x[order].tolist()) for x in (LABEL, SCORE, WEIGHT))
    q, b = (forms.IDS[ids](x[order].tolist()) for x in (QUERY, HALF))
    return {"y": y, "s": s, "q": q, "w": w, "b": b, "m": np.arange(len(QUERY)) != 5}


def of_rows(door):
    return lambda rows: OF_ROWS[door](SimpleNamespace(**rows))


HOLD_ALL = [name for name, make in forms.NUMBERS.items() if all(
    make(x.tolist()) is not None for x in (LABEL, SCORE, WEIGHT)
)]  # fmt: skip
CASES = [(number, "i8 ids") for number in HOLD_ALL] + [("f8", ids) for ids in forms.IDS]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("door", OF_ROWS)
def test_rows_are_unchanged(door, order):
    for number, ids in CASES:
        if forms.IDS[ids](QUERY.tolist()) is not None:
            check(of_rows(door), rows_in(number, ids, ORDERS[order]))


@each_metric
def test_rows_are_unchanged_by_each_metric(metric):
    data = rough_data_for(metric)
    for rows in (data, data.rows(np.argsort(data.qid, kind="stable"))):
        for dtype in (np.float64, np.float32):
            y, s = rows.y_true.astype(dtype), rows.y_score.astype(dtype)
            for ties in {*policies(metric)} - {*([] if not tie_policy(metric) else ["average"])} or {None}:
                keywords = {} if ties is None else {"ties": ties}
                check(lambda y, s, q, keywords=keywords: metric(y, s, qid=q, average=None, **keywords), y, s, rows.qid)


# --- other input ---------------------------------------------------------------------------------------------

COLUMNS = {"label": LABEL, "score": SCORE, "other": WEIGHT, "qid": QUERY, "half": HALF}
FRAMES = {
    "a dict": dict,
    "pandas": lambda columns: pd.DataFrame(columns, index=pd.RangeIndex(len(QUERY))[::-1]),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
}
OF_FRAMES = {
    "evaluate_table": lambda f: skr.evaluate_table(f, sample_weight="other", by="half", clusters="half"),
    "compare_systems": lambda f: skr.compare_systems(f, ["score", "other"], metrics=METRICS, by="half"),
    "evaluate_table in pieces": lambda f: skr.evaluate_table([f, f], sample_weight="other"),
}

JUDGMENTS = {"q1": {"c": 1, "a": 2, "b": 0}, "q2": {"d": 1, "a": -1}, "q3": {"a": 0, "z": 1}}
RUN = {"q2": {"a": 0.5, "d": 0.5}, "q1": {"b": 0.9, "c": 0.8, "e": 0.7}, "q3": {"z": 2, "a": 1}}
WORST_FIRST = {q: dict(sorted(of.items(), key=lambda pair: pair[1])) for q, of in RUN.items()}
RUNS = {
    "dicts": lambda: (JUDGMENTS, RUN),
    "worst first": lambda: (JUDGMENTS, WORST_FIRST),
    "lists": lambda: (JUDGMENTS, {q: [*of] for q, of in RUN.items()}),
    "pairs": lambda: (JUDGMENTS, {q: [*of.items()] for q, of in RUN.items()}),
    "sets": lambda: ({q: {*of} for q, of in JUDGMENTS.items()}, {q: [*of] for q, of in RUN.items()}),
    "numbers as ids": lambda: (by_number(JUDGMENTS), by_number(RUN)),
    "tables": lambda: (table(JUDGMENTS, "label"), table(RUN, "score")),
    "entries": lambda: (read_qrels(table(JUDGMENTS, "label")), read_run(table(RUN, "score"))),
}
BY_QUERY = {"q1": "x", "q3": "y", "q2": "x"}
OF_RUNS = {
    "evaluate_run": lambda j, r: skr.evaluate_run(j, r, metrics=METRICS[:3]),
    "compare_systems": lambda j, r: skr.compare_systems(
        j, {"a": r, "b": WORST_FIRST}, metrics="map", on_misuse="ignore"
    ),
    "join": lambda j, r: join(j, r, tie_order="trec_eval"),
}


def by_number(of):
    return {int(q[1:]): {ord(d): value for d, value in documents.items()} for q, documents in of.items()}


def table(of, value):
    rows = [(q, d, v) for q, documents in of.items() for d, v in documents.items()]
    return pd.DataFrame(rows, columns=["qid", "doc_id", value], index=range(len(rows), 0, -1))


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("door", OF_FRAMES)
def test_tables_are_unchanged(door, frame):
    check(OF_FRAMES[door], FRAMES[frame](COLUMNS))


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")
@pytest.mark.parametrize("runs", RUNS)
@pytest.mark.parametrize("door", OF_RUNS)
def test_runs_are_unchanged(door, runs):
    if not (door == "compare_systems" and runs == "numbers as ids"):
        check(OF_RUNS[door], *RUNS[runs]())


# A matrix with duplicate, unordered and zero entries.
ROW, COLUMN, ENTRY = [0, 2, 0, 1, 0, 2, 1, 3], [3, 1, 0, 2, 0, 1, 0, 3], [2.0, 1, 1, 0, 1, 2, 3, 1]
SHAPE = 4, 5


def of_entries(entries, columns=COLUMN, make=sp.csr_array):
    """Matrix with its parts as given, not canonicalized."""
    order = np.argsort(ROW, kind="stable")
    indptr = np.append(0, np.cumsum(np.bincount(ROW, minlength=SHAPE[0])))
    matrix = sp.csr_array((np.array(entries)[order], np.array(columns)[order], indptr), shape=SHAPE)
    return matrix if make is sp.csr_array else make(matrix)


SPARSE = [sp.csr_array, sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_array]
OF_MATRICES = {
    "sparse": lambda y, s, e: skr.evaluate(y, s, metrics=METRICS[:3]),
    "dense scores": lambda y, s, e: skr.evaluate(y, DENSE, metrics=METRICS[:3]),
    "exclude": lambda y, s, e: skr.evaluate(y, s, metrics=METRICS[:3], exclude=e),
    "exclude, dense scores": lambda y, s, e: skr.evaluate(y, DENSE, metrics=METRICS[:3], exclude=e),
    "systems": lambda y, s, e: skr.compare_systems(y, {"a": s, "b": s * 2}, metrics="map", exclude=e),
    "features": lambda y, s, e: evaluate_retrieval(s, y, [0, 1, 0, 1], [1, 0, 0, 1]),
    "relevance": lambda y, s, e: score_neighbors(None, FOUND[:, :3], relevance=y),
}
DENSE = np.linspace(0, 1, 20).reshape(SHAPE)
FOUND = np.argsort(np.sin(np.arange(20)).reshape(SHAPE), axis=1)


@pytest.mark.parametrize("make", SPARSE, ids=lambda make: make.__name__)
@pytest.mark.parametrize("door", OF_MATRICES)
def test_matrices_are_unchanged(door, make):
    for dtype in (np.float64, np.float32, np.int64):
        y, s = (of_entries(np.array(e).astype(dtype), make=make) for e in (ENTRY, ENTRY[::-1]))
        e = of_entries([0.0, 1, 1, 0, 0, 1, 1, 0], [1, 2, 4, 1, 4, 2, 3, 0], make=make)
        check(lambda *given: (OF_MATRICES[door](*given), DENSE, FOUND)[0], y, s, e)


# Features, models, runs and values of queries: each with a call that takes them.
X = np.column_stack([np.sin(np.arange(24)), SCORE, np.sqrt(LABEL)])
EMBEDDED = np.array([[0.0, 1], [1, 1], [1, 0], [2, 1], [1, 3], [3, 1]])
NAMED = {"d1": 0.5, "d2": 0.25, "d3": 0.5}
LISTS = {"u": {"a": 1.0, "b": 0.5}, "v": {"b": 2.0, "c": 1.0}}


def training(preds, y):
    """LightGBM's call of a metric, with the arrays of the caller."""
    dataset = SimpleNamespace(get_label=lambda: y, get_group=lambda: np.array([12, 12]), get_weight=lambda: None)
    return lightgbm_metric(["ndcg@3", "map"])(preds, dataset)


OTHERS = {
    "a ranker": (lambda X, y, q, w: skr.QueryRanker(LinearRegression()).fit(X, y, qid=q, sample_weight=w).predict(X),
                 X, LABEL, QUERY, WEIGHT),
    "an evaluator": (lambda X, y, q, w: skr.RankingEvaluator("ndcg", cv=2).compare(
        {"a": LinearRegression(), "b": LinearRegression(fit_intercept=False)}, X, y, qid=q, sample_weight=w, by=q),
        X, LABEL, QUERY, WEIGHT),
    "scorers": (lambda X, y, q: skr.make_ranking_scorer(METRICS)(LinearRegression().fit(X, y), X, y, qid=q),
        X, LABEL, QUERY),
    "importance": (lambda X, y, q, w: query_permutation_importance(
        LinearRegression().fit(X, y), X, y, qid=q, sample_weight=w, n_repeats=2, random_state=0),
        X, LABEL, QUERY, WEIGHT),
    "importance of columns": (lambda X, y, q: query_permutation_importance(
        LinearRegression().fit(X, y), X, y, qid=q, n_repeats=2, random_state=0),
        pd.DataFrame(X, columns=[*"abc"]), LABEL, QUERY),
    "a split in two": (lambda X, y, q: query_train_test_split(X, y, qid=q, random_state=0), X, LABEL, QUERY),
    "folds": (lambda X, q: [*skr.QueryKFold(2, shuffle=True, random_state=0).split(X, groups=q)], X, QUERY),
    "sizes": (lambda q, n: (skr.group_sizes(q), skr.qid_from_group_sizes(n)), QUERY[SORTED], np.array([2, 3])),
    "a matrix": (lambda y, s, w, m, t, b, c: skr.evaluate(
        y, s, sample_weight=w, mask=m, tie_break=t, by=b, clusters=c,
        metrics="map", ties="stable"),
        LABEL.reshape(4, 6), SCORE.reshape(4, 6), np.arange(1.0, 5), np.arange(24).reshape(4, 6) % 6 < 5,
        np.arange(24).reshape(4, 6) % 5, np.array([*"xxyz"]), np.array([1, 1, 2, 3])),
    "subtopics": (lambda y, s, q: skr.evaluate(y, s, qid=q, metrics=["alpha_ndcg", "err_ia"]),
                  np.column_stack([LABEL, LABEL[::-1]]) % 2, SCORE, QUERY),
    "retrieval": (lambda a, b, x, y, w: evaluate_retrieval(a, b, x, y, sample_weight=w, metrics="map"),
                  EMBEDDED[:4], EMBEDDED, np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1, 1, 0]), np.arange(1.0, 5)),
    "small sparse features": (lambda a, x: evaluate_retrieval(a, query_labels=x, exclude_self=True),
                              sp.csr_array(EMBEDDED * 1e-9), np.array([*"ababba"])),
    "small distances": (lambda a, x: evaluate_retrieval(a, query_labels=x, distance="euclidean", exclude_self=True),
                        sp.csr_array(EMBEDDED * 1e-90), np.array([*"ababba"])),
    "euclidean": (lambda a, x: evaluate_retrieval(a, query_labels=x, distance="euclidean", exclude_self=True),
                  EMBEDDED, np.array([*"ababba"])),
    "codes": (lambda a, x: evaluate_retrieval(a, query_labels=x, distance="hamming", exclude_self=True),
              EMBEDDED > 0.5, np.array([0, 1, 0, 1, 1, 0])),
    "indicators": (lambda a, x: evaluate_retrieval(a, query_labels=x, exclude_self=True),
                   EMBEDDED, np.array([[0, 1], [1, 1], [1, 0], [1, 1], [1, 0], [0, 1]])),
    "neighbors": (lambda d, i, t, e: (
        score_neighbors(d, i, true_indices=t), score_neighbors(d, i, true_distances=e, tolerance=0.1)),
        np.sort(DENSE), FOUND, FOUND[:, ::-1].copy(), np.sort(DENSE) + 0.1),
    "neighbors, by similarity": (lambda d, i, x, y: score_neighbors(-d, i, x, y, higher_is_nearer=True),
                                 DENSE, FOUND, np.array([0, 1, 0, 1]), np.array([0, 1, 0, 1, 0])),
    "lists": (lambda i, t: score_neighbors(None, i, true_indices=t), FOUND, FOUND[:, ::-1].copy()),
    "exposure": (lambda run, items, train, of, j: exposure(
        run, items=items, k=2, train=train, groups=of, judgments=j, n_resamples=5, random_state=0),
        LISTS, ["c", "a", "b"], {"u": ["a"], "v": ["c", "a"]}, {"a": "x", "b": "x", "c": "y"}, {"u": {"a": 1}}),
    "diversity": (lambda run, items, v: intra_list_diversity(run, items=items, k=2, vectors=v),
                  LISTS, ["c", "a", "b"], EMBEDDED[:3]),
    "attributes of runs": (lambda j, r, w, by, c, e: skr.evaluate_run(
        j, r, sample_weight=w, by=by, clusters=c, exclude=e, metrics="map", missing_from_run="drop"),
        JUDGMENTS, RUN, dict.fromkeys(JUDGMENTS, 2.0), {"half": BY_QUERY}, BY_QUERY, {"q1": {"b"}, "q2": ["z"]}),
    "chunks": (lambda j, r, of: skr.evaluate_run(j, r, document_of=of, metrics="map"),
               JUDGMENTS, RUN, {d: d if d != "e" else "c" for d in "abcdez"}),
    "pytrec_eval": (lambda j, r: RelevanceEvaluator(j, {"map", "ndcg_cut"}).evaluate(r), JUDGMENTS,
                    {q: {d: float(s) for d, s in of.items()} for q, of in RUN.items()}),
    "a run as text": (lambda s, q, d: write_run("/dev/null", s, qid=q, doc_id=d),
                      SCORE, QUERY, np.arange(24).astype(str)),
    "values": (lambda q, v, w, n, c: Evaluation.from_values(
        q, v, weight=w, n_documents=n, clusters=c), np.array([*"abcdef"]), {"map": WEIGHT[:6] / 5},
        np.arange(1.0, 7), np.arange(1, 7), np.arange(6) // 2),
    "a test": (lambda a, b, c: stats.compare(a, b, clusters=c), WEIGHT[:12], LABEL[:12], QUERY[:12]),
    "a test by signed ranks": (lambda a, b: stats.compare(a, b, test="wilcoxon"), WEIGHT[:12], LABEL[:12]),
    "a test by resampling": (lambda a, b: stats.compare(a, b, test="bootstrap", random_state=0, n_resamples=99),
                             WEIGHT[:12], LABEL[:12]),
    "an interval": (lambda v, w, c: stats.confidence_interval(v, weight=w, clusters=c, method="bca",
                    n_resamples=99, random_state=0), LABEL, WEIGHT, QUERY),
    "folds of two": (lambda a, b: stats.compare_folds(a, b, n_train=80, n_test=20), LABEL[:5], WEIGHT[:5]),
    "p-values": (stats.adjust_pvalues, np.array([0.4, 0.01, 0.03])),
    "judges": (stats.judge_agreement, LABEL, np.roll(LABEL, 1)),
    "LightGBM": (training, SCORE, LABEL),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")
@pytest.mark.parametrize("door", OTHERS)
def test_other_input_is_unchanged(door):
    call, *given = OTHERS[door]
    check(call, *given)
    frozen = [x.copy() if isinstance(x, np.ndarray) else x for x in given]
    for x in frozen:
        if isinstance(x, np.ndarray):
            x.flags.writeable = False
    check(call, *frozen)


# --- results -------------------------------------------------------------------------------------------------


def shown(found):
    """Values that a result holds without reading the rows again."""
    if isinstance(found, tuple):
        return [*map(shown, found)]
    if isinstance(found, Comparison):
        return repr(found.summary()), {name: shown(result) for name, result in found.results.items()}
    if not isinstance(found, Evaluation):
        return seen(vars(found)) if hasattr(found, "__dict__") else seen(found)
    segments = {name: seen([*map(str, values)]) for name, values in found.attributes.items()}
    clusters = None if found.clusters is None else found.clusters.tolist()
    weight = None if found.weight is None else found.weight.tolist()
    return (
        found.qid.tolist(), weight, clusters, segments, found.mean(), found.n_undefined,
        {name: values.tolist() for name, values in found.per_query.items()}, found.confidence_interval(),
    )  # fmt: skip


def overwrite(x):
    """Overwrite all entries with the first, or clear the container, if it is mutable."""
    if isinstance(x, np.ndarray) and x.flags.writeable:
        x[...] = x.ravel()[0]
    elif isinstance(x, pd.Series):
        x.iloc[:] = x.iloc[0]
    elif isinstance(x, list):
        x[:] = x[:1] * len(x)
    elif isinstance(x, dict):
        for value in x.values():
            overwrite(value)
        x.clear()
    elif sp.issparse(x):
        overwrite(x.data)


NUMBERS_OF_A_CALLER = "f8", "f4", "i8", "list", "objects", "one column", "Series"
IDS_OF_A_CALLER = "i8 ids", "u1 ids", "kind 2", "object array", "U", "StringDType", "f8", "datetime64", "Series of ids"


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("door", OF_ROWS)
def test_results_are_unchanged(door, order):
    numbers = [(number, "i8 ids") for number in NUMBERS_OF_A_CALLER if number in HOLD_ALL]
    for number, ids in [*numbers, *(("f8", ids) for ids in IDS_OF_A_CALLER)]:
        kept, given = (rows_in(number, ids, ORDERS[order]) for _ in range(2))
        expected, found = shown(of_rows(door)(kept)), of_rows(door)(given)
        overwrite(given)
        assert repr(shown(found)) == repr(expected), (number, ids)


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")
@pytest.mark.parametrize("dtype", ["i8", "i4", "u2", "f8", "U9"])
def test_ids_of_single_row_queries_are_unchanged(dtype):
    """The ids are sorted, so that rows need no grouping."""
    given = np.arange(20_000) + 10_000
    given, weight = (np.array([*map(str, given)]) if dtype == "U9" else given.astype(dtype)), np.ones(len(given))
    result = skr.evaluate(np.ones(len(given)), weight, qid=given, sample_weight=weight, metrics="map")
    expected = given.tolist()
    overwrite(given)
    assert result.qid.tolist() == expected


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")
@pytest.mark.parametrize("door", OTHERS)
def test_results_of_other_input_are_unchanged(door):
    call, *kept = OTHERS[door]
    given = deepcopy(kept)
    expected, found = shown(call(*kept)), call(*given)
    for x in given:
        overwrite(x)
    assert repr(shown(found)) == repr(expected)
