"""Evaluation of many metrics in one pass, and its result."""
