"""Draw docs/metrics/curves.png: metrics of one list as curves over the rank at which it stops.

pip install -e ".[plot]" && python docs/make_figure.py
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from sklearn_rank.metrics import ndcg_score, precision_at_k_score, recall_at_k_score

LABELS = [0, 2, 1, 0, 1, 0, 3, 0, 0, 1]
SCORES = [10, 9, 8, 7, 5, 5, 5, 5, 2, 1]  # the documents at ranks 5 to 8 are tied
STYLES = {
    "nDCG": (ndcg_score, "-", "o"),
    "precision": (precision_at_k_score, "--", "s"),
    "recall": (recall_at_k_score, "-.", "^"),
}


def main() -> None:
    """Curves under the average policy, with the band between the worst and the best order of the tied documents."""
    ranks = np.arange(1, len(LABELS) + 1)
    figure, ax = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for i, (name, (metric, line, marker)) in enumerate(STYLES.items()):
        curve, worst, best = (
            metric(LABELS, SCORES, qid=[0] * len(LABELS), k=ranks, ties=ties)
            for ties in ("average", "worst", "best")
        )
        grey = str(0.2 * i)
        ax.fill_between(ranks, worst, best, color=grey, alpha=0.15, linewidth=0)
        ax.plot(ranks, curve, line, marker=marker, color=grey, label=name, markersize=5)
    ax.axvspan(4.5, 8.5, facecolor="none", edgecolor="0.6", linestyle=":", linewidth=1)
    ax.text(6.5, 0.02, "tied documents", ha="center", color="0.35")
    ax.set_xticks(ranks, [f"{rank}\n{label}" for rank, label in zip(ranks, LABELS, strict=True)])
    ax.set(
        xlabel="rank k at which the list stops, and the label of the document there",
        ylabel="value at k",
    )
    ax.set(xlim=(0.7, len(ranks) + 0.3), ylim=(0, 1.02))
    ax.legend(loc="upper left", frameon=False)
    figure.savefig(Path(__file__).with_name("metrics") / "curves.png", dpi=200)


if __name__ == "__main__":
    main()
