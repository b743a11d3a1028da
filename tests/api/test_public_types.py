"""Types of public results can be imported from a public module and are documented."""

import importlib
import inspect
from typing import get_type_hints

from registry import together

MODULES = {
    name: importlib.import_module(f"sklearn_rank{name}")
    for name in (
        "",
        *map(".{}".format, "display exceptions io metrics model_selection results retrieval stats".split()),
    )
}
PUBLIC = {f"{m}.{n}": getattr(module, n) for m, module in MODULES.items() for n in getattr(module, "__all__", ())}
RESULTS = {n: value for n, value in ((name.rpartition(".")[2], of) for name, of in PUBLIC.items()) if n[0].isupper()}
"""Classes by name: a module may import one for type checking only, because it is heavy."""
FOR_THE_ENGINE = (".MetricSpec.read", ".Ranked.pairs")
"""Of what they return fields are read, as `r.pairs().right`, and nothing is kept."""
TYPES = {id(value) for value in PUBLIC.values() if inspect.isclass(value)}


def functions():
    for name, value in PUBLIC.items():
        if inspect.isfunction(value):
            yield name, value
        elif inspect.isclass(value):
            members = ((n, inspect.unwrap(getattr(m, "__func__", m))) for n, m in vars(value).items())
            yield from ((f"{name}.{n}", m) for n, m in members if inspect.isfunction(m) and not n.startswith("_"))


def classes_of(hint):
    """Classes of this library within a type."""
    if inspect.isclass(hint) and hint.__module__.startswith("sklearn_rank"):
        yield hint
    for part in getattr(hint, "__args__", ()):
        yield from classes_of(part)


@together("name, function", [*functions()])
def test_returned_types_are_public(name, function):
    if name.endswith(FOR_THE_ENGINE) or "return" not in getattr(function, "__annotations__", ()):
        return
    for returned in classes_of(get_type_hints(function, localns=RESULTS).get("return")):
        assert id(returned) in TYPES, returned
        assert inspect.getdoc(returned)
