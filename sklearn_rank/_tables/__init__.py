"""Whole queries from pieces: shared by batches and Spark."""
