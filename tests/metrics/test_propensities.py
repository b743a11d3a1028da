"""Metrics with labels over propensities: numbers of pyxclib and obp, and the effective sample size."""

import numpy as np
from known_cases import references
from numpy.testing import assert_allclose

from sklearn_rank import evaluate
from sklearn_rank.metrics import snips_score
from sklearn_rank.results import Evaluation

LABELS = np.array([[*map(int, row)] for row in (
    "0001100110", "0100000101", "0101101001", "0100100010", "0010000111", "1000100100", "0010100001", "0000010001",
)])  # fmt: skip
SCORES = np.array([
    [64, 18, 41, 15, 21, 7, 16, 48, 73, 77], [66, 75, 3, 60, 8, 43, 26, 10, 51, 35],
    [46, 12, 27, 72, 47, 17, 62, 13, 45, 79], [9, 57, 40, 67, 22, 28, 29, 49, 76, 30],
    [24, 11, 71, 23, 70, 69, 44, 39, 4, 36], [52, 38, 54, 59, 56, 37, 1, 32, 33, 60.5],
    [31, 25, 53, 34, 55, 14, 2, 68, 5, 63], [6, 65, 19, 74, 58, 50, 0, 78, 42, 20],
])  # fmt: skip
INVERSE = np.array([4.856662, 3.42005, 2.257992, 2.201604, 2.201604, 1.940898, 1.891704, 1.735693, 1.811829, 1.676762])
PSP = [0.3855528313001921, 0.3713501470887008, 0.46663175447582583, 0.5308152580595807, 0.6589737047471521]
PSNDCG = [0.38555285334587097, 0.3750137686729431, 0.42689579725265503, 0.4607788920402527, 0.5349643230438232]
CUTOFFS = range(1, 6)


def test_ratios_of_means_match_pyxclib():
    """``psprecision`` and ``psndcg`` of pyxclib at 07eefca, which sums in single precision."""
    labels, n_relevant = LABELS * INVERSE, LABELS.sum(axis=1)
    found = [evaluate(labels, SCORES, metrics=f"psp(average=micro)@{k}").mean() for k in CUTOFFS]
    assert_allclose([*map(lambda mean: [*mean.values()][0], found)], PSP, rtol=1e-6)
    for k, theirs in zip(CUTOFFS, PSNDCG, strict=True):
        ranks = [np.arange(2, min(n, k) + 2) for n in n_relevant]
        weight = [1 / (1 / np.log2(rank)).sum() for rank in ranks]
        ours = evaluate(labels, SCORES, metrics={"x": f"psndcg(average=micro)@{k}"}, sample_weight=weight).mean()["x"]
        assert_allclose(ours, theirs, rtol=1e-6)


def test_names_of_propensities_are_gains_of_labels():
    labels, discount = LABELS * INVERSE, 1 / np.log2(np.arange(2, 7))
    result = evaluate(labels, SCORES, metrics=["psp@5", "psndcg@5", "ips_dcg@5", "snips@3", "snips(discount=log2)@3"])
    order = np.argsort(-SCORES, axis=1)[:, :5]
    top, best = np.take_along_axis(labels, order, axis=1), -np.sort(-labels, axis=1)[:, :5]
    expected = [
        top.sum(axis=1) / best.sum(axis=1), top @ discount / (best @ discount), top @ discount,
        top[:, :3].sum(axis=1) / labels.sum(axis=1), top[:, :3] @ discount[:3] / labels.sum(axis=1),
    ]  # fmt: skip
    assert_allclose([*result.per_query.values()], expected, rtol=1e-12)
    assert str(result).splitlines()[2].startswith("PSP@5")


def test_weighted_rounds_match_obp():
    for case in references("ope-0", "ope-2"):
        given, expected = case["inputs"], case["expected"]
        rows = np.arange(len(given["reward"]))
        weight = np.array(given["action_dist"])[rows, given["action"]] / given["pscore"]
        rounds = Evaluation.from_values(rows, {"reward": given["reward"]}, weight=weight)
        assert_allclose(rounds.mean()["reward"], expected["snips"], rtol=1e-12)
        weighted = Evaluation.from_values(rows, {"reward": weight * given["reward"]})
        assert_allclose(weighted.mean()["reward"], expected["ips"], rtol=1e-12)


def test_the_order_of_rows_changes_no_bit_of_the_sum_of_gains():
    rng = np.random.default_rng(0)
    label, score, shuffled = 2 * rng.random((20, 200)), rng.permutation(4000).reshape(20, 200), rng.permutation(200)
    values = [snips_score(label[:, i], score[:, i], k=20, average=None) for i in (slice(None), shuffled)]
    assert values[0].tobytes() == values[1].tobytes()
