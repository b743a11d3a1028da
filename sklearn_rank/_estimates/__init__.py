"""Claims from arrays of values by query: intervals, tests, corrections, power. Knows no metric and no result."""
