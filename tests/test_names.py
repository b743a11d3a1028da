"""Names of metrics: long ones in linear time, echoed in part; names of other systems, which get a hint."""

import pickle
from time import perf_counter

import pytest

from sklearn_rank import evaluate, get_scorer, get_scorers, parse_metric
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.notation import NOTATION, display_name
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
    """Quadratic time is minutes, cubic time is days."""
    began = perf_counter()
    with pytest.raises((ValueError, TypeError)) as caught:
        parse_metric(text, convention=convention)
    assert perf_counter() - began < 5
    assert len(str(caught.value)) < 600


def test_blanks_are_read_as_before():
    names = ["ndcg@10", " ndcg @ 10 ", "\tndcg( gain = exp2 ) @ 10\n", "ndcg" + " " * N + "@10"]
    assert {str(parse_metric(name)) for name in names} == {"ndcg@10", "ndcg(gain=exp2)@10"}


def test_what_is_echoed():
    assert echo("short") == "'short'"
    assert echo("x" * 58) == repr("x" * 58)
    assert echo("a" * 500 + "z") == "'" + "a" * 39 + " ... " + "a" * 13 + "z'"
    assert len(echo([0] * 1000)) == 60
    with pytest.raises(TypeError, match=r"Got \[0, 0, 0.* \.\.\. .*0, 0\].$"):
        parse_metric([0] * 1000)


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("average_precision", "map"),
        ("Average_Precision_Score@5", "map@5"),
        ("prec", "precision"),
        ("prec@10", "precision@10"),
        ("mean_reciprocal_rank", "mrr"),
        ("reciprocal_rank@10", "mrr@10"),
        ("normalized_discounted_cumulative_gain", "ndcg"),
        ("mean_average_precision", "map"),
        ("precision_at_10", "precision@10"),
        ("recall_at_k", "recall@10"),
        ("hits", "hit"),
        ("hits_at_10", "hit@10"),
        ("hr@10", "hit@10"),
        ("roc_auc", "auc"),
        ("roc_auc_score", "auc"),
        ("ndcg_score", "ndcg"),
        ("ndcg10", "ndcg@10"),
        ("ndcg_at_10", "ndcg@10"),
        ("f1_score", "f1"),
        ("f2", "f(beta=2)"),
        ("neg_mean_squared_error", "mse"),
        ("label_ranking_average_precision_score", "lrap"),
    ],
)
def test_names_of_elsewhere(name, ours):
    str(parse_metric(ours))  # it is a name
    for ask in (parse_metric, lambda n: evaluate([1], [1], qid=[1], metrics=[n]), get_scorers):
        with pytest.raises(ValueError, match=r"Did you mean .*\?$") as caught:
            ask(name)
        assert str(caught.value).endswith(f"Did you mean {ours!r}?")
    if not name.startswith("neg_"):
        with pytest.raises(ValueError, match="Did you mean"):
            get_scorer(name)


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


def test_notation_is_of_names_that_the_parser_reads():
    known = {alias for metric in REGISTRY.values() for alias in (metric.name, *metric.aliases)}
    assert NOTATION.keys() <= known


def test_tables_print_the_notation_and_hold_the_name():
    table = evaluate([0, 1], [2, 1], qid=[1, 1], metrics=["ndcg@1", "map"]).summary()
    assert "nDCG@1" in str(table)
    assert [row[0] for row in table.rows] == table.to_frame()["metric"].tolist() == ["ndcg@1", "map"]
    assert {type(name) for name in table.to_frame()["metric"]} == {str}
    again = pickle.loads(pickle.dumps(table))
    assert str(again) == str(table)
