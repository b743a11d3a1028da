"""README.md files of packages name existing code, and their links work."""

import re
from pathlib import Path

from registry import together

import sklearn_rank

ROOT, PACKAGE = Path(__file__).parents[2], Path(sklearn_rank.__file__).parent
READMES = [*sorted(PACKAGE.rglob("README.md")), ROOT / "tests" / "README.md"]
SOURCES = [path for kind in ("py", "pyx", "pxd") for path in PACKAGE.rglob(f"*.{kind}")]
WORDS = {word for path in [*SOURCES, ROOT / "setup.py"] for word in re.findall(r"\w+", path.read_text())}
OF_OTHERS = {"KFold", "Ridge", "applyInPandas", "applyInArrow", "groupBy", "cross_val_predict", "return_train_score"}
"""Names of other libraries."""


def code_of(page):
    """Code inside the sentences of a page."""
    prose = re.sub(r"^(`{3,}).*?^\1$", "", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    return re.findall(r"`([^`\n]+)`", prose)


@together("page", READMES)
def test_links_of_readmes_work(page):
    links = re.findall(r"\]\((?!https?:)([^)#\s]+)", page.read_text())
    assert [link for link in links if not (page.parent / link).exists()] == []


@together("page", READMES)
def test_files_of_readmes_exist(page):
    folders = (ROOT, PACKAGE, page.parent, ROOT / "tests" / "engine")
    files = [name for name in code_of(page) if re.fullmatch(r"[\w./]+\.(py|pyx|md|toml)|(tests|docs)/[\w/]+", name)]
    assert [file for file in files if not any((folder / file).exists() for folder in folders)] == []


@together("page", READMES[:-1])
def test_names_in_readmes_are_in_the_code(page):
    """Identifiers of three letters or more, except paths and quoted text."""
    code = [re.sub(r'"[^"]*"', "", text) for text in code_of(page) if "/" not in text and not re.search(r"\.py$", text)]
    words = {word for text in code for word in re.findall(r"[A-Za-z_]\w{3,}", text)}
    assert len(words) > 3
    assert sorted(words - WORDS - OF_OTHERS) == []
