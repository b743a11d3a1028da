"""Invalid Unicode as ids in pandas frames, as from a file in another encoding."""

import io

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from sklearn_rank import RankingEvaluator, evaluate, evaluate_run
from sklearn_rank.io import read_qrels, read_run, write_run
from sklearn_rank.results import Evaluation, Table

CAFE = b"caf\xe9".decode("utf-8", "surrogateescape")
NAMES = [CAFE, "tea"]


def test_values_by_id():
    judged = read_qrels(io.BytesIO(b"caf\xe9 0 a 1\ncaf\xe9 0 b 0\ntea 0 a 1\n"))
    run = read_run(io.BytesIO(b"caf\xe9 Q0 b 1 2 me\ncaf\xe9 Q0 a 2 1 me\ntea Q0 a 1 1 me\n"))
    result = evaluate_run(judged, run, metrics="mrr")
    frame = result.to_frame()
    assert frame.index.tolist() == NAMES
    assert frame.index.name == "qid"
    assert frame.columns.tolist() == ["mrr"]
    assert frame.loc[CAFE, "mrr"] == 0.5
    worst = result.worst_queries(1).to_frame()
    assert worst.columns[0] == "qid"
    assert worst.iloc[0, 0] == CAFE


def test_names_of_metrics():
    frame = evaluate([1, 0], [2, 1], qid=[7, 7], metrics={name: "mrr" for name in NAMES}).to_frame()
    assert frame.columns.tolist() == NAMES
    assert frame.index.tolist() == [7]


@pytest.mark.parametrize("columns", [("name", "value"), (CAFE, "value")])
def test_text_in_table_frames(columns):
    frame = Table(columns, ((CAFE, 1.5), ("tea", None))).to_frame()
    assert frame.columns.tolist() == [*columns]
    assert frame[columns[0]].tolist() == NAMES
    assert frame["value"].dtype == float
    assert frame["value"][0] == 1.5


def test_names_of_models():
    X, y, qid = np.arange(12.0)[:, None], np.arange(12) % 3 % 2, np.repeat([CAFE, "a", "b", "c"], 3)
    evaluator = RankingEvaluator(metrics="mrr", cv=2)
    frame = evaluator.compare({name: LinearRegression() for name in NAMES}, X, y, qid=qid).to_frame()
    assert frame.columns.tolist() == [(name, "mrr") for name in NAMES]
    assert CAFE in frame.index


def test_written_and_saved(tmp_path):
    write_run(tmp_path / "run", [2.0, 1.0], qid=[CAFE] * 2, doc_id=NAMES)
    assert (tmp_path / "run").read_bytes().startswith(b"caf\xe9 Q0 caf\xe9 1 2.0 ")
    result = evaluate([1, 0], [2, 1], qid=[CAFE] * 2, metrics="mrr")
    result.save(tmp_path / "result.npz")
    assert Evaluation.load(tmp_path / "result.npz").to_frame().equals(result.to_frame())
