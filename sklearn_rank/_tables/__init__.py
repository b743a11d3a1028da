"""Columns of tables in memory, in files and in batches: checked, read, and put together to whole queries."""
