"""Names of metrics: long names parse in linear time and are shortened in messages; other systems' names get a hint."""

import pickle
import re
from time import perf_counter

import numpy as np
import pytest
from registry import together

from sklearn_rank import (
    RankingEvaluator,
    evaluate,
    get_metric_names,
    get_scorer,
    make_ranking_scorer,
    metric,
    parse_metric,
)
from sklearn_rank._metric import name_hints, names
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import parse_metrics, tracker_names
from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.echo import echo

N = 200_000
LONG = {
    "blanks before @": "ndcg" + " " * N + "@",
    "blanks before a letter": "ndcg" + " " * N + "x",
    "blanks everywhere": "ndcg" + " " * N + "()" + " " * N + "@" + " " * N,
    "blanks alone": " " * N,
    "a name": "n" * N,
    "an odd name": "n" * N + "!",
    "underscores": "_at_" * N,
    "an open bracket": "ndcg(" + "x" * N,
    "a keyword": "ndcg(" + "x" * N + "=1)",
    "a value": "ndcg(gain=" + "x" * N + ")",
    "an odd value": "ndcg(gain=" + "!" * N + ")",
    "keywords": "ndcg(" + "gain=exp2," * N + ")",
    "commas": "ndcg(" + "," * N + "x)",
    "a cutoff": "ndcg@" + "1" * N,
    "trec_eval": "P_" + "1" * N,
}


@pytest.mark.parametrize("text", LONG.values(), ids=LONG)
@pytest.mark.parametrize("convention", [None, "trec_eval"])
def test_long_names(text, convention):
    """Quadratic time would take minutes, cubic time days."""
    began = perf_counter()
    with pytest.raises((ValueError, TypeError)) as caught:
        parse_metric(text, convention=convention)
    assert perf_counter() - began < 5
    assert len(str(caught.value)) < 600


def test_blanks_in_names():
    names = ["ndcg@10", " ndcg @ 10 ", "\tndcg( gain = exp2 ) @ 10\n", "ndcg" + " " * N + "@10"]
    assert {str(parse_metric(name)) for name in names} == {"ndcg@10", "ndcg(gain=exp2)@10"}


def test_metric_errors_echo_the_name():
    assert echo("short") == "'short'"
    assert echo("x" * 58) == repr("x" * 58)
    assert echo("a" * 500 + "z") == "'" + "a" * 39 + " ... " + "a" * 13 + "z'"
    assert len(echo([0] * 1000)) == 60
    with pytest.raises(TypeError, match=r"Got \[0, 0, 0.* \.\.\. .*0, 0\].$"):
        parse_metric([0] * 1000)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("Average_Precision_Score@5", "average_precision@5"),
        ("prec", "precision"),
        ("prec@10", "precision@10"),
        ("normalized_discounted_cumulative_gain", "ndcg"),
        ("recall_at_k", "recall@10"),
        ("roc_auc", "auc"),
        ("roc_auc_score", "auc"),
        ("ndcg_score", "ndcg"),
        ("ndcg10", "ndcg@10"),
        ("f1_score", "f1"),
        ("F_2", "f2"),
        ("f_1 @10", "f1@10"),
        ("top_k_accuracy@1", "hit@1"),
        ("recall_all_score@5", "recall_all@5"),
        ("joint_recall@5", "recall_all@5"),
        ("hit_all@5", "recall_all@5"),
        ("micro_precision@10", "precision(average=micro)@10"),
        ("recall_micro", "recall(average=micro)"),
        ("ndcg_exp@10", "ndcg@10"),
        ("ndgc@3", "ndcg@3"),
        ("precison_at_5", "precision@5"),
        ("recal", "recall"),
        ("MeanReciprocalRank@10", "mean_reciprocal_rank@10"),
        ("PrecisionAtK", "precision@10"),
        ("NormalizedDCG@5", "ndcg@5"),
        ("RecipRank@5", "mrr@5"),
        ("f1-score", "f1"),
        ("ndcg-10", "ndcg@10"),
        ("roc_auc@10", "auc"),
        ("tau_a", "kendall(variant=a)"),
        ("ndcg_score(k=10)", "ndcg"),
        ("kendal", "kendall"),
        ("neg_mean_squared_error", "mse"),
        ("label_ranking_average_precision_score", "lrap"),
        ("recall_any@5", "hit@5"),
        ("ndcg_any@5", "ndcg(discount=jarvelin)@5"),
        ("cv_recall@1", "hit@1"),
        ("RetrievalMRR", "mrr"),
        ("RetrievalNormalizedDCG", "ndcg"),
        ("RetrievalHitRate", "hit_rate"),
        ("cosine_ndcg@10", "ndcg@10"),
        ("MRRMetric", "mrr"),
    ],
)
def test_hints_for_names_of_other_libraries(name, ours):
    str(parse_metric(ours))  # the name is valid
    for ask in (parse_metric, lambda n: evaluate([1], [1], qid=[1], metrics=[n]), make_ranking_scorer):
        with pytest.raises(ValueError, match=r"Did you mean .*\?$") as caught:
            ask(name)
        assert str(caught.value).endswith(f"Did you mean {ours!r}?")
    if not name.startswith("neg_"):
        with pytest.raises(ValueError, match="Did you mean"):
            get_scorer(name)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("jaccard", "'set_f'"), ("overlap@10", "'rbo'"), ("nugget_recall", "'s_recall'"),
        ("claim_recall", "'set_recall'"),
        ("catalog_coverage@10", "exposure"), ("popularity", "exposure"), ("uauc", "auc"), ("cmc", "'hit@1'"),
        ("mINP", "'coverage_error'"),
    ],
)  # fmt: skip
def test_names_without_a_metric_of_their_own(name, words):
    with pytest.raises(ValueError, match=words):
        parse_metric(name)


NO_HINT = ("mape rmsle msle ndpm mpr xauc em f_precision infndcg tau_ap r2 map50 mmr").split()
"""Measures that are not ours, however near their names are."""


@pytest.mark.parametrize("name", NO_HINT)
def test_an_unknown_measure_is_not_mistaken_for_a_metric(name):
    with pytest.raises(ValueError, match=rf"Got '{name}@5' instead\.$"):
        parse_metric(f"{name}@5")


@pytest.mark.parametrize("name", name_hints.OTHER)
def test_suggested_metric_names_parse(name):
    """Each quoted name parses, and the rejected name does not."""
    for text in (name, f"{name.upper()}@10", f"{name}_10"):
        with pytest.raises(ValueError, match="instead") as caught:
            parse_metric(text)
        assert str(caught.value).endswith(f" {name_hints.OTHER[name]}")
    quoted = re.findall(r"(?<!=)'([^']+)'", name_hints.OTHER[name])
    assert quoted or "sklearn_rank.recommenders." in name_hints.OTHER[name]
    for ours in quoted:
        parse_metric(ours)


@pytest.mark.parametrize(("name", "model"), [
    ("lambdarank", "LGBMRanker(objective='lambdarank')"), ("rank:ndcg", "XGBRanker(objective='rank:ndcg')"),
    ("LambdaRank@10", "LGBMRanker(objective='LambdaRank')"), ("YetiRank:mode=NDCG", "loss_function='YetiRank')"),
    ("listnet", "loss to train with"),
])  # fmt: skip
def test_losses_are_not_metrics(name, model):
    with pytest.raises(
        ValueError, match=rf"{re.escape(model)}: judge the trained model by a metric, such as 'ndcg@10'"
    ):
        parse_metric(name)


READ = {
    "AveP@10": "map@10",
    "GMAP": "map(average=geometric)",
    "f_score@5": "f@5",
    "F_measure": "f",
    "hitrate@10": "hit@10",
    "recall_all_at_5": "hit(need=all)@5",
    "Full_Recall@5": "hit(need=all)@5",
    "pre@5": "precision@5",
    "R_cap@10": "recall(denominator=min_k_relevant)@10",
    "recall_cap@10": "recall(denominator=min_k_relevant)@10",
    "R-Prec": "rprec",
    "AP(rel=2)@10": "map(min_relevance=2)@10",
    "RBP(rel=2, p=0.5)": "rbp(min_relevance=2, p=0.5)",
    "average_precision": "map",
    "mean_average_precision@5": "map@5",
    "Mean_Reciprocal_Rank": "mrr",
    "reciprocal_rank@10": "mrr@10",
    "HR@10": "hit@10",
    "hits@10": "hit@10",
    "hit_ratio@10": "hit@10",
    "hits_at_10": "hit@10",
    "ndcg_at_10": "ndcg@10",
    " NDCG_at_10 ": "ndcg@10",
    "precision_at_10": "precision@10",
    "P_at_10": "precision@10",
    "r-precision": "rprec",
    "rbp-p-0.9_at_10": "rbp(p=0.9)@10",
    "rbp-p-1e-05": "rbp(p=1e-05)",
    "rbp-p-0.9-gain-binary": "rbp(p=0.9, gain=binary)",
    "ndcg-min_relevance--1": "ndcg(min_relevance=-1)",
    "iprec-recall-11pt": "iprec(recall=11pt)",
    "f2": "f(beta=2)",
    "F0.5@3": "f(beta=0.5)@3",
    "f0.5_at_3": "f(beta=0.5)@3",
    "f1_at_3": "f(beta=1)@3",
    "ndcg@5,10": "ndcg@5,10",
    "ndcg(gain=linear) @ 5, 10 ": "ndcg(gain=linear)@5,10",
    "NDCG:top=10": "ndcg(convention=catboost)@10",
    "NDCG:top=10;type=Exp": "ndcg(convention=catboost, gain=exp2)@10",
    "PrecisionAt:top=3": "precision(convention=catboost)@3",
    "MAP:top=-1": "map(convention=catboost)",
    "PFound:decay=0.5;top=3": "pfound(convention=catboost, decay=0.5)@3",
}


@together("name, ours", READ.items())
def test_accepted_names_of_other_libraries(name, ours):
    assert str(parse_metric(name)) == ours
    assert parse_metric(ours) == parse_metric(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ndcg@5,x", r"several metrics are a list, as in \['ndcg@10', 'map'\]\. Got 'ndcg@5,x'"),
        ("ndcg@10, map", "several metrics are a list"),
        ("ndcg@5,", "several metrics are a list"),
        ("ndcg_at_0", "must be an int >= 1"),
        ("my_at_10", "Got 'my_at_10' instead"),
        ("rbp-p_at_10", "Got 'rbp-p_at_10' instead"),
        ("rbp-q-1", r"has no keyword 'q'"),
        ("NDCG:hints=skip", "denominator and decay; for others use convention='catboost'.* Got 'hints=skip'"),
        ("QueryRMSE:top=3", "A metric name looks like"),
    ],
)
def test_rejected_names_of_other_libraries(name, message):
    with pytest.raises((ValueError, TypeError), match=message):
        parse_metric(name)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        *[
            (f"ndcg({inner})", f"goes keyword=value. Got '{inner}' in 'ndcg")
            for inner in ("gain", "gain=", "=exp2", "=")
        ],
        ("ndcg(k=5)", r"The cutoff goes after '@', and each keyword is set once. Got 'k' in 'ndcg\(k=5\)'"),
        ("ndcg(gain=exp2, gain=exp2)", "each keyword is set once. Got 'gain'"),
        ("f2(beta=2)", "each keyword is set once. Got 'beta'"),
        ("ndcg(gain=a.b)", "A value in a metric name is a number or a word. Got 'a.b'"),
        ("ndcg(gain=exp2", "A metric name looks like"),
        ("nope", r"one of get_metric_names\(\) or an alias. Got 'nope' instead.$"),
        ("ndcg@none@5", "A metric name looks like"),
        ("ndcg@1.5", "must be an int >= 1"),
        ("auc@5", "query_auc_score has no cutoff: it is computed on the whole list. Got k=5."),
        ("map(foo=1)", "map_score has no keyword 'foo'. It takes qid, k, denominator, precision_at, ranks, .*n_jobs.$"),
        ("ndcg(top_k=5)", "It takes .* k= is the cutoff.$"),
        ("auc(top_k=5)", "It takes .* It has no cutoff.$"),
        ("ndcg(seed=5)", "It takes .* random_state=.$"),
    ],
)
def test_invalid_names(name, message):
    with pytest.raises((ValueError, TypeError), match=message):
        parse_metric(name)


def test_words_in_names_are_values():
    found = [parse_metric(f"ndcg(adjusted={word})")["adjusted"] for word in ("true", "False", "TRUE", "false")]
    assert [str(value) for value in found] == ["True", "False", "True", "False"]
    assert parse_metric("ndcg(unjudged=None)")["unjudged"] is None
    assert [parse_metric(f"rbp(p={p})")["p"] for p in ("0.25", "5e-1")] == [0.25, 0.5]
    assert parse_metric("map(min_relevance=2)")["min_relevance"] == 2
    assert get_metric_names() == sorted(REGISTRY)


KEYWORDS = [
    (["ndcg"], {"gian": "linear"}, r"No metric of ndcg has a keyword 'gian'. Did you mean 'gain'\?$"),
    (["ndcg"], {"disc": 1}, r"No metric of ndcg has a keyword 'disc'. Did you mean 'discount'\?$"),
    (["ndcg"], {"mean": 1}, "No metric of ndcg has a keyword 'mean'.$"),
    (["ndcg"], {"k": 5}, "The cutoff goes into the name of a metric: 'ndcg@10'.$"),
    (["map", "auc"], {"gain": "linear"}, "No metric of map, auc has a keyword 'gain'.$"),
    (["map", len], {"k": 5}, r"The cutoff goes into .* For a function write parse_metric\(f, k=10\).$"),
    (["map", len], {"gain": "linear"}, "No metric of map, len has a keyword 'gain'.$"),
    (["map"], {"greater_is_better": False}, "No metric of map has a keyword 'greater_is_better'"),
    (["map"], {"average": None}, "Here a metric has one cutoff and a mean"),
    ({"m": "map@1,2"}, {}, "Here a metric has one cutoff and a mean"),
    ([], {}, "At least one metric is needed. Got none."),
    (["map", "map"], {}, "Each metric must be given once. Got 'map' twice."),
]


@pytest.mark.parametrize(("metrics", "keywords", "message"), KEYWORDS)
def test_keywords_of_no_metric(metrics, keywords, message):
    with pytest.raises((ValueError, TypeError), match=message):
        parse_metrics(metrics, **keywords)


def test_functions_next_to_names_need_a_direction():
    def own_loss(y, s):
        return 0.0

    found = parse_metrics([own_loss, "map"], greater_is_better=False, min_relevance=2)
    assert [spec.greater_is_better for spec in found.values()] == [False, True]
    assert found["map"]["min_relevance"] == 2
    assert [*found] == ["own_loss", "map"]


def test_own_names_have_a_direction():
    for name, better in (("ndcg@5", True), ("mse", False), ("my own", True)):
        assert names.direction_of(name, argument="x=False") == better
    with pytest.raises(
        ValueError, match=r"The name 'my_loss' suggests that lower is better. Pass x=False, or True if more is better."
    ):
        names.direction_of("my_loss", argument="x=False")
    assert [names.is_binary(name) for name in ("hit@5", "p@2", "my own")] == [True, False, False]
    single = [names.is_single_metric(one) for one in ("ndcg@5", "ndcg@5,10", ["ndcg"], len, {"a": "map"})]
    assert single == [True, False, False, True, False]


def test_an_object_with_parameters_is_not_a_measure():
    class Own:
        params = {"k": 5}

        def __call__(self, y, s):
            return 0.0

    assert parse_metric(Own()).metric.name == "Own"


def test_several_cutoffs_are_several_metrics():
    data = [1, 0, 2, 0], [1, 2, 3, 4]
    expected = evaluate(*data, qid=[0] * 4, metrics=["ndcg@1", "ndcg@3", "map"])
    for metrics in (["ndcg@1,3", "map"], ["ndcg@1, 3", "map"]):
        assert evaluate(*data, qid=[0] * 4, metrics=metrics).mean() == expected.mean()
    assert [*evaluate(*data, qid=[0] * 4, metrics="ndcg@1,3").mean()] == ["ndcg@1", "ndcg@3"]
    assert make_ranking_scorer(["ndcg@1,3"]).names == ["ndcg@1", "ndcg@3"]
    assert [*RankingEvaluator("ndcg@1,3")._specs] == ["ndcg@1", "ndcg@3"]
    with pytest.raises(ValueError, match="name each cutoff"):
        evaluate(*data, qid=[0] * 4, metrics={"both": "ndcg@1,3"})
    with pytest.raises(ValueError, match="Each metric must be given once. Got 'ndcg@3' twice"):
        evaluate(*data, qid=[0] * 4, metrics="ndcg@3,3")
    with pytest.raises(TypeError, match="a single metric, such as 'ndcg@10'; for functions and lists"):
        get_scorer("ndcg@1,3")


def test_hits_of_ranx_are_counted():
    for name in ("hits@10", " HITS @ 10", "hits"):
        with pytest.raises(ValueError, match="ranx's 'hits' is the number of hits"):
            parse_metric(name, convention="ranx")
    assert str(parse_metric("hit_rate@10", convention="ranx")) == "hit(convention=ranx)@10"


def test_own_names_take_precedence():
    metric("odd_at_5", aliases=["even_at_4"])(lambda r: r.cumsum())
    for name in ("odd_at_5", "even_at_4"):
        assert parse_metric(name).metric.name == "odd_at_5"
        assert parse_metric(f"{name}_at_3").k == 3


@pytest.mark.parametrize(
    "name",
    [
        "NDCG:top=2", "NDCG:top=3;type=Exp", "DCG:type=Base;denominator=Position", "MAP:top=3", "PrecisionAt:top=2",
        "RecallAt:top=2", "MRR:top=4", "ERR:top=3", "PFound:top=3", "AverageGain:top=2",
    ],
)  # fmt: skip
def test_names_of_catboost_have_its_numbers(name):
    utils = pytest.importorskip("catboost.utils")
    random = np.random.default_rng(0)
    qid = np.repeat(np.arange(20), 6)
    y_true = random.integers(0, 2 if name[0] in "EP" and "At" not in name else 4, 120) * 1.0
    y_score = random.integers(0, 4, 120) / 4.0 if "PF" not in name else random.permutation(120) / 120
    (expected,) = utils.eval_metric(y_true, y_score, name, group_id=qid)
    assert evaluate(y_true, y_score, qid=qid, metrics=name).mean()[name] == pytest.approx(expected, abs=1e-6)


@together("name", [*READ, *(name for name, metric in REGISTRY.items() if not metric.subtopics)])
def test_names_for_trackers(name):
    """They parse back."""
    if "," in name.partition("@")[2]:
        return
    (tracked,) = tracker_names([name]).values()
    assert re.fullmatch(r"[\w\-. /:]+", tracked, re.ASCII), "MLflow's rule"
    assert parse_metric(tracked) == parse_metric(name)


def test_to_dict():
    metrics = {"ndcg@10": "ndcg@10", "my own": "map", "P@5": "P@5"}
    result = evaluate([0, 1, 2], [3, 2, 1], qid=[1, 1, 1], metrics=metrics)
    assert result.to_dict() == dict(zip(["ndcg_at_10", "my own", "P_at_5"], result.mean().values(), strict=True))
    assert [*result.to_dict(prefix="test/")] == ["test/ndcg_at_10", "test/my own", "test/P_at_5"]
    with pytest.raises(ValueError, match="Trackers take names of letters.* Got 'a=ndcg_at_10'"):
        result.to_dict(prefix="a=")
    twice = evaluate([0, 1, 2], [3, 2, 1], qid=[1, 1, 1], metrics=["ndcg@10", "ndcg_at_10"])
    with pytest.raises(ValueError, match="Each metric needs a name of its own for a tracker. Got 'ndcg_at_10' twice"):
        twice.to_dict()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("ndcg@10", "nDCG@10"),
        (" NDCG(gain=linear)@10", "nDCG(gain=linear)@10"),
        ("P@5", "P@5"),
        ("r@5", "R@5"),
        ("gm_map", "GMAP"),
        ("11pt", "11pt"),
        ("my own", "my own"),
        ("recip_rank", "recip_rank"),
        ("ndcg of ours", "ndcg of ours"),
    ],
)
def test_display_names(name, shown):
    assert display_name(name) == shown


def test_tables_print_the_notation_and_keep_the_name():
    table = evaluate([0, 1], [2, 1], qid=[1, 1], metrics=["ndcg@1", "map"]).summary()
    assert "nDCG@1" in str(table)
    assert [row[0] for row in table.rows] == table.to_frame()["metric"].tolist() == ["ndcg@1", "map"]
    assert {type(name) for name in table.to_frame()["metric"]} == {str}
    again = pickle.loads(pickle.dumps(table))
    assert str(again) == str(table)


def test_lists_of_names_are_read_again():
    """The caller owns the dict, and a user-defined metric may have changed."""
    first = parse_metrics(["ndcg@10", "map"])
    first["more"] = first["map"]
    assert [*parse_metrics(["ndcg@10", "map"])] == [*parse_metrics(("ndcg@10", "map"))] == ["ndcg@10", "map"]
    for power in (1, 2):

        @metric("of_user", bounds=(0, np.inf))
        def of_user_score(r, *, power=power):
            return r.cumsum(r.relevant) * power

        for listed in (["of_user"], ["map", "of_user"]):
            assert parse_metrics(listed)["of_user"]["power"] == power
