"""Arrays in, values per query out. Knows queries, labels and orders, but no metric by name."""
