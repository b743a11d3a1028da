"""Terms of the index, which the search looks through first: what people call a metric leads to its function."""

from sklearn_rank._metric.metric import REGISTRY

TERMS = {
    metric.function_name: (metric.name, *metric.aliases)
    for metric in REGISTRY.values()
    if metric.formula.__module__.startswith("sklearn_rank.metrics.")
}


def add_terms(app, what, name, member, options, lines):
    """Put the names of a metric into the index, and the words that its docstring begins with."""
    module, _, function = name.rpartition(".")
    if module == "sklearn_rank.metrics" and function in TERMS:
        title = next(filter(None, lines)).partition(":")[0].rstrip(".").lower()
        spelled = title.replace("cumulated", "cumulative")
        terms = dict.fromkeys((*TERMS[function], title, spelled))
        lines[:0] = [*(f".. index:: single: {term}" for term in terms), ""]


def setup(app):
    """Connect to Sphinx, after numpydoc has made sections of the docstring."""
    app.connect("autodoc-process-docstring", add_terms, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
