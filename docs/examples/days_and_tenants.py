"""How good is search by tenant? Files by day, in memory or in Spark, whose query ids are unique within a tenant only.

Run ``python days_and_tenants.py folder`` on Parquet files with the columns tenant, query_id, label and score; a second
argument, ``spark``, evaluates them in Spark.
"""

import sys

import pandas as pd

from sklearn_rank import evaluate_table

folder, *where = sys.argv[1:]
if where == ["spark"]:
    from pyspark.sql import SparkSession

    from sklearn_rank.spark import evaluate

    rows = SparkSession.builder.getOrCreate().read.parquet(folder)
    print(evaluate(rows, qid=["tenant", "query_id"], metrics=["ndcg@10", "mrr"]))
else:
    # In pieces, for files that are larger than memory.
    print(evaluate_table(folder, qid=["tenant", "query_id"], metrics=["ndcg@10", "mrr"]))
    frame = pd.read_parquet(folder)
    result = evaluate_table(frame, qid=["tenant", "query_id"], by="tenant", metrics=["ndcg@10", "mrr"])
    print(result.segments())
