"""Arrays in, values query by query out. Knows queries, labels and orders, but no metric by name."""
