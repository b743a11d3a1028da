"""HTML page of a result: a single file with the verdict, plots, values and lists, made from numbers and texts."""
