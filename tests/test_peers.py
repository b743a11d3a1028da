"""pytrec_eval, ranx and ir_measures, live, on random queries; and what they get wrong, with the numbers.

The queries have ties, documents not judged, judged ones not retrieved, and among them are some without a relevant
document and some without a retrieved one. Each peer breaks ties in an order of its own, which is passed as tie_break=.
Scores are exact in single precision, which is what pytrec_eval reads.
"""

import shutil
from functools import cache
from math import log2, sqrt
from typing import NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose
from shared_cases import COUNT_HITS

from sklearn_rank import evaluate
from sklearn_rank._metric import REGISTRY
from sklearn_rank.metrics import (
    mrr_score,
    ndcg_score,
    query_auc_score,
    rbp_score,
)


class Judgements(NamedTuple):
    """Rows of several queries. NaN: not judged; -inf: not retrieved; one that is both is unknown to the peers."""

    label: np.ndarray
    score: np.ndarray
    qid: np.ndarray
    doc: np.ndarray

    def rows(self, chosen):
        return Judgements(*(column[chosen] for column in self))

    def tables(self):
        """Labels of the judged documents and scores of the retrieved ones, query by query."""
        qrels, run = ({q: {} for q in self.qid.tolist()} for _ in range(2))
        for label, score, q, doc in zip(*(column.tolist() for column in self), strict=True):
            if not np.isnan(label):
                qrels[q][doc] = int(label)
            if score > -np.inf:
                run[q][doc] = score
        return qrels, run


@cache
def judgements(kind, n=300):
    """Random queries: "tied" and "distinct" scores of documents of five grades, "binary" ones with ties."""
    rng = np.random.default_rng(len(kind))
    size = rng.integers(1, 31, size=n)
    first = np.cumsum(size) - size
    label = rng.integers(0, 2 if kind == "binary" else 5, size=size.sum()) * (rng.random(size.sum()) < 0.5)
    label = label * np.repeat(rng.random(n) < 0.9, size)
    judged, retrieved = rng.random((2, size.sum())) < [[0.75], [0.8]]
    judged[first] = True  # else some peers would not know of the query
    retrieved &= np.repeat(rng.random(n) < 0.95, size)
    score = rng.permutation(size.sum()) if kind == "distinct" else rng.integers(-4, 5, size=size.sum())
    return Judgements(
        np.where(judged, label, np.nan),
        np.where(retrieved, score / 4, -np.inf),
        np.repeat(rng.permutation(n), size).astype(str),
        np.concatenate([rng.permutation(s) for s in size]).astype(str),
    )


KINDS = ["tied", "distinct", "binary"]


def compare(name, data, values, mean, atol=0, **keywords):
    """Our metric, query by query and in the mean, against a peer's; ties by document id, descending, if not told."""
    keywords = {"convention": "trec_eval", "tie_break": data.doc} | keywords
    found = evaluate(data.label, data.score, qid=data.qid, metrics=name, **keywords)
    assert len(found.qid) == len(values) == 300
    assert_allclose(found.per_query[name], [values[q] for q in found.qid], rtol=1e-9, atol=atol or 1e-12)
    assert_allclose(found.mean()[name], mean, rtol=1e-9, atol=atol)


def at(theirs, ours):
    """A pair of names at some cutoffs, the last of them beyond every list."""
    return {theirs.format(k=k): ours.format(k=k) for k in (1, 3, 10, 50)}


def test_random_queries_have_what_the_comparison_is_about():
    for data in map(judgements, KINDS):
        found = evaluate(data.label, data.score, qid=data.qid, metrics="mrr", unjudged="nonrelevant")
        ranked = data.rows(data.score > -np.inf)
        tied = len(ranked.qid) - len(set(zip(ranked.qid, ranked.score, strict=True)))
        assert found.n_undefined["mrr"] > 20
        assert 300 - len(set(ranked.qid)) > 5
        assert (tied > 500) == (data is not judgements("distinct"))
        assert (np.isnan(data.label) & np.isfinite(data.score)).sum() > 500
        assert ((data.label > 0) & np.isinf(data.score)).sum() > 100


# --- pytrec_eval ---------------------------------------------------------------------------------------------

TREC = {
    **{"map": "map", "recip_rank": "mrr", "ndcg": "ndcg", "set_P": "precision", "set_recall": "recall"},
    **{"num_rel_ret": "dcg", "Rprec": "rprec", "bpref": "bpref", "infAP": "infap"},
    **{"iprec_at_recall_0.50": "iprec(recall=0.5)", "11pt_avg": "11pt"},
    **at("map_cut_{k}", "map@{k}"),
    **at("P_{k}", "precision@{k}"),
    **at("recall_{k}", "recall@{k}"),
    **at("success_{k}", "hit@{k}"),
    **at("ndcg_cut_{k}", "ndcg@{k}"),
    **at("relative_P_{k}", "ndcg@{k}"),  # hits over the most that k ranks can hold
}


@cache
def trec_values(kind, level, judged_only):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    qrels, run = judgements(kind).tables()
    flags = {"relevance_level": level, "judged_docs_only_flag": judged_only}
    return pytrec_eval.RelevanceEvaluator(qrels, set(TREC), **flags).evaluate(run)


@pytest.mark.parametrize("unjudged", ["nonrelevant", "drop"])
@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", TREC)
def test_pytrec_eval(name, kind, level, unjudged):
    """A query without retrieved documents counts 0 there, or NaN in 11pt_avg."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    values = {q: np.nan_to_num(of[name]) for q, of in trec_values(kind, level, unjudged == "drop").items()}
    mean = pytrec_eval.compute_aggregated_measure(name, list(values.values()))
    keywords = {"min_relevance": level} | ({"unjudged": "drop"} if unjudged == "drop" else {})
    if name.startswith(("num_rel_ret", "relative_P")):
        keywords |= COUNT_HITS
    if name in ("iprec_at_recall_0.50", "11pt_avg"):
        keywords["rounding"] = "cut"
    if name == "num_rel_ret":  # a sum in place of a mean
        mean /= len(values)
    compare(TREC[name], judgements(kind), values, mean, **keywords)


@pytest.mark.parametrize("beta_squared", [0.25, 1.0, 4.0])
def test_pytrec_eval_f_measure_takes_the_square_of_beta(beta_squared):
    pytrec_eval = pytest.importorskip("pytrec_eval")
    data = judgements("tied")
    qrels, run = data.tables()
    of_query = pytrec_eval.RelevanceEvaluator(qrels, {f"set_F_{beta_squared}"}).evaluate(run)
    values = {q: of["set_F"] for q, of in of_query.items()}
    mean = np.mean(list(values.values()))
    compare("f", data, values, mean, beta=sqrt(beta_squared))


def test_pytrec_eval_reads_scores_in_single_precision():
    """1 + 1e-9 is tied with 1 there, and document "b" goes first; here it is higher."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator({"q": {"a": 1, "b": 0}}, {"recip_rank"})
    assert theirs.evaluate({"q": {"a": 1 + 1e-9, "b": 1.0}}) == {"q": {"recip_rank": 0.5}}
    assert mrr_score([1, 0], [1 + 1e-9, 1.0], qid=["q", "q"]) == 1
    assert mrr_score([1, 0], np.float32([1 + 1e-9, 1.0]), qid=["q", "q"]) == (1 + 1 / 2) / 2


def test_pytrec_eval_takes_no_fractional_labels():
    pytrec_eval = pytest.importorskip("pytrec_eval")
    with pytest.raises(TypeError, match="relevance to be integer"):
        pytrec_eval.RelevanceEvaluator({"q": {"a": 0.5, "b": 1.5}}, {"ndcg"})
    expected = (0.5 + 1.5 / log2(3)) / (1.5 + 0.5 / log2(3))
    assert_allclose(ndcg_score([0.5, 1.5], [2, 1], qid=["q", "q"], gain="linear"), expected)


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
    """Without its compiler, which takes half a minute and then gives the same values."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("NUMBA_DISABLE_JIT", "1")
        yield pytest.importorskip("ranx")


@pytest.fixture(scope="module", params=KINDS)
def ranx_values(ranx, request):
    """Judgements, the order that ranx made of their ties, its values of each query and their means."""
    data = judgements(request.param)
    qrels, run = data.tables()
    qrels, run = ranx.Qrels(qrels), ranx.Run({q: scores for q, scores in run.items() if scores})
    run.make_comparable(qrels)
    place = {(q, doc): i for q, docs in run.run.items() for i, doc in enumerate(docs)}
    order = [-place.get(key, 0) for key in zip(data.qid.tolist(), data.doc.tolist(), strict=True)]
    names = [f"{name}-l{level}" for name in RANX for level in (1, 2)]
    values = ranx.evaluate(qrels, run, names, return_mean=False, save_results_in_run=False)
    of_query = {name: dict(zip(qrels.keys(), of, strict=True)) for name, of in values.items()}
    return data, order, of_query, ranx.evaluate(qrels, run, names, save_results_in_run=False)


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("name", RANX)
def test_ranx(ranx_values, name, level):
    """It counts a label below the level as 0, also in DCG, and takes the label itself as the gain of RBP."""
    data, order, of_query, means = ranx_values
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


def test_ranx_bpref_is_nan_without_a_judged_nonrelevant_document(ranx):
    """Two relevant documents, one of them retrieved: trec_eval's value is 1/2."""
    qrels, run = {"q": {"a": 1, "b": 1}}, {"q": {"a": 1.0, "c": 2.0}}
    with np.errstate(all="ignore"):
        assert np.isnan(ranx.evaluate(ranx.Qrels(qrels), ranx.Run(run), "bpref"))
    found = REGISTRY["bpref"]([1, 1, np.nan], [1, -np.inf, 2], qid=["q"] * 3)
    assert found == 1 / 2


def test_ranx_rbp_of_grades_is_above_one(ranx):
    """Of a first document of grade 3: 3 (1 - 1/2), where the highest value of RBP is 1."""
    assert ranx.evaluate(ranx.Qrels({"q": {"a": 3}}), ranx.Run({"q": {"a": 1.0}}), "rbp.50") == 1.5
    assert rbp_score([3], [1], qid=["q"], p=0.5) == 1 - 1 / 2
    assert rbp_score([3], [1], qid=["q"], p=0.5, gain="linear", max_grade=4) == 3 / 4 * (1 - 1 / 2)
    with pytest.raises(ValueError, match="max_grade"):
        rbp_score([3], [1], qid=["q"], p=0.5, gain="linear", max_grade=2)


def test_ranx_cuts_fractional_labels_to_whole_numbers(ranx):
    """Labels 1/2 and 3/2 are read as 0 and 1."""
    qrels, run = ranx.Qrels({"q": {"a": 0.5, "b": 1.5}}), ranx.Run({"q": {"a": 2.0, "b": 1.0}})
    assert_allclose(ranx.evaluate(qrels, run, "ndcg"), 1 / log2(3))
    expected = (0.5 + 1.5 / log2(3)) / (1.5 + 0.5 / log2(3))
    assert_allclose(ndcg_score([0.5, 1.5], [2, 1], qid=["q", "q"], gain="linear"), expected)


# --- ir_measures ---------------------------------------------------------------------------------------------

GAINS = {0: 0, 1: 1, 2: 3, 3: 9, 4: 10}
EXPONENTIAL = {"dcg": "exp-log2"}

IR_MEASURES = [
    ("AP", {}, "map", {}),
    ("RR", {}, "mrr", {}),
    ("RR", {"rel": 2}, "mrr", {"min_relevance": 2}),
    ("nDCG", {}, "ndcg", {}),
    ("nDCG", {"gains": GAINS, "cutoff": 5}, "ndcg@5", {"gain": GAINS}),
    ("nDCG", {"judged_only": True, "cutoff": 5}, "ndcg@5", {"unjudged": "drop"}),
    ("AP", {"judged_only": True, "rel": 3}, "map", {"min_relevance": 3, "unjudged": "drop"}),
    ("SetP", {"rel": 2}, "precision", {"min_relevance": 2}),
    ("SetR", {"rel": 2}, "recall", {"min_relevance": 2}),
    ("SetF", {"beta": 1.0}, "f1", {}),
    ("Rprec", {}, "rprec", {}),
    ("Bpref", {}, "bpref", {}),
    ("infAP", {}, "infap", {}),
    ("IPrec", {"recall": 0.3}, "iprec(recall=0.3)", {}),
    *(
        (name, {"cutoff": k} | params, f"{ours}@{k}", keywords)
        for k in (1, 3, 10, 50)
        for name, params, ours, keywords in [
            ("AP", {}, "map", {}),
            ("P", {"rel": 2}, "precision", {"min_relevance": 2}),
            ("R", {"rel": 2}, "recall", {"min_relevance": 2}),
            ("RR", {"rel": 2}, "mrr", {"min_relevance": 2}),
            ("Success", {}, "hit", {}),
            ("nDCG", {}, "ndcg", {}),
        ]
    ),
]
"""Its measure, ours, and our keywords."""

GDEVAL = [("ERR", {"cutoff": k}, f"err@{k}", {}) for k in (1, 3, 20)]
GDEVAL += [("nDCG", {"cutoff": k, "dcg": "exp-log2"}, f"ndcg@{k}", {"gain": "exp2"}) for k in (1, 3, 20)]
"""Those of a Perl program of TREC, which prints five digits."""


@cache
def ir_values(kind):
    """Mean and values of each query, by measure."""
    ir_measures = pytest.importorskip("ir_measures")
    asked = [ir_measure(name, params) for name, params, *_ in IR_MEASURES + GDEVAL * bool(shutil.which("perl"))]
    means, of_query = ir_measures.calc(asked, *judgements(kind).tables())
    values = {measure: {} for measure in asked}
    for found in of_query:
        values[found.measure][found.query_id] = found.value
    return {measure: (means[measure], values[measure]) for measure in asked}


def ir_measure(name, params):
    return getattr(pytest.importorskip("ir_measures"), name)(**params)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "params", "ours", "keywords"), IR_MEASURES)
def test_ir_measures(name, params, ours, keywords, kind):
    """Ties are broken by document id, descending, but those of RR@k ascending."""
    mean, values = ir_values(kind)[ir_measure(name, params)]
    data = judgements(kind)
    if name == "IPrec":  # NaN there for a query without retrieved documents
        values = {query: np.nan_to_num(value) for query, value in values.items()}
        mean = np.mean([*values.values()])
    if name == "RR" and "cutoff" in params:
        keywords = keywords | {"tie_break": -np.unique(data.doc, return_inverse=True)[1]}
    compare(ours, data, values, mean, **{"convention": "ir_measures"} | keywords)


@pytest.mark.skipif(not shutil.which("perl"), reason="ir_measures has these of a Perl program")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "params", "ours", "keywords"), GDEVAL)
def test_ir_measures_of_five_digits(name, params, ours, keywords, kind):
    mean, values = ir_values(kind)[ir_measure(name, params)]
    compare(ours, judgements(kind), values, mean, atol=5.1e-6, **keywords)


def calc(measure, labels, scores):
    """Value of a measure for one query: its documents are a, b, c, ..."""
    ir_measures = pytest.importorskip("ir_measures")
    qrels, run = ({"q": dict(zip("abcdef", values, strict=False))} for values in (labels, scores))
    return ir_measures.calc_aggregate([measure], qrels, run)[measure]


@pytest.mark.parametrize(("relevant", "rr", "rr_at_10"), [("a", 1 / 3, 1), ("b", 1 / 2, 1 / 2), ("c", 1, 1 / 3)])
def test_ir_measures_breaks_ties_of_rr_both_ways(relevant, rr, rr_at_10):
    """Three tied documents, one relevant: the expectation is 11/18, with a cutoff and without."""
    ir_measures = pytest.importorskip("ir_measures")
    labels, scores = [int(doc == relevant) for doc in "abc"], [1.0, 1.0, 1.0]
    assert_allclose(calc(ir_measures.RR, labels, scores), rr)
    assert_allclose(calc(ir_measures.RR @ 10, labels, scores), rr_at_10)
    assert_allclose(mrr_score(labels, scores, qid=["q"] * 3, k=10), (1 + 1 / 2 + 1 / 3) / 3)
    assert_allclose(mrr_score(labels, scores, qid=["q"] * 3), (1 + 1 / 2 + 1 / 3) / 3)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 3, 10, 50])
def test_ir_measures_judged_documents(kind, k):
    """Ties of Judged@k are broken by document id, ascending; a query without a retrieved one has no value there."""
    ir_measures = pytest.importorskip("ir_measures")
    data = judgements(kind)
    data = data.rows(np.isin(data.qid, data.qid[data.score > -np.inf]))
    values = {m.query_id: m.value for m in ir_measures.iter_calc([ir_measures.Judged @ k], *data.tables())}
    up = -np.unique(data.doc, return_inverse=True)[1]
    rows = {"y_true": data.label, "y_score": data.score, "qid": data.qid, "metrics": f"judged@{k}"}
    found = evaluate(**rows, convention="ir_measures", tie_break=up)
    assert len(values) == len(found.qid) > 270
    assert_allclose(found.per_query[f"judged@{k}"], [values[q] for q in found.qid], rtol=1e-12)
    down = evaluate(**rows, convention="ir_measures", tie_break=data.doc).per_query[f"judged@{k}"]
    assert (kind == "distinct" or k > 30) == (down == found.per_query[f"judged@{k}"]).all()


def test_ir_measures_beta_is_the_square_of_beta():
    """P = 1/3 and R = 1/2: F2 is 5 P R / (4 P + R) = 5/11, and SetF(beta=2) is 3 P R / (2 P + R) = 3/7."""
    ir_measures = pytest.importorskip("ir_measures")
    labels, scores = [1, 0, 0, 1], [3.0, 2.0, 1.0]
    assert_allclose(calc(ir_measures.SetF(beta=2.0), labels, scores), 3 / 7)
    f = [evaluate(labels, [*scores, -np.inf], qid=["q"] * 4, metrics="f", beta=beta) for beta in (2, sqrt(2))]
    assert_allclose([of.mean()["f"] for of in f], [5 / 11, 3 / 7])


def test_ir_measures_accuracy():
    """Pairs in the right order, of retrieved documents: our AUC on these rows, but for its crash with one class."""
    ir_measures = pytest.importorskip("ir_measures")
    data = judgements("distinct")
    data = data.rows(data.score > -np.inf)
    policies = {"unjudged": "nonrelevant", "replace_undefined_by": np.nan}
    found = evaluate(data.label, data.score, qid=data.qid, metrics="auc", **policies)
    of_query = {q: auc for q, auc in zip(found.qid, found.per_query["auc"], strict=True) if not np.isnan(auc)}
    tables = data.rows(np.isin(data.qid, list(of_query))).tables()
    (mean,), values = map(list, (found.mean().values(), ir_measures.iter_calc([ir_measures.Accuracy], *tables)))
    assert len(values) == len(of_query) > 150
    assert_allclose([of_query[q] for q, _, _ in values], [value for _, _, value in values], rtol=1e-9, atol=1e-12)
    assert_allclose(mean, np.mean([value for _, _, value in values]), rtol=1e-9)


def test_ir_measures_accuracy_divides_by_zero():
    """Of a query whose retrieved documents are all relevant. Undefined, here."""
    ir_measures = pytest.importorskip("ir_measures")
    with pytest.raises(ZeroDivisionError):
        calc(ir_measures.Accuracy, [1, 1], [2.0, 1.0])
    assert query_auc_score([1, 1], [2, 1], qid=["q", "q"], replace_undefined_by=-1) == -1
