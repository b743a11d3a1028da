"""Any model as an estimator with queries: its arguments of fit, and early stopping by a ranking metric."""
