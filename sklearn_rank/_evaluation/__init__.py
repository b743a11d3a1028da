"""Many metrics in one pass, and the result."""
