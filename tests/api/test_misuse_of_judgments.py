"""The check for uneven judging: once at each entry point, and no warning on ordinary data that look similar."""

import warnings

import numpy as np
import pytest
from misuse_cases import Given, command

from sklearn_rank import compare_systems, evaluate_run
from sklearn_rank._data import doors
from sklearn_rank._data.judged import UNEVENLY_JUDGED
from sklearn_rank._data.table import ALL_DOORS
from sklearn_rank._evaluation.kept_data import with_counts
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.model_selection import RankingEvaluator
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, no_worse

METRICS = ["ndcg@10", "map"]


def runs(n_queries=40, share=0.17, relevant=0.3, of_old=1.0, seed=0):
    """A pool of the old system's documents, and the share that the new system retrieved."""
    rng = np.random.default_rng(seed)
    qrels, systems = {}, {"old": {}, "new": {}}
    for q in range(n_queries):
        known = [f"d{i}" for i in range(12)]
        qrels[q] = {d: int(g) for d, g in zip(known, rng.random(12) < relevant, strict=True)} | {"d0": 1}
        for name, judged in (("old", of_old), ("new", share)):
            systems[name][q] = [d if rng.random() < judged else f"x{d}" for d in rng.permutation(known)]
    return qrels, systems


def results(*data, metrics=METRICS, **keywords):
    judgments, systems = data or runs()
    return {name: evaluate_run(judgments, run, metrics=metrics, **keywords) for name, run in systems.items()}


def told_by(call, *args, **keywords):
    """Number of warnings of this check; any other warning is an error."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        call(*args, **keywords)
    assert all(issubclass(one.category, RankingWarning) for one in told), [*map(str, told)]
    assert all(UNEVENLY_JUDGED.says in str(one.message) for one in told)
    return len(told)


def of_evaluator():
    """Two models of the same rows; the judged documents come from the first model."""
    rng = np.random.default_rng(0)
    judged = np.tile(np.arange(24) < 12, 40)
    y = np.where(judged, rng.integers(0, 2, 960), np.nan)
    X = np.stack([rng.random(960) + judged, rng.random(960)], axis=1)
    metric = "ndcg(unjudged=nonrelevant)@10"
    RankingEvaluator(metric, cv=2).compare({"a": Given(0), "b": Given(1)}, X, y, qid=np.repeat(np.arange(40), 24))


def of_files(folder, *more):
    """Run the command line on TREC files."""
    qrels, systems = runs()
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, ds in qrels.items() for d, g in ds.items()))
    for name, run in systems.items():
        lines = (f"{q} Q0 {d} {i} {-i} me\n" for q, ds in run.items() for i, d in enumerate(ds))
        (folder / name).write_text("".join(lines))
    name, *rest = more
    command(name, *(folder / one if one in ("qrels", "old", "new") else one for one in rest), most=3)


CALLS = [
    (doors.SYSTEMS, lambda _: compare_systems(*runs(), metrics=METRICS)),
    (doors.SYSTEMS, lambda _: compare_systems(results())),
    (doors.COMPARE, lambda _: of_evaluator()),
    (doors.STATISTICS, lambda _: compare(*results().values(), metric="map")),
    (doors.STATISTICS, lambda _: compare_all(results(), metric="ndcg@10")),
    (doors.STATISTICS, lambda _: no_worse(**results(), margin=0.01)),
    (doors.COMMAND, lambda folder: of_files(folder, "compare", "qrels", "old", "new", "-m", "map", "-m", "p@5")),
    (doors.COMMAND, lambda folder: of_files(folder, "gate", "qrels", "new", "--baseline", "old", "--margin", "0.01")),
]


@pytest.mark.parametrize(("door", "call"), CALLS)
def test_one_warning_at_each_door(door, call, tmp_path):
    assert door.outcome(UNEVENLY_JUDGED) == "warning"
    assert told_by(call, tmp_path) == 1


def test_unevenly_judged_at_every_door():
    assert {door.name for door in ALL_DOORS if door.outcome(UNEVENLY_JUDGED)} == {door.name for door, _ in CALLS}


def test_methods_of_a_comparison_do_not_warn_again(tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        report = compare_systems(*runs(), metrics=METRICS)
    of_both = {"new": "new", "old": "old"}
    assert told_by(repr, report) == told_by(report.to_latex) == told_by(report.significance, "map") == 0
    assert told_by(report.explain, 3, **of_both) == told_by(report.to_judge, **of_both) == 0


def test_a_saved_baseline_keeps_judged_documents(tmp_path):
    both = results()
    for name, result in both.items():
        result.save(tmp_path / name)
    loaded = {name: Evaluation.load(tmp_path / name) for name in both}
    for systems in (both, loaded, both | {"old": loaded["old"]}, both | {"new": loaded["new"]}):
        assert told_by(compare, systems["new"], systems["old"], metric="map") == 1
    parts = {name: result.subset([*range(30)]) for name, result in loaded.items()}
    assert told_by(compare, parts["new"], parts["old"], metric="map") == 1


def test_the_message_has_shares_and_a_way_out():
    with pytest.warns(
        RankingWarning, match=r"of 'new' were judged far less than documents of 'old'.* of the first 10"
    ) as t:
        compare_systems(*runs(), metrics="ndcg@10")
    assert "to_judge" in str(t[0].message)
    assert "filter sklearn_rank.exceptions.RankingWarning" in str(t[0].message)


@pytest.mark.parametrize(
    "data",
    [
        pytest.param(runs(19), id="few queries"),
        pytest.param(runs(share=0.85), id="a pool with some holes"),
        pytest.param(runs(share=0.05, of_old=0.4), id="little was judged of both"),
        pytest.param(runs(share=1.0), id="all was judged"),
    ],
)
def test_ordinary_judgments_raise_no_warning(data):
    assert told_by(compare_systems, *data, metrics=METRICS) == 0


def test_judgments_of_relevant_documents_only_do_not_warn():
    """There a better system has more judged documents: recommendations, clicks, one known document per query."""
    qrels, systems = runs(relevant=0.8)
    relevant = {q: {d for d, g in of_query.items() if g} for q, of_query in qrels.items()}
    assert told_by(compare_systems, relevant, systems, metrics=["p@1", "ndcg@10"]) == 0
    graded = {q: {d: 1 + len(d) for d in of_query} for q, of_query in relevant.items()}
    assert told_by(compare_systems, graded, systems, metrics=["p@1", "ndcg@10"]) == 0


@pytest.mark.parametrize("name", ["old", "new"])
@pytest.mark.parametrize("call", [compare_systems, lambda both: compare(both["new"], both["old"], metric="map")])
def test_both_results_need_judged_irrelevant_documents(call, name, tmp_path):
    both = results()
    both[name].save(tmp_path / name)
    loaded = Evaluation.load(tmp_path / name)
    assert told_by(call, both | {name: loaded}) == 1
    assert told_by(call, both | {name: with_counts(loaded, judges_both=False)}) == 0


@pytest.mark.parametrize("metric", ["bpref", "infap(ties=stable)", "judged@5", "ndcg(unjudged=drop)@10"])
def test_metrics_that_read_unjudged_documents_do_not_warn(metric):
    assert told_by(compare_systems, *runs(), metrics=metric) == 0


@pytest.mark.slow
def test_chance_differences_do_not_warn():
    """Both systems draw from the same pool; warnings are errors."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        qrels, systems = runs(int(rng.choice([20, 25, 60])), share=0.5, of_old=0.5, seed=seed)
        assert told_by(compare_systems, qrels, systems, metrics=["ndcg@1", "map"]) == 0
