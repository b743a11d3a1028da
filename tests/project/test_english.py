"""English of messages, docstrings, comments and pages: subject, verb, object, so that a sentence is read once."""

import ast
import io
import re
import tokenize
from pathlib import Path

import pytest
from registry import together

ROOT = Path(__file__).parents[2]

HABITS = {
    "'because' or a new sentence, not 'as'": r", as (?!well |an? |in |if |with |usual|follows|long |soon |far )\w",
    "the noun itself, not 'that' or 'those'": r"\bth(?:at|ose) of\b",
    "a subject that there is": r"\b(?:nobody|no one|nothing|none of)\b",
    "'whose', 'where' or a new sentence": r"\b(?:of|in|by|to|from|for) wh(?:ich|om)\b",
    "the subject first": r"^(?-i:Of) (?!course)\w",
    "no share of a time": r"\bof (?:the|its) time\b",
}
"""What sends readers back to the start of a sentence, by what to write there."""

MEASURED = re.compile(r"\bof (?:the|its) time\b|\b(?:EPYC|Xeon|AVX-?\d+)\b|(?<!['\"])\b20\d\d-[01]\d-[0-3]\d\b")
"""Measurements, which a page with their conditions has; in code they grow old unseen."""

MOST = 0.005
"""Share of the sentences of a part that may have a habit, where it is the best way to say it."""

NO_PROSE = re.compile(r"^```.*?^```|``[^`]*``|`[^`]*`|^ *(?:>>>|\.\.\.) .*?$", re.MULTILINE | re.DOTALL)
END_OF_SENTENCE = re.compile(r"(?<=[.!?:])\s|\n\s*\n|\n(?=\s*[-*#] )|\|")
WORDS = 4
"""Fewer are no sentence."""


# --- the counter ---------------------------------------------------------------------------------------------


def of_python(source):
    """Strings of a module, f-strings with an x for each value, and comments."""
    nodes = [*ast.walk(ast.parse(source))]
    formatted = [node for node in nodes if isinstance(node, ast.JoinedStr)]
    inside = {part for node in formatted for part in node.values}
    for node in formatted:
        yield "".join(part.value if isinstance(part, ast.Constant) else "x" for part in node.values)
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in inside:
            yield node.value
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.string.lstrip("# ")


def of_cython(source):
    """Docstrings and comments of a Cython module."""
    yield from re.findall(r'"""(.*?)"""', source, re.DOTALL)
    yield from re.findall(r"# (.*)", source)


READERS = {".py": of_python, ".pyx": of_cython, ".pxd": of_cython, ".md": lambda page: [page]}


def sentences(path):
    """Sentences of a file, with an x for code."""
    for text in READERS[path.suffix](path.read_text()):
        for part in END_OF_SENTENCE.split(NO_PROSE.sub("x", text)):
            words = part.strip("-*# \n").split()
            if len(words) >= WORDS:
                yield " ".join(words)


def habits_in(sentence):
    """What to write in place of the habits of a sentence."""
    return [better for better, habit in HABITS.items() if re.search(habit, sentence, re.IGNORECASE)]


def bad_sentences(paths):
    """Share of habits in the sentences of files, and the sentences that have them."""
    said = [(path, sentence) for path in paths for sentence in sentences(path)]
    bad = [
        f"{path}: {sentence} [{better}]"
        for path, sentence in said
        for better in habits_in(sentence)
    ]  # fmt: skip
    return len(bad) / len(said), bad


def files(*roots):
    """Files with prose below folders of the repository, without what the site is built of."""
    paths = [path for root in roots for path in (ROOT / root).rglob("*") if path.suffix in READERS]
    return [path for path in sorted(paths) if not {"_build", "auto_gallery"} & {*path.parts}]


# --- what is held --------------------------------------------------------------------------------------------


@pytest.mark.slow
@together("part", ["sklearn_rank", "docs"])
def test_a_part_has_few(part):
    share, bad = bad_sentences(files(part))
    assert share <= MOST, "\n".join(bad)


@together("page", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_a_first_page_has_none(page):
    assert not bad_sentences([ROOT / page])[1]


@pytest.mark.slow
def test_code_has_no_measurements():
    assert not [(path, s) for path in files("sklearn_rank") for s in sentences(path) if MEASURED.search(s)]


# --- the counter counts --------------------------------------------------------------------------------------

HAS_HABIT = [
    "The result is lazy, as the data are not kept.",
    "The order is that of the file.",
    "These are those of a search.",
    "A shuffle that nobody sees is a fault.",
    "Nothing is dropped on the way.",
    "None of them is a bug at all.",
    "Refuse a search of which no candidate has a score.",
    "Of two documents the first one counts.",
    "It takes a third of the time.",
]


@together("sentence", HAS_HABIT)
@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("page.md", "# A page\n\nA first sentence is here. {}\n"),
        ("page.md", "A list of two:\n\n- {}\n- The second entry of it.\n"),
        ("module.py", '"""A module of a test.\n\n{}\n"""\n'),
        ("module.py", 'raise ValueError(f"{{name}} is not here. {}")\n'),
        ("module.py", "x = 1  # {}\n"),
        ("kernel.pyx", 'cdef int x():\n    """A kernel of a test. {}"""\n'),
        ("kernel.pxd", "cdef int x  # {}\n"),
    ],
)
def test_a_planted_sentence_is_found(name, form, sentence, tmp_path):
    path = tmp_path / name
    path.write_text(form.format(sentence))
    assert len(bad_sentences([path])[1]) == 1


def test_other_sentences_are_not(tmp_path):
    """Nor is code: names, doctests and blocks of a page."""
    path = tmp_path / "page.md"
    path.write_text(
        "It is sorted, as in TREC. The metric is computed, as well as its mean. Of course it is exact.\n\n"
        "The keyword `that of` is read by `of which`.\n\n```python\nx = 1  # nothing is here, as that of y\n```\n\n"
        ">>> print('nothing is here, as that of y')\n"
    )
    assert bad_sentences([path]) == (0, [])
