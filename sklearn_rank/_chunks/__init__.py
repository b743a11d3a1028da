"""Whole queries from pieces: shared by batches, dask and Spark."""
