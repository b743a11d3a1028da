"""Checks for misuse: what they are, which function makes them, and whether it warns or raises.

A check looks for data or a model that can be judged and does not mean what it seems to mean. Each function that shows
a number or decides by one is a door; it hands what it has to this room once.
"""
