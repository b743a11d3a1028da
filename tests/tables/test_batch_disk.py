"""Rows that go to disk: all of them come back or there is an error, and nothing is left whatever ends the process."""

import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest
from batch_cases import check, cut, make

from sklearn_rank import evaluate_table
from sklearn_rank._tables import scattered_queries

pytestmark = pytest.mark.slow

ON_LINUX = pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="/proc is of Linux")


def open_files(folder):
    """Descriptors of open files in a folder, including deleted files."""
    links = {fd: f"/proc/self/fd/{fd}" for fd in os.listdir("/proc/self/fd")}
    return [int(fd) for fd, link in links.items() if os.path.lexists(link) and str(folder) in os.readlink(link)]


@pytest.mark.parametrize("grouped", [False, True])
@ON_LINUX
def test_no_file_has_a_name(grouped, tmp_path):
    seen, sizes = [], []

    def batches():
        for batch in cut(make(), 10):
            seen.extend(tmp_path.iterdir())
            sizes.extend(os.fstat(fd).st_size for fd in open_files(tmp_path))
            yield batch

    evaluate_table(batches(), metrics="map", assume_grouped=grouped, memory_limit=100, folder=tmp_path)
    assert not seen
    assert any(sizes) == (not grouped)
    assert not open_files(tmp_path)
    with pytest.raises(ValueError, match="qid must not"):
        evaluate_table([*cut(make(), 10), ([1], [1], [None])], metrics="map", memory_limit=100, folder=tmp_path)
    assert not open_files(tmp_path)


@pytest.mark.parametrize("n_jobs", [1, 2])
@ON_LINUX
def test_an_error_that_is_kept_holds_no_file(n_jobs, tmp_path):
    """Keep a traceback, as IPython does; it holds the local variables of the failed call."""

    def fails(y_true, y_score):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as kept:
        evaluate_table(cut(make(), 10), metrics=fails, memory_limit=100, folder=tmp_path, n_jobs=n_jobs)
    assert kept.tb is not None
    assert not open_files(tmp_path)


def test_invalid_folder_is_reported_first(tmp_path):
    def batches():
        raise AssertionError("read")
        yield

    (tmp_path / "file").touch()
    for name, error in (("missing", FileNotFoundError), ("file", NotADirectoryError)):
        with pytest.raises(error, match=rf"the folder '{tmp_path / name}' must take .*Got .* after 0 bytes"):
            evaluate_table(batches(), metrics="map", folder=tmp_path / name)


SPILL = """
import sys, time
import numpy as np
from sklearn_rank import evaluate_table

def batches(n, end=lambda: None):
    rng = np.random.default_rng(0)
    for i in range(n):
        yield rng.integers(0, 3, 1000), rng.random(1000), rng.permutation(1000)
    end()

def spilled():
    print("spilled", flush=True)
    time.sleep(60)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such limit")
def test_a_full_disk_is_an_error(forks, tmp_path):
    """A write beyond the limit is truncated, as on a full disk, and the next write fails."""
    sizes = [0, 5000, 70_000]
    code = f"""
import resource
for size in {sizes}:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))
    try:
        evaluate_table(batches(20), metrics="map", memory_limit=2**17, folder=sys.argv[1])
    except OSError as error:
        print(error)
"""
    with forks.run(SPILL + code, tmp_path) as process:
        printed = process.communicate(timeout=60)[0].decode().splitlines()
    for size, line in zip(sizes, printed, strict=True):
        assert f"the folder '{tmp_path}' must take about 20 bytes a row; name another with folder=" in line
        assert f"Got File too large after {size} bytes." in line


def test_short_writes_and_reads_are_gone_on_with(tmp_path, monkeypatch):
    class Slow:
        """A file that takes and gives 1000 bytes at a time."""

        def __init__(self, file):
            self.seek, self.close, self.file = file.seek, file.close, file

        def write(self, data):
            return self.file.write(data[:1000])

        def readinto(self, room):
            return self.file.readinto(room[:1000])

    real = scattered_queries.tempfile.TemporaryFile
    monkeypatch.setattr(scattered_queries.tempfile, "TemporaryFile", lambda **options: Slow(real(**options)))
    check(make(n_queries=400, shuffle=True), 999, memory_limit=10_000)


@ON_LINUX
@pytest.mark.parametrize("left", [0, 10, 4000])
def test_a_file_that_was_cut_short_is_an_error(left, tmp_path):
    def batches():
        yield from cut(make(shuffle=True), 10)
        for fd in open_files(tmp_path):
            os.truncate(f"/proc/self/fd/{fd}", left)

    with pytest.raises(OSError, match=rf"in '{tmp_path}' must be there when they are read.*the file was cut short"):
        evaluate_table(batches(), metrics="map", memory_limit=100, folder=tmp_path)


@pytest.mark.parametrize("name", ["SIGKILL", "SIGINT", "SIGTERM"])
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
def test_killed_process_leaves_no_files(forks, name, tmp_path):
    code = "evaluate_table(batches(9, spilled), metrics='map', memory_limit=2**16, folder=sys.argv[1])"
    with forks.run(SPILL + code, tmp_path) as process:
        assert process.stdout.readline() == b"spilled\n"
        process.send_signal(getattr(signal, name))
        assert process.wait(timeout=30) == -getattr(signal, name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("memory_limit", [2_000, 20_000, 200_000])
def test_parts_fit_the_memory(memory_limit, n_jobs, monkeypatch):
    """At most as many rows are read at a time as the limit allows, except for a single larger query."""
    sizes = []
    real = scattered_queries._read

    def read(spool, extents):
        rows = real(spool, extents)
        if len(set(rows.number.tolist())) > 1:
            sizes.append(20 * len(rows.number))
        return rows

    monkeypatch.setattr(scattered_queries, "_read", read)
    check(make(n_queries=2500, longest=9, shuffle=True), 1000, memory_limit=memory_limit, n_jobs=n_jobs)
    assert max(sizes) <= memory_limit // (scattered_queries.MEMORY_SHARE * n_jobs)


def test_many_subtopics_go_to_disk_and_back():
    data = make(n_queries=300, shuffle=True)
    labels = np.column_stack([data.y_true > 1, data.y_true > 2, data.y_true == 1]) * 1.0
    check((labels, data.y_score, data.qid), 100, metrics=["alpha_ndcg@5"], memory_limit=1000)


def test_a_file_that_cannot_be_read_is_an_error(tmp_path):
    class Unreadable:
        def seek(self, start): ...

        def readinto(self, room):
            raise OSError(5, "Input/output error")

        def close(self): ...

    with scattered_queries.Spool(tmp_path) as spool:
        spool._file = Unreadable()
        with pytest.raises(OSError, match="Rows beyond memory_limit= go to a temporary file") as error:
            spool.read(0, np.empty(3))
    assert error.value.errno == 5
