"""Naive twins of the kernels in NumPy and Python: slow and easy to check."""

from fractions import Fraction
from itertools import chain, pairwise, permutations, product
from math import comb

import numpy as np


def expected_ranking(score, label, indptr, depth, ties, keep_unretrieved):
    """Order, ends of tie blocks and starts of queries, by one sort with NumPy.

    Under other policies than the average, each row is a block, but for the rows that were not retrieved, in any order.
    """
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    row = np.flatnonzero(keep_unretrieved | (score > -np.inf))
    decides = np.nan_to_num(label, nan=-1e9) * {"best": -1, "worst": 1}.get(ties, 0) * (score > -np.inf)
    row = row[np.lexsort((row, decides[row], -score[row].astype(float), query[row]))]
    above = np.roll(row, 1)
    starts_block = (query[row] != query[above]) | (score[row] != score[above])
    if ties != "average":
        starts_block |= score[row] > -np.inf
    starts_block[:1] = True
    place = np.arange(len(row)) - np.searchsorted(query[row], query[row])
    kept = (place < depth)[np.flatnonzero(starts_block)[np.cumsum(starts_block) - 1]]  # blocks are kept whole
    row, block = row[kept], np.cumsum(starts_block[kept])
    return row, np.searchsorted(block, block, side="right"), np.searchsorted(query[row], np.arange(len(indptr)))


def over_orders(sizes, of_order):
    """Mean of a function over all orders of the items in each tie block of a list."""
    starts = np.cumsum([0, *sizes])
    blocks = [[*permutations(range(start, start + size))] for start, size in zip(starts[:-1], sizes, strict=True)]
    return np.mean([of_order(np.array([*chain(*order)], dtype=int)) for order in product(*blocks)], axis=0)


def joint(x, y, most=np.inf):
    """Each x times the sum of y down to it, where the sum is at most `most`."""
    return x * np.minimum(np.cumsum(y), most)


def cascade(p):
    """Stop probability at each position: the user did not stop above, times p."""
    return p * np.append(1.0, np.cumprod(1 - p))[:-1]


def stops(blocks):
    """Stop probability at each rank of a list of tie blocks, in fractions.

    The chance of no stop at the first j items of a block in random order is the mean product of 1 - p over all sets of
    j items: an elementary symmetric polynomial over C(m, j), in multiples of 1 / one.
    """
    out, reached = [], Fraction(1)
    for stop in blocks:
        one, symmetric = max(Fraction(p).denominator for p in stop.tolist()), [1] + [0] * len(stop)
        for p in stop.tolist():
            go_on = int((1 - Fraction(p)) * one)
            for j in range(len(stop), 0, -1):
                symmetric[j] += go_on * symmetric[j - 1]
        alive = [Fraction(e, comb(len(stop), j) * one**j) for j, e in enumerate(symmetric)]
        out += [reached * (a - b) for a, b in pairwise(alive)]
        reached *= alive[-1]
    return out


def sum_of_means(x, y):
    """Sum of the mean of y down to each item whose x is 1."""
    return np.cumsum(joint(x, y) / np.arange(1, len(x) + 1))


def summed(terms):
    """Sum of a list with the kernel's bits: the first 16 ranks in one sum, the others in four interleaved sums."""
    parts = [terms[:16], *(terms[16:][k::4] for k in range(4))]
    first, a, b, c, d = (np.add.accumulate([0.0, *part])[-1] for part in parts)
    return first + ((a + b) + (c + d))


def pairs(label, block):
    """Pairs in the right order, in the wrong order, tied only in score and only in label, by comparing all pairs."""
    above, lower = np.triu_indices(len(label), 1)
    tied, equal = block[above] == block[lower], label[above] == label[lower]
    right = ~tied & (label[above] > label[lower])
    return [right.sum(), (~tied & ~equal & ~right).sum(), (tied & ~equal).sum(), (equal & ~tied).sum()]


def centered_ranks(x):
    """Rank by x, highest first, with mid-ranks for ties, minus the mean rank, by comparing all pairs."""
    return ((x > x[:, None]).sum(axis=1) - (x < x[:, None]).sum(axis=1)) / 2
