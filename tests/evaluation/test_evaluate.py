"""evaluate: many metrics in one pass, and the names of metrics."""

import pickle

import numpy as np
import pytest

from sklearn_rank import compare_systems, evaluate, evaluate_table, get_metric_names, metric, parse_metric, prepare
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.metrics import map_score, ndcg_score, precision_at_k_score
from sklearn_rank.results import Evaluation

METRICS = [
    "ndcg@3",
    "ndcg",
    "ndcg@1",
    "map@2",
    "P@3",
    "NDCG(gain=linear)@3",
    "map",
    "P@2",
    "rbp(p=0.9)",
    "auc",
    "rmse",
    "map(ties=worst, min_relevance=2)",
]


@pytest.fixture
def data(rng):
    qid = np.repeat(np.arange(20), rng.integers(1, 9, 20))
    return rng.integers(0, 4, len(qid)), rng.integers(0, 5, len(qid)).astype(float), qid


def test_keywords_that_are_not_plain_values(data):
    y, s, qid = data
    table, other = [0, 1, 2, 5], [0, 1, 1, 1]
    metrics = [parse_metric("ndcg", k=k, gain=gain) for gain in (table, other) for k in (1, 3)]
    result = evaluate(y, s, qid=qid, metrics=metrics)
    expected = [ndcg_score(y, s, qid=qid, k=m.k, gain=m["gain"]) for m in metrics]
    assert list(result.mean().values()) == expected
    result = evaluate(y, s, qid=qid, metrics=["ndcg@1", "ndcg@3"], gain=np.array(table))
    assert list(result.mean().values()) == expected[:2]


def test_metrics_cannot_modify_shared_arrays(data):
    y, s, qid = data

    @metric("greedy")
    def greedy_score(r):
        """A formula that modifies a shared array."""
        r.relevant[:] = 1
        return r.cumsum(r.relevant)

    with pytest.raises(ValueError, match="read-only"):
        evaluate(y, s, qid=qid, metrics=["greedy", "map"])
    del REGISTRY["greedy"]


def test_undefined_queries_are_counted(data):
    y, s, qid = data
    lacking = [q for q in range(20) if y[qid == q].max() < 1]
    result = evaluate(y, s, qid=qid, metrics=["map", "p@1", "ndcg"], replace_undefined_by=np.nan)
    assert result.n_undefined == {"map": len(lacking), "p@1": 0, "ndcg": len(lacking)}
    assert np.flatnonzero(np.isnan(result.per_query["map"])).tolist() == lacking
    assert result.mean()["map"] == pytest.approx(np.nanmean(result.per_query["map"]))


def test_undefined_queries_in_a_pooled_mean():
    """F1@2 is 2 / (1 + 2); a query without a relevant document adds its two ranks, unless it is dropped."""
    y, s, qid = [1, 0, 0, 0], [2, 1, 2, 1], ["a", "a", "b", "b"]
    for replacement, expected in ((0, 2 / 5), (1, 2 / 5), (np.nan, 2 / 3)):
        metrics = ["f1(average=micro)@2", "f1@2", "f1(average=geometric)@2"]
        result = evaluate(y, s, qid=qid, metrics=metrics, replace_undefined_by=replacement)
        assert result.mean()[metrics[0]] == pytest.approx(expected)
        assert set(result.n_undefined.values()) == {1}
        others = [2 / 3, *([] if np.isnan(replacement) else [max(replacement, 1e-5)])]
        assert result.mean()["f1@2"] == pytest.approx(np.mean(others), abs=1e-5)
        assert result.mean()[metrics[2]] == pytest.approx(np.exp(np.mean(np.log(others))))
        parts = [(y[:2], s[:2], qid[:2]), (y[2:], s[2:], qid[2:])]
        batches = evaluate_table(parts, metrics=metrics, replace_undefined_by=replacement)
        assert (batches.mean(), batches.n_undefined) == (result.mean(), result.n_undefined)


def test_shared_keywords_and_keywords_of_a_name(data):
    y, s, qid = data
    result = evaluate(
        y, s, qid=qid, metrics=["ndcg@3", "ndcg(gain=binary)@3", "map"], gain="linear", ties="best"
    ).mean()
    assert result["ndcg@3"] == ndcg_score(y, s, qid=qid, k=3, gain="linear", ties="best")
    assert result["ndcg(gain=binary)@3"] == ndcg_score(y, s, qid=qid, k=3, gain="binary", ties="best")
    assert result["map"] == map_score(y, s, qid=qid, ties="best")


def test_weights_and_pooling(data):
    y, s, qid = data
    weight = 1.0 + qid % 3
    result = evaluate(y, s, qid=qid, metrics=["map", "p(average=micro)@2"], sample_weight=weight)
    of_query = 1.0 + np.arange(20) % 3
    assert result.mean()["map"] == pytest.approx(np.average(result.per_query["map"], weights=of_query))
    hits = precision_at_k_score(y, s, qid=qid, k=2, average=None) * 2
    assert result.mean()["p(average=micro)@2"] == pytest.approx((of_query * hits).sum() / (2 * of_query.sum()))


def test_other_means_have_no_interval(data):
    y, s, qid = data
    metrics = ["map", "p(average=micro)@2", "map(average=geometric)"]
    result, plain = (evaluate(y, s, qid=qid, metrics=names) for names in (metrics, "map"))
    none = (np.nan, np.nan)
    expected = {"map": plain.confidence_interval()["map"]} | dict.fromkeys(metrics[1:], none)
    np.testing.assert_equal(result.confidence_interval(), expected)
    mean, undefined = result.mean(), result.n_undefined
    assert [row[:2] for row in result.summary().rows] == [*mean.items()]
    assert [row[2:] for row in result.summary().rows] == [
        (*expected["map"], undefined["map"]), *((None, None, undefined[name]) for name in metrics[1:])
    ]  # fmt: skip
    with pytest.raises(ValueError, match="'confidence_level' parameter of confidence_interval must be between 0 and 1"):
        evaluate(y, s, qid=qid, metrics=metrics[1:]).confidence_interval(95)
    with pytest.raises(ValueError, match="'method' parameter of confidence_interval must be 'auto', 't', 'wilson'"):
        result.confidence_interval(method="z")


def test_functions_have_their_own_name(data):
    y, s, qid = data
    assert list(evaluate(y, s, qid=qid, metrics=[ndcg_score, parse_metric("p@2")]).mean()) == ["ndcg", "precision@2"]
    assert list(evaluate(y, s, qid=qid, metrics=map_score).mean()) == ["map"]


def test_ties_below_a_cutoff_have_no_effect_on_it():
    y, s, qid = [1, 0, 1, 0], [3, 2, 1, 1], [0] * 4
    name = "map(denominator=retrieved_relevant)@1"
    assert evaluate(y, s, qid=qid, metrics=[name, "map"]).mean()[name] == 1  # the other metric reads them
    with pytest.raises(ValueError, match="no closed form for tied documents"):
        evaluate(y, s, qid=qid, metrics=[name.replace("@1", "@3")])


def test_frame(data):
    pytest.importorskip("pandas")
    y, s, qid = data
    frame = evaluate(y, s, qid=[(int(q), "x") for q in qid], metrics=["map", "mrr"]).to_frame()
    assert list(frame.columns) == ["map", "mrr"]
    assert frame.index.name == "qid"
    assert frame.index[0] == (0, "x")


def test_repr_and_pickle(data):
    y, s, qid = data
    result = evaluate(y, s, qid=qid, metrics=["map", "ndcg@10"])
    lines = repr(result).splitlines()
    assert lines[0] == "Evaluation of 20 queries"
    assert lines[1].split() == ["metric", "mean", "undefined"]
    assert f"{result.mean()['map']:.4f}" in lines[2]
    again = pickle.loads(pickle.dumps(result))
    assert again.mean() == result.mean()


def test_confidence_interval_of_few_queries():
    result = evaluate([1, 0, 1], [2, 1, 1], qid=[1, 1, 2], metrics="mrr")
    assert result.confidence_interval()["mrr"] == (0.0, 1.0)
    alone = evaluate([1, 0], [2, 1], qid=[1, 1], metrics="mrr")
    assert np.isnan(alone.confidence_interval()["mrr"]).all()


def test_a_parsed_metric_is_not_shared():
    parse_metric("ndcg@3").keywords["gain"] = "linear"
    assert parse_metric("ndcg@3").keywords == {}
    y, s, qid = [3, 1, 2], [1, 3, 2], [0] * 3
    result = evaluate(y, s, qid=qid, metrics="ndcg@3")
    parse_metric("ndcg@3").keywords["gain"] = "linear"
    assert evaluate(y, s, qid=qid, metrics="ndcg@3").mean() == result.mean()


def test_equal_values_of_other_types_differ():
    y, s, qid = [3, 1, 2], [1, 3, 2], [0] * 3
    assert ndcg_score(y, s, qid=qid, k=1) == ndcg_score(y, s, qid=qid, k=np.int64(1)) == 1 / 7
    with pytest.raises(ValueError, match="Got True instead"):
        ndcg_score(y, s, qid=qid, k=True)
    with pytest.raises(ValueError, match="must be an int >= 1, as in 'ndcg@10'. Got 'ndcg@1.0'"):
        evaluate(y, s, qid=qid, metrics="ndcg@1.0")


def test_aliases():
    for alias, name in {"AP": "map", "rr": "mrr", "P": "precision", "r": "recall", "Success": "hit", "f1": "f"}.items():
        assert parse_metric(alias).metric.name == name
    names = [n for m in get_metric_names() for n in (m, *parse_metric(m).metric.aliases)]
    assert len(names) == len(set(names))


def test_evaluate_renamed_metrics(rng):
    y_true, y_score, qid = rng.integers(0, 2, 40), rng.normal(size=40), np.repeat(np.arange(4), 10)
    metrics = {"shallow": "ndcg@1", "deep": "ndcg", "sum": lambda t, s: float(t.sum())}
    result = evaluate(y_true, y_score, qid=qid, metrics=metrics, gain="linear")
    assert [*result.mean()] == ["shallow", "deep", "sum"]
    expected = evaluate(y_true, y_score, qid=qid, metrics=["ndcg@1", "ndcg"], gain="linear").mean()
    assert [result.mean()["shallow"], result.mean()["deep"]] == [*expected.values()]


@pytest.mark.parametrize("more", [0, 0.5])
def test_metrics_share_a_ranking_and_no_number(more, data):
    """The deepest metric first, and last; counts with one threshold are not reused for another, planned or not."""
    y, s, qid = data
    y = y + more
    names = ["map", "p@2", "map(min_relevance=2)", "recall@5", "recall(min_relevance=2)@1", "mrr@1"]
    for listed in (names, names[::-1], names[1:]):
        together = evaluate(y, s, qid=qid, metrics=listed).mean()
        assert together == {name: evaluate(y, s, qid=qid, metrics=name).mean()[name] for name in listed}
    assert together["map(min_relevance=2)"] != evaluate(y, s, qid=qid, metrics="map").mean()["map"]


def test_equal_keywords_of_other_types_do_not_share_values(data):
    y, s, qid = data

    @metric("flagged")
    def flagged_score(r, *, flag=0):
        """Whether the flag is True itself."""
        return 0.25 + 0.5 * (flag is True) + 0 * r.cumsum()

    flags = {"one": 1, "true": True, "float": 1.0}
    try:
        metrics = {name: parse_metric("flagged", flag=flag) for name, flag in flags.items()}
        assert evaluate(y, s, qid=qid, metrics=metrics).mean() == {"one": 0.25, "true": 0.75, "float": 0.25}
    finally:
        del REGISTRY["flagged"]


@pytest.mark.parametrize(
    ("scores", "k", "tied"),
    [
        ([3, 3, 2, 1], None, 1),  # two documents are tied
        ([4, 3, 2, 1], None, 0),
        ([3, 3, 2, 1], 2, 0),  # both above the cutoff
        ([4, 2, 2, 1], 2, 1),
        ([3, 3, 1, 1], 2, 0),
        ([4, 3, 1, 1], 2, 0),
        ([3, 3, 2, 1], 4, 0),
        ([3, 2, 1, 1], 4, 0),
        ([2, 2, 2, 1], 1, 1),
    ],
)
def test_ties_across_a_cutoff(scores, k, tied):
    name = "ndcg" if k is None else f"ndcg@{k}"
    beside = [3, 2, 1, 0]  # a query without ties
    result = evaluate([0, 1, 2, 0] * 2, [*scores, *beside], qid=[0] * 4 + [1] * 4, metrics=name)
    assert result.n_tied == {name: tied}


def test_long_lists_are_ranked_to_the_deepest_cutoff(rng):
    y_true, y_score, qid = rng.integers(0, 3, 8000), rng.random(8000), np.arange(8000) // 2000
    for names in (["ndcg@100", "err@1"], ["hit@1", "p@100"], ["map", "ndcg@1"]):
        together = evaluate(y_true, y_score, qid=qid, metrics=names).mean()
        assert together == {name: evaluate(y_true, y_score, qid=qid, metrics=name).mean()[name] for name in names}


# --- checks for misuse -------------------------------------------------------------------------------------------

DOORS = {
    "evaluate": lambda y, s, qid, metric: evaluate(y, s, qid=qid, metrics=metric),
    "prepare": lambda y, s, qid, metric: prepare(y, qid=qid, metrics=metric)(s),
    "prepare.evaluate": lambda y, s, qid, metric: prepare(y, qid=qid, metrics=metric).evaluate(s),
    "compare_systems": lambda y, s, qid, metric: compare_systems(y, {"a": s, "b": 2.0 * s}, qid=qid, metrics=metric),
}


@pytest.mark.parametrize("named", ["labels", "scores"])
@pytest.mark.parametrize("door", DOORS)
def test_frames_with_queries_as_columns_are_rejected(door, named):
    pd = pytest.importorskip("pandas")
    label, score = np.array([[1.0, 0], [0, 1], [1, 0]]), np.array([[0.1, 0.2], [0.3, 0.4], [0.7, 0.1]])
    columns = pd.Index([4, 5], name="qid")
    label, score = (pd.DataFrame(label, columns=columns), score) if named == "labels" else (
        label, pd.DataFrame(score, columns=columns))  # fmt: skip
    with pytest.raises(ValueError, match="columns of a frame are named 'qid', so it is transposed"):
        DOORS[door](label, score, None, "map")


# --- results do not change -----------------------------------------------------------------------------------


def as_lists(result):
    """All fields and texts of a result, except calls that need the data."""
    values = {name: column.tolist() for name, column in result.per_query.items()}
    attributes = {name: column.tolist() for name, column in result.attributes.items()}
    columns = [result.qid, result.weight, result.clusters, result.n_documents]
    columns = [None if column is None else column.tolist() for column in columns]
    return result.mean(), values, attributes, columns, result.confidence_interval()


@pytest.mark.parametrize("n_rows", [6, 20_000], ids=["some", "many"])
@pytest.mark.parametrize("form", ["two dimensions", "a query a row", "prepared", "from values"])
def test_a_result_does_not_change_with_its_input(form, n_rows, rng):
    given = {
        "qid": np.arange(n_rows), "sample_weight": rng.random(n_rows), "by": np.arange(n_rows) % 3,
        "clusters": np.arange(n_rows) % 5,
    }  # fmt: skip
    shape = n_rows if form == "a query a row" else (n_rows, 3)
    label, score = rng.integers(0, 3, shape), rng.random(shape)
    metrics = ["mae", "rmse"]
    if form == "from values":
        given["weight"] = given.pop("sample_weight")
        given["n_documents"] = np.full(n_rows, 3)
        values = {"mrr": rng.random(n_rows)}
        result = Evaluation.from_values(given["qid"], values, **{k: v for k, v in given.items() if k != "qid"})
        given |= values
    elif form == "prepared":
        del given["by"], given["clusters"]
        result = prepare(label, metrics=metrics, **given).evaluate(score)
    else:
        result = evaluate(label, score, metrics=metrics, **given)
    before = as_lists(result)
    for array in given.values():
        array[...] = array[::-1] + 1
    assert as_lists(result) == before


def test_modified_scores_after_evaluate():
    label, score, qid = np.array([1.0, 0, 0.5, 0]), np.array([0.5, 0.5, 2, 1]), np.array([0, 0, 1, 1])
    for dtype in (np.float64, np.float32):
        scores = score.astype(dtype)
        result, fresh = (evaluate(label, scores, qid=qid, metrics=["mrr", "ndcg"]) for _ in range(2))
        assert (result.n_tied, len(result.tie_range().rows)) == ({"mrr": 1, "ndcg": 1}, 2)
        scores *= -1
        for look in (result.tie_range, fresh.tie_range, lambda: fresh.n_tied):  # noqa: B023
            with pytest.raises(ValueError, match="labels or scores were modified after"):
                look()
        assert fresh.mean() == result.mean()


def test_own_formulas_and_functions_notice_modified_data():
    """An own formula is computed again, labels and scores of a plain function are compared, and columns are copied."""

    @metric("spent", columns=["price"])
    def spent_score(r):
        return r.cumsum(r.relevant * r.column("price"))

    label, score, price = np.array([1.5, 0, 2.5, 0]), np.array([0.5, 0.5, 2, 1]), np.array([3.0, 5, 7, 9])
    qid = [0, 0, 1, 1]
    formula = {"metrics": parse_metric(spent_score, k=1), "price": price}
    for keywords in (formula, {"metrics": lambda y, s: float(y[np.argmax(s)])}):
        for changed in (label, score):
            results = [evaluate(label, score, qid=qid, **keywords)]
            if changed is score:
                results.append(prepare(label, qid=qid, **keywords).evaluate(score))
            before = changed.copy()
            changed[:] = changed[::-1].copy()
            for result in results:
                with pytest.raises(ValueError, match="modified after evaluate"):
                    result.tie_range()
            changed[:] = before
    result, prepared = evaluate(label, score, qid=qid, **formula), prepare(label, qid=qid, **formula)
    price *= 2
    # Query 0 has its relevant document half of the time at rank 1, and query 1 always; by chance both have half.
    assert prepared(score) == [*result.mean().values()][0] == (3 / 2 + 7) / 2
    assert [*result.chance().mean().values()] == [(3 + 7) / 4]
    assert result.tie_range().rows[0][1:4] == ((3 / 2 + 7) / 2, 7 / 2, (3 + 7) / 2)


@pytest.mark.parametrize("n_rows", [5, 1500])
def test_any_change_of_few_labels_is_detected(n_rows):
    label = np.arange(n_rows) + 0.5
    for row in range(0, n_rows, max(1, n_rows // 5)):
        result = evaluate(label, -label, qid=np.zeros(n_rows), metrics="map")
        assert result.label_fingerprints is not None
        fresh = evaluate(label, -label, qid=np.zeros(n_rows), metrics="map")
        label[row] += 0.25
        assert n_rows > 1000 or fresh.label_fingerprints is None
        assert result.label_fingerprints is not None


def test_recomputed_values_reveal_modified_data():
    """One changed value is enough; undefined values are equal, and user functions are not called again."""
    label, score, qid = np.array([1.0, 0, 0, 0, 0, 0]), np.array([3.0, 2, 1, 3, 2, 1]), np.array([0, 0, 0, 1, 1, 1])
    n_calls = []

    def random_value(y, s):
        n_calls.append(1)
        return float(len(n_calls))

    names = {"mrr": "mrr", "p": "p@3", "own": random_value}
    result, fresh = (evaluate(label, score, qid=qid, metrics=names, replace_undefined_by=np.nan) for _ in range(2))
    assert [row[0] for row in result.tie_range().rows] == ["mrr", "p"]
    assert len(n_calls) == 4
    score[:2] = 2, 3
    with pytest.raises(ValueError, match="modified after evaluate"):
        fresh.tie_range()


def test_modified_labels_after_evaluate():
    label, score, qid = np.array([1.5, 0, 0.5, 0]), np.array([0.5, 0.4, 2, 1]), np.array([0, 0, 1, 1])
    result, fresh = (evaluate(label, score, qid=qid, metrics="mrr") for _ in range(2))
    known = result.label_fingerprints.tolist()
    label += 1
    assert result.label_fingerprints.tolist() == known
    assert fresh.label_fingerprints is None
    for look in (fresh.tie_range, fresh.chance):
        with pytest.raises(ValueError, match="modified after evaluate"):
            look()
