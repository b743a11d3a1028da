"""Chance, best and values adjusted for chance: against all orders of few documents, random orders and references."""

import pickle
from itertools import permutations
from math import factorial

import numpy as np
import pandas as pd
import pytest
from known_cases import references
from numpy.testing import assert_allclose, assert_array_equal
from registry import METRICS, draw_labels, each
from sklearn.base import BaseEstimator

from sklearn_rank import (
    RankingAccumulator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    get_metric_names,
    get_scorer,
    metric,
    parse_metric,
    prepare,
)
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.metrics import (
    alpha_ndcg_score,
    infap_score,
    interpolated_precision_score,
    map_score,
    mrr_score,
    ndcg_score,
    precision_at_k_score,
    query_auc_score,
    query_mae_error,
    query_mse_error,
    query_rmse_error,
    relevance_position_error,
    set_f_score,
)
from sklearn_rank.results import Evaluation
from sklearn_rank.retrieval import evaluate_retrieval
from sklearn_rank.stats import compare

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot tell good rankings")

NO_CLOSED_FORM = ("infap", "iprec")
WITH_CHANCE = [
    one
    for one in METRICS
    if not (one.pointwise or one.defines_ties or one.reads_scores) and one.name not in NO_CLOSED_FORM
]
KINDS = ("chance", "best", "adjusted")
RANK = "relevance_position"


def names_of(one):
    """A metric on the whole list and at a few cutoffs."""
    return [one.name, *(f"{one.name}@{k}" for k in (1, 3, 9) if one.has_cutoff)]


def same(a, b, places=None):
    """Whether two results of the same queries have the same chance and best."""
    for kind in KINDS:
        x, y = getattr(a, kind)(), getattr(b, kind)()
        assert x.per_query.keys() == y.per_query.keys()
        assert x.n_undefined == y.n_undefined
        assert x.greater_is_better == y.greater_is_better
        order = [*map(x.qid.tolist().index, y.qid.tolist())]
        for name, values in x.per_query.items():
            assert_allclose(y.per_query[name], values[order], rtol=1e-13, atol=1e-13)


# --- all orders, random orders ---------------------------------------------------------------------------------


@each(WITH_CHANCE)
def test_all_orders_of_up_to_seven_documents(metric):
    rng = np.random.default_rng(len(metric.name))
    for n in range(1, 8):
        # The last documents of some lists were not retrieved.
        n_ranked = n - {3: 1, 4: 2, 5: 1, 6: 3, 7: 2}.get(n, 0)
        label = draw_labels(metric, rng, n)
        if metric.reads_unjudged and n > 2:
            label[0] = np.nan
        orders = np.array([*permutations(range(n_ranked))], dtype=float)
        scores = np.concatenate([orders, np.full((len(orders), n - n_ranked), -np.inf)], axis=1)
        rows = np.tile(label, (len(orders), *[1] * (label.ndim - 1)))
        qid = np.repeat(np.arange(len(orders)), n)
        every = evaluate(rows, scores.ravel(), qid=qid, metrics=names_of(metric))
        one = evaluate(label, scores[-1], qid=[0] * n, metrics=names_of(metric))
        assert len(orders) == factorial(n_ranked)
        for name, value in one.chance().mean().items():
            assert value == pytest.approx(every.mean()[name], rel=1e-12, abs=1e-13), (name, label)
        if metric.subtopics:
            continue
        highest = np.max if metric.greater_is_better else np.min
        for name, value in one.best().mean().items():
            assert value == pytest.approx(highest(every.per_query[name]), rel=1e-12, abs=1e-13), (name, label)


@each(WITH_CHANCE)
def test_random_orders_of_larger_lists(metric):
    rng = np.random.default_rng(1)
    n, n_orders = 60, 200
    label = draw_labels(metric, rng, n)
    scores = rng.permuted(np.tile(np.arange(n, dtype=float), (n_orders, 1)), axis=1)
    rows, qid = np.tile(label, (n_orders, *[1] * (label.ndim - 1))), np.repeat(np.arange(n_orders), n)
    drawn = evaluate(rows, scores.ravel(), qid=qid, metrics=names_of(metric))
    one = evaluate(label, scores[0], qid=[0] * n, metrics=names_of(metric))
    for name, value in one.chance().mean().items():
        values = drawn.per_query[name]
        rare = 0.02 * (np.ptp(values) == 0)
        assert abs(values.mean() - value) <= 5 * values.std(ddof=1) / np.sqrt(n_orders) + rare + 1e-12, name
    if not metric.subtopics:
        sign = 1 if metric.greater_is_better else -1
        for name, value in one.best().mean().items():
            assert (sign * (value - drawn.per_query[name]) >= -1e-12).all(), name


def test_unretrieved_documents_stay_unretrieved():
    """The best order of a and c leaves b and d tied, one relevant and one not; a prepared run agrees."""
    judged, run = {"q": {"a": 1, "b": 1, "c": 0, "d": 0}}, {"q": ["a", "c"]}
    found = evaluate_run(judged, run, metrics=["auc", "opa", "ranking_loss"])
    assert found.best().mean() == {"auc": 0.625, "opa": 0.625, "ranking_loss": 0.375}
    assert found.adjusted().mean() == {"auc": 1.0, "opa": 1.0, "ranking_loss": 1.0}
    y, other = [1, 1, 0, 0], [-np.inf, 2, 1, -np.inf]
    prepared = prepare(y, qid=[0] * 4, metrics=["auc"])
    for scores in ([2, -np.inf, 1, -np.inf], [1, 2, 3, 4], other):
        assert prepared.evaluate(scores).best().mean() == evaluate(y, scores, qid=[0] * 4, metrics="auc").best().mean()


def test_tie_policies_do_not_change_chance():
    """Documents in an order are not tied, so tie policies have no effect."""
    y, s, qid = [1, 0, 1, 0, 0], [2, 2, 1, 1, 1], [0] * 5
    names = ["map", "map(precision_at=threshold)", "lrap", "auc(max_fpr=0.5)", "auc(max_fpr=0.5, tied_curve=straight)"]
    of_ties = [evaluate(y, s, qid=qid, metrics=names, ties=ties) for ties in ("average", "stable", "worst", "best")]
    for result in of_ties:
        assert result.chance().mean() == of_ties[0].chance().mean()
        assert result.best().mean() == dict.fromkeys(names, 1.0)
    means = [*of_ties[0].chance().mean().values()]
    assert means[0] == means[1] == means[2]
    assert means[3] == means[4]


# --- references --------------------------------------------------------------------------------------------------


def ranked(ranks, n_candidates):
    """One relevant document per query, at a rank among its candidates; between two ranks it is tied."""
    rows = []
    for query, (rank, n) in enumerate(zip(ranks, n_candidates, strict=True)):
        score = -np.arange(1.0, n + 1)
        place = int(rank) - 1
        if rank % 1:
            score[place + 1] = score[place]
        rows += [(query, float(i == place), x) for i, x in enumerate(score)]
    qid, label, score = zip(*rows, strict=True)
    return {"y_true": label, "y_score": score, "qid": qid}


def check_rank_metrics(ranks, n_candidates, expected):
    result = evaluate(**ranked(ranks, n_candidates), metrics=["relevance_position", "hit@3", "mrr"])
    chance, adjusted = result.chance().mean(), result.adjusted(average="micro")
    n = np.asarray(n_candidates)
    closed = {
        "relevance_position": (n + 1) / 2,
        "hit@3": np.minimum(3 / n, 1),
        "mrr": [(1 / np.arange(1, m + 1)).mean() for m in n],
    }
    for name, values in closed.items():
        assert_allclose(result.chance().per_query[name], values, rtol=1e-13)
    assert chance[RANK] == pytest.approx(expected["expected_mean_rank"], rel=1e-12)
    assert chance["hit@3"] == pytest.approx(expected["expected_hits_at_3"], rel=1e-12)
    assert chance["mrr"] == pytest.approx(expected["expected_mrr"], rel=1e-12)
    assert adjusted[RANK] == pytest.approx(expected["amri"], rel=1e-12)
    assert result.mean()[RANK] / chance[RANK] == pytest.approx(expected["amr"], rel=1e-12)
    if all(rank % 1 == 0 for rank in ranks):
        assert adjusted["hit@3"] == pytest.approx(expected["adjusted_hits_at_3"], rel=1e-10)
        assert adjusted["mrr"] == pytest.approx(expected["adjusted_mrr"], rel=1e-10)


def test_adjusted_ranks_of_references():
    whole = [case for case in references("adjusted-rank-") if "mean_rank" in case["expected"]]
    assert len(whole) >= 2
    for case in whole:
        check_rank_metrics(case["inputs"]["ranks"], case["inputs"]["num_candidates"], case["expected"])
    # A single candidate has chance equal to best: PyKEEN returns 0, and so does our replacement for undefined values.
    result = evaluate(**ranked([1, 1], [1, 1]), metrics=["relevance_position", "hit@1"])
    assert result.adjusted().mean() == {"relevance_position": 0.0, "hit@1": 0.0}
    assert result.adjusted().n_undefined == {"relevance_position": 2, "hit@1": 2}
    assert np.isnan([*result.adjusted(average="micro").values()]).all()


@pytest.mark.parametrize(("n", "level"), [(2, 0.81546), (3, 0.71031), (10, 0.45436), (100, 0.20939)])
def test_ndcg_of_short_lists_is_high_by_chance(n, level):
    result = evaluate([1] + [0] * (n - 1), np.arange(n), qid=[0] * n, metrics=["ndcg", "auc"])
    assert result.chance().mean() == {"ndcg": pytest.approx(level, abs=1e-5), "auc": pytest.approx(0.5)}
    assert result.adjusted().mean()["ndcg"] < 0


# --- adjusted ----------------------------------------------------------------------------------------------------


def data(n_queries=40, seed=0, unretrieved=0.1):
    rng = np.random.default_rng(seed)
    size = rng.integers(1, 15, n_queries)
    y, s = rng.integers(0, 4, size.sum()), rng.normal(size=size.sum()).round(1)
    s[rng.random(len(s)) < unretrieved] = -np.inf
    return {"y_true": y, "y_score": s, "qid": np.repeat(rng.permutation(n_queries), size)}


NAMES = ["ndcg@5", "relevance_position", "precision@3", "auc", "map(min_relevance=2)"]


@pytest.mark.parametrize("replacement", [0.0, np.nan, 0.25])
def test_the_keyword_equals_the_result(replacement):
    rows = data()
    result = evaluate(**rows, metrics=NAMES, replace_undefined_by=replacement)
    adjusted, by_keyword = result.adjusted(), evaluate(
        **rows, metrics=NAMES, adjusted=True, replace_undefined_by=replacement
    )  # fmt: skip
    chance, best = result.chance(), result.best()
    assert adjusted.mean() == by_keyword.mean()
    assert adjusted.meaning == by_keyword.meaning
    assert adjusted.label_fingerprints is not None
    assert adjusted.greater_is_better == by_keyword.greater_is_better == dict.fromkeys(NAMES, True)
    assert {*adjusted.is_binary.values()} == {False}
    for name, values in adjusted.per_query.items():
        assert_array_equal(values, by_keyword.per_query[name])
        value, luck, most = (x.per_query[name] for x in (result, chance, best))
        defined = np.abs(most - luck) > 1e-9
        ratio = (value - luck)[defined] / (most - luck)[defined]
        assert_allclose(values[defined], ratio, rtol=1e-12)
        assert_array_equal(values[~defined], np.full((~defined).sum(), replacement))
        assert (values[defined] <= 1 + 1e-12).all()
        assert adjusted.n_undefined[name] == (~defined).sum() > 0


def test_chance_is_0_and_the_best_order_1():
    rows = data(unretrieved=0)
    kept = {"metrics": NAMES, "adjusted": True, "replace_undefined_by": np.nan}
    lucky = evaluate(rows["y_true"], np.zeros(len(rows["qid"])), qid=rows["qid"], **kept)
    perfect = evaluate(rows["y_true"], rows["y_true"], qid=rows["qid"], ties="best", **kept)
    assert lucky.mean() == pytest.approx(dict.fromkeys(NAMES, 0), abs=1e-13)
    assert perfect.mean() == pytest.approx(dict.fromkeys(NAMES, 1), abs=1e-13)


def test_functions_and_scorers():
    rows = data()
    values = ndcg_score(**rows, k=[1, 5], adjusted=True)
    assert_allclose(values, [ndcg_score(**rows, k=k, adjusted=True) for k in (1, 5)], rtol=1e-14)
    assert values[1] == evaluate(**rows, metrics="ndcg@5").adjusted().mean()["ndcg@5"]
    assert ndcg_score(**rows, k=5, adjusted=True, average=None).shape == (40,)
    spec = parse_metric("NDCG(adjusted=True)@10")
    assert str(spec) == "ndcg(adjusted=True)@10"
    assert str(parse_metric("ndcg-adjusted-True_at_10")) == str(spec) == str(parse_metric("ndcg(adjusted=true)@10"))
    assert evaluate(**rows, metrics=str(spec)).to_dict().keys() == {"ndcg-adjusted-True_at_10"}
    assert parse_metric("ndcg(adjusted=False)").meaning == parse_metric("ndcg").meaning

    class Model(BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return X[:, 0]

    y = pd.Series(rows["y_true"], index=pd.Index(rows["qid"], name="qid"))
    X = np.where(np.isfinite(rows["y_score"]), rows["y_score"], 0)[:, None]
    for name in ("ndcg(adjusted=True)@10", "relevance_position(adjusted=True)"):
        scorer = get_scorer(name)
        assert scorer(Model(), X, y) == evaluate(rows["y_true"], X[:, 0], qid=rows["qid"], metrics=name).mean()[name]
        assert repr(scorer).count("neg_") == 0


def test_prepared_labels_keep_chance():
    rows = data(unretrieved=0)
    names = ["ndcg(adjusted=True)@5", "ndcg@5", "relevance_position(adjusted=True)"]
    prepared = prepare(rows["y_true"], qid=rows["qid"], metrics=names)
    rng = np.random.default_rng(0)
    for unretrieved in (0, 0, 0.3, 0):
        score = np.where(rng.random(len(rows["qid"])) < unretrieved, -np.inf, rng.normal(size=len(rows["qid"])))
        expected = evaluate(rows["y_true"], score, qid=rows["qid"], metrics=names)
        assert prepared(score) == expected.mean()
        assert pickle.loads(pickle.dumps(prepared))(score) == expected.mean()
        same(prepared.evaluate(score), expected)


def test_saved_chance_has_all_values(tmp_path):
    """Also after loading: for errors, binary metrics and undefined queries."""
    rows, names = data(), ["relevance_position", "hit@1", "ndcg@5", "p(average=micro)@3"]
    keys = (
        "qid per_query n_undefined meaning average greater_is_better is_binary label_fingerprints n_documents".split()
    )
    computed = evaluate(**rows, metrics=names, replace_undefined_by=np.nan)
    kept = evaluate(**rows, metrics=names, replace_undefined_by=np.nan, chance=True)
    kept.save(tmp_path / "kept")
    assert not any(computed.adjusted().is_binary.values())
    assert all(computed.adjusted().greater_is_better.values())
    for result in (kept, Evaluation.load(tmp_path / "kept")):
        for kind in KINDS:
            one, other = getattr(result, kind)(), getattr(computed, kind)()
            for key in keys:
                np.testing.assert_equal(getattr(one, key), getattr(other, key), err_msg=f"{kind} {key}")
            assert one.mean() == pytest.approx(other.mean())
            assert "chance" not in repr(one).replace("djusted for chance", "")
            with pytest.raises(ValueError, match="Chance and best take the data"):
                one.best()
            with pytest.raises(ValueError, match="Ties need the data"):
                one.tie_range()


def test_weights_and_the_ratio_of_means():
    rows = data()
    weight = np.unique(rows["qid"], return_inverse=True)[1] % 3 + 1.0
    result = evaluate(**rows, metrics=NAMES, sample_weight=weight)
    value, chance, best = (x.mean() for x in (result, result.chance(), result.best()))
    micro = result.adjusted(average="micro")
    assert micro == {n: (value[n] - chance[n]) / (best[n] - chance[n]) for n in NAMES}
    assert micro != result.adjusted().mean()
    assert result.adjusted().weight is not None
    pooled = evaluate(**rows, metrics="precision@3", average="micro")
    assert pooled.adjusted(average="micro")["precision@3"] < 1
    assert pooled.chance().average == {"precision@3": "micro"}
    with pytest.raises(ValueError, match=r"adjusted\(\) is .* 'precision@3' has a micro mean, which average='micro'"):
        pooled.adjusted()
    with pytest.raises(ValueError, match="'average' parameter of adjusted must be 'macro' or 'micro'. Got 'mean'"):
        result.adjusted(average="mean")


def test_a_system_is_compared_with_chance():
    rows = data(unretrieved=0)
    result = evaluate(
        rows["y_true"], rows["y_true"] + rows["y_score"], qid=rows["qid"], metrics=["ndcg@5", "relevance_position"]
    )
    found = compare(result, result.chance(), metric="ndcg@5")
    assert found.difference > 0
    assert found.pvalue < 0.01
    with pytest.raises(ValueError, match="computed alike. Got 'ndcg@5' with ndcg_score.* in 'a' and .*"):
        compare(result, result.adjusted(), metric="ndcg@5")


# --- undefined and unknown chance -----------------------------------------------------------------------------


def test_metrics_without_chance():
    call = {"y_true": [0, 1, 1], "y_score": [3, 2, 1], "qid": [0] * 3, "adjusted": True}
    for function in (infap_score, interpolated_precision_score):
        with pytest.raises(ValueError, match=f"{function.__name__} cannot be adjusted .* no closed form for tied"):
            function(**call)
    with pytest.raises(ValueError, match="map_score cannot be adjusted .* no closed form for tied documents"):
        map_score(**call, denominator="retrieved_relevant")
    for function in (query_mse_error, query_rmse_error, query_mae_error, set_f_score):
        with pytest.raises(
            TypeError, match=f"{function.__name__} has no keyword 'adjusted'.* reads the values of scores"
        ):
            function(**call)
    with pytest.raises(TypeError, match="no keyword 'adjusted'.* reads several labels of a document"):
        alpha_ndcg_score(**call)
    with pytest.raises(
        ValueError, match=r"precision_at_k_score is adjusted query by query.*adjusted\(average='micro'\)"
    ):
        precision_at_k_score(**call, k=1, average="micro")
    with pytest.raises(ValueError, match="have no geometric mean"):
        mrr_score(**call, average="geometric")
    with pytest.raises(ValueError, match="'adjusted' parameter of .* must be True or False. Got 2 instead"):
        relevance_position_error(**{**call, "adjusted": 2})
    with pytest.raises(TypeError, match="No metric of rmse, kendall has a keyword 'adjusted'"):
        evaluate([0, 1], [1, 2], qid=[0, 0], metrics=["rmse", "kendall"], adjusted=True)


def test_results_omit_metrics_without_chance():
    names = ["ndcg", "rmse", "infap", "kendall", "set_f", "alpha_dcg", "map(denominator=retrieved_relevant)"]
    result = evaluate([0, 1, 1], [3, 2, 1], qid=[0] * 3, metrics={**dict(zip(names, names, strict=True)), "f": max_gap})
    assert [*result.chance().mean()] == ["ndcg", "alpha_dcg"]
    assert [*result.best().mean()] == [*result.adjusted().mean()] == ["ndcg"]
    with pytest.raises(ValueError, match="chance.. is for .*'rmse' reads the values of scores.*'kendall' says itself"):
        evaluate([0, 1], [1, 2], qid=[0, 0], metrics=["rmse", "kendall"]).chance()
    with pytest.raises(ValueError, match="best.. is for .*'alpha_dcg' reads several labels"):
        evaluate([0, 1], [1, 2], qid=[0, 0], metrics=["alpha_dcg"]).best()
    with pytest.raises(ValueError, match="'ndcg' is adjusted for chance already"):
        evaluate([0, 1], [1, 2], qid=[0, 0], metrics=["ndcg"], adjusted=True).chance()


def max_gap(y_true, y_score):
    return float(np.ptp(y_score))


def test_own_metrics_have_chance():
    name = "first_position"
    try:

        @metric(
            name, has_cutoff=False, needs_relevant=True, undefined_when="no relevant document", greater_is_better=False
        )
        def first_position_error(r):
            return r.cumsum(weight=r.cascade(r.relevant) * r.rank)

        result = evaluate([0, 0, 1], [3, 2, 1], qid=[0] * 3, metrics=[name, f"{name}(adjusted=True)"])
        assert result.mean() == {name: 3, f"{name}(adjusted=True)": -1}
        assert (result.chance().mean()[name], result.best().mean()[name]) == (2, 1)
        assert result.greater_is_better == {name: False, f"{name}(adjusted=True)": True}
    finally:
        REGISTRY.pop(name, None)
    assert name not in get_metric_names()


def test_weights_that_increase_with_rank_have_no_best_order():
    rising = [0.1, 0.2, 0.9]
    result = evaluate([1, 0, 0], [3, 2, 1], qid=[0] * 3, metrics="dcg", discount=rising)
    assert result.best().mean()["dcg"] < result.chance().mean()["dcg"]
    assert result.adjusted().n_undefined == {"dcg": 1}


def test_equal_labels_leave_nothing_to_adjust():
    """Rounding errors make sums of equal numbers differ between orders; the difference is ignored."""
    rng = np.random.default_rng(0)
    for n in (*range(1, 30), 3000, 50_000):
        for label in (1, 3):
            score, names = rng.normal(size=n), ["ndcg", "dcg@10", "rbp", "q", "map", *["rbo"] * (n < 100)]
            score[1 : n // 2] = -np.inf
            result = evaluate([label] * n, score, qid=[0] * n, metrics=names)
            assert {*result.adjusted().n_undefined.values()} == {1}


LOST = "Chance and best take the data, .* use evaluate, or pass chance=True"


def test_results_without_data_name_the_call_that_keeps_them(tmp_path):
    rows = data()
    result = evaluate(**rows, metrics=NAMES)
    result.save(tmp_path / "result")
    without = [
        Evaluation.load(tmp_path / "result"),
        result.subset(result.n_documents > 1),
        evaluate_table([(rows["y_true"], rows["y_score"], rows["qid"])], metrics=NAMES),
        RankingAccumulator(NAMES).update(**rows).compute(),
        Evaluation.from_values(["a"], {"mrr": [1.0]}),
    ]
    for one in without:
        for kind in KINDS:
            with pytest.raises(ValueError, match=LOST):
                getattr(one, kind)()
        with pytest.raises(ValueError, match=LOST):
            one.adjusted(average="micro")


# --- entry points ------------------------------------------------------------------------------------------------


def test_every_door_computes_chance(tmp_path):
    rows = data()
    names = [*NAMES, "infap", "kendall", "ndcg(adjusted=True)@5"]
    names.remove("infap")
    frame = pd.DataFrame({"label": rows["y_true"], "score": rows["y_score"], "qid": rows["qid"]})
    expected = evaluate(**rows, metrics=names)
    results = [
        evaluate(**rows, metrics=names, chance=True),
        evaluate_table(frame, metrics=names, chance=True),
        evaluate_table([frame[:100], frame[100:]], metrics=names, chance=True),
        evaluate_table([frame], metrics=names, chance=True, assume_grouped=True),
        RankingAccumulator(names, chance=True).update(**rows).compute(),
    ]
    judgments = {q: dict(zip(g.index, g.label, strict=True)) for q, g in frame.groupby("qid", sort=False)}
    run = {
        q: dict(zip(g.index[g.score > -np.inf], g.score[g.score > -np.inf], strict=True))
        for q, g in frame.groupby("qid", sort=False)
    }
    results.append(evaluate_run(judgments, run, metrics=names, chance=True))
    for i, result in enumerate(results):
        assert result.mean() == pytest.approx(expected.mean(), rel=1e-13)
        same(result, expected)
        assert "chance     best   undefined" in str(result)
        result.save(tmp_path / f"{i}")
        same(Evaluation.load(tmp_path / f"{i}"), expected)
        assert str(Evaluation.load(tmp_path / f"{i}")) == str(result)
        kept = result.subset(result.n_documents > 3)
        assert_allclose(
            kept.chance().mean()[RANK],
            result.chance().subset(result.n_documents > 3).mean()[RANK],
        )
    assert "chance" not in str(expected)


def test_accumulators_are_merged_and_pickled():
    rows = data()
    first = rows["qid"] < 20
    parts = [
        RankingAccumulator(NAMES, chance=True).update(**{n: x[mask] for n, x in rows.items()})
        for mask in (first, ~first)
    ]
    same(pickle.loads(pickle.dumps(parts[0])).merge(parts[1]).compute(), evaluate(**rows, metrics=NAMES))
    assert repr(parts[0]) == f"RankingAccumulator of 20 queries: {', '.join(NAMES)}"
    with pytest.raises(ValueError, match="same metrics and keywords. Got .* 'ndcg@5 in random order'"):
        RankingAccumulator(NAMES).update(**rows).merge(parts[1])


def test_names_of_chance_are_reserved():
    names = {"mrr": "mrr", "mrr in random order": "p@1"}
    rows = data()
    assert [*RankingAccumulator(names).update(**rows).compute()] == [*names]
    with pytest.raises(ValueError, match="given once. Got 'mrr in random order' with chance=True"):
        RankingAccumulator(names, chance=True)


def test_sparse_lists():
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(2)
    y, s = (sparse.random(20, 30, 0.4, random_state=rng, format="csr") for _ in range(2))
    y.data[:] = 1
    score = np.where(s.toarray() == 0, -np.inf, s.toarray())
    dense = evaluate(y.toarray(), score, metrics=["ndcg@5", "map", "auc"])
    lazy = evaluate(y, s, metrics=["ndcg@5", "map", "auc"], chance=True)
    same(lazy, dense)
    assert evaluate(y, s, metrics="ndcg@5", adjusted=True).mean() == pytest.approx(
        {"ndcg@5": dense.adjusted().mean()["ndcg@5"]}, rel=1e-12
    )


def test_distances_of_a_database():
    """Lists are built only to the cutoff, but a random order contains all documents."""
    rng = np.random.default_rng(3)
    queries, items = rng.normal(size=(6, 4)), rng.normal(size=(200, 4))
    classes = rng.integers(0, 3, 6), rng.integers(0, 3, 200)
    labels = {"query_labels": classes[0], "database_labels": classes[1]}
    names = ["ndcg(adjusted=True)@5", "ndcg@5"]
    result = evaluate_retrieval(queries, items, **labels, metrics=names, distance="euclidean")
    scores = -np.linalg.norm(queries[:, None] - items, axis=2)
    expected = evaluate(np.equal.outer(*classes) * 1.0, scores, metrics=names)
    assert result.mean() == pytest.approx(expected.mean(), rel=1e-12)
    same(result, expected)


# --- printed output ----------------------------------------------------------------------------------------------


def test_chance_in_every_format():
    result = evaluate(**data(), metrics=[*NAMES, "kendall"], chance=True)
    for text in (str(result), str(result.adjusted()), str(result.chance()), str(result.best())):
        assert max(map(len, text.splitlines())) <= 100
    assert "| metric | mean | chance | best | undefined |" in result.to_markdown()
    assert "chance & best" in result.to_latex()
    assert ">chance</th>" in result._repr_html_()
    assert str(result.adjusted()).startswith("Evaluation of 40 queries\nAdjusted for chance: nDCG@5, ")
    assert "Adjusted" not in str(evaluate(**data(), metrics="ndcg(adjusted=True)@5"))
    assert query_auc_score(**data(), adjusted=True) <= 1


def test_comparisons_name_the_adjustment():
    rows = data(unretrieved=0)
    others = {**rows, "y_score": rows["y_score"] + rows["y_true"]}
    results = {name: evaluate(**of, metrics=["ndcg@5", "auc"]) for name, of in {"old": rows, "new": others}.items()}
    comparison = compare_systems({name: result.adjusted() for name, result in results.items()})
    assert "\nAdjusted for chance: nDCG@5, AUC.\n" in str(comparison)
    assert "Adjusted for chance: nDCG@5, AUC." in comparison.to_latex()
    assert "Adjusted" not in str(compare_systems(results)) + compare_systems(results).to_latex()
    by_name = {name: evaluate(**rows, metrics="ndcg(adjusted=True)@5") for name in results}
    assert "Adjusted" not in compare_systems(by_name).to_latex()
