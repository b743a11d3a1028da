"""Results are written to pipes, open streams and targets of links."""

import os
from concurrent.futures import ThreadPoolExecutor

import pytest

from sklearn_rank import evaluate
from sklearn_rank._utils.storage import replacing
from sklearn_rank.results import Evaluation


def small_evaluation():
    return evaluate([1, 0, 1], [1, 2, 3], qid=["a", "a", "b"], metrics=["ndcg@5", "map"])


def same(a, b):
    return a.to_dict() == b.to_dict() and a.qid.tolist() == b.qid.tolist()


def test_streams_and_devices_are_not_replaced():
    with replacing(os.devnull) as file:
        file.write(b"text")
    assert os.path.exists(os.devnull)
    assert not os.path.isfile(os.devnull)


@pytest.mark.skipif(not os.path.isdir("/dev/fd"), reason="Windows has no such names")
def test_saving_to_an_open_stream(tmp_path):
    """Writing starts at the current position; earlier content stays, for any kind of stream."""
    with open(tmp_path / "out", "w+b", 0) as out:
        (tmp_path / "link").symlink_to(f"/dev/fd/{out.fileno()}")
        for name in (f"/dev/fd/{out.fileno()}", tmp_path / "link"):
            out.write(b"before ")
            with replacing(name) as file:
                file.write(b"text ")
    assert (tmp_path / "out").read_bytes() == b"before text before text "
    with pytest.raises(OSError, match="Bad file descriptor: '/dev/fd/4040'"), replacing("/dev/fd/4040"):
        pass
    reads, writes = os.pipe()
    small_evaluation().save(f"/dev/fd/{writes}")
    os.close(writes)
    with open(reads, "rb") as file:
        (tmp_path / "saved").write_bytes(file.read())
    assert same(Evaluation.load(tmp_path / "saved"), small_evaluation())


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="Windows has none")
def test_saving_to_a_named_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with ThreadPoolExecutor(1) as pool:
        data = pool.submit((tmp_path / "pipe").read_bytes)
        small_evaluation().save(tmp_path / "pipe")
        (tmp_path / "saved").write_bytes(data.result(timeout=30))
    assert same(Evaluation.load(tmp_path / "saved"), small_evaluation())


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links take rights on Windows")
def test_links_that_point_to_each_other(tmp_path):
    """A file replaces one of them."""
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    small_evaluation().save(tmp_path / "a")
    assert same(Evaluation.load(tmp_path / "b"), small_evaluation())
