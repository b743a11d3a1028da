"""Programs of docs/examples on data in the shape of known data sets: each runs on files as they are."""

import json
import runpy
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples"
MOST_LINES = 40
RNG = np.random.default_rng(0)


def travel(folder):
    """Expedia's searches: 60 of 8 hotels; stars and a low price are booked."""
    n = 480
    frame = pd.DataFrame({
        "srch_id": np.repeat(np.arange(60), 8),
        "date_time": np.repeat(pd.date_range("2013-01-01", periods=60, freq="D"), 8),
        "prop_id": RNG.integers(1, 999, n), "position": np.tile(np.arange(1, 9), 60),
        "prop_starrating": RNG.integers(1, 6, n), "prop_review_score": RNG.integers(0, 11, n) / 2,
        "price_usd": RNG.lognormal(5, 0.5, n).round(2), "promotion_flag": RNG.integers(0, 2, n),
    })  # fmt: skip
    appeal = frame["prop_starrating"] - frame["price_usd"] / 100 + RNG.normal(0, 0.3, n)
    rank = appeal.groupby(frame["srch_id"]).rank(ascending=False)
    frame.assign(click_bool=(rank <= 3).astype(int), booking_bool=(rank == 1).astype(int)).to_csv(folder / "train.csv")
    return [folder / "train.csv"], "2 systems on 12 queries.* ranker .*MRR"


def search(folder):
    """Quepid's ratings, some blank, and answers of two engines to 30 queries."""
    lines, answers = ["query,docid,rating"], {"old": {}, "new": {}}
    for query in (f"query {i}" for i in range(30)):
        documents = [f"{query[6:]}-{j}" for j in range(12)]
        lines += [f"{query},{d},{'' if j % 4 == 3 else max(0, 3 - j // 2)}" for j, d in enumerate(documents)]
        for name, noise in (("old", 8), ("new", 2)):
            order = np.argsort(np.arange(12) + RNG.normal(0, noise, 12))[:10]
            hits = [{"_index": "shop", "_id": documents[j], "_score": 9.5 - place} for place, j in enumerate(order)]
            answers[name][query] = {"took": 4, "timed_out": False, "hits": {"total": {"value": 12}, "hits": hits}}
    (folder / "ratings.csv").write_text("\n".join(lines))
    for name, of_queries in answers.items():
        (folder / f"{name}.json").write_text(json.dumps(of_queries))
    files = ["ratings.csv", "old.json", "new.json", "page.html"]
    return [folder / name for name in files], "new is better.*judgments without a grade.*[Nn]o worse"


def films(folder):
    """MovieLens: 80 users like the films of one of two halves."""
    taste, rows = RNG.integers(0, 2, 80), []
    for user in range(80):
        seen = RNG.permutation(30)[: RNG.integers(12, 28)] + 30 * taste[user]
        rows += [(user + 1, film + 1, RNG.integers(1, 11) / 2, RNG.integers(8e8, 9e8)) for film in seen]
    pd.DataFrame(rows, columns=["userId", "movieId", "rating", "timestamp"]).to_csv(folder / "ratings.csv", index=False)
    return [folder / "ratings.csv"], "5 neighbors.*20 neighbors.*50 ratings"


def golden(folder):
    """40 questions with a passage or two; three retrievers of different quality."""
    relevant = {f"q{i}": [f"p{i}", *[f"p{i + 100}"] * (i % 2)] for i in range(40)}
    lines = [json.dumps({"question_id": q, "relevant": of}) for q, of in relevant.items()]
    (folder / "golden.jsonl").write_text("\n".join(lines))
    for name, hit in (("bm25", 0.3), ("dense", 0.5), ("hybrid", 0.9)):
        lists = {
            q: ([*of] if RNG.random() < hit else []) + [f"p{RNG.integers(200, 999)}-{j}" for j in range(5)]
            for q, of in relevant.items()
        }
        lines = [json.dumps({"question_id": q, "retrieved": of}) for q, of in lists.items()]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    return [
        folder / f"{name}.jsonl" for name in ("golden", "bm25", "dense", "hybrid")
    ], "hybrid.*question|hybrid.*query"


def trec(folder):
    """50 topics, five runs."""
    (folder / "runs").mkdir()
    grades = RNG.integers(0, 3, (50, 20))
    qrels = [f"{301 + t} 0 FT-{d} {grades[t, d]}" for t in range(50) for d in range(20)]
    (folder / "qrels.txt").write_text("\n".join(qrels) + "\n")
    for s in range(5):
        scores = grades + RNG.normal(0, 1 + s, grades.shape)
        lines = [
            f"{301 + t} Q0 FT-{d} {rank} {scores[t, d]:.4f} system{s}"
            for t in range(50) for rank, d in enumerate(np.argsort(-scores[t]), 1)
        ]  # fmt: skip
        (folder / "runs" / f"system{s}.txt").write_text("\n".join(lines) + "\n")
    return [folder / "qrels.txt", folder / "runs" / "*.txt"], r"system0.*tabular.*\\textsuperscript|system0.*\\begin"


def days(folder):
    """Three days of two tenants, who both have queries 0 to 9."""
    for day in range(3):
        rows = pd.DataFrame({
            "tenant": np.repeat(["acme", "globex"], 50), "query_id": np.tile(np.repeat(np.arange(10), 5), 2) + 10 * day,
            "label": RNG.integers(0, 2, 100), "score": RNG.random(100),
        })  # fmt: skip
        rows.to_parquet(folder / f"2026-03-0{day + 1}.parquet")
    return [folder], "Evaluation of 60 queries.*acme.*globex"


PROGRAMS = {
    "travel_searches": travel, "search_engines": search, "movies": films, "golden_set": golden, "trec_systems": trec,
    "days_and_tenants": days,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_example_programs(name, tmp_path, monkeypatch, capsys):
    pytest.importorskip("pyarrow")
    if name == "travel_searches":
        pytest.importorskip("lightgbm")
    path = EXAMPLES / f"{name}.py"
    assert len(path.read_text().splitlines()) <= MOST_LINES
    arguments, words = PROGRAMS[name](tmp_path)
    monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
    runpy.run_path(str(path), run_name="__main__")
    assert pd.Series(" ".join(capsys.readouterr().out.split())).str.contains(words).all()
