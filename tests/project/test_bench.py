"""The benchmarks of docs/bench run on tiny data, and both sides of each comparison give the same number."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from registry import about

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "docs" / "bench"
SCRIPTS = [
    "compare_peers",
    "load",
    "measure",
    "peers",
    "shapes",
    "tables",
    "targets",
    "waits",
]


@pytest.fixture(scope="module")
def bench():
    """Import a script in the way the other scripts do."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(BENCH)
        patch.setenv("POLARS_MAX_THREADS", "1")
        for name in SCRIPTS:
            patch.delitem(sys.modules, name, raising=False)
        yield import_module
        for name in SCRIPTS:
            sys.modules.pop(name, None)


PEERS = [
    "lightgbm",
    "xgboost",
    "catboost",
    "scikit-learn",
    "scipy",
    "pytrec_eval",
    "ranx",
    "polars",
    "polars_ds",
    "pandas",
]
METRICS = ["ndcg@10", "ndcg@1", "ndcg@100", "map", "auc", "err@10", "pfound@10", "group", "sort", "suite"]
METRICS += ["coverage_error", "kendall", "spearman"]
SHAPES = ["mslr", "tiny", "huge", "shuffled", "strings", "shuffled_strings", "shuffled_objects", "narrow", "ties"]
SHAPES += ["constant", "recommender", "rare", "no_relevant", "float32_scores", "zipf", "single"]
SHAPES += ["probabilities", "far_out", "mostly_zero", "ranked"]


def test_lists_match_the_scripts(bench):
    assert list(bench("peers").PEERS) == ["ours", *PEERS]
    assert set(bench("shapes").SHAPES) == set(SHAPES)


@pytest.mark.parametrize("name", PEERS)
def test_peers_give_the_same_number(bench, name):
    """Each metric takes one of three shapes in turn."""
    peer = bench("peers").PEERS[name]
    pytest.importorskip(peer.module)
    for i, shape in enumerate(SHAPES):
        data = bench("shapes").make(shape, 400)
        for metric in METRICS[i % 3 :: 3]:
            if peer.asked(metric):
                with about((shape, metric)):
                    peer.contest(data, metric).check()


def test_shapes_match_their_names(bench):
    make = bench("shapes").make
    for name in SHAPES:
        y_true, y_score, qid = make(name, 600)
        assert len(y_true) == len(y_score) == len(qid)
        assert len(qid) == 10 if name == "single" else 300 < len(qid) < 900
        runs = 1 + np.count_nonzero(qid[1:] != qid[:-1])
        assert (runs > len(set(qid.tolist()))) == name.startswith("shuffled")
        assert qid.dtype.kind == ("O" if "objects" in name else "U" if "strings" in name else "i")
    assert len(set(make("huge", 600).qid)) == 20
    assert len(set(make("of_10", 600).qid)) == 60
    assert len(set(make("ties", 600).y_score)) == 100
    assert make("narrow", 600).y_true.dtype == np.int32
    assert make("narrow", 600).y_score.dtype == make("float32_scores", 600).y_score.dtype == np.float32
    assert make("float32_scores", 600).y_true.dtype == np.float64
    scores = make("probabilities", 60_000).y_score
    assert 0 < scores.min() < np.median(scores) < 0.05 < 0.5 < scores.max() <= 1
    far_out = np.abs(make("far_out", 60_000).y_score)
    assert far_out.max() > 1000 * np.median(far_out)
    assert np.mean(make("mostly_zero", 60_000).y_score == 0) == pytest.approx(0.9, abs=0.01)
    best_first = make("ranked", 600)
    assert np.array_equal(np.lexsort([-best_first.y_score, best_first.qid]), np.arange(len(best_first.qid)))


def test_shapes_have_the_stated_number_of_relevant_documents(bench):
    make = bench("shapes").make
    lists = make("recommender", 60_000)
    assert np.array_equal(np.bincount(lists.qid, lists.y_true), np.ones(600))
    assert 0.4 < np.mean(lists.y_score[lists.y_true == 1] > np.median(lists.y_score)) < 0.9  # some judged, some not
    rare = make("rare", 60_000)
    assert np.mean(rare.y_true) == pytest.approx(0.01, rel=0.01)
    assert 0.2 < np.mean(np.bincount(rare.qid, rare.y_true) == 0) < 0.5
    some = make("no_relevant", 60_000)
    assert np.mean(np.bincount(some.qid, some.y_true) == 0) == pytest.approx(0.1, abs=0.02)


def test_zipf_lengths_have_a_long_tail(bench):
    of = np.bincount(bench("shapes").make("zipf", 300_000).qid)
    assert np.median(of) <= 3
    assert 1000 < of.max() <= 10_000
    assert of.min() == 1


def test_bench_reports_unsupported_peers(bench):
    pytest.importorskip("lightgbm")
    peers = bench("peers")
    with pytest.raises(peers.Impossible, match="at most 10,000 rows a query"):
        peers.PEERS["lightgbm"].contest(bench("shapes").make("huge", 20 * 10_001), "ndcg@10")


def test_a_wrong_number_is_refused(bench):
    contest = bench("peers").Contest(lambda: 0.5, lambda: 0.5 + 1e-6)
    with pytest.raises(AssertionError, match="The peer has"):
        contest.check()


def test_compare_peers_prints_one_line_each(bench, capsys, monkeypatch):
    pytest.importorskip("pandas")
    options = ["--shape", "tiny", "single", "--metric", "ndcg@10", "group", "--peer", "scikit-learn", "pandas"]
    monkeypatch.setattr(sys, "argv", ["x", *options, "--rows", "200", "--repeats", "1", "--no-memory", "--markdown"])
    bench("compare_peers").main()
    printed = capsys.readouterr().out
    tables = [part.splitlines() for part in printed.split("\n\n") if part.startswith("|")]
    assert [len(table) for table in tables] == [2 + 4, 2 + 2, 2 + 2]  # all, nDCG, grouping
    assert all(len({line.count("|") for line in table}) == 1 for table in tables)
    assert "group is not in scikit-learn." in printed


@pytest.mark.parametrize(("times", "said"), [(2.0, 0), (1.999, 1)])
def test_compare_peers_lists_missed_targets(bench, capsys, monkeypatch, times, said):
    compare_peers = bench("compare_peers")
    monkeypatch.setattr(compare_peers, "alternate", lambda calls, *_: np.array([[2.0], [2 * times], [0.5]]))
    options = ["--shape", "tiny", "--metric", "map", "ndcg@10", "ndcg@1", "--peer", "scikit-learn", "--rows", "200"]
    monkeypatch.setattr(sys, "argv", ["x", *options, "--repeats", "1", "--no-memory", *["--load"] * said])
    compare_peers.main()
    printed = capsys.readouterr().out.splitlines()
    assert sum(line.startswith("Other processes copied memory meanwhile (1): ") for line in printed) == said
    below = [line for line in printed if line.startswith("BELOW")]
    assert [line.split(" times")[0] for line in below] == ["BELOW tiny ndcg@10: 1.999"] * said
    assert printed[-1] == ("Verdict: 1 of 2 targets missed." if said else "Verdict: no target is missed, of 2.")
    assert sum(" 4 " in line and line.startswith("tiny") for line in printed) == 4  # pandas and polars


def test_verdict(bench):
    judged, verdict = bench("tables").Judged, bench("tables").verdict
    figures = [judged("a", 5.0, "times", 5), judged("b", 25.0, "us", 25, at_most=True)]
    assert verdict(figures) == "Verdict: no target is missed, of 2."
    figures += [judged("c", 4.99, "times", 5), judged("d", 25.01, "us", 25, at_most=True)]
    assert verdict(figures).splitlines() == [
        "BELOW c: 4.99 times; the target is at least 5",
        "ABOVE d: 25.01 us; the target is at most 25",
        "Verdict: 2 of 4 targets missed.",
    ]
    assert verdict([]) == "Verdict: no figure was judged."


def test_targets_come_from_the_fastest_peer(bench):
    judge = bench("targets").judge_ratio
    figure = judge("mslr", "ndcg@10", {"slow": 9.0, "fast": 4.9, "middle": 5.0})
    assert (figure.found, figure.target, figure.met) == (4.9, 5.0, False)
    assert "fast" in figure.unit
    targets = {("mslr", "map"): 3.0, ("huge", "map"): 3.0, ("zipf", "ndcg@10"): 1.0, ("mslr", "group"): 1.0}
    assert {key: judge(*key, {"peer": 2.0}).target for key in targets} == targets
    assert {shape for shape, _ in bench("targets").RATIOS} <= set(SHAPES)


def test_floors_of_the_page_match_the_targets(bench):
    figures = (BENCH / "README.md").read_text().split("<!-- figures -->")[1].split("<!-- end of figures -->")[0]
    lines = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in figures.splitlines() if "|" in line]
    floors = {line[0]: (float(line[-2]), float(line[-1])) for line in lines[2:]}
    least = bench("targets").LEAST
    assert floors == bench("targets").OF_SHAPES | {"all others": (least, least)}


def test_memory_is_judged_on_all_rows(bench, capsys, monkeypatch):
    targets, compare_peers = bench("targets"), bench("compare_peers")
    monkeypatch.setitem(targets.MEMORY, ("tiny", "map"), 0.5)
    assert targets.judge_memory("tiny", "map", 0.5).met
    assert not targets.judge_memory("tiny", "map", 0.51).met
    assert targets.judge_memory("tiny", "err", 9.0) is None
    for rows, judged in ((5_000_000, True), (1_000_000, False)):
        found = compare_peers.Found("tiny", "map", "ranx", "ranx", rows, None, (60, 70), 0.6, "")
        compare_peers.print_verdict([found], prepared=False)
        assert ("ABOVE tiny map, memory: 0.6 times the inputs" in capsys.readouterr().out) == judged


@pytest.mark.parametrize(
    ("shape", "prepared", "judged"),
    [
        ("mslr", False, PEERS),
        ("shuffled_strings", False, ["polars", "polars_ds", "pandas"]),
        ("single", False, ["catboost", "scikit-learn", "scipy", "polars", "polars_ds", "pandas"]),
        ("single", True, ["lightgbm", "xgboost", "catboost", "scikit-learn", "scipy", "pytrec_eval", "ranx"]),
    ],
)
def test_peers_do_the_same_work(bench, shape, prepared, judged):
    peers = bench("peers").PEERS
    assert [name for name in PEERS if peers[name].does_same_work(shape, prepared)] == judged


def test_prepared_calls_agree(bench):
    import sklearn_rank

    if not hasattr(sklearn_rank, "prepare"):
        pytest.skip("sklearn_rank.prepare comes later")
    pytest.importorskip("lightgbm")
    peers, data = bench("peers"), bench("shapes").make("no_relevant", 2000)
    for metric in ("ndcg@10", "map", "suite"):
        contest = peers.PEERS["lightgbm"].contest(data, metric).prepared()
        contest.check()
        assert np.array_equal(contest.ours(), peers.PEERS["lightgbm"].contest(data, metric).ours())
    with pytest.raises(peers.Impossible, match="prepared"):
        peers.PEERS["polars"].contest(data, "group").prepared()


@pytest.mark.parametrize("n_threads", [1, 3])
def test_one_read_reads_every_byte(bench, monkeypatch, n_threads):
    measure, read = bench("measure"), []
    monkeypatch.setattr(measure, "_read", read.append)
    arrays = bench("shapes").make("shuffled_objects", 400)
    measure.one_read(arrays, n_threads)()
    assert len(read) == n_threads
    for array, parts in zip(arrays, zip(*read, strict=True), strict=True):
        assert sum(part.nbytes for part in parts) == array.nbytes
    numbers = np.arange(7, dtype=">i4")
    assert measure._bytes_of(numbers).tobytes() == numbers.tobytes()


def test_load_copies_memory_until_stopped(bench):
    with bench("load").load(1) as stop:
        (speed,) = stop()
    assert speed > 1e6  # bytes per second
    with bench("load").load(0) as stop:
        assert stop() == []


@pytest.mark.skipif(not Path("/proc/self/clear_refs").exists(), reason="the peak can be started anew on Linux alone")
def test_added_memory(bench):
    measure = bench("measure")
    for call in (lambda: np.ones(2_000_000), lambda: np.ones(2_000_000).sum()):  # kept; released
        assert 15e6 <= measure.added_memory(call) <= 30e6
    assert measure.added_memory(lambda: None) <= 1e6
    n = 100_000
    data = bench("shapes").make("shuffled_objects", n)  # ordering the rows takes 8 bytes per row
    assert 8 * n <= measure.memory_of("ours", "ndcg@10", data, 1) <= 400 * n


def test_waits_print_one_line_each(bench, capsys, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["x", "--rounds", "1", "--scale", "0.001"])
    rows, floors = bench("waits").ROWS, bench("targets").WAITS
    assert [*rows] == [*floors]
    bench("waits").main()
    lines = capsys.readouterr().out.splitlines()[1:]
    assert [next(name for name in rows if line.startswith(name)) for line in lines[: len(rows)]] == [*rows]
    assert lines[-1].startswith("Verdict")
