"""Which retriever finds the passages of a golden set, and is the set sound? Three retrievers and an audit.

Run ``python golden_set.py golden.jsonl bm25.jsonl dense.jsonl hybrid.jsonl``: lines such as ``{"question_id": "q1",
"relevant": ["p7"]}``, and of each retriever ``{"question_id": "q1", "retrieved": ["p3", "p7"]}``, best first.
"""

import sys
from pathlib import Path

from sklearn_rank import compare_systems

golden, *retrievers = sys.argv[1:]
comparison = compare_systems(
    golden, {Path(path).stem: path for path in retrievers}, metrics=["recall@5", "mrr"], missing_from_run="zero"
)
print(comparison)
# Questions that no retriever answers may have wrong passages in the golden set.
print(comparison.worst_queries(5))
first, *_, last = comparison.results
print(comparison.explain(comparison.results[first].qid[0], new=last, old=first))
print(comparison.to_judge(10, new=last, old=first))
