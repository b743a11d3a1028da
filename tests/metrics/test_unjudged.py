"""One meaning of `unjudged` at every public function: "nonrelevant" is the default of runs, "drop" is trec_eval's -J.

Expected values are from the oracle on lists without the unjudged documents, and from pytrec_eval and ir_measures.
"""

import json

import numpy as np
import pandas as pd
import pytest
from oracle import ORACLES
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_rank import (
    RankingAccumulator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    get_scorer,
    parse_metric,
    prepare,
)
from sklearn_rank._cli import main
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.compat import pytrec_eval as compat
from sklearn_rank.io import join

OWN_WAY = ["bpref", "infap(ties=stable)", "judged@3", "rbp_residual@3"]
FILLED = ["map", "ndcg(gain=linear)", "p@5"]
NAMES = [*OWN_WAY, *FILLED]


def draw(n_queries):
    """Judgments with grades and -1, and a run that lacks some judged documents and has others."""
    rng, judgments, run = np.random.default_rng(20), {}, {}
    for query in map(str, range(n_queries)):
        size = rng.integers(3, 25)
        grade, score = rng.choice([-1, 0, 1, 2], size, p=[0.25, 0.35, 0.25, 0.15]), rng.permutation(size)
        judged, retrieved = rng.random(size) < 0.6, rng.random(size) < 0.85
        judged[0] = retrieved[-1] = True
        judgments[query] = {f"d{query}-{i}": int(grade[i]) for i in np.flatnonzero(judged)}
        run[query] = {f"d{query}-{i}": float(score[i]) for i in np.flatnonzero(retrieved)}
    return judgments, run


JUDGMENTS, RUN = draw(40)
ROWS = join(JUDGMENTS, RUN)
QID = np.asarray(ROWS.qid)


def by_oracle(name, unjudged):
    """Values by query: a label is NaN if it is not judged, -inf if it was only in the pool."""
    spec, values = parse_metric(name), []
    own = {word: spec[word] for word in ("gain",) if word in spec.metric.formula_params}
    for query, documents in RUN.items():
        judged = JUDGMENTS[query]
        ranked = [judged.get(d, np.nan) for d in sorted(documents, key=documents.get, reverse=True)]
        missing = [grade for d, grade in judged.items() if d not in documents and grade >= 0]
        if unjudged == "drop":
            ranked = [grade for grade in ranked if grade >= 0]
        elif name not in OWN_WAY:
            ranked = [grade if grade >= 0 else 0 for grade in ranked]
        else:
            pooled = -np.inf if spec.metric.name == "infap" else np.nan
            ranked = [pooled if grade < 0 else grade for grade in ranked]
        values.append(ORACLES[spec.metric.name](ranked, missing, spec.k, **own) or 0.0)
    return values


ROWS_OF_TABLE = {"label": ROWS.y_true, "score": ROWS.y_score, "qid": QID}


def of_functions(name, **keywords):
    spec = parse_metric(name)
    given = {**spec.keywords, **keywords, "average": None} | ({} if spec.k is None else {"k": spec.k})
    return spec.metric.function(ROWS.y_true, ROWS.y_score, qid=QID, **given)


def of_accumulator(name, **keywords):
    accumulator = RankingAccumulator(name, **keywords)
    for queries in ([*RUN][:15], [*RUN][15:]):
        rows = np.isin(QID, queries)
        accumulator.update(ROWS.y_true[rows], ROWS.y_score[rows], qid=QID[rows])
    return accumulator.compute()


DOORS = {
    "function": of_functions,
    "evaluate": lambda name, **keywords: evaluate(ROWS.y_true, ROWS.y_score, qid=QID, metrics=name, **keywords),
    "evaluate_table": lambda name, **keywords: evaluate_table(pd.DataFrame(ROWS_OF_TABLE), metrics=name, **keywords),
    "batches": lambda name, **keywords: evaluate_table([ROWS_OF_TABLE], metrics=name, **keywords),
    "evaluate_run": lambda name, **keywords: evaluate_run(JUDGMENTS, RUN, metrics=name, **keywords),
    "accumulator": of_accumulator,
    "prepare": lambda name, **keywords: prepare(ROWS.y_true, qid=QID, metrics=name, **keywords).evaluate(ROWS.y_score),
    "compare_systems": lambda name, **keywords: compare_systems(
        ROWS.y_true,
        {"a": ROWS.y_score, "b": np.where(ROWS.y_score > -np.inf, -ROWS.y_score, -np.inf)},
        qid=QID,
        metrics=name,
        **keywords,
    )["a"],
    "compare_systems of runs": lambda name, **keywords: compare_systems(
        JUDGMENTS, {"a": RUN, "b": RUN | {"0": {"d0-0": 1.0}}}, metrics=name, **keywords
    )["a"],
}


def values_of(door, name, **keywords):
    found = DOORS[door](name, **keywords)
    if isinstance(found, np.ndarray):
        return dict(zip(dict.fromkeys(QID.tolist()), found.tolist(), strict=True))
    (values,) = found.per_query.values()
    return dict(zip(found.qid.tolist(), values.tolist(), strict=True))


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("unjudged", ["nonrelevant", "drop"])
def test_each_function_reads_unjudged_documents_in_the_same_way(door, unjudged):
    for name in NAMES:
        expected = pytest.approx(dict(zip(RUN, by_oracle(name, unjudged), strict=True)), abs=1e-9)
        assert values_of(door, name, unjudged=unjudged) == expected, name
        words = name.replace("(", f"(unjudged={unjudged}, ") if "(" in name else None
        words = words or f"{name.partition('@')[0]}(unjudged={unjudged}){''.join(name.partition('@')[1:])}"
        if door != "function":
            assert values_of(door, words) == expected, words


@pytest.mark.parametrize("door", DOORS)
def test_a_default_written_out_changes_nothing(door):
    for name in NAMES if "run" in door else OWN_WAY:
        assert values_of(door, name) == values_of(door, name, unjudged="nonrelevant")


def test_metrics_with_the_default_written_out_are_comparable():
    for name in OWN_WAY:
        default = parse_metric(name)
        assert parse_metric(name, unjudged="nonrelevant").meaning == default.meaning
        assert parse_metric(name, unjudged="drop").meaning != default.meaning
        assert parse_metric(name, convention="trec_eval")["unjudged"] is None
    low = evaluate_run(JUDGMENTS, RUN, metrics="judged", min_relevance=0)
    assert low.mean() == evaluate_run(JUDGMENTS, RUN, metrics="judged").mean()


def test_scorers_read_unjudged_documents_in_the_same_way():
    class Model(RegressorMixin, BaseEstimator):
        def predict(self, X):
            return X[:, 0]

    retrieved = ROWS.y_score > -np.inf
    y = pd.Series(ROWS.y_true[retrieved], index=pd.Index(QID[retrieved], name="qid"))
    X = ROWS.y_score[retrieved][:, None]
    sizes = y.notna().groupby(level="qid").sum()
    for name, k, expected in (("judged", "@3", (sizes > 0).mean()), ("rbp_residual", "", -(0.8**sizes).mean())):
        found, filled, default = (
            get_scorer(f"{name}{words}{k}")(Model(), X, y)
            for words in ("(unjudged=drop)", "(unjudged=nonrelevant)", "")
        )
        assert found == pytest.approx(expected)
        assert filled == default != found


def test_negative_labels_of_infap_are_dropped_whatever_negative_says():
    for negative in ("keep", "unjudged"):
        keywords = {"qid": [0] * 4, "negative": negative, "unjudged": "drop"}
        found = REGISTRY["infap"].function([1, 0, -1, 1], [4, 3, 2, 1], **keywords)
        assert found == pytest.approx((1 + 2 / 3) / 2, abs=1e-5)
    kept = REGISTRY["bpref"].function([-1, 1], [2, 1], qid=[0, 0], negative="keep", unjudged="drop")
    assert kept == 0  # -1 is a label of a judged document


TREC = {"infAP": "infap", "bpref": "bpref", "map": "map", "ndcg": "ndcg", "P_5": "p@5"}


@pytest.mark.parametrize("judged_only", [False, True])
def test_documents_that_pytrec_eval_leaves_out(judged_only):
    peer = pytest.importorskip("pytrec_eval")
    judgments, run = draw(400)
    arguments = judgments, {"infAP", "bpref", "map", "ndcg", "P"}
    theirs, ours = (
        module.RelevanceEvaluator(*arguments, judged_docs_only_flag=judged_only).evaluate(run)
        for module in (peer, compat)
    )
    unjudged = "drop" if judged_only else "nonrelevant"
    found = evaluate_run(judgments, run, metrics=[*TREC.values()], convention="trec_eval", unjudged=unjudged)
    for measure, name in TREC.items():
        expected = [theirs[query][measure] for query in found.qid]
        np.testing.assert_allclose(found.per_query[name], expected, rtol=0, atol=1e-12, err_msg=name)
        np.testing.assert_allclose([ours[q][measure] for q in found.qid], expected, rtol=0, atol=1e-12, err_msg=name)


@pytest.mark.parametrize("judged_only", [False, True])
def test_documents_that_ir_measures_leaves_out(judged_only):
    ir = pytest.importorskip("ir_measures")
    pytest.importorskip("pytrec_eval")
    measures = [measure(judged_only=judged_only) for measure in (ir.AP, ir.nDCG, ir.P @ 5)]
    values = {measure: {} for measure in measures}
    for one in ir.iter_calc(measures, JUDGMENTS, RUN):
        values[one.measure][one.query_id] = one.value
    found = evaluate_run(JUDGMENTS, RUN, metrics={str(measure): measure for measure in measures})
    for measure in measures:
        expected = [values[measure][query] for query in found.qid]
        np.testing.assert_allclose(found.per_query[str(measure)], expected, rtol=0, atol=1e-12)


def test_the_command_line_reads_unjudged_documents_in_the_same_way(tmp_path, capsys):
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    qrels.write_text("".join(f"{q} 0 {d} {y}\n" for q, of in JUDGMENTS.items() for d, y in of.items()))
    run.write_text("".join(f"{q} Q0 {d} 1 {s} me\n" for q, of in RUN.items() for d, s in of.items()))

    def means(*words):
        asked = [word for name in NAMES for word in ("-m", name)]
        assert main(["evaluate", str(qrels), str(run), *asked, "--format", "json", *words]) == 0
        return json.loads(capsys.readouterr().out)[str(run)]

    default = {name: pytest.approx(np.mean(by_oracle(name, "nonrelevant")), abs=1e-9) for name in NAMES}
    assert means() == means("--unjudged", "nonrelevant") == default
    dropped = {name: pytest.approx(np.mean(by_oracle(name, "drop")), abs=1e-9) for name in NAMES}
    assert means("-J") == means("--unjudged", "drop") == dropped
