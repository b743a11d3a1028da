"""Files of the wrong kind, and arguments that are not files: the error names the kind."""

import bz2
import errno
import gzip
import io
import lzma
import re
import zipfile
from contextlib import redirect_stdout

import numpy as np
import pandas as pd
import pytest

from sklearn_rank._cli import main
from sklearn_rank._cli.output import FORMATS
from sklearn_rank._utils import storage
from sklearn_rank.io import (
    join,
    read_qrels,
    read_run,
    read_svmlight,
    read_table,
    write_run,
)

RUN = b"q1 Q0 a 1 2.5 me\nq1 Q0 b 2 1.5 me\n"
QRELS = b"q1 0 a 1\nq1 0 b 0\n"
SVM = b"1 qid:1 1:0.5\n0 qid:1 1:0.1\n"
CSV = b"label,score,qid\n1,2.5,q1\n0,1.5,q1\n"
READERS = {
    "run": (read_run, RUN),
    "qrels": (read_qrels, QRELS),
    "svm": (read_svmlight, SVM),
    "csv": (read_table, CSV),
}


def zipped(data):
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr("run", data)
    return file.getvalue()


OTHERS = {
    "packed by bzip2": bz2.compress,
    "packed by xz": lzma.compress,
    "packed by zstd": lambda data: b"\x28\xb5\x2f\xfd" + data,
    "packed by lz4": lambda data: b"\x04\x22\x4d\x18" + data,
    "packed by compress": lambda data: b"\x1f\x9d\x90" + data,
    "packed by 7-Zip": lambda data: b"7z\xbc\xaf\x27\x1c" + data,
    "a zip archive": zipped,
    "text in UTF-16": lambda data: data.decode().encode("utf-16"),
}


@pytest.fixture(params=READERS)
def reader(request):
    if request.param == "csv":
        pytest.importorskip("pyarrow")
    return READERS[request.param]


@pytest.mark.parametrize("kind", OTHERS)
def test_other_kinds_of_files_are_named(kind, reader, tmp_path):
    read, whole = reader
    for data in (whole, b""):
        packed = OTHERS[kind](data)
        (tmp_path / "file").write_bytes(packed)
        for source in (tmp_path / "file", io.BytesIO(packed)):
            with pytest.raises(ValueError, match=f"must be plain or packed by gzip.*Got .*, which is {kind}"):
                read(source)


def test_marks_line_ends_and_parts_of_gzip(reader):
    read, data = reader
    expected = repr(read(io.BytesIO(data)))
    half = data.index(b"\n") + 1
    for same in (
        b"\xef\xbb\xbf" + data, data.replace(b"\n", b"\r\n"), data[:-1], gzip.compress(data),
        gzip.compress(data[:half]) + gzip.compress(data[half:]), gzip.compress(data) + bytes(100),
    ):  # fmt: skip
        assert repr(read(io.BytesIO(same))) == expected


def test_gzip_that_is_not_whole(reader):
    read, data = reader
    packed = gzip.compress(data)
    damaged = bytearray(packed)
    damaged[-6] ^= 1
    no_block = packed[:10] + b"\xff" + packed[11:]
    for bad in (
        packed[:-1],
        packed[:20],
        packed + b"junk",
        packed + packed[:12],
        bytes(damaged),
        no_block,
        packed[:-4] + b"\xff" * 4,
    ):
        with pytest.raises(ValueError, match="The gzip file is truncated or damaged"):
            read(io.BytesIO(bad))


@pytest.mark.parametrize(
    "data", [b"", b"\n\n", b"\0" * 100, bytes(range(256)) * 9, b"PAR1junk", b"ARROW1junk", RUN[:-9]]
)
def test_readers_refuse_damaged_files(data, reader):
    read, good = reader
    if (read, data) in ((read_run, RUN[:-9]),):
        data = data[:-3]
    with pytest.raises(ValueError, match="Got|needed"):
        read(io.BytesIO(data))
    with pytest.raises(ValueError, match="Got|needed"):
        read(io.BytesIO(gzip.compress(data)))


def test_gzip_that_becomes_too_large_is_stopped(reader, monkeypatch):
    """Unpacking stops at the first piece beyond both limits."""
    read, data = reader
    monkeypatch.setattr(storage, "MOST_UNPACKED", 2**21)
    line = data[data.index(b"\n") + 1 :]
    packed, pieces, unpack = gzip.compress(data + line * (2**22 // len(line))), [], gzip.GzipFile.read

    def unpacked(*given):
        pieces.append(len(piece := unpack(*given)))
        return piece

    monkeypatch.setattr(gzip.GzipFile, "read", unpacked)
    with pytest.raises(
        ValueError, match=r"not unpack to more than 1 GiB and 100 times its size.* gunzip it first"
    ) as caught:
        read(io.BytesIO(packed))
    ((size, became),) = re.findall(r"BytesIO, (\d+) bytes that become more than (\d+)", str(caught.value))
    assert int(size) == len(packed)
    assert 2**21 < int(became) <= sum(pieces) < 2**21 + 2**20 + 10


def test_gzip_may_become_a_gibibyte_or_a_hundred_times_as_much():
    assert not storage.unpacks_too_far(2**30, 1)
    assert storage.unpacks_too_far(2**30 + 1, 1)
    assert not storage.unpacks_too_far(100 * 2**24, 2**24)
    assert storage.unpacks_too_far(100 * 2**24 + 1, 2**24)


def test_a_run_cut_short_is_noticed():
    """The tag is the last field, so a truncated number is a line with too few fields; judgments end with a number."""
    line = RUN[: RUN.index(b"\n")]
    for stop in range(1, line.rindex(b" ") + 1):
        with pytest.raises(ValueError, match="lines of 6 fields"):
            read_run(io.BytesIO(RUN + line[:stop].replace(b"q1", b"q2")))


def test_folders_and_other_arguments_that_are_not_files(reader, tmp_path):
    read, _ = reader
    with pytest.raises(OSError, match="directory|denied|must have a file"):
        read(tmp_path)
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "none")
    with pytest.raises(TypeError, match="Got int"):
        read(3)


def test_files_to_write(tmp_path):
    arguments = {"qid": [1, 1], "doc_id": ["a", "b"]}

    class Slow(io.RawIOBase):
        """A raw file that takes seven bytes at a time."""

        data = b""

        def writable(self):
            return True

        def write(self, data):
            self.data += bytes(data[:7])
            return len(data[:7])

    raw, whole = Slow(), io.BytesIO()
    write_run(raw, [2, 1], **arguments)
    write_run(whole, [2, 1], **arguments)
    assert raw.data == whole.getvalue()
    assert not raw.closed
    write_run(tmp_path / "run.gz", [2, 1], **arguments)
    assert gzip.decompress((tmp_path / "run.gz").read_bytes()) == raw.data
    with open(tmp_path / "text", "w") as text:
        for target, kind in ((text, "TextIOWrapper"), (io.StringIO(), "StringIO"), (3, "int")):
            with pytest.raises(TypeError, match=rf"opened as binary \('wb'\)\. Got {kind} instead"):
                write_run(target, [2, 1], **arguments)


# --- joining -------------------------------------------------------------------------------------------------

FRAME = pd.DataFrame({"qid": ["q1"], "doc_id": ["a"], "score": [1.0]})


@pytest.mark.parametrize("given", [[("q1", "a", 1.0)], None, pd.Series([1.0])])
def test_join_takes_entries(given):
    for name, arguments in (("run", (read_qrels(FRAME), given)), ("qrels", (given, read_run(FRAME)))):
        message = rf"{'Run' if name == 'run' else 'Judgments'} must be one of .*io\.read_{name}\(source, "
        with pytest.raises(TypeError, match=message + rf".*Got {type(given).__name__} instead"):
            join(*arguments)


def test_join_knows_runs_from_judgments():
    run, qrels, other = read_run(io.BytesIO(RUN)), read_qrels(io.BytesIO(QRELS)), read_run(FRAME, value="score")
    for arguments, kind, name in (
        ((run, qrels), "run", "judgments"),
        ((qrels, qrels), "judgments", "run"),
        ((run, run), "run", "judgments"),
        ((other, run), "run", "judgments"),
    ):
        with pytest.raises(ValueError, match=rf"judgments first, then the run\. Got {kind} as '{name}'"):
            join(*arguments)
    join(qrels, run), join(qrels, other)


def test_whole_numbers_keep_their_order_or_are_refused():
    times = np.array([2**60 + 1, 2**60 + 2])
    with pytest.raises(ValueError, match=rf"'score' must hold numbers that are still different.* Got {2**60 + 1} and"):
        read_run({"qid": [1, 1], "doc_id": [1, 2], "score": times}, value="score")
    assert read_run({"qid": [1], "doc_id": [1], "score": [2**60]}, value="score").value.tolist() == [2.0**60]
    with pytest.raises(
        ValueError, match=f"Scores must hold numbers that are still different.* Got {2**53} and {2**53 + 1}"
    ):
        join({"q": {"a"}}, {"q": {"a": 2**53 + 1, "b": 2**53}})
    assert join({"q": {"a"}}, {"q": {"a": 2**53 + 2, "b": 2**53}}).y_score.tolist() == [2.0**53 + 2, 2.0**53]
    assert join({"q": {"a"}}, {"q": {"a": 2.0**60, "b": -np.inf}}).y_score.tolist() == [2.0**60, -np.inf]


# --- on the command line -------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path, monkeypatch):
    """Files with ids that a terminal, a spreadsheet or a document would obey."""
    monkeypatch.chdir(tmp_path)
    ids = ["=1+1", "+cmd|'/c'!A1", "-2", "-x", "@SUM", "a\x1b[31mb", "1|2", "c\u202ed", "plain"]
    (tmp_path / "qrels").write_text("".join(f"{i} 0 d 1\n" for i in ids))
    (tmp_path / "run").write_text("".join(f"{i} Q0 d 1 1 me\n" for i in ids))
    return ids


def printed_by(capsys, *arguments, rc=0):
    assert main([*arguments]) == rc
    found = capsys.readouterr()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", found.out + found.err)
    return found


def test_csv_has_no_formulas(hostile, capsys):
    lines = printed_by(
        capsys, "evaluate", "qrels", "run", "-m", "map", "--per-query", "--format", "csv"
    ).out.splitlines()
    assert [line.split(",")[1] for line in lines] == [
        "qid", "'=1+1", "'+cmd|'/c'!A1", "-2", "'-x", "'@SUM", r"a\x1b[31mb", "1|2", r"c\u202ed", "plain",
    ]  # fmt: skip
    assert {line.split(",")[2] for line in lines[1:]} == {"1.0"}


@pytest.mark.parametrize("form", ["table", "json", "markdown", "latex"])
def test_control_characters_are_escaped(form, hostile, capsys):
    found = printed_by(capsys, "evaluate", "qrels", "run", "-m", "map", "--per-query", "--format", form).out
    assert {"latex": r"a\textbackslash{}x1b[31mb", "json": r"a\u001b[31mb", "markdown": r"a\\x1b\[31mb"}.get(
        form, r"a\x1b[31mb"
    ) in found
    assert {"latex": r"1\textbar{}2", "markdown": r"1\|2"}.get(form, "1|2") in found


def test_control_characters_in_messages_are_escaped(hostile, capsys, tmp_path):
    (tmp_path / "other").write_text("zz\x1b[2J Q0 d 1 1 me\n" + (tmp_path / "run").read_text())
    assert r"zz\x1b[2J" in printed_by(capsys, "evaluate", "qrels", "other").err
    (tmp_path / "twice").write_text("zz\x1b[2J Q0 d 1 1 me\n" * 2)
    assert r"zz\x1b[2J" in printed_by(capsys, "evaluate", "qrels", "twice", rc=2).err
    printed_by(capsys, "evaluate", "qrels", "no\x1b[2J file", rc=2)
    with pytest.raises(SystemExit):
        printed_by(capsys, "evaluate", "--\x1b[2J")
    assert "\x1b" not in capsys.readouterr().err


@pytest.mark.slow
def test_a_picture_is_written_whole(tmp_path, monkeypatch, capsys):
    pytest.importorskip("matplotlib")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    for name, written in (("a.png", "a.png"), ("b.svg", "b.svg"), ("c", "c.png")):
        printed_by(capsys, "plot", "qrels", "run", "-m", "map", "-o", name)
        assert (tmp_path / written).stat().st_size > 1000
    before = {*tmp_path.iterdir()}
    printed_by(capsys, "plot", "qrels", "run", "-m", "map", "-o", "d.nothing", rc=2)
    assert {*tmp_path.iterdir()} == before


def test_pictures_have_a_name_that_nothing_else_has(tmp_path, monkeypatch, capsys):
    """The message suggests a format for a name without one, and the suggestion must keep the name."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_bytes(QRELS)
    (tmp_path / "run").write_bytes(RUN)
    (tmp_path / "picture").write_bytes(b"")
    before = {*tmp_path.iterdir()}
    for name, end in {
        "": "''",
        "new/": "'new/'",
        ".": "'.', which already exists",
        "picture": "'picture', which already exists",
    }.items():
        said = printed_by(capsys, "plot", "qrels", "run", "-o", name, rc=2).err
        assert "--output must be a file to write, and end in the format of the picture: .png, .svg, .pdf." in said
        assert f"Got {end}" in said
    assert {*tmp_path.iterdir()} == before


@pytest.mark.parametrize("form", FORMATS)
def test_an_output_that_takes_nothing_more(form, capsys):
    class Full(io.StringIO):
        def flush(self):
            raise OSError(errno.ENOSPC, "No space left on device")

    with redirect_stdout(Full()):
        assert main(["metrics", "--format", form]) == 2
    assert "the standard output, which must take all of them. Got [Errno 28] No space" in capsys.readouterr().err


def test_a_file_that_takes_nothing_more():
    class Full(io.RawIOBase):
        def writable(self):
            return True

        def write(self, data):
            return 0

    with pytest.raises(OSError, match="The file must accept all bytes. Got 16 bytes that Full refused"):
        write_run(Full(), [1], qid=["q"], doc_id=["d"], tag="me")
