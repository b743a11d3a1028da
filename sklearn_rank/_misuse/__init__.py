"""Checks for misuse: what labels, scores, ids, models and distances show, whoever asks.

A check looks for data or models that can be evaluated but do not mean what the user thinks. Whether a finding warns or
raises is up to the public function that hands over its data, see `_data`.
"""
