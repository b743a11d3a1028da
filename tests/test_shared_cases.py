"""Expected values that nobody here wrote: other projects' tests, reference programs, exact enumeration.

The files live beside the repository, in ../shared; without them only the libraries that are installed are compared.
Every value is either compared or listed in a table below, with the reason why it cannot be expressed, and the tables
are counted.
"""

import json
import re
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_rank import parse_metric
from sklearn_rank._metric import REGISTRY

SHARED = Path(__file__).parents[2] / "shared"
ABSENT = "the folder ../shared with the cases is not there"
needs_shared = pytest.mark.skipif(not SHARED.is_dir(), reason=ABSENT)


@cache
def read(name):
    path = SHARED / name
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def numbers(values, missing):
    return np.array([missing if v is None else v for v in values], dtype=float)


def average_of(values):
    return np.nan if values == "nan" else values


# --- a case's words in ours ----------------------------------------------------------------------------------

NAMES = {
    "ap": "map",
    "rr": "mrr",
    "fbeta": "f",
    "r_precision": "rprec",
    "ranking_loss": "auc",  # one minus AUC, tied pairs wrong
    "hits": "dcg",  # the number of hits: gain 1 for a relevant document, discount 1 for each rank
}
"""Metrics with another name there; the others have ours."""


COUNT_HITS = {"gain": "binary", "discount": lambda rank: np.ones(len(rank))}
"""Keywords with which DCG is the number of hits, and nDCG that over the most hits possible."""

DISCOUNTS = {
    "log2": "log2",
    "jk": "jarvelin",
    "inverse": "reciprocal",
    "inverse+10": lambda rank: 1 / (rank + 10),
    "log10": lambda rank: 1 / np.log10(1 + rank),
}

DENOMINATORS = {
    ("ap", "n_rel"): {"denominator": "relevant"},
    ("ap", "min_k_nrel"): {"denominator": "min_k_relevant"},
    ("ap", "hits"): {"denominator": "retrieved_relevant"},
    ("ap", "k"): {"denominator": "k"},
    ("precision", "k"): {"denominator": "k"},
    ("precision", "min_k_n"): {"denominator": "min_k_n"},
    ("precision", "min_k_nrel"): COUNT_HITS,  # of nDCG: hits over the most that k ranks can hold
    ("recall", "n_rel"): {},
    ("r_precision", "n_rel"): {},
}
"""What a metric is divided by."""

KEYWORDS = {
    "k": lambda k: {} if k is None else {"k": k},
    "threshold": lambda t: {"min_relevance": t},
    "threshold_gt": lambda t: {"min_relevance": float(np.nextafter(t, np.inf))},
    "gain": lambda gain: {"gain": gain_of(gain)},
    "discount": lambda discount: {"discount": DISCOUNTS[discount]},
    "zero": lambda zero: {"replace_undefined_by": np.nan if zero in ("skip", "nan") else zero},
    "max_grade": lambda grade: {"max_grade": grade},
    "p": lambda p: {"p": p},
    "beta": lambda beta: {"beta": beta},
    "aggregate": lambda how: {"average": {"sum": None, "micro": "micro"}[how]},
    "ties": lambda ties: (
        {} if ties == "error" else {"ties": {"reverse": "stable", "block": "worst"}.get(ties, ties)}
    ),
} | dict.fromkeys(["ideal", "graded", "denominator", "note_zero", "version", "decay"], lambda _: {})
"""Our keywords for each parameter of a case; the last ones are our defaults, or looked at by `translate`."""


def gain_of(gain):
    if isinstance(gain, dict):
        return {float(grade): value for grade, value in gain.items()}
    scale = re.fullmatch(r"scale:(.*)", gain)
    return (lambda label: float(scale[1]) * label) if scale else gain


class Call(NamedTuple):
    """A metric of ours with keywords and, where the case wants it, something done to the data or the value."""

    name: str
    keywords: dict[str, Any]
    backwards: bool = False
    complement: bool = False

    def __call__(self, y_true, y_score, qid, **more):
        rows = slice(None, None, -1 if self.backwards else 1)
        value = REGISTRY[self.name](y_true[rows], y_score[rows], qid=qid[rows], **{**self.keywords, **more})
        return 1 - value if self.complement else value


def translate(metric, params, labels=()):
    """The call that a metric's name and parameters stand for."""
    name, keywords, denominator = NAMES.get(metric, metric), {}, params.get("denominator")
    for parameter, value in params.items():
        keywords |= KEYWORDS[parameter](value)
    if denominator:
        keywords |= DENOMINATORS[metric, denominator]
    if params.get("graded") and not set(labels) <= {0, 1}:
        name = "opa"  # AUC over pairs of unequal grades
    if metric == "hits":
        keywords |= COUNT_HITS
    if (metric, denominator) == ("precision", "min_k_nrel"):
        name = "ndcg"
    if params.get("ideal") == "k_ones":  # DCG over that of k relevant documents
        weight = 1 / np.log2(1.0 + np.arange(1, params["k"] + 1))
        name, keywords = "dcg", keywords | {"discount": weight / weight.sum()}
    if metric == "ranking_loss":
        keywords |= {"ties": "worst", "replace_undefined_by": 1 - params["zero"]}
    return Call(name, keywords, params.get("ties") == "reverse", metric == "ranking_loss")


# --- what cannot be said -------------------------------------------------------------------------------------


def tied_block_differs(case):
    """Whether ranks inside a tie block would matter, were all its documents put at the block's last rank."""
    y_true, y_score, qid = case["y_true"], case["y_score"], case["qid"]
    rows = list(zip(qid, y_score, y_true, strict=True))
    for q, s, _ in rows:
        block = [y for a, b, y in rows if (a, b) == (q, s)]
        down_to = [y for a, b, y in rows if a == q and b >= s]
        if sum(block) > 1 and sum(down_to) < len(down_to):
            return True
    return False


INEXPRESSIBLE = {
    "items have weights of their own; ours belong to queries": lambda case: (
        "item_weights" in case["params"] or "weights" in case["params"]
    ),
    "several tied relevant documents all take the last rank of their block": lambda case: (
        case["params"].get("ties") == "block" and tied_block_differs(case)
    ),
    "bpref over R, where trec_eval takes min(R, N)": lambda case: case["params"].get("version") == "R",
    "coverage error is not among our metrics": lambda case: case["metric"] == "coverage_error",
}
"""Why a case is left out."""

LEFT_OUT = {
    "items have weights of their own; ours belong to queries": 18,
    "several tied relevant documents all take the last rank of their block": 21,
    "bpref over R, where trec_eval takes min(R, N)": 4,
    "coverage error is not among our metrics": 44,
}
"""How many cases are left out, of 798; a metric of our plan that does not exist yet comes on top."""

PLANNED = {"rprec", "bpref", "opa", "arp", "pfound", "infap", "iprec", "11pt"}
"""Metrics of the design with cases here: compared as soon as they are in the registry."""

READS_UNJUDGED = {"bpref", "infap", "judged"}
"""Metrics that read NaN labels as what they are; all others are told that they are not relevant."""


def reason_to_leave_out(case):
    """Why a case cannot be compared, or None."""
    for reason, found in INEXPRESSIBLE.items():
        if found(case):
            return reason
    call = call_for(case)
    if call.name not in REGISTRY:
        return f"{call.name} does not exist yet"
    if "k" in call.keywords and not REGISTRY[call.name].has_cutoff:
        return f"{call.name} has no cutoff"
    return None


def call_for(case):
    return translate(case["metric"], case["params"], case["y_true"])


def all_cases():
    files = sorted((SHARED / "cases").glob("*.json")) if SHARED.is_dir() else []
    apart = {"tie_cases.json", "extra_tf_ranking_subtopic.json"}
    return [case for file in files if file.name not in apart for case in read(f"cases/{file.name}")["cases"]]


# --- the fourteen files --------------------------------------------------------------------------------------

COMPARED = [case for case in all_cases() if reason_to_leave_out(case) is None]
each_case = pytest.mark.parametrize("case", COMPARED, ids=lambda case: case["id"])

KNOWN_ERRORS = {
    "worked_examples::Croft, Metzler, Strohman ch. 8: ideal DCG, rank 6::dcg",
    "worked_examples::Croft, Metzler, Strohman ch. 8: NDCG, rank 4::ndcg",
    "xgboost::tests/cpp/metric/test_auc.h::VerifyRankingAUC metric=auc::auc#5",
}
"""Cases whose source is wrong, by the list in cases/README.md: the definition decides."""


def evaluated(case, **more):
    """The case's call on its rows: NaN for not judged, -inf for not retrieved."""
    call, y_true, y_score = call_for(case), numbers(case["y_true"], np.nan), numbers(case["y_score"], -np.inf)
    if case.get("group_weight"):
        more["sample_weight"] = np.array([case["group_weight"][str(q)] for q in case["qid"]])
    if call.name not in READS_UNJUDGED:
        more["unjudged"] = "nonrelevant"
    return call(y_true, y_score, np.array(case["qid"]), **more)


@each_case
def test_value_of_a_case(case):
    expected = average_of(case["oracle"]["value"])
    if np.isnan(expected):
        with pytest.warns(UserWarning, match="is not defined for any query"):
            assert np.isnan(evaluated(case))
        return
    found = np.sum(evaluated(case))  # of one value, or over queries where the case asks for the sum
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    if case["id"] not in KNOWN_ERRORS:
        assert case["oracle"]["agrees"]
        assert_allclose(found, average_of(case["expected"]), rtol=0, atol=case["tolerance"])


@each_case
def test_value_of_each_query_of_a_case(case):
    ids = list(dict.fromkeys(case["qid"]))
    if case["params"].get("ties") == "reverse":
        ids = list(dict.fromkeys(case["qid"][::-1]))
    per_query = case["oracle"]["per_query"]
    expected = numbers([per_query[str(q)] for q in ids], np.nan)
    assert_allclose(evaluated(case, average=None), expected, rtol=1e-9, atol=1e-9)


@each_case
def test_plain_arrays_give_the_same_value(case):
    """Where the case says so: not judged as label 0, not retrieved as the lowest score."""
    if case["plain_ok"] and not {"unjudged", "unretrieved"}.isdisjoint(case["needs"]):
        assert_allclose(np.sum(evaluated(case | case["plain"])), np.sum(evaluated(case)), rtol=1e-12)


@needs_shared
def test_nothing_else_is_left_out():
    cases = all_cases()
    reasons = Counter(map(reason_to_leave_out, cases))
    compared = reasons.pop(None)
    planned = [f"{name} {why}" for name in PLANNED for why in ("does not exist yet", "has no cutoff")]
    to_come = [reasons.pop(reason, 0) for reason in planned]
    assert reasons == LEFT_OUT
    assert compared + sum(reasons.values()) + sum(to_come) == len(cases) == 798
    assert len(COMPARED) == compared
    assert {case["id"] for case in cases if not case["oracle"]["agrees"]} == KNOWN_ERRORS


@needs_shared
def test_subtopics_are_left_out():
    """Labels with subtopics, and an average of positions over judgements, are no part of the data model."""
    metrics = Counter(case["metric"] for case in read("cases/extra_tf_ranking_subtopic.json")["cases"])
    assert metrics == {"alpha_dcg": 13, "precision_ia": 11, "position_weighted_average": 8}


# --- exact expectations over all orders of tied documents ----------------------------------------------------


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
    cases = read("cases/tie_cases.json")["single"]
    label, score = (np.concatenate([case[column] for case in cases]) for column in ("y_true", "y_score"))
    return label.astype(float), score, np.repeat(np.arange(len(cases)), [len(c["qid"]) for c in cases])


def tie_values(part):
    """For each name the values of all single lists that have it: (list, value), NaN for undefined."""
    table = {}
    for i, case in enumerate(read("cases/tie_cases.json").get("single", ())):
        for name, value in case[part].items():
            table.setdefault(name, []).append((i, np.nan if value is None else value))
    return {name: np.array(pairs).T for name, pairs in table.items()}


TIE_PARTS = {"expected": "average", "best": "best", "worst": "worst"}
TIE_VALUES = {part: tie_values(part) for part in TIE_PARTS}


@pytest.mark.parametrize(("part", "name"), [(part, name) for part in TIE_PARTS for name in TIE_VALUES[part]])
def test_tied_lists(part, name):
    lists, expected = TIE_VALUES[part][name]
    keywords = {"average": None, "replace_undefined_by": np.nan, "ties": TIE_PARTS[part]}
    found = tie_call(name)(*tie_lists(), **keywords)[lists.astype(int)]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


@needs_shared
def test_all_tied_lists_were_compared():
    defined = {
        part: sum(np.isfinite(v).sum() for _, v in table.values()) for part, table in TIE_VALUES.items()
    }
    assert defined == {"expected": 9540, "best": 6558, "worst": 6558}
    assert defined["expected"] == read("cases/tie_cases.json")["n_values"]


@pytest.mark.parametrize("case", read("cases/tie_cases.json").get("grouped", ()), ids=lambda case: case["id"])
def test_tied_lists_averaged_over_queries(case):
    data = numbers(case["y_true"], None), numbers(case["y_score"], None), np.array(case["qid"])
    for name, policies in case["expected"].items():
        for policy, replacement in {"zero": 0, "one": 1, "skip": np.nan}.items():
            if policies[policy] is not None:
                found = tie_call(name)(*data, replace_undefined_by=replacement)
                assert_allclose(found, policies[policy], rtol=1e-12, err_msg=f"{name}, {policy}")


# --- LightGBM, XGBoost and CatBoost --------------------------------------------------------------------------

LIBRARY_NAMES = {
    "ndcg": "ndcg",
    "map": "ap",
    "pre": "precision",
    "NDCG": "ndcg",
    "DCG": "dcg",
    "MAP": "ap",
    "MRR": "rr",
    "PrecisionAt": "precision",
    "RecallAt": "recall",
    "QueryAUC": "auc",
    "ERR": "err",
    "PFound": "pfound",
}


def library_values():
    """(predictions, library, the library's name of the metric, entry) of each stored value."""
    for predictions, systems in read("data/ltr/builtin_metrics_shared.json").get("results", {}).items():
        for system, table in systems.items():
            if isinstance(table, dict) and "own evaluation" not in system:
                yield from ((predictions, system, name, entry) for name, entry in table.items())


def library_call(name, entry):
    """The call for a stored value."""
    params = dict(entry["params"])
    if "binarize" in entry:
        params["threshold"] = float(re.fullmatch(r"labels >= (\d)", entry["binarize"])[1])
    return translate(LIBRARY_NAMES[re.match(r"[A-Za-z]+", name)[0]], params, labels=range(5))


@cache
def predictions_of(model):
    with np.load(SHARED / "data/ltr/predictions.npz") as data:
        return data["y_true"], data[model], data["qid"]


LIBRARY_VALUES = [pytest.param(*value, id="-".join(value[:3])) for value in library_values()]


@pytest.mark.parametrize(("model", "system", "name", "entry"), LIBRARY_VALUES)
def test_values_of_libraries(model, system, name, entry):
    call = library_call(name, entry)
    if call.name in PLANNED - REGISTRY.keys():
        pytest.skip(f"{call.name} does not exist yet")
    y_true, y_score, qid = predictions_of(model)
    weight = {"sample_weight": 1 + qid % 3} if "query_weight=1+qid%3" in name else {}
    found = call(y_true, y_score, qid, **weight)
    assert_allclose(found, entry["value"], rtol=0, atol=1e-6)
    assert_allclose(found, entry["oracle"], rtol=1e-9)
    assert entry["agrees"]


@needs_shared
def test_all_values_of_libraries_were_compared():
    assert len(LIBRARY_VALUES) == 216
    ours = {library_call(name, entry).name for _, _, name, entry in library_values()}
    assert ours - REGISTRY.keys() <= PLANNED


@needs_shared
def test_lightgbm_at_its_last_iteration():
    """What LightGBM printed while it trained, on its own predictions in double precision."""
    stored = read("data/ltr/builtin_metrics_shared.json")["results"]["lightgbm_model"]
    (system,) = [name for name in stored if "own evaluation" in name]
    y_true, y_score, qid = predictions_of("lightgbm_model")
    for name, value in stored[system].items():
        keywords = {"denominator": "min_k_relevant"} if name.startswith("map") else {}
        spec = parse_metric(name, ties="stable", replace_undefined_by=1, **keywords)
        found = spec.metric(y_true, y_score, qid=qid, k=spec.k, **spec.keywords)
        assert_allclose(found, value, rtol=0, atol=1e-6)


# --- the same libraries, live --------------------------------------------------------------------------------


STORED = ["lightgbm_model", "xgboost_model", "catboost_model", "lightgbm_model_rounded_0.5", "constant"]
LIVE = [0, 1, 2, *STORED]


def live_data(source):
    """Stored predictions, or random queries by seed: some of one document, some without a relevant one, ties.

    Scores are exact in single precision.
    """
    if isinstance(source, str):
        if not SHARED.is_dir():
            pytest.skip(ABSENT)
        y_true, y_score, qid = predictions_of(source)
        return y_true, y_score, qid, np.bincount(qid)
    rng = np.random.default_rng(source)
    size = rng.integers(1, 25, size=60)
    label = rng.integers(0, 5, size=size.sum()) * np.repeat(rng.random(60) < 0.85, size)
    return label, rng.integers(0, 12, size=size.sum()) / 4, np.repeat(np.arange(60), size), size


def as_that_library(name, y_true, y_score, qid):
    """A metric of LightGBM or XGBoost; with a minus sign after its name, undefined queries count as 0, not 1."""
    divided_by = {"map": {"denominator": "min_k_relevant"}, "pre": {"denominator": "min_k_n"}}
    keywords = {"replace_undefined_by": 0 if name.endswith("-") else 1, **divided_by.get(name[:3], {})}
    spec = parse_metric(name.rstrip("-").replace("pre@", "precision@"), ties="stable", **keywords)
    return spec.metric(y_true, y_score, qid=qid, k=spec.k, **spec.keywords)


def lightgbm_values(y_true, y_score, size):
    """LightGBM's metrics of fixed scores: a model without trees that starts from them."""
    lightgbm = pytest.importorskip("lightgbm")
    params = {"objective": "lambdarank", "metric": ["ndcg", "map"], "eval_at": [1, 3, 5, 30], "verbose": -1}
    features, quiet = np.arange(len(y_true), dtype=float)[:, None], {"verbose": -1}
    data = lightgbm.Dataset(features, label=y_true, group=size, init_score=y_score, params=quiet)
    return {name: value for _, name, value, _ in lightgbm.Booster(params, data).eval_train()}


def xgboost_values(metric, y_true, y_score, size):
    """The same of XGBoost."""
    xgboost = pytest.importorskip("xgboost")
    names = [f"{metric}@1", f"{metric}@5", f"{metric}@30", *([] if metric == "pre" else [f"{metric}@5-"])]
    data = xgboost.DMatrix(np.zeros((len(y_true), 1)), label=y_true, base_margin=y_score)
    data.set_group(size)
    printed = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": names}, [data]).eval(data)
    values = {name: float(value) for name, value in re.findall(r"eval-(\S+):(\S+)", printed)}
    assert list(values) == names
    return values


@pytest.mark.parametrize("source", LIVE)
def test_live_lightgbm(source):
    y_true, y_score, qid, size = live_data(source)
    values = lightgbm_values(y_true, y_score, size)
    assert len(values) == 8
    found = {name: as_that_library(name, y_true, y_score, qid) for name in values}
    assert found == pytest.approx(values, rel=0, abs=1e-6)


@pytest.mark.parametrize("metric", ["ndcg", "map", "pre"])
@pytest.mark.parametrize("source", LIVE)
def test_live_xgboost(source, metric):
    y_true, y_score, qid, size = live_data(source)
    if metric != "ndcg":  # takes binary labels only
        y_true = (y_true >= 2) * 1
    values = xgboost_values(metric, y_true, y_score, size)
    found = {name: as_that_library(name, y_true, y_score, qid) for name in values}
    assert found == pytest.approx(values, rel=0, abs=1e-6)


CATBOOST = {
    "NDCG:top=5;type=Exp": ("ndcg@5", {"replace_undefined_by": 1}),
    "NDCG:type=Base": ("ndcg(gain=linear)", {"replace_undefined_by": 1}),
    "DCG:top=10;type=Exp": ("dcg@10", {}),
    "DCG:top=10;type=Exp;denominator=Position": ("dcg(discount=reciprocal)@10", {}),
    "MAP:top=5;border=0.5": ("map(denominator=min_k_relevant)@5", {}),
    "MRR:top=5;border=0.5": ("mrr@5", {}),
    "PrecisionAt:top=5;border=1.5": ("precision(denominator=min_k_n,min_relevance=2)@5", {}),
    "RecallAt:top=5;border=0.5": ("recall@5", {"replace_undefined_by": 1}),
}


@pytest.mark.parametrize("source", LIVE)
@pytest.mark.parametrize("name", CATBOOST)
def test_live_catboost(name, source):
    utils = pytest.importorskip("catboost.utils")
    y_true, y_score, qid, _ = live_data(source)
    ours, keywords = CATBOOST[name]
    spec = parse_metric(ours, ties="worst", **keywords)
    (value,) = utils.eval_metric(y_true.astype(float), y_score, name, group_id=qid)
    found = spec.metric(y_true, y_score, qid=qid, k=spec.k, **spec.keywords)
    assert_allclose(found, value, rtol=0, atol=1e-6)


# --- trec_eval -----------------------------------------------------------------------------------------------

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
    r"relative_P_(?P<k>\d+)": ("ndcg", COUNT_HITS),  # hits over the most that k ranks can hold
    r"set_F_(?P<x>[\d.]+)": ("f", {}),  # x is beta squared
    r"Rprec": ("rprec", {}),
    r"bpref": ("bpref", {}),
    r"infAP": ("infap", {}),
    r"11pt_avg": ("11pt", {}),
    r"iprec_at_recall_(?P<recall>[\d.]+)": ("iprec", {}),
}
"""trec_eval's measures in our words."""

TREC_LEFT_OUT = {
    r"num_ret|num_rel|num_nonrel_judged_ret": "counts of documents, not of hits",
    r"Rprec_mult_.*": "precision at a multiple of R",
    r"set_map|set_relative_P": "another name for a product, or a cutoff at each list's own length",
    r"binG|G|ndcg_rel|Rndcg": "variants of nDCG that only trec_eval has",
    r"gm_map|gm_bpref": "geometric means over queries",
}
"""trec_eval's measures that we do not offer."""

TREC_RUNS = ["trec_test", "trec_trunc_complete"]


def trec_measures():
    names = ((run, name) for run in TREC_RUNS for name in read(f"data/trec/{run}.json").get("trec_eval", {}))
    return [(run, name) for run, name in names if trec_call(name)]


def trec_call(text):
    """The call for one of trec_eval's measures; None if it is left out."""
    for pattern, (name, keywords) in TREC.items():
        if found := re.fullmatch(pattern, text):
            given = {key: float(value) for key, value in found.groupdict().items()}
            if "x" in given:
                given = {"beta": float(np.sqrt(given["x"]))}
            return Call(name, keywords | (given if "k" not in given else {"k": int(given["k"])}))
    return None


@cache
def trec_rows(run):
    """Labels, scores and queries in trec_eval's order; NaN for not judged, -inf for not retrieved."""
    with np.load(SHARED / f"data/trec/{run}.npz") as data:
        label = np.where(data["rel"] < 0, np.nan, data["rel"])
        return label, np.where(data["retrieved"], data["score"], -np.inf), data["qid"]


def trec_policies(name):
    """Keywords of every call: trec_eval's order is that of the rows, and it reads unjudged as not relevant."""
    return {"ties": "stable"} | ({} if name in READS_UNJUDGED else {"unjudged": "nonrelevant"})


@pytest.mark.parametrize(("run", "name"), trec_measures())
def test_values_of_trec_eval(run, name):
    call, stored = trec_call(name), read(f"data/trec/{run}.json")
    if call.name in PLANNED - REGISTRY.keys():
        pytest.skip(f"{call.name} does not exist yet")
    rows = trec_rows(run)
    found = call(*rows, average=None, **trec_policies(call.name))
    values = stored["trec_eval"][name]
    expected = np.array([values[q] for q in dict.fromkeys(rows[2])])
    if name in stored["pytrec_eval"]:  # 10.0 rounds where 9.0 cuts: either will do
        other = np.array([stored["pytrec_eval"][name][q] for q in dict.fromkeys(rows[2])])
        expected = np.where(np.abs(found - other) < np.abs(found - expected), other, expected)
    assert_allclose(found, expected, rtol=0, atol=1e-12)
    if name not in stored["pytrec_eval"] and name != "num_rel_ret":
        assert_allclose(call(*rows, **trec_policies(call.name)), values["all"], rtol=0, atol=1e-12)


@needs_shared
@pytest.mark.parametrize("run", TREC_RUNS)
def test_rank_biased_precision_of_trec_runs(run):
    rows, values = trec_rows(run), read(f"data/trec/{run}.json")["rbp_p0.9_own_oracle"]
    found = REGISTRY["rbp"](*rows[:2], qid=rows[2], p=0.9, average=None, **trec_policies("rbp"))
    assert_allclose(found, [values[q] for q in dict.fromkeys(rows[2])], rtol=1e-12)


@needs_shared
def test_rank_biased_precision_that_nist_prints():
    values = read("data/trec/trec_test.json")["rbp_p0.9_printed_in_NIST_out.test.aq"]
    assert list(values.values()) == [0.1861, 0.7628, 0.0212]
    rows = trec_rows("trec_test")
    found = REGISTRY["rbp"](*rows[:2], qid=rows[2], p=0.9, average=None, **trec_policies("rbp"))
    assert found.round(4).tolist() == list(values.values())


@needs_shared
@pytest.mark.parametrize("run", TREC_RUNS)
def test_no_other_measure_of_trec_eval_is_left_out(run):
    left_out = [name for name in read(f"data/trec/{run}.json")["trec_eval"] if not trec_call(name)]
    assert len(left_out) == 16
    for name in left_out:
        assert any(re.fullmatch(pattern, name) for pattern in TREC_LEFT_OUT), name
    assert {name for name, _ in TREC.values()} - REGISTRY.keys() <= PLANNED
