"""Names of metrics are rejected, or mean the same as their canonical name."""

from sklearn_rank import parse_metric

CONVENTIONS = None, "trec_eval", "catboost"


def check(data: bytes) -> None:
    """The first byte chooses the convention."""
    convention = CONVENTIONS[data[0] % 3] if data else None
    text = data[1:].decode("utf-8", "surrogateescape")
    try:
        spec = parse_metric(text, **({} if convention is None else {"convention": convention}))
    except (TypeError, ValueError) as error:
        assert len(str(error)) < 5000
        return
    again = parse_metric(str(spec))
    assert (str(again), again.k, again.metric) == (str(spec), spec.k, spec.metric)
