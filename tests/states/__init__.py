"""Objects with state, used in random order, with failures in between: what they then say is what one call says.

`machine` has the shared parts, and each other file one kind of object.
"""
