"""What judgments can measure: counts by hand, the margin against the gate, and flaws of small golden sets."""

import json

import numpy as np
import pytest
from registry import together

from sklearn_rank import check_judgments
from sklearn_rank._cli import main
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import no_worse


def drawn(rng, n=40, documents=12, *, grades=(0, 0, 0, 1, 2), name="d"):
    """Judgments of documents of each query's own, and two runs of different quality."""
    judgments = {f"q{i}": {f"{name}{i}x{j}": int(rng.choice(grades)) for j in range(documents)} for i in range(n)}
    for by_document in judgments.values():
        by_document[next(iter(by_document))] = max(grades)
    return judgments


def ranked(rng, judgments, noise=1.0, n_others=0):
    """A run that sees the grades through noise; it retrieves other documents, too."""
    return {
        query: {document: grade + noise * rng.normal() for document, grade in by_document.items()}
        | {f"{query}other{j}": 1.2 + noise * rng.normal() for j in range(n_others)}
        for query, by_document in judgments.items()
    }


SOUND = {
    "graded": {},
    "many queries": {"n": 150},
    "binary": {"grades": (0, 0, 0, 1)},
    "few documents": {"documents": 5},
    "grades 1 and 2 of relevant documents": {"grades": (1, 2), "documents": 3},
}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", SOUND)
def test_sound_judgments_have_no_flaw(kind, seed):
    """Five kinds of judgments, each drawn four times: twenty sets."""
    rng = np.random.default_rng([seed, [*SOUND].index(kind)])
    judgments = drawn(rng, **SOUND[kind])
    runs = {name: ranked(rng, judgments, noise, 1) for name, noise in (("a", 2.0), ("b", 3.0))} if seed % 2 else None
    assert check_judgments(judgments, runs, metrics=["ndcg@10", "mrr"]).flaws == []


def flawed(kind, rng):
    """Judgments with a flaw, the runs that show it, and metrics."""
    judgments, runs = drawn(rng), None
    if kind == "saturated":
        runs = {name: ranked(rng, judgments, 0.1) for name in "ab"}
    elif kind == "capped by k":
        return drawn(rng, documents=30, grades=(0, 1, 1)), None, ["recall@5"]
    elif kind == "one grade":
        judgments = {query: dict.fromkeys(by_document, 1) for query, by_document in judgments.items()}
    elif kind == "judged by the system":
        scores = {query: {f"{query}d{j}": float(rng.normal()) for j in range(12)} for query in judgments}
        runs = {"a": scores}
        judgments = {query: {d: int(x > 0) + int(x > 1) for d, x in one.items()} for query, one in scores.items()}
    elif kind == "unjudged tail":
        runs = {"a": ranked(rng, judgments, 1, 60)}
    elif kind == "no answers":
        judgments |= {f"none{i}": {f"none{i}x{j}": 0 for j in range(5)} for i in range(12)}
    elif kind == "tiny":
        judgments = drawn(rng, n=int(rng.integers(3, 15)))
    elif kind == "duplicated":
        judgments |= {f"again{query}": judgments[query] for query in [*judgments][:10]}
    elif kind == "two spellings":
        judgments = {
            query: {document.upper() if rng.random() < 0.2 else document: grade for document, grade in one.items()}
            | {f"{query}x": 0, f"{query}X": 0}
            for query, one in judgments.items()
        }
    else:
        judgments = {query: one | {query: 2} for query, one in judgments.items()}
    return judgments, runs, ["ndcg@10", "mrr"]


NAMED = {
    "saturated": "is saturated", "capped by k": "is at most", "one grade": "have the grade 1",
    "judged by the system": "labels were made from that run", "unjudged tail": "of the first documents of a are judged",
    "no answers": "have no relevant document", "tiny": "hardly anything", "duplicated": "repeated queries",
    "two spellings": "two spellings", "query as document": "documents of themselves",
}  # fmt: skip


@together("seed", range(2))
@pytest.mark.parametrize("kind", NAMED)
def test_flaws_are_named(kind, seed):
    """Ten flaws, each drawn twice: twenty sets."""
    judgments, runs, metrics = flawed(kind, np.random.default_rng([seed, [*NAMED].index(kind)]))
    found = check_judgments(judgments, runs, metrics=metrics)
    assert any(NAMED[kind] in flaw for flaw in found.flaws), found.flaws
    assert len(str(found).splitlines()) < 25


def test_counts_by_hand():
    judgments = {"q1": {"a": 2, "b": 0}, "q2": {"a": 0, "b": 0}, "q3": {"c": 1, "d": 1}, "q4": {"e": 1, "f": 0, "g": 0}}
    found = check_judgments(judgments, metrics=["mrr", "recall@1"])
    assert (found.n_queries, found.n_judged) == (4, 9)
    assert found.grades == {0: 5, 1: 3, 2: 1}
    assert found.n_relevant == {"none": 1, "one": 2, "more than 1": 1}
    rows = {row[0]: dict(zip(found.table.columns, row, strict=True)) for row in found.table.rows}
    assert (rows["mrr"]["queries"], rows["mrr"]["settled"]) == (3, 0.25)
    assert rows["mrr"]["best"] == 1
    assert rows["mrr"]["random"] == pytest.approx(((1 + 1 / 2) / 2 + 1 + (1 + 1 / 2 + 1 / 3) / 3) / 3)
    assert rows["recall@1"]["best"] == pytest.approx(2.5 / 3)
    with pytest.raises(
        ValueError, match="two queries or more whose values a ranking can change. Got 1 of 2: the value"
    ):
        check_judgments({"q1": {"a": 1, "b": 0}, "q2": {"a": 0}}, metrics="mrr")
    with pytest.raises(ValueError, match="Got no judgment"):
        check_judgments({})


@pytest.mark.parametrize("n", [20, 60, 200])
@pytest.mark.parametrize("with_runs", [False, True])
def test_the_margin_is_what_equal_systems_pass(n, with_runs):
    """A margin 15 % below is passed by fewer than 8 of 10 equal systems, and one 15 % above by more."""
    rng = np.random.default_rng(n)
    judgments = drawn(rng, n=n)
    runs = {name: ranked(rng, judgments, noise) for name, noise in (("a", 1.0), ("b", 1.3))} if with_runs else {}
    row = check_judgments(judgments, runs, metrics="mrr").table.rows[0]
    assert row[1] == n
    differences = np.where(np.arange(n * 10) < n, 0.5, 0.0)
    if with_runs:
        values = [
            Evaluation.from_values([*judgments], {"mrr": reciprocal_ranks(judgments, runs[name])}) for name in "ab"
        ]
        differences = values[0].per_query["mrr"] - values[1].per_query["mrr"]
    passed = {0.85: 0, 1.15: 0}
    for factor in passed:
        for _ in range(120):
            d = rng.choice(differences, n) * rng.choice([-1, 1], n)
            new, old = (Evaluation.from_values(range(n), {"mrr": 0.5 + half * d / 2}) for half in (1, -1))
            passed[factor] += bool(no_worse(new=new, old=old, margin=min(factor * row[6], 0.99)))
    assert passed[0.85] / 120 < 0.8 < passed[1.15] / 120


def reciprocal_ranks(judgments, run):
    found = []
    for query, scores in run.items():
        order = sorted(scores, key=scores.get, reverse=True)
        found.append(1 / (1 + next(i for i, document in enumerate(order) if judgments[query].get(document, 0))))
    return found


def test_check_command(tmp_path, monkeypatch, capsys, rng):
    monkeypatch.chdir(tmp_path)
    judgments = drawn(rng)
    lines = [f"{query} 0 {document} {grade}" for query, one in judgments.items() for document, grade in one.items()]
    (tmp_path / "qrels").write_text("\n".join(lines) + "\n")
    for name in ("a.run", "b.run"):
        run = ranked(rng, judgments, 1, 1)
        rows = [
            f"{query} Q0 {document} 1 {score:.6f} x" for query, one in run.items() for document, score in one.items()
        ]
        (tmp_path / name).write_text("\n".join(rows) + "\n")
    assert main(["check", "judgments", "qrels", "a.run", "b.run", "--metrics", "ndcg@10,mrr", "--json", "x.json"]) == 0
    out = capsys.readouterr().out
    assert "--baseline a.run --to-judge 20" in " ".join(out.split())
    assert len(out.splitlines()) < 25
    found = json.loads((tmp_path / "x.json").read_text())
    assert found["metrics"].keys() == {"ndcg@10", "mrr"}
    assert main(["check", "judgments", "qrels", "-m", "mrr"]) == 0
    (tmp_path / "twice").write_text("\n".join([*lines, lines[0]]) + "\n")
    assert main(["check", "judgments", "twice", "-m", "mrr"]) == 0
    assert "Flaw:" in capsys.readouterr().out
    (tmp_path / "zero").write_text("q1 0 a 0\nq2 0 b 0\n")
    assert main(["check", "judgments", "zero"]) == 2
