"""pytrec_eval, ranx and ir_measures, run on random queries.

The queries have ties, unjudged documents and unretrieved relevant ones; some have no relevant document, others no
retrieved document. Each peer breaks ties in its own order, which is passed as tie_break=. Scores are exact in single
precision, the type that pytrec_eval reads. Compiled peers run twice in their own processes: see native_peers.py.
"""

import shutil
from math import sqrt

import numpy as np
import pytest
from known_cases import COUNT_HITS
from native_peers import (
    GDEVAL,
    IR_MEASURES,
    KINDS,
    QUESTIONS,
    SQUARES,
    TREC,
    answer,
    at,
    ir_measure,
    judgments,
)
from numpy.testing import assert_allclose
from registry import about, together

from sklearn_rank import evaluate

pytestmark = [
    pytest.mark.slow,
    pytest.mark.xdist_group("peers"),  # call ranx once for each kind of data
    pytest.mark.filterwarnings("ignore:.*no document is relevant"),  # at a level above all grades
]


def compare(name, data, values, mean, atol=0, **keywords):
    """Compare our metric with a peer's, by query and in the mean; the default breaks ties by descending document id."""
    keywords = {"convention": "trec_eval", "tie_break": data.doc} | keywords
    found = evaluate(data.label, data.score, qid=data.qid, metrics=name, **keywords)
    assert len(found.qid) == len(values) == 300
    assert_allclose(found.per_query[name], [values[q] for q in found.qid], rtol=1e-9, atol=atol or 1e-12)
    assert_allclose(found.mean()[name], mean, rtol=1e-9, atol=atol)


def test_random_queries_have_all_special_cases():
    for data in map(judgments, KINDS):
        found = evaluate(data.label, data.score, qid=data.qid, metrics="mrr", unjudged="nonrelevant")
        ranked = data.rows(data.score > -np.inf)
        tied = len(ranked.qid) - len(set(zip(ranked.qid, ranked.score, strict=True)))
        assert found.n_undefined["mrr"] > 20
        assert 300 - len(set(ranked.qid)) > 5
        assert (tied > 500) == (data is not judgments("distinct"))
        assert (np.isnan(data.label) & np.isfinite(data.score)).sum() > 500
        assert ((data.label > 0) & np.isinf(data.score)).sum() > 100


def test_an_inconsistent_peer_is_not_a_failure():
    """A warning has both of its numbers, for this measure only."""
    question = ("ir F",)
    one, other = ({question: {"SetF": {"q": value}, "P": {"q": np.nan}}} for value in (0.5, 0.25))
    with pytest.raises(pytest.xfail.Exception, match="disagrees with itself on SetF of query q: 0.5 and then 0.25"):
        answer(question, "SetF", both=(one, other))
    assert np.isnan(answer(question, "P", both=(one, other))["q"])
    assert len(QUESTIONS) > 15


# --- pytrec_eval ---------------------------------------------------------------------------------------------


PAIRWISE = [(kind, level, ("nonrelevant", "drop")[(i + level) % 2]) for i, kind in enumerate(KINDS) for level in (1, 2)]
"""Each two of kinds, levels and ways to read what is not judged."""


@pytest.mark.parametrize("name", TREC)
@together("kind, level, unjudged", PAIRWISE)
def test_pytrec_eval(name, kind, level, unjudged):
    """It scores queries without retrieved documents 0, or NaN in 11pt_avg."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    found = answer(("trec", kind, level, unjudged == "drop"), name)
    values = {q: np.nan_to_num(value) for q, value in found.items()}
    mean = pytrec_eval.compute_aggregated_measure(name, list(values.values()))
    keywords = {"min_relevance": level} | ({"unjudged": "drop"} if unjudged == "drop" else {})
    if name.startswith(("num_rel_ret", "relative_P")):
        keywords |= COUNT_HITS
    if name in ("iprec_at_recall_0.50", "11pt_avg"):
        keywords["rounding"] = "cut"
    if name == "num_rel_ret":  # a sum instead of a mean
        mean /= len(values)
    compare(TREC[name], judgments(kind), values, mean, **keywords)


@pytest.mark.parametrize("beta_squared", SQUARES)
def test_pytrec_eval_f_measure_takes_the_square_of_beta(beta_squared):
    values = answer(("trec F", beta_squared), "set_F")
    mean = np.mean(list(values.values()))
    compare("f", judgments("tied"), values, mean, beta=sqrt(beta_squared))


# --- ranx ----------------------------------------------------------------------------------------------------

RANX = {
    **{"hits": "dcg", "hit_rate": "hit", "precision": "precision", "recall": "recall", "f1": "f1", "mrr": "mrr"},
    **{"map": "map", "dcg": "dcg", "dcg_burges": "dcg", "ndcg": "ndcg"},
    **{"ndcg_burges": "ndcg", "rbp.50": "rbp(p=0.5)", "rbp.95": "rbp(p=0.95)", "r-precision": "rprec"},
    **at("hits@{k}", "dcg@{k}"),
    **at("hit_rate@{k}", "hit@{k}"),
    **at("precision@{k}", "precision@{k}"),
    **at("recall@{k}", "recall@{k}"),
    **at("f1@{k}", "f1@{k}"),
    **at("mrr@{k}", "mrr@{k}"),
    **at("map@{k}", "map@{k}"),
    **at("dcg@{k}", "dcg@{k}"),
    **at("dcg_burges@{k}", "dcg@{k}"),
    **at("ndcg@{k}", "ndcg@{k}"),
    **at("ndcg_burges@{k}", "ndcg@{k}"),
}


@pytest.fixture(scope="module")
def ranx():
    return pytest.importorskip("ranx")


@pytest.fixture(scope="module", params=KINDS)
def ranx_values(ranx, request):
    """Judgments, ranx's order of tied documents, its values for each query and their plain means."""
    data = judgments(request.param)
    qrels, run = data.tables()
    qrels, run = ranx.Qrels(qrels), ranx.Run({q: scores for q, scores in run.items() if scores})
    run.make_comparable(qrels)
    place = {(q, doc): i for q, docs in run.run.items() for i, doc in enumerate(docs)}
    order = [-place.get(key, 0) for key in zip(data.qid.tolist(), data.doc.tolist(), strict=True)]
    names = [f"{name}-l{level}" for name, level in levels_of_ranx(request.param)]
    values = ranx.evaluate(qrels, run, names, return_mean=False, save_results_in_run=False)
    of_query = {name: dict(zip(qrels.keys(), of, strict=True)) for name, of in values.items()}
    return request.param, data, order, of_query, {name: np.mean(of) for name, of in values.items()}


def levels_of_ranx(kind):
    """Each name at one of two levels in turn, because ranx is slow: the next kind of rows has the other level."""
    return [(name, 1 + (i + KINDS.index(kind)) % 2) for i, name in enumerate(RANX)]


def test_ranx(ranx_values):
    for name, level in levels_of_ranx(ranx_values[0]):
        with about((name, level)):
            ranx_agrees(*ranx_values[1:], name, level)


def ranx_agrees(data, order, of_query, means, name, level):
    """ranx counts a label below the level as 0, in DCG as well, and uses the label as the gain of RBP."""
    values, mean = of_query[f"{name}-l{level}"], means[f"{name}-l{level}"]
    keywords = {"convention": "ranx", "tie_break": order, "min_relevance": level}
    if name.startswith("hits"):
        keywords |= COUNT_HITS
    elif "burges" in name or ("dcg" in name and level > 1):
        gain = {grade: 2**grade - 1 if "burges" in name else grade for grade in range(level, 5)}
        keywords["gain"] = dict.fromkeys(range(level), 0) | gain
    elif "rbp" in name:
        keywords |= {"gain": {grade: grade * (grade >= level) for grade in range(5)}, "max_grade": 4}
        values, mean = {q: value / 4 for q, value in values.items()}, mean / 4
    compare(RANX[name], data, values, mean, **keywords)


# --- ir_measures ---------------------------------------------------------------------------------------------


@together("kind", KINDS)
@pytest.mark.parametrize(("name", "params", "ours", "keywords"), IR_MEASURES)
def test_ir_measures(name, params, ours, keywords, kind):
    """It breaks ties by descending document id, except for RR@k by ascending id."""
    pytest.importorskip("ir_measures")
    values, mean = values_and_mean(kind, ir_measure(name, params))
    data = judgments(kind)
    if name == "IPrec":  # it returns NaN for a query without retrieved documents
        values = {query: np.nan_to_num(value) for query, value in values.items()}
        mean = np.mean([*values.values()])
    if name == "RR" and "cutoff" in params:
        keywords = keywords | {"tie_break": -np.unique(data.doc, return_inverse=True)[1]}
    compare(ours, data, values, mean, **{"convention": "ir_measures"} | keywords)


@pytest.mark.skipif(not shutil.which("perl"), reason="ir_measures has these of a Perl program")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "params", "ours", "keywords"), GDEVAL)
def test_ir_measures_with_five_digits(name, params, ours, keywords, kind):
    pytest.importorskip("ir_measures")
    values, mean = values_and_mean(kind, ir_measure(name, params))
    compare(ours, judgments(kind), values, mean, atol=5.1e-6, **keywords)


def values_and_mean(kind, measure):
    values = dict(answer(("ir", kind), str(measure)))
    return values, values.pop(None)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 3, 10, 50])
def test_ir_measures_judged_documents(kind, k):
    """Judged@k breaks ties by ascending document id and has no value for queries without retrieved documents."""
    ir_measures = pytest.importorskip("ir_measures")
    data = judgments(kind)
    data = data.rows(np.isin(data.qid, data.qid[data.score > -np.inf]))
    values = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.Judged @ k], *data.tables())}
    up = -np.unique(data.doc, return_inverse=True)[1]
    rows = {"y_true": data.label, "y_score": data.score, "qid": data.qid, "metrics": f"judged@{k}"}
    found = evaluate(**rows, convention="ir_measures", tie_break=up)
    assert len(values) == len(found.qid) > 270
    assert_allclose(found.per_query[f"judged@{k}"], [values[q] for q in found.qid], rtol=1e-12)
    down = evaluate(**rows, convention="ir_measures", tie_break=data.doc).per_query[f"judged@{k}"]
    assert (kind == "distinct" or k > 30) == (down == found.per_query[f"judged@{k}"]).all()


def test_ir_measures_accuracy():
    """The share of retrieved pairs in the right order: our AUC on these rows; it crashes with a single class."""
    ir_measures = pytest.importorskip("ir_measures")
    data = judgments("distinct")
    data = data.rows(data.score > -np.inf)
    policies = {"unjudged": "nonrelevant", "replace_undefined_by": np.nan}
    found = evaluate(data.label, data.score, qid=data.qid, metrics="auc", **policies)
    of_query = {q: auc for q, auc in zip(found.qid, found.per_query["auc"], strict=True) if not np.isnan(auc)}
    tables = data.rows(np.isin(data.qid, list(of_query))).tables()
    (mean,), values = map(list, (found.mean().values(), ir_measures.iter_calc([ir_measures.Accuracy], *tables)))
    assert len(values) == len(of_query) > 150
    assert_allclose([of_query[q] for q, _, _ in values], [value for _, _, value in values], rtol=1e-9, atol=1e-12)
    assert_allclose(mean, np.mean([value for _, _, value in values]), rtol=1e-9)
