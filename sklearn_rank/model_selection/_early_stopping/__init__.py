"""Training that is followed by one of our metrics: one file for each way that libraries offer."""
