"""New formulas are tried when they are defined: wrong ones raise, correct ones leave no trace."""

import re
import subprocess
import sys
import warnings
from collections import Counter
from functools import wraps

import numpy as np
import pytest
from registry import METRICS, each

from sklearn_rank import check_metric, metric
from sklearn_rank._engine.ranking import NO_CUTOFF
from sklearn_rank._metric.decorator import _define_again, formula_of
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.metrics import map_score, ndcg_score

ALONE, TIES, ROWS = "whatever other queries there are", "the mean over all their orders", "the order of the rows"

WRONG = [
    (ALONE, lambda r: r.label.max()),
    (ALONE, lambda r: r.n.mean()),
    (ALONE, lambda r: len(r.label)),
    (ALONE, lambda r: r.cumsum(r.label) / r.label.sum()),
    (ALONE, lambda r: (r.cumsum(r.label), r.ideal.label.max())),
    (ALONE, lambda r: r.cumsum(r.label - r.label.mean())),
    (ALONE, lambda r: r.cumsum(r.label == r.label.max())),
    (ALONE, lambda r: r.cumsum(weight=np.cumsum(r.label) / r.rank)),
    (ALONE, lambda r: r.cumsum(np.cumprod(1 - r.relevant))),
    (ALONE, lambda r: r.cumsum(r.label, weight=1 / np.arange(1, len(r.label) + 1))),
    (ALONE, lambda r: r.cumsum(r.label) / (10 + r.score[r.score > -np.inf].max())),
    (ALONE, lambda r: r.cumsum(r.label)[::-1]),
    (TIES, lambda r: r.cumsum(weight=r.label)),
    (TIES, lambda r: r.cumsum(weight=r.relevant)),
    (TIES, lambda r: r.cumsum(weight=r.label / r.rank)),
    (TIES, lambda r: r.cumsum(r.label / r.rank)),
    (TIES, lambda r: r.cumsum(r.rank)),
    (TIES, lambda r: r.cumsum(r.cascade(r.relevant))),
    (TIES, lambda r: r.cumsum(weight=r.cascade(r.relevant) * r.label)),
    (TIES, lambda r: r.cumsum(r.relevant, weight=r.cascade(r.relevant))),
    (TIES, lambda r: r.cumsum(r.label, weight=r.joint(1, r.relevant))),
    (TIES, lambda r: (r.cumsum(r.label), r.cumsum(r.relevant))),
    (TIES, lambda r: (r.cumsum(r.label), np.maximum(r.cumsum(r.relevant), 1))),
    (TIES, lambda r: (r.cumsum(r.relevant), r.cumsum(r.relevant))),
    (ALONE, lambda r: 1 + 1e-7 * len(r.label)),
    (ALONE, lambda r: 1e-10 * len(r.label)),
    (ALONE, lambda r: (1.0 * len(r.label), r.cumsum() < 2)),
    (TIES, lambda r: np.sqrt(r.cumsum(r.label))),
    (TIES, lambda r: np.minimum(r.cumsum(r.relevant), 1)),
    (TIES, lambda r: r.cumsum(r.label) > 1),
    (TIES, lambda r: r.highest(r.joint(1.0, r.relevant) / r.rank)),
    (TIES, lambda r: np.array([y[0] if len(y) else 0 for y, _ in r.queries()])[:, None]),
    (TIES, lambda r: (formula_of(map_score)(r, denominator="relevant")[0], r.cumsum(r.relevant) + 1)),
]


@pytest.mark.parametrize(("rule", "formula"), WRONG)
def test_a_wrong_formula_raises_at_definition(rule, formula):
    with pytest.raises(ValueError, match=f"The formula of <lambda> was tried on a few queries, and .*{rule}. Got "):
        metric("wrong")(formula)
    assert "wrong" not in REGISTRY


def test_probe_errors_name_a_way_out():
    with pytest.raises(
        ValueError, match=r"is a value, .* is a weight; .* call r.refuse_ties .* or declare defines_ties=True"
    ):
        metric("wrong")(lambda r: r.cumsum(weight=r.label))
    with pytest.raises(ValueError, match=r"sum them by r.cumsum, and repeat a number per query by r.of_query"):
        metric("wrong")(lambda r: r.n.sum())


@pytest.mark.parametrize(
    ("facts", "formula"),
    [
        ({"pointwise": True}, lambda r: r.cumsum(r.label, weight=r.rank)),
        ({"defines_ties": True}, lambda r: r.cumsum(weight=r.label / r.rank)),
        ({"has_cutoff": False}, lambda r: np.array([y @ np.arange(len(y)) for y, _ in r.queries()])[:, None]),
    ],
)
def test_the_order_of_rows_must_not_matter(facts, formula):
    with pytest.raises(ValueError, match=f"{ROWS}|{TIES}"):
        metric("wrong", **facts)(formula)


RIGHT = [
    ({}, lambda r: 3),
    ({}, lambda r: r.n_relevant),
    ({}, lambda r: r.cumsum(r.label, weight=0.5**r.rank)),
    ({}, lambda r: (2 * r.cumsum(r.relevant), r.n_relevant + r.k)),
    ({}, lambda r: 1 + 1e-12 * len(r.label)),
    ({}, lambda r: 1e-15 * len(r.label)),
    ({"needs_relevant": True}, lambda r: np.where(r.n_relevant > 0, r.n_relevant, 1.0 * len(r.label))),
    ({}, lambda r: (r.cumsum(r.relevant), np.minimum(r.k, np.maximum(r.n, 1)))),
    ({}, lambda r: r.cumsum(weight=r.cascade(r.label))),
    ({}, lambda r: r.cumsum(weight=r.cascade(r.label / 10) / r.rank)),
    ({}, lambda r: r.cumsum(weight=r.cascade(r.relevant, upwards=True) * r.rank)),
    ({}, lambda r: r.cumsum(weight=r.joint(r.relevant, r.label) / r.rank)),
    ({}, lambda r: r.cumsum(weight=r.overlap() / r.rank)),
    ({}, lambda r: r.cumsum(r.centered_ranks(r.label))),
    ({}, lambda r: (r.pairs().right, np.maximum(r.n, 1))),
    ({}, lambda r: (r.cumsum(r.label, weight=1 / r.rank), r.ideal.cumsum(r.ideal.label, weight=1 / r.ideal.rank))),
    ({}, lambda r: r.cumsum(r.label, weight=1 / (1 + r.ideal_sum(r.ideal.label)))),
    ({}, lambda r: (r.cumsum(r.relevant), r.most_novel(0.5).cumsum(r.most_novel(0.5).relevant))),
    ({}, lambda r: r.cumsum(r.relevant, weight=r.at_tie_end(r.joint(1, r.relevant) / r.rank))),
    ({}, lambda r: (r.refuse_ties("x"), r.highest(r.joint(1.0, r.relevant) / r.rank))[1]),
    ({}, lambda r: r.cumsum(np.array([0, 1, 3, 7.0])[r.label.astype(int)])),
    ({}, lambda r: r.cumsum(np.log(r.label))),
    ({}, lambda r: (r.cumsum(r.label, weight=r.rank <= r.of_query(r.n_relevant)), r.n_relevant)),
    ({"labels": (0, 1)}, lambda r: r.cumsum(weight=r.cascade(r.label))),
    ({"labels": (-1, 1)}, lambda r: r.cumsum(r.label, weight=1 / r.rank)),
    ({"labels": (0, "most")}, lambda r, most=2: r.cumsum(np.eye(most + 1)[most][r.label.astype(int)])),
    ({"reads_unjudged": True}, lambda r: r.cumsum(r.judged, weight=1 / r.rank)),
    ({"subtopics": True}, lambda r: r.over_subtopics(lambda s: s.cumsum(weight=s.cascade(s.relevant))).sum(axis=0)),
    ({"pointwise": True}, lambda r: (r.cumsum((r.label - r.score) ** 2), r.n)),
    ({"reads_scores": True, "defines_ties": True}, lambda r: (r.cumsum(r.relevant * (r.score > 2)), r.n_relevant)),
    (
        {"has_cutoff": False, "defines_ties": True},
        lambda r: r.cumsum(r.centered_ranks(r.score) * r.centered_ranks(r.label)),
    ),
    ({"has_cutoff": False}, lambda r: (r.pairs().right - r.pairs().wrong, np.maximum(r.n, 1))),
    ({"has_cutoff": False}, lambda r: np.array([y.sum() for y, s in r.queries()])[:, None]),
    ({"has_cutoff": False, "keeps_unretrieved": True}, lambda r: (r.cumsum(r.label, weight=r.rank), r.cumsum(r.label))),
    ({"transform": np.sqrt}, lambda r: r.cumsum(r.relevant)),
]


@pytest.mark.parametrize(("facts", "formula"), RIGHT)
def test_a_correct_formula_passes_the_probe(facts, formula):
    returned = []

    @wraps(formula)
    def recorded(r, **keywords):
        returned.append(formula(r, **keywords))
        return returned[-1]

    metric("right", **facts)(recorded)
    assert returned


@each(METRICS)
def test_built_in_formulas_keep_the_laws(metric):
    laws = check_metric(metric.name)
    assert laws["a query has its value by itself"] == laws["the order of rows does not matter"] == "holds"


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyError, ValueError, TypeError])
def test_probe_passes_on_errors_of_the_formula(error):
    def picky(r):
        if r.n.max() < 10:
            raise error("more!")
        return r.cumsum(r.label)

    assert metric("picky")(picky)(np.ones(10), np.arange(10), qid=np.zeros(10)) == 10


def test_the_probe_warns_of_implausible_values():
    def weighted(r):
        return r.cumsum(r.label * r.score)

    with pytest.warns(UserWarning, match="weighted reads the values of scores, .* Declare reads_scores=True") as found:
        metric("weighted")(weighted)
    assert found[0].filename == __file__
    metric("weighted", reads_scores=True)(weighted)


def test_the_probe_runs_once():
    times = []

    def counted(r):
        times.append(1)
        return r.cumsum(r.label)

    once = metric("counted")(counted)
    tried = len(times)
    cloudpickle = pytest.importorskip("cloudpickle")
    again = cloudpickle.loads(cloudpickle.dumps(once))
    _define_again("counted", counted, {}, {})
    assert (tried > 0, len(times)) == (True, tried)
    assert again([1, 2], [2, 1], qid=[0, 0]) == once([1, 2], [2, 1], qid=[0, 0])


@pytest.mark.slow
def test_built_in_formulas_skip_the_probe():
    code = "import sys, sklearn_rank; sys.exit('sklearn_rank._metric.metric_check' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_probe_errors_show_no_data():
    """The example is a built-in formula under another name."""
    entry = metric("again")(formula_of(ndcg_score)).metric
    assert entry.is_built_in
    assert not metric("mine")(lambda r: r.cumsum()).metric.is_built_in


def tried(highest=np.inf, **properties):
    """For each probe: its cutoff, and the labels and scores of each list with documents."""
    times = []

    def formula(r):
        starts = np.flatnonzero(r.rank == 1)[1:]
        times.append((r.cutoff.item(), np.split(r.label, starts), np.split(r.score, starts)))
        if r.label.max() > highest:
            raise ValueError
        return r.cumsum(r.label[:, 0] if r.label.ndim == 2 else np.nan_to_num(r.label))

    metric("tried", **properties)(formula)
    return times


def test_lists_of_the_probe():
    """Single lists, all lists together, other orders of rows, and all orders of tied documents."""
    times = tried()
    assert [*dict.fromkeys(cutoff for cutoff, _, _ in times)] == [1, 2, 3, NO_CUTOFF]
    assert sorted(times[0][1]) == [0, 1, 2, 3], "the first ranks have all grades"
    _, labels, scores = next(one for one in times if one[0] == NO_CUTOFF)
    assert labels[-1].max() == 0
    assert sum(map(len, scores)) == 5 + 3 + 4 + 2 - 2
    assert len({*np.concatenate(scores)}) == 12
    (ties,) = {
        tuple(sorted(tuple(np.unique(-score, return_counts=True)[1]) for score in scores))
        for cutoff, _, scores in times if cutoff == NO_CUTOFF and len(scores) > 4
    }  # fmt: skip
    assert ties == tuple(sorted([(4,)] * 24 + [(3, 1)] * 24 + [(1, 2)] * 24 + [(2, 2)] * 24))
    times = tried(pointwise=True)
    assert [[len(label) for label in labels] for _, labels, _ in times[:6]] == [
        [5, 3, 4, 2],
        [5],
        [3],
        [4],
        [2],
        [5, 3, 4, 2],
    ]
    assert Counter(np.concatenate(times[0][1])) == {0: 8, 1: 2, 2: 2, 3: 2}


@pytest.mark.parametrize(
    ("properties", "grades"),
    [
        ({}, {0, 1, 2, 3}),
        ({"labels": (0, 4)}, {0, 1, 3, 4}),
        ({"labels": (-1, 2)}, {-1, 0, 1, 2}),
        ({"labels": (-1, 2), "highest": 1}, {-1, 0, 1, 2, 0.5}),
        ({"labels": (0, 2), "highest": 1}, {0, 1, 2, 0.5}),
        ({"labels": (None, 0.6), "highest": 0.9}, {0, 0.3, 0.6}),
        ({"subtopics": True}, {0, 1, 2, 3}),
    ],
)
def test_labels_of_the_probe(properties, grades):
    """Grades, or probabilities if the formula rejects grades."""
    times = tried(has_cutoff=False, **properties)
    assert {*np.concatenate([label.ravel() for _, labels, _ in times for label in labels]).tolist()} == grades
    assert {label.shape[1:] for _, labels, _ in times for label in labels} == {(3,) * ("subtopics" in properties)}


def test_a_formula_that_reads_unjudged_documents_gets_some():
    n_unjudged = [sum(np.isnan(label).sum() for label in labels) for _, labels, _ in tried(reads_unjudged=True)]
    assert max(n_unjudged) == 4 * 24
    assert not any(np.isnan(label).any() for _, labels, _ in tried() for label in labels)


def test_probe_errors_show_two_values_and_the_cutoff():
    for formula, at in (
        (lambda r: len(r.label) + (r.k > 2) * 0.0, " at k=1"),
        (lambda r: 1.0 * (r.k > 2) * len(r.label), " at k=3"),
    ):
        with pytest.raises(ValueError, match=rf"Got (\S+) and (\S+) for one query{at}\.") as caught:
            metric("wrong")(formula)
        found, expected = re.search(r"Got (\S+) and (\S+) for", str(caught.value)).groups()
        assert found != expected
    with pytest.raises(ValueError, match=r"Got (\S+) and (?!\1 )\S+ for one query\. If equal scores leave it open"):
        metric("wrong", pointwise=True)(lambda r: r.cumsum(r.label, weight=np.where(r.of_query(r.n) == 5, r.rank, 1)))
    with pytest.raises(ValueError, match=r"Got 12 and 4 for one query\. r.label"):
        metric("wrong", has_cutoff=False)(lambda r: len(r.label))


def test_warnings_and_floating_point_errors_do_not_stop_the_probe():
    def warns(r):
        warnings.warn("of its own", UserWarning, stacklevel=1)
        return len(r.label) / r.n_relevant

    with np.errstate(all="raise"), pytest.raises(ValueError, match=ALONE):
        metric("wrong")(warns)


def test_the_probe_warns_if_only_a_cutoff_has_a_value():
    """It changes the scores at each cutoff that has a value."""

    def from_two_on(r):
        if r.cutoff.item() == 1:
            raise ValueError
        return r.cumsum(r.label * r.score)

    with pytest.warns(UserWarning, match="from_two_on reads the values of scores"):
        metric("two")(from_two_on)

    def at_cutoffs(r):
        if r.cutoff.item() == NO_CUTOFF:
            raise ValueError
        return r.cumsum(r.label * r.score)

    with pytest.warns(UserWarning, match="at_cutoffs reads the values of scores"):
        metric("cut")(at_cutoffs)


def test_a_formula_without_a_value_for_one_order_of_ties():
    """Only the other orders are compared."""
    tried = []

    def formula(r):
        if r._order.tie_ends is None and (np.diff(np.sort(r.score[:4])) == 0).any():
            tried.append(len(r.score))
            raise TypeError
        return r.cumsum(r.label)

    metric("right")(formula)
    assert tried
