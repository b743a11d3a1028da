"""The wheel alone: no extras, no compiler, another directory than the sources."""

import io
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from sysconfig import get_config_var

import numpy as np
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate

import sklearn_rank.spark
from sklearn_rank.compat.pytrec_eval import RelevanceEvaluator
from sklearn_rank.datasets import make_ranking
from sklearn_rank.display import DistributionDisplay
from sklearn_rank.io import read_run, write_run

EXTRAS = "pandas polars pyarrow matplotlib xgboost lightgbm catboost pyspark Cython".split()
present = [name for name in EXTRAS if find_spec(name)]
assert not present, f"{present} are no part of this environment"
assert "site-packages" in sklearn_rank.__file__, sklearn_rank.__file__
kernels = Path(sklearn_rank.__file__).parent / "_engine" / "kernels"
assert {path.stem for path in kernels.glob("*.pyi")} == {
    *"agreement checks common grades grouping order plan sorting trec".split()
}  # fmt: skip
assert (kernels.parents[1] / "__init__.pyi").exists()
assert (kernels.parents[1] / "metrics" / "__init__.pyi").exists()
assert not [*kernels.glob("*.pyx"), *kernels.glob("*.px[id]")]

X, y, qid = make_ranking(n_queries=30, string_qid=True, shuffle=True, random_state=0)
with sklearn.config_context(enable_metadata_routing=True):
    scores = cross_validate(
        sklearn_rank.QueryRanker(Ridge()), X, y, params={"qid": qid}, cv=sklearn_rank.QueryKFold(3),
        scoring=sklearn_rank.make_ranking_scorer(["ndcg@10", "map"]),
    )  # fmt: skip
assert np.isfinite(scores["test_ndcg@10"]).all()

report = sklearn_rank.RankingEvaluator(["ndcg@10", "mrr"], cv=3).compare({"ridge": Ridge()}, X, y, qid=qid)
assert f"<h1><bdi>ridge</bdi>: nDCG@10 {report['ridge']['ndcg@10']:.4f}</h1>" in report.to_html()
print(report)
write_run(run := io.BytesIO(), y, qid=qid, doc_id=np.arange(len(y)))
assert len(read_run(io.BytesIO(run.getvalue()))) == len(y)
with tempfile.TemporaryDirectory() as folder:
    qrels, path = Path(folder, "qrels"), Path(folder, "run")
    qrels.write_text("".join(f"{q} 0 {i} {label}\n" for i, (q, label) in enumerate(zip(qid, y, strict=True))))
    path.write_bytes(run.getvalue())
    subprocess.run(["sklearn-rank", "evaluate", qrels, path, "-m", "ndcg@10"], check=True)

# Each way in has the numbers of the others.
columns = {"label": y, "score": X[:, 0], "qid": qid}
expected = sklearn_rank.evaluate(y, X[:, 0], qid=qid).mean()
assert sklearn_rank.evaluate_table(columns).mean() == expected
systems = sklearn_rank.compare_systems(columns, y_score=["score"])
assert systems.results["score"].mean() == expected
whole = sklearn_rank.RankingAccumulator()
whole.update(y, X[:, 0], qid)
assert whole.compute().mean() == expected
assert sklearn_rank.evaluate_run({"q": {"a"}}, {"q": ["b", "a"]}, metrics="mrr").mean() == {"mrr": 0.5}
assert RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"}).evaluate({"q": {"a": 1.0}}) == {"q": {"recip_rank": 1.0}}

# What is missing is named, with what brings it.
result = report.results["ridge"]
for extra, ask in {
    "pandas": lambda: result.to_frame(),
    "plot": lambda: DistributionDisplay.from_result(result, "mrr"),
    "arrow": lambda: sklearn_rank.evaluate_table("rows.parquet", metrics="map"),
    "spark": lambda: sklearn_rank.spark.evaluate(None, metrics="map"),
}.items():
    try:
        ask()
    except ImportError as error:
        if f'pip install "sklearn-rank[{extra}]"' not in str(error):
            sys.exit(f"without {extra}: {error}")
    else:
        sys.exit(f"no error without {extra}")

if get_config_var("Py_GIL_DISABLED"):
    assert not sys._is_gil_enabled(), "a module that was imported needs the lock"
