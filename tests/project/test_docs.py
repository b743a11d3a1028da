"""The code in the documentation runs, and its numbers are right."""

import re
import shlex
import sys
from contextlib import nullcontext, redirect_stdout
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from itertools import accumulate, repeat
from pathlib import Path
from runpy import run_path

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from known_cases import read
from known_data import KNOWN_DATA
from registry import together
from sklearn import config_context, datasets
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.metrics import make_scorer
from sklearn.model_selection import GroupKFold, cross_val_score

import sklearn_rank
from sklearn_rank import QueryKFold, QueryRanker, display, evaluate, evaluate_run, evaluate_table, get_scorer
from sklearn_rank._cli import main
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.datasets import make_ranking
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.stats import compare

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDERS = (
    ".", "coming_from", "conventions", "data_sets", "decide", "larger",
    "questions", "rag", "recommenders", "reference", "start", "tools", "tune",
)  # fmt: skip
FENCED = re.compile(r"^```(python|text|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
"""Blocks that run, and that show what was printed since the one before."""
CONVENTIONS_PAGE = ROOT / "docs" / "conventions" / "README.md"
LIBRARIES_PAGE = ROOT / "docs" / "conventions" / "libraries.md"
INDEX = ROOT / "docs" / "index.md"
"""Page of the site that includes the code of README, and shows what it prints."""
ON_PAGES = (page for name in FOLDERS for page in sorted((ROOT / "docs" / name).glob("*.md")))
OF_FORMULAS = [ROOT / "docs" / "metrics" / f"{name}.md" for name in ("own_metric", "formula_reference")]
PAGES = [ROOT / "README.md", *OF_FORMULAS, *(page for page in ON_PAGES if page != INDEX)]
LINKED = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "tests/README.md")]
LINKED += sorted((ROOT / "docs").glob("**/*.md"))
MAY_BE_MISSING = (
    "catboost", "implicit", "ir_measures", "lightgbm", "mlflow", "optuna",
    "pytrec_eval", "ranx", "rectools", "shap", "skore", "skorch", "torch", "xgboost",
)  # fmt: skip
"""Packages without which a page's code is not run."""


def as_parameter(page):
    marks = [pytest.mark.xdist_group("spark")] if page.name == "spark.md" else []
    return pytest.param(page, marks=marks, id=str(page.relative_to(ROOT)))


@pytest.mark.filterwarnings("ignore:Deprecated in 3.0.0:FutureWarning")  # called by RankingMetrics of Spark
@pytest.mark.parametrize("page", [as_parameter(page) for page in PAGES])
def test_code_blocks_run(page, capsys, monkeypatch, tmp_path, request):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    for library in MAY_BE_MISSING:
        if re.search(rf"^(import|from) {library}\b", "\n".join(blocks), re.MULTILINE):
            pytest.importorskip(library, reason=f"the page imports {library}")
    if "pyarrow" in page.read_text():
        pytest.importorskip("pyarrow")
    if page.name == "spark.md":
        request.getfixturevalue("spark")  # the session that the page uses
    KNOWN_DATA.get(page.stem, lambda folder: None)(tmp_path)
    monkeypatch.chdir(tmp_path)  # written files go there
    fenced = re.search(r"^```\w", page.read_text(), re.MULTILINE)
    assert blocks or not fenced or page.with_suffix(".py").exists()  # the program of the page, which anyone may run
    names, tolerance = {"__name__": page.stem}, tolerance_of(blocks)
    with config_context():  # a page may turn metadata routing on
        for kind, block in FENCED.findall(page.read_text()):
            if kind == "text":
                printed = capsys.readouterr().out
                assert not blocks or is_shown(block, printed, tolerance), (
                    f"the page shows\n{block}and prints\n{printed}"
                )
            elif kind == "python":
                exec(compile(block, str(page), "exec"), names)
            else:
                run_commands(block if page.parent.name in ("start", "rag") else "")
            for expected in re.findall(r"^# (\[.*\])$", block, re.MULTILINE):
                assert capsys.readouterr().out == expected + "\n"
    calls_have_their_numbers(page, names)
    plt.close("all")
    printed = capsys.readouterr().out
    assert any(is_shown(code, printed, tolerance) for code in ["", *re.findall("`([^`\n]+)`", page.read_text())]), (
        f"the page does not show what it prints\n{printed}"
    )


def test_the_site_shows_the_output_of_the_readme():
    readme = (ROOT / "README.md").read_text()
    assert all(f"`{shown.strip()}`" in readme for kind, shown in FENCED.findall(INDEX.read_text()) if kind == "text")


def tolerance_of(blocks):
    """Tolerance of the page's numbers; boosters differ more because processors do."""
    return 0.02 if re.search("catboost|lightgbm|xgboost|sklearn.ensemble", "".join(blocks)) else 0.001


def run_commands(lines):
    """Run the commands of a shell block; output goes to a file if the block says so."""
    for command, file in re.findall(r"^sklearn-rank (.*?)(?: > (.*))?$", lines, re.MULTILINE):
        with Path(file).open("w") if file else nullcontext(sys.stdout) as stream, redirect_stdout(stream):
            assert main(shlex.split(command)) == 0


def calls_have_their_numbers(page, names):
    """For each numbered row of a table, the peer's call and ours, if the peer is installed."""
    rows = re.findall(r"^\| ([\d.]+) \| `(.+?)` \| `(.+?)` \|$", page.read_text(), re.MULTILINE)
    assert len(rows) >= 5 or page.parent.name != "coming_from" or page.stem == "README"
    for value, theirs, ours in rows:
        found = float(eval(ours, names))
        assert f"{found:.{len(value.partition('.')[2])}f}" == value, ours
        assert page.stem in ("beir_mteb", "lenskit", "ragas_deepeval", "torchmetrics") or eval(
            theirs, names
        ) == pytest.approx(found, abs=1e-9), theirs


def is_shown(shown, printed, tolerance=0.001):
    """Whether a page shows all printed output, or its first lines followed by a line `...`.

    Numbers may differ by a relative tolerance, or by a tenth of it in absolute terms. Line breaks are ignored.
    """
    wanted, found = tokens(shown.removesuffix("\n...\n")), tokens(printed)
    if shown.endswith("\n...\n") and len(wanted) in accumulate(len(tokens(line)) for line in printed.splitlines()):
        found = found[: len(wanted)]
    return len(wanted) == len(found) and all(map(is_near, wanted, found, repeat(tolerance)))


def tokens(text):
    """Words and numbers of a text, without line breaks."""
    return re.findall(r"-?\d+(?:\.\d+)?|[^\s\d]+", text)


def is_near(shown, printed, tolerance):
    try:
        return float(printed) == pytest.approx(float(shown), rel=tolerance, abs=tolerance / 10)
    except ValueError:
        return shown == printed


@together("page", LINKED)
def test_links_lead_somewhere(page):
    """Each link leads to an existing file and heading."""
    text = re.sub(r"^(`{3,})\w+\n.*?^\1$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for path, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles], heading


def test_pictures_exist_and_are_small():
    page = (ROOT / "docs" / "decide" / "pictures.md").read_text()
    others = [ROOT / "docs" / "getting_started.md", *(ROOT / "docs").glob("[rs]*/*.md")]
    shown = page + "".join(path.read_text() for path in others)
    images = [ROOT / "docs" / image for image in re.findall(r"!\[[^]]*\]\((?:\.\./)?(pictures/.*?)\)", shown)]
    assert sorted(images) == sorted((ROOT / "docs" / "pictures").iterdir())
    assert len(images) >= len(display.__all__)
    assert all(name in page for name in display.__all__)
    assert max(image.stat().st_size for image in images) < 60_000


def test_example_of_embeddings_runs(tmp_path, capsys, monkeypatch):
    """On every third image, which is enough to fit the parameter that it tunes."""
    script, figure = ROOT / "docs" / "examples" / "embedding.py", tmp_path / "figure.png"
    monkeypatch.setattr(datasets, "load_digits", lambda **keywords: [part[::3] for part in load_digits(**keywords)])
    monkeypatch.setattr(sys, "argv", [str(script), "--figure", str(figure)])
    run_path(str(script), run_name="__main__")
    assert "64 bits: nDCG@10" in capsys.readouterr().out
    assert figure.stat().st_size > 10_000


def script(name):
    """Module of a file in docs/."""
    spec = spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_stubs_are_written_from_the_code():
    stubs = script("make_stubs").stubs()
    assert {path: path.read_text(encoding="utf-8") for path in stubs} == stubs, "run python docs/make_stubs.py"


def test_pages_are_written_from_the_code():
    make_pages = script("make_pages")
    docs = ROOT / "docs"
    names = [
        *(page for page in (docs / "metrics").glob("*.md") if page not in OF_FORMULAS),
        docs / "reference" / "misuse.md",
        docs / "development" / "design.md",
        ROOT / "CONTRIBUTING.md",
    ]
    written = {path: path.read_text() for path in names}
    assert written == make_pages.pages(), "run python docs/make_pages.py"


def test_report_page_matches_the_readme():
    make_page = script("make_page")
    assert make_page.PAGE.read_text(encoding="utf-8") == make_page.page(), "run python docs/make_page.py"
    assert make_page.PICTURE.stat().st_size <= 150_000
    assert "(docs/decide/report.png)" in (ROOT / "README.md").read_text()


Y = [0, 0, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1]
S = [0.9, 0.5, 0.5, 0.5, 0.5, 0.1, 0.4, 0.3, 0.2, 0.1, 0.2, 0.7, 0.1, 0.9, 0.8, 0.4, 0.7, 0.3, 0.2]
SIZES = [6, 4, 2, 7]
QID = np.repeat([1, 2, 3, 4], SIZES)


def test_eight_libraries_print_seven_numbers():
    document_ids = [f"d{i}" for n in SIZES for i in range(n)]
    text = (CONVENTIONS_PAGE).read_text()
    rows = re.findall(r"^\| (0\.\d{5}) \|.*\| `(.*?)` \|$", text, re.MULTILINE)
    libraries = re.findall(r"(\w[\w-]*) [\d.]+", "".join(re.findall(r"^\| 0\.\d{5} \|(.*?)\|", text, re.MULTILINE)))
    assert (len({*libraries}), len(rows)) == (8, 7)
    pages = [" ".join(page.read_text().replace("[", "").split()) for page in (ROOT / "README.md", INDEX)]
    assert all("eight libraries print seven different values of nDCG@3" in page for page in pages)
    for value, keywords in rows:
        keywords = eval(f"dict({keywords})", {"document_ids": document_ids})
        assert ndcg_score(Y, S, qid=QID, k=3, **keywords) == pytest.approx(float(value), abs=5e-6)


@pytest.mark.parametrize(
    ("page", "words", "count"),
    [
        ("README.md", "MRR, ERR and forty more metrics", len(REGISTRY) - 4),
        ("README.md", "fourteen other libraries have a convention", len(CONVENTIONS) - 1),
        ("CHANGELOG.md", "More than forty [metrics]", len(REGISTRY)),
        ("docs/questions/libraries_disagree.md", "fifteen libraries", len(CONVENTIONS)),
    ],
)
def test_counts_in_words(page, words, count):
    assert words in " ".join((ROOT / page).read_text().split())
    numbers = {"fourteen": range(14, 15), "fifteen": range(15, 16), "forty": range(41, 50)}
    assert any(count in numbers[word] for word in numbers if word in words)


def test_page_of_checks_matches_the_tests():
    page = (ROOT / "docs" / "reference" / "checked.md").read_text()
    for test, count in (("test_oracle", "2,400 cases"), ("test_same", "3,200 cases")):
        tests = import_module(f"properties.{test}")
        (seeds,) = tests.each_seed.args[1:]
        assert f"{len(seeds) * tests.N_CASES:,} cases" == count
        assert count in page
    files = [read(f"cases/{path.name}") for path in (ROOT / "tests" / "data" / "cases").glob("*.json")]
    published = [file["cases"] for file in files if "source" in file] + [read("cases/peer_tests.json")]
    assert sum(map(len, published)) > 1000
    assert "more than 1,000 cases" in page


def test_metrics_of_the_table_of_libraries_exist():
    rows = re.findall(r"^\| `(\w+)` \|[^|\n]*\|$", LIBRARIES_PAGE.read_text(), re.MULTILINE)
    assert len(rows) == 24
    assert set(rows) <= REGISTRY.keys()


def test_every_convention_is_a_row_of_the_choices():
    text = (CONVENTIONS_PAGE).read_text()
    choices = text.partition("## The choices")[2].partition("\n## ")[0]
    assert sorted(re.findall(r'^\| `"(\w+)"` \|', choices, re.MULTILINE)) == sorted(CONVENTIONS)
    assert len({row.count("|") for row in re.findall(r"^\|.*\|$", choices, re.MULTILINE)}) == 1


def test_conditions_of_sentences_hold():
    """Sentences of pages that lost a condition once."""
    judgments, tied = {"q": {"a": 1}}, {"q": {"a": 0.5, "b": 0.5}}
    rows = {"label": [1, 0], "score": [0.5, 0.5], "qid": ["q", "q"]}
    of_run = evaluate_run(judgments, tied, metrics="mrr", convention="trec_eval")
    of_table = evaluate_table(rows, metrics="mrr", convention="trec_eval")
    assert (of_run.mean()["mrr"], of_table.mean()["mrr"]) == (0.5, 1)  # equal_scores.md

    repeated = pd.DataFrame({"qid": ["q", "q"], "docno": ["a", "a"], "label": [1, 2]})
    with pytest.raises(ValueError, match="once"):  # runs.md
        evaluate_run(repeated, tied, metrics="dcg")
    for duplicates in ("first", "nonrelevant"):
        found = evaluate_run(repeated, {"q": ["a"]}, metrics="dcg", duplicates=duplicates)
        assert found.mean()["dcg"] == 3

    y, s, qid = [0, 0, 1, 0, 1, 0, 1, 0], [2, 1] * 4, np.repeat([1, 2, 3, 4], 2)  # compare.md; query 1 is undefined
    of_all, of_three = evaluate(y, s, qid=qid, metrics="mrr"), evaluate(y[:6], s[:6], qid=qid[:6], metrics="mrr")
    pair = compare(of_all, of_three, metric="mrr", missing="worst")
    assert (pair.n_filled, pair.n_left_out) == (1, 0)
    left_out, of_three = (
        evaluate(y[:n], s[:n], qid=qid[:n], metrics="mrr", replace_undefined_by=np.nan) for n in (8, 6)
    )
    pair = compare(left_out, of_three, metric="mrr", missing=np.nan)
    assert (pair.n_filled, pair.n_left_out) == (1, 2)
    of_all, negative = (evaluate([x, 0, *y[2:]], s, qid=qid, metrics="mae") for x in (0, -1))
    with pytest.raises(ValueError, match="same labels"):
        compare(of_all, negative, metric="mae")

    for kind, digits in (("f8", 53), ("f4", 24), ("f2", 11)):  # data.md
        for sign in (1, -1):
            with pytest.raises(ValueError, match="Ids must stay different"):
                evaluate([0, 1], [0, 1], qid=np.full(2, sign * 2.0**digits, kind), metrics="mrr")
            evaluate([0, 1], [0, 1], qid=np.full(2, sign * (2.0**digits - 1), kind), metrics="mrr")

    listed = "".join(page.read_text() for page in (ROOT / "docs" / "api").glob("*.rst"))  # deprecation.md
    assert {*sklearn_rank.__all__, *sklearn_rank.stats.__all__} <= {*re.findall(r"\w+", listed)}

    X, y, qid = make_ranking(n_queries=20, random_state=0)  # tune/README.md
    with config_context(enable_metadata_routing=True):
        ours = {"scoring": get_scorer("ndcg@10"), "cv": QueryKFold(2)}
        assert len(cross_val_score(QueryRanker(Ridge()), X, y, params={"qid": qid}, **ours)) == 2
        with pytest.raises(ValueError, match="groups"):
            cross_val_score(QueryRanker(Ridge()), X, y, params={"qid": qid}, **{**ours, "cv": GroupKFold(2)})
        theirs = make_scorer(lambda y_true, y_pred, qid=None: 0.0)
        with pytest.raises(ValueError, match="set_score_request"):
            cross_val_score(QueryRanker(Ridge()), X, y, params={"qid": qid}, **{**ours, "scoring": theirs})


INCLUDED = ("CODE_OF_CONDUCT.md", "SECURITY.md", "changelog.md", "contributing.md", "index.md")
"""Pages that show another file, and the front page, which ends with cards."""


@together("page", [page for page in sorted((ROOT / "docs").glob("**/*.md")) if page.name not in INCLUDED])
def test_pages_lead_on(page):
    """The last lines have a link, sections begin with a sentence, and no text was cut out between blank lines."""
    text = re.sub(r"^(`{3,})\w*\n.*?^\1$", "<code>", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    assert any("](" in line for line in [line for line in text.splitlines() if line][-6:])
    assert not re.search(r"^##+ .*\n\n<code>", text, re.MULTILINE)
    assert "\n\n\n" not in text


def test_notebooks_have_the_code_of_their_pages():
    make_notebooks = run_path(str(ROOT / "docs" / "make_notebooks.py"))
    for page in make_notebooks["PAGES"]:
        text, made = (ROOT / "docs" / f"{page}.md").read_text(), make_notebooks["notebook"](page)
        code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"]
        assert code == [source.strip() for kind, source in FENCED.findall(text) if kind == "python"]
        links = re.findall(r"\]\((\.\./.+?)[)#]", "".join(line for cell in made["cells"] for line in cell["source"]))
        assert [link for link in links if not (ROOT / "docs" / "notebooks" / link).resolve().exists()] == []
