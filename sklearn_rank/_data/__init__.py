"""The waist: what an entry point knows of its data passes here, and is checked for misuse once.

Each public function that reports a number, or decides by a number, is a door. It says what it knows of its data (rows,
columns of ranks, models, users, results), and `look` runs all checks of these.
"""
