"""Runs lack rows for documents below the cutoff or judged and unretrieved; values are as if all rows were there."""

import numpy as np
import pytest
from registry import METRICS, each, tie_policy
from scipy import sparse

from sklearn_rank import evaluate, evaluate_run, parse_metric

JUDGED = {"q": {"a": 2, "b": 0, "c": 1, "d": 0, "e": 1, "f": 0, "g": 3, "h": 0}, "r": {"a": 0, "b": 1, "c": 0, "d": 2}}
RUN = {"q": {"b": 6.0, "a": 5.0, "x": 4.5, "d": 4.0, "c": 3.0, "f": 2.0}, "r": {"a": 3.0, "y": 2.0, "c": 2.0, "b": 1.0}}
"""Of q the documents e, g and h were not retrieved, of r d; x and y are not judged."""


def rows():
    """All documents: labels, scores and queries."""
    pairs = [(q, d) for q in JUDGED for d in dict.fromkeys([*RUN[q], *JUDGED[q]])]
    label = [JUDGED[q].get(d, np.nan) for q, d in pairs]
    return label, [RUN[q].get(d, -np.inf) for q, d in pairs], [q for q, _ in pairs]


def assert_same(*specs, **keywords):
    """Each metric in its own call, because metrics in the same call share the rows that any of them needs."""
    label, score, qid = rows()
    for spec in specs:
        found = evaluate_run(JUDGED, RUN, metrics={"one": spec}, **keywords)
        reads = spec["unjudged"] is None and not spec.metric.reads_unjudged
        given = {"unjudged": "nonrelevant"} if reads else {}
        expected = evaluate(label, score, qid=qid, metrics={"one": spec}, **given)
        assert found.per_query["one"] == pytest.approx(expected.per_query["one"], rel=1e-13), spec
        assert found.meaning == expected.meaning


@each([metric for metric in METRICS if not (metric.pointwise or metric.subtopics)])
def test_values_of_runs_equal_values_of_rows(metric):
    ties = tie_policy(metric) | ({"ties": "stable"} if metric.name in ("infap", "iprec") else {})
    own = {"max_grade": 4} if metric.name == "rbp" else {}
    keywords = [ties, ties | {"min_relevance": 2}, ties | {"min_relevance": 0} if metric.reads_unjudged else ties]
    if "gain" in metric.formula_params:
        keywords += [ties | {"gain": [1, 2, 3, 4, 5]} | own, ties | {"gain": np.exp}, ties | {"gain": "linear"}]
    if not metric.reads_unjudged:
        keywords += [ties | {"unjudged": "drop"}, ties | {"unjudged": "drop", "min_relevance": -1}]
    if "adjusted" in metric.defaults and not ties:
        keywords += [{"adjusted": True}]
    for k in (1, 3, None) if metric.has_cutoff else (None,):
        assert_same(*(parse_metric(metric.name, k=k, **given) for given in keywords))


LABELS = np.array([[2, 0, 1, 0, 1, 0, 3, 0], [0, 1, 0, 2, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 1, 0]])
SCORES = np.array([[5, 6, 3, 4, 0, 2, 0, 0], [3, 1, 2, 0, 0, 5, 4, 0], [0, 2, 0, 0, 1, 0, 0, 3]]) * 1.0
"""Three queries by eight documents; a score of 0 is of a document that is not listed."""


@each([metric for metric in METRICS if not (metric.pointwise or metric.subtopics)])
def test_values_of_sparse_lists_equal_values_of_rows(metric):
    ties = tie_policy(metric)
    keywords = [ties, *(ties | {"min_relevance": at_least} for at_least in (2, 0, -1))]
    if "gain" in metric.formula_params:
        gains = ["linear", "binary", [1, 2, 3, 4, 5], lambda y: y + 1.0]
        keywords += [ties | {"gain": gain, "min_relevance": at_least} for gain in gains for at_least in (0, 1)]
    if "adjusted" in metric.defaults and metric.name not in ("infap", "iprec"):
        keywords += [ties | {"adjusted": True}]
    labels = sparse.csr_array(LABELS)
    listed = np.where(SCORES > 0, SCORES, -np.inf)
    for given in keywords:
        for k in (1, 3, None) if metric.has_cutoff else (None,):
            spec = {"one": parse_metric(metric.name, k=k, **given)}
            for sparse_scores, scores in ((sparse.csr_array(SCORES), listed), (SCORES, SCORES)):
                found = evaluate(labels, sparse_scores, metrics=spec).per_query["one"]
                expected = evaluate(LABELS, scores, metrics=spec).per_query["one"]
                assert found == pytest.approx(expected, rel=1e-12), spec


@pytest.mark.parametrize("name", ["precision", "recall", "f", "fallout", "judged", "map", "ndcg", "snips", "rbo"])
def test_everything_is_relevant(name):
    """Label 0 is relevant as well; then every document needs a judgment."""
    judged, run = {"q": {"a": 0, "b": 1, "c": 0, "d": 0}}, {"q": {"a": 2.0, "b": 1.0}}
    for k in (1, 3, None):
        spec = parse_metric(name, k=k, min_relevance=0, unjudged="drop")
        found = evaluate_run(judged, run, metrics={"one": spec}).per_query["one"]
        expected = evaluate([0, 1, 0, 0], [2, 1, -np.inf, -np.inf], qid=[0] * 4, metrics={"one": spec}).per_query["one"]
        assert found == pytest.approx(expected)


def test_unjudged_documents_are_not_relevant_by_default():
    """By hand: b is not relevant, x is not judged, a is relevant."""
    judged, run = {"q": {"a": 1, "b": 0}}, {"q": ["b", "x", "a"]}
    names = {"filled": "mrr", "own": "mrr(unjudged=drop)", "reads": "judged@2", "of all": "bpref"}
    assert evaluate_run(judged, run, metrics=names).mean() == {
        "filled": 1 / 3,
        "own": 1 / 2,
        "reads": 1 / 2,
        "of all": 0,
    }
    assert evaluate_run(judged, run, metrics="mrr", unjudged="drop").mean() == {"mrr": 1 / 2}
    with pytest.raises(ValueError, match="must not contain NaN"):
        evaluate_run(judged, run, metrics="mrr", unjudged=None)
