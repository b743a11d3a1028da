"""Compiled loops over arrays, without the GIL: they do not validate, and know no metric."""
