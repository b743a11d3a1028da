"""The doors: which evidence each hands over, and whether it decides."""

from __future__ import annotations

from sklearn_rank._signs.sign import Door

ROWS = "labels scores arguments ids names matrices"
"""Kinds of evidence that rows of the user are."""

METRIC = Door("metric functions", ROWS)
SCORER = Door("scorers", "labels scores ids frozen fitted", may_raise=False)
EVALUATE = Door("evaluate", ROWS)
FRAME = Door("evaluate_frame", "labels scores arguments ids names")
RUN = Door("evaluate_run", "labels scores ids runs")
PREPARE = Door("prepare", ROWS)
BATCHES = Door("evaluate_batches", "labels scores arguments ids names batches")
ACCUMULATOR = Door("RankingAccumulator", "labels scores arguments ids matrices")
SYSTEMS = Door("compare_systems", ROWS + " runs models")
COMPARE = Door("RankingEvaluator.compare", "labels scores ids models frozen", decides=True)
CROSS_VALIDATE = Door("RankingEvaluator.cross_validate", "labels scores ids frozen", decides=True)
SEARCH = Door("RankingEvaluator.search", "labels ids frozen", decides=True)
RANKER = Door("QueryRanker(eval_metric=...)", "labels ids", decides=True)
IMPORTANCE = Door("query_permutation_importance", "labels scores ids", decides=True)
LEARNING_CURVE = Door("query_learning_curve", "labels ids")
BOOSTING = Door("boosting", "labels ids")
DASK = Door("dask.evaluate, dask.mean", "labels scores arguments ids names")
SPARK = Door("spark.evaluate, spark.mean", "labels scores arguments ids names")
RETRIEVAL = Door("retrieval.evaluate_retrieval", "labels distances")
RETRIEVAL_SCORER = Door("retrieval.make_retrieval_scorer", "labels distances", may_raise=False)
NEIGHBORS = Door("retrieval.score_neighbors", "labels neighbors")
JOIN = Door("io.join", "runs")
READ_RUN = Door("io.read_trec_run", "lines")
COMMAND = Door("command line", "labels scores arguments ids names runs lines")
