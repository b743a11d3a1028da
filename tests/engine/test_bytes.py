"""Labels stored as bytes give every metric the same digits as the same labels stored as numbers."""

import numpy as np
import pytest

from sklearn_rank import evaluate, get_metric_names, parse_metric

LENGTHS = [1, 2, 3, 5, 7, 8, 9, 16, 17, 40, 130, 300]
LEVELS = {"distinct": None, "ties": 3, "pairs": 40, "constant": 1}


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
@pytest.mark.parametrize("levels", LEVELS)
def test_every_metric_reads_bytes_as_numbers(levels, ties):
    """One query gets a fractional label, so that no label is stored as a byte."""
    rng = np.random.default_rng(0)
    qid, n = np.repeat(np.arange(len(LENGTHS)), LENGTHS), sum(LENGTHS)
    label = rng.choice(5, n, p=[0.5, 0.3, 0.1, 0.05, 0.05]).astype(float)
    score = rng.random(n) if LEVELS[levels] is None else rng.integers(LEVELS[levels], size=n).astype(float)
    wider = np.append(label, [0.5, 1.0]), np.append(score, [2.0, 1.0])
    specs = [spec for name in get_metric_names() for k in (None, 4) if (spec := _spec(name, k, ties))]
    assert len(specs) > 40
    bytes_ = evaluate(label, score, qid=qid, metrics=dict(zip(map(str, range(len(specs))), specs, strict=True)))
    numbers = evaluate(*wider, qid=np.append(qid, [99, 99]), metrics=dict(zip(bytes_.per_query, specs, strict=True)))
    for name, spec in zip(bytes_.per_query, specs, strict=True):
        np.testing.assert_array_equal(bytes_.per_query[name], numbers.per_query[name][:-1], err_msg=str(spec))


def _spec(name, k, ties):
    """Metric at a cutoff under a tie policy; None if it rejects the policy, grades or ties."""
    try:
        spec = parse_metric(name, ties=ties, **({} if k is None else {"k": k}))
        evaluate([4, 0], [1, 1], qid=[0, 0], metrics={"it": spec})
    except (TypeError, ValueError):
        return None
    return None if spec.metric.pointwise or spec.metric.reads_unjudged else spec
