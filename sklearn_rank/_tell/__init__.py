"""The renderer: numbers, sentences and tables, made once from parts for all outputs."""
