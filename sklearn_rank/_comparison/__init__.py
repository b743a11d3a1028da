"""Comparison of systems on the same queries: means, tests, segments, a table for papers."""
