"""Gates by floor and by segment: decisions by hand, exact levels, what is said, and errors."""

import numpy as np
import pytest
from scipy import stats

from sklearn_rank import evaluate
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import no_worse


def given(values, metric="recall@1", **keywords):
    return Evaluation.from_values(range(len(values)), {metric: np.asarray(values, float)}, **keywords)


def hits(n, of):
    return given([1] * n + [0] * (of - n))


def lower_bound(x, lost=0.0, n_lost=1.5):
    """Student's bound at 95 % with 1.5 values added."""
    n, size = len(x), len(x) + n_lost
    mean = (np.sum(x) + n_lost * lost) / size
    variance = (np.sum(np.square(x)) + n_lost * lost**2) / size - mean**2
    return mean - stats.t.isf(0.05, n) * np.sqrt(variance / n)


# --- floors ------------------------------------------------------------------------------------------------------


def test_floors_by_hand(rng):
    """A lost query has the worst value of the metric: 0, or -1 for a correlation; the other side adds the best."""
    x = rng.uniform(0.6, 1, 50)
    gate = no_worse(new=given(x, "ndcg@10"), at_least={"ndcg@10": 0.7})
    row = dict(zip(gate.floors.columns, gate.floors.rows[0], strict=True))
    assert row["low"] == pytest.approx(lower_bound(x))
    assert row["high"] == pytest.approx(1 - lower_bound(1 - x))
    assert (gate.decision, bool(gate), row["met if"]) == ("met", True, "low > 0.7")
    assert no_worse(new=given(x, "ndcg@10"), at_least={"ndcg@10": 0.79}).decision == "undecided"
    assert no_worse(new=given(x, "ndcg@10"), at_least={"ndcg@10": 0.9}).decision == "missed"
    y = 2 * x - 1
    low = no_worse(new=given(y, "kendall"), at_least={"kendall": 0.4}).floors.rows[0][3]
    assert low == pytest.approx(lower_bound(y, lost=-1.0))


def test_ceilings_mirror_floors(rng):
    x = rng.beta(2, 8, 60)
    floor = no_worse(new=given(1 - x, "ndcg@10"), at_least={"ndcg@10": 0.7}).floors.rows[0]
    ceiling = no_worse(
        new=given(x, "fallout", greater_is_better={"fallout": False}),
        at_most={"fallout": 0.3},
    ).floors.rows[0]
    assert ceiling[2:5] == pytest.approx((1 - floor[2], 1 - floor[4], 1 - floor[3]))
    assert (ceiling[5], ceiling[-1]) == (pytest.approx(floor[5]), floor[-1])


def test_rates_name_what_passes():
    gate = no_worse(new=hits(20, 20), at_least={"recall@1": 0.8})
    assert "20 questions" not in str(gate)
    assert "20 queries: Recall@1 must be 1.0000 or more; 15 of 20 is 0.750, 16 of 20 is 0.800." in str(gate)
    assert "32 of 41 is 0.780, 33 of 41 is 0.805" in " ".join(
        str(no_worse(new=hits(35, 41), at_least={"recall@1": 0.8})).split()
    )
    few = no_worse(new=hits(9, 9), at_least={"recall@1": 0.8})
    n_least = next(n for n in range(2, 99) if lower_bound(np.ones(n)) > 0.8)
    assert f"no mean of Recall@1 can pass, because {n_least} are the least" in str(few)
    assert no_worse(new=hits(n_least, n_least), at_least={"recall@1": 0.8})
    assert not no_worse(new=hits(n_least - 1, n_least - 1), at_least={"recall@1": 0.8})


@pytest.mark.parametrize("floor", [0.5, 0.8, 0.95])
def test_the_least_mean_passes_and_no_lower_one(floor, rng):
    for n in (80, 150):
        least = round(n * no_worse(new=hits(n // 2, n), at_least={"recall@1": floor}).floors.rows[0][-2] or 0)
        decisions = [
            bool(no_worse(new=hits(k, n), at_least={"recall@1": floor}))
            for k in range(least - 2, min(least + 3, n + 1))
        ]
        assert decisions == [k >= least for k in range(least - 2, min(least + 3, n + 1))]
    x = rng.uniform(0.2, 1, 80)
    least = no_worse(new=given(x, "ndcg@10"), at_least={"ndcg@10": floor}).floors.rows[0][-2]
    for shift, decision in ((1e-6, True), (-1e-6, False)):
        moved = 1 - (1 - x) * (1 - least - shift) / (1 - x.mean())
        assert bool(no_worse(new=given(moved, "ndcg@10"), at_least={"ndcg@10": floor})) == decision


@pytest.mark.parametrize("n", [10, 50, 300])
@pytest.mark.parametrize("floor", [0.05, 0.3, 0.8, 0.97])
def test_exact_levels_of_rates(n, floor):
    """At a mean of exactly the floor, met and missed are rare; probabilities of all counts are summed."""
    decisions = [no_worse(new=hits(k, n), at_least={"recall@1": floor}).decision for k in range(n + 1)]
    counts = stats.binom.pmf(np.arange(n + 1), n, floor)
    for wrong in ("met", "missed"):
        assert counts[[decision == wrong for decision in decisions]].sum() <= 0.05


def test_floors_with_a_baseline():
    old, new = hits(60, 100), hits(95, 100)
    gate = no_worse(new=new, old=old, margin=0.05, at_least={"recall@1": 0.8})
    assert gate.verdict == (
        "No worse: new does not lose more than the margin, and Recall@1 is at least 0.8 (mean 0.9500), alpha=0.05"
    )
    assert (len(gate.table.rows), len(gate.floors.rows)) == (1, 1)
    assert no_worse(new=new, old=old, at_least={"recall@1": 0.8}).decision == "no loss shown"
    missed = no_worse(new=hits(60, 100), old=old, margin=0.05, at_least={"recall@1": 0.8})
    assert (missed.decision, missed.decisions) == ("missed", {"recall@1": "no worse"})
    both = no_worse(new=old, old=new, margin=0.05, at_least={"recall@1": 0.8})
    assert both.decision == "worse"
    assert "; Recall@1 is not at least 0.8 (mean 0.6000)" in both.verdict
    assert "Floors" in no_worse(new=new, at_least={"recall@1": 0.8}).to_html()
    # The old system does not need the metric of a floor.
    more = Evaluation.from_values(new.qid, {**new.per_query, "mrr": new.per_query["recall@1"]})
    for margin in (None, 0.05):
        gate = no_worse(new=more, old=old, margin=margin, at_least={"mrr": 0.8})
        assert (bool(gate), [*gate.decisions], [row[0] for row in gate.floors.rows]) == (True, ["recall@1"], ["mrr"])
        with pytest.raises(ValueError, match="needs results with the same metrics.* Got 'mrr' in only one"):
            no_worse(new=more, old=old, margin=margin)


def test_floors_leave_out_what_no_ranking_changes():
    y, qid = [1, 0, 0, 0, 0, 1, 0, 1], [0, 0, 1, 1, 2, 2, 3, 3]
    found = evaluate(y, [2, 1] * 4, qid=qid, metrics="mrr")
    assert no_worse(new=found, at_least={"mrr": 0.5}).floors.rows[0][1:3] == (3, pytest.approx(2 / 3))
    assert no_worse(new=found, at_least={"mrr": 0.5}, replace_undefined_by=0).floors.rows[0][1] == 4
    assert "1 of 4 queries has no relevant document and is left out" in str(no_worse(new=found, at_least={"mrr": 0.5}))
    missed = evaluate([0, 1] * 9 + [0, 0], [2, 1] * 10, qid=np.arange(20) // 2, metrics="recall@1")
    assert no_worse(new=missed, at_least={"recall@1": 0.5}).floors.rows[0][1:3] == (9, 0)
    with pytest.raises(ValueError, match="two queries or more whose values a ranking can change. Got 0"):
        no_worse(new=evaluate([0, 0, 0, 0], [2, 1, 2, 1], qid=[0, 0, 1, 1], metrics="mrr"), at_least={"mrr": 0.5})


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({}, ValueError, "old=, or a floor, such as at_least"),
        ({"margin": 0.1, "at_least": {"mrr": 0.5}}, ValueError, "margin= of no_worse compares with an old system"),
        ({"by": "x", "at_least": {"mrr": 0.5}}, ValueError, "by= of no_worse compares with an old system"),
        ({"at_least": {"map": 0.5}}, ValueError, "must name metrics of the new result: 'mrr', 'mse', 'dcg'. Got 'map'"),
        ({"at_least": 0.5}, TypeError, "must be a dict of numbers by metric"),
        ({"at_least": {"mrr": "0.5"}}, TypeError, "must be a dict of numbers by metric"),
        ({"at_least": {"mse": 0.5}}, ValueError, "Where lower is better pass at_most=, not at_least="),
        ({"at_most": {"mrr": 0.5}}, ValueError, "Where higher is better pass at_least=, not at_most="),
        ({"at_least": {"mrr": 1.0}}, ValueError, "between the lowest and the highest value.*from 0 to 1"),
        ({"at_most": {"mse": 0.5}}, ValueError, "must have both.*no bounds are known"),
        ({"at_least": {"dcg": 0.5}}, ValueError, "must have both.*no bounds are known"),
    ],
)  # fmt: skip
def test_errors_of_floors(keywords, error, message, rng):
    values = rng.random((3, 9))
    new = Evaluation.from_values(range(9), dict(zip(("mrr", "mse", "dcg"), values, strict=True)))
    with pytest.raises(error, match=message):
        no_worse(new=new, **keywords)


# --- segments ----------------------------------------------------------------------------------------------------


@pytest.fixture
def by_language(rng):
    """Two systems on 200 queries; the new one loses 0.25 on the 20 of one language."""
    language = np.array(["de"] * 20 + ["en"] * 100 + ["fr"] * 75 + ["it"] * 5)
    old = rng.uniform(0.4, 0.9, 200)
    new = np.clip(old + rng.normal(0, 0.1, 200) + np.where(language == "de", -0.25, 0.03), 0, 1)
    return language, {"new": given(new, "ndcg@10"), "old": given(old, "ndcg@10")}


def test_a_segment_that_loses_is_named(by_language):
    language, systems = by_language
    assert no_worse(**systems, margin=0.05).decision == "no worse"
    gate = no_worse(**systems, margin=0.05, by={"language": language})
    assert (gate.decision, gate.decisions, bool(gate)) == ("worse", {"ndcg@10": "no worse"}, False)
    rows = {row[0]: dict(zip(gate.segments.columns, row, strict=True)) for row in gate.segments.rows}
    assert {name: row["decision"] for name, row in rows.items()} == {
        "de": "worse", "en": "no loss shown", "fr": "no loss shown", "it": "too small"
    }  # fmt: skip
    gain = (systems["new"].per_query["ndcg@10"] - systems["old"].per_query["ndcg@10"])[language == "de"]
    p = stats.ttest_1samp(gain, -0.05, alternative="less").pvalue
    most = np.abs(gain).max()  # all 20 lose it by chance, if a query may also win it
    assert rows["de"]["p corrected"] == pytest.approx(3 * max(p, ((most + 0.05) / (2 * most)) ** 20))
    assert rows["de"]["difference"] == pytest.approx(gain.mean())
    assert "nDCG@10 of language=de" in gate.verdict
    text = " ".join(str(gate).split())
    assert "Too small to show any loss beyond the margin: language=it (5)." in text
    assert "together in at most 10 %" in text
    assert "<h2>Segments</h2>" in gate.to_html()
    assert "language=de" in gate.to_markdown()


def test_margins_of_segments(by_language):
    language, systems = by_language

    def decision(**keywords):
        return no_worse(**systems, margin=0.05, by={"language": language}, **keywords).decision

    assert decision(segment_margin=0.4) == decision(segment_margin={"de": 0.4}) == "no worse"
    assert decision(segment_margin={"en": 0.4}) == "worse"
    assert no_worse(**systems, by={"language": language}).decision == "worse"
    for wrong, error, message in (
        ({"xx": 0.1}, ValueError, "must name segments: 'de', 'en', 'fr', 'it'. Got 'xx'"),
        (-1, ValueError, "must be a number >= 0"),
        ("0.1", TypeError, "must be a number >= 0"),
    ):
        with pytest.raises(error, match=message):
            decision(segment_margin=wrong)
    with pytest.raises(ValueError, match="pass by=, too"):
        no_worse(**systems, margin=0.05, segment_margin=0.1)


def test_segments_of_results_are_taken(by_language):
    language, systems = by_language
    values = {name: one.per_query["ndcg@10"] for name, one in systems.items()}
    having = {name: given(x, "ndcg@10", by={"language": language}) for name, x in values.items()}
    expected = no_worse(**systems, margin=0.05, by={"language": language})
    for new, old in (("having", "having"), ("having", "without"), ("without", "having")):
        known = {"having": having, "without": systems}
        found = no_worse(new=known[new]["new"], old=known[old]["old"], margin=0.05)
        assert found.segments == expected.segments
        assert str(found) == str(no_worse(new=known[new]["new"], old=known[old]["old"], margin=0.05, by="language"))
    assert no_worse(**having, margin=0.05, by=()).segments.rows == ()


def test_segments_of_queries_of_either_system(by_language):
    language, systems = by_language
    by = {i: str(name) for i, name in enumerate(language)}
    new = systems["new"].subset(range(1, 200))
    gate = no_worse(new=new, old=systems["old"], margin=0.05, missing="worst", by={"language": by})
    assert [row[2] for row in gate.segments.rows] == [20, 100, 75, 5]


def test_segments_are_weighted_and_clustered(by_language):
    """A segment of clusters is as large as its number of clusters."""
    language, systems = by_language
    gate = no_worse(**systems, margin=0.05, by={"language": language}, clusters={i: i // 5 for i in range(200)})
    assert {row[0]: row[-1] for row in gate.segments.rows}["de"] == "too small"


def test_ceilings_are_in_words_of_errors():
    y, score = [1, 0, 0] * 40, [1, 2, 3] * 20 + [3, 2, 1] * 20
    gate = no_worse(new=evaluate(y, score, qid=np.repeat(np.arange(40), 3), metrics="ranking_loss"),
                    at_most={"ranking_loss": 0.7})  # fmt: skip
    assert "ranking_loss must be 0.5500 or less" in str(gate)
