"""Cases from tests of other projects and from exact enumeration, compared or excluded for a listed reason.

The files and their sources are in `tests/data/cases`. The reasons say why a case cannot be expressed, and the test
counts excluded cases.
"""

import re
from collections import Counter
from operator import itemgetter

import numpy as np
import pytest
from known_cases import NAMES, READS_UNJUDGED, numbers, read, translate
from numpy.testing import assert_allclose
from registry import about, together

from sklearn_rank import evaluate, evaluate_run, parse_metric

# --- cases that cannot be expressed ---------------------------------------------------------------------------


INEXPRESSIBLE = {
    "documents weigh pairs of them; our weights belong to queries": lambda case: (
        case["metric"] in ("opa", "auc") and not {"item_weights", "weights"}.isdisjoint(case["params"])
    )
}
"""Why a case is left out."""

LEFT_OUT = {"documents weigh pairs of them; our weights belong to queries": 2}
"""How many cases are left out, of 798."""


def reason_to_leave_out(case):
    """Why a case cannot be compared, or None."""
    for reason, found in INEXPRESSIBLE.items():
        if found(case):
            return reason
    return None


FILES = """
    allrank llama_index ml_metrics pytrec_eval rankeval ranx rax recommenders rectools scikit_learn tf_ranking
    torchmetrics worked_examples xgboost
""".split()


def call_for(case):
    return translate(case["metric"], case["params"], case["y_true"])


def all_cases():
    return [case for name in FILES for case in read(f"cases/{name}.json")["cases"]]


# --- the fourteen files --------------------------------------------------------------------------------------


def average_of(values):
    return np.nan if values == "nan" else values


COMPARED = [case for case in all_cases() if reason_to_leave_out(case) is None]
SOURCES = [*dict.fromkeys(case["id"].partition("::")[0] for case in COMPARED)]

KNOWN_ERRORS = {
    "worked_examples::Croft, Metzler, Strohman ch. 8: ideal DCG, rank 6::dcg",
    "worked_examples::Croft, Metzler, Strohman ch. 8: NDCG, rank 4::ndcg",
    "xgboost::tests/cpp/metric/test_auc.h::VerifyRankingAUC metric=auc::auc#5",
}
"""Cases whose source is wrong, by the list in tests/data/README.md: the definition decides."""


def evaluated(case, **more):
    """The case's call on its rows: NaN for unjudged, -inf for unretrieved."""
    call, y_true, y_score = call_for(case), numbers(case["y_true"], np.nan), numbers(case["y_score"], -np.inf)
    if case.get("group_weight"):
        more["sample_weight"] = np.array([case["group_weight"][str(q)] for q in case["qid"]])
    if "item_weights" in case["params"]:
        y_true, weights = weigh_documents(case, y_true)
        more = weights | more
    if call.name not in READS_UNJUDGED:
        more["unjudged"] = "nonrelevant"
    return call(y_true, y_score, np.array(case["qid"]), **more)


def weigh_documents(case, y_true):
    """The case with gains as labels, times the weights of documents; and keywords for the weights of queries.

    TF-Ranking weights a query by its documents, each by its gain, and divides the DCG of the query by that weight.
    """
    weight, qid, metric = np.array(case["params"]["item_weights"]), np.array(case["qid"]), case["metric"]
    gain = {"dcg": 2**y_true - 1, "ndcg": 2**y_true - 1, "arp": y_true}.get(metric, (y_true >= 1) * 1.0)
    more = {"gain": "linear"} if metric in ("dcg", "ndcg") else {}
    of_query = np.ones(len(qid))
    if "list weight" in case["notes"]:
        for rows in (qid == q for q in np.unique(qid)):
            of_query[rows] = np.average(weight[rows], weights=gain[rows])
        more["sample_weight"] = of_query if of_query.any() else None
    if metric == "arp":
        return weight * gain, {"average": "micro"} if "list weight" in case["notes"] else {}
    if metric == "dcg":
        return weight * gain / of_query, more
    return (weight * gain if metric == "ndcg" else y_true), more


@pytest.mark.parametrize("source", SOURCES)
def test_values_of_cases(source):
    for case in COMPARED:
        if case["id"].startswith(f"{source}::"):
            with about(case["id"]):
                has_its_values(case)


def has_its_values(case):
    """Per query and overall; also as plain arrays: unjudged as label 0, unretrieved as the lowest score."""
    qid, per_query = case["qid"], case["oracle"]["per_query"]
    ids = dict.fromkeys(qid[::-1] if case["params"].get("ties") == "reverse" else qid)
    expected = numbers([per_query[str(q)] for q in ids], np.nan)
    assert_allclose(evaluated(case, average=None), expected, rtol=1e-9, atol=1e-9)
    expected = average_of(case["oracle"]["value"])
    if np.isnan(expected):
        with pytest.warns(UserWarning, match="is not defined for any query"):
            assert np.isnan(evaluated(case))
        return
    found = np.sum(evaluated(case))  # of one value, or over queries if the case expects the sum
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    if case["id"] not in KNOWN_ERRORS:
        assert case["oracle"]["agrees"]
        assert_allclose(found, average_of(case["expected"]), rtol=0, atol=case["tolerance"])
    if case["plain_ok"] and not {"unjudged", "unretrieved"}.isdisjoint(case["needs"]):
        assert_allclose(np.sum(evaluated(case | case["plain"])), found, rtol=1e-12)


def test_known_cases_leave_out_only_listed_reasons():
    cases = all_cases()
    reasons = Counter(map(reason_to_leave_out, cases))
    compared = reasons.pop(None)
    assert reasons == LEFT_OUT
    assert compared + sum(reasons.values()) == len(cases) == 798
    assert len(COMPARED) == compared
    assert {case["id"] for case in cases if not case["oracle"]["agrees"]} == KNOWN_ERRORS


# --- labels with subtopics -----------------------------------------------------------------------------------

SUBTOPIC_CASES = read("cases/tf_ranking_subtopics.json")["cases"]


@together("case", SUBTOPIC_CASES)
def test_known_cases_of_subtopics(case):
    params = dict(case["params"])
    keywords = {"average": None} | ({"k": params["k"]} if params["k"] else {})
    keywords["convention"] = "tf_ranking"
    if case["metric"] == "alpha_dcg":
        keywords["alpha"] = params["alpha"]
    if "custom_rank_discount_fn" in case["citation"]:
        keywords["discount"] = lambda rank: 1 / (rank + 10)
    label, score = (np.concatenate(case[column]) for column in ("labels", "scores"))
    qid = np.repeat(np.arange(len(case["scores"])), [len(scores) for scores in case["scores"]])
    kept = np.concatenate(case["mask"]) if case["mask"] else np.full(len(qid), True)
    name = NAMES.get(case["metric"], case["metric"])
    found = parse_metric(name).metric(label[kept], score[kept], qid=qid[kept], **keywords)
    assert case["oracle"]["agrees"]
    assert_allclose(found, case["oracle"]["value"], rtol=1e-12)


def test_all_metrics_of_subtopics_were_compared():
    metrics = Counter(case["metric"] for case in SUBTOPIC_CASES)
    assert metrics == {"alpha_dcg": 13, "precision_ia": 11, "position_weighted_average": 8}


# --- exact expectations over all orders of tied documents ----------------------------------------------------

TIES = read("cases/tie_cases.json.gz")


def tie_call(text):
    """The call for a name such as "ap@3[denominator=n_rel,thr=2]"."""
    name, k, arguments = re.fullmatch(r"(\w+)(?:@(\d+))?(?:\[(.*)\])?", text).groups()
    params = dict(argument.split("=") for argument in (arguments or "").split(",") if argument)
    params = {a: b if a in ("gain", "denominator") else float(b) for a, b in params.items()}
    params = {"threshold" if a == "thr" else a: b for a, b in params.items()}
    spec = parse_metric(NAMES.get(name, name))
    call = translate(name, params | ({"k": int(k)} if k else {}))
    return call._replace(name=spec.metric.name)


def tie_lists():
    """All single lists as queries of one data set."""
    cases = TIES["single"]
    label, score = (np.concatenate([case[column] for case in cases]) for column in ("y_true", "y_score"))
    return label.astype(float), score, np.repeat(np.arange(len(cases)), [len(c["qid"]) for c in cases])


def tie_values(part):
    """For each name, (list, value) of each single list that has the metric; NaN for undefined."""
    table = {}
    for i, case in enumerate(TIES["single"]):
        for name, value in case[part].items():
            table.setdefault(name, []).append((i, np.nan if value is None else value))
    return {name: np.array(pairs).T for name, pairs in table.items()}


TIE_PARTS = {"expected": "average", "best": "best", "worst": "worst"}
TIE_VALUES = {part: tie_values(part) for part in TIE_PARTS}


@together("part, name", [(part, name) for part in TIE_PARTS for name in TIE_VALUES[part]])
def test_known_cases_of_tied_lists(part, name):
    lists, expected = TIE_VALUES[part][name]
    keywords = {"average": None, "replace_undefined_by": np.nan, "ties": TIE_PARTS[part]}
    found = tie_call(name)(*tie_lists(), **keywords)[lists.astype(int)]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_all_tied_lists_were_compared():
    defined = {part: sum(np.isfinite(v).sum() for _, v in table.values()) for part, table in TIE_VALUES.items()}
    assert defined == {"expected": 9540, "best": 6558, "worst": 6558}
    assert defined["expected"] == TIES["n_values"]


GROUPED = TIES["grouped"]


@together("case", GROUPED)
@pytest.mark.slow
def test_tied_lists_averaged_over_queries(case):
    data = numbers(case["y_true"], None), numbers(case["y_score"], None), np.array(case["qid"])
    for name, policies in case["expected"].items():
        for policy, replacement in {"zero": 0, "one": 1, "skip": np.nan}.items():
            if policies[policy] is not None:
                found = tie_call(name)(*data, replace_undefined_by=replacement)
                assert_allclose(found, policies[policy], rtol=1e-12, err_msg=f"{name}, {policy}")


# --- values of peers' own tests, as our calls -----------------------------------------------------------------

PEER_CASES = read("cases/peer_tests.json")


def evaluated_as_a_peer(case):
    """The result of a case's call: on rows, or on documents by query."""
    keywords = {name: np.nan if value == "nan" else value for name, value in case["keywords"].items()}
    if case["call"] == "evaluate_run":
        return evaluate_run(case["judgments"], case["run"], metrics=case["metric"], **keywords)
    score = numbers([None if s == "-inf" else s for s in case["y_score"]], -np.inf)
    return evaluate(case["y_true"], score, qid=case["qid"], metrics=case["metric"], **keywords)


def test_peers_own_tests():
    assert {*map(itemgetter("call"), PEER_CASES)} == {"evaluate", "evaluate_run"}
    for case in PEER_CASES:
        result = evaluated_as_a_peer(case)
        (name,) = result.per_query
        if case["kind"] == "mean":
            assert_allclose(result.mean()[name], case["expected"], atol=case["tolerance"], err_msg=case["source"])
        else:
            values = dict(zip(map(str, result.qid), result.per_query[name], strict=True))
            expected = {query: np.nan if value == "nan" else value for query, value in case["expected"].items()}
            assert values.keys() == expected.keys()
            assert_allclose(
                [*values.values()],
                [expected[query] for query in values],
                atol=case["tolerance"],
                err_msg=case["source"],
            )
