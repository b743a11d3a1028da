"""Write docs/metrics/ from the registry: a page for each family of metrics and a table of all names; and parts of
docs/reference/misuse.md, the checks and where they run, of docs/development/design.md, the list of rooms and floors,
and of CONTRIBUTING.md, the tests of each room.

    python docs/make_pages.py

A test fails when the pages are not what this would write.
"""

import ast
import inspect
import re
import sys
from collections import Counter
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from textwrap import wrap

import numpy as np

import sklearn_rank
from sklearn_rank._data.table import list_of_checks, list_of_groups
from sklearn_rank._metric.keywords import (
    CUTOFF,
    DATA_DOC,
    JOBS_DOC,
    SHARED,
    TIE_BREAK_DOC,
    WEIGHT_DOC,
)
from sklearn_rank._metric.metric import REGISTRY, Metric

FOLDER = Path(__file__).parent / "metrics"
MISUSE = Path(__file__).parent / "reference" / "misuse.md"
DESIGN = Path(__file__).parent / "development" / "design.md"
CONTRIBUTING = Path(__file__).parents[1] / "CONTRIBUTING.md"
OF_MODULE = Path(__file__).parents[1] / "tests" / "of_module.py"
ARCHITECTURE = Path(__file__).parents[1] / "tests" / "project" / "test_architecture.py"
BEGIN = "<!-- Written by docs/make_pages.py from the code. -->"
END = "<!-- The end of what is written. -->"
WIDTH = 96
NOTE = "<!-- Written by docs/make_pages.py from the docstrings; edit those. -->\n\n"

_STOP = r"R_i\prod_{j<i}(1-R_j)"
_GAINS = r"g_i=\sum_t\mathrm{rel}_{it}(1-\alpha)^{c_{it}}"

FORMULAS = {
    "ndcg": r"\mathrm{nDCG@}k=\frac{\mathrm{DCG@}k}{\mathrm{IDCG@}k},\qquad"
    r"\mathrm{DCG@}k=\sum_{i=1}^{k}\frac{2^{r_i}-1}{\log_2(1+i)}",
    "dcg": r"\mathrm{DCG@}k=\sum_{i=1}^{k}g(r_i)\,d(i),\qquad g(r)=2^r-1,\qquad d(i)=\frac{1}{\log_2(1+i)}",
    "cg": r"\mathrm{CG@}k=\sum_{i=1}^{k}r_i",
    "acg": r"\mathrm{ACG@}k=\frac{1}{k}\sum_{i=1}^{k}r_i",
    "pwa": r"\mathrm{PWA@}k=\frac{\sum_{i=1}^{k}r_i/i}{\sum_{i=1}^{k}1/i}",
    "snips": r"\mathrm{SNIPS@}k=\frac{\sum_{i=1}^{k}g(r_i)\,d(i)}{\sum_{\mathrm{judged}}g(r)}",
    "wap": r"\mathrm{WAP@}k=\frac{1}{R}\sum_{\substack{i\le k\\ i\ \mathrm{relevant}}}\mathrm{ACG@}i",
    "q": r"Q@k=\frac{1}{R}\sum_{\substack{i\le k\\ i\ \mathrm{relevant}}}"
    r"\frac{\mathrm{hits}_i+\beta\,\mathrm{CG}_i}{i+\beta\,\mathrm{ICG}_i}",
    "map": r"\mathrm{AP@}k=\frac{1}{R}\sum_{\substack{i\le k\\ i\ \mathrm{relevant}}}P@i",
    "mrr": r"\mathrm{RR@}k=\frac{1}{\min\{i\le k: i\ \mathrm{relevant}\}}",
    "precision": r"P@k=\frac{\mathrm{hits}_k}{k}",
    "recall": r"R@k=\frac{\mathrm{hits}_k}{R}",
    "f": r"F@k=\frac{(1+\beta^2)\,P@k\,R@k}{\beta^2\,P@k+R@k}=\frac{(1+\beta^2)\,\mathrm{hits}_k}{\beta^2R+k}",
    "fallout": r"\mathrm{fallout@}k=\frac{k-\mathrm{hits}_k}{N}",
    "err": rf"\mathrm{{ERR@}}k=\sum_{{i=1}}^{{k}}\frac{{1}}{{i}}\,{_STOP},\qquad "
    r"R_i=\frac{2^{r_i}-1}{2^{\mathtt{max\_grade}}}",
    "nerr": r"\mathrm{nERR@}k=\frac{\mathrm{ERR@}k}{\mathrm{IERR@}k}",
    "pfound": rf"\mathrm{{pFound@}}k=\sum_{{i=1}}^{{k}}\mathtt{{decay}}^{{\,i-1}}\,{_STOP}",
    "rbp": r"\mathrm{RBP@}k=(1-p)\sum_{i=1}^{k}u_i\,p^{i-1}",
    "alpha_dcg": rf"\alpha\text{{-}}\mathrm{{DCG@}}k=\sum_{{i=1}}^{{k}}g_i\,d(i),\qquad {_GAINS}",
    "alpha_ndcg": r"\alpha\text{-}\mathrm{nDCG@}k="
    r"\frac{\alpha\text{-}\mathrm{DCG@}k}{\text{ideal }\alpha\text{-}\mathrm{DCG@}k}",
    "err_ia": r"\mathrm{ERR\text{-}IA@}k=\frac{1}{T}\sum_{t=1}^{T}\mathrm{ERR}_t@k",
    "map_ia": r"\mathrm{AP\text{-}IA@}k=\frac{1}{T}\sum_{t=1}^{T}\mathrm{AP}_t@k",
    "p_ia": r"\mathrm{P\text{-}IA@}k=\frac{1}{T}\sum_{t=1}^{T}P_t@k",
    "nrbp": r"\mathrm{NRBP@}k=\frac{1-(1-\alpha)p}{T}\sum_{i=1}^{k}g_i\,p^{i-1}",
    "bpref": r"\mathrm{bpref}=\frac{1}{R}\sum_{i\ \mathrm{relevant}}\left(1-\frac{\min(n_i,m)}{m}\right),"
    r"\qquad m=\min(R,N)",
    "infap": r"\mathrm{infAP}=\frac{1}{R}\sum_{i\ \mathrm{relevant}}\left(\frac{1}{i}+\frac{i-1}{i}\,"
    r"\mathrm{pooled}_i\,\frac{\mathrm{rel}_i+e}{\mathrm{rel}_i+\mathrm{non}_i+2e}\right)",
    "rbp_residual": r"\mathrm{residual@}k=1-(1-p)\sum_{\substack{i\le k\\ i\ \mathrm{judged}}}p^{i-1}",
    "rprec": r"\mathrm{Rprec}=\frac{\mathrm{hits}_R}{R}",
    "iprec": r"\mathrm{iprec}(x)=\max_{i\le k,\ R@i\ge x}P@i",
    "kendall": r"\tau=\frac{P-Q}{\sqrt{(P+Q+T)(P+Q+U)}}",
    "spearman": r"\rho=\frac{\sum_ia_ib_i}{\sqrt{\sum_ia_i^2\,\sum_ib_i^2}}",
    "relevance_position": r"\frac{\sum_ii\,r_i}{\sum_ir_i}",
    "rbo": r"\mathrm{RBO@}k=\frac{1-p}{p}\sum_{d=1}^{k}\frac{p^dX_d}{d}+\frac{p^kX_k}{k}",
    "mse": r"\mathrm{MSE}=\frac{1}{n}\sum_{i=1}^{n}(r_i-s_i)^2",
    "rmse": r"\mathrm{RMSE}=\sqrt{\frac{1}{n}\sum_{i=1}^{n}(r_i-s_i)^2}",
    "mae": r"\mathrm{MAE}=\frac{1}{n}\sum_{i=1}^{n}|r_i-s_i|",
    "set_f": r"\mathrm{set}_F=\frac{(1+\beta^2)\,\mathrm{hits}}{\beta^2R+n}",
}
"""Formulas as TeX. Rank i holds a document of label r_i; R documents are relevant, N are judged and not relevant."""


NEXT = "## Next\n\n[All metrics](README.md); [keywords](../api/metrics.rst)"


def families() -> dict[str, list[Metric]]:
    """Metrics of the library by the module that they are defined in."""
    found: dict[str, list[Metric]] = {}
    for metric in REGISTRY.values():
        package, _, family = metric.formula.__module__.rpartition(".")
        if package == "sklearn_rank.metrics":
            found.setdefault(family, []).append(metric)
    return dict(sorted(found.items()))


def title_of(metrics: list[Metric]) -> str:
    """Title of a family: its docstring up to the colon."""
    return inspect.getdoc(inspect.getmodule(metrics[0].formula)).partition(": ")[0].rstrip(".")


def page(metrics: list[Metric]) -> str:
    """Page of one family: what most of its metrics share, then each metric."""
    says = inspect.getdoc(inspect.getmodule(metrics[0].formula)).partition(": ")[2]
    most = {
        kind: Counter(map(fact, metrics)).most_common(1)[0][0] for kind, fact in FACTS.items()
    }
    sections = [
        section(metric, most)
        for metric in sorted(metrics, key=lambda metric: metric.name != "ndcg")
    ]
    parts = [
        f"# {title_of(metrics)}",
        *([says[0].upper() + says[1:]] if says else []),
        shared(most, "".join(sections)),
        *sections,
        NEXT,
    ]
    return NOTE + once("\n\n".join(parts)) + "\n"


def once(text: str) -> str:
    """A page that names each source once, and then the metric that has it."""
    parts, first = re.split(r"(?<=\n\n)(?=## )", text), {}
    for part in parts:
        heading = part.partition("\n")[0].removeprefix("## ")
        for source in re.findall(r"\*\*Source\.\*\* .*?(?=\n\n)", part, re.DOTALL):
            first.setdefault(source, heading)
    for number, part in enumerate(parts):
        for source, heading in first.items():
            if not part.startswith(f"## {heading}\n"):
                part = part.replace(source, f"**Source.** As for [{heading}](#{heading}).")
        parts[number] = part
    return "".join(parts)


def shared(most: dict[str, str], text: str) -> str:
    """What holds for a page: facts of most of its metrics, and the letters of its formulas."""
    formulas = "".join(re.findall(r"```math\n.*?```|^`[^`]*`$", text, re.DOTALL | re.MULTILINE))
    letters = [says for letter, says in LETTERS.items() if re.search(letter, formulas)]
    facts = "".join(f"- {fact}\n" for fact in most.values() if fact)
    return (
        f"Unless an entry says otherwise:\n\n{facts}\n"
        + "".join(
            f"{line}\n"
            for line in wrap(f"In the formulas, {'; '.join(letters)}.", 116)
            if letters
        )
    ).rstrip("\n")


def section(metric: Metric, most: dict[str, str]) -> str:
    """One metric: definition, what differs from most of the page, keywords, source, example."""
    parts = re.split(r"\n*^(\w+)\n-+\n", inspect.getdoc(metric.formula), flags=re.MULTILINE)
    head, named = parts[0], dict(zip(parts[1::2], parts[2::2], strict=True))
    first, *paragraphs = re.sub(r"``(.*?)``", r"`\1`", head, flags=re.DOTALL).split("\n\n")
    if metric.name in FORMULAS:
        paragraphs = [part for part in paragraphs if not re.fullmatch("`[^`]*`", part)]
        paragraphs.insert(0, f"```math\n{FORMULAS[metric.name]}\n```")
    text = "\n\n".join([first, *paragraphs])
    return f"## {metric.name}\n\n{text}\n\n{bullets(metric, most)}\n**Source.** {few_authors(named['References'])}\n\n{example(named['Examples'])}"


def few_authors(source: str) -> str:
    """A source with the first author only if there are four or more."""
    return re.sub(
        r"([A-Z][^,\";:]+),(?:\s[A-Z][^,\";:]+,)+\s[A-Z][^,\";:]+\sand\s[^,\";:]+,",
        r"\1 et al.,",
        source,
    )


def bullets(metric: Metric, most: dict[str, str]) -> str:
    """Function, keywords, and what differs from most metrics of the page."""
    keywords = [f"`{name}={_code(value)}`" for name, value in metric.formula_params.items()]
    lines = [
        f"**Function** `{metric.function_name}`.",
        *(said for kind, fact in FACTS.items() if (said := fact(metric)) not in ("", most[kind])),
        *([f"**Keywords** {', '.join(keywords)}."] * bool(keywords)),
    ]
    return "".join(f"- {line}\n" for line in lines)


def _code(value: object) -> str:
    """A default as it stands in code."""
    return (
        f'"{value}"'
        if isinstance(value, str)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def ties(metric: Metric) -> str:
    """What equal scores do."""
    if "ties" not in metric.defaults:
        return (
            "The order of the documents has no effect."
            if metric.pointwise or metric.reads_scores
            else "Ties are part of the definition."
        )
    if "refuse_ties" in inspect.getsource(metric.formula) and metric.name != "map":
        return ""  # the definition says why they raise
    return "Tied documents count as the exact [mean over their orders](../conventions/README.md#ties)."


FACTS = {
    "bounds": lambda metric: (
        "No bounds."
        if np.isinf(metric.bounds).all()
        else "Bounds {:g} to {:g}.".format(*metric.bounds)
    ),
    "undefined": lambda metric: (
        f"Undefined for a query with {metric.undefined_when}."
        if metric.undefined_when
        else "Defined for every query."
    ),
    "cutoff": lambda metric: (
        "Cutoff `k`." if metric.has_cutoff else "No cutoff: the whole list counts."
    ),
    "better": lambda metric: (
        "Higher is better." if metric.greater_is_better else "Lower is better."
    ),
    "ties": ties,
    "unretrieved": lambda metric: (
        "Documents that were not retrieved are tied last, under every tie policy."
        * metric.keeps_unretrieved
    ),
    "micro": lambda metric: (
        'Micro average: `average="micro"`.' if metric.supports_micro else "No micro average."
    ),
    "labels": lambda metric: (
        "Labels have a column for each subtopic; labels with one dimension are one subtopic."
        * metric.subtopics
    ),
}
"""What most metrics of a page share."""

LETTERS = {
    r"\br_i\b": "`r_i` is the label at rank i",
    r"(?<![A-Za-z@])R(?![A-Za-z@_])": "`R` is the number of relevant documents, retrieved or not",
    r"hits\}_": "`hits_i` is the number of relevant documents among the first i",
}
"""Letters of the formulas, by where they are found."""


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


QUESTIONS = """\
| your question | metric |
|---|---|
| Are the best documents at the top? Labels are grades | [`ndcg@10`](gain.md#ndcg) |
| Are all relevant documents near the top? Labels are 0 and 1 | [`map`](binary.md#map) |
| How far down is the first relevant document? | [`mrr`](binary.md#mrr) |
| Do the first k have a relevant document, or all that an answer needs? | [`hit@k`](binary.md#hit), `hit(need=all)@k` |
| How many of the first k are relevant? | [`precision@k`](binary.md#precision) |
| How many relevant documents does a retriever find? | [`recall@k`](binary.md#recall) |
| How soon does a user who reads from the top find an answer? | [`err`](stopping.md#err), [`rbp`](stopping.md#rbp) |
| Is the order right from top to bottom? | [`auc`](pairs.md#auc) for 0 and 1, [`opa`](pairs.md#opa) for grades |
| Do lists cover several meanings or subtopics? | [`alpha_ndcg`](diversity.md#alpha_ndcg), [`s_recall`](diversity.md#s_recall) |
| Can I trust a number if many documents are unjudged? | [`judged@k`](incomplete.md#judged) next to it, [`bpref`](incomplete.md#bpref) |
"""


def index() -> str:
    """Metrics by question, families, a table of all names, and the keywords that all metrics share."""
    rows = [
        f"| {', '.join(f'`{name}`' for name in (metric.name, *metric.aliases))} "
        f"| [`{metric.function_name}`]({family}.md#{metric.name}) | {name_in_words(metric)} |"
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
        f"{NOTE}# All metrics\n\nWhich metric answers your question? Choose one before you look at results.\n\n"
        f"{QUESTIONS}\n"
        "Without `metrics=`, `evaluate` computes nDCG@10, MAP, MRR, P@10 and R@100, as BEIR, MTEB and TREC report them.\n"
        "A metric is a name with keywords and a cutoff, in upper or lower case: `ndcg(gain=linear)@10`.\n\n"
        "## Families\n\n"
        + "".join(
            f"- [{title_of(metrics)}]({family}.md)\n" for family, metrics in families().items()
        )
        + "- [Your own metric](own_metric.md): a function of one query, or a formula\n"
        "- [What a formula may read](formula_reference.md): its values and sums\n\n"
        "## Names\n\n"
        "| names | function | metric |\n|---|---|---|\n"
        + "\n".join(sorted(rows, key=lambda row: (not row.startswith("| `ndcg`"), row)))
        + "\n\n"
        "## Keywords of every metric\n\nAll functions of metrics share these parameters:\n\n```text\n"
        + narrow("\n".join(shared))
        + "\n```\n"
    )


def name_in_words(metric: Metric) -> str:
    """First words of the docstring, up to the colon."""
    return inspect.getdoc(metric.formula).splitlines()[0].partition(": ")[0]


def narrow(doc: str) -> str:
    """Keywords in lines that fit into the page."""
    lines = []
    for entry in re.split(r"\n(?=\S)", doc):
        head, *rest = entry.split("\n")
        lines += wrap(head, WIDTH, subsequent_indent="    ")
        text = " ".join(map(str.strip, rest))
        lines += wrap(text, WIDTH, initial_indent="    ", subsequent_indent="    ")
    return "\n".join(lines)


def with_part(path: Path, text: str) -> str:
    """A page whose part between the marks is this text."""
    before, begin, rest = path.read_text().partition(BEGIN)
    _, end, after = rest.partition(END)
    return f"{before}{begin}\n\n{text}\n{end}{after}"


def list_of_floors() -> str:
    """Rooms of the package, from the highest floor down: the floors of the test, and what each room's docstring says."""
    (floors,) = (
        ast.literal_eval(node.value)
        for node in ast.parse(ARCHITECTURE.read_text()).body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "FLOORS"
    )
    rows = [
        f"- {number} `{room}`: {purpose(room)}\n"
        for number, floor in reversed([*enumerate(floors, 1)])
        for room in floor
    ]
    return "".join(rows)


def list_of_tests() -> str:
    """Rooms whose tests are not in the folder of the same name, and their tests as words of a shell."""
    spec = spec_from_file_location("of_module", OF_MODULE)
    of_module = module_from_spec(spec)
    spec.loader.exec_module(of_module)
    rooms = {name.split(".")[1] for name in of_module.modules() if "." in name} - {
        "__main__",
        "_version",
    }
    tests = {room: of_module.shell_words(of_module.tests_of_room(room)) for room in sorted(rooms)}
    return "".join(
        f"- `{room}`: `{words}`\n"
        for room, words in tests.items()
        if words != f"tests/{room.removeprefix('_')}"
    )


def purpose(room: str) -> str:
    """First clause of the docstring of a package or module."""
    package = Path(sklearn_rank.__file__).parent
    path = package / room / "__init__.py"
    source = path if path.exists() else package / f"{room}.py"
    first = ast.get_docstring(ast.parse(source.read_text())).partition("\n\n")[0]
    return re.split(r"[:;.]( |$)", " ".join(first.split()).replace("``", "`"))[0]


def pages() -> dict[Path, str]:
    """Text of each file."""
    return {
        FOLDER / "README.md": index(),
        MISUSE: with_part(MISUSE, f"{list_of_groups()}\n{list_of_checks()}"),
        DESIGN: with_part(DESIGN, list_of_floors()),
        CONTRIBUTING: with_part(CONTRIBUTING, list_of_tests()),
    } | {FOLDER / f"{family}.md": page(metrics) for family, metrics in families().items()}


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for path, text in pages().items():
        path.write_text(text)
        print(path, file=sys.stderr)
