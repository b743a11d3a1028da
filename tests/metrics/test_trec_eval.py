"""Values of trec_eval and pytrec_eval for two runs, stored in `tests/data/trec`.

Every measure of trec_eval is either compared, or excluded by a table with reasons, and the test counts the exclusions.
Rank-biased precision is compared with an oracle and with values printed by NIST.
"""

import re
from functools import cache

import numpy as np
import pytest
from known_cases import COUNT_HITS, READS_UNJUDGED, TREC_RUNS, Call, read
from numpy.testing import assert_allclose
from registry import together

from sklearn_rank import evaluate, evaluate_run, parse_metric
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.trec_measures import own_measure, utility
from sklearn_rank.compat import pytrec_eval

LINEAR = {"gain": "linear"}

TREC = {
    r"map": ("map", {}),
    r"map_cut_(?P<k>\d+)": ("map", {}),
    r"P_(?P<k>\d+)": ("precision", {}),
    r"set_P": ("precision", {}),
    r"recall_(?P<k>\d+)": ("recall", {}),
    r"set_recall": ("recall", {}),
    r"recip_rank": ("mrr", {}),
    r"success_(?P<k>\d+)": ("hit", {}),
    r"ndcg": ("ndcg", LINEAR),
    r"ndcg_cut_(?P<k>\d+)": ("ndcg", LINEAR),
    r"ndcg_1=1,2=3,3=7,4=15": ("ndcg", {"gain": {0: 0, 1: 1, 2: 3, 3: 7, 4: 15}}),
    r"dcg": ("dcg", LINEAR),
    r"num_rel_ret": ("dcg", COUNT_HITS),
    r"relative_P_(?P<k>\d+)": ("recall", {"denominator": "min_k_relevant"}),
    r"set_F_(?P<x>[\d.]+)": ("f", {}),  # x is beta squared
    r"Rprec": ("rprec", {}),
    r"bpref": ("bpref", {}),
    r"infAP": ("infap", {}),
    r"11pt_avg": ("iprec", {"recall": "11pt", "rounding": "nearest"}),
    r"iprec_at_recall_(?P<recall>[\d.]+)": ("iprec", {"rounding": "nearest"}),
}
"""trec_eval's measures in our words."""

TREC_LEFT_OUT = {
    r"num_ret|num_rel|num_nonrel_judged_ret": "counts of documents, not of hits",
    r"Rprec_mult_.*": "precision at a multiple of R",
    r"set_map|set_relative_P": "another name for a product, or a cutoff at each list's own length",
    r"binG|G|ndcg_rel|Rndcg": "variants of nDCG that only trec_eval has",
    r"gm_map|gm_bpref": "geometric means, which have no value query by query: compared below",
}
"""trec_eval's measures that have no function here; the command line prints all but the variants of nDCG."""


def trec_measures():
    names = ((run, name) for run in TREC_RUNS for name in read(f"trec/{run}.json")["trec_eval"])
    return [(run, name) for run, name in names if trec_call(name)]


def trec_call(text):
    """Our call for a measure of trec_eval; None if it is excluded."""
    for pattern, (name, keywords) in TREC.items():
        if found := re.fullmatch(pattern, text):
            given = {key: float(value) for key, value in found.groupdict().items()}
            if "x" in given:
                given = {"beta": float(np.sqrt(given["x"]))}
            return Call(name, keywords | (given if "k" not in given else {"k": int(given["k"])}))
    return None


@cache
def trec_rows(run):
    """Labels, scores and queries in trec_eval's order; NaN for unjudged, -inf for unretrieved."""
    data = read(f"trec/{run}.npz")
    label = np.where(data["rel"] < 0, np.nan, data["rel"])
    return label, np.where(data["retrieved"], data["score"], -np.inf), data["qid"]


def trec_policies(name):
    """Keywords of every call: ties in the order of the rows, as in trec_eval, and unjudged documents not relevant."""
    return {"ties": "stable"} | ({} if name in READS_UNJUDGED else {"unjudged": "nonrelevant"})


@together("run, name", trec_measures())
def test_values_of_trec_eval(run, name):
    call, stored = trec_call(name), read(f"trec/{run}.json")
    rows = trec_rows(run)
    found = call(*rows, average=None, **trec_policies(call.name))
    values = stored["trec_eval"][name]
    expected = np.array([values[q] for q in dict.fromkeys(rows[2])])
    assert_allclose(found, expected, rtol=0, atol=1e-12)
    if name != "num_rel_ret":
        assert_allclose(call(*rows, **trec_policies(call.name)), values["all"], rtol=0, atol=1e-12)


@together("run, name", trec_measures())
def test_metric_names_of_trec_eval(run, name):
    """Its names are ours with its convention, unless they are counts."""
    if name == "num_rel_ret":
        with pytest.raises(ValueError, match=r"A metric must be .* num_rel_ret is a count, which the command line"):
            parse_metric(name, convention="trec_eval")
        return
    rows, values = trec_rows(run), dict(read(f"trec/{run}.json")["trec_eval"][name])
    mean = values.pop("all")
    result = evaluate(*rows[:2], qid=rows[2], metrics=[name], convention="trec_eval")
    assert_allclose(result.per_query[name], [values[q] for q in result.qid], rtol=0, atol=1e-12)
    assert_allclose(result.mean()[name], mean, rtol=0, atol=1e-12)


UNDERSTOOD = {
    "rbp": "rbp",
    "rbp.p=0.8": "rbp(p=0.8)",
    "rbp_resid": "rbp_residual",
    "relative_P_5": "recall(denominator=min_k_relevant)@5",
    "set_F.0.25": "set_f(beta=0.5)",
}
REFUSED = {  # names, and words of the message
    "is measured at several values": "map_cut ndcg_cut relative_P unj iprec_at_recall Rprec_mult P.5,10 recall_5,10",
    "is a set of measures": "official set all_trec",
    "is a count": "num_q num_ret num_rel num_rel_ret num_nonrel_judged_ret",
    "the share of the first k without a judgment": "unj_5 unj.20",
    "is precision at a multiple of R": "Rprec_mult_0.20 Rprec_mult.1.5",
    "the product of set_precision and set_recall": "set_map",
    "recall_at_k_score with denominator='min_k_relevant'": "set_relative_P",
    "what ndcg divides by": "ideal_dcg",
    "a sum of counts": "utility utility.1.0,-1.0,0.0,0.0",
    "an experiment that only trec_eval has": "G binG Rndcg ndcg_rel yaap G.1=3,2=9",
    "needs preferences or judgments of several people": "prefs_simp prefs all_prefs qrels_jg P_avgjg map_avgjg",
    "is a word, not a number": "runid relstring relstring_10",
    "takes one parameter, as in 'rbp.p=0.8'": "rbp.1=1,2=3",
    "takes a gain for each level": "ndcg.1 ndcg.1=x dcg.1=2,x",
}


def test_names_of_trec_eval_that_we_spell_otherwise():
    for theirs, ours in UNDERSTOOD.items():
        spec, given = parse_metric(theirs, convention="trec_eval"), parse_metric(ours, convention="trec_eval")
        assert (spec.metric, spec.k, spec.keywords) == (given.metric, given.k, given.keywords)
    assert parse_metric("rbp", convention="trec_eval")["p"] == 0.9
    assert parse_metric("rbp_resid", convention="trec_eval")["p"] == 0.9
    assert parse_metric("rbp(p=0.5)", convention="trec_eval")["p"] == 0.5
    assert parse_metric("dcg_2=3.5,3=9", convention="trec_eval")["gain"] == {0: 0, 1: 1, 2: 3.5, 3: 9}
    with pytest.raises(ValueError, match="gains by grade that do not fall"):
        parse_metric("dcg_1=9,2=3", convention="trec_eval")


@pytest.mark.parametrize("convention", ["trec_eval", None])
@together("name, why", [(name, why) for why, names in REFUSED.items() for name in names.split()])
def test_unsupported_names_of_trec_eval_have_a_reason(name, why, convention):
    with pytest.raises(ValueError, match=rf"Got '{re.escape(name)}'.* trec_eval's {re.escape(name)} .*{why}"):
        evaluate([1, 0], [2, 1], qid=["q", "q"], metrics=name, **({"convention": convention} if convention else {}))


@pytest.mark.parametrize("name", ["map", "bpref"])
@pytest.mark.parametrize("run", TREC_RUNS)
def test_geometric_means_of_trec_eval(run, name):
    label, score, qid = trec_rows(run)
    spec = parse_metric(f"gm_{name}", **trec_policies(name))
    found = spec.metric(label, score, qid=qid, **spec.keywords)
    assert_allclose(found, read(f"trec/{run}.json")["trec_eval"][f"gm_{name}"]["all"], rtol=0, atol=1e-12)


def test_values_of_pytrec_eval():
    """It wraps trec_eval 9, which cuts where 10 rounds; neither needs 24 of 77 for a recall of 0.3, as we do."""
    stored, rows = read("trec/trec_test.json")["pytrec_eval"], trec_rows("trec_test")
    assert len(stored) == 3
    for name, values in stored.items():
        call = trec_call(name)
        expected = [values[q] for q in dict.fromkeys(rows[2])]
        found = call(*rows, average=None, **trec_policies("iprec") | {"rounding": "cut"})
        assert_allclose(found, expected, rtol=0, atol=1e-12)
    found = REGISTRY["iprec"](*rows[:2], qid=rows[2], recall=0.3, average=None, **trec_policies("iprec"))
    assert_allclose(found[1], 24 / 34)


@pytest.mark.parametrize("run", TREC_RUNS)
def test_rank_biased_precision_of_trec_runs(run):
    rows, values = trec_rows(run), read(f"trec/{run}.json")["rbp_p0.9_own_oracle"]
    found = REGISTRY["rbp"](*rows[:2], qid=rows[2], p=0.9, average=None, **trec_policies("rbp"))
    assert_allclose(found, [values[q] for q in dict.fromkeys(rows[2])], rtol=1e-12)


def test_rank_biased_precision_of_nist():
    values = read("trec/trec_test.json")["rbp_p0.9_printed_in_NIST_out.test.aq"]
    assert list(values.values()) == [0.1861, 0.7628, 0.0212]
    rows = trec_rows("trec_test")
    found = REGISTRY["rbp"](*rows[:2], qid=rows[2], p=0.9, average=None, **trec_policies("rbp"))
    assert found.round(4).tolist() == list(values.values())


@pytest.mark.parametrize("run", TREC_RUNS)
def test_no_measure_of_trec_eval_is_missing(run):
    left_out = [name for name in read(f"trec/{run}.json")["trec_eval"] if not trec_call(name)]
    assert len(left_out) == 16
    for name in left_out:
        assert any(re.fullmatch(pattern, name) for pattern in TREC_LEFT_OUT), name
    assert {name for name, _ in TREC.values()} <= REGISTRY.keys()


def test_the_last_parameter_of_set_f_counts():
    """As in trec_eval, which prints a single set_F."""
    judged, run = {"q": {"a": 1, "b": 1, "c": 1}}, {"q": {"a": 2.0}}
    (found,) = pytrec_eval.RelevanceEvaluator(judged, ["set_F_0.5", "set_F_2"]).evaluate(run).values()
    assert found == pytrec_eval.RelevanceEvaluator(judged, ["set_F_2"]).evaluate(run)["q"]
    assert found != pytrec_eval.RelevanceEvaluator(judged, ["set_F_0.5"]).evaluate(run)["q"]


JUDGED = {"q": {"a": 1, "b": 0, "c": 2, "e": 1, "y": 0, "z": 1}, "r": {"a": 1}}
RUN = {"q": {"a": 5.0, "b": 4.0, "c": 3.0, "d": 2.0, "e": 1.0}, "r": {"b": 2.0, "a": 1.0}}
"""Relevant at ranks 1, 3, 5, one more not retrieved; judged and not relevant at rank 2; rank 4 is not judged."""

BY_HAND = {
    "num_q": (1, 1),
    "num_ret": (5, 2),
    "num_rel": (4, 1),
    "num_rel_ret": (3, 1),
    "num_nonrel_judged_ret": (1, 0),
    "utility": (3 - 2, 1 - 1),
    "set_map": (3 / 5 * 3 / 4, 1 / 2),
    "set_relative_P": (3 / 4, 1),
    "binG": ((1 + 1 / np.log2(3) + 1 / 2) / 4, 1 / np.log2(3)),
    "Rprec_mult_0.20": (1, 0),
    "Rprec_mult_0.40": (1 / 2, 0),
    "Rprec_mult_0.60": (2 / 3, 0),
    "Rprec_mult_1.00": (1 / 2, 0),
    "Rprec_mult_1.20": (3 / 5, 1 / 2),
    "Rprec_mult_2.00": (3 / 8, 1 / 2),
}
"""Values of measures that only trec_eval has, of both queries."""


def test_measures_only_in_trec_eval():
    names = {re.sub(r"mult_.*", "mult", name) for name in BY_HAND}
    found = pytrec_eval.RelevanceEvaluator(JUDGED, names).evaluate(RUN)
    for name, values in BY_HAND.items():
        assert [found[q][name] for q in "qr"] == pytest.approx(values), name
    multiples = {name for name in found["q"] if name.startswith("Rprec_mult")}
    assert multiples == {f"Rprec_mult_{i / 5:.2f}" for i in range(1, 11)}
    recalls = pytrec_eval.RelevanceEvaluator(JUDGED, {"iprec_at_recall"}).evaluate(RUN)["q"]
    assert recalls.keys() == {f"iprec_at_recall_{i / 10:.2f}" for i in range(11)}
    with pytest.raises(ValueError, match="binG has no closed form for tied documents"):
        evaluate([1, 0], [1, 1], qid=[0, 0], metrics={"binG": own_measure("binG")})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("num_q", 1),
        ("ideal_dcg", 2 + 1 / np.log2(3) + 1 / np.log2(4) + 1 / np.log2(5)),
        ("utility", 3 - 2),
        ("utility.2,-3,5,0", 2 * 3 - 3 * 2 + 5 * 1),
        ("utility_0.5,0,-1,0", 0.5 * 3 - 1),
        ("unj_3", 0),
        ("unj.4", 1 / 4),
        ("unj_20", 1 / 20),
    ],
)
def test_measures_that_the_command_line_prints(name, value):
    result = evaluate_run({"q": JUDGED["q"]}, {"q": RUN["q"]}, metrics={"own": own_measure(name)})
    assert result.mean() == pytest.approx({"own": value})


def test_names_foreign_to_trec_eval():
    assert [own_measure(name) for name in ("map", "unj_0", "utility.1,2", "Rprec_mult", "num_q_")] == [None] * 5


def test_utility_ignores_the_size_of_the_collection():
    with pytest.raises(ValueError, match="The fourth coefficient of utility must be 0.*Got 2"):
        utility("1,-1,0,2")
