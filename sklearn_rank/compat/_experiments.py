"""The three experiments of trec_eval: functions of the labels of one query's documents.

`y_true` comes as trec_eval ranks: documents by falling score, then those that were judged and not retrieved. Gains are
the labels. Sources: m_ndcg_rel.c, m_Rndcg.c and m_G.c of trec_eval 9.
"""

from __future__ import annotations

import numpy as np

from sklearn_rank._utils.typing import Array


def ndcg_rel(y_true: Array, y_score: Array, *, relevance_level: float) -> float:
    """NDCG at the rank of each relevant document, averaged; those not retrieved have that of the whole list."""
    gain, ideal = _gains(y_true, y_score)
    if len(ideal) == 0:
        return 0.0
    dcg, ideal_dcg = np.cumsum(gain / _discount(gain)), np.cumsum(ideal / _discount(ideal))
    hits = np.flatnonzero(gain)
    total = (dcg[hits] / ideal_dcg[np.minimum(hits, len(ideal) - 1)]).sum()
    rest = dcg[-1] / ideal_dcg[-1] if len(dcg) else 0.0
    return float((total + (len(ideal) - len(hits)) * rest) / len(ideal))


def r_ndcg(y_true: Array, y_score: Array, *, relevance_level: float) -> float:
    """NDCG at the end of each grade in the ideal list, and at the end of the list, averaged: Rndcg."""
    gain, ideal = _gains(y_true, y_score)
    if not (y_true >= relevance_level).any() or len(gain) == 0:
        return 0.0
    dcg, ideal_dcg = np.cumsum(gain / _discount(gain)), np.cumsum(ideal / _discount(ideal))
    ends = np.flatnonzero(np.diff(ideal, append=0))
    values = dcg[np.minimum(ends, len(dcg) - 1)] / ideal_dcg[ends]
    if len(dcg) > len(ideal) + 1:
        values = np.append(values, dcg[-1] / ideal_dcg[-1])
    return float(values.mean())


def normalized_gain(y_true: Array, y_score: Array, *, relevance_level: float) -> float:
    """Gains, discounted by how much more an ideal list would have gained so far, over all gains: G."""
    gain, ideal = _gains(y_true, y_score)
    if len(ideal) == 0:
        return 0.0
    cost = np.ones(len(gain))
    n = min(len(gain), len(ideal))
    cost[:n] = ideal[:n]  # whole numbers from 1 on
    return float((gain / np.log2(2 + np.cumsum(cost) - np.cumsum(gain))).sum() / ideal.sum())


def _gains(y_true: Array, y_score: Array) -> tuple[Array, Array]:
    """Gain of each retrieved document, and the positive gains of all documents, falling."""
    gain = np.where(y_true > 0, y_true, 0.0)  # NaN: not judged
    return gain[y_score > -np.inf], -np.sort(-gain[gain > 0])


def _discount(gain: Array) -> Array:
    return np.log2(np.arange(len(gain)) + 2)
