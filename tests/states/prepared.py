"""Prepared metrics: calls of any length, wrong scores, failures, copies and threads, in any order."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, rule

from sklearn_rank import evaluate, prepare
from states.machine import (  # fmt: skip
    METRICS,
    SCORES,
    assert_same_calls,
    errors,
    failing,
    heard,
    kinds,
    named,
    query_lists,
    refused,
    rows_of,
)

COPIES = [copy.copy, copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x)), lambda x: x]
scores = st.integers(0, 999).map(lambda seed: np.random.default_rng(seed).choice([*SCORES, -np.inf], 60))


class Prepared(RuleBasedStateMachine):
    """Prepared metrics with their rows; scores are drawn for each call."""

    prepared = Bundle("prepared")

    @rule(
        target=prepared,
        queries=query_lists(n_ids=100, max_size=6),
        kind=kinds,
        times=st.sampled_from([1, 1, 400]),
        options=st.fixed_dictionaries({
            "metrics": st.sampled_from(["map", "ndcg@3", METRICS, {name: METRICS[name] for name in ("mrr", "ndcg@3")}]),
            "n_jobs": st.sampled_from([None, 2]),
        }),
        weighted=st.booleans(),
    )  # fmt: skip
    def new(self, queries, kind, times, options, weighted):
        """A few rows take a short way, and thousands another."""
        times = 1 if options["metrics"] is METRICS else times
        many = [q._replace(id=q.id + 100 * i) for i in range(times) for q in queries]
        rows = rows_of(named(many, kind))
        keywords = {"qid": rows.qid, **options} | ({"sample_weight": rows.sample_weight} if weighted else {})
        labels = np.array(rows.y_true)
        made, _ = heard(lambda: prepare(labels, **keywords))
        labels[:] = -1  # given arrays may be reused
        return made, np.array(rows.y_true), keywords

    def expected(self, one, scores):
        _, labels, keywords = one
        return heard(lambda: evaluate(labels, np.resize(scores, len(labels)), **keywords))[0]

    def means(self, one, scores):
        means = self.expected(one, scores).mean()
        return means[one[2]["metrics"]] if isinstance(one[2]["metrics"], str) else means

    @rule(one=prepared, scores=scores)
    def call(self, one, scores):
        assert repr(one[0](np.resize(scores, len(one[1])))) == repr(self.means(one, scores))

    @rule(one=prepared, scores=scores)
    def evaluate(self, one, scores):
        expected = self.expected(one, scores)
        assert_same_calls(lambda: one[0].evaluate(np.resize(scores, len(one[1]))), lambda: expected)

    @rule(one=prepared, scores=scores, wrong=st.sampled_from(["short", "long", "nan", "inf", "text", "matrix", None]))
    def wrong_scores(self, one, scores, wrong):
        full = np.resize(scores, len(one[1]))
        bad = {
            "short": full[:-1], "long": np.append(full, 0), "nan": np.append(full[:-1], np.nan),
            "inf": np.append(np.inf, full[1:]), "text": full.astype(str), "matrix": np.stack([full, full]), None: None,
        }[wrong]  # fmt: skip
        for use in (one[0], one[0].evaluate):
            with refused():
                use(bad)
        self.call(one, scores)

    @rule(one=prepared, scores=scores, error=errors)
    def metric_fails(self, one, scores, error):
        if one[2]["metrics"] is METRICS:
            for use in (one[0], one[0].evaluate):
                with failing(error):
                    use(np.resize(scores, len(one[1])))
        self.call(one, scores)

    @rule(target=prepared, one=prepared, how=st.sampled_from(range(len(COPIES))))
    def copied(self, one, how):
        return (COPIES[how](one[0]), *one[1:])

    @rule(one=prepared, several=st.lists(scores, min_size=2, max_size=4))
    def threads(self, one, several):
        expected = [repr(self.means(one, scores)) for scores in several]
        with ThreadPoolExecutor(4) as pool:
            found = pool.map(lambda scores: repr(one[0](np.resize(scores, len(one[1])))), several * 4)
            assert [*found] == expected * 4
