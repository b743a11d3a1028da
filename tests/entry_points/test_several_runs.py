"""Several runs of one system: every entry point has the numbers of the mean value of each query."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import together
from sklearn.dummy import DummyRegressor
from sklearn.tree import DecisionTreeRegressor

from sklearn_rank import RankingEvaluator, compare_systems, evaluate
from sklearn_rank._cli import main
from sklearn_rank.display import CriticalDifferenceDisplay, DifferenceDisplay, DistributionDisplay, TopicsDisplay
from sklearn_rank.results import Comparison, Evaluation
from sklearn_rank.stats import compare, compare_all, confidence_interval, no_worse

N, SIZE = 30, 8
RNG = np.random.default_rng(0)
LABEL = RNG.integers(0, 3, (N, SIZE))
Y, QID = LABEL.ravel(), np.repeat([f"q{i}" for i in range(N)], SIZE)
A = [np.round(Y * 0.8 + 2 * RNG.random(N * SIZE), 6) for _ in range(3)]
B = [np.round(Y * 0.3 + 2 * RNG.random(N * SIZE), 6) for _ in range(2)]
METRICS = ["ndcg@5", "hit@1"]
OF_RUNS = {"A": A, "B": B}


def evaluated(scores, metrics=METRICS):
    return evaluate(Y, scores, qid=QID, metrics=metrics)


def results():
    return {name: [*map(evaluated, runs)] for name, runs in OF_RUNS.items()}


def mean_of_a():
    return Evaluation.of_runs(results()["A"])


def run(scores):
    documents = [f"d{j}" for j in range(SIZE)]
    return {f"q{i}": dict(zip(documents, row, strict=True)) for i, row in enumerate(scores.reshape(N, SIZE).tolist())}


COLUMNS = {f"{name}{i}": scores for name, runs in OF_RUNS.items() for i, scores in enumerate(runs)}
TABLE = pd.DataFrame({"qid": QID, "label": Y, **COLUMNS})
NAMES = {"A": ["A0", "A1", "A2"], "B": ["B0", "B1"]}
AS_RUNS = {name: [*map(run, runs)] for name, runs in OF_RUNS.items()}
one = evaluated(B[1])
FORMS = {
    "results": lambda: compare_systems(results()),
    "vectors": lambda: compare_systems(Y, OF_RUNS, qid=QID, metrics=METRICS),
    "columns": lambda: compare_systems(TABLE, NAMES, metrics=METRICS),
    "series": lambda: compare_systems(
        Y, {name: tuple(TABLE[column] for column in columns) for name, columns in NAMES.items()}, qid=QID,
        metrics=METRICS,
    ),
    "matrices": lambda: compare_systems(
        LABEL, {name: [x.reshape(N, SIZE) for x in runs] for name, runs in OF_RUNS.items()}, metrics=METRICS
    ),
    "lists": lambda: compare_systems(
        LABEL.tolist(), {name: [x.reshape(N, SIZE).tolist() for x in runs] for name, runs in OF_RUNS.items()},
        metrics=METRICS,
    ),
    "runs": lambda: compare_systems(run(Y), AS_RUNS, metrics=METRICS),
}  # fmt: skip


@together("form", FORMS)
def test_every_form_is_the_mean_of_each_query(form, tmp_path):
    found, expected = FORMS[form](), results()
    for name, runs in expected.items():
        for metric in METRICS:
            values = np.mean([one.per_query[metric] for one in runs], axis=0)
            assert_array_equal(found[name].per_query[metric], values)
            assert found[name].run_means[metric] == pytest.approx([one.mean(metric) for one in runs])
    other = compare_systems(results())
    assert found.summary() == other.summary()
    assert found._notes() == other._notes()
    assert not found.y_score
    found.save(tmp_path / "found")
    assert str(Comparison.load(tmp_path / "found")) == str(found)


def test_several_runs_next_to_one_run():
    """Systems may have different numbers of runs, and a list of one run equals that run."""
    found = compare_systems(Y, {"A": A, "B": B[0], "one": [B[1]]}, qid=QID, metrics="map")
    assert [*found.y_score] == ["B", "one"]
    assert [*map(len, (r.run_means for r in found.values()))] == [1, 0, 0]
    assert found["one"].mean() == evaluated(B[1], "map").mean()


TWO = "Two runs estimate a variance badly."


def sd(runs, metric):
    return f"sd {np.std([one.mean(metric) for one in runs], ddof=1):.2g} ({len(runs)} runs)"


def test_tests_and_notes_are_the_same_at_every_door():
    of_runs, metric = results(), "ndcg@5"
    means = {name: Evaluation.of_runs(runs) for name, runs in of_runs.items()}
    expected = compare(means["A"], means["B"], metric=metric)
    pair, both = compare(of_runs["A"], of_runs["B"], metric=metric), compare_all(of_runs, metric=metric)
    assert pair.pvalue == both["A", "B"].pvalue == compare_systems(of_runs).significance(metric)["B", "A"].pvalue
    assert pair.pvalue == expected.pvalue
    note = f"Between runs: A {sd(of_runs['A'], metric)}, B {sd(of_runs['B'], metric)}, allowed for. {TWO}"
    assert note in both._notes()
    assert note in both["A", "B"]._notes()
    assert note.replace("A sd", "a sd").replace("B sd", "b sd") in pair._notes()
    gate = no_worse(new=of_runs["A"], old=of_runs["B"], margin=0.5)
    assert_allclose(gate.table.rows[0][4], expected.difference)
    noted = next(one for one in gate._notes() if one.startswith("Between runs by nDCG@5: new sd"))
    short = noted.replace("new sd", "A sd").replace("old sd", "B sd")
    report = compare_systems(of_runs)
    assert short in report._notes()
    assert short in report.to_markdown()
    assert (
        f"Between runs: {sd(of_runs['A'], metric)}, allowed for."
        in Evaluation.of_runs([evaluated(x, metric) for x in A])._notes()
    )


def test_means_of_hits_are_no_success_rates():
    both = Evaluation.of_runs(results()["A"])
    assert not any(both.is_binary.values())
    hits = both.confidence_interval()["hit@1"]
    assert hits == confidence_interval(both.per_query["hit@1"], bounds=(0, 1))


def test_models_with_several_seeds():
    X = np.column_stack([*A, *B])
    trees = [DecisionTreeRegressor(max_features=1, random_state=seed) for seed in range(3)]
    evaluator = RankingEvaluator("map", cv=3)
    found = evaluator.compare({"trees": trees, "constant": DummyRegressor()}, X, Y, qid=QID)
    alone = evaluator.compare({f"{i}": tree for i, tree in enumerate(trees)}, X, Y, qid=QID)
    assert_array_equal(
        found["trees"].per_query["map"], np.mean([one.per_query["map"] for one in alone.values()], axis=0)
    )
    assert found["trees"].run_means["map"] == tuple(one.mean("map") for one in alone.values())
    assert_allclose(found.fold_means["trees"]["map"], np.mean([m["map"] for m in alone.fold_means.values()], axis=0))
    assert [*found.y_score] == ["constant"]
    assert "Between runs: trees sd" in str(found)


@together(
    "call, error, message",
    [
        (lambda: compare_systems(run(Y), {"A": [*run(A[0]).values()]}), TypeError, "which may be either"),
        (lambda: compare_systems(run(Y), {"A": [run(A[0]), A[1]]}), TypeError, "which may be either"),
        (lambda: compare_systems({"A": [evaluated(A[0]), A[1]]}), TypeError, "Got both for 'A'"),
        (lambda: compare_systems({"A": [evaluated(A[0]), evaluated(A[1], "map")]}), ValueError, "the same metrics"),
        (lambda: compare_systems(Y, {"A": [A[0], A[0]]}, qid=QID), ValueError, "'A [1]', 'A [2]' are one object"),
        (lambda: no_worse(new=[one, one], old=evaluated(B[0])), ValueError, "are one object"),
        (lambda: Evaluation.of_runs([one, one]), ValueError, "one result twice"),
        (lambda: Evaluation.of_runs([mean_of_a(), evaluated(B[0])]), ValueError, "Got a mean of 3 runs as run 1 of 2"),
        (lambda: compare_systems({"A": [evaluated(B[0]), mean_of_a()]}), ValueError, "of_runs takes single runs"),
        (lambda: compare([evaluated(B[0]), mean_of_a()], one), ValueError, "of_runs takes single runs"),
        (lambda: no_worse(new=[evaluated(A[0]), one], old=one), ValueError, "'new [2]', 'old' are one object"),
        (lambda: no_worse(new=one, old=[one, evaluated(A[0])]), ValueError, "'new', 'old [1]' are one object"),
        (lambda: compare([one, evaluated(A[0])], [one]), ValueError, "'a [1]', 'b [1]' are one object"),
        (lambda: compare_all({"A": [one, evaluated(A[0])], "B": one}), ValueError, "are one object"),
        (lambda: compare_systems({"A": [one, evaluated(A[0])], "B": one}), ValueError, "are one object"),
        *(
            (lambda display=display: display.from_results({"A": one, "B": one}, "hit@1"), ValueError, "are one object")
            for display in (DistributionDisplay, DifferenceDisplay, TopicsDisplay, CriticalDifferenceDisplay)
        ),
        (lambda: Evaluation.of_runs(A), TypeError, "a list of results of one system"),
        (lambda: Evaluation.of_runs([]), TypeError, "a list of results of one system"),
        (
            lambda: RankingEvaluator("map").compare({"A": []}, A[0][:, None], Y, qid=QID),
            TypeError,
            "list of 'A' is empty",
        ),
        (lambda: compare_systems(results()).explain("q1", new="A", old="B"), ValueError, "or several runs"),
    ],
)
def test_several_runs_errors(call, error, message):
    with pytest.raises(error) as raised:
        call()
    assert message in str(raised.value)


def test_legitimate_lists_of_runs():
    """A list of one mean is the mean, equal runs are no single object, and runs of two systems may be equal."""
    (mean,) = [Evaluation.of_runs([mean_of_a()])]
    assert mean.run_means == mean_of_a().run_means
    assert no_worse(new=[evaluated(A[0]), evaluated(A[1])], old=[evaluated(A[0])], margin=0.5)
    assert Evaluation.of_runs([evaluated(A[0]), evaluated(A[0])]).mean() == pytest.approx(evaluated(A[0]).mean())


# --- the command line --------------------------------------------------------------------------------------------


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run the command line in the folder of judgments and runs: output and errors."""
    monkeypatch.chdir(tmp_path)
    for name, scores in ({"qrels": Y} | COLUMNS).items():
        rows = [(f"q{i}", f"d{j}", x) for i, row in enumerate(scores.reshape(N, SIZE)) for j, x in enumerate(row)]
        form = "{} 0 {} {}\n" if name == "qrels" else "{} Q0 {} 1 {} t\n"
        (tmp_path / name).write_text("".join(form.format(*row) for row in rows))
    TABLE.to_csv(tmp_path / "table.csv", index=False)

    def call(text, code=0):
        assert main([*text.split(), "-m", "ndcg@5"]) == code
        return capsys.readouterr()

    return call


def test_runs_with_names(cli, tmp_path):
    of_runs = results()
    difference = compare(of_runs["A"], of_runs["B"], metric="ndcg@5")
    named = "compare qrels A=A0 A=A1 A=A2 B=B0 B=B1 --format csv"
    out, _ = cli(named)
    assert out.splitlines()[1].startswith("ndcg@5,A,B,")
    assert repr(difference.pvalue) in out
    assert cli("compare qrels A=A0 A=A1 A=A2 --baseline B=B0 --baseline B=B1 --format csv").out == out
    columns = " ".join(f"--y-score {name[0]}={name}" for name in COLUMNS)
    assert cli(f"compare --table table.csv {columns} --format csv").out == out
    cli("evaluate qrels B0 --save b0.npz"), cli("evaluate qrels B1 --save b1.npz")
    assert cli("compare qrels A=A0 A=A1 A=A2 --baseline B=b0.npz --baseline B=b1.npz --format csv").out == out
    note = f"A {sd(of_runs['A'], 'ndcg@5')}, B {sd(of_runs['B'], 'ndcg@5')}, allowed for. {TWO}"
    assert note in cli(named.replace("csv", "table")).err
    assert note in cli(named.replace("csv", "latex")).out
    assert note in cli(named.replace("compare", "evaluate").replace("csv", "table")).err
    gate = cli("gate qrels A=A0 A=A1 A=A2 --baseline B=B0 --baseline B=B1 --margin 0.5").out
    assert f"new {sd(of_runs['A'], 'ndcg@5')}, old {sd(of_runs['B'], 'ndcg@5')}" in " ".join(gate.split())
    (tmp_path / "A0").rename(tmp_path / "A=A1")  # a file of the very name wins
    assert "\nA=A1 " in cli("evaluate qrels A=A1 A=A2").out


@together(
    "words, message",
    [
        ("compare qrels A=A0 --baseline A=A1", "needs a name that no run has. Got 'A' for both"),
        ("compare qrels A0 --baseline A1 --baseline A2", "needs a single system"),
        ("compare qrels A0=A1 A0", "Got 'A0', which is a run as well"),
        ("gate qrels A=A0 C=A1 --baseline B0 --margin 1", "gate takes one new run"),
        ("compare qrels A=A0 B=A0", "given once"),
    ],
)
def test_names_that_are_refused(cli, words, message):
    assert message in cli(words, code=2).err
