"""Random tables in Spark: values equal the oracle's, and have the bits of `evaluate` on rows in one order."""

from random import Random

import numpy as np
import pyarrow as pa
from pyspark import cloudpickle

import sklearn_rank.spark as on_spark
from properties import calls as drawn_calls
from properties import same
from properties.cases import COUNTS, Case, is_extreme, odd_data, reach
from properties.expected import TooManyOrdersError, expected

cloudpickle.register_pickle_by_value(drawn_calls)  # workers of Spark cannot import the gains that are functions here

IDS = {
    "bigint": lambda q: q * 2**40 - 3,
    "double": lambda q: q / 4 - 1,
    "string": lambda q: f"q{q}",
    "binary": lambda q: b"%d\0" % q,
}
"""Ids of queries by type."""


def in_one_order(data):
    """Rows in a worker's order: descending score and ascending label, unjudged documents last."""
    labels = np.array(data.labels, dtype=float).reshape(len(data.rows), -1)
    return data.select(np.lexsort((*labels.T, -np.array(data.scores), data.ids)).tolist())


def draw_base(rng):
    """Rows of three queries or more in one order, calls that do not depend on row order, and values in memory.

    Half of the tables have weights. A table takes seconds, so each should test much.
    """
    weighted = rng.random() < 0.5
    with odd_data():
        while not (base := same.draw_base(rng)) or not fits(base.data, weighted):
            pass
        calls = {n: call for n, call in base.calls.items() if same.parse(call)["ties"] != "stable"}
        if not calls:
            return draw_base(rng)
        data = in_one_order(base.data)
        result = same.evaluated(data, same.metrics_of(calls))
        return same.Base(data, calls, same.by_query(result), result.mean())


def fits(data, weighted):
    return data.keys is None and len(data.queries) > 2 and (data.weights is not None) == weighted


class Table:
    """The rows of a draw in Spark: shuffled, ids of some type, labels that are missing NULL or NaN."""

    def __init__(self, spark, rng, data):
        self.to_id = IDS[rng.choice([*IDS])]
        self.query = {self.to_id(q): q for q in data.queries}
        places = rng.sample(range(len(data.rows)), len(data.rows))
        rows = data.select(places)
        labels = np.array(rows.labels, dtype=float).reshape(len(places), -1)
        null = rng.random() < 0.5
        columns = {f"label{i}": pa.array(y, from_pandas=null) for i, y in enumerate(labels.T)}
        self.keywords = {"y_true": [*columns] if isinstance(rows.labels[0], tuple) else "label0"}
        if rows.weights is not None:
            columns["weight"], self.keywords["sample_weight"] = rows.row_weights, "weight"
        scores = np.array(rows.scores)
        columns |= {"score": scores, "other": np.where(np.isinf(scores), scores, -scores)}
        self.frame = spark.createDataFrame(pa.table(columns | {"qid": [*map(self.to_id, rows.ids)]}))

    def ask(self, function, base, **more):
        return function(self.frame, metrics=base.metrics, **self.keywords, **more)

    def by_query(self, base, table):
        """Values by metric and query, of the rows of `per_query`; NULL is a query that is left out."""
        rows = [row.asDict() for row in table.collect()]
        found = {
            self.query[bytes(row["qid"]) if isinstance(row["qid"], bytearray) else row["qid"]]: row for row in rows
        }
        assert len(found) == len(rows) == len(self.query), f"{len(rows)} rows of {len(self.query)} queries"
        nan = float("nan")
        return {n: {q: nan if row[n] is None else row[n] for q, row in found.items()} for n in base.calls}


def functions(rng, base, table):
    """Results of each function of `sklearn_rank.spark`."""
    values = table.ask(on_spark.per_query, base)
    yield same.Found(base.calls, table.by_query(base, values), None)
    result = table.ask(on_spark.evaluate, base)
    yield same.Found(base.calls, same.by_query(result, lambda q: table.query[q]), None)
    yield same.Found(base.calls, None, result.mean(), exact=False)


def check_oracle(base):
    """Values in memory, which Spark reproduces bit for bit, equal the oracle's."""
    for name, call in base.calls.items():
        case = Case(base.data, call, ("f8", "f8", "i8 ids"))
        try:
            each = expected(call._replace(keywords=call.keywords | {"average": None}), base.data)
            mean = expected(call, base.data)
        except (TooManyOrdersError, ArithmeticError):
            continue
        if not is_extreme(case):
            wanted = dict(zip(base.data.queries, each, strict=True))
            near = same.compare_values, same.compare_means
            near[0]({name: call}, {name: base.per_query[name]}, {name: wanted}, False, reach(case))
            near[1]({name: call}, {name: base.means[name]}, {name: mean}, False, reach(case))
            COUNTS.add("spark oracle")


def check(spark, seed):
    """Check one drawn table."""
    rng = Random(f"spark {seed}")
    base = draw_base(rng)
    try:
        check_oracle(base)
        with odd_data():
            table = Table(spark, rng, base.data)
            for found in same.within_range(functions(rng, base, table)):
                same.compare_values(found.calls, found.per_query or {}, base.per_query, found.exact)
                same.compare_means(found.calls, found.means or {}, base.means, found.exact)
                COUNTS.add("spark", len(found.calls))
    except Exception as error:
        error.add_note(f"seed {seed}: {same.shown(check, base)}")
        raise


def main(n_tables, seed):
    """Check the given number of tables in one session; the exit status is 1 if any fails."""
    from spark_cases import new_session

    spark, failed = new_session(), 0
    for number in range(seed, seed + n_tables):
        try:
            check(spark, number)
        except Exception as error:  # of any type: none is expected
            failed += 1
            print(f"\n{type(error).__name__}: {error}\n{same.notes(error)}", flush=True)
    spark.stop()
    kinds = ", ".join(f"{n} {kind}" for kind, n in sorted(COUNTS.kinds.items()))
    print(f"\n{n_tables} tables, {failed} wrong: {kinds}")
    return 1 if failed else 0
