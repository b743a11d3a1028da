"""State machines: objects with state are used in any order, fail, and are used again; numbers equal one call's.

`machine` has the shared parts, and each other file one kind of object. ``python -m tests.states`` runs any number of
examples.
"""
