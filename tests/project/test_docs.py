"""The code in the documentation runs, and its numbers are right."""

import re
import shlex
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from runpy import run_path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from known_data import KNOWN_DATA
from registry import together
from sklearn import config_context, datasets
from sklearn.datasets import load_digits

from sklearn_rank import compare_systems, display
from sklearn_rank._cli import main
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.metrics import ndcg_score

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FOLDERS = (".", "coming_from", "data_sets", "questions", "start", "tools")
INDEX = ROOT / "docs" / "index.md"
"""Page of the site that includes the code of README, and shows what it prints."""
ON_PAGES = (page for name in FOLDERS for page in sorted((ROOT / "docs" / name).glob("*.md")))
PAGES = [ROOT / "README.md", *(page for page in ON_PAGES if page != INDEX)]
LINKED = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("**/*.md"))]
MAY_BE_MISSING = (
    "catboost", "implicit", "ir_measures", "lightgbm", "mlflow", "optuna",
    "pytrec_eval", "ranx", "rectools", "shap", "skore", "skorch", "torch", "xgboost",
)  # fmt: skip
"""Packages without which a page's code is not run."""


def as_parameter(page):
    marks = [pytest.mark.xdist_group("spark")] if page.name == "spark.md" else []
    return pytest.param(page, marks=marks, id=str(page.relative_to(ROOT)))


@pytest.mark.filterwarnings("ignore:Deprecated in 3.0.0:FutureWarning")  # of what RankingMetrics of Spark calls
@pytest.mark.parametrize("page", [as_parameter(page) for page in PAGES])
def test_code_blocks_run(page, capsys, monkeypatch, tmp_path, request):
    blocks = re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)
    for library in MAY_BE_MISSING:
        if re.search(rf"^(import|from) {library}\b", "\n".join(blocks), re.MULTILINE):
            pytest.importorskip(library, reason=f"the page imports {library}")
    if "pyarrow" in page.read_text():
        pytest.importorskip("pyarrow")
    if page.name == "spark.md":
        request.getfixturevalue("spark")  # the session that the page asks for
    KNOWN_DATA.get(page.stem, lambda folder: None)(tmp_path)
    monkeypatch.chdir(tmp_path)  # where the files go that are written
    fenced = re.search(r"^```\w", page.read_text(), re.MULTILINE)
    assert blocks or not fenced or page.with_suffix(".py").exists()  # its program, for anyone to run
    names = {"__name__": page.stem}
    with config_context():  # a page may turn metadata routing on
        exec(compile("\n".join(blocks), str(page), "exec"), names)
    for command in re.findall(
        r"^sklearn-rank (.*?)(?: > .*)?$", page.read_text() * (page.parent.name == "start"), re.MULTILINE
    ):
        assert main(shlex.split(command)) == 0
    calls_have_their_numbers(page, names)
    plt.close("all")
    printed = capsys.readouterr().out
    for expected in re.findall(r"^# (\[.*\])$", "\n".join(blocks), re.MULTILINE):
        assert expected in printed
    text = page.read_text() + INDEX.read_text() * (page.name == "README.md" and page.parent == ROOT)
    for shown in re.findall(r"^```text\n(.*?)^```$", text if blocks else "", re.MULTILINE | re.DOTALL):
        assert is_part(tokens(shown), tokens(printed)), f"the page does not print this; it prints\n{printed}"


def calls_have_their_numbers(page, names):
    """Of a table whose rows are a number, their call for it, and ours; some packages are not installed here."""
    rows = re.findall(r"^\| ([\d.]+) \| `(.+?)` \| `(.+?)` \|$", page.read_text(), re.MULTILINE)
    assert len(rows) >= 5 or page.parent.name != "coming_from" or page.stem == "README"
    for value, theirs, ours in rows:
        found = float(eval(ours, names))
        assert f"{found:.{len(value.partition('.')[2])}f}" == value, ours
        assert page.stem in ("beir_mteb", "ragas_deepeval", "torchmetrics") or eval(theirs, names) == pytest.approx(
            found, abs=1e-9
        ), theirs


def tokens(text):
    """Words and numbers of a text, however its lines are broken."""
    return re.findall(r"-?\d+(?:\.\d+)?|[^\s\d]+", text)


def is_part(shown, printed):
    """Whether a table was printed; numbers of boosters may differ as much as processors do."""
    starts = range(len(printed) - len(shown) + 1)
    return any(all(map(is_near, shown, printed[start : start + len(shown)])) for start in starts)


def is_near(shown, printed):
    try:
        return float(printed) == pytest.approx(float(shown), rel=0.02, abs=0.002)
    except ValueError:
        return shown == printed


@together("page", LINKED)
def test_links_lead_somewhere(page):
    """To a file that is there, and to a heading of it."""
    text = re.sub(r"^(`{3,})\w+\n.*?^\1$", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    for path, heading in re.findall(r"\]\((?!https?:)([^)#\s]*)(?:#([^)\s]*))?\)", text):
        target = page.parent / path if path else page
        assert target.exists(), path
        if heading:
            titles = re.findall(r"^#+ (.*)$", target.read_text(), re.MULTILINE)
            assert heading in [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles], heading


def test_pictures_are_there_and_small():
    page = (ROOT / "docs" / "pictures.md").read_text()
    shown = page + "".join(path.read_text() for path in (ROOT / "docs" / "start").glob("*.md"))
    images = [ROOT / "docs" / image for image in re.findall(r"!\[[^]]*\]\((?:\.\./)?(pictures/.*?)\)", shown)]
    assert sorted(images) == sorted((ROOT / "docs" / "pictures").iterdir())
    assert len(images) >= len(display.__all__)
    assert all(name in page for name in display.__all__)
    assert max(image.stat().st_size for image in images) < 60_000


def test_example_of_embeddings_runs(tmp_path, capsys, monkeypatch):
    """On each third image, which is enough to fit what it tunes."""
    script, figure = ROOT / "docs" / "examples" / "embedding.py", tmp_path / "figure.png"
    monkeypatch.setattr(datasets, "load_digits", lambda **keywords: [part[::3] for part in load_digits(**keywords)])
    monkeypatch.setattr(sys, "argv", [str(script), "--figure", str(figure)])
    run_path(str(script), run_name="__main__")
    assert "64 bits: nDCG@10" in capsys.readouterr().out
    assert figure.stat().st_size > 10_000


def test_quickstart_says_what_is_chosen():
    """The best by its mean, and which others are worse, or may be as good."""
    for library in ("catboost", "lightgbm", "xgboost"):
        pytest.importorskip(library)
    choice = run_path(str(ROOT / "docs" / "examples" / "quickstart.py"))["choice"]
    y, noise = np.tile([2, 1, 0, 0], 60), np.random.default_rng(0).normal(size=(3, 240))
    scores = {"reversed": -y + 0.1 * noise[0], "good": y + noise[1], "as good": y + noise[2]}
    results = compare_systems(y, scores, qid=np.arange(240) // 4, metrics="ndcg@10")
    text = choice(results)
    equal, best = sorted(("good", "as good"), key=lambda name: results[name].mean()["ndcg@10"])
    assert text.startswith(f"Chosen by ndcg@10: {best}, the highest mean.\nIt is better than reversed (")
    assert f"do not tell it from {equal}: " in text


def test_pages_are_written_from_the_code():
    spec = spec_from_file_location("make_pages", ROOT / "docs" / "make_pages.py")
    make_pages = module_from_spec(spec)
    spec.loader.exec_module(make_pages)
    docs = ROOT / "docs"
    names = [*(docs / "metrics").glob("*.md"), docs / "misuse.md", docs / "design" / "README.md"]
    written = {path: path.read_text() for path in names}
    assert written == make_pages.pages(), "run python docs/make_pages.py"


def test_page_to_look_at_is_that_of_the_readme():
    spec = spec_from_file_location("make_page", ROOT / "docs" / "make_page.py")
    make_page = module_from_spec(spec)
    spec.loader.exec_module(make_page)
    assert make_page.PAGE.read_text(encoding="utf-8") == make_page.page(), "run python docs/make_page.py"
    assert make_page.PICTURE.stat().st_size <= 150_000
    assert "(docs/tools/report.png)" in (ROOT / "README.md").read_text()


Y = [0, 0, 2, 1, 0, 1, 0, 0, 0, 0, 1, 0, 3, 0, 1, 0, 2, 0, 1]
S = [0.9, 0.5, 0.5, 0.5, 0.5, 0.1, 0.4, 0.3, 0.2, 0.1, 0.2, 0.7, 0.1, 0.9, 0.8, 0.4, 0.7, 0.3, 0.2]
SIZES = [6, 4, 2, 7]
QID = np.repeat([1, 2, 3, 4], SIZES)


def test_eight_libraries_print_seven_numbers():
    document_ids = [f"d{i}" for n in SIZES for i in range(n)]
    text = (ROOT / "docs" / "conventions.md").read_text()
    rows = re.findall(r"^\| (0\.\d{5}) \|.*\| `(.*?)` \|$", text, re.MULTILINE)
    libraries = re.findall(r"(\w[\w-]*) [\d.]+", "".join(re.findall(r"^\| 0\.\d{5} \|(.*?)\|", text, re.MULTILINE)))
    assert (len({*libraries}), len(rows)) == (8, 7)
    assert all("eight of them print" in page.read_text() for page in (ROOT / "README.md", INDEX))
    for value, keywords in rows:
        keywords = eval(f"dict({keywords})", {"document_ids": document_ids})
        assert ndcg_score(Y, S, qid=QID, k=3, **keywords) == pytest.approx(float(value), abs=5e-6)


def test_metrics_of_the_table_of_libraries_exist():
    rows = re.findall(r"^\| `(\w+)` \|(?:[^|\n]*\|){10}$", (ROOT / "docs" / "conventions.md").read_text(), re.MULTILINE)
    assert len(rows) == 23
    assert set(rows) <= REGISTRY.keys()


def test_every_convention_is_a_row_of_the_choices():
    text = (ROOT / "docs" / "conventions.md").read_text()
    choices = text.partition("## The choices")[2].partition("\n## ")[0]
    assert sorted(re.findall(r'^\| `"(\w+)"` \|', choices, re.MULTILINE)) == sorted(CONVENTIONS)
    assert len({row.count("|") for row in re.findall(r"^\|.*\|$", choices, re.MULTILINE)}) == 1
