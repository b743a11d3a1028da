"""Properties of all data: values equal the oracle's, and equivalent calls have equal values.

`data` draws rows, `calls` draws metrics and keywords, `forms` the containers of the rows; `expected` computes the
expected values in plain Python, and `same` lists equivalent calls. ``python -m tests.properties`` runs any number of
cases.
"""
