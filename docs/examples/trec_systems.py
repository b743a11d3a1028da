r"""Five systems of a TREC track: the numbers of trec_eval, a table for LaTeX, and letters for who beats whom.

Run ``python trec_systems.py qrels.txt "runs/*.txt"``.
"""

import sys
from glob import glob
from pathlib import Path

from sklearn_rank import compare_systems

qrels, pattern = sys.argv[1:]
runs = {Path(path).stem: path for path in sorted(glob(pattern))}
comparison = compare_systems(
    qrels, runs, metrics=["map", "ndcg@10", "P_10"], convention="trec_eval", missing_from_run="zero"
)
print(comparison)
print(comparison.to_latex(marks="letters"))
