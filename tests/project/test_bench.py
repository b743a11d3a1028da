"""The benchmarks of docs/bench run on tiny data, and both sides of each comparison give the same number."""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest
from registry import about

pytestmark = pytest.mark.slow

BENCH = Path(__file__).parents[2] / "docs" / "bench"
SCRIPTS = ["compare_peers", "measure", "peers", "shapes", "tables", "targets"]


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


PEERS = "lightgbm xgboost catboost scikit-learn scipy pytrec_eval ranx polars polars_ds pandas".split()
METRICS = ["ndcg@10", "ndcg@1", "ndcg@100", "map", "auc", "err@10", "pfound@10", "group", "sort", "suite"]
METRICS += ["coverage_error", "kendall", "spearman"]


def test_all_peers_are_tested(bench):
    assert [*bench("peers").PEERS] == ["ours", *PEERS]


@pytest.mark.filterwarnings("ignore:.*cannot tell good rankings from bad ones")  # few rows may have no relevant one
@pytest.mark.parametrize("name", PEERS)
def test_peers_give_the_same_number(bench, name):
    """Each metric takes one of three shapes in turn."""
    peer = bench("peers").PEERS[name]
    pytest.importorskip(peer.module)
    for i, shape in enumerate(bench("shapes").SHAPES):
        data = bench("shapes").make(shape, 400)
        for metric in METRICS[i % 3 :: 3]:
            if peer.asked(metric):
                with about((shape, metric)):
                    peer.contest(data, metric).check()


def test_bench_reports_unsupported_peers(bench):
    pytest.importorskip("lightgbm")
    peers = bench("peers")
    with pytest.raises(peers.Impossible, match="at most 10,000 rows a query"):
        peers.PEERS["lightgbm"].contest(bench("shapes").make("huge", 20 * 10_001), "ndcg@10")


def test_a_wrong_number_is_refused(bench):
    contest = bench("peers").Contest(lambda: 0.5, lambda: 0.5 + 1e-6)
    with pytest.raises(AssertionError, match="The peer has"):
        contest.check()


def test_floors_of_the_page_match_the_targets(bench):
    figures = (BENCH / "README.md").read_text().split("<!-- figures -->")[1].split("<!-- end of figures -->")[0]
    lines = [[cell.strip(" `") for cell in line.split("|")[1:-1]] for line in figures.splitlines() if "|" in line]
    floors = {line[0]: (float(line[-2]), float(line[-1])) for line in lines[2:]}
    least = bench("targets").LEAST
    assert floors == bench("targets").OF_SHAPES | {"all others": (least, least)}


def test_prepared_calls_agree(bench):
    pytest.importorskip("lightgbm")
    peers, data = bench("peers"), bench("shapes").make("no_relevant", 2000)
    for metric in ("ndcg@10", "map", "suite"):
        contest = peers.PEERS["lightgbm"].contest(data, metric).prepared()
        contest.check()
        assert np.array_equal(contest.ours(), peers.PEERS["lightgbm"].contest(data, metric).ours())
    with pytest.raises(peers.Impossible, match="prepared"):
        peers.PEERS["polars"].contest(data, "group").prepared()
