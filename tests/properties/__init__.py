"""Properties that hold for all data: values are those of the oracle, and what means the same has the same value.

`data` draws rows, `calls` what is asked of them, `forms` the containers in which they come; `expected` says what
must come out, in plain Python, `same` in how many ways the same can be said. ``python -m tests.properties`` goes on for
as many cases as one likes.
"""
