"""The same rows give the same values query by query, wherever the rows are."""

import json
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sklearn_rank.spark
from sklearn_rank import evaluate, evaluate_batches
from sklearn_rank.io import read_table

METRICS = ["ndcg@10", "ndcg(gain=linear)@3", "map", "mrr", "err@5", "p@5", "auc", "rbp", "kendall", "mse", "dcg", "q"]


def random_rows(seed, ids):
    """Rows in any order, with ties, queries of one document and queries without a relevant one.

    Labels and scores are tenths, whose sums depend on the order in which they are added up.
    """
    rng = np.random.default_rng(seed)
    query = np.repeat(np.arange(50), rng.integers(1, 30, 50))
    query = rng.permutation(query)
    label = rng.integers(0, 41, len(query)) / 10 * (query % 7 > 0)
    qid = query if ids is int else np.array([f"q{q:03}é" for q in query], dtype=object)
    return pd.DataFrame({"label": label, "score": rng.integers(0, 12, len(query)) / 10, "qid": qid})


def of_evaluation(result):
    return {
        name: dict(zip(result.qid.tolist(), values.tolist(), strict=True)) for name, values in result.per_query.items()
    }


def of_table(source):
    data = read_table(source)
    return of_evaluation(evaluate(data.y_true, data.y_score, qid=data.qid, metrics=METRICS))


def with_pandas(rows, folder):
    return of_evaluation(evaluate(rows.label, rows.score, qid=rows.qid, metrics=METRICS))


def with_polars(rows, folder):
    return of_table(pl.from_pandas(rows))


def with_arrow(rows, folder):
    return of_table(pa.Table.from_pandas(rows))


def with_csv(rows, folder):
    rows.to_csv(folder / "rows.csv", index=False)
    found = of_table(folder / "rows.csv")  # whose ids are text
    kind = type(rows.qid[0].item() if hasattr(rows.qid[0], "item") else rows.qid[0])
    return {name: {kind(q): value for q, value in values.items()} for name, values in found.items()}


def with_parquet(rows, folder):
    rows.to_parquet(folder / "rows.parquet")
    return of_table(folder / "rows.parquet")


def with_command(rows, folder):
    rows.to_parquet(folder / "rows.parquet")
    metrics = [f"-m{name}" for name in METRICS]
    command = ["evaluate", "--table", str(folder / "rows.parquet"), *metrics, "--per-query", "--format=json"]
    done = subprocess.run([sys.executable, "-m", "sklearn_rank", *command], check=True, capture_output=True, text=True)
    (found,) = json.loads(done.stdout).values()
    kind = type(rows.qid.tolist()[0])
    return {name: {kind(q): value for q, value in values.items()} for name, values in found.items()}


def with_batches(rows, folder):
    chunks = [rows.iloc[i : i + 37] for i in range(0, len(rows), 37)]
    return of_evaluation(evaluate_batches(chunks, metrics=METRICS, memory_limit=2000))


def with_parquet_in_batches(rows, folder):
    pq.write_table(pa.Table.from_pandas(rows), folder / "rows.parquet", row_group_size=41)
    return of_evaluation(evaluate_batches(folder / "rows.parquet", metrics=METRICS, memory_limit=2000))


PLACES = [
    with_pandas,
    with_polars,
    with_arrow,
    with_csv,
    with_parquet,
    with_command,
    with_batches,
    with_parquet_in_batches,
]


@pytest.fixture(params=[int, str], ids=lambda kind: kind.__name__)
def rows(request):
    return random_rows(0, request.param)


@pytest.fixture
def expected(rows):
    columns = (rows[name].to_numpy() for name in ("label", "score", "qid"))
    y_true, y_score, qid = columns
    return of_evaluation(evaluate(y_true, y_score, qid=qid, metrics=METRICS))


@pytest.mark.parametrize("place", PLACES, ids=lambda place: place.__name__)
def test_same_values(rows, expected, place, tmp_path):
    assert place(rows, tmp_path) == expected


def test_sums_depend_on_the_order_of_rows(rows, expected):
    """Or the tests could not tell an order from another."""
    found = with_pandas(rows[::-1], None)
    differ = {name for name in METRICS if found[name] != {q: expected[name][q] for q in found[name]}}
    assert differ >= {"ndcg@10", "ndcg(gain=linear)@3", "mse", "dcg", "q"}
    assert not differ & {"mrr", "p@5", "auc"}


@pytest.mark.parametrize("rows", [str], indirect=True)
@pytest.mark.slow
@pytest.mark.xdist_group("spark")
def test_same_values_with_spark(rows, expected, spark):
    """Up to rounding, as rows have no order there."""
    found = of_evaluation(sklearn_rank.spark.evaluate(spark.createDataFrame(rows).repartition(5), metrics=METRICS))
    assert found == {name: pytest.approx(values, rel=1e-12, abs=1e-15) for name, values in expected.items()}
