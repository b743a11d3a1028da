"""Write docs/metrics/ from the registry: a page for each family of metrics and a table of all names; and a part of
docs/signs.md, the tables of signs and doors.

    python docs/make_pages.py

A test fails when the pages are not what this would write.
"""

import inspect
import re
import sys
from pathlib import Path
from textwrap import wrap

from formulas import FORMULAS

from sklearn_rank._metric.keywords import (
    CUTOFF,
    DATA_DOC,
    JOBS_DOC,
    SHARED,
    TIE_BREAK_DOC,
    WEIGHT_DOC,
)
from sklearn_rank._metric.metric import REGISTRY, Metric
from sklearn_rank._signs.table import tables

FOLDER = Path(__file__).parent / "metrics"
SIGNS = Path(__file__).parent / "signs.md"
BEGIN = "<!-- Written by docs/make_pages.py from the code. -->"
END = "<!-- The end of what is written. -->"
WIDTH = 96
NOTE = "<!-- Written by docs/make_pages.py from the docstrings; edit those. -->\n\n"


def families() -> dict[str, list[Metric]]:
    """Metrics of the library by the module that they are defined in."""
    found: dict[str, list[Metric]] = {}
    for metric in REGISTRY.values():
        package, _, family = metric.formula.__module__.rpartition(".")
        if package == "sklearn_rank.metrics":
            found.setdefault(family, []).append(metric)
    return dict(sorted(found.items()))


def page(metrics: list[Metric]) -> str:
    """Page of one family."""
    described: dict[str, str] = {}
    title, _, says = inspect.getdoc(inspect.getmodule(metrics[0].formula)).partition(": ")
    parts = [
        f"# {title.rstrip('.')}",
        *([says[0].upper() + says[1:]] if says else []),
        *(
            section(metric, described)
            for metric in sorted(metrics, key=lambda metric: metric.name != "ndcg")
        ),
    ]
    return NOTE + "\n\n".join(parts) + "\n"


def section(metric: Metric, described: dict[str, str]) -> str:
    """One metric: definition, facts, keywords, source, example. `described` has the keywords of the page so far."""
    parts = re.split(r"\n*^(\w+)\n-+\n", inspect.getdoc(metric.formula), flags=re.MULTILINE)
    head, named = parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))
    head = re.sub(r"``(.*?)``", r"`\1`", head, flags=re.DOTALL)
    if metric.name in FORMULAS:
        first, _, rest = head.partition("\n\n")
        head = f"{first}\n\n```math\n{FORMULAS[metric.name]}\n```\n\n{rest}"
    names = ", ".join(f"`{name}`" for name in (metric.name, *metric.aliases))
    lines = filter(None, (keyword(name, metric) for name in metric.formula_params))
    own = "".join(f"- {_once(line, metric.name, described)}\n" for line in lines)
    facts = f"- **Function** `{metric.function_name}`; **names** {names}.\n{bullets(metric)}{own}"
    return f"## {metric.name}\n\n{head}\n\n{facts}\n**Source.** {named['References']}\n\n{example(named['Examples'])}"


def _once(line: str, metric: str, described: dict[str, str]) -> str:
    """The keyword as it stands, or a link to the metric above that has the same."""
    first = described.setdefault(line, metric)
    return line if first == metric else f"{line[: line.index('. ')]}. See [`{first}`](#{first})."


def bullets(metric: Metric) -> str:
    """Bounds, cutoff, undefined queries, ties and pooling."""
    low, high = metric.bounds
    better = "higher" if metric.greater_is_better else "lower"
    undefined = f"for a query with {metric.undefined_when}" if metric.undefined_when else "never"
    subtopics = [
        "**Labels** one for each subtopic; a single one is of one subtopic."
    ] * metric.subtopics
    lines = subtopics + [
        f"**Bounds** {low:g} to {high:g}; {better} is better.",
        "**Cutoff** `k`." if metric.has_cutoff else "**No cutoff**: computed on the whole list.",
        f"**Undefined** {undefined}.",
        f"**Ties** {ties(metric)}.",
        *(["**Averages** micro, too."] * metric.supports_micro),
    ]
    return "".join(f"- {line}\n" for line in lines)


def ties(metric: Metric) -> str:
    """What equal scores do."""
    if "ties" not in metric.defaults:
        return (
            "have no effect: no order is read"
            if metric.pointwise
            else "are part of the definition"
        )
    if "refuse_ties" in inspect.getsource(metric.formula):
        return "exact expectation, or an error where there is no closed form (see below); or another policy"
    if metric.subtopics:
        return "exact expectation over all orders, or the order of the input"
    return "exact expectation over all orders, or another policy"


def keyword(name: str, metric: Metric) -> str:
    """Documentation of one keyword in a line."""
    rule = metric.rule(name)
    if rule is None:
        return ""
    first, *rest = rule.doc.replace("<default>", str(metric.formula_params[name])).split("\n")
    text = " ".join(map(str.strip, rest)).replace("``", "`")
    return f"`{first}`. {text}"


def example(text: str) -> str:
    """Prose of the example as it stands, its code in blocks."""
    out, code = [], []
    for line in [*text.strip().split("\n"), ""]:
        if line.startswith((">>>", "...")) or (code and line):
            code.append(line)
            continue
        if code:
            out.append("```pycon\n" + "\n".join(code) + "\n```")
            code = []
        out.append(line)
    return "\n".join(out).strip()


def index() -> str:
    """Table of all names, and the keywords that all metrics share."""
    rows = [
        f"| {', '.join(f'`{name}`' for name in (metric.name, *metric.aliases))} "
        f"| [`{metric.function_name}`]({family}.md#{metric.name}) | {inspect.getdoc(metric.formula).splitlines()[0]} |"
        for family, metrics in families().items()
        for metric in metrics
    ]
    shared = [
        DATA_DOC,
        CUTOFF.doc,
        *(rule.doc for _, rule in SHARED.values()),
        TIE_BREAK_DOC,
        WEIGHT_DOC,
        JOBS_DOC,
    ]
    return (
        f"{NOTE}# All metrics\n\nA name takes keywords and a cutoff, in any case: `ndcg(gain=linear)@10`. Each\nhas a macro average and values of each query.\n\n"
        "| names | function | what it is |\n|---|---|---|\n"
        + "\n".join(sorted(rows, key=lambda row: (not row.startswith("| `ndcg`"), row)))
        + "\n\n"
        "## Keywords of every metric\n\n```text\n" + narrow("\n".join(shared)) + "\n```\n"
    )


def narrow(doc: str) -> str:
    """Keywords in lines that fit into the page."""
    lines = []
    for entry in re.split(r"\n(?=\S)", doc):
        head, *rest = entry.split("\n")
        lines += wrap(head, WIDTH, subsequent_indent="    ")
        text = " ".join(map(str.strip, rest))
        lines += wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def page_of_signs() -> str:
    """The page on signs, with its tables as the code has them."""
    before, begin, rest = SIGNS.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{tables()}\n{end}{after}"


def pages() -> dict[Path, str]:
    """Text of each file."""
    return {FOLDER / "README.md": index(), SIGNS: page_of_signs()} | {
        FOLDER / f"{family}.md": page(metrics) for family, metrics in families().items()
    }


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text)
        print(path, file=sys.stderr)
