"""Compiled loops over arrays, without the GIL: they validate nothing, and know no metric."""
