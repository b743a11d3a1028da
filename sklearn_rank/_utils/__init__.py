"""Tools that know nothing of ranking: threads, tables, storage, optional imports."""
