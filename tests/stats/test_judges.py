"""People and a model as judges: values of ppi-python, laws, coverage, errors, and agreement of grades."""

import math

import numpy as np
import pytest
from known_cases import references
from numpy.testing import assert_allclose
from registry import together
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from sklearn_rank import evaluate
from sklearn_rank._estimates.judged import JudgedValues, power_tuned
from sklearn_rank.io import read_qrels, read_run
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_judged, confidence_interval, judge_agreement, judged_interval


def judges(human, model, others, metric="ndcg@10"):
    """Results of people on the first queries, and of the model on all."""
    by_people = Evaluation.from_values(range(len(human)), {metric: human})
    return by_people, Evaluation.from_values(range(len(model) + len(others)), {metric: [*model, *others]})


def drawn(rng, n, n_others, *, noise=0.1, added=0.2):
    people = np.clip(rng.normal(0.5, 0.25, n + n_others), 0, 1)
    model = np.clip(people + added + rng.normal(0, noise, n + n_others), 0, 1)
    return judges(people[:n], model[:n], model[n:])


# --- references --------------------------------------------------------------------------------------------------

HUMAN = [0.4779, 0.2489, 0.5977, 0.2812, 0.3878, 0.7201, 0.8542, 0.0, 0.5096, 0.2998, 0.0, 0.3636]
LABELED = [0.4098, 0.3859, 0.6184, 0.416, 0.4368, 0.6859, 0.774, 0.5099, 0.548, 0.0473, 0.0, 0.5153]
OTHERS = [
    0.7415, 1.0, 1.0, 0.0271, 0.3353, 0.5813, 0.0, 0.385, 1.0, 0.2886, 0.497, 0.4711, 0.0, 0.2855, 0.0, 0.3635, 0.2445,
    0.5714, 0.8106, 0.3689, 0.3141, 0.4044, 0.5631, 0.4329, 0.4861, 0.0, 0.9555, 0.0442, 1.0, 0.5496,
]  # fmt: skip


def test_judges_match_references():
    n_seen = 0
    for case in references("ppi-"):
        given, expected = case["inputs"], case["expected"]
        if "weight" in case["id"] or "one-sided" in case["id"]:
            continue
        if "human_a" in given:
            values = JudgedValues(*(
                np.subtract(given[f"{name}_a{part}"], given[f"{name}_b{part}"])
                for name, part in (("human", ""), ("judge", "_labeled"), ("judge", "_unlabeled"))
            ))  # fmt: skip
        else:
            values = JudgedValues(*(np.array(given[n]) for n in ("human", "judge_labeled", "judge_unlabeled")))
        mean, error, lam = power_tuned(values, given["lam"])
        reach = error * stats.norm.isf(given["alpha"] / 2)
        assert (mean - reach, mean + reach) == pytest.approx((expected["low"], expected["high"]), rel=1e-10)
        assert mean == pytest.approx(expected.get("estimate", mean), rel=1e-10)
        if given["lam"] is None:
            found = judged_interval(*judges(*values[:3]), confidence_level=1 - given["alpha"])
            assert (found.mean["ndcg@10"], found.lam["ndcg@10"]) == (mean, lam)
            wide = error * stats.t.isf(given["alpha"] / 2, len(given["human"]) - 1)
            assert found.confidence_interval["ndcg@10"] == pytest.approx((mean - wide, mean + wide))
        n_seen += 1
    assert n_seen >= 10


# --- special cases by hand ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [0.0, 0.7])
def test_a_constant_judge_leaves_the_mean_of_people(constant):
    found = judged_interval(*judges(HUMAN, [constant] * 12, [constant] * 30))
    assert found.confidence_interval["ndcg@10"] == pytest.approx(confidence_interval(HUMAN))
    assert found.mean["ndcg@10"] == pytest.approx(np.mean(HUMAN))
    assert found.lam["ndcg@10"] == 0
    both, people, model = found.table.rows
    assert both[3:6] == people[3:6]
    assert (model[7], model[8]) == (pytest.approx(constant - np.mean(HUMAN)), None)


def test_a_judge_that_contradicts_has_no_weight(rng):
    people = rng.random(30)
    found = judged_interval(*judges(people, 1 - people, rng.random(50)))
    assert found.lam["ndcg@10"] == 0
    assert found.mean["ndcg@10"] == pytest.approx(people.mean())


def test_a_perfect_judge_gives_the_mean_of_all(rng):
    """If F = Y, lambda is N / (n + N), and the estimate is the mean of all values, up to n - 1 in a variance."""
    values = rng.random(400)
    found = judged_interval(*judges(values[:100], values[:100], values[100:]))
    assert found.lam["ndcg@10"] == pytest.approx(0.75, abs=0.08)
    assert found.mean["ndcg@10"] == pytest.approx(values.mean(), abs=0.005)
    assert found.table.rows[2][7:] == (0, pytest.approx(1))


# --- laws --------------------------------------------------------------------------------------------------------


def test_judges_are_independent_of_scale_and_order(rng):
    human, model = drawn(rng, 25, 60)
    expected = judged_interval(human, model)
    scaled = judged_interval(*(
        Evaluation.from_values(one.qid, {"x": 8 * one.per_query["ndcg@10"] + 3}) for one in (human, model)
    ))  # fmt: skip
    assert scaled.lam["x"] == pytest.approx(expected.lam["ndcg@10"])
    assert scaled.mean["x"] == pytest.approx(8 * expected.mean["ndcg@10"] + 3)
    assert scaled.standard_error["x"] == pytest.approx(8 * expected.standard_error["ndcg@10"])
    human, model = (one.subset(one.qid) for one in (human, model))
    moved = []
    for one in (human, model):
        order = rng.permutation(len(one.qid))
        moved.append(Evaluation.from_values(one.qid[order], {"ndcg@10": one.per_query["ndcg@10"][order]}))
    found = judged_interval(*moved)
    assert found.mean["ndcg@10"] == pytest.approx(expected.mean["ndcg@10"], rel=1e-12)
    assert found.standard_error["ndcg@10"] == pytest.approx(expected.standard_error["ndcg@10"], rel=1e-12)


def test_a_constant_bias_of_the_model_has_no_effect(rng):
    people, noise = rng.random(200), rng.normal(0, 0.1, 200)
    means = [
        judged_interval(*judges(people[:40], (people + added + noise)[:40], (people + added + noise)[40:])).mean
        for added in (0, 0.3, -2)
    ]
    assert_allclose([one["ndcg@10"] for one in means], means[0]["ndcg@10"], rtol=1e-12)


def test_swapping_systems(rng):
    new, old = drawn(rng, 20, 50), drawn(rng, 20, 50)
    there, back = compare_judged(new=new, old=old), compare_judged(new=old, old=new)
    assert back.difference == pytest.approx(-there.difference)
    assert back.confidence_interval == pytest.approx(tuple(-x for x in there.confidence_interval[::-1]))
    assert (back.pvalue, back.lam) == pytest.approx((there.pvalue, there.lam))
    same = compare_judged(new=new, old=[one.subset(one.qid) for one in new])
    assert (same.difference, same.pvalue) == (0, 1)
    assert np.isnan(same.confidence_interval).all()


@together("which", [(0,), (1,), (0, 1), ()])
def test_several_runs_of_either_judge_are_noted(which, rng):
    runs = [drawn(rng, 20, 30) for _ in "ab"]
    both = [Evaluation.of_runs([one[i] for one in runs]) if i in which else runs[0][i] for i in range(2)]
    for found in (judged_interval(*both), compare_judged(new=both, old=drawn(rng, 20, 30), metric="ndcg@10")):
        assert ("do not allow for the variance between runs" in " ".join(str(found).split())) == bool(which)


def test_a_comparison_is_the_interval_of_the_differences(rng):
    new, old = drawn(rng, 20, 50), drawn(rng, 20, 50)
    difference = [
        Evaluation.from_values(a.qid, {"d": a.per_query["ndcg@10"] - b.per_query["ndcg@10"]})
        for a, b in zip(new, old, strict=True)
    ]
    expected, found = judged_interval(*difference), compare_judged(new=new, old=old, metric="ndcg@10")
    assert (found.difference, found.lam) == (expected.mean["d"], expected.lam["d"])
    assert found.confidence_interval == expected.confidence_interval["d"]
    low, high = compare_judged(new=new, old=old, confidence_level=1 - found.pvalue).confidence_interval
    assert min(abs(low), abs(high)) == pytest.approx(0, abs=1e-9)
    assert (found.df, found.metric) == (19, "ndcg@10")


def test_judges_omit_undefined_queries():
    human, model = judges([*HUMAN, math.nan, 0.5], [*LABELED, 0.5, math.nan], [*OTHERS, math.nan])
    found, expected = judged_interval(human, model), judged_interval(*judges(HUMAN, LABELED, OTHERS))
    assert found.confidence_interval == expected.confidence_interval
    assert "2 queries of people are left out of nDCG@10" in str(found)


def test_coverage():
    """People, and people with the model, cover the mean in 95 %, the model never; the combined interval is narrower."""
    rng, n_samples, true = np.random.default_rng(0), 300, 0.5
    found, narrower = np.zeros(3), []
    for _ in range(n_samples):
        people = np.clip(rng.normal(0.5, 0.25, 500), 0, 1)
        model = np.clip(people + 0.2 + rng.normal(0, 0.2, 500), 0, 1)
        both = judged_interval(*judges(people[:40], model[:40], model[40:])).confidence_interval["ndcg@10"]
        intervals = confidence_interval(model), confidence_interval(people[:40]), both
        found += [low <= true <= high for low, high in intervals]
        narrower.append(np.ptp(both) / np.ptp(intervals[1]))
    low, high = stats.binom.ppf([0.0005, 0.9995], n_samples, 0.95)
    assert found[0] == 0
    assert low <= found[1] <= high
    assert low - 3 <= found[2] <= high
    assert np.mean(narrower) < 0.85


# --- errors and warnings -----------------------------------------------------------------------------------------

Q = np.repeat(range(8), 2)
SCORES = np.tile([1.0, 2.0], 8)


def of_labels(labels, *, n=8, metrics="map", **keywords):
    return evaluate(np.tile(labels, n), SCORES[: 2 * n], qid=Q[: 2 * n], metrics=metrics, **keywords)


REFUSED = {
    "four queries": (of_labels([1, 0], n=4), {}, "needs 5 queries that people judged.*Got 4 and 4"),
    "none of the model alone": (of_labels([1, 0]), {}, "two more that only the model judged. Got 8 and 0"),
    "swapped": (of_labels([1, 1]).subset([0, 1, 2, 3, 4]), {"swap": True}, "Got 3 queries of human that model lacks"),
    "weights": (of_labels([1, 0], n=5, sample_weight=np.repeat(range(1, 6), 2)), {}, "Got sample_weight in human"),
    "clusters": (of_labels([1, 0], n=5, clusters=np.repeat([1, 1, 2, 2, 2], 2)), {}, "Got clusters in human"),
    "another metric": (of_labels([1, 0], n=5, metrics="mrr"), {}, "same metrics. Got 'mrr' only in human"),
    "other keywords": (of_labels([1, 0], n=5, min_relevance=2), {}, "alike. Got 'map' with min_relevance=2"),
    "a pooled mean": (of_labels([1, 0], n=5, metrics={"map": "p@1"}, average="micro"), {}, "alike|means"),
    "values": ([0.1, 0.2], {}, r"takes results of evaluate\. .*Got list for .human."),
    "a level in percent": (of_labels([1, 0], n=5), {"confidence_level": 95}, "'confidence_level' parameter of judged"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_judges_errors(what):
    human, options, message = REFUSED[what]
    pair, options = (human, of_labels([1, 1])), dict(options)
    if options.pop("swap", False):
        pair = pair[::-1]
    with pytest.raises((ValueError, TypeError), match=message):
        judged_interval(*pair, **options)


def test_errors_for_two_systems():
    human, model = of_labels([1, 0], n=5), of_labels([1, 1])
    with pytest.raises(TypeError, match=r"a pair of results for each system: old=\(human, model\). Got Evaluation"):
        compare_judged(new=(human, model), old=model)
    with pytest.raises(ValueError, match="Got other labels in 'old by people' than in 'new by people' for 5 queries"):
        compare_judged(new=(human, model), old=(of_labels([0, 2], n=5), of_labels([1, 1])))
    with pytest.raises(ValueError, match="Got other labels in 'old by the model' than in 'new by the model'"):
        compare_judged(new=(human, model), old=(of_labels([1, 0], n=5), of_labels([2, 0])))
    two = [of_labels(labels, n=n, metrics=["map", "mrr"]) for labels, n in (([1, 0], 5), ([1, 1], 8))]
    again = [one.subset(one.qid) for one in two]
    with pytest.raises(ValueError, match="results of several need metric=. Got map, mrr"):
        compare_judged(new=two, old=again)
    assert compare_judged(new=two, old=again, metric="mrr").metric == "mrr"
    with pytest.raises(ValueError, match="'new by people', 'old by people' are one object"):
        compare_judged(new=two, old=two)
    with pytest.raises(ValueError, match="'human', 'model' are one object"):
        judged_interval(model, model)


def test_labels_of_people_mixed_into_the_labels_of_the_model():
    labels = np.tile([1, 1], 8)
    labels[:10] = np.tile([1, 0], 5)
    mixed = evaluate(labels, SCORES, qid=Q, metrics="map")
    with pytest.warns(UserWarning, match="The model's labels equal people's labels on all 5 queries that both judged"):
        judged_interval(of_labels([1, 0], n=5), mixed)
    again = mixed.subset(mixed.qid)
    with pytest.warns(UserWarning, match="The model's labels equal people's"):
        compare_judged(new=(of_labels([1, 0], n=5), mixed), old=(of_labels([1, 0], n=5), again))


@pytest.mark.parametrize("metric", ["ndcg@10", "hit@10"])
def test_queries_not_chosen_at_random(metric, rng):
    """Warn if people judged the queries that went wrong; a random part, or five equal queries, give no warning."""
    values = rng.random(400)
    values = (values < 0.8).astype(float) if metric == "hit@10" else values
    ordered = np.sort(values)
    judged_interval(*judges(values[:60], values[:60], values[60:], metric))
    judged_interval(*judges(ordered[-5:], ordered[-5:], values, metric))
    message = "The queries that people judged are not a random part of all queries: (Hit|nDCG)"
    with pytest.warns(UserWarning, match=message):
        judged_interval(*judges(ordered[:60], ordered[:60], ordered[60:], metric))
    other = judges(values[:60], values[:60], values[60:], metric)
    with pytest.warns(UserWarning, match=message):
        compare_judged(new=judges(ordered[:60], ordered[:60], ordered[60:], metric), old=other)


# --- success rates -----------------------------------------------------------------------------------------------


def test_pseudo_queries_of_a_success_rate():
    """People see 10 hits in 10 queries, and so does the model; two pseudo-queries add one model error each way."""
    human, model = judges(np.ones(10), np.ones(10), np.repeat([1.0, 0.0], [95, 5]), "hit@10")
    found = judged_interval(human, model)
    values = JudgedValues(np.append(np.ones(11), 0), np.append(np.ones(10), [0.0, 1]), np.repeat([1.0, 0], [95, 5]))
    mean, error, _ = power_tuned(values)
    low = mean - stats.t.isf(0.025, 11) * error
    assert found.confidence_interval["hit@10"] == pytest.approx((low, 1.0))
    both, people, _ = found.table.rows
    assert both[4:6] == found.confidence_interval["hit@10"]
    assert people[4:6] == confidence_interval(np.ones(10), method="wilson")
    of_values = judged_interval(*judges(np.ones(10), np.ones(10), np.repeat([1.0, 0.0], [95, 5])))
    low = mean - stats.t.isf(0.025, 9) * error
    assert of_values.confidence_interval["ndcg@10"] == pytest.approx((low, 1.0))
    assert of_values.table.rows[1][4:6] == confidence_interval(np.ones(10), bounds=(0, 1))
    assert "The interval of nDCG@10 allows for values not seen." in " ".join(str(of_values).split())
    of_values = judged_interval(*judges(np.ones(10), np.ones(10), np.repeat([1.0, 0.0], [95, 5]), "own"))
    assert np.isnan(of_values.confidence_interval["own"]).all()
    assert "right, or wrong by the same, in own on all queries of people" in " ".join(str(of_values).split())


def test_skewed_differences_of_judges_allow_for_unseen_values():
    """People see one difference of .5 in ten; two pseudo queries of the largest size, the model sees neither."""
    seen, others = np.repeat([0.5, 0.0], [1, 9]), np.repeat([0.5, 0.25, 0.0], [4, 6, 30])
    new, old = judges(seen, seen, others), judges(0 * seen, 0 * seen, 0 * others)
    found = compare_judged(new=new, old=old)
    center, error, _ = power_tuned(JudgedValues(np.append(seen, [1, -1]), np.append(seen, [0, 0]), others))
    reach = stats.t.isf(0.025, 9) * error
    assert found.confidence_interval == pytest.approx((center - reach, center + reach))
    assert found.pvalue == pytest.approx(2 * stats.t.sf(center / error, 9))
    assert "The interval of nDCG@10 allows for values not seen." in " ".join(str(found).split())


def test_five_queries_are_weak_evidence():
    """New wins all five queries: p is the exact .0625, not 0."""
    new, old = (judges(np.full(5, x), np.full(5, x), np.full(50, x), "hit@10") for x in (1.0, 0.0))
    found = compare_judged(new=new, old=old)
    assert 0.0625 <= found.pvalue < 0.08
    low, high = found.confidence_interval
    assert low < 0
    assert high == 1
    both, people, _ = found.table.rows
    by_compare = compare(*(one[0] for one in (new, old)))
    assert people[3:6] == pytest.approx((*by_compare.confidence_interval, by_compare.pvalue))
    new, old = (judges(np.full(5, x), np.full(5, x), np.full(50, x)) for x in (0.5, 0.25))
    of_values = compare_judged(new=new, old=old)
    assert (of_values.pvalue, of_values.table.rows[0][3]) == (1 / 16, None)


# --- results -----------------------------------------------------------------------------------------------------


@pytest.fixture(params=["interval", "comparison"])
def found(request, rng):
    new, old = drawn(rng, 12, 50), drawn(rng, 12, 50)
    if request.param == "comparison":
        return compare_judged(new=new, old=old)
    names = ["a_metric_with_quite_a_long_name@10", "map"]
    return judged_interval(*(
        Evaluation.from_values(one.qid, {name: one.per_query["ndcg@10"] for name in names}) for one in new
    ))  # fmt: skip


@together("level", [0.8, 0.95])
def test_rows_of_the_table(level, rng):
    """Rows of a system, and of a difference with p-values: by both judges, by people, and by the model."""
    new, old = drawn(rng, 12, 50), drawn(rng, 12, 50)
    for people, model, found in (
        (*new, judged_interval(*new, confidence_level=level)),
        (*(Evaluation.from_values(a.qid, {"d": a.per_query["ndcg@10"] - b.per_query["ndcg@10"]}) for a, b in
           zip(new, old, strict=True)), compare_judged(new=new, old=old, confidence_level=level)),
    ):  # fmt: skip
        human, labeled = (next(iter(one.per_query.values())) for one in (people, model))
        rows = [row[1:] if "metric" in found.table.columns else row for row in found.table.rows]
        assert [row[:2] for row in rows] == [("both", 62), ("people only", 12), ("model only", 62)]
        assert [row[2] for row in rows[1:]] == pytest.approx([human.mean(), labeled.mean()])
        assert rows[1][3:5] == pytest.approx(confidence_interval(human, confidence_level=level))
        assert rows[2][3:5] == (None, None)
        bias, correlation = labeled[:12].mean() - human.mean(), np.corrcoef(human, labeled[:12])[0, 1]
        assert rows[2][-2:] == pytest.approx((bias, correlation))
        is_difference = len(rows[0]) == 9
        assert is_difference == hasattr(found, "pvalue")
        if is_difference:
            assert rows[1][5] == pytest.approx(stats.ttest_1samp(human, 0).pvalue)
            assert (rows[0][5], rows[2][5]) == (found.pvalue, None)


def test_printed(found):
    assert max(map(len, str(found).splitlines())) <= 100
    assert "12 queries judged by people are few" in str(found)
    assert "<table>" in found._repr_html_()
    assert found.to_markdown().startswith("| ")
    assert found.to_latex().startswith(r"\begin{tabular}")
    assert len(found.to_frame()) == len(found.table.rows)


def test_note_with_fewer_than_twenty_queries_of_people(rng):
    """The note counts queries of the metric with the fewest; each metric with undefined queries adds a sentence."""
    assert "few" not in str(judged_interval(*drawn(rng, 20, 30)))
    assert "19 queries judged by people are few: with fewer than 20" in str(judged_interval(*drawn(rng, 19, 30)))
    values, some = rng.random(25), np.where(np.arange(25) < 3, np.nan, rng.random(25))
    human = Evaluation.from_values(range(25), {"a": values, "b": some, "c": values})
    model = Evaluation.from_values(range(50), {name: [*values, *values] for name in "abc"})
    notes = judged_interval(human, model)._notes()
    assert [note for note in notes if "wrong by the same" not in note] == [
        "3 queries of people are left out of b: it is undefined by one judge."
    ]
    assert [note.split()[10] for note in notes if "wrong by the same" in note] == ["a", "c"]
    human = Evaluation.from_values(range(21), {"a": values[:21], "b": some[:21], "c": values[:21]})
    assert "18 queries judged by people are few" in str(judged_interval(human, model))


# --- agreement ---------------------------------------------------------------------------------------------------


def test_agreement_is_kappa_of_scikit_learn(rng):
    for _ in range(10):
        human = np.append(rng.integers(0, 4, 60), [0, 1, 2, 3])
        model = np.append(np.clip(human[:60] + rng.integers(-1, 3, 60), 0, 3), [3, 0, 2, 1])
        found = judge_agreement(human, model)
        assert found.kappa == pytest.approx(cohen_kappa_score(human, model, weights="quadratic"))
        for grade, n, mean, bias, same in found.table.rows:
            at = model[human == grade]
            assert (n, mean) == (len(at), pytest.approx(at.mean()))
            assert (bias, same) == (pytest.approx(at.mean() - grade), pytest.approx(np.mean(at == grade)))


def test_agreement_of_files_and_dictionaries(tmp_path):
    people = {"q1": {"a": 0, "b": 2, "c": 1}, "q2": {"a": 1}}
    model = {"q1": {"a": 1, "b": 2}, "q2": {"a": 1, "d": 3}, "q3": {"a": 0}}
    found = judge_agreement(people, model)
    assert found.human.tolist() == [0, 2, 1]
    assert found.model.tolist() == [1, 2, 1]
    assert found.n_left_out == 3
    assert "Documents that only one of them judged are left out: 3." in str(found)
    read = []
    for name, grades in (("people", people), ("model", model)):
        lines = [f"{q} 0 {d} {grade}" for q, of_query in grades.items() for d, grade in of_query.items()]
        (tmp_path / name).write_text("\n".join(lines) + "\n")
        read.append(read_qrels(tmp_path / name))
    assert str(judge_agreement(*read)) == str(found)
    arrays = judge_agreement([0, 2, 1, 1, math.nan], [1, 2, math.nan, 1, 3])
    assert (arrays.table.rows, arrays.n_left_out) == (found.table.rows, 2)


@together("as_documents", [False, True])
def test_documents_judged_only_once_are_counted(as_documents):
    nan = math.nan
    for human, model, n_left_out in (
        ([1, 0, nan], [1, 2, nan], 0),
        ([1, 0, nan, nan, nan], [1, 2, nan, nan, 1], 1),
        ([1, 0, 2, nan], [1, nan, nan, 1], 3),
    ):
        given = [dict(enumerate(x)) for x in (human, model)] if as_documents else [human, model]
        found = judge_agreement(*([{"q": x} for x in given] if as_documents else given))
        assert found.n_left_out == n_left_out
        assert len(found.human) == len(found.model) == sum(x == x and y == y for x, y in zip(human, model, strict=True))
        assert (f"are left out: {n_left_out}." in str(found)) == (n_left_out > 0)


def test_both_judges_have_the_same_metrics():
    one, two = Evaluation.from_values(range(5), {"a": np.arange(5) / 5}), np.arange(9) / 9
    more = Evaluation.from_values(range(9), {"a": two, "b": two})
    for people, model in ((one, more), (more.subset(range(5)), Evaluation.from_values(range(9), {"a": two}))):
        with pytest.raises(ValueError, match="results with the same metrics. Got 'b' only in"):
            judged_interval(people, model)


def test_agreement_that_is_undefined():
    assert math.isnan(judge_agreement([1, 1], [1, 1]).kappa)
    assert "no kappa" in str(judge_agreement([1, 1], [1, 1]))
    assert judge_agreement([0, 0, 1], [1, 1, 1]).kappa == pytest.approx(0)
    with pytest.raises(
        ValueError, match="same ids of queries and documents. Got 1 judged by people and 1 by the model"
    ):
        judge_agreement({"q": {"a": 1}}, {"q": {"b": 1}})
    with pytest.raises(ValueError, match="arrays of equal length. Got 2 and 3"):
        judge_agreement([1, 2], [1, 2, 3])
    table = {"qid": [1, 1, 2], "doc_id": ["a", "a", "a"], "label": [2, 0, 1]}
    for duplicates in ("nonrelevant", "first"):
        entries, again = (read_qrels(table, duplicates=duplicates) for _ in range(2))
        assert judge_agreement(entries, again).human.tolist() == [2, 1]
    with pytest.raises(ValueError, match=r"one grade for each document.*Got 1 repeated documents"):
        judge_agreement(read_run(table, value="label", duplicates="nonrelevant"), {1: {"a": 2}})
    with pytest.raises(TypeError, match="from both judges, or two arrays. Got dict and list"):
        judge_agreement({"q": {"a": 1}}, [1])
    with pytest.raises(TypeError, match=r"Got set for query 'q'"):
        judge_agreement({"q": {"a"}}, {"q": {"a": 1}})
