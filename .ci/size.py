#!/usr/bin/env python3
"""Lines of the package and its public names, which must stay below a limit each: .ci/size.py."""

import inspect
import pkgutil
import sys
from importlib import import_module
from pathlib import Path

import sklearn_rank

WANTED_LINES, MOST_LINES = 54_400, 55_600
"""Lines that are wanted, and those at which a change must take away what it adds."""
MOST_NAMES = 142
"""Four of them are types in `metrics.__all__`."""


def public_names():
    """Functions, classes and constants of public modules, each once."""
    modules = [name for _, name, _ in pkgutil.walk_packages(sklearn_rank.__path__, "sklearn_rank.") if "._" not in name]
    found = {}
    for module in map(import_module, ["sklearn_rank", *modules]):
        members = {name: vars(module)[name] for name in vars(module) if not name.startswith("_")}
        own = [name for name, value in members.items() if getattr(value, "__module__", "") == module.__name__]
        for name in getattr(module, "__all__", own):
            value = getattr(module, name)
            if not inspect.ismodule(value):
                found[id(value)] = name
    return sorted(found.values())


if __name__ == "__main__":
    files = [path for kind in ("py", "pyx", "pxd") for path in Path("sklearn_rank").rglob(f"*.{kind}")]
    lines, names = sum(len(path.read_bytes().splitlines()) for path in files), len(public_names())
    print(
        f"sklearn_rank has {lines:,} lines, of {MOST_LINES:,} at most and {WANTED_LINES:,} wanted, and {names} public "
        f"names, of {MOST_NAMES}"
    )
    sys.exit(lines > MOST_LINES or names > MOST_NAMES)
