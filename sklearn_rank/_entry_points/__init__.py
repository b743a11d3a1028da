"""Entry points for dictionaries of ids, and for several systems."""
