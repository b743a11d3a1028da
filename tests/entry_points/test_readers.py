"""What reads a result says the same of the same rows, whichever entry point made it, or names what the result lacks."""

import re

import numpy as np
import pandas as pd
import pytest

from sklearn_rank import RankingAccumulator, compare_systems, evaluate, evaluate_run, evaluate_table, io, prepare
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, no_worse

METRICS = ["ndcg@3", "map", "hit@1"]
N, K = 40, 6
LACKING = "(Chance and best take the data, which are not saved|Ties need the data, which this result does not keep)"
WITHOUT_DATA = {"file", "batches", "accumulator", "saved"}


@pytest.fixture(scope="module")
def rows():
    """Queries with tied scores; one without relevant documents, one that no order can change."""
    rng = np.random.default_rng(3)
    label = rng.choice([0, 1, 2], (N, K), p=[0.6, 0.25, 0.15])
    label[0], label[1], label[2:, 0], label[2:, 1] = 0, 1, 0, 1
    queries, documents = [f"q{i:02}" for i in range(N)], [f"d{i}" for i in range(K)]
    frame = pd.DataFrame({"qid": np.repeat(queries, K), "doc": np.tile(documents, N), "label": label.ravel()})
    return frame.assign(new=rng.integers(0, 5, N * K) + frame.label, old=rng.integers(0, 5, N * K))


def mapping(rows, column):
    return {query: dict(zip(of.doc, of[column].tolist(), strict=True)) for query, of in rows.groupby("qid")}


def collected(rows, system):
    accumulator = RankingAccumulator(METRICS)
    for part in np.split(rows.index, 4):
        batch = rows.loc[part]
        accumulator.update(batch.label.to_numpy(), batch[system].to_numpy(), qid=batch.qid.to_numpy())
    return accumulator.compute()


def made(rows, folder):
    """The results of both systems, by each entry point."""
    rows.to_parquet(folder / "rows.parquet")
    y, qid, judgments = rows.label.to_numpy(), rows.qid.to_numpy(), mapping(rows, "label")
    scores = {system: rows[system].to_numpy() for system in ("new", "old")}
    indexed, ready = rows.set_index("qid"), prepare(y, qid=qid, metrics=METRICS)
    entries = io.read_qrels(rows[["qid", "doc", "label"]], doc_id="doc", value="label")

    def saved(system):
        evaluate(y, scores[system], qid=qid, metrics=METRICS).save(folder / f"{system}.npz")
        return Evaluation.load(folder / f"{system}.npz")

    ways = {
        "arrays": lambda system: evaluate(y, scores[system], qid=qid, metrics=METRICS),
        "index": lambda system: evaluate(indexed.label, indexed[system], metrics=METRICS),
        "table": lambda system: evaluate_table(rows, y_score=system, metrics=METRICS),
        "prepared": lambda system: ready.evaluate(scores[system]),
        "systems": compare_systems(y, scores, qid=qid, metrics=METRICS).results.__getitem__,
        "mappings": lambda system: evaluate_run(judgments, mapping(rows, system), metrics=METRICS),
        "entries": lambda system: evaluate_run(entries, mapping(rows, system), metrics=METRICS),
        "file": lambda system: evaluate_table(folder / "rows.parquet", y_score=system, metrics=METRICS),
        "batches": lambda system: evaluate_table((rows[i : i + 60] for i in (0, 60, 120, 180)), y_score=system,
                                                 metrics=METRICS),
        "accumulator": lambda system: collected(rows, system),
        "saved": saved,
    }  # fmt: skip
    return {way: (of("new"), of("old")) for way, of in ways.items()}


def page(result):
    """Text of the page up to the lists of queries, which only data have."""
    text = " ".join(re.sub(r"<[^>]+>", " ", re.sub(r"(?s)<(script|style).*?</\1>", "", result.to_html())).split())
    assert ("There are no lists of documents: results that were loaded" in text) == (
        "relevant documents: at" not in text
    )
    return text.split(" Worst first.")[0]


READERS = {
    "print": lambda new, old: str(new),
    "summary": lambda new, old: str(new.summary()),
    "intervals": lambda new, old: str(new.confidence_interval(method="bca", random_state=0)),
    "worst": lambda new, old: str(new.worst_queries(5, metric="map")),
    "segments": lambda new, old: str(new.segments({query: query[-1] for query in new.qid.tolist()})),
    "chance": lambda new, old: str(new.chance()),
    "best": lambda new, old: str(new.best()),
    "adjusted": lambda new, old: str(new.adjusted()),
    "ties": lambda new, old: str(new.tie_range()),
    "compare": lambda new, old: str(compare(new, old, metric="ndcg@3")),
    "gate": lambda new, old: f"{no_worse(new=new, old=old, margin=0.05)}",
    "systems": lambda new, old: str(compare_systems({"new": new, "old": old}, baseline="old")),
    "latex": lambda new, old: compare_systems({"new": new, "old": old}, baseline="old").to_latex(),
    "page": lambda new, old: page(new),
}


@pytest.fixture(scope="module")
def by_way(rows, tmp_path_factory):
    return made(rows, tmp_path_factory.mktemp("rows"))


@pytest.mark.parametrize("reader", READERS)
def test_readers_say_the_same_of_the_same_rows(reader, by_way):
    said, lacking = {}, set()
    for way, results in by_way.items():
        try:
            said.setdefault(READERS[reader](*results), []).append(way)
        except ValueError as error:
            assert re.match(LACKING, str(error))  # noqa: PT017
            lacking.add(way)
    assert len(said) == 1, said
    assert lacking <= WITHOUT_DATA
    assert not lacking or reader in ("chance", "best", "adjusted", "ties")
