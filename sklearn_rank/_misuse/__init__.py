"""Checks for misuse: the checks, the functions that run them, and whether a function warns or raises.

A check looks for data or models that can be evaluated but do not mean what the user thinks. Each public function that
reports a number, or decides by a number, is a door. A door runs the checks once on its inputs.
"""
