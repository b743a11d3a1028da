"""Models on the same folds: cross-validation, comparisons and searches."""
