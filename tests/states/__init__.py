"""State machines: what has state is used in any order, fails, and is used again; numbers are those of one call.

`machine` has what all share, and each other file one kind of object. ``python -m tests.states`` goes on for as many
examples as one likes.
"""
