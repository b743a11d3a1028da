"""Terms of the index, which the search looks through first: the names of a metric lead to its function.

A word that many pages contain leads to the section that explains it.
"""

import re

from sklearn_rank._metric.metric import REGISTRY

TERMS = {
    metric.function_name: (metric.name, *metric.aliases)
    for metric in REGISTRY.values()
    if metric.formula.__module__.startswith("sklearn_rank.metrics.")
}

OF_PAGES = {
    "conventions/README": ("conventions",),
    "conventions/README#ties": ("ties", "tied documents"),
    "conventions/README#undefined-queries": ("undefined queries", "queries without relevant documents"),
    "conventions/README#gain": ("gain",),
    "conventions/libraries": ("faults of libraries", "other libraries", "ideal DCG"),
    "conventions/data#tables": ("pandas", "polars", "DataFrame"),
    "conventions/data#padding": ("padding",),
    "conventions/data#tensors": ("tensors",),
    "conventions/data#missing-labels": ("unjudged", "unjudged documents", "missing values"),
    "conventions/misuse": ("misuse", "warnings", "silence a warning"),
    "reference/misuse": ("leakage of labels", "label leakage", "checks for misuse"),
    "metrics/README": ("which metric", "default metrics"),
    "metrics/README#keywords-of-every-metric": ("n_jobs", "threads"),
    "metrics/own_metric": ("own metric", "custom metric", "metric of your own"),
    "metrics/formula_reference": ("formula", "subtopics"),
    "recommenders/README#tune": ("time split", "leave last out"),
    "recommenders/README#sampled-negatives": ("sampled negatives",),
    "recommenders/README#what-a-recommender-must-do": ("cold start", "cold-start users"),
    "recommenders/exposure": (
        "coverage",
        "coverage of items",
        "catalog coverage",
        "catalogue",
        "catalogue coverage",
        "novelty",
    ),
    "recommenders/clicks": ("clicks", "click log", "off-policy evaluation"),
    "recommenders/clicks#where-propensities-come-from": ("propensity", "propensities", "inverse propensity"),
    "getting_started": ("comparison", "how to read a comparison", "quick start"),
    "questions/chance": ("baseline", "random baseline", "adjusted for chance"),
    "reference/glossary": ("glossary", "topic", "session", "ground truth", "torn query", "type I error"),
    "reference/checked": ("reproducibility", "rounding", "platforms"),
    "questions/equal_scores": ("equal scores", "bf16", "bfloat16", "fp16", "float16", "low precision", "quantization"),
    "questions/order_changed": ("order changed", "overlap of lists", "rank-biased overlap", "churn"),
    "tune/hybrid": ("hybrid search", "fusion", "reciprocal rank fusion", "RRF"),
    "questions/group_sizes": ("group sizes", "group_ptr"),
    "rag/README": ("RAG", "retrieval-augmented generation", "chunks", "golden questions"),
    "rag/README#where-to-cut": ("threshold",),
    "rag/README#next": ("nuggets",),
    "rag/runs#chunks-of-documents": ("chunks of documents",),
    "rag/runs#duplicates": ("duplicates",),
    "rag/runs#missing-queries": ("missing queries",),
    "rag/runs#a-table-for-a-paper": ("letters",),
    "rag/command_line": ("command line", "sklearn-rank"),
    "rag/command_line#the-numbers-of-trec_eval": ("trec_eval",),
    "decide/compare": ("significance", "confidence interval"),
    "decide/compare#what-a-p-value-does-not-say": ("p-value",),
    "decide/compare#clusters": ("clusters",),
    "decide/compare#weights": ("weights of queries", "macro average over data sets"),
    "decide/compare#success-rates": ("success rate",),
    "decide/formulas": ("t test", "randomization test", "Wilcoxon", "Holm"),
    "decide/golden_set": ("golden set", "power", "sample size", "minimal detectable difference"),
    "decide/measured": ("type I error", "false positives"),
    "decide/measured#intervals": ("coverage", "coverage of intervals"),
    "decide/judges": ("LLM as a judge", "judges", "prediction-powered inference"),
    "decide/memo": ("memo", "decision memo"),
    "decide/several_runs": ("several runs", "seeds", "temperature"),
    "decide/report": ("HTML page", "report"),
    "decide/gate": ("non-inferiority", "noninferiority"),
    "decide/gate#in-a-workflow": ("CI", "continuous integration"),
    "tune/README": (
        "group",
        "groups",
        "GroupKFold",
        "GroupShuffleSplit",
        "scoring",
        "cv",
        "train test split",
        "cross-validation",
    ),
    "tune/README#why-not-cv5": ("leakage", "split queries"),
    "tune/early_stopping": ("early stopping", "eval_set"),
    "tune/searches#nested": ("nested", "nested cross-validation", "overfitting"),
    "tune/searches#successive-halving": ("halving",),
    "tune/searches#learning-curves": ("learning curve",),
    "tune/searches#feature-importances": ("importances",),
}
"""By page, or page and section."""
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def add_to_page(app, docname, source):
    """Put the terms of a page into the index, below the heading of their section, else below the title."""
    for place, terms in OF_PAGES.items():
        page, _, section = place.partition("#")
        if page == docname:
            headings = {slug(found[1]): found.end() for found in reversed([*HEADING.finditer(source[0])])}
            end = headings[section] if section else HEADING.search(source[0]).end()
            entries = "".join(f"\n\n```{{index}} ! {term}\n```" for term in terms)
            source[0] = source[0][:end] + entries + source[0][end:]


def slug(heading):
    """Anchor of a heading, as GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def add_terms(app, what, name, member, options, lines):
    """Put the names of a metric, and the words that its docstring begins with, into the index as main entries.

    They come after the first sentence, because tables of names show the first sentence.
    """
    module, _, function = name.rpartition(".")
    if module == "sklearn_rank.metrics" and function in TERMS:
        title = next(filter(None, lines)).partition(":")[0].rstrip(".").lower()
        spelled = title.replace("cumulated", "cumulative")
        terms = dict.fromkeys((*TERMS[function], title, spelled))
        start = lines.index(next(filter(None, lines)))
        end = lines.index("", start) if "" in lines[start:] else len(lines)
        lines[end:end] = ["", *(f".. index:: ! {term}" for term in terms)]


def setup(app):
    """Connect to Sphinx, after numpydoc has made sections of the docstring."""
    app.connect("source-read", add_to_page)
    app.connect("autodoc-process-docstring", add_terms, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
