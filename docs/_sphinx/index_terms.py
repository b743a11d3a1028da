"""Terms of the index, which the search looks through first: what people call a metric leads to its function.

Words that are on many pages lead to the one that explains them.
"""

from sklearn_rank._metric.metric import REGISTRY

TERMS = {
    metric.function_name: (metric.name, *metric.aliases)
    for metric in REGISTRY.values()
    if metric.formula.__module__.startswith("sklearn_rank.metrics.")
}

OF_PAGES = {
    "conventions/README": (
        "ties",
        "tied documents",
        "undefined queries",
        "queries without relevant documents",
        "conventions",
        "gain",
    ),
    "conventions/libraries": ("faults of libraries", "other libraries", "ideal DCG"),
    "conventions/data": (
        "pandas",
        "polars",
        "DataFrame",
        "unjudged",
        "unjudged documents",
        "missing values",
        "padding",
        "tensors",
    ),
    "conventions/misuse": ("misuse", "warnings", "silence a warning"),
    "reference/misuse": ("leakage of labels", "label leakage", "checks for misuse"),
    "metrics/README": ("which metric", "default metrics"),
    "metrics/own_metric": ("own metric", "custom metric", "metric of your own"),
    "metrics/formula_reference": ("formula", "subtopics"),
    "recommenders/README": ("cold start", "cold-start users", "sampled negatives", "time split", "leave last out"),
    "recommenders/exposure": (
        "coverage",
        "coverage of items",
        "catalog coverage",
        "catalogue",
        "catalogue coverage",
        "novelty",
    ),
    "recommenders/clicks": (
        "clicks",
        "click log",
        "propensity",
        "propensities",
        "inverse propensity",
        "off-policy evaluation",
    ),
    "getting_started": ("comparison", "how to read a comparison", "quick start"),
    "questions/chance": ("baseline", "random baseline", "adjusted for chance"),
    "reference/glossary": ("glossary", "topic", "session", "ground truth", "torn query", "type I error"),
    "reference/checked": ("reproducibility", "rounding", "platforms"),
    "questions/equal_scores": ("equal scores", "bf16", "bfloat16", "fp16", "float16", "low precision", "quantization"),
    "questions/group_sizes": ("group sizes", "group_ptr"),
    "rag/README": ("RAG", "retrieval-augmented generation", "chunks", "nuggets", "threshold", "golden questions"),
    "rag/runs": ("chunks of documents", "duplicates", "missing queries", "letters"),
    "rag/command_line": ("trec_eval", "command line", "sklearn-rank"),
    "decide/compare": (
        "p-value",
        "significance",
        "confidence interval",
        "clusters",
        "weights of queries",
        "success rate",
        "macro average over data sets",
    ),
    "decide/formulas": ("t test", "randomization test", "Wilcoxon", "Holm", "Tukey"),
    "decide/golden_set": ("golden set", "power", "sample size", "minimal detectable difference"),
    "decide/measured": ("coverage", "coverage of intervals", "type I error", "false positives"),
    "decide/judges": ("LLM as a judge", "judges", "prediction-powered inference"),
    "decide/memo": ("memo", "decision memo"),
    "decide/several_runs": ("several runs", "seeds", "temperature"),
    "decide/report": ("HTML page", "report, as a page"),
    "decide/gate": ("CI", "continuous integration", "non-inferiority", "noninferiority"),
    "tune/README": (
        "group",
        "groups",
        "GroupKFold",
        "GroupShuffleSplit",
        "scoring",
        "cv",
        "train test split",
        "cross-validation",
        "leakage",
        "split queries",
    ),
    "tune/early_stopping": ("early stopping", "eval_set"),
    "tune/searches": ("nested", "nested cross-validation", "overfitting", "halving", "learning curve", "importances"),
}


def add_to_page(app, docname, source):
    """Put terms of a page into the index."""
    for term in OF_PAGES.get(docname, ()):
        source[0] += f"\n```{{index}} ! {term}\n```\n"


def add_terms(app, what, name, member, options, lines):
    """Put the names of a metric, and the words that its docstring begins with, into the index as main entries.

    They stand below the first sentence, which tables of names take for their second column.
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
