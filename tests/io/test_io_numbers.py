"""Numbers in files are read as Python reads them, whatever the locale has for a decimal point."""

import io
import os
import shutil
import subprocess
import sys

import numpy as np
import pytest

from sklearn_rank.io import _source, read_qrels, read_run, read_svmlight, read_table


def run_of(texts):
    return "".join(f"q1 Q0 d{i} 1 {text} me\n" for i, text in enumerate(texts)).encode()


def printed(rng):
    """Numbers of all lengths and magnitudes, as printed."""
    numbers = rng.random(1000) * 10.0 ** rng.integers(-320, 300, 1000)
    yield from map(repr, numbers.tolist())
    yield from map(repr, rng.random(1000).tolist())
    yield from (f"{x:.20f}" for x in rng.random(1000).tolist())
    yield from (f"{x:+.30e}" for x in numbers[:1000].tolist())
    yield from ("0.1234567890123456", "9007199254740993", "9007199254740992.5", "2.2250738585072011e-308", "5e-324")
    yield from ("+1", "1.", ".5", "-.5e-3", "1E5", "-0", "00012", "1e-400", "0e999999", "1e00000000000000000001")
    yield from ("0." + "1" * 400, "1" * 300, "9007199254740992e22", "1e22", "1e23")


CHECK = """
import io, locale, sys
import numpy as np
from sklearn_rank.io import _source, read_qrels, read_run, read_svmlight, read_table
locale.setlocale(locale.LC_ALL, sys.argv[1])
assert locale.localeconv()["decimal_point"] == ","
texts = sys.stdin.read().split()
expected = [float(text) for text in texts]
for n_jobs in (1, 2):
    run = "".join(f"q1 Q0 d{i} 1 {text} me\\n" for i, text in enumerate(texts)).encode()
    assert read_run(io.BytesIO(run), n_jobs=n_jobs).value.tolist() == expected
qrels = "".join(f"q1 0 d{i} {text}\\n" for i, text in enumerate(texts)).encode()
assert read_qrels(io.BytesIO(qrels)).value.tolist() == expected
svm = "".join(f"{text} qid:1 1:{text}\\n" for text in texts).encode()
X, y, _ = read_svmlight(io.BytesIO(svm))
assert y.tolist() == X.toarray()[:, 0].tolist() == expected
table = "label,score,qid\\n" + "".join(f"{text},{text},q\\n" for text in texts if text[0] != "+")
assert read_table(io.BytesIO(table.encode())).y_score.tolist() == [float(t) for t in texts if t[0] != "+"]
try:
    read_run(io.BytesIO(b"q1 Q0 d 1 0,5 me\\n"))
except ValueError as error:
    assert "Got '0,5' in line 1" in str(error)
else:
    raise AssertionError("0,5 was read")
"""


@pytest.mark.slow
def test_a_comma_for_the_point_changes_nothing(tmp_path, rng):
    if shutil.which("localedef") is None or not os.path.exists("/usr/share/i18n/locales/de_DE"):
        pytest.skip("no locale can be made here")
    subprocess.run(["localedef", "-i", "de_DE", "-f", "UTF-8", tmp_path / "de_DE.UTF-8"], check=True)
    pytest.importorskip("pyarrow")
    environment = {**os.environ, "LOCPATH": str(tmp_path), "PYTHONIOENCODING": "utf-8"}
    command = [sys.executable, "-c", CHECK, "de_DE.UTF-8"]
    subprocess.run(command, input=" ".join(printed(rng)).encode(), check=True, env=environment, timeout=300)


@pytest.mark.parametrize("block", [2**20, 64])
def test_numbers_match_python(block, rng, monkeypatch):
    monkeypatch.setattr(_source, "PIECE_OF_FILE", block)
    texts = [*printed(rng)]
    expected = np.array([float(text) for text in texts])
    found = read_run(io.BytesIO(run_of(texts))).value
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    "text",
    ["nan", "inf", "-Infinity", "1e400", "-1e999", "0x1p3", "0x10", "1_000", "1,5", "1.5.2", "1e", "1e+", "1e5.0"]
    + ["--1", "+-1", "+"]
    + ["-", ".", "e5", "1f", "1.0L", "1d5", "\N{ARABIC-INDIC DIGIT ONE}", "\N{FULLWIDTH DIGIT ONE}", "½"],
)
def test_readers_refuse_non_finite_numbers(text):
    for read, line in ((read_run, f"q1 Q0 d 1 {text} me"), (read_qrels, f"q1 0 d {text}")):
        with pytest.raises(ValueError, match=r"must have a finite decimal number as (score|relevance)\. Got '.*line 2"):
            read(io.BytesIO(f"\n{line}\n".encode()))


def test_other_readers_also_reject_these_numbers():
    pytest.importorskip("pyarrow")
    for text in ("1_0", "1;5"):
        with pytest.raises(TypeError, match="Column 'score' must hold real numbers"):
            read_table(io.BytesIO(f"label,score,qid\n1,{text},a\n".encode()))
    for line in (b"0x1 qid:1 1:1\n", b"1 qid:1 1:0,5\n", b"1,5 qid:1 1:1\n"):
        with pytest.raises(ValueError, match="Lines of SVMlight must be like"):
            read_svmlight(io.BytesIO(b"1 qid:1 1:0.5\n" + line))
