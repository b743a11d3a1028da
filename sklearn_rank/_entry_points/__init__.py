"""Ways in from frames, from dictionaries of ids, and for several systems at once."""
