"""
Why do libraries disagree?
==========================

Eight libraries print seven values of nDCG@3 for the same four small queries. The first query has tied scores, the
second has no relevant document, the third has two documents, and the fourth is an ordinary query. All values are by
design: the libraries differ in the gain of a grade, in the order of ties, and in the value of a query without relevant
documents. In sklearn_rank each choice is a keyword, so one call computes each number.
"""

import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.metrics import ndcg_score

y_true = np.array([0, 0, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1])
y_score = np.array([0.9, 0.5, 0.5, 0.5, 0.5, 0.1, 0.4, 0.3, 0.2, 0.1, 0.2, 0.7, 0.1, 0.9, 0.8, 0.4, 0.7, 0.3, 0.2])
qid = np.repeat([1, 2, 3, 4], [6, 4, 2, 7])
document_id = [f"d{i}" for n in (6, 4, 2, 7) for i in range(n)]
printed_by = {
    "XGBoost, LightGBM": dict(ties="stable", replace_undefined_by=1),
    "CatBoost, Base": dict(gain="linear", ties="worst", replace_undefined_by=1),
    "CatBoost, Exp": dict(ties="worst", replace_undefined_by=1),
    "scikit-learn, ignoring ties; ranx": dict(gain="linear", ties="stable"),
    "scikit-learn": dict(gain="linear"),
    "Rax": dict(ties="stable"),
    "trec_eval, ir_measures": dict(gain="linear", ties="stable", tie_break=document_id),
}
values = {name: ndcg_score(y_true, y_score, qid=qid, k=3, **keywords) for name, keywords in printed_by.items()}

figure, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.hlines(range(7), 0, values.values(), color="0.8", zorder=1)
ax.scatter(values.values(), range(7), zorder=2)
for row, value in enumerate(values.values()):
    ax.annotate(f"{value:.3f}", (value, row), (7, 0), textcoords="offset points", va="center")
ax.set(yticks=range(7), yticklabels=values, xlim=(0, 0.65), xlabel="nDCG@3 of the same four queries")
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# A convention sets all keywords of a library by its name:

print(ndcg_score(y_true, y_score, qid=qid, k=3, convention="lightgbm"))
