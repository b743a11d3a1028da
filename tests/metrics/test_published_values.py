"""Published values from the literature and scikit-learn, written as arithmetic, with their source."""

from math import inf, log2

import numpy as np
import pytest
import sklearn.metrics
from numpy.testing import assert_allclose
from registry import together

from sklearn_rank import evaluate
from sklearn_rank.metrics import (
    acg_score,
    cg_score,
    dcg_score,
    err_score,
    map_score,
    mrr_score,
    ndcg_score,
    query_auc_score,
    query_mae_error,
    query_mse_error,
    query_rmse_error,
    rbp_score,
)


def of_list(score, ranked, missing=(), **keywords):
    """A metric of one query with labels in ranked order; `missing`: labels of unretrieved documents."""
    y_score = [-float(i) for i in range(len(ranked))] + [-inf] * len(missing)
    return score([*ranked, *missing], y_score, qid=[0] * len(y_score), **keywords)


def of_lists(score, *lists, **keywords):
    """A metric over several queries, each a list of labels in ranked order."""
    qid = np.repeat(np.arange(len(lists)), [len(ranked) for ranked in lists])
    return score(np.concatenate(lists), -np.arange(len(qid)), qid=qid, **keywords)


def hits_at(*ranks, n=None):
    """Binary labels of a list with relevant documents at the given ranks."""
    return [int(i in ranks) for i in range(1, (n or max(ranks)) + 1)]


# --- cumulated gain ------------------------------------------------------------------------------------------

SIX = [3, 2, 3, 0, 1, 2]  # the list of Wikipedia's article "Discounted cumulative gain"
DCG_6 = 3 + 2 / log2(3) + 3 / log2(4) + 0 / log2(5) + 1 / log2(6) + 2 / log2(7)
IDEAL_6 = 3 + 3 / log2(3) + 2 / log2(4) + 2 / log2(5) + 1 / log2(6) + 0 / log2(7)
IDEAL_8 = 3 + 3 / log2(3) + 3 / log2(4) + 2 / log2(5) + 2 / log2(6) + 2 / log2(7)


def test_cumulated_gain_of_six_documents():
    """Wikipedia, "Discounted cumulative gain": CG 11; the mean gain is 11 / 6."""
    assert of_list(cg_score, SIX) == 3 + 2 + 3 + 0 + 1 + 2 == 11
    assert_allclose(of_list(acg_score, SIX), 11 / 6)
    assert_allclose(of_list(acg_score, SIX, k=[1, 2, 3, 4]), [3, 5 / 2, 8 / 3, 8 / 4])


def test_dcg_of_six_documents():
    """Wikipedia: DCG 6.861; with the discount of Järvelin and Kekäläinen, which leaves rank 1 as it is, 8.097."""
    found = of_list(dcg_score, SIX, gain="linear")
    assert_allclose(found, DCG_6)
    assert round(found, 3) == 6.861
    found = of_list(dcg_score, SIX, gain="linear", discount="jarvelin", base=2)
    assert_allclose(found, 3 + 2 / log2(2) + 3 / log2(3) + 0 / log2(4) + 1 / log2(5) + 2 / log2(6))
    assert round(found, 3) == 8.097


def test_ndcg_of_six_documents():
    """Wikipedia, older revision: 6.861 / 7.141 = 0.961."""
    found = of_list(ndcg_score, SIX, gain="linear")
    assert_allclose(found, DCG_6 / IDEAL_6)
    assert (round(IDEAL_6, 3), round(found, 3)) == (7.141, 0.961)


def test_ndcg_with_judged_documents_outside_the_list():
    """Wikipedia, newer revision: labels 3 and 2 were not retrieved, 6.861 / 8.740 = 0.785."""
    found = of_list(ndcg_score, SIX, [3, 2], gain="linear", k=6)
    assert_allclose(found, DCG_6 / IDEAL_8)
    assert (round(IDEAL_8, 3), round(found, 3)) == (8.740, 0.785)


def test_exponential_gain():
    """Burges et al. 2005: gain 2**rel - 1, so 7, 3, 7, 0, 1, 3 for the six documents."""
    expected = 7 + 3 / log2(3) + 7 / log2(4) + 1 / log2(6) + 3 / log2(7)
    assert_allclose(of_list(dcg_score, SIX), expected)
    ideal = 7 + 7 / log2(3) + 3 / log2(4) + 3 / log2(5) + 1 / log2(6)
    assert_allclose(of_list(ndcg_score, SIX), expected / ideal)


JARVELIN = [3, 2, 3, 0, 0, 1, 2, 2, 3, 0]
JARVELIN_DCG = [3, 5, 6.89, 6.89, 6.89, 7.28, 7.99, 8.66, 9.61, 9.61]
JARVELIN_IDEAL = [3, 6, 7.89, 8.89, 9.75, 10.52, 10.88, 11.21, 11.53, 11.83]


def test_jarvelin_and_kekalainen_vectors():
    """Järvelin and Kekäläinen, ACM TOIS 2002, section 2: CG, and DCG with b = 2, of ten documents."""
    keywords = {"gain": "linear", "discount": "jarvelin", "k": range(1, 11)}
    assert of_list(cg_score, JARVELIN, k=range(1, 11)).tolist() == [3, 5, 8, 8, 8, 9, 11, 13, 16, 16]
    assert_allclose(of_list(dcg_score, JARVELIN, **keywords), JARVELIN_DCG, atol=0.005)
    ideal = of_list(dcg_score, [3, 3, 3, 2, 2, 2, 1, 1, 1, 1, 0, 0, 0], **keywords)
    assert_allclose(ideal, JARVELIN_IDEAL, atol=0.01)  # printed digits are truncated, not rounded


def test_jarvelin_and_kekalainen_ndcg():
    """The same for nDCG: three more documents of relevance 1 were judged, so the ideal is 3, 3, 3, 2, 2, 2, 1 ..."""
    keywords = {"gain": "linear", "discount": "jarvelin", "k": range(1, 11)}
    found = of_list(ndcg_score, JARVELIN, [1, 1, 1], **keywords)
    assert_allclose(found, np.divide(JARVELIN_DCG, JARVELIN_IDEAL), atol=0.002)


def test_the_base_of_the_logarithm_is_the_patience_of_the_user():
    """With base 10 there is no discount for the first nine ranks, and log2 becomes log10(10) = 1 at rank 10."""
    found = of_list(dcg_score, JARVELIN, gain="linear", discount="jarvelin", base=10)
    assert found == of_list(cg_score, JARVELIN) == 16
    found = of_list(dcg_score, [0] * 99 + [1], gain="linear", discount="jarvelin", base=10)
    assert_allclose(found, 1 / 2)


def test_croft_metzler_and_strohman_ndcg():
    """Croft, Metzler and Strohman, "Search Engines", chapter 8; rank 4 is 6.89 / 8.89 = 0.775, not 0.76."""
    printed = [1, 0.83, 0.87, 0.775, 0.71, 0.69, 0.73, 0.80, 0.88, 0.88]
    found = of_list(ndcg_score, JARVELIN, gain="linear", discount="jarvelin", k=range(1, 11))
    assert_allclose(found, printed, atol=0.0051)


# --- binary relevance ----------------------------------------------------------------------------------------

TOPIC_1, TOPIC_2 = hits_at(1, 2, 4, 7), hits_at(1, 3, 5)


def test_average_precision_of_two_topics():
    """Four of four relevant at ranks 1, 2, 4, 7: AP 0.83; three of five at 1, 3, 5: AP 0.45; MAP 0.64."""
    first, second = (1 / 1 + 2 / 2 + 3 / 4 + 4 / 7) / 4, (1 / 1 + 2 / 3 + 3 / 5) / 5
    assert_allclose(of_list(map_score, TOPIC_1), first)
    assert_allclose(of_list(map_score, TOPIC_2, [1, 1]), second)
    label, score = [*TOPIC_1, *TOPIC_2, 1, 1], [*range(7, 0, -1), *range(5, 0, -1), -inf, -inf]
    assert_allclose(map_score(label, score, qid=[1] * 7 + [2] * 7), (first + second) / 2)
    assert (round(first, 2), round(second, 2), round((first + second) / 2, 2)) == (0.83, 0.45, 0.64)


FIRST_HITS = [hits_at(3), hits_at(1, n=2), hits_at(5)]


def test_mean_reciprocal_rank_with_an_unanswered_question():
    """First correct answers at ranks 3, 1, 5 and never: (1/3 + 1 + 1/5 + 0) / 4 = 0.383."""
    label = [*np.concatenate(FIRST_HITS), 0, 0, 1]
    score = [*-np.arange(12.0), -inf]  # the only relevant document of the last query was not retrieved
    qid = [0] * 3 + [1] * 2 + [2] * 5 + [3] * 3
    assert_allclose(mrr_score(label, score, qid=qid), (1 / 3 + 1 + 1 / 5 + 0) / 4)
    assert round(mrr_score(label, score, qid=qid), 3) == 0.383


# --- users who stop ------------------------------------------------------------------------------------------

GRADES = [3, 2, 4, 0]  # stop with probability 7/16, 3/16, 15/16, 0 on the scale of five grades
STOPS = [7 / 16, 9 / 16 * 3 / 16, 9 / 16 * 13 / 16 * 15 / 16, 0]


def test_expected_reciprocal_rank():
    """Chapelle et al. 2009: sum over r of 1/r * R_r * prod of 1 - R_i."""
    assert_allclose(of_list(err_score, GRADES), STOPS[0] + STOPS[1] / 2 + STOPS[2] / 3)
    assert_allclose(of_list(err_score, GRADES, k=2), STOPS[0] + STOPS[1] / 2)
    assert_allclose(of_list(err_score, [1, 0], max_grade=1), 1 / 2)


def test_expected_reciprocal_rank_with_the_discount_of_dcg():
    """1 / log2(r + 1) instead of 1 / r; Chapelle et al. allow any decreasing function of the rank."""
    expected = sum(p / log2(r + 1) for r, p in enumerate(STOPS, start=1))
    assert_allclose(of_list(err_score, GRADES, discount="log2"), expected)
    assert_allclose(of_list(err_score, GRADES, discount=lambda r: 1 / np.log2(r + 1)), expected)
    assert of_list(err_score, GRADES, discount="log2") > of_list(err_score, GRADES)


MOFFAT_ZOBEL = hits_at(1, 2, 6, 11, 17, n=20)


@pytest.mark.parametrize(("p", "printed"), [(0.5, 0.7661), (0.8, 0.4526), (0.95, 0.1881)])
def test_rank_biased_precision_of_moffat_and_zobel(p, printed):
    """Moffat and Zobel, ACM TOIS 2008: relevant documents at ranks 1, 2, 6, 11 and 17 of twenty."""
    found = of_list(rbp_score, MOFFAT_ZOBEL, p=p)
    assert_allclose(found, (1 - p) * (1 + p + p**5 + p**10 + p**16))
    assert round(found, 4) == printed


# --- scikit-learn --------------------------------------------------------------------------------------------


def test_the_examples_of_scikit_learn():
    """The docstrings of dcg_score and ndcg_score: 9.499, 5.63, 0.695, 0.493, 0.352, 1.0, 0.75."""
    label = [[10, 0, 0, 1, 5]]
    good, bad, tied = [[0.1, 0.2, 0.3, 4, 70]], [[0.05, 1.1, 1.0, 0.5, 0.0]], [[1, 0, 0, 0, 1]]
    ideal = 10 + 5 / log2(3) + 1 / 2
    by_good = 5 + 1 / log2(3) + 0 / log2(4) + 0 / log2(5) + 10 / log2(6)
    by_bad = 0 + 0 + 1 / 2 + 10 / log2(5) + 5 / log2(6)
    assert_allclose(dcg_score(label, good, gain="linear"), by_good)
    assert_allclose(dcg_score(label, good, gain="linear", k=2), 5 + 1 / log2(3))
    assert_allclose(ndcg_score(label, good, gain="linear"), by_good / ideal)
    assert_allclose(ndcg_score(label, bad, gain="linear"), by_bad / ideal)
    assert_allclose(ndcg_score(label, bad, gain="linear", k=4), (1 / 2 + 10 / log2(5)) / ideal)
    assert_allclose(ndcg_score(label, label, gain="linear", k=4), 1)
    assert_allclose(ndcg_score(label, tied, gain="linear", k=1), (10 + 5) / 2 / 10)
    assert_allclose(dcg_score(label, tied, gain="linear", k=1), 7.5)


def random_matrix(rng, *, grades=5, tied=True):
    n_queries, n_documents = rng.integers(1, 6), rng.integers(2, 15)
    label = rng.integers(0, grades, size=(n_queries, n_documents)) * (rng.random((n_queries, 1)) < 0.9)
    score = rng.random((n_queries, n_documents))
    return label, np.round(score, 1) if tied else score


@pytest.mark.parametrize("name", ["ndcg_score", "dcg_score"])
@together("seed", range(40))
def test_random_lists_match_scikit_learn(name, seed):
    rng = np.random.default_rng(seed)
    ours, theirs = {"ndcg_score": ndcg_score, "dcg_score": dcg_score}[name], getattr(sklearn.metrics, name)
    label, score = random_matrix(rng)
    weight = rng.random(len(label)) + 0.1
    for k in (None, 1, 3, label.shape[1], label.shape[1] + 3):
        expected = theirs(label, score, k=k)
        assert_allclose(ours(label, score, gain="linear", k=k), expected, rtol=1e-10, atol=1e-12)
        expected = theirs(label, score, k=k, sample_weight=weight)
        found = ours(label, score, gain="linear", k=k, sample_weight=weight)
        assert_allclose(found, expected, rtol=1e-10, atol=1e-12)
        exponential = theirs(2.0**label - 1, score, k=k)
        assert_allclose(ours(label, score, gain="exp2", k=k), exponential, rtol=1e-10, atol=1e-12)


@together("seed", range(40))
def test_random_queries_match_the_auc_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    label, score = random_matrix(rng, grades=2)
    expected = [
        sklearn.metrics.roc_auc_score(y, s) if 0 < y.sum() < len(y) else np.nan
        for y, s in zip(label, score, strict=True)
    ]
    assert_allclose(query_auc_score(label, score, average=None, replace_undefined_by=np.nan), expected)
    if 0 < label.sum() < label.size:
        flat = query_auc_score(label.ravel(), score.ravel(), qid=np.zeros(label.size))
        assert_allclose(flat, sklearn.metrics.roc_auc_score(label.ravel(), score.ravel()))


@pytest.mark.parametrize("tied", [False, True])
@together("seed", range(30))
def test_random_queries_match_the_average_precision_of_scikit_learn(seed, tied):
    label, score = random_matrix(np.random.default_rng(seed), grades=2, tied=tied)
    label[:, 0] = 1
    pairs = zip(label, score, strict=True)
    expected = [sklearn.metrics.average_precision_score(y, s) for y, s in pairs]
    assert_allclose(map_score(label, score, average=None, convention="sklearn"), expected)


@pytest.mark.parametrize("tied", [False, True])
@together("seed", range(30))
def test_random_queries_match_the_label_ranking_metrics_of_scikit_learn(seed, tied):
    label, score = random_matrix(np.random.default_rng(seed), grades=2, tied=tied)
    for weight in (None, np.arange(len(label)) + 1.0):
        result = evaluate(
            label, score, sample_weight=weight,
            metrics=["lrap", "coverage_error(convention=sklearn)", "auc(ties=worst, replace_undefined_by=1)"],
        )  # fmt: skip
        expected = (
            sklearn.metrics.label_ranking_average_precision_score(label, score, sample_weight=weight),
            sklearn.metrics.coverage_error(label, score, sample_weight=weight),
            1 - sklearn.metrics.label_ranking_loss(label, score, sample_weight=weight),
        )
        assert_allclose([*result.mean().values()], expected)


@together("seed", range(20))
def test_errors_of_one_query_match_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    y_true, y_score, qid = rng.integers(0, 5, size=40), rng.normal(2, 1, size=40), rng.integers(0, 6, size=40)
    pairs = [
        (query_mse_error, sklearn.metrics.mean_squared_error),
        (query_rmse_error, sklearn.metrics.root_mean_squared_error),
        (query_mae_error, sklearn.metrics.mean_absolute_error),
    ]
    for ours, theirs in pairs:
        expected = [theirs(y_true[qid == q], y_score[qid == q]) for q in dict.fromkeys(qid)]
        assert_allclose(ours(y_true, y_score, qid=qid, average=None), expected)
        assert_allclose(ours(y_true, y_score, qid=qid, average="micro"), theirs(y_true, y_score))
