"""People and a model that judged different shares of the documents: refused, or noted, by the shares of the results.

Expected intervals are those of lists that people judged completely, and shares are counted by hand.
"""

import numpy as np
import pandas as pd
import pytest

from sklearn_rank import evaluate, evaluate_run, evaluate_table
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare_judged, judged_interval

N, DEPTH, N_PEOPLE = 80, 10, 40
"""Queries, documents of each list, and queries of people."""


def drawn(n_judged):
    """Labels of people, who judged so many of each ten documents of their queries; labels of the model; scores."""
    rng = np.random.default_rng(7)
    truth = (rng.random((N, DEPTH)) < 0.34) * 1.0
    by_model = np.where(rng.random((N, DEPTH)) < 0.1, 1 - truth, truth)
    score = np.tile(np.arange(DEPTH, 0, -1.0), (N, 1))
    by_people = np.where(score > DEPTH - n_judged, truth, np.nan)[:N_PEOPLE]
    return by_people, by_model, score


def of_arrays(label, score, metrics):
    qid = np.repeat(np.arange(len(label)), DEPTH)
    return evaluate(label.ravel(), score[: len(label)].ravel(), qid=qid, metrics=metrics, unjudged="nonrelevant")


def of_table(label, score, metrics):
    qid = np.repeat(np.arange(len(label)), DEPTH)
    table = pd.DataFrame({"label": label.ravel(), "score": score[: len(label)].ravel(), "qid": qid})
    return evaluate_table(table, metrics=metrics, unjudged="nonrelevant")


def of_run(label, score, metrics):
    """Every query has documents of its own."""
    judgments = {i: {(i, j): int(y) for j, y in enumerate(row) if y == y} for i, row in enumerate(label)}
    run = {i: {(i, j): float(s) for j, s in enumerate(row)} for i, row in enumerate(score[: len(label)])}
    return evaluate_run(judgments, run, metrics=metrics)


def same(result, _):
    return result


def loaded(result, path):
    result.save(path / "result")
    return Evaluation.load(path / "result")


WAYS = {"arrays": of_arrays, "table": of_table, "run": of_run}
KEPT = {"kept": same, "loaded": loaded}
MESSAGE = r"people must have judged the documents that the model judged.*all documents of some queries.*Got {} % of {} "


def both(n_judged, *, way="arrays", kept="kept", path=None, metrics="p@10"):
    by_people, by_model, score = drawn(n_judged)
    results = [WAYS[way](label, score, metrics) for label in (by_people, by_model)]
    return tuple(KEPT[kept](result, path) for result in results)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kept", KEPT)
def test_shares_of_judges_at_the_boundary(way, kept, tmp_path):
    """8 of 10 is below nine tenths, 9 of 10 is not, and 10 of 10 is equal."""
    keywords = {"way": way, "kept": kept, "path": tmp_path}
    with pytest.raises(ValueError, match="In judged_interval " + MESSAGE.format(80, "the first 10")):
        judged_interval(*both(8, **keywords))
    note = "unequal judging: 90 % of the first 10 judged by people and 100 % by the model."
    assert note in str(judged_interval(*both(9, **keywords)))
    assert "unequal" not in str(judged_interval(*both(10, **keywords)))


@pytest.mark.parametrize("way", WAYS)
def test_two_systems_of_partly_judged_lists(way):
    """People judged 8 of 10: all of the first five of one order, and three of the first five of the other."""

    def of_order(shift, n_judged):
        by_people, by_model, score = drawn(n_judged)
        return tuple(WAYS[way](label, np.roll(score, shift, axis=1), "p@5") for label in (by_people, by_model))

    assert "unequal" not in str(compare_judged(new=of_order(0, 10), old=of_order(5, 10)))
    for new, old in ((0, 5), (5, 0)):
        with pytest.raises(ValueError, match="In compare_judged " + MESSAGE.format(60, "the first 5")):
            compare_judged(new=of_order(new, 8), old=of_order(old, 8))


def test_the_depth_is_the_cutoff_or_the_list():
    for metrics, where in (("map", "all retrieved"), ("p@5", "the first 5")):
        by_people, by_model, score = drawn(4)
        results = [of_arrays(label, score, metrics) for label in (by_people, by_model)]
        with pytest.raises(ValueError, match=MESSAGE.format(80 if metrics == "p@5" else 40, where)):
            judged_interval(*results)
    assert "unequal" not in str(judged_interval(*both(5, metrics="p@5")))


def test_an_audit_of_passages():
    """People graded 50 passages of 80 questions: .03 [.01, .05] was printed, where the model says .34."""
    rng = np.random.default_rng(3)
    _, by_model, score = drawn(10)
    audited = np.full(by_model.size, np.nan)
    chosen = rng.choice(by_model.size, 50, replace=False)
    audited[chosen] = by_model.ravel()[chosen]
    by_people = audited.reshape(by_model.shape)[:N_PEOPLE]
    human, model = (of_arrays(label, score, "p@5") for label in (by_people, by_model))
    assert human.judged["p@5"].mean() == np.mean(~np.isnan(by_people[:, :5]))
    assert human.mean()["p@5"] < 0.05 < 0.3 < model.mean()["p@5"]
    with pytest.raises(ValueError, match="judged by people and 100 % by the model"):
        judged_interval(human, model)


def test_complete_lists_of_some_questions_have_the_right_mean():
    """The formula of prediction-powered inference, with the tuned lambda, on values counted by hand."""
    by_people, by_model, _ = drawn(10)
    y, f, g = by_people[:, :5].mean(1), by_model[:N_PEOPLE, :5].mean(1), by_model[N_PEOPLE:, :5].mean(1)
    everything, n, m = np.concatenate([f, g]), N_PEOPLE, N - N_PEOPLE
    lam = np.clip(np.mean((y - y.mean()) * (f - f.mean())) / ((1 + n / m) * everything.var(ddof=1)), 0, 1)
    found = judged_interval(*both(10, metrics="p@5"))
    assert found.mean["p@5"] == pytest.approx(y.mean() + lam * (g.mean() - f.mean()))
    low, high = found.confidence_interval["p@5"]
    assert low < 0.34 < high


def test_unknown_shares_are_not_refused():
    human, model = both(4, metrics="p@10")
    given = [Evaluation.from_values(x.qid, {"p@10": x.per_query["p@10"]}) for x in (human, model)]
    assert "unequal" not in str(judged_interval(*given))


def test_judgments_that_only_name_relevant_documents_are_noted():
    """Whether people read the others is not known."""
    by_people, by_model, score = drawn(10)
    by_people = np.where(by_people == 1, 1, np.nan)
    found = judged_interval(*(of_run(label, score, "p@10") for label in (by_people, by_model)))
    assert f"{100 * np.mean(by_people == 1):.3g} % of the first 10 judged by people" in str(found)
