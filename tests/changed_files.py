"""Saved results with a changed description or changed arrays."""

import json

import numpy as np


def changed(path, *, description=None, **arrays):
    """Path of a copy of the file at `path` with a changed description and changed arrays; None removes an array.

    `description` is a function that changes the description in place, or a dict of entries.
    """
    with np.load(path) as file:
        found = dict(file)
    words = json.loads(str(found["meta"]))
    if callable(description):
        description(words)
    else:
        words |= description or {}
    found |= {name.replace("_at_", " "): array for name, array in arrays.items()} | {
        "meta": np.array(json.dumps(words))
    }
    np.savez(other := path.with_name("changed.npz"), **{name: x for name, x in found.items() if x is not None})
    return other
