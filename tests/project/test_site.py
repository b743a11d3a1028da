"""The site's reference is complete; ``.ci/docs`` builds it and checks the rest."""

import re
import sys
from collections import Counter
from pathlib import Path

import pytest

import sklearn_rank

PACKAGE = Path(sklearn_rank.__file__).parent
ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
WITHOUT = {"_build", "bench", "extending.md"}
PAGES = [page for page in DOCS.glob("**/*.md") if not WITHOUT & {*page.parts}]
CODE = re.compile(r"^(`{3,})(?!text|sh|none|mermaid|math)\w+\n(.*?)^\1$", re.MULTILINE | re.DOTALL)
EXAMPLE = re.compile(r"^ *>>> .+\n(?: *(?!\"\"\")\S.*\n)*", re.MULTILINE)
COMMANDS = set(
    "alpha beta frac ge le left log mathrm mathtt max min prod qquad rho right sqrt substack sum tau text".split()
)
"""Of formulas, which KaTeX knows."""
sys.path.append(str(DOCS / "_sphinx"))


@pytest.fixture(scope="module")
def listed():
    """Names in the tables of docs/api."""
    found = []
    for page in (DOCS / "api").glob("*.rst"):
        parts = re.split(r"^\.\. currentmodule:: (\S+)$", page.read_text(), flags=re.MULTILINE)
        for module, text in zip(parts[1::2], parts[2::2], strict=True):
            found += [f"{module}.{name}" for name in re.findall(r"^   (\w+)$", text, re.MULTILINE)]
    return found


def test_every_public_name_is_in_the_reference_once(listed):
    entries = pytest.importorskip("entries")
    assert sorted(listed) == sorted(set(entries.ENTRIES.values()))


def test_each_page_is_in_one_menu():
    sections = pytest.importorskip("sections")
    pages = [page for page in DOCS.glob("**/*.md") if "_build" not in page.parts]
    menus = [("index", (DOCS / "index.md").read_text())]
    for head in [page for page in pages if page.stem in sections.HEADS]:
        source, name = [head.read_text()], head.relative_to(DOCS).with_suffix("").as_posix()
        sections.add_menu(None, name, source)
        menus.append((name, source[0]))
    found = Counter(
        (DOCS / name).parent.joinpath(entry).resolve()
        for name, text in menus
        for menu in re.findall(r"^```{toctree}\n:hidden:\n\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        for entry in re.findall(r"([\w./]+)>?$", menu, re.MULTILINE)
    )
    others = [page for page in pages if found[page.resolve().with_suffix("")] != 1]
    assert others == [DOCS / "index.md"]


def test_powers_are_in_code():
    """Two `**` in a line would make the text between them bold."""
    prose = {
        page: re.sub(r"^(`{3,}).*?^\1$|`[^`]*`", "", page.read_text(), flags=re.DOTALL | re.MULTILINE) for page in PAGES
    }
    paragraphs = [(page, text) for page, whole in prose.items() for text in whole.split("\n\n")]
    assert len(paragraphs) > 1000
    assert not [(page, text) for page, text in paragraphs if len(re.findall(r"\w\*\*\w", text)) > 1]


def test_a_row_of_a_table_is_one_line():
    texts = {page: re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE) for page in PAGES}
    rows = [(page, line) for page, text in texts.items() for line in text.splitlines() if line.startswith("|")]
    assert len(rows) > 500
    assert not [(page, row) for page, row in rows if not row.endswith("|")]


def test_formulas_have_commands_that_exist():
    found = [
        (page, command)
        for page in PAGES
        for formula in re.findall(r"^```math\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE)
        for command in re.findall(r"\\([A-Za-z]+)", formula)
    ]
    assert len(found) > 100
    assert not [(page, command) for page, command in found if command not in COMMANDS]


def test_code_fits_into_its_page():
    """Code fits between the menus in a window of 1300 pixels; `ruff format` does not break comments and text."""
    code = [(page, found[2]) for page in PAGES for found in CODE.finditer(page.read_text())]
    examples = [(file, found[0]) for file in PACKAGE.rglob("*.py") for found in EXAMPLE.finditer(file.read_text())]
    assert len(code) > 200
    assert len(examples) > 100
    long = [(path, line) for path, text in code for line in text.splitlines() if len(line) > 98]
    assert not long + [(path, line) for path, text in examples for line in text.splitlines() if len(line.strip()) > 92]
