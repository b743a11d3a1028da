"""The gate decides alike whichever function made the results: queries that no ranking changes are known in batches."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator

from sklearn_rank import (
    InteractionRecommender,
    RankingAccumulator,
    RankingEvaluator,
    evaluate,
    evaluate_run,
    evaluate_table,
    make_recommender_scorer,
)
from sklearn_rank._cli import main
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import no_worse

pa = pytest.importorskip("pyarrow")

N, N_OPEN, DEPTH = 400, 101, 6
RNG = np.random.default_rng(5)
QID = np.repeat(np.arange(N), DEPTH)
LABEL = np.where((QID < N_OPEN) & (RNG.random(N * DEPTH) < 0.3), 2, 0)
LABEL[: N_OPEN * DEPTH : DEPTH] = 2
SCORES = {name: share * (LABEL > 0) + RNG.normal(0, 0.6, N * DEPTH) for name, share in (("old", 0.5), ("new", 0.35))}
METRICS = [
    "acg@3", "cg@3", "dcg@3", "err@3", "pfound@3", "p@3", "pwa@3", "rbp@3", "set_f", "set_precision", "set_recall",
    "snips@3",
]  # fmt: skip
"""Metrics with a value for queries without a relevant document: nothing in their values tells these queries apart."""
UNKNOWN = "Which queries no ranking changes is not known for"


def frame(name):
    return pd.DataFrame({"qid": QID, "label": LABEL.astype(float), "score": SCORES[name]})


def in_memory(name, metrics, folder):
    return evaluate(LABEL, SCORES[name], qid=QID, metrics=metrics)


def of_frame(name, metrics, folder):
    return evaluate_table(frame(name), metrics=metrics)


def of_run(name, metrics, folder):
    documents = [f"d{i % DEPTH}" for i in range(len(QID))]
    qrels, run = {}, {}
    for query, document, label, score in zip(QID.tolist(), documents, LABEL.tolist(), SCORES[name], strict=True):
        qrels.setdefault(str(query), {})[document] = label
        run.setdefault(str(query), {})[document] = float(score)
    return evaluate_run(qrels, run, metrics=metrics)


def of_parquet(name, metrics, folder):
    frame(name).to_parquet(folder / f"{name}.parquet", row_group_size=500)
    return evaluate_table(folder / f"{name}.parquet", metrics=metrics)


def of_csv(name, metrics, folder):
    frame(name).to_csv(folder / f"{name}.csv", index=False)
    return evaluate_table(folder / f"{name}.csv", metrics=metrics, assume_grouped=True)


def of_pieces(name, metrics, folder):
    rows = pa.Table.from_pandas(frame(name), preserve_index=False)
    return evaluate_table(iter(rows.to_batches(max_chunksize=333)), metrics=metrics)


def accumulated(name, metrics):
    """Two accumulators, the second with metrics in another order, sent by pickle and merged."""
    first, second = RankingAccumulator(metrics), RankingAccumulator(metrics[::-1])
    for start in range(0, len(QID), 50 * DEPTH):
        rows = slice(start, start + 50 * DEPTH)
        part = first if start < len(QID) // 2 else second
        part.update(LABEL[rows], SCORES[name][rows], qid=QID[rows])
    return pickle.loads(pickle.dumps(first)).merge(pickle.loads(pickle.dumps(second)))


def of_accumulator(name, metrics, folder):
    return pickle.loads(pickle.dumps(accumulated(name, metrics))).compute()


def loaded(name, metrics, folder):
    accumulated(name, metrics).compute().save(folder / f"{name}.npz")
    return Evaluation.load(folder / f"{name}.npz")


WAYS = [in_memory, of_frame, of_run, of_parquet, of_csv, of_pieces, of_accumulator, loaded]


def expected(metric, results):
    """Mean difference over the queries with a relevant document."""
    new, old = (results[name].per_query[metric][:N_OPEN] for name in ("new", "old"))
    return float(np.mean(new - old))


def check(results, metrics, **keywords):
    """Check that the gate leaves out the queries without a relevant document, and says so."""
    margin = dict.fromkeys(metrics, 0.05)
    gate = no_worse(**results, margin=margin, **keywords)
    text = " ".join(str(gate).split())
    values = {name: in_memory(name, metrics, None) for name in ("new", "old")}
    for row in gate.table.rows:
        assert row[1] == N_OPEN
        assert gate.difference[row[0]] == pytest.approx(expected(row[0], values), rel=1e-9, abs=1e-12)
    assert f"{N - N_OPEN} of {N} queries have no relevant document and are left out" in text
    assert UNKNOWN not in text
    return gate


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_settled_queries_are_left_out_of_every_metric(way, tmp_path):
    in_arrays = {name: in_memory(name, METRICS, tmp_path) for name in ("new", "old")}
    known = check(in_arrays, METRICS)
    for metrics in (METRICS, [*METRICS, "map"]):
        gate = check({name: way(name, metrics, tmp_path) for name in ("new", "old")}, metrics)
        for metric in METRICS:
            assert gate.decisions[metric] == known.decisions[metric]
            assert gate.low[metric] == pytest.approx(known.low[metric], rel=1e-9)


@pytest.mark.parametrize("metric", [*METRICS, "kendall", "opa", "spearman", "hit@2"])
def test_one_metric_in_batches(metric, tmp_path):
    for metrics in ([metric], [metric, "map"]):
        results = {name: of_accumulator(name, metrics, tmp_path) for name in ("new", "old")}
        gate, direct = (
            no_worse(**two, margin={metric: 0.05})
            for two in (results, {name: in_memory(name, metrics, tmp_path) for name in ("new", "old")})
        )
        assert (gate.decision, str(gate)) == (direct.decision, str(direct))


def test_decision_of_precision(tmp_path):
    """On all 400 queries p@3 would pass; the 101 with a relevant document do not decide."""
    for way in WAYS:
        results = {name: way(name, ["p@3"], tmp_path) for name in ("new", "old")}
        assert no_worse(**results, margin=0.05).decision == "undecided"
        kept = no_worse(**results, margin=0.05, replace_undefined_by=0)
        assert (kept.decision, kept.table.rows[0][1]) == ("no worse", N)


@pytest.mark.parametrize("form", ["csv", "parquet"])
def test_gate_of_a_table_on_the_command_line(form, tmp_path, capsys):
    rows = frame("new").assign(new=SCORES["new"], old=SCORES["old"])
    path = str(tmp_path / f"rows.{form}")
    rows.to_csv(path, index=False) if form == "csv" else rows.to_parquet(path)
    words = ["gate", "--table", path, "--y-score", "new", "--baseline", "old", "-m", "p@3", "--margin", "0.05"]
    assert main(words) == 4
    assert "299 of 400 queries have no relevant document and are left out" in " ".join(capsys.readouterr().out.split())


def test_gate_of_files_and_of_a_saved_baseline(tmp_path, capsys):
    lines = [f"{q} 0 d{i % DEPTH} {y}\n" for i, (q, y) in enumerate(zip(QID, LABEL, strict=True))]
    (tmp_path / "qrels").write_text("".join(lines))
    for name, scores in SCORES.items():
        rows = enumerate(zip(QID, scores, strict=True))
        (tmp_path / name).write_text("".join(f"{q} Q0 d{i % DEPTH} 1 {s} t\n" for i, (q, s) in rows))
    of_run("old", ["p@3"], tmp_path).save(tmp_path / "old.npz")
    for baseline in ("old", "old.npz"):
        words = ["gate", *(str(tmp_path / name) for name in ("qrels", "new")), "--baseline", str(tmp_path / baseline)]
        assert main([*words, "-m", "p@3", "--margin", "0.05"]) == 4
        text = " ".join(capsys.readouterr().out.split())
        assert "299 of 400 queries have no relevant document and are left out" in text


# --- where it is not known ------------------------------------------------------------------------------------


def given(name, metrics=("p@3",), **keywords):
    result = in_memory(name, list(metrics), None)
    return Evaluation.from_values(result.qid, result.per_query, meaning=result.meaning, **keywords)


def test_given_values_count_as_they_are():
    for keywords in ({}, {"replace_undefined_by": 1}):
        gate = no_worse(new=given("new"), old=given("old"), margin=0.05, **keywords)
        assert (gate.decision, gate.table.rows[0][1]) == ("no worse", N)
        text = " ".join(str(gate).split())
        assert f"{UNKNOWN} P@3: all queries count." in text
        assert "count as 1" not in text


def test_closing_line_names_what_counts_otherwise():
    metrics = ["map", "p@3"]
    results = {
        name: evaluate(LABEL, scores, qid=QID, metrics=metrics, replace_undefined_by=1)
        for name, scores in SCORES.items()
    }
    values = {
        name: Evaluation.from_values(one.qid, one.per_query, meaning=one.meaning) for name, one in results.items()
    }
    text = " ".join(str(no_worse(**values, margin=0.05)).split())
    assert text.endswith("queries without relevant documents score 1 in MAP")
    assert "lost most" in text


def test_one_side_that_knows_is_enough_on_the_same_labels():
    new = in_memory("new", ["p@3"], None)
    for known, lacking in (("new", "old"), ("old", "new")):
        result = in_memory(known, ["p@3"], None)
        same = {known: result, lacking: given(lacking, label_fingerprints=result.label_fingerprints)}
        gate = no_worse(**same, margin=0.05)
        assert (gate.decision, gate.table.rows[0][1]) == ("undecided", N_OPEN)
        assert UNKNOWN not in str(gate)
        # Without fingerprints the labels may be others.
        gate = no_worse(**{known: result, lacking: given(lacking)}, margin=0.05)
        assert gate.table.rows[0][1] == N
        assert UNKNOWN in " ".join(str(gate).split())
    # A value that another label would give is not settled.
    values = new.per_query["p@3"].copy()
    values[-1] = 1 / 3
    other = Evaluation.from_values(
        new.qid, {"p@3": values}, meaning=new.meaning, label_fingerprints=new.label_fingerprints
    )
    assert no_worse(new=new, old=other, margin=0.05).table.rows[0][1] == N_OPEN + 1


def without_settled(path):
    """A file as an earlier version wrote it."""
    with np.load(path) as file:
        arrays = dict(file)
    words = json.loads(str(arrays["meta"]))
    del words["settled"], arrays["settled"]
    np.savez(path, **arrays | {"meta": np.array(json.dumps(words))})
    return path


def test_saved_results_of_an_earlier_version(tmp_path):
    """They lack the field, which the other side gives if its labels have the same fingerprints."""
    saved = {}
    for name in ("new", "old"):
        path = tmp_path / name / "result.npz"
        path.parent.mkdir()
        of_accumulator(name, ["p@3"], tmp_path).save(path)
        saved[name] = Evaluation.load(without_settled(path))
    gate = no_worse(**saved, margin=0.05)
    assert (gate.decision, gate.table.rows[0][1]) == ("no worse", N)
    assert f"{UNKNOWN} P@3: all queries count." in " ".join(str(gate).split())
    now = no_worse(new=in_memory("new", ["p@3"], None), old=saved["old"], margin=0.05)
    assert (now.decision, now.table.rows[0][1]) == ("undecided", N_OPEN)


def test_errors_of_scores_are_never_settled():
    results = {name: evaluate(LABEL, scores, qid=QID, metrics="mse") for name, scores in SCORES.items()}
    assert UNKNOWN not in str(no_worse(**results, margin=0.05))


class Ordered(BaseEstimator):
    """Recommends all items in the order of their ids, or in the reverse order."""

    def __init__(self, step=1):
        self.step = step

    def fit(self, X, y=None):
        return self

    def recommend(self, users, k):
        return [np.arange(12)[:: self.step][:k]] * len(users)


@pytest.mark.parametrize("n_folds", [1, 2])
def test_users_of_recommenders_are_known(n_folds):
    """Each tested user has a relevant item, so a ranking changes each value, also of pooled folds."""
    rng = np.random.default_rng(0)
    pairs = np.array([(user, item) for user in range(40) for item in rng.permutation(12)[:4]])
    test = np.arange(len(pairs)) % 4
    folds = [(np.flatnonzero(test != i), np.flatnonzero(test == i)) for i in range(n_folds)]
    scorer = make_recommender_scorer(["p@3", "mrr"], items=range(12))
    models = {"new": InteractionRecommender(Ordered(-1)), "old": InteractionRecommender(Ordered())}
    results = RankingEvaluator(scorer, cv=folds).compare(models, pairs, np.ones(len(pairs))).results
    gate = no_worse(**results, margin=0.3)
    assert [row[1] for row in gate.table.rows] == [40, 40]
    assert UNKNOWN not in " ".join(str(gate).split())


def test_a_query_is_settled_if_it_is_for_both_systems():
    """One list lacks the other document of q0, so no order of it changes AUC; the other has it."""
    judged = {f"q{i}": {"a": 1, "b": 0} for i in range(30)} | {"q0": {"a": 1}}
    lists = {q: ["a", "b"] for q in judged}, {q: ["b", "a"] for q in judged} | {"q0": ["a"]}
    full, short = (evaluate_run(judged, run, metrics="auc") for run in lists)
    assert (full.settled["auc"].sum(), short.settled["auc"].sum()) == (0, 1)
    for new, old in ((full, short), (short, full)):
        assert no_worse(new=new, old=old, margin=0.1).table.rows[0][1] == 30
