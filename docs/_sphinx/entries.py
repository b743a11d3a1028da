"""Public names of the library, and the one entry that each has in the reference."""

import importlib
import inspect
import pkgutil
import re
from collections import Counter

import sklearn_rank

WORDS = {"compare", "evaluate", "mean", "metric", "per_query", "prepare"}
"""Names that are words too, or names of several functions: links where the package or the page says which."""


def modules():
    """Public modules and the names that each exports, outer ones first."""
    found = sorted(m.name for m in pkgutil.walk_packages(sklearn_rank.__path__, "sklearn_rank."))
    for name in ["sklearn_rank", *(n for n in found if not re.search(r"\._|\.metrics\.", n))]:
        module = importlib.import_module(name)
        yield name, sorted(n for n in getattr(module, "__all__", vars(module)) if _is_public(module, n))


def _is_public(module, name):
    home = getattr(getattr(module, name), "__module__", None) or ""
    here = hasattr(module, "__all__") or hasattr(module, "__path__") or home == module.__name__
    return here and home.startswith("sklearn_rank") and not name.startswith("_")


def entries():
    """The one place of each public name: `sklearn_rank.metrics` or `sklearn_rank` if it is there, else its package."""
    place, where = {}, {}
    for module, names in sorted(modules(), key=lambda module: module[0] != "sklearn_rank.metrics"):
        for name in names:
            full = f"{module}.{name}"
            where[full] = place.setdefault(id(getattr(importlib.import_module(module), name)), full)
    return where


ENTRIES = entries()
"""Entry of each way to write a public name with its package."""
_PLACES = set(ENTRIES.values())
_SHORT = Counter(place.rpartition(".")[2] for place in _PLACES)
SHORT = {place.rpartition(".")[2]: place for place in _PLACES if _SHORT[place.rpartition(".")[2]] == 1}
"""Entries of names that only one package has."""


def entry(text, module=None, words=False):
    """Where a name in code has its entry, with the member that follows; None if it is no public name."""
    name = re.sub(r"\(.*", "", text, flags=re.DOTALL)
    if not re.fullmatch(r"\w+(\.\w+)*", name):
        return None
    known = {**SHORT, **ENTRIES} if words or "(" in text or "." in text else _without_words()
    for start in (f"{module}.{name}", name):
        for head in _heads(start):
            if head in known and _has(known[head], start[len(head) :]):
                return known[head] + start[len(head) :]
    return None


def _without_words():
    return {name: place for name, place in {**SHORT, **ENTRIES}.items() if name not in WORDS}


def _heads(name):
    parts = name.split(".")
    return [".".join(parts[:n]) for n in range(len(parts), 0, -1)]


def _has(place, member):
    value = value_of(place)
    member = member[1:]
    return not member or (inspect.isclass(value) and is_ours(inspect.getattr_static(value, member, None)))


def is_ours(member):
    """Whether this library wrote a member of a class, and not scikit-learn or Python, which document theirs."""
    member = getattr(member, "fget", None) or getattr(member, "func", None) or getattr(member, "__func__", member)
    return str(getattr(member, "__module__", "")).startswith("sklearn_rank") and bool(inspect.getdoc(member))


def value_of(name):
    """What a name with its package says; ImportError or AttributeError if it does not exist."""
    for head in _heads(name):
        try:
            value = importlib.import_module(head)
        except ImportError:
            continue
        for part in name[len(head) :].split(".")[1:]:
            value = getattr(value, part)
        return value
    raise ImportError(name)
