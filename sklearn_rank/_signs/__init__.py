"""Signs of misuse: what they are, which function looks for them, and whether it warns or raises.

A sign is data or a model that can be judged and does not mean what it seems to mean. Each function that shows a number
or decides by one is a door; it hands what it has to this room once.
"""
