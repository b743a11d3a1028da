"""Saved results whose description or arrays are others than those that were saved."""

import json

import numpy as np


def changed(path, *, description=None, **arrays):
    """Path of a file like that at `path`, with other entries of its description and other arrays; None leaves one out.

    `description` is a function that changes the words in place, or a dict of entries.
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
