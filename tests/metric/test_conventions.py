"""convention=, tie_break=, tie_range: the same data, other libraries' numbers, and how far ties can move them."""

from io import BytesIO
from math import log2

import numpy as np
import pytest
from registry import labels_of, policies, tie_policy
from scipy.sparse import csr_array

from sklearn_rank import evaluate, evaluate_table, get_scorer, parse_metric
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.io import join, read_qrels, read_run
from sklearn_rank.metrics import (
    acg_score,
    fall_out_error,
    map_score,
    mrr_score,
    ndcg_score,
    pairwise_accuracy_score,
    precision_at_k_score,
    query_auc_score,
    relevance_position_error,
    set_precision_score,
)

# Four queries: ties across the cutoff; no relevant document; two documents; an ordinary graded list.
Y = [0, 0, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1]
S = [0.9, 0.5, 0.5, 0.5, 0.5, 0.1, 0.4, 0.3, 0.2, 0.1, 0.2, 0.7, 0.1, 0.9, 0.8, 0.4, 0.7, 0.3, 0.2]
QID = np.repeat([1, 2, 3, 4], [6, 4, 2, 7])
DOC = [f"d{i}" for n in (6, 4, 2, 7) for i in range(n)]

MEASURED = [  # printed by these versions of the libraries for these data
    ("sklearn", ndcg_score, 3, 0.31108),  # scikit-learn 1.9.1
    ("ranx", ndcg_score, 3, 0.32321),  # ranx 0.3.21 "ndcg"
    ("rax", ndcg_score, 3, 0.30523),  # rax 0.4.0
    ("trec_eval", ndcg_score, 3, 0.28328),  # pytrec_eval 0.5.11, ir_measures 0.4.3
    ("xgboost", ndcg_score, 3, 0.55523),  # xgboost 3.2.0 "ndcg@3"
    ("lightgbm", ndcg_score, 3, 0.55523),  # lightgbm 4.7.0
    ("catboost", ndcg_score, 3, 0.49336),  # catboost 1.2.10 type=Base
    ("xgboost", map_score, 3, 0.5),
    ("lightgbm", map_score, 3, 0.5),
    ("catboost", map_score, 3, 0.22222),
    ("ranx", map_score, 3, 0.22569),
    ("rax", map_score, 3, 0.22569),
    ("torchmetrics", map_score, 3, 0.35417),  # by its formula
    ("trec_eval", precision_at_k_score, 5, 0.25),
    ("ranx", precision_at_k_score, 5, 0.25),
    ("xgboost", precision_at_k_score, 5, 0.325),
    ("catboost", precision_at_k_score, 5, 0.325),
    ("rax", precision_at_k_score, 5, 0.325),
    ("catboost", mrr_score, None, 0.3125),
    ("trec_eval", mrr_score, None, 0.33333),
    ("catboost", query_auc_score, None, 0.13889),
]


@pytest.mark.parametrize(("convention", "function", "k", "value"), MEASURED)
def test_numbers_of_other_libraries(convention, function, k, value):
    keywords = {"k": k} if k else {}
    if convention == "trec_eval":
        keywords["tie_break"] = DOC
    assert function(Y, S, qid=QID, convention=convention, **keywords) == pytest.approx(value, abs=5.1e-6)


def pairs_of(query):
    """Whether each pair of documents with different labels is ranked correctly; tied pairs are not."""
    rows = np.flatnonzero(QID == query)
    return [S[i] > S[j] for i in rows for j in rows if Y[i] > Y[j]]


def test_pairs_of_other_libraries():
    """Tied pairs are wrong; TF-Ranking and CatBoost count pairs of all queries, Rax takes the mean over queries."""
    pairs = [pairs_of(query) for query in (1, 2, 3, 4)]
    names = {c: f"opa(convention={c})" for c in ("tf_ranking", "catboost", "rax")}
    found = evaluate(Y, S, qid=QID, metrics=names.values()).mean()
    assert found[names["tf_ranking"]] == found[names["catboost"]] == pytest.approx(np.concatenate(pairs).mean())
    assert found[names["rax"]] == pytest.approx(np.mean([np.mean(p or [0]) for p in pairs]))
    assert len({round(value, 5) for value in found.values()}) == 2


def test_average_relevance_position_of_tf_ranking_weights_queries_by_labels():
    """A document of label 1 at rank 2; then documents of labels 2 and 1 at ranks 1 and 3."""
    y_true, y_score, qid = [0, 1, 2, 0, 1], [2, 1, 3, 2, 1], [1, 1, 2, 2, 2]
    assert relevance_position_error(y_true, y_score, qid=qid) == pytest.approx((2 + 5 / 3) / 2)
    assert relevance_position_error(y_true, y_score, qid=qid, convention="tf_ranking") == (2 + 5) / (1 + 3)


def test_fall_out_of_torchmetrics_is_1_without_a_negative_document():
    y_true, y_score, qid = [1, 1, 0, 1], [2, 1, 2, 1], [1, 1, 2, 2]
    assert fall_out_error(y_true, y_score, qid=qid, k=1) == 0.5
    assert fall_out_error(y_true, y_score, qid=qid, k=1, convention="torchmetrics") == 1


def test_average_precision_of_spark_without_a_cutoff():
    """It divides by all relevant documents: one of three is predicted, at rank 1 of 1."""
    y_true, y_score, qid = [1, 1, 1], [1, -np.inf, -np.inf], [1, 1, 1]
    assert map_score(y_true, y_score, qid=qid, convention="spark") == 1 / 3
    assert map_score(y_true, y_score, qid=qid, convention="spark", k=[1, 2, 9]).tolist() == [1, 1 / 2, 1 / 3]


@pytest.mark.parametrize("k", [1, 3, 5, 20])
def test_query_average_of_catboost(k):
    utils = pytest.importorskip("catboost.utils")
    (theirs,) = utils.eval_metric(Y, S, f"QueryAverage:top={k}", group_id=QID)
    assert acg_score(Y, S, qid=QID, k=k, convention="catboost") == pytest.approx(theirs)


def test_pair_accuracy_of_catboost():
    utils = pytest.importorskip("catboost.utils")
    n = range(len(Y))
    pairs = [(i, j) for i in n for j in n if QID[i] == QID[j] and Y[i] > Y[j]]
    (theirs,) = utils.eval_metric(Y, S, "PairAccuracy", group_id=QID, pairs=pairs)
    assert pairwise_accuracy_score(Y, S, qid=QID, convention="catboost") == pytest.approx(theirs)


def test_ranking_auc_of_catboost_with_grades():
    utils = pytest.importorskip("catboost.utils")
    (theirs,) = utils.eval_metric(Y, S, "QueryAUC:type=Ranking", group_id=QID)
    assert pairwise_accuracy_score(Y, S, qid=QID) == pytest.approx(theirs)


def test_seven_values_of_one_metric():
    found = {round(ndcg_score(Y, S, qid=QID, k=3, convention=c), 5) for c in CONVENTIONS if c != "trec_eval"}
    found.add(round(ndcg_score(Y, S, qid=QID, k=3, convention="trec_eval", tie_break=DOC), 5))
    found.add(round(ndcg_score(Y, S, qid=QID, k=3, convention="catboost", gain="exp2"), 5))
    assert found >= {0.31108, 0.32321, 0.30523, 0.28328, 0.55523, 0.49336, 0.46445}


@pytest.mark.parametrize("convention", CONVENTIONS)
def test_every_convention_sets_existing_keywords(convention):
    for name, keywords in CONVENTIONS[convention].items():
        metrics = REGISTRY.values() if name == "" else [REGISTRY[name]]
        for keyword, value in keywords.items():
            takers = [m for m in metrics if keyword in m.defaults]
            assert takers, (name, keyword)
            for metric in takers:
                if keyword == "ties" and value not in policies(metric):
                    continue  # keywords of subtopics, which keep their default
                parse_metric(metric.function, **{keyword: value})  # the value passes the rule of the keyword


@pytest.mark.parametrize("name", sorted(REGISTRY))
def test_every_metric_takes_every_convention(name):
    scores = [s + 0.001 * i for i, s in enumerate(S)]  # no ties, because some denominators reject them
    for convention in CONVENTIONS:
        spec = parse_metric(f"{name}(convention={convention})")
        assert str(parse_metric(str(spec))) == str(spec)
        labels = np.minimum(Y, 1) if "stop" in spec.metric.formula_params and spec["stop"] == "label" else Y
        labels = np.minimum(labels, labels_of(spec.metric)[-1])
        value = evaluate(labels, scores, qid=QID, metrics=[str(spec)]).mean()[str(spec)]
        assert np.isfinite(value), convention


NAN = float("nan")
UNJUDGED = {"judged": 0.5, "rbp_residual": 0.8**4 + 0.2 * (1 + 0.8**3), "bpref": 1.0, "infap": 0.5}
"""Of the labels NaN, 1, 0, NaN in ranked order; p is 0.8."""


@pytest.mark.parametrize("convention", [None, *sorted(CONVENTIONS.keys() - {"tf_ranking", "keras_rs"})])
def test_conventions_keep_unjudged_documents_for_metrics_that_read_them(convention):
    assert {name for name, metric in REGISTRY.items() if metric.reads_unjudged} == {*UNJUDGED}
    rows = {"y_true": [NAN, 1, 0, NAN], "y_score": [4, 3, 2, 1], "qid": ["q"] * 4}
    residual = 0.9**4 + 0.1 * (1 + 0.9**3) if convention == "trec_eval" else UNJUDGED["rbp_residual"]
    expected = UNJUDGED | {"rbp_residual": residual}
    assert evaluate(**rows, metrics=[*UNJUDGED], convention=convention).mean() == pytest.approx(expected)
    for name, value in expected.items():
        assert REGISTRY[name].function(**rows, convention=convention) == pytest.approx(value)
        assert REGISTRY[name].function(**rows, convention=convention, unjudged="drop") != value or name == "bpref"


@pytest.mark.parametrize("convention", ["tf_ranking", "keras_rs"])
def test_padding_is_removed_for_metrics_that_read_unjudged_documents(convention):
    """Labels 1 and 0 are left; p is 0.8."""
    expected = {"judged": 1.0, "rbp_residual": 0.8**2, "bpref": 1.0, "infap": 1.0}
    for padding in (NAN, -1):
        rows = {"y_true": [padding, 1, 0, padding], "y_score": [4, 3, 2, 1], "qid": ["q"] * 4}
        assert evaluate(**rows, metrics=[*UNJUDGED], convention=convention).mean() == pytest.approx(expected)


POOLED = {"infAP": 0.6875, "bpref": 0.5, "ndcg": (1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3)), "map": 0.5}
"""Of the labels -1, 1, 0, 1 in ranked order, by trec_eval's formulas.

infAP: the relevant ones stand at ranks 2, below one document of the pool that nobody judged, and 4, below three of the
pool, two of them judged, one relevant: (1/2 + 1/2 * 1 * 1/2 + 1/4 + 3/4 * 1 * 1/2) / 2. bpref: one judged non-relevant
document, above the second: (1 + 0) / 2. To nDCG and AP the first document is not relevant: AP is (1/2 + 2/4) / 2.
"""
QRELS, RUN = b"q 0 a -1\nq 0 b 1\nq 0 c 0\nq 0 d 1\n", b"q Q0 a 1 4 t\nq Q0 b 2 3 t\nq Q0 c 3 2 t\nq Q0 d 4 1 t\n"


@pytest.mark.parametrize("convention", ["trec_eval", "ranx"])
@pytest.mark.parametrize("how", [{}, {"negative": "keep"}, {"negative": "unjudged"}, {"tie_order": "trec_eval"}])
def test_pooled_and_unjudged_is_the_same_for_all_metrics(how, convention):
    data = join(read_qrels(BytesIO(QRELS)), read_run(BytesIO(RUN)), **how)
    keywords = {"metrics": [*POOLED], "convention": convention}
    expected = pytest.approx(POOLED, abs=1e-5)  # infAP adds this constant to the judged documents
    for dtype in (np.float64, np.float32):
        found = evaluate(data.y_true.astype(dtype), data.y_score, qid=data.qid, **keywords)
        assert found.mean() == expected
    batch = {"label": data.y_true, "score": data.y_score, "qid": np.asarray(data.qid)}
    assert evaluate_table([batch], **keywords).mean() == found.mean()
    beside = evaluate([1, *data.y_true, 1], [1, *data.y_score, 1], qid=[0, 1, 1, 1, 1, 2], **keywords).per_query
    assert {name: values[1] for name, values in beside.items()} == expected


def test_pooled_and_unjudged_with_sparse_judgments():
    labels = csr_array(np.array([[-1.0, 1, 0, 1, -1]]))
    for scores in (csr_array(np.array([[4.0, 3, 2, 1, 0]])), np.array([[4.0, 3, 2, 1, -np.inf]])):
        found = evaluate(labels, scores, metrics=[*POOLED, "recall@2"], convention="trec_eval").mean()
        assert found == pytest.approx(POOLED | {"recall@2": 0.5}, abs=1e-5)


def test_negative_labels_follow_the_keyword():
    rows = {"y_true": [-1, 1, 0, 1], "y_score": [4, 3, 2, 1], "qid": ["q"] * 4}
    names = [
        "dcg(gain=linear)",
        "dcg(gain=linear, negative=unjudged, unjudged=drop)",
        "bpref",
        "bpref(negative=unjudged)",
    ]
    expected = [-1 + 1 / log2(3) + 1 / log2(5), 1 + 1 / log2(4), (1 / 2 + 0) / 2, 0.5]
    assert [*evaluate(**rows, metrics=names).mean().values()] == pytest.approx(expected)
    assert evaluate(**rows, metrics="dcg", convention="trec_eval", negative="keep").mean()["dcg"] == expected[0]
    with pytest.raises(ValueError, match="below 0. Got -1, the first in row 0. negative='unjudged' reads"):
        ndcg_score(**rows)
    with pytest.raises(ValueError, match="must not contain NaN or a negative label .* unless unjudged="):
        ndcg_score(**rows, negative="unjudged")
    with pytest.raises(ValueError, match="as label 0, so min_relevance must be above 0"):
        map_score(**rows, convention="trec_eval", min_relevance=0)


@pytest.mark.parametrize("convention", ["tf_ranking", "keras_rs"])
def test_negative_labels_are_padding_if_the_system_pads_with_them(convention):
    """These libraries keep only labels of at least 0, so a padded document takes no rank and is in no pair."""
    rows = {"y_true": [-1, 1, 0, 2, -1], "y_score": [5, 4, 3, 2, 1], "qid": ["q"] * 5}
    ideal = 3 + 1 / log2(3)
    expected = {"mrr": 1, "precision@2": 1 / 2, "precision": 2 / 3, "map": (1 + 2 / 3) / 2}
    expected |= {"ndcg": (1 + 3 / 2) / ideal, "ndcg@2": 1 / ideal, "opa": 1 / 3}
    assert evaluate(**rows, metrics=[*expected], convention=convention).mean() == pytest.approx(expected)
    kept = {name: values[1:4] for name, values in rows.items()}
    assert evaluate(**kept, metrics=[*expected], convention=convention).mean() == pytest.approx(expected)


def test_an_explicit_keyword_overrides_the_convention():
    given = ndcg_score(Y, S, qid=QID, k=3, convention="lightgbm", replace_undefined_by=0)
    assert given == ndcg_score(Y, S, qid=QID, k=3, ties="stable")
    by_name = evaluate(Y, S, qid=QID, metrics=["ndcg(convention=lightgbm, gain=linear)@3"]).mean()
    assert by_name == {"ndcg(convention=lightgbm, gain=linear)@3": ndcg_score(
        Y, S, qid=QID, k=3, ties="stable", replace_undefined_by=1, gain="linear"
    )}  # fmt: skip
    shared = evaluate(Y, S, qid=QID, metrics=["ndcg@3", "map@3"], convention="xgboost").mean()
    assert shared["map@3"] == map_score(Y, S, qid=QID, k=3, convention="xgboost")
    assert "convention=xgboost" in repr(get_scorer("ndcg(convention=xgboost)@3"))


def test_a_convention_sets_only_keywords_of_the_metric():
    """Tau-b defines the treatment of equal scores itself, whatever the library does."""
    default = evaluate(Y, S, qid=QID, metrics=["kendall", "set_f(threshold=0.4)", "mse"])
    conventional = evaluate(Y, S, qid=QID, metrics=["kendall", "set_f(threshold=0.4)", "mse"], convention="catboost")
    assert default.mean() == conventional.mean()


def test_unknown_conventions():
    with pytest.raises(
        ValueError, match="The 'convention' parameter of ndcg_score must be None, 'sklearn', .* Got 'trec'"
    ):
        ndcg_score(Y, S, qid=QID, convention="trec")


def test_tie_break_orders_equal_scores():
    rows = np.random.default_rng(0).permutation(len(Y))
    shuffled = [np.asarray(a)[rows] for a in (Y, S, QID, DOC)]
    keywords = {"k": 3, "convention": "trec_eval"}
    expected = ndcg_score(Y, S, qid=QID, tie_break=DOC, **keywords)
    assert ndcg_score(*shuffled[:2], qid=shuffled[2], tie_break=shuffled[3], **keywords) == pytest.approx(expected)
    falling = -np.arange(len(Y))
    assert ndcg_score(Y, S, qid=QID, k=3, ties="stable", tie_break=falling) == ndcg_score(
        Y, S, qid=QID, k=3, ties="stable"
    )
    matrix = ndcg_score([[1, 0, 0]], [[1, 1, 1]], k=1, ties="stable", tie_break=[["a", "b", "c"]])
    assert matrix == 0
    result = evaluate(Y, S, qid=QID, metrics=["ndcg@3"], tie_break=DOC, convention="trec_eval")
    assert result.mean()["ndcg@3"] == expected


@pytest.mark.parametrize(
    ("tie_break", "message"),
    [
        (DOC[:3], r"one entry per row, shape \(19,\). Got shape \(3,\)"),
        ([1.0, np.nan] * 9 + [0], "must not contain missing values"),
        (np.array([1, "x"] * 9 + [0], dtype=object), "must hold values that sort"),
    ],
)
def test_bad_tie_breaks(tie_break, message):
    with pytest.raises(ValueError, match=message):
        ndcg_score(Y, S, qid=QID, ties="stable", tie_break=tie_break)


def test_tie_break_without_stable_ties():
    with pytest.raises(ValueError, match="read with ties='stable' only. Got ties='average'"):
        ndcg_score(Y, S, qid=QID, tie_break=DOC)
    with pytest.raises(ValueError, match="read with ties='stable' only"):
        evaluate(Y, S, qid=QID, metrics=["ndcg"], tie_break=DOC)


def test_tie_break_has_no_effect_without_ties():
    rows = {"y_true": Y, "y_score": S, "qid": QID}
    expected = evaluate(**rows, metrics=["set_precision", "kendall"]).mean()
    assert evaluate(**rows, metrics=["set_precision", "kendall"], tie_break=DOC).mean() == expected
    assert set_precision_score(**rows, tie_break=DOC) == expected["set_precision"]
    for keywords in ({}, {"convention": "trec_eval"}):
        names = ["set_precision", "set_recall", "set_f"]
        assert len(evaluate(**rows, metrics=names, tie_break=DOC, **keywords).mean()) == 3
    with pytest.raises(ValueError, match="read with ties='stable' only"):
        evaluate(**rows, metrics=["set_precision", "ndcg"], tie_break=DOC)


def test_tie_range():
    """For all metrics in one call, except those without a worst and best order of tied documents."""
    labels = np.minimum(Y, 1)
    policy = {name: "(ties=best)" * bool(tie_policy(metric)) for name, metric in REGISTRY.items()}
    names = [name + policy[name] + "@3" * metric.has_cutoff for name, metric in REGISTRY.items()]
    result = evaluate(labels, S, qid=QID, metrics=names)
    table = {row[0]: row[1:] for row in result.tie_range().rows}
    ranges = {name: parse_metric(name) for name in names if "worst" in policies(parse_metric(name).metric)}
    assert table.keys() == ranges.keys()
    assert {"kendall", "spearman", "set_f", "mse", "alpha_ndcg@3"} & table.keys() == set()
    for name, spec in ranges.items():
        ends = [spec.metric(labels, S, qid=QID, k=spec.k, ties=ties) for ties in ("worst", "best")]
        assert table[name][:-1] == (result.mean()[name], *ends)
    assert table["mrr@3"][1] < table["mrr@3"][0] < table["mrr@3"][2]


def test_how_many_queries_are_tied():
    result = evaluate(Y, S, qid=QID, metrics=["ndcg@3", "map", "p@5", "rmse"])
    ties = {row[0]: row[-1] for row in result.tie_range().rows}
    assert ties == result.n_tied == {"ndcg@3": 1, "map": 1, "p@5": 0}


def test_tie_range_contains_every_order(rng):
    y, s = rng.integers(0, 4, 400), rng.integers(0, 4, 400).astype(float)
    qid = np.repeat(np.arange(40), 10)
    result = evaluate(y, s, qid=qid, metrics=["ndcg@4", "map", "err", "auc"])
    orders = [rng.random(400) for _ in range(50)]
    for name, _, worst, best, _ in result.tie_range().rows:
        spec = parse_metric(name)
        keywords = {"k": spec.k} if spec.k else {}
        values = [spec.metric.function(y, s, qid=qid, ties="stable", tie_break=o, **keywords) for o in orders]
        assert worst <= min(values) <= max(values) <= best
    straddled = sum(np.sort(s[qid == q])[-4] == np.sort(s[qid == q])[-5] for q in range(40))
    assert result.n_tied["ndcg@4"] == straddled
