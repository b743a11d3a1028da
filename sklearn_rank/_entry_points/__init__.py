"""Ways in from dictionaries of ids, and for several systems at once."""
