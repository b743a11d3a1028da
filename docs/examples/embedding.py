"""Tune an embedding for retrieval, then see what its hash codes cost: on the digits of scikit-learn.

Each image searches the others for its own digit. PCA and NeighborhoodComponentsAnalysis are tuned with `GridSearchCV`
by MAP@10, divided by min(10, R), judged on images they have not seen, and turned into codes of 16, 32 and 64 bits by
the signs of random projections. Writes a plot of precision against recall, and of how far ties can move the nDCG of
each length of code. Takes a few seconds; needs the extra "plot".

    python docs/examples/embedding.py [--figure PATH]
"""

import argparse
from time import perf_counter

import numpy as np
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.neighbors import NeighborhoodComponentsAnalysis

from sklearn_rank.retrieval import evaluate_retrieval, make_retrieval_scorer, score_neighbors

RECALLS = [i / 20 for i in range(21)]
BITS = [16, 32, 64]


def tuned(model, grid, X, y):
    """The embedding with the best MAP@10 on folds that it was not fitted on, each image searching its fold."""
    scorer = make_retrieval_scorer("map@10", distance="euclidean", denominator="min_k_relevant")
    search = GridSearchCV(model, grid, scoring=scorer, cv=StratifiedKFold(3)).fit(X, y)
    print(f"{search.best_params_}: MAP@10 {search.best_score_:.3f} in cross-validation")
    return search


def precision_by_recall(features, y):
    """Interpolated precision at each recall, tied images in the worse order."""
    metrics = [f"iprec(recall={x}, ties=worst)" for x in RECALLS]
    return list(evaluate_retrieval(features, query_labels=y, distance="euclidean", metrics=metrics).mean().values())


def hash_codes(train, test, n_bits, seed=0):
    """Signs of random projections, as -1 and 1, around the mean."""
    planes = np.random.default_rng(seed).normal(size=(train.shape[1], n_bits))
    return np.where((test - train.mean(axis=0)) @ planes > 0, 1, -1)


def approximate_search(features, y, rng):
    """A rough index: neighbors are looked for in one half of the images, another one for each query."""
    true = np.argsort(((features[:, None] - features) ** 2).sum(axis=-1) + np.diag(np.full(len(y), np.inf)))[:, :10]
    found = np.where(rng.random(true.shape) < 0.5, true, -1)
    recall = score_neighbors(None, found, true_indices=true, n_database=len(y), metrics="recall@10")
    judged = score_neighbors(None, found, y, y, exclude_self=True, metrics="p@10")
    print(f"an index with recall@10 {recall.mean()['recall@10']:.3f} has P@10 {judged.mean()['p@10']:.3f}")


def plot(curves, ranges, path):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for (name, precision), style in zip(curves.items(), ("-", ":", "--"), strict=True):
        left.plot(RECALLS, precision, style, linewidth=2, label=name)
    left.set(
        xlabel="recall", ylabel="precision, interpolated", ylim=(0, 1.02), title="Precision and recall of embeddings"
    )
    left.legend()
    for at, (_, mean, worst, best, _) in enumerate(ranges):
        right.plot([at, at], [worst, best], color="C0", linewidth=6, alpha=0.3, solid_capstyle="butt")
        right.plot(at, mean, "o", color="C0")
    right.set(
        xticks=range(len(BITS)), xticklabels=BITS, xlim=(-0.5, len(BITS) - 0.5), xlabel="bits of the code",
        ylabel="nDCG@10", title="nDCG of hash codes, and what ties could make of it",
    )  # fmt: skip
    figure.savefig(path, dpi=120)
    print(f"wrote {path}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--figure", default="docs/examples/embedding.png")
    path, began = parser.parse_args().figure, perf_counter()
    X, y = load_digits(return_X_y=True)
    train, test, y_train, y_test = train_test_split(X / 16, y, random_state=0)
    pca = tuned(PCA(random_state=0), {"n_components": [4, 16, 32]}, train, y_train)
    nca = NeighborhoodComponentsAnalysis(max_iter=30, random_state=0)
    nca = tuned(nca, {"n_components": [4, 9], "init": ["pca", "lda"]}, train, y_train)
    models = {"PCA": pca, "NCA": nca}
    embeddings = {name: (model.transform(train), model.transform(test)) for name, model in models.items()}
    embeddings = {"pixels": (train, test), **embeddings}

    curves = {}
    for name, (_, features) in embeddings.items():
        curves[name] = precision_by_recall(features, y_test)
        found = evaluate_retrieval(
            features, query_labels=y_test, distance="euclidean", metrics=["ndcg@10", "p@10", "map"]
        )
        print(f"\n{name} on the test images\n{found}")

    print("\nHash codes of the NCA embedding, by Hamming distance:")
    ranges = []
    for n_bits in BITS:
        codes = hash_codes(*embeddings["NCA"], n_bits)
        result = evaluate_retrieval(codes, query_labels=y_test, distance="hamming", metrics="ndcg@10")
        ranges += result.tie_range().rows
        _, mean, worst, best, tied = ranges[-1]
        print(f"{n_bits} bits: nDCG@10 {mean:.4f}, from {worst:.4f} to {best:.4f} as ties fall; {tied} queries tied")
    approximate_search(embeddings["NCA"][1], y_test, np.random.default_rng(0))
    plot(curves, ranges, path)
    print(f"Done in {perf_counter() - began:.0f} s.")


if __name__ == "__main__":
    main()
