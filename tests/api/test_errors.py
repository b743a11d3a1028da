"""Bad input: each error names the rule, the value, and the way out."""

from functools import partial

import numpy as np
import pytest
from registry import repr_without_address, together
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_rank import (
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    group_sizes,
    make_ranking_scorer,
    parse_metric,
    prepare,
    qid_from_group_sizes,
    query_permutation_importance,
)
from sklearn_rank.boosting import lightgbm_metric
from sklearn_rank.metrics import (
    alpha_dcg_score,
    dcg_score,
    err_ia_score,
    err_score,
    kendall_score,
    map_score,
    ndcg_score,
    query_auc_score,
    query_mse_error,
    rbp_score,
)
from sklearn_rank.retrieval import evaluate_retrieval, make_retrieval_scorer, score_neighbors

Y, S, Q = [2, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], ["a", "a", "b", "b"]
NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("y_true", "y_score", "keywords", "message"),
    [
        (Y[:3], S, {"qid": Q}, r"y_true and y_score must have one entry per row. Got 3 and 4 entries"),
        (Y, S, {}, r"pass qid=, or give y_true as a pandas Series whose index has a level named 'qid'. Got neither"),
        (Y, S, {"qid": Q[:3]}, r"query of each row, so it needs 4 entries. Got 3 .* np.repeat\(ids, sizes\)"),
        (Y, S, {"qid": Q + ["c"]}, r"needs 4 entries. Got 5 instead.$"),
        (Y, S, {"qid": [3, 1]}, r"qid=qid_from_group_sizes\(sizes\)"),
        (Y, S, {"qid": np.array([[1, 1, 2, 2]])}, r"qid must be one-dimensional.*Got shape \(1, 4\)"),
        (Y, S, {"qid": ["a", "a", None, "b"]}, r"qid must not contain missing values"),
        (Y, S, {"qid": [1.0, 1.0, NAN, 2.0]}, r"qid must not contain missing values"),
        (Y, S, {"qid": [(1, []), (1, []), 2, 2]}, r"Query ids must be hashable.*unhashable type"),
        (Y, [4, NAN, 2, 1], {"qid": Q}, r"must not contain NaN or \+inf .*not retrieved\). Got nan in row 1"),
        (Y, [4, 3, 2, INF], {"qid": ["b", "a", "b", "a"]}, r"Got inf in row 3"),
        ([2, NAN, 1, 0], S, {"qid": Q}, r"unjudged='nonrelevant' or unjudged='drop'.*Got 1 NaN, the first in row 1"),
        ([2, INF, 1, 0], S, {"qid": Q}, r"y_true must be finite. Got an infinite label in row 1"),
        ([2, 0, -1, 0], S, {"qid": Q}, r"y_true of ndcg_score must not be below 0. Got -1, the first in row 2"),
        ([], [], {"qid": []}, r"At least one row is needed. Got empty"),
        ([[]], [[]], {}, r"At least one row and one column"),
        (
            [Y],
            [S],
            {"qid": Q},
            r"each row is a query and qid must be None or have one id for each row. Got shape \(1, 4\)",
        ),
        ([Y], [S[:3]], {}, r"same shape. Got \(1, 4\) and \(1, 3\)"),
        (Y, [[1, 2]] * 4, {"qid": Q}, r"one score per row.*Got shape \(4, 2\).*QueryRanker"),
        (Y, S, {"qid": Q, "sample_weight": [1, 2, 1, 1]}, r"constant within each. Got 1 and 2 in query 'a'"),
        (
            Y,
            S,
            {"qid": Q, "sample_weight": [1, 1]},
            r"sample_weight must have one entry per row \(4\). Got shape \(2,\)",
        ),
        (Y, S, {"qid": Q, "sample_weight": [-1, -1, 1, 1]}, r"not negative and not all zero. Got values from -1.0"),
        (Y, S, {"qid": Q, "sample_weight": [0] * 4}, r"not all zero"),
        ([Y], [S], {"sample_weight": [1] * 4}, r"one entry per query \(1\). Got shape \(4,\)"),
        (Y, S, {"qid": Q, "ties": "random"}, r"'average', 'stable', 'worst' or 'best'. Got 'random' instead"),
        (
            Y,
            S,
            {"qid": Q, "min_relevance": NAN},
            r"The 'min_relevance' parameter of ndcg_score must be a finite number",
        ),
        (Y, S, {"qid": Q, "replace_undefined_by": "0"}, r"must be a float, nan or 'empty'. Got '0'"),
        (Y, S, {"qid": Q, "unjudged": "skip"}, r"must be None, 'nonrelevant' or 'drop'. Got 'skip'"),
        (Y, S, {"qid": Q, "gain": "exp"}, r"The 'gain' parameter of ndcg_score must be 'exp2', 'linear'.*Got 'exp'"),
        (Y, S, {"qid": Q, "gain": [0, 2, 1]}, r"gains by grade that do not fall.*Got \[0, 2, 1\]"),
        (
            [np.nan, 2],
            [1, 2],
            {"qid": [1, 1], "unjudged": "nonrelevant", "gain": lambda y: y - 1},
            r"Got -1 for label 0",
        ),
        (Y, S, {"qid": Q, "gain": {0: 1, 1: 0}}, r"gains by grade that do not fall"),
        ([2000, 0, 1, 0], S, {"qid": Q}, r"y_true must not be above 1000; use gain='linear'.*Got 2000"),
        (Y, S, {"qid": Q, "min_relevance": 10**400}, r"must be a finite number"),
        (Y, S, {"qid": Q, "n_jobs": 0}, r"The 'n_jobs' parameter must be an int other than 0, or None. Got 0"),
        (Y, S, {"qid": Q, "n_jobs": "2"}, r"The 'n_jobs' parameter"),
        (Y, S, {"qid": Q, "gain": [0, 1]}, r"entry for every value in y_true. Got 2 in row 0"),
        (Y, S, {"qid": Q, "gain": lambda y: y[:1]}, r"one finite number for each entry"),
        (Y, S, {"qid": Q, "discount": [1.0]}, r"weight for each rank that is read, 2 here. Got 1 .*k=1"),
        (Y, S, {"qid": Q, "discount": "log"}, r"The 'discount' parameter"),
        (Y, S, {"qid": Q, "base": 1}, r"must be a number > 1. Got 1 instead"),
    ],
)
def test_bad_data_and_keywords(y_true, y_score, keywords, message):
    with pytest.raises(ValueError, match=message):
        ndcg_score(y_true, y_score, **keywords)


@together("k", [0, -3, 2.5, True, "3", [], [1, 0], [[1]], NAN, np.bool_(True)])
def test_k_is_a_count(k):
    with pytest.raises(ValueError, match=r"The 'k' parameter of ndcg_score must be an int >= 1, a sequence of them"):
        ndcg_score(Y, S, qid=Q, k=k)


@pytest.mark.parametrize("k", [2, np.int32(2), np.uint8(2)])
def test_numpy_integers_are_counts(k):
    assert ndcg_score(Y, S, qid=Q, k=k) == ndcg_score(Y, S, qid=Q, k=2)


@pytest.mark.parametrize(
    "labels", [["1", "0", "1", "0"], [1j, 0, 1, 0], np.array(["2020"] * 4, "M8[Y]"), [{}, 0, 1, 0]]
)
def test_labels_are_real_numbers(labels):
    with pytest.raises(TypeError, match="y_true must hold real numbers. Got"):
        ndcg_score(labels, S, qid=Q)
    with pytest.raises(TypeError, match="y_score must hold real numbers. Got"):
        ndcg_score(Y, labels, qid=Q)


def test_objects_of_numbers_are_numbers():
    assert ndcg_score(np.array(Y, dtype=object), S, qid=Q) == ndcg_score(Y, S, qid=Q)


def test_unknown_keyword_lists_the_known_keywords():
    with pytest.raises(TypeError, match=r"ndcg_score has no keyword 'topn'. It takes qid, k, gain, discount, base"):
        ndcg_score(Y, S, qid=Q, topn=3)


QIDS = ("group", "groups", "group_id", "qids", "query_id")
CUTOFFS = ("at", "topk", "top_k", "n", "cutoff")


@pytest.mark.parametrize("name", [*QIDS, *CUTOFFS, "weights", "nothing_known"])
def test_keyword_names_of_other_libraries(name):
    """The message lists qid and k, and says which of them the name means."""
    hints = dict.fromkeys(QIDS, "qid= is the query of each row.*qid_from_group_sizes")
    hints |= dict.fromkeys(CUTOFFS, "k= is the cutoff") | {"weights": "sample_weight="}
    hint = hints.get(name, "$")
    with pytest.raises(TypeError, match=rf"ndcg_score has no keyword '{name}'. It takes qid, k, gain.*n_jobs. ?{hint}"):
        ndcg_score(Y, S, qid=Q, **{name: Q})
    with pytest.raises(TypeError, match=rf"make_ranking_scorer has no keyword '{name}'.*{hint}"):
        make_ranking_scorer("ndcg", **{name: 3})
    hint = "goes into the name of a metric: 'ndcg@10'" if name in CUTOFFS else hint
    with pytest.raises(TypeError, match=rf"evaluate has no keyword '{name}'.*{hint}"):
        evaluate(Y, S, qid=Q, metrics="ndcg", **{name: Q})
    model, evaluator, ranker = Ridge().fit(np.eye(4), Y), RankingEvaluator("ndcg"), QueryRanker(Ridge())
    for call, arguments in (
        (evaluator.compare, ({"r": Ridge()}, np.eye(4), Y)),
        (evaluator.cross_validate, (Ridge(), np.eye(4), Y)),
        (evaluator.search, (GridSearchCV(Ridge(), {}), np.eye(4), Y)),
        (evaluator.split, (np.eye(4), Y)),
        (ranker.fit, (np.eye(4), Y)),
        (make_ranking_scorer(["ndcg"]), (model, np.eye(4), Y)),
        (query_permutation_importance, (model, np.eye(4), Y)),
    ):
        with pytest.raises(TypeError, match=rf"has no keyword '{name}'\..*{hint}"):
            call(*arguments, **{name: Q})


JUDGED, RUN, VECTORS = {"q": {"a": 1}}, {"q": {"a": 0.5}}, np.eye(2)
DOORS = {
    "evaluate": partial(evaluate, Y, S, qid=Q),
    "evaluate_table": partial(evaluate_table, {"label": Y, "score": S, "qid": Q}),
    "evaluate_run": partial(evaluate_run, JUDGED, RUN),
    "compare_systems": partial(compare_systems, Y, {"a": S}, qid=Q),
    "compare_systems of columns": partial(compare_systems, {"label": Y, "a": S, "qid": Q}, ["a"]),
    "compare_systems of runs": partial(compare_systems, JUDGED, {"a": RUN}),
    "evaluate_retrieval": partial(evaluate_retrieval, VECTORS, VECTORS, [0, 1], [0, 1]),
    "score_neighbors": partial(score_neighbors, VECTORS, [[0, 1], [1, 0]], [0, 1], [0, 1]),
    "prepare": partial(prepare, Y, qid=Q),
    "RankingAccumulator": RankingAccumulator,
    "RankingEvaluator": RankingEvaluator,
}


@pytest.mark.parametrize("door", DOORS)
def test_an_unknown_keyword_names_the_function_and_the_nearest_word(door):
    """No metric was named, so the message names no metric."""
    name = door.partition(" ")[0]
    for keyword, near in (("metric", "metrics"), ("convension", "convention")):
        with pytest.raises(TypeError, match=rf"^{name} has no keyword '{keyword}'\. Did you mean '{near}'\?$"):
            DOORS[door](**{keyword: "ndcg@10"})
    with pytest.raises(TypeError, match=rf"^{name} has no keyword 'nothing_known'\.$"):
        DOORS[door](nothing_known=1)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (partial(evaluate, Y, S, qid=Q, sampel_weight=1), "evaluate has no keyword 'sampel_weight'. Did .*_weight'"),
        (partial(evaluate_run, JUDGED, RUN, missing_form_run=1), "evaluate_run has no .* mean 'missing_from_run'"),
        (
            partial(compare_systems, JUDGED, {"a": RUN}, missing_form_run=1),
            "compare_systems has no keyword 'missing_form_run'. Did you mean 'missing_from_run'",
        ),
        (partial(make_ranking_scorer, "ndcg", respons_method=1), "make_ranking_scorer .* mean 'response_method'"),
        (
            partial(make_retrieval_scorer, metrics="map"),
            "make_retrieval_scorer has .* 'metrics'. Did you mean 'metric'",
        ),
        (partial(lightgbm_metric, "ndcg", n_job=1), "lightgbm_metric has no keyword 'n_job'. Did you mean 'n_jobs'"),
        (partial(ndcg_score, Y, S, qid=Q, gian=1), "ndcg_score has no keyword 'gian'. It takes .* Did you mean 'gain'"),
        (partial(group_sizes, Q, nothing_known=1), "nothing_known"),
        (
            partial(evaluate, Y, S, qid=Q, p=0.5),
            "^None of the default metrics ndcg@10, map, mrr, p@10, r@100 has a keyword 'p'.$",
        ),
    ],
)
def test_the_nearest_word_belongs_to_the_function_or_its_metrics(call, message):
    with pytest.raises(TypeError, match=message):
        call()


def test_hints_name_no_cutoff_without_one():
    with pytest.raises(TypeError, match="kendall_score has no keyword 'at'.*It has no cutoff"):
        kendall_score(Y, S, qid=Q, at=3)


def test_qid_by_position_is_an_error():
    model, evaluator = Ridge().fit(np.eye(4), Y), RankingEvaluator("ndcg")
    for call, arguments in (
        (ndcg_score, (Y, S)),
        (partial(evaluate, metrics="ndcg"), (Y, S)),
        (evaluator.compare, ({"r": Ridge()}, np.eye(4), Y)),
        (evaluator.cross_validate, (Ridge(), np.eye(4), Y)),
        (evaluator.split, (np.eye(4), Y)),
        (QueryRanker(Ridge()).fit, (np.eye(4), Y)),
        (query_permutation_importance, (model, np.eye(4), Y)),
    ):
        with pytest.raises(TypeError, match="by position and all else by name, such as qid="):
            call(*arguments, Q)


def test_a_missing_cutoff_is_named():
    with pytest.raises(ValueError, match="query_auc_score has no cutoff"):
        query_auc_score(Y, S, qid=Q, k=3)


@pytest.mark.parametrize(
    ("metric", "y_true", "keywords", "message"),
    [
        (ndcg_score, [[y, 1] for y in Y], {}, r"ndcg_score takes one label per document.*Got shape \(4, 2\)"),
        (
            query_auc_score,
            [[y] * 3 for y in Y],
            {},
            r"query_auc_score takes one label per document.*Got shape \(4, 3\)",
        ),
        (alpha_dcg_score, [[1, 0]] * 3, {}, r"must have one entry per row. Got 3 and 4 entries"),
        (alpha_dcg_score, np.empty((4, 0)), {}, r"At least one subtopic is needed.* Got shape \(4, 0\)"),
        (alpha_dcg_score, [[1, 0], [1, INF], [0, 0], [0, 0]], {}, r"Got an infinite label in row 1"),
        (alpha_dcg_score, np.ones((4, 2, 2)), {}, r"y_true must have one or two dimensions. Got 3"),
        (alpha_dcg_score, [[1, 0]] * 4, {"alpha": 1.1}, r"must be a number between 0 and 1. Got 1.1"),
        (alpha_dcg_score, [[1, 0]] * 4, {"qid": None}, r"the query of each row must be known"),
        (alpha_dcg_score, [[1, 0]] * 4, {"average": "micro"}, r"alpha_dcg_score has no micro average"),
        (err_ia_score, [[1, 0], [1, 0], [0, 2], [0, 0]], {}, r"not be above max_grade=1. Got 2, the first in row 2"),
        (err_ia_score, [[1, 0], [1, 0], [0, -1], [0, 0]], {}, r"must not be below 0. Got -1, the first in row 2"),
    ],
)
def test_labels_of_subtopics(metric, y_true, keywords, message):
    with pytest.raises(ValueError, match=message):
        metric(y_true, S, **{"qid": Q, **keywords})


def test_scale_of_grades():
    with pytest.raises(ValueError, match=r"y_true of err_score must not be above max_grade=1. Got 2, .* row 0"):
        err_score(Y, S, qid=Q, max_grade=1)
    with pytest.raises(ValueError, match="must not be above max_grade=4. Got 5"):
        rbp_score([5, 0, 1, 0], S, qid=Q, gain="exp2")
    assert rbp_score([5, 0, 1, 0], S, qid=Q) == rbp_score(Y, S, qid=Q)  # binary gain needs no scale
    with pytest.raises(ValueError, match="gain of max_grade must be above 0 in rbp_score. Got 0"):
        rbp_score([1, 0, 1, 0], S, qid=Q, gain=lambda label: 0 * label)
    with pytest.raises(ValueError, match="must have an entry for max_grade. Got max_grade=4"):
        rbp_score(Y, S, qid=Q, gain=[0, 1, 3])


def test_predictions_are_finite():
    with pytest.raises(ValueError, match=r"query_mse_error compares predictions .* Got -inf in row 3"):
        query_mse_error(Y, [1, 2, 3, -INF], qid=Q)


def test_unjudged_and_low_relevance_contradict():
    with pytest.raises(ValueError, match="min_relevance must be above 0. Got min_relevance=0"):
        map_score([NAN, 1, 1, 0], S, qid=Q, unjudged="nonrelevant", min_relevance=0)


def test_metrics_without_closed_form_list_the_policies():
    with pytest.raises(ValueError, match="use ties='stable', 'worst' or 'best'. Got ties='average'"):
        map_score(Y, [1, 1, 2, 1], qid=Q, denominator="retrieved_relevant")


def test_negative_labels_where_they_are_allowed():
    assert dcg_score([3, -1, 1], [3, 2, 1], qid=[0] * 3, gain="linear") == pytest.approx(3 - 1 / np.log2(3) + 1 / 2)


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("ndgc@10", ValueError, r"Got 'ndgc@10' instead. Did you mean 'ndcg@10'"),
        ("xyzzy", ValueError, r"must be one of get_metric_names\(\) or an alias. Got 'xyzzy' instead.$"),
        ("ndcg@", ValueError, "looks like"),
        ("ndcg@0", ValueError, "an int >= 1"),
        ("ndcg@2.5", ValueError, "an int >= 1.*Got 'ndcg@2.5'"),
        ("ndcg(gain)", ValueError, "goes keyword=value. Got 'gain'"),
        ("ndcg(gain=__import__)@3", ValueError, "The 'gain' parameter"),
        ("ndcg(gain=[1])", ValueError, "number or a word"),
        ("ndcg(gain=exp2, gain=linear)", ValueError, "set once"),
        ("ndcg(k=3)", ValueError, "goes after '@'"),
        ("f1(beta=2)", ValueError, "set once"),
        ("ndcg(p=0.5)", TypeError, "ndcg_score has no keyword 'p'"),
        ("auc@10", ValueError, "has no cutoff"),
        (3, TypeError, "A metric is a name"),
    ],
)
def test_bad_names(name, error, message):
    with pytest.raises(error, match=message):
        parse_metric(name)


@pytest.mark.parametrize(
    ("metrics", "keywords", "error", "message"),
    [
        ([], {}, ValueError, "At least one metric"),
        (["map", "map"], {}, ValueError, "'map' twice"),
        (["map"], {"k": 10}, TypeError, "cutoff goes into the name"),
        (["map"], {"gain": "linear"}, TypeError, "No metric of map has a keyword 'gain'"),
        (["map"], {"average": None}, ValueError, "one cutoff and a mean"),
    ],
)
def test_evaluate_arguments(metrics, keywords, error, message):
    with pytest.raises(error, match=message):
        evaluate(Y, S, qid=Q, metrics=metrics, **keywords)


def test_scorers_return_one_number():
    with pytest.raises(ValueError, match="A scorer returns one number"):
        make_ranking_scorer("ndcg", k=[1, 3])
    with pytest.raises(ValueError, match="A scorer returns one number"):
        make_ranking_scorer("ndcg", average=None)
    with pytest.raises(ValueError, match="Only errors have a scorer with 'neg_'"):
        make_ranking_scorer(["neg_ndcg@10"])


def test_group_sizes():
    with pytest.raises(ValueError, match="rows of each query must be adjacent"):
        group_sizes(["a", "b", "a"])
    for sizes in ([], [0, 2], [1.5], [[1]]):
        with pytest.raises(ValueError, match="Group sizes must be"):
            qid_from_group_sizes(sizes)
    assert group_sizes(qid_from_group_sizes([3, 1, 2])).tolist() == [3, 1, 2]


@pytest.mark.parametrize(
    "keyword", ["ties", "average", "unjudged", "convention", "gain", "discount", "base", "min_relevance"]
)
@pytest.mark.parametrize(
    "value", [np.array(["best", "x"]), np.array([1, 2]), np.array(3), ["best"], {}, object()], ids=repr_without_address
)
def test_keywords_take_any_object(keyword, value):
    if keyword in ("gain", "discount") and np.ndim(value) == 1 and np.asarray(value).dtype.kind == "i":
        return  # a table
    with pytest.raises(ValueError, match=f"The '{keyword}' parameter of ndcg_score must be"):
        ndcg_score(Y, S, qid=Q, **{keyword: value})


def test_long_values_are_shortened():
    with pytest.raises(ValueError, match="do not fall.* Got .* instead") as error:
        ndcg_score(Y, S, qid=Q, gain=list(range(10**5))[::-1])
    assert len(str(error.value)) < 400


@pytest.mark.filterwarnings("ignore:A label has the gain")
def test_exponential_gains_end_at_label_1000():
    assert dcg_score([1000, 0], [2, 1], qid=["a", "a"]) == 2.0**1000
    with pytest.raises(ValueError, match=r"must not be above 1000; use gain='linear'.* Got 1000\.5"):
        dcg_score([1000.5, 0], [2, 1], qid=["a", "a"])
