"""Models on the same folds: cross-validation, comparison, searches and the learning curve."""
