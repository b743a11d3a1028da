"""Whole queries out of pieces: what batches, dask and Spark share."""
