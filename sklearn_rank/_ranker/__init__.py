"""Wrap any model as an estimator with queries: arguments of `fit`, and early stopping by a ranking metric."""
