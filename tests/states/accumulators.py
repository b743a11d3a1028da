"""Accumulators: updates, merges, copies and failures in any order; each has the queries that were added, no others."""

import copy
import pickle
from dataclasses import dataclass, field

import numpy as np
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, initialize, invariant, rule

from sklearn_rank import RankingAccumulator, evaluate
from states.machine import (
    METRICS,
    assert_same_calls,
    errors,
    failing,
    kinds,
    named,
    queries_of,
    query_lists,
    refused,
    rows_of,
    value_of,
)

COPIES = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda x: pickle.loads(pickle.dumps(x)),
    "pickle twice": lambda x: pickle.loads(pickle.dumps(pickle.loads(pickle.dumps(x, protocol=2)))),
}


@dataclass
class Pair:
    """An accumulator, and its expected content."""

    accumulator: RankingAccumulator
    names: list[str]
    duplicates: str
    queries: dict = field(default_factory=dict)
    n_duplicates: int = 0

    def refuses(self, queries):
        """Text of the expected error for these queries; None if they can be added."""
        again = [q for q in queries if q.id in self.queries]
        if again and self.duplicates == "raise":
            return "again"
        known = [self.queries[q.id] for q in again]
        same = all(
            sorted(a.labels) == sorted(b.labels) and a.weight == b.weight for a, b in zip(again, known, strict=True)
        )
        return None if same else "again with others"

    def add(self, queries):
        self.n_duplicates += sum(q.id in self.queries for q in queries)
        self.queries |= {q.id: q for q in queries if q.id not in self.queries}


class Accumulators(RuleBasedStateMachine):
    pairs = Bundle("pairs")

    @initialize(kind=kinds, weighted=st.booleans())
    def begin(self, kind, weighted):
        self.kind, self.weighted, self.known = kind, weighted, []

    def added(self, pair):
        self.known.append(pair)
        return pair

    @rule(
        target=pairs,
        names=st.permutations([*METRICS]),
        duplicates=st.sampled_from(["raise", "first"]),
        n_jobs=st.sampled_from([None, 2]),
    )
    def new(self, names, duplicates, n_jobs):
        metrics = {name: METRICS[name] for name in names}
        return self.added(Pair(RankingAccumulator(metrics, duplicates=duplicates, n_jobs=n_jobs), names, duplicates))

    def update(self, pair, rows):
        weight = {"sample_weight": rows.sample_weight} if self.weighted else {}
        assert pair.accumulator.update(rows.y_true, rows.y_score, rows.qid, **weight) is pair.accumulator

    @rule(pair=pairs, queries=query_lists(min_size=0), random=st.randoms(use_true_random=False))
    def rows(self, pair, queries, random):
        rows = rows_of(named(queries, self.kind), lambda rows: random.sample(rows, len(rows)))
        self.rows_given(pair, rows)

    def rows_given(self, pair, rows):
        queries = queries_of(rows)
        if (words := pair.refuses(queries)) is not None:
            with refused(words):
                self.update(pair, rows)
        else:
            self.update(pair, rows)
            pair.add(queries)

    @rule(pair=pairs, random=st.randoms(use_true_random=False))
    def the_same_again(self, pair, random):
        """Add some of the existing queries in one more update."""
        queries = random.sample([*pair.queries.values()], min(2, len(pair.queries)))
        self.rows_given(pair, rows_of(queries))

    @rule(pair=pairs, queries=query_lists())
    def matrix(self, pair, queries):
        queries = named(queries, self.kind)
        width = max(len(q.labels) for q in queries)
        mask = [[i < len(q.labels) for i in range(width)] for q in queries]
        y, s = (
            [[*x, *[np.nan] * (width - len(x))] for x in xs]
            for xs in ([q.labels for q in queries], [q.scores for q in queries])
        )
        weight = {"sample_weight": [q.weight for q in queries]} if self.weighted else {}
        words, ids = pair.refuses(queries), rows_of([q._replace(labels=(0,), scores=(0,)) for q in queries]).qid
        if words is None:
            pair.accumulator.update(y, s, ids, mask=mask, **weight)
            pair.add(queries)
        else:
            with refused(words):
                pair.accumulator.update(y, s, ids, mask=mask, **weight)

    # --- failures ----------------------------------------------------------------------------------------------------

    @rule(pair=pairs, queries=query_lists(), error=errors)
    def interrupted(self, pair, queries, error):
        with failing(error):
            self.update(pair, rows_of(named(queries, self.kind)))

    @rule(
        pair=pairs,
        queries=query_lists(),
        change=st.sampled_from([
            ("y_score", np.nan, "must not contain NaN"),
            ("y_true", np.nan, "must not contain NaN"),
            ("y_true", -1.0, "must not be below 0"),
            ("y_score", np.inf, ""),
            ("sample_weight", -1.0, ""),
        ]),
    )  # fmt: skip
    def wrong_row(self, pair, queries, change):
        name, value, words = change
        if name == "sample_weight" and not self.weighted:
            return
        rows = rows_of(named(queries, self.kind))
        column = [*getattr(rows, name)[:-1], value]
        with refused(words):
            self.update(pair, rows._replace(**{name: column}))

    @rule(pair=pairs, queries=query_lists(n_ids=30), other=kinds)
    def other_ids(self, pair, queries, other):
        if pair.queries and other != self.kind and {other, self.kind} != {"text", "tuples"}:
            with refused("ids of one type in all updates"):
                self.update(pair, rows_of(named(queries, other)))

    @rule(pair=pairs, queries=query_lists())
    def no_ids_or_other_weights(self, pair, queries):
        if pair.queries:
            rows = rows_of(named(queries, self.kind))
            weight = {} if self.weighted else {"sample_weight": rows.sample_weight}
            with refused("Either all updates have sample_weight or none"):
                pair.accumulator.update(rows.y_true, rows.y_score, rows.qid, **weight)
            with refused("Either all updates have ids of queries or none" if not self.weighted else ""):
                pair.accumulator.update([rows.y_true], [rows.y_score])

    # --- merges and copies --------------------------------------------------------------------------------------

    @rule(pair=pairs, other=pairs)
    def merge(self, pair, other):
        if pair is other:
            with refused("Got itself"):
                pair.accumulator.merge(other.accumulator)
            return
        queries = [*other.queries.values()]
        if (words := pair.refuses(queries)) is not None:
            with refused(words):
                pair.accumulator.merge(other.accumulator)
        else:
            pair.accumulator.merge(other.accumulator)
            pair.add(queries)
            pair.n_duplicates += other.n_duplicates

    @rule(pair=pairs, names=st.permutations([*METRICS]), queries=query_lists(n_ids=100))
    def merge_of_another_process(self, pair, names, queries):
        """With its metrics in another order, and most of its queries new."""
        other = Pair(RankingAccumulator({name: METRICS[name] for name in names}), names, "raise")
        self.rows_given(other, rows_of(named(queries, self.kind)))
        other.accumulator = COPIES["pickle"](other.accumulator)
        self.merge(pair, other)

    @rule(pair=pairs, fewer=st.sampled_from([[*METRICS][:2], "ndcg"]))
    def merge_with_other_metrics(self, pair, fewer):
        with refused("same metrics and keywords"):
            pair.accumulator.merge(RankingAccumulator(fewer))

    @rule(target=pairs, pair=pairs, how=st.sampled_from([*COPIES]))
    def copied(self, pair, how):
        copied = Pair(COPIES[how](pair.accumulator), pair.names, pair.duplicates, {**pair.queries}, pair.n_duplicates)
        return self.added(copied)

    @rule(pair=pairs)
    def reset(self, pair):
        assert pair.accumulator.reset() is pair.accumulator
        pair.queries, pair.n_duplicates = {}, 0

    # --- invariants --------------------------------------------------------------------------------------------------

    @rule(pair=pairs, sort=st.booleans())
    def attributes(self, pair, sort):
        queries = sorted(pair.queries.values(), key=lambda q: q.id) if sort else [*pair.queries.values()]
        if not queries:
            return
        rows = rows_of(queries)
        ids = np.array(rows.qid).tolist() if self.kind == "dates" else rows.qid
        of_id = {q: repr(q)[-1] for q in ids}
        of_rows = {"by": {"end": [of_id[q] for q in ids]}, "clusters": [of_id[q] for q in ids]}
        metrics = {name: METRICS[name] for name in pair.names}
        weight = {"sample_weight": rows.sample_weight} if self.weighted else {}
        assert_same_calls(
            lambda: pair.accumulator.compute(by={"end": of_id}, clusters=of_id, sort_by_qid=sort),
            lambda: evaluate(rows.y_true, rows.y_score, qid=rows.qid, metrics=metrics, **weight, **of_rows),
        )

    @invariant()
    def queries_are_counted(self):
        for pair in getattr(self, "known", []):
            assert len(pair.accumulator) == len(pair.queries)
            assert pair.accumulator.n_duplicates == pair.n_duplicates

    def teardown(self):
        self.results_are_those_of_one_call()

    @rule()
    def results_are_those_of_one_call(self):
        for pair in getattr(self, "known", []):
            metrics = {name: METRICS[name] for name in pair.names}
            if pair.queries:
                assert_same_calls(
                    pair.accumulator.compute,
                    lambda pair=pair, metrics=metrics: value_of(pair.queries.values(), metrics, weighted=self.weighted),
                )
            else:
                with refused("Got none since the last reset"):
                    pair.accumulator.compute()
