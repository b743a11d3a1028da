"""What kernels compute, as NumPy and Python say it: slow and easy to check."""

import numpy as np


def expected_ranking(score, label, indptr, depth, ties, keep_unretrieved):
    """Order, ends of tie blocks and starts of queries, by sorting each query with NumPy."""
    order, tie_end, ptr = [], [], [0]
    for start, stop in zip(indptr[:-1], indptr[1:], strict=True):
        row = np.arange(start, stop)
        if not keep_unretrieved:
            row = row[score[row] > -np.inf]
        decides = np.nan_to_num(label[row], nan=-1e9) * {"best": -1, "worst": 1}.get(ties, 0)
        row = row[np.lexsort((row, decides, -score[row].astype(float)))]
        n = min(depth, len(row))
        if ties == "average" and n:
            n = np.searchsorted(-score[row], -score[row[n - 1]], side="right")
        row = row[:n]
        tie_end.extend(ptr[-1] + np.searchsorted(-score[row], -score[row], side="right"))
        order.extend(row)
        ptr.append(len(order))
    return order, tie_end, ptr
