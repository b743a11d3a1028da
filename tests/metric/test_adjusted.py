"""Values adjusted for chance, and the random order and best order they are computed from."""

from itertools import permutations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_rank import evaluate, metric, parse_metric, prepare
from sklearn_rank.metrics import (
    alpha_ndcg_score,
    cg_score,
    dcg_score,
    infap_score,
    kendall_score,
    map_score,
    mrr_score,
    ndcg_score,
    precision_at_k_score,
    query_mae_error,
    query_rmse_error,
    ranking_loss_error,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot tell good rankings")

LABEL, LAST = [1, 0, 0, 2], [1, 4, 3, 2]
NAMES = [
    "precision@1", "precision@3", "ndcg", "ndcg@2", "map", "map(ties=worst)@2", "map(precision_at=threshold)", "mrr@3",
    "ranking_loss", "relevance_position", "coverage_error", "auc(max_fpr=0.5)", "auc(tied_curve=straight, max_fpr=0.3)",
    "rbp(gain=exp2)", "dcg(min_relevance=2)@2",
]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("label", [[1, 0, 0, 2], [0, 0, 3], [2, 1, 1, 0, 0], [0, 2]])
def test_every_order(name, label):
    """Chance is the mean over all orders, and the best order has the highest value."""
    spec, qid = parse_metric(name), [0] * len(label)
    orders = [np.array(order, dtype=float) for order in permutations(range(len(label)))]
    values = np.array([evaluate(label, score, qid=qid, metrics={"one": spec}).mean()["one"] for score in orders])
    best = values.max() if spec.greater_is_better else values.min()
    for score, value in zip(orders, values, strict=True):
        result = evaluate(label, score, qid=qid, metrics={"one": spec, "two": "ndcg"}, replace_undefined_by=np.nan)
        assert result.chance().mean()["one"] == pytest.approx(values.mean())
        assert result.best().mean()["one"] == pytest.approx(best)
        found = evaluate(label, score, qid=qid, metrics={"one": spec}, adjusted=True).mean()["one"]
        expected = (value - values.mean()) / (best - values.mean()) if np.ptp(values) > 1e-9 else 0
        assert found == pytest.approx(expected, abs=1e-12)
        if len(label) > 4:
            return


@pytest.mark.parametrize(
    ("function", "keywords", "value"),
    [
        (precision_at_k_score, {"k": 1}, (0 - 1 / 2) / (1 - 1 / 2)),
        (precision_at_k_score, {"k": 1, "min_relevance": 2}, (0 - 1 / 4) / (1 - 1 / 4)),
        (ranking_loss_error, {}, (1 - 1 / 2) / (0 - 1 / 2)),
        (dcg_score, {"k": 1, "discount": [5]}, (0 - 1) / (3 - 1)),
        (dcg_score, {"discount": [0, 1, 2, 4]}, 0),
    ],
)
def test_adjusted_by_hand(function, keywords, value):
    assert function(LABEL, LAST, qid=[0] * 4, adjusted=True, **keywords) == pytest.approx(value)


@pytest.mark.parametrize("otherwise", [0.0, 0.25, np.nan])
def test_queries_whose_order_does_not_matter(otherwise):
    """Equal labels, a single document or no relevant document; also with negative values or rounding errors."""
    y = [1, 0, -2, -2, 5, 0.1, 0.1, 0.1, 0, 0]
    s, qid = [2, 1, 2, 1, 1, 3, 2, 1, 2, 1], [0, 0, 1, 1, 2, 3, 3, 3, 4, 4]
    values = cg_score(y, s, qid=qid, k=1, adjusted=True, replace_undefined_by=otherwise, average=None)
    assert_allclose(values, [1, *[otherwise] * 4])
    result = evaluate(y, s, qid=qid, metrics="cg@1", adjusted=True, replace_undefined_by=otherwise)
    assert result.n_undefined == {"cg@1": 4}
    assert result.mean()["cg@1"] == (1 if np.isnan(otherwise) else (1 + 4 * otherwise) / 5)
    weighted = map_score([1, 0, 0, 0], [1, 2, 2, 1], qid=[0, 0, 1, 1], adjusted=True, replace_undefined_by=otherwise)
    assert weighted == (-1 if np.isnan(otherwise) else (-1 + otherwise) / 2)


def test_adjusted_means():
    y, s, qid = [1, 0, 0, 1, 1, 0], [2, 1, 3, 2, 1, 4], [0, 0, 1, 1, 1, 1]
    result = evaluate(y, s, qid=qid, metrics=["precision@1", "ranking_loss", "cg@9"])
    means = result.adjusted(average="micro")
    assert means["precision@1"] == pytest.approx((0.5 - 0.5) / (1 - 0.5))
    assert means["ranking_loss"] == pytest.approx((0.5 - 0.5) / (0 - 0.5))
    assert np.isnan(means["cg@9"])
    for label, value in (([1, 0, 0], 1), ([0, 1, 0], (0 - 1 / 3) / (1 - 1 / 3)), ([0, 0, 0], np.nan)):
        one = evaluate(label, [3, 2, 1], qid=[0] * 3, metrics="precision@1").adjusted(average="micro")
        assert one == pytest.approx({"precision@1": value}, nan_ok=True)
    below = evaluate([-1, -2, -3], [1, 2, 3], qid=[0] * 3, metrics=["cg@1", "cg@3"]).adjusted(average="micro")
    assert below == pytest.approx({"cg@1": (-3 + 2) / (-1 + 2), "cg@3": np.nan}, nan_ok=True)


def test_adjusted_definition():
    for name, greater in (("ndcg@1", True), ("ranking_loss", False)):
        spec = parse_metric(name, adjusted=True)
        assert spec.greater_is_better
        assert parse_metric(name).greater_is_better == greater
        assert spec.meaning == f"{parse_metric(name).meaning} adjusted for chance"
        assert parse_metric(name, adjusted=False).meaning == parse_metric(name).meaning
    assert [parse_metric(name).is_binary for name in ("p@1", "p@2", "hit@3", "mrr@1", "ndcg@1")] == [1, 0, 1, 1, 0]
    assert not parse_metric("hit@3", adjusted=True).is_binary


def test_adjusted_and_plain_metrics_do_not_affect_each_other():
    """Values do not depend on the other metrics of the call; prepared labels serve several scores."""
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 3, 60), np.repeat(np.arange(10), 6)
    specs = {
        "a": parse_metric("ndcg@3"), "b": parse_metric("ndcg@3", adjusted=True),
        "c": parse_metric("ranking_loss", adjusted=True), "d": parse_metric("ndcg@1", adjusted=True),
        "e": parse_metric("map"),
    }  # fmt: skip
    prepared, only = (prepare(y, qid=qid, metrics=metrics) for metrics in (specs, {"b": specs["b"]}))
    for share in (0, 0.3, 0, 0):
        s = np.where(rng.random(60) < share, -np.inf, rng.normal(size=60).round(1))
        expected = {name: evaluate(y, s, qid=qid, metrics={name: spec}).mean()[name] for name, spec in specs.items()}
        assert evaluate(y, s, qid=qid, metrics=specs).mean() == prepared(s) == prepared.evaluate(s).mean() == expected
        assert only(s) == {"b": expected["b"]}
        chance = evaluate(y, s, qid=qid, metrics={"a": specs["a"], "e": specs["e"]}).chance()
        assert {name: str(result.spec) for name, result in chance._metric_values.items()} == {"a": "ndcg@3", "e": "map"}
    with pytest.raises(ValueError, match="every y_score must be finite. Got -inf"):
        prepare(y, qid=qid, metrics=["mse", "ndcg(adjusted=True)"])(np.where(y > 1, -np.inf, 0.0))
    with pytest.raises(ValueError, match="every y_score must be finite. Got -inf"):
        prepare(y, qid=qid, metrics=["ndcg", "mse"])(np.where(y > 1, -np.inf, 0.0))


CALL = {"y_true": [0, 1, 1], "y_score": [3, 2, 1], "qid": [0] * 3}


@pytest.mark.parametrize(
    ("function", "keywords", "error", "message"),
    [
        (infap_score, {}, ValueError, "cannot be adjusted for chance: it has no closed form for tied documents, so"),
        (map_score, {"denominator": "retrieved_relevant", "k": 2}, ValueError, "it has no closed form for tied"),
        (query_mae_error, {}, TypeError, "no keyword 'adjusted'. .* It reads the values of scores, and an order has"),
        (query_rmse_error, {}, TypeError, "It reads the values of scores, and an order has none."),
        (kendall_score, {}, TypeError, "It says itself what equal scores are worth, and a random order has none."),
        (alpha_ndcg_score, {}, TypeError, "It reads several labels of a document, whose best order is not known."),
        (precision_at_k_score, {"average": "micro"}, ValueError, "adjusted query by query, and average='micro' pools"),
        (mrr_score, {"average": "geometric"}, ValueError, "have no geometric mean, because they can be negative."),
    ],
)
def test_metrics_that_cannot_be_adjusted(function, keywords, error, message):
    with pytest.raises(error, match=message):
        function(**CALL, adjusted=True, **keywords)
    function(**CALL, **keywords)


def test_adjusted_values_have_no_chance():
    assert parse_metric("ndcg(adjusted=True)").without_chance == "is adjusted for chance already"
    with pytest.raises(ValueError, match="'ndcg' is adjusted for chance already"):
        evaluate(**CALL, metrics="ndcg", adjusted=True).chance()


def test_a_formula_that_fails_on_the_tied_list_still_takes_ties():
    def formula(r):
        if r.n.max() == 3:
            raise KeyError
        return r.cumsum(r.label)

    metric("fails_on_three")(formula)
    assert parse_metric("fails_on_three@2").without_chance == ""
    assert evaluate([1, 0], [1, 2], qid=[0, 0], metrics="fails_on_three@2", adjusted=True).mean() == {
        "fails_on_three@2": 0
    }


def test_ndcg_of_a_lucky_order():
    assert ndcg_score(LABEL, [1, 1, 1, 1], qid=[0] * 4, adjusted=True) == pytest.approx(0, abs=1e-15)
    assert ndcg_score(LABEL, LABEL, qid=[0] * 4, adjusted=True) == 1
