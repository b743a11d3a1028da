"""Tools that are independent of ranking: threads, tables, storage, optional imports."""
